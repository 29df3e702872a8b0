"""Pods, the nodes they are bound to, the jobs that make them, and what bounds them."""

import copy

from replies.script import TABLE, Story, create, delete, get, patch, put, watch
from replies.stories_server import names

SCHEDULING = "/apis/scheduling.k8s.io/v1/priorityclasses"
GPU = "nvidia.com/gpu"
DEVICES = "berth.dev/gpus"  # Berth binds to devices; to others it is an annotation like any
INITIAL = "resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true"


def pod(name, gpus=0, labels=None, **spec):
    amounts = {"resources": {"limits": {GPU: str(gpus)}}} if gpus else {}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name, **({"labels": labels} if labels else {})},
            "spec": {"schedulerName": "ours", "containers": [{"name": "c", "image": "b", **amounts}], **spec}}


def changed(original, **container):
    made = copy.deepcopy(original)
    made["spec"]["containers"][0].update(container)
    return made


def binding(name, node="n1", **metadata):
    return {"apiVersion": "v1", "kind": "Binding", "metadata": {"name": name, **metadata},
            "target": {"apiVersion": "v1", "kind": "Node", "name": node}}


def asking(**amounts):
    return {"resources": amounts}


PODS = Story("pods", [
    create("one", "pods?fieldManager=me", pod("p1", 1, {"app": "a"}), recorded="pod",
           keep={"rv": "metadata.resourceVersion", "uid": "metadata.uid"}),
    create("the same again", "pods", pod("p1"), recorded="dup"),
    get("what is absent", "pods/nope", recorded="notfound"),
    create("in no namespace", "/api/v1/namespaces/nons/pods", pod("p1"), recorded="no ns"),
    create("invalid", "pods", {"metadata": {"name": "X_"}, "spec": {"containers": []}}, recorded="invalid", since="1.29"),
    create("an unknown field, refused", "pods?fieldValidation=Strict",
           {"metadata": {"name": "u"}, "spec": {"foo": 1, "containers": [{"name": "c", "image": "b"}]}},
           recorded="unknown strict", since="1.27"),
    create("a generated name", "pods?dryRun=All", {**pod("x"), "metadata": {"generateName": "g-"}}, recorded="generateName"),
    get("as a table", "pods/p1", headers=TABLE, look=lambda reply: [row["cells"][:4] for row in reply.body["rows"]]),
    patch("labels and status", "pods/p1/status", {"metadata": {"labels": {"s": "1"}}, "status": {
        "conditions": [{"type": "PodScheduled", "status": "False", "reason": "Unschedulable", "message": "m"}]}},
        "strategic", recorded="patch status"),
    put("of an old revision", "pods/p1", {**pod("p1", 1), "metadata": {"name": "p1", "resourceVersion": "$rv"}},
        recorded="conflict"),
    patch("its status by the main door", "pods/p1", {"status": {"phase": "Failed"}}, look=lambda reply: reply.at("status.phase")),
    patch("an image", "pods/p1", {"spec": {"containers": [{"name": "c", "image": "other"}]}}, "strategic"),
    patch("a command", "pods/p1", {"spec": {"containers": [{"name": "c", "command": ["x"]}]}}, "strategic",
          look=lambda reply: [reply.at("reason"), reply.at("details.causes.0.field"), reply.at("message")[:110]]),
    patch("a shorter end", "pods/p1", {"spec": {"activeDeadlineSeconds": 60}}),
    patch("a longer one", "pods/p1", {"spec": {"activeDeadlineSeconds": 90}},
          look=lambda reply: [reply.code, reply.at("details.causes.0.field")]),
    get("an empty log", "pods/p1/log"),
    get("the log of nobody", "pods/p9/log"),
    delete("of another uid", "pods/p1", {"preconditions": {"uid": "zz"}}, recorded="delete uid precond"),
    create("another", "pods", pod("p"), recorded="p"),
    delete("unbound", "pods/p", recorded="del unbound"),
    get("is gone", "pods/p", recorded="get"),
    create("to an unknown subresource", "pods/p1/dance", {}),
    put("to the collection", "pods", pod("p1"), recorded="bad method"),
])

REFUSED = {
    "no containers": pod("r", containers=[]),
    "no spec": {"metadata": {"name": "r"}},
    "a container without a name": pod("r", containers=[{"image": "b"}]),
    "a container without an image": pod("r", containers=[{"name": "c"}]),
    "a bad name of a container": pod("r", containers=[{"name": "C_", "image": "b"}]),
    "two containers of a name": pod("r", containers=[{"name": "c", "image": "b"}, {"name": "c", "image": "b"}]),
    "a restart policy": pod("r", restartPolicy="Sometimes"),
    "a DNS policy": pod("r", dnsPolicy="Sometimes"),
    "a pull policy": changed(pod("r"), imagePullPolicy="Sometimes"),
    "a deadline of nothing": pod("r", activeDeadlineSeconds=0),
    "a negative grace": pod("r", terminationGracePeriodSeconds=-1),
    "GPUs asked and none allowed": changed(pod("r"), **asking(requests={GPU: "1"})),
    "more asked than allowed": changed(pod("r"), **asking(requests={"cpu": "2"}, limits={"cpu": "1"})),
    "more GPUs asked than allowed": changed(pod("r"), **asking(requests={GPU: "2"}, limits={GPU: "1"})),
    "half a GPU": changed(pod("r"), **asking(limits={GPU: "500m"})),
    "a negative amount": changed(pod("r"), **asking(limits={"cpu": "-1"})),
    "an amount that is none": changed(pod("r"), **asking(limits={"cpu": "lots"})),
    "a resource without a domain": changed(pod("r"), **asking(limits={"gpu": "1"})),
    "an environment without a name": changed(pod("r"), env=[{"value": "x"}]),
    "an environment with two values": changed(pod("r"), env=[{"name": "A", "value": "x", "valueFrom": {
        "fieldRef": {"fieldPath": "metadata.name"}}}]),
    "a port too high": changed(pod("r"), ports=[{"containerPort": 70000}]),
    "a mount of no volume": changed(pod("r"), volumeMounts=[{"name": "v", "mountPath": "/v"}]),
    "a toleration": pod("r", tolerations=[{"key": "a", "operator": "Maybe"}]),
    "a toleration of all with a value": pod("r", tolerations=[{"key": "a", "operator": "Exists", "value": "x"}]),
    "a node selector": pod("r", nodeSelector={"a b": "c"}),
    "a priority class that is not there": pod("r", priorityClassName="none"),
    "a priority by hand": pod("r", priority=1000),
    "a bad node": pod("r", nodeName="Not Good"),
    "an affinity without terms": pod("r", affinity={"nodeAffinity": {
        "requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": []}}}),
    "a bad operator of an affinity": pod("r", affinity={"nodeAffinity": {
        "requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [
            {"matchExpressions": [{"key": "a", "operator": "Near", "values": ["b"]}]}]}}}),
}
ACCEPTED = {
    "amounts written oddly": changed(pod("a"), **asking(limits={"cpu": "0.5", "memory": "1024Mi"}, requests={"cpu": "100m"})),
    "an environment": changed(pod("a"), env=[{"name": "A", "value": "1"}], command=["x"], args=["y"]),
    "ports": changed(pod("a"), ports=[{"containerPort": 80, "name": "http"}]),
    "a tag that is not the newest": changed(pod("a"), image="b:1.2"),
    "guaranteed": changed(pod("a"), **asking(limits={"cpu": "1", "memory": "1Gi"})),
    "volumes": changed(pod("a", volumes=[{"name": "v", "emptyDir": {}}]), volumeMounts=[{"name": "v", "mountPath": "/v"}]),
    "tolerations": pod("a", tolerations=[{"key": "a", "operator": "Equal", "value": "b", "effect": "NoSchedule"}]),
    "first containers": pod("a", initContainers=[{"name": "i", "image": "b"}]),
    "a node by name": pod("a", nodeName="n9"),
}
BODIES = Story("bodies of pods", [
    *[create(f"refused: {name}", "pods?dryRun=All", body) for name, body in REFUSED.items()],
    *[create(f"taken: {name}", "pods?dryRun=All", body) for name, body in ACCEPTED.items()],
])

CAPACITY = {"cpu": "16", "memory": "64Gi", GPU: "8", "pods": "110"}

BINDINGS = Story("bindings", [
    create("a node", "/api/v1/nodes", {"metadata": {"name": "n1"}, "status": {"capacity": CAPACITY, "allocatable": CAPACITY}},
           recorded="node"),
    create("a pod", "pods", pod("p1", 1, {"app": "a"}), keep={"uid": "metadata.uid"}),
    create("of another uid", "pods/p1/binding", binding("p1", uid="xx"), recorded="bind bad uid", since="1.22"),
    create("to a thing that is no node", "pods/p1/binding", {"target": {"kind": "Pod", "name": "n1"}, "metadata": {"name": "p1"}}),
    create("to nothing", "pods/p1/binding", {"target": {}, "metadata": {"name": "p1"}}),
    create("of another name", "pods/p1/binding", binding("p2")),
    create("done", "pods/p1/binding", binding("p1", uid="$uid", annotations={"a/b": "c", DEVICES: "0"},
                                               labels={"topology.kubernetes.io/zone": "z1"}), recorded="bind"),
    get("what came of it", "pods/p1", recorded="after bind", look=lambda reply: [
        reply.at("metadata"), reply.at("spec.nodeName"), reply.at("status")]),
    create("again", "pods/p1/binding", binding("p1"), recorded="bind again"),
    create("of a pod that is not there", "pods/zz/binding", binding("zz"), recorded="bind missing pod"),
    create("in the other way", "bindings", binding("zz")),
    patch("the node of a bound pod", "pods/p1", {"spec": {"nodeName": "n2"}},
          look=lambda reply: [reply.code, reply.at("details.causes.0.field")]),
    get("pods of the node", "pods?fieldSelector=spec.nodeName%3Dn1", recorded="fieldsel ok"),
    create("gated", "pods", pod("pg", 1, {"app": "a"}, schedulingGates=[{"name": "a.b/c"}]), recorded="gated", since="1.27"),
    get("says so", "pods/pg", look=lambda reply: reply.at("status"), recorded="gated status", since="1.27"),
    create("of a gated pod", "pods/pg/binding", binding("pg"), recorded="bind gated", since="1.27"),
    patch("a gate more", "pods/pg", [{"op": "add", "path": "/spec/schedulingGates/-", "value": {"name": "d.e/f"}}], "json",
          since="1.27", look=lambda reply: [reply.code, reply.at("details.causes.0.field")]),
    patch("ungated", "pods/pg", [{"op": "remove", "path": "/spec/schedulingGates"}], "json", recorded="ungate json patch",
          since="1.27"),
    create("to a node that is not there", "pods/pg/binding", binding("pg", "nowhere", annotations={DEVICES: "0"}), recorded="bind to missing node",
           since="1.27"),
    patch("of a bound pod, its amounts", "pods/pg", {"spec": {"containers": [
        {"name": "c", "resources": {"limits": {GPU: "2"}}}]}}, "strategic", since="1.27",
        recorded="change immut"),
    delete("gracefully", "pods/p1", recorded="delete graceful", keep={"rv": "metadata.resourceVersion"}),
    delete("again", "pods/p1"),
    delete("with less time", "pods/p1?gracePeriodSeconds=5", look=lambda reply: [
        reply.at("metadata.deletionGracePeriodSeconds"), reply.at("metadata.generation")]),
    patch("nothing brings it back", "pods/p1", {"metadata": {"deletionTimestamp": None}},
          look=lambda reply: bool(reply.at("metadata.deletionTimestamp"))),
    delete("by force", "pods/p1?gracePeriodSeconds=0", recorded="delete force"),
    get("is gone", "pods/p1"),
    get("watched in the old way", "/api/v1/watch/namespaces/$ns/pods?timeoutSeconds=1", since="1.27",
        recorded="watch /api/v1/watch/namespaces/default/pods?timeoutSeconds=1"),
    watch("from the beginning", f"pods?sendInitialEvents=true&{INITIAL}", since="1.32",
          recorded=f"watch /api/v1/pods?watch=true&sendInitialEvents=true&{INITIAL}&timeoutSeconds=2"),
    delete("with a negative time", "pods/pg?gracePeriodSeconds=-5", since="1.27", look=lambda reply: reply.code),
    patch("the node closes", "/api/v1/nodes/n1", {"spec": {"unschedulable": True}}, "strategic",
          look=lambda reply: reply.at("spec.unschedulable")),
    patch("the node's status", "/api/v1/nodes/n1/status", {"status": {"conditions": [
        {"type": "Ready", "status": "True", "reason": "Up", "message": "m"}]}}, "strategic",
        look=lambda reply: [each for each in reply.at("status.conditions") if each["type"] == "Ready"]),
    patch("a taint", "/api/v1/nodes/n1", {"spec": {"taints": [{"key": "k", "effect": "Perhaps"}]}}, "strategic"),
    patch("two taints alike", "/api/v1/nodes/n1", {"spec": {"taints": [{"key": "k", "effect": "NoSchedule"}] * 2}}),
    delete("the node", "/api/v1/nodes/n1"),
])


def eviction(name):
    return {"apiVersion": "policy/v1", "kind": "Eviction", "metadata": {"name": name}}


EVICTIONS = Story("evictions", [
    create("a pod", "pods", pod("p2", labels={"app": "a"})),
    create("of a pod that waits", "pods/p2/eviction", eviction("p2"), recorded="evict"),
    create("of a pod that is not there", "pods/p9/eviction", eviction("p9")),
    create("a pod that runs", "pods", pod("p3", labels={"app": "b"})),
    create("bound", "pods/p3/binding", binding("p3", "n7")),
    patch("running", "pods/p3/status", {"status": {"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}]}},
          "strategic", look=lambda reply: reply.at("status.phase")),
    create("a budget", "policy/v1:poddisruptionbudgets", {"metadata": {"name": "d"}, "spec": {
        "minAvailable": 1, "selector": {"matchLabels": {"app": "b"}}}}, recorded="pdb"),
    get("is counted", "policy/v1:poddisruptionbudgets/d", until=lambda reply: reply.at("status.currentHealthy") == 1,
        look=lambda reply: [reply.at(f"status.{name}") for name in (
            "currentHealthy", "desiredHealthy", "disruptionsAllowed", "expectedPods")]),
    create("against the budget", "pods/p3/eviction", eviction("p3"), recorded="evict PDB"),
    create("another budget, of both", "policy/v1:poddisruptionbudgets", {"metadata": {"name": "e"}, "spec": {
        "minAvailable": 1, "maxUnavailable": 1}}),
    create("a budget with a percentage that is none", "policy/v1:poddisruptionbudgets", {"metadata": {"name": "e"}, "spec": {
        "minAvailable": "half"}}),
    delete("the pod", "pods/p3?gracePeriodSeconds=0", look=lambda reply: None),
], since="1.22")

def gpus(reply, of):
    return (reply.at(f"status.{of}") or {}).get(f"requests.{GPU}")


QUOTAS = Story("quotas", [
    create("one", "resourcequotas", {"metadata": {"name": "q"}, "spec": {"hard": {f"requests.{GPU}": "1", "count/configmaps": "9"}}},
           recorded="quota"),
    get("is counted", "resourcequotas/q", until=lambda reply: f"requests.{GPU}" in (reply.at("status.used") or {}),
        look=lambda reply: reply.at("spec")),
    create("within", "pods", pod("p1", 1), look=lambda reply: reply.code),
    create("beyond", "pods", pod("p7", 1)),
    create("a pod that asks for nothing of it", "pods", pod("p8"), look=lambda reply: reply.code),
    get("what is used", "resourcequotas/q", look=lambda reply: gpus(reply, "used")),
    delete("the pod", "pods/p1", look=lambda reply: reply.code),
    get("is given back", "resourcequotas/q", until=lambda reply: gpus(reply, "used") == "0",
        look=lambda reply: gpus(reply, "used")),
    patch("nothing left to give", "resourcequotas/q", {"spec": {"hard": {f"requests.{GPU}": "0"}}}, look=lambda reply: reply.code),
    get("is counted again", "resourcequotas/q", until=lambda reply: gpus(reply, "hard") == "0",
        look=lambda reply: reply.at("status.hard")),
    create("too much", "pods", pod("p7", 1), recorded="quota exceed"),
    create("of what must be asked for", "resourcequotas", {"metadata": {"name": "r"}, "spec": {"hard": {"requests.cpu": "1"}}}),
    get("counted", "resourcequotas/r", until=lambda reply: reply.at("status.used"), look=lambda reply: reply.at("status")),
    create("and is not", "pods", pod("p9")),
    create("of nonsense", "resourcequotas", {"metadata": {"name": "s"}, "spec": {"hard": {"bananas": "1"}}}),
    create("of a negative amount", "resourcequotas", {"metadata": {"name": "s"}, "spec": {"hard": {"pods": "-1"}}}),
])


def limits(name, **item):
    return {"metadata": {"name": name}, "spec": {"limits": [{"type": "Container", **item}]}}


LIMITS = Story("limits", [
    create("defaults", "limitranges", limits("l", default={"cpu": "2"}, defaultRequest={"cpu": "500m"}, max={"cpu": "4"},
                                            min={"cpu": "100m"})),
    # A real server learns of it after a moment.
    create("are given", "pods?dryRun=All", pod("p"), until=lambda reply: reply.at("spec.containers.0.resources.limits")),
    create("too much", "pods", changed(pod("p"), **asking(limits={"cpu": "5"}))),
    create("too little", "pods", changed(pod("p"), **asking(limits={"cpu": "50m"}))),
    create("a default above the most", "limitranges", limits("m", default={"cpu": "2"}, max={"cpu": "1"})),
    create("a least above the most", "limitranges", limits("m", min={"cpu": "2"}, max={"cpu": "1"})),
    create("of a strange type", "limitranges", {"metadata": {"name": "m"}, "spec": {"limits": [{"type": "Shelf"}]}}),
    create("of a pod with defaults", "limitranges", {"metadata": {"name": "m"}, "spec": {
        "limits": [{"type": "Pod", "default": {"cpu": "1"}}]}}),
])

PRIORITIES = Story("priorities", [
    create("one", SCHEDULING, {"metadata": {"name": "high"}, "value": 1000, "description": "d"}),
    create("a pod of it", "pods?dryRun=All", pod("p", priorityClassName="high"),
           until=lambda reply: reply.code == 201),
    create("too high", SCHEDULING, {"metadata": {"name": "top"}, "value": 2000000000}),
    create("of a name of the system's", SCHEDULING, {"metadata": {"name": "system-x"}, "value": 1}),
    create("that preempts sometimes", SCHEDULING, {"metadata": {"name": "p"}, "value": 1, "preemptionPolicy": "Sometimes"}),
    patch("keeps its value", f"{SCHEDULING}/high", {"value": 5}),
    get("of the system", f"{SCHEDULING}/system-node-critical"),
    delete("goes", f"{SCHEDULING}/high"),
])


def job(name, **spec):
    return {"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": name}, "spec": {
        "template": {"spec": {"restartPolicy": "Never", "schedulerName": "ours", "containers": [{"name": "c", "image": "b"}]}},
        **spec}}


def suspended(name):
    made = job(name, suspend=True, parallelism=2, completions=2, managedBy="ours.io/jobs")
    del made["spec"]["template"]["spec"]["schedulerName"]
    return made


def templated(name, **pod_spec):
    made = job(name)
    made["spec"]["template"]["spec"].update(pod_spec)
    return made


JOBS = Story("jobs", [
    create("one that waits", "batch/v1:jobs", suspended("j1"), since="1.32", recorded="job"),
    patch("where its pods may go", "batch/v1:jobs/j1", {"spec": {"template": {"spec": {"nodeSelector": {"a": "b"}}}}},
          "strategic", since="1.32", recorded="job mutate template while suspended"),
    patch("its image stays", "batch/v1:jobs/j1", {"spec": {"template": {"spec": {"containers": [
        {"name": "c", "image": "zz"}]}}}}, "strategic", since="1.32", recorded="job image change"),
    patch("large annotations", "batch/v1:jobs/j1", {"metadata": {"annotations": {"a": "x" * 262145}}}, since="1.32",
          recorded="big annot"),
    create("one of no pods", "batch/v1:jobs", job("j0", parallelism=0)),
    get("its status", "batch/v1:jobs/j0/status", look=lambda reply: reply.at("kind")),
    patch("more pods", "batch/v1:jobs/j0", {"spec": {"parallelism": 1, "backoffLimit": 2}},
          look=lambda reply: [reply.at("spec.parallelism"), reply.at("spec.backoffLimit"), reply.at("metadata.generation")]),
    get("its pod", "pods?labelSelector=job-name%3Dj0", until=lambda reply: reply.body["items"], look=lambda reply: [
        {name: value for name, value in each["metadata"].items() if name in ("labels", "ownerReferences", "generateName")}
        for each in reply.body["items"]]),
    patch("another image", "batch/v1:jobs/j0", {"spec": {"template": {"spec": {"containers": [
        {"name": "c", "image": "zz"}]}}}}, "strategic",
        look=lambda reply: [reply.code, reply.at("details"), reply.at("message")[:70]]
        if reply.code == 200 else [reply.code, reply.at("details.name"), reply.at("details.group"), reply.at("details.kind"),
                                   reply.at("details.causes.0.field"), reply.at("message")[-20:]]),
    patch("another completion", "batch/v1:jobs/j0", {"spec": {"completions": 5}}),
    delete("with its pods", "batch/v1:jobs/j0", {"propagationPolicy": "Background"}),
    get("which go", "pods?labelSelector=job-name%3Dj0", until=lambda reply: not reply.body["items"], look=names),
    create("that restarts always", "batch/v1:jobs", templated("j", restartPolicy="Always")),
    create("without a restart policy", "batch/v1:jobs", {"metadata": {"name": "j"}, "spec": {"template": {"spec": {
        "containers": [{"name": "c", "image": "b"}]}}}}),
    create("without a template", "batch/v1:jobs", {"metadata": {"name": "j"}, "spec": {}}),
    create("with a selector of its own", "batch/v1:jobs", job("j", selector={"matchLabels": {"a": "b"}})),
    create("of fewer than none", "batch/v1:jobs", job("j", parallelism=-1, completions=-1, backoffLimit=-1)),
    create("with a deadline of less than nothing", "batch/v1:jobs", job("j", activeDeadlineSeconds=-1)),
    create("indexed without a number", "batch/v1:jobs", job("j", completionMode="Indexed"), since="1.24"),
    create("that is finished", "batch/v1:jobs", job("j5", completions=0), look=lambda reply: reply.at("spec.completions")),
    # A newer server first says that it will be.
    get("is complete", "batch/v1:jobs/j5",
        until=lambda reply: any(each["type"] == "Complete" for each in reply.at("status.conditions") or []),
        look=lambda reply: [{name: each[name] for name in ("type", "status")} for each in reply.at("status.conditions") or []
                            if each["type"] == "Complete"]),
    patch("the status of one", "batch/v1:jobs/j5/status", {"status": {"active": 3}}, look=lambda reply: reply.code,
          since="1.24"),
    create("large annotations", "batch/v1:jobs", {**job("j"), "metadata": {"name": "j", "annotations": {"a": "x" * 262145}}}),
    create("a large body", "batch/v1:jobs", {**job("j"), "metadata": {"name": "j", "annotations": {"a": "x" * 3145729}}},
           recorded="big body"),
    watch("of jobs", "batch/v1:jobs?fieldSelector=metadata.name%3Dnone"),
])

STORIES = [PODS, BODIES, BINDINGS, EVICTIONS, QUOTAS, LIMITS, PRIORITIES, JOBS]
