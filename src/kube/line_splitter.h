// Lines out of a stream of bytes that comes in pieces of any size.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>

namespace berth {

class LineSplitter {
 public:
  static constexpr std::size_t kLineMax = std::size_t{64} << 20;

  explicit LineSplitter(std::size_t line_max = kLineMax) : line_max_(line_max) {}

  // Calls line(text) for each that ends in `piece`, without its end; lines with nothing in them are left out. False,
  // and nothing more is told, when a line is longer than allowed or line() answers false.
  template <class OnLine>
  bool feed(std::string_view piece, OnLine line) {
    while (!piece.empty()) {
      const std::size_t end = piece.find('\n');
      const std::string_view part = piece.substr(0, end);
      if (begun_.size() + part.size() > line_max_) {
        too_long_ = true;
        return false;
      }
      if (end == std::string_view::npos) {
        begun_ += part;
        return true;
      }
      piece.remove_prefix(end + 1);
      if (!tell(part, line)) return false;
    }
    return true;
  }
  // The last line, when a stream that has come to its end did not end it.
  template <class OnLine>
  bool finish(OnLine line) {
    return tell({}, line);
  }
  bool line_too_long() const { return too_long_; }

 private:
  template <class OnLine>
  bool tell(std::string_view part, OnLine& line) {
    if (begun_.empty()) return part.empty() || line(part);
    begun_ += part;
    const std::string whole = std::exchange(begun_, {});
    return line(std::string_view(whole));
  }

  std::size_t line_max_;
  std::string begun_;
  bool too_long_ = false;
};

}  // namespace berth
