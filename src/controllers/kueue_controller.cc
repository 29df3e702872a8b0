#include "controllers/kueue_controller.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "controllers/due_keys.h"
#include "controllers/kueue_workload.h"
#include "manifest/json.h"
#include "manifest/labels.h"

namespace berth {
namespace {

// The pods of a Job come and go together: one look for all of them, later for one that has many.
constexpr Duration kCountSoon{500};
constexpr std::int64_t kUpdatesPerMs = 50;
// Numbers in the reason of one that waits change all the time.
constexpr Duration kRewordAfter = seconds(60);

class KueueController final : public Controller {
 public:
  KueueController(const Means& means, std::uint64_t seed)
      : means_(means),
        jobs_(*find_served("batch", "v1", "jobs")),
        pods_(*find_served("", "v1", "pods")),
        workloads_(*find_served("kueue.x-k8s.io", "v1beta2", "workloads")),
        due_(Seed{seed}) {}

  void see(const KindInfo& kind, const ObjectChange& change) override {
    const Value& object = change.object();
    if (&kind == &jobs_) {
      const bool waits_there = !local_queue_of(object, true).empty();
      if (waits_there || (change.before && !local_queue_of(*change.before, true).empty())) {
        look_soon("Job", object["metadata"]);
      }
    } else if (&kind == &pods_) {
      see_pod(object);
    } else if (&kind == &workloads_) {
      if (!change.after) told_at_.erase(std::string(object["metadata"]["uid"].text()));
      const Value* const owner = controller_of(object);
      owner == nullptr ? look_soon("Workload", object["metadata"]) : look_soon((*owner)["kind"].text(), object, *owner);
    }
  }

  void work() override {
    while (const auto key = due_.take(means_.alarm.now())) look(*key);
  }
  std::optional<Time> next() const override { return due_.next(); }

 private:
  void see_pod(const Value& pod) {
    if (pod["metadata"]["labels"][kKueueQueueLabel].is_empty()) return;
    const Value* const owner = controller_of(pod);
    if (owner == nullptr) {
      if (!local_queue_of(pod, false).empty()) look_soon("Pod", pod["metadata"]);
    } else if ((*owner)["kind"].text() == "Job") {
      look_soon("Job", pod, *owner);
    }
  }
  void look_soon(std::string_view kind, const Value& metadata) {
    add(kind, metadata["namespace"], metadata["name"], metadata["uid"]);
  }
  void look_soon(std::string_view kind, const Value& dependent, const Value& owner) {
    add(kind, dependent["metadata"]["namespace"], owner["name"], owner["uid"]);
  }
  void add(std::string_view kind, const Value& name_space, const Value& name, const Value& uid) {
    const auto pods = static_cast<std::int64_t>(means_.view.count_dependents(uid.text()));
    std::string key(kind);
    key.append("/").append(name_space.text()).append("/").append(name.text());
    due_.add(key, means_.alarm.now() + kCountSoon + Duration{pods / kUpdatesPerMs});
  }

  void look(const std::string& key) {
    const std::size_t first = key.find('/'), second = key.find('/', first + 1);
    const bool is_job = key.starts_with("Job/");
    const std::string name_space = key.substr(first + 1, second - first - 1);
    if (key.starts_with("Workload/")) return look_at_orphan(key, name_space, key.substr(second + 1));
    const ObjectPtr owner = means_.view.find(is_job ? "jobs.batch" : "pods", name_space, key.substr(second + 1));
    // With its owner a Workload goes by itself.
    if (!owner || is_being_deleted(*owner)) return due_.settle(key);
    const KueueSource source{.is_job = is_job, .owner = *owner, .pods = pods_of(*owner, is_job)};
    const ObjectPtr workload = means_.view.find(kKueueWorkloads, name_space, kueue_workload_name(*owner, is_job));
    if (!workload) return make(key, source);
    if (local_queue_of(*owner, is_job).empty()) return ask(key, workloads_, deletion_of(workloads_, *workload));
    follow(key, source, *workload);
  }

  // Its Job was deleted, and was to leave behind what it owned.
  void look_at_orphan(const std::string& key, const std::string& name_space, const std::string& name) {
    const ObjectPtr workload = means_.view.find(kKueueWorkloads, name_space, name);
    if (!workload || controller_of(*workload) != nullptr) return due_.settle(key);
    ask(key, workloads_, deletion_of(workloads_, *workload));
  }

  std::vector<const Value*> pods_of(const Value& owner, bool is_job) const {
    if (!is_job) return {&owner};
    std::vector<const Value*> pods;
    for (const ClusterView::Entry* const entry : means_.view.dependents_of(owner["metadata"]["uid"].text())) {
      if (entry->kind == &pods_) pods.push_back(entry->object.get());
    }
    // The first of them speaks for all.
    std::ranges::sort(pods, {}, [](const Value* pod) { return (*pod)["metadata"]["name"].text(); });
    return pods;
  }

  void make(const std::string& key, const KueueSource& source) {
    if (local_queue_of(source.owner, source.is_job).empty() || is_over(source)) return due_.settle(key);
    ApiCall call;
    call.method = "POST";
    call.path = api_path(kKueueWorkloads, source.owner["metadata"]["namespace"].text());
    call.body = to_json(kueue_workload_of(source, means_.view));
    ask(key, workloads_, std::move(call));
  }

  // One thing after the other: the answer to each brings the next look.
  void follow(const std::string& key, const KueueSource& source, const Value& workload) {
    const Deactivation deactivation = deactivation_of(workload, source);
    if (deactivation != Deactivation::kNone) {
      Value change;
      change.at("spec").set("suspend", deactivation == Deactivation::kSuspend);
      return ask(key, jobs_, change_of(jobs_, source.owner, std::move(change)));
    }
    if (Value change = kueue_spec_change(workload, source, means_.view); !change.is_null()) {
      return ask(key, workloads_, change_of(workloads_, workload, std::move(change)));
    }
    Value status = kueue_status(workload, source, means_.view, means_.wall());
    if (status == workload["status"] || (status.is_empty() && workload["status"].is_empty())) return due_.settle(key);
    const Time now = means_.alarm.now();
    Time& told_at = told_at_[std::string(workload["metadata"]["uid"].text())];
    if (same_but_for_wording(status, workload["status"]) && now < told_at + kRewordAfter) {
      due_.add(key, told_at + kRewordAfter);
      return due_.settle(key);
    }
    told_at = now;
    // A merge patch takes away what is null.
    if (status.find("admission") == nullptr) status.set("admission", Value());
    ask(key, workloads_, change_of(workloads_, workload, Value::map_of({{"status", std::move(status)}}), "status"));
  }

  void ask(const std::string& key, const KindInfo& kind, ApiCall call) {
    const bool deletes = call.method == "DELETE";
    means_.outbox.send(Outbox::Urgency::kTelling, std::move(call),
                       [this, key, &kind, deletes](const ApiAnswer& answer) {
                         if (!answer.ok() && answer.status != 404) return void(due_.fail(key, means_.alarm.now()));
                         if (answer.ok() && !deletes) means_.learn(kind, object_in(answer));
                         due_.settle(key);
                       });
  }

  const Means& means_;
  const KindInfo& jobs_;
  const KindInfo& pods_;
  const KindInfo& workloads_;
  DueKeys due_;                          // "Job/default/train", "Pod/default/notebook"
  std::map<std::string, Time> told_at_;  // by uid of the Workload: when its status was written, by the alarm
};

}  // namespace

std::unique_ptr<Controller> make_kueue_controller(const Means& means, std::uint64_t seed) {
  return std::make_unique<KueueController>(means, seed);
}

}  // namespace berth
