// `berth whatif`: what would become of a recorded cluster if some things were otherwise.
#include <fmt/core.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "cli/asked_object.h"
#include "cli/command_line.h"
#include "cli/commands.h"
#include "cli/connection.h"
#include "cli/inputs.h"
#include "cli/recording.h"
#include "cli/shared_options.h"
#include "cli/shell.h"
#include "cli/typed_changes.h"
#include "cli/what_if_report.h"
#include "sim/files.h"
#include "sim/what_if.h"
#include "sim/what_if_told.h"

namespace berth {
namespace {

struct TypedWhatIf {
  std::string path;
  std::string until;
  std::vector<std::string> changes;
  std::string file;
  bool all = false;
  std::string output = "table";
  std::string page;
  ConnectionWish wish;
};

Result<TypedChanges> changes_of(const TypedWhatIf& typed) {
  TypedChanges changes;
  for (const std::string& change : typed.changes) changes.add_typed(change);
  if (!typed.file.empty()) {
    const Result<std::string> file = read_file(typed.file);
    if (!file) return file.error();
    changes.add_file(typed.file, *file);
  }
  if (changes.lines().empty())
    return Complaints({"--change"},
                      "say what would be otherwise: --change \"add nodes m 2 gpus=8\", or --changes FILE");
  return changes;
}

std::string command_of(const TypedWhatIf& typed) {
  std::string command = typed.path.empty() ? "berth whatif" : "berth whatif " + shell_quoted(typed.path);
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

int show(const TypedWhatIf& typed, const WhatIf& done, const std::string& of_what, const std::string& changes) {
  if (!typed.page.empty()) {
    const Report page = what_if_as_page(done, "What if, of " + of_what, changes_in_words(changes), command_of(typed));
    const Result<std::string> written = write_file(typed.page, render_html(page));
    if (!written) return complain(written.error());
    fmt::print(stderr, "page: {}\n", *written);
  }
  fmt::print("{}", typed.output == "json" ? what_if_as_json(done) : what_if_as_text(done, typed.all));
  return kExitDone;
}

constexpr std::chrono::seconds kWhatIfAnswerMax{180};

// The scheduler of a live cluster computes it, beside its decisions.
int ask_scheduler(const TypedWhatIf& typed) {
  Complaints complaints;
  const Result<TypedChanges> typed_changes = changes_of(typed);
  if (!typed_changes) complaints.add_all(typed_changes.error());
  if (!typed.until.empty())
    complaints.add({"--until"}, "a live cluster is as it is now; name a journal, a snapshot or a folder, too");
  complaints.add_all(page_over_an_input(typed.page, {typed.file}));
  if (!complaints.empty()) return complain(complaints);
  Value changes = Value::list();
  for (const std::string& line : typed_changes->lines()) changes.push_back(line);
  const auto server = connect(typed.wish);
  if (!server) return complain(server.error());
  AskedObject asked(*server->transport, "whatifs.berth.dev");
  const Asked<void> made = asked.ask(Value::map_of({{"apiVersion", "berth.dev/v1alpha1"},
                                                    {"kind", "WhatIf"},
                                                    {"metadata", Value::map_of({{"generateName", "asked-"}})},
                                                    {"spec", Value::map_of({{"changes", changes}})}}));
  if (!made) return fail(made.error());
  const Asked<Value> answered =
      asked.wait([](const Value& status) { return !status["asOf"].is_empty(); }, kWhatIfAnswerMax);
  if (!answered) return fail(answered.error());
  const Value& status = (*answered)["status"];
  if (!status["problem"].is_empty()) {
    fmt::print(stderr, "{}", typed_changes->where_typed(status["problem"].text()));
    return kExitBadInput;
  }
  return show(typed, what_if_in(status["answer"]), "the live cluster", typed_changes->text());
}

int run(const TypedWhatIf& typed) {
  if (typed.path.empty()) return ask_scheduler(typed);
  Complaints complaints;
  const Result<TypedChanges> typed_changes = changes_of(typed);
  if (!typed_changes) complaints.add_all(typed_changes.error());
  Result<Recorded> recorded = read_recording(typed.path, typed.until);
  if (!recorded) complaints.add_all(recorded.error());
  complaints.add_all(page_over_an_input(typed.page, {typed.path, typed.file}));
  if (!complaints.empty()) return complain(complaints);
  const std::string text = typed_changes->text();
  const Result<Changes> changes = read_changes("--change", text, *recorded, recorded->workloads);
  if (!changes) return complain(typed_changes->where_typed(changes.error()));
  return show(typed, what_if(*recorded, *changes, {}), typed.path, text);
}

}  // namespace

void add_what_if(CLI::App& berth, int& exit_code) {
  CLI::App& app =
      *berth.add_subcommand("whatif", "Say what would become of a recorded cluster if some things were otherwise");
  const auto typed = std::make_shared<TypedWhatIf>();
  app.add_option(
      "FILE", typed->path,
      "A journal written with --journal, a snapshot, or a folder of journals: the newest. Without one the live "
      "cluster's scheduler is asked");
  add_connection_options(app, typed->wish, Namespaced::kNo);
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
      "  berth whatif --change \"remove node n3\" --change \"queue new guarantee=8\"\n"
      "  berth whatif berth-data/journal --change \"set queue research limit=64\" --change \"drain node n3\"\n"
      "\n"
      "Changes: add nodes, drain, fail, restore and remove node, queue, set, hold, release and remove queue,\n"
      "set workload, submit, cancel, end, end and fail pod, policy spread (docs/scenarios.md). Run times are drawn "
      "from\n"
      "those of work that ended before, the same ones both times; nobody else comes. Nothing is changed but a copy.");
  app.callback([typed, &exit_code] { exit_code = run(*typed); });
}

}  // namespace berth
