#include "cycle/reserved.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "cycle/for_each_place.h"
#include "cycle/recutting.h"
#include "cycle/taking_out.h"
#include "state/tree_at.h"

namespace berth {
namespace {

bool asks_parts(const State& state, const Shape& shape) {
  return std::ranges::any_of(shape.ways, [&](const auto& way) {
    return std::ranges::any_of(way,
                               [&](const NumberedPodSet& set) { return state.request(set.request).is_fraction(); });
  });
}

}  // namespace

void Reserved::choose() {
  if (none()) return;
  who_.emplace(state_, plan_);
  all_.clear();
  for (const auto& [id, reservation] : state_.reservations()) {
    HeldPlaces holding{.reservation = id, .gpus = {}, .drains_at = kForever};
    if (!reservation.is_maintenance()) {
      const std::set<Device> taken = taken_from(id, reservation);
      holding.gpus = choose_places(state_, trial_, *who_, id, taken, plan_.now);
    }
    all_.push_back(std::move(holding));
  }
}

// What those before it have chosen, and what those behind it have from before: nobody takes from another, or two of them and somebody
// who may take from the one and has to give to the other would go round for ever.
std::set<Device> Reserved::taken_from(ReservationId id, const Reservation& reservation) const {
  std::set<Device> taken;
  const auto take = [&](const HeldPlaces& other) {
    if (other.reservation == id || !state_.reservations().at(other.reservation).meets(reservation)) return;
    for (const GpusOfNode& each : other.gpus) {
      each.gpus.for_each([&](int gpu) { taken.insert({each.node, gpu}); });
    }
  };
  std::ranges::for_each(all_, take);
  for (const HeldPlaces& other : state_.holdings()) {
    if (other.reservation > id) take(other);
  }
  return taken;
}

namespace {

void add(std::set<Device>& devices, const std::vector<GpusOfNode>& gpus) {
  for (const GpusOfNode& each : gpus) {
    each.gpus.for_each([&](int gpu) { devices.insert({each.node, gpu}); });
  }
}

template <class Placed>
void add_places(const State& state, std::set<Device>& devices, const Placed& placed) {
  for_each_place(state, placed,
                 [&](const PodRequest&, const PodPlacement& place) { add(devices, {{place.node, place.gpus}}); });
}

bool meet(const HeldPlaces& holding, const std::set<Device>& devices) {
  bool any = false;
  for (const GpusOfNode& each : holding.gpus) {
    each.gpus.for_each([&](int gpu) { any = any || devices.contains({each.node, gpu}); });
  }
  return any;
}

}  // namespace

// By those of whom nobody knew when it was looked who stays.
std::set<Device> Reserved::taken_in_plan() const {
  std::set<Device> taken;
  for (const Start& each : plan_.starts) add_places(state_, taken, each);
  for (const Repair& each : plan_.repairs) add_places(state_, taken, each);
  for (const Migration& each : plan_.migrations) add_places(state_, taken, each.start);
  return taken;
}

std::optional<Reserved::Elsewhere> Reserved::elsewhere(const Claimed& claimed) const {
  std::set<Device> own;
  add_places(state_, own, claimed.start);
  std::set<Device> gone = taken_in_plan();
  gone.insert(own.begin(), own.end());
  for (const Migration& each : claimed.migrations) add_places(state_, gone, each.start);
  Time begins = plan_.now;
  for (const Eviction& each : claimed.evictions) begins = std::max(begins, each.stop_by);
  const WhoStays who(state_, plan_, claimed.evictions);
  Elsewhere found;
  for (const HeldPlaces& holding : all_) {
    const Reservation& reservation = state_.reservations().at(holding.reservation);
    const bool binds = !reservation.is_maintenance() && !is_own(state_, reservation, claimed.start.workload) &&
                       reservation.meets(plan_.now, end_of(claimed.start, begins));
    if (!binds || !meet(holding, own)) continue;
    std::set<Device> taken = taken_from(holding.reservation, reservation);
    taken.insert(gone.begin(), gone.end());
    HeldPlaces anew{.reservation = holding.reservation, .gpus = {}, .drains_at = kForever};
    anew.gpus = choose_places(state_, trial_, who, holding.reservation, taken, plan_.now);
    if (anew.count() < holding.count()) return std::nullopt;
    for (Eviction& each : due(who, anew)) {
      if (std::ranges::find(found.evictions, each.workload, &Eviction::workload) == found.evictions.end())
        found.evictions.push_back(std::move(each));
    }
    add(gone, anew.gpus);
    found.holdings.push_back(std::move(anew));
  }
  return found;
}

std::vector<Eviction> Reserved::take_due() {
  std::vector<Eviction> all;
  // Rights are as when the places were chosen, before anybody has left: what he leaves of a floor may cover others.
  for (HeldPlaces& holding : all_) {
    for (Eviction& each : due(*who_, holding)) {
      if (std::ranges::find(all, each.workload, &Eviction::workload) == all.end()) all.push_back(std::move(each));
    }
  }
  for (const Eviction& each : all) take_out(state_, trial_, each.workload, Emptied::kIsToBeScrubbed);
  return all;
}

// Who has to be told by now; and when the next ones have to be.
std::vector<Eviction> Reserved::due(const WhoStays& who, HeldPlaces& holding) const {
  const Reservation& reservation = state_.reservations().at(holding.reservation);
  const EvictionRule rule = reservation.is_maintenance() ? EvictionRule::kNode : EvictionRule::kWindow;
  std::vector<Eviction> due;
  for (const Told& each : in_the_way(who, holding, reservation)) {
    if (each.at > plan_.now) {
      holding.drains_at = std::min(holding.drains_at, each.at);
      continue;
    }
    due.push_back({.workload = each.workload,
                   .claimant = WorkloadId(),
                   .rule = rule,
                   .stop_by = each.stop_by,
                   .lost_gpu_s = lost_if_taken_gpu_s(state_, each.workload, plan_.now),
                   .reservation = holding.reservation});
  }
  return due;
}

std::vector<Reserved::Told> Reserved::in_the_way(const WhoStays& who, const HeldPlaces& holding,
                                                 const Reservation& reservation) const {
  const Time then = std::max(plan_.now, reservation.from);
  std::map<WorkloadId, Time> ends;
  const auto note = [&](const Stay& each) {
    const bool runs = state_.workload(each.workload).phase == Phase::kRunning;
    if (!runs || each.end <= then || is_own(state_, reservation, each.workload)) return;
    ends.emplace(who_goes(each.workload, reservation), each.end);
  };
  for (const NodeId node : reservation.nodes) std::ranges::for_each(who.on(node), note);
  for (const GpusOfNode& held : holding.gpus) {
    held.gpus.for_each([&](int gpu) {
      const auto there = who.by_device().find({held.node, gpu});
      if (there != who.by_device().end()) std::ranges::for_each(there->second, note);
    });
    std::ranges::for_each(who_->strangers_around(state_.reserved_gpu(reservation), held.node), note);
  }
  std::vector<Told> told;
  for (const auto& [id, end] : ends) {
    const Duration notice = notice_of(id, reservation);
    const Time at{reservation.from.ms - notice.ms};
    told.push_back({id, at, std::min(end, std::max(reservation.from, plan_.now + notice))});
  }
  return told;
}

// A step in which the queue has no right runs no longer than its minimum, in which it has one.
WorkloadId Reserved::who_goes(WorkloadId id, const Reservation& reservation) const {
  const WorkloadId minimum = state_.minimum_of(id);
  if (minimum == id || reservation.is_maintenance()) return id;
  const RightsOfReservation rights(state_, trial_, reservation, std::max(plan_.now, reservation.from), plan_.now);
  return rights.of(id) ? id : minimum;
}

// A node that is closed waits for a grace, and for nothing else that somebody has set for himself. Whose room is taken back has
// what protects him from a lender (rule 16).
Duration Reserved::notice_of(WorkloadId id, const Reservation& reservation) const {
  const Workload& workload = state_.workload(id);
  const Terms& terms = state_.shape(workload.shape).terms;
  if (reservation.is_maintenance()) return terms.grace;
  const QuotaUnit& unit = state_.quotas().unit(workload.unit);
  const Duration own = state_.queues()[reservation.queue.index()].quota.reclaim_within;
  Duration clock = state_.quotas().lenders_clock(unit.queue, unit.covered_at);
  if (clock == kNoClock || !unit.may_be_covered) clock = std::min(clock, own);
  const Time free_from = workload.started + state_.queues()[workload.queue.index()].quota.min_runtime;
  const bool is_protected = terms.disruption_permille > 0 || free_from > Time{reservation.from.ms - terms.grace.ms};
  return is_protected ? clock : std::min(clock, terms.grace);
}

// Some of its own work is there that is covered on that side.
bool Reserved::is_on_covered(const Reservation& reservation, Device device, QueueId side) const {
  const auto there = who_->by_device().find(device);
  return there != who_->by_device().end() && std::ranges::any_of(there->second, [&](const Stay& each) {
           const QuotaUnit& unit = state_.quotas().unit(state_.workload(each.workload).unit);
           return is_own(state_, reservation, each.workload) &&
                  is_covered(trial_.quotas().tree(), unit.covered_at, side);
         });
}

// Beside what its own work is on as much as the floor has room for.
std::int64_t Reserved::gpus_inside_floor(const Reservation& reservation) const {
  const Dim dim(reservation.flavor, Resource::kGpu);
  const Time then = std::max(plan_.now, reservation.from);
  const std::int64_t floor = tree_at(state_, then).floor(reservation.queue)[dim.index()];
  const std::int64_t used = trial_.quotas().used_of_floor(reservation.queue, dim);
  return std::max<std::int64_t>(0, floor - std::max<std::int64_t>(0, used)) / kMilliPerGpu;
}

// What its own covered work is on, and of the rest what is left of the floor, in the order of the nodes.
GpuSet Reserved::inside_floor(const Reservation& reservation, const GpusOfNode& of_node, QueueId side,
                              std::int64_t& left) const {
  std::uint64_t inside = 0;
  of_node.gpus.for_each([&](int gpu) {
    const bool covered = is_on_covered(reservation, {of_node.node, gpu}, side);
    if (!covered && left == 0) return;
    inside |= std::uint64_t{1} << gpu;
    left -= covered ? 0 : 1;
  });
  return GpuSet::from_bits(inside);
}

// As what is borrowed would have to (rule 13): the other is covered on its own side of where the two queues meet. On which side the
// reservation is; none: it does not.
QueueId Reserved::side_that_gives_way(const Reservation& reservation, QueueId queue, QueueId covered_at) const {
  const QuotaTree& tree = trial_.quotas().tree();
  QueueId side, meet = queue;
  for (; !meet.is_none() && !state_.is_below(reservation.queue, meet); meet = tree.parent(meet)) side = meet;
  if (side.is_none() || !is_covered(tree, covered_at, side)) return {};
  QueueId own = reservation.queue;
  while (tree.parent(own) != meet) own = tree.parent(own);
  return own;
}

KeptRoom Reserved::kept_from(QueueId queue, Time start, Time end, bool asks_parts, Heeding heeding,
                             QueueId covered_at) const {
  std::map<NodeId, std::uint64_t> gpus;
  std::set<NodeId> nodes;
  for (const HeldPlaces& holding : all_) {
    const Reservation& reservation = state_.reservations().at(holding.reservation);
    if (!reservation.meets(start, end)) continue;
    nodes.insert(reservation.nodes.begin(), reservation.nodes.end());
    if (heeding == Heeding::kNone || reservation.is_maintenance() || state_.is_below(queue, reservation.queue))
      continue;
    const QueueId side = heeding == Heeding::kAll ? QueueId() : side_that_gives_way(reservation, queue, covered_at);
    if (heeding == Heeding::kUnlessElsewhere && !side.is_none()) continue;
    std::int64_t left = side.is_none() ? 0 : gpus_inside_floor(reservation);
    for (const GpusOfNode& each : holding.gpus) {
      const GpuSet kept = side.is_none() ? each.gpus : inside_floor(reservation, each, side, left);
      if (kept.bits() != 0) gpus[each.node] |= kept.bits();
    }
  }
  KeptRoom kept;
  for (const auto& [node, bits] : gpus) {
    const auto milli = trial_.ledger().gpu_milli(node);
    bool any_part = false;
    GpuSet::from_bits(bits).for_each([&](int gpu) {
      const std::int16_t free = milli[static_cast<std::size_t>(gpu)];
      any_part = any_part || (free > 0 && free < kMilliPerGpu);
    });
    if (asks_parts && any_part) nodes.insert(node);
    kept.gpus.push_back({node, GpuSet::from_bits(bits)});
  }
  kept.nodes.assign(nodes.begin(), nodes.end());
  return kept;
}

KeptRoom Reserved::kept_from(WorkloadId id, Time start, Heeding heeding, QueueId covered_at) const {
  if (none()) return {};
  const Shape& shape = state_.shape(state_.workload(id).shape);
  const Time end = state_.end_of(id, start);
  const QueueId queue = state_.workload(id).queue;
  return away_from_strangers(id, start, end,
                             kept_from(queue, start, end, asks_parts(state_, shape), heeding, covered_at));
}

KeptRoom Reserved::kept_if_late(WorkloadId id, Time start, Duration late) const {
  const Shape& shape = state_.shape(state_.workload(id).shape);
  const Time end = state_.end_of(id, start + late);
  return away_from_strangers(id, start, end,
                             kept_from(state_.workload(id).queue, start, end, asks_parts(state_, shape)));
}

// And where it would be too near to what strangers have reserved of that.
KeptRoom Reserved::away_from_strangers(WorkloadId id, Time start, Time end, KeptRoom kept) const {
  const Ledger& ledger = state_.ledger();
  if (ledger.tenants().none()) return kept;
  const Shape& shape = state_.shape(state_.workload(id).shape);
  std::set<NodeId> near(kept.nodes.begin(), kept.nodes.end());
  for (const HeldPlaces& holding : all_) {
    const Reservation& reservation = state_.reservations().at(holding.reservation);
    if (reservation.is_maintenance() || !reservation.meets(start, end)) continue;
    const PodRequest reserved = state_.reserved_gpu(reservation);
    for (const GpusOfNode& each : holding.gpus) {
      const auto is_kept = std::ranges::find(kept.gpus, each.node, &GpusOfNode::node);
      if (is_kept == kept.gpus.end() || (is_kept->gpus.bits() & each.gpus.bits()) == 0) continue;
      for (const NumberedPodSet& set : shape.ways.front()) {
        const std::vector<NodeId> nodes =
            ledger.tenants().nodes_kept(ledger.trust(), reserved, each.node, state_.request(set.request));
        near.insert(nodes.begin(), nodes.end());
      }
    }
  }
  kept.nodes.assign(near.begin(), near.end());
  return kept;
}

template <class Placed>
bool Reserved::leaves_alone(const KeptRoom& kept, const Placed& placed) const {
  bool alone = true;
  for_each_place(state_, placed, [&](const PodRequest&, const PodPlacement& place) {
    alone = alone && !std::ranges::binary_search(kept.nodes, place.node);
    const auto held = std::ranges::lower_bound(kept.gpus, place.node, {}, &GpusOfNode::node);
    if (held == kept.gpus.end() || held->node != place.node) return;
    alone = alone && (held->gpus.bits() & place.gpus.bits()) == 0;
  });
  return alone;
}

Time Reserved::latest_leave() const {
  Time latest = plan_.now;
  for (const WorkloadId id : state_.stopping()) latest = std::max(latest, state_.workload(id).stop_by);
  for (const Eviction& each : plan_.evictions) latest = std::max(latest, each.stop_by);
  for (const Migration& each : plan_.migrations) latest = std::max(latest, each.stop_by);
  return latest;
}

Time Reserved::begins_by(const Start& start, Time gone) const {
  if (start.waits) gone = std::max(gone, latest_leave()) + state_.scrub();
  return gone + cut_before(state_, start);
}

Time Reserved::end_of(const Start& start, Time gone) const {
  return state_.end_of(start.workload, begins_by(start, gone));
}

bool Reserved::lets_then(const Start& start, Time then) const {
  const Time begins = berth::begins_by(state_, start, then);
  if (none() || begins <= then) return true;
  return leaves_alone(kept_if_late(start.workload, then, begins - then), start);
}

bool Reserved::lets(const Start& start, Time gone, Heeding heeding, QueueId covered_at) const {
  if (none() || heeding == Heeding::kNone) return true;
  const Time end = end_of(start, gone);
  const KeptRoom kept = kept_from(state_.workload(start.workload).queue, plan_.now, end, false, heeding, covered_at);
  return leaves_alone(away_from_strangers(start.workload, plan_.now, end, kept), start);
}

bool Reserved::lets(const Repair& repair) const {
  if (none()) return true;
  const Workload& gang = state_.workload(repair.workload);
  const Time end = state_.end_of(repair.workload, gang.started);
  const KeptRoom kept = kept_from(gang.queue, plan_.now, end);
  return leaves_alone(away_from_strangers(repair.workload, plan_.now, end, kept), repair);
}

bool Reserved::started(const Start& start, const std::vector<HeldPlaces>& elsewhere) {
  if (none()) return false;
  bool follows = false;
  for (HeldPlaces& holding : all_) {
    const Reservation& reservation = state_.reservations().at(holding.reservation);
    const bool own = is_own(state_, reservation, start.workload);
    follows = follows || (own && reservation.has_begun(plan_.now));
    const bool binds = !own && reservation.meets(plan_.now, end_of(start, plan_.now));
    if (reservation.is_maintenance() || !binds) continue;
    const auto anew = std::ranges::find(elsewhere, holding.reservation, &HeldPlaces::reservation);
    if (anew != elsewhere.end()) {
      holding = *anew;
      continue;
    }
    for_each_place(state_, start, [&](const PodRequest&, const PodPlacement& place) {
      for (GpusOfNode& each : holding.gpus) {
        if (each.node == place.node) each.gpus = GpuSet::from_bits(each.gpus.bits() & ~place.gpus.bits());
      }
    });
    std::erase_if(holding.gpus, [](const GpusOfNode& each) { return each.gpus.size() == 0; });
  }
  return follows;
}

std::vector<GpusOfNode> Reserved::own_places(QueueId queue, QueueId not_of) const {
  std::map<NodeId, std::uint64_t> own;
  for (const HeldPlaces& holding : all_) {
    const Reservation& reservation = state_.reservations().at(holding.reservation);
    if (!reservation.has_begun(plan_.now) || !state_.is_below(queue, reservation.queue)) continue;
    if (state_.is_below(not_of, reservation.queue)) continue;
    for (const GpusOfNode& each : holding.gpus) own[each.node] |= each.gpus.bits();
  }
  std::vector<GpusOfNode> places;
  for (const auto& [node, bits] : own) places.push_back({node, GpuSet::from_bits(bits)});
  return places;
}

bool Reserved::is_inside_own(const Start& start, QueueId not_of) const {
  const std::vector<GpusOfNode> own = own_places(state_.workload(start.workload).queue, not_of);
  if (own.empty()) return false;
  bool inside = true;
  bool any = false;
  for_each_place(state_, start, [&](const PodRequest& request, const PodPlacement& place) {
    if (request.gpus == 0) return;
    any = true;
    const auto found = std::ranges::lower_bound(own, place.node, {}, &GpusOfNode::node);
    const bool is_there = found != own.end() && found->node == place.node;
    inside = inside && is_there && (place.gpus.bits() & ~found->gpus.bits()) == 0;
  });
  return inside && any;
}

bool Reserved::leaves_what_they_lack(WorkloadId workload, Time then) const {
  return std::ranges::all_of(all_, [&](const HeldPlaces& holding) {
    const Reservation& reservation = state_.reservations().at(holding.reservation);
    const std::int64_t lacking = reservation.gpus - holding.count();
    const bool lasts = reservation.from <= then && then < reservation.to();
    if (lacking <= 0 || !lasts || reservation.is_maintenance() || is_own(state_, reservation, workload)) return true;
    return free_whole_gpus(reservation, then) >= lacking;
  });
}

// Which it might have, and no reservation has at that moment.
std::int64_t Reserved::free_whole_gpus(const Reservation& reservation, Time then) const {
  const Ledger& ledger = trial_.ledger();
  const Dedications& dedications = ledger.matches().dedications();
  std::map<NodeId, std::uint64_t> held;
  for (const HeldPlaces& holding : all_) {
    const Reservation& each = state_.reservations().at(holding.reservation);
    if (each.from > then || each.to() <= then) continue;
    for (const GpusOfNode& of_node : holding.gpus) held[of_node.node] |= of_node.gpus.bits();
  }
  std::int64_t free = 0;
  for (std::size_t i = 0; i < ledger.nodes(); ++i) {
    const NodeId id(i);
    const NodeFree& node = ledger.node(id);
    const Node& known = state_.node(id);
    const bool suits = node.open && node.gpus > 0 && FlavorId(node.flavor) == reservation.flavor &&
                       known.sharing == Sharing::kExclusive && known.other_modes.empty() &&
                       dedications.keeper(state_.home_of(reservation.queue), id).is_none();
    if (!suits) continue;
    free += node.whole_gpus;
    const auto there = held.find(id);
    if (there == held.end()) continue;
    const auto milli = ledger.gpu_milli(id);
    GpuSet::from_bits(there->second).for_each([&](int gpu) {
      free -= milli[static_cast<std::size_t>(gpu)] == kMilliPerGpu ? 1 : 0;
    });
  }
  return free;
}

std::vector<Time> Reserved::ends() const {
  std::vector<Time> ends;
  for (const auto& [id, reservation] : state_.reservations()) ends.push_back(reservation.to());
  return ends;
}

std::vector<Time> Reserved::turns(std::optional<Duration> run_limit, Time until) const {
  constexpr int kTimesMax = 100;  // that one that comes again is looked ahead
  std::vector<Time> turns;
  for (const auto& [id, reservation] : state_.reservations()) {
    std::optional<Interval> each = Interval{reservation.from, reservation.to()};
    for (int times = kTimesMax; times > 0 && each; --times) {
      if (run_limit) turns.push_back(Time{each->from.ms - run_limit->ms + 1});
      turns.push_back(each->to);
      if (turns.back() > until) break;
      each = reservation.time_after(each->from);
    }
  }
  return turns;
}

}  // namespace berth
