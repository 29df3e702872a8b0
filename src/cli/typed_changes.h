// The changes of a what-if as they were typed, and where each line of them stands.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace berth {

class TypedChanges {
 public:
  // Of --change; complaints call the second that was typed --change:2.
  void add_typed(std::string_view change);
  void add_file(const std::string& path, std::string_view text);

  const std::vector<std::string>& lines() const { return lines_; }
  // One below the other.
  std::string text() const;

  // What is said of lines of that text, said of where they were typed.
  Complaints where_typed(const Complaints& of_text) const;
  // The same of what a scheduler says of the lines that it was sent: "change:2:1: ..." each.
  std::string where_typed(std::string_view problem) const;

 private:
  void add(const std::string& source, std::int64_t line, std::string text);
  Place where(const Place& in_text) const;

  std::vector<std::string> lines_;
  std::vector<Place> places_;  // of each
  std::int64_t typed_ = 0;     // so many were
};

}  // namespace berth
