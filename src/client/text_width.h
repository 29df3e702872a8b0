// How much room a text takes on a terminal: columns, which are neither bytes nor characters.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace berth {

// Of one character, well-formed UTF-8: 0 for a mark that sits on the one before, 2 for a wide one (Chinese, Korean,
// emoji), otherwise 1.
std::size_t columns_of_character(std::string_view character);

// PRE: well-formed and on one line, as printable() leaves it.
std::size_t columns_of(std::string_view text);

// The beginning of a text that takes at most so many columns; a wide character is never halved.
std::string_view beginning_of(std::string_view text, std::size_t columns_max);

// The text as a cell of exactly so many columns: filled up with spaces, or cut, with `mark` as its end ("…", "...").
std::string fitted(std::string_view text, std::size_t columns, std::string_view mark);
std::string fitted_right(std::string_view text, std::size_t columns, std::string_view mark);  // set to the right

}  // namespace berth
