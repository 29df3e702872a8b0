#include "cli/shell.h"

namespace berth {

std::string shell_quoted(std::string_view word) {
  constexpr std::string_view kPlain =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
      "-_./,:=+@%";
  if (!word.empty() && word.find_first_not_of(kPlain) == std::string_view::npos) return std::string(word);
  std::string quoted = "'";
  for (const char c : word) {
    if (c == '\'') quoted += "'\\'";  // ends the quotes, a quote, and the next begins anew
    quoted += c;
  }
  return quoted + "'";
}

std::string shell_command(std::string_view command,
                          std::initializer_list<std::pair<std::string_view, std::string>> options) {
  std::string text(command);
  for (const auto& [option, value] : options) {
    if (value.empty()) continue;
    text += ' ';
    text += option;
    text += ' ' + shell_quoted(value);
  }
  return text;
}

}  // namespace berth
