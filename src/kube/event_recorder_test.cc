#include "kube/event_recorder.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "kube/hand_turned_alarm.h"
#include "kube/scripted_transport.h"
#include "manifest/json.h"

namespace berth::event_recorder_test {

Value pod(const std::string& name) {
  return *parse_json(R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":")" + name +
                     R"(","namespace":"team","uid":"u-)" + name + R"("},"spec":{"x":1}})");
}

struct Stage {
  explicit Stage(EventRecorderOptions options = {}) {
    options.controller = "berth.dev/scheduler";
    if (options.instance.empty()) options.instance = "host-1";
    transport.answer = [this](const ApiCall&) { return reply; };
    recorder = EventRecorder::start(
        transport, alarm, [this] { return Time{1'763'709'385'000 + alarm.now().ms - 1'000'000}; }, options);
  }
  void tell(const std::string& name, const std::string& note = "no room") {
    recorder->record(pod(name), EventRecorder::Type::kWarning, "FailedScheduling", "Scheduling", note);
  }
  const ApiCall& last() const { return transport.calls.back(); }
  Value last_body() const { return *parse_json(last().body); }
  std::size_t calls() const { return transport.calls.size(); }

  HandTurnedAlarm alarm;
  ScriptedTransport transport;
  ApiAnswer reply{.status = 201};
  std::unique_ptr<EventRecorder> recorder;
};

TEST(EventRecorder, WritesAnEventAsKubernetesHasThem) {
  Stage stage;
  stage.tell("p1");
  EXPECT_EQ(stage.calls(), 0U) << "telling never calls";
  stage.alarm.advance({0});
  ASSERT_EQ(stage.calls(), 1U);
  EXPECT_EQ(stage.last().method, "POST");
  EXPECT_EQ(stage.last().path, "/apis/events.k8s.io/v1/namespaces/team/events");
  const Value event = stage.last_body();
  EXPECT_EQ(event["apiVersion"].text(), "events.k8s.io/v1");
  EXPECT_EQ(event["type"].text(), "Warning");
  EXPECT_EQ(event["reason"].text(), "FailedScheduling");
  EXPECT_EQ(event["action"].text(), "Scheduling");
  EXPECT_EQ(event["note"].text(), "no room");
  EXPECT_EQ(event["reportingController"].text(), "berth.dev/scheduler");
  EXPECT_EQ(event["reportingInstance"].text(), "host-1");
  EXPECT_EQ(event["eventTime"].text(), "2025-11-21T07:16:25.000000Z");
  EXPECT_EQ(to_json(event["regarding"]),
            R"({"kind":"Pod","namespace":"team","name":"p1","uid":"u-p1","apiVersion":"v1"})");
  EXPECT_EQ(event["metadata"]["name"].text().substr(0, 3), "p1.");
  EXPECT_EQ(event.find("series"), nullptr);
}

TEST(EventRecorder, CountsWhatIsToldAgainWithinTenMinutes) {
  Stage stage;
  stage.tell("p1");
  stage.alarm.advance({0});
  const std::string name(stage.last_body()["metadata"]["name"].text());
  stage.alarm.advance(seconds(599));
  stage.tell("p1");
  stage.tell("p1");
  stage.alarm.advance({0});
  ASSERT_EQ(stage.calls(), 2U);
  EXPECT_EQ(stage.last().method, "PATCH");
  EXPECT_EQ(stage.last().path, "/apis/events.k8s.io/v1/namespaces/team/events/" + name);
  EXPECT_EQ(stage.last().content_type, "application/merge-patch+json");
  EXPECT_EQ(stage.last().body, R"({"series":{"count":3,"lastObservedTime":"2025-11-21T07:26:24.000000Z"}})");
  stage.tell("p1", "another note");
  stage.alarm.advance({0});
  EXPECT_EQ(stage.last().method, "POST");
  stage.alarm.advance(seconds(601));
  stage.tell("p1");
  stage.alarm.advance({0});
  EXPECT_EQ(stage.last().method, "POST") << "later than ten minutes it is news again";
  EXPECT_EQ(stage.recorder->dropped(), 0U);
}

TEST(EventRecorder, WhatIsSaidInEverOtherWordsBecomesOneEvent) {
  Stage stage({.wordings_max = 2});
  for (int i = 0; i < 5; ++i) {
    stage.tell("p1", "pod " + std::to_string(i) + " was refused");
    stage.alarm.advance({0});
  }
  ASSERT_EQ(stage.calls(), 5U);
  EXPECT_EQ(stage.transport.calls[1].method, "POST");
  const Value combined = *parse_json(stage.transport.calls[2].body);
  EXPECT_EQ(combined["note"].text(), "(combined from similar events): pod 2 was refused");
  EXPECT_EQ(stage.last().method, "PATCH");
  EXPECT_EQ(stage.last_body()["series"]["count"].integer(), 3);
  stage.tell("p1", "pod 0 was refused");
  stage.tell("p2", "pod 9 was refused");
  stage.alarm.advance({0});
  ASSERT_EQ(stage.calls(), 7U);
  EXPECT_EQ(stage.transport.calls[5].method, "PATCH") << "its own event goes on";
  EXPECT_EQ(stage.last_body()["note"].text(), "pod 9 was refused") << "another object has its own words";
  stage.alarm.advance(seconds(601));
  stage.tell("p1", "pod 10 was refused");
  stage.alarm.advance({0});
  EXPECT_EQ(stage.last_body()["note"].text(), "pod 10 was refused") << "after a while it is news again";
}

TEST(EventRecorder, EventsAboutThingsWithoutNamespaceAreInDefault) {
  Stage stage;
  stage.recorder->record(*parse_json(R"({"kind":"Node","apiVersion":"v1","metadata":{"name":"n1"}})"),
                         EventRecorder::Type::kNormal, "Ready", "Watching", std::string(2000, 'x') + "\xc3\xa9");
  stage.alarm.advance({0});
  EXPECT_EQ(stage.last().path, "/apis/events.k8s.io/v1/namespaces/default/events");
  EXPECT_EQ(stage.last_body()["note"].text().size(), 1024U);
}

TEST(EventRecorder, WhatFailedIsWrittenLater) {
  Stage stage;
  stage.reply = {.status = 0, .body = "cannot connect"};
  stage.tell("p1");
  stage.alarm.advance({0});
  EXPECT_EQ(stage.calls(), 1U);
  stage.reply = {.status = 429, .retry_after_s = 60};
  stage.alarm.advance(seconds(2));
  EXPECT_EQ(stage.calls(), 2U);
  stage.tell("p2");
  stage.alarm.advance(seconds(59));
  EXPECT_EQ(stage.calls(), 2U) << "the server asked for a minute";
  stage.reply = {.status = 201};
  stage.alarm.advance(seconds(1));
  EXPECT_EQ(stage.calls(), 4U);
  EXPECT_EQ(stage.transport.calls[0].body, stage.transport.calls[1].body)
      << "the same event, so that there are not two";
  stage.alarm.advance(seconds(100));
  EXPECT_EQ(stage.calls(), 4U);
  EXPECT_EQ(stage.recorder->dropped(), 0U);
}

TEST(EventRecorder, AnEventThatIsGoneBeginsAnew) {
  Stage stage;
  stage.tell("p1");
  stage.alarm.advance({0});
  stage.reply = {.status = 404};
  stage.tell("p1");
  stage.alarm.advance({0});
  ASSERT_EQ(stage.calls(), 3U) << "a PATCH that found nothing, then a POST that found no namespace";
  EXPECT_EQ(stage.last().method, "POST");
  EXPECT_EQ(stage.recorder->dropped(), 1U);
}

TEST(EventRecorder, AnEventThatIsThereAlreadyIsOurs) {
  Stage stage;
  stage.reply = {.status = 409};
  stage.tell("p1");
  stage.alarm.advance({0});
  stage.reply = {.status = 200};
  stage.tell("p1");
  stage.alarm.advance({0});
  EXPECT_EQ(stage.last().method, "PATCH");
  EXPECT_EQ(stage.recorder->dropped(), 0U);
}

TEST(EventRecorder, AnObjectWithTooMuchToSayIsCutShort) {
  Stage stage({.writes_burst = 3, .write_every = seconds(30)});
  for (int i = 0; i < 10; ++i) stage.tell("p1", "note " + std::to_string(i));
  stage.tell("p2");
  stage.alarm.advance({0});
  EXPECT_EQ(stage.calls(), 4U);
  EXPECT_EQ(stage.recorder->dropped(), 7U);
  for (int i = 0; i < 10; ++i) stage.tell("p1", "note 0");
  stage.alarm.advance(seconds(29));
  EXPECT_EQ(stage.calls(), 4U) << "a count may wait";
  stage.alarm.advance(seconds(1));
  ASSERT_EQ(stage.calls(), 5U);
  EXPECT_EQ(stage.last_body()["series"]["count"].integer(), 11);
  EXPECT_EQ(stage.recorder->dropped(), 7U);
}

TEST(EventRecorder, NothingGrowsWithoutEnd) {
  Stage stage({.series_max = 20, .in_flight_max = 2, .waiting_max = 5});
  stage.transport.answer = nullptr;  // the server is silent
  for (int i = 0; i < 100; ++i) {
    stage.tell("p" + std::to_string(i));
    stage.alarm.advance({0});
  }
  EXPECT_EQ(stage.calls(), 2U);
  EXPECT_EQ(stage.recorder->dropped(), 93U);
  while (stage.transport.held() > 0) {
    stage.transport.answer_held({.status = 201});
    stage.alarm.advance({0});
  }
  EXPECT_EQ(stage.calls(), 7U);
  for (int i = 0; i < 30; ++i) stage.tell("q");
  stage.alarm.advance({0});
  while (stage.transport.held() > 0) stage.transport.answer_held({.status = 201});
  EXPECT_EQ(stage.last_body()["series"]["count"].integer(), 30);
}

TEST(EventRecorder, AnAnswerAfterItsEndIsNobodys) {
  Stage stage;
  stage.transport.answer = nullptr;
  stage.tell("p1");
  stage.alarm.advance({0});
  ASSERT_EQ(stage.transport.held(), 1U);
  stage.recorder.reset();
  stage.transport.answer_held({.status = 201});
  EXPECT_EQ(stage.alarm.waiting(), 0U);
}

}  // namespace berth::event_recorder_test
