#include "kube/leader_election.h"

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/property_seeds.h"
#include "base/rng.h"
#include "kube/hand_turned_alarm.h"
#include "kube/scripted_transport.h"
#include "manifest/json.h"

namespace berth::leader_election_test {

// One lease, kept as an API server keeps it.
class LeaseServer {
 public:
  ApiAnswer answer(const ApiCall& call) {
    if (call.method == "GET") return lease_.is_null() ? ApiAnswer{.status = 404} : ok();
    Value written = *parse_json(call.body);
    if (call.method == "POST") {
      if (!lease_.is_null()) return {.status = 409};
    } else {
      if (lease_.is_null()) return {.status = 404};
      if (written["metadata"]["resourceVersion"] != lease_["metadata"]["resourceVersion"]) return {.status = 409};
    }
    lease_ = std::move(written);
    lease_.at("metadata").set("resourceVersion", std::to_string(++revision_));
    lease_.at("metadata").set("uid", "l" + std::to_string(born_));
    return ok();
  }
  void remove() {
    lease_ = Value();
    ++born_;
  }
  const Value& spec() const { return lease_["spec"]; }

 private:
  ApiAnswer ok() const { return {.status = 200, .body = to_json(lease_)}; }

  Value lease_;
  int revision_ = 0;
  int born_ = 0;
};

// A program that wants to lead, with clocks of its own.
struct Program {
  Program(LeaseServer& server, std::string identity, Time wall = {}) : name(std::move(identity)), wall_clock(wall) {
    transport.answer = [this, &server](const ApiCall& call) -> std::optional<ApiAnswer> {
      if (cut_off) return ApiAnswer{.status = 0, .body = "cannot connect"};
      if (silent) return std::nullopt;
      return server.answer(call);
    };
  }
  void start() {
    election = LeaderElection::start(transport, alarm, [this] { return wall_clock; },
                                     {.name = "berth-scheduler", .identity = name},
                                     {.on_started_leading = [this](std::int64_t epoch) { epochs.push_back(epoch); },
                                      .on_stopped_leading = [this](const std::string& why) { stops.push_back(why); }});
  }
  bool leads() const { return election && election->leads(); }

  std::string name;
  Time wall_clock;
  HandTurnedAlarm alarm;
  ScriptedTransport transport;
  bool cut_off = false, silent = false;
  std::vector<std::int64_t> epochs;
  std::vector<std::string> stops;
  std::unique_ptr<LeaderElection> election;
};

void pass(Program& a, Program& b, Duration time) {
  for (std::int64_t ms = 0; ms < time.ms; ms += 250) {
    a.alarm.advance({250});
    b.alarm.advance({250});
    ASSERT_FALSE(a.leads() && b.leads());
  }
}

TEST(LeaderElection, TheFirstLeadsAndTheSecondWaits) {
  LeaseServer server;
  Program a(server, "a", {1'763'709'385'000}), b(server, "b");
  a.start();
  b.start();
  EXPECT_TRUE(a.leads());
  EXPECT_EQ(a.epochs, std::vector<std::int64_t>{1});
  EXPECT_EQ(server.spec()["holderIdentity"].text(), "a");
  EXPECT_EQ(server.spec()["leaseDurationSeconds"].integer(), 15);
  EXPECT_EQ(server.spec()["renewTime"].text(), "2025-11-21T07:16:25.000000Z");
  pass(a, b, seconds(120));
  EXPECT_TRUE(a.leads());
  EXPECT_TRUE(b.epochs.empty());
  EXPECT_EQ(b.election->leader(), "a");
  EXPECT_EQ(b.election->trouble(), "");
}

TEST(LeaderElection, AnotherFollowsWhenTheLeaderIsGoneAndNotBeforeTheLeaseHasRunOut) {
  LeaseServer server;
  Program a(server, "a"), b(server, "b");
  a.start();
  b.start();
  pass(a, b, seconds(20));
  a.election.reset();  // as if it had died
  EXPECT_TRUE(a.stops.empty());
  b.alarm.advance(seconds(12));
  EXPECT_FALSE(b.leads());
  b.alarm.advance(seconds(8));
  EXPECT_TRUE(b.leads());
  EXPECT_EQ(b.epochs, std::vector<std::int64_t>{2});
}

TEST(LeaderElection, ALeaderThatCannotRenewStopsBeforeAnotherStarts) {
  for (const bool silent : {false, true}) {
    LeaseServer server;
    Program a(server, "a"), b(server, "b");
    a.start();
    b.start();
    pass(a, b, seconds(20));
    (silent ? a.silent : a.cut_off) = true;
    pass(a, b, seconds(10));
    EXPECT_FALSE(a.leads());
    ASSERT_EQ(a.stops.size(), 1U);
    EXPECT_EQ(a.stops[0].rfind("the lease could not be renewed in time: lease kube-system/berth-scheduler: ", 0), 0U)
        << a.stops[0];
    EXPECT_FALSE(b.leads());
    pass(a, b, seconds(10));
    EXPECT_TRUE(b.leads());
    a.cut_off = a.silent = false;
    pass(a, b, seconds(30));
    EXPECT_TRUE(b.leads());
    EXPECT_EQ(a.election->leader(), "b");
  }
}

TEST(LeaderElection, WallClocksDecideNothing) {
  LeaseServer server;
  Program a(server, "a", {0}), b(server, "b", {4'000'000'000'000});
  a.start();
  b.start();
  pass(a, b, seconds(60));
  EXPECT_TRUE(a.leads());
  EXPECT_TRUE(b.epochs.empty());
}

TEST(LeaderElection, AnOrderlyStopLetsTheOtherFollowAtOnce) {
  LeaseServer server;
  Program a(server, "a"), b(server, "b");
  a.start();
  b.start();
  bool done = false;
  a.election->release([&] { done = true; });
  EXPECT_TRUE(done);
  EXPECT_FALSE(a.leads());
  EXPECT_EQ(a.stops, std::vector<std::string>{"it was asked to"});
  pass(a, b, seconds(4));
  EXPECT_TRUE(b.leads());
  EXPECT_EQ(b.epochs, std::vector<std::int64_t>{2});
  EXPECT_EQ(a.alarm.waiting(), 0U);
}

TEST(LeaderElection, WhoeverLosesTheLeaseStops) {
  const struct {
    const char* name;
    std::function<void(LeaseServer&)> happens;
    bool leads_again;
  } cases[] = {
      {"deleted: a new one is made, with a higher epoch", [](LeaseServer& server) { server.remove(); }, true},
      {"given to another by hand",
       [](LeaseServer& server) {
         Value lease = *parse_json(server.answer({.method = "GET"}).body);
         lease.at("spec").set("holderIdentity", "stranger");
         server.answer({.method = "PUT", .body = to_json(lease)});
       },
       false},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.name);
    LeaseServer server;
    Program a(server, "a");
    a.start();
    c.happens(server);
    a.alarm.advance(seconds(5));
    EXPECT_EQ(a.stops.size(), 1U);
    EXPECT_EQ(a.leads(), c.leads_again);
    a.alarm.advance(seconds(30));
    EXPECT_TRUE(a.leads());
    EXPECT_EQ(a.epochs.size(), 2U);
    EXPECT_GT(a.epochs[1], a.epochs[0]);
  }
}

TEST(LeaderElection, MayBeDestroyedByItsOwnCallback) {
  LeaseServer server;
  Program a(server, "a");
  a.election = LeaderElection::start(a.transport, a.alarm, [] { return Time{}; }, {.name = "l", .identity = "a"},
                                     {.on_started_leading = [](std::int64_t) {},
                                      .on_stopped_leading = [&](const std::string&) { a.election.reset(); }});
  a.cut_off = true;
  a.alarm.advance(seconds(11));
  EXPECT_EQ(a.election, nullptr);
  EXPECT_EQ(a.alarm.waiting(), 0U);
}

TEST(LeaderElection, WhatIsNoLeaseIsTrouble) {
  LeaseServer server;
  Program a(server, "a");
  for (const char* body : {"", "[]", "{}", "{\"metadata\":1}"}) {
    a.transport.answer = [&](const ApiCall&) { return ApiAnswer{.status = 200, .body = body}; };
    a.start();
    EXPECT_NE(a.election->trouble().find("is no lease"), std::string::npos) << body;
    EXPECT_FALSE(a.leads());
  }
}

// A network that loses questions, loses answers to what was done, and answers late.
struct BadNetwork {
  BadNetwork(Rng& rng, LeaseServer& server, Program& whose) : program(whose) {
    program.transport.answer = [this, &rng, &server](const ApiCall& call) -> std::optional<ApiAnswer> {
      const std::uint64_t luck = down ? rng.below(3) : rng.below(12);
      if (luck == 0) return ApiAnswer{.status = 0, .body = "lost"};
      if (luck == 1) {
        late.emplace_back();
        return std::nullopt;
      }
      ApiAnswer answer = server.answer(call);
      if (luck > 2) return answer;
      late.emplace_back(std::move(answer));
      return std::nullopt;
    };
  }
  void deliver_one() {
    if (late.empty()) return;
    const ApiAnswer answer = late.front();
    late.erase(late.begin());
    program.transport.answer_held(answer);
  }

  Program& program;
  bool down = false;
  std::vector<ApiAnswer> late;  // in the order of the calls that are held
};

TEST(LeaderElection, PropertyNeverTwoLeadersAndNeverTheSameEpochTwice) {
  for (const Seed seed : property_seeds(40)) {
    SCOPED_TRACE(name_of(seed));
    Rng rng(seed);
    LeaseServer server;
    Program a(server, "a", {0}), b(server, "b", {5'000'000'000'000});
    BadNetwork to_a(rng, server, a), to_b(rng, server, b);
    a.start();
    b.start();
    for (int step = 0; step < 3000; ++step) {
      // One clock runs up to a third faster than the other.
      a.alarm.advance({rng.between(150, 200)});
      b.alarm.advance({rng.between(150, 200)});
      if (rng.below(3) == 0) to_a.deliver_one();
      if (rng.below(3) == 0) to_b.deliver_one();
      if (rng.below(100) == 0) to_a.down = !to_a.down;
      if (rng.below(100) == 0) to_b.down = !to_b.down;
      ASSERT_FALSE(a.leads() && b.leads()) << "step " << step;
    }
    std::set<std::int64_t> epochs(a.epochs.begin(), a.epochs.end());
    epochs.insert(b.epochs.begin(), b.epochs.end());
    ASSERT_EQ(epochs.size(), a.epochs.size() + b.epochs.size());
    ASSERT_FALSE(epochs.empty());
  }
}

}  // namespace berth::leader_election_test
