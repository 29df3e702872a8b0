#include "cli/full_screen.h"

#include <poll.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <string_view>

#include "model/quantity.h"

namespace berth {

std::string_view environment_variable(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? "" : value;
}

namespace {

// In this order: other screen, no cursor; and back. "Synchronised update" is ignored where it is not known.
constexpr std::string_view kEnter = "\x1b[?1049h\x1b[?25l\x1b[2J";
constexpr std::string_view kLeave = "\x1b[0m\x1b[?25h\x1b[?1049l";
constexpr std::string_view kBeginUpdate = "\x1b[?2026h", kEndUpdate = "\x1b[?2026l";
constexpr int kEscapePause_ms = 50;  // between the bytes of one key
constexpr ScreenSize kNoTerminal{120, 40}, kLargest{1000, 1000};

bool write_all(std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = write(STDOUT_FILENO, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return false;
    text.remove_prefix(static_cast<std::size_t>(written));
  }
  return true;
}

}  // namespace

TerminalManners terminal_manners() {
  const std::string_view term = environment_variable("TERM");
  const bool able = isatty(STDOUT_FILENO) == 1 && !term.empty() && term != "dumb";
  TerminalManners manners;
  manners.full_screen = able && isatty(STDIN_FILENO) == 1;
  manners.colours = able && environment_variable("NO_COLOR").empty();
  std::string_view locale;
  for (const char* each : {"LC_ALL", "LC_CTYPE", "LANG"}) {
    if (locale.empty()) locale = environment_variable(each);
  }
  for (const std::string_view each : {"UTF-8", "utf-8", "UTF8", "utf8"}) {
    if (locale.find(each) != std::string_view::npos) manners.unicode = true;
  }
  return manners;
}

ScreenSize terminal_size() {
  winsize told = {};
  if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &told) == 0 && told.ws_col > 0 && told.ws_row > 0) {
    return {std::min<std::size_t>(told.ws_col, kLargest.columns), std::min<std::size_t>(told.ws_row, kLargest.rows)};
  }
  const auto columns = parse_integer(environment_variable("COLUMNS"), 1, static_cast<std::int64_t>(kLargest.columns));
  const auto rows = parse_integer(environment_variable("LINES"), 1, static_cast<std::int64_t>(kLargest.rows));
  return {columns ? static_cast<std::size_t>(*columns) : kNoTerminal.columns,
          rows ? static_cast<std::size_t>(*rows) : kNoTerminal.rows};
}

FullScreen::FullScreen() {
  std::fflush(stdout);
  tcgetattr(STDIN_FILENO, &before_);
  termios raw = before_;
  // Every byte at once, not shown; ctrl-C is a key here. What is written stays as it is written, but for line ends.
  raw.c_iflag &= ~static_cast<tcflag_t>(IXON | ICRNL);
  raw.c_lflag &= ~static_cast<tcflag_t>(ECHO | ICANON | ISIG | IEXTEN);
  raw.c_cc[VMIN] = 0;
  raw.c_cc[VTIME] = 0;
  tcsetattr(STDIN_FILENO, TCSANOW, &raw);
  gone_ = !write_all(kEnter);
}

FullScreen::~FullScreen() {
  write_all(kLeave);
  tcsetattr(STDIN_FILENO, TCSAFLUSH, &before_);
}

void FullScreen::show(const std::vector<std::string>& lines, ScreenSize size) {
  std::string update(kBeginUpdate);
  const std::size_t nothing_yet = update.size();
  if (size != shown_size_) {
    update += "\x1b[2J";
    shown_.clear();
    shown_size_ = size;
  }
  for (std::size_t row = 0; row < std::max(lines.size(), shown_.size()); ++row) {
    const std::string& line = row < lines.size() ? lines[row] : std::string();
    if (row < shown_.size() && row < lines.size() && shown_[row] == line) continue;
    // Erased first: at the right edge of a full line it would take the last character.
    update += "\x1b[" + std::to_string(row + 1) + ";1H\x1b[2K" + line;
  }
  shown_ = lines;
  if (update.size() == nothing_yet) return;
  gone_ = !write_all(update += kEndUpdate) || gone_;
}

std::vector<KeyPress> FullScreen::wait_for_keys(int timeout_ms) {
  pollfd input = {STDIN_FILENO, POLLIN, 0};
  if (poll(&input, 1, unfinished_ ? kEscapePause_ms : timeout_ms) <= 0) {
    unfinished_ = false;
    return keys_.settle();
  }
  std::array<char, 256> bytes;
  const ssize_t count = read(STDIN_FILENO, bytes.data(), bytes.size());
  if (count < 0 && (errno == EINTR || errno == EAGAIN)) return {};
  // With VMIN 0 nothing read is no end: what was there was thrown away meanwhile. A terminal that has gone says so.
  if (count == 0 && (input.revents & (POLLHUP | POLLERR | POLLNVAL)) == 0) return {};
  if (count <= 0) {
    gone_ = true;
    return {};
  }
  const std::string_view read_now(bytes.data(), static_cast<std::size_t>(count));
  const std::vector<KeyPress> keys = keys_.take(read_now);
  unfinished_ = keys.empty() && read_now.find('\x1b') != std::string_view::npos;
  return keys;
}

}  // namespace berth
