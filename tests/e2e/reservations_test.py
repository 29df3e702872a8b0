#!/usr/bin/env python3
"""Reservations through kubectl: what is promised for a time is kept, said, taken back, and known to a scheduler that is started
anew.

    tests/e2e/reservations_test.py [--berth PROGRAM] [--kubectl 1.29] [STORY...]
"""

import json
import os
import signal
import sys
import time

from stories import PodStage, expect, main

NODES = "2xH100x8"


def moment(ahead_s):
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(time.time() + ahead_s))


def queue(name, gpus=0):
    spec = {"order": "fifo-skip"}
    if gpus:
        spec["guarantee"] = {"h100": gpus}
    return {"apiVersion": "berth.dev/v1alpha1", "kind": "Queue", "metadata": {"name": name}, "spec": spec}


def reservation(name, begins_in_s, lasts, **spec):
    return {"apiVersion": "berth.dev/v1alpha1", "kind": "Reservation", "metadata": {"name": name},
            "spec": {"from": moment(begins_in_s), "for": lasts, **spec}}


def pod(name, tenant, gpus=8, limit_s=None, grace=2):
    spec = {"restartPolicy": "Never", "terminationGracePeriodSeconds": grace,
            "containers": [{"name": "c", "image": "busybox", "resources": {"limits": {"nvidia.com/gpu": gpus}}}]}
    if limit_s:
        spec["activeDeadlineSeconds"] = limit_s
    return {"apiVersion": "v1", "kind": "Pod",
            "metadata": {"name": name, "labels": {"berth.dev/queue": tenant},
                         "annotations": {"berth.dev/run-for": "30m"}},
            "spec": spec}


class ReservationStage(PodStage):
    def begin(self):
        self.apply(queue("research", 8), queue("product"))

    def status(self, name):
        return self.get(f"reservation {name}").get("status", {})

    def condition(self, name):
        for each in self.status(name).get("conditions", []):
            if each["type"] == "InForce":
                return f"{each['status']} {each['reason']}: {each['message']}"
        return ""

    def promise(self, made):
        """It is there and has what it was promised."""
        self.apply(made)
        name = made["metadata"]["name"]
        self.wait(lambda: self.status(name).get("phase") in ("Coming", "Lasting"), f"{name} is in force")

    def clear(self):
        super().clear()
        self.plane.must("delete reservations --all", limit_s=60)


def keeps_its_gpus(stage):
    """Whoever would still be there waits and is told for what; who ends before is let in; the queue has it then."""
    stage.promise(reservation("monday", 15, "10m", queue="research", gpus=16))
    stage.apply(pod("endless", "product"))
    stage.wait_why("endless", r"^Reserved: there is room, reserved for queue research \(monday\)")
    expect("monday" in stage.berth("explain pod/endless", 7), stage.berth("explain pod/endless", 7))
    stage.apply(pod("short", "product", limit_s=3))
    stage.wait(lambda: "short" in stage.placed(), "who ends before starts")
    stage.wait(lambda: stage.status("monday")["phase"] == "Lasting", "it has begun")
    stage.apply(pod("own", "research"))
    stage.wait(lambda: "own" in stage.placed(), "its queue has it")
    expect("endless" not in stage.placed(), "it was given to others")
    table = stage.berth("reservations").splitlines()
    expect(table[0].split() == ["NAME", "FOR", "WHAT", "FROM", "LENGTH", "STATE", "HAS", "SHORT", "DRAINS"], table)
    expect(table[1].split()[:4] == ["monday", "research", "16", "GPUs"] and "lasting" in table[1], table)
    facts = json.loads(stage.berth("reservations monday -o json"))["items"][0]
    expect(facts["has"] == 16 and facts["short"] == 0 and len(facts["on"]) == 2, facts)
    shown = stage.plane.must("get brs")
    expect("monday" in shown and "Lasting" in shown, shown)
    # Taken back, it keeps nothing.
    stage.plane.must("delete reservation monday")
    stage.wait(lambda: "endless" in stage.placed(), "who waited starts")


def who_is_in_the_way_goes(stage):
    """Inside the floor of its queue, and not for nothing: the event names the reservation."""
    stage.apply(pod("one", "product"), pod("two", "product"))
    stage.wait(lambda: len(stage.placed()) == 2, "both run")
    stage.promise(reservation("drain", 8, "10m", queue="research", gpus=8))
    expect("drainsAt" in stage.status("drain"), stage.status("drain"))
    stage.wait(lambda: "(Reservation drain)" in stage.plane.must("get events"), "somebody is told for what he goes")
    expect("window: its room is reserved for queue 'research'" in stage.plane.must("get events"),
           stage.plane.must("get events"))
    stage.wait(lambda: len(stage.pods()) == 1, "one of them goes")
    stage.wait(lambda: stage.status("drain")["phase"] == "Lasting", "it has begun")
    expect(stage.status("drain")["gpus"] == 8 and stage.status("drain")["short"] == 0, stage.status("drain"))


def nothing_is_forgotten(stage):
    """A scheduler that is started anew keeps the same GPUs for it, also if the journal is gone."""
    stage.promise(reservation("kept", 2, "10m", queue="research", gpus=8))
    stage.wait(lambda: stage.status("kept")["phase"] == "Lasting", "it has begun")
    stage.apply(pod("beside", "product"))
    stage.wait(lambda: "beside" in stage.placed(), "what is not reserved is for others")
    before = stage.status("kept")
    for name in ("waits", "too"):
        stage.apply(pod(name, "product"))
    stage.wait_why("waits", r"^Reserved: .*\(kept\)")
    killed = stage.plane.parts()["scheduler"]
    os.kill(killed, signal.SIGKILL)
    stage.wait(lambda: stage.plane.parts().get("scheduler", killed) != killed, "another scheduler runs", 60)
    stage.apply(pod("own", "research"))
    stage.wait(lambda: "own" in stage.placed(), "its queue has it", 60)
    expect(not {"waits", "too"} & set(stage.placed()), stage.placed())
    expect(stage.status("kept")["nodes"] == before["nodes"], (before, stage.status("kept")))


def who_goes_is_known_to_the_next(stage):
    """Who was told to go for it, and is there still, is named by a scheduler that is started anew too."""
    stage.apply(pod("one", "product", grace=60), pod("two", "product", grace=60))
    stage.wait(lambda: len(stage.placed()) == 2, "both run")
    for name in ("one", "two"):
        stage.plane.must(f"annotate pod {name} berth.dev/stop-after=40s")
    stage.promise(reservation("soon", 62, "10m", queue="research", gpus=8))
    leaving = stage.wait(lambda: stage.status("soon").get("leaving"), "one of them is told")
    killed = stage.plane.parts()["scheduler"]
    os.kill(killed, signal.SIGKILL)
    stage.wait(lambda: stage.plane.parts().get("scheduler", killed) != killed, "another scheduler runs", 60)
    # It writes the status when it has seen all: something in it has to change.
    stage.apply(reservation("other", 3000, "10m", queue="research", gpus=1))
    stage.wait(lambda: stage.status("other").get("phase") == "Coming", "it has begun to write", 60)
    expect(stage.status("soon").get("leaving") == leaving, (leaving, stage.status("soon")))


def nodes_are_closed(stage):
    """Maintenance: who is there is told in time, nobody starts there, and afterwards it is a node as any other."""
    stage.apply(pod("there", "product", gpus=16 // 2))
    home = stage.wait(lambda: stage.placed().get("there"), "it runs")[0]
    stage.promise(reservation("night", 6, "12s", nodes=[home]))
    stage.wait(lambda: "its node is closed for maintenance" in stage.plane.must("get events"), "it is told why it goes")
    stage.wait(lambda: not stage.pods(), "it goes")
    for name in ("a", "b"):
        stage.apply(pod(name, "product"))
    stage.wait(lambda: len(stage.placed()) == 1, "the other node takes work")
    expect(home not in [node for node, _ in stage.placed().values()], "somebody is on the closed node")
    stage.wait(lambda: len(stage.placed()) == 2, "it is open again", 60)
    stage.wait(lambda: stage.status("night")["phase"] == "Over", "it is over")


def what_is_wrong_is_said(stage):
    """All of it at once, with the place and what to write; what only the cluster knows, in its condition."""
    wrong = reservation("bad", 60, "25h", queue="localqueue/x", gpus=0, daily=True, nodes=["h100x8-0"])
    wrong["spec"]["from"] = "noon"
    told = stage.refused(wrong)
    for part in ("spec.queue", "clusterqueue/NAME", "spec.nodes", "spec.gpus", "write 1 to 1000000", "spec.from",
                 "such as 2026-12-01T09:00:00Z", "spec.for", "at most 24 hours"):
        expect(part in told, told)
    expect("it is over already" in stage.refused(reservation("past", -7200, "1h", queue="research", gpus=8)), "over")
    stage.apply(reservation("nobody", 60, "1h", queue="later", gpus=8))
    stage.wait(lambda: stage.condition("nobody").startswith("False QueueUnknown: there is no queue 'later'"),
               "it says what is not there")
    expect("not in force" in stage.berth("reservations nobody"), stage.berth("reservations nobody"))
    stage.apply(queue("later"))
    stage.wait(lambda: stage.condition("nobody").startswith("True"), "it is in force")


STORIES = (what_is_wrong_is_said, keeps_its_gpus, who_is_in_the_way_goes, nothing_is_forgotten,
           who_goes_is_known_to_the_next, nodes_are_closed)


def stage_of(plane):
    stage = ReservationStage(plane)
    stage.begin()
    return stage


if __name__ == "__main__":
    sys.exit(main("reservations", STORIES, NODES, stage_of, shown="pods,reservations"))
