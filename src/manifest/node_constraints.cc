#include "manifest/node_constraints.h"

#include <algorithm>
#include <optional>
#include <string_view>

#include "base/wording.h"
#include "model/quantity.h"

namespace berth {
namespace {

constexpr std::string_view kNameField = "metadata.name";

std::optional<TaintEffect> effect_named(std::string_view name) {
  const auto* const found = std::ranges::find(kTaintEffectNames, name);
  if (found == std::end(kTaintEffectNames)) return std::nullopt;
  return static_cast<TaintEffect>(found - std::begin(kTaintEffectNames));
}

class ConstraintReader {
 public:
  explicit ConstraintReader(const Value& spec, std::string_view ignored) : spec_(spec), ignored_(ignored) {}

  ReadConstraints read() {
    for (const Value::Member& label : spec_["nodeSelector"].members()) {
      if (label.key == ignored_) continue;
      read_.constraints.select.push_back({label.key, LabelOperator::kIn, {std::string(label.value.text())}});
    }
    const Value& required = spec_["affinity"]["nodeAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"];
    for (const Value& term : required["nodeSelectorTerms"].items()) {
      read_.constraints.any_of.push_back(term_in(term));
    }
    const Value& preferred = spec_["affinity"]["nodeAffinity"]["preferredDuringSchedulingIgnoredDuringExecution"];
    for (const Value& each : preferred.items()) read_preference(each);
    for (const Value& each : spec_["tolerations"].items()) read_toleration(each);
    return std::move(read_);
  }

 private:
  void complain(std::string problem) {
    if (read_.problem.empty()) read_.problem = std::move(problem);
  }

  NodeSelectorTerm term_in(const Value& term) {
    for (const Value& each : term["matchFields"].items()) {
      if (each["key"].text() != kNameField) {
        complain("a node affinity matches the field " + quote(each["key"].text()) +
                 "; write metadata.name, or a label " + "in matchExpressions");
      }
    }
    return {requirements(term["matchExpressions"]), requirements(term["matchFields"])};
  }

  void read_preference(const Value& preferred) {
    const std::int64_t weight = preferred["weight"].integer();
    if (weight < 1 || weight > kPreferenceWeightMax) {
      return complain("a preferred node affinity has no weight from 1 to 100; write one, such as weight: 10");
    }
    read_.constraints.preferred.push_back({term_in(preferred["preference"]), static_cast<std::int32_t>(weight)});
  }

  std::vector<LabelRequirement> requirements(const Value& expressions) {
    std::vector<LabelRequirement> asked;
    for (const Value& each : expressions.items()) {
      const std::string_view op = each["operator"].text();
      const auto* const found = std::ranges::find(kLabelOperatorNames, op);
      if (found == std::end(kLabelOperatorNames)) {
        complain("a node affinity has the operator " + quote(op) + "; write In, NotIn, Exists, DoesNotExist, Gt or Lt");
        continue;
      }
      LabelRequirement& made = asked.emplace_back();
      made.key = each["key"].text();
      made.op = static_cast<LabelOperator>(found - std::begin(kLabelOperatorNames));
      for (const Value& value : each["values"].items()) made.values.emplace_back(value.text());
      check_values(made);
    }
    return asked;
  }

  void check_values(const LabelRequirement& made) {
    const std::string what = "a node affinity has for " + quote(made.key) + " with " +
                             std::string(kLabelOperatorNames[static_cast<std::size_t>(made.op)]) + " ";
    const std::size_t count = made.values.size();
    if (made.op == LabelOperator::kIn || made.op == LabelOperator::kNotIn) {
      if (count == 0) complain(what + "no values; write some, such as values: [a]");
    } else if (made.op == LabelOperator::kExists || made.op == LabelOperator::kDoesNotExist) {
      if (count > 0) complain(what + "values; leave them out");
    } else if (count != 1 || !parse_integer(made.values.front(), INT64_MIN, INT64_MAX)) {
      complain(what + "no integer to compare with; write one, such as values: ['8']");
    }
  }

  void read_toleration(const Value& toleration) {
    if (auto read = berth::read_toleration(toleration))
      return read_.constraints.tolerations.push_back(std::move(*read));
    const std::string_view effect = toleration["effect"].text();
    if (!effect.empty() && !effect_named(effect)) {
      return complain("a toleration has the effect " + quote(effect) +
                      "; write NoSchedule, PreferNoSchedule or NoExecute, or leave it out");
    }
    complain("a toleration has the operator " + quote(toleration["operator"].text()) + "; write Equal or Exists");
  }

  const Value& spec_;
  std::string_view ignored_;
  ReadConstraints read_;
};

}  // namespace

Labels read_node_labels(const Value& labels) {
  Labels read;
  for (const Value::Member& label : labels.members()) read.push_back({label.key, std::string(label.value.text())});
  std::ranges::sort(read);
  return read;
}

std::vector<Taint> read_taints(const Value& taints) {
  std::vector<Taint> read;
  for (const Value& taint : taints.items()) {
    const auto effect = effect_named(taint["effect"].text());
    if (effect) read.push_back({std::string(taint["key"].text()), std::string(taint["value"].text()), *effect});
  }
  return read;
}

std::optional<Toleration> read_toleration(const Value& toleration) {
  const std::string_view op = toleration["operator"].text();
  if (op != "Equal" && op != "Exists" && !op.empty()) return std::nullopt;
  Toleration made{.key = std::string(toleration["key"].text()), .any_value = op == "Exists"};
  if (!made.any_value) made.value = toleration["value"].text();
  if (const std::string_view effect = toleration["effect"].text(); !effect.empty()) {
    const auto known = effect_named(effect);
    if (!known) return std::nullopt;
    made.any_effect = false;
    made.effect = *known;
  }
  return made;
}

ReadConstraints read_node_constraints(const Value& spec, std::string_view ignored) {
  return ConstraintReader(spec, ignored).read();
}

}  // namespace berth
