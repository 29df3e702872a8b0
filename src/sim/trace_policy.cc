#include "sim/trace_policy.h"

#include <algorithm>
#include <cstddef>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "base/wording.h"
#include "model/gpu.h"

namespace berth {
namespace {

constexpr AmountKind kAmountKinds[] = {AmountKind::kGuarantee, AmountKind::kLimit, AmountKind::kBorrowingLimit,
                                       AmountKind::kLendingLimit};

class OnTrace {
 public:
  OnTrace(const Policy& policy, const Trace& trace, const std::string& source, Unmatched& unmatched)
      : policy_(policy), trace_(trace), source_(source), unmatched_(unmatched), flavors_(flavors_of_trace(trace)) {}

  Result<TraceQueues> make() {
    match_flavors();
    for (const PolicyQueue& each : policy_.queues) add(each);
    match_queues();
    if (!complaints_.empty()) return complaints_;
    return std::move(made_);
  }

 private:
  // A flavor without a model is of any GPU, so there may be only one.
  void match_flavors() {
    made_.flavor_weights.assign(flavors_.size(), 1);
    std::vector<std::optional<std::string>> taken(flavors_.size());
    for (const PolicyFlavor& flavor : policy_.flavors) {
      std::optional<FlavorId> match;
      for (std::size_t i = 0; i < flavors_.size(); ++i) {
        const bool any = flavor.flavor.model == "gpu" || flavors_[i].model == "gpu";
        if (flavors_[i].model == flavor.flavor.model || (any && flavors_.size() == 1)) match = FlavorId(i);
      }
      matches_.push_back(match);
      if (!match && flavor.flavor.model == "gpu" && flavors_.size() > 1) {
        complaints_.add({source_},
                        "which GPUs the flavor " + flavor.flavor.name +
                            " means is not said, and the trace's nodes have several kinds; declare it with a "
                            "model");
        continue;
      }
      if (!match) {
        unmatched_.push_back("no node of the trace has GPUs of the flavor " + flavor.flavor.name +
                             ": its amounts make no difference");
        continue;
      }
      if (auto& other = taken[match->index()]; other) {
        complaints_.add({source_}, "the flavors " + *other + " and " + flavor.flavor.name +
                                       " cannot be told apart on the trace's nodes; give nodes whose models tell them "
                                       "apart with --nodes");
      } else {
        other = flavor.flavor.name;
      }
      made_.flavor_weights[match->index()] = flavor.flavor.weight;
    }
  }

  void add(const PolicyQueue& queue) {
    Queue made = queue.queue;
    const Quota& given = queue.queue.quota;
    for (const AmountKind kind : kAmountKinds) {
      AmountList& amounts = amounts_of(made.quota, kind);
      amounts.clear();
      for (const Amount& each : amounts_of(given, kind)) {
        if (const auto dim = dim_of(each.dim)) amounts.push_back({*dim, each.amount});
      }
      std::ranges::sort(amounts, {}, &Amount::dim);
    }
    if (queue.origin == Origin::kKueue && !queue.cohort) close_flavors(made.quota);
    const auto refuse = [&](bool has, const std::string& what) {
      if (has) complaints_.add({source_}, "queue " + made.name + " has " + what + "; leave it out for the comparison");
    };
    refuse(given.budget_gpu_us.has_value(), "a budget, and jobs of a trace have no run limit, so nobody could start");
    const auto names_slices = [](const AmountList* amounts) { return has_slices(*amounts); };
    refuse(std::ranges::any_of(given.amounts(), names_slices), "amounts of slices, and a trace has none");
    refuse(!queue.windows.empty(), "windows, and a trace begins at no hour of any day");
    refuse(!given.user_limit.empty(), "a limit of one user, and users of a trace are not looked at");
    refuse(given.users == UserOrder::kFair, "users who take turns, and users of a trace are not looked at");
    made_.queues.push_back(std::move(made));
  }

  // In a pool of GPUs in which nothing else counts there are no CPUs and no memory.
  std::optional<Dim> dim_of(Dim dim) {
    const bool bare = dim.flavor().is_none();
    const auto flavor = bare ? std::optional(FlavorId()) : matches_[dim.flavor().index()];
    if (!flavor || dim.is_of_slices()) return std::nullopt;
    if (dim.resource() != Resource::kGpu && only_gpus()) return std::nullopt;
    return Dim(*flavor, dim.resource());
  }
  bool only_gpus() const {
    return std::ranges::all_of(trace_.nodes, [](const TraceNode& node) { return node.cpu_milli == 0; });
  }

  // Work of a ClusterQueue has only the flavors that it lists.
  void close_flavors(Quota& quota) const {
    for (std::size_t i = 0; i < flavors_.size(); ++i) {
      const Dim dim(FlavorId(i), Resource::kGpu);
      const auto is_it = [&](const Amount& each) { return each.dim == dim; };
      if (std::ranges::any_of(quota.guarantee, is_it) || std::ranges::any_of(quota.limit, is_it)) continue;
      quota.limit.push_back({dim, 0});
    }
    std::ranges::sort(quota.limit, {}, &Amount::dim);
  }

  void match_queues() {
    std::set<std::string> names;
    for (const TraceJob& job : trace_.jobs) names.insert(queue_name(job));
    std::map<std::string, QueueId> known;
    for (const QueueDoor& door : policy_.doors) {
      for (std::size_t i = 0; i < policy_.queues.size(); ++i) {
        const PolicyQueue& queue = policy_.queues[i];
        if (queue.origin != Origin::kKueue || queue.cohort || queue.queue.name != door.queue) continue;
        known.emplace(door.name, QueueId(i));
        known.emplace(door.name_space + "/" + door.name, QueueId(i));
      }
    }
    for (std::size_t i = 0; i < policy_.queues.size(); ++i) {
      if (!policy_.queues[i].cohort) known[policy_.queues[i].queue.name] = QueueId(i);
    }
    for (const std::string& name : names) {
      const auto queue = known.find(name);
      if (queue == known.end()) {
        complaints_.add({source_},
                        "jobs of the trace are in queue " + quote(name) + ", which is no queue of it; add it");
      } else {
        made_.queue_of[name] = queue->second;
      }
    }
  }

  const Policy& policy_;
  const Trace& trace_;
  const std::string& source_;
  Unmatched& unmatched_;
  std::vector<Flavor> flavors_;
  std::vector<std::optional<FlavorId>> matches_;  // by the policy's flavors
  Complaints complaints_;
  TraceQueues made_;
};

}  // namespace

Result<TraceQueues> queues_on_trace(const Policy& policy, const Trace& trace, const std::string& source,
                                    Unmatched& unmatched) {
  return OnTrace(policy, trace, source, unmatched).make();
}

}  // namespace berth
