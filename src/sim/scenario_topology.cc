#include "sim/scenario_topology.h"

#include <algorithm>
#include <string>
#include <string_view>

#include "base/wording.h"
#include "model/quantity.h"
#include "model/workload.h"

namespace berth::scenario {
namespace {

void take_together(ScenarioLine& line, Topology& topology) {
  const ScenarioWord* const word = line.take("topology");
  if (word == nullptr) return;
  const std::size_t colon = std::min(word->value.find(':'), word->value.size());
  const std::string how = word->value.substr(0, colon);
  const std::string level = colon == word->value.size() ? "" : word->value.substr(colon + 1);
  if ((how != "required" && how != "preferred") || !is_level(level)) {
    return line.complain(*word, "topology: " + quote(word->value) +
                                    " is no topology; write required:LEVEL or preferred:LEVEL, with a label of nodes "
                                    "such as rack, or node");
  }
  topology.together = how == "required" ? Togetherness::kRequired : Togetherness::kPreferred;
  topology.level = level;
}

void take_slices(ScenarioLine& line, std::int64_t pods, Topology& topology) {
  const ScenarioWord* const word = line.take("slice");
  if (word == nullptr) return;
  const std::size_t colon = std::min(word->value.find(':'), word->value.size());
  const auto size = parse_integer(word->value.substr(0, colon), 1, kPodsPerWorkloadMax);
  if (colon == word->value.size() || !is_level(std::string_view(word->value).substr(colon + 1)) || !size) {
    return line.complain(*word, "slice: " + quote(word->value) +
                                    " is no slice; write one such as 8:node, for eight pods at a time on a node");
  }
  if (pods % *size != 0) {
    return line.complain(*word, "slice: " + std::to_string(pods) + " pods are not whole slices of " +
                                    std::to_string(*size) + "; write pods= as a multiple of it");
  }
  topology.slice_pods = *size;
  topology.slice_level = word->value.substr(colon + 1);
}

constexpr std::string_view kStrategies[] = {"STRICT_PACK", "PACK", "SPREAD", "STRICT_SPREAD"};

// Of what is spread over another level: how it goes over the nodes of each of its domains.
void take_strategy_beside(ScenarioLine& line, const ScenarioWord& word, std::size_t strategy, Topology& topology) {
  if (topology.spread_level == kNodeLevel) {
    return line.complain(word, "strategy= and spread=node both say how its pods go over nodes; write one of them");
  }
  if (strategy == 0) {
    return line.complain(word, "strategy=STRICT_PACK keeps all pods on one node, which is in one " +
                                   topology.spread_level +
                                   ", and spread= spreads them over several; write one of them");
  }
  topology.on_nodes = static_cast<OnNodes>(strategy);
}

// All pods on one node, which is in one domain of whatever level they are to be together in. Where they have to be, it is in one:
// then all of them are one slice. Whether it could be said.
bool keep_on_one_node(std::int64_t pods, Topology& topology) {
  if (topology.has_slices()) return false;
  if (topology.together == Togetherness::kRequired && topology.level != kNodeLevel) {
    topology.slice_pods = pods;
    topology.slice_level = kNodeLevel;
  } else {
    topology.together = Togetherness::kRequired;
    topology.level = kNodeLevel;
  }
  return true;
}

void take_strategy(ScenarioLine& line, std::int64_t pods, Topology& topology) {
  const ScenarioWord* const word = line.take("strategy");
  if (word == nullptr) return;
  const auto strategy = line.choice(*word, kStrategies, "is no strategy");
  if (!strategy) return;
  if (topology.is_spread()) return take_strategy_beside(line, *word, *strategy, topology);
  const bool packs = *strategy < 2;
  if (packs && topology.together != Togetherness::kAnywhere) {
    if (*strategy == 0 && keep_on_one_node(pods, topology)) return;
    return line.complain(*word, "strategy=" + word->value + " is topology=" +
                                    (*strategy == 0 ? "required" : "preferred") + ":node; write one of them");
  }
  const std::string level(kNodeLevel);
  if (packs) {
    topology.together = *strategy == 0 ? Togetherness::kRequired : Togetherness::kPreferred;
    topology.level = level;
  } else {
    topology.spread = *strategy == 2 ? Spreading::kPreferred : Spreading::kApart;
    topology.spread_level = level;
  }
}

void take_spread(ScenarioLine& line, Topology& topology) {
  const ScenarioWord* const word = line.take("spread");
  if (word == nullptr) return;
  if (!is_level(word->value)) {
    return line.complain(*word,
                         "spread: " + quote(word->value) + " is no level; write one label of nodes, such as zone");
  }
  topology.spread = Spreading::kEven;
  topology.spread_level = word->value;
}

}  // namespace

bool is_level(std::string_view text) { return !text.empty() && text.find_first_of(":,") == std::string_view::npos; }

Topology take_topology(ScenarioLine& line, std::int64_t pods) {
  Topology topology;
  take_together(line, topology);
  take_slices(line, pods, topology);
  take_spread(line, topology);
  take_strategy(line, pods, topology);
  if (!topology.is_spread()) return topology;
  const ScenarioWord* const spread = line.find("spread");
  const ScenarioWord& word = spread != nullptr ? *spread : *line.find("strategy");
  if (topology.has_slices() && topology.slice_level != kNodeLevel) {
    line.complain(word, word.key + "= spreads slices that are each on one node, and these are of a " +
                            topology.slice_level + "; write slice=" + std::to_string(topology.slice_pods) +
                            ":node, or one of them");
  }
  if (topology.together == Togetherness::kPreferred) {
    line.complain(word, word.key + "= spreads pods that topology=preferred keeps together; write one of them, or " +
                            "topology=required, to spread them inside one domain");
  }
  return topology;
}

}  // namespace berth::scenario
