#include "manifest/label_syntax.h"

#include <algorithm>
#include <cstddef>

namespace berth {
namespace {

constexpr std::size_t kWordMax = 63;
constexpr std::size_t kDomainMax = 253;

bool is_lower_or_digit(char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'); }
bool is_letter_or_digit(char c) { return is_lower_or_digit(c) || (c >= 'A' && c <= 'Z'); }

// "team-a.v2": it begins and ends with a letter or a digit.
bool is_word(std::string_view text) {
  if (text.empty() || text.size() > kWordMax) return false;
  const auto inside = [](char c) { return is_letter_or_digit(c) || c == '-' || c == '_' || c == '.'; };
  return is_letter_or_digit(text.front()) && is_letter_or_digit(text.back()) && std::ranges::all_of(text, inside);
}

// "example.com": parts of small letters, digits and dashes, that begin and end with none of the last.
bool is_domain(std::string_view text) {
  if (text.empty() || text.size() > kDomainMax) return false;
  char before = '.';
  for (const char c : text) {
    const bool at_edge = before == '.' || c == '.';
    if (!is_lower_or_digit(c) && c != '-' && c != '.') return false;
    if (at_edge && !is_lower_or_digit(c) && !is_lower_or_digit(before)) return false;
    before = c;
  }
  return is_lower_or_digit(before) && is_lower_or_digit(text.front());
}

}  // namespace

bool is_label_key(std::string_view text) {
  const std::size_t slash = text.find('/');
  if (slash == std::string_view::npos) return is_word(text);
  return is_domain(text.substr(0, slash)) && is_word(text.substr(slash + 1));
}

bool is_label_value(std::string_view text) { return text.empty() || is_word(text); }

bool is_object_name(std::string_view text) { return is_domain(text); }

}  // namespace berth
