#include "apiserver/sight.h"

#include <algorithm>
#include <memory>
#include <string>
#include <utility>

#include "apiserver/object_records.h"
#include "apiserver/pod_facts.h"
#include "apiserver/presentation.h"
#include "manifest/json.h"

namespace berth {
namespace {

bool has_text(const Value& list, std::string_view text) {
  return std::ranges::any_of(list.items(), [&](const Value& each) { return each.text() == text; });
}

// A namespace's queues are seen by those who see its pods.
bool may_list_pods(const User& user, const Authorizer& authorizer, std::string_view name_space) {
  AccessQuestion question;
  question.verb = "list";
  question.resource = "pods";
  question.name_space = name_space;
  return authorizer.decide(user, question).allowed;
}

bool is_usable_queue(const Value& queue, const User& user, const Authorizer& authorizer) {
  return queue_takes(queue, user, "") ||
         std::ranges::any_of(queue["spec"]["submitters"]["namespaces"].items(),
                             [&](const Value& each) { return may_list_pods(user, authorizer, each.text()); });
}

bool may_use(const User& user, const Authorizer& authorizer, std::string_view group, std::string_view resource,
             std::string_view name) {
  AccessQuestion question;
  question.verb = "use";
  question.group = group;
  question.resource = resource;
  question.name = name;
  return authorizer.decide(user, question).allowed;
}

// Takes what names others' pods and queues out of a queue's status, or out of the list of its fields, where each has a
// prefix. Whether there was any.
bool leave_out_others(Value* status, const std::string& prefix) {
  if (status == nullptr || !status->is_map()) return false;
  bool any = false;
  for (const char* const field : {"waiting", "turn", "lenders", "moreLenders"}) {
    if (status->erase(prefix + field)) any = true;
  }
  return any;
}

}  // namespace

std::optional<AccessQuestion> question_about_usable(const AccessQuestion& asked) {
  const bool looks = asked.verb == "get" || asked.verb == "list" || asked.verb == "watch";
  const bool concerned = (asked.group == "berth.dev" && asked.resource == "queues") ||
                         (asked.group == "scheduling.k8s.io" && asked.resource == "priorityclasses");
  if (!looks || !concerned) return std::nullopt;
  AccessQuestion narrower = asked;
  narrower.subresource = "usable";
  return narrower;
}

bool is_usable(const Value& object, const User& user, const Authorizer& authorizer) {
  if (object["kind"].text() == "Queue") return is_usable_queue(object, user, authorizer);
  return !is_restricted_class(object) || may_use_class(user, authorizer, object["metadata"]["name"].text());
}

bool is_in_sight(const ServerParts& parts, const Exchange& exchange, const RecordPtr& record) {
  return !exchange.only_usable || is_usable(object_of(record), exchange.user, parts.authorizer);
}

RecordPtr without_others(const RecordPtr& record) {
  if (!record->key.starts_with("queues.berth.dev/")) return record;
  Value queue = object_of(record);
  bool any = leave_out_others(queue.find("status"), "");
  // Who wrote which field is told with the names of the lenders.
  if (Value* const managers = queue.at("metadata").find("managedFields")) {
    for (Value& entry : managers->edit_items()) {
      Value* const fields = entry.find("fieldsV1");
      if (fields != nullptr && leave_out_others(fields->find("f:status"), "f:")) any = true;
    }
  }
  if (!any) return record;
  auto shown = std::make_shared<Record>(*record);
  shown->bytes = to_json(queue);
  return shown;
}

std::expected<Selection, ApiError> selection_in_sight(const ServerParts& parts, const Exchange& exchange,
                                                      const ListOptions& options) {
  auto selection = Selection::make(exchange.route, options);
  if (selection && exchange.only_usable) {
    selection->keep_only([&authorizer = parts.authorizer, user = exchange.user](const Record& record) {
      return is_usable(kept_value(record), user, authorizer);
    });
  }
  return selection;
}

bool may_get(const User& user, const Authorizer& authorizer, std::string_view group, std::string_view resource,
             std::string_view name_space, std::string_view name) {
  AccessQuestion question;
  question.verb = "get";
  question.group = group;
  question.resource = resource;
  question.name_space = name_space;
  question.name = name;
  return authorizer.decide(user, question).allowed;
}

bool queue_takes(const Value& queue, const User& user, std::string_view name_space) {
  const Value& submitters = queue["spec"]["submitters"];
  if (submitters.is_empty()) return true;
  return has_text(submitters["namespaces"], name_space) || has_text(submitters["users"], user.name) ||
         std::ranges::any_of(user.groups,
                             [&](const std::string& group) { return has_text(submitters["groups"], group); });
}

bool is_restricted_class(const Value& priority) {
  return priority["metadata"]["name"].text().starts_with("system-") ||
         priority["metadata"]["annotations"][kRestrictedAnnotation].text() == "true";
}

bool may_use_class(const User& user, const Authorizer& authorizer, std::string_view name) {
  return may_use(user, authorizer, "scheduling.k8s.io", "priorityclasses", name);
}

bool may_use_workload_class(const User& user, const Authorizer& authorizer, std::string_view name) {
  return may_use(user, authorizer, "kueue.x-k8s.io", "workloadpriorityclasses", name);
}

}  // namespace berth
