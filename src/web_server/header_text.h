// The values of headers are lists of words with separators and spaces between them.
#pragma once

#include <cstddef>
#include <string_view>

namespace berth {

inline std::string_view trimmed(std::string_view text) {
  while (text.starts_with(' ') || text.starts_with('\t')) text.remove_prefix(1);
  while (text.ends_with(' ') || text.ends_with('\t')) text.remove_suffix(1);
  return text;
}

// Takes what stands before the next `separator`, or all that is left, off the text.
inline std::string_view take_word(std::string_view& text, char separator) {
  const std::size_t end = text.find(separator);
  const std::string_view word = trimmed(text.substr(0, end));
  text = end == std::string_view::npos ? std::string_view() : text.substr(end + 1);
  return word;
}

}  // namespace berth
