// Quantities as Kubernetes writes them back: "1024Mi" -> "1Gi", "0.5" -> "500m", and sums of them.
#pragma once

#include <string>
#include <string_view>

#include "model/quantity.h"

namespace berth {

// An exact amount with the format it was written in. Sums keep the format of the left side (resource.Quantity).
// Values are kept in nanos as 128 bits, as far as Kubernetes goes; what is larger is refused.
class Quantity {
 public:
  static Parsed<Quantity> parse(std::string_view text);
  std::string to_string() const;  // canonical

  Quantity& operator+=(const Quantity& other);
  Quantity& operator-=(const Quantity& other);
  bool is_negative() const { return nanos_ < 0; }
  bool is_zero() const { return nanos_ == 0; }
  friend bool operator==(const Quantity& a, const Quantity& b) { return a.nanos_ == b.nanos_; }
  friend auto operator<=>(const Quantity& a, const Quantity& b) { return a.nanos_ <=> b.nanos_; }

 private:
  enum class Format : unsigned char { kDecimal, kBinary, kExponent };
  __extension__ using Wide = __int128;
  Wide nanos_ = 0;
  Format format_ = Format::kDecimal;
};

}  // namespace berth
