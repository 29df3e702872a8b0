#!/usr/bin/env python3
"""What is left on GPUs, through kubectl: who waits until one is scrubbed, what is known of it when everything was killed, and
GPUs whose scrub fails.

    tests/e2e/scrub_test.py [--berth PROGRAM] [--kubectl 1.29] [STORY...]
"""

import json
import os
import re
import signal
import sys

from stories import PodStage, expect, main

NODES = "1xH100x1"
SCRUB = "10s"


def queue(name):
    return {"apiVersion": "berth.dev/v1alpha1", "kind": "Queue", "metadata": {"name": name}, "spec": {"order": "fifo-skip"}}


def whole(name, tenant, run="30m"):
    return {"apiVersion": "v1", "kind": "Pod",
            "metadata": {"name": name, "annotations": {"berth.dev/run-for": run}, "labels": {"berth.dev/queue": tenant}},
            "spec": {"restartPolicy": "Never", "terminationGracePeriodSeconds": 0,
                     "containers": [{"name": "c", "image": "busybox", "resources": {"limits": {"nvidia.com/gpu": 1}}}]}}


class ScrubStage(PodStage):
    def begin(self):
        self.apply(queue("research"), queue("product"))
        self.wait(lambda: "[.]" in self.berth("nodes"), "the GPU is clean")

    def given(self):
        return set(self.placed())

    def record(self, name):
        notes = self.get("node h100-0001")["metadata"].get("annotations", {})
        return json.loads(notes.get(f"berth.dev/gpus-{name}", "{}"))

    def node(self, words):
        self.plane.must(["annotate", "node", "h100-0001", "--overwrite", *words])

    def asked(self):
        """That a scrub is asked for."""
        return "scrub" in self.record("used").get("0", {}) and "withdrawn" not in self.record("used")["0"]


def strangers_wait_for_a_scrub(stage):
    """Who comes after others whom he does not trust waits until the GPU is scrubbed; who trusts them does not."""
    stage.begin()
    stage.apply(whole("first", "research"))
    stage.wait(lambda: stage.given() == {"first"}, "the first has the GPU")
    expect(stage.record("used").get("0", {}).get("by") == ["research"], f"{stage.record('used')}")
    stage.apply(whole("stranger", "product"))
    stage.wait_why("stranger", "^Capacity: ")
    stage.plane.must("delete pod first --now")
    stage.wait_why("stranger", "^Dirty: .* which is scrubbed when all have left")
    shown = stage.berth("nodes -o wide")
    expect(re.search(r"h100-0001 +H100 +\[~\] +0/1 .* 0: research\n", shown), shown)
    expect("Dirty: " in stage.berth("explain pod/stranger", 7), stage.berth("explain pod/stranger", 7))
    stage.wait(lambda: "stranger" in stage.given(), "it has the GPU then")
    stage.plane.must("delete pod stranger --now")
    stage.wait(stage.asked, "a scrub is asked for")
    stage.apply(whole("friend", "product"))
    stage.wait(lambda: "friend" in stage.given(), "who trusts them has it")
    used, scrubbed = stage.record("used")["0"], stage.record("scrubbed")["0"]
    expect(used.get("withdrawn") and scrubbed["scrub"] < used["scrub"], f"it waited for a scrub: {used}, {scrubbed}")


def what_is_left_survives_everything(stage):
    """A GPU is dirty, and by whose work, also when all processes were killed, and when its pod went while none looked."""
    stage.begin()
    stage.node(["berth.dev/scrub-fails=0"])
    stage.apply(whole("first", "research"))
    stage.wait(lambda: stage.given() == {"first"}, "the first has the GPU")
    os.kill(stage.plane.parts()["scheduler"], signal.SIGKILL)
    stage.plane.must("delete pod first --now")
    stage.plane.kill()
    stage.plane.start()
    stage.apply(whole("stranger", "product"))
    stage.wait_why("stranger", "^(Dirty|Capacity|Invalid): ")
    expect(stage.record("used").get("0", {}).get("by") == ["research"], f"{stage.record('used')}")
    stage.wait(lambda: "failed" in stage.record("scrubbed").get("0", {}), "the scrub fails")
    shown = stage.wait(lambda: "[!]" in stage.berth("nodes") and stage.berth("nodes -o wide"), "it is quarantined")
    expect("0: quarantined (it fails by the annotation berth.dev/scrub-fails)" in shown, shown)
    told = lambda: any(event["reason"] == "Quarantined" and "take away the annotation" in event["message"]  # noqa: E731
                       for event in json.loads(stage.plane.must("get events -A -o json"))["items"])
    stage.wait(told, "an operator is told")
    os.kill(stage.plane.parts()["scheduler"], signal.SIGKILL)
    stage.apply(whole("same", "research"))
    stage.wait(lambda: stage.why("same"), "who left it waits, too")
    expect(stage.given() == set(), f"{stage.given()}")
    # The operator has repaired it.
    stage.node(["berth.dev/scrub-fails-"])
    stage.node(["berth.dev/gpus-scrubbed-"])
    stage.wait(stage.given, "somebody has it when it is scrubbed")


STORIES = (strangers_wait_for_a_scrub, what_is_left_survives_everything)


if __name__ == "__main__":
    sys.exit(main("scrubs", STORIES, NODES, ScrubStage, options=("--scrub", SCRUB)))
