#include "store/feed.h"

#include <algorithm>
#include <chrono>
#include <exception>
#include <utility>

namespace berth {

namespace {

constexpr std::size_t kStep = 256;  // changes that one watcher gets before the next has its turn
constexpr std::chrono::seconds kIdleNoticeEvery{1};

}  // namespace

struct Feed::Subscriber {
  std::string prefix;
  Revision seen;
  Store::Notice notice;
  bool told_lately = false;  // publishing thread only, as is `seen`
  bool ended = false;        // under the feed's lock
};

class Feed::Subscription : public Watching {
 public:
  Subscription(std::shared_ptr<Feed> feed, std::shared_ptr<Subscriber> subscriber)
      : feed_(std::move(feed)), subscriber_(std::move(subscriber)) {}
  ~Subscription() override { feed_->end(subscriber_); }

 private:
  const std::shared_ptr<Feed> feed_;
  const std::shared_ptr<Subscriber> subscriber_;
};

Feed::Feed(Fetch fetch, Revision latest) : fetch_(std::move(fetch)), latest_(latest) {}

Feed::~Feed() { stop(); }

void Feed::start() {
  const std::lock_guard lock(mutex_);
  thread_ = std::thread([this] { publish(); });
  publishing_ = thread_.get_id();
}

void Feed::stop() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  wake_.notify_all();
  if (thread_.joinable()) thread_.join();
}

void Feed::wake(Revision latest) noexcept {
  {
    const std::lock_guard lock(mutex_);
    latest_ = latest;
    work_left_ = true;
  }
  wake_.notify_one();
}

std::shared_ptr<Watching> Feed::subscribe(std::string prefix, Revision after, Store::Notice notice) {
  auto subscriber = std::make_shared<Subscriber>(Subscriber{std::move(prefix), after, std::move(notice)});
  auto subscription = std::make_shared<Subscription>(shared_from_this(), subscriber);
  {
    const std::lock_guard lock(mutex_);
    subscribers_.push_back(std::move(subscriber));
    work_left_ = true;
  }
  wake_.notify_one();
  return subscription;
}

void Feed::end(const std::shared_ptr<Subscriber>& subscriber) {
  Store::Notice notice;  // dropped without the lock: what it holds may end other watches
  std::unique_lock lock(mutex_);
  subscriber->ended = true;
  std::erase(subscribers_, subscriber);
  const bool from_its_own_notice = running_ == subscriber.get() && std::this_thread::get_id() == publishing_;
  if (from_its_own_notice) return;  // it still runs; tell() drops it
  told_.wait(lock, [&] { return running_ != subscriber.get(); });
  notice.swap(subscriber->notice);
  lock.unlock();
}

std::vector<std::shared_ptr<Feed::Subscriber>> Feed::subscribers() const {
  const std::lock_guard lock(mutex_);
  return subscribers_;
}

void Feed::publish() {
  auto next_idle_notice = std::chrono::steady_clock::now() + kIdleNoticeEvery;
  while (true) {
    Revision latest = 0;
    {
      std::unique_lock lock(mutex_);
      wake_.wait_until(lock, next_idle_notice, [this] { return stopping_ || work_left_; });
      if (stopping_) return;
      work_left_ = false;
      latest = latest_;
    }
    bool left = false;
    try {
      left = deliver_round(latest);
      if (std::chrono::steady_clock::now() >= next_idle_notice) {
        next_idle_notice = std::chrono::steady_clock::now() + kIdleNoticeEvery;
        tell_the_idle();
      }
    } catch (const std::exception&) {
      // Out of memory before a batch was handed out. Nobody has missed anything: the next round begins where it was.
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
      left = true;
    }
    if (left) {
      const std::lock_guard lock(mutex_);
      work_left_ = true;
    }
  }
}

// A step for everyone who is behind; whether somebody still is.
bool Feed::deliver_round(Revision latest) {
  bool left = false;
  Batch batch;
  Revision batch_after = -1;  // most watchers stand at the same place and share one batch
  for (const auto& subscriber : subscribers()) {
    if (subscriber->seen >= latest) continue;
    if (batch_after != subscriber->seen) {
      batch_after = -1;
      batch = fetch_(subscriber->seen, kStep);
      batch_after = subscriber->seen;
    }
    if (batch.out_of_reach) {
      give_up(subscriber);
      continue;
    }
    deliver(subscriber, batch);
    left = left || subscriber->seen < latest;
  }
  return left;
}

void Feed::deliver(const std::shared_ptr<Subscriber>& subscriber, const Batch& batch) {
  for (const ChangePtr& change : batch.changes) {
    if (!change->key().starts_with(subscriber->prefix)) continue;
    subscriber->seen = change->revision;
    if (!tell(subscriber, change, change->revision)) {
      // Ended meanwhile, or by its own exception: nothing more for it.
      subscriber->seen = batch.until;
      return;
    }
  }
  subscriber->seen = std::max(subscriber->seen, batch.until);
}

void Feed::tell_the_idle() {
  for (const auto& subscriber : subscribers()) {
    if (!subscriber->told_lately) tell(subscriber, nullptr, subscriber->seen);
    subscriber->told_lately = false;
  }
}

// False if the watch has ended.
bool Feed::tell(const std::shared_ptr<Subscriber>& subscriber, const ChangePtr& change, Revision seen) {
  {
    const std::lock_guard lock(mutex_);
    if (subscriber->ended || stopping_) return false;
    running_ = subscriber.get();
  }
  bool threw = false;
  try {
    subscriber->notice(change, seen);
  } catch (...) {
    threw = true;
  }
  subscriber->told_lately = true;
  Store::Notice dropped;
  bool ended = false;
  {
    const std::lock_guard lock(mutex_);
    running_ = nullptr;
    ended = subscriber->ended;
    if (ended) dropped.swap(subscriber->notice);
  }
  told_.notify_all();
  // It has missed this change; it must not go on as if it had not.
  if (threw && !ended && seen != Store::kFellBehind) give_up(subscriber);
  return !threw && !ended;
}

void Feed::give_up(const std::shared_ptr<Subscriber>& subscriber) {
  tell(subscriber, nullptr, Store::kFellBehind);
  const std::lock_guard lock(mutex_);
  subscriber->ended = true;
  std::erase(subscribers_, subscriber);
}

}  // namespace berth
