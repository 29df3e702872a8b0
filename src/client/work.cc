#include "client/work.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <limits>
#include <map>
#include <optional>
#include <tuple>

#include "base/wording.h"
#include "manifest/given_gpus.h"
#include "manifest/gpu_need.h"
#include "manifest/job_set_labels.h"
#include "manifest/label_syntax.h"
#include "manifest/labels.h"
#include "manifest/scheduler_name.h"
#include "manifest/slice_resources.h"
#include "manifest/timestamp.h"
#include "manifest/vgpu_resources.h"
#include "manifest/workload_name.h"
#include "model/quantity.h"

namespace berth {
namespace {

// Of a table's cells; -o wide shows all.
constexpr std::size_t kReasonCharactersMax = 72;
constexpr std::size_t kNodesShownMax = 2;

// Sums of what a server says stay far from the ends of 64 bits.
constexpr std::int64_t kGpuMilliMax = std::int64_t{1} << 40;
constexpr std::int64_t kPodsMax = std::numeric_limits<std::int32_t>::max();

std::int64_t milli_of_container(const Value& container, std::string_view resource) {
  const Value& resources = container["resources"];
  const Value& amount =
      resources["requests"][resource].is_null() ? resources["limits"][resource] : resources["requests"][resource];
  const auto milli = parse_milli(amount.is_integer() ? std::to_string(amount.integer()) : std::string(amount.text()));
  return milli ? std::clamp<std::int64_t>(*milli, 0, kGpuMilliMax) : 0;
}

// All containers together, or an initial one if that is more.
std::int64_t milli_of_containers(const Value& pod, std::string_view resource) {
  std::int64_t together = 0;
  for (const Value& container : pod["spec"]["containers"].items()) {
    together = std::min(together + milli_of_container(container, resource), kGpuMilliMax);
  }
  for (const Value& container : pod["spec"]["initContainers"].items()) {
    together = std::max(together, milli_of_container(container, resource));
  }
  return together;
}

std::string gpu_models_of(const Value& pod) {
  const Value& product = pod["spec"]["nodeSelector"][kGpuProductLabel];
  return std::string(product.is_text() ? product.text() : pod["metadata"]["annotations"][kGpuModelsAnnotation].text());
}

Time created_at(const Value& object) {
  return parse_timestamp(object["metadata"]["creationTimestamp"].text()).value_or(Time{});
}

const Value& condition_of(const Value& object, std::string_view type) {
  static const Value kNone;
  for (const Value& condition : object["status"]["conditions"].items()) {
    if (condition["type"].text() == type) return condition;
  }
  return kNone;
}

std::string_view owning_job(const Value& pod) {
  for (const Value& owner : pod["metadata"]["ownerReferences"].items()) {
    if (owner["controller"].truth() && owner["kind"].text() == "Job") return owner["uid"].text();
  }
  return {};
}

std::string why_pod_waits(const Value& pod) {
  const Value& gates = pod["spec"]["schedulingGates"];
  if (!gates.items().empty()) return "scheduling gate " + std::string(gates.items().front()["name"].text());
  const std::string_view told = condition_of(pod, "PodScheduled")["message"].text();
  if (!told.empty()) return std::string(told);
  std::string others = left_to_another_scheduler(pod);
  return others.empty() ? "the scheduler has not looked at it yet" : others;
}

// What the pods of one piece of work are doing.
struct PodTally {
  int waiting = 0, starting = 0, running = 0, succeeded = 0, failed = 0;
  std::map<std::string, int> reasons;
  std::map<std::string, int> nodes;

  void add(const Value& pod) {
    const std::string_view phase = pod["status"]["phase"].text();
    if (phase == "Succeeded") {
      ++succeeded;
    } else if (phase == "Failed") {
      ++failed;
    } else if (const std::string_view node = pod["spec"]["nodeName"].text(); node.empty()) {
      ++waiting;
      ++reasons[why_pod_waits(pod)];
    } else {
      ++(phase == "Running" ? running : starting);
      ++nodes[std::string(node)];
    }
  }
};

void take_tally(const PodTally& tally, Work& work) {
  work.reasons.assign(tally.reasons.begin(), tally.reasons.end());
  std::ranges::stable_sort(work.reasons, [](const auto& a, const auto& b) { return a.second > b.second; });
  for (const auto& [node, count] : tally.nodes) work.nodes.push_back(node);
  work.pods_ready = tally.running + tally.succeeded;
  // When all have succeeded the Job is not yet marked as complete for a moment.
  const bool all_done = tally.succeeded > 0 && tally.waiting + tally.starting == 0;
  work.state = tally.running > 0 || all_done ? WorkState::kRunning
               : tally.starting > 0          ? WorkState::kStarting
                                             : WorkState::kWaiting;
}

// Of the thing itself, else of its pods; Kueue's and Volcano's as "localqueue/NAME" and "volcano/NAME".
std::string queue_of(const Value& metadata, const Value& pod_metadata) {
  struct Word {
    const char* where;
    std::string_view key;
    const char* before;
  };
  constexpr Word kWords[] = {{"labels", kQueueLabel, ""},
                             {"labels", kKueueQueueLabel, "localqueue/"},
                             {"annotations", kVolcanoQueueAnnotation, "volcano/"}};
  for (const Word& word : kWords) {
    for (const Value* const of : {&metadata, &pod_metadata}) {
      const std::string_view name = (*of)[word.where][word.key].text();
      if (!name.empty()) return word.before + std::string(name);
    }
  }
  return std::string(kDefaultQueue);
}

Work work_of(const Value& object, std::string kind, const Value& pod) {
  Work work;
  const Value& metadata = object["metadata"];
  work.name = {.kind = std::move(kind), .name = std::string(metadata["name"].text())};
  work.name_space = metadata["namespace"].text();
  work.uid = metadata["uid"].text();
  work.labels = metadata["labels"];
  work.queue = queue_of(metadata, pod["metadata"]);
  work.gpu_milli_per_pod = gpu_milli_of_pod(pod);
  work.slice_per_pod = slice_of_pod(pod);
  work.part_per_pod = gpu_part_of_pod(pod);
  work.gpu_models = gpu_models_of(pod);
  work.created = created_at(object);
  return work;
}

int count_of(const Value& number, std::int64_t otherwise) {
  return static_cast<int>(
      std::clamp<std::int64_t>(number.integer(otherwise), 0, std::numeric_limits<std::int32_t>::max()));
}

void say_reason(Work& work, std::string text) { work.reasons = {{std::move(text), work.pods}}; }

// Until whoever makes them says why not.
constexpr std::string_view kPodsNotMade = "its pods are not made yet";
constexpr std::string_view kJobsNotMade = "its Jobs are not made yet";

void note_lacking(const PodTally& tally, int wanted, Work& work) {
  work.pods_lacking = std::max(wanted - tally.waiting - tally.starting - tally.running, 0);
}

// Of Volcano's: which of its tasks asks most stands for its pods.
const Value& largest_template(const Value& job) {
  static const Value kNone;
  const Value* largest = &kNone;
  for (const Value& task : job["spec"]["tasks"].items()) {
    const bool first = largest == &kNone;
    if (first || gpu_milli_of_pod(task["template"]) > gpu_milli_of_pod(*largest)) largest = &task["template"];
  }
  return *largest;
}

void note_volcano_phase(const Value& job, Work& work) {
  const Value& state = job["status"]["state"];
  const std::string_view phase = state["phase"].text();
  const std::string_view message = state["message"].text();
  if (phase == "Failed" || phase == "Terminated" || phase == "Aborted") {
    work.state = WorkState::kFailed;
    say_reason(work, std::string(phase) + (message.empty() ? "" : ": ") + std::string(message));
  } else if (phase == "Completed") {
    work.state = WorkState::kSucceeded;
    work.pods_ready = count_of(job["status"]["succeeded"], work.pods_ready);
    work.reasons.clear();
  } else if (!job["metadata"]["deletionTimestamp"].is_null()) {
    work.state = WorkState::kEnding;
  } else if (work.state == WorkState::kWaiting && work.reasons.empty()) {
    say_reason(work, std::string(message.empty() ? kPodsNotMade : message));
  } else if (work.state == WorkState::kWaiting && work.pods_lacking > 0 && !message.empty()) {
    work.reasons.emplace(work.reasons.begin(), message, work.pods_lacking);
  }
}

Work read_volcano_work(const Value& job, const PodTally& tally) {
  const Value& spec = job["spec"];
  Work work = work_of(job, "vcjob", largest_template(job));
  const std::string_view queue = spec["queue"].text();
  const bool has_own = !job["metadata"]["labels"][kQueueLabel].is_empty();
  if (!queue.empty() && queue != kDefaultQueue && !has_own) work.queue = "volcano/" + std::string(queue);
  std::int64_t pods = 0, gpu_milli = 0;
  for (const Value& task : spec["tasks"].items()) {
    const int replicas = count_of(task["replicas"], 0);
    pods += replicas;
    gpu_milli = std::min(gpu_milli + gpu_milli_of_pod(task["template"]) * replicas, kGpuMilliMax);
  }
  work.pods = work.pods_at_once = static_cast<int>(std::min(pods, kPodsMax));
  if (gpu_milli != work.gpu_milli()) work.gpu_milli_mixed = gpu_milli;
  const int together = count_of(spec["minAvailable"], work.pods);
  work.gang = together < 2 ? 0 : together;
  take_tally(tally, work);
  note_lacking(tally, work.pods - tally.succeeded - tally.failed, work);
  note_volcano_phase(job, work);
  return work;
}

// How many pods have the group that a Job's template names; 0: it names none.
int wider_gang_of(const Value& metadata) {
  if (metadata["labels"][kGroupLabel].is_empty()) return 0;
  const auto size =
      parse_integer(metadata["annotations"][kGroupSizeAnnotation].text(), 1, std::numeric_limits<std::int32_t>::max());
  return size ? static_cast<int>(*size) : 0;
}

// What a Job or JobSet says of itself goes before what its pods do. `done`: the condition of those that have succeeded.
void note_own_words(const Value& job, std::string_view done, Work& work) {
  const Value& failed = condition_of(job, "Failed");
  if (failed["status"].text() == "True") {
    work.state = WorkState::kFailed;
    say_reason(work, std::string(failed["reason"].text()) + ": " + std::string(failed["message"].text()));
  } else if (condition_of(job, done)["status"].text() == "True") {
    work.state = WorkState::kSucceeded;
    work.pods_ready = count_of(job["status"]["succeeded"], work.pods_ready);
    work.reasons.clear();
  } else if (!job["metadata"]["deletionTimestamp"].is_null()) {
    work.state = WorkState::kEnding;
  } else if (job["spec"]["suspend"].truth()) {
    work.state = WorkState::kSuspended;
    say_reason(work, "its spec.suspend is true");
  } else {
    return;
  }
  work.pods_lacking = 0;
}

Work read_job(const Value& job, const PodTally& tally) {
  if (job["spec"]["tasks"].is_list()) return read_volcano_work(job, tally);
  const Value& spec = job["spec"];
  Work work = work_of(job, "job", spec["template"]);
  const int parallelism = count_of(spec["parallelism"], 1);
  work.pods = count_of(spec["completions"], parallelism);
  work.pods_at_once = std::min(parallelism, work.pods);
  const bool alone = job["metadata"]["annotations"][kGangAnnotation].text() == "false";
  const auto enough = parse_integer(job["metadata"]["annotations"][kKueueMinParallelismAnnotation].text(), 1,
                                    std::numeric_limits<std::int32_t>::max());
  work.elastic = !alone && enough && *enough < work.pods_at_once;
  const int together = work.elastic ? static_cast<int>(*enough) : work.pods_at_once;
  work.gang = alone || together < 2 ? 0 : together;
  // Of a JobSet's Jobs all start together.
  if (const int wider = wider_gang_of(spec["template"]["metadata"]); wider > 0) {
    work.gang = wider;
    work.elastic = false;
  }
  take_tally(tally, work);
  const int succeeded = std::max(tally.succeeded, count_of(job["status"]["succeeded"], 0));
  note_lacking(tally, std::min(work.pods_at_once, work.pods - std::min(succeeded, work.pods)), work);
  note_own_words(job, "Complete", work);
  if (work.state == WorkState::kWaiting && work.reasons.empty()) say_reason(work, std::string(kPodsNotMade));
  return work;
}

std::string nodes_in_words(const std::vector<std::string>& nodes, std::size_t shown_max) {
  std::string text;
  for (std::size_t i = 0; i < std::min(nodes.size(), shown_max); ++i) text += (i > 0 ? "," : "") + nodes[i];
  if (nodes.size() > shown_max) text += " +" + std::to_string(nodes.size() - shown_max);
  return text.empty() ? "-" : text;
}

ListingRow row_of(const Work& work, Time now) {
  ListingRow row;
  row.name = work.name.to_string();
  const std::string reason = work.reasons.empty() ? std::string() : work.reasons.front().first;
  const std::string pods = std::to_string(work.pods_ready) + "/" + std::to_string(work.pods);
  row.cells = {row.name,
               work.queue,
               std::string(name_of(work.state)),
               pods,
               asked_in_short(work),
               nodes_in_words(work.nodes, kNodesShownMax),
               nodes_in_words(work.nodes, work.nodes.size()),
               format_age(now - work.created),
               reason.empty() ? "-" : shortened(reason, kReasonCharactersMax),
               reason.empty() ? "-" : reason};
  Value nodes = Value::list();
  for (const std::string& node : work.nodes) nodes.push_back(node);
  row.facts = Value::map_of({{"kind", work.name.kind},
                             {"namespace", work.name_space},
                             {"name", work.name.name},
                             {"queue", work.queue},
                             {"state", name_of(work.state)},
                             {"pods", work.pods},
                             {"podsReady", work.pods_ready},
                             {"gpus", format_milli(work.gpu_milli())},
                             {"nodes", std::move(nodes)},
                             {"created", format_timestamp(work.created)},
                             {"reason", reason}});
  if (!work.slice_per_pod.empty()) row.facts.set("slice", work.slice_per_pod);
  if (!work.part_per_pod.is_none()) row.facts.set("part", asked_per_pod(work));
  return row;
}

}  // namespace

Result<WorkName> parse_work_name(std::string_view text) {
  const std::size_t slash = text.find('/');
  const std::string_view kind = slash == std::string_view::npos ? "job" : text.substr(0, slash);
  const std::string_view name = slash == std::string_view::npos ? text : text.substr(slash + 1);
  constexpr std::array<std::string_view, 4> kJobs = {"job", "jobs", "job.batch", "jobs.batch"};
  constexpr std::array<std::string_view, 5> kVolcanos = {"vcjob", "vcjobs", "vj", "job.batch.volcano.sh",
                                                         "jobs.batch.volcano.sh"};
  constexpr std::array<std::string_view, 3> kPods = {"pod", "pods", "po"};
  const bool job = std::ranges::find(kJobs, kind) != kJobs.end();
  const bool volcanos = std::ranges::find(kVolcanos, kind) != kVolcanos.end();
  const bool pod = std::ranges::find(kPods, kind) != kPods.end();
  constexpr std::array<std::string_view, 3> kSets = {"jobset", "jobsets", "jobset.jobset.x-k8s.io"};
  const bool set = std::ranges::find(kSets, kind) != kSets.end();
  if (name.empty() || name.find('/') != std::string_view::npos || (!job && !pod && !volcanos && !set)) {
    return Complaints(
        quote(text) +
        " names neither a job nor a pod; write job/NAME or pod/NAME, for one of Volcano's vcjob/NAME, and "
        "for a JobSet jobset/NAME");
  }
  return WorkName{.kind = job ? "job" : volcanos ? "vcjob" : set ? "jobset" : "pod", .name = std::string(name)};
}

std::string_view name_of(WorkState state) {
  switch (state) {
    case WorkState::kWaiting:
      return "waiting";
    case WorkState::kSuspended:
      return "suspended";
    case WorkState::kStarting:
      return "starting";
    case WorkState::kRunning:
      return "running";
    case WorkState::kEnding:
      return "ending";
    case WorkState::kSucceeded:
      return "succeeded";
    case WorkState::kFailed:
      return "failed";
  }
  return "";
}

bool has_no_place_yet(WorkState state) { return state == WorkState::kWaiting || state == WorkState::kSuspended; }
bool has_ended(WorkState state) { return state == WorkState::kSucceeded || state == WorkState::kFailed; }

Work read_pod_work(const Value& pod) {
  PodTally tally;
  tally.add(pod);
  Work work = work_of(pod, "pod", pod);
  work.workload = workload_name_of(pod);
  take_tally(tally, work);
  const Value& metadata = pod["metadata"];
  for (const std::string_view key : {kGroupSizeAnnotation, kKueueGroupSizeAnnotation}) {
    if (const auto size = parse_integer(metadata["annotations"][key].text(), 1, 1'000'000); size && work.gang == 0) {
      work.gang = static_cast<int>(*size);
    }
  }
  if (tally.succeeded > 0) {
    work.state = WorkState::kSucceeded;
  } else if (tally.failed > 0) {
    work.state = WorkState::kFailed;
    const std::string_view reason = pod["status"]["reason"].text("it ended with an error");
    say_reason(work, std::string(pod["status"]["message"].text(reason)));
  } else if (!metadata["deletionTimestamp"].is_null()) {
    work.state = WorkState::kEnding;
  }
  return work;
}

std::vector<Work> read_work(const std::vector<Value>& jobs, const std::vector<Value>& pods) {
  std::map<std::string_view, PodTally> tallies;
  std::vector<Work> work;
  for (const Value& pod : pods) {
    if (const std::string_view job = owning_job(pod); job.empty()) {
      work.push_back(read_pod_work(pod));
    } else {
      tallies[job].add(pod);
    }
  }
  for (const Value& job : jobs) work.push_back(read_job(job, tallies[job["metadata"]["uid"].text()]));
  sort_by_creation(work);
  return work;
}

void sort_by_creation(std::vector<Work>& work) {
  std::ranges::sort(work, [](const Work& a, const Work& b) {
    return std::tie(a.name_space, a.created, a.name.kind, a.name.name) <
           std::tie(b.name_space, b.created, b.name.kind, b.name.name);
  });
}

void say_not_made(Work& work, std::string_view why) {
  std::erase_if(work.reasons,
                [](const auto& each) { return each.first == kPodsNotMade || each.first == kJobsNotMade; });
  const std::string what = work.name.is_job_set() ? "its Jobs" : "its pods";
  work.reasons.emplace(work.reasons.begin(), what + " cannot be made: " + std::string(why), work.pods_lacking);
}

Work read_job_set_work(const Value& set, int jobs_made) {
  static const Value kNone;
  const Value* largest = &kNone;
  std::int64_t jobs = 0, pods = 0, gpu_milli = 0;
  for (const Value& part : set["spec"]["replicatedJobs"].items()) {
    const Value& job = part["template"]["spec"];
    const int replicas = count_of(part["replicas"], 1);
    const int parallelism = count_of(job["parallelism"], 1);
    const int of_job = std::min(parallelism, count_of(job["completions"], parallelism));
    const std::int64_t each = gpu_milli_of_pod(job["template"]);
    jobs += replicas;
    pods = std::min(pods + std::int64_t{replicas} * of_job, kPodsMax);
    gpu_milli = std::min(gpu_milli + std::min(each * of_job, kGpuMilliMax) * std::min(replicas, 1 << 20), kGpuMilliMax);
    if (largest == &kNone || each > gpu_milli_of_pod(*largest)) largest = &job["template"];
  }
  Work work = work_of(set, "jobset", *largest);
  work.pods = work.pods_at_once = static_cast<int>(pods);
  if (gpu_milli != work.gpu_milli()) work.gpu_milli_mixed = gpu_milli;
  const bool alone = set["metadata"]["annotations"][kGangAnnotation].text() == "false";
  work.gang = alone || work.pods < 2 ? 0 : work.pods;
  work.pods_lacking = jobs > jobs_made ? work.pods : 0;
  say_reason(work, std::string(kJobsNotMade));
  note_own_words(set, "Completed", work);
  return work;
}

Work read_job_work(const Value& job, const std::vector<const Value*>& pods) {
  PodTally tally;
  for (const Value* pod : pods) tally.add(*pod);
  return read_job(job, tally);
}

std::string_view job_uid_of_pod(const Value& pod) { return owning_job(pod); }

Listing list_work(const std::vector<Work>& work, bool with_namespace, Time now) {
  Listing listing;
  listing.columns = {{"NAME"},
                     {"QUEUE"},
                     {"STATE", ShownIn::kBoth, true},
                     {"PODS"},
                     {"GPUS"},
                     {"NODES", ShownIn::kNarrow},
                     {"NODES", ShownIn::kWide},
                     {"AGE"},
                     {"REASON", ShownIn::kNarrow},
                     {"REASON", ShownIn::kWide}};
  if (with_namespace) listing.columns.insert(listing.columns.begin(), {"NAMESPACE"});
  for (const Work& each : work) {
    listing.rows.push_back(row_of(each, now));
    auto& cells = listing.rows.back().cells;
    if (with_namespace) cells.insert(cells.begin(), each.name_space);
  }
  return listing;
}

std::string nearest_work(const WorkName& name, const std::vector<Work>& work) {
  std::vector<std::string_view> known;
  for (const Work& each : work) {
    if (each.name.kind == name.kind) known.push_back(each.name.name);
    const std::string_view set = each.labels[kJobSetNameLabel].text();
    if (name.is_job_set() && !set.empty()) known.push_back(set);
  }
  const std::string_view near = nearest_word(name.name, known);
  return near.empty() ? std::string() : name.kind + "/" + std::string(near);
}

std::int64_t gpu_milli_of_pod(const Value& pod) {
  const GpuPart part = gpu_part_of_pod(pod);
  if (part.is_none()) return milli_of_containers(pod, kGpuResource);
  const auto given = parse_given_gpus(pod["metadata"]["annotations"][kGpusAnnotation].text());
  return given && given->milli > 0 ? given->milli : part.milli;
}

namespace {

std::map<std::string, std::int64_t> vgpus_of_pod(const Value& pod) {
  std::map<std::string, std::int64_t> vgpus;
  for (const char* const list : {"containers", "initContainers"}) {
    for (const Value& container : pod["spec"][list].items()) {
      for (const char* const which : {"requests", "limits"}) {
        for (const Value::Member& each : container["resources"][which].members()) {
          if (is_vgpu_resource(each.key)) vgpus[each.key] = milli_of_containers(pod, each.key) / 1000;
        }
      }
    }
  }
  std::erase_if(vgpus, [](const auto& each) { return each.second == 0; });
  return vgpus;
}

}  // namespace

GpuPart gpu_part_of_pod(const Value& pod) {
  const GpuResources asked{.whole = milli_of_containers(pod, kGpuResource) / 1000,
                           .shared = milli_of_containers(pod, kSharedGpuResource) / 1000,
                           .slices = !slice_of_pod(pod).empty(),
                           .vgpus = vgpus_of_pod(pod)};
  return read_gpu_part(pod["metadata"]["annotations"], asked).part;
}

namespace {

// By need: the profile that it was given, or what it asks: "1/7 10Gi", "60Gi", "model's".
std::string slice_by_need(const Value& annotations) {
  const auto given = parse_given_gpus(annotations[kGpusAnnotation].text());
  if (given && !given->profile.empty()) return given->profile;
  const std::string_view part = annotations[kSliceNeedAnnotation].text();
  const std::string_view memory = annotations[kNeededMemoryAnnotation].text();
  std::string asked(part == kSmallestSlice ? "" : part);
  if (!memory.empty()) asked += (asked.empty() ? "" : " ") + std::string(memory);
  if (asked.empty()) asked = "model's";
  return asked;
}

}  // namespace

std::string slice_of_pod(const Value& pod) {
  const Value& annotations = pod["metadata"]["annotations"];
  if (annotations.find(kSliceNeedAnnotation) != nullptr) return slice_by_need(annotations);
  for (const char* const list : {"containers", "initContainers"}) {
    for (const Value& container : pod["spec"][list].items()) {
      for (const char* const which : {"requests", "limits"}) {
        for (const Value::Member& each : container["resources"][which].members()) {
          if (!is_slice_resource(each.key)) continue;
          if (const auto profile = profile_of(each.key)) return *profile;
        }
      }
    }
  }
  return "";
}

std::vector<Value> pods_of_job(const std::vector<Value>& pods, std::string_view job_uid) {
  std::vector<Value> found;
  for (const Value& pod : pods) {
    if (owning_job(pod) == job_uid) found.push_back(pod);
  }
  return found;
}

std::vector<Value> pods_of_job_set(const std::vector<Value>& pods, std::string_view set_uid) {
  std::vector<Value> found;
  for (const Value& pod : pods) {
    if (pod["metadata"]["labels"][kJobSetUidLabel].text() == set_uid) found.push_back(pod);
  }
  return found;
}

std::string asked_per_pod(const Work& work) {
  const GpuPart& part = work.part_per_pod;
  if (!work.slice_per_pod.empty()) return "a " + work.slice_per_pod + " slice";
  if (part.is_replica()) return "a replica of a GPU";
  if (!part.vgpu.empty()) return "a vGPU " + part.vgpu;
  const std::string how = part.sharing == Sharing::kMps ? " by MPS" : "";
  if (part.memory_mib > 0) return std::to_string(part.memory_mib) + " MiB of a GPU" + how;
  return gpus_in_words(work.gpu_milli_per_pod) + how;
}

std::string asked_in_words(const Work& work) {
  const bool counts = work.slice_per_pod.empty() && work.part_per_pod.sharing == Sharing::kExclusive;
  if (counts && work.part_per_pod.memory_mib == 0) return gpus_in_words(work.gpu_milli());
  if (work.pods_at_once == 1) return asked_per_pod(work);
  const std::string pods = std::to_string(work.pods_at_once);
  if (!work.slice_per_pod.empty()) return pods + " " + work.slice_per_pod + " slices";
  if (work.part_per_pod.is_replica()) return pods + " replicas of GPUs";
  if (!work.part_per_pod.vgpu.empty()) return pods + " vGPUs " + work.part_per_pod.vgpu;
  return pods + " times " + asked_per_pod(work);
}

std::string asked_in_short(const Work& work) {
  const GpuPart& part = work.part_per_pod;
  const std::string mode = part.sharing == Sharing::kExclusive ? "" : "/" + std::string(name_of(part.sharing));
  std::string each = work.slice_per_pod;
  if (part.is_replica()) each = "shared";
  if (!part.vgpu.empty()) each = part.vgpu;
  if (part.memory_mib > 0) each = std::to_string(part.memory_mib) + "Mi" + mode;
  if (part.sharing == Sharing::kMps && part.memory_mib == 0) each = decimal_of_milli(work.gpu_milli_per_pod) + mode;
  if (each.empty()) return work.gpu_milli() == 0 ? "-" : decimal_of_milli(work.gpu_milli());
  return (work.pods_at_once == 1 ? "" : std::to_string(work.pods_at_once) + "x") + each;
}

std::string gpus_in_words(std::int64_t gpu_milli) {
  if (gpu_milli == 0) return "no GPU";
  return decimal_of_milli(gpu_milli) + (gpu_milli > 1000 ? " GPUs" : " GPU");
}

}  // namespace berth
