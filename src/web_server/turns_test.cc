// By order, on a context that nobody runs before everything has been asked.
#include "web_server/connection.h"  // before Boost: it configures Asio

#include <gtest/gtest.h>

#include <algorithm>
#include <boost/asio/post.hpp>
#include <functional>
#include <string>

#include "web_server/turns.h"

namespace berth::turns_test {

TEST(Turns, TheFirstReplyOfOneComesBeforeTheThousandthOfAnother) {
  boost::asio::io_context io;
  Turns turns(io, 2);
  std::string order;
  for (int i = 0; i < 1000; ++i) turns.ask("flood", 1000, [&] { order += 'f'; });
  turns.ask("ann", 10, [&] {
    order += 'a';
    turns.ask("ann", 10, [&] { order += 'b'; });
  });
  io.run();
  EXPECT_EQ(order.size(), 1002U);
  EXPECT_LE(order.find('a'), 1U);
  EXPECT_LE(order.find('b'), 2U);
}

// A reply of many pieces asks for the next turn when it has had one.
TEST(Turns, ManyLongRepliesLetAShortOneThrough) {
  boost::asio::io_context io;
  Turns turns(io, 2);
  std::string order;
  std::function<void(int)> piece = [&](int payer) {
    order += '.';
    if (order.size() < 2000) turns.ask("flood-" + std::to_string(payer), 64, [&, payer] { piece(payer); });
  };
  for (int payer = 0; payer < 50; ++payer)
    turns.ask("flood-" + std::to_string(payer), 64, [&, payer] { piece(payer); });
  std::size_t asked_at = 0;
  turns.ask("clock", 1, [&] {
    asked_at = order.size();
    turns.ask("ann", 1, [&] { order += 'a'; });
  });
  io.run();
  EXPECT_LE(order.find('a') - asked_at, 51U);
}

// Whatever arrives at the sockets meets no more than that before it is looked at.
TEST(Turns, NoMoreArePostedThanThereAreThreads) {
  boost::asio::io_context io;
  Turns turns(io, 2);
  int run = 0;
  for (int i = 0; i < 100; ++i) turns.ask("flood", 1, [&] { ++run; });
  int before = -1;
  boost::asio::post(io, [&] { before = run; });
  io.run();
  EXPECT_EQ(before, 2);
  EXPECT_EQ(run, 100);
}

}  // namespace berth::turns_test
