#include "sim/scenario_line.h"

#include <algorithm>

#include "base/wording.h"

namespace berth {
namespace {

constexpr std::size_t kScenarioNameMax = 63;
constexpr std::size_t kPathMax = 253;
constexpr std::size_t kWordsPerLineMax = 64;
// Where there are more names than this, none is suggested: a hostile file would make us compare for ever.
constexpr std::size_t kSuggestedFromMax = 200;
constexpr std::size_t kListedMax = 20;

bool is_line_blank(char c) { return c == ' ' || c == '\t' || c == '\r'; }

std::string shown(const ScenarioWord& word) { return quote(word.is_pair() ? word.key + "=" : word.value); }

bool is_visible_utf8(std::string_view text) {
  while (!text.empty()) {
    const std::size_t size = utf8_character(text);
    if (size == 0 || static_cast<unsigned char>(text[0]) <= 0x20 || text[0] == 0x7f) return false;
    text.remove_prefix(size);
  }
  return true;
}

}  // namespace

std::string listed_words(std::span<const std::string_view> words) {
  std::string out;
  for (std::size_t i = 0; i < std::min(words.size(), kListedMax); ++i) {
    if (i > 0) out += ", ";
    out += words[i];
  }
  return words.size() > kListedMax ? out + ", ..." : out;
}

ScenarioLine::ScenarioLine(const std::string& file, std::int64_t number, std::string_view text, Complaints& complaints)
    : file_(file), number_(number), complaints_(complaints) {
  read_words(text);
}

void ScenarioLine::read_words(std::string_view text) {
  for (std::size_t at = 0; at < text.size();) {
    if (is_line_blank(text[at])) {
      ++at;
      continue;
    }
    if (text[at] == '#') return;
    ScenarioWord word{.key = {}, .value = {}, .column = static_cast<std::int64_t>(at) + 1};
    bool quoted = false;
    bool opened = false;
    for (; at < text.size() && (quoted || !is_line_blank(text[at])); ++at) {
      if (text[at] == '"') {
        quoted = !quoted;
        opened = true;
      } else if (text[at] == '=' && !word.is_pair() && !opened && !word.value.empty()) {
        word.key.swap(word.value);
      } else {
        word.value += text[at];
      }
    }
    words_.push_back(std::move(word));
    if (quoted) complain(words_.back(), "a quote is not closed; write has=\"some words\"");
    if (words_.size() > kWordsPerLineMax) {
      complain(words_.back(), "more than 64 words on one line; use several statements");
      words_.clear();
      return;
    }
  }
}

void ScenarioLine::complain(const ScenarioWord& word, std::string text) const {
  complaints_.add({file_, number_, word.column}, std::move(text));
}

ScenarioWord* ScenarioLine::find_untaken(bool pairs_too) {
  const auto word = std::find_if(words_.begin(), words_.end(), [&](const ScenarioWord& each) {
    return !each.taken && (pairs_too || !each.is_pair());
  });
  if (word == words_.end()) return nullptr;
  word->taken = true;
  return &*word;
}

const ScenarioWord* ScenarioLine::take_plain(std::string_view what) {
  const ScenarioWord* const word = find_untaken(false);
  if (word == nullptr && !what.empty()) complain("something is missing; write " + std::string(what));
  return word;
}

const ScenarioWord* ScenarioLine::take_any(std::string_view what) {
  const ScenarioWord* const word = find_untaken(true);
  if (word == nullptr) complain("something is missing; write " + std::string(what));
  return word;
}

const ScenarioWord* ScenarioLine::find(std::string_view key) const {
  const auto word = std::ranges::find(words_, key, &ScenarioWord::key);
  return word == words_.end() ? nullptr : &*word;
}

const ScenarioWord* ScenarioLine::take(std::string_view key) {
  const auto word = std::find_if(words_.begin(), words_.end(),
                                 [&](const ScenarioWord& each) { return !each.taken && each.key == key; });
  if (word == words_.end()) return nullptr;
  word->taken = true;
  if (word->value.empty()) {
    complain(*word, shown(*word) + " has no value; write " + std::string(key) + "=... without a blank");
    return nullptr;
  }
  return &*word;
}

// `queue = q`, `queue =q` and `queue= q` are several words each, none of which says anything; where such a pair ends, if one begins
// here. Of `queue=` itself has been said what is missing.
std::size_t ScenarioLine::end_of_torn_pair(std::size_t at) const {
  const auto is_left_over = [&](std::size_t place) {
    return place < words_.size() && !words_[place].taken && !words_[place].is_pair();
  };
  if (at > 0 && words_[at - 1].is_pair() && words_[at - 1].value.empty()) return is_left_over(at) ? at + 1 : at;
  if (!is_left_over(at) || !is_left_over(at + 1) || !words_[at + 1].value.starts_with('=')) return at;
  const bool alone = words_[at + 1].value == "=";
  const std::size_t value = alone ? at + 2 : at + 1;
  if (!is_left_over(value)) return at;
  complain(words_[at],
           "no blanks around '='; write " + words_[at].value + "=" + words_[value].value.substr(alone ? 0 : 1));
  return value + 1;
}

void ScenarioLine::finish(std::span<const std::string_view> known) {
  for (std::size_t at = 0; at < words_.size(); ++at) {
    const ScenarioWord& word = words_[at];
    if (word.taken) continue;
    if (const std::size_t end = end_of_torn_pair(at); end > at) {
      at = end - 1;
      continue;
    }
    if (!word.is_pair()) {
      complain(word, shown(word) + " is one word too many; end the line before it");
    } else if (std::find(known.begin(), known.end(), word.key) != known.end()) {
      complain(word, shown(word) + " stands here twice; write it once");
    } else {
      complain(word,
               shown(word) + " is not known here" + (known.empty() ? "; leave it out" : instead(word.key, known)));
    }
  }
}

void ScenarioLine::complain_unknown(const ScenarioWord& word, std::string_view name,
                                    std::span<const std::string_view> known, const std::string& verdict) const {
  complain(word, quote(name) + " " + verdict + instead(name, known));
}

std::optional<std::size_t> ScenarioLine::choice(const ScenarioWord& word, std::span<const std::string_view> known,
                                                const std::string& verdict) const {
  const auto place = std::ranges::find(known, word.value);
  if (place != known.end()) return static_cast<std::size_t>(place - known.begin());
  complain(word, word.key + ": " + quote(word.value) + " " + verdict + instead(word.value, known));
  return std::nullopt;
}

std::int64_t ScenarioLine::integer(const ScenarioWord* word, std::int64_t low, std::int64_t high,
                                   std::int64_t otherwise) const {
  if (word == nullptr) return otherwise;
  const Parsed<std::int64_t> amount = parse_integer(word->value, low, high);
  if (amount) return *amount;
  complain(*word, (word->is_pair() ? word->key + ": " : "") + amount.error());
  return otherwise;
}

std::int64_t ScenarioLine::milli(const ScenarioWord* word, std::int64_t high, std::int64_t otherwise) const {
  if (word == nullptr) return otherwise;
  const Parsed<std::int64_t> amount = parse_milli(word->value);
  if (amount && *amount <= high) return *amount;
  complain(*word,
           word->key + ": " +
               (amount ? quote(word->value) + " is too much; write at most " + format_milli(high) : amount.error()));
  return otherwise;
}

std::int64_t ScenarioLine::bytes(const ScenarioWord* word, std::int64_t high, std::int64_t otherwise) const {
  if (word == nullptr) return otherwise;
  const Parsed<std::int64_t> amount = parse_bytes(word->value);
  if (amount && *amount <= high) return *amount;
  complain(*word,
           word->key + ": " +
               (amount ? quote(word->value) + " is too much; write at most " + format_bytes(high) : amount.error()));
  return otherwise;
}

std::vector<std::string> ScenarioLine::list(const ScenarioWord& word) const {
  std::vector<std::string> parts;
  std::string_view rest = word.value;
  for (bool more = true; more;) {
    const std::size_t comma = rest.find(',');
    more = comma != std::string_view::npos;
    parts.emplace_back(rest.substr(0, comma));
    if (more) rest.remove_prefix(comma + 1);
  }
  if (std::erase(parts, "") > 0)
    complain(word, shown(word) + " has an empty part; write names with commas and no blanks");
  return parts;
}

bool ScenarioLine::is_name(const ScenarioWord& word, bool is_path) const {
  const std::string_view name = word.value;
  if (word.is_pair() || name.empty() || !is_visible_utf8(name) ||
      name.find_first_of(":=,\"") != std::string_view::npos) {
    complain(word, shown(word) + " is no name; names have no ':', '=', ',' and no blanks");
    return false;
  }
  if (name.size() > (is_path ? kPathMax : kScenarioNameMax)) {
    complain(word, shown(word) + " is too long for a name; write at most " +
                       std::to_string(is_path ? kPathMax : kScenarioNameMax) + " bytes");
    return false;
  }
  const bool empty_part = name.starts_with('/') || name.ends_with('/') || name.find("//") != std::string_view::npos;
  if (is_path ? empty_part : name.find('/') != std::string_view::npos) {
    complain(word, shown(word) + (is_path ? " is no path; write research/nlp" : " is no name; only queues have a '/'"));
    return false;
  }
  return true;
}

std::string ScenarioLine::instead(std::string_view word, std::span<const std::string_view> known) const {
  if (known.empty() || complaints_.count() >= Complaints::kKeptMax) return "";
  const std::string_view nearest = known.size() <= kSuggestedFromMax ? nearest_word(word, known) : std::string_view();
  if (!nearest.empty()) return "; did you mean " + quote(nearest) + "?";
  return "; known: " + listed_words(known);
}

}  // namespace berth
