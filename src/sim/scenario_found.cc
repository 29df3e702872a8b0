#include "sim/scenario_found.h"

#include <algorithm>

#include "cycle/kept_aside_text.h"
#include "model/quantity.h"
#include "model/reason.h"
#include "sim/scenario_moment.h"

namespace berth::scenario {
namespace {

constexpr std::size_t kNamesShownMax = 8;

}  // namespace

std::string joined(std::span<const std::string> names) {
  std::string out;
  for (std::size_t i = 0; i < std::min(names.size(), kNamesShownMax); ++i) out += (i > 0 ? ", " : "") + names[i];
  return names.size() > kNamesShownMax ? out + ", ..." : out;
}

std::string counted(std::int64_t count, const std::string& thing) {
  return with_separators(count) + " " + thing + (count == 1 ? "" : "s");
}

Whereabouts whereabouts(ScenarioWorld& world, WorkloadId id) {
  Whereabouts found;
  // Names are copied and sorted, which costs more than a look at a number.
  const std::vector<WorkloadId>& steps = world.state().steps_of(id);
  if (!world.afford(20 * (Wide{world.state().shape(world.workload(id).shape).pods} + std::ssize(steps)))) return found;
  const auto note = [&](const Pod& pod) {
    ++found.pods;
    const Node& node = world.state().node(pod.node);
    found.nodes.push_back(node.name);
    if (world.state().request(pod.request).gpus > 0) found.flavors.add(node.flavor);
  };
  for_each_pod(world.state(), id, note);
  for (const WorkloadId step : steps) {
    if (world.workload(step).phase == Phase::kRunning) for_each_pod(world.state(), step, note);
  }
  found.ranks = found.nodes;
  std::sort(found.nodes.begin(), found.nodes.end());
  found.nodes.erase(std::unique(found.nodes.begin(), found.nodes.end()), found.nodes.end());
  return found;
}

std::string flavors_text(const ScenarioWorld& world, FlavorSet flavors) {
  std::vector<std::string> names;
  for (std::size_t i = 0; i < world.state().flavors().size(); ++i) {
    if (flavors.contains(FlavorId(i))) names.push_back(world.name_of_flavor(FlavorId(i)));
  }
  return names.empty() ? "no GPUs" : joined(names);
}

std::string names_of(const ScenarioWorld& world, const std::vector<WorkloadId>& workloads) {
  std::vector<std::string> names;
  for (const WorkloadId id : workloads) names.push_back(world.name_of_workload(id));
  return names.empty() ? "nobody" : joined(names);
}

Explanation explained(ScenarioWorld& world, WorkloadId id) {
  const bool affordable =
      world.afford(1 + Wide{world.nodes()} * sets_of(world.state().shape(world.workload(id).shape)));
  world.bring_state_to_now();
  if (!affordable) return {};
  Explanation why = explain(world.state(), id);
  std::vector<std::string> names;
  const std::vector<Dependency> awaited = awaited_by(world.state(), id);
  for (const Dependency& each : awaited) names.push_back(world.name_of_workload(each.on));
  if (!awaited.empty()) why.text = awaited_text(awaited, names);
  return why;
}

std::string how_it_is(ScenarioWorld& world, WorkloadId id) {
  switch (world.workload(id).phase) {
    case Phase::kEnded:
      if (world.workload(id).failure != Failure::kNone) return "failed: " + failure_text(world.workload(id));
      return world.workload(id).evicted_by == EvictionRule::kOverRun ? "evicted: it ran as long as its limit allows"
                                                                     : "done";
    case Phase::kCancelled: {
      const std::optional<Duration> waited = world.waited_in_vain(id);
      return waited ? "cancelled: it waited for " + format_duration_ms(waited->ms) + ", as long as it was to"
                    : "cancelled";
    }
    case Phase::kStarting:
      return "starting, as soon as those have stopped who are still where it goes";
    case Phase::kMigrating:
      return "evicting, until " + format_moment(world.workload(id).stop_by) + ", to go on elsewhere";
    case Phase::kStopping:
      return "evicting, until " + format_moment(world.workload(id).stop_by);
    case Phase::kRunning: {
      if (const Repairing* const repairing = world.state().find_repairing(id)) {
        return "repairing until " + format_moment(repairing->until) + ": " + explained(world, id).text;
      }
      const Whereabouts found = whereabouts(world, id);
      return "running: " + counted(found.pods, "pod") + " on " + joined(found.nodes) + " (" +
             flavors_text(world, found.flavors) + "), started " + format_moment(world.workload(id).started) +
             (world.workload(id).evicted_by == EvictionRule::kDefragment ? ", moved there" : "");
    }
    case Phase::kPending:
      break;
  }
  const Explanation why = explained(world, id);
  if (why.code == ReasonCode::kNone) return "waiting: not tried yet";
  return "waiting: " + std::string(name_of(why.code)) + ", " + why.text;
}

}  // namespace berth::scenario
