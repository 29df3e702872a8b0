#include "kube/event_recorder.h"

#include <algorithm>
#include <deque>
#include <list>
#include <map>
#include <mutex>
#include <optional>
#include <string_view>
#include <tuple>
#include <utility>

#include "base/assert.h"
#include "base/rng.h"
#include "kube/backoff.h"
#include "kube/gate.h"
#include "manifest/json.h"

namespace berth {
namespace {

constexpr std::size_t kNoteMax = 1024;
constexpr std::size_t kInstanceMax = 128;
constexpr std::size_t kObjectNameMax = 230;  // with what is appended, an event's name is a name again
// The same thing told later than this is a new event.
constexpr Duration kSeriesGap = seconds(600);
constexpr std::string_view kCombined = "(combined from similar events): ";

// The longest beginning of at most that many bytes that cuts no character.
std::string cut(std::string_view text, std::size_t bytes_max) {
  if (text.size() <= bytes_max) return std::string(text);
  std::size_t end = bytes_max;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xc0) == 0x80) --end;
  return std::string(text.substr(0, end));
}

// What an event is about: a reference to the object, without its contents.
Value regarding(const Value& object) {
  const Value& metadata = object["metadata"];
  Value reference = Value::map();
  for (const std::string_view field : {"kind", "namespace", "name", "uid", "apiVersion"}) {
    const Value& own = object[field];
    const Value& value = own.is_null() ? metadata[field] : own;
    if (value.is_text()) reference.set(field, value);
  }
  return reference;
}

struct Telling {
  Value regarding;
  EventRecorder::Type type = EventRecorder::Type::kNormal;
  std::string reason, action, note;

  std::string object_key() const {
    std::string key;
    for (const std::string_view field : {"apiVersion", "kind", "namespace", "name", "uid"}) {
      key += regarding[field].text();
      key += '/';
    }
    return key;
  }
};
using SeriesKey = std::tuple<std::string, EventRecorder::Type, std::string, std::string, std::string>;

// The same thing told, once or many times.
struct Series {
  Telling telling;
  std::string object_key;
  std::string event;         // its name
  std::int64_t told = 0;     // how often since it began
  std::int64_t written = 0;  // of which the event knows; 0: there is none yet
  Time first, last;          // by the wall clock
  Time last_told;            // by the alarm's
  bool combined = false;     // of many wordings; its note is the first one's
  bool waiting = false;      // in the queue
  bool in_flight = false;    // and so never forgotten

  SeriesKey key() const {
    return {object_key, telling.type, telling.reason, telling.action, combined ? std::string(kCombined) : telling.note};
  }
};

// How many ways of saying the same were heard of late.
struct Wordings {
  int count = 0;
  Time last;
};

class Recorder : public std::enable_shared_from_this<Recorder> {
 public:
  Recorder(Transport& transport, Alarm& alarm, WallClock clock, EventRecorderOptions options)
      : transport_(transport),
        alarm_(alarm),
        clock_(std::move(clock)),
        options_(std::move(options)),
        backoff_({options_.name_seed}) {
    BERTH_ASSERT(!options_.controller.empty() && options_.in_flight_max > 0 && options_.writes_burst > 0);
  }

  void close() {
    gate_.close();
    const std::lock_guard hold(mutex_);
    next_look_.reset();
  }

  void record(Telling telling) {
    const Time now = alarm_.now();
    const std::lock_guard hold(mutex_);
    const SeriesList::iterator series = find_or_begin(std::move(telling), now);
    ++series->told;
    series->last = clock_();
    series->last_told = now;
    queue(series);
    look_after({0});
  }

  std::uint64_t dropped() const {
    const std::lock_guard hold(mutex_);
    return dropped_;
  }

 private:
  using SeriesList = std::list<Series>;  // those told last are at the end
  struct Write {
    SeriesList::iterator series;
    std::int64_t told = 0;  // what the event will know
    ApiCall call;
  };

  // ---- what was told; under mutex_ ----

  SeriesList::iterator find_or_begin(Telling telling, Time now) {
    std::string object_key = telling.object_key();
    SeriesKey key{object_key, telling.type, telling.reason, telling.action, telling.note};
    if (const auto known = find(key, now)) return *known;
    const bool combined = has_many_wordings(telling, object_key, now);
    if (combined) {
      std::get<4>(key) = kCombined;
      if (const auto known = find(key, now)) return *known;
      telling.note = cut(std::string(kCombined) + telling.note, kNoteMax);
    }
    if (series_.size() >= options_.series_max) {
      const auto oldest = std::ranges::find_if(series_, [](const Series& series) { return !series.in_flight; });
      if (oldest != series_.end()) forget(oldest);
    }
    Series begun;
    begun.telling = std::move(telling);
    begun.object_key = std::move(object_key);
    begun.event = new_name(begun.telling.regarding["name"].text());
    begun.first = clock_();
    begun.combined = combined;
    const SeriesList::iterator series = series_.insert(series_.end(), std::move(begun));
    by_key_.emplace(key, series);
    return series;
  }

  // The series of that key, if it goes on.
  std::optional<SeriesList::iterator> find(const SeriesKey& key, Time now) {
    const auto found = by_key_.find(key);
    if (found == by_key_.end()) return std::nullopt;
    const SeriesList::iterator series = found->second;
    if (now - series->last_told > kSeriesGap && !series->in_flight) {
      forget(series);
      return std::nullopt;
    }
    series_.splice(series_.end(), series_, series);
    return series;
  }

  // Takes note of a new one.
  bool has_many_wordings(const Telling& telling, const std::string& object_key, Time now) {
    if (wordings_.size() >= options_.series_max) {
      std::erase_if(wordings_, [now](const auto& each) { return now - each.second.last > kSeriesGap; });
    }
    if (wordings_.size() >= options_.series_max) wordings_.clear();
    Wordings& wordings = wordings_[{object_key, telling.type, telling.reason, telling.action, ""}];
    if (now - wordings.last > kSeriesGap) wordings.count = 0;
    wordings.last = now;
    if (wordings.count >= options_.wordings_max) return true;
    ++wordings.count;
    return false;
  }

  void forget(SeriesList::iterator series) {
    dropped_ += static_cast<std::uint64_t>(series->told - series->written);
    if (series->waiting) std::erase(waiting_, series);
    by_key_.erase(series->key());
    series_.erase(series);
  }

  void queue(SeriesList::iterator series) {
    if (series->waiting || series->in_flight) return;
    if (waiting_.size() >= options_.waiting_max) {
      if (series->written == 0) forget(series);  // an event that exists will count it the next time
      return;
    }
    series->waiting = true;
    waiting_.push_back(series);
  }

  void look_after(Duration delay) {
    const Time at = alarm_.now() + delay;
    if (next_look_ && at >= next_look_at_) return;
    next_look_at_ = at;
    next_look_ = alarm_.after(delay, gate_.guarded([self = shared_from_this()] { self->write_what_waits(); }));
  }

  // How long until one more write about the object is allowed. Of each object we know when the writes made so far will
  // have been paid for, at one per write_every; it may owe a burst of them.
  Duration wait_for(const std::string& object_key, Time now) const {
    const auto owes = paid_at_.find(object_key);
    if (owes == paid_at_.end()) return {0};
    const Duration credit{options_.write_every.ms * (options_.writes_burst - 1)};
    return std::max(Duration{0}, owes->second - now - credit);
  }
  void owe(const std::string& object_key, Time now) {
    if (paid_at_.size() >= kObjectsMax) std::erase_if(paid_at_, [now](const auto& owes) { return owes.second <= now; });
    if (paid_at_.size() >= kObjectsMax) paid_at_.clear();  // better a few events too many than memory without end
    Time& paid_at = paid_at_[object_key];
    paid_at = std::max(paid_at, now) + options_.write_every;
  }

  // ---- on the alarm's thread ----

  void write_what_waits() {
    {
      const std::lock_guard hold(mutex_);
      next_look_.reset();
    }
    while (std::optional<Write> write = next_write()) {
      transport_.send(std::move(write->call),
                      gate_.guarded([self = shared_from_this(), series = write->series, told = write->told](
                                        const ApiAnswer& answer) { self->take_answer(series, told, answer); }));
    }
  }

  std::optional<Write> next_write() {
    const Time now = alarm_.now();
    const std::lock_guard hold(mutex_);
    if (now < paused_until_) {
      if (!waiting_.empty()) look_after(paused_until_ - now);
      return std::nullopt;
    }
    if (in_flight_ >= options_.in_flight_max) return std::nullopt;  // an answer brings us back
    std::optional<Duration> shortest;
    for (auto place = waiting_.begin(); place != waiting_.end();) {
      const SeriesList::iterator series = *place;
      const Duration wait = wait_for(series->object_key, now);
      if (wait.ms > 0 && series->written > 0) {
        shortest = std::min(shortest.value_or(wait), wait);
        ++place;
        continue;
      }
      place = waiting_.erase(place);
      series->waiting = false;
      if (wait.ms == 0) return begin_write(series, now);
      forget(series);  // an object with too much to say: what is new about it is dropped
    }
    if (shortest) look_after(*shortest);
    return std::nullopt;
  }

  Write begin_write(SeriesList::iterator series, Time now) {
    owe(series->object_key, now);
    series->in_flight = true;
    ++in_flight_;
    return {series, series->told, call_for(*series)};
  }

  void take_answer(SeriesList::iterator series, std::int64_t told, const ApiAnswer& answer) {
    const std::lock_guard hold(mutex_);
    --in_flight_;
    series->in_flight = false;
    // 409: it exists, from a write whose answer was lost.
    if (answer.ok() || (answer.status == 409 && series->written == 0)) {
      backoff_.reset();
      series->written = told;
      if (series->told > told) queue(series);
    } else if (answer.status == 404 && series->written > 0) {
      // Events are removed after a while: it begins anew.
      series->event = new_name(series->telling.regarding["name"].text());
      series->told -= std::exchange(series->written, 0);
      queue(series);
    } else if (answer.status == 0 || answer.status == 429 || answer.status >= 500) {
      paused_until_ = alarm_.now() + std::max(backoff_.next(), seconds(std::min(answer.retry_after_s, 300)));
      queue(series);
    } else {
      forget(series);  // it cannot be written: no right to, or its namespace is gone
    }
    look_after({0});
  }

  // ---- calls ----

  ApiCall call_for(const Series& series) const {
    const std::string name_space = name_space_of(series);
    if (series.written == 0) {
      return {.method = "POST", .path = api_path(kEvents, name_space), .body = to_json(event_of(series, name_space))};
    }
    return {.method = "PATCH",
            .path = api_path(kEvents, name_space, series.event),
            .content_type = "application/merge-patch+json",
            .body = to_json(Value::map_of({{"series", count_of(series)}}))};
  }

  static std::string name_space_of(const Series& series) {
    const std::string_view own = series.telling.regarding["namespace"].text();
    return own.empty() ? "default" : std::string(own);  // events about things without namespace are kept there
  }

  std::string new_name(std::string_view object) {
    static constexpr std::string_view kDigits = "0123456789abcdef";
    std::uint64_t number = mix64(mix64(options_.name_seed) ^ ++names_);
    std::string name = cut(object, kObjectNameMax) + ".";
    for (int i = 0; i < 16; ++i, number >>= 4) name += kDigits[number & 15];
    return name;
  }

  static Value count_of(const Series& series) {
    return Value::map_of({{"count", series.told}, {"lastObservedTime", format_micro_timestamp(series.last)}});
  }

  Value event_of(const Series& series, const std::string& name_space) const {
    const Telling& telling = series.telling;
    Value event = Value::map_of({
        {"apiVersion", "events.k8s.io/v1"},
        {"kind", "Event"},
        {"metadata", Value::map_of({{"name", series.event}, {"namespace", name_space}})},
        {"eventTime", format_micro_timestamp(series.first)},
        {"reportingController", options_.controller},
        {"reportingInstance", cut(options_.instance, kInstanceMax)},
        {"type", telling.type == EventRecorder::Type::kNormal ? "Normal" : "Warning"},
        {"reason", telling.reason},
        {"action", telling.action},
        {"note", telling.note},
        {"regarding", telling.regarding},
    });
    if (series.told > 1) event.set("series", count_of(series));
    return event;
  }

  static constexpr std::string_view kEvents = "events.events.k8s.io";
  static constexpr std::size_t kObjectsMax = 65'536;

  Transport& transport_;
  Alarm& alarm_;
  const WallClock clock_;
  const EventRecorderOptions options_;

  Gate gate_;
  mutable std::mutex mutex_;  // never held while the transport is called; guards all that follows
  Backoff backoff_;
  SeriesList series_;
  std::map<SeriesKey, SeriesList::iterator> by_key_;
  std::map<SeriesKey, Wordings> wordings_;  // by key, all notes as one
  std::deque<SeriesList::iterator> waiting_;
  std::size_t in_flight_ = 0;
  std::map<std::string, Time> paid_at_;  // by object
  Time paused_until_;
  std::unique_ptr<Alarm::Handle> next_look_;
  Time next_look_at_;
  std::uint64_t names_ = 0;
  std::uint64_t dropped_ = 0;
};

class SeriesRecorder : public EventRecorder {
 public:
  explicit SeriesRecorder(std::shared_ptr<Recorder> recorder) : recorder_(std::move(recorder)) {}
  SeriesRecorder(const SeriesRecorder&) = delete;
  SeriesRecorder& operator=(const SeriesRecorder&) = delete;
  ~SeriesRecorder() override { recorder_->close(); }

  void record(const Value& object, Type type, const std::string& reason, const std::string& action,
              const std::string& note) override {
    recorder_->record({regarding(object), type, reason, action, cut(note, kNoteMax)});
  }
  std::uint64_t dropped() const override { return recorder_->dropped(); }

 private:
  std::shared_ptr<Recorder> recorder_;
};

}  // namespace

std::unique_ptr<EventRecorder> EventRecorder::start(Transport& transport, Alarm& alarm, WallClock clock,
                                                    EventRecorderOptions options) {
  return std::make_unique<SeriesRecorder>(
      std::make_shared<Recorder>(transport, alarm, std::move(clock), std::move(options)));
}

}  // namespace berth
