// What quotas and budgets will be when somebody starts in his shadow, beside those who will be there.
#include <algorithm>
#include <iterator>
#include <set>
#include <vector>

#include "cycle/outranks.h"
#include "cycle/shadows.h"
#include "fairness/gates.h"
#include "fairness/meeting.h"

namespace berth {

UnitId Shadows::count(const Start& start, Time begins) {
  const Workload& workload = state_.workload(start.workload);
  const Shape& shape = state_.shape(workload.shape);
  return trial_.add({.workload = start.workload,
                     .queue = workload.queue,
                     .user = workload.user,
                     .priority = shape.terms.priority,
                     .admitted = begins,
                     .may_be_covered = !shape.terms.best_effort && !start.best_effort,
                     .end = state_.end_of(start.workload, begins),
                     .covered_at = {}},
                    amounts_held(state_, shape, start));
}

// Some bound is above it, or it has to be inside a floor, or the calendar may bring that.
bool Shadows::may_be_refused(WorkloadId id, Time then) {
  const QuotaLedger& quotas = trial_.quotas();
  QueueId queue = state_.workload(id).queue;
  if (state_.shape(state_.workload(id).shape).terms.guaranteed_only || quotas.tree().keeps_floors() ||
      quotas.budgets().has_any())
    return true;
  if (!calendar().empty() && calendar().front().from <= then) return true;
  while (!queue.is_none() && !quotas.tree().is_bounded(queue)) queue = quotas.tree().parent(queue);
  return !queue.is_none();
}

bool Shadows::has_quota(const Shadow& shadow, std::size_t others, WorkloadId without) {
  const WorkloadId id = shadow.start.workload;
  if (!may_be_refused(id, shadow.at)) return true;
  const Shape& shape = state_.shape(state_.workload(id).shape);
  return has_quota(id, amounts_held(state_, shape, shadow.start), shadow.at, others, without);
}

// Whether quotas will let it start then, beside the first `others` of the shadows. Hours that have been used until then are gone.
bool Shadows::has_quota(WorkloadId id, const AmountList& amounts, Time then, std::size_t others, WorkloadId without) {
  const Workload& workload = state_.workload(id);
  const Shape& shape = state_.shape(workload.shape);
  const bool counts_hours = trial_.quotas().budgets().has_any();
  std::set<WorkloadId> ended;
  for (const End& each : ends_) {
    if (each.at <= then) ended.insert(each.workload);
  }
  std::vector<UnitId> gone;
  for (std::size_t queue = 0; queue < state_.queues().size(); ++queue) {
    for (const UnitId unit : trial_.quotas().units_in(QueueId(queue))) {
      if (ended.contains(trial_.quotas().unit(unit).workload)) gone.push_back(unit);
    }
  }
  const Trial::Mark mark = trial_.mark();
  for (const UnitId unit : gone) trial_.remove(unit);
  for (std::size_t i = 0; i < others; ++i) {
    const WorkloadId whose = all_[i].start.workload;
    if (all_[i].at > then || whose == id || whose == without) continue;
    // Whose room it takes will have it later.
    if (takes_promises_of(state_, id, whose)) continue;
    const bool is_there = end_of(all_[i]) > then;
    if (!is_there && !counts_hours) continue;
    const UnitId unit = count(all_[i].start, all_[i].at);
    if (!is_there) trial_.remove(unit);
  }
  const auto refused_by = [&](const QuotaLedger& quotas) {
    return quota_refusal(quotas, workload.queue, shape.user, shape.terms, amounts).has_value();
  };
  bool refused = false;
  if (calendar().empty() || calendar().front().from > then) {
    refused = refused_by(trial_.quotas());
  } else {
    QuotaLedger quotas = trial_.quotas();
    const auto next = std::ranges::upper_bound(calendar(), then, {}, &LaterTree::from);
    quotas.keep();
    quotas.tell_time(then);
    quotas.replace_tree(std::prev(next)->tree, trial_.quotas().capacity(), {next, calendar().end()});
    refused = refused_by(quotas);
  }
  trial_.rollback_to(mark);
  return !refused;
}

// The same with somebody who begins before: he will still be there, or at least has used hours.
bool Shadows::leaves_quota(const Shadow& shadow, const Start& start, Time begins, std::size_t others) {
  if (!may_be_refused(shadow.start.workload, shadow.at)) return true;
  const Trial::Mark mark = trial_.mark();
  const UnitId unit = count(start, begins);
  if (!start.waits && end_of(start, begins) <= shadow.at) trial_.remove(unit);
  const bool left = has_quota(shadow, others, start.workload);
  trial_.rollback_to(mark);
  return left;
}

bool Shadows::shares_budget(WorkloadId id, WorkloadId other) const {
  const QuotaLedger& quotas = state_.quotas();
  if (!quotas.budgets().has_any()) return false;
  QueueId queue = where_they_meet(quotas.tree(), state_.workload(id).queue, state_.workload(other).queue);
  while (!queue.is_none() && !quotas.budgets().has_budget(queue)) queue = quotas.tree().parent(queue);
  return !queue.is_none();
}

// What is used of a budget does not come back, whoever ends.
bool Shadows::leaves_hours(const Shadow& shadow, const Start& start, Time begins, std::size_t others) {
  return !shares_budget(start.workload, shadow.start.workload) || leaves_quota(shadow, start, begins, others);
}

}  // namespace berth
