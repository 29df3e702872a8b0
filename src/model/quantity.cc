#include "model/quantity.h"

#include <algorithm>
#include <array>
#include <limits>
#include <optional>
#include <span>

#include "base/wide.h"
#include "base/wording.h"

namespace berth {

namespace {

// No honest amount is longer; the bound keeps every step below small and its time constant.
constexpr std::size_t kTextMax = 64;
// Where exponents stop to matter: 64 digits and a suffix cannot bring such a number back into 64 bits.
constexpr int kExponentMax = 1000;
constexpr std::int64_t kLargest = std::numeric_limits<std::int64_t>::max();
constexpr int kLargestDigits = std::numeric_limits<std::int64_t>::digits10 + 1;

enum class Unit { kMilli, kBytes };

// 0.d1d2d3... x 10^point x 2^binary, d1 not zero: without digits it is zero.
struct Decimal {
  std::array<std::uint8_t, kTextMax> digits{};
  int count = 0;
  int point = 0;
  int binary = 0;
  bool negative = false;
};

struct Suffix {
  std::string_view text;
  int decimal;
  int binary;
};

constexpr Suffix kSuffixes[] = {
    {"", 0, 0},    {"n", -9, 0},  {"u", -6, 0},  {"m", -3, 0},  {"k", 3, 0},   {"M", 6, 0},
    {"G", 9, 0},   {"T", 12, 0},  {"P", 15, 0},  {"E", 18, 0},  {"Ki", 0, 10}, {"Mi", 0, 20},
    {"Gi", 0, 30}, {"Ti", 0, 40}, {"Pi", 0, 50}, {"Ei", 0, 60},
};

bool is_digit(char c) { return c >= '0' && c <= '9'; }

std::size_t digits_at_start(std::string_view text) {
  return static_cast<std::size_t>(std::ranges::find_if_not(text, is_digit) - text.begin());
}

// "e3", "E-6", "e+0": 10^3, ...; nothing if it is no exponent.
std::optional<int> parse_exponent(std::string_view text) {
  if (text.empty() || (text[0] != 'e' && text[0] != 'E')) return std::nullopt;
  text.remove_prefix(1);
  const bool negative = text.starts_with('-');
  if (negative || text.starts_with('+')) text.remove_prefix(1);
  if (text.empty() || digits_at_start(text) != text.size()) return std::nullopt;
  int exponent = 0;
  for (const char c : text) exponent = std::min(exponent * 10 + (c - '0'), kExponentMax);
  return negative ? -exponent : exponent;
}

// The number in front of the suffix, and how long it is (0: there is none).
std::size_t parse_number(std::string_view text, Decimal& number) {
  std::size_t at = 0;
  number.negative = text.starts_with('-');
  if (number.negative || text.starts_with('+')) ++at;
  bool digit_seen = false;
  bool point_seen = false;
  for (; at < text.size(); ++at) {
    const char c = text[at];
    if (c == '.' && !point_seen) {
      point_seen = true;
      continue;
    }
    if (!is_digit(c)) break;
    digit_seen = true;
    const bool leading_zero = c == '0' && number.count == 0;
    if (!leading_zero) number.digits[static_cast<std::size_t>(number.count++)] = static_cast<std::uint8_t>(c - '0');
    if (!point_seen && !leading_zero) ++number.point;
    if (point_seen && leading_zero) --number.point;
  }
  return digit_seen ? at : 0;
}

// The number rounded up to a whole one, if it fits. Whole part and fraction are multiplied by the power of two apart:
// the first in 128 bits (below 10^19 x 2^60), the second digit by digit, so that nothing is rounded on the way.
std::optional<std::int64_t> round_up(Decimal number) {
  if (number.count == 0) return 0;
  if (number.point > kLargestDigits) return std::nullopt;
  if (number.point < -static_cast<int>(kTextMax)) return 1;  // with the largest suffix still far below one
  UnsignedWide whole = 0;
  for (int i = 0; i < number.point; ++i) {
    whole = whole * 10 + (i < number.count ? number.digits[static_cast<std::size_t>(i)] : 0U);
  }
  whole <<= static_cast<unsigned>(number.binary);

  UnsignedWide carry = 0;
  bool fraction_left = false;
  for (int i = number.count - 1; i >= number.point; --i) {
    const unsigned digit = i >= 0 ? number.digits[static_cast<std::size_t>(i)] : 0U;
    carry += UnsignedWide{digit} << static_cast<unsigned>(number.binary);
    fraction_left = fraction_left || carry % 10 != 0;
    carry /= 10;
  }
  whole += carry + (fraction_left ? 1U : 0U);
  if (whole > static_cast<UnsignedWide>(kLargest)) return std::nullopt;
  return static_cast<std::int64_t>(whole);
}

std::string not_a_quantity(std::string_view text, std::string_view number, std::string_view suffix, Unit unit) {
  const std::string complaint = quote(text) + " is not a quantity; write ";
  // "64GB", "10K": the letter is right, the spelling is not.
  const auto upper = [](char c) { return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c; };
  const bool spelled_otherwise = !number.empty() && !suffix.empty() && suffix.size() <= 3 &&
                                 std::string_view("KMGTPE").contains(upper(suffix[0])) &&
                                 (suffix.size() == 1 || upper(suffix.back()) == 'B' || upper(suffix.back()) == 'I');
  if (spelled_otherwise && unit == Unit::kBytes) {
    const std::string letter(1, upper(suffix[0]));
    return complaint + std::string(number) + (letter == "K" ? "k" : letter) + " or " + std::string(number) + letter +
           "i";
  }
  return complaint + (unit == Unit::kMilli ? "1500m, 1.5 or 2" : "512Mi, 1.5Gi or 1000000");
}

Parsed<std::int64_t> parse_quantity(std::string_view text, Unit unit) {
  if (text.size() > kTextMax) {
    return std::unexpected(quote(text) + " is too long for a quantity; write at most " + std::to_string(kTextMax) +
                           " characters");
  }
  Decimal number;
  const std::size_t number_size = parse_number(text, number);
  const std::string_view suffix = text.substr(number_size);
  const auto* const known = std::ranges::find(kSuffixes, suffix, &Suffix::text);
  const std::optional<int> exponent = parse_exponent(suffix);
  if (number_size == 0 || (known == std::end(kSuffixes) && !exponent)) {
    return std::unexpected(not_a_quantity(text, text.substr(0, number_size), suffix, unit));
  }
  if (number.negative && number.count > 0) return std::unexpected(quote(text) + " is negative; write 0 or more");
  number.point += exponent ? *exponent : known->decimal;
  number.binary = exponent ? 0 : known->binary;
  if (unit == Unit::kMilli) number.point += 3;
  const std::optional<std::int64_t> amount = round_up(number);
  if (!amount) {
    return std::unexpected(quote(text) + " is too large; the largest is " + std::to_string(kLargest) +
                           (unit == Unit::kMilli ? "m" : ""));
  }
  return *amount;
}

// The magnitude as a whole number with the largest suffix of `step` and its powers.
std::string format_with(std::uint64_t magnitude, std::uint64_t step, std::span<const std::string_view> suffixes) {
  std::size_t at = 0;
  while (magnitude != 0 && at + 1 < suffixes.size() && magnitude % step == 0) {
    magnitude /= step;
    ++at;
  }
  return std::to_string(magnitude) + std::string(suffixes[at]);
}

constexpr std::string_view kFromMilli[] = {"m", "", "k", "M", "G", "T", "P", "E"};
constexpr std::string_view kBinary[] = {"", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei"};

// Of any number, also the lowest.
std::uint64_t magnitude_of(std::int64_t value) {
  return value < 0 ? ~static_cast<std::uint64_t>(value) + 1 : static_cast<std::uint64_t>(value);
}

struct LengthUnit {
  std::string_view text;
  std::int64_t ms;
};

// Longest first: "1h30m" goes down this list.
constexpr LengthUnit kLengthUnits[] = {{"d", 86'400'000}, {"h", 3'600'000}, {"m", 60'000}, {"s", 1000}, {"ms", 1}};

}  // namespace

Parsed<std::int64_t> parse_milli(std::string_view text) { return parse_quantity(text, Unit::kMilli); }

Parsed<std::int64_t> parse_bytes(std::string_view text) { return parse_quantity(text, Unit::kBytes); }

Parsed<std::int64_t> parse_integer(std::string_view text, std::int64_t low, std::int64_t high) {
  const auto complaint = [&](std::string_view what) {
    return std::unexpected(quote(text) + std::string(what) + "; write a whole number from " + std::to_string(low) +
                           " to " + std::to_string(high));
  };
  std::string_view digits = text;
  const bool negative = digits.starts_with('-');
  if (negative) digits.remove_prefix(1);
  if (digits.empty() || digits.size() > kTextMax || digits_at_start(digits) != digits.size()) {
    return complaint(" is not a whole number");
  }
  constexpr Wide kFar = Wide{kLargest} + 2;  // farther than any limit, on both sides
  Wide value = 0;
  for (const char c : digits) value = std::min(value * 10 + (c - '0'), kFar);
  if (negative) value = -value;
  if (value < low || value > high) return complaint(" is out of range");
  return static_cast<std::int64_t>(value);
}

Parsed<std::int64_t> parse_duration_ms(std::string_view text) {
  const auto complaint = [&](std::string_view what) { return std::unexpected(quote(text) + std::string(what)); };
  constexpr std::string_view kWrite = " is not a length of time; write 2h, 45m, 1h30m, 30s or 250ms";
  if (text.size() > kTextMax) return complaint(kWrite);
  if (text.starts_with('-')) return complaint(" is negative; write 0s or more");
  if (!text.empty() && digits_at_start(text) == text.size()) {
    return complaint(" has no unit; write " + std::string(text.substr(0, 20)) + "s for seconds, or ms, m, h, d");
  }
  Wide ms = 0;
  std::size_t next_unit = 0;
  std::string_view rest = text;
  do {
    const std::size_t count_size = digits_at_start(rest);
    std::string_view unit_text = rest.substr(count_size);
    unit_text =
        unit_text.substr(0, static_cast<std::size_t>(std::ranges::find_if(unit_text, is_digit) - unit_text.begin()));
    std::size_t unit = next_unit;
    while (unit < std::size(kLengthUnits) && kLengthUnits[unit].text != unit_text) ++unit;
    if (count_size == 0 || unit == std::size(kLengthUnits)) return complaint(kWrite);
    constexpr Wide kFar = Wide{kLargest} + 1;
    Wide count = 0;
    for (const char c : rest.substr(0, count_size)) count = std::min(count * 10 + (c - '0'), kFar);
    ms = std::min(ms + count * kLengthUnits[unit].ms, kFar);
    next_unit = unit + 1;
    rest.remove_prefix(count_size + unit_text.size());
  } while (!rest.empty());
  const std::optional<std::int64_t> length = narrow(ms);
  if (!length) return complaint(" is too long; the longest is " + std::to_string(kLargest) + "ms");
  return *length;
}

std::string format_duration_ms(std::int64_t ms) {
  std::string text;
  for (const auto& unit : kLengthUnits) {
    if (ms >= unit.ms) text += std::to_string(ms / unit.ms) + std::string(unit.text);
    ms %= unit.ms;
  }
  return text.empty() ? "0s" : text;
}

std::string format_milli(std::int64_t milli) {
  const std::string sign = milli < 0 ? "-" : "";
  return milli == 0 ? "0" : sign + format_with(magnitude_of(milli), 1000, kFromMilli);
}

std::string format_bytes(std::int64_t bytes) {
  const std::string sign = bytes < 0 ? "-" : "";
  const std::string binary = format_with(magnitude_of(bytes), 1024, kBinary);
  const std::string decimal = format_with(magnitude_of(bytes), 1000, std::span(kFromMilli).subspan(1));
  return sign + (decimal.size() < binary.size() ? decimal : binary);
}

std::string decimal_of_milli(std::int64_t milli) {
  std::string text = std::to_string(milli / 1000);
  if (milli % 1000 == 0) return text;
  text += "." + std::to_string(1000 + milli % 1000).substr(1);
  while (text.ends_with('0')) text.pop_back();
  return text;
}

}  // namespace berth
