// Why a reservation makes no sense.
#pragma once

#include <optional>
#include <string>

#include "model/event.h"
#include "state/state.h"

namespace berth {

// In words of the state alone; none if it does.
std::optional<std::string> refusal_of_reservation(const State& state, const ReservationAdded& event);
std::optional<std::string> refusal_of_times_told(const State& state, const ReservationTimesTold& event);

}  // namespace berth
