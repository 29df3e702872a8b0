// Options that several commands have, said once.
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/rng.h"
#include "sim/generate.h"

namespace berth {

// What --nodes of simulated nodes takes.
inline constexpr const char* kNodesHelp =
    "COUNTxMODELxGPUS (with /mig, /mig:3g.40gb:1g.10gb, /mps, /vgpu or /timeslice:4 behind it: shared so; /recut:10s "
    "behind "
    "slices: they are cut anew; /exclusive.mig: one or the other; /numa:2:restricted, /kept:12:100Gi: CPUs and memory "
    "beside "
    "them; /overcommit:1.5: so many times its CPUs, for best effort; /spare: for repairs alone) or COUNTxcpu, several "
    "with "
    "commas; or a file of Node objects";

// What `simulate fill` and `simulate run` have in common.
struct SimulationOptions {
  std::string policy = "fgd";
  std::string seeds = {};
  std::string seeds_option = {};  // the name under which they were typed
  std::string output = "table";
  std::string report = {};
  std::string journal = {};
};

// `seeds_option` is the name shown first and `seeds_alias` the other. `typed` outlives the app.
void add_simulation_options(CLI::App& app, SimulationOptions& typed, const std::string& seeds_option,
                            const std::string& seeds_alias, const std::string& seeds_meaning);

// What is generated, but for the number of nodes and the seed.
struct FleetOptions {
  int days = 1;
  int load_percent = 95;
  std::int64_t jobs_per_day = 0;

  FleetSpec spec(std::int64_t nodes, Seed seed) const {
    return {.nodes = nodes, .days = days, .seed = seed, .jobs_per_day = jobs_per_day, .load_pct = load_percent};
  }
};

// The options that were added. `typed` outlives the app.
// By which policy a live scheduler places: what was typed, or its default.
std::shared_ptr<std::string> add_live_policy(CLI::App& app);

std::vector<CLI::Option*> add_fleet_options(CLI::App& app, FleetOptions& typed);

// For an option whose value may be left out, but not be empty.
CLI::Validator not_empty();

// A complaint if writing the journal would destroy one of the files that are read.
Complaints journal_over_an_input(const std::string& journal, const std::vector<std::string>& inputs);
// The same of a page.
Complaints snapshot_over_an_input(const std::string& snapshot, const std::vector<std::string>& inputs);
Complaints page_over_an_input(const std::string& page, const std::vector<std::string>& inputs);

}  // namespace berth
