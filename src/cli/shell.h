// Commands as they would be typed again.
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>

namespace berth {

// As one word of a POSIX shell; in single quotes where it would be more, or none.
std::string shell_quoted(std::string_view word);

// The command and its options; those without a value were not typed and are left out.
std::string shell_command(std::string_view command,
                          std::initializer_list<std::pair<std::string_view, std::string>> options);

}  // namespace berth
