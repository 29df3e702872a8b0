"""What is asked: stories of requests, each in a namespace of its own, one step after the other.

    Story("pods", [create("one pod", "pods", POD), get("which is there", "pods/p1")])

A path without a slash in front is in the story's namespace, in /api/v1 or in the group named: "batch/v1:jobs/j1". In paths and
texts of bodies $ns is that namespace, and $word what an earlier step kept under that word.
"""

import re
import time
from dataclasses import dataclass, field

from replies.calls import Caller

TABLE = {"Accept": "application/json;as=Table;v=v1;g=meta.k8s.io"}
POLL_S, POLL_LIMIT_S = 0.1, 60


@dataclass
class Step:
    name: str
    method: str
    path: str
    body: object = None
    headers: dict = field(default_factory=dict)
    keep: dict = field(default_factory=dict)  # {word: where it stands in the reply}
    until: object = None  # asked again until this holds of the reply
    look: object = None  # what is compared of the body; all of it
    seen: tuple = ()  # headers that are compared, beside the type of the content
    since: str = ""  # the first Kubernetes that does it at all, or so
    recorded: str = ""  # the recorded reply that it must be like
    user: str = ""  # who asks; the administrator


@dataclass
class Story:
    name: str
    steps: list
    since: str = ""


def get(name, path, **more):
    return Step(name, "GET", path, **more)


def create(name, path, body, **more):
    return Step(name, "POST", path, body, **more)


def put(name, path, body, **more):
    return Step(name, "PUT", path, body, **more)


def delete(name, path, body=None, **more):
    return Step(name, "DELETE", path, body, **more)


def patch(name, path, body, kind="merge", **more):
    headers = {"Content-Type": {"json": "application/json-patch+json", "merge": "application/merge-patch+json",
                                "strategic": "application/strategic-merge-patch+json",
                                "apply": "application/apply-patch+yaml"}[kind]}
    headers.update(more.pop("headers", {}))
    return Step(name, "PATCH", path, body, headers=headers, **more)


def watch(name, path, **more):
    joint = "&" if "?" in path else "?"
    return Step(name, "GET", f"{path}{joint}watch=true&timeoutSeconds=1", **more)


def columns(reply):
    """Of a table: its columns, as name:type, with a star at those of the wide form."""
    if not isinstance(reply.body, dict) or "columnDefinitions" not in reply.body:
        return reply.body
    return [f"{each['name']}:{each['type']}" + ("*" if each["priority"] else "")
            for each in reply.body["columnDefinitions"]]


def full_path(path, name_space):
    if path.startswith("/"):
        return path
    group, colon, rest = path.partition(":") if re.match(r"[a-z0-9.]+/v\w+:", path) else ("", "", path)
    base = f"/apis/{group}" if group else "/api/v1"
    return f"{base}/namespaces/{name_space}/{rest}"


class Run:
    """A story told to one server."""

    def __init__(self, story, callers):
        self.callers, self.name_space = callers, story.name.replace(" ", "-")
        self.words = {"ns": self.name_space}
        self.call("POST", "/api/v1/namespaces", {"metadata": {"name": self.name_space}})

    def filled(self, value):
        if isinstance(value, str):
            return re.sub(r"\$(\w+)", lambda found: str(self.words.get(found[1], found[0])), value)
        if isinstance(value, dict):
            return {name: self.filled(each) for name, each in value.items()}
        if isinstance(value, list):
            return [self.filled(each) for each in value]
        return value

    def call(self, method, path, body=None, headers=None, user=""):
        return self.callers[user].call(method, path, body, headers)

    def take(self, step):
        path = full_path(self.filled(step.path), self.name_space)
        # Strategic patches carry words that begin with a dollar; only what a step kept is filled in.
        body = self.filled(step.body)
        until = time.monotonic() + POLL_LIMIT_S
        while True:
            reply = self.call(step.method, path, body, step.headers, step.user)
            if step.until is None or step.until(reply) or time.monotonic() > until:
                break
            time.sleep(POLL_S)
        for word, where in step.keep.items():
            self.words[word] = reply.at(where) or ""
        return reply


def callers_of(access, users):
    """{"": the administrator's, "alice": ...}: everybody's connection."""
    made = {"": Caller(access)}
    for name, token in users.items():
        made[name] = Caller(type(access)(access.host, access.port, access.authority, token=token))
    made["nobody"] = Caller(type(access)(access.host, access.port, access.authority))
    return made
