#include "cycle/raising.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "cycle/explanation_text.h"
#include "fairness/gates.h"

namespace berth {
namespace {

// A bound of a queue that is in the way, and by how much it would have to be higher if nobody gave way.
struct Raise {
  QueueId queue;
  ReasonCode code = ReasonCode::kNone;
  Dim dim;
  std::int64_t bound = 0;
  std::int64_t more = 0;
};

AmountList* list_of(Quota& quota, ReasonCode code) {
  switch (code) {
    case ReasonCode::kQuotaLimit:
      return &quota.limit;
    case ReasonCode::kBorrowingLimit:
      return &quota.borrowing_limit;
    case ReasonCode::kUserLimit:
      return &quota.user_limit;
    default:
      return nullptr;
  }
}

// Whether the queue has such a bound of its own.
bool raise_in(Quota& quota, const Raise& raise) {
  if (raise.code == ReasonCode::kBudget) {
    if (!quota.budget_gpu_us || *quota.budget_gpu_us > kGpuTimeMax - raise.more) return false;
    *quota.budget_gpu_us += raise.more;
    return true;
  }
  AmountList* const list = list_of(quota, raise.code);
  if (list == nullptr) return false;
  const auto found = std::ranges::find(*list, raise.dim, &Amount::dim);
  if (found == list->end() || found->amount > kAmountMax - raise.more) return false;
  found->amount += raise.more;
  return true;
}

// In the order of their queues, each queue once; nothing where one of them cannot be raised.
std::vector<Event> events_of(const State& state, const std::vector<Raise>& raises) {
  std::map<QueueId, Queue> changed;
  for (const Raise& raise : raises) {
    const auto [at, first] = changed.emplace(raise.queue, state.queues()[raise.queue.index()]);
    if (!raise_in(at->second.quota, raise)) return {};
  }
  std::vector<Event> events;
  for (auto& [id, queue] : changed) events.push_back(QueueChanged{id, std::move(queue)});
  return events;
}

std::string name_of_bound(ReasonCode code) {
  switch (code) {
    case ReasonCode::kQuotaLimit:
      return "limit";
    case ReasonCode::kBorrowingLimit:
      return "borrowing_limit";
    case ReasonCode::kUserLimit:
      return "user_limit";
    default:
      return "budget";
  }
}

std::string text_of(const State& state, const std::vector<Raise>& raises) {
  std::string text;
  for (const Raise& raise : raises) {
    const std::string more =
        raise.code == ReasonCode::kBudget ? gpu_time_text(raise.more) : amount_in_words(state, raise.dim, raise.more);
    text += (text.empty() ? "if " : ", and ") + ("the " + name_of_bound(raise.code)) + " of queue " +
            state.queues()[raise.queue.index()].name + " were " + more + " higher";
  }
  return text;
}

// What everybody holds or asks that a bound counts, and all that queues say of it, are multiples of this: no bound between two
// multiples says anything else.
std::int64_t step_of(const State& state, const Raise& raise, const AmountList& asked) {
  std::int64_t step = 0;
  const auto add = [&](const AmountList& amounts) {
    for (const Amount& each : amounts) {
      const bool counts =
          raise.dim == kGpusOfAllFlavors ? each.dim.resource() == Resource::kGpu : each.dim == raise.dim;
      if (counts) step = std::gcd(step, each.amount);
    }
  };
  add(asked);
  state.workloads().for_each([&](WorkloadId, const Workload& other) {
    if (has_room(other.phase)) add(state.quotas().held_by(other.unit));
    if (other.phase == Phase::kPending) add(asked_by(state, other.queue, state.shape(other.shape), 0));
  });
  for (const Queue& queue : state.queues()) {
    for (const AmountList* const amounts : queue.quota.amounts()) add(*amounts);
  }
  return step;
}

// Everything that refuses it, one after the other, raised until it does not; nothing if something refuses that no bound is.
std::vector<Raise> raises_for(const State& state, WorkloadId id, std::size_t way) {
  constexpr std::size_t kRaisesMax = 8;
  const Workload& workload = state.workload(id);
  const Shape& shape = state.shape(workload.shape);
  const AmountList asked = asked_by(state, workload.queue, shape, way);
  State fork = state.fork();
  std::vector<Raise> raises;
  while (true) {
    const auto refusal = quota_refusal(fork.quotas(), workload.queue, shape.user, shape.terms, asked);
    if (!refusal) return raises;
    const bool unknown = refusal->code == ReasonCode::kBudget && refusal->end == kForever;
    if (raises.size() == kRaisesMax || unknown) return {};
    const std::int64_t used = refusal->code == ReasonCode::kBudget ? 0 : refusal->used;
    raises.push_back(
        {refusal->queue, refusal->code, refusal->dim, refusal->bound, used + refusal->asked - refusal->bound});
    const std::vector<Event> events = events_of(state, raises);
    if (events.empty() || raises.back().more <= 0) return {};
    fork = state.fork();
    for (const Event& event : events) {
      if (fork.refusal(event)) return {};
      fork.apply(event);
    }
  }
}

// The least of one of them, none at all perhaps, with which it starts while the others stay; false: nobody could tell in so many
// tries.
bool lower(const State& state, WorkloadId id, Time now, std::vector<Raise>& raises, std::size_t which,
           std::int64_t step, RaiseTries& tries) {
  const std::int64_t most = raises[which].more;
  const std::int64_t first = step - raises[which].bound % step;
  for (std::int64_t more = 0; more < most; more += more == 0 ? first : step) {
    if (!tries.take()) return false;
    raises[which].more = more;
    if (starts_after(state, id, now, events_of(state, raises))) return true;
  }
  raises[which].more = most;
  return true;
}

// Until none can be lower while the others stay.
bool lower_all(const State& state, WorkloadId id, Time now, std::vector<Raise>& raises, const AmountList& asked,
               RaiseTries& tries) {
  for (bool changed = true; changed;) {
    changed = false;
    for (std::size_t which = 0; which < raises.size(); ++which) {
      if (raises[which].code == ReasonCode::kBudget) continue;  // all of it, or it is too little
      const std::int64_t before = raises[which].more;
      if (!lower(state, id, now, raises, which, step_of(state, raises[which], asked), tries)) return false;
      changed = changed || raises[which].more < before;
    }
    changed = changed && raises.size() > 1;
  }
  std::erase_if(raises, [](const Raise& raise) { return raise.more == 0; });
  return true;
}

}  // namespace

std::optional<SmallestChange> smallest_raise(const State& state, WorkloadId id, Time now, std::size_t way,
                                             RaiseTries tries) {
  std::vector<Raise> raises = raises_for(state, id, way);
  if (raises.empty() || !starts_after(state, id, now, events_of(state, raises))) return std::nullopt;
  const AmountList asked = asked_by(state, state.workload(id).queue, state.shape(state.workload(id).shape), way);
  if (!lower_all(state, id, now, raises, asked, tries)) return std::nullopt;
  // Any news would do, for who may take by shares is not looked at without: no bound is in its way.
  if (raises.empty()) return std::nullopt;
  SmallestChange change{
      .kind = ChangeKind::kBounds, .events = events_of(state, raises), .text = text_of(state, raises)};
  for (const Raise& raise : raises) change.size += raise.more;
  return change;
}

}  // namespace berth
