// What is there: `berth jobs`, `berth queue`, `berth share`, `berth reservations`, `berth nodes`.
#include <fmt/core.h>

#include <algorithm>
#include <cstdio>
#include <iterator>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cli/command_line.h"
#include "cli/commands.h"
#include "cli/connection.h"
#include "cli/full_screen.h"
#include "cli/inputs.h"
#include "cli/lookup.h"
#include "cli/output_options.h"
#include "cli/viewing.h"
#include "client/asking.h"
#include "client/listing.h"
#include "client/node_devices.h"
#include "client/node_map.h"
#include "client/other_queue_rows.h"
#include "client/queue_tree.h"
#include "client/refusals.h"
#include "client/reservation_rows.h"
#include "client/topology_levels.h"
#include "client/topology_tree.h"
#include "client/work.h"
#include "client/work_choice.h"
#include "client/work_queues.h"
#include "manifest/hyper_nodes.h"
#include "manifest/timestamp.h"

namespace berth {
namespace {

struct TypedShow {
  ConnectionWish connection;
  OutputWish output;
  WorkWish wish;       // of queues and nodes only the names and the labels
  std::string levels;  // of a map of nodes
  bool all_namespaces = false;
  bool watch = false;
};

void add_view_options(CLI::App& app, TypedShow& typed, Namespaced namespaced) {
  add_connection_options(app, typed.connection, namespaced);
  app.add_option("-l,--selector", typed.wish.labels, "Only those with such labels: team=vision,stage!=test");
  app.add_flag("-w,--watch", typed.watch, "Go on, with a line for each that changes");
  add_output_options(app, typed.output);
}

std::vector<Value> with_labels(const std::vector<Value>& objects, const LabelSelector& labels) {
  std::vector<Value> chosen = objects;
  std::erase_if(chosen, [&](const Value& each) { return !labels.matches(each["metadata"]["labels"]); });
  return chosen;
}

int say_nothing(const std::string& text) {
  fmt::print(stderr, "{}\n", text);
  return kExitDone;
}

// ---- berth jobs -----------------------------------------------------------------------------------------------------

std::string no_jobs(const TypedShow& typed, const std::string& name_space) {
  const WorkWish& wish = typed.wish;
  std::string text = "No jobs";
  if (!wish.queue.empty()) text += " of queue " + wish.queue;
  if (!wish.labels.empty() || !wish.states.empty()) text += " that are asked for";
  if (name_space.empty()) return text + " in any namespace.";
  return text + " in namespace " + name_space + "; -A shows all namespaces.";
}

// What somebody names by -q: a Queue of Berth's, or another by the name that the scheduler and `berth jobs` have for it.
struct QueueKind {
  std::string_view prefix, qualified, what, remedy;
  bool is_local = false;            // of a namespace
  bool leads_local_queues = false;  // work is in it through LocalQueues
  std::string name = {};            // without the prefix
};

QueueKind kind_of_queue(const std::string& queue) {
  const QueueKind kinds[] = {
      {"clusterqueue/", "clusterqueues.kueue.x-k8s.io", "ClusterQueue", "`kubectl get clusterqueues`", false, true},
      {"localqueue/", "localqueues.kueue.x-k8s.io", "LocalQueue", "`kubectl get localqueues`", true},
      {"volcano/", "queues.scheduling.volcano.sh", "Queue of Volcano's", "`kubectl get queues.scheduling.volcano.sh`"},
      {"", "queues.berth.dev", "queue", "`berth queue`"},
  };
  QueueKind kind = *std::ranges::find_if(kinds, [&](const QueueKind& each) { return queue.starts_with(each.prefix); });
  kind.name = queue.substr(kind.prefix.size());
  return kind;
}

// Perhaps there is no such queue, or no such namespace; whoever may not know is not told.
int say_no_jobs(Transport& server, const TypedShow& typed, const std::string& name_space) {
  if (!typed.wish.queue.empty()) {
    const QueueKind kind = kind_of_queue(typed.wish.queue);
    const auto queues = list_objects(server, kind.qualified, kind.is_local ? name_space : "");
    if (queues && !is_named_among(kind.name, *queues)) {
      return fail(no_such(kind.what, kind.name, *queues, kind.remedy));
    }
  }
  const auto missing = name_space.empty() ? std::nullopt : missing_namespace(server, name_space);
  if (missing) return fail(*missing);
  return say_nothing(no_jobs(typed, name_space));
}

Asked<std::vector<Work>> chosen_work(const WorkChoice& choice, std::vector<Work> work, const std::string& name_space) {
  if (const auto missing = choice.missing_from(work); !missing.empty()) {
    const std::string near = nearest_work(missing.front(), work);
    std::string text = "there is no " + missing.front().to_string();
    text += name_space.empty() ? " in any namespace" : " in namespace " + name_space;
    text += near.empty() ? "; `berth jobs -A` shows all" : "; did you mean " + near + "?";
    return std::unexpected(AskFailure{kExitNotFound, std::move(text)});
  }
  return choice.of(std::move(work));
}

// Jobs, pods, Volcano's Jobs, Workloads, JobSets, events of what was refused and, if they were asked for, LocalQueues.
std::vector<Work> work_seen(const SeenObjects& seen) {
  std::vector<Value> jobs = seen[0];
  jobs.insert(jobs.end(), seen[2].begin(), seen[2].end());
  std::vector<Work> work = read_work(jobs, seen[1]);
  const Refusals refusals(seen[5]);
  add_job_sets(work, seen[4], seen[0], refusals);
  note_refusals(work, refusals);
  take_queues_of_groups(work, seen[3]);
  if (seen.size() > 6) take_cluster_queues(work, seen[6]);
  return work;
}

int show_jobs(const TypedShow& typed) {
  Complaints complaints;
  const auto style = output_style(typed.output);
  if (!style) complaints.add_all(style.error());
  const auto choice = parse_work_wish(typed.wish);
  if (!choice) complaints.add_all(choice.error());
  if (!complaints.empty()) return complain(complaints);
  const auto server = connect(typed.connection);
  if (!server) return complain(server.error());
  const std::string name_space = typed.all_namespaces ? "" : server->name_space;
  ListingView view;
  view.kinds = {{"jobs.batch", name_space},
                {"pods", name_space},
                {.qualified = "jobs.batch.volcano.sh", .name_space = name_space, .if_allowed = true},
                {.qualified = "workloads.berth.dev", .name_space = name_space, .if_allowed = true},
                {.qualified = "jobsets.jobset.x-k8s.io", .name_space = name_space, .if_allowed = true},
                {.qualified = "events", .name_space = name_space, .fields = Refusals::kSelector, .if_allowed = true}};
  if (kind_of_queue(typed.wish.queue).leads_local_queues) {
    view.kinds.push_back({.qualified = "localqueues.kueue.x-k8s.io", .name_space = name_space, .if_allowed = true});
  }
  view.style = *style;
  view.watch = typed.watch;
  view.listing = [&](const SeenObjects& seen) -> Asked<Listing> {
    const auto work = chosen_work(*choice, work_seen(seen), name_space);
    if (!work) return std::unexpected(work.error());
    return list_work(*work, typed.all_namespaces, system_wall_clock()());
  };
  view.nothing = [&] { return say_no_jobs(*server->transport, typed, name_space); };
  return show_view(*server->transport, view);
}

// ---- berth queue, berth nodes ---------------------------------------------------------------------------------------

struct NamedKind {
  std::string what;             // "queue"
  std::vector<SeenKind> kinds;  // the first has the names and the labels
  std::string remedy;           // shows all of them
  Listing (*listing)(const SeenObjects&);
  // Makes all that have names of several kinds; none: they are of the first.
  std::vector<Value> (*gathered)(const SeenObjects&) = nullptr;
};

int show_named(const TypedShow& typed, const NamedKind& kind) {
  Complaints complaints;
  const auto style = output_style(typed.output);
  if (!style) complaints.add_all(style.error());
  const auto labels = parse_label_option(typed.wish.labels);
  if (!labels) complaints.add_all(labels.error());
  if (!complaints.empty()) return complain(complaints);
  const auto server = connect(typed.connection);
  if (!server) return complain(server.error());
  ListingView view;
  view.kinds = kind.kinds;
  view.style = *style;
  view.watch = typed.watch;
  view.listing = [&](const SeenObjects& seen) -> Asked<Listing> {
    SeenObjects chosen = seen;
    if (kind.gathered != nullptr) chosen[0] = kind.gathered(seen);
    auto named = only_named(std::move(chosen[0]), typed.wish.names, kind.what, kind.remedy);
    if (!named) return std::unexpected(named.error());
    chosen[0] = with_labels(*named, *labels);
    return kind.listing(chosen);
  };
  view.nothing = [&] {
    return say_nothing("There are no " + kind.what + "s" + (typed.wish.labels.empty() ? "." : " with such labels."));
  };
  return show_view(*server->transport, view);
}

int show_queues(const TypedShow& typed) {
  return show_named(typed, {"queue", {{"queues.berth.dev"}}, "`berth queue`", [](const SeenObjects& seen) {
                              return list_queues(seen[0]);
                            }});
}

int show_reservations(const TypedShow& typed) {
  return show_named(typed,
                    {"reservation", {{"reservations.berth.dev"}}, "`berth reservations`", [](const SeenObjects& seen) {
                       return list_reservations(seen[0]);
                     }});
}

int show_shares(const TypedShow& typed) {
  const auto gathered = [](const SeenObjects& seen) {
    std::vector<Value> queues = seen[0];
    std::ranges::copy(as_queues(seen[1], seen[2]), std::back_inserter(queues));
    return queues;
  };
  return show_named(typed, {.what = "queue",
                            .kinds = {{.qualified = "queues.berth.dev"},
                                      {.qualified = "clusterqueues.kueue.x-k8s.io", .if_allowed = true},
                                      {.qualified = "cohorts.kueue.x-k8s.io", .if_allowed = true}},
                            .remedy = "`berth share`",
                            .listing = [](const SeenObjects& seen) { return list_shares(seen[0]); },
                            .gathered = gathered});
}

// The picture of all nodes, domain by domain.
int show_node_map(const TypedShow& typed) {
  Complaints complaints;
  const auto style = output_style(typed.output);
  if (!style) complaints.add_all(style.error());
  const auto selector = parse_label_option(typed.wish.labels);
  if (!selector) complaints.add_all(selector.error());
  if (typed.watch) complaints.add({"-w"}, "a map is one picture, and does not go on; leave out -w, or write -o table");
  Result<std::vector<std::string>> levels = std::vector<std::string>();
  if (!typed.levels.empty()) levels = parse_levels(typed.levels);
  if (!levels) complaints.add_all(levels.error());
  if (!complaints.empty()) return complain(complaints);
  const auto server = connect(typed.connection);
  if (!server) return complain(server.error());
  const auto seen = see_once(*server->transport, kTopologyKinds);
  if (!seen) return fail(seen.error());
  // Who is in which HyperNode goes by all nodes.
  auto named = only_named(with_hyper_node_labels(seen->at(0), seen->at(3)), typed.wish.names, "node", "`berth nodes`");
  if (!named) return fail(named.error());
  const std::vector<Value> nodes = with_labels(*named, *selector);
  if (nodes.empty())
    return say_nothing("There are no nodes" + std::string(typed.wish.labels.empty() ? "." : " with such labels."));
  if (const std::string unknown = unknown_level(*levels, nodes); !unknown.empty()) {
    return fail({kExitNotFound, "--levels: " + unknown});
  }
  std::vector<TopologyLevels> topologies = levels_of_topologies(seen->at(2));
  if (auto hyper_nodes = levels_of_hyper_nodes(seen->at(3))) topologies.push_back(*std::move(hyper_nodes));
  const TopologyLevels chosen = !levels->empty()         ? TopologyLevels{"", *levels}
                                : topologies.size() == 1 ? topologies.front()
                                                         : levels_in_labels(nodes, seen->at(1), topologies);
  const std::vector<NodeInUse> in_use = nodes_in_use(nodes, seen->at(1));
  fmt::print("{}", map_of_tree(topology_tree(chosen, in_use), terminal_size().columns, style->colors));
  return kExitDone;
}

int show_nodes(const TypedShow& typed) {
  if (wants_other(typed.output)) return show_node_map(typed);
  if (!typed.levels.empty()) {
    return complain(Complaints({"--levels"}, "only a map has levels; write -o map, too, or leave it out"));
  }
  return show_named(typed, {"node", {{"nodes"}, {"pods"}}, "`berth nodes`", [](const SeenObjects& seen) {
                              return list_nodes(seen[0], seen[1]);
                            }});
}

}  // namespace

void add_jobs(CLI::App& berth, int& exit_code) {
  CLI::App& app = *berth.add_subcommand("jobs", "Show jobs, where they run and why they wait");
  const auto typed = std::make_shared<TypedShow>();
  app.add_option("name", typed->wish.names,
                 "Only these: job/NAME, vcjob/NAME, pod/NAME or jobset/NAME; a name alone is a job's");
  app.add_flag("-A,--all-namespaces", typed->all_namespaces, "Of all namespaces");
  app.add_option("-q,--queue", typed->wish.queue, "Only of this queue");
  app.add_option("--state", typed->wish.states,
                 "Only waiting, suspended, starting, running, ending, succeeded or failed ones; several with commas");
  app.add_option("--sort-by", typed->wish.sort_by,
                 "name, age (oldest first), gpus (most first), state, queue or wait (longest first)");
  app.add_flag("--reverse", typed->wish.reverse, "The other way round");
  add_view_options(app, *typed, Namespaced::kYes);
  app.footer(
      "PODS: those that run or are done, of all. GPUS: of all pods that run at once. Pods without a Job are shown "
      "too.\n"
      "-w shows all, then a line for each that changes, with the state gone for what was deleted; with -o json each "
      "is\n"
      "one line.\n"
      "\n"
      "Examples:\n"
      "  berth jobs -A -q default -o wide\n"
      "  berth jobs --state waiting --sort-by wait\n"
      "  berth jobs train-1 -w");
  app.callback([typed, &exit_code] { exit_code = show_jobs(*typed); });
}

void add_queue(CLI::App& berth, int& exit_code) {
  CLI::App& app = *berth.add_subcommand("queue", "Show the queues as a tree, and how much waits and runs in each");
  const auto typed = std::make_shared<TypedShow>();
  app.add_option("name", typed->wish.names, "Only these queues");
  add_view_options(app, *typed, Namespaced::kNo);
  app.footer(
      "STATE: nothing starts from a queue that is held, nor from those below it.\n"
      "\n"
      "Examples:\n"
      "  berth queue -o wide\n"
      "  berth queue research -w");
  app.callback([typed, &exit_code] { exit_code = show_queues(*typed); });
}

void add_share(CLI::App& berth, int& exit_code) {
  CLI::App& app = *berth.add_subcommand("share", "Show what queues hold above their floors, and who is next");
  const auto typed = std::make_shared<TypedShow>();
  app.add_option("name", typed->wish.names, "Only these queues");
  add_view_options(app, *typed, Namespaced::kNo);
  app.footer(
      "FLOOR: what of the guarantee can be kept. INSIDE, BORROWED: what of USED is inside the floor, and above it.\n"
      "LENT: what others hold of the floor. SHARE: what is above the floor, as an exact part of all that there is, "
      "over\n"
      "WEIGHT; among borrowers below one parent the smallest goes first. NEXT: the first that waits. -o wide: who "
      "lends\n"
      "what is borrowed, of what shares are made, who goes before whom and why. Of Kueue's queues (clusterqueue/NAME,\n"
      "cohort/NAME) it shows what their own statuses say: the share to a thousandth.\n"
      "\n"
      "Examples:\n"
      "  berth share\n"
      "  berth share research -o json");
  app.callback([typed, &exit_code] { exit_code = show_shares(*typed); });
}

void add_reservations(CLI::App& berth, int& exit_code) {
  CLI::App& app =
      *berth.add_subcommand("reservations", "Show what is promised for a time: GPUs to queues, nodes to nobody");
  const auto typed = std::make_shared<TypedShow>();
  app.add_option("name", typed->wish.names, "Only these reservations");
  add_view_options(app, *typed, Namespaced::kNo);
  app.footer(
      "STATE: lasting, coming, over, or not in force (-o wide says why). HAS: how many GPUs it has, or will have as\n"
      "it stands; SHORT: how many it lacks. DRAINS: when the next are told to stop who would be in its way. -o wide: "
      "on\n"
      "which GPUs, and who was told.\n"
      "\n"
      "Examples:\n"
      "  berth reservations\n"
      "  berth reservations monday -o json");
  app.callback([typed, &exit_code] { exit_code = show_reservations(*typed); });
}

void add_nodes(CLI::App& berth, int& exit_code) {
  CLI::App& app = *berth.add_subcommand("nodes", "Show the nodes and a map of their GPUs");
  const auto typed = std::make_shared<TypedShow>();
  typed->output.other = "map";
  app.add_option("name", typed->wish.names, "Only these nodes");
  app.add_option("--levels", typed->levels,
                 "With -o map: labels of nodes by which it is divided, the widest first: zone,rack");
  add_view_options(app, *typed, Namespaced::kNo);
  app.footer(
      "A GPU is # when it is taken, + when a part of it is, . when it is free. FREE: those wholly free, of all.\n"
      "-o map draws the nodes of each domain in a line: of the Topology, if there is one, else of the labels that "
      "nodes\n"
      "have (see berth topology). Before the maps: how many GPUs are wholly free on nodes that take pods, of all. A "
      "node\n"
      "in round brackets is not ready, cordoned, or a spare; one whose GPUs are all free is green.\n"
      "\n"
      "Examples:\n"
      "  berth nodes -o wide\n"
      "  berth nodes -o map --levels zone,rack\n"
      "  berth nodes -l nvidia.com/gpu.product=H100 -w");
  app.callback([typed, &exit_code] { exit_code = show_nodes(*typed); });
}

}  // namespace berth
