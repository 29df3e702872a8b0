// What is promised for a time: reservations, and maintenance of nodes.
#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "base/wording.h"
#include "manifest/window_times.h"
#include "model/quota.h"
#include "sim/scenario_amount.h"
#include "sim/scenario_statements.h"
#include "sim/scenario_values.h"

namespace berth::scenario {
namespace {

constexpr std::string_view kReserveForm = "reserve r queue=research gpus=h100:16 from=09:00 for=4h";
constexpr std::string_view kMaintainForm = "maintain n1,n2 from=22:00 for=2h";
constexpr std::string_view kReserveKeys[] = {"queue", "gpus", "from", "for", "days", "zone"};
constexpr std::string_view kMaintainKeys[] = {"from", "for", "days", "zone", "name"};

// daily or weekly, days= and zone=.
void take_days(ScenarioLine& line, DeclareReservation& declared, const ScenarioWord* from, const ScenarioWord* lasts) {
  const ScenarioWord* const word = line.take_plain();
  const ScenarioWord* const days = line.take("days");
  const ScenarioWord* const zone = line.take("zone");
  if (word != nullptr && word->value != "daily" && word->value != "weekly") {
    return line.complain(*word, quote(word->value) + " is not known here; write daily, weekly, or nothing for once");
  }
  if (word != nullptr && days != nullptr)
    return line.complain(*days, "days: " + word->value + " says on which; leave one of them out");
  if (word == nullptr && days == nullptr) {
    if (zone != nullptr) line.complain(*zone, "zone: it is of what comes again; write days=mon-fri beside it");
    return;
  }
  const bool is_daily = word != nullptr && word->value == "daily";
  Reservation& reservation = declared.reservation;
  if (is_daily && zone == nullptr) {
    reservation.every = kReservationDay;
    if (reservation.lasts > kReservationDay)
      line.complain(*lasts,
                    "for: what comes every day lasts at most 24 hours; write at most for=24h, or leave daily out");
    return;
  }
  DeclareReservation::OnDays on_days{.days = word != nullptr ? word->value : days->value,
                                     .zone = zone != nullptr ? zone->value : std::string(WindowTimes::kUtc)};
  if (from != nullptr && from->value.starts_with('+'))
    return line.complain(*from, "from: on days it is a time of the clock, or a moment with its date; write from=09:00");
  on_days.begins_by_its_clock = from != nullptr && !from->value.contains('T');
  const auto times =
      WindowTimes::coming_again(reservation.from, reservation.lasts, on_days.days, on_days.zone, Duration{0});
  if (times) {
    declared.on_days = std::move(on_days);
    return;
  }
  const bool is_zone = zone != nullptr && times.error().starts_with("zone");
  line.complain(is_zone ? *zone : word != nullptr ? *word : *days, times.error());
}

// from=, for=, and when it comes again.
std::optional<Duration> take_times(ScenarioReading& reading, ScenarioLine& line, std::string_view form,
                                   DeclareReservation& declared) {
  Reservation& reservation = declared.reservation;
  std::optional<Duration> from_now;
  const ScenarioWord* const from = line.take("from");
  if (from != nullptr) {
    reservation.from = reading.moment_of(line, *from, from_now);
  } else {
    line.complain("nobody says when it begins; write from=, as in " + std::string(form));
  }
  const ScenarioWord* const lasts = line.find("for");
  if (lasts == nullptr) line.complain("nobody says how long it lasts; write for=, as in " + std::string(form));
  reservation.lasts = take_length_of_run(line, "for").value_or(Duration{60'000});
  take_days(line, declared, from, lasts);
  if (reservation.lasts > kReservationLastsMax) line.complain(*lasts, "for: it lasts at most 366 days; write less");
  return from_now;
}

void take_gpus(ScenarioReading& reading, ScenarioLine& line, Reservation& reservation) {
  const ScenarioWord* const word = line.take("gpus");
  if (word == nullptr) return line.complain("nothing is reserved; write gpus=, as in " + std::string(kReserveForm));
  const auto amount = read_scenario_amount(line, *word, reading.names, word->value);
  if (!amount) return;
  if (amount->resource != Resource::kGpu)
    return line.complain(*word, "gpus: only GPUs are reserved; write gpus=h100:16");
  if (amount->amount == 0 || amount->amount % kMilliPerGpu != 0)
    return line.complain(*word, "gpus: " + quote(word->value) + " is no number of whole GPUs; write at least 1");
  if (!amount->flavor && reading.names.flavors.size() != 1) {
    return line.complain(
        *word, reading.names.flavors.size() == 0
                   ? "no flavor is declared yet; write flavor lines above"
                   : "gpus: there are several flavors; write gpus=" + reading.names.flavors[0] + ":" + word->value);
  }
  reservation.flavor = amount->flavor.value_or(FlavorId(0));
  reservation.gpus = amount->amount / kMilliPerGpu;
  const std::int64_t there = reading.whole_gpus[reservation.flavor];
  if (reservation.gpus <= there || reading.names.nodes.size() == 0) return;
  line.complain(*word, "gpus: there are " + std::to_string(there) + " GPUs of " +
                           reading.names.flavors[reservation.flavor.index()] +
                           " that are not shared; reserve no more, or write all nodes lines above");
}

// It stands where workloads' names may: in cancel, and in for=.
bool take_name(ScenarioReading& reading, ScenarioLine& line, const ScenarioWord& word, Reservation& reservation) {
  if (!line.is_name(word) || !reading.names.reservations.is_new(line, word, word.value) ||
      !reading.names.workloads.is_new(line, word, word.value))
    return false;
  reservation.name = word.value;
  return true;
}

}  // namespace

void read_reserve(ScenarioReading& reading, ScenarioLine& line) {
  reading.close_drafts();
  const ScenarioWord* const name = line.take_plain(kReserveForm);
  DeclareReservation declared;
  Reservation& reservation = declared.reservation;
  if (const ScenarioWord* const queue = line.take("queue")) {
    reservation.queue = reading.names.queue(line, *queue).value_or(QueueId());
  } else if (reading.names.queues.size() == 1) {
    reservation.queue = QueueId(0);
  } else {
    line.complain("nobody says for whom; write queue=, as in " + std::string(kReserveForm));
  }
  take_gpus(reading, line, reservation);
  const auto from_now = take_times(reading, line, kReserveForm, declared);
  line.finish(kReserveKeys);
  if (name == nullptr || !take_name(reading, line, *name, reservation)) return;
  reading.names.reservations.add(reservation.name);
  reading.add(line, std::move(declared), from_now);
}

void read_maintain(ScenarioReading& reading, ScenarioLine& line) {
  reading.close_drafts();
  const ScenarioWord* const nodes = line.take_plain(kMaintainForm);
  DeclareReservation declared;
  if (nodes != nullptr) {
    for (const std::string& node : line.list(*nodes)) {
      if (!reading.names.is_node(line, *nodes, node)) continue;
      if (std::ranges::find(declared.nodes, node) != declared.nodes.end())
        line.complain(*nodes, quote(node) + " stands there twice");
      declared.nodes.push_back(node);
    }
  }
  const auto from_now = take_times(reading, line, kMaintainForm, declared);
  const ScenarioWord* const name = line.take("name");
  line.finish(kMaintainKeys);
  if (nodes == nullptr) return;
  if (name != nullptr) {
    ScenarioWord plain = *name;
    plain.key.clear();
    if (!take_name(reading, line, plain, declared.reservation)) return;
  } else {
    declared.reservation.name = "maintenance-" + std::to_string(line.number());
  }
  reading.names.reservations.add(declared.reservation.name);
  reading.add(line, std::move(declared), from_now);
}

}  // namespace berth::scenario
