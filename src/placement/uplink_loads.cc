#include "placement/uplink_loads.h"

#include <algorithm>

#include "placement/parallel_pods.h"

namespace berth {
namespace {

bool declares_sizes(const Shape& shape) {
  return std::ranges::any_of(shape.ways, [](const std::vector<NumberedPodSet>& way) {
    return std::ranges::any_of(way, [](const NumberedPodSet& set) { return set.parallel.is_declared(); });
  });
}

}  // namespace

UplinkLoads::UplinkLoads(const State& state) {
  if (state.topologies().network() == nullptr) return;  // nobody has declared sizes yet
  const Network& network = *state.topologies().network();
  state.workloads().for_each([&](WorkloadId id, const Workload& workload) {
    if (workload.first_pod.is_none() || !declares_sizes(state.shape(workload.shape))) return;
    for_each_parallel_set(state, id, [&](const NumberedPodSet& set, std::span<const NodeId> nodes) {
      for_each_left(network, nodes, [&](std::size_t level, std::uint32_t domain, std::int64_t pods) {
        gpus_.resize(network.levels());
        if (gpus_[level].size() <= domain) gpus_[level].resize(domain + 1);
        gpus_[level][domain] += pods * state.request(set.request).gpus;
      });
    });
  });
}

std::int64_t UplinkLoads::gpus(std::size_t level, std::uint32_t domain) const {
  return level < gpus_.size() && domain < gpus_[level].size() ? gpus_[level][domain] : 0;
}

UplinkLoads::Met UplinkLoads::met_by(const Network& network, std::span<const NodeId> nodes) const {
  Met met;
  if (gpus_.empty()) return met;
  for_each_left(network, nodes, [&](std::size_t level, std::uint32_t domain, std::int64_t) {
    met.most_gpus = std::max(met.most_gpus, gpus(level, domain));
    met.sum_gpus += gpus(level, domain);
  });
  return met;
}

}  // namespace berth
