// What is there: `berth jobs`, `berth queue`, `berth nodes`, and why it is so: `berth explain`.
#include <fmt/core.h>

#include <algorithm>
#include <cstdio>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/wording.h"
#include "cli/command_line.h"
#include "cli/commands.h"
#include "cli/connection.h"
#include "cli/inputs.h"
#include "client/account.h"
#include "client/asking.h"
#include "client/listing.h"
#include "client/node_map.h"
#include "client/queue_tree.h"
#include "client/work.h"
#include "manifest/timestamp.h"

namespace berth {
namespace {

struct Typed {
  ConnectionWish connection;
  bool all_namespaces = false;
  std::string queue;
  std::string output = "table";
  std::vector<std::string> names;
};

Asked<std::vector<Work>> see_work(Transport& server, const std::string& name_space) {
  const auto jobs = list_objects(server, "jobs.batch", name_space);
  if (!jobs) return std::unexpected(jobs.error());
  const auto pods = list_objects(server, "pods", name_space);
  if (!pods) return std::unexpected(pods.error());
  return read_work(*jobs, *pods);
}

AskFailure no_such_queue(const std::string& name, const std::vector<Value>& queues) {
  std::vector<std::string_view> known;
  for (const Value& queue : queues) known.push_back(queue["metadata"]["name"].text());
  const std::string_view near = nearest_word(name, known);
  std::string text = "there is no queue " + quote(name);
  text += near.empty() ? "" : "; did you mean " + std::string(near) + "?";
  return {kExitNotFound, text + " `berth queue` shows all"};
}

bool is_queue(const std::string& name, const std::vector<Value>& queues) {
  return std::ranges::any_of(queues, [&](const Value& queue) { return queue["metadata"]["name"].text() == name; });
}

// ---- berth jobs -------------------------------------------------------------------------------------------------------

int show_jobs(const Typed& typed) {
  const auto format = parse_output_format(typed.output);
  if (!format) return complain(format.error());
  const auto server = connect(typed.connection);
  if (!server) return complain(server.error());
  const std::string name_space = typed.all_namespaces ? "" : server->name_space;
  auto work = see_work(*server->transport, name_space);
  if (!work) return fail(work.error());
  if (!typed.queue.empty()) std::erase_if(*work, [&](const Work& each) { return each.queue != typed.queue; });
  if (work->empty() && !typed.queue.empty()) {
    const auto queues = list_objects(*server->transport, "queues.berth.dev", "");
    if (queues && !is_queue(typed.queue, *queues)) return fail(no_such_queue(typed.queue, *queues));
  }
  fmt::print("{}", list_work(*work, typed.all_namespaces, system_wall_clock()()).to_text(*format));
  if (work->empty()) {
    fmt::print(stderr, "No jobs{}{}.\n", typed.queue.empty() ? "" : " of queue " + typed.queue,
               name_space.empty() ? " in any namespace" : " in namespace " + name_space + "; -A shows all namespaces");
  }
  return kExitDone;
}

// ---- berth queue ------------------------------------------------------------------------------------------------------

int show_queues(const Typed& typed) {
  const auto format = parse_output_format(typed.output);
  if (!format) return complain(format.error());
  const auto server = connect(typed.connection);
  if (!server) return complain(server.error());
  auto queues = list_objects(*server->transport, "queues.berth.dev", "");
  if (!queues) return fail(queues.error());
  for (const std::string& name : typed.names) {
    if (!is_queue(name, *queues)) return fail(no_such_queue(name, *queues));
  }
  if (!typed.names.empty()) {
    std::erase_if(*queues, [&](const Value& queue) {
      return std::ranges::find(typed.names, queue["metadata"]["name"].text()) == typed.names.end();
    });
  }
  fmt::print("{}", list_queues(*queues).to_text(*format));
  if (queues->empty()) fmt::print(stderr, "There are no queues.\n");
  return kExitDone;
}

// ---- berth nodes ------------------------------------------------------------------------------------------------------

int show_nodes(const Typed& typed) {
  const auto format = parse_output_format(typed.output);
  if (!format) return complain(format.error());
  const auto server = connect(typed.connection);
  if (!server) return complain(server.error());
  const auto nodes = list_objects(*server->transport, "nodes", "");
  if (!nodes) return fail(nodes.error());
  const auto pods = list_objects(*server->transport, "pods", "");
  if (!pods) return fail(pods.error());
  fmt::print("{}", list_nodes(*nodes, *pods).to_text(*format));
  if (nodes->empty()) fmt::print(stderr, "There are no nodes.\n");
  return kExitDone;
}

// ---- berth explain ----------------------------------------------------------------------------------------------------

// The job or pod; a name that is not there comes with the one that may have been meant.
Asked<Work> see_one(Transport& server, const WorkName& name, const std::string& name_space) {
  const auto object = read_object(server, name.qualified(), name_space, name.name);
  if (!object) {
    AskFailure failure = object.error();
    if (failure.exit_code != kExitNotFound) return std::unexpected(std::move(failure));
    const auto others = see_work(server, name_space);
    const std::string near = others ? nearest_work(name, *others) : "";
    failure.text = "there is no " + name.to_string() + " in namespace " + name_space;
    failure.text += near.empty() ? "; `berth jobs -A` shows all" : "; did you mean " + near + "?";
    return std::unexpected(std::move(failure));
  }
  if (name.kind == "pod") return read_pod_work(*object);
  const auto pods = list_objects(server, "pods", name_space);
  if (!pods) return std::unexpected(pods.error());
  std::vector<Work> work = read_work({*object}, pods_of_job(*pods, (*object)["metadata"]["uid"].text()));
  return std::move(work.front());
}

int explain(const Typed& typed) {
  const auto format = parse_output_format(typed.output);
  if (!format) return complain(format.error());
  const auto name = parse_work_name(typed.names.front());
  if (!name) return complain(name.error());
  const auto server = connect(typed.connection);
  if (!server) return complain(server.error());
  const auto work = see_one(*server->transport, *name, server->name_space);
  if (!work) return fail(work.error());

  // Not everybody may look into other namespaces; what waits there stays unsaid then.
  auto others = see_work(*server->transport, "");
  const bool all_seen = others.has_value();
  if (!all_seen && others.error().exit_code == kExitForbidden)
    others = see_work(*server->transport, server->name_space);
  if (!others) return fail(others.error());
  const auto queues = list_objects(*server->transport, "queues.berth.dev", "");
  const bool unknown_queues = !queues && queues.error().exit_code != kExitForbidden;
  if (unknown_queues && queues.error().exit_code != kExitNotFound) return fail(queues.error());
  const Account account =
      account_of(*work, *others, all_seen, queues ? *queues : std::vector<Value>(), system_wall_clock()());
  if (*format == OutputFormat::kJson || *format == OutputFormat::kYaml) {
    fmt::print("{}", facts_to_text(account.facts, *format));
  } else {
    fmt::print("{}", *format == OutputFormat::kName ? work->name.to_string() + "\n" : account.text);
  }
  return account.waits ? kExitWaits : kExitDone;
}

void add_output(CLI::App& app, Typed& typed) {
  app.add_option("-o,--output", typed.output, "table, wide, json, yaml or name")->capture_default_str();
}

}  // namespace

void add_jobs(CLI::App& berth, int& exit_code) {
  CLI::App& app = *berth.add_subcommand("jobs", "Show jobs, where they run and why they wait");
  const auto typed = std::make_shared<Typed>();
  add_connection_options(app, typed->connection, Namespaced::kYes);
  app.add_flag("-A,--all-namespaces", typed->all_namespaces, "Of all namespaces");
  app.add_option("-q,--queue", typed->queue, "Only of this queue");
  add_output(app, *typed);
  app.footer(
      "PODS: those that run or are done, of all. GPUS: of all pods that run at once. Pods without a Job are shown "
      "too.\n"
      "\n"
      "Example:\n"
      "  berth jobs -A -q default -o wide");
  app.callback([typed, &exit_code] { exit_code = show_jobs(*typed); });
}

void add_queue(CLI::App& berth, int& exit_code) {
  CLI::App& app = *berth.add_subcommand("queue", "Show the queues as a tree, and how much waits and runs in each");
  const auto typed = std::make_shared<Typed>();
  add_connection_options(app, typed->connection, Namespaced::kNo);
  app.add_option("name", typed->names, "Only these queues");
  add_output(app, *typed);
  app.footer("Example:\n  berth queue -o wide");
  app.callback([typed, &exit_code] { exit_code = show_queues(*typed); });
}

void add_nodes(CLI::App& berth, int& exit_code) {
  CLI::App& app = *berth.add_subcommand("nodes", "Show the nodes and a map of their GPUs");
  const auto typed = std::make_shared<Typed>();
  add_connection_options(app, typed->connection, Namespaced::kNo);
  add_output(app, *typed);
  app.footer(
      "A GPU is # when it is taken, + when a part of it is, . when it is free. FREE: those wholly free, of all.\n"
      "\n"
      "Example:\n"
      "  berth nodes -o wide");
  app.callback([typed, &exit_code] { exit_code = show_nodes(*typed); });
}

void add_explain(CLI::App& berth, int& exit_code) {
  CLI::App& app = *berth.add_subcommand("explain", "Say why a job or pod waits, or where it runs");
  const auto typed = std::make_shared<Typed>();
  add_connection_options(app, typed->connection, Namespaced::kYes);
  app.add_option("name", typed->names, "job/NAME or pod/NAME; a name alone is a job's")->required()->expected(1);
  add_output(app, *typed);
  app.footer(
      "Exit codes: 0 it has a place or has ended, 3 there is none of that name, 7 it waits.\n"
      "\n"
      "Example:\n"
      "  berth explain job/train");
  app.callback([typed, &exit_code] { exit_code = explain(*typed); });
}

}  // namespace berth
