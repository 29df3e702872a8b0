// Worlds and words for the tables of what State::refusal says; for tests only.
#pragma once

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "model/gpu_hardware.h"
#include "state/random_world.h"
#include "state/state.h"

namespace berth::refusal_cases {

struct Case {
  const char* what;
  Event event;
  const char* refusal;  // empty: none
};

inline void expect(const State& state, const std::vector<Case>& cases) {
  for (const Case& c : cases) EXPECT_EQ(state.refusal(c.event).value_or(""), c.refusal) << c.what;
}

// Two flavors, a queue with an order, one node; workload 0 pending, 1 cancelled.
inline State known() {
  State state = new_state(Seed{1}, PlacementPolicy::kBestFit, 2, {Order::kFifo});
  state.apply(NodesAdded{
      {{.name = "", .flavor = FlavorId(0), .gpus = 1, .gpu_memory_mib = 0, .cpu_milli = 1, .memory_bytes = 1}}});
  state.apply(submission(QueueId(0), single_pod({})));
  state.apply(submission(QueueId(0), single_pod({})));
  state.apply(WorkloadCancelled{WorkloadId(1)});
  return state;
}

inline const PodRequest kGpu{.gpus = 1, .gpu_milli = 1000};

inline Event submit(const PodRequest& request, std::int64_t count = 1) {
  return submission(QueueId(0), {{{{request, count}}}});
}
inline Event add_node(const Node& node) { return NodesAdded{{node}}; }
inline Event choose(const TypicalPod& pod) { return TypicalPodsChosen{{pod}}; }

inline PodRequest with_memory(std::int32_t milli, std::int64_t memory_mib) {
  return {.gpus = 1, .gpu_milli = milli, .gpu_memory_mib = memory_mib};
}

// One cut A100 of the first flavor; the second is of another family.
inline State cut() {
  State state = new_state(Seed{1}, PlacementPolicy::kBestFit, 2, {Order::kFifo});
  state.apply(add_node({.name = "", .flavor = FlavorId(0), .gpus = 1, .pods_max = 9, .sharing = Sharing::kMig}));
  return state;
}

inline PodRequest slice_called(std::string_view name, std::size_t flavor = 0) {
  const NamedSlice slice = *find_slice(random_world_flavor(FlavorId(flavor)), name);
  return {.gpus = 1,
          .gpu_milli = slice.gpu_milli,
          .flavors = FlavorSet::of(FlavorId(flavor)),
          .sharing = Sharing::kMig,
          .slice = slice.shape};
}

// A node of each flavor: the first has MPS, the second is time-sliced.
inline State shared() {
  State state = new_state(Seed{1}, PlacementPolicy::kBestFit, 2, {Order::kFifo, Order::kFifo});
  state.apply(add_node({.name = "", .flavor = FlavorId(0), .gpus = 2, .pods_max = 99, .sharing = Sharing::kMps}));
  state.apply(add_node(
      {.name = "", .flavor = FlavorId(1), .gpus = 1, .pods_max = 99, .sharing = Sharing::kTimeslice, .replicas = 2}));
  return state;
}

inline constexpr PodRequest kShare{.gpus = 1, .gpu_milli = 250, .sharing = Sharing::kMps};
inline constexpr PodRequest kReplica{.gpus = 1, .gpu_milli = 1000, .sharing = Sharing::kTimeslice};

}  // namespace berth::refusal_cases
