"""What becomes of objects that nobody runs: writing, refusals, patches, applies, deletions."""

from replies.script import Story, create, delete, get, patch, put
from replies.stories_server import config, names

YAML = {"Content-Type": "application/yaml"}
LONG = "x" * 64
SCHEDULING = "/apis/scheduling.k8s.io/v1/priorityclasses"


def queried(name, path, body, query, **more):
    return create(name, f"{path}?{query}", body, **more)


WRITING = Story("writing", [
    create("an object", "configmaps", config("c1", data={"a": "1"}), recorded="cm",
           keep={"rv": "metadata.resourceVersion", "uid": "metadata.uid"}),
    create("the same again", "configmaps", config("c1")),
    get("which is there", "configmaps/c1"),
    get("what is not there", "configmaps/nope"),
    create("without kind and version", "configmaps", {"metadata": {"name": "bare"}}),
    create("another kind", "configmaps", {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "c"}}),
    create("another version", "configmaps", {"apiVersion": "v2", "kind": "ConfigMap", "metadata": {"name": "c"}}),
    create("another namespace", "configmaps", {"metadata": {"name": "c", "namespace": "other"}}),
    create("a namespace that does not exist", "/api/v1/namespaces/nons/configmaps", config("c"), recorded="no ns"),
    create("without a name", "configmaps", {"metadata": {}}),
    create("a bad name", "configmaps", config("Not_Good")),
    create("a long name", "configmaps", config("x" * 254)),
    create("with a revision", "configmaps", {"metadata": {"name": "c", "resourceVersion": "5"}}, recorded="create with RV"),
    create("a generated name", "configmaps", {"metadata": {"generateName": "g-"}}),
    create("a bad label", "configmaps", config("c", {"a b": "c"})),
    create("a bad value of a label", "configmaps", config("c", {"a": LONG})),
    create("a bad annotation", "configmaps", {"metadata": {"name": "c", "annotations": {"/": "x"}}}),
    create("large annotations", "configmaps", {"metadata": {"name": "c", "annotations": {"a": "x" * 262145}}}),
    create("a bad finalizer", "configmaps", {"metadata": {"name": "c", "finalizers": ["nobody"]}}),
    create("an owner without a name", "configmaps", {"metadata": {"name": "c", "ownerReferences": [
        {"apiVersion": "v1", "kind": "Pod", "name": "", "uid": "x"}]}}),
    create("two controllers", "configmaps", {"metadata": {"name": "c", "ownerReferences": [
        {"apiVersion": "v1", "kind": "Pod", "name": each, "uid": each, "controller": True} for each in "ab"]}}),
    create("a bad key of data", "configmaps", config("c", data={"a b": "1"})),
    create("the same key twice", "configmaps", {"metadata": {"name": "c"}, "data": {"a": "1"}, "binaryData": {"a": "YQ=="}}),
    create("a number where a text belongs", "configmaps", {"metadata": {"name": "c"}, "data": {"a": 1}}),
    create("no JSON", "configmaps", "{"),
    create("nothing", "configmaps", ""),
    create("a list", "configmaps", "[]"),
    create("a type of content that is unknown", "configmaps", "x", headers={"Content-Type": "text/plain"}, recorded="bad ct"),
    create("YAML", "configmaps", "metadata: {name: yaml}\ndata: {a: 'yes'}\n", headers=YAML),
    create("YAML that is none", "configmaps", "a: [", headers=YAML),
    put("a replacement", "configmaps/c1", config("c1", data={"a": "2"}), recorded="PUT no RV cm"),
    put("of an old revision", "configmaps/c1", {**config("c1"), "metadata": {"name": "c1", "resourceVersion": "$rv"}}),
    put("of another uid", "configmaps/c1", {**config("c1"), "metadata": {"name": "c1", "uid": "other"}}),
    put("of another name", "configmaps/c1", config("c2")),
    put("of what is absent", "configmaps/zzz", config("zzz"), recorded="PUT absent"),
    put("of a name in the URL alone", "configmaps/c1", {"data": {"a": "3"}}),
    create("to one object", "configmaps/c1", config("c1")),
    put("to the list", "configmaps", config("c1")),
    delete("a path that is only read", "/version"),
    create("an unknown resource", "things", {"metadata": {"name": "x"}}),
    get("an unknown subresource", "configmaps/c1/status"),
    get("an unknown resource of the core", "/api/v1/foos", recorded="bad resource"),
    create("made immutable", "configmaps", {"metadata": {"name": "fixed"}, "data": {"a": "1"}, "immutable": True}),
    patch("what is immutable stays", "configmaps/fixed", {"data": {"a": "2"}}),
    patch("and stays immutable", "configmaps/fixed", {"immutable": False}),
    queried("a dry run", "configmaps", config("dry"), "dryRun=All"),
    get("leaves nothing", "configmaps/dry"),
    queried("a dry run of another kind", "configmaps", config("dry"), "dryRun=Some"),
    queried("an unknown field, warned of", "configmaps", {**config("w1"), "spec": 1}, "fieldValidation=Warn",
            seen=("warning",), since="1.27"),
    queried("an unknown field, refused", "configmaps", {**config("w2"), "spec": 1}, "fieldValidation=Strict", since="1.27"),
    queried("an unknown field, ignored", "configmaps", {**config("w3"), "spec": 1}, "fieldValidation=Ignore",
            seen=("warning",), since="1.27"),
    queried("a field twice, refused", "configmaps", '{"metadata":{"name":"w4"},"data":{"a":"1","a":"2"}}',
            "fieldValidation=Strict", since="1.27"),
    queried("a validation that is unknown", "configmaps", config("w5"), "fieldValidation=Often", since="1.27"),
])

PATCHES = Story("patches", [
    create("an object", "configmaps", config("c", {"l": "1"}, {"a": "1", "b": "2"}), keep={"rv": "metadata.resourceVersion"}),
    patch("merged", "configmaps/c", {"data": {"a": None, "c": "3"}}),
    patch("merged, nothing new", "configmaps/c", {"data": {"c": "3"}}),
    patch("merged, an old revision", "configmaps/c", {"metadata": {"resourceVersion": "$rv"}, "data": {"z": "1"}}),
    patch("merged, no JSON", "configmaps/c", "{"),
    patch("merged, a list", "configmaps/c", "[1]"),
    patch("merged, another name", "configmaps/c", {"metadata": {"name": "d"}}),
    patch("merged, another namespace", "configmaps/c", {"metadata": {"namespace": "d"}}),
    patch("merged, another uid", "configmaps/c", {"metadata": {"uid": "d"}}),
    patch("merged, a number for a text", "configmaps/c", {"data": {"a": 5}}),
    patch("merged, a bad label", "configmaps/c", {"metadata": {"labels": {"a": "b c"}}}),
    patch("merged, absent", "configmaps/zzz", {"data": {"a": "1"}}),
    patch("operations", "configmaps/c", [{"op": "add", "path": "/data/j", "value": "1"}, {"op": "remove", "path": "/data/b"},
                                         {"op": "replace", "path": "/data/c", "value": "4"},
                                         {"op": "copy", "from": "/data/j", "path": "/data/k"},
                                         {"op": "move", "from": "/data/k", "path": "/data/m"},
                                         {"op": "test", "path": "/data/m", "value": "1"}], "json"),
    patch("operations, a test that fails", "configmaps/c", [{"op": "test", "path": "/data/m", "value": "9"}], "json"),
    patch("operations, nothing to remove", "configmaps/c", [{"op": "remove", "path": "/data/none"}], "json"),
    patch("operations, nothing to replace", "configmaps/c", [{"op": "replace", "path": "/data/none", "value": "1"}], "json"),
    patch("operations, no such operation", "configmaps/c", [{"op": "turn", "path": "/data/a"}], "json"),
    patch("operations, an object", "configmaps/c", {"op": "add"}, "json"),
    patch("operations, an escaped path", "configmaps/c", [
        {"op": "add", "path": "/metadata/annotations", "value": {}},
        {"op": "add", "path": "/metadata/annotations/example.com~1a", "value": "1"}], "json"),
    patch("strategic", "configmaps/c", {"data": {"s": "1"}}, "strategic"),
    patch("strategic, an object replaced", "configmaps/c", {"data": {"$patch": "replace", "only": "1"}}, "strategic"),
    patch("strategic, an object deleted", "configmaps/c", {"data": {"$patch": "delete"}}, "strategic"),
    patch("strategic, no such word", "configmaps/c", {"data": {"$patch": "burn"}}, "strategic"),
    patch("strategic, a finalizer", "configmaps/c", {"metadata": {"finalizers": ["a.b/c"]}}, "strategic"),
    patch("strategic, one more", "configmaps/c", {"metadata": {"finalizers": ["d.e/f"]}}, "strategic"),
    patch("strategic, one less", "configmaps/c", {"metadata": {"$deleteFromPrimitiveList/finalizers": ["a.b/c"]}}, "strategic"),
    patch("strategic, none", "configmaps/c", {"metadata": {"finalizers": None}}, "strategic"),
    patch("of an unknown type", "configmaps/c", {}, headers={"Content-Type": "application/json"}),
    patch("to a list", "configmaps", {}),
    patch("a dry run", "configmaps/c?dryRun=All", {"data": {"dry": "1"}}),
    patch("forced without an apply", "configmaps/c?force=true", {"data": {"f": "1"}}),
    get("what came of it", "configmaps/c"),
])

APPLIED = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "c"}, "data": {"a": "1", "b": "2"}}


def applied(data, **more):
    return {**APPLIED, "data": data, **more}


APPLIES = Story("applies", [
    patch("without a manager", "configmaps/c", APPLIED, "apply"),
    patch("a new object", "configmaps/c?fieldManager=one", APPLIED, "apply"),
    patch("the same again", "configmaps/c?fieldManager=one", APPLIED, "apply"),
    patch("a field taken back", "configmaps/c?fieldManager=one", applied({"a": "1"}), "apply"),
    patch("another's field of the same value", "configmaps/c?fieldManager=two", applied({"a": "1"}), "apply"),
    patch("a conflict", "configmaps/c?fieldManager=two", applied({"a": "2"}), "apply"),
    patch("two conflicts", "configmaps/c?fieldManager=three", applied({"a": "3", "b": "1"}), "apply"),
    patch("forced", "configmaps/c?fieldManager=two&force=true", applied({"a": "2"}), "apply"),
    patch("a plain change takes the field", "configmaps/c?fieldManager=hand", {"data": {"a": "5"}}),
    patch("a conflict with a plain change", "configmaps/c?fieldManager=two", applied({"a": "2"}), "apply"),
    patch("a field that nobody wants goes", "configmaps/c?fieldManager=two&force=true", applied({}), "apply"),
    patch("without a kind", "configmaps/c?fieldManager=one", {"metadata": {"name": "c"}}, "apply"),
    patch("of another name", "configmaps/c?fieldManager=one", {**APPLIED, "metadata": {"name": "d"}}, "apply"),
    patch("with managed fields", "configmaps/c?fieldManager=one",
          {**APPLIED, "metadata": {"name": "c", "managedFields": [{"manager": "x"}]}}, "apply"),
    patch("as YAML", "configmaps/y?fieldManager=one", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: y}\ndata: {a: b}\n", "apply"),
    patch("no YAML", "configmaps/y?fieldManager=one", "a: [", "apply"),
    patch("of what is unknown", "configmaps/y?fieldManager=one", {**APPLIED, "metadata": {"name": "y"}, "spec": {"x": 1}}, "apply"),
    patch("force that is none", "configmaps/c?fieldManager=one&force=perhaps", APPLIED, "apply"),
    patch("a long manager", f"configmaps/c?fieldManager={'m' * 129}", APPLIED, "apply"),
    patch("a dry run", "configmaps/dry?fieldManager=one&dryRun=All", {**APPLIED, "metadata": {"name": "dry"}}, "apply"),
    get("leaves nothing", "configmaps/dry"),
    get("who has what", "configmaps/c"),
])

OWNER = {"apiVersion": "v1", "kind": "ConfigMap", "name": "owner", "uid": "$uid"}


def owned(name, **more):
    return {"metadata": {"name": name, "ownerReferences": [{**OWNER, **more}]}}


DELETIONS = Story("deletions", [
    delete("what is absent", "configmaps/none"),
    create("an object", "configmaps", config("c"), keep={"rv": "metadata.resourceVersion"}),
    delete("of another uid", "configmaps/c", {"preconditions": {"uid": "zz"}}),
    delete("of another revision", "configmaps/c", {"preconditions": {"resourceVersion": "1"}}),
    delete("a policy that is none", "configmaps/c", {"propagationPolicy": "Perhaps"}),
    delete("two policies", "configmaps/c", {"propagationPolicy": "Orphan", "orphanDependents": True}),
    delete("a dry run", "configmaps/c?dryRun=All"),
    delete("no JSON", "configmaps/c", "{"),
    delete("of this revision", "configmaps/c", {"preconditions": {"resourceVersion": "$rv"}}),
    get("is gone", "configmaps/c"),
    create("to be held", "configmaps", config("c")),
    patch("by a finalizer", "configmaps/c", {"metadata": {"finalizers": ["a.b/c"]}}, recorded="fin"),
    delete("is only marked", "configmaps/c", recorded="del"),
    delete("again", "configmaps/c"),
    patch("no finalizer can be added", "configmaps/c", {"metadata": {"finalizers": ["a.b/c", "d.e/f"]}},
          recorded="add fin after"),
    patch("data can", "configmaps/c", {"data": {"a": "1"}}),
    patch("the last finalizer", "configmaps/c", {"metadata": {"finalizers": None}}),
    get("is gone now", "configmaps/c"),
    create("an owner", "configmaps", config("owner"), keep={"uid": "metadata.uid"}),
    create("what it owns", "configmaps", owned("owned")),
    delete("the owner", "configmaps/owner"),
    get("what it owned goes", "configmaps/owned", until=lambda reply: reply.code == 404),
    create("an owner to be orphaned", "configmaps", config("owner"), keep={"uid": "metadata.uid"}),
    create("what will be left", "configmaps", owned("left")),
    delete("the owner alone", "configmaps/owner", {"propagationPolicy": "Orphan"}),
    get("goes", "configmaps/owner", until=lambda reply: reply.code == 404),
    get("what it owned is nobody's", "configmaps/left", look=lambda reply: reply.at("metadata.ownerReferences")),
    create("an owner that waits", "configmaps", config("owner"), keep={"uid": "metadata.uid"}),
    create("what goes first", "configmaps", owned("first", blockOwnerDeletion=True)),
    delete("from below", "configmaps/owner", {"propagationPolicy": "Foreground"}, look=lambda reply: [
        reply.at("metadata.finalizers"), reply.at("metadata.deletionGracePeriodSeconds")]),
    get("the owner goes", "configmaps/owner", until=lambda reply: reply.code == 404),
    get("after what it owned", "configmaps/first"),
    create("owned by nobody there", "configmaps", owned("stray", uid="11111111-2222-3333-4444-555555555555")),
    get("goes too", "configmaps/stray", until=lambda reply: reply.code == 404),
    create("a priority class", SCHEDULING, {"metadata": {"name": "pp"}, "value": 5}, recorded="delete pc"),
    delete("is told as a success", f"{SCHEDULING}/pp", recorded="delete pc#2"),
    delete("a collection with a selector that is none", "configmaps?labelSelector=a%3D%3D%3Db"),
])

NAMESPACES = Story("namespaces", [
    create("one", "/api/v1/namespaces", {"metadata": {"name": "other-namespace"}}),
    create("one with a bad name", "/api/v1/namespaces", {"metadata": {"name": "a.b"}}),
    get("is active", "/api/v1/namespaces/other-namespace"),
    create("something in it", "/api/v1/namespaces/other-namespace/configmaps", config("c")),
    create("something that stays", "/api/v1/namespaces/other-namespace/configmaps", {
        "metadata": {"name": "held", "finalizers": ["a.b/c"]}}),
    delete("goes", "/api/v1/namespaces/other-namespace"),
    create("takes nothing any more", "/api/v1/namespaces/other-namespace/configmaps", config("d")),
    get("waits for what stays", "/api/v1/namespaces/other-namespace/configmaps?labelSelector=!x", look=names,
        until=lambda reply: names(reply) == ["held"]),
    patch("lets it go", "/api/v1/namespaces/other-namespace/configmaps/held", {"metadata": {"finalizers": None}}),
    get("is gone", "/api/v1/namespaces/other-namespace", until=lambda reply: reply.code == 404),
    delete("default cannot go", "/api/v1/namespaces/default"),
    delete("nor what is absent", "/api/v1/namespaces/never-there"),
])

SECRETS = Story("secrets", [
    create("of texts", "secrets", {"metadata": {"name": "s"}, "stringData": {"a": "1"}, "data": {"b": "Mg=="}}),
    create("of bad base64", "secrets", {"metadata": {"name": "t"}, "data": {"b": "*"}}),
    patch("keeps its type", "secrets/s", {"type": "other"}),
    patch("texts are added", "secrets/s", {"stringData": {"c": "3"}}),
    create("for a registry, incomplete", "secrets", {"metadata": {"name": "r"}, "type": "kubernetes.io/dockerconfigjson"}),
    create("for TLS, incomplete", "secrets", {"metadata": {"name": "tls"}, "type": "kubernetes.io/tls"}),
    create("an account", "serviceaccounts", {"metadata": {"name": "robot"}}),
])

LEASE = {"metadata": {"name": "l"}, "spec": {"holderIdentity": "me", "leaseDurationSeconds": 15,
                                           "renewTime": "2026-01-01T00:00:00.000000Z"}}

LEASES = Story("leases", [
    create("one", "coordination.k8s.io/v1:leases", LEASE, keep={"rv": "metadata.resourceVersion"}, recorded="lease"),
    put("without a revision", "coordination.k8s.io/v1:leases/l", LEASE, recorded="PUT no RV lease"),
    put("with it", "coordination.k8s.io/v1:leases/l", {**LEASE, "metadata": {"name": "l", "resourceVersion": "$rv"}}),
    put("with an old one", "coordination.k8s.io/v1:leases/l", {**LEASE, "metadata": {"name": "l", "resourceVersion": "1"}}),
    create("of no length", "coordination.k8s.io/v1:leases", {"metadata": {"name": "m"}, "spec": {"leaseDurationSeconds": 0}}),
    create("with a bad time", "coordination.k8s.io/v1:leases", {"metadata": {"name": "m"}, "spec": {"renewTime": "noon"}}),
])

EVENT = {"metadata": {"name": "e"}, "involvedObject": {"kind": "Pod", "namespace": "$ns", "name": "p", "apiVersion": "v1"},
         "reason": "R", "message": "M", "type": "Normal", "source": {"component": "c"},
         "firstTimestamp": "2026-01-01T00:00:00Z", "lastTimestamp": "2026-01-01T00:00:00Z", "count": 1}
NEWER = {"metadata": {"name": "n"}, "regarding": {"kind": "Pod", "namespace": "$ns", "name": "p"}, "reason": "R", "note": "N",
         "type": "Normal", "action": "A", "eventTime": "2026-01-01T00:00:00.000000Z", "reportingController": "ours.io/sched",
         "reportingInstance": "i"}

EVENTS = Story("events", [
    create("one", "events", EVENT),
    get("seen in the newer way", "events.k8s.io/v1:events/e"),
    create("of another namespace", "events", {**EVENT, "metadata": {"name": "x"},
                                              "involvedObject": {"kind": "Pod", "namespace": "other", "name": "p"}}),
    create("in the newer way", "events.k8s.io/v1:events", NEWER),
    create("with a generated name", "events.k8s.io/v1:events", {**NEWER, "metadata": {"generateName": "e-"}}, recorded="ev ok"),
    get("seen in the older way", "events/n"),
    create("incomplete", "events.k8s.io/v1:events", {
        "metadata": {"generateName": "e-"}, "reportingController": "ours.io/sched", "reportingInstance": "i", "reason": "R",
        "action": "A", "regarding": NEWER["regarding"]}, recorded="ev missing"),
    create("with nothing", "events.k8s.io/v1:events", {"metadata": {"name": "t"}}),
    create("of a strange type", "events.k8s.io/v1:events", {**NEWER, "metadata": {"name": "t"}, "type": "Odd"}),
    get("selected", "events?fieldSelector=involvedObject.name%3Dp%2Creason%3DR", look=names),
    patch("a later count", "events/e", {"count": 2}),
])

STORIES = [WRITING, PATCHES, APPLIES, DELETIONS, NAMESPACES, SECRETS, LEASES, EVENTS]
