#include "service/pod_groups.h"

#include <algorithm>
#include <tuple>

#include "base/wording.h"
#include "cycle/explain.h"
#include "manifest/gang_owner.h"
#include "manifest/labels.h"
#include "manifest/volcano_job.h"

namespace berth {
namespace {

constexpr const char* kInitiallyScheduled = "PodGroupInitiallyScheduled";

std::string name_in_space(const Value& object) {
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

// By Jobs, of which the scheduler reads nothing but their pods.
bool is_said_on_pods(std::string_view qualified) { return qualified == kPartialJobs || qualified == kVolcanoJobs; }

// "PodGroup", "RayCluster".
std::string_view kind_of(std::string_view qualified) {
  if (is_said_on_pods(qualified)) return "Job";
  const GangOwnerKind* const owner = find_gang_owner_kind(qualified);
  return owner == nullptr ? "PodGroup" : owner->kind;
}

std::string named(const PodGroupName& group) {
  return "its " + std::string(kind_of(group.qualified)) + " " + quote(group.name);
}

std::string problem_of(const PodGroupReading& read, const PodGroupName& group) {
  std::string text;
  for (const SpecMistake& each : read.mistakes) text += (text.empty() ? "" : "; ") + each.field + ": " + each.text;
  return text.empty() ? "" : named(group) + ": " + text;
}

Obstacle missing(const PodGroupName& group) {
  const GangOwnerKind* const owner = find_gang_owner_kind(group.qualified);
  if (owner == nullptr) {
    return {"PodGroupMissing", "there is no PodGroup " + quote(group.name) + " (" + std::string(group.qualified) +
                                   ") in its namespace; create it"};
  }
  return {"OwnerMissing", "there is no " + std::string(owner->kind) + " " + quote(group.name) +
                              " in its namespace, which says how many pods start together; create it, or make the pod "
                              "without the label " +
                              std::string(owner->name_label)};
}

bool names_no_queue(const PodFacts& pod) { return pod.queue == kDefaultQueue && pod.labels[kQueueLabel].is_empty(); }

void settle_queue(const PodGroupSpec& spec, PodFacts& pod) {
  if (pod.priority_class.empty()) pod.priority_class = spec.priority_class;
  if (!names_no_queue(pod)) return;
  if (!spec.local_queue.empty()) {
    pod.local_queue = spec.local_queue;
    pod.queue = "localqueue/" + pod.name_space + "/" + spec.local_queue;
  } else if (!spec.queue.empty()) {
    pod.queue = "volcano/" + spec.queue;
  }
}

// "the first 3 pods of its PodGroup 'g' start together, and it after them"
std::string after_the_first(std::int64_t at_least, const PodGroupName& group) {
  return at_least == 1 ? "the first pod of " + named(group) + " starts before it"
                       : "the first " + with_separators(at_least) + " pods of " + named(group) +
                             " start together, and it after them";
}

}  // namespace

std::vector<std::string_view> pod_group_kinds() {
  std::vector<std::string_view> kinds = {kKubernetesGroups, kCoschedulingGroups, kVolcanoGroups};
  for (const GangOwnerKind& each : gang_owner_kinds()) {
    if (!each.name_label.empty()) kinds.push_back(each.qualified);
  }
  return kinds;
}

void PodGroups::set(std::string_view qualified, const Value& object) {
  const Key key{std::string(qualified), name_in_space(object), ""};
  Source& source = objects_[key];
  const Value& before = source.object["metadata"];
  const Value& after = object["metadata"];
  // Its status is ours, or its operator's: nothing follows from it.
  const bool same = source.object["spec"] == object["spec"] && before["uid"] == after["uid"] &&
                    before["labels"] == after["labels"] && before["annotations"] == after["annotations"];
  source.object = object;
  if (same) return;
  source.read = read_pod_group(qualified, object);
  if (find_gang_owner_kind(qualified) == nullptr) groups_[key];
  note_change(key);
}

void PodGroups::remove(std::string_view qualified, const Value& object) {
  const Key key{std::string(qualified), name_in_space(object), ""};
  objects_.erase(key);
  note_change(key);
}

// Of an object: all of its groups are to be looked at.
void PodGroups::note_change(const Key& object) {
  std::vector<Key> keys;
  for (auto at = groups_.lower_bound(object);
       at != groups_.end() && at->first.qualified == object.qualified && at->first.object == object.object; ++at) {
    at->second.changed = true;
    keys.push_back(at->first);
  }
  for (const Key& key : keys) {
    unsettled_.insert(key);
    forget_if_empty(key);
  }
}

const PodGroups::Source* PodGroups::source_of(const Key& key) const {
  const auto found = objects_.find({key.qualified, key.object, ""});
  return found == objects_.end() ? nullptr : &found->second;
}

void PodGroups::set_pod(const PodFacts& pod) {
  if (!pod.pod_group) {
    leave(pod.uid);
    return pods_.set_pod(pod);
  }
  const PodGroupName& named = *pod.pod_group;
  Key key{std::string(named.qualified), pod.name_space + "/" + named.name, named.replica};
  if (const auto known = group_of_.find(pod.uid); known != group_of_.end() && known->second != key) leave(pod.uid);
  group_of_[pod.uid] = key;
  Group& group = groups_[key];
  if (!has_ended(pod)) group.missed.erase(named.task);
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
  note_missed(group, group.pods.at(uid));
  group.pods.erase(uid);
  group.parts.erase(uid);
  group.unsettled.erase(uid);
  unsettled_.insert(known.mapped());
  forget_if_empty(known.mapped());
}

// What a task needs is said on its own pods: of the last one that goes it is remembered, for another comes in its place.
void PodGroups::note_missed(Group& group, const PodFacts& gone) {
  const PodGroupName& name = *gone.pod_group;
  if (has_ended(gone) || name.task_size == 0) return;
  const bool some_are_left = std::ranges::any_of(group.pods, [&](const auto& each) {
    const PodFacts& other = each.second;
    return other.uid != gone.uid && !has_ended(other) && other.pod_group->task == name.task;
  });
  if (!some_are_left) group.missed[name.task] = name.task_size;
}

void PodGroups::forget_if_empty(const Key& key) {
  const auto at = groups_.find(key);
  const bool has_status = objects_.contains(key) && find_gang_owner_kind(key.qualified) == nullptr;
  if (!at->second.pods.empty() || has_status) return;
  groups_.erase(at);
  unsettled_.erase(key);
  uncounted_.insert(key);
}

void PodGroups::settle() {
  for (const Key& key : std::exchange(unsettled_, {})) {
    uncounted_.insert(key);
    Group& group = groups_.at(key);
    const Source* const source = source_of(key);
    const PodGroupSpec spec = source == nullptr ? said_by(group) : source->read.spec;
    const std::int64_t size_before = std::exchange(group.at_least, size_of(spec, group));
    const std::map<std::string, Part> before = std::exchange(group.parts, parts_of(spec, group));
    const std::set<std::string> unsettled = std::exchange(group.unsettled, {});
    const bool all = std::exchange(group.changed, false) || size_before != group.at_least;
    for (const auto& [uid, pod] : group.pods) {
      const Part part = group.parts.at(uid);
      const auto told = before.find(uid);
      const bool same = told != before.end() && told->second == part;
      if (all || !same || unsettled.contains(uid)) pods_.set_pod(resolved(source, group, pod, part));
    }
  }
}

// Of a task that has fewer pods left, fewer are needed: who was left failed is not waited for.
PodGroupSpec PodGroups::said_by(const Group& group) {
  PodGroupSpec spec;
  for (const auto& [task, needed] : group.missed) spec.of_tasks[task] = needed;
  std::map<std::string, std::int64_t> failed;
  for (const auto& [uid, pod] : group.pods) {
    const PodGroupName& name = *pod.pod_group;
    if (pod.stage == PodStage::kFailed) ++failed[name.task];
    if (has_ended(pod) || name.task_size == 0) continue;
    std::int64_t& needed = spec.of_tasks[name.task];
    needed = std::max(needed, name.task_size);
  }
  for (auto& [task, needed] : spec.of_tasks) needed = std::max<std::int64_t>(needed - failed[task], 0);
  return spec;
}

// What pods say goes before what the object says now: it may have been changed since they were made.
std::int64_t PodGroups::size_of(const PodGroupSpec& spec, const Group& group) {
  std::int64_t said = 0, apart = 0;
  for (const auto& [uid, pod] : group.pods) {
    if (!has_ended(pod)) said = std::max(said, pod.pod_group->size);
  }
  for (const auto& [task, count] : spec.apart) apart += count;
  return said == 0 ? spec.at_least : std::max<std::int64_t>(said - apart, 1);
}

// The first: of each task as many as it needs, then of all, those who are farthest before the others and the older before the
// younger. Who has failed is of no use to anybody.
std::map<std::string, PodGroups::Part> PodGroups::parts_of(const PodGroupSpec& spec, const Group& group) {
  std::vector<const PodFacts*> in_order;
  std::map<std::string, Part> parts;
  for (const auto& [uid, pod] : group.pods) {
    const bool apart = spec.apart.contains(pod.pod_group->task);
    parts[uid] = apart ? Part::kApart : Part::kFirst;
    if (!apart && pod.stage != PodStage::kFailed) in_order.push_back(&pod);
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
  std::int64_t still_needed = group.at_least;
  for (const auto& [task, count] : spec.of_tasks) still_needed -= count;
  for (const PodFacts* const pod : in_order) {
    if (!first.contains(pod) && still_needed-- > 0) first.insert(pod);
  }
  const bool are_placed = std::cmp_equal(
      std::ranges::count_if(first, [](const PodFacts* pod) { return rank_of(*pod) == 0; }), group.at_least);
  for (const PodFacts* const pod : in_order) {
    if (!first.contains(pod)) parts[pod->uid] = are_placed ? Part::kMore : Part::kMoreWaits;
  }
  return parts;
}

PodFacts PodGroups::resolved(const Source* source, const Group& group, const PodFacts& pod, Part part) {
  PodFacts made = pod;
  const PodGroupName& name = *pod.pod_group;
  if (source == nullptr && !is_said_on_pods(name.qualified)) {
    made.shut = missing(name);
    return made;
  }
  const PodGroupReading said = source == nullptr ? PodGroupReading() : source->read;
  const PodGroupSpec& spec = said.spec;
  const bool is_owner = find_gang_owner_kind(name.qualified) != nullptr;
  if (made.problem.empty()) made.problem = problem_of(said, name);
  settle_queue(spec, made);
  // Of one pod nobody waits for anybody, unless it is one of a certain task.
  const bool waits_for_one = part == Part::kMoreWaits && !spec.of_tasks.empty();
  if (group.at_least == 1 && part != Part::kApart && !waits_for_one) return made;
  if (part == Part::kFirst) {
    const std::string uid = source == nullptr ? pod.maker_uid : std::string(source->object["metadata"]["uid"].text());
    made.group_name = name.group();
    made.group = pod.name_space + "/" + made.group_name + "/" + uid;
    made.group_size = group.at_least;
    // An operator's pods may be made by several objects of its own.
    if (is_owner) made.maker_uid = uid;
    if (made.topology.asks_nothing()) made.topology = spec.topology;
    return made;
  }
  const Topology& topology = spec.topology.asks_nothing() ? made.topology : spec.topology;
  if (topology.together == Togetherness::kRequired && made.problem.empty() && !has_ended(pod)) {
    made.problem = named(name) + " asks for one domain, and starts " +
                   (part == Part::kApart ? "this pod apart from the others"
                                         : "with " + with_separators(group.at_least) + " of its pods") +
                   "; have all of them start together";
  }
  if (part == Part::kMoreWaits && pod.stage == PodStage::kWaiting) {
    made.shut = {"GangFirst", after_the_first(group.at_least, name)};
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

Value PodGroups::status_of(const Key& key, const Source& source, const Group& group, Time now) {
  Count count;
  for (const auto& [uid, pod] : group.pods) {
    ++count.there;
    count.placed += is_placed(pod) ? 1 : 0;
    count.succeeded += pod.stage == PodStage::kSucceeded ? 1 : 0;
    count.failed += pod.stage == PodStage::kFailed ? 1 : 0;
  }
  const std::int64_t at_least = source.read.spec.at_least;
  if (key.qualified == kKubernetesGroups) return kubernetes_status(source.object, count, at_least, now);
  const Phases& phases = key.qualified == kVolcanoGroups ? kOfVolcano : kOfCoscheduling;
  return Value::map_of({{"phase", phase_of(phases, count, at_least)},
                        {"running", count.placed},
                        {"succeeded", count.succeeded},
                        {"failed", count.failed}});
}

std::vector<OtherStatus> PodGroups::statuses(Time now) {
  for (const Key& key : std::exchange(uncounted_, {})) {
    const auto at = groups_.find(key);
    const Source* const source = source_of(key);
    if (at == groups_.end() || source == nullptr) {
      statuses_.erase(key);
      continue;
    }
    if (find_gang_owner_kind(key.qualified) != nullptr) continue;  // that is its operator's
    const Value& metadata = source->object["metadata"];
    statuses_[key] = {key.qualified, std::string(metadata["namespace"].text()), std::string(metadata["name"].text()),
                      std::string(metadata["uid"].text()), status_of(key, *source, at->second, now)};
  }
  std::vector<OtherStatus> made;
  for (const auto& [key, status] : statuses_) made.push_back(status);
  return made;
}

}  // namespace berth
