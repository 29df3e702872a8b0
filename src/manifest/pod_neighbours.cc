#include "manifest/pod_neighbours.h"

#include <algorithm>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "base/wording.h"
#include "manifest/node_constraints.h"
#include "manifest/selector.h"
#include "manifest/topology_request.h"

namespace berth {
namespace {

constexpr std::string_view kRequired = "requiredDuringSchedulingIgnoredDuringExecution";
constexpr std::string_view kPreferred = "preferredDuringSchedulingIgnoredDuringExecution";

LabelOperator as_in_model(LabelSelector::Operator op) {
  switch (op) {
    case LabelSelector::Operator::kIn:
      return LabelOperator::kIn;
    case LabelSelector::Operator::kNotIn:
      return LabelOperator::kNotIn;
    case LabelSelector::Operator::kDoesNotExist:
      return LabelOperator::kDoesNotExist;
    default:
      return LabelOperator::kExists;  // objects have no other
  }
}

std::string in_one_line(const Complaints& complaints) {
  std::string text = complaints.to_string();
  while (text.ends_with('\n')) text.pop_back();
  return text;
}

class NeighboursReader {
 public:
  explicit NeighboursReader(const Value& pod) : spec_(pod["spec"]) {
    own_.name_space = pod["metadata"]["namespace"].text();
    own_.labels = read_node_labels(pod["metadata"]["labels"]);
  }

  ReadNeighbours read() {
    const Value& near = spec_["affinity"]["podAffinity"];
    const Value& apart = spec_["affinity"]["podAntiAffinity"];
    for (const Value& each : near[kRequired].items()) {
      own_.near.push_back(term_in(each, {.of = NamespacesByLabel::Of::kNear, .at = own_.near.size(), .selector = {}}));
    }
    for (const Value& each : apart[kRequired].items()) {
      own_.apart.push_back(
          term_in(each, {.of = NamespacesByLabel::Of::kApart, .at = own_.apart.size(), .selector = {}}));
    }
    for (const Value& each : near[kPreferred].items()) read_preference(each, 1);
    for (const Value& each : apart[kPreferred].items()) read_preference(each, -1);
    for (const Value& each : spec_["topologySpreadConstraints"].items()) read_spread(each);
    for (const Value& each : spec_["containers"].items()) read_ports(each);
    for (const Value& each : spec_["initContainers"].items()) {
      if (each["restartPolicy"].text() == "Always") read_ports(each);
    }
    const auto is_too_long = [](const auto& terms) { return terms.size() > kPodTermsMax; };
    if (is_too_long(own_.near) || is_too_long(own_.apart) || is_too_long(own_.preferred) || is_too_long(own_.spreads) ||
        is_too_long(own_.ports)) {
      complain("it has more than 64 terms on other pods, spread constraints or host ports; leave some out");
    }
    return {std::move(own_), std::move(problem_), std::move(by_label_)};
  }

 private:
  void complain(std::string problem) {
    if (problem_.empty()) problem_ = std::move(problem);
  }

  // One that is not there selects nothing.
  std::vector<LabelRequirement> requirements(const Value& selector, const char* what) {
    if (selector.is_null()) return {{.key = "", .op = LabelOperator::kIn}};
    const auto read = LabelSelector::from_object(selector);
    if (!read) {
      complain(std::string(what) + " has a label selector that selects nothing: " + in_one_line(read.error()));
      return {};
    }
    std::vector<LabelRequirement> asked;
    for (const auto& each : read->requirements()) asked.push_back({each.key, as_in_model(each.op), each.values});
    return asked;
  }

  // Labels of its own that are to be the same, or others; those that it does not have ask nothing.
  void add_own(const Value& keys, LabelOperator op, std::vector<LabelRequirement>& asked) {
    for (const Value& key : keys.items()) {
      if (const std::string* const value = find_label(own_.labels, key.text())) {
        asked.push_back({std::string(key.text()), op, {*value}});
      }
    }
  }

  std::string level_in(const Value& object, const char* what) {
    const std::string_view key = object["topologyKey"].text();
    if (key.empty()) complain(std::string(what) + " has no topologyKey; write a label of nodes, such as rack");
    return level_named(key);
  }

  PodTerm term_in(const Value& term, NamespacesByLabel by_label) {
    constexpr const char* kWhat = "a pod affinity";
    PodTerm made{.pods = {.labels = requirements(term["labelSelector"], kWhat)}, .level = level_in(term, kWhat)};
    add_own(term["matchLabelKeys"], LabelOperator::kIn, made.pods.labels);
    add_own(term["mismatchLabelKeys"], LabelOperator::kNotIn, made.pods.labels);
    const Value& selector = term["namespaceSelector"];
    const Value& names = term["namespaces"];
    if (selector.is_null() && names.is_empty()) made.pods.namespaces.push_back(own_.name_space);
    for (const Value& name : names.items()) made.pods.namespaces.emplace_back(name.text());
    if (!selector.is_null()) {
      auto read = LabelSelector::from_object(selector);
      if (!read) complain("a pod affinity has a namespaceSelector that selects nothing: " + in_one_line(read.error()));
      if (read && read->requirements().empty()) {
        made.pods.namespaces.clear();
        return made;
      }
      // No namespace is called so: with none selected the term is of nobody, and not of all.
      made.pods.namespaces.emplace_back();
      if (read) {
        by_label.selector = *std::move(read);
        by_label_.push_back(std::move(by_label));
      }
    }
    std::ranges::sort(made.pods.namespaces);
    return made;
  }

  void read_preference(const Value& preferred, std::int32_t sign) {
    const std::int64_t weight = preferred["weight"].integer();
    if (weight < 1 || weight > kPreferenceWeightMax) {
      return complain("a preferred pod affinity has no weight from 1 to 100; write one, such as weight: 10");
    }
    PodTerm term = term_in(preferred["podAffinityTerm"],
                           {.of = NamespacesByLabel::Of::kPreferred, .at = own_.preferred.size(), .selector = {}});
    own_.preferred.push_back({std::move(term), sign * static_cast<std::int32_t>(weight)});
  }

  std::int32_t number_in(const Value& spread, const char* key, bool optional) {
    if (optional && spread[key].is_null()) return 1;
    const std::int64_t value = spread[key].integer();
    if (value >= 1 && value <= kSkewMax) return static_cast<std::int32_t>(value);
    complain("a topologySpreadConstraint has no " + std::string(key) + " from 1 to 1,000,000; write one, such as " +
             std::string(key) + ": 1");
    return 1;
  }

  void read_spread(const Value& spread) {
    constexpr const char* kWhat = "a topologySpreadConstraint";
    const std::string_view otherwise = spread["whenUnsatisfiable"].text();
    if (otherwise != "DoNotSchedule" && otherwise != "ScheduleAnyway") {
      complain("a topologySpreadConstraint says " + quote(otherwise) +
               " in whenUnsatisfiable; write DoNotSchedule or ScheduleAnyway");
    }
    PodSpread made{.term = {.pods = {{own_.name_space}, requirements(spread["labelSelector"], kWhat)},
                            .level = level_in(spread, kWhat)},
                   .skew_max = number_in(spread, "maxSkew", false),
                   .domains_min = number_in(spread, "minDomains", true),
                   .required = otherwise != "ScheduleAnyway",
                   .heeds_selection = spread["nodeAffinityPolicy"].text() != "Ignore",
                   .heeds_taints = spread["nodeTaintsPolicy"].text() == "Honor"};
    add_own(spread["matchLabelKeys"], LabelOperator::kIn, made.term.pods.labels);
    own_.spreads.push_back(std::move(made));
  }

  // On the network of its node every port is the node's.
  void read_ports(const Value& container) {
    for (const Value& each : container["ports"].items()) {
      std::int64_t port = each["hostPort"].integer();
      if (port == 0 && spec_["hostNetwork"].truth()) port = each["containerPort"].integer();
      if (port == 0) continue;
      const std::string_view protocol = each["protocol"].text();
      const auto* const known =
          std::ranges::find(kProtocolNames, protocol.empty() ? std::string_view("TCP") : protocol);
      if (port < 1 || port > kPortMax || known == std::end(kProtocolNames)) {
        complain("a hostPort is no port; write 1 to 65535, and TCP, UDP or SCTP as its protocol");
        continue;
      }
      const std::string_view address = each["hostIP"].text();
      own_.ports.push_back({.port = static_cast<std::int32_t>(port),
                            .protocol = static_cast<Protocol>(known - std::begin(kProtocolNames)),
                            .address = std::string(address == "0.0.0.0" ? "" : address)});
    }
  }

  const Value& spec_;
  Neighbours own_;
  std::string problem_;
  std::vector<NamespacesByLabel> by_label_;
};

PodTerm& term_of(Neighbours& neighbours, const NamespacesByLabel& by_label) {
  switch (by_label.of) {
    case NamespacesByLabel::Of::kNear:
      return neighbours.near[by_label.at];
    case NamespacesByLabel::Of::kApart:
      return neighbours.apart[by_label.at];
    case NamespacesByLabel::Of::kPreferred:
      break;
  }
  return neighbours.preferred[by_label.at].term;
}

}  // namespace

ReadNeighbours read_neighbours(const Value& pod) { return NeighboursReader(pod).read(); }

Neighbours with_namespaces(Neighbours read, const std::vector<NamespacesByLabel>& by_label,
                           const std::map<std::string, Value>& labels_of_namespaces, bool& too_many) {
  too_many = false;
  for (const NamespacesByLabel& each : by_label) {
    std::vector<std::string>& namespaces = term_of(read, each).pods.namespaces;
    const std::size_t named = namespaces.size();
    for (const auto& [name, labels] : labels_of_namespaces) {
      if (each.selector.matches(labels)) namespaces.push_back(name);
      if (namespaces.size() > named + kNamespacesMax) break;
    }
    if (namespaces.size() > named + kNamespacesMax) {
      too_many = true;
      namespaces.clear();
      continue;
    }
    std::ranges::sort(namespaces);
    namespaces.erase(std::ranges::unique(namespaces).begin(), namespaces.end());
  }
  return read;
}

}  // namespace berth
