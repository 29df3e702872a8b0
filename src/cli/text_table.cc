#include "cli/text_table.h"

#include <algorithm>
#include <cstddef>

namespace berth {
namespace {

std::vector<std::size_t> widths_of(const TextTable& table) {
  std::vector<std::size_t> widths;
  for (const std::string& name : table.header) widths.push_back(name.size());
  for (const auto& row : table.rows) {
    for (std::size_t column = 0; column < row.size(); ++column)
      widths[column] = std::max(widths[column], row[column].size());
  }
  return widths;
}

std::string padded(const std::string& text, std::size_t width, bool left) {
  const std::string space(width - text.size(), ' ');
  return left ? text + space : space + text;
}

}  // namespace

std::string TextTable::to_text() const {
  const std::vector<std::size_t> widths = widths_of(*this);
  std::string out;
  const auto add = [&](const std::vector<std::string>& cells) {
    for (std::size_t column = 0; column < cells.size(); ++column) {
      if (column > 0) out += "  ";
      out += padded(cells[column], widths[column], column == 0);
    }
    while (out.ends_with(' ')) out.pop_back();
    out += '\n';
  };
  add(header);
  for (const auto& row : rows) add(row);
  return out;
}

std::string TextTable::to_markdown() const {
  std::string out;
  const auto add = [&](const std::vector<std::string>& cells) {
    for (const std::string& cell : cells) out += "| " + cell + " ";
    out += "|\n";
  };
  add(header);
  for (std::size_t column = 0; column < header.size(); ++column) out += column == 0 ? "|---" : "|---:";
  out += "|\n";
  for (const auto& row : rows) add(row);
  return out;
}

}  // namespace berth
