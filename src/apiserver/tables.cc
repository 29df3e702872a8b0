#include "apiserver/tables.h"

#include <map>
#include <string>
#include <utility>

#include "apiserver/table_printer.h"
#include "manifest/timestamp.h"

namespace berth {

Value name_cell(const Value& object) { return Value(object["metadata"]["name"].text()); }

std::string age_since(std::string_view timestamp, Time now) {
  const std::optional<Time> then = parse_timestamp(timestamp);
  return then ? format_age(now - *then) : "<unknown>";
}

Value age_cell(const Value& object, Time now) {
  return Value(age_since(object["metadata"]["creationTimestamp"].text(), now));
}

std::string joined(const std::vector<std::string>& texts, std::string_view separator) {
  std::string all;
  for (const std::string& text : texts) {
    if (!all.empty()) all += separator;
    all += text;
  }
  return all;
}

const Value& condition_of(const Value& object, std::string_view type) {
  static const Value kNone;
  for (const Value& condition : object["status"]["conditions"].items()) {
    if (condition["type"].text() == type) return condition;
  }
  return kNone;
}

bool condition_is_true(const Value& object, std::string_view type) {
  return condition_of(object, type)["status"].text() == "True";
}

namespace {

TablePrinter make_printer(const KindInfo& kind) {
  if (kind.plural == "events") return event_printer();
  const std::string name = kind.qualified();
  if (name == "pods") return pod_printer();
  if (name == "nodes") return node_printer();
  if (name == "jobs.batch") return job_printer();
  return small_printer(kind);
}

const TablePrinter& printer_of(const KindInfo& kind) {
  static const std::map<std::string, TablePrinter, std::less<>> printers = [] {
    std::map<std::string, TablePrinter, std::less<>> all;
    for (const KindInfo& served : served_kinds()) all.emplace(served.qualified(), make_printer(served));
    return all;
  }();
  return printers.find(kind.qualified())->second;
}

Value partial_metadata(const Value& object) {
  return Value::map_of(
      {{"kind", "PartialObjectMetadata"}, {"apiVersion", "meta.k8s.io/v1"}, {"metadata", object["metadata"]}});
}

}  // namespace

Value table_columns(const KindInfo& kind) {
  Value::List definitions;
  for (const TableColumn& column : printer_of(kind).columns) {
    const bool is_name = definitions.empty();
    definitions.push_back(Value::map_of({{"name", column.name},
                                         {"type", column.type},
                                         {"format", is_name ? "name" : ""},
                                         {"description", column.description},
                                         {"priority", column.wide ? 1 : 0}}));
  }
  return Value(std::move(definitions));
}

Value table_row(const KindInfo& kind, const Value& object, RowObject with, Time now) {
  Value row = Value::map_of({{"cells", Value(printer_of(kind).cells(object, now))}});
  if (with == RowObject::kMetadata) row.set("object", partial_metadata(object));
  if (with == RowObject::kObject) row.set("object", object);
  return row;
}

}  // namespace berth
