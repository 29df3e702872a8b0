#include "controllers/volcano_job_tally.h"

#include <algorithm>

#include "controllers/controller.h"
#include "controllers/job_pods.h"

namespace berth {
namespace {

VolcanoPodState state_of(const Value& pod) {
  const std::string_view phase = pod["status"]["phase"].text();
  if (phase == "Succeeded") return VolcanoPodState::kSucceeded;
  // What was deleted after it had failed is to be tried again, as with Volcano.
  if (is_being_deleted(pod) || (phase == "Failed" && was_preempted(pod))) return VolcanoPodState::kEvicted;
  if (phase == "Failed") return VolcanoPodState::kFailed;
  if (phase == "Running") return VolcanoPodState::kRunning;
  if (phase == "Unknown") return VolcanoPodState::kUnknown;
  return pod["spec"]["nodeName"].is_empty() ? VolcanoPodState::kWaiting : VolcanoPodState::kStarting;
}

}  // namespace

VolcanoTally::VolcanoTally(const VolcanoJob& spec, const Value& job, const std::vector<const Value*>& pods)
    : spec_(spec) {
  for (std::size_t task = 0; task < spec.tasks.size(); ++task) {
    first_of_.push_back(slots.size());
    for (std::int64_t index = 0; index < spec.tasks[task].replicas; ++index) {
      slots.push_back({.place = {task, index}, .in_gang = index < spec.tasks[task].in_gang});
    }
  }
  std::set<std::string> restarting;
  for (const Value& uid : job["status"]["restarting"].items()) restarting.emplace(uid.text());
  for (const Value* const pod : pods) take(*pod, job["status"]["version"].integer(), restarting);
}

void VolcanoTally::take(const Value& pod, std::int64_t version, const std::set<std::string>& restarting) {
  names_.emplace(pod["metadata"]["name"].text());
  const auto place = place_of(spec_, pod);
  const bool is_old = version_of(pod) != version || restarting.contains(std::string(pod["metadata"]["uid"].text()));
  const VolcanoPodState state = state_of(pod);
  // Who had no place has lost nothing.
  const bool never_began = state == VolcanoPodState::kEvicted && pod["spec"]["nodeName"].is_empty();
  if (!place || is_old || never_began) {
    given_up.push_back(&pod);
    return;
  }
  VolcanoSlot& slot = slots[first_of_[place->task] + static_cast<std::size_t>(place->index)];
  if (slot.pod != nullptr) {
    given_up.push_back(&pod);
    return;
  }
  slot.pod = &pod;
  slot.state = state;
}

std::int64_t VolcanoTally::count(VolcanoPodState state) const {
  return std::ranges::count(slots, state, &VolcanoSlot::state);
}

std::int64_t VolcanoTally::begun() const {
  return count(VolcanoPodState::kRunning) + count(VolcanoPodState::kUnknown) + count(VolcanoPodState::kSucceeded) +
         count(VolcanoPodState::kFailed);
}

std::int64_t VolcanoTally::live() const {
  return count(VolcanoPodState::kWaiting) + count(VolcanoPodState::kStarting) + count(VolcanoPodState::kRunning) +
         count(VolcanoPodState::kUnknown) + terminating();
}

std::int64_t VolcanoTally::terminating() const {
  return count(VolcanoPodState::kEvicted) + static_cast<std::int64_t>(given_up.size());
}

std::int64_t VolcanoTally::of_task(std::size_t task, VolcanoPodState state) const {
  const auto begin = slots.begin() + static_cast<std::ptrdiff_t>(first_of_[task]);
  return std::ranges::count(begin, begin + spec_.tasks[task].replicas, state, &VolcanoSlot::state);
}

bool VolcanoTally::is_up(std::size_t task) const {
  return of_task(task, VolcanoPodState::kRunning) + of_task(task, VolcanoPodState::kSucceeded) >=
         spec_.tasks[task].min_available;
}

bool VolcanoTally::has_pods(std::size_t task) const {
  return of_task(task, VolcanoPodState::kAbsent) < spec_.tasks[task].replicas;
}

std::int64_t VolcanoTally::placed_of_task(std::size_t task) const {
  return spec_.tasks[task].replicas - of_task(task, VolcanoPodState::kAbsent) -
         of_task(task, VolcanoPodState::kWaiting) - of_task(task, VolcanoPodState::kEvicted);
}

bool VolcanoTally::gang_is_placed(std::size_t task) const {
  std::int64_t placed = 0;
  for (std::size_t i = 0; i < spec_.tasks.size(); ++i) {
    if (!spec_.share_gang(task, i)) continue;
    const std::int64_t of_it = placed_of_task(i);
    if (of_it < spec_.tasks[i].of_its_own) return false;
    placed += of_it;
  }
  return placed >= spec_.gang_of(task);
}

std::int64_t VolcanoTally::group_size(std::size_t task) const {
  if (spec_.gang_of(task) < 2) return 0;
  std::int64_t left = 0;
  for (std::size_t i = 0; i < spec_.tasks.size(); ++i) {
    if (spec_.share_gang(task, i)) left += spec_.tasks[i].replicas - of_task(i, VolcanoPodState::kFailed);
  }
  return std::max<std::int64_t>(1, std::min(left, spec_.gang_of(task)));
}

void VolcanoTally::write(Value& status) const {
  using enum VolcanoPodState;
  status.set("minAvailable", spec_.min_available);
  status.set("pending", count(kWaiting) + count(kStarting));
  status.set("running", count(kRunning));
  status.set("succeeded", count(kSucceeded));
  status.set("failed", count(kFailed));
  status.set("terminating", terminating());
  status.set("unknown", count(kUnknown));
  Value& tasks = status.set("taskStatusCount", Value::map());
  for (const VolcanoSlot& slot : slots) {
    if (slot.state == kAbsent || slot.state == kEvicted) continue;
    Value& of_phase = tasks.at(spec_.tasks[slot.place.task].name).at("phase").at(phase_of(slot.state));
    of_phase = of_phase.integer() + 1;
  }
}

std::string_view phase_of(VolcanoPodState state) {
  switch (state) {
    case VolcanoPodState::kRunning:
      return "Running";
    case VolcanoPodState::kUnknown:
      return "Unknown";
    case VolcanoPodState::kSucceeded:
      return "Succeeded";
    case VolcanoPodState::kFailed:
      return "Failed";
    default:
      return "Pending";
  }
}

}  // namespace berth
