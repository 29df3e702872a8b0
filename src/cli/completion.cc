// `berth completion`: the commands and options as they were added, as a script for a shell.
#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "cli/command_line.h"
#include "cli/commands.h"
#include "cli/inputs.h"
#include "client/completion_script.h"

namespace berth {
namespace {

constexpr std::array<std::string_view, 3> kTakeWork = {"explain", "logs", "cancel"};

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
    words.takes_work = std::ranges::find(kTakeWork, words.name) != kTakeWork.end();
    add_options_of(*app, words.options);
    for (const CLI::App* child : children_of(*app)) {
      words.children.push_back(child->get_name());
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
  app.footer("Example:\n  source <(berth completion bash)");
  app.callback([shell, &berth, &exit_code] {
    const auto script = completion_script(*shell, words_of(berth));
    if (script) fmt::print("{}", *script);
    exit_code = script ? kExitDone : complain(script.error());
  });
}

}  // namespace berth
