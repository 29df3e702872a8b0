#!/usr/bin/env python3
"""Asks Berth's API server what a kube-apiserver 1.36 was once asked, and compares the replies with those recorded.

    tests/e2e/recorded_replies_test.py [--berth PROGRAM] [--recorded FILE] [--story NAME]

The recorded replies are not part of the project: where they are not, the test is skipped. A step of replies/stories_*.py names
the recorded reply that it stands for; each recorded reply has a step, or a reason in replies/known.py why it has none.
"""

import argparse
from pathlib import Path

import harness
from replies import recorded, stories_objects, stories_pods, stories_queues, stories_server
from replies.calls import Access
from replies.comparing import Normaliser, PartOfDict, Report, disagreements
from replies.known import NOT_ASKED, OF_RECORDED
from replies.script import Run, callers_of

STORIES = [*stories_server.STORIES, *stories_objects.STORIES, *stories_pods.STORIES, *stories_queues.STORIES]
RECORDED = Path(__file__).resolve().parents[3] / "shared/facts/kubectl/replies-1.36.txt"
USERS = {"alice": "alice-token"}
TOKENS = 'alice-token,alice,alice,"team-a,dev"\n'


def without_unrecorded(ours, theirs):
    """Managed fields were taken out of most of what was recorded."""
    if isinstance(ours, dict) and isinstance(theirs, dict):
        return {name: without_unrecorded(each, theirs.get(name)) for name, each in ours.items()
                if name != "managedFields" or name in theirs or isinstance(theirs, PartOfDict)}
    if isinstance(ours, list) and isinstance(theirs, list):
        return [without_unrecorded(each, theirs[i] if i < len(theirs) else None) for i, each in enumerate(ours)]
    return ours


def compare(story, callers, entries, report):
    run, ours = Run(story, callers), Normaliser(story.name.replace(" ", "-"))
    theirs = Normaliser("default")
    for step in story.steps:
        reply = run.take(step)
        if step.recorded:
            facts = ours.facts(step, reply)
            theirs.note_prefix(step.body)
            theirs.uids = {}
            wanted = theirs.value(entries[step.recorded].facts())
            report.take(f"{story.name}: {step.name}", disagreements(without_unrecorded(facts, wanted), wanted))



def check_covered(entries, report):
    named = {step.recorded for story in STORIES for step in story.steps if step.recorded}
    for name in sorted(named - set(entries)):
        raise harness.Broken(f"a step stands for the recorded reply '{name}', which is not there")
    missing = sorted(set(entries) - named - set(NOT_ASKED))
    for name in missing:
        print(f"NOT COVERED: nothing is asked like the recorded '{name}', and no reason is given")
    for name in set(entries) & set(NOT_ASKED):
        report.skip(NOT_ASKED[name])
    return not missing


def main():
    parser = argparse.ArgumentParser(description="Compares the replies of Berth with recorded ones.")
    parser.add_argument("--berth", help="the program to test")
    parser.add_argument("--recorded", type=Path, default=RECORDED, help="the recorded replies")
    parser.add_argument("--story", default="", help="only stories whose name has this in it")
    options = parser.parse_args()
    if not options.recorded.exists():
        print("skipped: the recorded replies are not here")
        return 77
    entries = recorded.read(options.recorded)
    report = Report(OF_RECORDED, (1, 36))
    good = check_covered(entries, report)
    with harness.ControlPlane(harness.find_program(options.berth), "1xcpu", TOKENS) as plane:
        host, port, certificate, key, authority = plane.credentials()
        callers = callers_of(Access(host, port, authority, certificate, key), USERS)
        for story in STORIES:
            if options.story in story.name and any(step.recorded for step in story.steps):
                compare(story, callers, entries, report)
    good = report.good("ours and the recorded 1.36", whole=not options.story) and good
    return 0 if good else 1


if __name__ == "__main__":
    harness.end_with(main)
