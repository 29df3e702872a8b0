// Objects of several kinds as the server's watches tell them, for a command that waits until they change.
#pragma once

#include <chrono>
#include <condition_variable>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "kube/alarm.h"
#include "kube/mirror.h"
#include "kube/transport.h"
#include "manifest/value.h"

namespace berth {

// Kind by kind.
using SeenObjects = std::vector<std::vector<Value>>;

class WatchedObjects {
 public:
  // PRE: the transport outlives it; at least one kind.
  WatchedObjects(Transport& server, const std::vector<MirrorOptions>& kinds);
  WatchedObjects(const WatchedObjects&) = delete;
  WatchedObjects& operator=(const WatchedObjects&) = delete;
  ~WatchedObjects() = default;

  // Until something is new or that time has come. Trouble with the server is said on stderr when it begins.
  void wait_until(std::chrono::steady_clock::time_point until);
  // Whether all there was of the kind has been told.
  bool is_synced(std::size_t kind) const;
  bool all_synced() const;
  SeenObjects objects() const;

 private:
  void say_trouble();

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<std::map<std::string, ObjectPtr>> objects_;  // by namespace and name
  std::vector<bool> synced_;
  bool news_ = false;
  std::string trouble_;  // as it was said
  std::unique_ptr<Alarm> alarm_;
  std::vector<std::unique_ptr<Mirror>> mirrors_;  // the last: their callbacks use all of the others
};

}  // namespace berth
