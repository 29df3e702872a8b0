#include "sim/scenario_run.h"

#include <algorithm>
#include <cstddef>
#include <string>
#include <utility>
#include <variant>

#include "sim/scenario_check.h"
#include "sim/scenario_found.h"
#include "sim/scenario_parse.h"
#include "sim/scenario_world.h"

namespace berth {
namespace scenario {
namespace {

// ---- the statements that change the world, one for each Action ------------------------------------------------------

void carry_out(ScenarioWorld& world, const Event& event) { world.declare(event); }
void carry_out(ScenarioWorld& world, const DeclareWindow& window) { world.declare(window); }
void carry_out(ScenarioWorld& world, const DeclareReservation& reservation) { world.declare(reservation); }
void carry_out(ScenarioWorld& world, const CancelReservation& action) { world.cancel(action); }
void carry_out(ScenarioWorld& world, const ChangeNode& action) { world.change_node(action); }
void carry_out(ScenarioWorld& world, const RelabelNode& action) { world.relabel_node(action); }
void carry_out(ScenarioWorld& world, const FailNextScrub& action) { world.fail_next_scrub(action.device); }
void carry_out(ScenarioWorld& world, const FailPod& action) { world.fail_pod(action); }
void carry_out(ScenarioWorld& world, const FailRecut& action) { world.fail_recut(action); }
void carry_out(ScenarioWorld& world, const Defragment& asked) { world.defragment(asked); }
void carry_out(ScenarioWorld& world, const Cycle&) { world.run_cycle(); }

void carry_out(ScenarioWorld& world, const PassTime& action) {
  world.pass_time(action.by ? world.now() + *action.by : std::max(world.now(), action.until));
}

// Time passes to the end of graces, scrubs and new cuts that have begun, never on purpose to the end of a run.
void carry_out(ScenarioWorld& world, const Settle&) {
  while (!world.stopped()) {
    if (world.run_cycle()) continue;
    const Time next = std::min({world.next_stop(), world.next_scrub(), world.next_recut()});
    if (next == kForever) return;
    world.pass_time(next);
  }
}

void carry_out(ScenarioWorld& world, const ReportCheckpoint& action) {
  const bool is_whole = world.state().find_repairing(action.workload) == nullptr;
  if (!is_there(world.workload(action.workload).phase) || !is_whole) {
    return world.fail("expected " + world.name_of_workload(action.workload) +
                      " running, so that it could report a checkpoint, found it " + how_it_is(world, action.workload));
  }
  world.note_checkpoint(action.workload);
  // Told to stop, and now it has: that is its word.
  const Phase phase = world.workload(action.workload).phase;
  if (phase == Phase::kStopping || phase == Phase::kMigrating) world.apply(WorkloadStopped{action.workload});
}

void carry_out(ScenarioWorld& world, const EndWorkload& action) {
  if (!is_there(world.workload(action.workload).phase)) {
    return world.fail("expected " + world.name_of_workload(action.workload) +
                      " running, so that it could end, found it " + how_it_is(world, action.workload));
  }
  world.finish(WorkloadEnded{action.workload}, action.workload, Phase::kEnded);
}

void carry_out(ScenarioWorld& world, const EndPod& action) { world.end_pod(action); }

void carry_out(ScenarioWorld& world, const ReportReady& action) {
  const Event ready = WorkloadReady{action.workload};
  if (!world.state().refusal(ready)) return static_cast<void>(world.apply(ready));
  world.fail("expected " + world.name_of_workload(action.workload) + " running, so that it could be ready, found it " +
             how_it_is(world, action.workload));
}

void carry_out(ScenarioWorld& world, const CancelWorkload& action) {
  const Phase phase = world.workload(action.workload).phase;
  if (phase != Phase::kPending && !has_room(phase) && !is_there(phase)) {
    return world.fail("expected " + world.name_of_workload(action.workload) +
                      " running or waiting, so that it could be cancelled, "
                      "found it " +
                      how_it_is(world, action.workload));
  }
  world.finish(WorkloadCancelled{action.workload}, action.workload, Phase::kCancelled);
}

void carry_out(ScenarioWorld& world, const SetWorkload& action) {
  const WorkloadId id = action.workload;
  const Phase phase = world.workload(id).phase;
  if (phase != Phase::kPending && !has_room(phase) && !is_there(phase)) {
    return world.fail("expected " + world.name_of_workload(id) +
                      " running or waiting, so that it could be changed, found it " + how_it_is(world, id));
  }
  if (action.queue && phase != Phase::kPending) {
    return world.fail("expected " + world.name_of_workload(id) + " waiting, so that it could be moved, found it " +
                      how_it_is(world, id) + "; cancel it and submit it to " + world.name_of_queue(*action.queue));
  }
  if (action.priority && !world.prioritize(id, *action.priority)) return;
  if (action.queue) world.apply(WorkloadMoved{id, *action.queue});
}

// As it stands, but that moments which it counts from now are known by now, and that nobody is submitted in the past: how
// much time a settle has let pass shows only when it is run.
Action at_its_time(const Statement& statement, Time now) {
  Action action = statement.action;
  if (auto* const event = std::get_if<Event>(&action)) {
    if (auto* const submitted = std::get_if<WorkloadSubmitted>(event)) {
      submitted->at = now;
      if (statement.from_now) submitted->not_before = now + *statement.from_now;
    }
    if (auto* const grant = std::get_if<GrantAdded>(event); grant != nullptr && statement.from_now) {
      grant->until = now + *statement.from_now;
    }
    if (auto* const trust = std::get_if<TrustChanged>(event)) trust->part_by = now + *statement.from_now;
  }
  if (auto* const reserved = std::get_if<DeclareReservation>(&action); reserved != nullptr && statement.from_now) {
    reserved->reservation.from = now + *statement.from_now;
  }
  return action;
}

// ---- the run --------------------------------------------------------------------------------------------------------

void play(ScenarioWorld& world, const Scenario& scenario) {
  // "Since last" goes back to what was expected before the run of expectations in which it stands.
  std::size_t since_last = 0;
  bool expected_before = false;
  for (const Statement& statement : scenario.statements) {
    world.stand_at(statement.line);
    const auto* const expectation = std::get_if<Expectation>(&statement.action);
    if (expectation == nullptr && expected_before) since_last = world.evictions().size();
    expected_before = expectation != nullptr;
    std::visit(
        [&]<class What>(const What& what) {
          if constexpr (std::is_same_v<What, Expectation>) {
            check(world, what, since_last);
          } else {
            carry_out(world, what);
          }
        },
        at_its_time(statement, world.now()));
    if (world.stopped()) break;
  }
}

ScenarioOutcome run(const std::string& file, const Scenario& scenario) {
  ScenarioWorld world(file, scenario);
  play(world, scenario);
  return {.file = file,
          .statements = scenario.lines,
          .expectations = scenario.expectations,
          .failures = world.take_failures(),
          .refused = false,
          .state_hash = world.close()};
}

}  // namespace
}  // namespace scenario

ScenarioOutcome run_scenario(const std::string& file_name, std::string_view text) {
  const Result<Scenario> parsed = parse_scenario(file_name, text);
  if (!parsed) {
    return {.file = file_name,
            .statements = 0,
            .expectations = 0,
            .failures = parsed.error(),
            .refused = true,
            .state_hash = 0};
  }
  return scenario::run(file_name, *parsed);
}

Result<ScenarioEnd> end_of_scenario(const std::string& file_name, std::string_view text, Session::Recorder recorder) {
  const Result<Scenario> parsed = parse_scenario(file_name, text);
  if (!parsed) return parsed.error();
  scenario::ScenarioWorld world(file_name, *parsed, std::move(recorder));
  scenario::play(world, *parsed);
  if (Complaints failures = world.take_failures(); !failures.empty()) return failures;
  world.bring_state_to_now();
  return ScenarioEnd{.state = world.state().fork(), .now = world.now(), .workloads = world.names_of_workloads()};
}

}  // namespace berth
