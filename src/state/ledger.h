// What every node has free, now. Changed only by moves, each of which can be taken back exactly; who keeps an index on
// it follows its list of changes.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <span>
#include <vector>

#include "base/assert.h"
#include "base/hash.h"
#include "model/flavor.h"
#include "model/mig_geometry.h"
#include "model/node.h"
#include "model/plan.h"
#include "model/request.h"
#include "state/exclusive_domains.h"
#include "state/neighbourhood.h"
#include "state/node_matches.h"
#include "state/tenant_domains.h"
#include "state/trust.h"

namespace berth {

// Of which of a node's accounts a move takes. A pod's takes of all that know of it; what is only held back for somebody is taken of
// each by itself: of the node's own amounts and GPUs, of what is left for pods without GPUs, of the CPUs of one zone.
enum class HostAccount : std::uint8_t { kAll, kNode, kRest, kZone };

// One pod's room on one node, taken or given back.
struct Move {
  enum class Direction : std::uint8_t { kTake, kGive };

  PodRequest request;
  NodeId node;
  GpuSet gpus;
  Direction direction = Direction::kTake;
  std::uint8_t slice_start = 0;
  HostAccount account = HostAccount::kAll;
  std::uint8_t zone = 0;  // of kZone
};

constexpr Move move_of(const PodRequest& request, const PodPlacement& place,
                       Move::Direction direction = Move::Direction::kTake) {
  return {.request = request,
          .node = place.node,
          .gpus = place.gpus,
          .direction = direction,
          .slice_start = place.slice_start};
}

// Takes of one account, or gives back (change > 0). Best effort has what is extra first, and of what is really there only what is
// beyond that: so `free` is what work that counts may have. `extra` is negative where best effort has more than that.
inline void move_amount(std::int64_t& free, std::int64_t& extra, bool in_extra, std::int64_t change) {
  if (in_extra) {
    const std::int64_t beyond = std::min<std::int64_t>(extra, 0);
    extra += change;
    change = std::min<std::int64_t>(extra, 0) - beyond;
  }
  free += change;
}

// The same of CPUs and memory, for a pod: `sign` is -1 where it takes them.
template <class Free>
void move_amounts(Free& free, HostAmounts& extra, const PodRequest& request, std::int64_t sign) {
  move_amount(free.cpu_milli, extra.cpu_milli, request.in_extra, sign * request.cpu_milli);
  move_amount(free.memory_bytes, extra.memory_bytes, request.in_extra, sign * request.memory_bytes);
}

// Everything that can be done can be undone by turning its direction round; nothing else may touch free capacity.
inline Move inverse(Move move) {
  move.direction = move.direction == Move::Direction::kTake ? Move::Direction::kGive : Move::Direction::kTake;
  return move;
}

// A node's free capacity in one cache line: what every decision reads.
struct NodeFree {
  std::int64_t cpu_milli = 0;       // for work that counts: best effort may have more (Ledger::beyond)
  std::int64_t memory_bytes = 0;    // the same
  std::int64_t gpu_memory_mib = 0;  // of each of its GPUs when free
  std::int32_t pods = 0;
  std::int32_t gpu_milli = 0;    // over all its GPUs
  std::uint32_t gpus_begin = 0;  // where its GPUs begin in the ledger's lists
  std::int16_t whole_gpus = 0;
  std::int16_t largest_gpu_milli = 0;     // the most that one GPU has free
  std::uint16_t memory_bounded_pods = 0;  // fractions that ask an amount of GPU memory of their own
  std::uint8_t gpus = 0;
  std::uint8_t flavor = 0;  // meaningful when gpus > 0
  Sharing sharing : 3 = Sharing::kExclusive;
  std::uint8_t other_modes : 5 = 0;  // a SharingSet: what it may become with the next; none while somebody has a GPU
  bool open : 1 = true;              // takes new pods
  bool spare : 1 = false;  // kept for repairs, and not closed otherwise: open only in a trial that looks for one
  NumaPolicy numa : 2 = NumaPolicy::kNone;  // kNone as well where there is one zone
  std::uint8_t replicas : 7 = 1;            // of each of its GPUs
  bool kept : 1 = false;                    // open, but for whoever is tried just now (Trial::keep_from_all)
  std::uint8_t family : 7 = 0;              // where its GPUs may be cut into slices: a number in kMigFamilies, from 1
  bool linked : 1 = false;                  // some of its GPUs are nearer to each other than others

  // Whether it takes new pods, whoever it is kept from.
  bool is_up() const { return open || kept; }
  // Whether anybody at all may be sent there.
  bool takes_work() const { return open || spare; }
  bool has_flavor_of(FlavorSet flavors) const { return flavors.contains(FlavorId(flavor)); }
  // PRE: it has GPUs. Whether who asks for that mode may come.
  bool suits(Sharing mode) const { return sharing == mode || SharingSet::from_bits(other_modes).contains(mode); }
  // For whoever asks for that mode it would have to become another than it is by itself.
  bool would_turn(Sharing mode) const { return sharing != mode && other_modes != 0; }
  // Thousandths of each GPU that a pod takes here.
  std::int32_t milli_of(const PodRequest& request) const {
    return request.is_replica() ? kMilliPerGpu / replicas : request.gpu_milli;
  }
  // Whether a pod's CPUs are counted in the zones of its GPUs: it has GPUs whole, which a kubelet knows of.
  bool counts_by_zone(const PodRequest& request) const {
    return numa != NumaPolicy::kNone && request.gpus > 0 && !request.is_fraction();
  }
  // PRE: it may be cut.
  const MigGeometry& geometry() const { return *kMigFamilies[family - 1]; }
  friend bool operator==(const NodeFree&, const NodeFree&) = default;
};

static_assert(sizeof(NodeFree) <= 48);  // of which four are in three cache lines

// The zones of a node whose kubelet has a policy.
struct NodeZones {
  std::uint8_t zones = 1;
  std::int64_t cpu_milli_in_all = 0;  // when nothing runs
  // What pods with GPUs there have left of each. Negative where some have cores of other zones, who are let in or were found.
  std::array<std::int64_t, kNumaZonesMax> cpu_milli{};

  friend bool operator==(const NodeZones&, const NodeZones&) = default;
};

// Of what a node promises beyond what it has, what is left: to all of best effort; and to what of it asks no GPU. Negative where
// they have more than that, which is then of what is really there.
struct ExtraLeft {
  HostAmounts all;
  HostAmounts without_gpus;

  friend bool operator==(const ExtraLeft&, const ExtraLeft&) = default;
};

// Calls visit(zone, cpu_milli) for each of a pod's GPUs with the CPUs that count beside it: as many beside each.
template <class Visit>
void for_each_zone_of(const NodeFree& node, int zones, const PodRequest& request, GpuSet gpus, Visit visit) {
  int at = 0;
  gpus.for_each([&](int gpu) {
    const std::int64_t beside = even_part(request.cpu_milli, at++, request.gpus);
    visit(static_cast<std::size_t>(zone_of_gpu(gpu, node.gpus, zones)), beside);
  });
}

// Pods on a node by what they hold: [0] a fraction or a slice, [1..8] that many GPUs, [9] more than eight.
using PodKinds = std::array<std::uint16_t, 10>;

constexpr std::size_t kind_of(const PodRequest& request) {
  if (request.is_fraction() || request.is_slice()) return 0;
  return request.gpus <= 8 ? static_cast<std::size_t>(request.gpus) : 9;
}

// What the open nodes of one flavor (or without GPUs) have free together.
struct FreeTotals {
  std::int64_t cpu_milli = 0;
  std::int64_t memory_bytes = 0;
  std::int64_t gpu_milli = 0;
  std::int64_t whole_gpus = 0;

  // Of what is free nothing is on a GPU that is taken in part.
  bool are_whole() const { return gpu_milli == whole_gpus * kMilliPerGpu; }
  friend bool operator==(const FreeTotals&, const FreeTotals&) = default;
};

// A GPU's memory that a request takes from a device that has `device_mib`.
constexpr std::int64_t gpu_memory_taken(const PodRequest& request, std::int64_t device_mib) {
  if (request.is_slice()) return 0;    // its layout says what is left
  if (request.is_replica()) return 0;  // of what all may use in their turns none has a part
  if (!request.is_fraction()) return device_mib;
  // Rounded down, so that fractions that add up to one device always fit it.
  return request.gpu_memory_mib > 0 ? request.gpu_memory_mib : device_mib * request.gpu_milli / kMilliPerGpu;
}

// How many pods of one sharer have a part of a device.
struct Occupant {
  SharerId sharer;
  std::uint32_t pods = 0;

  friend bool operator==(const Occupant&, const Occupant&) = default;
};

// Of whose work something is left on a device: who is not there any more while others still are, so that nobody could clean it;
// or while it is yet to be scrubbed. Ascending.
struct Residue {
  std::uint32_t device = 0;  // its place in the ledger's lists
  std::vector<QueueId> tenants;
};

// What is left on a device when a pod departs from it as the last: it has to be scrubbed, if that takes time; or that counts as
// done, for whoever takes it in a trial waits for it.
enum class Emptied : std::uint8_t { kIsToBeScrubbed, kCountsAsScrubbed };

// What a GPU is cut into whose slices may be cut anew, whoever has them.
struct GpuCut {
  MigPlaceSet slices;   // of a GPU that may be cut anew never none
  MigPlaceSet to_come;  // of these, what is not there yet
  bool rests = false;   // it was cut a short while ago, and stays as it is

  bool stays() const { return rests || !to_come.empty(); }
  // Whether somebody could begin there now.
  bool has(std::size_t place) const { return slices.contains(place) && !to_come.contains(place); }
  friend bool operator==(const GpuCut&, const GpuCut&) = default;
};

struct Device {
  NodeId node;
  std::int32_t gpu = 0;

  friend auto operator<=>(const Device&, const Device&) = default;
};

// INVARIANT: all who have GPUs of a node ask for one mode, which it has; the slices of a GPU are a layout, and of one that was cut beforehand and stays so some of those that it has; occupants are those who have a part of a GPU; free amounts are never
// negative, but of the rest and of zones; gpu_milli, whole_gpus, largest_gpu_milli and the totals are what the single GPUs and nodes say.
class Ledger {
 public:
  // `mig`: how its GPUs are cut, where they are.
  NodeId add(const Node& node, const MigGeometry* mig = nullptr);
  // Whether the node takes new pods. Closing moves nothing; room given back on a closed node comes free when it opens.
  void set_open(NodeId node, bool open);
  // Closed to who is tried now, and open all the same to whoever counts open nodes. PRE: it is open; it is kept.
  void keep_from_all(NodeId node);
  void keep_no_more(NodeId node);
  void set_spare(NodeId node, bool spare);
  void apply(const Move& move);
  // The same for a pod that was there and leaves its place for good. What it leaves on a device goes with the last who is there,
  // or is scrubbed after him. The answer is what was left there before, where that has changed.
  std::vector<Residue> depart(const Move& give, Emptied emptied);
  void restore(const Residue& before);
  // The same for a pod that had room and never came: it leaves nothing. What others left goes with the last who has room.
  void withdraw(const Move& give);
  // Something of the tenant's is left there, too. The answer is what was left before.
  Residue add_residue(Device device, QueueId tenant);
  Residue scrub(Device device);
  // Devices that all have left are dirty until they are scrubbed.
  void set_scrubs(bool scrubs) { scrubs_ = scrubs; }
  // Whether it matters to pods who else is on their devices, or what others have left there.
  bool minds_others(const PodRequest& request) const {
    return request.is_fraction() || (scrubs_ && request.gpus > 0 && !request.is_slice());
  }
  // Whether they leave something in the memory of their devices that somebody could read. A hypervisor gives no vGPU what another
  // had.
  bool leaves_residue(const PodRequest& request) const { return minds_others(request) && !request.is_vgpu(); }
  // Whether it matters whose they are, for that or for who else is on their node or around it.
  bool has_sharer(const PodRequest& request) const {
    return minds_others(request) || (trust_.looks_beyond_devices() && request.gpus > 0);
  }
  // PRE: nobody has room on it.
  void clean(Device device);
  void set_broken(Device device, bool broken);
  bool is_broken(Device device) const { return broken_.contains(device); }
  const std::set<Device>& broken() const { return broken_; }
  // On which something is left; in order.
  std::vector<Device> dirty() const;
  // PRE: the same nodes.
  void take_residues_of(const Ledger& other) { residues_ = other.residues_; }
  // What constraints allow has changed there.
  void touch(NodeId node) { note_change(node); }

  // Where pods may be at all, whatever is free.
  const NodeMatches& matches() const { return matches_; }
  NodeMatches& matches() { return matches_; }
  // Which pods are where, as far as others ask.
  const Neighbourhood& neighbourhood() const { return neighbourhood_; }
  Neighbourhood& neighbourhood() { return neighbourhood_; }
  // Which domains are some work's own, and who else is there.
  const ExclusiveDomains& exclusives() const { return exclusives_; }
  ExclusiveDomains& exclusives() { return exclusives_; }
  // Whether it is given to nobody for whom another would do, and all of which this is so, ascending.
  bool is_avoided(NodeId node) const { return !avoided_.empty() && std::ranges::binary_search(avoided_, node); }
  const std::vector<NodeId>& avoided() const { return avoided_; }
  void set_avoided(NodeId node, bool avoided);
  // Who may be on one device, and further around; and who is where, as far as that goes.
  const Trust& trust() const { return trust_; }
  Trust& trust() { return trust_; }
  const TenantDomains& tenants() const { return tenants_; }
  TenantDomains& tenants() { return tenants_; }
  // Whether nobody is there who keeps the pod away, as one of the two is to be alone, or as they are strangers and too near.
  bool lets_in(const PodRequest& request, NodeId node) const {
    return exclusives_.allows(request, node) && is_away_from_strangers(request, node);
  }
  bool is_away_from_strangers(const PodRequest& request, NodeId node) const {
    return tenants_.allows(trust_, request, node);
  }
  // Whether two pods keep each other away for this, each on its node.
  bool keep_apart(const PodRequest& pod, NodeId node, const PodRequest& other, NodeId at) const {
    return exclusives_.excludes(pod, node, other, at) || tenants_.keep_apart(trust_, pod, node, other, at);
  }
  // The nodes on which a pod that is on this one keeps away `other`, or is kept away by it.
  std::vector<NodeId> nodes_kept(const PodRequest& pod, NodeId node, const PodRequest& other) const;
  // Whether somebody is there who may keep others away from more than what he has.
  bool some_keep_apart() const { return !exclusives_.none() || !tenants_.none(); }

  std::size_t nodes() const { return nodes_.size(); }
  const NodeFree& node(NodeId node) const { return nodes_[node.index()]; }
  std::span<const std::int16_t> gpu_milli(NodeId node) const { return of(gpu_milli_, nodes_[node.index()]); }
  std::span<const std::int32_t> gpu_memory_mib(NodeId node) const { return of(gpu_memory_mib_, nodes_[node.index()]); }
  // Who have a part of the GPU, ascending; and of whose work something is left there, ascending.
  std::vector<Occupant> occupants(NodeId node, std::size_t gpu) const;
  std::vector<QueueId> residue(NodeId node, std::size_t gpu) const;
  // Whether all who are on the GPU, and all of whose work something is left there, let the pod join them.
  bool may_join(NodeId node, std::size_t gpu, const PodRequest& part) const {
    return trust_.all_together() || (suits_occupants(node, gpu, part) && is_clean_for(node, gpu, part));
  }
  bool suits_occupants(NodeId node, std::size_t gpu, const PodRequest& part) const {
    if (trust_.all_together()) return true;
    const std::uint32_t at = device_at({node, static_cast<std::int32_t>(gpu)});
    const bool first = first_[at].pods == 0 || trust_.may_be_together(first_[at].sharer, part.sharer);
    return first && (others_.empty() || suits_others(at, part.sharer));
  }
  bool any_residue() const { return !residues_.empty() && !trust_.all_together(); }
  // Whether nothing is left there of whom it does not trust.
  bool is_clean_for(NodeId node, std::size_t gpu, const PodRequest& part) const {
    return !any_residue() || is_clean_for(device_at({node, static_cast<std::int32_t>(gpu)}), part.sharer);
  }
  // Whether all who are on it may be there together; whether nobody on the node is too near to a stranger.
  bool is_at_peace(Device device) const;
  bool is_at_peace(NodeId node) const { return tenants_.is_at_peace(trust_, node); }
  // On which there are several sharers; in order.
  std::vector<Device> shared_devices() const;
  // Which slices of each GPU are taken now; all empty where none is cut.
  std::span<const MigPlaceSet> layouts(NodeId node) const { return of(layouts_, nodes_[node.index()]); }
  // The slices that each GPU was cut into beforehand and that stay; empty where it is cut as pods ask, or may be cut anew.
  MigPlaceSet fixed_slices(NodeId node) const { return fixed_slices_[node.index()]; }
  // What a GPU is cut into that may be cut anew; nullptr: it may not be.
  const GpuCut* cut_of(NodeId node, std::size_t gpu) const {
    if (cuts_.empty()) return nullptr;
    const GpuCut& cut = cuts_[nodes_[node.index()].gpus_begin + gpu];
    return cut.slices.empty() ? nullptr : &cut;
  }
  void set_cut(Device device, const GpuCut& cut);
  bool has_cuts() const { return !cuts_.empty(); }
  // Whether all GPUs of a node are cut anew at once, into one of its layouts (Node::layouts), while nobody is on any.
  bool is_cut_at_once(NodeId node) const { return !at_once_.empty() && at_once_.contains(node); }
  // PRE: it is. Whether somebody has something on it who was there before this trial, or whatever else has not been settled yet: then
  // it stays as it is.
  bool is_held(NodeId node) const;
  // PRE: it is cut at once. Into what it is cut, or may be, with all that is taken there: what it is first.
  std::vector<MigPlaceSet> possible_layouts(NodeId node) const;
  // PRE: it is cut at once. Of these the one that has room for most slices of a shape; of equals the first.
  MigPlaceSet layout_for(NodeId node, std::size_t shape) const;
  // What is taken from now on was taken before any trial.
  void settle();
  // PRE: the node is cut. Where one more slice may be on a GPU of which these are taken: cut for it, if that may be.
  MigPlaceSet open_beside(NodeId node, std::size_t gpu, MigPlaceSet layout) const {
    if (is_cut_at_once(node)) return open_at_once(node, layout);
    const MigPlaceSet open = nodes_[node.index()].geometry().open_beside(layout, fixed_slices(node));
    const GpuCut* const cut = cut_of(node, gpu);
    return cut != nullptr && cut->stays() ? open.common_with(cut->slices) : open;
  }
  // PRE: the node is cut. How many more slices of one shape fit on a GPU as it is, all of them.
  int room_for_slices(NodeId node, std::size_t gpu, std::size_t shape) const;
  const PodKinds& kinds(NodeId node) const { return kinds_[node.index()]; }
  // What a node may be, whoever is there.
  bool may_be(NodeId node, Sharing mode) const {
    const Modes& modes = modes_[node.index()];
    return modes.own == mode || modes.others.contains(mode);
  }
  // What pods without GPUs may still have of a node, if so much is free: all but what is kept for its GPUs. Negative where more of
  // them were found there. Of best effort only what is beyond the extra counts.
  const HostAmounts& rest(NodeId node) const { return rest_[node.index()]; }
  const ExtraLeft& extra(NodeId node) const { return extra_[node.index()]; }
  // What the node has when nothing runs: no pod asks more there, whatever is promised to all of them.
  const HostAmounts& has(NodeId node) const { return has_[node.index()]; }
  // Of who counts the free amounts say that.
  bool is_large_enough(NodeId node, const PodRequest& request) const {
    return !request.in_extra ||
           (request.cpu_milli <= has(node).cpu_milli && request.memory_bytes <= has(node).memory_bytes);
  }
  // What of that the pod may have, beside what is free for work that counts.
  HostAmounts beyond(NodeId node, const PodRequest& request) const {
    return request.in_extra ? above_nothing(extra(node).all) : HostAmounts();
  }
  // The same, and beside the rest. PRE: it asks no GPU.
  HostAmounts beyond_rest(NodeId node, const PodRequest& request) const {
    return request.in_extra ? above_nothing(extra(node).without_gpus) : HostAmounts();
  }
  // Whether a pod leaves alone what is kept for others.
  bool leaves_what_is_kept(NodeId node, const PodRequest& request) const {
    if (request.gpus > 0) return true;
    const HostAmounts left = rest(node) + beyond_rest(node, request);
    return (request.cpu_milli == 0 || left.cpu_milli >= request.cpu_milli) &&
           (request.memory_bytes == 0 || left.memory_bytes >= request.memory_bytes);
  }
  // PRE: its kubelet has a policy.
  const GpuLinks& links(NodeId node) const { return links_[node.index()]; }
  const NodeZones& zones(NodeId node) const { return zones_[zones_at_[node.index()]]; }
  // By flavor; the last is of nodes without GPUs.
  const FreeTotals& totals(FlavorId flavor) const { return totals_[flavor.index()]; }
  const FreeTotals& totals_without_gpus() const { return totals_[kFlavorsMax]; }

  // Changes are numbered from 0; this is the number of the next.
  std::uint64_t next_change() const { return next_change_; }
  // Calls visit(node) once for each node that was changed by `change` or later.
  template <class Visit>
  void for_each_changed_since(std::uint64_t change, Visit visit) const {
    auto at = std::partition_point(changes_.begin(), changes_.end(),
                                   [change](const Change& listed) { return listed.number < change; });
    for (; at != changes_.end(); ++at) {
      if (is_latest(*at)) visit(at->node);
    }
  }

  void add_to(Hasher& hasher) const;
  // The same free capacity on the same nodes; when what changed does not matter.
  bool same_as(const Ledger& other) const;

 private:
  template <class T>
  static std::span<const T> of(const std::vector<T>& gpus, const NodeFree& node) {
    return std::span<const T>(gpus).subspan(node.gpus_begin, node.gpus);
  }
  FreeTotals& totals_of(const NodeFree& node) { return totals_[node.gpus > 0 ? node.flavor : kFlavorsMax]; }
  void add_to_totals(const NodeFree& node, std::int64_t sign);
  void move_host(NodeFree& node, const Move& move, std::int64_t sign);
  void move_rest(const Move& move, std::int64_t sign);
  void move_zones(const NodeFree& node, const Move& move, std::int64_t sign);
  void move_gpus(NodeFree& node, const Move& move, std::int64_t sign);
  void move_slice(const NodeFree& node, const Move& move);
  void settle_mode(NodeFree& node, const Move& move);
  void sum_up(NodeFree& node);
  Device device_of(std::uint32_t at) const;
  void move_part(const NodeFree& node, const Move& move);
  void enter(std::uint32_t device, SharerId sharer);
  void leave(std::uint32_t device, SharerId sharer);
  std::uint32_t device_at(Device device) const {
    return nodes_[device.node.index()].gpus_begin + static_cast<std::uint32_t>(device.gpu);
  }
  bool knows_more_than_first() const { return !others_.empty() || !residues_.empty(); }
  bool suits_others(std::uint32_t device, SharerId sharer) const;
  bool is_clean_for(std::uint32_t device, SharerId sharer) const;
  std::vector<Occupant> occupants(std::uint32_t device) const;
  std::vector<QueueId> residue(std::uint32_t device) const;

  struct Modes {
    Sharing own = Sharing::kExclusive;
    SharingSet others;
  };

  struct Change {
    std::uint64_t number;
    NodeId node;
  };
  bool is_latest(const Change& change) const { return latest_change_[change.node.index()] == change.number; }
  void note_change(NodeId node);

  NodeMatches matches_;
  Neighbourhood neighbourhood_;
  ExclusiveDomains exclusives_;
  std::vector<NodeId> avoided_;
  std::vector<NodeFree> nodes_;
  std::vector<std::int16_t> gpu_milli_;
  std::vector<std::int32_t> gpu_memory_mib_;
  Trust trust_;
  TenantDomains tenants_;
  std::vector<Occupant> first_;                             // by GPU: of those who are there the lowest number
  std::map<std::uint32_t, std::vector<Occupant>> others_;   // by GPU: those beside it, ascending; never empty
  std::map<std::uint32_t, std::vector<QueueId>> residues_;  // by GPU; never empty
  bool scrubs_ = false;
  std::set<Device> broken_;  // they have nothing free
  std::vector<MigPlaceSet> layouts_;
  std::vector<MigPlaceSet> fixed_slices_;  // by node
  std::vector<GpuCut> cuts_;               // by GPU; empty while no node may be cut anew
  struct CutAtOnce {
    std::vector<MigPlaceSet> layouts;
    std::vector<MigPlaceSet> settled;  // by GPU: what is taken outside of any trial

    friend bool operator==(const CutAtOnce&, const CutAtOnce&) = default;
  };
  MigPlaceSet open_at_once(NodeId node, MigPlaceSet layout) const;
  bool holds_all(NodeId node, MigPlaceSet layout) const;
  std::map<NodeId, CutAtOnce> at_once_;
  std::vector<Modes> modes_;  // by node
  std::vector<PodKinds> kinds_;
  std::vector<HostAmounts> rest_;        // by node
  std::vector<ExtraLeft> extra_;         // by node
  std::vector<HostAmounts> has_;         // by node
  std::vector<std::uint32_t> zones_at_;  // by node: where its zones are, if it has a policy
  std::vector<NodeZones> zones_;
  std::vector<GpuLinks> links_;  // by node
  std::array<FreeTotals, kFlavorsMax + 1> totals_{};
  std::vector<Change> changes_;               // by number; of each node the latest, and some of those before it
  std::vector<std::uint64_t> latest_change_;  // per node
  std::uint64_t next_change_ = 0;
};

}  // namespace berth
