#include "cycle/moving.h"

#include <algorithm>
#include <cstddef>
#include <functional>
#include <span>
#include <utility>
#include <variant>

#include "cycle/deliverable.h"
#include "cycle/mixtures.h"
#include "cycle/repacking.h"
#include "fairness/gates.h"
#include "placement/place.h"
#include "state/moves_may_help.h"
#include "state/room.h"

namespace berth {
namespace {

class MoveSearch {
 public:
  MoveSearch(const State& state, Trial& trial, ScoreIndex& index, const Vacating& vacating, WorkloadId claimant,
             const std::vector<Mover>& movers, const MoveBounds& bounds, Time now)
      : state_(state),
        trial_(trial),
        index_(index),
        vacating_(vacating),
        claimant_(claimant),
        movers_(movers),
        moved_(movers.size(), false),
        bounds_(bounds),
        now_(now) {
    list_by_node();
  }

  // Takes room for the pods of one that is wanted, where it is free or can be made; how many found it.
  std::int64_t make_room(std::span<const RoomWanted> all, std::size_t which) {
    room_ = all[which];
    which_ = which;
    const std::int64_t wanted = room_.pods;
    std::int64_t found = take_free_room(wanted);
    found_free_ += found;
    if (found < wanted) found += free_nodes(wanted - found);
    // Where the last has left a domain that it is to have for itself, or of the strangers there, all of that is free.
    const bool is_alone =
        state_.ledger().exclusives().is_exclusive(request().exclusive) || !state_.ledger().tenants().none();
    if (found < wanted && is_alone) found += take_free_room(wanted - found);
    if (found < wanted) found += move_one_by_one(wanted - found);
    return found;
  }
  std::int64_t found_free() const { return found_free_; }

  Arrangement found() && { return {std::move(migrations_), std::move(taken_)}; }

 private:
  struct OnNode {
    NodeId node;
    std::size_t mover = 0;

    friend auto operator<=>(const OnNode&, const OnNode&) = default;
  };
  // Who must go so that one more pod fits on a node.
  struct Alternative {
    Wide lost_gpu_s = 0;
    std::size_t count = 0;
    NodeId node;
    std::vector<std::size_t> movers;

    bool is_later_than(const Alternative& other) const {
      if (lost_gpu_s != other.lost_gpu_s) return lost_gpu_s > other.lost_gpu_s;
      if (count != other.count) return count > other.count;
      return node > other.node;
    }
  };

  void list_by_node() {
    for (std::size_t each = 0; each < movers_.size(); ++each) {
      for_each_pod(state_, movers_[each].workload, [&](const Pod& pod) { on_node_.push_back({pod.node, each}); });
    }
    std::sort(on_node_.begin(), on_node_.end());
    on_node_.erase(std::unique(on_node_.begin(), on_node_.end()), on_node_.end());
  }

  const PodRequest& request() const { return state_.request(room_.request); }
  std::int64_t room_on(NodeId node) const { return room_for(trial_.ledger(), node, request()); }

  // Pods of the request that now have a place on the node, of so many at most.
  std::int64_t take_room_on(NodeId node, std::int64_t wanted) {
    std::int64_t taken = 0;
    Rng rng(state_.seed(), claimant_.value());
    for (std::int64_t room = std::min(wanted, room_on(node)); taken < room; ++taken) {
      const auto place = index_.best_among(state_, room_.request, std::span(&node, 1), rng);
      if (!place) break;
      trial_.apply(move_of(request(), *place));
      taken_.push_back({which_, *place});
    }
    return taken;
  }

  std::int64_t take_free_room(std::int64_t wanted) {
    std::int64_t taken = 0;
    for (std::size_t node = 0; taken < wanted && node < state_.nodes(); ++node) {
      if (room_.within.contains(NodeId(node))) taken += take_room_on(NodeId(node), wanted - taken);
    }
    return taken;
  }

  // Node by node, the one first where least is lost.
  std::int64_t free_nodes(std::int64_t wanted) {
    constexpr auto kLater = [](const Alternative& a, const Alternative& b) { return a.is_later_than(b); };
    std::vector<Alternative> heap;
    for (std::size_t i = 0; i < on_node_.size(); ++i) {
      const NodeId node = on_node_[i].node;
      if ((i > 0 && on_node_[i - 1].node == node) || !room_.within.contains(node)) continue;
      if (auto alternative = alternative_on(node)) heap.push_back(std::move(*alternative));
    }
    std::make_heap(heap.begin(), heap.end(), kLater);
    std::int64_t found = 0;
    int in_vain = 0;
    while (found < wanted && !heap.empty() && in_vain < bounds_.in_vain_max) {
      std::pop_heap(heap.begin(), heap.end(), kLater);
      const Alternative first = std::move(heap.back());
      heap.pop_back();
      // Since it was looked at, some may have gone for the sake of another node, or come to this one.
      auto now = alternative_on(first.node);
      if (!now) continue;
      if (now->is_later_than(first) || first.is_later_than(*now)) {
        heap.push_back(std::move(*now));
        std::push_heap(heap.begin(), heap.end(), kLater);
        continue;
      }
      const std::int64_t freed = carry_out(*now, wanted - found);
      found += freed;
      if (freed == 0) {
        ++in_vain;
      } else if (auto next = alternative_on(first.node)) {
        heap.push_back(std::move(*next));
        std::push_heap(heap.begin(), heap.end(), kLater);
      }
    }
    return found;
  }

  // Of a node those who cost least may have nowhere to go, where one who costs more has.
  std::int64_t move_one_by_one(std::int64_t wanted) {
    std::int64_t found = 0;
    int in_vain = 0;
    for (std::size_t each = 0; each < movers_.size(); ++each) {
      std::vector<NodeId> nodes;
      for_each_pod(state_, movers_[each].workload, [&](const Pod& pod) { nodes.push_back(pod.node); });
      for (const NodeId node : nodes) {
        if (found == wanted || in_vain == bounds_.in_vain_max) return found;
        if (moved_[each] || !room_.within.contains(node) || !frees_alone(movers_[each], node)) continue;
        const std::int64_t freed = carry_out({movers_[each].lost_gpu_s, 1, node, {each}}, wanted - found);
        found += freed;
        in_vain += freed == 0 ? 1 : 0;
      }
    }
    return found;
  }

  bool frees_alone(const Mover& mover, NodeId node) {
    const std::int64_t before = room_on(node);
    const Trial::Mark mark = trial_.mark();
    leave(mover, node);
    const bool frees = room_on(node) > before;
    trial_.rollback_to(mark);
    return frees;
  }

  std::optional<Alternative> alternative_on(NodeId node) {
    Alternative made{.node = node, .movers = {}};
    const std::int64_t before = room_on(node);
    const Trial::Mark mark = trial_.mark();
    bool frees = false;
    const auto begin = std::lower_bound(on_node_.begin(), on_node_.end(), OnNode{node, 0});
    for (auto at = begin; !frees && at != on_node_.end() && at->node == node; ++at) {
      if (moved_[at->mover]) continue;
      made.movers.push_back(at->mover);
      leave(movers_[at->mover], node);
      frees = room_on(node) > before;
    }
    trial_.rollback_to(mark);
    if (!frees) return std::nullopt;
    leave_out_the_needless(made, before);
    for (const std::size_t each : made.movers) made.lost_gpu_s += movers_[each].lost_gpu_s;
    made.count = made.movers.size();
    return made;
  }

  // Those of whom most is lost stay first. The last that was added is needed.
  void leave_out_the_needless(Alternative& made, std::int64_t before) {
    for (std::size_t at = made.movers.size() - 1; at-- > 0;) {
      const Trial::Mark mark = trial_.mark();
      for (std::size_t other = 0; other < made.movers.size(); ++other) {
        if (other != at) leave(movers_[made.movers[other]], made.node);
      }
      const bool needless = room_on(made.node) > before;
      trial_.rollback_to(mark);
      if (needless) made.movers.erase(made.movers.begin() + static_cast<std::ptrdiff_t>(at));
    }
  }

  void leave(const Mover& mover, NodeId node) {
    for_each_pod(state_, mover.workload, [&](const Pod& pod) {
      if (pod.node == node) berth::leave(state_, trial_, pod);
    });
  }

  // How many pods it makes room for; none, and nothing is moved, where one of the movers finds no room elsewhere, or it would
  // cost too much.
  std::int64_t carry_out(const Alternative& alternative, std::int64_t wanted) {
    const auto moves = static_cast<std::int64_t>(migrations_.size() + alternative.movers.size());
    const bool pays = alternative.lost_gpu_s < bounds_.lost_gpu_s_of_each_below &&
                      lost_ + alternative.lost_gpu_s < bounds_.lost_gpu_s_below;
    if (moves > bounds_.moves_max || !pays) return 0;
    const Trial::Mark mark = trial_.mark();
    const std::size_t taken_before = taken_.size();
    const std::size_t moved_before = migrations_.size();
    const Vacating vacating_before = vacating_;
    for (const std::size_t each : alternative.movers) take_out(movers_[each]);
    std::int64_t freed = take_room_on(alternative.node, wanted);
    // Where a gang goes from one node, others come free, too.
    for (const std::size_t each : alternative.movers) {
      for_each_pod(state_, movers_[each].workload, [&](const Pod& pod) {
        if (room_.within.contains(pod.node)) freed += take_room_on(pod.node, wanted - freed);
      });
    }
    std::vector<std::size_t> movers = alternative.movers;
    // The largest pods first: the small find room in what these leave.
    std::ranges::stable_sort(movers, std::greater<>(), [&](std::size_t each) { return largest_pod(movers_[each]); });
    const bool all_placed =
        freed > 0 && std::ranges::all_of(movers, [&](std::size_t each) { return place_elsewhere(movers_[each]); });
    if (!all_placed) {
      trial_.rollback_to(mark);
      taken_.resize(taken_before);
      migrations_.resize(moved_before);
      vacating_ = vacating_before;
      return 0;
    }
    for (const std::size_t each : movers) moved_[each] = true;
    lost_ += alternative.lost_gpu_s;
    return freed;
  }

  void take_out(const Mover& mover) {
    for_each_pod(state_, mover.workload, [&](const Pod& pod) { berth::leave(state_, trial_, pod); });
    vacating_.leaves(state_, mover.workload, stop_by(mover) <= now_);
  }

  Time stop_by(const Mover& mover) const {
    return now_ + state_.shape(state_.workload(mover.workload).shape).terms.grace;
  }

  std::int64_t largest_pod(const Mover& mover) const {
    std::int64_t largest = 0;
    for_each_pod(state_, mover.workload, [&](const Pod& pod) {
      largest = std::max<std::int64_t>(largest, state_.request(pod.request).gpu_milli_total());
    });
    return largest;
  }

  // Where nobody is in its way once it has stopped itself, and where it holds what it held.
  bool place_elsewhere(const Mover& mover) {
    auto start = packs_well(state_, mover) ? pack(state_, trial_, index_, mover) : placed_as_ever(mover);
    if (!start || vacating_.holds_up(state_, *start) || !holds_what_it_held(state_, *start)) return false;
    migrations_.push_back(migration_of(state_, mover, std::move(*start), claimant_, now_));
    return true;
  }

  std::optional<Start> placed_as_ever(const Mover& mover) {
    Rng rng(state_.seed(), mover.workload.value());
    auto outcome = place_in_way(state_, trial_, index_, mover.workload, mover.way, rng);
    if (Start* const start = std::get_if<Start>(&outcome)) return std::move(*start);
    return std::nullopt;
  }

  const State& state_;
  Trial& trial_;
  ScoreIndex& index_;
  Vacating vacating_;
  WorkloadId claimant_;
  const std::vector<Mover>& movers_;  // those of whom least is lost first
  std::vector<bool> moved_;           // of each
  MoveBounds bounds_;
  Time now_;
  RoomWanted room_;              // that is looked for,
  std::size_t which_ = 0;        // of all that is wanted
  std::vector<OnNode> on_node_;  // by node
  std::vector<TakenRoom> taken_;
  std::vector<Migration> migrations_;
  Wide lost_ = 0;
  std::int64_t found_free_ = 0;
};

// One claimant in one way.
class OneWay {
 public:
  OneWay(const State& state, Trial& trial, ScoreIndex& index, const Vacating& vacating, const Claimant& claimant,
         std::size_t way, std::int64_t& attempts)
      : state_(state),
        trial_(trial),
        index_(index),
        vacating_(vacating),
        claimant_(claimant),
        way_(way),
        shape_(state.shape(state.workload(claimant.workload).shape)),
        attempts_(attempts) {}

  std::optional<Moved> run() {
    if (!moves_may_help(state_, shape_, way_) || asks_what_is_not_searched() || refusal(claimant_.asked)) return {};
    movers_ = movers_of(state_, claimant_.now);
    if (movers_.empty()) return std::nullopt;
    for (const Found& found : first_plans()) {
      if (auto moved = settle(found)) return moved;
    }
    return std::nullopt;
  }

 private:
  // What was found, in one domain for those sets that have to be in one.
  struct Found {
    std::vector<RoomWanted> wanted;
    Arrangement plan;

    bool is_complete() const { return has_room_for_all(wanted, plan); }
  };

  std::optional<QuotaRefusal> refusal(const AmountList& held) const {
    return quota_refusal(trial_.quotas(), claimant_.queue, shape_.user, claimant_.terms, held);
  }

  // Room is made pod by pod, which says nothing of slices of pods that stay together, nor of pods that are spread.
  bool asks_what_is_not_searched() const {
    return std::ranges::any_of(shape_.ways[way_], [&](const NumberedPodSet& set) {
      const Topology& topology = state_.topologies()[set.topology];
      return topology.has_slices() || topology.is_spread();
    });
  }

  bool is_in_one_domain(const NumberedPodSet& set) const {
    return state_.topologies()[set.topology].together == Togetherness::kRequired;
  }

  // Of the first set that has to be in one domain.
  const Domains* domains_to_be_in() const {
    for (const NumberedPodSet& set : shape_.ways[way_]) {
      if (is_in_one_domain(set)) return &state_.topologies().domains(set.topology);
    }
    return nullptr;
  }

  // There for the sets that have to be in one domain, which are looked at first, and anywhere for the others.
  std::vector<RoomWanted> room_wanted(Within within) const {
    std::vector<RoomWanted> wanted;
    for (const bool bound : {true, false}) {
      const auto begin = std::ssize(wanted);
      for (const NumberedPodSet& set : shape_.ways[way_]) {
        if (is_in_one_domain(set) != bound) continue;
        const auto same = std::find_if(wanted.begin() + begin, wanted.end(),
                                       [&](const RoomWanted& each) { return each.request == set.request; });
        if (same != wanted.end()) {
          same->pods += set.count;
        } else {
          wanted.push_back({set.request, set.count, bound ? within : Within()});
        }
      }
    }
    return wanted;
  }

  MoveBounds bounds() const {
    const Wide worth = gpu_s_to_use(state_, claimant_.workload);
    return {.lost_gpu_s_below = worth, .lost_gpu_s_of_each_below = worth};
  }

  // Those with room for all first, the cheapest first; then those with the most room.
  std::vector<Found> first_plans() {
    std::vector<Found> plans;
    if (const Domains* const domains = domains_to_be_in()) {
      for (std::size_t domain = 0; domain < domains->size(); ++domain) {
        plans.push_back(first_plan({domains, DomainId(domain)}));
      }
    } else {
      plans.push_back(first_plan({}));
    }
    std::ranges::stable_sort(plans, [&](const Found& a, const Found& b) {
      if (a.is_complete() != b.is_complete()) return a.is_complete();
      if (!a.is_complete()) return a.plan.rooms.size() > b.plan.rooms.size();
      return lost_gpu_s(a.plan.migrations) < lost_gpu_s(b.plan.migrations);
    });
    return plans;
  }

  Found first_plan(Within within) {
    const Trial::Mark mark = trial_.mark();
    MoveSearch search(state_, trial_, index_, vacating_, claimant_.workload, movers_, bounds(), claimant_.now);
    std::vector<RoomWanted> wanted = room_wanted(within);
    for (std::size_t each = 0; each < wanted.size(); ++each) {
      const bool all = search.make_room(wanted, each) == wanted[each].pods;
      if (!all && attempts_ == 0) break;
    }
    Found found{std::move(wanted), std::move(search).found()};
    trial_.rollback_to(mark);
    return found;
  }

  static bool has_room_for_all(const std::vector<RoomWanted>& wanted, const Arrangement& plan) {
    for (std::size_t each = 0; each < wanted.size(); ++each) {
      if (std::ranges::count(plan.rooms, each, &TakenRoom::wanted) != wanted[each].pods) return false;
    }
    return true;
  }

  // A better plan, where there is one and the claimant has its places by it; else this one. Of what is left of the effort a
  // domain in which there is not room for all yet has half.
  std::optional<Moved> settle(const Found& found) {
    const bool complete = found.is_complete();
    if (complete && found.plan.migrations.empty()) return std::nullopt;
    std::int64_t own = complete ? attempts_ : (attempts_ + 1) / 2;
    attempts_ -= own;
    const Repacking asked{found.wanted, bounds(), claimant_.workload, claimant_.now};
    const auto better = repack(state_, trial_, index_, vacating_, asked, movers_, found.plan, own);
    attempts_ += own;
    auto moved = better ? start_by({found.wanted, std::move(*better)}) : std::nullopt;
    return moved ? std::move(moved) : start_by(found);
  }

  // What was taken for pods is theirs to choose in.
  std::optional<Moved> start_by(const Found& found) {
    const Arrangement& plan = found.plan;
    if (!found.is_complete() || plan.migrations.empty()) return std::nullopt;
    const Trial::Mark mark = trial_.mark();
    auto start = carry_out(state_, trial_, plan.migrations) ? place(plan.migrations) : std::nullopt;
    if (start) return Moved{std::move(*start), plan.migrations};
    trial_.rollback_to(mark);
    return std::nullopt;
  }

  std::optional<Start> place(const std::vector<Migration>& moved) {
    std::optional<Start> found;
    likes_a_mixture(state_, trial_, claimant_.queue, shape_, way_, [&](const Mixture* mixture) {
      const Trial::Mark mark = trial_.mark();
      Rng rng(state_.seed(), claimant_.workload.value());
      auto outcome = place_in_way(state_, trial_, index_, claimant_.workload, way_, rng, mixture);
      Start* const start = std::get_if<Start>(&outcome);
      if (start != nullptr && !refusal(amounts_held(state_, shape_, *start)) &&
          leaves_floors_whole(state_, trial_, *start, moved)) {
        found = std::move(*start);
      }
      if (!found) trial_.rollback_to(mark);
      return found.has_value();
    });
    return found;
  }

  const State& state_;
  Trial& trial_;
  ScoreIndex& index_;
  const Vacating& vacating_;
  const Claimant& claimant_;
  std::size_t way_;
  const Shape& shape_;
  std::int64_t& attempts_;
  std::vector<Mover> movers_;
};

}  // namespace

std::optional<Moved> room_by_moving(const State& state, Trial& trial, ScoreIndex& index, const Vacating& vacating,
                                    const Claimant& claimant, std::size_t way, std::int64_t& attempts) {
  return OneWay(state, trial, index, vacating, claimant, way, attempts).run();
}

MadeRoom make_room_for_pods_like(const State& state, Trial& trial, ScoreIndex& index, const Vacating& vacating,
                                 WorkloadId pods_of, std::int64_t pods_max, const MoveBounds& bounds, Time now,
                                 std::int64_t attempts) {
  const std::vector<Mover> movers = movers_of(state, now);
  const RequestId request = state.shape(state.workload(pods_of).shape).ways.front().front().request;
  const RoomWanted all{request, pods_max};
  const Trial::Mark mark = trial.mark();
  MoveSearch search(state, trial, index, vacating, WorkloadId(), movers, bounds, now);
  search.make_room(std::span(&all, 1), 0);
  MadeRoom made{.plan = {}, .pods_before = search.found_free()};
  made.plan = std::move(search).found();
  trial.rollback_to(mark);
  const Repacking asked{std::span(&all, 1), bounds, WorkloadId(), now};
  if (auto better = repack(state, trial, index, vacating, asked, movers, made.plan, attempts)) {
    made.plan = std::move(*better);
  }
  return made;
}

Wide gpu_s_to_use(const State& state, WorkloadId id) {
  const Workload& workload = state.workload(id);
  const Shape& shape = state.shape(workload.shape);
  Duration run = kForever - Time{};
  if (workload.declared_run != kRunNotDeclared) run = std::min(run, workload.declared_run);
  if (shape.terms.run_limit) run = std::min(run, *shape.terms.run_limit);
  return Wide{shape.gpu_milli} * run.ms / 1'000'000;
}

}  // namespace berth
