// A Queue object as facts: what it is meant to be, and what the last scheduler wrote down in its status.
#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <utility>

#include "base/wide.h"
#include "manifest/timestamp.h"
#include "model/quantity.h"
#include "service/facts.h"

namespace berth {
namespace {

std::optional<FlavorAmount> read_amount(const Value::Member& each) {
  FlavorAmount amount = flavor_amount_named(each.key);
  const bool memory = amount.resource == Resource::kMemory;
  const auto held = memory                                ? parse_bytes(each.value.text())
                    : amount.resource == Resource::kSlice ? parse_integer(each.value.text(), 0, kAmountMax)
                                                          : parse_milli(each.value.text());
  if (!held) return std::nullopt;
  amount.amount = std::min(memory ? *held >> 20 : *held, kAmountMax);
  return amount;
}

FloorRecord read_floor_record(const Value& status) {
  FloorRecord record;
  for (const Value::Member& each : status["floor"].members()) {
    if (auto amount = read_amount(each)) record.floor.push_back(*std::move(amount));
  }
  for (const Value& each : status["held"].items()) {
    const auto until = parse_timestamp(each["until"].text());
    for (const Value::Member& member : each["amounts"].members()) {
      auto amount = read_amount(member);
      if (amount && until) record.held.push_back({*std::move(amount), *until});
    }
  }
  return record;
}

// Of what is no count or moment nothing is known.
std::optional<Tries> read_tries(const Value& each) {
  const auto noted = parse_timestamp(each["at"].text());
  if (!noted) return std::nullopt;
  const auto count = [&](std::string_view key) {
    return static_cast<int>(each[key].is_integer() ? std::clamp<std::int64_t>(each[key].integer(), 0, kRetriesMax) : 0);
  };
  const auto moment = [&](std::string_view key) { return parse_timestamp(each[key].text()); };
  Tries tries{.lost_nodes = count("lostNodes"),
              .never_ready = count("neverReady"),
              .lost_at = moment("lostNodeAt"),
              .noted = *noted};
  if (const auto until = moment("waitsUntil")) {
    const bool by_nodes = each["waitsFor"].text() == name_of(EvictionRule::kNode);
    tries.backs_off = BackOff{.until = *until,
                              .why = by_nodes ? EvictionRule::kNode : EvictionRule::kNeverReady,
                              .times = times_in_a_byte(by_nodes ? tries.lost_nodes : tries.never_ready)};
  }
  return tries;
}

}  // namespace

std::uint8_t times_in_a_byte(int times) {
  return static_cast<std::uint8_t>(std::min<int>(times, std::numeric_limits<std::uint8_t>::max()));
}

void set_condition(std::vector<QueueCondition>& conditions, QueueCondition condition) {
  const auto at = std::ranges::find(conditions, condition.type, &QueueCondition::type);
  if (at == conditions.end()) {
    conditions.push_back(std::move(condition));
    return;
  }
  if (at->holds == condition.holds && at->reason == condition.reason) condition.since = at->since;
  *at = std::move(condition);
}

std::vector<QueueCondition> read_conditions(const Value& status) {
  std::vector<QueueCondition> conditions;
  for (const Value& each : status["conditions"].items()) {
    conditions.push_back({.type = std::string(each["type"].text()),
                          .holds = each["status"].text() == "True",
                          .reason = std::string(each["reason"].text()),
                          .message = std::string(each["message"].text()),
                          .since = parse_timestamp(each["lastTransitionTime"].text()).value_or(Time{})});
  }
  return conditions;
}

namespace {

// What cannot be read was not written by a scheduler: it counts as nothing.
QueueRecord read_record(const Value& status) {
  QueueRecord record{.as_of = parse_timestamp(status["asOf"].text())};
  const auto gpu_us = [](const Value& text) { return Wide{parse_gpu_hours(text.text()).value_or(0)}; };
  record.used_gpu_us = gpu_us(status["budget"]["used"]);
  for (const Value& grant : status["budget"]["grants"].items()) {
    const auto until = parse_timestamp(grant["until"].text());
    if (!until || record.of_grants.contains(*until)) continue;
    record.of_grants[*until] = gpu_us(grant["used"]);
    record.used_gpu_us -= gpu_us(grant["used"]);
  }
  for (const Value::Member& each : status["pastUse"].members()) {
    if (auto amount = read_amount(each)) record.past_use.push_back(*std::move(amount));
  }
  for (const Value& each : status["coolingDown"].items()) {
    const auto since = parse_timestamp(each["since"].text());
    if (since) record.gave_back[std::string(each["controller"].text())] = *since;
  }
  for (const Value& each : status["tries"].items()) {
    if (const auto tries = read_tries(each)) record.tries[std::string(each["of"].text())] = *tries;
  }
  record.floor_use = read_floor_record(status["floorUse"]);
  record.conditions = read_conditions(status);
  return record;
}

}  // namespace

QueueFacts read_queue(const Value& queue) {
  QueueSpecReading reading = read_queue_spec(queue["spec"]);
  QueueFacts facts{.name = std::string(queue["metadata"]["name"].text()),
                   .spec = std::move(reading.spec),
                   .uid = std::string(queue["metadata"]["uid"].text()),
                   .record = read_record(queue["status"])};
  for (const SpecMistake& mistake : reading.mistakes) {
    facts.problem += (facts.problem.empty() ? "" : "; ") + mistake.field + ": " + mistake.text;
  }
  return facts;
}

}  // namespace berth
