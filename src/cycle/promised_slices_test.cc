// Slices that a floor promises by their profile stay deliverable, whatever small guaranteed work comes (docs/semantics.md, rule 28).
#include "cycle/promised_slices.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "base/property_seeds.h"
#include "cycle/explain.h"
#include "cycle/run_cycle.h"
#include "model/gpu_hardware.h"
#include "state/invariants.h"
#include "state/random_world.h"

namespace berth::promised_slices_test {

constexpr std::uint64_t kSeeds = kFewSeeds ? 40 : 300;

// A few A100s that are cut; small work inside a floor of GPUs, others who only borrow, and one who was promised one large slice.
class World {
 public:
  explicit World(Seed seed) : rng_(seed) {
    State& state = engine_.state;
    state = new_state(seed, PlacementPolicy::kBestFit, 1, {});
    large_ = static_cast<std::size_t>(*find_mig_profile(*hardware_of(random_world_flavor(FlavorId(0))),
                                                        one_of<const char*>(rng_, {"3g.40gb", "4g.40gb", "7g.80gb"})));
    gpus_ = rng_.between(1, 4);
    const Dim gpus(FlavorId(0), Resource::kGpu), slices = Dim::of_slices(FlavorId(0), large_);
    add_queue({.guarantee = {{gpus, gpus_ * kMilliPerGpu}}});
    add_queue({});
    add_queue({.guarantee = {{slices, 1}}});
    state.apply(NodesAdded{{{.name = "node",
                             .flavor = FlavorId(0),
                             .gpus = static_cast<std::int32_t>(gpus_),
                             .cpu_milli = 1'000'000,
                             .sharing = Sharing::kMig}}});
  }

  void step() {
    now_ = now_ + Duration{1000};
    std::vector<WorkloadId> running;
    engine_.state.workloads().for_each([&](WorkloadId id, const Workload& workload) {
      if (workload.phase == Phase::kRunning) running.push_back(id);
    });
    if (!running.empty() && rng_.below(3) == 0) {
      const auto which = static_cast<std::size_t>(rng_.below(running.size()));
      engine_.state.apply(WorkloadEnded{running[which]});
    }
    for (std::int64_t left = rng_.between(0, 3); left > 0; --left) submit();
    decide();
    EXPECT_EQ(violations(engine_.state), std::vector<std::string>());
    engine_.state.workloads().for_each([&](WorkloadId id, const Workload& workload) {
      const bool waits = workload.phase == Phase::kPending && workload.queue == kSmall;
      if (waits && explain(engine_.state, id).code == ReasonCode::kKeepsFloorDeliverable) ++kept_waiting;
    });
  }

  // Beside what is inside a floor there is a place for the large one, or its owner has it.
  void check_it_could_be_given() const {
    const State& state = engine_.state;
    const MigGeometry& mig = *mig_of(random_world_flavor(FlavorId(0)));
    std::vector<MigPlaceSet> layouts(static_cast<std::size_t>(gpus_));
    bool has_it = false;
    state.workloads().for_each([&](WorkloadId id, const Workload& workload) {
      if (!has_room(workload.phase) || state.quotas().unit(workload.unit).covered_at.is_none()) return;
      has_it = has_it || workload.queue == kLarge;
      for_each_pod(state, id, [&](const Pod& pod) {
        pod.gpus.for_each([&](int gpu) {
          MigPlaceSet& layout = layouts[static_cast<std::size_t>(gpu)];
          layout = layout.with(*mig.find_place(state.request(pod.request).slice, pod.slice_start));
        });
      });
    });
    const bool could =
        std::ranges::any_of(layouts, [&](MigPlaceSet layout) { return mig.room_for(large_, layout) > 0; });
    EXPECT_TRUE(has_it || could);
  }

  std::int64_t kept_waiting = 0;

 private:
  void decide() {
    State& state = engine_.state;
    for (bool finished = false; !finished;) {
      const Plan plan = run_cycle(engine_, now_, Effort::unbounded());
      state.adopt(plan);
      finished = plan.finished;
    }
  }

  static constexpr QueueId kSmall{0}, kOther{1}, kLarge{2};

  void add_queue(Quota quota) {
    engine_.state.apply(
        QueueAdded{{.name = "queue", .parent = QueueId(), .order = Order::kFifoSkip, .quota = std::move(quota)}});
  }

  void submit() {
    const QueueId queue = one_of(rng_, {kSmall, kSmall, kOther, kLarge});
    PodRequest request;
    make_slice(request, rng_, 1);
    if (queue == kLarge) {
      request.slice = static_cast<std::uint8_t>(large_);
      request.gpu_milli = find_slice(random_world_flavor(FlavorId(0)), large_)->gpu_milli;
    }
    WorkloadShape shape = single_pod(request);
    // What borrows and comes into a floor later is asked nothing then.
    shape.terms.guaranteed_only = queue != kOther;
    engine_.state.apply(submission(queue, std::move(shape)));
  }

  Rng rng_;
  Engine engine_;
  Time now_;
  std::size_t large_ = 0;
  std::int64_t gpus_ = 0;
};

std::int64_t kept_waiting_in(Seed seed) {
  SCOPED_TRACE(name_of(seed));
  World world(seed);
  for (int i = 0; i < 30; ++i) {
    world.step();
    world.check_it_could_be_given();
  }
  return world.kept_waiting;
}

// In this history one borrows and one comes into a floor in the same cycle, on one GPU: the first would give back.
TEST(PromisedSlices, AreKeptAlsoBesideWhoHasJustBorrowed) { kept_waiting_in(Seed{8'000'594}); }

TEST(PromisedSlicesProperty, StayDeliverable) {
  std::int64_t kept_waiting = 0;
  for (const Seed seed : property_seeds(kSeeds)) {
    kept_waiting += kept_waiting_in(seed);
    if (testing::Test::HasFailure()) return;
  }
  EXPECT_GT(kept_waiting, 100) << "it has to be in the way of somebody";
}

}  // namespace berth::promised_slices_test
