#!/usr/bin/env python3
"""Topology through kubectl: Kueue's Topologies, gangs that keep to their levels, and what people see of the domains.

    tests/e2e/topology_test.py [--berth PROGRAM] [--kubectl 1.29] [STORY...]
"""

import json
import os
import re
import signal
import sys
import tempfile

from stories import PodStage, expect, main

NODES = "4xH100x8,2xA100-80GBx8"
KUEUE = "kueue.x-k8s.io/"
ZONE = "topology.kubernetes.io/zone"
# Of each node its zone and its rack.
PLACES = {"h100-0001": ("a", "r1"), "h100-0002": ("a", "r1"), "h100-0003": ("a", "r2"), "h100-0004": ("b", "r3"),
          "a100-80gb-0001": ("b", "r4"), "a100-80gb-0002": ("b", "r4")}


def topology(name, *labels, version="v1beta1"):
    return {"apiVersion": KUEUE + version, "kind": "Topology", "metadata": {"name": name},
            "spec": {"levels": [{"nodeLabel": label} for label in labels]}}


def flavor(name, product, of=None):
    spec = {"nodeLabels": {"nvidia.com/gpu.product": product}, **({"topologyName": of} if of else {})}
    return {"apiVersion": KUEUE + "v1beta1", "kind": "ResourceFlavor", "metadata": {"name": name}, "spec": spec}


def queues(*flavors):
    """A ClusterQueue of these flavors, and its LocalQueue."""
    group = {"coveredResources": ["nvidia.com/gpu"],
             "flavors": [{"name": name, "resources": [{"name": "nvidia.com/gpu", "nominalQuota": 32}]}
                         for name in flavors]}
    return ({"apiVersion": KUEUE + "v1beta1", "kind": "ClusterQueue", "metadata": {"name": "team"},
             "spec": {"namespaceSelector": {}, "resourceGroups": [group]}},
            {"apiVersion": KUEUE + "v1beta1", "kind": "LocalQueue",
             "metadata": {"name": "main", "namespace": "default"}, "spec": {"clusterQueue": "team"}})


def pod_spec(gpus):
    return {"restartPolicy": "Never", "terminationGracePeriodSeconds": 0,
            "containers": [{"name": "c", "image": "busybox", "resources": {"limits": {"nvidia.com/gpu": gpus}}}]}


def job(name, pods, gpus, queue=None, **annotations):
    template = {"metadata": {"annotations": {"berth.dev/run-for": "30m", **annotations}}, "spec": pod_spec(gpus)}
    labels = {KUEUE + "queue-name": queue} if queue else {}
    return {"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": name, "labels": labels},
            "spec": {"parallelism": pods, "completions": pods, "backoffLimit": 0, "template": template}}


def pod(name, gpus, node=None):
    spec = pod_spec(gpus)
    if node:
        spec["nodeSelector"] = {"kubernetes.io/hostname": node}
    return {"apiVersion": "v1", "kind": "Pod",
            "metadata": {"name": name, "annotations": {"berth.dev/run-for": "30m"}}, "spec": spec}


REQUIRED = KUEUE + "podset-required-topology"
PREFERRED = KUEUE + "podset-preferred-topology"
UNCONSTRAINED = KUEUE + "podset-unconstrained-topology"


class TopologyStage(PodStage):
    def label_nodes(self):
        for node, (zone, rack) in PLACES.items():
            self.plane.must(f"label node {node} {ZONE}={zone} rack={rack} --overwrite")

    def clear(self):
        super().clear()
        self.plane.must("delete localqueues,clusterqueues,resourceflavors.kueue.x-k8s.io,topologies,hypernodes --all")

    def racks(self, name):
        """Where the pods of a Job are."""
        return sorted(PLACES[node][1] for each, (node, _) in self.placed().items() if each.startswith(name + "-"))

    def wait_why_of_job(self, name, pattern):
        first = self.wait(lambda: next((each["metadata"]["name"] for each in self.pods()
                                        if each["metadata"]["name"].startswith(name + "-")), None), f"{name} has pods")
        self.wait_why(first, pattern)

    def active(self):
        conditions = self.get("clusterqueue team").get("status", {}).get("conditions", [])
        return next(((each["status"], each["reason"], each["message"]) for each in conditions
                     if each["type"] == "Active"), None)


def kueues_setup(stage):
    """A setup as Kueue's users have it, unchanged: a Topology, a flavor of it, gangs that keep to its levels."""
    stage.label_nodes()
    stage.apply(topology("default", ZONE, "rack", "kubernetes.io/hostname"), flavor("h100", "H100", "default"),
                *queues("h100"))
    stage.apply(job("near", 2, 8, "main", **{REQUIRED: "rack"}))
    stage.wait(lambda: stage.racks("near") == ["r1", "r1"], "both are in the one rack that has two nodes")
    stage.apply(job("open", 2, 8, "main", **{UNCONSTRAINED: "true"}))
    stage.wait(lambda: len(stage.racks("open")) == 2, "who is not constrained may be anywhere")
    shown = stage.plane.must("get topologies.v1beta2.kueue.x-k8s.io default -o json")
    expect(json.loads(shown)["spec"]["levels"][1]["nodeLabel"] == "rack", shown)
    expect("FIELDS" in stage.plane.must("explain topology.spec.levels --api-version=kueue.x-k8s.io/v1beta2"), "no fields")


def what_is_refused(stage):
    """As Kueue refuses it, with what to write instead."""
    stage.apply(topology("fixed", "rack"), flavor("f", "H100", "fixed"))
    twice = stage.refused(topology("twice", "rack", "rack"))
    expect("spec.levels[1].nodeLabel" in twice and "'rack' stands there twice" in twice, twice)
    host = stage.refused(topology("host", "kubernetes.io/hostname", "rack"))
    expect("'kubernetes.io/hostname' is not the last level" in host, host)
    many = stage.refused(topology("many", *[f"l{i}" for i in range(17)]))
    expect("it has 17 levels; Kueue refuses more than 16" in many, many)
    none = stage.refused(topology("none"))
    expect("it has no level" in none, none)
    changed = stage.refused(topology("fixed", "zone"))
    expect("spec.levels: Invalid value" in changed and "field is immutable" in changed, changed)
    other = stage.refused(flavor("f", "A100-80GB", "fixed"))
    expect("resourceFlavorSpec are immutable when topologyName is set" in other, other)
    bare = flavor("bare", "H100", "fixed")
    bare["spec"]["nodeLabels"] = {}
    refused = stage.refused(bare)
    expect("a flavor of a Topology names no label of its nodes" in refused, refused)
    both = stage.refused(job("both", 2, 8, **{REQUIRED: "rack", PREFERRED: ZONE}))
    expect("only one of them can hold; leave one out" in both, both)
    unsure = stage.refused(job("unsure", 2, 8, **{UNCONSTRAINED: "perhaps"}))
    expect("'perhaps' is neither true nor false" in unsure, unsure)
    blank = stage.refused(job("blank", 2, 8, **{"berth.dev/topology": "required:my rack"}))
    expect("'my rack' is no label; write one that nodes have" in blank, blank)


def a_topology_that_is_missing(stage):
    """Nothing starts of a ClusterQueue whose flavor names a Topology that is not there; then it does."""
    stage.label_nodes()
    stage.apply(flavor("h100", "H100", "late"), *queues("h100"))
    stage.wait(lambda: stage.active() == (
        "False", "TopologyNotFound",
        'Can\'t admit new workloads: there is no Topology "late" for TAS flavor "h100"'), "it says what is missing")
    stage.apply(job("early", 2, 8, "main", **{REQUIRED: "rack"}))
    stage.wait_why_of_job("early", '^NotFollowed: queue .clusterqueue/team.: there is no Topology "late" .*; create it$')
    stage.apply(topology("late", "rack", version="v1beta2"))
    stage.wait(lambda: stage.racks("early") == ["r1", "r1"], "it starts")
    stage.wait(lambda: stage.active()[:2] == ("True", "Ready"), "its ClusterQueue says so")


def levels_of_another_topology(stage):
    """A flavor takes who asks for levels of its Topology alone; also for a scheduler that is started anew."""
    stage.label_nodes()
    stage.apply(topology("racks", "rack"), topology("zones", ZONE), flavor("h100", "H100", "racks"),
                flavor("a100", "A100-80GB", "zones"), *queues("h100", "a100"))
    stage.apply(job("zone", 2, 8, "main", **{REQUIRED: ZONE}))
    stage.wait(lambda: stage.racks("zone") == ["r4", "r4"], "it is on the A100s, whose Topology has zones")
    stage.apply(job("nodes", 2, 4, "main", **{REQUIRED: "kubernetes.io/hostname"}))
    why = ("^Topology: no flavor of clusterqueue/team has a Topology with the levels that it asks, "
           "kubernetes.io/hostname; flavor h100 is of Topology racks, with rack; flavor a100 is of Topology zones, with ")
    stage.wait_why_of_job("nodes", why)
    killed = stage.plane.parts()["scheduler"]
    os.kill(killed, signal.SIGKILL)
    stage.wait(lambda: stage.plane.parts().get("scheduler", killed) != killed, "there is another scheduler", 60)
    stage.apply(job("rack", 2, 8, "main", **{REQUIRED: "rack"}))
    stage.wait(lambda: stage.racks("rack") == ["r1", "r1"], "it is on the H100s, whose Topology has racks", 60)
    expect(not stage.racks("nodes"), "it started")


def what_people_see(stage):
    """berth topology, the map of nodes, and why a gang waits: the same numbers."""
    stage.label_nodes()
    stage.apply(pod("half", 4, "h100-0001"), pod("full", 8, "h100-0003"))
    stage.wait(lambda: len(stage.placed()) == 2, "both have a place")
    found = stage.berth("topology")
    expect(re.search(r"^DOMAIN +LEVEL +NODES +GPUS +USED +FREE +WHOLE NODES +LARGEST GANG$", found, re.M), found)
    expect(re.search(r"^a +zone +3 +24 H100 +12 +12 +1 +12$", found, re.M), found)
    expect(re.search(r"^  r1 +rack +2 +16 H100 +4 +12 +1 +12$", found, re.M), found)
    expect(re.search(r"^b +zone +3 +16 A100-80GB, 8 H100 +0 +24 +3 +16 A100-80GB$", found, re.M), found)
    expect(re.search(r"^rack +H100 +3 +12 +r1 +1$", found, re.M), found)
    expect(re.search(r"^node +H100 +4 +8 +h100-0002 +1$", found, re.M), found)
    told = json.loads(stage.berth("topology --levels rack -o json"))["topologies"][0]
    expect([each["name"] for each in told["domains"]] == ["r1", "r2", "r3", "r4"], f"{told}")
    expect(told["domains"][0]["gpusFree"] == 12, f"{told}")
    stage.apply(topology("racks", "rack", "kubernetes.io/hostname"))
    expect(stage.berth("topology").startswith("Topology racks\nDOMAIN"), stage.berth("topology"))
    drawn = stage.berth("nodes -o map")
    expect(re.search(r"^rack r1 +12/16 +\[####\.\.\.\.\] \[\.{8}\]$", drawn, re.M), drawn)
    stage.plane.must("cordon h100-0002")
    drawn = stage.berth(f"nodes -o map --levels {ZONE}")
    expect(re.search(r"^zone a +4/24 +\[####\.\.\.\.\] \(\.{8}\) \[#{8}\]$", drawn, re.M), drawn)
    stage.plane.must("uncordon h100-0002")
    stage.apply(job("large", 2, 8, **{REQUIRED: "rack", "berth.dev/gpu-models": "H100"}))
    stage.wait_why_of_job("large", "^Topology: no rack has room for 2 pods")
    room = stage.wait(lambda: "room" in stage.berth("explain job/large", 7) and stage.berth("explain job/large", 7),
                      "the room in each rack is told")
    expect("  room    rack by rack, for 2 pods with 8 GPUs each, all in one:\n"
           "          r1   1 fits, 12 GPUs free, lacks 8 GPUs\n"
           "          r3   1 fits, 8 GPUs free, lacks 8 GPUs\n"
           "          r2   none fit, no GPU free, lacks 16 GPUs\n" in room, room)
    facts = json.loads(stage.berth("explain job/large -o json", 7))
    expect(facts["topology"]["level"] == "rack" and facts["topology"]["domains"][0]["podsFit"] == 1, f"{facts}")
    workload = next(each for each in stage.get("workloads.berth.dev")["items"]
                    if each["metadata"]["name"].startswith("large-"))
    expect(workload["status"]["topology"] == facts["topology"], f"{workload}")
    stage.plane.must("delete pod half --now")
    stage.wait(lambda: stage.racks("large") == ["r1", "r1"], "it starts")
    expect("room" not in stage.berth("explain job/large"), stage.berth("explain job/large"))


def what_gangs_put_on_uplinks(stage):
    """A gang that says how its GPUs share a model, over two racks: what it costs, and what leads out of each of them."""
    stage.label_nodes()
    stage.plane.must("cordon h100-0002")
    sizes = {"berth.dev/parallelism": "tp=8,dp=2", "berth.dev/gpu-models": "H100"}
    for node in ("h100-0003", "h100-0004"):
        stage.apply(pod("on-" + node, 4, node))
    stage.wait(lambda: len(stage.placed()) == 2, "two nodes are half full")
    expect("UPLINK" not in stage.berth("topology --levels rack"), "nobody says how he shares a model")
    stage.plane.must("delete pod on-h100-0004 --now")
    stage.apply(job("train", 2, 8, **sizes))
    stage.wait(lambda: stage.racks("train") == ["r1", "r3"], "it is in the racks that have a whole node")
    network = stage.wait(lambda: next((each["status"]["network"] for each in stage.get("workloads.berth.dev")["items"]
                                       if "network" in each.get("status", {})), None), "its Workload says it")
    expect([(each["domain"], each["gpus"]) for each in network["uplinks"] if each["level"] == "rack"]
           == [("r1", 8), ("r3", 8)], f"{network}")
    shown = stage.berth("topology --levels rack")
    expect(re.search(r"^DOMAIN .* UPLINK$", shown, re.M), shown)
    expect(re.search(r"^r1 .* 8$", shown, re.M) and re.search(r"^r2 .* -$", shown, re.M), shown)
    expect(re.search(r"^default/train\S* +for a GiB each, tensor groups take .*ms inside nodes", shown, re.M), shown)
    stage.plane.must("uncordon h100-0002")


def spares(stage):
    """A spare takes nobody but who stands in for a pod that its gang has lost; and is one again."""
    stage.label_nodes()
    stage.plane.must("label node h100-0004 berth.dev/spare=true")
    expect(re.search(r"^h100-0004 .* ready,spare", stage.berth("nodes"), re.M), stage.berth("nodes"))
    gang = job("gang", 3, 8, **{"berth.dev/gpu-models": "H100"})
    gang["spec"]["backoffLimit"] = 6
    stage.apply(gang)
    stage.wait(lambda: stage.racks("gang") == ["r1", "r1", "r2"], "it runs, and not on the spare")
    stage.apply(pod("other", 1, "h100-0004"))
    stage.wait_why("other", "^Capacity: .*1 is a spare for repairs")
    lost, node = next((name, node) for name, (node, _) in stage.placed().items() if node == "h100-0002")
    stage.plane.must(f"cordon {node}")
    stage.plane.must(f"delete pod {lost} --now")
    stage.wait(lambda: stage.racks("gang") == ["r1", "r2", "r3"], "another is on the spare", 60)
    stage.plane.must(f"uncordon {node}")
    stage.plane.must("delete job gang --now")
    stage.wait_why("other", "^Capacity: .*1 is a spare for repairs")
    stage.plane.must("label node h100-0004 berth.dev/spare-")
    stage.wait(lambda: "other" in stage.placed(), "it is a node as any other")


def hyper_node(name, tier, *members):
    return {"apiVersion": "topology.volcano.sh/v1alpha1", "kind": "HyperNode", "metadata": {"name": name},
            "spec": {"tier": tier, "members": list(members)}}


def member(kind, **selector):
    return {"type": kind, "selector": selector}


def volcanos_hyper_nodes(stage):
    """Each tier of Volcano's HyperNodes is a level; what is not as it was meant is told in their conditions."""
    first, second = [member("Node", exactMatch={"name": f"h100-000{i}"}) for i in (1, 2)]
    stage.apply(hyper_node("s0", 1, first, second),
                hyper_node("s1", 1, member("Node", regexMatch={"pattern": "^h100-000[34]$"})),
                hyper_node("s2", 1, member("Node", labelMatch={"matchLabels": {"nvidia.com/gpu.product": "A100-80GB"}})),
                hyper_node("spine", 2, member("HyperNode", regexMatch={"pattern": "^s[01]$"})))
    shown = lambda: stage.plane.must("get hypernodes -o wide")  # noqa: E731
    stage.wait(lambda: re.search(r"^spine +2 +4 +Ready ", shown(), re.M), "it has the nodes of its members")
    expect(re.search(r"^s2 +1 +2 +Ready ", shown(), re.M), shown())
    stage.apply(pod("half", 4, "h100-0001"))
    stage.wait(lambda: stage.placed(), "it has a place")
    stage.apply(job("near", 2, 8, **{"berth.dev/topology": "required:hypernode-tier-1", "berth.dev/gpu-models": "H100"}))
    stage.wait(lambda: stage.racks("near") == ["r2", "r3"], "it is in the one that has room")
    stage.apply(job("wide", 2, 8, **{"volcano.sh/network-topology-mode": "hard", "berth.dev/gpu-models": "H100",
                                     "volcano.sh/network-topology-highest-tier": "2"}))
    stage.wait_why_of_job("wide", "^(Topology|Capacity|Fragmented): ")
    found = stage.berth("topology")
    expect(found.startswith("HyperNodes\nDOMAIN"), found)
    expect(re.search(r"^  s1 +hypernode-tier-1 +2 +16 H100 +16 +0 +0 +0$", found, re.M), found)
    drawn = stage.berth("nodes -o map --levels hypernode-tier-2")
    expect(re.search(r"^hypernode-tier-2 spine +12/32 +\[####\.\.\.\.\] ", drawn, re.M), drawn)
    stage.apply(hyper_node("again", 1, first))
    stage.wait(lambda: re.search(r"^again +1 +0 +NodeInTwo ", shown(), re.M), "it says that the node is in two")
    told = stage.get("hypernode s0")["status"]["conditions"][0]
    expect(told["status"] == "False" and "h100-0001 (again); leave them in one" in told["message"], f"{told}")
    stage.plane.must("delete hypernode again")
    stage.apply(hyper_node("circle", 3, member("HyperNode", exactMatch={"name": "circle"})))
    stage.wait(lambda: re.search(r"^circle +3 +0 +Circle ", shown(), re.M), "it says that it is part of itself")
    several = stage.refused(hyper_node("bad", 1, member("Node", exactMatch={"name": "n"}, regexMatch={"pattern": "n"})))
    expect("spec.members[0].selector" in several and "it selects in several ways" in several, several)
    pattern = stage.refused(hyper_node("bad", 1, member("Node", regexMatch={"pattern": "(n"})))
    expect("it is no regular expression as Go has them: missing ): (n" in pattern, pattern)
    tight = stage.refused(job("tight", 2, 8, **{"volcano.sh/network-topology-mode": "tight"}))
    expect("'tight' is neither hard nor soft" in tight, tight)
    stage.plane.must("delete hypernodes --all")
    stage.plane.must("delete pod half --now")


def what_is_mistyped(stage):
    """With exit codes as of all commands, and what to write instead."""
    stage.label_nodes()

    def says(words, code, text):
        reply = stage.plane.run_berth(words)
        expect(reply.returncode == code and text in reply.stderr, f"{words}: {reply.returncode}, {reply.stderr}")

    says("topology --levels rack,rack", 2, "'rack' stands there twice; name each level once")
    says("topology --levels rak", 3, "no node has the label rak, did you mean rack?")
    says("topology nothing", 3, "there is no Topology 'nothing'; `kubectl get topologies` shows all")
    says("topology some --levels rack", 2, "a Topology has levels of its own")
    says("topology --apply", 2, "nothing is applied without a file; write --from topology.conf")
    says("nodes --levels rack", 2, "only a map has levels; write -o map, too")
    says("nodes -o map -w", 2, "a map is one picture, and does not go on")
    says("nodes -o mab", 2, "write table, wide, map, json, yaml or name")
    expect("Examples:" in stage.berth("topology --help"), "no examples")


def places_from_a_file(stage):
    """First shown, then written to the nodes: Slurm's file and our own."""
    with tempfile.TemporaryDirectory() as folder:
        slurm, own = os.path.join(folder, "topology.conf"), os.path.join(folder, "places.yaml")
        with open(slurm, "w") as file:
            file.write("SwitchName=leaf1 Nodes=h100-000[1-2]\nSwitchName=leaf2 Nodes=h100-000[3-4],gone\n"
                       "SwitchName=top Switches=leaf[1-2]\n")
        with open(own, "w") as file:
            file.write("levels: [leaf]\ndomains: {leaf9: h100-0001}\n")
        leaves = lambda: stage.plane.must("get nodes -l leaf -o jsonpath={range.items[*]}{.metadata.labels.leaf},{end}")
        shown = stage.plane.run_berth(f"topology --from {slurm} --levels spine,leaf")
        expect(re.search(r"^h100-0004 +- -> top +- -> leaf2$", shown.stdout, re.M), shown.stdout)
        expect("gone" in shown.stderr and "Nothing was changed" in shown.stderr, shown.stderr)
        expect(leaves() == "", leaves())
        stage.berth(f"topology --from {slurm} --levels spine,leaf --apply")
        expect(leaves() == "leaf1,leaf1,leaf2,leaf2,", leaves())
        expect(re.search(r"^top +spine +4 +32 H100", stage.berth("topology --levels spine,leaf"), re.M), "no spine")
        stage.berth(f"topology --from {own} --apply")
        expect(leaves() == "leaf9,leaf1,leaf2,leaf2,", leaves())
        stage.plane.must("label nodes --all leaf- spine-")


STORIES = (kueues_setup, what_is_refused, a_topology_that_is_missing, levels_of_another_topology, what_people_see,
           what_gangs_put_on_uplinks, spares, volcanos_hyper_nodes, places_from_a_file, what_is_mistyped)


if __name__ == "__main__":
    sys.exit(main("topology", STORIES, NODES, TopologyStage))
