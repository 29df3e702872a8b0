// A Job and its pods, with a server that takes everything. For tests.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>

#include "controllers/controller.h"
#include "controllers/job_plan.h"
#include "controllers/job_pods.h"
#include "manifest/timestamp.h"
#include "manifest/yaml.h"

namespace berth {

inline constexpr Time kJobBegin{1'800'000'000'000};

class JobWorld {
 public:
  explicit JobWorld(const std::string& spec, const std::string& annotations = "{}") {
    auto parsed = parse_yaml(
        "{apiVersion: batch/v1, kind: Job, metadata: {name: train, namespace: default, uid: u-1, "
        "labels: {berth.dev/queue: team}, annotations: " +
        annotations + "}, spec: " + spec + "}");
    if (!parsed) throw std::runtime_error(parsed.error().to_string());
    job = parsed->front();
    job.at("spec").at("template").at("metadata").at("labels").set("job-name", "train");
    job.at("spec").at("template").at("spec").at("containers").push_back(Value::map_of({{"name", "c"}}));
  }

  JobPlan plan(std::size_t creations_max = 500) const {
    JobFacts facts{.job = job,
                   .pods = {},
                   .now = now,
                   .creations_max = creations_max,
                   .group_missing_elsewhere = missing_elsewhere,
                   .name_is_taken = [this](const std::string& name) { return pods.contains(name); }};
    for (const auto& [name, pod] : pods) facts.pods.push_back(&pod);
    return plan_job(facts);
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
    for (const Value& pod : plan.creations) {
      if (may_write()) add(pod);
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
    for (int i = 0; i < 30 && step(); ++i) {
    }
  }

  // Somebody deletes it: at once, or with time to end.
  void remove(const std::string& name, bool slowly = false) {
    Value& metadata = pods.at(name).at("metadata");
    metadata.set("deletionTimestamp", format_timestamp(now));
    metadata.set("deletionGracePeriodSeconds", slowly ? 30 : 0);
    forget_if_gone(name);
  }
  void add(Value pod) {
    Value& metadata = pod.at("metadata");
    metadata.set("creationTimestamp", format_timestamp(now));
    metadata.set("uid", "u-" + std::to_string(++created));
    pod.at("status").set("phase", "Pending");
    pods.emplace(pod["metadata"]["name"].text(), pod);
  }
  void release(const std::string& name) {
    pods.at(name).at("metadata").set("finalizers", release_of(pods.at(name))["metadata"]["finalizers"]);
    forget_if_gone(name);
  }
  void forget_if_gone(const std::string& name) {
    const Value& metadata = pods.at(name)["metadata"];
    const bool over = is_being_deleted(pods.at(name)) && metadata["deletionGracePeriodSeconds"].integer() == 0;
    if (over && metadata["finalizers"].is_empty()) pods.erase(name);
  }

  void set_phase(const std::string& name, const char* phase, int exit_code = 0) {
    Value& status = pods.at(name).at("status");
    status.set("phase", phase);
    if (status["phase"].text() == "Running") pods.at(name).at("spec").set("nodeName", "n");
    if (!has_ended(pods.at(name))) return;
    Value ended = Value::map_of({{"name", "c"}});
    ended.at("state").at("terminated").set("finishedAt", format_timestamp(now));
    ended.at("state").at("terminated").set("exitCode", exit_code);
    Value list = Value::list();
    list.push_back(std::move(ended));
    status.set("containerStatuses", std::move(list));
  }
  std::vector<std::string> active() const {
    std::vector<std::string> names;
    for (const auto& [name, pod] : pods) {
      if (!has_ended(pod) && !is_being_deleted(pod)) names.push_back(name);
    }
    return names;
  }
  // Those that are told to end and have not yet.
  std::vector<std::string> ending() const {
    std::vector<std::string> names;
    for (const auto& [name, pod] : pods) {
      if (!has_ended(pod) && is_being_deleted(pod)) names.push_back(name);
    }
    return names;
  }
  // Whether no pod waits to start with more than are there, or have succeeded and are there still.
  bool gang_can_start() const {
    std::int64_t there = 0, wanted = 0;
    for (const auto& [name, pod] : pods) {
      const bool active = !has_ended(pod) && !is_being_deleted(pod);
      if (active || pod["status"]["phase"].text() == "Succeeded") ++there;
      if (active && pod["spec"]["nodeName"].is_empty()) wanted = std::max(wanted, group_size_in(pod));
    }
    return wanted <= there;
  }
  // What counts once: the pod, or its index.
  std::string key_of_work(const std::string& name) const {
    const auto index = completion_index(pods.at(name));
    return index ? std::to_string(*index) : std::string(pods.at(name)["metadata"]["uid"].text());
  }
  // The active pod of that index; "" if there is none.
  std::string pod_of_index(std::int64_t index) const {
    for (const std::string& name : active()) {
      if (completion_index(pods.at(name)) == index) return name;
    }
    return "";
  }
  void set_all(const char* phase) {
    for (const std::string& name : active()) set_phase(name, phase);
  }
  std::string condition(const std::string& type) const {
    for (const Value& each : job["status"]["conditions"].items()) {
      if (each["type"].text() == type) {
        return std::string(each["status"].text()) + " " + std::string(each["reason"].text());
      }
    }
    return "";
  }
  std::int64_t count(const char* field) const { return job["status"][field].integer(); }

  Value job;
  std::map<std::string, Value> pods;
  std::vector<std::string> news;
  Time now = kJobBegin;
  int created = 0;
  std::int64_t missing_elsewhere = 0;
  bool deletes_slowly = false;  // what the Job deletes takes its time to end
};

}  // namespace berth
