#include "sim/scenario_labels.h"

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>

#include "base/wording.h"
#include "model/quantity.h"
#include "model/quota.h"
#include "state/network.h"

namespace berth::scenario {
namespace {

std::optional<TaintEffect> effect_of(std::string_view name) {
  const auto* const found = std::ranges::find(kTaintEffectNames, name);
  if (found == std::end(kTaintEffectNames)) return std::nullopt;
  return static_cast<TaintEffect>(found - std::begin(kTaintEffectNames));
}

void add_label(ScenarioLine& line, const ScenarioWord& word, const Label& label, Labels& labels) {
  if (std::ranges::find(labels, label.key, &Label::key) != labels.end()) {
    line.complain(word, "label " + quote(label.key) + " stands here twice; write it once");
  } else {
    labels.push_back(label);
  }
}

// "k:v" or "k:v:50".
void take_preference(ScenarioLine& line, const ScenarioWord& word, const std::string& text,
                     NodeConstraints& constraints) {
  const std::size_t first = text.find(':');
  const std::size_t second = first == std::string::npos ? first : text.find(':', first + 1);
  const auto weight = second == std::string::npos
                          ? Parsed<std::int64_t>(1)
                          : parse_integer(std::string_view(text).substr(second + 1), 1, kPreferenceWeightMax);
  if (!weight) {
    return line.complain(word, word.key + ": " + quote(text) +
                                   " has no weight from 1 to 100; write a label, and a weight if you like, such as "
                                   "rack:r1:50");
  }
  if (const auto label = label_in(line, word, text.substr(0, second))) {
    constraints.preferred.push_back(
        {{{{label->key, LabelOperator::kIn, {label->value}}}}, static_cast<std::int32_t>(*weight)});
  }
}

// "k:v" or "k:v:5m".
void take_toleration(ScenarioLine& line, const ScenarioWord& word, const std::string& text,
                     NodeConstraints& constraints, TolerationLengths& lengths) {
  const std::size_t first = text.find(':');
  const std::size_t second = first == std::string::npos ? first : text.find(':', first + 1);
  std::optional<Duration> length;
  if (second != std::string::npos) {
    const auto parsed = parse_duration_ms(std::string_view(text).substr(second + 1));
    // Who went at once would come again at once.
    if (!parsed || *parsed == 0) {
      return line.complain(word, word.key + ": " + quote(text) +
                                     " does not say how long it bears that taint; write a label, and a length if you "
                                     "like, such as team:a:5m");
    }
    length = Duration{*parsed};
  }
  const auto label = label_in(line, word, text.substr(0, second));
  if (!label) return;
  constraints.tolerations.push_back({.key = label->key, .value = label->value});
  lengths.push_back(length);
}

}  // namespace

std::optional<Label> label_in(ScenarioLine& line, const ScenarioWord& word, const std::string& text) {
  const std::size_t colon = text.find(':');
  if (colon == std::string::npos || colon == 0 || text.find_first_of(":,", colon + 1) != std::string::npos) {
    line.complain(word, word.key + ": " + quote(text) + " is no label; write one such as rack:r1");
    return std::nullopt;
  }
  return Label{text.substr(0, colon), text.substr(colon + 1)};
}

Labels take_label_list(ScenarioLine& line) {
  Labels labels;
  if (const ScenarioWord* const word = line.take("labels"); word != nullptr && word->value != "none") {
    for (const std::string& text : line.list(*word)) {
      if (const auto label = label_in(line, *word, text)) add_label(line, *word, *label, labels);
    }
  }
  std::ranges::sort(labels);
  return labels;
}

Labels take_labels(ScenarioLine& line) {
  Labels labels = take_label_list(line);
  // A label like any other.
  if (const ScenarioWord* const word = line.take("nvlink_domain")) {
    if (const auto label = label_in(line, *word, word->key + ":" + word->value)) add_label(line, *word, *label, labels);
  }
  for (const Label& label : labels) {
    if (!label.key.starts_with(kBandwidthPrefix) || bandwidth_in(label.value) > 0) continue;
    line.complain(*line.find("labels"), "labels: " + quote(label.value) +
                                            " is no bandwidth; write GB/s from 100m to "
                                            "1000000, such as " +
                                            std::string(kBandwidthPrefix) + "rack:50");
  }
  std::ranges::sort(labels);
  return labels;
}

std::vector<Label> take_dedicated(ScenarioLine& line, std::vector<Label> otherwise) {
  const ScenarioWord* const word = line.take("dedicated");
  if (word == nullptr) return otherwise;
  std::vector<Label> labels;
  if (word->value == "none") return labels;
  for (const std::string& text : line.list(*word)) {
    const auto label = label_in(line, *word, text);
    if (label && std::ranges::find(labels, *label) != labels.end()) {
      line.complain(*word, "label " + quote(text) + " stands here twice; write it once");
    } else if (label) {
      labels.push_back(*label);
    }
  }
  if (labels.size() > kDedicatedMax)
    line.complain(*word, "dedicated: more than 64 labels; give its nodes one in common");
  std::ranges::sort(labels);
  return labels;
}

std::vector<Taint> take_taints(ScenarioLine& line) {
  const ScenarioWord* const word = line.take("taints");
  if (word == nullptr) return {};
  std::vector<Taint> taints;
  if (word->value == "none") return taints;
  for (const std::string& text : line.list(*word)) {
    const std::size_t last = text.rfind(':');
    const auto effect = last == std::string::npos ? std::nullopt : effect_of(std::string_view(text).substr(last + 1));
    if (!effect) {
      line.complain(*word,
                    "taints: " + quote(text) +
                        " is no taint; write one such as team:a:NoSchedule, with NoSchedule, PreferNoSchedule or "
                        "NoExecute");
    } else if (const auto label = label_in(line, *word, text.substr(0, last))) {
      taints.push_back({label->key, label->value, *effect});
    }
  }
  return taints;
}

NodeConstraints take_constraints(ScenarioLine& line, TolerationLengths& lengths) {
  NodeConstraints constraints;
  if (const ScenarioWord* const word = line.take("select")) {
    for (const std::string& text : line.list(*word)) {
      const auto label = label_in(line, *word, text);
      if (!label) continue;
      if (std::ranges::find(constraints.select, label->key, &LabelRequirement::key) != constraints.select.end()) {
        line.complain(*word, "select: no node has label " + quote(label->key) + " twice; write it once");
      } else {
        constraints.select.push_back({label->key, LabelOperator::kIn, {label->value}});
      }
    }
  }
  if (const ScenarioWord* const word = line.take("tolerate")) {
    for (const std::string& text : line.list(*word)) take_toleration(line, *word, text, constraints, lengths);
  }
  if (const ScenarioWord* const word = line.take("prefer")) {
    for (const std::string& text : line.list(*word)) take_preference(line, *word, text, constraints);
  }
  return constraints;
}

}  // namespace berth::scenario
