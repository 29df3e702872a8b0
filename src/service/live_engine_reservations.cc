// Reservations on a live cluster: Reservation objects as facts of the engine, and what is written down of them. What a
// reservation has is in its status, so that it has the same when the scheduler, or its engine, begins anew.
#include <algorithm>
#include <tuple>
#include <utility>

#include "base/wording.h"
#include "cycle/explain.h"
#include "manifest/given_gpus.h"
#include "manifest/timestamp.h"
#include "service/live_engine.h"
#include "state/starting.h"

namespace berth {
namespace {

constexpr std::size_t kLeavingTold = 10;
constexpr std::int64_t kLackingTold = 5;

}  // namespace

void LiveEngine::set_reservation(const ReservationFacts& facts) {
  if (facts.leaving) return remove_reservation(facts.name, facts);
  const auto [at, is_new] = reservations_.try_emplace(facts.name);
  LiveReservation& reservation = at->second;
  const bool same = !is_new && reservation.facts.is_same(facts);
  // What it says of itself is what was written here, but for the first time.
  if (is_new || reservation.facts.uid != facts.uid) {
    reservation.held_from = facts.held_from;
    reservation.held = facts.held;
    reservation.conditions = facts.conditions;
  }
  reservation.facts = facts;
  if (same) return;
  // The first that was made chooses first, so only the last is one more event.
  const auto is_later = [&](const auto& other) { return age_of(other.second.facts) > age_of(facts); };
  if (!is_new || std::ranges::any_of(reservations_, is_later)) begin_anew();
  new_reservations_.insert(facts.name);
}

void LiveEngine::remove_reservation(const std::string& name) {
  const auto at = reservations_.find(name);
  if (at == reservations_.end()) return;
  cancel(at->second);
  reservations_.erase(at);
  new_reservations_.erase(name);
}

// It is none any more, and says so as long as its object is there.
void LiveEngine::remove_reservation(const std::string& name, const ReservationFacts& facts) {
  const auto at = reservations_.find(name);
  if (at == reservations_.end()) return;
  cancel(at->second);
  at->second.facts = facts;
  at->second.why_not = {"Deleted", "it is being deleted"};
}

void LiveEngine::cancel(LiveReservation& reservation) {
  const ReservationId id = std::exchange(reservation.id, ReservationId());
  reservation.held.clear();
  if (anew_ || id.is_none() || !state().reservations().contains(id)) return;
  session_->apply(ReservationRemoved{id});
  for (const auto& [workload, group] : pending_groups_) untold_.insert(group);
}

std::pair<Time, std::string_view> LiveEngine::age_of(const ReservationFacts& facts) {
  return {facts.created, facts.name};
}

bool LiveEngine::is_maintained(const std::string& node) const {
  return std::ranges::any_of(
      reservations_, [&](const auto& each) { return std::ranges::binary_search(each.second.facts.spec.nodes, node); });
}

// What each has, for the life that comes.
void LiveEngine::remember_reservations() {
  for (auto& [name, reservation] : reservations_) {
    const auto known = state().reservations().find(reservation.id);
    if (reservation.id.is_none() || known == state().reservations().end()) continue;
    reservation.held_from = known->second.from;
    reservation.held = held_by(reservation.id);
  }
}

std::vector<NamedGpus> LiveEngine::held_by(ReservationId id) const {
  std::vector<NamedGpus> held;
  const HeldPlaces* const holding = state().holding_of(id);
  if (holding == nullptr) return held;
  for (const GpusOfNode& each : holding->gpus) held.push_back({state().node(each.node).name, each.gpus});
  std::ranges::sort(held, {}, &NamedGpus::node);
  return held;
}

// PRE: queues and nodes are there.
void LiveEngine::tell_reservations(Time now) {
  std::vector<LiveReservation*> in_order;
  for (const std::string& name : std::exchange(new_reservations_, {})) {
    const auto at = reservations_.find(name);
    if (at != reservations_.end()) in_order.push_back(&at->second);
  }
  std::ranges::sort(in_order, {}, [](const LiveReservation* each) { return age_of(each->facts); });
  for (LiveReservation* const reservation : in_order) tell_reservation(*reservation, now);
  if (in_order.empty()) return;
  for (const auto& [workload, group] : pending_groups_) untold_.insert(group);
}

void LiveEngine::tell_reservation(LiveReservation& reservation, Time now) {
  reservation.id = ReservationId();
  reservation.why_not = {};
  const ReservationFacts& facts = reservation.facts;
  if (facts.leaving) reservation.why_not = {"Deleted", "it is being deleted"};
  if (!facts.problem.empty()) reservation.why_not = {"NotFollowed", facts.problem};
  if (!reservation.why_not.code.empty() || facts.spec.is_over(now)) return;
  auto made = reservation_of(facts.spec, now, reservation.why_not);
  if (!made) return;
  made->reservation.name = facts.name;
  if (reservation.held_from == made->reservation.from)
    made->had = places_of(reservation.held, made->reservation.flavor);
  if (now > state().clock()) session_->apply(TimePassed{now});
  give_up_starts_on_closed_nodes(made->reservation, now);
  // What it had may be another's meanwhile, or more than it is of now; then it chooses anew.
  if (!made->had.empty() && state().refusal(*made)) made->had.clear();
  if (const auto refusal = state().refusal(*made)) {
    reservation.why_not = {"Refused", *refusal};
    return;
  }
  reservation.id = state().next_reservation();
  session_->apply(*made);
}

// On days of the calendar: further ahead, when less is left of what was told.
void LiveEngine::tell_later_times(Time now) {
  for (const auto& [name, reservation] : reservations_) {
    const auto known = state().reservations().find(reservation.id);
    if (reservation.id.is_none() || known == state().reservations().end() || !reservation.facts.spec.times) continue;
    if (!known->second.ends_before(now + kCalendarLeft)) continue;
    ReservationTimesTold told{reservation.id, reservation.facts.spec.times_from(now)};
    std::erase_if(told.later, [&](const Interval& each) { return each.from < known->second.to(); });
    if (told.later != known->second.later && !state().refusal(told)) session_->apply(told);
  }
}

// Whoever has room on nodes that are closed by then waits again, and its pods have to know it.
void LiveEngine::give_up_starts_on_closed_nodes(const Reservation& reservation, Time now) {
  if (!reservation.has_begun(now)) return;
  for (const NodeId node : reservation.nodes) {
    for (const WorkloadId run : starting_on(state(), node)) {
      if (runs_.contains(run)) give_up_start(run);
    }
  }
}

// As the engine has it; none: why not.
std::optional<ReservationAdded> LiveEngine::reservation_of(const ReservationSpec& spec, Time now,
                                                           Obstacle& why_not) const {
  ReservationAdded made{.reservation = {}, .found = true, .had = {}};
  Reservation& reservation = made.reservation;
  std::vector<Interval> times = spec.times_from(now);
  if (times.empty()) {
    why_not = {"NotFollowed", "it does not come within a year; write other days, or a moment that is nearer"};
    return std::nullopt;
  }
  reservation.from = times.front().from;
  reservation.lasts = times.front().to - times.front().from;
  reservation.later.assign(times.begin() + 1, times.end());
  reservation.every = spec.daily ? kReservationDay : Duration{0};
  if (spec.is_maintenance()) {
    for (const std::string& name : spec.nodes) {
      const auto node = node_ids_.find(name);
      if (node != node_ids_.end()) reservation.nodes.push_back(node->second);
    }
    std::ranges::sort(reservation.nodes);
    if (!reservation.nodes.empty()) return made;
    why_not = {"NodeUnknown", "none of its nodes is there: " + spec.nodes.front() +
                                  (spec.nodes.size() > 1 ? ", and others" : "") + "; name some of `kubectl get nodes`"};
    return std::nullopt;
  }
  const auto queue = queue_ids_.find(spec.queue);
  if (queue == queue_ids_.end()) {
    why_not = {"QueueUnknown", "there is no queue " + quote(spec.queue) + "; make it, or name another"};
    return std::nullopt;
  }
  const auto flavor = spec.flavor.empty() ? only_flavor_ : flavor_named(spec.flavor);
  if (!flavor) {
    std::string known;
    for (const auto& [id, model] : models_) known += (known.empty() ? "" : ", ") + state().flavors()[id.index()].name;
    why_not = {"FlavorUnknown", spec.flavor.empty()
                                    ? "nodes have GPUs of several flavors, or none; write which: " + known
                                    : "no node has GPUs of flavor " + quote(spec.flavor) +
                                          (known.empty() ? "" : "; there are " + known)};
    return std::nullopt;
  }
  reservation.queue = queue->second;
  reservation.flavor = *flavor;
  reservation.gpus = spec.gpus;
  return made;
}

// Which of its nodes are not there: "; not there: n8, n9"; empty: all are.
std::string LiveEngine::nodes_lacking_in_words(const ReservationSpec& spec) const {
  std::string text;
  std::int64_t lacking = 0;
  for (const std::string& name : spec.nodes) {
    if (node_ids_.contains(name)) continue;
    if (++lacking <= kLackingTold) text += (text.empty() ? "; not there: " : ", ") + name;
  }
  if (lacking > kLackingTold) text += ", and " + with_separators(lacking - kLackingTold) + " more";
  return text.empty() ? "" : text + "; what comes by that name is among them";
}

// Those of nodes that are there, as large as they are now.
std::vector<GpusOfNode> LiveEngine::places_of(const std::vector<NamedGpus>& held, FlavorId flavor) const {
  std::vector<GpusOfNode> places;
  for (const NamedGpus& each : held) {
    const auto id = node_ids_.find(each.node);
    if (id == node_ids_.end()) continue;
    const Node& node = state().node(id->second);
    const bool suits = node.flavor == flavor && (each.gpus.bits() >> node.gpus) == 0;
    if (suits) places.push_back({id->second, each.gpus});
  }
  std::ranges::sort(places, {}, &GpusOfNode::node);
  return places;
}

// ---- what is said of them -----------------------------------------------------------------------------------------------

std::vector<ReservationStanding> LiveEngine::reservation_standings(Time now) {
  std::vector<ReservationStanding> standings;
  for (auto& [name, reservation] : reservations_) {
    // Whoever is not told yet is so at the next decision.
    const bool is_known = !anew_ && !new_reservations_.contains(name);
    standings.push_back(is_known ? standing_of(reservation, now) : ReservationStanding{reservation.facts, {}});
  }
  return standings;
}

ReservationStanding LiveEngine::standing_of(LiveReservation& reservation, Time now) const {
  const auto known = state().reservations().find(reservation.id);
  const bool is_there = !reservation.id.is_none() && known != state().reservations().end();
  const bool is_over = !is_there && reservation.why_not.code.empty();
  QueueCondition in_force{.type = std::string(kInForceCondition),
                          .holds = is_there,
                          .reason = {},
                          .message = {},
                          .since = whole_second(now)};
  Value status = Value::map();
  if (is_there) {
    const Reservation& now_so = known->second;
    status.set("phase", now_so.has_begun(now) ? "Lasting" : "Coming");
    status.set("from", format_micro_timestamp(now_so.from));
    status.set("to", format_micro_timestamp(now_so.to()));
    note_places(now_so, reservation, status, now);
    const HeldPlaces* const holding = state().holding_of(reservation.id);
    const Time drains_at = holding == nullptr ? kForever : holding->drains_at;
    if (drains_at != kForever) status.set("drainsAt", format_micro_timestamp(drains_at));
    in_force.reason = "AsWritten";
    in_force.message = in_words(reservation.facts.spec, drains_at) + nodes_lacking_in_words(reservation.facts.spec);
  } else {
    status.set("phase", is_over ? "Over" : "NotInForce");
    in_force.reason = is_over ? "Over" : reservation.why_not.code;
    in_force.message = is_over ? "it is over" : reservation.why_not.text;
    std::erase_if(reservation.conditions, [](const QueueCondition& each) { return each.type == kShortCondition; });
  }
  set_condition(reservation.conditions, std::move(in_force));
  for (const std::string& name : who_leaves_for(reservation.facts.name)) status.at("leaving").push_back(name);
  return {reservation.facts, std::move(status), reservation.conditions};
}

// What it has, and what it is short of.
void LiveEngine::note_places(const Reservation& now_so, LiveReservation& reservation, Value& status, Time now) const {
  if (now_so.is_maintenance()) {
    for (const NodeId node : now_so.nodes)
      status.at("nodes").push_back(Value::map_of({{"name", state().node(node).name}}));
    return;
  }
  std::int64_t gpus = 0;
  for (const NamedGpus& each : held_by(reservation.id)) {
    gpus += each.gpus.size();
    status.at("nodes").push_back(
        Value::map_of({{"name", each.node}, {"gpus", format_given_gpus({.gpus = each.gpus})}}));
  }
  status.set("gpus", gpus);
  status.set("short", now_so.gpus - gpus);
  note_short(reservation, now_so.gpus - gpus, now);
}

void LiveEngine::note_short(LiveReservation& reservation, std::int64_t gpus, Time now) {
  const std::int64_t asked = reservation.facts.spec.gpus;
  set_condition(
      reservation.conditions,
      {.type = kShortCondition,
       .holds = gpus > 0,
       .reason = gpus > 0 ? "NoRoom" : "HasAll",
       .message = gpus > 0 ? "it lacks " + with_separators(gpus) + " of " + with_separators(asked) + " GPUs" +
                                 ": the others are not there, or have work on them that nobody may take for it"
                           : "it has all of them",
       .since = whole_second(now)});
}

// For whom it is, and when others have to go.
std::string LiveEngine::in_words(const ReservationSpec& spec, Time drains_at) {
  std::string text = spec.is_maintenance() ? "nobody is on its nodes while it lasts"
                                           : "of these GPUs nobody else has any while it lasts, but queue " +
                                                 quote(spec.queue) + " and those below it";
  if (drains_at != kForever) text += "; who is in its way is told to stop from " + format_timestamp(drains_at) + " on";
  return text;
}

std::vector<std::string> LiveEngine::who_leaves_for(const std::string& reservation) const {
  std::vector<std::string> names;
  for (const auto& [id, run] : runs_) {
    for (const std::string& uid : run.uids) {
      const Member& member = members_.at(uid);
      if (member.leaves_for != reservation || names.size() == kLeavingTold) continue;
      names.push_back(member.facts.name_space + "/" + member.facts.name);
    }
  }
  return names;
}

// Of one that is taken for it, from when on it is, and for whom.
std::string LiveEngine::reservation_in_words(ReservationId id) const {
  const Reservation& reservation = state().reservations().at(id);
  const std::string begins = reservation.has_begun(state().clock())
                                 ? " until " + format_timestamp(reservation.to())
                                 : " from " + format_timestamp(reservation.from) + " on";
  if (reservation.is_maintenance())
    return "its node is closed for maintenance" + begins + " (Reservation " + reservation.name + ")";
  return "its room is reserved for queue " + quote(state().queues()[reservation.queue.index()].name) + begins +
         " (Reservation " + reservation.name + ")";
}

std::string reservation_named_in(std::string_view why) {
  constexpr std::string_view kMark = " (Reservation ";
  const std::size_t at = why.find(kMark);
  if (at == std::string_view::npos) return "";
  why.remove_prefix(at + kMark.size());
  return std::string(why.substr(0, why.find(')')));
}

}  // namespace berth
