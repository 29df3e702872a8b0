// What a pod says of where it may be, in the forms that Kubernetes takes: node affinity, pod affinity, spread constraints and
// ports of its node.
#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "apiserver/object_meta.h"
#include "apiserver/validation.h"
#include "model/node_constraints.h"

namespace berth {

namespace {

constexpr std::string_view kRequiredTerms = "requiredDuringSchedulingIgnoredDuringExecution";
constexpr std::string_view kPreferredTerms = "preferredDuringSchedulingIgnoredDuringExecution";
constexpr std::string_view kLabelKeyIs = "must be the key of a label, such as example.com/name";

void check_label_key(const Value& key, const std::string& field, Causes& causes) {
  if (!is_qualified_name(key.text())) causes.push_back(invalid_value(field, key, kLabelKeyIs));
}

void check_weight(const Value& weight, const std::string& field, Causes& causes) {
  if (weight.integer() < 1 || weight.integer() > kPreferenceWeightMax) {
    causes.push_back(invalid_value(field, weight, "must be in the range 1-100"));
  }
}

void check_topology_key(const Value& key, const std::string& field, Causes& causes) {
  if (key.is_empty()) {
    causes.push_back(required_value(field, "can not be empty; write a label of nodes, such as kubernetes.io/hostname"));
  } else {
    check_label_key(key, field, causes);
  }
}

// ---- node affinity ---------------------------------------------------------------------------------------------------

void check_how_many_values(const Value& requirement, const std::string& path, Causes& causes) {
  const std::string_view op = requirement["operator"].text();
  const std::size_t count = requirement["values"].items().size();
  const std::string field = path + ".values";
  if ((op == "In" || op == "NotIn") && count == 0) {
    causes.push_back(required_value(field, "must be specified when `operator` is 'In' or 'NotIn'"));
  }
  if ((op == "Exists" || op == "DoesNotExist") && count > 0) {
    causes.push_back(forbidden_value(field, "may not be specified when `operator` is 'Exists' or 'DoesNotExist'"));
  }
  if ((op == "Gt" || op == "Lt") && count != 1) {
    causes.push_back(required_value(field, "must be specified single value when `operator` is 'Lt' or 'Gt'"));
  }
}

void check_expression(const Value& requirement, const std::string& path, Causes& causes) {
  check_label_key(requirement["key"], path + ".key", causes);
  check_how_many_values(requirement, path, causes);
  const Value::List& values = requirement["values"].items();
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (is_label_value(values[i].text())) continue;
    causes.push_back(invalid_value(item_path(path + ".values", i), values[i],
                                   "must be the value of a label: at most 63 of letters, digits, '-', '_' and '.'"));
  }
}

void check_field(const Value& requirement, const std::string& path, Causes& causes) {
  const std::string_view op = requirement["operator"].text();
  const Value::List& values = requirement["values"].items();
  if (requirement["key"].text() != "metadata.name") {
    causes.push_back(invalid_value(path + ".key", requirement["key"],
                                   "not a valid field selector key; write metadata.name, or a label in "
                                   "matchExpressions"));
  }
  if (op != "In" && op != "NotIn") {
    causes.push_back(invalid_value(path + ".operator", requirement["operator"],
                                   "not a valid selector operator for a field; write In or NotIn"));
  } else if (values.size() != 1) {
    causes.push_back(required_value(path + ".values",
                                    "must be only one value when `operator` is 'In' or 'NotIn' for node field "
                                    "selector; write a term for each"));
  } else if (!is_dns_subdomain(values.front().text())) {
    causes.push_back(invalid_value(item_path(path + ".values", 0), values.front(), "must be the name of a node"));
  }
}

void check_node_term(const Value& term, const std::string& path, Causes& causes) {
  const Value::List& expressions = term["matchExpressions"].items();
  for (std::size_t i = 0; i < expressions.size(); ++i) {
    check_expression(expressions[i], item_path(path + ".matchExpressions", i), causes);
  }
  const Value::List& fields = term["matchFields"].items();
  for (std::size_t i = 0; i < fields.size(); ++i) {
    check_field(fields[i], item_path(path + ".matchFields", i), causes);
  }
}

void check_node_affinity(const Value& affinity, const std::string& path, Causes& causes) {
  const std::string required = path + "." + std::string(kRequiredTerms) + ".nodeSelectorTerms";
  const Value::List& terms = affinity[kRequiredTerms]["nodeSelectorTerms"].items();
  for (std::size_t i = 0; i < terms.size(); ++i) check_node_term(terms[i], item_path(required, i), causes);
  const Value::List& preferred = affinity[kPreferredTerms].items();
  for (std::size_t i = 0; i < preferred.size(); ++i) {
    const std::string field = item_path(path + "." + std::string(kPreferredTerms), i);
    check_weight(preferred[i]["weight"], field + ".weight", causes);
    check_node_term(preferred[i]["preference"], field + ".preference", causes);
  }
}

// ---- other pods ------------------------------------------------------------------------------------------------------

std::set<std::string_view> keys_in(const Value& selector) {
  std::set<std::string_view> keys;
  for (const Value::Member& label : selector["matchLabels"].members()) keys.insert(label.key);
  for (const Value& each : selector["matchExpressions"].items()) keys.insert(each["key"].text());
  return keys;
}

// `of`: what has the keys, a pod affinity term or a spread constraint; `list`: their name in it.
void check_own_keys(const Value& of, const std::string& list, const std::string& path, Causes& causes) {
  const Value::List& keys = of[list].items();
  if (keys.empty()) return;
  const std::string field = path + "." + list;
  if (of["labelSelector"].is_null()) {
    return causes.push_back(forbidden_value(field, "must not be specified when labelSelector is not set"));
  }
  const std::set<std::string_view> selected = keys_in(of["labelSelector"]);
  for (std::size_t i = 0; i < keys.size(); ++i) {
    check_label_key(keys[i], item_path(field, i), causes);
    if (!selected.contains(keys[i].text())) continue;
    causes.push_back(invalid_value(item_path(field, i), keys[i],
                                   "exists in both " + list + " and labelSelector; leave it out of one of them"));
  }
}

void check_pod_term(const Value& term, const std::string& path, Causes& causes) {
  check_label_selector(term["labelSelector"], path + ".labelSelector", causes);
  check_label_selector(term["namespaceSelector"], path + ".namespaceSelector", causes);
  check_topology_key(term["topologyKey"], path + ".topologyKey", causes);
  check_own_keys(term, "matchLabelKeys", path, causes);
  check_own_keys(term, "mismatchLabelKeys", path, causes);
  std::set<std::string_view> other;
  for (const Value& key : term["mismatchLabelKeys"].items()) other.insert(key.text());
  const Value::List& same = term["matchLabelKeys"].items();
  for (std::size_t i = 0; i < same.size(); ++i) {
    if (!other.contains(same[i].text())) continue;
    causes.push_back(invalid_value(item_path(path + ".matchLabelKeys", i), same[i],
                                   "exists in both matchLabelKeys and mismatchLabelKeys; leave it out of one of them"));
  }
}

void check_pod_affinity(const Value& affinity, const std::string& path, Causes& causes) {
  const Value::List& required = affinity[kRequiredTerms].items();
  for (std::size_t i = 0; i < required.size(); ++i) {
    check_pod_term(required[i], item_path(path + "." + std::string(kRequiredTerms), i), causes);
  }
  const Value::List& preferred = affinity[kPreferredTerms].items();
  for (std::size_t i = 0; i < preferred.size(); ++i) {
    const std::string field = item_path(path + "." + std::string(kPreferredTerms), i);
    check_weight(preferred[i]["weight"], field + ".weight", causes);
    check_pod_term(preferred[i]["podAffinityTerm"], field + ".podAffinityTerm", causes);
  }
}

void check_min_domains(const Value& spread, const std::string& field, Causes& causes) {
  const Value& domains = spread["minDomains"];
  if (domains.is_null()) return;
  if (domains.integer() < 1) causes.push_back(invalid_value(field, domains, "must be greater than zero"));
  const std::string when(spread["whenUnsatisfiable"].text());
  if (when == "DoNotSchedule") return;
  causes.push_back(invalid_value(
      field, domains, "can only use minDomains if whenUnsatisfiable=DoNotSchedule, not whenUnsatisfiable=" + when));
}

void check_spreads(const Value& spreads, const std::string& path, Causes& causes) {
  std::set<std::pair<std::string_view, std::string_view>> seen;
  for (std::size_t i = 0; i < spreads.items().size(); ++i) {
    const Value& spread = spreads.items()[i];
    const std::string field = item_path(path, i);
    const Value& skew = spread["maxSkew"];
    if (skew.integer() < 1) causes.push_back(invalid_value(field + ".maxSkew", skew, "must be greater than zero"));
    check_topology_key(spread["topologyKey"], field + ".topologyKey", causes);
    check_min_domains(spread, field + ".minDomains", causes);
    check_label_selector(spread["labelSelector"], field + ".labelSelector", causes);
    check_own_keys(spread, "matchLabelKeys", field, causes);
    const std::string_view key = spread["topologyKey"].text(), when = spread["whenUnsatisfiable"].text();
    if (!seen.emplace(key, when).second) {
      causes.push_back(duplicate_value(field + ".{topologyKey, whenUnsatisfiable}",
                                       "{" + std::string(key) + ", " + std::string(when) + "}"));
    }
  }
}

// ---- ports of its node -----------------------------------------------------------------------------------------------

// `taken`: what the containers before it hold of the node. On the network of its node every port is the node's.
void check_node_port(const Value& port, bool on_node, const std::string& path, std::set<std::string>& taken,
                     Causes& causes) {
  const std::int64_t named = port["hostPort"].integer(), inside = port["containerPort"].integer();
  if (on_node && named != 0 && named != inside) {
    causes.push_back(invalid_value(path + ".containerPort", port["containerPort"],
                                   "must match `hostPort` when `hostNetwork` is true"));
  }
  const std::int64_t of_node = named == 0 && on_node ? inside : named;
  const std::string held = std::string(port["protocol"].text("TCP")) + "/" + std::string(port["hostIP"].text()) + "/" +
                           std::to_string(of_node);
  if (of_node != 0 && !taken.insert(held).second) causes.push_back(duplicate_value(path + ".hostPort", held));
}

void check_node_ports(const Value& container, bool on_node, const std::string& path, std::set<std::string>& taken,
                      Causes& causes) {
  const Value::List& ports = container["ports"].items();
  for (std::size_t i = 0; i < ports.size(); ++i) {
    check_node_port(ports[i], on_node, item_path(path + ".ports", i), taken, causes);
  }
}

// Containers that come one after the other may have the same.
void check_all_node_ports(const Value& spec, const std::string& path, Causes& causes) {
  const bool on_node = spec["hostNetwork"].truth();
  std::set<std::string> together;
  const Value::List& containers = spec["containers"].items();
  for (std::size_t i = 0; i < containers.size(); ++i) {
    check_node_ports(containers[i], on_node, item_path(path + ".containers", i), together, causes);
  }
  const Value::List& first = spec["initContainers"].items();
  for (std::size_t i = 0; i < first.size(); ++i) {
    std::set<std::string> alone;
    check_node_ports(first[i], on_node, item_path(path + ".initContainers", i), alone, causes);
  }
}

}  // namespace

void check_placing(const Value& spec, const std::string& path, Causes& causes) {
  const Value& affinity = spec["affinity"];
  check_node_affinity(affinity["nodeAffinity"], path + ".affinity.nodeAffinity", causes);
  check_pod_affinity(affinity["podAffinity"], path + ".affinity.podAffinity", causes);
  check_pod_affinity(affinity["podAntiAffinity"], path + ".affinity.podAntiAffinity", causes);
  check_spreads(spec["topologySpreadConstraints"], path + ".topologySpreadConstraints", causes);
  check_all_node_ports(spec, path, causes);
}

}  // namespace berth
