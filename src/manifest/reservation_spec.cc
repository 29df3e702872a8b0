#include "manifest/reservation_spec.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "manifest/circle_spec.h"
#include "manifest/timestamp.h"
#include "model/quantity.h"
#include "model/reservation.h"

namespace berth {
namespace {

constexpr std::string_view kWholeDay = "00:00-24:00";

class ReservationReader {
 public:
  explicit ReservationReader(const Value& spec) : spec_(spec) {}

  ReservationSpecReading read() && {
    made_.spec.queue = spec_["queue"].text();
    if (!made_.spec.is_maintenance()) {
      read_for_queue();
    } else if (spec_["nodes"].items().empty()) {
      complain("spec.queue", spec_["queue"],
               "is not there; write for which queue, with gpus; or nodes, for maintenance");
    } else {
      read_maintenance();
    }
    read_times();
    return std::move(made_);
  }

 private:
  void complain(std::string field, const Value& value, std::string text) {
    made_.mistakes.push_back({std::move(field), value, std::move(text)});
  }

  void read_for_queue() {
    if (std::string why = why_no_queue(made_.spec.queue); !why.empty())
      complain("spec.queue", spec_["queue"], std::move(why));
    if (!spec_["nodes"].items().empty()) {
      complain("spec.nodes", spec_["nodes"],
               "a queue reserves GPUs, and not nodes; leave nodes out, or queue and gpus for maintenance");
    }
    made_.spec.gpus = spec_["gpus"].integer();
    if (made_.spec.gpus < 1 || made_.spec.gpus > kReservationGpusMax)
      complain("spec.gpus", spec_["gpus"], "is no number of whole GPUs; write 1 to 1000000");
    const FlavorAmount flavor = flavor_amount_named(spec_["flavor"].text());
    made_.spec.flavor = spec_["flavor"].is_empty() ? "" : flavor.flavor;
    if (flavor.resource != Resource::kGpu)
      complain("spec.flavor", spec_["flavor"], "only GPUs are reserved; write " + flavor.flavor);
  }

  void read_maintenance() {
    for (const char* const field : {"gpus", "flavor"}) {
      if (spec_[field].is_null()) continue;
      complain("spec." + std::string(field), spec_[field],
               "maintenance is of whole nodes; leave it out, or write for which queue");
    }
    const Value::List& named = spec_["nodes"].items();
    if (named.size() > kNodesInReservationMax) {
      complain("spec.nodes", Value(static_cast<std::int64_t>(named.size())),
               "are more than 5,000 nodes; write several Reservations");
    }
    std::vector<std::string>& nodes = made_.spec.nodes;
    for (std::size_t i = 0; i < std::min(named.size(), kNodesInReservationMax); ++i) {
      const std::string place = "spec.nodes[" + std::to_string(i) + "]";
      if (named[i].is_empty()) {
        complain(place, named[i], "is no name of a node; write it as `kubectl get nodes` shows it");
      } else {
        nodes.emplace_back(named[i].text());
      }
    }
    std::ranges::sort(nodes);
    if (const auto twice = std::ranges::adjacent_find(nodes); twice != nodes.end())
      complain("spec.nodes", Value(*twice), "stands here twice; write it once");
    nodes.erase(std::ranges::unique(nodes).begin(), nodes.end());
  }

  void read_times() {
    const auto from = parse_timestamp(spec_["from"].text());
    if (!from || *from < Time{0} || *from > kTimeMax) {
      complain("spec.from", spec_["from"], "is no moment; write when it begins, such as 2026-12-01T09:00:00Z");
    } else {
      made_.spec.from = *from;
    }
    made_.spec.daily = spec_["daily"].truth();
    const Value& length = spec_["for"];
    const Parsed<std::int64_t> ms = parse_duration_ms(length.text());
    if (!ms || *ms <= 0) {
      complain("spec.for", length, length.is_empty() || ms ? "lasts no time; write how long, such as 4h" : ms.error());
    } else if (made_.spec.daily && *ms > kReservationDay.ms) {
      complain("spec.for", length,
               "what comes every day lasts at most 24 hours; write at most 24h, or leave daily out");
    } else if (*ms > kReservationLastsMax.ms) {
      complain("spec.for", length, "is longer than 366 days; write less");
    } else {
      made_.spec.lasts = Duration{*ms};
    }
    read_days();
  }

  // Days, or the zone in which it comes every day. Each is looked at by itself, that all is told at once.
  void read_days() {
    const Value& days = spec_["days"];
    const Value& zone = spec_["zone"];
    const bool daily = made_.spec.daily;
    if (days.is_empty() && zone.is_empty()) return;
    if (!days.is_empty() && days.text() != "weekly") {
      if (const auto known = WindowTimes::read(days.text(), kWholeDay, WindowTimes::kUtc); !known)
        complain("spec.days", days, known.error());
    }
    if (daily && !days.is_empty()) complain("spec.days", days, "is more than daily says; leave one of them out");
    if (!zone.is_empty()) {
      if (const auto known = WindowTimes::read("daily", kWholeDay, zone.text()); !known)
        complain("spec.zone", zone, known.error());
    }
    if (!daily && days.is_empty())
      return complain("spec.zone", zone,
                      "is of what comes again; write days beside it, as in mon-fri, or leave it out");
    read_minutes();
    if (!made_.mistakes.empty()) return;
    const auto times = WindowTimes::coming_again(made_.spec.from, made_.spec.lasts, daily ? "daily" : days.text(),
                                                 zone.is_empty() ? WindowTimes::kUtc : zone.text(), Duration{0});
    if (!times) return complain("spec.days", days, times.error());
    made_.spec.daily = false;
    made_.spec.times = *times;
  }

  // Of a moment and a length that could be read: whether days of a calendar can have them.
  void read_minutes() {
    constexpr std::int64_t kMinuteMs = 60'000;
    const std::string_view whole_minutes =
        "what comes on days of a calendar begins and ends at a whole minute; write one";
    if (made_.spec.from.ms % kMinuteMs != 0) complain("spec.from", spec_["from"], std::string(whole_minutes));
    if (made_.spec.lasts.ms % kMinuteMs != 0) complain("spec.for", spec_["for"], std::string(whole_minutes));
    if (made_.spec.lasts > kReservationDay)
      complain("spec.for", spec_["for"],
               "what comes on days of a calendar lasts at most 24 hours on each; write at most 24h");
  }

  const Value& spec_;
  ReservationSpecReading made_;
};

}  // namespace

std::vector<Interval> ReservationSpec::times_from(Time now) const {
  if (times) return times->openings_since(from, now, Duration{0});
  if (!daily || from + lasts > now) return {{from, from + lasts}};
  const Time next = from + Duration{((now - (from + lasts)).ms / kReservationDay.ms + 1) * kReservationDay.ms};
  return {{next, next + lasts}};
}

std::string times_text(const Value& spec) {
  std::string text(spec["for"].text());
  if (spec["daily"].truth()) text += " daily";
  for (const char* const field : {"days", "zone"}) {
    if (!spec[field].is_empty()) text.append(" ").append(spec[field].text());
  }
  return text;
}

ReservationSpecReading read_reservation_spec(const Value& spec) { return ReservationReader(spec).read(); }

}  // namespace berth
