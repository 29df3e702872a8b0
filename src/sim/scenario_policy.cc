#include "sim/scenario_policy.h"

#include <algorithm>
#include <map>
#include <utility>
#include <variant>

#include "base/wording.h"
#include "policy/lint.h"
#include "sim/scenario_never.h"

namespace berth {
namespace {

using namespace scenario;

PolicyPlace place_at(const std::string& file, std::int64_t line) { return {{file, line}, "", ""}; }

std::int64_t line_of(const std::vector<std::int64_t>& lines, std::size_t index) {
  return index < lines.size() ? lines[index] : 0;
}

std::string lower_case(std::string_view text) {
  std::string out(text);
  std::ranges::transform(out, out.begin(), [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; });
  return out;
}

}  // namespace

void ScenarioPlaces::note(std::int64_t line, const Event& event) {
  if (std::holds_alternative<FlavorAdded>(event)) flavor_lines.push_back(line);
  if (std::holds_alternative<QueueAdded>(event)) queue_lines.push_back(line);
  if (const auto* const fact = std::get_if<WorkloadSubmitted>(&event)) {
    if (fact->step_of.is_none()) {
      workloads.push_back({fact->name, fact->queue, fact->shape, place_at(file, line)});
      workload_ids.emplace_back(submitted);
    }
    ++submitted;
  }
  if (const auto* const trusting = std::get_if<TrustChanged>(&event)) note_trust(line, trusting->circles);
  if (const auto* const grant = std::get_if<GrantAdded>(&event)) grants.push_back(*grant);
}

void ScenarioPlaces::note(std::int64_t line, const DeclareWindow& declared) {
  // Hours of workloads change nothing of a queue.
  if (declared.window.queue.is_none()) return;
  windows.push_back({declared.window, declared.times, declared.hours, place_at(file, line)});
}

// A level keeps the line where it was named first.
void ScenarioPlaces::note_trust(std::int64_t line, const std::vector<Circle>& circles) {
  std::vector<PolicyTrust> now;
  for (const Circle& circle : circles) {
    for (const std::string& level : circle.apart) {
      if (level.empty() || std::ranges::find(now, level, &PolicyTrust::level) != now.end()) continue;
      const auto before = std::ranges::find(trust, level, &PolicyTrust::level);
      now.push_back(before != trust.end() ? *before : PolicyTrust{level, place_at(file, line)});
    }
  }
  trust = std::move(now);
}

namespace {

// Those who are alike are asked for once.
void ask_who_never_runs(const State& state, const ScenarioPlaces& places, std::vector<PolicyWorkload>& workloads) {
  std::map<ShapeId, bool> could_run;
  for (std::size_t i = 0; i < workloads.size(); ++i) {
    const Workload* const known = state.workloads().find(places.workload_ids[i]);
    if (known == nullptr) continue;
    const auto [at, is_new] = could_run.try_emplace(known->shape, true);
    if (!is_new && at->second) continue;
    workloads[i].never = why_never_runs(state, state.shape(known->shape), workloads[i].name);
    at->second = !workloads[i].never;
  }
}

}  // namespace

Policy policy_of(const State& state, const ScenarioPlaces& places) {
  Policy policy;
  for (std::size_t i = 0; i < state.flavors().size(); ++i) {
    policy.flavors.push_back({state.flavors()[i], true, {}, place_at(places.file, line_of(places.flavor_lines, i))});
  }
  for (std::size_t i = 0; i < state.queues().size(); ++i) {
    PolicyQueue queue;
    queue.queue = state.queues()[i];
    queue.place = place_at(places.file, line_of(places.queue_lines, i));
    policy.queues.push_back(std::move(queue));
  }
  for (const GrantAdded& each : places.grants) {
    policy.queues[each.queue.index()].grants.push_back({each.gpu_us, each.until});
  }
  policy.windows = places.windows;
  policy.workloads = places.workloads;
  policy.trust = places.trust;
  const NodeTypes& types = state.node_types();
  // Without any nodes nothing can be said about them.
  if (types.nodes.size() == 0) return policy;
  ask_who_never_runs(state, places, policy.workloads);
  policy.fleet.emplace();
  bool some_spare = false;
  for (std::size_t i = 0; i < state.nodes(); ++i) some_spare = some_spare || state.node(NodeId(i)).spare;
  const bool some_own =
      std::ranges::any_of(state.queues(), [](const Queue& each) { return !each.quota.dedicated.empty(); });
  if (some_spare || some_own || !policy.trust.empty() || !state.flavors_with_cells().empty()) {
    // What they are called, of which domains and whose they are counts, and whether they are spares.
    for (std::size_t i = 0; i < state.nodes(); ++i) {
      Node node = types.nodes[types.of_node[i]];
      node.name = state.node(NodeId(i)).name;
      node.labels = state.node(NodeId(i)).labels;
      node.spare = state.node(NodeId(i)).spare;
      policy.fleet->push_back({std::move(node), 1});
    }
    return policy;
  }
  for (std::size_t i = 0; i < types.nodes.size(); ++i) policy.fleet->push_back({types.nodes[i], types.counts[i]});
  return policy;
}

namespace {

// Its hours are those of the first days, wherever in the text it stands.
void tell(State& state, std::uint32_t number, const DeclareWindow& declared, Duration zero_since_1970) {
  Window window = declared.window;
  window.known_until = Time{} + kCalendarAhead;
  window.open = declared.times.openings(Time{}, window.known_until, zero_since_1970);
  const WindowChanged told{number, std::move(window)};
  if (!state.refusal(told)) state.apply(told);
}

// Whether the state knows it now. What it is to begin after does not matter for whether nodes could run it, and others may end before.
bool submit(State& state, const WorkloadSubmitted& submitted) {
  WorkloadSubmitted at_once = submitted;
  at_once.at = Time{};
  at_once.after.clear();
  if (state.refusal(at_once)) return false;
  state.apply(at_once);
  return true;
}

}  // namespace

Result<Policy> read_scenario_policy(const std::string& file_name, std::string_view text) {
  const Result<Scenario> scenario = parse_scenario(file_name, text);
  if (!scenario) return scenario.error();
  State state;
  ScenarioPlaces places;
  places.file = file_name;
  std::uint32_t windows = 0;
  bool all_are_known = true;
  for (const Statement& statement : scenario->statements) {
    if (const auto* const window = std::get_if<DeclareWindow>(&statement.action)) {
      places.note(statement.line, *window);
      tell(state, windows++, *window, scenario->zero_since_1970);
    }
    const Event* const event = std::get_if<Event>(&statement.action);
    if (event == nullptr) continue;
    places.note(statement.line, *event);
    if (const auto* const submitted = std::get_if<WorkloadSubmitted>(event)) {
      all_are_known = all_are_known && submit(state, *submitted);
    }
    const bool declares = std::holds_alternative<RunConfigured>(*event) ||
                          std::holds_alternative<FlavorAdded>(*event) || std::holds_alternative<QueueAdded>(*event) ||
                          std::holds_alternative<QueueChanged>(*event) || std::holds_alternative<NodesAdded>(*event);
    if (!declares) continue;
    if (const auto refusal = state.refusal(*event)) return Complaints({file_name, statement.line}, *refusal);
    state.apply(*event);
  }
  return policy_of(state, places);
}

std::string refuted(const ExpectLint& expected, const Policy& policy) {
  std::vector<PolicyFinding> findings = lint(policy);
  const std::string at = expected.at ? policy.name_of(*expected.at) : "";
  if (!at.empty()) {
    std::erase_if(findings,
                  [&](const PolicyFinding& each) { return std::ranges::find(each.queues, at) == each.queues.end(); });
  }
  // Notes are worth knowing, and nothing to mend.
  if (!expected.text) {
    const auto first =
        std::ranges::find_if(findings, [](const PolicyFinding& each) { return each.severity != Severity::kNote; });
    return first == findings.end() ? "" : "expected the linter to say nothing, found " + first->to_string();
  }
  const std::string wanted = lower_case(*expected.text);
  const bool said = std::ranges::any_of(findings, [&](const PolicyFinding& each) {
    return lower_case(each.text() + " [" + each.rule + "]").contains(wanted);
  });
  if (said) return "";
  std::string found = findings.empty() ? "that it says nothing" : "";
  for (const PolicyFinding& each : findings) found += (found.empty() ? "" : " | ") + each.to_string();
  return "expected the linter to say " + quote(*expected.text) + (at.empty() ? "" : " of " + at) + ", found " + found;
}

}  // namespace berth
