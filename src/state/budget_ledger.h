// GPU time that queues were given: what of it is gone, and what is reserved for those who run (docs/semantics.md, budgets).
// It is counted in GPU-microseconds, which is thousandths of a GPU times milliseconds: exact, whatever runs for how long.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "base/time.h"
#include "base/wide.h"
#include "model/ids.h"
#include "model/queue.h"
#include "state/quota_tree.h"

namespace berth {

// What a unit uses at most: so many GPUs, from a moment to its enforced end.
struct GpuTimeAsked {
  std::int64_t gpu_milli = 0;
  Time from;
  Time end;

  Wide gpu_us() const { return Wide{gpu_milli} * (end - from).ms; }
};

struct BudgetState {
  Wide used_gpu_us = 0;
  Wide reserved_gpu_us = 0;
  Wide left_gpu_us = 0;

  // Four fifths of what there is are used or reserved.
  bool is_nearly_gone() const { return 4 * left_gpu_us <= used_gpu_us + reserved_gpu_us; }
};

class BudgetLedger {
 public:
  // As the queues say now; what is gone stays gone.
  void set_budgets(const std::vector<Queue>& queues);
  // Goes before the budget, the one that ends first before the others, and is void from `until` on. PRE: a budget.
  void grant(QueueId queue, std::int64_t gpu_us, Time until);

  // Of the budget (0) or a grant (in the order in which they came), before anything here was counted. PRE: there is that pot.
  void note_used(QueueId queue, std::size_t pot, std::int64_t gpu_us);
  // That is all that was used of it until then: of what is reserved from now on, the time before is paid.
  void note_counted(QueueId queue, Time until);
  // Somebody ran in the name of the queue, and is gone.
  void note_run(const QuotaTree& tree, QueueId queue, const GpuTimeAsked& ran);

  bool has_any() const { return bounded_ > 0; }
  bool has_budget(QueueId queue) const { return at(queue).bounded; }
  // The budget, and its grants.
  std::size_t pots(QueueId queue) const { return at(queue).pots.size(); }

  // The lowest queue from this one upwards that has less left for it than it asks.
  struct Refusal {
    QueueId queue;
    Wide left_gpu_us = 0;
  };
  std::optional<Refusal> refusal(const QuotaTree& tree, QueueId queue, const GpuTimeAsked& asked) const;

  // Without an end nothing is reserved, and what it has used is known when it has stopped.
  void reserve(const QuotaTree& tree, WorkloadId workload, QueueId queue, const GpuTimeAsked& asked);
  // As if it had never been reserved.
  void cancel(WorkloadId workload);
  // It has stopped: what it used is gone, the rest of what was reserved is free again.
  void settle(WorkloadId workload, Wide used_gpu_us);
  bool is_charged(WorkloadId workload) const { return charges_.contains(workload); }

  BudgetState state_of(QueueId queue, Time now) const;

  // Whether what is reserved may be more than there is: the budget was made smaller, or somebody is charged without an end.
  bool may_run_out(QueueId queue) const {
    const Account& account = at(queue);
    return account.bounded && (account.endless > 0 || account.pots.front().left_gpu_us() < 0);
  }
  // Once the budget is used, who of those charged uses what is not there, in the order of their numbers: not who still has of
  // a grant. `used(workload)` is what one has used so far.
  template <class Used>
  std::vector<WorkloadId> unpaid(QueueId queue, Used used) const {
    std::vector<WorkloadId> beyond_grants;
    Wide used_of_budget = at(queue).pots.front().used_gpu_us;
    for_each_charge(queue, [&](WorkloadId workload, const Charge& charge) {
      const Wide of_budget = used(workload) - charge.counted_gpu_us - charge.from_grants();
      if (of_budget < 0) return;
      used_of_budget += of_budget;
      beyond_grants.push_back(workload);
    });
    if (used_of_budget < at(queue).pots.front().given_gpu_us) beyond_grants.clear();
    return beyond_grants;
  }
  // What is gone of the budget and of each grant, with what those have used who run: used_by(workload).
  template <class UsedBy>
  std::vector<Wide> used_of_each_pot(QueueId queue, UsedBy used_by) const {
    std::vector<Wide> used;
    for (const Pot& pot : at(queue).pots) used.push_back(pot.used_gpu_us);
    for_each_charge(queue, [&](WorkloadId workload, const Charge& charge) {
      Wide left = used_by(workload) - charge.counted_gpu_us;
      for (const Part& part : charge.parts) {
        const Wide of_part = part.gpu_us < left ? part.gpu_us : left;
        used[part.pot] += of_part;
        left -= of_part;
      }
      used.front() += left;
    });
    return used;
  }
  // Calls visit(workload) for whoever is charged to the queue, in the order of their numbers.
  template <class Visit>
  void for_each_charged(QueueId queue, Visit visit) const {
    for_each_charge(queue, [&](WorkloadId workload, const Charge&) { visit(workload); });
  }

  // What is reserved adds up, and is of nobody but those for whom `is_there` holds.
  template <class IsThere>
  bool is_sound(IsThere is_there) const {
    BudgetLedger empty = *this;
    for (const auto& [workload, charges] : charges_) {
      if (!is_there(workload)) return false;
      empty.cancel(workload);
    }
    return empty.reserves_nothing();
  }
  friend bool operator==(const BudgetLedger&, const BudgetLedger&) = default;

 private:
  // The budget itself, or a grant.
  struct Pot {
    Time until;
    Wide given_gpu_us = 0;
    Wide used_gpu_us = 0;
    Wide reserved_gpu_us = 0;

    Wide left_gpu_us() const { return given_gpu_us - used_gpu_us - reserved_gpu_us; }
    friend bool operator==(const Pot&, const Pot&) = default;
  };
  struct Account {
    bool bounded = false;
    Time counted_until;              // until here all that was used is in the pots
    std::vector<Pot> pots;           // the budget first, then the grants as they came
    std::vector<std::size_t> order;  // in which the pots are used
    std::int64_t endless = 0;        // who is charged without an end

    friend bool operator==(const Account&, const Account&) = default;
  };
  struct Part {
    std::size_t pot = 0;
    Wide gpu_us = 0;

    friend bool operator==(const Part&, const Part&) = default;
  };
  struct Charge {
    QueueId queue;
    std::vector<Part> parts;  // in the order in which they are used
    bool endless = false;
    Wide counted_gpu_us = 0;  // of what it has used since its start: in the pots already

    Wide from_grants() const {
      Wide sum = 0;
      for (const Part& part : parts) sum += part.pot == 0 ? Wide{0} : part.gpu_us;
      return sum;
    }

    friend bool operator==(const Charge&, const Charge&) = default;
  };

  const Account& at(QueueId queue) const { return accounts_[queue.index()]; }
  template <class Visit>
  void for_each_charge(QueueId queue, Visit visit) const {
    for (const auto& [workload, charges] : charges_) {
      for (const Charge& charge : charges) {
        if (charge.queue == queue) visit(workload, charge);
      }
    }
  }
  static GpuTimeAsked not_counted(const Account& account, GpuTimeAsked asked);
  static std::vector<Part> parts_of(const Account& account, const GpuTimeAsked& asked);
  bool reserves_nothing() const;

  std::vector<Account> accounts_;  // by queue
  std::map<WorkloadId, std::vector<Charge>> charges_;
  std::size_t bounded_ = 0;
};

}  // namespace berth
