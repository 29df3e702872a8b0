"""Stories that are told to one control plane, one after the other: what quota_test.py and slices_test.py have in common."""

import argparse
import time

import harness


class Wrong(Exception):
    """A story does not go as it should."""


def expect(truth, what):
    if not truth:
        raise Wrong(what)


def play(stage, stories, shown):
    """How many failed; `shown` are the kinds of objects that are printed then, beside events."""
    failed = 0
    for story in stories:
        began = time.monotonic()
        try:
            story(stage)
            print(f"{story.__name__}: as it should ({time.monotonic() - began:.0f} s)")
        except (Wrong, harness.Broken) as wrong:
            failed += 1
            print(f"FAILED {story.__name__}: {wrong}")
            print(stage.plane.run(f"get {shown} -o wide").stdout)
            print(stage.plane.run("get events").stdout)
        stage.clear()
    return failed


def main(topic, stories, nodes, stage_of, shown="pods"):
    """The exit code. `topic`: what they are about, as in "quotas"; `stage_of` makes what each story is given."""
    parser = argparse.ArgumentParser(description=f"{topic.capitalize()} through kubectl.")
    parser.add_argument("stories", nargs="*", help="names of stories (all)")
    parser.add_argument("--berth", help="the program to test")
    parser.add_argument("--kubectl", help="version, such as 1.29 (the newest)")
    options = parser.parse_args()
    chosen_stories = [story for story in stories if not options.stories or story.__name__ in options.stories]
    try:
        chosen = harness.choose_kubectl(options.kubectl)
        if chosen is None:
            print(f"skipped: no kubectl {options.kubectl or ''} on PATH")
            return 77
        with harness.ControlPlane(harness.find_program(options.berth), nodes, kubectl=chosen[1]) as plane:
            plane.wait_for_nodes()
            failed = play(stage_of(plane), chosen_stories, shown)
            if failed:
                plane.print_logs()
    except harness.Broken as broken:
        print(f"BROKEN: {broken}")
        return 2
    print(f"{topic}: {len(chosen_stories) - failed} as they should, {failed} failed")
    return 1 if failed else 0
