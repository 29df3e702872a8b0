#include "controllers/number_set.h"

#include <algorithm>
#include <charconv>
#include <iterator>
#include <optional>
#include <system_error>

namespace berth {
namespace {

std::optional<std::int64_t> number_in(std::string_view text) {
  std::int64_t number = -1;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  if (number < 0 || number > NumberSet::kMax) return std::nullopt;
  return number;
}

}  // namespace

NumberSet NumberSet::parse(std::string_view text) {
  NumberSet set;
  while (!text.empty()) {
    const std::string_view part = text.substr(0, text.find(','));
    text.remove_prefix(std::min(text.size(), part.size() + 1));
    const std::size_t dash = part.find('-');
    const auto first = number_in(part.substr(0, dash));
    const auto last = dash == std::string_view::npos ? first : number_in(part.substr(dash + 1));
    if (first && last && *first <= *last) set.insert_range(*first, *last);
  }
  return set;
}

std::string NumberSet::to_string() const {
  std::string text;
  for (const auto& [first, last] : ranges_) {
    if (!text.empty()) text += ',';
    text += std::to_string(first);
    // Two in a row are written as two, as Kubernetes does.
    if (last > first) text.append(last == first + 1 ? "," : "-").append(std::to_string(last));
  }
  return text;
}

void NumberSet::erase_from(std::int64_t first) {
  while (!ranges_.empty() && ranges_.rbegin()->second >= first) {
    const auto last = std::prev(ranges_.end());
    const std::int64_t kept_until = std::max(first, last->first);
    size_ -= last->second - kept_until + 1;
    if (last->first < first) {
      last->second = first - 1;
    } else {
      ranges_.erase(last);
    }
  }
}

bool NumberSet::contains(std::int64_t number) const {
  const auto after = ranges_.upper_bound(number);
  return after != ranges_.begin() && std::prev(after)->second >= number;
}

std::int64_t NumberSet::count_common(const NumberSet& other) const {
  std::int64_t common = 0;
  for (auto mine = ranges_.begin(), theirs = other.ranges_.begin();
       mine != ranges_.end() && theirs != other.ranges_.end();) {
    const std::int64_t first = std::max(mine->first, theirs->first);
    const std::int64_t last = std::min(mine->second, theirs->second);
    if (first <= last) common += last - first + 1;
    mine->second < theirs->second ? ++mine : ++theirs;
  }
  return common;
}

void NumberSet::insert_range(std::int64_t first, std::int64_t last) {
  auto at = ranges_.upper_bound(first);
  if (at != ranges_.begin() && std::prev(at)->second >= first - 1) --at;
  while (at != ranges_.end() && at->first <= last + 1) {
    first = std::min(first, at->first);
    last = std::max(last, at->second);
    size_ -= at->second - at->first + 1;
    at = ranges_.erase(at);
  }
  ranges_.emplace(first, last);
  size_ += last - first + 1;
}

}  // namespace berth
