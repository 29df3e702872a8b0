#include "service/pod_groups.h"

#include <algorithm>
#include <tuple>

#include "base/wording.h"
#include "cycle/explain.h"
#include "manifest/labels.h"

namespace berth {
namespace {

constexpr const char* kInitiallyScheduled = "PodGroupInitiallyScheduled";

std::string local_name(const Value& object) {
  const Value& metadata = object["metadata"];
  return std::string(metadata["namespace"].text()) + "/" + std::string(metadata["name"].text());
}

bool has_ended(const PodFacts& pod) { return pod.stage == PodStage::kSucceeded || pod.stage == PodStage::kFailed; }
bool is_placed(const PodFacts& pod) { return pod.stage == PodStage::kBound && !pod.leaving_until; }

// Who comes first: whoever is where he belongs, then who may be given a place.
int rank_of(const PodFacts& pod) {
  if (is_placed(pod) || pod.stage == PodStage::kSucceeded) return 0;
  return pod.stage == PodStage::kWaiting ? 1 : 2;
}

std::string problem_of(const PodGroupReading& read, const std::string& name) {
  std::string text;
  for (const SpecMistake& each : read.mistakes) text += (text.empty() ? "" : "; ") + each.field + ": " + each.text;
  return text.empty() ? "" : "its PodGroup " + quote(name) + ": " + text;
}

bool names_no_queue(const PodFacts& pod) { return pod.queue == kDefaultQueue && pod.labels[kQueueLabel].is_empty(); }

}  // namespace

void PodGroups::set(std::string_view qualified, const Value& object) {
  const Key key{qualified, local_name(object)};
  Group& group = groups_[key];
  // Its status is ours: nothing follows from it.
  const bool same =
      group.object["spec"] == object["spec"] && group.object["metadata"]["uid"] == object["metadata"]["uid"];
  group.object = object;
  if (same) return;
  group.read = read_pod_group(object);
  group.changed = true;
  unsettled_.insert(key);
}

void PodGroups::remove(std::string_view qualified, const Value& object) {
  const Key key{qualified, local_name(object)};
  Group& group = groups_[key];
  group.object = Value();
  group.read = {};
  group.changed = true;
  unsettled_.insert(key);
  forget_if_empty(key);
}

void PodGroups::set_pod(const PodFacts& pod) {
  if (!pod.pod_group) {
    leave(pod.uid);
    return pods_.set_pod(pod);
  }
  Key key{pod.pod_group->qualified, pod.name_space + "/" + pod.pod_group->name};
  if (const auto known = group_of_.find(pod.uid); known != group_of_.end() && known->second != key) leave(pod.uid);
  group_of_[pod.uid] = key;
  Group& group = groups_[key];
  group.pods.insert_or_assign(pod.uid, pod);
  group.unsettled.insert(pod.uid);
  unsettled_.insert(std::move(key));
}

void PodGroups::remove_pod(const std::string& uid) {
  leave(uid);
  pods_.remove_pod(uid);
}

void PodGroups::leave(const std::string& uid) {
  const auto known = group_of_.extract(uid);
  if (known.empty()) return;
  Group& group = groups_.at(known.mapped());
  group.pods.erase(uid);
  group.parts.erase(uid);
  group.unsettled.erase(uid);
  unsettled_.insert(known.mapped());
  forget_if_empty(known.mapped());
}

void PodGroups::forget_if_empty(const Key& key) {
  const auto at = groups_.find(key);
  if (!at->second.pods.empty() || !at->second.object.is_null()) return;
  groups_.erase(at);
  unsettled_.erase(key);
  uncounted_.insert(key);
}

void PodGroups::settle() {
  for (const Key& key : std::exchange(unsettled_, {})) {
    uncounted_.insert(key);
    Group& group = groups_.at(key);
    const std::map<std::string, Part> before = std::exchange(group.parts, parts_of(group));
    const std::set<std::string> unsettled = std::exchange(group.unsettled, {});
    const bool all = std::exchange(group.changed, false);
    for (const auto& [uid, pod] : group.pods) {
      const Part part = group.parts.at(uid);
      const auto told = before.find(uid);
      const bool same = told != before.end() && told->second == part;
      if (all || !same || unsettled.contains(uid)) pods_.set_pod(resolved(group, pod, part));
    }
  }
}

// The first: of each task as many as it needs, then of all, those who are farthest before the others and the older before the
// younger. Who has failed is of no use to anybody.
std::map<std::string, PodGroups::Part> PodGroups::parts_of(const Group& group) {
  const PodGroupSpec& spec = group.read.spec;
  std::vector<const PodFacts*> in_order;
  std::map<std::string, Part> parts;
  for (const auto& [uid, pod] : group.pods) {
    parts[uid] = Part::kFirst;
    if (pod.stage != PodStage::kFailed) in_order.push_back(&pod);
  }
  std::ranges::sort(in_order, [](const PodFacts* a, const PodFacts* b) {
    return std::tuple(rank_of(*a), a->created.ms, a->name) < std::tuple(rank_of(*b), b->created.ms, b->name);
  });
  std::set<const PodFacts*> first;
  std::map<std::string, std::int64_t> of_tasks = spec.of_tasks;
  for (const PodFacts* const pod : in_order) {
    const auto needed = of_tasks.find(pod->pod_group->task);
    if (needed != of_tasks.end() && needed->second-- > 0) first.insert(pod);
  }
  std::int64_t still_needed = spec.at_least;
  for (const auto& [task, count] : spec.of_tasks) still_needed -= count;
  for (const PodFacts* const pod : in_order) {
    if (!first.contains(pod) && still_needed-- > 0) first.insert(pod);
  }
  const bool are_placed = std::cmp_equal(
      std::ranges::count_if(first, [](const PodFacts* pod) { return rank_of(*pod) == 0; }), spec.at_least);
  for (const PodFacts* const pod : in_order) {
    if (!first.contains(pod)) parts[pod->uid] = are_placed ? Part::kMore : Part::kMoreWaits;
  }
  return parts;
}

PodFacts PodGroups::resolved(const Group& group, const PodFacts& pod, Part part) {
  PodFacts made = pod;
  const std::string& name = pod.pod_group->name;
  if (group.object.is_null()) {
    made.shut = {"PodGroupMissing", "there is no PodGroup " + quote(name) + " (" +
                                        std::string(pod.pod_group->qualified) + ") in its namespace; create it"};
    return made;
  }
  const PodGroupSpec& spec = group.read.spec;
  if (made.problem.empty()) made.problem = problem_of(group.read, name);
  if (!spec.queue.empty() && names_no_queue(pod)) made.queue = "volcano/" + spec.queue;
  if (spec.at_least == 1) return made;
  if (part == Part::kFirst) {
    made.group_name = name;
    made.group = pod.name_space + "/" + name + "/" + std::string(group.object["metadata"]["uid"].text());
    made.group_size = spec.at_least;
    if (made.topology.asks_nothing()) made.topology = spec.topology;
    return made;
  }
  if (spec.topology.together == Togetherness::kRequired && made.problem.empty() && !has_ended(pod)) {
    made.problem = "its PodGroup " + quote(name) + " asks for one domain, and starts with " +
                   with_separators(spec.at_least) + " of its pods; have all of them start together";
  }
  if (part == Part::kMoreWaits && pod.stage == PodStage::kWaiting) {
    made.shut = {"GangFirst", "the first " + with_separators(spec.at_least) + " pods of its PodGroup " + quote(name) +
                                  " start together, and it after them"};
  }
  return made;
}

// ---- how they stand -------------------------------------------------------------------------------------------------

namespace {

// How many of a group's pods are how far.
struct Count {
  std::int64_t there = 0, placed = 0, succeeded = 0, failed = 0;

  std::int64_t well() const { return placed + succeeded; }
  bool all_ended() const { return there > 0 && succeeded + failed == there; }
};

// Each dialect has words of its own for the same.
struct Phases {
  const char* too_few;
  const char* waits;
  const char* in_part;
  const char* runs;
  const char* over;
  const char* failed;
};
constexpr Phases kOfVolcano{"Pending", "Pending", "Unknown", "Running", "Completed", "Completed"};
constexpr Phases kOfCoscheduling{"Pending", "Scheduling", "Scheduling", "Running", "Finished", "Failed"};

const char* phase_of(const Phases& phases, const Count& count, std::int64_t at_least) {
  if (count.all_ended()) return count.failed > 0 ? phases.failed : phases.over;
  if (count.well() >= at_least) return phases.runs;
  if (count.well() > 0) return phases.in_part;
  return count.there < at_least ? phases.too_few : phases.waits;
}

// Kubernetes' own says only that its pods have had their places once.
Value kubernetes_status(const Value& object, const Count& count, std::int64_t at_least, Time now) {
  const bool was = std::ranges::any_of(object["status"]["conditions"].items(), [](const Value& each) {
    return each["type"].text() == kInitiallyScheduled && each["status"].text() == "True";
  });
  const bool is = was || count.well() >= at_least;
  const std::string waits =
      with_separators(count.well()) + " of " + with_separators(at_least) + " pods have their places";
  Value status = Value::map();
  status.at("conditions")
      .push_back(status_condition(kInitiallyScheduled, is, is ? "Scheduled" : "Unschedulable",
                                  is ? "its pods were given their places" : waits, object, now));
  return status;
}

}  // namespace

Value PodGroups::status_of(std::string_view qualified, const Group& group, Time now) {
  Count count;
  for (const auto& [uid, pod] : group.pods) {
    ++count.there;
    count.placed += is_placed(pod) ? 1 : 0;
    count.succeeded += pod.stage == PodStage::kSucceeded ? 1 : 0;
    count.failed += pod.stage == PodStage::kFailed ? 1 : 0;
  }
  const std::int64_t at_least = group.read.spec.at_least;
  if (qualified == kKubernetesGroups) return kubernetes_status(group.object, count, at_least, now);
  const Phases& phases = qualified == kVolcanoGroups ? kOfVolcano : kOfCoscheduling;
  return Value::map_of({{"phase", phase_of(phases, count, at_least)},
                        {"running", count.placed},
                        {"succeeded", count.succeeded},
                        {"failed", count.failed}});
}

std::vector<OtherStatus> PodGroups::statuses(Time now) {
  for (const Key& key : std::exchange(uncounted_, {})) {
    const auto at = groups_.find(key);
    if (at == groups_.end() || at->second.object.is_null()) {
      statuses_.erase(key);
      continue;
    }
    const Value& metadata = at->second.object["metadata"];
    statuses_[key] = {key.first, std::string(metadata["namespace"].text()), std::string(metadata["name"].text()),
                      std::string(metadata["uid"].text()), status_of(key.first, at->second, now)};
  }
  std::vector<OtherStatus> made;
  for (const auto& [key, status] : statuses_) made.push_back(status);
  return made;
}

}  // namespace berth
