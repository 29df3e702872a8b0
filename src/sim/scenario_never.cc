#include "sim/scenario_never.h"

#include <algorithm>
#include <cstdint>
#include <string_view>
#include <vector>

#include "cycle/explain.h"
#include "cycle/feasibility.h"
#include "cycle/topology_text.h"
#include "cycle/unsuited_text.h"

namespace berth {
namespace {

std::string counted_nodes(std::int64_t nodes) { return with_separators(nodes) + (nodes == 1 ? " node " : " nodes "); }

// ": 2 nodes do not match rack=r7, 1 node does not match gpu=new", of the first of its sets of which there is something to say;
// closed nodes are not counted, so there may be nothing.
template <class Unsuited>
std::string unsuited_nodes(const State& state, const Shape& shape, Unsuited unsuited) {
  for (const NumberedPodSet& set : shape.ways.front()) {
    std::string text;
    for (const UnsuitedNodes& each : unsuited(state, state.request(set.request))) {
      text += (text.empty() ? ": " : ", ") + counted_nodes(each.nodes) + (each.nodes == 1 ? each.one : each.many);
    }
    if (!text.empty()) return text;
  }
  return "";
}

NeverRuns by_neighbours(const State& state, const Shape& shape, const std::string& name) {
  if (const auto few = too_few_of_its_own(state, shape.ways.front())) {
    return {with_separators(few->parts) + " parts of " + name + " are each to have a " + few->level +
                " for themselves, and there are " + with_separators(few->domains),
            "ask for fewer or larger parts, or add nodes"};
  }
  for (const NumberedPodSet& set : shape.ways.front()) {
    if (const auto outside = outside_level(state, set)) {
      return {"no node that could hold a pod of " + name + " says of which " + outside->level + " it is",
              "label them, as in " + outside->level + "=a, or name another level"};
    }
    const auto few = too_few_apart(state, set);
    if (!few) continue;
    if (few->code == ReasonCode::kSpread) {
      return {with_separators(set.count) + " pods of " + name + " are to be spread evenly over " +
                  with_separators(few->domains_min) + " domains of " + few->level +
                  " at the least; there are fewer, and they could hold " + with_separators(few->most) + " so",
              "ask for fewer domains, start fewer pods, or label more nodes"};
    }
    return {with_separators(set.count) + " pods of " + name + " are each to be on a " + few->level +
                " where no other of them is, and there are " + with_separators(few->most) + " that could hold one",
            "start fewer pods, or add nodes"};
  }
  return {"the pods of " + name + " keep each other away from all nodes", "start fewer pods, or add nodes"};
}

bool is_near_or_spread(const Shape& shape) {
  return std::ranges::any_of(shape.ways.front(), &NumberedPodSet::asks_for_domains);
}

}  // namespace

std::optional<NeverRuns> why_never_runs(const State& state, const Shape& shape, const std::string& name) {
  if (never_in_its_hours(state, shape.terms)) {
    return NeverRuns{"the hours of " + name + " are all shorter than its limit, and it is not stopped before",
                     "give it a shorter limit, or longer hours"};
  }
  const ReasonCode code = reason_never(state, shape);
  switch (code) {
    case ReasonCode::kNone:
      return std::nullopt;
    case ReasonCode::kTopology:
    case ReasonCode::kSpread:
      if (!is_near_or_spread(shape)) return by_neighbours(state, shape, name);
      return NeverRuns{name + ": " + topology_text(state, shape, true),
                       "ask for fewer or smaller pods, or another level, or add nodes"};
    case ReasonCode::kNodeSelector:
      return NeverRuns{
          "no node that " + name + " selects could hold it" + unsuited_nodes(state, shape, nodes_not_selected),
          "select labels that nodes have, or label them"};
    case ReasonCode::kTaint:
      return NeverRuns{
          "no node that could hold " + name + " lets it in" + unsuited_nodes(state, shape, nodes_not_tolerated),
          "let it tolerate them, or add nodes without such taints"};
    case ReasonCode::kReserved:
      return NeverRuns{"the nodes that could hold " + name + " are other queues' own" +
                           unsuited_nodes(state, shape, nodes_not_tolerated),
                       "submit it to one of these, or leave it enough nodes"};
    case ReasonCode::kPorts:
    case ReasonCode::kAffinity:
      return by_neighbours(state, shape, name);
    case ReasonCode::kNuma:
      return NeverRuns{"no node could hold a pod of " + name + " in as few NUMA zones as its kubelet wants it in",
                       "ask less of each pod, or add nodes of another policy"};
    case ReasonCode::kInvalid:
      if (contradicts_itself(shape.terms)) {
        return NeverRuns{name + ": " + std::string(kContradiction), "write one of the two"};
      }
      return NeverRuns{"all pods of " + name + " together ask more than the nodes have", "ask less, or add nodes"};
    default:
      break;
  }
  return NeverRuns{"no node could run " + name + " as it asks (" + std::string(name_of(code)) + ")",
                   "berth explain says what each kind of node refuses"};
}

}  // namespace berth
