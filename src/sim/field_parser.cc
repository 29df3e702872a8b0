#include "sim/field_parser.h"

#include <algorithm>
#include <utility>

#include "base/wording.h"
#include "model/gpu.h"
#include "sim/readers.h"

namespace berth {

namespace {

// As long as Kubernetes allows names to be.
constexpr std::size_t kNameMax = 253;

bool is_digit(char c) { return c >= '0' && c <= '9'; }

bool is_whole(std::string_view text) {
  if (text.starts_with('-')) text.remove_prefix(1);
  return !text.empty() && std::ranges::all_of(text, is_digit);
}

// What is wrong with a name or label; nothing if it will do.
std::string_view wrong_with(std::string_view name) {
  if (name.size() > kNameMax) return " is too long; write at most 253 bytes";
  // A label's blanks at its ends would not survive a table, control characters no terminal.
  if (has_control_characters(name)) return " has control characters; take them out";
  if (!name.empty() && (name.front() == ' ' || name.back() == ' ')) return " begins or ends with a blank; take it away";
  return {};
}

std::string known_models() {
  std::string names;
  for (const GpuModel& model : gpu_catalogue()) {
    if (!names.empty()) names += ", ";
    names += model.short_name;
  }
  return names;
}

}  // namespace

void FieldParser::complain(const CsvField& field, std::string_view column, std::string text) {
  complaints_.add({file_name_, field.line, field.column}, std::string(column) + ": " + std::move(text));
}

std::int64_t FieldParser::whole(const CsvField& field, std::string_view column, std::int64_t low, std::int64_t high,
                                std::string_view of_what) {
  const Parsed<std::int64_t> number = parse_integer(field.text, low, high);
  if (number) return *number;
  complain(field, column,
           quote(field.text) + (is_whole(field.text) ? " is out of range" : " is not a whole number") + "; write " +
               std::string(of_what) + " from " + std::to_string(low) + " to " + std::to_string(high));
  return 0;
}

std::int64_t FieldParser::seconds_ms(const CsvField& field, std::string_view column) {
  const std::string_view text = field.text;
  const std::size_t point = std::min(text.find('.'), text.size());
  const std::string_view whole_part = text.substr(0, point);
  std::string_view decimals = text.substr(std::min(point + 1, text.size()));
  while (decimals.ends_with('0')) decimals.remove_suffix(1);
  const bool decimal =
      !whole_part.empty() && std::ranges::all_of(whole_part, is_digit) && std::ranges::all_of(decimals, is_digit);
  if (!decimal || text.ends_with('.')) {
    const bool negative = text.size() > 1 && text[0] == '-' && is_digit(text[1]);
    complain(field, column,
             quote(text) + (negative ? " is negative" : " is not a number of seconds") +
                 "; write seconds such as 90 or 12.5");
    return 0;
  }
  if (decimals.size() > 3) {
    complain(field, column, quote(text) + " is finer than a millisecond; write at most three decimals");
    return 0;
  }
  const Parsed<std::int64_t> seconds = parse_integer(whole_part, 0, kSecondsMax - 1);
  if (!seconds) {
    complain(field, column, quote(text) + " is out of range; write seconds below " + std::to_string(kSecondsMax));
    return 0;
  }
  std::int64_t ms = *seconds;
  for (std::size_t i = 0; i < 3; ++i) ms = ms * 10 + (i < decimals.size() ? decimals[i] - '0' : 0);
  return ms;
}

std::int64_t FieldParser::amount(const CsvField& field, std::string_view column, const Parsed<std::int64_t>& parsed,
                                 std::int64_t high, std::string_view high_text) {
  if (!parsed) {
    complain(field, column, parsed.error());
    return 0;
  }
  if (*parsed > high) {
    complain(field, column, quote(field.text) + " is too large; write at most " + std::string(high_text));
    return 0;
  }
  return *parsed;
}

std::int64_t FieldParser::cpu_milli(const CsvField& field, std::string_view column) {
  return amount(field, column, parse_milli(field.text), kCpuMilliMax, format_milli(kCpuMilliMax));
}

std::int64_t FieldParser::memory_bytes(const CsvField& field, std::string_view column) {
  const std::int64_t bytes_max = kMemoryMibMax << 20;
  return amount(field, column, parse_bytes(field.text), bytes_max, format_bytes(bytes_max));
}

std::int64_t FieldParser::milli_gpus(const CsvField& field, std::string_view column) {
  const Parsed<std::int64_t> milli = parse_milli(field.text);
  if (!milli || (*milli > kMilliPerGpu && *milli % kMilliPerGpu != 0)) {
    complain(field, column, quote(field.text) + " is neither a count (2) nor thousandths of one GPU (500m)");
    return 0;
  }
  return amount(field, column, milli, kJobGpusMax * kMilliPerGpu, std::to_string(kJobGpusMax));
}

std::string FieldParser::unique_name(const CsvField& field, std::string_view column) {
  if (field.text.empty()) {
    complain(field, column, "there is no name; write one that no other row has");
    return {};
  }
  std::string name = label(field, column);
  if (name.empty()) return {};
  const auto [known, is_new] = line_of_name_.try_emplace(name, field.line);
  if (!is_new) {
    complain(
        field, column,
        quote(name) + " is also in line " + std::to_string(known->second) + "; write a name that no other row has");
  }
  return name;
}

std::string FieldParser::label(const CsvField& field, std::string_view column) {
  const std::string_view wrong = wrong_with(field.text);
  if (wrong.empty()) return std::string(field.text);
  complain(field, column, quote(field.text) + std::string(wrong));
  return {};
}

std::string FieldParser::gpu_model(const CsvField& field, std::string_view column) {
  if (const GpuModel* const model = find_gpu_model(field.text)) return std::string(model->short_name);
  static const std::string known = known_models();
  // The guess costs more than the rest of the row; of a file that is wrong throughout nobody will read it.
  const bool read_by_somebody = complaints_.kept().size() < Complaints::kKeptMax;
  const std::string_view near = read_by_somebody ? nearest_gpu_model(field.text) : std::string_view();
  complain(field, column,
           "unknown GPU type " + quote(field.text) + "; " +
               (near.empty() ? "" : "did you mean " + std::string(near) + "? ") + "Known: " + known);
  return {};
}

std::vector<std::string> FieldParser::gpu_models(const CsvField& field, std::string_view column) {
  std::vector<std::string> models;
  std::size_t start = 0;
  while (!field.text.empty() && start <= field.text.size()) {
    const std::size_t end = std::min(field.text.find('|', start), field.text.size());
    const CsvField alternative{field.text.substr(start, end - start), field.line,
                               field.column + static_cast<std::int64_t>(start)};
    std::string model = gpu_model(alternative, column);
    if (model.empty()) return {};
    if (std::ranges::find(models, model) == models.end()) models.push_back(std::move(model));
    start = end + 1;
  }
  return models;
}

bool FieldParser::count_row(const CsvField& field) {
  if (++rows_ <= kTraceRowsMax) return true;
  complaints_.add({file_name_, field.line, 0}, "more than " + std::to_string(kTraceRowsMax) + " rows; split the file");
  return false;
}

void FieldParser::count_gpus(const CsvField& field, std::string_view column, std::int64_t gpus) {
  const bool fitted = gpus_ <= kTraceGpusMax;
  gpus_ += gpus;
  if (fitted && gpus_ > kTraceGpusMax) {
    complain(field, column,
             "with this node there are more than " + std::to_string(kTraceGpusMax) + " GPUs; write fewer nodes");
  }
}

}  // namespace berth
