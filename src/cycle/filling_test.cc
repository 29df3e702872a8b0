// How one cycle fills an idle cluster, on one level of queues: what Dominant Resource Fairness promises (Ghodsi et al., NSDI
// 2011), as far as it holds with pods that are all or nothing, and the order of rules 9 and 10 beside plain progressive filling.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "base/property_seeds.h"
#include "base/wide.h"
#include "cycle/run_cycle.h"
#include "state/random_world.h"

namespace berth::filling_test {

constexpr std::uint64_t kSeeds = kFewSeeds ? 200 : 10'000;

// ---- the four properties ------------------------------------------------------------------------------------------

constexpr std::size_t kKinds = 3;
using Bundle = std::array<std::int64_t, kKinds>;  // GPUs, thousandths of a core, MiB

Bundle times(const Bundle& bundle, std::int64_t by) { return {bundle[0] * by, bundle[1] * by, bundle[2] * by}; }

// How many pods fit into a bundle, in thousandths, if pods could be cut.
std::int64_t milli_pods_in(const Bundle& bundle, const Bundle& pod) {
  std::int64_t pods = INT64_MAX;
  for (std::size_t kind = 0; kind < kKinds; ++kind) {
    if (pod[kind] > 0) pods = std::min(pods, bundle[kind] * 1000 / pod[kind]);
  }
  return pods;
}

// A team has as many equal pods as it likes, or only a few.
struct Team {
  std::int64_t weight_milli = 1000;
  Bundle pod;
  std::int64_t wants = 0;
};

struct World {
  Bundle capacity;
  std::vector<Team> teams;

  // How many pods of each team one cycle starts on one node that has all there is.
  std::vector<std::int64_t> filled() const {
    Engine engine;
    State& state = engine.state;
    state = new_state(Seed{1}, PlacementPolicy::kBestFit, 1, {});
    for (const Team& team : teams) {
      Quota quota = taking_nothing();
      quota.weight_milli = team.weight_milli;
      state.apply(QueueAdded{{.name = "team", .parent = {}, .order = Order::kFifo, .quota = std::move(quota)}});
    }
    state.apply(NodesAdded{{{.name = "node",
                             .flavor = FlavorId(0),
                             .gpus = static_cast<std::int32_t>(capacity[0]),
                             .cpu_milli = capacity[1],
                             .memory_bytes = capacity[2] << 20}}});
    for (std::size_t i = 0; i < teams.size(); ++i) {
      const PodRequest request{.cpu_milli = teams[i].pod[1],
                               .memory_bytes = teams[i].pod[2] << 20,
                               .gpus = static_cast<std::int32_t>(teams[i].pod[0]),
                               .gpu_milli = teams[i].pod[0] > 0 ? kMilliPerGpu : 0};
      for (std::int64_t left = teams[i].wants; left > 0; --left) {
        state.apply(submission(QueueId(i), single_pod(request)));
      }
    }
    std::vector<std::int64_t> started(teams.size());
    for (const Start& start : run_cycle(engine, Time{}, Effort::unbounded()).starts) {
      ++started[state.workload(start.workload).queue.index()];
    }
    return started;
  }
};

World random_world(Rng& rng) {
  World world;
  // A few of them have room for a thousand pods and more.
  const std::int64_t size = rng.below(50) == 0 ? 40 : rng.between(2, 4);
  world.capacity = {rng.below(2) == 0 ? rng.between(4, 64) : 0, size * rng.between(5, 20) * 1000,
                    size * rng.between(5, 20) * 1024};
  for (std::int64_t left = rng.between(2, 4); left > 0; --left) {
    Team team{.weight_milli = one_of<std::int64_t>(rng, {1000, 1000, 2000, 3000}), .pod = {}};
    team.pod = {world.capacity[0] > 0 && rng.below(3) == 0 ? 1 : 0, rng.between(1, 9) * 500, rng.between(1, 9) * 256};
    const std::int64_t most = milli_pods_in(world.capacity, team.pod) / 1000;
    team.wants = rng.below(4) == 0 ? rng.between(0, most) : most + 1;
    world.teams.push_back(team);
  }
  return world;
}

// What one pod of another is worth in pods of this team: the most by which the last that fits may help or hurt it.
std::int64_t pods_for_one_of_another(const World& world, std::size_t team) {
  std::int64_t most = 1;
  for (const Team& other : world.teams) {
    for (std::size_t kind = 0; kind < kKinds; ++kind) {
      const std::int64_t own = world.teams[team].pod[kind];
      if (own > 0) most = std::max(most, (other.pod[kind] + own - 1) / own);
    }
  }
  return most;
}

// A pod that asks for more than it needs is worth one, two that ask for half are worth one.
void check_that_lying_does_not_pay(const World& world, const std::vector<std::int64_t>& honest, Rng& rng) {
  const auto liar = static_cast<std::size_t>(rng.below(world.teams.size()));
  const std::int64_t most = honest[liar] + 1 + pods_for_one_of_another(world, liar);
  World lied = world;
  Team& team = lied.teams[liar];
  for (std::int64_t& amount : team.pod) amount += amount * rng.between(0, 3) / 2;
  EXPECT_LE(lied.filled()[liar], most) << "who asks for more than he needs";
  team = world.teams[liar];
  if (team.pod[0] % 2 != 0) return;
  for (std::int64_t& amount : team.pod) amount /= 2;
  team.wants *= 2;
  EXPECT_LE(lied.filled()[liar] / 2, most) << "who asks in halves";
}

TEST(FillingProperty, DominantResourceFairness) {
  std::int64_t pods = 0;
  for (const Seed seed : property_seeds(kSeeds)) {
    SCOPED_TRACE(name_of(seed));
    Rng rng(seed);
    const World world = random_world(rng);
    const std::vector<std::int64_t> started = world.filled();
    Bundle left = world.capacity;
    std::int64_t weights = 0;
    for (std::size_t i = 0; i < started.size(); ++i) {
      for (std::size_t kind = 0; kind < kKinds; ++kind) left[kind] -= world.teams[i].pod[kind] * started[i];
      weights += world.teams[i].weight_milli;
      pods += started[i];
    }
    for (std::size_t i = 0; i < started.size(); ++i) {
      const Team& team = world.teams[i];
      if (started[i] == team.wants) continue;
      EXPECT_LT(milli_pods_in(left, team.pod), 1000) << "Pareto efficiency: " << i << " could have one more";
      // His part of everything for himself.
      Bundle part = times(world.capacity, team.weight_milli);
      for (std::int64_t& amount : part) amount /= weights;
      EXPECT_GE(started[i], milli_pods_in(part, team.pod) / 1000) << "sharing incentive: " << i;
      for (std::size_t j = 0; j < started.size(); ++j) {
        // One of his own pods may be missing for want of room, and others may have filled what was left since, with less
        // than would make another.
        const Team& other = world.teams[j];
        Bundle theirs = times(times(other.pod, started[j]), team.weight_milli);
        for (std::int64_t& amount : theirs) amount /= other.weight_milli;
        EXPECT_LE(milli_pods_in(theirs, team.pod),
                  (started[i] + 1) * 1000 + 1000 * team.weight_milli / other.weight_milli)
            << "envy: " << i << " of " << j;
      }
    }
    check_that_lying_does_not_pay(world, started, rng);
    if (HasFailure()) return;
  }
  EXPECT_GT(pods, 10 * static_cast<std::int64_t>(property_seeds(kSeeds).size()));
}

// ---- the order of rules 9 and 10 -----------------------------------------------------------------------------------

constexpr std::size_t kDims = 4;  // GPUs of two flavors, and the CPUs of their nodes
using Held = std::array<std::int64_t, kDims>;

struct PlainQueue {
  std::int64_t weight_milli = 1000;
  Held floor{};
  std::vector<std::pair<std::size_t, Held>> jobs;  // number, what it asks; in order
  std::size_t next = 0;
  Held held{};
  Held covered{};
};

using Ratio = std::pair<Wide, Wide>;
bool less(const Ratio& a, const Ratio& b) { return a.first * b.second < b.first * a.second; }

// Progressive filling, written down from the rules: one queue after the other gets its next job, until none fits.
class PlainFilling {
 public:
  PlainFilling(Held capacity, std::array<std::int64_t, 2> weights, std::vector<PlainQueue> queues)
      : capacity_(capacity), weights_(weights), queues_(std::move(queues)) {}

  std::vector<std::size_t> order() {
    std::vector<std::size_t> started;
    Held left = capacity_;
    while (PlainQueue* const queue = first()) {
      const auto& [number, asked] = queue->jobs[queue->next];
      bool fits = true;
      for (std::size_t dim = 0; dim < kDims; ++dim) fits = fits && asked[dim] <= left[dim];
      if (!fits) {
        // Whoever stands behind it and could use the same flavor waits.
        const std::size_t gpus = asked[0] > 0 ? 0 : 2;
        std::erase_if(queue->jobs, [&, seen = std::size_t{0}](const auto& job) mutable {
          return seen++ >= queue->next && job.second[gpus] > 0;
        });
        continue;
      }
      ++queue->next;
      const bool inside = fits_floor(*queue, asked);
      for (std::size_t dim = 0; dim < kDims; ++dim) {
        left[dim] -= asked[dim];
        queue->held[dim] += asked[dim];
        if (inside) queue->covered[dim] += asked[dim];
      }
      started.push_back(number);
    }
    return started;
  }

 private:
  // Even numbers are GPUs, odd ones CPUs.
  static bool floored(const PlainQueue& queue, std::size_t dim) {
    return queue.floor[dim % 2] > 0 || queue.floor[dim % 2 + 2] > 0;
  }
  bool fits_floor(const PlainQueue& queue, const Held& asked) const {
    bool any = false;
    for (std::size_t dim = 0; dim < kDims; ++dim) {
      if (asked[dim] == 0 || !floored(queue, dim)) continue;
      any = true;
      if (queue.covered[dim] + asked[dim] > queue.floor[dim]) return false;
    }
    return any;
  }
  Ratio largest(const Held& parts, const Held& wholes, std::int64_t divided_by) const {
    Ratio most{0, 1};
    for (const std::size_t kind : {0u, 1u}) {
      const Wide part = Wide{parts[kind]} * weights_[0] + Wide{parts[kind + 2]} * weights_[1];
      const Wide whole = Wide{wholes[kind]} * weights_[0] + Wide{wholes[kind + 2]} * weights_[1];
      if (whole > 0 && less(most, {part, whole * divided_by})) most = {part, whole * divided_by};
    }
    return most;
  }
  PlainQueue* first() {
    PlainQueue* best = nullptr;
    std::pair<bool, Ratio> best_rank;
    for (PlainQueue& queue : queues_) {
      if (queue.next == queue.jobs.size()) continue;
      const auto& [number, asked] = queue.jobs[queue.next];
      std::pair<bool, Ratio> rank{!fits_floor(queue, asked), {}};
      if (rank.first) {
        Held above{};
        for (std::size_t dim = 0; dim < kDims; ++dim) {
          const std::int64_t then = queue.held[dim] + asked[dim];
          above[dim] =
              floored(queue, dim) ? std::max<std::int64_t>(0, then - queue.floor[dim]) : then - queue.covered[dim];
        }
        rank.second = largest(above, capacity_, queue.weight_milli);
      } else {
        rank.second = largest(queue.held, queue.floor, 1);
      }
      const bool before = best == nullptr || rank.first < best_rank.first ||
                          (rank.first == best_rank.first && less(rank.second, best_rank.second)) ||
                          (rank.first == best_rank.first && !less(best_rank.second, rank.second) &&
                           number < best->jobs[best->next].first);
      if (!before) continue;
      best = &queue;
      best_rank = rank;
    }
    return best;
  }

  Held capacity_;
  std::array<std::int64_t, 2> weights_;
  std::vector<PlainQueue> queues_;
};

// One node of each flavor, so that what fits in sum fits.
TEST(FillingProperty, IsPlainProgressiveFilling) {
  constexpr Dim kDim[kDims] = {Dim(FlavorId(0), Resource::kGpu), Dim(FlavorId(0), Resource::kCpu),
                               Dim(FlavorId(1), Resource::kGpu), Dim(FlavorId(1), Resource::kCpu)};
  for (const Seed seed : property_seeds(kSeeds)) {
    SCOPED_TRACE(name_of(seed));
    Rng rng(seed);
    Engine engine;
    State& state = engine.state;
    state.apply(RunConfigured{seed, PlacementPolicy::kBestFit});
    const std::array<std::int64_t, 2> weights = {rng.between(1, 3), rng.between(1, 3)};
    for (const std::int64_t weight : weights) {
      state.apply(FlavorAdded{{.name = "flavor", .model = "gpu", .memory_mib = 0, .weight = weight}});
    }
    Held capacity{};
    std::vector<Node> nodes;
    for (const std::size_t flavor : {0u, 1u}) {
      nodes.push_back({.name = "node",
                       .flavor = FlavorId(flavor),
                       .gpus = static_cast<std::int32_t>(rng.between(4, 24)),
                       .cpu_milli = rng.between(4, 40) * 1000});
      capacity[2 * flavor] = nodes.back().gpus * std::int64_t{kMilliPerGpu};
      capacity[2 * flavor + 1] = nodes.back().cpu_milli;
    }
    std::vector<PlainQueue> queues(static_cast<std::size_t>(rng.between(2, 5)));
    Held left = capacity;
    for (PlainQueue& queue : queues) {
      Quota quota = taking_nothing();
      queue.weight_milli = quota.weight_milli = one_of<std::int64_t>(rng, {500, 1000, 1000, 2000});
      for (std::size_t dim = 0; dim < kDims; ++dim) {
        if (rng.below(3) == 0) queue.floor[dim] = rng.between(0, left[dim] / 1000) * 1000;
        left[dim] -= queue.floor[dim];
        if (queue.floor[dim] > 0) quota.guarantee.push_back({kDim[dim], queue.floor[dim]});
      }
      std::ranges::sort(quota.guarantee, {}, &Amount::dim);
      state.apply(QueueAdded{{.name = "queue", .parent = {}, .order = Order::kFifo, .quota = std::move(quota)}});
    }
    state.apply(NodesAdded{nodes});
    for (std::size_t number = 0; number < 30; ++number) {
      const auto queue = static_cast<std::size_t>(rng.below(queues.size()));
      const auto flavor = static_cast<std::size_t>(rng.below(2));
      const PodRequest request{.cpu_milli = rng.between(0, 4) * 1000,
                               .gpus = one_of(rng, {1, 1, 1, 2, 3}),
                               .gpu_milli = kMilliPerGpu,
                               .flavors = FlavorSet::of(FlavorId(flavor))};
      Held asked{};
      asked[2 * flavor] = request.gpus * std::int64_t{kMilliPerGpu};
      asked[2 * flavor + 1] = request.cpu_milli;
      queues[queue].jobs.emplace_back(number, asked);
      state.apply(submission(QueueId(queue), single_pod(request)));
    }
    std::vector<std::size_t> started;
    for (const Start& start : run_cycle(engine, Time{}, Effort::unbounded()).starts) {
      started.push_back(start.workload.index());
    }
    ASSERT_EQ(started, PlainFilling(capacity, weights, queues).order());
  }
}

}  // namespace berth::filling_test
