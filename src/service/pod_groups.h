// PodGroups in a live engine: so many of a group's pods as its object says start together, and what more there is of it each by
// itself, once those have their places. Which pods the first are goes by how they stand, so that a scheduler that is started
// anew finds the same ones.
// No threads, clocks or sockets.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/time.h"
#include "manifest/pod_group.h"
#include "manifest/value.h"
#include "service/other_queues.h"

namespace berth {

inline constexpr std::string_view kPodGroupKinds[] = {kKubernetesGroups, kCoschedulingGroups, kVolcanoGroups};

class PodGroups {
 public:
  // PRE: it outlives this, and hears of pods from nobody else.
  explicit PodGroups(OtherQueues& pods) : pods_(pods) {}

  void set(std::string_view qualified, const Value& object);
  void remove(std::string_view qualified, const Value& object);
  void set_pod(const PodFacts& pod);
  void remove_pod(const std::string& uid);
  // What has changed goes to the pods' own; before each decision.
  void settle();

  // Only those are counted that have changed. PRE: settled.
  std::vector<OtherStatus> statuses(Time now);

 private:
  using Key = std::pair<std::string, std::string>;  // qualified name, "NAMESPACE/NAME"
  enum class Part : std::uint8_t { kFirst, kMore, kMoreWaits };
  struct Group {
    Value object;  // null: it is not there
    PodGroupReading read;
    std::map<std::string, PodFacts> pods;  // by uid, as they say it themselves
    std::map<std::string, Part> parts;     // as was told last
    std::set<std::string> unsettled;       // pods that have changed since
    bool changed = false;                  // it has itself
  };
  static std::map<std::string, Part> parts_of(const Group& group);
  static PodFacts resolved(const Group& group, const PodFacts& pod, Part part);
  static Value status_of(std::string_view qualified, const Group& group, Time now);
  void forget_if_empty(const Key& key);
  void leave(const std::string& uid);

  OtherQueues& pods_;
  std::map<Key, Group> groups_;
  std::map<std::string, Key> group_of_;  // by pod
  std::set<Key> unsettled_, uncounted_;
  std::map<Key, OtherStatus> statuses_;
};

}  // namespace berth
