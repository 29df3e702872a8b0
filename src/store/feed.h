// Brings changes to those who watch, on a thread of its own, so that slow notices never hold up a commit.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "store/store.h"

namespace berth {

// INVARIANT: notices run on the publishing thread alone, one at a time, with no lock held.
class Feed : public std::enable_shared_from_this<Feed> {
 public:
  struct Batch {
    std::vector<ChangePtr> changes;
    Revision until = 0;         // everything up to here is in `changes`
    bool out_of_reach = false;  // the log begins later
  };
  // The durable changes after a revision, at most so many. Not called after stop().
  using Fetch = std::function<Batch(Revision after, std::size_t changes_max)>;

  Feed(Fetch fetch, Revision latest);
  Feed(const Feed&) = delete;
  Feed& operator=(const Feed&) = delete;
  ~Feed();

  void start();
  // No notice runs after it. Never from a notice.
  void stop();
  // There are durable changes up to `latest`.
  void wake(Revision latest) noexcept;
  std::shared_ptr<Watching> subscribe(std::string prefix, Revision after, Store::Notice notice);

 private:
  struct Subscriber;
  class Subscription;

  void publish();
  bool deliver_round(Revision latest);
  void deliver(const std::shared_ptr<Subscriber>& subscriber, const Batch& batch);
  void tell_the_idle();
  bool tell(const std::shared_ptr<Subscriber>& subscriber, const ChangePtr& change, Revision seen);
  void end(const std::shared_ptr<Subscriber>& subscriber);
  void give_up(const std::shared_ptr<Subscriber>& subscriber);
  std::vector<std::shared_ptr<Subscriber>> subscribers() const;

  const Fetch fetch_;
  mutable std::mutex mutex_;
  std::condition_variable wake_;
  std::condition_variable told_;
  std::vector<std::shared_ptr<Subscriber>> subscribers_;
  const Subscriber* running_ = nullptr;  // whose notice runs now
  Revision latest_;
  bool work_left_ = false;
  bool stopping_ = false;
  std::thread thread_;
  std::thread::id publishing_;
};

}  // namespace berth
