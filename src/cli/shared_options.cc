#include "cli/shared_options.h"

#include <filesystem>

#include "base/wording.h"
#include "service/live_scheduler.h"

namespace berth {

CLI::Validator not_empty() {
  return CLI::Validator(
      [](const std::string& value) {
        return value.empty() ? std::string("the value is empty; write one, or leave the option out") : std::string();
      },
      "");
}

void add_simulation_options(CLI::App& app, SimulationOptions& typed, const std::string& seeds_option,
                            const std::string& seeds_alias, const std::string& seeds_meaning) {
  app.add_option("--policy", typed.policy,
                 "fgd-balanced, fgd, best-fit, gpu-packing, gpu-clustering, dot-product, random or spread")
      ->capture_default_str();
  // Two options, not two names of one: a complaint then names what was typed.
  typed.seeds_option = seeds_option;
  const auto add_seeds = [&](const std::string& option, const std::string& meaning) {
    return app.add_option_function<std::string>(
        option, [&typed, option](const std::string& text) { typed.seeds = text, typed.seeds_option = option; },
        meaning);
  };
  CLI::Option* const first = add_seeds(seeds_option, seeds_meaning)->default_str(typed.seeds);
  add_seeds(seeds_alias, "The same as " + seeds_option)->excludes(first);
  app.add_option("--output,-o", typed.output, "table or json")
      ->capture_default_str()
      ->check(CLI::IsMember({"table", "json"}));
  app.add_option("--report", typed.report, "Write a page with plots into this folder")->check(not_empty());
  app.add_option("--journal", typed.journal, "Record every fact and decision in this file; `berth replay` checks it")
      ->check(not_empty());
}

std::shared_ptr<std::string> add_live_policy(CLI::App& app) {
  const auto policy = std::make_shared<std::string>(name_of(LiveSchedulerOptions().policy));
  app.add_option(
         "--policy", *policy,
         "Where a pod goes among the nodes that fit it: best-fit, fgd-balanced (measured by what is usually asked "
         "for, which it learns), fgd, gpu-packing, gpu-clustering, dot-product, random or spread")
      ->capture_default_str();
  return policy;
}

std::vector<CLI::Option*> add_fleet_options(CLI::App& app, FleetOptions& typed) {
  return {app.add_option("--days", typed.days, "Days to generate")->capture_default_str()->check(CLI::Range(1, 366)),
          app.add_option("--load", typed.load_percent, "Offered GPU time of a generated fleet, in percent of its GPUs")
              ->capture_default_str()
              ->check(CLI::Range(1, 1000)),
          app.add_option("--jobs-per-day", typed.jobs_per_day, "Jobs a day of a generated fleet; 0: as the load needs")
              ->capture_default_str()
              ->check(CLI::Range(std::int64_t{0}, std::int64_t{10'000'000}))};
}

namespace {

Complaints over_an_input(const char* option, const std::string& file, const std::vector<std::string>& inputs) {
  for (const std::string& input : inputs) {
    std::error_code missing;  // a file that is not there is not overwritten
    if (!file.empty() && !input.empty() && std::filesystem::equivalent(file, input, missing)) {
      return Complaints({option},
                        quote(file) + " is the same file as the input " + quote(input) + "; name another file");
    }
  }
  return {};
}

}  // namespace

Complaints journal_over_an_input(const std::string& journal, const std::vector<std::string>& inputs) {
  return over_an_input("--journal", journal, inputs);
}

Complaints snapshot_over_an_input(const std::string& snapshot, const std::vector<std::string>& inputs) {
  return over_an_input("--to", snapshot, inputs);
}

Complaints page_over_an_input(const std::string& page, const std::vector<std::string>& inputs) {
  return over_an_input("--page", page, inputs);
}

}  // namespace berth
