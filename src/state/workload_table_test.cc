#include "state/workload_table.h"

#include <gtest/gtest.h>

namespace berth::workload_table_test {

TEST(WorkloadTable, GivesIdsInOrderAndNeverAgain) {
  WorkloadTable table;
  for (std::size_t i = 0; i < 3000; ++i) {
    EXPECT_EQ(table.next_id(), WorkloadId(i));
    Workload workload;
    workload.submitted = Time{static_cast<std::int64_t>(i)};
    EXPECT_EQ(table.add(workload), WorkloadId(i));
  }
  for (std::size_t i = 0; i < 3000; ++i) {
    EXPECT_EQ(table[WorkloadId(i)].submitted, Time{static_cast<std::int64_t>(i)});
  }
  EXPECT_EQ(table.find(WorkloadId(3000)), nullptr);
  EXPECT_EQ(table.find(WorkloadId()), nullptr);
}

TEST(WorkloadTable, ACopyIsItsOwn) {
  WorkloadTable table;
  for (int i = 0; i < 1500; ++i) table.add({});
  WorkloadTable copy = table;
  table[WorkloadId(3)].rank = 1;
  copy[WorkloadId(1400)].rank = 2;
  copy.add({});
  const auto& first = table;
  const auto& second = copy;
  EXPECT_EQ(first[WorkloadId(3)].rank, 1);
  EXPECT_EQ(second[WorkloadId(3)].rank, 0);
  EXPECT_EQ(first[WorkloadId(1400)].rank, 0);
  EXPECT_EQ(second[WorkloadId(1400)].rank, 2);
  EXPECT_EQ(first.find(WorkloadId(1500)), nullptr);
  EXPECT_NE(second.find(WorkloadId(1500)), nullptr);
}

TEST(WorkloadTable, LetsAPageGoWhenAllOnItHaveEnded) {
  WorkloadTable table;
  for (int i = 0; i < 2500; ++i) table.add({});
  for (std::size_t i = 0; i < 1023; ++i) table.note_ended(WorkloadId(i));
  EXPECT_NE(table.find(WorkloadId(0)), nullptr) << "one of its page lives";
  const WorkloadTable before = table;
  table.note_ended(WorkloadId(1023));
  for (const std::size_t gone : {0u, 500u, 1023u}) EXPECT_EQ(table.find(WorkloadId(gone)), nullptr);
  EXPECT_NE(table.find(WorkloadId(1024)), nullptr);
  EXPECT_EQ(table.next_id(), WorkloadId(2500));
  EXPECT_NE(before.find(WorkloadId(0)), nullptr) << "a copy is its own";
  std::size_t recorded = 0;
  WorkloadId last;
  table.for_each([&](WorkloadId id, const Workload&) {
    ++recorded;
    last = id;
  });
  EXPECT_EQ(recorded, 2500u - 1024u);
  EXPECT_EQ(last, WorkloadId(2499));
}

}  // namespace berth::workload_table_test
