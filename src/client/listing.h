// What a command shows: a table for people, the same facts as JSON or YAML for programs.
#pragma once

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
};

struct ListingRow {
  std::string name;                // "job/hello", as other commands take it
  std::vector<std::string> cells;  // INVARIANT: one for each column
  Value facts;                     // the same, for programs
};

struct Listing {
  std::vector<ListingColumn> columns;
  std::vector<ListingRow> rows;

  // Ends with a newline, or is empty: a table without rows, names of nothing.
  std::string to_text(OutputFormat format) const;
};

// Facts of one thing as JSON or YAML, ending with a newline. PRE: the format is one of the two.
std::string facts_to_text(const Value& facts, OutputFormat format);

// As one line that a terminal does not obey; what an API server sends may be anything.
std::string printable(std::string_view text);
// The same, shortened to that many characters.
std::string shortened(std::string_view text, std::size_t characters_max);

}  // namespace berth
