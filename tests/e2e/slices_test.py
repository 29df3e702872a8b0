#!/usr/bin/env python3
"""Slices (MIG) through kubectl: who gets which, why others wait, and what a scheduler knows that is started anew.

    tests/e2e/slices_test.py [--berth PROGRAM] [--kubectl 1.29] [STORY...]
"""

import json
import os
import re
import signal
import sys

from stories import PodStage, expect, main

NODES = "1xH100x1/mig,1xA30x2/mig,1xH100x1"
RESOURCE = "nvidia.com/mig-"


def pod_spec(resources):
    return {"restartPolicy": "Never", "terminationGracePeriodSeconds": 0,
            "containers": [{"name": "c", "image": "busybox", "resources": {"limits": resources}}]}


def pod(name, profile, count=1, **more):
    return {"apiVersion": "v1", "kind": "Pod",
            "metadata": {"name": name, "annotations": {"berth.dev/run-for": "30m"}, "labels": {"app": name}},
            "spec": pod_spec({RESOURCE + profile: count, **more})}


def job(name, profile, pods):
    template = {"metadata": {"annotations": {"berth.dev/run-for": "30m"}}, "spec": pod_spec({RESOURCE + profile: 1})}
    return {"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": name},
            "spec": {"parallelism": pods, "completions": pods, "backoffLimit": 0, "template": template}}


class SliceStage(PodStage):
    def given(self):
        return {name: gpus for name, (_, gpus) in self.placed().items()}


def seven_share_a_gpu(stage):
    """Seven have one GPU; the eighth waits, is told why, and starts when one of them has gone."""
    names = [f"s{i}" for i in range(1, 8)]
    stage.apply(*[pod(name, "1g.10gb") for name in names])
    given = stage.wait(lambda: len(stage.given()) == 7 and stage.given(), "seven have a place")
    expect(sorted(given.values()) == [f"0:1g.10gb@{i}" for i in range(7)], f"they were given {given}")
    stage.apply(pod("s8", "1g.10gb"))
    stage.wait_why("s8", r"^Capacity: no node has a place for a 1g.10gb slice free")
    described = stage.plane.must("describe node h100-mig-0001")
    expect(re.search(r"nvidia.com/mig-1g.10gb +7 +7", described), f"the node does not count them: {described}")
    expect("0:" + given["s1"][2:] in stage.plane.must("describe pod s1"), "the pod does not say which it has")
    nodes = stage.berth("nodes -o wide")
    expect(re.search(r"h100-mig-0001 +H100/mig +\[#\] +0/1 +7 +ready .* 0:1g.10gb@0,0:1g.10gb@1,", nodes), nodes)
    expect(re.search(r"a30-mig-0001 +A30/mig +\[\.\.\] +2/2 +0 +ready .* -\n", nodes), nodes)
    expect(re.search(r"pod/s8 +default +waiting +0/1 +1g.10gb ", stage.berth("jobs")), "jobs do not name the slice")
    told = stage.berth("explain pod/s8", 7)
    expect(re.search(r"asks +a 1g.10gb slice", told) and "no place for it" in told, told)
    expect(f"gpus    h100-mig-0001: {given['s3']}" in stage.berth("explain pod/s3"), stage.berth("explain pod/s3"))
    stage.plane.must("delete pod s3 --now")
    stage.wait(lambda: stage.given().get("s8") == given["s3"], "the eighth has the place of the third")


def what_one_pod_cannot_ask(stage):
    """What cannot be given is refused with what to write instead; what no node has is told to who waits."""
    several = "ask 1 each by 2 pods, as of a Job with parallelism: 2"
    expect(several in stage.refused(pod("two", "1g.10gb", 2)), "two in one pod")
    mixed = stage.refused(pod("mixed", "1g.10gb", **{"nvidia.com/gpu": 1}))
    expect("a pod asks whole GPUs or one slice" in mixed, mixed)
    unknown = stage.refused(pod("unknown", "1g.10g"))
    expect("did you mean nvidia.com/mig-1g.10gb?" in unknown, unknown)
    stage.apply(pod("elsewhere", "1g.47gb"))
    stage.wait_why("elsewhere", "^GpuType: no node has GPUs that can be cut into a 1g.47gb$")


def a_gang(stage):
    """A Job's slices start together, over models and devices that have them."""
    stage.apply(pod("first", "4g.24gb"))
    stage.wait(lambda: stage.given(), "the first has a place")
    stage.apply(job("gang", "2g.12gb", 3))
    stage.wait(lambda: any("Capacity" in stage.why(each["metadata"]["name"]) for each in stage.pods()
                           if each["metadata"]["name"].startswith("gang")), "the gang waits")
    expect(len(stage.given()) == 1, "a part of the gang started")
    workload = json.loads(stage.plane.must("get workloads.berth.dev -o json"))["items"][0]
    expect(workload["spec"]["podSets"][0]["requests"].get("nvidia.com/mig-2g.12gb") == "1", f"{workload['spec']}")
    stage.plane.must("delete pod first --now")
    stage.wait(lambda: len(stage.given()) == 3, "the gang runs")


def by_need(stage):
    """Who says what he needs has the smallest slice that has it, of whatever model; what others have cut has names."""
    def needs(name, **annotations):
        told = {"berth.dev/" + key.replace("_", "-"): value for key, value in annotations.items()}
        return {"apiVersion": "v1", "kind": "Pod", "spec": pod_spec({"cpu": "1"}),
                "metadata": {"name": name, "annotations": {"berth.dev/run-for": "30m", **told}}}

    stage.apply(needs("small", gpu_slice="1/7"), needs("model", gpu_slice="smallest", gpu_models="H100",
                                                      model="parameters=7B,precision=bf16"))
    given = stage.wait(lambda: len(stage.given()) == 2 and stage.given(), "both have one")
    expect(re.fullmatch(r"[01]:1g\.6gb@\d", given["small"]), f"{given}")
    expect(re.fullmatch(r"0:1g\.20gb@\d", given["model"]), f"{given}")
    nodes = stage.berth("nodes -o wide")
    expect(given["model"] in nodes and given["small"] in nodes, nodes)
    expect(re.search(r"pod/model +default +running +1/1 +1g.20gb ", stage.berth("jobs")), stage.berth("jobs"))
    stage.apply(needs("large", gpu_slice="smallest", gpu_memory="60Gi"))
    stage.wait_why("large", "^Capacity: no node has a place for a 7g.80gb slice free")
    expect(re.search(r"pod/large +default +waiting +0/1 +60Gi ", stage.berth("jobs")), stage.berth("jobs"))
    stage.plane.must("delete pod model --now")
    stage.wait(lambda: stage.given().get("large") == "0:7g.80gb@0", "the large one has all of it")
    stage.apply(needs("huge", gpu_slice="1/1", gpu_memory="90Gi"))
    stage.wait_why("huge", "^GpuType: no node has GPUs that can be cut into a slice with 1/1 of its processors and 92,160")
    nothing = stage.refused(needs("nothing", gpu_slice="smallest"))
    expect("what it has to suffice for is not said; write berth.dev/gpu-memory" in nothing, nothing)
    both = needs("both", gpu_slice="1/7")
    both["spec"] = pod_spec({"nvidia.com/gpu": 1})
    refused = stage.refused(both)
    expect("the pod asks whole GPUs, too; leave one of them out" in refused, refused)
    binding = {"apiVersion": "v1", "kind": "Binding", "metadata": {
        "name": "huge", "namespace": "default", "annotations": {"berth.dev/gpus": "0:1g.6gb@0"}},
        "target": {"apiVersion": "v1", "kind": "Node", "name": "a30-mig-0001"}}
    reply = stage.plane.run(["create", "--raw", "/api/v1/namespaces/default/pods/huge/binding", "-f", "-"],
                            text=json.dumps(binding))
    expect("a 1g.6gb of a A30 has less than the pod needs" in reply.stderr, reply.stderr)


def pieces(stage):
    """Enough is free, in pieces: that is said, and by how many GPUs."""
    names = [f"p{i}" for i in range(7)]
    stage.apply(*[pod(name, "1g.10gb") for name in names])
    given = stage.wait(lambda: len(stage.given()) == 7 and stage.given(), "seven have a place")
    at = {place.split("@")[1]: name for name, place in given.items()}
    stage.plane.must(["delete", "pod", at["1"], at["3"], at["5"], "--now"])
    stage.apply(pod("large", "2g.20gb"))
    stage.wait_why("large", r"^SliceGeometry: .*1 GPU has as much in pieces")


def quotas_count_them(stage):
    """A ResourceQuota counts slices by their own name."""
    quota = {"apiVersion": "v1", "kind": "ResourceQuota", "metadata": {"name": "q"},
             "spec": {"hard": {"requests.nvidia.com/mig-1g.10gb": "1"}}}
    stage.apply(quota)
    stage.apply(pod("q1", "1g.10gb"))
    refused = stage.wait(lambda: stage.plane.run("apply -f -", text=json.dumps(pod("q2", "1g.10gb"))).stderr,
                         "the second is refused")
    expect("requests.nvidia.com/mig-1g.10gb=1" in refused, refused)


def a_scheduler_that_is_started_anew(stage):
    """Whatever was given stays given when the scheduler is killed, and nothing of it is given twice."""
    profiles = ["3g.40gb", "1g.10gb", "1g.10gb", "1g.10gb", "1g.10gb"]
    stage.apply(*[pod(f"r{i}", profile) for i, profile in enumerate(profiles)])
    before = stage.wait(lambda: len(stage.given()) == 5 and stage.given(), "five have a place")
    killed = stage.plane.parts()["scheduler"]
    os.kill(killed, signal.SIGKILL)
    stage.plane.must("delete pod r1 --now")
    stage.apply(pod("again", "1g.10gb"), pod("too-many", "1g.10gb"))
    stage.wait(lambda: "again" in stage.given() or "too-many" in stage.given(), "one of them has a place", 60)
    expect(stage.plane.parts()["scheduler"] != killed, "the scheduler is another")
    after = stage.given()
    expect({name: place for name, place in after.items() if name in before}
           == {name: place for name, place in before.items() if name != "r1"}, f"{before} became {after}")
    expect(len(set(after.values())) == len(after) == 5, f"given twice: {after}")
    stage.wait_why("again" if "too-many" in after else "too-many", "^Capacity: ")


def nodes_that_are_cut_otherwise(stage):
    """A node that says two things is not used, nor are slices that others have cut, before it is known how."""
    told = lambda reason, text: any(  # noqa: E731
        event["reason"] == reason and text in event["message"]
        for event in json.loads(stage.plane.must("get events -A -o json"))["items"])
    stage.plane.must("label node h100-0001 berth.dev/gpu-mode=mig")
    stage.wait(lambda: told("NotUsed", "a node's GPUs are all cut, or none is"), "the node is told")
    fixed = {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "fixed", "labels": {
        "nvidia.com/gpu.product": "NVIDIA-A100-SXM4-40GB", "nvidia.com/mig.strategy": "mixed"}}}
    stage.apply(fixed)
    amounts = {"cpu": "8", "memory": "8Gi", "pods": "10", RESOURCE + "1g.5gb": "7"}
    ready = {"type": "Ready", "status": "True", "reason": "KubeletReady"}
    patch = {"status": {"allocatable": amounts, "capacity": amounts, "conditions": [ready]}}
    stage.plane.must(["patch", "node", "fixed", "--subresource=status", "-p", json.dumps(patch)])
    stage.wait(lambda: told("SlicesNotUsed", "nvidia.com/mig-1g.5gb"), "the node is told what is not used")
    stage.apply(pod("small", "1g.5gb"))
    stage.wait_why("small", "^GpuType: .*; 1 node offers some that are cut beforehand, which Berth does not hand out")
    stage.plane.must("label node fixed nvidia.com/gpu.count=1")
    stage.wait(lambda: stage.given().get("small", "").startswith("0:1g.5gb@"), "it has one when all is said")
    stage.apply(pod("not-there", "2g.10gb"))
    stage.wait_why("not-there", "^SliceGeometry: .*what was cut beforehand stays as it is: 1g.5gb")
    stage.plane.must("delete pod small not-there --force --grace-period=0")
    stage.plane.must("delete node fixed")
    stage.plane.must("label node h100-0001 berth.dev/gpu-mode-")


def a_submitted_command(stage):
    """berth submit asks one as scenarios do."""
    stage.berth("submit --name cut --gpus mig:1g.6gb --time 30m -- true")
    stage.wait(lambda: "1g.6gb@" in "".join(stage.given().values()), "it has a slice")
    expect("requests: {nvidia.com/gpu" not in stage.plane.must("get job cut -o yaml"), "it asks a GPU")


STORIES = (seven_share_a_gpu, what_one_pod_cannot_ask, a_gang, by_need, pieces, quotas_count_them,
           a_scheduler_that_is_started_anew,
           nodes_that_are_cut_otherwise, a_submitted_command)


if __name__ == "__main__":
    sys.exit(main("slices", STORIES, NODES, SliceStage))
