// Kubernetes quantities ("100m", "1.5Gi", "1e3", "10P") as exact integers. The only place where such text becomes a
// number. Grammar and suffixes: Kubernetes' resource.Quantity (decimalSI, binarySI, decimalExponent).
#pragma once

#include <cstdint>
#include <expected>
#include <string>
#include <string_view>

namespace berth {

// Of a text that is no amount: what is wrong with it and what to write instead, without place or field name.
template <class T>
using Parsed = std::expected<T, std::string>;

// A whole number of thousandths: "2" -> 2000, "100m" -> 100, "0.0001" -> 1 (rounded away from zero, as Kubernetes does).
// Negative amounts are refused. What does not fit into 64 bits is an error, never 0 and never the largest.
Parsed<std::int64_t> parse_milli(std::string_view text);

// A whole number of bytes: "1.5Gi" -> 1610612736, "500m" -> 1 (rounded up). Otherwise as parse_milli.
Parsed<std::int64_t> parse_bytes(std::string_view text);

// A plain decimal integer in [low, high], nothing else: no sign but '-', no space, no suffix.
Parsed<std::int64_t> parse_integer(std::string_view text, std::int64_t low, std::int64_t high);

// "2h", "45m", "30s", "1d", "250ms", "1h30m" -> milliseconds. Negative lengths and bare numbers are refused.
Parsed<std::int64_t> parse_duration_ms(std::string_view text);

// "1d12h", "90s" -> "1m30s": the same as people write it, largest unit first. PRE: not negative.
std::string format_duration_ms(std::int64_t ms);

// The shortest text that parses back to the same: 1500 -> "1500m", 2000 -> "2"; 1610612736 -> "1536Mi".
std::string format_milli(std::int64_t milli);
std::string format_bytes(std::int64_t bytes);
// The same as people write it: 1500 -> "1.5", 2000 -> "2". PRE: not negative.
std::string decimal_of_milli(std::int64_t milli);

}  // namespace berth
