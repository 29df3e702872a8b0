#!/usr/bin/env python3
"""JobSets through kubectl: a published manifest as it is, one gang, restarts, and what goes with the set.

    tests/e2e/job_set_test.py [--berth PROGRAM] [--kubectl 1.29] [STORY...]
"""

import re
import sys

from stories import Stage, expect, main

NODES = "2xH100x8"

# As JobSet's own examples are: a driver that the workers turn to, and workers in several Jobs.
PUBLISHED = """
apiVersion: jobset.x-k8s.io/v1alpha2
kind: JobSet
metadata:
  name: pretrain
spec:
  network:
    enableDNSHostnames: true
    subdomain: ring
  coordinator:
    replicatedJob: driver
    jobIndex: 0
    podIndex: 0
  successPolicy:
    operator: All
    targetReplicatedJobs:
    - workers
  failurePolicy:
    maxRestarts: 1
  replicatedJobs:
  - name: driver
    template:
      spec:
        parallelism: 1
        completions: 1
        backoffLimit: 0
        template:
          metadata:
            annotations:
              berth.dev/run-for: 60m
          spec:
            containers:
            - name: driver
              image: bash:latest
              command: ["bash", "-c", "sleep 3600"]
  - name: workers
    replicas: 2
    template:
      spec:
        parallelism: 2
        completions: 2
        backoffLimit: 0
        template:
          metadata:
            annotations:
              berth.dev/run-for: RUN_FOR
          spec:
            terminationGracePeriodSeconds: 1
            containers:
            - name: worker
              image: bash:latest
              command: ["bash", "-c", "sleep 10"]
              resources:
                limits:
                  nvidia.com/gpu: GPUS
"""


class JobSetStage(Stage):
    def apply_published(self, run_for="4s", gpus=4):
        text = PUBLISHED.replace("RUN_FOR", run_for).replace("GPUS", str(gpus))
        return self.plane.must("apply -f -", text=text)

    def set(self, name="pretrain"):
        return self.get(f"jobset {name}")

    def jobs(self):
        return self.get("jobs")["items"]

    def pods(self, attempt=None):
        key = "jobset.sigs.k8s.io/restart-attempt"
        return [pod for pod in self.get("pods")["items"]
                if attempt is None or pod["metadata"]["labels"][key] == str(attempt)]

    def phases(self, attempt=None):
        return sorted(pod["status"].get("phase", "?") for pod in self.pods(attempt))

    def wait_running(self, count=5, attempt=None):
        self.wait(lambda: self.phases(attempt) == ["Running"] * count, f"{count} pods run")

    def condition(self, kind):
        for each in self.set().get("status", {}).get("conditions", []):
            if each["type"] == kind:
                return f"{each['status']} {each['reason']}"
        return ""

    def clear(self):
        self.plane.must("delete jobsets,jobs,pods --all --now", limit_s=120)
        self.wait(lambda: not self.get("pods")["items"], "all pods gone", 60)


def a_published_manifest_runs_to_its_end(stage):
    """Driver and workers start together, know each other by name, and the set is complete when the workers are."""
    expect("jobset.jobset.x-k8s.io/pretrain created" in stage.apply_published(), "it is created")
    stage.wait_running()
    for pod in stage.pods():
        metadata, spec = pod["metadata"], pod["spec"]
        expect(metadata["labels"]["berth.dev/pod-group"] == "pretrain", metadata)
        expect(metadata["annotations"]["berth.dev/pod-group-size"] == "5", metadata)
        expect(metadata["labels"]["jobset.sigs.k8s.io/coordinator"] == "pretrain-driver-0-0.ring", metadata)
        expect(spec["subdomain"] == "ring" and re.fullmatch(r"pretrain-(driver-0|workers-[01])-[01]", spec["hostname"]), spec)
    expect(len({pod["status"]["startTime"] for pod in stage.pods()}) <= 2, "they begin together")
    expect("unchanged" in stage.apply_published() or "configured" in stage.apply_published(), "it may be applied again")
    stage.plane.must("wait jobset/pretrain --for=condition=Completed --timeout=60s", limit_s=70)
    shown = stage.plane.must("get jobsets")
    expect(re.search(r"NAME +TERMINALSTATE +RESTARTS +COMPLETED +SUSPENDED +AGE", shown), shown)
    expect(re.search(r"pretrain +Completed +0 +True +", shown), shown)
    stage.wait(lambda: stage.phases() == ["Succeeded"] * 4, "the driver is ended with it")
    stage.plane.must("delete jobset pretrain")
    stage.wait(lambda: not stage.jobs() and not stage.pods(), "its Jobs and pods go with it")


def all_start_or_none(stage):
    """As long as one of its pods has no room nobody of the set starts, of whichever Job; then all do."""
    filler = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "filler", "annotations": {"berth.dev/run-for": "60m"},
                                                              "labels": {"jobset.sigs.k8s.io/restart-attempt": "none"}},
              "spec": {"restartPolicy": "Never", "terminationGracePeriodSeconds": 1,
                       "containers": [{"name": "c", "image": "busybox", "resources": {"limits": {"nvidia.com/gpu": 8}}}]}}
    stage.apply(filler)
    stage.wait(lambda: stage.phases("none") == ["Running"], "the filler runs")
    stage.apply_published()
    stage.wait(lambda: len(stage.pods(0)) == 5, "its pods are there")

    def reasons():
        found = [each for pod in stage.pods(0) for each in pod["status"].get("conditions", []) if each["type"] == "PodScheduled"]
        return [each.get("message", "") for each in found if each["status"] == "False"]

    stage.wait(lambda: len(reasons()) == 5 and all("Capacity" in each for each in reasons()), "all are told that there is no room")
    expect(stage.phases(0) == ["Pending"] * 5, stage.phases(0))
    expect(re.search(r"(?s)job/pretrain-.* of namespace default: waiting.*5 pods start together.*Capacity",
                     stage.berth("explain jobset/pretrain", code=7)), "one of its Jobs says why all wait")
    stage.plane.must("delete pod filler --now")
    stage.wait_running(attempt=0)


def berths_own_commands_know_it(stage):
    """Its pods' logs and its end by its own name."""
    stage.apply_published(run_for="60m")
    stage.wait_running()
    said = stage.berth("logs jobset/pretrain")
    expect(all(f"{pod['metadata']['name']}: begins" in said for pod in stage.pods()), said)
    expect("jobset/pretrain cancelled" in stage.berth("cancel jobset/pretrain"), "it says so")
    stage.wait(lambda: not stage.jobs() and not stage.pods(), "all of it is gone")


def a_failure_restarts_the_whole_set(stage):
    """One pod that fails takes its Job, and that the set: all Jobs are made anew, once; the second failure is the end."""
    stage.apply_published(run_for="60m")
    for attempt in (0, 1):
        stage.wait_running(attempt=attempt)
        expect(stage.set()["status"]["restarts"] == attempt, stage.set()["status"])
        victim = [pod for pod in stage.pods(attempt) if "workers-1" in pod["metadata"]["name"]][0]["metadata"]["name"]
        stage.plane.must(f"delete pod {victim} --now")
    stage.wait(lambda: stage.condition("Failed") == "True ReachedMaxRestarts", "it has failed")
    stage.wait(lambda: not stage.phases().count("Running"), "nothing of it runs")
    shown = stage.plane.must("get jobsets")
    expect(re.search(r"pretrain +Failed +1 ", shown), shown)


def suspended_and_resumed(stage):
    """Its pods go when it is suspended, and come back together."""
    stage.apply_published(run_for="60m")
    stage.wait_running()
    stage.plane.must(["patch", "jobset", "pretrain", "--type=merge", "-p", '{"spec":{"suspend":true}}'])
    stage.wait(lambda: not stage.pods() and stage.condition("Suspended") == "True SuspendedJobs", "its pods are gone")
    expect(re.search(r"pretrain +0 +true ", stage.plane.must("get jobsets")), "it is shown as suspended")
    stage.plane.must(["patch", "jobset", "pretrain", "--type=merge", "-p", '{"spec":{"suspend":false}}'])
    stage.wait_running()
    expect(stage.set()["status"]["restarts"] == 0, "that is no restart")


def what_is_not_followed_is_refused(stage):
    """With what to write instead, all at once."""
    said = stage.refused({"apiVersion": "jobset.x-k8s.io/v1alpha2", "kind": "JobSet",
                          "metadata": {"name": "bad", "annotations": {"alpha.jobset.sigs.k8s.io/node-selector": "true"}},
                          "spec": {"volumeClaimPolicies": [{}], "failurePolicy": {"restartStrategy": "InPlaceRestart"},
                                   "replicatedJobs": [{"name": "w", "template": {"spec": {"template": {"spec": {
                                       "containers": [{"name": "c", "image": "i"}]}}}}}]}})
    for word in ("required:LABEL", "there are no volume claims here", "write Recreate or BlockingRecreate"):
        expect(word in said, said)


STORIES = [a_published_manifest_runs_to_its_end, all_start_or_none, berths_own_commands_know_it, a_failure_restarts_the_whole_set,
           suspended_and_resumed, what_is_not_followed_is_refused]


if __name__ == "__main__":
    sys.exit(main("JobSets", STORIES, NODES, JobSetStage, shown="jobsets,jobs,pods"))
