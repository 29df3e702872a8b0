#!/usr/bin/env python3
"""Where pods go on a live cluster, through kubectl: by a policy that learns what is usual, by the memory or the model that they
name, and what whoever asks more than there is is told at once.

    tests/e2e/live_placement_test.py [--berth PROGRAM] [--kubectl 1.29] [STORY...]
"""

import json
import os
import re
import signal
import sys

from stories import PodStage, expect, main

# The one has smaller GPUs than the others.
NODES = "1xL40Sx4,2xH100x8"
GPU = "nvidia.com/gpu"


def pod(name, gpus=0, cpu=None, limits=None, words=None, **spec):
    resources = {"limits": {**({GPU: gpus} if gpus else {}), **(limits or {})}}
    if cpu:
        resources["requests"] = {"cpu": cpu}
    return {"apiVersion": "v1", "kind": "Pod",
            "metadata": {"name": name, "annotations": {"berth.dev/run-for": "30m", **(words or {})}},
            "spec": {"restartPolicy": "Never", "terminationGracePeriodSeconds": 0,
                     "containers": [{"name": "c", "image": "busybox", "resources": resources}], **spec}}


class LiveStage(PodStage):
    def node_of(self, name):
        return self.wait(lambda: self.placed().get(name, [None])[0], f"{name} has a place")

    def told(self, thing):
        """The warnings that kubectl prints of something that is created."""

        reply = self.plane.run("apply -f -", text=json.dumps(thing))
        expect(reply.returncode == 0, reply.stderr)
        return [line.removeprefix("Warning: ") for line in reply.stderr.splitlines() if line.startswith("Warning: ")]


def by_memory(stage):
    """Who says what he needs has the smallest GPUs that suffice; who needs more than there is is told both numbers."""
    stage.apply(pod("small", 1, words={"berth.dev/gpu-memory": "30Gi"}))
    expect(stage.node_of("small").startswith("l40s"), "a smaller GPU would do")
    stage.apply(pod("large", 1, words={"berth.dev/gpu-memory": "60Gi"}))
    expect(not stage.node_of("large").startswith("l40s"), "it needs more than that has")
    stage.apply(pod("huge", 1, words={"berth.dev/gpu-memory": "200Gi"}))
    stage.wait_why("huge", r"^GpuType: no node is known to have a GPU with 204,800 MiB of memory, as each of its GPUs "
                           r"needs; the largest has 8[0-9],[0-9]{3}$")
    refused = stage.refused(pod("none", words={"berth.dev/gpu-memory": "60"}))
    expect("is no memory of a GPU; write from 1Mi to 1Ti" in refused and "it asks none" in refused, refused)


def by_model(stage):
    """What a model takes is counted and divided over the GPUs of the pod; the text says of what it is made."""
    model = {"berth.dev/model": "parameters=70B,precision=bf16,context=8192,layers=80,kv-heads=8,head-size=128"}
    stage.apply(pod("two", 2, words=model))
    expect(not stage.node_of("two").startswith("l40s"), "67 GiB are more than an L40S has")
    stage.apply(pod("four", 4, words=model))
    expect(stage.node_of("four").startswith("l40s"), "34 GiB are not")
    stage.apply(pod("one", 1, words=model))
    stage.wait_why("one", r"130\.4 GiB of weights and 2\.5 GiB of KV cache on one GPU")
    refused = stage.refused(pod("wrong", 1, words={"berth.dev/model": "parameters=70,context=x,layers=80"}))
    for what in ("say the precision of the weights", "context: 'x'", "layers, kv-heads and head-size go together"):
        expect(what in refused, refused)


def more_than_there_is(stage):
    """Said when it is created, and by explain as long as it waits; it is created all the same."""
    told = stage.told(pod("wide", 16))
    expect(told == ["a pod asks 16 of nvidia.com/gpu, and no node has more than 8; it waits until one has"], f"{told}")
    told = stage.told(pod("loose", 1, limits={"memory": "64Ti"}, cpu="1"))
    expect(len(told) == 1 and re.fullmatch(r"a pod asks 64Ti of memory, and no node has more than .*", told[0]), f"{told}")
    bounded = pod("bounded", 1)
    bounded["spec"]["containers"][0]["resources"] = {
        "requests": {"memory": "1Gi"}, "limits": {GPU: 1, "memory": "64Ti"}}
    told = stage.told(bounded)
    expect(len(told) == 1 and told[0].endswith("it limits nothing"), f"{told}")
    stage.node_of("bounded")
    expect(stage.told(pod("fits", 1, words={"berth.dev/gpu-memry": "1Gi"})) == [
        "annotation 'berth.dev/gpu-memry' means nothing; did you mean berth.dev/gpu-memory?"], "a mistyped word")
    stage.wait_why("wide", "^(Invalid|Capacity|Fragmented|GpuType)")
    said = stage.berth("explain pod/wide", 7)
    expect("beyond  a pod asks 16 of nvidia.com/gpu" in said, said)
    expect(stage.get("pod bounded")["status"]["qosClass"] == "Burstable", "its class")


def learned(stage):
    """By what is usual here pods without GPUs keep off the CPUs that GPUs will need; a scheduler that is started anew does so, too."""
    for number in range(12):
        stage.apply(pod(f"usual{number}", 1, cpu="7"))
    stage.wait(lambda: len(stage.placed()) == 12, "they run")
    os.kill(stage.plane.parts()["scheduler"], signal.SIGKILL)
    stage.apply(pod("next", 1, cpu="7"))
    stage.node_of("next")
    log = (stage.plane.data / "log/scheduler.log").read_text()
    expect("places by fgd-balanced" in log, log)


STORIES = (by_memory, by_model, more_than_there_is, learned)


if __name__ == "__main__":
    sys.exit(main("live placement", STORIES, NODES, LiveStage, options=("--policy", "fgd-balanced")))
