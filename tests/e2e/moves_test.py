#!/usr/bin/env python3
"""Work that consents to being moved, through kubectl: it makes way, and its Job's next pods have room elsewhere.

    tests/e2e/moves_test.py [--berth PROGRAM] [--kubectl 1.29] [STORY...]
"""

import os
import signal
import sys

from stories import PodStage, expect, main

NODES = "2xH100x8"


def pod_spec(gpus, node=None, grace=1):
    spec = {"restartPolicy": "Never", "terminationGracePeriodSeconds": grace,
            "containers": [{"name": "c", "image": "busybox", "resources": {"limits": {"nvidia.com/gpu": gpus}}}]}
    if node:
        spec["nodeSelector"] = {"kubernetes.io/hostname": node}
    return spec


def pod(name, gpus, node=None, **annotations):
    return {"apiVersion": "v1", "kind": "Pod",
            "metadata": {"name": name, "annotations": {"berth.dev/run-for": "30m", **annotations}},
            "spec": pod_spec(gpus, node)}


def job(name, gpus, pods=1, **more):
    """Its pods do not mind being moved."""
    template = {"metadata": {"annotations": {"berth.dev/run-for": "30m", "berth.dev/movable": "true", **more},
                             "labels": {"app": name}},
                "spec": pod_spec(gpus, grace=20)}
    return {"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": name},
            "spec": {"parallelism": pods, "completions": pods, "backoffLimit": 0, "template": template}}


class MoveStage(PodStage):
    def nodes(self):
        return {name: node for name, (node, _) in self.placed().items()}

    def of_job(self, name):
        """Its pods that are not about to go, and where they are."""
        return {each["metadata"]["name"]: each["spec"].get("nodeName") for each in self.pods()
                if each["metadata"].get("labels", {}).get("app") == name and "deletionTimestamp" not in each["metadata"]}

    def two_halves(self, moved):
        """`moved`, of four GPUs, on one node, and four that stay on the other: which nodes."""
        self.apply(pod("filler", 8))
        other = self.wait(lambda: self.nodes().get("filler"), "the filler has a place")
        self.apply(moved)
        name = moved["metadata"]["name"]
        self.wait(lambda: self.of_job(name) and all(self.of_job(name).values()), "it runs")
        home = next(iter(self.of_job(name).values()))
        self.plane.must("delete pod filler --now")
        self.apply(pod("stays", 4, node=other))
        self.wait(lambda: self.nodes().get("stays"), "the one that stays has a place")
        return home, other


def a_job_makes_way(stage):
    """Who needs a whole node gets it, and who made way runs on the other, which has had room for it all the time."""
    home, other = stage.two_halves(job("trainer", 4))
    before = set(stage.of_job("trainer"))
    stage.apply(pod("whole", 8))
    stage.wait(lambda: stage.nodes().get("whole") == home, "it has the node")
    stage.wait(lambda: list(stage.of_job("trainer").values()) == [other], "the other runs elsewhere")
    expect(set(stage.of_job("trainer")).isdisjoint(before), "it is the same pod")
    moved = stage.get("pods -l app=trainer")["items"][0]
    expect("berth.dev/moved-at" in moved["metadata"]["annotations"], "it does not say that it was moved")
    told = [each["message"] for each in stage.get("events")["items"] if each["reason"] == "Evicted"]
    expect(any(each.startswith("defragment: it consents to being moved, and goes to " + other) for each in told), told)
    explained = stage.berth("explain job/trainer")
    expect("defragment" in explained and "default/whole" in explained, explained)
    expect(stage.get("job trainer")["status"].get("failed", 0) == 0, "a move is a failure")


def a_gang_makes_way(stage):
    """It stops whole, and its next pods start together."""
    home, other = stage.two_halves(job("gang", 2, pods=2))
    stage.apply(pod("whole", 8))
    stage.wait(lambda: stage.nodes().get("whole") == home, "it has the node")
    stage.wait(lambda: list(stage.of_job("gang").values()) == [other, other], "the gang runs elsewhere")


def nobody_else_takes_the_room(stage):
    """A scheduler that is killed meanwhile: the next one finds who leaves and who comes."""
    home, other = stage.two_halves(job("slow", 4, **{"berth.dev/stop-after": "6s"}))
    stage.apply(pod("whole", 8))
    stage.wait(lambda: any("deletionTimestamp" in each["metadata"] for each in stage.pods()), "it was told to stop")
    os.kill(stage.plane.parts()["scheduler"], signal.SIGKILL)
    stage.wait(lambda: stage.nodes().get("whole") == home, "it has the node", 60)
    stage.wait(lambda: list(stage.of_job("slow").values()) == [other], "the other runs elsewhere", 60)


def what_cannot_consent(stage):
    """Nothing makes a single pod anew."""
    stage.apply(pod("alone", 1, **{"berth.dev/movable": "true"}))
    stage.wait_why("alone", "^NotFollowed: annotation berth.dev/movable: nothing would make this pod anew elsewhere; "
                            "let a Job make it, or leave it out$")
    refused = stage.refused(pod("odd", 1, **{"berth.dev/movable": "maybe"}))
    expect('supported values: "true", "false"' in refused, refused)


STORIES = (a_job_makes_way, a_gang_makes_way, nobody_else_takes_the_room, what_cannot_consent)


if __name__ == "__main__":
    sys.exit(main("moves", STORIES, NODES, MoveStage))
