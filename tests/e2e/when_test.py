#!/usr/bin/env python3
"""What people of a live cluster see and say of time through kubectl: what would start at once who waits, and annotations by which work
starts later, after other work, in turns, or waits no longer.

    tests/e2e/when_test.py [--berth PROGRAM] [--kubectl 1.29] [STORY...]
"""

import json
import os
import re
import signal
import sys
import time

from stories import PodStage, expect, main

NODES = "2xH100x8"


def moment(ahead_s):
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(time.time() + ahead_s))


def of_gpus(gpus):
    return {"restartPolicy": "Never", "terminationGracePeriodSeconds": 1,
            "containers": [{"name": "c", "image": "busybox", "resources": {"limits": {"nvidia.com/gpu": gpus}}}]}


def pod(name, gpus, annotations=None, run="30m"):
    return {"apiVersion": "v1", "kind": "Pod",
            "metadata": {"name": name, "annotations": {"berth.dev/run-for": run, **(annotations or {})}},
            "spec": of_gpus(gpus)}


def job(name, gpus, annotations=None, pods=1, run="30m", code="0"):
    return {"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": name, "annotations": annotations or {}},
            "spec": {"parallelism": pods, "completions": pods, "backoffLimit": 0,
                     "template": {"metadata": {"annotations": {"berth.dev/run-for": run, "berth.dev/exit-code": code}},
                                  "spec": of_gpus(gpus)}}}


class WhenStage(PodStage):
    def pods_of(self, name):
        return [each for each in self.pods() if each["metadata"].get("labels", {}).get("job-name") == name]

    def runs(self, name):
        return any("nodeName" in each["spec"] for each in self.pods_of(name))

    def wait_why_job(self, name, pattern):
        def told():
            return [each for each in self.pods_of(name) if re.search(pattern, self.why(each["metadata"]["name"]))]
        self.wait(told, f"{name} told {pattern!r}")

    def changes(self, name, code=7):
        """Of what `berth explain` says in JSON: the texts of the changes, by kind."""
        facts = json.loads(self.berth(f"explain {name} -o json", code)).get("smallestChanges")
        return facts and {each["kind"]: each["text"] for each in facts["changes"]}

    def restart_scheduler(self):
        killed = self.plane.parts()["scheduler"]
        os.kill(killed, signal.SIGKILL)
        self.wait(lambda: self.plane.parts().get("scheduler", killed) != killed, "another scheduler runs", 60)


def what_would_start_it_is_said(stage):
    """By the scheduler that runs, proven on copies of its state; and what is said is so."""
    stage.apply(pod("one", 8), pod("two", 6))
    stage.wait(lambda: len(stage.placed()) == 2, "both run")
    stage.apply(job("train", 8, pods=2))
    changes = stage.wait(lambda: stage.changes("job/train"), "it is told")
    expect(changes.get("end") is None, f"one of the two is not enough: {changes}")
    expect(changes.get("nodes") == "with 2 more nodes like h100x8-0" or "more node" in changes.get("nodes", ""), changes)
    text = stage.berth("explain job/train", 7)
    expect(re.search(r"\n  starts  at once with", text), text)
    expect(re.search(r"as tried \d+s ago on copies of the cluster", text), text)
    stage.apply(job("small", 8))
    changes = stage.wait(lambda: stage.changes("job/small"), "it is told")
    expect(changes.get("gpus") == "with 2 of its 8 GPUs a pod", changes)
    expect(changes.get("end") in ("if default/two ended", "if default/one ended"), changes)
    # As it says: with two GPUs it starts at once.
    stage.plane.must("delete job small --wait=false")
    stage.apply(job("small", 2))
    stage.wait(lambda: stage.runs("small"), "with two GPUs it starts")
    # Who has a place needs no advice.
    expect(stage.changes("job/small", code=0) is None, "it runs")


def advice_is_taken_back(stage):
    """Whoever was told what would start him, and has a place then, says so no more."""
    stage.apply(pod("one", 8), pod("two", 8))
    stage.wait(lambda: len(stage.placed()) == 2, "both run")
    stage.apply(pod("three", 8))

    def told():
        for each in stage.get("pod three")["status"].get("conditions", []):
            if each["type"] == "berth.dev/WouldStart":
                return each
        return None
    said = stage.wait(told, "it is told")
    expect(said["status"] == "True" and "end: if default/" in said["message"], said)
    stage.plane.must("delete pod one --now", limit_s=60)
    stage.wait(lambda: "three" in stage.placed(), "it starts")
    stage.wait(lambda: told()["reason"] == "HasPlace", "it says so no more")


def what_is_wrong_is_said(stage):
    """At the door, with the place and what to write."""
    for annotation, value, part in (
            ("not-before", "tonight", "write a time as in"),
            ("hours", "at night", "mon-fri 20:00-08:00 Europe/Berlin"),
            ("max-wait", "2h", "2h cancel, 2h best-effort or 2h raise:100"),
            ("after", "jobset/a", "write job/NAME or pod/NAME"),
            ("singleton", "every night", "as in nightly")):
        told = stage.refused(job("bad", 1, {f"berth.dev/{annotation}": value}))
        expect(f"metadata.annotations[berth.dev/{annotation}]" in told and part in told, told)
    expect("it would wait for itself" in stage.refused(job("self", 1, {"berth.dev/after": "self"})), "itself")


def after_others(stage):
    """A Job starts when others have ended, or are done; also if the scheduler is started anew meanwhile."""
    stage.apply(job("last", 1, {"berth.dev/after": "job/good,job/bad"}, run="1s"),
                job("never", 1, {"berth.dev/after-ok": "job/bad"}),
                job("second", 1, {"berth.dev/after-ok": "good", "berth.dev/after-start": "third"}))
    stage.wait_why_job("last", r"^Dependency: it starts when job/good has ended; there is none of that name")
    stage.apply(job("good", 1, run="25s"), job("bad", 1, run="1s", code="3"))
    stage.wait_why_job("never", r"^Dependency: never: it was to start when job/bad is done, and that has failed")
    expect(not stage.runs("last") and not stage.runs("second"), "too early")
    stage.restart_scheduler()
    stage.plane.must("wait job/good --for=condition=Complete --timeout=40s")
    stage.wait(lambda: stage.runs("last"), "both have ended", 60)
    stage.wait_why_job("second", r"^Dependency: it starts when job/third has begun")
    stage.apply(job("third", 1))
    stage.wait(lambda: stage.runs("second"), "the third has begun")
    begun = stage.get("job second")["metadata"]["annotations"]
    stage.wait(lambda: "berth.dev/begun-at" in stage.get("job second")["metadata"]["annotations"], f"begun: {begun}")
    expect(not stage.runs("never"), "it starts never")
    expect("Dependency" in stage.berth("explain job/never", 7), stage.berth("explain job/never", 7))


def later_and_in_turns(stage):
    """Not before its moment; of one name and user one at a time; outside of its hours nobody."""
    stage.apply(pod("later", 1, {"berth.dev/not-before": moment(8)}))
    stage.wait_why("later", r"^NotBefore: ")
    # Hours that are over, whenever this is tried.
    hour = time.gmtime().tm_hour
    hours = f"{(hour + 3) % 24:02}:00-{(hour + 4) % 24:02}:00"
    stage.apply(pod("night", 1, {"berth.dev/hours": hours}))
    stage.wait_why("night", r"^Calendar: it runs in its hours alone")
    stage.apply(pod("day", 1, {"berth.dev/hours": f"{(hour - 1) % 24:02}:00-{(hour + 2) % 24:02}:00"}))
    stage.wait(lambda: "day" in stage.placed(), "it is in its hours")
    stage.apply(job("a", 1, {"berth.dev/singleton": "nightly"}, run="8s"))
    stage.wait(lambda: stage.runs("a"), "the first has its turn")
    stage.apply(job("b", 1, {"berth.dev/singleton": "nightly"}))
    stage.wait_why_job("b", r"^Dependency: ")
    stage.wait(lambda: stage.runs("b"), "its turn comes")
    stage.wait(lambda: "later" in stage.placed(), "its moment comes")
    expect("night" not in stage.placed(), "it is not its hours")


def no_longer_than_it_is_to(stage):
    """A Job that has waited for so long is ended, and says why; a pod alone fails."""
    stage.apply(pod("one", 8), pod("two", 8))
    stage.wait(lambda: len(stage.placed()) == 2, "both run")
    stage.apply(job("patient", 8, {"berth.dev/max-wait": "4s cancel"}), pod("alone", 8, {"berth.dev/max-wait": "4s cancel"}))
    stage.plane.must("wait job/patient --for=condition=Failed --timeout=40s")
    stage.wait(lambda: not stage.pods_of("patient"), "its pods are gone")
    expect("it has waited for 4s, as long as it was to" in stage.plane.must("get events"), stage.plane.must("get events"))
    stage.wait(lambda: stage.get("pod alone")["status"]["phase"] == "Failed", "it has failed")
    expect(stage.get("pod alone")["status"]["reason"] == "MaxWait", stage.get("pod alone")["status"])


STORIES = (what_is_wrong_is_said, what_would_start_it_is_said, advice_is_taken_back, after_others, later_and_in_turns,
           no_longer_than_it_is_to)

if __name__ == "__main__":
    sys.exit(main("when", STORIES, NODES, WhenStage, shown="pods,jobs"))
