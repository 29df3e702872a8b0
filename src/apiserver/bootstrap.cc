#include "apiserver/bootstrap.h"

#include <string>
#include <utility>
#include <vector>

#include "apiserver/authorization.h"
#include "apiserver/completion.h"
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

}  // namespace

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
    if (parts.store.find(route.key())) continue;
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
