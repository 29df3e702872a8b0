// Which pods are where, as far as others ask: how many of those whom somebody wants near, or apart, or evenly spread, are in each
// domain. Changed by the moves of the ledger alone, so that what is taken back leaves no trace.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/intern.h"
#include "model/ids.h"
#include "model/neighbours.h"
#include "model/node.h"
#include "state/domains.h"

namespace berth {

std::uint64_t digest_of(const Neighbours& neighbours);

// INVARIANT: what is counted in a domain is what the pods of all kinds say that are there. Kind 0 asks nothing and is counted by
// nobody; as long as there is no other, nothing is kept.
class Neighbourhood {
 public:
  // Pods that somebody counts, in the domains of a level: those that all of these select; or those that are to be apart from
  // those whom this selects; or those that a port collides with.
  struct Counted {
    enum class Who : std::uint8_t { kSelected, kApartFrom, kWithPort };
    Who who = Who::kSelected;
    std::vector<PodSelector> pods = {};
    HostPort port = {};
    std::string level = {};

    friend bool operator==(const Counted&, const Counted&) = default;
  };
  using CounterId = std::uint32_t;

  // What is looked at before a pod of a kind is put somewhere.
  struct Kind {
    std::vector<CounterId> near;     // some there; if there are none anywhere, and `founds`: anywhere in the level
    std::vector<CounterId> apart;    // none there
    std::vector<CounterId> ports;    // none there
    std::vector<CounterId> spreads;  // by its spread constraints
    std::vector<std::pair<CounterId, std::int32_t>> preferred;  // with weights
    std::vector<CounterId> counted_in;                          // ascending
    bool founds = false;                                        // it is one of those itself whom it is to be near

    bool is_refused_by_others() const { return !near.empty() || !apart.empty() || !ports.empty() || !spreads.empty(); }
  };

  // Its number; where pods of it would be counted is looked up if it is new.
  NeighboursId intern(const Neighbours& neighbours, const std::vector<Node>& nodes);
  // Nodes are new, or say something else of themselves than before.
  void look_at(const std::vector<Node>& nodes);
  void move(NeighboursId kind, NodeId node, std::int32_t pods) {
    if (kind != NeighboursId(0)) count(kind, node, pods);
  }

  const Neighbours& operator[](NeighboursId kind) const { return asked_[kind.index()]; }
  // PRE: not kind 0.
  const Kind& kind(NeighboursId kind) const { return kinds_[kind.index()]; }
  // Whether it may matter to a pod who else is there: whether it is refused, or likes some nodes more.
  bool matters_to(NeighboursId id) const { return refuses(id) || prefers(id); }
  bool refuses(NeighboursId id) const { return id != NeighboursId(0) && kind(id).is_refused_by_others(); }
  bool prefers(NeighboursId id) const { return id != NeighboursId(0) && !kind(id).preferred.empty(); }
  // Whether some pods are to be spread.
  bool any_spread() const {
    return std::ranges::any_of(kinds_, [](const Kind& each) { return !each.spreads.empty(); });
  }
  // Whether pods of this kind are counted by somebody; and by whom pods of that kind look at.
  bool is_counted(NeighboursId id) const { return id != NeighboursId(0) && !kind(id).counted_in.empty(); }
  bool looks_at(NeighboursId looking, NeighboursId counted) const;
  // Whether a pod cannot be on its node because of the other on its one.
  bool excludes(NeighboursId pod, NodeId node, NeighboursId other, NodeId at) const;

  const Domains& domains(CounterId counter) const { return *levels_[counters_[counter].level].domains; }
  const std::string& level_of(CounterId counter) const { return counters_[counter].counted.level; }
  // PRE: `domain` is one of its level.
  std::int32_t there(CounterId counter, DomainId domain) const { return counters_[counter].in_domain[domain.index()]; }
  std::int64_t anywhere(CounterId counter) const;
  // Calls visit(node, pods) for those that are counted, kind by kind.
  template <class Visit>
  void for_each_counted(CounterId counter, Visit visit) const {
    for (const std::vector<std::size_t>& kinds = counters_[counter].kinds; const std::size_t id : kinds) {
      for (const auto& [node, pods] : pods_[id]) visit(node, pods);
    }
  }

  // The same kinds, and nobody there.
  Neighbourhood emptied() const;
  // PRE: the same kinds.
  bool same_pods_as(const Neighbourhood& other) const;

 private:
  struct Counter {
    Counted counted;
    std::size_t level = 0;
    std::vector<std::size_t> kinds = {};  // who is counted
    std::vector<std::int32_t> in_domain = {};
  };
  struct Level {
    std::string name;
    std::shared_ptr<const Domains> domains;
  };

  void count(NeighboursId kind, NodeId node, std::int32_t pods);
  void recount(Counter& counter) const;
  CounterId counter(Counted counted, const std::vector<Node>& nodes);
  std::size_t level(const std::string& name, const std::vector<Node>& nodes);
  bool is_among(const Counted& counted, const Neighbours& pod) const;
  void relate(std::size_t kind, CounterId counter);

  InternTable<Neighbours, digest_of> asked_;
  std::vector<Kind> kinds_;
  std::vector<std::map<NodeId, std::int32_t>> pods_;  // by kind
  std::vector<Counter> counters_;
  std::vector<Level> levels_;
};

}  // namespace berth
