#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "state/invariants.h"
#include "state/refusal_cases_test.h"

namespace berth::refusal_of_found_test {
using namespace refusal_cases;

TEST(Refusal, OfAPastThatIsFound) {
  State state = known();
  state.apply(TimePassed{Time{100}});
  const Dim gpus(FlavorId(0), Resource::kGpu), nothing(FlavorId(9), Resource::kGpu);
  expect(state, {
                    {"a past", PastUseFound{QueueId(0), Time{100}, {{gpus, 5}}}, ""},
                    {"to come", PastUseFound{QueueId(0), Time{101}, {}}, "what was used is past"},
                    {"as it stood", PastUseKept{QueueId(0), Time{9}, Time{100}, {{gpus, 5}}, {{gpus, 6}}}, ""},
                    {"backwards", PastUseKept{QueueId(0), Time{9}, Time{8}, {}, {}}, "what was used is past"},
                    {"of nobody", PastUseFound{QueueId(1), Time{100}, {}}, "there is no such queue"},
                    {"of what there is not", PastUseFound{QueueId(0), Time{100}, {{nothing, 5}}},
                     "a quota names a flavor that there is not"},
                });
}

TEST(Refusal, OfGangsThatAreFoundLackingSome) {
  const PodPlacement there{NodeId(0), GpuSet::from_bits(1)}, nowhere{NodeId(0), {}};
  const auto found = [](std::vector<std::uint32_t> lost, std::vector<PodPlacement> pods, Time until = Time{1}) {
    WorkloadFound event{submission(QueueId(0), {{{{kGpu, 2}}}}), std::move(pods), Time{}};
    event.lost = std::move(lost);
    event.repair_until = until;
    return Event(std::move(event));
  };
  const char* const in_order = "of a found workload each pod is lost once, in order";
  expect(known(), {
                      {"one of two", found({1}, {there, nowhere}), ""},
                      {"the first", found({0}, {nowhere, there}), ""},
                      {"all of them", found({0, 1}, {nowhere, nowhere}), "of a found workload some pods are there"},
                      {"one twice", found({1, 1}, {there, nowhere}), in_order},
                      {"a third", found({2}, {there, nowhere}), in_order},
                      {"one who has GPUs", found({1}, {there, there}), "who is lost has no GPUs"},
                      {"on no node", found({1}, {there, {NodeId(9), {}}}), "there is no such node"},
                      {"too few places", found({0}, {nowhere}), "of a found workload some pods are there"},
                      {"before now", found({1}, {there, nowhere}, Time{-1}), "a repair ends later"},
                      {"nobody, for a while", found({}, {there, nowhere}), "who lacks nobody is not repaired"},
                  });
}

TEST(Refusal, OfFoundPodsThatMakeTwoThingsOfANode) {
  State state = cut();
  state.apply(add_node(
      {.name = "", .flavor = FlavorId(0), .gpus = 2, .pods_max = 9, .other_modes = SharingSet::of(Sharing::kMig)}));
  const NodeId node(state.nodes() - 1);
  const PodRequest slice = slice_called("1g.10gb");
  const PodRequest gpu{.gpus = 1, .gpu_milli = 1000};
  const auto found = [&](const PodRequest& first, const PodRequest& second) {
    WorkloadFound event;
    event.workload.name = "found";
    event.workload.queue = QueueId(0);
    event.workload.shape.ways = {{{first, 1}, {second, 1}}};
    event.pods = {{node, GpuSet::from_bits(1)}, {node, GpuSet::from_bits(2)}};
    return Event(std::move(event));
  };
  const char* const otherwise = "its node's GPUs are shared in another way";
  expect(state, {{"two of one mode", found(slice, slice), ""},
                 {"a slice beside a GPU", found(slice, gpu), otherwise},
                 {"a GPU beside a slice", found(gpu, slice), otherwise}});
  state.apply(found(gpu, gpu));
  expect(state, {{"a slice where somebody has a GPU", found(slice, slice), otherwise}});
}

// A slice is found where it is, if it is there.
TEST(Refusal, OfSlicesThatNobodyCut) {
  State state = new_state(Seed{1}, PlacementPolicy::kBestFit, 1, {Order::kFifo});
  const PodRequest half = slice_called("3g.40gb"), seventh = slice_called("1g.10gb");
  const auto place = [](const PodRequest& slice, std::size_t start) {
    return MigPlaceSet::of(*kMigOfA100.find_place(slice.slice, start));
  };
  state.apply(add_node({.name = "",
                        .flavor = FlavorId(0),
                        .gpus = 1,
                        .pods_max = 9,
                        .sharing = Sharing::kMig,
                        .fixed_slices = place(half, 4).united_with(place(seventh, 3))}));
  const auto found = [](const PodRequest& slice, std::uint8_t start) {
    GpuSet first;
    first.add(0);
    return WorkloadFound{
        .workload = submission(QueueId(0), single_pod(slice)), .pods = {{NodeId(0), first, start}}, .started = Time{}};
  };
  const char* const taken = "its GPUs are not free on that node";
  expect(state, {{"one that there is", found(half, 4), ""},
                 {"one that could be cut", found(half, 0), taken},
                 {"a small one that could be cut", found(seventh, 2), taken},
                 {"a small one that there is", found(seventh, 3), ""}});
  state.apply(found(seventh, 3));
  expect(state, {{"one that is taken", found(seventh, 3), taken}, {"the other", found(half, 4), ""}});
}

// Best effort that is found holds what is extra first, whoever is found before it.
TEST(Refusal, OfBestEffortFoundBeyondWhatIsPromised) {
  State state = new_state(Seed{1}, PlacementPolicy::kBestFit, 1, {Order::kFifo});
  state.apply(add_node({.name = "", .flavor = {}, .gpus = 0, .gpu_memory_mib = 0, .cpu_milli = 100, .extra = {50, 0}}));
  const auto found = [](std::int64_t cpu_milli, bool in_extra, std::size_t pods = 1) {
    const PodRequest request{.cpu_milli = cpu_milli, .in_extra = in_extra};
    const WorkloadShape shape{{{{request, static_cast<std::int64_t>(pods)}}}, {.best_effort = in_extra}};
    return WorkloadFound{.workload = submission(QueueId(0), shape),
                         .pods = std::vector<PodPlacement>(pods, {NodeId(0), {}}),
                         .started = Time{}};
  };
  const char* const too_little = "its node has too little free CPU";
  expect(state, {{"all that is promised", found(75, true, 2), ""},
                 {"more", found(76, true, 2), too_little},
                 {"all that there is", found(50, false, 2), ""},
                 {"what counts, of the extra", found(51, false, 2), too_little}});
  state.apply(found(60, false));
  expect(state, {{"what is left", found(90, true), ""}, {"more than that", found(91, true), too_little}});
  state.apply(found(90, true));
  expect(state, {{"one of those who count, where all is promised", found(1, false), too_little}});
}

TEST(Refusal, OfSharesAndReplicasFoundRunning) {
  const auto found = [](const PodRequest& request, std::size_t node, const char* user, std::size_t queue = 0,
                        std::int64_t count = 1) {
    WorkloadFound fact{submission(QueueId(queue), {{{{request, count}}}, {.best_effort = true}}), {}, Time{}};
    fact.workload.user = user;
    fact.pods.assign(static_cast<std::size_t>(count), {NodeId(node), GpuSet::from_bits(1)});
    return fact;
  };
  const char* const taken = "its GPUs are not free on that node";
  const char* const others = "a server of MPS serves another user on its GPU";
  State state = shared();
  expect(state,
         {
             {"four shares", found(kShare, 0, "ann", 0, 4), ""},
             {"five", found(kShare, 0, "ann", 0, 5), taken},
             {"two replicas", found(kReplica, 1, "ann", 0, 2), ""},
             {"three", found(kReplica, 1, "ann", 0, 3), taken},
             {"a replica where there is none", found(kReplica, 0, "ann"), "its node's GPUs are shared in another way"},
         });
  state.apply(found(kShare, 0, "ann"));
  state.apply(found(kReplica, 1, "ann"));
  expect(state, {
                    {"her own", found(kShare, 0, "ann"), ""},
                    {"somebody who was never there", found(kShare, 0, "bob"), others},
                    {"of her name in another tenant, as it is there", found(kShare, 0, "ann", 1), ""},
                    {"a replica beside hers", found(kReplica, 1, "bob"), ""},
                });
  EXPECT_TRUE(violations(state).empty());
}

TEST(Refusal, OfSlicesFoundRunning) {
  const auto found = [](const PodRequest& request, std::initializer_list<std::uint8_t> starts) {
    WorkloadFound fact{submission(QueueId(0), {{{{request, std::ssize(starts)}}}}), {}, Time{}};
    for (const std::uint8_t start : starts) fact.pods.push_back({NodeId(0), GpuSet::from_bits(1), start});
    return fact;
  };
  const char* const taken = "its GPUs are not free on that node";
  const PodRequest half = slice_called("3g.40gb"), seventh = slice_called("1g.10gb");
  State state = cut();
  expect(state, {
                    {"two halves", found(half, {0, 4}), ""},
                    {"at a start that there is not", found(half, {2}), taken},
                    {"twice in one place", found(half, {4, 4}), taken},
                    {"a whole GPU", found({.gpus = 1, .gpu_milli = 1000, .flavors = FlavorSet::of(FlavorId(0))}, {0}),
                     "its node's GPUs are shared in another way"},
                });
  state.apply(found(half, {4}));
  expect(state, {{"beside another", found(seventh, {3, 2}), ""},
                 {"in its way", found(seventh, {6}), taken},
                 {"one of two in its way", found(seventh, {2, 6}), taken}});
  EXPECT_TRUE(violations(state).empty());
}

TEST(Refusal, OfPodsFoundRunning) {
  const auto found = [](const PodRequest& request, NodeId node, std::uint64_t gpus, std::int64_t count = 1) {
    return WorkloadFound{submission(QueueId(0), {{{{request, count}}}}), {{node, GpuSet::from_bits(gpus)}}, Time{}};
  };
  const PodRequest gpu = kGpu;
  expect(
      known(),
      {
          {"a GPU", found(gpu, NodeId(0), 1), ""},
          {"a part of one", found({.gpus = 1, .gpu_milli = 300}, NodeId(0), 1), ""},
          {"no GPU", found({.cpu_milli = 1, .memory_bytes = 1}, NodeId(0), 0), ""},
          {"two pods in one place", found(gpu, NodeId(0), 1, 2), "a found workload has a place for each of its pods"},
          {"two pods on one device",
           WorkloadFound{submission(QueueId(0), {{{{gpu, 2}}}}),
                         {{NodeId(0), GpuSet::from_bits(1)}, {NodeId(0), GpuSet::from_bits(1)}},
                         Time{}},
           "its GPUs are not free on that node"},
          {"two halves of one device",
           WorkloadFound{submission(QueueId(0), {{{{{.gpus = 1, .gpu_milli = 500}, 2}}}}),
                         {{NodeId(0), GpuSet::from_bits(1)}, {NodeId(0), GpuSet::from_bits(1)}},
                         Time{}},
           ""},
          {"two pods that ask too much CPU together",
           WorkloadFound{
               submission(QueueId(0), {{{{{.cpu_milli = 1}, 2}}}}), {{NodeId(0), {}}, {NodeId(0), {}}}, Time{}},
           "its node has too little free CPU"},
          {"in two ways",
           WorkloadFound{
               submission(QueueId(0), {{{{gpu, 1}}, {{gpu, 1}}}}), {{NodeId(0), GpuSet::from_bits(1)}}, Time{}},
           "a found workload runs in one way"},
          {"before all time",
           WorkloadFound{submission(QueueId(0), {{{{gpu, 1}}}}), {{NodeId(0), GpuSet::from_bits(1)}}, Time{-1}},
           "a time is out of bounds"},
          {"nowhere", found(gpu, NodeId(1), 1), "there is no such node"},
          {"no device named", found(gpu, NodeId(0), 0), "a found pod names as many GPUs as it asks"},
          {"a device too many", found({}, NodeId(0), 1), "a found pod names as many GPUs as it asks"},
          {"a device that there is not", found(gpu, NodeId(0), 2), "its GPUs are not free on that node"},
          {"another type", found({.gpus = 1, .gpu_milli = 1000, .flavors = FlavorSet::of(FlavorId(1))}, NodeId(0), 1),
           "its node's GPUs are of another type"},
          {"too much CPU", found({.cpu_milli = 2}, NodeId(0), 0), "its node has too little free CPU"},
          {"too much memory", found({.memory_bytes = 2}, NodeId(0), 0), "its node has too little free memory"},
      });
  State held = known();
  held.apply(found(gpu, NodeId(0), 1));
  const WorkloadId only(held.workloads().next_id().index() - 1);
  expect(held, {{"a device that is held", found(gpu, NodeId(0), 1), "its GPUs are not free on that node"},
                {"the last pod ends alone", PodEnded{only, 0}, "a workload has no such pod beside another"},
                {"a pod of nobody", PodEnded{WorkloadId(99), 0}, "there is no such workload in that phase"},
                {"it leaves", LeavingFound{only, Time{5}}, ""},
                {"it leaves before all time", LeavingFound{only, Time{-1}}, "a time is out of bounds"},
                {"nobody leaves", LeavingFound{WorkloadId(99), Time{5}}, "there is no such workload in that phase"}});
}

}  // namespace berth::refusal_of_found_test
