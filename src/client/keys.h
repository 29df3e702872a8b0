// What is typed while something fills the screen.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace berth {

enum class Key : std::uint8_t { kLetter, kUp, kDown, kPageUp, kPageDown, kHome, kEnd, kEscape, kInterrupt };

struct KeyPress {
  Key key = Key::kLetter;
  char letter = 0;  // of kLetter: printable ASCII
  friend bool operator==(const KeyPress&, const KeyPress&) = default;
};

// Terminals send keys as bytes, some as several, and a read may end amid them: what is left over waits for the next.
class KeyReader {
 public:
  // What nobody knows is swallowed.
  std::vector<KeyPress> take(std::string_view bytes);
  // An escape that nothing has followed was the key itself; to be asked when nothing came for a moment.
  std::vector<KeyPress> settle();

 private:
  std::string left_;
};

}  // namespace berth
