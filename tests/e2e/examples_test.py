#!/usr/bin/env python3
"""Applies every file of examples/ to a control plane of its own size and checks what its comment says.

    tests/e2e/examples_test.py [--berth PROGRAM] [--kubectl 1.29] [NAME...]
"""

import argparse
import json
import sys
import time
from pathlib import Path

import harness

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
NODES = "4xH100x8,1xL40Sx4,1xcpu"
TOKENS = 'ann-token,ann,u-ann,team-speech\nrex-token,rex,u-rex,research\n'


class Wrong(Exception):
    """An example does not do what its comment says."""


def expect(truth, what):
    if not truth:
        raise Wrong(what)


class Bench:
    """One example on the control plane, with the questions that checks ask."""

    def __init__(self, plane):
        self.plane = plane

    def apply(self, name):
        return self.plane.must(["apply", "-f", str(EXAMPLES / name)])

    def delete(self, name):
        self.plane.must(["delete", "-f", str(EXAMPLES / name), "--ignore-not-found", "--now"], limit_s=90)
        # What a job leaves behind goes a moment later.
        harness.wait_until(lambda: not self.pods(), 40, f"the pods of {name} gone")

    def get(self, words):
        return json.loads(self.plane.must(f"get {words} -o json"))

    def pods(self, words=""):
        return self.get(f"pods -n default {words}")["items"]

    def phases(self, words=""):
        return [pod.get("status", {}).get("phase") for pod in self.pods(words)]

    def wait(self, condition, what, seconds=40):
        harness.wait_until(condition, seconds, what)

    def refused(self, words, because, text=None, kubeconfig=None):
        reply = self.plane.run(words, text=text, kubeconfig=kubeconfig)
        expect(reply.returncode != 0, f"kubectl {words} was not refused")
        expect(because in reply.stderr, f"kubectl {words}: '{because}' is not in: {reply.stderr}")

    def as_user(self, name):
        path = self.plane.folder / name
        return self.plane.user_kubeconfig(name, path, token=f"{name}-token")


def gpus_of(pod):
    text = pod["metadata"].get("annotations", {}).get("berth.dev/gpus", "")
    return [int(index) for index in text.partition(":")[0].split(",") if index]


def hello(bench):
    bench.plane.must("wait --for=condition=Complete job/hello --timeout=40s")
    expect("ends with exit code 0" in bench.plane.must("logs job/hello"), "the log does not show the end")


def gang(bench):
    bench.wait(lambda: bench.phases("-l job-name=gang") == ["Running"] * 4, "all four pods running")
    pods = bench.pods("-l job-name=gang")
    expect(len({pod["spec"]["nodeName"] for pod in pods}) == 4, "the four pods are not on four machines")
    expect(all(gpus_of(pod) == list(range(8)) for pod in pods), "a pod has not all GPUs of its machine")
    bench.plane.must("wait --for=condition=Complete job/gang --timeout=60s", limit_s=90)


def gang_beside_another(bench):
    """With one GPU of the four machines in use no part of the gang starts."""
    bench.delete("gang.yaml")
    one = (EXAMPLES / "gang.yaml").read_text()
    for word, other in (("name: gang", "name: one"), ("completions: 4", "completions: 1"),
                        ("parallelism: 4", "parallelism: 1"), ("gpu: 8", "gpu: 1"), ("run-for: 8s", "run-for: 10m")):
        one = one.replace(word, other)
    bench.plane.must("apply -f -", text=one)
    bench.wait(lambda: bench.phases("-l job-name=one") == ["Running"], "the small job running")
    bench.apply("gang.yaml")
    bench.wait(lambda: "room for 3 of 4 pods" in bench.plane.must("describe pods -l job-name=gang"),
               "the gang says that there is room for three")
    expect(bench.phases("-l job-name=gang") == ["Pending"] * 4, "a part of the gang started")
    bench.plane.must("delete job one --now", limit_s=60)
    bench.wait(lambda: bench.phases("-l job-name=gang") == ["Running"] * 4, "the gang running once there is room", 60)


def fraction(bench):
    bench.wait(lambda: bench.phases("-l app=notebook") == ["Running"] * 2, "both notebooks running")
    places = {(pod["spec"]["nodeName"], *gpus_of(pod)) for pod in bench.pods("-l app=notebook")}
    expect(len(places) == 1 and len(next(iter(places))) == 2, f"the notebooks are not on one GPU: {places}")


def gpu_models(bench):
    bench.wait(lambda: bench.phases() == ["Running"], "the pod running")
    expect(bench.pods()[0]["spec"]["nodeName"].startswith("l40s-"), "it is not on an L40S")


def indexed(bench):
    bench.plane.must("wait --for=condition=Complete job/parts --timeout=60s", limit_s=90)
    status = bench.get("job parts")["status"]
    expect(status["succeeded"] == 5 and status["completedIndexes"] == "0-4", f"not each part once: {status}")


def queue(bench):
    def message():
        pods = bench.get("pods -n research")["items"]
        return pods and "is held: nothing of it starts" in json.dumps(pods[0].get("status", {}).get("conditions", []))

    bench.wait(message, "the pod says that its queue is held")
    job = (EXAMPLES / "queue.yaml").read_text().split("---")[-1].replace("namespace: research", "namespace: default")
    bench.plane.must("create rolebinding submit --clusterrole=edit --user=ann --user=rex")
    bench.refused("create -f -", 'queue "research" takes nothing from user "ann"', text=job,
                  kubeconfig=bench.as_user("ann"))
    bench.plane.must("create -f -", text=job, kubeconfig=bench.as_user("rex"))
    bench.plane.must(["patch", "queue", "research", "--type=merge", "-p", '{"spec":{"stop":null}}'])
    bench.plane.must("wait -n research --for=condition=Complete job/study --timeout=40s")
    bench.plane.must("wait --for=condition=Complete job/study --timeout=40s")
    bench.plane.must("delete job/study rolebinding/submit")


def priority(bench):
    bench.wait(lambda: bench.phases() == ["Running"], "the pod running")
    expect(bench.pods()[0]["spec"]["priority"] == 1000, "the pod has not the number of its class")


def team_quota(bench):
    pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "greedy", "namespace": "team-vision"},
           "spec": {"containers": [{"name": "c", "image": "b", "resources": {"limits": {"nvidia.com/gpu": 5}}}]}}
    bench.refused("create -f -", "exceeded quota: vision, requested: requests.nvidia.com/gpu=5, "
                  "used: requests.nvidia.com/gpu=0, limited: requests.nvidia.com/gpu=4", text=json.dumps(pod))
    pod["spec"]["containers"][0]["resources"]["limits"]["nvidia.com/gpu"] = 4
    bench.plane.must("create -f -", text=json.dumps(pod))
    made = bench.get("pod greedy -n team-vision")["spec"]["containers"][0]["resources"]
    expect(made["requests"]["cpu"] == "1" and made["limits"]["cpu"] == "2", f"no CPU by default: {made}")
    expect("requests.nvidia.com/gpu  4     4" in bench.plane.must("describe quota -n team-vision"),
           "the use is not shown")


def quotas(bench):
    bench.wait(lambda: bench.phases("-l app=borrows") == ["Running"] * 2, "both pods running")
    bench.wait(lambda: bench.get("queue science").get("status", {}).get("borrowed") == {"h100": "8"},
               "eight GPUs are borrowed")


def kueue(bench):
    bench.wait(lambda: bench.phases("-l app=train") == ["Running"] * 2, "both pods running")
    total = {"name": "nvidia.com/gpu", "total": "16", "borrowed": "8"}
    bench.wait(lambda: any(total in flavor["resources"] for flavor in
                           bench.get("clusterqueue vision").get("status", {}).get("flavorsUsage", [])),
               "eight GPUs are borrowed")


def budget(bench):
    bench.wait(lambda: bench.phases("-l app=first") == ["Running"] or bench.phases("-l app=second") == ["Running"],
               "one of them running")
    bench.wait(lambda: "Budget: queue quarter has " in bench.plane.must("describe pods"), "the other waits for hours")
    bench.wait(lambda: "left of 10" in bench.plane.must("get queue quarter"), "the queue says what is left")
    grant = {"spec": {"budget": {"grants": [{"gpuHours": 8, "until": "2099-12-31T00:00:00Z"}]}}}
    bench.plane.must(["patch", "queue", "quarter", "--type=merge", "-p", json.dumps(grant)])
    bench.wait(lambda: bench.phases() == ["Running"] * 2, "both running")


def team_role(bench):
    ann = bench.as_user("ann")
    bench.plane.must("create job theirs --image=busybox -n team-speech", kubeconfig=ann)
    bench.plane.must("get configmaps -n team-speech", kubeconfig=ann)
    bench.refused("create configmap mine -n team-speech", "is forbidden", kubeconfig=ann)
    bench.refused("get jobs -n default", "is forbidden", kubeconfig=ann)


def suspended(bench):
    bench.plane.must("wait --for=condition=Suspended job/later --timeout=20s")
    expect(not bench.pods(), "it has pods although it is suspended")
    bench.plane.must(["patch", "job", "later", "-p", '{"spec":{"suspend":false}}'])
    bench.wait(lambda: bench.phases() == ["Running"], "its pod running")
    bench.plane.must(["patch", "job", "later", "-p", '{"spec":{"suspend":true}}'])
    bench.wait(lambda: not bench.pods(), "its pod gone")


def failure_policy(bench):
    bench.plane.must("wait --for=condition=Failed job/picky --timeout=40s")
    job = bench.get("job picky")
    why = [each for each in job["status"]["conditions"] if each["type"] == "Failed"][0]
    expect(why["reason"] == "PodFailurePolicy", f"it failed for another reason: {why}")
    expect("exit code 42 matching FailJob rule at index 0" in why["message"], f"it does not say which rule: {why}")
    expect(job["status"]["failed"] == 1 and len(bench.pods("-l job-name=picky")) == 1, "it was tried again")


CHECKS = {"hello.yaml": [hello], "gang.yaml": [gang, gang_beside_another], "fraction.yaml": [fraction],
          "gpu-models.yaml": [gpu_models], "indexed.yaml": [indexed], "queue.yaml": [queue],
          "priority.yaml": [priority], "team-quota.yaml": [team_quota], "team-role.yaml": [team_role],
          "quotas.yaml": [quotas], "kueue.yaml": [kueue], "budget.yaml": [budget], "suspended.yaml": [suspended],
          "failure-policy.yaml": [failure_policy]}


def run(bench, names):
    failures = []
    for name in names:
        began = time.monotonic()
        try:
            bench.apply(name)
            for check in CHECKS.get(name, []):
                check(bench)
            expect(name in CHECKS, "nothing checks this example")
            bench.delete(name)
            print(f"{name}: as it says ({time.monotonic() - began:.0f} s)")
        except (Wrong, harness.Broken) as wrong:
            failures.append(name)
            print(f"FAILED {name}: {wrong}")
    return failures


def main():
    parser = argparse.ArgumentParser(description="Checks the examples.")
    parser.add_argument("names", nargs="*", help="files of examples/ (all)")
    parser.add_argument("--berth", help="the program to test")
    parser.add_argument("--kubectl", help="version, such as 1.29 (the newest)")
    options = parser.parse_args()
    try:
        chosen = harness.choose_kubectl(options.kubectl)
        if chosen is None:
            print(f"skipped: no kubectl {options.kubectl or ''} on PATH")
            return 77
        names = options.names or sorted(path.name for path in EXAMPLES.glob("*.yaml"))
        missing = [] if options.names else sorted(set(CHECKS) - set(names))
        with harness.ControlPlane(harness.find_program(options.berth), NODES, TOKENS, kubectl=chosen[1]) as plane:
            plane.wait_for_nodes()
            failures = run(Bench(plane), names)
            if failures:
                plane.print_logs()
    except harness.Broken as broken:
        print(f"BROKEN: {broken}")
        return 2
    for name in missing:
        print(f"FAILED {name}: checked here, but not there")
    failed = len(failures) + len(missing)
    print(f"examples: {len(names) - len(failures)} as they say, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
