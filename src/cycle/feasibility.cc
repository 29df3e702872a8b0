#include "cycle/feasibility.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "cycle/slices_free.h"
#include "cycle/topology_text.h"
#include "model/replica_ways.h"
#include "state/domain_rooms.h"
#include "state/idle_room.h"
#include "state/kept_out.h"
#include "state/room.h"

namespace berth {
namespace {

// How many pods of a set would fit on all nodes, at most all of them.
std::int64_t idle_room_anywhere(const State& state, const NumberedPodSet& set) {
  const NodeTypes& types = state.node_types();
  std::int64_t room = 0;
  for (std::size_t type = 0; type < types.counts.size() && room < set.count; ++type) {
    const std::int64_t on_each = std::min(set.count, room_for(types.idle, NodeId(type), state.request(set.request)));
    room = std::min(set.count, room + on_each * types.counts[type]);
  }
  return room;
}

// The same on those nodes that are `allowed`.
template <class Allowed>
std::int64_t idle_room_where(const State& state, const NumberedPodSet& set, Allowed allowed) {
  const NodeTypes& types = state.node_types();
  std::vector<std::int64_t> on_each(types.counts.size(), -1);
  std::int64_t room = 0;
  for (std::size_t node = 0; node < types.of_node.size() && room < set.count; ++node) {
    if (!allowed(NodeId(node))) continue;
    const std::size_t type = types.of_node[node];
    if (on_each[type] < 0) on_each[type] = room_for(types.idle, NodeId(type), state.request(set.request));
    room += std::min(set.count - room, on_each[type]);
  }
  return room;
}

std::int64_t idle_room(const State& state, const NumberedPodSet& set) {
  const NodeMatches& matches = state.ledger().matches();
  if (matches.allows_all()) return idle_room_anywhere(state, set);
  const NodeConstraintsId constraints = state.request(set.request).constraints;
  return idle_room_where(state, set, [&](NodeId node) { return matches.allows(constraints, node); });
}

bool fits_together(const State& state, const NumberedPodSet& set, const PodRequest& request) {
  const auto room_on = [&](NodeId node) { return idle_room_on(state, request, node); };
  const auto counts = [&](NodeId node) {
    if (!could_be_on(state, request, node, state.topologies()[set.topology].unit_pods())) return CountsInSpread::kNo;
    return state.ledger().node(node).open ? CountsInSpread::kYes : CountsInSpread::kIfItOpens;
  };
  const NodeRooms nodes{state.nodes(), set.count, room_on, counts, false};
  return rooms_of_domains(state.topologies(), set.topology, nodes).hold(state.topologies()[set.topology], set.count);
}

// Whether the nodes that will do are near enough to each other, of all its flavors or of the first.
bool fits_together(const State& state, const NumberedPodSet& set) {
  return !set.asks_for_domains() || fits_together(state, set, state.request(set.request)) ||
         fits_together(state, set, state.request(set.in_first_flavor));
}

// Whether it would fit where neither its constraints nor a taint keep it away, if no queue had nodes of its own.
bool fits_where_others_may(const State& state, const NumberedPodSet& set) {
  const NodeMatches& matches = state.ledger().matches();
  const NodeConstraintsId constraints = state.request(set.request).constraints;
  const auto suits = [&](NodeId node) {
    return matches.selects(constraints, node) && tolerates(matches[constraints], state.node(node).taints);
  };
  return !matches.dedications().empty() && idle_room_where(state, set, suits) == set.count;
}

// Whether it would fit on the nodes that it selects, whatever their taints.
bool fits_where_selected(const State& state, const NumberedPodSet& set) {
  const NodeMatches& matches = state.ledger().matches();
  const NodeConstraintsId constraints = state.request(set.request).constraints;
  const auto selected = [&](NodeId node) { return matches.selects(constraints, node); };
  return !matches.allows_all() && idle_room_where(state, set, selected) == set.count;
}

// How many pods there would be room for if so many at most were in a domain; where a node is in none they keep nobody away.
std::int64_t room_by_domain(const State& state, const NumberedPodSet& set, const Domains& domains, std::int64_t most) {
  const PodRequest& request = state.request(set.request);
  std::map<DomainId, std::int64_t> in_domain;
  std::int64_t room = 0;
  for (std::size_t node = 0; node < state.nodes() && room < set.count; ++node) {
    std::int64_t there = idle_room_on(state, request, NodeId(node));
    const DomainId domain = domains.of(NodeId(node));
    if (there > 0 && !domain.is_none()) {
      std::int64_t& before = in_domain[domain];
      there = std::min(there, most - before);
      before += there;
    }
    room += there;
  }
  return std::min(room, set.count);
}

bool has_gpu_type(const State& state, const PodRequest& request) {
  if (request.gpus == 0) return true;
  const std::vector<Node>& types = state.node_types().nodes.values();
  return std::any_of(types.begin(), types.end(), [&](const Node& type) {
    return type.gpus > 0 && request.flavors.contains(type.flavor) && type.may_be(request.sharing) &&
           type.gpu_memory_mib >= request.gpu_memory_mib;
  });
}

// Whether replicas, which are not for it, would be of such a type.
bool has_replicas_of_type(const State& state, const PodRequest& request) {
  const auto replica = as_replica(request);
  return replica && has_gpu_type(state, *replica);
}

// What the sets of a way that may use no other flavors than one of them ask together, on all nodes that have these.
bool is_there_in_sum(const State& state, const std::vector<NumberedPodSet>& way, FlavorSet flavors) {
  std::int64_t asked = 0;
  for (const NumberedPodSet& set : way) {
    const PodRequest& request = state.request(set.request);
    // What a replica takes its node says.
    if (request.gpus > 0 && !request.is_replica() && flavors.contains_all(request.flavors)) {
      asked += set.count * request.gpu_milli_total();
    }
  }
  const NodeTypes& types = state.node_types();
  std::int64_t there = 0;
  for (std::size_t type = 0; type < types.counts.size() && there < asked; ++type) {
    const Node& node = types.nodes.values()[type];
    if (node.gpus > 0 && flavors.contains(node.flavor)) there += types.counts[type] * node.gpus * kMilliPerGpu;
  }
  return there >= asked;
}

// Several sets that would fit each by itself may ask more GPUs than there are.
bool is_there_in_sum(const State& state, const std::vector<NumberedPodSet>& way) {
  return way.size() == 1 || std::ranges::all_of(way, [&](const NumberedPodSet& set) {
           return is_there_in_sum(state, way, state.request(set.request).flavors);
         });
}

template <class Holds>
bool some_way(const Shape& shape, Holds holds) {
  return std::any_of(shape.ways.begin(), shape.ways.end(),
                     [&](const auto& way) { return std::all_of(way.begin(), way.end(), holds); });
}

// Whether it would fit where it may be if no kubelet minded NUMA zones.
bool fits_in_any_zones(const State& state, const NumberedPodSet& set) {
  const NodeTypes& types = state.node_types();
  const PodRequest& request = state.request(set.request);
  std::int64_t room = 0;
  for (std::size_t node = 0; node < types.of_node.size() && room < set.count; ++node) {
    if (!state.ledger().matches().allows(request.constraints, NodeId(node))) continue;
    room += std::min(set.count,
                     room_for(types.idle, NodeId(types.of_node[node]), request, Occupants::kMatter, Zones::kAreOne));
  }
  return room >= set.count;
}

}  // namespace

std::optional<ApartFromItself> too_few_apart(const State& state, const NumberedPodSet& set) {
  const NeighboursId neighbours = state.request(set.request).neighbours;
  const Neighbourhood& around = state.ledger().neighbourhood();
  if (set.count == 1 || !around.refuses(neighbours)) return std::nullopt;
  const Neighbourhood::Kind& kind = around.kind(neighbours);
  for (const bool by_port : {true, false}) {
    for (const Neighbourhood::CounterId counter : by_port ? kind.ports : kind.apart) {
      if (!std::ranges::binary_search(kind.counted_in, counter)) continue;
      const std::int64_t most = room_by_domain(state, set, around.domains(counter), 1);
      if (most == set.count) continue;
      return ApartFromItself{by_port ? ReasonCode::kPorts : ReasonCode::kAffinity, around.level_of(counter), most};
    }
  }
  const std::vector<PodSpread>& spreads = around[neighbours].spreads;
  for (std::size_t at = 0; at < spreads.size(); ++at) {
    const bool counts = std::ranges::binary_search(kind.counted_in, kind.spreads[at]);
    const Domains& domains = around.domains(kind.spreads[at]);
    if (!spreads[at].required || !counts || std::cmp_greater_equal(domains.size(), spreads[at].domains_min)) continue;
    // What is not there counts as a domain in which nobody is.
    const std::int64_t most = room_by_domain(state, set, domains, spreads[at].skew_max);
    if (most == set.count) continue;
    return ApartFromItself{ReasonCode::kSpread, spreads[at].term.level, most, spreads[at].domains_min};
  }
  return std::nullopt;
}

std::optional<TooFewOfItsOwn> too_few_of_its_own(const State& state, const std::vector<NumberedPodSet>& way) {
  const ExclusiveDomains& exclusives = state.ledger().exclusives();
  if (exclusives.none() || way.size() == 1) return std::nullopt;
  std::map<std::string, TooFewOfItsOwn> by_level;
  std::set<ExclusiveId> seen;
  for (const NumberedPodSet& set : way) {
    const ExclusiveId id = state.request(set.request).exclusive;
    if (!exclusives.is_exclusive(id) || exclusives[id].part.empty()) continue;
    if (!seen.insert(id).second) continue;  // several pod sets may be one part
    const ExclusiveDomains::Tally there = exclusives.tally(id);
    TooFewOfItsOwn& of_level = by_level[exclusives[id].level];
    of_level = {exclusives[id].level, of_level.parts + 1, there.free + there.among_others + there.others_own};
  }
  for (const auto& each : by_level) {
    if (each.second.parts > each.second.domains) return each.second;
  }
  return std::nullopt;
}

bool lacks_whom_to_be_near(const State& state, const Ledger& ledger, const Shape& shape) {
  const Neighbourhood& around = ledger.neighbourhood();
  const std::vector<NumberedPodSet>& sets = shape.ways.front();
  const auto is_of_its_own = [&](Neighbourhood::CounterId counter) {
    return std::ranges::any_of(sets, [&](const NumberedPodSet& set) {
      const NeighboursId id = state.request(set.request).neighbours;
      return around.is_counted(id) && std::ranges::binary_search(around.kind(id).counted_in, counter);
    });
  };
  return std::ranges::any_of(sets, [&](const NumberedPodSet& set) {
    const NeighboursId id = state.request(set.request).neighbours;
    return around.refuses(id) && std::ranges::any_of(around.kind(id).near, [&](Neighbourhood::CounterId counter) {
             return around.anywhere(counter) == 0 && !is_of_its_own(counter);
           });
  });
}

std::optional<OutsideLevel> outside_level(const State& state, const NumberedPodSet& set) {
  const PodRequest& request = state.request(set.request);
  const Neighbourhood& around = state.ledger().neighbourhood();
  if (!around.refuses(request.neighbours)) return std::nullopt;
  const auto is_outside = [&](Neighbourhood::CounterId counter) {
    const Domains& domains = around.domains(counter);
    for (std::size_t node = 0; node < state.nodes(); ++node) {
      if (!domains.of(NodeId(node)).is_none() && idle_room_on(state, request, NodeId(node)) > 0) return false;
    }
    return true;
  };
  const Neighbourhood::Kind& kind = around.kind(request.neighbours);
  for (const Neighbourhood::CounterId counter : kind.near) {
    if (is_outside(counter)) return OutsideLevel{ReasonCode::kAffinity, around.level_of(counter)};
  }
  const std::vector<PodSpread>& spreads = around[request.neighbours].spreads;
  for (std::size_t at = 0; at < spreads.size(); ++at) {
    if (spreads[at].required && is_outside(kind.spreads[at]))
      return OutsideLevel{ReasonCode::kSpread, spreads[at].term.level};
  }
  return std::nullopt;
}

bool shares_against_its_terms(const State& state, const Shape& shape) {
  return shape.terms.latency_critical && std::ranges::any_of(shape.ways.front(), [&](const NumberedPodSet& set) {
           return state.request(set.request).is_fraction();
         });
}

bool has_mode(const State& state, Sharing sharing) {
  return std::ranges::any_of(state.node_types().nodes.values(), [&](const Node& type) { return type.may_be(sharing); });
}

namespace {

// By others' floors, or as no place was found on the empty cluster, when it was tried; none: it was not.
ReasonCode was_kept_out(const State& state, WorkloadId id) {
  const Workload& workload = state.workload(id);
  if (workload.phase != Phase::kPending || state.is_kept_aside(id)) return ReasonCode::kNone;
  const ShapeInLine& entry = *state.lines()[state.line_of(workload.queue).index()]->find(workload.shape);
  return is_kept_out(entry) || is_nowhere(entry) ? entry.gate : ReasonCode::kNone;
}

}  // namespace

ReasonCode reason_never_of(const State& state, WorkloadId id) {
  const Workload& workload = state.workload(id);
  const Shape& shape = state.shape(workload.shape);
  if (state.followers().waits_in_vain(id)) return ReasonCode::kDependency;
  if (workload.phase == Phase::kPending && never_in_its_hours(state, shape.terms)) return ReasonCode::kCalendar;
  const ReasonCode never = reason_never(state, shape);
  return never == ReasonCode::kNone ? was_kept_out(state, id) : never;
}

bool never_in_its_hours(const State& state, const Terms& terms) {
  if (!terms.hours || !terms.run_limit) return false;
  return std::ranges::all_of(state.windows()[*terms.hours].open,
                             [&](const Interval& open) { return open.to - open.from < *terms.run_limit; });
}

ReasonCode reason_never(const State& state, const Shape& shape) {
  if (contradicts_itself(shape.terms)) return ReasonCode::kInvalid;
  if (shares_against_its_terms(state, shape)) return ReasonCode::kIsolation;
  const auto fits_idle = [&](const NumberedPodSet& set) { return idle_room(state, set) == set.count; };
  const auto fits_beside_others = [&](const NumberedPodSet& set) {
    return fits_idle(set) && fits_together(state, set);
  };
  const auto fits_alone = [&](const NumberedPodSet& set) {
    return fits_beside_others(set) && !too_few_apart(state, set) && !outside_level(state, set);
  };
  if (std::ranges::any_of(shape.ways, [&](const auto& way) {
        return std::ranges::all_of(way, fits_alone) && is_there_in_sum(state, way) && !too_few_of_its_own(state, way);
      })) {
    return ReasonCode::kNone;
  }
  if (some_way(shape, fits_alone)) {
    const bool is_alone =
        std::ranges::any_of(shape.ways, [&](const auto& way) { return too_few_of_its_own(state, way).has_value(); });
    return is_alone ? ReasonCode::kAffinity : ReasonCode::kInvalid;
  }
  for (const auto& way : shape.ways) {
    if (!std::ranges::all_of(way, fits_beside_others)) continue;
    for (const NumberedPodSet& set : way) {
      if (const auto outside = outside_level(state, set)) return outside->code;
      if (const auto few = too_few_apart(state, set)) return few->code;
    }
  }
  if (some_way(shape, fits_idle)) return reason_of_lack(state, shape, true).value_or(ReasonCode::kTopology);
  const bool has_types =
      some_way(shape, [&](const NumberedPodSet& set) { return has_gpu_type(state, state.request(set.request)); });
  if (!has_types) {
    const bool in_turns = some_way(shape, [&](const NumberedPodSet& set) {
      const PodRequest& request = state.request(set.request);
      return has_gpu_type(state, request) || has_replicas_of_type(state, request);
    });
    return in_turns ? ReasonCode::kIsolation : ReasonCode::kGpuType;
  }
  if (std::ranges::none_of(shape.ways, [&](const auto& way) { return can_be_cut(state, way); })) {
    return ReasonCode::kSliceGeometry;
  }
  if (state.node_types().have_zones &&
      some_way(shape, [&](const NumberedPodSet& set) { return fits_in_any_zones(state, set); })) {
    return ReasonCode::kNuma;
  }
  if (some_way(shape, [&](const NumberedPodSet& set) { return fits_where_others_may(state, set); })) {
    return ReasonCode::kReserved;
  }
  if (some_way(shape, [&](const NumberedPodSet& set) { return fits_where_selected(state, set); })) {
    return ReasonCode::kTaint;
  }
  const auto fits_anywhere = [&](const NumberedPodSet& set) { return idle_room_anywhere(state, set) == set.count; };
  return some_way(shape, fits_anywhere) ? ReasonCode::kNodeSelector : ReasonCode::kInvalid;
}

std::int64_t pods_when_idle(const State& state, const Shape& shape) {
  std::int64_t most = 0;
  for (const auto& way : shape.ways) {
    std::int64_t pods = 0;
    for (const NumberedPodSet& set : way) pods += idle_room(state, set);
    most = std::max(most, pods);
  }
  return most;
}

}  // namespace berth
