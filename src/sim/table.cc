#include "sim/table.h"

#include <algorithm>

#include "base/wording.h"

namespace berth {

namespace {

constexpr std::size_t kNone = static_cast<std::size_t>(-1);

}  // namespace

std::string listed(std::span<const std::string_view> names) {
  std::string list;
  for (const std::string_view name : names) {
    if (!list.empty()) list += ", ";
    list += name;
  }
  return list;
}

Table::Table(std::string_view file_name, std::string_view text, const TableFormat& format, Complaints& complaints)
    : csv_(file_name, text, complaints), column_of_(format.columns.size(), kNone), fields_(format.columns.size()) {
  if (csv_.header().empty()) return;
  for (std::size_t at = 0; at < csv_.header().size(); ++at) {
    const auto known = std::ranges::find(format.columns, csv_.header()[at].text);
    if (known != format.columns.end()) column_of_[static_cast<std::size_t>(known - format.columns.begin())] = at;
  }
  std::vector<std::string_view> absent;
  std::string missing;
  std::size_t missing_count = 0;
  for (std::size_t i = 0; i < format.columns.size(); ++i) {
    if (column_of_[i] != kNone) continue;
    absent.push_back(format.columns[i]);
    if (i >= format.required) continue;
    if (++missing_count > 1) missing += ", ";
    missing += quote(format.columns[i]);
  }
  const std::string what = std::string(format.what) + ": ";
  if (missing_count > 0) {
    constexpr std::size_t kShownMax = 32;
    std::string present;
    for (const CsvField& name : csv_.header().first(std::min(csv_.header().size(), kShownMax))) {
      present += (present.empty() ? "" : ", ") + quote(name.text);
    }
    if (csv_.header().size() > kShownMax) present += ", ...";
    complaints.add(csv_.place(csv_.header().front()),
                   what + (missing_count == 1 ? "column " : "columns ") + missing +
                       (missing_count == 1 ? " is" : " are") + " missing; the header has " + present + "; " +
                       std::string(format.is) + " needs " + listed(format.columns.first(format.required)));
  }
  for (const CsvField& name : csv_.header()) {
    if (std::ranges::find(format.columns, name.text) != format.columns.end()) continue;
    // Of another's format only what is nearly a column that is not there: a typing mistake must not drop a constraint.
    const std::string_view near = nearest_word(name.text, absent);
    if (format.others_pass && near.empty()) continue;
    complaints.add(csv_.place(name), what + "column " + quote(name.text) + " is unknown; " +
                                         (near.empty() ? "" : "did you mean " + quote(near) + "? ") +
                                         "Known: " + listed(format.columns));
  }
  usable_ = missing_count == 0;
}

bool Table::next() {
  if (!usable_ || !csv_.next()) return false;
  for (std::size_t i = 0; i < fields_.size(); ++i) {
    if (column_of_[i] != kNone) fields_[i] = csv_.row()[column_of_[i]];
  }
  return true;
}

}  // namespace berth
