#include "sim/report.h"
#include "base/time.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sim/chart.h"

namespace berth::report_test {

using Points = std::vector<std::pair<std::int64_t, double>>;

constexpr std::string_view kHostile =
    "</title></style></script><script>alert(1)</script><img src=x onerror='x'>\"&amp;";

Points ramp(std::int64_t count) {
  Points points;
  for (std::int64_t k = 0; k < count; ++k) points.emplace_back(k * 60'000, static_cast<double>(k % 97));
  return points;
}

Report full_report(std::string_view name) {
  const std::string text(name);
  LinePlot lines;
  lines.title = lines.description = lines.of_what = text;
  lines.series = {{text, ramp(3'000)}, {"b", ramp(10)}};
  LinePlot bands = lines;
  bands.stacked = true;
  LinePlot demand = lines;
  demand.x_axis = XAxis::kPercent;
  demand.unit = Unit::kPercent;
  demand.y_min = 20;
  demand.y_max = 90;
  const QuantilePlot waits{
      .title = text, .description = text, .unit = Unit::kSeconds, .rows = {{text, 30, 4'000}, {"b", 0, 0}}};
  HeatMap heat{
      .title = text, .description = text, .unit = Unit::kSeconds, .start_ms = 0, .bin_ms = kHourMs, .rows = {}};
  heat.rows = {{text, {10.0, {}, 5'000.0}}, {"b", std::vector<std::optional<double>>(40, 90'000.0)}};
  const Gantt gantt{.title = text,
                    .description = text,
                    .low = 0,
                    .high = kHourMs,
                    .groups = {text},
                    .rows = {{.name = text,
                              .group = 0,
                              .bars = {{0, kHourMs, Gantt::Kind::kWaits, text}, {0, 5, Gantt::Kind::kPromised, text}},
                              .marks = {{1, text}}}}};
  return {
      .title = text,
      .subtitle = text,
      .facts = {{text, text}},
      .figures = {lines, bands, demand, waits, heat, gantt},
      .tables = {{.title = text, .description = text, .columns = {{text, false}, {"n", true}}, .rows = {{text, text}}}},
      .command = text};
}

std::string page_with(Figure figure) {
  Report report;
  report.title = "t";
  report.figures.push_back(std::move(figure));
  return render_html(report);
}

std::size_t count_of(std::string_view text, std::string_view part) {
  std::size_t count = 0;
  for (std::size_t at = text.find(part); at != std::string_view::npos; at = text.find(part, at + part.size())) ++count;
  return count;
}

// What a strict reader complains of: tags that do not close in order, ids twice, quotes and angle brackets left open. Empty
// if nothing.
std::string first_fault(std::string_view html) {
  static const std::set<std::string_view> kVoid = {"meta", "!DOCTYPE"};
  std::vector<std::string_view> open;
  std::set<std::string_view> ids;
  for (std::size_t at = 0; (at = html.find('<', at)) != std::string_view::npos;) {
    std::size_t end = at + 1;
    for (char quote = 0; end < html.size() && (quote != 0 || html[end] != '>'); ++end) {
      if (quote == 0 && html[end] == '<') return "'<' in a tag: " + std::string(html.substr(at, 80));
      if (html[end] == '"') quote = quote == 0 ? '"' : 0;
    }
    if (end >= html.size()) return "open to the end: " + std::string(html.substr(at, 80));
    const std::string_view tag = html.substr(at + 1, end - at - 1);
    const bool closes = tag.starts_with('/');
    const std::string_view name = tag.substr(closes ? 1 : 0, tag.find_first_of(" /", 1) - (closes ? 1 : 0));
    if (const std::size_t id = tag.find(" id=\""); id != std::string_view::npos) {
      const std::string_view value = tag.substr(id + 5, tag.find('"', id + 5) - id - 5);
      if (!ids.insert(value).second) return "id twice: " + std::string(value);
    }
    at = end + 1;
    if (kVoid.contains(name) || tag.ends_with('/')) continue;
    if (!closes) {
      open.push_back(name);
      if (name == "script" || name == "style") at = html.find("</" + std::string(name), at);
    } else if (open.empty() || open.back() != name) {
      return "</" + std::string(name) + "> closes <" + std::string(open.empty() ? "" : open.back()) + ">";
    } else {
      open.pop_back();
    }
  }
  return open.empty() ? "" : "never closed: " + std::string(open.back());
}

// SHA-256 in base64 (FIPS 180-4, RFC 4648), as a content security policy names a script.
std::string sha256_base64(std::string_view text) {
  constexpr std::array<std::uint32_t, 64> kRounds = [] {
    // Fractions of the cube roots of the first 64 primes, found by integer search.
    std::array<std::uint32_t, 64> rounds{};
    std::size_t found = 0;
    for (std::uint64_t prime = 2; found < rounds.size(); ++prime) {
      bool is_prime = true;
      for (std::uint64_t d = 2; d * d <= prime; ++d) is_prime = is_prime && prime % d != 0;
      if (!is_prime) continue;
      __extension__ using Wide = unsigned __int128;
      std::uint64_t root = 0;  // of prime * 2^96
      for (std::uint64_t bit = std::uint64_t{1} << 35; bit > 0; bit >>= 1) {
        const std::uint64_t tried = root | bit;
        if (Wide{tried} * tried * tried <= Wide{prime} << 96) root = tried;
      }
      rounds[found++] = static_cast<std::uint32_t>(root);
    }
    return rounds;
  }();
  std::array<std::uint32_t, 8> hash = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                                       0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
  std::string padded(text);
  padded += '\x80';
  while (padded.size() % 64 != 56) padded += '\0';
  for (int shift = 56; shift >= 0; shift -= 8)
    padded += static_cast<char>((std::uint64_t{text.size()} * 8) >> shift & 0xff);
  for (std::size_t block = 0; block < padded.size(); block += 64) {
    std::array<std::uint32_t, 64> w{};
    for (std::size_t k = 0; k < 64; ++k) w[k / 4] = (w[k / 4] << 8) | static_cast<unsigned char>(padded[block + k]);
    for (std::size_t k = 16; k < 64; ++k) {
      const std::uint32_t a = std::rotr(w[k - 15], 7) ^ std::rotr(w[k - 15], 18) ^ (w[k - 15] >> 3);
      const std::uint32_t b = std::rotr(w[k - 2], 17) ^ std::rotr(w[k - 2], 19) ^ (w[k - 2] >> 10);
      w[k] = w[k - 16] + a + w[k - 7] + b;
    }
    std::array<std::uint32_t, 8> v = hash;
    for (std::size_t k = 0; k < 64; ++k) {
      const std::uint32_t high = std::rotr(v[4], 6) ^ std::rotr(v[4], 11) ^ std::rotr(v[4], 25);
      const std::uint32_t first = v[7] + high + ((v[4] & v[5]) ^ (~v[4] & v[6])) + kRounds[k] + w[k];
      const std::uint32_t low = std::rotr(v[0], 2) ^ std::rotr(v[0], 13) ^ std::rotr(v[0], 22);
      const std::uint32_t second = low + ((v[0] & v[1]) ^ (v[0] & v[2]) ^ (v[1] & v[2]));
      v = {first + second, v[0], v[1], v[2], v[3] + first, v[4], v[5], v[6]};
    }
    for (std::size_t k = 0; k < 8; ++k) hash[k] += v[k];
  }
  std::string bytes;
  for (const std::uint32_t word : hash) {
    for (int shift = 24; shift >= 0; shift -= 8) bytes += static_cast<char>(word >> shift & 0xff);
  }
  constexpr std::string_view kAlphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string base64;
  for (std::size_t k = 0; k < bytes.size(); k += 3) {
    std::uint32_t three = 0;
    for (std::size_t j = k; j < k + 3; ++j)
      three = three << 8 | (j < bytes.size() ? static_cast<unsigned char>(bytes[j]) : 0U);
    for (std::size_t j = 0; j < 4; ++j) base64 += k + j > bytes.size() ? '=' : kAlphabet[three >> (18 - 6 * j) & 63];
  }
  return base64;
}

TEST(Report, AsksNothingOfTheNetwork) {
  const std::string html = render_html(full_report("fleet"));
  for (const std::string_view part :
       {"http:", "https:", "//", "src=", "href=", "url(", "@import", "fetch(", "XMLHttpRequest"}) {
    const std::size_t allowed = part == "//" ? count_of(html, "// ") : 0;
    EXPECT_EQ(count_of(html, part), allowed) << part;
  }
}

TEST(Report, RunsOnlyItsOwnScript) {
  ASSERT_EQ(sha256_base64("abc"), "ungWv48Bz+pBQUDeXa4iI7ADYaOWF3qctBD/YfIAFa0=");
  const std::string html = render_html(full_report("fleet"));
  const std::size_t begin = html.find("<script>") + 8;
  const std::string script = html.substr(begin, html.find("</script>") - begin);
  EXPECT_NE(html.find("script-src 'sha256-" + sha256_base64(script) + "'"), std::string::npos)
      << "kScriptHash must be sha256-" << sha256_base64(script);
  EXPECT_NE(html.find("default-src 'none'"), std::string::npos);
}

TEST(Report, EscapesEveryTextThatUsersChoose) {
  const std::string plain = render_html(full_report("fleet"));
  const std::string hostile = render_html(full_report(kHostile));
  for (const std::string_view tag : {"<script", "</script", "<img", "</title", "</style", "<title", "<td", "<span"}) {
    EXPECT_EQ(count_of(hostile, tag), count_of(plain, tag)) << tag;
  }
  EXPECT_EQ(hostile.find("onerror='"), std::string::npos);
  EXPECT_GT(count_of(hostile, "&lt;script&gt;alert(1)&lt;/script&gt;"), 10U);
  EXPECT_EQ(escape_html(std::string_view("a\0b\x1b[c\n", 7)), "ab[c\n");
  EXPECT_EQ(escape_html("grün <&>\"'"), "grün &lt;&amp;&gt;&quot;&#39;");
}

TEST(Report, IsWellFormed) {
  ASSERT_EQ(first_fault("<p><b>x</b></p>"), "");
  ASSERT_NE(first_fault("<p><b>x</p></b>"), "");
  ASSERT_NE(first_fault("<p id=\"a\"></p><p id=\"a\"></p>"), "");
  ASSERT_NE(first_fault("<p>"), "");
  EXPECT_EQ(first_fault(render_html(full_report("fleet"))), "");
  EXPECT_EQ(first_fault(render_html(full_report(kHostile))), "");
  EXPECT_EQ(first_fault(render_html({})), "");
}

TEST(Report, DrawsWhatThereIsToDraw) {
  const double inf = std::numeric_limits<double>::infinity();
  struct Case {
    std::string_view what;
    std::vector<Series> series;
  };
  const Case cases[] = {
      {"no series", {}},
      {"an empty series", {{"a", {}}}},
      {"an empty one beside a full one", {{"a", {}}, {"b", ramp(50)}}},
      {"a single point", {{"a", {{kHourMs, 5}}}}},
      {"a single point at 0", {{"a", {{0, 0}}}}},
      {"the same moment twice", {{"a", {{0, 1}, {0, 2}}}}},
      {"all zero", {{"a", {{0, 0}, {kHourMs, 0}}}}},
      {"below zero", {{"a", {{0, -5}, {kHourMs, 3}}}}},
      {"not a number", {{"a", {{0, inf}, {1, std::numeric_limits<double>::quiet_NaN()}, {kHourMs, 3}}}}},
      {"nothing but infinity", {{"a", {{0, inf}}}}},
      {"very large and very small", {{"a", {{0, 1e18}, {kHourMs, 1e-9}}}}},
  };
  for (const Case& c : cases) {
    for (const bool stacked : {false, true}) {
      for (const Unit unit : {Unit::kNumber, Unit::kPercent, Unit::kSeconds}) {
        LinePlot plot;
        plot.title = "t";
        plot.unit = unit;
        plot.series = c.series;
        plot.stacked = stacked;
        const std::string html = page_with(plot);
        EXPECT_EQ(first_fault(html), "") << c.what;
        const std::string figure = render_figure(plot, 1);
        EXPECT_EQ(figure.find("nan"), std::string::npos) << c.what;
        EXPECT_EQ(figure.find("inf"), std::string::npos) << c.what;
      }
    }
  }
  EXPECT_NE(page_with(LinePlot{}).find("Nothing was recorded"), std::string::npos);
  EXPECT_NE(page_with(LinePlot{}).find("data-low=\"0\" data-high=\"3600000\""), std::string::npos)
      << "an hour stands for no time";
  EXPECT_NE(page_with(QuantilePlot{}).find("Nothing was recorded"), std::string::npos);
  EXPECT_NE(page_with(HeatMap{}).find("Nothing was recorded"), std::string::npos);
  EXPECT_EQ(first_fault(page_with(QuantilePlot{})), "");
  EXPECT_EQ(first_fault(page_with(HeatMap{})), "");
}

TEST(Report, TellsLinesApartWithoutColour) {
  LinePlot plot;
  for (int k = 0; k < 9; ++k) plot.series.push_back({"series-" + std::to_string(k), ramp(5)});
  const std::string html = page_with(plot);
  for (int k = 1; k < 8; ++k) {
    const std::string rule = ".s" + std::to_string(k) + "{--c:var(--c" + std::to_string(k) + ");stroke-dasharray:";
    EXPECT_EQ(count_of(html, rule), 1U) << rule;
    EXPECT_EQ(count_of(html, "class=\"line s" + std::to_string(k) + "\""), 2U) << "line and legend";
  }
  EXPECT_EQ(count_of(html, "<details>"), 1U) << "its numbers";
}

TEST(Downsample, KeepsEndsPeaksAndOrder) {
  for (const std::size_t count : {std::size_t{3}, std::size_t{1'000}, std::size_t{1'001}, std::size_t{123'457}}) {
    Points points = ramp(static_cast<std::int64_t>(count));
    points[count / 3].second = 1e6;
    points[count * 2 / 3].second = -1e6;
    const Points kept = downsample(points, 1'000);
    EXPECT_LE(kept.size(), 1'000U);
    EXPECT_GE(kept.size(), std::min<std::size_t>(count, 500));
    EXPECT_EQ(kept.front(), points.front());
    EXPECT_EQ(kept.back(), points.back());
    EXPECT_TRUE(std::ranges::is_sorted(kept));
    EXPECT_TRUE(std::ranges::includes(points, kept));
    EXPECT_EQ(std::ranges::count(kept, points[count / 3]), 1);
    EXPECT_EQ(std::ranges::count(kept, points[count * 2 / 3]), 1);
  }
  EXPECT_TRUE(downsample({}, 4).empty());
}

TEST(Chart, StackedBandsEndAtTheirSum) {
  // b holds its value between its points: at 30 min the sum is 10 + 5.
  LinePlot plot;
  plot.stacked = true;
  plot.y_max = 20;
  plot.series = {{"a", {{0, 10}, {kHourMs / 2, 10}, {kHourMs, 10}}}, {"b", {{0, 5}, {kHourMs, 10}}}};
  const std::string figure = render_figure(plot, 1);
  EXPECT_NE(figure.find("d=\"M0 250L500 250L1000 0L1000 500L500 500L0 500Z\""), std::string::npos) << figure;
}

TEST(Chart, LinesRunWhereTheirValuesAre) {
  LinePlot plot;
  plot.y_min = 50;
  plot.y_max = 100;
  plot.series = {{"a", {{0, 50}, {kHourMs, 100}, {2 * kHourMs, 75}}}};
  EXPECT_NE(render_figure(plot, 1).find("d=\"M0 1000L500 0L1000 500\""), std::string::npos);
}

TEST(Chart, HeatShadesByHowLongAndLeavesOutWhatWasNot) {
  HeatMap heat;
  heat.rows = {{"a", {30.0, 30.0, {}, 90'000.0}}};
  const std::string figure = render_figure(heat, 1);
  EXPECT_NE(figure.find("<rect class=\"h0\" x=\"0\" y=\"0.06\" width=\"2\""), std::string::npos);
  EXPECT_NE(figure.find("<rect class=\"h5\" x=\"3\" y=\"0.06\" width=\"1\""), std::string::npos);
  EXPECT_EQ(count_of(figure, " x=\"2\""), 0U);
}

TEST(Chart, BarsRunFromMomentToMomentAndAreCutAtTheEdges) {
  const Gantt gantt{.title = "t",
                    .description = "",
                    .low = 0,
                    .high = 1000,
                    .groups = {"red", "blue"},
                    .rows = {{.name = "a",
                              .group = 1,
                              .bars = {{-50, 100, Gantt::Kind::kWaits, "first"},
                                       {100, 400, Gantt::Kind::kRuns, "second"},
                                       {400, 400, Gantt::Kind::kRuns, "an instant"},
                                       {900, 2000, Gantt::Kind::kStops, "last"},
                                       {2000, 3000, Gantt::Kind::kRuns, "outside"}},
                              .marks = {{400, "taken"}, {1001, "later"}}},
                             {.name = "b", .group = 0, .bars = {{0, 1000, Gantt::Kind::kLacks, "all"}}, .marks = {}}}};
  const std::string page = page_with(gantt);
  EXPECT_TRUE(page.contains("<path class=\"waits s1\" d=\"M0 0.50H100\"><title>first</title>")) << page;
  EXPECT_TRUE(page.contains("<rect class=\"runs s1\" x=\"100\" y=\"0.12\" width=\"300\" height=\"0.76\">"));
  EXPECT_TRUE(page.contains("<rect class=\"runs s1\" x=\"400\" y=\"0.12\" width=\"1.5\""));
  EXPECT_TRUE(page.contains("<rect class=\"stops s1\" x=\"900\" y=\"0.30\" width=\"100\""));
  EXPECT_TRUE(page.contains("<path class=\"taken\" d=\"M400 0.02v.96\"><title>taken</title>"));
  EXPECT_TRUE(page.contains("<rect class=\"lacks s0\" x=\"0\" y=\"1.12\" width=\"1000\""));
  EXPECT_FALSE(page.contains("outside") || page.contains("later"));
  EXPECT_TRUE(
      page_with(Gantt{.title = "t", .description = "", .groups = {}, .rows = {}}).contains("Nothing was recorded"));
}

TEST(FormatValue, ReadsAsPeopleWriteIt) {
  struct Case {
    double value;
    Unit unit;
    std::string_view text;
  };
  const Case cases[] = {
      {0, Unit::kNumber, "0"},          {46'500, Unit::kNumber, "46,500"}, {-1'234'567, Unit::kNumber, "-1,234,567"},
      {999.6, Unit::kNumber, "1,000"},  {12.34, Unit::kNumber, "12.3"},    {0.25, Unit::kNumber, "0.25"},
      {-0.0001, Unit::kNumber, "0"},    {95.23, Unit::kPercent, "95.2 %"}, {100, Unit::kPercent, "100 %"},
      {0, Unit::kSeconds, "0 s"},       {0.25, Unit::kSeconds, "0.2 s"},   {42, Unit::kSeconds, "42 s"},
      {90, Unit::kSeconds, "1.5 min"},  {3'000, Unit::kSeconds, "50 min"}, {11'160, Unit::kSeconds, "3.1 h"},
      {259'200, Unit::kSeconds, "3 d"},
  };
  for (const Case& c : cases) EXPECT_EQ(format_value(c.value, c.unit), c.text);
}

}  // namespace berth::report_test
