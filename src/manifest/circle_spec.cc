#include "manifest/circle_spec.h"

#include <algorithm>
#include <cstdint>
#include <utility>

#include "manifest/topology_request.h"
#include "model/quantity.h"

namespace berth {
namespace {

constexpr Duration kPartWithinMax = seconds(std::int64_t{3650} * 86'400);

// Small letters, digits, - and . between them, as names of objects are.
bool is_object_name(std::string_view name) {
  const auto is_edge = [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'); };
  return !name.empty() && name.size() <= 253 && is_edge(name.front()) && is_edge(name.back()) &&
         name.find("..") == std::string_view::npos &&
         std::ranges::all_of(name, [&](char c) { return is_edge(c) || c == '-' || c == '.'; });
}

}  // namespace

std::string why_no_queue(std::string_view name) {
  const std::size_t slash = name.find('/');
  const std::string_view prefix = slash == std::string_view::npos ? "" : name.substr(0, slash);
  if (prefix == "localqueue") return "a LocalQueue is only a door; name the queue behind it: clusterqueue/NAME";
  const bool known =
      slash == std::string_view::npos || prefix == "clusterqueue" || prefix == "cohort" || prefix == "volcano";
  if (known && is_object_name(name.substr(slash == std::string_view::npos ? 0 : slash + 1))) return "";
  return "write the name of a queue as reasons do: NAME, clusterqueue/NAME, cohort/NAME or volcano/NAME";
}

// Objects name nodes by their label, as topologies do.
Apart read_apart(const Value& apart, const std::function<void(std::string_view, std::string)>& complain) {
  Apart read;
  for (const auto& [mode, level] : apart.members()) {
    const auto* const known = std::ranges::find(kSharingNames, mode);
    if (known == std::end(kSharingNames)) {
      complain(mode, "is no mode of GPUs; write exclusive, mig, mps, timeslice or vgpu");
    } else if (level.is_empty()) {
      complain(mode, "names no label; write kubernetes.io/hostname for nodes, or the label of a wider domain");
    } else {
      read[static_cast<std::size_t>(known - std::begin(kSharingNames))] = level_named(level.text());
    }
  }
  return read;
}

Value apart_value(const Apart& apart) {
  Value written;
  for (std::size_t mode = 0; mode < apart.size(); ++mode) {
    if (!apart[mode].empty()) written.set(std::string(kSharingNames[mode]), label_of_level(apart[mode]));
  }
  return written;
}

CircleSpecReading read_circle_spec(const Value& spec) {
  CircleSpecReading made;
  const auto complain = [&](std::string field, const Value& value, std::string text) {
    made.mistakes.push_back({std::move(field), value, std::move(text)});
  };
  std::vector<std::string>& queues = made.spec.queues;
  const Value::List& named = spec["queues"].items();
  made.spec.apart = read_apart(spec["apart"], [&](std::string_view mode, std::string why) {
    complain("spec.apart." + std::string(mode), spec["apart"][mode], std::move(why));
  });
  const bool of_all = made.spec.apart != Apart() || !made.mistakes.empty();
  if (named.empty() && !of_all) {
    complain("spec.queues", spec["queues"], "names nobody; write the queues that trust each other");
  }
  if (named.size() > kQueuesInCircleMax) {
    complain("spec.queues", Value(static_cast<std::int64_t>(named.size())),
             "are more than 1,000 queues; name the queues above them");
  }
  for (std::size_t i = 0; i < std::min(named.size(), kQueuesInCircleMax); ++i) {
    const std::string place = "spec.queues[" + std::to_string(i) + "]";
    std::string name(named[i].text());
    if (std::string why = why_no_queue(name); !why.empty()) {
      complain(place, named[i], std::move(why));
    } else if (std::ranges::find(queues, name) != queues.end()) {
      complain(place, named[i], "stands here twice; write it once");
    } else {
      queues.push_back(std::move(name));
    }
  }
  std::ranges::sort(queues);
  if (const Value& within = spec["within"]; !within.is_null()) {
    const Parsed<std::int64_t> ms = parse_duration_ms(within.text());
    if (!ms || *ms > kPartWithinMax.ms) {
      complain("spec.within", within, ms ? "is longer than 3650d; write less" : ms.error());
    } else {
      made.spec.within = Duration{*ms};
    }
  }
  return made;
}

}  // namespace berth
