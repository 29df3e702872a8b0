#include "cli/command_line.h"

#include <CLI/CLI.hpp>
#include <cstdio>
#include <exception>
#include <string>
#include <string_view>
#include <vector>

#include "base/wording.h"
#include "cli/commands.h"
#include "cli/inputs.h"

namespace berth {
namespace {

// The first word that should be a command and is none, with what it may have meant; empty if there is no such word.
std::string unknown_command(const CLI::App& berth, int argc, char** argv) {
  const CLI::App* parent = &berth;
  for (int i = 1; i < argc && argv[i][0] != '-'; ++i) {
    const auto children = parent->get_subcommands([](const CLI::App*) { return true; });
    if (children.empty()) return "";
    const CLI::App* child = nullptr;
    std::vector<std::string> names;
    for (const CLI::App* each : children) {
      names.push_back(each->get_name());
      if (names.back() == argv[i]) child = each;
    }
    if (child == nullptr) {
      const std::vector<std::string_view> known(names.begin(), names.end());
      const std::string_view near = nearest_word(argv[i], known);
      std::string text = quote(argv[i]) + " is no command";
      text += near.empty() ? "; there are: " : "; did you mean " + std::string(near) + "? There are: ";
      for (const std::string& name : names) text += (&name == &names.front() ? "" : ", ") + name;
      return text;
    }
    parent = child;
  }
  return "";
}

// kubectl runs a program of this name as `kubectl berth`.
std::string name_of_program(std::string_view called) {
  return called.substr(called.rfind('/') + 1) == "kubectl-berth" ? "kubectl berth" : "berth";
}

// The first option that its command does not have, with what it may have meant; empty if there is no such option.
std::string unknown_option(const CLI::App& berth, int argc, char** argv) {
  const CLI::App* command = &berth;
  std::string wrong;
  for (int i = 1; i < argc && wrong.empty() && std::string_view(argv[i]) != "--"; ++i) {
    const std::string word(argv[i]);
    const auto named = command->get_subcommands([&](const CLI::App* each) { return each->get_name() == word; });
    if (!named.empty()) command = named.front();
    const std::string option = word.substr(0, word.find('='));
    if (option.starts_with("--") && command->get_option_no_throw(option) == nullptr) wrong = option;
  }
  if (wrong.empty()) return "";
  std::vector<std::string> options;
  for (const CLI::Option* option : command->get_options()) {
    for (const std::string& name : option->get_lnames()) options.push_back("--" + name);
  }
  const std::vector<std::string_view> known(options.begin(), options.end());
  const std::string_view near = nearest_word(wrong, known);
  return quote(wrong) + " is no option here; " + (near.empty() ? "" : "did you mean " + std::string(near) + "? ") +
         "--help shows all";
}

int parse_and_run(int argc, char** argv) {
  CLI::App app("Berth gives every job on a shared GPU cluster its place, and can say why.",
               name_of_program(argc > 0 ? argv[0] : ""));
  app.require_subcommand(1);
  app.set_version_flag("--version", "berth 0.1.0");
  int exit_code = kExitDone;
  add_submit(app, exit_code);
  add_jobs(app, exit_code);
  add_queue(app, exit_code);
  add_share(app, exit_code);
  add_reservations(app, exit_code);
  add_nodes(app, exit_code);
  add_topology(app, exit_code);
  add_explain(app, exit_code);
  add_top(app, exit_code);
  add_logs(app, exit_code);
  add_cancel(app, exit_code);
  add_up(app, exit_code);
  add_apiserver(app, exit_code);
  add_scheduler(app, exit_code);
  add_node_agent(app, exit_code);
  add_backup(app, exit_code);
  add_restore(app, exit_code);
  add_doctor(app, exit_code);
  CLI::App& simulate = *app.add_subcommand("simulate", "Drive the scheduler over a recorded or made-up cluster");
  simulate.require_subcommand(1);
  add_simulate_fill(simulate, exit_code);
  add_simulate_run(simulate, exit_code);
  add_simulate_forecast(simulate, exit_code);
  add_simulate_compare(simulate, exit_code);
  add_simulate_table(simulate, exit_code);
  add_simulate_defrag(simulate, exit_code);
  add_demo(app, exit_code);
  add_scenario(app, exit_code);
  add_defrag(app, exit_code);
  add_policy(app, exit_code);
  add_lint(app, exit_code);
  add_replay(app, exit_code);
  add_timeline(app, exit_code);
  add_what_if(app, exit_code);
  add_when(app, exit_code);
  add_snapshot(app, exit_code);
  add_generate(app, exit_code);
  add_completion(app, exit_code);
  app.footer(
      "Examples:\n"
      "  berth up                                 a control plane here, for kubectl\n"
      "  berth submit --gpus 8 -- ./train         a command as a job, see berth jobs\n"
      "  berth explain job/train-4x7bq            why it waits, or where it runs\n"
      "  berth demo                               an afternoon on 1,000 simulated nodes, live\n"
      "  berth simulate run --generate 200        a day of a fleet in virtual time, in a second\n"
      "  berth scenario scenarios/*.txt           behaviour, written down and checked\n"
      "  berth lint queues.yaml                   what is wrong with a policy, Kueue's and Volcano's too");
  if (const std::string mistake = unknown_command(app, argc, argv); !mistake.empty()) {
    return complain(Complaints({"berth"}, mistake));
  }
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    const bool asked_for = error.get_exit_code() == static_cast<int>(CLI::ExitCodes::Success);
    const bool left_over = error.get_exit_code() == static_cast<int>(CLI::ExitCodes::ExtrasError);
    if (const std::string mistake = unknown_option(app, argc, argv); left_over && !mistake.empty()) {
      return complain(Complaints({"berth"}, mistake));
    }
    app.exit(error);
    return asked_for ? kExitDone : kExitBadInput;
  }
  return exit_code;
}

}  // namespace

int guarded(const std::function<int()>& command) {
  int exit_code = kExitFailed;
  try {
    exit_code = command();
  } catch (const std::exception& error) {
    // A library may throw when stdout takes no more, which is said below. Nothing here asks for memory.
    if (std::ferror(stdout) == 0) {
      std::fprintf(stderr, "berth: %s; take a smaller input if memory ran out, else please report this\n",
                   error.what());
      return kExitFailed;
    }
  }
  if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0) return exit_code;
  std::fputs("stdout: cannot be written, what came out is not whole; write to a place that has room\n", stderr);
  return kExitFailed;
}

int run_command_line(int argc, char** argv) {
  return guarded([&] { return parse_and_run(argc, argv); });
}

}  // namespace berth
