// Room in a namespace's quotas that is kept for pods to come. A gang counts whole from its first pod on: what its other
// pods will use counts as used before they exist, so that two gangs never share what is enough for one.
//
// A gang of a Job keeps room for as many pods as may run at once until the Job has less to do (some have succeeded), is
// suspended or over: a failed pod's room is its replacement's. Of a gang without a Job nobody replaces pods: it keeps room
// until it has been whole.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "apiserver/pod_facts.h"
#include "manifest/value.h"
#include "store/store.h"

namespace berth {

struct GangHold {
  std::int64_t there = 0;     // its pods
  std::int64_t live = 0;      // of those, that have not ended
  std::int64_t unfailed = 0;  // that have not failed
  std::int64_t hold = 0;      // for how many live pods there is room
  std::string job;            // uid; empty: it is no Job's
  Amounts each;               // what one pod uses

  std::int64_t to_come() const { return hold > live ? hold - live : 0; }
  Amounts reserved() const;  // by the pods to come
  bool is_nothing() const { return there == 0 && hold == 0; }
};

// How many pods of the Job may still run at once; 0: it runs none. (Indexes that failed for good keep their room until the
// Job ends.)
std::int64_t pods_wanted(const Value& job);

// What becomes of it with one more pod of a group of that size, with one that ends or is erased, with a change of its Job.
// `job`: the Job whose pod it is, null if none.
GangHold with_pod(GangHold gang, const Amounts& usage, std::int64_t group_size, const Value& job);
GangHold with_end(GangHold gang, const Value& ended);
GangHold without_pod(GangHold gang, const Value& erased);
GangHold with_job(GangHold gang, const Value& job, bool erased);

// As records "_groups/NAMESPACE/GROUP", kept in namespaces that have quotas.
GangHold read_gang(const Transaction& transaction, std::string_view name_space, std::string_view group);
void write_gang(Transaction& transaction, std::string_view name_space, const std::string& group, const GangHold& gang);
// All of a namespace as its pods and Jobs say it; `counted` has there, live and unfailed of those that have pods.
std::map<std::string, GangHold> settled_gangs(const Transaction& transaction, std::string_view name_space,
                                              std::map<std::string, GangHold> counted);
void write_gangs(Transaction& transaction, std::string_view name_space, const std::map<std::string, GangHold>& gangs);

// The Job that controls the pod, if it is there.
Value job_of_pod(const Transaction& transaction, const Value& pod);

}  // namespace berth
