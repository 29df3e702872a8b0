#!/usr/bin/env python3
"""Volcano's Jobs as they are, through kubectl: they start as a gang, come to their end, are restarted and go.

    tests/e2e/volcano_job_test.py [--berth PROGRAM] [--kubectl 1.29] [STORY...]
"""

import json
import os
import re
import signal
import sys

from stories import PodStage, expect, main

NODES = "2xH100x8"

# Of the shape in which such manifests are published: a master, workers that wait for it by name, a queue, policies, plugins.
MANIFEST = """
apiVersion: batch.volcano.sh/v1alpha1
kind: Job
metadata:
  name: lm-training
  annotations:
    berth.dev/run-for: RUN_FOR
spec:
  minAvailable: 3
  schedulerName: volcano
  queue: default
  maxRetry: 3
  plugins:
    env: []
    svc: []
  policies:
    - event: PodEvicted
      action: RestartJob
    - events: [PodFailed]
      action: RestartJob
  tasks:
    - replicas: 1
      name: master
      policies:
        - event: TaskCompleted
          action: CompleteJob
      template:
        spec:
          containers:
            - image: example.com/train:v1
              name: master
              command: ["sh", "-c", "run --hosts $(cat /etc/volcano/worker.host)"]
              resources: {limits: {nvidia.com/gpu: MASTER_GPUS}}
          restartPolicy: OnFailure
          terminationGracePeriodSeconds: 1
    - replicas: 2
      name: worker
      template:
        spec:
          containers:
            - image: example.com/train:v1
              name: worker
              resources: {limits: {nvidia.com/gpu: 4}}
          restartPolicy: OnFailure
          terminationGracePeriodSeconds: 1
"""


def manifest(run_for="30m", master_gpus=2):
    return MANIFEST.replace("RUN_FOR", run_for).replace("MASTER_GPUS", str(master_gpus))


def task(name, replicas, gpus=1, **more):
    """A task; `annotations` are its pods'."""
    annotations = {"berth.dev/run-for": "30m", **more.pop("annotations", {})}
    return {"name": name, "replicas": replicas, **more,
            "template": {"metadata": {"annotations": annotations},
                         "spec": {"restartPolicy": "Never", "terminationGracePeriodSeconds": 1,
                                  "containers": [{"name": "c", "image": "busybox",
                                                  "resources": {"limits": {"nvidia.com/gpu": gpus}}}]}}}


def job(name, *tasks, **spec):
    return {"apiVersion": "batch.volcano.sh/v1alpha1", "kind": "Job", "metadata": {"name": name},
            "spec": {"tasks": list(tasks), **spec}}


class VolcanoStage(PodStage):
    def status(self, name):
        return self.get(f"vcjob {name}").get("status", {})

    def phase(self, name):
        return self.status(name).get("state", {}).get("phase", "")

    def wait_phase(self, name, phase):
        self.wait(lambda: self.phase(name) == phase, f"{name} is {phase}")

    def names(self):
        return sorted(pod["metadata"]["name"] for pod in self.pods())

    def clear(self):
        self.plane.must("delete vcjob --all", limit_s=60)
        super().clear()


def as_published(stage):
    """An unchanged manifest is a gang that runs, shows itself in the columns that people know, and completes with its master."""
    applied = stage.plane.run("apply -f -", text=manifest(run_for="25s"))
    expect(applied.returncode == 0, applied.stderr)
    expect("Services are not served here" in applied.stderr, applied.stderr)
    stage.wait(lambda: len(stage.placed()) == 3, "all three have a place")
    stage.wait_phase("lm-training", "Running")
    shown = stage.plane.must("get vj -o wide")
    expect(re.search(r"NAME +STATUS +MINAVAILABLE +RUNNINGS +AGE +QUEUE\n"
                     r"lm-training +Running +3 +3 +\S+ +default", shown), shown)
    pod = stage.get("pod lm-training-worker-1")
    expect(pod["metadata"]["labels"]["volcano.sh/task-spec"] == "worker", pod["metadata"]["labels"])
    expect(pod["spec"]["hostname"] == "lm-training-worker-1", pod["spec"])
    hosts = stage.get("configmap lm-training-svc")["data"]["worker.host"]
    expect(hosts == "lm-training-worker-0.lm-training\nlm-training-worker-1.lm-training", hosts)
    before = stage.get("vcjob lm-training")["metadata"]["generation"]
    stage.plane.must("apply -f -", text=manifest(run_for="25s"))
    expect(stage.get("vcjob lm-training")["metadata"]["generation"] == before, "applied again it is another")
    listed = stage.berth("jobs")
    expect(re.search(r"vcjob/lm-training +default +running +3/3 +10 ", listed), listed)
    explained = stage.berth("explain vcjob/lm-training")
    expect("3 pods start together or not at all" in explained and "10 GPUs together" in explained, explained)
    stage.wait_phase("lm-training", "Completed")
    listed = stage.berth("jobs")
    expect(re.search(r"vcjob/lm-training +default +succeeded ", listed), listed)
    expect("Completed" in stage.plane.must("describe vcjob lm-training"), "kubectl describe shows its phase")


def not_all_have_room(stage):
    """Where there is room for some of a gang, none starts; and what is cancelled takes all with it."""
    stage.apply(job("rest", task("w", 1, gpus=4)))
    stage.wait(lambda: "rest-w-0" in stage.placed(), "the smaller one has a place")
    stage.plane.must("apply -f -", text=manifest(master_gpus=8))
    stage.wait_why("lm-training-worker-1", ".")
    expect(not any(name.startswith("lm-training") for name in stage.placed()), stage.placed())
    explained = stage.berth("explain vcjob/lm-training", 7)
    expect("waiting" in explained and "why" in explained, explained)
    expect("cancelled" in stage.berth("cancel vcjob/rest"), "it is cancelled")
    stage.wait(lambda: len(stage.placed()) == 3, "the gang has its places")
    expect("cancelled" in stage.berth("cancel vj/lm-training"), "it is cancelled")
    stage.wait(lambda: not stage.pods(), "its pods are gone")
    expect("NotFound" in stage.plane.run("get configmap lm-training-svc").stderr, "its ConfigMap is left")


def a_failure_restarts_it(stage):
    """A pod that fails brings the whole job back, as often as maxRetry lets it; a controller that is killed loses nothing."""
    failing = task("bad", 1, annotations={"berth.dev/run-for": "3s", "berth.dev/exit-code": "3"})
    stage.apply(job("train", task("good", 1), failing, maxRetry=3,
                    policies=[{"exitCode": 3, "action": "RestartJob"}]))
    stage.wait(lambda: stage.status("train").get("retryCount", 0) >= 1, "it is restarted")
    os.kill(stage.plane.parts()["apiserver"], signal.SIGKILL)
    stage.wait(lambda: stage.plane.run("get vcjob train").returncode == 0, "the API server is back")
    stage.wait_phase("train", "Failed")
    status = stage.status("train")
    expect(status["retryCount"] == 3 and status["version"] == 2, status)
    expect(status["state"]["message"] == "pod train-bad-0 failed with exit code 3; RestartJob by spec.policies[0] would be "
                                         "restart 3, and maxRetry is 3", status["state"])
    stage.wait(lambda: stage.names() == ["train-bad-0"], "what failed is left")
    told = [each["message"] for each in stage.get("events")["items"] if each["reason"] == "Restarting"]
    expect(any("retry 1 of 3" in each for each in told), told)
    expect("failed" in stage.berth("jobs"), stage.berth("jobs"))


def who_comes_later(stage):
    """Beside minAvailable and for those who wait for another task: they come when it has its place."""
    stage.apply(job("late", task("master", 1), task("worker", 2, dependsOn={"name": ["master"]}),
                    task("helper", 2, minAvailable=0), minAvailable=3))
    stage.wait(lambda: stage.names() == ["late-helper-0", "late-helper-1", "late-master-0", "late-worker-0", "late-worker-1"],
               "all five are there")
    stage.wait(lambda: len(stage.placed()) == 5, "all five have a place")
    stage.wait_phase("late", "Running")
    groups = {pod["metadata"]["name"]: pod["metadata"]["labels"].get("berth.dev/pod-group") for pod in stage.pods()}
    expect(groups["late-worker-0"] == "late-worker" and groups["late-helper-0"] is None, groups)


def what_is_not_followed(stage):
    """All that is wrong is said at once, with what to write instead."""
    refused = stage.refused(job("bad", task("w", 1, topologyPolicy="restricted"), schedulerName="kube-scheduler",
                                plugins={"ssh": []}, volumes=[{"mountPath": "/data"}],
                                policies=[{"event": "PodPending", "action": "RestartJob"}]))
    for word in ("spec.schedulerName", "spec.volumes", "spec.plugins[ssh]", "spec.tasks[0].topologyPolicy",
                 "spec.policies[0].timeout"):
        expect(word in refused, refused)
    stage.apply(job("fixed", task("w", 1)))
    stage.wait(lambda: len(stage.placed()) == 1, "it runs")
    changed = stage.plane.run(["patch", "vcjob", "fixed", "--type=merge", "-p", json.dumps({"spec": {"queue": "other"}})])
    expect("delete the job and create it anew" in changed.stderr, changed.stderr)


STORIES = (as_published, not_all_have_room, a_failure_restarts_it, who_comes_later, what_is_not_followed)


if __name__ == "__main__":
    sys.exit(main("Volcano's Jobs", STORIES, NODES, VolcanoStage, shown="vcjob,pods"))
