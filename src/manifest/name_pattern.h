// Patterns for names of nodes, as Volcano's HyperNodes have them: Go's regular expressions, by the library that they come from (RE2),
// which takes time in proportion to the name, whoever wrote the pattern.
#pragma once

#include <memory>
#include <string_view>

#include "model/quantity.h"

namespace re2 {
class RE2;
}

namespace berth {

class NamePattern {
 public:
  // Refuses what is empty, longer than 512 characters, no regular expression, or large when it is written out.
  static Parsed<NamePattern> parse(std::string_view text);
  // As in Volcano, whether any part of the name does.
  bool matches(std::string_view name) const;

 private:
  explicit NamePattern(std::shared_ptr<const re2::RE2> compiled) : compiled_(std::move(compiled)) {}

  std::shared_ptr<const re2::RE2> compiled_;
};

}  // namespace berth
