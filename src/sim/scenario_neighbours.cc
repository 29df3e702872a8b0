#include "sim/scenario_neighbours.h"

#include <algorithm>
#include <optional>
#include <string_view>
#include <utility>

#include "base/wording.h"
#include "model/quantity.h"
#include "sim/scenario_labels.h"

namespace berth::scenario {
namespace {

// What stands between the marks; the empty text is one part.
std::vector<std::string> parts_of(const std::string& text, char mark) {
  std::vector<std::string> parts;
  for (std::size_t from = 0; from <= text.size();) {
    const std::size_t to = std::min(text.find(mark, from), text.size());
    parts.push_back(text.substr(from, to - from));
    from = to + 1;
  }
  return parts;
}

// "app:web+tier:db@rack:50": the term, and the numbers behind it.
struct ReadTerm {
  PodTerm term;
  std::vector<std::string> numbers;
};

std::optional<ReadTerm> term_in(ScenarioLine& line, const ScenarioWord& word, const std::string& text,
                                std::size_t numbers_max) {
  const std::size_t at = text.find('@');
  std::vector<std::string> behind =
      at == std::string::npos ? std::vector<std::string>() : parts_of(text.substr(at + 1), ':');
  if (behind.empty() || behind.front().empty() || behind.size() > 1 + numbers_max) {
    line.complain(word,
                  word.key + ": " + quote(text) +
                      " says nothing of pods and a level; write a label of pods, '@', and a label of nodes or node, "
                      "such as app:web@rack");
    return std::nullopt;
  }
  ReadTerm read{.term = {.pods = {}, .level = behind.front()}, .numbers = {behind.begin() + 1, behind.end()}};
  for (const std::string& each : parts_of(text.substr(0, at), '+')) {
    const auto label = label_in(line, word, each);
    if (!label) return std::nullopt;
    read.term.pods.labels.push_back({label->key, LabelOperator::kIn, {label->value}});
  }
  return read;
}

// Calls use(term, numbers) for each term of the word.
template <class Use>
void for_each_term(ScenarioLine& line, const char* key, std::size_t numbers_max, Use use) {
  const ScenarioWord* const word = line.take(key);
  if (word == nullptr) return;
  for (const std::string& text : line.list(*word)) {
    if (auto read = term_in(line, *word, text, numbers_max)) use(*word, std::move(read->term), read->numbers);
  }
}

// The number at this place, `otherwise` if there is none.
std::int32_t number_at(ScenarioLine& line, const ScenarioWord& word, const std::vector<std::string>& numbers,
                       std::size_t at, std::int32_t most, std::int32_t otherwise) {
  if (at >= numbers.size()) return otherwise;
  const auto value = parse_integer(numbers[at], 1, most);
  if (value) return static_cast<std::int32_t>(*value);
  line.complain(word, word.key + ": " + quote(numbers[at]) + " is no number from 1 to " + std::to_string(most));
  return otherwise;
}

void take_preferred(ScenarioLine& line, const char* key, std::int32_t sign, Neighbours& neighbours) {
  for_each_term(line, key, 1, [&](const ScenarioWord& word, PodTerm term, const std::vector<std::string>& numbers) {
    const std::int32_t weight = number_at(line, word, numbers, 0, kPreferenceWeightMax, 1);
    neighbours.preferred.push_back({std::move(term), sign * weight});
  });
}

void take_spread(ScenarioLine& line, const char* key, bool required, Neighbours& neighbours) {
  for_each_term(line, key, required ? 2 : 0,
                [&](const ScenarioWord& word, PodTerm term, const std::vector<std::string>& numbers) {
                  neighbours.spreads.push_back({.term = std::move(term),
                                                .skew_max = number_at(line, word, numbers, 0, kSkewMax, 1),
                                                .domains_min = number_at(line, word, numbers, 1, kSkewMax, 1),
                                                .required = required});
                });
}

// "8080", "53:UDP", "8080:TCP:10.0.0.1".
// Four numbers up to 255.
bool is_address(std::string_view text) {
  const std::vector<std::string> numbers = parts_of(std::string(text), '.');
  return numbers.size() == 4 &&
         std::ranges::all_of(numbers, [](const std::string& each) { return parse_integer(each, 0, 255).has_value(); });
}

void take_ports(ScenarioLine& line, Neighbours& neighbours) {
  const ScenarioWord* const word = line.take("ports");
  if (word == nullptr) return;
  for (const std::string& text : line.list(*word)) {
    const std::vector<std::string> parts = parts_of(text, ':');
    const auto port = parse_integer(parts[0], 1, kPortMax);
    const auto* const protocol =
        std::ranges::find(kProtocolNames, std::string_view(parts.size() > 1 ? parts[1] : "TCP"));
    if (!port || protocol == std::end(kProtocolNames) || parts.size() > 3 || parts.back().empty() ||
        (parts.size() > 2 && !is_address(parts[2]))) {
      line.complain(*word, "ports: " + quote(text) +
                               " is no port of a node; write one such as 8080, 53:UDP or 8080:TCP:10.0.0.1");
      continue;
    }
    const HostPort asked{.port = static_cast<std::int32_t>(*port),
                         .protocol = static_cast<Protocol>(protocol - std::begin(kProtocolNames)),
                         .address = parts.size() > 2 ? parts[2] : ""};
    if (std::ranges::find(neighbours.ports, asked) != neighbours.ports.end()) {
      line.complain(*word, "ports: " + quote(text) + " is given twice; write it once");
    } else {
      neighbours.ports.push_back(asked);
    }
  }
}

}  // namespace

Neighbours take_neighbours(ScenarioLine& line) {
  Neighbours neighbours;
  neighbours.labels = take_label_list(line);
  const auto into = [](std::vector<PodTerm>& terms) {
    return [&terms](const ScenarioWord&, PodTerm term, const std::vector<std::string>&) {
      terms.push_back(std::move(term));
    };
  };
  for_each_term(line, "near", 0, into(neighbours.near));
  for_each_term(line, "apart", 0, into(neighbours.apart));
  take_preferred(line, "rather_near", 1, neighbours);
  take_preferred(line, "rather_apart", -1, neighbours);
  take_spread(line, "even", true, neighbours);
  take_spread(line, "rather_even", false, neighbours);
  take_ports(line, neighbours);
  return neighbours;
}

Neighbours in_namespace(Neighbours neighbours, const std::string& name_space) {
  if (neighbours == Neighbours()) return neighbours;
  neighbours.name_space = name_space;
  const auto put = [&](PodTerm& term) { term.pods.namespaces = {name_space}; };
  std::ranges::for_each(neighbours.near, put);
  std::ranges::for_each(neighbours.apart, put);
  std::ranges::for_each(neighbours.preferred, put, &PreferredPodTerm::term);
  std::ranges::for_each(neighbours.spreads, put, &PodSpread::term);
  return neighbours;
}

}  // namespace berth::scenario
