// A JobSet and its Jobs, with a server that takes everything. For tests.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>

#include "controllers/controller.h"
#include "controllers/job_pods.h"
#include "controllers/job_set_jobs.h"
#include "controllers/job_set_plan.h"
#include "manifest/json.h"
#include "manifest/timestamp.h"
#include "manifest/yaml.h"

namespace berth {

inline constexpr Time kSetBegin{1'800'000'000'000};

// An item of replicatedJobs: so many Jobs of so many pods; `more` begins with a comma.
inline std::string part_text(const std::string& name, int replicas, int pods, const std::string& more = "") {
  return "{name: " + name + ", groupName: default, replicas: " + std::to_string(replicas) +
         ", template: {spec: {completionMode: Indexed, parallelism: " + std::to_string(pods) +
         ", completions: " + std::to_string(pods) + ", template: {spec: {containers: [{name: c}]}}}}" + more + "}";
}

class JobSetWorld {
 public:
  // `more`: other fields of the spec; begins with a comma.
  explicit JobSetWorld(const std::string& parts, const std::string& more = "", const std::string& annotations = "{}") {
    auto parsed = parse_yaml(
        "{apiVersion: jobset.x-k8s.io/v1alpha2, kind: JobSet, metadata: {name: train, namespace: default, uid: u-1, "
        "labels: {berth.dev/queue: team}, annotations: " +
        annotations + "}, spec: {replicatedJobs: [" + parts + "]" + more + "}}");
    if (!parsed) throw std::runtime_error(parsed.error().to_string());
    set = parsed->front();
  }

  JobSetPlan plan(std::size_t creations_max = 500) const {
    JobSetFacts facts{.set = set, .jobs = {}, .now = now, .creations_max = creations_max};
    for (const auto& [name, job] : jobs) facts.jobs.push_back(&job);
    return plan_job_set(facts);
  }

  // Everything one plan asks for, or only the first so many of its writes; whether it was anything.
  bool step(std::size_t writes_max = 1'000'000) {
    JobSetPlan plan = this->plan();
    std::size_t writes = 0;
    const auto may_write = [&] { return writes < writes_max && ++writes > 0; };
    std::vector<std::string> deleted;
    for (const Value* const job : plan.deletions) deleted.emplace_back((*job)["metadata"]["name"].text());
    for (const JobSetPlan::Change& each : plan.changes) {
      if (may_write()) merge(jobs.at(std::string((*each.job)["metadata"]["name"].text())), each.change);
    }
    for (const Value& job : plan.creations) {
      if (may_write()) add(job);
    }
    for (const std::string& name : deleted) {
      if (may_write()) remove(name);
    }
    if (plan.status && may_write()) {
      set.set("status", *plan.status);
      for (const JobNews& each : plan.news) news.push_back(each.reason);
    }
    return writes > 0;
  }
  void settle() {
    for (int i = 0; i < 30 && step(); ++i) {
    }
  }

  void add(Value job) {
    const std::string name(job["metadata"]["name"].text());
    if (jobs.contains(name)) throw std::runtime_error(name + " is there already");
    job.at("metadata").set("uid", "j-" + std::to_string(++created));
    for (const char* const key : {"controller-uid", "batch.kubernetes.io/controller-uid"}) {
      job.at("spec").at("template").at("metadata").at("labels").set(key, job["metadata"]["uid"]);
    }
    jobs.emplace(name, std::move(job));
  }
  // At once, or when let_go() says so: its pods take their time.
  void remove(const std::string& name) {
    if (!deletes_slowly) return void(jobs.erase(name));
    jobs.at(name).at("metadata").set("deletionTimestamp", format_timestamp(now));
  }
  void let_go(const std::string& name) { jobs.erase(name); }

  void fail(const std::string& name, const std::string& reason = "BackoffLimitExceeded",
            const std::string& message = "too often") {
    end(name, "Failed", reason, message);
  }
  void succeed(const std::string& name) { end(name, "Complete", "CompletionsReached", ""); }
  void succeed_all() {
    for (const auto& [name, job] : jobs) succeed(name);
  }
  void make_ready(const std::string& name) {
    Value& status = jobs.at(name).at("status");
    status.set("active", pods_at_once(jobs.at(name)["spec"]));
    status.set("ready", pods_at_once(jobs.at(name)["spec"]));
  }

  std::string names() const {
    std::string all;
    for (const auto& [name, job] : jobs) {
      all += (all.empty() ? "" : " ") + name + (job["spec"]["suspend"].truth() ? "(suspended)" : "") +
             (is_being_deleted(job) ? "(going)" : "");
    }
    return all;
  }
  std::string condition(const std::string& type) const {
    for (const Value& each : set["status"]["conditions"].items()) {
      if (each["type"].text() == type) {
        return std::string(each["status"].text()) + " " + std::string(each["reason"].text());
      }
    }
    return "";
  }
  std::int64_t restarts() const { return set["status"]["restarts"].integer(); }
  // "workers: 1 ready, 2 succeeded, 3 failed, 4 active, 5 suspended"
  std::string count_of(const std::string& part) const {
    for (const Value& each : set["status"]["replicatedJobsStatus"].items()) {
      if (each["name"].text() != part) continue;
      std::string text;
      for (const char* const key : {"ready", "succeeded", "failed", "active", "suspended"}) {
        text += (text.empty() ? "" : ", ") + std::to_string(each[key].integer()) + " " + key;
      }
      return text;
    }
    return "";
  }

  Value set;
  std::map<std::string, Value> jobs;
  std::vector<std::string> news;
  Time now = kSetBegin;
  int created = 0;
  bool deletes_slowly = false;

 private:
  void end(const std::string& name, const char* type, const std::string& reason, const std::string& message) {
    Value& status = jobs.at(name).at("status");
    status.erase("active");
    status.erase("ready");
    status.at("conditions")
        .push_back(Value::map_of({{"type", type},
                                  {"status", "True"},
                                  {"reason", reason},
                                  {"message", message},
                                  {"lastTransitionTime", format_timestamp(now)}}));
  }
  static void merge(Value& into, const Value& patch) {
    for (const Value::Member& each : patch.members()) {
      if (each.value.is_null()) {
        into.erase(each.key);
      } else if (each.value.is_map()) {
        merge(into.at(each.key), each.value);
      } else {
        into.set(each.key, each.value);
      }
    }
  }
};

}  // namespace berth
