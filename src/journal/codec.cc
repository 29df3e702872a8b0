#include "journal/codec.h"

#include <limits>
#include <optional>
#include <type_traits>
#include <utility>

namespace berth {
namespace {

constexpr std::uint8_t kCycleAskedType = 64;
constexpr std::uint8_t kPlanType = 65;
constexpr std::uint8_t kRunClosedType = 66;

class Writer {
 public:
  void operator()(std::uint64_t value) {
    for (; value >= 0x80; value >>= 7) bytes.push_back(static_cast<std::uint8_t>(value | 0x80));
    bytes.push_back(static_cast<std::uint8_t>(value));
  }
  void operator()(std::int64_t value) {
    (*this)((static_cast<std::uint64_t>(value) << 1) ^ static_cast<std::uint64_t>(value >> 63));
  }
  void operator()(std::int32_t value) { (*this)(std::int64_t{value}); }
  void operator()(std::uint32_t value) { (*this)(std::uint64_t{value}); }
  void operator()(std::uint8_t value) { (*this)(std::uint64_t{value}); }
  void operator()(bool value) { (*this)(std::uint64_t{value}); }
  void operator()(const std::string& text) {
    (*this)(std::uint64_t{text.size()});
    bytes.insert(bytes.end(), text.begin(), text.end());
  }

  Bytes bytes;
};

// Reads what Writer writes. After the first mistake every further value is 0 or empty, and `failed` stays true.
class Reader {
 public:
  explicit Reader(std::span<const std::uint8_t> bytes) : left_(bytes) {}

  void operator()(std::uint64_t& value) {
    value = 0;
    for (int shift = 0; shift < 64; shift += 7) {
      if (left_.empty()) break;
      const std::uint8_t byte = left_.front();
      left_ = left_.subspan(1);
      if (shift == 63 && byte > 1) break;
      value |= std::uint64_t{byte & 0x7fu} << shift;
      if ((byte & 0x80) == 0) {
        // A last byte of 0 behind another would be a second encoding of the same number.
        if (byte == 0 && shift > 0) break;
        return;
      }
    }
    fail(value);
  }
  void operator()(std::int64_t& value) {
    std::uint64_t zigzag = 0;
    (*this)(zigzag);
    value = static_cast<std::int64_t>((zigzag >> 1) ^ (0 - (zigzag & 1)));
  }
  void operator()(std::int32_t& value) { narrow_into<std::int64_t>(value); }
  void operator()(std::uint32_t& value) { narrow_into<std::uint64_t>(value); }
  void operator()(std::uint8_t& value) { narrow_into<std::uint64_t>(value); }
  void operator()(bool& value) {
    std::uint64_t wide = 0;
    (*this)(wide);
    if (wide > 1) failed_ = true;
    value = wide == 1;
  }
  void operator()(std::string& text) {
    const std::size_t size = count();
    if (failed_) return;
    text.assign(left_.begin(), left_.begin() + static_cast<std::ptrdiff_t>(size));
    left_ = left_.subspan(size);
  }

  // A number of items to come, each of at least one byte.
  std::size_t count() {
    std::uint64_t count = 0;
    (*this)(count);
    if (count > left_.size()) {
      failed_ = true;
      return 0;
    }
    return static_cast<std::size_t>(count);
  }

  bool failed() const { return failed_; }
  bool at_end() const { return left_.empty(); }
  void fail() { failed_ = true; }

 private:
  template <class Number>
  void fail(Number& value) {
    failed_ = true;
    value = 0;
  }
  template <class Wide, class Narrow>
  void narrow_into(Narrow& value) {
    Wide wide = 0;
    (*this)(wide);
    if (std::in_range<Narrow>(wide)) {
      value = static_cast<Narrow>(wide);
    } else {
      fail(value);
    }
  }

  std::span<const std::uint8_t> left_;
  bool failed_ = false;
};

// Every type's fields once, for writing and for reading: `io` is a Writer with a const value, or a Reader.
template <class Io>
constexpr bool kReads = std::is_same_v<Io, Reader>;

template <class Io, class Tag>
void fields(Io& io, Id<Tag>& id) {
  std::uint32_t value = id.value();
  io(value);
  id = Id<Tag>(value);
}

template <class Io, class Enum>
  requires std::is_enum_v<Enum>
void enumerator(Io& io, Enum& value, std::size_t size) {
  auto number = static_cast<std::uint32_t>(value);
  io(number);
  if constexpr (kReads<Io>) {
    if (number >= size) io.fail();
  }
  value = static_cast<Enum>(number);
}

template <class Io>
void fields(Io& io, Time& time) {
  io(time.ms);
}

template <class Io>
void fields(Io& io, Duration& duration) {
  io(duration.ms);
}

template <class Io>
void fields(Io& io, std::int64_t& number) {
  io(number);
}

template <class Io>
void fields(Io& io, std::int32_t& number) {
  io(number);
}

template <class Io>
void fields(Io& io, std::uint32_t& number) {
  io(number);
}

template <class Io, class Value>
void fields(Io& io, std::optional<Value>& value) {
  bool given = value.has_value();
  io(given);
  if constexpr (kReads<Io>) value = given ? std::optional<Value>(Value()) : std::nullopt;
  if (value) fields(io, *value);
}

template <class Io>
void fields(Io& io, FlavorSet& flavors) {
  std::uint64_t bits = flavors.bits();
  io(bits);
  flavors = FlavorSet::from_bits(bits);
}

template <class Io>
void fields(Io& io, GpuSet& gpus) {
  std::uint64_t bits = gpus.bits();
  io(bits);
  gpus = GpuSet::from_bits(bits);
}

template <class Io>
void fields(Io& io, SharingSet& modes) {
  std::uint8_t bits = modes.bits();
  io(bits);
  modes = SharingSet::from_bits(bits);
}

template <class Io>
void fields(Io& io, MigPlaceSet& places) {
  std::uint32_t bits = places.bits();
  io(bits);
  places = MigPlaceSet::from_bits(bits);
}

template <class Io, class Item>
void fields(Io& io, std::vector<Item>& items) {
  if constexpr (kReads<Io>) {
    const std::size_t count = io.count();
    items.clear();
    for (std::size_t i = 0; i < count && !io.failed(); ++i) fields(io, items.emplace_back());
  } else {
    io(std::uint64_t{items.size()});
    for (Item& item : items) fields(io, item);
  }
}

template <class Io>
void fields(Io& io, std::string& text) {
  io(text);
}

template <class Io>
void fields(Io& io, Label& label) {
  io(label.key);
  io(label.value);
}

template <class Io>
void fields(Io& io, Taint& taint) {
  io(taint.key);
  io(taint.value);
  enumerator(io, taint.effect, std::size(kTaintEffectNames));
}

template <class Io>
void fields(Io& io, LabelRequirement& asked) {
  io(asked.key);
  enumerator(io, asked.op, std::size(kLabelOperatorNames));
  fields(io, asked.values);
}

template <class Io>
void fields(Io& io, NodeSelectorTerm& term) {
  fields(io, term.labels);
  fields(io, term.fields);
}

template <class Io>
void fields(Io& io, Toleration& toleration) {
  io(toleration.key);
  io(toleration.any_value);
  io(toleration.value);
  io(toleration.any_effect);
  enumerator(io, toleration.effect, std::size(kTaintEffectNames));
}

template <class Io>
void fields(Io& io, PreferredTerm& preferred) {
  fields(io, preferred.term);
  io(preferred.weight);
}

template <class Io>
void fields(Io& io, NodeConstraints& constraints) {
  fields(io, constraints.select);
  fields(io, constraints.any_of);
  fields(io, constraints.tolerations);
  fields(io, constraints.preferred);
  fields(io, constraints.images);
}

template <class Io>
void fields(Io& io, PodTerm& term) {
  fields(io, term.pods.namespaces);
  fields(io, term.pods.labels);
  io(term.level);
}

template <class Io>
void fields(Io& io, PreferredPodTerm& preferred) {
  fields(io, preferred.term);
  io(preferred.weight);
}

template <class Io>
void fields(Io& io, PodSpread& spread) {
  fields(io, spread.term);
  io(spread.skew_max);
  io(spread.domains_min);
  io(spread.required);
  io(spread.heeds_selection);
  io(spread.heeds_taints);
}

template <class Io>
void fields(Io& io, HostPort& port) {
  io(port.port);
  enumerator(io, port.protocol, std::size(kProtocolNames));
  io(port.address);
}

template <class Io>
void fields(Io& io, Neighbours& neighbours) {
  io(neighbours.name_space);
  fields(io, neighbours.labels);
  fields(io, neighbours.near);
  fields(io, neighbours.apart);
  fields(io, neighbours.preferred);
  fields(io, neighbours.spreads);
  fields(io, neighbours.ports);
}

template <class Io>
void fields(Io& io, Topology& topology) {
  enumerator(io, topology.together, 3);
  io(topology.level);
  io(topology.slice_pods);
  io(topology.slice_level);
  enumerator(io, topology.spread, 4);
  io(topology.spread_level);
  enumerator(io, topology.on_nodes, kOnNodesCount);
}

template <class Io>
void fields(Io& io, Parallelism& parallel) {
  io(parallel.tensor);
  io(parallel.pipeline);
  io(parallel.data);
}

template <class Io>
void fields(Io& io, NodeImage& image) {
  io(image.name);
  io(image.bytes);
}

template <class Io>
void fields(Io& io, Node& node) {
  io(node.name);
  fields(io, node.flavor);
  io(node.gpus);
  io(node.gpu_memory_mib);
  io(node.cpu_milli);
  io(node.memory_bytes);
  io(node.pods_max);
  fields(io, node.labels);
  fields(io, node.taints);
  enumerator(io, node.sharing, std::size(kSharingNames));
  fields(io, node.other_modes);
  io(node.replicas);
  fields(io, node.fixed_slices);
  fields(io, node.recut);
  fields(io, node.layouts);
  io(node.kept_per_gpu.cpu_milli);
  io(node.kept_per_gpu.memory_bytes);
  io(node.extra.cpu_milli);
  io(node.extra.memory_bytes);
  io(node.numa_zones);
  enumerator(io, node.numa_policy, std::size(kNumaPolicyNames));
  io(node.links.pcie);
  io(node.links.nvlink);
  io(node.spare);
  fields(io, node.images);
}

template <class Io>
void fields(Io& io, TypicalPod& pod) {
  io(pod.cpu_milli);
  io(pod.gpus);
  io(pod.gpu_milli);
  fields(io, pod.flavors);
  io(pod.weight);
}

template <class Io>
void fields(Io& io, PodSet& set) {
  io(set.request.cpu_milli);
  io(set.request.memory_bytes);
  io(set.request.gpus);
  io(set.request.gpu_milli);
  io(set.request.gpu_memory_mib);
  fields(io, set.request.flavors);
  enumerator(io, set.request.sharing, std::size(kSharingNames));
  io(set.request.slice);
  io(set.request.in_extra);
  io(set.count);
  fields(io, set.constraints);
  fields(io, set.topology);
  fields(io, set.neighbours);
  fields(io, set.parallel);
  io(set.exclusive_level);
  io(set.exclusive_part);
}

template <class Io>
void fields(Io& io, PodPlacement& pod) {
  fields(io, pod.node);
  fields(io, pod.gpus);
  io(pod.slice_start);
}

template <class Io>
void fields(Io& io, Dim& dim) {
  std::uint64_t index = dim.index();
  io(index);
  if constexpr (kReads<Io>) {
    if (index >= Dim::count_max()) io.fail();
  }
  dim = Dim::at(static_cast<std::size_t>(index));
}

template <class Io>
void fields(Io& io, Amount& amount) {
  fields(io, amount.dim);
  io(amount.amount);
}

template <class Io>
void fields(Io& io, FloorCells& cells) {
  fields(io, cells.flavor);
  io(cells.level);
  io(cells.count);
}

template <class Io>
void fields(Io& io, Quota& quota) {
  fields(io, quota.guarantee);
  fields(io, quota.limit);
  fields(io, quota.borrowing_limit);
  fields(io, quota.lending_limit);
  fields(io, quota.user_limit);
  io(quota.weight_milli);
  enumerator(io, quota.fair_reclaim, std::size(kFairReclaimNames));
  enumerator(io, quota.preempt, std::size(kPreemptNames));
  fields(io, quota.reclaim_within);
  fields(io, quota.patience);
  fields(io, quota.min_runtime);
  fields(io, quota.cooldown);
  fields(io, quota.idle_after);
  enumerator(io, quota.users, std::size(kUserOrderNames));
  enumerator(io, quota.backfill, std::size(kBackfillNames));
  fields(io, quota.half_life);
  fields(io, quota.budget_gpu_us);
  enumerator(io, quota.budget_end, std::size(kBudgetEndNames));
  fields(io, quota.dedicated);
  fields(io, quota.cells);
  io(quota.loans_percent);
  io(quota.foresight);
  enumerator(io, quota.over_run, std::size(kOverRunNames));
  fields(io, quota.extend);
  io(quota.extensions);
}

template <class Io>
void fields(Io& io, Terms& terms) {
  io(terms.priority);
  io(terms.preempts);
  io(terms.guaranteed_only);
  io(terms.best_effort);
  io(terms.latency_critical);
  io(terms.movable);
  io(terms.resizes_live);
  io(terms.replaces);
  fields(io, terms.grace);
  io(terms.disruption_permille);
  fields(io, terms.run_limit);
  fields(io, terms.hours);
}

template <class Io>
void fields(Io& io, Eviction& eviction) {
  fields(io, eviction.workload);
  fields(io, eviction.claimant);
  enumerator(io, eviction.rule, std::size(kEvictionRuleNames));
  fields(io, eviction.stop_by);
  io(eviction.lost_gpu_s);
  fields(io, eviction.reservation);
}

template <class Io>
void fields(Io& io, Start& start) {
  fields(io, start.workload);
  io(start.way);
  fields(io, start.pods);
  io(start.waits);
  io(start.best_effort);
  io(start.only_borrows);
  fields(io, start.lent_until);
}

template <class Io>
void fields(Io& io, Migration& migration) {
  fields(io, migration.start);
  fields(io, migration.claimant);
  fields(io, migration.stop_by);
  io(migration.lost_gpu_s);
}

template <class Io>
void fields(Io& io, Repair& repair) {
  fields(io, repair.workload);
  fields(io, repair.pods);
  io(repair.waits);
  io(repair.lost_gpu_s);
}

template <class Io>
void fields(Io& io, Repartition& repartition) {
  fields(io, repartition.node);
  io(repartition.gpu);
  fields(io, repartition.before);
  fields(io, repartition.after);
  fields(io, repartition.claimant);
  fields(io, repartition.takes);
  io(repartition.lost_gpu_s);
}

template <class Io>
void fields(Io& io, Blocked& blocked) {
  fields(io, blocked.line);
  fields(io, blocked.shape);
  io(blocked.missing);
  enumerator(io, blocked.gate, std::size(kReasonNames));
  io(blocked.by_quota);
}

template <class Io>
void fields(Io& io, GpusOfNode& held) {
  fields(io, held.node);
  fields(io, held.gpus);
}

template <class Io>
void fields(Io& io, HeldPlaces& holding) {
  fields(io, holding.reservation);
  fields(io, holding.gpus);
  fields(io, holding.drains_at);
}

template <class Io>
void fields(Io& io, ReservationAdded& event) {
  Reservation& reservation = event.reservation;
  io(reservation.name);
  fields(io, reservation.queue);
  fields(io, reservation.flavor);
  io(reservation.gpus);
  fields(io, reservation.nodes);
  fields(io, reservation.from);
  fields(io, reservation.lasts);
  fields(io, reservation.every);
  fields(io, reservation.later);
  io(event.found);
  fields(io, event.had);
}

template <class Io>
void fields(Io& io, MoveAsked& move) {
  fields(io, move.workload);
  fields(io, move.to);
}

template <class Io>
void fields(Io& io, DefragmentationAsked& event) {
  fields(io, event.moves);
  io(event.gpus);
  fields(io, event.horizon);
  io(event.slice);
  fields(io, event.flavor);
}

template <class Io>
void fields(Io& io, ReservationRemoved& event) {
  fields(io, event.reservation);
}

template <class Io>
void fields(Io& io, ReservationTimesTold& event) {
  fields(io, event.reservation);
  fields(io, event.later);
}

template <class Io>
void fields(Io& io, Shadow& shadow) {
  fields(io, shadow.at);
  fields(io, shadow.start);
}

template <class Io>
void fields(Io& io, RunConfigured& event) {
  io(event.seed.value);
  enumerator(io, event.policy, std::size(kPlacementPolicyNames));
}

template <class Io>
void fields(Io& io, FlavorAdded& event) {
  io(event.flavor.name);
  io(event.flavor.model);
  io(event.flavor.memory_mib);
  io(event.flavor.weight);
}

template <class Io>
void fields(Io& io, TypicalPodsChosen& event) {
  fields(io, event.pods);
}

template <class Io>
void fields(Io& io, Queue& queue) {
  io(queue.name);
  fields(io, queue.parent);
  bool has_order = queue.order.has_value();
  io(has_order);
  if (has_order) {
    Order order = queue.order.value_or(Order::kFifo);
    enumerator(io, order, std::size(kOrderNames));
    queue.order = order;
  }
  fields(io, queue.quota);
  io(queue.held);
  io(queue.closed);
}

template <class Io>
void fields(Io& io, QueueAdded& event) {
  fields(io, event.queue);
}

template <class Io>
void fields(Io& io, QueueChanged& event) {
  fields(io, event.queue);
  fields(io, event.now);
}

template <class Io>
void fields(Io& io, WorkloadPrioritized& event) {
  fields(io, event.workload);
  io(event.priority);
}

template <class Io>
void fields(Io& io, TimePassed& event) {
  fields(io, event.now);
}

template <class Io>
void fields(Io& io, WorkloadMoved& event) {
  fields(io, event.workload);
  fields(io, event.queue);
}

template <class Io>
void fields(Io& io, NodesAdded& event) {
  fields(io, event.nodes);
}

template <class Io, class Event>
  requires(std::is_same_v<Event, NodeFailed> || std::is_same_v<Event, NodeDrained> ||
           std::is_same_v<Event, NodeRestored>)
void fields(Io& io, Event& event) {
  fields(io, event.node);
}

template <class Io>
void fields(Io& io, NodeRelabelled& event) {
  fields(io, event.node);
  fields(io, event.labels);
  fields(io, event.taints);
  io(event.spare);
}

template <class Io>
void fields(Io& io, Circle& circle) {
  fields(io, circle.queues);
  for (std::string& level : circle.apart) io(level);
}

template <class Io>
void fields(Io& io, TrustChanged& event) {
  fields(io, event.circles);
  fields(io, event.part_by);
  io(event.beyond_devices);
}

template <class Io>
void fields(Io& io, NodeImagesChanged& event) {
  fields(io, event.node);
  fields(io, event.images);
}

template <class Io>
void fields(Io& io, ScrubChosen& event) {
  fields(io, event.takes);
}

template <class Io>
void fields(Io& io, DeviceScrubbed& event) {
  fields(io, event.node);
  io(event.gpu);
  io(event.failed);
}

template <class Io>
void fields(Io& io, SlicesRecut& event) {
  fields(io, event.node);
  io(event.gpu);
}

template <class Io>
void fields(Io& io, CutFound& event) {
  fields(io, event.node);
  fields(io, event.slices);
  io(event.is_coming);
  fields(io, event.rests_until);
}

template <class Io>
void fields(Io& io, MaxWait& wait) {
  fields(io, wait.length);
  enumerator(io, wait.then, std::size(kAfterWaitNames));
  io(wait.raise);
}

template <class Io>
void fields(Io& io, ExitRule& rule) {
  io(rule.code);
  enumerator(io, rule.then, std::size(kMemberActionNames));
}

template <class Io>
void fields(Io& io, MemberPolicy& set) {
  enumerator(io, set.on_fail, std::size(kMemberActionNames));
  enumerator(io, set.on_evict, std::size(kMemberActionNames));
  fields(io, set.on_exit);
  io(set.completes);
}

template <class Io>
void fields(Io& io, FailurePolicy& policy) {
  fields(io, policy.sets);
  fields(io, policy.retries);
  fields(io, policy.retry_after);
  fields(io, policy.never_ready);
}

template <class Io>
void fields(Io& io, Dependency& dependency) {
  fields(io, dependency.on);
  enumerator(io, dependency.what, kDependsOnCount);
}

template <class Io>
void fields(Io& io, BackOff& before) {
  fields(io, before.until);
  enumerator(io, before.why, std::size(kEvictionRuleNames));
  io(before.times);
}

template <class Io>
void fields(Io& io, WorkloadSubmitted& event) {
  io(event.name);
  fields(io, event.queue);
  fields(io, event.at);
  fields(io, event.declared_run);
  io(event.rank);
  fields(io, event.shape.ways);
  fields(io, event.shape.terms);
  io(event.user);
  fields(io, event.not_before);
  fields(io, event.after);
  fields(io, event.step_of);
  fields(io, event.series);
  io(event.at_most);
  fields(io, event.max_wait);
  io(event.goes_first);
  fields(io, event.at_home_with);
  fields(io, event.on_failure);
  fields(io, event.backs_off);
}

template <class Io, class Event>
  requires(std::is_same_v<Event, WorkloadEnded> || std::is_same_v<Event, WorkloadCancelled> ||
           std::is_same_v<Event, WorkloadStopped> || std::is_same_v<Event, WorkloadOverran> ||
           std::is_same_v<Event, RepairGivenUp> || std::is_same_v<Event, MaxWaitPassed> ||
           std::is_same_v<Event, WorkloadReady> || std::is_same_v<Event, NeverReady>)
void fields(Io& io, Event& event) {
  fields(io, event.workload);
}

template <class Io>
void fields(Io& io, CheckpointReported& event) {
  fields(io, event.workload);
  fields(io, event.at);
}

template <class Io>
void fields(Io& io, NodeFailureFound& event) {
  fields(io, event.node);
  fields(io, event.at);
}

template <class Io>
void fields(Io& io, WorkloadFound& event) {
  fields(io, event.workload);
  fields(io, event.pods);
  fields(io, event.started);
  io(event.only_borrows);
  fields(io, event.lost);
  fields(io, event.repair_until);
}

template <class Io>
void fields(Io& io, PodEnded& event) {
  fields(io, event.workload);
  io(event.pod);
}

template <class Io>
void fields(Io& io, RepairChosen& event) {
  fields(io, event.within);
}

template <class Io>
void fields(Io& io, PodFailed& event) {
  fields(io, event.workload);
  io(event.pod);
  io(event.exit_code);
}

template <class Io>
void fields(Io& io, PodsEvicted& event) {
  fields(io, event.workload);
  fields(io, event.pods);
  fields(io, event.stop_by);
}

template <class Io>
void fields(Io& io, LimitExtended& event) {
  fields(io, event.workload);
  fields(io, event.by);
}

template <class Io>
void fields(Io& io, LeavingFound& event) {
  fields(io, event.workload);
  fields(io, event.stop_by);
}

template <class Io>
void fields(Io& io, Interval& interval) {
  fields(io, interval.from);
  fields(io, interval.to);
}

template <class Io>
void fields(Io& io, WindowChanged& event) {
  io(event.number);
  Window& window = event.window;
  fields(io, window.queue);
  fields(io, window.guarantee);
  fields(io, window.limit);
  fields(io, window.borrowing_limit);
  fields(io, window.lending_limit);
  fields(io, window.weight_milli);
  fields(io, window.open);
  fields(io, window.known_until);
}

template <class Io>
void fields(Io& io, GrantAdded& event) {
  fields(io, event.queue);
  io(event.gpu_us);
  fields(io, event.until);
}

template <class Io>
void fields(Io& io, GpuTimeUsed& event) {
  fields(io, event.queue);
  io(event.pot);
  io(event.gpu_us);
}

template <class Io>
void fields(Io& io, PastUseFound& event) {
  fields(io, event.queue);
  fields(io, event.at);
  fields(io, event.average);
}

template <class Io>
void fields(Io& io, GpuTimeCounted& event) {
  fields(io, event.queue);
  fields(io, event.until);
}

template <class Io>
void fields(Io& io, GpuTimeMissed& event) {
  fields(io, event.queue);
  io(event.gpu_milli);
  fields(io, event.from);
  fields(io, event.until);
}

template <class Io>
void fields(Io& io, RoomGivenBack& event) {
  fields(io, event.workload);
  fields(io, event.at);
}

template <class Io>
void fields(Io& io, FloorUse& use) {
  fields(io, use.dim);
  io(use.amount);
  fields(io, use.until);
}

template <class Io>
void fields(Io& io, FloorUseFound& event) {
  fields(io, event.queue);
  fields(io, event.floor);
  fields(io, event.held);
}

template <class Io>
void fields(Io& io, PastUseKept& event) {
  fields(io, event.queue);
  fields(io, event.begun);
  fields(io, event.at);
  fields(io, event.average);
  fields(io, event.in_step);
}

template <class Io>
void fields(Io& io, CalendarTurned& event) {
  fields(io, event.at);
}

template <class Io>
void fields(Io& io, CycleAsked& record) {
  fields(io, record.now);
  io(record.effort.attempts_max);
}

template <class Io>
void fields(Io& io, Plan& plan) {
  fields(io, plan.now);
  io(plan.revision);
  fields(io, plan.begins);
  fields(io, plan.evictions);
  fields(io, plan.unpaid);
  fields(io, plan.migrations);
  fields(io, plan.repairs);
  fields(io, plan.starts);
  fields(io, plan.repartitions);
  fields(io, plan.blocked);
  fields(io, plan.shadows);
  fields(io, plan.holdings);
  io(plan.defragmented);
  io(plan.attempts);
  io(plan.finished);
}

template <class Io>
void fields(Io& io, RunClosed& record) {
  io(record.state_hash);
}

template <class T>
std::expected<JournalRecord, std::string> read_as(Reader& reader) {
  T value;
  fields(reader, value);
  if (reader.failed()) return std::unexpected("a field is damaged");
  if (!reader.at_end()) return std::unexpected("bytes follow the last field");
  if constexpr (std::is_constructible_v<Event, T>) {
    return JournalRecord(Event(std::move(value)));
  } else {
    return JournalRecord(std::move(value));
  }
}

template <std::size_t... Index>
std::expected<JournalRecord, std::string> read_event(Reader& reader, std::uint8_t type, std::index_sequence<Index...>) {
  std::expected<JournalRecord, std::string> record = std::unexpected("its type is unknown");
  static_cast<void>(
      ((type == Index && (record = read_as<std::variant_alternative_t<Index, Event>>(reader), true)) || ...));
  return record;
}

}  // namespace

Bytes encode(const JournalRecord& record) {
  Writer writer;
  // fields() serves reading too and so takes what it may change; here it changes nothing.
  const auto write = [&](std::uint8_t type, const auto& value) {
    writer.bytes.push_back(type);
    fields(writer, const_cast<std::remove_cvref_t<decltype(value)>&>(value));
  };
  if (const Event* const event = std::get_if<Event>(&record)) {
    std::visit([&](const auto& fact) { write(static_cast<std::uint8_t>(event->index()), fact); }, *event);
  } else if (const CycleAsked* const asked = std::get_if<CycleAsked>(&record)) {
    write(kCycleAskedType, *asked);
  } else if (const Plan* const plan = std::get_if<Plan>(&record)) {
    write(kPlanType, *plan);
  } else {
    write(kRunClosedType, std::get<RunClosed>(record));
  }
  return std::move(writer.bytes);
}

std::expected<JournalRecord, std::string> decode(std::span<const std::uint8_t> bytes) {
  if (bytes.empty()) return std::unexpected("it is empty");
  Reader reader(bytes.subspan(1));
  switch (bytes.front()) {
    case kCycleAskedType:
      return read_as<CycleAsked>(reader);
    case kPlanType:
      return read_as<Plan>(reader);
    case kRunClosedType:
      return read_as<RunClosed>(reader);
    default:
      return read_event(reader, bytes.front(), std::make_index_sequence<std::variant_size_v<Event>>());
  }
}

}  // namespace berth
