#include "service/requests.h"

#include <utility>

#include "manifest/json.h"
#include "manifest/labels.h"
#include "manifest/timestamp.h"
#include "manifest/value.h"

namespace berth {
namespace {

ApiCall call(std::string method, std::string path, const Value& body, std::string content_type = "application/json") {
  ApiCall call;
  call.method = std::move(method);
  call.path = std::move(path);
  call.content_type = std::move(content_type);
  call.body = to_json(body);
  return call;
}

}  // namespace

ApiCall binding_call(const Binding& binding) {
  Value body = Value::map_of({{"apiVersion", "v1"}, {"kind", "Binding"}});
  Value& metadata = body.at("metadata");
  metadata.set("name", binding.pod.name);
  metadata.set("namespace", binding.pod.name_space);
  metadata.set("uid", binding.pod.uid);
  if (!binding.gpus.empty()) metadata.at("annotations").set(kGpusAnnotation, format_gpus(binding.gpus));
  body.set("target", Value::map_of({{"apiVersion", "v1"}, {"kind", "Node"}, {"name", binding.node}}));
  return call("POST", api_path("pods", binding.pod.name_space, binding.pod.name, "binding"), body);
}

ApiCall waiting_call(const WaitingReason& reason, Time now) {
  Value condition = Value::map_of(
      {{"type", "PodScheduled"}, {"status", "False"}, {"reason", "Unschedulable"}, {"message", reason.text}});
  if (reason.first) condition.set("lastTransitionTime", format_timestamp(now));
  Value body;
  body.at("metadata").set("uid", reason.pod.uid);
  body.at("status").at("conditions").push_back(std::move(condition));
  return call("PATCH", api_path("pods", reason.pod.name_space, reason.pod.name, "status"), body,
              "application/strategic-merge-patch+json");
}

ApiCall deletion_call(const PodName& pod) {
  Value body = Value::map_of({{"apiVersion", "v1"}, {"kind", "DeleteOptions"}});
  body.at("preconditions").set("uid", pod.uid);
  return call("DELETE", api_path("pods", pod.name_space, pod.name), body);
}

ApiCall queue_status_call(std::string_view queue, const QueueCounts& counts) {
  Value body;
  body.at("status").set("pending", counts.pending);
  body.at("status").set("running", counts.running);
  return call("PATCH", api_path("queues.berth.dev", "", queue, "status"), body, "application/merge-patch+json");
}

}  // namespace berth
