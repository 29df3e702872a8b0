#include "cli/progress.h"

#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <utility>

namespace berth {
namespace {

constexpr std::int64_t kBarWidth = 30;

}  // namespace

Progress::Progress(std::string label)
    : label_(std::move(label)),
      on_terminal_(isatty(STDERR_FILENO) == 1),
      begun_(std::chrono::steady_clock::now()),
      next_draw_(begun_) {}

Progress::~Progress() {
  if (drawn_) fmt::print(stderr, "\r\033[K");
}

void Progress::show(std::int64_t done, std::int64_t of) {
  if (!on_terminal_ || of <= 0) return;
  const auto now = std::chrono::steady_clock::now();
  if (now < next_draw_) return;
  next_draw_ = now + std::chrono::milliseconds(100);
  drawn_ = true;
  const std::int64_t filled = std::min(kBarWidth, kBarWidth * done / of);
  std::string bar;
  for (std::int64_t i = 0; i < kBarWidth; ++i) bar += i < filled ? "█" : "░";
  const double elapsed_s = std::chrono::duration<double>(now - begun_).count();
  const double left_s = done > 0 ? elapsed_s * static_cast<double>(of - done) / static_cast<double>(done) : 0;
  fmt::print(stderr, "\r\033[K{} {} {:3d} %  {:.0f} s left", label_, bar, 100 * done / of, left_s);
  std::fflush(stderr);
}

}  // namespace berth
