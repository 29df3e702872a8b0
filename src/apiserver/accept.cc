#include "apiserver/accept.h"

#include <algorithm>
#include <cstddef>
#include <tuple>

#include "manifest/json.h"
#include "manifest/yaml.h"
#include "web_server/header_text.h"

namespace berth {
namespace {

// More than any client sends; the rest of a longer header is not looked at.
constexpr std::size_t kRangesMax = 32;

// "1", "0.5", ".25" in thousandths; what is none counts as 1, as if it had not been given.
int quality_of(std::string_view text) {
  int thousandths = 0;
  int digit_worth = 1000;
  bool fraction = false;
  for (const char c : text) {
    if (c == '.' && !fraction) {
      fraction = true;
      digit_worth = 100;
    } else if (c >= '0' && c <= '9') {
      thousandths += (c - '0') * digit_worth;
      if (fraction) digit_worth /= 10;
      if (thousandths >= 1000) return 1000;
    } else {
      return 1000;
    }
  }
  return text.empty() ? 1000 : thousandths;
}

MediaRange range_of(std::string_view text) {
  MediaRange range;
  range.type = take_word(text, ';');
  while (!text.empty()) {
    const std::string_view parameter = take_word(text, ';');
    const auto given = [parameter](std::string_view name) { return parameter.starts_with(name); };
    if (given("as=")) range.as = parameter.substr(3);
    if (given("v=")) range.version = parameter.substr(2);
    if (given("g=")) range.group = parameter.substr(2);
    if (given("q=")) range.quality = quality_of(parameter.substr(2));
  }
  return range;
}

int vagueness(const MediaRange& range) { return range.type == "*/*" ? 2 : range.type.ends_with("/*") ? 1 : 0; }

}  // namespace

std::vector<MediaRange> accepted_media(std::string_view accept) {
  std::vector<MediaRange> ranges;
  while (!accept.empty() && ranges.size() < kRangesMax) {
    const MediaRange range = range_of(take_word(accept, ','));
    if (!range.type.empty() && range.quality > 0) ranges.push_back(range);
  }
  std::ranges::stable_sort(ranges, {},
                           [](const MediaRange& range) { return std::tuple(-range.quality, vagueness(range)); });
  return ranges;
}

std::optional<Encoding> encoding_of(const MediaRange& range) {
  if (range.type == "application/json" || range.type == "*/*" || range.type == "application/*") return Encoding::kJson;
  if (range.type == "application/yaml") return Encoding::kYaml;
  return std::nullopt;
}

Encoding encoding_for(const HttpRequest& request) {
  for (const MediaRange& range : accepted_media(request.header("accept"))) {
    if (const auto encoding = encoding_of(range)) return *encoding;
  }
  return Encoding::kJson;
}

const char* content_type_of(Encoding encoding) {
  return encoding == Encoding::kYaml ? "application/yaml" : "application/json";
}

std::string encoded_text(const Value& value, Encoding encoding) {
  return encoding == Encoding::kYaml ? to_yaml(value) : to_json(value) + "\n";
}

}  // namespace berth
