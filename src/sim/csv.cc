#include "sim/csv.h"

#include <algorithm>

#include "base/wording.h"

namespace berth {

namespace {

constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";
// Wider than any table that is read; a file without line ends must not become a row of a billion fields.
constexpr std::size_t kFieldsMax = 1000;

bool is_blank(char c) { return c == ' ' || c == '\t'; }

std::string count_of(std::size_t count, std::string_view noun) {
  return std::to_string(count) + " " + std::string(noun) + (count == 1 ? "" : "s");
}

}  // namespace

std::string_view without_byte_order_mark(std::string_view text) {
  if (text.starts_with(kByteOrderMark)) text.remove_prefix(kByteOrderMark.size());
  return text;
}

bool complain_unless_text(std::string_view file_name, std::string_view text, Complaints& complaints) {
  std::int64_t line = 1;
  std::size_t line_start = 0;
  for (std::size_t at = 0; at < text.size();) {
    const char c = text[at];
    const bool stray_return = c == '\r' && !text.substr(at + 1).starts_with('\n');
    const bool control = (c >= 0 && c < ' ' && c != '\t' && c != '\n' && c != '\r') || c == 0x7f;
    const std::size_t length = c >= 0 ? 1 : utf8_character(text.substr(at));
    if (stray_return || control || length == 0) {
      const Place place{std::string(file_name), line, static_cast<std::int64_t>(at - line_start) + 1};
      complaints.add(place, stray_return ? "a carriage return without a line feed; end lines with \\n or \\r\\n"
                                         : "this is not text: byte " + quote(text.substr(at, 1)) +
                                               "; write the file as UTF-8 text");
      return false;
    }
    at += length;
    if (c == '\n') {
      ++line;
      line_start = at;
    }
  }
  return true;
}

CsvReader::CsvReader(std::string_view file_name, std::string_view text, Complaints& complaints)
    : file_name_(file_name), text_(without_byte_order_mark(text)), complaints_(complaints) {
  if (!complain_unless_text(file_name_, text_, complaints_)) {
    text_ = {};
    return;
  }
  const std::size_t complaints_before = complaints_.count();
  const Line first = read_line();
  if (first == Line::kEnd || (first == Line::kEmpty && text_.find_first_not_of(" \t\r\n") == std::string_view::npos)) {
    text_ = {};
    complain(0, 0, "the file is empty; write a header with the column names and a row for each entry");
    return;
  }
  if (first == Line::kEmpty) complain(1, 1, "the first line is empty; write the column names there");
  if (first == Line::kRow) {
    header_ = row_;
    header_unescaped_ = unescaped_.size();
    for (auto name = header_.begin(); name != header_.end(); ++name) {
      if (name->text.empty()) {
        complain(name->line, name->column, "a column without a name; name it, or take the comma away");
      } else if (std::ranges::find(header_.begin(), name, name->text, &CsvField::text) != name) {
        complain(name->line, name->column, "column " + quote(name->text) + " is there twice; keep one of them");
      }
    }
  }
  if (complaints_.count() > complaints_before) {
    header_.clear();
    text_ = {};
  }
}

bool CsvReader::next() {
  std::int64_t empty_line = 0;  // the first of those just passed
  while (true) {
    const Line line = read_line();
    if (line == Line::kEnd) {
      if (!header_.empty() && !row_seen_) {
        complain(line_, 0, "a header and no rows; write a row for each entry");
        row_seen_ = true;
      }
      return false;
    }
    if (line == Line::kEmpty) {
      if (empty_line == 0) empty_line = line_ - (cut_ ? 0 : 1);
      continue;
    }
    row_seen_ = true;
    if (empty_line > 0)
      complain(empty_line, 1, "an empty line between rows; take it away, or write the row that is missing");
    empty_line = 0;
    if (line == Line::kBroken) continue;
    if (row_.size() != header_.size()) {
      complain_about_field_count();
    } else if (cut_) {
      complain(line_, 0, std::string(kNoLineEnd));
    } else {
      return true;
    }
  }
}

void CsvReader::complain_about_field_count() {
  const std::string header_count = count_of(header_.size(), "column");
  if (row_.size() > header_.size()) {
    const CsvField& first_extra = row_[header_.size()];
    return complain(first_extra.line, first_extra.column,
                    count_of(row_.size(), "field") + " where the header has " + header_count +
                        "; quote fields that contain a comma, or take the rest away");
  }
  const CsvField& last = row_.back();
  complain(last.line, last.column,
           (cut_ ? "the last line is cut: " : "") + count_of(row_.size(), "field") + " where the header has " +
               header_count + "; the first missing one is " + quote(header_[row_.size()].text) +
               (cut_ ? "; was the file written to its end?" : "; write every field, empty ones too"));
}

CsvReader::Line CsvReader::read_line() {
  row_.clear();
  if (at_ >= text_.size()) return Line::kEnd;
  unescaped_.resize(header_unescaped_);
  const std::size_t content = text_.find_first_not_of(" \t", at_);
  if (content == std::string_view::npos || text_[content] == '\n' || text_[content] == '\r') {
    pass_rest_of_line();
    return Line::kEmpty;
  }
  do {
    if (row_.size() == kFieldsMax) {
      complain(line_, column(), "more than " + count_of(kFieldsMax, "field") + " in one row; is this a table?");
      pass_rest_of_line();
      return Line::kBroken;
    }
    if (!read_field()) return Line::kBroken;
  } while (at_ < text_.size() && text_[at_] == ',' && ++at_ > 0);
  pass_line_end();
  return Line::kRow;
}

bool CsvReader::read_field() {
  while (at_ < text_.size() && is_blank(text_[at_])) ++at_;
  if (at_ < text_.size() && text_[at_] == '"') return read_quoted();
  const std::size_t end = std::min(text_.find_first_of(",\r\n\"", at_), text_.size());
  if (end < text_.size() && text_[end] == '"') {
    at_ = end;
    complain(line_, column(), "a quote inside a field without quotes; write \"like \"\"this\"\"\"");
    pass_rest_of_line();
    return false;
  }
  std::string_view text = text_.substr(at_, end - at_);
  while (!text.empty() && is_blank(text.back())) text.remove_suffix(1);
  row_.push_back({text, line_, column()});
  at_ = end;
  return true;
}

bool CsvReader::read_quoted() {
  CsvField field{{}, line_, column()};
  const std::size_t start = at_ + 1;
  bool doubled = false;
  for (at_ = start;; ++at_) {
    if (at_ >= text_.size()) {
      complain(field.line, field.column,
               "a quote is opened here and never closed; close it, or double the quotes inside a field");
      return false;
    }
    if (text_[at_] == '\n') {
      ++line_;
      line_start_ = at_ + 1;
    }
    if (text_[at_] != '"') continue;
    if (!text_.substr(at_ + 1).starts_with('"')) break;
    doubled = true;
    ++at_;
  }
  field.text = text_.substr(start, at_ - start);
  if (doubled) {
    std::string& unescaped = unescaped_.emplace_back();
    for (std::size_t i = 0; i < field.text.size(); ++i) {
      unescaped += field.text[i];
      if (field.text[i] == '"') ++i;
    }
    field.text = unescaped;
  }
  ++at_;
  while (at_ < text_.size() && is_blank(text_[at_])) ++at_;
  if (at_ < text_.size() && text_[at_] != ',' && text_[at_] != '\r' && text_[at_] != '\n') {
    complain(line_, column(),
             "text after the closing quote of a field; write a comma there, or double the quotes inside the field");
    pass_rest_of_line();
    return false;
  }
  row_.push_back(field);
  return true;
}

// A carriage return comes only before a line feed: the text was checked for that.
void CsvReader::pass_line_end() {
  cut_ = at_ >= text_.size();
  if (cut_) return;
  at_ = text_.find('\n', at_) + 1;
  line_start_ = at_;
  ++line_;
}

void CsvReader::pass_rest_of_line() {
  at_ = std::min(text_.find('\n', at_), text_.size());
  pass_line_end();
}

void CsvReader::complain(std::int64_t line, std::int64_t column, std::string text) {
  complaints_.add({file_name_, line, column}, std::move(text));
}

}  // namespace berth
