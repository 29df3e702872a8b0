// What a LiveEngine says: why pods wait, which half-begun gangs are taken back, how much waits and runs.
#include <algorithm>
#include <utility>

#include "cycle/explain.h"
#include "service/live_engine.h"

namespace berth {
namespace {

// A gang partly bound is completed within this time or taken back.
constexpr Duration kPartialMax = seconds(5);
// While only the numbers of a reason change, it is told this seldom.
constexpr Duration kRetellAfter = seconds(10);
// Explaining looks at every node: so many different requests in one round, the others in the next.
constexpr std::size_t kExplainedMax = 32;
constexpr Duration kNextRound{200};

void earlier(std::optional<Time>& due, Time time) {
  if (!due || time < *due) due = time;
}

}  // namespace

// Partly bound: some run, and some that were created before those were bound have no place. One that was created later
// replaces a lost member, and waits as long as it must.
bool LiveEngine::is_partial(const Tally& tally) {
  return tally.size > 1 && tally.placed > 0 && std::ranges::any_of(tally.waiting, [&](const Member* member) {
           return member->refused || (tally.first_bound_at && member->facts.created <= *tally.first_bound_at);
         });
}

void LiveEngine::note_partial(const std::string& key, Group& group, const Tally& tally, Time now) {
  if (!is_partial(tally)) {
    group.partial_since.reset();
    partial_.erase(key);
  } else if (!group.partial_since) {
    group.partial_since = now;
    partial_.insert(key);
  }
}

void LiveEngine::roll_back(Round& round, Time now) {
  for (auto at = partial_.begin(); at != partial_.end();) {
    const std::string& key = *at++;
    Group& group = groups_.at(key);
    const Tally members = tally(group);
    // This round may have completed it.
    if (!is_partial(members)) {
      note_partial(key, group, members, now);
      continue;
    }
    const Time due = *group.partial_since + kPartialMax;
    if (now < due) {
      earlier(round.again_at, due);
      continue;
    }
    const std::string why = "its gang could not be completed: " + with_separators(members.placed) + " of " +
                            with_separators(members.size) + " pods had a place for more than 5 s";
    for (const std::uint64_t sequence : group.members) {
      const Member& member = members_.at(by_sequence_.at(sequence));
      if (!member.confirmed || member.facts.stage != PodStage::kBound) continue;
      round.rollbacks.push_back(
          {{member.facts.uid, member.facts.name_space, member.facts.name}, member.facts.revision, why});
    }
    group.partial_since = now;  // again after that time, should the deletions be lost
    earlier(round.again_at, now + kPartialMax);
  }
}

std::pair<std::string, std::string> LiveEngine::reason_of_group(const Group& group) {
  if (group.pending.is_none()) return {group.unsubmitted_code, group.unsubmitted_why};
  const Workload& workload = state().workload(group.pending);
  const ReasonCode code = reason_of(state(), group.pending);
  if (code == ReasonCode::kBehind) {
    return {std::string(name_of(code)), "in a strict order behind one that does not fit yet"};
  }
  const auto [at, is_new] = explained_.try_emplace({state().line_of(workload.queue), workload.shape});
  if (is_new) {
    const Explanation explanation = explain(state(), group.pending);
    at->second = {std::string(name_of(explanation.code)), explanation.text};
  }
  return {at->second.code, at->second.text};
}

void LiveEngine::note_told(const std::string& uid) {
  const auto at = members_.find(uid);
  if (at == members_.end()) return;
  at->second.telling = false;
  if (std::exchange(at->second.tell_more, false)) untold_.insert(at->second.group);
}

void LiveEngine::note_not_told(const std::string& uid) {
  const auto at = members_.find(uid);
  if (at == members_.end()) return;
  at->second.telling = false;
  at->second.told = at->second.facts.told;
  untold_.insert(at->second.group);
}

void LiveEngine::note_workload_told(const std::string& key) {
  const auto at = groups_.find(key);
  if (at == groups_.end()) return;
  at->second.telling = false;
  if (std::exchange(at->second.tell_more, false)) untold_.insert(key);
}

void LiveEngine::tell_group(const std::string& key, Round& round, Time now) {
  const auto at = groups_.find(key);
  if (at == groups_.end()) return;
  const Tally members = tally(at->second);
  const auto [code, why] =
      members.waiting.empty() ? std::pair<std::string, std::string>() : reason_of_group(at->second);
  const bool waits = !code.empty() && code != name_of(ReasonCode::kNone);
  const std::string text = waits ? code + ": " + why : "";
  if (members.size > 1) tell_workload(key, at->second, members, text, round);
  if (!waits) return;
  for (Member* member : members.waiting) {
    if (member->told == text) continue;
    if (member->telling) {
      member->tell_more = true;
      continue;
    }
    const bool same_code = member->told.starts_with(code + ":");
    if (same_code && member->told_at.ms != 0 && now < member->told_at + kRetellAfter) {
      earlier(round.again_at, member->told_at + kRetellAfter);
      untold_.insert(key);
      continue;
    }
    const bool first = member->told.empty();
    member->told = text;
    member->told_at = now;
    member->telling = true;
    round.reasons.push_back({.pod = {member->facts.uid, member->facts.name_space, member->facts.name},
                             .revision = member->facts.revision,
                             .owner = member->facts.owner,
                             .text = text,
                             .first = first});
  }
}

// Some of it runs: admitted. None of it runs any more, and none waits: finished.
void LiveEngine::tell_workload(const std::string& key, Group& group, const Tally& tally, const std::string& text,
                               Round& round) {
  const bool over = tally.waiting.empty() && tally.placed == 0 && tally.succeeded + tally.failed > 0;
  const WorkloadPhase phase = tally.placed > 0 ? WorkloadPhase::kAdmitted
                              : over           ? WorkloadPhase::kFinished
                                               : WorkloadPhase::kPending;
  const bool phase_changed = group.told_phase != phase;
  if (!phase_changed && group.told.substr(0, group.told.find(':')) == text.substr(0, text.find(':'))) return;
  if (group.telling) {
    group.tell_more = true;
    return;
  }
  group.told_phase = phase;
  group.told = text;
  group.telling = true;
  const PodFacts& first = *tally.first;
  round.workloads.push_back({.group = key,
                             .name_space = first.name_space,
                             .name = first.group_name,
                             .owner = first.owner,
                             .queue = first.queue,
                             .request = first.request,
                             .size = tally.size,
                             .phase = phase,
                             .phase_changed = phase_changed,
                             .text = text});
}

void LiveEngine::tell(Round& round, Time now) {
  explained_.clear();
  const std::set<std::string> untold = std::exchange(untold_, {});
  for (const std::string& key : untold) {
    if (explained_.size() < kExplainedMax) {
      tell_group(key, round, now);
    } else {
      untold_.insert(key);
      earlier(round.again_at, now + kNextRound);
    }
  }
}

std::map<std::string, QueueCounts> LiveEngine::count_by_queue() const {
  std::map<std::string, QueueCounts> counts;
  for (const auto& [name, queue] : queues_) counts[name];
  for (const auto& [key, group] : groups_) {
    bool runs = false, waits = false;
    const PodFacts* pod = nullptr;
    for (const std::uint64_t sequence : group.members) {
      const Member& member = members_.at(by_sequence_.at(sequence));
      const bool placed = !member.running.is_none() || member.facts.stage == PodStage::kBound;
      runs = runs || placed;
      waits = waits || (!placed && member.facts.stage == PodStage::kWaiting);
      pod = &member.facts;
    }
    if (runs) ++counts[pod->queue].running;
    if (waits && !runs) ++counts[pod->queue].pending;
  }
  return counts;
}

std::map<std::string, std::string> LiveEngine::pods_without_room() const { return without_room_; }

}  // namespace berth
