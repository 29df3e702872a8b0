#include "sim/door.h"

#include <gtest/gtest.h>

#include "model/gpu.h"
#include "state/state.h"

namespace berth::door_test {

TraceNode node(std::string name, int gpus, std::string model = "T4") {
  return {.name = std::move(name),
          .cpu_milli = 8000,
          .memory_bytes = 64,
          .gpus = gpus,
          .gpu_model = gpus > 0 ? std::move(model) : ""};
}

TraceJob job(std::string name, std::int64_t pods, int gpus, std::vector<std::string> models = {}) {
  TraceJob made;
  made.name = std::move(name);
  made.run = seconds(10);
  made.pods = pods;
  made.cpu_milli = 100;
  made.gpus = gpus;
  made.gpu_milli = gpus > 0 ? kMilliPerGpu : 0;
  made.gpu_models = std::move(models);
  return made;
}

Door opened(const Trace& trace, DoorOptions options = {}) { return Door::open(trace, options, "trace").value(); }

TEST(CountGpusOnly, TurnsAJobIntoAGangOfSingleGpus) {
  Trace trace{{node("a", 8)}, {job("j", 2, 4, {"T4"}), job("cpu", 1, 0)}};
  count_gpus_only(trace, 3);
  ASSERT_EQ(trace.nodes.size(), 3u);
  EXPECT_EQ(trace.nodes[2].gpus, 1);
  EXPECT_EQ(trace.jobs[0].pods, 8);
  EXPECT_EQ(trace.jobs[0].gpus, 1);
  EXPECT_EQ(trace.jobs[0].cpu_milli, 0);
  EXPECT_TRUE(trace.jobs[0].gpu_models.empty());
  EXPECT_EQ(trace.jobs[1].pods, 1);
}

TEST(SplitLargeJobs, MakesAsFewEqualPodsAsTheLargestNodeAllows) {
  struct Case {
    int largest;
    int gpus;
    std::int64_t pods;
    int gpus_per_pod;
  };
  const Case cases[] = {{8, 8, 1, 8},   {8, 16, 2, 8}, {8, 12, 2, 6}, {8, 9, 3, 3},
                        {8, 11, 11, 1}, {4, 8, 2, 4},  {0, 2, 2, 1}};
  for (const Case& c : cases) {
    Trace trace{{node("a", 1), node("b", c.largest)}, {job("j", 1, c.gpus)}};
    if (c.largest == 0) trace.nodes = {node("a", 0)};
    split_large_jobs(trace);
    EXPECT_EQ(trace.jobs[0].pods, c.pods) << c.gpus << " on " << c.largest;
    EXPECT_EQ(trace.jobs[0].gpus, c.gpus_per_pod) << c.gpus << " on " << c.largest;
  }
}

TEST(TypicalPods, AreTheMostFrequentUpToNineteenOfTwenty) {
  Trace trace{{node("a", 8)}, {}};
  const std::pair<int, std::int64_t> pods_by_gpus[] = {{1, 60}, {2, 30}, {4, 5}, {8, 5}};
  for (const auto& [gpus, pods] : pods_by_gpus) trace.jobs.push_back(job("j", pods, gpus));
  const Door door = opened(trace);
  std::vector<WorkloadSubmitted> submissions;
  for (const TraceJob& one : trace.jobs) submissions.push_back(door.submission(one, {}));
  const auto typical = typical_pods(submissions);
  ASSERT_EQ(typical.size(), 3u);
  EXPECT_EQ(typical[0], (TypicalPod{100, 1, 1000, FlavorSet::first(1), 60}));
  EXPECT_EQ(typical[1].weight, 30);
  EXPECT_EQ(typical[2].gpus, 4) << "of equally frequent ones the smaller";
  EXPECT_TRUE(typical_pods({}).empty());
}

TEST(Door, ComplainsAboutATraceThatNoClusterIs) {
  Trace crowd{{node("a", 1)}, {job("big", 1'000'001, 1), job("wide", 1, 65)}};
  EXPECT_EQ(Door::open(crowd, {}, "f").error().to_string(),
            "f: job 'big' has more than 1,000,000 pods; split it into several jobs\n"
            "f: job 'wide' asks more than 64 GPUs in one pod; say how many pods share them\n");
  EXPECT_EQ(Door::open({}, {}, "f").error().to_string(), "f: there are no nodes; name a file of nodes with --nodes\n");
}

TEST(Door, NumbersFlavorsByTheCatalogueAndQueuesByName) {
  Trace trace{{node("a", 1, "V100M32"), node("b", 1, "P100"), node("c", 0)}, {job("x", 1, 1), job("y", 1, 1, {"T4"})}};
  trace.jobs[0].queue = "team-b";
  trace.jobs[1].queue = "team-a";
  const Door door = opened(trace, {.seed = Seed{9}, .policy = PlacementPolicy::kSpread, .order = Order::kSjf});
  std::vector<std::string> flavors;
  std::vector<std::string> queues;
  State state;
  for (const Event& event : door.opening()) {
    ASSERT_EQ(state.refusal(event), std::nullopt);
    state.apply(event);
  }
  for (const Flavor& flavor : state.flavors()) flavors.push_back(flavor.name);
  for (const Queue& queue : state.queues()) queues.push_back(queue.name);
  EXPECT_EQ(flavors, (std::vector<std::string>{"T4", "P100", "V100M32"}));
  EXPECT_EQ(queues, (std::vector<std::string>{"cluster", "cluster/team-a", "cluster/team-b"}));
  EXPECT_EQ(state.line_of(QueueId(2)), QueueId(0)) << "all share one line";
  EXPECT_EQ(state.policy(), PlacementPolicy::kSpread);
  EXPECT_EQ(state.seed(), Seed{9});
  EXPECT_EQ(state.nodes(), 3u);
  EXPECT_EQ(door.submission(trace.jobs[1], Time{4}).queue, QueueId(1));
}

TEST(Door, AGangRunsInOneFlavorTriedInTheCataloguesOrder) {
  struct Case {
    const char* what;
    TraceJob asked;
    std::vector<std::uint64_t> flavors_by_way;
  };
  const Case cases[] = {
      {"a pod of any", job("j", 1, 1), {3}},
      {"a pod of one", job("j", 1, 1, {"V100M32"}), {2}},
      {"a gang of any", job("j", 2, 1), {1, 2}},
      {"a gang of one", job("j", 2, 1, {"V100M32"}), {2}},
      {"a gang without GPUs", job("j", 2, 0), {FlavorSet::all().bits()}},
  };
  const Trace trace{{node("a", 1, "V100M32"), node("b", 1, "P100")}, {job("j", 1, 1)}};
  const Door door = opened(trace);
  for (const Case& c : cases) {
    const WorkloadSubmitted submitted = door.submission(c.asked, Time{4});
    std::vector<std::uint64_t> flavors;
    for (const PodSets& way : submitted.shape.ways) flavors.push_back(way.at(0).request.flavors.bits());
    EXPECT_EQ(flavors, c.flavors_by_way) << c.what;
    EXPECT_EQ(submitted.at, Time{4});
    EXPECT_EQ(submitted.declared_run, seconds(10));
  }
}

// A user's file of nodes may well have no GPU while the jobs ask for some.
TEST(Door, JobsThatAskGpusOfAFleetWithoutAnyMakeSense) {
  const Trace trace{{node("a", 0)}, {job("one", 1, 1), job("gang", 3, 1)}};
  const Door door = opened(trace);
  State state;
  for (const Event& event : door.opening()) state.apply(event);
  for (const TraceJob& asked : trace.jobs) {
    const WorkloadSubmitted submitted = door.submission(asked, {});
    EXPECT_EQ(state.refusal(submitted), std::nullopt) << asked.name;
  }
}

}  // namespace berth::door_test
