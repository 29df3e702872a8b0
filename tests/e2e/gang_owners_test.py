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
TRAINING = "training.kubeflow.org/"
KINDS = ("leaderworkersets", "pytorchjobs", "tfjobs", "mpijobs", "trainjobs", "rayclusters", "rayjobs")


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


# ---- Kubeflow --------------------------------------------------------------------------------------------------------------


def training_job(kind, replicas, version="v1", **spec):
    """`replicas`: of each sort how many; as manifests have it, with a template each."""
    field = {"PyTorchJob": "pytorchReplicaSpecs", "TFJob": "tfReplicaSpecs", "MPIJob": "mpiReplicaSpecs"}[kind]
    specs = {sort: {"replicas": count, "restartPolicy": "OnFailure", "template": template()} for sort, count in replicas.items()}
    return {"apiVersion": f"kubeflow.org/{version}", "kind": kind, "metadata": {"name": "train"}, "spec": {field: specs, **spec}}


def of_job(job, sort, index):
    made_by = "mpi-operator" if job["kind"] == "MPIJob" else job["kind"].lower() + "-controller"
    word = "job-role" if job["kind"] == "MPIJob" else "replica-type"
    return pod(f"train-{sort}-{index}", {TRAINING + "job-name": "train", TRAINING + "operator-name": made_by,
                                         TRAINING + word: sort, TRAINING + "replica-index": str(index)}, owner=job)


def an_elastic_pytorch_job(stage):
    """The master and as many workers as it needs start together, the other workers as there is room. Its pods go with it."""
    job, warned = stage.made(training_job("PyTorchJob", {"Master": 1, "Worker": 4}, elasticPolicy={"minReplicas": 2},
                                          runPolicy={"schedulingPolicy": {"priorityClass": "high"}}))
    expect("spec.runPolicy.schedulingPolicy.priorityClass is not followed: write it as priorityClassName" in warned, warned)
    stage.apply(*[of_job(job, "worker", i) for i in range(4)])
    stage.wait_why("train-worker-0", "^GangIncomplete: ")
    stage.apply(of_job(job, "master", 0))
    stage.wait(lambda: len(stage.names()) == 4, "the gang has its places, and one more")
    expect("train-master-0" in stage.names(), f"{stage.names()}")
    left = [name for name in (f"train-worker-{i}" for i in range(4)) if name not in stage.names()]
    stage.wait_why(left[0], "^Capacity: ")
    expect("pytorchjob-train" in stage.plane.must("get bwl"), "its Workload is there")
    stage.plane.must("patch pytorchjob train --type=merge --subresource=status -p "
                     '{"status":{"conditions":[{"type":"Created","status":"True"},{"type":"Running","status":"True"}]}}')
    shown = stage.plane.must("get pytorchjobs")
    expect(re.search(r"NAME +STATE +AGE", shown) and re.search(r"train +Running ", shown), shown)
    stage.plane.must("delete pytorchjob train")
    stage.wait(lambda: not stage.pods(), "its pods are gone", 60)


def a_job_of_tensorflow_in_a_queue_of_kueues(stage):
    """All of its replicas start together, in the LocalQueue that the job names and its pods do not."""
    wanted = training_job("TFJob", {"PS": 1, "Worker": 2})
    wanted["metadata"]["labels"] = {"kueue.x-k8s.io/queue-name": "main"}
    job, _ = stage.made(wanted)
    stage.apply(of_job(job, "ps", 0), of_job(job, "worker", 0), of_job(job, "worker", 1))
    stage.wait_why("train-ps-0", "^QueueUnknown: there is no LocalQueue 'main'")
    stage.apply({"apiVersion": "kueue.x-k8s.io/v1beta1", "kind": "ResourceFlavor", "metadata": {"name": "any"}},
                {"apiVersion": "kueue.x-k8s.io/v1beta1", "kind": "ClusterQueue", "metadata": {"name": "tf"},
                 "spec": {"namespaceSelector": {}, "resourceGroups": [
                     {"coveredResources": ["nvidia.com/gpu"],
                      "flavors": [{"name": "any", "resources": [{"name": "nvidia.com/gpu", "nominalQuota": 2}]}]}]}},
                {"apiVersion": "kueue.x-k8s.io/v1beta1", "kind": "LocalQueue", "metadata": {"name": "main"},
                 "spec": {"clusterQueue": "tf"}})
    stage.wait_why("train-ps-0", "clusterqueue/tf")
    expect(stage.names() == [], f"{stage.names()} began in part")
    stage.plane.must(["patch", "clusterqueue", "tf", "--type=json", "-p", json.dumps([
        {"op": "replace", "path": "/spec/resourceGroups/0/flavors/0/resources/0/nominalQuota", "value": 3}])])
    stage.wait(lambda: len(stage.names()) == 3, "with quota for all three they start")
    stage.plane.must("delete localqueue main")
    stage.plane.must("delete clusterqueue tf")
    stage.plane.must("delete resourceflavors.kueue.x-k8s.io any")


def a_launcher_that_waits_for_workers(stage):
    """The workers start together; the launcher, which a Job makes when they are ready, follows by itself."""
    job, _ = stage.made(training_job("MPIJob", {"Launcher": 1, "Worker": 3}, "v2beta1",
                                     launcherCreationPolicy="WaitForWorkersReady", slotsPerWorker=1))
    stage.apply(of_job(job, "worker", 0), of_job(job, "worker", 1))
    stage.wait_why("train-worker-0", r"^GangIncomplete: .*1 of 3 pods have not been created")
    stage.apply(of_job(job, "worker", 2))
    stage.wait(lambda: len(stage.names()) == 3, "the workers have their places")
    launcher = of_job(job, "launcher", 0)
    stage.apply({"apiVersion": "batch/v1", "kind": "Job",
                 "metadata": {"name": "train-launcher", "ownerReferences": launcher["metadata"]["ownerReferences"]},
                 "spec": {"template": {"metadata": {key: launcher["metadata"][key] for key in ("labels", "annotations")},
                                       "spec": launcher["spec"]}}})
    stage.wait(lambda: len(stage.names()) == 4, "the launcher follows")


def a_train_job(stage):
    """Kubeflow's trainer makes a JobSet of it, whose pods start together as those of any JobSet; it goes with the job."""
    job, _ = stage.made({"apiVersion": "trainer.kubeflow.org/v1alpha1", "kind": "TrainJob", "metadata": {"name": "tune"},
                         "spec": {"runtimeRef": {"name": "torch-distributed"}, "trainer": {"numNodes": 3}}})
    stage.apply(pod("filler-0", {}), pod("filler-1", {}))
    stage.wait(lambda: len(stage.names()) == 2, "the fillers have half of the fleet")
    made = pod("unused", {"trainer.kubeflow.org/trainjob-ancestor-step": "trainer"}, owner=job)
    node = {"metadata": {key: made["metadata"][key] for key in ("labels", "annotations")}, "spec": made["spec"]}
    stage.apply({"apiVersion": "jobset.x-k8s.io/v1alpha2", "kind": "JobSet",
                 "metadata": {"name": "tune", "ownerReferences": made["metadata"]["ownerReferences"]},
                 "spec": {"replicatedJobs": [{"name": "node", "replicas": 1, "template": {"spec": {
                     "parallelism": 3, "completions": 3, "completionMode": "Indexed", "template": node}}}]}})
    stage.wait(lambda: len(stage.pods()) == 5, "its three pods are there")
    waiting = [each["metadata"]["name"] for each in stage.pods() if each["metadata"]["name"].startswith("tune")]
    stage.wait_why(waiting[0], "^Capacity: ")
    expect(len(stage.names()) == 2, f"{stage.names()}: none of them began")
    stage.plane.must("delete pod filler-0 --now")
    stage.wait(lambda: len(stage.names()) == 4, "all three begin")
    expect(re.search(r"NAME +STATE +AGE", stage.plane.must("get trainjobs")), "it has its columns")
    stage.plane.must("delete trainjob tune")
    stage.wait(lambda: [each["metadata"]["name"] for each in stage.pods()] == ["filler-1"], "its pods are gone", 60)


# ---- Ray -------------------------------------------------------------------------------------------------------------------


def ray_cluster(replicas, least, **spec):
    return {"rayVersion": "2.46.0", "headGroupSpec": {"rayStartParams": {}, "template": template(0)},
            "workerGroupSpecs": [{"groupName": "gpu", "replicas": replicas, "minReplicas": least, "maxReplicas": 8,
                                  "rayStartParams": {}, "template": template()}], **spec}


def of_cluster(cluster, group, index):
    kind = "head" if group == "headgroup" else "worker"
    name = cluster["metadata"]["name"]
    return pod(f"{name}-{group}-{index}", {"ray.io/cluster": name, "ray.io/node-type": kind, "ray.io/group": group,
                                           "ray.io/is-ray-node": "yes", "ray.io/identifier": f"{name}-{kind}"},
               owner=cluster, gpus=0 if kind == "head" else 1)


def a_ray_cluster(stage):
    """The head and all workers of a cluster of fixed size start together; what is added afterwards, too."""
    cluster, _ = stage.made({"apiVersion": "ray.io/v1", "kind": "RayCluster", "metadata": {"name": "demo"},
                             "spec": ray_cluster(3, 0)})
    stage.apply(of_cluster(cluster, "headgroup", 0), *[of_cluster(cluster, "gpu", i) for i in range(2)])
    stage.wait_why("demo-headgroup-0", r"^GangIncomplete: .*1 of 4 pods have not been created")
    stage.apply(of_cluster(cluster, "gpu", 2))
    stage.wait(lambda: len(stage.names()) == 4, "the cluster has its places")
    shown = stage.plane.must("get rayclusters")
    expect(re.search(r"NAME +DESIRED WORKERS +AVAILABLE WORKERS +CPUS +MEMORY +GPUS +STATUS +AGE", shown), shown)
    os.kill(stage.plane.parts()["scheduler"], signal.SIGKILL)
    stage.plane.must(["patch", "raycluster", "demo", "--type=json", "-p", json.dumps([
        {"op": "replace", "path": "/spec/workerGroupSpecs/0/replicas", "value": 4}])])
    stage.apply(of_cluster(cluster, "gpu", 3))
    stage.wait(lambda: len(stage.names()) == 5, "one more has its place", 60)


def a_ray_job_that_grows(stage):
    """Its cluster starts with the workers that it keeps, and grows one by one; who submits to it is in no gang."""
    job, _ = stage.made({"apiVersion": "ray.io/v1", "kind": "RayJob", "metadata": {"name": "tune"},
                         "spec": {"entrypoint": "python tune.py", "rayClusterSpec": ray_cluster(4, 2)}})
    origin = {"ray.io/originated-from-cr-name": "tune", "ray.io/originated-from-crd": "RayJob"}
    submitter = pod("unused", origin, owner=job, gpus=0)
    wanted = {"apiVersion": "ray.io/v1", "kind": "RayCluster",
              "metadata": {"name": "tune-x1", "labels": origin, "ownerReferences": submitter["metadata"]["ownerReferences"]},
              "spec": ray_cluster(4, 2, enableInTreeAutoscaling=True)}
    cluster, _ = stage.made(wanted)
    stage.apply(pod("filler", {}), *[of_cluster(cluster, "gpu", i) for i in range(4)])
    stage.apply({"apiVersion": "batch/v1", "kind": "Job",
                 "metadata": {"name": "tune", "labels": origin, "ownerReferences": submitter["metadata"]["ownerReferences"]},
                 "spec": {"backoffLimit": 2, "template": {
                     "metadata": {key: submitter["metadata"][key] for key in ("labels", "annotations")},
                     "spec": submitter["spec"]}}})
    stage.wait(lambda: len(stage.names()) == 2 and "filler" in stage.names(), "who submits has a place, and no worker")
    stage.wait_why("tune-x1-gpu-0", "^GangIncomplete: ")
    stage.apply(of_cluster(cluster, "headgroup", 0))
    stage.wait(lambda: len(stage.names()) == 6, "the head, two workers that start with it, and one more")
    left = [name for name in (f"tune-x1-gpu-{i}" for i in range(4)) if name not in stage.names()]
    stage.wait_why(left[0], "^Capacity: ")
    stage.plane.must("delete pod filler --now")
    stage.wait(lambda: left[0] in stage.names(), "the last one has room")
    stage.plane.must("delete rayjob tune")
    stage.wait(lambda: not stage.pods(), "all of it is gone", 60)


def what_is_wrong_is_refused(stage):
    """All of it at once; and fields that there are not."""
    wrong = leader_worker_set(replicas=-1)
    wrong["spec"]["leaderWorkerTemplate"]["size"] = 0
    refused = stage.refused(wrong)
    for word in ("spec.leaderWorkerTemplate.size", "spec.replicas"):
        expect(word in refused, refused)
    expect("spec.size" in stage.refused(leader_worker_set(size=3)), "fields are checked strictly")
    wrong = {"apiVersion": "ray.io/v1", "kind": "RayJob", "metadata": {"name": "bad"}, "spec": {"rayClusterSpec": ray_cluster(3, 9)}}
    expect("spec.rayClusterSpec.workerGroupSpecs[0].maxReplicas" in stage.refused(wrong), "what a RayJob would make is looked at")
    refused = stage.refused(training_job("PyTorchJob", {"Worker": -2}, runPolicy={"schedulingPolicy": {"minAvailable": 9}}))
    for word in ("spec.pytorchReplicaSpecs[Worker].replicas", "spec.runPolicy.schedulingPolicy.minAvailable"):
        expect(word in refused, refused)


STORIES = (a_leader_worker_set, a_leader_that_is_ready_first, an_elastic_pytorch_job, a_job_of_tensorflow_in_a_queue_of_kueues,
           a_launcher_that_waits_for_workers, a_train_job, a_ray_cluster, a_ray_job_that_grows, what_is_wrong_is_refused)


if __name__ == "__main__":
    sys.exit(main("gangs of operators", STORIES, NODES, OwnerStage, shown="pods," + ",".join(KINDS)))
