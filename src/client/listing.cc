#include "client/listing.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <utility>

#include "base/assert.h"
#include "base/wording.h"
#include "manifest/json.h"
#include "manifest/yaml.h"

namespace berth {
namespace {

constexpr std::array<std::pair<std::string_view, OutputFormat>, 5> kFormats = {{{"table", OutputFormat::kTable},
                                                                                {"wide", OutputFormat::kWide},
                                                                                {"json", OutputFormat::kJson},
                                                                                {"yaml", OutputFormat::kYaml},
                                                                                {"name", OutputFormat::kName}}};

// Characters, which is not bytes. PRE: well-formed, as printable() leaves it.
std::size_t width_of(std::string_view text) {
  return static_cast<std::size_t>(
      std::ranges::count_if(text, [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; }));
}

std::string table_of(const Listing& listing, bool wide) {
  std::vector<std::vector<std::string>> lines(listing.rows.size() + 1);
  for (std::size_t column = 0; column < listing.columns.size(); ++column) {
    if (listing.columns[column].shown_in == (wide ? ShownIn::kNarrow : ShownIn::kWide)) continue;
    lines[0].push_back(listing.columns[column].title);
    for (std::size_t row = 0; row < listing.rows.size(); ++row) {
      lines[row + 1].push_back(printable(listing.rows[row].cells[column]));
    }
  }
  std::vector<std::size_t> widths(lines[0].size());
  for (const auto& line : lines) {
    for (std::size_t i = 0; i < line.size(); ++i) widths[i] = std::max(widths[i], width_of(line[i]));
  }
  std::string out;
  for (const auto& line : lines) {
    std::string text;
    for (std::size_t i = 0; i < line.size(); ++i) {
      text += line[i] + std::string(widths[i] - width_of(line[i]) + 3, ' ');
    }
    while (text.ends_with(' ')) text.pop_back();
    out += text + '\n';
  }
  return out;
}

}  // namespace

Result<OutputFormat> parse_output_format(std::string_view text) {
  for (const auto& [name, format] : kFormats) {
    if (name == text) return format;
  }
  return Complaints({"-o"}, quote(text) + " is no output format; write table, wide, json, yaml or name");
}

std::string Listing::to_text(OutputFormat format) const {
  if (format == OutputFormat::kName) {
    std::string out;
    for (const ListingRow& row : rows) out += row.name + '\n';
    return out;
  }
  if (format == OutputFormat::kJson || format == OutputFormat::kYaml) {
    Value items = Value::list();
    for (const ListingRow& row : rows) items.push_back(row.facts);
    return facts_to_text(Value::map_of({{"items", std::move(items)}}), format);
  }
  return rows.empty() ? std::string() : table_of(*this, format == OutputFormat::kWide);
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

std::string shortened(std::string_view text, std::size_t characters_max) {
  std::string whole = printable(text);
  if (width_of(whole) <= characters_max) return whole;
  std::string out;
  std::string_view rest = whole;
  for (std::size_t i = 0; i + 3 < characters_max; ++i) {
    const std::size_t bytes = std::max<std::size_t>(utf8_character(rest), 1);
    out += rest.substr(0, bytes);
    rest.remove_prefix(bytes);
  }
  return out + "...";
}

}  // namespace berth
