// One line of a scenario as words with columns, and the complaints about them. Who reads a line takes the words it
// knows; whatever is left in the end is a complaint, so nothing that was written is ever ignored.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "model/quantity.h"

namespace berth {

// "w", "gpus=8" or has="two words". INVARIANT: `key` is empty when it is no pair.
struct ScenarioWord {
  std::string key;
  std::string value;
  std::int64_t column = 0;
  bool taken = false;

  bool is_pair() const { return !key.empty(); }
};

class ScenarioLine {
 public:
  // `file` and `complaints` must outlive the line. What cannot be split into words is complained about here.
  ScenarioLine(const std::string& file, std::int64_t number, std::string_view text, Complaints& complaints);

  std::int64_t number() const { return number_; }
  // A comment, or nothing at all.
  bool empty() const { return words_.empty(); }
  // What kind of statement it is. PRE: not empty.
  const std::string& keyword() const { return words_.front().value; }

  void complain(const ScenarioWord& word, std::string text) const;
  // About the line as a whole.
  void complain(std::string text) const { complain(words_.front(), std::move(text)); }

  // The next word that is no pair; nullptr if there is none, which is a complaint asking for `what` if that is given.
  const ScenarioWord* take_plain(std::string_view what = {});
  // The next word of any kind; nullptr and a complaint if there is none.
  const ScenarioWord* take_any(std::string_view what);
  // The pair with this key, taken or not; nullptr if there is none.
  const ScenarioWord* find(std::string_view key) const;
  // The pair with this key that is not taken yet; nullptr if there is none.
  const ScenarioWord* take(std::string_view key);

  // Complains about every word that nobody took: one that is there twice, one that nobody knows. `known` are the keys that there are.
  void finish(std::span<const std::string_view> known);

  // About a name that is none of the `known`, of which the `verdict` holds, such as "is no statement".
  void complain_unknown(const ScenarioWord& word, std::string_view name, std::span<const std::string_view> known,
                        const std::string& verdict) const;
  // Which of the `known` the value is; nothing, and a complaint with the `verdict`, if it is none.
  std::optional<std::size_t> choice(const ScenarioWord& word, std::span<const std::string_view> known,
                                    const std::string& verdict) const;

  // Amounts. `otherwise` where there is no word, and after a complaint.
  std::int64_t integer(const ScenarioWord* word, std::int64_t low, std::int64_t high, std::int64_t otherwise) const;
  std::int64_t milli(const ScenarioWord* word, std::int64_t high, std::int64_t otherwise) const;
  std::int64_t bytes(const ScenarioWord* word, std::int64_t high, std::int64_t otherwise) const;
  // What stands between the commas; an empty part is a complaint.
  std::vector<std::string> list(const ScenarioWord& word) const;
  // Whether it may name a thing; a complaint if not. The parts of a path are separated by '/'.
  bool is_name(const ScenarioWord& word, bool is_path = false) const;

  // "; did you mean 'h100'?", or what is known if nothing is near.
  std::string instead(std::string_view word, std::span<const std::string_view> known) const;

 private:
  void read_words(std::string_view text);
  std::size_t end_of_torn_pair(std::size_t at) const;
  ScenarioWord* find_untaken(bool pairs_too);

  const std::string& file_;
  std::int64_t number_;
  Complaints& complaints_;
  std::vector<ScenarioWord> words_;
};

// "a, b, c"
std::string listed_words(std::span<const std::string_view> words);

}  // namespace berth
