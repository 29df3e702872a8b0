#include "manifest/defragmentation_spec.h"

#include <utility>

#include "manifest/slice_resources.h"
#include "model/gpu.h"
#include "model/quantity.h"

namespace berth {
namespace {

// Windows that go on for longer open once a week at least.
constexpr Duration kAhead{std::int64_t{8} * 86'400'000};

class DefragmentationReader {
 public:
  explicit DefragmentationReader(const Value& spec) : spec_(spec) {}

  DefragmentationSpecReading read() && {
    const std::int64_t gpus = spec_["gpus"].integer(made_.spec.gpus);
    if (gpus < 1 || gpus > kGpusPerNodeMax) {
      complain("gpus", "is no number of whole GPUs on one node; write 1 to 64");
    } else {
      made_.spec.gpus = static_cast<std::int32_t>(gpus);
    }
    read_slice();
    made_.spec.effort = spec_["effort"].integer();
    if (made_.spec.effort < 0 || made_.spec.effort > kDefragmentationEffortMax)
      complain("effort", "is no number of attempts that are made here; write 0 to 10000");
    made_.spec.carry_out = spec_["carryOut"].text();
    read_length("use", "4h", Duration{1}, made_.spec.use);
    read_length("cooldown", "1h", Duration{0}, made_.spec.cooldown);
    read_hours();
    if (spec_["hours"].is_empty() && !spec_["cooldown"].is_empty())
      complain("cooldown", "matters only to what is carried out by itself; write hours, too, or leave it out");
    return std::move(made_);
  }

 private:
  void complain(const std::string& field, std::string text) {
    made_.mistakes.push_back({"spec." + field, spec_[field], std::move(text)});
  }

  void read_length(const std::string& field, const char* example, Duration least, Duration& length) {
    if (spec_[field].is_empty()) return;
    const Parsed<std::int64_t> ms = parse_duration_ms(spec_[field].text());
    if (!ms) return complain(field, ms.error());
    if (*ms < least.ms || *ms > Duration{std::int64_t{366} * 86'400'000}.ms)
      return complain(field, std::string("is out of bounds; write such as ") + example + ", at most 366d");
    length = Duration{*ms};
  }

  // One that some model has; whether a node is cut into it the scheduler knows.
  void read_slice() {
    if (spec_["slice"].is_empty()) return;
    made_.spec.slice = spec_["slice"].text();
    made_.spec.gpus = 1;
    if (!spec_["gpus"].is_null()) complain("slice", "room is made for whole GPUs or for slices; write one of the two");
    const auto known = profile_of(slice_resource(made_.spec.slice));
    if (!known) return complain("slice", known.error());
    if (*known != made_.spec.slice) complain("slice", "is called " + *known);
  }

  // The words are those of pods.
  void read_hours() {
    if (spec_["hours"].is_empty()) return;
    const TimeReading reading =
        read_time_request(Value::map_of({{std::string(kHoursAnnotation), spec_["hours"].text()}}));
    for (const TimeProblem& problem : reading.problems) complain("hours", problem.why);
    made_.spec.hours = reading.request.hours;
  }

  const Value& spec_;
  DefragmentationSpecReading made_;
};

}  // namespace

bool DefragmentationSpec::is_open(Time now) const {
  return hours && !hours->times.openings(now, now + Duration{1}, Duration{0}).empty();
}

std::optional<Time> DefragmentationSpec::opens_after(Time now) const {
  if (!hours || is_open(now)) return std::nullopt;
  const std::vector<Interval> openings = hours->times.openings(now, now + kAhead, Duration{0});
  return openings.empty() ? std::nullopt : std::optional(openings.front().from);
}

DefragmentationSpecReading read_defragmentation_spec(const Value& spec) { return DefragmentationReader(spec).read(); }

}  // namespace berth
