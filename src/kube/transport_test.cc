#include "kube/transport.h"

#include <gtest/gtest.h>

#include <condition_variable>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "base/property_seeds.h"
#include "kube/alarm.h"
#include "kube/backoff.h"
#include "kube/gate.h"
#include "kube/hand_turned_alarm.h"
#include "kube/line_splitter.h"
#include "kube/scripted_transport.h"

namespace berth::transport_test {

TEST(Transport, PathsAreThoseOfKubernetes) {
  const struct {
    const char *qualified, *name_space, *name, *subresource, *path;
  } cases[] = {
      {"pods", "", "", "", "/api/v1/pods"},
      {"pods", "team-a", "", "", "/api/v1/namespaces/team-a/pods"},
      {"pods", "team-a", "p1", "status", "/api/v1/namespaces/team-a/pods/p1/status"},
      {"nodes", "ignored", "n1", "", "/api/v1/nodes/n1"},
      {"jobs.batch", "default", "j", "", "/apis/batch/v1/namespaces/default/jobs/j"},
      {"events", "default", "", "", "/api/v1/namespaces/default/events"},
      {"events.events.k8s.io", "default", "", "", "/apis/events.k8s.io/v1/namespaces/default/events"},
      {"pods", "default", "a/../b?c", "", "/api/v1/namespaces/default/pods/a%2F..%2Fb%3Fc"},
  };
  for (const auto& c : cases) EXPECT_EQ(api_path(c.qualified, c.name_space, c.name, c.subresource), c.path);
}

TEST(Transport, EncodesWhatHasAMeaningInAnAddress) {
  EXPECT_EQ(percent_encoded("app=a,x!=1"), "app%3Da%2Cx%21%3D1");
  EXPECT_EQ(percent_encoded("Az09-._~"), "Az09-._~");
  EXPECT_EQ(percent_encoded("\xc3\xa9 %"), "%C3%A9%20%25");
}

TEST(Transport, SaysInOneLineWhatWentWrong) {
  const struct {
    ApiAnswer answer;
    const char* text;
  } cases[] = {
      {{.status = 0, .body = "cannot connect"}, "cannot connect"},
      {{.status = 0, .body = ""}, "no answer came"},
      {{.status = 403, .body = R"({"kind":"Status","reason":"Forbidden","message":"pods is forbidden"})"},
       "403 Forbidden: pods is forbidden"},
      {{.status = 404, .body = "404 page not found\n"}, "404 NotFound: 404 page not found\\n"},
      {{.status = 503, .body = ""}, "503 ServiceUnavailable"},
      {{.status = 418, .body = "{\"kind\":\"Teapot\"}"}, "418: {\"kind\":\"Teapot\"}"},
  };
  for (const auto& c : cases) {
    const std::string text = text_of_failure(c.answer);
    EXPECT_EQ(text.find('\n'), std::string::npos);
    EXPECT_EQ(text.substr(0, 20), std::string(c.text).substr(0, 20));
  }
}

TEST(Transport, ReadsTheDelayThatAStatusAsksFor) {
  EXPECT_EQ(retry_after_s_in(R"({"kind":"Status","details":{"retryAfterSeconds":7}})"), 7);
  EXPECT_EQ(retry_after_s_in(R"({"kind":"Status","details":{"retryAfterSeconds":999999}})"), 3600);
  EXPECT_EQ(retry_after_s_in(R"({"kind":"Status","details":{"retryAfterSeconds":-1}})"), 0);
  EXPECT_EQ(retry_after_s_in(R"({"kind":"Pod","details":{"retryAfterSeconds":7}})"), 0);
  EXPECT_EQ(retry_after_s_in("{"), 0);
}

TEST(Transport, ReadsWarnings) {
  const std::pair<const char*, const char*> cases[] = {
      {R"(299 - "a pod asks 9")", "a pod asks 9"},
      {R"(299 host "a \"b\" \\ c" "date")", R"(a "b" \ c)"},
      {R"(299 - "not closed)", "not closed"},
      {R"(299 - "ends in \)", R"(ends in \)"},
      {"299 - none", ""},
      {"", ""},
  };
  for (const auto& [header, text] : cases) EXPECT_EQ(warning_in(header), text) << header;
}

TEST(Transport, SendAndWaitWaits) {
  ScriptedTransport transport;
  transport.answer = [](const ApiCall& call) { return ApiAnswer{.status = 200, .body = call.path}; };
  EXPECT_EQ(send_and_wait(transport, {.path = "/api"}).body, "/api");
}

std::vector<std::string> lines_of(const std::vector<std::string>& pieces, LineSplitter splitter) {
  std::vector<std::string> lines;
  const auto keep = [&](std::string_view line) {
    lines.emplace_back(line);
    return true;
  };
  for (const std::string& piece : pieces) {
    if (!splitter.feed(piece, keep)) return lines;
  }
  splitter.finish(keep);
  return lines;
}

TEST(LineSplitter, PropertyLinesAreTheSameHoweverTheTextIsCut) {
  const std::string text = "first\n\nsecond line\nthird\n\n\nlast";
  const std::vector<std::string> whole = {"first", "second line", "third", "last"};
  for (const Seed seed : property_seeds(200)) {
    SCOPED_TRACE(name_of(seed));
    Rng rng(seed);
    std::vector<std::string> pieces;
    for (std::size_t at = 0; at < text.size();) {
      const auto size = static_cast<std::size_t>(rng.between(1, 8));
      pieces.push_back(text.substr(at, size));
      at += size;
    }
    ASSERT_EQ(lines_of(pieces, LineSplitter()), whole);
  }
}

TEST(LineSplitter, RefusesALineThatNeverEnds) {
  LineSplitter splitter(10);
  const auto keep = [](std::string_view) { return true; };
  EXPECT_TRUE(splitter.feed("0123456789\n01234", keep));
  EXPECT_TRUE(splitter.feed("56789", keep));
  EXPECT_FALSE(splitter.line_too_long());
  EXPECT_FALSE(splitter.feed("x", keep));
  EXPECT_TRUE(splitter.line_too_long());
}

TEST(LineSplitter, StopsWhenToldTo) {
  int seen = 0;
  LineSplitter splitter;
  EXPECT_FALSE(splitter.feed("a\nb\nc\n", [&](std::string_view) { return ++seen < 2; }));
  EXPECT_EQ(seen, 2);
}

TEST(Backoff, GrowsToHalfAMinuteAndIsQuickAfterALostConnection) {
  Backoff backoff({1});
  const std::int64_t least_ms[] = {800, 1600, 3200, 6400, 12800, 25600, 30000, 30000};
  for (const std::int64_t least : least_ms) {
    const Duration wait = backoff.next();
    EXPECT_GE(wait.ms, least);
    EXPECT_LE(wait.ms, std::min<std::int64_t>(2 * least, 30000));
  }
  backoff.reset();
  EXPECT_LE(backoff.next().ms, 200);
  EXPECT_LE(backoff.next().ms, 600);
  EXPECT_GE(backoff.next().ms, 800);
}

TEST(HandTurnedAlarm, RunsWhatIsDueInOrderAndWhatThatAsksFor) {
  HandTurnedAlarm alarm;
  std::string order;
  std::unique_ptr<Alarm::Handle> later;
  const auto second = alarm.after(seconds(2), [&] { order += 'b'; });
  const auto first = alarm.after(seconds(1), [&] {
    order += 'a';
    later = alarm.after(seconds(1), [&] { order += 'c'; });
  });
  auto cancelled = alarm.after(seconds(1), [&] { order += 'x'; });
  cancelled.reset();
  EXPECT_EQ(alarm.until_next(), seconds(1));
  alarm.advance(seconds(1));
  EXPECT_EQ(order, "a");
  alarm.advance(seconds(1));
  EXPECT_EQ(order, "abc");
  EXPECT_EQ(alarm.waiting(), 0U);
}

// A moment that a test waits for.
class Moment {
 public:
  void come() {
    const std::lock_guard hold(mutex_);
    come_ = true;
    changed_.notify_all();
  }
  void wait() {
    std::unique_lock hold(mutex_);
    changed_.wait(hold, [this] { return come_; });
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  bool come_ = false;
};

TEST(Alarm, RunsInOrderOfTimeOnItsOwnThread) {
  std::string order;
  Moment done;
  const auto alarm = Alarm::start();
  const Time before = alarm->now();
  std::vector<std::unique_ptr<Alarm::Handle>> handles;
  handles.push_back(alarm->after({30}, [&] {
    order += 'c';
    done.come();
  }));
  handles.push_back(alarm->after({10}, [&] { order += 'a'; }));
  handles.push_back(alarm->after({20}, [&] { order += 'b'; }));
  auto cancelled = alarm->after({0}, [&] { order += 'x'; });
  EXPECT_TRUE(cancelled != nullptr);
  done.wait();
  EXPECT_TRUE(order == "xabc" || order == "abc") << order;
  EXPECT_GE((alarm->now() - before).ms, 30);
}

TEST(Alarm, MayBeCancelledFromItsOwnRunAndOutlivedByHandles) {
  Moment done;
  std::unique_ptr<Alarm::Handle> own, never;
  bool ran = false;
  {
    const auto alarm = Alarm::start();
    never = alarm->after(seconds(100'000), [&] { ran = true; });
    std::mutex mutex;  // the handle is assigned while the run may already want it
    std::unique_lock hold(mutex);
    own = alarm->after({0}, [&] {
      const std::lock_guard inside(mutex);
      own.reset();
      done.come();
    });
    hold.unlock();
    done.wait();
  }
  never.reset();
  EXPECT_FALSE(ran);
}

TEST(Gate, NothingComesThroughAClosedOneAndClosingWaits) {
  int calls = 0;
  Moment entered, leave;
  auto gate = std::make_unique<Gate>();
  auto callback = gate->guarded([&] {
    entered.come();
    leave.wait();
    ++calls;
  });
  std::thread inside(callback);
  entered.wait();
  std::thread closing([&] { gate->close(); });
  leave.come();
  closing.join();
  EXPECT_EQ(calls, 1);
  inside.join();
  gate.reset();
  callback();
  EXPECT_EQ(calls, 1);
}

TEST(Gate, MayBeClosedFromWithin) {
  auto gate = std::make_unique<Gate>();
  const Gate& same = *gate;
  bool open = true;
  auto callback = gate->guarded([&] {
    gate->close();
    open = same.is_open();
  });
  callback();
  EXPECT_FALSE(open);
}

}  // namespace berth::transport_test
