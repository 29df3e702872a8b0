// The rules on the pods around, written down plainly: the reading of them with which what is kept and looked up is compared. For
// tests only: nothing that is shipped includes this.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/rng.h"
#include "model/neighbours.h"
#include "model/node.h"
#include "state/random_world.h"
#include "state/state.h"

namespace berth {

struct PlainPod {
  Neighbours is;
  std::size_t node = 0;
};

struct PlainWorld {
  std::vector<Node> nodes;
  std::vector<bool> open;
  std::vector<PlainPod> pods;

  std::optional<std::string> domain(const std::string& level, std::size_t node) const {
    if (level == kNodeLevel) return "node " + std::to_string(node);
    const std::string* const value = find_label(nodes[node].labels, level);
    return value == nullptr ? std::nullopt : std::optional(*value);
  }
  bool together(const std::string& level, std::size_t a, std::size_t b) const {
    return domain(level, a) && domain(level, a) == domain(level, b);
  }
};

// Those of a state that have room.
inline PlainWorld plain_world(const State& state) {
  PlainWorld world;
  for (std::size_t i = 0; i < state.nodes(); ++i) {
    world.nodes.push_back(state.node(NodeId(i)));
    world.open.push_back(state.ledger().node(NodeId(i)).open);
  }
  state.workloads().for_each([&](WorkloadId id, const Workload& workload) {
    if (!has_room(workload.phase)) return;
    for_each_pod(state, id, [&](const Pod& pod) {
      const NeighboursId is = state.request(pod.request).neighbours;
      if (is != NeighboursId(0)) world.pods.push_back({state.ledger().neighbourhood()[is], pod.node.index()});
    });
  });
  return world;
}

// Whether both may be where they are.
inline bool may_both_be_there(const PlainWorld& world, const PlainPod& a, const PlainPod& b) {
  for (const HostPort& one : a.is.ports) {
    for (const HostPort& other : b.is.ports) {
      if (a.node == b.node && collide(one, other)) return false;
    }
  }
  const auto keeps_away = [&](const PlainPod& from, const PlainPod& whom) {
    return std::ranges::any_of(from.is.apart, [&](const PodTerm& term) {
      return selects(term.pods, whom.is) && world.together(term.level, from.node, whom.node);
    });
  };
  return !keeps_away(a, b) && !keeps_away(b, a);
}

inline bool is_near_as_it_asks(const PlainWorld& world, const Neighbours& own, std::size_t node) {
  const auto is_meant = [&](const Neighbours& pod) {
    return std::ranges::all_of(own.near, [&](const PodTerm& term) { return selects(term.pods, pod); });
  };
  const auto is_anywhere = [&](const PodTerm& term) {
    return std::ranges::any_of(world.pods, [&](const PlainPod& pod) {
      return is_meant(pod.is) && world.domain(term.level, pod.node).has_value();
    });
  };
  const bool none_anywhere = std::ranges::none_of(own.near, is_anywhere);
  return std::ranges::all_of(own.near, [&](const PodTerm& term) {
    if (!world.domain(term.level, node)) return false;
    if (none_anywhere && is_meant(own)) return true;
    return std::ranges::any_of(world.pods, [&](const PlainPod& pod) {
      return is_meant(pod.is) && world.together(term.level, node, pod.node);
    });
  });
}

inline bool keeps_even(const PlainWorld& world, const Neighbours& own, const NodeConstraints& constraints,
                       const PodSpread& spread, std::size_t node) {
  const auto counts = [&](std::size_t at) {
    const bool has_levels = std::ranges::all_of(own.spreads, [&](const PodSpread& each) {
      return !each.required || world.domain(each.term.level, at).has_value();
    });
    return has_levels &&
           (!spread.heeds_selection || selects(constraints, world.nodes[at].name, world.nodes[at].labels)) &&
           (!spread.heeds_taints || tolerates(constraints, world.nodes[at].taints));
  };
  const std::string& level = spread.term.level;
  std::map<std::string, std::int64_t> in_domain;
  for (std::size_t at = 0; at < world.nodes.size(); ++at) {
    if (world.open[at] && counts(at) && world.domain(level, at)) in_domain[*world.domain(level, at)] = 0;
  }
  std::int64_t here = selects(spread.term.pods, own) ? 1 : 0;
  for (const PlainPod& pod : world.pods) {
    if (!selects(spread.term.pods, pod.is) || !counts(pod.node) || !world.domain(level, pod.node)) continue;
    const auto found = in_domain.find(*world.domain(level, pod.node));
    if (found != in_domain.end()) ++found->second;
    here += world.together(level, node, pod.node) ? 1 : 0;
  }
  std::int64_t least = in_domain.empty() || std::ssize(in_domain) < spread.domains_min ? 0 : INT64_MAX;
  for (const auto& [domain, pods] : in_domain) least = std::min(least, pods);
  return world.domain(level, node) && here - least <= spread.skew_max;
}

// Whether one more such pod may go there, as far as those around are concerned.
inline bool may_join(const PlainWorld& world, const Neighbours& own, const NodeConstraints& constraints,
                     std::size_t node) {
  return std::ranges::all_of(world.pods,
                             [&](const PlainPod& pod) { return may_both_be_there(world, {own, node}, pod); }) &&
         is_near_as_it_asks(world, own, node) && std::ranges::all_of(own.spreads, [&](const PodSpread& spread) {
           return !spread.required || keeps_even(world, own, constraints, spread, node);
         });
}

inline PodTerm random_term(Rng& rng) {
  PodTerm term{.pods = {.labels = {{"app", LabelOperator::kIn, {one_of(rng, {"a", "b"})}}}},
               .level = one_of(rng, {"node", "rack", "rack", "zone"})};
  if (rng.below(4) > 0) term.pods.namespaces = {"x"};
  if (rng.below(6) == 0) term.pods.labels = {{"app", LabelOperator::kNotIn, {"a"}}};
  if (rng.below(8) == 0) term.pods.labels = {{"tier", LabelOperator::kExists}};
  return term;
}

// Most have labels, and few ask anything.
inline Neighbours random_neighbours(Rng& rng) {
  Neighbours own;
  if (rng.below(5) == 0) return own;
  own.name_space = rng.below(5) == 0 ? "y" : "x";
  if (rng.below(4) > 0) own.labels.push_back({"app", one_of(rng, {"a", "b"})});
  if (rng.below(4) == 0) own.labels.push_back({"tier", "t"});
  for (std::int64_t left = rng.below(6) == 0 ? rng.between(1, 2) : 0; left > 0; --left)
    own.near.push_back(random_term(rng));
  for (std::int64_t left = rng.below(5) == 0 ? rng.between(1, 2) : 0; left > 0; --left)
    own.apart.push_back(random_term(rng));
  for (std::int64_t left = rng.below(5) == 0 ? rng.between(1, 2) : 0; left > 0; --left) {
    own.spreads.push_back({.term = random_term(rng),
                           .skew_max = static_cast<std::int32_t>(rng.between(1, 2)),
                           .domains_min = static_cast<std::int32_t>(rng.between(1, 3)),
                           .required = rng.below(4) > 0,
                           .heeds_selection = rng.below(4) > 0,
                           .heeds_taints = rng.below(3) == 0});
  }
  if (rng.below(5) == 0) own.preferred.push_back({random_term(rng), rng.below(2) == 0 ? 5 : -5});
  if (rng.below(6) == 0) {
    own.ports.push_back({.port = static_cast<std::int32_t>(rng.between(1, 2)),
                         .protocol = rng.below(3) == 0 ? Protocol::kUdp : Protocol::kTcp,
                         .address = one_of(rng, {"", "", "1", "2"})});
  }
  return own;
}

}  // namespace berth
