#include "cycle/reserved_places.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <tuple>
#include <utility>

#include "cycle/if_all_gave_back.h"
#include "cycle/recutting.h"
#include "cycle/taken_together.h"
#include "fairness/meeting.h"
#include "state/tree_at.h"

namespace berth {
namespace {

// Those that are alike, by node.
using Places = std::map<NodeId, GpuSet>;

std::int64_t count(const Places& places) {
  std::int64_t gpus = 0;
  for (const auto& [node, set] : places) gpus += set.size();
  return gpus;
}

void put(Places& places, Device device) {
  places[device.node] = GpuSet::from_bits(places[device.node].bits() | (std::uint64_t{1} << device.gpu));
}

// More GPUs than this many workloads could leave are not looked at in all ways.
constexpr std::size_t kExactMax = 12;

class Choice {
 public:
  Choice(const State& state, const Trial& trial, const WhoStays& who, ReservationId id, const std::set<Device>& taken,
         Time now)
      : state_(state),
        ledger_(trial.ledger()),
        who_(who),
        id_(id),
        reservation_(state.reservations().at(id)),
        taken_(taken),
        now_(now),
        then_(std::max(now, reservation_.from)),
        rights_(state, trial, reservation_, then_, now),
        home_(state.home_of(reservation_.queue)),
        left_(reservation_.gpus),
        together_(state) {
    look_at_cells(trial);
  }

  std::vector<GpusOfNode> make() {
    note_what_it_has();
    note_what_is_promised();
    sort_devices();
    const auto held = ranks_of_held();
    Ranks ranks{};
    for (std::size_t rank = 0; rank < kRanks; ++rank) {
      const std::int64_t before = left_;
      take_from(free_[rank]);
      ranks[rank] = before - left_;
    }
    if (left_ > 0) {
      take_from_others();
    } else if (held == ranks && breadth(held_) <= breadth(chosen_)) {
      chosen_ = held_;
    }
    std::vector<GpusOfNode> made;
    for (const auto& [node, gpus] : chosen_) made.push_back({node, gpus});
    return made;
  }

 private:
  // How well a device does on which nobody is in the way, the best first.
  enum : std::size_t { kOwnSinceItBegan, kHeld, kFree, kOwn, kPromised, kRanks };
  struct Blocked {
    Device device;
    std::vector<WorkloadId> by;
  };

  void note_what_it_has() {
    const HeldPlaces* const holding = state_.holding_of(id_);
    if (holding == nullptr) return;
    for (const GpusOfNode& each : holding->gpus) held_[each.node] = each.gpus;
  }

  // To others, at a time at which it lasts.
  void note_what_is_promised() {
    for (const Shadow& shadow : state_.shadows()) {
      if (is_own(state_, reservation_, shadow.start.workload)) continue;
      const Terms& terms = state_.shape(state_.workload(shadow.start.workload).shape).terms;
      if (!reservation_.meets(shadow.at, enforced_end(terms, shadow.at))) continue;
      for (const PodPlacement& pod : shadow.start.pods) {
        pod.gpus.for_each([&](int gpu) {
          const auto known = promised_.try_emplace({pod.node, gpu}, shadow.at).first;
          known->second = std::min(known->second, shadow.at);
        });
      }
    }
  }

  bool is_closed_then(NodeId node) const {
    return std::ranges::any_of(state_.reservations(), [&](const auto& each) {
      const bool names_it = std::ranges::binary_search(each.second.nodes, node);
      return names_it && each.second.meets(then_, reservation_.to());
    });
  }

  const Dedications& dedications() const { return ledger_.matches().dedications(); }

  // Where the queue's work goes rather: on nodes of its own, and where nobody has to tolerate anything.
  int strangeness(NodeId id) const {
    if (dedications().is_owned(id)) return 0;
    const auto keeps_out = [](const Taint& each) { return each.effect != TaintEffect::kPreferNoSchedule; };
    return std::ranges::any_of(state_.node(id).taints, keeps_out) ? 2 : 1;
  }

  // In the whole domains that its queue's floor comes in before all others, and in those of other queues last (28): else nobody might
  // have his.
  void look_at_cells(const Trial& trial) {
    if (!state_.flavors_with_cells().contains(reservation_.flavor)) return;
    IfAllGaveBack given(state_, trial, reservation_.flavor);
    given.give_cells();
    for (const GivenCell& each : given.cells()) {
      const bool own = given.is_above_or_same(each.queue, reservation_.queue);
      for (const NodeId node : given.domains(each).nodes(each.domain)) {
        int& of_node = of_cells_.try_emplace(node, own ? -1 : 1).first->second;
        of_node = std::max(of_node, own ? -1 : 1);
      }
    }
  }
  int in_cells(NodeId node) const {
    const auto found = of_cells_.find(node);
    return found == of_cells_.end() ? 0 : found->second;
  }

  std::pair<std::int64_t, std::int64_t> strange_gpus(const Places& places) const {
    std::int64_t strange = 0;
    std::int64_t in_cells_of_others = 0;
    for (const auto& [node, gpus] : places) {
      strange += std::int64_t{strangeness(node)} * gpus.size();
      in_cells_of_others += std::int64_t{in_cells(node)} * gpus.size();
    }
    return {strange, in_cells_of_others};
  }

  // What others may turn into something else cannot be kept for a time.
  bool gives_nothing_but_whole_gpus(NodeId id) const {
    const Node& node = state_.node(id);
    return node.sharing == Sharing::kExclusive && node.other_modes.empty();
  }

  void sort_devices() {
    for (std::size_t at = 0; at < ledger_.nodes(); ++at) {
      const NodeId id(at);
      const NodeFree& node = ledger_.node(id);
      // What is closed for maintenance now is open again by then, unless that lasts longer.
      const bool suits = !state_.is_down(id) && !state_.node(id).spare && node.gpus > 0 &&
                         gives_nothing_but_whole_gpus(id) && FlavorId(node.flavor) == reservation_.flavor &&
                         dedications().keeper(home_, id).is_none();
      if (!suits || is_closed_then(id)) continue;
      for (int gpu = 0; gpu < node.gpus; ++gpu) {
        if (!ledger_.is_broken({id, gpu})) sort({id, gpu});
      }
    }
  }

  void sort(Device device) {
    bool own = false;
    bool own_since = false;
    const auto promised = promised_.find(device);
    std::vector<WorkloadId> by;
    if (const auto there = who_.by_device().find(device); there != who_.by_device().end()) {
      for (const Stay& each : there->second) {
        if (each.end <= then_) continue;
        if (is_own(state_, reservation_, each.workload)) {
          // Who was let ahead of a promise leaves it as it was.
          if (promised != promised_.end() && each.end <= promised->second) continue;
          own = true;
          own_since = own_since || state_.workload(each.workload).started >= reservation_.from;
        } else {
          by.push_back(each.workload);
        }
      }
    }
    // Who is alone there keeps everybody from what is free, and who keeps strangers away them.
    const auto note = [&](const Stay& each) {
      if (each.end > then_ && !is_own(state_, reservation_, each.workload) &&
          std::ranges::find(by, each.workload) == by.end()) {
        by.push_back(each.workload);
      }
    };
    std::ranges::for_each(who_.alone_around(device.node), note);
    std::ranges::for_each(who_.strangers_around(state_.reserved_gpu(reservation_), device.node), note);
    if (by.empty()) ++open_on_[device.node];
    if (taken_.contains(device)) return;
    if (!by.empty()) return blocked_.push_back({device, std::move(by)});
    put(free_[rank(device, own, own_since)], device);
  }

  using Ranks = std::array<std::int64_t, kRanks>;  // how many devices are of each

  // Of what it has already; none: somebody is in the way on some of it.
  std::optional<Ranks> ranks_of_held() const {
    Ranks ranks{};
    std::int64_t open = 0;
    for (const auto& [node, gpus] : held_) {
      for (std::size_t rank = 0; rank < kRanks; ++rank) {
        const auto free = free_[rank].find(node);
        const int of_rank = free == free_[rank].end() ? 0 : std::popcount(free->second.bits() & gpus.bits());
        ranks[rank] += of_rank;
        open += of_rank;
      }
    }
    return open == count(held_) ? std::optional(ranks) : std::nullopt;
  }

  // How strange they are, how much of others' cells, on how many nodes, and how much of these could be had. What other reservations have counts, too: of places
  // that are better only because another has just moved, each of several would go round after the others for ever.
  std::tuple<std::pair<std::int64_t, std::int64_t>, std::size_t, std::int64_t> breadth(const Places& places) const {
    std::int64_t open = 0;
    for (const auto& [node, gpus] : places) open += open_on_.at(node);
    return {strange_gpus(places), places.size(), open};
  }

  // Before it begins it gathers what is free; then it follows the queue's own work, and rather has what nobody else is promised.
  std::size_t rank(Device device, bool own, bool own_since) const {
    const bool has_begun = reservation_.has_begun(now_);
    if (has_begun && own_since) return kOwnSinceItBegan;
    const bool is_promised = promised_.contains(device);
    if (has_begun && has(held_, device) && (own || !is_promised)) return kHeld;
    if (own) return kOwn;
    return is_promised ? kPromised : kFree;
  }

  static bool has(const Places& places, Device device) {
    const auto found = places.find(device.node);
    return found != places.end() && found->second.contains(device.gpu);
  }

  // As whole nodes as possible: the fullest first that are not more than is needed, and of the rest the one that is least more.
  void take_from(Places& alike) {
    while (left_ > 0 && !alike.empty()) {
      const auto key = [&](const auto& each) {
        const std::int64_t size = each.second.size();
        const bool too_many = size > left_;
        const auto known = held_.find(each.first);
        return std::tuple(strangeness(each.first), in_cells(each.first), too_many, too_many ? size : -size,
                          known == held_.end(), each.first);
      };
      const auto best = std::ranges::min_element(alike, {}, key);
      take(best->first, best->second);
      alike.erase(best);
    }
  }

  // Those first that it has already.
  void take(NodeId node, GpuSet gpus) {
    const auto known = held_.find(node);
    const std::uint64_t before = known == held_.end() ? 0 : known->second.bits();
    for (const std::uint64_t bits : {gpus.bits() & before, gpus.bits() & ~before}) {
      GpuSet::from_bits(bits).for_each([&](int gpu) {
        if (left_ == 0) return;
        put(chosen_, {node, gpu});
        --left_;
      });
    }
  }

  // ---- the room of others -----------------------------------------------------------------------------------------

  using Takeable = RightsOfReservation::Takeable;

  // Where it has no right in a step, it may have one in that without which the step does not run.
  void look_at(WorkloadId id, std::set<WorkloadId>& seen) {
    if (!seen.insert(id).second) return;
    if (auto found = rights_.of(id)) {
      takeable_.push_back(*std::move(found));
    } else {
      look_at(state_.minimum_of(id), seen);
    }
  }

  void find_takeable() {
    std::set<WorkloadId> seen;
    for (const Blocked& each : blocked_) {
      for (const WorkloadId id : each.by) look_at(id, seen);
    }
    std::ranges::sort(takeable_, [](const Takeable& a, const Takeable& b) {
      if (const auto order = a.claim <=> b.claim; order != 0) return order < 0;
      if (a.lost_gpu_s != b.lost_gpu_s) return a.lost_gpu_s < b.lost_gpu_s;
      return a.workload > b.workload;
    });
    std::vector<TakenTogether::One> all;
    for (const Takeable& each : takeable_) all.push_back({each.workload, each.lost_gpu_s});
    together_.put(std::move(all));
  }

  // So many GPUs more it has with these gone, if it may have them gone at all.
  std::int64_t gained(const Chosen& gone) const {
    std::int64_t gpus = 0;
    for (const Blocked& each : blocked_) gpus += is_left_by(each, gone) ? 1 : 0;
    gpus = std::min(gpus, left_);
    const std::int64_t before = count(chosen_) - own_chosen();
    for (const std::size_t each : gone) {
      const QueueId side = takeable_[each].own_side;
      if (side.is_none()) continue;
      gpus = std::min(gpus, std::max<std::int64_t>(0, inside_.at(side) - before));
    }
    return gpus;
  }

  // A step goes by itself, or with its minimum.
  bool is_left_by(const Blocked& blocked, const Chosen& gone) const {
    return std::ranges::all_of(blocked.by, [&](WorkloadId id) {
      return std::ranges::any_of(gone, [&](std::size_t each) {
        return takeable_[each].workload == id || takeable_[each].workload == state_.minimum_of(id);
      });
    });
  }

  // What its own work is on counts already.
  std::int64_t own_chosen() const {
    std::int64_t own = 0;
    for (const auto& [device, stays] : who_.by_device()) {
      if (!has(chosen_, device)) continue;
      own += std::ranges::any_of(
          stays, [&](const Stay& each) { return each.end > then_ && is_own(state_, reservation_, each.workload); });
    }
    return own;
  }

  // More is better, then that the strongest of them is weak, then that less is lost, then that fewer go.
  bool is_better(const Chosen& gone, const Chosen& than) const {
    const std::int64_t gpus = gained(gone);
    const std::int64_t before = gained(than);
    if (gpus != before) return gpus > before;
    if (gone.empty() || than.empty()) return gone.size() < than.size();
    const auto claims = takeable_[gone.back()].claim <=> takeable_[than.back()].claim;
    if (claims != 0) return claims < 0;
    const auto cost = [&](const Chosen& set) {
      std::int64_t stopped = 0;
      for (const std::size_t each : set) stopped += together_.stopped_with(each);
      return std::pair(together_.lost_by(set), stopped);
    };
    return cost(gone) < cost(than);
  }

  Chosen cheapest_of_all() const {
    Chosen best;
    for (std::uint32_t bits = 1; bits < (std::uint32_t{1} << takeable_.size()); ++bits) {
      Chosen gone;
      for (std::size_t i = 0; i < takeable_.size(); ++i) {
        if (((bits >> i) & 1) != 0) gone.push_back(i);
      }
      if (!together_.says_it_twice(gone) && is_better(gone, best)) best = std::move(gone);
    }
    return best;
  }

  // The weakest first until it is enough; then who is not needed stays, the strongest first.
  Chosen one_by_one() const {
    Chosen gone;
    for (std::size_t i = 0; i < takeable_.size() && gained(gone) < left_; ++i) {
      const std::int64_t before = gained(gone);
      gone.push_back(i);
      if (gained(gone) < before) gone.pop_back();
    }
    for (std::size_t at = gone.size(); at-- > 0;) {
      Chosen fewer = gone;
      fewer.erase(fewer.begin() + static_cast<std::ptrdiff_t>(at));
      if (gained(fewer) >= gained(gone)) gone = std::move(fewer);
    }
    return gone;
  }

  void take_from_others() {
    find_takeable();
    if (takeable_.empty()) return;
    for (const Takeable& each : takeable_) {
      if (!each.own_side.is_none()) inside_.try_emplace(each.own_side, rights_.gpus_inside(each.own_side));
    }
    const Chosen gone = takeable_.size() <= kExactMax ? cheapest_of_all() : one_by_one();
    left_ = gained(gone);
    Places left;
    for (const Blocked& each : blocked_) {
      if (is_left_by(each, gone)) put(left, each.device);
    }
    take_from(left);
  }

  const State& state_;
  const Ledger& ledger_;
  const WhoStays& who_;
  ReservationId id_;
  const Reservation& reservation_;
  const std::set<Device>& taken_;
  Time now_;
  Time then_;
  RightsOfReservation rights_;
  QueueId home_;                     // whose nodes are its queue's own
  std::map<NodeId, int> of_cells_;   // of nodes in whole domains that floors come in: below 0, its own
  std::int64_t left_;                // that it lacks yet
  Places held_;                      // as chosen before
  std::map<Device, Time> promised_;  // to others, from when on
  std::array<Places, kRanks> free_;
  std::map<NodeId, std::int64_t> open_on_;  // devices on which nobody is in the way, other reservations' too
  std::vector<Blocked> blocked_;
  std::vector<Takeable> takeable_;  // by claim, then lost work, then the latest submitted
  TakenTogether together_;          // these
  std::map<QueueId, std::int64_t> inside_;
  Places chosen_;
};

}  // namespace

bool is_own(const State& state, const Reservation& reservation, WorkloadId workload) {
  return !reservation.is_maintenance() && state.is_below(state.workload(workload).queue, reservation.queue);
}

WhoStays::WhoStays(const State& state, const Plan& plan, const std::vector<Eviction>& besides)
    : state_(state), latest_leave_(plan.now) {
  for (const WorkloadId id : state.stopping()) latest_leave_ = std::max(latest_leave_, state.workload(id).stop_by);
  std::set<WorkloadId> told;
  for (const std::vector<Eviction>* const evictions : {&plan.evictions, &besides}) {
    for (const Eviction& each : *evictions) {
      told.insert(each.workload);
      latest_leave_ = std::max(latest_leave_, each.stop_by);
    }
  }
  state.workloads().for_each([&](WorkloadId id, const Workload& workload) {
    if (!has_room(workload.phase) || told.contains(id) || told.contains(workload.step_of)) return;
    const bool runs = workload.phase == Phase::kRunning;
    const Stay stay{
        id, runs ? state.end_of(id, workload.started) : state.end_of(id, latest_leave_ + cut_before(state, id))};
    for_each_pod(state, id, [&](const Pod& pod) {
      std::vector<Stay>& on_node = by_node_[pod.node];
      if (on_node.empty() || on_node.back() != stay) on_node.push_back(stay);
      pod.gpus.for_each([&](int gpu) {
        std::vector<Stay>& there = by_device_[{pod.node, gpu}];
        if (there.empty() || there.back() != stay) there.push_back(stay);
      });
      for (const NodeId node : state.ledger().exclusives().own_nodes(state.request(pod.request), pod.node)) {
        std::vector<Stay>& around = alone_around_[node];
        if (around.empty() || around.back() != stay) around.push_back(stay);
      }
      if (state.ledger().tenants().none() || pod.gpus.empty()) return;
      auto& with_gpus = with_gpus_[pod.node];
      const std::pair there{stay, pod.request};
      if (with_gpus.empty() || with_gpus.back() != there) with_gpus.push_back(there);
    });
  });
}

const std::vector<Stay>& WhoStays::on(NodeId node) const {
  static const std::vector<Stay> kNobody;
  const auto found = by_node_.find(node);
  return found == by_node_.end() ? kNobody : found->second;
}

std::vector<Stay> WhoStays::strangers_around(const PodRequest& pod, NodeId node) const {
  std::vector<Stay> strangers;
  const Ledger& ledger = state_.ledger();
  if (ledger.tenants().none()) return strangers;
  for (const NodeId at : ledger.tenants().nodes_around(node)) {
    const auto there = with_gpus_.find(at);
    if (there == with_gpus_.end()) continue;
    for (const auto& [stay, request] : there->second) {
      const bool kept = ledger.tenants().keep_apart(ledger.trust(), pod, node, state_.request(request), at);
      if (kept && std::ranges::find(strangers, stay) == strangers.end()) strangers.push_back(stay);
    }
  }
  return strangers;
}

const std::vector<Stay>& WhoStays::alone_around(NodeId node) const {
  static const std::vector<Stay> kNobody;
  const auto found = alone_around_.find(node);
  return found == alone_around_.end() ? kNobody : found->second;
}

RightsOfReservation::RightsOfReservation(const State& state, const Trial& trial, const Reservation& reservation,
                                         Time then, Time now)
    : state_(state), trial_(trial), reservation_(reservation), then_(then), now_(now) {}

// By rules 13 and 15: best effort always; else what is not covered on its own side of where the two queues meet, for what is
// covered on the other.
std::optional<RightsOfReservation::Takeable> RightsOfReservation::of(WorkloadId id) const {
  const Workload& workload = state_.workload(id);
  if (workload.phase != Phase::kRunning) return std::nullopt;
  const QuotaLedger& quotas = trial_.quotas();
  const QuotaTree& tree = quotas.tree();
  const QuotaUnit& unit = quotas.unit(workload.unit);
  std::set<QueueId> above;
  for (QueueId at = reservation_.queue; !at.is_none(); at = tree.parent(at)) above.insert(at);
  QueueId meet = workload.queue;
  while (!meet.is_none() && !above.contains(meet)) meet = tree.parent(meet);
  const QueueId side = child_towards(tree, workload.queue, meet);
  Takeable found{.workload = id,
                 .claim = claim_with_steps(state_, quotas, id, share_of(quotas, state_.flavors(), workload.queue)),
                 .lost_gpu_s = lost_if_taken_gpu_s(state_, id, now_),
                 .own_side = {}};
  if (!unit.may_be_covered) return found;
  if (!side.is_none() && is_covered(tree, unit.covered_at, side)) return std::nullopt;
  found.own_side = child_towards(tree, reservation_.queue, meet);
  return found;
}

std::int64_t RightsOfReservation::held_then(QueueId side, QueueId queue) const {
  const QuotaLedger& quotas = trial_.quotas();
  const Dim dim(reservation_.flavor, Resource::kGpu);
  std::int64_t held = 0;
  for (const UnitId id : quotas.units_in(queue)) {
    if (quotas.unit(id).end <= then_) continue;
    held += amount_of(quotas.tree().counted_in_floor(side, quotas.held_by(id)), dim);
  }
  for (const QueueId child : quotas.tree().children(queue)) held += held_then(side, child);
  return held;
}

std::int64_t RightsOfReservation::gpus_inside(QueueId side) const {
  const QuotaTree& tree = tree_at(state_, then_);
  const std::int64_t floor = tree.floor(side)[Dim(reservation_.flavor, Resource::kGpu).index()];
  return std::max<std::int64_t>(0, floor - held_then(side, side)) / kMilliPerGpu;
}

std::vector<GpusOfNode> choose_places(const State& state, const Trial& trial, const WhoStays& who, ReservationId id,
                                      const std::set<Device>& taken, Time now) {
  return Choice(state, trial, who, id, taken, now).make();
}

}  // namespace berth
