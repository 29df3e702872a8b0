// Values that several statements have, read from one line. What is wrong is complained about and taken for not given.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/time.h"
#include "sim/scenario_line.h"
#include "sim/scenario_names.h"
#include "sim/scenario_parse.h"

namespace berth::scenario {

Duration take_duration(ScenarioLine& line, const std::string& key, Duration otherwise);
// Longer than nothing.
std::optional<Duration> take_length_of_run(ScenarioLine& line, const std::string& key);

// One of the names that the values of an Enum have, in their order.
template <class Enum, std::size_t size>
Enum take_named(ScenarioLine& line, const std::string& key, const std::string_view (&names)[size], Enum otherwise) {
  const ScenarioWord* const word = line.take(key);
  const auto found = word == nullptr ? std::nullopt : line.choice(*word, names, "is none of these");
  return found ? static_cast<Enum>(*found) : otherwise;
}

// A key that may have one value only.
bool takes_the_word(ScenarioLine& line, const std::string& key, std::string_view value);
// Whether the key says yes, and not no, or nothing.
bool takes_yes(ScenarioLine& line, const std::string& key);

// "n1/0"
std::optional<DeviceName> read_device(const ScenarioLine& line, const ScenarioWord& word, const ScenarioNames& names,
                                      const std::string& form);

bool names_none_of(const ScenarioLine& line, std::span<const std::string_view> keys);

}  // namespace berth::scenario
