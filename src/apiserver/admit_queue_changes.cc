// Another queue for work that is there: while it waits its pods follow (controllers/queue_words.h), and once one of them has a
// node it stays where it is, as with Kueue.
#include <string>
#include <string_view>

#include "apiserver/admission_rules.h"
#include "apiserver/object_records.h"
#include "apiserver/pod_facts.h"
#include "manifest/handed_down.h"
#include "manifest/job_set_labels.h"
#include "manifest/owners.h"

namespace berth {

namespace {

// "metadata.labels[berth.dev/queue]", the first that is another; empty: none is.
std::string changed_word(const Value& before, const Value& after) {
  for (const auto& [list, key] : kQueueWords) {
    if (before["metadata"][list][key] == after["metadata"][list][key]) continue;
    return std::string("metadata.") + list + "[" + std::string(key) + "]";
  }
  return "";
}

bool holds_node(const Value& pod) {
  return !pod["spec"]["nodeName"].is_empty() && !pod_has_ended(pod) && pod["metadata"]["deletionTimestamp"].is_empty();
}

// The name of a pod of it that has a node; empty: none has. Most pods are others', and need not be read to know it.
std::string placed_pod_of(const Value& maker, const Transaction& transaction) {
  const Value& uid = maker["metadata"]["uid"];
  std::string name;
  transaction.for_each(object_key("pods", maker["metadata"]["namespace"].text(), ""), [&](const RecordPtr& record) {
    if (!name.empty() || record->bytes.find(uid.text()) == std::string::npos) return;
    const Value pod = object_of(record);
    const Value& metadata = pod["metadata"];
    const Value* const owner = controller_of(pod);
    const bool is_its = (owner != nullptr && (*owner)["uid"] == uid) || metadata["labels"][kJobSetUidLabel] == uid;
    if (is_its && holds_node(pod)) name = metadata["name"].text();
  });
  return name;
}

}  // namespace

Refusal check_queue_change(AdmissionRequest& request, Transaction& transaction, const Authorizer&) {
  if (request.operation != Operation::kUpdate || request.before == nullptr || !request.subresource.empty()) return {};
  if (!makes_pods(*request.kind) || request.user.name == kControllersUser) return {};
  const Value& metadata = (*request.before)["metadata"];
  const std::string word = changed_word(*request.before, *request.object);
  if (word.empty()) return {};
  const std::string_view name = metadata["name"].text();
  const Value* const owner = controller_of(*request.before);
  if (owner != nullptr && (*owner)["kind"].text() == "JobSet") {
    return forbidden(*request.kind, name,
                     word + ": its JobSet says in which queue it is; change it there, on jobset " +
                         std::string((*owner)["name"].text()));
  }
  const std::string pod = placed_pod_of(*request.before, transaction);
  if (pod.empty()) return {};
  const bool may_be_suspended = is_job_kind(*request.kind) || is_job_set_kind(*request.kind);
  return forbidden(*request.kind, name,
                   word + ": its pod " + pod + " has a node, and work stays in the queue in which it started; " +
                       (may_be_suspended ? "suspend it first (spec.suspend: true), or delete it" : "delete it") +
                       " and create it anew in the other queue");
}

}  // namespace berth
