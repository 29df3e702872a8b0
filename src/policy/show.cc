#include "policy/show.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <set>
#include <string_view>

#include "manifest/queue_spec.h"
#include "manifest/timestamp.h"
#include "model/quantity.h"
#include "policy/own_objects.h"
#include "state/quota_tree.h"

namespace berth {
namespace {

std::optional<std::int64_t> amount_given(const AmountList& amounts, Dim dim) {
  const auto found = std::ranges::lower_bound(amounts, dim, {}, &Amount::dim);
  return found != amounts.end() && found->dim == dim ? std::optional(found->amount) : std::nullopt;
}

constexpr AmountKind kKinds[] = {AmountKind::kGuarantee, AmountKind::kLimit, AmountKind::kBorrowingLimit,
                                 AmountKind::kLendingLimit};

std::string length(Duration duration) {
  constexpr std::pair<std::int64_t, const char*> kUnits[] = {{3'600'000, "h"}, {60'000, "m"}, {1'000, "s"}};
  for (const auto& [ms, unit] : kUnits) {
    if (duration.ms != 0 && duration.ms % ms == 0) return std::to_string(duration.ms / ms) + unit;
  }
  return duration.ms == 0 ? "0s" : std::to_string(duration.ms) + "ms";
}

std::string grant_text(const GrantSpec& grant) {
  return format_gpu_hours(grant.gpu_us) + "h,until=" + format_timestamp(grant.until);
}

class Shown {
 public:
  explicit Shown(const Policy& policy)
      : policy_(policy),
        named_(policy.named_profiles()),
        tree_(policy.plain_queues(), AmountsByDim(named_.dims(), kNoBound), named_) {}

  PolicyTable table() {
    PolicyTable table;
    table.header = {"QUEUE",     "FLAVOR",  "RESOURCE", "GUARANTEE", "POOL",
                    "BORROWING", "LENDING", "LIMIT",    "WEIGHT",    "POLICIES"};
    for (const QueueId top : tree_.children(QueueId())) add_rows(top, 0, table);
    return table;
  }

  Value queue_value(QueueId queue) const {
    const PolicyQueue& it = policy_.queues[queue.index()];
    const Quota& quota = it.queue.quota;
    Value made = Value::map_of({{"name", it.queue.name}});
    made.set("kind", it.cohort ? "Cohort" : it.origin == Origin::kKueue ? "ClusterQueue" : "Queue");
    made.set("parent", it.queue.parent.is_none() ? Value() : Value(policy_.name_of(it.queue.parent)));
    made.set("place", it.place.to_string());
    if (it.queue.order) made.set("order", berth::name_of(*it.queue.order));
    constexpr const char* kFields[] = {"guarantee", "limit", "borrowingLimit", "lendingLimit"};
    for (std::size_t i = 0; i < std::size(kKinds); ++i) {
      Value amounts = Value::map();
      for (const Amount& each : amounts_of(quota, kKinds[i])) {
        amounts.set(key_of(each.dim), format_amount(each.dim.resource(), each.amount));
      }
      made.set(kFields[i], std::move(amounts));
    }
    Value pool = Value::map();
    for (const std::size_t dim : dims_of(queue)) {
      if (const auto rest = pool_of(queue, Dim::at(dim)))
        pool.set(key_of(Dim::at(dim)), format_amount(Dim::at(dim).resource(), *rest));
    }
    made.set("pool", std::move(pool));
    made.set("weight", format_milli(quota.weight_milli));
    made.set("reclaim", kFairReclaimNames[static_cast<std::size_t>(quota.fair_reclaim)]);
    made.set("preempt", kPreemptNames[static_cast<std::size_t>(quota.preempt)]);
    made.set("reclaimWithin", length(quota.reclaim_within));
    made.set("patience", length(quota.patience));
    made.set("minRuntime", length(quota.min_runtime));
    Value user_limit = Value::map();
    for (const Amount& each : quota.user_limit) {
      user_limit.set(key_of(each.dim), format_amount(each.dim.resource(), each.amount));
    }
    made.set("userLimit", std::move(user_limit));
    made.set("users", kUserOrderNames[static_cast<std::size_t>(quota.users)]);
    if (it.queue.order == Order::kFifo) {
      made.set("backfill", kBackfillNames[static_cast<std::size_t>(quota.backfill)]);
    }
    made.set("loans", loans_text(quota.loans_percent));
    made.set("foresight", quota.foresight);
    made.set("overRun", kOverRunNames[static_cast<std::size_t>(quota.over_run)]);
    if (quota.over_run == OverRun::kExtend) {
      made.set("extend", length(quota.extend));
      made.set("extensions", std::int64_t{quota.extensions});
    }
    made.set("cooldown", length(quota.cooldown));
    made.set("idleAfter", length(quota.idle_after));
    made.set("halfLife", length(quota.half_life));
    Value dedicated = Value::list();
    for (const Label& each : quota.dedicated) dedicated.push_back(each.key + ":" + each.value);
    made.set("dedicated", std::move(dedicated));
    Value cells = Value::list();
    for (const FloorCells& each : quota.cells) cells.push_back(cells_text(each));
    made.set("cells", std::move(cells));
    Value windows = Value::list(), grants = Value::list();
    for (const WindowSpec& each : it.windows) windows.push_back(text_of(each));
    for (const GrantSpec& each : it.grants) grants.push_back(grant_text(each));
    made.set("windows", std::move(windows));
    made.set("budget", quota.budget_gpu_us ? Value(format_gpu_hours(*quota.budget_gpu_us)) : Value());
    made.set("budgetEnd", kBudgetEndNames[static_cast<std::size_t>(quota.budget_end)]);
    made.set("grants", std::move(grants));
    made.set("stop", it.queue.held ? "hold" : it.queue.closed ? "drain" : "none");
    made.set("submitters", submitters_value(it.submitters));
    return made;
  }

 private:
  std::string cells_text(const FloorCells& cells) const {
    return policy_.name_of(cells.flavor) + ":" + cells.level + ":" + std::to_string(cells.count);
  }
  std::string key_of(Dim dim) const {
    if (dim == kGpusOfAllFlavors) return "(all GPUs)";
    FlavorAmount named = policy_.named(dim);
    if (dim.flavor().is_none()) named.flavor = "(no GPUs)";
    return berth::name_of(named);
  }

  static Value submitters_value(const Submitters& submitters) {
    if (submitters.who == Submitters::Who::kEverybody) return "everybody";
    if (submitters.who == Submitters::Who::kNobody) return "nobody";
    const auto list = [](const std::vector<std::string>& names) {
      Value made = Value::list();
      for (const std::string& name : names) made.push_back(name);
      return made;
    };
    return Value::map_of({{"namespaces", list(submitters.namespaces)},
                          {"users", list(submitters.users)},
                          {"groups", list(submitters.groups)}});
  }

  // Dimensions of which there is something to say; flavors that are closed are told in one word.
  std::set<std::size_t> dims_of(QueueId queue) const {
    std::set<std::size_t> dims;
    const PolicyQueue& it = policy_.queues[queue.index()];
    for (const AmountKind kind : kKinds) {
      for (const Amount& each : amounts_of(it.queue.quota, kind)) {
        const bool closed = kind == AmountKind::kLimit && each.dim.resource() == Resource::kGpu &&
                            std::ranges::find(it.closed_flavors, each.dim.flavor()) != it.closed_flavors.end();
        if (!closed) dims.insert(each.dim.index());
      }
    }
    for (std::size_t dim = 0; dim < tree_.dims(); ++dim) {
      if (tree_.guarantee(queue)[dim] > 0) dims.insert(dim);
    }
    return dims;
  }

  // The part of an inner queue's guarantee that is not its children's.
  std::optional<std::int64_t> pool_of(QueueId queue, Dim dim) const {
    if (tree_.is_leaf(queue)) return std::nullopt;
    std::int64_t rest = tree_.guarantee(queue)[dim.index()];
    for (const QueueId child : tree_.children(queue)) rest -= tree_.guarantee(child)[dim.index()];
    return std::max<std::int64_t>(0, rest);
  }

  void add_rows(QueueId queue, std::size_t depth, PolicyTable& table) {
    const PolicyQueue& it = policy_.queues[queue.index()];
    const std::string name = std::string(2 * depth, ' ') + it.queue.name + (it.cohort ? " (cohort)" : "");
    std::vector<std::vector<std::string>> rows;
    for (const std::size_t dim : dims_of(queue)) rows.push_back(amount_row(queue, Dim::at(dim)));
    if (rows.empty()) rows.push_back({"", "-", "-", "-", "-", "any", "-", "-", "", ""});
    rows.front()[0] = name;
    rows.front()[8] = format_milli(it.queue.quota.weight_milli);
    rows.front()[9] = policies_of(it);
    for (auto& row : rows) table.rows.push_back(std::move(row));
    for (const QueueId child : tree_.children(queue)) add_rows(child, depth + 1, table);
  }

  std::vector<std::string> amount_row(QueueId queue, Dim dim) const {
    const Quota& quota = policy_.queues[queue.index()].queue.quota;
    const auto cell = [&](AmountKind kind, const char* otherwise) {
      const auto amount = amount_given(amounts_of(quota, kind), dim);
      return amount ? format_amount(dim.resource(), *amount) : std::string(otherwise);
    };
    const std::int64_t promised = tree_.guarantee(queue)[dim.index()];
    const auto pool = pool_of(queue, dim);
    return {"",
            dim.flavor().is_none() ? "(no GPUs)" : policy_.name_of(dim.flavor()),
            dim.is_of_slices() ? "mig-" + policy_.named(dim).profile : std::string(berth::name_of(dim.resource())),
            promised == 0 ? cell(AmountKind::kGuarantee, "-") : format_amount(dim.resource(), promised),
            pool ? format_amount(dim.resource(), *pool) : "-",
            cell(AmountKind::kBorrowingLimit, amount_given(quota.limit, dim) ? "to limit" : "any"),
            cell(AmountKind::kLendingLimit, promised == 0 ? "-" : "all"),
            cell(AmountKind::kLimit, "-"),
            "",
            ""};
  }

  // What differs from the defaults, and the order, which everybody asks for.
  std::string policies_of(const PolicyQueue& queue) const {
    const Quota& quota = queue.queue.quota;
    const Quota usual;
    std::vector<std::string> words;
    if (queue.queue.order) words.push_back("order=" + std::string(berth::name_of(*queue.queue.order)));
    if (quota.fair_reclaim != usual.fair_reclaim) {
      words.push_back("reclaim=" + std::string(kFairReclaimNames[static_cast<std::size_t>(quota.fair_reclaim)]));
    }
    if (quota.preempt != usual.preempt) {
      words.push_back("preempt=" + std::string(kPreemptNames[static_cast<std::size_t>(quota.preempt)]));
    }
    if (quota.reclaim_within != usual.reclaim_within) words.push_back("reclaim_within=" + length(quota.reclaim_within));
    if (quota.patience != usual.patience) words.push_back("patience=" + length(quota.patience));
    if (quota.min_runtime != usual.min_runtime) words.push_back("min_runtime=" + length(quota.min_runtime));
    if (!quota.user_limit.empty()) {
      std::string amounts;
      for (const Amount& each : quota.user_limit) {
        amounts +=
            (amounts.empty() ? "" : ",") + key_of(each.dim) + ":" + format_amount(each.dim.resource(), each.amount);
      }
      words.push_back("user_limit=" + amounts);
    }
    if (quota.users != usual.users) words.emplace_back("users=fair");
    if (quota.backfill != usual.backfill && queue.queue.order == Order::kFifo) {
      words.push_back("backfill=" + std::string(kBackfillNames[static_cast<std::size_t>(quota.backfill)]));
    }
    if (quota.loans_percent != 0) words.push_back("loans=" + loans_text(quota.loans_percent));
    if (!quota.foresight && queue.queue.order == Order::kFifo) words.emplace_back("foresight=no");
    if (quota.over_run == OverRun::kExtend) {
      words.push_back("over_run=extend extend=" + length(quota.extend) +
                      " extensions=" + std::to_string(quota.extensions));
    }
    if (quota.cooldown != usual.cooldown) words.push_back("cooldown=" + length(quota.cooldown));
    if (quota.idle_after != usual.idle_after) words.push_back("idle_after=" + length(quota.idle_after));
    if (quota.half_life != usual.half_life) words.push_back("half_life=" + length(quota.half_life));
    std::string own;
    for (const Label& each : quota.dedicated) own += (own.empty() ? "" : ",") + each.key + ":" + each.value;
    if (!own.empty()) words.push_back("dedicated=" + own);
    std::string cells;
    for (const FloorCells& each : quota.cells) cells += (cells.empty() ? "" : ",") + cells_text(each);
    if (!cells.empty()) words.push_back("cells=" + cells);
    for (const WindowSpec& each : queue.windows) words.push_back("window=" + text_of(each));
    if (quota.budget_gpu_us) {
      words.push_back("budget=" + format_gpu_hours(*quota.budget_gpu_us) + "h");
      if (quota.budget_end != usual.budget_end) words.emplace_back("budget_end=best-effort");
    }
    for (const GrantSpec& each : queue.grants) words.push_back("grant=" + grant_text(each));
    if (queue.queue.held) words.emplace_back("held");
    if (queue.queue.closed) words.emplace_back("closed");
    if (queue.submitters.who == Submitters::Who::kNobody) words.emplace_back("submitters=nobody");
    if (queue.submitters.who == Submitters::Who::kNamed) words.push_back("submitters=" + named(queue.submitters));
    if (!queue.closed_flavors.empty()) {
      std::string closed;
      for (const FlavorId flavor : queue.closed_flavors)
        closed += (closed.empty() ? "" : ",") + policy_.name_of(flavor);
      words.push_back("without=" + closed);
    }
    std::string out;
    for (const std::string& word : words) out += (out.empty() ? "" : " ") + word;
    return out;
  }

  static std::string named(const Submitters& submitters) {
    std::string out;
    for (const auto* const names : {&submitters.namespaces, &submitters.users, &submitters.groups}) {
      for (const std::string& name : *names) out += (out.empty() ? "" : ",") + name;
    }
    return out.empty() ? "nobody" : out;
  }

  const Policy& policy_;
  NamedProfiles named_;
  QuotaTree tree_;
};

}  // namespace

PolicyTable table_of(const Policy& policy) { return Shown(policy).table(); }

std::string not_followed_text(const Policy& policy) {
  if (policy.not_followed.empty()) return "";
  const std::size_t count = policy.not_followed.size();
  std::string out = count == 1 ? "1 thing is not followed:\n" : std::to_string(count) + " things are not followed:\n";
  for (const NotFollowed& each : policy.not_followed) out += "  " + each.place.to_string() + ": " + each.why + "\n";
  return out;
}

Value value_of(std::span<const PolicyFinding> findings) {
  Value list = Value::list();
  for (const PolicyFinding& each : findings) {
    Value queues = Value::list();
    for (const std::string& queue : each.queues) queues.push_back(queue);
    list.push_back(Value::map_of({{"severity", berth::name_of(each.severity)},
                                  {"rule", each.rule},
                                  {"file", each.place.at.file},
                                  {"line", each.place.at.line},
                                  {"object", each.place.object},
                                  {"field", each.place.field},
                                  {"queues", std::move(queues)},
                                  {"what", each.what},
                                  {"why", each.why},
                                  {"instead", each.instead}}));
  }
  return list;
}

Value value_of(const Policy& policy) {
  const Shown shown(policy);
  Value flavors = Value::list();
  for (const PolicyFlavor& each : policy.flavors) {
    Value labels = Value::map();
    for (const auto& [key, value] : each.node_labels) labels.set(key, value);
    flavors.push_back(Value::map_of({{"name", each.flavor.name},
                                     {"model", each.flavor.model},
                                     {"weight", each.flavor.weight},
                                     {"declared", each.declared},
                                     {"nodeLabels", std::move(labels)},
                                     {"topology", each.topology},
                                     {"place", each.place.to_string()}}));
  }
  Value queues = Value::list();
  for (std::size_t i = 0; i < policy.queues.size(); ++i) queues.push_back(shown.queue_value(QueueId(i)));
  Value doors = Value::list();
  for (const QueueDoor& each : policy.doors) {
    doors.push_back(Value::map_of({{"namespace", each.name_space}, {"name", each.name}, {"queue", each.queue}}));
  }
  Value topologies = Value::list();
  for (const TopologyPart& each : policy.topologies) {
    Value levels = Value::list();
    for (const std::string& level : each.levels) levels.push_back(level);
    topologies.push_back(Value::map_of({{"name", each.name}, {"levels", std::move(levels)}}));
  }
  Value priorities = Value::list();
  for (const Priority& each : policy.priorities) {
    priorities.push_back(Value::map_of({{"name", each.name}, {"value", each.value}, {"preempts", each.preempts}}));
  }
  Value ignored = Value::list();
  for (const NotFollowed& each : policy.not_followed) {
    ignored.push_back(Value::map_of({{"file", each.place.at.file},
                                     {"line", each.place.at.line},
                                     {"object", each.place.object},
                                     {"field", each.place.field},
                                     {"why", each.why}}));
  }
  return Value::map_of({{"flavors", std::move(flavors)},
                        {"queues", std::move(queues)},
                        {"localQueues", std::move(doors)},
                        {"priorities", std::move(priorities)},
                        {"topologies", std::move(topologies)},
                        {"notFollowed", std::move(ignored)},
                        {"findings", value_of(policy.findings)}});
}

}  // namespace berth
