// What is left on GPUs of a live cluster: who has to wait until it is scrubbed, what is written on nodes, and what a scheduler
// knows that is started anew.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/property_seeds.h"
#include "base/rng.h"
#include "model/gpu.h"
#include "model/gpu_hardware.h"
#include "model/mig_layout.h"
#include "service/live_cluster.h"
#include "state/invariants.h"

namespace berth::live_scrubs_test {

using Names = std::set<std::string>;

PodFacts whole(const std::string& name, const std::string& queue) { return in_queue(queue, pod(name, 1)); }
PodFacts half(const std::string& name, const std::string& queue) { return in_queue(queue, part(name, 500)); }

Cluster with_scrubs(const NodeFacts& node) {
  Cluster cluster(Scrubs::kByNodes);
  for (const char* const name : {"a", "b", "c"}) cluster.add(queue(name, 0));
  cluster.add(node);
  return cluster;
}

std::vector<QueueId> left_on(const Cluster& cluster, int gpu) {
  return cluster.engine().state().ledger().residue(NodeId(0), static_cast<std::size_t>(gpu));
}

// What was left by who had it whole is scrubbed before a stranger has a vGPU of it; a friend takes the scrub back; and of vGPUs
// nothing is left.
TEST(LiveScrubs, VgpusLeaveNothing) {
  NodeFacts either = shared(node("n1", 1, "A100-40GB"), Sharing::kVgpu);
  either.other_modes = SharingSet::of(Sharing::kExclusive);
  Cluster cluster = with_scrubs(either);
  const auto vgpu_of = [](const std::string& name, const std::string& queue) {
    return in_queue(queue, vgpu(name, "A100X-10C"));
  };
  cluster.set(vgpu_of("first", "a"));
  cluster.set(vgpu_of("beside", "b"));
  Round round = cluster.decide(1);
  EXPECT_EQ(names_of(round), (Names{"first", "beside"}));
  EXPECT_TRUE(round.uses.empty());
  cluster.gone("first");
  cluster.gone("beside");
  cluster.set(whole("whole", "b"));
  round = cluster.decide(2);
  EXPECT_EQ(names_of(round), Names{"whole"});
  EXPECT_EQ(cluster.used("n1"), R"({"0":{"by":["b"]}})");
  cluster.gone("whole");
  cluster.set(vgpu_of("stranger", "a"));
  round = cluster.decide(3);
  EXPECT_EQ(reason_of(round, "stranger").substr(0, 7), "Dirty: ") << reason_of(round, "stranger");
  cluster.begin_anew();
  cluster.decide(4);
  cluster.set(vgpu_of("friend", "b"));
  EXPECT_EQ(names_of(cluster.decide(5)), Names{"friend"});
  EXPECT_EQ(cluster.used("n1"), R"({"0":{"by":["b"],"scrub":1,"withdrawn":true}})");
  cluster.gone("friend");
  cluster.decide(6);
  EXPECT_EQ(cluster.used("n1"), R"({"0":{"by":["b"],"scrub":2}})");
  cluster.answer("n1", 0);
  EXPECT_EQ(names_of(cluster.decide(7)), Names{"stranger"});
}

TEST(LiveScrubs, AGpuIsNobodysUntilItIsScrubbed) {
  Cluster cluster = with_scrubs(node("n1", 1));
  cluster.set(whole("first", "a"));
  Round round = cluster.decide(1);
  EXPECT_EQ(names_of(round), Names{"first"});
  // It is written before the binding is sent who is there.
  ASSERT_EQ(round.uses.size(), 1U);
  EXPECT_EQ(round.uses[0].node + " " + round.uses[0].text, R"(n1 {"0":{"by":["a"]}})");
  cluster.set(whole("stranger", "b"));
  EXPECT_EQ(reason_of(cluster.decide(2), "stranger").substr(0, 10), "Capacity: ");
  cluster.engine().note_told("uid-stranger");
  cluster.gone("first");
  round = cluster.decide(3);
  EXPECT_TRUE(round.bindings.empty());
  EXPECT_EQ(cluster.used("n1"), R"({"0":{"by":["a"],"scrub":1}})");
  EXPECT_EQ(reason_of(round, "stranger").substr(0, 7), "Dirty: ") << reason_of(round, "stranger");
  cluster.answer("n1", 0);
  round = cluster.decide(4);
  EXPECT_EQ(names_of(round), Names{"stranger"});
  EXPECT_EQ(cluster.used("n1"), R"({"0":{"by":["b"],"scrub":1,"withdrawn":true}})");
  EXPECT_EQ(violations(cluster.engine().state()), std::vector<std::string>());
}

TEST(LiveScrubs, AFriendNeedsNoneAndALateAnswerIsNone) {
  for (const bool anew : {false, true}) {
    SCOPED_TRACE(anew ? "restarted" : "not restarted");
    Cluster cluster = with_scrubs(node("n1", 1));
    cluster.set(whole("first", "a"));
    cluster.decide(1);
    cluster.gone("first");
    cluster.decide(2);
    cluster.set(whole("second", "a"));
    EXPECT_EQ(names_of(cluster.decide(3)), Names{"second"});
    EXPECT_EQ(cluster.used("n1"), R"({"0":{"by":["a"],"scrub":1,"withdrawn":true}})");
    // Its node was about to be done with the first.
    cluster.answer("n1", 0);
    cluster.decide(4);
    if (anew) cluster.begin_anew();
    cluster.gone("second");
    cluster.set(whole("stranger", "b"));
    EXPECT_TRUE(cluster.decide(5).bindings.empty());
    EXPECT_EQ(cluster.used("n1"), R"({"0":{"by":["a"],"scrub":2}})");
    EXPECT_TRUE(cluster.decide(6).bindings.empty());
    cluster.answer("n1", 0);
    EXPECT_EQ(names_of(cluster.decide(7)), Names{"stranger"});
  }
}

// However they came and went, and whatever was killed.
TEST(LiveScrubs, ARestartKnowsWhatIsLeft) {
  const char* const kWays[] = {"while a scheduler looked", "while none did",
                               "a moment before the scheduler was killed"};
  for (const std::string way : kWays) {
    SCOPED_TRACE(way);
    Cluster cluster = with_scrubs(node("n1", 2));
    cluster.set(whole("goes", "a"));
    cluster.set(whole("stays", "a"));
    ASSERT_EQ(cluster.decide(1).bindings.size(), 2U);
    if (way == kWays[0]) {
      cluster.gone("goes");
      cluster.decide(2);
    } else if (way == kWays[1]) {
      cluster.gone_unseen("goes");
    } else {
      cluster.gone("goes");
    }
    cluster.begin_anew();
    cluster.set(whole("stranger", "b"));
    const Round round = cluster.decide(3);
    EXPECT_EQ(reason_of(round, "stranger").substr(0, 7), "Dirty: ") << reason_of(round, "stranger");
    EXPECT_EQ(violations(cluster.engine().state()), std::vector<std::string>());
    // Who is there has left nothing yet.
    EXPECT_EQ(left_on(cluster, 0).size() + left_on(cluster, 1).size(), 1U);
    const int gpu = left_on(cluster, 0).empty() ? 1 : 0;
    cluster.answer("n1", gpu);
    EXPECT_EQ(names_of(cluster.decide(4)), Names{"stranger"});
  }
}

TEST(LiveScrubs, AnotherLifeOfTheEngineKnowsIt) {
  Cluster cluster = with_scrubs(node("n1", 1));
  cluster.add_circle("ab", {"a", "b"});
  cluster.decide(1);
  cluster.write_circles(1);
  cluster.set(half("of-a", "a"));
  cluster.set(half("of-b", "b"));
  ASSERT_EQ(cluster.decide(2).bindings.size(), 2U);
  EXPECT_EQ(cluster.used("n1"), R"({"0":{"by":["a","b"]}})");
  cluster.gone("of-a");
  cluster.decide(3);
  ASSERT_EQ(left_on(cluster, 0).size(), 1U);
  cluster.add(queue("d", 1));  // makes the engine anew
  cluster.decide(4);
  EXPECT_EQ(left_on(cluster, 0).size(), 1U);
  EXPECT_EQ(violations(cluster.engine().state()), std::vector<std::string>());
  cluster.gone("of-b");
  cluster.decide(5);
  EXPECT_EQ(left_on(cluster, 0).size(), 2U);
  cluster.answer("n1", 0);
  cluster.decide(6);
  EXPECT_TRUE(left_on(cluster, 0).empty());
}

TEST(LiveScrubs, AnAnswerMayComeBeforeTheEndOfThePod) {
  Cluster cluster = with_scrubs(node("n1", 1));
  cluster.set(whole("first", "a"));
  cluster.decide(1);
  cluster.gone_unseen("first");
  cluster.begin_anew();
  cluster.decide(2);
  cluster.set(whole("second", "c"));
  cluster.answer("n1", 0);
  EXPECT_EQ(names_of(cluster.decide(3)), Names{"second"});
}

TEST(LiveScrubs, OfWhomTheQueueIsGoneIsAStrangerToAll) {
  Cluster cluster = with_scrubs(node("n1", 1));
  cluster.set(whole("first", "c"));
  cluster.decide(1);
  cluster.gone("first");
  cluster.decide(2);
  cluster.remove_queue("c");
  PodFacts other = whole("other", "default");
  cluster.set(other);
  const Round round = cluster.decide(3);
  EXPECT_EQ(reason_of(round, "other").substr(0, 7), "Dirty: ") << reason_of(round, "other");
  EXPECT_FALSE(cluster.engine().queue_standings().contains("queues that are gone"));
  cluster.answer("n1", 0);
  EXPECT_EQ(names_of(cluster.decide(4)), Names{"other"});
}

TEST(LiveScrubs, AGpuWhoseScrubFailsIsQuarantined) {
  for (const bool anew : {false, true}) {
    SCOPED_TRACE(anew ? "restarted" : "not restarted");
    Cluster cluster = with_scrubs(node("n1", 1));
    cluster.set(whole("first", "a"));
    cluster.decide(1);
    cluster.gone("first");
    cluster.set(whole("same", "b"));
    cluster.decide(2);
    cluster.answer("n1", 0, "ECC");
    if (anew) cluster.begin_anew();
    cluster.decide(3);
    EXPECT_TRUE(cluster.engine().state().ledger().is_broken({NodeId(0), 0}));
    EXPECT_EQ(cluster.engine().nodes_left_out().at("n1").reason, "Quarantined");
    EXPECT_EQ(cluster.engine().nodes_left_out().at("n1").text,
              "nobody is given GPU 0 (ECC): scrubbing failed; when it is repaired take away the annotation "
              "berth.dev/gpus-scrubbed, and it is scrubbed anew");
    cluster.engine().note_told("uid-same");
    cluster.set(whole("more", "c"));
    EXPECT_TRUE(cluster.decide(4).bindings.empty());
    cluster.forget_answers("n1");
    EXPECT_TRUE(cluster.decide(5).bindings.empty());
    EXPECT_FALSE(cluster.engine().state().ledger().is_broken({NodeId(0), 0}));
    cluster.answer("n1", 0);
    EXPECT_EQ(cluster.decide(6).bindings.size(), 1U);
    EXPECT_FALSE(cluster.engine().nodes_left_out().contains("n1"));
  }
}

// What the victims leave is scrubbed for him.
TEST(LiveScrubs, WhoTakesRoomWaitsForTheScrubToo) {
  for (const bool anew : {false, true}) {
    SCOPED_TRACE(anew ? "restarted" : "not restarted");
    Cluster cluster(Scrubs::kByNodes);
    cluster.add(queue("a", 0));
    cluster.add(queue("b", 1));
    cluster.add(node("n1", 1));
    cluster.set(whole("borrows", "a"));
    ASSERT_EQ(cluster.decide(1).bindings.size(), 1U);
    if (anew) cluster.begin_anew();
    cluster.set(whole("owner", "b"));
    Round round = cluster.decide(2);
    EXPECT_EQ(evicted_in(round), Names{"borrows"});
    EXPECT_EQ(reason_of(round, "owner").substr(0, 37), "Capacity: others are leaving its room");
    cluster.engine().note_told("uid-owner");
    cluster.gone("borrows");
    round = cluster.decide(30);
    EXPECT_TRUE(round.bindings.empty());
    EXPECT_EQ(reason_of(round, "owner"), "Dirty: it has its room, which is being scrubbed; then it starts");
    cluster.answer("n1", 0);
    EXPECT_EQ(names_of(cluster.decide(31)), Names{"owner"});
  }
}

TEST(LiveScrubs, AllWaysToShareLeaveSomething) {
  struct Case {
    const char* what;
    NodeFacts node;
    PodFacts first, stranger;
  };
  PodFacts turn = in_queue("a", replica("first")), other_turn = in_queue("b", replica("stranger"));
  const Case cases[] = {
      {"whole", node("n1", 1), whole("first", "a"), whole("stranger", "b")},
      {"parts", shared(node("n1", 1), Sharing::kExclusive), half("first", "a"), half("stranger", "b")},
      {"MPS", shared(node("n1", 1), Sharing::kMps), in_queue("a", share("first", 500)),
       in_queue("b", share("stranger", 500))},
      {"in turns", shared(node("n1", 1), Sharing::kTimeslice, 4), turn, other_turn},
  };
  for (const Case& each : cases) {
    SCOPED_TRACE(each.what);
    Cluster cluster = with_scrubs(each.node);
    cluster.set(each.first);
    ASSERT_EQ(cluster.decide(1).bindings.size(), 1U);
    EXPECT_EQ(cluster.used("n1"), R"({"0":{"by":["a"]}})");
    cluster.gone_unseen("first");
    cluster.begin_anew();
    cluster.set(each.stranger);
    const Round round = cluster.decide(2);
    EXPECT_EQ(reason_of(round, "stranger").substr(0, 7), "Dirty: ") << reason_of(round, "stranger");
    cluster.answer("n1", 0);
    EXPECT_EQ(cluster.decide(3).bindings.size(), 1U);
  }
}

TEST(LiveScrubs, SlicesLeaveNothing) {
  Cluster cluster = with_scrubs(cut(node("n1", 1, "H100-SXM5-80GB")));
  PodFacts one = in_queue("a", slice("one", "1g.10gb"));
  cluster.set(one);
  const Round round = cluster.decide(1);
  ASSERT_EQ(round.bindings.size(), 1U);
  EXPECT_TRUE(round.uses.empty());
  cluster.gone("one");
  EXPECT_TRUE(cluster.decide(2).uses.empty());
}

TEST(LiveScrubs, WhoWasPutThereByOthersIsOnTheRecord) {
  Cluster cluster = with_scrubs(node("n1", 2));
  PodFacts found = whole("found", "b");
  found.stage = PodStage::kBound;
  found.node = "n1";
  found.given = GivenGpus{.gpus = GpuSet::from_bits(2)};
  found.bound_at = Time{500};
  cluster.set(found);
  cluster.decide(1);
  EXPECT_EQ(cluster.used("n1"), R"({"1":{"by":["b"]}})");
}

TEST(LiveScrubs, ANodeThatCannotBeScrubbedIsNotUsed) {
  NodeFacts strange = node("n1", 1);
  strange.records.problem = "annotation berth.dev/gpus-used is not as a scheduler writes it";
  NodeFacts fixed = cut(node("n2", 1, "H100"));
  const std::vector<std::string> profiles = {"3g.40gb"};
  fixed.fixed_slices = *lay_out(*find_gpu_hardware(*find_gpu_model("H100")), profiles);
  Cluster cluster = with_scrubs(strange);
  cluster.add(fixed);
  cluster.set(whole("waits", "a"));
  EXPECT_TRUE(cluster.decide(1).bindings.empty());
  EXPECT_EQ(cluster.engine().nodes_left_out().at("n1").text,
            "it is not used: annotation berth.dev/gpus-used is not as a scheduler writes it");
  EXPECT_TRUE(
      cluster.engine().nodes_left_out().at("n2").text.starts_with("it is not used: its slices were cut beforehand"));
}

// Nobody keeps it true then.
TEST(LiveScrubs, WithoutScrubsNothingIsSaidOfWhatIsLeft) {
  Cluster cluster;
  NodeFacts used = node("n1", 1);
  used.records.uses[0] = {.tenants = {"a"}};
  cluster.add(used);
  cluster.set(pod("p", 1));
  const Round round = cluster.decide(1);
  EXPECT_EQ(names_of(round), Names{"p"});
  ASSERT_EQ(round.uses.size(), 1U);
  EXPECT_EQ(round.uses[0].text, "");
  EXPECT_EQ(uses_call(round.uses[0]).body, R"({"metadata":{"annotations":{"berth.dev/gpus-used":null}}})");
  EXPECT_TRUE(cluster.decide(2).uses.empty());
}

// ---- whatever happens ----------------------------------------------------------------------------------------------------

// What the scheduler hears comes late, its writes may be its last, bindings are refused, and nodes scrub when they like. What is
// really left in the memory of GPUs stands here.
class LeftoverWorld {
 public:
  explicit LeftoverWorld(std::uint64_t seed) : rng_(Seed{seed}) {
    for (const char* const name : {"n1", "n2"}) nodes_[name] = node(name, 2);
    begin_anew();
  }

  void step() {
    now_ = now_ + Duration{rng_.between(1, 2000)};
    switch (rng_.below(7)) {
      case 0:
        return create();
      case 1:
        return (void)end_one();
      case 2:
        return scrub_one();
      case 3:
        return rng_.below(5) == 0 ? begin_anew() : hear_something();
      case 4:
        return hear_something();
      default:
        return decide();
    }
  }

  // When nobody comes any more all have had their turn.
  void come_to_rest() {
    for (int i = 0; i < 200 && (i == 0 || !pods_.empty()); ++i) {
      now_ = now_ + seconds(1);
      while (!unheard_.empty()) hear_something();
      decide();
      while (end_one()) continue;
      for (int each = 0; each < 8; ++each) scrub_one();
    }
    EXPECT_TRUE(pods_.empty()) << pods_.size() << " still wait";
  }

 private:
  using GpuOf = std::pair<std::string, int>;

  void create() {
    const std::string name = "p" + std::to_string(created_++);
    PodFacts facts = rng_.below(2) == 0 ? part(name, 500) : pod(name, static_cast<std::int32_t>(rng_.between(1, 2)));
    facts.queue = std::string(1, static_cast<char>('a' + rng_.below(3)));
    facts.created = facts.queued = now_;
    pods_[facts.uid] = facts;
    unheard_.insert(facts.uid);
  }

  // Nobody tells the scheduler at once.
  bool end_one() {
    std::vector<std::string> running;
    for (const auto& [uid, facts] : pods_) {
      if (facts.stage == PodStage::kBound) running.push_back(uid);
    }
    if (running.empty()) return false;
    const std::string uid = running[rng_.below(running.size())];
    pods_.erase(uid);
    unheard_.insert(uid);
    return true;
  }

  bool is_occupied(const GpuOf& gpu) const {
    return std::ranges::any_of(pods_, [&](const auto& each) {
      const PodFacts& facts = each.second;
      return facts.stage == PodStage::kBound && facts.node == gpu.first && facts.given->gpus.contains(gpu.second);
    });
  }

  // One that was asked for begins, or one that has begun ends; it was asked for then, and may not be any more.
  void scrub_one() {
    const GpuOf gpu{rng_.below(2) == 0 ? "n1" : "n2", static_cast<int>(rng_.below(2))};
    if (is_occupied(gpu)) return (void)begun_.erase(gpu);
    GpuRecords& records = nodes_[gpu.first].records;
    if (const auto begun = begun_.find(gpu); begun != begun_.end()) {
      const bool fails = rng_.below(8) == 0;
      if (!fails) left_.erase(gpu);
      records.scrubs[gpu.second] = {begun->second, fails ? "bad luck" : ""};
      begun_.erase(begun);
      unheard_.insert(gpu.first);
      return;
    }
    // Somebody repairs it.
    if (records.state_of(gpu.second) == GpuState::kQuarantined) {
      records.scrubs.erase(gpu.second);
      unheard_.insert(gpu.first);
    }
    const auto use = records.uses.find(gpu.second);
    if (use != records.uses.end() && use->second.is_asked_for() && records.state_of(gpu.second) == GpuState::kDirty) {
      begun_[gpu] = use->second.scrub;
    }
  }

  void hear_something() {
    if (unheard_.empty()) return;
    auto at = unheard_.begin();
    std::advance(at, static_cast<std::ptrdiff_t>(rng_.below(unheard_.size())));
    const std::string key = *at;
    unheard_.erase(at);
    engine_->it_is(now_);
    if (nodes_.contains(key)) {
      engine_->set_node(nodes_[key]);
    } else if (pods_.contains(key)) {
      engine_->set_pod(pods_[key]);
    } else {
      engine_->remove_pod(key);
    }
  }

  void begin_anew() {
    engine_ = std::make_unique<LiveEngine>(Seed{7}, PlacementPolicy::kBestFit, nullptr, Scrubs::kByNodes);
    unheard_.clear();
    for (const char* const name : {"a", "b", "c"}) engine_->set_queue(queue(name, 0));
    for (const auto& [name, facts] : nodes_) engine_->set_node(facts);
    for (const auto& [uid, facts] : pods_) engine_->set_pod(facts);
  }

  void decide() {
    const Round round = engine_->decide(now_);
    EXPECT_EQ(violations(engine_->state()), std::vector<std::string>());
    for (const NodeUses& uses : round.uses) {
      Value object;
      object.at("metadata").at("annotations").set(kGpusUsedAnnotation, uses.text);
      nodes_[uses.node].records.uses = read_gpu_records(object).uses;
      unheard_.insert(uses.node);
    }
    if (rng_.below(10) == 0) return begin_anew();
    for (const Binding& binding : round.bindings) {
      const auto at = pods_.find(binding.pod.uid);
      if (at == pods_.end() || rng_.below(10) == 0) {
        engine_->refuse_binding(binding.pod.uid);
        continue;
      }
      PodFacts& facts = at->second;
      facts = bound(facts, binding, now_);
      unheard_.insert(facts.uid);
      facts.given->gpus.for_each([&](int gpu) {
        std::set<std::string>& left = left_[{facts.node, gpu}];
        for (const std::string& tenant : left) {
          EXPECT_EQ(tenant, facts.queue) << facts.name << " came to what " << tenant << " has left on " << facts.node;
        }
        left.insert(facts.queue);
      });
    }
  }

  Rng rng_;
  Time now_{1000};
  std::unique_ptr<LiveEngine> engine_;
  std::map<std::string, NodeFacts> nodes_;
  std::map<std::string, PodFacts> pods_;
  std::set<std::string> unheard_;                // nodes, and pods by uid
  std::map<GpuOf, std::set<std::string>> left_;  // by whom, in truth
  std::map<GpuOf, std::int64_t> begun_;          // scrubs, by the number that was asked for
  int created_ = 0;
};

TEST(LiveScrubsProperty, NobodyComesToWhatAStrangerLeftWhateverTheWorldDoes) {
  for (const Seed seed : property_seeds(60)) {
    SCOPED_TRACE(name_of(seed));
    LeftoverWorld world(seed.value);
    for (int i = 0; i < 300 && !::testing::Test::HasFailure(); ++i) world.step();
    if (!::testing::Test::HasFailure()) world.come_to_rest();
    if (::testing::Test::HasFailure()) return;
  }
}

}  // namespace berth::live_scrubs_test
