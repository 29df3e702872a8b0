// How close together the pods of a set are to be, or how far apart. A level of the topology is a label of nodes, such as `rack`: those that
// have it with one value are one domain. Every node is a domain of the level `node`.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/hash.h"

namespace berth {

inline constexpr std::string_view kNodeLevel = "node";

enum class Togetherness : std::uint8_t {
  kAnywhere,
  kPreferred,  // in one domain if one has room, else in few
  kRequired,   // in one domain or not at all
};

// Over the domains of a level that the pods could be in, those of the chosen domain of `Topology::level` alone.
enum class Spreading : std::uint8_t {
  kNone,
  kPreferred,  // as evenly as there is room, over nodes; Ray: SPREAD
  kEven,   // no domain has two more than another; Kubernetes: topologySpreadConstraints with maxSkew 1, DoNotSchedule
  kApart,  // at most one in each; Ray: STRICT_SPREAD
};

// How the pods that go to one domain of those over which a set is spread go over its nodes; Ray's strategies.
enum class OnNodes : std::uint8_t {
  kAnyhow,
  kFew,      // PACK
  kEvenly,   // as evenly as there is room: SPREAD
  kOneEach,  // each has one of its own: STRICT_SPREAD
};
inline constexpr std::size_t kOnNodesCount = 4;

// How the GPUs of a set share one model. They are numbered as its pods are, those of a pod beside each other: the GPUs of a tensor
// group have numbers in a row, then come the stages of one replica, then the replicas.
// INVARIANT: all are 0, or all at least 1.
struct Parallelism {
  std::int64_t tensor = 0;
  std::int64_t pipeline = 0;
  std::int64_t data = 0;

  bool is_declared() const { return tensor > 0; }
  std::int64_t gpus() const { return tensor * pipeline * data; }
  void add_to(Hasher& hasher) const { hasher.add(tensor).add(pipeline).add(data); }
  friend bool operator==(const Parallelism&, const Parallelism&) = default;
};
// Most of one kind; the product of three is inside 64 bits.
inline constexpr std::int64_t kParallelMax = 1 << 20;

// INVARIANT: a level is named unless anywhere will do; a slice has a level and at least one pod, or neither; what is spread
// names the level, prefers no domain, and may have slices of nodes: then it is these that are spread. `on_nodes` is said of what is
// spread evenly over a level of its own.
struct Topology {
  Togetherness together = Togetherness::kAnywhere;
  std::string level = {};
  std::int64_t slice_pods = 0;  // so many pods at a time are in one domain of `slice_level`
  std::string slice_level = {};
  Spreading spread = Spreading::kNone;
  std::string spread_level = {};
  OnNodes on_nodes = OnNodes::kAnyhow;

  bool has_slices() const { return slice_pods > 0; }
  bool is_spread() const { return spread != Spreading::kNone; }
  // So many pods are in one place, and are counted as one where they are spread.
  std::int64_t unit_pods() const { return has_slices() ? slice_pods : 1; }
  // Over the domains of which pods or slices go; none: empty.
  const std::string& inner_level() const { return is_spread() ? spread_level : slice_level; }
  bool asks_nothing() const { return together == Togetherness::kAnywhere && !has_slices() && !is_spread(); }
  void add_to(Hasher& hasher) const {
    hasher.add(static_cast<std::uint64_t>(together)).add(level).add(slice_pods).add(slice_level);
    hasher.add(static_cast<std::uint64_t>(spread)).add(spread_level);
    if (on_nodes != OnNodes::kAnyhow) hasher.add(static_cast<std::uint64_t>(on_nodes));
  }
  friend bool operator==(const Topology&, const Topology&) = default;
};

}  // namespace berth
