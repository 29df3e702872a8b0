// Each command adds itself to its parent and leaves its exit code behind when it was run.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

#include "base/result.h"

namespace berth {

void add_simulate_compare(CLI::App& simulate, int& exit_code);
void add_simulate_defrag(CLI::App& simulate, int& exit_code);
void add_simulate_fill(CLI::App& simulate, int& exit_code);
void add_simulate_forecast(CLI::App& simulate, int& exit_code);
void add_simulate_run(CLI::App& simulate, int& exit_code);
void add_simulate_table(CLI::App& simulate, int& exit_code);
void add_defrag(CLI::App& berth, int& exit_code);
void add_generate(CLI::App& berth, int& exit_code);
void add_replay(CLI::App& berth, int& exit_code);
void add_what_if(CLI::App& berth, int& exit_code);
void add_timeline(CLI::App& berth, int& exit_code);
void add_when(CLI::App& berth, int& exit_code);
void add_snapshot(CLI::App& berth, int& exit_code);
void add_scenario(CLI::App& berth, int& exit_code);
void add_policy(CLI::App& berth, int& exit_code);
void add_policy_diff(CLI::App& policy, int& exit_code);
void add_lint(CLI::App& berth, int& exit_code);
void add_demo(CLI::App& berth, int& exit_code);
void add_up(CLI::App& berth, int& exit_code);
void add_apiserver(CLI::App& berth, int& exit_code);
void add_scheduler(CLI::App& berth, int& exit_code);
void add_node_agent(CLI::App& berth, int& exit_code);
void add_backup(CLI::App& berth, int& exit_code);
void add_restore(CLI::App& berth, int& exit_code);
void add_doctor(CLI::App& berth, int& exit_code);
void add_submit(CLI::App& berth, int& exit_code);
void add_jobs(CLI::App& berth, int& exit_code);
void add_queue(CLI::App& berth, int& exit_code);
void add_share(CLI::App& berth, int& exit_code);
void add_reservations(CLI::App& berth, int& exit_code);
void add_nodes(CLI::App& berth, int& exit_code);
void add_topology(CLI::App& berth, int& exit_code);
void add_explain(CLI::App& berth, int& exit_code);
void add_top(CLI::App& berth, int& exit_code);
void add_logs(CLI::App& berth, int& exit_code);
void add_cancel(CLI::App& berth, int& exit_code);
void add_completion(CLI::App& berth, int& exit_code);

// What is wrong with the text or the file that --nodes names.
Complaints complaints_about_nodes(const std::string& text);

}  // namespace berth
