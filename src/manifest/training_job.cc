// Jobs of Kubeflow's training operator (PyTorchJob, TFJob and others of the same form) and of its MPI operator: all of their
// replicas start together, unless they say that fewer will do.
#include <algorithm>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "manifest/gang_reading.h"

namespace berth {
namespace {

constexpr const char* kLauncher = "launcher";
constexpr const char* kWorker = "worker";
// Whom the others look for: one of these is among the first, however few those are.
constexpr const char* kHeads[] = {"master", "chief", kLauncher};

using Types = std::span<const std::string_view>;  // of replicas, as the kind calls them
constexpr std::string_view kMasterTypes[] = {"Master", "Worker"};
constexpr std::string_view kTfTypes[] = {"Chief", "Master", "PS", "Worker", "Evaluator"};
constexpr std::string_view kJaxTypes[] = {"Worker"};
constexpr std::string_view kMpiTypes[] = {"Launcher", "Worker"};

// The operators make no pods of others.
void check_type(GangReading& reading, const Value::Member& replicas, Types types, const std::string& path) {
  std::string known;
  for (const std::string_view each : types) {
    if (in_small_letters(each) == in_small_letters(replicas.key)) return;
    known.append(known.empty() ? "" : ", ").append(each);
  }
  reading.complain(path + "[" + replicas.key + "]", replicas.key, "is none of its replicas; write one of " + known);
}

TaskCounts replicas_of(GangReading& reading, const Value& spec, const std::string& field, Types types,
                       std::int64_t absent_workers) {
  TaskCounts tasks;
  const std::string path = "spec." + field;
  for (const Value::Member& each : spec[field].members()) {
    check_type(reading, each, types, path);
    const std::string task = in_small_letters(each.key);
    const std::int64_t absent = task == kWorker ? absent_workers : 1;
    tasks[task] += reading.count_at(each.value["replicas"], path + "[" + each.key + "].replicas", absent, 0);
  }
  if (tasks.empty()) reading.complain(path, spec[field], "names no replicas; write what its pods are made of");
  return tasks;
}

// What goes beyond the least number of workers comes after the others.
TaskCounts least_of(GangReading& reading, const Value& spec, const TaskCounts& all) {
  TaskCounts least = all;
  const Value& elastic = spec["elasticPolicy"]["minReplicas"];
  const std::int64_t workers = reading.count_at(elastic, "spec.elasticPolicy.minReplicas", kPodsPerWorkloadMax, 1);
  const Value& most = spec["elasticPolicy"]["maxReplicas"];
  if (elastic.is_integer() && most.is_integer() && most.integer() < elastic.integer()) {
    reading.complain("spec.elasticPolicy.maxReplicas", most, "is less than minReplicas; write as many or more");
  }
  if (const auto known = least.find(kWorker); known != least.end()) known->second = std::min(known->second, workers);
  return least;
}

// A number of pods that will do goes before what their tasks say.
void read_min_available(GangReading& reading, const Value& policy, const TaskCounts& all) {
  const Value& asked = policy["minAvailable"];
  if (asked.is_null()) return;
  const std::string field = "spec.runPolicy.schedulingPolicy.minAvailable";
  const std::int64_t count = reading.count_at(asked, field, 1, 0);
  if (count > sum_of(all)) {
    return reading.complain(
        field, asked,
        "is more than its replicas are, which are " + std::to_string(sum_of(all)) + " pods; write so many or fewer");
  }
  PodGroupSpec& made = reading.made.spec;
  made.at_least = std::max<std::int64_t>(count, 1);
  made.of_tasks.clear();
  for (const char* const head : kHeads) {
    const auto known = all.find(head);
    if (known != all.end() && known->second <= count && count < sum_of(all)) made.of_tasks.insert(*known);
  }
}

void read_policy(GangReading& reading, const Value& policy) {
  const std::string path = "spec.runPolicy.schedulingPolicy.";
  if (!policy["queue"].is_empty()) reading.made.spec.queue = policy["queue"].text();
  reading.leave_out(path + "minResources", policy["minResources"], "what its pods request is counted");
  reading.leave_out(path + "priorityClass", policy["priorityClass"],
                    "write it as priorityClassName into the pod templates: theirs alone counts");
  reading.leave_out(path + "scheduleTimeoutSeconds", policy["scheduleTimeoutSeconds"],
                    "nothing is held for who waits, so nothing has to be given back");
}

PodGroupReading read_training_job(const Value& object, const std::string& field, Types types) {
  GangReading reading(object);
  const Value& spec = object["spec"];
  const TaskCounts all = replicas_of(reading, spec, field, types, 1);
  reading.start_with(least_of(reading, spec, all), all, "spec." + field);
  const Value& policy = spec["runPolicy"]["schedulingPolicy"];
  read_min_available(reading, policy, all);
  read_policy(reading, policy);
  return std::move(reading.made);
}

}  // namespace

PodGroupReading read_pytorch_job(const Value& object) {
  return read_training_job(object, "pytorchReplicaSpecs", kMasterTypes);
}
PodGroupReading read_tf_job(const Value& object) { return read_training_job(object, "tfReplicaSpecs", kTfTypes); }
PodGroupReading read_xgboost_job(const Value& object) {
  return read_training_job(object, "xgbReplicaSpecs", kMasterTypes);
}
PodGroupReading read_paddle_job(const Value& object) {
  return read_training_job(object, "paddleReplicaSpecs", kMasterTypes);
}
PodGroupReading read_jax_job(const Value& object) { return read_training_job(object, "jaxReplicaSpecs", kJaxTypes); }

// Its launcher is one of those who start together, unless it is made only when all workers run: then it comes after them.
PodGroupReading read_mpi_job(const Value& object) {
  GangReading reading(object);
  const Value& spec = object["spec"];
  const std::string field = "mpiReplicaSpecs";
  const TaskCounts all = replicas_of(reading, spec, field, kMpiTypes, 0);
  reading.start_with(all, all, "spec." + field);
  const Value& policy = spec["runPolicy"]["schedulingPolicy"];
  read_min_available(reading, policy, all);
  read_policy(reading, policy);
  const auto launcher = all.find(kLauncher);
  if (spec["launcherCreationPolicy"].text() != "WaitForWorkersReady" || launcher == all.end())
    return std::move(reading.made);
  PodGroupSpec& made = reading.made.spec;
  made.apart.insert(*launcher);
  made.of_tasks.clear();
  const std::int64_t workers = std::max<std::int64_t>(sum_of(all) - launcher->second, 1);
  made.at_least = std::min(made.at_least, workers);
  return std::move(reading.made);
}

}  // namespace berth
