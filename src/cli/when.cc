// `berth when`: when somebody who waits will start.
#include <fmt/core.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

#include "cli/command_line.h"
#include "cli/commands.h"
#include "cli/inputs.h"
#include "cli/recording.h"
#include "cli/shared_options.h"
#include "client/asking.h"
#include "cycle/explain.h"
#include "cycle/feasibility.h"
#include "cycle/recutting.h"
#include "manifest/timestamp.h"
#include "model/quantity.h"
#include "service/forecaster.h"
#include "sim/files.h"
#include "sim/forecast.h"
#include "sim/kept_forecasts.h"
#include "sim/recorded_names.h"

namespace berth {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::int64_t kSamples = 30;

struct TypedWhen {
  std::string path;
  std::string workload;
  std::string until;
  std::string samples;
  std::string output = "table";
};

std::string from_now(const std::optional<Time>& moment, Time now) {
  if (!moment) return "not in 60 days";
  if (*moment == now) return "at once";
  const std::int64_t ms = (*moment - now).ms;
  const std::int64_t unit = ms < 60'000 ? 1'000 : 60'000;
  return "in " + format_duration_ms(ms / unit * unit);
}

// It is in no line any more, and not there yet.
bool waits_for_others_to_leave(const State& state, WorkloadId id) {
  return state.workload(id).phase == Phase::kStarting;
}

std::int64_t number_ahead(const State& state, WorkloadId id) {
  return waits_for_others_to_leave(state, id) ? 0 : static_cast<std::int64_t>(ahead_of(state, id).size());
}

std::string line_in_words(const State& state, WorkloadId id) {
  if (waits_for_others_to_leave(state, id)) return "it has room, and waits until others have left it";
  const std::int64_t ahead = number_ahead(state, id);
  return (ahead == 1 ? "1 is" : with_separators(ahead) + " are") + " ahead of it in its line";
}

StartForecast forecast_of(const Recorded& recorded, WorkloadId id, std::int64_t samples) {
  const auto run = [&](const State& then, WorkloadId one, Duration so_far, RunQuantile quantile) {
    return recorded.run_times.quantile(run_of(then, one), so_far, quantile);
  };
  const State& state = recorded.engine.state;
  return forecast_start(state, id, recorded.now, run, {.seed = state.seed(), .samples = samples});
}

// It can start neither now nor later, as the cluster is.
bool is_never(const State& state, WorkloadId id) {
  return !waits_for_others_to_leave(state, id) && reason_never_of(state, id) != ReasonCode::kNone;
}

std::string reason_in_words(const State& state, WorkloadId id) {
  const Explanation why = explain(state, id);
  return std::string(name_of(why.code)) + (why.text.empty() ? "" : ": " + why.text);
}

std::string never_in_words(const Recorded& recorded, WorkloadId id) {
  return fmt::format("{} never starts, whoever ends: {}\nso it is at {}\n", recorded.workloads[id.index()],
                     reason_in_words(recorded.engine.state, id), moment_in_words(recorded.now));
}

std::string forecast_in_words(const Recorded& recorded, WorkloadId id, const StartForecast& forecast) {
  const State& state = recorded.engine.state;
  const auto at = [&](int percent) { return from_now(forecast.quantile(percent), recorded.now); };
  std::string text = fmt::format("{} starts {} (p50), between {} (p10) and {} (p90)\n", recorded.workloads[id.index()],
                                 at(50), at(10), at(90));
  if (const Shadow* const shadow = state.shadow_of(id)) {
    text += "it is promised to start " + from_now(begins_by(state, *shadow), recorded.now) + " at the latest\n";
  }
  if (!forecast.quantile(50) && !waits_for_others_to_leave(state, id))
    text += "now " + reason_in_words(state, id) + "\n";
  text += fmt::format("{}, {} run\n", line_in_words(state, id), state.running());
  text += fmt::format("foretold at {} by running ahead {} times, with run times of {} that had ended\n",
                      moment_in_words(recorded.now), forecast.samples,
                      with_separators(static_cast<std::int64_t>(recorded.run_times.count())));
  return text;
}

// Moments are milliseconds from the beginning of the run; null: not within the horizon, or nothing is promised.
nlohmann::ordered_json forecast_as_json(const Recorded& recorded, WorkloadId id, const StartForecast& forecast) {
  const State& state = recorded.engine.state;
  const auto moment = [](const std::optional<Time>& at) { return at ? Json(at->ms) : Json(nullptr); };
  const Shadow* const shadow = state.shadow_of(id);
  const bool has_room = waits_for_others_to_leave(state, id);
  return {{"workload", recorded.workloads[id.index()]},
          {"waits", true},
          {"asked_at_ms", recorded.now.ms},
          {"p10_ms", moment(forecast.quantile(10))},
          {"p50_ms", moment(forecast.quantile(50))},
          {"p90_ms", moment(forecast.quantile(90))},
          {"promised_ms", moment(shadow == nullptr ? std::nullopt : std::optional(begins_by(state, *shadow)))},
          {"never", is_never(state, id)},
          {"reason", has_room ? Json(nullptr) : Json(reason_in_words(state, id))},
          {"has_room", has_room},
          {"ahead", number_ahead(state, id)},
          {"running", state.running()},
          {"samples", forecast.samples},
          {"ended_runs", recorded.run_times.count()}};
}

// ---- as the scheduler keeps it ---------------------------------------------------------------------------------------

// What a scheduler that runs has written of those who are meant; none: nothing, or it no longer runs.
std::optional<ForecastTable> kept_forecast(const TypedWhen& typed, Time now) {
  constexpr Duration kOfOneThatRuns = seconds(60);
  const std::string path = typed.path + "/" + Forecaster::kFileName;
  std::error_code error;
  if (!typed.until.empty() || !typed.samples.empty() || !std::filesystem::is_regular_file(path, error)) return {};
  const Result<std::string> text = read_file(path);
  if (!text) return {};
  Result<ForecastTable> table =
      read_forecasts(path, *text, [&](std::string_view name) { return is_meant(name, typed.workload); });
  if (!table || table->rows.empty() || table->asked_at + kOfOneThatRuns < now) return {};
  return *std::move(table);
}

std::string kept_in_words(const ForecastTable& table, Time now) {
  const KeptForecast& row = table.rows.back();
  const auto in = [&](Time moment) {
    return "in " + format_duration_ms(std::max<std::int64_t>(0, (moment - now).ms) / 60'000 * 60'000);
  };
  const auto at = [&](const std::optional<Time>& moment) {
    if (moment) return *moment <= now ? "at once" : in(*moment);
    return "later than " + in(table.until);
  };
  std::string text = fmt::format("{} starts {} (p50), between {} (p10) and {} (p90)\n", row.workload, at(row.p50),
                                 at(row.p10), at(row.p90));
  if (row.promised) text += "it is promised to start " + at(row.promised) + " at the latest\n";
  std::string ahead;
  for (const std::string& name : row.ahead) ahead += (ahead.empty() ? "" : ", ") + name;
  const auto more = row.position - 1 - std::ssize(row.ahead);
  if (more > 0) ahead += " and " + with_separators(more) + " more";
  text += fmt::format("number {} in the line of queue {}{}, {} run\n", with_separators(row.position), row.queue,
                      ahead.empty() ? "" : ": ahead are " + ahead, table.running);
  text += fmt::format("foretold {} ago by running ahead {} {} in {}, with run times of {} that had ended\n",
                      format_duration_ms(std::max<std::int64_t>(0, (now - table.asked_at).ms)), row.samples,
                      row.samples == 1 ? "time" : "times", format_duration_ms((table.asked_at - table.oldest).ms),
                      with_separators(table.ended_runs));
  return text;
}

nlohmann::ordered_json kept_as_json(const ForecastTable& table, Time now) {
  const KeptForecast& row = table.rows.back();
  const auto moment = [](const std::optional<Time>& at) { return at ? Json(at->ms) : Json(nullptr); };
  return {{"workload", row.workload},
          {"waits", true},
          {"asked_at_ms", table.asked_at.ms},
          {"age_ms", std::max<std::int64_t>(0, (now - table.asked_at).ms)},
          {"p10_ms", moment(row.p10)},
          {"p50_ms", moment(row.p50)},
          {"p90_ms", moment(row.p90)},
          {"until_ms", table.until.ms},
          {"promised_ms", moment(row.promised)},
          {"never", false},
          {"queue", row.queue},
          {"position", row.position},
          {"ahead", row.position - 1},
          {"ahead_first", row.ahead},
          {"running", table.running},
          {"samples", row.samples},
          {"samples_since_ms", table.oldest.ms},
          {"ended_runs", table.ended_runs}};
}

int tell_kept(const ForecastTable& table, const TypedWhen& typed, Time now) {
  typed.output == "json" ? fmt::print("{}\n", kept_as_json(table, now).dump(2))
                         : fmt::print("{}", kept_in_words(table, now));
  return kExitWaits;
}

// PRE: the workload was there at that moment, or before.
int tell(const Recorded& recorded, WorkloadId id, const TypedWhen& typed, std::int64_t samples) {
  const bool as_json = typed.output == "json";
  const Workload* const workload = recorded.engine.state.workloads().find(id);
  const bool waits = workload != nullptr && (workload->phase == Phase::kPending || workload->phase == Phase::kStarting);
  if (!waits) {
    if (as_json) {
      const nlohmann::ordered_json json = {
          {"workload", recorded.workloads[id.index()]}, {"waits", false}, {"asked_at_ms", recorded.now.ms}};
      fmt::print("{}\n", json.dump(2));
    } else {
      fmt::print("{} does not wait at {}\n", typed.workload, moment_in_words(recorded.now));
    }
    return kExitDone;
  }
  if (!as_json && is_never(recorded.engine.state, id)) {
    fmt::print("{}", never_in_words(recorded, id));
    return kExitWaits;
  }
  const StartForecast forecast = forecast_of(recorded, id, samples);
  as_json ? fmt::print("{}\n", forecast_as_json(recorded, id, forecast).dump(2))
          : fmt::print("{}", forecast_in_words(recorded, id, forecast));
  return kExitWaits;
}

// Whether the journal can be read, and says that who is meant never starts.
bool is_known_never(const TypedWhen& typed) {
  const Result<Recorded> recorded = read_recording(typed.path, "");
  if (!recorded) return false;
  const std::optional<WorkloadId> id = recorded->find(typed.workload);
  const Workload* const workload = id ? recorded->engine.state.workloads().find(*id) : nullptr;
  return workload != nullptr && workload->phase == Phase::kPending && is_never(recorded->engine.state, *id);
}

int run(const TypedWhen& typed) {
  const Time now = system_wall_clock()();
  const auto kept = kept_forecast(typed, now);
  // Why somebody started in none of these runs only the journal says.
  if (kept && (kept->rows.back().p50 || !is_known_never(typed))) return tell_kept(*kept, typed, now);
  Complaints complaints;
  const Result<std::int64_t> samples =
      typed.samples.empty() ? kSamples : parse_count("--samples", typed.samples, 10, 1'000);
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
  const auto typed = std::make_shared<TypedWhen>();
  app.add_option("FILE", typed->path,
                 "A journal written with --journal, a snapshot, or a folder of journals: the newest")
      ->required();
  app.add_option("WORKLOAD", typed->workload, "Who waits")->required();
  app.add_option("--until", typed->until, "As it was then: 2h30m after the beginning, or 2026-11-21T08:00:00Z")
      ->check(not_empty());
  app.add_option("--samples", typed->samples, "So often the cluster is run forward [30]");
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
      "comes. Of who never starts, whoever ends, it says why. Exit code as of berth explain.\n"
      "\n"
      "Of the folder of a scheduler that runs, without --until and --samples, it says what that scheduler keeps "
      "ready,\n"
      "with its age: 5 s at most as long as somebody waits.");
  app.callback([typed, &exit_code] { exit_code = run(*typed); });
}

}  // namespace berth
