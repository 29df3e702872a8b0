// The Standard Workload Format, version 2.2: a job per line in 18 numbers, -1 where something is not known; comments and
// a header in lines that begin with ';'.
#include <algorithm>
#include <array>

#include "base/wording.h"
#include "model/gpu.h"
#include "model/quantity.h"
#include "sim/field_parser.h"
#include "sim/readers.h"

namespace berth {

namespace {

constexpr std::size_t kSwfFields = 18;
enum SwfField {
  kSwfJobNumber = 0,
  kSwfSubmit = 1,
  kSwfRun = 3,
  kSwfAllocated = 4,
  kSwfRequested = 7,
  kSwfStatus = 10,
  kSwfUser = 11,
  kSwfQueue = 14
};
enum SwfStatus { kFailed = 0, kPartial = 2, kLastPartial = 4, kCancelled = 5 };

bool is_swf_blank(char c) { return c == ' ' || c == '\t' || c == '\r'; }

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && is_swf_blank(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_swf_blank(text.back())) text.remove_suffix(1);
  return text;
}

// The text in lines, without line ends.
class Lines {
 public:
  explicit Lines(std::string_view text) : rest_(text) {}

  bool next() {
    if (rest_.empty()) return false;
    const std::size_t end = rest_.find('\n');
    cut_ = end == std::string_view::npos;
    line_ = rest_.substr(0, end);
    rest_.remove_prefix(cut_ ? rest_.size() : end + 1);
    ++number_;
    return true;
  }

  std::string_view line() const { return line_; }
  std::int64_t number() const { return number_; }
  bool cut() const { return cut_; }

 private:
  std::string_view rest_;
  std::string_view line_;
  std::int64_t number_ = 0;
  bool cut_ = false;
};

// The numbers of a line, and how many there are: all are counted, the first 18 are kept.
struct SwfLine {
  std::array<CsvField, kSwfFields> fields;
  std::size_t count = 0;
};

SwfLine split(std::string_view line, std::int64_t number) {
  SwfLine split;
  for (std::size_t at = 0; at < line.size();) {
    if (is_swf_blank(line[at])) {
      ++at;
      continue;
    }
    std::size_t end = at;
    while (end < line.size() && !is_swf_blank(line[end])) ++end;
    if (split.count < kSwfFields)
      split.fields[split.count] = {line.substr(at, end - at), number, static_cast<std::int64_t>(at) + 1};
    ++split.count;
    at = end;
  }
  return split;
}

bool is_number(std::string_view text) {
  if (text.starts_with('-')) text.remove_prefix(1);
  return !text.empty() && std::ranges::count(text, '.') <= 1 && text.front() != '.' &&
         text.find_first_not_of("0123456789.") == std::string_view::npos;
}

// PRE: is_number(text).
bool is_positive(std::string_view text) {
  return text[0] != '-' && text.find_first_not_of("0.") != std::string_view::npos;
}

std::string numbered(std::string_view what, std::int64_t number) {
  return number < 0 ? "" : std::string(what) + "-" + std::to_string(number);
}

// The job of a line that has its 18 fields; nothing if it never ran or is a part of another.
std::optional<TraceJob> read_swf_job(std::span<const CsvField> fields, FieldParser& parser) {
  constexpr std::int64_t kNumberMax = 1'000'000'000'000;
  for (const CsvField& field : fields) {
    if (is_number(field.text)) continue;
    parser.complain(field, "field " + std::to_string(&field - fields.data() + 1),
                    quote(field.text) + " is not a number; write -1 if it is not known");
    return std::nullopt;
  }
  const std::int64_t status = parser.whole(fields[kSwfStatus], "status", -1, kCancelled, "a status");
  if (status >= kPartial && status <= kLastPartial) return std::nullopt;

  const std::size_t complaints_before = parser.complaint_count();
  const std::int64_t requested =
      parser.whole(fields[kSwfRequested], "requested processors", -1, kJobGpusMax, "a number of processors");
  const std::int64_t allocated =
      parser.whole(fields[kSwfAllocated], "allocated processors", -1, kJobGpusMax, "a number of processors");
  const std::int64_t processors = requested > 0 ? requested : allocated;
  const bool ran = is_positive(fields[kSwfRun].text) && processors > 0;
  if (!ran && (status == kCancelled || status == kFailed)) return std::nullopt;
  if (processors <= 0 && parser.complaint_count() == complaints_before) {
    parser.complain(fields[kSwfRequested], "requested processors",
                    "neither these nor the allocated ones are known; write how many the job had");
  }

  TraceJob job;
  // "007" and "7" are the same job.
  const std::string number =
      std::to_string(parser.whole(fields[kSwfJobNumber], "job number", 0, kNumberMax, "a number"));
  job.name =
      "job-" + parser.unique_name({number, fields[kSwfJobNumber].line, fields[kSwfJobNumber].column}, "job number");
  job.submit = Time{parser.seconds_ms(fields[kSwfSubmit], "submit time")};
  job.run = Duration{parser.seconds_ms(fields[kSwfRun], "run time")};
  job.gpus = static_cast<int>(processors);
  job.gpu_milli = kMilliPerGpu;
  job.user = numbered("user", parser.whole(fields[kSwfUser], "user", -1, kNumberMax, "a number"));
  job.queue = numbered("queue", parser.whole(fields[kSwfQueue], "queue", -1, kNumberMax, "a number"));
  return job;
}

}  // namespace

Result<SwfJobs> read_swf(std::string_view file_name, std::string_view text) {
  Complaints complaints;
  const std::string_view content = without_byte_order_mark(text);
  if (!complain_unless_text(file_name, content, complaints)) return complaints;
  FieldParser parser(file_name, complaints);
  SwfJobs swf;
  for (Lines lines(content); lines.next();) {
    const std::string_view line = trimmed(lines.line());
    if (line.empty()) continue;
    const bool is_comment = line.starts_with(';');
    const SwfLine numbers = split(lines.line(), lines.number());
    if (lines.cut() && (is_comment || numbers.count == kSwfFields)) {
      complaints.add({std::string(file_name), lines.number(), 0}, std::string(kNoLineEnd));
      continue;
    }
    if (is_comment) continue;
    if (!parser.count_row(numbers.fields[0])) break;
    if (numbers.count != kSwfFields) {
      complaints.add({std::string(file_name), lines.number(), 0},
                     std::string(lines.cut() && numbers.count < kSwfFields ? "the last line is cut: " : "") +
                         std::to_string(numbers.count) + " numbers; write 18, and -1 for those that are not known");
      continue;
    }
    std::optional<TraceJob> job = read_swf_job(numbers.fields, parser);
    if (!job) {
      ++swf.left_out;
    } else if (complaints.empty()) {
      swf.jobs.push_back(std::move(*job));
    }
  }
  if (complaints.empty() && swf.jobs.empty()) {
    complaints.add({std::string(file_name), 0, 0}, "no job in it ran (" + std::to_string(swf.left_out) +
                                                       " left out); write a line of 18 numbers for each job");
  }
  if (!complaints.empty()) return complaints;
  return swf;
}

std::optional<std::int64_t> swf_max_procs(std::string_view text) {
  for (Lines lines(without_byte_order_mark(text)); lines.next();) {
    std::string_view line = trimmed(lines.line());
    if (!line.starts_with(';')) continue;
    line = trimmed(line.substr(1));
    constexpr std::string_view kKey = "MaxProcs:";
    if (!line.starts_with(kKey)) continue;
    const auto processors = parse_integer(trimmed(line.substr(kKey.size())), 1, kTraceGpusMax);
    return processors ? std::optional(*processors) : std::nullopt;
  }
  return std::nullopt;
}

}  // namespace berth
