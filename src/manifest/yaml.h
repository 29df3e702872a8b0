// YAML manifests to values and back (YAML 1.2 as kubectl reads it). Aliases are limited by what they expand to; tags
// other than the core ones are refused.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "manifest/value.h"

namespace berth {

struct YamlLimits {
  int depth_max = 200;
  std::size_t values_max = 2'000'000;  // after aliases were followed
};

// All documents, empty ones left out. JSON is YAML too. Complaints carry `file`, line and column.
Result<std::vector<Value>> parse_yaml(std::string_view text, const std::string& file = "", YamlLimits limits = {});

struct YamlDocument {
  Value value;
  // Where each field begins: "spec.containers[0].image". What an alias stands for has the line of the alias, and a
  // document that is JSON has no lines.
  std::map<std::string, std::int64_t, std::less<>> lines;
  std::int64_t line = 0;  // where the document begins; 0: not known

  // Of a field, or of what is around it.
  std::int64_t line_of(std::string_view field) const;
};

// The same, with the places of all fields.
Result<std::vector<YamlDocument>> parse_yaml_with_lines(std::string_view text, const std::string& file = "",
                                                        YamlLimits limits = {});

// One document as `kubectl -o yaml` prints it: block style, keys sorted, texts quoted where YAML would read something else.
std::string to_yaml(const Value& value);

}  // namespace berth
