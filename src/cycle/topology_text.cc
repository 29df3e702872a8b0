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
#include "state/room.h"

namespace berth {
namespace {

constexpr std::size_t kDomainsNamedMax = 3;

std::int64_t room_on(const State& state, RequestId id, NodeId node, bool idle) {
  const PodRequest& request = state.request(id);
  if (!idle) return room_for(state.ledger(), node, request);
  if (!state.ledger().matches().allows(request.constraints, node)) return 0;
  return room_for(state.node_types().idle, NodeId(state.node_types().of_node[node.index()]), request);
}

DomainRooms rooms(const State& state, const NumberedPodSet& set, bool idle) {
  return rooms_of_domains(state.topologies(), set.topology, state.nodes(), set.count,
                          [&](NodeId node) { return room_on(state, set.request, node, idle); });
}

// "9 fit in r2, 4 in r1, none in 2 others"
std::string rooms_in_words(const Domains& domains, const std::vector<std::int64_t>& rooms) {
  std::vector<std::size_t> order(rooms.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, std::ranges::greater(), [&](std::size_t domain) { return rooms[domain]; });
  std::string text;
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
std::vector<std::int64_t> of_slice_domains(const DomainRooms& rooms) {
  std::vector<std::int64_t> pods;
  for (const SliceRoom& each : rooms.of_slices) pods.push_back(each.room);
  return pods;
}

// A pod set that has no domain with room for it.
struct Lack {
  const NumberedPodSet* set;
  DomainRooms rooms;
};

std::optional<Lack> first_lack(const State& state, const std::vector<NumberedPodSet>& way, bool idle) {
  for (const NumberedPodSet& set : way) {
    if (!set.is_placed_together()) continue;
    DomainRooms found = rooms(state, set, idle);
    if (!found.hold(state.topologies()[set.topology], set.count)) return Lack{&set, std::move(found)};
  }
  return std::nullopt;
}

std::string lack_in_words(const State& state, const Lack& lack, bool idle) {
  const NumberedPodSet& set = *lack.set;
  const Topology& topology = state.topologies()[set.topology];
  const bool anywhere = topology.together == Togetherness::kAnywhere;
  const std::string level = anywhere ? topology.slice_level : topology.level;
  const Domains& domains =
      anywhere ? state.topologies().slice_domains(set.topology) : state.topologies().domains(set.topology);
  if (domains.size() == 0) return "no node says of which " + level + " it is: none has a label " + level;
  const std::string slice = with_separators(topology.slice_pods);
  const std::string pods =
      anywhere ? "slices of " + slice + " pods" : with_separators(set.count) + (set.count == 1 ? " pod" : " pods");
  const bool in_slices = !anywhere && topology.slice_pods > 0;
  return "no " + level + " has room for " + pods +
         (in_slices ? ", " + slice + " at a time on one " + topology.slice_level : "") +
         (idle ? ", even if nothing else ran (" : " (") + with_separators(static_cast<std::int64_t>(domains.size())) +
         (domains.size() == 1 ? " is there: " : " are there: ") +
         rooms_in_words(domains, anywhere ? of_slice_domains(lack.rooms) : lack.rooms.of_domain) + ")";
}

}  // namespace

bool fits_together_now(const State& state, const Shape& shape) {
  const auto holds = [&](const NumberedPodSet& set) {
    return !set.is_placed_together() || rooms(state, set, false).hold(state.topologies()[set.topology], set.count);
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
