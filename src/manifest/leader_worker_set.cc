// LeaderWorkerSet: each of its groups, a leader and its workers, starts together, unless its controller makes the workers only
// when the leader has its place. Then the leader starts by itself, and the workers together after it.
#include <string>
#include <string_view>
#include <utility>

#include "manifest/gang_reading.h"

namespace berth {
namespace {

constexpr std::string_view kExclusiveTopology = "leaderworkerset.sigs.k8s.io/exclusive-topology";
constexpr const char* kLeaderIndex = "0";
constexpr const char* kLeaderFirst =
    "the workers are made when the leader has its place, which it holds while they wait for theirs; the workers start "
    "together";

}  // namespace

PodGroupReading read_leader_worker_set(const Value& object) {
  GangReading reading(object);
  const Value& spec = object["spec"];
  const Value& of_group = spec["leaderWorkerTemplate"];
  const std::int64_t size = reading.count_at(of_group["size"], "spec.leaderWorkerTemplate.size", 1, 1);
  reading.count_at(spec["replicas"], "spec.replicas", 1, 0);
  reading.leave_out("spec.leaderWorkerTemplate.subGroupPolicy", of_group["subGroupPolicy"],
                    "a group starts together; say by the annotation berth.dev/slice of the templates how many are near "
                    "each other");
  PodGroupSpec& made = reading.made.spec;
  made.at_least = size;
  const Value& startup = spec["startupPolicy"];
  const Value& exclusive = object["metadata"]["annotations"][kExclusiveTopology];
  const bool after_ready = startup.text() == "LeaderReady";
  if (size == 1 || (!after_ready && exclusive.is_empty())) return std::move(reading.made);
  made.at_least = size - 1;
  made.apart[kLeaderIndex] = 1;
  if (after_ready) {
    reading.advise("spec.startupPolicy", startup, std::string(kLeaderFirst) + "; LeaderCreated starts all at once");
  } else {
    reading.advise("metadata.annotations[" + std::string(kExclusiveTopology) + "]", exclusive,
                   std::string(kLeaderFirst) + "; berth.dev/topology on the templates has all in one domain at once");
  }
  return std::move(reading.made);
}

}  // namespace berth
