#include "controllers/garbage_collector.h"

#include <cstddef>
#include <deque>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "controllers/due_keys.h"
#include "controllers/garbage.h"
#include "manifest/json.h"

namespace berth {
namespace {

constexpr std::size_t kAbsentMax = 10'000;

class GarbageCollector final : public Controller {
 public:
  GarbageCollector(const Means& means, std::uint64_t seed) : means_(means), due_(Seed{seed}) {}

  void see(const KindInfo&, const ObjectChange& change) override {
    const Value& metadata = change.object()["metadata"];
    const std::string uid(metadata["uid"].text());
    if (!change.after) {
      note_absent(uid);
      look_at_dependents(uid);
    } else if (is_being_deleted(*change.after) || !metadata["ownerReferences"].is_empty()) {
      look_at(uid);
    }
    // Owners that wait for this one.
    for (const ObjectPtr& state : {change.before, change.after}) {
      if (!state) continue;
      for (const Value& owner : (*state)["metadata"]["ownerReferences"].items()) {
        const ClusterView::Entry* const entry = means_.view.by_uid(owner["uid"].text());
        if (entry != nullptr && is_being_deleted(*entry->object)) look_at(std::string(owner["uid"].text()));
      }
    }
  }

  void work() override {
    while (const auto uid = due_.take(means_.alarm.now())) look(*uid);
  }
  std::optional<Time> next() const override { return due_.next(); }

 private:
  // The calls of one look; when the last is answered, the key is given back.
  struct Look {
    std::string uid;
    std::size_t calls = 1;
    bool failed = false;
  };
  using LookPtr = std::shared_ptr<Look>;

  void look_at(const std::string& uid) { due_.add(uid, means_.alarm.now()); }
  void look_at_dependents(const std::string& uid) {
    for (const ClusterView::Entry* const each : means_.view.dependents_of(uid)) {
      look_at(std::string((*each->object)["metadata"]["uid"].text()));
    }
  }

  void look(const std::string& uid) {
    const ClusterView::Entry* const entry = means_.view.by_uid(uid);
    const auto look = std::make_shared<Look>(Look{.uid = uid});
    if (entry != nullptr) act(*entry, look);
    end_call(look);
  }

  void act(const ClusterView::Entry& entry, const LookPtr& look) {
    const Value& object = *entry.object;
    std::vector<OwnerState> owners;
    for (const Value& owner : object["metadata"]["ownerReferences"].items()) {
      owners.push_back(state_of(entry, owner));
    }
    std::vector<const Value*> dependents;
    for (const ClusterView::Entry* const each : means_.view.dependents_of(look->uid)) {
      dependents.push_back(each->object.get());
    }
    GarbageChore chore = garbage_chore(object, owners, dependents);
    switch (chore.what) {
      case GarbageChore::What::kNothing:
        return;
      case GarbageChore::What::kAskForOwners:
        for (std::size_t i = 0; i < owners.size(); ++i) {
          if (owners[i] == OwnerState::kUnsure) ask_for(object, object["metadata"]["ownerReferences"].items()[i]);
        }
        return;
      case GarbageChore::What::kDelete:
        return send(look, deletion_of(*entry.kind, object, chore.propagation));
      case GarbageChore::What::kDropReferences:
      case GarbageChore::What::kFinish:
        return send(look, change_of(*entry.kind, object, std::move(chore.change)));
      case GarbageChore::What::kFreeDependents:
        for (const Value* const each : chore.dependents) {
          const KindInfo& kind = *means_.view.by_uid((*each)["metadata"]["uid"].text())->kind;
          send(look, change_of(kind, *each, without_owner(*each, look->uid)));
        }
        return;
      case GarbageChore::What::kDeleteDependents:
        for (const Value* const each : chore.dependents) look_at(std::string((*each)["metadata"]["uid"].text()));
        return;
    }
  }

  OwnerState state_of(const ClusterView::Entry& entry, const Value& owner) const {
    const std::string uid(owner["uid"].text());
    const KindInfo* const kind = find_served_kind(owner["apiVersion"].text(), owner["kind"].text());
    if (const ClusterView::Entry* const found = means_.view.by_uid(uid)) {
      const Value& there = *found->object;
      return is_being_deleted(there) && has_finalizer_named(there, "foregroundDeletion") ? OwnerState::kWaits
                                                                                         : OwnerState::kThere;
    }
    // Of kinds that nobody serves here nothing is known; and where the owner of an object outside of namespaces would be,
    // nobody can say. Better to keep too much.
    if (kind == nullptr || !kind->has_verb("get") || (kind->namespaced && !entry.kind->namespaced)) {
      return OwnerState::kThere;
    }
    return absent_.contains(uid) ? OwnerState::kGone : OwnerState::kUnsure;
  }

  void send(const LookPtr& look, ApiCall call) {
    ++look->calls;
    means_.outbox.send(Outbox::Urgency::kSecond, std::move(call), [this, look](const ApiAnswer& answer) {
      // 404: somebody was faster. 409: it has changed meanwhile; the mirror tells how, or it is tried again.
      if (!answer.ok() && answer.status != 404) look->failed = true;
      end_call(look);
    });
  }

  void end_call(const LookPtr& look) {
    if (--look->calls > 0) return;
    if (look->failed) {
      due_.fail(look->uid, means_.alarm.now());
    } else {
      due_.settle(look->uid);
    }
  }

  // ---- owners that were not seen ---------------------------------------------------------------------------------------

  // The mirror of the owner's kind may only be slower than that of the object's.
  void ask_for(const Value& object, const Value& owner) {
    const std::string uid(owner["uid"].text());
    if (!asked_.insert(uid).second) return;
    const KindInfo& kind = *find_served_kind(owner["apiVersion"].text(), owner["kind"].text());
    ApiCall call;
    call.path = api_path(kind.qualified(), object["metadata"]["namespace"].text(), owner["name"].text());
    means_.outbox.send(Outbox::Urgency::kSecond, std::move(call), [this, uid, &kind](const ApiAnswer& answer) {
      asked_.erase(uid);
      Value found = answer.ok() ? object_in(answer) : Value();
      const bool is_there = found["metadata"]["uid"].text() == uid;
      if (is_there) {
        means_.learn(kind, std::move(found));
      } else if (answer.ok() || answer.status == 404) {
        note_absent(uid);
      }
      const Time again = means_.alarm.now() + (answer.ok() || answer.status == 404 ? Duration{0} : DueKeys::kRetryMax);
      for (const ClusterView::Entry* const each : means_.view.dependents_of(uid)) {
        due_.add(std::string((*each->object)["metadata"]["uid"].text()), again);
      }
    });
  }

  void note_absent(const std::string& uid) {
    if (!absent_.insert(uid).second) return;
    absent_order_.push_back(uid);
    if (absent_order_.size() <= kAbsentMax) return;
    absent_.erase(absent_order_.front());
    absent_order_.pop_front();
  }

  const Means& means_;
  DueKeys due_;                   // uids
  std::set<std::string> asked_;   // owners
  std::set<std::string> absent_;  // uids never come back, so what is gone is gone
  std::deque<std::string> absent_order_;
};

// ---- pods that nobody will miss ------------------------------------------------------------------------------------------

constexpr Duration kPodRoundEvery = seconds(20);
// A node may be missing only because it is being registered anew.
constexpr Duration kNodeMissingFor = seconds(40);

class PodCollector final : public Controller {
 public:
  explicit PodCollector(const Means& means)
      : means_(means), pods_(*find_served("", "v1", "pods")), next_round_(means.alarm.now()) {}

  void see(const KindInfo&, const ObjectChange&) override {}
  std::optional<Time> next() const override { return next_round_; }

  void work() override {
    const Time now = means_.alarm.now();
    if (now < next_round_) return;
    next_round_ = now + kPodRoundEvery;
    std::vector<const Value*> pods;
    means_.view.for_each("pods", [&](const Value& pod) { pods.push_back(&pod); });
    for (const Value* const pod : superfluous_pods(pods, kEndedPodsMax)) {
      means_.outbox.send(Outbox::Urgency::kSecond, deletion_of(pods_, *pod), [](const ApiAnswer&) {});
    }
    std::map<std::string, std::vector<const Value*>> lost;  // by node
    const auto node_is_there = [this](std::string_view node) { return means_.view.find("nodes", "", node) != nullptr; };
    for (const Value* const pod : pods) {
      if (is_on_lost_node(*pod, node_is_there)) lost[std::string((*pod)["spec"]["nodeName"].text())].push_back(pod);
    }
    std::erase_if(missing_since_, [&](const auto& each) { return !lost.contains(each.first); });
    for (const auto& [node, on_it] : lost) {
      if (missing_since_.try_emplace(node, now).first->second + kNodeMissingFor <= now) ask_for(node);
    }
  }

 private:
  void ask_for(const std::string& node) {
    ApiCall call;
    call.path = api_path("nodes", "", node);
    means_.outbox.send(Outbox::Urgency::kSecond, std::move(call), [this, node](const ApiAnswer& answer) {
      if (answer.status != 404 || means_.view.find("nodes", "", node)) return;
      means_.view.for_each("pods", [&](const Value& pod) {
        if (pod["spec"]["nodeName"].text() == node) end(pod);
      });
    });
  }

  // Nobody on that node will say how the pod ended, so it is said here; then nothing holds it.
  void end(const Value& pod) {
    if (has_ended(pod)) return remove(pod);
    Value change = lost_pod_status(pod, format_timestamp(means_.wall()));
    means_.outbox.send(Outbox::Urgency::kSecond, change_of(pods_, pod, std::move(change), "status"),
                       [this](const ApiAnswer& answer) {
                         if (!answer.ok()) return;  // the next round tries again
                         Value ended = object_in(answer);
                         remove(ended);
                         means_.learn(pods_, std::move(ended));
                       });
  }
  void remove(const Value& pod) {
    means_.outbox.send(Outbox::Urgency::kSecond, deletion_of(pods_, pod), [](const ApiAnswer&) {});
  }

  const Means& means_;
  const KindInfo& pods_;
  Time next_round_;
  std::map<std::string, Time> missing_since_;  // nodes
};

}  // namespace

std::unique_ptr<Controller> make_garbage_collector(const Means& means, std::uint64_t seed) {
  return std::make_unique<GarbageCollector>(means, seed);
}

std::unique_ptr<Controller> make_pod_collector(const Means& means) { return std::make_unique<PodCollector>(means); }

}  // namespace berth
