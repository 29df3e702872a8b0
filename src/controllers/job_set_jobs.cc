#include "controllers/job_set_jobs.h"

#include <openssl/evp.h>

#include <algorithm>
#include <array>
#include <limits>
#include <string_view>
#include <utility>

#include "base/assert.h"
#include "controllers/controller.h"
#include "controllers/job_pods.h"
#include "manifest/handed_down.h"
#include "manifest/job_set_labels.h"
#include "manifest/labels.h"
#include "manifest/topology_request.h"
#include "model/quantity.h"

namespace berth {
namespace {

constexpr std::int64_t kCountMax = std::numeric_limits<std::int32_t>::max();

// As JobSet's own controller makes it: SHA-1, in hexadecimal.
std::string key_of(const std::string& text) {
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
  unsigned int size = 0;
  const bool done = EVP_Digest(text.data(), text.size(), digest.data(), &size, EVP_sha1(), nullptr) == 1;
  BERTH_ASSERT(done);
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string key;
  for (unsigned int i = 0; i < size; ++i) {
    key += kDigits[digest[i] >> 4U];
    key += kDigits[digest[i] & 15U];
  }
  return key;
}

std::string subdomain_of(const Value& set) {
  const std::string_view chosen = set["spec"]["network"]["subdomain"].text();
  return std::string(chosen.empty() ? set["metadata"]["name"].text() : chosen);
}

// Where the coordinator's pod answers; empty if there is none.
std::string coordinator_of(const Value& set) {
  const Value& coordinator = set["spec"]["coordinator"];
  if (coordinator.is_null()) return "";
  std::string name(set["metadata"]["name"].text());
  name.append("-").append(coordinator["replicatedJob"].text());
  name.append("-").append(std::to_string(coordinator["jobIndex"].integer()));
  name.append("-").append(std::to_string(coordinator["podIndex"].integer()));
  return name + "." + subdomain_of(set);
}

// Jobs that are counted together: of the whole set, or of the parts of one group.
struct Numbering {
  std::int64_t jobs = 0;
  std::int64_t before = 0;  // of the parts that stand earlier
};
Numbering numbering_of(const Value& set, std::size_t part, bool of_group) {
  const Value::List& parts = set["spec"]["replicatedJobs"].items();
  Numbering numbering;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    if (of_group && !(parts[i]["groupName"] == parts[part]["groupName"])) continue;
    if (i < part) numbering.before += replicas_of(parts[i]);
    numbering.jobs += replicas_of(parts[i]);
  }
  return numbering;
}

// What a Job and its pods carry, as labels and as annotations both.
Value marks_of(const Value& set, std::size_t part, std::int64_t index) {
  const Value& metadata = set["metadata"];
  const Value& replicated = set["spec"]["replicatedJobs"].items()[part];
  const Numbering all = numbering_of(set, part, false), group = numbering_of(set, part, true);
  const std::string key = std::string(metadata["namespace"].text()) + "/" + job_name_of(set, replicated, index);
  Value marks = Value::map_of({{std::string(kJobSetNameLabel), metadata["name"]},
                               {std::string(kJobSetUidLabel), metadata["uid"]},
                               {std::string(kReplicatedJobLabel), replicated["name"]},
                               {std::string(kReplicasLabel), std::to_string(replicas_of(replicated))},
                               {kRestartAttempt, std::to_string(set["status"]["restarts"].integer())},
                               {"jobset.sigs.k8s.io/global-replicas", std::to_string(all.jobs)},
                               {"jobset.sigs.k8s.io/job-index", std::to_string(index)},
                               {"jobset.sigs.k8s.io/job-key", key_of(key)},
                               {"jobset.sigs.k8s.io/job-global-index", std::to_string(all.before + index)},
                               {"jobset.sigs.k8s.io/group-name", replicated["groupName"].text("default")},
                               {"jobset.sigs.k8s.io/group-replicas", std::to_string(group.jobs)},
                               {"jobset.sigs.k8s.io/job-group-index", std::to_string(group.before + index)}});
  if (const std::string coordinator = coordinator_of(set); !coordinator.empty()) {
    marks.set("jobset.sigs.k8s.io/coordinator", coordinator);
  }
  return marks;
}

void add_marks(const Value& marks, Value& metadata) {
  for (const Value::Member& each : marks.members()) {
    metadata.at("labels").set(each.key, each.value);
    metadata.at("annotations").set(each.key, each.value);
  }
}

// Pods of different attempts are no gang, though those of the one before may not be gone yet. The attempt comes first, for
// Workloads are named by the first letters.
std::string gang_uid_of(const Value& set) {
  const std::string uid(set["metadata"]["uid"].text());
  const std::int64_t attempt = set["status"]["restarts"].integer();
  return attempt == 0 ? uid : std::to_string(attempt) + "-" + uid;
}

void add_gang(const Value& set, const SetGang& gang, Value& metadata) {
  metadata.at("labels").set(kGroupLabel, gang.label);
  metadata.at("annotations").set(kGroupSizeAnnotation, std::to_string(gang.size));
  metadata.at("annotations").set(kGroupUidAnnotation, gang_uid_of(set));
}

// Whether the part leaves it to the set who starts with whom.
bool joins_gangs(const Value& part) {
  const Value& job = part["template"];
  return job["metadata"]["annotations"][kGangAnnotation].text() != "false" &&
         job["spec"]["template"]["metadata"]["labels"][kGroupLabel].is_empty();
}

// Each Job has a domain for itself, and is in one, also where they start together. The part's word goes before the set's, and
// Berth's own, also those that its pods will have of their Job, before both.
void add_exclusive_domain(const Value& set, const Value& part, const Value& job, Value& metadata) {
  const Value& of_part = part["template"]["metadata"]["annotations"][kJobSetExclusiveAnnotation];
  const Value& label = of_part.is_null() ? set["metadata"]["annotations"][kJobSetExclusiveAnnotation] : of_part;
  if (label.is_null()) return;
  Value& annotations = metadata.at("annotations");
  const auto add = [&](std::string_view key, Value word) {
    if (annotations[key].is_null() && job["annotations"][key].is_null()) annotations.set(key, std::move(word));
  };
  add(kPodSetAnnotation, job["name"]);
  add(kExclusiveTopologyAnnotation, label);
  add(kTopologyAnnotation, "required:" + std::string(label.text()));
}

// To Kueue the pods of a part are a set, of all its Jobs, and those of parts that name the same group are one.
void add_kueues_pod_set(const Value& part, const Value& job, Value& metadata) {
  Value with_jobs_words = metadata;
  hand_down(job, with_jobs_words);
  const Value& annotations = with_jobs_words["annotations"];
  if (!annotations[kPodSetAnnotation].is_null() || !asks_in_kueues_words(annotations)) return;
  const Value& group = annotations[kKueuePodSetGroupAnnotation];
  metadata.at("annotations").set(kPodSetAnnotation, Value(group.is_null() ? part["name"] : group));
}

Value made_metadata(const Value& given) {
  Value metadata = Value::map();
  for (const char* const key : {"labels", "annotations"}) {
    metadata.set(key, given[key].is_map() ? given[key] : Value::map());
  }
  return metadata;
}

// The Job's own, beside which everything may be changed while it is suspended.
constexpr std::array<std::string_view, 4> kJobLabels = {"batch.kubernetes.io/controller-uid", "controller-uid",
                                                        "batch.kubernetes.io/job-name", "job-name"};

}  // namespace

std::int64_t replicas_of(const Value& part) {
  return std::clamp<std::int64_t>(part["replicas"].integer(1), 0, kCountMax);
}

std::string job_name_of(const Value& set, const Value& part, std::int64_t index) {
  std::string name(set["metadata"]["name"].text());
  return name.append("-").append(part["name"].text()).append("-").append(std::to_string(index));
}

std::int64_t attempt_of(const Value& job) {
  return parse_integer(job["metadata"]["labels"][kRestartAttempt].text(), 0, kCountMax).value_or(-1);
}

bool starts_in_order(const Value& set) {
  return set["spec"]["startupPolicy"]["startupPolicyOrder"].text() == "InOrder";
}

// Those start together that wait for the same; each part for itself where one comes after the other.
std::optional<SetGang> gang_of(const Value& set, std::size_t part) {
  const Value::List& parts = set["spec"]["replicatedJobs"].items();
  if (set["metadata"]["annotations"][kGangAnnotation].text() == "false" || !joins_gangs(parts[part])) return {};
  const bool in_order = starts_in_order(set);
  const bool staged =
      in_order || std::ranges::any_of(parts, [](const Value& each) { return !each["dependsOn"].is_empty(); });
  SetGang gang;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const bool together = i == part || (!in_order && parts[i]["dependsOn"] == parts[part]["dependsOn"]);
    if (!together || !joins_gangs(parts[i])) continue;
    if (gang.label.empty()) {
      gang.label = set["metadata"]["name"].text();
      if (staged) gang.label.append("-").append(parts[i]["name"].text());
    }
    gang.size += replicas_of(parts[i]) * pods_at_once(parts[i]["template"]["spec"]);
  }
  if (gang.size < 2) return {};
  return gang;
}

Value words_of_jobs(const Value& set, std::size_t part) {
  Value metadata = made_metadata(set["spec"]["replicatedJobs"].items()[part]["template"]["metadata"]);
  hand_down(set["metadata"], metadata);
  return metadata;
}

Value job_of_set(const Value& set, std::size_t part, std::int64_t index) {
  const Value& replicated = set["spec"]["replicatedJobs"].items()[part];
  const Value& set_metadata = set["metadata"];
  const Value marks = marks_of(set, part, index);
  Value metadata = words_of_jobs(set, part);
  add_marks(marks, metadata);
  metadata.set("name", job_name_of(set, replicated, index));
  metadata.set("namespace", set_metadata["namespace"]);
  metadata.at("ownerReferences")
      .push_back(Value::map_of({{"apiVersion", set["apiVersion"]},
                                {"kind", "JobSet"},
                                {"name", set_metadata["name"]},
                                {"uid", set_metadata["uid"]},
                                {"controller", true},
                                {"blockOwnerDeletion", true}}));
  Value spec = replicated["template"]["spec"];
  spec.set("suspend", set["spec"]["suspend"].truth());
  Value& pods = spec.at("template");
  Value pod_metadata = made_metadata(pods["metadata"]);
  add_marks(marks, pod_metadata);
  if (const auto gang = gang_of(set, part)) add_gang(set, *gang, pod_metadata);
  add_exclusive_domain(set, replicated, metadata, pod_metadata);
  add_kueues_pod_set(replicated, metadata, pod_metadata);
  pods.set("metadata", std::move(pod_metadata));
  if (set["spec"]["network"]["enableDNSHostnames"].truth(true)) pods.at("spec").set("subdomain", subdomain_of(set));
  Value job = Value::map_of({{"apiVersion", "batch/v1"}, {"kind", "Job"}});
  job.set("metadata", std::move(metadata));
  job.set("spec", std::move(spec));
  return job;
}

std::optional<Value> resumption_of(const Value& job, const Value& wanted) {
  const Value& had = job["spec"]["template"];
  Value metadata = wanted["spec"]["template"]["metadata"];
  for (const std::string_view key : kJobLabels) {
    if (const Value& own = had["metadata"]["labels"][key]; !own.is_null()) metadata.at("labels").set(key, own);
  }
  Value pod_template = Value::map();
  for (const char* const key : {"labels", "annotations"}) {
    if (had["metadata"][key] == metadata[key]) continue;
    pod_template.at("metadata").set(key, replacing(had["metadata"][key], metadata[key]));
  }
  for (const char* const key : {"nodeSelector", "tolerations", "schedulingGates"}) {
    const Value& word = wanted["spec"]["template"]["spec"][key];
    if (had["spec"][key] == word) continue;
    pod_template.at("spec").set(key, replacing(had["spec"][key], word));
  }
  Value change = Value::map_of({{"spec", Value::map_of({{"suspend", false}})}});
  if (pod_template.is_empty()) return change;
  if (!job["status"]["startTime"].is_null()) return {};
  change.at("spec").set("template", std::move(pod_template));
  return change;
}

}  // namespace berth
