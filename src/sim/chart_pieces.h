// What the figures of a report are made of: scales, and pieces of markup.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sim/chart.h"

namespace berth::charts {

inline constexpr std::size_t kSeriesStyles = 8;  // colours and dashes in the style sheet
inline constexpr double kView = 1000;            // width and height of the stretched drawing

std::string decimal(double value, int digits);
// Without zeros that say nothing: "2.50" -> "2.5", "3.0" -> "3".
std::string trimmed(double value, int digits);
std::string with_thousands(std::string digits);
std::string format_number(double value);
// Coordinates and raw values in attributes: short, exact enough for a screen.
std::string coordinate(double value);
std::string raw(double value);
std::string attribute(std::string_view name, std::string_view value);
// "12 h", "1 d 6 h", "30 min": exact, for ticks.
std::string format_time(std::int64_t ms);
std::string format_x(std::int64_t x, XAxis axis);

// In ms; in hundredths of a per cent.
extern const std::span<const std::int64_t> kTimeSteps;
extern const std::span<const std::int64_t> kPercentSteps;
// The first of `steps` that cuts `range` into at most `count` pieces, or a whole multiple of the last.
std::int64_t step_of(std::span<const std::int64_t> steps, std::int64_t range, std::int64_t count);

struct XScale {
  std::int64_t low = 0;
  std::int64_t high = 1;
  XAxis axis = XAxis::kTime;

  double at(std::int64_t x) const { return kView * static_cast<double>(x - low) / static_cast<double>(high - low); }
  std::vector<std::int64_t> ticks() const;
};

struct YScale {
  double low = 0;
  double high = 1;
  double step = 1;

  double at(double y) const { return kView * (1 - (y - low) / (high - low)); }
  std::vector<double> ticks() const {
    std::vector<double> found;
    for (int k = 0; low + step * k <= high * (1 + 1e-9) + 1e-12; ++k) found.push_back(low + step * k);
    return found;
  }
};

// About five round steps; lengths of time go by the clock's steps.
double round_step(double range, Unit unit);
// What is given is kept to the letter; what is not reaches to 0 and to the next round value.
YScale y_scale(double low, double high, Unit unit, std::optional<double> y_min = {}, std::optional<double> y_max = {});

std::string percent_of_view(double at);
std::string x_axis_labels(const XScale& scale);
// The same in each tick of an axis: 0.5, 1.0, 1.5.
std::string tick_label(double value, const YScale& scale, Unit unit);
std::string figure_head(std::string_view kind, std::size_t number, std::string_view title,
                        std::string_view description);
std::string svg_head(std::size_t number, std::string_view view_box, std::string_view title,
                     std::string_view description);
std::string numbers_table(const std::vector<std::string>& head, const std::vector<std::vector<std::string>>& rows,
                          std::string_view summary);
std::string_view unit_name(Unit unit);
std::string style_of(std::size_t index);

std::string render_gantt(const Gantt& gantt, std::size_t number);

}  // namespace berth::charts
