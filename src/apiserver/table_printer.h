// How one kind is shown as a table's row. Only tables.cc asks for it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/time.h"
#include "manifest/kinds.h"
#include "manifest/value.h"

namespace berth {

struct TableColumn {
  const char* name;
  const char* description;
  bool wide = false;            // shown by -o wide only
  const char* type = "string";  // "integer", "boolean", "date"
};

// INVARIANT: cells() gives one value for each column.
struct TablePrinter {
  std::vector<TableColumn> columns;
  Value::List (*cells)(const Value& object, Time now);
};

TablePrinter pod_printer();
TablePrinter node_printer();
TablePrinter job_printer();
TablePrinter event_printer();
// Of every other kind.
TablePrinter small_printer(const KindInfo& kind);

// What several of them show.
Value name_cell(const Value& object);
std::string age_since(std::string_view timestamp, Time now);  // "<unknown>" without one
Value age_cell(const Value& object, Time now);
std::string joined(const std::vector<std::string>& texts, std::string_view separator = ",");
// The condition of that type, or null.
const Value& condition_of(const Value& object, std::string_view type);
bool condition_is_true(const Value& object, std::string_view type);

}  // namespace berth
