#include "sim/scenario_parse.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "base/wording.h"
#include "cycle/defragment.h"
#include "model/gpu.h"
#include "model/policy.h"
#include "model/quantity.h"
#include "sim/csv.h"
#include "sim/scenario_expect.h"
#include "sim/scenario_statements.h"

namespace berth {
namespace scenario {
namespace {

// The seed and the policy hold for all of a run: nothing may stand above them.
bool is_first(ScenarioReading& reading, const ScenarioLine& line) {
  if (!reading.begun) return true;
  line.complain(quote(line.keyword()) + " holds for the whole scenario; write it before all else");
  return false;
}

RunConfigured& configuration(ScenarioReading& reading) {
  return std::get<RunConfigured>(std::get<Event>(reading.scenario.statements.front().action));
}

void read_seed(ScenarioReading& reading, ScenarioLine& line) {
  const ScenarioWord* const word = line.take_plain("seed 7");
  const std::int64_t seed = line.integer(word, 0, INT64_MAX, 1);
  if (is_first(reading, line)) configuration(reading).seed.value = static_cast<std::uint64_t>(seed);
  line.finish({});
}

void read_policy(ScenarioReading& reading, ScenarioLine& line) {
  const ScenarioWord* const word = line.take_plain("policy best-fit");
  const auto policy = word == nullptr ? std::nullopt : find_placement_policy(word->value);
  if (word != nullptr && !policy) {
    line.complain(*word, "there is no policy " + quote(word->value) + line.instead(word->value, kPlacementPolicyNames));
  } else if (policy && needs_typical_pods(*policy)) {
    line.complain(*word, quote(word->value) +
                             " is not known in scenarios: it measures by typical pods, which come from a trace; "
                             "write best-fit, or use berth simulate");
  } else if (policy && is_first(reading, line)) {
    configuration(reading).policy = *policy;
  }
  line.finish({});
}

void read_at(ScenarioReading& reading, ScenarioLine& line) {
  reading.close_drafts();
  if (const ScenarioWord* const word = line.take_plain("at 08:00, at +10m or at 2026-11-21T08:00:00Z")) {
    const Parsed<Time> moment = reading.clock.later(word->value);
    if (moment) {
      const bool relative = word->value.starts_with('+');
      const Duration by = *moment - reading.clock.now();
      reading.clock.advance_to(*moment);
      reading.add(line, PassTime{*moment, relative ? std::optional(by) : std::nullopt});
    } else {
      line.complain(*word, moment.error());
    }
  }
  line.finish({});
}

void read_cycle(ScenarioReading& reading, ScenarioLine& line) {
  reading.close_drafts();
  reading.add(line, Cycle{});
  line.finish({});
}
void read_settle(ScenarioReading& reading, ScenarioLine& line) {
  reading.close_drafts();
  reading.add(line, Settle{});
  reading.clock.lose_track();
  line.finish({});
}

constexpr std::int64_t kDefragmentAttemptsMax = 10'000;

void read_defragment(ScenarioReading& reading, ScenarioLine& line) {
  reading.close_drafts();
  Defragment asked{.horizon = DefragmentOptions().horizon};
  const ScenarioWord* const gpus = line.take("gpus");
  asked.gpus = static_cast<std::int32_t>(line.integer(gpus, 1, kGpusPerNodeMax, 8));
  if (const ScenarioWord* const slice = line.take("slice")) {
    asked.slice = slice->value;
    if (gpus != nullptr)
      line.complain(*slice, "room is made for whole GPUs or for slices; write one of gpus= and slice=");
  }
  asked.attempts = line.integer(line.take("effort"), 0, kDefragmentAttemptsMax, 0);
  if (const ScenarioWord* const word = line.take("use")) {
    const auto ms = parse_duration_ms(word->value);
    if (!ms || *ms < 1) {
      line.complain(*word, "use: " + (ms ? "for no time; write such as use=4h" : ms.error()));
    } else {
      asked.horizon = Duration{*ms};
    }
  }
  reading.add(line, asked);
  constexpr std::array<std::string_view, 4> kKeys = {"gpus", "slice", "use", "effort"};
  line.finish(kKeys);
}

void read_set(ScenarioReading& reading, ScenarioLine& line) {
  const char* const kForm = "set queue research guarantee=8, set workload w priority=200 or set node n1 labels=rack:r1";
  const ScenarioWord* const kind = line.take_plain(kForm);
  if (kind == nullptr) return;
  if (kind->value == "queue") return set_queue(reading, line);
  if (kind->value == "workload") return set_workload(reading, line);
  if (kind->value == "node") return set_node(reading, line);
  line.complain(*kind, quote(kind->value) + " cannot be set; write " + kForm);
}

void read_expect(ScenarioReading& reading, ScenarioLine& line) {
  reading.close_drafts();
  ++reading.scenario.expectations;
  auto expectation = read_expectation(line, reading.names, reading.clock);
  if (!expectation) return;
  const ScenarioWord* const started = line.find("started");
  if (auto* const running = std::get_if<ExpectRunning>(&*expectation); running != nullptr && started != nullptr) {
    running->started_on_any_day = started->value.find('T') == std::string::npos;
  }
  reading.add(line, std::move(*expectation));
}

void read_lint_line(ScenarioReading& reading, ScenarioLine& line) {
  reading.close_drafts();
  ++reading.scenario.expectations;
  if (auto expectation = read_lint(line, reading.names)) reading.add(line, std::move(*expectation));
}

struct Keyword {
  std::string_view name;
  void (*read)(ScenarioReading&, ScenarioLine&);
};

constexpr Keyword kKeywords[] = {
    {"seed", read_seed},
    {"policy", read_policy},
    {"flavor", read_flavor},
    {"nodes", read_nodes},
    {"add", read_add},
    {"queue", read_queue},
    {"window", read_window},
    {"grant", read_grant},
    {"at", read_at},
    {"submit", read_submit},
    {"group", read_group},
    {"end", read_end},
    {"cancel", read_cancel},
    {"fail", read_fail},
    {"drain", read_drain},
    {"restore", read_restore},
    {"set", read_set},
    {"hold", read_hold},
    {"release", read_release},
    {"checkpoint", read_checkpoint},
    {"ready", read_ready},
    {"cycle", read_cycle},
    {"settle", read_settle},
    {"expect", read_expect},
    {"lint", read_lint_line},
    {"circle", read_circle},
    {"dissolve", read_dissolve},
    {"trust", read_trust},
    {"scrub", read_scrub},
    {"scrub_fails", read_scrub_fails},
    {"recut_fails", read_recut_fails},
    {"repair", read_repair},
    {"reserve", read_reserve},
    {"maintain", read_maintain},
    {"defragment", read_defragment},
};

void read_statement(ScenarioReading& reading, ScenarioLine& line) {
  const ScenarioWord& word = *line.take_any("a statement");
  const std::string& name = word.is_pair() ? word.key : word.value;
  std::vector<std::string_view> known;
  for (const Keyword& keyword : kKeywords) {
    known.push_back(keyword.name);
    if (keyword.name != name || word.is_pair()) continue;
    keyword.read(reading, line);
    reading.begun = reading.begun || (name != "seed" && name != "policy");
    return;
  }
  line.complain_unknown(word, name, known, "is no statement");
}

}  // namespace

std::vector<ScenarioLine> lines_of(ScenarioReading& reading, std::string_view text) {
  std::vector<ScenarioLine> lines;
  std::int64_t number = 0;
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    ScenarioLine line(reading.file, ++number, text.substr(0, end), reading.complaints);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    if (line.empty()) continue;
    if (std::ssize(lines) == kScenarioStatementsMax) {
      line.complain("more than 10,000 statements; split it into several scenarios");
      break;
    }
    lines.push_back(std::move(line));
  }
  reading.scenario.lines = std::ssize(lines);
  return lines;
}

namespace {

// What every scenario assumes.
constexpr Duration kRepairWithinOfScenarios{10 * 60'000};

// A scenario that declares no flavor has one called gpu; one that declares no queue has one called default.
void open(ScenarioReading& reading, const std::vector<ScenarioLine>& lines) {
  const auto declares = [&](std::string_view keyword) {
    return std::ranges::any_of(lines, [&](const ScenarioLine& line) { return line.keyword() == keyword; });
  };
  reading.scenario.statements.push_back({0, RunConfigured{Seed{1}, PlacementPolicy::kBestFit}});
  reading.scenario.statements.push_back({0, Event(RepairChosen{kRepairWithinOfScenarios})});
  if (!declares("flavor")) reading.add_flavor(0, {.name = "gpu", .model = "gpu", .memory_mib = 0});
  if (!declares("queue")) reading.add_queue(0, {.name = "default", .parent = {}, .order = Order::kFifo});
}

Result<Scenario> parse(const std::string& file_name, std::string_view text) {
  if (text.size() > kScenarioBytesMax) {
    return Complaints({file_name}, "larger than 1 MiB; split it into several scenarios");
  }
  ScenarioReading reading(file_name);
  std::vector<ScenarioLine> lines = lines_of(reading, without_byte_order_mark(text));
  open(reading, lines);
  for (ScenarioLine& line : lines) read_statement(reading, line);
  reading.close_drafts();
  // Before anybody is there it is known that it will matter.
  if (reading.looks_beyond_devices) {
    auto& statements = reading.scenario.statements;
    statements.insert(statements.begin() + 1, {0, Event(TrustChanged{{}, Time{}, true}), Duration{}});
  }
  reading.scenario.zero_since_1970 = reading.clock.zero_since_1970();
  if (!reading.complaints.empty()) return std::move(reading.complaints);
  return std::move(reading.scenario);
}

}  // namespace
}  // namespace scenario

Result<Scenario> parse_scenario(const std::string& file_name, std::string_view text) {
  return scenario::parse(file_name, text);
}

}  // namespace berth
