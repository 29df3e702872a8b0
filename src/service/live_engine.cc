#include "service/live_engine.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "base/assert.h"

namespace berth {
namespace {

// One cycle tries so many workloads; then the outside gets its turn.
constexpr Effort kEffort{10'000};

std::vector<std::uint32_t> numbers_up_to(std::size_t count) {
  std::vector<std::uint32_t> numbers(count);
  std::iota(numbers.begin(), numbers.end(), 0U);
  return numbers;
}

}  // namespace

LiveEngine::LiveEngine(Seed seed, PlacementPolicy policy, NewJournal new_journal, Scrubs scrubs)
    : seed_(seed),
      policy_(policy),
      new_journal_(std::move(new_journal)),
      scrubs_(scrubs),
      session_(std::make_unique<Session>()) {}

LiveEngine::Run* LiveEngine::run_of(const Member& member) {
  const auto at = runs_.find(member.running);
  return at == runs_.end() ? nullptr : &at->second;
}
const LiveEngine::Run* LiveEngine::run_of(const Member& member) const {
  const auto at = runs_.find(member.running);
  return at == runs_.end() ? nullptr : &at->second;
}

// Gives back its place, if it has one and nobody is to be in it. Also an engine that will be made anew is told: it is asked what was used.
void LiveEngine::end(Member& member, Ending ending) {
  touch(member.group);
  without_room_.erase(member.facts.uid);
  member.stop_by.reset();
  member.leaves_for.clear();
  if (held_otherwise_.contains(member.facts.node)) anew_ = true;
  if (member.running.is_none()) return;
  const WorkloadId id = member.running;
  Run& run = runs_.at(id);
  room_came_free_ = look_who_left_ = true;
  const auto at = std::ranges::find(run.uids, member.facts.uid);
  if (state().workload(id).phase == Phase::kMigrating && at != run.uids.end()) return leave_old_place(member);
  if (run.starting) return give_up_start(id);
  if (ending == Ending::kLost && !run.stop_by) note_lost_with_node(member);
  const bool is_whole = run.vacancies.empty();
  if (run.uids.size() == 1 && !run.stop_by && is_whole) note_ended_run(member);
  Vacancy vacancy{.number = run.numbers[static_cast<std::size_t>(at - run.uids.begin())], .asked = member.facts};
  const bool is_kept = ending == Ending::kLost && run.uids.size() > 1 && is_made_anew(member);
  run.numbers.erase(run.numbers.begin() + (at - run.uids.begin()));
  run.uids.erase(at);
  member.running = WorkloadId();
  member.confirmed = member.stands_in = false;
  if (is_kept) {
    run.vacancies.push_back(std::move(vacancy));
    lacking_[id] = member.group;
  } else if (!run.uids.empty()) {
    let_go(id, vacancy);
  } else {
    const bool is_done = !run.stop_by && is_whole;
    forget_vacancies(id);
    session_->apply(is_done ? Event(WorkloadEnded{id}) : Event(WorkloadCancelled{id}));
    runs_.erase(id);
  }
}

// Who is deleted before it has ended says nothing of how long others run.
void LiveEngine::note_ended_run(const Member& member) {
  constexpr std::size_t kEndedRunsMax = 10'000;
  const Time started = state().workload(member.running).started;
  if (!member.facts.ended_at || *member.facts.ended_at <= started || ended_runs_.size() >= kEndedRunsMax) return;
  ended_runs_.push_back({berth::run_of(state(), member.running), *member.facts.ended_at - started});
}

std::vector<std::pair<WorkloadId, std::string>> LiveEngine::who_waits() const {
  std::vector<std::pair<WorkloadId, std::string>> waiting;
  for (const auto& [id, key] : pending_groups_) {
    const PodFacts& first = members_.at(groups_.at(key).submitted.front()).facts;
    waiting.emplace_back(id, first.group.empty() ? first.name_space + "/" + first.name : first.group);
  }
  return waiting;
}

std::vector<std::pair<WorkloadId, PodName>> LiveEngine::first_pods_waiting() const {
  std::vector<std::pair<WorkloadId, PodName>> waiting;
  for (const auto& [id, key] : pending_groups_) {
    const PodFacts& first = members_.at(groups_.at(key).submitted.front()).facts;
    waiting.emplace_back(id, PodName{first.uid, first.name_space, first.name});
  }
  return waiting;
}

// Of those that are on their way between two places, or in whose places others are made, no pod may be there just now.
std::map<WorkloadId, std::string> LiveEngine::who_runs() const {
  std::map<WorkloadId, std::string> names;
  for (const auto& [id, run] : runs_) {
    const auto known = std::ranges::find_if(run.uids, [&](const std::string& uid) { return members_.contains(uid); });
    const PodFacts* const first = known != run.uids.end()  ? &members_.at(*known).facts
                                  : run.moving             ? &run.moving->asked.front()
                                  : !run.vacancies.empty() ? &run.vacancies.front().asked
                                                           : nullptr;
    if (first != nullptr) names.emplace_hint(names.end(), id, name_in_words(*first));
  }
  return names;
}

// One of those who were to start together is gone, or is another, or one of their nodes takes nothing new: they wait again.
// Who is repaired runs, and loses no more than the room that some of it were to have.
void LiveEngine::give_up_start(WorkloadId id) {
  if (!runs_.at(id).starting && state().workload(id).phase == Phase::kRunning) return;
  forget_move(id);
  if (state().workload(id).phase == Phase::kMigrating) {
    anew_ = true;  // it is there still, and where it goes is what it loses
    return;
  }
  const Run run = std::move(runs_.at(id));
  runs_.erase(id);
  for (const std::string& uid : run.uids) {
    Member& member = members_.at(uid);
    member.running = WorkloadId();
    touch(member.group);
  }
  if (!anew_) session_->apply(WorkloadCancelled{id});
  room_came_free_ = look_who_left_ = true;
}

// What is reported for a time to come is believed of now.
void LiveEngine::note_checkpoints(Time now) {
  for (const std::string& uid : std::exchange(checkpoints_, {})) {
    const auto at = members_.find(uid);
    if (at == members_.end() || at->second.running.is_none() || !at->second.facts.checkpoint) continue;
    const Time reported = std::min(*at->second.facts.checkpoint, now);
    const CheckpointReported event{at->second.running, reported};
    if (reported > state().workload(event.workload).checkpoint && !state().refusal(event)) session_->apply(event);
  }
}

Round LiveEngine::decide(Time now) {
  Round round;
  it_is(now);
  forget_cooled_down(now);
  note_who_borrows_again();
  give_up_moves(now);
  forget_who_went_first(now);
  forget_tries(now);
  count_lost_nodes(now);
  if (!movable_again_.empty() && *movable_again_.begin() <= now && moves_.empty()) begin_anew();
  settle(now);
  end_waits(now);
  note_who_borrows_again();
  if (anew_) round.again_at = now;
  round.given_up = std::exchange(given_up_, {});
  round.to_part = std::exchange(notices_, {});
  for (const WorkloadId id : std::exchange(moved_in_, {})) begin(id, round, now);
  note_overruns(round, now);
  give_up_repairs(round, now);
  stop_who_loses_nodes(round, now);
  stop_who_is_never_ready(round, now);
  tell_asked_moves();
  for (bool finished = false; !finished;) {
    const Plan plan = session_->one_cycle(now, kEffort);
    finished = plan.finished;
    carry_out(plan, round, now);
  }
  if (const auto next = next_moment(now); next && (!round.again_at || *next < *round.again_at)) round.again_at = next;
  roll_back(round, now);
  ask_for_cuts(now);
  round.cuts = std::exchange(cut_news_, {});
  if (const auto next = next_cut_moment(now); next && (!round.again_at || *next < *round.again_at))
    round.again_at = next;
  ask_for_scrubs();
  round.uses = uses_to_write();
  tell(round, now);
  return round;
}

void LiveEngine::carry_out(const Plan& plan, Round& round, Time now) {
  for (const Blocked& blocked : plan.blocked) {
    const auto groups = groups_by_shape_.find(blocked.shape);
    if (groups != groups_by_shape_.end()) untold_.insert(groups->second.begin(), groups->second.end());
  }
  for (const WorkloadId id : plan.begins) begin(id, round, now);
  for (const Eviction& eviction : plan.evictions) evict(eviction, round, now);
  for (const WorkloadId id : plan.unpaid) note_unpaid(id, round);
  if (plan.defragmented) note_moves_decided(plan, round);
  for (const Migration& migration : plan.migrations) move(migration, round, now);
  for (const Repair& repair : plan.repairs) {
    if (const auto lacking = lacking_.find(repair.workload); lacking != lacking_.end()) untold_.insert(lacking->second);
    if (!repair.waits) fill(repair.workload, round);
  }
  for (const Start& start : plan.starts) {
    take(start);
    if (!start.waits) bind(start.workload, round);
  }
}

// Its room is its own from now on.
void LiveEngine::take(const Start& start) {
  const std::string key = pending_groups_.at(start.workload);
  Group& group = groups_.at(key);
  untold_.insert(key);
  touch(key);
  Run& run = runs_[start.workload];
  run = {.uids = std::exchange(group.submitted, {}),
         .numbers = numbers_up_to(start.pods.size()),
         .starting = start.waits,
         .stop_by = {},
         .moving = {}};
  goes_first_.erase(key);
  BERTH_ASSERT(run.uids.size() == start.pods.size());
  pending_groups_.erase(start.workload);
  forget_shape_of(start.workload, key);
  group.pending = WorkloadId();
  for (std::size_t at = 0; at < run.uids.size(); ++at) {
    Member& member = members_.at(run.uids[at]);
    member.running = start.workload;
    member.node = state().node(start.pods[at].node).name;
    member.given = given_at(start.pods[at], member.facts);
    member.stop_by.reset();
    member.confirmed = false;
    member.refused = false;
    member.stands_in = false;
    member.best_effort = start.best_effort;
    member.only_borrows = start.only_borrows;
  }
}

// Nobody is left in its room.
void LiveEngine::bind(WorkloadId id, Round& round) {
  Run& run = runs_.at(id);
  run.starting = false;
  const std::string coverage = coverage_in_words(id);
  note_limit(id);
  note_movable(id);
  ask_whether_ready(id);
  rank_who_begins(run);
  const std::optional<Rendezvous> rendezvous = rendezvous_of(run);
  for (const std::string& uid : run.uids) bind_member(members_.at(uid), id, coverage, rendezvous, round);
}

void LiveEngine::bind_member(Member& member, WorkloadId id, const std::string& coverage,
                             const std::optional<Rendezvous>& rendezvous, Round& round) {
  const Workload& workload = state().workload(id);
  untold_.insert(member.group);
  touch(member.group);
  member.told.clear();
  note_use(member);
  member.best_effort = workload.best_effort;
  round.bindings.push_back({.pod = {member.facts.uid, member.facts.name_space, member.facts.name},
                            .node = member.node,
                            .given = member.given,
                            .coverage = coverage,
                            .best_effort = workload.best_effort && !member.facts.terms.best_effort,
                            .only_borrows = workload.only_borrows,
                            .moved_at = workload.moved,
                            .rendezvous = rendezvous});
  if (rendezvous) round.bindings.back().rendezvous->rank = *member.rank;
}

// Its pods say so from now on, for a scheduler that is started anew; who is bound in this very round says it in his binding.
void LiveEngine::note_unpaid(WorkloadId id, Round& round) {
  for (const std::string& uid : runs_.at(id).uids) {
    Member& member = members_.at(uid);
    member.best_effort = true;
    touch(member.group);
    round.best_effort.push_back({uid, member.facts.name_space, member.facts.name});
  }
}

void LiveEngine::evict(const Eviction& eviction, Round& round, Time now) {
  Run& run = runs_.at(eviction.workload);
  if (run.moving || unbind(run, round)) {
    give_up_start(eviction.workload);
    round.again_at = now;
    return;
  }
  run.stop_by = eviction.stop_by;
  forget_vacancies(eviction.workload);
  const std::string leaves_for =
      eviction.reservation.is_none() ? "" : state().reservations().at(eviction.reservation).name;
  const std::string why = eviction_in_words(eviction) + loss_in_words(eviction.workload, now);
  if (const auto taken = room_taken(eviction)) round.taken.push_back(*taken);
  const PodFacts& first = members_.at(run.uids.front()).facts;
  const bool lent = eviction.rule == EvictionRule::kReclaim || eviction.rule == EvictionRule::kFairShare;
  if (lent) note_gave_back(first.maker_uid, first.queue, now);
  for (const std::string& uid : run.uids) members_.at(uid).leaves_for = leaves_for;
  tell_to_stop(run, why, round, now);
}

// Each so early that its own grace is over by then. PRE: by when is known.
void LiveEngine::tell_to_stop(const Run& run, const std::string& why, Round& round, Time now) {
  for (const std::string& uid : run.uids) {
    Member& member = members_.at(uid);
    groups_.at(member.group).evicted_why = why;
    untold_.insert(member.group);
    touch(member.group);
    member.stop_by = run.stop_by;
    round.evictions.push_back({.pod = {uid, member.facts.name_space, member.facts.name},
                               .owner = member.facts.owner,
                               .signal_at = std::max(now, Time{run.stop_by->ms - member.facts.terms.grace.ms}),
                               .stop_by = *run.stop_by,
                               .why = why});
  }
}

// Whoever was given his place in this very round has not heard of it: nobody has to be told to leave. Who came into a gang
// that runs leaves with it.
bool LiveEngine::unbind(const Run& run, Round& round) const {
  if (std::ranges::any_of(run.uids, [&](const std::string& uid) {
        const Member& member = members_.at(uid);
        return member.confirmed || member.stands_in;
      }))
    return false;
  const auto of_run = [&](const Binding& binding) {
    return std::ranges::find(run.uids, binding.pod.uid) != run.uids.end();
  };
  if (std::ranges::none_of(round.bindings, of_run)) return false;
  std::erase_if(round.bindings, of_run);
  return true;
}

}  // namespace berth
