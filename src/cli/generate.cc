#include <fmt/core.h>

#include <memory>

#include "cli/command_line.h"
#include "cli/commands.h"
#include "cli/inputs.h"
#include "cli/shared_options.h"
#include "cycle/explain.h"
#include "sim/files.h"
#include "sim/generate.h"
#include "sim/readers.h"

namespace berth {
namespace {

struct TypedGenerate {
  std::int64_t nodes = 1000;
  FleetOptions fleet;
  std::int64_t seed = 42;
  std::string directory;
};

int generate(const TypedGenerate& typed) {
  const Trace trace = generate_fleet(typed.fleet.spec(typed.nodes, Seed{static_cast<std::uint64_t>(typed.seed)}));
  for (const auto& [name, text] :
       {std::pair{"nodes.csv", write_nodes_csv(trace.nodes)}, std::pair{"jobs.csv", write_jobs_csv(trace.jobs)}}) {
    const Result<std::string> written = write_file(typed.directory + "/" + name, text);
    if (!written) return complain(written.error());
  }
  fmt::print("{0}/nodes.csv: {1} nodes\n{0}/jobs.csv: {2} jobs\n", typed.directory,
             with_separators(static_cast<std::int64_t>(trace.nodes.size())),
             with_separators(static_cast<std::int64_t>(trace.jobs.size())));
  return kExitDone;
}

}  // namespace

void add_generate(CLI::App& berth, int& exit_code) {
  CLI::App& app =
      *berth.add_subcommand("generate", "Write a made-up fleet and its jobs as CSV, to look at or to change");
  const auto typed = std::make_shared<TypedGenerate>();
  app.add_option("--nodes", typed->nodes, "Nodes of the fleet")->capture_default_str()->check(CLI::Range(10, 125'000));
  add_fleet_options(app, typed->fleet);
  app.add_option("--seed", typed->seed, "The same seed makes the same files")
      ->capture_default_str()
      ->check(CLI::NonNegativeNumber);
  app.add_option("--output,-o", typed->directory, "Folder to write nodes.csv and jobs.csv into")->required();
  app.footer(
      "Example:\n"
      "  berth generate --nodes 200 --seed 7 -o fleet\n"
      "  berth simulate run --nodes fleet/nodes.csv --jobs fleet/jobs.csv");
  app.callback([typed, &exit_code] { exit_code = generate(*typed); });
}

}  // namespace berth
