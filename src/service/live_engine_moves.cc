// How a LiveEngine moves those who consent (docs/semantics.md, rule 20). Its pods are told to stop, as those of who is evicted; what
// controls them makes others in their place; and those find their room taken for them already. Nobody else is told of it: to
// the engine it is one workload all the time, in its old places and then in its new ones.
#include <algorithm>
#include <numeric>
#include <utility>

#include "base/assert.h"
#include "manifest/timestamp.h"
#include "model/gpu_hardware.h"
#include "service/live_engine.h"

namespace berth {
namespace {

// So long the room is kept for pods that have yet to be made.
constexpr Duration kHeirsMax = seconds(60);

// No group is called so.
std::string maker_of(const PodFacts& pod) { return "made by " + (pod.group.empty() ? pod.maker_uid : pod.group); }

}  // namespace

void LiveEngine::move(const Migration& migration, Round& round, Time now) {
  const WorkloadId id = migration.start.workload;
  Run& run = runs_.at(id);
  const std::vector<Vacancy> vacancies = std::exchange(run.vacancies, {});
  BERTH_ASSERT(!run.moving && run.uids.size() + vacancies.size() == migration.start.pods.size());
  const bool told = !unbind(run, round);
  const std::string why = move_in_words(migration) + loss_in_words(id, now);
  std::erase_if(limits_, [&](const auto& each) { return each.second == id; });  // there it begins anew
  Moving moving{
      .maker = maker_of(members_.at(run.uids.front()).facts), .asked = {}, .places = {}, .heirs = {}, .until = {}};
  run.starting = true;
  moving.asked.resize(migration.start.pods.size());
  for (const Vacancy& each : vacancies) {
    moving.asked[each.number] = each.asked;
    heirs_.erase(each.heir);
  }
  lacking_.erase(id);
  for (std::size_t at = 0; at < run.uids.size(); ++at) moving.asked[run.numbers[at]] = members_.at(run.uids[at]).facts;
  for (std::size_t at = 0; at < moving.asked.size(); ++at) {
    const PodPlacement& place = migration.start.pods[at];
    moving.places.emplace_back(state().node(place.node).name, given_at(place, moving.asked[at]));
  }
  for (std::size_t at = 0; at < run.uids.size(); ++at) {
    Member& member = members_.at(run.uids[at]);
    untold_.insert(member.group);
    touch(member.group);
    if (!told) {
      std::tie(member.node, member.given) = moving.places[run.numbers[at]];
      continue;
    }
    groups_.at(member.group).whole_by.reset();
    groups_.at(member.group).evicted_why = why;
    member.stop_by = migration.stop_by;
    round.evictions.push_back({.pod = {member.facts.uid, member.facts.name_space, member.facts.name},
                               .owner = member.facts.owner,
                               .signal_at = std::max(now, Time{migration.stop_by.ms - member.facts.terms.grace.ms}),
                               .stop_by = migration.stop_by,
                               .why = why});
  }
  if (!told) {
    // It has not been anywhere: it starts where it goes.
    session_->apply(WorkloadStopped{id});
    round.again_at = now;
    return;
  }
  run.stop_by = migration.stop_by;
  moves_[moving.maker].insert(id);
  uncounted_.insert(moving.maker);
  run.moving = std::move(moving);
}

// One of its pods has gone; with the last it has left.
void LiveEngine::leave_old_place(Member& member) {
  const WorkloadId id = std::exchange(member.running, WorkloadId());
  member.confirmed = false;
  Run& run = runs_.at(id);
  const auto at = std::ranges::find(run.uids, member.facts.uid);
  run.numbers.erase(run.numbers.begin() + (at - run.uids.begin()));
  run.uids.erase(at);
  if (!run.uids.empty()) return;
  session_->apply(WorkloadStopped{id});
  if (!run.moving) return give_up_start(id);
  run.stop_by.reset();
  uncounted_.insert(run.moving->maker);
}

// Nobody is left in its room: it is bound, as soon as its pods are there.
void LiveEngine::begin(WorkloadId id, Round& round, Time now) {
  Run& run = runs_.at(id);
  if (!run.vacancies.empty()) return fill(id, round);
  if (!run.moving) return bind(id, round);
  if (run.moving->heirs.empty()) {
    run.moving->until = now + kHeirsMax;
    return;
  }
  run.uids = std::exchange(run.moving->heirs, {});
  run.numbers.resize(run.uids.size());
  std::iota(run.numbers.begin(), run.numbers.end(), 0U);
  forget_move(id);
  bind(id, round);
}

// Whether room was kept for those who wait; of a gang, for all of them or for none.
bool LiveEngine::has_room_already(const Group& group, const Tally& tally) {
  const PodFacts& first = tally.waiting.front()->facts;
  const auto moves = moves_.find(maker_of(first));
  if (moves == moves_.end()) return false;
  for (const WorkloadId id : moves->second) {
    const Moving& moving = *runs_.at(id).moving;
    std::vector<std::string> heirs =
        moving.heirs.empty() ? heirs_among(moving, tally.waiting) : std::vector<std::string>();
    if (heirs.empty()) continue;
    move_in(id, std::move(heirs));
    return true;
  }
  // They are others than those who went.
  const std::set<WorkloadId> in_vain = first.group.empty() ? std::set<WorkloadId>() : moves->second;
  for (const WorkloadId id : in_vain) give_up_start(id);
  return !group.pending.is_none();
}

// One for each place, who asks what was asked there; empty: they are not those.
std::vector<std::string> LiveEngine::heirs_among(const Moving& moving, const std::vector<Member*>& waiting) const {
  std::vector<std::string> heirs;
  if (waiting.size() != moving.asked.size()) return heirs;
  for (const PodFacts& asked : moving.asked) {
    const auto heir = std::ranges::find_if(waiting, [&](const Member* member) {
      return asks_the_same(member->facts, asked) && std::ranges::find(heirs, member->facts.uid) == heirs.end();
    });
    if (heir == waiting.end()) return {};
    heirs.push_back((*heir)->facts.uid);
  }
  return heirs;
}

void LiveEngine::move_in(WorkloadId id, std::vector<std::string> heirs) {
  Run& run = runs_.at(id);
  for (std::size_t at = 0; at < heirs.size(); ++at) {
    Member& member = members_.at(heirs[at]);
    member.running = id;
    std::tie(member.node, member.given) = run.moving->places[at];
    member.stop_by.reset();
    member.confirmed = false;
    member.refused = false;
    member.stands_in = false;
    untold_.insert(member.group);
    uncounted_.insert(member.group);
  }
  run.moving->heirs = std::move(heirs);
  uncounted_.insert(run.moving->maker);
  for (const std::string& uid : run.uids) uncounted_.insert(members_.at(uid).group);
  if (run.moving->until) moved_in_.push_back(id);
}

// It is no longer on its way; those who were to have its room wait for another.
void LiveEngine::forget_move(WorkloadId id) {
  Run& run = runs_.at(id);
  if (!run.moving) return;
  for (const std::string& uid : run.moving->heirs) {
    Member& member = members_.at(uid);
    member.running = WorkloadId();
    touch(member.group);
  }
  for (const std::string& uid : run.uids) uncounted_.insert(members_.at(uid).group);
  const auto moves = moves_.find(run.moving->maker);
  moves->second.erase(id);
  uncounted_.insert(moves->first);
  if (moves->second.empty()) moves_.erase(moves);
  std::erase(moved_in_, id);
  run.moving.reset();
}

// Those whom nobody has made anew.
void LiveEngine::give_up_moves(Time now) {
  std::vector<WorkloadId> in_vain;
  for (const auto& [maker, moves] : moves_) {
    for (const WorkloadId id : moves) {
      const Moving& moving = *runs_.at(id).moving;
      if (moving.heirs.empty() && moving.until && *moving.until <= now) in_vain.push_back(id);
    }
  }
  for (const WorkloadId id : in_vain) give_up_start(id);
}

std::size_t LiveEngine::pods_not_there() const {
  std::size_t pods = 0;
  for (const auto& [id, run] : runs_) {
    if ((!run.moving && run.vacancies.empty()) || !is_there(state().workload(id).phase)) continue;
    for_each_pod(state(), id, [&](const Pod&) { ++pods; });
    pods -= run.uids.size();
  }
  return pods;
}

std::string LiveEngine::move_in_words(const Migration& migration) const {
  const bool for_itself = is_for_its_own_sake(migration);
  std::string to, last;
  for (const PodPlacement& place : migration.start.pods) {
    const std::string& name = state().node(place.node).name;
    if (name == last) continue;
    to += (to.empty() ? "" : ", ") + name;
    last = name;
  }
  if (for_itself) {
    return std::string(name_of(EvictionRule::kNode)) +
           ": it has lost some of its pods, others find no room beside these, and all of it goes to " + to +
           "; it stops by " + format_timestamp(migration.stop_by);
  }
  if (migration.claimant.is_none()) {
    return std::string(name_of(EvictionRule::kDefragment)) + ": it consents to being moved, and goes to " + to +
           ", so that there is room for larger pods; it stops by " + format_timestamp(migration.stop_by);
  }
  const Workload& claimant = state().workload(migration.claimant);
  return std::string(name_of(EvictionRule::kDefragment)) + ": it consents to being moved, and goes to " + to +
         ", so that " + pending_name(migration.claimant) + " of queue '" +
         state().queues()[claimant.queue.index()].name + "' finds room; it stops by " +
         format_timestamp(migration.stop_by);
}

std::map<WorkloadId, std::vector<PodName>> LiveEngine::pods_of_runs() const {
  std::map<WorkloadId, std::vector<PodName>> pods;
  for (const auto& [id, run] : runs_) {
    if (run.starting || run.stop_by || run.moving || !run.vacancies.empty()) continue;
    std::vector<PodName>& names = pods[id];
    for (const std::string& uid : run.uids) {
      const PodFacts& facts = members_.at(uid).facts;
      names.push_back({uid, facts.name_space, facts.name});
    }
  }
  return pods;
}

// Of those of whom something is otherwise by now nobody asks.
void LiveEngine::tell_asked_moves() {
  if (!asked_moves_) return;
  const AskedMoves asked = *std::exchange(asked_moves_, std::nullopt);
  DefragmentationAsked event{.moves = {}, .gpus = asked.gpus, .horizon = asked.use};
  if (!asked.slice.empty()) {
    const auto flavor = std::ranges::find(state().flavors(), asked.flavor, &Flavor::name);
    const auto slice = flavor == state().flavors().end() ? std::nullopt : find_slice(*flavor, asked.slice);
    // The GPUs are called otherwise by now, or there are none: what was shown is of nothing that is there.
    if (!slice) return;
    event.slice = slice->shape;
    event.flavor = FlavorId(static_cast<std::size_t>(flavor - state().flavors().begin()));
  }
  for (const AskedMove& each : asked.moves) {
    const std::optional<MoveAsked> move = move_of(each);
    if (!move) continue;
    event.moves.push_back(*move);
    if (state().refusal(event)) event.moves.pop_back();
  }
  if (!state().refusal(event)) session_->apply(event);
}

std::optional<MoveAsked> LiveEngine::move_of(const AskedMove& asked) const {
  if (asked.empty()) return std::nullopt;
  const auto first = members_.find(asked.front().uid);
  if (first == members_.end() || first->second.running.is_none()) return std::nullopt;
  MoveAsked move{.workload = first->second.running, .to = {}};
  const Run& run = runs_.at(move.workload);
  if (run.starting || run.stop_by || run.moving || !run.vacancies.empty() || run.uids.size() != asked.size())
    return std::nullopt;
  for (std::size_t at = 0; at < asked.size(); ++at) {
    const auto node = node_ids_.find(asked[at].node);
    if (run.uids[at] != asked[at].uid || node == node_ids_.end()) return std::nullopt;
    move.to.push_back({node->second, asked[at].gpus, asked[at].slice_start});
  }
  return move;
}

// PRE: those who go have not been told yet.
void LiveEngine::note_moves_decided(const Plan& plan, Round& round) const {
  MovesDecided& decided = round.moves_decided.emplace();
  for (const Migration& each : plan.migrations) {
    if (!each.claimant.is_none()) continue;
    ++decided.moves;
    decided.lost_gpu_s += each.lost_gpu_s;
    for (const std::string& uid : runs_.at(each.start.workload).uids) decided.uids.insert(uid);
  }
}

// What has left its old places, and has nobody yet for the new ones.
Holding LiveEngine::holding_on_its_way(const std::string& maker) const {
  Holding holding;
  holding.reserved.resize(state().quotas().tree().dims());
  holding.used.resize(holding.reserved.size());
  for (const WorkloadId id : moves_.at(maker)) {
    const Run& run = runs_.at(id);
    const UnitId unit = state().workload(id).unit;
    if (!run.uids.empty() || !run.moving->heirs.empty() || unit.is_none()) continue;
    for (const Amount& each : state().quotas().held_by(unit)) holding.reserved[each.dim.index()] += each.amount;
  }
  return holding;
}

}  // namespace berth
