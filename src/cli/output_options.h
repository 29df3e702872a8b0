// How a command shows what it found: -o, --color.
#pragma once

#include <string>

#include "base/result.h"
#include "client/listing.h"

namespace CLI {
class App;
}

namespace berth {

struct OutputWish {
  std::string format = "table";
  std::string color = "auto";
};

// `typed` outlives the app.
void add_output_options(CLI::App& app, OutputWish& typed);

// auto: colours on a terminal that has them, unless NO_COLOR is set.
Result<OutputStyle> output_style(const OutputWish& wish);

}  // namespace berth
