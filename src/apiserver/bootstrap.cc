#include "apiserver/bootstrap.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "apiserver/authorization.h"
#include "apiserver/completion.h"
#include "apiserver/policy_rules.h"
#include "base/assert.h"
#include "manifest/json.h"

namespace berth {
namespace {

Value named(const char* api_version, const char* kind, const char* name) {
  return Value::map_of({{"apiVersion", api_version}, {"kind", kind}, {"metadata", Value::map_of({{"name", name}})}});
}

Value priority_class(const char* name, std::int64_t value, const char* description) {
  Value made = named("scheduling.k8s.io/v1", "PriorityClass", name);
  made.set("value", value);
  made.set("description", description);
  return made;
}

std::vector<Value> beginnings() {
  std::vector<Value> all;
  for (const char* const name : {"default", "kube-system", "kube-public", "kube-node-lease"}) {
    all.push_back(named("v1", "Namespace", name));
  }
  all.push_back(
      priority_class("system-cluster-critical", 2'000'000'000, "For what the whole cluster cannot do without."));
  all.push_back(priority_class("system-node-critical", 2'000'001'000, "For what no node can do without."));
  all.push_back(named("berth.dev/v1alpha1", "Queue", "default"));
  for (Value& role : bootstrap_roles()) all.push_back(std::move(role));
  return all;
}

bool grants(const Value& role, const Value& rule) {
  bool lacks = false;
  Value wanted = Value::list();
  wanted.push_back(rule);
  find_missing(rules_of_list(wanted), rules_of_list(role["rules"]), [&](const PolicyRule&) {
    lacks = true;
    return false;
  });
  return !lacks;
}

bool has_subject(const Value& binding, const Value& subject) {
  return std::ranges::any_of(binding["subjects"].items(), [&](const Value& each) {
    return each["kind"] == subject["kind"] && each["name"] == subject["name"] &&
           each["namespace"] == subject["namespace"];
  });
}

}  // namespace

Value brought_up_to_date(Value there, const Value& ours) {
  if (there["metadata"]["annotations"]["rbac.authorization.kubernetes.io/autoupdate"].text() == "false") return there;
  for (const Value& rule : ours["rules"].items()) {
    if (!grants(there, rule)) there.at("rules").push_back(rule);
  }
  for (const Value& subject : ours["subjects"].items()) {
    if (!has_subject(there, subject)) there.at("subjects").push_back(subject);
  }
  return there;
}

Complaints put_missing_beginnings(const ServerParts& parts) {
  std::vector<Prepared> missing;
  Complaints complaints;
  Exchange exchange;
  exchange.user = {.name = "system:apiserver", .uid = {}, .groups = {kMasters}, .extra = {}};
  WriteOptions options;
  options.field_manager = "berth";
  for (Value& object : beginnings()) {
    Route& route = exchange.route;
    route = {};
    route.kind = find_served_kind(object["apiVersion"].text(), object["kind"].text());
    BERTH_ASSERT(route.kind != nullptr);
    route.name_space = std::string(object["metadata"]["namespace"].text());
    route.name = std::string(object["metadata"]["name"].text());
    if (const RecordPtr known = parts.store.find(route.key())) {
      auto there = parse_json(known->bytes);
      if (!there || route.kind->group != "rbac.authorization.k8s.io") continue;
      Value now = brought_up_to_date(*there, object);
      if (now == *there) continue;
      Prepared& update = missing.emplace_back();
      update.key = route.key();
      update.object = std::move(now);
      continue;
    }
    auto prepared = complete_new(parts, exchange, options, {.object = std::move(object), .duplicates = {}});
    if (prepared) {
      missing.push_back(*std::move(prepared));
    } else {
      complaints.add({}, "cannot make " + route.key() + ": " + prepared.error().message);
    }
  }
  if (!complaints.empty() || missing.empty()) return complaints;
  const CommitOutcome outcome = parts.store.transact_and_wait([&](Transaction& transaction) {
    for (Prepared& each : missing) {
      each.object.at("metadata").set("resourceVersion", std::to_string(transaction.next_revision()));
      transaction.put(each.key, to_json(each.object));
    }
  });
  if (const auto failed = failure_of(outcome)) complaints.add({}, failed->message);
  return complaints;
}

}  // namespace berth
