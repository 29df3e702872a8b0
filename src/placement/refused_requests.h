// What has found no room in this cycle, so that who asks at least as much need not be tried. Within a cycle workloads only
// start, so what did not fit once does not fit later.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "state/state.h"

namespace berth {

class RefusedRequests {
 public:
  // Every way of the shape asks at least what was refused before.
  bool covers(const State& state, const Shape& shape) const {
    return !refused_.empty() && std::all_of(shape.ways.begin(), shape.ways.end(), [&](const auto& way) {
      return std::any_of(way.begin(), way.end(),
                         [&](const NumberedPodSet& set) { return covers(state, state.request(set.request), set); });
    });
  }

  // Of several pod sets it is not known which did not fit, so they are not remembered.
  void add(const State& state, const Shape& shape) {
    if (shape.ways.front().size() != 1) return;
    for (const auto& way : shape.ways) {
      const PodRequest& request = state.request(way.front().request);
      // Who starts may be whom it is to be near, or may make even what was not.
      if (state.ledger().neighbourhood().refuses(request.neighbours)) continue;
      if (refused_.size() == kRememberedMax || covers(state, request, way.front())) continue;
      refused_.push_back({request, way.front().count, way.front().topology});
    }
  }

 private:
  // More would cost more to look through than they save.
  static constexpr std::size_t kRememberedMax = 64;

  struct Refused {
    PodRequest request;
    std::int64_t count = 0;
    TopologyId topology;
  };

  bool covers(const State& state, const PodRequest& asked, const NumberedPodSet& set) const {
    const NodeTypes& types = state.node_types();
    return std::any_of(refused_.begin(), refused_.end(), [&](const Refused& refused) {
      const PodRequest& less = refused.request;
      // Over how many domains pods have to go evenly depends on what they ask: larger ones may have fewer to fill.
      if (state.topologies()[refused.topology].spread == Spreading::kEven && asked != less) return false;
      // What is kept for GPUs is room for who asks some; and who asks more than a zone has may be let in where others are not.
      if (types.keep_for_gpus && less.gpus == 0 && asked.gpus > 0) return false;
      if (types.restrict_zones && asked != less) return false;
      if (types.overcommit && asked.in_extra != less.in_extra) return false;
      // Without a bound of its own a fraction takes its share of the memory, which a bound may be below.
      const bool gpu_memory = less.gpu_memory_mib > 0 ? asked.gpu_memory_mib >= less.gpu_memory_mib
                                                      : asked.gpu_memory_mib == 0 || !asked.is_fraction();
      // What selects more may be tolerated elsewhere: of constraints only the same are compared.
      const bool as_choosy = asked.constraints == less.constraints &&
                             (refused.topology == TopologyId(0) || refused.topology == set.topology);
      const bool as_shared = asked.sharing == less.sharing && asked.slice == less.slice &&
                             asked.sharer == less.sharer && asked.exclusive == less.exclusive;
      return as_choosy && as_shared && set.count >= refused.count && asked.cpu_milli >= less.cpu_milli &&
             asked.memory_bytes >= less.memory_bytes && asked.gpus >= less.gpus && asked.gpu_milli >= less.gpu_milli &&
             gpu_memory && less.flavors.contains_all(asked.flavors);
    });
  }

  std::vector<Refused> refused_;
};

}  // namespace berth
