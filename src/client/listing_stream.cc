#include "client/listing_stream.h"

#include <cstddef>
#include <utility>

#include "manifest/json.h"

namespace berth {
namespace {

std::string key_of(const ListingRow& row) { return std::string(row.facts["namespace"].text()) + "/" + row.name; }

ListingRow gone(const Listing& listing, ListingRow row) {
  for (std::size_t i = 0; i < listing.columns.size(); ++i) {
    if (listing.columns[i].of_states) row.cells[i] = "gone";
  }
  row.facts.set("state", "gone");
  return row;
}

}  // namespace

std::string ListingStream::next(const Listing& listing) {
  std::vector<ListingRow> changed;
  std::map<std::string, ListingRow> rows;
  for (const ListingRow& row : listing.rows) {
    const auto before = rows_.find(key_of(row));
    if (before == rows_.end() || !(before->second.facts == row.facts)) changed.push_back(row);
    rows.emplace(key_of(row), row);
  }
  for (auto& [key, row] : rows_) {
    if (!rows.contains(key)) changed.push_back(gone(listing, std::move(row)));
  }
  rows_ = std::move(rows);
  return changed.empty() ? std::string() : text_of(listing, changed);
}

std::string ListingStream::text_of(const Listing& listing, const std::vector<ListingRow>& rows) {
  std::string text;
  switch (style_.format) {
    case OutputFormat::kName:
      for (const ListingRow& row : rows) text += printable(row.name) + "\n";
      break;
    case OutputFormat::kJson:
      for (const ListingRow& row : rows) text += to_json(row.facts) + "\n";
      break;
    case OutputFormat::kYaml:
      for (const ListingRow& row : rows) text += "---\n" + facts_to_text(row.facts, style_.format);
      break;
    case OutputFormat::kTable:
    case OutputFormat::kWide: {
      const bool first = !table_;
      if (first) table_.emplace(listing.columns, style_);
      table_->make_room(rows);
      if (first) text = table_->header();
      for (const ListingRow& row : rows) text += table_->line(row);
    }
  }
  return text;
}

}  // namespace berth
