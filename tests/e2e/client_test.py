#!/usr/bin/env python3
"""Berth's own commands for people (submit, jobs, queue, nodes, explain, logs, cancel, completion) against a control plane.

    tests/e2e/client_test.py [--berth PROGRAM]

Each check is a command with its exit code and what its output says.
"""

import argparse
import json
import os
import re
import subprocess
import sys
import time

import harness

JOB = """
apiVersion: batch/v1
kind: Job
metadata: {name: NAME}
spec:
  completions: PODS
  parallelism: PODS
  backoffLimit: 0
  template:
    metadata: {annotations: {berth.dev/run-for: RUN, berth.dev/exit-code: "CODE"}}
    spec:
      restartPolicy: Never
      containers: [{name: c, image: busybox, resources: {limits: {nvidia.com/gpu: GPUS}}}]
"""


def job(name, pods=1, gpus=1, run="100ms", code=0):
    text = JOB.replace("NAME", name).replace("PODS", str(pods)).replace("GPUS", str(gpus))
    return text.replace("RUN", run).replace("CODE", str(code))


class Checks:
    def __init__(self, plane):
        self.plane, self.failures = plane, 0

    def run(self, words, text=None):
        return self.plane.run_berth(words, text)

    def expect(self, words, exit_code=0, out=None, err=None, text=None):
        """The command ends with that code; regular expressions are found in its output, "" means that it is empty."""
        reply = self.run(words, text)
        wrong = [] if reply.returncode == exit_code else [f"exit code {reply.returncode} instead of {exit_code}"]
        for name, wanted, said in (("stdout", out, reply.stdout), ("stderr", err, reply.stderr)):
            if wanted is not None and not (re.search(wanted, said) if wanted else not said):
                wrong.append(f"{name} is not as {wanted!r}")
        self.note(f"berth {words if isinstance(words, str) else ' '.join(words)}", wrong, reply.stdout + reply.stderr)
        return reply

    def note(self, what, wrong, said=""):
        if wrong:
            self.failures += 1
            print(f"FAILED {what}: {'; '.join(wrong)}\n{said}")

    def until(self, words, wanted, seconds=20):
        harness.wait_until(lambda: re.search(wanted, self.run(words).stdout), seconds, f"berth {words} says {wanted!r}")


def check_submitting(checks):
    checks.expect("submit -f - --wait", 0, r"^job/short submitted\n$", r"job/short succeeded", job("short"))
    checks.expect("logs short", 0, r"simulated", "")
    checks.expect("logs job/short -f", 0, r"simulated", "")
    checks.expect("explain job/short", 0, r"job/short of namespace default: succeeded", "")
    checks.expect("submit -f - --wait", 1, None, r"job/bad failed: .*berth logs job/bad", job("bad", code=3))
    checks.expect("submit -f -", 5, "", r"already exists", job("short"))
    checks.expect("submit -f - --queue nowhere", 6, "", r'queue "nowhere".*does not exist', job("lost"))
    checks.expect("submit -f - --wait --timeout 200ms", 8, None, r"has not ended in time", job("long", run="10m"))
    reply = checks.expect(["submit", "--gpus", "0.5", "-o", "json", "--", "/bin/My_Prog", "--name", "-x", ""], 0, None, "")
    made = json.loads(reply.stdout)
    words = made["spec"]["template"]["spec"]["containers"][0]["command"]
    checks.note("words after -- reach the container", [] if words == ["/bin/My_Prog", "--name", "-x", ""] else [str(words)])
    checks.note("the name", [] if made["metadata"]["name"].startswith("my-prog-") else [made["metadata"]["name"]])
    checks.expect("submit --name wide --gpus 9 -- x", 0, r"^job/wide submitted\n$", r"^Warning: a pod asks 9 of nvidia.com/gpu, and no node has more than 8")
    checks.expect("cancel wide", 0, None, "")
    checks.expect("submit --name part --gpus 0.5 --queue default -o name -- sleep 1", 0, r"^job/part\n$", "")


def check_showing(checks):
    checks.expect("submit -f -", 0, r"^job/huge submitted\n$", "", job("huge", pods=9, gpus=8))
    # Each pod is told by itself: until then they are of two minds.
    checks.until("explain huge", r"why +Invalid: .*never")
    checks.expect("explain job/huge", 7, r"(?s)waiting for.*72 GPUs together.*gang +9 pods start together", "")
    time.sleep(1)  # API objects tell whole seconds, and of one second nobody is older
    checks.expect("submit -f -", 0, r"^job/later submitted\n$", "", job("later", pods=9, gpus=8))
    for name, wanted in (("later", ["huge"]), ("huge", [])):
        facts = json.loads(checks.expect(f"explain {name} -o json", 7, None, "").stdout)
        older = [each["name"] for each in facts["older"]]
        checks.note(f"who is older than {name}", [] if older == wanted else [str(older)])
    checks.expect("logs job/huge", 7, "", r"no pod that has started")
    checks.expect("jobs", 0, r"job/huge +default +waiting +0/9 +72 +-", "")
    checks.expect("jobs -o name", 0, r"(?m)^job/huge$", "")
    checks.expect("jobs -A -q defualt", 3, "", r"did you mean default\?")
    checks.expect("jobs -n nowhere", 3, "", r"there is no namespace 'nowhere'")
    checks.expect("jobs -n defualt", 3, "", r"did you mean default\?")
    checks.expect("top --once -n defualt", 3, "", r"did you mean default\?")
    checks.expect("jobs -n kube-system", 0, "", r"No jobs in namespace kube-system; -A shows all")
    checks.expect("explain huge", 7, r"why +Invalid: room for [12] of 9 pods \(3 nodes: .*\); never: ", "")
    checks.until("queue", r"default +- +fifo-skip +[^ ]+ +[^ ]+ +[^ ]+ +2 +.*open")
    checks.until("nodes", r"\[#\.+\]")
    checks.expect("nodes -o wide", 0, r"NAME +MODEL +GPUS +FREE +PODS +STATE +CPU +MEMORY", "")


def check_choosing(checks):
    def names(words):
        return checks.expect(words + " -o name", 0, None, "").stdout.split()

    waiting = names("jobs --state waiting --sort-by name")
    checks.note("by state and name", [] if waiting == ["job/huge", "job/later"] else [str(waiting)])
    reversed_ = names("jobs huge later --sort-by name --reverse")
    checks.note("by name, reversed", [] if reversed_ == ["job/later", "job/huge"] else [str(reversed_)])
    checks.expect("jobs hug", 3, "", r"there is no job/hug in namespace default; did you mean job/huge\?")
    checks.expect("jobs -l team=nobody", 0, "", r"No jobs that are asked for in namespace default")
    checks.expect("jobs --state wating", 2, "", r"did you mean waiting\?")
    checks.expect("jobs --sort-by size -l ((", 2, "", r"(?s)-l: .*--sort-by: ")
    checks.expect("jobs --color always --state waiting", 0, "\x1b\\[33mwaiting\x1b\\[0m", "")
    checks.expect("explain huge --color always", 7, "\x1b\\[33mwaiting\x1b\\[0m", "")
    checks.expect("jobs --color sometimes", 2, "", r"auto, always or never")
    checks.expect("queue defualt", 3, "", r"there is no queue 'defualt'; did you mean default\?")
    checks.expect("nodes h100-001", 3, "", r"there is no node 'h100-001'; did you mean h100-0001\?")
    selected = names("nodes -l nvidia.com/gpu.product=H100")
    checks.note("nodes by label", [] if selected == ["node/h100-0001", "node/h100-0002"] else [str(selected)])
    checks.expect("nodes -l no=such", 0, "", r"There are no nodes with such labels")
    for command in ("jobs", "queue", "nodes", "explain huge"):
        code = 7 if command.startswith("explain") else 0
        for form in ("table", "wide", "yaml", "name"):
            checks.expect(f"{command} -o {form}", code, r"\S", "")
        json.loads(checks.expect(f"{command} -o json", code, None, "").stdout)


def check_dry_runs(checks):
    checks.expect("submit --name dry --gpus 1 --dry-run -- true", 0, r"(?s)^---\n.*kind: Job.*name: dry", "")
    checks.expect("submit --name dry --gpus 1 --dry-run -o name -- true", 0, r"^job/dry\n$", "")
    made = checks.expect("submit --name dry --dry-run=server -o json -- true", 0, None, "").stdout
    checks.note("the server's dry run", [] if json.loads(made)["metadata"]["uid"] else ["no uid"])
    checks.expect("submit --name dry --dry-run=server -- true", 0, r"^job/dry would be submitted \(dry run\)\n$", "")
    checks.expect("submit --name dry --dry-run=server --queue defualt -- true", 6, "", r"did you mean default\?")
    checks.expect("submit --dry-run=maybe --timeout 1s -- true", 2, "", r"(?s)--timeout: .*--dry-run: 'maybe'")
    checks.expect("submit --dry-run --wait -- true", 2, "", r"leave out --wait")
    checks.expect("explain dry", 3, "", r"there is no job/dry")
    two = job("one") + "---" + job("two").replace("restartPolicy", "restratPolicy")
    checks.expect("submit -f -", 2, "", r'stdin: object 2: Job two: unknown field "spec.template.spec.restratPolicy"', two)
    two = job("one") + "---" + job("two").replace("metadata: {name: two}", "metadata: {name: two, namespace: nowhere}")
    checks.expect("submit -f -", 3, "", r"(?s)nowhere.*nothing was submitted", two)
    checks.expect("explain one", 3, "", r"there is no job/one")
    checks.expect("submit --name spoken --follow -- true", 0, r"(?s)job/spoken submitted.*simulated", r"job/spoken succeeded")


def check_watching(checks):
    environment = dict(harness.bare_environment(), KUBECONFIG=str(checks.plane.kubeconfig))
    watches = {form: subprocess.Popen([checks.plane.program, "jobs", "seen", "-w", "-o", form], stdout=subprocess.PIPE,
                                      stderr=subprocess.PIPE, text=True, env=environment)
               for form in ("table", "json")}
    replies = [watch.communicate(timeout=60) for watch in watches.values()]
    wrong = [each for each in replies if "there is no job/seen" not in each[1]]
    checks.note("watching what is not there", [str(each) for each in wrong])
    labelled = job("seen").replace("metadata: {name: seen}", "metadata: {name: seen, labels: {watched: 'yes'}}")
    checks.expect("submit -f -", 0, None, "", labelled)
    watch = subprocess.Popen([checks.plane.program, "jobs", "-l", "watched=yes", "-w", "-o", "json"], text=True,
                             stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=environment)
    try:
        states = [json.loads(watch.stdout.readline())["state"]]
        checks.expect("cancel seen", 0, r"job/seen cancelled", "")
        while states[-1] != "gone":
            states.append(json.loads(watch.stdout.readline())["state"])
        checks.note("a watch tells what it was before it is gone", [] if len(states) > 1 else [str(states)])
    finally:
        watch.kill()
        watch.wait()
        watch.stdout.close()


def check_cancelling(checks):
    checks.expect("cancel huge job/later nobody", 3, r"^job/huge cancelled\njob/later cancelled\n$", r"there is no job/nobody")
    checks.expect("explain hug", 3, "", r"there is no job/hug ")
    checks.expect("logs shrot", 3, "", r"there is no job/shrot in namespace default; did you mean job/short\?")
    checks.expect("explain lnog", 3, "", r"did you mean job/long\?")
    checks.expect("cancel shrot", 3, "", r"did you mean job/short\?")


def check_mistakes(checks):
    checks.expect("submit --gpuss 1 -- true", 2, "", r"did you mean --gpus\?")
    checks.expect("submit -f x.yaml --gpus 1 -- true", 2, "", r"--gpus: with -f the manifest says this")
    checks.expect("submit", 2, "", r"nothing to run")
    checks.expect("sumbit", 2, "", r"did you mean submit\?")
    checks.expect("jobs -o xml", 2, "", r"write table, wide, json, yaml or name")
    checks.expect("explain node/x", 2, "", r"job/NAME or pod/NAME")
    checks.expect("jobs --kubeconfig /nonexistent", 2, "", r"/nonexistent: cannot be read")
    checks.expect("jobs --context nobody", 2, "", r"nobody")
    nowhere = checks.plane.folder / "nowhere"
    nowhere.write_text(re.sub(r"(https://127\.0\.0\.1:)\d+", rf"\g<1>{harness.free_port()}", checks.plane.kubeconfig.read_text()))
    checks.expect(["jobs", "--kubeconfig", str(nowhere)], 1, "", r"is the control plane up")
    for command in ("submit", "jobs", "queue", "nodes", "explain", "logs", "cancel", "completion"):
        checks.expect([command, "--help"], 0, r"Examples?:\n  ", "")


def check_completion(checks):
    script = checks.expect("completion bash", 0, r"complete .*_berth berth", "").stdout
    environment = dict(os.environ, KUBECONFIG=str(checks.plane.kubeconfig))
    for typed, wanted in (("su", "submit"), ("jobs --st", "--state"), ("jobs --state wai", "waiting"),
                          ("jobs --state = wai", "waiting"), ("explain job/sho", "job/short"),
                          ("jobs -n kube-system job/sho", ""), ("submit -q def", "default"), ("nodes cpu", "cpu-0001"),
                          ("completion fi", "fish"), ("jobs --output w", "wide"), ("submit --dry-run = s", "server")):
        words = ["berth", *typed.split()]
        asked = f'berth() {{ "{checks.plane.program}" "$@"; }}\n{script}\nCOMP_WORDS=({" ".join(words)}) '
        asked += f'COMP_CWORD={len(words) - 1}; _berth; echo "${{COMPREPLY[*]}}"'
        reply = subprocess.run(["bash", "-c", asked], capture_output=True, text=True, env=environment)
        said = reply.stdout + reply.stderr
        checks.note(f"bash completes {typed}", [] if said == wanted + "\n" else [said])
    checks.expect("completion tcsh", 2, "", r"bash, zsh or fish")


def check_plugin(checks):
    plugin = checks.plane.folder / "kubectl-berth"
    os.symlink(checks.plane.program, plugin)
    reply = subprocess.run([plugin, "--help"], capture_output=True, text=True)
    checks.note("kubectl-berth", [] if "kubectl berth" in reply.stdout else [reply.stdout])


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--berth")
    given = options.parse_args()
    with harness.ControlPlane(harness.find_program(given.berth), nodes="2xH100x8,1xcpu") as plane:
        checks = Checks(plane)
        checks.until("nodes", r"(?s)ready.*ready.*ready")
        for check in (check_submitting, check_showing, check_choosing, check_dry_runs, check_watching, check_cancelling, check_mistakes, check_completion, check_plugin):
            check(checks)
        if checks.failures:
            plane.print_logs()
            sys.exit(f"{checks.failures} checks failed")
    print("client: all as it should be")


if __name__ == "__main__":
    try:
        main()
    except harness.Broken as error:
        sys.exit(f"broken: {error}")
