#include "fairness/order.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <vector>

#include "base/property_seeds.h"
#include "state/random_world.h"

namespace berth::order_test {

PodRequest gpus(std::int32_t count, FlavorSet flavors = FlavorSet::all()) {
  return {.gpus = count, .gpu_milli = 1000, .flavors = flavors};
}

const FlavorSet kFirst = FlavorSet::of(FlavorId(0));
const FlavorSet kSecond = FlavorSet::of(FlavorId(1));

enum class Outcome { kStarts, kRefused, kNever };

// Who is tried, in order, if shapes fare as given (those not named start).
std::vector<std::size_t> tried(const State& state, const std::map<std::size_t, Outcome>& by_shape) {
  std::vector<std::size_t> order;
  CandidateOrder candidates(state, Time{});
  while (const auto next = candidates.next()) {
    order.push_back(next->index());
    const auto outcome = by_shape.find(state.workload(*next).shape.index());
    if (outcome == by_shape.end() || outcome->second == Outcome::kStarts) {
      candidates.started();
    } else if (outcome->second == Outcome::kRefused) {
      candidates.refused(ReasonCode::kNone);
    } else {
      candidates.passed_over();
    }
  }
  return order;
}

struct Job {
  PodRequest request;
  std::int64_t run_s;
  std::size_t queue = 0;
};

State with_jobs(std::initializer_list<Order> orders, const std::vector<Job>& jobs) {
  State state = new_state(Seed{1}, PlacementPolicy::kBestFit, 2, orders);
  for (const Job& job : jobs) {
    const Duration run = job.run_s < 0 ? kRunNotDeclared : seconds(job.run_s);
    state.apply(submission(QueueId(job.queue), single_pod(job.request), run));
  }
  return state;
}

using Tried = std::vector<std::size_t>;

TEST(CandidateOrder, OfOneLine) {
  // Shapes are numbered as they come: 8 GPUs, 1 GPU, 2 GPUs.
  const std::vector<Job> jobs = {{gpus(8), 50}, {gpus(1), 10}, {gpus(8), 20}, {gpus(2), 10}, {gpus(1), -1}};
  struct Case {
    const char* what;
    Order order;
    std::map<std::size_t, Outcome> outcomes;
    Tried tried;
  };
  const Case cases[] = {
      {"strict: all start as they came", Order::kFifo, {}, {0, 1, 2, 3, 4}},
      {"strict: nobody passes a blocked head", Order::kFifo, {{0, Outcome::kRefused}}, {0}},
      {"strict: one blocked later", Order::kFifo, {{2, Outcome::kRefused}}, {0, 1, 2, 3}},
      {"strict: the impossible stands in nobody's way", Order::kFifo, {{0, Outcome::kNever}}, {0, 1, 3, 4}},
      {"skip: identical ones are tried once", Order::kFifoSkip, {{0, Outcome::kRefused}}, {0, 1, 3, 4}},
      {"skip: nobody fits",
       Order::kFifoSkip,
       {{0, Outcome::kRefused}, {1, Outcome::kRefused}, {2, Outcome::kRefused}},
       {0, 1, 3}},
      {"shortest first, then fewer GPUs; undeclared last", Order::kSjf, {}, {1, 3, 2, 0, 4}},
      {"shortest first, whoever fits", Order::kSjf, {{1, Outcome::kRefused}}, {1, 3, 2, 0}},
  };
  for (const Case& c : cases) EXPECT_EQ(tried(with_jobs({c.order}, jobs), c.outcomes), c.tried) << c.what;
}

TEST(CandidateOrder, AStrictLineHoldsBackOnlyWhoCouldUseTheSameFlavors) {
  struct Case {
    const char* what;
    std::vector<Job> jobs;
    Tried tried;  // shape 0 is refused
  };
  const Case cases[] = {
      {"another flavor goes on", {{gpus(4, kFirst), 0}, {gpus(1, kSecond), 0}, {gpus(1, kFirst), 0}}, {0, 1}},
      {"either flavor waits", {{gpus(4, kFirst), 0}, {gpus(1, FlavorSet::all()), 0}, {gpus(1, kSecond), 0}}, {0, 2}},
      {"no GPU at all waits too", {{gpus(4, kFirst), 0}, {{}, 0}, {gpus(1, kSecond), 0}}, {0, 2}},
      {"behind any flavor all wait", {{gpus(4), 0}, {gpus(1, kFirst), 0}, {gpus(1, kSecond), 0}}, {0}},
  };
  for (const Case& c : cases) {
    EXPECT_EQ(tried(with_jobs({Order::kFifo}, c.jobs), {{0, Outcome::kRefused}}), c.tried) << c.what;
  }
}

// Who was refused before, and now stands behind another, still lets nobody pass: tried again or not, it is the same.
TEST(CandidateOrder, InAStrictLineWhoDidNotFitHoldsOthersFromBehindToo) {
  for (const bool tried_again : {false, true}) {
    State state = with_jobs({Order::kFifo}, {{gpus(4), 0}, {gpus(1, kSecond), 0}});
    WorkloadSubmitted urgent = submission(QueueId(0), single_pod(gpus(8, kFirst)));
    urgent.shape.terms.priority = 1;
    state.apply(urgent);
    const Blocked blocked{.line = QueueId(0),
                          .shape = state.workload(WorkloadId(0)).shape,
                          .missing = 1,
                          .gate = tried_again ? ReasonCode::kQuotaLimit : ReasonCode::kNone,
                          .by_quota = tried_again};
    state.adopt({.now = Time{0}, .revision = state.revision(), .blocked = {blocked}});
    const std::size_t urgent_shape = state.workload(WorkloadId(2)).shape.index();
    EXPECT_EQ(tried(state, {{urgent_shape, Outcome::kRefused}}), Tried{2}) << tried_again;
  }
}

TEST(CandidateOrder, LinesStandSideBySide) {
  const std::vector<Job> jobs = {{gpus(8), 9, 0}, {gpus(1), 9, 1}, {gpus(1), 9, 0}, {gpus(1), 2, 2}, {gpus(1), 9, 1}};
  const std::initializer_list<Order> orders = {Order::kFifo, Order::kFifoSkip, Order::kSjf};
  EXPECT_EQ(tried(with_jobs(orders, jobs), {}), (Tried{0, 1, 2, 3, 4})) << "among lines, who was submitted first";
  EXPECT_EQ(tried(with_jobs(orders, jobs), {{0, Outcome::kRefused}}), (Tried{0, 1, 3, 4}))
      << "a line that is held up holds up no other";
}

// A queue with two children, and one beside it; 16 GPUs.
TEST(CandidateOrder, InATreeOfFloors) {
  constexpr std::size_t kInner = 0, kChild = 1, kSibling = 2, kBeside = 3;
  const auto floor_of = [](std::int64_t amount) {
    return Quota{.guarantee = {{Dim(FlavorId(0), Resource::kGpu), amount * kMilliPerGpu}}};
  };
  struct InQueue {
    std::size_t queue;
    std::int32_t gpus;
  };
  struct Case {
    const char* what;
    std::vector<Quota> quotas;
    std::vector<InQueue> runs;
    std::vector<InQueue> waits;
    std::size_t first;  // of those that wait
  };
  const Case cases[] = {
      {"inside a child's floor is inside those above, also where a pool fills them",
       {floor_of(8), floor_of(4), {}, {}},
       {{kSibling, 8}},
       {{kBeside, 1}, {kChild, 4}},
       1},
      {"what waits at an inner queue itself is outside, though it would fit that one's floor",
       {floor_of(8), floor_of(4), {}, {}},
       {{kChild, 2}},
       {{kInner, 1}, {kChild, 2}},
       1},
      {"and has the share of what it holds itself", {{}, {}, {}, {}}, {{kChild, 4}}, {{kChild, 1}, {kInner, 2}}, 1},
      {"a queue outside its floor has the share of all below it",
       {{}, {}, {}, {}},
       {{kChild, 3}, {kSibling, 3}, {kBeside, 4}},
       {{kChild, 1}, {kBeside, 1}},
       1},
      {"what is inside goes first, however much of the floor is used",
       {{}, {}, {}, floor_of(4)},
       {{kBeside, 3}},
       {{kChild, 1}, {kBeside, 1}},
       1},
      {"of two inside, who uses less of his floor",
       {floor_of(4), {}, {}, floor_of(8)},
       {{kInner, 2}, {kBeside, 3}},
       {{kInner, 1}, {kBeside, 1}},
       1},
  };
  for (const Case& c : cases) {
    State state = new_state(Seed{1}, PlacementPolicy::kBestFit, 1, {});
    const QueueId parents[] = {QueueId(), QueueId(kInner), QueueId(kInner), QueueId()};
    for (std::size_t i = 0; i < std::size(parents); ++i) {
      state.apply(QueueAdded{{.name = "queue", .parent = parents[i], .order = Order::kFifo, .quota = c.quotas[i]}});
    }
    state.apply(NodesAdded{{{.name = "node", .flavor = FlavorId(0), .gpus = 16}}});
    int first_free = 0;
    for (const InQueue& each : c.runs) {
      GpuSet held;
      for (int i = 0; i < each.gpus; ++i) held.add(first_free++);
      state.apply(
          WorkloadFound{submission(QueueId(each.queue), single_pod(gpus(each.gpus))), {{NodeId(0), held}}, Time{}});
    }
    for (const InQueue& each : c.waits) state.apply(submission(QueueId(each.queue), single_pod(gpus(each.gpus))));
    EXPECT_EQ(tried(state, {}).at(0), c.runs.size() + c.first) << c.what;
  }
}

TEST(CandidateOrder, WhoIsKnownToBeBlockedIsNotTriedAndHoldsHisLineAllTheSame) {
  for (const Order order : {Order::kFifo, Order::kFifoSkip}) {
    State state = with_jobs({order}, {{gpus(4, kFirst), 0}, {gpus(1, kFirst), 0}, {gpus(1, kSecond), 0}});
    Plan plan;
    plan.revision = state.revision();
    plan.blocked.push_back({QueueId(0), ShapeId(0), 2});
    state.adopt(plan);
    EXPECT_EQ(tried(state, {}), order == Order::kFifo ? (Tried{2}) : (Tried{1, 2}));
  }
}

TEST(CandidateOrder, WhoWaitsForRoomHoldsAStrictLineAlsoWhereAQuotaIsAskedAgain) {
  State state = new_state(Seed{1}, PlacementPolicy::kBestFit, 1, {});
  Quota quota = taking_nothing();
  quota.limit = {{Dim(FlavorId(0), Resource::kGpu), kMilliPerGpu}};
  state.apply(QueueAdded{{.name = "queue", .parent = {}, .order = Order::kFifo, .quota = std::move(quota)}});
  for (const std::int64_t cpu_milli : {0, 1, 2}) {
    PodRequest request = gpus(cpu_milli == 1 ? 2 : 1);
    request.cpu_milli = cpu_milli;
    state.apply(submission(QueueId(0), single_pod(request)));
  }
  Plan plan;
  plan.revision = state.revision();
  plan.blocked.push_back({QueueId(0), ShapeId(0), 1});
  plan.blocked.push_back({QueueId(0), ShapeId(1), 1, ReasonCode::kQuotaLimit, true});
  state.adopt(plan);
  EXPECT_EQ(tried(state, {}), Tried{});
}

// The rules, said as slowly as they can be: everybody is looked at again after each try.
class Plainly {
 public:
  Plainly(const State& state, const std::map<std::size_t, Outcome>& outcomes) : state_(state), outcomes_(outcomes) {
    state.workloads().for_each([&](WorkloadId id, const Workload& workload) {
      if (workload.phase == Phase::kPending) waiting_.push_back(id);
    });
  }

  std::vector<std::size_t> run() {
    std::vector<std::size_t> order;
    while (const auto next = first()) {
      order.push_back(next->index());
      std::erase(waiting_, *next);
      const ShapeId shape = state_.workload(*next).shape;
      const auto outcome = outcomes_.find(shape.index());
      if (outcome == outcomes_.end() || outcome->second == Outcome::kStarts) continue;
      (outcome->second == Outcome::kRefused ? refused_ : never_).insert({line(*next), shape});
      if (outcome->second == Outcome::kRefused) held_.push_back(*next);
    }
    return order;
  }

 private:
  using Where = std::pair<QueueId, ShapeId>;

  QueueId line(WorkloadId id) const { return state_.line_of(state_.workload(id).queue); }
  Order order(WorkloadId id) const { return *state_.queues()[line(id).index()].order; }
  // How many GPUs run in the line in the name of its user, where users take turns.
  std::int64_t held_by_user(WorkloadId id) const {
    if (state_.queues()[line(id).index()].quota.users != UserOrder::kFair) return 0;
    std::int64_t gpu_milli = 0;
    state_.workloads().for_each([&](WorkloadId other, const Workload& workload) {
      const bool counts = has_room(workload.phase) && workload.user == state_.workload(id).user;
      if (counts && line(other) == line(id)) gpu_milli += state_.shape(workload.shape).gpu_milli;
    });
    return gpu_milli;
  }
  std::tuple<std::int64_t, std::int64_t, std::int64_t, std::int64_t, WorkloadId> key(WorkloadId id) const {
    const std::int64_t held = held_by_user(id);
    if (order(id) != Order::kSjf) return {held, 0, 0, 0, id};
    const Workload& workload = state_.workload(id);
    const std::int64_t run = workload.declared_run == kRunNotDeclared ? INT64_MAX : workload.declared_run.ms;
    return {held, run, state_.shape(workload.shape).gpu_milli, workload.rank, id};
  }
  FlavorSet flavors(WorkloadId id) const { return state_.shape(state_.workload(id).shape).flavors; }
  bool known_blocked(WorkloadId id) const {
    return state_.lines()[line(id).index()]->find(state_.workload(id).shape)->blocked();
  }
  bool known_impossible(WorkloadId id) const {
    return state_.lines()[line(id).index()]->find(state_.workload(id).shape)->impossible();
  }

  bool may_be_tried(WorkloadId id) const {
    const Where where{line(id), state_.workload(id).shape};
    if (known_blocked(id) || refused_.contains(where) || never_.contains(where)) return false;
    if (order(id) != Order::kFifo) return true;
    // In a strict line: nobody before it that did not fit and could use the same.
    const auto in_the_way = [&](WorkloadId other) {
      return line(other) == line(id) && key(other) < key(id) && flavors(other).meets(flavors(id));
    };
    if (std::any_of(held_.begin(), held_.end(), in_the_way)) return false;
    return std::none_of(waiting_.begin(), waiting_.end(), [&](WorkloadId other) {
      return in_the_way(other) && known_blocked(other) && !known_impossible(other);
    });
  }

  // Every line's first, and of these who came first.
  std::optional<WorkloadId> first() const {
    std::map<QueueId, WorkloadId> firsts;
    for (const WorkloadId id : waiting_) {
      if (!may_be_tried(id)) continue;
      const auto [known, is_new] = firsts.emplace(line(id), id);
      if (!is_new && key(id) < key(known->second)) known->second = id;
    }
    std::optional<WorkloadId> first;
    for (const auto& [queue, id] : firsts) {
      if (!first || id < *first) first = id;
    }
    return first;
  }

  const State& state_;
  const std::map<std::size_t, Outcome>& outcomes_;
  std::vector<WorkloadId> waiting_;
  std::set<Where> refused_;
  std::set<Where> never_;
  std::vector<WorkloadId> held_;
};

const char* any_user(Rng& rng) { return one_of(rng, {"ann", "bob", "eve"}); }

// Of half of the clusters the first queue is fair to its users, who hold some of 8 GPUs there. Whether it is.
bool make_fair(State& state, Rng& rng) {
  if (rng.below(2) == 0) return false;
  Queue fair = state.queues()[0];
  fair.quota = taking_nothing();
  fair.quota.users = UserOrder::kFair;
  state.apply(QueueChanged{QueueId(0), fair});
  state.apply(NodesAdded{{{.name = "n", .flavor = FlavorId(0), .gpus = 8}}});
  for (std::int64_t gpu = rng.between(0, 8); gpu-- > 0;) {
    WorkloadSubmitted job = submission(QueueId(2 * rng.below(2)), single_pod(gpus(1)));
    job.user = any_user(rng);
    GpuSet device;
    device.add(static_cast<int>(gpu));
    state.apply(WorkloadFound{job, {{NodeId(0), device}}, Time{}});
  }
  return true;
}

TEST(CandidateOrderProperty, IsWhatThePlainRulesSay) {
  for (const Seed seed : property_seeds(1500)) {
    SCOPED_TRACE(name_of(seed));
    Rng rng(seed);
    const auto any_order = [&] { return static_cast<Order>(rng.below(3)); };
    State state = new_state(seed, PlacementPolicy::kBestFit, 2, {any_order(), any_order()});
    state.apply(QueueAdded{{"child", QueueId(0), {}}});
    const bool fair = make_fair(state, rng);
    for (std::int64_t jobs = rng.between(0, 9); jobs > 0; --jobs) {
      const FlavorSet flavors = FlavorSet::from_bits(1 + rng.below(3));
      const PodRequest request =
          rng.below(5) == 0 ? PodRequest{.cpu_milli = rng.between(0, 1)} : gpus(one_of(rng, {1, 2}), flavors);
      const Duration run = rng.below(4) == 0 ? kRunNotDeclared : Duration{rng.between(1, 3)};
      // Shares, which the plain rules do not know, decide between lines as soon as there are GPUs: then there is one line.
      const std::size_t queue = fair ? 2 * rng.below(2) : rng.below(3);
      WorkloadSubmitted job = submission(QueueId(queue), single_pod(request), run);
      job.rank = rng.between(0, 3);
      job.user = any_user(rng);
      state.apply(job);
    }
    Plan plan;
    plan.revision = state.revision();
    for (std::size_t line = 0; line < 2; ++line) {
      for (const ShapeInLine& shape : state.lines()[line]->shapes()) {
        const std::int64_t missing = one_of<std::int64_t>(rng, {0, 0, 0, 2, kMissingForever});
        if (missing > 0) plan.blocked.push_back({QueueId(line), shape.shape, missing});
      }
    }
    state.adopt(plan);
    std::map<std::size_t, Outcome> outcomes;
    for (std::size_t shape = 0; shape < 12; ++shape) outcomes[shape] = static_cast<Outcome>(rng.below(3));
    ASSERT_EQ(tried(state, outcomes), Plainly(state, outcomes).run());
  }
}

}  // namespace berth::order_test
