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
  std::string other = {};  // a form that this command has beside the usual ones
};

// `typed` outlives the app.
void add_output_options(CLI::App& app, OutputWish& typed);
bool wants_other(const OutputWish& wish);

// Of the other form it is that of a table. auto: colours on a terminal that has them, unless NO_COLOR is set.
Result<OutputStyle> output_style(const OutputWish& wish);

}  // namespace berth
