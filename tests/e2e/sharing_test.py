#!/usr/bin/env python3
"""Parts of GPUs through kubectl: by agreement, by MPS, in turns and as vGPUs; who gets which, why others wait, and what a scheduler knows
that is started anew.

    tests/e2e/sharing_test.py [--berth PROGRAM] [--kubectl 1.29] [STORY...]
"""

import json
import os
import re
import signal
import sys

from stories import PodStage, expect, main

NODES = "1xH100x1,1xH100x2/mps,1xT4x1/timeslice:3,1xA100-40GBx2/vgpu"
SHARED = "nvidia.com/gpu.shared"
MPS = {"berth.dev/gpu-sharing": "mps"}
BEST_EFFORT = {"berth.dev/coverage": "best-effort"}


def pod_spec(resources):
    return {"restartPolicy": "Never", "terminationGracePeriodSeconds": 0,
            "containers": [{"name": "c", "image": "busybox", "resources": {"limits": resources}}]}


def pod(name, resources=None, **annotations):
    words = {key.replace("_", "-"): value for key, value in annotations.items()}
    return {"apiVersion": "v1", "kind": "Pod",
            "metadata": {"name": name, "annotations": {"berth.dev/run-for": "30m", **words}, "labels": {"app": name}},
            "spec": pod_spec(resources or {})}


def with_words(thing, words):
    thing["metadata"]["annotations"].update(words)
    return thing


def share(name, part):
    return with_words(pod(name, gpu_fraction=part), MPS)


def replica(name):
    return with_words(pod(name, {SHARED: 1}), BEST_EFFORT)


def vgpu(name, profile):
    return pod(name, {"nvidia.com/NVIDIA_" + profile: 1})


class SharingStage(PodStage):
    def given(self):
        return {name: " ".join(place) for name, place in self.placed().items()}

    def wait_given(self, **places):
        self.wait(lambda: {name: self.given().get(name) for name in places} == places, f"given {places}")


def parts_by_agreement(stage):
    """KAI's words and Berth's share one GPU; the next waits and is told why; the views name parts as they were asked."""
    stage.apply(pod("half", gpu_fraction="0.5"), pod("memory", gpu_memory="16000"))
    stage.wait_given(half="h100-0001 0:0.5", memory="h100-0001 0:0.196")
    stage.apply(with_words(pod("milli", {"nvidia.com/gpu": 1}), {"berth.dev/gpu-milli": "300"}))
    stage.wait_given(milli="h100-0001 0:0.3")
    stage.apply(pod("late", gpu_fraction="0.25"), pod("whole", {"nvidia.com/gpu": 1}))
    stage.wait_why("late", r"^Capacity: no node has 0.25 of a GPU free")
    stage.wait_why("whole", r"^(Capacity|Fragmented|Isolation): ")
    jobs = stage.berth("jobs")
    expect(re.search(r"pod/memory +default +running +1/1 +16000Mi ", jobs), jobs)
    expect(re.search(r"asks +16000 MiB of a GPU\n", stage.berth("explain pod/memory")), "explain does not say it")
    expect(re.search(r"h100-0001 +H100 +\[\+\] +0/1 ", stage.berth("nodes")), stage.berth("nodes"))
    described = stage.plane.must("describe pod half")
    expect("part of a GPU 0:0.5" in described, described)
    stage.plane.must("delete pod half --now")
    stage.wait_given(late="h100-0001 0:0.25")


def what_one_pod_cannot_ask(stage):
    """What cannot be given is refused with what to write instead, all of it at once."""
    both = stage.refused(pod("both", {"nvidia.com/gpu": 1}, gpu_fraction="1.5", gpu_fraction_num_devices="2"))
    expect("leave that out, or ask them by two pods" in both and "ask them by several pods" in both, both)
    two = stage.refused(pod("two", gpu_fraction="0.5", gpu_memory="1000"))
    expect("metadata.annotations[gpu-memory]" in two and "write one of them" in two, two)
    none = stage.refused(pod("none", gpu_fraction="0"))
    expect("write one from 0.001 to 1 in thousandths, as in 0.5" in none, none)
    small = stage.refused(share("small", "0.01"))
    expect("a share of MPS is 0.03 of a GPU or more" in small, small)
    counts = stage.refused(pod("counts", {SHARED: 1}))
    expect("write the annotation berth.dev/coverage: best-effort" in counts, counts)
    stage.apply(pod("changes", gpu_fraction="0.5"))
    changed = stage.plane.run("annotate pod changes gpu-fraction=0.1 --overwrite")
    expect("may not be changed once the pod exists" in changed.stderr, changed.stderr)
    stage.apply(pod("large", gpu_memory="90000"))
    stage.wait_why("large", "^GpuType: no node is known to have a GPU with 90,000 MiB of memory")


def shares_of_one_user(stage):
    """Shares of MPS go to nodes that have it, on a GPU only those of one user; here a user is who made the pods."""
    stage.apply(share("a", "0.5"), share("b", "0.5"), share("c", "0.25"))
    given = stage.wait(lambda: len(stage.given()) == 3 and stage.given(), "three have a place")
    expect(all(place.startswith("h100-mps-0001 ") for place in given.values()), f"{given}")
    expect(sorted(place.split(":")[1] for place in given.values()) == ["0.25", "0.5", "0.5"], f"{given}")
    nodes = stage.berth("nodes")
    expect(re.search(r"h100-mps-0001 +H100/mps +\[[#+]{2}\] +0/2 +3 ", nodes), nodes)
    expect(re.search(r"pod/c +default +running +1/1 +0.25/mps ", stage.berth("jobs")), stage.berth("jobs"))
    expect("asks    0.25 GPU by MPS" in stage.berth("explain pod/c"), stage.berth("explain pod/c"))
    stage.apply(share("d", "0.8"))
    stage.wait_why("d", r"^(Capacity|Fragmented): no node has 0.8 of a GPU free")


def best_effort_takes_turns(stage):
    """Replicas of a time-sliced GPU are for best effort; kubectl describe counts them."""
    stage.apply(*[replica(name) for name in ("r1", "r2", "r3")])
    stage.wait_given(**{name: "t4-timeslice-0001 0:0.333" for name in ("r1", "r2", "r3")})
    stage.apply(replica("r4"))
    stage.wait_why("r4", "^Capacity: ")
    described = stage.plane.must("describe node t4-timeslice-0001")
    expect(re.search(r"nvidia.com/gpu.shared +3 +3", described), described)
    nodes = stage.berth("nodes")
    expect(re.search(r"t4-timeslice-0001 +T4/timeslice +\[#\] +0/1 ", nodes), nodes)
    stage.apply(with_words(pod("critical", gpu_fraction="0.5"), {"berth.dev/latency": "critical"}))
    stage.wait_why("critical", "^Isolation: it is latency-critical, and asks a part of a GPU")


def vgpus_of_one_profile(stage):
    """vGPUs go to nodes of a hypervisor, on a GPU only those of one profile; what nobody hands out is refused."""
    stage.apply(vgpu("v1", "A100X-10C"), vgpu("v2", "A100X-10C"), vgpu("large", "A100X-20C"))
    given = stage.wait(lambda: len(stage.given()) == 3 and stage.given(), "three have a place")
    expect(given["v1"] == given["v2"] and given["v1"].endswith(":0.25"), f"{given}")
    expect(given["large"].endswith(":0.5") and given["large"][:-4] != given["v1"][:-5], f"{given}")
    stage.apply(vgpu("late", "A100X-8C"))
    stage.wait_why("late", r"^SliceGeometry: no node has a vGPU A100X-8C free; the GPUs with as much free have vGPUs of another")
    nodes = stage.berth("nodes -o wide")
    expect(re.search(r"a100-40gb-vgpu-0001 +A100-40GB/vgpu +\[\+\+\] +0/2 +3 ", nodes), nodes)
    expect(re.search(r"\b[01]:2xA100X-10C\b", nodes) and re.search(r"\b[01]:1xA100X-20C\b", nodes), nodes)
    expect(re.search(r"pod/v1 +default +running +1/1 +A100X-10C ", stage.berth("jobs")), stage.berth("jobs"))
    expect("asks    a vGPU A100X-10C" in stage.berth("explain pod/v1"), stage.berth("explain pod/v1"))
    described = stage.plane.must("describe node a100-40gb-vgpu-0001")
    expect(re.search(r"nvidia.com/NVIDIA_A100X-10C +2 +2", described), described)
    desktop = stage.refused(pod("desktop", {"nvidia.com/NVIDIA_A10-12Q": 1}))
    expect("did you mean nvidia.com/NVIDIA_A10-12C?" in desktop, desktop)
    several = stage.refused(pod("several", {"nvidia.com/NVIDIA_A100X-10C": 2}))
    expect("ask 1 each by 2 pods" in several, several)
    stage.plane.must("delete pod large --now")
    stage.wait(lambda: stage.given().get("late", "").endswith(":0.2"), "the GPU has another profile")


def a_gang_of_parts(stage):
    """A Job's parts start together, or none does."""
    template = {"metadata": {"annotations": {"gpu-fraction": "0.6", "berth.dev/run-for": "30m", **MPS}},
                "spec": pod_spec({})}
    stage.apply(share("held", "0.5"))
    stage.wait(lambda: stage.given(), "the first has a place")
    stage.apply({"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "gang"},
                 "spec": {"parallelism": 2, "completions": 2, "backoffLimit": 0, "template": template}})
    stage.wait(lambda: any("room for 1 of 2 pods" in stage.why(each["metadata"]["name"]) for each in stage.pods()
                           if each["metadata"]["name"].startswith("gang")), "the gang waits")
    expect(len(stage.given()) == 1, "a part of the gang started")
    stage.plane.must("delete pod held --now")
    stage.wait(lambda: len(stage.given()) == 2, "the gang runs")


def quotas_count_parts(stage):
    """A ResourceQuota counts a part as its part of a GPU."""
    stage.apply({"apiVersion": "v1", "kind": "ResourceQuota", "metadata": {"name": "q"},
                 "spec": {"hard": {"requests.nvidia.com/gpu": "1"}}})
    stage.apply(pod("q1", gpu_fraction="0.5"))
    refused = stage.wait(lambda: stage.plane.run("apply -f -", text=json.dumps(pod("q2", gpu_fraction="0.6"))).stderr,
                         "the second is refused")
    expect("requested: requests.nvidia.com/gpu=600m, used: requests.nvidia.com/gpu=500m" in refused, refused)


def a_scheduler_that_is_started_anew(stage):
    """Whatever was given stays given when the scheduler is killed, and no GPU is given more than once."""
    stage.apply(pod("half", gpu_fraction="0.5"), pod("memory", gpu_memory="20000"), share("a", "0.5"), share("b", "0.7"),
                replica("r1"), replica("r2"))
    before = stage.wait(lambda: len(stage.given()) == 6 and stage.given(), "six have a place")
    killed = stage.plane.parts()["scheduler"]
    os.kill(killed, signal.SIGKILL)
    stage.apply(pod("quarter", gpu_fraction="0.25"), pod("more", gpu_fraction="0.25"), share("c", "0.5"), share("d", "0.5"),
                replica("r3"), replica("r4"))
    stage.wait(lambda: len(stage.given()) == 9, "three more have a place", 60)
    expect(stage.plane.parts()["scheduler"] != killed, "the scheduler is another")
    after = stage.given()
    expect({name: place for name, place in after.items() if name in before} == before, f"{before} became {after}")
    taken = {}
    for place in after.values():
        device, part = place.split(":")
        taken[device] = taken.get(device, 0) + round(float(part) * 1000)
    expect(max(taken.values()) <= 1000, f"given twice: {after}")
    for one, other in (("quarter", "more"), ("c", "d"), ("r3", "r4")):
        expect((one in after) != (other in after), f"{after}")
        stage.wait_why(other if one in after else one, "^(Capacity|Fragmented): ")


def nodes_that_are_shared_otherwise(stage):
    """A node that says two things, or that is shared and does not say how, is not used, and is told what to say."""
    told = lambda text: any(  # noqa: E731
        event["reason"] == "NotUsed" and text in event["message"]
        for event in json.loads(stage.plane.must("get events -A -o json"))["items"])
    stage.plane.must("label node h100-0001 berth.dev/gpu-mode=mps")
    stage.wait(lambda: told("a node's GPUs are all shared, or none is"), "the node is told")
    stage.plane.must("label node h100-0001 berth.dev/gpu-mode- nvidia.com/gpu.replicas=4")
    stage.wait(lambda: told("write timeslice for replicas that best effort takes turns on"), "the node is told")
    stage.apply(pod("half", gpu_fraction="0.5"))
    stage.wait_why("half", "^GpuType: ")
    stage.plane.must("label node h100-0001 nvidia.com/gpu.replicas-")
    stage.wait_given(half="h100-0001 0:0.5")


def a_submitted_command(stage):
    """berth submit asks a share as scenarios do."""
    stage.berth("submit --name shares --gpus mps:25% --time 30m -- true")
    stage.wait(lambda: any(place.endswith(":0.25") for place in stage.given().values()), "it has a share")
    stage.berth("submit --name desk --gpus vgpu:A100X-8C --time 30m -- true")
    stage.wait(lambda: any(place.endswith(":0.2") for place in stage.given().values()), "it has a vGPU")


STORIES = (parts_by_agreement, what_one_pod_cannot_ask, shares_of_one_user, best_effort_takes_turns, vgpus_of_one_profile,
           a_gang_of_parts,
           quotas_count_parts, a_scheduler_that_is_started_anew, nodes_that_are_shared_otherwise, a_submitted_command)


if __name__ == "__main__":
    sys.exit(main("sharing", STORIES, NODES, SharingStage))
