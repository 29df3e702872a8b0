#!/usr/bin/env python3
"""Kills parts of a control plane under load, at random, and checks that nothing that was acknowledged is lost.

    tests/e2e/kills_test.py [--berth PROGRAM] [--kills 30] [--seed 7]

First the safety phase: jobs are created and deleted all the time, while the API server, the scheduler, the node agent,
or all of them with `berth up` itself, are killed with SIGKILL. Then the healing phase: nothing is killed any more, and
every job must come to its end. What must be true:

  - a job that was acknowledged is there until its deletion was acknowledged, and then stays away;
  - a pod, by its uid, never changes its node; what is seen of it never goes back to an older version;
  - no device of a node belongs to two pods that live (annotation berth.dev/gpus), nor to parts of more than one in sum;
  - a watcher that goes on from the last version it saw sees everything once: in the end it knows what a list says, and
    has seen, change by change, what one watch over the whole time tells;
  - in the end every job is Complete, with as many successes as it asked for.
"""

import argparse
import http.client
import json
import random
import signal
import ssl
import sys
import threading
import time
import urllib.parse

import harness

NODES = "3xH100x8,1xcpu"
NAMESPACE = "default"
JOBS_OPEN_MAX = 40          # so that the healing phase is short, and gangs get their turn
DELETED_OF_100 = 15
PAUSE_S = (0.1, 0.9)        # between two kills
HEALING_S = 180
REQUEST_LIMIT_S = 10
JOBS = f"/apis/batch/v1/namespaces/{NAMESPACE}/jobs"
PODS = f"/api/v1/namespaces/{NAMESPACE}/pods"
# GPUs of a pod, pods, thousandths of a GPU.
SHAPES = [(1, 1, 0), (2, 1, 0), (4, 2, 0), (8, 1, 0), (1, 4, 0), (1, 1, 400), (1, 2, 250), (0, 2, 0)]
# What is killed, and how often in comparison.
VICTIMS = {"apiserver": 4, "scheduler": 3, "node-agent": 3, "everything": 2}


class Violation(Exception):
    """Something that must be true is not."""


# ---- the API without kubectl -----------------------------------------------------------------------------------------


class Api:
    """One connection, made anew whenever it breaks. Not for two threads."""

    def __init__(self, credentials):
        host, port, certificate, key, authority = credentials
        self.host, self.port = host, port
        self.context = ssl.create_default_context(cafile=authority)
        self.context.load_cert_chain(certificate, key)
        self.connection = None

    def open(self, method, path, body=None, limit_s=REQUEST_LIMIT_S):
        """The response before its body is read; OSError or HTTPException if there is none."""
        if self.connection is None:
            self.connection = http.client.HTTPSConnection(self.host, self.port, timeout=limit_s, context=self.context)
        try:
            text = json.dumps(body) if body is not None else None
            self.connection.request(method, path, text, {"Content-Type": "application/json"} if text else {})
            return self.connection.getresponse()
        except (OSError, http.client.HTTPException):
            self.close()
            raise

    def ask(self, method, path, body=None):
        """(status, object); (0, None) if no answer came: then nobody knows what became of it."""
        try:
            response = self.open(method, path, body)
            return response.status, json.loads(response.read())
        except (OSError, ValueError, http.client.HTTPException):
            self.close()
            return 0, None

    def insist(self, method, path, body=None, until=None):
        """The same until an answer comes that is about the request; 5xx and 429 are none."""
        while True:
            status, answer = self.ask(method, path, body)
            if status and status < 500 and status != 429:
                return status, answer
            if until is not None and time.monotonic() > until:
                raise harness.Broken(f"{method} {path}: no answer ({status})")
            time.sleep(0.05)

    def close(self):
        if self.connection is not None:
            self.connection.close()
            self.connection = None


# ---- what is seen ----------------------------------------------------------------------------------------------------


def revision_of(thing):
    return int(thing["metadata"]["resourceVersion"])


def is_live(pod):
    return pod["status"].get("phase") not in ("Succeeded", "Failed")


class Devices:
    """Who has which device, in the order of the changes. INVARIANT: at most 1000 thousandths of each are taken."""

    def __init__(self):
        self.by_pod = {}     # uid: (node, devices, thousandths)
        self.taken = {}      # (node, device): {uid: thousandths}

    def release(self, uid):
        node, devices, _ = self.by_pod.pop(uid, (None, (), 0))
        for device in devices:
            del self.taken[node, device][uid]

    def see(self, pod, gone):
        uid, notes = pod["metadata"]["uid"], pod["metadata"].get("annotations", {})
        self.release(uid)
        node, text = pod["spec"].get("nodeName"), notes.get("berth.dev/gpus", "")
        if gone or not node or not text or not is_live(pod):
            return
        text, _, part = text.partition(":")
        devices = [int(device) for device in text.split(",")]
        milli = round(float(part or 1) * 1000)
        self.by_pod[uid] = (node, devices, milli)
        for device in devices:
            holders = self.taken.setdefault((node, device), {})
            holders[uid] = milli
            if sum(holders.values()) > 1000:
                raise Violation(f"device {device} of {node} is given to more than one pod: {holders}")


def watch_path(path, revision, seconds):
    return path + "?" + urllib.parse.urlencode({"watch": "true", "resourceVersion": revision, "timeoutSeconds": seconds,
                                                "allowWatchBookmarks": "true"})


def lines_of(response):
    """Whole lines only: one that was cut off comes again. (Iterating over a response reads it byte by byte.)"""
    rest = b""
    while piece := response.read1(1 << 16):
        *lines, rest = (rest + piece).split(b"\n")
        yield from lines


def change_in(event):
    return event["type"], event["object"]["metadata"]["uid"], revision_of(event["object"])


class Watcher(threading.Thread):
    """Follows one collection through all breaks, always from the last version it saw, and never lists again."""

    def __init__(self, credentials, path, see):
        super().__init__(daemon=True)
        self.api, self.path, self.see = Api(credentials), path, see
        status, answer = self.api.insist("GET", path, until=time.monotonic() + 30)
        if status != 200:
            raise harness.Broken(f"GET {path}: {status}")
        self.began_at = self.revision = revision_of(answer)
        self.known = {item["metadata"]["uid"]: item for item in answer["items"]}
        self.violation = None
        self.seen = []  # (type, uid, version) of every change
        self.watches = 0
        self.stopping = False

    def run(self):
        while not self.stopping and self.violation is None:
            try:
                self.follow()
            except (OSError, ValueError, http.client.HTTPException):
                pass  # the server was killed: what was half written is read again
            except Violation as violation:
                self.violation = violation
            self.api.close()
            time.sleep(0.05)

    def follow(self):
        response = self.api.open("GET", watch_path(self.path, self.revision, 30), limit_s=40)
        if response.status == 410:
            raise Violation(f"{self.path}: what came after version {self.revision} is forgotten")
        if response.status != 200:
            response.read()
            return
        self.watches += 1
        for line in lines_of(response):
            self.take(json.loads(line))

    def take(self, event):
        if event["type"] == "ERROR":
            raise Violation(f"{self.path}: the watch from version {self.revision} ends with {event['object']}")
        thing = event["object"]
        if revision_of(thing) < self.revision:
            raise Violation(f"{self.path}: version {revision_of(thing)} comes after {self.revision}")
        self.revision = revision_of(thing)
        if event["type"] == "BOOKMARK":
            return
        uid, gone = thing["metadata"]["uid"], event["type"] == "DELETED"
        before = self.known.get(uid)
        if (event["type"] == "ADDED") == (before is not None):
            raise Violation(f"{event['type']} {thing['metadata']['name']} ({uid}), which was "
                            f"{'known' if before else 'not known'}: something was not seen")
        self.seen.append(change_in(event))
        self.see(before, thing, gone)
        if gone:
            del self.known[uid]
        else:
            self.known[uid] = thing


def check_pod(devices):
    def see(before, pod, gone):
        node = before["spec"].get("nodeName") if before else None
        if node and pod["spec"].get("nodeName") != node:
            raise Violation(f"pod {pod['metadata']['name']} was on {node} and is on {pod['spec'].get('nodeName')}")
        if before and not is_live(before) and not gone and is_live(pod):
            raise Violation(f"pod {pod['metadata']['name']} had ended and lives again")
        devices.see(pod, gone)

    return see


# ---- the load --------------------------------------------------------------------------------------------------------


def job_named(name, dice):
    """Small jobs, gangs, parts of GPUs, and such without GPUs."""
    gpus, pods, milli = dice.choice(SHAPES)
    notes = {"berth.dev/run-for": f"{dice.randint(50, 1500)}ms"}
    if milli:
        notes["berth.dev/gpu-milli"] = str(milli)
    container = {"name": "c", "image": "busybox"}
    if gpus:
        container["resources"] = {"limits": {"nvidia.com/gpu": gpus}}
    spec = {"restartPolicy": "Never", "terminationGracePeriodSeconds": 1, "containers": [container]}
    return {"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": name, "annotations": notes},
            "spec": {"parallelism": pods, "completions": pods, "backoffLimit": 100, "template": {"spec": spec}}}


class Load(threading.Thread):
    """Creates and deletes jobs; knows of each what was acknowledged."""

    def __init__(self, credentials, seed, open_jobs):
        super().__init__(daemon=True)
        self.api, self.dice, self.open_jobs = Api(credentials), random.Random(seed), open_jobs
        self.created, self.deleted = [], set()
        self.stopping = False
        self.violation = None

    def run(self):
        try:
            while not self.stopping:
                if self.open_jobs() < JOBS_OPEN_MAX:
                    self.create()
                if self.created and self.dice.randrange(100) < DELETED_OF_100:
                    self.delete(self.dice.choice(self.created[-20:]))
                time.sleep(0.02)
        except Violation as violation:
            self.violation = violation

    def create(self):
        name = f"job-{len(self.created)}"
        status, answer = self.api.insist("POST", JOBS, job_named(name, self.dice))
        # A conflict is the acknowledgement of the try before, whose answer was lost.
        if status not in (201, 409):
            raise Violation(f"creating {name}: {status} {answer}")
        self.created.append(name)

    def delete(self, name):
        if name in self.deleted:
            return
        status, answer = self.api.insist("DELETE", f"{JOBS}/{name}", {"propagationPolicy": "Background"})
        if status not in (200, 404):
            raise Violation(f"deleting {name}: {status} {answer}")
        self.deleted.add(name)

    def check_newest(self, api, until):
        """After a server was killed: what it acknowledged last is still there."""
        for name in self.created[-5:]:
            status, _ = api.insist("GET", f"{JOBS}/{name}", until=until)
            if status != 200 and name not in self.deleted and not self.is_being_deleted(name):
                raise Violation(f"{name} was acknowledged and is not there ({status})")

    def is_being_deleted(self, name):
        # The deletion may have been carried out while its acknowledgement is under way.
        harness.wait_until(lambda: name in self.deleted or self.violation, 30, f"the end of deleting {name}")
        return name in self.deleted


# ---- the run ---------------------------------------------------------------------------------------------------------


class Run:
    def __init__(self, plane, seed):
        self.plane, self.dice = plane, random.Random(seed)
        credentials = plane.credentials()
        self.api = Api(credentials)
        self.devices = Devices()
        self.pods = Watcher(credentials, PODS, check_pod(self.devices))
        self.jobs = Watcher(credentials, JOBS, lambda before, job, gone: None)
        self.load = Load(credentials, seed + 1, self.open_jobs)
        self.killed = dict.fromkeys(VICTIMS, 0)

    def open_jobs(self):
        return sum(not is_complete(job) for job in list(self.jobs.known.values()))

    def check_threads(self):
        for thread in (self.pods, self.jobs, self.load):
            if thread.violation:
                raise thread.violation
            if not thread.is_alive() and not thread.stopping:
                raise harness.Broken(f"{type(thread).__name__} ended by itself")

    def safety_phase(self, kills):
        for thread in (self.pods, self.jobs, self.load):
            thread.start()
        while sum(self.killed.values()) < kills:
            time.sleep(self.dice.uniform(*PAUSE_S))
            self.kill_one()
            self.check_threads()

    def kill_one(self):
        victim = self.dice.choices(list(VICTIMS), VICTIMS.values())[0]
        if victim == "everything":
            self.plane.kill()
            self.plane.start()
        else:
            # One that was killed a moment ago may not be there yet; waiting for it would only make the kills regular.
            pid = self.plane.parts().get(victim)
            if pid is None:
                return
            harness.kill_now(pid)
        self.killed[victim] += 1
        if victim in ("apiserver", "everything"):
            self.load.check_newest(self.api, time.monotonic() + 60)

    def healing_phase(self):
        self.load.stopping = True
        self.load.join(60)

        def all_ended():
            self.check_threads()
            status, answer = self.api.ask("GET", JOBS)
            return status == 200 and all(is_complete(job) for job in answer["items"])

        try:
            harness.wait_until(all_ended, HEALING_S, "every job complete")
        except harness.Broken as broken:
            raise Violation(f"{broken}; {self.what_is_open()}") from broken

    def what_is_open(self):
        _, jobs = self.api.ask("GET", JOBS)
        _, pods = self.api.ask("GET", PODS)
        names = [job["metadata"]["name"] for job in jobs["items"] if not is_complete(job)]
        living = [f"{pod['metadata']['name']} {pod['status'].get('phase')} on {pod['spec'].get('nodeName')}"
                  for pod in pods["items"] if is_live(pod)]
        whole = [pod for pod in pods["items"] if is_live(pod)] + [job for job in jobs["items"] if not is_complete(job)]
        return f"open: {names[:10]}; live pods: {living[:10]}; whole: {json.dumps(whole[:3])}"

    def final_checks(self):
        _, jobs = self.api.insist("GET", JOBS)
        there = {job["metadata"]["name"]: job for job in jobs["items"]}
        lost = [name for name in self.load.created if name not in there and name not in self.load.deleted]
        back = [name for name in self.load.deleted if name in there]
        unknown = set(there) - set(self.load.created)
        if lost or back or unknown:
            raise Violation(f"lost: {lost}; deleted and there: {back}; there and not created: {sorted(unknown)}")
        for name, job in there.items():
            if job["status"].get("succeeded", 0) != job["spec"]["completions"]:
                raise Violation(f"{name} is complete with {job['status']}")
        self.check_against_lists()

    def check_against_lists(self):
        """The watchers saw every change: what they know is what the server lists."""
        for watcher in (self.jobs, self.pods):
            def same():
                self.check_threads()
                _, listed = self.api.insist("GET", watcher.path)
                return versions(listed["items"]) == versions(watcher.known.values())

            try:
                harness.wait_until(same, 30, "the same")
            except harness.Broken as broken:
                raise Violation(f"{watcher.path}: what was watched differs from what is listed") from broken
            self.check_against_history(watcher)

    def history_of(self, watcher):
        """What is told, now that nothing changes any more, to whoever watches from where the watcher began."""
        changes, revision, until = [], watcher.began_at, time.monotonic() + 60
        while revision < watcher.seen[-1][2] and time.monotonic() < until:
            try:
                for line in lines_of(self.api.open("GET", watch_path(watcher.path, revision, 3))):
                    event = json.loads(line)
                    if event["type"] == "ERROR":
                        raise Violation(f"{watcher.path}: the watch from {revision} ends with {event['object']}")
                    revision = revision_of(event["object"])
                    if event["type"] != "BOOKMARK":
                        changes.append(change_in(event))
            except (OSError, http.client.HTTPException):
                pass  # who reads too slowly is cut off, and goes on
            self.api.close()
        return changes

    def check_against_history(self, watcher):
        history = self.history_of(watcher)
        if history != watcher.seen:
            missed, twice = set(history) - set(watcher.seen), len(watcher.seen) - len(set(watcher.seen))
            raise Violation(f"{watcher.path}: {len(history)} changes, {len(watcher.seen)} seen, {twice} of them twice; "
                            f"missed: {sorted(missed)[:5]}")


def versions(things):
    return {thing["metadata"]["uid"]: revision_of(thing) for thing in list(things)}


def is_complete(job):
    conditions = job["status"].get("conditions", [])
    return any(each["type"] == "Complete" and each["status"] == "True" for each in conditions)


def carry_out(program, kills, seed, keep):
    began = time.monotonic()
    with harness.ControlPlane(program, NODES, port=harness.free_port(), keep=keep) as plane:
        run = Run(plane, seed)
        try:
            run.safety_phase(kills)
            healing = time.monotonic()
            run.healing_phase()
            run.final_checks()
        except Violation as violation:
            print(f"FAILED with seed {seed} after {run.killed}: {violation}")
            plane.print_logs()
            return False
        finally:
            for thread in (run.load, run.pods, run.jobs):
                thread.stopping = True
        print(f"kills: {run.killed}; {len(run.load.created)} jobs created, {len(run.load.deleted)} deleted; "
              f"{len(run.pods.seen)} changes of pods seen in {run.pods.watches} watches; healed in "
              f"{time.monotonic() - healing:.0f} s, all in {time.monotonic() - began:.0f} s (seed {seed})")
    return True


def main():
    parser = argparse.ArgumentParser(description="Kills parts of a control plane under load.")
    parser.add_argument("--berth", help="the program to test")
    parser.add_argument("--kills", type=int, default=300)
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--keep", action="store_true", help="leave the temporary folder")
    options = parser.parse_args()
    # Whoever is asked to end leaves nothing behind either.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    try:
        return 0 if carry_out(harness.find_program(options.berth), options.kills, options.seed, options.keep) else 1
    except harness.Broken as broken:
        print(f"BROKEN: {broken}")
        return 2


if __name__ == "__main__":
    sys.exit(main())
