#include "cycle/kept_out.h"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <optional>
#include <set>
#include <variant>
#include <vector>

#include "cycle/deliverable.h"
#include "cycle/explain.h"
#include "cycle/feasibility.h"
#include "cycle/left_alone.h"
#include "cycle/mixtures.h"
#include "fairness/gates.h"
#include "placement/place.h"
#include "state/idle_room.h"
#include "state/trial.h"

namespace berth {
namespace {

// Each time the whole fleet is looked at.
std::int64_t tries_max(const State& state) {
  return std::max<std::int64_t>(64, 2'000'000 / static_cast<std::int64_t>(1 + state.nodes()));
}

// Amounts of queues are others at other hours, and with them who is covered until when.
bool has_a_calendar(const State& state) {
  return std::ranges::any_of(state.windows(), [](const Window& each) { return !each.queue.is_none(); });
}

// One workload on the empty cluster. INVARIANT: the trial is as it was found after each call.
class KeptOutSearch {
 public:
  KeptOutSearch(const State& idle, Trial& trial, WorkloadId id)
      : state_(idle),
        trial_(trial),
        id_(id),
        queue_(idle.workload(id).queue),
        shape_(idle.shape(idle.workload(id).shape)),
        tries_left_(tries_max(idle)) {}

  bool finds_one() {
    bool breaks_floors = false;
    for (std::size_t way = 0; way < shape_.ways.size(); ++way) {
      const AmountList asked = asked_by(state_, queue_, shape_, way);
      if (quota_refusal(state_.quotas(), queue_, shape_.user, shape_.terms, asked)) {
        if (is_above_bounds_alone(state_.quotas(), queue_, asked)) continue;
        return true;
      }
      const Found found = look(way, {});
      if (found == Found::kNoRoom && is_out(way)) continue;
      if (found != Found::kBreaksFloors || finds_one_apart(way)) return true;
      breaks_floors = true;
    }
    return !breaks_floors;
  }

 private:
  enum class Found : std::uint8_t { kPlace, kBreaksFloors, kNoRoom };

  // No place is in this way for it, whatever is promised to others.
  bool is_out(std::size_t way) const {
    Shape alone = shape_;
    alone.ways = {shape_.ways[way]};
    return reason_never(state_, alone) != ReasonCode::kNone;
  }

  // Beside this room. Where quotas refuse the mixture of flavors that it finds, that is another matter.
  Found look(std::size_t way, const KeptRoom& kept) {
    --tries_left_;
    const auto close = [&] {
      if (!kept.empty()) trial_.keep_from_all(kept);
    };
    bool breaks_floors = false;
    bool refused = false;
    close();
    const bool found = likes_a_mixture(state_, trial_, queue_, shape_, way, [&](const Mixture* mixture) {
      const Trial::Mark mark = trial_.mark();
      Rng rng(state_.seed());
      auto outcome = place_in_way(state_, trial_, index_, id_, way, rng, mixture);
      trial_.let_go();
      bool is_place = false;
      if (Start* const start = std::get_if<Start>(&outcome)) {
        const AmountList held = amounts_held(state_, shape_, *start);
        const bool passes = !quota_refusal(state_.quotas(), queue_, shape_.user, shape_.terms, held);
        is_place = passes && leaves_floors_whole_at_best(state_, trial_, *start, state_.quotas().now());
        refused = refused || !passes;
        breaks_floors = breaks_floors || (passes && !is_place);
      }
      trial_.rollback_to(mark);
      close();
      return is_place;
    });
    trial_.let_go();
    if (found) return Found::kPlace;
    if (breaks_floors) return Found::kBreaksFloors;
    return refused ? Found::kPlace : Found::kNoRoom;
  }

  // Beside the cells of others, and what is whole, and in what is near together or alike. True also where there is too much of that.
  bool finds_one_apart(std::size_t way) {
    for (const KeptRoom& kept : rooms_to_leave_alone(state_, trial_, id_)) {
      if (look(way, kept) == Found::kPlace) return true;
    }
    std::set<TopologyId> levels;
    for (std::size_t i = 0; i < state_.queues().size(); ++i) {
      for (const TopologyId level : state_.levels_of_cells(QueueId(i))) levels.insert(level);
    }
    for (const NumberedPodSet& set : shape_.ways[way]) {
      if (state_.topologies()[set.topology].together == Togetherness::kRequired) levels.insert(set.topology);
    }
    return std::ranges::any_of(levels, [&](TopologyId each) { return finds_one_in_a_domain(way, each); }) ||
           finds_one_on_one_kind(way);
  }

  bool finds_one_in_a_domain(std::size_t way, TopologyId level) {
    const Domains& domains = state_.topologies().domains(level);
    for (std::size_t i = 0; i < domains.size(); ++i) {
      if (finds_one_on(way, [&](NodeId node) { return domains.of(node) == DomainId(i); })) return true;
    }
    return false;
  }

  bool finds_one_on_one_kind(std::size_t way) {
    const NodeTypes& types = state_.node_types();
    for (std::uint32_t type = 0; type < types.counts.size() && types.counts.size() > 1; ++type) {
      if (finds_one_on(way, [&](NodeId node) { return types.of_node[node.index()] == type; })) return true;
    }
    return false;
  }

  // With its GPUs on these nodes alone, if they have as many.
  template <class Allowed>
  bool finds_one_on(std::size_t way, Allowed allowed) {
    std::vector<NodeId> closed;
    std::int64_t gpu_milli = 0;
    for (std::size_t i = 0; i < state_.nodes(); ++i) {
      const NodeFree& node = trial_.ledger().node(NodeId(i));
      if (node.gpus == 0 || !node.has_flavor_of(shape_.flavors)) continue;
      if (!allowed(NodeId(i))) {
        closed.push_back(NodeId(i));
      } else if (could_use(way, NodeId(i))) {
        gpu_milli += node.gpu_milli;
      }
    }
    if (gpu_milli == 0 || gpu_milli < shape_.gpu_milli || closed.empty()) return false;
    return tries_left_ <= 0 || look(way, {.gpus = {}, .nodes = closed}) == Found::kPlace;
  }

  bool could_use(std::size_t way, NodeId node) const {
    return std::ranges::any_of(shape_.ways[way], [&](const NumberedPodSet& set) {
      const PodRequest& request = state_.request(set.request);
      return request.gpus > 0 && could_be_on(state_, request, node);
    });
  }

  const State& state_;
  Trial& trial_;
  ScoreIndex index_;
  WorkloadId id_;
  QueueId queue_;
  const Shape& shape_;
  std::int64_t tries_left_;
};

}  // namespace

State emptied(const State& state) {
  State idle = state.fork();
  std::vector<WorkloadId> there;
  // A step goes with its minimum.
  idle.workloads().for_each([&](WorkloadId id, const Workload& workload) {
    const bool is_one = has_room(workload.phase) || is_there(workload.phase);
    if (is_one && workload.step_of.is_none()) there.push_back(id);
  });
  for (const WorkloadId id : there) idle.apply(WorkloadCancelled{id});
  while (!idle.reservations().empty()) idle.apply(ReservationRemoved{idle.reservations().begin()->first});
  for (std::size_t i = 0; i < idle.nodes(); ++i) {
    const bool some_broken = std::ranges::count(idle.ledger().broken(), NodeId(i), &Device::node) > 0;
    if (idle.is_down(NodeId(i)) || some_broken) idle.apply(NodeRestored{NodeId(i)});
  }
  return idle;
}

namespace {

// As nodes are chosen now, and packed tightly.
template <class Finds>
bool in_some_policy(State& idle, Finds finds) {
  const PlacementPolicy own = idle.policy();
  bool found = false;
  for (const PlacementPolicy policy : {own, PlacementPolicy::kBestFit, PlacementPolicy::kGpuPacking}) {
    idle.place_by(policy);
    Trial trial(idle.ledger_for_trial(), idle.quotas_for_trial());
    trial.scrub_idle();
    found = found || finds(trial);
  }
  idle.place_by(own);
  return found;
}

// Each of the pods would have a node of its own that could hold it, whatever the others have.
bool has_nodes_enough(const State& state, const std::vector<NumberedPodSet>& way) {
  std::int64_t pods = 0;
  for (const NumberedPodSet& set : way) pods += set.count;
  return std::ranges::all_of(way, [&](const NumberedPodSet& set) {
    const PodRequest& request = state.request(set.request);
    if (set.asks_for_domains() || request.neighbours != NeighboursId(0)) return false;
    if (state.ledger().exclusives().is_exclusive(request.exclusive)) return false;
    std::int64_t nodes = 0;
    for (std::size_t node = 0; node < state.nodes() && nodes < pods; ++node) {
      nodes += could_be_on(state, request, NodeId(node)) ? 1 : 0;
    }
    return nodes >= pods;
  });
}

// What is told of each set by itself is all that there is to be told.
bool is_clear_from_its_sets(const State& state, const std::vector<NumberedPodSet>& way) {
  const NumberedPodSet& first = way.front();
  const bool looks_around = state.request(first.request).neighbours != NeighboursId(0) ||
                            state.topologies()[first.topology].spread == Spreading::kEven;
  return (way.size() == 1 && !looks_around) || has_nodes_enough(state, way);
}

bool finds_place(const State& idle, Trial& trial, WorkloadId id) {
  const QueueId queue = idle.workload(id).queue;
  const Shape& shape = idle.shape(idle.workload(id).shape);
  ScoreIndex index;
  for (std::size_t way = 0; way < shape.ways.size(); ++way) {
    if (quota_refusal(idle.quotas(), queue, shape.user, shape.terms, asked_by(idle, queue, shape, way))) return true;
    const bool found = likes_a_mixture(idle, trial, queue, shape, way, [&](const Mixture* mixture) {
      const Trial::Mark mark = trial.mark();
      Rng rng(idle.seed());
      const auto outcome = place_in_way(idle, trial, index, id, way, rng, mixture);
      trial.rollback_to(mark);
      return std::holds_alternative<Start>(outcome);
    });
    if (found) return true;
  }
  return false;
}

}  // namespace

bool finds_place_beside_floors(State& idle, WorkloadId id) {
  if (idle.shape(idle.workload(id).shape).terms.replaces || has_a_calendar(idle)) return true;
  return in_some_policy(idle, [&](Trial& trial) { return KeptOutSearch(idle, trial, id).finds_one(); });
}

bool may_be_nowhere(const State& state, const Blocked& blocked) {
  const Line& line = *state.lines()[blocked.line.index()];
  if (line.order() != Order::kFifo || blocked.gate != ReasonCode::kNone || blocked.by_quota) return false;
  const Shape& shape = state.shape(blocked.shape);
  if (blocked.missing == kMissingForever || shape.terms.replaces || line.find(blocked.shape)->lacked_room) return false;
  return std::ranges::none_of(shape.ways, [&](const auto& way) { return is_clear_from_its_sets(state, way); });
}

std::optional<ReasonCode> reason_nowhere(State& idle, WorkloadId id) {
  // Where those are not there whom it is to be near, they may come.
  if (lacks_whom_to_be_near(idle, idle.ledger(), idle.shape(idle.workload(id).shape))) return std::nullopt;
  if (in_some_policy(idle, [&](Trial& trial) { return finds_place(idle, trial, id); })) return std::nullopt;
  const ReasonCode code = reason_of(idle, id);
  if (code == ReasonCode::kAffinity) return ReasonCode::kTopology;
  const bool is_one = code == ReasonCode::kTopology || code == ReasonCode::kSpread || code == ReasonCode::kPorts;
  if (is_one) return code;
  const auto& sets = idle.shape(idle.workload(id).shape).ways.front();
  const bool by_domains = std::ranges::any_of(sets, &NumberedPodSet::asks_for_domains);
  return by_domains ? ReasonCode::kTopology : ReasonCode::kFragmented;
}

std::string nowhere_text() {
  return "; not even if nothing else ran is a place for all of it found, so nobody waits behind it; let it be fewer or "
         "smaller pods, or ask less of where they are";
}

namespace {

// Of queues beside this one's own line, those that were promised whole GPUs or slices of one of the flavors; in cells, if some were.
std::vector<QueueId> floors_beside(const State& state, QueueId queue, FlavorSet flavors) {
  const QuotaTree& tree = state.quotas().tree();
  const auto has_gpus = [&](QueueId other) {
    for (std::size_t flavor = 0; flavor < state.flavors().size(); ++flavor) {
      const std::size_t dim = Dim(FlavorId(flavor), Resource::kGpu).index();
      if (flavors.contains(FlavorId(flavor)) && tree.floor(other)[dim] >= kMilliPerGpu) return true;
    }
    return std::ranges::any_of(tree.profiles_of_floor(other), [&](const NamedProfile& each) {
      return flavors.contains(each.dim.flavor()) && tree.floor(other)[each.dim.index()] > 0;
    });
  };
  const auto has_cells = [&](QueueId other) {
    return std::ranges::any_of(state.queues()[other.index()].quota.cells,
                               [&](const FloorCells& each) { return flavors.contains(each.flavor); });
  };
  std::vector<QueueId> floors;
  for (QueueId own = queue; !own.is_none(); own = tree.parent(own)) {
    std::ranges::copy_if(tree.children(tree.parent(own)), std::back_inserter(floors),
                         [&](QueueId other) { return other != own && has_gpus(other); });
  }
  if (std::ranges::any_of(floors, has_cells)) std::erase_if(floors, [&](QueueId each) { return !has_cells(each); });
  return floors;
}

}  // namespace

bool is_newly_refused_for_floors(const State& state, const Blocked& blocked) {
  const ShapeInLine& known = *state.lines()[blocked.line.index()]->find(blocked.shape);
  return blocked.gate == ReasonCode::kKeepsFloorDeliverable && known.gate != blocked.gate;
}

std::string kept_out_text(const State& state, QueueId queue, const Shape& shape) {
  constexpr std::size_t kNamedMax = 3;
  const std::vector<QueueId> floors = floors_beside(state, queue, shape.flavors);
  std::string names;
  for (std::size_t i = 0; i < std::min(floors.size(), kNamedMax); ++i) {
    names += (i == 0 ? "" : ", ") + state.queues()[floors[i].index()].name;
  }
  if (floors.size() > kNamedMax) names += " and others";
  return "; never: not even if nothing else ran would what is promised to " + (names.empty() ? "others" : names) +
         " be left whole, so nobody waits behind it; let it be on other nodes, in larger or fewer pieces, or run as "
         "best effort, or promise them less";
}

}  // namespace berth
