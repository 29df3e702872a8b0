// How the world's failures travel: a value, or every complaint about one input at once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <expected>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace berth {

// Where in an input something is wrong. Lines and columns count from 1, columns in bytes; 0 = the place has none.
struct Place {
  std::string file;
  std::int64_t line = 0;
  std::int64_t column = 0;

  friend bool operator==(const Place&, const Place&) = default;
};

// One thing that is wrong: where, what, and what to write instead (all in `text`).
struct Complaint {
  Place place;
  std::string text;

  // "jobs.csv:3:17: gpus: '1.5' is neither a count (2) nor thousandths (500m)"
  std::string to_string() const;
};

// All that is wrong with one input: the first hundred in the order found, and the count of all.
class Complaints {
 public:
  static constexpr std::size_t kKeptMax = 100;

  Complaints() = default;
  explicit Complaints(std::string text) { add({}, std::move(text)); }
  Complaints(Place place, std::string text) { add(std::move(place), std::move(text)); }

  void add(Place place, std::string text);
  void add_all(const Complaints& others);

  bool empty() const { return count_ == 0; }
  std::size_t count() const { return count_; }
  const std::vector<Complaint>& kept() const { return kept_; }

  // One line each, and "... and 17 more" where there are more than were kept.
  std::string to_string() const;

 private:
  std::vector<Complaint> kept_;
  std::size_t count_ = 0;
};

// A value, or all complaints about the input it was to be made from.
template <class T>
class [[nodiscard]] Result : public std::expected<T, Complaints> {
 public:
  using std::expected<T, Complaints>::expected;
  Result(Complaints complaints) : std::expected<T, Complaints>(std::unexpect, std::move(complaints)) {}
};

}  // namespace berth
