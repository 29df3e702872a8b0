#!/usr/bin/env python3
"""Pods who mind who else is there, through kubectl: affinity between pods, spread constraints, ports of nodes.

    tests/e2e/neighbours_test.py [--berth PROGRAM] [--kubectl 1.29] [STORY...]
"""

import os
import signal
import sys

from stories import PodStage, expect, main

NODES = "2xH100x8"


def terms(app, level="kubernetes.io/hostname"):
    return {"requiredDuringSchedulingIgnoredDuringExecution": [
        {"topologyKey": level, "labelSelector": {"matchLabels": {"app": app}}}]}


def pod_spec(ports=(), **more):
    container = {"name": "c", "image": "busybox", "resources": {"limits": {"nvidia.com/gpu": 1}},
                 "ports": [{"containerPort": port, "hostPort": port} for port in ports]}
    return {"restartPolicy": "Never", "terminationGracePeriodSeconds": 0, "containers": [container], **more}


def pod(name, app="none", **spec):
    return {"apiVersion": "v1", "kind": "Pod",
            "metadata": {"name": name, "annotations": {"berth.dev/run-for": "30m"}, "labels": {"app": app}},
            "spec": pod_spec(**spec)}


def job(name, pods, **spec):
    template = {"metadata": {"annotations": {"berth.dev/run-for": "30m"}, "labels": {"app": name}},
                "spec": pod_spec(**spec)}
    return {"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": name},
            "spec": {"parallelism": pods, "completions": pods, "backoffLimit": 0, "template": template}}


class NeighbourStage(PodStage):
    def nodes(self):
        return {name: node for name, (node, _) in self.placed().items()}


def apart_from_those_who_are_there(stage):
    """Who is to be apart from others keeps away from those who came before anybody asked, and keeps others away."""
    stage.apply(pod("db", "db"))
    home = stage.wait(lambda: stage.nodes().get("db"), "it has a place")
    stage.apply(pod("web", "web", affinity={"podAntiAffinity": terms("db")}))
    stage.wait(lambda: stage.nodes().get("web"), "it has a place")
    expect(stage.nodes()["web"] != home, "it is beside the one from which it is to be apart")
    stage.apply(pod("db2", "db"), pod("third", "third", affinity={"podAntiAffinity": {
        "requiredDuringSchedulingIgnoredDuringExecution": [
            {"topologyKey": "kubernetes.io/hostname",
             "labelSelector": {"matchExpressions": [{"key": "app", "operator": "In", "values": ["db", "web"]}]}}]}}))
    stage.wait(lambda: stage.nodes().get("db2"), "it has a place")
    expect(stage.nodes()["db2"] == home, "nobody kept it away")
    stage.wait_why("third", "^Affinity: the pods around keep it from all 2 nodes with room: 2 are beside pods")
    killed = stage.plane.parts()["scheduler"]
    os.kill(killed, signal.SIGKILL)
    stage.plane.must("delete pod web --now")
    stage.wait(lambda: stage.nodes().get("third"), "it has a place", 60)
    expect(stage.nodes()["third"] != home, "a scheduler that is started anew knows who is there")


def near_those_who_come_later(stage):
    """Who is to be near others waits until they come, and goes where they are."""
    stage.apply(pod("w", affinity={"podAffinity": terms("late")}))
    stage.wait_why("w", "^Affinity: .* 2 are beside none of the pods to which it is to be near")
    stage.apply(pod("late", "late"))
    stage.wait(lambda: stage.nodes().get("w"), "it has a place")
    expect(stage.nodes()["w"] == stage.nodes()["late"], "it is elsewhere")


def a_gang_with_a_port(stage):
    """Pods of a Job that have a port of their node: one on each, or none at all."""
    stage.apply(pod("holder", ports=[7077]))
    home = stage.wait(lambda: stage.nodes().get("holder"), "it has a place")
    stage.apply(job("gang", 2, ports=[7077]))
    stage.wait(lambda: any("Ports: room for 1 of 2 pods" in stage.why(each["metadata"]["name"]) for each in stage.pods()),
               "the gang waits")
    stage.plane.must("delete pod holder --now")
    stage.wait(lambda: len(stage.nodes()) == 2, "the gang runs")
    expect(len(set(stage.nodes().values())) == 2 and home in stage.nodes().values(), f"{stage.nodes()}")


def spread_evenly(stage):
    """No node has two more of them than another."""
    spread = [{"maxSkew": 1, "topologyKey": "kubernetes.io/hostname", "whenUnsatisfiable": "DoNotSchedule",
               "labelSelector": {"matchLabels": {"app": "even"}}}]
    for number in range(4):
        stage.apply(pod(f"e{number}", "even", topologySpreadConstraints=spread))
        stage.wait(lambda: len(stage.nodes()) == number + 1, "it has a place")
    nodes = list(stage.nodes().values())
    expect(sorted(nodes.count(node) for node in set(nodes)) == [2, 2], f"they are on {nodes}")


def namespaces_by_their_labels(stage):
    """Whose pods are meant goes by the labels that their namespaces have at the moment."""
    stage.plane.must("create namespace red")
    stage.plane.must("label namespace red team=a")
    there = pod("there", "there")
    there["metadata"]["namespace"] = "red"
    stage.apply(there)
    for number in range(2):
        stage.apply(pod(f"near{number}", "near", affinity={"podAffinity": {
            "requiredDuringSchedulingIgnoredDuringExecution": [
                {"topologyKey": "kubernetes.io/hostname", "labelSelector": {},
                 "namespaceSelector": {"matchLabels": {"team": "ab"[number]}}}]}}))
    stage.wait(lambda: stage.nodes().get("near0"), "it has a place")
    stage.wait_why("near1", "^Affinity: .* 2 are beside none of the pods to which it is to be near")
    stage.plane.must("label namespace red team=b --overwrite")
    stage.wait(lambda: stage.nodes().get("near1"), "it has a place")
    expect(stage.nodes()["near1"] == stage.nodes()["near0"], "it is where the others are")
    stage.plane.must("delete namespace red")


STORIES = (apart_from_those_who_are_there, near_those_who_come_later, a_gang_with_a_port, spread_evenly,
           namespaces_by_their_labels)


if __name__ == "__main__":
    sys.exit(main("neighbours", STORIES, NODES, NeighbourStage))
