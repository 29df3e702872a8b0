#!/usr/bin/env python3
"""What the scheduler of a live cluster is asked by objects: plans of moves that make whole nodes free, which are shown, and carried out
where somebody says so or at their hours; and what would become of the cluster if some things were otherwise.

    tests/e2e/asked_test.py [--berth PROGRAM] [--kubectl 1.29] [STORY...]
"""

import json
import os
import signal
import sys

from moves_test import MoveStage, job, pod
from stories import expect, main

NODES = "2xH100x8"


def asked(kind, name, **spec):
    return {"apiVersion": "berth.dev/v1alpha1", "kind": kind, "metadata": {"name": name}, "spec": spec}


class AskingStage(MoveStage):
    def status(self, kind, name):
        return self.get(f"{kind} {name}").get("status", {})

    def nothing_is_asked(self, kind):
        return self.get(kind)["items"] == []

    def carry_out(self, name, revision):
        self.plane.must(["patch", "bdf", name, "--type=merge", "-p", json.dumps({"spec": {"carryOut": revision}})])

    def clear(self):
        self.plane.must("delete defragmentations,whatifs --all")
        super().clear()


def a_plan_is_shown_and_moves_nobody(stage):
    home, other = stage.two_halves(job("trainer", 4))
    before = stage.of_job("trainer")
    table = stage.berth("defrag --plan")
    expect("1 to move" in table and home in table and other in table, table)
    facts = json.loads(stage.berth("defrag --plan -o json"))
    expect((facts["pods_before"], facts["pods_after"], facts["pods_at_best"]) == (0, 1, 1), facts)
    expect(facts["moves"][0]["from"] == [home] and facts["moves"][0]["to"] == [other], facts)
    expect(facts["moves"][0]["pods"] == ["default/" + next(iter(before))], facts)
    expect(stage.of_job("trainer") == before, "somebody was moved")
    expect(stage.nothing_is_asked("defragmentations"), "a question is left there")
    expect("nobody is there to agree" in stage.plane.run_berth("defrag", text="").stderr, "it moves without being told to")
    expect(stage.of_job("trainer") == before, "somebody was moved")


def a_plan_is_carried_out(stage):
    home, other = stage.two_halves(job("trainer", 4))
    told = stage.berth("defrag --yes")
    expect("1 told to move" in told, told)
    stage.wait(lambda: list(stage.of_job("trainer").values()) == [other], "it runs elsewhere")
    why = [each["message"] for each in stage.get("events")["items"] if each["reason"] == "Evicted"]
    expect(any("so that there is room for larger pods" in each for each in why), why)
    stage.apply(pod("whole", 8))
    stage.wait(lambda: stage.nodes().get("whole") == home, "there is room for a whole node's pod")
    expect("0 to move" in stage.berth("defrag"), "there is something left to move")


def only_what_was_shown_is_carried_out(stage):
    """By the object: nobody moves for a name that is not that of the plan, and what holds no more is left out."""
    stage.two_halves(job("trainer", 4))
    stage.apply(asked("Defragmentation", "mine", carryOut="1-1"))
    status = stage.wait(lambda: stage.status("bdf", "mine").get("message") and stage.status("bdf", "mine"), "it is told")
    expect("names 1-1, which is not the plan that stands here" in status["message"], status)
    expect(status["phase"] == "Planned" and len(status["plan"]["moves"]) == 1, status)
    stage.plane.must("delete job trainer")
    stage.plane.must("delete pods -l app=trainer --now")
    stage.wait(lambda: not stage.get("pods -l app=trainer")["items"], "it is gone")
    revision = status["plan"]["revision"]
    stage.carry_out("mine", revision)
    status = stage.wait(lambda: stage.status("bdf", "mine").get("carriedOut") and stage.status("bdf", "mine"), "decided")
    expect(status["phase"] == "NotCarriedOut" and status["carriedOut"]["moves"] == 0, status)
    expect(len(status["carriedOut"]["leftOut"]) == 1, status)
    expect("NotCarriedOut" in stage.plane.must("get bdf"), "the table")


def it_is_carried_out_at_its_hours(stage):
    _, other = stage.two_halves(job("trainer", 4))
    stage.apply(asked("Defragmentation", "always", hours="00:00-24:00", cooldown="1h"))
    stage.wait(lambda: list(stage.of_job("trainer").values()) == [other], "it runs elsewhere")
    status = stage.wait(lambda: stage.status("bdf", "always").get("carriedOut"), "it is said")
    expect(status["moves"] == 1, status)


def a_plan_outlives_its_scheduler(stage):
    _, other = stage.two_halves(job("trainer", 4))
    stage.apply(asked("Defragmentation", "mine"))
    plan = stage.wait(lambda: stage.status("bdf", "mine").get("plan"), "it is planned")
    os.kill(stage.plane.parts()["scheduler"], signal.SIGKILL)
    stage.carry_out("mine", plan["revision"])
    stage.wait(lambda: list(stage.of_job("trainer").values()) == [other], "it runs elsewhere", 60)


def what_is_wrong_is_refused(stage):
    told = stage.refused(asked("Defragmentation", "odd", gpus=65, use="0s", hours="sometimes", effort=-1))
    for words in ("write 1 to 64", "write 0 to 10000", "spec.use", "write hours of a clock"):
        expect(words in told, told)
    told = stage.refused(asked("WhatIf", "odd", changes=[]))
    expect("must be 1 to 1000 changes" in told, told)


def what_would_be(stage):
    """The live cluster is asked, and is as it was."""
    stage.apply(pod("one", 8), pod("two", 8))
    stage.wait(lambda: len(stage.nodes()) == 2, "both run")
    stage.apply(pod("late", 8))
    stage.wait(lambda: stage.why("late"), "it waits")
    words = ["whatif", "--change", "add nodes m 2 gpus=8 cpu=64 memory=1Ti", "--change", "queue new",
             "--change", "submit x queue=new gpus=4"]
    table = stage.berth(words)
    expect("default/late" in table and "at once" in table and "new" in table, table)
    facts = json.loads(stage.berth([*words, "-o", "json"]))
    expect(facts["before"]["start_at_once"] == 0 and facts["after"]["start_at_once"] == 1, facts)
    expect([each["name"] for each in facts["workloads"]] == ["default/late"], facts)
    expect([each["name"] for each in facts["submitted"]] == ["x"], facts)
    expect(len(stage.get("nodes")["items"]) == 2 and stage.nothing_is_asked("whatifs"), "something is left of it")
    told = stage.plane.run_berth(["whatif", "--change", "remove node nowhere"])
    expect(told.returncode == 2 and "there is no node 'nowhere'" in told.stderr, told.stderr)


def who_may_ask(stage):
    """Answers show work of everybody: who may not create the object is not answered."""
    told = stage.plane.run("--as=somebody --as-group=system:authenticated create -f -",
                           text=json.dumps(asked("WhatIf", "mine", changes=["drain node n1"])))
    expect(told.returncode != 0 and "forbidden" in told.stderr.lower(), told.stderr)
    told = stage.plane.run("--as=somebody --as-group=system:authenticated get bdf")
    expect(told.returncode != 0 and "forbidden" in told.stderr.lower(), told.stderr)


STORIES = (a_plan_is_shown_and_moves_nobody, a_plan_is_carried_out, only_what_was_shown_is_carried_out,
           it_is_carried_out_at_its_hours, a_plan_outlives_its_scheduler, what_is_wrong_is_refused, what_would_be,
           who_may_ask)


if __name__ == "__main__":
    sys.exit(main("asked", STORIES, NODES, AskingStage))
