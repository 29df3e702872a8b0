#include "cli/waiting.h"

#include <fmt/core.h>
#include <unistd.h>

#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <map>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "cli/command_line.h"
#include "client/asking.h"
#include "kube/alarm.h"
#include "kube/mirror.h"

namespace berth {
namespace {

// How often trouble with the server is looked for while nothing is heard of it.
constexpr std::chrono::seconds kLookEvery{1};

// The job and its pods, or the one pod, as the server's watches tell.
class Watched {
 public:
  explicit Watched(WorkName name) : name_(std::move(name)) {}

  void take(const ObjectChange& change, bool is_job) {
    const std::scoped_lock lock(mutex_);
    auto& objects = is_job ? jobs_ : pods_;
    const std::string uid(change.object()["metadata"]["uid"].text());
    if (change.after) {
      objects[uid] = change.after;
    } else {
      objects.erase(uid);
    }
    const bool itself = is_job == (name_.kind == "job");
    if (itself) (change.after ? seen_ : gone_) = true;
    news_ = true;
    changed_.notify_all();
  }

  void synced(bool is_job) {
    const std::scoped_lock lock(mutex_);
    // It was deleted before the first look.
    if (is_job == (name_.kind == "job") && !seen_) gone_ = true;
    news_ = true;
    changed_.notify_all();
  }

  // Until something is new, or that time.
  void wait_until(std::chrono::steady_clock::time_point until) {
    std::unique_lock lock(mutex_);
    changed_.wait_until(lock, until, [this] { return news_; });
    news_ = false;
  }

  bool gone() {
    const std::scoped_lock lock(mutex_);
    return gone_;
  }

  std::optional<Work> work() {
    const std::scoped_lock lock(mutex_);
    if (name_.kind == "pod") {
      if (pods_.empty()) return std::nullopt;
      return read_pod_work(*pods_.begin()->second);
    }
    if (jobs_.empty()) return std::nullopt;
    std::vector<Value> pods;
    for (const auto& [uid, pod] : pods_) pods.push_back(*pod);
    std::vector<Work> work = read_work({*jobs_.begin()->second}, pods_of_job(pods, jobs_.begin()->first));
    return std::move(work.front());
  }

 private:
  const WorkName name_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::map<std::string, ObjectPtr> jobs_, pods_;
  bool seen_ = false, gone_ = false, news_ = false;
};

MirrorOptions mirror_of(const WorkName& name, const std::string& name_space, bool of_job) {
  MirrorOptions options;
  options.qualified = of_job ? "jobs.batch" : "pods";
  options.name_space = name_space;
  if (!of_job && name.kind == "job") {
    options.label_selector = "batch.kubernetes.io/job-name=" + name.name;
  } else {
    options.field_selector = "metadata.name=" + name.name;
  }
  return options;
}

std::string progress_of(const Work& work) {
  std::string text =
      fmt::format("{}: {}, {} of {} pods", work.name.to_string(), name_of(work.state), work.pods_ready, work.pods);
  if (work.state == WorkState::kWaiting && !work.reasons.empty())
    text += ": " + shortened(work.reasons.front().first, 100);
  return text;
}

int say_end(const Work& work) {
  std::string text = fmt::format("{} {}", work.name.to_string(), name_of(work.state));
  const bool failed = work.state == WorkState::kFailed;
  if (failed && !work.reasons.empty()) text += ": " + printable(work.reasons.front().first);
  if (failed) text += "; `berth logs " + work.name.to_string() + "` shows what it said";
  fmt::print(stderr, "{}\n", text);
  return failed ? kExitFailed : kExitDone;
}

}  // namespace

int wait_until_ended(Transport& server, const WorkName& name, const std::string& name_space,
                     std::optional<Duration> timeout) {
  Watched watched(name);
  const std::unique_ptr<Alarm> alarm = Alarm::start();
  std::vector<std::unique_ptr<Mirror>> mirrors;
  for (const bool of_job : {true, false}) {
    if (of_job && name.kind == "pod") continue;
    mirrors.push_back(Mirror::start(
        server, *alarm, mirror_of(name, name_space, of_job),
        [&watched, of_job](const ObjectChange& change) { watched.take(change, of_job); },
        [&watched, of_job] { watched.synced(of_job); }));
  }
  const auto begun = std::chrono::steady_clock::now();
  const bool terminal = isatty(STDERR_FILENO) != 0;
  std::string said, trouble;
  while (true) {
    const std::optional<Work> work = watched.work();
    if (work && has_ended(work->state)) return say_end(*work);
    if (watched.gone()) {
      fmt::print(stderr, "berth: {} was deleted before it ended\n", name.to_string());
      return kExitFailed;
    }
    if (work && terminal && progress_of(*work) != said) fmt::print(stderr, "{}\n", said = progress_of(*work));
    if (mirrors.front()->trouble() != trouble) {
      trouble = mirrors.front()->trouble();
      if (!trouble.empty()) fmt::print(stderr, "berth: cannot see {}: {}; trying again\n", name.to_string(), trouble);
    }
    const auto now = std::chrono::steady_clock::now();
    if (timeout && now - begun >= std::chrono::milliseconds(timeout->ms)) {
      fmt::print(stderr, "berth: {} has not ended in time and goes on{}; `berth explain {}` says more\n",
                 name.to_string(), work ? " (" + std::string(name_of(work->state)) + ")" : "", name.to_string());
      return kExitTimedOut;
    }
    auto next = now + kLookEvery;
    if (timeout) next = std::min(next, begun + std::chrono::milliseconds(timeout->ms));
    watched.wait_until(next);
  }
}

}  // namespace berth
