#include "controllers/node_health.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "manifest/node_constraints.h"
#include "manifest/timestamp.h"

namespace berth {
namespace {

constexpr std::int64_t kServersPatience_s = 300;

const Value& ready_condition(const Value& node) {
  static const Value kNone;
  for (const Value& each : node["status"]["conditions"].items()) {
    if (each["type"].text() == "Ready") return each;
  }
  return kNone;
}

bool is_ours(const Value& taint) {
  const std::string_view key = taint["key"].text();
  const std::string_view effect = taint["effect"].text();
  return (key == kNotReadyTaint || key == kUnreachableTaint) && (effect == "NoSchedule" || effect == "NoExecute");
}

bool tolerates(const Value& toleration, std::string_view taint) {
  const std::string_view key = toleration["key"].text();
  const std::string_view effect = toleration["effect"].text();
  if (!effect.empty() && effect != "NoExecute") return false;
  if (key.empty()) return toleration["operator"].text() == "Exists";
  // The taints have no value; Exists tolerates any, Equal only the empty one.
  return key == taint && (toleration["operator"].text() == "Exists" || toleration["value"].is_empty());
}

}  // namespace

NodeHealth health_of(const Value& node) {
  const std::string_view status = ready_condition(node)["status"].text();
  if (status == "True") return NodeHealth::kReady;
  if (status == "False") return NodeHealth::kNotReady;
  return status.empty() ? NodeHealth::kNeverSaid : NodeHealth::kUnknown;
}

std::string sign_of_life(const Value& node, const Value& lease) {
  std::string sign(lease["spec"]["renewTime"].text());
  return sign.append(" ").append(ready_condition(node)["lastHeartbeatTime"].text());
}

std::optional<Value> silent_status(const Value& node, Time now) {
  const NodeHealth health = health_of(node);
  if (health == NodeHealth::kUnknown) return std::nullopt;
  const bool was_there = health != NodeHealth::kNeverSaid;
  const std::string at = format_timestamp(now);
  Value conditions = Value::list();
  for (const Value& each : node["status"]["conditions"].items()) {
    if (each["type"].text() != "Ready") conditions.push_back(each);
  }
  Value ready = ready_condition(node).is_null() ? Value::map_of({{"type", "Ready"}}) : ready_condition(node);
  ready.set("status", "Unknown");
  ready.set("reason", was_there ? "NodeStatusUnknown" : "NodeStatusNeverUpdated");
  ready.set("message", was_there ? "Kubelet stopped posting node status." : "Kubelet never posted node status.");
  ready.set("lastTransitionTime", at);
  conditions.push_back(std::move(ready));
  Value change;
  change.at("status").set("conditions", std::move(conditions));
  return change;
}

std::optional<Value> taint_change(const Value& node, Time now) {
  const NodeHealth health = health_of(node);
  // Nobody has said anything yet: what the node began with stands.
  if (health == NodeHealth::kNeverSaid) return std::nullopt;
  const std::string_view key = health == NodeHealth::kReady     ? ""
                               : health == NodeHealth::kUnknown ? kUnreachableTaint
                                                                : kNotReadyTaint;
  Value taints = Value::list();
  bool changed = false;
  std::int64_t right = 0;
  for (const Value& each : node["spec"]["taints"].items()) {
    const bool stays = !is_ours(each) || each["key"].text() == key;
    changed = changed || !stays;
    if (stays) taints.push_back(each);
    if (stays && is_ours(each)) ++right;
  }
  if (!key.empty() && right < 2) {
    changed = true;
    for (const std::string_view effect : {"NoSchedule", "NoExecute"}) {
      const bool is_there = std::ranges::any_of(
          taints.items(), [&](const Value& each) { return is_ours(each) && each["effect"].text() == effect; });
      if (is_there) continue;
      Value taint = Value::map_of({{"key", key}, {"effect", effect}});
      if (effect == "NoExecute") taint.set("timeAdded", format_timestamp(now));
      taints.push_back(std::move(taint));
    }
  }
  if (!changed) return std::nullopt;
  Value change;
  change.at("spec").set("taints", std::move(taints));
  return change;
}

std::optional<Duration> patience_of(const Value& pod, NodeHealth health, Duration otherwise) {
  const std::string_view taint = health == NodeHealth::kUnknown ? kUnreachableTaint : kNotReadyTaint;
  std::optional<std::int64_t> least_s;
  bool tolerated = false;
  for (const Value& each : pod["spec"]["tolerations"].items()) {
    if (!tolerates(each, taint)) continue;
    tolerated = true;
    const Value& given = each["tolerationSeconds"];
    if (given.is_null()) continue;
    const std::int64_t patience_s = std::clamp<std::int64_t>(given.integer(), 0, kTimeMax.ms / 1000);
    least_s = std::min(least_s.value_or(patience_s), patience_s);
  }
  if (!tolerated) return otherwise;
  if (!least_s) return std::nullopt;
  return *least_s == kServersPatience_s ? otherwise : seconds(*least_s);
}

std::vector<Taint> executing_taints(const Value& node) {
  std::vector<Taint> taints = read_taints(node["spec"]["taints"]);
  std::erase_if(taints, [](const Taint& each) {
    return each.effect != TaintEffect::kNoExecute || each.key == kNotReadyTaint || each.key == kUnreachableTaint;
  });
  return taints;
}

std::optional<Time> leaves_at(const Value& pod, Time came, const std::vector<ExecutingTaint>& taints) {
  std::vector<TimedToleration> tolerations;
  for (const Value& each : pod["spec"]["tolerations"].items()) {
    auto read = read_toleration(each);
    if (!read) continue;
    TimedToleration& made = tolerations.emplace_back(TimedToleration{std::move(*read), {}});
    const Value& for_s = each["tolerationSeconds"];
    if (!for_s.is_null()) made.lasts = seconds(std::clamp<std::int64_t>(for_s.integer(), 0, kTimeMax.ms / 1000));
  }
  return leaves_at(tolerations, came, std::span<const ExecutingTaint>(taints));
}

bool is_mass_failure(std::int64_t bad, std::int64_t all) {
  constexpr std::int64_t kFewest = 3;
  constexpr std::int64_t kPercent = 55;
  return all >= kFewest && bad * 100 > all * kPercent;
}

}  // namespace berth
