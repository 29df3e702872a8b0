#include "state/spread.h"

#include <algorithm>
#include <cstddef>
#include <functional>

namespace berth {
namespace {

using Pods = std::vector<std::int64_t>;

// One more to the first that have room for it, until none is left; whether that is so.
bool give_one_each(std::span<const std::int64_t> rooms, std::int64_t& left, Pods& given) {
  for (std::size_t i = 0; i < rooms.size() && left > 0; ++i) {
    if (given[i] == rooms[i]) continue;
    ++given[i];
    --left;
  }
  return left == 0;
}

std::optional<Pods> spread_evenly(std::span<const std::int64_t> rooms, std::int64_t pods) {
  if (rooms.empty()) return std::nullopt;
  const std::int64_t each = pods / std::ssize(rooms);
  if (std::ranges::any_of(rooms, [&](std::int64_t room) { return room < each; })) return std::nullopt;
  Pods given(rooms.size(), each);
  std::int64_t left = pods % std::ssize(rooms);
  return give_one_each(rooms, left, given) ? std::optional(std::move(given)) : std::nullopt;
}

// As water finds its level: what is full takes no more, and all others as many as each other, but for one.
std::optional<Pods> spread_as_evenly_as_can_be(std::span<const std::int64_t> rooms, std::int64_t pods) {
  Pods given(rooms.size(), 0);
  std::int64_t left = pods;
  while (left > 0) {
    std::int64_t open = 0;
    for (std::size_t i = 0; i < rooms.size(); ++i) open += given[i] < rooms[i] ? 1 : 0;
    if (open == 0) return std::nullopt;
    const std::int64_t more = left / open;
    if (more == 0) {
      give_one_each(rooms, left, given);
      break;
    }
    for (std::size_t i = 0; i < rooms.size(); ++i) {
      const std::int64_t here = std::min(more, rooms[i] - given[i]);
      given[i] += here;
      left -= here;
    }
  }
  return given;
}

}  // namespace

std::optional<Pods> spread_over(Spreading spread, std::span<const std::int64_t> rooms, std::int64_t pods) {
  if (spread == Spreading::kEven) return spread_evenly(rooms, pods);
  if (spread == Spreading::kPreferred) return spread_as_evenly_as_can_be(rooms, pods);
  Pods given(rooms.size(), 0);
  return give_one_each(rooms, pods, given) ? std::optional(std::move(given)) : std::nullopt;
}

std::int64_t most_to_spread(Spreading spread, std::span<const std::int64_t> rooms, std::int64_t pods) {
  std::int64_t most = 0;
  if (spread == Spreading::kEven) {
    const std::int64_t least = rooms.empty() ? 0 : *std::ranges::min_element(rooms);
    for (const std::int64_t room : rooms) most += std::min(room, least + 1);
  } else {
    for (const std::int64_t room : rooms) most += spread == Spreading::kApart ? std::min<std::int64_t>(room, 1) : room;
  }
  return std::min(most, pods);
}

bool may_spread_over_some(Spreading spread, std::vector<std::int64_t> rooms, std::vector<std::int64_t> others,
                          std::int64_t pods) {
  std::ranges::sort(others);
  // Of those that need not count the roomiest help most.
  while (true) {
    const bool all = spread != Spreading::kEven && !others.empty();
    if (!all && spread_over(spread, rooms, pods)) return true;
    if (others.empty()) return false;
    rooms.push_back(others.back());
    others.pop_back();
  }
}

}  // namespace berth
