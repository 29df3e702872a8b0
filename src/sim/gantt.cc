// Who did what when, as bars along the time.
#include <algorithm>
#include <string>
#include <string_view>

#include "base/assert.h"
#include "sim/chart_pieces.h"

namespace berth::charts {
namespace {

// Below this a bar could not be seen.
constexpr double kNarrowest = 1.5;

struct BarLook {
  std::string_view style;
  std::string_view means;
  double top = 0;  // within a row that is 1 high
  double height = 1;
};

// By Gantt::Kind.
constexpr BarLook kLooks[] = {{"waits", "waits", .5, 0},
                              {"runs", "runs", .12, .76},
                              {"lacks", "runs without some of its pods", .12, .76},
                              {"stops", "told to stop, and still there", .3, .4},
                              {"promised", "promised", .2, .6}};

const BarLook& look_of(Gantt::Kind kind) { return kLooks[static_cast<std::size_t>(kind)]; }

std::string title_of(const std::string& title) { return "<title>" + escape_html(title) + "</title>"; }

std::string drawn(const Gantt::Bar& bar, double top, const std::string& style, const XScale& x) {
  BERTH_ASSERT(bar.from <= bar.to);
  const std::int64_t from = std::max(bar.from, x.low);
  const std::int64_t to = std::min(bar.to, x.high);
  if (from > to || (from == to && bar.from != bar.to)) return "";
  const BarLook& look = look_of(bar.kind);
  const std::string y = decimal(top + look.top, 2);
  const std::string style_name = std::string(look.style) + " " + style;
  if (bar.kind == Gantt::Kind::kWaits) {
    return "<path" + attribute("class", style_name) + " d=\"M" + coordinate(x.at(from)) + " " + y + "H" +
           coordinate(x.at(to)) + "\">" + title_of(bar.title) + "</path>";
  }
  return "<rect" + attribute("class", style_name) + " x=\"" + coordinate(x.at(from)) + "\" y=\"" + y + "\" width=\"" +
         coordinate(std::max(kNarrowest, x.at(to) - x.at(from))) + "\" height=\"" + decimal(look.height, 2) + "\">" +
         title_of(bar.title) + "</rect>";
}

std::string legend_entry(const std::string& picture, std::string_view words) {
  return "<li><svg viewBox=\"0 0 32 10\" aria-hidden=\"true\">" + picture + "</svg>" + escape_html(words) + "</li>";
}

bool has_bar_of(const Gantt& gantt, Gantt::Kind kind) {
  return std::ranges::any_of(gantt.rows, [&](const Gantt::Row& row) {
    return std::ranges::find(row.bars, kind, &Gantt::Bar::kind) != row.bars.end();
  });
}

std::string legend(const Gantt& gantt) {
  std::string html = "<ul class=\"legend\">";
  for (std::size_t group = 0; group < gantt.groups.size(); ++group) {
    html +=
        legend_entry("<rect class=\"runs " + style_of(group) + "\" width=\"32\" height=\"10\"/>", gantt.groups[group]);
  }
  for (std::size_t kind = 0; kind < std::size(kLooks); ++kind) {
    const BarLook& look = kLooks[kind];
    if (kind == static_cast<std::size_t>(Gantt::Kind::kRuns)) continue;
    if (!has_bar_of(gantt, static_cast<Gantt::Kind>(kind))) continue;
    html += legend_entry(kind == static_cast<std::size_t>(Gantt::Kind::kWaits)
                             ? "<path class=\"waits\" d=\"M0 5H32\"/>"
                             : "<rect class=\"" + std::string(look.style) + " s0\" y=\"1\" width=\"32\" height=\"8\"/>",
                         look.means);
  }
  if (std::ranges::any_of(gantt.rows, [](const Gantt::Row& row) { return !row.marks.empty(); })) {
    html += legend_entry("<path class=\"taken\" d=\"M16 0V10\"/>", "stopped before it was done");
  }
  return html + "</ul>\n";
}

}  // namespace

std::string render_gantt(const Gantt& gantt, std::size_t number) {
  BERTH_ASSERT(gantt.low < gantt.high);
  std::string html = figure_head("chart gantt", number, gantt.title, gantt.description);
  if (gantt.rows.empty()) return html + "<p class=\"nothing\">Nothing was recorded.</p></figure>\n";
  html += legend(gantt) + "<div class=\"plot\"><div class=\"names\" aria-hidden=\"true\">";
  for (const Gantt::Row& row : gantt.rows) {
    html += "<span" + attribute("title", row.name) + ">" + escape_html(row.name) + "</span>";
  }
  const std::string rows = std::to_string(gantt.rows.size());
  html += "</div>\n<div class=\"canvas\" style=\"--rows:" + rows + "\">";
  html += svg_head(number, "0 0 1000 " + rows, gantt.title, gantt.description + " The numbers follow as a table.");
  const XScale x{gantt.low, gantt.high, XAxis::kTime};
  html += "<g class=\"grid\">";
  for (const std::int64_t tick : x.ticks()) html += "<path d=\"M" + coordinate(x.at(tick)) + " 0V" + rows + "\"/>";
  html += "</g>\n";
  for (std::size_t r = 0; r < gantt.rows.size(); ++r) {
    const Gantt::Row& row = gantt.rows[r];
    const auto top = static_cast<double>(r);
    html += "<g" + attribute("data-name", row.name) + ">";
    for (const Gantt::Bar& bar : row.bars) html += drawn(bar, top, style_of(row.group), x);
    for (const Gantt::Mark& mark : row.marks) {
      if (mark.at < gantt.low || mark.at > gantt.high) continue;
      html += "<path class=\"taken\" d=\"M" + coordinate(x.at(mark.at)) + " " + decimal(top + .02, 2) + "v.96\">" +
              title_of(mark.title) + "</path>";
    }
    html += "</g>\n";
  }
  return html + "</svg></div>\n" + x_axis_labels(x) + "</div>\n</figure>\n";
}

}  // namespace berth::charts
