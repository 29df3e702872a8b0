// Scripts by which shells complete Berth's command lines.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace berth {

// What follows an option, or stands by itself: words that are known, or names that are asked of the server when they are
// completed, by the command that lists them.
struct CompletionWords {
  std::vector<std::string> words = {};
  std::string listed_by = {};  // "jobs", "queue", "nodes"; empty: none are asked for
};

struct CommandWords {
  std::string name = {};
  std::string summary = {};
  std::vector<std::string> options = {};               // "--data", "-o"
  std::map<std::string, CompletionWords> values = {};  // of options that have known ones
  CompletionWords arguments = {};                      // "fill" of "simulate", jobs of "explain"
};

// `shell` is bash, zsh or fish.
Result<std::string> completion_script(std::string_view shell, const std::vector<CommandWords>& commands);

}  // namespace berth
