// Ids that cannot be mixed up: a NodeId is not a QueueId, and neither is a count.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <limits>

namespace berth {

// An index into the table of one kind of thing. INVARIANT: kNone or below the size of that table.
template <class Tag>
class Id {
 public:
  static constexpr std::uint32_t kNoneValue = std::numeric_limits<std::uint32_t>::max();

  constexpr Id() = default;
  explicit constexpr Id(std::size_t value) : value_(static_cast<std::uint32_t>(value)) {}

  constexpr std::uint32_t value() const { return value_; }
  constexpr std::size_t index() const { return value_; }
  constexpr bool is_none() const { return value_ == kNoneValue; }

  friend constexpr auto operator<=>(Id, Id) = default;

 private:
  std::uint32_t value_ = kNoneValue;
};

}  // namespace berth
