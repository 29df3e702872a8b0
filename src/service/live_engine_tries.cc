// Work that is tried again and again on a live cluster: gangs under which one node after the other fails, and those whose pods are
// never all ready (docs/semantics.md, rule 23). What is made in a stopped one's place is another workload to the engine, so how often
// it was tried is known here, by its group, and told with it; for a scheduler that is started anew it is written in its queue's status.
#include <algorithm>
#include <functional>
#include <set>
#include <utility>

#include "cycle/explain.h"
#include "manifest/timestamp.h"
#include "model/quantity.h"
#include "service/live_engine.h"

namespace berth {
namespace {

// Nodes may fail of what gangs do; of pods by themselves nobody knows which stands in for which.
std::string tries_key(const PodFacts& pod) { return pod.group.empty() ? "made by " + pod.maker_uid : pod.group; }

// So many of a queue are written down: the latest.
constexpr std::size_t kTriesTold = 64;

}  // namespace

// ---- lost nodes ----------------------------------------------------------------------------------------------------------

// PRE: it runs.
void LiveEngine::note_lost_with_node(const Member& member) {
  if (member.facts.group.empty()) return;
  const auto node = nodes_.find(member.node);
  const bool has_failed = member.node_failed || node == nodes_.end() || node->second.not_ready_since;
  if (!has_failed) return;
  const Workload& workload = state().workload(member.running);
  Time began = std::max(workload.started, workload.resumed);
  // When it went on after a repair, a scheduler that is started anew sees by those who came.
  for (const std::string& uid : runs_.at(member.running).uids) {
    began = std::max(began, members_.at(uid).facts.bound_at.value_or(Time{}));
  }
  lost_with_nodes_.push_back({member.group, member.facts.queue, began});
}

// Nodes that fail together, or before it began again, are one.
void LiveEngine::count_lost_nodes(Time now) {
  for (const LostWithNode& lost : std::exchange(lost_with_nodes_, {})) {
    Tries& tries = tries_of(lost.group, lost.queue, now);
    if (tries.lost_at && lost.began < *tries.lost_at) continue;
    tries.lost_at = now;
    tries.lost_nodes = now - lost.began <= kNodeLostSoon ? tries.lost_nodes + 1 : 0;
    if (tries.lost_nodes < kNodesLostMax) continue;
    tries.backs_off = BackOff{.until = now + back_off_after(kBackOffFirst, tries.lost_nodes - kNodesLostMax + 1),
                              .why = EvictionRule::kNode,
                              .times = times_in_a_byte(tries.lost_nodes)};
    lose_nodes_.insert(lost.group);
    if (const auto group = groups_.find(lost.group); group != groups_.end()) {
      withdraw(group->second);
      touch(lost.group);
    }
  }
}

// Whatever is left of it would only take the next node along.
void LiveEngine::stop_who_loses_nodes(Round& round, Time now) {
  for (const std::string& key : std::exchange(lose_nodes_, {})) {
    const auto group = groups_.find(key);
    if (group == groups_.end()) continue;
    std::set<WorkloadId> runs;
    for (const std::uint64_t sequence : group->second.members) {
      const WorkloadId run = members_.at(by_sequence_.at(sequence)).running;
      if (!run.is_none()) runs.insert(run);
    }
    const Tries& tries = tries_.at(key).tries;
    for (const WorkloadId run : runs) {
      stop_for(EvictionRule::kNode, run,
               "the last " + with_separators(tries.lost_nodes) + " nodes on which it began failed within " +
                   format_duration_ms(kNodeLostSoon.ms) + ", and it may be the cause; it is tried again at " +
                   format_timestamp(tries.backs_off->until),
               round, now);
    }
  }
}

// ---- never ready ---------------------------------------------------------------------------------------------------------

// It begins, or goes on after a repair.
void LiveEngine::ask_whether_ready(WorkloadId id) {
  const Run& run = runs_.at(id);
  const auto asks = [&](const std::string& uid) { return members_.at(uid).facts.time.ready.has_value(); };
  if (std::ranges::any_of(run.uids, asks)) unready_.insert(id);
}

// The shortest of what its pods say.
Time LiveEngine::ready_by(WorkloadId id) const {
  const Workload& workload = state().workload(id);
  Duration within = kForever - Time{};
  for (const std::string& uid : runs_.at(id).uids) {
    const auto& ready = members_.at(uid).facts.time.ready;
    if (ready) within = std::min(within, ready->within);
  }
  const Time began = std::max(workload.started, workload.resumed);
  return within < kForever - began ? began + within : kForever;
}

bool LiveEngine::is_ready(const Run& run) const {
  return run.vacancies.empty() &&
         std::ranges::all_of(run.uids, [&](const std::string& uid) { return members_.at(uid).was_ready; });
}

// Whether those were ready whose time was over before this scheduler was there, nobody knows: they are believed to have been.
void LiveEngine::believe_who_is_found(Time now) {
  if (std::exchange(has_decided_, true)) return;
  for (const WorkloadId id : unready_) {
    if (ready_by(id) > now) continue;
    for (const std::string& uid : runs_.at(id).uids) members_.at(uid).was_ready = true;
  }
}

void LiveEngine::stop_who_is_never_ready(Round& round, Time now) {
  believe_who_is_found(now);
  const std::set<WorkloadId> unready = unready_;
  for (const WorkloadId id : unready) {
    const auto run = runs_.find(id);
    const bool runs = run != runs_.end() && !run->second.stop_by && !run->second.uids.empty();
    if (!runs) {
      unready_.erase(id);
    } else if (is_ready(run->second)) {
      unready_.erase(id);
      const auto tries = tries_.find(tries_key(members_.at(run->second.uids.front()).facts));
      if (tries != tries_.end()) tries->second.tries.never_ready = 0;
    } else if (ready_by(id) <= now && run->second.vacancies.empty()) {
      unready_.erase(id);
      stop_never_ready(id, round, now);
    }
  }
}

void LiveEngine::stop_never_ready(WorkloadId id, Round& round, Time now) {
  const Run& run = runs_.at(id);
  const PodFacts& first = members_.at(run.uids.front()).facts;
  Tries& tries = tries_of(tries_key(first), first.queue, now);
  ++tries.never_ready;
  const auto unready =
      std::ranges::count_if(run.uids, [&](const std::string& uid) { return !members_.at(uid).was_ready; });
  const Time began = std::max(state().workload(id).started, state().workload(id).resumed);
  std::string why = with_separators(unready) + " of its " + with_separators(std::ssize(run.uids)) +
                    (run.uids.size() == 1 ? " pod" : " pods") + (unready == 1 ? " was" : " were") +
                    " not ready within " + format_duration_ms((ready_by(id) - began).ms) + " (" +
                    std::string(kNeverReadyAnnotation) + ")";
  std::optional<std::int32_t> retries;
  for (const std::string& uid : run.uids) {
    const auto& ready = members_.at(uid).facts.time.ready;
    if (ready && ready->retries) retries = std::min(*ready->retries, retries.value_or(kRetriesMax));
  }
  if (retries && tries.never_ready > *retries)
    return end_for_good(run, "NeverReady", why + ", and it was tried again as often as it is to be", round);
  const Duration wait = back_off_after(kRetryAfter, tries.never_ready);
  tries.backs_off =
      BackOff{.until = now + wait, .why = EvictionRule::kNeverReady, .times = times_in_a_byte(tries.never_ready)};
  stop_for(EvictionRule::kNeverReady, id, why + "; it is tried again in " + format_duration_ms(wait.ms), round, now);
}

// Each of its Jobs once.
void LiveEngine::end_for_good(const Run& run, const std::string& reason, const std::string& why, Round& round) const {
  std::set<std::string> told;
  for (const std::string& uid : run.uids) {
    const PodFacts& pod = members_.at(uid).facts;
    if (!told.insert(pod.owner.uid).second) continue;
    round.given_up.push_back({.pod = {pod.uid, pod.name_space, pod.name},
                              .owner = pod.owner,
                              .reason = reason,
                              .text = why + ": it is ended"});
  }
}

// ---- both ----------------------------------------------------------------------------------------------------------------

// All of it, each pod with the grace that it has.
void LiveEngine::stop_for(EvictionRule rule, WorkloadId id, const std::string& why, Round& round, Time now) {
  Run& run = runs_.at(id);
  if (run.stop_by || run.moving) return;
  if (state().workload(id).phase != Phase::kRunning) return give_up_start(id);
  run.stop_by = now + state().shape(state().workload(id).shape).terms.grace;
  const std::string text = std::string(name_of(rule)) + ": " + why + "; all of it stops by " +
                           format_timestamp(*run.stop_by) + loss_in_words(id, now);
  session_->apply(LeavingFound{id, *run.stop_by});
  forget_vacancies(id);
  tell_to_stop(run, text, round, now);
  round.again_at = now;
}

// To count one more in. Where it is now it is looked for by the next scheduler.
Tries& LiveEngine::tries_of(const std::string& key, const std::string& queue, Time now) {
  TriesIn& known = tries_[key];
  known.queue = queue;
  known.tries.noted = now;
  return known.tries;
}

void LiveEngine::forget_tries(Time now) {
  std::erase_if(tries_, [&](const auto& each) { return each.second.tries.noted + kBackOffMax + kNodeLostSoon <= now; });
}

void LiveEngine::note_tries(std::map<std::string, QueueStanding>& standings) const {
  for (const auto& [key, known] : tries_) {
    const auto standing = standings.find(known.queue);
    if (standing != standings.end()) standing->second.tries.emplace_back(key, known.tries);
  }
  for (auto& [name, standing] : standings) {
    if (standing.tries.size() <= kTriesTold) continue;
    std::ranges::stable_sort(standing.tries, std::greater(), [](const auto& each) { return each.second.noted; });
    standing.tries.resize(kTriesTold);
  }
}

std::optional<BackOff> LiveEngine::backs_off(const PodFacts& pod, Time now) const {
  const auto tries = tries_.find(tries_key(pod));
  if (tries == tries_.end()) return std::nullopt;
  const std::optional<BackOff>& backs_off = tries->second.tries.backs_off;
  return backs_off && backs_off->until > now ? backs_off : std::nullopt;
}

}  // namespace berth
