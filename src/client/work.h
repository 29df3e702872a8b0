// Jobs, and pods that belong to none, as those see them who wait for them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "client/listing.h"
#include "manifest/gpu_part.h"
#include "manifest/value.h"

namespace berth {

// "job/hello", "vcjob/train", "pod/p1"; a name alone is a job's.
struct WorkName {
  std::string kind = "job";  // or "vcjob", which is Volcano's, "jobset" or "pod"
  std::string name;

  std::string to_string() const { return kind + "/" + name; }
  bool is_pod() const { return kind == "pod"; }
  bool is_job_set() const { return kind == "jobset"; }
  std::string qualified() const {
    return kind == "job"     ? "jobs.batch"
           : kind == "vcjob" ? "jobs.batch.volcano.sh"
           : is_job_set()    ? "jobsets.jobset.x-k8s.io"
                             : "pods";
  }
  friend bool operator==(const WorkName&, const WorkName&) = default;
};
Result<WorkName> parse_work_name(std::string_view text);

enum class WorkState : std::uint8_t {
  kWaiting,    // no pod of it has a place
  kSuspended,  // by its owner
  kStarting,   // has a place
  kRunning,
  kEnding,  // deleted, but not gone
  kSucceeded,
  kFailed,
};
std::string_view name_of(WorkState state);
bool has_no_place_yet(WorkState state);
bool has_ended(WorkState state);

struct Work {
  WorkName name;
  std::string name_space;
  std::string uid;
  Value labels;  // null: none
  std::string queue;
  std::string
      cluster_queue;  // that its LocalQueue leads to: "clusterqueue/main"; empty: it is in none, or nobody has looked
  std::string workload;  // of a pod that starts with others: what their Workload is called
  WorkState state = WorkState::kWaiting;
  // Why pods wait and how many say so, the most frequent first; or why it failed.
  std::vector<std::pair<std::string, int>> reasons;
  int pods = 1;          // it wants in all
  int pods_at_once = 1;  // it wants to run together
  int pods_ready = 0;    // of pods: run or have succeeded
  int pods_lacking = 0;  // of those at once: are not made
  int gang = 0;          // pods that start together; 0: each for itself
  bool elastic = false;  // so many of them, or one, are enough to start
  std::int64_t gpu_milli_per_pod = 0;
  std::string slice_per_pod;  // its profile: "1g.10gb"; empty: none, and GPUs are counted
  GpuPart part_per_pod;       // of one GPU; none: it asks none
  std::string gpu_models;     // "H100|A100"; empty: any
  // Of all pods together, if they do not all ask the same.
  std::optional<std::int64_t> gpu_milli_mixed;
  std::vector<std::string> nodes;  // where its live pods are, each once
  Time created;

  std::int64_t gpu_milli() const { return gpu_milli_mixed.value_or(gpu_milli_per_pod * pods_at_once); }
};

// In the order of their creation, namespace by namespace. `jobs`: Kubernetes' and Volcano's. Pods of a Job that is not among
// them are left out.
std::vector<Work> read_work(const std::vector<Value>& jobs, const std::vector<Value>& pods);

// One Job; `pods` are its own.
Work read_job_work(const Value& job, const std::vector<const Value*>& pods);
// A JobSet of which so many Jobs are made, as something that waits by itself.
Work read_job_set_work(const Value& set, int jobs_made);
// Puts it first that what is lacking cannot be made.
void say_not_made(Work& work, std::string_view why);
void sort_by_creation(std::vector<Work>& work);
// The uid of the Job that controls a pod; empty: none does.
std::string_view job_uid_of_pod(const Value& pod);

// A pod by itself, also one of a Job.
Work read_pod_work(const Value& pod);

Listing list_work(const std::vector<Work>& work, bool with_namespace, Time now);

// Names of the same kind that may have been meant by one that is not there; empty if none is near.
std::string nearest_work(const WorkName& name, const std::vector<Work>& work);

// What a pod, or a Job's template, asks of GPUs, in thousandths. Of a part by memory and of a replica it is what the pod was
// given, and before that nothing.
std::int64_t gpu_milli_of_pod(const Value& pod);

// The part of one GPU that it asks.
GpuPart gpu_part_of_pod(const Value& pod);

// The profile of the slice that it asks; empty: none.
std::string slice_of_pod(const Value& pod);

// Pods of that Job, by their controller.
std::vector<Value> pods_of_job(const std::vector<Value>& pods, std::string_view job_uid);
// Those of all Jobs of that JobSet.
std::vector<Value> pods_of_job_set(const std::vector<Value>& pods, std::string_view set_uid);

// "2 GPUs", "1 GPU", "0.5 GPU", "no GPU".
std::string gpus_in_words(std::int64_t gpu_milli);
// What one pod of it asks: "2 GPUs", "a 1g.10gb slice", "0.25 GPU by MPS", "20000 MiB of a GPU", "a replica of a GPU".
std::string asked_per_pod(const Work& work);
// What all pods of it ask together, in words ("2 GPUs", "a 1g.10gb slice", "4 1g.10gb slices") and for a table ("2", "4x1g.10gb",
// "0.25/mps", "shared", "-").
std::string asked_in_words(const Work& work);
std::string asked_in_short(const Work& work);

}  // namespace berth
