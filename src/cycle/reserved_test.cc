#include "cycle/reserved.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "base/property_seeds.h"
#include "cycle/explain.h"
#include "cycle/run_cycle.h"
#include "state/invariants.h"
#include "state/random_world.h"

namespace berth::reserved_test {

constexpr std::uint64_t kSeeds = kFewSeeds ? 100 : 3'000;

// Nodes of one flavor, queues with floors and without, work with limits and without, and what is promised to some of them.
class Reserving {
 public:
  explicit Reserving(Seed seed) : rng_(seed) {
    State& state = engine_.state;
    state = new_state(seed, PlacementPolicy::kBestFit, 1, {});
    for (std::int64_t i = 0, queues = rng_.between(2, 4); i < queues; ++i) {
      Queue queue{.name = "queue" + std::to_string(i),
                  .parent = i > 0 && rng_.below(3) == 0 ? QueueId(static_cast<std::size_t>(i - 1)) : QueueId(),
                  .order = one_of(rng_, {Order::kFifo, Order::kFifoSkip})};
      if (rng_.below(2) == 0) queue.quota.guarantee = {{Dim(FlavorId(0), Resource::kGpu), rng_.between(1, 8) * 1000}};
      if (!queue.quota.guarantee.empty() && rng_.below(4) == 0) queue.quota.cells = {{FlavorId(0), "node", 1}};
      if (rng_.below(4) == 0) queue.quota.min_runtime = Duration{rng_.between(1, 5) * 1000};
      state.apply(QueueAdded{queue});
    }
    std::vector<Node> nodes;
    for (std::int64_t left = rng_.between(1, 4); left > 0; --left) {
      nodes.push_back(
          {.name = std::to_string(left), .flavor = FlavorId(0), .gpus = one_of(rng_, {2, 4, 8}), .cpu_milli = 64'000});
    }
    state.apply(NodesAdded{nodes});
    state.apply(TimePassed{now_});
  }

  void go_on() {
    for (std::int64_t left = rng_.between(0, 3); left > 0; --left) submit();
    if (rng_.below(3) == 0) reserve();
    if (rng_.below(12) == 0) lose_or_restore();
    settle();
    pass(rng_.below(3) == 0 ? now_ + Duration{rng_.between(0, 4) * 1000} : next());
  }

  // Nobody comes any more, and everybody ends. Whoever is protected may be told as long before as five minutes.
  void finish() {
    for (std::size_t i = 0; i < state().nodes(); ++i) engine_.state.apply(NodeRestored{NodeId(i)});
    while (!state().reservations().empty()) {
      settle();
      pass(next());
    }
    for (int i = 0; i < 3000 && (state().pending() > 0 || state().running() > 0); ++i) {
      settle();
      std::vector<WorkloadId> running;
      state().workloads().for_each([&](WorkloadId id, const Workload& workload) {
        if (workload.phase == Phase::kRunning) running.push_back(id);
      });
      for (const WorkloadId id : running) engine_.state.apply(WorkloadEnded{id});
      pass(now_ + Duration{1000});
    }
    state().workloads().for_each([&](WorkloadId id, const Workload& workload) {
      if (workload.phase != Phase::kPending) return;
      const bool never = state().lines()[state().line_of(workload.queue).index()]->find(workload.shape)->impossible();
      // Parts of GPUs that would leave too few whole ones for others' floors wait for ever.
      const ReasonCode reason = reason_of(state(), id);
      EXPECT_TRUE(never || reason == ReasonCode::kKeepsFloorDeliverable || reason == ReasonCode::kBehind)
          << "workload " << id.index() << " never starts: " << name_of(reason);
      EXPECT_NE(reason, ReasonCode::kReserved) << "workload " << id.index();
    });
  }

  const State& state() const { return engine_.state; }
  std::int64_t begun() const { return begun_; }
  std::int64_t whole() const { return whole_; }
  std::int64_t evicted() const { return evicted_; }
  std::int64_t kept_away() const { return kept_away_; }

 private:
  void submit() {
    PodRequest request{.gpus = one_of(rng_, {1, 1, 2, 4}), .gpu_milli = kMilliPerGpu};
    if (request.gpus == 1 && rng_.below(4) == 0) request.gpu_milli = 500;
    request.flavors = FlavorSet::of(FlavorId(0));
    WorkloadShape shape{.ways = {{{request, rng_.between(1, 2)}}}};
    if (rng_.below(3) != 0) shape.terms.run_limit = Duration{rng_.between(1, 15) * 1000};
    if (rng_.below(3) == 0) shape.terms.grace = Duration{rng_.between(1, 3) * 1000};
    if (rng_.below(6) == 0) shape.terms.best_effort = true;
    if (rng_.below(6) == 0) shape.terms.disruption_permille = 1000;
    if (rng_.below(6) == 0) shape.terms.movable = true;
    WorkloadSubmitted job = submission(some_queue(), shape);
    job.at = now_;
    engine_.state.apply(job);
  }

  QueueId some_queue() { return QueueId(static_cast<std::size_t>(rng_.below(state().queues().size()))); }

  void reserve() {
    Reservation made{.name = "r" + std::to_string(state().next_reservation().index()),
                     .queue = {},
                     .flavor = {},
                     .nodes = {},
                     .from = now_ + Duration{rng_.between(0, 12) * 1000},
                     .lasts = Duration{rng_.between(1, 10) * 1000}};
    if (rng_.below(4) == 0) {
      made.nodes = {NodeId(static_cast<std::size_t>(rng_.below(state().nodes())))};
    } else {
      made.queue = some_queue();
      made.flavor = FlavorId(0);
      made.gpus = rng_.between(1, 8);
    }
    for (Time end = made.to(); rng_.below(3) == 0;) {
      const Time from = end + Duration{rng_.between(0, 6) * 1000};
      end = from + Duration{rng_.between(1, 10) * 1000};
      made.later.push_back({from, end});
    }
    if (!state().refusal(ReservationAdded{made})) engine_.state.apply(ReservationAdded{made});
    if (!state().reservations().empty() && rng_.below(8) == 0)
      engine_.state.apply(ReservationRemoved{state().reservations().begin()->first});
  }

  void lose_or_restore() {
    const NodeId node(static_cast<std::size_t>(rng_.below(state().nodes())));
    engine_.state.apply(rng_.below(2) == 0 ? Event(NodeFailed{node}) : Event(NodeRestored{node}));
  }

  // Runs end at their limits, graces when they are over.
  Time next() const {
    Time next = std::min(state().next_wake(), now_ + Duration{5000});
    state().workloads().for_each([&](WorkloadId, const Workload& workload) {
      if (workload.phase == Phase::kRunning)
        next = std::min(next, enforced_end(state().shape(workload.shape).terms, workload.started));
      if (workload.phase == Phase::kStopping || workload.phase == Phase::kMigrating)
        next = std::min(next, workload.stop_by);
    });
    return std::max(next, now_ + Duration{1});
  }

  void pass(Time until) {
    now_ = until;
    engine_.state.apply(TimePassed{now_});
    std::vector<std::pair<WorkloadId, bool>> over;
    state().workloads().for_each([&](WorkloadId id, const Workload& workload) {
      const bool stops = workload.phase == Phase::kStopping || workload.phase == Phase::kMigrating;
      const bool ends = workload.phase == Phase::kRunning &&
                        enforced_end(state().shape(workload.shape).terms, workload.started) <= now_;
      if (ends || (stops && workload.stop_by <= now_)) over.emplace_back(id, stops);
    });
    for (const auto& [id, stops] : over) {
      engine_.state.apply(stops ? Event(WorkloadStopped{id}) : Event(WorkloadEnded{id}));
    }
    EXPECT_EQ(violations(state()), std::vector<std::string>());
  }

  void settle() {
    for (int i = 0;; ++i) {
      ASSERT_LT(i, 60) << "it does not come to rest";
      const std::uint64_t stand = std::exchange(engine_.shadows_stand_at, 0);
      const QuietLines quiet = std::exchange(engine_.quiet, {});
      const Plan anew = run_cycle(engine_, now_, Effort::unbounded());
      engine_.shadows_stand_at = stand;
      engine_.quiet = quiet;
      const Plan plan = run_cycle(engine_, now_, Effort::unbounded());
      EXPECT_EQ(plan, anew) << "what the engine remembers decides something";
      if (plan.changes_nothing()) break;
      for (const Eviction& each : plan.evictions) evicted_ += each.reservation.is_none() ? 0 : 1;
      for (const Blocked& each : plan.blocked) kept_away_ += each.gate == ReasonCode::kReserved ? 1 : 0;
      engine_.state.adopt(plan);
      EXPECT_EQ(violations(state()), std::vector<std::string>());
      check();
    }
  }

  void check() {
    std::map<Device, std::vector<WorkloadId>> there;
    state().workloads().for_each([&](WorkloadId id, const Workload& workload) {
      if (!has_room(workload.phase)) return;
      for_each_pod(state(), id,
                   [&](const Pod& pod) { pod.gpus.for_each([&](int gpu) { there[{pod.node, gpu}].push_back(id); }); });
    });
    for (const HeldPlaces& holding : state().holdings()) {
      const Reservation& reservation = state().reservations().at(holding.reservation);
      EXPECT_LE(holding.count(), reservation.gpus);
      if (!reservation.has_begun(now_)) continue;
      ++begun_;
      whole_ += holding.count() == reservation.gpus ? 1 : 0;
      check_begun(holding, reservation, there);
    }
  }

  void check_begun(const HeldPlaces& holding, const Reservation& reservation,
                   const std::map<Device, std::vector<WorkloadId>>& there) {
    for (const NodeId node : reservation.nodes) {
      for (const auto& [device, ids] : there) {
        if (device.node == node) ADD_FAILURE() << "workload " << ids.front().index() << " is on a node that is closed";
      }
    }
    std::set<Device> held;
    for (const GpusOfNode& each : holding.gpus) {
      each.gpus.for_each([&](int gpu) { held.insert({each.node, gpu}); });
    }
    for (const Device& device : held) {
      const auto found = there.find(device);
      if (found == there.end()) continue;
      for (const WorkloadId id : found->second) {
        EXPECT_TRUE(state().is_below(state().workload(id).queue, reservation.queue))
            << "workload " << id.index() << " is where " << reservation.name << " is";
      }
    }
    for (const HeldPlaces& other : state().holdings()) {
      const Reservation& its = state().reservations().at(other.reservation);
      if (other.reservation == holding.reservation || !its.meets(reservation)) continue;
      for (const GpusOfNode& each : other.gpus) {
        each.gpus.for_each([&](int gpu) {
          EXPECT_FALSE(held.contains({each.node, gpu})) << its.name << " and " << reservation.name << " share a GPU";
        });
      }
    }
  }

  Rng rng_;
  Engine engine_;
  Time now_{1000};
  std::int64_t begun_ = 0;
  std::int64_t whole_ = 0;
  std::int64_t evicted_ = 0;
  std::int64_t kept_away_ = 0;
};

TEST(Reserved, NobodyElseIsThereWhileItLastsAndNobodyStarvesBehindIt) {
  std::int64_t begun = 0;
  std::int64_t whole = 0;
  std::int64_t evicted = 0;
  std::int64_t kept_away = 0;
  for (const Seed seed : property_seeds(kSeeds)) {
    SCOPED_TRACE(name_of(seed));
    Reserving world(seed);
    for (int i = 0; i < 15; ++i) world.go_on();
    world.finish();
    begun += world.begun();
    whole += world.whole();
    evicted += world.evicted();
    kept_away += world.kept_away();
    if (testing::Test::HasFailure()) return;
  }
  EXPECT_GT(begun, 0);
  EXPECT_GT(whole, begun / 2);
  EXPECT_GT(evicted, 0);
  EXPECT_GT(kept_away, 0);
}

// How much is in the way of a set of devices; none: somebody who may not be taken.
using Cost = std::tuple<std::int64_t, Claim, std::int64_t, std::int64_t>;  // lacking, the strongest, lost, how many

class Choosing {
 public:
  explicit Choosing(Seed seed) : rng_(seed) {
    state_ = new_state(seed, PlacementPolicy::kRandom, 1, {});
    for (int i = 0; i < 3; ++i) {
      Queue queue{.name = "queue" + std::to_string(i), .parent = {}, .order = Order::kFifoSkip};
      queue.quota.guarantee = {{Dim(FlavorId(0), Resource::kGpu), rng_.between(0, 5) * 1000}};
      state_.apply(QueueAdded{queue});
    }
    std::vector<Node> nodes;
    for (std::int64_t left = rng_.between(1, 3); left > 0; --left) {
      nodes.push_back({.name = std::to_string(left), .flavor = FlavorId(0), .gpus = one_of(rng_, {2, 3, 4})});
    }
    state_.apply(NodesAdded{nodes});
    Engine engine{.state = std::move(state_)};
    for (std::int64_t left = rng_.between(2, 7); left > 0; --left) {
      PodRequest request{.gpus = one_of(rng_, {1, 1, 2, 3}), .gpu_milli = kMilliPerGpu};
      if (request.gpus == 1 && rng_.below(3) == 0) request.gpu_milli = 500;
      request.flavors = FlavorSet::of(FlavorId(0));
      WorkloadShape shape{.ways = {{{request, rng_.between(1, 2)}}}};
      if (rng_.below(3) == 0) shape.terms.run_limit = Duration{rng_.between(1, 200) * 1000};
      shape.terms.best_effort = rng_.below(5) == 0;
      const Time at{(10 - left) * 1000};
      const std::int64_t steps = rng_.below(3) == 0 ? rng_.between(1, 2) : 0;
      shape.terms.resizes_live = steps > 0 && rng_.below(2) == 0;
      WorkloadSubmitted job = submission(QueueId(static_cast<std::size_t>(rng_.below(3))), shape);
      engine.state.apply(job);
      job.step_of = WorkloadId(engine.state.workloads().next_id().index() - 1);
      job.shape.ways.front().front().count = 1;
      for (std::int64_t step = 0; step < steps; ++step) engine.state.apply(job);
      const Plan plan = run_cycle(engine, at, Effort::unbounded());
      if (!plan.changes_nothing()) engine.state.adopt(plan);
    }
    state_ = std::move(engine.state);
    now_ = Time{20'000};
    state_.apply(TimePassed{now_});
    std::int64_t gpus = 0;
    for (std::size_t i = 0; i < state_.nodes(); ++i) gpus += state_.node(NodeId(i)).gpus;
    state_.apply(ReservationAdded{{.name = "r",
                                   .queue = QueueId(0),
                                   .flavor = FlavorId(0),
                                   .gpus = rng_.between(1, gpus),
                                   .nodes = {},
                                   .from = Time{100'000},
                                   .lasts = Duration{10'000}}});
  }

  void check() {
    Plan plan{.now = now_, .revision = state_.revision()};
    Trial trial(state_.ledger_for_trial(), state_.quotas_for_trial());
    const WhoStays who(state_, plan);
    const Reservation& reservation = state_.reservations().begin()->second;
    const auto chosen = choose_places(state_, trial, who, state_.reservations().begin()->first, {}, now_);
    std::vector<Device> devices;
    for (std::size_t i = 0; i < state_.nodes(); ++i) {
      for (int gpu = 0; gpu < state_.node(NodeId(i)).gpus; ++gpu) devices.push_back({NodeId(i), gpu});
    }
    std::vector<Device> found;
    for (const GpusOfNode& each : chosen) {
      each.gpus.for_each([&](int gpu) { found.push_back({each.node, gpu}); });
    }
    const RightsOfReservation rights(state_, trial, reservation, reservation.from, now_);
    if (may_be_taken(rights) > 12) return;  // not all sets of them are compared
    const auto cost = cost_of(state_, found, reservation, who, rights);
    ASSERT_TRUE(cost.has_value()) << "somebody who may stay is in its way";
    some_go_ = std::get<3>(*cost) > 0;
    some_elastic_ = some_go_ && !state_.elastic().empty();
    for (std::uint32_t bits = 0; bits < (std::uint32_t{1} << devices.size()); ++bits) {
      std::vector<Device> others;
      for (std::size_t i = 0; i < devices.size(); ++i) {
        if (((bits >> i) & 1) != 0) others.push_back(devices[i]);
      }
      if (static_cast<std::int64_t>(others.size()) > reservation.gpus) continue;
      const auto other = cost_of(state_, others, reservation, who, rights);
      EXPECT_FALSE(other && *other < *cost) << "another set has less in its way";
    }
  }
  bool some_go() const { return some_go_; }
  bool some_elastic() const { return some_elastic_; }

 private:
  std::int64_t may_be_taken(const RightsOfReservation& rights) const {
    std::int64_t many = 0;
    state_.workloads().for_each([&](WorkloadId id, const Workload&) { many += rights.of(id) ? 1 : 0; });
    return many;
  }

  static std::optional<Cost> cost_of(const State& state, const std::vector<Device>& devices,
                                     const Reservation& reservation, const WhoStays& who,
                                     const RightsOfReservation& rights) {
    std::int64_t new_ones = 0;
    std::map<WorkloadId, RightsOfReservation::Takeable> gone;
    for (const Device& device : devices) {
      bool own = false;
      bool others = false;
      const auto there = who.by_device().find(device);
      for (const Stay& each : there == who.by_device().end() ? std::vector<Stay>() : there->second) {
        if (each.end <= reservation.from) continue;
        const bool is_own = berth::is_own(state, reservation, each.workload);
        own = own || is_own;
        if (is_own) continue;
        others = true;
        auto takeable = rights.of(each.workload);
        // A step does not run without its minimum.
        if (!takeable) takeable = rights.of(state.minimum_of(each.workload));
        if (!takeable) return std::nullopt;
        gone.emplace(takeable->workload, *takeable);
      }
      new_ones += own && !others ? 0 : 1;
    }
    std::erase_if(gone, [&, before = gone](const auto& each) {
      const WorkloadId minimum = state.minimum_of(each.first);
      return minimum != each.first && before.contains(minimum);
    });
    Claim strongest{.coverage = -2, .priority = 0, .share = {}};
    std::map<WorkloadId, std::int64_t> lost_of;  // all that run beside each other restart once
    std::int64_t stopped = 0;
    for (const auto& [id, each] : gone) {
      strongest = std::max(strongest, each.claim);
      std::int64_t& most = lost_of[state.minimum_of(id)];
      most = std::max(most, each.lost_gpu_s);
      stopped += 1 + std::ranges::count_if(state.steps_of(id), [&](WorkloadId step) {
                   return state.workload(step).phase == Phase::kRunning;
                 });
      if (!each.own_side.is_none() && new_ones > rights.gpus_inside(each.own_side)) return std::nullopt;
    }
    std::int64_t lost = 0;
    for (const auto& [minimum, most] : lost_of) lost += most;
    return Cost{reservation.gpus - static_cast<std::int64_t>(devices.size()), strongest, lost, stopped};
  }

  Rng rng_;
  State state_;
  Time now_;
  bool some_go_ = false;
  bool some_elastic_ = false;
};

TEST(Reserved, NoOtherPlacesHaveLessInTheWay) {
  std::int64_t some_go = 0;
  std::int64_t some_elastic = 0;
  for (const Seed seed : property_seeds(kFewSeeds ? 50 : 1'000)) {
    SCOPED_TRACE(name_of(seed));
    Choosing world(seed);
    world.check();
    some_go += world.some_go() ? 1 : 0;
    some_elastic += world.some_elastic() ? 1 : 0;
    if (testing::Test::HasFailure()) return;
  }
  EXPECT_GT(some_go, 0);
  EXPECT_GT(some_elastic, 0);
}

// Each of the two would be better off where the other has just been, whatever the other has.
TEST(Reserved, TwoThatCouldHaveEachOthersPlacesComeToRest) {
  Engine engine{.state = new_state(Seed(1), PlacementPolicy::kBestFit, 1, {})};
  engine.state.apply(QueueAdded{{.name = "queue", .parent = {}, .order = Order::kFifo}});
  std::vector<Node> nodes;
  for (const int gpus : {3, 4, 8}) {
    nodes.push_back({.name = std::to_string(nodes.size()), .flavor = FlavorId(0), .gpus = gpus, .cpu_milli = 64'000});
  }
  engine.state.apply(NodesAdded{nodes});
  const auto node_of = [&](int gpus) {
    NodeId node(0);
    while (engine.state.node(node).gpus != gpus) node = NodeId(node.index() + 1);
    return node;
  };
  std::vector<HeldPlaces> first;
  const auto reserve = [&](std::int64_t gpus, std::vector<GpusOfNode> has) {
    std::ranges::sort(has, {}, &GpusOfNode::node);
    Reservation made;
    made.name = std::to_string(gpus);
    made.queue = QueueId(0);
    made.flavor = FlavorId(0);
    made.gpus = gpus;
    made.from = Time{100'000};
    made.lasts = seconds(100);
    engine.state.apply(ReservationAdded{made});
    first.push_back({engine.state.reservations().rbegin()->first, std::move(has), kForever});
  };
  reserve(5, {{node_of(8), GpuSet::from_bits(0b1111'1000)}});
  reserve(6, {{node_of(4), GpuSet::from_bits(0b1111)}, {node_of(8), GpuSet::from_bits(0b11)}});
  Plan plan{.now = Time{1000}, .revision = engine.state.revision()};
  plan.holdings = first;
  engine.state.adopt(plan);

  EXPECT_TRUE(run_cycle(engine, Time{1000}, Effort::unbounded()).changes_nothing());
  EXPECT_EQ(engine.state.holdings(), first);
}

TEST(Reservation, MeetsWhatItLastsDuring) {
  constexpr std::int64_t kHour = 3'600'000;
  const auto at = [](std::int64_t hours) { return Time{hours * kHour}; };
  const auto one = [&](std::int64_t from, std::int64_t to, bool daily) {
    Reservation made;
    made.from = at(from);
    made.lasts = at(to) - at(from);
    if (daily) made.every = kReservationDay;
    return made;
  };
  struct Case {
    const char* what;
    bool daily;
    std::int64_t start, end;
    bool meets;
  };
  const Case cases[] = {
      {"before it", false, 0, 9, false},
      {"into it", false, 0, 10, true},
      {"inside", false, 10, 11, true},
      {"from its end on", false, 13, 20, false},
      {"the next day", false, 33, 34, false},
      {"the next day of a daily one", true, 33, 34, true},
      {"between two days", true, 13, 33, false},
      {"over a later one", true, 60, 82, true},
      {"until just before it", true, 85, 105, false},
  };
  for (const Case& each : cases) {
    EXPECT_EQ(one(9, 13, each.daily).meets(at(each.start), at(each.end)), each.meets) << each.what;
  }
  Reservation weekday = one(9, 13, false);
  weekday.later = {{at(33), at(37)}, {at(81), at(85)}};
  struct OnDays {
    const char* what;
    std::int64_t start, end;
    bool meets;
  };
  const OnDays on_days[] = {
      {"the next time", 36, 38, true},        {"between two times", 37, 81, false}, {"into the last one", 50, 82, true},
      {"after the last one", 85, 900, false}, {"into the first", 0, 10, true},
  };
  for (const OnDays& each : on_days) {
    EXPECT_EQ(weekday.meets(at(each.start), at(each.end)), each.meets) << each.what;
    EXPECT_EQ(weekday.meets(one(each.start, each.end, false)), each.meets) << each.what;
    EXPECT_EQ(one(each.start, each.end, false).meets(weekday), each.meets) << each.what;
  }
  EXPECT_FALSE(weekday.meets(one(13, 20, true))) << "one behind the other, every day";
  EXPECT_TRUE(one(12, 20, true).meets(weekday));
  Reservation other = one(13, 33, false);
  other.later = {{at(60), at(81)}};
  EXPECT_FALSE(weekday.meets(other) || other.meets(weekday));
  other.later.push_back({at(84), at(86)});
  EXPECT_TRUE(weekday.meets(other) && other.meets(weekday));
  EXPECT_TRUE(one(9, 13, true).meets(at(13), kForever)) << "for ever meets every day";
  EXPECT_FALSE(one(9, 13, true).meets(one(13, 20, true))) << "one behind the other, every day";
  EXPECT_TRUE(one(9, 13, true).meets(one(36, 40, true))) << "another that begins a day later, inside";
  EXPECT_FALSE(one(9, 13, true).meets(one(37, 42, false)));
  EXPECT_TRUE(one(37, 58, false).meets(one(9, 13, true))) << "once, into the third day";
}

TEST(Reservation, PassesFromOneTimeToTheNext) {
  const auto times_of = [](Reservation made, std::vector<std::int64_t> moments) {
    std::string text;
    for (const std::int64_t at : moments) {
      const bool stays = made.pass(Time{at});
      const auto next = made.time_after(Time{at});
      text += (stays ? std::to_string(made.from.ms) + "-" + std::to_string(made.to().ms) : "over") + "/" +
              (next ? std::to_string(next->from.ms) + "-" + std::to_string(next->to.ms) : "none") + " ";
    }
    return text;
  };
  Reservation made{.name = "r", .queue = {}, .flavor = {}, .nodes = {}, .from = Time{10}, .lasts = Duration{5}};
  EXPECT_EQ(times_of(made, {5, 10, 14, 15}), "10-15/10-15 10-15/none 10-15/none over/none ");
  made.later = {{Time{20}, Time{30}}, {Time{30}, Time{32}}};
  EXPECT_EQ(times_of(made, {14, 15, 29, 30, 32}), "10-15/20-30 20-30/20-30 20-30/30-32 30-32/none over/none ");
  EXPECT_EQ(times_of(made, {31}), "30-32/none ") << "one that it slept through";
  made.later = {};
  made.every = Duration{100};
  EXPECT_EQ(times_of(made, {15, 315}), "110-115/110-115 410-415/410-415 ");
}

}  // namespace berth::reserved_test
