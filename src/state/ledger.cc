#include "state/ledger.h"

#include <algorithm>
#include <iterator>
#include <limits>
#include <utility>

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
  free.other_modes = node.other_modes.bits() & 0x1f;
  free.replicas = node.replicas & 0x7f;
  BERTH_ASSERT(node.may_be(Sharing::kMig) == (mig != nullptr));
  if (mig != nullptr) {
    const auto family = std::ranges::find(kMigFamilies, mig);
    BERTH_ASSERT(node.gpus > 0 && family != kMigFamilies.end());
    free.family = static_cast<std::uint8_t>(family - kMigFamilies.begin() + 1) & 0x7f;
  }
  exclusives_.add_node();
  tenants_.add_node();
  free.gpus_begin = static_cast<std::uint32_t>(gpu_milli_.size());
  gpu_milli_.insert(gpu_milli_.end(), static_cast<std::size_t>(node.gpus), std::int16_t{kMilliPerGpu});
  gpu_memory_mib_.insert(gpu_memory_mib_.end(), static_cast<std::size_t>(node.gpus),
                         static_cast<std::int32_t>(node.gpu_memory_mib));
  first_.resize(first_.size() + static_cast<std::size_t>(node.gpus));
  layouts_.resize(layouts_.size() + static_cast<std::size_t>(node.gpus));
  BERTH_ASSERT(node.fixed_slices.empty() || (mig != nullptr && mig->is_layout(node.fixed_slices)));
  BERTH_ASSERT(node.recut == Duration{0} || !node.fixed_slices.empty());
  fixed_slices_.push_back(node.lasting_slices());
  if (node.recut > Duration{0} || !cuts_.empty()) cuts_.resize(layouts_.size());
  if (node.recut > Duration{0}) {
    std::fill_n(cuts_.end() - node.gpus, node.gpus, GpuCut{.slices = node.fixed_slices, .to_come = {}});
  }
  if (!node.layouts.empty()) {
    at_once_.emplace(id, CutAtOnce{node.layouts, std::vector<MigPlaceSet>(static_cast<std::size_t>(node.gpus))});
  }
  rest_.push_back({node.cpu_milli - node.gpus * node.kept_per_gpu.cpu_milli,
                   node.memory_bytes - node.gpus * node.kept_per_gpu.memory_bytes});
  BERTH_ASSERT(rest_.back().cpu_milli >= 0 && rest_.back().memory_bytes >= 0);
  extra_.push_back({node.extra, node.extra});
  has_.push_back({node.cpu_milli, node.memory_bytes});
  free.linked = !node.links.are_all_alike();
  links_.push_back(node.links);
  zones_at_.push_back(static_cast<std::uint32_t>(zones_.size()));
  if (node.numa_zones > 1 && node.numa_policy != NumaPolicy::kNone) {
    free.numa = node.numa_policy;
    NodeZones& zones = zones_.emplace_back();
    zones.zones = static_cast<std::uint8_t>(node.numa_zones);
    zones.cpu_milli_in_all = node.cpu_milli;
    for (std::uint8_t zone = 0; zone < zones.zones; ++zone) {
      zones.cpu_milli[zone] = even_part(node.cpu_milli, zone, zones.zones);
    }
  }
  nodes_.push_back(free);
  modes_.push_back({node.sharing, node.other_modes});
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

void Ledger::set_avoided(NodeId node, bool avoided) {
  const auto at = std::ranges::lower_bound(avoided_, node);
  const bool was = at != avoided_.end() && *at == node;
  if (was == avoided) return;
  if (was) {
    avoided_.erase(at);
  } else {
    avoided_.insert(at, node);
  }
  note_change(node);
}

void Ledger::keep_from_all(NodeId node) {
  set_open(node, false);
  nodes_[node.index()].kept = true;
}

void Ledger::keep_no_more(NodeId node) {
  nodes_[node.index()].kept = false;
  set_open(node, true);
}

void Ledger::set_spare(NodeId node, bool spare) {
  NodeFree& free = nodes_[node.index()];
  if (free.spare == spare) return;
  free.spare = spare;
  note_change(node);
}

void Ledger::apply(const Move& move) {
  NodeFree& node = nodes_[move.node.index()];
  const std::int64_t sign = move.direction == Move::Direction::kTake ? -1 : 1;
  const bool all = move.account == HostAccount::kAll;
  if (all || move.account == HostAccount::kNode) move_host(node, move, sign);
  if (move.account == HostAccount::kRest || (all && move.request.gpus == 0)) move_rest(move, sign);
  if (move.account == HostAccount::kZone || (all && node.counts_by_zone(move.request))) move_zones(node, move, sign);
  note_change(move.node);
}

void Ledger::move_host(NodeFree& node, const Move& move, std::int64_t sign) {
  if (node.open) add_to_totals(node, -1);
  move_amounts(node, extra_[move.node.index()].all, move.request, sign);
  BERTH_ASSERT(sign < 0 || node.pods < std::numeric_limits<std::int32_t>::max());
  node.pods += static_cast<std::int32_t>(sign);
  BERTH_ASSERT(node.cpu_milli >= 0 && node.memory_bytes >= 0 && node.pods >= 0);
  BERTH_ASSERT(move.gpus.size() == move.request.gpus);
  if (move.request.gpus > 0 && sign < 0 && node.other_modes != 0) settle_mode(node, move);
  if (move.request.gpus > 0) move_gpus(node, move, sign);
  if (node.open) add_to_totals(node, 1);
  neighbourhood_.move(move.request.neighbours, move.node, static_cast<std::int32_t>(-sign));
  const auto pods = static_cast<std::int32_t>(-sign);
  for (const NodeId each : exclusives_.move(move.request, move.node, pods)) note_change(each);
  for (const NodeId each : tenants_.move(trust_, move.request, move.node, pods)) note_change(each);
}

void Ledger::move_rest(const Move& move, std::int64_t sign) {
  move_amounts(rest_[move.node.index()], extra_[move.node.index()].without_gpus, move.request, sign);
}

void Ledger::move_zones(const NodeFree& node, const Move& move, std::int64_t sign) {
  NodeZones& zones = zones_[zones_at_[move.node.index()]];
  if (move.account == HostAccount::kZone) {
    zones.cpu_milli[move.zone] += sign * move.request.cpu_milli;
    return;
  }
  for_each_zone_of(node, zones.zones, move.request, move.gpus,
                   [&](std::size_t zone, std::int64_t cpu_milli) { zones.cpu_milli[zone] += sign * cpu_milli; });
}

void Ledger::move_gpus(NodeFree& node, const Move& move, std::int64_t sign) {
  BERTH_ASSERT(move.request.sharing == node.sharing);
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
  if (move.request.is_fraction()) move_part(node, move);
  node.gpu_milli += static_cast<std::int32_t>(sign * move.request.gpus * taken_milli);
  sum_up(node);
  if (move.request.is_fraction() && move.request.gpu_memory_mib > 0) {
    node.memory_bounded_pods = static_cast<std::uint16_t>(node.memory_bounded_pods - sign);
  }
  std::uint16_t& kind = kinds_[move.node.index()][kind_of(move.request)];
  BERTH_ASSERT(sign < 0 || kind > 0);
  kind = static_cast<std::uint16_t>(kind - sign);
  if (sign > 0 && !modes_[move.node.index()].others.empty()) settle_mode(node, move);
}

// With the first who comes it is what he asks for; when the last has left it may be anything again.
void Ledger::settle_mode(NodeFree& node, const Move& move) {
  const Modes& modes = modes_[move.node.index()];
  if (move.direction == Move::Direction::kTake) {
    node.sharing = move.request.sharing;
    node.other_modes = 0;
  } else if (std::ranges::all_of(kinds_[move.node.index()], [](std::uint16_t pods) { return pods == 0; })) {
    node.sharing = modes.own;
    node.other_modes = modes.others.bits() & 0x1f;
  }
}

void Ledger::sum_up(NodeFree& node) {
  const std::int16_t* const milli = gpu_milli_.data() + node.gpus_begin;
  node.whole_gpus = 0;
  node.largest_gpu_milli = 0;
  for (int gpu = 0; gpu < node.gpus; ++gpu) {
    node.whole_gpus = static_cast<std::int16_t>(node.whole_gpus + (milli[gpu] == kMilliPerGpu ? 1 : 0));
    node.largest_gpu_milli = std::max(node.largest_gpu_milli, milli[gpu]);
  }
}

void Ledger::set_broken(Device device, bool broken) {
  if (is_broken(device) == broken) return;
  NodeFree& node = nodes_[device.node.index()];
  const std::uint32_t at = device_at(device);
  BERTH_ASSERT(gpu_milli_[at] == (broken ? kMilliPerGpu : 0));
  if (broken) {
    broken_.insert(device);
  } else {
    broken_.erase(device);
  }
  if (node.open) add_to_totals(node, -1);
  gpu_milli_[at] = broken ? std::int16_t{0} : std::int16_t{kMilliPerGpu};
  gpu_memory_mib_[at] = broken ? 0 : static_cast<std::int32_t>(node.gpu_memory_mib);
  node.gpu_milli += broken ? -kMilliPerGpu : kMilliPerGpu;
  sum_up(node);
  if (node.open) add_to_totals(node, 1);
  note_change(device.node);
}

void Ledger::clean(Device device) { scrub(device); }

void Ledger::set_cut(Device device, const GpuCut& cut) {
  const MigGeometry& mig = nodes_[device.node.index()].geometry();
  BERTH_ASSERT(cut_of(device.node, static_cast<std::size_t>(device.gpu)) != nullptr);
  BERTH_ASSERT(!cut.slices.empty() && mig.is_layout(cut.slices) && cut.to_come.minus(cut.slices).empty());
  cuts_[device_at(device)] = cut;
  note_change(device.node);
}

bool Ledger::is_held(NodeId node) const {
  const std::vector<MigPlaceSet>& settled = at_once_.at(node).settled;
  const auto taken = layouts(node);
  for (std::size_t gpu = 0; gpu < settled.size(); ++gpu) {
    if (settled[gpu].meets(taken[gpu])) return true;
  }
  return false;
}

bool Ledger::holds_all(NodeId node, MigPlaceSet layout) const {
  return std::ranges::all_of(layouts(node), [&](MigPlaceSet taken) { return taken.minus(layout).empty(); });
}

std::vector<MigPlaceSet> Ledger::possible_layouts(NodeId node) const {
  std::vector<MigPlaceSet> possible;
  const GpuCut& now = *cut_of(node, 0);
  if (holds_all(node, now.slices)) possible.push_back(now.slices);
  bool stays = is_held(node);
  for (std::size_t gpu = 0; gpu < nodes_[node.index()].gpus; ++gpu) stays = stays || cut_of(node, gpu)->stays();
  if (stays) return possible;
  for (const MigPlaceSet layout : at_once_.at(node).layouts) {
    if (!(layout == now.slices) && holds_all(node, layout)) possible.push_back(layout);
  }
  return possible;
}

MigPlaceSet Ledger::layout_for(NodeId node, std::size_t shape) const {
  const MigPlaceSet places = nodes_[node.index()].geometry().places_of(shape);
  MigPlaceSet best = cut_of(node, 0)->slices;
  int most = -1;
  for (const MigPlaceSet layout : possible_layouts(node)) {
    int room = 0;
    for (const MigPlaceSet taken : layouts(node)) room += layout.common_with(places).minus(taken).size();
    if (room <= most) continue;
    most = room;
    best = layout;
  }
  return best;
}

MigPlaceSet Ledger::open_at_once(NodeId node, MigPlaceSet layout) const {
  MigPlaceSet open;
  for (const MigPlaceSet possible : possible_layouts(node)) open = open.united_with(possible);
  return open.common_with(nodes_[node.index()].geometry().open_beside(layout));
}

void Ledger::settle() {
  for (auto& [node, all] : at_once_) {
    const auto taken = layouts(node);
    if (std::ranges::equal(all.settled, taken)) continue;
    all.settled.assign(taken.begin(), taken.end());
    note_change(node);
  }
}

int Ledger::room_for_slices(NodeId node, std::size_t gpu, std::size_t shape) const {
  const MigGeometry& mig = nodes_[node.index()].geometry();
  const MigPlaceSet layout = layouts(node)[gpu];
  if (is_cut_at_once(node)) return layout_for(node, shape).common_with(mig.places_of(shape)).minus(layout).size();
  const int room = mig.room_for(shape, layout, fixed_slices(node));
  const GpuCut* const cut = cut_of(node, gpu);
  if (cut == nullptr || !cut->stays()) return room;
  return std::min(room, open_beside(node, gpu, layout).common_with(mig.places_of(shape)).size());
}

void Ledger::move_slice(const NodeFree& node, const Move& move) {
  BERTH_ASSERT(node.sharing == Sharing::kMig);
  const auto place = node.geometry().find_place(move.request.slice, move.slice_start);
  BERTH_ASSERT(place.has_value());
  move.gpus.for_each([&](int gpu) {
    MigPlaceSet& layout = layouts_[node.gpus_begin + static_cast<std::size_t>(gpu)];
    const bool takes = move.direction == Move::Direction::kTake;
    BERTH_ASSERT(layout.contains(*place) != takes);
    layout = takes ? layout.with(*place) : layout.without(*place);
    const MigPlaceSet fixed = fixed_slices(move.node);
    BERTH_ASSERT(fixed.empty() ? node.geometry().is_layout(layout) : layout.minus(fixed).empty());
  });
}

void Ledger::move_part(const NodeFree& node, const Move& move) {
  move.gpus.for_each([&](int gpu) {
    const std::uint32_t at = node.gpus_begin + static_cast<std::uint32_t>(gpu);
    if (move.direction == Move::Direction::kTake) {
      enter(at, move.request.sharer);
    } else {
      leave(at, move.request.sharer);
    }
  });
}

void Ledger::enter(std::uint32_t device, SharerId sharer) {
  Occupant& first = first_[device];
  if (first.pods == 0 || first.sharer == sharer) {
    first = {sharer, first.pods + 1};
    return;
  }
  std::vector<Occupant>& others = others_[device];
  if (sharer < first.sharer) {
    others.insert(others.begin(), first);
    first = {sharer, 1};
    return;
  }
  const auto at = std::ranges::lower_bound(others, sharer, {}, &Occupant::sharer);
  if (at != others.end() && at->sharer == sharer) {
    ++at->pods;
  } else {
    others.insert(at, {sharer, 1});
  }
}

void Ledger::leave(std::uint32_t device, SharerId sharer) {
  Occupant& first = first_[device];
  const auto beside = others_.find(device);
  if (first.sharer == sharer) {
    BERTH_ASSERT(first.pods > 0);
    if (--first.pods > 0) return;
    first = beside == others_.end() ? Occupant() : beside->second.front();
    if (beside != others_.end()) beside->second.erase(beside->second.begin());
  } else {
    BERTH_ASSERT(beside != others_.end());
    const auto at = std::ranges::lower_bound(beside->second, sharer, {}, &Occupant::sharer);
    BERTH_ASSERT(at != beside->second.end() && at->sharer == sharer);
    if (--at->pods == 0) beside->second.erase(at);
  }
  if (beside != others_.end() && beside->second.empty()) others_.erase(beside);
}

std::vector<Residue> Ledger::depart(const Move& give, Emptied emptied) {
  BERTH_ASSERT(give.direction == Move::Direction::kGive);
  const bool matters = leaves_residue(give.request) && (scrubs_ || knows_more_than_first());
  apply(give);
  std::vector<Residue> before;
  if (!matters) return before;
  give.gpus.for_each([&](int gpu) {
    const std::uint32_t at = device_at({give.node, gpu});
    const bool is_empty = gpu_milli_[at] == kMilliPerGpu;
    if (is_empty && (!scrubs_ || emptied == Emptied::kCountsAsScrubbed)) {
      if (residues_.contains(at)) before.push_back({at, residue(at)});
      residues_.erase(at);
      return;
    }
    const QueueId left = trust_[give.request.sharer].tenant;
    const std::vector<Occupant> there = occupants(at);
    const bool is_there =
        std::ranges::any_of(there, [&](const Occupant& each) { return trust_[each.sharer].tenant == left; });
    if (!is_there) before.push_back(add_residue({give.node, gpu}, left));
  });
  return before;
}

void Ledger::withdraw(const Move& give) {
  apply(give);
  if (scrubs_ || residues_.empty()) return;
  give.gpus.for_each([&](int gpu) {
    const std::uint32_t at = device_at({give.node, gpu});
    if (gpu_milli_[at] == kMilliPerGpu) residues_.erase(at);
  });
}

Residue Ledger::add_residue(Device device, QueueId tenant) {
  std::vector<QueueId>& tenants = residues_[device_at(device)];
  Residue before{device_at(device), tenants};
  const auto at = std::ranges::lower_bound(tenants, tenant);
  if (at == tenants.end() || *at != tenant) tenants.insert(at, tenant);
  return before;
}

Residue Ledger::scrub(Device device) {
  const std::uint32_t at = device_at(device);
  Residue before{at, residue(at)};
  residues_.erase(at);
  note_change(device.node);
  return before;
}

void Ledger::restore(const Residue& before) {
  if (before.tenants.empty()) {
    residues_.erase(before.device);
  } else {
    residues_[before.device] = before.tenants;
  }
  // The last that begins there or before; nodes without GPUs begin where the next one does.
  const auto next = std::ranges::upper_bound(nodes_, before.device, {}, &NodeFree::gpus_begin);
  note_change(NodeId(static_cast<std::size_t>(next - nodes_.begin()) - 1));
}

std::vector<Occupant> Ledger::occupants(std::uint32_t device) const {
  std::vector<Occupant> there;
  if (first_[device].pods > 0) there.push_back(first_[device]);
  const auto others = others_.find(device);
  if (others != others_.end()) there.insert(there.end(), others->second.begin(), others->second.end());
  return there;
}

std::vector<QueueId> Ledger::residue(std::uint32_t device) const {
  const auto found = residues_.find(device);
  return found == residues_.end() ? std::vector<QueueId>() : found->second;
}

std::vector<Occupant> Ledger::occupants(NodeId node, std::size_t gpu) const {
  return occupants(device_at({node, static_cast<std::int32_t>(gpu)}));
}

std::vector<QueueId> Ledger::residue(NodeId node, std::size_t gpu) const {
  return residue(device_at({node, static_cast<std::int32_t>(gpu)}));
}

bool Ledger::suits_others(std::uint32_t device, SharerId sharer) const {
  const auto others = others_.find(device);
  return others == others_.end() || std::ranges::all_of(others->second, [&](const Occupant& each) {
           return trust_.may_be_together(each.sharer, sharer);
         });
}

bool Ledger::is_clean_for(std::uint32_t device, SharerId sharer) const {
  const auto left = residues_.find(device);
  return left == residues_.end() || (!sharer.is_none() && std::ranges::all_of(left->second, [&](QueueId tenant) {
           return trust_.trust(tenant, trust_[sharer].tenant);
         }));
}

Device Ledger::device_of(std::uint32_t at) const {
  // Nodes without GPUs begin where the next one does, which stands behind them.
  const auto node = std::prev(std::ranges::upper_bound(nodes_, at, {}, &NodeFree::gpus_begin));
  return {NodeId(static_cast<std::size_t>(node - nodes_.begin())), static_cast<std::int32_t>(at - node->gpus_begin)};
}

std::vector<Device> Ledger::dirty() const {
  std::vector<Device> devices;
  for (const auto& each : residues_) devices.push_back(device_of(each.first));
  return devices;
}

std::vector<NodeId> Ledger::nodes_kept(const PodRequest& pod, NodeId node, const PodRequest& other) const {
  std::vector<NodeId> kept = tenants_.nodes_kept(trust_, pod, node, other);
  for (const PodRequest* const each : {&pod, &other}) {
    if (exclusives_.none() || pod.gpus == 0) continue;
    const std::vector<NodeId> own = exclusives_.own_nodes(*each, node);
    kept.insert(kept.end(), own.begin(), own.end());
  }
  return kept;
}

bool Ledger::is_at_peace(Device device) const {
  const std::vector<Occupant> there = occupants(device_at(device));
  return std::ranges::all_of(there, [&](const Occupant& a) {
    return std::ranges::all_of(there, [&](const Occupant& b) { return trust_.may_be_together(a.sharer, b.sharer); });
  });
}

std::vector<Device> Ledger::shared_devices() const {
  std::vector<Device> devices;
  for (const auto& each : others_) devices.push_back(device_of(each.first));
  return devices;
}

void Ledger::add_to_totals(const NodeFree& node, std::int64_t sign) {
  FreeTotals& totals = totals_of(node);
  totals.cpu_milli += sign * node.cpu_milli;
  totals.memory_bytes += sign * node.memory_bytes;
  totals.gpu_milli += sign * node.gpu_milli;
  totals.whole_gpus += sign * node.whole_gpus;
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
    if (node.spare) hasher.add(std::uint64_t{node.spare});
  }
  for (const std::int16_t milli : gpu_milli_) hasher.add(std::int64_t{milli});
  for (const std::int32_t memory_mib : gpu_memory_mib_) hasher.add(memory_mib);
  for (const HostAmounts& rest : rest_) hasher.add(rest.cpu_milli).add(rest.memory_bytes);
  for (const ExtraLeft& left : extra_) {
    if (left == ExtraLeft()) continue;
    hasher.add(left.all.cpu_milli).add(left.all.memory_bytes);
    hasher.add(left.without_gpus.cpu_milli).add(left.without_gpus.memory_bytes);
  }
  for (const NodeZones& zones : zones_) {
    for (const std::int64_t cpu_milli : zones.cpu_milli) hasher.add(cpu_milli);
  }
  for (const MigPlaceSet layout : layouts_) hasher.add(std::uint64_t{layout.bits()});
  for (const GpuCut& cut : cuts_) {
    hasher.add(std::uint64_t{cut.slices.bits()}).add(std::uint64_t{cut.to_come.bits()}).add(std::uint64_t{cut.rests});
  }
  for (const Occupant& first : first_) hasher.add(first.sharer.value()).add(first.pods);
  for (const auto& [device, others] : others_) {
    hasher.add(device);
    for (const Occupant& each : others) hasher.add(each.sharer.value()).add(each.pods);
  }
  for (const Device& device : broken_) hasher.add(device.node.value()).add(device.gpu);
  for (const auto& [device, tenants] : residues_) {
    hasher.add(device);
    for (const QueueId tenant : tenants) hasher.add(tenant.value());
  }
}

bool Ledger::same_as(const Ledger& other) const {
  return nodes_ == other.nodes_ && gpu_milli_ == other.gpu_milli_ && gpu_memory_mib_ == other.gpu_memory_mib_ &&
         first_ == other.first_ && others_ == other.others_ && residues_ == other.residues_ &&
         broken_ == other.broken_ && layouts_ == other.layouts_ && fixed_slices_ == other.fixed_slices_ &&
         cuts_ == other.cuts_ && at_once_ == other.at_once_ && rest_ == other.rest_ && extra_ == other.extra_ &&
         zones_ == other.zones_ && kinds_ == other.kinds_ && totals_ == other.totals_ &&
         neighbourhood_.same_pods_as(other.neighbourhood_) && exclusives_.same_pods_as(other.exclusives_) &&
         tenants_.same_pods_as(other.tenants_);
}

}  // namespace berth
