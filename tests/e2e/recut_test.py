#!/usr/bin/env python3
"""Slices that are cut anew by demand, through kubectl: as the label nvidia.com/mig.config has it, and what becomes of cuts that fail.

    tests/e2e/recut_test.py [--berth PROGRAM] [--kubectl 1.29] [STORY...]
"""

import json
import os
import signal
import sys

from slices_test import RESOURCE, SliceStage, job, pod
from stories import expect, main

NODES = "3xH100x2/mig:3g.40gb:3g.40gb/recut:2s,1xH100x2/mig"


class RecutStage(SliceStage):
    """Each story has a node of its own, as one that was cut stays so for a while."""

    def on(self, number, name, profile):
        asking = pod(name, profile)
        asking["spec"]["nodeSelector"] = {"kubernetes.io/hostname": self.node_name(number)}
        return asking

    @staticmethod
    def node_name(number):
        return f"h100-slices-{number:04}"

    def node(self, number):
        return self.get(f"node {self.node_name(number)}")

    def offers(self, number, profile):
        return self.node(number)["status"]["allocatable"].get(RESOURCE + profile)

    def told(self, reason):
        return [event["message"] for event in json.loads(self.plane.must("get events -A -o json"))["items"]
                if event["reason"] == reason]


def a_node_is_cut_for_who_waits(stage):
    name = stage.node_name(1)
    expect(stage.offers(1, "3g.40gb") == "4", "it is cut into something else")
    stage.apply(stage.on(1, "small", "1g.10gb"))
    stage.wait(lambda: stage.placed().get("small", ("",))[0] == name, "it has its slice")
    expect(stage.offers(1, "1g.10gb") == "14" and stage.offers(1, "3g.40gb") is None, stage.node(1)["status"])
    labels = stage.node(1)["metadata"]["labels"]
    expect((labels["nvidia.com/mig.config"], labels["nvidia.com/mig.config.state"]) == ("all-1g.10gb", "success"), labels)
    expect(any("all-1g.10gb" in text for text in stage.told("Recutting")), "nobody was told that it is cut")
    stage.wait(lambda: stage.told("Recut"), "that it was is told")
    # What it is cut into it stays for a while.
    stage.apply(stage.on(1, "large", "3g.40gb"))
    stage.wait_why("large", "^SliceGeometry: .*stay so for another")
    expect("cut into 1g.10gb" in stage.berth("nodes -o wide") or "0:1g.10gb@" in stage.berth("nodes -o wide"), "nodes")


def a_cut_that_fails(stage):
    stage.plane.must(f"annotate node {stage.node_name(2)} berth.dev/recut-fails=true")
    stage.apply(stage.on(2, "small", "1g.10gb"))
    stage.wait_why("small", "could not be cut into all-1g.10gb .*is tried again after")
    stage.wait(lambda: any("berth.dev/gpu-cut" in text for text in stage.told("RecutFailed")), "the node has an event")
    expect("recut-failed" in stage.berth("nodes"), stage.berth("nodes"))
    # What is there is given meanwhile.
    stage.apply(stage.on(2, "large", "3g.40gb"))
    stage.wait(lambda: "large" in stage.placed(), "the large one has a slice")
    stage.plane.must("delete pod large --now")
    stage.plane.must(f"annotate node {stage.node_name(2)} berth.dev/recut-fails- berth.dev/gpu-cut-")
    stage.wait(lambda: "small" in stage.placed(), "it is tried again")


def a_scheduler_that_is_started_anew(stage):
    """Killed while a node is cut: the next one goes on. Here the test is what cuts it."""
    name = stage.node_name(3)
    stage.plane.must(f"annotate node {name} berth.dev/recut-fails=silent")
    stage.apply(stage.on(3, "small", "1g.10gb"))
    stage.wait_why("small", "^SliceGeometry: it has its room: all GPUs of .* are being cut anew for it")
    expect("[//]" in stage.berth("nodes") and "cutting all-1g.10gb" in stage.berth("nodes"), stage.berth("nodes"))
    os.kill(stage.plane.parts()["scheduler"], signal.SIGKILL)
    amounts = {RESOURCE + "3g.40gb": None, RESOURCE + "1g.10gb": "14"}
    stage.plane.must(["patch", "node", name, "--subresource=status", "--type=merge", "-p",
                      json.dumps({"status": {"capacity": amounts, "allocatable": amounts}})])
    stage.plane.must(f"label node {name} --overwrite nvidia.com/mig.config.state=success")
    stage.wait(lambda: stage.placed().get("small", ("",))[0] == name, "it has its slice", 60)


def room_for_a_slice_by_moves(stage):
    """A 3g.40gb on each of two GPUs: the plan for a whole one is shown, and carried out."""
    def here(thing):
        thing["spec"]["nodeSelector"] = {"kubernetes.io/hostname": "h100-mig-0001"}
        return thing

    def movable(name):
        made = job(name, "3g.40gb", 1)
        here(made["spec"]["template"])["metadata"]["annotations"]["berth.dev/movable"] = "true"
        return made

    for beside, mover in (("first", "a"), ("second", "b")):
        have = len(stage.given())
        stage.apply(here(pod(beside, "4g.40gb")))
        stage.wait(lambda: len(stage.given()) == have + 1, f"{beside} has a place")  # noqa: B023
        stage.apply(movable(mover))
        stage.wait(lambda: len(stage.given()) == have + 2, f"{mover} has a place")  # noqa: B023
    stage.plane.must("delete pod first second --now")
    stage.wait(lambda: len(stage.given()) == 2, "these have gone")
    facts = json.loads(stage.berth("defrag --plan --slice 7g.80gb -o json"))
    # On the other nodes there may be room, too.
    expect(facts["slice"] == "7g.80gb" and facts["pods_after"] - facts["pods_before"] == 1 == len(facts["moves"]), facts)
    expect("slices of 7g.80gb" in stage.berth("defrag --plan --slice 7g.80gb"), "the table")
    wrong = stage.plane.run_berth("defrag --plan --slice 9g.99gb", text="").stderr
    expect("no GPU model that is known can be cut into it" in wrong, wrong)
    expect("1 told to move" in stage.berth("defrag --yes --slice 7g.80gb"), "nobody was moved")
    stage.apply(here(pod("whole", "7g.80gb")))
    stage.wait(lambda: "whole" in stage.given(), "there is room for a whole one")


STORIES = [a_node_is_cut_for_who_waits, a_cut_that_fails, a_scheduler_that_is_started_anew, room_for_a_slice_by_moves]

if __name__ == "__main__":
    sys.exit(main("cutting anew", STORIES, NODES, RecutStage))
