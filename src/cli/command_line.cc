#include "cli/command_line.h"

#include <CLI/CLI.hpp>
#include <cstdio>
#include <exception>

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

int parse_and_run(int argc, char** argv) {
  CLI::App app("Berth gives every job on a shared GPU cluster its place, and can say why.", "berth");
  app.require_subcommand(1);
  app.set_version_flag("--version", "berth 0.1.0");
  int exit_code = kExitDone;
  add_up(app, exit_code);
  add_apiserver(app, exit_code);
  add_scheduler(app, exit_code);
  add_node_agent(app, exit_code);
  CLI::App& simulate = *app.add_subcommand("simulate", "Drive the scheduler over a recorded or made-up cluster");
  simulate.require_subcommand(1);
  add_simulate_fill(simulate, exit_code);
  add_simulate_run(simulate, exit_code);
  add_simulate_table(simulate, exit_code);
  add_demo(app, exit_code);
  add_scenario(app, exit_code);
  add_replay(app, exit_code);
  add_generate(app, exit_code);
  app.footer(
      "Examples:\n"
      "  berth up                                 a control plane here, for kubectl\n"
      "  berth demo --report out                  a day of a fleet of 1,000 nodes, with plots\n"
      "  berth simulate run --generate 200        the same, smaller, with every option\n"
      "  berth scenario scenarios/*.txt           behaviour, written down and checked");
  if (const std::string mistake = unknown_command(app, argc, argv); !mistake.empty()) {
    return complain(Complaints({"berth"}, mistake));
  }
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    const bool asked_for = error.get_exit_code() == static_cast<int>(CLI::ExitCodes::Success);
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
