// Logs of pods, from the files that the node agent writes: LOG_FOLDER/POD_UID/CONTAINER.log, and CONTAINER.previous.log of
// the run before this one if the container began again; a line each for what the
// container wrote, with the time in front: "2026-11-21T07:36:25.123456Z text". What has no time in front is served too.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <expected>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "apiserver/exchange.h"
#include "base/time.h"

namespace berth {

// What a client wants of a log.
struct LogWish {
  std::string container;
  bool follow = false, previous = false, timestamps = false;
  std::optional<std::int64_t> tail_lines, limit_bytes;
  std::optional<Time> since;
};
std::expected<LogWish, ApiError> read_log_wish(const HttpRequest& request, Time now);

// The lines of a piece of log as the client wants them; all but the last have ended. Pure.
std::string select_lines(std::string_view text, const LogWish& wish);

// One log that is being followed.
class FollowedLog;

// INVARIANT: when it is destroyed every followed log has ended.
class PodLogs {
 public:
  PodLogs(const ServerParts& parts, std::string folder);
  ~PodLogs();
  PodLogs(const PodLogs&) = delete;
  PodLogs& operator=(const PodLogs&) = delete;

  void serve(Exchange& exchange);

 private:
  void follow(std::unique_ptr<FollowedLog> log);
  void run();

  const ServerParts& parts_;
  const std::string folder_;
  std::mutex mutex_;
  std::condition_variable wake_;
  std::vector<std::unique_ptr<FollowedLog>> arrived_;
  bool closing_ = false;
  std::thread thread_;  // started by the first log that is followed
};

}  // namespace berth
