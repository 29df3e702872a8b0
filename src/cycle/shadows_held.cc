// What of a promise nobody else finds who looks for room while it is held.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <vector>

#include "cycle/for_each_place.h"
#include "cycle/shadows.h"
#include "state/neighbours_apart.h"

namespace berth {
namespace {

bool is_placed_by_others(const State& state, WorkloadId id) {
  const Neighbourhood& around = state.ledger().neighbourhood();
  return std::ranges::any_of(state.shape(state.workload(id).shape).ways, [&](const auto& way) {
    return std::ranges::any_of(way, [&](const NumberedPodSet& set) {
      const NeighboursId own = state.request(set.request).neighbours;
      return around.refuses(own) && (!around.kind(own).near.empty() || !around.kind(own).spreads.empty());
    });
  });
}

bool asks_parts(const State& state, WorkloadId id) {
  const Shape& shape = state.shape(state.workload(id).shape);
  return std::ranges::any_of(shape.ways, [&](const auto& way) {
    return std::ranges::any_of(way,
                               [&](const NumberedPodSet& set) { return state.request(set.request).is_fraction(); });
  });
}

}  // namespace

// What of it is free now: whole GPUs, CPUs and memory. What is left to chance of parts of devices let() sees.
void Shadows::hold_back(std::size_t shadow, WorkloadId from_whom, std::vector<Move>& moves,
                        const std::vector<GpusOfNode>& own) {
  const bool from_parts = asks_parts(state_, from_whom);
  for (const NodeThen& then : then_[shadow]) {
    const NodeFree& node = trial_.ledger().node(then.node);
    if (node.pods < 1 || std::ranges::binary_search(own, then.node, {}, &GpusOfNode::node)) continue;
    const auto milli = trial_.ledger().gpu_milli(then.node);
    const bool is_whole = node.gpus > 0 && node.suits(Sharing::kExclusive);
    const bool turns = then.mode && *then.mode != Sharing::kExclusive;
    std::uint64_t whole = 0;
    for (std::size_t gpu = 0; gpu < milli.size(); ++gpu) {
      // Who asks whole GPUs has no use for one of which a part is promised, nor for any of a node that will be something else.
      const bool taken = then.gpu_milli[gpu] < (from_parts ? 1 : kMilliPerGpu) || turns;
      if (milli[gpu] == kMilliPerGpu && taken && is_whole) whole |= std::uint64_t{1} << gpu;
    }
    PodRequest request;
    request.cpu_milli = std::max<std::int64_t>(0, node.cpu_milli - then.cpu_milli);
    request.memory_bytes = std::max<std::int64_t>(0, node.memory_bytes - then.memory_bytes);
    const GpuSet gpus = GpuSet::from_bits(whole);
    request.gpus = gpus.size();
    request.gpu_milli = request.gpus > 0 ? kMilliPerGpu : 0;
    hold_back_accounts(then, moves);
    if (request.gpus == 0 && request.cpu_milli == 0 && request.memory_bytes == 0) continue;
    hold({.request = request, .node = then.node, .gpus = gpus, .account = HostAccount::kNode}, moves);
  }
}

void Shadows::hold(const Move& move, std::vector<Move>& moves) {
  moves.push_back(move);
  trial_.apply(move);
}

// What pods without GPUs, and pods in one zone, may have now and will not then: each by itself, as who ends may have been of either.
void Shadows::hold_back_accounts(const NodeThen& then, std::vector<Move>& moves) {
  const Ledger& ledger = trial_.ledger();
  const HostAmounts& rest = ledger.rest(then.node);
  const PodRequest of_rest{.cpu_milli = std::max<std::int64_t>(0, rest.cpu_milli - then.rest.cpu_milli),
                           .memory_bytes = std::max<std::int64_t>(0, rest.memory_bytes - then.rest.memory_bytes)};
  if (of_rest.cpu_milli > 0 || of_rest.memory_bytes > 0) {
    hold({.request = of_rest, .node = then.node, .gpus = {}, .account = HostAccount::kRest}, moves);
  }
  if (ledger.node(then.node).numa == NumaPolicy::kNone) return;
  for (std::uint8_t zone = 0; zone < ledger.zones(then.node).zones; ++zone) {
    const std::int64_t cpu_milli = ledger.zones(then.node).cpu_milli[zone] - then.zones_milli[zone];
    if (cpu_milli <= 0 || !then.is_owed[zone]) continue;
    hold({.request = {.cpu_milli = cpu_milli},
          .node = then.node,
          .gpus = {},
          .account = HostAccount::kZone,
          .zone = zone},
         moves);
  }
}

std::vector<Move> Shadows::hold(WorkloadId id) {
  std::vector<Move> moves;
  const Time end = end_of(id, plan_.now);
  for (std::size_t i = 0; i < all_.size(); ++i) {
    const WorkloadId whose = all_[i].start.workload;
    if (!would_delay(i, id, end)) continue;
    std::vector<GpusOfNode> own;
    if (reserved_ != nullptr) own = reserved_->own_places(state_.workload(id).queue, state_.workload(whose).queue);
    hold_back(i, id, moves, own);
  }
  return moves;
}

std::vector<GpusOfNode> Shadows::kept_from(WorkloadId id) const {
  const Time end = end_of(id, plan_.now);
  std::map<NodeId, std::uint64_t> kept;
  for (std::size_t i = 0; i < all_.size(); ++i) {
    const Shadow& each = all_[i];
    if (!would_delay(i, id, end)) continue;
    for (const PodPlacement& pod : each.start.pods) kept[pod.node] |= pod.gpus.bits();
  }
  std::vector<GpusOfNode> gpus;
  for (const auto& [node, bits] : kept) {
    if (bits != 0) gpus.push_back({node, GpuSet::from_bits(bits)});
  }
  return gpus;
}

std::vector<NodeId> Shadows::nodes_kept_from(WorkloadId id) const {
  const Ledger& ledger = trial_.ledger();
  std::set<NodeId> nodes;
  const auto& sets = state_.shape(state_.workload(id).shape).ways.front();
  const Time end = end_of(id, plan_.now);
  for (std::size_t i = 0; i < all_.size(); ++i) {
    const Shadow& each = all_[i];
    if (!would_delay(i, id, end)) continue;
    for_each_place(state_, each.start, [&](const PodRequest& request, const PodPlacement& place) {
      for (const NumberedPodSet& set : sets) {
        const std::vector<NodeId> around =
            nodes_kept(ledger.neighbourhood(), request.neighbours, place.node, state_.request(set.request).neighbours);
        nodes.insert(around.begin(), around.end());
      }
      if (!ledger.some_keep_apart() || nodes.contains(place.node)) return;
      const std::vector<NodeId> own = ledger.exclusives().own_nodes(request, place.node);
      nodes.insert(own.begin(), own.end());
      for (const NumberedPodSet& set : sets) {
        const std::vector<NodeId> near =
            ledger.tenants().nodes_kept(ledger.trust(), request, place.node, state_.request(set.request));
        nodes.insert(near.begin(), near.end());
      }
    });
  }
  return {nodes.begin(), nodes.end()};
}

// Where it is to be near somebody, or evenly spread, its places are as good as those who are around now.
std::optional<Start> Shadows::own_room(WorkloadId id) {
  const auto own = index_of(id);
  if (!own || is_placed_by_others(state_, id)) return std::nullopt;
  return put_if_free(all_[*own].start) ? std::optional(all_[*own].start) : std::nullopt;
}

void Shadows::give_back(const std::vector<Move>& moves) {
  for (const Move& move : moves) trial_.apply(inverse(move));
}

}  // namespace berth
