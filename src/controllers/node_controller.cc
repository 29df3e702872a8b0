#include "controllers/node_controller.h"

#include <algorithm>
#include <cstddef>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "controllers/due_keys.h"
#include "controllers/node_health.h"

namespace berth {
namespace {

constexpr const char* kLeaseNamespace = "kube-node-lease";
// Nodes lose their pods one by one: a mistake about many shows before it has cost all.
constexpr Duration kNodeEvictionEvery = seconds(10);
// While evictions are paused.
constexpr Duration kNodesAgain = seconds(10);

using Type = EventRecorder::Type;

class NodeController final : public Controller {
 public:
  NodeController(const Means& means, NodePatience patience, std::uint64_t seed)
      : means_(means),
        patience_(patience),
        nodes_(*find_served("", "v1", "nodes")),
        pods_(*find_served("", "v1", "pods")),
        leases_(*find_served("coordination.k8s.io", "v1", "leases")),
        due_(Seed{seed}) {}

  void see(const KindInfo& kind, const ObjectChange& change) override {
    const Value& metadata = change.object()["metadata"];
    const std::string name(metadata["name"].text());
    if (&kind == &nodes_) {
      see_node(name, change.after);
    } else if (&kind == &leases_ && metadata["namespace"].text() == kLeaseNamespace) {
      // Looking at once is needed only for a node that was taken for dead.
      if (listen(name) && bad_.contains(name)) due_.add(name, means_.alarm.now());
    } else if (&kind == &pods_) {
      see_pod(change);
    }
  }

  void work() override {
    while (const auto name = due_.take(means_.alarm.now())) look(*name);
  }
  std::optional<Time> next() const override { return due_.next(); }

 private:
  struct Watched {
    std::string sign;
    Time heard;  // by the alarm: the wall clock may jump, and says nothing about silence
    std::optional<Time> bad_since;
    std::optional<Time> turn;  // to lose its pods
    std::vector<ExecutingTaint> executing;
  };
  // The calls of one look; when the last is answered, the key is given back.
  struct Look {
    std::string name;
    std::size_t calls = 1;
    bool failed = false;
  };
  using LookPtr = std::shared_ptr<Look>;

  // ---- listening -------------------------------------------------------------------------------------------------------

  void see_node(const std::string& name, const ObjectPtr& node) {
    if (!node) {
      watched_.erase(name);
      bad_.erase(name);
      return;
    }
    watched_.try_emplace(name);
    listen(name);
    if (is_bad(health_of(*node))) {
      bad_.insert(name);
    } else {
      bad_.erase(name);
    }
    note_taints(*node, watched_.at(name));
    due_.add(name, means_.alarm.now());
  }

  void note_taints(const Value& node, Watched& watched) {
    watched.executing = executing_from(watched.executing, executing_taints(node), means_.alarm.now());
  }

  // Whether there is something new.
  bool listen(const std::string& name) {
    const auto at = watched_.find(name);
    const ObjectPtr node = means_.view.find("nodes", "", name);
    if (at == watched_.end() || !node) return false;
    const ObjectPtr lease = means_.view.find("leases.coordination.k8s.io", kLeaseNamespace, name);
    std::string sign = sign_of_life(*node, lease ? *lease : Value());
    if (sign == at->second.sign) return false;
    at->second.sign = std::move(sign);
    at->second.heard = means_.alarm.now();
    return true;
  }

  void see_pod(const ObjectChange& change) {
    const Value& pod = change.object();
    const std::string node(pod["spec"]["nodeName"].text());
    if (node.empty()) return;
    const std::string uid(pod["metadata"]["uid"].text());
    if (!change.after || has_ended(pod)) {
      const auto at = pods_on_.find(node);
      if (at != pods_on_.end() && at->second.erase(uid) > 0 && at->second.empty()) pods_on_.erase(at);
    } else if (pods_on_[node].emplace(uid, means_.alarm.now()).second && evicts(node)) {
      due_.add(node, means_.alarm.now());
    }
  }

  bool evicts(const std::string& node) const {
    const auto at = watched_.find(node);
    return bad_.contains(node) || (at != watched_.end() && !at->second.executing.empty());
  }

  // ---- looking ---------------------------------------------------------------------------------------------------------

  void look(const std::string& name) {
    const auto look = std::make_shared<Look>(Look{.name = name});
    const ObjectPtr node = means_.view.find("nodes", "", name);
    const auto at = watched_.find(name);
    if (node && at != watched_.end()) {
      const Time now = means_.alarm.now();
      const Time silent_at = at->second.heard + patience_.grace;
      if (now < silent_at) due_.add(name, silent_at);
      const auto status = now < silent_at ? std::nullopt : silent_status(*node, means_.wall());
      if (status) {
        declare_silent(*node, *status, look);
      } else {
        settle_taints(*node, look);
        settle_pods(*node, at->second, look);
        settle_who_does_not_tolerate(at->second, look);
      }
    }
    end_call(look);
  }

  void send(const LookPtr& look, ApiCall call, std::function<void(const ApiAnswer&)> done) {
    ++look->calls;
    means_.outbox.send(Outbox::Urgency::kFirst, std::move(call),
                       [this, look, done = std::move(done)](const ApiAnswer& answer) {
                         if (!answer.ok() && answer.status != 404) look->failed = true;
                         if (answer.ok()) done(answer);
                         end_call(look);
                       });
  }

  void end_call(const LookPtr& look) {
    if (--look->calls > 0) return;
    if (look->failed) {
      due_.fail(look->name, means_.alarm.now());
    } else {
      due_.settle(look->name);
    }
  }

  void declare_silent(const Value& node, const Value& status, const LookPtr& look) {
    send(look, change_of(nodes_, node, status, "status"), [this, name = look->name](const ApiAnswer& answer) {
      const Value changed = object_in(answer);
      means_.learn(nodes_, changed);
      means_.events.record(changed, Type::kWarning, "NodeNotReady", "Watching",
                           "Node " + name + " status is now: NodeNotReady (its agent is not heard of any more)");
    });
  }

  void settle_taints(const Value& node, const LookPtr& look) {
    const auto change = taint_change(node, means_.wall());
    if (!change) return;
    send(look, change_of(nodes_, node, *change),
         [this](const ApiAnswer& answer) { means_.learn(nodes_, object_in(answer)); });
  }

  // ---- evicting --------------------------------------------------------------------------------------------------------

  void settle_pods(const Value& node, Watched& watched, const LookPtr& look) {
    const NodeHealth health = health_of(node);
    if (!is_bad(health)) {
      watched.bad_since.reset();
      watched.turn.reset();
      return;
    }
    const Time now = means_.alarm.now();
    if (!watched.bad_since) watched.bad_since = now;
    std::vector<const Value*> due;
    for (const auto& [uid, came] : pods_of(look->name)) {
      const ClusterView::Entry* const entry = means_.view.by_uid(uid);
      if (entry == nullptr || is_being_deleted(*entry->object)) continue;
      const auto patience = patience_of(*entry->object, health, patience_.eviction_after);
      if (!patience) continue;
      const Time until = *watched.bad_since + *patience;
      if (until <= now) {
        due.push_back(entry->object.get());
      } else {
        due_.add(look->name, until);
      }
    }
    if (due.empty()) return;
    if (are_paused(node)) return due_.add(look->name, now + kNodesAgain);
    if (!watched.turn) {
      watched.turn = std::max(next_turn_, now);
      next_turn_ = *watched.turn + kNodeEvictionEvery;
    }
    if (*watched.turn > now) return due_.add(look->name, *watched.turn);
    for (const Value* const pod : due) evict(*pod, look);
  }

  // What people taint is what they mean: nothing is paced or paused.
  void settle_who_does_not_tolerate(const Watched& watched, const LookPtr& look) {
    if (watched.executing.empty()) return;
    const Time now = means_.alarm.now();
    for (const auto& [uid, came] : pods_of(look->name)) {
      const ClusterView::Entry* const entry = means_.view.by_uid(uid);
      if (entry == nullptr || is_being_deleted(*entry->object)) continue;
      const auto until = leaves_at(*entry->object, came, watched.executing);
      if (!until) continue;
      if (*until <= now) {
        evict(*entry->object, look);
      } else {
        due_.add(look->name, *until);
      }
    }
  }

  const std::map<std::string, Time>& pods_of(const std::string& node) const {
    static const std::map<std::string, Time> kNone;
    const auto at = pods_on_.find(node);
    return at == pods_on_.end() ? kNone : at->second;
  }

  bool are_paused(const Value& node) {
    const auto bad = static_cast<std::int64_t>(bad_.size());
    const auto all = static_cast<std::int64_t>(watched_.size());
    const bool paused = is_mass_failure(bad, all);
    if (std::exchange(paused_, paused) == paused) return paused;
    const std::string how_many = std::to_string(bad) + " of " + std::to_string(all) + " nodes are not ready";
    if (paused) {
      means_.events.record(node, Type::kWarning, "EvictionsPaused", "Evicting",
                           how_many + ": more likely the network than the nodes; their pods are left where they are");
    } else {
      means_.events.record(node, Type::kNormal, "EvictionsResumed", "Evicting", "only " + how_many);
    }
    return paused;
  }

  void evict(const Value& pod, const LookPtr& look) {
    const Value& metadata = pod["metadata"];
    const std::string whose = std::string(metadata["namespace"].text()) + "/" + std::string(metadata["name"].text());
    means_.events.record(pod, Type::kNormal, "TaintManagerEviction", "Evicting", "Marking for deletion Pod " + whose);
    send(look, deletion_of(pods_, pod), [this](const ApiAnswer& answer) {
      if (Value left = object_in(answer); is_being_deleted(left)) means_.learn(pods_, std::move(left));
    });
  }

  const Means& means_;
  const NodePatience patience_;
  const KindInfo& nodes_;
  const KindInfo& pods_;
  const KindInfo& leases_;
  DueKeys due_;  // names
  std::map<std::string, Watched> watched_;
  std::set<std::string> bad_;
  std::map<std::string, std::map<std::string, Time>> pods_on_;  // uids of those that have not ended, and when they came
  Time next_turn_{0};
  bool paused_ = false;
};

}  // namespace

std::unique_ptr<Controller> make_node_controller(const Means& means, NodePatience patience, std::uint64_t seed) {
  return std::make_unique<NodeController>(means, patience, seed);
}

}  // namespace berth
