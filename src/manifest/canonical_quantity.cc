#include "manifest/canonical_quantity.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <limits>
#include <optional>
#include <utility>

#include "base/wide.h"
#include "base/wording.h"

namespace berth {

namespace {

constexpr std::size_t kTextMax = 64;  // as in model/quantity.cc: no honest amount is longer
constexpr int kExponentMax = 1000;    // beyond it 64 digits cannot bring a number back into range
constexpr int kNanoDigits = 9;
constexpr std::int64_t kNanosPerOne = 1'000'000'000;
constexpr UnsignedWide kNanosMax = UnsignedWide{std::numeric_limits<std::int64_t>::max()} * kNanosPerOne;

struct Suffix {
  std::string_view text;
  int decimal;
  int binary;
};

constexpr Suffix kSuffixes[] = {
    {"n", -9, 0},  {"u", -6, 0},  {"m", -3, 0},  {"", 0, 0},    {"k", 3, 0},   {"M", 6, 0},
    {"G", 9, 0},   {"T", 12, 0},  {"P", 15, 0},  {"E", 18, 0},  {"Ki", 0, 10}, {"Mi", 0, 20},
    {"Gi", 0, 30}, {"Ti", 0, 40}, {"Pi", 0, 50}, {"Ei", 0, 60},
};
constexpr std::size_t kDecimalSuffixes = 10;

bool is_digit(char c) { return c >= '0' && c <= '9'; }

// 0.DIGITS x 10^point, without leading zeros: without digits it is zero.
struct Decimal {
  std::string digits;
  int point = 0;
};

// Takes the number in front of the suffix off the text; nothing if there is none.
std::optional<Decimal> take_number(std::string_view& text) {
  Decimal number;
  bool digit_seen = false;
  bool point_seen = false;
  for (; !text.empty() && (is_digit(text[0]) || (text[0] == '.' && !point_seen)); text.remove_prefix(1)) {
    if (text[0] == '.') {
      point_seen = true;
      continue;
    }
    digit_seen = true;
    const bool leading_zero = text[0] == '0' && number.digits.empty();
    if (!leading_zero) number.digits += text[0];
    if (!point_seen && !leading_zero) ++number.point;
    if (point_seen && leading_zero) --number.point;
  }
  if (!digit_seen) return std::nullopt;
  return number;
}

// "e3", "E-6", "e+0"; nothing if it is no exponent.
std::optional<int> read_exponent(std::string_view text) {
  if (!text.starts_with('e') && !text.starts_with('E')) return std::nullopt;
  text.remove_prefix(1);
  const bool negative = text.starts_with('-');
  if (negative || text.starts_with('+')) text.remove_prefix(1);
  if (text.empty() || !std::ranges::all_of(text, is_digit)) return std::nullopt;
  int exponent = 0;
  for (const char c : text) exponent = std::min(exponent * 10 + (c - '0'), kExponentMax);
  return negative ? -exponent : exponent;
}

// The number times 2^binary in whole nanos, what is finer rounded up; nothing if that is too large. The whole part and
// the fraction are multiplied apart, so that nothing is rounded on the way.
std::optional<UnsignedWide> to_nanos(const Decimal& number, unsigned binary) {
  if (number.digits.empty()) return 0;
  const int point = number.point + kNanoDigits;
  // More digits than the largest amount has (28), or so few that any suffix leaves it far below one nano.
  if (point > 28) return std::nullopt;
  if (point < -static_cast<int>(kTextMax)) return 1;
  const auto digit_at = [&](int i) -> unsigned {
    const bool there = i >= 0 && std::cmp_less(i, number.digits.size());
    return there ? static_cast<unsigned>(number.digits[static_cast<std::size_t>(i)] - '0') : 0U;
  };
  UnsignedWide whole = 0;
  for (int i = 0; i < point; ++i) whole = whole * 10 + digit_at(i);
  if (whole > kNanosMax >> binary) return std::nullopt;
  whole <<= binary;
  UnsignedWide carry = 0;
  bool finer = false;
  for (int i = static_cast<int>(number.digits.size()) - 1; i >= point; --i) {
    carry += UnsignedWide{digit_at(i)} << binary;
    finer = finer || carry % 10 != 0;
    carry /= 10;
  }
  whole += carry + (finer ? 1U : 0U);
  if (whole > kNanosMax) return std::nullopt;
  return whole;
}

std::string to_digits(UnsignedWide value) {
  std::string digits;
  do {
    digits += static_cast<char>('0' + static_cast<int>(value % 10));
    value /= 10;
  } while (value != 0);
  std::ranges::reverse(digits);
  return digits;
}

// The index of the largest suffix, from `first` to before `last`, that leaves the magnitude whole; divides it so.
std::size_t take_powers(UnsignedWide& magnitude, unsigned step, std::size_t first, std::size_t last) {
  while (first + 1 < last && magnitude % step == 0) {
    magnitude /= step;
    ++first;
  }
  return first;
}

}  // namespace

Parsed<Quantity> Quantity::parse(std::string_view text) {
  if (text.size() > kTextMax) {
    return std::unexpected(quote(text) + " is too long for a quantity; write at most " + std::to_string(kTextMax) +
                           " characters");
  }
  std::string_view rest = text;
  const bool negative = rest.starts_with('-');
  if (negative || rest.starts_with('+')) rest.remove_prefix(1);
  std::optional<Decimal> number = take_number(rest);
  const Suffix* const suffix = std::ranges::find(kSuffixes, rest, &Suffix::text);
  const bool known = suffix != std::end(kSuffixes);
  const std::optional<int> exponent = read_exponent(rest);
  if (!number || (!known && !exponent)) {
    return std::unexpected(quote(text) + " is not a quantity; write an amount such as 500m, 2 or 1.5Gi");
  }
  number->point += known ? suffix->decimal : *exponent;
  const auto binary = static_cast<unsigned>(known ? suffix->binary : 0);
  const std::optional<UnsignedWide> magnitude = to_nanos(*number, binary);
  if (!magnitude) {
    return std::unexpected(quote(text) + " is too large for a quantity; the largest is 9223372036854775807");
  }
  Quantity quantity;
  quantity.nanos_ = static_cast<Wide>(*magnitude);
  if (negative) quantity.nanos_ = -quantity.nanos_;
  // Kubernetes takes parts of one byte for decimal amounts.
  const bool below_one = quantity.nanos_ > 0 && quantity.nanos_ < kNanosPerOne;
  if (!known) {
    quantity.format_ = Format::kExponent;
  } else if (binary > 0 && !below_one) {
    quantity.format_ = Format::kBinary;
  }
  return quantity;
}

std::string Quantity::to_string() const {
  if (nanos_ == 0) return "0";
  const std::string sign = nanos_ < 0 ? "-" : "";
  UnsignedWide magnitude = nanos_ < 0 ? -static_cast<UnsignedWide>(nanos_) : static_cast<UnsignedWide>(nanos_);
  constexpr UnsignedWide kKibi = UnsignedWide{1024} * kNanosPerOne;
  // Below 1024 and between whole bytes binary suffixes would hide digits: decimal ones are exact.
  if (format_ == Format::kBinary && magnitude >= kKibi && magnitude % kNanosPerOne == 0) {
    magnitude /= kNanosPerOne;
    // One step before the first binary suffix stands for none.
    const std::size_t at = take_powers(magnitude, 1024, kDecimalSuffixes - 1, std::size(kSuffixes));
    return sign + to_digits(magnitude) + std::string(at < kDecimalSuffixes ? "" : kSuffixes[at].text);
  }
  const Suffix& suffix = kSuffixes[take_powers(magnitude, 1000, 0, kDecimalSuffixes)];
  if (format_ != Format::kExponent) return sign + to_digits(magnitude) + std::string(suffix.text);
  return sign + to_digits(magnitude) + (suffix.decimal == 0 ? "" : "e" + std::to_string(suffix.decimal));
}

Quantity& Quantity::operator+=(const Quantity& other) {
  // Nothing has no format of its own.
  if (nanos_ == 0) format_ = other.format_;
  nanos_ += other.nanos_;
  return *this;
}

Quantity& Quantity::operator-=(const Quantity& other) {
  if (nanos_ == 0) format_ = other.format_;
  nanos_ -= other.nanos_;
  return *this;
}

}  // namespace berth
