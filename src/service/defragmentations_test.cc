// Which plans are made and carried out, and what their objects say: a table of moments of one object.
#include "service/defragmentations.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "manifest/timestamp.h"

namespace berth::defragmentations_test {

constexpr Time kNoon{std::int64_t{1'764'072'000} * 1000};  // 2025-11-25T12:00:00Z

Value object(const std::string& spec, Value status = {}) {
  Value made = Value::map_of({{"metadata", Value::map_of({{"name", "d"}, {"uid", "u"}})}});
  Value read = Value::map();
  // "gpus=4 hours=11:00-13:00"
  for (std::size_t at = 0; at < spec.size();) {
    const std::size_t end = std::min(spec.find(' ', at), spec.size());
    const std::string word = spec.substr(at, end - at);
    const std::string key = word.substr(0, word.find('='));
    const std::string text = word.substr(word.find('=') + 1);
    read.set(key, key == "gpus" || key == "effort" ? Value(std::stoll(text)) : Value(text));
    at = end + 1;
  }
  made.set("spec", std::move(read));
  if (!status.is_null()) made.set("status", std::move(status));
  return made;
}

// Of one move, of pod "p".
Value plan(const std::string& revision, Time as_of, bool empty = false) {
  Value moves = Value::list();
  const Value pod = Value::map_of(
      {{"name", "default/p"}, {"uid", "uid-p"}, {"from", "n1"}, {"to", "n2"}, {"gpus", "0,1"}, {"sliceStart", 0}});
  if (!empty) moves.push_back(Value::map_of({{"lostGPUSeconds", 7}, {"pods", Value(Value::List{pod})}}));
  return Value::map_of({{"revision", revision},
                        {"asOf", format_micro_timestamp(as_of)},
                        {"gpus", 8},
                        {"use", "4h"},
                        {"effort", 0},
                        {"moves", std::move(moves)}});
}

std::string phase_of(const Defragmentations& all) {
  return all.statuses().empty() ? "" : std::string(all.statuses().front().second["phase"].text());
}

TEST(Defragmentations, APlanIsMadeOnceAndAgainForAnotherQuestion) {
  Defragmentations all;
  EXPECT_FALSE(all.due(kNoon));
  all.set(object(""));
  const auto question = all.due(kNoon);
  ASSERT_TRUE(question);
  EXPECT_EQ(question->spec.gpus, 8);
  all.note_planned(*question, plan("1-1", kNoon), kNoon);
  EXPECT_EQ(phase_of(all), "Planned");
  EXPECT_FALSE(all.due(kNoon + seconds(3600))) << "it stays as it was shown";
  all.set(object("gpus=4"));
  ASSERT_TRUE(all.due(kNoon));
  EXPECT_EQ(all.due(kNoon)->spec.gpus, 4);
}

TEST(Defragmentations, RoomForSlicesIsAnotherQuestion) {
  Defragmentations all;
  all.set(object(""));
  all.note_planned(*all.due(kNoon), plan("1-1", kNoon), kNoon);
  all.set(object("slice=3g.40gb carryOut=1-1"));
  EXPECT_FALSE(all.to_carry_out(kNoon)) << "that plan is for whole GPUs";
  const auto question = all.due(kNoon);
  ASSERT_TRUE(question);
  EXPECT_EQ(question->spec.slice, "3g.40gb");
  Value of_slices = plan("2-2", kNoon);
  of_slices.set("gpus", 1);
  of_slices.set("slice", "3g.40gb");
  of_slices.set("flavor", "h100");
  all.note_planned(*question, of_slices, kNoon);
  EXPECT_FALSE(all.due(kNoon));
  all.set(object("slice=3g.40gb carryOut=2-2"));
  const auto moves = all.to_carry_out(kNoon);
  ASSERT_TRUE(moves);
  EXPECT_EQ(moves->slice, "3g.40gb");
  EXPECT_EQ(moves->flavor, "h100");
}

TEST(Defragmentations, WhereNoNodeIsCutSoThatIsSaid) {
  State state;
  state.apply(RunConfigured{Seed{1}, PlacementPolicy::kBestFit});
  state.apply(FlavorAdded{{.name = "h100", .model = "H100"}});
  state.apply(QueueAdded{{.name = "q", .parent = QueueId(), .order = Order::kFifo}});
  const Value none = defragmentation_plan(state, {}, {.gpus = 1, .slice = "3g.40gb"}, kNoon);
  EXPECT_TRUE(none["flavor"].is_null());
  Defragmentations all;
  all.set(object("slice=3g.40gb"));
  all.note_planned(*all.due(kNoon), none, kNoon);
  EXPECT_EQ(phase_of(all), "NothingToMove");
  EXPECT_TRUE(all.statuses().front().second["message"].text().contains("no node is cut into slices of 3g.40gb"));
}

TEST(Defragmentations, NothingIsCarriedOutButWhatIsNamed) {
  Defragmentations all;
  all.set(object("carryOut=0-0"));
  all.note_planned(*all.due(kNoon), plan("1-1", kNoon), kNoon);
  EXPECT_FALSE(all.to_carry_out(kNoon));
  EXPECT_TRUE(all.statuses().front().second["message"].text().contains("names 0-0, which is not the plan"));
  all.set(object("carryOut=1-1"));
  const auto moves = all.to_carry_out(kNoon);
  ASSERT_TRUE(moves);
  ASSERT_EQ(moves->moves.size(), 1u);
  EXPECT_EQ(moves->moves.front(), (AskedMove{{"uid-p", "n2", GpuSet::from_bits(3), 0}}));
  EXPECT_EQ(moves->use, seconds(4 * 3600));
  EXPECT_FALSE(all.to_carry_out(kNoon)) << "it is being decided";
  all.note_decided({.uids = {"uid-p"}, .moves = 1, .lost_gpu_s = 7}, kNoon);
  EXPECT_EQ(phase_of(all), "CarriedOut");
  EXPECT_FALSE(all.to_carry_out(kNoon)) << "once is enough";
}

TEST(Defragmentations, WhoStaysIsSaid) {
  Defragmentations all;
  all.set(object("carryOut=1-1"));
  all.note_planned(*all.due(kNoon), plan("1-1", kNoon), kNoon);
  ASSERT_TRUE(all.to_carry_out(kNoon));
  all.note_decided({}, kNoon);
  EXPECT_EQ(phase_of(all), "NotCarriedOut");
  EXPECT_EQ(all.statuses().front().second["carriedOut"]["leftOut"].items().front().text(), "default/p");
}

TEST(Defragmentations, AnotherSchedulerGoesOnWhereTheStatusStands) {
  Defragmentations first;
  first.set(object(""));
  first.note_planned(*first.due(kNoon), plan("1-1", kNoon), kNoon);
  const Value planned = first.statuses().front().second;
  Defragmentations second;
  second.set(object("carryOut=1-1", planned));
  EXPECT_FALSE(second.due(kNoon));
  ASSERT_TRUE(second.to_carry_out(kNoon));
  second.note_decided({.uids = {"uid-p"}, .moves = 1, .lost_gpu_s = 7}, kNoon);
  Defragmentations third;
  third.set(object("carryOut=1-1", second.statuses().front().second));
  EXPECT_FALSE(third.to_carry_out(kNoon));
  EXPECT_TRUE(third.statuses().empty()) << "what stands there is what it says";
}

TEST(Defragmentations, AtItsHoursItIsMadeAnewAndCarriedOutUntilItCoolsDown) {
  Defragmentations all;
  all.set(object("hours=11:00-13:00 cooldown=30m"));
  const Time before = kNoon + seconds(-7200);
  all.note_planned(*all.due(before), plan("1-1", before), before);
  EXPECT_FALSE(all.to_carry_out(before)) << "its hours have not come";
  EXPECT_EQ(all.next_moment(before), kNoon + seconds(-3600));
  EXPECT_FALSE(all.to_carry_out(kNoon)) << "that plan is old";
  ASSERT_TRUE(all.due(kNoon));
  all.note_planned(*all.due(kNoon), plan("2-2", kNoon), kNoon);
  ASSERT_TRUE(all.to_carry_out(kNoon + seconds(1)));
  all.note_decided({.uids = {"uid-p"}, .moves = 1, .lost_gpu_s = 7}, kNoon + seconds(1));
  EXPECT_FALSE(all.due(kNoon + seconds(1000))) << "it cools down";
  EXPECT_TRUE(all.due(kNoon + seconds(1801)));
  all.note_planned(*all.due(kNoon + seconds(1801)), plan("3-3", kNoon + seconds(1801), true), kNoon);
  EXPECT_EQ(phase_of(all), "NothingToMove");
  EXPECT_FALSE(all.to_carry_out(kNoon + seconds(1801))) << "nobody is moved by it";
  EXPECT_FALSE(all.due(kNoon + seconds(3600))) << "its hours are over";
}

TEST(Defragmentations, WhatCannotBeReadMovesNobody) {
  EXPECT_TRUE(moves_in(Value()).moves.empty());
  Value odd = plan("1-1", kNoon);
  odd.at("moves").edit_items().front().at("pods").edit_items().front().set("gpus", "all of them");
  EXPECT_TRUE(moves_in(odd).moves.empty());
}

}  // namespace berth::defragmentations_test
