// Queues, nodes and pods as tests of the LiveEngine have them, for one engine after the other.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "manifest/json.h"
#include "manifest/timestamp.h"
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
  explicit Cluster(Scrubs scrubs = Scrubs::kNone, PlacementPolicy policy = PlacementPolicy::kBestFit)
      : scrubs_(scrubs), policy_(policy) {
    begin_anew();
  }

  LiveEngine& engine() { return *engine_; }
  const LiveEngine& engine() const { return *engine_; }
  // Another scheduler: it knows what stands in the objects.
  void begin_anew() {
    engine_ = std::make_unique<LiveEngine>(Seed{1}, policy_, nullptr, scrubs_);
    for (const auto& [name, each] : queues_) engine_->set_queue(each);
    for (const auto& [name, each] : circles_) engine_->set_circle(read_circle(each));
    for (const auto& [name, each] : reservations_) engine_->set_reservation(read_reservation(each));
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
  void remove_queue(const std::string& name) {
    queues_.erase(name);
    engine_->remove_queue(name);
  }
  // What the node says that is left on its GPUs.
  std::string used(const std::string& name) const { return to_text(node_named(name).records.uses); }
  // Its part has scrubbed the GPU that it was asked for last.
  void answer(const std::string& name, int gpu, const std::string& failed = "") {
    GpuRecords& records = node_named(name).records;
    records.scrubs[gpu] = {records.uses.at(gpu).scrub, failed};
    engine_->set_node(node_named(name));
  }
  void forget_answers(const std::string& name) {
    node_named(name).records.scrubs.clear();
    engine_->set_node(node_named(name));
  }
  // A TrustCircle, as it is written.
  // `apart`: the label of the domains in which no stranger has whole GPUs.
  void add_circle(const std::string& name, const std::vector<std::string>& queues, const std::string& within = "10m",
                  const std::string& apart = "") {
    Value& object = circles_[name];
    object.at("metadata").set("name", name);
    object.at("metadata").set("uid", "uid-" + name);
    Value named = Value::list();
    for (const std::string& each : queues) named.push_back(each);
    object.at("spec").set("queues", std::move(named));
    object.at("spec").set("within", within);
    object.at("spec").set("apart", apart.empty() ? Value::map() : Value::map_of({{"exclusive", apart}}));
    engine_->set_circle(read_circle(object));
  }
  // With a finalizer it stays until that is taken away.
  void delete_circle(const std::string& name) {
    Value& object = circles_.at(name);
    if (object["metadata"]["finalizers"].items().empty()) return drop_circle(name);
    object.at("metadata").set("deletionTimestamp", "2026-11-21T08:00:00Z");
    engine_->set_circle(read_circle(object));
  }
  // Somebody takes its finalizers away.
  void let_go_of_circle(const std::string& name) {
    circles_.at(name).at("metadata").erase("finalizers");
    engine_->set_circle(read_circle(circles_.at(name)));
  }
  void drop_circle(const std::string& name) {
    circles_.erase(name);
    engine_->remove_circle(name);
  }
  const Value& circle(const std::string& name) const { return circles_.at(name); }
  bool has_circle(const std::string& name) const { return circles_.contains(name); }
  // What a scheduler writes of circles, one call after the other until there is nothing more to write; how many they were.
  int write_circles(std::int64_t seconds_now) {
    for (int calls = 0; calls < 20; ++calls) {
      bool wrote = false;
      for (const auto& [name, standing] : engine_->circle_standings()) {
        const auto call = circle_call(standing);
        if (!call) continue;
        write_circle(name, *call);
        wrote = true;
        break;
      }
      if (!wrote) return calls;
      engine_->decide(Time{seconds_now * 1000});
    }
    return -1;  // they never end
  }
  // A Reservation, whose spec is written so, made at that second; as it was written last is what stays of it.
  void add_reservation(const std::string& name, const std::string& spec, std::int64_t created_s = 0) {
    Value& object = reservations_[name];
    object.at("metadata").set("name", name);
    object.at("metadata").set("uid", "uid-" + name);
    object.at("metadata").set("creationTimestamp", format_timestamp(Time{created_s * 1000}));
    object.set("spec", *parse_json(spec));
    engine_->set_reservation(read_reservation(object));
  }
  void remove_reservation(const std::string& name) {
    reservations_.erase(name);
    engine_->remove_reservation(name);
  }
  const Value& reservation(const std::string& name) const { return reservations_.at(name); }
  // What a scheduler writes of reservations; how many calls it takes.
  int write_reservations(std::int64_t seconds_now) {
    int calls = 0;
    for (const ReservationStanding& standing : engine_->reservation_standings(Time{seconds_now * 1000})) {
      const auto call = reservation_call(standing);
      if (!call) continue;
      Value& object = reservations_.at(standing.said.name);
      object.set("status", parse_json(call->body)->items()[0]["value"]);
      engine_->set_reservation(read_reservation(object));
      ++calls;
    }
    return calls;
  }
  // Something happens then.
  void it_is(std::int64_t seconds_now) { engine_->it_is(Time{seconds_now * 1000}); }
  // In the place of what was there of that name, if there was.
  void add(const NodeFacts& node) {
    std::erase_if(nodes_, [&](const NodeFacts& each) { return each.name == node.name; });
    nodes_.push_back(node);
    engine_->set_node(node);
  }
  void set(const PodFacts& pod) {
    pods_[pod.uid] = pod;
    engine_->set_pod(pod);
  }
  const PodFacts& pod_named(const std::string& name) const { return pods_.at("uid-" + name); }
  void gone(const std::string& name) {
    pods_.erase("uid-" + name);
    engine_->remove_pod("uid-" + name);
  }
  void gone_unseen(const std::string& name) { pods_.erase("uid-" + name); }
  // What is to be written on nodes is, bindings are confirmed, and who is evicted knows it.
  Round decide(std::int64_t seconds_now) {
    const Time now{seconds_now * 1000};
    const Round round = engine_->decide(now);
    for (const NodeUses& uses : round.uses) {
      Value object;
      object.at("metadata").at("annotations").set(kGpusUsedAnnotation, uses.text);
      node_named(uses.node).records.uses = read_gpu_records(object).uses;
      engine_->set_node(node_named(uses.node));
    }
    for (const Binding& binding : round.bindings) set(bound(pods_.at(binding.pod.uid), binding, now));
    for (const PodEviction& eviction : round.evictions) {
      if (eviction.signal_at > now) continue;
      PodFacts facts = pods_.at(eviction.pod.uid);
      facts.leaving_until = eviction.stop_by;
      facts.leaves_for = reservation_named_in(eviction.why);
      set(facts);
    }
    return round;
  }

 private:
  void write_circle(const std::string& name, const ApiCall& call) {
    Value& object = circles_.at(name);
    const auto patch = parse_json(call.body);
    if (call.path.ends_with("/status")) {
      object.set("status", patch->items()[0]["value"]);
    } else {
      object.at("metadata").set("finalizers", (*patch)["metadata"]["finalizers"]);
    }
    const bool gone =
        !object["metadata"]["deletionTimestamp"].is_null() && object["metadata"]["finalizers"].items().empty();
    if (gone) return drop_circle(name);
    engine_->set_circle(read_circle(object));
  }

  // As it was added last.
  NodeFacts& node_named(const std::string& name) {
    return *std::ranges::find(nodes_.rbegin(), nodes_.rend(), name, &NodeFacts::name);
  }
  const NodeFacts& node_named(const std::string& name) const {
    return *std::ranges::find(nodes_.rbegin(), nodes_.rend(), name, &NodeFacts::name);
  }

  Scrubs scrubs_;
  PlacementPolicy policy_;
  std::map<std::string, QueueFacts> queues_;
  std::map<std::string, Value> circles_;
  std::map<std::string, Value> reservations_;
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
