#include "controllers/event_collector.h"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace berth {
namespace {

constexpr Duration kRoundEvery = seconds(300);
constexpr Duration kAfterTrouble = seconds(30);
constexpr const char* kPage = "?limit=500";

Time last_told(const Value& event) {
  Time last = parse_timestamp(event["metadata"]["creationTimestamp"].text()).value_or(kTimeMax);
  for (const std::string_view time :
       {event["lastTimestamp"].text(), event["eventTime"].text(), event["series"]["lastObservedTime"].text()}) {
    if (const auto told = parse_timestamp(time)) last = std::max(last, *told);
  }
  return last;
}

class EventCollector final : public Controller {
 public:
  explicit EventCollector(const Means& means)
      : means_(means), kind_(*find_served("", "v1", "events")), due_(means.alarm.now() + kRoundEvery) {}

  void see(const KindInfo&, const ObjectChange&) override {}
  void work() override {
    if (!due_ || means_.alarm.now() < *due_) return;
    due_.reset();
    look_through("");
  }
  std::optional<Time> next() const override { return due_; }

 private:
  void look_through(const std::string& from) {
    ApiCall call;
    call.path = api_path("events", "") + kPage + (from.empty() ? "" : "&continue=" + percent_encoded(from));
    means_.outbox.send(Outbox::Urgency::kTelling, std::move(call), [this](const ApiAnswer& answer) {
      const Value list = object_in(answer);
      for (const Value& event : old_events(list, means_.wall())) {
        means_.outbox.send(Outbox::Urgency::kTelling, deletion_of(kind_, event), [](const ApiAnswer&) {});
      }
      const std::string_view more = list["metadata"]["continue"].text();
      if (answer.ok() && !more.empty()) return look_through(std::string(more));
      due_ = means_.alarm.now() + (answer.ok() ? kRoundEvery : kAfterTrouble);
    });
  }

  const Means& means_;
  const KindInfo& kind_;
  std::optional<Time> due_;  // none while a round is under way
};

}  // namespace

std::vector<Value> old_events(const Value& list, Time now) {
  std::vector<Value> old;
  for (const Value& event : list["items"].items()) {
    if (now - last_told(event) > kEventsKept) old.push_back(event);
  }
  return old;
}

std::unique_ptr<Controller> make_event_collector(const Means& means) { return std::make_unique<EventCollector>(means); }

}  // namespace berth
