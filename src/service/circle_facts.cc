#include "service/circle_facts.h"

#include <algorithm>
#include <utility>

#include "manifest/timestamp.h"

namespace berth {
namespace {

std::vector<std::string> texts(const Value& list) {
  std::vector<std::string> found;
  for (const Value& item : list.items()) found.emplace_back(item.text());
  return found;
}

std::vector<std::string> sorted_texts(const Value& list) {
  std::vector<std::string> found = texts(list);
  std::ranges::sort(found);
  found.erase(std::ranges::unique(found).begin(), found.end());
  return found;
}

Apart written_apart(const Value& apart) {
  return read_apart(apart, [](std::string_view, const std::string&) {});
}

}  // namespace

bool CircleFacts::is_kept() const { return std::ranges::find(finalizers, kPartingFinalizer) != finalizers.end(); }

// What of its status cannot be read was not written by a scheduler: it counts as nothing.
CircleFacts read_circle(const Value& circle) {
  const Value& metadata = circle["metadata"];
  CircleSpecReading reading = read_circle_spec(circle["spec"]);
  CircleFacts facts{.name = std::string(metadata["name"].text()),
                    .uid = std::string(metadata["uid"].text()),
                    .revision = std::string(metadata["resourceVersion"].text()),
                    .created = parse_timestamp(metadata["creationTimestamp"].text()).value_or(Time{}),
                    .spec = std::move(reading.spec),
                    .leaving = !metadata["deletionTimestamp"].is_null(),
                    .finalizers = texts(metadata["finalizers"]),
                    .queues = sorted_texts(circle["status"]["queues"]),
                    .apart = written_apart(circle["status"]["apart"])};
  for (const SpecMistake& mistake : reading.mistakes) {
    facts.problem += (facts.problem.empty() ? "" : "; ") + mistake.field + ": " + mistake.text;
  }
  for (const Value& each : circle["status"]["parting"].items()) {
    const auto since = parse_timestamp(each["since"].text());
    const auto by = parse_timestamp(each["by"].text());
    if (!since || !by) continue;
    facts.parting.push_back({sorted_texts(each["queues"]), *since, *by});
    if (!each["apart"].is_null()) facts.parting.back().apart = written_apart(each["apart"]);
  }
  facts.conditions = read_conditions(circle["status"]);
  return facts;
}

}  // namespace berth
