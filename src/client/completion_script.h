// Scripts by which shells complete Berth's command lines.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace berth {

struct CommandWords {
  std::string name = {};
  std::string summary = {};
  std::vector<std::string> options = {};   // "--data", "-o"
  std::vector<std::string> children = {};  // "fill" of "simulate"
  bool takes_work = false;                 // job/NAME, pod/NAME: asked of the server when they are completed
};

// `shell` is bash, zsh or fish.
Result<std::string> completion_script(std::string_view shell, const std::vector<CommandWords>& commands);

}  // namespace berth
