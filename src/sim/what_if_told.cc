#include "sim/what_if_told.h"

#include <algorithm>
#include <string>
#include <utility>

#include "model/gpu.h"

namespace berth {
namespace {

Outlook::One one_in(const Value& starts, const Value& evictions, const Value& cancelled) {
  Outlook::One one{
      .workload = {}, .starts = {}, .evictions = evictions.integer(), .cancelled = cancelled == Value(true)};
  if (starts.is_integer()) one.starts = Time{starts.integer()};
  return one;
}

Value row_of(const WhatIf::Named& named, const Outlook::One* before, const Outlook::One& after) {
  Value row = Value::map_of({{"name", named.name}, {"queue", named.queue}});
  if (before != nullptr) {
    if (before->starts) row.set("before", before->starts->ms);
    row.set("evictionsBefore", before->evictions);
    if (before->cancelled) row.set("cancelledBefore", true);
  }
  if (after.starts) row.set("after", after.starts->ms);
  row.set("evictionsAfter", after.evictions);
  if (after.cancelled) row.set("cancelledAfter", true);
  return row;
}

Value outlook_as_value(const Outlook& outlook, const std::vector<std::string>& names) {
  Value queues = Value::list();
  for (std::size_t i = 0; i < outlook.queues.size(); ++i) {
    const Outlook::OfQueue& queue = outlook.queues[i];
    queues.push_back(Value::map_of({{"queue", names[i]},
                                    {"waiting", queue.waiting},
                                    {"cancelled", queue.cancelled},
                                    {"startAtOnce", queue.starts_at_once},
                                    {"started", queue.started},
                                    {"waitedMs", queue.waited.ms},
                                    {"gpuMs", static_cast<std::int64_t>(queue.gpu_milli_ms / kMilliPerGpu)}}));
  }
  return Value::map_of({{"startAtOnce", outlook.starts_at_once},
                        {"evictions", outlook.evictions},
                        {"lostGPUSeconds", outlook.lost_gpu_s},
                        {"untilMs", outlook.timeline.end.ms},
                        {"queues", std::move(queues)}});
}

Value evicted_as_value(const WhatIf::Evicted& evicted) {
  Value row = Value::map_of({{"name", evicted.who.name}, {"queue", evicted.who.queue}});
  const auto add = [&](const Outlook::Evicted& each, const std::string& when) {
    if (each.times == 0) return;
    row.set("evictions" + when, each.times);
    row.set("lostGPUSeconds" + when, each.lost_gpu_s);
    row.set("rule" + when, each.rule);
  };
  add(evicted.before, "Before");
  add(evicted.after, "After");
  return row;
}

WhatIf::Evicted evicted_in(const Value& row) {
  const auto read = [&](const std::string& when) {
    return Outlook::Evicted{.times = row["evictions" + when].integer(),
                            .lost_gpu_s = row["lostGPUSeconds" + when].integer(),
                            .rule = std::string(row["rule" + when].text())};
  };
  return {{std::string(row["name"].text()), std::string(row["queue"].text())}, read("Before"), read("After")};
}

Outlook outlook_in(const Value& told) {
  Outlook outlook;
  outlook.starts_at_once = told["startAtOnce"].integer();
  outlook.evictions = told["evictions"].integer();
  outlook.lost_gpu_s = told["lostGPUSeconds"].integer();
  outlook.timeline.end = Time{told["untilMs"].integer()};
  for (const Value& each : told["queues"].items()) {
    outlook.queues.push_back({.waiting = each["waiting"].integer(),
                              .cancelled = each["cancelled"].integer(),
                              .starts_at_once = each["startAtOnce"].integer(),
                              .started = each["started"].integer(),
                              .waited = Duration{each["waitedMs"].integer()},
                              .gpu_milli_ms = Wide{each["gpuMs"].integer()} * kMilliPerGpu});
  }
  return outlook;
}

}  // namespace

Value what_if_as_value(const WhatIf& what_if, std::size_t waiting_max) {
  Value waiting = Value::list();
  Value submitted = Value::list();
  std::int64_t same = what_if.same;
  std::int64_t left_out = what_if.left_out;
  for (std::size_t i = 0; i < what_if.waiting.size(); ++i) {
    if (what_if.before.waiting[i].starts_as(what_if.after.waiting[i])) {
      ++same;
    } else if (waiting.items().size() == waiting_max) {
      ++left_out;
    } else {
      waiting.push_back(row_of(what_if.waiting[i], &what_if.before.waiting[i], what_if.after.waiting[i]));
    }
  }
  for (std::size_t i = 0; i < what_if.submitted.size(); ++i) {
    submitted.push_back(row_of(what_if.submitted[i], nullptr, what_if.after.submitted[i]));
  }
  Value evicted = Value::list();
  std::int64_t alike = what_if.evicted_alike;
  std::int64_t evicted_left_out = what_if.evicted_left_out;
  for (const WhatIf::Evicted& each : what_if.evicted) {
    if (each.is_as_before()) {
      ++alike;
    } else if (evicted.items().size() == waiting_max) {
      ++evicted_left_out;
    } else {
      evicted.push_back(evicted_as_value(each));
    }
  }
  return Value::map_of({{"nowMs", what_if.now.ms},
                        {"running", what_if.running},
                        {"pending", what_if.pending},
                        {"before", outlook_as_value(what_if.before, what_if.queues)},
                        {"after", outlook_as_value(what_if.after, what_if.queues)},
                        {"waiting", std::move(waiting)},
                        {"submitted", std::move(submitted)},
                        {"evicted", std::move(evicted)},
                        {"evictedAlike", alike},
                        {"evictedLeftOut", evicted_left_out},
                        {"startWhenTheyWould", same},
                        {"leftOut", left_out}});
}

WhatIf what_if_in(const Value& told) {
  WhatIf made;
  made.now = Time{told["nowMs"].integer()};
  made.running = told["running"].integer();
  made.pending = told["pending"].integer();
  made.same = told["startWhenTheyWould"].integer();
  made.left_out = told["leftOut"].integer();
  made.evicted_alike = told["evictedAlike"].integer();
  made.evicted_left_out = told["evictedLeftOut"].integer();
  for (const Value& row : told["evicted"].items()) made.evicted.push_back(evicted_in(row));
  made.before = outlook_in(told["before"]);
  made.after = outlook_in(told["after"]);
  for (const Value& each : told["after"]["queues"].items()) made.queues.emplace_back(each["queue"].text());
  made.before.queues.resize(made.queues.size());
  for (const Value& row : told["waiting"].items()) {
    made.waiting.push_back({std::string(row["name"].text()), std::string(row["queue"].text())});
    made.before.waiting.push_back(one_in(row["before"], row["evictionsBefore"], row["cancelledBefore"]));
    made.after.waiting.push_back(one_in(row["after"], row["evictionsAfter"], row["cancelledAfter"]));
  }
  for (const Value& row : told["submitted"].items()) {
    made.submitted.push_back({std::string(row["name"].text()), std::string(row["queue"].text())});
    made.after.submitted.push_back(one_in(row["after"], row["evictionsAfter"], row["cancelledAfter"]));
  }
  return made;
}

}  // namespace berth
