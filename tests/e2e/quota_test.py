#!/usr/bin/env python3
"""Quotas through kubectl: who borrows, who takes back, who has to go and when.

    tests/e2e/quota_test.py [--berth PROGRAM] [--kubectl 1.29] [STORY...]
"""

import json
import re
import sys
import time
from pathlib import Path

import harness
from stories import Stage, expect, main

NODES = "2xH100x8"


def queue(name, gpus=None, **spec):
    if gpus is not None:
        spec["guarantee"] = {"h100": gpus}
    spec.setdefault("order", "fifo")
    return {"apiVersion": "berth.dev/v1alpha1", "kind": "Queue", "metadata": {"name": name}, "spec": spec}


def job(name, queue_name, gpus, pods=1, run="10m", grace=30, **more):
    annotations = {"berth.dev/run-for": run, **more.pop("annotations", {})}
    spec = {"restartPolicy": "Never", "terminationGracePeriodSeconds": grace, **more,
            "containers": [{"name": "c", "image": "busybox", "resources": {"limits": {"nvidia.com/gpu": gpus}}}]}
    return {"apiVersion": "batch/v1", "kind": "Job",
            "metadata": {"name": name, "labels": {"berth.dev/queue": queue_name}, "annotations": annotations},
            "spec": {"parallelism": pods, "completions": pods, "backoffLimit": 0,
                     "template": {"metadata": {"labels": {"app": name}}, "spec": spec}}}


class QuotaStage(Stage):
    def phases(self, name):
        return sorted(pod["status"].get("phase", "?") for pod in self.get(f"pods -l app={name}")["items"]
                      if "deletionTimestamp" not in pod["metadata"])

    def wait_running(self, name, pods=1, seconds=40):
        self.wait(lambda: self.phases(name) == ["Running"] * pods, f"{name} running", seconds)

    def wait_pending(self, name, seconds=40):
        self.wait(lambda: set(self.phases(name)) == {"Pending"}, f"{name} waiting", seconds)

    def status(self, name):
        return self.get(f"queue {name}").get("status", {})

    def events(self, reason):
        return [event for event in self.get("events")["items"] if event["reason"] == reason]

    def evicted(self, rule, name):
        """The Evicted events of a Job, by that rule."""
        return [event for event in self.events("Evicted")
                if event["message"].startswith(rule + ": ") and event["involvedObject"]["name"] == name]

    def clear(self):
        self.plane.must("delete jobs,pdb --all --now", limit_s=120)
        self.wait(lambda: not self.get("pods")["items"], "all pods gone", 60)
        queues = [item for item in self.get("queues")["items"] if item["metadata"]["name"] != "default"]
        for below in (True, False):  # children before their parents
            names = [item["metadata"]["name"] for item in queues if ("parent" in item["spec"]) == below]
            if names:
                self.plane.must(["delete", "queue", *names])
        kueue = "clusterqueues,localqueues,resourceflavors.kueue.x-k8s.io,workloadpriorityclasses"
        self.plane.must(f"delete {kueue} --all")
        self.plane.must("delete events --all")


def two_teams(stage):
    """The classic: one borrows what the other leaves idle, and gives it back when it is asked to."""
    stage.apply(queue("product", 8), queue("research", 8))
    stage.apply(job("own", "research", 8))
    stage.wait_running("own")
    stage.apply(job("borrowed", "research", 8))
    stage.wait_running("borrowed")
    stage.wait(lambda: stage.status("research").get("borrowed") == {"h100": "8"}, "research is seen to borrow 8")
    shares = stage.berth("share")
    expect(re.search(r"research +h100:8 +h100:16 +h100:8 +h100:8 +- +1 +1/2 +50.0 % +0 +-", shares), f"shares are not told: {shares}")
    parts = json.loads(stage.berth("share research -o json"))["items"][0]["shareParts"]
    expect(parts[0]["above"] == {"h100": "8"} and parts[0]["capacity"] == {"h100": "16"}, f"made of {parts}")
    expect("borrowed: it may have to leave within 60 s" in stage.plane.must("describe pods -l app=borrowed"),
           "the borrower was not told how soon it may have to leave")
    expect("guaranteed against everyone" in stage.plane.must("describe pods -l app=own"), "the owner was not told")
    stage.apply(job("mine", "product", 8))
    stage.wait_running("mine")
    stage.wait_pending("borrowed")
    expect(stage.phases("own") == ["Running"], "what is inside its floor was taken")
    stage.wait(lambda: stage.evicted("reclaim", "borrowed"), "the Job is told who took its room")
    expect("failed" not in stage.get("job borrowed")["status"], "an eviction was counted as a failure")
    stage.wait(lambda: "borrowed" not in stage.status("research"), "nothing is borrowed any more")
    told = stage.berth("explain job/borrowed", 7)
    expect(re.search(r"place +the first of its line", told), f"its place is not told: {told}")
    expect(re.search(r"lost +\S+ ago, reclaim: its room goes to default/mine-\S+ of queue 'product'", told),
           f"who took its room is not told: {told}")
    told = stage.berth("explain job/mine")
    expect(re.search(r"took +\S+ ago, reclaim: takes the room of default/borrowed-\S+ of queue research, 8 GPUs", told),
           f"whose room it took is not told: {told}")
    stage.plane.must("delete job mine --now", limit_s=60)
    stage.wait_running("borrowed")


def a_cohort(stage):
    """A pool protects those in it against everyone outside, and not against the sibling that owns it."""
    stage.apply(queue("org", 16), queue("vision", 8, parent="org"), queue("speech", parent="org"), queue("guest"))
    stage.apply(job("guest", "guest", 8))
    stage.wait_running("guest")
    stage.apply(job("pool", "speech", 8))
    stage.wait_running("pool")
    stage.apply(job("more", "speech", 8))
    stage.wait_running("more")
    stage.wait_pending("guest")
    stage.wait(lambda: stage.evicted("reclaim", "guest"), "the guest is reclaimed from")
    stage.apply(job("floor", "vision", 8))
    stage.wait_running("floor")
    stage.wait(lambda: any(stage.evicted("reclaim", name) for name in ("pool", "more")), "the Job is told who took its room")
    went = [name for name in ("pool", "more") if stage.evicted("reclaim", name)]
    expect(len(went) == 1, f"one of speech had to go, not {went}")
    stage.wait(lambda: stage.status("org").get("used") == {"h100": "16"}, "the parent counts its children's use")


def a_higher_priority(stage):
    """The cheaper victim goes: the one whose work is safe; and it is given the time that it asks."""
    stage.plane.must("create priorityclass urgent --value=1000")
    stage.apply(queue("team"))
    for name in ("saved", "unsaved"):
        stage.apply(job(name, "team", 8, annotations={"berth.dev/stop-after": "3s"}))
        stage.wait_running(name)
    time.sleep(2)
    now = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
    stage.plane.must(["annotate", "pods", "-l", "app=saved", f"berth.dev/checkpoint={now}"])
    time.sleep(2)
    stage.apply(job("fix", "team", 8, priorityClassName="urgent"))
    stage.wait(lambda: stage.evicted("preempt", "saved"), "the saved one has to go")
    told = time.monotonic()
    stage.wait_running("fix")
    expect(time.monotonic() - told > 1.5, "it was not given the time to stop")
    expect(stage.phases("unsaved") == ["Running"], "the work that nobody wrote down was taken")
    stage.plane.must("delete priorityclass urgent")


def a_hostile_borrower(stage):
    """A budget that keeps all, a day of grace, a signal ignored: it goes within the lender's time."""
    stage.apply(queue("owner", 8, reclaimWithin="5s"), queue("hostile"))
    stage.apply({"apiVersion": "policy/v1", "kind": "PodDisruptionBudget", "metadata": {"name": "keep"},
                 "spec": {"maxUnavailable": 0, "selector": {"matchLabels": {"app": "grabber"}}}})
    stage.apply(job("grabber", "hostile", 8, pods=2, grace=86_400, annotations={"berth.dev/stop-after": "24h"}))
    stage.wait_running("grabber", 2)
    began = time.monotonic()
    stage.apply(job("mine", "owner", 8))
    stage.wait_running("mine")
    took = time.monotonic() - began
    expect(took > 3, f"it was gone after {took:.1f} s: its time was not left to it")
    stage.wait_pending("grabber")
    expect(stage.phases("mine") == ["Running"], "what came in its place took the room")
    stage.wait(lambda: stage.evicted("reclaim", "grabber"), "it is said why")


def a_limit(stage):
    """What a queue may hold at most, and why a pod waits beside idle GPUs."""
    stage.apply(queue("small", limit={"h100": 4}))
    stage.apply(job("fits", "small", 4))
    stage.wait_running("fits")
    stage.apply(job("waits", "small", 4))
    stage.wait(lambda: "QuotaLimit" in stage.plane.must("describe pods -l app=waits"), "the reason is the limit")
    stage.plane.must(["patch", "queue", "small", "--type=merge", "-p", '{"spec":{"limit":{"h100":8}}}'])
    stage.wait_running("waits")


KUEUE = "kueue.x-k8s.io/v1beta2"


def kueue_queue(name, **spec):
    """A ClusterQueue of 8 H100s in one cohort, and the LocalQueue of its name."""
    resources = [{"name": "cpu", "nominalQuota": 64}, {"name": "nvidia.com/gpu", "nominalQuota": 8}]
    groups = [{"coveredResources": ["cpu", "nvidia.com/gpu"], "flavors": [{"name": "h100", "resources": resources}]}]
    return [{"apiVersion": KUEUE, "kind": "ClusterQueue", "metadata": {"name": name},
             "spec": {"namespaceSelector": {}, "cohortName": "research", "resourceGroups": groups,
                      "preemption": {"reclaimWithinCohort": "Any", "withinClusterQueue": "LowerPriority"}, **spec}},
            {"apiVersion": KUEUE, "kind": "LocalQueue", "metadata": {"name": name, "namespace": "default"},
             "spec": {"clusterQueue": name}}]


def kueue_job(name, local_queue, gpus, **more):
    made = job(name, "", gpus, **more)
    made["metadata"]["labels"] = {"kueue.x-k8s.io/queue-name": local_queue}
    made["spec"]["suspend"] = True
    return made


def kueue_workload(stage, job_name):
    """Kueue's Workload of a Job; it comes a moment after its Job."""
    def owned():
        return [each for each in stage.get("workloads.kueue.x-k8s.io")["items"]
                if each["metadata"]["ownerReferences"][0]["name"] == job_name]

    stage.wait(owned, f"{job_name} has a Workload")
    expect(len(owned()) == 1, f"{job_name} has {len(owned())} Workloads")
    return owned()[0]


def kueues_queues(stage):
    """Kueue's queues, as its users write them: borrow in a cohort, give back, and the statuses that they read."""
    stage.apply({"apiVersion": KUEUE, "kind": "ResourceFlavor", "metadata": {"name": "h100"},
                 "spec": {"nodeLabels": {"nvidia.com/gpu.product": "H100"}}},
                {"apiVersion": KUEUE, "kind": "WorkloadPriorityClass", "metadata": {"name": "urgent"}, "value": 100},
                *kueue_queue("vision"), *kueue_queue("speech"))
    stage.plane.must("wait --for=condition=Active clusterqueue/vision localqueue/vision --timeout=20s")

    def usage(what, name, field="flavorsUsage"):
        flavors = stage.get(f"{what} {name}").get("status", {}).get(field, [])
        return {each["name"]: each for flavor in flavors for each in flavor["resources"]}.get("nvidia.com/gpu", {})

    stage.apply(kueue_job("own", "vision", 8))
    stage.wait_running("own")
    stage.wait(lambda: re.search("job-own-[0-9a-f]{5} +vision +vision +True ", stage.plane.must("get kwl")),
               "its Workload says that it is admitted")
    stage.apply(kueue_job("borrowed", "vision", 8))
    stage.wait_running("borrowed")
    stage.wait(lambda: usage("clusterqueue", "vision") == {"name": "nvidia.com/gpu", "total": "16", "borrowed": "8"},
               "the ClusterQueue is seen to borrow 8")
    stage.wait(lambda: usage("localqueue", "vision") == {"name": "nvidia.com/gpu", "total": "16"},
               "the LocalQueue's use is seen")
    expect(re.search(r"vision +research +0", stage.plane.must("get clusterqueues")), "the columns are Kueue's")
    expect("localqueue/vision" in stage.berth("jobs"), "berth jobs names the LocalQueue")
    stage.apply(kueue_job("mine", "speech", 8))
    stage.wait_running("mine")
    stage.wait_pending("borrowed")
    stage.wait(lambda: stage.evicted("reclaim", "borrowed"), "the Job is told who took its room")
    stage.wait(lambda: usage("clusterqueue", "vision").get("borrowed") == "0", "nothing is borrowed any more")
    taken = "job-borrowed-[0-9a-f]{5}"
    stage.wait(lambda: re.search(taken + r" +vision +False +", stage.plane.must("get kwl")), "its Workload waits again")
    told = {each["type"]: each for each in kueue_workload(stage, "borrowed")["status"]["conditions"]}
    expect(told["Preempted"]["reason"] == "InCohortReclamation" and "default/mine-" in told["Preempted"]["message"],
           f"its Workload does not say who took its room: {told}")
    expect(told["Requeued"]["status"] == "True" and told["QuotaReserved"]["reason"] == "Pending", f"it waits: {told}")

    def admission_of_mine():
        return kueue_workload(stage, "mine").get("status", {}).get("admission", {})

    stage.wait(admission_of_mine, "the Workload of who runs now says where it was admitted")
    admission = admission_of_mine()
    expect(admission["clusterQueue"] == "speech" and admission["podSetAssignments"][0]["count"] == 1
           and admission["podSetAssignments"][0]["flavors"]["nvidia.com/gpu"] == "h100", f"it holds {admission}")
    counts = ("pendingWorkloads", "reservingWorkloads", "admittedWorkloads")
    stage.wait(lambda: [stage.get("clusterqueue vision")["status"].get(each, 0) for each in counts] == [1, 1, 1],
               "one waits and one runs")

    # A priority reaches the whole ClusterQueue, and no further.
    urgent = kueue_job("urgent", "vision", 8)
    urgent["metadata"]["labels"]["kueue.x-k8s.io/priority-class"] = "urgent"
    stage.apply(urgent)
    stage.wait_running("urgent")
    stage.wait(lambda: stage.evicted("preempt", "own"), "the lower priority goes")
    expect(stage.phases("mine") == ["Running"], "a priority reached into another queue")

    # Held, as by stopPolicy; a LocalQueue that is not there.
    stage.plane.must(["patch", "clusterqueue", "speech", "--type=merge", "-p", '{"spec":{"stopPolicy":"Hold"}}'])
    stage.plane.must("wait --for=condition=Active=false clusterqueue/speech localqueue/speech --timeout=20s")
    stage.apply(kueue_job("lost", "nowhere", 1))
    stage.wait(lambda: "there is no LocalQueue 'nowhere'" in stage.plane.must("describe pods -l app=lost"),
               "the reason is the LocalQueue")
    stage.plane.must("delete job mine --now", limit_s=60)
    stage.apply(kueue_job("held", "speech", 1))
    stage.wait_pending("held")
    stage.plane.must(["patch", "clusterqueue", "speech", "--type=merge", "-p", '{"spec":{"stopPolicy":"None"}}'])
    stage.wait_running("held")

    # Stopped by its Workload, and let go.
    name = kueue_workload(stage, "held")["metadata"]["name"]
    stage.plane.must(["patch", "kwl", name, "--type=merge", "-p", '{"spec":{"active":false}}'])
    stage.plane.must(f"wait --for=condition=Evicted kwl/{name} --timeout=20s")
    stage.wait(lambda: stage.phases("held") == [], "it stops")
    stage.plane.must(["patch", "kwl", name, "--type=merge", "-p", '{"spec":{"active":true}}'])
    stage.wait_running("held")


def hours(text):
    return float(text)


def budget_of(stage, name):
    return stage.status(name).get("budget", {})


def a_budget(stage):
    """Who can be paid starts; the next one says how much is missing, the queue warns, and a grant lets it start."""
    # Four GPUs for two minutes are 0.134 GPU-hours.
    stage.apply(queue("paid", budget={"gpuHours": "0.3"}))
    for name in ("first", "second"):
        stage.apply(job(name, "paid", 4, activeDeadlineSeconds=120))
        stage.wait_running(name)
    stage.apply(job("third", "paid", 4, activeDeadlineSeconds=120))
    stage.wait(lambda: "Budget: queue paid has 0.033 GPU-hours left for it, and it may use 0.133 GPU-hours"
               in stage.plane.must("describe pods -l app=third"), "the pod says that the budget is too small")
    stage.wait(lambda: stage.events("FailedScheduling") and "Budget: " in stage.plane.must("describe job third"),
               "the Job says it too")
    stage.wait(lambda: "left of 300m" in stage.plane.must("get queue paid"), "the queue says what is left")
    stage.wait(lambda: "BudgetNearlyUsed" in stage.plane.must("describe queue paid"), "the queue warns")
    stage.wait(lambda: "are left" in stage.plane.must("describe queue paid").partition("Events:")[2], "an event warns, too")
    warns = [each for each in stage.status("paid")["conditions"] if each["type"] == "BudgetNearlyUsed"]
    expect(warns[0]["status"] == "True" and warns[0]["reason"] == "FourFifthsUsed", f"the condition says {warns}")
    expect(stage.phases("third") == ["Pending"], "it started without hours")
    grant = {"spec": {"budget": {"grants": [{"gpuHours": "0.2", "until": "2099-12-31T00:00:00Z"}]}}}
    stage.plane.must(["patch", "queue", "paid", "--type=merge", "-p", json.dumps(grant)])
    stage.wait_running("third")
    stage.apply(job("endless", "paid", 1))
    stage.wait(lambda: "activeDeadlineSeconds in the spec of its pods" in stage.plane.must("describe pods -l app=endless"),
               "who has no limit is told to set one")


def a_budget_outlives_its_scheduler(stage):
    """What was used is in the queue's status: a scheduler that is started anew, without any journal, goes on from there."""
    stage.apply(queue("paid", budget={"gpuHours": 1}))
    stage.apply(job("done", "paid", 8, run="4s", activeDeadlineSeconds=60))
    stage.plane.must("wait --for=condition=Complete job/done --timeout=40s")
    stage.apply(job("runs", "paid", 8, activeDeadlineSeconds=300))
    stage.wait_running("runs")
    stage.wait(lambda: hours(budget_of(stage, "paid").get("reserved", "0")) > 0.5, "the hours of who runs are reserved")
    before = budget_of(stage, "paid")
    expect(hours(before["used"]) > 0.008, f"4 s of 8 GPUs are not counted: {before}")
    [old] = [pid for pid, words in harness.children_of(stage.plane.process.pid).items() if "scheduler" in words]
    harness.kill_now(old)
    stage.wait(lambda: not Path(f"/proc/{old}").exists(), "the scheduler gone")
    for journal in stage.plane.data.rglob("*.journal"):
        journal.unlink(missing_ok=True)
    stage.wait(lambda: [pid for pid, words in harness.children_of(stage.plane.process.pid).items()
                        if "scheduler" in words and pid != old], "another scheduler")
    as_of = stage.status("paid")["asOf"]
    stage.wait(lambda: stage.status("paid").get("asOf", as_of) > as_of, "it has written the queue's status", 90)
    after = budget_of(stage, "paid")
    expect(hours(after["used"]) >= hours(before["used"]), f"hours were lost: {before} and then {after}")
    total = {when: hours(each["used"]) + hours(each["reserved"]) + hours(each["left"])
             for when, each in (("before", before), ("after", after))}
    expect(all(abs(sum_ - 1) < 0.01 for sum_ in total.values()), f"hours appeared from nowhere: {before}, {after}")
    expect(abs(hours(after["left"]) - hours(before["left"])) < 0.01, f"who runs was charged twice: {before}, {after}")


def a_window(stage):
    """By the clock a queue may hold more: its work starts at that minute."""
    opens = time.time() // 60 * 60 + 60
    if opens - time.time() < 8:
        opens += 60
    clock = [time.strftime("%H:%M", time.gmtime(opens + later)) for later in (0, 7200)]
    stage.apply(queue("nights", limit={"h100": 0}, windows=[{"from": clock[0], "to": clock[1], "limit": {"h100": 8}}]))
    stage.apply(job("night", "nights", 8))
    stage.wait(lambda: "QuotaLimit: " in stage.plane.must("describe pods -l app=night"), "by day it waits")
    stage.wait_running("night", seconds=opens - time.time() + 20)
    [pod] = stage.get("pods -l app=night")["items"]
    [bound] = [each["lastTransitionTime"] for each in pod["status"]["conditions"] if each["type"] == "PodScheduled"]
    due = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(opens))
    expect(due <= bound, f"it started at {bound}, before the window opened at {due}")
    late = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(opens + 5))
    expect(bound < late, f"it started at {bound}, and the window opened at {due}")


def a_users_limit(stage):
    """Who holds as much as one user may waits beside idle GPUs, and holds up nobody else."""
    stage.apply(queue("shared", userLimit={"h100": 4}))
    stage.apply(job("a1", "shared", 4))
    stage.wait_running("a1")
    stage.apply(job("a2", "shared", 4))
    stage.wait(lambda: "UserLimit: in queue shared user admin may hold 4 GPUs" in stage.plane.must("describe pods -l app=a2"),
               "the reason is the user's limit")
    stage.plane.must("apply --as=ann --as-group=system:masters -f -", text=json.dumps(job("b1", "shared", 4)))
    stage.wait_running("b1")
    expect(stage.phases("a2") == ["Pending"], "the limit was not kept")


def nodes_of_its_own(stage):
    """Where a node is a queue's own, others wait though it is idle; and start when it is no more."""
    stage.plane.must("label node h100-0001 rack=r1")
    stage.apply(queue("vault", 8, dedicated=[{"key": "rack", "value": "r1"}]), queue("others"))
    stage.apply(job("guest", "others", 8))
    stage.wait_running("guest")
    expect("h100-0002" in stage.plane.must("get pods -l app=guest -o wide"), "a guest got somebody's own node")
    stage.apply(job("more", "others", 8))
    stage.wait(lambda: "1 is kept for queue vault" in stage.plane.must("describe pods -l app=more"),
               "the reason is whose the node is")
    stage.apply(job("mine", "vault", 4))
    stage.wait_running("mine")
    expect("h100-0001" in stage.plane.must("get pods -l app=mine -o wide"), "it did not go to its own node first")
    stage.plane.must("delete job mine --now")
    stage.plane.must(["patch", "queue", "vault", "--type=merge", "-p", '{"spec":{"dedicated":null}}'])
    stage.wait_running("more")
    stage.plane.must("label node h100-0001 rack-")


STORIES = (two_teams, a_cohort, a_higher_priority, a_hostile_borrower, a_limit, a_budget, a_budget_outlives_its_scheduler,
           a_window, a_users_limit, nodes_of_its_own, kueues_queues)


if __name__ == "__main__":
    sys.exit(main("quotas", STORIES, NODES, QuotaStage, shown="pods,queues"))
