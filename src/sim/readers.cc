#include "sim/readers.h"

#include <algorithm>

#include "sim/table.h"

namespace berth {

namespace {

template <class Entry>
using Reader = Result<std::vector<Entry>> (*)(std::string_view file_name, std::string_view text);

template <class Entry>
struct KnownTable {
  const TableFormat* format;
  Reader<Entry> read;
};

// Our own first: of formats that share equally many columns it is the one that people write by hand.
constexpr KnownTable<TraceNode> kNodeTables[] = {
    {&kOwnNodes, read_own_csv_nodes}, {&kOpenbNodes, read_openb_nodes}, {&kPhillyNodes, read_philly_nodes}};
constexpr KnownTable<TraceJob> kJobTables[] = {
    {&kOwnJobs, read_own_csv_jobs}, {&kOpenbJobs, read_openb_jobs}, {&kPhillyJobs, read_philly_jobs}};

bool looks_like_json(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t\r\n");
  return first != std::string_view::npos && (text[first] == '{' || text[first] == '[');
}

// A comment, or a first line of bare numbers.
bool looks_like_swf(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t\r\n");
  if (first == std::string_view::npos) return false;
  if (text[first] == ';') return true;
  const std::string_view line = text.substr(first, text.find('\n', first) - first);
  return line.find_first_not_of("0123456789.- \t\r") == std::string_view::npos &&
         line.find_first_of(" \t") != std::string_view::npos;
}

std::ptrdiff_t shared_columns(std::span<const CsvField> header, const TableFormat& format) {
  return std::ranges::count_if(header, [&format](const CsvField& name) {
    return std::ranges::find(format.columns, name.text) != format.columns.end();
  });
}

template <class Entry, std::size_t kCount>
const KnownTable<Entry>& nearest_table(std::span<const CsvField> header, const KnownTable<Entry> (&tables)[kCount]) {
  return *std::ranges::max_element(tables, {},
                                   [header](const auto& table) { return shared_columns(header, *table.format); });
}

// Reads a table in the nearest of the wanted formats, unless it is nearer to one of the others.
template <class Entry, class Other, std::size_t kCount, std::size_t kOtherCount>
Result<std::vector<Entry>> read_nearest(std::string_view file_name, std::string_view text, std::string_view wanted,
                                        const KnownTable<Entry> (&tables)[kCount],
                                        const KnownTable<Other> (&others)[kOtherCount]) {
  Complaints complaints;
  const CsvReader csv(file_name, text, complaints);
  if (!complaints.empty()) return complaints;
  const KnownTable<Entry>& nearest = nearest_table(csv.header(), tables);
  const KnownTable<Other>& other = nearest_table(csv.header(), others);
  const auto shared = shared_columns(csv.header(), *nearest.format);
  if (shared_columns(csv.header(), *other.format) > shared) {
    complaints.add(csv.place(csv.header().front()), "this is " + std::string(other.format->is) +
                                                        "; write the name of a " + std::string(wanted) + " list here");
    return complaints;
  }
  if (shared > 0) return nearest.read(file_name, text);
  std::string known;
  for (const KnownTable<Entry>& table : tables) {
    known += (known.empty() ? "" : "; ") + std::string(table.format->is) + " needs " +
             listed(table.format->columns.first(table.format->required));
  }
  complaints.add(csv.place(csv.header().front()),
                 "no column of a " + std::string(wanted) + " list is in the header; " + known);
  return complaints;
}

}  // namespace

Result<std::vector<TraceNode>> read_nodes(std::string_view file_name, std::string_view text) {
  const std::string_view content = without_byte_order_mark(text);
  if (looks_like_json(content)) return read_own_json_nodes(file_name, text);
  if (looks_like_swf(content)) {
    return Complaints({std::string(file_name), 1, 1},
                      "a Standard Workload Format file lists no machines; write them in a file of their own "
                      "(name,cpu,memory,gpus,gpu_model)");
  }
  return read_nearest(file_name, text, "node", kNodeTables, kJobTables);
}

Result<std::vector<TraceJob>> read_jobs(std::string_view file_name, std::string_view text) {
  const std::string_view content = without_byte_order_mark(text);
  if (looks_like_json(content)) return read_own_json_jobs(file_name, text);
  if (looks_like_swf(content)) {
    auto swf = read_swf(file_name, text);
    if (!swf) return std::move(swf).error();
    return std::move(swf->jobs);
  }
  return read_nearest(file_name, text, "job", kJobTables, kNodeTables);
}

std::int64_t swf_jobs_left_out(std::string_view file_name, std::string_view text) {
  const std::string_view content = without_byte_order_mark(text);
  if (looks_like_json(content) || !looks_like_swf(content)) return 0;
  const auto swf = read_swf(file_name, text);
  return swf ? swf->left_out : 0;
}

}  // namespace berth
