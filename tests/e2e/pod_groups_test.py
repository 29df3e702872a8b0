#!/usr/bin/env python3
"""PodGroups through kubectl, in their three dialects: who starts with whom, who comes after, and what is told to their users.

    tests/e2e/pod_groups_test.py [--berth PROGRAM] [--kubectl 1.29] [STORY...]
"""

import json
import os
import re
import signal
import sys

from stories import PodStage, expect, main

NODES = "4xH100x1"
KUBERNETES = "podgroups.scheduling.k8s.io"
VOLCANO = "podgroups.scheduling.volcano.sh"
COSCHEDULING = "podgroups.scheduling.x-k8s.io"
VERSIONS = {KUBERNETES: "scheduling.k8s.io/v1beta1", VOLCANO: "scheduling.volcano.sh/v1beta1",
            COSCHEDULING: "scheduling.x-k8s.io/v1alpha1"}


def group(dialect, spec, name="train"):
    return {"apiVersion": VERSIONS[dialect], "kind": "PodGroup", "metadata": {"name": name}, "spec": spec}


def pod(name, dialect, task=None):
    """A pod of the group `train`, with one GPU."""
    made = {"apiVersion": "v1", "kind": "Pod",
            "metadata": {"name": name, "labels": {}, "annotations": {"berth.dev/run-for": "30m"}},
            "spec": {"restartPolicy": "Never", "terminationGracePeriodSeconds": 1, "containers": [
                {"name": "c", "image": "busybox", "resources": {"limits": {"nvidia.com/gpu": "1"}}}]}}
    if dialect == KUBERNETES:
        made["spec"]["schedulingGroup"] = {"podGroupName": "train"}
    elif dialect == COSCHEDULING:
        made["metadata"]["labels"]["scheduling.x-k8s.io/pod-group"] = "train"
    else:
        made["metadata"]["annotations"]["scheduling.k8s.io/group-name"] = "train"
        made["metadata"]["annotations"]["volcano.sh/task-spec"] = task or "worker"
    return made


class GroupStage(PodStage):
    def names(self):
        return sorted(self.placed())

    def status(self, dialect):
        return self.get(f"{dialect} train").get("status", {})

    def clear(self):
        super().clear()
        for dialect in VERSIONS:
            self.plane.must(f"delete {dialect} --all", limit_s=60)
        self.plane.must("delete queues.scheduling.volcano.sh --all", limit_s=60)


def a_gang_of_the_coscheduling_plugin(stage):
    """Its pods wait for their object, then for each other, and start together."""
    stage.apply(pod("a", COSCHEDULING), pod("b", COSCHEDULING))
    stage.wait_why("a", r"^PodGroupMissing: there is no PodGroup 'train'")
    stage.apply(group(COSCHEDULING, {"minMember": 3}))
    stage.wait_why("a", "^GangIncomplete: .*1 of 3 pods have not been created")
    stage.wait(lambda: stage.status(COSCHEDULING).get("phase") == "Pending", "the group waits")
    stage.apply(pod("c", COSCHEDULING))
    stage.wait(lambda: stage.names() == ["a", "b", "c"], "all three have their places")
    stage.wait(lambda: stage.status(COSCHEDULING).get("phase") == "Running", "the group runs")
    shown = stage.plane.must("get pgs")
    expect(re.search(r"NAME +PHASE +MINMEMBER +RUNNING +SUCCEEDED +FAILED +AGE", shown), shown)
    expect(re.search(r"train +Running +3 +3 +0 +0 ", shown), shown)
    expect("train" in stage.plane.must("get bwl"), "its Workload is there")


def who_is_more_than_the_gang_comes_after(stage):
    """Of more pods than a Volcano group needs the first start together, of each task as many as it asks; the rest one by one. A
    scheduler that is killed meanwhile changes nothing."""
    stage.apply({"apiVersion": "scheduling.volcano.sh/v1beta1", "kind": "Queue", "metadata": {"name": "research"},
                 "spec": {"weight": 1}})
    stage.apply(group(VOLCANO, {"minMember": 3, "minTaskMember": {"ps": 1, "worker": 2}, "queue": "research"}))
    stage.apply(*[pod(f"w{i}", VOLCANO) for i in range(4)])
    stage.wait_why("w0", "^GangIncomplete: ")
    expect(stage.names() == [], f"{stage.names()} began in part")
    stage.apply(pod("ps", VOLCANO, "ps"))
    stage.wait(lambda: len(stage.names()) == 4, "the gang has its places, and one more")
    expect("ps" in stage.names(), f"{stage.names()}")
    left = [name for name in ("w0", "w1", "w2", "w3") if name not in stage.names()]
    stage.wait_why(left[0], "^Capacity: ")
    os.kill(stage.plane.parts()["scheduler"], signal.SIGKILL)
    stage.plane.must(f"delete pod {[name for name in stage.names() if name != 'ps'][0]} --now")
    stage.wait(lambda: left[0] in stage.names(), "the last one came for who went", 60)
    stage.wait(lambda: stage.status(VOLCANO).get("running") == 4, "all are counted")
    shown = stage.plane.must("get pg -o wide")
    expect(re.search(r"train +Running +3 +4 +\S+ +research", shown), shown)


def kubernetes_own(stage):
    """spec.schedulingGroup names it; what is wrong is refused with all complaints, what is not followed warned of."""
    refused = stage.refused(group(KUBERNETES, {"schedulingPolicy": {"gang": {"minCount": 0}}, "resourceClaims": [{"name": "c"}],
                                               "parentCompositePodGroupName": "all"}))
    for word in ("spec.schedulingPolicy.gang.minCount", "spec.resourceClaims", "spec.parentCompositePodGroupName"):
        expect(word in refused, refused)
    asked = group(KUBERNETES, {"schedulingPolicy": {"gang": {"minCount": 2}}, "priority": 5})
    reply = stage.plane.run("apply -f -", text=json.dumps(asked))
    expect("spec.priority is not followed: give it to the pods" in reply.stderr, reply.stderr)
    stage.apply(pod("a", KUBERNETES))
    stage.wait_why("a", "^GangIncomplete: ")
    expect("GangIncomplete" in stage.berth("explain pod/a", 7), stage.berth("explain pod/a", 7))
    stage.wait(lambda: re.search(r"train +gang of 2 +<none> +Unschedulable", stage.plane.must(f"get {KUBERNETES}")),
               "its columns say that it waits")
    stage.apply(pod("b", KUBERNETES))
    stage.wait(lambda: stage.names() == ["a", "b"], "both have their places")
    stage.wait(lambda: stage.status(KUBERNETES)["conditions"][0]["status"] == "True", "that is said of the group")


STORIES = (a_gang_of_the_coscheduling_plugin, who_is_more_than_the_gang_comes_after, kubernetes_own)


if __name__ == "__main__":
    sys.exit(main("PodGroups", STORIES, NODES, GroupStage))
