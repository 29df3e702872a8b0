#include "service/reservation_facts.h"

#include <utility>

#include "manifest/given_gpus.h"
#include "manifest/timestamp.h"

namespace berth {

// What of its status cannot be read was not written by a scheduler: it counts as nothing.
ReservationFacts read_reservation(const Value& reservation) {
  const Value& metadata = reservation["metadata"];
  const Value& status = reservation["status"];
  ReservationSpecReading reading = read_reservation_spec(reservation["spec"]);
  ReservationFacts facts{.name = std::string(metadata["name"].text()),
                         .uid = std::string(metadata["uid"].text()),
                         .created = parse_timestamp(metadata["creationTimestamp"].text()).value_or(Time{}),
                         .spec = std::move(reading.spec),
                         .leaving = !metadata["deletionTimestamp"].is_null(),
                         .held_from = parse_timestamp(status["from"].text()),
                         .conditions = read_conditions(status),
                         .status = status};
  for (const SpecMistake& mistake : reading.mistakes) {
    facts.problem += (facts.problem.empty() ? "" : "; ") + mistake.field + ": " + mistake.text;
  }
  for (const Value& each : status["nodes"].items()) {
    const auto given = parse_given_gpus(each["gpus"].text());
    if (given && !given->gpus.empty() && given->profile.empty() && given->milli == 0)
      facts.held.push_back({std::string(each["name"].text()), given->gpus});
  }
  return facts;
}

}  // namespace berth
