// PodGroups in a live engine, and the other kinds that say who starts together (manifest/gang_owner.h): so many of a group's pods
// as its object says start together, and what more there is of it each by itself, once those have their places. Which pods the first are goes by how they stand, so that a scheduler that is started
// anew finds the same ones.
// No threads, clocks or sockets.
#pragma once

#include <compare>
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

// Of the objects that pods name: PodGroups' dialects, and the kinds of operators.
std::vector<std::string_view> pod_group_kinds();

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
  struct Key {
    std::string qualified, object;  // "NAMESPACE/NAME"
    std::string replica;            // of an object with several groups

    friend auto operator<=>(const Key&, const Key&) = default;
  };
  struct Source {
    Value object;
    PodGroupReading read;
  };
  enum class Part : std::uint8_t { kFirst, kMore, kMoreWaits, kApart };
  struct Group {
    std::map<std::string, PodFacts> pods;             // by uid, as they say it themselves
    std::map<std::string, Part> parts;                // as was told last
    std::set<std::string> unsettled;                  // pods that have changed since
    std::int64_t at_least = 1;                        // so many start together, as was told last
    std::map<std::string, std::int64_t> missed = {};  // how many a task needs of which none is left that has not ended
    bool changed = false;                             // its object has
  };
  const Source* source_of(const Key& key) const;
  static PodGroupSpec said_by(const Group& group);
  static std::int64_t size_of(const PodGroupSpec& spec, const Group& group);
  static std::map<std::string, Part> parts_of(const PodGroupSpec& spec, const Group& group);
  static PodFacts resolved(const Source* source, const Group& group, const PodFacts& pod, Part part);
  static Value status_of(const Key& key, const Source& source, const Group& group, Time now);
  void note_change(const Key& object);
  static void note_missed(Group& group, const PodFacts& gone);
  void forget_if_empty(const Key& key);
  void leave(const std::string& uid);

  OtherQueues& pods_;
  std::map<Key, Source> objects_;        // that are there; without a replica
  std::map<Key, Group> groups_;          // of the objects that have a status of ours, and of pods
  std::map<std::string, Key> group_of_;  // by pod
  std::set<Key> unsettled_, uncounted_;
  std::map<Key, OtherStatus> statuses_;
};

}  // namespace berth
