#include "state/room.h"

#include <gtest/gtest.h>

#include "base/property_seeds.h"
#include "state/random_world.h"

namespace berth::room_test {

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

// Of vGPUs on two GPUs: whatever came before, there is room for one more where a GPU has none, or has fewer of its profile than it holds.
TEST(RoomFor, OfVgpusByAllSequences) {
  constexpr std::int32_t kOnEach[] = {1, 2, 3};
  constexpr std::size_t kLongest = 6;
  struct Device {
    std::int32_t on_each = 0;  // of the profile that it has; 0: none
    std::int32_t pods = 0;
  };
  const Node node{.name = "", .flavor = FlavorId(0), .gpus = 2, .gpu_memory_mib = 40'960, .sharing = Sharing::kVgpu};
  std::int64_t sequences = 1;
  for (std::size_t i = 0; i < kLongest; ++i) sequences *= std::ssize(kOnEach);
  for (std::int64_t sequence = 0; sequence < sequences; ++sequence) {
    Ledger ledger;
    ledger.add(node);
    Device devices[2];
    std::int64_t rest = sequence;
    for (std::size_t i = 0; i < kLongest; ++i, rest /= std::ssize(kOnEach)) {
      PodRequest vgpu{.gpus = 1, .sharing = Sharing::kVgpu};
      const std::int32_t on_each = kOnEach[rest % std::ssize(kOnEach)];
      vgpu.gpu_milli = kMilliPerGpu / on_each;
      // Strangers, all of them.
      vgpu.sharer = ledger.trust().intern({.tenant = QueueId(i), .user = {}, .vgpu_milli = vgpu.gpu_milli});
      std::int64_t room = 0;
      std::optional<int> first;
      for (int gpu = 0; gpu < 2; ++gpu) {
        const Device& device = devices[gpu];
        const std::int64_t here = device.pods == 0 ? on_each : device.on_each == on_each ? on_each - device.pods : 0;
        if (here > 0 && !first) first = gpu;
        room += here;
      }
      ASSERT_EQ(room_for(ledger, NodeId(0), vgpu), room) << sequence << " at " << i;
      if (!first) continue;
      PodPlacement place{NodeId(0), {}};
      place.gpus.add(*first);
      ASSERT_TRUE(is_free(ledger, vgpu, place));
      ledger.apply(move_of(vgpu, place));
      devices[*first] = {on_each, devices[*first].pods + 1};
    }
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

}  // namespace berth::room_test
