#include "sim/chart_pieces.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <utility>

#include "base/assert.h"
#include "base/time.h"

namespace berth::charts {
namespace {

constexpr std::int64_t kTimeStepsMs[] = {1000,           5000,           15'000,      kMinuteMs,   5 * kMinuteMs,
                                         15 * kMinuteMs, 30 * kMinuteMs, kHourMs,     2 * kHourMs, 3 * kHourMs,
                                         6 * kHourMs,    12 * kHourMs,   kDayMs,      2 * kDayMs,  5 * kDayMs,
                                         10 * kDayMs,    30 * kDayMs,    100 * kDayMs};
constexpr std::int64_t kPercentStepsOf[] = {100, 200, 500, 1000, 2000, 5000, 10'000};

}  // namespace

const std::span<const std::int64_t> kTimeSteps = kTimeStepsMs;
const std::span<const std::int64_t> kPercentSteps = kPercentStepsOf;

std::string decimal(double value, int digits) {
  std::array<char, 400> buffer{};
  const auto [end, error] =
      std::to_chars(buffer.data(), buffer.data() + buffer.size(), value, std::chars_format::fixed, digits);
  BERTH_ASSERT(error == std::errc{});
  std::string text(buffer.data(), end);
  return text == "-0" ? "0" : text;
}

std::string trimmed(double value, int digits) {
  std::string text = decimal(value, digits);
  if (text.find('.') == std::string::npos) return text;
  while (text.back() == '0') text.pop_back();
  if (text.back() == '.') text.pop_back();
  return text == "-0" ? "0" : text;
}

std::string with_thousands(std::string digits) {
  const std::size_t first = digits.starts_with('-') ? 1 : 0;
  for (std::size_t at = std::min(digits.find('.'), digits.size()); at > first + 3;) {
    at -= 3;
    digits.insert(at, 1, ',');
  }
  return digits;
}

std::string format_number(double value) {
  const double size = std::abs(value);
  return with_thousands(trimmed(value, size >= 100 ? 0 : size >= 10 ? 1 : size >= 1 ? 2 : 3));
}

std::string coordinate(double value) { return trimmed(value, 1); }

std::string raw(double value) { return trimmed(value, std::abs(value) >= 1000 ? 0 : 3); }

std::string attribute(std::string_view name, std::string_view value) {
  return " " + std::string(name) + "=\"" + escape_html(value) + "\"";
}

std::string format_time(std::int64_t ms) {
  if (ms == 0) return "0";
  std::string text = ms < 0 ? "-" : "";
  ms = std::abs(ms);
  const std::pair<std::int64_t, std::string_view> parts[] = {
      {kDayMs, "d"}, {kHourMs, "h"}, {kMinuteMs, "min"}, {1000, "s"}};
  for (const auto& [length, name] : parts) {
    if (ms < length) continue;
    if (text.size() > 1) text += " ";
    text += std::to_string(ms / length) + " " + std::string(name);
    ms %= length;
  }
  return text.size() > 1 ? text : std::to_string(ms) + " ms";
}

std::string format_x(std::int64_t x, XAxis axis) {
  return axis == XAxis::kTime ? format_time(x) : trimmed(static_cast<double>(x) / 100, 2) + " %";
}

std::int64_t step_of(std::span<const std::int64_t> steps, std::int64_t range, std::int64_t count) {
  for (const std::int64_t step : steps) {
    if (range <= step * count) return step;
  }
  const std::int64_t largest = steps.back();
  return largest * (range / (largest * count) + 1);
}

double round_step(double range, Unit unit) {
  constexpr double kClockSteps[] = {1,    2,    5,    10,    20,    30,    60,    120,    300,    600,   1200,
                                    1800, 3600, 7200, 10800, 21600, 43200, 86400, 172800, 432000, 864000};
  if (unit == Unit::kSeconds) {
    for (const double step : kClockSteps) {
      if (range > 1 && range <= step * 5) return step;
    }
  }
  const double rough = std::max(range, 1e-6) / 5;
  const double magnitude = std::pow(10, std::floor(std::log10(rough)));
  for (const double factor : {1.0, 2.0, 5.0}) {
    if (rough <= factor * magnitude * (1 + 1e-9)) return factor * magnitude;
  }
  return 10 * magnitude;
}

YScale y_scale(double low, double high, Unit unit, std::optional<double> y_min, std::optional<double> y_max) {
  low = y_min.value_or(std::min(low, 0.0));
  high = y_max.value_or(high);
  if (!(high > low)) high = low + 1;
  YScale scale;
  scale.step = round_step(high - low, unit);
  scale.low = y_min ? low : std::floor(low / scale.step) * scale.step;
  scale.high = y_max ? high : std::ceil(high / scale.step - 1e-9) * scale.step;
  return scale;
}

std::vector<std::int64_t> XScale::ticks() const {
  const std::int64_t step =
      axis == XAxis::kTime ? step_of(kTimeSteps, high - low, 8) : step_of(kPercentSteps, high - low, 8);
  std::vector<std::int64_t> found;
  const std::int64_t first = low / step * step;
  for (std::int64_t x = first < low ? first + step : first; x <= high; x += step) found.push_back(x);
  return found;
}

std::string percent_of_view(double at) { return decimal(at / kView * 100, 2) + "%"; }

std::string x_axis_labels(const XScale& scale) {
  const std::vector<std::int64_t> ticks = scale.ticks();
  std::string html = "<div class=\"x-axis\" aria-hidden=\"true\">";
  for (std::size_t k = 0; k < ticks.size(); ++k) {
    const double at = scale.at(ticks[k]);
    // Every second one leaves on a narrow screen; those at the ends lean inwards.
    std::string classes = k % 2 == 1 ? "minor" : "";
    if (at < 1) classes += " first";
    if (at > kView - 40) classes += " last";
    html += "<span class=\"" + classes + "\" style=\"left:" + percent_of_view(at) + "\">" +
            format_x(ticks[k], scale.axis) + "</span>";
  }
  return html + "</div>";
}

std::string tick_label(double value, const YScale& scale, Unit unit) {
  if (unit == Unit::kSeconds) return format_value(value, unit);
  const int digits = scale.step >= 1 ? 0 : std::min(6, static_cast<int>(std::ceil(-std::log10(scale.step) - 1e-9)));
  return with_thousands(decimal(value, digits)) + (unit == Unit::kPercent ? " %" : "");
}

std::string figure_head(std::string_view kind, std::size_t number, std::string_view title,
                        std::string_view description) {
  const std::string id = "figure-" + std::to_string(number);
  return "<figure class=\"" + std::string(kind) + "\" id=\"" + id +
         "\">\n<figcaption><h3><span class=\"number\">Figure " + std::to_string(number) + "</span> " +
         escape_html(title) + "</h3><p>" + escape_html(description) + "</p></figcaption>\n";
}

std::string svg_head(std::size_t number, std::string_view view_box, std::string_view title,
                     std::string_view description) {
  const std::string id = "figure-" + std::to_string(number);
  return "<svg viewBox=\"" + std::string(view_box) + "\" preserveAspectRatio=\"none\" role=\"img\" aria-labelledby=\"" +
         id + "-t " + id + "-d\"><title id=\"" + id + "-t\">" + escape_html(title) + "</title><desc id=\"" + id +
         "-d\">" + escape_html(description) + "</desc>";
}

std::string numbers_table(const std::vector<std::string>& head, const std::vector<std::vector<std::string>>& rows,
                          std::string_view summary) {
  std::string html =
      "<details><summary>" + escape_html(summary) + "</summary><div class=\"scroll\" tabindex=\"0\"><table><thead><tr>";
  for (std::size_t column = 0; column < head.size(); ++column) {
    html += std::string("<th scope=\"col\"") + (column > 0 ? " class=\"n\"" : "") + ">" + escape_html(head[column]) +
            "</th>";
  }
  html += "</tr></thead><tbody>\n";
  for (const std::vector<std::string>& row : rows) {
    html += "<tr>";
    for (std::size_t column = 0; column < row.size(); ++column) {
      html += column == 0 ? "<th scope=\"row\">" + escape_html(row[0]) + "</th>"
                          : "<td class=\"n\">" + escape_html(row[column]) + "</td>";
    }
    html += "</tr>\n";
  }
  return html + "</tbody></table></div></details>\n";
}

std::string_view unit_name(Unit unit) {
  switch (unit) {
    case Unit::kNumber:
      return "number";
    case Unit::kPercent:
      return "percent";
    case Unit::kSeconds:
      return "seconds";
  }
  return "";
}

std::string style_of(std::size_t index) { return "s" + std::to_string(index % kSeriesStyles); }

}  // namespace berth::charts
