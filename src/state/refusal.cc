// What the state refuses to believe. Everything here can be caused from outside (a damaged journal, a wrong trace), so
// nothing here asserts.
#include <algorithm>
#include <array>
#include <functional>
#include <initializer_list>
#include <map>
#include <set>
#include <span>
#include <tuple>
#include <utility>

#include "base/wide.h"
#include "model/gpu_hardware.h"
#include "model/vgpu_profiles.h"
#include "state/reservation_refusals.h"
#include "state/state.h"
#include "state/value_refusals.h"

namespace berth {
namespace {

// Sums of a fleet's amounts; and of the past, which is told in parts of them.
constexpr std::int64_t kFleetAmountMax = std::int64_t{1} << 54;
constexpr std::int64_t kPastUseMax = kFleetAmountMax << kPastFractionBits;

constexpr const char* kTurnedAreNotScrubbed =
    "GPUs that may be cut or not are not scrubbed between; let their nodes be of one mode, or let a scrub take no time";

constexpr const char* kFixedAreNotScrubbed =
    "slices that were cut beforehand are not scrubbed; let them be cut as pods ask, or let a scrub take no time";

FactRefusal refusal_of_nodes(const State& state, const std::vector<Node>& nodes) {
  if (static_cast<std::int64_t>(state.nodes() + nodes.size()) > kNodesMax) return "more than 16,777,216 nodes";
  Wide memory = 0;
  Wide cpu = 0;
  for (std::size_t i = 0; i < state.nodes(); ++i) {
    memory += state.node(NodeId(i)).memory_bytes;
    cpu += state.node(NodeId(i)).cpu_milli;
  }
  for (const Node& node : nodes) {
    memory += node.memory_bytes;
    cpu += node.cpu_milli;
    if (auto refusal = refusal_of_node(node, state.flavors().size())) return refusal;
    if (node.may_be(Sharing::kVgpu) && vgpu_profiles(state.flavors()[node.flavor.index()]).empty())
      return "a node with vGPUs has GPUs of a model that has some";
    if (!node.may_be(Sharing::kMig)) continue;
    const MigGeometry* const mig = node.gpus > 0 ? mig_of(state.flavors()[node.flavor.index()]) : nullptr;
    if (mig == nullptr) return "a node that is cut into slices has GPUs of a model that can be";
    if (!node.fixed_slices.empty() && state.scrub() > Duration{0}) return kFixedAreNotScrubbed;
    if (!node.other_modes.empty() && state.scrub() > Duration{0}) return kTurnedAreNotScrubbed;
    const bool can_be = std::ranges::all_of(node.layouts, [&](MigPlaceSet layout) { return mig->is_layout(layout); });
    if (!can_be || !mig->is_layout(node.fixed_slices)) return "a node's GPUs cannot be cut into these slices together";
  }
  if (cpu > kFleetCpuMilliMax) return "the fleet has more than 8,796,093,022 cores";
  return unless(memory <= kFleetMemoryBytesMax, "the fleet has more than 4 EiB of memory");
}

// A slice is of a shape that each of its flavors can be cut into.
FactRefusal refusal_of_slices(const State& state, const WorkloadShape& shape) {
  for (const PodSets& way : shape.ways) {
    for (const PodSet& set : way) {
      if (!set.request.is_slice()) continue;
      for (std::size_t i = 0; i < state.flavors().size(); ++i) {
        if (!set.request.flavors.contains(FlavorId(i))) continue;
        const auto slice = find_slice(state.flavors()[i], std::size_t{set.request.slice});
        if (!slice) return "a GPU cannot be cut into that slice";
        // More would not fit beside others though there is a place for it.
        if (slice->gpu_milli != set.request.gpu_milli) return "a slice is another part of the GPU's processors";
      }
    }
  }
  return std::nullopt;
}

// A vGPU is of a profile that each of its flavors has.
FactRefusal refusal_of_vgpus(const State& state, const WorkloadShape& shape) {
  for (const PodSets& way : shape.ways) {
    for (const PodSet& set : way) {
      if (!set.request.is_vgpu()) continue;
      for (std::size_t i = 0; i < state.flavors().size(); ++i) {
        if (!set.request.flavors.contains(FlavorId(i))) continue;
        if (!find_vgpu(state.flavors()[i], set.request.gpu_milli)) return "a GPU has no vGPUs of that size";
      }
    }
  }
  return std::nullopt;
}

FactRefusal refusal_of_back_off(const std::optional<BackOff>& backs_off) {
  if (!backs_off) return std::nullopt;
  if (backs_off->why != EvictionRule::kNode && backs_off->why != EvictionRule::kNeverReady)
    return "nobody backs off from the start but for lost nodes, and pods that were never ready";
  if (backs_off->times == 0) return "who backs off was stopped once at least";
  return unless(within(backs_off->until.ms, 0, kTimeMax.ms), "a time is out of bounds");
}

// One more pod of one of the pod sets of a workload that is there or may come.
FactRefusal refusal_of_step(const State& state, const WorkloadSubmitted& fact) {
  if (!fact.at_home_with.is_none()) {
    const Workload* const other = state.workloads().find(fact.at_home_with);
    const bool has_ended = other == nullptr || other->phase == Phase::kEnded || other->phase == Phase::kCancelled;
    if (has_ended) return "who is at home with another is so with one that has not ended";
  }
  if (fact.step_of.is_none()) return std::nullopt;
  const Workload* const minimum = state.workloads().find(fact.step_of);
  const bool is_over = minimum == nullptr || minimum->phase == Phase::kEnded || minimum->phase == Phase::kCancelled;
  if (is_over || !minimum->step_of.is_none()) return "a step is of a workload that has not ended";
  if (fact.queue != minimum->queue) return "a step is in its workload's queue";
  const bool waits =
      fact.not_before > Time{} || !fact.after.empty() || !fact.series.is_none() || fact.max_wait || fact.backs_off;
  if (waits) return "a step waits for its workload alone";
  const auto& ways = state.shape(minimum->shape).ways;
  const auto is_one_of = [&](const PodSets& own, const std::vector<NumberedPodSet>& way) {
    if (own.size() != 1 || own.front().count != 1 || own.front().parallel.is_declared()) return false;
    const PodRequest& asks = own.front().request;
    return std::ranges::any_of(way, [&](const NumberedPodSet& set) {
      const PodRequest& other = state.request(set.request);
      return asks.gpus == other.gpus && asks.gpu_milli == other.gpu_milli && asks.sharing == other.sharing &&
             asks.cpu_milli == other.cpu_milli && asks.memory_bytes == other.memory_bytes &&
             asks.in_extra == other.in_extra;
    });
  };
  bool fits = fact.shape.ways.size() == ways.size();
  for (std::size_t way = 0; fits && way < ways.size(); ++way) fits = is_one_of(fact.shape.ways[way], ways[way]);
  return unless(fits, "a step is one pod more of one of its workload's pod sets");
}

FactRefusal refusal_of_typical(const std::vector<TypicalPod>& pods, std::size_t flavors) {
  if (pods.size() > kTypicalPodsMax) return "more than 4,096 typical pods";
  std::int64_t weight = 0;
  for (const TypicalPod& pod : pods) {
    const PodRequest request{
        .cpu_milli = pod.cpu_milli, .gpus = pod.gpus, .gpu_milli = pod.gpu_milli, .flavors = pod.flavors};
    if (!is_valid(request, flavors)) return "a typical pod's request is out of bounds";
    if (!within(pod.weight, 1, kTypicalWeightMax)) return "a typical pod's weight is out of bounds";
    weight += pod.weight;
  }
  return unless(weight <= kTypicalWeightMax, "the typical pods' weights add up to more than 1,000,000,000");
}

FactRefusal refusal_of_amounts(const AmountList& amounts, const std::vector<Flavor>& flavors,
                               std::int64_t most = kAmountMax) {
  for (std::size_t i = 0; i < amounts.size(); ++i) {
    const Dim dim = amounts[i].dim;
    const bool is_known =
        dim.is_of_slices() ? dim.flavor().index() < flavors.size() : dim.index() < Dim::count(flavors.size());
    if (!is_known) return "a quota names a flavor that there is not";
    if (dim.is_of_slices() && !find_slice(flavors[dim.flavor().index()], dim.shape())) {
      return "a quota names slices that GPUs of the flavor cannot be cut into";
    }
    if (!within(amounts[i].amount, 0, most)) return "a quota's amount is out of bounds";
    if (i > 0 && amounts[i].dim <= amounts[i - 1].dim) return "a quota names each amount once, in order";
  }
  return std::nullopt;
}

FactRefusal refusal_of_cells(const Quota& quota, std::size_t flavors) {
  if (quota.cells.size() > kCellsMax) return "a floor comes in at most 64 kinds of whole domains";
  const auto is_of_one_kind = [](const FloorCells& a, const FloorCells& b) {
    return std::tie(a.flavor, a.level) >= std::tie(b.flavor, b.level);
  };
  if (std::ranges::adjacent_find(quota.cells, is_of_one_kind) != quota.cells.end()) {
    return "a floor comes in whole domains of each flavor and level once, in order";
  }
  for (const FloorCells& each : quota.cells) {
    if (each.flavor.index() >= flavors) return "a floor comes in whole domains of a flavor that there is not";
    if (each.level.empty()) return "a floor comes in whole domains of a level that is none";
    if (!within(each.count, 1, kCellCountMax)) return "a floor comes in 1 to 1,000,000 whole domains";
    const Dim gpus(each.flavor, Resource::kGpu);
    const auto of_it = std::ranges::find(quota.guarantee, gpus, &Amount::dim);
    if (of_it == quota.guarantee.end() || of_it->amount == 0) {
      return "a floor comes in whole domains of a flavor of which nothing is guaranteed";
    }
  }
  return std::nullopt;
}

// How much of what is free is room for a profile nobody can tell from amounts, so nothing of it can be kept by them.
FactRefusal refusal_of_lending(const AmountList& lending_limit) {
  return unless(!has_slices(lending_limit),
                "a queue keeps no slices to itself; its floor by their profile is lent whole");
}

FactRefusal refusal_of_quota(const Quota& quota, const std::vector<Flavor>& flavors) {
  for (const AmountList* const amounts : quota.amounts()) {
    if (auto refusal = refusal_of_amounts(*amounts, flavors)) return refusal;
  }
  const auto is_time = [](Duration duration) { return within(duration.ms, 0, kTimeMax.ms); };
  const bool half_life = quota.half_life.ms == 0 || within(quota.half_life.ms, kHalfLifeMin.ms, kHalfLifeMax.ms);
  const bool times = is_time(quota.reclaim_within) && is_time(quota.patience) && is_time(quota.min_runtime) &&
                     is_time(quota.cooldown) && is_time(quota.idle_after);
  return first_of(
      [&] { return unless(within(quota.weight_milli, 1, kWeightMilliMax), "a queue's weight is 0.001 to 1,000"); },
      [&] { return unless(times, "a queue's time is out of bounds"); },
      [&] { return unless(half_life, "a half-life is none, or one minute to ten years"); },
      [&] {
        const auto& labels = quota.dedicated;
        const bool in_order = std::ranges::adjacent_find(labels, std::ranges::greater_equal()) == labels.end();
        return unless(labels.size() <= kDedicatedMax && in_order,
                      "a queue has nodes of its own by at most 64 labels, in order, each once");
      },
      [&] { return refusal_of_cells(quota, flavors.size()); }, [&] { return refusal_of_lending(quota.lending_limit); },
      [&] {
        return unless(quota.loans_percent == 0 || within(quota.loans_percent, 50, 99),
                      "a loan is given if 50 to 99 of a hundred have ended by then");
      },
      [&] {
        return unless(within(quota.extend.ms, 1, kTimeMax.ms) && within(quota.extensions, 1, kExtensionsMax),
                      "a limit is extended by more than nothing, and 1 to 1,000 times");
      },
      [&] {
        return unless(!quota.budget_gpu_us || within(*quota.budget_gpu_us, 0, kGpuTimeMax),
                      "a budget is 0 to 1,000,000,000 GPU-hours");
      });
}

// Each has a tree of its own.
constexpr std::size_t kDifferentHoursMax = 256;

FactRefusal refusal_of_openings(const std::vector<Interval>& open) {
  if (open.size() > kOpeningsMax) return "a window opens at most 10,000 times";
  for (std::size_t i = 0; i < open.size(); ++i) {
    const bool in_bounds =
        within(open[i].from.ms, -kTimeMax.ms, kTimeMax.ms) && within(open[i].to.ms, -kTimeMax.ms, kTimeMax.ms);
    if (!in_bounds || open[i].from >= open[i].to) return "a window closes after it has opened";
    if (i > 0 && open[i].from < open[i - 1].to) return "a window has closed before it opens again";
  }
  return std::nullopt;
}

// How many sets of windows are open together at some time, as far as is known.
std::size_t different_hours(std::vector<Window> windows, const WindowChanged& change, Time now) {
  if (change.number == windows.size()) windows.emplace_back();
  windows[change.number] = change.window;
  return 1 + first_of_each(turns_after(windows, now), open_at(windows, now)).size();
}

FactRefusal refusal_of_window(const State& state, const WindowChanged& change) {
  const Window& window = change.window;
  if (change.number > state.windows().size()) return "the windows have no gap in their numbers";
  if (change.number >= kWindowsMax) return "more than 64 windows";
  const bool are_hours = window.queue.is_none();
  if (change.number < state.windows().size() && state.windows()[change.number].queue.is_none() != are_hours) {
    return "hours of work stay hours, and a queue's window is of a queue";
  }
  if (!are_hours && window.queue.index() >= state.queues().size()) return "there is no such queue";
  if (!are_hours && !state.queues()[window.queue.index()].order) return "a queue with quotas needs an order";
  if (are_hours && window != Window{.queue = {}, .open = window.open, .known_until = window.known_until}) {
    return "hours of work change nothing of a queue";
  }
  Quota changes;
  window.change(changes);
  for (const Amount& each : window.borrowing_limit) {
    if (each.dim == kGpusOfAllFlavors) return "what a queue may borrow changes by the hour for each flavor by itself";
  }
  for (const AmountList* const amounts :
       {&window.guarantee, &window.limit, &window.borrowing_limit, &window.lending_limit}) {
    if (auto refusal = refusal_of_amounts(*amounts, state.flavors())) return refusal;
  }
  return first_of([&] { return refusal_of_quota(changes, state.flavors()); },
                  [&] { return refusal_of_openings(window.open); },
                  [&] { return unless(within(window.known_until.ms, 0, 2 * kTimeMax.ms), "a time is out of bounds"); },
                  [&] {
                    return unless(different_hours(state.windows(), change, state.clock()) <= kDifferentHoursMax,
                                  "the windows make more than 256 different hours; let more of them open and close "
                                  "together");
                  });
}

FactRefusal refusal_of_queue(const Queue& queue, std::size_t queues, const std::vector<Flavor>& flavors) {
  return first_of(
      [&] { return unless(queue.parent.is_none() || queue.parent.index() < queues, "a queue's parent is not known"); },
      [&] { return unless(!queue.parent.is_none() || queue.order.has_value(), "a queue at the top needs an order"); },
      [&] {
        const bool plain = !queue.quota.has_amounts() && !queue.quota.looks_at_users();
        return unless(queue.order.has_value() || plain, "a queue with quotas needs an order");
      },
      [&] { return refusal_of_quota(queue.quota, flavors); });
}

FactRefusal refusal_of_change(const QueueChanged& change, const std::vector<Queue>& queues,
                              const std::vector<Flavor>& flavors) {
  if (change.queue.index() >= queues.size()) return "there is no such queue";
  const Queue& before = queues[change.queue.index()];
  return first_of(
      [&] {
        return unless(change.now.name == before.name && change.now.parent == before.parent,
                      "a queue keeps its name and its parent");
      },
      [&] {
        return unless(change.now.order.has_value() == before.order.has_value(),
                      "whether a queue has a line of its own does not change");
      },
      [&] { return refusal_of_queue(change.now, queues.size(), flavors); });
}

// Whether the devices and amounts that found pods hold are still free on their nodes, which may be closed.
class FoundPlaces {
 public:
  // `user` is whose they are; none: of somebody who was never there.
  FoundPlaces(const Ledger& ledger, UserId user) : ledger_(ledger), user_(user) {}

  // Those before it have their places.
  FactRefusal refusal_of_next(const PodRequest& request, const PodPlacement& place) {
    if (place.node.index() >= ledger_.nodes()) return "there is no such node";
    const NodeFree& free = ledger_.node(place.node);
    if (place.gpus.size() != request.gpus) return "a found pod names as many GPUs as it asks";
    if (request.gpus > 0 && !free.has_flavor_of(request.flavors)) return "its node's GPUs are of another type";
    const auto [at_node, is_first] = taken_.try_emplace(place.node);
    Taken& taken = at_node->second;
    if (is_first) {
      taken.left = {free.cpu_milli, free.memory_bytes};
      taken.extra = ledger_.extra(place.node).all;
    }
    if (request.gpus > 0) {
      const bool alike = !taken.mode || *taken.mode == request.sharing;
      if (!alike || !free.suits(request.sharing)) return "its node's GPUs are shared in another way";
      taken.mode = request.sharing;
    }
    move_amounts(taken.left, taken.extra, request, -1);
    ++taken.pods;
    bool gpus_free = true;
    bool welcome = true;
    bool alike = true;
    place.gpus.for_each([&](int gpu) {
      const auto at = static_cast<std::size_t>(gpu);
      taken.gpu_milli[at] += free.milli_of(request);
      taken.gpu_memory_mib[at] += gpu_memory_taken(request, free.gpu_memory_mib);
      gpus_free = gpus_free && gpu < free.gpus && ledger_.gpu_milli(place.node)[at] >= taken.gpu_milli[at] &&
                  ledger_.gpu_memory_mib(place.node)[at] >= taken.gpu_memory_mib[at];
      if (gpus_free && request.is_slice()) gpus_free = cuts(place, ledger_.layouts(place.node)[at], taken, request, at);
      welcome = welcome && (!gpus_free || !request.is_mps() || serves(place.node, at));
      alike = alike && (!gpus_free || !request.is_vgpu() || are_of_its_profile(place.node, at, taken, request));
    });
    return first_of([&] { return unless(gpus_free, "its GPUs are not free on that node"); },
                    [&] { return unless(welcome, "a server of MPS serves another user on its GPU"); },
                    [&] { return unless(alike, "its GPU has vGPUs of another profile"); },
                    [&] { return unless(taken.left.cpu_milli >= 0, "its node has too little free CPU"); },
                    [&] { return unless(taken.left.memory_bytes >= 0, "its node has too little free memory"); },
                    [&] { return unless(free.pods >= taken.pods, "its node has too many pods"); });
  }

 private:
  struct Taken {
    HostAmounts left, extra;
    std::int64_t pods = 0;
    std::optional<Sharing> mode;  // of its GPUs
    std::array<std::int64_t, kGpusPerNodeMax> gpu_milli{}, gpu_memory_mib{};
    std::array<MigPlaceSet, kGpusPerNodeMax> places{};
    std::array<std::int32_t, kGpusPerNodeMax> vgpu_milli{};
  };

  // Whether the server that is there, if one is, is the user's. Who trusts whom is not asked: they are there already.
  bool serves(NodeId node, std::size_t gpu) const {
    return std::ranges::all_of(ledger_.occupants(node, gpu),
                               [&](const Occupant& each) { return ledger_.trust()[each.sharer].user == user_; });
  }

  // Whether all vGPUs that are there, and those before it, are as large as this one.
  bool are_of_its_profile(NodeId node, std::size_t gpu, Taken& taken, const PodRequest& request) const {
    const std::int32_t before = std::exchange(taken.vgpu_milli[gpu], request.gpu_milli);
    if (before != 0 && before != request.gpu_milli) return false;
    return std::ranges::all_of(ledger_.occupants(node, gpu), [&](const Occupant& each) {
      return ledger_.trust()[each.sharer].vgpu_milli == request.gpu_milli;
    });
  }

  // Whether the slice can be cut there, or is there, beside those that are taken, and those before it.
  bool cuts(const PodPlacement& place, MigPlaceSet layout, Taken& taken, const PodRequest& request,
            std::size_t gpu) const {
    const MigGeometry& mig = ledger_.node(place.node).geometry();
    const auto found = mig.find_place(request.slice, place.slice_start);
    const MigPlaceSet before = layout.united_with(taken.places[gpu]);
    const GpuCut* const cut = ledger_.cut_of(place.node, gpu);
    // What is not there, or not yet, nobody is on.
    if (found && cut != nullptr && !cut->has(*found)) return false;
    if (!found || !mig.open_beside(before, ledger_.fixed_slices(place.node)).contains(*found)) return false;
    taken.places[gpu] = taken.places[gpu].with(*found);
    return true;
  }

  const Ledger& ledger_;
  UserId user_;
  std::map<NodeId, Taken> taken_;
};

// What is lost takes nothing anywhere, and counts as what such a node has.
FactRefusal refusal_of_lost(const State& state, const PodRequest& request, const PodPlacement& place) {
  if (place.node.index() >= state.nodes()) return "there is no such node";
  if (!place.gpus.empty()) return "who is lost has no GPUs";
  const bool suits = request.gpus == 0 || state.ledger().node(place.node).has_flavor_of(request.flavors);
  return unless(suits, "its node's GPUs are of another type");
}

FactRefusal refusal_of_found(const State& state, const WorkloadFound& fact) {
  const auto& ways = fact.workload.shape.ways;
  if (ways.size() != 1) return "a found workload runs in one way";
  const bool has_shares = std::ranges::any_of(ways[0], [](const PodSet& set) { return set.request.is_mps(); });
  FoundPlaces places(state.ledger(), has_shares ? state.find_user(fact.workload.user) : UserId());
  std::span<const std::uint32_t> lost = fact.lost;
  std::size_t at = 0;
  for (const PodSet& set : ways[0]) {
    for (std::int64_t i = 0; i < set.count; ++i, ++at) {
      if (at == fact.pods.size()) return "a found workload has a place for each of its pods";
      if (!lost.empty() && lost.front() == at) {
        lost = lost.subspan(1);
        if (auto refusal = refusal_of_lost(state, set.request, fact.pods[at])) return refusal;
        continue;
      }
      if (auto refusal = places.refusal_of_next(set.request, fact.pods[at])) return refusal;
    }
  }
  return unless(at == fact.pods.size(), "a found workload has a place for each of its pods");
}

// Ascending, so that what is left at the end is of no pod.
FactRefusal refusal_of_repair(const State& state, const WorkloadFound& fact) {
  if (fact.lost.empty()) return unless(fact.repair_until == Time{}, "who lacks nobody is not repaired");
  const bool in_order = std::ranges::adjacent_find(fact.lost, std::greater_equal()) == fact.lost.end();
  if (!in_order || fact.lost.back() >= fact.pods.size()) return "of a found workload each pod is lost once, in order";
  if (fact.lost.size() >= fact.pods.size()) return "of a found workload some pods are there";
  return unless(within(fact.repair_until.ms, state.clock().ms, kTimeMax.ms), "a repair ends later");
}

FactRefusal refusal_of_time(Time at) { return unless(within(at.ms, 0, kTimeMax.ms), "a time is out of bounds"); }

// Whose work is on which device is told by its tenant, so who has work there does not become another tenant.
FactRefusal refusal_of_trust(const State& state, const TrustChanged& fact) {
  if (fact.circles.size() > kCirclesMax)
    return "more than 64 circles of trust; put those together that trust each other";
  std::set<std::string> levels;
  for (const auto& [queues, apart] : fact.circles) {
    const bool of_all = queues.empty() && apart != Apart();
    if ((queues.empty() && !of_all) || !std::ranges::is_sorted(queues, std::less_equal{}))
      return "a circle names each of its queues once";
    if (!of_all && queues.back().index() >= state.queues().size()) return "there is no such queue";
    levels.insert(apart.begin(), apart.end());
  }
  for (const std::string& level : {std::string(), std::string(kNodeLevel)}) levels.erase(level);
  const bool knows = fact.beyond_devices || state.ledger().trust().looks_beyond_devices();
  if (levels.size() >= kApartLevelsMax) return "strangers are kept out of the domains of at most 31 labels";
  if (!knows && std::ranges::any_of(fact.circles, &Circle::keeps_apart))
    return "whose work is on which GPUs is not known here";
  if (fact.beyond_devices && !state.ledger().trust().looks_beyond_devices() &&
      state.workloads().next_id() != WorkloadId(0))
    return "whose work is on which GPUs is to be known before anybody is there";
  if (auto refusal = refusal_of_time(fact.part_by); refusal && fact.part_by != kForever) return refusal;
  for (const Circle& circle : fact.circles) {
    for (const QueueId queue : circle.queues) {
      if (state.tenant_of(queue) != queue && state.has_work(queue)) {
        return "queue " + state.queues()[queue.index()].name +
               " has work already that is its tenant's above it; name it in a circle before";
      }
    }
  }
  return std::nullopt;
}

bool is_slice_of(const State& state, FlavorId flavor, std::size_t shape) {
  if (flavor.is_none() || flavor.index() >= state.flavors().size()) return false;
  const MigGeometry* const mig = mig_of(state.flavors()[flavor.index()]);
  return mig != nullptr && shape < mig->shapes().size();
}

// Whether they still hold is for the cycle to say; that they are moves of somebody to somewhere is said here.
FactRefusal refusal_of_moves(const State& state, const DefragmentationAsked& fact) {
  if (!within(fact.gpus, 1, kGpusPerNodeMax)) return "room is made for pods of 1 to so many GPUs as a node may have";
  if (!within(fact.horizon.ms, 1, kTimeMax.ms)) return "a time is out of bounds";
  if (fact.slice == kNoSlice ? !fact.flavor.is_none() : fact.gpus != 1 || !is_slice_of(state, fact.flavor, fact.slice))
    return "a slice is one, of a shape that GPUs of its flavor can be cut into";
  std::set<WorkloadId> moved;
  for (const MoveAsked& move : fact.moves) {
    if (move.workload.is_none() || move.workload >= state.workloads().next_id()) return "there is no such workload";
    if (!moved.insert(move.workload).second) return "nobody is moved twice at a time";
    for (const PodPlacement& place : move.to) {
      if (place.node.is_none() || place.node.index() >= state.nodes()) return "there is no such node";
      const std::int32_t gpus = state.node(place.node).gpus;
      if (gpus < kGpusPerNodeMax && (place.gpus.bits() >> gpus) != 0) return "its node has no such GPU";
    }
  }
  return std::nullopt;
}

FactRefusal refusal_of_scrubbed(const State& state, const DeviceScrubbed& fact) {
  if (fact.node.index() >= state.nodes()) return "there is no such node";
  const Device device{fact.node, fact.gpu};
  const NodeFree& node = state.ledger().node(fact.node);
  return first_of([&] { return unless(within(fact.gpu, 0, node.gpus - 1), "its node has no such GPU"); },
                  [&] {
                    return unless(!state.ledger().may_be(fact.node, Sharing::kMig),
                                  "slices are not scrubbed: they are made anew");
                  },
                  [&] { return unless(!state.ledger().is_broken(device), "the device is quarantined"); },
                  [&] { return unless(!state.is_occupied(device), "somebody is on the device"); });
}

FactRefusal refusal_of_recut(const State& state, const SlicesRecut& fact) {
  if (fact.node.index() >= state.nodes()) return "there is no such node";
  const Device device{fact.node, fact.gpu};
  const std::vector<Device> ready = state.to_recut();
  return first_of(
      [&] { return unless(within(fact.gpu, 0, state.node(fact.node).gpus - 1), "its node has no such GPU"); },
      [&] { return unless(state.being_cut().contains(device), "the GPU is not being cut anew"); },
      [&] {
        return unless(std::ranges::find(ready, device) != ready.end(),
                      "its node is closed, or somebody is still on a slice that goes");
      });
}

FactRefusal refusal_of_found_cut(const State& state, const CutFound& fact) {
  if (fact.node.index() >= state.nodes()) return "there is no such node";
  if (!state.ledger().is_cut_at_once(fact.node))
    return "only of nodes whose GPUs are cut at once it is told how they are cut";
  const MigGeometry& mig = state.ledger().node(fact.node).geometry();
  if (fact.slices.empty() || !mig.is_layout(fact.slices))
    return "a node's GPUs cannot be cut into these slices together";
  if (!within(fact.rests_until.ms, 0, kTimeMax.ms)) return "a time is out of bounds";
  for (const Pod& pod : state.pods()) {
    if (pod.workload.is_none() || pod.node != fact.node || pod.gpus.empty() || pod.comes) continue;
    if (state.workload(pod.workload).phase != Phase::kRunning) continue;
    if (fact.is_coming) return "somebody is there";
    const auto place = mig.find_place(state.request(pod.request).slice, pod.slice_start);
    if (!place || !fact.slices.contains(*place)) return "somebody has a slice that is not among these";
  }
  return std::nullopt;
}

constexpr std::size_t kDependenciesMax = 1'000;

// How somebody ended who is not recorded any more is not known.
FactRefusal refusal_of_dependencies(const WorkloadTable& workloads, const std::vector<Dependency>& after) {
  if (after.size() > kDependenciesMax) return "a workload starts after 1,000 others at most";
  for (const Dependency& each : after) {
    if (each.on.is_none() || each.on >= workloads.next_id()) return "a workload starts after others that are there";
    if (static_cast<std::size_t>(each.what) >= kDependsOnCount) return "a workload waits for what there is not";
    if (each.what == DependsOn::kDone && workloads.find(each.on) == nullptr) {
      return "what it is to start after ended so long ago that nobody knows how";
    }
  }
  return std::nullopt;
}

FactRefusal refusal_of_max_wait(const WorkloadSubmitted& fact) {
  if (!fact.max_wait) return std::nullopt;
  const MaxWait& wait = *fact.max_wait;
  const bool raises = wait.then == AfterWait::kRaise;
  return first_of([&] { return unless(within(wait.length.ms, 1, kTimeMax.ms), "a time is out of bounds"); },
                  [&] {
                    return unless(static_cast<std::size_t>(wait.then) < std::size(kAfterWaitNames),
                                  "nobody knows what is to be done after a wait");
                  },
                  [&] {
                    return unless(raises ? within(wait.raise, 1, kPriorityMax) : wait.raise == 0,
                                  "who waits too long is raised by 1 to 1,000,000,000, or not");
                  },
                  [&] {
                    return unless(wait.then != AfterWait::kBestEffort || !fact.shape.terms.guaranteed_only,
                                  "who insists on a floor does not go on as best effort");
                  });
}

FactRefusal refusal_of_policy(const WorkloadTable& workloads, const State& state, const WorkloadSubmitted& fact) {
  if (!fact.on_failure) return std::nullopt;
  const FailurePolicy& policy = *fact.on_failure;
  const auto is_action = [](MemberAction action) {
    return static_cast<std::size_t>(action) < std::size(kMemberActionNames);
  };
  const auto is_sound = [&](const MemberPolicy& set) {
    std::int32_t before = 0;
    bool sound = is_action(set.on_fail) && is_action(set.on_evict);
    for (const ExitRule& rule : set.on_exit) {
      sound = sound && rule.code > before && rule.code <= kExitCodeMax && is_action(rule.then);
      before = rule.code;
    }
    return sound;
  };
  return first_of(
      [&] {
        const bool of_each = !fact.shape.ways.empty() && policy.sets.size() == fact.shape.ways.front().size();
        return unless(of_each && std::ranges::all_of(policy.sets, is_sound),
                      "of each pod set it is known what follows, of exit codes from 1 to 255 in order");
      },
      [&] {
        return unless(!policy.retries || within(*policy.retries, 0, kRetriesMax),
                      "a workload is tried again 1,000 times at most");
      },
      [&] {
        const bool in_bounds = within(policy.retry_after.ms, 0, kTimeMax.ms) &&
                               (!policy.never_ready || within(policy.never_ready->ms, 1, kTimeMax.ms));
        return unless(in_bounds, "a time is out of bounds");
      },
      [&] {
        const bool is_step = !fact.step_of.is_none() && workloads.find(fact.step_of) != nullptr;
        return unless(!is_step || state.failure_policy_of(fact.step_of) != nullptr,
                      "what follows when a step fails is of a workload of which that is known");
      });
}

FactRefusal refusal_of_extension(const State& state, const LimitExtended& fact) {
  const Workload& workload = state.workload(fact.workload);
  const Quota& quota = state.queues()[workload.queue.index()].quota;
  return first_of(
      [&] {
        return unless(state.shape(workload.shape).terms.run_limit.has_value(),
                      "what has no run limit does not run beyond it");
      },
      [&] {
        const bool extends = quota.over_run == OverRun::kExtend && workload.extensions < quota.extensions;
        return unless(extends && within(fact.by.ms, 1, quota.extend.ms), "its queue does not extend its limit by that");
      },
      [&] {
        const Time end = state.end_of(fact.workload, workload.started);
        return unless(end <= state.clock() && end.ms <= kTimeMax.ms, "a limit is extended when it is reached");
      },
      [&] {
        return unless(!state.quotas().budgets().is_charged(fact.workload), "the hours for that were not reserved");
      });
}

// Its hours are a window that is known, and is nothing else.
FactRefusal refusal_of_hours(const State& state, const Terms& terms) {
  if (!terms.hours) return std::nullopt;
  const bool known = *terms.hours < state.windows().size();
  return unless(known && state.windows()[*terms.hours].queue.is_none(), "there are no such hours");
}

FactRefusal refusal_of_grant(const State& state, const GrantAdded& grant) {
  return first_of(
      [&] { return unless(grant.queue.index() < state.queues().size(), "there is no such queue"); },
      [&] {
        return unless(state.quotas().budgets().has_budget(grant.queue),
                      "a grant goes beside a budget, and there is none");
      },
      [&] { return unless(within(grant.gpu_us, 1, kGpuTimeMax), "a grant is up to 1,000,000,000 GPU-hours"); },
      [&] { return refusal_of_time(grant.until); });
}

FactRefusal refusal_of_used(const State& state, const GpuTimeUsed& used) {
  return first_of([&] { return unless(used.queue.index() < state.queues().size(), "there is no such queue"); },
                  [&] {
                    const BudgetLedger& budgets = state.quotas().budgets();
                    return unless(budgets.has_budget(used.queue) && used.pot < budgets.pots(used.queue),
                                  "GPU time is used of a budget or a grant, and there is none");
                  },
                  [&] { return unless(within(used.gpu_us, -kGpuTimeMax, kGpuTimeMax), "GPU time is out of bounds"); });
}

// Slices are parts of GPUs to shares.
FactRefusal refusal_of_past_amounts(const AmountList& amounts, const std::vector<Flavor>& flavors, std::int64_t most) {
  if (has_slices(amounts)) return "what was used is of GPUs, CPUs and memory";
  return refusal_of_amounts(amounts, flavors, most);
}

FactRefusal refusal_of_past(const State& state, const PastUseFound& past) {
  return first_of([&] { return unless(past.queue.index() < state.queues().size(), "there is no such queue"); },
                  [&] { return unless(within(past.at.ms, 0, state.clock().ms), "what was used is past"); },
                  [&] { return refusal_of_past_amounts(past.average, state.flavors(), kFleetAmountMax); });
}

FactRefusal refusal_of_kept(const State& state, const PastUseKept& past) {
  const std::vector<Flavor>& flavors = state.flavors();
  return first_of([&] { return unless(past.queue.index() < state.queues().size(), "there is no such queue"); },
                  [&] {
                    const bool is_past = within(past.at.ms, 0, state.clock().ms);
                    return unless(is_past && within(past.begun.ms, 0, past.at.ms), "what was used is past");
                  },
                  [&] { return refusal_of_past_amounts(past.average, flavors, kPastUseMax); },
                  [&] { return refusal_of_past_amounts(past.in_step, flavors, kPastUseMax); });
}

FactRefusal refusal_of_counted(const State& state, const GpuTimeCounted& counted) {
  return first_of([&] { return unless(counted.queue.index() < state.queues().size(), "there is no such queue"); },
                  [&] {
                    return unless(state.quotas().budgets().has_budget(counted.queue),
                                  "nothing is counted where there is no budget");
                  },
                  [&] { return unless(within(counted.until.ms, 0, state.clock().ms), "what was used is past"); });
}

FactRefusal refusal_of_missed(const State& state, const GpuTimeMissed& missed) {
  return first_of([&] { return unless(missed.queue.index() < state.queues().size(), "there is no such queue"); },
                  [&] { return unless(within(missed.gpu_milli, 0, kAmountMax), "GPUs are out of bounds"); },
                  [&] {
                    const bool past = within(missed.until.ms, 0, state.clock().ms);
                    return unless(past && within(missed.from.ms, 0, missed.until.ms), "what was used is past");
                  });
}

FactRefusal refusal_of_floor_use(const State& state, const FloorUseFound& found) {
  const std::size_t dims = state.quotas().tree().dims();
  const auto refusal_of_held = [&]() -> FactRefusal {
    const FloorUse* before = nullptr;
    for (const FloorUse& each : found.held) {
      const std::size_t known = each.dim.is_of_slices() ? dims : Dim::count(state.flavors().size());
      if (each.dim.index() >= known) return "a floor names a flavor that there is not";
      if (!within(each.amount, 1, kFleetAmountMax)) return "what was held is out of bounds";
      if (!within(each.until.ms, 0, state.clock().ms)) return "what was held is past";
      const bool first = before == nullptr || before->dim < each.dim;
      const bool falls =
          !first && before->dim == each.dim && before->until < each.until && before->amount > each.amount;
      if (!first && !falls) return "of what was held the later is the smaller";
      before = &each;
    }
    return std::nullopt;
  };
  return first_of([&] { return unless(found.queue.index() < state.queues().size(), "there is no such queue"); },
                  [&] { return refusal_of_amounts(found.floor, state.flavors(), kFleetAmountMax); },
                  [&] {
                    return unless(!has_slices(found.floor) || found.floor.back().dim.index() < dims,
                                  "a floor names slices of a profile that no queue names");
                  },
                  refusal_of_held);
}

constexpr std::initializer_list<Phase> kAlive = {Phase::kPending, Phase::kStarting, Phase::kRunning, Phase::kStopping,
                                                 Phase::kMigrating};

FactRefusal refusal_of_clock(Time told, Time now) {
  return first_of([&] { return refusal_of_time(told); },
                  [&] { return unless(told >= now, "time does not go backwards"); });
}

}  // namespace

std::optional<std::string> State::refusal(const Event& event) const {
  const bool configured = revision_ > 0;
  if (configured == std::holds_alternative<RunConfigured>(event)) {
    return configured ? "a run is configured once" : "a run begins with its configuration";
  }
  const auto known_node = [&](NodeId node) { return unless(node.index() < nodes(), "there is no such node"); };
  const auto in_phase = [&](WorkloadId id, std::initializer_list<Phase> phases) {
    const Workload* const workload = workloads_.find(id);
    const bool ok = workload != nullptr && std::find(phases.begin(), phases.end(), workload->phase) != phases.end();
    return unless(ok, "there is no such workload in that phase");
  };
  struct Visitor {
    // What becomes of a workload becomes of its steps.
    FactRefusal no_step(WorkloadId id) const {
      return unless(state.workload(id).step_of.is_none(), "a step is no workload by itself");
    }

    const State& state;
    const decltype(known_node)& node_known;
    const decltype(in_phase)& workload_in_phase;

    FactRefusal operator()(const RunConfigured& fact) const {
      return unless(static_cast<std::size_t>(fact.policy) < std::size(kPlacementPolicyNames), "unknown policy");
    }
    FactRefusal operator()(const FlavorAdded& fact) const {
      return unless(state.flavors().size() < kFlavorsMax && within(fact.flavor.memory_mib, 0, kGpuMemoryMibMax) &&
                        within(fact.flavor.weight, 1, kFlavorWeightMax),
                    "at most 64 flavors, each with a sensible memory and a weight of 1 to 1,000");
    }
    FactRefusal operator()(const TypicalPodsChosen& fact) const {
      return refusal_of_typical(fact.pods, state.flavors().size());
    }
    FactRefusal operator()(const QueueAdded& fact) const {
      return refusal_of_queue(fact.queue, state.queues().size(), state.flavors());
    }
    FactRefusal operator()(const NodesAdded& fact) const { return refusal_of_nodes(state, fact.nodes); }
    FactRefusal operator()(const NodeFailed& fact) const { return node_known(fact.node); }
    FactRefusal operator()(const NodeDrained& fact) const { return node_known(fact.node); }
    FactRefusal operator()(const NodeFailureFound& fact) const {
      return first_of([&] { return node_known(fact.node); }, [&] { return refusal_of_time(fact.at); });
    }
    FactRefusal operator()(const NodeRestored& fact) const { return node_known(fact.node); }
    FactRefusal operator()(const NodeRelabelled& fact) const {
      return first_of([&] { return node_known(fact.node); },
                      [&] { return refusal_of_labels(fact.labels, fact.taints); });
    }
    FactRefusal operator()(const NodeImagesChanged& fact) const {
      return first_of([&] { return node_known(fact.node); }, [&] { return refusal_of_images(fact.images); });
    }
    FactRefusal operator()(const WorkloadSubmitted& fact) const {
      return first_of(
          [&] { return unless(fact.queue.index() < state.queues().size(), "there is no such queue"); },
          [&] { return refusal_of_time(fact.at); },
          [&] {
            return fact.declared_run == kRunNotDeclared ? FactRefusal() : refusal_of_time(Time{fact.declared_run.ms});
          },
          [&] { return refusal_of_time(fact.not_before); }, [&] { return refusal_of_back_off(fact.backs_off); },
          [&] { return refusal_of_dependencies(state.workloads(), fact.after); },
          [&] { return unless(fact.at_most >= 1, "of a series one has a turn at least"); },
          [&] { return refusal_of_max_wait(fact); }, [&] { return refusal_of_hours(state, fact.shape.terms); },
          [&] { return refusal_of_shape(fact.shape, state.flavors().size()); },
          [&] { return refusal_of_slices(state, fact.shape); }, [&] { return refusal_of_vgpus(state, fact.shape); },
          [&] { return refusal_of_step(state, fact); },
          [&] { return refusal_of_policy(state.workloads(), state, fact); });
    }
    FactRefusal operator()(const WorkloadEnded& fact) const {
      return first_of(
          [&] { return workload_in_phase(fact.workload, {Phase::kRunning, Phase::kStopping, Phase::kMigrating}); },
          [&] { return no_step(fact.workload); });
    }
    FactRefusal operator()(const WorkloadCancelled& fact) const {
      return first_of([&] { return workload_in_phase(fact.workload, kAlive); }, [&] { return no_step(fact.workload); });
    }
    FactRefusal operator()(const WorkloadStopped& fact) const {
      return workload_in_phase(fact.workload, {Phase::kStopping, Phase::kMigrating});
    }
    FactRefusal operator()(const WindowChanged& fact) const { return refusal_of_window(state, fact); }
    FactRefusal operator()(const GrantAdded& fact) const { return refusal_of_grant(state, fact); }
    FactRefusal operator()(const GpuTimeUsed& fact) const { return refusal_of_used(state, fact); }
    FactRefusal operator()(const PastUseFound& fact) const { return refusal_of_past(state, fact); }
    FactRefusal operator()(const GpuTimeCounted& fact) const { return refusal_of_counted(state, fact); }
    FactRefusal operator()(const GpuTimeMissed& fact) const { return refusal_of_missed(state, fact); }
    FactRefusal operator()(const PastUseKept& fact) const { return refusal_of_kept(state, fact); }
    FactRefusal operator()(const RoomGivenBack& fact) const {
      return first_of([&] { return workload_in_phase(fact.workload, {Phase::kPending}); },
                      [&] { return unless(within(fact.at.ms, 0, state.clock().ms), "what was taken is past"); });
    }
    FactRefusal operator()(const FloorUseFound& fact) const { return refusal_of_floor_use(state, fact); }
    FactRefusal operator()(const CalendarTurned& fact) const { return refusal_of_clock(fact.at, state.clock()); }
    FactRefusal operator()(const WorkloadOverran& fact) const {
      if (auto refusal = workload_in_phase(fact.workload, {Phase::kRunning})) return refusal;
      if (auto refusal = no_step(fact.workload)) return refusal;
      const Terms& terms = state.shape(state.workload(fact.workload).shape).terms;
      return unless(terms.run_limit.has_value(), "a workload without a run limit cannot run over it");
    }
    FactRefusal operator()(const CheckpointReported& fact) const {
      return first_of(
          [&] { return workload_in_phase(fact.workload, {Phase::kRunning, Phase::kStopping, Phase::kMigrating}); },
          [&] { return refusal_of_time(fact.at); });
    }
    FactRefusal operator()(const QueueChanged& fact) const {
      return refusal_of_change(fact, state.queues(), state.flavors());
    }
    FactRefusal operator()(const WorkloadPrioritized& fact) const {
      return first_of([&] { return workload_in_phase(fact.workload, kAlive); }, [&] { return no_step(fact.workload); },
                      [&] { return refusal_of_terms({.priority = fact.priority}); });
    }
    FactRefusal operator()(const WorkloadMoved& fact) const {
      return first_of([&] { return workload_in_phase(fact.workload, {Phase::kPending}); },
                      [&] { return no_step(fact.workload); },
                      [&] { return unless(fact.queue.index() < state.queues().size(), "there is no such queue"); },
                      [&] {
                        const bool all_wait = std::ranges::all_of(state.steps_of(fact.workload), [&](WorkloadId step) {
                          return state.workload(step).phase == Phase::kPending;
                        });
                        return unless(all_wait, "some of its pods are still stopping");
                      });
    }
    FactRefusal operator()(const TimePassed& fact) const { return refusal_of_time(fact.now); }
    FactRefusal operator()(const WorkloadFound& fact) const {
      if (auto refusal = (*this)(fact.workload)) return refusal;
      if (auto refusal = refusal_of_time(fact.started)) return refusal;
      if (!fact.workload.step_of.is_none()) return "what runs already is no step of another";
      const bool waits = fact.workload.not_before > Time{} || !fact.workload.after.empty();
      if (waits) return "a found workload waits for nothing";
      if (auto refusal = refusal_of_repair(state, fact)) return refusal;
      return refusal_of_found(state, fact);
    }
    FactRefusal operator()(const PodEnded& fact) const {
      const auto there = {Phase::kRunning, Phase::kStopping, Phase::kMigrating};
      if (auto refusal = workload_in_phase(fact.workload, there)) return refusal;
      std::uint32_t at = 0;
      std::uint32_t others = 0;
      bool is_there = false;
      const bool migrates = state.workload(fact.workload).phase == Phase::kMigrating;
      const auto for_each = [&](auto visit) {
        migrates ? for_each_leaving_pod(state, fact.workload, visit) : for_each_pod(state, fact.workload, visit);
      };
      for_each([&](const Pod& pod) {
        if (at++ == fact.pod) {
          is_there = !pod.comes;
        } else {
          others += pod.comes ? 0 : 1;
        }
      });
      return unless(is_there && others > 0, "a workload has no such pod beside another");
    }
    FactRefusal operator()(const RepairChosen& fact) const { return refusal_of_time(Time{fact.within.ms}); }
    FactRefusal operator()(const WorkloadReady& fact) const {
      return first_of(
          [&] { return workload_in_phase(fact.workload, {Phase::kRunning}); }, [&] { return no_step(fact.workload); },
          [&] { return unless(state.find_repairing(fact.workload) == nullptr, "some of its pods are lost"); });
    }
    FactRefusal operator()(const NeverReady& fact) const {
      if (auto refusal = workload_in_phase(fact.workload, {Phase::kRunning})) return refusal;
      const std::optional<Time>& ready_by = state.workload(fact.workload).ready_by;
      return unless(ready_by && *ready_by <= state.clock(), "that workload may still become ready");
    }
    FactRefusal operator()(const LimitExtended& fact) const {
      return first_of([&] { return workload_in_phase(fact.workload, {Phase::kRunning}); },
                      [&] { return no_step(fact.workload); }, [&] { return refusal_of_extension(state, fact); });
    }
    FactRefusal operator()(const PodFailed& fact) const {
      if (!within(fact.exit_code, 0, kExitCodeMax)) return "an exit code is 1 to 255, or not known";
      if (auto refusal = workload_in_phase(fact.workload, {Phase::kRunning})) return refusal;
      bool is_there = false;
      for_each_leaving_pod(state, fact.workload,
                           [&](const Pod& pod) { is_there = is_there || pod.number == fact.pod; });
      return unless(is_there, "a workload has no such pod that runs");
    }
    FactRefusal operator()(const PodsEvicted& fact) const {
      if (auto refusal = workload_in_phase(fact.workload, {Phase::kRunning})) return refusal;
      if (auto refusal = refusal_of_time(fact.stop_by)) return refusal;
      if (fact.pods.empty() || !std::ranges::is_sorted(fact.pods, std::ranges::less_equal())) {
        return "those who leave their nodes are named once each, ascending";
      }
      std::size_t found = 0;
      for_each_leaving_pod(state, fact.workload,
                           [&](const Pod& pod) { found += std::ranges::binary_search(fact.pods, pod.number) ? 1 : 0; });
      return unless(found == fact.pods.size(), "a workload has no such pods that run");
    }
    FactRefusal operator()(const RepairGivenUp& fact) const {
      const Repairing* const repairing = state.find_repairing(fact.workload);
      return unless(repairing != nullptr && !repairing->lost.empty(), "that workload lacks nobody");
    }
    FactRefusal operator()(const ReservationAdded& fact) const { return refusal_of_reservation(state, fact); }
    FactRefusal operator()(const ReservationTimesTold& fact) const { return refusal_of_times_told(state, fact); }
    FactRefusal operator()(const ReservationRemoved& fact) const {
      return unless(state.reservations().contains(fact.reservation), "there is no such reservation");
    }
    FactRefusal operator()(const MaxWaitPassed& fact) const {
      if (auto refusal = workload_in_phase(fact.workload, {Phase::kPending})) return refusal;
      const Workload& workload = state.workload(fact.workload);
      const bool is_over = workload.max_wait && workload.submitted + workload.max_wait->length <= state.clock();
      return unless(is_over, "that workload may wait for longer");
    }
    FactRefusal operator()(const DefragmentationAsked& fact) const { return refusal_of_moves(state, fact); }
    FactRefusal operator()(const ScrubChosen& fact) const {
      return first_of(
          [&] { return unless(within(fact.takes.ms, 0, kTimeMax.ms), "a time is out of bounds"); },
          [&] {
            return unless(state.workloads().next_id() == WorkloadId(0),
                          "how long a scrub takes is said before the first workload comes");
          },
          [&] {
            const auto none_is = [&](auto kind) {
              return fact.takes == Duration{0} || std::ranges::none_of(state.node_types().nodes.values(), kind);
            };
            if (!none_is([](const Node& type) { return !type.fixed_slices.empty(); })) {
              return FactRefusal(kFixedAreNotScrubbed);
            }
            const auto turns = [](const Node& type) { return !type.other_modes.empty() && type.may_be(Sharing::kMig); };
            return unless(none_is(turns), kTurnedAreNotScrubbed);
          });
    }
    FactRefusal operator()(const DeviceScrubbed& fact) const { return refusal_of_scrubbed(state, fact); }
    FactRefusal operator()(const SlicesRecut& fact) const { return refusal_of_recut(state, fact); }
    FactRefusal operator()(const CutFound& fact) const { return refusal_of_found_cut(state, fact); }
    FactRefusal operator()(const TrustChanged& fact) const { return refusal_of_trust(state, fact); }
    FactRefusal operator()(const LeavingFound& fact) const {
      return first_of([&] { return workload_in_phase(fact.workload, {Phase::kRunning}); },
                      [&] { return no_step(fact.workload); }, [&] { return refusal_of_time(fact.stop_by); });
    }
  };
  return std::visit(Visitor{*this, known_node, in_phase}, event);
}

}  // namespace berth
