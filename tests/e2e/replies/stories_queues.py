"""What is recorded of a custom resource, asked of Berth's own kind of the same nature: no strategic patches, no writes without
a revision."""

from replies.script import Story, create, patch, put

QUEUES = "/apis/berth.dev/v1alpha1/queues"
QUEUE = {"apiVersion": "berth.dev/v1alpha1", "kind": "Queue", "metadata": {"name": "a"}, "spec": {"order": "sjf"}}

STORIES = [Story("queues", [
    create("one", QUEUES, QUEUE),
    patch("strategic patches are not for it", f"{QUEUES}/a", {"spec": {"order": "fifo"}}, "strategic", recorded="cr smp"),
    put("without a revision", f"{QUEUES}/a", QUEUE, recorded="cr put no rv"),
    patch("applied by another", f"{QUEUES}/a?fieldManager=other", {**QUEUE, "spec": {"order": "fifo"}}, "apply", recorded="ssa"),
])]
