"""What a server says of itself, how it lists and watches, and whom it lets in."""

from replies.script import TABLE, Story, columns, create, delete, get, patch, put, watch

AGGREGATED = {"Accept": "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"}

# {path of a list: the name of the recorded line of its columns}
TABLES = ["api/v1/pods", "api/v1/nodes", "api/v1/namespaces", "api/v1/resourcequotas", "api/v1/events", "api/v1/configmaps",
          "apis/batch/v1/jobs", "apis/scheduling.k8s.io/v1/priorityclasses", "apis/coordination.k8s.io/v1/leases"]
OTHER_TABLES = ["api/v1/secrets", "api/v1/serviceaccounts", "api/v1/limitranges", "apis/rbac.authorization.k8s.io/v1/roles",
                "apis/rbac.authorization.k8s.io/v1/clusterroles", "apis/rbac.authorization.k8s.io/v1/rolebindings",
                "apis/rbac.authorization.k8s.io/v1/clusterrolebindings"]
SERVED = ("namespaces", "nodes", "pods", "events", "configmaps", "secrets", "serviceaccounts", "resourcequotas",
          "limitranges", "poddisruptionbudgets", "priorityclasses", "leases", "jobs", "roles", "rolebindings", "clusterroles",
          "clusterrolebindings", "tokenreviews", "subjectaccessreviews", "selfsubjectaccessreviews",
          "localsubjectaccessreviews", "selfsubjectrulesreviews")
NOT_OURS = ("pods/attach", "pods/exec", "pods/portforward", "pods/proxy", "nodes/proxy", "serviceaccounts/token",
            "namespaces/finalize", "pods/ephemeralcontainers", "pods/resize")


def resources(reply):
    """Of an APIResourceList: what both serve; storage hashes are each server's own."""
    body = dict(reply.body)
    body["resources"] = {each["name"]: {name: value for name, value in each.items() if name != "storageVersionHash"}
                         for each in body["resources"]
                         if each["name"].split("/")[0] in SERVED and each["name"] not in NOT_OURS}
    return body


def group_names(reply):
    """Of an APIGroupList: Berth's groups of Kubernetes, and their preferred versions where these are v1."""
    ours = ("batch", "policy", "scheduling.k8s.io", "coordination.k8s.io", "rbac.authorization.k8s.io",
            "authorization.k8s.io", "authentication.k8s.io", "events.k8s.io")
    return {each["name"]: "v1" in [version["version"] for version in each["versions"]]
            for each in reply.body["groups"] if each["name"] in ours}


def policy_group(reply):
    """Of the aggregated discovery, all there is of one group."""
    return [each for each in reply.body["items"] if each["metadata"].get("name") == "policy"]


def names(reply):
    return sorted(each["metadata"]["name"] for each in reply.body["items"]) if "items" in reply.body else reply.body


def page(reply):
    """The names on a page, and what its metadata says of the rest."""
    if "items" not in reply.body:
        return reply.body
    said = {name: value for name, value in reply.body["metadata"].items() if name not in ("resourceVersion", "selfLink")}
    return {"names": names(reply), "metadata": said}


def config(name, labels=None, data=None):
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name, **({"labels": labels} if labels else {})},
            **({"data": data} if data else {})}


DISCOVERY = Story("discovery", [
    get("version has these fields", "/version", look=lambda reply: sorted(reply.body)),
    get("core versions", "/api", look=lambda reply: [reply.body.get("kind"), reply.body.get("versions")]),
    get("groups", "/apis", look=group_names),
    get("core resources", "/api/v1", look=resources),
    get("batch resources", "/apis/batch/v1", look=resources),
    get("scheduling resources", "/apis/scheduling.k8s.io/v1", look=resources),
    get("lease resources", "/apis/coordination.k8s.io/v1", look=resources),
    get("rbac resources", "/apis/rbac.authorization.k8s.io/v1", look=resources),
    get("authorization resources", "/apis/authorization.k8s.io/v1", look=resources),
    get("event resources", "/apis/events.k8s.io/v1", look=resources),
    get("policy resources", "/apis/policy/v1", look=resources, since="1.21"),
    get("a group", "/apis/coordination.k8s.io", look=lambda reply: reply.body["preferredVersion"]),
    get("an unknown group", "/apis/nobody.example.com", recorded="bad group"),
    get("a list of an unknown group", "/apis/nobody.example.com/v1/things"),
    get("an unknown version", "/apis/batch/v7/jobs"),
    get("aggregated discovery", "/apis", headers=AGGREGATED, look=policy_group, recorded="agg", since="1.30"),
    get("an unknown path", "/nothing"),
    get("health", "/healthz"), get("liveness", "/livez"), get("readiness", "/readyz"),
    *[get(f"columns of {path.rpartition('/')[2]}", f"/{path}", headers=TABLE, look=columns, recorded=path)
      for path in TABLES],
    get("columns of poddisruptionbudgets", "/apis/policy/v1/poddisruptionbudgets", headers=TABLE, look=columns,
        recorded="apis/policy/v1/poddisruptionbudgets", since="1.21"),
    *[get(f"columns of {path.rpartition('/')[2]}", f"/{path}", headers=TABLE, look=columns) for path in OTHER_TABLES],
])

SELECTORS = {"equal": "app%3Da", "not equal": "app%21%3Da", "in": "app%20in%20%28a%2Cb%29", "not in": "app%20notin%20%28a%29",
             "exists": "tier", "absent": "%21tier", "both": "app%3Da%2Ctier", "nonsense": "app%3D%3D%3Da", "a bad key": "_x%3D1",
             "unclosed": "app%20in%20%28a"}
FIELDS = {"name": "metadata.name%3Dc1", "not that name": "metadata.name%21%3Dc1", "namespace": "metadata.namespace%3Dlists",
          "unknown field": "data.a%3D1", "nonsense": "metadata.name"}

LISTS = Story("lists", [
    create("c1", "configmaps", config("c1", {"app": "a"})),
    create("c2", "configmaps", config("c2", {"app": "b", "tier": "x"})),
    create("c3", "configmaps", config("c3")),
    *[get(f"labels: {name}", f"configmaps?labelSelector={text}&fieldSelector=metadata.name%21%3Dkube-root-ca.crt", look=names)
      for name, text in SELECTORS.items()],
    *[get(f"fields: {name}", f"configmaps?fieldSelector={text}&labelSelector=app", look=names) for name, text in FIELDS.items()],
    get("fields of pods: unknown", "pods?fieldSelector=spec.foo%3Dx", recorded="fieldsel bad"),
    get("fields of pods: node", "pods?fieldSelector=spec.nodeName%3Dn1", look=names),
    get("fields of pods: phase", "pods?fieldSelector=status.phase%21%3DRunning", look=names),
    get("first page", "configmaps?limit=2", look=page, keep={"more": "metadata.continue"}),
    get("second page", "configmaps?limit=2&continue=$more", look=page),
    get("a page of selected ones does not tell the rest", "configmaps?limit=1&labelSelector=app", look=page),
    get("a mark that is none", "configmaps?limit=2&continue=abc"),
    get("a mark with a revision", "configmaps?limit=2&continue=$more&resourceVersion=5"),
    get("a limit that is none", "configmaps?limit=x"),
    get("a revision that is none", "configmaps?resourceVersion=x"),
    get("a revision to come", "configmaps?resourceVersion=999999999", recorded="rv too large", seen=("retry-after",)),
    get("a match without a revision", "configmaps?resourceVersionMatch=Exact"),
    get("an unknown match", "configmaps?resourceVersion=1&resourceVersionMatch=Nearly"),
    get("an exact match of zero", "configmaps?resourceVersion=0&resourceVersionMatch=Exact"),
    get("no older than zero", "configmaps?resourceVersion=0&resourceVersionMatch=NotOlderThan&labelSelector=app", look=names),
    get("a whole list", "configmaps?labelSelector=app"),
    get("an empty list", "secrets?labelSelector=none"),
    get("a list of a namespace that does not exist", "/api/v1/namespaces/nons/configmaps"),
    get("a table with rows", "configmaps?labelSelector=app", headers=TABLE),
    get("a table of one", "configmaps/c1", headers=TABLE),
    get("a table with whole objects", "configmaps?labelSelector=app&includeObject=Object", headers=TABLE),
    get("a table with nothing of objects", "configmaps?labelSelector=app&includeObject=None", headers=TABLE),
    get("a table with what is unknown", "configmaps?labelSelector=app&includeObject=All", headers=TABLE),
    get("metadata only", "configmaps?labelSelector=app", recorded="list 2page",
        headers={"Accept": "application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io"}),
    get("metadata of one", "configmaps/c1",
        headers={"Accept": "application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io"}),
    get("a form that is unknown", "configmaps", headers={"Accept": "application/json;as=Poem;v=v1;g=meta.k8s.io"}),
    get("a media type that is unknown", "configmaps", headers={"Accept": "text/html"}, recorded="bad accept"),
    get("any media type", "configmaps/c1", headers={"Accept": "*/*"}),
    delete("a collection of selected ones", "configmaps?labelSelector=app", look=lambda reply: None),
    get("is gone", "configmaps?labelSelector=app", look=names),
])

WATCHES = Story("watches", [
    create("c1", "configmaps", config("c1", {"w": "1"}), keep={"began": "metadata.resourceVersion"}),
    patch("c1 changes", "configmaps/c1", {"data": {"a": "1"}}),
    patch("c1 leaves the selection", "configmaps/c1", {"metadata": {"labels": {"w": "2"}}}),
    patch("c1 comes back", "configmaps/c1", {"metadata": {"labels": {"w": "1"}}}),
    create("c2", "configmaps", config("c2", {"w": "1"})),
    delete("c2 goes", "configmaps/c2"),
    watch("from the start", "configmaps?labelSelector=w%3D1"),
    watch("from zero", "configmaps?labelSelector=w%3D1&resourceVersion=0"),
    watch("from a revision", "configmaps?labelSelector=w%3D1&resourceVersion=$began"),
    watch("from a revision, all labels", "configmaps?labelSelector=w&resourceVersion=$began"),
    watch("one name", "configmaps?fieldSelector=metadata.name%3Dc2&resourceVersion=$began"),
    watch("in the old way", "/api/v1/watch/namespaces/$ns/configmaps?labelSelector=w&timeoutSeconds=1"),
    watch("one in the old way", "/api/v1/watch/namespaces/$ns/configmaps/c1?timeoutSeconds=1"),
    watch("as a table", "configmaps?labelSelector=w&resourceVersion=$began", headers=TABLE),
    watch("as metadata", "configmaps?labelSelector=w", headers={
        "Accept": "application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io"}),
    watch("with initial events", "configmaps?labelSelector=w&sendInitialEvents=true&resourceVersionMatch=NotOlderThan"
          "&allowWatchBookmarks=true", since="1.32"),
    watch("initial events need a match", "configmaps?sendInitialEvents=true", since="1.32",
          recorded="watch /api/v1/pods?watch=true&sendInitialEvents=true&timeoutSeconds=2"),
    watch("a match needs initial events", "configmaps?resourceVersionMatch=NotOlderThan", since="1.32"),
    watch("from what is to come", "configmaps?resourceVersion=99999999",
          recorded="watch /api/v1/pods?watch=true&resourceVersion=99999999&timeoutSeconds=2"),
    watch("from nonsense", "configmaps?resourceVersion=x"),
    watch("with a selector that is none", "configmaps?labelSelector=a%3D%3D%3Db"),
    watch("of one object by name", "configmaps/c1"),
])


def access(verb, resource, group="", name_space="$ns"):
    return {"apiVersion": "authorization.k8s.io/v1", "kind": "SelfSubjectAccessReview", "spec": {
        "resourceAttributes": {"verb": verb, "resource": resource, "group": group, "namespace": name_space}}}


def verdict(reply):
    """Why is said in each server's words."""
    return {name: value for name, value in (reply.at("status") or reply.body).items() if name != "reason"}


ROLE = {"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "Role", "metadata": {"name": "reader"}, "rules": [
    {"apiGroups": [""], "resources": ["configmaps"], "verbs": ["get", "list"]}]}
BINDING = {"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "RoleBinding", "metadata": {"name": "alice-reads"},
           "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": "reader"},
           "subjects": [{"kind": "User", "name": "alice", "apiGroup": "rbac.authorization.k8s.io"}]}
RBAC = "rbac.authorization.k8s.io/v1"
REVIEWS = "/apis/authorization.k8s.io/v1"

PERMISSIONS = Story("permissions", [
    get("nobody lists", "configmaps", user="nobody"),
    get("nobody asks for the version", "/version", user="nobody", look=lambda reply: None),
    get("a wrong token", "configmaps", user="nobody", headers={"Authorization": "Bearer wrong"}),
    get("alice lists", "configmaps", user="alice"),
    get("alice gets", "configmaps/c", user="alice"),
    get("alice lists nodes", "/api/v1/nodes", user="alice"),
    get("alice lists everywhere", "/api/v1/pods", user="alice"),
    get("alice gets jobs", "batch/v1:jobs/j", user="alice"),
    create("alice creates", "configmaps", {"metadata": {"name": "c"}}, user="alice"),
    get("alice reads a log", "pods/p/log", user="alice"),
    get("alice asks for what is not served", "/apis/nobody.example.com/v1/things", user="alice"),
    get("alice asks for another path", "/metrics", user="alice"),
    create("a role", f"{RBAC}:roles", ROLE),
    create("a role with a rule that says nothing", f"{RBAC}:roles", {**ROLE, "metadata": {"name": "r"}, "rules": [{}]}),
    create("a role with a rule about nothing", f"{RBAC}:roles",
           {**ROLE, "metadata": {"name": "r"}, "rules": [{"verbs": ["get"]}]}),
    create("a role about paths", f"{RBAC}:roles",
           {**ROLE, "metadata": {"name": "r"}, "rules": [{"verbs": ["get"], "nonResourceURLs": ["/x"]}]}),
    create("a binding", f"{RBAC}:rolebindings", BINDING),
    create("a binding to nothing", f"{RBAC}:rolebindings", {**BINDING, "metadata": {"name": "b"}, "roleRef": {}}),
    create("a binding to another kind", f"{RBAC}:rolebindings", {**BINDING, "metadata": {"name": "b"}, "roleRef": {
        "apiGroup": "rbac.authorization.k8s.io", "kind": "Queue", "name": "x"}}),
    create("a binding of a strange subject", f"{RBAC}:rolebindings", {**BINDING, "metadata": {"name": "b"}, "subjects": [
        {"kind": "Robot", "name": "x"}]}),
    create("a binding of an account without a namespace", f"{RBAC}:rolebindings", {
        **BINDING, "metadata": {"name": "b"}, "subjects": [{"kind": "ServiceAccount", "name": "x"}]}),
    patch("a binding keeps its role", f"{RBAC}:rolebindings/alice-reads", {"roleRef": {"name": "other"}}),
    get("now alice lists", "configmaps?labelSelector=app", user="alice", until=lambda reply: reply.code == 200),
    create("alice may list", f"{REVIEWS}/selfsubjectaccessreviews", access("list", "configmaps"), user="alice", look=verdict),
    create("alice may not delete", f"{REVIEWS}/selfsubjectaccessreviews", access("delete", "configmaps"), user="alice",
           look=verdict),
    create("alice may not make a stronger role", f"{RBAC}:roles", {**ROLE, "metadata": {"name": "r"}}, user="alice"),
    create("a review of someone", f"{REVIEWS}/subjectaccessreviews", {"spec": {
        "user": "alice", "resourceAttributes": {"verb": "get", "resource": "configmaps", "namespace": "$ns"}}}, look=verdict),
    create("a review of nobody", f"{REVIEWS}/subjectaccessreviews", {"spec": {
        "resourceAttributes": {"verb": "get", "resource": "configmaps", "namespace": "$ns"}}}),
    create("a review of nothing", f"{REVIEWS}/selfsubjectaccessreviews", {"spec": {}}),
    create("a token", "/apis/authentication.k8s.io/v1/tokenreviews", {"spec": {"token": "alice-token"}},
           look=lambda reply: reply.at("status")),
    create("a token that is none", "/apis/authentication.k8s.io/v1/tokenreviews", {"spec": {"token": "x"}},
           look=lambda reply: reply.at("status.authenticated")),
    get("as alice", "configmaps?labelSelector=app", headers={"Impersonate-User": "alice"}, look=names),
    get("alice as bob", "configmaps", headers={"Impersonate-User": "bob"}, user="alice"),
    delete("a role goes", f"{RBAC}:roles/reader"),
])

STORIES = [DISCOVERY, LISTS, WATCHES, PERMISSIONS]
