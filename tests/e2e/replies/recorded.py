"""Reads recorded replies: a file of lines that each begin with what was asked, most of them cut somewhere in the JSON."""

import json
import re
from dataclasses import dataclass

from replies.comparing import PartOfDict, PartOfList, PartOfText


@dataclass
class Recorded:
    code: object = None
    type: object = None
    body: object = None
    frames: list = None

    def facts(self):
        """Only what was recorded."""
        made = PartOfDict()
        for name in ("code", "type", "body", "frames"):
            if getattr(self, name) is not None:
                made[name] = getattr(self, name)
        return made


class CutJson:
    """JSON that may end anywhere; what it ended in becomes a Part..., so that only what is there is compared."""

    def __init__(self, text):
        self.text, self.at = text, 0

    def space(self):
        while self.at < len(self.text) and self.text[self.at] in " \t":
            self.at += 1

    def next_is(self, mark):
        self.space()
        if self.text.startswith(mark, self.at):
            self.at += len(mark)
            return True
        return False

    def over(self):
        self.space()
        return self.at >= len(self.text)

    def value(self):
        """(value, whether it was whole)"""
        self.space()
        if self.next_is("{"):
            return self.members()
        if self.next_is("["):
            return self.items()
        if self.text.startswith('"', self.at):
            return self.string()
        found = re.compile(r"-?\d+(\.\d+)?([eE][-+]?\d+)?|true|false|null").match(self.text, self.at)
        if not found or found.end() == len(self.text):
            self.at = len(self.text)  # a number that may go on
            return None, False
        self.at = found.end()
        return json.loads(found[0]), True

    def string(self):
        found = re.compile(r'"(?:[^"\\]|\\.)*"').match(self.text, self.at)
        if found:
            self.at = found.end()
            return json.loads(found[0]), True
        rest = re.sub(r"\\u?[0-9a-f]{0,3}$", "", self.text[self.at + 1:])
        self.at = len(self.text)
        return PartOfText(json.loads(f'"{rest}"')), False

    def members(self):
        made = {}
        while not self.next_is("}"):
            if self.over():
                return PartOfDict(made), False
            self.next_is(",")
            self.space()
            name, whole = self.string() if not self.over() else ("", False)
            if not whole or not self.next_is(":"):
                return PartOfDict(made), False
            value, whole = self.value()
            if whole or isinstance(value, (dict, list)) or name == "message":
                made[name] = value
            if not whole:
                return PartOfDict(made), False
        return made, True

    def items(self):
        made = []
        while not self.next_is("]"):
            if self.over():
                return PartOfList(made), False
            self.next_is(",")
            value, whole = self.value()
            if whole or isinstance(value, (dict, list)):
                made.append(value)
            if not whole:
                return PartOfList(made), False
        return made, True


def from_json(text):
    return CutJson(text).value()[0]


def column(text):
    star = "*" if text.endswith("*") else ""
    text = text.rstrip("*")
    return (text if ":" in text else f"{text}:string") + star


# A custom resource was recorded; the same is asked of a kind of Berth's.
TRANSLATED = {"kueue.x-k8s.io/v1beta1": "berth.dev/v1alpha1", "kueue.x-k8s.io": "berth.dev", "clusterqueues": "queues",
              "ClusterQueue": "Queue", ".spec.cohort": ".spec.order"}


def translated(text):
    for theirs, ours in TRANSLATED.items():
        text = text.replace(theirs, ours)
    return text


def read(path):
    """{what was asked: Recorded}; what was asked twice is "NAME" and "NAME#2"."""
    entries, last, unread = {}, "", ""

    def add(name, entry):
        nonlocal last
        count = sum(each.split("#")[0] == name for each in entries)
        last = name if not count else f"{name}#{count + 1}"
        entries[last] = entry

    for line in translated(path.read_text()).splitlines():
        if found := re.match(r"-- (.*?) -> (\d+) (.*)", line):
            add(found[1], Recorded(int(found[2]), body=from_json(found[3])))
        elif found := re.match(r"(apis?/\S+) (.+)", line):
            add(found[1], Recorded(200, body=[column(each) for each in found[2].split("|")]))
        elif found := re.match(r"agg (\d+) (\S+) ", line):
            add("agg", Recorded(int(found[1]), found[2]))
            unread = "agg"
        elif unread and line.startswith("["):
            entries[unread].body, unread = from_json(line), ""
        elif found := re.match(r"(after bind|job) ([\[{].*)", line):
            add(found[1], Recorded(body=from_json(found[2])))
        elif found := re.match(r"watch (\S+) (\d+) (\S+)", line):
            add(f"watch {found[1]}", Recorded(int(found[2]), found[3], frames=[]))
        elif found := re.match(r"   (ADDED|MODIFIED|DELETED|BOOKMARK) (.*)", line):
            entries[last].frames.append({"type": found[1], "object": from_json(found[2])})
        elif line.startswith('{"phase"'):
            add(f"{last} status", Recorded(body=from_json(line)))
    return entries
