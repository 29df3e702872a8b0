// `berth explain`: why a job or pod waits, or where it runs.
#include <fmt/core.h>

#include <algorithm>
#include <iterator>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "apiserver/node_amounts.h"
#include "cli/command_line.h"
#include "cli/commands.h"
#include "cli/connection.h"
#include "cli/inputs.h"
#include "cli/lookup.h"
#include "cli/output_options.h"
#include "client/account.h"
#include "client/asking.h"
#include "client/listing.h"
#include "client/refusals.h"
#include "client/work.h"
#include "client/work_queues.h"
#include "manifest/job_set_labels.h"
#include "manifest/timestamp.h"

namespace berth {
namespace {

struct TypedExplain {
  ConnectionWish connection;
  OutputWish output;
  std::string name;
};

// The work itself, with the pods of a Job, or the pod that it is.
struct SeenWork {
  Work work;
  std::vector<Value> own_pods = {};
};

// The first of a JobSet's Jobs that waits, else the first.
Asked<SeenWork> see_job_of(Transport& server, const Value& set, const std::vector<Value>& jobs,
                           const std::string& name_space) {
  const auto pods = list_objects(server, "pods", name_space);
  if (!pods) return std::unexpected(pods.error());
  const std::string_view uid = set["metadata"]["uid"].text();
  std::vector<Value> own_jobs;
  std::ranges::copy_if(jobs, std::back_inserter(own_jobs),
                       [&](const Value& job) { return job["metadata"]["labels"][kJobSetUidLabel].text() == uid; });
  const std::vector<Work> work = read_work(own_jobs, pods_of_job_set(*pods, uid));
  if (work.empty()) return SeenWork{read_job_set_work(set, 0)};
  const auto waits = std::ranges::find_if(work, [](const Work& each) { return has_no_place_yet(each.state); });
  const Work& seen = waits == work.end() ? work.front() : *waits;
  return SeenWork{seen, pods_of_job(*pods, seen.uid)};
}

// One that has no Jobs, or can make no more of them, stands for itself; the others are seen as their Jobs.
Asked<SeenWork> see_job_set(Transport& server, const Value& set, const std::string& name_space) {
  const auto jobs = list_objects(server, "jobs.batch", name_space);
  if (!jobs) return std::unexpected(jobs.error());
  const auto refused = seen_or_nothing(server, "events", name_space, Refusals::kSelector);
  if (!refused) return std::unexpected(refused.error());
  const Refusals refusals(*refused);
  std::vector<Work> work;
  add_job_sets(work, {set}, *jobs, refusals);
  note_refusals(work, refusals);
  if (!work.empty()) return SeenWork{std::move(work.front())};
  return see_job_of(server, set, *jobs, name_space);
}

Asked<SeenWork> see_one(Transport& server, const WorkName& name, const std::string& name_space) {
  const auto object = read_object(server, name.qualified(), name_space, name.name);
  if (!object) return std::unexpected(not_found_or(object.error(), server, name, name_space));
  if (name.is_pod()) return SeenWork{read_pod_work(*object), {*object}};
  if (name.is_job_set()) return see_job_set(server, *object, name_space);
  const auto pods = list_objects(server, "pods", name_space);
  if (!pods) return std::unexpected(pods.error());
  std::vector<Value> own = pods_of_job(*pods, (*object)["metadata"]["uid"].text());
  std::vector<Work> work = read_work({*object}, own);
  const auto refused = seen_or_nothing(server, "events", name_space, Refusals::kSelector);
  if (!refused) return std::unexpected(refused.error());
  note_refusals(work, Refusals(*refused));
  return SeenWork{std::move(work.front()), std::move(own)};
}

// What the scheduler says of those who start with it; null: nothing, or not to everybody.
Asked<Value> seen_workload(Transport& server, const SeenWork& seen) {
  const std::string name = workload_name_of(seen.work, seen.own_pods);
  if (name.empty() || has_ended(seen.work.state)) return Value();
  auto workload = read_object(server, "workloads.berth.dev", seen.work.name_space, name);
  if (workload) return workload;
  const int code = workload.error().exit_code;
  if (code == kExitForbidden || code == kExitNotFound) return Value();
  return std::unexpected(workload.error());
}

Asked<Account> account_for(Transport& server, const SeenWork& seen) {
  const std::string& name_space = seen.work.name_space;
  auto others = see_work(server, "");
  const bool all_seen = others.has_value();
  if (!all_seen && others.error().exit_code == kExitForbidden) others = see_work(server, name_space);
  if (!others) return std::unexpected(others.error());
  auto queues = seen_or_nothing(server, "queues.berth.dev", "");
  if (!queues) return std::unexpected(queues.error());
  auto events = seen_or_nothing(server, "events", name_space);
  if (!events) return std::unexpected(events.error());
  auto nodes = seen_or_nothing(server, "nodes", "");
  if (!nodes) return std::unexpected(nodes.error());
  std::set<Amounts> amounts;
  for (const Value& node : *nodes) amounts.insert(allocatable_of(node));
  auto workload = seen_workload(server, seen);
  if (!workload) return std::unexpected(workload.error());
  std::vector<Work> work = {seen.work};
  take_queues_of_groups(work, {*workload});
  return account_of(
      work.front(),
      {.others = *std::move(others),
       .others_are_all = all_seen,
       .queues = *std::move(queues),
       .events = *std::move(events),
       .own_pods = seen.own_pods,
       .workload = *std::move(workload),
       .beyond = seen.own_pods.empty() ? std::vector<std::string>() : beyond_all_nodes(seen.own_pods.front(), amounts)},
      system_wall_clock()());
}

std::string text_of(const Account& account, const Work& work, OutputStyle style) {
  if (style.format == OutputFormat::kJson || style.format == OutputFormat::kYaml) {
    return facts_to_text(account.facts, style.format);
  }
  if (style.format == OutputFormat::kName) return printable(work.name.to_string()) + "\n";
  return style.colors ? account.text_in_color() : account.text;
}

int explain(const TypedExplain& typed) {
  Complaints complaints;
  const auto style = output_style(typed.output);
  if (!style) complaints.add_all(style.error());
  const auto name = parse_work_name(typed.name);
  if (!name) complaints.add_all(name.error());
  if (!complaints.empty()) return complain(complaints);
  const auto server = connect(typed.connection);
  if (!server) return complain(server.error());
  const auto seen = see_one(*server->transport, *name, server->name_space);
  if (!seen) return fail(seen.error());
  const auto account = account_for(*server->transport, *seen);
  if (!account) return fail(account.error());
  fmt::print("{}", text_of(*account, seen->work, *style));
  return account->waits ? kExitWaits : kExitDone;
}

}  // namespace

void add_explain(CLI::App& berth, int& exit_code) {
  CLI::App& app = *berth.add_subcommand("explain", "Say why a job or pod waits, or where it runs");
  const auto typed = std::make_shared<TypedExplain>();
  add_connection_options(app, typed->connection, Namespaced::kYes);
  app.add_option(
         "name", typed->name,
         "job/NAME, vcjob/NAME, pod/NAME or jobset/NAME: the first of its Jobs that waits; a name alone is a job's")
      ->required();
  add_output_options(app, typed->output);
  app.footer(
      "Exit codes: 0 it has a place or has ended, 3 there is none of that name, 7 it waits.\n"
      "\n"
      "Examples:\n"
      "  berth explain job/train\n"
      "  berth explain pod/train-0-x7k2p -n research -o json");
  app.callback([typed, &exit_code] { exit_code = explain(*typed); });
}

}  // namespace berth
