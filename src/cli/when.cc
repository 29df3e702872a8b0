// `berth when`: when somebody who waits will start.
#include <fmt/core.h>

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
};

std::string from_now(const std::optional<Time>& moment, Time now) {
  if (!moment) return "not in 60 days";
  return *moment == now ? "at once" : "in " + format_duration_ms((*moment - now).ms / 60'000 * 60'000);
}

std::string forecast_in_words(const Recorded& recorded, WorkloadId id, std::int64_t samples) {
  const State& state = recorded.engine.state;
  const StartForecast forecast =
      forecast_start(state, id, recorded.now,
                     [&](const State& then, WorkloadId one, Duration so_far, RunQuantile quantile) {
                       return recorded.run_times.quantile(run_of(then, one), so_far, quantile);
                     },
                     {.seed = state.seed(), .samples = samples});
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
                      moment_in_words(recorded.now), samples,
                      with_separators(static_cast<std::int64_t>(recorded.run_times.count())));
  return text;
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
  const Workload* const workload = recorded->engine.state.workloads().find(*id);
  if (workload == nullptr || workload->phase != Phase::kPending) {
    fmt::print("{} does not wait at {}\n", typed.workload, moment_in_words(recorded->now));
    return kExitDone;
  }
  fmt::print("{}", forecast_in_words(*recorded, *id, *samples));
  return kExitWaits;
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
  app.footer(
      "Example:\n"
      "  berth when run.journal job-17 --until 6h\n"
      "\n"
      "The cluster is run forward from then, each time with other run times: drawn from those of the same user, queue "
      "and\n"
      "size that had ended by then, 20 at least, else of more. Nobody else comes. Exit code as of berth explain.");
  app.callback([typed, &exit_code] { exit_code = run(*typed); });
}

}  // namespace berth
