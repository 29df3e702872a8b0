// Each command adds itself to its parent and leaves its exit code behind when it was run.
#pragma once

#include <CLI/CLI.hpp>

namespace berth {

void add_simulate_fill(CLI::App& simulate, int& exit_code);
void add_simulate_run(CLI::App& simulate, int& exit_code);
void add_simulate_table(CLI::App& simulate, int& exit_code);
void add_generate(CLI::App& berth, int& exit_code);
void add_replay(CLI::App& berth, int& exit_code);
void add_scenario(CLI::App& berth, int& exit_code);
void add_demo(CLI::App& berth, int& exit_code);

}  // namespace berth
