#include "sim/kept_forecasts.h"

#include <algorithm>
#include <charconv>
#include <set>
#include <string_view>
#include <system_error>

#include "base/wording.h"
#include "cycle/recutting.h"
#include "fairness/standing.h"
#include "sim/run_ahead.h"

namespace berth {
namespace {

constexpr std::string_view kTitle = "berth forecasts ";
constexpr std::string_view kVersion = "1";

using NamedWorkloads = std::map<WorkloadId, const std::string*>;

// Whom their own names tell apart from what a line of the file is made of.
bool can_be_told(std::string_view name) {
  return !name.empty() &&
         std::ranges::all_of(name, [](char c) { return static_cast<unsigned char>(c) > ' ' && c != ','; });
}

// Those who wait in each line, as they stand.
void note_positions(const State& state, const NamedWorkloads& names, std::map<WorkloadId, KeptForecast>& rows) {
  for (std::size_t at = 0; at < state.lines().size(); ++at) {
    const auto& line = state.lines()[at];
    if (!line) continue;
    const QueueId queue(at);
    std::vector<Standing> in_order;
    for (const ShapeInLine& shape : line->shapes()) {
      shape.waiting.for_each([&](const PendingKey& key) {
        in_order.push_back(standing_of(state, queue, state.shape(shape.shape).user, key));
      });
    }
    std::ranges::sort(in_order);
    std::vector<std::string> first;
    std::int64_t position = 0;
    for (const Standing& each : in_order) {
      ++position;
      const auto row = rows.find(each.key.workload);
      if (row != rows.end()) {
        row->second.position = position;
        row->second.ahead = first;
      }
      const auto name = names.find(each.key.workload);
      if (first.size() < KeptForecasts::kAheadMax && name != names.end()) first.push_back(*name->second);
    }
  }
}

}  // namespace

void KeptForecasts::run_ahead(const State& state, const Names& waiting, Time now, const RunTimes& run_times,
                              const std::function<bool()>& stop) {
  std::set<WorkloadId> left;
  for (const auto& [id, name] : waiting) left.insert(id);
  EvenDraws draws(seed_, kSamples);
  const auto sample = static_cast<std::int64_t>(runs_++ % kSamples);
  RunAhead ahead(state, now, [&](const State& then, WorkloadId id) {
    const Workload& one = then.workload(id);
    const Duration so_far = one.started < now ? now - one.started : Duration{0};
    return run_times.quantile(run_of(then, id), so_far, draws.of(then, id, sample));
  });
  std::map<WorkloadId, Time> starts;
  std::size_t seen = 0;
  bool broken_off = false;
  while (true) {
    for (; seen < ahead.begun().size(); ++seen) {
      const RunAhead::Begun& begun = ahead.begun()[seen];
      if (left.erase(begun.workload) > 0) starts.emplace(begun.workload, begun.at);
    }
    // The further ahead, the less a moment more or less matters.
    const Time next = ahead.now() + std::max(kStep, Duration{(ahead.now() - now).ms / kStepsOfWait});
    broken_off = !left.empty() && stop();
    if (left.empty() || broken_off || !ahead.go_on(now + kHorizon, next)) break;
  }
  table_ = {.asked_at = now,
            .oldest = now,
            .until = broken_off ? ahead.now() : now + kHorizon,
            .running = static_cast<std::int64_t>(state.running()),
            .ended_runs = static_cast<std::int64_t>(run_times.count())};
  note(state, waiting, starts, now);
}

// What somebody was told to happen before now, and has not, is no more than a guess that was wrong.
void KeptForecasts::note(const State& state, const Names& waiting, const std::map<WorkloadId, Time>& starts, Time now) {
  std::map<std::string, std::deque<Told>> before;
  before.swap(told_);
  NamedWorkloads names;
  std::map<WorkloadId, KeptForecast> rows;
  for (const auto& [id, name] : waiting) {
    if (!can_be_told(name)) continue;
    std::deque<Told>& told = told_[name];
    if (const auto known = before.find(name); known != before.end()) told = std::move(known->second);
    const auto start = starts.find(id);
    told.push_back({now, start == starts.end() ? std::nullopt : std::optional(start->second)});
    std::erase_if(told,
                  [&](const Told& each) { return each.asked_at + kOldest < now || (each.start && *each.start < now); });
    while (std::ssize(told) > kSamples) told.pop_front();
    if (!told.empty()) table_.oldest = std::min(table_.oldest, told.front().asked_at);
    StartForecast forecast{.asked_at = now, .samples = std::ssize(told)};
    for (const Told& each : told) {
      if (each.start) forecast.starts.push_back(*each.start);
    }
    std::ranges::sort(forecast.starts);
    const Shadow* const shadow = state.shadow_of(id);
    const auto promised = shadow == nullptr ? std::nullopt : std::optional(begins_by(state, *shadow));
    names.emplace(id, &name);
    rows.emplace(id, KeptForecast{.workload = name,
                                  .queue = state.queues()[state.workload(id).queue.index()].name,
                                  .samples = forecast.samples,
                                  .p10 = forecast.quantile(10),
                                  .p50 = forecast.quantile(50),
                                  .p90 = forecast.quantile(90),
                                  .promised = promised});
  }
  note_positions(state, names, rows);
  for (auto& [id, row] : rows) table_.rows.push_back(std::move(row));
  std::ranges::sort(table_.rows, {}, &KeptForecast::workload);
}

// ---- as text ----------------------------------------------------------------------------------------------------------

namespace {

// The next word of a line; empty: there is none.
std::string_view take_word(std::string_view& line) {
  const std::size_t end = std::min(line.find(' '), line.size());
  const std::string_view word = line.substr(0, end);
  line.remove_prefix(std::min(end + 1, line.size()));
  return word;
}

std::optional<std::int64_t> take_number(std::string_view& line) {
  const std::string_view word = take_word(line);
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), number);
  if (word.empty() || error != std::errc() || end != word.data() + word.size()) return std::nullopt;
  return number;
}

// "-" of none; false: it is neither.
bool take_moment(std::string_view& line, std::optional<Time>& moment) {
  if (line.starts_with("-") && (line.size() == 1 || line[1] == ' ')) {
    take_word(line);
    return true;
  }
  const auto ms = take_number(line);
  if (ms) moment = Time{*ms};
  return ms.has_value();
}

void put_moment(std::string& text, const std::optional<Time>& moment) {
  text += ' ';
  text += moment ? std::to_string(moment->ms) : "-";
}

bool read_row(std::string_view line, ForecastTable& table, const std::function<bool(std::string_view)>& is_meant) {
  const std::string_view name = take_word(line);
  if (!is_meant(name)) return true;
  KeptForecast row{.workload = std::string(name), .queue = std::string(take_word(line))};
  const auto position = take_number(line), samples = take_number(line);
  if (!position || !samples) return false;
  row.position = *position;
  row.samples = *samples;
  for (std::optional<Time>* const moment : {&row.p10, &row.p50, &row.p90, &row.promised}) {
    if (!take_moment(line, *moment)) return false;
  }
  while (!line.empty()) row.ahead.emplace_back(take_word(line));
  table.rows.push_back(std::move(row));
  return true;
}

}  // namespace

std::string to_text(const ForecastTable& table) {
  std::string text = std::string(kTitle) + std::string(kVersion) + "\n";
  text += std::to_string(table.asked_at.ms) + " " + std::to_string(table.oldest.ms) + " " +
          std::to_string(table.until.ms) + " " + std::to_string(table.running) + " " +
          std::to_string(table.ended_runs) + "\n";
  for (const KeptForecast& row : table.rows) {
    text += row.workload + " " + row.queue + " " + std::to_string(row.position) + " " + std::to_string(row.samples);
    for (const auto& moment : {row.p10, row.p50, row.p90, row.promised}) put_moment(text, moment);
    for (const std::string& name : row.ahead) text += " " + name;
    text += "\n";
  }
  return text;
}

Result<ForecastTable> read_forecasts(const std::string& name, std::string_view text,
                                     const std::function<bool(std::string_view)>& is_meant) {
  const Complaints wrong({name}, "no forecasts, or cut off; a scheduler that runs writes them anew");
  const auto take_line = [&] {
    const std::size_t end = text.find('\n');
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    return line;
  };
  if (!text.ends_with('\n')) return wrong;
  std::string_view title = take_line();
  if (!title.starts_with(kTitle)) return wrong;
  title.remove_prefix(kTitle.size());
  if (title != kVersion) {
    return Complaints({name}, "forecasts of version " + quote(title) + ", and this Berth reads version " +
                                  std::string(kVersion) + "; ask the Berth of that scheduler");
  }
  ForecastTable table;
  std::string_view header = take_line();
  std::optional<std::int64_t> numbers[5];
  for (auto& number : numbers) number = take_number(header);
  if (std::ranges::any_of(numbers, [](const auto& number) { return !number; })) return wrong;
  table.asked_at = Time{*numbers[0]};
  table.oldest = Time{*numbers[1]};
  table.until = Time{*numbers[2]};
  table.running = *numbers[3];
  table.ended_runs = *numbers[4];
  while (!text.empty()) {
    if (!read_row(take_line(), table, is_meant)) return wrong;
  }
  return table;
}

}  // namespace berth
