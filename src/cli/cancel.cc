// `berth cancel`: ends jobs and pods and takes them away.
#include <fmt/core.h>

#include <memory>
#include <string>
#include <vector>

#include "cli/command_line.h"
#include "cli/commands.h"
#include "cli/connection.h"
#include "cli/inputs.h"
#include "cli/lookup.h"
#include "client/asking.h"
#include "client/work.h"

namespace berth {
namespace {

int cancel(const ConnectionWish& wish, const std::vector<std::string>& names) {
  Complaints complaints;
  std::vector<WorkName> work;
  for (const std::string& text : names) {
    const auto name = parse_work_name(text);
    if (name) {
      work.push_back(*name);
    } else {
      complaints.add_all(name.error());
    }
  }
  if (!complaints.empty()) return complain(complaints);
  const auto server = connect(wish);
  if (!server) return complain(server.error());
  int exit_code = kExitDone;
  for (const WorkName& name : work) {
    const auto deleted = delete_object(*server->transport, name.qualified(), server->name_space, name.name);
    if (deleted) {
      fmt::print("{} cancelled\n", name.to_string());
      continue;
    }
    const int failure = fail(not_found_or(deleted.error(), *server->transport, name, server->name_space));
    if (exit_code == kExitDone) exit_code = failure;
  }
  return exit_code;
}

}  // namespace

void add_cancel(CLI::App& berth, int& exit_code) {
  CLI::App& app = *berth.add_subcommand("cancel", "End jobs and pods and take them away");
  const auto wish = std::make_shared<ConnectionWish>();
  const auto names = std::make_shared<std::vector<std::string>>();
  add_connection_options(app, *wish, Namespaced::kYes);
  app.add_option("name", *names, "job/NAME, vcjob/NAME, jobset/NAME or pod/NAME; a name alone is a job's")->required();
  app.footer(
      "Exit codes: 0 done, 3 there is none of one of the names; the others are cancelled.\n"
      "\n"
      "Example:\n"
      "  berth cancel job/train jobset/pretrain");
  app.callback([wish, names, &exit_code] { exit_code = cancel(*wish, *names); });
}

}  // namespace berth
