// Whole numbers from 0 on, kept as ranges: "all from 0 to 99,999" costs as much as one number. Its text is that of
// completedIndexes in a Job's status: "0-2,5".
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

namespace berth {

class NumberSet {
 public:
  static constexpr std::int64_t kMax = 2'147'483'646;

  // Whoever may write a status may write anything there: what cannot be read is left out.
  static NumberSet parse(std::string_view text);
  std::string to_string() const;

  void insert(std::int64_t number) { insert_range(number, number); }
  void erase_from(std::int64_t first);  // that one and all above
  bool contains(std::int64_t number) const;
  std::int64_t count_common(const NumberSet& other) const;  // how many are in both
  bool empty() const { return ranges_.empty(); }
  std::int64_t size() const { return size_; }

  friend bool operator==(const NumberSet&, const NumberSet&) = default;

 private:
  void insert_range(std::int64_t first, std::int64_t last);

  std::map<std::int64_t, std::int64_t> ranges_;  // first to last; INVARIANT: they neither overlap nor touch
  std::int64_t size_ = 0;
};

}  // namespace berth
