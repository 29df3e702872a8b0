#include "cli/waiting.h"

#include <fmt/core.h>
#include <unistd.h>

#include <cstdio>
#include <string_view>
#include <utility>
#include <vector>

#include "cli/command_line.h"
#include "cli/watched_objects.h"
#include "client/asking.h"
#include "client/listing.h"
#include "kube/mirror.h"

namespace berth {
namespace {

MirrorOptions mirror_of(const WorkName& name, const std::string& name_space, bool of_job) {
  MirrorOptions options;
  options.qualified = of_job ? name.qualified() : "pods";
  options.name_space = name_space;
  if (!of_job && !name.is_pod()) {
    options.label_selector =
        (name.kind == "vcjob" ? "volcano.sh/job-name=" : "batch.kubernetes.io/job-name=") + name.name;
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

std::vector<MirrorOptions> kinds_of(const WorkName& name, const std::string& name_space) {
  std::vector<MirrorOptions> kinds = {mirror_of(name, name_space, !name.is_pod())};
  if (!name.is_pod()) kinds.push_back(mirror_of(name, name_space, false));
  return kinds;
}

// None: it is not there.
std::optional<Work> work_in(const SeenObjects& seen) {
  if (seen[0].empty()) return std::nullopt;
  if (seen.size() == 1) return read_pod_work(seen[0].front());
  std::vector<Work> work =
      read_work({seen[0].front()}, pods_of_job(seen[1], seen[0].front()["metadata"]["uid"].text()));
  return std::move(work.front());
}

int say_too_late(const WorkName& name, const std::optional<Work>& work, std::string_view what) {
  fmt::print(stderr, "berth: {} has not {} in time and goes on{}; `berth explain {}` says more\n", name.to_string(),
             what, work ? " (" + std::string(name_of(work->state)) + ")" : "", name.to_string());
  return kExitTimedOut;
}

}  // namespace

int wait_for(Transport& server, const WorkName& name, const std::string& name_space, WaitFor what,
             std::optional<std::chrono::steady_clock::time_point> until) {
  WatchedObjects watched(server, kinds_of(name, name_space));
  const bool terminal = isatty(STDERR_FILENO) != 0;
  std::string said;
  while (true) {
    // Asked first: what is gone after all was told was deleted, before that it may not have been told yet.
    const bool synced = watched.is_synced(0);
    const std::optional<Work> work = work_in(watched.objects());
    if (work && has_ended(work->state)) return what == WaitFor::kEnd ? say_end(*work) : kExitDone;
    if (work && what == WaitFor::kStart && work->state == WorkState::kRunning) return kExitDone;
    if (!work && synced) {
      fmt::print(stderr, "berth: {} was deleted before it ended\n", name.to_string());
      return kExitFailed;
    }
    if (work && terminal && progress_of(*work) != said) fmt::print(stderr, "{}\n", said = progress_of(*work));
    const auto now = std::chrono::steady_clock::now();
    if (until && now >= *until) return say_too_late(name, work, what == WaitFor::kEnd ? "ended" : "started");
    watched.wait_until(until ? *until : now + std::chrono::hours(1));
  }
}

}  // namespace berth
