// Queues, nodes and pods as tests of the LiveEngine have them, for one engine after the other.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "manifest/json.h"
#include "service/live_engine.h"
#include "service/live_facts.h"
#include "service/requests.h"

namespace berth {

inline QueueFacts queue(const std::string& name, std::int64_t gpus, const std::string& parent = "") {
  QueueFacts facts{.name = name, .spec = {.parent = parent, .order = Order::kFifo}};
  if (gpus > 0) facts.spec.guarantee = {{"h100", Resource::kGpu, gpus * kMilliPerGpu}};
  return facts;
}

inline PodFacts in_queue(const std::string& queue, PodFacts pod) {
  pod.queue = queue;
  pod.terms.grace = seconds(30);
  return pod;
}

// An API server would have them so.
class Cluster {
 public:
  Cluster() { begin_anew(); }

  LiveEngine& engine() { return *engine_; }
  // Another scheduler: it knows what stands in the objects.
  void begin_anew() {
    engine_ = std::make_unique<LiveEngine>(Seed{1});
    for (const auto& [name, each] : queues_) engine_->set_queue(each);
    for (const NodeFacts& each : nodes_) engine_->set_node(each);
    for (const auto& [uid, each] : pods_) engine_->set_pod(each);
  }
  void add(QueueFacts queue) {
    queue.record = queues_[queue.name].record;
    queues_[queue.name] = queue;
    engine_->set_queue(queue);
  }
  // The statuses of the queues, as a scheduler writes and reads them.
  void write_statuses() {
    for (const auto& [name, standing] : engine_->queue_standings()) {
      const auto patch = parse_json(queue_status_call(name, standing).body);
      const Value status = patch->items()[0]["value"];
      if (queues_.contains(name)) queues_[name].record = read_queue(Value::map_of({{"status", status}})).record;
    }
  }
  // Something happens then.
  void it_is(std::int64_t seconds_now) { engine_->it_is(Time{seconds_now * 1000}); }
  void add(const NodeFacts& node) {
    nodes_.push_back(node);
    engine_->set_node(node);
  }
  void set(const PodFacts& pod) {
    pods_[pod.uid] = pod;
    engine_->set_pod(pod);
  }
  void gone(const std::string& name) {
    pods_.erase("uid-" + name);
    engine_->remove_pod("uid-" + name);
  }
  // Bindings are confirmed, and who is evicted knows it.
  Round decide(std::int64_t seconds_now) {
    const Time now{seconds_now * 1000};
    const Round round = engine_->decide(now);
    for (const Binding& binding : round.bindings) set(bound(pods_.at(binding.pod.uid), binding, now));
    for (const PodEviction& eviction : round.evictions) {
      if (eviction.signal_at > now) continue;
      PodFacts facts = pods_.at(eviction.pod.uid);
      facts.leaving_until = eviction.stop_by;
      set(facts);
    }
    return round;
  }

 private:
  std::map<std::string, QueueFacts> queues_;
  std::vector<NodeFacts> nodes_;
  std::map<std::string, PodFacts> pods_;
  std::unique_ptr<LiveEngine> engine_;
};

inline std::set<std::string> evicted_in(const Round& round) {
  std::set<std::string> names;
  for (const PodEviction& eviction : round.evictions) names.insert(eviction.pod.name);
  return names;
}

}  // namespace berth
