#include "cli/typed_changes.h"

#include <charconv>
#include <cstddef>
#include <system_error>
#include <utility>

namespace berth {
namespace {

std::vector<std::string> lines_in(std::string_view text) {
  std::vector<std::string> lines;
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    lines.emplace_back(text.substr(0, end));
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  }
  return lines;
}

// "17:" at the beginning of the text, which is taken away; false: it begins otherwise.
bool take_number(std::string_view& text, std::int64_t& number) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  const auto length = static_cast<std::size_t>(end - text.data());
  if (error != std::errc() || length == text.size() || text[length] != ':') return false;
  text.remove_prefix(length + 1);
  return true;
}

}  // namespace

void TypedChanges::add(const std::string& source, std::int64_t line, std::string text) {
  lines_.push_back(std::move(text));
  places_.push_back({source, line, 0});
}

void TypedChanges::add_typed(std::string_view change) {
  ++typed_;
  for (std::string& line : lines_in(change)) add("--change", typed_, std::move(line));
}

void TypedChanges::add_file(const std::string& path, std::string_view text) {
  std::int64_t number = 0;
  for (std::string& line : lines_in(text)) add(path, ++number, std::move(line));
}

std::string TypedChanges::text() const {
  std::string text;
  for (const std::string& line : lines_) text += line + "\n";
  return text;
}

Place TypedChanges::where(const Place& in_text) const {
  const bool is_line = in_text.line >= 1 && in_text.line <= std::ssize(places_);
  if (!is_line) return in_text;
  Place typed = places_[static_cast<std::size_t>(in_text.line - 1)];
  typed.column = in_text.column;
  return typed;
}

Complaints TypedChanges::where_typed(const Complaints& of_text) const {
  Complaints placed;
  for (const Complaint& each : of_text.kept()) placed.add(where(each.place), each.text);
  // More than are kept are counted.
  for (std::size_t i = of_text.kept().size(); i < of_text.count(); ++i) placed.add({}, "");
  return placed;
}

std::string TypedChanges::where_typed(std::string_view problem) const {
  constexpr std::string_view kSource = "change:";
  std::string placed;
  for (const std::string& line : lines_in(problem)) {
    std::string_view rest = line;
    Place place;
    const bool is_of_a_line = rest.starts_with(kSource);
    if (is_of_a_line) rest.remove_prefix(kSource.size());
    if (is_of_a_line && take_number(rest, place.line)) {
      take_number(rest, place.column);
      if (rest.starts_with(' ')) rest.remove_prefix(1);
      placed += Complaint{where(place), std::string(rest)}.to_string() + "\n";
    } else {
      placed += line + "\n";
    }
  }
  return placed;
}

}  // namespace berth
