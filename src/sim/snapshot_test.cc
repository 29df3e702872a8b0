#include "sim/snapshot.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "sim/test_journal.h"

namespace berth::snapshot_test {

// Of a snapshot's file: what is wrong with it; empty: nothing.
std::string wrong_with(const Bytes& file) {
  const auto journal = journal_in("s", file);
  return journal ? "" : journal.error().to_string();
}

Bytes journal() {
  return journal_of_scenario("test.txt",
                             "nodes n 2 gpus=8\nqueue q\nsubmit a queue=q gpus=8\nat 01:00\nsubmit b queue=q gpus=8\n"
                             "cycle\nat 02:00\nsubmit c queue=q gpus=8\ncycle\nexpect c waits reason=Capacity\n");
}

struct Made {
  Recorded as_it_was;
  Bytes file;
};
Made made_of(const Bytes& journal, std::optional<Time> until = {}) {
  Made made;
  const auto file = snapshot_of("j", journal, until, made.as_it_was);
  EXPECT_TRUE(file.has_value()) << (file ? "" : file.error().to_string());
  if (file) made.file = *file;
  return made;
}

TEST(Snapshot, SaysWhatTheJournalSaysOfThatMoment) {
  const Bytes all = journal();
  for (const std::int64_t until_ms : {5'400'000, 7'200'000, 100'000'000}) {
    const Recorded there = *recorded_at("j", all, Time{until_ms});
    const Made made = made_of(all, Time{until_ms});
    ASSERT_TRUE(is_snapshot(made.file));
    const auto journal = journal_in("s", made.file);
    ASSERT_TRUE(journal.has_value()) << journal.error().to_string();
    const Recorded here = *recorded_at("s", *journal, std::nullopt);
    EXPECT_EQ(here.engine.state.hash(), there.engine.state.hash());
    EXPECT_EQ(here.engine.state.hash(), made.as_it_was.engine.state.hash());
    EXPECT_EQ(here.workloads, there.workloads);
    EXPECT_EQ(here.now, there.now);
    EXPECT_EQ(here.records, there.records);
    EXPECT_FALSE(here.goes_on) << "nothing later is in it";
  }
  EXPECT_LT(made_of(all, Time{5'400'000}).file.size(), made_of(all).file.size());
}

TEST(Snapshot, OfAJournalThatIsBeingWrittenIsSound) {
  Bytes all = journal();
  all.resize(all.size() - 40);
  const Made made = made_of(all);
  EXPECT_EQ(wrong_with(made.file), "");
  EXPECT_EQ(recorded_at("s", *journal_in("s", made.file), std::nullopt)->records, made.as_it_was.records);
}

TEST(Snapshot, OfAnotherVersionIsRefused) {
  Bytes file = made_of(journal()).file;
  Bytes other = file;
  other[8] = 2;
  EXPECT_EQ(wrong_with(other),
            "s: a snapshot of version 2, and this Berth reads version 1; ask the Berth that wrote it, or take it again "
            "with this one\n");
  other.resize(20);
  EXPECT_EQ(wrong_with(other).substr(0, 26), "s: a snapshot of version 2") << "whatever else it has";
  other = file;
  ++other[12];
  EXPECT_NE(wrong_with(other).find("a snapshot of a journal in format"), std::string::npos);
}

TEST(Snapshot, WhatWasChangedOrCutOffIsRefused) {
  const Bytes file = made_of(journal()).file;
  for (std::size_t at = 16; at < file.size(); at += 1 + at / 8) {
    Bytes other = file;
    ++other[at];
    EXPECT_EQ(wrong_with(other).substr(0, 34), "s: a snapshot that is cut off, or ") << at;
    other = file;
    other.resize(at);
    EXPECT_EQ(wrong_with(other).substr(0, 34), "s: a snapshot that is cut off, or ") << at;
  }
  Bytes longer = file;
  longer.push_back(0);
  EXPECT_NE(wrong_with(longer), "");
}

}  // namespace berth::snapshot_test
