#include "cli/live_view.h"

#include <cstddef>
#include <utility>

#include "manifest/timestamp.h"

namespace berth {
namespace {

constexpr int kFrame_ms = 200;

bool is_indispensable(PictureKind kind) { return kind == PictureKind::kJobs || kind == PictureKind::kPods; }
bool is_namespaced(PictureKind kind) { return kind != PictureKind::kNodes && kind != PictureKind::kQueues; }

}  // namespace

LiveView::LiveView(Transport& transport, Alarm& alarm, const std::string& name_space) {
  for (std::size_t i = 0; i < sources_.size(); ++i) {
    const PictureKind kind = kPictureKinds[i];
    MirrorOptions options;
    options.qualified = qualified_of(kind);
    if (is_namespaced(kind)) options.name_space = name_space;
    options.jitter_seed = i + 1;
    options.slim = [kind](Value& object) { slim_for_picture(kind, object); };
    auto mirror = Mirror::start(
        transport, alarm, options,
        [this, kind](const ObjectChange& change) {
          const std::scoped_lock hold(mutex_);
          picture_.take(kind, change);
          ++changes_;
        },
        [this, i] {
          const std::scoped_lock hold(mutex_);
          sources_[i].synced = true;
        });
    const std::scoped_lock hold(mutex_);
    sources_[i].mirror = std::move(mirror);
  }
}

LiveView::~LiveView() {
  // Not under the lock, which the callbacks that are waited for take.
  for (Source& each : sources_) each.mirror.reset();
}

bool LiveView::complete() const {
  const std::scoped_lock hold(mutex_);
  for (std::size_t i = 0; i < sources_.size(); ++i) {
    const bool refused = !sources_[i].mirror->trouble().empty() && !is_indispensable(kPictureKinds[i]);
    if (!sources_[i].synced && !refused) return false;
  }
  return true;
}

std::string LiveView::trouble() const {
  for (std::size_t i = 0; i < sources_.size(); ++i) {
    if (!is_indispensable(kPictureKinds[i])) continue;
    if (std::string trouble = sources_[i].mirror->trouble(); !trouble.empty()) return trouble;
  }
  return "";
}

TopPicture LiveView::draw(const TopWish& wish, ScreenSize size) {
  const std::scoped_lock hold(mutex_);
  picture_.settle();
  return draw_top(picture_, wish, size, system_wall_clock()());
}

void LiveView::sample() {
  const std::scoped_lock hold(mutex_);
  picture_.settle();
  picture_.sample();
}

std::uint64_t LiveView::changes() const {
  const std::scoped_lock hold(mutex_);
  return changes_;
}

void LiveScreen::set_banner(std::vector<std::string> banner) {
  drawn_.stale = drawn_.stale || banner != wish_.banner;
  wish_.banner = std::move(banner);
}

bool LiveScreen::step(LiveView& view) {
  const Drawn now{
      .changes = view.changes(), .second = system_wall_clock()().ms / 1000, .size = terminal_size(), .stale = false};
  if (drawn_.stale || now.changes != drawn_.changes || now.second != drawn_.second || now.size != drawn_.size) {
    drawn_ = now;
    wish_.trouble = view.trouble();
    seen_ = view.draw(wish_, now.size);
    wish_.first = seen_.first;
    screen_.show(seen_.lines, now.size);
  }
  for (const KeyPress key : screen_.wait_for_keys(kFrame_ms)) {
    if (!obey(key, seen_, wish_)) return false;
    seen_.first = wish_.first;
    drawn_.stale = true;
  }
  return !screen_.gone();
}

}  // namespace berth
