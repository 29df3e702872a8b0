// A Job of Volcano's and its pods, with a server that takes everything. For tests.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "controllers/controller.h"
#include "controllers/job_pods.h"
#include "controllers/volcano_job_plan.h"
#include "controllers/volcano_job_pods.h"
#include "manifest/labels.h"
#include "manifest/timestamp.h"
#include "manifest/yaml.h"

namespace berth {

class VolcanoJobWorld {
 public:
  // "master" of one and "worker" of two, and what `spec` says beside or instead.
  explicit VolcanoJobWorld(const std::string& spec = "{}", const std::string& metadata = "{}") {
    job = yaml("{apiVersion: batch.volcano.sh/v1alpha1, kind: Job, spec: {tasks: [" + task("master", 1) + ", " +
               task("worker", 2) + "]}}");
    job.set("metadata", yaml(metadata));
    Value& own = job.at("metadata");
    own.set("name", "train");
    own.set("namespace", "default");
    own.set("uid", "u-1");
    own.set("creationTimestamp", format_timestamp(now));
    const Value more = yaml(spec);
    for (const Value::Member& each : more.members()) job.at("spec").set(each.key, each.value);
  }

  static Value yaml(const std::string& text) {
    auto parsed = parse_yaml(text);
    if (!parsed) throw std::runtime_error(parsed.error().to_string());
    return parsed->front();
  }
  static std::string task(const std::string& name, int replicas, const std::string& more = "") {
    return "{name: " + name + ", replicas: " + std::to_string(replicas) +
           ", template: {spec: {containers: [{name: c}]}}" + (more.empty() ? "" : ", ") + more + "}";
  }

  JobPlan plan(std::size_t creations_max = 500) const {
    VolcanoJobFacts facts{
        .job = job,
        .pods = {},
        .now = now,
        .creations_max = creations_max,
        .name_is_taken = [this](const std::string& name) { return pods.contains(name) || strangers.contains(name); },
        .hosts = hosts ? &*hosts : nullptr,
        .has_default_queue = has_default_queue};
    for (const auto& [name, pod] : pods) facts.pods.push_back(&pod);
    return plan_volcano_job(facts);
  }

  // Everything one plan asks for, or only the first so many of its writes; whether it was anything.
  bool step(std::size_t writes_max = 1'000'000) {
    JobPlan plan = this->plan();
    std::size_t writes = 0;
    const auto may_write = [&] { return writes < writes_max && ++writes > 0; };
    std::vector<std::string> released, deleted;
    for (const Value* const pod : plan.releases) released.emplace_back((*pod)["metadata"]["name"].text());
    for (const Value* const pod : plan.renewals) deleted.emplace_back((*pod)["metadata"]["name"].text());
    for (const Value* const pod : plan.deletions) deleted.emplace_back((*pod)["metadata"]["name"].text());
    for (const Value& made : plan.creations) {
      if (may_write()) create(made);
    }
    for (const std::string& name : released) {
      if (may_write()) release(name);
    }
    for (const std::string& name : deleted) {
      if (may_write() && pods.contains(name)) remove(name, deletes_slowly);
    }
    if (plan.status && may_write()) {
      job.set("status", *plan.status);
      for (const JobNews& each : plan.news) news.push_back(each.reason);
    }
    return writes > 0;
  }
  void settle() {
    for (int i = 0; i < 50 && step(); ++i) {
    }
  }

  void create(Value made) {
    if (made["kind"].text() == "ConfigMap") {
      hosts = std::move(made);
      return;
    }
    Value& metadata = made.at("metadata");
    metadata.set("creationTimestamp", format_timestamp(now));
    metadata.set("uid", "u-" + std::to_string(++created + 1));
    made.at("status").set("phase", "Pending");
    const std::string name(made["metadata"]["name"].text());
    pods.emplace(name, std::move(made));
  }
  // Somebody deletes it: at once, or with time to end.
  void remove(const std::string& name, bool slowly = false) {
    Value& metadata = pods.at(name).at("metadata");
    metadata.set("deletionTimestamp", format_timestamp(now));
    metadata.set("deletionGracePeriodSeconds", slowly ? 30 : 0);
    forget_if_gone(name);
  }
  void release(const std::string& name) {
    pods.at(name).at("metadata").set("finalizers", release_of(pods.at(name))["metadata"]["finalizers"]);
    forget_if_gone(name);
  }
  // It is given back as the scheduler does it.
  void preempt(const std::string& name) {
    pods.at(name).at("status").set("conditions",
                                   yaml("[{type: DisruptionTarget, status: 'True', reason: PreemptionByScheduler}]"));
    remove(name);
  }
  void set_phase(const std::string& name, const char* phase, int exit_code = 0) {
    Value& status = pods.at(name).at("status");
    status.set("phase", phase);
    pods.at(name).at("spec").set("nodeName", "n");
    if (!has_ended(pods.at(name))) return;
    Value ended = Value::map_of({{"name", "c"}});
    ended.at("state").at("terminated").set("finishedAt", format_timestamp(now));
    ended.at("state").at("terminated").set("exitCode", exit_code);
    Value list = Value::list();
    list.push_back(std::move(ended));
    status.set("containerStatuses", std::move(list));
  }
  void set_all(const char* phase) {
    for (const auto& [name, pod] : pods) {
      if (!has_ended(pod) && !is_being_deleted(pod)) set_phase(name, phase);
    }
  }

  // "master-0 worker-0": those that are there, without the name of the job; "-" before those that are told to end.
  std::string there() const {
    std::string text;
    for (const auto& [name, pod] : pods) {
      text += (text.empty() ? "" : " ") + std::string(is_being_deleted(pod) ? "-" : "") + name.substr(6);
    }
    return text;
  }
  std::string phase() const { return std::string(job["status"]["state"]["phase"].text()); }
  std::string message() const { return std::string(job["status"]["state"]["message"].text()); }
  std::int64_t count(const char* field) const { return job["status"][field].integer(); }
  const Value& pod(const std::string& name) const { return pods.at("train-" + name); }
  std::int64_t group_size(const std::string& name) const { return group_size_in(pod(name)); }
  std::string group(const std::string& name) const {
    return std::string(pod(name)["metadata"]["labels"][kGroupLabel].text());
  }

  Value job;
  std::map<std::string, Value> pods;
  std::map<std::string, bool> strangers;  // names of pods of others
  std::optional<Value> hosts;
  bool has_default_queue = false;
  std::vector<std::string> news;
  Time now{1'800'000'000'000};
  int created = 0;
  bool deletes_slowly = false;  // what the job deletes takes its time to end

 private:
  void forget_if_gone(const std::string& name) {
    const Value& metadata = pods.at(name)["metadata"];
    const bool over = is_being_deleted(pods.at(name)) && metadata["deletionGracePeriodSeconds"].integer() == 0;
    if (over && metadata["finalizers"].is_empty()) pods.erase(name);
  }
};

}  // namespace berth
