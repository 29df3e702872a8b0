#include "manifest/yaml_scalar.h"

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <system_error>

namespace berth {

namespace {

constexpr std::string_view kNulls[] = {"", "~", "null", "Null", "NULL"};
constexpr std::string_view kTrue[] = {"y", "Y", "yes", "Yes", "YES", "true", "True", "TRUE", "on", "On", "ON"};
constexpr std::string_view kFalse[] = {"n", "N", "no", "No", "NO", "false", "False", "FALSE", "off", "Off", "OFF"};
constexpr std::string_view kNoNumbers[] = {".inf",  ".Inf",  ".INF",  "+.inf", "+.Inf", "+.INF",
                                           "-.inf", "-.Inf", "-.INF", ".nan",  ".NaN",  ".NAN"};

bool is_one_of(std::span<const std::string_view> words, std::string_view text) {
  return std::ranges::find(words, text) != words.end();
}

bool is_scalar_digit(char c) { return c >= '0' && c <= '9'; }

std::string_view without_sign(std::string_view text) {
  if (text.starts_with('+') || text.starts_with('-')) text.remove_prefix(1);
  return text;
}

// "12", "0x1f", "0o17", "017", "0b101": a whole number of 64 bits with its sign.
std::optional<std::int64_t> read_integer(std::string_view text) {
  const std::string_view digits = without_sign(text);
  int base = 10;
  std::size_t prefix = 0;
  if (digits.size() > 1 && digits[0] == '0') {
    const char mark = digits[1];
    base = mark == 'x' || mark == 'X' ? 16 : mark == 'b' || mark == 'B' ? 2 : 8;
    prefix = mark == 'x' || mark == 'X' || mark == 'b' || mark == 'B' || mark == 'o' || mark == 'O' ? 2 : 1;
  }
  const std::string_view after_prefix = digits.substr(prefix);
  if (after_prefix.empty() || after_prefix[0] == '-') return std::nullopt;
  const std::string signed_digits = (text.starts_with('-') ? "-" : "") + std::string(after_prefix);
  std::int64_t value = 0;
  const char* const end = signed_digits.data() + signed_digits.size();
  const auto read = std::from_chars(signed_digits.data(), end, value, base);
  if (read.ec != std::errc() || read.ptr != end) return std::nullopt;
  return value;
}

// A decimal number as JSON writes it ("+.5" -> "0.5", "5." -> "5", "007.5" -> "7.5"), the rest as it was.
std::optional<std::string> read_decimal(std::string_view text) {
  const std::string_view digits = without_sign(text);
  std::size_t at = 0;
  const auto skip_digits = [&] {
    const std::size_t start = at;
    while (at < digits.size() && is_scalar_digit(digits[at])) ++at;
    return digits.substr(start, at - start);
  };
  std::string_view whole = skip_digits();
  std::string_view fraction;
  if (at < digits.size() && digits[at] == '.') {
    ++at;
    fraction = skip_digits();
  }
  if (whole.empty() && fraction.empty()) return std::nullopt;
  const std::string_view exponent = digits.substr(at);
  if (!exponent.empty()) {
    if (exponent[0] != 'e' && exponent[0] != 'E') return std::nullopt;
    const std::string_view power = without_sign(exponent.substr(1));
    if (power.empty() || !std::ranges::all_of(power, is_scalar_digit)) return std::nullopt;
  }
  whole.remove_prefix(std::min(whole.find_first_not_of('0'), whole.size()));
  std::string out = text.starts_with('-') ? "-" : "";
  out += whole.empty() ? "0" : whole;
  if (!fraction.empty()) out.append(".").append(fraction);
  return out.append(exponent);
}

}  // namespace

Value read_plain_scalar(std::string_view text) {
  if (is_one_of(kNulls, text)) return {};
  if (is_one_of(kTrue, text)) return true;
  if (is_one_of(kFalse, text)) return false;
  const char first = text[0];
  if (!is_scalar_digit(first) && first != '+' && first != '-' && first != '.') return text;
  std::string number(text);
  if (first != '.') std::erase(number, '_');
  if (const std::optional<std::int64_t> integer = read_integer(number)) return *integer;
  const std::optional<std::string> decimal = read_decimal(number);
  if (!decimal) return text;
  // "089" and "7." are whole numbers too.
  std::int64_t integer = 0;
  const char* const end = decimal->data() + decimal->size();
  const auto read = std::from_chars(decimal->data(), end, integer);
  return read.ec == std::errc() && read.ptr == end ? Value(integer) : Value::number(*decimal);
}

bool is_infinity_or_nan(std::string_view text) { return is_one_of(kNoNumbers, text); }

}  // namespace berth
