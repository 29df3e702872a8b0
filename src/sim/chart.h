// Figures of a report as HTML with inline SVG: they scale with the page and read without scripts; the text in them is HTML,
// so that it keeps its size on a narrow screen. Colour is never the only carrier: lines have dashes, bands and bars have
// labels, heat goes from light to dark, and below each figure stand its numbers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace berth {

enum class XAxis {
  kTime,     // x in ms of virtual time
  kPercent,  // x in hundredths of a per cent (of the demand that has arrived)
};

enum class Unit {
  kNumber,
  kPercent,  // 95.2 = 95.2 %
  kSeconds,  // shown as the length of time that reads best: 45 s, 12 min, 3.1 h
};

// INVARIANT: x ascends; values that are not finite are left out of the drawing.
struct Series {
  std::string name;
  std::vector<std::pair<std::int64_t, double>> points;
};

// Lines over time or demand, or bands stacked on each other (then values are >= 0; between its points a series holds its
// value).
struct LinePlot {
  std::string title;
  std::string description;  // one sentence: what it shows
  XAxis x_axis = XAxis::kTime;
  Unit unit = Unit::kNumber;
  std::string of_what{};  // "GPUs", "jobs"; may be empty
  std::vector<Series> series;
  bool stacked = false;
  std::optional<double> y_min{};  // none = 0, or less if values are; what lies outside is cut off
  std::optional<double> y_max{};  // none = what the values need
};

// For each name a middle and a high quantile as a bar and a whisker.
struct QuantilePlot {
  struct Row {
    std::string name;
    double p50 = 0;
    double p90 = 0;
  };
  std::string title;
  std::string description;
  Unit unit = Unit::kSeconds;
  std::vector<Row> rows;
};

// Rows of names, columns of equal times. A cell without a value had nothing to measure.
struct HeatMap {
  struct Row {
    std::string name;
    std::vector<std::optional<double>> cells;
  };
  std::string title;
  std::string description;
  Unit unit = Unit::kSeconds;
  std::int64_t start_ms = 0;
  std::int64_t bin_ms = 3'600'000;
  std::vector<Row> rows;
};

// For each name what it did when: bars along the time, and marks where something ended.
struct Gantt {
  enum class Kind { kWaits, kRuns, kLacks, kStops, kPromised };
  // INVARIANT: from <= to.
  struct Bar {
    std::int64_t from = 0;
    std::int64_t to = 0;
    Kind kind = Kind::kRuns;
    std::string title;  // under the pointer
  };
  struct Mark {
    std::int64_t at = 0;
    std::string title;
  };
  struct Row {
    std::string name;
    std::size_t group = 0;  // of `groups`: its colour
    std::vector<Bar> bars;
    std::vector<Mark> marks;
  };
  std::string title;
  std::string description;
  std::int64_t low = 0;  // in ms; what lies outside is cut off
  std::int64_t high = 1;
  std::vector<std::string> groups;
  std::vector<Row> rows;
};

using Figure = std::variant<LinePlot, QuantilePlot, HeatMap, Gantt>;

// "Figure 3" and its id on the page. Self-contained but for the page's style sheet.
std::string render_figure(const Figure& figure, std::size_t number);

// Safe as text and within a quoted attribute; control characters, which HTML forbids, are dropped.
std::string escape_html(std::string_view text);

// At most `points_max` of the points: the first, the last, and of each stretch the lowest and the highest, so that no peak is
// lost. PRE: points_max >= 4.
std::vector<std::pair<std::int64_t, double>> downsample(const std::vector<std::pair<std::int64_t, double>>& points,
                                                        std::size_t points_max);

// "46,500", "0.25", "95.2 %", "3.1 h"; three or four significant digits.
std::string format_value(double value, Unit unit);

}  // namespace berth
