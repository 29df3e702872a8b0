#include "model/node_constraints.h"

#include <algorithm>
#include <charconv>
#include <optional>

namespace berth {
namespace {

std::optional<std::int64_t> integer(std::string_view text) {
  if (text.starts_with('+') && !text.starts_with("+-")) text.remove_prefix(1);
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

bool is_beyond(const std::string& value, const LabelRequirement& asked) {
  const auto have = integer(value);
  const auto bound = asked.values.size() == 1 ? integer(asked.values.front()) : std::nullopt;
  if (!have || !bound) return false;
  return asked.op == LabelOperator::kGt ? *have > *bound : *have < *bound;
}

// `value`: nullptr where the key is not there.
bool is_met(const LabelRequirement& asked, const std::string* value) {
  const auto is_listed = [&] { return std::ranges::find(asked.values, *value) != asked.values.end(); };
  switch (asked.op) {
    case LabelOperator::kIn:
      return value != nullptr && is_listed();
    case LabelOperator::kNotIn:
      return value == nullptr || !is_listed();
    case LabelOperator::kExists:
      return value != nullptr;
    case LabelOperator::kDoesNotExist:
      return value == nullptr;
    case LabelOperator::kGt:
    case LabelOperator::kLt:
      return value != nullptr && is_beyond(*value, asked);
  }
  return false;
}

bool is_fulfilled(const NodeSelectorTerm& term, std::string_view name, const Labels& labels) {
  if (term.labels.empty() && term.fields.empty()) return false;
  const std::string own_name(name);
  const auto has_field = [&](const LabelRequirement& each) { return is_met(each, &own_name); };
  return fulfils(labels, term.labels) && std::ranges::all_of(term.fields, has_field);
}

bool bears(const NodeConstraints& constraints, const Taint& taint) {
  return std::ranges::any_of(constraints.tolerations, [&](const Toleration& each) { return tolerates(each, taint); });
}

void add(Hasher& hasher, const NodeSelectorTerm& term) {
  add_to(hasher, term.labels);
  add_to(hasher, term.fields);
}

}  // namespace

const std::string* find_label(const Labels& labels, std::string_view key) {
  const auto found = std::ranges::lower_bound(labels, key, {}, &Label::key);
  return found != labels.end() && found->key == key ? &found->value : nullptr;
}

bool fulfils(const Labels& labels, const std::vector<LabelRequirement>& asked) {
  return std::ranges::all_of(asked,
                             [&](const LabelRequirement& each) { return is_met(each, find_label(labels, each.key)); });
}

void add_to(Hasher& hasher, const std::vector<LabelRequirement>& asked) {
  hasher.add(std::uint64_t{asked.size()});
  for (const LabelRequirement& each : asked) {
    hasher.add(each.key).add(static_cast<std::uint64_t>(each.op)).add(std::uint64_t{each.values.size()});
    for (const std::string& value : each.values) hasher.add(value);
  }
}

void NodeConstraints::add_to(Hasher& hasher) const {
  berth::add_to(hasher, select);
  hasher.add(std::uint64_t{any_of.size()});
  for (const NodeSelectorTerm& term : any_of) add(hasher, term);
  hasher.add(std::uint64_t{tolerations.size()});
  for (const Toleration& each : tolerations) {
    hasher.add(each.key).add(each.value).add(std::uint64_t{each.any_value}).add(std::uint64_t{each.any_effect});
    hasher.add(static_cast<std::uint64_t>(each.effect));
  }
  hasher.add(std::uint64_t{preferred.size()});
  for (const PreferredTerm& each : preferred) {
    add(hasher, each.term);
    hasher.add(each.weight);
  }
  for (const std::string& each : images) hasher.add(each);
}

bool selects(const NodeConstraints& constraints, std::string_view name, const Labels& labels) {
  if (!fulfils(labels, constraints.select)) return false;
  const auto holds = [&](const NodeSelectorTerm& term) { return is_fulfilled(term, name, labels); };
  return constraints.any_of.empty() || std::ranges::any_of(constraints.any_of, holds);
}

bool tolerates(const Toleration& toleration, const Taint& taint) {
  if (!toleration.any_effect && toleration.effect != taint.effect) return false;
  if (!toleration.key.empty() && toleration.key != taint.key) return false;
  return toleration.any_value || toleration.value == taint.value;
}

bool tolerates(const NodeConstraints& constraints, std::span<const Taint> taints) {
  return std::ranges::all_of(taints, [&](const Taint& taint) {
    return taint.effect == TaintEffect::kPreferNoSchedule || bears(constraints, taint);
  });
}

// Less than 23 MB is there in no time; above 1000 MB a container it makes no difference how much more
// (k8s.io/kubernetes, plugins/imagelocality).
std::int64_t image_points(std::int64_t bytes, std::size_t containers) {
  constexpr std::int64_t kMegabyte = 1024 * 1024;
  constexpr std::int64_t kLeast = 23 * kMegabyte;
  if (containers == 0) return 0;
  const std::int64_t most = 1000 * kMegabyte * static_cast<std::int64_t>(containers);
  return kImagePointsMax * (std::clamp(bytes, kLeast, most) - kLeast) / (most - kLeast);
}

std::int64_t liking(const NodeConstraints& constraints, std::string_view name, const Labels& labels,
                    std::span<const Taint> taints) {
  // More than all terms together.
  constexpr std::int64_t kTaintWeight = std::int64_t{kConstraintsMax} * kPreferenceWeightMax + 1;
  std::int64_t sum = 0;
  for (const PreferredTerm& each : constraints.preferred) {
    if (is_fulfilled(each.term, name, labels)) sum += each.weight;
  }
  for (const Taint& taint : taints) {
    if (taint.effect == TaintEffect::kPreferNoSchedule && !bears(constraints, taint)) sum -= kTaintWeight;
  }
  return sum;
}

}  // namespace berth
