// How all kinds but pods are shown.
#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "apiserver/table_printer.h"
#include "manifest/reservation_spec.h"
#include "manifest/timestamp.h"

namespace berth {

namespace {

const TableColumn kName{"Name", "The name of the object."};
const TableColumn kAge{"Age", "The time since it was created."};
const TableColumn kCreatedAt{"Created At", "When it was created.", false, "date"};

Value text_or(const Value& value, std::string_view otherwise) { return value.is_empty() ? Value(otherwise) : value; }

std::string lower_case(std::string_view text) {
  std::string lower(text);
  std::ranges::transform(lower, lower.begin(),
                         [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; });
  return lower;
}

// ---- nodes

std::string node_status(const Value& node) {
  const Value& ready = condition_of(node, "Ready");
  std::string status = ready.is_null() ? "Unknown" : ready["status"].text() == "True" ? "Ready" : "NotReady";
  if (node["spec"]["unschedulable"].truth()) status += ",SchedulingDisabled";
  return status;
}

std::string node_roles(const Value& node) {
  constexpr std::string_view kRolePrefix = "node-role.kubernetes.io/";
  std::vector<std::string> roles;
  for (const Value::Member& label : node["metadata"]["labels"].members()) {
    if (label.key.starts_with(kRolePrefix) && label.key.size() > kRolePrefix.size()) {
      roles.push_back(label.key.substr(kRolePrefix.size()));
    } else if (label.key == "kubernetes.io/role" && !label.value.is_empty()) {
      roles.emplace_back(label.value.text());
    }
  }
  std::ranges::sort(roles);
  return roles.empty() ? "<none>" : joined(roles);
}

Value node_address(const Value& node, std::string_view type) {
  for (const Value& address : node["status"]["addresses"].items()) {
    if (address["type"].text() == type) return Value(address["address"].text());
  }
  return Value("<none>");
}

Value::List node_cells(const Value& node, Time now) {
  const Value& about = node["status"]["nodeInfo"];
  return {name_cell(node),
          node_status(node),
          node_roles(node),
          age_cell(node, now),
          Value(about["kubeletVersion"].text()),
          node_address(node, "InternalIP"),
          node_address(node, "ExternalIP"),
          text_or(about["osImage"], "<unknown>"),
          text_or(about["kernelVersion"], "<unknown>"),
          text_or(about["containerRuntimeVersion"], "<unknown>")};
}

// ---- jobs

std::string job_status(const Value& job) {
  if (condition_is_true(job, "Complete")) return "Complete";
  if (condition_is_true(job, "Failed")) return "Failed";
  if (!job["metadata"]["deletionTimestamp"].is_empty()) return "Terminating";
  for (const char* const type : {"Suspended", "FailureTarget", "SuccessCriteriaMet"}) {
    if (condition_is_true(job, type)) return type;
  }
  return "Running";
}

std::string job_completions(const Value& job) {
  const std::string succeeded = std::to_string(job["status"]["succeeded"].integer());
  const Value& completions = job["spec"]["completions"];
  if (completions.is_integer()) return succeeded + "/" + std::to_string(completions.integer());
  const std::int64_t parallelism = job["spec"]["parallelism"].integer();
  return succeeded + (parallelism > 1 ? "/1 of " + std::to_string(parallelism) : "/1");
}

std::string job_duration(const Value& job, Time now) {
  const auto start = parse_timestamp(job["status"]["startTime"].text());
  if (!start) return "";
  auto end = parse_timestamp(job["status"]["completionTime"].text());
  // A failed job has no completion time, and still does not run on.
  if (!end && condition_is_true(job, "Failed")) {
    end = parse_timestamp(condition_of(job, "Failed")["lastTransitionTime"].text());
  }
  return format_age(end.value_or(now) - *start);
}

std::string selector_text(const Value& labels) {
  std::vector<std::string> pairs;
  for (const Value::Member& label : labels.members())
    pairs.push_back(label.key + "=" + std::string(label.value.text()));
  std::ranges::sort(pairs);
  return pairs.empty() ? "<none>" : joined(pairs);
}

Value::List job_cells(const Value& job, Time now) {
  std::vector<std::string> names, images;
  for (const Value& container : job["spec"]["template"]["spec"]["containers"].items()) {
    names.emplace_back(container["name"].text());
    images.emplace_back(container["image"].text());
  }
  return {
      name_cell(job),     job_status(job), job_completions(job), job_duration(job, now),
      age_cell(job, now), joined(names),   joined(images),       selector_text(job["spec"]["selector"]["matchLabels"])};
}

// ---- events, of either view

const Value& either(const Value& object, const char* core, const char* newer) {
  const Value* const found = object.find(core);
  return found == nullptr ? object[newer] : *found;
}

std::string event_source(const Value& event) {
  const Value& source = either(event, "source", "deprecatedSource");
  std::string_view component = source["component"].text();
  std::string_view host = source["host"].text();
  if (component.empty()) component = either(event, "reportingComponent", "reportingController").text();
  if (host.empty()) host = event["reportingInstance"].text();
  return std::string(component) + (host.empty() ? "" : ", " + std::string(host));
}

Value::List event_cells(const Value& event, Time now) {
  const Value& first_time = either(event, "firstTimestamp", "deprecatedFirstTimestamp");
  const Value& last_time = either(event, "lastTimestamp", "deprecatedLastTimestamp");
  const std::string first = age_since((first_time.is_empty() ? event["eventTime"] : first_time).text(), now);
  std::string last = last_time.is_empty() ? first : age_since(last_time.text(), now);
  std::int64_t count = either(event, "count", "deprecatedCount").integer();
  const Value& series = event["series"];
  if (!series.is_null()) {
    last = age_since(series["lastObservedTime"].text(), now);
    count = series["count"].integer();
  }
  const Value& about = either(event, "involvedObject", "regarding");
  std::string target = lower_case(about["kind"].text());
  if (!about["name"].is_empty()) target += "/" + std::string(about["name"].text());
  return {last,
          Value(event["type"].text()),
          Value(event["reason"].text()),
          target,
          Value(about["fieldPath"].text()),
          event_source(event),
          Value(either(event, "message", "note").text()),
          first,
          std::max<std::int64_t>(count, 1),
          name_cell(event)};
}

// ---- small kinds

Value::List name_and_age(const Value& object, Time now) { return {name_cell(object), age_cell(object, now)}; }

Value::List name_and_creation(const Value& object, Time) {
  return {name_cell(object), Value(object["metadata"]["creationTimestamp"].text())};
}

Value::List namespace_cells(const Value& object, Time now) {
  return {name_cell(object), Value(object["status"]["phase"].text()), age_cell(object, now)};
}

Value::List quota_cells(const Value& quota, Time now) {
  std::vector<std::string> requests, limits;
  for (const Value::Member& hard : quota["status"]["hard"].members()) {
    const std::string used(quota["status"]["used"][hard.key].text("0"));
    auto& texts = hard.key.starts_with("limits.") ? limits : requests;
    texts.push_back(hard.key + ": " + used + "/" + std::string(hard.value.text()));
  }
  std::ranges::sort(requests);
  std::ranges::sort(limits);
  return {name_cell(quota), joined(requests, ", "), joined(limits, ", "), age_cell(quota, now)};
}

std::int64_t data_count(const Value& object) {
  return static_cast<std::int64_t>(object["data"].members().size() + object["binaryData"].members().size());
}

Value::List config_map_cells(const Value& object, Time now) {
  return {name_cell(object), data_count(object), age_cell(object, now)};
}

Value::List secret_cells(const Value& secret, Time now) {
  return {name_cell(secret), Value(secret["type"].text()), data_count(secret), age_cell(secret, now)};
}

Value::List service_account_cells(const Value& account, Time now) {
  return {name_cell(account), account["secrets"].items().size(), age_cell(account, now)};
}

Value::List binding_cells(const Value& binding, Time now) {
  const Value& role = binding["roleRef"];
  std::map<std::string_view, std::vector<std::string>> subjects;
  for (const Value& subject : binding["subjects"].items()) {
    std::string name(subject["name"].text());
    if (subject["kind"].text() == "ServiceAccount") name = std::string(subject["namespace"].text()) + "/" + name;
    subjects[subject["kind"].text()].push_back(std::move(name));
  }
  return {name_cell(binding),
          std::string(role["kind"].text()) + "/" + std::string(role["name"].text()),
          age_cell(binding, now),
          joined(subjects["User"], ", "),
          joined(subjects["Group"], ", "),
          joined(subjects["ServiceAccount"], ", ")};
}

Value::List priority_class_cells(const Value& priority, Time now) {
  return {name_cell(priority), priority["value"].integer(), priority["globalDefault"].truth(), age_cell(priority, now),
          text_or(priority["preemptionPolicy"], "PreemptLowerPriority")};
}

Value::List budget_cells(const Value& budget, Time now) {
  const auto bound = [&](const char* field) {
    const Value& value = budget["spec"][field];
    return value.is_integer() ? Value(std::to_string(value.integer())) : text_or(value, "N/A");
  };
  return {name_cell(budget), bound("minAvailable"), bound("maxUnavailable"),
          budget["status"]["disruptionsAllowed"].integer(), age_cell(budget, now)};
}

Value::List lease_cells(const Value& lease, Time now) {
  return {name_cell(lease), Value(lease["spec"]["holderIdentity"].text()), age_cell(lease, now)};
}

// "h100:8,h100.cpu:64".
std::string amounts_text(const Value& amounts) {
  std::string text;
  for (const Value::Member& each : amounts.members()) {
    const std::string amount =
        each.value.is_integer() ? std::to_string(each.value.integer()) : std::string(each.value.text());
    text += (text.empty() ? "" : ",") + each.key + ":" + amount;
  }
  return text;
}

// "12.5 left of 100"; what is granted beside the budget counts.
std::string budget_text(const Value& queue) {
  const Value& budget = queue["spec"]["budget"];
  const Value& status = queue["status"]["budget"];
  if (budget.is_null()) return "";
  std::string given;
  const auto add = [&](const Value& hours) {
    given +=
        (given.empty() ? "" : "+") + (hours.is_integer() ? std::to_string(hours.integer()) : std::string(hours.text()));
  };
  add(budget["gpuHours"]);
  for (const Value& grant : budget["grants"].items()) add(grant["gpuHours"]);
  return status.is_null() ? given : std::string(status["left"].text()) + " left of " + given;
}

Value::List queue_cells(const Value& queue, Time now) {
  return {name_cell(queue),
          text_or(queue["spec"]["order"], "as its parent"),
          Value(queue["spec"]["parent"].text()),
          amounts_text(queue["spec"]["guarantee"]),
          amounts_text(queue["status"]["used"]),
          budget_text(queue),
          queue["status"]["pending"].integer(),
          queue["status"]["running"].integer(),
          age_cell(queue, now)};
}

Value::List flavor_cells(const Value& flavor, Time now) {
  const std::int64_t memory_mib = flavor["spec"]["memoryMiB"].integer();
  return {name_cell(flavor), Value(flavor["spec"]["gpuModel"].text()),
          memory_mib == 0 ? std::string() : std::to_string(memory_mib) + "Mi", age_cell(flavor, now)};
}

// "2026-11-21T08:00:00Z", the last moment by which somebody has to; empty: nobody has.
std::string parting_text(const Value& circle) {
  std::optional<Time> last;
  for (const Value& each : circle["status"]["parting"].items()) {
    const auto by = parse_timestamp(each["by"].text());
    if (by && (!last || *by > *last)) last = by;
  }
  return last ? format_timestamp(*last) : "";
}

Value::List circle_cells(const Value& circle, Time now) {
  std::string queues;
  for (const Value& each : circle["spec"]["queues"].items()) {
    queues += (queues.empty() ? "" : ",") + std::string(each.text());
  }
  return {name_cell(circle), queues, Value(condition_of(circle, "InForce")["status"].text()), parting_text(circle),
          age_cell(circle, now)};
}

Value::List reservation_cells(const Value& reservation, Time now) {
  const Value& spec = reservation["spec"];
  const Value& status = reservation["status"];
  const bool maintenance = spec["queue"].is_empty();
  const auto from = parse_timestamp((status["from"].is_empty() ? spec["from"] : status["from"]).text());
  const auto count_of = [](std::int64_t count, const std::string& what) {
    return std::to_string(count) + " " + what + (count == 1 ? "" : "s");
  };
  return {name_cell(reservation),
          maintenance ? Value("maintenance") : Value(spec["queue"].text()),
          maintenance ? Value(count_of(static_cast<std::int64_t>(spec["nodes"].items().size()), "node"))
                      : Value(count_of(spec["gpus"].integer(), "GPU")),
          from ? format_timestamp(*from) : std::string(spec["from"].text()),
          times_text(spec),
          Value(status["phase"].text()),
          maintenance || status["gpus"].is_null() ? Value("") : Value(std::to_string(status["gpus"].integer())),
          age_cell(reservation, now)};
}

Value::List defragmentation_cells(const Value& asked, Time now) {
  const Value& plan = asked["status"]["plan"];
  const auto number = [](const Value& value) {
    return value.is_null() ? Value("") : Value(std::to_string(value.integer()));
  };
  return {name_cell(asked),
          asked["spec"]["slice"].is_empty() ? Value(std::to_string(asked["spec"]["gpus"].integer(8)))
                                            : Value(asked["spec"]["slice"].text()),
          Value(asked["spec"]["hours"].text()),
          Value(asked["status"]["phase"].text()),
          plan.is_null() ? Value("") : Value(std::to_string(plan["moves"].items().size())),
          number(plan["podsBefore"]),
          number(plan["podsAfter"]),
          age_cell(asked, now)};
}

Value::List what_if_cells(const Value& asked, Time now) {
  const Value& status = asked["status"];
  const char* const state = !status["problem"].is_empty() ? "Refused" : (status["answer"].is_null() ? "" : "Answered");
  return {name_cell(asked), Value(std::to_string(asked["spec"]["changes"].items().size())), Value(state),
          age_cell(asked, now)};
}

Value::List cluster_queue_cells(const Value& queue, Time) {
  return {name_cell(queue), Value(either(queue["spec"], "cohortName", "cohort").text()),
          text_or(queue["spec"]["queueingStrategy"], "BestEffortFIFO"), queue["status"]["pendingWorkloads"].integer(),
          queue["status"]["admittedWorkloads"].integer()};
}

Value::List local_queue_cells(const Value& queue, Time) {
  return {name_cell(queue), Value(queue["spec"]["clusterQueue"].text()), queue["status"]["pendingWorkloads"].integer(),
          queue["status"]["admittedWorkloads"].integer()};
}

Value::List hyper_node_cells(const Value& hyper_node, Time now) {
  const Value& tier = hyper_node["spec"]["tier"];
  return {name_cell(hyper_node), tier.is_integer() ? Value(std::to_string(tier.integer())) : tier,
          hyper_node["status"]["nodeCount"].integer(), Value(condition_of(hyper_node, "Ready")["reason"].text()),
          age_cell(hyper_node, now)};
}

Value::List pod_group_cells(const Value& group, Time now) {
  const Value& spec = group["spec"];
  const Value& condition = condition_of(group, "PodGroupInitiallyScheduled");
  const std::string_view status = condition["status"].text();
  return {name_cell(group),
          spec["schedulingPolicy"].find("gang") == nullptr
              ? "basic"
              : "gang of " + std::to_string(spec["schedulingPolicy"]["gang"]["minCount"].integer()),
          Value(spec["workloadRef"]["workloadName"].text("<none>")),
          status == "True"    ? "Scheduled"
          : status == "False" ? std::string(condition["reason"].text())
                              : "<unknown>",
          age_cell(group, now)};
}

// Volcano's columns, and the coscheduling plugin's, have their order from their own definitions.
Value::List volcano_group_cells(const Value& group, Time now) {
  const Value& status = group["status"];
  return {name_cell(group),
          Value(status["phase"].text()),
          group["spec"]["minMember"].integer(),
          status["running"].integer(),
          age_cell(group, now),
          Value(group["spec"]["queue"].text())};
}

Value::List coscheduling_group_cells(const Value& group, Time now) {
  const Value& status = group["status"];
  return {name_cell(group),
          Value(status["phase"].text()),
          group["spec"]["minMember"].integer(),
          status["running"].integer(),
          status["succeeded"].integer(),
          status["failed"].integer(),
          age_cell(group, now)};
}

// As the columns of its definition say.
Value::List job_set_cells(const Value& set, Time now) {
  const Value& status = set["status"];
  const Value& suspend = set["spec"]["suspend"];
  return {name_cell(set),
          Value(status["terminalState"].text()),
          status["restarts"].is_null() ? Value("") : Value(std::to_string(status["restarts"].integer())),
          Value(condition_of(set, "Completed")["status"].text()),
          suspend.is_null() ? Value("") : Value(suspend.truth() ? "true" : "false"),
          age_cell(set, now)};
}

// Of Kubeflow's jobs: the last condition is the state.
Value::List training_job_cells(const Value& job, Time now) {
  const Value::List& conditions = job["status"]["conditions"].items();
  return {name_cell(job), Value(conditions.empty() ? std::string_view() : conditions.back()["type"].text()),
          age_cell(job, now)};
}

Value::List ray_cluster_cells(const Value& cluster, Time now) {
  const Value& status = cluster["status"];
  const auto amount = [&](std::string_view field) {
    const Value& value = status[field];
    return value.is_integer() ? Value(std::to_string(value.integer())) : Value(value.text());
  };
  return {name_cell(cluster),
          status["desiredWorkerReplicas"].integer(),
          status["availableWorkerReplicas"].integer(),
          amount("desiredCPU"),
          amount("desiredMemory"),
          amount("desiredGPU"),
          Value(status["state"].text()),
          age_cell(cluster, now)};
}

Value::List ray_job_cells(const Value& job, Time now) {
  const Value& status = job["status"];
  return {name_cell(job),
          Value(status["jobStatus"].text()),
          Value(status["jobDeploymentStatus"].text()),
          Value(status["rayClusterName"].text()),
          Value(status["startTime"].text()),
          Value(status["endTime"].text()),
          age_cell(job, now)};
}

Value::List leader_worker_set_cells(const Value& set, Time now) {
  const Value& status = set["status"];
  return {name_cell(set), status["readyReplicas"].integer(), set["spec"]["replicas"].integer(1),
          status["updatedReplicas"].integer(), age_cell(set, now)};
}

Value::List volcano_job_cells(const Value& job, Time now) {
  const Value& status = job["status"];
  return {name_cell(job),
          Value(status["state"]["phase"].text()),
          status["minAvailable"].integer(),
          status["running"].integer(),
          age_cell(job, now),
          Value(job["spec"]["queue"].text())};
}

Value::List kueue_workload_cells(const Value& workload, Time now) {
  return {name_cell(workload),
          Value(workload["spec"]["queueName"].text()),
          Value(workload["status"]["admission"]["clusterQueue"].text()),
          Value(condition_of(workload, "Admitted")["status"].text()),
          Value(condition_of(workload, "Finished")["status"].text()),
          age_cell(workload, now)};
}

Value::List workload_cells(const Value& workload, Time now) {
  std::string status = "Pending";
  for (const char* const type : {"Finished", "Evicted", "Admitted"}) {
    if (!condition_is_true(workload, type)) continue;
    status = type;
    break;
  }
  return {name_cell(workload), Value(workload["spec"]["queue"].text()), status,
          Value(workload["status"]["reason"].text()), age_cell(workload, now)};
}

const TablePrinter kTrainingJobPrinter = {{kName, {"State", "How it is doing."}, kAge}, training_job_cells};

const std::map<std::string, TablePrinter, std::less<>>& small_printers() {
  static const TablePrinter kCreation{{kName, kCreatedAt}, name_and_creation};
  static const TablePrinter kBinding{{kName,
                                      {"Role", "The role that is given."},
                                      kAge,
                                      {"Users", "To these users.", true},
                                      {"Groups", "To members of these groups.", true},
                                      {"ServiceAccounts", "To these service accounts.", true}},
                                     binding_cells};
  static const std::map<std::string, TablePrinter, std::less<>> printers = {
      {"namespaces", {{kName, {"Status", "Active or Terminating."}, kAge}, namespace_cells}},
      {"resourcequotas",
       {{kName, {"Request", "Used and allowed amounts."}, {"Limit", "Used and allowed limits."}, kAge}, quota_cells}},
      {"configmaps", {{kName, {"Data", "How many entries it has."}, kAge}, config_map_cells}},
      {"secrets", {{kName, {"Type", "What it is for."}, {"Data", "How many entries it has."}, kAge}, secret_cells}},
      {"serviceaccounts", {{kName, {"Secrets", "How many secrets it may use."}, kAge}, service_account_cells}},
      {"limitranges", kCreation},
      {"roles.rbac.authorization.k8s.io", kCreation},
      {"clusterroles.rbac.authorization.k8s.io", kCreation},
      {"rolebindings.rbac.authorization.k8s.io", kBinding},
      {"clusterrolebindings.rbac.authorization.k8s.io", kBinding},
      {"priorityclasses.scheduling.k8s.io",
       {{kName,
         {"Value", "The priority as a number.", false, "integer"},
         {"Global-Default", "Whether pods without a class get it.", false, "boolean"},
         kAge,
         {"PreemptionPolicy", "Whether it may take room from lower ones."}},
        priority_class_cells}},
      {"poddisruptionbudgets.policy",
       {{kName,
         {"Min Available", "How many pods must stay."},
         {"Max Unavailable", "How many pods may be gone."},
         {"Allowed Disruptions", "How many may be evicted now.", false, "integer"},
         kAge},
        budget_cells}},
      {"leases.coordination.k8s.io", {{kName, {"Holder", "Who holds it."}, kAge}, lease_cells}},
      {"queues.berth.dev",
       {{kName,
         {"Order", "Whose turn it is."},
         {"Parent", "The queue above it."},
         {"Guarantee", "Its floor."},
         {"Used", "What it and the queues below it hold."},
         {"Budget", "GPU-hours that are left, of those given and granted."},
         {"Pending", "Workloads that wait.", false, "integer"},
         {"Running", "Workloads that run.", false, "integer"},
         kAge},
        queue_cells}},
      {"clusterqueues.kueue.x-k8s.io",
       {{kName,
         {"Cohort", "The cohort that it belongs to."},
         {"Strategy", "Whether who does not fit holds up who does.", true},
         {"Pending Workloads", "Workloads that wait.", false, "integer"},
         {"Admitted Workloads", "Workloads that run.", true, "integer"}},
        cluster_queue_cells}},
      {"localqueues.kueue.x-k8s.io",
       {{kName,
         {"ClusterQueue", "Where it leads."},
         {"Pending Workloads", "Workloads that wait.", false, "integer"},
         {"Admitted Workloads", "Workloads that run.", false, "integer"}},
        local_queue_cells}},
      {"workloads.kueue.x-k8s.io",
       {{kName,
         {"Queue", "The LocalQueue in which it waits."},
         {"Reserved in", "The ClusterQueue of which it holds something."},
         {"Admitted", "Whether it runs."},
         {"Finished", "Whether it is over."},
         kAge},
        kueue_workload_cells}},
      {"workloadpriorityclasses.kueue.x-k8s.io",
       {{kName, {"Value", "The priority as a number.", false, "integer"}},
        [](const Value& object, Time) -> Value::List { return {name_cell(object), object["value"].integer()}; }}},
      {"queues.scheduling.volcano.sh",
       {{kName, {"Parent", "The queue above it."}},
        [](const Value& object, Time) -> Value::List {
          return {name_cell(object), Value(object["spec"]["parent"].text())};
        }}},
      {"podgroups.scheduling.k8s.io",
       {{kName,
         {"Policy", "How many of its pods start together."},
         {"Workload", "What it was made from."},
         {"Status", "Whether its pods have had their places."},
         kAge},
        pod_group_cells}},
      {"podgroups.scheduling.volcano.sh",
       {{kName,
         {"Status", "How its pods stand."},
         {"minMember", "How many start together.", false, "integer"},
         {"Runnings", "How many have their places.", false, "integer"},
         kAge,
         {"Queue", "Where its pods wait.", true}},
        volcano_group_cells}},
      {"podgroups.scheduling.x-k8s.io",
       {{kName,
         {"Phase", "How its pods stand."},
         {"MinMember", "How many start together.", false, "integer"},
         {"Running", "How many have their places.", false, "integer"},
         {"Succeeded", "How many have succeeded.", false, "integer"},
         {"Failed", "How many have failed.", false, "integer"},
         kAge},
        coscheduling_group_cells}},
      {"jobs.batch.volcano.sh",
       {{kName,
         {"Status", "Its phase."},
         {"minAvailable", "How many of its pods start together.", false, "integer"},
         {"Runnings", "How many of its pods run.", false, "integer"},
         kAge,
         {"Queue", "Where it waits.", true}},
        volcano_job_cells}},
      {"hypernodes.topology.volcano.sh",
       {{kName,
         {"Tier", "How near its nodes are: the lower the nearer."},
         {"NodeCount", "How many nodes are in it.", false, "integer"},
         {"Ready", "Whether it is as it was meant.", true},
         kAge},
        hyper_node_cells}},
      {"jobsets.jobset.x-k8s.io",
       {{kName,
         {"TerminalState", "How it ended, once it has."},
         {"Restarts", "How often it has started anew."},
         {"Completed", "Whether it is complete."},
         {"Suspended", "Whether its Jobs are to be suspended."},
         kAge},
        job_set_cells}},
      {"leaderworkersets.leaderworkerset.x-k8s.io",
       {{kName,
         {"Ready", "How many of its groups are ready.", false, "integer"},
         {"Desired", "How many groups there are to be.", false, "integer"},
         {"Up-to-date", "How many groups are of the newest template.", false, "integer"},
         kAge},
        leader_worker_set_cells}},
      {"pytorchjobs.kubeflow.org", kTrainingJobPrinter},
      {"tfjobs.kubeflow.org", kTrainingJobPrinter},
      {"xgboostjobs.kubeflow.org", kTrainingJobPrinter},
      {"paddlejobs.kubeflow.org", kTrainingJobPrinter},
      {"jaxjobs.kubeflow.org", kTrainingJobPrinter},
      {"trainjobs.trainer.kubeflow.org", kTrainingJobPrinter},
      {"rayclusters.ray.io",
       {{kName,
         {"Desired Workers", "How many workers there are to be.", false, "integer"},
         {"Available Workers", "How many of them run.", false, "integer"},
         {"CPUs", "What they request together."},
         {"Memory", "What they request together."},
         {"GPUs", "What they request together."},
         {"Status", "How it is doing."},
         kAge},
        ray_cluster_cells}},
      {"rayjobs.ray.io",
       {{kName,
         {"Job Status", "How the job is doing."},
         {"Deployment Status", "How far its operator is with it."},
         {"Ray Cluster Name", "Where it runs."},
         {"Start Time", "When it began."},
         {"End Time", "When it ended."},
         kAge},
        ray_job_cells}},
      {"resourceflavors.berth.dev",
       {{kName, {"GPU Model", "The model as nodes report it."}, {"Memory", "Memory of one GPU."}, kAge}, flavor_cells}},
      {"reservations.berth.dev",
       {{kName,
         {"For", "Which queue may use it; or maintenance."},
         {"What", "How many GPUs, or nodes."},
         {"From", "When it begins next, or began that lasts."},
         {"Length", "How long it lasts."},
         {"Phase", "Coming, Lasting, Over or NotInForce."},
         {"Has", "How many GPUs it has, or will have as it stands."},
         kAge},
        reservation_cells}},
      {"defragmentations.berth.dev",
       {{kName,
         {"GPUs", "Of a pod for which room is made."},
         {"Hours", "When it is carried out by itself."},
         {"Phase", "Planned, NothingToMove, CarriedOut or NotCarriedOut."},
         {"Moves", "How many workloads the plan moves."},
         {"Fit", "How many such pods there is room for."},
         {"Then", "And would be."},
         kAge},
        defragmentation_cells}},
      {"whatifs.berth.dev",
       {{kName, {"Changes", "How many."}, {"State", "Answered or Refused."}, kAge}, what_if_cells}},
      {"trustcircles.berth.dev",
       {{kName,
         {"Queues", "Who trusts each other."},
         {"In Force", "Whether all of them do."},
         {"Parting By", "When those who trusted each other have to have parted."},
         kAge},
        circle_cells}},
      {"workloads.berth.dev",
       {{kName,
         {"Queue", "The queue in which it waits."},
         {"Status", "Pending, Admitted, Evicted or Finished."},
         {"Reason", "Why it does not run yet."},
         kAge},
        workload_cells}},
  };
  return printers;
}

}  // namespace

TablePrinter node_printer() {
  return {{kName,
           {"Status", "Whether the node is ready and takes pods."},
           {"Roles", "What it is for."},
           kAge,
           {"Version", "The version of its agent."},
           {"Internal-IP", "Its address inside the cluster.", true},
           {"External-IP", "Its address outside.", true},
           {"OS-Image", "Its operating system.", true},
           {"Kernel-Version", "Its kernel.", true},
           {"Container-Runtime", "What runs its containers.", true}},
          node_cells};
}

TablePrinter job_printer() {
  return {{kName,
           {"Status", "How the job stands, in one word."},
           {"Completions", "Pods that succeeded, of those wanted."},
           {"Duration", "How long it has run."},
           kAge,
           {"Containers", "The names of its containers.", true},
           {"Images", "Their images.", true},
           {"Selector", "How it knows its pods.", true}},
          job_cells};
}

TablePrinter event_printer() {
  return {{{"Last Seen", "The time since it happened last."},
           {"Type", "Normal or Warning."},
           {"Reason", "What happened, in one word."},
           {"Object", "To what it happened."},
           {"Subobject", "To which part of it.", true},
           {"Source", "Who says so.", true},
           {"Message", "What happened, in words."},
           {"First Seen", "The time since it happened first.", true},
           {"Count", "How often it happened.", true},
           {"Name", "The name of the event.", true}},
          event_cells};
}

TablePrinter small_printer(const KindInfo& kind) {
  const auto found = small_printers().find(kind.qualified());
  return found == small_printers().end() ? TablePrinter{{kName, kAge}, name_and_age} : found->second;
}

}  // namespace berth
