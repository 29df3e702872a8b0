#include "sim/chart.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <span>
#include <type_traits>

#include "base/assert.h"
#include "base/time.h"
#include "sim/chart_pieces.h"

namespace berth {
namespace {

using namespace charts;

using Points = std::vector<std::pair<std::int64_t, double>>;

constexpr std::size_t kPointsMax = 1000;   // of a drawn series: about one for each pixel of a wide screen
constexpr std::size_t kTableRowsMax = 48;  // of the numbers below a figure

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
      const auto steps = plot_.x_axis == XAxis::kTime ? kTimeSteps : kPercentSteps;
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

std::string render(const Gantt& gantt, std::size_t number) { return render_gantt(gantt, number); }

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
