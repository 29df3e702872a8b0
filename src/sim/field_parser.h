// What all trace formats ask of their fields: amounts within bounds, known GPU models, names that are there once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "model/quantity.h"
#include "sim/csv.h"

namespace berth {

// Every function gives the field's value; after a complaint 0 or nothing. `column` is what complaints call the field.
class FieldParser {
 public:
  FieldParser(std::string_view file_name, Complaints& complaints) : file_name_(file_name), complaints_(complaints) {}

  void complain(const CsvField& field, std::string_view column, std::string text);

  // To tell whether a field was good: what follows only from one that was not is no complaint of its own.
  std::size_t complaint_count() const { return complaints_.count(); }

  // A plain whole number; `of_what` says of what it counts: "MiB", "thousandths of a core".
  std::int64_t whole(const CsvField& field, std::string_view column, std::int64_t low, std::int64_t high,
                     std::string_view of_what);
  // Decimal seconds, as milliseconds.
  std::int64_t seconds_ms(const CsvField& field, std::string_view column);
  // Kubernetes quantities.
  std::int64_t cpu_milli(const CsvField& field, std::string_view column);
  std::int64_t memory_bytes(const CsvField& field, std::string_view column);
  // Thousandths of a GPU: "8" -> 8000, "500m" -> 500. Above one GPU only whole ones.
  std::int64_t milli_gpus(const CsvField& field, std::string_view column);

  // A name that no other row has.
  std::string unique_name(const CsvField& field, std::string_view column);
  // A name that others may have, too; may be empty.
  std::string label(const CsvField& field, std::string_view column);

  // The catalogue's short name of a model, or of each alternative ("A|B", each once).
  std::string gpu_model(const CsvField& field, std::string_view column);
  std::vector<std::string> gpu_models(const CsvField& field, std::string_view column);

  // Counts a row; false after a complaint that there are too many, and then reading stops.
  bool count_row(const CsvField& field);
  // Adds a node's GPUs to those of all, and complains where these become too many.
  void count_gpus(const CsvField& field, std::string_view column, std::int64_t gpus);

 private:
  std::int64_t amount(const CsvField& field, std::string_view column, const Parsed<std::int64_t>& parsed,
                      std::int64_t high, std::string_view high_text);

  std::string file_name_;
  Complaints& complaints_;
  std::unordered_map<std::string, std::int64_t> line_of_name_;
  std::int64_t rows_ = 0;
  std::int64_t gpus_ = 0;
};

}  // namespace berth
