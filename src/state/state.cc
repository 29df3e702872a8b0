#include "state/state.h"

#include <algorithm>
#include <memory>
#include <utility>
#include <variant>

#include "state/kept_out.h"

namespace berth {

std::uint64_t digest_of(const PodRequest& request) {
  Hasher hasher;
  request.add_to(hasher);
  return hasher.digest();
}

std::uint64_t digest_of(const Node& node) {
  Hasher hasher;
  for (const MigPlaceSet layout : node.layouts) hasher.add(std::uint64_t{layout.bits()});
  return hasher.add(node.name)
      .add(node.flavor.value())
      .add(node.gpus)
      .add(node.gpu_memory_mib)
      .add(node.cpu_milli)
      .add(node.memory_bytes)
      .add(node.pods_max)
      .add(static_cast<std::uint64_t>(node.sharing))
      .add(std::uint64_t{node.other_modes.bits()})
      .add(node.replicas)
      .add(std::uint64_t{node.fixed_slices.bits()})
      .add(node.recut.ms)
      .add(node.kept_per_gpu.cpu_milli)
      .add(node.kept_per_gpu.memory_bytes)
      .add(node.extra.cpu_milli)
      .add(node.extra.memory_bytes)
      .add(node.numa_zones)
      .add(static_cast<std::uint64_t>(node.numa_policy))
      .digest();
}

std::uint64_t digest_of(const std::string& name) { return Hasher().add(name).digest(); }

std::uint64_t digest_of(const Shape& shape) {
  Hasher hasher;
  hasher.add(shape.user.value()).add(std::uint64_t{shape.cools});
  for (const auto& way : shape.ways) {
    hasher.add(std::uint64_t{way.size()});
    for (const NumberedPodSet& set : way) {
      hasher.add(set.request.value()).add(set.count).add(set.topology.value());
      if (set.parallel.is_declared()) set.parallel.add_to(hasher);
    }
  }
  const Terms& terms = shape.terms;
  hasher.add(terms.priority).add(std::uint64_t{terms.preempts}).add(std::uint64_t{terms.guaranteed_only});
  hasher.add(std::uint64_t{terms.best_effort}).add(std::uint64_t{terms.latency_critical});
  if (terms.movable) hasher.add(std::uint64_t{terms.movable});
  if (terms.resizes_live) hasher.add(std::uint64_t{2});
  if (terms.replaces) hasher.add(std::uint64_t{3});
  hasher.add(terms.grace.ms).add(terms.disruption_permille);
  hasher.add(terms.run_limit ? terms.run_limit->ms : std::int64_t{-1});
  if (terms.hours) hasher.add(std::uint64_t{3}).add(std::uint64_t{*terms.hours});
  return hasher.digest();
}

void State::apply(const Event& event) {
  ++revision_;
  history_.add(std::uint64_t{event.index()});
  // Who takes, and what is scrubbed or cut for him, is no reason to take again.
  const auto* const scrubbed = std::get_if<DeviceScrubbed>(&event);
  const bool begins_a_stretch =
      (scrubbed == nullptr || scrubbed->failed) && !std::holds_alternative<SlicesRecut>(event) &&
      !std::holds_alternative<WorkloadStopped>(event) && !std::holds_alternative<CheckpointReported>(event) &&
      !std::holds_alternative<TimePassed>(event);
  // Images make nobody room.
  const bool is_of_images = std::holds_alternative<NodeImagesChanged>(event);
  if (begins_a_stretch && !is_of_images) ++stretch_;
  if (!std::holds_alternative<WorkloadSubmitted>(event) && !is_of_images) ++news_;
  std::visit([this](const auto& fact) { on(fact); }, event);
  ledger_.settle();
}

namespace {

// Whether something is held for nobody any more that the starts of the plan have not taken.
bool frees_what_was_reserved(const std::vector<HeldPlaces>& before, const Plan& plan) {
  std::map<NodeId, std::uint64_t> left;
  for (const HeldPlaces& each : before) {
    for (const GpusOfNode& held : each.gpus) left[held.node] |= held.gpus.bits();
  }
  const auto take = [&](NodeId node, GpuSet gpus) {
    if (const auto found = left.find(node); found != left.end()) found->second &= ~gpus.bits();
  };
  for (const HeldPlaces& each : *plan.holdings) {
    for (const GpusOfNode& held : each.gpus) take(held.node, held.gpus);
  }
  for (const Start& start : plan.starts) {
    for (const PodPlacement& pod : start.pods) take(pod.node, pod.gpus);
  }
  return std::ranges::any_of(left, [](const auto& each) { return each.second != 0; });
}

}  // namespace

void State::adopt(const Plan& plan) {
  BERTH_ASSERT(plan.revision == revision_);
  ++revision_;
  history_.add(plan.now.ms);
  clock_ = std::max(clock_, plan.now);
  forget_failures();
  if (plan.moves_somebody()) ++news_;
  // Before those whom this plan blocks: they stand back for what is promised from now on.
  const auto starts = [&](const Shadow& each) {
    return std::ranges::find(plan.starts, each.start.workload, &Start::workload) != plan.starts.end();
  };
  if (plan.shadows || std::erase_if(shadows_, starts) > 0) retry_who_stands_back();
  // What was kept from them may not be any more, whatever they were told.
  if (plan.holdings && frees_what_was_reserved(holdings_, plan)) retry_who_waits_for_room();
  for (const WorkloadId id : plan.begins) begin(id, plan.now);
  // Before the evictions: some were refused before the room of others came free, and may fit what is left of it.
  for (const Blocked& blocked : plan.blocked) {
    Line& line = *lines_[blocked.line.index()];
    line.set_missing(line.index_of(blocked.shape), blocked.missing, blocked.gate, blocked.by_quota);
    history_.add(blocked.line.value()).add(blocked.shape.value()).add(blocked.missing);
    history_.add(static_cast<std::uint64_t>(blocked.gate)).add(static_cast<std::uint64_t>(blocked.by_quota));
  }
  // In the order of the decisions: what is covered depends on who came and went before.
  std::size_t evicted = 0;
  for (; evicted < plan.evictions.size() && plan.evictions[evicted].claimant.is_none(); ++evicted) {
    evict(plan.evictions[evicted], plan.now);
  }
  for (const WorkloadId id : plan.unpaid) count_for_nothing(id);
  std::size_t moved = 0;
  const auto move_for = [&](WorkloadId claimant) {
    const std::size_t first = moved;
    for (; moved < plan.migrations.size() && plan.migrations[moved].claimant == claimant; ++moved) {
      leave(plan.migrations[moved], plan.now);
    }
    for (std::size_t at = first; at < moved; ++at) move_to(plan.migrations[at], plan.now);
  };
  const auto evict_for = [&](WorkloadId claimant) {
    for (; evicted < plan.evictions.size() && plan.evictions[evicted].claimant == claimant; ++evicted) {
      evict(plan.evictions[evicted], plan.now);
    }
  };
  move_for(WorkloadId());
  for (const Repair& decision : plan.repairs) {
    evict_for(decision.workload);
    repair(decision, plan.now);
  }
  while (moved < plan.migrations.size() && is_for_its_own_sake(plan.migrations[moved])) {
    const WorkloadId gang = plan.migrations[moved].claimant;
    evict_for(gang);
    move_for(gang);
  }
  for (const Start& decision : plan.starts) {
    evict_for(decision.workload);
    move_for(decision.workload);
    start(decision, plan.now);
  }
  BERTH_ASSERT(evicted == plan.evictions.size() && moved == plan.migrations.size());
  for (const Repartition& decision : plan.repartitions) cut_anew(decision);
  ledger_.settle();
  if (plan.shadows) promise(*plan.shadows);
  if (plan.holdings) hold(*plan.holdings);
  if (!plan.defragmented) return;
  defragmentation_.reset();
  history_.add(std::uint64_t{plan.defragmented});
}

std::uint64_t State::hash() const {
  Hasher hasher = history_;
  ledger_.add_to(hasher);
  for (const NodeId node : maintained_) hasher.add(node.value());
  return hasher.add(std::uint64_t{running_}).add(std::uint64_t{pending_}).digest();
}

void State::on(const RunConfigured& event) {
  seed_ = event.seed;
  policy_ = event.policy;
  history_.add(seed_.value).add(static_cast<std::uint64_t>(policy_));
}

void State::on(const FlavorAdded& event) {
  flavors_.push_back(event.flavor);
  rebuild_quotas(capacity());
  history_.add(event.flavor.name).add(event.flavor.memory_mib).add(event.flavor.weight);
}

void State::on(const TypicalPodsChosen& event) {
  typical_pods_ = std::make_shared<const std::vector<TypicalPod>>(event.pods);
  ++typical_pods_version_;
  for (const TypicalPod& pod : event.pods) {
    history_.add(pod.cpu_milli).add(pod.gpus).add(pod.gpu_milli).add(pod.flavors.bits()).add(pod.weight);
  }
}

AmountsByDim State::capacity() const {
  AmountsByDim capacity = quotas_.capacity();
  const std::size_t known = capacity.size();
  capacity.resize(std::max(known, profiles_named_by(queues_, *windows_, flavors_).dims()));
  if (capacity.size() == known) return capacity;
  for (std::size_t i = 0; i < ledger_.nodes(); ++i) {
    if (ledger_.node(NodeId(i)).open) count_slices(NodeId(i), 1, known, capacity);
  }
  return capacity;
}

void State::rebuild_quotas(AmountsByDim capacity) {
  ask_anew_who_is_kept_out(lines_);
  const NamedProfiles named = profiles_named_by(queues_, *windows_, flavors_);
  const auto tree_while = [&](OpenWindows open) {
    if (open == 0) return std::make_shared<const QuotaTree>(queues_, capacity, named);
    return std::make_shared<const QuotaTree>(queues_while(queues_, *windows_, open), capacity, named);
  };
  std::vector<LaterTree> later;
  for (const Turn& turn : later_) later.push_back({turn.at, tree_while(turn.open)});
  past_.advance_all(quotas_, clock_);
  idle_.advance_all(quotas_, clock_);
  quotas_.budgets().set_budgets(queues_);
  auto tree = tree_while(open_);
  quotas_.replace_tree(std::move(tree), std::move(capacity), std::move(later),
                       [this](WorkloadId id) { return held_by(id); });
  past_.lay_out(queues_, quotas_.tree().dims(), clock_);
  idle_.lay_out(queues_, quotas_, clock_);
}

void State::note_what_was_held(QueueId queue) {
  past_.advance(quotas_, queue, clock_);
  idle_.advance(quotas_, queue, clock_);
}

// What is open now, and what will be.
void State::turn_calendar() {
  open_ = open_at(*windows_, clock_);
  const std::vector<Turn> turns = turns_after(*windows_, clock_);
  later_ = first_of_each(turns, open_);
  next_turn_ = turns.empty() ? kForever : turns.front().at;
  rebuild_quotas(capacity());
}

void State::on(const WindowChanged& event) {
  auto windows = std::make_shared<std::vector<Window>>(*windows_);
  if (event.number == windows->size()) windows->emplace_back();
  (*windows)[event.number] = event.window;
  windows_ = std::move(windows);
  turn_calendar();
  Quota changes;
  event.window.change(changes);
  changes.add_to(history_);
  history_.add(event.number).add(event.window.queue.value());
  for (const Interval& interval : event.window.open) history_.add(interval.from.ms).add(interval.to.ms);
  if (event.window.queue.is_none()) retry_who_keeps_hours(event.number);
}

void State::on(const CalendarTurned& event) {
  on(TimePassed{event.at});
  turn_calendar();
}

}  // namespace berth
