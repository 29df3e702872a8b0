#include "state/ledger.h"

#include <algorithm>
#include <limits>

namespace berth {

NodeId Ledger::add(const Node& node, const MigGeometry* mig) {
  const NodeId id(nodes_.size());
  NodeFree free;
  free.cpu_milli = node.cpu_milli;
  free.memory_bytes = node.memory_bytes;
  free.gpu_memory_mib = node.gpu_memory_mib;
  free.pods = node.pods_max;
  free.gpus = static_cast<std::uint8_t>(node.gpus);
  free.whole_gpus = static_cast<std::int16_t>(node.gpus);
  free.gpu_milli = node.gpus * kMilliPerGpu;
  free.largest_gpu_milli = node.gpus > 0 ? kMilliPerGpu : 0;
  free.flavor = node.gpus > 0 ? static_cast<std::uint8_t>(node.flavor.index()) : std::uint8_t{0};
  free.sharing = node.sharing;
  free.replicas = static_cast<std::uint8_t>(node.replicas);
  BERTH_ASSERT((node.sharing == Sharing::kMig) == (mig != nullptr));
  if (mig != nullptr) {
    const auto family = std::ranges::find(kMigFamilies, mig);
    BERTH_ASSERT(node.gpus > 0 && family != kMigFamilies.end());
    free.family = static_cast<std::uint8_t>(family - kMigFamilies.begin() + 1);
  }
  free.gpus_begin = static_cast<std::uint32_t>(gpu_milli_.size());
  gpu_milli_.insert(gpu_milli_.end(), static_cast<std::size_t>(node.gpus), std::int16_t{kMilliPerGpu});
  gpu_memory_mib_.insert(gpu_memory_mib_.end(), static_cast<std::size_t>(node.gpus),
                         static_cast<std::int32_t>(node.gpu_memory_mib));
  sharers_.resize(sharers_.size() + static_cast<std::size_t>(node.gpus));
  layouts_.resize(layouts_.size() + static_cast<std::size_t>(node.gpus));
  nodes_.push_back(free);
  kinds_.emplace_back();
  latest_change_.push_back(0);
  add_to_totals(free, 1);
  note_change(id);
  return id;
}

void Ledger::set_open(NodeId node, bool open) {
  NodeFree& free = nodes_[node.index()];
  if (free.open == open) return;
  free.open = open;
  add_to_totals(free, open ? 1 : -1);
  note_change(node);
}

void Ledger::apply(const Move& move) {
  NodeFree& node = nodes_[move.node.index()];
  const std::int64_t sign = move.direction == Move::Direction::kTake ? -1 : 1;
  if (node.open) add_to_totals(node, -1);
  node.cpu_milli += sign * move.request.cpu_milli;
  node.memory_bytes += sign * move.request.memory_bytes;
  BERTH_ASSERT(sign < 0 || node.pods < std::numeric_limits<std::int32_t>::max());
  node.pods += static_cast<std::int32_t>(sign);
  BERTH_ASSERT(node.cpu_milli >= 0 && node.memory_bytes >= 0 && node.pods >= 0);
  BERTH_ASSERT(move.gpus.size() == move.request.gpus);
  if (move.request.gpus > 0) move_gpus(node, move, sign);
  if (node.open) add_to_totals(node, 1);
  note_change(move.node);
}

void Ledger::move_gpus(NodeFree& node, const Move& move, std::int64_t sign) {
  std::int16_t* const milli = gpu_milli_.data() + node.gpus_begin;
  std::int32_t* const memory_mib = gpu_memory_mib_.data() + node.gpus_begin;
  const std::int32_t taken_milli = node.milli_of(move.request);
  const auto milli_delta = static_cast<std::int16_t>(sign * taken_milli);
  const auto memory_delta = static_cast<std::int32_t>(sign * gpu_memory_taken(move.request, node.gpu_memory_mib));
  move.gpus.for_each([&](int gpu) {
    BERTH_ASSERT(gpu < node.gpus);
    milli[gpu] = static_cast<std::int16_t>(milli[gpu] + milli_delta);
    memory_mib[gpu] += memory_delta;
    BERTH_ASSERT(milli[gpu] >= 0 && milli[gpu] <= kMilliPerGpu && memory_mib[gpu] >= 0);
  });
  if (move.request.is_slice()) move_slice(node, move);
  if (move.request.is_mps()) move_share(node, move);
  node.gpu_milli += static_cast<std::int32_t>(sign * move.request.gpus * taken_milli);
  std::int16_t whole = 0;
  std::int16_t largest = 0;
  for (int gpu = 0; gpu < node.gpus; ++gpu) {
    whole = static_cast<std::int16_t>(whole + (milli[gpu] == kMilliPerGpu ? 1 : 0));
    largest = std::max(largest, milli[gpu]);
  }
  if (move.request.is_fraction() && move.request.gpu_memory_mib > 0) {
    node.memory_bounded_pods = static_cast<std::uint16_t>(node.memory_bounded_pods - sign);
  }
  node.whole_gpus = whole;
  node.largest_gpu_milli = largest;
  std::uint16_t& kind = kinds_[move.node.index()][kind_of(move.request)];
  BERTH_ASSERT(sign < 0 || kind > 0);
  kind = static_cast<std::uint16_t>(kind - sign);
}

void Ledger::move_slice(const NodeFree& node, const Move& move) {
  BERTH_ASSERT(node.is_cut());
  const auto place = node.geometry().find_place(move.request.slice, move.slice_start);
  BERTH_ASSERT(place.has_value());
  move.gpus.for_each([&](int gpu) {
    MigPlaceSet& layout = layouts_[node.gpus_begin + static_cast<std::size_t>(gpu)];
    const bool takes = move.direction == Move::Direction::kTake;
    BERTH_ASSERT(layout.contains(*place) != takes);
    layout = takes ? layout.with(*place) : layout.without(*place);
    BERTH_ASSERT(node.geometry().is_layout(layout));
  });
}

// PRE: its thousandths have been moved.
void Ledger::move_share(const NodeFree& node, const Move& move) {
  BERTH_ASSERT(node.sharing == Sharing::kMps && !move.request.sharer.is_none());
  move.gpus.for_each([&](int gpu) {
    const std::size_t at = node.gpus_begin + static_cast<std::size_t>(gpu);
    const bool takes = move.direction == Move::Direction::kTake;
    BERTH_ASSERT(sharers_[at] == move.request.sharer || (takes && sharers_[at].is_none()));
    sharers_[at] = gpu_milli_[at] == kMilliPerGpu ? SharerId() : move.request.sharer;
  });
}

void Ledger::add_to_totals(const NodeFree& node, std::int64_t sign) {
  FreeTotals& totals = totals_of(node);
  totals.cpu_milli += sign * node.cpu_milli;
  totals.memory_bytes += sign * node.memory_bytes;
  totals.gpu_milli += sign * node.gpu_milli;
}

void Ledger::note_change(NodeId node) {
  // Halved at the least each time, so that a change costs the same however long the ledger lives.
  if (changes_.size() >= std::max<std::size_t>(4096, 2 * nodes_.size())) {
    std::erase_if(changes_, [this](const Change& change) { return !is_latest(change); });
  }
  latest_change_[node.index()] = next_change_;
  changes_.push_back({next_change_, node});
  ++next_change_;
}

void Ledger::add_to(Hasher& hasher) const {
  hasher.add(std::uint64_t{nodes_.size()});
  for (const NodeFree& node : nodes_) {
    hasher.add(node.cpu_milli).add(node.memory_bytes).add(node.pods).add(std::uint64_t{node.open});
  }
  for (const std::int16_t milli : gpu_milli_) hasher.add(std::int64_t{milli});
  for (const std::int32_t memory_mib : gpu_memory_mib_) hasher.add(memory_mib);
  for (const MigPlaceSet layout : layouts_) hasher.add(std::uint64_t{layout.bits()});
  for (const SharerId sharer : sharers_) hasher.add(sharer.value());
}

bool Ledger::same_as(const Ledger& other) const {
  return nodes_ == other.nodes_ && gpu_milli_ == other.gpu_milli_ && gpu_memory_mib_ == other.gpu_memory_mib_ &&
         sharers_ == other.sharers_ && layouts_ == other.layouts_ && kinds_ == other.kinds_ && totals_ == other.totals_;
}

}  // namespace berth
