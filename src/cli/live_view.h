// A control plane as it goes on, on the screen or as one picture: mirrors feed the picture, which is drawn when there is
// news.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "cli/full_screen.h"
#include "client/cluster_picture.h"
#include "client/top_view.h"
#include "kube/alarm.h"
#include "kube/mirror.h"
#include "kube/transport.h"

namespace berth {

class LiveView {
 public:
  // An empty namespace: all of them. PRE: the transport outlives it.
  LiveView(Transport& transport, Alarm& alarm, const std::string& name_space);
  ~LiveView();
  LiveView(const LiveView&) = delete;
  LiveView& operator=(const LiveView&) = delete;

  // Whether all that may be seen has been told once: what is refused (nodes, for somebody who has one namespace) is left
  // out, but for jobs and pods.
  bool complete() const;
  // Why it may not be true just now; empty: it is.
  std::string trouble() const;
  TopPicture draw(const TopWish& wish, ScreenSize size);
  // What was counted so far, without drawing.
  template <class Look>
  auto look(Look look) {
    const std::scoped_lock hold(mutex_);
    picture_.settle();
    return look(std::as_const(picture_));
  }
  // One more point of the history; once a second.
  void sample();
  // Grows with every change that was told.
  std::uint64_t changes() const;

 private:
  struct Source {
    std::unique_ptr<Mirror> mirror;
    bool synced = false;
  };

  mutable std::mutex mutex_;
  ClusterPicture picture_;
  std::uint64_t changes_ = 0;
  std::array<Source, kPictureKinds.size()> sources_;
};

// The screen, its keys, and when it is drawn anew.
class LiveScreen {
 public:
  explicit LiveScreen(TopWish wish) : wish_(std::move(wish)) {}
  // Said with the next picture.
  void set_banner(std::vector<std::string> banner);
  // Waits for a key or a moment, and draws. False: somebody wants to leave.
  bool step(LiveView& view);

 private:
  // What the last picture was drawn of; nothing is drawn twice.
  struct Drawn {
    std::uint64_t changes = 0;
    std::int64_t second = 0;  // ages and the clock are shown in seconds
    ScreenSize size{0, 0};
    bool stale = true;
  };

  TopWish wish_;
  TopPicture seen_;
  Drawn drawn_;
  FullScreen screen_;
};

}  // namespace berth
