// `berth when`: when somebody who waits will start.
#include <fmt/core.h>

#include <nlohmann/json.hpp>

#include <memory>
#include <string>

#include "cli/command_line.h"
#include "cli/commands.h"
#include "cli/inputs.h"
#include "cli/recording.h"
#include "cli/shared_options.h"
#include "client/asking.h"
#include "cycle/explain.h"
#include "model/quantity.h"
#include "sim/forecast.h"

namespace berth {
namespace {

struct Typed {
  std::string path;
  std::string workload;
  std::string until;
  std::string samples = "30";
  std::string output = "table";
};

std::string from_now(const std::optional<Time>& moment, Time now) {
  if (!moment) return "not in 60 days";
  return *moment == now ? "at once" : "in " + format_duration_ms((*moment - now).ms / 60'000 * 60'000);
}

StartForecast forecast_of(const Recorded& recorded, WorkloadId id, std::int64_t samples) {
  const auto run = [&](const State& then, WorkloadId one, Duration so_far, RunQuantile quantile) {
    return recorded.run_times.quantile(run_of(then, one), so_far, quantile);
  };
  const State& state = recorded.engine.state;
  return forecast_start(state, id, recorded.now, run, {.seed = state.seed(), .samples = samples});
}

std::string forecast_in_words(const Recorded& recorded, WorkloadId id, const StartForecast& forecast) {
  const State& state = recorded.engine.state;
  const auto at = [&](int percent) { return from_now(forecast.quantile(percent), recorded.now); };
  const auto ahead = static_cast<std::int64_t>(ahead_of(state, id).size());
  std::string text = fmt::format("{} starts {} (p50), between {} (p10) and {} (p90)\n", recorded.workloads[id.index()],
                                 at(50), at(10), at(90));
  if (const Shadow* const shadow = state.shadow_of(id)) {
    text += "it is promised to start " + from_now(shadow->at, recorded.now) + " at the latest\n";
  }
  text += fmt::format("{} ahead of it in its line, {} run\n", ahead == 1 ? "1 is" : with_separators(ahead) + " are",
                      state.running());
  text += fmt::format("foretold at {} by running ahead {} times, with run times of {} that had ended\n",
                      moment_in_words(recorded.now), forecast.samples,
                      with_separators(static_cast<std::int64_t>(recorded.run_times.count())));
  return text;
}

// Moments are milliseconds from the beginning of the run; null: not within the horizon, or nothing is promised.
nlohmann::ordered_json forecast_as_json(const Recorded& recorded, WorkloadId id, const StartForecast& forecast) {
  using Json = nlohmann::ordered_json;
  const State& state = recorded.engine.state;
  const auto moment = [](const std::optional<Time>& at) { return at ? Json(at->ms) : Json(nullptr); };
  const Shadow* const shadow = state.shadow_of(id);
  return {{"workload", recorded.workloads[id.index()]},
          {"waits", true},
          {"asked_at_ms", recorded.now.ms},
          {"p10_ms", moment(forecast.quantile(10))},
          {"p50_ms", moment(forecast.quantile(50))},
          {"p90_ms", moment(forecast.quantile(90))},
          {"promised_ms", moment(shadow == nullptr ? std::nullopt : std::optional(shadow->at))},
          {"ahead", ahead_of(state, id).size()},
          {"running", state.running()},
          {"samples", forecast.samples},
          {"ended_runs", recorded.run_times.count()}};
}

// PRE: the workload was there at that moment, or before.
int tell(const Recorded& recorded, WorkloadId id, const Typed& typed, std::int64_t samples) {
  const bool as_json = typed.output == "json";
  const Workload* const workload = recorded.engine.state.workloads().find(id);
  if (workload == nullptr || workload->phase != Phase::kPending) {
    if (as_json) {
      const nlohmann::ordered_json json = {
          {"workload", recorded.workloads[id.index()]}, {"waits", false}, {"asked_at_ms", recorded.now.ms}};
      fmt::print("{}\n", json.dump(2));
    } else {
      fmt::print("{} does not wait at {}\n", typed.workload, moment_in_words(recorded.now));
    }
    return kExitDone;
  }
  const StartForecast forecast = forecast_of(recorded, id, samples);
  as_json ? fmt::print("{}\n", forecast_as_json(recorded, id, forecast).dump(2))
          : fmt::print("{}", forecast_in_words(recorded, id, forecast));
  return kExitWaits;
}

int run(const Typed& typed) {
  Complaints complaints;
  const Result<std::int64_t> samples = parse_count("--samples", typed.samples, 10, 1'000);
  if (!samples) complaints.add_all(samples.error());
  const Result<Recorded> recorded = read_recording(typed.path, typed.until);
  if (!recorded) complaints.add_all(recorded.error());
  if (!complaints.empty()) return complain(complaints);
  const Result<WorkloadId> id = find_recorded(*recorded, typed.workload);
  if (!id) return complain(id.error());
  return tell(*recorded, *id, typed, *samples);
}

}  // namespace

void add_when(CLI::App& berth, int& exit_code) {
  CLI::App& app = *berth.add_subcommand("when", "Foretell when somebody who waits in a recorded cluster will start");
  const auto typed = std::make_shared<Typed>();
  app.add_option("FILE", typed->path, "A journal written with --journal, or a folder of them: the newest")->required();
  app.add_option("WORKLOAD", typed->workload, "Who waits")->required();
  app.add_option("--until", typed->until, "As it was then: 2h30m after the beginning, or 2026-11-21T08:00:00Z")
      ->check(not_empty());
  app.add_option("--samples", typed->samples, "So often the cluster is run forward")->capture_default_str();
  app.add_option("-o,--output", typed->output, "table or json")
      ->check(CLI::IsMember({"table", "json"}))
      ->capture_default_str();
  app.footer(
      "Example:\n"
      "  berth when run.journal job-17 --until 6h\n"
      "\n"
      "The cluster is run forward from then, each time with other run times: drawn from those of the same user, queue "
      "and\n"
      "size that had ended by then, and rather of those with a limit like theirs; 20 at least, else of more. Nobody "
      "else\n"
      "comes. Exit code as of berth explain.");
  app.callback([typed, &exit_code] { exit_code = run(*typed); });
}

}  // namespace berth
