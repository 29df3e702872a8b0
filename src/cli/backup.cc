// `berth backup` and `berth restore`: the objects of a control plane as one file, and back.
#include <fmt/core.h>

#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <string>
#include <utility>

#include "apiserver/backups.h"
#include "base/wording.h"
#include "cli/command_line.h"
#include "cli/commands.h"
#include "cli/connection.h"
#include "cli/control_plane.h"
#include "cli/inputs.h"
#include "cli/shell.h"
#include "cli/store_files.h"
#include "client/asking.h"
#include "manifest/json.h"
#include "manifest/timestamp.h"
#include "store/store.h"

namespace berth {
namespace {

namespace fs = std::filesystem;

// As long as a copy of the largest store may take.
constexpr int kBackupTimeout_s = 3600;

std::string name_by_time(Time now) {
  std::string name;
  for (const char c : format_timestamp(now)) {
    if (c != '-' && c != ':') name += c;
  }
  return name;
}

int say(const std::string& path, Revision revision, std::int64_t bytes) {
  fmt::print("{}\nrevision {}, {} bytes\n", path, revision, bytes);
  return kExitDone;
}

int backup_by_server(const std::string& file, const std::string& kubeconfig) {
  const auto server = connect({.kubeconfig = kubeconfig}, kBackupTimeout_s);
  if (!server) return complain(server.error());
  ApiCall call{.method = "POST", .path = std::string(kBackupPath)};
  call.body = to_json(Value::map_of({{"file", file}}));
  const ApiAnswer answer = send_and_wait(*server->transport, std::move(call));
  if (!answer.ok()) {
    const char* const hint = answer.status == 0 ? "; if no server runs, say --data DIR instead" : "";
    fmt::print(stderr, "backup: {}{}\n", message_of(answer), hint);
    return exit_code_of(answer);
  }
  const auto made = parse_json(answer.body);
  if (!made) return failed(made.error());
  return say(std::string((*made)["file"].text()), (*made)["revision"].integer(), (*made)["bytes"].integer());
}

int backup_of_folder(const std::string& file, const std::string& data) {
  const DataFolder folder(data);
  std::error_code error;
  if (!fs::exists(folder.store(), error)) {
    return complain({{folder.store()}, "there is no store; name the folder of a control plane with --data"});
  }
  if (is_in_use(folder.store())) {
    return complain({{folder.store()},
                     "a server has it open and can make the backup itself; say --kubeconfig " +
                         shell_quoted(folder.kubeconfig()) + " instead of --data"});
  }
  const auto store = Store::open(folder.store());
  if (!store) return failed(store.error());
  const auto made = write_backup(**store, folder.backups(), file);
  if (!made) return failed(made.error());
  return say(made->path, made->revision, made->bytes);
}

int back_up(std::string name, const std::string& kubeconfig, const std::string& data) {
  if (!kubeconfig.empty() && !data.empty()) {
    return complain({{"--data"},
                     "opens the store of a server that does not run, --kubeconfig asks one that does; "
                     "say one of them"});
  }
  if (name.empty()) name = name_by_time(system_wall_clock()());
  if (!name.ends_with(".db")) name += ".db";
  if (!is_backup_name(name)) {
    return complain({{"NAME"}, quote(name) + " is no name of a backup; use letters, digits, - and _, at most 100"});
  }
  return data.empty() ? backup_by_server(name, kubeconfig) : backup_of_folder(name, data);
}

int restore(const std::string& backup, const std::string& data, bool replace) {
  const DataFolder folder(data);
  if (const auto made = folder.make(); !made) return failed(made.error());
  const auto done = put_back(backup, folder.store(), replace, system_wall_clock()());
  if (!done) return failed(done.error());
  fmt::print("{} holds what the backup held.\n", folder.store());
  if (!done->old_path.empty()) fmt::print("What was there before: {}\n", done->old_path);
  fmt::print(
      "Revisions go on above {}, in a new epoch: whoever watched before lists everything again.\n"
      "Keys, tokens and kubeconfigs in {} are as they were.\n",
      done->revision, data);
  return kExitDone;
}

}  // namespace

void add_backup(CLI::App& berth, int& exit_code) {
  CLI::App& app = *berth.add_subcommand("backup", "Copy all objects into one file, while the server runs");
  const auto name = std::make_shared<std::string>();
  const auto kubeconfig = std::make_shared<std::string>();
  const auto data = std::make_shared<std::string>();
  app.add_option("NAME", *name, "Of the file in the server's DATA/backups; default: the time");
  app.add_option("--kubeconfig", *kubeconfig, "How to reach the API server; default: as kubectl finds it");
  app.add_option("--data", *data, "Without a server: folder of the store");
  app.footer(
      "Examples:\n"
      "  berth backup before-upgrade --kubeconfig berth-data/kubeconfig\n"
      "  berth backup before-upgrade --data berth-data       no server runs\n"
      "\n"
      "The server writes the file beside its store, so keep a copy of it elsewhere. All objects are in it, Secrets "
      "too;\n"
      "keys, tokens and logs are not.");
  app.callback([name, kubeconfig, data, &exit_code] { exit_code = back_up(*name, *kubeconfig, *data); });
}

void add_restore(CLI::App& berth, int& exit_code) {
  CLI::App& app = *berth.add_subcommand("restore", "Put the objects of a backup into a data folder");
  const auto backup = std::make_shared<std::string>();
  const auto data = std::make_shared<std::string>("berth-data");
  const auto replace = std::make_shared<bool>(false);
  app.add_option("BACKUP", *backup, "A file that `berth backup` has made")->required();
  app.add_option("--data", *data, "Folder of the store")->capture_default_str();
  app.add_flag("--replace", *replace, "Take the place of the store that is there; it is kept under another name");
  app.footer(
      "Example:\n"
      "  berth restore berth-data/backups/before-upgrade.db --data berth-data --replace\n"
      "\n"
      "Stop the server first. Nothing is deleted.");
  app.callback([backup, data, replace, &exit_code] { exit_code = restore(*backup, *data, *replace); });
}

}  // namespace berth
