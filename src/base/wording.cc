#include "base/wording.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>

namespace berth {

namespace {

// Enough to recognise the text, short enough for one line of a terminal.
constexpr std::size_t kQuotedMax = 48;
constexpr std::size_t kWordMax = 64;

char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

bool is_control(std::string_view character) {
  const auto first = static_cast<unsigned char>(character[0]);
  if (first < 0x20 || first == 0x7f) return true;
  // U+0080 to U+009F: terminals may obey them.
  return first == 0xc2 && static_cast<unsigned char>(character[1]) < 0xa0;
}

bool starts_with(std::string_view text, std::string_view start) {
  return text.size() >= start.size() && std::ranges::equal(start, text.substr(0, start.size()), {}, lower, lower);
}

// How many letters are wrong, missing, too many, or have changed places with the next. PRE: both at most kWordMax long.
std::size_t edits(std::string_view a, std::string_view b) {
  using Row = std::array<std::size_t, kWordMax + 1>;
  Row before_last{}, last{}, row{};
  for (std::size_t j = 0; j <= b.size(); ++j) row[j] = j;
  const auto same = [&](std::size_t i, std::size_t j) { return lower(a[i - 1]) == lower(b[j - 1]); };
  for (std::size_t i = 1; i <= a.size(); ++i) {
    before_last = last;
    last = row;
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      row[j] = std::min({last[j - 1] + (same(i, j) ? 0 : 1), last[j] + 1, row[j - 1] + 1});
      const bool swapped = i > 1 && j > 1 && same(i - 1, j) && same(i, j - 1);
      if (swapped) row[j] = std::min(row[j], before_last[j - 2] + 1);
    }
  }
  return row[b.size()];
}

}  // namespace

std::size_t utf8_character(std::string_view text) {
  const auto byte = [text](std::size_t at) -> std::uint32_t {
    return at < text.size() ? static_cast<unsigned char>(text[at]) : 0;
  };
  const std::uint32_t first = byte(0);
  if (text.empty() || first < 0x80) return text.empty() ? 0 : 1;
  const std::size_t length = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
  if (first < 0xc2 || first > 0xf4) return 0;
  std::uint32_t code = first & (0xffU >> (length + 1));
  for (std::size_t at = 1; at < length; ++at) {
    if ((byte(at) & 0xc0U) != 0x80U) return 0;
    code = (code << 6) | (byte(at) & 0x3fU);
  }
  const bool overlong = (length == 3 && code < 0x800) || (length == 4 && code < 0x10000);
  const bool surrogate = code >= 0xd800 && code <= 0xdfff;
  return overlong || surrogate || code > 0x10ffff ? 0 : length;
}

bool is_utf8(std::string_view text) {
  while (!text.empty()) {
    const std::size_t bytes = utf8_character(text);
    if (bytes == 0) return false;
    text.remove_prefix(bytes);
  }
  return true;
}

bool has_control_characters(std::string_view text) {
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t length = utf8_character(text.substr(at));
    if (length > 0 && is_control(text.substr(at, length))) return true;
    at += std::max(length, std::size_t{1});
  }
  return false;
}

std::string quote(std::string_view text) {
  constexpr std::string_view kHex = "0123456789abcdef";
  std::string out = "'";
  for (std::size_t at = 0; at < text.size();) {
    if (at >= kQuotedMax) return out + "...'";
    const std::size_t length = utf8_character(text.substr(at));
    if (length == 0 || is_control(text.substr(at, length))) {
      const auto byte = static_cast<unsigned char>(text[at]);
      out += "\\x";
      out += kHex[byte >> 4U];
      out += kHex[byte & 0xfU];
      ++at;
    } else {
      out += text.substr(at, length);
      at += length;
    }
  }
  return out + "'";
}

std::string_view nearest_word(std::string_view word, std::span<const std::string_view> known) {
  if (word.empty() || word.size() > kWordMax) return {};
  std::string_view nearest;
  std::size_t nearest_rank = std::numeric_limits<std::size_t>::max();
  for (const std::string_view candidate : known) {
    if (candidate.size() > kWordMax) continue;
    const std::size_t wrong = edits(word, candidate);
    // "A100" means A100-80GB rather than A10: a missing end is one mistake, however long.
    const bool end_missing = word.size() >= 2 && wrong > 0 && starts_with(candidate, word);
    const std::size_t rank = wrong == 0 ? 0 : end_missing ? 1 : wrong + 1;
    const bool near = end_missing || wrong * 3 <= std::max(word.size(), std::size_t{3});
    if (near && rank < nearest_rank) {
      nearest = candidate;
      nearest_rank = rank;
    }
  }
  return nearest;
}

}  // namespace berth
