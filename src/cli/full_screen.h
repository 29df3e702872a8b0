// The whole of a terminal, taken for a while: an alternate screen, keys as they are pressed. Whatever ends the object gives
// the terminal back as it was.
#pragma once

#include <termios.h>

#include <string>
#include <string_view>
#include <vector>

#include "client/keys.h"
#include "client/top_view.h"

namespace berth {

// Empty where it is not set.
std::string_view environment_variable(const char* name);

// What the environment says of the terminal behind stdout.
struct TerminalManners {
  bool full_screen = false;  // stdin and stdout are terminals that move a cursor
  bool colours = false;      // NO_COLOR is respected
  bool unicode = false;      // by the locale
};
TerminalManners terminal_manners();
// Of stdout; where it is no terminal, $COLUMNS and $LINES or 120 x 40.
ScreenSize terminal_size();

class FullScreen {
 public:
  FullScreen();
  ~FullScreen();
  FullScreen(const FullScreen&) = delete;
  FullScreen& operator=(const FullScreen&) = delete;

  // Writes the lines that differ from those before, at once: nothing flickers.
  void show(const std::vector<std::string>& lines, ScreenSize size);
  // Keys as soon as one is pressed; none after that time.
  std::vector<KeyPress> wait_for_keys(int timeout_ms);
  bool gone() const { return gone_; }  // nobody is there any more

 private:
  termios before_ = {};
  std::vector<std::string> shown_;
  ScreenSize shown_size_{0, 0};
  KeyReader keys_;
  bool unfinished_ = false;  // an escape came, and what follows has not
  bool gone_ = false;
};

}  // namespace berth
