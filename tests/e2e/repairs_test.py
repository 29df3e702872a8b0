#!/usr/bin/env python3
"""Gangs that lose a pod, through kubectl: its place is kept for the one that its Job makes anew, which comes before all who wait.

    tests/e2e/repairs_test.py [--berth PROGRAM] [--kubectl 1.29] [STORY...]
"""

import os
import signal
import sys

from stories import PodStage, expect, main

NODES = "3xH100x4"


def pod_spec(gpus=4, node=None):
    spec = {"restartPolicy": "Never", "terminationGracePeriodSeconds": 1,
            "containers": [{"name": "c", "image": "busybox", "resources": {"limits": {"nvidia.com/gpu": gpus}}}]}
    if node:
        spec["nodeSelector"] = {"kubernetes.io/hostname": node}
    return spec


def pod(name, node=None):
    return {"apiVersion": "v1", "kind": "Pod",
            "metadata": {"name": name, "annotations": {"berth.dev/run-for": "30m"}}, "spec": pod_spec(node=node)}


def job(name, pods=2, **annotations):
    """Its pods have a node each, and start together."""
    template = {"metadata": {"annotations": {"berth.dev/run-for": "30m", **annotations}, "labels": {"app": name}},
                "spec": pod_spec()}
    return {"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": name},
            "spec": {"parallelism": pods, "completions": pods, "backoffLimit": 3, "template": template}}


class RepairStage(PodStage):
    def of_job(self, name):
        """Its pods that are not about to go, and where they are."""
        return {each["metadata"]["name"]: each["spec"].get("nodeName") for each in self.pods()
                if each["metadata"].get("labels", {}).get("app") == name and "deletionTimestamp" not in each["metadata"]}

    def runs_whole(self, name, pods=2):
        there = self.of_job(name)
        return len(there) == pods and all(there.values())

    def all_is_full(self, gang):
        """The gang has two nodes, a filler the third, and somebody waits for one: the gang's pods."""
        self.apply(gang)
        self.wait(lambda: self.runs_whole("gang"), "the gang runs")
        self.apply(pod("filler"))
        self.wait(lambda: "filler" in self.placed(), "the filler runs")
        self.apply(pod("waits"))
        self.wait_why("waits", "^Capacity")
        return self.of_job("gang")

    def lose_node_of(self, name, gang):
        """Whoever is there is evicted, and nobody comes; which node it is."""
        node = gang[name]
        self.plane.must(f"taint node {node} broken=yes:NoExecute")
        self.wait(lambda: name not in self.of_job("gang"), "its pod is gone")
        self.wait(lambda: len(self.of_job("gang")) == 2, "another is made")
        return node

    def annotations(self):
        gang = self.of_job("gang")
        return [each["metadata"]["annotations"] for each in self.pods() if each["metadata"]["name"] in gang]

    def ranks(self):
        return {f"{each.get('berth.dev/rank')} of {each.get('berth.dev/world-size')}" for each in self.annotations()}

    def hosts(self):
        return {each.get("berth.dev/hosts") for each in self.annotations()}

    def heir(self, gang):
        return next(name for name in self.of_job("gang") if name not in gang)

    def clear(self):
        self.plane.run("taint node --all broken-")
        super().clear()


def what_it_had_is_kept(stage):
    """A pod of the gang is deleted: the one that is made anew has its place, and not who has waited for longer."""
    before = stage.all_is_full(job("gang"))
    lost, node = next(iter(before.items()))
    stage.plane.must(f"delete pod {lost} --now")
    stage.wait(lambda: lost not in stage.of_job("gang") and stage.runs_whole("gang"), "it is whole again")
    now = stage.of_job("gang")
    expect(set(before.values()) == set(now.values()), f"{before} became {now}")
    expect(len(set(before) & set(now)) == 1, "who was left was left alone")
    expect("waits" not in stage.placed(), "who waits got its place")
    expect(node == now[stage.heir(before)], now)
    stage.wait(lambda: stage.ranks() == {"0 of 2", "1 of 2"} and len(stage.hosts()) == 1, "each has a rank, and all know where")
    expect(sorted(stage.hosts().pop().split(",")) == sorted(f"{each}:1" for each in now.values()), stage.hosts())


def another_node_before_all_who_wait(stage):
    """Where its node is lost, the next room that comes free is its own."""
    before = stage.all_is_full(job("gang"))
    lost = next(iter(before))
    broken = stage.lose_node_of(lost, before)
    heir = stage.heir(before)
    stage.wait_why(heir, "^Repairing: it lacks 1 of its 2 pods since .*, and keeps the others for another ")
    stage.plane.must("delete pod filler --now")
    stage.wait(lambda: stage.runs_whole("gang"), "it is whole again")
    now = stage.of_job("gang")
    expect(broken not in now.values() and len(set(now) & set(before)) == 1, f"{before} became {now}")
    expect("waits" not in stage.placed(), "who waits got the room")


def a_scheduler_that_is_killed_meanwhile(stage):
    """The next one finds what the gang lacks."""
    before = stage.all_is_full(job("gang"))
    stage.lose_node_of(next(iter(before)), before)
    stage.wait_why(stage.heir(before), "^Repairing: ")
    os.kill(stage.plane.parts()["scheduler"], signal.SIGKILL)
    stage.plane.must("delete pod filler --now")
    stage.wait(lambda: stage.runs_whole("gang"), "it is whole again", 60)
    expect(len(set(stage.of_job("gang")) & set(before)) == 1, "who was left was left alone")
    expect("waits" not in stage.placed(), "who waits got the room")


def in_vain(stage):
    """At the deadline all of it stops, and goes first."""
    before = stage.all_is_full(job("gang", **{"berth.dev/repair": "4s"}))
    lost = next(iter(before))
    broken = stage.lose_node_of(lost, before)
    # By their places, not by their names: one that is made anew may be called as one that is gone.
    stage.wait(lambda: not any(stage.of_job("gang").values()), "who was left was told to stop")
    told = [each["message"] for each in stage.get("events")["items"] if each["reason"] == "Evicted"]
    expect(any(each.startswith("node: it has lost 1 of its pods, and until ") for each in told), told)
    # The room that it left is for one: who waited gets it, as the gang is not to be had by halves.
    stage.wait(lambda: "waits" in stage.placed(), "who waits has a place")
    stage.apply(job("late"))
    stage.wait(lambda: len(stage.of_job("late")) == 2, "more wait")
    stage.plane.must(f"taint node {broken} broken-")
    stage.plane.must("delete pod filler --now")
    stage.wait(lambda: stage.runs_whole("gang"), "it has begun anew")
    expect(not any(stage.of_job("late").values()), "the other was first")
    expect(stage.get("job gang")["status"].get("failed", 0) <= 1, "who stopped with the lost one has failed")


def what_is_not_to_be_kept(stage):
    """The annotation is checked, and zero means that nothing is kept."""
    refused = stage.refused(job("odd", **{"berth.dev/repair": "soon"}))
    expect("berth.dev/repair" in refused, refused)
    before = stage.all_is_full(job("gang", **{"berth.dev/repair": "0s"}))
    stage.lose_node_of(next(iter(before)), before)
    # As work of its own, which came when the lost one did.
    stage.wait_why(stage.heir(before), "^Capacity: no node")
    expect(sum(1 for node in stage.of_job("gang").values() if node) == 1, "who was left was left alone")


STORIES = (what_it_had_is_kept, another_node_before_all_who_wait, a_scheduler_that_is_killed_meanwhile, in_vain,
           what_is_not_to_be_kept)


if __name__ == "__main__":
    sys.exit(main("repairs", STORIES, NODES, RepairStage))
