#include "manifest/time_request.h"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <utility>

#include "base/wording.h"
#include "manifest/label_syntax.h"
#include "manifest/labels.h"
#include "manifest/timestamp.h"
#include "model/quantity.h"

namespace berth {
namespace {

std::vector<std::string_view> split_at(std::string_view text, char at) {
  std::vector<std::string_view> parts;
  while (true) {
    const std::size_t end = text.find(at);
    parts.push_back(text.substr(0, end));
    if (end == std::string_view::npos) return parts;
    text.remove_prefix(end + 1);
  }
}

class TimeRequestReader {
 public:
  explicit TimeRequestReader(const Value& annotations) : annotations_(annotations) {}

  TimeReading read() && {
    read_not_before();
    read_hours();
    read_max_wait();
    read_never_ready();
    read_run_limit();
    read_singleton();
    read_after(kAfterAnnotation, DependsOn::kEnd);
    read_after(kAfterAnyAnnotation, DependsOn::kEnd);
    read_after(kAfterOkAnnotation, DependsOn::kDone);
    read_after(kAfterStartAnnotation, DependsOn::kBegin);
    return std::move(made_);
  }

 private:
  void complain(std::string_view annotation, std::string why) {
    made_.problems.push_back({annotation, std::move(why)});
  }

  void read_not_before() {
    const Value* const value = annotations_.find(kNotBeforeAnnotation);
    if (value == nullptr) return;
    made_.request.not_before = parse_timestamp(value->text());
    if (!made_.request.not_before) complain(kNotBeforeAnnotation, "write a time as in 2026-11-21T20:00:00Z");
  }

  // The hours are the part with the colon: days stand before them, and the zone after them.
  void read_hours() {
    const Value* const value = annotations_.find(kHoursAnnotation);
    if (value == nullptr) return;
    const std::vector<std::string_view> words = split_at(value->text(), ' ');
    const auto hours = std::ranges::find_if(words, [](std::string_view word) { return word.contains(':'); });
    if (hours == words.end() || hours - words.begin() > 1 || words.end() - hours > 2) {
      return complain(kHoursAnnotation,
                      "write hours of a clock, as in 20:00-08:00, with days before them and a zone after them where "
                      "that is meant: mon-fri 20:00-08:00 Europe/Berlin");
    }
    const std::string_view days = hours == words.begin() ? "daily" : words.front();
    const std::string_view zone = hours + 1 == words.end() ? WindowTimes::kUtc : words.back();
    const auto times = WindowTimes::read(days, *hours, zone);
    if (!times) return complain(kHoursAnnotation, times.error());
    made_.request.hours = WrittenHours{std::string(days) + " " + std::string(*hours) + " " + std::string(zone), *times};
  }

  void read_max_wait() {
    const Value* const value = annotations_.find(kMaxWaitAnnotation);
    if (value == nullptr) return;
    constexpr std::string_view kRaise = "raise:";
    constexpr std::string_view kForm = "write how long, and what then: 2h cancel, 2h best-effort or 2h raise:100";
    const std::vector<std::string_view> words = split_at(value->text(), ' ');
    if (words.size() != 2) return complain(kMaxWaitAnnotation, std::string(kForm));
    const auto ms = parse_duration_ms(words[0]);
    if (!ms) return complain(kMaxWaitAnnotation, ms.error());
    if (*ms < 1 || *ms > kTimeMax.ms) return complain(kMaxWaitAnnotation, "a wait is longer than nothing; write 2h");
    MaxWait wait{Duration{*ms}};
    if (words[1] == kAfterWaitNames[1]) {
      wait.then = AfterWait::kBestEffort;
    } else if (words[1].starts_with(kRaise)) {
      const auto by = parse_integer(words[1].substr(kRaise.size()), 1, kPriorityMax);
      if (!by) return complain(kMaxWaitAnnotation, "raise: " + by.error() + "; write raise:100");
      wait.then = AfterWait::kRaise;
      wait.raise = static_cast<std::int32_t>(*by);
    } else if (words[1] != kAfterWaitNames[0]) {
      return complain(kMaxWaitAnnotation, quote(words[1]) + " is nothing that is done after a wait; " +
                                              "write cancel, best-effort or raise:100");
    }
    if (wait.then == AfterWait::kBestEffort && annotations_[kCoverageAnnotation].text() == "guaranteed") {
      return complain(kMaxWaitAnnotation, "who insists on a floor (" + std::string(kCoverageAnnotation) +
                                              ": guaranteed) does not go on as best effort; leave one of the two out");
    }
    made_.request.max_wait = wait;
  }

  void read_never_ready() {
    const Value* const value = annotations_.find(kNeverReadyAnnotation);
    if (value == nullptr) return;
    const std::vector<std::string_view> words = split_at(value->text(), ' ');
    if (words.size() > 2)
      return complain(kNeverReadyAnnotation,
                      "write how long, and how often it is tried again if that has an end: 5m 3");
    const auto ms = parse_duration_ms(words[0]);
    if (!ms) return complain(kNeverReadyAnnotation, ms.error());
    if (*ms < 1 || *ms > kTimeMax.ms) return complain(kNeverReadyAnnotation, "nobody is ready in no time; write 5m");
    ReadyInTime ready{Duration{*ms}};
    if (words.size() == 2) {
      const auto retries = parse_integer(words[1], 0, kRetriesMax);
      if (!retries) return complain(kNeverReadyAnnotation, "how often it is tried again: " + retries.error());
      ready.retries = static_cast<std::int32_t>(*retries);
    }
    made_.request.ready = ready;
  }

  void read_run_limit() {
    const Value* const value = annotations_.find(kRunLimitAnnotation);
    if (value == nullptr) return;
    const auto ms = parse_duration_ms(value->text());
    if (!ms) return complain(kRunLimitAnnotation, ms.error());
    if (*ms < 1 || *ms > kTimeMax.ms) return complain(kRunLimitAnnotation, "a run is longer than nothing; write 4h");
    made_.request.run_limit = Duration{*ms};
  }

  void read_singleton() {
    const Value* const value = annotations_.find(kSingletonAnnotation);
    if (value == nullptr) return;
    const std::string_view name = value->text();
    if (name.empty() || !is_label_value(name)) {
      return complain(kSingletonAnnotation, quote(name) +
                                                " is no name; write one of letters, digits, dashes, dots and "
                                                "underscores, as in nightly, of 63 at most");
    }
    made_.request.singleton = name;
  }

  void read_after(std::string_view annotation, DependsOn what) {
    const Value* const value = annotations_.find(annotation);
    if (value == nullptr) return;
    const std::vector<std::string_view> names = split_at(value->text(), ',');
    if (names.size() > kAfterMax) {
      return complain(annotation, "it names " + std::to_string(names.size()) + "; name 100 at most");
    }
    for (const std::string_view each : names) read_name(annotation, each, what);
  }

  void read_name(std::string_view annotation, std::string_view text, DependsOn what) {
    const std::size_t slash = text.find('/');
    const std::string_view kind = slash == std::string_view::npos ? "job" : text.substr(0, slash);
    const std::string_view name = slash == std::string_view::npos ? text : text.substr(slash + 1);
    if (kind != "job" && kind != "pod") {
      return complain(annotation, quote(text) + " is no job or pod; write job/NAME or pod/NAME, of the same namespace");
    }
    if (!is_object_name(name)) {
      return complain(annotation, quote(text) +
                                      " names nobody; write job/NAME or pod/NAME, several with commas and "
                                      "without spaces");
    }
    AfterName after{std::string(kind), std::string(name), what};
    std::vector<AfterName>& known = made_.request.after;
    if (std::ranges::find(known, after) == known.end()) known.push_back(std::move(after));
  }

  const Value& annotations_;
  TimeReading made_;
};

}  // namespace

std::string TimeProblem::to_string() const { return "annotation " + std::string(annotation) + ": " + why; }

TimeReading read_time_request(const Value& annotations) { return TimeRequestReader(annotations).read(); }

}  // namespace berth
