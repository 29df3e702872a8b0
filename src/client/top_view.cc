#include "client/top_view.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <tuple>
#include <utility>

#include "client/screen_line.h"
#include "client/text_width.h"
#include "manifest/timestamp.h"
#include "model/quantity.h"

namespace berth {
namespace {

// Below this there is no room for anything that means something.
constexpr ScreenSize kSmallest{30, 6};
constexpr std::size_t kRowsForEvents = 22;  // of the screen; smaller ones show none
constexpr std::size_t kEventsShown = 4;
constexpr std::size_t kQueuesShownMax = 12;
constexpr std::size_t kNameColumnsMin = 12, kNameColumnsMax = 40, kQueueColumnsMax = 18, kGpuColumnsMax = 16;

constexpr std::array<std::string_view, 3> kShownNames = {"all", "waiting", "running"};
constexpr std::array<std::string_view, 3> kNothing = {"nothing waits or runs", "nothing waits", "nothing runs"};
constexpr std::array<std::string_view, 4> kTopOrderNames = {"age", "GPUs", "queue", "name"};

constexpr std::array<std::string_view, 15> kHelp = {"q, ctrl-C       leave",
                                                    "p               all that waits or runs",
                                                    "w               only what waits",
                                                    "r               only what runs",
                                                    "s               sort by age, GPUs, queue, name",
                                                    "up, down, k, j  scroll the list",
                                                    "page up, down   scroll by a screen",
                                                    "home, end       to its ends",
                                                    "?               this, and back",
                                                    "",
                                                    "GPUS            of all pods that run at once",
                                                    "WHY OR HOW FAR  why it waits; of what runs, how much",
                                                    "                of its declared run time is over",
                                                    "",
                                                    "berth explain job/NAME -n NAMESPACE says more"};

std::string shown_name(const Work& work) {
  const std::string name = work.name.kind == "job" ? work.name.name : work.name.to_string();
  return work.name_space + "/" + name;
}

// What waits stands before what runs; then as asked for; the uid makes the order total.
class Before {
 public:
  explicit Before(TopOrder order) : order_(order) {}
  using Row = std::pair<const std::string*, const LiveWork*>;

  bool operator()(const Row& a, const Row& b) const {
    const Work& x = a.second->work;
    const Work& y = b.second->work;
    if (has_no_place_yet(x.state) != has_no_place_yet(y.state)) return has_no_place_yet(x.state);
    if (order_ == TopOrder::kGpus && x.gpu_milli() != y.gpu_milli()) return x.gpu_milli() > y.gpu_milli();
    if (order_ == TopOrder::kQueue && x.queue != y.queue) return x.queue < y.queue;
    if (order_ == TopOrder::kName) {
      return std::tuple(std::string_view(x.name.name), std::string_view(x.name_space), std::string_view(*a.first)) <
             std::tuple(std::string_view(y.name.name), std::string_view(y.name_space), std::string_view(*b.first));
    }
    return std::tie(x.created, *a.first) < std::tie(y.created, *b.first);
  }

 private:
  TopOrder order_;
};

// How the rows of a screen are given out.
struct Layout {
  std::size_t banner = 0, history = 0, queues = 0, events = 0, list = 0;  // lines each; with their headings
};

class Drawing {
 public:
  Drawing(const ClusterPicture& cluster, const TopWish& wish, ScreenSize size, Time now)
      : cluster_(cluster), wish_(wish), size_(size), now_(now), mark_(wish.unicode ? "…" : "~") {}

  TopPicture draw() && {
    if (size_.columns < kSmallest.columns || size_.rows < kSmallest.rows) {
      push(line().add("too small a screen"));
      return std::move(picture_);
    }
    draw_title();
    if (wish_.help) {
      for (const std::string_view each : kHelp) {
        if (picture_.lines.size() < size_.rows) push(line().add(each));
      }
      return std::move(picture_);
    }
    queue_rows_ = cluster_.queues();
    const Layout layout = give_out_rows();
    for (std::size_t i = 0; i < layout.banner; ++i) push(line().add(wish_.banner[i], Style::kBold));
    draw_whole(layout.history > 0);
    if (layout.queues > 0) draw_queues(layout.queues - 1);
    draw_list(layout.list);
    if (layout.events > 0) draw_events(layout.events - 1);
    draw_footer();
    return std::move(picture_);
  }

 private:
  ScreenLine line() const { return ScreenLine(size_.columns, wish_.colours, mark_); }
  void push(ScreenLine& line) { picture_.lines.push_back(std::move(line).text()); }
  void push(ScreenLine&& line) { push(line); }

  // The title, GPUs, jobs and the footer are always there; the list has at least a heading and one row; then, as long as
  // there is room: the banner, the history, queues, events. What is left is the list's.
  Layout give_out_rows() const {
    Layout layout;
    std::size_t left = size_.rows - 4 - 2;
    const auto take = [&left](std::size_t wanted) {
      const std::size_t taken = std::min(wanted, left);
      left -= taken;
      return taken;
    };
    layout.banner = take(wish_.banner.size());
    if (left > 3) layout.history = take(2);
    const std::size_t queues = std::min({queue_rows_.size(), kQueuesShownMax, size_.rows / 4});
    if (queues > 0 && left > queues + 3) layout.queues = take(queues + 1);
    const std::size_t events = std::min(cluster_.events().size(), kEventsShown);
    if (events > 0 && size_.rows >= kRowsForEvents && left > events + 4) layout.events = take(events + 1);
    layout.list = left + 2;
    return layout;
  }

  void draw_title() {
    const std::string clock = format_timestamp(now_).substr(11, 8) + " UTC";
    ScreenLine title = line();
    const std::size_t clock_columns = size_.columns >= 50 ? clock.size() + 1 : 0;
    title.cell(wish_.title, size_.columns - clock_columns, Style::kHeader);
    if (clock_columns > 0) title.add(" " + clock, Style::kHeader);
    push(title);
  }

  void draw_whole(bool with_history) {
    const QueueUse& whole = cluster_.whole();
    const std::int64_t all = cluster_.gpu_milli();
    const std::int64_t per_mille = all > 0 ? std::clamp<std::int64_t>(whole.used_gpu_milli * 1000 / all, 0, 1000) : 0;
    ScreenLine gpus = line();
    gpus.add("GPUs    ", Style::kBold);
    std::string use = decimal_of_milli(whole.used_gpu_milli);
    if (all > 0) use += " of " + decimal_of_milli(all);
    gpus.cell(use, 17);
    if (all > 0 && gpus.left() > 20) {
      const std::size_t bar = std::min<std::size_t>(gpus.left() - 9, 60);
      gpus.gap(1).add(bar_of(per_mille, bar, wish_.unicode), Style::kGood);
    }
    if (all > 0) gpus.add(" " + std::to_string(per_mille / 10) + "." + std::to_string(per_mille % 10) + " %");
    push(gpus);
    if (with_history) draw_history("        in use   ", Style::kGood, 1000, &ClusterPicture::Sample::used_per_mille);

    ScreenLine jobs = line();
    jobs.add("Jobs    ", Style::kBold);
    jobs.add(std::to_string(whole.pending) + " wait", whole.pending > 0 ? Style::kWaiting : Style::kPlain);
    if (whole.pending_gpu_milli > 0) jobs.add(" (" + decimal_of_milli(whole.pending_gpu_milli) + " GPUs)");
    jobs.add(", " + std::to_string(whole.running) + " run, " + std::to_string(cluster_.ended()) + " ended");
    if (cluster_.failed() > 0) jobs.add(" (" + std::to_string(cluster_.failed()) + " failed)", Style::kBad);
    if (cluster_.nodes() > 0) {
      const bool all_ready = cluster_.nodes() == cluster_.nodes_ready();
      jobs.add(
          "; " + std::to_string(cluster_.nodes_ready()) + " of " + std::to_string(cluster_.nodes()) + " nodes ready",
          all_ready ? Style::kDim : Style::kBad);
    }
    push(jobs);
    if (with_history) {
      std::int64_t most = 1;
      for (const auto& each : cluster_.history()) most = std::max<std::int64_t>(most, each.pending);
      draw_history("        waiting  ", Style::kWaiting, most, &ClusterPicture::Sample::pending);
    }
  }

  void draw_history(std::string_view label, Style style, std::int64_t full, int ClusterPicture::Sample::* value) {
    ScreenLine history = line();
    history.add(label, Style::kDim);
    const std::size_t columns = std::min<std::size_t>(history.left(), 60);
    std::vector<std::int64_t> values;
    for (const auto& each : cluster_.history()) values.push_back(each.*value);
    push(history.add(sparkline_of(values, full, columns, wish_.unicode), style));
  }

  void draw_queues(std::size_t rows) {
    std::size_t name = 5;
    for (const auto& row : queue_rows_) name = std::max(name, columns_of(row.label));
    name = std::min(name, size_.columns / 3);
    push(line()
             .cell("QUEUE", name, Style::kDim)
             .cell_right("PENDING", 9, Style::kDim)
             .cell_right("RUNNING", 9, Style::kDim)
             .cell_right("GPUS", 10, Style::kDim));
    // Where not all fit, the last line says how many are missing.
    const bool all_fit = queue_rows_.size() <= rows;
    for (std::size_t i = 0; i < (all_fit ? queue_rows_.size() : rows - 1); ++i) {
      const QueueUse use = cluster_.use_of(queue_rows_[i].name);
      ScreenLine row = line();
      row.cell(queue_rows_[i].label, name);
      row.cell_right(std::to_string(use.pending), 9, use.pending > 0 ? Style::kWaiting : Style::kPlain);
      row.cell_right(std::to_string(use.running), 9).cell_right(decimal_of_milli(use.used_gpu_milli), 10);
      const std::int64_t all = cluster_.gpu_milli();
      if (all > 0 && row.left() > 12) {
        const std::int64_t share = std::clamp<std::int64_t>(use.used_gpu_milli * 1000 / all, 0, 1000);
        row.gap(2).add(bar_of(share, std::min<std::size_t>(row.left(), 40), wish_.unicode), Style::kGood);
      }
      push(row);
    }
    if (!all_fit)
      push(line().add("and " + std::to_string(queue_rows_.size() + 1 - rows) + " more queues", Style::kDim));
  }

  std::vector<Before::Row> listed_rows() const {
    std::vector<Before::Row> rows;
    for (const auto& [uid, live] : cluster_.live()) {
      const bool waiting = has_no_place_yet(live.work.state);
      if (wish_.shown == TopShown::kAll || waiting == (wish_.shown == TopShown::kWaiting))
        rows.emplace_back(&uid, &live);
    }
    return rows;
  }

  void draw_list(std::size_t lines) {
    std::vector<Before::Row> rows = listed_rows();
    const std::size_t room = lines - 1;
    const std::size_t end_of_list = picture_.lines.size() + lines;
    picture_.listed = rows.size();
    picture_.listed_shown = room;
    picture_.first = std::min(wish_.first, rows.size() > room ? rows.size() - room : 0);
    const std::size_t end = std::min(picture_.first + room, rows.size());
    // Only what is seen must stand in order.
    std::ranges::partial_sort(rows, rows.begin() + static_cast<std::ptrdiff_t>(end), Before(wish_.order));
    Columns columns;
    for (std::size_t i = picture_.first; i < end; ++i) {
      const Work& work = rows[i].second->work;
      columns.name = std::max(columns.name, columns_of(printable(shown_name(work))));
      columns.queue = std::max(columns.queue, columns_of(printable(work.queue)));
      columns.gpus = std::max(columns.gpus, columns_of(printable(asked_in_short(work))) + 2);
    }
    columns.name = std::min({columns.name, kNameColumnsMax, size_.columns * 2 / 5});
    columns.queue = size_.columns >= 90 ? std::min(columns.queue, kQueueColumnsMax) + 2 : 0;
    columns.gpus = std::min(columns.gpus, kGpuColumnsMax);
    draw_row({"NAME", "QUEUE", "STATE", "PODS", "GPUS", "AGE", "WHY OR HOW FAR"}, columns, Style::kDim, Style::kDim);
    for (std::size_t i = picture_.first; i < end; ++i) draw_work(*rows[i].second, columns);
    if (rows.empty()) push(line().add(kNothing[static_cast<std::size_t>(wish_.shown)], Style::kDim));
    // On a screen the footer stays at its bottom.
    while (wish_.hints && picture_.lines.size() < end_of_list) push(line());
  }

  struct Cells {
    std::string name, queue, state, pods, gpus, age, rest;
  };

  // As wide as what is shown; a queue of 0 is left out.
  struct Columns {
    std::size_t name = kNameColumnsMin, queue = 5, gpus = 7;
  };

  void draw_row(const Cells& cells, const Columns& columns, Style style, Style of_state) {
    ScreenLine row = line();
    row.cell(cells.name, columns.name, style).gap(2);
    if (columns.queue > 0) row.cell(cells.queue, columns.queue, style);
    row.cell(cells.state, 10, of_state);
    if (size_.columns >= 70) row.cell_right(cells.pods, 7, style);
    row.gap(1).cell_right(cells.gpus, columns.gpus - 1, style);
    if (size_.columns >= 60) row.cell_right(cells.age, 7, style);
    push(row.gap(2).add(cells.rest, style));
  }

  void draw_work(const LiveWork& live, const Columns& columns) {
    const Work& work = live.work;
    Cells cells{.name = shown_name(work),
                .queue = work.queue,
                .state = std::string(name_of(work.state)),
                .pods = std::to_string(work.pods_ready) + "/" + std::to_string(work.pods),
                .gpus = asked_in_short(work),
                .age = format_age(std::max(now_ - work.created, Duration{0})),
                .rest = ""};
    if (!work.reasons.empty() && (has_no_place_yet(work.state) || work.pods_ready < work.pods)) {
      cells.rest = work.reasons.front().first;
    } else if (live.started) {
      cells.rest = progress_of(live);
    }
    const Style style = work.state == WorkState::kRunning ? Style::kGood
                        : has_no_place_yet(work.state)    ? Style::kWaiting
                                                          : Style::kPlain;
    draw_row(cells, columns, Style::kPlain, style);
  }

  std::string progress_of(const LiveWork& live) const {
    const Duration so_far = std::max(now_ - *live.started, Duration{0});
    if (!live.run_limit || live.run_limit->ms == 0) return "for " + format_age(so_far);
    const double part = std::min(1.0, static_cast<double>(so_far.ms) / static_cast<double>(live.run_limit->ms));
    return bar_of(static_cast<std::int64_t>(part * 1000), 10, wish_.unicode) + " " + format_age(so_far) + " of " +
           format_age(*live.run_limit);
  }

  void draw_events(std::size_t rows) {
    const std::vector<ShownEvent> events = cluster_.events();
    push(line().add("EVENTS", Style::kDim));
    for (std::size_t i = events.size() - rows; i < events.size(); ++i) {
      const ShownEvent& event = events[i];
      ScreenLine row = line();
      row.cell(format_age(std::max(now_ - event.at, Duration{0})), 6, Style::kDim);
      row.add(event.reason, event.warning ? Style::kBad : Style::kPlain).gap(2);
      push(row.add(event.about).add(": ").add(event.message, Style::kDim));
    }
  }

  void draw_footer() {
    ScreenLine footer = line();
    if (!wish_.trouble.empty()) {
      push(footer.add(wish_.trouble, Style::kBad));
      return;
    }
    const std::size_t last = std::min(picture_.first + picture_.listed_shown, picture_.listed);
    std::string text =
        picture_.listed == 0 ? "" : std::to_string(picture_.first + 1) + "-" + std::to_string(last) + " of ";
    text += std::to_string(picture_.listed) + ", " + std::string(kShownNames[static_cast<std::size_t>(wish_.shown)]) +
            ", by " + std::string(kTopOrderNames[static_cast<std::size_t>(wish_.order)]);
    footer.add(text, Style::kBold);
    if (wish_.hints) footer.add("   q quit  ? help  p/w/r all/waiting/running  s sort", Style::kDim);
    push(footer);
  }

  const ClusterPicture& cluster_;
  const TopWish& wish_;
  const ScreenSize size_;
  const Time now_;
  const std::string mark_;
  std::vector<ClusterPicture::QueueRow> queue_rows_;
  TopPicture picture_;
};

}  // namespace

TopPicture draw_top(const ClusterPicture& cluster, const TopWish& wish, ScreenSize size, Time now) {
  return Drawing(cluster, wish, size, now).draw();
}

std::string bar_of(std::int64_t per_mille, std::size_t columns, bool unicode) {
  // What is there at all is seen, and what is not whole does not look so.
  auto filled = static_cast<std::size_t>(per_mille) * columns / 1000;
  if (per_mille > 0 && filled == 0 && columns > 0) filled = 1;
  std::string bar;
  for (std::size_t i = 0; i < columns; ++i) bar += i < filled ? (unicode ? "█" : "#") : (unicode ? "░" : ".");
  return bar;
}

std::string sparkline_of(const std::vector<std::int64_t>& values, std::int64_t full, std::size_t columns,
                         bool unicode) {
  constexpr std::array<std::string_view, 8> kFine = {"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
  constexpr std::array<std::string_view, 8> kCoarse = {"_", "_", ".", ".", "-", "-", "=", "#"};
  const auto& marks = unicode ? kFine : kCoarse;
  std::string text;
  for (std::size_t i = values.size() - std::min(values.size(), columns); i < values.size(); ++i) {
    const std::int64_t value = std::clamp<std::int64_t>(values[i], 0, full);
    text += value == 0 ? " " : marks[static_cast<std::size_t>((value * 8 - 1) / full)];
  }
  return text;
}

bool obey(KeyPress key, const TopPicture& seen, TopWish& wish) {
  const std::size_t page = std::max<std::size_t>(seen.listed_shown, 2) - 1;
  wish.first = seen.first;
  const auto back = [&](std::size_t rows) { wish.first -= std::min(rows, wish.first); };
  switch (key.key) {
    case Key::kInterrupt:
      return false;
    case Key::kEscape:
      wish.help = false;
      return true;
    case Key::kUp:
      back(1);
      return true;
    case Key::kDown:
      wish.first += 1;
      return true;
    case Key::kPageUp:
      back(page);
      return true;
    case Key::kPageDown:
      wish.first += page;
      return true;
    case Key::kHome:
      wish.first = 0;
      return true;
    case Key::kEnd:
      wish.first = seen.listed;
      return true;
    case Key::kLetter:
      break;
  }
  const auto show = [&](TopShown shown) {
    wish.shown = shown;
    wish.first = 0;
  };
  switch (key.letter) {
    case 'q':
      return false;
    case 'p':
      show(TopShown::kAll);
      break;
    case 'w':
      show(TopShown::kWaiting);
      break;
    case 'r':
      show(TopShown::kRunning);
      break;
    case 's':
      wish.order = static_cast<TopOrder>((static_cast<std::size_t>(wish.order) + 1) % kTopOrderNames.size());
      break;
    case 'j':
      wish.first += 1;
      break;
    case 'k':
      back(1);
      break;
    case ' ':
      wish.first += page;
      break;
    case '?':
    case 'h':
      wish.help = !wish.help;
      break;
    default:
      break;
  }
  return true;
}

}  // namespace berth
