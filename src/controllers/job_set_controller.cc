#include "controllers/job_set_controller.h"

#include <functional>
#include <string>
#include <utility>

#include "base/rng.h"
#include "controllers/due_keys.h"
#include "controllers/job_set_plan.h"
#include "manifest/json.h"

namespace berth {
namespace {

// Jobs made in one go.
constexpr std::size_t kJobCreationsMax = 500;
// Sets with many Jobs are looked at less often, so that looking does not take all the time there is.
constexpr std::int64_t kJobsPerMs = 50;
constexpr const char* kJobSets = "jobsets.jobset.x-k8s.io";

using Type = EventRecorder::Type;

class JobSetController final : public Controller {
 public:
  JobSetController(const Means& means, std::uint64_t seed)
      : means_(means),
        sets_(*find_served("jobset.x-k8s.io", "v1alpha2", "jobsets")),
        jobs_(*find_served("batch", "v1", "jobs")),
        due_(Seed{seed}) {}

  void see(const KindInfo& kind, const ObjectChange& change) override {
    const Value& metadata = change.object()["metadata"];
    if (&kind == &sets_) {
      due_.add(key_of(metadata["namespace"], metadata["name"]), means_.alarm.now());
    } else if (&kind == &jobs_) {
      const Value* const owner = controller_of(change.object());
      if (owner == nullptr || (*owner)["kind"].text() != "JobSet") return;
      const auto jobs = static_cast<std::int64_t>(means_.view.count_dependents((*owner)["uid"].text()));
      due_.add(key_of(metadata["namespace"], (*owner)["name"]), means_.alarm.now() + Duration{jobs / kJobsPerMs});
    }
  }

  void work() override {
    while (const auto key = due_.take(means_.alarm.now())) look(*key);
  }
  std::optional<Time> next() const override { return due_.next(); }

 private:
  // The calls of one look; when the last is answered, the key is given back.
  struct Look {
    std::string key;
    ObjectPtr set;
    std::size_t calls = 1;
    bool failed = false;
    std::string refused = {};  // why, of the first Job that was
  };
  using LookPtr = std::shared_ptr<Look>;

  static std::string key_of(const Value& name_space, const Value& name) {
    std::string key(name_space.text());
    return key.append("/").append(name.text());
  }

  void look(const std::string& key) {
    const std::size_t slash = key.find('/');
    const ObjectPtr set = means_.view.find(kJobSets, key.substr(0, slash), key.substr(slash + 1));
    if (!set) return due_.settle(key);
    // Before the facts' moment is read: what passes in between makes what is to be looked at again early, never late.
    const Time now = means_.alarm.now();
    JobSetFacts facts{.set = *set, .jobs = {}, .now = means_.wall(), .creations_max = kJobCreationsMax};
    const Value& uid = (*set)["metadata"]["uid"];
    for (const ClusterView::Entry* const entry : means_.view.dependents_of(uid.text())) {
      const Value* const owner = entry->kind == &jobs_ ? controller_of(*entry->object) : nullptr;
      if (owner != nullptr && (*owner)["uid"] == uid) facts.jobs.push_back(entry->object.get());
    }
    const JobSetPlan plan = plan_job_set(facts);
    if (plan.look_again) due_.add(key, now + (*plan.look_again - facts.now));
    const auto look = std::make_shared<Look>(Look{.key = key, .set = set});
    carry_out(plan, look);
    end_call(look);
  }

  void carry_out(const JobSetPlan& plan, const LookPtr& look) {
    for (const Value& job : plan.creations) create(job, look);
    for (const Value* const job : plan.deletions) remove(*job, look);
    for (const JobSetPlan::Change& each : plan.changes) {
      send(look, change_of(jobs_, *each.job, each.change), [this](const ApiAnswer& answer) {
        if (answer.ok()) means_.learn(jobs_, object_in(answer));
      });
    }
    if (plan.status) store_status(plan, look);
    if (plan.delete_set) send(look, deletion_of(sets_, *look->set, "Foreground"), [](const ApiAnswer&) {});
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
    if (!look->refused.empty()) {
      tell(*look->set, Type::kWarning, "FailedCreate", "Creating", "Error creating: " + look->refused);
    }
    look->failed ? void(due_.fail(look->key, means_.alarm.now())) : due_.settle(look->key);
  }

  void create(const Value& job, const LookPtr& look) {
    ApiCall call;
    call.method = "POST";
    call.path = api_path("jobs.batch", job["metadata"]["namespace"].text());
    call.body = to_json(job);
    send(look, std::move(call),
         [this, look, name = std::string(job["metadata"]["name"].text())](const ApiAnswer& answer) {
           if (answer.ok()) {
             means_.learn(jobs_, object_in(answer));
             tell(*look->set, Type::kNormal, "SuccessfulCreate", "Creating", "Created job: " + name);
           } else if (answer.status == 409) {
             see_present(name, look);
           } else if (answer.status != 404 && !is_passing(answer) && look->refused.empty()) {
             look->refused = text_of_failure(answer);
           }
         });
  }

  // There is one already: ours, of a creation whose answer was lost, or a stranger's, which is in the way.
  void see_present(const std::string& name, const LookPtr& look) {
    ApiCall call;
    call.path = api_path("jobs.batch", (*look->set)["metadata"]["namespace"].text(), name);
    send(look, std::move(call), [this, look, name](const ApiAnswer& answer) {
      if (!answer.ok()) return;
      Value job = object_in(answer);
      const Value* const owner = controller_of(job);
      const bool is_ours = owner != nullptr && (*owner)["uid"] == (*look->set)["metadata"]["uid"];
      if (!is_ours && look->refused.empty()) {
        look->refused = "there is a Job " + name + " that is not of this JobSet; delete it, or rename the JobSet";
      }
      means_.learn(jobs_, std::move(job));
    });
  }

  // Its pods go before it, so that the next one of its name does not meet them.
  void remove(const Value& job, const LookPtr& look) {
    send(look, deletion_of(jobs_, job, "Foreground"),
         [this, look, name = std::string(job["metadata"]["name"].text())](const ApiAnswer& answer) {
           if (!answer.ok()) return;
           if (Value left = object_in(answer); is_being_deleted(left)) means_.learn(jobs_, std::move(left));
           tell(*look->set, Type::kNormal, "SuccessfulDelete", "Deleting", "Deleted job: " + name);
         });
  }

  void store_status(const JobSetPlan& plan, const LookPtr& look) {
    send(look, change_of(sets_, *look->set, status_change(*look->set, *plan.status), "status"),
         [this, look, news = plan.news](const ApiAnswer& answer) {
           if (!answer.ok()) return;
           means_.learn(sets_, object_in(answer));
           for (const JobNews& each : news) {
             tell(*look->set, each.warning ? Type::kWarning : Type::kNormal, each.reason, "Running", each.note);
           }
         });
  }

  void tell(const Value& set, Type type, const std::string& reason, const std::string& action,
            const std::string& note) {
    means_.events.record(set, type, reason, action, note);
  }

  const Means& means_;
  const KindInfo& sets_;
  const KindInfo& jobs_;
  DueKeys due_;  // "default/train"
};

}  // namespace

std::unique_ptr<Controller> make_job_set_controller(const Means& means, std::uint64_t seed) {
  return std::make_unique<JobSetController>(means, seed);
}

}  // namespace berth
