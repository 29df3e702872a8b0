// Kinds whose own operators make pods, and whose objects say in their own words how many of these start together. One row for
// each; what such an object says is read as a PodGroup's words are (pod_group.h), and followed in the same way.
#pragma once

#include <optional>
#include <span>
#include <string_view>

#include "manifest/pod_group.h"
#include "manifest/value.h"

namespace berth {

struct GangOwnerKind {
  std::string_view qualified;  // "leaderworkersets.leaderworkerset.x-k8s.io"
  std::string_view kind;       // "LeaderWorkerSet"
  std::string_view name_label =
      {};  // of its pods: the object's name; empty: it makes objects of other kinds, and no pods
  // Where several kinds have that label: one that tells them apart, and what it says on pods of this one.
  std::string_view mark_label = {}, mark = {}, other_mark = {};
  std::string_view task_label = {};       // of its pods: whose part they are, in small letters
  std::string_view replica_label = {};    // which of the object's groups; empty: all of its pods are one group
  std::string_view size_annotation = {};  // how many pods the group has, as it was when they were made
  PodGroupReading (*read)(const Value& object) = nullptr;
};

std::span<const GangOwnerKind> gang_owner_kinds();
// None: it is no such kind.
const GangOwnerKind* find_gang_owner_kind(std::string_view qualified);
// By its labels; none: it belongs to none of them, or counts to no gang of theirs.
std::optional<PodGroupName> gang_owner_named_by(const Value& pod);

}  // namespace berth
