#include "manifest/name_pattern.h"

#include <re2/re2.h>

#include <cstddef>
#include <cstdint>
#include <string>

namespace berth {
namespace {

constexpr std::size_t kCharactersMax = 512;
// Of a pattern that is written out, and of what is remembered while it is looked for.
constexpr std::int64_t kBytesMax = 256 << 10;

re2::StringPiece piece_of(std::string_view text) { return {text.data(), text.size()}; }

}  // namespace

Parsed<NamePattern> NamePattern::parse(std::string_view text) {
  if (text.empty()) return std::unexpected("it is empty; write a regular expression, such as ^node-[0-9]+$");
  if (text.size() > kCharactersMax) {
    return std::unexpected("it has more than 512 characters; select by labels, or by several members");
  }
  re2::RE2::Options options;
  options.set_log_errors(false);
  options.set_max_mem(kBytesMax);
  auto compiled = std::make_shared<const re2::RE2>(piece_of(text), options);
  if (!compiled->ok()) {
    return std::unexpected("it is no regular expression as Go has them: " + compiled->error());
  }
  return NamePattern(std::move(compiled));
}

bool NamePattern::matches(std::string_view name) const { return re2::RE2::PartialMatch(piece_of(name), *compiled_); }

}  // namespace berth
