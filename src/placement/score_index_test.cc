#include "placement/score_index.h"

#include <gtest/gtest.h>

#include <vector>

#include "base/property_seeds.h"
#include "state/random_world.h"

namespace berth::score_index_test {

constexpr std::size_t kFlavors = 3;
// Too few for all rows: the index keeps sixteen and makes the others again.
constexpr std::size_t kTiny = 1;

// A state that knows many distinct requests; whose pods sit where does not matter here.
State with_requests(Seed seed, PlacementPolicy policy, Rng& rng, std::int64_t requests) {
  State state = new_state(seed, policy, kFlavors, {Order::kFifo});
  state.apply(TypicalPodsChosen{random_typical_pods(rng, kFlavors)});
  for (; requests > 0; --requests) {
    PodRequest request = random_request(rng, kFlavors);
    request.cpu_milli += rng.between(0, 50);
    state.apply(submission(QueueId(0), {{{{request, 1, random_constraints(rng)}}}}));
  }
  return state;
}

// Asks both for one more pod of a random request.
void expect_the_same(const State& state, ScoreIndex& index, Rng& rng) {
  const RequestId request(static_cast<std::size_t>(rng.below(state.requests())));
  Rng with_index(Seed{rng.next()});
  Rng with_scan = with_index;
  const auto fast = index.best(state, request, with_index);
  const auto slow = ScoreIndex::best_by_scan(state, state.request(request), with_scan);
  ASSERT_EQ(fast, slow);
  ASSERT_EQ(with_index.next(), with_scan.next()) << "the index drew oftener, or less often";
}

class Crowd {
 public:
  explicit Crowd(State& state) : state_(state) { introduce_sharers(state.ledger_for_trial()); }

  void change(Rng& rng) {
    const NodeId node(static_cast<std::size_t>(rng.below(state_.ledger().nodes())));
    Ledger& ledger = state_.ledger_for_trial();
    if (rng.below(3) == 0 && !moves_.empty()) {
      std::swap(moves_[static_cast<std::size_t>(rng.below(moves_.size()))], moves_.back());
      ledger.apply(inverse(moves_.back()));
      moves_.pop_back();
      return;
    }
    if (rng.below(20) == 0) state_.apply(NodeDrained{node});
    if (rng.below(10) == 0) state_.apply(NodeRestored{node});
    if (rng.below(10) == 0) state_.apply(NodeRelabelled{node, random_labels(rng), random_taints(rng)});
    const PodRequest request = somebodys_request(rng, kFlavors);
    const auto place = some_place(ledger, node, request, rng);
    if (!place) return;
    moves_.push_back(move_of(request, *place));
    ledger.apply(moves_.back());
  }

 private:
  State& state_;
  std::vector<Move> moves_;
};

TEST(ScoreIndexProperty, AnswersWhatAScanAnswers) {
  for (const Seed seed : property_seeds(140)) {
    SCOPED_TRACE(name_of(seed));
    Rng rng(seed);
    const auto policy = static_cast<PlacementPolicy>(rng.below(std::size(kPlacementPolicyNames)));
    SCOPED_TRACE(name_of(policy));
    State state = with_requests(seed, policy, rng, 30);
    ScoreIndex index(rng.below(2) == 0 ? kTiny : ScoreIndex::kDefaultBytesMax);
    expect_the_same(state, index, rng);
    state.apply(NodesAdded{random_nodes(rng, kFlavors, 1, rng.below(4) == 0 ? 200 : 20)});
    Crowd crowd(state);
    for (int step = 0; step < 150; ++step) {
      for (std::int64_t changes = rng.between(0, 8); changes > 0; --changes) crowd.change(rng);
      if (rng.below(40) == 0) state.apply(NodesAdded{random_nodes(rng, kFlavors, 1, 80)});
      if (rng.below(40) == 0) state.apply(TypicalPodsChosen{random_typical_pods(rng, kFlavors)});
      if (rng.below(40) == 0) state.apply(submission(QueueId(0), single_pod(random_request(rng, kFlavors))));
      expect_the_same(state, index, rng);
      if (HasFatalFailure()) return;
    }
  }
}

// Three levels of sums of 64, and more changes than the ledger lists.
TEST(ScoreIndexProperty, AnswersWhatAScanAnswersOnALargeFleet) {
  for (const Seed seed : property_seeds(7)) {
    SCOPED_TRACE(name_of(seed));
    Rng rng(seed);
    const auto policy = static_cast<PlacementPolicy>(seed.value % std::size(kPlacementPolicyNames));
    State state = with_requests(seed, policy, rng, 4);
    state.apply(NodesAdded{random_nodes(rng, kFlavors, 4100, 4300)});
    ScoreIndex index;
    Crowd crowd(state);
    for (int step = 0; step < 60; ++step) {
      for (std::int64_t changes = rng.below(8) == 0 ? 10'000 : rng.between(0, 50); changes > 0; --changes)
        crowd.change(rng);
      expect_the_same(state, index, rng);
      if (HasFatalFailure()) return;
    }
  }
}

TEST(ScoreIndex, GivesATieToTheFirstNodeOfTheRun) {
  State state = new_state(Seed{1}, PlacementPolicy::kBestFit, 1, {Order::kFifo});
  state.apply(NodesAdded{std::vector<Node>(200, {.name = "", .flavor = FlavorId(0), .gpus = 1})});
  state.apply(submission(QueueId(0), single_pod({.gpus = 1, .gpu_milli = 1000})));
  ScoreIndex index;
  Rng rng(Seed{1});
  for (std::size_t node = 0; node < 200; ++node) {
    const auto place = index.best(state, RequestId(0), rng);
    ASSERT_EQ(place, (PodPlacement{NodeId(node), GpuSet::from_bits(1)}));
    state.ledger_for_trial().apply({.request = state.request(RequestId(0)), .node = place->node, .gpus = place->gpus});
  }
  EXPECT_EQ(index.best(state, RequestId(0), rng), std::nullopt);
}

}  // namespace berth::score_index_test
