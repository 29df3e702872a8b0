#include "cycle/repairs.h"

#include <algorithm>
#include <cstddef>
#include <tuple>
#include <utility>
#include <variant>

#include "cycle/asking.h"
#include "cycle/claim.h"
#include "cycle/deliverable.h"
#include "cycle/for_each_place.h"
#include "cycle/moving.h"
#include "cycle/outranks.h"
#include "cycle/shadows.h"
#include "cycle/spares.h"
#include "cycle/taking_out.h"
#include "fairness/gates.h"
#include "fairness/rights.h"

namespace berth {
namespace {

// What one order of claims says of two in different places of the tree: what covers them, then the priority.
using RepairRank = std::pair<std::int32_t, std::int32_t>;

RepairRank rank_of(const State& state, WorkloadId gang) {
  const Workload& workload = state.workload(gang);
  return {coverage_of(state.quotas(), workload), state.shape(workload.shape).terms.priority};
}

// The way in which it was placed, if none of its pods has ended.
std::optional<std::size_t> way_of_all(const State& state, WorkloadId gang) {
  std::vector<std::pair<std::uint32_t, RequestId>> members;
  for_each_pod(state, gang, [&](const Pod& pod) { members.emplace_back(pod.number, pod.request); });
  for (const LostMember& lost : state.find_repairing(gang)->lost) members.emplace_back(lost.number, lost.request);
  std::ranges::sort(members);
  const auto& ways = state.shape(state.workload(gang).shape).ways;
  for (std::size_t way = 0; way < ways.size(); ++way) {
    std::vector<RequestId> asked;
    for (const NumberedPodSet& set : ways[way]) {
      asked.insert(asked.end(), static_cast<std::size_t>(set.count), set.request);
    }
    if (std::ranges::equal(members, asked, {}, [](const auto& each) { return each.second; })) return way;
  }
  return std::nullopt;
}

class RepairSearch {
 public:
  RepairSearch(const State& state, Trial& trial, ScoreIndex& index, WorkloadId gang, Time now)
      : state_(state),
        trial_(trial),
        index_(index),
        gang_(gang),
        workload_(state.workload(gang)),
        shape_(state.shape(workload_.shape)),
        claimant_{gang, workload_.queue, shape_.terms, nothing_, now},
        asking_(state, claimant_, 0) {}

  std::optional<Repaired> run() {
    const Trial::Mark mark = trial_.mark();
    set_higher_claims_aside();
    std::optional<Repaired> found = in_free_room();
    if (!found) found = with_spares();
    if (!found) found = elsewhere();
    // Those of higher claims choose for themselves.
    trial_.rollback_to(mark);
    if (found) carry_out(*found);
    return found;
  }

 private:
  // The first of each shape in each line, in free room.
  void set_higher_claims_aside() {
    const RepairRank own = rank_of(state_, gang_);
    state_.lines_in_use().for_each([&](QueueId line) {
      for (const ShapeInLine& entry : state_.lines()[line.index()]->shapes()) {
        if (entry.waiting.empty() || entry.blocked()) continue;
        set_aside_if_higher(entry.waiting.front().workload, state_.shape(entry.shape), own);
      }
    });
  }

  void set_aside_if_higher(WorkloadId id, const Shape& shape, RepairRank own) {
    if (shape.terms.best_effort) return;
    const QuotaLedger& quotas = trial_.quotas();
    const QueueId queue = state_.workload(id).queue;
    for (std::size_t way = 0; way < shape.ways.size(); ++way) {
      const AmountList asked = asked_by(state_, queue, shape, way);
      const QueueId covered_at = quotas.would_be_covered_at(queue, asked, quotas.end_of(shape.terms));
      // Who could take the gang's room a moment later is not to be passed, either.
      const bool is_higher = RepairRank{coverage_of(quotas.tree(), covered_at), shape.terms.priority} > own;
      if (!is_higher && !outranks(state_, id, gang_)) continue;
      if (quota_refusal(quotas, queue, shape.user, shape.terms, asked)) continue;
      Rng rng(state_.seed(), id.value());
      if (std::holds_alternative<Start>(place_in_way(state_, trial_, index_, id, way, rng))) return;
    }
  }

  std::optional<Repaired> in_free_room() {
    const Trial::Mark mark = trial_.mark();
    auto outcome = asking_.place(trial_, index_);
    Start* const start = std::get_if<Start>(&outcome);
    if (start == nullptr) return std::nullopt;
    if (asking_.is_as_asked(trial_, *start, claimant_.asked) &&
        asking_.leaves_floors_whole(trial_, *start, claimant_.now)) {
      return Repaired{.repair = repair_with(*start), .evictions = {}, .migration = {}};
    }
    trial_.rollback_to(mark);
    return std::nullopt;
  }

  // What is free on spares costs nobody anything, so it comes before what others hold.
  std::optional<Repaired> with_spares() {
    std::optional<Repaired> found = find_on_fewest_spares(
        state_, trial_, [&] { return in_free_room(); },
        [](const Repaired& repaired) -> const auto& { return repaired.repair->pods; });
    if (found) return found;
    trial_.lend_spares(state_.spares());
    found = in_others_room();
    trial_.lend_spares({});
    return found;
  }

  std::optional<Repaired> in_others_room() {
    // Where a budget was gone it counts for nothing though it did not ask for that.
    if (workload_.best_effort) return std::nullopt;
    auto outcome = claim_room(state_, trial_, index_, claimant_, 0);
    Claimed* const claimed = std::get_if<Claimed>(&outcome);
    if (claimed == nullptr) return std::nullopt;
    return Repaired{.repair = repair_with(claimed->start), .evictions = std::move(claimed->evictions), .migration = {}};
  }

  Repair repair_with(const Start& start) const {
    return {.workload = gang_, .pods = start.pods, .lost_gpu_s = lost_by_own_pods_gpu_s(state_, gang_, claimant_.now)};
  }

  // Once it has left its own room: in free room, else in the room of others.
  std::optional<Repaired> elsewhere() {
    const auto way = way_of_all(state_, gang_);
    if (!way || !may_begin_anew(state_, gang_, claimant_.now)) return std::nullopt;
    const Trial::Mark mark = trial_.mark();
    leave();
    Claimant whole = claimant_;
    whole.moves_whole = true;
    const Asking asking(state_, whole, *way);
    auto free = asking.place(trial_, index_);
    Start* const start = std::get_if<Start>(&free);
    if (start != nullptr && asking.is_as_asked(trial_, *start, claimant_.asked) &&
        asking.leaves_floors_whole(trial_, *start, claimant_.now)) {
      return Repaired{.repair = {}, .evictions = {}, .migration = migration_to(std::move(*start))};
    }
    trial_.rollback_to(mark);
    if (workload_.best_effort) return std::nullopt;
    leave();
    auto outcome = claim_room(state_, trial_, index_, whole, *way);
    if (Claimed* const claimed = std::get_if<Claimed>(&outcome)) {
      return Repaired{.repair = {},
                      .evictions = std::move(claimed->evictions),
                      .migration = migration_to(std::move(claimed->start))};
    }
    trial_.rollback_to(mark);
    return std::nullopt;
  }

  Migration migration_to(Start start) const {
    return {.start = std::move(start),
            .claimant = gang_,
            .stop_by = end_of_grace(state_, gang_, claimant_.now),
            .lost_gpu_s = lost_by_own_pods_gpu_s(state_, gang_, claimant_.now)};
  }

  void leave() {
    for_each_pod(state_, gang_, [&](const Pod& pod) { give_back(state_, trial_, pod, Emptied::kCountsAsScrubbed); });
  }

  void carry_out(const Repaired& found) {
    const auto put = [&](const PodRequest& request, const PodPlacement& place) {
      trial_.apply(move_of(request, place));
    };
    for (const Eviction& each : found.evictions) take_out(state_, trial_, each.workload, Emptied::kCountsAsScrubbed);
    if (found.migration) {
      leave();
      return for_each_place(state_, found.migration->start, put);
    }
    for_each_place(state_, *found.repair, put);
    const AmountList held = held_when_repaired(state_, gang_, found.repair->pods);
    if (held != trial_.quotas().held_by(workload_.unit)) trial_.set_held(workload_.unit, held);
  }

  const State& state_;
  Trial& trial_;
  ScoreIndex& index_;
  WorkloadId gang_;
  const Workload& workload_;
  const Shape& shape_;
  AmountList nothing_;
  Claimant claimant_;
  Asking asking_;
};

}  // namespace

std::vector<WorkloadId> gangs_to_repair(const State& state) {
  std::vector<std::tuple<RepairRank, Time, WorkloadId>> gangs;
  for (const auto& [id, repairing] : state.repairing()) {
    if (!repairing.lost.empty()) gangs.emplace_back(rank_of(state, id), repairing.since, id);
  }
  std::ranges::sort(gangs, [](const auto& a, const auto& b) {
    if (std::get<RepairRank>(a) != std::get<RepairRank>(b)) return std::get<RepairRank>(a) > std::get<RepairRank>(b);
    return std::tie(std::get<Time>(a), std::get<WorkloadId>(a)) < std::tie(std::get<Time>(b), std::get<WorkloadId>(b));
  });
  std::vector<WorkloadId> ids;
  for (const auto& each : gangs) ids.push_back(std::get<WorkloadId>(each));
  return ids;
}

std::optional<Repaired> find_repair(const State& state, Trial& trial, ScoreIndex& index, WorkloadId gang, Time now) {
  return RepairSearch(state, trial, index, gang, now).run();
}

}  // namespace berth
