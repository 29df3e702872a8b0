// How many pods of one set each domain of the topology would take, counted in whole slices, or spread as they are to be.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <utility>
#include <vector>

#include "state/domains.h"
#include "state/spread.h"

namespace berth {

// The nodes of a domain that are in one domain of the inner level, too: that of slices, or over which pods, or slices, are spread.
struct InnerRoom {
  DomainId domain;  // none: in no domain
  DomainId inner;
  std::int64_t room = 0;    // in pods
  bool must_count = false;  // where they are spread over such
};

// Whether the domain of a node counts where pods are spread: not for that node, as long as it takes work, or in any case.
enum class CountsInSpread : std::uint8_t { kNo, kIfItOpens, kYes };

struct DomainRooms {
  std::vector<std::int64_t> of_domain;  // by domain of its level; one entry where any node will do
  std::vector<InnerRoom> of_inner;      // in the order of the inner level; empty without slices and spreading
  std::int64_t outside = 0;             // on nodes that are in no domain; or in several, where one holds no whole slice

  std::int64_t most() const { return of_domain.empty() ? 0 : *std::ranges::max_element(of_domain); }
  std::int64_t sum() const { return std::accumulate(of_domain.begin(), of_domain.end(), outside); }
  // Whether `pods` find their places.
  bool hold(const Topology& topology, std::int64_t pods) const {
    return (topology.together == Togetherness::kPreferred ? sum() : most()) >= pods;
  }
  // By domain of its level, what is in none left out.
  std::vector<std::vector<InnerRoom>> inner_by_domain() const {
    std::vector<std::vector<InnerRoom>> inner(of_domain.size());
    for (const InnerRoom& each : of_inner) {
      if (!each.domain.is_none()) inner[each.domain.index()].push_back(each);
    }
    return inner;
  }
};

// Which nodes there are to look at, and what they would take of the set.
template <class RoomOn, class Counts>
struct NodeRooms {
  std::size_t nodes = 0;
  std::int64_t pods = 0;  // how many there are to be placed
  RoomOn room_on;         // (NodeId): for how many
  Counts counts;          // (NodeId): CountsInSpread
  bool exactly = false;   // else more room than for all of them is as good as for all
};

template <class RoomOn, class Counts>
class DomainRoomsCounter {
 public:
  DomainRoomsCounter(const Topologies& topologies, TopologyId id, const NodeRooms<RoomOn, Counts>& nodes)
      : topologies_(topologies), topology_(topologies[id]), unit_(topology_.unit_pods()), id_(id), nodes_(nodes) {}

  DomainRooms count() && {
    rooms_.of_domain.resize(anywhere() ? 1 : topologies_.domains(id_).size());
    if (!topology_.has_slices() && !topology_.is_spread()) {
      for (std::size_t i = 0; i < nodes_.nodes; ++i) add(domain_of(NodeId(i)), room_on(NodeId(i)));
      return std::move(rooms_);
    }
    count_inner();
    if (topology_.is_spread()) {
      spread();
    } else {
      const std::int64_t slice = topology_.slice_pods;
      for (const InnerRoom& each : rooms_.of_inner) add(each.domain, each.room / slice * slice);
      if (topology_.together == Togetherness::kPreferred) count_across();
    }
    return std::move(rooms_);
  }

 private:
  bool anywhere() const { return topology_.together == Togetherness::kAnywhere; }
  DomainId domain_of(NodeId node) const { return anywhere() ? DomainId(0) : topologies_.domains(id_).of(node); }
  std::int64_t most() const { return nodes_.exactly ? INT64_MAX / 2 : nodes_.pods; }
  std::int64_t room_on(NodeId node) const { return std::min(most(), nodes_.room_on(node)); }
  // What a node has beyond whole units is of no use to what is spread.
  std::int64_t room_to_spread(NodeId node) const {
    const std::int64_t units = room_on(node) / unit_;
    return unit_ * (topology_.on_nodes == OnNodes::kOneEach ? std::min<std::int64_t>(units, 1) : units);
  }

  void add(DomainId domain, std::int64_t room) {
    std::int64_t& sum = domain.is_none() ? rooms_.outside : rooms_.of_domain[domain.index()];
    sum = std::min(most(), sum + room);
  }

  void count_inner() {
    const Domains& inner = topologies_.inner_domains(id_);
    // Where the last entry of each domain stands; behind them all, that of none.
    std::vector<std::size_t> last(rooms_.of_domain.size() + 1);
    for (std::size_t at = 0; at < inner.size(); ++at) {
      const std::size_t first = rooms_.of_inner.size();
      for (const NodeId node : inner.nodes(DomainId(at))) {
        const CountsInSpread counts = topology_.is_spread() ? nodes_.counts(node) : CountsInSpread::kYes;
        if (counts == CountsInSpread::kNo) continue;
        const DomainId domain = domain_of(node);
        std::size_t& found = last[domain.is_none() ? rooms_.of_domain.size() : domain.index()];
        const bool is_new = found < first || found == rooms_.of_inner.size() || rooms_.of_inner[found].domain != domain;
        if (is_new) {
          found = rooms_.of_inner.size();
          rooms_.of_inner.push_back({domain, DomainId(at)});
        }
        rooms_.of_inner[found].must_count = rooms_.of_inner[found].must_count || counts == CountsInSpread::kYes;
        std::int64_t& room = rooms_.of_inner[found].room;
        room = std::min(most(), room + (topology_.is_spread() ? room_to_spread(node) : room_on(node)));
      }
    }
  }

  // A level that is preferred may be narrower than that of slices: what is left of several domains makes up one more.
  void count_across() {
    const std::int64_t slice = topology_.slice_pods;
    std::int64_t left = 0;
    for (std::size_t at = 0; at < rooms_.of_inner.size(); ++at) {
      left += rooms_.of_inner[at].room % slice;
      const bool is_last =
          at + 1 == rooms_.of_inner.size() || rooms_.of_inner[at + 1].inner != rooms_.of_inner[at].inner;
      if (is_last) add(DomainId(), std::exchange(left, 0) / slice * slice);
    }
  }

  // All of them, or as many as could be there in that way.
  void spread() {
    const std::vector<std::vector<InnerRoom>> by_domain = rooms_.inner_by_domain();
    for (std::size_t domain = 0; domain < by_domain.size(); ++domain) {
      std::vector<std::int64_t> inner, must_count, others;
      for (const InnerRoom& each : by_domain[domain]) {
        inner.push_back(each.room / unit_);
        (each.must_count ? must_count : others).push_back(each.room / unit_);
      }
      const std::int64_t units = nodes_.pods / unit_;
      const bool hold = may_spread_over_some(topology_.spread, std::move(must_count), std::move(others), units);
      rooms_.of_domain[domain] = hold ? nodes_.pods : unit_ * most_to_spread(topology_.spread, inner, units);
    }
  }

  const Topologies& topologies_;
  const Topology& topology_;
  std::int64_t unit_;  // so many pods go together
  TopologyId id_;
  const NodeRooms<RoomOn, Counts>& nodes_;
  DomainRooms rooms_;
};

template <class RoomOn, class Counts>
DomainRooms rooms_of_domains(const Topologies& topologies, TopologyId id, const NodeRooms<RoomOn, Counts>& nodes) {
  return DomainRoomsCounter(topologies, id, nodes).count();
}

}  // namespace berth
