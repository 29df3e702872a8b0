#include <fmt/core.h>

#include <memory>

#include "cli/command_line.h"
#include "cli/commands.h"
#include "cli/inputs.h"
#include "cli/run_reports.h"
#include "cycle/explain.h"
#include "sim/files.h"
#include "sim/journal_file.h"

namespace berth {
namespace {

int replay(const std::string& path) {
  const Result<std::string> file = read_file(path);
  if (!file) return complain(file.error());
  const Bytes bytes(file->begin(), file->end());
  const Result<Replay> done = replay_journal(path, bytes);
  if (!done) {
    complain(done.error());
    return kExitFailed;
  }
  const auto count = [](std::uint64_t value) { return with_separators(static_cast<std::int64_t>(value)); };
  fmt::print("{}: reproduced byte for byte\n", path);
  fmt::print("{} bytes, {} records, {} {}, {} cycles, {} starts\n", count(done->bytes), count(done->records),
             count(done->runs), done->runs == 1 ? "run" : "runs", count(done->cycles), count(done->starts));
  fmt::print("state hash {}\n", hex(done->state_hash));
  return kExitDone;
}

}  // namespace

void add_replay(CLI::App& berth, int& exit_code) {
  CLI::App& app = *berth.add_subcommand("replay", "Make every decision of a journal again and compare, byte for byte");
  const auto path = std::make_shared<std::string>();
  app.add_option("FILE", *path, "A journal written with --journal")->required();
  app.footer(
      "Example:\n"
      "  berth simulate run --generate 100 --journal run.journal && berth replay run.journal\n"
      "\n"
      "Exit code 1, and the record's number and place, if a byte was changed or a decision comes out otherwise.");
  app.callback([path, &exit_code] { exit_code = replay(*path); });
}

}  // namespace berth
