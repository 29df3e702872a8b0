#include "controllers/job_controller.h"

#include <algorithm>
#include <cstddef>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "controllers/due_keys.h"
#include "controllers/job_plan.h"
#include "controllers/job_pods.h"
#include "manifest/json.h"

namespace berth {
namespace {

// Pods made in one go; one only, to try, after one was refused.
constexpr std::size_t kCreationsMax = 500;
// Jobs with many pods are looked at less often, so that looking does not take all the time there is.
constexpr std::int64_t kPodsPerMs = 50;

using Type = EventRecorder::Type;

const Value* controller_of(const Value& object) {
  for (const Value& owner : object["metadata"]["ownerReferences"].items()) {
    if (owner["controller"].truth()) return &owner;
  }
  return nullptr;
}

class JobController final : public Controller {
 public:
  JobController(const Means& means, std::uint64_t seed)
      : means_(means),
        jobs_(*find_served("batch", "v1", "jobs")),
        pods_(*find_served("", "v1", "pods")),
        due_(Seed{seed}) {}

  void see(const KindInfo& kind, const ObjectChange& change) override {
    const Value& metadata = change.object()["metadata"];
    if (&kind == &jobs_) {
      if (!change.after) works_.erase(std::string(metadata["uid"].text()));
      due_.add(key_of(metadata["namespace"], metadata["name"]), means_.alarm.now());
    } else if (&kind == &pods_) {
      see_pod(change);
    }
  }

  void work() override {
    while (const auto key = due_.take(means_.alarm.now())) look(*key);
  }
  std::optional<Time> next() const override { return due_.next(); }

 private:
  // What is known of a Job beyond the objects; nothing is lost with it but a little time.
  struct Work {
    std::map<std::string, ObjectPtr> gone;  // its pods, by uid, until its status counts them
    std::size_t creations_max = kCreationsMax;
    Time create_after{0};  // the alarm's
  };
  // The calls of one look; when the last is answered, the key is given back.
  struct Look {
    std::string key;
    ObjectPtr job;
    std::size_t calls = 1;
    bool failed = false;
    bool creation_failed = false;
  };
  using LookPtr = std::shared_ptr<Look>;

  static std::string key_of(const Value& name_space, const Value& name) {
    std::string key(name_space.text());
    return key.append("/").append(name.text());
  }

  void see_pod(const ObjectChange& change) {
    const Value& pod = change.object();
    const Value* const owner = controller_of(pod);
    if (owner == nullptr || (*owner)["kind"].text() != "Job") return;
    const std::string job_uid((*owner)["uid"].text());
    if (!change.after) {
      const std::string uid(pod["metadata"]["uid"].text());
      if (means_.view.by_uid(job_uid) != nullptr) works_[job_uid].gone[uid] = change.before;
    }
    const auto pods = static_cast<std::int64_t>(means_.view.count_dependents(job_uid));
    due_.add(key_of(pod["metadata"]["namespace"], (*owner)["name"]), means_.alarm.now() + Duration{pods / kPodsPerMs});
  }

  void look(const std::string& key) {
    const std::size_t slash = key.find('/');
    const ObjectPtr job = means_.view.find("jobs.batch", key.substr(0, slash), key.substr(slash + 1));
    if (!job) return due_.settle(key);
    Work& work = works_[std::string((*job)["metadata"]["uid"].text())];
    const bool may_create = work.create_after <= means_.alarm.now();
    JobFacts facts{.job = *job,
                   .pods = {},
                   .now = means_.wall(),
                   .creations_max = may_create ? work.creations_max : 0,
                   .name_is_taken = [&](const std::string& name) {
                     return means_.view.find("pods", key.substr(0, slash), name) != nullptr;
                   }};
    for (const ClusterView::Entry* const entry : means_.view.dependents_of((*job)["metadata"]["uid"].text())) {
      const Value* const owner = entry->kind == &pods_ ? controller_of(*entry->object) : nullptr;
      if (owner != nullptr && (*owner)["uid"] == (*job)["metadata"]["uid"])
        facts.pods.push_back({.pod = entry->object.get(), .gone = false});
    }
    for (const auto& [uid, pod] : work.gone) facts.pods.push_back({.pod = pod.get(), .gone = true});
    const JobPlan plan = plan_job(facts);
    if (!plan.status && plan.creations.empty()) work.gone.clear();  // whatever they were, the status stands
    const auto look = std::make_shared<Look>(Look{.key = key, .job = job});
    if (plan.waits_to_create && !may_create) due_.add(key, work.create_after);
    if (plan.look_again) due_.add(key, means_.alarm.now() + (*plan.look_again - facts.now));
    carry_out(plan, look);
    end_call(look);
  }

  void carry_out(const JobPlan& plan, const LookPtr& look) {
    for (const Value& pod : plan.creations) create(pod, look);
    for (const Value* const pod : plan.deletions) remove(*pod, look);
    if (plan.status) store_status(plan, look);
    if (plan.delete_job) {
      send(look, deletion_of(jobs_, *look->job, "Foreground"), [](const ApiAnswer&) {});
    }
  }

  void send(const LookPtr& look, ApiCall call, std::function<void(const ApiAnswer&)> done) {
    ++look->calls;
    means_.outbox.send(Outbox::Urgency::kFirst, std::move(call),
                       [this, look, done = std::move(done)](const ApiAnswer& answer) {
                         // What is not there any more needs nothing.
                         if (!answer.ok() && answer.status != 404) look->failed = true;
                         done(answer);
                         end_call(look);
                       });
  }

  void end_call(const LookPtr& look) {
    if (--look->calls > 0) return;
    const Time now = means_.alarm.now();
    const auto work = works_.find(std::string((*look->job)["metadata"]["uid"].text()));
    if (look->creation_failed && work != works_.end()) {
      work->second.creations_max = 1;
      work->second.create_after = due_.fail(look->key, now);
      // The rest of what is to be done, and the status, do not wait.
      due_.add(look->key, now);
    } else if (look->failed) {
      due_.fail(look->key, now);
    } else if (work != works_.end() && work->second.create_after > now) {
      due_.release(look->key);  // still in trouble
    } else {
      due_.settle(look->key);
    }
  }

  // ---- pods ------------------------------------------------------------------------------------------------------------

  void create(const Value& pod, const LookPtr& look) {
    ApiCall call;
    call.method = "POST";
    call.path = api_path("pods", pod["metadata"]["namespace"].text());
    call.body = to_json(pod);
    send(look, std::move(call),
         [this, look, name = std::string(pod["metadata"]["name"].text())](const ApiAnswer& answer) {
           if (answer.ok()) {
             means_.learn(pods_, object_in(answer));
             tell(*look->job, Type::kNormal, "SuccessfulCreate", "Creating", "Created pod: " + name);
             succeed_creation(*look->job);
           } else if (answer.status == 409) {
             see_present(name, look);
           } else {
             look->creation_failed = true;
             if (answer.status == 404 || is_passing(answer)) return;
             tell(*look->job, Type::kWarning, "FailedCreate", "Creating", "Error creating: " + text_of_failure(answer));
           }
         });
  }

  void succeed_creation(const Value& job) {
    const auto work = works_.find(std::string(job["metadata"]["uid"].text()));
    if (work == works_.end()) return;
    work->second.creations_max = std::min(2 * work->second.creations_max, kCreationsMax);
  }

  // There is one already: ours, of a creation whose answer was lost, or a stranger's, whose name is then passed over.
  void see_present(const std::string& name, const LookPtr& look) {
    look->failed = true;
    ApiCall call;
    call.path = api_path("pods", (*look->job)["metadata"]["namespace"].text(), name);
    send(look, std::move(call), [this](const ApiAnswer& answer) {
      if (answer.ok()) means_.learn(pods_, object_in(answer));
    });
  }

  void remove(const Value& pod, const LookPtr& look) {
    send(look, deletion_of(pods_, pod),
         [this, look, name = std::string(pod["metadata"]["name"].text())](const ApiAnswer& answer) {
           if (!answer.ok()) return;
           // One that goes at once will be told gone.
           if (Value left = object_in(answer); is_being_deleted(left)) means_.learn(pods_, std::move(left));
           tell(*look->job, Type::kNormal, "SuccessfulDelete", "Deleting", "Deleted pod: " + name);
         });
  }

  // ---- the status ------------------------------------------------------------------------------------------------------

  void store_status(const JobPlan& plan, const LookPtr& look) {
    send(look, change_of(jobs_, *look->job, status_change(*look->job, *plan.status), "status"),
         [this, look, news = plan.news](const ApiAnswer& answer) {
           if (!answer.ok()) return;
           means_.learn(jobs_, object_in(answer));
           for (const JobNews& each : news) {
             tell(*look->job, each.warning ? Type::kWarning : Type::kNormal, each.reason, "Running", each.note);
           }
         });
  }

  void tell(const Value& job, Type type, const std::string& reason, const std::string& action,
            const std::string& note) {
    means_.events.record(job, type, reason, action, note);
  }

  const Means& means_;
  const KindInfo& jobs_;
  const KindInfo& pods_;
  DueKeys due_;                        // "default/train"
  std::map<std::string, Work> works_;  // by uid
};

}  // namespace

std::unique_ptr<Controller> make_job_controller(const Means& means, std::uint64_t seed) {
  return std::make_unique<JobController>(means, seed);
}

}  // namespace berth
