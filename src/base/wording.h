// Words for complaints: what somebody wrote, safe to print, and what they probably meant.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

namespace berth {

// Bytes of the well-formed UTF-8 character at the start of `text`; 0 if there is none.
std::size_t utf8_character(std::string_view text);

// Whether all of it is well-formed UTF-8.
bool is_utf8(std::string_view text);

// Whether there are characters in it that a terminal may obey: U+0000 to U+001F and U+007F to U+009F.
bool has_control_characters(std::string_view text);

// The text between single quotes, as one line of valid UTF-8 without control characters ("\x00"); long ones are cut.
std::string quote(std::string_view text);

// The known word nearest to a mistyped one, without regard to case; the first of equals. Empty if nothing is near:
// a third of the letters may be wrong, or the end may be missing.
std::string_view nearest_word(std::string_view word, std::span<const std::string_view> known);

}  // namespace berth
