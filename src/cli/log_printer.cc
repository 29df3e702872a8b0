#include "cli/log_printer.h"

#include <fmt/core.h>

#include <condition_variable>
#include <cstdio>
#include <memory>
#include <mutex>
#include <string_view>
#include <utility>
#include <vector>

#include "cli/command_line.h"
#include "cli/connection.h"
#include "cli/lookup.h"
#include "client/asking.h"

namespace berth {
namespace {

// With times, because a stream leaves out lines with nothing in them, and with a time none is.
ApiCall log_call(const std::string& name_space, const std::string& pod, const LogChoice& choice) {
  ApiCall call;
  call.accept = "*/*";
  call.path = api_path("pods", name_space, pod, "log") + "?timestamps=true";
  if (choice.follow) call.path += "&follow=true";
  if (!choice.container.empty()) call.path += "&container=" + percent_encoded(choice.container);
  return call;
}

// Reads the logs of several pods at once and prints each line when it comes, after its pod's name if there are several.
// Every stream ends by itself when its log does.
class LogPrinter {
 public:
  explicit LogPrinter(bool several) : several_(several) {}

  void begin(Transport& server, ApiCall call, const std::string& pod) {
    {
      const std::scoped_lock lock(mutex_);
      ++open_;
    }
    streams_.push_back(server.stream(
        std::move(call), [this, pod](std::string_view line) { print(pod, line); },
        [this, pod](const ApiAnswer& answer) { end(pod, answer); }));
  }

  int wait() {
    std::unique_lock lock(mutex_);
    ended_.wait(lock, [this] { return open_ == 0; });
    return exit_code_;
  }

 private:
  void print(const std::string& pod, std::string_view line) {
    const std::scoped_lock lock(mutex_);
    line.remove_prefix(line.find(' ') == std::string_view::npos ? line.size() : line.find(' ') + 1);
    fmt::print("{}{}\n", several_ ? pod + ": " : "", line);
    std::fflush(stdout);
  }

  void end(const std::string& pod, const ApiAnswer& answer) {
    const std::scoped_lock lock(mutex_);
    if (!answer.ok()) {
      const int failure = fail(failure_of(answer, "read the log of pod/" + pod));
      if (exit_code_ == kExitDone) exit_code_ = failure;
    }
    --open_;
    ended_.notify_all();
  }

  const bool several_;
  std::mutex mutex_;
  std::condition_variable ended_;
  int open_ = 0;
  int exit_code_ = kExitDone;
  std::vector<std::unique_ptr<ApiStream>> streams_;
};

Asked<std::vector<std::string>> pods_of(Transport& server, const WorkName& name, const std::string& name_space) {
  if (name.is_pod()) return std::vector<std::string>{name.name};
  const auto job = read_object(server, name.qualified(), name_space, name.name);
  if (!job) return std::unexpected(not_found_or(job.error(), server, name, name_space));
  const auto all = list_objects(server, "pods", name_space);
  if (!all) return std::unexpected(all.error());
  std::vector<std::string> pods, waiting;
  const std::string_view uid = (*job)["metadata"]["uid"].text();
  for (const Value& pod : name.is_job_set() ? pods_of_job_set(*all, uid) : pods_of_job(*all, uid)) {
    (pod["spec"]["nodeName"].is_empty() ? waiting : pods).emplace_back(pod["metadata"]["name"].text());
  }
  if (pods.empty()) {
    return std::unexpected(AskFailure{kExitWaits, name.to_string() + " has no pod that has started; `berth explain " +
                                                      name.to_string() + "` says why"});
  }
  if (!waiting.empty()) {
    fmt::print(stderr, "{} of its pods have not started and have no log yet\n", waiting.size());
  }
  return pods;
}

}  // namespace

int print_logs(Transport& server, const WorkName& name, const std::string& name_space, const LogChoice& choice) {
  const auto pods = pods_of(server, name, name_space);
  if (!pods) return fail(pods.error());
  LogPrinter printer(pods->size() > 1);
  int exit_code = kExitDone;
  for (const std::string& pod : *pods) {
    printer.begin(server, log_call(name_space, pod, choice), pod);
    // What is there already is shown pod by pod; what comes is shown as it comes.
    if (!choice.follow) exit_code = printer.wait();
  }
  return choice.follow ? printer.wait() : exit_code;
}

}  // namespace berth
