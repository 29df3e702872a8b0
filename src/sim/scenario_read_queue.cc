#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "base/wording.h"
#include "manifest/window_times.h"
#include "model/quota.h"
#include "sim/scenario_amount.h"
#include "sim/scenario_labels.h"
#include "sim/scenario_statements.h"
#include "sim/scenario_values.h"

namespace berth::scenario {
namespace {

constexpr std::string_view kQueueKeys[] = {
    "order",    "guarantee",  "limit",    "borrowing_limit", "lending_limit", "weight",   "reclaim_within",
    "patience", "reclaim",    "preempt",  "min_runtime",     "user_limit",    "users",    "half_life",
    "budget",   "budget_end", "cooldown", "idle_after",      "dedicated",     "backfill", "cells",
    "loans",    "foresight",  "over_run", "extend",          "extensions"};
constexpr std::string_view kGrantKeys[] = {"until"};
constexpr std::string_view kWindowKeys[] = {"guarantee", "limit", "borrowing_limit", "lending_limit", "weight", "zone"};

// A path stands for all queues on it.
constexpr std::ptrdiff_t kQueueLevelsMax = 32;

Duration take_half_life(ScenarioLine& line, Duration otherwise) {
  const ScenarioWord* const word = line.find("half_life");
  const Duration half_life = take_duration(line, "half_life", otherwise);
  if (half_life.ms == 0 || (half_life >= kHalfLifeMin && half_life <= kHalfLifeMax)) return half_life;
  line.complain(*word, "half_life: " + quote(word->value) + " is out of range; write 1m to 3650d, or 0s for none");
  return otherwise;
}

// Above nothing: shares are divided by it.
std::int64_t take_weight(const ScenarioLine& line, const ScenarioWord* word, std::int64_t otherwise) {
  const std::int64_t milli = line.milli(word, kWeightMilliMax, otherwise);
  if (milli > 0) return milli;
  line.complain(*word, "weight: " + quote(word->value) + " is too little; write 0.001 to 1000");
  return otherwise;
}

// What the line does not name stays.
void take_amounts(const ScenarioReading& reading, ScenarioLine& line, std::string_view key, AmountList& amounts,
                  bool may_be_none) {
  const ScenarioWord* const word = line.take(key);
  if (word == nullptr) return;
  // What bounds may bound a sum. A floor or what is lent of one is of some GPUs and of no others.
  const bool may_be_a_sum = key != "guarantee" && key != "lending_limit";
  amounts = may_be_none && word->value == "none" ? AmountList()
                                                 : read_quota_amounts(line, *word, reading.names, may_be_a_sum);
}

// What the line does not name stays.
void take_cells(const ScenarioReading& reading, ScenarioLine& line, Quota& quota) {
  const ScenarioWord* const word = line.take("cells");
  if (word != nullptr) {
    quota.cells = word->value == "none" ? std::vector<FloorCells>() : read_cells(line, *word, reading.names);
  }
  for (const FloorCells& each : quota.cells) {
    const Dim gpus(each.flavor, Resource::kGpu);
    const bool guaranteed = std::ranges::any_of(
        quota.guarantee, [&](const Amount& amount) { return amount.dim == gpus && amount.amount > 0; });
    if (guaranteed) continue;
    const std::string text = "cells: nothing is guaranteed of " + quote(reading.names.flavors[each.flavor.index()]) +
                             ", and a floor comes in whole domains; write guarantee= with their GPUs";
    return word == nullptr ? line.complain(text + ", or cells=none") : line.complain(*word, text);
  }
}

// What the line does not name stays.
void take_over_run(ScenarioLine& line, Quota& quota) {
  quota.over_run = take_named(line, "over_run", kOverRunNames, quota.over_run);
  const ScenarioWord* const extend = line.find("extend");
  const ScenarioWord* const extensions = line.find("extensions");
  quota.extend = take_length_of_run(line, "extend").value_or(quota.extend);
  quota.extensions =
      static_cast<std::int32_t>(line.integer(line.take("extensions"), 1, kExtensionsMax, quota.extensions));
  if (quota.over_run == OverRun::kExtend) return;
  for (const ScenarioWord* const word : {extend, extensions}) {
    if (word != nullptr) line.complain(*word, word->key + "= is of a queue that extends limits; write over_run=extend");
  }
}

// What the line does not name stays.
Quota take_quota(ScenarioReading& reading, ScenarioLine& line, Quota quota) {
  take_amounts(reading, line, "guarantee", quota.guarantee, true);
  take_cells(reading, line, quota);
  take_amounts(reading, line, "limit", quota.limit, true);
  take_amounts(reading, line, "borrowing_limit", quota.borrowing_limit, true);
  take_amounts(reading, line, "lending_limit", quota.lending_limit, true);
  if (has_slices(quota.lending_limit)) {
    line.complain("lending_limit: a floor in slices is lent whole; leave slices out");
    quota.lending_limit.clear();
  }
  take_amounts(reading, line, "user_limit", quota.user_limit, true);
  quota.weight_milli = take_weight(line, line.take("weight"), quota.weight_milli);
  quota.reclaim_within = take_duration(line, "reclaim_within", quota.reclaim_within);
  quota.patience = take_duration(line, "patience", quota.patience);
  quota.min_runtime = take_duration(line, "min_runtime", quota.min_runtime);
  quota.cooldown = take_duration(line, "cooldown", quota.cooldown);
  quota.idle_after = take_duration(line, "idle_after", quota.idle_after);
  quota.fair_reclaim = take_named(line, "reclaim", kFairReclaimNames, quota.fair_reclaim);
  quota.half_life = take_half_life(line, quota.half_life);
  quota.users = take_named(line, "users", kUserOrderNames, quota.users);
  quota.backfill = take_named(line, "backfill", kBackfillNames, quota.backfill);
  if (const ScenarioWord* const word = line.take("loans")) {
    const auto loans = find_loans(word->value);
    if (!loans) line.complain(*word, "loans: " + quote(word->value) + " is none; " + std::string(kLoansForm));
    quota.loans_percent = loans.value_or(quota.loans_percent);
  }
  if (const ScenarioWord* const word = line.take("foresight")) {
    quota.foresight = word->value == "yes";
    if (!quota.foresight && word->value != "no") {
      line.complain(*word, "foresight: " + quote(word->value) + " is neither yes nor no");
    }
  }
  quota.preempt = take_named(line, "preempt", kPreemptNames, quota.preempt);
  take_over_run(line, quota);
  if (const ScenarioWord* const word = line.take("budget")) {
    quota.budget_gpu_us = word->value == "none" ? std::nullopt : gpu_time(line, *word, word->value);
  }
  quota.dedicated = take_dedicated(line, std::move(quota.dedicated));
  quota.budget_end = take_named(line, "budget_end", kBudgetEndNames, quota.budget_end);
  return quota;
}

void heed_order_of_backfill(ScenarioLine& line, const Quota& quota, Order order) {
  const ScenarioWord* const loans = line.find("loans");
  if (loans != nullptr && quota.loans_percent > 0 && (order != Order::kFifo || quota.backfill == Backfill::kNone)) {
    line.complain(*loans, "loans are of those who pass a blocked head: order=fifo with backfill=easy or conservative");
  }
  const ScenarioWord* const foresight = line.find("foresight");
  if (foresight != nullptr && quota.foresight && (order != Order::kFifo || quota.backfill != Backfill::kEasy)) {
    line.complain(*foresight,
                  "foresight is about those who pass the one that is promised room: order=fifo with backfill=easy");
  }
  const ScenarioWord* const word = line.find("backfill");
  if (word == nullptr || order == Order::kFifo) return;
  line.complain(*word, "backfill is for order=fifo: in every other order whoever fits passes whoever does not");
}

void take_window_amounts(ScenarioReading& reading, ScenarioLine& line, Window& window) {
  take_amounts(reading, line, "guarantee", window.guarantee, false);
  take_amounts(reading, line, "limit", window.limit, false);
  if (const ScenarioWord* const word = line.take("borrowing_limit")) {
    window.borrowing_limit = read_quota_amounts(line, *word, reading.names, false);
  }
  take_amounts(reading, line, "lending_limit", window.lending_limit, false);
  if (const ScenarioWord* const word = line.take("weight")) {
    window.weight_milli = take_weight(line, word, 1000);
  }
  const bool has_amounts = !window.guarantee.empty() || !window.limit.empty() || !window.borrowing_limit.empty() ||
                           !window.lending_limit.empty();
  if (!has_amounts && !window.weight_milli) {
    line.complain(
        "nothing changes while it is open; write guarantee=, limit=, borrowing_limit=, lending_limit= or weight=");
  }
}

template <class Change>
void change_named_queue(ScenarioReading& reading, ScenarioLine& line, const std::string& verb, Change change) {
  const ScenarioWord* const path = line.take_plain(verb + " queue research");
  const auto id = path == nullptr ? std::nullopt : reading.names.queue(line, *path);
  line.finish({});
  if (!id) return;
  Queue now = reading.queues[id->index()];
  change(now);
  reading.change_queue(line, *id, std::move(now));
}

template <class Change>
void hold_or_release(ScenarioReading& reading, ScenarioLine& line, const std::string& verb, Change change) {
  const ScenarioWord* const kind = line.take_plain(verb + " queue research");
  if (kind == nullptr) return;
  if (kind->value == "queue") return change_named_queue(reading, line, verb, change);
  line.complain(*kind, quote(kind->value) + " is not known here; write " + verb + " queue research");
}

}  // namespace

void read_queue(ScenarioReading& reading, ScenarioLine& line) {
  const ScenarioWord* const path = line.take_plain("queue research");
  const Order order = take_named(line, "order", kOrderNames, Order::kFifo);
  Quota quota = take_quota(reading, line, {});
  heed_order_of_backfill(line, quota, order);
  line.finish(kQueueKeys);
  if (path == nullptr || !line.is_name(*path, true)) return;
  if (std::ranges::count(path->value, '/') >= kQueueLevelsMax) {
    return line.complain(*path, "more than 32 queues one below the other; take fewer");
  }
  const bool implied = reading.implied_queues.contains(path->value);
  if (!implied && !reading.names.queues.is_new(line, *path, path->value)) return;
  reading.declare_queue(line, path->value, order, std::move(quota));
}

namespace {

// Only recorded runs have such: a scenario gives a line to each queue that it names.
void complain_of_shared_line(const ScenarioReading& reading, ScenarioLine& line, const ScenarioWord& path, QueueId id) {
  QueueId above = id;
  while (!reading.queues[above.index()].order) above = reading.queues[above.index()].parent;
  line.complain(path, "the work of queue " + quote(path.value) + " waits in the line of " +
                          quote(reading.queues[above.index()].name) +
                          ", and amounts, weights and orders are of lines; set them for that one");
}

}  // namespace

void set_queue(ScenarioReading& reading, ScenarioLine& line) {
  const ScenarioWord* const path = line.take_plain("set queue research guarantee=8");
  const auto id = path == nullptr ? std::nullopt : reading.names.queue(line, *path);
  Queue now = id ? reading.queues[id->index()] : Queue{};
  if (id && !now.order) return complain_of_shared_line(reading, line, *path, *id);
  now.order = take_named(line, "order", kOrderNames, now.order.value_or(Order::kFifo));
  now.quota = take_quota(reading, line, std::move(now.quota));
  heed_order_of_backfill(line, now.quota, *now.order);
  if (names_none_of(line, kQueueKeys)) line.complain("nothing is set; write what, as in guarantee=8");
  line.finish(kQueueKeys);
  if (id) reading.change_queue(line, *id, std::move(now));
}

void read_grant(ScenarioReading& reading, ScenarioLine& line) {
  constexpr std::string_view kForm = "grant research 50h until=2026-12-01T00:00:00Z";
  const ScenarioWord* const path = line.take_plain(kForm);
  const ScenarioWord* const hours = path == nullptr ? nullptr : line.take_plain(kForm);
  GrantAdded grant{.queue = {}, .gpu_us = 0, .until = {}};
  std::optional<Duration> from_now;
  const auto queue = path == nullptr ? std::nullopt : reading.names.queue(line, *path);
  if (queue) grant.queue = *queue;
  if (hours != nullptr) grant.gpu_us = gpu_time(line, *hours, hours->value).value_or(1);
  if (hours != nullptr && grant.gpu_us == 0) line.complain(*hours, "nothing is granted; write how much, such as 50h");
  if (const ScenarioWord* const until = line.take("until")) {
    grant.until = reading.moment_of(line, *until, from_now);
  } else if (hours != nullptr) {
    line.complain("a grant ends; write until=2026-12-01T00:00:00Z, or a larger budget= with set queue");
  }
  line.finish(kGrantKeys);
  if (queue && !reading.queues[queue->index()].quota.budget_gpu_us) {
    return line.complain(*path, "queue " + quote(path->value) +
                                    " has no budget that a grant could go beside; write budget= on its line");
  }
  reading.add(line, Event(grant), from_now);
}

void read_window(ScenarioReading& reading, ScenarioLine& line) {
  constexpr std::string_view kForm = "window research daily 20:00-08:00 guarantee=24";
  const ScenarioWord* const path = line.take_plain(kForm);
  const ScenarioWord* const days = path == nullptr ? nullptr : line.take_plain(kForm);
  const ScenarioWord* const hours = days == nullptr ? nullptr : line.take_plain(kForm);
  const ScenarioWord* const zone = line.take("zone");
  DeclareWindow declared;
  if (path != nullptr) declared.window.queue = reading.names.queue(line, *path).value_or(QueueId());
  if (hours != nullptr) {
    const Parsed<WindowTimes> times =
        WindowTimes::read(days->value, hours->value, zone == nullptr ? WindowTimes::kUtc : zone->value);
    if (!times)
      return line.complain(zone != nullptr && times.error().starts_with("zone") ? *zone : *days, times.error());
    declared.times = *times;
    declared.hours = days->value + " " + hours->value + (zone == nullptr ? "" : " " + zone->value);
  }
  take_window_amounts(reading, line, declared.window);
  line.finish(kWindowKeys);
  if (++reading.windows > kWindowsMax) return line.complain("more than 64 windows in one scenario; take fewer");
  reading.add(line, std::move(declared));
}

void read_hold(ScenarioReading& reading, ScenarioLine& line) {
  hold_or_release(reading, line, "hold", [](Queue& queue) { queue.held = true; });
}
void read_release(ScenarioReading& reading, ScenarioLine& line) {
  hold_or_release(reading, line, "release", [](Queue& queue) { queue.held = queue.closed = false; });
}
void read_drain(ScenarioReading& reading, ScenarioLine& line) {
  const ScenarioWord* const kind = line.take_plain("drain node n1 or drain queue research");
  if (kind == nullptr || kind->value != "queue") return change_node(reading, line, kind, "drain", NodeChange::kDrain);
  change_named_queue(reading, line, "drain", [](Queue& queue) { queue.closed = true; });
}

}  // namespace berth::scenario
