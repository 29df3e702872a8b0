#include "cycle/moving.h"

#include <algorithm>
#include <cstddef>
#include <functional>
#include <span>
#include <utility>
#include <variant>

#include "cycle/deliverable.h"
#include "fairness/gates.h"
#include "placement/place.h"
#include "state/moves_may_help.h"
#include "state/room.h"

namespace berth {
namespace {

// The way of its shape in which it runs, if all of its pods are still there.
std::optional<std::size_t> way_of(const State& state, WorkloadId id) {
  const auto& ways = state.shape(state.workload(id).shape).ways;
  for (std::size_t way = 0; way < ways.size(); ++way) {
    PodId at = state.workload(id).first_pod;
    bool same = true;
    for (const NumberedPodSet& set : ways[way]) {
      for (std::int64_t i = 0; same && i < set.count; ++i) {
        same = !at.is_none() && state.pod(at).request == set.request;
        if (same) at = state.pod(at).next;
      }
    }
    if (same && at.is_none()) return way;
  }
  return std::nullopt;
}

// Of a level; or of everything.
struct Within {
  const Domains* domains = nullptr;
  DomainId domain;

  bool contains(NodeId node) const { return domains == nullptr || domains->of(node) == domain; }
};

class Search {
 public:
  Search(const State& state, Trial& trial, ScoreIndex& index, const Vacating& vacating, WorkloadId claimant,
         const MoveBounds& bounds, Time now)
      : state_(state),
        trial_(trial),
        index_(index),
        vacating_(vacating),
        claimant_(claimant),
        bounds_(bounds),
        now_(now) {
    list_movers();
  }

  bool has_movers() const { return !movers_.empty(); }

  // Takes room for so many pods more, where it is free or can be made; how many found it.
  std::int64_t make_room(RequestId request, std::int64_t wanted, Within within) {
    request_ = request;
    std::int64_t found = take_free_room(wanted, within);
    if (found < wanted) found += free_nodes(wanted - found, within);
    if (found < wanted) found += move_one_by_one(wanted - found, within);
    return found;
  }
  std::int64_t found_free() const { return found_free_; }

  // What was taken for pods is theirs to choose in.
  void give_taken_room() {
    for (const Taken& taken : taken_) {
      trial_.apply(move_of(state_.request(taken.request), taken.place, Move::Direction::kGive));
    }
    taken_.clear();
  }

  std::vector<Migration> migrations() && { return std::move(migrations_); }
  Wide lost() const { return lost_; }

 private:
  struct Mover {
    WorkloadId workload;
    std::size_t way = 0;
    std::int64_t lost_gpu_s = 0;
    bool moved = false;
  };
  struct OnNode {
    NodeId node;
    std::size_t mover = 0;

    friend auto operator<=>(const OnNode&, const OnNode&) = default;
  };
  struct Taken {
    RequestId request;
    PodPlacement place;
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

  // Those of whom least is lost first.
  void list_movers() {
    for (std::size_t queue = 0; queue < state_.queues().size(); ++queue) {
      for (const UnitId unit : state_.quotas().units_in(QueueId(queue))) {
        const WorkloadId id = state_.quotas().unit(unit).workload;
        if (!may_be_moved(state_, id, now_)) continue;
        movers_.push_back({id, *way_of(state_, id), berth::lost_gpu_s(state_, id, now_)});
      }
    }
    std::sort(movers_.begin(), movers_.end(), [](const Mover& a, const Mover& b) {
      if (a.lost_gpu_s != b.lost_gpu_s) return a.lost_gpu_s < b.lost_gpu_s;
      return a.workload > b.workload;
    });
    for (std::size_t each = 0; each < movers_.size(); ++each) {
      for_each_pod(state_, movers_[each].workload, [&](const Pod& pod) { on_node_.push_back({pod.node, each}); });
    }
    std::sort(on_node_.begin(), on_node_.end());
    on_node_.erase(std::unique(on_node_.begin(), on_node_.end()), on_node_.end());
  }

  std::int64_t room_on(NodeId node) const { return room_for(trial_.ledger(), node, state_.request(request_)); }

  // Pods of the request that now have a place on the node, of so many at most.
  std::int64_t take_room_on(NodeId node, std::int64_t wanted) {
    std::int64_t taken = 0;
    Rng rng(state_.seed(), claimant_.value());
    for (std::int64_t room = std::min(wanted, room_on(node)); taken < room; ++taken) {
      const auto place = index_.best_among(state_, request_, std::span(&node, 1), rng);
      if (!place) break;
      trial_.apply(move_of(state_.request(request_), *place));
      taken_.push_back({request_, *place});
    }
    return taken;
  }

  std::int64_t take_free_room(std::int64_t wanted, Within within) {
    std::int64_t taken = 0;
    for (std::size_t node = 0; taken < wanted && node < state_.nodes(); ++node) {
      if (within.contains(NodeId(node))) taken += take_room_on(NodeId(node), wanted - taken);
    }
    found_free_ += taken;
    return taken;
  }

  // Node by node, the one first where least is lost.
  std::int64_t free_nodes(std::int64_t wanted, Within within) {
    constexpr auto kLater = [](const Alternative& a, const Alternative& b) { return a.is_later_than(b); };
    std::vector<Alternative> heap;
    for (std::size_t i = 0; i < on_node_.size(); ++i) {
      const NodeId node = on_node_[i].node;
      if ((i > 0 && on_node_[i - 1].node == node) || !within.contains(node)) continue;
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
  std::int64_t move_one_by_one(std::int64_t wanted, Within within) {
    std::int64_t found = 0;
    int in_vain = 0;
    for (std::size_t each = 0; each < movers_.size(); ++each) {
      std::vector<NodeId> nodes;
      for_each_pod(state_, movers_[each].workload, [&](const Pod& pod) { nodes.push_back(pod.node); });
      for (const NodeId node : nodes) {
        if (found == wanted || in_vain == bounds_.in_vain_max) return found;
        if (movers_[each].moved || !within.contains(node) || !frees_alone(movers_[each], node)) continue;
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
      if (movers_[at->mover].moved) continue;
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
      if (pod.node == node) give(pod);
    });
  }
  // What it leaves is scrubbed for who comes.
  void give(const Pod& pod) {
    trial_.depart(move_of(state_.request(pod.request), pod.place(), Move::Direction::kGive),
                  Emptied::kCountsAsScrubbed);
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
      for_each_pod(state_, movers_[each].workload,
                   [&](const Pod& pod) { freed += take_room_on(pod.node, wanted - freed); });
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
    for (const std::size_t each : movers) movers_[each].moved = true;
    lost_ += alternative.lost_gpu_s;
    return freed;
  }

  void take_out(const Mover& mover) {
    for_each_pod(state_, mover.workload, [&](const Pod& pod) { give(pod); });
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
    const WorkloadId id = mover.workload;
    auto start = packs_well(mover) ? packed(mover) : placed_as_ever(mover);
    if (!start || vacating_.holds_up(state_, *start)) return false;
    const Workload& workload = state_.workload(id);
    const Shape& shape = state_.shape(workload.shape);
    if (!workload.best_effort && amounts_held(state_, shape, *start) != state_.quotas().held_by(workload.unit)) {
      return false;
    }
    const Time stops = stop_by(mover);
    start->waits = stops > now_;
    migrations_.push_back({std::move(*start), claimant_, stops, mover.lost_gpu_s});
    return true;
  }

  // It goes anywhere, whoever is there, and likes no node better than another.
  bool packs_well(const Mover& mover) const {
    const auto& sets = state_.shape(state_.workload(mover.workload).shape).ways[mover.way];
    return std::ranges::all_of(sets, [&](const NumberedPodSet& set) {
      return !set.asks_for_domains() && !set.parallel.is_declared() &&
             state_.ledger().matches().likings(state_.request(set.request).constraints).empty() &&
             !state_.ledger().neighbourhood().matters_to(state_.request(set.request).neighbours);
    });
  }

  // Each pod where the fewest GPUs are left, whatever the policy of placement: it makes way for whole nodes.
  std::optional<Start> packed(const Mover& mover) {
    Start start{.workload = mover.workload, .way = static_cast<std::uint32_t>(mover.way), .pods = {}};
    Rng rng(state_.seed(), mover.workload.value());
    for (const NumberedPodSet& set : state_.shape(state_.workload(mover.workload).shape).ways[mover.way]) {
      for (std::int64_t i = 0; i < set.count; ++i) {
        const auto node = fullest_with_room(state_.request(set.request));
        const auto place = node ? index_.best_among(state_, set.request, std::span(&*node, 1), rng) : std::nullopt;
        if (!place) return std::nullopt;
        trial_.apply(move_of(state_.request(set.request), *place));
        start.pods.push_back(*place);
      }
    }
    return start;
  }

  std::optional<NodeId> fullest_with_room(const PodRequest& request) const {
    std::optional<NodeId> fullest;
    for (std::size_t node = 0; node < state_.nodes(); ++node) {
      const Ledger& ledger = trial_.ledger();
      if (fullest && ledger.node(NodeId(node)).gpu_milli >= ledger.node(*fullest).gpu_milli) continue;
      if (room_for(ledger, NodeId(node), request) > 0) fullest = NodeId(node);
    }
    return fullest;
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
  MoveBounds bounds_;
  Time now_;
  RequestId request_;
  std::vector<Mover> movers_;    // those of whom least is lost first
  std::vector<OnNode> on_node_;  // by node
  std::vector<Taken> taken_;
  std::vector<Migration> migrations_;
  Wide lost_ = 0;
  std::int64_t found_free_ = 0;
};

// One claimant in one way.
class OneWay {
 public:
  OneWay(const State& state, Trial& trial, ScoreIndex& index, const Vacating& vacating, const Claimant& claimant,
         std::size_t way)
      : state_(state),
        trial_(trial),
        index_(index),
        vacating_(vacating),
        claimant_(claimant),
        way_(way),
        shape_(state.shape(state.workload(claimant.workload).shape)) {}

  std::optional<Moved> run() {
    if (!moves_may_help(state_, shape_, way_) || asks_what_is_not_searched() || refusal(claimant_.asked)) return {};
    const Domains* const domains = domains_to_be_in();
    if (domains == nullptr) return run_within({});
    std::optional<DomainId> best;
    Wide least = 0;
    for (std::size_t domain = 0; domain < domains->size(); ++domain) {
      const Trial::Mark mark = trial_.mark();
      const auto moved = run_within({domains, DomainId(domain)});
      trial_.rollback_to(mark);
      if (!moved || (best && least <= lost_gpu_s(moved->migrations))) continue;
      best = DomainId(domain);
      least = lost_gpu_s(moved->migrations);
    }
    return best ? run_within({domains, *best}) : std::nullopt;
  }

 private:
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

  // Of the first set that has to be in one domain.
  const Domains* domains_to_be_in() const {
    for (const NumberedPodSet& set : shape_.ways[way_]) {
      const bool required = state_.topologies()[set.topology].together == Togetherness::kRequired;
      if (required) return &state_.topologies().domains(set.topology);
    }
    return nullptr;
  }

  std::optional<Moved> run_within(Within within) {
    const Wide worth = gpu_s_to_use(state_, claimant_.workload);
    const Trial::Mark mark = trial_.mark();
    Search search(state_, trial_, index_, vacating_, claimant_.workload,
                  {.lost_gpu_s_below = worth, .lost_gpu_s_of_each_below = worth}, claimant_.now);
    if (!search.has_movers()) return std::nullopt;
    const bool found = std::ranges::all_of(shape_.ways[way_], [&](const NumberedPodSet& set) {
      return search.make_room(set.request, set.count, within) == set.count;
    });
    search.give_taken_room();
    Moved moved{.start = {}, .migrations = std::move(search).migrations()};
    auto start = found ? place(moved.migrations) : std::nullopt;
    if (!start || moved.migrations.empty()) {
      trial_.rollback_to(mark);
      return std::nullopt;
    }
    moved.start = std::move(*start);
    return moved;
  }

  std::optional<Start> place(const std::vector<Migration>& moved) {
    for (const OpenFlavors open : {OpenFlavors::kAny, OpenFlavors::kFirst}) {
      const Trial::Mark mark = trial_.mark();
      Rng rng(state_.seed(), claimant_.workload.value());
      auto outcome = place_in_way(state_, trial_, index_, claimant_.workload, way_, rng, open);
      Start* const start = std::get_if<Start>(&outcome);
      if (start != nullptr && !refusal(amounts_held(state_, shape_, *start)) &&
          leaves_floors_whole(state_, trial_, *start, moved)) {
        return std::move(*start);
      }
      trial_.rollback_to(mark);
    }
    return std::nullopt;
  }

  const State& state_;
  Trial& trial_;
  ScoreIndex& index_;
  const Vacating& vacating_;
  const Claimant& claimant_;
  std::size_t way_;
  const Shape& shape_;
};

}  // namespace

bool may_be_moved(const State& state, WorkloadId id, Time now) {
  const Workload& workload = state.workload(id);
  const Terms& terms = state.shape(workload.shape).terms;
  if (!terms.movable || workload.phase != Phase::kRunning || terms.disruption_permille > 0) return false;
  // Its steps would be left behind.
  const bool has_steps = std::ranges::any_of(
      state.steps_of(id), [&](WorkloadId step) { return state.workload(step).phase != Phase::kPending; });
  if (has_steps || !workload.step_of.is_none()) return false;
  if (workload.started + state.queues()[workload.queue.index()].quota.min_runtime > now) return false;
  if (workload.moved && *workload.moved + kMoveCooldown > now) return false;
  if (state.find_repairing(id) != nullptr || !may_begin_anew(state, id, now)) return false;
  return way_of(state, id).has_value();
}

bool may_begin_anew(const State& state, WorkloadId id, Time now) {
  const Workload& workload = state.workload(id);
  const Terms& terms = state.shape(workload.shape).terms;
  if (terms.run_limit && !state.windows().empty()) return false;
  return !state.quotas().budgets().is_charged(id) && enforced_end(terms, workload.started) > now + terms.grace;
}

std::optional<Moved> room_by_moving(const State& state, Trial& trial, ScoreIndex& index, const Vacating& vacating,
                                    const Claimant& claimant, std::size_t way) {
  return OneWay(state, trial, index, vacating, claimant, way).run();
}

MadeRoom make_room_for_pods_like(const State& state, Trial& trial, ScoreIndex& index, const Vacating& vacating,
                                 WorkloadId pods_of, const MoveBounds& bounds, Time now) {
  Search search(state, trial, index, vacating, WorkloadId(), bounds, now);
  const RequestId request = state.shape(state.workload(pods_of).shape).ways.front().front().request;
  const std::int64_t after = search.make_room(request, INT64_MAX, {});
  search.give_taken_room();
  const std::int64_t before = search.found_free();
  return {.migrations = std::move(search).migrations(), .pods_before = before, .pods_after = after};
}

Wide gpu_s_to_use(const State& state, WorkloadId id) {
  const Workload& workload = state.workload(id);
  const Shape& shape = state.shape(workload.shape);
  Duration run = kForever - Time{};
  if (workload.declared_run != kRunNotDeclared) run = std::min(run, workload.declared_run);
  if (shape.terms.run_limit) run = std::min(run, *shape.terms.run_limit);
  return Wide{shape.gpu_milli} * run.ms / 1'000'000;
}

std::int64_t lost_gpu_s(const std::vector<Migration>& migrations) {
  Wide lost = 0;
  for (const Migration& each : migrations) lost += each.lost_gpu_s;
  return narrow(lost).value_or(INT64_MAX);
}

}  // namespace berth
