#include "controllers/job_controller.h"

#include <algorithm>
#include <cstddef>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "base/rng.h"
#include "controllers/due_keys.h"
#include "controllers/job_plan.h"
#include "controllers/job_pods.h"
#include "controllers/volcano_job_plan.h"
#include "controllers/volcano_job_pods.h"
#include "manifest/json.h"
#include "manifest/labels.h"

namespace berth {
namespace {

// Pods made in one go; one only, to try, after one was refused.
constexpr std::size_t kCreationsMax = 500;
// Jobs with many pods are looked at less often, so that looking does not take all the time there is.
constexpr std::int64_t kPodsPerMs = 50;
// Where there may be room again, what waits for it is tried no more often than this.
constexpr Duration kTryEvery = seconds(1);

using Type = EventRecorder::Type;

// Jobs of one kind, and what each needs next.
struct JobKind {
  const KindInfo& kind;
  JobPlan (*plan)(const JobFacts& facts, const ClusterView& view);
};

class JobController final : public Controller {
 public:
  JobController(const Means& means, const JobKind& kind, std::uint64_t seed)
      : means_(means),
        jobs_(kind.kind),
        plan_(kind.plan),
        pods_(*find_served("", "v1", "pods")),
        maps_(*find_served("", "v1", "configmaps")),
        quotas_(*find_served("", "v1", "resourcequotas")),
        due_(Seed{seed}),
        strays_(Seed{mix64(seed)}) {}

  void see(const KindInfo& kind, const ObjectChange& change) override {
    if (&kind == &jobs_) {
      see_job(change);
    } else if (&kind == &pods_) {
      see_pod(change);
    } else if (&kind == &maps_) {
      see_map(change.object());
    } else if (&kind == &quotas_) {
      see_quota(change);
    }
  }

  void work() override {
    const Time now = means_.alarm.now();
    while (const auto key = due_.take(now)) look(*key);
    while (const auto key = strays_.take(now)) look_at_stray(*key);
  }
  std::optional<Time> next() const override {
    const auto job = due_.next();
    const auto stray = strays_.next();
    return job && stray ? std::min(job, stray) : job ? job : stray;
  }

 private:
  // What is known of a Job beyond the objects; nothing is lost with it but a little time.
  struct Work {
    std::string key;
    std::size_t creations_max = kCreationsMax;
    Time tried{0}, create_after{0};  // the alarm's
  };
  // The calls of one look; when the last is answered, the key is given back.
  struct Look {
    std::string key;
    ObjectPtr job;
    std::size_t calls = 1;
    bool failed = false;
    bool creation_failed = false;
    std::string refused = {};  // why, of the first pod that was
  };
  using LookPtr = std::shared_ptr<Look>;

  static std::string key_of(const Value& name_space, const Value& name) {
    std::string key(name_space.text());
    return key.append("/").append(name.text());
  }

  // Whether an owner is a Job of this kind.
  bool is_ours(const Value& owner) const {
    return owner["kind"].text() == jobs_.kind && owner["apiVersion"].text() == jobs_.api_version();
  }

  void see_job(const ObjectChange& change) {
    const Value& metadata = change.object()["metadata"];
    if (!change.after) {
      const std::string_view uid = metadata["uid"].text();
      works_.erase(std::string(uid));
      note_missing(change.object(), 0);
      for (const ClusterView::Entry* const entry : means_.view.dependents_of(uid)) {
        if (entry->kind == &pods_) add_stray(*entry->object);
      }
    }
    due_.add(key_of(metadata["namespace"], metadata["name"]), means_.alarm.now());
  }

  void see_pod(const ObjectChange& change) {
    const Value& pod = change.object();
    const Value* const owner = controller_of(pod);
    if (owner != nullptr && !is_ours(*owner)) return;
    // Whose owner let go of it, is let go of by one of the two.
    if (owner == nullptr && jobs_.custom) return;
    const std::string job_uid(owner == nullptr ? "" : (*owner)["uid"].text());
    if (owner == nullptr || means_.view.by_uid(job_uid) == nullptr) {
      if (change.after) add_stray(pod);
      return;
    }
    const auto pods = static_cast<std::int64_t>(means_.view.count_dependents(job_uid));
    due_.add(key_of(pod["metadata"]["namespace"], (*owner)["name"]), means_.alarm.now() + Duration{pods / kPodsPerMs});
  }

  void see_map(const Value& map) {
    const Value* const owner = controller_of(map);
    if (owner == nullptr || !is_ours(*owner)) return;
    due_.add(key_of(map["metadata"]["namespace"], (*owner)["name"]), means_.alarm.now());
  }

  // There may be room for pods that were refused.
  void see_quota(const ObjectChange& change) {
    const std::string prefix = std::string(change.object()["metadata"]["namespace"].text()) + "/";
    const Time now = means_.alarm.now();
    for (auto& [uid, work] : works_) {
      if (work.create_after <= now || !work.key.starts_with(prefix)) continue;
      work.create_after = std::min(work.create_after, std::max(now, work.tried + kTryEvery));
      due_.add(work.key, work.create_after);
    }
  }

  void look(const std::string& key) {
    const std::size_t slash = key.find('/');
    const ObjectPtr job = means_.view.find(jobs_.qualified(), key.substr(0, slash), key.substr(slash + 1));
    if (!job) return due_.settle(key);
    // Before the facts' moment is read: what passes in between makes what is to be looked at again early, never late.
    const Time now = means_.alarm.now();
    Work& work = works_[std::string((*job)["metadata"]["uid"].text())];
    work.key = key;
    const bool may_create = work.create_after <= now;
    JobFacts facts{.job = *job,
                   .pods = {},
                   .now = means_.wall(),
                   .creations_max = may_create ? work.creations_max : 0,
                   .name_is_taken = [&](const std::string& name) {
                     return means_.view.find("pods", key.substr(0, slash), name) != nullptr;
                   }};
    for (const ClusterView::Entry* const entry : means_.view.dependents_of((*job)["metadata"]["uid"].text())) {
      const Value* const owner = entry->kind == &pods_ ? controller_of(*entry->object) : nullptr;
      if (owner != nullptr && (*owner)["uid"] == (*job)["metadata"]["uid"]) facts.pods.push_back(entry->object.get());
    }
    facts.group_missing_elsewhere = missing_elsewhere(*job);
    const JobPlan plan = plan_(facts, means_.view);
    note_missing(*job, plan.group_missing);
    const auto look = std::make_shared<Look>(Look{.key = key, .job = job});
    if (plan.waits_to_create && !may_create) due_.add(key, work.create_after);
    if (plan.look_again) due_.add(key, now + (*plan.look_again - facts.now));
    carry_out(plan, look);
    end_call(look);
  }

  void carry_out(const JobPlan& plan, const LookPtr& look) {
    for (const Value& pod : plan.creations) create(pod, look);
    for (const Value* const pod : plan.releases) release(*pod, look);
    for (const Value* const pod : plan.deletions) remove(*pod, deletion_of(pods_, *pod), look);
    for (const Value* const pod : plan.renewals) remove(*pod, deletion_as_seen(pods_, *pod), look);
    for (const JobPlan::Change& each : plan.changes) {
      send(look, change_of(pods_, *each.pod, each.change), [this](const ApiAnswer& answer) {
        if (answer.ok()) means_.learn(pods_, object_in(answer));
      });
    }
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
    if (!look->refused.empty()) {
      tell(*look->job, Type::kWarning, "FailedCreate", "Creating", "Error creating: " + look->refused);
    }
    if (look->creation_failed && work != works_.end()) {
      work->second.creations_max = 1;
      work->second.tried = now;
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

  // ---- gangs of several Jobs -------------------------------------------------------------------------------------------

  // Empty: no other Job has pods of its gang.
  static std::string wider_group_of(const Value& job) {
    const Value& pods = job["spec"]["template"]["metadata"];
    const std::string_view uid = pods["annotations"][kGroupUidAnnotation].text();
    if (uid.empty() || !is_of_wider_group(job)) return "";
    std::string group(uid);
    return group.append("/").append(pods["labels"][kGroupLabel].text());
  }

  std::int64_t missing_elsewhere(const Value& job) const {
    const auto group = missing_.find(wider_group_of(job));
    if (group == missing_.end()) return 0;
    std::int64_t sum = 0;
    for (const auto& [uid, count] : group->second) sum += uid == job["metadata"]["uid"].text() ? 0 : count;
    return sum;
  }

  // The other Jobs' pods wait for as many fewer.
  void note_missing(const Value& job, std::int64_t count) {
    const std::string group = wider_group_of(job);
    if (group.empty()) return;
    std::map<std::string, std::int64_t>& known = missing_[group];
    const std::string uid(job["metadata"]["uid"].text());
    const auto before = known.find(uid);
    const bool as_before = count == (before == known.end() ? 0 : before->second);
    count == 0 ? void(known.erase(uid)) : void(known.insert_or_assign(uid, count));
    if (known.empty()) missing_.erase(group);
    const Value* const owner = controller_of(job);
    if (as_before || owner == nullptr) return;
    for (const ClusterView::Entry* const entry : means_.view.dependents_of((*owner)["uid"].text())) {
      const Value& metadata = (*entry->object)["metadata"];
      if (entry->kind == &jobs_) due_.add(key_of(metadata["namespace"], metadata["name"]), means_.alarm.now());
    }
  }

  // ---- pods ------------------------------------------------------------------------------------------------------------

  void create(const Value& object, const LookPtr& look) {
    const KindInfo& kind = object["kind"].text() == maps_.kind ? maps_ : pods_;
    ApiCall call;
    call.method = "POST";
    call.path = api_path(kind.qualified(), object["metadata"]["namespace"].text());
    call.body = to_json(object);
    send(look, std::move(call),
         [this, look, &kind, name = std::string(object["metadata"]["name"].text())](const ApiAnswer& answer) {
           if (answer.ok()) {
             means_.learn(kind, object_in(answer));
             tell(*look->job, Type::kNormal, "SuccessfulCreate", "Creating", "Created " + kind.singular + ": " + name);
             succeed_creation(*look->job);
           } else if (answer.status == 409) {
             see_present(kind, name, look);
           } else {
             look->creation_failed = true;
             if (answer.status == 404 || is_passing(answer) || !look->refused.empty()) return;
             look->refused = text_of_failure(answer);
           }
         });
  }

  void succeed_creation(const Value& job) {
    const auto work = works_.find(std::string(job["metadata"]["uid"].text()));
    if (work == works_.end()) return;
    work->second.creations_max = std::min(2 * work->second.creations_max, kCreationsMax);
  }

  // There is one already: ours, of a creation whose answer was lost, or a stranger's, whose name is then passed over.
  void see_present(const KindInfo& kind, const std::string& name, const LookPtr& look) {
    look->failed = true;
    ApiCall call;
    call.path = api_path(kind.qualified(), (*look->job)["metadata"]["namespace"].text(), name);
    send(look, std::move(call), [this, &kind](const ApiAnswer& answer) {
      if (answer.ok()) means_.learn(kind, object_in(answer));
    });
  }

  void remove(const Value& pod, ApiCall deletion, const LookPtr& look) {
    send(look, std::move(deletion),
         [this, look, name = std::string(pod["metadata"]["name"].text())](const ApiAnswer& answer) {
           if (!answer.ok()) return;
           // One that goes at once will be told gone.
           if (Value left = object_in(answer); is_being_deleted(left)) means_.learn(pods_, std::move(left));
           tell(*look->job, Type::kNormal, "SuccessfulDelete", "Deleting", "Deleted pod: " + name);
         });
  }

  // Its last finalizer gone, a pod that is being deleted goes: the mirror will tell.
  void release(const Value& pod, const LookPtr& look) {
    send(look, change_of(pods_, pod, release_of(pod)), [this](const ApiAnswer& answer) {
      if (answer.ok()) means_.learn(pods_, object_in(answer));
    });
  }

  // ---- pods that nobody counts -----------------------------------------------------------------------------------------

  void add_stray(const Value& pod) {
    const Value& metadata = pod["metadata"];
    if (is_tracked(pod)) strays_.add(key_of(metadata["namespace"], metadata["name"]), means_.alarm.now());
  }

  // Its Job is gone, or has let go of it: so must its finalizer. A Job that is only not yet known here is asked for.
  void look_at_stray(const std::string& key) {
    const std::size_t slash = key.find('/');
    const ObjectPtr pod = means_.view.find("pods", key.substr(0, slash), key.substr(slash + 1));
    if (!pod || !is_tracked(*pod)) return strays_.settle(key);
    const Value* const owner = controller_of(*pod);
    if (owner == nullptr) return release_stray(key, pod);
    if (means_.view.by_uid((*owner)["uid"].text()) != nullptr) return strays_.settle(key);
    ApiCall call;
    call.path = api_path(jobs_.qualified(), key.substr(0, slash), std::string((*owner)["name"].text()));
    means_.outbox.send(Outbox::Urgency::kFirst, std::move(call), [this, key, pod, owner](const ApiAnswer& answer) {
      if (!answer.ok() && answer.status != 404) {
        strays_.fail(key, means_.alarm.now());
      } else if (answer.ok() && object_in(answer)["metadata"]["uid"] == (*owner)["uid"]) {
        means_.learn(jobs_, object_in(answer));
        strays_.settle(key);
      } else {
        release_stray(key, pod);
      }
    });
  }

  void release_stray(const std::string& key, const ObjectPtr& pod) {
    means_.outbox.send(
        Outbox::Urgency::kFirst, change_of(pods_, *pod, release_of(*pod)), [this, key](const ApiAnswer& answer) {
          if (answer.ok()) means_.learn(pods_, object_in(answer));
          answer.ok() || answer.status == 404 ? strays_.settle(key) : void(strays_.fail(key, means_.alarm.now()));
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
  JobPlan (*const plan_)(const JobFacts& facts, const ClusterView& view);
  const KindInfo& pods_;
  const KindInfo& maps_;
  const KindInfo& quotas_;
  DueKeys due_;                        // "default/train"
  DueKeys strays_;                     // pods: "default/train-x7k2p"
  std::map<std::string, Work> works_;  // by uid
  // By gang of several Jobs, by uid of the Job: how many pods it does not bring any more; nothing where it brings all.
  std::map<std::string, std::map<std::string, std::int64_t>> missing_;
};

JobPlan plan_in_view(const JobFacts& facts, const ClusterView& view) {
  const Value& job = facts.job;
  const ObjectPtr hosts = view.find("configmaps", job["metadata"]["namespace"].text(), volcano_hosts_name(job));
  return plan_volcano_job({.job = job,
                           .pods = facts.pods,
                           .now = facts.now,
                           .creations_max = facts.creations_max,
                           .name_is_taken = facts.name_is_taken,
                           .hosts = hosts.get(),
                           .has_default_queue = view.find("queues.scheduling.volcano.sh", "", "default") != nullptr});
}

}  // namespace

std::unique_ptr<Controller> make_job_controller(const Means& means, std::uint64_t seed) {
  const auto plan = [](const JobFacts& facts, const ClusterView&) { return plan_job(facts); };
  return std::make_unique<JobController>(means, JobKind{*find_served("batch", "v1", "jobs"), plan}, seed);
}

std::unique_ptr<Controller> make_volcano_job_controller(const Means& means, std::uint64_t seed) {
  const JobKind kind{*find_served("batch.volcano.sh", "v1alpha1", "jobs"), plan_in_view};
  return std::make_unique<JobController>(means, kind, seed);
}

}  // namespace berth
