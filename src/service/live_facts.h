// Facts as tests of the LiveEngine write them.
#pragma once

#include <cstdint>
#include <set>
#include <string>

#include "model/vgpu_profiles.h"
#include "service/live_engine.h"

namespace berth {

inline constexpr std::int64_t kGiB = std::int64_t{1} << 30;

inline NodeFacts node(const std::string& name, std::int32_t gpus = 8, const std::string& model = "H100") {
  NodeFacts facts;
  facts.name = name;
  facts.gpus = gpus;
  facts.gpu_model = gpus > 0 ? model : "";
  facts.cpu_milli = 64'000;
  facts.memory_bytes = 512 * kGiB;
  return facts;
}

inline PodFacts pod(const std::string& name, std::int32_t gpus, std::int64_t created_ms = 1000) {
  PodFacts facts;
  facts.uid = "uid-" + name;
  facts.name_space = "default";
  facts.name = name;
  facts.queue = std::string(kDefaultQueue);
  facts.stage = PodStage::kWaiting;
  facts.request.gpus = gpus;
  facts.request.gpu_milli = gpus > 0 ? kMilliPerGpu : 0;
  facts.created = Time{created_ms};
  facts.queued = facts.created;
  return facts;
}

// What a pod asks of slices.
inline PodFacts slice(const std::string& name, const std::string& profile, std::int64_t created_ms = 1000) {
  PodFacts facts = pod(name, 1, created_ms);
  facts.slice = profile;
  return facts;
}

inline NodeFacts cut(NodeFacts node) {
  node.sharing = Sharing::kMig;
  return node;
}

// A node of one GPU or more that are shared so, each with so much memory.
inline NodeFacts shared(NodeFacts node, Sharing sharing, std::int32_t replicas = 1) {
  node.sharing = sharing;
  node.replicas = replicas;
  node.gpu_memory_mib = 80'000;
  return node;
}

// What a pod asks of one GPU: thousandths, or MiB of its memory.
inline PodFacts part(const std::string& name, std::int32_t milli, std::int64_t memory_mib = 0,
                     Sharing sharing = Sharing::kExclusive) {
  PodFacts facts = pod(name, 1);
  facts.request.gpu_milli = milli;
  facts.request.gpu_memory_mib = memory_mib;
  facts.request.sharing = sharing;
  return facts;
}

inline PodFacts share(const std::string& name, std::int32_t milli, const std::string& user = "ann") {
  PodFacts facts = part(name, milli, 0, Sharing::kMps);
  facts.user = user;
  return facts;
}

// PRE: some model has that profile.
inline PodFacts vgpu(const std::string& name, const std::string& profile, const std::string& user = "ann") {
  PodFacts facts = part(name, find_vgpu(profile)->gpu_milli(), 0, Sharing::kVgpu);
  facts.vgpu = profile;
  facts.user = user;
  return facts;
}

inline PodFacts replica(const std::string& name) {
  PodFacts facts = part(name, kMilliPerGpu, 0, Sharing::kTimeslice);
  facts.terms.best_effort = true;
  return facts;
}

inline PodFacts in_gang(PodFacts pod, const std::string& gang, std::int64_t size) {
  pod.group = "default/" + gang + "/";
  pod.group_size = size;
  return pod;
}

inline PodFacts bound(PodFacts pod, const Binding& binding, Time at) {
  pod.stage = PodStage::kBound;
  pod.node = binding.node;
  pod.given = binding.given;
  pod.bound_at = at;
  if (binding.rendezvous) pod.rank = binding.rendezvous->rank;
  return pod;
}

inline std::set<std::string> names_of(const Round& round) {
  std::set<std::string> names;
  for (const Binding& binding : round.bindings) names.insert(binding.pod.name);
  return names;
}

inline std::string reason_of(const Round& round, const std::string& name) {
  for (const WaitingReason& reason : round.reasons) {
    if (reason.pod.name == name) return reason.text;
  }
  return "";
}

}  // namespace berth
