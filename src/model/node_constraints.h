// What a pod asks of its node besides room, and what nodes say of themselves: labels, taints, and the selectors,
// affinities and tolerations of Kubernetes' pods, with the meaning that Kubernetes documents for them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/hash.h"

namespace berth {

struct Label {
  std::string key, value;

  friend auto operator<=>(const Label&, const Label&) = default;
};

// By their keys, each once.
using Labels = std::vector<Label>;

// The value of a label; nullptr without it.
const std::string* find_label(const Labels& labels, std::string_view key);

enum class TaintEffect : std::uint8_t { kNoSchedule, kPreferNoSchedule, kNoExecute };
inline constexpr std::string_view kTaintEffectNames[] = {"NoSchedule", "PreferNoSchedule", "NoExecute"};
constexpr std::string_view name_of(TaintEffect effect) { return kTaintEffectNames[static_cast<std::size_t>(effect)]; }

struct Taint {
  std::string key, value;
  TaintEffect effect = TaintEffect::kNoSchedule;

  friend bool operator==(const Taint&, const Taint&) = default;
};

enum class LabelOperator : std::uint8_t { kIn, kNotIn, kExists, kDoesNotExist, kGt, kLt };
inline constexpr std::string_view kLabelOperatorNames[] = {"In", "NotIn", "Exists", "DoesNotExist", "Gt", "Lt"};

struct LabelRequirement {
  std::string key;
  LabelOperator op = LabelOperator::kIn;
  std::vector<std::string> values = {};  // kIn, kNotIn: any; kGt, kLt: one integer

  friend bool operator==(const LabelRequirement&, const LabelRequirement&) = default;
};

// Fulfilled if all of it is. One that asks nothing selects no node.
struct NodeSelectorTerm {
  std::vector<LabelRequirement> labels;
  std::vector<LabelRequirement> fields = {};  // metadata.name is the only one

  friend bool operator==(const NodeSelectorTerm&, const NodeSelectorTerm&) = default;
};

// A node that fulfils the term is the better the greater the weight. One that asks nothing says nothing.
struct PreferredTerm {
  NodeSelectorTerm term;
  std::int32_t weight = 1;

  friend bool operator==(const PreferredTerm&, const PreferredTerm&) = default;
};
inline constexpr std::int32_t kPreferenceWeightMax = 100;

// Bears taints: those of its key, or of any; with its value, or with any; of its effect, or of any.
struct Toleration {
  std::string key = {};  // empty: any; then `any_value` holds
  bool any_value = false;
  std::string value = {};
  bool any_effect = true;
  TaintEffect effect = TaintEffect::kNoSchedule;  // unless any

  friend bool operator==(const Toleration&, const Toleration&) = default;
};

inline constexpr std::size_t kLabelsMax = 10'000;
inline constexpr std::size_t kConstraintsMax = 10'000;  // of each kind, and values of each

struct NodeConstraints {
  std::vector<LabelRequirement> select = {};  // all of them (nodeSelector)
  std::vector<NodeSelectorTerm> any_of = {};  // and one of these, if there are any (required node affinity)
  std::vector<Toleration> tolerations = {};
  std::vector<PreferredTerm> preferred = {};  // (preferred node affinity)
  std::vector<std::string> images = {};       // of its containers, one each: rather where they are already

  void add_to(Hasher& hasher) const;
  friend bool operator==(const NodeConstraints&, const NodeConstraints&) = default;
};

// Whether labels are all that is asked of them.
bool fulfils(const Labels& labels, const std::vector<LabelRequirement>& asked);
void add_to(Hasher& hasher, const std::vector<LabelRequirement>& asked);

// Whether a node of this name with these labels is one that a pod selects.
bool selects(const NodeConstraints& constraints, std::string_view name, const Labels& labels);

bool tolerates(const Toleration& toleration, const Taint& taint);
// Whether no taint keeps the pod away. (kPreferNoSchedule never does.)
bool tolerates(const NodeConstraints& constraints, std::span<const Taint> taints);

// By how much a node is better for a pod because images of its containers, of these many, are there already: 0 to 100, as
// kube-scheduler's ImageLocality has it. `bytes`: of those that it has, each times the part of all nodes that have it.
inline constexpr std::int64_t kImagePointsMax = 100;
std::int64_t image_points(std::int64_t bytes, std::size_t containers);

// Among the nodes that fit, those that a pod likes best come before all others, whatever their room: those with the fewest
// kPreferNoSchedule taints that it does not tolerate; of these, those whose fulfilled terms weigh most together. 0 where it
// has no preference.
std::int64_t liking(const NodeConstraints& constraints, std::string_view name, const Labels& labels,
                    std::span<const Taint> taints);

}  // namespace berth
