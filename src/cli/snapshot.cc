// `berth snapshot`: a recorded cluster, as it was at a moment, in one file.
#include <fmt/core.h>

#include <memory>
#include <string>

#include "cli/command_line.h"
#include "cli/commands.h"
#include "cli/inputs.h"
#include "cli/recording.h"
#include "cli/run_reports.h"
#include "cli/shared_options.h"
#include "cycle/explain.h"
#include "sim/files.h"

namespace berth {
namespace {

struct TypedSnapshot {
  std::string path;
  std::string until;
  std::string to = "berth.snapshot";
};

int run(const TypedSnapshot& typed) {
  if (const Complaints over = snapshot_over_an_input(typed.to, {typed.path}); !over.empty()) return complain(over);
  Recorded recorded;
  const Result<Bytes> snapshot = read_snapshot(typed.path, typed.until, recorded);
  if (!snapshot) return complain(snapshot.error());
  const auto written =
      write_private_file(typed.to, {reinterpret_cast<const char*>(snapshot->data()), snapshot->size()});
  if (!written) return complain(written.error());
  const State& state = recorded.engine.state;
  fmt::print("{}: {} after {} records, each decision made again: {} run, {} wait, state hash {}\n", *written,
             moment_in_words(recorded.now), with_separators(static_cast<std::int64_t>(recorded.records)),
             state.running(), state.pending(), hex(state.hash()));
  return kExitDone;
}

}  // namespace

void add_snapshot(CLI::App& berth, int& exit_code) {
  CLI::App& app = *berth.add_subcommand("snapshot", "Write a recorded cluster, as it was at a moment, into one file");
  const auto typed = std::make_shared<TypedSnapshot>();
  app.add_option(
         "FILE", typed->path,
         "A journal written with --journal, or the folder of a scheduler's: the newest, also while it is written")
      ->required();
  app.add_option("--until", typed->until, "As it was then: 2h30m after the beginning, or 2026-11-21T08:00:00Z")
      ->check(not_empty());
  app.add_option("--to", typed->to, "The file; it is there whole or not at all, and only you may read it")
      ->check(not_empty())
      ->capture_default_str();
  app.footer(
      "Examples:\n"
      "  berth snapshot berth-data/journal --to monday.snapshot\n"
      "  berth whatif monday.snapshot --change \"add nodes m 2 gpus=8\"\n"
      "  berth when monday.snapshot job-17\n"
      "  berth replay monday.snapshot --until 2026-11-21T08:00:00Z --explain job-17\n"
      "\n"
      "Whatever is asked of it is answered as of the journal at that moment. Only this version of Berth reads it.");
  app.callback([typed, &exit_code] { exit_code = run(*typed); });
}

}  // namespace berth
