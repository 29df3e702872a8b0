// A table whose columns have a meaning: what a format calls them, which it needs, and where they are in a file at hand.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "sim/csv.h"
#include "sim/field_parser.h"

namespace berth {

struct TableFormat {
  std::string_view what;                      // "openb pods"
  std::string_view is;                        // "an openb pod list"
  std::span<const std::string_view> columns;  // those that must be there first
  std::size_t required = 0;                   // how many must be there
  bool others_pass = false;                   // a column that is no near miss of a known one is nobody's business
};

extern const TableFormat kOpenbNodes;
extern const TableFormat kOpenbJobs;
extern const TableFormat kPhillyNodes;
extern const TableFormat kPhillyJobs;
extern const TableFormat kOwnNodes;
extern const TableFormat kOwnJobs;

// "name, cpu, memory"
std::string listed(std::span<const std::string_view> names);

class Table {
 public:
  // Finds the columns; complains about those that are missing, all at once, and about those that nobody knows.
  Table(std::string_view file_name, std::string_view text, const TableFormat& format, Complaints& complaints);

  bool next();

  // The row's fields in the order of the format's columns; those without a column are empty, in line 0.
  std::span<const CsvField> fields() const { return fields_; }

 private:
  CsvReader csv_;
  std::vector<std::size_t> column_of_;  // per column of the format: which of the file, or kNone
  std::vector<CsvField> fields_;
  bool usable_ = false;
};

// All entries of a table, or all that is wrong with it.
template <class Entry, class ReadEntry>
Result<std::vector<Entry>> read_table(std::string_view file_name, std::string_view text, const TableFormat& format,
                                      ReadEntry read_entry) {
  Complaints complaints;
  FieldParser parser(file_name, complaints);
  Table table(file_name, text, format, complaints);
  std::vector<Entry> entries;
  while (table.next() && parser.count_row(table.fields()[0])) {
    Entry entry = read_entry(table.fields(), parser);
    if (complaints.empty()) entries.push_back(std::move(entry));
  }
  if (!complaints.empty()) return complaints;
  return entries;
}

}  // namespace berth
