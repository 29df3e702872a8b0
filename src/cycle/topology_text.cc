#include "cycle/topology_text.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <optional>
#include <utility>
#include <vector>

#include "cycle/explain.h"
#include "state/domain_rooms.h"
#include "state/idle_room.h"
#include "state/room.h"

namespace berth {
namespace {

constexpr std::size_t kDomainsNamedMax = 3;

std::int64_t room_on(const State& state, RequestId id, NodeId node, bool idle,
                     Occupants occupants = Occupants::kMatter) {
  const PodRequest& request = state.request(id);
  return idle ? idle_room_on(state, request, node) : room_for(state.ledger(), node, request, occupants);
}

DomainRooms rooms(const State& state, const NumberedPodSet& set, bool idle, Occupants occupants = Occupants::kMatter) {
  const auto counts = [&](NodeId node) {
    if (!could_be_on(state, state.request(set.request), node, state.topologies()[set.topology].unit_pods()))
      return CountsInSpread::kNo;
    const auto closed = idle ? CountsInSpread::kIfItOpens : CountsInSpread::kNo;
    return state.ledger().node(node).open ? CountsInSpread::kYes : closed;
  };
  const auto room = [&](NodeId node) { return room_on(state, set.request, node, idle, occupants); };
  return rooms_of_domains(state.topologies(), set.topology, NodeRooms{state.nodes(), set.count, room, counts, false});
}

// "9 fit in r2, 4 in r1, none in 2 others"; of those that do not count, with less than nothing, none.
std::string rooms_in_words(const Domains& domains, const std::vector<std::int64_t>& rooms) {
  std::vector<std::size_t> order(rooms.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, std::ranges::greater(), [&](std::size_t domain) { return rooms[domain]; });
  std::string text;
  std::erase_if(order, [&](std::size_t domain) { return rooms[domain] < 0; });
  for (std::size_t i = 0; i < order.size(); ++i) {
    if (i == kDomainsNamedMax && order.size() > kDomainsNamedMax + 1) {
      return text + ", at most as many in each of " + with_separators(static_cast<std::int64_t>(order.size() - i)) +
             " others";
    }
    const std::int64_t room = rooms[order[i]];
    const std::string count = room == 0 ? "none" : with_separators(room);
    const char* const verb = i > 0 ? " in " : room == 1 ? " fits in " : " fit in ";
    text += (i == 0 ? "" : ", ") + count + verb + domains.name(DomainId(order[i]));
  }
  return text;
}

// Where any node will do, the nodes of a slice's domain are all there is of it.
std::vector<std::int64_t> of_inner_domains(const DomainRooms& rooms) {
  std::vector<std::int64_t> pods;
  for (const InnerRoom& each : rooms.of_inner) pods.push_back(each.room);
  return pods;
}

// A pod set that has no domain with room for it.
struct Lack {
  const NumberedPodSet* set;
  DomainRooms rooms;
};

std::optional<Lack> first_lack(const State& state, const std::vector<NumberedPodSet>& way, bool idle) {
  for (const NumberedPodSet& set : way) {
    if (!set.asks_for_domains()) continue;
    DomainRooms found = rooms(state, set, idle);
    if (!found.hold(state.topologies()[set.topology], set.count)) return Lack{&set, std::move(found)};
  }
  return std::nullopt;
}

bool is_spread_anywhere(const Topology& topology) {
  return topology.is_spread() && topology.together == Togetherness::kAnywhere;
}

std::string count_in_words(std::int64_t count, const std::string& one) {
  return with_separators(count) + " " + one + (count == 1 ? "" : "s");
}

std::string own_nodes(const Topology& topology) {
  return topology.on_nodes == OnNodes::kOneEach ? ", each on a node of its own" : "";
}

// What levels that are tiers of HyperNodes begin with (manifest/hyper_nodes.h).
constexpr std::string_view kTierPrefix = "hypernode-tier-";

std::string no_domain_in_words(const std::string& level) {
  if (!level.starts_with(kTierPrefix)) return "no node says of which " + level + " it is: none has a label " + level;
  return "no node is in a HyperNode of tier " + level.substr(kTierPrefix.size()) +
         "; ask for a tier of those that there are, or make such HyperNodes";
}

// "its 6 pods are to be spread evenly over 3 zones: 3 fit in a, 2 in b, none in c"
std::string spread_in_words(const State& state, const Lack& lack, bool idle) {
  const NumberedPodSet& set = *lack.set;
  const Topology& topology = state.topologies()[set.topology];
  const Domains& domains = state.topologies().inner_domains(set.topology);
  const std::string& level = topology.spread_level;
  if (domains.size() == 0) return no_domain_in_words(level);
  const std::int64_t unit = topology.unit_pods();
  const std::string pods =
      "its " + (topology.has_slices() ? count_in_words(set.count / unit, "slice") + " of " + count_in_words(unit, "pod")
                                      : count_in_words(set.count, "pod"));
  const auto there = std::ssize(lack.rooms.of_inner);
  if (there == 0) return "no " + level + " has a node that could hold one of " + pods;
  const std::string even_idle = idle ? ", even if nothing else ran" : "";
  if (topology.spread == Spreading::kApart) {
    const auto with_room =
        std::ranges::count_if(lack.rooms.of_inner, [&](const InnerRoom& each) { return each.room >= unit; });
    return pods + " are to be on as many " + level + "s: " + (with_room == 0 ? "none" : with_separators(with_room)) +
           " of " + with_separators(there) + (with_room == 1 ? " has" : " have") + " room for one" + even_idle;
  }
  std::vector<std::int64_t> inner(domains.size(), -1);
  for (const InnerRoom& each : lack.rooms.of_inner) inner[each.inner.index()] = each.room / unit;
  return pods + " are to be spread evenly over " + count_in_words(there, level) + own_nodes(topology) + even_idle +
         ": " + rooms_in_words(domains, inner);
}

std::string lack_in_words(const State& state, const Lack& lack, bool idle) {
  const NumberedPodSet& set = *lack.set;
  const Topology& topology = state.topologies()[set.topology];
  if (is_spread_anywhere(topology)) return spread_in_words(state, lack, idle);
  const bool anywhere = topology.together == Togetherness::kAnywhere;
  const std::string level = anywhere ? topology.slice_level : topology.level;
  const Domains& domains =
      anywhere ? state.topologies().inner_domains(set.topology) : state.topologies().domains(set.topology);
  if (domains.size() == 0) return no_domain_in_words(level);
  const std::string slice = with_separators(topology.slice_pods);
  const std::string pods =
      anywhere ? "slices of " + slice + " pods" : with_separators(set.count) + (set.count == 1 ? " pod" : " pods");
  const bool in_slices = !anywhere && topology.has_slices();
  const std::string spread =
      topology.spread == Spreading::kApart  ? ", each on a " + topology.spread_level + " of its own"
      : topology.spread == Spreading::kEven ? ", spread evenly over " + topology.spread_level + "s"
                                            : "";
  return "no " + level + " has room for " + pods +
         (in_slices ? ", " + slice + " at a time on one " + topology.slice_level : "") + spread + own_nodes(topology) +
         (idle ? ", even if nothing else ran (" : " (") + with_separators(static_cast<std::int64_t>(domains.size())) +
         (domains.size() == 1 ? " is there: " : " are there: ") +
         rooms_in_words(domains, anywhere ? of_inner_domains(lack.rooms) : lack.rooms.of_domain) + ")";
}

}  // namespace

bool fits_together_now(const State& state, const Shape& shape, Occupants occupants) {
  const auto holds = [&](const NumberedPodSet& set) {
    return !set.asks_for_domains() ||
           rooms(state, set, false, occupants).hold(state.topologies()[set.topology], set.count);
  };
  return std::ranges::any_of(shape.ways, [&](const auto& way) { return std::ranges::all_of(way, holds); });
}

bool fits_apart(const State& state, const Shape& shape) {
  const auto holds = [&](const NumberedPodSet& set) {
    std::int64_t room = 0;
    for (std::size_t node = 0; node < state.nodes() && room < set.count; ++node) {
      room += std::min(set.count, room_on(state, set.request, NodeId(node), false));
    }
    return room >= set.count;
  };
  return std::ranges::any_of(shape.ways, [&](const auto& way) { return std::ranges::all_of(way, holds); });
}

std::optional<ReasonCode> reason_of_lack(const State& state, const Shape& shape, bool idle) {
  for (const auto& way : shape.ways) {
    const auto lack = first_lack(state, way, idle);
    if (lack)
      return is_spread_anywhere(state.topologies()[lack->set->topology]) ? ReasonCode::kSpread : ReasonCode::kTopology;
  }
  return std::nullopt;
}

std::string topology_text(const State& state, const Shape& shape, bool idle) {
  std::optional<Lack> lack;
  for (const auto& way : shape.ways) {
    auto of_way = first_lack(state, way, idle);
    if (!of_way) return "each of its pod sets has room in a domain, and not all of them at once";
    if (!lack || of_way->rooms.most() > lack->rooms.most()) lack = std::move(of_way);
  }
  return lack_in_words(state, *lack, idle);
}

}  // namespace berth
