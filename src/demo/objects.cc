#include "demo/objects.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "demo/afternoon.h"
#include "demo/played.h"
#include "manifest/labels.h"
#include "model/gpu.h"
#include "model/quantity.h"

namespace berth {
namespace {

NamedObject name_space(std::string_view name) {
  Value object = Value::map_of({{"apiVersion", "v1"}, {"kind", "Namespace"}});
  object.at("metadata").set("name", name);
  return {"namespaces", std::move(object)};
}

NamedObject queue(std::string_view team) {
  Value object = Value::map_of({{"apiVersion", "berth.dev/v1alpha1"}, {"kind", "Queue"}});
  object.at("metadata").set("name", team);
  object.at("spec").set("order", "fifo-skip");
  object.at("spec").at("submitters").at("namespaces").push_back(team);
  return {"queues.berth.dev", std::move(object)};
}

}  // namespace

Value nodes_of(const Trace& trace) {
  Value list = Value::map_of({{"apiVersion", "v1"}, {"kind", "List"}});
  Value& items = list.set("items", Value::list());
  for (const TraceNode& each : trace.nodes) {
    Value node = Value::map_of({{"apiVersion", "v1"}, {"kind", "Node"}});
    node.at("metadata").set("name", each.name);
    Value& capacity = node.at("status").at("capacity");
    capacity.set("cpu", format_milli(each.cpu_milli));
    capacity.set("memory", format_bytes(each.memory_bytes));
    capacity.set("pods", "110");
    if (each.gpus > 0) {
      capacity.set(kGpuResource, std::to_string(each.gpus));
      const GpuModel* const model = find_gpu_model(each.gpu_model);
      Value& labels = node.at("metadata").at("labels");
      labels.set(kGpuProductLabel, each.gpu_model);
      if (model != nullptr) labels.set(kGpuMemoryLabel, std::to_string(model->memory_mib));
    }
    items.push_back(std::move(node));
  }
  return list;
}

std::vector<NamedObject> foundations() {
  std::vector<NamedObject> objects = {name_space(kDemoNamespace)};
  for (const std::string_view team : kTeams) {
    objects.push_back(name_space(team));
    objects.push_back(queue(team));
  }
  return objects;
}

Value job_object(const TraceJob& job, std::int64_t speed) {
  Value annotations = Value::map_of(
      {{std::string(kRunForAnnotation), std::to_string(std::max<std::int64_t>(job.run.ms / speed, 1)) + "ms"}});
  if (job.gpus == 1 && job.gpu_milli < kMilliPerGpu)
    annotations.set(kGpuMilliAnnotation, std::to_string(job.gpu_milli));
  // One model is a label of nodes; several are more than a selector can say.
  Value selector = Value::map();
  if (job.gpu_models.size() == 1) selector.set(kGpuProductLabel, job.gpu_models.front());
  if (job.gpu_models.size() > 1) {
    std::string models;
    for (const std::string& each : job.gpu_models) models += (models.empty() ? "" : "|") + each;
    annotations.set(kGpuModelsAnnotation, models);
  }
  const Value labels = Value::map_of({{std::string(kQueueLabel), job.queue}});
  Value requests = Value::map_of({{"cpu", format_milli(job.cpu_milli)}, {"memory", format_bytes(job.memory_bytes)}});
  Value limits = Value::map();
  if (job.gpus > 0) limits.set(kGpuResource, std::to_string(job.gpus));
  Value container = Value::map_of({{"name", "main"}, {"image", "busybox"}});
  container.set("command", Value(Value::List{"true"}));
  container.set("resources", Value::map_of({{"requests", std::move(requests)}, {"limits", std::move(limits)}}));
  Value pod_spec = Value::map_of({{"restartPolicy", "Never"},
                                  {"nodeSelector", std::move(selector)},
                                  {"containers", Value(Value::List{std::move(container)})}});
  Value pod = Value::map_of({{"metadata", Value::map_of({{"labels", labels}, {"annotations", std::move(annotations)}})},
                             {"spec", std::move(pod_spec)}});
  return Value::map_of(
      {{"apiVersion", "batch/v1"},
       {"kind", "Job"},
       {"metadata", Value::map_of({{"name", job.name}, {"namespace", job.queue}, {"labels", labels}})},
       {"spec", Value::map_of({{"parallelism", job.pods}, {"completions", job.pods}, {"template", std::move(pod)}})}});
}

}  // namespace berth
