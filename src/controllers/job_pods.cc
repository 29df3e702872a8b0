#include "controllers/job_pods.h"

#include <algorithm>
#include <cstddef>
#include <limits>
#include <utility>

#include "base/assert.h"
#include "base/hash.h"
#include "controllers/controller.h"
#include "controllers/number_set.h"
#include "manifest/handed_down.h"
#include "manifest/labels.h"
#include "manifest/pod_group.h"
#include "manifest/timestamp.h"
#include "model/quantity.h"

namespace berth {
namespace {

// As Kubernetes draws names: without vowels, so that no word comes out.
constexpr std::string_view kLetters = "bcdfghjklmnpqrstvwxz2456789";
constexpr std::size_t kSuffixLength = 5;
constexpr std::size_t kHostnameMax = 63;

// Numbers are scattered over the names: kScatter has no factor in common with 27^5, so no two get the same one.
constexpr std::uint64_t kNames = kPodsOfJobMax;
constexpr std::uint64_t kScatter = 5'600'419;
static_assert(kLetters.size() == 27 && kNames == std::uint64_t{27} * 27 * 27 * 27 * 27 && kScatter % 3 != 0);

constexpr std::string_view kIndexFailures = "batch.kubernetes.io/job-index-failure-count";
constexpr std::string_view kIndexIgnoredFailures = "batch.kubernetes.io/job-index-ignored-failure-count";

// Where a Job's names begin; another for each, so that a Job that comes anew gets other names than the one before.
std::uint64_t offset_of(const Value& job) { return Hasher().add(job["metadata"]["uid"].text()).digest() % kNames; }

std::string suffix_of(std::uint64_t place) {
  std::string suffix(kSuffixLength, ' ');
  for (std::size_t i = kSuffixLength; i-- > 0; place /= kLetters.size()) suffix[i] = kLetters[place % kLetters.size()];
  return suffix;
}

std::string name_begin_of(const Value& job, std::optional<std::int64_t> index) {
  std::string begin(job["metadata"]["name"].text());
  if (index) begin.append("-").append(std::to_string(*index));
  return begin.append("-");
}

void add_index(const Value& job, std::int64_t index, Value& pod) {
  const std::string text = std::to_string(index);
  pod.at("metadata").at("labels").set(kCompletionIndex, text);
  pod.at("metadata").at("annotations").set(kCompletionIndex, text);
  Value& spec = pod.at("spec");
  if (spec["hostname"].is_empty()) {
    std::string_view name = job["metadata"]["name"].text();
    name = name.substr(0, kHostnameMax - text.size() - 1);
    spec.set("hostname", std::string(name) + "-" + text);
  }
  for (const char* const list : {"initContainers", "containers"}) {
    if (!spec[list].is_list()) continue;
    for (Value& container : spec.at(list).edit_items()) {
      const bool named = std::ranges::any_of(
          container["env"].items(), [](const Value& each) { return each["name"].text() == "JOB_COMPLETION_INDEX"; });
      if (!named) container.at("env").push_back(Value::map_of({{"name", "JOB_COMPLETION_INDEX"}, {"value", text}}));
    }
  }
}

}  // namespace

bool is_indexed(const Value& job) { return job["spec"]["completionMode"].text() == "Indexed"; }

std::string job_pod_name(const Value& job, std::int64_t number, std::optional<std::int64_t> index) {
  BERTH_ASSERT(number >= 0 && number < kPodsOfJobMax);
  const std::uint64_t place = (static_cast<std::uint64_t>(number) * kScatter + offset_of(job)) % kNames;
  return name_begin_of(job, index).append(suffix_of(place));
}

std::optional<std::int64_t> completion_index(const Value& pod) {
  const auto index = parse_integer(pod["metadata"]["annotations"][kCompletionIndex].text(), 0,
                                   std::numeric_limits<std::int32_t>::max());
  if (!index) return std::nullopt;
  return *index;
}

PodRetries retries_in(const Value& pod) {
  const Value& annotations = pod["metadata"]["annotations"];
  const auto count = [&](std::string_view key) {
    return parse_integer(annotations[key].text(), 0, std::numeric_limits<std::int32_t>::max()).value_or(0);
  };
  return {.failed = count(kIndexFailures), .ignored = count(kIndexIgnoredFailures)};
}

bool is_tracked(const Value& pod) {
  return std::ranges::any_of(pod["metadata"]["finalizers"].items(),
                             [](const Value& each) { return each.text() == kJobTracking; });
}

Value release_of(const Value& pod) {
  Value left = Value::list();
  for (const Value& each : pod["metadata"]["finalizers"].items()) {
    if (each.text() != kJobTracking) left.push_back(each);
  }
  Value change;
  change.at("metadata").set("finalizers", left.is_empty() ? Value() : std::move(left));
  return change;
}

bool is_past(const Value& pod) {
  return has_ended(pod) || (is_being_deleted(pod) && pod["metadata"]["deletionGracePeriodSeconds"].integer(1) == 0);
}

Time end_of(const Value& pod) {
  std::optional<Time> last;
  for (const Value& each : pod["status"]["containerStatuses"].items()) {
    const auto at = parse_timestamp(each["state"]["terminated"]["finishedAt"].text());
    if (at) last = std::max(last.value_or(*at), *at);
  }
  if (last) return *last;
  const Value& metadata = pod["metadata"];
  if (const auto deleted = parse_timestamp(metadata["deletionTimestamp"].text())) {
    const std::int64_t grace_s = metadata["deletionGracePeriodSeconds"].integer();
    return *deleted + Duration{-seconds(std::clamp<std::int64_t>(grace_s, 0, kTimeMax.ms / 1000)).ms};
  }
  return parse_timestamp(metadata["creationTimestamp"].text()).value_or(Time{0});
}

std::int64_t restarts_of(const Value& pod) {
  std::int64_t restarts = 0;
  for (const char* const list : {"initContainerStatuses", "containerStatuses"}) {
    for (const Value& each : pod["status"][list].items()) {
      restarts += std::clamp<std::int64_t>(each["restartCount"].integer(), 0, NumberSet::kMax);
    }
  }
  return restarts;
}

bool condition_holds(const Value& object, std::string_view type) {
  return std::ranges::any_of(object["status"]["conditions"].items(), [&](const Value& each) {
    return each["type"].text() == type && each["status"].text() == "True";
  });
}

bool was_preempted(const Value& pod) {
  return std::ranges::any_of(pod["status"]["conditions"].items(), [](const Value& each) {
    return each["type"].text() == "DisruptionTarget" && each["status"].text() == "True" &&
           each["reason"].text() == "PreemptionByScheduler";
  });
}

bool is_of_wider_group(const Value& job) {
  return !job["spec"]["template"]["metadata"]["labels"][kGroupLabel].is_empty();
}

std::int64_t pods_at_once(const Value& job_spec) {
  const std::int64_t parallelism = std::max<std::int64_t>(0, job_spec["parallelism"].integer(1));
  return std::clamp<std::int64_t>(job_spec["completions"].integer(parallelism), 0, parallelism);
}

std::int64_t gang_size(const Value& job) {
  const Value& pod_template = job["spec"]["template"];
  if (is_of_wider_group(job)) return group_size_in(pod_template);
  if (pod_group_named_by(pod_template)) return 0;  // that says itself who starts together
  if (job["metadata"]["annotations"][kGangAnnotation].text() == "false") return 0;
  const std::int64_t size = pods_at_once(job["spec"]);
  return size > 1 ? size : 0;
}

std::int64_t group_size(const Value& job, std::int64_t pods_missing) {
  const std::int64_t size = gang_size(job);
  if (size == 0) return 0;
  const std::int64_t left = std::clamp<std::int64_t>(size - pods_missing, 1, size);
  const std::int64_t enough = min_parallelism(job);
  return enough == 0 ? left : std::min(enough, left);
}

std::int64_t min_parallelism(const Value& job) {
  if (is_of_wider_group(job)) return 0;
  const auto enough = parse_integer(job["metadata"]["annotations"][kKueueMinParallelismAnnotation].text(), 1,
                                    std::numeric_limits<std::int32_t>::max());
  return enough ? *enough : 0;
}

std::int64_t group_size_in(const Value& pod) {
  const Value& annotations = pod["metadata"]["annotations"];
  if (const Value* const enough = annotations.find(kKueueMinParallelismAnnotation)) {
    return parse_integer(enough->text(), 0, std::numeric_limits<std::int32_t>::max()).value_or(0);
  }
  return parse_integer(annotations[kGroupSizeAnnotation].text(), 0, std::numeric_limits<std::int32_t>::max())
      .value_or(0);
}

Value owner_reference(const Value& job, std::string_view api_version) {
  return Value::map_of({{"apiVersion", api_version},
                        {"kind", "Job"},
                        {"name", job["metadata"]["name"]},
                        {"uid", job["metadata"]["uid"]},
                        {"controller", true},
                        {"blockOwnerDeletion", true}});
}

Value words_of_pods(const Value& job) {
  Value metadata = Value::map();
  for (const char* const key : {"labels", "annotations"}) {
    const Value& given = job["spec"]["template"]["metadata"][key];
    metadata.set(key, given.is_map() ? given : Value::map());
  }
  hand_down(job["metadata"], metadata);
  return metadata;
}

Value pod_of_job(const Value& job, std::int64_t number, std::optional<std::int64_t> index, std::int64_t group_size,
                 const PodRetries& retries) {
  const Value& job_metadata = job["metadata"];
  const Value& pod_template = job["spec"]["template"];
  Value pod = Value::map_of({{"apiVersion", "v1"}, {"kind", "Pod"}});
  Value metadata = words_of_pods(job);
  metadata.set("name", job_pod_name(job, number, index));
  metadata.set("generateName", name_begin_of(job, index));
  metadata.set("namespace", job_metadata["namespace"]);
  Value& annotations = metadata.at("annotations");
  if (group_size > 0 && min_parallelism(job) > 0) {
    annotations.set(kKueueMinParallelismAnnotation, std::to_string(group_size));
  } else if (group_size > 0) {
    if (!is_of_wider_group(job)) metadata.at("labels").set(kGroupLabel, job_metadata["name"]);
    annotations.set(kGroupSizeAnnotation, std::to_string(group_size));
  }
  if (!job["status"]["startTime"].is_empty()) annotations.set(kQueuedAtAnnotation, job["status"]["startTime"]);
  if (index && !job["spec"]["backoffLimitPerIndex"].is_null()) {
    annotations.set(kIndexFailures, std::to_string(retries.failed));
    if (retries.ignored > 0) annotations.set(kIndexIgnoredFailures, std::to_string(retries.ignored));
  }
  metadata.at("ownerReferences").push_back(owner_reference(job, "batch/v1"));
  metadata.at("finalizers").push_back(kJobTracking);
  pod.set("metadata", std::move(metadata));
  pod.set("spec", pod_template["spec"]);
  if (index) add_index(job, *index, pod);
  return pod;
}

}  // namespace berth
