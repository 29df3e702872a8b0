#include "manifest/time_request.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "manifest/json.h"
#include "manifest/timestamp.h"

namespace berth::time_request_test {

TimeReading read(const std::string& annotations) { return read_time_request(parse_json(annotations).value()); }

TEST(TimeRequest, SaysWhatScenariosSay) {
  const TimeReading reading = read(R"({
    "berth.dev/not-before": "2026-11-21T20:00:00Z", "berth.dev/hours": "mon-fri 20:00-08:00 Europe/Berlin",
    "berth.dev/max-wait": "2h raise:100", "berth.dev/singleton": "nightly",
    "berth.dev/after": "job/a,b,pod/c", "berth.dev/after-any": "job/a", "berth.dev/after-ok": "job/d",
    "berth.dev/after-start": "e"})");
  EXPECT_TRUE(reading.problems.empty()) << reading.problems.front().to_string();
  const TimeRequest& request = reading.request;
  EXPECT_EQ(request.not_before, parse_timestamp("2026-11-21T20:00:00Z"));
  EXPECT_EQ(request.hours->text, "mon-fri 20:00-08:00 Europe/Berlin");
  EXPECT_EQ(request.hours->times, *WindowTimes::read("mon-fri", "20:00-08:00", "Europe/Berlin"));
  EXPECT_EQ(request.max_wait, (MaxWait{seconds(7200), AfterWait::kRaise, 100}));
  EXPECT_EQ(request.singleton, "nightly");
  const std::vector<AfterName> after = {
      {"job", "a"}, {"job", "b"}, {"pod", "c"}, {"job", "d", DependsOn::kDone}, {"job", "e", DependsOn::kBegin}};
  EXPECT_EQ(request.after, after) << "a once";
}

TEST(TimeRequest, HoursAreWrittenOneWay) {
  const auto text = [](const std::string& hours) {
    return read(R"({"berth.dev/hours": ")" + hours + "\"}").request.hours->text;
  };
  EXPECT_EQ(text("20:00-08:00"), "daily 20:00-08:00 UTC");
  EXPECT_EQ(text("daily 20:00-08:00"), text("20:00-08:00 UTC"));
  EXPECT_EQ(text("sat,sun 00:00-24:00"), "sat,sun 00:00-24:00 UTC");
}

TEST(TimeRequest, MaxWaitSaysWhatThen) {
  const auto wait = [](const std::string& text) { return read(R"({"berth.dev/max-wait": ")" + text + "\"}").request; };
  EXPECT_EQ(wait("30m cancel").max_wait, (MaxWait{seconds(1800)}));
  EXPECT_EQ(wait("30m best-effort").max_wait, (MaxWait{seconds(1800), AfterWait::kBestEffort}));
}

TEST(TimeRequest, NeverReadySaysHowOften) {
  const auto ready = [](const std::string& text) {
    return read(R"({"berth.dev/never-ready": ")" + text + "\"}").request.ready;
  };
  EXPECT_EQ(ready("5m"), (ReadyInTime{seconds(300)}));
  EXPECT_EQ(ready("5m 0"), (ReadyInTime{seconds(300), 0}));
  EXPECT_EQ(ready("90s 3"), (ReadyInTime{seconds(90), 3}));
  EXPECT_EQ(read(R"({"berth.dev/run-limit": "4h"})").request.run_limit, seconds(4 * 3600));
}

TEST(TimeRequest, NothingIsNothing) {
  EXPECT_TRUE(read("{}").request.asks_nothing());
  EXPECT_TRUE(read("{}").problems.empty());
  EXPECT_TRUE(read_time_request(Value()).request.asks_nothing());
}

TEST(TimeRequest, SaysWhatToWriteInstead) {
  struct Case {
    const char* annotations;
    const char* why;
  };
  const Case cases[] = {
      {R"({"berth.dev/never-ready": "soon"})", "never-ready: "},
      {R"({"berth.dev/never-ready": "0s"})", "never-ready: nobody is ready in no time; write 5m"},
      {R"({"berth.dev/never-ready": "5m often"})", "never-ready: how often it is tried again: "},
      {R"({"berth.dev/never-ready": "5m 3 cancel"})",
       "never-ready: write how long, and how often it is tried again if that has an end: 5m 3"},
      {R"({"berth.dev/run-limit": "0s"})", "run-limit: a run is longer than nothing; write 4h"},
      {R"({"berth.dev/not-before": "tomorrow"})", "not-before: write a time as in 2026-11-21T20:00:00Z"},
      {R"({"berth.dev/hours": "at night"})", "hours: write hours of a clock, as in 20:00-08:00"},
      {R"({"berth.dev/hours": "mon tue 20:00-08:00"})", "hours: write hours of a clock, as in 20:00-08:00"},
      {R"({"berth.dev/hours": "moonday 20:00-08:00"})", "hours: "},
      {R"({"berth.dev/hours": "20:00-08:00 Atlantis"})", "hours: "},
      {R"({"berth.dev/max-wait": "2h"})", "max-wait: write how long, and what then: 2h cancel"},
      {R"({"berth.dev/max-wait": "2 hours cancel"})", "max-wait: write how long, and what then: 2h cancel"},
      {R"({"berth.dev/max-wait": "long cancel"})", "max-wait: "},
      {R"({"berth.dev/max-wait": "0s cancel"})", "max-wait: "},
      {R"({"berth.dev/max-wait": "2h weep"})",
       "max-wait: 'weep' is nothing that is done after a wait; write cancel, best-effort or raise:100"},
      {R"({"berth.dev/max-wait": "2h raise:much"})", "max-wait: raise: "},
      {R"({"berth.dev/max-wait": "2h best-effort", "berth.dev/coverage": "guaranteed"})",
       "max-wait: who insists on a floor (berth.dev/coverage: guaranteed) does not go on as best effort"},
      {R"({"berth.dev/singleton": "every night"})", "singleton: 'every night' is no name; write one"},
      {R"({"berth.dev/singleton": ""})", "singleton: '' is no name; write one"},
      {R"({"berth.dev/after": "jobset/a"})", "after: 'jobset/a' is no job or pod; write job/NAME or pod/NAME"},
      {R"({"berth.dev/after-ok": "job/a, job/b"})", "after-ok: ' job/b' is no job or pod"},
      {R"({"berth.dev/after-start": ""})", "after-start: '' names nobody"},
      {R"({"berth.dev/after-any": "job/A"})", "after-any: 'job/A' names nobody"},
  };
  for (const Case& each : cases) {
    const auto problems = read(each.annotations).problems;
    ASSERT_EQ(problems.size(), 1U) << each.annotations;
    const std::string text = problems.front().to_string();
    EXPECT_TRUE(text.starts_with("annotation berth.dev/" + std::string(each.why))) << text;
  }
  std::string many = "a";
  for (int i = 0; i < 100; ++i) many += ",a" + std::to_string(i);
  const auto problems = read(R"({"berth.dev/after": ")" + many + "\"}").problems;
  ASSERT_EQ(problems.size(), 1U);
  EXPECT_EQ(problems.front().to_string(), "annotation berth.dev/after: it names 101; name 100 at most");
}

}  // namespace berth::time_request_test
