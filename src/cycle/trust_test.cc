// Whom no circle of trust holds both never share a device, whatever happens, and come no nearer to each other than they may
// (docs/semantics.md, rule 29).
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
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

namespace berth::trust_test {

constexpr std::uint64_t kSeeds = kFewSeeds ? 300 : 10'000;

// How often what is to be shown came up.
struct Seen {
  int joined_friends = 0;       // of another tenant
  int joined_after_others = 0;  // who had left, while somebody was still there
  int waited_for_trust = 0;
  int taken = 0;
  int moved = 0;
  int parted = 0;
  int went_on_as_strangers = 0;
  int waited_for_scrub = 0;
  int had_room_while_scrubbed = 0;
  int scrubbed = 0;
  int quarantined = 0;
  int near_friends = 0;  // of another tenant, where strangers would have been too near
  int waited_afar = 0;   // for trust, where there was room on devices of their own
  int parted_afar = 0;   // who were on no device together
  int went_on_near = 0;  // strangers, until the time to part
  int vgpus_of_strangers = 0;
  int left_alone = 0;         // strangers whom labels brought near
  int had_several_times = 0;  // to part from others
};

// Who is on each device, and who has been there since it was last empty, as rule 29 has it and no ledger looks it up.
class Neighbourhood {
 public:
  using Where = std::pair<NodeId, int>;
  struct Guest {
    QueueId tenant;
    UserId user;
    bool running = true;  // else told to stop, and still there
    bool mps = false;
    std::int32_t vgpu_milli = 0;
  };
  // Somebody with GPUs, as far as others may mind.
  struct Near {
    WorkloadId workload;
    QueueId tenant;
    Sharing mode = Sharing::kExclusive;
    NodeId node;
    bool running = true;

    friend auto operator<=>(const Near&, const Near&) = default;
  };

  void set_scrubs() { scrubs_ = true; }
  // Nobody is there now, as the state says.
  void scrubbed(Device device, bool failed) {
    EXPECT_FALSE(guests_.contains({device.node, device.gpu}));
    if (failed) {
      broken_.insert({device.node, device.gpu});
    } else {
      been_.erase({device.node, device.gpu});
    }
  }
  void restored(NodeId node) {
    std::erase_if(been_, [&](const auto& each) { return each.first.first == node && broken_.contains(each.first); });
    std::erase_if(broken_, [&](const Where& each) { return each.first == node; });
  }

  // PRE: the state knows of them already, and nothing else has happened since the last look.
  void set_circles(const State& state, std::vector<Circle> circles, Time part_by) {
    const std::map<Pair, std::set<Reason>> before = reasons(state);
    circles_ = std::move(circles);
    std::map<Pair, Time> times;
    for (const auto& [pair, now] : reasons(state)) {
      const auto known = times_to_part_.find(pair);
      const auto was = before.find(pair);
      if (known != times_to_part_.end()) {
        times.insert(*known);
      } else if (was == before.end() || !std::ranges::includes(was->second, now)) {
        times.emplace(pair, part_by);
      }
    }
    times_to_part_ = std::move(times);
  }
  bool trust(QueueId a, QueueId b) const {
    if (a == b) return true;
    for (const auto& [queues, apart] : circles_) {
      if (std::ranges::count(queues, a) > 0 && std::ranges::count(queues, b) > 0) return true;
    }
    return false;
  }
  // Whether one of the two keeps strangers so far away.
  bool would_be_too_near(const State& state, const Near& a, const Near& b) const {
    return keeps_away_by(state, a, b, "node") || keeps_away_by(state, a, b, "rack");
  }

  // As the state says it is now: who has come has to suit who is there and who has been.
  void look(const State& state, Seen& seen) {
    look_around(state, seen);
    look_who_has_to_part(state, seen);
    std::map<Where, std::map<WorkloadId, Guest>> now;
    state.workloads().for_each([&](WorkloadId id, const Workload& workload) {
      if (!is_there(workload.phase)) return;
      for_each_leaving_pod(state, id, [&](const Pod& pod) {
        const PodRequest& request = state.request(pod.request);
        if (!request.is_fraction() && !scrubs_) return;
        const Guest guest{state.tenant_of(workload.queue), workload.user, workload.phase == Phase::kRunning,
                          request.is_mps(), request.is_vgpu() ? request.gpu_milli : 0};
        pod.gpus.for_each([&](int gpu) { now[{pod.node, gpu}].insert({id, guest}); });
      });
    });
    for (const auto& [where, guests] : now) {
      EXPECT_FALSE(broken_.contains(where)) << "somebody is on a quarantined device";
      const std::map<WorkloadId, Guest>& before = guests_[where];
      std::set<QueueId>& been = been_[where];
      const bool some_stayed = std::ranges::any_of(before, [&](const auto& each) {
        const auto still = guests.find(each.first);
        return still != guests.end() && !has_come(state, each.first);
      });
      if (!some_stayed && !scrubs_) been.clear();
      for (const auto& [id, guest] : guests) {
        if (before.contains(id) && !has_come(state, id)) continue;
        for (const auto& [other, there] : guests) expect_together(guest, there, seen);
        for (const QueueId tenant : been) {
          EXPECT_TRUE(trust(tenant, guest.tenant)) << "a former tenant is a stranger";
          const bool is_gone =
              std::ranges::none_of(guests, [&](const auto& each) { return each.second.tenant == tenant; });
          seen.joined_after_others += tenant != guest.tenant && is_gone ? 1 : 0;
        }
      }
      for (const auto& each : guests) {
        if (each.second.vgpu_milli == 0) been.insert(each.second.tenant);
      }
    }
    std::erase_if(been_, [&](const auto& each) { return !scrubs_ && !now.contains(each.first); });
    guests_ = std::move(now);
    state.workloads().for_each([&](WorkloadId id, const Workload& workload) { attempts_[id] = workload.attempts; });
  }

  // Who has come is as far from strangers as they want it.
  void look_around(const State& state, Seen& seen) {
    std::set<Near> now;
    state.workloads().for_each([&](WorkloadId id, const Workload& workload) {
      if (!is_there(workload.phase)) return;
      for_each_leaving_pod(state, id, [&](const Pod& pod) {
        now.insert({id, state.tenant_of(workload.queue), state.request(pod.request).sharing, pod.node,
                    workload.phase == Phase::kRunning});
      });
    });
    const auto was_there = [&](const Near& each) {
      return !has_come(state, each.workload) && std::ranges::any_of(near_, [&](const Near& other) {
        return other.workload == each.workload && other.node == each.node;
      });
    };
    for (const Near& each : now) {
      if (was_there(each)) continue;
      for (const Near& other : now) {
        if (other.tenant == each.tenant || !would_be_too_near(state, each, other)) continue;
        EXPECT_TRUE(trust(each.tenant, other.tenant)) << "a stranger is near";
        ++seen.near_friends;
      }
    }
    near_ = std::move(now);
  }

  // Each pair has the time of the change that made strangers of them, as long as they are, and no other pair has one.
  void look_who_has_to_part(const State& state, Seen& seen) {
    const std::map<Pair, std::set<Reason>> strangers = reasons(state);
    std::erase_if(times_to_part_, [&](const auto& each) { return !strangers.contains(each.first); });
    std::map<Pair, Time> known;
    for (const auto& [id, others] : state.partings().all()) {
      for (const auto& [other, by] : others) {
        EXPECT_EQ(state.partings().by(other, id), by);
        if (id < other) known.emplace(Pair(id, other), by);
      }
    }
    EXPECT_EQ(known, times_to_part_);
    seen.left_alone += strangers.size() > known.size() ? 1 : 0;
    const auto has_another = [&](WorkloadId id, Time by) {
      return std::ranges::any_of(state.partings().of(id), [&](const auto& each) { return each.second != by; });
    };
    seen.had_several_times +=
        std::ranges::any_of(known, [&](const auto& each) { return has_another(each.first.first, each.second); }) ? 1
                                                                                                                 : 0;
  }
  bool some_are_due(Time now) const {
    return std::ranges::any_of(times_to_part_, [&](const auto& each) { return each.second <= now; });
  }

  // Of those who run, pairs that are nearer than they may be.
  int too_near(const State& state) const {
    int count = 0;
    for (const Near& a : near_) {
      for (const Near& b : near_) {
        if (!a.running || !b.running || trust(a.tenant, b.tenant) || !would_be_too_near(state, a, b)) continue;
        ++count;
      }
    }
    return count;
  }

  // Of those who run, pairs that may not be together.
  int strangers() const {
    int count = 0;
    for (const auto& [where, guests] : guests_) {
      for (const auto& [a, one] : guests) {
        for (const auto& [b, other] : guests) {
          if (!one.running || !other.running || one.vgpu_milli > 0 || trust(one.tenant, other.tenant)) continue;
          ++count;
        }
      }
    }
    return count;
  }

 private:
  using Pair = std::pair<WorkloadId, WorkloadId>;
  // Two pods by their numbers, and why they may not be where they are: a level, or "" for a device.
  using Reason = std::tuple<std::uint32_t, std::uint32_t, std::string>;

  // Of those who run, by the circles as they are here.
  std::map<Pair, std::set<Reason>> reasons(const State& state) const {
    std::vector<const Pod*> running;
    for (const Pod& pod : state.pods()) {
      const bool runs = !pod.workload.is_none() && state.workload(pod.workload).phase == Phase::kRunning;
      if (runs && !pod.comes) running.push_back(&pod);
    }
    std::map<Pair, std::set<Reason>> reasons;
    for (const Pod* const a : running) {
      for (const Pod* const b : running) {
        if (a->workload >= b->workload) continue;
        for (const std::string& level : reasons_of(state, *a, *b)) {
          reasons[{a->workload, b->workload}].insert({a->number, b->number, level});
        }
      }
    }
    return reasons;
  }

  std::vector<std::string> reasons_of(const State& state, const Pod& a, const Pod& b) const {
    std::vector<std::string> reasons;
    const PodRequest& request = state.request(a.request);
    const Workload& one = state.workload(a.workload);
    const Workload& other = state.workload(b.workload);
    const QueueId tenant = state.tenant_of(one.queue);
    const QueueId other_tenant = state.tenant_of(other.queue);
    if (trust(tenant, other_tenant)) return reasons;
    const bool share = a.node == b.node && (a.gpus.bits() & b.gpus.bits()) != 0 && request.is_fraction();
    if (share && !request.is_vgpu()) reasons.emplace_back("");
    const Near near{a.workload, tenant, request.sharing, a.node};
    const Near other_near{b.workload, other_tenant, state.request(b.request).sharing, b.node};
    for (const std::string level : {"node", "rack"}) {
      if (keeps_away_by(state, near, other_near, level)) reasons.push_back(level);
    }
    return reasons;
  }

  // Whether one of the two keeps strangers out of the domain of that level in which both are.
  bool keeps_away_by(const State& state, const Near& a, const Near& b, const std::string& level) const {
    const std::string* const rack = find_label(state.node(a.node).labels, "rack");
    const std::string* const other = find_label(state.node(b.node).labels, "rack");
    const bool one_rack = rack != nullptr && other != nullptr && *rack == *other;
    if (level == "node" ? a.node != b.node : !one_rack) return false;
    return std::ranges::any_of(circles_, [&](const Circle& circle) {
      return std::ranges::any_of(std::array{&a, &b}, [&](const Near* each) {
        const std::string& kept = circle.apart[static_cast<std::size_t>(each->mode)];
        const bool is_in = circle.queues.empty() || std::ranges::count(circle.queues, each->tenant) > 0;
        return is_in && (kept == level || (level == "node" && !kept.empty()));
      });
    });
  }

  bool has_come(const State& state, WorkloadId id) const {
    const auto known = attempts_.find(id);
    return known == attempts_.end() || known->second != state.workload(id).attempts;
  }

  void expect_together(const Guest& guest, const Guest& there, Seen& seen) const {
    EXPECT_EQ(guest.vgpu_milli, there.vgpu_milli) << "vGPUs of another profile are there";
    seen.vgpus_of_strangers += guest.vgpu_milli > 0 && !trust(guest.tenant, there.tenant) ? 1 : 0;
    if (guest.vgpu_milli > 0) return;
    EXPECT_TRUE(trust(guest.tenant, there.tenant)) << "a stranger is there";
    EXPECT_TRUE(!guest.mps || guest.user == there.user) << "a server of MPS serves one user";
    seen.joined_friends += guest.tenant != there.tenant ? 1 : 0;
  }

  bool scrubs_ = false;
  std::set<Where> broken_;
  std::vector<Circle> circles_;
  std::map<Where, std::map<WorkloadId, Guest>> guests_;
  std::map<Where, std::set<QueueId>> been_;
  std::set<Near> near_;
  std::map<Pair, Time> times_to_part_;
  std::map<WorkloadId, std::uint32_t> attempts_;
};

class History {
 public:
  explicit History(Seed seed) : rng_(seed) {
    State& state = engine_.state;
    state = new_state(seed, static_cast<PlacementPolicy>(rng_.below(std::size(kPlacementPolicyNames))), 1, {});
    const std::int64_t queues = rng_.between(3, 6);
    for (std::int64_t i = 0; i < queues; ++i) {
      Queue queue{.name = "queue", .parent = {}, .order = one_of(rng_, {Order::kFifo, Order::kFifoSkip})};
      if (i > 2) queue.parent = QueueId(static_cast<std::size_t>(rng_.below(3)));
      if (i < 3 && rng_.below(2) == 0)
        queue.quota.guarantee = {{Dim(FlavorId(0), Resource::kGpu), rng_.between(1, 3) * 500}};
      state.apply(QueueAdded{queue});
    }
    looks_around_ = rng_.below(2) == 0;
    if (looks_around_) state.apply(TrustChanged{{}, Time{}, true});
    std::vector<Node> nodes;
    for (std::int64_t left = rng_.between(1, looks_around_ ? 3 : 2); left > 0; --left) {
      nodes.push_back(
          {.name = "node",
           .flavor = FlavorId(0),
           .gpus = one_of(rng_, {1, 1, 2}),
           .cpu_milli = 64'000,
           .sharing = one_of(rng_, {Sharing::kExclusive, Sharing::kExclusive, Sharing::kExclusive, Sharing::kExclusive,
                                    Sharing::kMps, Sharing::kMps, Sharing::kTimeslice, Sharing::kVgpu})});
      if (nodes.back().sharing == Sharing::kTimeslice) nodes.back().replicas = 3;
      if (looks_around_ && rng_.below(3) > 0)
        nodes.back().labels = {{"rack", one_of<std::string>(rng_, {"r1", "r1", "r2"})}};
    }
    state.apply(NodesAdded{nodes});
    if (rng_.below(2) == 0) {
      state.apply(ScrubChosen{Duration{2000}});
      around_.set_scrubs();
    }
    if (rng_.below(8) != 0) change_circles();
  }

  void step(Seen& seen) {
    now_ = now_ + Duration{1000};
    state().apply(TimePassed{now_});
    disturb();
    stop_who_is_due();
    scrub_some(seen);
    around_.look(state(), seen);
    if (rng_.below(3) == 0) return;
    decide(seen);
  }

 private:
  State& state() { return engine_.state; }

  void decide(Seen& seen) {
    const Plan plan = run_cycle(engine_, now_, Effort::unbounded());
    const Plan again = run_cycle(engine_, now_, Effort::unbounded());
    ASSERT_EQ(plan, again);
    const bool shared_none_as_strangers = around_.strangers() == 0;
    state().adopt(plan);
    for (const Eviction& each : plan.evictions) {
      seen.parted_afar += each.rule == EvictionRule::kTrust && shared_none_as_strangers ? 1 : 0;
      seen.parted += each.rule == EvictionRule::kTrust ? 1 : 0;
      seen.taken += each.rule != EvictionRule::kTrust ? 1 : 0;
    }
    seen.moved += static_cast<int>(plan.migrations.size());
    around_.look(state(), seen);
    seen.went_on_as_strangers += around_.strangers() > 0 ? 1 : 0;
    seen.went_on_near += around_.too_near(state()) > 0 ? 1 : 0;
    ASSERT_FALSE(around_.some_are_due(now_)) << "the time to part is over";
    const std::vector<std::string> wrong = violations(state());
    ASSERT_TRUE(wrong.empty()) << wrong.front();
    state().workloads().for_each([&](WorkloadId id, const Workload& workload) {
      if (workload.phase != Phase::kPending && workload.phase != Phase::kStarting) return;
      const ReasonCode code = reason_of(state(), id);
      seen.waited_for_trust += code == ReasonCode::kTrust ? 1 : 0;
      const bool whole = state().request(state().shape(workload.shape).ways.front().front().request).gpu_milli == 1000;
      seen.waited_afar += code == ReasonCode::kTrust && whole ? 1 : 0;
      if (state().scrub() == Duration{0} || code != ReasonCode::kDirty) return;
      ++(has_room(workload.phase) ? seen.had_room_while_scrubbed : seen.waited_for_scrub);
    });
  }

  void disturb() {
    std::vector<WorkloadId> running, alive;
    state().workloads().for_each([&](WorkloadId id, const Workload& workload) {
      if (workload.phase == Phase::kRunning) running.push_back(id);
      if (workload.phase == Phase::kPending || has_room(workload.phase)) alive.push_back(id);
    });
    const std::uint64_t kind = rng_.below(12);
    const NodeId node(static_cast<std::size_t>(rng_.below(state().nodes())));
    if (kind == 0) return change_circles();
    if (kind == 1 && rng_.below(4) == 0) return state().apply(NodeFailed{node});
    if (kind == 1) return restore(node);
    if (kind == 2 && looks_around_ && state().starting().empty()) return relabel(node);
    if (kind < 5 && !running.empty()) return state().apply(WorkloadEnded{one_of_all(running)});
    if (kind == 5 && !alive.empty()) return state().apply(WorkloadCancelled{one_of_all(alive)});
    submit();
  }

  // Who has room there and is yet to begin might be among strangers when he does.
  void relabel(NodeId node) {
    const std::string rack = one_of<std::string>(rng_, {"r1", "r1", "r2"});
    state().apply(NodeRelabelled{node, {{"rack", rack}}, {}, false});
  }

  void restore(NodeId node) {
    state().apply(NodeRestored{node});
    around_.restored(node);
  }

  WorkloadId one_of_all(const std::vector<WorkloadId>& ids) {
    return ids[static_cast<std::size_t>(rng_.below(ids.size()))];
  }

  void submit() {
    PodRequest request{.gpus = 1, .gpu_milli = one_of(rng_, {100, 250, 250, 500, 1000, 1000})};
    const NodeId node(static_cast<std::size_t>(rng_.below(state().nodes())));
    if (state().node(node).sharing == Sharing::kMps) make_share(request, rng_);
    if (state().node(node).sharing == Sharing::kVgpu) make_vgpu(request, rng_, 1);
    WorkloadShape shape{{{{request, rng_.below(5) == 0 ? 2 : 1}}}};
    shape.terms.priority = static_cast<std::int32_t>(rng_.below(3));
    shape.terms.best_effort = rng_.below(4) == 0;
    shape.terms.movable = rng_.below(2) == 0;
    if (rng_.below(3) == 0) shape.terms.grace = Duration{rng_.between(1, 3) * 1000};
    add_replica_ways(shape);
    const QueueId queue(static_cast<std::size_t>(rng_.below(state().queues().size())));
    WorkloadSubmitted event = submission(queue, shape);
    event.at = now_;
    event.user = one_of(rng_, {"ann", "bob", ""});
    state().apply(event);
  }

  // Any circles, of which inner queues may be in some; as far as the state lets them.
  void change_circles() {
    std::vector<Circle> circles;
    for (std::int64_t left = rng_.between(0, 3); left > 0; --left) {
      Circle circle;
      for (std::size_t queue = 0; queue < state().queues().size(); ++queue) {
        if (rng_.below(5) < (queue < 3 ? 3u : 1u)) circle.queues.push_back(QueueId(queue));
      }
      keep_strangers_away(circle);
      if (!circle.queues.empty()) circles.push_back(circle);
    }
    Circle of_all;
    keep_strangers_away(of_all);
    if (of_all.keeps_apart()) circles.push_back(of_all);
    const TrustChanged event{circles, now_ + Duration{rng_.between(0, 4) * 1000}};
    if (state().refusal(event)) return;
    state().apply(event);
    around_.set_circles(state(), circles, event.part_by);
  }

  void keep_strangers_away(Circle& circle) {
    if (!looks_around_ || rng_.below(2) == 0) return;
    for (std::string& level : circle.apart) level = one_of<std::string>(rng_, {"", "", "node", "rack"});
  }

  void scrub_some(Seen& seen) {
    around_.look(state(), seen);
    for (const Device& device : state().to_scrub()) {
      if (rng_.below(2) == 0) continue;
      const DeviceScrubbed event{device.node, device.gpu, rng_.below(8) == 0};
      ASSERT_EQ(state().refusal(event), std::nullopt);
      state().apply(event);
      around_.scrubbed(device, event.failed);
      ++(event.failed ? seen.quarantined : seen.scrubbed);
    }
  }

  void stop_who_is_due() {
    for (bool found = true; found;) {
      found = false;
      for (const WorkloadId id : state().stopping()) {
        if (state().workload(id).stop_by > now_) continue;
        state().apply(WorkloadStopped{id});
        found = true;
        break;
      }
    }
  }

  Rng rng_;
  Engine engine_;
  Time now_;
  Neighbourhood around_;
  bool looks_around_ = false;
};

TEST(TrustProperty, StrangersNeverShareADevice) {
  Seen seen;
  for (const Seed seed : property_seeds(kSeeds)) {
    SCOPED_TRACE(name_of(seed));
    History history(seed);
    for (int step = 0; step < 30; ++step) {
      history.step(seen);
      if (testing::Test::HasFailure()) return;
    }
  }
  if (seeds_are_fresh()) return;
  const int least = static_cast<int>(std::min<std::uint64_t>(kSeeds, property_seeds(kSeeds).size()) / 25);
  // Few seeds come to some of it less often.
  const bool all_seeds = !kFewSeeds && property_seeds(kSeeds).size() >= kSeeds;
  EXPECT_GT(seen.joined_friends, least);
  EXPECT_GT(seen.joined_after_others, least);
  EXPECT_GT(seen.waited_for_trust, least);
  EXPECT_GT(seen.taken, least);
  EXPECT_GT(seen.moved, all_seeds ? least : least / 2);
  EXPECT_GT(seen.parted, least);
  EXPECT_GT(seen.went_on_as_strangers, least);
  EXPECT_GT(seen.waited_for_scrub, least);
  EXPECT_GT(seen.had_room_while_scrubbed, least);
  EXPECT_GT(seen.scrubbed, least);
  EXPECT_GT(seen.quarantined, least);
  EXPECT_GT(seen.near_friends, least);
  EXPECT_GT(seen.waited_afar, least);
  EXPECT_GT(seen.parted_afar, least / 8);
  EXPECT_GT(seen.went_on_near, all_seeds ? least : least / 4);
  EXPECT_GT(seen.vgpus_of_strangers, least);
  EXPECT_GT(seen.left_alone, all_seeds ? least : least / 2);
  EXPECT_GT(seen.had_several_times, all_seeds ? least / 16 : -1);
}

}  // namespace berth::trust_test
