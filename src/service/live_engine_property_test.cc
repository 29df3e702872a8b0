// Whatever the world does to a LiveEngine: no device is given twice, and no GPU time is forgotten. Work of Jobs is made anew
// when it was told to stop, or is lost, now and then late or never; some of it consents to being moved.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/property_seeds.h"
#include "base/rng.h"
#include "base/wide.h"
#include "manifest/json.h"
#include "manifest/window_times.h"
#include "service/live_engine.h"
#include "service/live_facts.h"
#include "service/requests.h"
#include "state/invariants.h"

namespace berth::live_engine_property_test {

constexpr std::int64_t kGpuSecond = 1'000'000;  // in GPU-microseconds

// A world that obeys or refuses at random, forgets, restarts the scheduler, and loses nodes.
class RandomWorld {
 public:
  explicit RandomWorld(std::uint64_t seed)
      : policy_(seed % 2 == 0 ? PlacementPolicy::kBestFit : PlacementPolicy::kFgdBalanced),
        rng_(Seed{seed}),
        in_pieces_(rng_.below(4) == 0) {
    for (const char* const name : {"a", "b", "a-below"}) {
      if (rng_.below(4) == 0 || in_pieces_) continue;
      QueueSpec spec{.parent = std::string(name) == "a-below" ? "a" : "", .order = Order::kFifoSkip};
      spec.policies.reclaim_within = seconds(5);
      if (rng_.below(3) > 0) spec.guarantee = {{"h100", Resource::kGpu, rng_.between(1, 12) * 1000}};
      govern(spec);
      queues_.push_back({.name = name, .spec = spec});
    }
    for (int i = 0; i < 4; ++i) add_node(i);
    engine_ = new_engine();
  }

  void step() {
    pass(Duration{rng_.between(1, 3000)});
    if (rng_.below(12) == 0) stop_or_let_go();
    leave();
    make_anew();
    switch (rng_.below(8)) {
      case 0:
      case 1:
        return create();
      case 2:
        return finish_one();
      case 3:
        return rng_.below(4) == 0 ? toggle_node() : create();
      case 4:
        return rng_.below(6) == 0 ? restart() : decide();
      default:
        return decide();
    }
  }

  // No device is given twice, and what the engine holds is what the pods say.
  void check() {
    std::map<std::string, std::uint64_t> held;
    std::size_t running = 0, held_in_engine = 0;
    for (const auto& [uid, pod] : pods_) {
      if (pod.stage != PodStage::kBound) continue;
      ++running;
      const std::uint64_t takes = pod.slice.empty() ? pod.given->gpus.bits() : places_of(pod);
      ASSERT_EQ(held[pod.node] & takes, 0u) << pod.name << " on " << pod.node;
      held[pod.node] |= takes;
    }
    const State& state = engine_->state();
    state.workloads().for_each([&](WorkloadId id, const Workload& workload) {
      if (is_there(workload.phase)) for_each_pod(state, id, [&](const Pod&) { ++held_in_engine; });
    });
    ASSERT_EQ(held_in_engine + engine_->pods_without_room().size(), running + engine_->pods_not_there());
    ASSERT_EQ(violations(engine_->state()), std::vector<std::string>());
    check_budgets();
    check_counts();
  }

  // Pods that were bound where they had been moved to, and beside others of a gang that had lost some.
  std::int64_t moved() const { return moved_; }
  std::int64_t repaired() const { return repaired_; }

 private:
  // The memory of its slice, of two devices with eight memory slices each.
  static std::uint64_t places_of(const PodFacts& pod) {
    const GpuHardware& hardware = *hardware_of({.name = {}, .model = "H100"});
    const std::size_t shape = *find_mig_profile(hardware, pod.given->profile);
    const std::size_t place = *hardware.mig->find_place(shape, pod.given->slice_start);
    return std::uint64_t{hardware.mig->memory_of(place)} << (pod.given->gpus.contains(1) ? 8 : 0);
  }

  // A budget is often used up, a window opens after a minute, and who is limited is one of two.
  void govern(QueueSpec& spec) {
    if (rng_.below(4) == 0) spec.user_limit = {{"h100", Resource::kGpu, rng_.between(2, 8) * 1000}};
    if (rng_.below(4) == 0) spec.policies.users = UserOrder::kFair;
    if (rng_.below(4) == 0) spec.policies.half_life = kHalfLifeMin;
    if (rng_.below(3) == 0) {
      spec.policies.budget_gpu_us = rng_.between(0, 300) * kGpuSecond;
      spec.policies.budget_end = rng_.below(2) == 0 ? BudgetEnd::kStop : BudgetEnd::kBestEffort;
      if (rng_.below(2) == 0) spec.grants = {{rng_.between(1, 60) * kGpuSecond, Time{rng_.between(1, 90) * 1000}}};
    }
    if (rng_.below(3) == 0) {
      WindowSpec window{.from = "00:01", .to = "00:02"};
      window.times = *WindowTimes::read("daily", "00:01-00:02", "UTC");
      window.limit = {{"h100", Resource::kGpu, rng_.between(0, 8) * 1000}};
      spec.windows = {window};
    }
  }
  void stop_or_let_go() {
    if (queues_.empty()) return;
    QueueFacts& queue = queues_[rng_.below(queues_.size())];
    queue.spec.stop = static_cast<QueueStop>(rng_.below(3));
    engine_->set_queue(queue);
  }

  // Who holds GPUs pays for them, to the budget of its queue and of the one above.
  void pass(Duration time) {
    now_ = now_ + time;
    engine_->it_is(now_);
    for (const auto& [uid, pod] : pods_) {
      if (pod.stage != PodStage::kBound || pod.terms.best_effort) continue;
      used_gpu_us_[pod.queue] += gpu_milli_of(pod) * time.ms;
      if (pod.queue == "a-below") used_gpu_us_["a"] += gpu_milli_of(pod) * time.ms;
    }
    // A gang pays for the places that are kept for those that it has lost.
    const State& state = engine_->state();
    state.workloads().for_each([&](WorkloadId id, const Workload& workload) {
      if (!is_there(workload.phase) || workload.best_effort) return;
      Wide gpu_milli = workload.gpu_milli;
      for_each_pod(state, id, [&](const Pod& pod) {
        const auto is_it = [&](const auto& each) {
          return each.second.stage == PodStage::kBound && each.second.node == state.node(pod.node).name &&
                 each.second.given->gpus.bits() == pod.gpus.bits();
        };
        if (!pod.comes && std::ranges::any_of(pods_, is_it)) gpu_milli -= state.request(pod.request).gpu_milli_total();
      });
      for (QueueId at = workload.queue; !at.is_none(); at = state.queues()[at.index()].parent) {
        kept_gpu_us_[state.queues()[at.index()].name] += gpu_milli * time.ms;
      }
    });
  }
  static Wide gpu_milli_of(const PodFacts& pod) {
    if (pod.slice.empty()) return pod.request.gpu_milli_total();
    return find_slice({.name = {}, .model = "H100"}, pod.slice)->gpu_milli;
  }
  // Counted bit by bit, they are what there is.
  void check_counts() {
    std::map<std::string, std::pair<std::int64_t, std::int64_t>> counts;  // by queue: who waits, who runs
    std::map<std::string, std::pair<bool, bool>> groups;
    std::map<std::string, std::string> queues;
    for (const auto& [uid, pod] : pods_) {
      const std::string key = pod.group.empty() ? uid : pod.group;
      queues[key] = pod.queue;
      groups[key].first = groups[key].first || pod.stage == PodStage::kWaiting;
      groups[key].second = groups[key].second || pod.stage == PodStage::kBound;
    }
    for (const auto& [key, group] : groups) {
      counts[queues[key]].first += group.first && !group.second ? 1 : 0;
      counts[queues[key]].second += group.second ? 1 : 0;
    }
    const std::map<std::string, Holding>& holdings = engine_->holdings_by_queue();
    const auto holding_of = [&](const std::string& queue) {
      return holdings.contains(queue) ? holdings.at(queue) : Holding();
    };
    for (const auto& [queue, each] : counts) {
      ASSERT_EQ(holding_of(queue).waiting, each.first) << queue;
      ASSERT_EQ(holding_of(queue).running, each.second) << queue;
    }
    const State& state = engine_->state();
    for (std::size_t i = 0; i < state.queues().size(); ++i) {
      const Dim gpu(FlavorId(0), Resource::kGpu);
      std::int64_t held = 0;
      for (const char* const of : {"a", "a-below", "b", "default"}) {
        const bool here =
            state.queues()[i].name == of || (state.queues()[i].name == "a" && of == std::string("a-below"));
        const Holding holding = holding_of(of);
        if (here && !holding.reserved.empty()) held += holding.reserved[gpu.index()];
      }
      ASSERT_EQ(state.quotas().used(QueueId(i))[gpu.index()], held) << state.queues()[i].name;
    }
  }
  // Statuses are rounded up to a thousandth of a GPU-hour, for each of a budget and its grant.
  void check_budgets() {
    const State& state = engine_->state();
    for (std::size_t i = 0; i < state.queues().size(); ++i) {
      if (!state.quotas().budgets().has_budget(QueueId(i))) continue;
      const Wide excess = state.budget_of(QueueId(i)).used_gpu_us - used_gpu_us_[state.queues()[i].name];
      ASSERT_GE(excess, 0) << state.queues()[i].name;
      ASSERT_LE(excess, Wide{restarts_} * 2 * 3'600'000 + kept_gpu_us_[state.queues()[i].name])
          << state.queues()[i].name;
    }
  }
  // The next one reads what this one wrote.
  void write_statuses() {
    const auto standings = engine_->queue_standings();
    for (QueueFacts& queue : queues_) {
      const auto patch = parse_json(queue_status_call(queue.name, standings.at(queue.name)).body);
      queue.record = read_queue(Value::map_of({{"status", patch->items()[0]["value"]}})).record;
    }
  }

  std::unique_ptr<LiveEngine> new_engine() {
    auto engine = std::make_unique<LiveEngine>(Seed{7}, policy_);
    for (const QueueFacts& queue : queues_) engine->set_queue(queue);
    for (const auto& [name, facts] : nodes_) engine->set_node(facts);
    return engine;
  }
  void add_node(int i) {
    const std::string name = "n" + std::to_string(i);
    const NodeFacts facts = i == 3 ? cut(node(name, 2)) : node(name, i % 2 == 0 && !in_pieces_ ? 4 : 8);
    nodes_[facts.name] = facts;
  }
  // Whoever was told to stop goes when he likes, at the latest when he must.
  void leave() {
    for (auto at = stop_by_.begin(); at != stop_by_.end();) {
      const auto pod = pods_.find(at->first);
      const bool gone = pod == pods_.end() || pod->second.stage != PodStage::kBound;
      if (!gone && at->second > now_ && rng_.below(3) > 0) {
        ++at;
        continue;
      }
      if (!gone) {
        if (!pod->second.owner.uid.empty() && rng_.below(8) > 0) to_make_anew_.push_back(pod->second);
        engine_->remove_pod(at->first);
        pods_.erase(pod);
      }
      at = stop_by_.erase(at);
    }
  }
  // By what controls it, as soon as it has gone or later.
  void make_anew() {
    if (rng_.below(2) == 0) return;
    for (PodFacts& facts : std::exchange(to_make_anew_, {})) {
      facts.name += "x";
      facts.uid = "uid-" + facts.name;
      facts.stage = PodStage::kWaiting;
      facts.node.clear();
      facts.given.reset();
      facts.bound_at.reset();
      facts.leaving_until.reset();
      facts.ended_at.reset();
      facts.created = now_;
      pods_[facts.uid] = facts;
      engine_->set_pod(facts);
    }
  }
  void toggle_node() {
    const std::string name = "n" + std::to_string(rng_.below(4));
    NodeFacts& facts = nodes_[name];
    facts.open = !facts.open;
    engine_->set_node(facts);
  }
  void create() {
    const std::int64_t size = rng_.below(3) == 0 ? rng_.between(2, 4) : 1;
    const std::string name = "j" + std::to_string(created_++);
    const auto gpus = static_cast<std::int32_t>(in_pieces_ && rng_.below(4) == 0 ? 8 : rng_.between(0, 4));
    for (std::int64_t i = 0; i < size; ++i) {
      PodFacts facts = pod(name + "-" + std::to_string(i), gpus, now_.ms);
      if (gpus == 1 && created_ % 2 == 0) facts.slice = created_ % 3 == 0 ? "3g.40gb" : "1g.10gb";
      if (!queues_.empty()) facts.queue = queues_[static_cast<std::size_t>(created_) % queues_.size()].name;
      facts.terms.priority = created_ % 3;
      facts.user = created_ % 2 == 0 ? "ann" : "bob";
      if (created_ % 4 > 0 && !in_pieces_) facts.terms.run_limit = seconds(created_ % 20 + 1);
      if (size > 1) facts = in_gang(facts, name, size);
      if (created_ % 5 > 0) {
        facts.owner = {"batch/v1", "Job", name, "uid-of-" + name};
        facts.maker_uid = facts.owner.uid;
      }
      facts.terms.movable = created_ % 5 > 1;
      facts.terms.grace = seconds(created_ % 3);
      facts.time = time_said();
      facts.repair = seconds(created_ % 3 == 0 ? 2 : 20);
      pods_[facts.uid] = facts;
      engine_->set_pod(facts);
    }
  }
  // Some wait for a moment, for their turn, in their hours, or no longer than they say.
  TimeRequest time_said() const {
    TimeRequest time;
    if (created_ % 11 == 0) time.not_before = now_ + seconds(20);
    if (created_ % 11 < 3) time.singleton = "nightly";
    if (created_ % 11 == 4) time.hours = WrittenHours{"00:00-00:01", *WindowTimes::read("daily", "00:00-00:01", "UTC")};
    if (created_ % 11 == 5) time.max_wait = MaxWait{seconds(10), AfterWait::kBestEffort};
    if (created_ % 11 == 6) time.max_wait = MaxWait{seconds(10), AfterWait::kRaise, 5};
    if (created_ % 11 == 7) time.max_wait = MaxWait{seconds(10)};
    return time;
  }
  // Its Job deletes what waits of it.
  void end(const GivenUp& given_up) {
    std::vector<std::string> gone;
    for (const auto& [uid, pod] : pods_) {
      const bool of_job = !given_up.owner.uid.empty() && pod.owner.uid == given_up.owner.uid;
      if (pod.stage == PodStage::kWaiting && (of_job || uid == given_up.pod.uid)) gone.push_back(uid);
    }
    EXPECT_FALSE(gone.empty()) << "nobody is ended who does not wait";
    for (const std::string& uid : gone) {
      engine_->remove_pod(uid);
      pods_.erase(uid);
    }
  }
  void finish_one() {
    std::vector<std::string> running;
    for (const auto& [uid, pod] : pods_) {
      if (pod.stage == PodStage::kBound) running.push_back(uid);
    }
    if (running.empty()) return;
    PodFacts& facts = pods_[running[rng_.below(running.size())]];
    const bool is_made_anew = !facts.owner.uid.empty() && !facts.leaving_until && rng_.below(3) > 0;
    if (rng_.below(2) == 0) {
      facts.stage = rng_.below(2) == 0 ? PodStage::kSucceeded : PodStage::kFailed;
      if (is_made_anew && facts.stage == PodStage::kFailed) to_make_anew_.push_back(facts);
      engine_->set_pod(facts);
    } else {
      if (is_made_anew) to_make_anew_.push_back(facts);
      engine_->remove_pod(facts.uid);
      pods_.erase(facts.uid);
    }
  }
  void restart() {
    engine_->decide(now_);  // what it has not taken in, nobody knows
    const std::vector<TypicalPod> typical = engine_->state().typical_pods();
    write_statuses();
    ++restarts_;
    engine_ = new_engine();
    for (const auto& [uid, facts] : pods_) engine_->set_pod(facts);
    decide_once();
    ASSERT_EQ(engine_->state().typical_pods(), typical) << "it learns the same from the same pods";
    decide();
  }
  void decide() {
    for (bool more = true; more && !::testing::Test::HasFailure();) more = decide_once();
  }
  bool decide_once() {
    const Round round = engine_->decide(now_);
    for (const Binding& binding : round.bindings) {
      PodFacts& facts = pods_.at(binding.pod.uid);
      EXPECT_EQ(facts.stage, PodStage::kWaiting);
      if (rng_.below(10) == 0) {
        engine_->refuse_binding(facts.uid);
        continue;
      }
      const auto is_beside = [&](const auto& each) {
        return !facts.group.empty() && each.second.group == facts.group && each.second.stage == PodStage::kBound &&
               each.second.bound_at < now_;
      };
      if (std::ranges::any_of(pods_, is_beside)) ++repaired_;
      facts = bound(facts, binding, now_);
      facts.terms.best_effort = facts.terms.best_effort || binding.best_effort;
      facts.moved_at = binding.moved_at;
      if (binding.moved_at) ++moved_;
      engine_->set_pod(facts);
    }
    for (const GivenUp& given_up : round.given_up) end(given_up);
    for (const PodName& pod : round.best_effort) pods_.at(pod.uid).terms.best_effort = true;
    for (const PodEviction& eviction : round.evictions) {
      PodFacts& facts = pods_.at(eviction.pod.uid);
      EXPECT_EQ(facts.stage, PodStage::kBound) << "nobody is evicted who is not there";
      EXPECT_FALSE(stop_by_.contains(facts.uid)) << "nobody is told twice";
      stop_by_[facts.uid] = eviction.stop_by;
      facts.leaving_until = eviction.stop_by;
      if (rng_.below(2) == 0) engine_->set_pod(facts);
    }
    for (const Rollback& rollback : round.rollbacks) {
      engine_->remove_pod(rollback.pod.uid);
      pods_.erase(rollback.pod.uid);
    }
    return !round.bindings.empty() || !round.rollbacks.empty();
  }

  PlacementPolicy policy_;
  Rng rng_;
  bool in_pieces_;  // whole nodes are asked for, and nothing but a lack of consent keeps anybody from being moved
  std::int64_t moved_ = 0;
  std::int64_t repaired_ = 0;
  Time now_{1000};
  std::unique_ptr<LiveEngine> engine_;
  std::vector<QueueFacts> queues_;
  std::map<std::string, NodeFacts> nodes_;
  std::map<std::string, PodFacts> pods_;
  std::map<std::string, Time> stop_by_;
  std::vector<PodFacts> to_make_anew_;
  std::map<std::string, Wide> used_gpu_us_;  // by queue
  std::map<std::string, Wide> kept_gpu_us_;  // the same, of what nobody is on
  int created_ = 0;
  std::int64_t restarts_ = 0;
};

TEST(LiveEngineProperty, NoDeviceIsGivenTwiceWhateverTheWorldDoes) {
  std::int64_t moved = 0;
  std::int64_t repaired = 0;
  for (const Seed seed : property_seeds(300)) {
    SCOPED_TRACE(name_of(seed));
    RandomWorld world(seed.value);
    for (int i = 0; i < 60 && !::testing::Test::HasFailure(); ++i) {
      world.step();
      world.check();
    }
    if (::testing::Test::HasFailure()) return;
    moved += world.moved();
    repaired += world.repaired();
  }
  EXPECT_GT(moved, 0) << "nobody came to where he was moved";
  EXPECT_GT(repaired, 100) << "few gangs got others in place of those that they had lost";
}

}  // namespace berth::live_engine_property_test
