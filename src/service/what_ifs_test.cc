// What-ifs asked of a live engine: who is answered when, and with what.
#include "service/what_ifs.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <initializer_list>
#include <string>
#include <utility>

#include "service/live_cluster.h"
#include "sim/what_if_told.h"

namespace berth::what_ifs_test {

Value changes(std::initializer_list<const char*> lines) {
  Value list = Value::list();
  for (const char* const each : lines) list.push_back(each);
  return Value::map_of({{"changes", std::move(list)}});
}

Value object(const Value& spec, Value status = {}) {
  Value made = Value::map_of({{"metadata", Value::map_of({{"name", "w"}, {"uid", "u"}})}, {"spec", spec}});
  if (!status.is_null()) made.set("status", std::move(status));
  return made;
}

TEST(WhatIfs, EachQuestionIsAnsweredOnce) {
  WhatIfs all;
  EXPECT_FALSE(all.due());
  const Value spec = changes({"drain node n1"});
  all.set(object(spec));
  const auto question = all.due();
  ASSERT_TRUE(question);
  Value status = Value::map_of({{"asOf", "now"}, {"changes", spec["changes"]}, {"problem", "none"}});
  all.note_answered(*question, status);
  EXPECT_FALSE(all.due());
  ASSERT_EQ(all.statuses().size(), 1u);
  all.set(object(spec, status));
  EXPECT_TRUE(all.statuses().empty());
  all.set(object(changes({"end a"}), status));
  ASSERT_TRUE(all.due()) << "that is another question";
  WhatIfs next;
  next.set(object(spec, status));
  EXPECT_FALSE(next.due()) << "another scheduler lets the answer stand";
}

// One node of eight GPUs is full, and somebody waits.
class AskedOfACluster : public ::testing::Test {
 protected:
  AskedOfACluster() {
    cluster_.add(node("n1"));
    cluster_.set(pod("a", 8));
    cluster_.decide(1);
    cluster_.set(pod("b", 8, 2000));
    cluster_.decide(2);
  }
  Value answer(const Value& spec, bool broken_off = false) {
    LiveEngine& engine = cluster_.engine();
    NamesOfWork names = engine.who_runs();
    for (const auto& [id, name] : engine.who_waits_in_words()) names[id] = name;
    return what_if_answer(engine.state(), names, RunTimes(), spec, Time{3000}, [&] { return broken_off; });
  }

  Cluster cluster_;
};

TEST_F(AskedOfACluster, IsToldByTheNamesThatPeopleKnow) {
  const std::uint64_t before = cluster_.engine().state().hash();
  const Value status =
      answer(changes({"add nodes m 1 gpus=8", "queue new", "submit x queue=new gpus=9", "cancel default/a"}));
  EXPECT_TRUE(status["problem"].is_empty()) << status["problem"].text();
  const WhatIf told = what_if_in(status["answer"]);
  EXPECT_EQ(told.running, 1);
  EXPECT_EQ(told.pending, 1);
  ASSERT_EQ(told.waiting.size(), 1u);
  EXPECT_EQ(told.waiting[0].name, "default/b");
  EXPECT_EQ(told.waiting[0].queue, "default");
  EXPECT_EQ(told.after.waiting[0].starts, Time{3000});
  EXPECT_EQ(told.after.starts_at_once, 1);
  EXPECT_EQ(told.before.starts_at_once, 0);
  ASSERT_EQ(told.submitted.size(), 1u);
  EXPECT_FALSE(told.after.submitted[0].starts);
  EXPECT_EQ(told.queues.back(), "new");
  EXPECT_FALSE(told.has_timelines());
  EXPECT_EQ(cluster_.engine().state().hash(), before);
}

TEST_F(AskedOfACluster, WhatIsWrongIsTold) {
  EXPECT_TRUE(answer(changes({"drain node n9", "expect a running"}))["problem"].text().contains("n9"));
  EXPECT_TRUE(answer(changes({"end default/b"}))["problem"].text().contains("makes no sense there"));
  EXPECT_TRUE(answer(changes({"drain node n1"}), true)["problem"].text().contains("was broken off"));
}

}  // namespace berth::what_ifs_test
