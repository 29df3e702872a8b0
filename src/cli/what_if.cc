// `berth whatif`: what would become of a recorded cluster if some things were otherwise.
#include <fmt/core.h>

#include <memory>
#include <string>
#include <vector>

#include "cli/command_line.h"
#include "cli/commands.h"
#include "cli/inputs.h"
#include "cli/recording.h"
#include "cli/shared_options.h"
#include "cli/shell.h"
#include "cli/what_if_report.h"
#include "sim/files.h"
#include "sim/what_if.h"

namespace berth {
namespace {

struct Typed {
  std::string path;
  std::string until;
  std::vector<std::string> changes;
  std::string file;
  bool all = false;
  std::string output = "table";
  std::string page;
};

Result<std::string> changes_of(const Typed& typed) {
  std::string text;
  for (const std::string& change : typed.changes) text += change + "\n";
  if (!typed.file.empty()) {
    const Result<std::string> file = read_file(typed.file);
    if (!file) return file.error();
    text += *file;
  }
  if (text.empty())
    return Complaints({"--change"},
                      "say what would be otherwise: --change \"add nodes m 2 gpus=8\", or --changes FILE");
  return text;
}

std::string command_of(const Typed& typed) {
  std::string command = "berth whatif " + shell_quoted(typed.path);
  for (const std::string& change : typed.changes) command += " --change " + shell_quoted(change);
  return shell_command(command, {{"--changes", typed.file}, {"--until", typed.until}, {"--page", typed.page}});
}

// On one line.
std::string changes_in_words(const std::string& text) {
  std::string words = text.substr(0, text.find_last_not_of('\n') + 1);
  for (std::size_t at = words.find('\n'); at != std::string::npos; at = words.find('\n', at))
    words.replace(at, 1, "; ");
  return words;
}

int run(const Typed& typed) {
  Complaints complaints;
  const Result<std::string> text = changes_of(typed);
  if (!text) complaints.add_all(text.error());
  Result<Recorded> recorded = read_recording(typed.path, typed.until);
  if (!recorded) complaints.add_all(recorded.error());
  complaints.add_all(page_over_an_input(typed.page, {typed.path, typed.file}));
  if (!complaints.empty()) return complain(complaints);
  const Result<std::vector<Event>> changes =
      read_changes(typed.file.empty() ? "--change" : typed.file, *text, *recorded, recorded->workloads);
  if (!changes) return complain(changes.error());
  const WhatIf done = what_if(*recorded, *changes, {});
  if (!typed.page.empty()) {
    const Report page =
        what_if_as_page(*recorded, done, "What if, of " + typed.path, changes_in_words(*text), command_of(typed));
    const Result<std::string> written = write_file(typed.page, render_html(page));
    if (!written) return complain(written.error());
    fmt::print(stderr, "page: {}\n", *written);
  }
  fmt::print("{}",
             typed.output == "json" ? what_if_as_json(*recorded, done) : what_if_as_text(*recorded, done, typed.all));
  return kExitDone;
}

}  // namespace

void add_what_if(CLI::App& berth, int& exit_code) {
  CLI::App& app =
      *berth.add_subcommand("whatif", "Say what would become of a recorded cluster if some things were otherwise");
  const auto typed = std::make_shared<Typed>();
  app.add_option("FILE", typed->path,
                 "A journal written with --journal, a snapshot, or a folder of journals: the newest")
      ->required();
  app.add_option("--until", typed->until, "As it was then: 2h30m after the beginning, or 2026-11-21T08:00:00Z")
      ->check(not_empty());
  app.add_option("--change", typed->changes, "In words of the scenario language; several are made in this order");
  app.add_option("--changes", typed->file, "A file of them, one a line")->check(not_empty());
  app.add_flag("--all", typed->all, "Show all who wait, also those for whom it makes no difference");
  app.add_option("-o,--output", typed->output, "table or json")
      ->capture_default_str()
      ->check(CLI::IsMember({"table", "json"}));
  app.add_option("--page", typed->page, "Write it as a page, too, with both timelines")->check(not_empty());
  app.footer(
      "Examples:\n"
      "  berth whatif run.journal --until 6h --change \"add nodes m 2 gpus=8 cpu=128 memory=1Ti\"\n"
      "  berth whatif berth-data/journal --change \"set queue research limit=64\" --change \"drain node n3\"\n"
      "\n"
      "Changes: add nodes, drain, fail and restore node, set queue and workload, hold and release queue, submit, "
      "cancel, end\n"
      "(docs/scenarios.md). Run times are drawn from those of work that ended before, the same ones both times; nobody "
      "else\n"
      "comes. Nothing is changed but a copy.");
  app.callback([typed, &exit_code] { exit_code = run(*typed); });
}

}  // namespace berth
