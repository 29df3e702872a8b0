#include <fmt/core.h>
#include <unistd.h>

#include <chrono>
#include <cstdint>
#include <iostream>
#include <memory>
#include <string>
#include <utility>

#include "base/wording.h"
#include "cli/asked_object.h"
#include "cli/command_line.h"
#include "cli/commands.h"
#include "cli/connection.h"
#include "cli/defragmentation_report.h"
#include "cli/inputs.h"
#include "cycle/explain.h"
#include "model/quantity.h"
#include "sim/churn.h"
#include "sim/files.h"
#include "sim/scenario_run.h"

namespace berth {
namespace {

using Json = nlohmann::ordered_json;

struct TypedDefrag {
  bool plan = false;
  bool yes = false;
  ConnectionWish wish;
  std::string scenario;
  std::int32_t gpus = 8;
  std::int64_t hours_of_use = 4;
  std::int64_t effort = 0;
  std::string slice;  // a profile; empty: whole GPUs
  std::string output = "table";

  DefragmentOptions options() const {
    return {.gpus = gpus, .slice = slice, .horizon = {hours_of_use * 3'600'000}, .attempts = effort};
  }
};

void add_options(CLI::App& app, TypedDefrag& typed) {
  app.add_option("--gpus", typed.gpus, "Room is made for pods of so many GPUs")
      ->check(CLI::Range(1, int{kGpusPerNodeMax}))
      ->capture_default_str();
  app.add_option("--hours-of-use", typed.hours_of_use,
                 "How long what comes free will be of use: no node costs more work than that")
      ->check(CLI::Range(1, 10'000))
      ->capture_default_str();
  app.add_option(
         "--effort", typed.effort,
         "Attempts at a better plan than the first: more room, or the same for less work. Never a worse one, and "
         "always the same one")
      ->check(CLI::Range(0, 1'000'000))
      ->capture_default_str();
  app.add_option("-o,--output", typed.output, "table or json")
      ->check(CLI::IsMember({"table", "json"}))
      ->capture_default_str();
}

// ---- of a live cluster -----------------------------------------------------------------------------------------------

constexpr std::chrono::seconds kAnswerMax{120};

Value question_of(const TypedDefrag& typed) {
  Value spec = Value::map_of({{"use", std::to_string(typed.hours_of_use) + "h"}, {"effort", typed.effort}});
  if (typed.slice.empty()) {
    spec.set("gpus", std::int64_t{typed.gpus});
  } else {
    spec.set("slice", typed.slice);
  }
  return Value::map_of({{"apiVersion", "berth.dev/v1alpha1"},
                        {"kind", "Defragmentation"},
                        {"metadata", Value::map_of({{"generateName", "asked-"}})},
                        {"spec", std::move(spec)}});
}

bool is_agreed() {
  fmt::print(stderr, "carry it out? [y/N] ");
  std::string line;
  return std::getline(std::cin, line) && (line == "y" || line == "Y" || line == "yes");
}

std::string what_was_done(const Value& done) {
  std::string text = fmt::format("{} told to move, {} GPU-seconds of work lost\n", done["moves"].integer(),
                                 with_separators(done["lostGPUSeconds"].integer()));
  for (const Value& each : done["leftOut"].items())
    text += fmt::format("{} stays: its move does not hold any more\n", each.text());
  return text;
}

// Nobody is moved who was not shown.
int carry_out(const TypedDefrag& typed, AskedObject& asked, const Value& plan) {
  const bool json = typed.output == "json";
  if (!typed.yes && (json || isatty(STDIN_FILENO) != 1)) {
    return complain(Complaints({"berth defrag"},
                               "nobody is there to agree to the plan, and nothing was moved; write --plan to see it "
                               "alone, or --yes"));
  }
  if (!typed.yes && !is_agreed()) {
    fmt::print(stderr, "nothing was moved\n");
    return kExitDone;
  }
  const std::string revision(plan["revision"].text());
  const Asked<Value> changed = asked.change(Value::map_of({{"carryOut", revision}}));
  if (!changed) return fail(changed.error());
  const Asked<Value> done =
      asked.wait([&](const Value& status) { return status["carriedOut"]["revision"].text() == revision; }, kAnswerMax);
  if (!done) return fail(done.error());
  const Value& what = (*done)["status"]["carriedOut"];
  if (json) {
    Json told = told_plan_as_json(plan);
    Json left_out = Json::array();
    for (const Value& each : what["leftOut"].items()) left_out.push_back(each.text());
    told["carried_out"] = {{"at", what["at"].text()},
                           {"moves", what["moves"].integer()},
                           {"lost_gpu_s", what["lostGPUSeconds"].integer()},
                           {"left_out", left_out}};
    fmt::print("{}\n", told.dump(2));
  } else {
    fmt::print("{}", what_was_done(what));
    if (!(*done)["status"]["message"].is_empty()) fmt::print("{}\n", (*done)["status"]["message"].text());
  }
  return kExitDone;
}

int ask_scheduler(const TypedDefrag& typed) {
  const auto server = connect(typed.wish);
  if (!server) return complain(server.error());
  AskedObject asked(*server->transport, "defragmentations.berth.dev");
  if (const Asked<void> made = asked.ask(question_of(typed)); !made) return fail(made.error());
  const Asked<Value> answered =
      asked.wait([](const Value& status) { return !status["plan"]["revision"].is_empty(); }, kAnswerMax);
  if (!answered) return fail(answered.error());
  const Value& plan = (*answered)["status"]["plan"];
  const bool is_of_nothing = !plan["slice"].is_empty() && plan["flavor"].is_empty();
  if (is_of_nothing) return complain(Complaints({"--slice"}, std::string((*answered)["status"]["message"].text())));
  const bool json = typed.output == "json";
  const bool ends_here = typed.plan || plan["moves"].items().empty();
  if (!json) fmt::print("{}", told_plan_as_table(plan));
  if (json && ends_here) fmt::print("{}\n", told_plan_as_json(plan).dump(2));
  return ends_here ? kExitDone : carry_out(typed, asked, plan);
}

int plan(const TypedDefrag& typed) {
  if (typed.scenario.empty()) return ask_scheduler(typed);
  if (!typed.plan) {
    return complain(
        Complaints({"berth defrag"}, "of a scenario only plans are made, nothing is moved; write berth defrag --plan"));
  }
  const Result<std::string> text = read_file(typed.scenario);
  if (!text) return complain(text.error());
  const Result<ScenarioEnd> end = end_of_scenario(typed.scenario, *text);
  if (!end) return complain(end.error());
  if (end->state.queues().empty()) {
    return complain(Complaints({typed.scenario}, "has no queue; write queue lines"));
  }
  if (!request_of(end->state, typed.options())) {
    return complain(Complaints({"--slice"}, "no node is cut into slices of '" + typed.slice +
                                                "'; write a profile of the model of a flavor whose nodes have "
                                                "mode=mig, such as 3g.40gb of H100"));
  }
  const Defragmentation made = plan_defragmentation(end->state, end->now, typed.options());
  if (typed.output == "json") {
    Json json = defragmentation_as_json(end->state, made, typed.options(), end->workloads);
    json["fragments"] = fragments_as_json(end->state);
    fmt::print("{}\n", json.dump(2));
    return kExitDone;
  }
  fmt::print("{}\n{}", fragments_as_table(end->state),
             defragmentation_as_table(end->state, made, typed.options(), end->workloads));
  return kExitDone;
}

// ---- on a fleet in pieces ------------------------------------------------------------------------------------------

struct TypedFleet {
  ChurnSpec churn;
  std::uint64_t seed = 1;
  std::int64_t gang = 16;
  TypedDefrag shared;
};

struct GangStarted {
  bool started = false;
  std::int64_t moves = 0;
  std::int64_t lost_gpu_s = 0;
};

GangStarted start_gang(Session& session, std::int64_t pods, Time now) {
  const WorkloadId gang = session.state().workloads().next_id();
  session.apply(whole_node_gang(pods, now));
  GangStarted done;
  session.decide(now, [&](const Plan& plan) {
    for (const Migration& move : plan.migrations) {
      ++done.moves;
      done.lost_gpu_s += move.lost_gpu_s;
    }
  });
  done.started = session.state().workload(gang).phase == Phase::kRunning;
  return done;
}

int show(const TypedFleet& typed) {
  Session session;
  ChurnSpec spec = typed.churn;
  spec.seed = Seed{typed.seed};
  const Time now = churn(session, spec);
  const State before = session.state().fork();
  const Defragmentation made = plan_defragmentation(before, now, typed.shared.options());
  const std::int64_t all = spec.nodes * kChurnNodeGpus;
  const std::int64_t free = before.ledger().totals(FlavorId(0)).gpu_milli / kMilliPerGpu;
  // For the gang alone, as the scheduler does it; and the whole plan, carried out.
  const GangStarted gang = start_gang(session, typed.gang, now);
  State after = before.fork();
  after.adopt(made.plan);
  if (typed.shared.output == "json") {
    Json json = defragmentation_as_json(before, made, typed.shared.options(), {});
    json["seed"] = typed.seed;
    json["nodes"] = spec.nodes;
    json["allocated_gpus"] = all - free;
    json["fragments_before"] = fragments_as_json(before);
    json["fragments_after"] = fragments_as_json(after);
    json["gang"] = {{"pods", typed.gang},
                    {"gpus", kChurnNodeGpus},
                    {"started", gang.started},
                    {"moves", gang.moves},
                    {"lost_gpu_s", gang.lost_gpu_s}};
    fmt::print("{}\n", json.dump(2));
    return kExitDone;
  }
  fmt::print("{} nodes of {} GPUs after {} hours of churn (seed {}): {} of {} GPUs are allocated\n\n", spec.nodes,
             kChurnNodeGpus, spec.hours, typed.seed, all - free, all);
  fmt::print("{}\n{}\n", fragments_as_table(before),
             defragmentation_as_table(before, made, typed.shared.options(), {}));
  fmt::print("a gang of {} x {} GPUs that waits {}: {} moved for it, {} GPU-hours of work lost\n", typed.gang,
             kChurnNodeGpus, gang.started ? "starts" : "does not start", gang.moves, gang.lost_gpu_s / 3600);
  return kExitDone;
}

}  // namespace

void add_defrag(CLI::App& berth, int& exit_code) {
  CLI::App& app = *berth.add_subcommand("defrag", "What still fits, and which moves would make whole nodes free");
  const auto typed = std::make_shared<TypedDefrag>();
  app.add_flag("--plan", typed->plan, "Show the plan; nothing is moved");
  app.add_flag("--yes", typed->yes, "Carry it out without asking");
  app.add_option("SCENARIO", typed->scenario,
                 "A scenario file: the plan is for the state in which it ends. Without one it is that of the live "
                 "cluster's scheduler");
  add_connection_options(app, typed->wish, Namespaced::kNo);
  add_options(app, *typed);
  app.add_option("--slice", typed->slice,
                 "Instead of --gpus: room is made for slices of this profile, such as 3g.40gb");
  app.footer(
      "Example:\n"
      "  berth defrag --plan\n"
      "  berth defrag --gpus 8 --hours-of-use 8\n"
      "  berth defrag --slice 3g.40gb --effort 1000\n"
      "  berth defrag --plan scenarios/move_nobody_for_best_effort.txt\n"
      "  berth defrag --plan --gpus 4 --effort 1000 scenarios/fragments_that_a_chain_of_moves_unlocks.txt\n"
      "  berth defrag --plan --slice 4g.40gb --effort 1000 scenarios/fragments_of_slices_that_moves_unlock.txt\n"
      "\n"
      "Only work that consents to it (berth.dev/movable, movable=yes) is moved, and only to places where it is proven "
      "to\n"
      "run at once. Without --plan it is carried out when you have agreed to what was shown; what does not hold any "
      "more\n"
      "by then is left out, and said. Exit codes: 0 done, 4 not allowed, 8 the scheduler did not answer.");
  app.callback([typed, &exit_code] { exit_code = plan(*typed); });
}

void add_simulate_defrag(CLI::App& simulate, int& exit_code) {
  CLI::App& app = *simulate.add_subcommand(
      "defrag", "Let a fleet fall into pieces, and show which moves would make it whole, for all and for one gang");
  const auto typed = std::make_shared<TypedFleet>();
  app.add_option("--nodes", typed->churn.nodes, "Nodes of 8 GPUs")->check(CLI::Range(1, 10'000))->capture_default_str();
  app.add_option("--hours", typed->churn.hours, "Of churn")->check(CLI::Range(1, 240))->capture_default_str();
  app.add_option("--allocated", typed->churn.allocated_percent, "Of the GPUs when it is over, %")
      ->check(CLI::Range(0, 100))
      ->capture_default_str();
  app.add_option("--movable", typed->churn.movable_percent, "Of the jobs those who consent to being moved, %")
      ->check(CLI::Range(0, 100))
      ->capture_default_str();
  app.add_flag(
      "--uneven", typed->churn.uneven,
      "Jobs of 1, 2, 3 and 5 GPUs, every fourth of two such pods, with 4 to 20 CPUs a GPU of nodes that have 96");
  app.add_option("--gang", typed->gang, "Pods of 8 GPUs of a gang that waits")
      ->check(CLI::Range(1, 10'000))
      ->capture_default_str();
  app.add_option("--seed", typed->seed, "Of everything that is left to chance")->capture_default_str();
  add_options(app, typed->shared);
  app.footer(
      "Example:\n"
      "  berth simulate defrag --nodes 1000 --seed 1\n"
      "  berth simulate defrag --uneven --movable 50 --effort 5000 --seed 1\n"
      "\n"
      "The fleet is full all day of jobs of 1, 2 and 4 GPUs, which nobody moves; then nothing comes until\n"
      "--allocated is reached (docs/results.md). At best: as many whole nodes as there are free GPUs for.");
  app.callback([typed, &exit_code] { exit_code = show(*typed); });
}

}  // namespace berth
