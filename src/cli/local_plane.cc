#include "cli/local_plane.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "base/wording.h"
#include "cli/stop_signal.h"
#include "kube/kubeconfig.h"
#include "model/quantity.h"
#include "sim/files.h"

namespace berth {
namespace {

constexpr useconds_t kLookEvery_us = 20'000;
constexpr Duration kAnswersWithin = seconds(60);

constexpr std::size_t kApiServer = 0, kScheduler = 1, kNodeAgent = 2;

// The kubeconfig is written anew when the server answers.
std::int64_t written_ns(const std::string& path) {
  struct stat status = {};
  if (stat(path.c_str(), &status) != 0) return 0;
  return static_cast<std::int64_t>(status.st_mtim.tv_sec) * 1'000'000'000 + status.st_mtim.tv_nsec;
}

std::vector<std::string> apiserver_arguments(const std::string& data, const std::string& listen) {
  return {"apiserver", "--data", data, "--listen", listen};
}

// One process has the folder, until it dies. So of its schedulers only one lives at a time, and they may share an
// identity: a new one takes the lease of the one before at once, instead of waiting for it to run out.
Result<std::string> identity_in(const DataFolder& folder) {
  const std::string lock = folder.path("run/up.lock");
  const int file = open(lock.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  if (file < 0 || flock(file, LOCK_EX | LOCK_NB) != 0) {
    return Complaints(
        {lock}, "another `berth up` or `berth demo` uses this folder; stop it, or name another folder with --data");
  }
  const std::string path = folder.path("run/scheduler.identity");
  if (const auto known = read_file(path); known && !known->empty()) return *known;
  const std::string identity = "berth-up-" + random_token(8);
  if (const auto written = write_private_file(path, identity); !written) return written.error();
  return identity;
}

// What the API server said last, for whoever sees it fail.
std::string end_of(const std::string& path) {
  const auto text = read_file(path);
  if (!text) return text.error().to_string();
  return text->substr(text->size() > 2000 ? text->size() - 2000 : 0);
}

std::string text_of(const ListenAddress& listen) {
  const bool six = listen.address.find(':') != std::string::npos;
  return (six ? "[" + listen.address + "]" : listen.address) + ":" + std::to_string(listen.port);
}

// That of the server which a kubeconfig names.
Result<std::uint16_t> port_in(const std::string& kubeconfig) {
  const auto text = read_file(kubeconfig);
  if (!text) return text.error();
  const auto access = parse_kubeconfig(*text, kubeconfig, "");
  if (!access) return access.error();
  const auto listen = parse_listen_address(access->server);
  if (!listen) return listen.error();
  return listen->port;
}

}  // namespace

Result<std::optional<Duration>> parse_scrub(const std::string& text) {
  if (text.empty()) return std::optional<Duration>();
  const auto ms = parse_duration_ms(text);
  if (!ms) return Complaints({"--scrub"}, ms.error());
  constexpr std::int64_t kScrubMax_ms = 86'400'000;
  if (*ms > kScrubMax_ms) return Complaints({"--scrub"}, quote(text) + " is longer than a day; write less");
  return std::optional(Duration{*ms});
}

LocalPlane::LocalPlane(std::string data, const ListenAddress& listen, LocalPlaneOptions options)
    : data_(std::move(data)), listen_(listen), options_(std::move(options)), folder_(data_) {}

Complaints LocalPlane::take_folder() {
  if (const auto made = folder_.make(); !made) return made.error();
  const auto identity = identity_in(folder_);
  if (!identity) return identity.error();
  identity_ = *identity;
  return {};
}

Result<bool> LocalPlane::begin_server(const Alarm& clock) {
  const std::string log = folder_.path("log/apiserver.log");
  std::vector<std::string> scheduler = {"scheduler", "--kubeconfig",          folder_.scheduler_kubeconfig(),
                                        "--journal", folder_.path("journal"), "--identity",
                                        identity_};
  if (!options_.scrub.empty()) scheduler.emplace_back("--scrub");
  if (!options_.policy.empty()) scheduler.insert(scheduler.end(), {"--policy", options_.policy});
  processes_ = std::make_unique<Supervisor>(std::vector<ChildProcess>{
      {.name = "apiserver", .arguments = apiserver_arguments(data_, text_of(listen_)), .log = log},
      {.name = "scheduler", .arguments = std::move(scheduler), .log = folder_.path("log/scheduler.log")},
      {.name = "node-agent", .arguments = {}, .log = folder_.path("log/node-agent.log")}});
  const std::int64_t before_ns = written_ns(folder_.kubeconfig());
  if (const auto begun = processes_->begin(kApiServer); !begun) return begun.error();
  const Time until = clock.now() + kAnswersWithin;
  while (written_ns(folder_.kubeconfig()) == before_ns) {
    if (stop_was_asked()) return false;
    if (processes_->has_ended(kApiServer) || clock.now() >= until) {
      return Complaints({}, "the API server does not answer; it said:\n" + end_of(log));
    }
    usleep(kLookEvery_us);
  }
  // A free port was picked once; the others know it by now, so a server that is begun again takes the same.
  if (listen_.port == 0) {
    const auto port = port_in(folder_.kubeconfig());
    if (!port) return port.error();
    listen_.port = *port;
    processes_->set_arguments(kApiServer, apiserver_arguments(data_, text_of(listen_)));
  }
  return true;
}

Complaints LocalPlane::begin_others(const std::string& nodes) {
  std::vector<std::string> agent = {"node-agent", "--kubeconfig", folder_.agent_kubeconfig(), "--nodes",
                                    nodes,        "--logs",       folder_.path("logs")};
  if (!options_.scrub.empty()) agent.insert(agent.end(), {"--scrub", options_.scrub});
  processes_->set_arguments(kNodeAgent, std::move(agent));
  for (const std::size_t each : {kScheduler, kNodeAgent}) {
    if (const auto begun = processes_->begin(each); !begun) return begun.error();
  }
  return {};
}

void LocalPlane::look_after(Time now, const std::function<void(const std::string&)>& say) {
  processes_->look_after(now, say);
}

}  // namespace berth
