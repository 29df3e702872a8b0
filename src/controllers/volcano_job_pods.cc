#include "controllers/volcano_job_pods.h"

#include <algorithm>
#include <utility>

#include "controllers/job_pods.h"
#include "manifest/handed_down.h"
#include "manifest/labels.h"
#include "manifest/topology_request.h"
#include "model/quantity.h"

namespace berth {
namespace {

constexpr std::string_view kHostsFolder = "/etc/volcano";
constexpr std::int64_t kVersionMax = std::int64_t{1} << 31U;

// As it stands in variables and keys: "ps-server" is PS_SERVER.
std::string with_underscores(std::string_view task) {
  std::string name(task);
  std::ranges::replace(name, '-', '_');
  return name;
}
std::string upper_case(std::string text) {
  std::ranges::transform(text, text.begin(),
                         [](char c) { return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c; });
  return text;
}
std::string hosts_variable(const VolcanoTask& task) {
  return "VC_" + upper_case(with_underscores(task.name)) + "_HOSTS";
}
std::string count_variable(const VolcanoTask& task) { return "VC_" + upper_case(with_underscores(task.name)) + "_NUM"; }

template <class Change>
void change_containers(Value& pod_spec, const Change& change) {
  for (const char* const list : {"initContainers", "containers"}) {
    if (!pod_spec[list].is_list()) continue;
    for (Value& container : pod_spec.at(list).edit_items()) change(container);
  }
}

// What a container says itself stays.
void add_variable(Value& container, const Value& variable) {
  const auto is_it = [&](const Value& each) { return each["name"] == variable["name"]; };
  if (std::ranges::none_of(container["env"].items(), is_it)) container.at("env").push_back(variable);
}

void add_index(std::int64_t index, Value& pod_spec) {
  change_containers(pod_spec, [&](Value& container) {
    for (const char* const name : {"VK_TASK_INDEX", "VC_TASK_INDEX"}) {
      add_variable(container, Value::map_of({{"name", name}, {"value", std::to_string(index)}}));
    }
  });
}

void add_hosts(const Value& job, const VolcanoJob& spec, const std::string& pod_name, Value& pod_spec) {
  if (pod_spec["hostname"].is_empty()) pod_spec.set("hostname", pod_name);
  if (pod_spec["subdomain"].is_empty()) pod_spec.set("subdomain", job["metadata"]["name"]);
  const std::string map = volcano_hosts_name(job);
  pod_spec.at("volumes").push_back(Value::map_of({{"name", map}, {"configMap", Value::map_of({{"name", map}})}}));
  change_containers(pod_spec, [&](Value& container) {
    container.at("volumeMounts").push_back(Value::map_of({{"name", map}, {"mountPath", kHostsFolder}}));
    for (const VolcanoTask& task : spec.tasks) {
      for (const std::string& name : {hosts_variable(task), count_variable(task)}) {
        const Value key = Value::map_of({{"name", map}, {"key", name}});
        add_variable(container,
                     Value::map_of({{"name", name}, {"valueFrom", Value::map_of({{"configMapKeyRef", key}})}}));
      }
    }
  });
}

void set_if_missing(Value& map, std::string_view key, Value value) {
  if (map[key].is_null()) map.set(key, std::move(value));
}

void add_topology(const Value& topology, Value& annotations) {
  const bool says_itself = !annotations[kTopologyAnnotation].is_null() ||
                           !annotations[kVolcanoTopologyModeAnnotation].is_null() ||
                           !annotations[kVolcanoHighestTierAnnotation].is_null();
  if (topology.is_null() || says_itself) return;
  annotations.set(kVolcanoTopologyModeAnnotation, topology["mode"].text("hard"));
  annotations.set(kVolcanoHighestTierAnnotation, std::to_string(topology["highestTierAllowed"].integer(1)));
}

// As Volcano marks them.
void add_volcano_marks(const Value& job, const VolcanoJob& spec, VolcanoPlace place, Value& labels,
                       Value& annotations) {
  const std::pair<std::string_view, Value> marks[] = {{"volcano.sh/job-name", job["metadata"]["name"]},
                                                      {"volcano.sh/job-namespace", job["metadata"]["namespace"]},
                                                      {"volcano.sh/queue-name", spec.queue},
                                                      {kVolcanoTask, spec.tasks[place.task].name},
                                                      {kVolcanoTaskIndex, std::to_string(place.index)}};
  for (const auto& [key, value] : marks) {
    labels.set(key, value);
    annotations.set(key, value);
  }
  const Value& status = job["status"];
  annotations.set(kVolcanoVersion, std::to_string(status["version"].integer()));
  annotations.set("volcano.sh/job-retry-count", std::to_string(status["retryCount"].integer()));
}

// Those of all tasks without dependencies are one group. Of an elastic one any pod may be among the first, so all carry it.
void add_group(const Value& job, const VolcanoJob& spec, VolcanoPlace place, std::int64_t size, Value& labels,
               Value& annotations) {
  if (size == 0) return;
  const VolcanoTask& task = spec.tasks[place.task];
  std::string name(job["metadata"]["name"].text());
  if (!task.depends_on.empty()) name.append("-").append(task.name);
  labels.set(kGroupLabel, std::move(name));
  annotations.set(kGroupSizeAnnotation, std::to_string(size));
  if (spec.is_elastic(place.task)) annotations.set(kGroupTaskSizeAnnotation, std::to_string(task.of_its_own));
}

Value map_or_empty(const Value& map) { return map.is_map() ? map : Value::map(); }

}  // namespace

std::optional<VolcanoPlace> place_of(const VolcanoJob& spec, const Value& pod) {
  const Value& labels = pod["metadata"]["labels"];
  const auto task = std::ranges::find(spec.tasks, labels[kVolcanoTask].text(), &VolcanoTask::name);
  if (task == spec.tasks.end() || task->replicas == 0) return std::nullopt;
  const auto index = parse_integer(labels[kVolcanoTaskIndex].text(), 0, task->replicas - 1);
  if (!index) return std::nullopt;
  return VolcanoPlace{.task = static_cast<std::size_t>(task - spec.tasks.begin()), .index = *index};
}

std::int64_t version_of(const Value& pod) {
  return parse_integer(pod["metadata"]["annotations"][kVolcanoVersion].text(), 0, kVersionMax).value_or(-1);
}

Value words_of_volcano_pods(const Value& job, std::size_t task, const std::string& queue) {
  const Value& given = job["spec"]["tasks"].items()[task]["template"]["metadata"];
  Value metadata = Value::map();
  for (const char* const key : {"labels", "annotations"}) metadata.set(key, map_or_empty(given[key]));
  if (!queue.empty()) metadata.at("annotations").set(kVolcanoQueueAnnotation, queue);
  hand_down(job["metadata"], metadata);
  return metadata;
}

Value pod_of_volcano_job(const Value& job, const VolcanoJob& spec, VolcanoPlace place, std::int64_t group_size,
                         const std::string& queue) {
  const VolcanoTask& task = spec.tasks[place.task];
  const Value& pod_template = job["spec"]["tasks"].items()[place.task]["template"];
  const std::string name = volcano_pod_name(job["metadata"]["name"].text(), task.name, place.index);
  Value metadata = words_of_volcano_pods(job, place.task, queue);
  metadata.set("name", name);
  metadata.set("namespace", job["metadata"]["namespace"]);
  Value& labels = metadata.at("labels");
  Value& annotations = metadata.at("annotations");
  add_volcano_marks(job, spec, place, labels, annotations);
  add_group(job, spec, place, group_size, labels, annotations);
  add_topology(job["spec"]["networkTopology"], annotations);
  if (const Value& created = job["metadata"]["creationTimestamp"]; !created.is_empty()) {
    annotations.set(kQueuedAtAnnotation, created);
  }
  metadata.at("ownerReferences").push_back(owner_reference(job, kVolcanoJobApi));
  metadata.at("finalizers").push_back(kJobTracking);
  Value pod_spec = map_or_empty(pod_template["spec"]);
  pod_spec.set("schedulerName", "berth");
  if (const Value& priority = job["spec"]["priorityClassName"]; !priority.is_empty()) {
    set_if_missing(pod_spec, "priorityClassName", priority);
  }
  if (spec.env) add_index(place.index, pod_spec);
  if (spec.svc) add_hosts(job, spec, name, pod_spec);
  Value pod = Value::map_of({{"apiVersion", "v1"}, {"kind", "Pod"}});
  pod.set("metadata", std::move(metadata));
  pod.set("spec", std::move(pod_spec));
  return pod;
}

std::string volcano_hosts_name(const Value& job) { return std::string(job["metadata"]["name"].text()) + "-svc"; }

Value volcano_hosts(const Value& job, const VolcanoJob& spec) {
  const std::string_view name = job["metadata"]["name"].text();
  Value data = Value::map();
  for (std::size_t i = 0; i < spec.tasks.size(); ++i) {
    const VolcanoTask& task = spec.tasks[i];
    const Value& pod_spec = job["spec"]["tasks"].items()[i]["template"]["spec"];
    // With a host name of its own all pods of a task have the same.
    const std::int64_t hosts =
        pod_spec["hostname"].is_empty() ? task.replicas : std::min<std::int64_t>(1, task.replicas);
    std::string lines, list;
    for (std::int64_t index = 0; index < hosts; ++index) {
      const std::string host = volcano_host_name(name, pod_spec, volcano_pod_name(name, task.name, index));
      lines.append(index > 0 ? "\n" : "").append(host);
      list.append(index > 0 ? "," : "").append(host);
    }
    data.set(with_underscores(task.name) + ".host", std::move(lines));
    data.set(hosts_variable(task), std::move(list));
    data.set(count_variable(task), std::to_string(hosts));
  }
  Value metadata = Value::map_of({{"name", volcano_hosts_name(job)}, {"namespace", job["metadata"]["namespace"]}});
  metadata.at("ownerReferences").push_back(owner_reference(job, kVolcanoJobApi));
  Value map = Value::map_of({{"apiVersion", "v1"}, {"kind", "ConfigMap"}});
  map.set("metadata", std::move(metadata));
  map.set("data", std::move(data));
  return map;
}

}  // namespace berth
