// Comma-separated text, row by row, strictly: RFC 4180 (quotes, doubled quotes, CRLF) in UTF-8, with or without a byte
// order mark. Two liberties: blanks around an unquoted field are not part of it, and empty lines may follow the last row.
// Everything else that is not a table is a complaint, so that a half-written file is never taken for a shorter one: a last
// row without a line end is one, too, because nobody can tell "8" from the beginning of "80".
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace berth {

// A piece of an input and where it begins; lines and columns as in Place.
struct CsvField {
  std::string_view text;
  std::int64_t line = 0;
  std::int64_t column = 0;
};

// Whether all of it is UTF-8 text in lines; otherwise one complaint about the first place that is not.
bool complain_unless_text(std::string_view file_name, std::string_view text, Complaints& complaints);

// Of a last line that is complete otherwise.
inline constexpr std::string_view kNoLineEnd =
    "the last line has no line end: was the file written to its end? If so, end it with a line end";

// The text without a byte order mark.
std::string_view without_byte_order_mark(std::string_view text);

class CsvReader {
 public:
  // Reads the header. `text` and `complaints` outlive the reader.
  CsvReader(std::string_view file_name, std::string_view text, Complaints& complaints);

  // The column names; none if the file has no header that can be used (a complaint says why).
  std::span<const CsvField> header() const { return header_; }

  // Goes to the next row that has as many fields as the header, and a line end; rows that have not are complained about and
  // passed.
  bool next();

  // The current row. Valid until the next call of next().
  std::span<const CsvField> row() const { return row_; }

  Place place(const CsvField& field) const { return {file_name_, field.line, field.column}; }

 private:
  enum class Line { kRow, kEmpty, kBroken, kEnd };

  Line read_line();
  bool read_field();
  bool read_quoted();
  void pass_line_end();
  void pass_rest_of_line();
  std::int64_t column() const { return static_cast<std::int64_t>(at_ - line_start_) + 1; }
  void complain(std::int64_t line, std::int64_t column, std::string text);
  void complain_about_field_count();

  std::string file_name_;
  std::string_view text_;
  Complaints& complaints_;
  std::size_t at_ = 0;
  std::size_t line_start_ = 0;
  std::int64_t line_ = 1;
  std::vector<CsvField> header_;
  std::vector<CsvField> row_;
  std::deque<std::string> unescaped_;  // what fields with doubled quotes mean: of the header, then of the current row
  std::size_t header_unescaped_ = 0;
  bool row_seen_ = false;  // good or broken
  bool cut_ = false;       // the current line has no line end
};

}  // namespace berth
