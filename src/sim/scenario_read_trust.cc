// Circles of trust, and how far strangers are kept away.
#include <algorithm>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "base/wording.h"
#include "model/circle.h"
#include "sim/scenario_statements.h"
#include "sim/scenario_values.h"

namespace berth::scenario {
namespace {

// How long those who do not trust each other any more may stay where they are.
constexpr Duration kPartWithin{10 * 60'000};

constexpr std::string_view kCircleForm = "circle a,b";
constexpr std::string_view kDissolveForm = "dissolve circle a,b within=10m";
constexpr std::string_view kTrustForm = "trust exclusive=node mig=node within=10m";

std::optional<std::vector<QueueId>> take_tenants(ScenarioReading& reading, ScenarioLine& line, std::string_view form) {
  const ScenarioWord* const word = line.take_plain(form);
  if (word == nullptr) return std::nullopt;
  std::vector<QueueId> queues;
  for (const std::string& path : line.list(*word)) {
    const auto queue = reading.names.queues.look_up(line, *word, path);
    if (!queue) return std::nullopt;
    if (std::ranges::find(queues, QueueId(*queue)) != queues.end()) {
      line.complain(*word, quote(path) + " stands there twice");
      return std::nullopt;
    }
    queues.push_back(QueueId(*queue));
  }
  if (queues.empty()) return std::nullopt;
  std::ranges::sort(queues);
  return queues;
}

// "node", or a label; "device", and of slices "slice", is as near as the hardware allows.
void read_level(const ScenarioLine& line, const ScenarioWord& word, Sharing mode, const std::string& level,
                Apart& apart) {
  const bool cut = mode == Sharing::kMig;
  if (level == (cut ? "device" : "slice")) {
    return line.complain(
        word, cut ? "slices of one GPU are kept apart by the hardware, of whomever they are; write mig:slice for that, "
                    "or mig:node"
                  : "only GPUs that are cut have slices; write " + std::string(name_of(mode)) + ":device, or " +
                        std::string(name_of(mode)) + ":node");
  }
  apart[static_cast<std::size_t>(mode)] = level == "device" || level == "slice" ? "" : level;
}

// "exclusive:node,mig:rack"
Apart take_apart(ScenarioLine& line) {
  Apart apart;
  const ScenarioWord* const word = line.take("apart");
  if (word == nullptr) return apart;
  for (const std::string& each : line.list(*word)) {
    const std::size_t colon = each.find(':');
    const auto* const mode = std::ranges::find(kSharingNames, each.substr(0, colon));
    const bool is_pair = colon != std::string::npos && colon + 1 < each.size();
    if (!is_pair || mode == std::end(kSharingNames)) {
      line.complain(
          *word, "apart: " + quote(each) + " is no mode of GPUs and a level; write such as exclusive:node, mig:node");
      continue;
    }
    read_level(line, *word, static_cast<Sharing>(mode - std::begin(kSharingNames)), each.substr(colon + 1), apart);
  }
  return apart;
}

void change(ScenarioReading& reading, const ScenarioLine& line, Duration within) {
  reading.looks_beyond_devices =
      reading.looks_beyond_devices || std::ranges::any_of(reading.circles, &Circle::keeps_apart);
  reading.add(line, Event(TrustChanged{reading.circles, reading.clock.now() + within}), within);
}

void put(ScenarioReading& reading, const ScenarioLine& line, Circle circle, Duration within) {
  const auto known = std::ranges::find(reading.circles, circle.queues, &Circle::queues);
  if (known != reading.circles.end()) {
    *known = std::move(circle);
  } else if (reading.circles.size() == kCirclesMax) {
    return line.complain("more than 64 circles of trust; put those together that trust each other");
  } else {
    reading.circles.push_back(std::move(circle));
  }
  change(reading, line, within);
}

}  // namespace

void read_circle(ScenarioReading& reading, ScenarioLine& line) {
  constexpr std::string_view kCircleKeys[] = {"apart", "within"};
  auto queues = take_tenants(reading, line, kCircleForm);
  const Apart apart = take_apart(line);
  const Duration within = take_duration(line, "within", kPartWithin);
  line.finish(kCircleKeys);
  if (!queues) return;
  Circle circle{std::move(*queues), apart};
  if (std::ranges::find(reading.circles, circle) != reading.circles.end())
    return line.complain("there is a circle of just these already");
  put(reading, line, std::move(circle), within);
}

void read_dissolve(ScenarioReading& reading, ScenarioLine& line) {
  constexpr std::string_view kDissolveKeys[] = {"within"};
  const ScenarioWord* const kind = line.take_plain(kDissolveForm);
  if (kind == nullptr) return;
  if (kind->value != "circle") {
    return line.complain(*kind, quote(kind->value) + " cannot be dissolved; write " + std::string(kDissolveForm));
  }
  const auto queues = take_tenants(reading, line, kDissolveForm);
  const Duration within = take_duration(line, "within", kPartWithin);
  line.finish(kDissolveKeys);
  if (!queues) return;
  if (std::erase_if(reading.circles, [&](const Circle& each) { return each.queues == *queues; }) == 0) {
    return line.complain("there is no circle of just these; name those of one circle line above");
  }
  change(reading, line, within);
}

// How far all tenants keep strangers away; of a mode that it does not name, as before.
void read_trust(ScenarioReading& reading, ScenarioLine& line) {
  constexpr std::string_view kTrustKeys[] = {"exclusive", "mig", "mps", "timeslice", "within"};
  const auto known = std::ranges::find_if(reading.circles, [](const Circle& each) { return each.queues.empty(); });
  Circle of_all = known == reading.circles.end() ? Circle() : *known;
  bool some = false;
  for (std::size_t mode = 0; mode < std::size(kSharingNames); ++mode) {
    const ScenarioWord* const word = line.take(kSharingNames[mode]);
    if (word == nullptr) continue;
    some = true;
    read_level(line, *word, static_cast<Sharing>(mode), word->value, of_all.apart);
  }
  const Duration within = take_duration(line, "within", kPartWithin);
  line.finish(kTrustKeys);
  if (!some) return line.complain("nothing is said; write " + std::string(kTrustForm));
  if (of_all.keeps_apart()) return put(reading, line, std::move(of_all), within);
  if (known != reading.circles.end()) reading.circles.erase(known);
  change(reading, line, within);
}

}  // namespace berth::scenario
