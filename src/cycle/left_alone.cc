#include "cycle/left_alone.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <iterator>
#include <map>
#include <numeric>
#include <set>
#include <tuple>
#include <utility>

#include "cycle/if_all_gave_back.h"
#include "state/idle_room.h"
#include "state/room.h"

namespace berth {
namespace {

constexpr std::size_t kNodesAloneMax = 6;  // so many are tried of those on which there is room for all

// One list after the other, none empty. First those that are the cells of queues beside its own line, as they are given out now, and with
// these as they will be when floors rise before its end; then all but the cells of that line, where that has some.
std::vector<std::vector<NodeId>> cells_to_leave_alone(const State& state, const Trial& trial, WorkloadId id) {
  if (state.flavors_with_cells().empty()) return {};
  const Workload& workload = state.workload(id);
  const Shape& shape = state.shape(workload.shape);
  const auto could_use = [&](NodeId node) {
    return std::ranges::any_of(shape.ways, [&](const auto& way) {
      return std::ranges::any_of(
          way, [&](const NumberedPodSet& set) { return could_be_on(state, state.request(set.request), node); });
    });
  };
  std::set<NodeId> others;
  std::set<NodeId> own;
  FlavorSet looked_at;
  for (std::size_t flavor = 0; flavor < state.flavors().size(); ++flavor) {
    const bool has_cells = state.flavors_with_cells().contains(FlavorId(flavor));
    if (has_cells && shape.flavors.contains(FlavorId(flavor))) looked_at.add(FlavorId(flavor));
  }
  std::vector<std::vector<NodeId>> lists;
  const auto look = [&](FlavorSet flavors, const FloorRise* rise) {
    const std::size_t before = others.size();
    for (std::size_t flavor = 0; flavor < state.flavors().size(); ++flavor) {
      if (!looked_at.contains(FlavorId(flavor)) || !flavors.contains(FlavorId(flavor))) continue;
      IfAllGaveBack given(state, trial, FlavorId(flavor), {}, rise);
      given.give_cells(could_use);
      for (const GivenCell& each : given.cells()) {
        std::set<NodeId>& nodes = given.is_above_or_same(each.queue, workload.queue) ? own : others;
        const auto of_it = given.domains(each).nodes(each.domain);
        nodes.insert(of_it.begin(), of_it.end());
      }
    }
    if (others.size() > before) lists.emplace_back(others.begin(), others.end());
  };
  look(FlavorSet::all(), nullptr);
  const Time end = state.end_of(id, trial.quotas().now());
  for (const FloorRise& rise : trial.quotas().rises()) {
    if (rise.from < end) look(rise.flavors, &rise);
  }
  if (own.empty()) return lists;
  std::vector<NodeId> rest;
  for (std::size_t i = 0; i < state.nodes(); ++i) {
    const NodeFree& node = trial.ledger().node(NodeId(i));
    const bool is_looked_at = node.gpus > 0 && node.has_flavor_of(looked_at);
    const bool is_own = own.contains(NodeId(i)) && !others.contains(NodeId(i));
    if (is_looked_at && !is_own) rest.push_back(NodeId(i));
  }
  if (!rest.empty()) lists.push_back(std::move(rest));
  return lists;
}

bool asks_parts(const PodRequest& request) {
  return request.gpu_milli < kMilliPerGpu && (request.is_fraction() || request.is_slice());
}

// Of who asks parts of GPUs: the nodes of whose whole GPUs he would break some.
class PartsLeftAlone {
 public:
  PartsLeftAlone(const State& state, Trial& trial, WorkloadId id, const KeptRoom& kept)
      : state_(state), trial_(trial), kept_(kept) {
    for (const NumberedPodSet& set : state.shape(state.workload(id).shape).ways.front()) {
      if (asks_parts(state.request(set.request))) sets_.push_back(&set);
    }
  }

  std::vector<KeptRoom> run() {
    if (!sets_.empty()) find_nodes();
    if (nodes_.empty()) return {};
    std::vector<KeptRoom> rooms = {all_but({})};
    count_missing(rooms.front());
    for (const std::size_t node : nodes_alone()) rooms.push_back(all_but({node}));
    std::vector<std::size_t> together = nodes_together();
    if (together.size() > 1 && together.size() < nodes_.size()) rooms.push_back(all_but(std::move(together)));
    return rooms;
  }

 private:
  struct Whole {
    NodeId node;
    GpuSet gpus = {};                     // which break one by one; none: the node breaks as a whole
    std::vector<std::int64_t> room = {};  // by set, in pods
    std::int64_t breaks = 0;              // GPUs, if he is there alone
  };

  void find_nodes() {
    for (std::size_t i = 0; i < state_.nodes(); ++i) {
      const NodeFree& node = trial_.ledger().node(NodeId(i));
      if (!node.open || node.whole_gpus == 0 || node.sharing == Sharing::kTimeslice) continue;
      Whole found{.node = NodeId(i)};
      bool has_room = false;
      bool turns = false;
      for (const NumberedPodSet* const set : sets_) {
        const PodRequest& request = state_.request(set->request);
        const std::int64_t room = std::min(set->count, room_for(trial_.ledger(), NodeId(i), request));
        found.room.push_back(room);
        const std::int64_t in_one = std::max<std::int64_t>(1, kMilliPerGpu / request.gpu_milli);
        found.breaks += (room + in_one - 1) / in_one;
        has_room = has_room || room > 0;
        turns = turns || (room > 0 && node.would_turn(request.sharing));
      }
      const bool one_by_one = node.sharing == Sharing::kExclusive && !turns;
      // What is shared there, or cut, is shared on: its room is not worth less for it.
      if (!has_room || (!one_by_one && node.whole_gpus < node.gpus)) continue;
      if (one_by_one) found.gpus = whole_gpus(NodeId(i));
      found.breaks = turns ? node.whole_gpus : std::min<std::int64_t>(found.breaks, node.whole_gpus);
      nodes_.push_back(std::move(found));
    }
  }

  GpuSet whole_gpus(NodeId node) const {
    const auto milli = trial_.ledger().gpu_milli(node);
    std::uint64_t whole = 0;
    for (std::size_t gpu = 0; gpu < static_cast<std::size_t>(trial_.ledger().node(node).gpus); ++gpu) {
      if (milli[gpu] == kMilliPerGpu) whole |= std::uint64_t{1} << gpu;
    }
    return GpuSet::from_bits(whole);
  }

  // By set, how many of its pods find no room on what is broken already; of none that is less than one.
  void count_missing(const KeptRoom& all) {
    trial_.keep_from_all(all);
    for (const NumberedPodSet* const set : sets_) {
      std::int64_t room = 0;
      for (std::size_t i = 0; i < state_.nodes() && room < set->count; ++i) {
        room += room_for(trial_.ledger(), NodeId(i), state_.request(set->request));
      }
      missing_.push_back(std::max<std::int64_t>(1, set->count - room));
    }
    trial_.let_go();
  }

  KeptRoom all_but(std::vector<std::size_t> some) const {
    std::ranges::sort(some);
    std::vector<NodeId> nodes;
    std::vector<GpusOfNode> gpus;
    for (std::size_t i = 0; i < nodes_.size(); ++i) {
      if (std::ranges::binary_search(some, i)) continue;
      if (nodes_[i].gpus.empty()) {
        nodes.push_back(nodes_[i].node);
      } else {
        gpus.push_back({nodes_[i].node, nodes_[i].gpus});
      }
    }
    return with_gpus(with_nodes(kept_, nodes), gpus);
  }

  // Of nodes that are alike one.
  std::vector<std::size_t> nodes_alone() const {
    using Merits = std::tuple<std::int64_t, std::vector<std::int64_t>, std::uint32_t>;
    std::map<Merits, std::size_t> alone;
    for (std::size_t i = 0; i < nodes_.size(); ++i) {
      const Whole& each = nodes_[i];
      const bool is_enough = std::ranges::equal(each.room, missing_, std::greater_equal());
      if (is_enough) alone.try_emplace({each.breaks, each.room, state_.node_types().of_node[each.node.index()]}, i);
    }
    std::vector<std::size_t> some;
    for (const auto& each : alone) {
      if (some.size() < kNodesAloneMax) some.push_back(each.second);
    }
    return some;
  }

  // Those first that have the most room for each GPU that breaks. None: all of them are not enough.
  std::vector<std::size_t> nodes_together() const {
    std::vector<std::size_t> order(nodes_.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    const auto room_of = [&](std::size_t at) {
      return std::accumulate(nodes_[at].room.begin(), nodes_[at].room.end(), std::int64_t{0});
    };
    std::ranges::stable_sort(order, [&](std::size_t a, std::size_t b) {
      return room_of(a) * nodes_[b].breaks > room_of(b) * nodes_[a].breaks;
    });
    std::vector<std::int64_t> missing = missing_;
    for (std::size_t chosen = 0; chosen < order.size(); ++chosen) {
      for (std::size_t set = 0; set < missing.size(); ++set) missing[set] -= nodes_[order[chosen]].room[set];
      if (std::ranges::all_of(missing, [](std::int64_t pods) { return pods <= 0; })) {
        order.resize(chosen + 1);
        return order;
      }
    }
    return {};
  }

  const State& state_;
  Trial& trial_;
  const KeptRoom& kept_;
  std::vector<const NumberedPodSet*> sets_;
  std::vector<std::int64_t> missing_;
  std::vector<Whole> nodes_;
};

}  // namespace

KeptRoom with_gpus(KeptRoom kept, const std::vector<GpusOfNode>& gpus) {
  std::vector<GpusOfNode> all;
  all.reserve(kept.gpus.size() + gpus.size());
  std::ranges::merge(kept.gpus, gpus, std::back_inserter(all), {}, &GpusOfNode::node, &GpusOfNode::node);
  kept.gpus.clear();
  for (const GpusOfNode& each : all) {
    if (kept.gpus.empty() || kept.gpus.back().node != each.node) {
      kept.gpus.push_back(each);
    } else {
      kept.gpus.back().gpus = GpuSet::from_bits(kept.gpus.back().gpus.bits() | each.gpus.bits());
    }
  }
  return kept;
}

KeptRoom with_nodes(KeptRoom kept, const std::vector<NodeId>& nodes) {
  std::vector<NodeId> all;
  std::ranges::set_union(kept.nodes, nodes, std::back_inserter(all));
  kept.nodes = std::move(all);
  return kept;
}

std::vector<KeptRoom> rooms_to_leave_alone(const State& state, Trial& trial, WorkloadId workload,
                                           const KeptRoom& kept) {
  std::vector<KeptRoom> rooms;
  for (const std::vector<NodeId>& cells : cells_to_leave_alone(state, trial, workload)) {
    rooms.push_back(with_nodes(kept, cells));
  }
  std::vector<KeptRoom> whole = PartsLeftAlone(state, trial, workload, kept).run();
  std::ranges::move(whole, std::back_inserter(rooms));
  return rooms;
}

}  // namespace berth
