#include "manifest/volcano_job.h"

#include <algorithm>
#include <array>
#include <limits>
#include <map>
#include <set>
#include <utility>

#include "base/wording.h"
#include "manifest/hyper_nodes.h"
#include "manifest/label_syntax.h"
#include "model/quantity.h"

namespace berth {
namespace {

constexpr std::size_t kTaskNameMax = 63;  // of labels and host names
constexpr std::size_t kTasksMax = 200;
constexpr std::size_t kHostBytesMax = 400'000;
constexpr std::int64_t kCountMax = std::numeric_limits<std::int32_t>::max();

constexpr std::array<std::string_view, 6> kEvents = {"PodFailed",     "PodEvicted", "PodPending",
                                                     "TaskCompleted", "TaskFailed", "Unknown"};
constexpr std::array<std::string_view, 6> kActions = {"RestartPod", "RestartTask",  "RestartJob",
                                                      "AbortJob",   "TerminateJob", "CompleteJob"};

// Fields that would promise what nobody keeps.
struct NotFollowed {
  std::string_view field;
  const char* instead;
};
constexpr NotFollowed kNotInJob[] = {
    {"volumes", "is not followed; write volumes and volumeMounts into the templates of the tasks"},
    {"runningEstimate", "is not followed; write the annotation berth.dev/run-for: 30m"},
};
constexpr NotFollowed kNotInTask[] = {
    {"partitionPolicy", "is not followed; write a task for each partition, or a job"},
};
constexpr std::pair<std::string_view, const char*> kOtherPlugins[] = {
    {"ssh", "is not followed: nothing hands out keys; mount a Secret with keys of your own"},
    {"pytorch", "is not followed; write plugin svc, and MASTER_ADDR, WORLD_SIZE and RANK into the containers' env"},
    {"tensorflow", "is not followed; write plugin svc, and TF_CONFIG into the containers' env"},
    {"mpi", "is not followed; write plugin svc, and mount a Secret with keys of your own"},
    {"ray", "is not followed; write plugin svc, and the address of the head into the workers' command"},
    {"hcclrank", "is not followed; write plugin env: VC_TASK_INDEX is the rank in the task"},
};

template <std::size_t Size>
std::string listed(const std::array<std::string_view, Size>& words) {
  std::string text;
  for (const std::string_view word : words) text += (text.empty() ? "" : ", ") + std::string(word);
  return text;
}

bool is_dns_label(std::string_view name) {
  const auto is_edge = [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'); };
  return !name.empty() && name.size() <= kTaskNameMax && is_edge(name.front()) && is_edge(name.back()) &&
         std::ranges::all_of(name, [&](char c) { return is_edge(c) || c == '-'; });
}

class VolcanoJobReader {
 public:
  explicit VolcanoJobReader(const Value& object) : object_(object), spec_(object["spec"]) {}

  ReadVolcanoJob read() {
    for (const NotFollowed& each : kNotInJob) refuse(spec_, "spec", each);
    read_scheduler(spec_["schedulerName"], "spec.schedulerName");
    read_tasks();
    read_dependencies();
    job().queue = spec_["queue"].is_empty() ? "default" : std::string(spec_["queue"].text());
    if (!is_label_value(job().queue)) {
      complain("spec.queue", spec_["queue"], "is no name of a queue, which its pods carry in a label; write another");
    }
    job().max_retry = count(spec_["maxRetry"], 0, kVolcanoRetryDefault, "spec.maxRetry");
    if (job().max_retry == 0) job().max_retry = kVolcanoRetryDefault;
    count(spec_["ttlSecondsAfterFinished"], 0, 0, "spec.ttlSecondsAfterFinished");
    read_min_available();
    if (!spec_["minSuccess"].is_null()) job().min_success = count(spec_["minSuccess"], 1, 1, "spec.minSuccess");
    if (job().min_success && *job().min_success > job().pods()) {
      complain("spec.minSuccess", spec_["minSuccess"], "is more than the tasks have replicas; write less");
    }
    job().policies = read_policies(spec_["policies"], "spec.policies");
    read_plugins();
    read_network_topology();
    return std::move(read_);
  }

 private:
  VolcanoJob& job() { return read_.job; }

  void complain(std::string field, const Value& value, std::string text) {
    read_.mistakes.push_back({std::move(field), value, std::move(text)});
  }
  void refuse(const Value& in, const std::string& path, const NotFollowed& each) {
    if (!in[each.field].is_empty()) complain(path + "." + std::string(each.field), in[each.field], each.instead);
  }
  std::int64_t count(const Value& number, std::int64_t low, std::int64_t otherwise, const std::string& field) {
    if (number.is_null()) return otherwise;
    if (number.integer() >= low && number.integer() <= kCountMax) return number.integer();
    complain(field, number, "must be a number from " + std::to_string(low) + " on");
    return otherwise;
  }

  void read_scheduler(const Value& name, const std::string& field) {
    constexpr std::array<std::string_view, 4> kOurs = {"", "volcano", "berth", "default-scheduler"};
    if (std::ranges::find(kOurs, name.text()) != kOurs.end()) return;
    complain(field, name, "is not here: Berth schedules the pods; write volcano or berth, or leave it out");
  }

  // ---- tasks -----------------------------------------------------------------------------------------------------------

  void read_tasks() {
    const std::string_view name = object_["metadata"]["name"].text();
    if (name.size() > kTaskNameMax) complain("metadata.name", Value(name), "must be no more than 63 characters");
    if (spec_["tasks"].is_empty()) return complain("spec.tasks", {}, "there is none; write at least one");
    if (spec_["tasks"].items().size() > kTasksMax) {
      return complain("spec.tasks", static_cast<std::int64_t>(spec_["tasks"].items().size()),
                      "are more than 200; write several jobs");
    }
    std::set<std::string> names;
    for (std::size_t i = 0; i < spec_["tasks"].items().size(); ++i) {
      const Value& task = spec_["tasks"].items()[i];
      const std::string field = "spec.tasks[" + std::to_string(i) + "]";
      job().tasks.push_back(read_task(task, i, field));
      if (!names.insert(job().tasks.back().name).second) {
        complain(field + ".name", task["name"], "is the name of two tasks; write another");
      }
    }
    if (job().pods() == 0) complain("spec.tasks", {}, "have no pods; write replicas");
    if (job().pods() > kVolcanoPodsMax) {
      complain("spec.tasks", job().pods(), "have more than 10,000 pods; write several jobs");
    }
  }

  VolcanoTask read_task(const Value& from, std::size_t place, const std::string& field) {
    VolcanoTask task;
    task.name = from["name"].is_empty() ? "default" + std::to_string(place) : std::string(from["name"].text());
    if (!is_dns_label(task.name)) {
      complain(field + ".name", from["name"],
               "is part of its pods' names; write small letters, digits and -, beginning and ending with a letter or "
               "digit");
    }
    task.replicas = count(from["replicas"], 0, 0, field + ".replicas");
    task.min_available = count(from["minAvailable"], 0, task.replicas, field + ".minAvailable");
    if (task.min_available > task.replicas) {
      complain(field + ".minAvailable", from["minAvailable"], "is more than replicas; write less");
    }
    task.max_retry = from["maxRetry"].integer() == -1 ? -1 : count(from["maxRetry"], 0, 0, field + ".maxRetry");
    if (task.max_retry == 0) task.max_retry = kVolcanoRetryDefault;
    task.policies = read_policies(from["policies"], field + ".policies");
    for (const NotFollowed& each : kNotInTask) refuse(from, field, each);
    if (const std::string_view numa = from["topologyPolicy"].text(); !numa.empty() && numa != "none") {
      complain(field + ".topologyPolicy", from["topologyPolicy"],
               "is not followed: which cores and memory of a machine a pod gets is not decided here; write none");
    }
    read_scheduler(from["template"]["spec"]["schedulerName"], field + ".template.spec.schedulerName");
    const std::string_view name = object_["metadata"]["name"].text();
    const std::string longest = volcano_pod_name(name, task.name, std::max<std::int64_t>(0, task.replicas - 1));
    if (longest.size() > kTaskNameMax) {
      complain(field + ".name", from["name"],
               "makes names of pods that are longer than 63 characters, such as " + longest +
                   "; name the job or the task shorter");
    }
    return task;
  }

  void read_dependencies() {
    std::map<std::string_view, std::size_t> places;
    for (std::size_t i = 0; i < job().tasks.size(); ++i) places.emplace(job().tasks[i].name, i);
    for (std::size_t i = 0; i < job().tasks.size(); ++i) {
      const Value& depends = spec_["tasks"].items()[i]["dependsOn"];
      const std::string field = "spec.tasks[" + std::to_string(i) + "].dependsOn";
      job().tasks[i].any_suffices = depends["iteration"].text() == "any";
      for (const Value& name : depends["name"].items()) {
        const auto found = places.find(name.text());
        if (found == places.end()) {
          complain(field + ".name", name, "names no task of the job; write the name of one");
        } else {
          job().tasks[i].depends_on.push_back(found->second);
        }
      }
    }
    for (std::size_t i = 0; i < job().tasks.size(); ++i) {
      if (!waits_for_itself(i)) continue;
      complain("spec.tasks[" + std::to_string(i) + "].dependsOn", spec_["tasks"].items()[i]["dependsOn"]["name"],
               "leads back to the task itself, which would never start; take one of them out");
      job().tasks[i].depends_on.clear();
    }
  }

  bool waits_for_itself(std::size_t task) {
    std::set<std::size_t> reached;
    std::vector<std::size_t> next = job().tasks[task].depends_on;
    while (!next.empty()) {
      const std::size_t at = next.back();
      next.pop_back();
      if (at == task) return true;
      if (!reached.insert(at).second) continue;
      next.insert(next.end(), job().tasks[at].depends_on.begin(), job().tasks[at].depends_on.end());
    }
    return false;
  }

  // Who of the job starts together: what tasks ask for themselves first, then in their order.
  void read_min_available() {
    std::int64_t of_tasks = 0;
    for (const VolcanoTask& task : job().tasks) of_tasks += task.min_available;
    job().min_available = count(spec_["minAvailable"], 0, 0, "spec.minAvailable");
    if (job().min_available == 0) job().min_available = of_tasks;
    if (job().min_available > job().pods()) {
      complain("spec.minAvailable", spec_["minAvailable"], "is more than the tasks have replicas; write less");
      job().min_available = job().pods();
    }
    std::int64_t left = job().min_available;
    const auto take = [&](VolcanoTask& task, std::int64_t most) {
      const std::int64_t more = std::min(left, most - task.in_gang);
      task.in_gang += std::max<std::int64_t>(0, more);
      left -= std::max<std::int64_t>(0, more);
    };
    for (std::size_t i = 0; i < job().tasks.size(); ++i) {
      if (!spec_["tasks"].items()[i]["minAvailable"].is_null()) take(job().tasks[i], job().tasks[i].min_available);
    }
    for (VolcanoTask& task : job().tasks) {
      task.of_its_own = task.in_gang;
      take(task, task.replicas);
    }
  }

  // ---- policies --------------------------------------------------------------------------------------------------------

  std::vector<VolcanoPolicy> read_policies(const Value& list, const std::string& path) {
    std::vector<VolcanoPolicy> policies;
    std::set<std::string> seen;
    for (std::size_t i = 0; i < list.items().size(); ++i) {
      const std::size_t mistakes = read_.mistakes.size();
      VolcanoPolicy policy = read_policy(list.items()[i], path + "[" + std::to_string(i) + "]", seen);
      if (read_.mistakes.size() == mistakes) policies.push_back(std::move(policy));
    }
    if (seen.contains("*") && seen.size() > 1) {
      complain(path, {}, "'*' is any event, and another stands beside it; write the events one by one");
    }
    return policies;
  }

  VolcanoPolicy read_policy(const Value& from, const std::string& field, std::set<std::string>& seen) {
    VolcanoPolicy policy;
    policy.field = field;
    std::set<std::string> events;
    if (!from["event"].is_empty()) events.emplace(from["event"].text());
    for (const Value& each : from["events"].items()) events.emplace(each.text());
    const Value& code = from["exitCode"];
    if (events.empty() == code.is_null()) {
      complain(field, {}, "takes one of the two, events or an exitCode: write one, and another policy for the other");
    }
    if (!code.is_null() && (code.integer() == 0 || code.integer() < -kCountMax || code.integer() > kCountMax)) {
      complain(field + ".exitCode", code, "is no code of a failure; write another than 0");
    }
    if (!code.is_null()) policy.exit_code = code.integer();
    for (const std::string& event : events) read_event(event, field, policy);
    if (policy.exit_code) events.insert("exit code " + std::to_string(*policy.exit_code));
    for (const std::string& each : events) {
      if (!seen.insert(each).second) complain(field, Value(each), "stands in a policy before it; write it once");
    }
    read_action(from["action"], field, policy);
    read_timeout(from["timeout"], field, events.contains("*"), policy);
    return policy;
  }

  void read_event(const std::string& event, const std::string& field, VolcanoPolicy& policy) {
    if (event == "*") {
      policy.events = {VolcanoEvent::kPodFailed, VolcanoEvent::kPodEvicted, VolcanoEvent::kTaskCompleted,
                       VolcanoEvent::kTaskFailed, VolcanoEvent::kJobUnknown};
      return;
    }
    const auto found = std::ranges::find(kEvents, std::string_view(event));
    if (found != kEvents.end()) {
      policy.events.push_back(static_cast<VolcanoEvent>(found - kEvents.begin()));
    } else {
      complain(field + ".event", Value(event), "is not followed; write one of " + listed(kEvents) + ", or '*'");
    }
  }

  void read_action(const Value& action, const std::string& field, VolcanoPolicy& policy) {
    const auto found = std::ranges::find(kActions, action.text());
    if (found == kActions.end()) {
      return complain(field + ".action", action, "is not followed; write one of " + listed(kActions));
    }
    policy.action = static_cast<VolcanoAction>(found - kActions.begin());
    const bool of_pods = std::ranges::all_of(policy.events, [](VolcanoEvent event) {
      return event == VolcanoEvent::kPodFailed || event == VolcanoEvent::kPodEvicted ||
             event == VolcanoEvent::kPodPending;
    });
    if (policy.action == VolcanoAction::kRestartPod && !of_pods) {
      complain(field + ".action", action,
               "restarts the pod to which something happened; write it for PodFailed, PodEvicted, PodPending or an "
               "exitCode, and RestartTask or RestartJob for the others");
    }
    if (policy.action == VolcanoAction::kRestartTask && policy.names(VolcanoEvent::kJobUnknown)) {
      complain(field + ".action", action, "has no task to restart when something happens to the job; write RestartJob");
    }
  }

  // What has no beginning that is written down anywhere cannot last for a time.
  void read_timeout(const Value& timeout, const std::string& field, bool any, VolcanoPolicy& policy) {
    if (timeout.is_null()) {
      if (policy.names(VolcanoEvent::kPodPending)) {
        complain(field + ".timeout", {}, "every pod is pending at first; write how long it may be, as in 10m");
      }
      return;
    }
    const Parsed<std::int64_t> ms = parse_duration_ms(timeout.text());
    if (!ms) return complain(field + ".timeout", timeout, ms.error());
    policy.timeout = Duration{std::min(*ms, kTimeMax.ms)};
    const bool lasts = std::ranges::none_of(policy.events, [](VolcanoEvent event) {
      return event == VolcanoEvent::kPodEvicted || event == VolcanoEvent::kTaskFailed ||
             event == VolcanoEvent::kJobUnknown;
    });
    if (any || !lasts) {
      complain(field + ".timeout", timeout,
               "is followed for PodPending, PodFailed, TaskCompleted and exit codes; leave it out, or write a policy "
               "for PodPending with it: what was evicted is pending again");
    }
  }

  // ---- plugins and topology --------------------------------------------------------------------------------------------

  void read_plugins() {
    const Value& plugins = spec_["plugins"];
    if (!plugins.is_null() && !plugins.is_map()) {
      return complain("spec.plugins", plugins, "must be a map from plugins to their arguments, as in svc: []");
    }
    for (const Value::Member& each : plugins.members()) {
      const std::string field = "spec.plugins[" + each.key + "]";
      const auto other = std::ranges::find(kOtherPlugins, each.key, [](const auto& known) { return known.first; });
      if (each.key == "env") {
        job().env = true;
      } else if (each.key == "svc") {
        job().svc = true;
      } else {
        complain(field, Value(each.key),
                 other != std::end(kOtherPlugins) ? other->second : "is not followed; env and svc are: leave it out");
        continue;
      }
      check_arguments(each.value, each.key == "svc", field);
    }
    if (job().svc) check_hosts();
  }

  // Of svc two say how its Service is, and there is none here.
  void check_arguments(const Value& arguments, bool of_svc, const std::string& field) {
    if (!arguments.is_null() && !arguments.is_list()) {
      return complain(field, arguments, "must be a list of arguments; write []");
    }
    for (const Value& each : arguments.items()) {
      const std::string_view text = each.text();
      const bool of_service =
          text.starts_with("--publish-not-ready-addresses") || text.starts_with("--disable-network-policy");
      if (of_svc && of_service) continue;
      complain(field, each, "is no argument of it that is followed; leave it out");
    }
  }

  // They have to fit into a ConfigMap, twice.
  void check_hosts() {
    std::size_t bytes = 0;
    const std::string_view name = object_["metadata"]["name"].text();
    for (std::size_t i = 0; i < job().tasks.size(); ++i) {
      const VolcanoTask& task = job().tasks[i];
      const Value& pod_spec = spec_["tasks"].items()[i]["template"]["spec"];
      const std::string longest = volcano_pod_name(name, task.name, task.replicas);
      bytes += (volcano_host_name(name, pod_spec, longest).size() + 1) * static_cast<std::size_t>(task.replicas);
    }
    if (bytes <= kHostBytesMax) return;
    complain("spec.plugins[svc]", static_cast<std::int64_t>(bytes),
             "the names of all its pods are longer than a ConfigMap may be; write shorter names, or several jobs");
  }

  void read_network_topology() {
    const Value& topology = spec_["networkTopology"];
    if (topology.is_null()) return;
    const std::string field = "spec.networkTopology";
    if (!topology["highestTierName"].is_empty()) {
      complain(field + ".highestTierName", topology["highestTierName"],
               "names no level here; write highestTierAllowed with the tier of the HyperNodes");
    }
    if (count(topology["highestTierAllowed"], 0, 1, field + ".highestTierAllowed") > kHyperNodeTierMax) {
      complain(field + ".highestTierAllowed", topology["highestTierAllowed"], "must be no more than 1000");
    }
    const bool all_together =
        job().min_available == job().pods() &&
        std::ranges::all_of(job().tasks, [](const auto& task) { return task.depends_on.empty(); });
    if (topology["mode"].text("hard") == "hard" && !all_together) {
      complain(field + ".mode", topology["mode"],
               "binds those alone who start together, and here some start later; write soft, or leave out "
               "minAvailable and dependsOn");
    }
  }

  const Value& object_;
  const Value& spec_;
  ReadVolcanoJob read_;
};

}  // namespace

std::string_view name_of(VolcanoEvent event) { return kEvents.at(static_cast<std::size_t>(event)); }
std::string_view name_of(VolcanoAction action) { return kActions.at(static_cast<std::size_t>(action)); }

bool VolcanoPolicy::names(VolcanoEvent event) const { return std::ranges::find(events, event) != events.end(); }

std::int64_t VolcanoJob::pods() const {
  std::int64_t sum = 0;
  for (const VolcanoTask& task : tasks) sum += task.replicas;
  return sum;
}

std::int64_t VolcanoJob::gang_of(std::size_t task) const {
  std::int64_t sum = 0;
  for (std::size_t i = 0; i < tasks.size(); ++i) sum += share_gang(task, i) ? tasks[i].in_gang : 0;
  return sum;
}

bool VolcanoJob::share_gang(std::size_t a, std::size_t b) const {
  return a == b || (tasks[a].depends_on.empty() && tasks[b].depends_on.empty());
}

bool VolcanoJob::is_elastic(std::size_t task) const {
  std::int64_t sum = 0;
  for (std::size_t i = 0; i < tasks.size(); ++i) sum += share_gang(task, i) ? tasks[i].replicas : 0;
  return sum > gang_of(task);
}

ReadVolcanoJob read_volcano_job(const Value& object) { return VolcanoJobReader(object).read(); }

std::string volcano_pod_name(std::string_view job, std::string_view task, std::int64_t index) {
  std::string name(job);
  return name.append("-").append(task).append("-").append(std::to_string(index));
}

std::string volcano_host_name(std::string_view job, const Value& pod_template_spec, const std::string& pod_name) {
  std::string name(pod_template_spec["hostname"].is_empty() ? pod_name : pod_template_spec["hostname"].text());
  const Value& subdomain = pod_template_spec["subdomain"];
  return name.append(".").append(subdomain.is_empty() ? job : subdomain.text());
}

}  // namespace berth
