// `berth up`: a whole control plane on one machine.
#include <fmt/core.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <memory>
#include <string>

#include "cli/command_line.h"
#include "cli/commands.h"
#include "cli/inputs.h"
#include "cli/local_plane.h"
#include "cli/shared_options.h"
#include "cli/shell.h"
#include "cli/stop_signal.h"
#include "kube/alarm.h"

namespace berth {
namespace {

constexpr useconds_t kUpLooksEvery_us = 50'000;

void tell(const std::string& text) { fmt::print(stderr, "berth up: {}\n", text); }

void print_next_steps(const DataFolder& folder) {
  fmt::print("Berth is up. In another terminal:\n\n  export KUBECONFIG={}\n",
             shell_quoted(std::filesystem::absolute(folder.kubeconfig()).string()));
  fmt::print("  kubectl create job hello --image=busybox -- true\n  kubectl get jobs,pods,nodes -o wide\n\n");
  fmt::print("Everything is in {}; ctrl-C stops, the same command goes on from there.\n", folder.path(""));
  std::fflush(stdout);
}

int run_control_plane(const std::string& data, const std::string& listen, const std::string& nodes,
                      const std::string& scrub, const std::string& policy) {
  Complaints complaints = complaints_about_nodes(nodes);
  if (const auto takes = parse_scrub(scrub); !takes) complaints.add_all(takes.error());
  if (const auto known = parse_policy(policy); !known) complaints.add_all(known.error());
  const auto address = parse_listen_address(listen);
  if (!address) complaints.add_all(address.error());
  if (!complaints.empty()) return complain(complaints);
  const auto failed = [](const Complaints& why) {
    complain(why);
    return kExitFailed;
  };
  note_stop_signals();
  const std::unique_ptr<Alarm> clock = Alarm::start();
  LocalPlane plane(data, *address, {.scrub = scrub, .policy = policy});
  if (const Complaints taken = plane.take_folder(); !taken.empty()) return failed(taken);
  const auto begun = plane.begin_server(*clock);
  if (!begun) {
    tell(begun.error().to_string());
    return kExitFailed;
  }
  if (!*begun) return kExitDone;
  if (const Complaints others = plane.begin_others(nodes); !others.empty()) return failed(others);
  print_next_steps(plane.folder());
  while (!stop_was_asked()) {
    plane.look_after(clock->now(), tell);
    usleep(kUpLooksEvery_us);
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
  app.add_option("--nodes", *nodes, kNodesHelp)->capture_default_str();
  const auto scrub = std::make_shared<std::string>();
  app.add_option(
      "--scrub", *scrub,
      "How long a GPU is scrubbed that all have left, such as 30s; it is nobody's until then but of those who "
      "trust all who have been there. Default: nothing is scrubbed");
  const auto policy = add_live_policy(app);
  app.footer(
      "Examples:\n"
      "  berth up\n"
      "  berth up --data /var/lib/berth --listen 127.0.0.1:0 --nodes 100xH100x8,20xL40Sx4,10xcpu\n"
      "\n"
      "It goes on from where it was stopped, however it was stopped.");
  app.callback([data, listen, nodes, scrub, policy, &exit_code] {
    exit_code = run_control_plane(*data, *listen, *nodes, *scrub, *policy);
  });
}

}  // namespace berth
