#!/usr/bin/env python3
"""Pods that operators make, through kubectl: who of them starts together is derived from the operator's object. The operators do not
run here: their objects are written as their users do, and the pods as they make them.

    tests/e2e/gang_owners_test.py [--berth PROGRAM] [--kubectl 1.29] [STORY...]
"""

import json
import os
import re
import signal
import sys

from stories import PodStage, expect, main

NODES = "4xH100x1"
LWS = "leaderworkerset.sigs.k8s.io/"
KINDS = ("leaderworkersets",)


def template(gpus=1):
    return {"spec": {"containers": [{"name": "c", "image": "busybox", "resources": {"limits": {"nvidia.com/gpu": gpus}}}]}}


def pod(name, labels, annotations=None, owner=None, gpus=1):
    """As an operator makes it of such a template."""
    made = {"apiVersion": "v1", "kind": "Pod",
            "metadata": {"name": name, "labels": labels, "annotations": {"berth.dev/run-for": "30m", **(annotations or {})}},
            "spec": {"restartPolicy": "Never", "terminationGracePeriodSeconds": 1, **template(gpus)["spec"]}}
    if owner:
        made["metadata"]["ownerReferences"] = [{"apiVersion": owner["apiVersion"], "kind": owner["kind"],
                                                "name": owner["metadata"]["name"], "uid": owner["metadata"]["uid"],
                                                "controller": True, "blockOwnerDeletion": True}]
    return made


class OwnerStage(PodStage):
    def names(self):
        return sorted(self.placed())

    def made(self, thing):
        """Applies it; as the server has it, and what it was warned of."""
        reply = self.plane.run("apply -f -", text=json.dumps(thing))
        expect(reply.returncode == 0, reply.stderr)
        kind = thing["kind"].lower() + "." + thing["apiVersion"].split("/")[0]
        return self.get(f"{kind} {thing['metadata']['name']}"), reply.stderr

    def clear(self):
        self.plane.must(f"delete {','.join(KINDS)} --all", limit_s=60)
        super().clear()


# ---- LeaderWorkerSet -------------------------------------------------------------------------------------------------------


def leader_worker_set(**spec):
    return {"apiVersion": "leaderworkerset.x-k8s.io/v1", "kind": "LeaderWorkerSet", "metadata": {"name": "vllm"},
            "spec": {"replicas": 2, "leaderWorkerTemplate": {"size": 3, "restartPolicy": "RecreateGroupOnPodRestart",
                                                             "leaderTemplate": template(), "workerTemplate": template()}, **spec}}


def member_of_set(group, worker, size=3):
    """A leader belongs to the set's StatefulSet, a worker to one of its leader's: neither kind is served here."""
    name = f"vllm-{group}" if worker == 0 else f"vllm-{group}-{worker}"
    stateful_set = {"apiVersion": "apps/v1", "kind": "StatefulSet",
                    "metadata": {"name": "vllm" if worker == 0 else f"vllm-{group}", "uid": f"of-{group if worker else 'all'}"}}
    annotations = {LWS + "size": str(size)}
    if worker:
        annotations[LWS + "leader-name"] = f"vllm-{group}"
    return pod(name, {LWS + "name": "vllm", LWS + "group-index": str(group), LWS + "worker-index": str(worker),
                      LWS + "group-key": f"key{group}", LWS + "template-revision-hash": "abc"}, annotations, stateful_set)


def a_leader_worker_set(stage):
    """Each of its groups starts whole: of two with three pods one, where there is room for four. A scheduler that is killed
    meanwhile changes nothing."""
    stage.apply(member_of_set(0, 0))
    stage.wait_why("vllm-0", "^OwnerMissing: there is no LeaderWorkerSet 'vllm'")
    stage.made(leader_worker_set())
    stage.wait_why("vllm-0", r"^GangIncomplete: .*2 of 3 pods have not been created")
    stage.apply(member_of_set(1, 0), member_of_set(1, 1), member_of_set(0, 1), member_of_set(0, 2))
    stage.wait(lambda: stage.names() == ["vllm-0", "vllm-0-1", "vllm-0-2"], "the first group has its places")
    stage.apply(member_of_set(1, 2))
    stage.wait_why("vllm-1", "^Capacity: ")
    expect("Capacity" in stage.berth("explain pod/vllm-1-1", 7), "explain says why it waits")
    shown = stage.plane.must("get lws")
    expect(re.search(r"NAME +READY +DESIRED +UP-TO-DATE +AGE", shown) and re.search(r"vllm +0 +2 +0 ", shown), shown)
    expect("leaderworkerset-vllm-0" in stage.plane.must("get bwl"), "its Workload is there")
    os.kill(stage.plane.parts()["scheduler"], signal.SIGKILL)
    stage.plane.must("delete pod vllm-0 vllm-0-1 vllm-0-2 --now")
    stage.wait(lambda: stage.names() == ["vllm-1", "vllm-1-1", "vllm-1-2"], "the second group follows", 60)


def a_leader_that_is_ready_first(stage):
    """Its workers are made when it runs: it starts alone, they start together, and who writes that is told."""
    _, warned = stage.made(leader_worker_set(startupPolicy="LeaderReady"))
    expect("spec.startupPolicy: the workers are made when the leader has its place" in warned, warned)
    stage.apply(member_of_set(0, 0))
    stage.wait(lambda: stage.names() == ["vllm-0"], "the leader has its place")
    stage.apply(member_of_set(0, 1))
    stage.wait_why("vllm-0-1", r"^GangIncomplete: .*1 of 2 pods have not been created")
    stage.apply(member_of_set(0, 2))
    stage.wait(lambda: stage.names() == ["vllm-0", "vllm-0-1", "vllm-0-2"], "its workers follow together")


def what_is_wrong_is_refused(stage):
    """All of it at once; and fields that there are not."""
    wrong = leader_worker_set(replicas=-1)
    wrong["spec"]["leaderWorkerTemplate"]["size"] = 0
    refused = stage.refused(wrong)
    for word in ("spec.leaderWorkerTemplate.size", "spec.replicas"):
        expect(word in refused, refused)
    expect("spec.size" in stage.refused(leader_worker_set(size=3)), "fields are checked strictly")


STORIES = (a_leader_worker_set, a_leader_that_is_ready_first, what_is_wrong_is_refused)


if __name__ == "__main__":
    sys.exit(main("gangs of operators", STORIES, NODES, OwnerStage, shown="pods," + ",".join(KINDS)))
