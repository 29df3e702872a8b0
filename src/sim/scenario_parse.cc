#include "sim/scenario_parse.h"

#include <algorithm>
#include <array>
#include <span>
#include <utility>

#include "base/wording.h"
#include "model/gpu.h"
#include "sim/csv.h"
#include "sim/scenario_amount.h"
#include "sim/scenario_expect.h"
#include "sim/scenario_later.h"
#include "sim/scenario_line.h"
#include "sim/scenario_moment.h"
#include "sim/scenario_names.h"

namespace berth {
namespace {

using namespace scenario;

// Words that have a meaning of their own after `expect` or in a list of workloads.
constexpr std::string_view kReservedNames[] = {"none", "usage",  "fragments", "share", "borrowed",
                                               "lent", "device", "mig",       "budget"};

constexpr std::string_view kFlavorKeys[] = {"model", "weight"};
constexpr std::string_view kNodesKeys[] = {"gpus", "flavor", "cpu", "memory", "pods"};
constexpr std::string_view kQueueKeys[] = {
    "order",          "guarantee", "limit",   "borrowing_limit", "lending_limit", "weight",
    "reclaim_within", "patience",  "reclaim", "preempt",         "min_runtime",   "user_limit",
    "users",          "half_life", "budget",  "budget_end",      "cooldown",      "idle_after"};
constexpr std::string_view kSubmitKeys[] = {"queue",      "pods",     "min",     "gpus", "gpu_memory", "cpu",
                                            "memory",     "flavor",   "mixed",   "run",  "priority",   "preempts",
                                            "guaranteed", "coverage", "grace",   "pdb",  "limit",      "user",
                                            "begin",      "after",    "after_ok"};
constexpr std::string_view kSetWorkloadKeys[] = {"priority", "queue"};
constexpr std::string_view kGrantKeys[] = {"until"};
constexpr std::string_view kWindowKeys[] = {"guarantee", "limit", "lending_limit", "weight", "zone"};
constexpr std::string_view kGroupKeys[] = {"pods", "min", "gpus", "gpu_memory", "cpu", "memory", "flavor", "mixed"};
// A pod set before its flavors are made into ways.
struct SetDraft {
  PodRequest request;
  std::int64_t count = 1;
  std::vector<FlavorId> flavors;  // the preferred first; empty without GPUs
  bool mixed = false;

  FlavorSet all_flavors() const {
    if (flavors.empty()) return FlavorSet::all();
    FlavorSet set;
    for (const FlavorId flavor : flavors) set.add(flavor);
    return set;
  }
  bool allows(FlavorId flavor) const { return std::find(flavors.begin(), flavors.end(), flavor) != flavors.end(); }
};

// A workload to which pod sets may still be added.
struct Draft {
  WorkloadId workload;
  std::size_t statement = 0;
  std::vector<SetDraft> sets;
};

bool leads(const SetDraft& set) { return !set.flavors.empty() && !set.mixed; }

// A set that would have to choose its own flavor, because the first set with GPUs may take one that it may not.
const SetDraft* set_with_a_choice_of_its_own(const std::vector<SetDraft>& sets) {
  const auto leader = std::find_if(sets.begin(), sets.end(), leads);
  if (leader == sets.end()) return nullptr;
  for (const SetDraft& set : sets) {
    if (!leads(set) || set.flavors.size() == 1) continue;
    if (!std::ranges::all_of(leader->flavors, [&](FlavorId flavor) { return set.allows(flavor); })) return &set;
  }
  return nullptr;
}

// One way for each flavor that the first set with GPUs prefers: in it every set keeps to that flavor if it may.
// PRE: no set has a choice of its own.
WorkloadShape shape_of(const std::vector<SetDraft>& sets) {
  const auto leader = std::find_if(sets.begin(), sets.end(), leads);
  const std::vector<FlavorId> choices = leader == sets.end() ? std::vector<FlavorId>{FlavorId()} : leader->flavors;
  WorkloadShape shape;
  for (const FlavorId flavor : choices) {
    PodSets& way = shape.ways.emplace_back();
    for (const SetDraft& set : sets) {
      PodSet& made = way.emplace_back(PodSet{set.request, set.count});
      made.request.flavors = leads(set) && set.allows(flavor) ? FlavorSet::of(flavor) : set.all_flavors();
    }
  }
  return shape;
}

class ScenarioParser {
 public:
  explicit ScenarioParser(const std::string& file) : file_(file) {}

  Result<Scenario> parse(std::string_view text) {
    if (text.size() > kScenarioBytesMax)
      return Complaints({file_}, "larger than 1 MiB; split it into several scenarios");
    split(without_byte_order_mark(text));
    open();
    for (ScenarioLine& line : lines_) read(line);
    close_drafts();
    date_windows();
    if (!complaints_.empty()) return std::move(complaints_);
    return std::move(scenario_);
  }

 private:
  using Reader = void (ScenarioParser::*)(ScenarioLine&);
  struct Keyword {
    std::string_view name;
    Reader read;
  };

  void split(std::string_view text) {
    std::int64_t number = 0;
    while (!text.empty()) {
      const std::size_t end = text.find('\n');
      ScenarioLine line(file_, ++number, text.substr(0, end), complaints_);
      text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
      if (line.empty()) continue;
      if (std::ssize(lines_) == kScenarioStatementsMax) {
        line.complain("more than 10,000 statements; split it into several scenarios");
        return;
      }
      declares_flavors_ = declares_flavors_ || line.keyword() == "flavor";
      declares_queues_ = declares_queues_ || line.keyword() == "queue";
      lines_.push_back(std::move(line));
    }
    scenario_.lines = std::ssize(lines_);
  }

  // A scenario that declares no flavor has one called gpu; one that declares no queue has one called default.
  void open() {
    scenario_.statements.push_back({0, RunConfigured{Seed{1}, PlacementPolicy::kBestFit}});
    if (!declares_flavors_) add_flavor(0, {.name = "gpu", .model = "gpu", .memory_mib = 0});
    if (!declares_queues_) add_queue(0, {.name = "default", .parent = {}, .order = Order::kFifo});
  }

  void read(ScenarioLine& line);

  template <class What>
  void add(const ScenarioLine& line, What what) {
    scenario_.statements.push_back({line.number(), std::move(what)});
  }
  void add_flavor(std::int64_t line, Flavor flavor) {
    names_.flavors.add(flavor.name);
    gpu_memory_mib_.push_back(flavor.memory_mib);
    scenario_.statements.push_back({line, FlavorAdded{std::move(flavor)}});
  }
  void add_queue(std::int64_t line, Queue queue) {
    names_.queues.add(queue.name);
    queues_.push_back(queue);
    scenario_.statements.push_back({line, QueueAdded{std::move(queue)}});
  }

  void change_queue(const ScenarioLine& line, QueueId id, Queue now) {
    queues_[id.index()] = now;
    add(line, Event(QueueChanged{id, std::move(now)}));
  }

  std::optional<WorkloadId> take_workload(ScenarioLine& line) {
    const ScenarioWord* const word = line.take_plain("the name of a workload");
    return word == nullptr ? std::nullopt : names_.workload(line, *word, word->value);
  }

  // Whether the run has not begun: the seed and the policy hold for all of it.
  bool is_first(const ScenarioLine& line) {
    if (!begun_) return true;
    line.complain(quote(line.keyword()) + " holds for the whole scenario; write it before all else");
    return false;
  }

  // ---- statements -----------------------------------------------------------------------------------------------

  void read_seed(ScenarioLine& line) {
    const ScenarioWord* const word = line.take_plain("seed 7");
    const std::int64_t seed = line.integer(word, 0, INT64_MAX, 1);
    if (is_first(line)) configuration().seed.value = static_cast<std::uint64_t>(seed);
    line.finish("seed", {});
  }

  void read_policy(ScenarioLine& line) {
    const ScenarioWord* const word = line.take_plain("policy best-fit");
    const auto policy = word == nullptr ? std::nullopt : find_placement_policy(word->value);
    if (word != nullptr && !policy) {
      line.complain(*word,
                    "there is no policy " + quote(word->value) + line.instead(word->value, kPlacementPolicyNames));
    } else if (policy == PlacementPolicy::kFgd) {
      line.complain(*word,
                    "'fgd' is not known in scenarios: it measures by typical pods, which come from a trace; "
                    "write best-fit, or use berth simulate");
    } else if (policy && is_first(line)) {
      configuration().policy = *policy;
    }
    line.finish("policy", {});
  }

  RunConfigured& configuration() {
    return std::get<RunConfigured>(std::get<Event>(scenario_.statements.front().action));
  }

  void read_flavor(ScenarioLine& line) {
    const ScenarioWord* const name = line.take_plain("flavor h100 model=H100");
    const ScenarioWord* const model_name = line.take("model");
    const GpuModel* const model = find_gpu_model(model_name == nullptr ? "gpu" : std::string_view(model_name->value));
    if (model == nullptr) {
      const std::string_view nearest = nearest_gpu_model(model_name->value);
      line.complain(*model_name, "model: unknown GPU model " + quote(model_name->value) +
                                     (nearest.empty() ? "; write one such as H100, or leave model= out"
                                                      : "; did you mean " + quote(nearest) + "?"));
    }
    const std::int64_t weight = line.integer(line.take("weight"), 1, kFlavorWeightMax, 1);
    line.finish("flavor", kFlavorKeys);
    if (name == nullptr || !line.is_name(*name) || !names_.flavors.is_new(line, *name, name->value)) return;
    if (names_.flavors.size() == kFlavorsMax) return line.complain("more than 64 flavors; leave some out");
    add_flavor(line.number(), {.name = name->value,
                               .model = std::string(model == nullptr ? "gpu" : model->name),
                               .memory_mib = model == nullptr ? 0 : model->memory_mib,
                               .weight = weight});
  }

  void read_add(ScenarioLine& line) {
    const ScenarioWord* const what = line.take_plain("add nodes n 4 gpus=8");
    if (what == nullptr) return;
    if (what->value == "nodes") return read_nodes(line);
    line.complain(*what, "only nodes can be added; write add nodes n 4 gpus=8");
  }

  void read_nodes(ScenarioLine& line) {
    const ScenarioWord* const prefix = line.take_plain("nodes n 4 gpus=8");
    const ScenarioWord* const count_word = prefix == nullptr ? nullptr : line.take_plain("how many nodes");
    const std::int64_t count = line.integer(count_word, 1, kScenarioNodesMax, 0);
    Node node;
    node.gpus = static_cast<std::int32_t>(line.integer(line.take("gpus"), 0, kGpusPerNodeMax, 0));
    if (const auto flavor = take_node_flavor(line, node.gpus)) {
      node.flavor = *flavor;
      node.gpu_memory_mib = gpu_memory_mib_[flavor->index()];
    }
    node.cpu_milli = line.milli(line.take("cpu"), kNodeCpuMilliMax, kNodeCpuMilliMax);
    node.memory_bytes = line.bytes(line.take("memory"), kScenarioMemoryBytesMax, kScenarioMemoryBytesMax);
    node.pods_max = static_cast<std::int32_t>(line.integer(line.take("pods"), 0, kPodsUnbounded, kPodsUnbounded));
    line.finish("nodes", kNodesKeys);
    if (prefix == nullptr || !line.is_name(*prefix)) return;
    if (static_cast<std::int64_t>(names_.nodes.size()) + count > kScenarioNodesMax) {
      return line.complain("more than 100,000 nodes in one scenario; take fewer");
    }
    NodesAdded added;
    for (std::int64_t i = 1; i <= count; ++i) {
      node.name = prefix->value + std::to_string(i);
      if (!names_.nodes.is_new(line, *prefix, node.name)) return;
      names_.nodes.add(node.name);
      added.nodes.push_back(node);
    }
    add(line, Event(std::move(added)));
  }

  std::optional<FlavorId> take_node_flavor(ScenarioLine& line, std::int32_t gpus) {
    const ScenarioWord* const word = line.take("flavor");
    if (gpus == 0) {
      if (word != nullptr) line.complain(*word, "flavor= says of which kind the GPUs are; write gpus=, too");
      return std::nullopt;
    }
    if (word != nullptr) return names_.flavor(line, *word, word->value);
    if (names_.flavors.size() == 1) return FlavorId(0);
    line.complain(names_.flavors.size() == 0 ? "no flavor is declared yet; write flavor lines above"
                                             : "there are several flavors; write flavor=" + names_.flavors[0]);
    return std::nullopt;
  }

  void read_queue(ScenarioLine& line) {
    const ScenarioWord* const path = line.take_plain("queue research");
    const Order order = take_named(line, "order", kOrderNames, find_order, Order::kFifo);
    Quota quota = take_quota(line, {});
    line.finish("queue", kQueueKeys);
    if (path == nullptr || !line.is_name(*path, true) || !names_.queues.is_new(line, *path, path->value)) return;
    QueueId parent;
    if (const std::size_t slash = path->value.rfind('/'); slash != std::string::npos) {
      const std::string parent_path = path->value.substr(0, slash);
      const auto index = names_.queues.look_up(line, *path, parent_path);
      if (index) parent = QueueId(*index);
    }
    add_queue(line.number(), {.name = path->value, .parent = parent, .order = order, .quota = std::move(quota)});
  }

  // What the line does not name stays.
  Quota take_quota(ScenarioLine& line, Quota quota) {
    const auto take_amounts = [&](const char* key, AmountList& amounts) {
      const ScenarioWord* const word = line.take(key);
      if (word != nullptr) amounts = word->value == "none" ? AmountList() : read_quota_amounts(line, *word, names_);
    };
    take_amounts("guarantee", quota.guarantee);
    take_amounts("limit", quota.limit);
    take_amounts("borrowing_limit", quota.borrowing_limit);
    take_amounts("lending_limit", quota.lending_limit);
    take_amounts("user_limit", quota.user_limit);
    quota.weight_milli = line.milli(line.take("weight"), kWeightMilliMax, quota.weight_milli);
    quota.reclaim_within = take_duration(line, "reclaim_within", quota.reclaim_within);
    quota.patience = take_duration(line, "patience", quota.patience);
    quota.min_runtime = take_duration(line, "min_runtime", quota.min_runtime);
    quota.cooldown = take_duration(line, "cooldown", quota.cooldown);
    quota.idle_after = take_duration(line, "idle_after", quota.idle_after);
    quota.fair_reclaim = take_named(line, "reclaim", kFairReclaimNames, find_fair_reclaim, quota.fair_reclaim);
    quota.half_life = take_half_life(line, quota.half_life);
    quota.users = take_named(line, "users", kUserOrderNames, find_user_order, quota.users);
    quota.preempt = take_named(line, "preempt", kPreemptNames, find_preempt, quota.preempt);
    if (const ScenarioWord* const word = line.take("budget")) {
      quota.budget_gpu_us = word->value == "none" ? std::nullopt : gpu_time(line, *word, word->value);
    }
    quota.budget_end = take_named(line, "budget_end", kBudgetEndNames, find_budget_end, quota.budget_end);
    return quota;
  }

  void read_grant(ScenarioLine& line) {
    constexpr std::string_view kForm = "grant research 50h until=2026-12-01T00:00:00Z";
    const ScenarioWord* const path = line.take_plain(kForm);
    const ScenarioWord* const hours = path == nullptr ? nullptr : line.take_plain(kForm);
    GrantAdded grant{.queue = {}, .gpu_us = 0, .until = {}};
    const auto queue = path == nullptr ? std::nullopt : names_.queue(line, *path);
    if (queue) grant.queue = *queue;
    if (hours != nullptr) grant.gpu_us = gpu_time(line, *hours, hours->value).value_or(1);
    if (hours != nullptr && grant.gpu_us == 0) line.complain(*hours, "nothing is granted; write how much, such as 50h");
    if (const ScenarioWord* const until = line.take("until")) {
      grant.until = moment_of(line, *until);
    } else if (hours != nullptr) {
      line.complain("a grant ends; write until=2026-12-01T00:00:00Z, or a larger budget= with set queue");
    }
    line.finish("grant", kGrantKeys);
    if (queue && !queues_[queue->index()].quota.budget_gpu_us) {
      return line.complain(*path, "queue " + quote(path->value) +
                                      " has no budget that a grant could go beside; write budget= on its line");
    }
    add(line, Event(grant));
  }

  void read_window(ScenarioLine& line) {
    constexpr std::string_view kForm = "window research daily 20:00-08:00 guarantee=24";
    const ScenarioWord* const path = line.take_plain(kForm);
    const ScenarioWord* const days = path == nullptr ? nullptr : line.take_plain(kForm);
    const ScenarioWord* const hours = days == nullptr ? nullptr : line.take_plain(kForm);
    const ScenarioWord* const zone = line.take("zone");
    DeclareWindow declared;
    if (path != nullptr) declared.window.queue = names_.queue(line, *path).value_or(QueueId());
    if (hours != nullptr) {
      const Parsed<WindowTimes> times =
          WindowTimes::read(days->value, hours->value, zone == nullptr ? WindowTimes::kUtc : zone->value);
      if (!times)
        return line.complain(zone != nullptr && times.error().starts_with("zone") ? *zone : *days, times.error());
      declared.times = *times;
    }
    take_window_amounts(line, declared.window);
    line.finish("window", kWindowKeys);
    if (++windows_ > kWindowsMax) return line.complain("more than 64 windows in one scenario; take fewer");
    if (!declared.times.is_same_every_day()) dated_windows_.push_back(line.number());
    add(line, std::move(declared));
  }

  void take_window_amounts(ScenarioLine& line, Window& window) {
    if (const ScenarioWord* const word = line.take("guarantee")) {
      window.guarantee = read_quota_amounts(line, *word, names_);
    }
    if (const ScenarioWord* const word = line.take("limit")) window.limit = read_quota_amounts(line, *word, names_);
    if (const ScenarioWord* const word = line.take("lending_limit")) {
      window.lending_limit = read_quota_amounts(line, *word, names_);
    }
    if (const ScenarioWord* const word = line.take("weight")) {
      window.weight_milli = line.milli(word, kWeightMilliMax, 1000);
    }
    if (window.guarantee.empty() && window.limit.empty() && window.lending_limit.empty() && !window.weight_milli) {
      line.complain("nothing changes while it is open; write guarantee=, limit=, lending_limit= or weight=");
    }
  }

  // Days of the week and zones mean something only where the days have dates.
  void date_windows() {
    scenario_.zero_since_1970 = clock_.zero_since_1970();
    if (clock_.has_date()) return;
    for (const std::int64_t line : dated_windows_) {
      complaints_.add({file_, line, 1},
                      "when it is open depends on the date, and there is none; write one such as at "
                      "2026-11-21T08:00:00Z");
    }
  }

  Duration take_duration(ScenarioLine& line, const std::string& key, Duration otherwise) {
    const ScenarioWord* const word = line.take(key);
    if (word == nullptr) return otherwise;
    const Parsed<std::int64_t> ms = parse_duration_ms(word->value);
    if (ms && *ms <= kTimeMax.ms) return Duration{*ms};
    line.complain(*word,
                  key + ": " + (ms ? quote(word->value) + " is out of range; write up to 10,000 years" : ms.error()));
    return otherwise;
  }

  std::optional<Duration> take_length_of_run(ScenarioLine& line, const std::string& key) {
    const ScenarioWord* const word = line.take(key);
    if (word == nullptr) return std::nullopt;
    const Parsed<std::int64_t> ms = parse_duration_ms(word->value);
    if (ms && *ms > 0 && *ms <= kTimeMax.ms) return Duration{*ms};
    line.complain(*word,
                  key + ": " + (ms ? quote(word->value) + " is out of range; write 1ms to 10,000 years" : ms.error()));
    return std::nullopt;
  }

  Duration take_half_life(ScenarioLine& line, Duration otherwise) {
    const ScenarioWord* const word = line.find("half_life");
    const Duration half_life = take_duration(line, "half_life", otherwise);
    if (half_life.ms == 0 || (half_life >= kHalfLifeMin && half_life <= kHalfLifeMax)) return half_life;
    line.complain(*word, "half_life: " + quote(word->value) + " is out of range; write 1m to 3650d, or 0s for none");
    return otherwise;
  }

  template <class Enum, std::size_t size>
  Enum take_named(ScenarioLine& line, const std::string& key, const std::string_view (&names)[size],
                  std::optional<Enum> (*find)(std::string_view), Enum otherwise) {
    const ScenarioWord* const word = line.take(key);
    if (word == nullptr) return otherwise;
    if (const auto found = find(word->value)) return *found;
    line.complain(*word, key + ": " + quote(word->value) + " is none of these" + line.instead(word->value, names));
    return otherwise;
  }

  Terms take_terms(ScenarioLine& line) {
    Terms terms;
    terms.priority = static_cast<std::int32_t>(line.integer(line.take("priority"), -kPriorityMax, kPriorityMax, 0));
    terms.preempts = !takes_the_word(line, "preempts", "never");
    terms.guaranteed_only = takes_the_word(line, "guaranteed", "only");
    terms.best_effort = takes_the_word(line, "coverage", "best-effort");
    terms.grace = take_duration(line, "grace", terms.grace);
    terms.run_limit = take_length_of_run(line, "limit");
    if (const ScenarioWord* const word = line.take("pdb")) {
      std::string_view percent = word->value;
      const bool well_formed = percent.ends_with('%');
      if (well_formed) percent.remove_suffix(1);
      const auto value = parse_integer(percent, 0, 100);
      if (!well_formed || !value) {
        line.complain(*word, "pdb: " + quote(word->value) + " is no part of its pods; write one such as 50%");
      } else {
        terms.disruption_permille = static_cast<std::int32_t>(*value * 10);
      }
    }
    return terms;
  }

  // A key that may have one value only.
  bool takes_the_word(ScenarioLine& line, const std::string& key, std::string_view value) {
    const ScenarioWord* const word = line.take(key);
    if (word == nullptr) return false;
    if (word->value == value) return true;
    line.complain(*word, key + ": " + quote(word->value) + " is not known; write " + key + "=" + std::string(value) +
                             ", or leave it out");
    return false;
  }

  void read_at(ScenarioLine& line) {
    close_drafts();
    if (const ScenarioWord* const word = line.take_plain("at 08:00, at +10m or at 2026-11-21T08:00:00Z")) {
      const Parsed<Time> moment = clock_.later(word->value);
      if (moment) {
        const bool relative = word->value.starts_with('+');
        const Duration by = *moment - clock_.now();
        clock_.advance_to(*moment);
        add(line, PassTime{*moment, relative ? std::optional(by) : std::nullopt});
      } else {
        line.complain(*word, moment.error());
      }
    }
    line.finish("at", {});
  }

  void read_submit(ScenarioLine& line) {
    const ScenarioWord* const name = line.take_plain("submit w gpus=8");
    WorkloadSubmitted submitted{.name = {}, .queue = take_queue(line), .at = clock_.now(), .shape = {}};
    submitted.declared_run = take_length_of_run(line, "run").value_or(kRunNotDeclared);
    submitted.shape.terms = take_terms(line);
    if (const ScenarioWord* const user = line.take("user")) submitted.user = user->value;
    if (const ScenarioWord* const begin = line.take("begin")) submitted.not_before = moment_of(line, *begin);
    take_dependencies(line, "after", false, submitted.after);
    take_dependencies(line, "after_ok", true, submitted.after);
    const SetDraft set = take_set(line);
    line.finish("submit", kSubmitKeys);
    if (name == nullptr || !line.is_name(*name)) return;
    const bool reserved =
        std::find(std::begin(kReservedNames), std::end(kReservedNames), name->value) != std::end(kReservedNames);
    if (reserved) {
      return line.complain(*name, quote(name->value) + " has a meaning of its own after expect; choose another name");
    }
    if (!names_.workloads.is_new(line, *name, name->value)) return;
    const WorkloadId workload(names_.workloads.size());
    names_.workloads.add(name->value);
    submitted.name = name->value;
    drafts_.push_back({workload, scenario_.statements.size(), {set}});
    add(line, Event(std::move(submitted)));
  }

  // A moment to come; at once, and a complaint, if it is none.
  Time moment_of(const ScenarioLine& line, const ScenarioWord& word) {
    const Parsed<Time> moment = clock_.later(word.value);
    if (moment) return *moment;
    line.complain(word, word.key + ": " + moment.error());
    return {};
  }

  void take_dependencies(ScenarioLine& line, const std::string& key, bool only_if_done,
                         std::vector<Dependency>& after) {
    const ScenarioWord* const word = line.take(key);
    if (word == nullptr) return;
    for (const std::string& name : line.list(*word)) {
      if (const auto other = names_.workload(line, *word, name)) after.push_back({*other, only_if_done});
    }
  }

  QueueId take_queue(ScenarioLine& line) {
    if (const ScenarioWord* const word = line.take("queue")) return names_.queue(line, *word).value_or(QueueId());
    if (names_.queues.size() == 1) return QueueId(0);
    line.complain(names_.queues.size() == 0 ? "no queue is declared yet; write queue lines above"
                                            : "there are several queues; write queue=" + names_.queues[0]);
    return {};
  }

  void read_group(ScenarioLine& line) {
    const ScenarioWord* const name = line.take_plain("group w workers pods=2 gpus=8");
    const ScenarioWord* const set_name =
        name == nullptr ? nullptr : line.take_plain("a name for the pods, as in group w workers");
    const SetDraft set = take_set(line);
    line.finish("submit", kGroupKeys);
    if (set_name == nullptr || !line.is_name(*set_name)) return;
    const auto workload = names_.workload(line, *name, name->value);
    if (!workload) return;
    const auto draft =
        std::find_if(drafts_.begin(), drafts_.end(), [&](const Draft& each) { return each.workload == *workload; });
    if (draft == drafts_.end()) {
      return line.complain(*name,
                           quote(name->value) + " is submitted already; write group lines right below its submit");
    }
    draft->sets.push_back(set);
  }

  // The pods that a `submit` or `group` line speaks of.
  SetDraft take_set(ScenarioLine& line) {
    SetDraft set;
    set.count = line.integer(line.take("pods"), 1, kScenarioPodsMax, 1);
    pods_ += set.count;
    if (pods_ > kScenarioPodsMax && pods_ - set.count <= kScenarioPodsMax) {
      line.complain("more than 100,000 pods in one scenario; take fewer");
    }
    if (const ScenarioWord* const min = line.take("min");
        min != nullptr && line.integer(min, 1, kScenarioPodsMax, set.count) != set.count) {
      line.complain(*min,
                    "'min=' other than pods= is not supported yet (elastic workloads); this version starts all "
                    "pods or none, write min=" +
                        std::to_string(set.count));
    }
    take_gpus(line, set.request);
    if (const ScenarioWord* const memory = line.take("gpu_memory")) {
      constexpr std::int64_t kMib = 1 << 20;
      set.request.gpu_memory_mib = (line.bytes(memory, kGpuMemoryMibMax * kMib, 0) + kMib - 1) / kMib;
      if (set.request.gpus == 0) line.complain(*memory, "gpu_memory= is of each GPU; write gpus=, too");
    }
    set.request.cpu_milli = line.milli(line.take("cpu"), kNodeCpuMilliMax, 0);
    set.request.memory_bytes = line.bytes(line.take("memory"), kScenarioMemoryBytesMax, 0);
    take_flavors(line, set);
    return set;
  }

  void take_gpus(ScenarioLine& line, PodRequest& request) {
    const ScenarioWord* const word = line.take("gpus");
    if (word == nullptr) return;
    if (word->value.starts_with("mig:") || word->value.starts_with("mps:")) {
      return line.complain(*word, quote("gpus=" + word->value.substr(0, 4)) + " is not supported yet (" +
                                      (word->value.starts_with("mig:") ? "MIG slices" : "MPS shares") +
                                      "); this version knows gpus=8 and gpus=500m");
    }
    const std::int64_t milli = line.milli(word, std::int64_t{kGpusPerNodeMax} * kMilliPerGpu, 0);
    if (milli > kMilliPerGpu && milli % kMilliPerGpu != 0) {
      return line.complain(*word,
                           "gpus: " + quote(word->value) + " is neither whole GPUs (2) nor a part of one (500m)");
    }
    request.gpus = static_cast<std::int32_t>((milli + kMilliPerGpu - 1) / kMilliPerGpu);
    request.gpu_milli = static_cast<std::int32_t>(std::min<std::int64_t>(milli, kMilliPerGpu));
  }

  void take_flavors(ScenarioLine& line, SetDraft& set) {
    const ScenarioWord* const word = line.take("flavor");
    const ScenarioWord* const mixed = line.take("mixed");
    if (set.request.gpus == 0) {
      for (const ScenarioWord* const idle : {word, mixed}) {
        if (idle != nullptr) line.complain(*idle, idle->key + "= says something about GPUs; write gpus=, too");
      }
      return;
    }
    if (word != nullptr) {
      for (const std::string& name : line.list(*word)) {
        const auto flavor = names_.flavor(line, *word, name);
        if (!flavor) continue;
        if (set.allows(*flavor)) line.complain(*word, "flavor " + quote(name) + " stands here twice; write it once");
        set.flavors.push_back(*flavor);
      }
    } else {
      for (std::size_t i = 0; i < names_.flavors.size(); ++i) set.flavors.emplace_back(i);
      if (names_.flavors.size() == 0) line.complain("no flavor is declared yet; write flavor lines above");
    }
    set.mixed = mixed != nullptr && mixed->value == "yes";
    if (mixed != nullptr && mixed->value != "yes" && mixed->value != "no") {
      line.complain(*mixed, "mixed: " + quote(mixed->value) + " is neither yes nor no");
    }
  }

  // From here on nothing is added to the workloads submitted so far.
  void close_drafts() {
    for (const Draft& draft : drafts_) {
      Statement& statement = scenario_.statements[draft.statement];
      if (set_with_a_choice_of_its_own(draft.sets) != nullptr) {
        complaints_.add(
            {file_, statement.line, 1},
            "a pod set may take several flavors, but not all that the first set with GPUs may; give it one flavor, "
            "the same ones, or mixed=yes");
        continue;
      }
      auto& event = std::get<Event>(statement.action);
      std::get<WorkloadSubmitted>(event).shape.ways = shape_of(draft.sets).ways;
    }
    drafts_.clear();
  }

  void read_end(ScenarioLine& line) {
    close_drafts();
    if (const auto workload = take_workload(line)) add(line, EndWorkload{*workload});
    line.finish("end", {});
  }
  void read_cancel(ScenarioLine& line) {
    close_drafts();
    if (const auto workload = take_workload(line)) add(line, CancelWorkload{*workload});
    line.finish("cancel", {});
  }
  void read_checkpoint(ScenarioLine& line) {
    close_drafts();
    if (const auto workload = take_workload(line)) add(line, ReportCheckpoint{*workload});
    line.finish("checkpoint", {});
  }
  void read_cycle(ScenarioLine& line) {
    close_drafts();
    add(line, Cycle{});
    line.finish("cycle", {});
  }
  void read_settle(ScenarioLine& line) {
    close_drafts();
    add(line, Settle{});
    line.finish("settle", {});
  }

  void read_set(ScenarioLine& line) {
    const char* const kForm = "set queue research guarantee=8 or set workload w priority=200";
    const ScenarioWord* const kind = line.take_plain(kForm);
    if (kind == nullptr) return;
    if (kind->value == "queue") return set_queue(line);
    if (kind->value == "workload") return set_workload(line);
    line.complain(*kind, quote(kind->value) + " cannot be set; write " + kForm);
  }

  static bool names_none_of(const ScenarioLine& line, std::span<const std::string_view> keys) {
    return std::ranges::none_of(keys, [&](std::string_view key) { return line.find(key) != nullptr; });
  }

  void set_queue(ScenarioLine& line) {
    const ScenarioWord* const path = line.take_plain("set queue research guarantee=8");
    const auto id = path == nullptr ? std::nullopt : names_.queue(line, *path);
    Queue now = id ? queues_[id->index()] : Queue{};
    now.order = take_named(line, "order", kOrderNames, find_order, now.order.value_or(Order::kFifo));
    now.quota = take_quota(line, std::move(now.quota));
    if (names_none_of(line, kQueueKeys)) line.complain("nothing is set; write what, as in guarantee=8");
    line.finish("queue", kQueueKeys);
    if (id) change_queue(line, *id, std::move(now));
  }

  void set_workload(ScenarioLine& line) {
    close_drafts();
    const auto workload = take_workload(line);
    SetWorkload change{.workload = workload.value_or(WorkloadId()), .priority = {}, .queue = {}};
    if (const ScenarioWord* const word = line.take("priority")) {
      change.priority = static_cast<std::int32_t>(line.integer(word, -kPriorityMax, kPriorityMax, 0));
    }
    if (const ScenarioWord* const word = line.take("queue")) change.queue = names_.queue(line, *word);
    if (names_none_of(line, kSetWorkloadKeys)) line.complain("nothing is set; write priority=200 or queue=other");
    line.finish("set workload", kSetWorkloadKeys);
    if (workload) add(line, change);
  }

  void read_hold(ScenarioLine& line) {
    hold_or_release(line, "hold", [](Queue& queue) { queue.held = true; });
  }
  void read_release(ScenarioLine& line) {
    hold_or_release(line, "release", [](Queue& queue) { queue.held = queue.closed = false; });
  }
  void read_drain(ScenarioLine& line) {
    const ScenarioWord* const kind = line.take_plain("drain node n1 or drain queue research");
    if (kind == nullptr || kind->value != "queue") return change_node(line, kind, "drain", NodeChange::kDrain);
    change_named_queue(line, "drain", [](Queue& queue) { queue.closed = true; });
  }

  template <class Change>
  void hold_or_release(ScenarioLine& line, const std::string& verb, Change change) {
    const ScenarioWord* const kind = line.take_plain(verb + " queue research");
    if (kind == nullptr) return;
    if (kind->value == "queue") return change_named_queue(line, verb, change);
    line.complain(*kind, quote(kind->value) + " is not known here; write " + verb + " queue research");
  }

  template <class Change>
  void change_named_queue(ScenarioLine& line, const std::string& verb, Change change) {
    const ScenarioWord* const path = line.take_plain(verb + " queue research");
    const auto id = path == nullptr ? std::nullopt : names_.queue(line, *path);
    line.finish(verb, {});
    if (!id) return;
    Queue now = queues_[id->index()];
    change(now);
    change_queue(line, *id, std::move(now));
  }

  void read_fail(ScenarioLine& line) { change_node(line, line.take_plain("fail node n1"), "fail", NodeChange::kFail); }
  void read_restore(ScenarioLine& line) {
    change_node(line, line.take_plain("restore node n1"), "restore", NodeChange::kRestore);
  }

  // `kind` is the word behind the verb, if there is one.
  void change_node(ScenarioLine& line, const ScenarioWord* kind, const std::string& verb, NodeChange change) {
    const ScenarioWord* const name = kind == nullptr ? nullptr : line.take_plain(verb + " node n1");
    if (kind != nullptr && kind->value != "node") {
      const LaterWord* const later = find_later_word(verb, kind->value);
      line.complain(*kind, later != nullptr ? quote(verb + " " + kind->value) + " is not supported yet (" +
                                                  std::string(later->what) + "); this version knows " + verb + " node"
                                            : quote(kind->value) + " is not known here; write " + verb + " node n1");
    } else if (name != nullptr && names_.is_node(line, *name, name->value)) {
      add(line, ChangeNode{change, name->value});
    }
    line.finish(verb, {});
  }

  void read_expect(ScenarioLine& line) {
    close_drafts();
    ++scenario_.expectations;
    auto expectation = read_expectation(line, names_, clock_);
    if (!expectation) return;
    const ScenarioWord* const started = line.find("started");
    if (auto* const running = std::get_if<ExpectRunning>(&*expectation); running != nullptr && started != nullptr) {
      running->started_on_any_day = started->value.find('T') == std::string::npos;
    }
    add(line, std::move(*expectation));
  }

  void read_lint_line(ScenarioLine& line) {
    close_drafts();
    ++scenario_.expectations;
    if (auto expectation = read_lint(line, names_)) add(line, std::move(*expectation));
  }

  static const std::array<Keyword, 24> kKeywords;

  const std::string& file_;
  Complaints complaints_;
  std::vector<ScenarioLine> lines_;
  bool declares_flavors_ = false;
  bool declares_queues_ = false;
  bool begun_ = false;
  Scenario scenario_;
  ScenarioClock clock_;
  ScenarioNames names_;
  std::vector<std::int64_t> gpu_memory_mib_;  // by flavor
  std::vector<Queue> queues_;                 // as they are where the reading stands
  std::vector<Draft> drafts_;
  std::int64_t pods_ = 0;
  std::size_t windows_ = 0;
  std::vector<std::int64_t> dated_windows_;  // by line
};

const std::array<ScenarioParser::Keyword, 24> ScenarioParser::kKeywords = {{
    {"seed", &ScenarioParser::read_seed},       {"policy", &ScenarioParser::read_policy},
    {"flavor", &ScenarioParser::read_flavor},   {"nodes", &ScenarioParser::read_nodes},
    {"add", &ScenarioParser::read_add},         {"queue", &ScenarioParser::read_queue},
    {"window", &ScenarioParser::read_window},   {"grant", &ScenarioParser::read_grant},
    {"at", &ScenarioParser::read_at},           {"submit", &ScenarioParser::read_submit},
    {"group", &ScenarioParser::read_group},     {"end", &ScenarioParser::read_end},
    {"cancel", &ScenarioParser::read_cancel},   {"fail", &ScenarioParser::read_fail},
    {"drain", &ScenarioParser::read_drain},     {"restore", &ScenarioParser::read_restore},
    {"set", &ScenarioParser::read_set},         {"hold", &ScenarioParser::read_hold},
    {"release", &ScenarioParser::read_release}, {"checkpoint", &ScenarioParser::read_checkpoint},
    {"cycle", &ScenarioParser::read_cycle},     {"settle", &ScenarioParser::read_settle},
    {"expect", &ScenarioParser::read_expect},   {"lint", &ScenarioParser::read_lint_line},
}};

void ScenarioParser::read(ScenarioLine& line) {
  const ScenarioWord& word = *line.take_any("a statement");
  const std::string& name = word.is_pair() ? word.key : word.value;
  std::vector<std::string_view> known;
  for (const Keyword& keyword : kKeywords) {
    known.push_back(keyword.name);
    if (keyword.name != name || word.is_pair()) continue;
    (this->*keyword.read)(line);
    begun_ = begun_ || (name != "seed" && name != "policy");
    return;
  }
  const LaterWord* const later = find_later_word("", name);
  line.complain(word, later != nullptr ? quote(name) + " is not supported yet (" + std::string(later->what) +
                                             "); this version knows " + listed_words(known)
                                       : quote(name) + " is no statement" + line.instead(name, known));
}

}  // namespace

Result<Scenario> parse_scenario(const std::string& file_name, std::string_view text) {
  return ScenarioParser(file_name).parse(text);
}

}  // namespace berth
