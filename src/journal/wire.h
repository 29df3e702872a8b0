// Numbers and texts as they stand in a journal: numbers as LEB128, signed ones zigzag before that, so that small ones are short; a
// text behind its length. Each has one encoding, and what has another is refused.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>

#include "journal/codec.h"

namespace berth::wire {

class Writer {
 public:
  void operator()(std::uint64_t value) {
    for (; value >= 0x80; value >>= 7) bytes.push_back(static_cast<std::uint8_t>(value | 0x80));
    bytes.push_back(static_cast<std::uint8_t>(value));
  }
  void operator()(std::int64_t value) {
    (*this)((static_cast<std::uint64_t>(value) << 1) ^ static_cast<std::uint64_t>(value >> 63));
  }
  void operator()(std::int32_t value) { (*this)(std::int64_t{value}); }
  void operator()(std::uint32_t value) { (*this)(std::uint64_t{value}); }
  void operator()(std::uint8_t value) { (*this)(std::uint64_t{value}); }
  void operator()(bool value) { (*this)(std::uint64_t{value}); }
  void operator()(const std::string& text) {
    (*this)(std::uint64_t{text.size()});
    bytes.insert(bytes.end(), text.begin(), text.end());
  }

  Bytes bytes;
};

// Reads what Writer writes. After the first mistake every further value is 0 or empty, and `failed` stays true.
class Reader {
 public:
  explicit Reader(std::span<const std::uint8_t> bytes) : left_(bytes) {}

  void operator()(std::uint64_t& value) {
    value = 0;
    for (int shift = 0; shift < 64; shift += 7) {
      if (left_.empty()) break;
      const std::uint8_t byte = left_.front();
      left_ = left_.subspan(1);
      if (shift == 63 && byte > 1) break;
      value |= std::uint64_t{byte & 0x7fu} << shift;
      if ((byte & 0x80) == 0) {
        // A last byte of 0 behind another would be a second encoding of the same number.
        if (byte == 0 && shift > 0) break;
        return;
      }
    }
    fail(value);
  }
  void operator()(std::int64_t& value) {
    std::uint64_t zigzag = 0;
    (*this)(zigzag);
    value = static_cast<std::int64_t>((zigzag >> 1) ^ (0 - (zigzag & 1)));
  }
  void operator()(std::int32_t& value) { narrow_into<std::int64_t>(value); }
  void operator()(std::uint32_t& value) { narrow_into<std::uint64_t>(value); }
  void operator()(std::uint8_t& value) { narrow_into<std::uint64_t>(value); }
  void operator()(bool& value) {
    std::uint64_t wide = 0;
    (*this)(wide);
    if (wide > 1) failed_ = true;
    value = wide == 1;
  }
  void operator()(std::string& text) {
    const std::size_t size = count();
    if (failed_) return;
    text.assign(left_.begin(), left_.begin() + static_cast<std::ptrdiff_t>(size));
    left_ = left_.subspan(size);
  }

  // A number of items to come, each of at least one byte.
  std::size_t count() {
    std::uint64_t count = 0;
    (*this)(count);
    if (count > left_.size()) {
      failed_ = true;
      return 0;
    }
    return static_cast<std::size_t>(count);
  }

  bool failed() const { return failed_; }
  bool at_end() const { return left_.empty(); }
  void fail() { failed_ = true; }

 private:
  template <class Number>
  void fail(Number& value) {
    failed_ = true;
    value = 0;
  }
  template <class Wide, class Narrow>
  void narrow_into(Narrow& value) {
    Wide wide = 0;
    (*this)(wide);
    if (std::in_range<Narrow>(wide)) {
      value = static_cast<Narrow>(wide);
    } else {
      fail(value);
    }
  }

  std::span<const std::uint8_t> left_;
  bool failed_ = false;
};

}  // namespace berth::wire
