// What the scheduler needs of an API object, and what of it the scheduler does not follow yet: said, never guessed.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/time.h"
#include "manifest/labels.h"
#include "manifest/value.h"
#include "model/node.h"
#include "model/queue.h"
#include "model/request.h"
#include "model/workload.h"

namespace berth {

struct NodeFacts {
  std::string name;
  std::string gpu_model;  // the catalogue's short name where it knows the model; empty without GPUs
  std::int64_t gpu_memory_mib = 0;
  std::int32_t gpus = 0;
  std::int64_t cpu_milli = 0;
  std::int64_t memory_bytes = 0;
  std::int32_t pods_max = kPodsUnbounded;
  bool open = true;     // ready, not cordoned, no taint that keeps pods away
  std::string problem;  // why it cannot be used at all; empty: it can

  // The same machine to the engine, whether open or closed.
  bool same_machine(const NodeFacts& other) const;
};

enum class PodStage : std::uint8_t {
  kGated,    // has scheduling gates, or is being deleted before it was bound
  kWaiting,  // for a place
  kBound,    // holds its place until it has ended, also while it is being deleted
  kSucceeded,
  kFailed,
};

// What controls an object: its controlling owner reference.
struct OwnerFacts {
  std::string api_version, kind, name, uid;
};

struct PodFacts {
  std::string uid, name_space, name;
  std::string revision;  // of the object
  OwnerFacts owner;      // of a pod that nothing controls: empty
  std::string queue;
  std::string group;  // pods that start together: "NAMESPACE/NAME/OWNER"; alone: empty
  std::string group_name;
  std::int64_t group_size = 1;          // so many of them at least
  PodRequest request;                   // its flavors are still open: gpu_models
  std::vector<std::string> gpu_models;  // empty: any
  PodStage stage = PodStage::kGated;
  std::string node;            // kBound: where
  std::optional<GpuSet> gpus;  // kBound: which devices, where the binding named them
  Time created;
  std::optional<Time> bound_at;
  Duration run = kRunNotDeclared;
  std::string told;     // message of its condition PodScheduled=False
  std::string problem;  // what it asks that the scheduler does not follow; empty: nothing
};

struct QueueFacts {
  std::string name;
  std::string parent;          // empty: at the top
  std::optional<Order> order;  // none: it shares its parent's line
  bool hold = false;

  friend bool operator==(const QueueFacts&, const QueueFacts&) = default;
};

NodeFacts read_node(const Value& node);
PodFacts read_pod(const Value& pod);
QueueFacts read_queue(const Value& queue);

// "0,3" <-> {0, 3}; none for what is no list of device indexes.
std::optional<GpuSet> parse_gpus(std::string_view text);
std::string format_gpus(GpuSet gpus);

}  // namespace berth
