// What a controller has to look at again, and when: a key is there once however often it was added, is handed out to one
// pass at a time, and waits longer after each failure. Time is an argument: the alarm's, which never goes back.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "base/assert.h"
#include "base/rng.h"
#include "base/time.h"

namespace berth {

class DueKeys {
 public:
  static constexpr Duration kRetryFirst{200};
  static constexpr Duration kRetryMax = seconds(60);

  explicit DueKeys(Seed seed) : rng_(seed) {}

  // Due at `when`, or earlier if it was so already. Of a key that is in somebody's hands: once it is given back.
  void add(const std::string& key, Time when) {
    const auto [at, is_new] = when_.try_emplace(key, when);
    if (!is_new) {
      if (at->second <= when) return;
      order_.erase({at->second, key});
      at->second = when;
    }
    if (!held_.contains(key)) order_.insert({when, key});
  }

  // The key that has been due longest: in the taker's hands until settled, released or failed.
  std::optional<std::string> take(Time now) {
    if (order_.empty() || order_.begin()->first > now) return std::nullopt;
    std::string key = std::move(order_.extract(order_.begin()).value().second);
    when_.erase(key);
    held_.insert(key);
    return key;
  }

  // PRE for the three: the key was taken.
  void settle(const std::string& key) {  // all is well
    failures_.erase(key);
    release(key);
  }
  void release(const std::string& key) {  // neither well nor failed
    BERTH_ASSERT(held_.erase(key) == 1);
    if (const auto at = when_.find(key); at != when_.end()) order_.insert({at->second, key});
  }
  // Due again after a while; when.
  Time fail(const std::string& key, Time now) {
    const Time again = now + wait_after_failure(key);
    // What was added meanwhile waits too: what failed would fail again at once.
    when_.insert_or_assign(key, again);
    release(key);
    return again;
  }

  // When there is something to take; none: nothing waits.
  std::optional<Time> next() const {
    if (order_.empty()) return std::nullopt;
    return order_.begin()->first;
  }
  std::size_t waiting() const { return when_.size(); }

 private:
  // Doubles, with up to a quarter more by chance, so that many that failed together do not come back together.
  Duration wait_after_failure(const std::string& key) {
    const int doublings = std::min(failures_[key]++, 10);
    const std::int64_t least_ms = std::min(kRetryFirst.ms << doublings, kRetryMax.ms);
    return {least_ms + rng_.between(0, least_ms / 4)};
  }

  Rng rng_;
  std::map<std::string, Time> when_;
  std::set<std::pair<Time, std::string>> order_;  // of those in when_ that nobody holds
  std::set<std::string> held_;
  std::map<std::string, int> failures_;
};

}  // namespace berth
