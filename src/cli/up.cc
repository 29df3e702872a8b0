// `berth up`: a whole control plane on one machine.
#include <fcntl.h>
#include <fmt/core.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <csignal>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "cli/command_line.h"
#include "cli/commands.h"
#include "cli/control_plane.h"
#include "cli/inputs.h"
#include "cli/shell.h"
#include "cli/supervisor.h"
#include "kube/alarm.h"
#include "kube/kubeconfig.h"
#include "sim/files.h"

namespace berth {
namespace {

constexpr int kLookEvery_ms = 50;
constexpr Duration kAnswersWithin = seconds(60);

volatile std::sig_atomic_t stop_asked = 0;
void ask_to_stop(int) { stop_asked = 1; }

void say(const std::string& text) { fmt::print(stderr, "berth up: {}\n", text); }

// The kubeconfig is written anew when the server answers.
std::int64_t written_ns(const std::string& path) {
  struct stat status = {};
  if (stat(path.c_str(), &status) != 0) return 0;
  return static_cast<std::int64_t>(status.st_mtim.tv_sec) * 1'000'000'000 + status.st_mtim.tv_nsec;
}

void wait_a_moment() { usleep(kLookEvery_ms * 1000); }

constexpr std::size_t kApiServer = 0, kScheduler = 1, kNodeAgent = 2;

std::vector<std::string> apiserver_arguments(const std::string& data, const std::string& listen) {
  return {"apiserver", "--data", data, "--listen", listen};
}

std::vector<ChildProcess> processes_of(const DataFolder& folder, const std::string& listen, const std::string& nodes,
                                       const std::string& data, const std::string& identity) {
  return {
      {.name = "apiserver", .arguments = apiserver_arguments(data, listen), .log = folder.path("log/apiserver.log")},
      {.name = "scheduler",
       .arguments = {"scheduler", "--kubeconfig", folder.scheduler_kubeconfig(), "--journal", folder.path("journal"),
                     "--identity", identity},
       .log = folder.path("log/scheduler.log")},
      {.name = "node-agent",
       .arguments = {"node-agent", "--kubeconfig", folder.agent_kubeconfig(), "--nodes", nodes, "--logs",
                     folder.path("logs")},
       .log = folder.path("log/node-agent.log")}};
}

// One `berth up` has the folder, until it dies. So of its schedulers only one lives at a time, and they may share an
// identity: a new one takes the lease of the one before at once, instead of waiting for it to run out.
Result<std::string> take_folder(const DataFolder& folder) {
  const std::string lock = folder.path("run/up.lock");
  const int file = open(lock.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  if (file < 0 || flock(file, LOCK_EX | LOCK_NB) != 0) {
    return Complaints({lock}, "another `berth up` uses this folder; stop it, or name another folder with --data");
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

// True when the server has written its kubeconfig; false when it ended or takes too long.
bool wait_until_it_answers(Supervisor& processes, const Alarm& clock, const DataFolder& folder,
                           std::int64_t before_ns) {
  const Time until = clock.now() + kAnswersWithin;
  while (stop_asked == 0 && clock.now() < until) {
    if (written_ns(folder.kubeconfig()) != before_ns) return true;
    if (processes.has_ended(kApiServer)) return false;
    wait_a_moment();
  }
  return false;
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

void print_next_steps(const DataFolder& folder) {
  fmt::print("Berth is up. In another terminal:\n\n  export KUBECONFIG={}\n",
             shell_quoted(std::filesystem::absolute(folder.kubeconfig()).string()));
  fmt::print("  kubectl create job hello --image=busybox -- true\n  kubectl get jobs,pods,nodes -o wide\n\n");
  fmt::print("Everything is in {}; ctrl-C stops, the same command goes on from there.\n", folder.path(""));
  std::fflush(stdout);
}

int run_control_plane(const std::string& data, const std::string& listen, const std::string& nodes) {
  Complaints complaints = complaints_about_nodes(nodes);
  const auto address = parse_listen_address(listen);
  if (!address) complaints.add_all(address.error());
  if (!complaints.empty()) return complain(complaints);
  const DataFolder folder(data);
  if (const auto made = folder.make(); !made) {
    complain(made.error());
    return kExitFailed;
  }
  std::signal(SIGINT, ask_to_stop);
  std::signal(SIGTERM, ask_to_stop);
  const std::unique_ptr<Alarm> clock = Alarm::start();
  const auto identity = take_folder(folder);
  if (!identity) {
    complain(identity.error());
    return kExitFailed;
  }
  const std::int64_t before_ns = written_ns(folder.kubeconfig());
  Supervisor processes(processes_of(folder, listen, nodes, data, *identity));
  const auto begun = processes.begin(kApiServer);
  if (!begun) return complain(begun.error());
  if (!wait_until_it_answers(processes, *clock, folder, before_ns)) {
    if (stop_asked != 0) return kExitDone;
    say("the API server does not answer; it said:\n" + end_of(folder.path("log/apiserver.log")));
    return kExitFailed;
  }
  // A free port was picked once; the others know it by now, so a server that is begun again takes the same.
  if (address->port == 0) {
    const auto port = port_in(folder.kubeconfig());
    if (!port) return complain(port.error());
    processes.set_arguments(kApiServer, apiserver_arguments(data, text_of({address->address, *port})));
  }
  for (const std::size_t each : {kScheduler, kNodeAgent}) {
    if (const auto other = processes.begin(each); !other) return complain(other.error());
  }
  print_next_steps(folder);
  while (stop_asked == 0) {
    processes.look_after(clock->now(), say);
    wait_a_moment();
  }
  return kExitDone;
}

}  // namespace

void add_up(CLI::App& berth, int& exit_code) {
  CLI::App& app = *berth.add_subcommand("up", "Run a whole control plane here: API server, scheduler, simulated nodes");
  const auto data = std::make_shared<std::string>("berth-data");
  const auto listen = std::make_shared<std::string>("127.0.0.1:6443");
  const auto nodes = std::make_shared<std::string>("4xH100x8");
  app.add_option("--data", *data, "Folder of everything it keeps")->capture_default_str();
  app.add_option("--listen", *listen, "Address and port of the API; port 0 picks a free one")->capture_default_str();
  app.add_option("--nodes", *nodes, "COUNTxMODELxGPUS or COUNTxcpu, several with commas; or a file of Node objects")
      ->capture_default_str();
  app.footer(
      "Examples:\n"
      "  berth up\n"
      "  berth up --data /var/lib/berth --listen 127.0.0.1:0 --nodes 100xH100x8,20xL40Sx4,10xcpu\n"
      "\n"
      "It goes on from where it was stopped, however it was stopped.");
  app.callback([data, listen, nodes, &exit_code] { exit_code = run_control_plane(*data, *listen, *nodes); });
}

}  // namespace berth
