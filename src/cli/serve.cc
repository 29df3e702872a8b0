// The three processes of a control plane: `berth apiserver`, `berth scheduler`, `berth node-agent`. Each runs until it is
// killed; there is no other way to stop, so that stopping is what it survives anyway.
#include <fmt/core.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "agent/simulated_nodes.h"
#include "apiserver/api_server.h"
#include "cli/command_line.h"
#include "cli/commands.h"
#include "cli/connection.h"
#include "cli/control_plane.h"
#include "cli/inputs.h"
#include "cli/local_plane.h"
#include "cli/shared_options.h"
#include "cli/store_files.h"
#include "controllers/controllers.h"
#include "local_api/local_transport.h"
#include "service/live_scheduler.h"
#include "sim/files.h"
#include "store/store.h"
#include "web_server/server.h"

namespace berth {
namespace {

void log_line(const std::string& text) {
  fmt::print(stderr, "{} {}\n", format_micro_timestamp(system_wall_clock()()), text);
}

[[noreturn]] void run_until_killed() {
  while (true) pause();
}

std::uint64_t random_number() { return std::strtoull(random_token(8).c_str(), nullptr, 16); }

// ---- berth apiserver --------------------------------------------------------------------------------------------------

Result<TokenBook> read_tokens(const DataFolder& folder) {
  const std::string path = folder.path("tokens.csv");
  if (access(path.c_str(), F_OK) != 0) return TokenBook();
  const auto text = read_file(path);
  if (!text) return text.error();
  return TokenBook::parse(*text, path);
}

User controllers_user() {
  User user;
  user.name = "system:berth-controllers";
  user.groups = {"system:authenticated"};
  return user;
}

// A server that was killed a moment ago may still be waiting for the disk, and hold the store until it answered.
Result<std::unique_ptr<Store>> open_when_free(const std::string& path) {
  constexpr int kLooks = 50;
  constexpr useconds_t kBetween_us = 100'000;
  for (int looks = 0; looks < kLooks && is_in_use(path); ++looks) usleep(kBetween_us);
  return Store::open(path);
}

int serve_api(const std::string& data, const std::string& listen_text) {
  const auto listen = parse_listen_address(listen_text);
  if (!listen) return complain(listen.error());
  const DataFolder folder(data);
  const auto failed = [](const Complaints& complaints) {
    complain(complaints);
    return kExitFailed;
  };
  if (const auto made = folder.make(); !made) return failed(made.error());
  const auto identity = load_or_make_identity(folder, *listen);
  if (!identity) return failed(identity.error());
  auto tokens = read_tokens(folder);
  if (!tokens) return failed(tokens.error());
  const auto store = open_when_free(folder.store());
  if (!store) return failed(store.error());

  ApiServerOptions options;
  options.now = system_wall_clock();
  options.tokens = std::move(*tokens);
  options.log_folder = folder.path("logs");
  options.backup_folder = folder.backups();
  const auto api = ApiServer::make(**store, std::move(options));
  if (!api) return failed(api.error());

  const std::unique_ptr<Transport> local = connect_locally(**api, controllers_user());
  const std::unique_ptr<Alarm> alarm = Alarm::start();
  ControllerOptions controlling;
  controlling.now = system_wall_clock();
  controlling.seed = random_number();
  const auto controllers = Controllers::start(*local, *alarm, controlling);

  WebServerOptions web;
  web.address = listen->address;
  web.port = listen->port;
  web.certificate = identity->server.certificate;
  web.private_key = identity->server.private_key;
  web.client_ca = identity->authority.certificate;
  const auto server = WebServer::start(web, [&api](HttpRequest request, std::shared_ptr<Responder> responder) {
    (*api)->handle(std::move(request), std::move(responder));
  });
  if (!server) return failed(server.error());
  const std::string url = url_of({listen->address, (*server)->port()});
  if (const auto written = write_kubeconfigs(folder, *identity, url); !written) return failed(written.error());
  log_line("the API server answers at " + url);
  run_until_killed();
}

// ---- the clients --------------------------------------------------------------------------------------------------------

int schedule(const std::string& kubeconfig, const std::string& journal, const std::string& identity, Scrubs scrubs,
             const std::string& policy_text) {
  const auto policy = parse_policy(policy_text);
  if (!policy) return complain(policy.error());
  const auto server = connect({.kubeconfig = kubeconfig});
  if (!server) return complain(server.error());
  const std::unique_ptr<Alarm> alarm = Alarm::start();
  LiveSchedulerOptions options;
  options.now = system_wall_clock();
  options.identity = identity.empty() ? "berth-" + random_token(8) : identity;
  options.events_seed = random_number();
  options.journal_folder = journal;
  options.finds_changes = true;
  options.policy = *policy;
  options.scrubs = scrubs;
  options.log = log_line;
  // Whoever lost the lease may know things that are no longer so; the next process begins from what is true then.
  const auto scheduler =
      LiveScheduler::start(*server->transport, *alarm, std::move(options), [] { std::_Exit(kExitFailed); });
  run_until_killed();
}

Result<std::vector<Value>> simulated_nodes(const std::string& text) {
  if (access(text.c_str(), F_OK) != 0) return nodes_from_text(text);
  const auto file = read_file(text);
  if (!file) return file.error();
  return nodes_from_manifest(*file, text);
}

int run_nodes(const std::string& kubeconfig, const std::string& nodes_text, const std::string& logs,
              const std::string& scrub_text) {
  Complaints complaints = complaints_about_nodes(nodes_text);
  const auto scrub = parse_scrub(scrub_text);
  if (!scrub) complaints.add_all(scrub.error());
  if (!complaints.empty()) return complain(complaints);
  auto nodes = simulated_nodes(nodes_text);
  const auto server = connect({.kubeconfig = kubeconfig});
  if (!server) return complain(server.error());
  const std::unique_ptr<Alarm> alarm = Alarm::start();
  SimulatedNodesOptions options;
  options.now = system_wall_clock();
  options.seed = random_number();
  options.log_folder = logs;
  options.scrub = *scrub;
  const auto agent = SimulatedNodes::start(*server->transport, *alarm, std::move(*nodes), std::move(options));
  run_until_killed();
}

}  // namespace

Complaints complaints_about_nodes(const std::string& text) {
  const auto nodes = simulated_nodes(text);
  return nodes ? Complaints() : nodes.error();
}

void add_apiserver(CLI::App& berth, int& exit_code) {
  CLI::App& app = *berth.add_subcommand("apiserver", "Serve the Kubernetes-compatible API, with its controllers");
  const auto data = std::make_shared<std::string>("berth-data");
  const auto listen = std::make_shared<std::string>("127.0.0.1:6443");
  app.add_option("--data", *data, "Folder of the store, keys and logs")->capture_default_str();
  app.add_option("--listen", *listen, "Address and port; port 0 picks a free one")->capture_default_str();
  app.footer(
      "Example:\n"
      "  berth apiserver --data berth-data && kubectl --kubeconfig berth-data/kubeconfig get nodes\n"
      "\n"
      "Always TLS; users sign in by client certificate or by a token of DATA/tokens.csv. `berth up` runs this, a\n"
      "scheduler and simulated nodes together.");
  app.callback([data, listen, &exit_code] { exit_code = serve_api(*data, *listen); });
}

void add_scheduler(CLI::App& berth, int& exit_code) {
  CLI::App& app = *berth.add_subcommand("scheduler", "Give the pods of a cluster their places");
  const auto kubeconfig = std::make_shared<std::string>();
  const auto journal = std::make_shared<std::string>();
  const auto identity = std::make_shared<std::string>();
  app.add_option("--kubeconfig", *kubeconfig, "How to reach the API server; default: as kubectl finds it");
  app.add_option("--journal", *journal,
                 "Folder in which every fact and decision is recorded; may be deleted at any time");
  app.add_option("--identity", *identity,
                 "Its name in the lease, which no other living scheduler may have; default: something random");
  const auto scrub = std::make_shared<bool>(false);
  app.add_flag(
      "--scrub", *scrub,
      "A GPU that all have left is nobody's but of those who trust all who have been there, until its node says "
      "that it was scrubbed");
  const auto policy = add_live_policy(app);
  app.footer(
      "Example:\n"
      "  berth scheduler --kubeconfig berth-data/kubeconfig --journal journal\n"
      "\n"
      "Several may run: one of them leads (lease kube-system/berth-scheduler), the others wait.");
  app.callback([kubeconfig, journal, identity, scrub, policy, &exit_code] {
    exit_code = schedule(*kubeconfig, *journal, *identity, *scrub ? Scrubs::kByNodes : Scrubs::kNone, *policy);
  });
}

void add_node_agent(CLI::App& berth, int& exit_code) {
  CLI::App& app = *berth.add_subcommand("node-agent", "Run simulated nodes: they take pods and end them in time");
  const auto kubeconfig = std::make_shared<std::string>();
  const auto nodes = std::make_shared<std::string>();
  const auto logs = std::make_shared<std::string>();
  app.add_option("--kubeconfig", *kubeconfig, "How to reach the API server; default: as kubectl finds it");
  app.add_option("--nodes", *nodes, kNodesHelp)->required();
  app.add_option("--logs", *logs, "Folder for the pods' logs, as the API server's DATA/logs");
  const auto scrub = std::make_shared<std::string>();
  app.add_option("--scrub", *scrub,
                 "How long a GPU is scrubbed that the scheduler asks it for, such as 30s; default: never");
  app.footer(
      "Example:\n"
      "  berth node-agent --kubeconfig berth-data/kubeconfig --nodes 4xH100x8,2xcpu\n"
      "\n"
      "A pod runs for 5 s, or as long as its annotation berth.dev/run-for says, and ends with the exit code of its\n"
      "annotation berth.dev/exit-code.");
  app.callback(
      [kubeconfig, nodes, logs, scrub, &exit_code] { exit_code = run_nodes(*kubeconfig, *nodes, *logs, *scrub); });
}

}  // namespace berth
