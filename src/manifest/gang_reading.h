// What the readers of gang_owner.h's kinds have in common.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "manifest/pod_group.h"
#include "manifest/value.h"
#include "model/workload.h"

namespace berth {

using TaskCounts = std::map<std::string, std::int64_t>;  // pods by task
std::int64_t sum_of(const TaskCounts& tasks);
std::string in_small_letters(std::string_view text);

// One object, while it is read. Whatever it holds, what comes out can be used: numbers of pods are from 0 to
// kPodsPerWorkloadMax, and of those that start together there is at least one.
class GangReading {
 public:
  // PRE: the object outlives it. Its queue and priority class are read at once.
  explicit GangReading(const Value& object);

  void complain(std::string field, const Value& value, std::string text);
  void leave_out(std::string field, const Value& value, std::string why);
  void advise(std::string field, const Value& value, std::string text);

  // A number of pods; what is wrong with it counts as the nearest that is right.
  std::int64_t count_at(const Value& value, std::string field, std::int64_t absent, std::int64_t low,
                        std::int64_t high = kPodsPerWorkloadMax);
  // The gang: of each task so many. `all`: what there will be in the end, the gang among it.
  void start_with(const TaskCounts& tasks, const TaskCounts& all, const std::string& field);

  PodGroupReading made;

 private:
  void read_queue(const Value& metadata);
};

PodGroupReading read_leader_worker_set(const Value& object);
PodGroupReading read_pytorch_job(const Value& object);
PodGroupReading read_tf_job(const Value& object);
PodGroupReading read_xgboost_job(const Value& object);
PodGroupReading read_paddle_job(const Value& object);
PodGroupReading read_jax_job(const Value& object);
PodGroupReading read_mpi_job(const Value& object);
PodGroupReading read_ray_cluster(const Value& object);
PodGroupReading read_ray_job(const Value& object);

}  // namespace berth
