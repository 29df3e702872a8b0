#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "apiserver/job_sets.h"
#include "apiserver/object_meta.h"
#include "apiserver/pod_facts.h"
#include "apiserver/validation.h"
#include "manifest/handed_down.h"
#include "manifest/label_syntax.h"
#include "manifest/labels.h"
#include "manifest/name_pattern.h"
#include "manifest/topology_request.h"

namespace berth {

namespace {

// What a controller is asked to keep track of.
constexpr std::int64_t kJobsMax = 10'000;
constexpr std::size_t kNameMax = 63;
constexpr std::string_view kPrivatePrefix = "alpha.jobset.sigs.k8s.io/";

using NameSet = std::set<std::string_view>;

// ---- names -----------------------------------------------------------------------------------------------------------

// RFC 1035: what its objects' names, subdomains and groups are.
bool is_host_word(std::string_view text) { return is_dns_label(text) && text.front() >= 'a' && text.front() <= 'z'; }

void check_host_word(const Value& text, const std::string& path, Causes& causes) {
  if (is_host_word(text.text())) return;
  causes.push_back(invalid_value(path, text,
                                 "is lower case letters, digits and '-', at most 63, beginning with a letter and "
                                 "ending with a letter or digit"));
}

// Its Jobs, and their pods, are named by it.
void check_made_names(const Value& set, const Value& job, const std::string& path, Causes& causes) {
  const std::string name(job["metadata"]["name"].text());
  const Value& spec = job["spec"];
  if (name.size() > kNameMax) {
    causes.push_back(invalid_value("metadata.name", set["metadata"]["name"],
                                   "its Job " + name + " would have a name of " + std::to_string(name.size()) +
                                       " characters, and 63 is the most; shorten it, or " + path + ".name"));
  } else if (!is_host_word(name)) {
    causes.push_back(invalid_value(path + ".name", name,
                                   "is the name of its last Job, and as such lower case letters, digits and '-', "
                                   "beginning with a letter"));
  } else if (spec["completionMode"].text() == "Indexed" && spec["completions"].integer() > 0) {
    const std::string pod = name + "-" + std::to_string(spec["completions"].integer() - 1) + "-abcde";
    if (pod.size() <= kNameMax) return;
    causes.push_back(invalid_value("metadata.name", set["metadata"]["name"],
                                   "its pods would have names like " + pod + ", and 63 characters are the most; " +
                                       "shorten it, or " + path + ".name"));
  }
}

void check_targets(const Value& targets, const NameSet& names, const std::string& path, Causes& causes) {
  for (std::size_t i = 0; i < targets.items().size(); ++i) {
    const Value& each = targets.items()[i];
    if (names.contains(each.text())) continue;
    causes.push_back(invalid_value(item_path(path, i), each, "is the name of none of spec.replicatedJobs"));
  }
}

void check_exclusive(const Value& label, const std::string& path, Causes& causes) {
  if (is_label_key(label.text())) return;
  causes.push_back(invalid_value(path, label, "is no label; write one that nodes have, as in example.com/rack"));
}

// `of_jobs`: the set, where JobSet reads words of its own that are about each Job; nullptr: it reads none there.
void check_annotations(const Value& metadata, const Value* of_jobs, const std::string& path, Causes& causes) {
  for (const Value::Member& each : metadata["annotations"].members()) {
    if (!each.key.starts_with(kPrivatePrefix)) continue;
    if (of_jobs != nullptr && each.key == kJobSetExclusiveAnnotation) {
      check_exclusive(each.value, path + ".annotations[" + each.key + "]", causes);
      continue;
    }
    causes.push_back(forbidden_value(path + ".annotations[" + each.key + "]",
                                     "is not followed; to keep pods in one domain, write the annotation "
                                     "berth.dev/topology: required:LABEL on their template"));
  }
}

// ---- the parts -------------------------------------------------------------------------------------------------------

// What is wrong with a Job that the template makes, said of the template; of a word that it has of the set, once, of that.
void check_template(const AdmissionRequest& of_set, const Value& job, const Value& own, const std::string& path,
                    CausesOfParts& of_words, Causes& causes) {
  AdmissionRequest request;
  request.operation = of_set.operation;
  request.kind = find_served("batch", "v1", "jobs");
  Value copy = job;
  request.object = &copy;
  Causes found;
  check_job(request, found);
  const Value& set_metadata = (*of_set.object)["metadata"];
  for (ErrorCause& each : found) {
    if (each.field == "metadata.name") continue;  // check_made_names() says it better
    if (is_of_maker(each, "metadata", own, set_metadata)) {
      if (!was_said_before(each, of_set.before, set_metadata)) of_words.add(std::move(each));
      continue;
    }
    each.field = path + ".template." + each.field;
    causes.push_back(std::move(each));
  }
  if (!job["spec"]["ttlSecondsAfterFinished"].is_null()) {
    causes.push_back(forbidden_value(path + ".template.spec.ttlSecondsAfterFinished",
                                     "a Job that is deleted would be made anew; write spec.ttlSecondsAfterFinished "
                                     "of the JobSet"));
  }
}

void check_depends_on(const Value& replicated_job, const NameSet& earlier, bool in_order, const std::string& path,
                      Causes& causes) {
  NameSet named;
  const Value& list = replicated_job["dependsOn"];
  if (in_order && !list.is_empty()) {
    causes.push_back(forbidden_value(path, "stands beside spec.startupPolicy InOrder; leave one of the two out"));
  }
  for (std::size_t i = 0; i < list.items().size(); ++i) {
    const Value& each = list.items()[i];
    const std::string at = item_path(path, i);
    if (!earlier.contains(each["name"].text())) {
      causes.push_back(invalid_value(at + ".name", each["name"],
                                     "is none of those that stand before it; name an earlier one of "
                                     "spec.replicatedJobs"));
    } else if (!named.insert(each["name"].text()).second) {
      causes.push_back(duplicate_value(at + ".name", each["name"]));
    }
    if (each["status"].is_empty()) causes.push_back(required_value(at + ".status", "Ready or Complete"));
  }
}

// How many of its pods run at once.
std::int64_t pods_of(const Value& job) {
  const std::int64_t parallelism = std::clamp<std::int64_t>(job["spec"]["parallelism"].integer(1), 0, kPodGroupSizeMax);
  return std::clamp<std::int64_t>(job["spec"]["completions"].integer(parallelism), 0, parallelism);
}

// What its Jobs say of their pods, and what these say themselves.
Value words_of(const Value& replicated_job) {
  const Value& job = replicated_job["template"];
  Value words = job["spec"]["template"]["metadata"].is_map() ? job["spec"]["template"]["metadata"] : Value::map();
  hand_down(job["metadata"], words);
  return words;
}

// Gives the names of the parts.
NameSet check_replicated_jobs(const AdmissionRequest& request, Causes& causes) {
  NameSet names;
  const Value& set = *request.object;
  const Value& list = set["spec"]["replicatedJobs"];
  const bool in_order = set["spec"]["startupPolicy"]["startupPolicyOrder"].text() == "InOrder";
  std::int64_t jobs = 0, pods = 0;
  CausesOfParts of_words("replicated job");
  for (std::size_t i = 0; i < list.items().size(); ++i) {
    const Value& each = list.items()[i];
    const std::string path = item_path("spec.replicatedJobs", i);
    const Value job = last_job_of(set, each);
    if (each["name"].is_empty()) {
      causes.push_back(required_value(path + ".name"));
    } else {
      check_made_names(set, job, path, causes);
    }
    check_host_word(each["groupName"], path + ".groupName", causes);
    check_integer(each["replicas"], 0, kJobsMax, path + ".replicas", causes);
    check_depends_on(each, names, in_order, path + ".dependsOn", causes);
    check_annotations(each["template"]["metadata"], &set, path + ".template.metadata", causes);
    check_annotations(each["template"]["spec"]["template"]["metadata"], nullptr,
                      path + ".template.spec.template.metadata", causes);
    of_words.begin_part(each, path, set["metadata"], words_of(each));
    check_template(request, job, each["template"]["metadata"], path, of_words, causes);
    if (!each["name"].is_empty() && !names.insert(each["name"].text()).second) {
      causes.push_back(duplicate_value(path + ".name", each["name"]));
    }
    const std::int64_t replicas = std::clamp<std::int64_t>(each["replicas"].integer(1), 0, kJobsMax);
    jobs += replicas;
    pods += replicas * pods_of(job);
  }
  std::move(of_words).tell(causes);
  if (list.is_empty()) causes.push_back(required_value("spec.replicatedJobs", "a JobSet has Jobs"));
  if (jobs > kJobsMax || pods > kPodGroupSizeMax) {
    causes.push_back(forbidden_value("spec.replicatedJobs",
                                     std::to_string(jobs) + " Jobs with " + std::to_string(pods) +
                                         " pods at once are too many; make several JobSets of at most 10000 Jobs with "
                                         "100000 pods"));
  }
  return names;
}

// What its Jobs and pods carry of it.
std::string coordinator_of(const Value& set) {
  const Value& coordinator = set["spec"]["coordinator"];
  const std::string_view name = set["metadata"]["name"].text(), subdomain = set["spec"]["network"]["subdomain"].text();
  std::string address(name);
  address.append("-").append(coordinator["replicatedJob"].text());
  address.append("-").append(std::to_string(coordinator["jobIndex"].integer()));
  address.append("-").append(std::to_string(coordinator["podIndex"].integer()));
  return address.append(".").append(subdomain.empty() ? name : subdomain);
}

void check_coordinator(const Value& set, Causes& causes) {
  const Value& coordinator = set["spec"]["coordinator"];
  if (coordinator.is_null()) return;
  const std::string path = "spec.coordinator";
  for (const Value& each : set["spec"]["replicatedJobs"].items()) {
    if (each["name"] != coordinator["replicatedJob"]) continue;
    const Value job = last_job_of(set, each);
    const auto check_number = [&](const char* field, std::int64_t count, const std::string& what) {
      const std::int64_t number = coordinator[field].integer();
      if (number >= 0 && number < count) return;
      causes.push_back(invalid_value(
          path + "." + field, coordinator[field],
          std::string(each["name"].text()) + " has " + std::to_string(count) + " " + what + ", counted from 0"));
    };
    if (job["spec"]["completionMode"].text() != "Indexed") {
      causes.push_back(invalid_value(path + ".replicatedJob", each["name"],
                                     "its pods have no numbers; write completionMode: Indexed in its template"));
    }
    const std::string address = coordinator_of(set);
    if (address.size() > kNameMax) {
      causes.push_back(invalid_value(path, address,
                                     "is a label of its pods, and those have at most 63 characters; shorten the names, "
                                     "or spec.network.subdomain"));
    }
    check_number("jobIndex", each["replicas"].integer(1), "Jobs");
    return check_number("podIndex", job["spec"]["completions"].integer(), "completions");
  }
  causes.push_back(invalid_value(path + ".replicatedJob", coordinator["replicatedJob"],
                                 "is the name of none of spec.replicatedJobs"));
}

// ---- policies --------------------------------------------------------------------------------------------------------

bool is_rule_name(std::string_view name) {
  const auto is_letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); };
  const auto is_word = [&](char c) { return is_letter(c) || (c >= '0' && c <= '9') || c == '_'; };
  if (name.empty() || name.size() > 128 || !is_letter(name.front()) || !is_word(name.back())) return false;
  return std::ranges::all_of(name, [&](char c) { return is_word(c) || c == ',' || c == ':'; });
}

void check_action(const Value& action, const std::string& path, Causes& causes) {
  if (action.is_empty()) return causes.push_back(required_value(path, "FailJobSet, RestartJobSet or the like"));
  static const std::vector<std::string> kServed = {"FailJobSet", "RestartJobSet", "RestartJobSetAndIgnoreMaxRestarts"};
  static const NameSet kOfOneJob = {"RestartJob", "RestartJobAndIgnoreMaxRestarts", "RecreateJob"};
  if (std::ranges::find(kServed, action.text()) != kServed.end()) return;
  if (!kOfOneJob.contains(action.text())) return causes.push_back(unsupported_value(path, action, kServed));
  causes.push_back(forbidden_value(path,
                                   "one Job is not restarted without the others; write RestartJobSet or "
                                   "RestartJobSetAndIgnoreMaxRestarts, or let the Job try again itself by its "
                                   "backoffLimit"));
}

void check_rule(const Value& rule, const NameSet& names, const std::string& path, Causes& causes) {
  static const std::vector<std::string> kReasons = {"BackoffLimitExceeded", "DeadlineExceeded", "FailedIndexes",
                                                    "MaxFailedIndexesExceeded", "PodFailurePolicy"};
  if (!is_rule_name(rule["name"].text())) {
    causes.push_back(invalid_value(path + ".name", rule["name"],
                                   "is letters, digits, '_', ',' and ':', at most 128, beginning with a letter and "
                                   "ending with a letter, digit or '_'"));
  }
  check_action(rule["action"], path + ".action", causes);
  check_targets(rule["targetReplicatedJobs"], names, path + ".targetReplicatedJobs", causes);
  const Value& reasons = rule["onJobFailureReasons"];
  for (std::size_t i = 0; i < reasons.items().size(); ++i) {
    const Value& each = reasons.items()[i];
    if (std::ranges::find(kReasons, each.text()) != kReasons.end()) continue;
    causes.push_back(unsupported_value(item_path(path + ".onJobFailureReasons", i), each, kReasons));
  }
  const Value& patterns = rule["onJobFailureMessagePatterns"];
  for (std::size_t i = 0; i < patterns.items().size(); ++i) {
    const Value& each = patterns.items()[i];
    const auto parsed = NamePattern::parse(each.text());
    if (parsed) continue;
    causes.push_back(invalid_value(item_path(path + ".onJobFailureMessagePatterns", i), each, parsed.error()));
  }
}

void check_failure_policy(const Value& policy, const NameSet& names, Causes& causes) {
  const std::string path = "spec.failurePolicy";
  check_integer(policy["maxRestarts"], 0, kCountMax, path + ".maxRestarts", causes);
  if (policy["restartStrategy"].text() == "InPlaceRestart") {
    causes.push_back(forbidden_value(path + ".restartStrategy",
                                     "containers are not restarted in place; write Recreate or BlockingRecreate"));
  }
  NameSet named;
  const Value& rules = policy["rules"];
  for (std::size_t i = 0; i < rules.items().size(); ++i) {
    const Value& rule = rules.items()[i];
    const std::string at = item_path(path + ".rules", i);
    check_rule(rule, names, at, causes);
    if (!named.insert(rule["name"].text()).second) causes.push_back(duplicate_value(at + ".name", rule["name"]));
  }
}

void check_policies(const Value& spec, const NameSet& names, Causes& causes) {
  if (spec["successPolicy"]["operator"].is_empty()) {
    causes.push_back(required_value("spec.successPolicy.operator", "All or Any"));
  }
  check_targets(spec["successPolicy"]["targetReplicatedJobs"], names, "spec.successPolicy.targetReplicatedJobs",
                causes);
  if (spec["startupPolicy"]["startupPolicyOrder"].is_empty()) {
    causes.push_back(required_value("spec.startupPolicy.startupPolicyOrder", "AnyOrder or InOrder"));
  }
  check_failure_policy(spec["failurePolicy"], names, causes);
}

void check_rest(const Value& set, Causes& causes) {
  const Value& spec = set["spec"];
  const Value& subdomain = spec["network"]["subdomain"];
  if (!subdomain.is_empty()) check_host_word(subdomain, "spec.network.subdomain", causes);
  check_integer(spec["ttlSecondsAfterFinished"], 0, kCountMax, "spec.ttlSecondsAfterFinished", causes);
  const Value& manager = spec["managedBy"];
  const bool is_path = manager.text().find('/') != std::string_view::npos && is_qualified_name(manager.text());
  if (!manager.is_null() && (!is_path || manager.text().size() > kNameMax)) {
    causes.push_back(invalid_value("spec.managedBy", manager,
                                   "is a name such as example.com/controller, of at most 63 characters; leave it out "
                                   "to have Berth make its Jobs"));
  }
  if (!spec["volumeClaimPolicies"].is_empty()) {
    causes.push_back(forbidden_value("spec.volumeClaimPolicies",
                                     "there are no volume claims here; name what the pods share in their template's "
                                     "volumes, such as a hostPath that all machines have"));
  }
  const Value& gang = set["metadata"]["annotations"][kGangAnnotation];
  if (!gang.is_null() && gang.text() != "true" && gang.text() != "false") {
    causes.push_back(unsupported_value("metadata.annotations[berth.dev/gang]", gang, {"true", "false"}));
  }
}

// ---- changes ---------------------------------------------------------------------------------------------------------

// Its parts without what a queueing system may still decide while nothing of the set runs.
Value without_set_directives(Value replicated_jobs) {
  if (!replicated_jobs.is_list()) return replicated_jobs;
  for (Value& each : replicated_jobs.edit_items()) {
    Value& pods = each.at("template").at("spec").at("template");
    if (pods["metadata"].is_map()) {
      for (const char* const key : {"labels", "annotations"}) pods.at("metadata").erase(key);
    }
    if (pods["metadata"].is_empty()) pods.erase("metadata");
    for (const char* const key : {"nodeSelector", "tolerations", "schedulingGates"}) pods.at("spec").erase(key);
  }
  return replicated_jobs;
}

void check_update(const Value& before, const Value& after, Causes& causes) {
  check_immutable(before["managedBy"], after["managedBy"], "spec.managedBy", causes);
  check_immutable(before["coordinator"], after["coordinator"], "spec.coordinator", causes);
  // What was not there may come, and what is there may go; what it says is not changed.
  for (const char* const field : {"network", "successPolicy", "failurePolicy", "startupPolicy"}) {
    if (before[field].is_null() || after[field].is_null()) continue;
    check_immutable(before[field], after[field], std::string("spec.") + field, causes);
  }
  const bool open = before["suspend"].truth() || after["suspend"].truth();
  const auto fixed = [&](const Value& spec) {
    return open ? without_set_directives(spec["replicatedJobs"]) : spec["replicatedJobs"];
  };
  if (fixed(before) == fixed(after)) return;
  causes.push_back(invalid_value("spec.replicatedJobs", "",
                                 "field is immutable; while the set is suspended, labels, annotations, nodeSelector, "
                                 "tolerations and schedulingGates of its pods may be changed; for anything else make a "
                                 "new JobSet"));
}

}  // namespace

void check_job_set(const AdmissionRequest& request, Causes& causes) {
  if (request.subresource == "status") return;
  const Value& set = *request.object;
  check_annotations(set["metadata"], &set, "metadata", causes);
  check_time_annotations(set["metadata"], "metadata", causes);
  const NameSet names = check_replicated_jobs(request, causes);
  check_policies(set["spec"], names, causes);
  check_coordinator(set, causes);
  check_rest(set, causes);
  if (request.operation == Operation::kUpdate && request.before != nullptr) {
    check_update((*request.before)["spec"], set["spec"], causes);
  }
}

}  // namespace berth
