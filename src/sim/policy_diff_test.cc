#include "sim/policy_diff.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "model/gpu.h"
#include "policy/assemble.h"
#include "policy/read_objects.h"
#include "sim/door.h"

namespace berth::policy_diff_test {

TraceJob job(const std::string& queue, std::int64_t submit_s, std::int64_t run_s, int gpus,
             const char* model = nullptr) {
  TraceJob made;
  made.queue = queue;
  made.submit = Time{submit_s * 1000};
  made.run = seconds(run_s);
  made.gpus = gpus;
  made.gpu_milli = kMilliPerGpu;
  if (model != nullptr) made.gpu_models = {model};
  return made;
}

Trace named(std::vector<TraceJob> jobs) {
  Trace trace{{}, std::move(jobs)};
  for (std::size_t i = 0; i < trace.jobs.size(); ++i) trace.jobs[i].name = "job-" + std::to_string(i);
  return trace;
}
Trace pool_of(std::int64_t gpus, std::vector<TraceJob> jobs) {
  Trace trace = named(std::move(jobs));
  count_gpus_only(trace, gpus);
  return trace;
}
Trace on_nodes(const std::vector<std::string>& models, std::vector<TraceJob> jobs) {
  Trace trace = named(std::move(jobs));
  for (const std::string& model : models) {
    trace.nodes.push_back({.name = "n" + std::to_string(trace.nodes.size()),
                           .cpu_milli = 64'000,
                           .memory_bytes = std::int64_t{1} << 36,
                           .gpus = 8,
                           .gpu_model = model});
  }
  return trace;
}

Policy policy(const std::string& yaml) { return assemble(*read_policy_text(yaml, "q.yaml")); }
std::string queue(const std::string& name, const std::string& spec) {
  return "---\napiVersion: berth.dev/v1alpha1\nkind: Queue\nmetadata: {name: " + name + "}\nspec: {" + spec + "}\n";
}

std::int64_t wait_s(const ClusterRun& run, std::size_t row, const Trace& trace) {
  return wait_of(trace.jobs[row], run.times[row]).ms / 1000;
}

// b has all four GPUs for 100 s; a comes at 10.
TEST(PolicyDiff, AFloorLetsItsOwnerTakeWhatItWouldHaveWaitedFor) {
  const Policy before = policy(queue("a", "order: fifo, reclaim: never") + queue("b", "order: fifo, reclaim: never"));
  const Policy after = policy(queue("a", "order: fifo, guarantee: {h100: 2}") + queue("b", "order: fifo"));
  const auto diff = diff_policies(pool_of(4, {job("b", 0, 100, 4), job("a", 10, 20, 2)}), before, "old", after, "new",
                                  {.seed = Seed{1}}, "jobs");
  ASSERT_TRUE(diff) << diff.error().to_string();
  EXPECT_EQ(wait_s(diff->before.run, 1, diff->trace), 90);
  EXPECT_EQ(wait_s(diff->after.run, 1, diff->trace), 0);
  const QueueWaits& b = diff->after.run.queues[1];
  EXPECT_EQ(b.evictions, 1);
  EXPECT_EQ(b.starts, 2);
  EXPECT_EQ(b.lost_gpu_seconds, 40);
  EXPECT_EQ(diff->before.run.queues[1].starts, 1);
  EXPECT_EQ(diff->after.run.queues[1].arriving_gpu_seconds, 40) << "until the second job came";
  EXPECT_EQ(diff->after.run.queues[0].arriving_gpu_seconds, 0);
}

// Its minimum run time protects it, within the time of who takes.
TEST(PolicyDiff, AVictimThatIsProtectedStopsWhenItHasTo) {
  const auto floor = [](const char* of_b) {
    return policy(queue("a", "order: fifo, guarantee: {h100: 2}, reclaimWithin: 60s") + queue("b", of_b));
  };
  const auto diff =
      diff_policies(pool_of(4, {job("b", 0, 100, 4), job("a", 10, 20, 2)}), floor("order: fifo, minRuntime: 30s"),
                    "old", floor("order: fifo, minRuntime: 10m"), "new", {.seed = Seed{1}}, "jobs");
  ASSERT_TRUE(diff) << diff.error().to_string();
  EXPECT_EQ(wait_s(diff->before.run, 1, diff->trace), 20) << "until b has run for 30 s";
  EXPECT_EQ(wait_s(diff->after.run, 1, diff->trace), 60);
  EXPECT_EQ(diff->after.run.queues[1].lost_gpu_seconds, 280);
}

// Where nobody lends, whoever waits for its room comes when it is over, and no sooner.
TEST(PolicyDiff, AProtectionThatNobodyBoundsIsWaitedFor) {
  const auto two = [](const char* of_b) { return policy(queue("a", "order: fifo") + queue("b", of_b)); };
  const auto diff = diff_policies(pool_of(4, {job("b", 0, 100, 2), job("b", 0, 100, 2), job("a", 10, 20, 2)}),
                                  two("order: fifo, minRuntime: 30s"), "old", two("order: fifo, minRuntime: 10m"),
                                  "new", {.seed = Seed{1}}, "jobs");
  ASSERT_TRUE(diff) << diff.error().to_string();
  EXPECT_EQ(wait_s(diff->before.run, 2, diff->trace), 20);
  EXPECT_EQ(wait_s(diff->after.run, 2, diff->trace), 90) << "until b has ended";
}

TEST(PolicyDiff, ATreeOfQueuesAndPatienceCount) {
  const std::string inner = queue("org", "guarantee: {h100: 4}") + queue("guest", "order: fifo");
  const Policy before = policy(inner + queue("a", "parent: org, order: fifo"));
  const Policy after = policy(inner + queue("a", "parent: org, order: fifo, patience: 30s"));
  const auto diff = diff_policies(pool_of(4, {job("guest", 0, 100, 4), job("a", 10, 20, 2)}), before, "old", after,
                                  "new", {.seed = Seed{1}}, "jobs");
  ASSERT_TRUE(diff) << diff.error().to_string();
  EXPECT_EQ(wait_s(diff->before.run, 1, diff->trace), 0) << "the pool of its parent is its floor";
  EXPECT_EQ(wait_s(diff->after.run, 1, diff->trace), 30);
}

TEST(PolicyDiff, KueuesQueuesGoByTheirOwnNamesOrTheirDoors) {
  const std::string kueue =
      "apiVersion: kueue.x-k8s.io/v1beta2\nkind: ResourceFlavor\nmetadata: {name: big}\n"
      "spec: {nodeLabels: {nvidia.com/gpu.product: NVIDIA-H100-80GB-HBM3}}\n"
      "---\napiVersion: kueue.x-k8s.io/v1beta2\nkind: ClusterQueue\nmetadata: {name: cq}\nspec:\n"
      "  namespaceSelector: {}\n  resourceGroups:\n  - coveredResources: [nvidia.com/gpu]\n    flavors:\n"
      "    - {name: big, resources: [{name: nvidia.com/gpu, nominalQuota: 8}]}\n"
      "---\napiVersion: kueue.x-k8s.io/v1beta2\nkind: LocalQueue\nmetadata: {name: door, namespace: ml}\n"
      "spec: {clusterQueue: cq}\n";
  std::string more = kueue;
  more.replace(more.find("nominalQuota: 8"), 15, "nominalQuota: 16");
  // Of the A100s the ClusterQueue lists none.
  const Trace trace = on_nodes({"H100", "H100", "A100-80GB"}, {job("cq", 0, 50, 8), job("ml/door", 1, 50, 8)});
  const auto diff = diff_policies(trace, policy(kueue), "old", policy(more), "new", {.seed = Seed{1}}, "jobs");
  ASSERT_TRUE(diff) << diff.error().to_string();
  EXPECT_EQ(wait_s(diff->before.run, 1, diff->trace), 49);
  EXPECT_EQ(wait_s(diff->after.run, 1, diff->trace), 0);
}

TEST(PolicyDiff, WhatATraceCannotShowIsRefusedAllAtOnce) {
  const Policy good = policy(queue("a", "order: fifo"));
  const Policy two_kinds = policy(queue("b", "guarantee: {h100: 4, a100-80gb: 4}"));
  const auto diff = diff_policies(pool_of(4, {job("a", 0, 1, 1)}), two_kinds, "old.yaml", good, "new.yaml",
                                  {.seed = Seed{1}}, "jobs");
  ASSERT_FALSE(diff);
  const std::string said = diff.error().to_string();
  EXPECT_TRUE(said.contains("old.yaml: the flavors h100 and a100-80gb cannot be told apart")) << said;
  EXPECT_TRUE(said.contains("old.yaml: jobs of the trace are in queue 'a', which is no queue of it; add it")) << said;
  Policy limited = good;
  limited.queues[0].queue.quota.budget_gpu_us = 1;
  limited.queues[0].queue.quota.users = UserOrder::kFair;
  limited.queues[0].windows.emplace_back();
  const auto refused =
      diff_policies(pool_of(4, {job("a", 0, 1, 1)}), good, "old.yaml", limited, "new.yaml", {.seed = Seed{1}}, "jobs");
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().count(), 3U) << refused.error().to_string();
  const Policy volcano = policy(
      "apiVersion: scheduling.volcano.sh/v1beta1\nkind: Queue\nmetadata: {name: a}\n"
      "spec: {deserved: {nvidia.com/gpu: 4}}\n");
  const auto several = diff_policies(on_nodes({"H100", "A100-80GB"}, {job("a", 0, 1, 1)}), volcano, "old.yaml", good,
                                     "new.yaml", {.seed = Seed{1}}, "jobs");
  ASSERT_FALSE(several);
  EXPECT_TRUE(several.error().to_string().contains("which GPUs the flavor gpu means is not said"));
}

TEST(PolicyDiff, AmountsOfGpusThatAreNotThereAreTold) {
  const Policy after = policy(queue("a", "order: fifo, guarantee: {h100: 4, l4: 4}"));
  const auto diff = diff_policies(on_nodes({"H100"}, {job("a", 0, 1, 1)}), policy(queue("a", "order: fifo")), "old",
                                  after, "new", {.seed = Seed{1}}, "jobs");
  ASSERT_TRUE(diff) << diff.error().to_string();
  EXPECT_EQ(
      diff->unmatched,
      (std::vector<std::string>{"no node of the trace has GPUs of the flavor l4: its amounts make no difference"}));
}

}  // namespace berth::policy_diff_test
