#include "journal/codec.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "base/property_seeds.h"

namespace berth::codec_test {

// Numbers at the ends of their ranges and of every length of varint.
template <class T>
T any(Rng& rng) {
  if constexpr (std::is_same_v<T, bool>) return rng.below(2) == 0;
  const std::uint64_t bits = rng.next() >> rng.below(64);
  return static_cast<T>(rng.below(2) == 0 ? bits : 0 - bits);
}

std::string any_text(Rng& rng) {
  std::string text(static_cast<std::size_t>(rng.below(9)), '\0');
  for (char& c : text) c = static_cast<char>(rng.below(256));
  return text;
}

template <class T>
T any_id(Rng& rng) {
  return rng.below(8) == 0 ? T() : T(any<std::uint32_t>(rng));
}

template <class Make>
auto any_list(Rng& rng, Make make) {
  std::vector<decltype(make())> items(static_cast<std::size_t>(rng.below(4)));
  for (auto& item : items) item = make();
  return items;
}

Labels any_labels(Rng& rng) {
  return any_list(rng, [&] { return Label{any_text(rng), any_text(rng)}; });
}

TaintEffect any_effect(Rng& rng) { return static_cast<TaintEffect>(rng.below(std::size(kTaintEffectNames))); }

std::vector<Taint> any_taints(Rng& rng) {
  return any_list(rng, [&] { return Taint{any_text(rng), any_text(rng), any_effect(rng)}; });
}

std::vector<LabelRequirement> any_requirements(Rng& rng) {
  return any_list(rng, [&] {
    return LabelRequirement{any_text(rng), static_cast<LabelOperator>(rng.below(std::size(kLabelOperatorNames))),
                            any_list(rng, [&] { return any_text(rng); })};
  });
}

NodeSelectorTerm any_term(Rng& rng) { return {any_requirements(rng), any_requirements(rng)}; }

NodeConstraints any_constraints(Rng& rng) {
  return {
      .select = any_requirements(rng),
      .any_of = any_list(rng, [&] { return any_term(rng); }),
      .tolerations = any_list(
          rng,
          [&] { return Toleration{any_text(rng), any<bool>(rng), any_text(rng), any<bool>(rng), any_effect(rng)}; }),
      .preferred = any_list(rng, [&] { return PreferredTerm{any_term(rng), any<std::int32_t>(rng)}; }),
      .images = any_list(rng, [&] { return any_text(rng); })};
}

std::vector<NodeImage> any_images(Rng& rng) {
  return any_list(rng, [&] { return NodeImage{any_text(rng), any<std::int64_t>(rng)}; });
}

Circle any_circle(Rng& rng) {
  Circle circle{.queues = any_list(rng, [&] { return any_id<QueueId>(rng); })};
  for (std::string& level : circle.apart) level = any_text(rng);
  return circle;
}

Sharing any_sharing(Rng& rng) { return static_cast<Sharing>(rng.below(std::size(kSharingNames))); }

SharingSet any_modes(Rng& rng) { return SharingSet::from_bits(any<std::uint8_t>(rng)); }

NumaPolicy any_numa_policy(Rng& rng) { return static_cast<NumaPolicy>(rng.below(std::size(kNumaPolicyNames))); }

HostAmounts any_host_amounts(Rng& rng) { return {any<std::int64_t>(rng), any<std::int64_t>(rng)}; }

Node any_node(Rng& rng) {
  return {any_text(rng),
          any_id<FlavorId>(rng),
          any<std::int32_t>(rng),
          any<std::int64_t>(rng),
          any<std::int64_t>(rng),
          any<std::int64_t>(rng),
          any<std::int32_t>(rng),
          any_labels(rng),
          any_taints(rng),
          any_sharing(rng),
          any_modes(rng),
          any<std::int32_t>(rng),
          MigPlaceSet::from_bits(any<std::uint32_t>(rng)),
          Duration{any<std::int64_t>(rng)},
          any_list(rng, [&] { return MigPlaceSet::from_bits(any<std::uint32_t>(rng)); }),
          any_host_amounts(rng),
          any_host_amounts(rng),
          any<std::int32_t>(rng),
          any_numa_policy(rng),
          GpuLinks{any<std::int32_t>(rng), any<std::int32_t>(rng)},
          any<bool>(rng),
          any_images(rng)};
}

PodPlacement any_placement(Rng& rng) {
  return {any_id<NodeId>(rng), GpuSet::from_bits(rng.next()), any<std::uint8_t>(rng)};
}

PodTerm any_pods(Rng& rng) {
  return {{any_list(rng, [&] { return any_text(rng); }), any_requirements(rng)}, any_text(rng)};
}

Neighbours any_neighbours(Rng& rng) {
  const auto terms = [&] { return any_list(rng, [&] { return any_pods(rng); }); };
  return {.name_space = any_text(rng),
          .labels = any_labels(rng),
          .near = terms(),
          .apart = terms(),
          .preferred = any_list(rng, [&] { return PreferredPodTerm{any_pods(rng), any<std::int32_t>(rng)}; }),
          .spreads = any_list(rng,
                              [&] {
                                return PodSpread{any_pods(rng),  any<std::int32_t>(rng), any<std::int32_t>(rng),
                                                 any<bool>(rng), any<bool>(rng),         any<bool>(rng)};
                              }),
          .ports = any_list(rng, [&] {
            return HostPort{any<std::int32_t>(rng), static_cast<Protocol>(rng.below(std::size(kProtocolNames))),
                            any_text(rng)};
          })};
}

PodSet any_set(Rng& rng) {
  PodRequest request{any<std::int64_t>(rng), any<std::int64_t>(rng), any<std::int32_t>(rng),
                     any<std::int32_t>(rng), any<std::int64_t>(rng), FlavorSet::from_bits(rng.next()),
                     any_sharing(rng),       any<std::uint8_t>(rng)};
  request.in_extra = any<bool>(rng);
  return {request,
          any<std::int64_t>(rng),
          any_constraints(rng),
          {static_cast<Togetherness>(rng.below(3)), any_text(rng), any<std::int64_t>(rng), any_text(rng),
           static_cast<Spreading>(rng.below(4)), any_text(rng), static_cast<OnNodes>(rng.below(kOnNodesCount))},
          any_neighbours(rng),
          {any<std::int64_t>(rng), any<std::int64_t>(rng), any<std::int64_t>(rng)},
          any_text(rng),
          any_text(rng)};
}

std::vector<Interval> any_times(Rng& rng) {
  return any_list(rng, [&] {
    const Time from{any<std::int64_t>(rng)};
    return Interval{from, Time{any<std::int64_t>(rng)}};
  });
}

AmountList any_amounts(Rng& rng) {
  return any_list(rng, [&] {
    return Amount{Dim::at(static_cast<std::size_t>(rng.below(Dim::count_max()))), any<std::int64_t>(rng)};
  });
}

Quota any_quota(Rng& rng) {
  return {
      .guarantee = any_amounts(rng),
      .limit = any_amounts(rng),
      .borrowing_limit = any_amounts(rng),
      .lending_limit = any_amounts(rng),
      .user_limit = any_amounts(rng),
      .weight_milli = any<std::int64_t>(rng),
      .fair_reclaim = static_cast<FairReclaim>(rng.below(std::size(kFairReclaimNames))),
      .preempt = static_cast<Preempt>(rng.below(std::size(kPreemptNames))),
      .reclaim_within = Duration{any<std::int64_t>(rng)},
      .patience = Duration{any<std::int64_t>(rng)},
      .min_runtime = Duration{any<std::int64_t>(rng)},
      .cooldown = Duration{any<std::int64_t>(rng)},
      .idle_after = Duration{any<std::int64_t>(rng)},
      .users = static_cast<UserOrder>(rng.below(std::size(kUserOrderNames))),
      .backfill = static_cast<Backfill>(rng.below(std::size(kBackfillNames))),
      .loans_percent = any<std::int32_t>(rng),
      .foresight = any<bool>(rng),
      .half_life = Duration{any<std::int64_t>(rng)},
      .budget_gpu_us = any<bool>(rng) ? std::optional(any<std::int64_t>(rng)) : std::nullopt,
      .budget_end = static_cast<BudgetEnd>(rng.below(std::size(kBudgetEndNames))),
      .over_run = static_cast<OverRun>(rng.below(std::size(kOverRunNames))),
      .extend = Duration{any<std::int64_t>(rng)},
      .extensions = any<std::int32_t>(rng),
      .dedicated = any_list(rng, [&] { return Label{any_text(rng), any_text(rng)}; }),
      .cells = any_list(rng, [&] { return FloorCells{any_id<FlavorId>(rng), any_text(rng), any<std::int64_t>(rng)}; })};
}

Queue any_queue(Rng& rng) {
  const auto order = rng.below(2) == 0 ? std::optional<Order>() : static_cast<Order>(rng.below(std::size(kOrderNames)));
  return {any_text(rng), any_id<QueueId>(rng), order, any_quota(rng), any<bool>(rng), any<bool>(rng)};
}

FailurePolicy any_failure_policy(Rng& rng) {
  const auto any_action = [&] { return static_cast<MemberAction>(rng.below(std::size(kMemberActionNames))); };
  FailurePolicy policy;
  policy.sets = any_list(rng, [&] {
    MemberPolicy set;
    set.on_fail = any_action();
    set.on_evict = any_action();
    set.on_exit = any_list(rng, [&] {
      const auto code = any<std::int32_t>(rng);
      return ExitRule{code, any_action()};
    });
    set.completes = any<bool>(rng);
    return set;
  });
  if (any<bool>(rng)) policy.retries = any<std::int32_t>(rng);
  policy.retry_after = Duration{any<std::int64_t>(rng)};
  if (any<bool>(rng)) policy.never_ready = Duration{any<std::int64_t>(rng)};
  return policy;
}

WorkloadSubmitted any_submission(Rng& rng) {
  WorkloadSubmitted submitted{any_text(rng), any_id<QueueId>(rng), Time{any<std::int64_t>(rng)}, {}, 0, {}};
  submitted.declared_run = Duration{any<std::int64_t>(rng)};
  submitted.rank = any<std::int64_t>(rng);
  submitted.user = any_text(rng);
  submitted.not_before = Time{any<std::int64_t>(rng)};
  submitted.after = any_list(
      rng, [&] { return Dependency{any_id<WorkloadId>(rng), static_cast<DependsOn>(rng.below(kDependsOnCount))}; });
  submitted.series = any_id<SeriesId>(rng);
  submitted.at_most = any<std::int32_t>(rng);
  submitted.goes_first = any<bool>(rng);
  if (any<bool>(rng)) {
    const auto why = static_cast<EvictionRule>(rng.below(std::size(kEvictionRuleNames)));
    submitted.backs_off = BackOff{.until = Time{any<std::int64_t>(rng)}, .why = why, .times = any<std::uint8_t>(rng)};
  }
  if (any<bool>(rng)) submitted.on_failure = any_failure_policy(rng);
  if (any<bool>(rng)) {
    const auto then = static_cast<AfterWait>(rng.below(std::size(kAfterWaitNames)));
    submitted.max_wait =
        MaxWait{.length = Duration{any<std::int64_t>(rng)}, .then = then, .raise = any<std::int32_t>(rng)};
  }
  submitted.shape.terms = {any<std::int32_t>(rng),
                           any<bool>(rng),
                           any<bool>(rng),
                           any<bool>(rng),
                           any<bool>(rng),
                           any<bool>(rng),
                           any<bool>(rng),
                           any<bool>(rng),
                           Duration{any<std::int64_t>(rng)},
                           any<std::int32_t>(rng),
                           {},
                           {}};
  submitted.step_of = any_id<WorkloadId>(rng);
  submitted.at_home_with = any_id<WorkloadId>(rng);
  if (any<bool>(rng)) submitted.shape.terms.run_limit = Duration{any<std::int64_t>(rng)};
  if (any<bool>(rng)) submitted.shape.terms.hours = any<std::uint32_t>(rng);
  submitted.shape.ways = any_list(rng, [&] { return any_list(rng, [&] { return any_set(rng); }); });
  return submitted;
}

WorkloadFound any_found(Rng& rng) {
  WorkloadFound found{any_submission(rng), any_list(rng, [&] { return any_placement(rng); }),
                      Time{any<std::int64_t>(rng)}};
  found.lost = any_list(rng, [&] { return any<std::uint32_t>(rng); });
  found.repair_until = Time{any<std::int64_t>(rng)};
  return found;
}

Plan any_plan(Rng& rng) {
  Plan plan{.now = Time{any<std::int64_t>(rng)}, .revision = rng.next(), .attempts = any<std::int64_t>(rng)};
  plan.finished = any<bool>(rng);
  plan.begins = any_list(rng, [&] { return any_id<WorkloadId>(rng); });
  plan.evictions = any_list(rng, [&] {
    return Eviction{any_id<WorkloadId>(rng),
                    any_id<WorkloadId>(rng),
                    static_cast<EvictionRule>(rng.below(std::size(kEvictionRuleNames))),
                    Time{any<std::int64_t>(rng)},
                    any<std::int64_t>(rng),
                    any_id<ReservationId>(rng)};
  });
  plan.unpaid = any_list(rng, [&] { return any_id<WorkloadId>(rng); });
  const auto any_start = [&] {
    return Start{any_id<WorkloadId>(rng),
                 any<std::uint32_t>(rng),
                 any_list(rng, [&] { return any_placement(rng); }),
                 any<bool>(rng),
                 any<bool>(rng),
                 any<bool>(rng),
                 any<bool>(rng) ? std::optional(Time{any<std::int64_t>(rng)}) : std::nullopt};
  };
  plan.migrations = any_list(rng, [&] {
    return Migration{any_start(), any_id<WorkloadId>(rng), Time{any<std::int64_t>(rng)}, any<std::int64_t>(rng)};
  });
  plan.repairs = any_list(rng, [&] {
    return Repair{any_id<WorkloadId>(rng), any_list(rng, [&] { return any_placement(rng); }), any<bool>(rng),
                  any<std::int64_t>(rng)};
  });
  plan.starts = any_list(rng, any_start);
  plan.repartitions = any_list(rng, [&] {
    return Repartition{any_id<NodeId>(rng),
                       any<std::int32_t>(rng),
                       MigPlaceSet::from_bits(any<std::uint32_t>(rng)),
                       MigPlaceSet::from_bits(any<std::uint32_t>(rng)),
                       any_id<WorkloadId>(rng),
                       Duration{any<std::int64_t>(rng)},
                       any<std::int64_t>(rng)};
  });
  if (any<bool>(rng)) plan.shadows = any_list(rng, [&] { return Shadow{Time{any<std::int64_t>(rng)}, any_start()}; });
  if (any<bool>(rng)) {
    plan.holdings = any_list(rng, [&] {
      const auto any_gpus = [&] { return GpusOfNode{any_id<NodeId>(rng), GpuSet::from_bits(rng.next())}; };
      return HeldPlaces{any_id<ReservationId>(rng), any_list(rng, any_gpus), Time{any<std::int64_t>(rng)}};
    });
  }
  plan.blocked = any_list(rng, [&] {
    return Blocked{any_id<QueueId>(rng), any_id<ShapeId>(rng), any<std::int64_t>(rng),
                   static_cast<ReasonCode>(rng.below(std::size(kReasonNames))), any<bool>(rng)};
  });
  plan.defragmented = any<bool>(rng);
  return plan;
}

constexpr std::size_t kEventTypes = std::variant_size_v<Event>;
constexpr std::size_t kRecordTypes = kEventTypes + 3;

JournalRecord any_record(Rng& rng, std::size_t type) {
  switch (type) {
    case 0:
      return Event(
          RunConfigured{Seed{rng.next()}, static_cast<PlacementPolicy>(rng.below(std::size(kPlacementPolicyNames)))});
    case 1:
      return Event(FlavorAdded{{any_text(rng), any_text(rng), any<std::int64_t>(rng), any<std::int64_t>(rng)}});
    case 2:
      return Event(TypicalPodsChosen{any_list(rng, [&] {
        return TypicalPod{any<std::int64_t>(rng), any<std::int32_t>(rng), any<std::int32_t>(rng),
                          FlavorSet::from_bits(rng.next()), any<std::int64_t>(rng)};
      })});
    case 3:
      return Event(QueueAdded{any_queue(rng)});
    case 4:
      return Event(NodesAdded{any_list(rng, [&] { return any_node(rng); })});
    case 5:
      return Event(NodeFailed{any_id<NodeId>(rng)});
    case 6:
      return Event(NodeDrained{any_id<NodeId>(rng)});
    case 7:
      return Event(NodeRestored{any_id<NodeId>(rng)});
    case 8:
      return Event(any_submission(rng));
    case 9:
      return Event(WorkloadEnded{any_id<WorkloadId>(rng)});
    case 10:
      return Event(WorkloadCancelled{any_id<WorkloadId>(rng)});
    case 11:
      return Event(any_found(rng));
    case 12:
      return Event(WorkloadStopped{any_id<WorkloadId>(rng)});
    case 13:
      return Event(CheckpointReported{any_id<WorkloadId>(rng), Time{any<std::int64_t>(rng)}});
    case 14:
      return Event(PodEnded{any_id<WorkloadId>(rng), static_cast<std::uint32_t>(rng.next())});
    case 15:
      return Event(LeavingFound{any_id<WorkloadId>(rng), Time{any<std::int64_t>(rng)}});
    case 16:
      return Event(WorkloadOverran{any_id<WorkloadId>(rng)});
    case 17:
      return Event(QueueChanged{any_id<QueueId>(rng), any_queue(rng)});
    case 18:
      return Event(WorkloadPrioritized{any_id<WorkloadId>(rng), any<std::int32_t>(rng)});
    case 19:
      return Event(WorkloadMoved{any_id<WorkloadId>(rng), any_id<QueueId>(rng)});
    case 20:
      return Event(TimePassed{Time{any<std::int64_t>(rng)}});
    case 21: {
      WindowChanged changed{any<std::uint32_t>(rng), {}};
      changed.window.queue = any_id<QueueId>(rng);
      for (AmountList* const amounts : {&changed.window.guarantee, &changed.window.limit,
                                        &changed.window.borrowing_limit, &changed.window.lending_limit}) {
        *amounts = any_amounts(rng);
      }
      if (any<bool>(rng)) changed.window.weight_milli = any<std::int64_t>(rng);
      changed.window.open = any_times(rng);
      changed.window.known_until = Time{any<std::int64_t>(rng)};
      return Event(changed);
    }
    case 22:
      return Event(CalendarTurned{Time{any<std::int64_t>(rng)}});
    case 23:
      return Event(GrantAdded{any_id<QueueId>(rng), any<std::int64_t>(rng), Time{any<std::int64_t>(rng)}});
    case 24:
      return Event(GpuTimeUsed{any_id<QueueId>(rng), static_cast<std::uint32_t>(rng.below(9)), any<std::int64_t>(rng)});
    case 25:
      return Event(PastUseFound{any_id<QueueId>(rng), Time{any<std::int64_t>(rng)}, any_amounts(rng)});
    case 26:
      return Event(GpuTimeCounted{any_id<QueueId>(rng), Time{any<std::int64_t>(rng)}});
    case 27:
      return Event(GpuTimeMissed{any_id<QueueId>(rng), any<std::int64_t>(rng), Time{any<std::int64_t>(rng)},
                                 Time{any<std::int64_t>(rng)}});
    case 28:
      return Event(RoomGivenBack{any_id<WorkloadId>(rng), Time{any<std::int64_t>(rng)}});
    case 29:
      return Event(FloorUseFound{any_id<QueueId>(rng), any_amounts(rng), any_list(rng, [&] {
                                   return FloorUse{Dim::at(static_cast<std::size_t>(rng.below(Dim::count_max()))),
                                                   any<std::int64_t>(rng), Time{any<std::int64_t>(rng)}};
                                 })});
    case 30:
      return Event(PastUseKept{any_id<QueueId>(rng), Time{any<std::int64_t>(rng)}, Time{any<std::int64_t>(rng)},
                               any_amounts(rng), any_amounts(rng)});
    case 31:
      return Event(NodeRelabelled{any_id<NodeId>(rng), any_labels(rng), any_taints(rng), any<bool>(rng)});
    case 32:
      return Event(
          TrustChanged{any_list(rng, [&] { return any_circle(rng); }), Time{any<std::int64_t>(rng)}, any<bool>(rng)});
    case 33:
      return Event(ScrubChosen{Duration{any<std::int64_t>(rng)}});
    case 34:
      return Event(DeviceScrubbed{any_id<NodeId>(rng), any<std::int32_t>(rng), any<bool>(rng)});
    case 35:
      return Event(RepairChosen{Duration{any<std::int64_t>(rng)}});
    case 36:
      return Event(PodFailed{any_id<WorkloadId>(rng), static_cast<std::uint32_t>(rng.next()), any<std::int32_t>(rng)});
    case 37:
      return Event(RepairGivenUp{any_id<WorkloadId>(rng)});
    case 38:
      return Event(ReservationAdded{
          {any_text(rng), any_id<QueueId>(rng), any_id<FlavorId>(rng), any<std::int64_t>(rng),
           any_list(rng, [&] { return any_id<NodeId>(rng); }), Time{any<std::int64_t>(rng)},
           Duration{any<std::int64_t>(rng)}, Duration{any<std::int64_t>(rng)}, any_times(rng)},
          any<bool>(rng),
          any_list(rng, [&] { return GpusOfNode{any_id<NodeId>(rng), GpuSet::from_bits(rng.next())}; })});
    case 39:
      return Event(ReservationRemoved{any_id<ReservationId>(rng)});
    case 40:
      return Event(MaxWaitPassed{any_id<WorkloadId>(rng)});
    case 41:
      return Event(DefragmentationAsked{
          any_list(
              rng,
              [&] { return MoveAsked{any_id<WorkloadId>(rng), any_list(rng, [&] { return any_placement(rng); })}; }),
          any<std::int32_t>(rng), Duration{any<std::int64_t>(rng)}, any<std::uint8_t>(rng), any_id<FlavorId>(rng)});
    case 42:
      return Event(SlicesRecut{any_id<NodeId>(rng), any<std::int32_t>(rng)});
    case 43:
      return Event(NodeFailureFound{any_id<NodeId>(rng), Time{any<std::int64_t>(rng)}});
    case 44:
      return Event(WorkloadReady{any_id<WorkloadId>(rng)});
    case 45:
      return Event(NeverReady{any_id<WorkloadId>(rng)});
    case 46:
      return Event(LimitExtended{any_id<WorkloadId>(rng), Duration{any<std::int64_t>(rng)}});
    case 47:
      return Event(ReservationTimesTold{any_id<ReservationId>(rng), any_times(rng)});
    case 48:
      return Event(NodeImagesChanged{any_id<NodeId>(rng), any_images(rng)});
    case 49:
      return Event(PodsEvicted{any_id<WorkloadId>(rng),
                               any_list(rng, [&] { return static_cast<std::uint32_t>(rng.next()); }),
                               Time{any<std::int64_t>(rng)}});
    case 50:
      return Event(CutFound{any_id<NodeId>(rng), MigPlaceSet::from_bits(any<std::uint32_t>(rng)), any<bool>(rng),
                            Time{any<std::int64_t>(rng)}});
    case kEventTypes:
      return CycleAsked{Time{any<std::int64_t>(rng)}, Effort{any<std::int64_t>(rng)}};
    case kEventTypes + 1:
      return any_plan(rng);
    default:
      return RunClosed{rng.next()};
  }
}

std::size_t type_of(const JournalRecord& record) {
  return std::holds_alternative<Event>(record) ? std::get<Event>(record).index() : kEventTypes + record.index() - 1;
}

// Events compare by what they say, which is what they encode to, and here also field by field.
void expect_same_fields(const JournalRecord& a, const JournalRecord& b) {
  ASSERT_EQ(type_of(a), type_of(b));
  if (const Plan* const plan = std::get_if<Plan>(&a)) {
    ASSERT_EQ(*plan, std::get<Plan>(b));
  }
  if (!std::holds_alternative<Event>(a)) return;
  const Event& event = std::get<Event>(a);
  const Event& other = std::get<Event>(b);
  if (const auto* const flavor = std::get_if<FlavorAdded>(&event)) {
    ASSERT_EQ(flavor->flavor, std::get<FlavorAdded>(other).flavor);
  } else if (const auto* const nodes = std::get_if<NodesAdded>(&event)) {
    ASSERT_EQ(nodes->nodes, std::get<NodesAdded>(other).nodes);
  } else if (const auto* const queue = std::get_if<QueueAdded>(&event)) {
    ASSERT_EQ(queue->queue, std::get<QueueAdded>(other).queue);
  } else if (const auto* const changed = std::get_if<QueueChanged>(&event)) {
    ASSERT_EQ(changed->queue, std::get<QueueChanged>(other).queue);
    ASSERT_EQ(changed->now, std::get<QueueChanged>(other).now);
  } else if (const auto* const typical = std::get_if<TypicalPodsChosen>(&event)) {
    ASSERT_EQ(typical->pods, std::get<TypicalPodsChosen>(other).pods);
  } else if (const auto* const job = std::get_if<WorkloadSubmitted>(&event)) {
    const auto& again = std::get<WorkloadSubmitted>(other);
    ASSERT_EQ(job->name, again.name);
    ASSERT_EQ(job->queue, again.queue);
    ASSERT_EQ(job->at, again.at);
    ASSERT_EQ(job->declared_run, again.declared_run);
    ASSERT_EQ(job->rank, again.rank);
    ASSERT_EQ(job->user, again.user);
    ASSERT_EQ(job->not_before, again.not_before);
    ASSERT_EQ(job->after, again.after);
    ASSERT_EQ(job->step_of, again.step_of);
    ASSERT_EQ(job->at_home_with, again.at_home_with);
    ASSERT_EQ(job->series, again.series);
    ASSERT_EQ(job->at_most, again.at_most);
    ASSERT_EQ(job->max_wait, again.max_wait);
    ASSERT_EQ(job->goes_first, again.goes_first);
    ASSERT_EQ(job->backs_off, again.backs_off);
    ASSERT_EQ(job->on_failure, again.on_failure);
    ASSERT_EQ(job->shape, again.shape);
  } else if (const auto* const found = std::get_if<WorkloadFound>(&event)) {
    ASSERT_EQ(found->pods, std::get<WorkloadFound>(other).pods);
    ASSERT_EQ(found->started, std::get<WorkloadFound>(other).started);
    ASSERT_EQ(found->lost, std::get<WorkloadFound>(other).lost);
    ASSERT_EQ(found->repair_until, std::get<WorkloadFound>(other).repair_until);
    ASSERT_EQ(found->workload.shape, std::get<WorkloadFound>(other).workload.shape);
  } else if (const auto* const reserved = std::get_if<ReservationAdded>(&event)) {
    ASSERT_EQ(reserved->reservation, std::get<ReservationAdded>(other).reservation);
  } else if (const auto* const told = std::get_if<ReservationTimesTold>(&event)) {
    ASSERT_EQ(told->reservation, std::get<ReservationTimesTold>(other).reservation);
    ASSERT_EQ(told->later, std::get<ReservationTimesTold>(other).later);
  } else if (const auto* const window = std::get_if<WindowChanged>(&event)) {
    ASSERT_EQ(window->number, std::get<WindowChanged>(other).number);
    ASSERT_EQ(window->window, std::get<WindowChanged>(other).window);
  }
}

TEST(CodecProperty, WhatIsEncodedDecodesToTheSame) {
  for (const Seed seed : property_seeds(500)) {
    SCOPED_TRACE(name_of(seed));
    Rng rng(seed);
    for (std::size_t type = 0; type < kRecordTypes; ++type) {
      const JournalRecord record = any_record(rng, type);
      ASSERT_EQ(type_of(record), type) << "a type is missing in this test";
      const Bytes bytes = encode(record);
      const auto again = decode(bytes);
      ASSERT_TRUE(again.has_value()) << again.error();
      expect_same_fields(record, *again);
      ASSERT_EQ(encode(*again), bytes);
      for (std::size_t cut = 0; cut < bytes.size(); ++cut) {
        ASSERT_FALSE(decode(std::span(bytes).first(cut)).has_value()) << "cut to " << cut << " bytes";
      }
      Bytes longer = bytes;
      longer.push_back(0);
      ASSERT_FALSE(decode(longer).has_value());
      if (HasFatalFailure()) return;
    }
  }
}

TEST(CodecProperty, WhatDecodesHasOneEncoding) {
  int understood = 0;
  for (const Seed seed : property_seeds(500)) {
    SCOPED_TRACE(name_of(seed));
    Rng rng(seed);
    for (int i = 0; i < 100; ++i) {
      Bytes bytes = encode(any_record(rng, static_cast<std::size_t>(rng.below(kRecordTypes))));
      for (std::int64_t changes = rng.between(0, 3); changes > 0 && !bytes.empty(); --changes) {
        const auto at = static_cast<std::ptrdiff_t>(rng.below(bytes.size()));
        const auto byte = static_cast<std::uint8_t>(rng.below(256));
        const std::uint64_t change = rng.below(3);
        if (change == 0) bytes[static_cast<std::size_t>(at)] = byte;
        if (change == 1) bytes.insert(bytes.begin() + at, byte);
        if (change == 2) bytes.erase(bytes.begin() + at);
      }
      const auto record = decode(bytes);
      if (!record) continue;
      ++understood;
      ASSERT_EQ(encode(*record), bytes);
    }
  }
  EXPECT_GT(understood, 0);
}

TEST(Codec, RefusesWhatHasAnotherForm) {
  struct Case {
    const char* what;
    Bytes bytes;
    const char* refusal;  // empty: understood
  };
  const Case cases[] = {
      {"nothing", {}, "it is empty"},
      {"unknown type", {static_cast<std::uint8_t>(kEventTypes)}, "its type is unknown"},
      {"a type between", {63}, "its type is unknown"},
      {"node 5 fails", {5, 5}, ""},
      {"no node at all", {5, 0xff, 0xff, 0xff, 0xff, 0x0f}, ""},
      {"a node beyond 32 bits", {5, 0x80, 0x80, 0x80, 0x80, 0x10}, "a field is damaged"},
      {"a longer form of 5", {5, 0x85, 0}, "a field is damaged"},
      {"more after the end", {5, 5, 0}, "bytes follow the last field"},
      {"the largest number", {66, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1}, ""},
      {"beyond 64 bits", {66, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 2}, "a field is damaged"},
      {"eleven bytes", {66, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1}, "a field is damaged"},
      {"an unknown policy", {0, 1, 99}, "a field is damaged"},
      {"an unknown order", {3, 0, 0, 1, 3}, "a field is damaged"},
      {"neither true nor false", {3, 0, 0, 2}, "a field is damaged"},
      {"more nodes than bytes", {4, 0xff, 0xff, 0xff, 0xff, 0x0f}, "a field is damaged"},
      {"a text longer than the record", {1, 9, 'a'}, "a field is damaged"},
  };
  for (const Case& c : cases) {
    const auto record = decode(c.bytes);
    EXPECT_EQ(record ? "" : record.error(), c.refusal) << c.what;
  }
}

}  // namespace berth::codec_test
