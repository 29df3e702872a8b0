#include "cycle/unsuited_text.h"

#include <algorithm>
#include <cstddef>
#include <map>
#include <string_view>

#include "cycle/explain.h"

namespace berth {
namespace {

// So many things are named; nodes that are unsuited for others are counted together.
constexpr std::size_t kWaysNamedMax = 3;

std::string in_brackets(const std::vector<std::string>& values) {
  std::string text;
  for (const std::string& value : values) text += (text.empty() ? "" : ", ") + value;
  return "(" + text + ")";
}

// "rack=r1", "rack in (r1, r2)", "cores > 64"
std::string requirement_text(const LabelRequirement& asked) {
  switch (asked.op) {
    case LabelOperator::kIn:
      return asked.values.size() == 1 ? asked.key + "=" + asked.values.front()
                                      : asked.key + " in " + in_brackets(asked.values);
    case LabelOperator::kNotIn:
      return asked.values.size() == 1 ? asked.key + "!=" + asked.values.front()
                                      : asked.key + " not in " + in_brackets(asked.values);
    case LabelOperator::kExists:
      return "a label " + asked.key;
    case LabelOperator::kDoesNotExist:
      return "no label " + asked.key;
    case LabelOperator::kGt:
    case LabelOperator::kLt:
      break;
  }
  return asked.key + (asked.op == LabelOperator::kGt ? " > " : " < ") +
         (asked.values.empty() ? "" : asked.values.front());
}

// What of the constraints a node does not match. PRE: they do not select it.
std::string not_matched(const NodeConstraints& constraints, const Node& node) {
  const auto is_met = [&](const NodeSelectorTerm& term) { return selects({.any_of = {term}}, node.name, node.labels); };
  for (const LabelRequirement& each : constraints.select) {
    if (!is_met({{each}})) return requirement_text(each);
  }
  if (constraints.any_of.size() > 1) {
    return "any of its " + with_separators(static_cast<std::int64_t>(constraints.any_of.size())) +
           " terms of node affinity";
  }
  const NodeSelectorTerm& term = constraints.any_of.front();
  for (const LabelRequirement& each : term.labels) {
    if (!is_met({{each}})) return requirement_text(each);
  }
  for (const LabelRequirement& each : term.fields) {
    if (!is_met({{}, {each}})) return requirement_text(each);
  }
  return "its node affinity, whose only term asks nothing";
}

std::string not_tolerated(const NodeConstraints& constraints, const Node& node) {
  for (const Taint& taint : node.taints) {
    if (tolerates(constraints, std::span(&taint, 1))) continue;
    return taint.key + (taint.value.empty() ? "" : "=" + taint.value) + ":" + std::string(name_of(taint.effect));
  }
  return "";
}

struct Words {
  std::string_view one, many;            // before what is named
  std::string_view one_more, many_more;  // of those that are unsuited for something else
};

std::vector<UnsuitedNodes> in_words(const std::map<std::string, std::int64_t>& nodes, const Words& words) {
  std::vector<UnsuitedNodes> said;
  for (const auto& [what, count] : nodes) {
    said.push_back({count, std::string(words.one) + what, std::string(words.many) + what});
  }
  std::ranges::stable_sort(said, std::ranges::greater(), &UnsuitedNodes::nodes);
  if (said.size() <= kWaysNamedMax + 1) return said;
  UnsuitedNodes others{0, std::string(words.one_more), std::string(words.many_more)};
  for (std::size_t i = kWaysNamedMax; i < said.size(); ++i) others.nodes += said[i].nodes;
  said.resize(kWaysNamedMax);
  said.push_back(std::move(others));
  return said;
}

}  // namespace

std::vector<UnsuitedNodes> nodes_not_selected(const State& state, const PodRequest& request) {
  const NodeMatches& matches = state.ledger().matches();
  std::map<std::string, std::int64_t> nodes;
  for (std::size_t i = 0; i < state.nodes() && !matches.allows_all(); ++i) {
    const NodeId node(i);
    if (!state.ledger().node(node).open || matches.selects(request.constraints, node)) continue;
    ++nodes[not_matched(matches[request.constraints], state.node(node))];
  }
  return in_words(
      nodes, {"does not match ", "do not match ", "does not match what it selects", "do not match what it selects"});
}

std::vector<UnsuitedNodes> nodes_not_tolerated(const State& state, const PodRequest& request) {
  const NodeMatches& matches = state.ledger().matches();
  std::map<std::string, std::int64_t> nodes, own;
  for (std::size_t i = 0; i < state.nodes() && !matches.allows_all(); ++i) {
    const NodeId node(i);
    const bool is_next = state.ledger().node(node).open && matches.selects(request.constraints, node);
    if (!is_next || matches.tolerates(request.constraints, node)) continue;
    const QueueId keeper = matches.dedications().keeper(matches.home_of(request.constraints), node);
    if (keeper.is_none()) {
      ++nodes[not_tolerated(matches[request.constraints], state.node(node))];
    } else {
      ++own[state.queues()[keeper.index()].name];
    }
  }
  std::vector<UnsuitedNodes> said = in_words(
      own, {"is kept for queue ", "are kept for queue ", "is kept for another queue", "are kept for other queues"});
  const std::vector<UnsuitedNodes> tainted =
      in_words(nodes, {"has the untolerated taint ", "have the untolerated taint ", "has another untolerated taint",
                       "have other untolerated taints"});
  said.insert(said.end(), tainted.begin(), tainted.end());
  return said;
}

}  // namespace berth
