// `berth timeline`: who ran when, on how many GPUs, in which queue.
#include <fmt/core.h>

#include <algorithm>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "base/wording.h"
#include "cli/command_line.h"
#include "cli/commands.h"
#include "cli/full_screen.h"
#include "cli/inputs.h"
#include "cli/recording.h"
#include "cli/shared_options.h"
#include "cli/shell.h"
#include "cli/timeline_report.h"
#include "sim/files.h"

namespace berth {
namespace {

constexpr std::int64_t kColumnsMin = 60;
constexpr std::int64_t kColumnsMax = 1000;

struct TypedTimeline {
  std::string path;
  std::string from;
  std::string until;
  std::string queue;
  std::string width;
  std::string limit;
  std::string output = "table";
  std::string page;
};

// Those of the queue and of all below it.
Result<RowFilter> rows_of_queue(const State& state, const std::string& name) {
  if (name.empty()) return RowFilter([](const Timeline::Row&) { return true; });
  std::vector<std::string_view> known;
  std::set<std::string> below;
  for (std::size_t i = 0; i < state.queues().size(); ++i) {
    known.push_back(state.queues()[i].name);
    for (QueueId at(i); !at.is_none(); at = state.queues()[at.index()].parent) {
      if (state.queues()[at.index()].name == name) below.insert(state.queues()[i].name);
    }
  }
  if (!below.empty()) {
    return RowFilter([below](const Timeline::Row& row) { return below.contains(row.queue); });
  }
  return Complaints({"--queue"}, quote(name) + " is no queue of this cluster" + instead_of(name, known));
}

// Of a run with dates "2h" is after its beginning.
Time moment_within(const Timeline& timeline, Time moment) {
  const bool is_length = is_date(timeline.begin) && !is_date(moment);
  return is_length ? timeline.begin + Duration{moment.ms} : moment;
}

Result<TimeWindow> window_of(const Timeline& timeline, const std::optional<Time>& from) {
  const Time begin = from ? moment_within(timeline, *from) : timeline.begin;
  if (begin < timeline.end) return TimeWindow{std::max(begin, timeline.begin), timeline.end};
  if (!from) return Complaints({"FILE"}, "tells of one moment only; berth replay --until says how it was then");
  return Complaints({"--from"}, "is not before " + moment_word(timeline.end) +
                                    ", where the journal ends or --until is; " + "name an earlier moment");
}

// What came before may have been thrown away.
void say_where_it_begins(const std::string& path, const Timeline& timeline, const std::optional<Time>& from) {
  if (!from || moment_within(timeline, *from) >= timeline.begin) return;
  fmt::print(stderr, "{}: nothing is recorded before {}; from then on\n", path, moment_in_words(timeline.begin));
}

std::string command_of(const TypedTimeline& typed) {
  return shell_command("berth timeline " + shell_quoted(typed.path), {{"--from", typed.from},
                                                                      {"--until", typed.until},
                                                                      {"--queue", typed.queue},
                                                                      {"--limit", typed.limit},
                                                                      {"--page", typed.page}});
}

struct Wanted {
  std::optional<Time> from;
  std::size_t columns = 0;
  std::size_t limit = 0;
};

Result<Wanted> wanted(const TypedTimeline& typed) {
  Complaints complaints;
  Wanted wanted{.from = {}, .columns = std::max<std::size_t>(terminal_size().columns, kColumnsMin)};
  const auto from = parse_moment("--from", typed.from);
  if (!from) complaints.add_all(from.error());
  if (from) wanted.from = *from;
  if (const auto until = parse_moment("--until", typed.until); !until) complaints.add_all(until.error());
  if (!typed.width.empty()) {
    const auto columns = parse_count("--width", typed.width, kColumnsMin, kColumnsMax);
    if (!columns) complaints.add_all(columns.error());
    if (columns) wanted.columns = static_cast<std::size_t>(*columns);
  }
  // Machines read all; a page is longer than a screen.
  wanted.limit = typed.output == "json" ? SIZE_MAX : typed.page.empty() ? 40 : 200;
  if (!typed.limit.empty()) {
    const auto limit = parse_count("--limit", typed.limit, 1, 1'000'000);
    if (!limit) complaints.add_all(limit.error());
    if (limit) wanted.limit = static_cast<std::size_t>(*limit);
  }
  complaints.add_all(page_over_an_input(typed.page, {typed.path}));
  if (!complaints.empty()) return complaints;
  return wanted;
}

int run(const TypedTimeline& typed) {
  const Result<Wanted> options = wanted(typed);
  if (!options) return complain(options.error());
  const Result<RecordedTimeline> read = read_timeline(typed.path, typed.until);
  if (!read) return complain(read.error());
  Complaints complaints;
  const Timeline& timeline = read->timeline;
  const Result<RowFilter> filter = rows_of_queue(read->recorded.engine.state, typed.queue);
  if (!filter) complaints.add_all(filter.error());
  const Result<TimeWindow> window = window_of(timeline, options->from);
  if (!window) complaints.add_all(window.error());
  if (!complaints.empty()) return complain(complaints);
  say_where_it_begins(typed.path, timeline, options->from);
  const TimelineView view{.timeline = timeline,
                          .window = *window,
                          .chosen = choose_rows(timeline, *window, options->limit, *filter),
                          .queues = queues_by_use(timeline, *window, *filter)};
  if (!typed.page.empty()) {
    const Report page = timeline_as_page(view, *filter, "Timeline of " + typed.path, command_of(typed));
    const Result<std::string> written = write_file(typed.page, render_html(page));
    if (!written) return complain(written.error());
    fmt::print(stderr, "page: {}\n", *written);
  }
  // Names come from users' files and may be any bytes.
  const std::string text =
      typed.output == "json"
          ? timeline_as_json(view, *filter).dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n"
          : timeline_as_text(view, *filter, options->columns);
  fmt::print("{}", text);
  return kExitDone;
}

}  // namespace

void add_timeline(CLI::App& berth, int& exit_code) {
  CLI::App& app = *berth.add_subcommand("timeline", "Show who ran when in a recorded cluster, and on how many GPUs");
  const auto typed = std::make_shared<TypedTimeline>();
  app.add_option("FILE", typed->path,
                 "A journal written with --journal, a snapshot, or a folder of journals: all that can be replayed")
      ->required();
  app.add_option("--from", typed->from, "Begin there: 2h30m after the beginning, or 2026-11-21T08:00:00Z")
      ->check(not_empty());
  app.add_option("--until", typed->until, "End there; what happened later is not looked at")->check(not_empty());
  app.add_option("--queue", typed->queue, "Only of this queue and those below it")->check(not_empty());
  app.add_option("--limit", typed->limit,
                 "So many lines, of those that held or awaited most GPU time: 40, on a page 200, as JSON all")
      ->check(not_empty());
  app.add_option("--width", typed->width, "Columns, 60 to 1000; else those of the terminal, or $COLUMNS")
      ->check(not_empty());
  app.add_option("-o,--output", typed->output, "table or json")
      ->capture_default_str()
      ->check(CLI::IsMember({"table", "json"}));
  app.add_option("--page", typed->page, "Write it as a page, too")->check(not_empty());
  app.footer(
      "Examples:\n"
      "  berth timeline run.journal --from 6h --until 12h --queue research\n"
      "  berth timeline berth-data/journal --page timeline.html\n"
      "\n"
      "# runs, . waits, x was evicted; the legend below the lines says what else there is. A character says the most "
      "that\n"
      "happened in its time: whoever ran at all in it is #. Steps of elastic work stand below their minimum, with a "
      "+.");
  app.callback([typed, &exit_code] { exit_code = run(*typed); });
}

}  // namespace berth
