// `berth logs`: what the pods of a job have said.
#include <memory>
#include <string>

#include "cli/command_line.h"
#include "cli/commands.h"
#include "cli/connection.h"
#include "cli/inputs.h"
#include "cli/log_printer.h"
#include "client/work.h"

namespace berth {
namespace {

struct TypedLogs {
  ConnectionWish connection;
  std::string name;
  LogChoice wish;
};

int show_logs(const TypedLogs& typed) {
  const auto name = parse_work_name(typed.name);
  if (!name) return complain(name.error());
  const auto server = connect(typed.connection);
  if (!server) return complain(server.error());
  return print_logs(*server->transport, *name, server->name_space, typed.wish);
}

}  // namespace

void add_logs(CLI::App& berth, int& exit_code) {
  CLI::App& app = *berth.add_subcommand("logs", "Print what the pods of a job have said");
  const auto typed = std::make_shared<TypedLogs>();
  add_connection_options(app, typed->connection, Namespaced::kYes);
  app.add_option("name", typed->name, "job/NAME, vcjob/NAME, jobset/NAME or pod/NAME; a name alone is a job's")
      ->required();
  app.add_option("-c,--container", typed->wish.container, "Container of the pods; default: the only one");
  app.add_flag("-f,--follow", typed->wish.follow, "Go on until the pods that have started are done");
  app.footer(
      "Lines of several pods begin with the pod's name.\n"
      "Exit codes: 0 done, 3 there is none of that name, 7 no pod has started yet.\n"
      "\n"
      "Examples:\n"
      "  berth logs job/train -f\n"
      "  berth logs pod/train-0-x7k2p -c main");
  app.callback([typed, &exit_code] { exit_code = show_logs(*typed); });
}

}  // namespace berth
