// One user's flood is that user's: others wait behind a bounded part of it. By order of completion, never by time: the
// store's writing thread is held until everything has been asked.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <future>
#include <initializer_list>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "kube/transport.h"
#include "local_api/api_answers.h"
#include "local_api/test_server.h"

namespace berth::flood_test {

// Keeps the store from writing until it is let go.
class HeldStore {
 public:
  explicit HeldStore(Store& store) {
    const auto begun = std::make_shared<std::promise<void>>();
    auto begins = begun->get_future();
    store.transact(
        [go = go_, begun](Transaction&) {
          begun->set_value();
          go->get_future().wait();
        },
        [](CommitOutcome) {});
    begins.wait();
  }
  void let_go() { go_->set_value(); }

 private:
  const std::shared_ptr<std::promise<void>> go_ = std::make_shared<std::promise<void>>();
};

// Who was answered what, in order.
class Answers {
 public:
  struct Answer {
    std::string user;
    int status, retry_after_s;
  };

  void ask(TestServer& server, const std::string& user, ApiCall call) {
    {
      const std::lock_guard lock(mutex_);
      ++asked_;
    }
    server.transport(user)->send(std::move(call), [this, user](const ApiAnswer& answer) {
      const std::lock_guard lock(mutex_);
      answers_.push_back({user, answer.status, answer.retry_after_s});
      if (all_ && answers_.size() == asked_) all_->set_value();
    });
  }

  std::vector<Answer> so_far() const {
    const std::lock_guard lock(mutex_);
    return answers_;
  }

  std::vector<Answer> all() {
    std::promise<void> all;
    {
      const std::lock_guard lock(mutex_);
      if (answers_.size() == asked_) return answers_;
      all_ = &all;
    }
    all.get_future().wait();
    const std::lock_guard lock(mutex_);
    all_ = nullptr;
    return answers_;
  }

 private:
  mutable std::mutex mutex_;
  std::vector<Answer> answers_;
  std::size_t asked_ = 0;
  std::promise<void>* all_ = nullptr;
};

ApiCall create_of(const std::string& name) {
  ApiCall call;
  call.method = "POST";
  call.path = "/api/v1/namespaces/default/configmaps";
  call.body = R"({"metadata":{"name":")" + name + R"("}})";
  return call;
}

void let_in(TestServer& server, std::initializer_list<const char*> users) {
  for (const std::string user : users) {
    const ApiAnswer answer = server.call(
        "POST", "/apis/rbac.authorization.k8s.io/v1/namespaces/default/rolebindings",
        R"({"metadata":{"name":")" + user +
            R"("},"roleRef":{"apiGroup":"rbac.authorization.k8s.io","kind":"ClusterRole","name":"edit"},"subjects":[)"
            R"({"apiGroup":"rbac.authorization.k8s.io","kind":"User","name":")" +
            user + R"("}]})");
    ASSERT_EQ(answer.status, 201) << answer.body;
  }
}

TEST(Flood, OnlyTheFlooderIsTurnedAwayAndNobodyWaitsBehindAllOfIt) {
  constexpr int kAsked = 5'000;
  const std::size_t in_flight_max = static_cast<std::size_t>(ApiServerOptions().in_flight_per_user_max);
  TestServer server;
  let_in(server, {"flood", "ann", "bob"});
  HeldStore held(server.store());
  Answers answers;
  for (int i = 0; i < kAsked; ++i) answers.ask(server, "flood", create_of("f" + std::to_string(i)));
  const auto turned_away = answers.so_far();
  EXPECT_EQ(turned_away.size(), kAsked - in_flight_max);
  for (const Answers::Answer& each : turned_away) {
    EXPECT_EQ(each.status, 429);
    EXPECT_GT(each.retry_after_s, 0);
  }
  // Looking waits for nobody's writes.
  EXPECT_EQ(server.call("GET", "/api/v1/namespaces/default/configmaps", {}, "ann").status, 200);
  EXPECT_EQ(server.call("GET", "/api/v1/namespaces/default/configmaps", {}, "flood").status, 429);

  answers.ask(server, "ann", create_of("ann"));
  answers.ask(server, "bob", create_of("bob"));
  // More of the flood, now behind them.
  for (int i = 0; i < kAsked; ++i) answers.ask(server, "flood", create_of("g" + std::to_string(i)));
  held.let_go();
  const auto all = answers.all();
  std::size_t written_before = 0;
  for (const Answers::Answer& each : all) {
    if (each.status == 201 && each.user == "flood") ++written_before;
    if (each.user == "flood") continue;
    EXPECT_EQ(each.status, 201) << each.user;
    EXPECT_LE(written_before, in_flight_max) << each.user;
  }
  // Its place is free again.
  EXPECT_EQ(server.call(create_of("later"), "flood").status, 201);
}

TEST(Flood, ACollectionThatIsDeletedLetsOthersThroughBetweenItsBatches) {
  TestServer server;
  let_in(server, {"flood", "ann"});
  Answers made;
  for (int i = 0; i < 350; ++i) made.ask(server, "admin", create_of("f" + std::to_string(i)));
  ASSERT_EQ(made.all().size(), 350U);
  HeldStore held(server.store());
  Answers answers;
  ApiCall all;
  all.method = "DELETE";
  all.path = "/api/v1/namespaces/default/configmaps";
  for (int i = 0; i < 50; ++i) answers.ask(server, "flood", all);
  answers.ask(server, "ann", create_of("ann"));
  held.let_go();
  const auto order = answers.all();
  // All of the first batches, and then ann before any of the second ones; the sweeps end later.
  EXPECT_EQ(order.front().user, "ann");
  EXPECT_TRUE(std::ranges::all_of(order, [](const Answers::Answer& each) { return each.status / 100 == 2; }));
}

TEST(Flood, WatchesAreCountedForEachUser) {
  ApiServerOptions options;
  options.watches_per_user_max = 3;
  TestServer server(options);
  let_in(server, {"flood", "ann"});
  ApiCall watch;
  watch.path = "/api/v1/namespaces/default/pods?watch=1";
  std::vector<std::unique_ptr<Transport>> transports;
  std::vector<std::unique_ptr<ApiStream>> streams;
  std::vector<int> ends;
  const auto open = [&](const char* user) {
    transports.push_back(server.transport(user));
    streams.push_back(transports.back()->stream(
        watch, [](std::string_view) {}, [&](const ApiAnswer& answer) { ends.push_back(answer.status); }));
  };
  for (int i = 0; i < 5; ++i) open("flood");
  EXPECT_EQ(ends, (std::vector<int>{429, 429}));
  open("ann");
  EXPECT_EQ(ends.size(), 2U);
  streams.erase(streams.begin());  // of the flood, which may open one more
  open("flood");
  EXPECT_EQ(ends.size(), 2U);
  open("flood");
  EXPECT_EQ(ends.size(), 3U);
}

TEST(Flood, AFullStoreTurnsAwayWhoHasFilledItAndSaysWhen) {
  StoreOptions small;
  small.waiting_max = 10;
  TestServer server({}, small);
  let_in(server, {"ann", "bob"});
  HeldStore held(server.store());
  Answers answers;
  for (int i = 0; i < 10; ++i) answers.ask(server, "ann", create_of("a" + std::to_string(i)));
  EXPECT_TRUE(answers.so_far().empty());
  answers.ask(server, "bob", create_of("bob"));
  answers.ask(server, "ann", create_of("one-too-many"));
  const auto turned_away = answers.so_far();
  ASSERT_EQ(turned_away.size(), 1U);
  EXPECT_EQ(turned_away[0].user, "ann");
  EXPECT_EQ(turned_away[0].status, 429);
  EXPECT_GT(turned_away[0].retry_after_s, 0);
  held.let_go();
  EXPECT_EQ(answers.all().size(), 12U);
}

}  // namespace berth::flood_test
