#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <iterator>
#include <limits>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "apiserver/admission.h"
#include "apiserver/filling.h"
#include "apiserver/job_sets.h"
#include "apiserver/pod_facts.h"
#include "manifest/labels.h"
#include "manifest/timestamp.h"
#include "manifest/volcano_job.h"
#include "model/quantity.h"

namespace berth {

namespace {

constexpr std::int64_t kNoLimit = std::numeric_limits<std::int32_t>::max();

// Images without a tag, or with "latest", may be another one tomorrow.
std::string_view pull_policy_of(std::string_view image) {
  if (image.find('@') != std::string_view::npos) return "IfNotPresent";
  const std::string_view last = image.substr(image.rfind('/') + 1);
  const std::size_t colon = last.rfind(':');
  return colon == std::string_view::npos || last.substr(colon + 1) == "latest" ? "Always" : "IfNotPresent";
}

void fill_probe(Value& probe) {
  set_if_empty(probe, "timeoutSeconds", 1);
  set_if_empty(probe, "periodSeconds", 10);
  set_if_empty(probe, "successThreshold", 1);
  set_if_empty(probe, "failureThreshold", 3);
  Value* const http = probe.find("httpGet");
  if (http == nullptr || !http->is_map()) return;
  set_if_empty(*http, "path", "/");
  set_if_empty(*http, "scheme", "HTTP");
}

void fill_container(Value& container) {
  if (!container.is_map()) return;
  set_if_absent(container, "resources", Value::map());
  Value& resources = container.at("resources");
  const Value limits = resources["limits"];
  const bool too_many =
      limits.members().size() > kResourceNamesMax || resources["requests"].members().size() > kResourceNamesMax;
  for (const Value::Member& limit : limits.members()) {
    if (too_many) break;  // validate() refuses it
    if (resources["requests"].is_null()) resources.set("requests", Value::map());
    set_if_absent(resources.at("requests"), limit.key, limit.value);
  }
  for (const char* const probe : {"livenessProbe", "readinessProbe", "startupProbe"}) {
    Value* const found = container.find(probe);
    if (found != nullptr && found->is_map()) fill_probe(*found);
  }
  if (container["ports"].is_list()) {
    for (Value& port : container.at("ports").edit_items()) {
      if (port.is_map()) set_if_empty(port, "protocol", "TCP");
    }
  }
  if (container["env"].is_list()) {
    for (Value& variable : container.at("env").edit_items()) {
      Value* const source = variable.find("valueFrom");
      Value* const field = source == nullptr ? nullptr : source->find("fieldRef");
      if (field != nullptr && field->is_map()) set_if_empty(*field, "apiVersion", "v1");
    }
  }
  set_if_empty(container, "terminationMessagePath", "/dev/termination-log");
  set_if_empty(container, "terminationMessagePolicy", "File");
  set_if_empty(container, "imagePullPolicy", pull_policy_of(container["image"].text()));
}

void fill_volume(Value& volume) {
  if (!volume.is_map()) return;
  const auto fill_mode = [&](std::string_view source, std::string_view key) {
    Value* const found = volume.find(source);
    if (found != nullptr && found->is_map()) set_if_absent(*found, key, 0644);
  };
  fill_mode("configMap", "defaultMode");
  fill_mode("secret", "defaultMode");
  fill_mode("projected", "defaultMode");
  fill_mode("downwardAPI", "defaultMode");
  Value* const host_path = volume.find("hostPath");
  if (host_path != nullptr && host_path->is_map()) set_if_absent(*host_path, "type", "");
}

// Of a pod or a template.
void fill_pod_spec(Value& spec) {
  for (const char* const list : {"containers", "initContainers", "ephemeralContainers"}) {
    if (!spec[list].is_list()) continue;
    for (Value& container : spec.at(list).edit_items()) fill_container(container);
  }
  if (spec["volumes"].is_list()) {
    for (Value& volume : spec.at("volumes").edit_items()) fill_volume(volume);
  }
  set_if_empty(spec, "restartPolicy", "Always");
  set_if_absent(spec, "terminationGracePeriodSeconds", 30);
  set_if_empty(spec, "dnsPolicy", "ClusterFirst");
  set_if_absent(spec, "securityContext", Value::map());
  set_if_empty(spec, "schedulerName", "default-scheduler");
}

// Five minutes of patience with a node that is not well, unless the pod says something about that taint itself.
void tolerate_for_a_while(Value& spec, std::string_view taint) {
  const bool tolerated = std::ranges::any_of(spec["tolerations"].items(), [&](const Value& each) {
    const std::string_view effect = each["effect"].text();
    return (each["key"].text() == taint || each["key"].is_empty()) && (effect.empty() || effect == "NoExecute");
  });
  if (tolerated) return;
  spec.at("tolerations")
      .push_back(
          Value::map_of({{"key", taint}, {"operator", "Exists"}, {"effect", "NoExecute"}, {"tolerationSeconds", 300}}));
}

// Kueue's word for a run limit, which its node keeps. What is no number is refused by validate().
void limit_run(const Value& labels, Value& spec) {
  const auto limit_s = parse_integer(labels[kKueueMaxRunLabel].text(), 1, kNoLimit);
  if (!limit_s || spec["activeDeadlineSeconds"].integer(*limit_s) < *limit_s) return;
  spec.set("activeDeadlineSeconds", *limit_s);
}

void fill_pod(AdmissionRequest& request) {
  Value& pod = *request.object;
  Value& spec = pod.at("spec");
  fill_pod_spec(spec);
  if (request.operation == Operation::kCreate) limit_run(pod["metadata"]["labels"], spec);
  set_if_absent(spec, "enableServiceLinks", true);
  if (request.operation != Operation::kCreate) return;
  tolerate_for_a_while(spec, "node.kubernetes.io/not-ready");
  tolerate_for_a_while(spec, "node.kubernetes.io/unreachable");
  // Whoever creates a pod says nothing of how it is doing.
  Value status = Value::map_of({{"phase", "Pending"}});
  if (!spec["schedulingGates"].is_empty()) {
    Value& conditions = status.set("conditions", Value::list());
    conditions.push_back(Value::map_of({{"type", "PodScheduled"},
                                        {"status", "False"},
                                        {"lastProbeTime", nullptr},
                                        {"lastTransitionTime", format_timestamp(request.now)},
                                        {"reason", "SchedulingGated"},
                                        {"message", "Scheduling is blocked due to non-empty scheduling gates"}}));
  }
  status.set("qosClass", qos_class_of(spec));
  pod.set("status", std::move(status));
}

// The labels by which a Job's pods are its own; the old names of the two are still what people select by.
void label_with_job(Value& metadata, std::string_view name, std::string_view uid) {
  Value& labels = metadata.at("labels");
  for (const std::string_view prefix : {"batch.kubernetes.io/", ""}) {
    labels.set(std::string(prefix) + "controller-uid", uid);
    labels.set(std::string(prefix) + "job-name", name);
  }
}

void fill_failure_policy(Value& spec) {
  if (!spec["podFailurePolicy"]["rules"].is_list()) return;
  for (Value& rule : spec.at("podFailurePolicy").at("rules").edit_items()) {
    if (!rule["onPodConditions"].is_list()) continue;
    for (Value& pattern : rule.at("onPodConditions").edit_items()) set_if_empty(pattern, "status", "True");
  }
}

void fill_job(AdmissionRequest& request) {
  Value& job = *request.object;
  const std::string name(job["metadata"]["name"].text());
  const std::string uid(job["metadata"]["uid"].text());
  Value& spec = job.at("spec");
  // Neither said: one pod. Only parallelism said: a work queue, which is done when any pod says so.
  if (spec["completions"].is_null() && spec["parallelism"].is_null()) {
    spec.set("completions", 1);
    spec.set("parallelism", 1);
  }
  set_if_absent(spec, "parallelism", 1);
  // Limits for each index take the place of the one for all.
  set_if_absent(spec, "backoffLimit", spec["backoffLimitPerIndex"].is_null() ? 6 : kNoLimit);
  set_if_empty(spec, "completionMode", "NonIndexed");
  set_if_absent(spec, "suspend", false);
  set_if_absent(spec, "manualSelector", false);
  set_if_empty(spec, "podReplacementPolicy", spec["podFailurePolicy"].is_null() ? "TerminatingOrFailed" : "Failed");
  fill_failure_policy(spec);
  Value& pod_template = spec.at("template");
  fill_pod_spec(pod_template.at("spec"));
  if (request.operation != Operation::kCreate) return;
  if (!spec["manualSelector"].truth()) {
    label_with_job(pod_template.at("metadata"), name, uid);
    label_with_job(job.at("metadata"), name, uid);
    // Beside what somebody wrote there himself, which validate() then refuses.
    if (!spec["selector"].is_map()) spec.set("selector", Value::map());
    Value& selector = spec.at("selector");
    if (!selector["matchLabels"].is_map()) selector.set("matchLabels", Value::map());
    set_if_absent(selector.at("matchLabels"), "batch.kubernetes.io/controller-uid", uid);
  }
  job.set("status", Value::map());
}

// As Volcano's own server does; all of it stands in one list, which whoever applies the same again replaces, and which is
// filled in again.
void fill_volcano_job(AdmissionRequest& request) {
  Value& spec = request.object->at("spec");
  if (spec["tasks"].is_list()) {
    std::size_t place = 0;
    for (Value& task : spec.at("tasks").edit_items()) {
      if (task.is_map()) {
        set_if_empty(task, "name", "default" + std::to_string(place));
        if (task["maxRetry"].integer() == 0) task.set("maxRetry", kVolcanoRetryDefault);
        fill_pod_spec(task.at("template").at("spec"));
      }
      ++place;
    }
  }
  if (spec["maxRetry"].integer() == 0) spec.set("maxRetry", kVolcanoRetryDefault);
  const VolcanoJob job = read_volcano_job(*request.object).job;
  if (spec["minAvailable"].integer() == 0 && job.min_available > 0) spec.set("minAvailable", job.min_available);
  if (Value& topology = spec.at("networkTopology"); topology.is_map()) {
    set_if_empty(topology, "mode", "hard");
    set_if_absent(topology, "highestTierAllowed", 1);
  } else {
    spec.erase("networkTopology");
  }
  if (!job.svc || request.operation != Operation::kCreate) return;
  const std::string name(request.object->at("metadata")["name"].text());
  request.warnings.push_back("spec.plugins[svc]: Services are not served here: what resolves names such as " + name +
                             "-TASK-0." + name + " is up to the machines; the ConfigMap " + name +
                             "-svc, mounted at /etc/volcano, lists them");
}

void fill_namespace(AdmissionRequest& request) {
  Value& name_space = *request.object;
  name_space.at("metadata").at("labels").set("kubernetes.io/metadata.name", name_space["metadata"]["name"]);
  if (request.operation != Operation::kCreate) return;
  Value finalizers = Value::list();
  finalizers.push_back("kubernetes");
  name_space.at("spec").set("finalizers", std::move(finalizers));
  name_space.set("status", Value::map_of({{"phase", "Active"}}));
}

// Nothing should be put on a node of which nobody has heard yet whether it is well; agents say it themselves.
void fill_node(AdmissionRequest& request) {
  constexpr std::string_view kNotReady = "node.kubernetes.io/not-ready";
  Value& node = *request.object;
  if (request.operation != Operation::kCreate || request.user.in_group("system:nodes")) return;
  if (request.user.name == "system:berth-node-agent") return;
  const bool ready = std::ranges::any_of(node["status"]["conditions"].items(), [](const Value& condition) {
    return condition["type"].text() == "Ready" && condition["status"].text() == "True";
  });
  const bool tainted = std::ranges::any_of(node["spec"]["taints"].items(), [&](const Value& taint) {
    return taint["key"].text() == kNotReady && taint["effect"].text() == "NoSchedule";
  });
  if (ready || tainted) return;
  node.at("spec").at("taints").push_back(Value::map_of({{"key", kNotReady}, {"effect", "NoSchedule"}}));
}

std::string base64(std::string_view bytes) {
  constexpr std::string_view kLetters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string out;
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    std::uint32_t group = 0;
    const std::size_t count = std::min<std::size_t>(3, bytes.size() - i);
    for (std::size_t j = 0; j < 3; ++j)
      group = group << 8U | (j < count ? static_cast<unsigned char>(bytes[i + j]) : 0U);
    for (std::size_t j = 0; j < 4; ++j) out += j <= count ? kLetters[group >> (18 - 6 * j) & 63U] : '=';
  }
  return out;
}

// What was written as plain text is kept as everything else in the Secret is.
void fill_secret(AdmissionRequest& request) {
  Value& secret = *request.object;
  set_if_empty(secret, "type", "Opaque");
  const Value* const plain = secret.find("stringData");
  if (plain == nullptr) return;
  std::map<std::string, Value> data;
  for (const Value::Member& member : secret["data"].members()) data.insert_or_assign(member.key, member.value);
  for (const Value::Member& member : plain->members()) {
    if (member.value.is_text()) data.insert_or_assign(member.key, base64(member.value.text()));
  }
  Value kept = Value::map();
  for (auto& [key, value] : data) kept.edit_members().push_back({key, std::move(value)});
  secret.set("data", std::move(kept));
  secret.erase("stringData");
}

// Of a container's bounds: a maximum is also the limit of those who give none, and so on down.
void fill_limit_range(AdmissionRequest& request) {
  Value& spec = request.object->at("spec");
  if (!spec["limits"].is_list()) return;
  for (Value& item : spec.at("limits").edit_items()) {
    if (!item.is_map() || item["type"].text() != "Container") continue;
    const auto take_over = [&](std::string_view to, std::string_view from) {
      const Value source = item[from];
      if (source.members().size() > kResourceNamesMax || item[to].members().size() > kResourceNamesMax) return;
      for (const Value::Member& member : source.members()) set_if_absent(item.at(to), member.key, member.value);
    };
    take_over("default", "max");
    take_over("defaultRequest", "default");
    take_over("defaultRequest", "min");
  }
}

// Its moments under the names by which `kubectl get events --sort-by=.lastTimestamp` and `kubectl describe` sort, which the newer
// API does not ask for; of an event that names none, when it was written down.
void fill_moments(AdmissionRequest& request, const char* first, const char* last) {
  Value& event = *request.object;
  const auto told = parse_timestamp(event["eventTime"].text());
  const auto again = parse_timestamp(event["series"]["lastObservedTime"].text());
  const auto written = parse_timestamp(event["metadata"]["creationTimestamp"].text());
  if (told) set_if_empty(event, first, format_timestamp(*told));
  set_if_empty(event, first, event[last].is_empty() ? format_timestamp(written.value_or(request.now)) : event[last]);
  set_if_empty(event, last, event[first]);
  const auto known = parse_timestamp(event[last].text());
  if (again && known && *known < whole_second(*again)) event.set(last, format_timestamp(*again));
}

void fill_event(AdmissionRequest& request) {
  Value& event = *request.object;
  const bool newer = !request.kind->group.empty();
  set_if_absent(event, newer ? "deprecatedSource" : "source", Value::map());
  fill_moments(request, newer ? "deprecatedFirstTimestamp" : "firstTimestamp",
               newer ? "deprecatedLastTimestamp" : "lastTimestamp");
  // The newer API demands a type; the older one is forgiving, and an event that is written down happened once.
  if (newer) return;
  set_if_empty(event, "type", "Normal");
  if (event["series"].is_null()) set_if_empty(event, "count", 1);
}

void fill_role(AdmissionRequest& request) {
  for (const Value::Member& label : (*request.object)["metadata"]["labels"].members()) {
    if (!label.key.starts_with("rbac.authorization.k8s.io/aggregate-to-")) continue;
    request.warnings.push_back(
        "label \"" + label.key +
        "\" has no effect: roles are not aggregated here; bind this role by a binding of its own");
  }
}

void fill_binding(AdmissionRequest& request) {
  constexpr std::string_view kRbac = "rbac.authorization.k8s.io";
  Value& binding = *request.object;
  if (binding["roleRef"].is_map()) set_if_empty(binding.at("roleRef"), "apiGroup", kRbac);
  if (!binding["subjects"].is_list()) return;
  for (Value& subject : binding.at("subjects").edit_items()) {
    const std::string_view kind = subject["kind"].text();
    if (kind == "User" || kind == "Group") set_if_empty(subject, "apiGroup", kRbac);
  }
}

// A queue below another one shares its line, unless it says otherwise.
void fill_queue(AdmissionRequest& request) {
  Value& spec = request.object->at("spec");
  if (spec["parent"].is_empty()) set_if_empty(spec, "order", "fifo-skip");
}

struct Filler {
  std::string_view qualified;
  void (*fill)(AdmissionRequest&);
};

constexpr Filler kFillers[] = {
    {"pods", fill_pod},
    {"jobs.batch", fill_job},
    {"jobsets.jobset.x-k8s.io", fill_job_set},
    {"jobs.batch.volcano.sh", fill_volcano_job},
    {"namespaces", fill_namespace},
    {"nodes", fill_node},
    {"secrets", fill_secret},
    {"limitranges", fill_limit_range},
    {"events", fill_event},
    {"events.events.k8s.io", fill_event},
    {"clusterroles.rbac.authorization.k8s.io", fill_role},
    {"clusterrolebindings.rbac.authorization.k8s.io", fill_binding},
    {"rolebindings.rbac.authorization.k8s.io", fill_binding},
    {"priorityclasses.scheduling.k8s.io",
     [](AdmissionRequest& request) { set_if_empty(*request.object, "preemptionPolicy", "PreemptLowerPriority"); }},
    {"queues.berth.dev", fill_queue},
    {"poddisruptionbudgets.policy",
     [](AdmissionRequest& request) {
       if (request.operation == Operation::kCreate) request.object->erase("status");
     }},
};

}  // namespace

void fill_defaults(AdmissionRequest& request) {
  if (request.object == nullptr || !request.object->is_map()) return;
  const std::string qualified = request.kind->qualified();
  // A status comes with metadata, and a namespace keeps the label of its name whoever writes it.
  if (!request.subresource.empty() && qualified != "namespaces") return;
  const auto filler = std::ranges::find(kFillers, qualified, &Filler::qualified);
  if (filler != std::end(kFillers)) filler->fill(request);
}

}  // namespace berth
