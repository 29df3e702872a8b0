// Values of every kind from a seed, for property tests. Nothing that is shipped includes this.
#pragma once

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <string>
#include <string_view>

#include "base/rng.h"
#include "manifest/value.h"

namespace berth {

inline std::string arbitrary_text(Rng& rng) {
  // What readers and writers trip over, and ordinary letters.
  constexpr std::string_view kPieces[] = {
      "a", "Z", "0", "12", " ", "  ", "\n", "\t",   "\"",   "'",        "\\", ":",   "-", "#",  "[",    "}",
      ",", "&", "*", "!",  "|", ">",  "%",  "@",    "`",    "?",        "=",  "~",   ".", "e",  "null", "true",
      "y", "_", "/", "ä",  "€", "😀", "\r", "\x01", "\x7f", "\xc2\x85", "<<", "---", "+", "0x", "Gi",   "\xef\xbb\xbf"};
  std::string text;
  for (std::uint64_t left = rng.below(8); left > 0; --left) text += kPieces[rng.below(std::size(kPieces))];
  return text;
}

inline Value arbitrary_value(Rng& rng, int depth) {
  constexpr std::string_view kNumbers[] = {"0.5", "-1.25e-7", "1e3", "18446744073709551616", "-0.0", "9E99"};
  switch (rng.below(depth > 0 ? 8 : 5)) {
    case 0:
      return {};
    case 1:
      return rng.below(2) == 0;
    case 2:
      return static_cast<std::int64_t>(rng.next() >> rng.below(64));
    case 3:
      return Value::number(std::string(kNumbers[rng.below(std::size(kNumbers))]));
    case 4:
      return arbitrary_text(rng);
    case 5: {
      Value list = Value::list();
      for (std::uint64_t left = rng.below(5); left > 0; --left) list.push_back(arbitrary_value(rng, depth - 1));
      return list;
    }
    default: {
      Value map = Value::map();
      for (std::uint64_t left = rng.below(25); left > 0; --left) {
        const std::string key = arbitrary_text(rng);
        map.set(key, arbitrary_value(rng, depth - 2));
      }
      return map;
    }
  }
}

inline Value arbitrary_value(Seed seed) {
  Rng rng(seed);
  return arbitrary_value(rng, 6);
}

}  // namespace berth
