#include "sim/scenario_expect.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/wording.h"
#include "model/gpu.h"
#include "model/reason.h"
#include "sim/scenario_amount.h"
#include "sim/scenario_later.h"
#include "sim/scenario_values.h"

namespace berth {
namespace {

using namespace scenario;

constexpr std::string_view kVerbs[] = {"running",   "waits",    "impossible", "evicted", "evicting", "done",
                                       "cancelled", "migrated", "repairing",  "shrunk",  "failed"};
constexpr std::string_view kRunningKeys[] = {"on", "ranks", "flavor", "started", "covered", "against", "has"};
constexpr std::string_view kWaitsKeys[] = {"reason", "has", "ahead", "shadow", "would_start"};
constexpr std::string_view kImpossibleKeys[] = {"reason", "has"};
constexpr std::string_view kEvictedKeys[] = {"rule", "for", "lost"};
constexpr std::string_view kMigratedKeys[] = {"for", "lost"};
constexpr std::string_view kShrunkKeys[] = {"for"};
constexpr std::string_view kReservationKeys[] = {"holds", "short", "on"};
constexpr std::string_view kRepairingKeys[] = {"until", "lost", "has"};

class ExpectationReader {
 public:
  ExpectationReader(ScenarioLine& line, const ScenarioNames& names, ScenarioClock& clock)
      : line_(line), names_(names), clock_(clock) {}

  void read() {
    const ScenarioWord* const subject = line_.take_plain("expect w running");
    if (subject == nullptr) return;
    if (subject->value == "none") return expect_none();
    if (subject->value == "usage") return expect_usage("usage", UsageKind::kUsage);
    if (subject->value == "borrowed") return expect_usage("borrowed", UsageKind::kBorrowed);
    // No word of the language from the start: a workload may be called so.
    if (subject->value == "idle" && !names_.workloads.contains("idle")) return expect_usage("idle", UsageKind::kIdle);
    if (subject->value == "lent") return expect_usage("lent", UsageKind::kLent);
    if (subject->value == "share") return expect_share();
    if (subject->value == "budget") return expect_budget();
    if (subject->value == "cells" && !names_.workloads.contains("cells")) return expect_cells();
    if (subject->value == "fragments") return expect_fragments();
    if (subject->value == "mig") return expect_mig();
    if (subject->value == "device") return expect_device();
    if (subject->value == "reservation" && !names_.workloads.contains("reservation")) return expect_reservation();
    const ScenarioWord* const verb = line_.take_any("what is expected: " + listed_words(kVerbs));
    if (verb == nullptr) return;
    const auto workload = names_.workload(line_, *subject, subject->value);
    if (workload) expect_of(*workload, *verb);
  }

  std::optional<Expectation> made() && { return std::move(made_); }

 private:
  void expect_of(WorkloadId workload, const ScenarioWord& verb) {
    const std::string& word = verb.is_pair() ? verb.key : verb.value;
    if (word == "running") return expect_running(workload, verb);
    if (word == "shrunk") return expect_shrunk(workload, verb);
    if (verb.is_pair() && std::find(std::begin(kVerbs), std::end(kVerbs), word) != std::end(kVerbs)) {
      return line_.complain(verb, quote(word + "=") + " takes no value; write " + word);
    }
    if (word == "waits") return expect_waits(workload);
    if (word == "impossible") return expect_impossible(workload);
    if (word == "evicted" || word == "evicting") return expect_evicted(workload, word == "evicting");
    if (word == "migrated") return expect_migrated(workload);
    if (word == "repairing") return expect_repairing(workload);
    if (word == "done" || word == "cancelled" || word == "failed") {
      ExpectOver expected{workload, word == "cancelled" ? Phase::kCancelled : Phase::kEnded, word == "failed"};
      if (const ScenarioWord* const has = line_.take("has")) expected.has = has->value;
      made_ = std::move(expected);
      constexpr std::string_view kKeys[] = {"has"};
      return line_.finish(kKeys);
    }
    line_.complain_unknown(verb, word, kVerbs, "is nothing to expect");
  }

  void expect_running(WorkloadId workload, const ScenarioWord& verb) {
    ExpectRunning expected{.workload = workload,
                           .pods = {},
                           .on = {},
                           .ranks = {},
                           .flavors = {},
                           .started = {},
                           .covered = {},
                           .against = {},
                           .has = {}};
    if (verb.is_pair()) expected.pods = line_.integer(&verb, 1, kScenarioPodsMax, 1);
    if (const ScenarioWord* const on = line_.take("on")) {
      for (const std::string& node : line_.list(*on)) {
        if (names_.is_node(line_, *on, node)) expected.on.push_back(node);
      }
      std::sort(expected.on.begin(), expected.on.end());
      expected.on.erase(std::unique(expected.on.begin(), expected.on.end()), expected.on.end());
    }
    if (const ScenarioWord* const ranks = line_.take("ranks")) {
      for (const std::string& node : line_.list(*ranks)) {
        if (names_.is_node(line_, *ranks, node)) expected.ranks.push_back(node);
      }
    }
    if (const ScenarioWord* const word = line_.take("flavor")) {
      for (const std::string& name : line_.list(*word)) {
        if (const auto flavor = names_.flavor(line_, *word, name)) expected.flavors.add(*flavor);
      }
    }
    if (const ScenarioWord* const started = line_.take("started")) {
      const Parsed<Time> moment = clock_.earlier(started->value);
      if (moment) {
        expected.started = *moment;
      } else {
        line_.complain(*started, "started: " + moment.error());
      }
    }
    take_coverage(expected);
    if (const ScenarioWord* const has = line_.take("has")) expected.has = has->value;
    line_.finish(kRunningKeys);
    made_ = std::move(expected);
  }

  void take_coverage(ExpectRunning& expected) {
    constexpr std::string_view kCoverages[] = {"floor", "borrowed", "best-effort"};
    if (const ScenarioWord* const word = line_.take("covered")) {
      const auto place = line_.choice(*word, kCoverages, "is no coverage");
      if (place) expected.covered = static_cast<Coverage>(*place);
    }
    if (const ScenarioWord* const word = line_.take("against")) {
      expected.against = word->value == "everyone" ? QueueId() : names_.queue(line_, *word).value_or(QueueId());
    }
  }

  // One of the names that this version gives, but for the first, or of those that only a later one does. Empty where the key
  // is not there, and after a complaint.
  std::string take_name(std::string_view key, std::span<const std::string_view> names,
                        std::span<const std::string_view> later, const std::string& verdict) {
    const ScenarioWord* const word = line_.take(key);
    if (word == nullptr) return "";
    std::vector<std::string_view> known(names.begin() + 1, names.end());
    known.insert(known.end(), later.begin(), later.end());
    return line_.choice(*word, known, verdict) ? word->value : "";
  }
  std::string take_reason() { return take_name("reason", kReasonNames, kLaterReasonNames, "is no reason"); }

  void expect_waits(WorkloadId workload) {
    ExpectWaits expected{
        .workload = workload, .reason = take_reason(), .has = {}, .ahead = {}, .shadow = {}, .would_start = {}};
    if (const ScenarioWord* const has = line_.take("has")) expected.has = has->value;
    if (const ScenarioWord* const word = line_.take("ahead")) {
      std::vector<WorkloadId>& ahead = expected.ahead.emplace();
      if (word->value != "none") {
        for (const std::string& name : line_.list(*word)) {
          if (const auto other = names_.workload(line_, *word, name)) ahead.push_back(*other);
        }
      }
    }
    take_shadow(expected);
    if (const ScenarioWord* const change = line_.take("would_start")) expected.would_start = change->value;
    line_.finish(kWaitsKeys);
    made_ = std::move(expected);
  }

  void take_shadow(ExpectWaits& expected) {
    const ScenarioWord* const shadow = line_.take("shadow");
    if (shadow == nullptr) return;
    expected.no_shadow = shadow->value == "none";
    if (expected.no_shadow) return;
    if (const Parsed<Time> moment = clock_.foretold(shadow->value)) {
      expected.shadow = *moment;
      expected.shadow_on_any_day = clock_.may_be_later();
    } else {
      line_.complain(*shadow, "shadow: " + moment.error());
    }
  }

  void expect_impossible(WorkloadId workload) {
    ExpectImpossible expected{.workload = workload, .reason = take_reason(), .has = {}};
    if (const ScenarioWord* const has = line_.take("has")) expected.has = has->value;
    line_.finish(kImpossibleKeys);
    made_ = std::move(expected);
  }

  void expect_evicted(WorkloadId workload, bool stopping) {
    ExpectEvicted expected{
        .workload = workload, .stopping = stopping, .rule = {}, .claimant = {}, .reservation = {}, .lost_gpu_s = {}};
    expected.rule = take_name("rule", kEvictionRuleNames, {}, "is no rule");
    if (const ScenarioWord* const claimant = line_.take("for")) {
      if (const auto reserved = names_.reservations.find(claimant->value)) {
        expected.reservation = ReservationId(*reserved);
      } else {
        expected.claimant = names_.workload(line_, *claimant, claimant->value);
      }
    }
    if (const ScenarioWord* const lost = line_.take("lost")) {
      expected.lost_gpu_s = line_.integer(lost, 0, INT64_MAX, 0);
    }
    line_.finish(kEvictedKeys);
    made_ = expected;
  }

  void expect_migrated(WorkloadId workload) {
    ExpectMigrated expected{.workload = workload, .claimant = {}, .lost_gpu_s = {}};
    if (const ScenarioWord* const claimant = line_.take("for")) {
      expected.claimant = names_.workload(line_, *claimant, claimant->value);
    }
    if (const ScenarioWord* const lost = line_.take("lost")) {
      expected.lost_gpu_s = line_.integer(lost, 0, INT64_MAX, 0);
    }
    line_.finish(kMigratedKeys);
    made_ = expected;
  }

  void expect_shrunk(WorkloadId workload, const ScenarioWord& verb) {
    if (!verb.is_pair()) return line_.complain(verb, "by how many pods it was shrunk is missing; write shrunk=3");
    ExpectShrunk expected{.workload = workload, .pods = line_.integer(&verb, 0, kScenarioPodsMax, 0), .claimant = {}};
    if (const ScenarioWord* const claimant = line_.take("for")) {
      expected.claimant = names_.workload(line_, *claimant, claimant->value);
    }
    line_.finish(kShrunkKeys);
    made_ = expected;
  }

  void expect_repairing(WorkloadId workload) {
    ExpectRepairing expected{.workload = workload, .until = {}, .lost_gpu_s = {}, .has = {}};
    if (const ScenarioWord* const until = line_.take("until")) {
      const Parsed<Time> moment = clock_.due(until->value);
      if (moment) {
        expected.until = *moment;
        expected.until_on_any_day = until->value.find('T') == std::string::npos;
      } else {
        line_.complain(*until, "until: " + moment.error());
      }
    }
    if (const ScenarioWord* const lost = line_.take("lost")) {
      expected.lost_gpu_s = line_.integer(lost, 0, INT64_MAX, 0);
    }
    if (const ScenarioWord* const has = line_.take("has")) expected.has = has->value;
    line_.finish(kRepairingKeys);
    made_ = std::move(expected);
  }

  void expect_none() {
    const char* const kForm = "expect none evicted since start, or since last";
    std::array<const ScenarioWord*, 3> words{};
    for (const ScenarioWord*& word : words) {
      word = line_.take_plain();
      if (word == nullptr) return line_.complain("something is missing; write " + std::string(kForm));
    }
    const std::string& since = words[2]->value;
    if (words[0]->value != "evicted" || words[1]->value != "since" || (since != "start" && since != "last")) {
      return line_.complain("this is nothing to expect; write " + std::string(kForm));
    }
    line_.finish({});
    made_ = ExpectNoneEvicted{since == "start"};
  }

  // "research = h100:24"
  struct Equation {
    const ScenarioWord& left;
    const ScenarioWord& right;
  };

  // Nothing, and a complaint, if it is none.
  std::optional<Equation> take_equation(const std::string& form) {
    const ScenarioWord* const left = line_.take_plain(form);
    const ScenarioWord* const equals = left == nullptr ? nullptr : line_.take_plain(form);
    const ScenarioWord* const right = equals == nullptr ? nullptr : line_.take_plain(form);
    if (right == nullptr) return std::nullopt;
    if (equals->value == "=") return Equation{*left, *right};
    line_.complain(*equals, "a '=' is missing; write " + form);
    return std::nullopt;
  }

  // 3 of "1g.10gb@3"; nothing if there is no such number behind the mark.
  static std::optional<std::int64_t> number_after(char mark, std::string_view text, std::int64_t most) {
    const std::size_t at = text.find(mark);
    if (at == std::string_view::npos) return std::nullopt;
    const auto number = parse_integer(text.substr(at + 1), 0, most);
    return number ? std::optional(*number) : std::nullopt;
  }

  void expect_usage(const std::string& word, UsageKind kind) {
    const auto equation = take_equation("expect " + word + " research = h100:24");
    if (!equation) return;
    ExpectUsage expected{.queue = names_.queue(line_, equation->left).value_or(QueueId()), .amounts = {}, .kind = kind};
    for (const std::string& part : line_.list(equation->right)) read_amount(equation->right, part, expected.amounts);
    line_.finish({});
    made_ = std::move(expected);
  }

  void expect_share() {
    const char* const kForm = "expect share research = 23/161";
    const ScenarioWord* const path = line_.take_plain(kForm);
    const ScenarioWord* const equals = path == nullptr ? nullptr : line_.take_plain(kForm);
    const ScenarioWord* const share = equals == nullptr ? nullptr : line_.take_plain(kForm);
    if (share == nullptr) return;
    const std::string_view text = share->value;
    const std::size_t slash = text.find('/');
    const auto part = parse_integer(text.substr(0, slash), 0, kAmountMax);
    const auto whole = slash == std::string_view::npos ? Parsed<std::int64_t>(1)
                                                       : parse_integer(text.substr(slash + 1), 1, kAmountMax);
    if (equals->value != "=" || !part || !whole) {
      return line_.complain(*share, "a share is a fraction; write " + std::string(kForm));
    }
    line_.finish({});
    made_ = ExpectShare{names_.queue(line_, *path).value_or(QueueId()), *part, *whole};
  }

  void expect_budget() {
    const char* const kForm = "expect budget research = used:30h,reserved:50h,left:20h,warned:yes";
    const auto equation = take_equation(kForm);
    if (!equation) return;
    const ScenarioWord* const parts = &equation->right;
    ExpectBudget expected{.queue = names_.queue(line_, equation->left).value_or(QueueId()),
                          .used_gpu_us = {},
                          .reserved_gpu_us = {},
                          .left_gpu_us = {},
                          .warned = {}};
    for (const std::string& part : line_.list(*parts)) {
      const std::size_t colon = part.find(':');
      const std::string name = part.substr(0, colon);
      const std::string value = colon == std::string::npos ? "" : part.substr(colon + 1);
      std::optional<std::int64_t>* const amount = name == "used"       ? &expected.used_gpu_us
                                                  : name == "reserved" ? &expected.reserved_gpu_us
                                                  : name == "left"     ? &expected.left_gpu_us
                                                                       : nullptr;
      if (amount != nullptr) {
        *amount = gpu_time(line_, *parts, value);
      } else if (name == "warned" && (value == "yes" || value == "no")) {
        expected.warned = value == "yes";
      } else {
        line_.complain(*parts, quote(part) + " is nothing to expect of a budget; write " + kForm);
      }
    }
    line_.finish({});
    made_ = expected;
  }

  void expect_cells() {
    const char* const kForm = "expect cells research = in_use:1,lent:0,free:1,lacking:0, or rack.free:1 of one level";
    const auto equation = take_equation(kForm);
    if (!equation) return;
    ExpectCells expected{.queue = names_.queue(line_, equation->left).value_or(QueueId()), .parts = {}};
    for (const std::string& part : line_.list(equation->right)) {
      const std::size_t colon = part.rfind(':');
      const std::string name = part.substr(0, colon);
      const std::size_t dot = name.rfind('.');
      ExpectCells::Part made{.level = dot == std::string::npos ? "" : name.substr(0, dot),
                             .what = dot == std::string::npos ? name : name.substr(dot + 1)};
      const auto count = colon == std::string::npos
                             ? Parsed<std::int64_t>(std::unexpected(std::string()))
                             : parse_integer(std::string_view(part).substr(colon + 1), 0, kCellCountMax);
      const bool known = made.what == "in_use" || made.what == "lent" || made.what == "free" || made.what == "lacking";
      if (!known || !count) {
        line_.complain(equation->right, quote(part) + " is nothing to expect of cells; write " + kForm);
        continue;
      }
      made.count = *count;
      expected.parts.push_back(std::move(made));
    }
    line_.finish({});
    made_ = std::move(expected);
  }

  void read_amount(const ScenarioWord& word, std::string_view part, std::vector<UsageAmount>& amounts) {
    if (const auto read = read_scenario_amount(line_, word, names_, part)) {
      amounts.push_back({read->flavor, read->resource, read->amount, read->shape});
    }
  }

  void expect_fragments() {
    const char* const kForm = "expect fragments 8gpu=3, or of slices 3g.40gb=2";
    const ScenarioWord* const word = line_.take_any(kForm);
    if (word == nullptr) return;
    std::string_view size = word->key;
    const bool well_formed = size.ends_with("gpu");
    if (well_formed) size.remove_suffix(3);
    const auto gpus = parse_integer(size, 1, kGpusPerNodeMax);
    const bool is_profile = !well_formed && size.find("g.") != std::string_view::npos;
    if (!is_profile && (!well_formed || !gpus))
      return line_.complain(*word, "this is nothing to expect; write " + std::string(kForm));
    const std::int64_t count = line_.integer(word, 0, kScenarioNodesMax * kGpusPerNodeMax, 0);
    line_.finish({});
    if (is_profile) {
      made_ = ExpectFragments{.count = count, .slice = word->key};
      return;
    }
    made_ = ExpectFragments{static_cast<std::int32_t>(*gpus), count};
  }

  void expect_device() {
    const char* const kForm = "expect device n1/0 dirty, clean, quarantined or recutting";
    const ScenarioWord* const device = line_.take_plain(kForm);
    const ScenarioWord* const state = device == nullptr ? nullptr : line_.take_plain(kForm);
    if (state == nullptr) return;
    const auto named = read_device(line_, *device, names_, kForm);
    const auto* const found = std::ranges::find(kDeviceStateNames, state->value);
    if (found == std::end(kDeviceStateNames)) {
      return line_.complain_unknown(*state, state->value, kDeviceStateNames, "is no state of a device");
    }
    const auto device_state = static_cast<DeviceState>(found - std::begin(kDeviceStateNames));
    std::optional<WorkloadId> claimant;
    std::optional<std::int64_t> lost_gpu_s;
    if (device_state == DeviceState::kRecutting) {
      if (const ScenarioWord* const whose = line_.take("for")) claimant = names_.workload(line_, *whose, whose->value);
      if (const ScenarioWord* const lost = line_.take("lost")) lost_gpu_s = line_.integer(lost, 0, INT64_MAX, 0);
    }
    line_.finish(device_state == DeviceState::kRecutting ? std::span<const std::string_view>(kMigratedKeys)
                                                         : std::span<const std::string_view>());
    if (named) made_ = ExpectDevice{*named, device_state, claimant, lost_gpu_s};
  }

  void expect_reservation() {
    const char* const kForm = "expect reservation r holds=8 short=2 on=n1,n2, or expect reservation r over";
    const ScenarioWord* const name = line_.take_plain(kForm);
    if (name == nullptr) return;
    const auto known = names_.reservations.look_up(line_, *name, name->value);
    ExpectReservation expected;
    if (known) expected.reservation = ReservationId(*known);
    if (const ScenarioWord* const over = line_.take_plain()) {
      expected.over = over->value == "over";
      if (!expected.over) line_.complain(*over, quote(over->value) + " is nothing to expect; write " + kForm);
    }
    if (const ScenarioWord* const holds = line_.take("holds")) expected.holds = line_.integer(holds, 0, INT64_MAX, 0);
    if (const ScenarioWord* const lacks = line_.take("short")) expected.missing = line_.integer(lacks, 0, INT64_MAX, 0);
    if (const ScenarioWord* const on = line_.take("on")) {
      expected.on.emplace();
      for (const std::string& node : line_.list(*on)) {
        if (names_.is_node(line_, *on, node)) expected.on->push_back(node);
      }
      std::ranges::sort(*expected.on);
    }
    line_.finish(kReservationKeys);
    if (known) made_ = std::move(expected);
  }

  void expect_mig() {
    const char* const kForm = "expect mig n1/0 = 4g.40gb@0,1g.10gb@6, or expect mig n1/0 = none";
    const auto equation = take_equation(kForm);
    if (!equation) return;
    const auto& [device, slices] = *equation;
    const auto named = read_device(line_, device, names_, kForm);
    if (!named) return;
    ExpectMig expected{.node = named->node, .gpu = named->gpu, .slices = {}};
    if (slices.value != "none") {
      for (const std::string& part : line_.list(slices)) {
        const auto start = number_after('@', part, 31);
        if (!start) return line_.complain(slices, quote(part) + " is no slice at its start; write " + kForm);
        expected.slices.push_back({*start, part.substr(0, part.find('@'))});
      }
    }
    std::ranges::sort(expected.slices);
    line_.finish({});
    made_ = std::move(expected);
  }

  ScenarioLine& line_;
  const ScenarioNames& names_;
  ScenarioClock& clock_;
  std::optional<Expectation> made_;
};

}  // namespace

std::optional<Expectation> read_expectation(ScenarioLine& line, const ScenarioNames& names, ScenarioClock& clock) {
  ExpectationReader reader(line, names, clock);
  reader.read();
  return std::move(reader).made();
}

std::optional<Expectation> read_lint(ScenarioLine& line, const ScenarioNames& names) {
  const std::string_view usual = "lint expect \"text\" at=research, or lint expect nothing";
  const ScenarioWord* const verb = line.take_plain(usual);
  if (verb == nullptr) return std::nullopt;
  if (verb->value != "expect") {
    line.complain(*verb, quote(verb->value) + " is not known here; write " + std::string(usual));
    return std::nullopt;
  }
  const ScenarioWord* const words = line.take_plain("what the linter must say, in quotes, or nothing");
  ExpectLint expected;
  if (const ScenarioWord* const at = line.take("at")) expected.at = names.queue(line, *at);
  constexpr std::string_view kLintKeys[] = {"at"};
  line.finish(kLintKeys);
  if (words == nullptr) return std::nullopt;
  if (words->value != "nothing") expected.text = words->value;
  return expected;
}

}  // namespace berth
