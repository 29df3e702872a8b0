// JSON to values and back (RFC 8259). Refuses what people get wrong in silence: a key given twice, more than one
// document, invalid UTF-8, nesting beyond the limit.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "manifest/value.h"

namespace berth {

struct JsonLimits {
  int depth_max = 200;
  std::size_t values_max = 2'000'000;
};

// Complaints carry line and column of `text`, and the path of the field where that helps.
Result<Value> parse_json(std::string_view text, JsonLimits limits = {});

// The same without complaint about keys given twice (the last one stays): the paths of the first hundred
// ("metadata.labels.a") are appended to `duplicates`, for servers that only warn.
Result<Value> parse_json_noting_duplicates(std::string_view text, JsonLimits limits,
                                           std::vector<std::string>& duplicates);

// One line, no spaces, members in their order.
void append_json(const Value& value, std::string& out);
void append_json_text(std::string_view text, std::string& out);  // quoted and escaped
std::string to_json(const Value& value);
// Indented by two spaces, as `kubectl -o json` prints.
std::string to_pretty_json(const Value& value, int indent = 2);

}  // namespace berth
