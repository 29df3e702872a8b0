#include "sim/scenario_values.h"

#include <algorithm>

#include "base/wording.h"
#include "model/quantity.h"

namespace berth::scenario {
namespace {

std::optional<Duration> read_duration(const ScenarioLine& line, const ScenarioWord& word, Duration least,
                                      const std::string& range) {
  const Parsed<std::int64_t> ms = parse_duration_ms(word.value);
  if (ms && *ms >= least.ms && *ms <= kTimeMax.ms) return Duration{*ms};
  line.complain(word, word.key + ": " + (ms ? quote(word.value) + " is out of range; write " + range : ms.error()));
  return std::nullopt;
}

}  // namespace

Duration take_duration(ScenarioLine& line, const std::string& key, Duration otherwise) {
  const ScenarioWord* const word = line.take(key);
  if (word == nullptr) return otherwise;
  return read_duration(line, *word, Duration{0}, "up to 10,000 years").value_or(otherwise);
}

std::optional<Duration> take_length_of_run(ScenarioLine& line, const std::string& key) {
  const ScenarioWord* const word = line.take(key);
  if (word == nullptr) return std::nullopt;
  return read_duration(line, *word, Duration{1}, "1ms to 10,000 years");
}

bool takes_the_word(ScenarioLine& line, const std::string& key, std::string_view value) {
  const ScenarioWord* const word = line.take(key);
  if (word == nullptr) return false;
  if (word->value == value) return true;
  line.complain(*word, key + ": " + quote(word->value) + " is not known; write " + key + "=" + std::string(value) +
                           ", or leave it out");
  return false;
}

std::optional<DeviceName> read_device(const ScenarioLine& line, const ScenarioWord& word, const ScenarioNames& names,
                                      const std::string& form) {
  const std::size_t slash = word.value.find('/');
  const auto gpu = slash == std::string::npos
                       ? std::nullopt
                       : std::optional(parse_integer(word.value.substr(slash + 1), 0, kGpusPerNodeMax - 1));
  if (!gpu || !*gpu) {
    line.complain(word, "a GPU is a node and a number from 0; write " + form);
    return std::nullopt;
  }
  const std::string node = word.value.substr(0, slash);
  if (!names.is_node(line, word, node)) return std::nullopt;
  return DeviceName{node, **gpu};
}

bool takes_yes(ScenarioLine& line, const std::string& key) {
  const ScenarioWord* const word = line.take(key);
  if (word == nullptr) return false;
  if (word->value != "yes" && word->value != "no") {
    line.complain(*word, key + ": " + quote(word->value) + " is neither yes nor no");
  }
  return word->value == "yes";
}

bool names_none_of(const ScenarioLine& line, std::span<const std::string_view> keys) {
  return std::ranges::none_of(keys, [&](std::string_view key) { return line.find(key) != nullptr; });
}

}  // namespace berth::scenario
