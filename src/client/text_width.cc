#include "client/text_width.h"

#include <algorithm>
#include <array>
#include <iterator>

#include "base/wording.h"

namespace berth {
namespace {

struct Range {
  char32_t first, last;
};

// Marks that take no column of their own: the combining blocks, and what joins or varies the character before.
constexpr std::array kMarks = std::to_array<Range>({{0x0300, 0x036F},
                                                    {0x0483, 0x0489},
                                                    {0x0591, 0x05BD},
                                                    {0x064B, 0x065F},
                                                    {0x0E31, 0x0E31},
                                                    {0x0E34, 0x0E3A},
                                                    {0x1AB0, 0x1AFF},
                                                    {0x1DC0, 0x1DFF},
                                                    {0x200B, 0x200F},
                                                    {0x2028, 0x202E},
                                                    {0x2060, 0x2064},
                                                    {0x20D0, 0x20FF},
                                                    {0xFE00, 0xFE0F},
                                                    {0xFE20, 0xFE2F},
                                                    {0xFEFF, 0xFEFF}});

// Blocks whose characters are wide (East Asian Width W and F), without the few gaps in them.
constexpr std::array kWide = std::to_array<Range>(
    {{0x1100, 0x115F},   {0x231A, 0x231B},   {0x23E9, 0x23EC},   {0x25FD, 0x25FE},   {0x2614, 0x2615},
     {0x26A1, 0x26A1},   {0x2705, 0x2705},   {0x274C, 0x274C},   {0x2E80, 0x303E},   {0x3041, 0xA4CF},
     {0xA960, 0xA97F},   {0xAC00, 0xD7A3},   {0xF900, 0xFAFF},   {0xFE30, 0xFE6F},   {0xFF00, 0xFF60},
     {0xFFE0, 0xFFE6},   {0x16FE0, 0x18AFF}, {0x1B000, 0x1B2FF}, {0x1F300, 0x1F64F}, {0x1F680, 0x1F6FF},
     {0x1F900, 0x1FAFF}, {0x20000, 0x3FFFD}});

template <std::size_t size>
bool is_in(const std::array<Range, size>& ranges, char32_t character) {
  const auto after = std::ranges::upper_bound(ranges, character, {}, &Range::first);
  return after != ranges.begin() && character <= std::prev(after)->last;
}

char32_t code_point_of(std::string_view character) {
  const auto lead = static_cast<unsigned char>(character.front());
  if (character.size() == 1) return lead;
  char32_t code = lead & (0xFFU >> (character.size() + 1));
  for (const char each : character.substr(1)) code = (code << 6) | (static_cast<unsigned char>(each) & 0x3FU);
  return code;
}

}  // namespace

std::size_t columns_of_character(std::string_view character) {
  const char32_t code = code_point_of(character);
  if (code < 0x300) return 1;
  if (is_in(kMarks, code)) return 0;
  return is_in(kWide, code) ? 2 : 1;
}

std::size_t columns_of(std::string_view text) {
  std::size_t columns = 0;
  while (!text.empty()) {
    const std::size_t bytes = std::max<std::size_t>(utf8_character(text), 1);
    columns += columns_of_character(text.substr(0, bytes));
    text.remove_prefix(bytes);
  }
  return columns;
}

std::string_view beginning_of(std::string_view text, std::size_t columns_max) {
  std::size_t taken = 0, columns = 0;
  while (taken < text.size()) {
    const std::size_t bytes = std::max<std::size_t>(utf8_character(text.substr(taken)), 1);
    columns += columns_of_character(text.substr(taken, bytes));
    if (columns > columns_max) break;
    taken += bytes;
  }
  return text.substr(0, taken);
}

namespace {

std::string cut_to(std::string_view text, std::size_t columns, std::string_view mark) {
  if (columns_of(text) <= columns) return std::string(text);
  const std::size_t of_mark = columns_of(mark);
  if (of_mark > columns) return std::string(beginning_of(text, columns));
  return std::string(beginning_of(text, columns - of_mark)) + std::string(mark);
}

}  // namespace

std::string fitted(std::string_view text, std::size_t columns, std::string_view mark) {
  std::string cell = cut_to(text, columns, mark);
  return cell.append(columns - columns_of(cell), ' ');
}

std::string fitted_right(std::string_view text, std::size_t columns, std::string_view mark) {
  const std::string cell = cut_to(text, columns, mark);
  return std::string(columns - columns_of(cell), ' ') + cell;
}

}  // namespace berth
