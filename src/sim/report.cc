#include "sim/report.h"

#include <cstddef>
#include <string_view>

#include "base/assert.h"

namespace berth {
namespace {

// Colours: eight hues that stay apart for the common forms of colour blindness, by lightness too (after Okabe and Ito,
// "Color Universal Design", 2008; darkened on white, lightened on black for contrast).
constexpr std::string_view kStyle = R"css(
:root{color-scheme:light dark;--paper:#fff;--ink:#1c2024;--soft:#5b636b;--line:#d9dde1;--faint:#eceff1;--panel:#f6f7f8;--accent:#0b6aa8;
--c0:#0b6aa8;--c1:#c8501a;--c2:#0c8363;--c3:#9c3d80;--c4:#8a6d00;--c5:#4a9bd1;--c6:#555d65;--c7:#6b4bb5;
--h0:#dce9f3;--h1:#b9d6ea;--h2:#7fb3d8;--h3:#4589bd;--h4:#1d5c93;--h5:#0b2f57}
@media(prefers-color-scheme:dark){:root{--paper:#14171a;--ink:#e4e7ea;--soft:#9aa3ab;--line:#343a40;--faint:#23282c;--panel:#1b1f23;--accent:#6db7ea;
--c0:#5aaee6;--c1:#f0844f;--c2:#3fc29b;--c3:#d883bb;--c4:#d8b32e;--c5:#9fd2f2;--c6:#a9b1b9;--c7:#ab93ea;
--h0:#1c2c3a;--h1:#1f4466;--h2:#2a6596;--h3:#4a90c6;--h4:#8cc1e8;--h5:#dceefb}}
*{box-sizing:border-box}
html{-webkit-text-size-adjust:100%;text-size-adjust:100%}
body{margin:0;background:var(--paper);color:var(--ink);font:16px/1.5 system-ui,-apple-system,"Segoe UI",Roboto,"Noto Sans",sans-serif}
main{max-width:64rem;margin:0 auto;padding:2.5rem 1.25rem 4rem}
h1,h2,h3,p,ul,dl,dd,figure{margin:0;padding:0}
h1{font:600 2rem/1.2 Charter,"Iowan Old Style","Source Serif 4","Noto Serif",Georgia,serif;letter-spacing:-.01em;overflow-wrap:anywhere}
.subtitle{margin-top:.4rem;color:var(--soft);max-width:46rem;overflow-wrap:anywhere}
h3{font:600 1.15rem/1.35 Charter,"Iowan Old Style","Source Serif 4","Noto Serif",Georgia,serif;overflow-wrap:anywhere}
.number{color:var(--soft);font-weight:400;margin-right:.35em}
.facts{display:grid;grid-template-columns:repeat(auto-fit,minmax(9.5rem,1fr));gap:0 1.5rem;margin:1.75rem 0 0;border-bottom:1px solid var(--line)}
.facts div{border-top:1px solid var(--line);padding:.6rem 0 .75rem;display:flex;flex-direction:column-reverse;justify-content:flex-end}
.facts dt{color:var(--soft);font-size:.8125rem;line-height:1.3}
.facts dd{font-size:1.5rem;line-height:1.25;font-weight:600;font-variant-numeric:tabular-nums;overflow-wrap:anywhere}
figure,.table{margin-top:3rem}
figcaption p,.table>p{color:var(--soft);max-width:46rem;margin-top:.15rem;overflow-wrap:anywhere}
.legend{list-style:none;display:flex;flex-wrap:wrap;gap:.15rem 1.1rem;margin-top:.7rem;font-size:.8125rem;line-height:1.6}
.legend li{display:flex;align-items:center;gap:.45rem;min-width:0;overflow-wrap:anywhere}
.legend svg{width:32px;height:10px;flex:none;overflow:visible}
.legend button{all:unset;display:flex;align-items:center;gap:.45rem;cursor:pointer;border-radius:3px;min-width:0}
.legend button:focus-visible,summary:focus-visible,.canvas:focus-visible,.scroll:focus-visible{outline:2px solid var(--accent);outline-offset:2px}
.legend button[aria-pressed=false]{opacity:.45;text-decoration:line-through}
.plot{display:grid;grid-template-columns:auto 1fr;column-gap:.6rem;margin-top:.6rem;font-size:.75rem;color:var(--soft);font-variant-numeric:tabular-nums}
.of-what{grid-column:1/-1;margin-bottom:.45rem;min-height:0}
.y-axis{position:relative;min-width:var(--label)}
.y-axis span{position:absolute;right:0;transform:translateY(-50%);white-space:nowrap}
.canvas{position:relative;height:clamp(11rem,26vw,17rem);min-width:0;touch-action:pan-y}
.canvas>svg{position:absolute;inset:0;width:100%;height:100%;display:block;overflow:clip;overflow-clip-margin:2px}
.x-axis{grid-column:2;position:relative;height:1.6rem;margin-top:.3rem}
.x-axis span{position:absolute;transform:translateX(-50%);white-space:nowrap}
.x-axis .first{transform:none}.x-axis .last{transform:translateX(-100%)}
svg path{fill:none;vector-effect:non-scaling-stroke}
.grid path{stroke:var(--faint);stroke-width:1}
.grid .zero{stroke:var(--line)}
.line{stroke-width:1.75;stroke-linejoin:round;stroke-linecap:butt}
.band{stroke:var(--paper);stroke-width:1}
.s0{--c:var(--c0)}.s1{--c:var(--c1);stroke-dasharray:8 3}.s2{--c:var(--c2);stroke-dasharray:2.5 2.5}.s3{--c:var(--c3);stroke-dasharray:10 3 2.5 3}
.s4{--c:var(--c4);stroke-dasharray:14 4}.s5{--c:var(--c5);stroke-dasharray:5 2}.s6{--c:var(--c6);stroke-dasharray:1.5 4}.s7{--c:var(--c7);stroke-dasharray:12 3 2.5 3 2.5 3}
.line{stroke:var(--c)}svg .band{fill:var(--c);stroke-dasharray:none;fill-opacity:.82}
.off{display:none}
.band-label{position:absolute;transform:translate(-50%,-50%);background:var(--paper);color:var(--ink);padding:0 .4em;border-radius:3px;font-size:.75rem;line-height:1.5;max-width:40%;white-space:nowrap;overflow:hidden;text-overflow:ellipsis;pointer-events:none}
.nothing{color:var(--soft);font-style:italic;margin-top:.6rem}
.canvas .nothing{position:absolute;inset:0;display:grid;place-content:center;margin:0;font-size:.875rem}
.cross{position:absolute;top:0;bottom:0;width:1px;background:var(--ink);opacity:.55;pointer-events:none}
.tip{position:absolute;top:.3rem;z-index:2;background:var(--paper);color:var(--ink);border:1px solid var(--line);border-radius:4px;padding:.35rem .55rem;font-size:.75rem;line-height:1.45;pointer-events:none;box-shadow:0 2px 8px #0002;max-width:min(18rem,75%)}
.tip b{display:block;font-weight:600}
.tip div{display:flex;gap:.45rem;align-items:center}
.tip div span:nth-child(2){overflow:hidden;text-overflow:ellipsis;white-space:nowrap}
.tip div span:last-child{margin-left:auto;padding-left:.6rem;white-space:nowrap}
.tip svg{width:20px;height:8px;flex:none}
.bars{margin-top:.6rem;font-size:.8125rem;font-variant-numeric:tabular-nums}
.bar{display:grid;grid-template-columns:minmax(4rem,11rem) 1fr minmax(7.5rem,auto);column-gap:.75rem;align-items:center}
.bar>svg{width:100%;height:1.5rem;display:block}
.bar .name,.names span{overflow:hidden;text-overflow:ellipsis;white-space:nowrap}
.bar .values{display:grid;grid-template-columns:1fr 1fr;gap:.6rem;text-align:right;white-space:nowrap}
.bar b{font-weight:600}.bar i{font-style:normal;color:var(--soft)}
.bar .x-axis{color:var(--soft);font-size:.75rem}.scale .values{color:var(--soft);font-size:.75rem}
.median{fill:var(--c0)}svg .whisker{stroke:var(--ink);stroke-width:1.5}
.heat .plot{grid-template-columns:minmax(4rem,11rem) 1fr}
.heat .canvas{height:calc(var(--rows)*1.25rem)}
.heat .canvas>svg{shape-rendering:crispEdges}
.names{display:grid;grid-auto-rows:1.25rem;color:var(--ink);font-size:.8125rem;line-height:1.25rem}
.h0{fill:var(--h0)}.h1{fill:var(--h1)}.h2{fill:var(--h2)}.h3{fill:var(--h3)}.h4{fill:var(--h4)}.h5{fill:var(--h5)}.none{fill:none;stroke:var(--line)}
.gantt .plot{grid-template-columns:minmax(4rem,14rem) 1fr}
.gantt .canvas{height:calc(var(--rows)*1.25rem);border-left:1px solid var(--line)}
svg .waits{stroke:var(--soft);stroke-width:1;stroke-dasharray:2 3;pointer-events:stroke}
.runs{fill:var(--c)}.lacks{fill:var(--c);fill-opacity:.45}.stops{fill:var(--c);fill-opacity:.3}.promised{fill:none;stroke:var(--c);vector-effect:non-scaling-stroke}
svg .taken{stroke:var(--ink);stroke-width:3}
details{margin-top:.35rem;font-size:.8125rem}
summary{color:var(--soft);cursor:pointer;width:fit-content}
.scroll{overflow:auto;max-height:24rem;margin-top:.4rem}
table{border-collapse:collapse;font-variant-numeric:tabular-nums;min-width:100%}
th,td{padding:.28rem .9rem .28rem 0;border-bottom:1px solid var(--faint);text-align:left;font-weight:400;vertical-align:top;white-space:nowrap}
td:last-child,th:last-child{padding-right:0}
thead th{color:var(--soft);border-bottom-color:var(--line);position:sticky;top:0;background:var(--paper)}
.n{text-align:right}
.table .scroll{max-height:none;font-size:.875rem;margin-top:.7rem}
.again{margin-top:3.5rem;border-top:1px solid var(--line);padding-top:1rem;color:var(--soft);font-size:.875rem}
code{display:block;margin-top:.35rem;color:var(--ink);font:.8125rem/1.6 ui-monospace,"SF Mono",Menlo,Consolas,"DejaVu Sans Mono",monospace;background:var(--panel);padding:.6rem .8rem;border-radius:4px;white-space:pre-wrap;overflow-wrap:anywhere}
@media(max-width:40rem){main{padding:1.5rem 1rem 3rem}h1{font-size:1.6rem}.facts{grid-template-columns:1fr 1fr}.facts dd{font-size:1.25rem}.x-axis .minor{display:none}
.bar{grid-template-columns:1fr auto;row-gap:0;padding-top:.35rem}.bar>svg{grid-row:2;grid-column:1/-1;height:1.1rem}.bar.scale>span:first-child{display:none}.bar.scale .x-axis{grid-column:1/-1;grid-row:1}.bar.scale .values{display:none}
.heat .plot,.gantt .plot{grid-template-columns:minmax(3.5rem,5.5rem) 1fr}}
@media print{:root{--paper:#fff;--ink:#000;--soft:#444}body{font-size:10pt}main{max-width:none;padding:0}figure,.bar,tr{break-inside:avoid}figure,.table{margin-top:1.6rem}.canvas{height:5.2cm}.tip,.cross{display:none}
svg,.median,.legend svg{print-color-adjust:exact;-webkit-print-color-adjust:exact}.table .scroll,.scroll{overflow:visible;max-height:none}}
)css";

// Adds to a page that is complete without it: values under the pointer (or the arrow keys), series that can be hidden.
// A change here needs a new kScriptHash; the test says which.
constexpr std::string_view kScript = R"js(
"use strict";
(function () {
  function trim(x, digits) { return String(Number(x.toFixed(digits))); }
  function number(x) {
    var a = Math.abs(x);
    return Number(x.toFixed(a >= 100 ? 0 : a >= 10 ? 1 : a >= 1 ? 2 : 3)).toLocaleString("en-US", {maximumFractionDigits: 3});
  }
  function value(x, unit) {
    var a = Math.abs(x);
    if (unit === "percent") return trim(x, 1) + " %";
    if (unit !== "seconds") return number(x);
    if (a < 60) return trim(x, a < 10 ? 1 : 0) + " s";
    if (a < 3600) return trim(x / 60, a < 600 ? 1 : 0) + " min";
    if (a < 172800) return trim(x / 3600, 1) + " h";
    return trim(x / 86400, 1) + " d";
  }
  function time(ms) {
    var minutes = Math.round(ms / 60000), d = Math.floor(minutes / 1440), h = Math.floor(minutes / 60) % 24, m = minutes % 60;
    if (ms < 600000) return Math.round(ms / 1000) + " s";
    return (d ? d + " d " : "") + (d || h ? h + " h " : "") + m + " min";
  }
  function add(parent, name, type, text) {
    var made = document.createElement(name);
    if (type) made.className = type;
    if (text !== undefined) made.textContent = text;
    parent.appendChild(made);
    return made;
  }
  // Shows `fill`'s text beside the place that is pointed at; `step` is one press of an arrow key.
  function pointing(canvas, step, fill) {
    var cross = add(canvas, "div", "cross"), tip = add(canvas, "div", "tip"), at = 0;
    cross.hidden = tip.hidden = true;
    function show(x, y) {
      at = Math.min(1, Math.max(0, x));
      tip.textContent = "";
      var shown = fill(tip, at, y);
      cross.hidden = tip.hidden = shown === null;
      if (shown === null) return;
      cross.style.left = 100 * shown + "%";
      tip.style.left = shown < 0.5 ? "calc(" + 100 * shown + "% + 10px)" : "auto";
      tip.style.right = shown < 0.5 ? "auto" : "calc(" + 100 * (1 - shown) + "% + 10px)";
    }
    function hide() { cross.hidden = tip.hidden = true; }
    function moved(event) {
      var box = canvas.getBoundingClientRect();
      show((event.clientX - box.left) / box.width, (event.clientY - box.top) / box.height);
    }
    canvas.addEventListener("pointermove", moved);
    canvas.addEventListener("pointerdown", moved);
    canvas.addEventListener("pointerleave", hide);
    canvas.addEventListener("blur", hide);
    canvas.tabIndex = 0;
    canvas.addEventListener("keydown", function (event) {
      if (event.key === "Escape") hide();
      if (event.key !== "ArrowLeft" && event.key !== "ArrowRight") return;
      event.preventDefault();
      show(at + (event.key === "ArrowLeft" ? -step : step), 0);
    });
  }
  function swatch(row, original) {
    var span = add(row, "span"), svg = original.cloneNode(true);
    span.appendChild(svg);
  }

  document.querySelectorAll("figure.lines, figure.bands").forEach(function (figure) {
    var canvas = figure.querySelector(".canvas"), data = canvas.dataset, hidden = {};
    var low = Number(data.low), high = Number(data.high);
    var series = Array.from(canvas.querySelectorAll("path[data-series]")).map(function (path) {
      return {
        id: path.dataset.series, name: path.dataset.name,
        points: path.dataset.points.split(" ").map(function (pair) { return pair.split(",").map(Number); })
      };
    });
    var items = Array.from(figure.querySelectorAll(".legend li"));
    var order = items.map(function (item) { return item.dataset.series; });
    series.sort(function (a, b) { return order.indexOf(a.id) - order.indexOf(b.id); });
    items.forEach(function (item) {
      var id = item.dataset.series, button = document.createElement("button");
      button.type = "button";
      button.setAttribute("aria-pressed", "true");
      while (item.firstChild) button.appendChild(item.firstChild);
      item.appendChild(button);
      button.addEventListener("click", function () {
        hidden[id] = !hidden[id];
        button.setAttribute("aria-pressed", String(!hidden[id]));
        canvas.querySelectorAll("[data-series='" + id + "']").forEach(function (part) { part.classList.toggle("off", hidden[id]); });
      });
    });
    pointing(canvas, 0.01, function (tip, at) {
      var x = low + at * (high - low), nearest = null;
      series.forEach(function (one) {
        if (hidden[one.id]) return;
        var from = 0, to = one.points.length - 1;
        while (from < to) {
          var middle = (from + to) >> 1;
          if (one.points[middle][0] < x) from = middle + 1; else to = middle;
        }
        if (from > 0 && x - one.points[from - 1][0] < one.points[from][0] - x) from -= 1;
        one.near = one.points[from];
        if (nearest === null || Math.abs(one.near[0] - x) < Math.abs(nearest - x)) nearest = one.near[0];
      });
      if (nearest === null) return null;
      add(tip, "b", "", data.x === "time" ? time(nearest) : trim(nearest / 100, 1) + " %");
      series.forEach(function (one) {
        if (hidden[one.id]) return;
        var row = add(tip, "div");
        swatch(row, items[order.indexOf(one.id)].querySelector("svg"));
        add(row, "span", "", one.name);
        add(row, "span", "", value(one.near[1], data.unit));
      });
      return (nearest - low) / (high - low);
    });
  });

  document.querySelectorAll("figure.heat .canvas").forEach(function (canvas) {
    var data = canvas.dataset, columns = Number(data.columns);
    var rows = Array.from(canvas.querySelectorAll("g[data-values]")).map(function (row) {
      return {name: row.dataset.name, values: row.dataset.values.split(",")};
    });
    pointing(canvas, 1 / columns, function (tip, at, y) {
      var column = Math.min(columns - 1, Math.floor(at * columns + 1e-9));
      var row = rows[Math.min(rows.length - 1, Math.max(0, Math.floor(y * rows.length)))];
      var begin = Number(data.low) + column * Number(data.bin);
      add(tip, "b", "", row.name);
      add(tip, "div", "", "from " + time(begin));
      add(tip, "div", "", row.values[column] ? value(Number(row.values[column]), data.unit) : "none");
      return (column + 0.5) / columns;
    });
  });
})();
)js";

// Of kScript's bytes: the only script that the page may run, whatever a name in the data may smuggle in.
constexpr std::string_view kScriptHash = "sha256-SXiUj30v2fZsicBa7RQPCRg2xKUUf5DMhedu8K4IS5E=";

std::string render_table(const ReportTable& table) {
  std::string html = "<section class=\"table\"><h3>" + escape_html(table.title) + "</h3>";
  if (!table.description.empty()) html += "<p>" + escape_html(table.description) + "</p>";
  html += "\n<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"" + escape_html(table.title) +
          "\"><table><thead><tr>";
  for (const ReportTable::Column& column : table.columns) {
    html += std::string("<th scope=\"col\"") + (column.is_number ? " class=\"n\"" : "") + ">" +
            escape_html(column.name) + "</th>";
  }
  html += "</tr></thead><tbody>\n";
  for (const std::vector<std::string>& row : table.rows) {
    BERTH_ASSERT(row.size() == table.columns.size());
    html += "<tr>";
    for (std::size_t column = 0; column < row.size(); ++column) {
      html += std::string(table.columns[column].is_number ? "<td class=\"n\">" : "<td>") + escape_html(row[column]) +
              "</td>";
    }
    html += "</tr>\n";
  }
  return html + "</tbody></table></div></section>\n";
}

}  // namespace

std::string render_html(const Report& report) {
  std::string html = "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n";
  html +=
      "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'; "
      "script-src '" +
      std::string(kScriptHash) + "'; base-uri 'none'; form-action 'none'\">\n";
  html +=
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<meta name=\"referrer\" "
      "content=\"no-referrer\">\n";
  html += "<title>" + escape_html(report.title) + "</title>\n<style>" + std::string(kStyle) +
          "</style>\n</head>\n<body>\n<main>\n";
  html += "<header><h1>" + escape_html(report.title) + "</h1>";
  if (!report.subtitle.empty()) html += "<p class=\"subtitle\">" + escape_html(report.subtitle) + "</p>";
  html += "</header>\n";
  if (!report.facts.empty()) {
    html += "<dl class=\"facts\">";
    for (const auto& [label, value] : report.facts) {
      html += "<div><dt>" + escape_html(label) + "</dt><dd>" + escape_html(value) + "</dd></div>";
    }
    html += "</dl>\n";
  }
  for (std::size_t k = 0; k < report.figures.size(); ++k) html += render_figure(report.figures[k], k + 1);
  for (const ReportTable& table : report.tables) html += render_table(table);
  if (!report.command.empty())
    html +=
        "<footer class=\"again\">To make this report again<code>" + escape_html(report.command) + "</code></footer>\n";
  return html + "</main>\n<script>" + std::string(kScript) + "</script>\n</body>\n</html>\n";
}

}  // namespace berth
