// Watches as clients see them: lines of events, in order, each once.
#include <gtest/gtest.h>

#include <condition_variable>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "local_api/api_answers.h"
#include "local_api/test_server.h"

namespace berth::watch_test {

constexpr const char* kMaps = "/api/v1/namespaces/default/configmaps";

// Collects the lines of one watch; waits for as many as a test expects.
class WatchLog {
 public:
  WatchLog(TestServer& server, std::string path, const std::string& accept = "application/json",
           const std::string& user = "admin")
      : transport_(server.transport(user)) {
    ApiCall call;
    call.path = std::move(path);
    call.accept = accept;
    const auto heard = heard_;
    stream_ = transport_->stream(
        std::move(call),
        [heard](std::string_view line) {
          const std::lock_guard lock(heard->mutex);
          heard->events.push_back(*parse_json(line));
          heard->changed.notify_all();
        },
        [heard](ApiAnswer answer) {
          const std::lock_guard lock(heard->mutex);
          heard->end = std::move(answer);
          heard->changed.notify_all();
        });
  }

  // "ADDED a, MODIFIED a", once there are so many.
  std::string first(std::size_t count) {
    std::string text;
    for (const Value& event : events(count)) {
      if (!text.empty()) text += ", ";
      text += std::string(event["type"].text()) + " " + std::string(event["object"]["metadata"]["name"].text("-"));
    }
    return text;
  }
  std::vector<Value> events(std::size_t count) {
    std::unique_lock lock(heard_->mutex);
    heard_->changed.wait(lock, [&] { return heard_->events.size() >= count || heard_->end.status != 0; });
    return heard_->events;
  }
  ApiAnswer end() {
    std::unique_lock lock(heard_->mutex);
    heard_->changed.wait(lock, [&] { return heard_->end.status != 0; });
    return heard_->end;
  }
  void close() { stream_.reset(); }

 private:
  struct Heard {
    std::mutex mutex;
    std::condition_variable changed;
    std::vector<Value> events;
    ApiAnswer end;
  };
  const std::shared_ptr<Heard> heard_ = std::make_shared<Heard>();
  std::unique_ptr<Transport> transport_;
  std::unique_ptr<ApiStream> stream_;
};

ApiAnswer make_map(TestServer& server, const std::string& name, const std::string& label = "x") {
  return server.call("POST", kMaps, R"({"metadata":{"name":")" + name + R"(","labels":{"l":")" + label + R"("}}})");
}

std::string revision_of(const ApiAnswer& answer) {
  const Value object = object_of(answer);
  return std::string(object["metadata"]["resourceVersion"].text());
}

TEST(Watch, TellsWhatThereIsAndThenEveryChange) {
  TestServer server;
  make_map(server, "a");
  WatchLog all(server, std::string(kMaps) + "?watch=true");
  WatchLog legacy(server, "/api/v1/watch/namespaces/default/configmaps?resourceVersion=0");
  EXPECT_EQ(all.first(1), "ADDED a");
  make_map(server, "b");
  server.call("PATCH", std::string(kMaps) + "/a", R"({"data":{"k":"v"}})");
  const std::string gone = std::string(kMaps) + "/b";
  server.call("DELETE", gone);
  EXPECT_EQ(all.first(4), "ADDED a, ADDED b, MODIFIED a, DELETED b");
  EXPECT_EQ(legacy.first(4), all.first(4));
  const std::vector<Value> events = all.events(4);
  EXPECT_GT(events[3]["object"]["metadata"]["resourceVersion"].text(),
            events[2]["object"]["metadata"]["resourceVersion"].text());
}

TEST(Watch, GoesOnAfterARevision) {
  TestServer server;
  const std::string revision = revision_of(make_map(server, "a"));
  make_map(server, "b");
  WatchLog later(server, std::string(kMaps) + "?watch=true&resourceVersion=" + revision);
  EXPECT_EQ(later.first(1), "ADDED b");
  WatchLog future(server, std::string(kMaps) + "?watch=true&resourceVersion=99999999&timeoutSeconds=5");
  make_map(server, "c");
  EXPECT_EQ(later.first(2), "ADDED b, ADDED c");
  server.advance(seconds(6));
  EXPECT_EQ(future.end().status, 200);
  EXPECT_EQ(future.first(0), "");
}

TEST(Watch, ObjectsEnterAndLeaveASelection) {
  TestServer server;
  WatchLog selected(server, std::string(kMaps) + "?watch=true&labelSelector=l%3Dyes");
  WatchLog named(server, std::string(kMaps) + "?watch=true&fieldSelector=metadata.name%3Dab");
  make_map(server, "a", "no");
  make_map(server, "ab", "yes");
  make_map(server, "abc", "no");
  const std::string path = std::string(kMaps) + "/a";
  server.call("PATCH", path, R"({"metadata":{"labels":{"l":"yes"}}})");
  server.call("PATCH", path, R"({"data":{"k":"v"}})");
  const std::string left = revision_of(server.call("PATCH", path, R"({"metadata":{"labels":{"l":"no"}}})"));
  server.call("DELETE", path);
  server.call("DELETE", std::string(kMaps) + "/ab");
  EXPECT_EQ(selected.first(5), "ADDED ab, ADDED a, MODIFIED a, DELETED a, DELETED ab");
  EXPECT_EQ(named.first(2), "ADDED ab, DELETED ab");
  const std::vector<Value> events = selected.events(5);
  EXPECT_EQ(events[3]["object"]["metadata"]["resourceVersion"].text(), left);
  EXPECT_EQ(events[3]["object"]["metadata"]["labels"]["l"].text(), "yes");  // as it was last seen in there
}

TEST(Watch, MarksTheEndOfTheBeginning) {
  TestServer server;
  make_map(server, "a");
  WatchLog list(server,
                std::string(kMaps) +
                    "?watch=true&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true");
  EXPECT_EQ(list.first(2), "ADDED a, BOOKMARK -");
  const std::vector<Value> events = list.events(2);
  EXPECT_EQ(events[1]["object"]["metadata"]["annotations"]["k8s.io/initial-events-end"].text(), "true");
  EXPECT_EQ(events[1]["object"]["kind"].text(), "ConfigMap");
}

TEST(Watch, EndsWhenItsTimeIsUpWithABookmark) {
  TestServer server;
  WatchLog watch(server, std::string(kMaps) + "?watch=true&timeoutSeconds=30&allowWatchBookmarks=true");
  server.advance(seconds(31));
  EXPECT_EQ(watch.end().status, 200);
  EXPECT_EQ(watch.first(0), "BOOKMARK -");
}

TEST(Watch, SaysSoWhenTheLogNoLongerReachesBack) {
  StoreOptions short_log;
  short_log.changes_kept_max = 5;
  TestServer server({}, short_log);
  const std::string revision = revision_of(make_map(server, "a"));
  for (int i = 0; i < 60; ++i) make_map(server, "m" + std::to_string(i));
  WatchLog old(server, std::string(kMaps) + "?watch=true&resourceVersion=" + revision);
  EXPECT_EQ(old.end().status, 200);
  const std::vector<Value> events = old.events(1);
  ASSERT_EQ(events.size(), 1U);
  EXPECT_EQ(events[0]["type"].text(), "ERROR");
  EXPECT_EQ(events[0]["object"]["code"].integer(), 410);
  EXPECT_EQ(events[0]["object"]["reason"].text(), "Expired");
  EXPECT_EQ(server.call("GET", std::string(kMaps) + "?resourceVersionMatch=Exact&resourceVersion=" + revision).status,
            410);
}

TEST(Watch, RowsComeWithTheirColumnsOnce) {
  TestServer server;
  make_map(server, "a");
  WatchLog table(server, std::string(kMaps) + "?watch=true", "application/json;as=Table;v=v1;g=meta.k8s.io");
  make_map(server, "b");
  const std::vector<Value> events = table.events(2);
  EXPECT_EQ(events[0]["object"]["kind"].text(), "Table");
  EXPECT_FALSE(events[0]["object"]["columnDefinitions"].is_empty());
  EXPECT_TRUE(events[1]["object"]["columnDefinitions"].is_empty());
  EXPECT_EQ(events[1]["object"]["rows"].items().size(), 1U);
}

TEST(Watch, ManyMayBeOpenAndAnyMayClose) {
  TestServer server;
  std::vector<std::unique_ptr<WatchLog>> watches;
  for (int i = 0; i < 50; ++i)
    watches.push_back(std::make_unique<WatchLog>(server, std::string(kMaps) + "?watch=true"));
  for (std::size_t i = 0; i < watches.size(); i += 2) watches[i]->close();
  make_map(server, "a");
  for (std::size_t i = 1; i < watches.size(); i += 2) EXPECT_EQ(watches[i]->first(1), "ADDED a");
}

TEST(Watch, AUserMayHaveOnlySoMany) {
  ApiServerOptions options;
  options.watches_per_user_max = 2;
  TestServer server(options);
  const std::string role =
      R"({"metadata":{"name":"r"},"subjects":[{"kind":"User","name":"alice","apiGroup":"rbac.authorization.k8s.io"}],"roleRef":{"kind":"ClusterRole","name":"view","apiGroup":"rbac.authorization.k8s.io"}})";
  ASSERT_EQ(server.call("POST", "/apis/rbac.authorization.k8s.io/v1/clusterrolebindings", role).status, 201);
  const auto alice = server.transport("alice");
  std::vector<std::unique_ptr<ApiStream>> open;
  ApiAnswer end;
  for (int i = 0; i < 3; ++i) {
    ApiCall call;
    call.path = std::string(kMaps) + "?watch=true";
    open.push_back(
        alice->stream(std::move(call), [](std::string_view) {}, [&end](ApiAnswer answer) { end = std::move(answer); }));
  }
  EXPECT_EQ(end.status, 429);
  EXPECT_EQ(end.retry_after_s, 1);
}

TEST(Limits, TurnAwayUsersAndNeverTheComponents) {
  ApiServerOptions options;
  options.in_flight_per_user_max = 0;
  TestServer server(options);
  const ApiAnswer refused = server.call("GET", kMaps, "", "alice");
  EXPECT_EQ(refused.status, 429);
  EXPECT_EQ(refused.retry_after_s, 1);
  EXPECT_EQ(server.call("GET", kMaps).status, 200);
  EXPECT_NE(server.call("GET", kMaps, "", "system:berth-scheduler").status, 429);
}

TEST(Limits, WhoLosesTheRightToLookIsToldNoMore) {
  TestServer server;
  const std::string bindings = "/apis/rbac.authorization.k8s.io/v1/clusterrolebindings";
  const std::string role =
      R"({"metadata":{"name":"r"},"subjects":[{"kind":"User","name":"alice","apiGroup":"rbac.authorization.k8s.io"}],"roleRef":{"kind":"ClusterRole","name":"view","apiGroup":"rbac.authorization.k8s.io"}})";
  ASSERT_EQ(server.call("POST", bindings, role).status, 201);
  WatchLog watch(server, std::string(kMaps) + "?watch=true", "application/json", "alice");
  server.call("DELETE", bindings + "/r");
  server.advance(seconds(11));
  EXPECT_EQ(watch.end().status, 200);
  EXPECT_EQ(server.call("GET", kMaps, "", "alice").status, 403);
}

}  // namespace berth::watch_test
