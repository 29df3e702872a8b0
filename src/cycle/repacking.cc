#include "cycle/repacking.h"

#include <algorithm>
#include <cstddef>
#include <functional>
#include <utility>

#include "cycle/for_each_place.h"
#include "state/room.h"

namespace berth {

PlanMeasure PlanMeasure::of(const Arrangement& arrangement) {
  Wide lost = 0;
  for (const Migration& each : arrangement.migrations) lost += each.lost_gpu_s;
  return {std::ssize(arrangement.rooms), lost, std::ssize(arrangement.migrations)};
}

bool PlanMeasure::is_better_than(const PlanMeasure& other, const MoveBounds& bounds) const {
  if (rooms != other.rooms) {
    return rooms > other.rooms &&
           lost_gpu_s - other.lost_gpu_s < (rooms - other.rooms) * bounds.lost_gpu_s_of_each_below;
  }
  return lost_gpu_s != other.lost_gpu_s ? lost_gpu_s < other.lost_gpu_s : moves < other.moves;
}

namespace {

constexpr std::uint64_t kStream = std::uint64_t{1} << 51;  // not one of a workload's
constexpr std::int64_t kAWhole = 8;                        // of what is lost; one more may be on the way
constexpr std::size_t kMovesKept = 100'000;                // in the trial, before it is made anew by fewer

class RepackingSearch {
 public:
  RepackingSearch(const State& state, Trial& trial, ScoreIndex& index, const Vacating& vacating, const Repacking& asked,
                  const std::vector<Mover>& movers, const Arrangement& first)
      : state_(state),
        trial_(trial),
        index_(index),
        vacating_(vacating),
        asked_(asked),
        movers_(movers),
        rng_(state.seed(), kStream | asked.claimant.value()),
        begin_(trial.mark()),
        at_(movers.size()),
        rooms_(first.rooms),
        now_(PlanMeasure::of(first)),
        best_(now_) {
    for (const Migration& each : first.migrations) {
      const auto mover = std::ranges::find(movers_, each.start.workload, &Mover::workload);
      at_[static_cast<std::size_t>(mover - movers_.begin())] = each.start;
    }
  }

  std::optional<Arrangement> run(std::int64_t& attempts) {
    std::optional<Arrangement> best;
    bool stands = attempts > 0 && stand_as_now();
    if (stands) list_nodes();
    for (; stands && attempts > 0 && may_be_better(); --attempts) {
      attempt();
      if (now_.is_better_than(best_, asked_.bounds)) {
        best_ = now_;
        best = arrangement();
      }
      if (trial_.mark().moves - begin_.moves > kMovesKept) stands = stand_as_now();
    }
    trial_.rollback_to(begin_);
    return best;
  }

 private:
  // Who it was taken from, and where he was: nowhere else than at home, if nothing is said.
  struct Before {
    std::size_t mover = 0;
    std::optional<Start> at;
  };
  struct OnNode {
    NodeId node;
    std::size_t mover = 0;

    friend auto operator<=>(const OnNode&, const OnNode&) = default;
  };

  // ---- what there is -------------------------------------------------------------------------------------------------

  // Everything as it is now, by as few moves as that takes.
  bool stand_as_now() {
    trial_.rollback_to(begin_);
    if (!carry_out(state_, trial_, arrangement().migrations)) return false;
    return std::ranges::all_of(rooms_, [&](const TakenRoom& room) {
      const PodRequest& request = request_of(room);
      const bool free = is_free(trial_.ledger(), request, room.place);
      if (free) trial_.apply(move_of(request, room.place));
      return free;
    });
  }

  // Whoever leaves or comes again is missed by nobody, and nobody minds him.
  bool may_be_taken_apart(const Mover& mover) const {
    const auto& sets = state_.shape(state_.workload(mover.workload).shape).ways[mover.way];
    return packs_well(state_, mover) && std::ranges::none_of(sets, [&](const NumberedPodSet& set) {
             return state_.ledger().neighbourhood().is_counted(state_.request(set.request).neighbours);
           });
  }

  void list_nodes() {
    for (std::size_t each = 0; each < movers_.size(); ++each) {
      apart_.push_back(may_be_taken_apart(movers_[each]));
      if (!apart_.back()) continue;
      for_each_pod(state_, movers_[each].workload, [&](const Pod& pod) { at_home_.push_back({pod.node, each}); });
    }
    std::sort(at_home_.begin(), at_home_.end());
    at_home_.erase(std::unique(at_home_.begin(), at_home_.end()), at_home_.end());
    for (std::size_t node = 0; node < state_.nodes(); ++node) {
      const NodeFree& free = trial_.ledger().node(NodeId(node));
      const auto home = std::lower_bound(at_home_.begin(), at_home_.end(), OnNode{NodeId(node), 0});
      const bool is_home = home != at_home_.end() && home->node == NodeId(node);
      if (!free.open || (!is_home && free.gpu_milli == 0)) continue;
      nodes_.push_back(NodeId(node));
      const bool is_wanted = std::ranges::any_of(
          asked_.wanted, [&](const RoomWanted& each) { return each.within.contains(NodeId(node)); });
      if (is_wanted && could_have_room(NodeId(node))) targets_.push_back(NodeId(node));
    }
  }

  // If all who may be were somewhere else.
  bool could_have_room(NodeId node) {
    const Saved before = save();
    chosen_ = {node};
    take_rooms_apart();
    take_movers_apart(true);
    const bool could = std::ranges::any_of(asked_.wanted, [&](const RoomWanted& each) {
      return each.within.contains(node) && room_for(trial_.ledger(), node, state_.request(each.request)) > 0;
    });
    take_back_to(before);
    return could;
  }

  const PodRequest& request_of(const TakenRoom& room) const {
    return state_.request(asked_.wanted[room.wanted].request);
  }
  static std::int64_t count_of(const std::vector<TakenRoom>& rooms, std::size_t wanted) {
    return std::ranges::count(rooms, wanted, &TakenRoom::wanted);
  }

  // Somebody may go home, or somebody more may find room.
  bool may_be_better() const {
    if (at_home_.empty() || targets_.empty()) return false;
    if (now_.moves > 0) return true;
    for (std::size_t wanted = 0; wanted < asked_.wanted.size(); ++wanted) {
      if (count_of(rooms_, wanted) < asked_.wanted[wanted].pods) return true;
    }
    return false;
  }

  // Of none the work counts as lost while it stays where it is.
  Arrangement arrangement() const {
    Arrangement made{.migrations = {}, .rooms = rooms_};
    for (std::size_t each = 0; each < movers_.size(); ++each) {
      if (at_[each])
        made.migrations.push_back(migration_of(state_, movers_[each], *at_[each], asked_.claimant, asked_.now));
    }
    return made;
  }

  // ---- one attempt ---------------------------------------------------------------------------------------------------

  struct Saved {
    Trial::Mark mark;
    PlanMeasure now;
    std::vector<TakenRoom> rooms;
  };
  Saved save() {
    before_.clear();
    return {trial_.mark(), now_, rooms_};
  }
  void take_back_to(const Saved& before) {
    trial_.rollback_to(before.mark);
    now_ = before.now;
    rooms_ = before.rooms;
    for (Before& each : before_) at_[each.mover] = std::move(each.at);
  }

  void attempt() {
    const Saved before = save();
    choose_nodes();
    take_rooms_apart();
    take_movers_apart(rng_.below(2) == 0);
    let_some_go_home();
    if (take_rooms(before.rooms) && put_back() && is_good_enough() && nobody_is_in_the_way()) return;
    take_back_to(before);
  }

  // Two to four: one where room is wanted, or was made, and others, rather such as have GPUs free.
  void choose_nodes() {
    chosen_.clear();
    const std::uint64_t count = 2 + rng_.below(3);
    if (rooms_.empty() || rng_.below(2) == 0) {
      chosen_.push_back(targets_[rng_.below(targets_.size())]);
    } else {
      chosen_.push_back(rooms_[rng_.below(rooms_.size())].place.node);
    }
    while (chosen_.size() < count) {
      NodeId node = nodes_[rng_.below(nodes_.size())];
      const NodeId other = nodes_[rng_.below(nodes_.size())];
      if (free_gpus(other) > free_gpus(node)) node = other;
      chosen_.push_back(node);
    }
    std::sort(chosen_.begin(), chosen_.end());
    chosen_.erase(std::unique(chosen_.begin(), chosen_.end()), chosen_.end());
    rng_.shuffle(std::span(chosen_));
  }
  std::int32_t free_gpus(NodeId node) const { return trial_.ledger().node(node).gpu_milli; }
  bool is_chosen(NodeId node) const { return std::ranges::find(chosen_, node) != chosen_.end(); }

  void take_rooms_apart() {
    std::erase_if(rooms_, [&](const TakenRoom& room) {
      if (!is_chosen(room.place.node)) return false;
      trial_.apply(move_of(request_of(room), room.place, Move::Direction::kGive));
      return true;
    });
  }

  // All whose home one of the nodes is, or who are there; or only some of them, so that not everybody changes his place.
  void take_movers_apart(bool all) {
    for (const NodeId node : chosen_) {
      auto home = std::lower_bound(at_home_.begin(), at_home_.end(), OnNode{node, 0});
      for (; home != at_home_.end() && home->node == node; ++home) {
        if (all || rng_.below(2) == 0) take_apart(home->mover);
      }
    }
    for (std::size_t each = 0; each < movers_.size(); ++each) {
      if (!at_[each] || !apart_[each]) continue;
      const bool is_there =
          std::ranges::any_of(at_[each]->pods, [&](const PodPlacement& place) { return is_chosen(place.node); });
      if (is_there && (all || rng_.below(2) == 0)) take_apart(each);
    }
  }

  void take_apart(std::size_t mover) {
    if (std::ranges::find(before_, mover, &Before::mover) != before_.end()) return;
    if (at_[mover]) {
      for_each_place(state_, *at_[mover], [&](const PodRequest& request, const PodPlacement& place) {
        trial_.apply(move_of(request, place, Move::Direction::kGive));
      });
      --now_.moves;
      now_.lost_gpu_s -= movers_[mover].lost_gpu_s;
    } else {
      for_each_pod(state_, movers_[mover].workload, [&](const Pod& pod) { leave(state_, trial_, pod); });
    }
    before_.push_back({mover, std::exchange(at_[mover], std::nullopt)});
  }

  // Before room is taken on the very devices that they had.
  void let_some_go_home() {
    home_.clear();
    for (const Before& each : before_) {
      if (rng_.below(2) == 0 && goes_home(each.mover)) home_.push_back(each.mover);
    }
  }

  // As much as there was on these nodes, and sometimes a pod's more. False: there is less.
  bool take_rooms(const std::vector<TakenRoom>& before) {
    for (std::size_t at = 0; at < asked_.wanted.size(); ++at) {
      const RoomWanted& wanted = asked_.wanted[at];
      const std::int64_t was = count_of(before, at);
      const bool more = was < wanted.pods && rng_.below(2) == 0;
      std::int64_t lacking = was + (more ? 1 : 0) - count_of(rooms_, at);
      for (const NodeId node : chosen_) {
        if (wanted.within.contains(node)) lacking -= take_rooms_on(node, at, lacking);
      }
      if (lacking > (more ? 1 : 0)) return false;
    }
    now_.rooms = std::ssize(rooms_);
    return true;
  }

  std::int64_t take_rooms_on(NodeId node, std::size_t wanted, std::int64_t most) {
    const RequestId request = asked_.wanted[wanted].request;
    std::int64_t taken = 0;
    Rng rng(state_.seed(), asked_.claimant.value());
    for (; taken < most && room_for(trial_.ledger(), node, state_.request(request)) > 0; ++taken) {
      const auto place = index_.best_among(state_, request, std::span(&node, 1), rng);
      if (!place) break;
      trial_.apply(move_of(state_.request(request), *place));
      rooms_.push_back({wanted, *place});
    }
    return taken;
  }

  // The largest first, and of these those of whom most is lost: home, if that is free, and else where they fit. False: one does not.
  bool put_back() {
    std::vector<std::size_t> out;
    for (const Before& each : before_) {
      if (std::ranges::find(home_, each.mover) == home_.end()) out.push_back(each.mover);
    }
    std::sort(out.begin(), out.end(), std::greater<>());
    std::ranges::stable_sort(out, std::greater<>(), [&](std::size_t each) { return largest_pod(each); });
    return std::ranges::all_of(out, [&](std::size_t each) { return goes_home(each) || goes_elsewhere(each); });
  }

  std::int64_t largest_pod(std::size_t mover) const {
    std::int64_t largest = 0;
    for_each_pod(state_, movers_[mover].workload, [&](const Pod& pod) {
      largest = std::max<std::int64_t>(largest, state_.request(pod.request).gpu_milli_total());
    });
    return largest;
  }

  bool goes_home(std::size_t mover) {
    const Trial::Mark mark = trial_.mark();
    bool free = true;
    for_each_pod(state_, movers_[mover].workload, [&](const Pod& pod) {
      free = free && is_free(trial_.ledger(), state_.request(pod.request), pod.place());
      if (free) trial_.apply(move_of(state_.request(pod.request), pod.place()));
    });
    if (!free) trial_.rollback_to(mark);
    return free;
  }

  bool goes_elsewhere(std::size_t mover) {
    auto start = pack(state_, trial_, index_, movers_[mover], &rng_);
    if (!start || !holds_what_it_held(state_, *start)) return false;
    at_[mover] = std::move(*start);
    ++now_.moves;
    now_.lost_gpu_s += movers_[mover].lost_gpu_s;
    return true;
  }

  // A little more than the least may be lost on the way, and as many moved as will: from there something better may be found that
  // cannot be from here (record-to-record travel: G. Dueck, New Optimization Heuristics, J. Comp. Physics 104, 1993).
  bool is_good_enough() const {
    const MoveBounds& bounds = asked_.bounds;
    if (now_.moves > bounds.moves_max || (now_.moves > 0 && now_.lost_gpu_s >= bounds.lost_gpu_s_below)) return false;
    if (now_.rooms != best_.rooms) return now_.is_better_than(best_, bounds);
    return kAWhole * now_.lost_gpu_s <= (kAWhole + 1) * best_.lost_gpu_s;
  }

  // Everybody who is moved could begin where he is to be once those who are moved have stopped themselves.
  bool nobody_is_in_the_way() const {
    Vacating vacating = vacating_;
    std::vector<Migration> migrations = arrangement().migrations;
    for (const Migration& each : migrations) {
      vacating.leaves(state_, each.start.workload, each.stop_by <= asked_.now);
    }
    return std::ranges::none_of(migrations,
                                [&](const Migration& each) { return vacating.holds_up(state_, each.start); });
  }

  const State& state_;
  Trial& trial_;
  ScoreIndex& index_;
  const Vacating& vacating_;
  const Repacking& asked_;
  const std::vector<Mover>& movers_;
  Rng rng_;
  Trial::Mark begin_;
  std::vector<std::optional<Start>> at_;  // of each mover: where he is now; none: at home, where he was
  std::vector<TakenRoom> rooms_;
  PlanMeasure now_;
  PlanMeasure best_;
  std::vector<bool> apart_;        // of each mover: whether he is one of those whom this search moves
  std::vector<OnNode> at_home_;    // by node
  std::vector<NodeId> nodes_;      // that may be taken apart
  std::vector<NodeId> targets_;    // of these where room may be wanted
  std::vector<NodeId> chosen_;     // in this attempt
  std::vector<Before> before_;     // who was taken out in it, and where he was
  std::vector<std::size_t> home_;  // who of these went home at once
};

}  // namespace

std::optional<Arrangement> repack(const State& state, Trial& trial, ScoreIndex& index, const Vacating& vacating,
                                  const Repacking& asked, const std::vector<Mover>& movers, const Arrangement& first,
                                  std::int64_t& attempts) {
  return RepackingSearch(state, trial, index, vacating, asked, movers, first).run(attempts);
}

}  // namespace berth
