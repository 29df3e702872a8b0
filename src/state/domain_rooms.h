// How many pods of one set each domain of the topology would take, counted in whole slices.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <vector>

#include "state/domains.h"

namespace berth {

// The nodes of a domain that are in one domain of the slices' level, too: a slice is in one of these.
struct SliceRoom {
  DomainId domain;  // none: in no domain
  DomainId slice;
  std::int64_t room = 0;  // in pods
};

struct DomainRooms {
  std::vector<std::int64_t> of_domain;  // by domain of its level; one entry where any node will do
  std::vector<SliceRoom> of_slices;     // in the order of their domains; empty without slices
  std::int64_t outside = 0;             // on nodes that are in no domain

  std::int64_t most() const { return of_domain.empty() ? 0 : *std::ranges::max_element(of_domain); }
  std::int64_t sum() const { return std::accumulate(of_domain.begin(), of_domain.end(), outside); }
  // Whether `pods` find their places.
  bool hold(const Topology& topology, std::int64_t pods) const {
    return (topology.together == Togetherness::kPreferred ? sum() : most()) >= pods;
  }
};

// `room_on(NodeId)` is how many pods a node would take; more than `pods` are as good as so many.
template <class RoomOn>
DomainRooms rooms_of_domains(const Topologies& topologies, TopologyId id, std::size_t nodes, std::int64_t pods,
                             RoomOn room_on) {
  const Topology& topology = topologies[id];
  const bool anywhere = topology.together == Togetherness::kAnywhere;
  DomainRooms rooms;
  rooms.of_domain.resize(anywhere ? 1 : topologies.domains(id).size());
  const auto domain_of = [&](NodeId node) { return anywhere ? DomainId(0) : topologies.domains(id).of(node); };
  const auto add = [&](DomainId domain, std::int64_t room) {
    std::int64_t& sum = domain.is_none() ? rooms.outside : rooms.of_domain[domain.index()];
    sum = std::min(pods, sum + room);
  };
  if (topology.slice_pods == 0) {
    for (std::size_t i = 0; i < nodes; ++i) add(domain_of(NodeId(i)), std::min(pods, room_on(NodeId(i))));
    return rooms;
  }
  const Domains& slices = topologies.slice_domains(id);
  for (std::size_t slice = 0; slice < slices.size(); ++slice) {
    // Usually they are all in one domain.
    const auto first = static_cast<std::ptrdiff_t>(rooms.of_slices.size());
    for (const NodeId node : slices.nodes(DomainId(slice))) {
      const DomainId domain = domain_of(node);
      auto at = std::find_if(rooms.of_slices.begin() + first, rooms.of_slices.end(),
                             [&](const SliceRoom& each) { return each.domain == domain; });
      if (at == rooms.of_slices.end()) at = rooms.of_slices.insert(at, {domain, DomainId(slice)});
      at->room = std::min(pods, at->room + std::min(pods, room_on(node)));
    }
  }
  for (const SliceRoom& each : rooms.of_slices) add(each.domain, each.room / topology.slice_pods * topology.slice_pods);
  return rooms;
}

}  // namespace berth
