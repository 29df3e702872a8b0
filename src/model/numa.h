// How a machine's GPUs, cores and memory are divided into NUMA zones, and what its kubelet makes of that: the policies are those
// of Kubernetes' Topology Manager (kubernetes.io/docs/tasks/administer-cluster/topology-manager).
#pragma once

#include <cstdint>
#include <string_view>

namespace berth {

// The kubelet takes no more either.
inline constexpr std::int32_t kNumaZonesMax = 8;

// Who is let in: anybody, anywhere; anybody, in few zones if that can be; who has as few zones as he could ever have there; who is in
// one zone.
enum class NumaPolicy : std::uint8_t { kNone, kBestEffort, kRestricted, kSingleNumaNode };
inline constexpr std::string_view kNumaPolicyNames[] = {"none", "best-effort", "restricted", "single-numa-node"};
constexpr std::string_view name_of(NumaPolicy policy) { return kNumaPolicyNames[static_cast<std::size_t>(policy)]; }

// In order, as evenly as it goes; a NIC is in the zone of the GPUs that it is beside.
constexpr int zone_of_gpu(int gpu, int gpus, int zones) { return gpu * zones / gpus; }

// One of so many parts of an amount, as even as it goes: they add up to it.
constexpr std::int64_t even_part(std::int64_t amount, int part, int parts) {
  return amount * (part + 1) / parts - amount * part / parts;
}

}  // namespace berth
