#include "cycle/turn_text.h"

#include <gtest/gtest.h>

#include <string>

#include "state/random_world.h"

namespace berth::turn_text_test {

WorkloadShape gpus(std::int32_t count) { return single_pod({.gpus = count, .gpu_milli = kMilliPerGpu}); }

QueueId add(State& state, const char* name, QueueId parent, std::int64_t floor_gpus) {
  Quota quota;
  if (floor_gpus > 0) quota.guarantee = {{Dim(FlavorId(0), Resource::kGpu), floor_gpus * kMilliPerGpu}};
  state.apply(QueueAdded{{.name = name, .parent = parent, .order = Order::kFifo, .quota = quota}});
  return QueueId(state.queues().size() - 1);
}

TEST(TurnText, SaysWhoGoesBeforeItAtEachLevelAndWhy) {
  State state = new_state(Seed{1}, PlacementPolicy::kBestFit, 1, {});
  const QueueId org = add(state, "org", QueueId(), 0);
  const QueueId vision = add(state, "vision", org, 0);
  const QueueId speech = add(state, "speech", org, 0);
  const QueueId owner = add(state, "owner", QueueId(), 8);
  state.apply(NodesAdded{{{.name = "n", .flavor = FlavorId(0), .gpus = 16, .cpu_milli = 1000, .memory_bytes = 1}}});
  state.apply(submission(vision, gpus(4)));
  EXPECT_EQ(turn_text(state, WhoIsNext(state, Time{}), vision), "") << "nobody else waits";
  state.apply(submission(speech, gpus(2)));
  state.apply(submission(owner, gpus(8)));
  state.apply(submission(org, gpus(1)));
  const WhoIsNext who(state, Time{});
  EXPECT_EQ(turn_text(state, who, vision),
            "3rd of 3 below org: after what waits at org itself (its share would be 1/16), speech (its share would be "
            "1/8); its share would be 1/4; 2nd of 2 at the top: after owner (inside its floor, of which it uses 0/1); "
            "its share would be 1/16");
  EXPECT_EQ(turn_text(state, who, owner), "1st of 2 at the top: inside its floor, of which it uses 0/1");
  EXPECT_EQ(turn_text(state, who, org),
            "1st of 3 below org: its share would be 1/16; 2nd of 2 at the top: after owner (inside its floor, of which "
            "it uses 0/1); its share would be 1/16");
}

}  // namespace berth::turn_text_test
