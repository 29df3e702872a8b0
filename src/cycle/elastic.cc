#include "cycle/elastic.h"

#include <algorithm>
#include <cstddef>
#include <tuple>
#include <utility>

#include "fairness/kept_back.h"
#include "fairness/rights.h"
#include "placement/place_beside.h"
#include "state/elastic_work.h"

namespace berth {
namespace {

const Start* find_start(const Plan& plan, WorkloadId id) {
  const auto found = std::ranges::find(plan.starts, id, &Start::workload);
  return found == plan.starts.end() ? nullptr : &*found;
}

bool is_told_to_stop(const Plan& plan, WorkloadId id) {
  return std::ranges::find(plan.evictions, id, &Eviction::workload) != plan.evictions.end();
}

// Nobody of a strict line passes who would take what a blocked head waits for, but beside what was promised to that one.
bool stands_behind(const State& state, const Plan& plan, const std::vector<Shadow>& shadows, WorkloadId id) {
  const Shape& shape = state.shape(state.workload(id).shape);
  const QueueId queue = state.line_of(state.workload(id).queue);
  const Line& line = *state.lines()[queue.index()];
  if (line.order() != Order::kFifo) return false;
  const bool is_promised = std::ranges::any_of(shadows, [&](const Shadow& each) {
    const Workload& other = state.workload(each.start.workload);
    return state.line_of(other.queue) == queue && state.shape(other.shape).flavors.meets(shape.flavors);
  });
  if (is_promised) return false;
  return std::ranges::any_of(line.shapes(), [&](const ShapeInLine& entry) {
    const auto left = left_of(state, plan, queue, entry);
    return left && holds_up(state, queue, *left, shape);
  });
}

// The way in which it was placed, with whom it lacks and the steps that are there; none if none is of that kind any more.
std::optional<std::size_t> way_of(const State& state, WorkloadId id) {
  const auto& ways = state.shape(state.workload(id).shape).ways;
  const Repairing* const lacks = state.find_repairing(id);
  const auto suits = [&](std::size_t way) {
    const auto has = [&](RequestId request) {
      return std::ranges::find(ways[way], request, &NumberedPodSet::request) != ways[way].end();
    };
    bool all = true;
    for_each_pod(state, id, [&](const Pod& pod) { all = all && has(pod.request); });
    all = all && (lacks == nullptr || std::ranges::all_of(lacks->lost, has, &LostMember::request));
    return all && std::ranges::all_of(state.steps_of(id), [&](WorkloadId step) {
             const Workload& each = state.workload(step);
             if (each.phase != Phase::kRunning) return true;
             return state.pod(each.first_pod).request == state.shape(each.shape).ways[way].front().request;
           });
  };
  for (std::size_t way = 0; way < ways.size(); ++way) {
    if (suits(way)) return way;
  }
  return std::nullopt;
}

// A pod set that it may be of: where that one's pods and the steps near them are. Of sets that are alike it may be beside any, of those
// that only prefer to be near each other beside all.
using Beside = std::vector<std::optional<NodeId>>;

std::vector<Beside> sets_beside(const State& state, const Growing& growing, WorkloadId step) {
  const auto set_of = [&](WorkloadId id) { return state.shape(state.workload(id).shape).ways[*growing.way].front(); };
  const NumberedPodSet own = set_of(step);
  const Topology& topology = state.topologies()[own.topology];
  const bool is_required = topology.together == Togetherness::kRequired;
  std::vector<Beside> all;
  std::size_t first = 0;
  for (const NumberedPodSet& set : state.shape(state.workload(growing.minimum).shape).ways[*growing.way]) {
    const std::size_t end = first + static_cast<std::size_t>(set.count);
    if (set.is_like(own)) {
      Beside& at = all.empty() || is_required ? all.emplace_back() : all.front();
      for (std::size_t pod = first; pod < end; ++pod) {
        if (growing.pods[pod]) at.push_back(growing.pods[pod]);
      }
    }
    first = end;
  }
  const auto is_near = [&](NodeId node, const Beside& at) {
    if (all.size() == 1 || at.empty()) return true;
    const Domains& domains = state.topologies().domains(own.topology);
    return domains.of(node) == domains.of(*at.front());
  };
  for (Beside& at : all) {
    for (const Growing::Step& each : growing.there) {
      if (set_of(each.id).is_like(own) && is_near(each.node, at)) at.emplace_back(each.node);
    }
  }
  return all;
}

// Whether it is there, or begins, by the end of this plan; then where its pods are.
bool find_pods(const State& state, const Plan& plan, Growing& growing) {
  const Workload& workload = state.workload(growing.minimum);
  growing.pods.resize(static_cast<std::size_t>(state.shape(workload.shape).pods));
  if (const Start* const start = find_start(plan, growing.minimum)) {
    if (start->waits || start->best_effort) return false;
    growing.begins = true;
    growing.way = start->way;
    growing.pods.assign(start->pods.size(), {});
    for (std::size_t pod = 0; pod < start->pods.size(); ++pod) growing.pods[pod] = start->pods[pod].node;
    return true;
  }
  const bool runs = workload.phase == Phase::kRunning;
  const bool has_just_begun = runs && workload.started == plan.now && !workload.resized;
  growing.begins = has_just_begun || std::ranges::find(plan.begins, growing.minimum) != plan.begins.end();
  const bool counts = workload.best_effort == state.shape(workload.shape).terms.best_effort;
  const Repairing* const lacks = state.find_repairing(growing.minimum);
  const auto repair = std::ranges::find(plan.repairs, growing.minimum, &Repair::workload);
  const bool is_repaired = repair != plan.repairs.end() && !repair->waits;
  const bool is_whole = lacks == nullptr || is_repaired || (growing.begins && lacks->lost.empty());
  if ((!runs && !growing.begins) || !counts || !is_whole) return false;
  growing.way = way_of(state, growing.minimum);
  if (!growing.way) return false;
  for_each_pod(state, growing.minimum, [&](const Pod& pod) { growing.pods[pod.number] = pod.node; });
  if (!is_repaired) return true;
  // All go on anew from here.
  growing.begins = true;
  for (std::size_t i = 0; i < lacks->lost.size(); ++i) growing.pods[lacks->lost[i].number] = repair->pods[i].node;
  return true;
}

bool may_grow(const State& state, const Plan& plan, const std::vector<Shadow>& shadows, const Growing& growing) {
  const Workload& workload = state.workload(growing.minimum);
  if (is_told_to_stop(plan, growing.minimum)) return false;
  if (!state.held_at(workload.queue).is_none() || !state.closed_at(workload.queue).is_none()) return false;
  const bool rests = !growing.begins && workload.resized && *workload.resized + kResizeCooldown > plan.now;
  // Whoever runs on beyond its limit has no time left that could be reserved for more of it.
  const bool over_runs =
      workload.phase == Phase::kRunning && state.end_of(growing.minimum, workload.started) <= plan.now;
  return !rests && !over_runs && !stands_behind(state, plan, shadows, growing.minimum);
}

// What it did since its last report it does again; until it would be done as it is, or its limit ends it, its new pods have to do more
// than that. So it is done sooner with them. PRE: it has declared its run.
bool is_done_sooner(const State& state, const Growing& growing, const Growth& growth, Time now) {
  const Workload& workload = state.workload(growing.minimum);
  const Wide again = done_since_safe(state, growing.minimum, now);
  if (again == 0) return true;
  const Wide left = Wide{workload.declared_run.ms} * state.shape(workload.shape).pods - again;
  if (growth.pods * left <= again * pods_of_elastic(state, growing.minimum)) return false;
  const Time end = state.end_of(growing.minimum, workload.started);
  return end == kForever || Wide{growth.pods} * (end - now).ms > again;
}

}  // namespace

std::optional<ShapeInLine> left_of(const State& state, const Plan& plan, QueueId line, const ShapeInLine& entry) {
  const auto starts = std::ranges::count_if(plan.starts, [&](const Start& start) {
    const Workload& workload = state.workload(start.workload);
    return workload.shape == entry.shape && workload.step_of.is_none() && state.line_of(workload.queue) == line;
  });
  if (std::cmp_greater_equal(starts, entry.waiting.size())) return std::nullopt;
  ShapeInLine left{.shape = entry.shape, .waiting = {}, .missing = entry.missing, .gate = entry.gate, .listed = {}};
  const auto news = std::ranges::find_if(
      plan.blocked, [&](const Blocked& each) { return each.line == line && each.shape == entry.shape; });
  if (news == plan.blocked.end()) return left;
  left.missing = news->missing;
  left.gate = news->gate;
  return left;
}

std::vector<Growing> who_may_grow(const State& state, const Plan& plan, const std::vector<Shadow>& shadows) {
  std::vector<Growing> list;
  for (const auto& [minimum, steps] : state.elastic()) {
    Growing growing{.minimum = minimum};
    if (!find_pods(state, plan, growing) || !may_grow(state, plan, shadows, growing)) continue;
    for (const WorkloadId step : steps) {
      const Workload& each = state.workload(step);
      if (each.phase == Phase::kPending) growing.steps.push_back(step);
      if (each.phase == Phase::kRunning) growing.there.push_back({step, state.pod(each.first_pod).node});
    }
    if (!growing.steps.empty()) list.push_back(std::move(growing));
  }
  std::ranges::stable_sort(list, std::ranges::greater(), [&](const Growing& each) {
    return state.shape(state.workload(each.minimum).shape).terms.priority;
  });
  return list;
}

std::optional<Start> place_step(const State& state, Trial& trial, ScoreIndex& index, const Growing& growing,
                                WorkloadId step, Rng& rng, const Mixture* mixture) {
  Start start{.workload = step, .way = static_cast<std::uint32_t>(*growing.way), .pods = {}};
  const NumberedPodSet& set = state.shape(state.workload(step).shape).ways[*growing.way].front();
  if (!set.asks_for_domains()) {
    auto outcome = place_in_way(state, trial, index, step, *growing.way, rng, mixture);
    if (Start* const found = std::get_if<Start>(&outcome)) return std::move(*found);
    return std::nullopt;
  }
  for (Beside& at : sets_beside(state, growing, step)) {
    PartOfASet part{.set = set, .at = std::move(at), .lost = {}};
    part.lost.push_back(part.at.size());
    part.at.emplace_back();
    if (mixture != nullptr) part.set.request = set.in_first_flavor;
    auto places = place_beside(state, trial, index, part, rng);
    if (!places) continue;
    start.pods = std::move(*places);
    return start;
  }
  return std::nullopt;
}

bool growth_pays(const State& state, const Growing& growing, const Growth& growth, Time now) {
  const Workload& workload = state.workload(growing.minimum);
  const Terms& terms = state.shape(workload.shape).terms;
  if (growing.begins || terms.resizes_live) return true;
  if (workload.declared_run != kRunNotDeclared) return is_done_sooner(state, growing, growth, now);
  const std::int64_t lost_gpu_s = lost_if_taken_gpu_s(state, growing.minimum, now);
  if (lost_gpu_s == 0) return true;
  const Time end = state.end_of(growing.minimum, workload.started);
  const Wide gained_gpu_us = growth.gpu_milli * std::max<std::int64_t>(0, (end - now).ms);
  return end != kForever && gained_gpu_us / 1'000'000 > lost_gpu_s;
}

}  // namespace berth
