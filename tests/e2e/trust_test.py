#!/usr/bin/env python3
"""Circles of trust through kubectl: who may be on one GPU with whom, how those part who do not trust each other any more, and
what a scheduler knows of it that is started anew.

    tests/e2e/trust_test.py [--berth PROGRAM] [--kubectl 1.29] [STORY...]
"""

import os
import re
import signal
import sys
import time

from stories import PodStage, expect, main

NODES = "1xH100x1,1xL40Sx1/mps"
TENANTS = ("research", "product", "guests")


def queue(name):
    return {"apiVersion": "berth.dev/v1alpha1", "kind": "Queue", "metadata": {"name": name}, "spec": {"order": "fifo-skip"}}


def circle(name, *queues, within="10m"):
    return {"apiVersion": "berth.dev/v1alpha1", "kind": "TrustCircle", "metadata": {"name": name},
            "spec": {"queues": list(queues), "within": within}}


def half(name, tenant, **annotations):
    """A pod with half of a GPU."""
    words = {"berth.dev/run-for": "30m", "gpu-fraction": "0.5"}
    words.update({key.replace("__", "/").replace("_", "-"): value for key, value in annotations.items()})
    return {"apiVersion": "v1", "kind": "Pod",
            "metadata": {"name": name, "annotations": words, "labels": {"berth.dev/queue": tenant}},
            "spec": {"restartPolicy": "Never", "terminationGracePeriodSeconds": 1,
                     "containers": [{"name": "c", "image": "busybox"}]}}


def share(name, tenant):
    return half(name, tenant, **{"berth.dev__gpu_sharing": "mps"})


class TrustStage(PodStage):
    def begin(self):
        self.apply(*[queue(name) for name in TENANTS])

    def given(self):
        return {name: node for name, (node, _) in self.placed().items()}

    def circle(self, name):
        return self.get(f"trustcircle {name}")

    def in_force(self, name):
        for each in self.circle(name).get("status", {}).get("conditions", []):
            if each["type"] == "InForce":
                return f"{each['status']} {each['reason']}: {each['message']}"
        return ""

    def hold(self, name, *queues, within="10m"):
        self.apply(circle(name, *queues, within=within))
        self.wait(lambda: self.in_force(name).startswith("True"), f"{name} is in force")

    def kill_scheduler(self):
        os.kill(self.plane.parts()["scheduler"], signal.SIGKILL)

    def circles(self):
        return [each["metadata"]["name"] for each in self.get("trustcircles")["items"]]

    def clear(self):
        super().clear()
        self.plane.must("delete trustcircles --all", limit_s=60)


def only_friends_share(stage):
    """Two tenants are on one GPU only if a circle holds both, by agreement as under MPS."""
    stage.begin()
    stage.apply(half("r", "research"), share("rs", "research"))
    stage.wait(lambda: len(stage.given()) == 2, "the first two have a place")
    stage.apply(half("p", "product"), share("ps", "product"))
    stage.wait_why("p", r"^Trust: .*a TrustCircle that names its tenant, queue 'product', and theirs")
    stage.wait_why("ps", "^Trust: ")
    expect("TrustCircle" in stage.berth("explain pod/p", 7), stage.berth("explain pod/p", 7))
    stage.hold("partners", "research", "product")
    stage.wait(lambda: len(stage.given()) == 4, "all four have a place")
    shown = stage.plane.must("get btc")
    expect(re.search(r"NAME +QUEUES +IN FORCE +PARTING BY +AGE", shown), shown)
    expect(re.search(r"partners +research,product +True ", shown), shown)
    stage.plane.must("delete pod p --now")
    stage.apply(half("g", "guests"))
    stage.wait_why("g", "^Trust: ")


def what_is_wrong_is_said(stage):
    """A circle that cannot be is refused with all that is wrong; one whose queues are not there yet says so, and holds then."""
    stage.begin()
    refused = stage.refused(circle("bad", "research", "research", "localqueue/x", within="5"))
    for word in ("spec.queues[1]", "stands here twice", "clusterqueue/NAME", "has no unit"):
        expect(word in refused, refused)
    stage.apply(circle("early", "research", "later"))
    stage.wait(lambda: stage.in_force("early") == "False QueueUnknown: there is no queue 'later'", "it says what is missing")
    stage.apply(queue("later"))
    stage.wait(lambda: stage.in_force("early").startswith("True"), "it is in force")
    stage.plane.must("delete trustcircle early")
    stage.plane.must("delete queue later")


def strangers_part_in_time(stage):
    """Who shared a GPU for a circle that is narrower now has its time; then the weaker claim goes, whatever became of the
    scheduler meanwhile."""
    stage.begin()
    stage.hold("partners", "research", "product", within="8s")
    stage.apply(half("r", "research"))
    stage.wait(lambda: "r" in stage.given(), "the first has a place")
    time.sleep(1.1)  # of equal claims the first is the stronger, and pods know whole seconds
    stage.apply(half("p", "product"))
    stage.wait(lambda: "p" in stage.given(), "the second is beside it")
    began = time.monotonic()
    stage.apply(circle("partners", "research", within="8s"))
    stage.wait(lambda: stage.circle("partners")["status"].get("parting"), "it is written down who has to part")
    stage.kill_scheduler()
    told = lambda: [each["message"] for each in stage.get("events")["items"]  # noqa: E731
                    if each["reason"] == "ToPart" and each["involvedObject"]["name"] == "p"]
    stage.wait(told, "they are told")
    by = stage.circle("partners")["status"]["parting"][0]["by"]
    stage.wait(lambda: "p" not in stage.given(), "the stranger is gone", 30)
    took = time.monotonic() - began
    expect(6 < took < 25, f"it took {took:.1f} s")
    expect(stage.given() == {"r": "h100-0001"}, f"{stage.given()}")
    evicted = [each["message"] for each in stage.get("events")["items"] if each["reason"] == "Evicted"]
    expect(any(text.startswith("trust: on its GPU is work with a stronger claim") for text in evicted), f"{evicted}")
    stage.wait(lambda: not stage.circle("partners")["status"].get("parting"), f"nothing is to part any more (by {by})")


def a_deleted_circle_drains(stage):
    """A circle that is deleted while strangers share for it stays until they have parted, also if nobody looked."""
    stage.begin()
    stage.hold("partners", "research", "product", within="1h")
    stage.apply(half("r", "research"))
    stage.wait(lambda: "r" in stage.given(), "the first has a place")
    stage.apply(half("p", "product"))
    stage.wait(lambda: "p" in stage.given(), "the second is beside it")
    stage.plane.must("delete trustcircle partners --wait=false")
    stage.kill_scheduler()
    stage.wait(lambda: stage.in_force("partners").startswith("False Deleted"), "it says that it goes")
    stage.wait(lambda: stage.circle("partners")["status"].get("parting"), "it is written down who has to part")
    expect(len(stage.given()) == 2, "somebody went before the time")
    stage.plane.must("delete pod p --now")
    stage.wait(lambda: not stage.circles(), "the circle is gone")
    stage.apply(half("p2", "product"))
    stage.wait_why("p2", "^Trust: ")


STORIES = (only_friends_share, what_is_wrong_is_said, strangers_part_in_time, a_deleted_circle_drains)


if __name__ == "__main__":
    sys.exit(main("trust", STORIES, NODES, TrustStage))
