#include "demo/played.h"

#include <algorithm>
#include <limits>
#include <string>

#include "base/wording.h"
#include "model/quantity.h"
#include "sim/generate.h"

namespace berth {
namespace {

// Of one ConfigMap, which is 1 MiB at most.
constexpr std::size_t kLivesMax = 20'000;

std::string lives_text(const std::vector<Played::Life>& lives) {
  std::string text;
  for (const Played::Life& life : lives) {
    text += (text.empty() ? "" : ",") + std::to_string(life.from.ms) + "-" + std::to_string(life.until.ms);
  }
  return text;
}

bool read_lives(std::string_view text, std::vector<Played::Life>& lives) {
  Time before;
  while (!text.empty()) {
    const std::string_view one = text.substr(0, text.find(','));
    text.remove_prefix(std::min(one.size() + 1, text.size()));
    const std::size_t dash = one.find('-');
    if (dash == std::string_view::npos || lives.size() == kLivesMax) return false;
    const auto from = parse_integer(one.substr(0, dash), before.ms, kTimeMax.ms);
    if (!from) return false;
    const auto until = parse_integer(one.substr(dash + 1), *from, kTimeMax.ms);
    if (!until) return false;
    lives.push_back({{*from}, {*until}});
    before = {*until};
  }
  return true;
}

}  // namespace

Time Played::afternoon_time(Time clock, std::int64_t speed) const {
  Duration played;
  for (const Life& life : lives) {
    if (clock > life.from) played = played + (std::min(clock, life.until) - life.from);
  }
  // After a century of playing it stands still.
  const std::int64_t most = (kTimeMax - kAfternoonBegins).ms / speed;
  return kAfternoonBegins + Duration{std::min(played.ms, most) * speed};
}

Value to_config_map(const AfternoonSpec& spec, const Played& played) {
  Value map = Value::map_of({{"apiVersion", "v1"}, {"kind", "ConfigMap"}});
  map.at("metadata").set("name", kAfternoonName);
  map.at("metadata").set("namespace", kDemoNamespace);
  map.set("data", Value::map_of({{"nodes", std::to_string(spec.nodes)},
                                 {"seed", std::to_string(spec.seed.value)},
                                 {"lengthMs", std::to_string(spec.length.ms)},
                                 {"speed", std::to_string(spec.speed)},
                                 {"submitted", std::to_string(played.submitted)},
                                 {"lives", lives_text(played.lives)},
                                 {"over", played.over ? "true" : "false"}}));
  return map;
}

Result<KeptAfternoon> played_in_config_map(const Value& config_map) {
  const Value& data = config_map["data"];
  Complaints complaints;
  const auto number = [&](std::string_view key, std::int64_t low, std::int64_t high) {
    const auto parsed = parse_integer(data[key].text(), low, high);
    if (!parsed) complaints.add({std::string(kAfternoonName), 0, 0}, std::string(key) + ": " + parsed.error());
    return parsed.value_or(low);
  };
  KeptAfternoon kept;
  kept.spec.nodes = number("nodes", kFleetNodesMin, kFleetNodesMax);
  kept.spec.seed = Seed{static_cast<std::uint64_t>(number("seed", 0, std::numeric_limits<std::int64_t>::max()))};
  kept.spec.speed = number("speed", 1, kAfternoonSpeedMax);
  kept.spec.length = Duration{number("lengthMs", (kAfternoonMin.ms + kept.spec.speed - 1) / kept.spec.speed,
                                     kAfternoonMax.ms / kept.spec.speed)};
  kept.played.submitted = static_cast<std::size_t>(number("submitted", 0, 100'000'000));
  kept.played.over = data["over"].text() == "true";
  if (!read_lives(data["lives"].text(), kept.played.lives)) {
    complaints.add({std::string(kAfternoonName), 0, 0},
                   "lives: FROM-UNTIL in milliseconds, with commas, in their order");
  }
  if (!complaints.empty()) return complaints;
  return kept;
}

}  // namespace berth
