// `berth doctor`: looks at a data folder and at the cluster that it serves, and says what is wrong and what to do.
#include <fmt/core.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "cli/command_line.h"
#include "cli/commands.h"
#include "cli/connection.h"
#include "cli/control_plane.h"
#include "cli/findings.h"
#include "cli/inputs.h"
#include "cli/store_files.h"
#include "client/asking.h"
#include "manifest/json.h"
#include "manifest/timestamp.h"
#include "store/store.h"

namespace berth {
namespace {

namespace fs = std::filesystem;

using Findings = std::vector<Finding>;

std::string one_line(const Complaints& complaints) {
  std::string text = complaints.to_string();
  while (text.ends_with('\n')) text.pop_back();
  for (char& c : text) {
    if (c == '\n') c = ' ';
  }
  return text;
}

// ---- the folder -----------------------------------------------------------------------------------------------------

void look_at_file(const std::string& path, std::vector<SeenFile>& seen) {
  struct stat status = {};
  if (stat(path.c_str(), &status) != 0) return;  // not every folder has everything yet
  seen.push_back({path, static_cast<unsigned>(status.st_mode & 07777), S_ISDIR(status.st_mode)});
}

Finding look_at_permissions(const DataFolder& folder, const std::string& data) {
  std::vector<SeenFile> seen;
  for (const std::string& path :
       {data, folder.path("pki"), folder.path("run"), folder.backups(), folder.path("pki/ca.key"), folder.kubeconfig(),
        folder.scheduler_kubeconfig(), folder.agent_kubeconfig(), folder.path("tokens.csv")}) {
    look_at_file(path, seen);
  }
  return permissions_finding(seen);
}

Finding look_at_disk(const std::string& data) {
  std::error_code error;
  const fs::space_info space = fs::space(data, error);
  if (error) return {"disk space", Verdict::kFail, "cannot be asked: " + error.message(), "check the disk"};
  return disk_finding(static_cast<std::int64_t>(space.available));
}

// Opens the store and compares it with the disk. PRE: nobody has it open.
Finding look_at_store(const std::string& path) {
  std::error_code error;
  if (!fs::exists(path, error) && !fs::exists(path + "-mark", error)) {
    return {"store", Verdict::kWarn, "there is none yet", "berth up makes one"};
  }
  const std::string restore = "see docs/durability.md: berth restore BACKUP --data DIR --replace";
  const auto store = Store::open(path);
  if (!store) return {"store", Verdict::kFail, one_line(store.error()), restore};
  const Complaints found = (*store)->check();
  if (!found.empty()) return {"store", Verdict::kFail, one_line(found), restore};
  return {"store", Verdict::kOk,
          fmt::format("sound: {} objects, revision {}", (*store)->list("").records.size(), (*store)->revision())};
}

Finding look_at_journal(const std::string& path) {
  if (access(path.c_str(), W_OK | X_OK) == 0) return {"journal", Verdict::kOk, "its folder may be written"};
  return {"journal", Verdict::kFail, path + " may not be written: the scheduler records nothing",
          "make the folder, for the user who runs the scheduler"};
}

std::vector<std::string> folders_in(const std::string& path) {
  std::vector<std::string> names;
  std::error_code error;
  for (fs::directory_iterator at(path, error), end; !error && at != end; at.increment(error)) {
    std::error_code ignored;
    if (at->is_directory(ignored)) names.push_back(at->path().filename().string());
  }
  return names;
}

// ---- the cluster ----------------------------------------------------------------------------------------------------

std::optional<Value> asked(Transport& cluster, const std::string& path) {
  ApiCall call;
  call.path = path;
  const ApiAnswer answer = send_and_wait(cluster, std::move(call));
  if (!answer.ok()) return std::nullopt;
  auto value = parse_json(answer.body);
  return value ? std::optional(*std::move(value)) : std::nullopt;
}

Finding look_at_server(Transport& cluster) {
  ApiCall call;
  call.path = "/readyz";
  const ApiAnswer answer = send_and_wait(cluster, std::move(call));
  if (!answer.ok()) {
    return {"server", Verdict::kFail, message_of(answer),
            "start `berth up`, or look into log/apiserver.log; an old kubeconfig names an old port"};
  }
  const auto version = asked(cluster, "/version");
  return {"server", Verdict::kOk,
          fmt::format("ready, version {}", version ? (*version)["gitVersion"].text() : "unknown")};
}

Finding not_listed(const char* check, const AskFailure& why) {
  return {check, Verdict::kFail, why.text, "use a kubeconfig whose user may list them, as the administrator's"};
}

void look_at_cluster(Transport& cluster, const DataFolder& folder, Findings& findings) {
  findings.push_back(look_at_server(cluster));
  if (findings.back().verdict == Verdict::kFail) return;
  // Before the pods: who comes in between has a pod.
  const std::vector<std::string> logs = folders_in(folder.path("logs"));
  const auto pods = list_objects(cluster, "pods", "");
  const auto nodes = list_objects(cluster, "nodes", "");
  const auto leases = list_objects(cluster, "leases.coordination.k8s.io", "kube-system");
  const Time now = system_wall_clock()();
  if (!leases) {
    findings.push_back(not_listed("scheduler", leases.error()));
  } else {
    Value lease;
    for (const Value& each : *leases) {
      if (each["metadata"]["name"].text() == "berth-scheduler") lease = each;
    }
    findings.push_back(scheduler_finding(lease, now));
  }
  findings.push_back(nodes ? nodes_finding(*nodes) : not_listed("nodes", nodes.error()));
  if (!pods) {
    findings.push_back(not_listed("pods", pods.error()));
    return;
  }
  findings.push_back(waiting_finding(*pods, now));
  if (nodes) findings.push_back(bound_pods_finding(*pods, *nodes));
  findings.push_back(log_folders_finding(logs, *pods));
}

int examine(const std::string& data, const std::string& kubeconfig, const std::string& output) {
  struct stat status = {};
  if (stat(data.c_str(), &status) != 0 || !S_ISDIR(status.st_mode)) {
    return complain({{data}, "is no folder; name that of a control plane with --data"});
  }
  const DataFolder folder(data);
  Findings findings = {look_at_permissions(folder, data), look_at_disk(data)};
  const bool served = is_in_use(folder.store());
  if (served) {
    findings.push_back({"store", Verdict::kOk, "in use by a server, which checked it when it began"});
  } else {
    findings.push_back(look_at_store(folder.store()));
  }
  findings.push_back(look_at_journal(folder.path("journal")));
  if (!served && kubeconfig.empty()) {
    findings.push_back({"server", Verdict::kWarn, "none runs on this folder", "berth up --data " + data});
  } else {
    const auto cluster = connect({.kubeconfig = kubeconfig.empty() ? folder.kubeconfig() : kubeconfig});
    if (cluster) {
      look_at_cluster(*cluster->transport, folder, findings);
    } else {
      findings.push_back({"server", Verdict::kFail, one_line(cluster.error()),
                          "name another with --kubeconfig; the server writes DIR/kubeconfig when it starts"});
    }
  }
  fmt::print("{}", output == "json" ? findings_as_json(findings) : findings_as_table(findings));
  for (const Finding& finding : findings) {
    if (finding.verdict == Verdict::kFail) return kExitFailed;
  }
  return kExitDone;
}

}  // namespace

void add_doctor(CLI::App& berth, int& exit_code) {
  CLI::App& app = *berth.add_subcommand("doctor", "Look for what is wrong with a control plane, and say what to do");
  const auto data = std::make_shared<std::string>("berth-data");
  const auto kubeconfig = std::make_shared<std::string>();
  const auto output = std::make_shared<std::string>("table");
  app.add_option("--data", *data, "Folder of the control plane")->capture_default_str();
  app.add_option("--kubeconfig", *kubeconfig, "How to reach its server; default: DATA/kubeconfig if one runs");
  app.add_option("-o,--output", *output, "How to print it")
      ->check(CLI::IsMember({"table", "json"}))
      ->capture_default_str();
  app.footer(
      "Example:\n"
      "  berth doctor --data berth-data\n"
      "\n"
      "Ends with 1 if something is broken (FAIL), with 0 if there is nothing or only something to look at (warn).");
  app.callback([data, kubeconfig, output, &exit_code] { exit_code = examine(*data, *kubeconfig, *output); });
}

}  // namespace berth
