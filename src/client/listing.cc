#include "client/listing.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <utility>

#include "base/assert.h"
#include "base/wording.h"
#include "client/text_width.h"
#include "manifest/json.h"
#include "manifest/yaml.h"

namespace berth {
namespace {

constexpr std::array<std::pair<std::string_view, OutputFormat>, 5> kFormats = {{{"table", OutputFormat::kTable},
                                                                                {"wide", OutputFormat::kWide},
                                                                                {"json", OutputFormat::kJson},
                                                                                {"yaml", OutputFormat::kYaml},
                                                                                {"name", OutputFormat::kName}}};

constexpr std::string_view kRed = "31", kGreen = "32", kYellow = "33", kGrey = "90";
constexpr std::array<std::pair<std::string_view, std::string_view>, 14> kColors = {{{"running", kGreen},
                                                                                    {"ready", kGreen},
                                                                                    {"open", kGreen},
                                                                                    {"ok", kGreen},
                                                                                    {"starting", kYellow},
                                                                                    {"waiting", kYellow},
                                                                                    {"suspended", kYellow},
                                                                                    {"held", kYellow},
                                                                                    {"warn", kYellow},
                                                                                    {"failed", kRed},
                                                                                    {"not-ready", kRed},
                                                                                    {"FAIL", kRed},
                                                                                    {"succeeded", kGrey},
                                                                                    {"gone", kGrey}}};

}  // namespace

Result<OutputFormat> parse_output_format(std::string_view text) {
  for (const auto& [name, format] : kFormats) {
    if (name == text) return format;
  }
  return Complaints({"-o"}, quote(text) + " is no output format; write table, wide, json, yaml or name");
}

TableLines::TableLines(std::vector<ListingColumn> columns, OutputStyle style)
    : columns_(std::move(columns)), style_(style) {
  for (const ListingColumn& column : columns_) widths_.push_back(columns_of(column.title));
}

bool TableLines::shows(std::size_t column) const {
  return columns_[column].shown_in != (style_.format == OutputFormat::kWide ? ShownIn::kNarrow : ShownIn::kWide);
}

void TableLines::make_room(const std::vector<ListingRow>& rows) {
  for (const ListingRow& row : rows) {
    for (std::size_t i = 0; i < columns_.size(); ++i) {
      if (shows(i)) widths_[i] = std::max(widths_[i], columns_of(printable(row.cells[i])));
    }
  }
}

std::string TableLines::padded(const std::vector<std::string>& cells, bool colors) const {
  std::string text;
  std::size_t owed = 0;  // spaces before the next cell; none after the last
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    if (!shows(i)) continue;
    const std::size_t columns = columns_of(cells[i]);
    if (columns > 0) {
      text.append(owed, ' ');
      owed = 0;
      text += colors && columns_[i].of_states ? colored_state(cells[i]) : cells[i];
    }
    owed += widths_[i] + 3 - std::min(widths_[i], columns);
  }
  return text + "\n";
}

std::string TableLines::header() const {
  std::vector<std::string> titles;
  for (const ListingColumn& column : columns_) titles.push_back(column.title);
  return padded(titles, false);
}

std::string TableLines::line(const ListingRow& row) const {
  std::vector<std::string> cells;
  for (const std::string& cell : row.cells) cells.push_back(printable(cell));
  return padded(cells, style_.colors);
}

std::string colored_state(std::string_view word) {
  const std::size_t comma = word.find(',');
  const auto* const found =
      std::ranges::find(kColors, word.substr(0, comma), &std::pair<std::string_view, std::string_view>::first);
  if (found == kColors.end()) return std::string(word);
  // A node that is ready and cordoned takes nothing.
  const bool qualified = comma != std::string_view::npos && found->second == kGreen;
  return "\x1b[" + std::string(qualified ? kYellow : found->second) + "m" + std::string(word) + "\x1b[0m";
}

std::string Listing::to_text(OutputStyle style) const {
  std::string out;
  if (style.format == OutputFormat::kName) {
    for (const ListingRow& row : rows) out += printable(row.name) + '\n';
    return out;
  }
  if (style.format == OutputFormat::kJson || style.format == OutputFormat::kYaml) {
    Value items = Value::list();
    for (const ListingRow& row : rows) items.push_back(row.facts);
    return facts_to_text(Value::map_of({{"items", std::move(items)}}), style.format);
  }
  if (rows.empty()) return out;
  TableLines lines(columns, style);
  lines.make_room(rows);
  out = lines.header();
  for (const ListingRow& row : rows) out += lines.line(row);
  return out;
}

std::string colored_as(std::string_view text, std::string_view word) {
  const auto* const found = std::ranges::find(kColors, word, &std::pair<std::string_view, std::string_view>::first);
  return found == kColors.end() ? std::string(text)
                                : "\x1b[" + std::string(found->second) + "m" + std::string(text) + "\x1b[0m";
}

std::string facts_to_text(const Value& facts, OutputFormat format) {
  BERTH_ASSERT(format == OutputFormat::kJson || format == OutputFormat::kYaml);
  std::string text = format == OutputFormat::kJson ? to_pretty_json(facts) : to_yaml(facts);
  if (!text.ends_with('\n')) text += '\n';
  return text;
}

std::string printable(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const std::size_t bytes = utf8_character(text);
    const std::string_view character = text.substr(0, std::max<std::size_t>(bytes, 1));
    if (bytes == 0 || has_control_characters(character)) {
      out += character == "\n" || character == "\t" ? ' ' : '?';
    } else {
      out += character;
    }
    text.remove_prefix(character.size());
  }
  return out;
}

std::string shortened(std::string_view text, std::size_t columns_max) {
  std::string whole = printable(text);
  if (columns_of(whole) <= columns_max) return whole;
  return std::string(beginning_of(whole, columns_max - std::min<std::size_t>(columns_max, 3))) + "...";
}

}  // namespace berth
