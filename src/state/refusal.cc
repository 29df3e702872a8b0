// What the state refuses to believe, event by event. Everything here can be caused from outside (a damaged journal, a wrong trace), so
// nothing here asserts.
#include <algorithm>
#include <initializer_list>
#include <set>

#include "base/wide.h"
#include "model/gpu_hardware.h"
#include "model/vgpu_profiles.h"
#include "state/found_refusals.h"
#include "state/queue_refusals.h"
#include "state/reservation_refusals.h"
#include "state/state.h"
#include "state/value_refusals.h"
#include "state/workload_refusals.h"

namespace berth {
namespace {

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
