// What a LiveEngine says: why pods wait, which half-begun gangs are taken back, how much waits and runs.
#include <algorithm>
#include <utility>

#include "base/wording.h"
#include "cycle/deliverable.h"
#include "cycle/explain.h"
#include "fairness/share.h"
#include "manifest/labels.h"
#include "manifest/queue_spec.h"
#include "manifest/timestamp.h"
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

// Of many moments a few, so that a status stays short: of two neighbours the larger amount until the later moment, which never
// says that more was idle than was.
FloorRecord coarser(FloorRecord record) {
  constexpr std::size_t kHeldTold = 32;
  while (record.held.size() > kHeldTold) {
    std::vector<HeldUntil> fewer;
    bool took_one = true;
    for (const HeldUntil& each : record.held) {
      const bool same = !fewer.empty() && fewer.back().held.flavor == each.held.flavor &&
                        fewer.back().held.resource == each.held.resource;
      took_one = same && !took_one;
      if (took_one) {
        fewer.back().until = each.until;
      } else {
        fewer.push_back(each);
      }
    }
    if (fewer.size() == record.held.size()) break;
    record.held = std::move(fewer);
  }
  return record;
}

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
  if (code == ReasonCode::kNotBefore && !workload.backs_off())
    return {std::string(name_of(code)), "it is not to start before " + format_timestamp(workload.not_before)};
  // Of the same shape one may have come before its queue was drained, and the other later.
  if (state().is_kept_aside(group.pending)) return {std::string(name_of(code)), explain(state(), group.pending).text};
  const auto [at, is_new] = explained_.try_emplace({workload.queue, workload.shape});
  if (is_new) {
    const Explanation explanation = explain(state(), group.pending);
    at->second = {std::string(name_of(explanation.code)), explanation.text, std::nullopt};
    if (code == ReasonCode::kTopology || code == ReasonCode::kFragmented) {
      at->second.shortfall = shortfall_of(state(), state().shape(workload.shape));
    }
    const PodFacts& first = members_.at(group.submitted.front()).facts;
    if (code == ReasonCode::kGpuType && !first.slice.empty()) at->second.text += of_unused_slices(first.slice);
    if (code == ReasonCode::kSliceGeometry) at->second.text += of_failed_cuts(state().clock());
    if (code == ReasonCode::kGpuType) at->second.text += of_modes(first.request.sharing);
    const bool none_suits = code == ReasonCode::kNodeSelector || code == ReasonCode::kGpuType;
    if (first.slice_need && none_suits) at->second.text += of_named_slices();
    if ((code == ReasonCode::kGpuType || code == ReasonCode::kInvalid) && !first.need_counted.empty()) {
      at->second.text += " (" + first.need_counted + ")";
    }
    if (code == ReasonCode::kIsolation && !first.terms.latency_critical) {
      at->second.text += ", and asked by " + std::string(kSharedGpuResource) + ": 1";
    }
    if (code == ReasonCode::kTrust && !first.request.is_mps()) {
      const QueueId tenant = state().tenant_of(workload.queue);
      at->second.text += " (a TrustCircle that names its tenant, queue " +
                         quote(state().queues()[tenant.index()].name) + ", and theirs)";
    }
    if (code == ReasonCode::kBudget && !state().shape(workload.shape).terms.run_limit) {
      at->second.text += " (activeDeadlineSeconds in the spec of its pods; a Job's own counts from when it was made)";
    }
  }
  return {at->second.code, at->second.text};
}

// PRE: its reason was asked for in this round.
std::optional<Shortfall> LiveEngine::shortfall_of_group(const Group& group) const {
  if (group.pending.is_none()) return std::nullopt;
  const Workload& workload = state().workload(group.pending);
  const auto explained = explained_.find({workload.queue, workload.shape});
  return explained == explained_.end() ? std::nullopt : explained->second.shortfall;
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

// nullptr: none of it is there any more.
const PodFacts* LiveEngine::first_of(const Group& group) const {
  return group.members.empty() ? nullptr : &members_.at(by_sequence_.at(*group.members.begin())).facts;
}

void LiveEngine::tell_workload_anew(const WorkloadKey& workload) {
  for (auto& [key, group] : groups_) {
    const PodFacts* const first = first_of(group);
    if (first == nullptr || first->workload_name != workload.second || first->name_space != workload.first) continue;
    group.told_phase.reset();
    untold_.insert(key);
  }
}

void LiveEngine::leave_out_workloads_of_groups(std::set<WorkloadKey>& workloads) const {
  for (const auto& [key, group] : groups_) {
    if (const PodFacts* const first = first_of(group)) workloads.erase({first->name_space, first->workload_name});
  }
}

void LiveEngine::tell_group(const std::string& key, Round& round, Time now) {
  const auto at = groups_.find(key);
  if (at == groups_.end()) return;
  const Tally members = tally(at->second);
  const auto [code, why] =
      members.waiting.empty() ? std::pair<std::string, std::string>() : reason_of_group(at->second);
  const bool waits = !code.empty() && code != name_of(ReasonCode::kNone);
  std::string text = waits ? code + ": " + why : "";
  for (Member* const member : members.waiting) {
    if (waits) tell_pod(*member, key, text, round, now);
  }
  for (Member* const heir : members.heirs) {
    tell_pod(*heir, key, repairing_in_words(heirs_.at(heir->facts.uid)), round, now);
  }
  if (!members.starting.empty()) text = vacating_in_words(members.starting.front()->running);
  for (Member* const member : members.starting) tell_pod(*member, key, text, round, now);
  if (members.size > 1) tell_workload(key, at->second, members, text, round, now);
}

void LiveEngine::tell_pod(Member& member, const std::string& key, const std::string& text, Round& round, Time now) {
  if (member.told == text) return;
  if (member.telling) {
    member.tell_more = true;
    return;
  }
  const bool same_code = member.told.starts_with(text.substr(0, text.find(':') + 1));
  if (same_code && member.told_at.ms != 0 && now < member.told_at + kRetellAfter) {
    earlier(round.again_at, member.told_at + kRetellAfter);
    untold_.insert(key);
    return;
  }
  const bool first = member.told.empty();
  member.told = text;
  member.told_at = now;
  member.telling = true;
  round.reasons.push_back({.pod = {member.facts.uid, member.facts.name_space, member.facts.name},
                           .revision = member.facts.revision,
                           .owner = member.facts.owner,
                           .text = text,
                           .first = first});
}

// Of all that run of it. It is looked for when others run than before, for that takes as long as to place them.
const std::optional<NetworkUse>& LiveEngine::network_use_of_group(Group& group) const {
  std::pair<std::vector<WorkloadId>, std::size_t> who = {};
  for (const std::uint64_t sequence : group.members) {
    const WorkloadId id = members_.at(by_sequence_.at(sequence)).running;
    if (id.is_none()) continue;
    ++who.second;
    if (std::ranges::find(who.first, id) == who.first.end()) who.first.push_back(id);
  }
  std::ranges::sort(who.first);
  if (who == group.network_of) return group.network;
  group.network = network_use_of(state(), who.first);
  group.network_of = std::move(who);
  return group.network;
}

// Some of it runs: admitted. It was told to leave, and nothing of it runs or waits: evicted. None of it runs any more, and
// none waits: finished.
void LiveEngine::tell_workload(const std::string& key, Group& group, const Tally& tally, const std::string& waits,
                               Round& round, Time now) {
  const bool waits_for_itself = !tally.waiting.empty() || !tally.heirs.empty();
  const bool there = tally.placed + tally.leaving > 0 || waits_for_itself;
  const WorkloadPhase phase = tally.placed > 0 && tally.starting.empty()     ? WorkloadPhase::kAdmitted
                              : tally.leaving > 0 && !waits_for_itself       ? WorkloadPhase::kEvicted
                              : !there && tally.succeeded + tally.failed > 0 ? WorkloadPhase::kFinished
                                                                             : WorkloadPhase::kPending;
  const std::string& text = phase == WorkloadPhase::kEvicted ? group.evicted_why : waits;
  const bool phase_changed = group.told_phase != phase;
  const std::string& queue = tally.first->queue;
  const bool same_spec = group.told_queue == queue && group.told_size == tally.size;
  const bool same_code = group.told.substr(0, group.told.find(':')) == text.substr(0, text.find(':'));
  std::optional<Shortfall> shortfall;
  if (phase == WorkloadPhase::kPending && !tally.waiting.empty()) shortfall = shortfall_of_group(group);
  const auto network = phase == WorkloadPhase::kAdmitted ? network_use_of_group(group) : std::nullopt;
  if (!phase_changed && same_code && same_spec && network == group.told_network) {
    const bool says_why = phase == WorkloadPhase::kPending || phase == WorkloadPhase::kEvicted;
    const bool same_text = !says_why || group.told == text;
    if (same_text && shortfall == group.told_shortfall) return;
    if (const Time due = group.told_at + kRetellAfter; now < due) {
      earlier(round.again_at, due);
      untold_.insert(key);
      return;
    }
  }
  if (group.telling) {
    group.tell_more = true;
    return;
  }
  group.told_phase = phase;
  group.told_queue = queue;
  group.told_size = tally.size;
  group.told = text;
  group.told_shortfall = shortfall;
  group.told_at = now;
  group.told_network = network;
  group.telling = true;
  const PodFacts& first = *tally.first;
  round.workloads.push_back({.group = key,
                             .name_space = first.name_space,
                             .name = first.workload_name,
                             .owner = first.owner,
                             .queue = first.queue,
                             .request = first.request,
                             .slice = first.slice,
                             .vgpu = first.vgpu,
                             .slice_by_need = first.slice_need.has_value(),
                             .size = tally.size,
                             .phase = phase,
                             .phase_changed = phase_changed,
                             .text = text,
                             .shortfall = std::move(shortfall),
                             .network = network});
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

std::map<std::string, QueueStanding> LiveEngine::queue_standings() {
  std::map<std::string, QueueStanding> standings;
  for (const auto& [name, queue] : queues_) standings[name].uid = queue.uid;
  count_anew();
  for (const auto& [name, holding] : by_queue_) {
    standings[name].pending = holding.waiting;
    standings[name].running = holding.running;
  }
  for (const auto& [name, id] : queue_ids_) {
    note_amounts(id, standings[name]);
    note_past(name, standings[name]);
    standings[name].conditions = records_[name].conditions;
  }
  note_cooling_down(standings);
  note_tries(standings);
  note_lending(standings);
  note_turns(standings);
  return standings;
}

// What the next scheduler has to know, and people too: of its budget, and of what it held.
void LiveEngine::note_past(const std::string& name, QueueStanding& standing) {
  const QueueId id = queue_ids_.at(name);
  std::vector<QueueCondition>& conditions = records_[name].conditions;
  std::erase_if(conditions, [&](const QueueCondition& each) {
    return each.type == kBudgetCondition && !state().quotas().budgets().has_budget(id);
  });
  if (state().quotas().budgets().has_budget(id)) {
    const BudgetState budget = state().budget_of(id);
    const std::vector<Wide> used = state().gpu_us_used_of(id);
    standing.as_of = state().clock();
    standing.budget = {.used = format_gpu_hours(budget.used_gpu_us),
                       .reserved = format_gpu_hours(budget.reserved_gpu_us),
                       .left = format_gpu_hours(budget.left_gpu_us)};
    for (std::size_t grant = 1; grant < used.size(); ++grant) {
      standing.budget->grants.emplace_back(grants_.at(name)[grant - 1], format_gpu_hours(used[grant]));
    }
    const bool warns = budget.is_nearly_gone();
    note_condition(name, {.type = std::string(kBudgetCondition),
                          .holds = warns,
                          .reason = warns ? "FourFifthsUsed" : "EnoughLeft",
                          .message = standing.budget->used + " GPU-hours are used and " + standing.budget->reserved +
                                     " reserved, " + standing.budget->left + " are left",
                          .since = state().clock()});
  }
  if (state().looks_at_idle_floor(id)) {
    const AmountsByDim idle = state().idle_floor(id, state().clock());
    for (std::size_t index = 0; index < idle.size(); ++index) {
      const Dim dim = Dim::at(index);
      if (idle[index] > 0 && !dim.flavor().is_none())
        standing.idle[key_of(dim)] = format_amount(dim.resource(), idle[index]);
    }
    standing.floor_use = coarser(*floor_record_of(id));
    standing.as_of = state().clock();
  }
  const AmountsByDim past = state().past_use_up_to(id, state().clock());
  for (std::size_t index = 0; index < past.size(); ++index) {
    const Dim dim = Dim::at(index);
    if (past[index] == 0 || dim.flavor().is_none()) continue;
    standing.as_of = state().clock();
    standing.past_use[key_of(dim)] = format_amount(dim.resource(), past[index]);
  }
}

// What it was promised is shown also while nothing of it is used.
void LiveEngine::note_amounts(QueueId queue, QueueStanding& standing) const {
  const QuotaLedger& quotas = state().quotas();
  const QuotaTree& tree = quotas.tree();
  bool governed = false;
  for (const std::size_t index : tree.dims_in_use()) {
    const Dim dim = Dim::at(index);
    const std::int64_t used = quotas.used(queue)[index], floor = tree.floor(queue)[index];
    const bool promised = tree.guarantee(queue)[index] > 0;
    if (dim.flavor().is_none() || (used == 0 && !promised)) continue;
    const std::string key = key_of(dim);
    standing.used[key] = format_amount(dim.resource(), used);
    if (!tree.has_floors()) continue;
    governed = true;
    if (promised) standing.floor[key] = format_amount(dim.resource(), floor);
    if (promised) standing.guaranteed[key] = format_amount(dim.resource(), quotas.covered(queue)[index]);
    const bool counts = dim.is_of_slices() ? tree.is_floor_by_profile(queue, dim)
                                           : dim.resource() == Resource::kGpu || tree.has_floor(queue, dim.resource());
    const std::int64_t borrowed = quotas.used_of_floor(queue, dim) - floor;
    if (counts && borrowed > 0) standing.borrowed[key] = format_amount(dim.resource(), borrowed);
  }
  if (!governed) return;
  for (const CellsOfQueue& each : cells_of(state(), queue)) {
    standing.cells.push_back(Value::map_of({{"flavor", key_of(Dim(each.cells.flavor, Resource::kGpu))},
                                            {"level", each.cells.level},
                                            {"gpus", each.gpus},
                                            {"promised", each.promised},
                                            {"inUse", each.in_use},
                                            {"lent", each.lent},
                                            {"free", each.free},
                                            {"lacking", each.lacking}}));
  }
  standing.share = to_text(share_of(quotas, state().flavors(), queue));
  standing.share_parts = share_parts_of(queue);
}

std::string LiveEngine::eviction_in_words(const Eviction& eviction) const {
  const std::string until = "; it stops by " + format_timestamp(eviction.stop_by);
  if (eviction.rule == EvictionRule::kTrust) {
    const bool some_keep_apart = !state().ledger().trust().apart_levels().empty();
    return std::string(name_of(eviction.rule)) +
           (some_keep_apart ? ": on its GPU, or too near to it," : ": on its GPU") +
           " is work with a stronger claim of queues that its tenant trusts no more" + until;
  }
  if (eviction.rule == EvictionRule::kLoan) {
    return std::string(name_of(eviction.rule)) +
           ": it was let ahead of work that was promised room, on what was foretold of its run, and that start is due" +
           until;
  }
  if (!eviction.reservation.is_none())
    return std::string(name_of(eviction.rule)) + ": " + reservation_in_words(eviction.reservation) + until;
  const Terms& terms = state().shape(state().workload(eviction.workload).shape).terms;
  if (eviction.rule == EvictionRule::kWindow && terms.hours &&
      state().hours_end(terms, state().workload(eviction.workload).started) <= state().clock()) {
    return std::string(name_of(eviction.rule)) + ": its hours are over (" + std::string(kHoursAnnotation) + ")" + until;
  }
  if (eviction.claimant.is_none()) {
    return std::string(name_of(eviction.rule)) + ": its queue may hold less from now on" + until;
  }
  const Workload& claimant = state().workload(eviction.claimant);
  return std::string(name_of(eviction.rule)) + ": its room goes to " + claimant_name(eviction.claimant) + " of queue " +
         quote(state().queues()[claimant.queue.index()].name) + until;
}

std::string LiveEngine::vacating_in_words(WorkloadId id) const {
  const ReasonCode code = reason_of(state(), id);
  if (code == ReasonCode::kDirty || code == ReasonCode::kSliceGeometry) {
    return std::string(name_of(code)) + ": " + explain(state(), id).text + "; then it starts";
  }
  Time last{0};
  for (const WorkloadId other : state().stopping()) last = std::max(last, state().workload(other).stop_by);
  return std::string(name_of(ReasonCode::kCapacity)) + ": others are leaving its room, by " + format_timestamp(last) +
         " at the latest; then it starts";
}

// Who may take its room, where anybody was promised anything.
std::string LiveEngine::coverage_in_words(WorkloadId id) const {
  const QuotaLedger& quotas = state().quotas();
  const Workload& workload = state().workload(id);
  const bool asked_for = state().shape(workload.shape).terms.best_effort;
  if (workload.best_effort && !asked_for) return "best effort: a budget had not enough left, and nothing protects it";
  if (!quotas.tree().has_floors()) return "";
  if (asked_for) return "best effort: nothing protects it";
  const QueueId covered_at = quotas.unit(workload.unit).covered_at;
  if (covered_at == workload.queue) return "guaranteed against everyone outside its queue";
  if (!covered_at.is_none()) {
    return "guaranteed against everyone outside queue " + quote(state().queues()[covered_at.index()].name);
  }
  const Duration within = quotas.lenders_clock(workload.queue, covered_at);
  if (within == kNoClock) return "borrowed: none of those who were promised anything could take it back";
  return "borrowed: it may have to leave within " + std::to_string(within.ms / 1000) + " s, when its owners need it";
}

std::map<std::string, std::string> LiveEngine::pods_without_room() const { return without_room_; }

}  // namespace berth
