// One line of a screen: pieces with a style each, never wider than the screen.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "client/listing.h"
#include "client/text_width.h"

namespace berth {

enum class Style : std::uint8_t { kPlain, kBold, kDim, kGood, kWaiting, kBad, kHeader };

class ScreenLine {
 public:
  ScreenLine(std::size_t columns_max, bool colours, std::string_view mark)
      : columns_max_(columns_max), colours_(colours), mark_(mark) {}

  std::size_t left() const { return columns_max_ - columns_; }

  // As much of it as there is room for; whatever a server sent is made harmless.
  ScreenLine& add(std::string_view text, Style style = Style::kPlain) {
    const std::string whole = printable(text);
    const std::size_t wanted = columns_of(whole);
    const std::size_t columns = std::min(wanted, left());
    if (columns == 0) return *this;
    const std::string piece = wanted <= left() ? whole : fitted(whole, columns, mark_);
    const std::string_view code = colours_ ? code_of(style) : "";
    text_ += code;
    text_ += piece;
    if (!code.empty()) text_ += "\x1b[0m";
    columns_ += columns;
    return *this;
  }
  // A cell of exactly so many columns, or of what is left.
  ScreenLine& cell(std::string_view text, std::size_t columns, Style style = Style::kPlain) {
    return add(fitted(printable(text), std::min(columns, left()), mark_), style);
  }
  ScreenLine& cell_right(std::string_view text, std::size_t columns, Style style = Style::kPlain) {
    return add(fitted_right(printable(text), std::min(columns, left()), mark_), style);
  }
  ScreenLine& gap(std::size_t columns) { return add(std::string(std::min(columns, left()), ' ')); }

  std::string text() && { return std::move(text_); }

 private:
  static std::string_view code_of(Style style) {
    switch (style) {
      case Style::kPlain:
        return "";
      case Style::kBold:
        return "\x1b[1m";
      case Style::kDim:
        return "\x1b[2m";
      case Style::kGood:
        return "\x1b[32m";
      case Style::kWaiting:
        return "\x1b[33m";
      case Style::kBad:
        return "\x1b[31m";
      case Style::kHeader:
        return "\x1b[7m";
    }
    return "";
  }

  std::size_t columns_max_;
  bool colours_;
  std::string mark_;
  std::string text_;
  std::size_t columns_ = 0;
};

}  // namespace berth
