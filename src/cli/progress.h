// How far a long work is, on a terminal; silent anywhere else.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

namespace berth {

class Progress {
 public:
  explicit Progress(std::string label);
  ~Progress();  // wipes the line
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  // Redraws ten times a second at most.
  void show(std::int64_t done, std::int64_t of);

 private:
  std::string label_;
  bool on_terminal_;
  bool drawn_ = false;
  std::chrono::steady_clock::time_point begun_;
  std::chrono::steady_clock::time_point next_draw_;
};

}  // namespace berth
