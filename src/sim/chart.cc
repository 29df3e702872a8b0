#include "sim/chart.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <limits>
#include <span>
#include <type_traits>

#include "base/assert.h"

namespace berth {
namespace {

using Points = std::vector<std::pair<std::int64_t, double>>;

constexpr std::size_t kPointsMax = 1000;   // of a drawn series: about one for each pixel of a wide screen
constexpr std::size_t kTableRowsMax = 48;  // of the numbers below a figure
constexpr std::size_t kSeriesStyles = 8;   // colours and dashes in the style sheet
constexpr double kView = 1000;             // width and height of the stretched drawing
constexpr std::int64_t kMinuteMs = 60'000;
constexpr std::int64_t kHourMs = 60 * kMinuteMs;
constexpr std::int64_t kDayMs = 24 * kHourMs;

std::string decimal(double value, int digits) {
  std::array<char, 400> buffer{};
  const auto [end, error] =
      std::to_chars(buffer.data(), buffer.data() + buffer.size(), value, std::chars_format::fixed, digits);
  BERTH_ASSERT(error == std::errc{});
  std::string text(buffer.data(), end);
  return text == "-0" ? "0" : text;
}

// Without zeros that say nothing: "2.50" -> "2.5", "3.0" -> "3".
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

// Coordinates and raw values in attributes: short, exact enough for a screen.
std::string coordinate(double value) { return trimmed(value, 1); }

std::string raw(double value) { return trimmed(value, std::abs(value) >= 1000 ? 0 : 3); }

std::string attribute(std::string_view name, std::string_view value) {
  return " " + std::string(name) + "=\"" + escape_html(value) + "\"";
}

// "12 h", "1 d 6 h", "30 min": exact, for ticks.
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

// ---- Scales. ----

// The first of `steps` that cuts `range` into at most `count` pieces, or a whole multiple of the last.
std::int64_t step_of(std::span<const std::int64_t> steps, std::int64_t range, std::int64_t count) {
  for (const std::int64_t step : steps) {
    if (range <= step * count) return step;
  }
  const std::int64_t largest = steps.back();
  return largest * (range / (largest * count) + 1);
}

constexpr std::int64_t kTimeSteps[] = {1000,           5000,           15'000,      kMinuteMs,   5 * kMinuteMs,
                                       15 * kMinuteMs, 30 * kMinuteMs, kHourMs,     2 * kHourMs, 3 * kHourMs,
                                       6 * kHourMs,    12 * kHourMs,   kDayMs,      2 * kDayMs,  5 * kDayMs,
                                       10 * kDayMs,    30 * kDayMs,    100 * kDayMs};
constexpr std::int64_t kPercentSteps[] = {100, 200, 500, 1000, 2000, 5000, 10'000};

struct XScale {
  std::int64_t low = 0;
  std::int64_t high = 1;
  XAxis axis = XAxis::kTime;

  double at(std::int64_t x) const { return kView * static_cast<double>(x - low) / static_cast<double>(high - low); }
  std::vector<std::int64_t> ticks() const {
    const std::int64_t step =
        axis == XAxis::kTime ? step_of(kTimeSteps, high - low, 8) : step_of(kPercentSteps, high - low, 8);
    std::vector<std::int64_t> found;
    const std::int64_t first = low / step * step;
    for (std::int64_t x = first < low ? first + step : first; x <= high; x += step) found.push_back(x);
    return found;
  }
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

// What is given is kept to the letter; what is not reaches to 0 and to the next round value.
YScale y_scale(double low, double high, Unit unit, std::optional<double> y_min = {}, std::optional<double> y_max = {}) {
  low = y_min.value_or(std::min(low, 0.0));
  high = y_max.value_or(high);
  if (!(high > low)) high = low + 1;
  YScale scale;
  scale.step = round_step(high - low, unit);
  scale.low = y_min ? low : std::floor(low / scale.step) * scale.step;
  scale.high = y_max ? high : std::ceil(high / scale.step - 1e-9) * scale.step;
  return scale;
}

// ---- Pieces of markup. ----

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

// The same in each tick of an axis: 0.5, 1.0, 1.5.
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

// ---- Lines and bands. ----

Points finite(const Points& points) {
  Points kept;
  std::ranges::copy_if(points, std::back_inserter(kept), [](const auto& point) { return std::isfinite(point.second); });
  return kept;
}

// The value that holds at x: that of the last point not after it; 0 before the first.
double held_at(const Points& points, std::int64_t x) {
  const auto after = std::ranges::upper_bound(points, x, {}, &std::pair<std::int64_t, double>::first);
  return after == points.begin() ? 0 : std::prev(after)->second;
}

// The same moments in every series: those at which the sum is to be kept.
std::vector<Points> on_common_grid(const std::vector<Points>& series) {
  std::vector<std::int64_t> grid;
  for (const Points& points : series) {
    for (const auto& [x, y] : points) grid.push_back(x);
  }
  std::ranges::sort(grid);
  grid.erase(std::unique(grid.begin(), grid.end()), grid.end());
  Points total;
  for (const std::int64_t x : grid) {
    double sum = 0;
    for (const Points& points : series) sum += held_at(points, x);
    total.emplace_back(x, sum);
  }
  std::vector<Points> aligned(series.size());
  for (const auto& [x, sum] : downsample(total, kPointsMax)) {
    for (std::size_t s = 0; s < series.size(); ++s) aligned[s].emplace_back(x, held_at(series[s], x));
  }
  return aligned;
}

std::string raw_points(const Points& points) {
  std::string text;
  for (const auto& [x, y] : points) text += (text.empty() ? "" : " ") + std::to_string(x) + "," + raw(y);
  return text;
}

class LineDrawing {
 public:
  explicit LineDrawing(const LinePlot& plot) : plot_(plot) {
    for (const Series& series : plot.series) drawn_.push_back(finite(series.points));
    if (plot.stacked) {
      drawn_ = on_common_grid(drawn_);
    } else {
      for (Points& points : drawn_) points = downsample(points, kPointsMax);
    }
    tops_ = drawn_;
    for (std::size_t s = 1; plot.stacked && s < tops_.size(); ++s) {
      for (std::size_t k = 0; k < tops_[s].size(); ++k) tops_[s][k].second += tops_[s - 1][k].second;
    }
    double low = 0;
    double high = 0;
    x_ = {std::numeric_limits<std::int64_t>::max(), std::numeric_limits<std::int64_t>::min(), plot.x_axis};
    for (const Points& points : tops_) {
      for (const auto& [x, y] : points) {
        x_.low = std::min(x_.low, x);
        x_.high = std::max(x_.high, x);
        low = std::min(low, y);
        high = std::max(high, y);
      }
    }
    empty_ = x_.low > x_.high;
    if (empty_) x_.low = x_.high = 0;
    // A run begins at 0 even if its first sample does not.
    if (x_.low > 0 && x_.low <= x_.high / 20) x_.low = 0;
    if (x_.high == x_.low) x_.high = x_.low + (plot.x_axis == XAxis::kTime ? kHourMs : 10'000);
    // And ends on a round moment if its last sample comes close: 47:59 is two days.
    const std::vector<std::int64_t> ticks = x_.ticks();
    if (ticks.size() > 1) {
      const std::int64_t next = ticks.back() + (ticks[1] - ticks[0]);
      if (next - x_.high <= (x_.high - x_.low) / 50) x_.high = next;
    }
    y_ = y_scale(low, high, plot.unit, plot.y_min, plot.y_max);
  }

  std::string render(std::size_t number) const {
    const std::string shape = plot_.stacked ? "bands" : "lines";
    std::string html = figure_head("chart " + shape, number, plot_.title, plot_.description);
    html += legend();

    std::size_t label_width = 1;
    for (const double tick : y_.ticks()) label_width = std::max(label_width, tick_label(tick, y_, plot_.unit).size());
    html += "<div class=\"plot\" style=\"--label:" + std::to_string(label_width) + "ch\">";
    html += "<div class=\"of-what\" aria-hidden=\"true\">" + escape_html(plot_.of_what) + "</div>";
    html += "<div class=\"y-axis\" aria-hidden=\"true\">";
    for (const double tick : y_.ticks()) {
      html +=
          "<span style=\"top:" + percent_of_view(y_.at(tick)) + "\">" + tick_label(tick, y_, plot_.unit) + "</span>";
    }
    html += "</div>\n<div class=\"canvas\"" + attribute("data-low", std::to_string(x_.low)) +
            attribute("data-high", std::to_string(x_.high)) +
            attribute("data-x", x_.axis == XAxis::kTime ? "time" : "percent") +
            attribute("data-unit", unit_name(plot_.unit)) + attribute("data-bottom", raw(y_.low)) +
            attribute("data-top", raw(y_.high)) + ">";
    html += svg_head(number, "0 0 1000 1000", plot_.title, summary());
    html += grid();
    for (std::size_t s = tops_.size(); s-- > 0;) html += path(s);
    html += "</svg>";
    if (empty_) html += "<p class=\"nothing\">Nothing was recorded.</p>";
    if (plot_.stacked) html += band_labels();
    html += "</div>\n" + x_axis_labels(x_) + "</div>\n";
    return html + numbers() + "</figure>\n";
  }

 private:
  std::string legend() const {
    if (plot_.series.empty()) return "";
    // Bands in the order in which they lie: the topmost first.
    std::string html = "<ul class=\"legend\">";
    for (std::size_t k = 0; k < plot_.series.size(); ++k) {
      const std::size_t s = plot_.stacked ? plot_.series.size() - 1 - k : k;
      html += "<li data-series=\"" + std::to_string(s) + "\"><svg viewBox=\"0 0 32 10\" aria-hidden=\"true\">" +
              (plot_.stacked ? "<rect class=\"band " + style_of(s) + "\" width=\"32\" height=\"10\"/>"
                             : "<path class=\"line " + style_of(s) + "\" d=\"M0 5H32\"/>") +
              "</svg>" + escape_html(plot_.series[s].name) + "</li>";
    }
    return html + "</ul>\n";
  }

  std::string grid() const {
    std::string html = "<g class=\"grid\">";
    for (const double tick : y_.ticks()) {
      html += "<path" + std::string(tick == 0 ? " class=\"zero\"" : "") + " d=\"M0 " + coordinate(y_.at(tick)) +
              "H1000\"/>";
    }
    for (const std::int64_t tick : x_.ticks()) html += "<path d=\"M" + coordinate(x_.at(tick)) + " 0V1000\"/>";
    return html + "</g>";
  }

  std::string trace(const Points& points, bool backwards, char first) const {
    std::string d;
    for (std::size_t k = 0; k < points.size(); ++k) {
      const auto& [x, y] = points[backwards ? points.size() - 1 - k : k];
      d += (k == 0 ? first : 'L') + coordinate(x_.at(x)) + " " + coordinate(y_.at(y));
    }
    return d;
  }

  std::string path(std::size_t s) const {
    const Points& points = tops_[s];
    if (points.empty()) return "";
    const std::string data = attribute("data-series", std::to_string(s)) +
                             attribute("data-name", plot_.series[s].name) +
                             attribute("data-points", raw_points(drawn_[s]));
    const std::string stroke = " class=\"line " + style_of(s) + "\"";
    if (!plot_.stacked) {
      // A single point would have no length: a short dash stands for it.
      const std::string dot = points.size() == 1 ? "h6" : "";
      return "<path" + stroke + data + " d=\"" + trace(points, false, 'M') + dot + "\"/>";
    }
    std::string area = trace(points, false, 'M');
    if (s > 0) {
      area += trace(tops_[s - 1], true, 'L');
    } else {
      area += "L" + coordinate(x_.at(points.back().first)) + " " + coordinate(y_.at(0)) + "L" +
              coordinate(x_.at(points.front().first)) + " " + coordinate(y_.at(0));
    }
    return "<path class=\"band " + style_of(s) + "\"" + data + " d=\"" + area + "Z\"/>";
  }

  // Each band's name where it is thickest, if there is room for it.
  std::string band_labels() const {
    std::string html;
    for (std::size_t s = 0; s < drawn_.size(); ++s) {
      const Points& points = drawn_[s];
      std::size_t thickest = 0;
      for (std::size_t k = 0; k < points.size(); ++k) {
        const double at = x_.at(points[k].first);
        if (at < 150 || at > 850) continue;  // a name in the middle of it must not leave the drawing
        if (points[k].second > points[thickest].second) thickest = k;
      }
      if (points.empty()) continue;
      const double thickness = kView * points[thickest].second / (y_.high - y_.low);
      const double x = x_.at(points[thickest].first);
      if (thickness < 90 || x < 150 || x > 850) continue;
      const double y = y_.at(tops_[s][thickest].second - points[thickest].second / 2);
      html += "<span class=\"band-label\" aria-hidden=\"true\" data-series=\"" + std::to_string(s) +
              "\" style=\"left:" + percent_of_view(x) + ";top:" + percent_of_view(y) + "\">" +
              escape_html(plot_.series[s].name) + "</span>";
    }
    return html;
  }

  // For those who do not see the drawing.
  std::string summary() const {
    std::string text = plot_.description;
    for (std::size_t s = 0; s < drawn_.size(); ++s) {
      if (drawn_[s].empty()) continue;
      const auto [low, high] = std::ranges::minmax(drawn_[s], {}, &std::pair<std::int64_t, double>::second);
      text += " " + plot_.series[s].name + ": from " + format_value(low.second, plot_.unit) + " to " +
              format_value(high.second, plot_.unit) + ", " + format_value(drawn_[s].back().second, plot_.unit) +
              " at the end.";
    }
    return text;
  }

  std::string numbers() const {
    if (empty_) return "";
    std::vector<std::string> head = {plot_.x_axis == XAxis::kTime ? "Time" : "Demand"};
    for (const Series& series : plot_.series) head.push_back(series.name);
    std::vector<std::int64_t> xs;
    for (const Points& points : drawn_) {
      for (const auto& [x, y] : points) xs.push_back(x);
    }
    std::ranges::sort(xs);
    xs.erase(std::unique(xs.begin(), xs.end()), xs.end());
    // Round moments if there are more points than rows.
    if (xs.size() > kTableRowsMax) {
      const auto steps = plot_.x_axis == XAxis::kTime ? std::span<const std::int64_t>(kTimeSteps)
                                                      : std::span<const std::int64_t>(kPercentSteps);
      const std::int64_t step = step_of(steps, xs.back() - xs.front(), static_cast<std::int64_t>(kTableRowsMax) - 1);
      const std::int64_t first = (xs.front() + step - 1) / step * step;
      const std::int64_t last = xs.back();
      xs.clear();
      for (std::int64_t x = first; x <= last; x += step) xs.push_back(x);
    }
    std::vector<std::vector<std::string>> rows;
    for (const std::int64_t x : xs) {
      std::vector<std::string> row = {format_x(x, plot_.x_axis)};
      for (const Points& points : drawn_) {
        row.push_back(points.empty() || x < points.front().first ? "" : format_value(held_at(points, x), plot_.unit));
      }
      rows.push_back(std::move(row));
    }
    return numbers_table(head, rows, "Numbers" + (plot_.of_what.empty() ? "" : " (" + plot_.of_what + ")"));
  }

  const LinePlot& plot_;
  std::vector<Points> drawn_;  // each series' own values
  std::vector<Points> tops_;   // where its line or upper edge runs
  XScale x_;
  YScale y_;
  bool empty_ = false;
};

std::string render(const LinePlot& plot, std::size_t number) { return LineDrawing(plot).render(number); }

// ---- Quantiles by name. ----

std::string render(const QuantilePlot& plot, std::size_t number) {
  double high = 0;
  for (const QuantilePlot::Row& row : plot.rows) {
    for (const double value : {row.p50, row.p90}) {
      if (std::isfinite(value)) high = std::max(high, value);
    }
  }
  const YScale scale = y_scale(0, high, plot.unit);
  const auto along = [&](double value) { return std::isfinite(value) ? kView - scale.at(value) : 0.0; };

  std::string html = figure_head("chart quantiles", number, plot.title, plot.description);
  html +=
      "<ul class=\"legend\"><li><svg viewBox=\"0 0 32 10\" aria-hidden=\"true\"><rect class=\"median\" width=\"32\" "
      "height=\"10\"/></svg>median"
      "</li><li><svg viewBox=\"0 0 32 10\" aria-hidden=\"true\"><path class=\"whisker\" d=\"M0 5H31M31 "
      "0V10\"/></svg>90th percentile</li></ul>\n";
  if (plot.rows.empty()) html += "<p class=\"nothing\">Nothing was recorded.</p>";
  html += "<div class=\"bars\" role=\"table\"" + attribute("aria-label", plot.title) + ">";
  for (const QuantilePlot::Row& row : plot.rows) {
    html += "<div class=\"bar\" role=\"row\"><span class=\"name\" role=\"rowheader\"" + attribute("title", row.name) +
            ">" + escape_html(row.name) +
            "</span><svg viewBox=\"0 0 1000 20\" preserveAspectRatio=\"none\" aria-hidden=\"true\"><g class=\"grid\">";
    for (const double tick : scale.ticks()) html += "<path d=\"M" + coordinate(along(tick)) + " 0V20\"/>";
    html += "</g><rect class=\"median\" y=\"5\" height=\"10\" width=\"" +
            coordinate(std::max(along(row.p50), row.p50 > 0 ? 2.0 : 0.0)) + "\"/><path class=\"whisker\" d=\"M" +
            coordinate(along(row.p50)) + " 10H" + coordinate(along(row.p90)) + "M" + coordinate(along(row.p90)) +
            " 4V16\"/></svg><span class=\"values\" role=\"cell\"><b>" + format_value(row.p50, plot.unit) + "</b> <i>" +
            format_value(row.p90, plot.unit) + "</i></span></div>\n";
  }
  html += "<div class=\"bar scale\" aria-hidden=\"true\"><span></span><div class=\"x-axis\">";
  const std::vector<double> ticks = scale.ticks();
  for (std::size_t k = 0; k < ticks.size(); ++k) {
    const std::string classes = std::string(k % 2 == 1 ? "minor" : "") + (k == 0                  ? " first"
                                                                          : k + 1 == ticks.size() ? " last"
                                                                                                  : "");
    html += "<span class=\"" + classes + "\" style=\"left:" + percent_of_view(along(ticks[k])) + "\">" +
            tick_label(ticks[k], scale, plot.unit) + "</span>";
  }
  return html + "</div><span class=\"values\"><b>p50</b> <i>p90</i></span></div></div></figure>\n";
}

// ---- Heat. ----

constexpr std::size_t kHeatClasses = 6;

// Upper bounds of all classes but the last. Lengths of time by what they mean to who waits; else in equal parts.
std::array<double, kHeatClasses - 1> heat_bounds(double high, Unit unit) {
  if (unit == Unit::kSeconds) return {60, 600, 3600, 6 * 3600, 24 * 3600};
  std::array<double, kHeatClasses - 1> bounds{};
  const double step = round_step(high * 5 / kHeatClasses, unit);
  for (std::size_t k = 0; k < bounds.size(); ++k) bounds[k] = step * static_cast<double>(k + 1);
  return bounds;
}

std::size_t heat_class(double value, const std::array<double, kHeatClasses - 1>& bounds) {
  return static_cast<std::size_t>(std::ranges::count_if(bounds, [&](double bound) { return value > bound; }));
}

std::string render(const HeatMap& map, std::size_t number) {
  std::size_t columns = 0;
  double high = 0;
  for (const HeatMap::Row& row : map.rows) {
    columns = std::max(columns, row.cells.size());
    for (const std::optional<double>& cell : row.cells) {
      if (cell && std::isfinite(*cell)) high = std::max(high, *cell);
    }
  }
  const auto bounds = heat_bounds(high, map.unit);

  std::string html = figure_head("chart heat", number, map.title, map.description);
  html += "<ul class=\"legend steps\">";
  for (std::size_t k = 0; k < kHeatClasses; ++k) {
    html += "<li><svg viewBox=\"0 0 32 10\" aria-hidden=\"true\"><rect class=\"h" + std::to_string(k) +
            "\" width=\"32\" height=\"10\"/></svg>" +
            (k < bounds.size() ? "≤ " + format_value(bounds[k], map.unit) : "more") + "</li>";
  }
  html +=
      "<li><svg viewBox=\"0 0 32 10\" aria-hidden=\"true\"><rect class=\"none\" width=\"32\" "
      "height=\"10\"/></svg>none</li></ul>\n";
  if (columns == 0) return html + "<p class=\"nothing\">Nothing was recorded.</p></figure>\n";

  html += "<div class=\"plot\"><div class=\"names\" aria-hidden=\"true\">";
  for (const HeatMap::Row& row : map.rows)
    html += "<span" + attribute("title", row.name) + ">" + escape_html(row.name) + "</span>";
  const std::string height = std::to_string(map.rows.size());
  html += "</div>\n<div class=\"canvas\" style=\"--rows:" + height + "\"" +
          attribute("data-low", std::to_string(map.start_ms)) + attribute("data-bin", std::to_string(map.bin_ms)) +
          attribute("data-columns", std::to_string(columns)) + attribute("data-unit", unit_name(map.unit)) + ">";
  html += svg_head(number, "0 0 " + std::to_string(columns) + " " + height, map.title,
                   map.description + " The numbers follow as a table.");
  for (std::size_t r = 0; r < map.rows.size(); ++r) {
    const std::vector<std::optional<double>>& cells = map.rows[r].cells;
    std::string values;
    for (const std::optional<double>& cell : cells) values += (cell && std::isfinite(*cell) ? raw(*cell) : "") + ",";
    html += "<g" + attribute("data-name", map.rows[r].name) + attribute("data-values", values) + ">";
    // Neighbours of one class are one rectangle.
    for (std::size_t c = 0; c < cells.size();) {
      const auto class_at = [&](std::size_t column) -> std::optional<std::size_t> {
        const std::optional<double>& cell = cells[column];
        return cell && std::isfinite(*cell) ? std::optional(heat_class(*cell, bounds)) : std::nullopt;
      };
      const std::optional<std::size_t> shade = class_at(c);
      const std::size_t first = c;
      while (c < cells.size() && class_at(c) == shade) ++c;
      if (!shade) continue;
      html += "<rect class=\"h" + std::to_string(*shade) + "\" x=\"" + std::to_string(first) + "\" y=\"" +
              decimal(static_cast<double>(r) + 0.06, 2) + "\" width=\"" + std::to_string(c - first) +
              "\" height=\".88\"/>";
    }
    html += "</g>";
  }
  const XScale x{map.start_ms, map.start_ms + map.bin_ms * static_cast<std::int64_t>(columns), XAxis::kTime};
  html += "</svg></div>\n" + x_axis_labels(x) + "</div>\n";

  // The table has a column for each few bins: their mean, of the bins that have a value.
  constexpr std::size_t kTableColumns = 24;
  const std::size_t together = (columns + kTableColumns - 1) / kTableColumns;
  std::vector<std::string> head = {"From"};
  for (std::size_t c = 0; c < columns; c += together)
    head.push_back(format_time(map.start_ms + map.bin_ms * static_cast<std::int64_t>(c)));
  std::vector<std::vector<std::string>> rows;
  for (const HeatMap::Row& row : map.rows) {
    rows.push_back({row.name});
    for (std::size_t c = 0; c < columns; c += together) {
      double sum = 0;
      int count = 0;
      for (std::size_t k = c; k < std::min(c + together, row.cells.size()); ++k) {
        if (!row.cells[k] || !std::isfinite(*row.cells[k])) continue;
        sum += *row.cells[k];
        ++count;
      }
      rows.back().push_back(count == 0 ? "" : format_value(sum / count, map.unit));
    }
  }
  return html +
         numbers_table(head, rows,
                       together == 1 ? "Numbers" : "Numbers (means of " + std::to_string(together) + " columns)") +
         "</figure>\n";
}

}  // namespace

std::string escape_html(std::string_view text) {
  std::string escaped;
  escaped.reserve(text.size());
  for (const char c : text) {
    switch (c) {
      case '&':
        escaped += "&amp;";
        break;
      case '<':
        escaped += "&lt;";
        break;
      case '>':
        escaped += "&gt;";
        break;
      case '"':
        escaped += "&quot;";
        break;
      case '\'':
        escaped += "&#39;";
        break;
      default:
        if (static_cast<unsigned char>(c) >= 0x20 && c != 0x7f) {
          escaped += c;
        } else if (c == '\n' || c == '\t') {
          escaped += c;
        }
    }
  }
  return escaped;
}

std::vector<std::pair<std::int64_t, double>> downsample(const std::vector<std::pair<std::int64_t, double>>& points,
                                                        std::size_t points_max) {
  BERTH_ASSERT(points_max >= 4);
  if (points.size() <= points_max) return points;
  // Two of each stretch and both ends. Stretches have equal counts, not equal widths: where much happens, more is kept.
  const std::size_t stretches = (points_max - 2) / 2;
  Points kept = {points.front()};
  const std::size_t inner = points.size() - 2;
  for (std::size_t stretch = 0; stretch < stretches; ++stretch) {
    const auto first = points.begin() + 1 + static_cast<std::ptrdiff_t>(inner * stretch / stretches);
    const auto last = points.begin() + 1 + static_cast<std::ptrdiff_t>(inner * (stretch + 1) / stretches);
    const auto [low, high] =
        std::minmax_element(first, last, [](const auto& a, const auto& b) { return a.second < b.second; });
    kept.push_back(*std::min(low, high));
    if (low != high) kept.push_back(*std::max(low, high));
  }
  kept.push_back(points.back());
  return kept;
}

std::string format_value(double value, Unit unit) {
  if (!std::isfinite(value)) return "";
  if (unit == Unit::kPercent) return trimmed(value, 1) + " %";
  if (unit == Unit::kNumber) return format_number(value);
  const double size = std::abs(value);
  if (size < 60) return trimmed(value, size < 10 ? 1 : 0) + " s";
  if (size < 3600) return trimmed(value / 60, size < 600 ? 1 : 0) + " min";
  if (size < 48 * 3600) return trimmed(value / 3600, 1) + " h";
  return with_thousands(trimmed(value / 86400, 1)) + " d";
}

std::string render_figure(const Figure& figure, std::size_t number) {
  return std::visit([&](const auto& drawn) { return render(drawn, number); }, figure);
}

}  // namespace berth
