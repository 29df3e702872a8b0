#include "apiserver/long_reads.h"

#include <gtest/gtest.h>

#include <future>
#include <memory>
#include <string>

#include "apiserver/metrics.h"

namespace berth::long_reads_test {

TEST(LongReads, UsersTakeTurns) {
  std::promise<void> begun, go, over;  // they outlive the thread that waits
  LongReads reads(1);
  reads.run("flood", [&] {
    begun.set_value();
    go.get_future().wait();
  });
  begun.get_future().wait();
  std::string order;
  for (int i = 0; i < 100; ++i) reads.run("flood", [&] { order += 'f'; });
  reads.run("ann", [&] { order += 'a'; });
  reads.run("bob", [&] { order += 'b'; });
  reads.run("last", [&] { order += 'l'; });
  for (int i = 0; i < 200; ++i) reads.run("last", [&] { order += '.'; });
  reads.run("last", [&] { over.set_value(); });
  go.set_value();
  over.get_future().wait();
  EXPECT_LE(order.find('a'), 3U) << order;
  EXPECT_LE(order.find('b'), 3U) << order;
  EXPECT_LE(order.find('l'), 3U) << order;
}

TEST(LongReads, WhatHasNotBegunIsDroppedAtTheEnd) {
  const auto held = std::make_shared<int>();
  {
    std::promise<void> begun, go;  // they outlive the thread that waits
    LongReads reads(1);
    reads.run("ann", [&] {
      begun.set_value();
      go.get_future().wait();
    });
    begun.get_future().wait();
    reads.run("ann", [held] {});
    EXPECT_EQ(held.use_count(), 2);
    go.set_value();
  }
  EXPECT_EQ(held.use_count(), 1);
}

TEST(Metrics, CommitsAreCountedUpToEachBound) {
  StoreFigures figures;
  figures.commits[3] = 5;
  figures.commits[7] = 2;
  figures.commits.back() = 1;
  figures.commits_s = 2.5;
  figures.waiting = 9;
  const std::string text = metrics_text(figures, 42);
  for (const char* const line :
       {"\nberth_store_commit_duration_seconds_bucket{le=\"0.0001\"} 0\n",
        "\nberth_store_commit_duration_seconds_bucket{le=\"0.0002828\"} 5\n",
        "\nberth_store_commit_duration_seconds_bucket{le=\"1.159\"} 7\n",
        "\nberth_store_commit_duration_seconds_bucket{le=\"+Inf\"} 8\n",
        "\nberth_store_commit_duration_seconds_sum 2.500000\n", "\nberth_store_commit_duration_seconds_count 8\n",
        "# TYPE berth_store_waiting gauge\nberth_store_waiting 9\n", "\nberth_store_revision 42\n"}) {
    EXPECT_NE(text.find(line), std::string::npos) << line << text;
  }
}

}  // namespace berth::long_reads_test
