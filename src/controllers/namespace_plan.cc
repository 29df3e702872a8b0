#include "controllers/namespace_plan.h"

#include <map>
#include <string_view>
#include <utility>

#include "manifest/timestamp.h"

namespace berth {
namespace {

std::string joined(const std::vector<std::string>& parts) {
  std::string text;
  for (const std::string& part : parts) text.append(text.empty() ? "" : ", ").append(part);
  return text;
}

std::string text_of_content(const Emptying& emptying) {
  std::vector<std::string> parts;
  for (const LeftOver& each : emptying.left) {
    parts.push_back(each.kind + " has " + std::to_string(each.count) + " resource instances");
  }
  return "Some resources are remaining: " + joined(parts);
}

std::string text_of_finalizers(const std::map<std::string, std::int64_t>& finalizers) {
  std::vector<std::string> parts;
  for (const auto& [name, count] : finalizers) {
    parts.push_back(name + " in " + std::to_string(count) + " resource instances");
  }
  return "Some content in the namespace has finalizers remaining: " + joined(parts);
}

struct ConditionWords {
  const char* type;
  bool holds;
  const char* reason_if;
  const char* reason_if_not;
  std::string message_if;
  const char* message_if_not;
};

// The time of a condition that says the same as before stays.
Value condition_of(const Value& name_space, const ConditionWords& words, Time now) {
  Value condition = Value::map_of({{"type", words.type},
                                   {"status", words.holds ? "True" : "False"},
                                   {"lastTransitionTime", format_timestamp(now)},
                                   {"reason", words.holds ? words.reason_if : words.reason_if_not},
                                   {"message", words.holds ? words.message_if : std::string(words.message_if_not)}});
  for (const Value& had : name_space["status"]["conditions"].items()) {
    const bool same = had["type"].text() == words.type && had["status"] == condition["status"];
    if (same) condition.set("lastTransitionTime", had["lastTransitionTime"]);
  }
  return condition;
}

}  // namespace

Value emptying_status(const Value& name_space, const Emptying& emptying, Time now) {
  std::map<std::string, std::int64_t> finalizers;
  for (const LeftOver& each : emptying.left) {
    for (const std::string& finalizer : each.finalizers) ++finalizers[finalizer];
  }
  const ConditionWords all[] = {
      {"NamespaceDeletionDiscoveryFailure", false, "", "ResourcesDiscovered", "",
       "All resources successfully discovered"},
      {"NamespaceDeletionGroupVersionParsingFailure", false, "", "ParsedGroupVersions", "",
       "All legacy kube types successfully parsed"},
      {"NamespaceDeletionContentFailure", !emptying.failures.empty(), "ContentDeletionFailed", "ContentDeleted",
       "Failed to delete all resource types, " + std::to_string(emptying.failures.size()) +
           " remaining: " + joined(emptying.failures),
       "All content successfully deleted, may be waiting on finalization"},
      {"NamespaceContentRemaining", !emptying.left.empty(), "SomeResourcesRemain", "ContentRemoved",
       text_of_content(emptying), "All content successfully removed"},
      {"NamespaceFinalizersRemaining", !finalizers.empty(), "SomeFinalizersRemain", "ContentHasNoFinalizers",
       text_of_finalizers(finalizers), "All content-preserving finalizers finished"},
  };
  Value conditions = Value::list();
  for (const ConditionWords& words : all) conditions.push_back(condition_of(name_space, words, now));
  Value change;
  change.at("status").set("phase", "Terminating");
  change.at("status").set("conditions", std::move(conditions));
  return change;
}

Value released_namespace(const Value& name_space) {
  Value left = Value::list();
  for (const Value& each : name_space["spec"]["finalizers"].items()) {
    if (each.text() != "kubernetes") left.push_back(each);
  }
  Value change;
  change.at("spec").set("finalizers", std::move(left));
  return change;
}

}  // namespace berth
