#include "state/room.h"

#include <gtest/gtest.h>

#include "base/property_seeds.h"
#include "state/random_world.h"

namespace berth {
namespace {

TEST(RoomFor, IsWhatTheScarcestAmountAllows) {
  const Node node{.name = "",
                  .flavor = FlavorId(0),
                  .gpus = 4,
                  .gpu_memory_mib = 1000,
                  .cpu_milli = 10'000,
                  .memory_bytes = 100,
                  .pods_max = 9};
  struct Case {
    const char* what;
    PodRequest request;
    std::int64_t room;
  };
  const Case cases[] = {
      {"nothing: the pods themselves are counted", {}, 9},
      {"processor", {.cpu_milli = 3000}, 3},
      {"memory", {.memory_bytes = 51}, 1},
      {"whole GPUs", {.gpus = 1, .gpu_milli = 1000}, 4},
      {"several GPUs", {.gpus = 3, .gpu_milli = 1000}, 1},
      {"more GPUs than there are", {.gpus = 5, .gpu_milli = 1000}, 0},
      {"fractions do not span GPUs", {.gpus = 1, .gpu_milli = 600}, 4},
      {"two fractions a GPU", {.gpus = 1, .gpu_milli = 500}, 8},
      {"fractions by memory", {.gpus = 1, .gpu_milli = 1, .gpu_memory_mib = 700}, 4},
      {"larger than the GPU's memory", {.gpus = 1, .gpu_milli = 1, .gpu_memory_mib = 1001}, 0},
      {"another type", {.gpus = 1, .gpu_milli = 1, .flavors = FlavorSet::of(FlavorId(1))}, 0},
  };
  for (const Case& c : cases) {
    Ledger ledger;
    ledger.add(node);
    EXPECT_EQ(room_for(ledger, NodeId(0), c.request), c.room) << c.what;
    ledger.set_open(NodeId(0), false);
    EXPECT_EQ(room_for(ledger, NodeId(0), c.request), 0) << c.what << ", closed";
  }
}

TEST(RoomForProperty, IsHowOftenThePodCanReallyBeTaken) {
  for (const Seed seed : property_seeds(2000)) {
    SCOPED_TRACE(name_of(seed));
    Rng rng(seed);
    Ledger ledger;
    add_to_ledger(ledger, random_node(rng, 2));
    cut_some_anew(ledger, rng);
    std::vector<Move> moves = crowd(ledger, rng, 2, rng.between(0, 25));
    let_some_go(ledger, rng, moves);
    const PodRequest request = somebodys_request(rng, 2);
    // Beyond this a pod that asks nothing would be taken two thousand million times.
    constexpr std::int64_t kEnough = 10'000;
    const std::int64_t room = std::min(room_for(ledger, NodeId(0), request), kEnough);
    std::int64_t taken = 0;
    while (taken < kEnough) {
      const std::optional<PodPlacement> place = some_place(ledger, NodeId(0), request, rng);
      if (!place) break;
      ledger.apply(move_of(request, *place));
      ++taken;
    }
    ASSERT_EQ(room, taken);
  }
}

}  // namespace
}  // namespace berth
