#include "placement/scores.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "base/property_seeds.h"
#include "placement/filters.h"
#include "placement/near_gpus.h"
#include "placement/slice_choice.h"
#include "state/random_world.h"

namespace berth::scores_test {

UsualDemand no_demand(std::size_t flavors) {
  return {std::vector<TypicalPod>{}, std::vector<std::int64_t>(flavors, 0)};
}

// The formulas once more, as slowly as they read, in long double or in whole numbers.
struct Slow {
  const Ledger& ledger;
  NodeId id;
  const PodRequest& request;
  const UsualDemand& usual;
  const NodeFree& node = ledger.node(id);

  std::int32_t milli() const { return request.is_replica() ? kMilliPerGpu / node.replicas : request.gpu_milli; }

  // Of those that are there.
  std::int64_t cpus_taken() const {
    if (!request.in_extra) return request.cpu_milli;
    return std::max<std::int64_t>(0, request.cpu_milli - std::max<std::int64_t>(0, ledger.extra(id).all.cpu_milli));
  }

  bool gpu_fits(std::size_t gpu) const {
    if (ledger.gpu_milli(id)[gpu] < milli()) return false;
    if (request.is_fraction() && !is_welcome(ledger, id, gpu, request)) return false;
    return ledger.gpu_memory_mib(id)[gpu] >= gpu_memory_taken(request, node.gpu_memory_mib);
  }

  std::vector<int> fitting_gpus() const {
    std::vector<int> gpus;
    for (int gpu = 0; gpu < node.gpus; ++gpu) {
      if (gpu_fits(static_cast<std::size_t>(gpu))) gpus.push_back(gpu);
    }
    return gpus;
  }

  int free_of(int gpu) const { return ledger.gpu_milli(id)[static_cast<std::size_t>(gpu)]; }

  // The GPU whose `rank` is largest, the first of equals.
  template <class Rank>
  int first_best(Rank rank) const {
    const std::vector<int> gpus = fitting_gpus();
    return *std::max_element(gpus.begin(), gpus.end(), [&](int a, int b) { return rank(a) < rank(b); });
  }
  int fullest() const {
    return first_best([&](int gpu) { return -free_of(gpu); });
  }
  int emptiest() const {
    return first_best([&](int gpu) { return free_of(gpu); });
  }

  // By how much what the usual pods cannot use falls, in thousandths of a GPU times weight: before and after.
  std::pair<std::int64_t, std::int64_t> unusable_with(const std::vector<int>& taken) const {
    std::vector<std::int16_t> before;
    std::vector<std::int16_t> after;
    for (int gpu = 0; gpu < node.gpus; ++gpu) {
      before.push_back(static_cast<std::int16_t>(free_of(gpu)));
      const bool is_taken = std::find(taken.begin(), taken.end(), gpu) != taken.end();
      after.push_back(static_cast<std::int16_t>(free_of(gpu) - (is_taken ? milli() : 0)));
    }
    const FlavorId flavor(node.flavor);
    return {usual.fragmentation.unusable(flavor, node.cpu_milli, before),
            usual.fragmentation.unusable(flavor, node.cpu_milli - cpus_taken(), after)};
  }
  int fgd_with(const std::vector<int>& taken) const {
    const auto [before, after] = unusable_with(taken);
    return usual.fragmentation.score(before, after);
  }
  int fgd_gpu() const {
    return first_best([&](int gpu) { return fgd_with({gpu}); });
  }
  std::vector<int> first_free() const {
    std::vector<int> gpus = fitting_gpus();
    gpus.resize(static_cast<std::size_t>(request.gpus));
    return gpus;
  }
  int fgd() const {
    if (node.gpus == 0) return 50;
    return fgd_with(request.is_fraction() ? std::vector<int>{fgd_gpu()} : first_free());
  }

  // Ours: all in 250ths of a GPU, four thousandths.
  int fgd_balanced_gpu() const {
    return first_best([&](int gpu) {
      const auto [before, after] = unusable_with({gpu});
      return before - after;
    });
  }
  long double fgd_balanced() const {
    if (node.gpus == 0) return 1;
    const auto [before, after] =
        unusable_with(request.is_fraction() ? std::vector<int>{fgd_balanced_gpu()} : first_free());
    const std::int64_t taken = std::int64_t{request.gpus} * milli();
    const long double fall = static_cast<long double>(before - after) / usual.fragmentation.weight();
    const std::int64_t stranded = usual.balance.stranded(node.cpu_milli - cpus_taken(), node.gpu_milli - taken) -
                                  usual.balance.stranded(node.cpu_milli, node.gpu_milli);
    const std::int64_t sought = taken * usual.balance.scarcity(FlavorId(node.flavor)) / 1000;
    const long double points = (fall - stranded / 2.0L - sought / 4.0L) / 4;
    return std::clamp(points, -30'000.0L, 30'000.0L);
  }

  // Sums of eighths of thousandths are exact here: 128,000 and 8,000 divide powers of two times 1,000.
  long double left_over() const {
    const auto cpu_left = static_cast<long double>(node.cpu_milli - cpus_taken());
    const auto gpu_left = static_cast<long double>(node.gpu_milli - request.gpus * milli());
    return 0.5L * cpu_left / 128'000 + 0.5L * gpu_left / 8'000;
  }

  int gpu_packing() const {
    if (request.gpus == 0) return 0;
    int idle = 0;
    for (int gpu = 0; gpu < node.gpus; ++gpu) idle += free_of(gpu) == 1000 ? 1 : 0;
    if (idle == node.gpus) return std::max(33 - idle, idle);
    std::vector<int> gpus = fitting_gpus();
    std::stable_sort(gpus.begin(), gpus.end(), [&](int a, int b) { return free_of(a) < free_of(b); });
    gpus.resize(static_cast<std::size_t>(request.gpus));
    int wholly_free = 0;
    int rest = 0;
    for (const int gpu : gpus) {
      wholly_free += free_of(gpu) == 1000 ? 1 : 0;
      rest += free_of(gpu) * 100 / 1000;
    }
    return wholly_free > 0 ? std::max(50 - wholly_free, 33) : std::max(100 - rest / 10, 50);
  }

  int gpu_clustering(const std::vector<Move>& moves) const {
    if (request.gpus == 0) return 0;
    const auto kind = [](const PodRequest& pod) { return pod.is_fraction() ? 0 : pod.gpus; };
    bool has_own = false;
    bool has_others = false;
    for (const Move& move : moves) {
      if (move.node != id || move.request.gpus == 0) continue;
      (kind(move.request) == kind(request) ? has_own : has_others) = true;
    }
    const int base = static_cast<int>(std::floor(25.0L * (8000 - node.gpu_milli) / 8000));
    if (has_own) return base + (has_others ? 50 : 75);
    return base + (has_others ? 0 : 25);
  }

  long double dot_product() const {
    const long double cpu =
        static_cast<long double>(node.cpu_milli) / 128'000 * static_cast<long double>(request.cpu_milli) / 128'000;
    const long double gpu =
        static_cast<long double>(node.gpu_milli) / 8'000 * static_cast<long double>(request.gpus * milli()) / 8'000;
    return 100 * (1 - (cpu + gpu) / 2);
  }
};

// Of a node that has to turn: it stands below all that need not, and among its like as it would. The same where best effort takes CPUs
// that are there.
Score score(PlacementPolicy policy, const Slow& slow) {
  const Score score = score_row(policy).score_if_fits(NodeView(slow.ledger, slow.id), slow.request, slow.usual);
  const bool turns = slow.request.gpus > 0 && slow.node.would_turn(slow.request.sharing);
  if (score == ScoreTree::kUnfit) return score;
  if (!turns) return static_cast<Score>(slow.request.in_extra && slow.cpus_taken() > 0 ? score + 8'000 : score);
  EXPECT_LT(score, -30'000);
  return static_cast<Score>(score + 31'500);
}

// At a whole number a long double may stand a hair below or above.
void expect_floor(int actual, long double exact, const char* what) {
  const long double nearest = std::round(exact);
  const long double expected = std::abs(exact - nearest) < 1e-9L ? nearest : std::floor(exact);
  ASSERT_EQ(actual, static_cast<int>(expected)) << what;
}

void expect_published_scores(const Slow& slow, const std::vector<Move>& moves) {
  ASSERT_EQ(score(PlacementPolicy::kFgd, slow), slow.fgd());
  expect_floor(score(PlacementPolicy::kBestFit, slow), 100 * (1 - slow.left_over()), "best-fit");
  ASSERT_EQ(score(PlacementPolicy::kGpuPacking, slow), slow.gpu_packing());
  ASSERT_EQ(score(PlacementPolicy::kGpuClustering, slow), slow.gpu_clustering(moves));
  expect_floor(score(PlacementPolicy::kDotProduct, slow), slow.dot_product(), "dot-product");
  ASSERT_EQ(score(PlacementPolicy::kRandom, slow), 0);
  expect_floor(score(PlacementPolicy::kSpread, slow), 100 * slow.left_over(), "spread");
}

void expect_our_scores(const Slow& slow) {
  const long double exact = slow.fgd_balanced();
  const bool turns = slow.request.gpus > 0 && slow.node.would_turn(slow.request.sharing);
  expect_floor(score(PlacementPolicy::kFgdBalanced, slow), turns ? std::clamp(exact, -1000.0L, 1000.0L) : exact,
               "fgd-balanced");
}

GpuSet chosen(PlacementPolicy policy, const Slow& slow, Rng& rng) {
  return place_on(score_row(policy), slow.id, NodeView(slow.ledger, slow.id), slow.request, slow.usual, rng).gpus;
}

void expect_gpus(const Slow& slow, Rng& rng) {
  for (std::size_t i = 0; i < std::size(kPlacementPolicyNames); ++i) {
    const auto policy = static_cast<PlacementPolicy>(i);
    const GpuSet gpus = chosen(policy, slow, rng);
    ASSERT_EQ(gpus.size(), slow.request.gpus);
    if (slow.request.gpus == 0) continue;
    GpuSet expected;
    if (slow.ledger.node(slow.id).counts_by_zone(slow.request)) continue;  // zone_choice_test.cc
    if (!slow.request.is_fraction() && slow.ledger.node(slow.id).linked) {
      const NodeView node(slow.ledger, slow.id);
      expected = nearest_gpus(node.free_and_clean_gpus(slow.request), slow.request.gpus, node.links());
    } else if (!slow.request.is_fraction()) {
      for (const int gpu : slow.first_free()) expected.add(gpu);
    } else if (slow.request.is_vgpu()) {
      expected.add(slow.fullest());
    } else if (policy == PlacementPolicy::kRandom) {
      gpus.for_each([&](int gpu) { ASSERT_TRUE(slow.gpu_fits(static_cast<std::size_t>(gpu))); });
      continue;
    } else {
      expected.add(policy == PlacementPolicy::kFgd           ? slow.fgd_gpu()
                   : policy == PlacementPolicy::kFgdBalanced ? slow.fgd_balanced_gpu()
                   : policy == PlacementPolicy::kSpread      ? slow.emptiest()
                                                             : slow.fullest());
    }
    ASSERT_EQ(gpus, expected) << name_of(policy);
  }
}

// Beside those of its profile before any GPU without vGPUs, whatever the policy says of these.
void expect_vgpu_scores(const Slow& slow) {
  const int free = slow.free_of(slow.fullest());
  for (std::size_t policy = 0; policy < std::size(kPlacementPolicyNames); ++policy) {
    const Score found = score(static_cast<PlacementPolicy>(policy), slow);
    if (free < kMilliPerGpu) {
      ASSERT_EQ(found, 2000 - free);
    } else {
      ASSERT_TRUE(-1000 <= found && found <= 1000) << found;
    }
  }
}

bool lies_too_far_apart(const Slow& slow) {
  if (slow.request.gpus < 2 || !slow.ledger.node(slow.id).linked) return false;
  Rng rng(Seed{1});
  return groups_too_many(chosen(PlacementPolicy::kBestFit, slow, rng), slow.ledger.links(slow.id)) > 0;
}

// And before those that would turn into another mode for it.
void expect_behind_all_that_are_near(const Slow& slow) {
  if (slow.ledger.node(slow.id).would_turn(slow.request.sharing)) return;
  for (std::size_t policy = 0; policy < std::size(kPlacementPolicyNames); ++policy) {
    const Score found = score_row(static_cast<PlacementPolicy>(policy))
                            .score_if_fits(NodeView(slow.ledger, slow.id), slow.request, slow.usual);
    ASSERT_TRUE(-30'500 < found && found < -30'000) << found;
  }
}

TEST(ScoresProperty, AreTheFormulas) {
  std::map<bool, int> seen;
  for (const Seed seed : property_seeds(10'000)) {
    SCOPED_TRACE(name_of(seed));
    Rng rng(seed);
    Ledger ledger;
    add_to_ledger(ledger, random_node(rng, 2));
    const auto moves = crowd(ledger, rng, 2, rng.between(0, 60));
    const auto typical = random_typical_pods(rng, 2);
    const std::vector<std::int64_t> gpus = {rng.between(0, 100), rng.between(0, 100)};
    const UsualDemand usual(typical, gpus);
    for (int i = 0; i < 10; ++i) {
      const PodRequest request = somebodys_request(rng, 2);
      const Slow slow{ledger, NodeId(0), request, usual};
      if (request.is_slice()) continue;  // of slices, below
      const bool fits = some_place(ledger, NodeId(0), request, rng).has_value();
      ++seen[fits];
      if (fits) {
        expect_gpus(slow, rng);
        if (HasFatalFailure()) return;
        if (lies_too_far_apart(slow)) {
          expect_behind_all_that_are_near(slow);
        } else if (request.is_vgpu()) {
          expect_vgpu_scores(slow);
        } else {
          expect_published_scores(slow, moves);
          expect_our_scores(slow);
        }
      } else {
        for (std::size_t policy = 0; policy < std::size(kPlacementPolicyNames); ++policy) {
          ASSERT_EQ(score(static_cast<PlacementPolicy>(policy), slow), ScoreTree::kUnfit);
        }
      }
      if (HasFatalFailure()) return;
    }
  }
  EXPECT_GT(seen[true], 0);
  EXPECT_GT(seen[false], 0);
}

// Of the best offer of the node's GPUs, under every policy, and that is the one which is made.
void expect_slice_where_least_is_lost(const NodeView& view, const PodRequest& slice, const UsualDemand& none) {
  const SliceCosts& costs = slice_costs_of(view.free.family);
  const auto offer_of = [&](std::size_t gpu) {
    return best_offer(costs, slice.slice, view.layouts()[gpu], view.fixed_slices(), view.cut_of(gpu));
  };
  std::optional<SliceOffer> least;
  for (std::size_t gpu = 0; gpu < view.free.gpus; ++gpu) {
    const auto offer = offer_of(gpu);
    if (offer && (!least || offer->comes_before(*least))) least = offer;
  }
  ASSERT_TRUE(least.has_value());
  Rng rng(Seed{1});
  for (std::size_t i = 0; i < std::size(kPlacementPolicyNames); ++i) {
    const ScoreRow& row = score_row(static_cast<PlacementPolicy>(i));
    const int waits = 10'000 * static_cast<int>(least->wait);
    ASSERT_EQ(row.score_if_fits(view, slice, none), -waits - static_cast<int>(costs.rank_of(least->cost)));
    const PodPlacement place = place_on(row, NodeId(0), view, slice, none, rng);
    ASSERT_EQ(place.gpus.size(), 1);
    place.gpus.for_each([&](int gpu) {
      const auto offer = offer_of(static_cast<std::size_t>(gpu));
      ASSERT_TRUE(offer && !least->comes_before(*offer));
      ASSERT_EQ(view.free.geometry().places()[offer->place].start, place.slice_start);
    });
  }
}

TEST(ScoresProperty, OfASliceSayWhatIsLostToLargerOnes) {
  const UsualDemand none = no_demand(2);
  int fitting = 0;
  for (const Seed seed : property_seeds(2000)) {
    SCOPED_TRACE(name_of(seed));
    Rng rng(seed);
    Node node = random_node(rng, 2);
    if (node.gpus == 0) continue;
    node.sharing = Sharing::kMig;
    node.other_modes = {};
    node.replicas = 1;
    if (rng.below(2) == 0) node.fixed_slices = random_fixed_slices(rng, *geometry_in_random_world(node));
    if (node.fixed_slices.empty()) node.recut = Duration{0};
    Ledger ledger;
    add_to_ledger(ledger, node);
    cut_some_anew(ledger, rng);
    crowd(ledger, rng, 2, rng.between(0, 200));
    PodRequest slice;
    make_slice(slice, rng, 2);
    const NodeView view(ledger, NodeId(0));
    if (!fits(view, slice)) continue;
    ++fitting;
    expect_slice_where_least_is_lost(view, slice, none);
    if (HasFatalFailure()) return;
  }
  EXPECT_GT(fitting, 100);
}

// Places that all agree with one layout of the node, found by trying: the layouts, and what is there now unless somebody is there.
MigPlaceSet open_with_one_layout(const Ledger& ledger, const Node& node, std::size_t gpu, bool is_held) {
  const GpuCut& cut = *ledger.cut_of(NodeId(0), 0);
  std::vector<MigPlaceSet> all = {cut.slices};
  if (!is_held && !cut.stays()) all.insert(all.end(), node.layouts.begin(), node.layouts.end());
  MigPlaceSet open;
  for (const MigPlaceSet layout : all) {
    const auto taken = ledger.layouts(NodeId(0));
    const bool has_all = std::ranges::all_of(taken, [&](MigPlaceSet each) { return each.minus(layout).empty(); });
    if (has_all) open = open.united_with(layout.minus(taken[gpu]));
  }
  return open;
}

// Of a node whose GPUs are cut at once: as many as are counted find a place, one after the other, and what was there before holds it.
TEST(ScoresProperty, OnANodeThatIsCutAtOnceWhatIsCountedIsFound) {
  const UsualDemand none = no_demand(1);
  int found = 0, held = 0, narrowed = 0;
  for (const Seed seed : property_seeds(2000)) {
    SCOPED_TRACE(name_of(seed));
    Rng rng(seed);
    Node node{.name = "n", .flavor = FlavorId(0), .gpus = one_of(rng, {1, 2, 4}), .cpu_milli = 64'000};
    node.sharing = Sharing::kMig;
    const MigGeometry& mig = *geometry_in_random_world(node);
    while (node.fixed_slices.empty()) node.fixed_slices = random_fixed_slices(rng, mig);
    node.recut = seconds(60);
    for (std::int64_t left = rng.between(1, 4); left > 0;) {
      const MigPlaceSet layout = random_fixed_slices(rng, mig);
      if (layout.empty()) continue;
      node.layouts.push_back(layout);
      --left;
    }
    Ledger ledger;
    add_to_ledger(ledger, node);
    bool is_held = false;
    for (int step = 0; step < 6; ++step) {
      PodRequest slice;
      make_slice(slice, rng, 1);
      std::int64_t room = room_for(ledger, NodeId(0), slice);
      for (std::int64_t left = rng.between(0, 3); left > 0 && room > 0; --left) {
        const NodeView view(ledger, NodeId(0));
        ASSERT_TRUE(fits(view, slice));
        const PodPlacement place = place_on(score_row(PlacementPolicy::kBestFit), NodeId(0), view, slice, none, rng);
        const auto gpu = static_cast<std::size_t>(std::countr_zero(place.gpus.bits()));
        const std::size_t at = *mig.find_place(slice.slice, place.slice_start);
        ASSERT_TRUE(is_free(ledger, slice, place));
        ASSERT_TRUE(open_with_one_layout(ledger, node, gpu, is_held).contains(at));
        ledger.apply(move_of(slice, place));
        ASSERT_EQ(room_for(ledger, NodeId(0), slice), --room);
        ++found;
      }
      std::int64_t open = 0;
      for (std::size_t gpu = 0; gpu < static_cast<std::size_t>(node.gpus); ++gpu) {
        const MigPlaceSet plainly = open_with_one_layout(ledger, node, gpu, is_held);
        ASSERT_EQ(ledger.open_beside(NodeId(0), gpu, ledger.layouts(NodeId(0))[gpu]).bits(), plainly.bits());
        open += plainly.common_with(mig.places_of(slice.slice)).size();
      }
      ASSERT_EQ(room_for(ledger, NodeId(0), slice) == 0, open == 0);
      narrowed += std::ssize(ledger.possible_layouts(NodeId(0))) < std::ssize(node.layouts) ? 1 : 0;
      if (rng.below(6) > 0) continue;
      const MigPlaceSet becomes = ledger.possible_layouts(NodeId(0)).front();
      for (int gpu = 0; gpu < node.gpus; ++gpu) ledger.set_cut({NodeId(0), gpu}, {.slices = becomes, .to_come = {}});
      ledger.settle();
      is_held = std::ranges::any_of(ledger.layouts(NodeId(0)), [](MigPlaceSet each) { return !each.empty(); });
      held += is_held ? 1 : 0;
    }
  }
  EXPECT_GT(found, 1000);
  EXPECT_GT(held, 100);
  EXPECT_GT(narrowed, 100);
}

// What fgd cannot tell apart: a pod without GPUs goes where the CPUs that are left still serve the GPUs.
class Balanced : public ::testing::Test {
 protected:
  static constexpr FlavorId kCommon = FlavorId(0);
  static constexpr FlavorId kRare = FlavorId(1);

  void add(FlavorId flavor, std::int64_t cores) {
    ledger_.add(
        {.name = "", .flavor = flavor, .gpus = 4, .gpu_memory_mib = 0, .cpu_milli = cores * 1000, .memory_bytes = 0});
  }
  Score of(PlacementPolicy policy, std::size_t node, const PodRequest& request) const {
    return score_row(policy).score_if_fits(NodeView(ledger_, NodeId(node)), request, usual_);
  }

  Ledger ledger_;
  // Four cores with each GPU, anywhere; and once in ten a pod that has to have the rare type.
  UsualDemand usual_{
      std::vector<TypicalPod>{{4000, 1, 1000, FlavorSet::all(), 9}, {4000, 1, 1000, FlavorSet::of(kRare), 1}},
      std::vector<std::int64_t>{36, 4}};
};

TEST_F(Balanced, KeepsTheCpusThatGpusNeed) {
  add(kCommon, 16);
  add(kCommon, 32);
  const PodRequest pod{.cpu_milli = 10'000};
  EXPECT_EQ(of(PlacementPolicy::kFgd, 0, pod), of(PlacementPolicy::kFgd, 1, pod)) << "each still holds a usual pod";
  EXPECT_LT(of(PlacementPolicy::kFgdBalanced, 0, pod), of(PlacementPolicy::kFgdBalanced, 1, pod));
}

TEST_F(Balanced, PrefersNodesWithoutGpusForWhoAsksNone) {
  add(kCommon, 32);
  ledger_.add({.name = "", .flavor = FlavorId(), .cpu_milli = 32'000, .memory_bytes = 0});
  const PodRequest pod{.cpu_milli = 4000};
  EXPECT_LT(of(PlacementPolicy::kFgdBalanced, 0, pod), of(PlacementPolicy::kFgdBalanced, 1, pod));
}

TEST_F(Balanced, SparesWhatIsSoughtAfter) {
  add(kCommon, 16);
  add(kRare, 16);
  const PodRequest anywhere{.cpu_milli = 4000, .gpus = 1, .gpu_milli = 1000};
  EXPECT_GT(of(PlacementPolicy::kFgdBalanced, 0, anywhere), of(PlacementPolicy::kFgdBalanced, 1, anywhere));
}

// Two GPUs with equal rests, of which only the second has memory left.
TEST(Fgd, PassesOverAGpuWhoseMemoryIsTaken) {
  Ledger ledger;
  ledger.add(
      {.name = "", .flavor = FlavorId(0), .gpus = 2, .gpu_memory_mib = 1000, .cpu_milli = 8000, .memory_bytes = 0});
  const PodRequest bounded{.gpus = 1, .gpu_milli = 500, .gpu_memory_mib = 1000};
  const PodRequest half{.gpus = 1, .gpu_milli = 500};
  ledger.apply({.request = bounded, .node = NodeId(0), .gpus = GpuSet::from_bits(1)});
  ledger.apply({.request = half, .node = NodeId(0), .gpus = GpuSet::from_bits(2)});
  const UsualDemand usual(std::vector<TypicalPod>{{0, 1, 500, FlavorSet::all(), 1}}, std::vector<std::int64_t>{2});
  Rng rng(Seed{1});
  const NodeView view(ledger, NodeId(0));
  const PodPlacement place = place_on(score_row(PlacementPolicy::kFgd), NodeId(0), view, half, usual, rng);
  EXPECT_EQ(place.gpus, GpuSet::from_bits(2));
}

TEST(RandomPolicy, DrawsEveryFittingGpuEquallyOften) {
  Ledger ledger;
  ledger.add({.name = "", .flavor = FlavorId(0), .gpus = 4, .gpu_memory_mib = 0, .cpu_milli = 8000, .memory_bytes = 0});
  ledger.apply({.request = {.gpus = 1, .gpu_milli = 1000}, .node = NodeId(0), .gpus = GpuSet::from_bits(2)});
  const UsualDemand usual = no_demand(1);
  Rng rng(Seed{1});
  std::map<std::uint64_t, int> drawn;
  for (int i = 0; i < 3000; ++i) {
    const PodPlacement place = place_on(score_row(PlacementPolicy::kRandom), NodeId(0), NodeView(ledger, NodeId(0)),
                                        {.gpus = 1, .gpu_milli = 500}, usual, rng);
    ++drawn[place.gpus.bits()];
  }
  ASSERT_EQ(drawn.size(), 3u);
  for (const auto& [gpus, times] : drawn) EXPECT_NEAR(times, 1000, 150) << gpus;
}

}  // namespace berth::scores_test
