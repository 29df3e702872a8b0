"""Stories that are told to one control plane, one after the other: what the tests of quotas, slices and parts have in common."""

import argparse
import json
import re
import time

import harness


class Wrong(Exception):
    """A story does not go as it should."""


def expect(truth, what):
    if not truth:
        raise Wrong(what)


class Stage:
    """The control plane of all stories, and the questions that they ask."""

    def __init__(self, plane):
        self.plane = plane

    def apply(self, *objects):
        self.plane.must("apply -f -", text=json.dumps({"apiVersion": "v1", "kind": "List", "items": list(objects)}))

    def refused(self, thing):
        """What it is told that applies something which must not be taken."""
        reply = self.plane.run("apply -f -", text=json.dumps(thing))
        expect(reply.returncode != 0, f"{thing['metadata']['name']} was taken")
        return reply.stderr

    def get(self, words):
        return json.loads(self.plane.must(f"get {words} -o json"))

    def berth(self, words, code=0):
        """What one of Berth's own commands prints."""
        reply = self.plane.run_berth(words)
        expect(reply.returncode == code, f"berth {words} ended with {reply.returncode}: {reply.stderr}")
        return reply.stdout

    def wait(self, condition, what, seconds=40):
        return harness.wait_until(condition, seconds, what)


class PodStage(Stage):
    """Of stories whose pods come without Jobs."""

    def pods(self):
        return self.get("pods")["items"]

    def placed(self):
        """Of each pod that has a place the node, and what it was given there."""
        return {pod["metadata"]["name"]:
                (pod["spec"]["nodeName"], pod["metadata"]["annotations"].get("berth.dev/gpus", ""))
                for pod in self.pods() if "nodeName" in pod["spec"]}

    def why(self, name):
        for each in self.get(f"pod {name}")["status"].get("conditions", []):
            if each["type"] == "PodScheduled" and each["status"] == "False":
                return each["message"]
        return ""

    def wait_why(self, name, pattern):
        self.wait(lambda: re.search(pattern, self.why(name)), f"{name} told {pattern!r}")

    def clear(self):
        self.plane.must("delete jobs,pods,resourcequotas --all --now", limit_s=120)
        self.wait(lambda: not self.pods(), "all pods gone", 60)


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


def main(topic, stories, nodes, stage_of, shown="pods", options=()):
    """The exit code. `topic`: what they are about, as in "quotas"; `stage_of` makes what each story is given; `options`: more of
    `berth up`."""
    parser = argparse.ArgumentParser(description=f"{topic.capitalize()} through kubectl.")
    parser.add_argument("stories", nargs="*", help="names of stories (all)")
    parser.add_argument("--berth", help="the program to test")
    parser.add_argument("--kubectl", help="version, such as 1.29 (the newest)")
    typed = parser.parse_args()
    chosen_stories = [story for story in stories if not typed.stories or story.__name__ in typed.stories]
    try:
        chosen = harness.choose_kubectl(typed.kubectl)
        if chosen is None:
            print(f"skipped: no kubectl {typed.kubectl or ''} on PATH")
            return 77
        program = harness.find_program(typed.berth)
        with harness.ControlPlane(program, nodes, kubectl=chosen[1], options=options) as plane:
            plane.wait_for_nodes()
            failed = play(stage_of(plane), chosen_stories, shown)
            if failed:
                plane.print_logs()
    except harness.Broken as broken:
        print(f"BROKEN: {broken}")
        return 2
    print(f"{topic}: {len(chosen_stories) - failed} as they should, {failed} failed")
    return 1 if failed else 0
