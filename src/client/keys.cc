#include "client/keys.h"

#include <array>
#include <cstddef>
#include <utility>

namespace berth {
namespace {

constexpr char kEscapeByte = '\x1b';
constexpr std::size_t kSequenceMax = 16;

// After "ESC [" or "ESC O".
constexpr std::array<std::pair<std::string_view, Key>, 12> kSequences = {{{"A", Key::kUp},
                                                                          {"B", Key::kDown},
                                                                          {"H", Key::kHome},
                                                                          {"F", Key::kEnd},
                                                                          {"1~", Key::kHome},
                                                                          {"7~", Key::kHome},
                                                                          {"4~", Key::kEnd},
                                                                          {"8~", Key::kEnd},
                                                                          {"5~", Key::kPageUp},
                                                                          {"6~", Key::kPageDown},
                                                                          {"1;5A", Key::kPageUp},
                                                                          {"1;5B", Key::kPageDown}}};

bool ends_sequence(char each) { return each >= '@' && each <= '~'; }

// Bytes of the sequence at the start of `text`, which begins with an escape; 0 if more must come.
std::size_t length_of_sequence(std::string_view text) {
  if (text.size() < 2) return 0;
  if (text[1] != '[' && text[1] != 'O') return 1;
  for (std::size_t i = 2; i < text.size(); ++i) {
    if (ends_sequence(text[i]) || i >= kSequenceMax) return i + 1;
  }
  return 0;
}

}  // namespace

std::vector<KeyPress> KeyReader::take(std::string_view bytes) {
  left_ += bytes;
  std::vector<KeyPress> keys;
  std::string_view rest = left_;
  while (!rest.empty()) {
    const char first = rest.front();
    std::size_t used = 1;
    if (first == kEscapeByte) {
      used = length_of_sequence(rest);
      if (used == 0) break;
      if (used == 1) keys.push_back({Key::kEscape});
      for (const auto& [sequence, key] : kSequences) {
        if (used > 2 && rest.substr(2, used - 2) == sequence) keys.push_back({key});
      }
    } else if (first == '\x03') {
      keys.push_back({Key::kInterrupt});
    } else if (first >= ' ' && first <= '~') {
      keys.push_back({Key::kLetter, first});
    }
    rest.remove_prefix(used);
  }
  left_ = std::string(rest);
  return keys;
}

std::vector<KeyPress> KeyReader::settle() {
  const bool escape = left_ == std::string_view(&kEscapeByte, 1);
  left_.clear();
  if (escape) return {{Key::kEscape}};
  return {};
}

}  // namespace berth
