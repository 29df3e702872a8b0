#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <utility>
#include <vector>

#include "state/refusal_cases_test.h"

namespace berth::refusal_of_workloads_test {
using namespace refusal_cases;

TEST(Refusal, ARunBeginsWithItsConfigurationAndHasOne) {
  expect(State(), {
                      {"the configuration", RunConfigured{Seed{1}, PlacementPolicy::kSpread}, ""},
                      {"an unknown policy", RunConfigured{Seed{1}, static_cast<PlacementPolicy>(99)}, "unknown policy"},
                      {"another event", FlavorAdded{}, "a run begins with its configuration"},
                  });
  expect(known(), {{"a second one", RunConfigured{}, "a run is configured once"}});
}

TEST(Refusal, OfTypicalPods) {
  const char* const request = "a typical pod's request is out of bounds";
  const char* const weight = "a typical pod's weight is out of bounds";
  expect(known(), {
                      {"none", TypicalPodsChosen{}, ""},
                      {"one", choose({1, 1, 500, FlavorSet::all(), kTypicalWeightMax}), ""},
                      {"a fraction of two", choose({1, 2, 500, FlavorSet::all(), 1}), request},
                      {"no weight", choose({1, 1, 500, FlavorSet::all(), 0}), weight},
                      {"too much weight", choose({1, 1, 500, FlavorSet::all(), kTypicalWeightMax + 1}), weight},
                      {"too much in sum", TypicalPodsChosen{{{1, 1, 500, FlavorSet::all(), kTypicalWeightMax}, {}}},
                       "the typical pods' weights add up to more than 1,000,000,000"},
                      {"too many", TypicalPodsChosen{std::vector<TypicalPod>(kTypicalPodsMax + 1)},
                       "more than 4,096 typical pods"},
                  });
}

TEST(Refusal, OfPodRequests) {
  const char* const bounds = "a pod's request is out of bounds";
  const auto gpu_but = [](const std::function<void(PodRequest&)>& change) {
    PodRequest request = kGpu;
    change(request);
    return submit(request);
  };
  expect(known(),
         {
             {"nothing", submit({}), ""},
             {"a GPU", submit(kGpu), ""},
             {"the most of all",
              submit({kNodeCpuMilliMax, kNodeMemoryBytesMax, 64, 1000, 1 << 20, FlavorSet::first(2)}), ""},
             {"negative processor", submit({.cpu_milli = -1}), bounds},
             {"too much processor", submit({.cpu_milli = kNodeCpuMilliMax + 1}), bounds},
             {"too much memory", submit({.memory_bytes = kNodeMemoryBytesMax + 1}), bounds},
             {"65 GPUs", gpu_but([](PodRequest& request) { request.gpus = 65; }), bounds},
             {"-1 GPUs", gpu_but([](PodRequest& request) { request.gpus = -1; }), bounds},
             {"thousandths of none", submit({.gpu_milli = 1}), bounds},
             {"memory of none", submit({.gpu_memory_mib = 1}), bounds},
             {"a type of none", submit({.flavors = FlavorSet::first(1)}), bounds},
             {"none of one", gpu_but([](PodRequest& request) { request.gpu_milli = 0; }), bounds},
             {"more than one of one", gpu_but([](PodRequest& request) { request.gpu_milli = 1001; }), bounds},
             {"a slice of no flavor", gpu_but([](PodRequest& request) {
                request.sharing = Sharing::kMig;
                request.slice = 0;
                request.flavors = FlavorSet();
              }),
              bounds},
             {"a vGPU of no flavor", gpu_but([](PodRequest& request) {
                request.sharing = Sharing::kVgpu;
                request.gpu_milli = 500;
              }),
              bounds},
             {"a vGPU with memory of its own", gpu_but([](PodRequest& request) {
                request.sharing = Sharing::kVgpu;
                request.gpu_milli = 500;
                request.flavors = FlavorSet::first(1);
                request.gpu_memory_mib = 1;
              }),
              bounds},
             {"an unknown flavor", gpu_but([](PodRequest& request) { request.flavors = FlavorSet::first(3); }), bounds},
             {"GPU memory", gpu_but([](PodRequest& request) { request.gpu_memory_mib = (1 << 20) + 1; }), bounds},
         });
}

TEST(Refusal, OfRunLimits) {
  const auto limited = [](std::int64_t ms) {
    WorkloadSubmitted job = submission(QueueId(0), single_pod({}));
    job.shape.terms.run_limit = Duration{ms};
    return Event(job);
  };
  const char* const bounds = "a run limit is out of bounds";
  expect(known(), {
                      {"the shortest", limited(1), ""},
                      {"the longest", limited(kTimeMax.ms), ""},
                      {"nothing", limited(0), bounds},
                      {"too long", limited(kTimeMax.ms + 1), bounds},
                  });
  const auto running = [](std::optional<Duration> limit) {
    State state = known();
    WorkloadFound found{submission(QueueId(0), single_pod({})), {{NodeId(0), GpuSet()}}, Time{}};
    found.workload.shape.terms.run_limit = limit;
    state.apply(found);
    return state;
  };
  const Event end = WorkloadOverran{WorkloadId(2)};
  EXPECT_EQ(running(seconds(1)).refusal(end).value_or(""), "");
  EXPECT_EQ(running({}).refusal(end).value_or(""), "a workload without a run limit cannot run over it");
  EXPECT_EQ(known().refusal(end).value_or(""), "there is no such workload in that phase");
}

TEST(Refusal, OfFailurePolicies) {
  const auto with = [](auto change) {
    WorkloadSubmitted job = submission(QueueId(0), single_pod({}));
    job.on_failure = FailurePolicy{.sets = {{}}};
    change(*job.on_failure);
    return Event(job);
  };
  const char* const of_sets = "of each pod set it is known what follows, of exit codes from 1 to 255 in order";
  WorkloadSubmitted step = submission(QueueId(0), single_pod({}));
  step.on_failure = FailurePolicy{.sets = {{}}};
  step.step_of = WorkloadId(2);
  State state = known();
  state.apply(submission(QueueId(0), single_pod({})));
  expect(state,
         {
             {"nothing", with([](FailurePolicy&) {}), ""},
             {"codes in order", with([](FailurePolicy& p) { p.sets[0].on_exit = {{1, {}}, {255, {}}}; }), ""},
             {"of no set", with([](FailurePolicy& p) { p.sets.clear(); }), of_sets},
             {"of two sets", with([](FailurePolicy& p) { p.sets.emplace_back(); }), of_sets},
             {"no failure", with([](FailurePolicy& p) { p.sets[0].on_exit = {{0, {}}}; }), of_sets},
             {"no exit code", with([](FailurePolicy& p) { p.sets[0].on_exit = {{256, {}}}; }), of_sets},
             {"twice", with([](FailurePolicy& p) { p.sets[0].on_exit = {{3, {}}, {3, {}}}; }), of_sets},
             {"what nobody does", with([](FailurePolicy& p) { p.sets[0].on_evict = static_cast<MemberAction>(4); }),
              of_sets},
             {"too often", with([](FailurePolicy& p) { p.retries = kRetriesMax + 1; }),
              "a workload is tried again 1,000 times at most"},
             {"before", with([](FailurePolicy& p) { p.retry_after = Duration{-1}; }), "a time is out of bounds"},
             {"never ready at once", with([](FailurePolicy& p) { p.never_ready = Duration{0}; }),
              "a time is out of bounds"},
             {"a step's alone", step, "what follows when a step fails is of a workload of which that is known"},
             {"it waits", WorkloadReady{WorkloadId(2)}, "there is no such workload in that phase"},
             {"it waits, and is not ready", NeverReady{WorkloadId(2)}, "there is no such workload in that phase"},
         });
}

TEST(Refusal, OfLimitsThatAreExtended) {
  const auto running = [](OverRun over_run, std::optional<Duration> limit) {
    State state = known();
    Queue queue = state.queues()[0];
    queue.quota.over_run = over_run;
    queue.quota.extend = seconds(60);
    state.apply(QueueChanged{QueueId(0), queue});
    WorkloadFound found{submission(QueueId(0), single_pod({})), {{NodeId(0), GpuSet()}}, Time{}};
    found.workload.shape.terms.run_limit = limit;
    state.apply(found);
    return state;
  };
  const auto refusal = [](State state, Time now, Duration by) {
    state.apply(TimePassed{now});
    return state.refusal(LimitExtended{WorkloadId(2), by}).value_or("");
  };
  const State extends = running(OverRun::kExtend, seconds(10));
  const Time end{10'000};
  EXPECT_EQ(refusal(extends.fork(), end, seconds(60)), "");
  EXPECT_EQ(refusal(extends.fork(), Time{9'999}, seconds(60)), "a limit is extended when it is reached");
  const char* const not_by_that = "its queue does not extend its limit by that";
  EXPECT_EQ(refusal(extends.fork(), end, seconds(61)), not_by_that);
  EXPECT_EQ(refusal(extends.fork(), end, Duration{0}), not_by_that);
  EXPECT_EQ(refusal(running(OverRun::kStop, seconds(10)), end, seconds(1)), not_by_that);
  EXPECT_EQ(refusal(running(OverRun::kExtend, {}), end, seconds(1)), "what has no run limit does not run beyond it");
  State once = extends.fork();
  once.apply(TimePassed{end});
  once.apply(LimitExtended{WorkloadId(2), seconds(5)});
  EXPECT_EQ(refusal(once.fork(), Time{15'000}, seconds(5)), not_by_that) << "as often as it may";
}

TEST(Refusal, OfNeighbours) {
  const auto with = [](Neighbours neighbours, Topology topology = {}) {
    return Event(submission(QueueId(0), {{{{{}, 1, {}, std::move(topology), std::move(neighbours)}}}}));
  };
  const PodTerm term{{{"x"}, {{"app", LabelOperator::kIn, {"a"}}}}, "rack"};
  const PodTerm of_nodes{{{"x"}, {{"app", LabelOperator::kGt, {"1"}}}}, "rack"};
  const char* const form = "a term on pods names a level, namespaces in order, and labels by In or Exists";
  const Topology together{.together = Togetherness::kRequired, .level = "rack"};
  expect(known(),
         {
             {"a term", with({.near = {term}}), ""},
             {"no level", with({.near = {{{{"x"}, {}}, ""}}}), form},
             {"namespaces out of order", with({.apart = {{{{"y", "x"}, {}}, "rack"}}}), form},
             {"an operator of nodes", with({.preferred = {{of_nodes, 1}}}), form},
             {"a spread by nodes", with({.spreads = {{.term = of_nodes}}}), form},
             {"as many as there may be", with({.near = std::vector(64, term)}), ""},
             {"too many", with({.near = std::vector(65, term)}),
              "a pod has at most 64 terms on the pods around it, and ports, of each kind"},
             {"no weight", with({.preferred = {{term, 0}}}), "a preferred term on pods weighs 1 to 100, or -100 to -1"},
             {"the least", with({.preferred = {{term, -100}}}), ""},
             {"no skew", with({.spreads = {{.term = term, .skew_max = 0}}}),
              "a spread constraint has a skew and domains of 1 to 1,000,000"},
             {"no domains", with({.spreads = {{.term = term, .domains_min = 0}}}),
              "a spread constraint has a skew and domains of 1 to 1,000,000"},
             {"the last port", with({.ports = {{.port = 65'535}}}), ""},
             {"no port", with({.ports = {{.port = 0}}}), "a port of a node is 1 to 65535"},
             {"nobody's labels", with({.labels = {{"a", "b"}}}), "a pod with labels has a namespace"},
             {"labels out of order", with({.name_space = "x", .labels = {{"b", ""}, {"a", ""}}}),
              "a pod's labels go by their keys, each once"},
             {"labels and a topology", with({.name_space = "x", .labels = {{"a", "b"}}}, together), ""},
             {"a term and a topology", with({.near = {term}}, together),
              "a pod set that is placed by a topology asks nothing of the pods around it"},
         });
}

TEST(Refusal, OfParallelSizes) {
  const auto with = [](Parallelism parallel, std::int64_t pods, PodRequest request = {.gpus = 2, .gpu_milli = 1000},
                       Topology topology = {}, Neighbours neighbours = {}) {
    return Event(
        submission(QueueId(0), {{{{request, pods, {}, std::move(topology), std::move(neighbours), parallel}}}}));
  };
  const char* const bounds = "parallel sizes are 1 to 1,048,576 each";
  const char* const whole = "parallel sizes are of whole GPUs";
  const char* const alone =
      "a pod set with parallel sizes has no slices, is not spread and asks nothing of the pods around";
  const PodRequest two{.gpus = 2, .gpu_milli = 1000};
  expect(known(),
         {
             {"the same GPUs", with({2, 3, 2}, 6), ""},
             {"in one rack", with({4, 1, 1}, 2, two, {.together = Togetherness::kRequired, .level = "rack"}), ""},
             {"a size of none", with({2, 3, 0}, 3), bounds},
             {"a negative one", with({2, -1, -3}, 3), bounds},
             {"the largest and one", with({(1 << 20) + 1, 1, 1}, 3), bounds},
             {"other GPUs", with({2, 3, 2}, 5), "the product of the parallel sizes is the number of the set's GPUs"},
             {"torn pods", with({3, 2, 1}, 3), "a tensor group is whole pods, or a pod whole tensor groups"},
             {"no GPUs", with({1, 1, 1}, 1, {}), whole},
             {"a part of one", with({1, 1, 1}, 1, {.gpus = 1, .gpu_milli = 500}), whole},
             {"a slice of pods", with({2, 1, 2}, 2, two, {.slice_pods = 2, .slice_level = "node"}), alone},
             {"spread", with({2, 1, 2}, 2, two, {.spread = Spreading::kEven, .spread_level = "node"}), alone},
             {"among others", with({2, 1, 2}, 2, two, {}, {.name_space = "x", .ports = {{.port = 80}}}), alone},
         });
}

TEST(Refusal, OfWorkloads) {
  const char* const phase = "there is no such workload in that phase";
  WorkloadSubmitted late = submission(QueueId(0), single_pod({}));
  late.at = kTimeMax + Duration{1};
  WorkloadSubmitted early = late;
  early.at = Time{-1};
  expect(known(),
         {
             {"an unknown queue", submission(QueueId(1), single_pod({})), "there is no such queue"},
             {"too late", late, "a time is out of bounds"},
             {"too early", early, "a time is out of bounds"},
             {"too long", submission(QueueId(0), single_pod({}), Duration{kTimeMax.ms + 1}), "a time is out of bounds"},
             {"run not declared", submission(QueueId(0), single_pod({}), kRunNotDeclared), ""},
             {"no way", submission(QueueId(0), {}), "a workload needs at least one way to run"},
             {"no pod set", submission(QueueId(0), {{{}}}), "a workload has 1 to 1,000,000 pods"},
             {"no pod", submit({}, 0), "a pod set has 1 to 1,000,000 pods"},
             {"the most pods", submit({}, 1'000'000), ""},
             {"too many pods", submit({}, 1'000'001), "a pod set has 1 to 1,000,000 pods"},
             {"too many in sum", submission(QueueId(0), {{{{{}, 1'000'000}, {{}, 1}}}}),
              "a workload has 1 to 1,000,000 pods"},
             {"ways that differ in flavors",
              submission(QueueId(0), {{{{{.gpus = 1, .gpu_milli = 1, .flavors = FlavorSet::first(1)}, 1}},
                                       {{{.gpus = 1, .gpu_milli = 1, .flavors = FlavorSet::first(2)}, 1}}}}),
              ""},
             {"ways that differ in count", submission(QueueId(0), {{{{kGpu, 1}}, {{kGpu, 2}}}}),
              "the ways of a workload may differ in their flavors only"},
             {"ways in which so much memory is another part",
              submission(QueueId(0), {{{{with_memory(500, 1), 1}}, {{with_memory(250, 1), 1}}}}), ""},
             {"ways that differ in memory",
              submission(QueueId(0), {{{{with_memory(500, 1), 1}}, {{with_memory(500, 2), 1}}}}),
              "the ways of a workload may differ in their flavors only"},
             {"ways that differ in a part without memory",
              submission(QueueId(0), {{{{with_memory(500, 0), 1}}, {{with_memory(250, 0), 1}}}}),
              "the ways of a workload may differ in their flavors only"},
             {"ways that differ in pod sets", submission(QueueId(0), {{{{kGpu, 1}}, {{kGpu, 1}, {kGpu, 1}}}}),
              "the ways of a workload may differ in their flavors only"},
             {"end one that waits", WorkloadEnded{WorkloadId(0)}, phase},
             {"cancel one that waits", WorkloadCancelled{WorkloadId(0)}, ""},
             {"cancel again", WorkloadCancelled{WorkloadId(1)}, phase},
             {"cancel nobody", WorkloadCancelled{WorkloadId(2)}, phase},
             {"end nobody", WorkloadEnded{WorkloadId()}, phase},
         });
}

TEST(Refusal, OfWorkloadsThatChange) {
  const char* const phase = "there is no such workload in that phase";
  State state = known();
  state.apply(WorkloadFound{submission(QueueId(0), single_pod(kGpu)), {{NodeId(0), GpuSet::from_bits(1)}}, Time{}});
  expect(state, {
                    {"a waiting one", WorkloadPrioritized{WorkloadId(0), kPriorityMax}, ""},
                    {"a running one", WorkloadPrioritized{WorkloadId(2), -kPriorityMax}, ""},
                    {"one that is over", WorkloadPrioritized{WorkloadId(1), 0}, phase},
                    {"nobody", WorkloadPrioritized{WorkloadId(3), 0}, phase},
                    {"too high", WorkloadPrioritized{WorkloadId(0), kPriorityMax + 1}, "a priority is out of bounds"},
                    {"move a waiting one", WorkloadMoved{WorkloadId(0), QueueId(0)}, ""},
                    {"move a running one", WorkloadMoved{WorkloadId(2), QueueId(0)}, phase},
                    {"to nowhere", WorkloadMoved{WorkloadId(0), QueueId(1)}, "there is no such queue"},
                });
}

// One that waits with a step, one that is over, and one with two pod sets that are not alike.
TEST(Refusal, OfSteps) {
  State state = new_state(Seed{1}, PlacementPolicy::kBestFit, 1, {Order::kFifo, Order::kFifo});
  const PodSet pod{{.gpus = 1, .gpu_milli = kMilliPerGpu}, 1};
  const auto step_of = [&](std::size_t of, WorkloadShape shape) {
    WorkloadSubmitted step = submission(QueueId(0), std::move(shape));
    step.step_of = WorkloadId(of);
    return step;
  };
  const WorkloadShape one{{{pod}}, {}};
  state.apply(submission(QueueId(0), one));
  state.apply(step_of(0, one));
  state.apply(submission(QueueId(0), one));
  state.apply(WorkloadCancelled{WorkloadId(2)});
  PodSet larger = pod;
  larger.request.gpus = 2;
  state.apply(submission(QueueId(0), {{{larger, pod}}, {}}));
  WorkloadSubmitted elsewhere = step_of(0, one);
  elsewhere.queue = QueueId(1);
  WorkloadSubmitted later = step_of(0, one);
  later.not_before = Time{1000};
  PodSet two = pod;
  two.count = 2;
  const char* const alone = "a step is no workload by itself";
  const char* const size = "a step is one pod more of one of its workload's pod sets";
  const char* const whose = "a step is of a workload that has not ended";
  expect(state, {
                    {"one more", step_of(0, one), ""},
                    {"of nobody", step_of(9, one), whose},
                    {"of one that is over", step_of(2, one), whose},
                    {"of a step", step_of(1, one), whose},
                    {"of one of two pod sets", step_of(3, one), ""},
                    {"of another kind than its pods", step_of(0, {{{larger}}, {}}), size},
                    {"of both pod sets", step_of(3, {{{larger, pod}}, {}}), size},
                    {"of two pods", step_of(0, {{{two}}, {}}), size},
                    {"in other ways", step_of(0, {{{pod}, {pod}}, {}}), size},
                    {"in another queue", elsewhere, "a step is in its workload's queue"},
                    {"later", later, "a step waits for its workload alone"},
                    {"that runs", WorkloadFound{step_of(0, one), {{NodeId(0), {}}}, Time{}},
                     "what runs already is no step of another"},
                    {"cancelled", WorkloadCancelled{WorkloadId(1)}, alone},
                    {"prioritized", WorkloadPrioritized{WorkloadId(1), 1}, alone},
                    {"moved", WorkloadMoved{WorkloadId(1), QueueId(1)}, alone},
                    {"moved with its workload", WorkloadMoved{WorkloadId(0), QueueId(1)}, ""},
                });
}

TEST(Refusal, OfWorkThatAsksWhatNodesPromiseMoreThanOnce) {
  const State state = new_state(Seed{1}, PlacementPolicy::kBestFit, 1, {Order::kFifo});
  const auto asks = [](const PodRequest& request, const Terms& terms) {
    return submission(QueueId(0), WorkloadShape{{{{request, 1}}}, terms});
  };
  const Terms best_effort{.best_effort = true};
  expect(state, {{"best effort", asks({.cpu_milli = 1, .in_extra = true}, best_effort), ""},
                 {"memory alone", asks({.memory_bytes = 1, .in_extra = true}, best_effort), ""},
                 {"neither", asks({.in_extra = true}, best_effort), "a pod's request is out of bounds"},
                 {"work that counts", asks({.cpu_milli = 1, .in_extra = true}, {}),
                  "only best effort has what nodes promise beyond what they have"}});
}

TEST(Refusal, OfWhoBacksOffFromTheStartAndOfPartsWithoutALevel) {
  const State state = known();
  const auto job = [](auto change) {
    WorkloadSubmitted made = submission(QueueId(0), single_pod({.gpus = 1, .gpu_milli = kMilliPerGpu}));
    made.backs_off = BackOff{.until = Time{5000}, .why = EvictionRule::kNode, .times = 3};
    change(made);
    return Event(made);
  };
  const char* const of_others = "nobody backs off from the start but for lost nodes, and pods that were never ready";
  expect(
      state,
      {{"for lost nodes", job([](WorkloadSubmitted&) {}), ""},
       {"never ready", job([](WorkloadSubmitted& w) { w.backs_off->why = EvictionRule::kNeverReady; }), ""},
       {"for a claim", job([](WorkloadSubmitted& w) { w.backs_off->why = EvictionRule::kReclaim; }), of_others},
       {"never", job([](WorkloadSubmitted& w) { w.backs_off->times = 0; }), "who backs off was stopped once at least"},
       {"for ever", job([](WorkloadSubmitted& w) { w.backs_off->until = kForever; }), "a time is out of bounds"},
       {"a part", job([](WorkloadSubmitted& w) {
          w.shape.ways.front().front().exclusive_level = "rack";
          w.shape.ways.front().front().exclusive_part = "a";
        }),
        ""},
       {"a part of nothing", job([](WorkloadSubmitted& w) { w.shape.ways.front().front().exclusive_part = "a"; }),
        "a part of a workload has domains for itself only where a level is named"}});
}

TEST(Refusal, OfMovesThatAreAskedFor) {
  const State state = known();
  const auto nodes = static_cast<std::int64_t>(state.nodes());
  const auto asked = [&](auto change) {
    DefragmentationAsked event{
        .moves = {{WorkloadId(0), {{NodeId(0), GpuSet::from_bits(1)}}}}, .gpus = 8, .horizon = seconds(3600)};
    change(event);
    return event;
  };
  ASSERT_GT(state.workloads().next_id(), WorkloadId(0));
  expect(state,
         {
             {"as it is", asked([](DefragmentationAsked&) {}), ""},
             {"nobody", asked([](DefragmentationAsked& e) { e.moves.clear(); }), ""},
             {"for pods of no GPU", asked([](DefragmentationAsked& e) { e.gpus = 0; }),
              "room is made for pods of 1 to so many GPUs as a node may have"},
             {"for pods of more than a node may have", asked([](DefragmentationAsked& e) { e.gpus = 65; }),
              "room is made for pods of 1 to so many GPUs as a node may have"},
             {"a slice of no flavor", asked([](DefragmentationAsked& e) { e.gpus = 1, e.slice = 0; }),
              "a slice is one, of a shape that GPUs of its flavor can be cut into"},
             {"a flavor and no slice", asked([](DefragmentationAsked& e) { e.flavor = FlavorId(0); }),
              "a slice is one, of a shape that GPUs of its flavor can be cut into"},
             {"of use for no time", asked([](DefragmentationAsked& e) { e.horizon = Duration{0}; }),
              "a time is out of bounds"},
             {"somebody who is not there", asked([](DefragmentationAsked& e) { e.moves[0].workload = WorkloadId(99); }),
              "there is no such workload"},
             {"nobody in particular", asked([](DefragmentationAsked& e) { e.moves[0].workload = WorkloadId(); }),
              "there is no such workload"},
             {"somebody twice", asked([](DefragmentationAsked& e) { e.moves.push_back(e.moves[0]); }),
              "nobody is moved twice at a time"},
             {"to no node",
              asked([&](DefragmentationAsked& e) { e.moves[0].to[0].node = NodeId(static_cast<std::size_t>(nodes)); }),
              "there is no such node"},
             {"to GPUs that there are not",
              asked([](DefragmentationAsked& e) { e.moves[0].to[0].gpus = GpuSet::from_bits(std::uint64_t{1} << 63); }),
              "its node has no such GPU"},
         });
}

TEST(Refusal, OfWhatStartsLaterOrAfterOthers) {
  State state = known();
  const auto job = [](Time not_before, std::vector<Dependency> after) {
    WorkloadSubmitted made = submission(QueueId(0), single_pod({}));
    made.not_before = not_before;
    made.after = std::move(after);
    return made;
  };
  const std::vector<Dependency> many(1'001, {WorkloadId(0), DependsOn::kEnd});
  const WorkloadFound found{job(Time{5}, {}), {{NodeId(0), GpuSet()}}, Time{}};
  const WorkloadFound follower{job({}, {{WorkloadId(0), DependsOn::kEnd}}), {{NodeId(0), GpuSet()}}, Time{}};
  expect(state, {
                    {"later", job(Time{5}, {}), ""},
                    {"before all", job(Time{-1}, {}), "a time is out of bounds"},
                    {"after one that waits", job({}, {{WorkloadId(0), DependsOn::kDone}}), ""},
                    {"after one that is over", job({}, {{WorkloadId(1), DependsOn::kDone}}), ""},
                    {"after itself", job({}, {{WorkloadId(2), DependsOn::kEnd}}),
                     "a workload starts after others that are there"},
                    {"after nobody", job({}, {{WorkloadId(), DependsOn::kEnd}}),
                     "a workload starts after others that are there"},
                    {"after what is not", job({}, {{WorkloadId(0), static_cast<DependsOn>(3)}}),
                     "a workload waits for what there is not"},
                    {"after too many", job({}, many), "a workload starts after 1,000 others at most"},
                    {"found running too early", found, "a found workload waits for nothing"},
                    {"found running before others", follower, "a found workload waits for nothing"},
                });
  WorkloadSubmitted turn = job({}, {});
  turn.series = SeriesId(0);
  turn.at_most = 0;
  WorkloadSubmitted waits = job({}, {});
  const auto at_most = [&](Duration length, AfterWait then, std::int32_t raise) {
    waits.max_wait = MaxWait{length, then, raise};
    return waits;
  };
  WorkloadSubmitted insists = at_most(Duration{5}, AfterWait::kBestEffort, 0);
  insists.shape.terms.guaranteed_only = true;
  WorkloadSubmitted by_night = job({}, {});
  by_night.shape.terms.hours = 0;
  expect(state, {{"a turn for nobody", turn, "of a series one has a turn at least"},
                 {"no wait", at_most(Duration{0}, AfterWait::kCancel, 0), "a time is out of bounds"},
                 {"a wait and then", at_most(Duration{5}, AfterWait::kRaise, 7), ""},
                 {"raised by nothing", at_most(Duration{5}, AfterWait::kRaise, 0),
                  "who waits too long is raised by 1 to 1,000,000,000, or not"},
                 {"raised and cancelled", at_most(Duration{5}, AfterWait::kCancel, 7),
                  "who waits too long is raised by 1 to 1,000,000,000, or not"},
                 {"what nobody knows", at_most(Duration{5}, static_cast<AfterWait>(3), 0),
                  "nobody knows what is to be done after a wait"},
                 {"it insists", insists, "who insists on a floor does not go on as best effort"},
                 {"hours that are none", by_night, "there are no such hours"},
                 {"nobody waited so long", MaxWaitPassed{WorkloadId(0)}, "that workload may wait for longer"}});
  // A page of workloads that have all ended is let go.
  for (int i = 2; i < 1024; ++i) state.apply(job({}, {}));
  for (std::size_t i = 0; i < 1024; ++i) {
    if (i != 1) state.apply(WorkloadCancelled{WorkloadId(i)});
  }
  expect(state, {
                    {"after one that is forgotten", job({}, {{WorkloadId(0), DependsOn::kEnd}}), ""},
                    {"if that is done", job({}, {{WorkloadId(0), DependsOn::kDone}}),
                     "what it is to start after ended so long ago that nobody knows how"},
                });
}

}  // namespace berth::refusal_of_workloads_test
