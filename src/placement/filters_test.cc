#include "placement/filters.h"

#include <gtest/gtest.h>

#include <optional>
#include <set>
#include <string>

#include "base/property_seeds.h"
#include "state/random_world.h"
#include "state/room.h"

namespace berth::filters_test {

// A node of four GPUs with 1,000 MiB each; what stands in a case was taken from it before.
struct Case {
  const char* what;
  std::vector<Move> taken;
  bool open;
  PodRequest request;
  std::string_view refused_with;  // empty: it fits
};

Move take(const PodRequest& request, std::uint64_t gpus) {
  return {.request = request, .node = NodeId(0), .gpus = GpuSet::from_bits(gpus)};
}

PodRequest extra(std::int64_t cpu_milli, std::int64_t memory_bytes = 0) {
  return {.cpu_milli = cpu_milli, .memory_bytes = memory_bytes, .in_extra = true};
}

PodRequest extra_with_gpu(std::int64_t cpu_milli) {
  return {.cpu_milli = cpu_milli, .gpus = 1, .gpu_milli = 100, .in_extra = true};
}

TEST(Filters, EachRefusesForItsOwnReason) {
  const Node node{.name = "",
                  .flavor = FlavorId(1),
                  .gpus = 4,
                  .gpu_memory_mib = 1000,
                  .cpu_milli = 8000,
                  .memory_bytes = 100,
                  .pods_max = 3,
                  .kept_per_gpu = {500, 10},
                  .extra = {4000, 50},
                  .numa_zones = 2,
                  .numa_policy = NumaPolicy::kRestricted};
  const PodRequest whole{.gpus = 1, .gpu_milli = 1000};
  const PodRequest half{.gpus = 1, .gpu_milli = 500};
  const PodRequest hungry{.gpus = 1, .gpu_milli = 100, .gpu_memory_mib = 900};
  const Case cases[] = {
      {"closed before all else", {}, false, {.cpu_milli = 9000}, "closed"},
      {"one GPU type too few",
       {},
       true,
       {.gpus = 1, .gpu_milli = 1, .flavors = FlavorSet::of(FlavorId(0))},
       "wrong type"},
      {"right type", {}, true, {.gpus = 1, .gpu_milli = 1, .flavors = FlavorSet::of(FlavorId(1))}, ""},
      {"GPU memory that no GPU has", {}, true, {.gpus = 1, .gpu_milli = 1, .gpu_memory_mib = 1001}, "too small GPUs"},
      {"the same for whole GPUs", {}, true, {.gpus = 1, .gpu_milli = 1000, .gpu_memory_mib = 1001}, "too small GPUs"},
      {"all GPUs", {}, true, {.gpus = 4, .gpu_milli = 1000}, ""},
      {"one more", {}, true, {.gpus = 5, .gpu_milli = 1000}, "too few free GPUs"},
      {"whole ones beside a fraction", {take(half, 1)}, true, {.gpus = 4, .gpu_milli = 1000}, "too few free GPUs"},
      {"a fraction beside others", {take({.gpus = 3, .gpu_milli = 1000}, 14), take(half, 1)}, true, half, ""},
      {"a larger one",
       {take({.gpus = 3, .gpu_milli = 1000}, 14), take(half, 1)},
       true,
       {.gpus = 1, .gpu_milli = 501},
       "too few free GPUs"},
      {"GPU memory that another holds",
       {take({.gpus = 3, .gpu_milli = 1000}, 14), take(hungry, 1)},
       true,
       hungry,
       "too little free GPU memory"},
      {"a share of memory that another holds",
       {take({.gpus = 3, .gpu_milli = 1000}, 14), take(hungry, 1)},
       true,
       half,
       "too little free GPU memory"},
      {"processor", {}, true, {.cpu_milli = 8001}, "too little free CPU"},
      {"processor exactly", {}, true, {.cpu_milli = 8000, .gpus = 1, .gpu_milli = 500}, ""},
      {"memory", {}, true, {.memory_bytes = 101}, "too little free memory"},
      {"memory exactly", {}, true, {.memory_bytes = 100, .gpus = 1, .gpu_milli = 500}, ""},
      {"processor that is kept", {}, true, {.cpu_milli = 6001}, kKeptForGpus},
      {"the rest of it", {}, true, {.cpu_milli = 6000}, ""},
      {"memory that is kept", {}, true, {.memory_bytes = 61}, kKeptForGpus},
      {"the rest of that", {}, true, {.memory_bytes = 60}, ""},
      {"the rest when others have some", {take({.cpu_milli = 1}, 0)}, true, {.cpu_milli = 6000}, kKeptForGpus},
      {"the rest when it is GPU work that has some",
       {take({.cpu_milli = 2000, .gpus = 1, .gpu_milli = 500}, 1)},
       true,
       {.cpu_milli = 6000},
       ""},
      {"best effort where all is taken", {take({.cpu_milli = 6000}, 0)}, true, extra(4000), ""},
      {"more than is extra", {take({.cpu_milli = 6000}, 0)}, true, extra(4001), kKeptForGpus},
      {"what of it others have left", {take({.cpu_milli = 6000}, 0), take(extra(3000), 0)}, true, extra(1000), ""},
      {"more than that", {take({.cpu_milli = 6000}, 0), take(extra(3000), 0)}, true, extra(1001), kKeptForGpus},
      {"best effort with GPUs", {take(extra_with_gpu(8000), 1)}, true, extra_with_gpu(4000), ""},
      {"more than both have", {take(extra_with_gpu(8000), 1)}, true, extra_with_gpu(4001), "too little free CPU"},
      {"work that counts, beside what is extra alone", {take(extra(4000), 0)}, true, {.cpu_milli = 6000}, ""},
      {"the same with GPUs",
       {take(extra_with_gpu(4000), 1)},
       true,
       {.cpu_milli = 8000, .gpus = 1, .gpu_milli = 500},
       ""},
      {"beside more than that", {take(extra(4001), 0)}, true, {.cpu_milli = 6000}, kKeptForGpus},
      {"the same with GPUs, beside more",
       {take(extra_with_gpu(4001), 1)},
       true,
       {.cpu_milli = 8000, .gpus = 1, .gpu_milli = 500},
       "too little free CPU"},
      {"more than the node has, promised or not", {}, true, extra_with_gpu(8001), "too little free CPU"},
      {"memory that is extra", {take({.memory_bytes = 60}, 0)}, true, extra(0, 50), ""},
      {"and no more", {take({.memory_bytes = 60}, 0)}, true, extra(0, 51), kKeptForGpus},
      {"more memory than the node has", {}, true, extra(0, 101), "too little free memory"},
      {"two zones for two GPUs", {take(whole, 1), take(whole, 4)}, true, {.gpus = 2, .gpu_milli = 1000}, kNotInZones},
      {"two zones for three", {take(whole, 1)}, true, {.gpus = 3, .gpu_milli = 1000}, ""},
      {"processor of the other zone",
       {take({.cpu_milli = 4000, .gpus = 1, .gpu_milli = 1000}, 1), take({.gpus = 2, .gpu_milli = 1000}, 12)},
       true,
       {.cpu_milli = 1, .gpus = 1, .gpu_milli = 1000},
       kNotInZones},
      {"pods", {take(half, 1), take(half, 1), take(whole, 2)}, true, {}, "too many pods"},
      {"one pod less", {take(half, 1), take(half, 1)}, true, {}, ""},
  };
  std::set<std::string_view> reached;
  for (const Case& c : cases) {
    Ledger ledger;
    ledger.add(node);
    for (const Move& move : c.taken) ledger.apply(move);
    ledger.set_open(NodeId(0), c.open);
    const std::size_t row = first_refusing(NodeView(ledger, NodeId(0)), c.request);
    EXPECT_EQ(row == kFilterCount ? "" : kRefusals[row], c.refused_with) << c.what;
    EXPECT_EQ(fits(NodeView(ledger, NodeId(0)), c.request), c.refused_with.empty()) << c.what;
    reached.insert(c.refused_with);
  }
  Ledger ledger;
  ledger.add({.name = "", .flavor = {}, .gpus = 0, .gpu_memory_mib = 0, .cpu_milli = 1, .memory_bytes = 1});
  EXPECT_EQ(kRefusals[first_refusing(NodeView(ledger, NodeId(0)), whole)], "no GPU");
  reached.insert("no GPU");
  for (const std::string_view refusal :
       {kSpare, kNotSelected, kNotTolerated, kOtherMode, kNoPlaceForSlice, kBesideOthers, kOnDirty}) {
    reached.insert(refusal);  // below
  }
  for (const std::string_view refusal : {kOthersOwnDomain, kAmongOthers}) {
    reached.insert(refusal);  // exclusive_domains_test.cc
  }
  reached.insert(kNearStrangers);  // tenant_domains_test.cc
  for (const std::string_view refusal : kRefusals) EXPECT_TRUE(reached.contains(refusal)) << refusal;
}

TEST(Filters, LookAtLabelsAndTaintsBeforeTheyLookAtRoom) {
  const Node node{.name = "n",
                  .flavor = {},
                  .cpu_milli = 8000,
                  .labels = {{"rack", "r1"}},
                  .taints = {{"team", "a", TaintEffect::kNoExecute}}};
  const std::vector<LabelRequirement> here = {{"rack", LabelOperator::kIn, {"r1"}}};
  const std::vector<LabelRequirement> not_here = {{"rack", LabelOperator::kIn, {"r2"}}};
  const std::vector<Toleration> tolerant = {{.key = "team", .any_value = true}};
  const struct {
    const char* what;
    NodeConstraints constraints;
    bool open;
    std::string_view refused_with;
  } cases[] = {
      {"nothing asked", {}, true, kNotTolerated},
      {"selected and tolerated", {.select = here, .tolerations = tolerant}, true, "too little free CPU"},
      {"tolerated", {.tolerations = tolerant}, true, "too little free CPU"},
      {"selected", {.select = here}, true, kNotTolerated},
      {"not selected", {.select = not_here, .tolerations = tolerant}, true, kNotSelected},
      {"neither", {.select = not_here}, true, kNotSelected},
      {"closed", {.select = not_here}, false, "closed"},
  };
  for (const auto& c : cases) {
    Ledger ledger;
    ledger.add(node);
    ledger.matches().look_at({node}, 0, 1);
    ledger.set_open(NodeId(0), c.open);
    PodRequest request{.cpu_milli = 9000};
    request.constraints = ledger.matches().intern({c.constraints, {}}, {node});
    EXPECT_EQ(kRefusals[first_refusing(NodeView(ledger, NodeId(0)), request)], c.refused_with) << c.what;
    request.cpu_milli = 8000;
    const bool fits_then = c.refused_with == "too little free CPU";
    EXPECT_EQ(fits(NodeView(ledger, NodeId(0)), request), fits_then) << c.what;
    EXPECT_EQ(room_for(ledger, NodeId(0), request), fits_then ? 1 : 0) << c.what;
  }
}

TEST(Filters, ASpareIsForWhomItIsLentTo) {
  const PodRequest request{.cpu_milli = 10};
  const struct {
    const char* what;
    bool open, spare;
    std::string_view refused_with;
  } cases[] = {{"a spare, whatever it has", false, true, kSpare},
               {"a spare that is closed as all others are", false, false, "closed"},
               {"one that is lent, in a trial", true, true, ""},
               {"one that is none", true, false, ""}};
  for (const auto& c : cases) {
    Ledger ledger;
    ledger.add({.name = "n", .flavor = {}, .cpu_milli = 10});
    ledger.set_open(NodeId(0), c.open);
    ledger.set_spare(NodeId(0), c.spare);
    const std::size_t row = first_refusing(NodeView(ledger, NodeId(0)), request);
    EXPECT_EQ(row == kFilterCount ? "" : kRefusals[row], c.refused_with) << c.what;
    EXPECT_EQ(room_for(ledger, NodeId(0), request), c.refused_with.empty() ? 1 : 0) << c.what;
  }
}

TEST(Filters, KeepModesApart) {
  const auto node_of = [](Sharing sharing) {
    return Node{.name = "",
                .flavor = FlavorId(0),
                .gpus = 1,
                .cpu_milli = 8000,
                .sharing = sharing,
                .replicas = sharing == Sharing::kTimeslice ? 4 : 1};
  };
  const std::uint8_t small = find_slice(random_world_flavor(FlavorId(0)), "1g.10gb")->shape;
  const PodRequest asked[] = {{.gpus = 1, .gpu_milli = 1000},
                              {.gpus = 1, .gpu_milli = 500},
                              {.gpus = 1, .gpu_milli = 100, .sharing = Sharing::kMig, .slice = small},
                              {.gpus = 1, .gpu_milli = 250, .sharing = Sharing::kMps, .sharer = SharerId(0)},
                              {.gpus = 1, .gpu_milli = 1000, .sharing = Sharing::kTimeslice},
                              {.cpu_milli = 1}};
  for (std::size_t mode = 0; mode < std::size(kSharingNames); ++mode) {
    Ledger ledger;
    add_to_ledger(ledger, node_of(static_cast<Sharing>(mode)));
    const NodeView view(ledger, NodeId(0));
    for (const PodRequest& request : asked) {
      const bool fits_mode = request.gpus == 0 || request.sharing == static_cast<Sharing>(mode);
      const std::size_t row = first_refusing(view, request);
      EXPECT_EQ(row == kFilterCount ? "" : kRefusals[row], fits_mode ? "" : kOtherMode) << kSharingNames[mode];
      EXPECT_EQ(fits(view, request), fits_mode);
    }
  }
}

TEST(Filters, SayHowGpusAreShared) {
  const struct {
    Sharing node, asked;
    std::string_view refusal;
  } cases[] = {
      {Sharing::kMig, Sharing::kExclusive, "cut into slices"},
      {Sharing::kExclusive, Sharing::kMig, "not cut into slices"},
      {Sharing::kMps, Sharing::kMig, "shared by MPS"},
      {Sharing::kExclusive, Sharing::kMps, "not shared by MPS"},
      {Sharing::kTimeslice, Sharing::kExclusive, "time-sliced"},
  };
  for (const auto& c : cases) EXPECT_EQ(refusal_of_mode(c.node, c.asked), c.refusal);
}

// On one cut GPU.
TEST(Filters, LookForThePlaceOfASlice) {
  const Node node{.name = "", .flavor = FlavorId(0), .gpus = 1, .cpu_milli = 8000, .sharing = Sharing::kMig};
  const auto slice = [](std::string_view name) {
    const std::uint8_t shape = find_slice(random_world_flavor(FlavorId(0)), name)->shape;
    return PodRequest{.gpus = 1, .gpu_milli = 100, .sharing = Sharing::kMig, .slice = shape};
  };
  const PodRequest small = slice("1g.10gb"), large = slice("4g.40gb");
  const struct {
    const char* what;
    std::optional<std::uint8_t> small_at;
    PodRequest request;
    std::string_view refused_with;
  } cases[] = {
      {"a slice", {}, small, ""},
      {"a large slice beside one that lies high", 6, large, ""},
      {"and beside one that lies low", 0, large, kNoPlaceForSlice},
      {"a small one has room in both", 0, small, ""},
  };
  for (const auto& c : cases) {
    Ledger ledger;
    add_to_ledger(ledger, node);
    if (c.small_at) {
      ledger.apply({.request = small, .node = NodeId(0), .gpus = GpuSet::from_bits(1), .slice_start = *c.small_at});
    }
    const NodeView view(ledger, NodeId(0));
    const std::size_t row = first_refusing(view, c.request);
    EXPECT_EQ(row == kFilterCount ? "" : kRefusals[row], c.refused_with) << c.what;
    EXPECT_EQ(fits(view, c.request), c.refused_with.empty()) << c.what;
  }
}

// One of two GPUs is shared by somebody, who left a half of it.
TEST(Filters, LetNobodyJoinOthersOnAGpu) {
  const Node node{.name = "", .flavor = FlavorId(0), .gpus = 2, .gpu_memory_mib = 1000, .sharing = Sharing::kMps};
  const auto share = [](std::size_t sharer, std::int32_t milli) {
    return PodRequest{.gpus = 1, .gpu_milli = milli, .sharing = Sharing::kMps, .sharer = SharerId(sharer)};
  };
  const struct {
    const char* what;
    bool second_taken;
    PodRequest request;
    std::string_view refused_with;
    std::int64_t room;
  } cases[] = {
      {"his own, on both", false, share(0, 250), "", 6},
      {"another's, on the second", false, share(1, 250), "", 4},
      {"another's, when that is his, too", true, share(1, 250), kBesideOthers, 0},
      {"his own then", true, share(0, 250), "", 4},
      {"too much for either", true, share(1, 750), "too few free GPUs", 0},
  };
  for (const auto& c : cases) {
    Ledger ledger;
    ledger.add(node);
    for (const std::size_t tenant : {0u, 1u}) ledger.trust().intern({QueueId(tenant), UserId()});
    ledger.apply({.request = share(0, 500), .node = NodeId(0), .gpus = GpuSet::from_bits(1)});
    if (c.second_taken) ledger.apply({.request = share(0, 500), .node = NodeId(0), .gpus = GpuSet::from_bits(2)});
    const std::size_t row = first_refusing(NodeView(ledger, NodeId(0)), c.request);
    EXPECT_EQ(row == kFilterCount ? "" : kRefusals[row], c.refused_with) << c.what;
    EXPECT_EQ(room_for(ledger, NodeId(0), c.request), c.room) << c.what;
  }
}

// The tenant in the middle is there with each of the others, of whom one has left. These two do not trust each other.
TEST(Filters, LetNobodyWhereStrangersHaveBeen) {
  Ledger ledger;
  ledger.add({.name = "", .flavor = FlavorId(0), .gpus = 1, .gpu_memory_mib = 1000});
  introduce_sharers(ledger);
  const auto part = [](std::size_t sharer) {
    return PodRequest{.gpus = 1, .gpu_milli = 250, .sharer = SharerId(sharer)};
  };
  const auto on_gpu = [&](std::size_t sharer) {
    return Move{.request = part(sharer), .node = NodeId(0), .gpus = GpuSet::from_bits(1)};
  };
  const auto refused_with = [&](std::size_t sharer) {
    const std::size_t row = first_refusing(NodeView(ledger, NodeId(0)), part(sharer));
    return row == kFilterCount ? std::string_view() : kRefusals[row];
  };
  ledger.apply(on_gpu(0));
  ledger.apply(on_gpu(1));
  EXPECT_EQ(refused_with(2), kBesideOthers);
  ledger.depart(inverse(on_gpu(0)), Emptied::kIsToBeScrubbed);
  EXPECT_EQ(refused_with(2), kOnDirty);
  EXPECT_EQ(room_for(ledger, NodeId(0), part(2)), 0);
  EXPECT_EQ(room_for(ledger, NodeId(0), part(2), Occupants::kLeaveNothing), 3);
  EXPECT_EQ(refused_with(0), "");
  ledger.depart(inverse(on_gpu(1)), Emptied::kIsToBeScrubbed);
  EXPECT_EQ(refused_with(2), "");
}

TEST(FiltersProperty, ANodeThatFitsPassesEveryRowAndHasRoom) {
  for (const Seed seed : property_seeds(2000)) {
    SCOPED_TRACE(name_of(seed));
    Rng rng(seed);
    Ledger ledger;
    for (const Node& node : random_nodes(rng, 3, 1, 3)) add_to_ledger(ledger, node);
    cut_some_anew(ledger, rng);
    std::vector<Move> moves = crowd(ledger, rng, 3, rng.between(0, 40));
    let_some_go(ledger, rng, moves);
    for (int i = 0; i < 20; ++i) {
      const PodRequest request = somebodys_request(rng, 3);
      for (std::size_t node = 0; node < ledger.nodes(); ++node) {
        const NodeView view(ledger, NodeId(node));
        ASSERT_EQ(fits(view, request), first_refusing(view, request) == kFilterCount);
        ASSERT_EQ(fits(view, request), room_for(ledger, NodeId(node), request) > 0);
        ASSERT_EQ(fits(view, request), some_place(ledger, NodeId(node), request, rng).has_value());
      }
    }
  }
}

}  // namespace berth::filters_test
