// Gangs that lose pods (docs/semantics.md, rule 23). What becomes of a lost pod its controller decides, and not the scheduler. So
// for a minute its place stays its gang's, as if it were there still, until another pod is there that may stand in for it. Only
// then the engine is told of the loss, and looks for a place for that one: a pod that nobody makes anew takes nothing from anybody.
// Where the other is made later, or the engine is made anew meanwhile, or by another scheduler, it is found as a gang that lacks
// those who wait.
#include <algorithm>
#include <utility>

#include "base/wording.h"
#include "cycle/explain.h"
#include "manifest/timestamp.h"
#include "service/live_engine.h"

namespace berth {
namespace {

// So long its place is kept for a pod that has yet to be made, as that of one that is moved.
constexpr Duration kPlaceMax = seconds(60);
// So long it is known that a gang goes first of which there is no pod.
constexpr Duration kGoesFirstMax = seconds(3600);

const Pod* find_pod(const State& state, WorkloadId id, std::uint32_t number) {
  for (PodId at = state.workload(id).first_pod; !at.is_none(); at = state.pod(at).next) {
    if (state.pod(at).number == number) return &state.pod(at);
  }
  return nullptr;
}

}  // namespace

// PRE: it is of a run of several.
bool LiveEngine::is_made_anew(const Member& lost) const {
  const Workload& workload = state().workload(lost.running);
  const PodFacts& pod = lost.facts;
  // What is on loan is not held while others are looked for.
  return workload.phase == Phase::kRunning && !workload.lent_until && !run_of(lost)->stop_by && !pod.leaving_until &&
         pod.group_size > 1 && !pod.maker_uid.empty() && pod.repair > Duration{0};
}

void LiveEngine::settle_losses(Time now) {
  const std::map<WorkloadId, std::string> lacking = lacking_;
  for (const auto& [id, key] : lacking) {
    const auto is_over = [&](const Vacancy& each) { return each.kept_until && *each.kept_until <= now; };
    const bool some_are_over = std::ranges::any_of(runs_.at(id).vacancies, is_over);
    if (!anew_ && (some_are_over || unsettled_.contains(key))) settle_losses_of(id, key, now);
  }
}

void LiveEngine::settle_losses_of(WorkloadId id, const std::string& key, Time now) {
  Run& run = runs_.at(id);
  if (!heirs_are_well(run, key)) return begin_anew();
  const auto group = groups_.find(key);
  if (group == groups_.end()) return forget_vacancies(id);
  Tally members = tally(group->second);
  // Of a Job that is deleted nobody is made anew.
  const bool all_leave =
      std::ranges::all_of(run.uids, [&](const std::string& uid) { return members_.at(uid).facts.deleted; });
  const std::int64_t too_many =
      all_leave ? std::ssize(run.vacancies) : vacancies_of(key) - std::max<std::int64_t>(0, members.lacks());
  if (!let_go_of_some(id, too_many)) return begin_anew();
  if (run.vacancies.empty()) return;
  std::optional<Time>& whole_by = group->second.whole_by;
  // What it lost before, and nobody was made in whose place, is over.
  const bool is_new = std::ranges::all_of(run.vacancies, &std::string::empty, &Vacancy::heir);
  if (!whole_by || (is_new && *whole_by <= now)) whole_by = now + run.vacancies.front().asked.repair;
  const std::vector<std::uint32_t> lost = name_heirs(id, members.waiting);
  keep_places(id, *whole_by, now);
  const bool some_are_nobodys = std::ranges::any_of(run.vacancies, &std::string::empty, &Vacancy::heir);
  // What is made in its place asks something else than it did.
  if (some_are_nobodys && !members.waiting.empty()) return begin_anew();
  tell_losses(id, lost, *whole_by, now);
}

bool LiveEngine::heirs_are_well(const Run& run, const std::string& key) const {
  return std::ranges::all_of(run.vacancies, [&](const Vacancy& vacancy) {
    if (vacancy.heir.empty()) return true;
    const auto heir = members_.find(vacancy.heir);
    return heir != members_.end() && heir->second.group == key && heir->second.running.is_none() &&
           heir->second.facts.stage == PodStage::kWaiting && may_stand_in(heir->second.facts, vacancy.asked);
  });
}

std::int64_t LiveEngine::vacancies_of(const std::string& key) const {
  std::int64_t sum = 0;
  for (const auto& [id, group] : lacking_) sum += group == key ? std::ssize(runs_.at(id).vacancies) : 0;
  return sum;
}

bool LiveEngine::lacks_some(const std::string& key) const {
  return std::ranges::any_of(lacking_, [&](const auto& each) { return each.second == key; });
}

// It has ended there, and nobody is to be in its place.
void LiveEngine::let_go(WorkloadId id, const Vacancy& vacancy) {
  std::uint32_t before = 0;
  bool is_there = false;
  for_each_pod(state(), id, [&](const Pod& pod) {
    before += pod.number < vacancy.number ? 1 : 0;
    is_there = is_there || (pod.number == vacancy.number && !pod.comes);
  });
  if (is_there) session_->apply(PodEnded{id, before});
}

// Those that nobody is to have; false: they are not so many.
bool LiveEngine::let_go_of_some(WorkloadId id, std::int64_t count) {
  std::vector<Vacancy>& vacancies = runs_.at(id).vacancies;
  for (auto at = vacancies.end(); at != vacancies.begin() && count > 0;) {
    --at;
    if (!at->heir.empty()) continue;
    let_go(id, *at);
    at = vacancies.erase(at);
    uncounted_.insert(lacking_.at(id));
    room_came_free_ = look_who_left_ = true;
    --count;
  }
  if (vacancies.empty()) forget_vacancies(id);
  return count <= 0 || vacancies.empty();
}

// Who asks the same as one that is lost, and which was lost of these; of those who wait the others are left.
std::vector<std::uint32_t> LiveEngine::name_heirs(WorkloadId id, std::vector<Member*>& waiting) {
  std::vector<std::uint32_t> lost;
  for (Vacancy& vacancy : runs_.at(id).vacancies) {
    if (!vacancy.heir.empty()) continue;
    auto heir =
        std::ranges::find_if(waiting, [&](const Member* each) { return asks_the_same(each->facts, vacancy.asked); });
    if (heir == waiting.end()) {
      heir =
          std::ranges::find_if(waiting, [&](const Member* each) { return may_stand_in(each->facts, vacancy.asked); });
    }
    if (heir == waiting.end()) continue;
    vacancy.heir = (*heir)->facts.uid;
    heirs_[vacancy.heir] = id;
    untold_.insert((*heir)->group);
    lost.push_back(vacancy.number);
    waiting.erase(heir);
  }
  return lost;
}

// Those of whom nobody has been made yet. Who is made later comes before all others until the gang is given up, and has to find
// another place.
void LiveEngine::keep_places(WorkloadId id, Time whole_by, Time now) {
  std::vector<Vacancy> kept;
  Run& run = runs_.at(id);
  for (Vacancy& each : std::exchange(run.vacancies, {})) {
    if (!each.heir.empty()) {
      each.kept_until.reset();
    } else if (!each.kept_until) {
      each.kept_until = std::min(whole_by, now + kPlaceMax);
    } else if (*each.kept_until <= now) {
      let_go(id, each);
      uncounted_.insert(lacking_.at(id));
      room_came_free_ = look_who_left_ = true;
      continue;
    }
    kept.push_back(std::move(each));
  }
  run.vacancies = std::move(kept);
  if (run.vacancies.empty()) lacking_.erase(id);
}

// To the engine they are lost from now on, and their gang is given up at that moment.
void LiveEngine::tell_losses(WorkloadId id, const std::vector<std::uint32_t>& numbers, Time by, Time now) {
  if (numbers.empty()) return;
  if (now > state().clock()) session_->apply(TimePassed{now});
  session_->apply(RepairChosen{std::max(by - now, Duration{1})});
  for (const std::uint32_t number : numbers) session_->apply(PodFailed{id, number});
  session_->apply(RepairChosen{Duration{0}});
  room_came_free_ = look_who_left_ = true;
}

// Those for whom there is room in which nobody is left.
void LiveEngine::fill(WorkloadId id, Round& round) {
  Run& run = runs_.at(id);
  std::vector<std::string> come;
  for (const Vacancy& vacancy : run.vacancies) {
    const Pod* const pod = vacancy.heir.empty() ? nullptr : find_pod(state(), id, vacancy.number);
    if (pod == nullptr || pod->comes) continue;
    Member& heir = members_.at(vacancy.heir);
    heir.running = id;
    heir.node = state().node(pod->node).name;
    heir.given = given_at({pod->node, pod->gpus, pod->slice_start}, heir.facts);
    heir.stop_by.reset();
    heir.confirmed = heir.refused = false;
    heir.stands_in = true;
    heir.only_borrows = state().workload(id).only_borrows;
    const auto at = std::ranges::lower_bound(run.numbers, vacancy.number) - run.numbers.begin();
    run.numbers.insert(run.numbers.begin() + at, vacancy.number);
    run.uids.insert(run.uids.begin() + at, vacancy.heir);
    heirs_.erase(vacancy.heir);
    come.push_back(vacancy.heir);
  }
  rank_who_comes(run, come);
  const std::string coverage = coverage_in_words(id);
  const std::optional<Rendezvous> rendezvous = rendezvous_of(run);
  for (const std::string& uid : come) bind_member(members_.at(uid), id, coverage, rendezvous, round);
  tell_rendezvous(run, come, round);
  std::erase_if(run.vacancies,
                [&](const Vacancy& each) { return std::ranges::binary_search(run.numbers, each.number); });
  if (run.vacancies.empty()) forget_vacancies(id);
  ask_whether_ready(id);
}

// Nobody is to be in the place of any that it has lost.
void LiveEngine::forget_vacancies(WorkloadId id) {
  const auto lacking = lacking_.extract(id);
  if (lacking.empty()) return;
  for (const Vacancy& vacancy : std::exchange(runs_.at(id).vacancies, {})) {
    heirs_.erase(vacancy.heir);
    let_go(id, vacancy);
    room_came_free_ = look_who_left_ = true;
  }
  touch(lacking.mapped());
  const auto group = groups_.find(lacking.mapped());
  if (group != groups_.end() && !lacks_some(lacking.mapped())) group->second.whole_by.reset();
}

// Where one has been made in time in the place of one that is lost, and has no room, all of it stops; what has room, and waits for
// others to leave it, is no longer given up.
void LiveEngine::give_up_repairs(Round& round, Time now) {
  const std::map<WorkloadId, std::string> lacking = lacking_;
  for (const auto& [id, key] : lacking) {
    const auto group = groups_.find(key);
    if (group == groups_.end() || !group->second.whole_by || *group->second.whole_by > now) continue;
    const Repairing* const repairing = state().find_repairing(id);
    if (repairing != nullptr && !repairing->lost.empty()) give_up_repair(id, round, now);
  }
}

void LiveEngine::give_up_repair(WorkloadId id, Round& round, Time now) {
  Run& run = runs_.at(id);
  const std::string& key = lacking_.at(id);
  const Duration grace = state().shape(state().workload(id).shape).terms.grace;
  run.stop_by = now + grace;
  const std::string why =
      std::string(name_of(EvictionRule::kNode)) + ": it has lost " + with_separators(std::ssize(run.vacancies)) +
      " of its pods, and until " + format_timestamp(*groups_.at(key).whole_by) +
      " there was no room for others beside these; all of it stops by " + format_timestamp(*run.stop_by) +
      ", and goes first when it has been made anew" + loss_in_words(id, now);
  goes_first_[key] = now;
  session_->apply(LeavingFound{id, *run.stop_by});
  forget_vacancies(id);
  tell_to_stop(run, why, round, now);
  round.again_at = now;
}

// ---- found so ------------------------------------------------------------------------------------------------------------

bool LiveEngine::may_join(const Member& waiting, const PodFacts& gang) {
  const PodFacts& pod = waiting.facts;
  return pod.problem.empty() && pod.shut.code.empty() && pod.queue == gang.queue;
}

// Of a gang some of whose pods are found to run: who waits to be in the place of others.
std::vector<LiveEngine::Member*> LiveEngine::who_stand_in(const std::string& key, const std::vector<Member*>& found) {
  const PodFacts& first = found.front()->facts;
  Tally members = tally(groups_.at(key));
  const auto is_found = [&](const Member* each) { return std::ranges::find(found, each) != found.end(); };
  members.placed += std::ssize(found) - std::ranges::count_if(found, [](const Member* each) {
                      return each->facts.stage == PodStage::kBound;
                    });
  std::erase_if(members.waiting, is_found);
  const bool all_leave = std::ranges::all_of(found, [](const Member* each) { return each->facts.deleted; });
  const bool is_kept = first.group_size > 1 && !first.maker_uid.empty() && first.repair > Duration{0} && !all_leave;
  if (!is_kept || members.leaving > 0 || is_partial(members)) return {};
  std::erase_if(members.waiting, [&](const Member* each) { return !may_join(*each, first); });
  const auto lost = static_cast<std::size_t>(std::max<std::int64_t>(0, members.lacks()));
  if (members.waiting.size() > lost) members.waiting.resize(lost);
  return std::move(members.waiting);
}

// The node as which the one counts that it is to stand in for; empty: nobody knows.
std::string LiveEngine::node_it_counts_at(const Member& heir, const std::vector<Member*>& found) const {
  const auto asks_as_it = [&](const Member* each) { return may_stand_in(heir.facts, each->facts); };
  const auto has_gpus = [&](const Member* each) {
    return heir.facts.request.gpus == 0 || (each->facts.request.gpus > 0 && nodes_.contains(where(*each)));
  };
  auto like_it = std::ranges::find_if(found, asks_as_it);
  if (like_it == found.end()) like_it = std::ranges::find_if(found, has_gpus);
  return like_it == found.end() ? std::string() : where(**like_it);
}

// It has lost some whose places are kept no more, and others wait for theirs since: the engine can be told so if it is made anew.
bool LiveEngine::is_repaired_anew(const std::string& key, const Group& group, const Tally& tally, Time now) const {
  if (!group.whole_by || *group.whole_by <= now || tally.first == nullptr || tally.placed == 0 || tally.leaving > 0 ||
      is_partial(tally))
    return false;
  const bool waits_for_some = std::ranges::any_of(lacking_, [&](const auto& each) {
    const std::vector<Vacancy>& vacancies = runs_.at(each.first).vacancies;
    return each.second == key && std::ranges::any_of(vacancies, &std::string::empty, &Vacancy::heir);
  });
  return !waits_for_some && tally.lacks() > std::ssize(tally.heirs) &&
         std::ranges::any_of(tally.waiting, [&](const Member* each) { return may_join(*each, *tally.first); });
}

// What a new life cannot be told now it is not told later, either.
void LiveEngine::forget_other_losses() {
  for (auto& [key, group] : groups_) {
    if (group.whole_by && !lacks_some(key) && !tally(group).waiting.empty()) group.whole_by.reset();
  }
}

void LiveEngine::forget_who_went_first(Time now) {
  std::erase_if(goes_first_,
                [&](const auto& each) { return !groups_.contains(each.first) && each.second + kGoesFirstMax <= now; });
}

// PRE: some of it wait for a place.
std::string LiveEngine::repairing_in_words(WorkloadId id) const {
  const Repairing* const repairing = state().find_repairing(id);
  if (repairing == nullptr || repairing->lost.empty()) return vacating_in_words(id);
  return std::string(name_of(ReasonCode::kRepairing)) + ": " + explain(state(), id).text;
}

}  // namespace berth
