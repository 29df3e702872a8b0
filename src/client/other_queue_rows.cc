#include "client/other_queue_rows.h"

#include <string>
#include <string_view>

#include "manifest/labels.h"

namespace berth {
namespace {

// "h100" for its GPUs, "h100.cpu"; empty of what is not counted.
std::string key_of(std::string_view flavor, std::string_view resource) {
  if (resource == kGpuResource) return std::string(flavor);
  return resource == "cpu" || resource == "memory" ? std::string(flavor) + "." + std::string(resource) : std::string();
}

std::string text_of(const Value& quantity) {
  return quantity.is_integer() ? std::to_string(quantity.integer()) : std::string(quantity.text());
}

Value amounts_in(const Value& usage, const char* field) {
  Value amounts = Value::map();
  for (const Value& flavor : usage.items()) {
    for (const Value& resource : flavor["resources"].items()) {
      const std::string key = key_of(flavor["name"].text(), resource["name"].text());
      const std::string amount = text_of(resource[field]);
      if (!key.empty() && !amount.empty() && amount != "0") amounts.set(key, amount);
    }
  }
  return amounts;
}

Value nominal_quotas(const Value& groups) {
  Value amounts = Value::map();
  for (const Value& group : groups.items()) {
    const Value of_group = amounts_in(group["flavors"], "nominalQuota");
    for (const Value::Member& each : of_group.members()) amounts.set(each.key, each.value);
  }
  return amounts;
}

// "3/40", from the thousandths that Kueue tells.
std::string share_of(const Value& weighted_share) {
  if (!weighted_share.is_integer() || weighted_share.integer() < 0) return "";
  return std::to_string(weighted_share.integer()) + "/1000";
}

Value as_queue(const Value& object, const std::string& kind) {
  const Value& spec = object["spec"];
  const Value& status = object["status"];
  Value made = Value::map();
  made.at("metadata").set("name", kind + std::string(object["metadata"]["name"].text()));
  if (!object["metadata"]["labels"].is_empty()) made.at("metadata").set("labels", object["metadata"]["labels"]);
  Value& spec_of = made.at("spec");
  spec_of = Value::map();
  for (const char* const parent : {"cohortName", "cohort", "parentName", "parent"}) {
    if (!spec[parent].is_empty()) spec_of.set("parent", "cohort/" + std::string(spec[parent].text()));
  }
  spec_of.set("guarantee", nominal_quotas(spec["resourceGroups"]));
  if (!spec["fairSharing"]["weight"].is_null()) spec_of.set("weight", text_of(spec["fairSharing"]["weight"]));
  if (const auto stop = spec["stopPolicy"].text("None"); stop != "None") spec_of.set("stop", "hold");
  Value& status_of = made.at("status");
  status_of = Value::map_of({{"pending", status["pendingWorkloads"].integer()},
                             {"running", status["admittedWorkloads"].integer()},
                             {"used", amounts_in(status["flavorsUsage"], "total")},
                             {"borrowed", amounts_in(status["flavorsUsage"], "borrowed")}});
  const std::string share = share_of(status["fairSharing"]["weightedShare"]);
  if (!share.empty()) status_of.set("share", share);
  return made;
}

}  // namespace

std::vector<Value> as_queues(const std::vector<Value>& cluster_queues, const std::vector<Value>& cohorts) {
  std::vector<Value> queues;
  for (const Value& each : cohorts) queues.push_back(as_queue(each, "cohort/"));
  for (const Value& each : cluster_queues) queues.push_back(as_queue(each, "clusterqueue/"));
  return queues;
}

}  // namespace berth
