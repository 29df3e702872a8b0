#include "cycle/elastic.h"

#include <gtest/gtest.h>

#include <cstddef>

#include "base/time.h"
#include "cycle/engine.h"
#include "cycle/run_cycle.h"
#include "model/event.h"

namespace berth::elastic_test {

constexpr Duration kLimit{3'600'000};
constexpr Time kEnd{kLimit.ms};

// One GPU of four was free as it began, and it may have three steps.
Engine elastic_and_room_since() {
  Engine engine;
  State& state = engine.state;
  state.apply(FlavorAdded{Flavor{.name = "gpu", .model = ""}});
  state.apply(QueueAdded{Queue{.name = "team", .parent = QueueId(), .order = Order::kFifo}});
  state.apply(NodesAdded{{{.name = "a", .flavor = FlavorId(0), .gpus = 1}}});
  WorkloadSubmitted job{.name = "w", .queue = QueueId(0), .at = Time{}, .shape = {}};
  job.shape.ways = {{{{.gpus = 1, .gpu_milli = kMilliPerGpu}, 1}}};
  job.shape.terms.run_limit = kLimit;
  job.shape.terms.resizes_live = true;
  state.apply(job);
  job.step_of = WorkloadId(0);
  for (int step = 0; step < 3; ++step) state.apply(job);
  state.adopt(run_cycle(engine, Time{}, Effort::unbounded()));
  state.apply(NodesAdded{{{.name = "b", .flavor = FlavorId(0), .gpus = 3}}});
  return engine;
}

std::size_t steps_at(Time now) {
  Engine engine = elastic_and_room_since();
  return run_cycle(engine, now, Effort::unbounded()).starts.size();
}

// Who is to end it may come late. Until then it stays as large as it is.
TEST(Elastic, TakesNoStepsOnceItsLimitIsOver) {
  EXPECT_EQ(steps_at(Time{kEnd.ms - 1}), 3u);
  EXPECT_EQ(steps_at(kEnd), 0u);
  EXPECT_EQ(steps_at(kEnd + kLimit), 0u);
}

}  // namespace berth::elastic_test
