#include "controllers/job_pods.h"

#include <algorithm>
#include <cstddef>
#include <limits>
#include <utility>

#include "base/assert.h"
#include "base/hash.h"
#include "manifest/labels.h"
#include "model/quantity.h"

namespace berth {
namespace {

// As Kubernetes draws names: without vowels, so that no word comes out.
constexpr std::string_view kLetters = "bcdfghjklmnpqrstvwxz2456789";
constexpr std::size_t kSuffixLength = 5;
constexpr std::size_t kHostnameMax = 63;

constexpr std::uint64_t power_of(std::uint64_t base, std::uint64_t exponent, std::uint64_t modulus) {
  std::uint64_t result = 1;
  for (; exponent > 0; exponent /= 2) {
    if (exponent % 2 == 1) result = result * base % modulus;
    base = base * base % modulus;
  }
  return result;
}

// Numbers are scattered over the names, and found again: kScatter has no factor in common with 27^5, so by Euler's
// theorem its inverse is its power to 18 * 27^4 - 1.
constexpr std::uint64_t kNames = kPodsOfJobMax;
constexpr std::uint64_t kScatter = 5'600'419;
constexpr std::uint64_t kGather = power_of(kScatter, std::uint64_t{18} * 27 * 27 * 27 * 27 - 1, kNames);
static_assert(kLetters.size() == 27 && kNames == power_of(27, 5, ~std::uint64_t{0}));
static_assert(kScatter * kGather % kNames == 1);

// Where a Job's names begin; another for each, so that a Job that comes anew gets other names than the one before.
std::uint64_t offset_of(const Value& job) { return Hasher().add(job["metadata"]["uid"].text()).digest() % kNames; }

std::string suffix_of(std::uint64_t place) {
  std::string suffix(kSuffixLength, ' ');
  for (std::size_t i = kSuffixLength; i-- > 0; place /= kLetters.size()) suffix[i] = kLetters[place % kLetters.size()];
  return suffix;
}

std::optional<std::uint64_t> place_of(std::string_view suffix) {
  std::uint64_t place = 0;
  for (const char letter : suffix) {
    const std::size_t at = kLetters.find(letter);
    if (at == std::string_view::npos) return std::nullopt;
    place = place * kLetters.size() + at;
  }
  return place;
}

void copy_where_missing(const Value& from, std::string_view key, Value& to) {
  if (from[key].is_text() && to[key].is_null()) to.set(key, from[key]);
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
  std::string name(job["metadata"]["name"].text());
  if (index) name.append("-").append(std::to_string(*index));
  return name.append("-").append(suffix_of(place));
}

std::optional<std::int64_t> job_pod_number(const Value& job, const Value& pod) {
  const std::string_view name = pod["metadata"]["name"].text();
  const std::size_t dash = name.rfind('-');
  if (dash == std::string_view::npos || name.size() - dash - 1 != kSuffixLength) return std::nullopt;
  const auto place = place_of(name.substr(dash + 1));
  if (!place) return std::nullopt;
  const auto number = static_cast<std::int64_t>((*place + kNames - offset_of(job)) % kNames * kGather % kNames);
  // The rest must be right too, or two pods could have one number.
  const auto index = is_indexed(job) ? completion_index(pod) : std::nullopt;
  if (is_indexed(job) && !index) return std::nullopt;
  if (job_pod_name(job, number, index) != name) return std::nullopt;
  return number;
}

std::optional<std::int64_t> completion_index(const Value& pod) {
  const auto index = parse_integer(pod["metadata"]["annotations"][kCompletionIndex].text(), 0,
                                   std::numeric_limits<std::int32_t>::max());
  if (!index) return std::nullopt;
  return *index;
}

std::int64_t gang_size(const Value& job) {
  if (job["metadata"]["annotations"][kGangAnnotation].text() == "false") return 0;
  const std::int64_t parallelism = job["spec"]["parallelism"].integer(1);
  const std::int64_t size = std::min(parallelism, job["spec"]["completions"].integer(parallelism));
  return size > 1 ? size : 0;
}

Value pod_of_job(const Value& job, std::int64_t number, std::optional<std::int64_t> index) {
  const Value& job_metadata = job["metadata"];
  const Value& pod_template = job["spec"]["template"];
  Value pod = Value::map_of({{"apiVersion", "v1"}, {"kind", "Pod"}});
  Value& metadata = pod.at("metadata");
  metadata.set("name", job_pod_name(job, number, index));
  metadata.set("namespace", job_metadata["namespace"]);
  const Value& labels = pod_template["metadata"]["labels"];
  Value& pod_labels = metadata.set("labels", labels.is_map() ? labels : Value::map());
  const Value& annotations = pod_template["metadata"]["annotations"];
  Value& pod_annotations = metadata.set("annotations", annotations.is_map() ? annotations : Value::map());
  copy_where_missing(job_metadata["labels"], kQueueLabel, pod_labels);
  for (const std::string_view key :
       {kRunForAnnotation, kExitCodeAnnotation, kGpuMilliAnnotation, kGpuModelsAnnotation, kUserAnnotation}) {
    copy_where_missing(job_metadata["annotations"], key, pod_annotations);
  }
  if (const std::int64_t size = gang_size(job); size > 0) {
    pod_labels.set(kGroupLabel, job_metadata["name"]);
    pod_annotations.set(kGroupSizeAnnotation, std::to_string(size));
  }
  Value owner = Value::map_of({{"apiVersion", "batch/v1"},
                               {"kind", "Job"},
                               {"name", job_metadata["name"]},
                               {"uid", job_metadata["uid"]},
                               {"controller", true},
                               {"blockOwnerDeletion", true}});
  metadata.at("ownerReferences").push_back(std::move(owner));
  pod.set("spec", pod_template["spec"]);
  if (index) add_index(job, *index, pod);
  return pod;
}

}  // namespace berth
