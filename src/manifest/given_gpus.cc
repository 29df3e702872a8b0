#include "manifest/given_gpus.h"

#include <algorithm>
#include <limits>

#include "manifest/gpu_part.h"
#include "model/gpu.h"
#include "model/quantity.h"

namespace berth {
namespace {

Parsed<std::int64_t> parse_device(std::string_view text) { return parse_integer(text, 0, kGpusPerNodeMax - 1); }

std::optional<GivenGpus> parse_slice(std::string_view text) {
  const std::size_t colon = text.find(':'), at = text.find('@');
  if (at == std::string_view::npos || at <= colon + 1) return std::nullopt;
  const auto device = parse_device(text.substr(0, colon));
  const auto start = parse_integer(text.substr(at + 1), 0, std::numeric_limits<std::uint8_t>::max());
  if (!device || !start) return std::nullopt;
  GivenGpus given{.profile = std::string(text.substr(colon + 1, at - colon - 1)),
                  .slice_start = static_cast<std::uint8_t>(*start)};
  given.gpus.add(static_cast<int>(*device));
  return given;
}

std::optional<GivenGpus> parse_given_part(std::string_view text) {
  const std::size_t colon = text.find(':');
  const auto device = parse_device(text.substr(0, colon));
  const auto milli = parse_part(text.substr(colon + 1));
  if (!device || !milli) return std::nullopt;
  GivenGpus given{.milli = *milli};
  given.gpus.add(static_cast<int>(*device));
  return given;
}

}  // namespace

std::optional<GivenGpus> parse_given_gpus(std::string_view text) {
  if (text.find('@') != std::string_view::npos) return parse_slice(text);
  if (text.find(':') != std::string_view::npos) return parse_given_part(text);
  GivenGpus given;
  while (!text.empty()) {
    const std::size_t comma = std::min(text.find(','), text.size());
    const auto device = parse_device(text.substr(0, comma));
    if (!device || given.gpus.contains(static_cast<int>(*device)) || comma + 1 == text.size()) return std::nullopt;
    given.gpus.add(static_cast<int>(*device));
    text.remove_prefix(std::min(comma + 1, text.size()));
  }
  return given;
}

std::string format_given_gpus(const GivenGpus& given) {
  std::string text;
  given.gpus.for_each([&](int gpu) { text += (text.empty() ? "" : ",") + std::to_string(gpu); });
  if (given.milli > 0) return text + ":" + decimal_of_milli(given.milli);
  return given.profile.empty() ? text : text + ":" + given.profile + "@" + std::to_string(given.slice_start);
}

}  // namespace berth
