#include "cycle/explain.h"
#include "cycle/above_bounds.h"

#include <algorithm>
#include <array>
#include <bit>
#include <map>

#include "cycle/exclusive_text.h"
#include "cycle/explanation_text.h"
#include "cycle/feasibility.h"
#include "cycle/free_in_sum.h"
#include "cycle/kept_aside_text.h"
#include "cycle/kept_out.h"
#include "cycle/neighbours_text.h"
#include "cycle/recutting.h"
#include "cycle/reserved_text.h"
#include "cycle/room_to_come.h"
#include "cycle/slices_free.h"
#include "cycle/topology_text.h"
#include "fairness/gates.h"
#include "fairness/kept_back.h"
#include "fairness/rights.h"
#include "fairness/standing.h"
#include "model/quantity.h"
#include "model/replica_ways.h"
#include "placement/filters.h"
#include "placement/place.h"
#include "placement/place_missing.h"
#include "placement/score_index.h"
#include "state/idle_room.h"
#include "state/kept_out.h"
#include "state/room.h"
#include "state/trial.h"

namespace berth {
namespace {

// In a strict line: somebody before it does not fit, and waits for what it would take.
bool stands_behind(const State& state, const Line& line, WorkloadId id) {
  if (line.order() != Order::kFifo || state.shadow_of(id) != nullptr) return false;
  const QueueId queue = state.line_of(state.workload(id).queue);
  const Shape& own = state.shape(state.workload(id).shape);
  const Standing standing = standing_of(state, queue, own.user, state.key_of(id));
  bool behind = false;
  PromisedInLine promised(state.queues()[queue.index()].quota.backfill);
  line.heads().for_each([&](const Head& head) {
    const ShapeInLine& entry = line.shapes()[head.shape_index];
    if (behind || !entry.blocked()) return;
    const bool has_shadow = state.shadow_of(head.key.workload) != nullptr;
    if (promised.lets_pass(entry.gate, state.shape(entry.shape).flavors, has_shadow)) return;
    if (!holds_up(state, queue, entry, own)) return;
    behind = standing_of(state, queue, state.shape(entry.shape).user, head.key) < standing;
  });
  return behind;
}

// Placed one after the other on a copy, for what one set takes another lacks.
std::int64_t pods_that_fit(const State& state, const std::vector<NumberedPodSet>& way) {
  State copy = state.fork();
  ScoreIndex index;
  Rng rng(state.seed());
  std::int64_t fit = 0;
  for (const NumberedPodSet& set : way) {
    for (std::int64_t i = 0; i < set.count; ++i, ++fit) {
      const auto place = index.best(copy, set.request, rng);
      if (!place) break;
      copy.ledger_for_trial().apply(move_of(state.request(set.request), *place));
    }
  }
  return fit;
}

// The rows of the filters' table, and those that fit.
struct NodeCounts {
  std::array<std::int64_t, kFilterCount + 1> nodes{};
  std::array<std::int64_t, kFilterCount + 1> most{};
  std::map<std::string_view, std::int64_t> of_other_modes;  // of kOtherMode, by what is said of them
  std::int64_t in_maintenance = 0;                          // of kClosed, closed by nothing else
};

// Of several requests each node counts for the one that gets furthest there.
NodeCounts count_nodes(const State& state, const std::vector<PodRequest>& requests) {
  NodeCounts counts;
  for (std::size_t id = 0; id < state.ledger().nodes(); ++id) {
    const NodeView node(state.ledger(), NodeId(id));
    const auto row_of = [&](const PodRequest& request) { return first_refusing(node, request); };
    const PodRequest& request = *std::ranges::max_element(requests, {}, row_of);
    const std::size_t row = row_of(request);
    ++counts.nodes[row];
    if (row == kFilterCount) continue;
    counts.most[row] = std::max(counts.most[row], free_of_what_lacks(row, node, request));
    if (kRefusals[row] == kClosed && state.is_maintained(NodeId(id)) && !state.is_down(NodeId(id)))
      ++counts.in_maintenance;
    if (kRefusals[row] == kOtherMode) ++counts.of_other_modes[refusal_of_mode(node.free.sharing, request.sharing)];
  }
  return counts;
}

// What a set asks in any of the ways: the flavors of all together, but for slices and vGPUs, which are others on another model.
std::vector<PodRequest> requests_of(const State& state, const Shape& shape, std::size_t set) {
  std::vector<PodRequest> requests;
  for (const auto& way : shape.ways) {
    const PodRequest& request = state.request(way[set].request);
    const auto same = std::ranges::find(requests, request.sharing, &PodRequest::sharing);
    if (same == requests.end() || request.is_slice() || request.is_vgpu()) {
      requests.push_back(request);
    } else {
      same->flavors = same->flavors.united_with(request.flavors);
    }
  }
  return requests;
}

// Counts every node under what it refuses: for the pod set that has the fewest nodes, over all ways.
void tally_nodes(const State& state, const Shape& shape, Explanation& explanation) {
  NodeCounts fewest;
  for (std::size_t set = 0; set < shape.ways.front().size(); ++set) {
    const std::vector<PodRequest> requests = requests_of(state, shape, set);
    const NodeCounts counts = count_nodes(state, requests);
    if (set > 0 && counts.nodes[kFilterCount] >= fewest.nodes[kFilterCount]) continue;
    fewest = counts;
    explanation.asked = requests.front();
  }
  explanation.nodes_that_fit = fewest.nodes[kFilterCount];
  for (std::size_t row = 0; row < kFilterCount; ++row) {
    if (fewest.nodes[row] == 0) continue;
    if (kRefusals[row] == kOtherMode) {
      for (const auto& [refusal, nodes] : fewest.of_other_modes) explanation.tallies.push_back({refusal, nodes});
    } else if (kRefusals[row] == kClosed) {
      if (fewest.in_maintenance > 0) explanation.tallies.push_back({kInMaintenance, fewest.in_maintenance});
      const std::int64_t others = fewest.nodes[row] - fewest.in_maintenance;
      if (others > 0) explanation.tallies.push_back({kClosed, others});
    } else {
      explanation.tallies.push_back({kRefusals[row], fewest.nodes[row], fewest.most[row]});
    }
  }
  std::stable_sort(explanation.tallies.begin(), explanation.tallies.end(),
                   [](const NodeTally& a, const NodeTally& b) { return a.nodes > b.nodes; });
}

// As it is to those for whom spares are.
State with_spares_lent(const State& state) {
  State copy = state.fork();
  for (const NodeId spare : state.spares()) copy.ledger_for_trial().set_open(spare, true);
  return copy;
}

// Whether the open nodes take all its pods as they stand.
bool has_room(const State& state, const Shape& shape) {
  if (!fits_together_now(state, shape)) return false;
  return std::ranges::any_of(shape.ways, [&](const auto& way) {
    if (way.size() > 1 || looks_around(state, shape)) return pods_that_fit(state, way) == shape.pods;
    // Identical pods do not disturb each other, so what each node would take adds up.
    std::int64_t room = 0;
    for (std::size_t node = 0; room < shape.pods && node < state.ledger().nodes(); ++node) {
      room += room_for(state.ledger(), NodeId(node), state.request(way.front().request));
    }
    return room >= shape.pods;
  });
}

// Whether in one of its ways each pod set, by itself, finds its room: `room_on(request, node)`.
template <class RoomOn>
bool each_set_fits(const State& state, const Shape& shape, RoomOn room_on) {
  return std::ranges::any_of(shape.ways, [&](const auto& way) {
    return std::ranges::all_of(way, [&](const NumberedPodSet& set) {
      std::int64_t room = 0;
      for (std::size_t node = 0; room < set.count && node < state.ledger().nodes(); ++node) {
        room += room_on(state.request(set.request), NodeId(node));
      }
      return room >= set.count;
    });
  });
}

// Whether it matters to it who is on a GPU, or has been.
bool minds_occupants(const State& state, const Shape& shape) {
  return shape.has_sharers || !state.ledger().broken().empty();
}

// What of those who are there, or have been, keeps it away: it has room as soon as that matters no more. `fits(occupants)`.
template <class Fits>
std::optional<ReasonCode> kept_away_by_occupants(const State& state, Fits fits) {
  if (fits(Occupants::kLeaveNothing)) return ReasonCode::kDirty;
  if (has_mode(state, Sharing::kVgpu) && fits(Occupants::kAreAlike)) return ReasonCode::kSliceGeometry;
  return fits(Occupants::kAreFriends) ? std::optional(ReasonCode::kTrust) : std::nullopt;
}

// There is room for it that only who is there, or what it is, keeps it from: beside others, on GPUs with vGPUs of another profile,
// or in turns with others.
std::optional<ReasonCode> kept_away(const State& state, const Shape& shape) {
  const Ledger& ledger = state.ledger();
  const bool minds = minds_occupants(state, shape);
  const auto as_it_is = [&](const PodRequest& request, NodeId node) { return room_for(ledger, node, request); };
  if ((!minds && !has_mode(state, Sharing::kTimeslice)) || each_set_fits(state, shape, as_it_is)) return std::nullopt;
  const auto fits_if = [&](Occupants occupants) {
    return each_set_fits(state, shape, [&](const PodRequest& request, NodeId node) {
      return room_for(ledger, node, request, occupants);
    });
  };
  const auto by_occupants = minds ? kept_away_by_occupants(state, fits_if) : std::nullopt;
  if (by_occupants) return by_occupants;
  const auto in_turns = [&](const PodRequest& request, NodeId node) {
    const auto replica = as_replica(request);
    return room_for(ledger, node, request) + (replica ? room_for(ledger, node, *replica) : 0);
  };
  return each_set_fits(state, shape, in_turns) ? std::optional(ReasonCode::kIsolation) : std::nullopt;
}

// Domains have room for it that only who is on GPUs there keeps it from. PRE: it asks for some, and none has room.
std::optional<ReasonCode> kept_out_of_domains(const State& state, const Shape& shape) {
  if (!minds_occupants(state, shape)) return std::nullopt;
  return kept_away_by_occupants(state, [&](Occupants occupants) { return fits_together_now(state, shape, occupants); });
}

bool is_of_occupants(ReasonCode code) {
  return code == ReasonCode::kDirty || code == ReasonCode::kSliceGeometry || code == ReasonCode::kTrust;
}

// What stands in its domains, by the reason that kept_out_of_domains() gives.
std::string who_is_in_its_domains(ReasonCode code, const PodRequest& asked) {
  if (code == ReasonCode::kDirty)
    return "; there would be if nothing were left on GPUs of those whom its tenant does not trust";
  if (code == ReasonCode::kSliceGeometry) return "; there would be but for vGPUs of another profile";
  return "; there would be beside work of others" +
         std::string(asked.is_mps() ? ", and MPS serves one user on a GPU, of tenants that trust each other"
                                    : " whom its tenant shares no GPU with; a circle of trust says who may");
}

// There is room for it, in more NUMA zones than it may have.
bool kept_away_by_zones(const State& state, const Shape& shape) {
  const Ledger& ledger = state.ledger();
  const auto as_it_is = [&](const PodRequest& request, NodeId node) { return room_for(ledger, node, request); };
  const auto in_any = [&](const PodRequest& request, NodeId node) {
    return room_for(ledger, node, request, Occupants::kMatter, Zones::kAreOne);
  };
  return state.node_types().have_zones && !each_set_fits(state, shape, as_it_is) && each_set_fits(state, shape, in_any);
}

bool asks_for_domains(const Shape& shape) {
  return std::ranges::any_of(shape.ways.front(), &NumberedPodSet::asks_for_domains);
}

bool is_outside_a_level(const State& state, const Shape& shape) {
  return std::ranges::any_of(shape.ways.front(),
                             [&](const NumberedPodSet& set) { return outside_level(state, set).has_value(); });
}

bool is_of_domains(ReasonCode code) { return code == ReasonCode::kTopology || code == ReasonCode::kSpread; }

// There would be room if its pods might be anywhere.
bool waits_for_a_domain(const State& state, const Shape& shape) {
  if (!asks_for_domains(shape) || fits_together_now(state, shape)) return false;
  return fits_apart(state, shape) || is_of_domains(reason_never(state, shape));
}

// Why quotas refuse one of its ways now.
std::optional<QuotaRefusal> refusal_of_way(const State& state, QueueId queue, const Shape& shape, std::size_t way) {
  auto refusal = quota_refusal(state.quotas(), queue, shape.user, shape.terms, asked_by(state, queue, shape, way));
  const bool goes_on_unpaid = refusal && refusal->code == ReasonCode::kBudget && !shape.insists() &&
                              state.queues()[refusal->queue.index()].quota.budget_end == BudgetEnd::kBestEffort;
  return goes_on_unpaid ? std::nullopt : refusal;
}

Shape kept_to(const Shape& shape, std::size_t way) {
  Shape kept = shape;
  kept.ways = {shape.ways[way]};
  return kept;
}

// Which gate of its queues refuses it now, in all of its ways that are possible at all; the first way says which.
std::optional<ReasonCode> refused_by_quotas(const State& state, QueueId queue, const Shape& shape) {
  std::optional<ReasonCode> code;
  for (std::size_t way = 0; way < shape.ways.size(); ++way) {
    const auto refusal = refusal_of_way(state, queue, shape, way);
    if (refusal && !code) code = code_of(*refusal, shape);
    if (refusal) continue;
    const bool possible = shape.ways.size() == 1 || reason_never(state, kept_to(shape, way)) == ReasonCode::kNone;
    if (possible) return std::nullopt;
  }
  return code;
}

// With those of its ways alone that quotas do not refuse now, where there are any: of the others no room is of use to it.
Shape without_refused_ways(const State& state, QueueId queue, const Shape& shape) {
  if (shape.ways.size() == 1) return shape;
  Shape open = shape;
  open.ways.clear();
  for (std::size_t way = 0; way < shape.ways.size(); ++way) {
    if (!refusal_of_way(state, queue, shape, way)) open.ways.push_back(shape.ways[way]);
  }
  return open.ways.empty() ? shape : open;
}

// As things are now: what refused it a while ago may have become another bound, or none.
std::string why_quotas_refuse(const State& state, QueueId queue, const Shape& shape) {
  for (std::size_t way = 0; way < shape.ways.size(); ++way) {
    const auto refusal =
        quota_refusal(state.quotas(), queue, shape.user, shape.terms, asked_by(state, queue, shape, way));
    if (!refusal) continue;
    const bool nobody_waits = is_above_bounds_where_it_fits(state, queue, shape);
    return quota_text(state, *refusal) +
           (nobody_waits ? "; of what else it accepts no nodes would hold it, whatever ends: nobody waits behind it"
                         : "");
  }
  if (!is_above_bounds_where_it_fits(state, queue, shape)) return "its quotas have changed, it will be tried again";
  return "there is no mixture of flavors of which its queues may hold, and nodes would hold, as many pods each, "
         "whatever "
         "ends: nobody waits behind it";
}

// All have left its room, and on some of its devices something is still left of them.
bool waits_for_a_scrub(const State& state, WorkloadId id) {
  if (state.scrub() == Duration{0}) return false;
  const std::vector<Device> to_scrub = state.to_scrub();
  bool on_one = false;
  bool others_are_there = false;
  for_each_pod(state, id, [&](const Pod& pod) {
    pod.gpus.for_each([&](int gpu) {
      const Device device{pod.node, gpu};
      on_one = on_one || std::ranges::find(to_scrub, device) != to_scrub.end();
      others_are_there = others_are_there || state.is_occupied(device);
    });
  });
  return on_one && !others_are_there;
}

// All have left what it is to have, and some of its slices are not there yet: where.
std::optional<Device> waits_for_a_cut(const State& state, WorkloadId id) {
  if (state.being_cut().empty()) return std::nullopt;
  const std::vector<Device> to_recut = state.to_recut();
  std::optional<Device> found;
  bool others_are_there = false;
  for_each_coming_pod(state, id, [&](const Pod& pod) {
    const PodRequest& request = state.request(pod.request);
    if (!request.is_slice()) return;
    const Device device{pod.node, std::countr_zero(pod.gpus.bits())};
    const GpuCut* const cut = state.ledger().cut_of(pod.node, static_cast<std::size_t>(device.gpu));
    const auto place = state.ledger().node(pod.node).geometry().find_place(request.slice, pod.slice_start);
    if (cut == nullptr || cut->has(*place)) return;
    if (!found) found = device;
    others_are_there = others_are_there || std::ranges::find(to_recut, device) == to_recut.end();
  });
  return others_are_there ? std::nullopt : found;
}

// "it has its room: GPU 0 of n1 is being cut anew for it, which takes 1m"
std::string cutting_text(const State& state, Device device) {
  const Node& node = state.node(device.node);
  const bool one = node.layouts.empty() || node.gpus == 1;
  return "it has its room: " + (one ? "GPU " + std::to_string(device.gpu) : "all GPUs") + " of " + node.name +
         (one ? " is" : " are") + " being cut anew for it, which takes " + format_duration_ms(node.recut.ms);
}

// There would be room, but for who has it already and waits for others to leave the rest of his.
bool is_kept_for_others(const State& state, const Shape& shape) {
  const std::optional<State> without = without_room_to_come(state);
  return without && !has_room(state, shape) && has_room(*without, shape);
}

bool is_never(const State& state, const Workload& workload) {
  return state.lines()[state.line_of(workload.queue).index()]->find(workload.shape)->impossible_for_good();
}

// What else it was told, if anything.
std::string own_promise_text(const State& state, WorkloadId id) {
  const Shadow* const shadow = state.shadow_of(id);
  if (shadow == nullptr) return "";
  return "; room is promised to it: it starts in " +
         format_duration_ms(std::max<std::int64_t>(0, (begins_by(state, *shadow) - state.clock()).ms)) +
         " at the latest, unless a stronger claim or a lost node takes that";
}

// It keeps hours, and there is room for it: when that is clear and cut for it they would be over too soon. PRE: no gate refused it.
bool would_begin_too_late(const State& state, const ShapeInLine& entry, const Shape& open) {
  return entry.blocked() && open.terms.hours && has_room(state, open);
}

std::string why_it_would_begin_too_late(const Terms& terms) {
  return "there is room for it, which is not clear yet, or is cut for it first: its hours would be over before " +
         (terms.run_limit ? "its limit of " + format_duration_ms(terms.run_limit->ms) + " ends it" : "it begins");
}

// Those whom a gang lacks, as a shape of their own.
Shape shape_of_missing(const State& state, WorkloadId gang) {
  Shape missing = state.shape(state.workload(gang).shape);
  missing.ways = {missing_sets(state, gang)};
  missing.pods = 0;
  for (const NumberedPodSet& set : missing.ways.front()) missing.pods += set.count;
  return missing;
}

// That there is room for so many may not be enough: they have to be with those who are left.
void explain_repair(const State& state, WorkloadId id, Explanation& explanation) {
  const Repairing& repairing = *state.find_repairing(id);
  const auto lost = std::ssize(repairing.lost);
  const auto for_so_long = [&](Duration duration) {
    return format_duration_ms(std::max<std::int64_t>(0, duration.ms));
  };
  if (lost == 0) {
    explanation.text =
        "those in the place of the pods that it has lost have their room, which others have yet to leave";
    return;
  }
  explanation.text = "it lacks " + with_separators(lost) + " of its " + with_separators(explanation.pods) +
                     " pods since " + for_so_long(state.clock() - repairing.since) +
                     ", and keeps the others for another " + for_so_long(repairing.until - state.clock());
  const Shape missing = shape_of_missing(state, id);
  Explanation what;
  what.pods = missing.pods;
  const State seen = with_spares_lent(state);
  what.pods_that_fit = pods_that_fit(seen, missing.ways.front());
  tally_nodes(seen, missing, what);
  if (what.pods_that_fit < missing.pods) {
    explanation.text += "; for those it lacks: " + explanation_text(state, what);
  } else if (asks_for_domains(missing)) {
    explanation.text += "; there is room for those it lacks, and not where they would be with the others as it asks";
  } else if (const auto reserved = reserved_text(state, id)) {
    explanation.text += "; for those it lacks " + *reserved;
  } else {
    explanation.text += "; there is room for those it lacks, it will be tried";
  }
  explanation.pods_that_fit = what.pods_that_fit;
  explanation.nodes_that_fit = what.nodes_that_fit;
  explanation.asked = what.asked;
  explanation.tallies = std::move(what.tallies);
}

// The gates before it refuse it too, but for LendingLimit: what owners keep is room that is not free.
ReasonCode reason_of_impossible(const State& state, QueueId queue, const Shape& shape) {
  if (contradicts_itself(shape.terms)) return ReasonCode::kInvalid;
  const auto refused = refused_by_quotas(state, queue, shape);
  return refused && *refused != ReasonCode::kLendingLimit ? *refused : reason_never(state, shape);
}

// Whom quotas refuse, and what nodes say of it besides.
std::string never_text(const State& state, const Shape& shape, const Explanation& explanation) {
  return "; and it could never run here if they let it: " + std::string(name_of(reason_never(state, shape))) + ", " +
         explanation_text(state, explanation);
}

bool may_take_from_others(const State& state, WorkloadId id) {
  const Workload& workload = state.workload(id);
  const Shape& shape = state.shape(workload.shape);
  const RightsAtAGlance rights(state);
  for (std::size_t way = 0; way < shape.ways.size(); ++way) {
    if (rights.may_take(workload.queue, shape.terms, asked_by(state, workload.queue, shape, way), !shape.cools))
      return true;
  }
  return false;
}

// It keeps to one flavor, and idle nodes of all those that it accepts would hold it.
bool fits_idle_in_several_flavors(const State& state, const Shape& shape) {
  if (shape.ways.size() == 1) return false;
  for (std::size_t set = 0; set < shape.ways.front().size(); ++set) {
    const std::vector<PodRequest> requests = requests_of(state, shape, set);
    if (requests.size() > 1) return false;
    std::int64_t room = 0;
    for (std::size_t node = 0; node < state.nodes(); ++node)
      room += idle_room_on(state, requests.front(), NodeId(node));
    if (room < shape.ways.front()[set].count) return false;
  }
  return true;
}

// Its queue lets it wait a while before it takes what it might from others.
bool waits_with_a_right(const State& state, WorkloadId id) {
  const Workload& workload = state.workload(id);
  const Duration patience = state.queues()[workload.queue.index()].quota.patience;
  return patience > Duration{0} && state.clock() < workload.submitted + patience && may_take_from_others(state, id);
}

// Whether there are places for it now, whatever that would break up.
bool finds_places(const State& state, WorkloadId id) {
  const Shape& shape = state.shape(state.workload(id).shape);
  State copy = shape.terms.replaces ? with_spares_lent(state) : state.fork();
  Trial trial(copy.ledger_for_trial(), copy.quotas_for_trial());
  ScoreIndex index;
  for (std::size_t way = 0; way < shape.ways.size(); ++way) {
    const Trial::Mark mark = trial.mark();
    Rng rng(copy.seed(), id.value());
    if (std::holds_alternative<Start>(place_in_way(copy, trial, index, id, way, rng))) return true;
    trial.rollback_to(mark);
  }
  return false;
}

// Others' floors refused it when it was tried, and by now others are where it would have been. Most often there is room, which costs
// least to find out.
bool lacks_room_by_now(const State& state, const ShapeInLine& entry, WorkloadId id, const Shape& open) {
  return entry.gate == ReasonCode::kKeepsFloorDeliverable && !has_room(state, open) && !finds_places(state, id) &&
         !may_take_from_others(state, id);
}

}  // namespace

ReasonCode reason_of(const State& state, WorkloadId id) {
  const Workload& workload = state.workload(id);
  if (state.find_repairing(id) != nullptr) return ReasonCode::kRepairing;
  if (workload.phase == Phase::kStarting) {
    if (waits_for_a_cut(state, id)) return ReasonCode::kSliceGeometry;
    return waits_for_a_scrub(state, id) ? ReasonCode::kDirty : ReasonCode::kCapacity;
  }
  if (workload.phase != Phase::kPending) return ReasonCode::kNone;
  if (!state.held_at(workload.queue).is_none()) return ReasonCode::kQueueHeld;
  if (workload.shut_out) return ReasonCode::kQueueClosed;
  if (workload.follows || workload.awaits_turn || !workload.step_of.is_none()) return ReasonCode::kDependency;
  if (workload.too_early) {
    if (workload.backs_off()) return ReasonCode::kBackOff;
    return workload.not_before > state.clock() ? ReasonCode::kNotBefore : ReasonCode::kCalendar;
  }
  const Line& line = *state.lines()[state.line_of(workload.queue).index()];
  const ShapeInLine& entry = *line.find(workload.shape);
  const Shape& shape = state.shape(workload.shape);
  if (entry.impossible_for_good()) return reason_of_impossible(state, workload.queue, shape);
  // Who may take others' room passes by these as he takes it. Of the others it is said as things are now: the gate that refused when it
  // was tried may have given way to one before it, or to one behind.
  const bool has_a_right = entry.gate == ReasonCode::kPatience || entry.gate == ReasonCode::kVictimsProtected;
  const auto refused = has_a_right ? std::nullopt : refused_by_quotas(state, workload.queue, shape);
  if (refused) return *refused;
  if (is_kept_out(entry) || is_nowhere(entry)) return entry.gate;
  if (stands_behind(state, line, id)) return ReasonCode::kBehind;
  const Shape open = without_refused_ways(state, workload.queue, shape);
  if (!entry.blocked()) {
    // Whoever was not tried in a cycle, as others were first, waits for what is in its way as things are.
    if (has_room(state, open)) return entry.told;
    if (const ReasonCode never = reason_never(state, shape); never != ReasonCode::kNone) return never;
    if (waits_with_a_right(state, id)) return ReasonCode::kPatience;
  }
  if (entry.gate != ReasonCode::kNone && !lacks_room_by_now(state, entry, id, open)) return entry.gate;
  if (would_begin_too_late(state, entry, open)) return ReasonCode::kCalendar;
  if (is_kept_for_others(state, open)) return ReasonCode::kReserved;
  if (const auto kept = kept_away_by_neighbours(state, open)) return *kept;
  if (!state.ledger().exclusives().none() && has_room(without_exclusive_domains(state), open)) {
    return ReasonCode::kAffinity;
  }
  if (!state.ledger().tenants().none() && has_room(without_strangers(state), open)) return ReasonCode::kTrust;
  if (asks_for_domains(open) && fits_apart(state, open)) {
    const bool lacks_domains = !fits_together_now(state, open);
    if (const auto kept = lacks_domains ? kept_out_of_domains(state, open) : std::nullopt) return *kept;
    if (const auto lack = reason_of_lack(state, open, false)) return *lack;
  }
  const bool geometry = std::ranges::any_of(open.ways, [&](const auto& way) { return fails_by_geometry(state, way); });
  if (geometry || rested_for_who_takes(state, id)) return ReasonCode::kSliceGeometry;
  if (const auto kept = kept_away(state, open)) return *kept;
  if (kept_away_by_zones(state, open)) return ReasonCode::kNuma;
  const bool in_sum =
      std::any_of(open.ways.begin(), open.ways.end(), [&](const auto& way) { return is_free_in_sum(state, way); });
  return in_sum ? ReasonCode::kFragmented : ReasonCode::kCapacity;
}

namespace {

Explanation explain_as_things_are(const State& state, WorkloadId id) {
  Explanation explanation;
  const Workload& workload = state.workload(id);
  const Shape& asked = state.shape(workload.shape);
  explanation.code = reason_of(state, id);
  const Shape shape = is_quota_gate(explanation.code) ? asked : without_refused_ways(state, workload.queue, asked);
  explanation.pods = shape.pods;
  if (workload.phase == Phase::kStarting) {
    explanation.text = explanation.code == ReasonCode::kDirty ? "it has its room, which is being scrubbed"
                                                              : "it has its room, which others have yet to leave";
    if (const auto device = waits_for_a_cut(state, id)) explanation.text = cutting_text(state, *device);
  }
  if (explanation.code == ReasonCode::kRepairing) {
    explain_repair(state, id, explanation);
    return explanation;
  }
  if (workload.phase != Phase::kPending) return explanation;
  if (state.is_kept_aside(id)) {
    explanation.text = why_kept_aside(state, id);
    return explanation;
  }
  if (contradicts_itself(shape.terms)) {
    explanation.text = "never: " + std::string(kContradiction);
    return explanation;
  }
  std::optional<State> lent;
  if (shape.terms.replaces) lent = with_spares_lent(state);
  const State& seen = lent ? *lent : state;
  for (const auto& way : shape.ways) {
    explanation.pods_that_fit = std::max(explanation.pods_that_fit, pods_that_fit(seen, way));
  }
  tally_nodes(seen, shape, explanation);
  if (explanation.code == ReasonCode::kNone) return explanation;
  const ShapeInLine& entry = *state.lines()[state.line_of(workload.queue).index()]->find(workload.shape);
  if (explanation.code == ReasonCode::kCalendar && entry.gate == ReasonCode::kNone && asked.terms.hours &&
      !refused_by_quotas(state, workload.queue, asked)) {
    explanation.text = why_it_would_begin_too_late(asked.terms);
    return explanation;
  }
  if (is_quota_gate(explanation.code)) {
    explanation.text = explanation.code == ReasonCode::kCooldown ? cooldown_text(state, id)
                                                                 : why_quotas_refuse(state, workload.queue, shape);
    if (is_never(state, workload)) explanation.text += never_text(state, shape, explanation);
    return explanation;
  }
  if (explanation.code == ReasonCode::kIsolation) {
    explanation.text = isolation_text(state, shape, explanation);
    return explanation;
  }
  if (explanation.code == ReasonCode::kKeepsFloorDeliverable) {
    explanation.text = whole_floors_text(state, workload.queue, shape);
    if (reason_never_of(state, id) == explanation.code) explanation.text += kept_out_text(state, workload.queue, shape);
    return explanation;
  }
  const bool by_neighbours =
      explanation.code == ReasonCode::kPorts || explanation.code == ReasonCode::kAffinity ||
      (explanation.code == ReasonCode::kSpread && (!asks_for_domains(shape) || is_outside_a_level(state, shape)));
  if (by_neighbours && explanation.code == ReasonCode::kAffinity) {
    if (const auto text = exclusive_text(state, shape)) {
      explanation.text = *text;
      return explanation;
    }
  }
  if (by_neighbours) {
    const auto apart = apart_text(state, shape);
    explanation.text = apart ? *apart : neighbours_text(state, shape);
    return explanation;
  }
  if (explanation.code == ReasonCode::kReserved && !is_never(state, workload)) {
    explanation.text = is_kept_for_others(state, shape)
                           ? "there is room, kept for who begins when others have left the "
                             "rest of his"
                           : in_the_way_text(state, id);
    explanation.text += own_promise_text(state, id);
    return explanation;
  }
  const bool by_strangers = explanation.code == ReasonCode::kTrust && !state.ledger().tenants().none();
  const bool by_domains = !by_strangers && waits_for_a_domain(state, shape);
  explanation.text = by_domains ? topology_text(state, shape, is_of_domains(reason_never(state, shape)))
                                : explanation_text(state, explanation);
  if (by_domains && is_of_occupants(explanation.code))
    explanation.text += who_is_in_its_domains(explanation.code, explanation.asked);
  explanation.text += own_promise_text(state, id);
  const auto rested = explanation.code == ReasonCode::kSliceGeometry ? rested_for_who_takes(state, id) : std::nullopt;
  if (rested) {
    explanation.text += "; what it may take is on a GPU that was cut anew a short while ago and stays so for another " +
                        format_duration_ms(std::max<std::int64_t>(0, (*rested - state.clock()).ms));
  }
  if (explanation.code == ReasonCode::kDirty) explanation.text += quarantine_text(state, shape);
  if (explanation.code == ReasonCode::kVictimsProtected) explanation.text += "; what it might take is protected";
  if (explanation.code == ReasonCode::kPatience) {
    explanation.text +=
        waits_with_a_right(state, id)
            ? "; it may take from others, and its queue waits a while for those who may end by themselves"
            : "; a GPU could be cut anew for it, which would take longer than until somebody has to end by his run "
              "limit";
  }
  if (explanation.code == ReasonCode::kFragmented && state.movable() > 0) {
    explanation.text += "; moving those who consent to it (" +
                        with_separators(static_cast<std::int64_t>(state.movable())) +
                        " run) would not make room, or would lose more than it will use";
  }
  const bool never = explanation.code == ReasonCode::kNuma && is_never(state, workload);
  if (explanation.code != ReasonCode::kInvalid && !never) return explanation;
  explanation.text += "; never: ";
  const std::int64_t when_idle = pods_when_idle(state, shape);
  if (shape.pods == 1) {
    explanation.text += "not even with all nodes idle";
  } else if (when_idle == shape.pods) {
    explanation.text += "all of its pods together ask more GPUs than there are";
  } else {
    explanation.text += "with all nodes idle there is room for " + with_separators(when_idle) + " of " +
                        with_separators(shape.pods) + " pods";
    if (fits_idle_in_several_flavors(state, shape)) {
      explanation.text +=
          ", all of one flavor; mixed over several (mixed=yes in a scenario) there would be room for all";
    }
  }
  return explanation;
}

}  // namespace

Explanation explain(const State& state, WorkloadId id) {
  Explanation explanation = explain_as_things_are(state, id);
  const Workload& workload = state.workload(id);
  if (workload.phase != Phase::kPending || state.is_kept_aside(id)) return explanation;
  const ShapeInLine& entry = *state.lines()[state.line_of(workload.queue).index()]->find(workload.shape);
  if (is_nowhere(entry) && explanation.code == entry.gate) explanation.text += nowhere_text();
  return explanation;
}

std::vector<Dependency> awaited_by(const State& state, WorkloadId id) {
  const bool awaits = state.workload(id).follows && reason_of(state, id) == ReasonCode::kDependency;
  if (!awaits || state.followers().waits_in_vain(id)) return {};
  return state.followers().awaited_by(id);
}

std::vector<WorkloadId> ahead_of(const State& state, WorkloadId id) {
  if (state.is_kept_aside(id)) return {};
  const QueueId queue = state.line_of(state.workload(id).queue);
  const Standing own = standing_of(state, queue, state.shape(state.workload(id).shape).user, state.key_of(id));
  std::vector<Standing> ahead;
  for (const ShapeInLine& shape : state.lines()[queue.index()]->shapes()) {
    shape.waiting.for_each([&](const PendingKey& key) {
      const Standing other = standing_of(state, queue, state.shape(shape.shape).user, key);
      if (other < own) ahead.push_back(other);
    });
  }
  std::sort(ahead.begin(), ahead.end());
  std::vector<WorkloadId> workloads;
  for (const Standing& other : ahead) workloads.push_back(other.key.workload);
  return workloads;
}

std::string with_separators(std::int64_t value) {
  std::string digits = std::to_string(value);
  const std::size_t first = value < 0 ? 1 : 0;
  for (std::size_t at = digits.size(); at > first + 3;) digits.insert(at -= 3, 1, ',');
  return digits;
}

}  // namespace berth
