// `berth simulate forecast`: how good forecasts of starts are on a trace.
#include <fmt/core.h>

#include <memory>
#include <string>

#include "base/wording.h"
#include "cli/command_line.h"
#include "cli/commands.h"
#include "cli/inputs.h"
#include "cli/progress.h"
#include "cli/shared_options.h"
#include "cli/text_table.h"
#include "cycle/explain.h"
#include "model/quantity.h"
#include "sim/calibration.h"

namespace berth {
namespace {

struct TypedSimulateForecast {
  std::string jobs;
  std::string gpus;
  std::string order = "easy";
  std::string limits;
  std::string every = "100";
  std::string samples = "30";
  std::string seed = "42";
};

struct ForecastAsked {
  RunOptions run;
  CalibrationOptions calibration;
};

Result<ForecastAsked> options_of(const TypedSimulateForecast& typed) {
  Complaints complaints;
  ForecastAsked asked;
  const auto take = [&](const auto& parsed, auto& value) {
    parsed ? void(value = *parsed) : complaints.add_all(parsed.error());
  };
  take(parse_order(typed.order), asked.run.order);
  take(parse_limits(typed.limits), asked.run.limits_up_to_milli);
  take(parse_count("--every", typed.every, 1, 1'000'000), asked.calibration.every);
  take(parse_count("--samples", typed.samples, 10, 1'000), asked.calibration.samples);
  const Result<std::vector<Seed>> seeds = parse_seeds(typed.seed, "--seed");
  if (!seeds) complaints.add_all(seeds.error());
  if (seeds && seeds->size() != 1) complaints.add({"--seed"}, "a run has one seed; write --seed 42");
  if (!complaints.empty()) return complaints;
  asked.run.seed = seeds->front();
  return asked;
}

std::string share_of(std::int64_t part, std::int64_t of) {
  return of == 0 ? "-" : fmt::format("{:.1f} %", 100.0 * static_cast<double>(part) / static_cast<double>(of));
}

std::string as_table(const Calibration& done) {
  TextTable table;
  table.header = {"forecast",  "asked",        "before p10", "p10 to p90",
                  "after p90", "median width", "holds 80 %", "median error"};
  const auto add = [&](const char* name, const ForecastQuality& each) {
    const auto length = [](Duration d) { return format_duration_ms(d.ms / 60'000 * 60'000); };
    table.rows.push_back({name, with_separators(each.asked), share_of(each.before, each.asked),
                          share_of(each.within, each.asked), share_of(each.after, each.asked),
                          length(each.median_width), length(each.width_that_holds), length(each.median_error)});
  };
  add("learned", done.learned);
  add("from limits", done.from_limits);
  return fmt::format("{} jobs, of which {} had to wait when they came\n\n", with_separators(done.jobs),
                     with_separators(done.waited)) +
         table.to_text();
}

int run(const TypedSimulateForecast& typed) {
  Complaints complaints;
  const Result<ForecastAsked> asked = options_of(typed);
  if (!asked) complaints.add_all(asked.error());
  const Result<Trace> trace = read_trace_of_gpus(typed.jobs, typed.gpus, "say how many there are, such as 640");
  if (!trace) complaints.add_all(trace.error());
  if (!complaints.empty()) return complain(complaints);
  const Result<Calibration> done = [&] {
    Progress progress("running");
    return calibrate(*trace, asked->run, asked->calibration, typed.jobs,
                     [&](std::int64_t at, std::int64_t of) { progress.show(at, of); });
  }();
  if (!done) return complain(done.error());
  fmt::print("{}", as_table(*done));
  return kExitDone;
}

}  // namespace

void add_simulate_forecast(CLI::App& simulate, int& exit_code) {
  CLI::App& app = *simulate.add_subcommand("forecast", "Compare forecasts of when jobs will start with when they did");
  const auto typed = std::make_shared<TypedSimulateForecast>();
  app.add_option("--jobs", typed->jobs, "Jobs: Philly, SWF, or Berth's CSV or JSON")->required()->check(not_empty());
  app.add_option("--gpus", typed->gpus, "So many GPUs in one pool; nothing else counts")->check(not_empty());
  app.add_option("--order", typed->order, "Of the line: easy, easy-limits, conservative, fifo, fifo-skip or sjf")
      ->capture_default_str();
  app.add_option("--limits", typed->limits, "K: each job's run limit is its run time x U(1, K)")->required();
  app.add_option("--every", typed->every, "One of so many jobs that have to wait asks, drawn")->capture_default_str();
  app.add_option("--samples", typed->samples, "So often the cluster is run forward for an answer")
      ->capture_default_str();
  app.add_option("--seed", typed->seed, "Settles ties, and all that is drawn")->capture_default_str();
  app.footer(
      "Example:\n"
      "  berth simulate forecast --jobs cluster_job_log --gpus 640 --limits 2\n"
      "\n"
      "Run times are learned from jobs that ended before the question alone. Beside that forecast stands one by who "
      "knows\n"
      "nothing but the run limits. 'holds 80 %': the median width if all ranges were longer at both ends by so much "
      "that 80 %\n"
      "of the starts lie within.");
  app.callback([typed, &exit_code] { exit_code = run(*typed); });
}

}  // namespace berth
