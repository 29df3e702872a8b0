// `berth completion`: the commands and options as they were added, as a script for a shell.
#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cli/command_line.h"
#include "cli/commands.h"
#include "cli/inputs.h"
#include "client/completion_script.h"
#include "client/work_choice.h"

namespace berth {
namespace {

std::vector<std::string> texts(const std::vector<std::string_view>& words) { return {words.begin(), words.end()}; }

CompletionWords arguments_of(const std::string& command) {
  if (command == "jobs" || command == "explain" || command == "logs" || command == "cancel") return {{}, "jobs"};
  if (command == "queue" || command == "share") return {{}, "queue"};
  if (command == "reservations") return {{}, "reservations"};
  if (command == "nodes") return {{}, "nodes"};
  if (command == "completion") return {{"bash", "zsh", "fish"}, ""};
  return {};
}

// Of options that mean the same wherever they stand; -o alone is a folder for some.
std::map<std::string, CompletionWords> values_of(const CLI::App& app) {
  const CompletionWords formats = {{"table", "wide", "json", "yaml", "name"}, ""};
  const std::vector<std::pair<std::string, CompletionWords>> known = {{"--queue", {{}, "queue"}},
                                                                      {"--state", {texts(names_of_states()), ""}},
                                                                      {"--sort-by", {texts(names_of_orders()), ""}},
                                                                      {"--color", {{"auto", "always", "never"}, ""}},
                                                                      {"--dry-run", {{"client", "server"}, ""}},
                                                                      {"--output", formats}};
  std::map<std::string, CompletionWords> values;
  for (const auto& [name, words] : known) {
    const CLI::Option* option = app.get_option_no_throw(name);
    const bool takes_them =
        option != nullptr && (name != "--output" || app.get_option_no_throw("--kubeconfig") != nullptr);
    if (!takes_them) continue;
    for (const std::string& each : option->get_lnames()) values["--" + each] = words;
    for (const std::string& each : option->get_snames()) values["-" + each] = words;
  }
  return values;
}

std::vector<const CLI::App*> children_of(const CLI::App& app) {
  return app.get_subcommands([](const CLI::App*) { return true; });
}

void add_options_of(const CLI::App& app, std::vector<std::string>& options) {
  for (const CLI::Option* option : app.get_options()) {
    for (const std::string& name : option->get_lnames()) options.push_back("--" + name);
    for (const std::string& name : option->get_snames()) options.push_back("-" + name);
  }
}

std::vector<CommandWords> words_of(const CLI::App& berth) {
  std::vector<CommandWords> commands;
  for (const CLI::App* app : children_of(berth)) {
    CommandWords words;
    words.name = app->get_name();
    words.summary = app->get_description();
    words.arguments = arguments_of(words.name);
    words.values = values_of(*app);
    add_options_of(*app, words.options);
    for (const CLI::App* child : children_of(*app)) {
      words.arguments.words.push_back(child->get_name());
      add_options_of(*child, words.options);
    }
    std::ranges::sort(words.options);
    const auto twice = std::ranges::unique(words.options);
    words.options.erase(twice.begin(), twice.end());
    commands.push_back(std::move(words));
  }
  return commands;
}

}  // namespace

void add_completion(CLI::App& berth, int& exit_code) {
  CLI::App& app = *berth.add_subcommand("completion", "Print a script by which a shell completes these commands");
  const auto shell = std::make_shared<std::string>();
  app.add_option("shell", *shell, "bash, zsh or fish")->required();
  app.footer(
      "Names of jobs, queues and nodes are asked of the server when they are completed.\n"
      "\n"
      "Examples:\n"
      "  source <(berth completion bash)\n"
      "  berth completion zsh >~/.zfunc/_berth\n"
      "  berth completion fish >~/.config/fish/completions/berth.fish");
  app.callback([shell, &berth, &exit_code] {
    const auto script = completion_script(*shell, words_of(berth));
    if (script) fmt::print("{}", *script);
    exit_code = script ? kExitDone : complain(script.error());
  });
}

}  // namespace berth
