#include "cycle/changes.h"

#include <algorithm>
#include <optional>
#include <set>
#include <utility>

#include "cycle/asked_again.h"
#include "cycle/engine.h"
#include "cycle/in_the_way.h"
#include "cycle/more_nodes.h"
#include "cycle/raising.h"
#include "cycle/run_cycle.h"
#include "model/quantity.h"

namespace berth {
namespace {

// When it begins, if others leave when they are to: not before the cycle. None: it is given no room, or the events are refused.
struct Beginning {
  bool waits = false;  // others have to leave first
  Time at;
};
std::optional<Beginning> beginning_after(const State& state, WorkloadId id, Time now,
                                         const std::vector<Event>& events) {
  Engine fork{state.fork()};
  if (fork.state.keeps_time() && now > fork.state.clock()) fork.state.apply(TimePassed{now});
  for (const Event& event : events) {
    if (fork.state.refusal(event)) return std::nullopt;
    if (std::holds_alternative<WorkloadSubmitted>(event)) id = fork.state.workloads().next_id();
    fork.state.apply(event);
  }
  const Plan plan = run_cycle(fork, now, Effort::unbounded());
  const auto found = std::ranges::find(plan.starts, id, &Start::workload);
  if (found == plan.starts.end()) return std::nullopt;
  Beginning beginning{found->waits, now};
  for (const Eviction& each : plan.evictions) {
    if (each.claimant == id) beginning.at = std::max(beginning.at, each.stop_by);
  }
  return beginning;
}

// Whoever tries it sees it wait a while yet.
void tell_of_graces(const State& state, WorkloadId id, Time now, SmallestChange& change) {
  const auto beginning = beginning_after(state, id, now, change.events);
  if (!beginning || !beginning->waits) return;
  change.graces = beginning->at > now ? " (others have " + format_duration_ms((beginning->at - now).ms) + " to leave)"
                                      : std::string(" (once others have left)");
  change.text += change.graces;
}

// The sorts of change that are tried, each from the smallest on.
class Search {
 public:
  Search(const State& state, WorkloadId id, Time now, std::int64_t tries_max, const EnoughOf& enough)
      : state_(state),
        id_(id),
        now_(now),
        tries_max_(tries_max),
        enough_(enough),
        workload_(state.workload(id)),
        shape_(state.shape(workload_.shape)),
        asked_(asked_again(state, id, now)) {}

  ChangesFound run() {
    // Whoever lost his room takes nothing back for a while (rules 14 and 21). That he would, if he came anew, is no advice.
    if (!waits_for_no_room() && !starts_after(state_, id_, now_, instead(asked_.shape))) change_the_work();
    higher_priorities();
    higher_bounds();
    ends_of_others();
    more_nodes();
    std::ranges::sort(found_.broken_off);
    return std::move(found_);
  }

 private:
  // Submitted anew it would wait for the same again, whatever it asks.
  bool waits_for_no_room() const {
    const bool awaits_others = workload_.follows || workload_.awaits_turn;
    const bool awaits_queue = workload_.shut_out || !state_.held_at(workload_.queue).is_none();
    const bool is_early = workload_.too_early && !workload_.backs_off() && workload_.not_before > now_;
    return awaits_others || awaits_queue || is_early;
  }

  void change_the_work() {
    fewer_pods();
    fewer_gpus();
    other_flavors();
    looser_topologies();
    to_borrow();
    shorter_limits();
  }

  // Tries candidate(0), candidate(1) and so on, which are of growing size, until one starts it.
  template <class Candidate>
  void first_that_starts(std::int64_t count, Candidate candidate) {
    for (std::int64_t i = 0; i < std::min(count, tries_max_); ++i) {
      SmallestChange change = candidate(i);
      if (is_enough_of(change.kind)) return;
      if (!starts_after(state_, id_, now_, change.events)) continue;
      found_.changes.push_back(std::move(change));
      return;
    }
  }

  bool is_enough_of(ChangeKind kind) {
    if (std::ranges::find(found_.broken_off, kind) != found_.broken_off.end()) return true;
    if (!enough_ || !enough_(kind)) return false;
    found_.broken_off.push_back(kind);
    return true;
  }

  std::vector<Event> instead(WorkloadShape shape) const {
    WorkloadSubmitted anew = asked_;
    anew.shape = std::move(shape);
    return {WorkloadCancelled{id_}, std::move(anew)};
  }
  // The same of all ways.
  template <class Of>
  std::vector<Event> with_sets(Of change) const {
    WorkloadShape shape = asked_.shape;
    for (PodSets& way : shape.ways) change(way);
    return instead(std::move(shape));
  }

  std::string of_set(std::size_t set) const {
    return shape_.ways.front().size() == 1 ? "" : " in its pod set " + std::to_string(set + 1);
  }
  bool is_parallel(std::size_t set) const { return shape_.ways.front()[set].parallel.is_declared(); }

  void fewer_pods() {
    for (std::size_t set = 0; set < shape_.ways.front().size(); ++set) {
      const std::int64_t pods = shape_.ways.front()[set].count;
      if (is_parallel(set)) continue;  // so many GPUs share its model
      first_that_starts(pods - 1, [&](std::int64_t i) {
        const std::int64_t left = pods - 1 - i;
        return SmallestChange{
            .kind = ChangeKind::kPods,
            .size = i + 1,
            .subject = set,
            .events = with_sets([&](PodSets& way) { way[set].count = left; }),
            .text = "with " + std::to_string(left) + " of its " + std::to_string(pods) + " pods" + of_set(set)};
      });
    }
  }

  void fewer_gpus() {
    for (std::size_t set = 0; set < shape_.ways.front().size(); ++set) {
      const std::int32_t gpus = state_.request(shape_.ways.front()[set].request).gpus;
      if (is_parallel(set)) continue;
      first_that_starts(gpus - 1, [&](std::int64_t i) {
        const auto left = static_cast<std::int32_t>(gpus - 1 - i);
        return SmallestChange{
            .kind = ChangeKind::kGpus,
            .size = i + 1,
            .subject = set,
            .events = with_sets([&](PodSets& way) { way[set].request.gpus = left; }),
            .text = "with " + std::to_string(left) + " of its " + std::to_string(gpus) + " GPUs a pod" + of_set(set)};
      });
    }
  }

  // Slices have another shape on another model, and vGPUs another size.
  void other_flavors() {
    const auto goes_by_model = [&](const NumberedPodSet& set) {
      const PodRequest& request = state_.request(set.request);
      return request.is_slice() || request.is_vgpu();
    };
    if (shape_.gpu_milli == 0 || std::ranges::any_of(shape_.ways.front(), goes_by_model)) return;
    for (std::size_t flavor = 0; flavor < state_.flavors().size(); ++flavor) {
      const FlavorId id(flavor);
      const auto may_use = [&](const auto& way) {
        return std::ranges::any_of(way, [&](const NumberedPodSet& set) {
          const PodRequest& request = state_.request(set.request);
          return request.gpus > 0 && request.flavors.contains(id);
        });
      };
      if (std::ranges::any_of(shape_.ways, may_use)) continue;
      WorkloadShape shape = asked_.shape;
      shape.ways.resize(1);
      for (PodSet& set : shape.ways.front()) {
        if (set.request.gpus > 0) set.request.flavors = FlavorSet::of(id);
      }
      const SmallestChange change{.kind = ChangeKind::kFlavor,
                                  .size = 1,
                                  .subject = flavor,
                                  .events = instead(std::move(shape)),
                                  .text = "on " + state_.flavors()[flavor].name};
      first_that_starts(1, [&](std::int64_t) { return change; });
    }
  }

  // Those whose domains are whole ones of this level put together, the smaller first.
  std::vector<std::string> wider_levels(const std::string& level) const {
    std::vector<Node> nodes;
    std::set<std::string> labels;
    for (std::size_t i = 0; i < state_.nodes(); ++i) {
      nodes.push_back(state_.node(NodeId(i)));
      for (const Label& label : nodes.back().labels) labels.insert(label.key);
    }
    const Domains own(level, nodes);
    std::vector<std::pair<std::size_t, std::string>> wider;
    for (const std::string& label : labels) {
      const Domains domains(label, nodes);
      if (domains.size() < own.size() && holds_whole_ones(own, domains)) wider.emplace_back(domains.size(), label);
    }
    std::ranges::stable_sort(wider, std::greater(), [](const auto& each) { return each.first; });
    std::vector<std::string> levels;
    for (auto& each : wider) levels.push_back(std::move(each.second));
    return levels;
  }

  static bool holds_whole_ones(const Domains& inner, const Domains& outer) {
    for (std::size_t domain = 0; domain < inner.size(); ++domain) {
      const auto nodes = inner.nodes(DomainId(domain));
      const DomainId around = outer.of(nodes.front());
      if (around.is_none()) return false;
      if (std::ranges::any_of(nodes, [&](NodeId node) { return outer.of(node) != around; })) return false;
    }
    return true;
  }

  void looser_topologies() {
    const auto& sets = asked_.shape.ways.front();
    for (std::size_t set = 0; set < sets.size(); ++set) {
      const Topology& asked = sets[set].topology;
      if (asked.together == Togetherness::kRequired) loosen(set, asked.level);
      if (asked.has_slices() || asked.is_spread()) {
        const SmallestChange change{
            .kind = ChangeKind::kSpread,
            .size = 1,
            .subject = set,
            .events = with_sets([&](PodSets& way) {
              Topology& topology = way[set].topology;
              Topology looser{.together = topology.together, .level = topology.level};
              if (topology.is_spread()) {
                looser.slice_pods = topology.slice_pods;
                looser.slice_level = topology.slice_level;
              }
              topology = std::move(looser);
            }),
            .text = (asked.is_spread() ? "without its spread" : "without its slices") + of_set(set)};
        first_that_starts(1, [&](std::int64_t) { return change; });
      }
    }
  }

  void loosen(std::size_t set, const std::string& level) {
    const std::vector<std::string> levels = wider_levels(level);
    first_that_starts(std::ssize(levels) + 1, [&](std::int64_t i) {
      const bool required = i < std::ssize(levels);
      const std::string& wider = required ? levels[static_cast<std::size_t>(i)] : level;
      return SmallestChange{.kind = ChangeKind::kTopology,
                            .size = i + 1,
                            .subject = set,
                            .events = with_sets([&](PodSets& way) {
                              way[set].topology.together =
                                  required ? Togetherness::kRequired : Togetherness::kPreferred;
                              way[set].topology.level = wider;
                            }),
                            .text = "with topology " + std::string(required ? "required:" : "preferred:") + wider +
                                    " in place of required:" + level + of_set(set)};
    });
  }

  void to_borrow() {
    if (!asked_.shape.terms.guaranteed_only) return;
    WorkloadShape shape = asked_.shape;
    shape.terms.guaranteed_only = false;
    const SmallestChange change{.kind = ChangeKind::kBorrow,
                                .size = 1,
                                .events = instead(std::move(shape)),
                                .text = "if it did not insist on a floor"};
    first_that_starts(1, [&](std::int64_t) { return change; });
  }

  bool is_at_or_below(QueueId queue, QueueId above) const {
    while (!queue.is_none() && queue != above) queue = state_.queues()[queue.index()].parent;
    return !queue.is_none();
  }

  // What the budgets on its way have left: for it alone, and beside those to whom room is promised.
  std::vector<Wide> budgets_left() const {
    std::vector<Wide> amounts;
    for (QueueId queue = workload_.queue; !queue.is_none(); queue = state_.queues()[queue.index()].parent) {
      if (!state_.queues()[queue.index()].quota.budget_gpu_us || shape_.gpu_milli == 0) continue;
      const Wide whole = state_.budget_of(queue).left_gpu_us;
      amounts.push_back(whole);
      Wide left = whole;
      for (const Shadow& shadow : state_.shadows()) {
        const Workload& promised = state_.workload(shadow.start.workload);
        const Shape& shape = state_.shape(promised.shape);
        if (!shape.terms.run_limit || !is_at_or_below(promised.queue, queue)) continue;
        const Wide its = Wide{shape.gpu_milli} * shape.terms.run_limit->ms;
        amounts.push_back(whole - its);
        amounts.push_back(left -= its);
      }
    }
    return amounts;
  }

  State at_now() const {
    State fork = state_.fork();
    if (fork.keeps_time() && now_ > fork.clock()) fork.apply(TimePassed{now_});
    return fork;
  }

  // It is let ahead where it ends before others start, before something is reserved or closed, before its queue's floor falls, and where
  // a budget has enough for it.
  std::vector<Duration> limits_that_matter() const {
    std::set<Duration> limits;
    const auto until = [&](Time then) {
      if (then > now_ && then != kForever) limits.insert(then - now_);
    };
    for (const Shadow& shadow : state_.shadows()) until(shadow.at);
    const State then = at_now();
    for (const InTheWay& each : all_in_the_way(then, id_)) until(each.by);
    until(state_.next_turn());
    for (const Window& window : state_.windows()) {
      for (const Interval& open : window.open) {
        until(open.from);
        until(open.to);
      }
    }
    for (const Wide left : budgets_left()) {
      if (left > 0) limits.insert(Duration{static_cast<std::int64_t>(left / shape_.gpu_milli)});
    }
    const std::optional<Duration> own = asked_.shape.terms.run_limit;
    std::erase_if(limits, [&](Duration each) { return each <= Duration{0} || (own && each >= *own); });
    return {limits.rbegin(), limits.rend()};
  }

  void shorter_limits() {
    const std::vector<Duration> limits = limits_that_matter();
    const Duration own = asked_.shape.terms.run_limit.value_or(kTimeMax - Time{});
    first_that_starts(std::ssize(limits), [&](std::int64_t i) {
      const Duration limit = limits[static_cast<std::size_t>(i)];
      WorkloadShape shape = asked_.shape;
      shape.terms.run_limit = limit;
      return SmallestChange{.kind = ChangeKind::kRunLimit,
                            .size = (own - limit).ms,
                            .events = instead(std::move(shape)),
                            .text = "with a run limit of " + format_duration_ms(limit.ms)};
    });
  }

  // What is between those of others makes no difference.
  void higher_priorities() {
    const std::int32_t own = shape_.terms.priority;
    std::set<std::int32_t> priorities;
    state_.workloads().for_each([&](WorkloadId, const Workload& other) {
      if (other.phase == Phase::kEnded || other.phase == Phase::kCancelled) return;
      const std::int32_t theirs = state_.shape(other.shape).terms.priority;
      if (theirs > own) priorities.insert(theirs);
      if (theirs >= own && theirs < kPriorityMax) priorities.insert(theirs + 1);
    });
    const std::vector<std::int32_t> ascending(priorities.begin(), priorities.end());
    first_that_starts(std::ssize(ascending), [&](std::int64_t i) {
      const std::int32_t priority = ascending[static_cast<std::size_t>(i)];
      return SmallestChange{
          .kind = ChangeKind::kPriority,
          .size = std::int64_t{priority} - own,
          .events = {WorkloadPrioritized{id_, priority}},
          .text = "with priority " + std::to_string(priority) + " in place of " + std::to_string(own)};
    });
  }

  void higher_bounds() {
    for (std::size_t way = 0; way < shape_.ways.size(); ++way) {
      const auto enough = [this] { return is_enough_of(ChangeKind::kBounds); };
      if (enough()) return;
      auto change = smallest_raise(state_, id_, now_, way, {tries_max_, enough});
      if (!change) continue;
      found_.changes.push_back(*std::move(change));
      return;
    }
  }

  // Of those who hold as much whoever came first is tried first.
  void ends_of_others() {
    std::vector<std::pair<std::int64_t, WorkloadId>> others;
    state_.workloads().for_each([&](WorkloadId id, const Workload& other) {
      if (other.phase == Phase::kRunning && other.step_of.is_none()) others.emplace_back(other.gpu_milli, id);
    });
    std::ranges::sort(others);
    first_that_starts(std::ssize(others), [&](std::int64_t i) {
      const auto& [gpu_milli, other] = others[static_cast<std::size_t>(i)];
      return SmallestChange{.kind = ChangeKind::kEnd,
                            .size = gpu_milli,
                            .events = {WorkloadEnded{other}},
                            .text = "if one that holds " + decimal_of_milli(gpu_milli) +
                                    (gpu_milli == 1000 ? " GPU" : " GPUs") + " ended",
                            .other = other};
    });
  }

  // Each is like one that there is, in the same domains; not two in one domain that asks one to itself.
  void more_nodes() {
    constexpr std::int64_t kNodesMax = 64;
    for (const NodesOfType& each : nodes_to_add_like(state_, shape_)) {
      const std::int64_t likes = std::ssize(each.like);
      first_that_starts(kNodesMax * likes, [&](std::int64_t i) {
        const std::int64_t more = i / likes + 1;
        const Node& like = state_.node(each.like[static_cast<std::size_t>(i % likes)]);
        NodesAdded added;
        for (std::int64_t n = 1; n <= more; ++n) {
          added.nodes.push_back(like);
          added.nodes.back().name = like.name + "+" + std::to_string(n);
        }
        return SmallestChange{
            .kind = ChangeKind::kNodes,
            .size = more,
            .subject = each.type,
            .events = {std::move(added)},
            .text = "with " + std::to_string(more) + (more == 1 ? " more node" : " more nodes") + " like " + like.name};
      });
    }
  }

  const State& state_;
  const WorkloadId id_;
  const Time now_;
  const std::int64_t tries_max_;
  const EnoughOf& enough_;
  const Workload& workload_;
  const Shape& shape_;
  const WorkloadSubmitted asked_;
  ChangesFound found_;
};

}  // namespace

bool starts_after(const State& state, WorkloadId id, Time now, const std::vector<Event>& events) {
  return beginning_after(state, id, now, events).has_value();
}

std::vector<SmallestChange> smallest_changes(const State& state, WorkloadId id, Time now, std::int64_t tries_max) {
  return find_changes(state, id, now, tries_max, nullptr).changes;
}

ChangesFound find_changes(const State& state, WorkloadId id, Time now, std::int64_t tries_max, const EnoughOf& enough) {
  const Workload* const workload = state.workloads().find(id);
  if (workload == nullptr || workload->phase != Phase::kPending || !workload->step_of.is_none()) return {};
  if (starts_after(state, id, now, {})) return {};
  ChangesFound found = Search(state, id, now, tries_max, enough).run();
  for (SmallestChange& change : found.changes) tell_of_graces(state, id, now, change);
  return found;
}

}  // namespace berth
