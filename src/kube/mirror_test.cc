#include "kube/mirror.h"

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "kube/hand_turned_alarm.h"
#include "kube/scripted_transport.h"
#include "manifest/json.h"

namespace berth::mirror_test {

std::string pod(const std::string& name, const std::string& uid, int revision) {
  return R"({"metadata":{"name":")" + name + R"(","namespace":"d","uid":")" + uid + R"(","resourceVersion":")" +
         std::to_string(revision) + R"(","managedFields":[{"a":1}]}})";
}
std::string event(const std::string& type, const std::string& object) {
  return R"({"type":")" + type + R"(","object":)" + object + "}";
}
std::string bookmark(int revision) {
  return event("BOOKMARK", R"({"metadata":{"resourceVersion":")" + std::to_string(revision) + "\"}}");
}
std::string status(int code, const std::string& reason) {
  return R"({"kind":"Status","reason":")" + reason + R"(","message":"told so","code":)" + std::to_string(code) +
         R"(,"details":{"retryAfterSeconds":40}})";
}
ApiAnswer list(int revision, const std::vector<std::string>& pods, const std::string& continued = "") {
  std::string items;
  for (const std::string& item : pods) items += (items.empty() ? "" : ",") + item;
  return {.status = 200,
          .body = R"({"kind":"PodList","apiVersion":"v1","metadata":{"resourceVersion":")" + std::to_string(revision) +
                  R"(","continue":")" + continued + R"("},"items":[)" + items + "]}"};
}

// "+p1.u1@5" new, "~p1.u1@7" changed, "-p1.u1@7" gone (with its last state).
std::string text_of(const ObjectChange& change) {
  const Value& metadata = change.object()["metadata"];
  const std::string sign = !change.before ? "+" : change.after ? "~" : "-";
  return sign + std::string(metadata["name"].text()) + "." + std::string(metadata["uid"].text()) + "@" +
         std::string(metadata["resourceVersion"].text());
}

// A mirror of pods with a server that the test plays.
struct Stage {
  HandTurnedAlarm alarm;
  ScriptedTransport transport;
  std::string told;
  int synced = 0;
  std::unique_ptr<Mirror> mirror;

  void start(MirrorOptions options = {.qualified = "pods"}) {
    mirror = Mirror::start(
        transport, alarm, std::move(options),
        [this](const ObjectChange& change) { told += (told.empty() ? "" : " ") + text_of(change); },
        [this] { ++synced; });
  }
  std::string take_told() { return std::exchange(told, ""); }
  // Until the mirror asks for the list again, or opens a stream; a minute at most.
  void let_it_try() {
    const std::size_t streams = transport.streams.size();
    for (int i = 0; i < 60 && transport.held() == 0 && transport.streams.size() == streams; ++i) {
      alarm.advance(seconds(1));
    }
  }
  ScriptedTransport::Stream& stream() { return *transport.open_stream(); }
};

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

TEST(Mirror, ListsInPagesThenWatchesFromThere) {
  Stage stage;
  stage.start({.qualified = "pods", .label_selector = "a=b", .field_selector = "spec.nodeName=", .page_size = 2});
  EXPECT_EQ(stage.transport.next_held().path,
            "/api/v1/pods?limit=2&labelSelector=a%3Db&fieldSelector=spec.nodeName%3D");
  stage.transport.answer_held(list(9, {pod("a", "u1", 3), pod("b", "u2", 4)}, "more/1"));
  EXPECT_EQ(stage.take_told(), "") << "nothing before the whole list is there";
  EXPECT_TRUE(has(stage.transport.next_held().path, "&continue=more%2F1"));
  stage.transport.answer_held(list(9, {pod("c", "u3", 5)}));
  EXPECT_EQ(stage.take_told(), "+a.u1@3 +b.u2@4 +c.u3@5");
  EXPECT_EQ(stage.synced, 1);
  EXPECT_EQ(stage.mirror->revision(), 9);
  const std::string path = stage.stream().call().path;
  EXPECT_TRUE(has(path, "?watch=true&allowWatchBookmarks=true&resourceVersion=9&timeoutSeconds=")) << path;
  EXPECT_TRUE(has(path, "&labelSelector=a%3Db&fieldSelector=spec.nodeName%3D")) << path;
}

TEST(Mirror, GivesWholeObjectsWithoutTheirManagedFields) {
  HandTurnedAlarm alarm;
  ScriptedTransport transport;
  std::vector<ObjectChange> changes;
  const auto mirror = Mirror::start(
      transport, alarm, {.qualified = "pods"}, [&](const ObjectChange& change) { changes.push_back(change); }, [] {});
  transport.answer_held(list(5, {pod("a", "u1", 5)}));
  transport.open_stream()->push(event("MODIFIED", pod("a", "u1", 6)));
  ASSERT_EQ(changes.size(), 2U);
  const Value& object = *changes[0].after;
  EXPECT_EQ(object["kind"].text(), "Pod");
  EXPECT_EQ(object["apiVersion"].text(), "v1");
  EXPECT_EQ(object["metadata"].find("managedFields"), nullptr);
  EXPECT_EQ(changes[1].before, changes[0].after);
}

TEST(Mirror, OfAKindThatIsNotServedHasNoneUntilItIs) {
  Stage stage;
  int missing = 0;
  stage.start({.qualified = "pods", .on_not_served = [&] { ++missing; }});
  const ApiAnswer not_there{.status = 404, .body = "404 page not found\n"};
  stage.transport.answer_held(not_there);
  EXPECT_EQ(stage.synced, 1);
  EXPECT_EQ(stage.mirror->trouble(), "");
  stage.alarm.advance(seconds(60));
  stage.transport.answer_held(not_there);
  EXPECT_EQ(missing, 1) << "that is said once";
  stage.alarm.advance(seconds(60));
  stage.transport.answer_held(list(5, {pod("a", "u1", 5)}));
  EXPECT_EQ(stage.take_told(), "+a.u1@5");
  EXPECT_EQ(stage.synced, 1);
  // What was there once does not go because a server says that it knows nothing of its kind.
  stage.stream().end({.status = 404, .body = status(404, "NotFound")});
  stage.let_it_try();
  stage.transport.answer_held(not_there);
  EXPECT_EQ(stage.take_told(), "");
  EXPECT_TRUE(has(stage.mirror->trouble(), "cannot list: 404")) << stage.mirror->trouble();
}

TEST(Mirror, OfAnyOtherKindWaitsUntilItIsServed) {
  Stage stage;
  stage.start();
  stage.transport.answer_held({.status = 404, .body = status(404, "NotFound")});
  EXPECT_EQ(stage.synced, 0);
  EXPECT_TRUE(has(stage.mirror->trouble(), "cannot list: 404")) << stage.mirror->trouble();
}

// What happens after the first list, [a.u1@3, b.u2@4] at revision 9, and what is told of it.
struct Story {
  const char* name;
  std::function<void(Stage&)> happens;
  const char* told;
};

const Story kStories[] = {
    {"new, changed, gone",
     [](Stage& s) {
       s.stream().push(event("ADDED", pod("c", "u3", 10)));
       s.stream().push(event("MODIFIED", pod("c", "u3", 11)));
       s.stream().push(event("DELETED", pod("c", "u3", 12)));
     },
     "+c.u3@10 ~c.u3@11 -c.u3@11"},
    {"an event told twice is one",
     [](Stage& s) {
       for (int i = 0; i < 2; ++i) s.stream().push(event("ADDED", pod("c", "u3", 10)));
       for (int i = 0; i < 2; ++i) s.stream().push(event("DELETED", pod("c", "u3", 11)));
       s.stream().push(event("ADDED", pod("c", "u3", 10)));
     },
     "+c.u3@10 -c.u3@10"},
    {"nothing goes back in time", [](Stage& s) { s.stream().push(event("MODIFIED", pod("a", "u1", 2))); }, ""},
    {"removed and made again under one name is told as gone, then new",
     [](Stage& s) {
       s.stream().push(event("MODIFIED", pod("a", "u7", 10)));
       s.stream().push(event("DELETED", pod("a", "u1", 11)));
     },
     "-a.u1@3 +a.u7@10"},
    {"a watch that ends is resumed at the last bookmark",
     [](Stage& s) {
       s.stream().push(bookmark(50));
       s.stream().end();
       s.let_it_try();
       EXPECT_TRUE(has(s.stream().call().path, "resourceVersion=50&"));
       EXPECT_EQ(s.mirror->trouble(), "");
       s.stream().push(event("ADDED", pod("c", "u3", 51)));
     },
     "+c.u3@51"},
    {"a lost connection is resumed soon, at the last event",
     [](Stage& s) {
       s.stream().push(event("ADDED", pod("c", "u3", 10)));
       s.stream().end({.status = 0, .body = "lost"});
       EXPECT_TRUE(has(s.mirror->trouble(), "pods: cannot watch: lost"));
       s.alarm.advance({200});
       ASSERT_NE(s.transport.open_stream(), nullptr);
       EXPECT_TRUE(has(s.stream().call().path, "resourceVersion=10&"));
       s.alarm.advance(seconds(10));
       EXPECT_EQ(s.mirror->trouble(), "") << "a watch that is open for so long has reached the server";
     },
     "+c.u3@10"},
    {"half a line is a lost connection",
     [](Stage& s) {
       s.stream().push(event("ADDED", pod("c", "u3", 10)).substr(0, 40));
       EXPECT_TRUE(has(s.mirror->trouble(), "line cannot be read"));
       s.let_it_try();
       s.stream().push(event("ADDED", pod("c", "u3", 10)));
     },
     "+c.u3@10"},
    {"after 410 it lists again and tells the differences only",
     [](Stage& s) {
       s.stream().push(event("ERROR", status(410, "Expired")));
       s.let_it_try();
       ASSERT_EQ(s.transport.held(), 1U);
       s.transport.answer_held(list(20, {pod("b", "u2", 4), pod("a", "u8", 15), pod("d", "u4", 16)}));
       EXPECT_TRUE(has(s.stream().call().path, "resourceVersion=20&"));
     },
     "-a.u1@3 +a.u8@15 +d.u4@16"},
    {"after HTTP 410 too, at once when the watch had been well",
     [](Stage& s) {
       s.alarm.advance(seconds(60));
       s.stream().end({.status = 410, .body = status(410, "Expired")});
       EXPECT_EQ(s.mirror->trouble(), "");
       s.alarm.advance({0});
       ASSERT_EQ(s.transport.held(), 1U);
       s.transport.answer_held(list(20, {pod("a", "u1", 18)}));
     },
     "-b.u2@4 ~a.u1@18"},
    {"a list from the past is not believed",
     [](Stage& s) {
       s.stream().push(bookmark(30));
       s.stream().push(event("ERROR", status(410, "Expired")));
       s.alarm.advance({0});
       s.transport.answer_held(list(20, {}));
       EXPECT_TRUE(has(s.mirror->trouble(), "restart this program")) << s.mirror->trouble();
       s.let_it_try();
       s.transport.answer_held(list(31, {pod("a", "u1", 3)}));
     },
     "-b.u2@4"},
    {"a server behind our revision is asked for a new list, after the delay it names",
     [](Stage& s) {
       s.stream().end({.status = 504, .body = status(504, "Timeout"), .retry_after_s = 40});
       s.alarm.advance({39'999});
       EXPECT_EQ(s.transport.held(), 0U);
       s.alarm.advance({1});
       EXPECT_EQ(s.transport.held(), 1U);
     },
     ""},
    {"too many requests: the watch waits as long as it was told to",
     [](Stage& s) {
       s.stream().end({.status = 429, .body = status(429, "TooManyRequests"), .retry_after_s = 40});
       s.alarm.advance({39'999});
       EXPECT_EQ(s.transport.open_stream(), nullptr);
       s.alarm.advance({1});
       EXPECT_NE(s.transport.open_stream(), nullptr);
     },
     ""},
    {"without the right to it the trouble is told, and it tries on",
     [](Stage& s) {
       s.stream().end({.status = 403, .body = status(403, "Forbidden")});
       EXPECT_EQ(s.mirror->trouble(), "pods: cannot watch: 403 Forbidden: told so");
       s.let_it_try();
       EXPECT_NE(s.transport.open_stream(), nullptr);
     },
     ""},
    {"a watch that does not end at its time is dead",
     [](Stage& s) {
       const ScriptedTransport::Stream* const first = s.transport.open_stream();
       s.alarm.advance(seconds(700));
       EXPECT_FALSE(first->is_open());
       EXPECT_NE(s.transport.open_stream(), nullptr);
     },
     ""},
    {"what is no event of Kubernetes is told as trouble",
     [](Stage& s) {
       for (const char* line : {"[]", R"({"type":"ADDED"})", R"({"type":"X","object":{}})",
                                R"({"type":"ADDED","object":{"metadata":{"name":"a","resourceVersion":"x"}}})"}) {
         s.stream().push(line);
         EXPECT_TRUE(has(s.mirror->trouble(), "line")) << line;
         s.let_it_try();
       }
     },
     ""},
};

TEST(Mirror, KeepsTrue) {
  for (const Story& story : kStories) {
    SCOPED_TRACE(story.name);
    Stage stage;
    stage.start();
    stage.transport.answer_held(list(9, {pod("a", "u1", 3), pod("b", "u2", 4)}));
    stage.told.clear();
    story.happens(stage);
    EXPECT_EQ(stage.told, story.told);
    EXPECT_EQ(stage.synced, 1);
  }
}

TEST(Mirror, TriesTheListUntilItCanBeRead) {
  const struct {
    ApiAnswer answer;
    const char* trouble;
  } cases[] = {
      {{.status = 0, .body = "cannot connect"}, "pods: cannot list: cannot connect"},
      {{.status = 401, .body = ""}, "cannot list: 401 Unauthorized"},
      {{.status = 200, .body = "<html>"}, "cannot read the server's list"},
      {{.status = 200, .body = R"({"metadata":{"resourceVersion":"x"}})"}, "is no number"},
      {{.status = 200, .body = R"({"metadata":{"resourceVersion":"1"},"items":{}})"}, "'items' is no list"},
      {{.status = 200, .body = R"({"metadata":{"resourceVersion":"1"},"items":[{}]})"}, "object without name"},
  };
  Stage stage;
  stage.start();
  for (const auto& c : cases) {
    ASSERT_EQ(stage.transport.held(), 1U);
    stage.transport.answer_held(c.answer);
    EXPECT_TRUE(has(stage.mirror->trouble(), c.trouble)) << stage.mirror->trouble();
    EXPECT_EQ(stage.synced, 0);
    stage.let_it_try();
  }
  stage.transport.answer_held(list(1, {}));
  EXPECT_EQ(stage.mirror->trouble(), "");
  EXPECT_EQ(stage.synced, 1);
}

TEST(Mirror, AServerThatAnswersWithinTheCallIsServedToo) {
  Stage stage;
  int streams = 0;
  stage.transport.answer = [](const ApiCall&) { return list(5, {pod("a", "u1", 5)}); };
  stage.transport.opened = [&](ScriptedTransport::Stream& stream) {
    if (++streams < 50) stream.end({.status = 410, .body = status(410, "Expired")});
  };
  stage.start();
  for (int i = 0; i < 2000 && streams < 50; ++i) stage.alarm.advance(seconds(1));
  EXPECT_EQ(streams, 50);
  EXPECT_EQ(stage.told, "+a.u1@5");
  ASSERT_NE(stage.transport.open_stream(), nullptr);
  stage.stream().push(event("DELETED", pod("a", "u1", 6)));
  EXPECT_EQ(stage.told, "+a.u1@5 -a.u1@5");
}

TEST(Mirror, TellsNothingAfterItIsDestroyedAlsoFromItsOwnCallback) {
  HandTurnedAlarm alarm;
  ScriptedTransport transport;
  int told = 0;
  std::unique_ptr<Mirror> mirror;
  const auto on_change = [&](const ObjectChange&) {
    if (++told == 2) mirror.reset();
  };
  mirror = Mirror::start(transport, alarm, {.qualified = "pods"}, on_change, [] { FAIL(); });
  transport.answer_held(list(5, {pod("a", "u1", 3), pod("b", "u2", 4), pod("c", "u3", 5)}));
  EXPECT_EQ(told, 2);
  EXPECT_EQ(transport.open_stream(), nullptr);
  EXPECT_EQ(alarm.waiting(), 0U);

  told = 0;
  mirror = Mirror::start(transport, alarm, {.qualified = "pods"}, on_change, [] {});
  transport.answer_held(list(5, {pod("a", "u1", 3)}));
  const auto stream = transport.streams.back();
  stream->push(event("DELETED", pod("a", "u1", 6)));
  EXPECT_EQ(mirror, nullptr);
  EXPECT_FALSE(stream->is_open());
  EXPECT_EQ(told, 2);
}

}  // namespace berth::mirror_test
