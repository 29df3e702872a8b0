#include "cli/output_options.h"

#include <unistd.h>

#include <CLI/CLI.hpp>
#include <string_view>

#include "base/wording.h"
#include "cli/full_screen.h"

namespace berth {
namespace {

bool terminal_has_colors() {
  return isatty(STDOUT_FILENO) != 0 && environment_variable("NO_COLOR").empty() &&
         environment_variable("TERM") != "dumb";
}

}  // namespace

void add_output_options(CLI::App& app, OutputWish& typed) {
  const std::string forms =
      typed.other.empty() ? "table, wide, json, yaml or name" : "table, wide, " + typed.other + ", json, yaml or name";
  app.add_option("-o,--output", typed.format, forms)->capture_default_str();
  app.add_option("--color", typed.color, "Colours: auto, always or never; NO_COLOR is honoured by auto")
      ->capture_default_str();
}

bool wants_other(const OutputWish& wish) { return !wish.other.empty() && wish.format == wish.other; }

Result<OutputStyle> output_style(const OutputWish& wish) {
  Complaints complaints;
  const auto format = parse_output_format(wants_other(wish) ? "table" : wish.format);
  if (!format && wish.other.empty()) complaints.add_all(format.error());
  if (!format && !wish.other.empty()) {
    complaints.add(
        {"-o"}, quote(wish.format) + " is no output format; write table, wide, " + wish.other + ", json, yaml or name");
  }
  if (wish.color != "auto" && wish.color != "always" && wish.color != "never") {
    complaints.add({"--color"}, quote(wish.color) + " is no choice; write auto, always or never");
  }
  if (!complaints.empty()) return complaints;
  return OutputStyle{*format, wish.color == "always" || (wish.color == "auto" && terminal_has_colors())};
}

}  // namespace berth
