// What a command shows: a table for people, the same facts as JSON or YAML for programs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "manifest/value.h"

namespace berth {

enum class OutputFormat : std::uint8_t { kTable, kWide, kJson, kYaml, kName };

// "table", "wide", "json", "yaml", "name".
Result<OutputFormat> parse_output_format(std::string_view text);

enum class ShownIn : std::uint8_t { kBoth, kNarrow, kWide };  // of the two tables

struct ListingColumn {
  std::string title;
  ShownIn shown_in = ShownIn::kBoth;
  bool of_states = false;  // words such as "waiting", which have colours
};

struct ListingRow {
  std::string name;                // "job/hello", as other commands take it
  std::vector<std::string> cells;  // INVARIANT: one for each column
  Value facts;                     // the same, for programs
};

struct OutputStyle {
  OutputStyle(OutputFormat format_ = OutputFormat::kTable, bool colors_ = false) : format(format_), colors(colors_) {}

  OutputFormat format;
  bool colors;  // of a terminal, for states
};

struct Listing {
  std::vector<ListingColumn> columns;
  std::vector<ListingRow> rows;

  // Ends with a newline, or is empty: a table without rows, names of nothing.
  std::string to_text(OutputStyle style) const;
};

// Lines of one table, aligned with those before; what comes later may be wider and makes its column so from there on.
class TableLines {
 public:
  // PRE: the format is one of the two tables.
  TableLines(std::vector<ListingColumn> columns, OutputStyle style);
  std::string header() const;
  void make_room(const std::vector<ListingRow>& rows);
  std::string line(const ListingRow& row) const;

 private:
  bool shows(std::size_t column) const;
  std::string padded(const std::vector<std::string>& cells, bool colors) const;

  std::vector<ListingColumn> columns_;
  OutputStyle style_;
  std::vector<std::size_t> widths_;  // of each column, shown or not
};

// The word in the colour of what it means; as it is if it means nothing that has one.
std::string colored_state(std::string_view word);
// Any text in the colour of such a word.
std::string colored_as(std::string_view text, std::string_view word);

// Facts of one thing as JSON or YAML, ending with a newline. PRE: the format is one of the two.
std::string facts_to_text(const Value& facts, OutputFormat format);

// As one line that a terminal does not obey; what an API server sends may be anything.
std::string printable(std::string_view text);
// The same, shortened to that many columns of a terminal.
std::string shortened(std::string_view text, std::size_t columns_max);

}  // namespace berth
