// What is to be said about a node, and done with its pods, as functions of the objects.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/time.h"
#include "manifest/labels.h"
#include "manifest/value.h"
#include "model/executing_taints.h"
#include "model/node_constraints.h"

namespace berth {

enum class NodeHealth : std::uint8_t { kReady, kNotReady, kUnknown, kNeverSaid };
NodeHealth health_of(const Value& node);
// Its pods are to go, if that lasts.
inline bool is_bad(NodeHealth health) { return health == NodeHealth::kNotReady || health == NodeHealth::kUnknown; }

// What changes whenever the node's agent is heard of: its lease (null if it has none) and its word in the status.
std::string sign_of_life(const Value& node, const Value& lease);

// Merge patch of the status of a node that is not heard of any more; none if it says so already.
std::optional<Value> silent_status(const Value& node, Time now);
// Merge patch of a node whose taints do not say how it is; none if they do.
std::optional<Value> taint_change(const Value& node, Time now);

// How long the pod stays on a bad node; none: for ever. Five minutes is what the server writes into every pod that says
// nothing about it, so whoever wants another time for those has it in `otherwise`.
std::optional<Duration> patience_of(const Value& pod, NodeHealth health, Duration otherwise);

// Taints with the effect NoExecute that somebody gave the node, without those that say how it is.
std::vector<Taint> executing_taints(const Value& node);
// When a pod that was seen there since `came` has to leave; none: it may stay.
std::optional<Time> leaves_at(const Value& pod, Time came, const std::vector<ExecutingTaint>& taints);

// So many nodes at once do not fail: it is the network, or we, who do not hear. Nothing is evicted then.
bool is_mass_failure(std::int64_t bad, std::int64_t all);

}  // namespace berth
