// `berth policy diff`: what another policy would have changed on yesterday's load.
#include <fmt/core.h>

#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "cli/command_line.h"
#include "cli/commands.h"
#include "cli/inputs.h"
#include "cli/policy_files.h"
#include "cli/progress.h"
#include "cli/shared_options.h"
#include "cli/shell.h"
#include "cli/way_tables.h"
#include "client/listing.h"
#include "cycle/explain.h"
#include "manifest/json.h"
#include "model/quantity.h"
#include "policy/diff.h"
#include "sim/door.h"
#include "sim/files.h"
#include "sim/policy_diff.h"

namespace berth {
namespace {

using Json = nlohmann::ordered_json;

struct TypedPolicyDiff {
  std::string before, after;
  std::string trace;
  std::string gpus, nodes;
  std::string checkpoint_every;
  std::string seed = "42";
  std::string output = "table";
  std::string report;
};

// ---- what goes in -------------------------------------------------------------------------------------------------------

struct Inputs {
  Policy before, after;
  Trace trace;
  PolicyDiffOptions options;
};

void read_policy(const std::string& file, Policy& into, Complaints& complaints) {
  ReadPolicies read = read_policies({file});
  complaints.add_all(read.complaints);
  if (read.policies.empty()) return;
  into = std::move(read.policies.front());
  for (const PolicyFinding& each : into.findings) {
    if (each.severity == Severity::kError) complaints.add(Place(), each.to_string());
  }
}

Result<Trace> read_load(const TypedPolicyDiff& typed) {
  if (typed.nodes.empty())
    return read_trace_of_gpus(typed.trace, typed.gpus, "say how many GPUs there are, such as 640");
  Result<Trace> trace = read_trace(typed.nodes, typed.trace);
  if (trace) split_large_jobs(*trace);
  return trace;
}

Result<Inputs> read_inputs(const TypedPolicyDiff& typed) {
  Inputs inputs;
  Complaints complaints;
  read_policy(typed.before, inputs.before, complaints);
  read_policy(typed.after, inputs.after, complaints);
  if (!typed.gpus.empty() && !typed.nodes.empty()) {
    complaints.add({"--nodes"}, "stands beside --gpus; say what nodes there are by one of them");
  }
  Result<Trace> trace = read_load(typed);
  if (!trace) complaints.add_all(trace.error());
  if (!typed.checkpoint_every.empty()) {
    const auto every = parse_duration_ms(typed.checkpoint_every);
    if (!every) complaints.add({"--checkpoint-every"}, every.error());
    if (every && *every < 1000) complaints.add({"--checkpoint-every"}, "is too often; write one second or more");
    if (every) inputs.options.checkpoint_every = Duration{*every};
  }
  const Result<std::vector<Seed>> seeds = parse_seeds(typed.seed, "--seed");
  if (!seeds) complaints.add_all(seeds.error());
  if (seeds && seeds->size() != 1) complaints.add({"--seed"}, "a run has one seed; write --seed 42");
  if (!complaints.empty()) return complaints;
  inputs.options.seed = seeds->front();
  inputs.trace = std::move(*trace);
  return inputs;
}

// ---- what comes out -----------------------------------------------------------------------------------------------------

// Of all that was held while jobs arrived: later everybody gets what he asked for.
double share_of_use(const ClusterRun& run, const QueueWaits& queue) {
  std::int64_t all = 0;
  for (const QueueWaits& each : run.queues) all += each.arriving_gpu_seconds;
  return all == 0 ? 0 : 100 * static_cast<double>(queue.arriving_gpu_seconds) / static_cast<double>(all);
}

// "12 min -> 9 min"; once, if nothing changes.
std::string change(const std::string& before, const std::string& after) {
  return before == after ? before : before + " -> " + after;
}

TextTable of_queues(const PolicyDiff& diff) {
  TextTable table{
      {"queue", "jobs", "mean wait", "p90 wait", "starts", "evictions", "GPU hours lost", "share of use, %"}, {}};
  for (const QueueWaits& was : diff.before.run.queues) {
    const QueueWaits& is = *queue_in(diff.after.run, was.queue);
    const auto count = [&](std::int64_t QueueWaits::* const what) {
      return change(with_separators(was.*what), with_separators(is.*what));
    };
    table.rows.push_back(
        {was.queue, with_separators(was.jobs), change(in_words(was.waits.mean_s), in_words(is.waits.mean_s)),
         change(in_words(was.waits.p90_s), in_words(is.waits.p90_s)), count(&QueueWaits::starts),
         count(&QueueWaits::evictions), change(in_hours(was.lost_gpu_seconds), in_hours(is.lost_gpu_seconds)),
         change(fmt::format("{:.1f}", share_of_use(diff.before.run, was)),
                fmt::format("{:.1f}", share_of_use(diff.after.run, is)))});
  }
  return table;
}

// Waits of a second more or less are the same for whoever waits.
std::string verdict(const PolicyDiff& diff) {
  std::string longer, shorter;
  for (const QueueWaits& was : diff.before.run.queues) {
    const QueueWaits& is = *queue_in(diff.after.run, was.queue);
    const double by = is.waits.mean_s - was.waits.mean_s;
    if (by >= 1) longer += (longer.empty() ? "" : ", ") + was.queue;
    if (by <= -1) shorter += (shorter.empty() ? "" : ", ") + was.queue;
  }
  if (longer.empty() && shorter.empty()) return "No queue's mean wait changes by a second or more.";
  std::string text;
  if (!shorter.empty()) text = "Shorter mean waits: " + shorter + ".";
  if (!longer.empty()) text += (text.empty() ? "" : " ") + ("Longer mean waits: " + longer + ".");
  return text;
}

std::string changes_text(const std::vector<PolicyChange>& changes) {
  if (changes.empty()) return "The two policies are the same.\n";
  std::string text = changes.size() == 1 ? "1 change:\n" : std::to_string(changes.size()) + " changes:\n";
  for (const PolicyChange& each : changes) text += "  " + printable(each.to_string()) + "\n";
  return text;
}

std::string headline(const PolicyDiff& diff) {
  const ClusterRun& run = diff.before.run;
  return fmt::format("{} jobs of {} queues on {} GPUs", with_separators(run.jobs), run.queues.size(),
                     with_separators(run.gpu_milli / 1000));
}

std::string texts(const PolicyDiff& diff, const std::vector<PolicyChange>& changes, auto render) {
  const Ways ways = {&diff.before, &diff.after};
  std::string out = changes_text(changes);
  for (const std::string& each : diff.unmatched) out += "note: " + printable(each) + "\n";
  return out + "\n" + headline(diff) + "\n\n" + render(whole_table(ways, Fairness::kNotMeasured)) + "\n" +
         render(of_queues(diff)) + "\n" + verdict(diff) + "\n";
}

std::string as_json(const PolicyDiff& diff, const std::vector<PolicyChange>& changes) {
  Json queues = Json::object();
  for (const Way* const way : {&diff.before, &diff.after}) {
    for (const QueueWaits& queue : way->run.queues) {
      queues[queue.queue]["jobs"] = queue.jobs;
      queues[queue.queue][way->name] = {{"wait_s", waits_as_json(queue.waits)},
                                        {"starts", queue.starts},
                                        {"evictions", queue.evictions},
                                        {"lost_gpu_s", queue.lost_gpu_seconds},
                                        {"gpu_s", queue.gpu_seconds},
                                        {"gpu_s_while_arriving", queue.arriving_gpu_seconds},
                                        {"share_of_use_pct", rounded(share_of_use(way->run, queue))}};
    }
  }
  const Json out = {{"changes", Json::parse(to_json(value_of(changes)))},
                    {"unmatched", diff.unmatched},
                    {"jobs", diff.before.run.jobs},
                    {"gpus", diff.before.run.gpu_milli / 1000},
                    {"before", way_as_json(diff.before.run, Fairness::kNotMeasured)},
                    {"after", way_as_json(diff.after.run, Fairness::kNotMeasured)},
                    {"queues", queues}};
  // Names come from users' files and may be any bytes.
  return out.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

// The queues with most jobs.
QuantilePlot waits_plot(const PolicyDiff& diff) {
  constexpr std::size_t kShown = 8;
  std::vector<const QueueWaits*> queues;
  for (const QueueWaits& each : diff.before.run.queues) queues.push_back(&each);
  std::ranges::stable_sort(queues, std::ranges::greater(), &QueueWaits::jobs);
  queues.resize(std::min(queues.size(), kShown));
  QuantilePlot plot{
      .title = "Waits of the queues with most jobs", .description = "Median and 90th percentile", .rows = {}};
  for (const QueueWaits* const was : queues) {
    for (const Way* const way : {&diff.before, &diff.after}) {
      const Waits& waits = queue_in(way->run, was->queue)->waits;
      plot.rows.push_back({was->queue + ", " + way->name, waits.p50_s, waits.p90_s});
    }
  }
  return plot;
}

Result<std::string> write_report(const TypedPolicyDiff& typed, const PolicyDiff& diff,
                                 const std::vector<PolicyChange>& changes) {
  const Ways ways = {&diff.before, &diff.after};
  TextTable changed{{"what", "field", "before", "after"}, {}};
  for (const PolicyChange& each : changes) changed.rows.push_back({each.what, each.field, each.before, each.after});
  Report report{.title = "What " + typed.after + " would have changed",
                .subtitle = headline(diff) + ". " + verdict(diff),
                .facts = {},
                .figures = {},
                .tables = {as_report_table(std::move(changed), "Changes", "Of the policies, as they are understood"),
                           as_report_table(whole_table(ways, Fairness::kNotMeasured), "The whole", ""),
                           as_report_table(of_queues(diff), "Queues", "Before and after, where they differ")},
                .command = shell_command(
                    "berth policy diff " + shell_quoted(typed.before) + " " + shell_quoted(typed.after),
                    {{"--trace", typed.trace},
                     {typed.nodes.empty() ? "--gpus" : "--nodes", typed.nodes.empty() ? typed.gpus : typed.nodes},
                     {"--checkpoint-every", typed.checkpoint_every},
                     {"--seed", typed.seed}})};
  for (const Way* const way : ways)
    report.facts.emplace_back("mean wait, " + way->name, in_words(way->run.wait.mean_s));
  for (LinePlot& plot : demand_plots(diff.trace, ways)) report.figures.push_back(std::move(plot));
  report.figures.push_back(waits_plot(diff));
  return write_file(typed.report + "/index.html", render_html(report));
}

int run(const TypedPolicyDiff& typed) {
  Result<Inputs> inputs = read_inputs(typed);
  if (!inputs) return complain(inputs.error());
  const Result<PolicyDiff> diff = [&] {
    Progress progress("running");
    return diff_policies(std::move(inputs->trace), inputs->before, typed.before, inputs->after, typed.after,
                         inputs->options, typed.trace,
                         [&](std::int64_t at, std::int64_t of) { progress.show(at, of); });
  }();
  if (!diff) return complain(diff.error());
  const std::vector<PolicyChange> changes = changes_between(inputs->before, inputs->after);
  std::string report;
  if (!typed.report.empty()) {
    const Result<std::string> written = write_report(typed, *diff, changes);
    if (!written) return complain(written.error());
    report = "report: " + *written + "\n";
  }
  fmt::print("{}", typed.output == "json" ? as_json(*diff, changes)
                   : typed.output == "markdown"
                       ? texts(*diff, changes, [](const TextTable& table) { return table.to_markdown(); })
                       : texts(*diff, changes, [](const TextTable& table) { return table.to_text(); }));
  fmt::print(stderr, "{}", report);
  return kExitDone;
}

}  // namespace

void add_policy_diff(CLI::App& policy, int& exit_code) {
  CLI::App& app = *policy.add_subcommand("diff", "What another policy would have changed on yesterday's load");
  const auto typed = std::make_shared<TypedPolicyDiff>();
  app.add_option("OLD", typed->before, "A policy: a manifest (Berth's, Kueue's, Volcano's) or a scenario")
      ->required()
      ->check(not_empty());
  app.add_option("NEW", typed->after, "Another")->required()->check(not_empty());
  app.add_option("--trace", typed->trace, "Jobs with queues: Philly, SWF, or Berth's CSV or JSON")
      ->required()
      ->check(not_empty());
  app.add_option("--gpus", typed->gpus, "So many GPUs in one pool; nothing else counts")->check(not_empty());
  app.add_option("--nodes", typed->nodes, "Or a file of nodes")->check(not_empty());
  app.add_option("--checkpoint-every", typed->checkpoint_every,
                 "Every job reports one so often; without it none does, and an evicted job starts anew")
      ->check(not_empty());
  app.add_option("--seed", typed->seed, "Settles ties")->capture_default_str();
  app.add_option("--output,-o", typed->output, "table, markdown or json")
      ->capture_default_str()
      ->check(CLI::IsMember({"table", "markdown", "json"}));
  app.add_option("--report", typed->report, "Write a page with plots into this folder")->check(not_empty());
  app.footer(
      "Examples:\n"
      "  berth policy diff old.yaml new.yaml --trace jobs.csv --gpus 640\n"
      "  berth policy diff old.yaml new.yaml --trace jobs.csv --nodes nodes.csv --report out\n"
      "\n"
      "Queues of the trace go by the names of the policies' queues, or of LocalQueues that lead to them. What differs "
      "between\n"
      "the policies comes first, then both runs side by side.");
  app.callback([typed, &exit_code] { exit_code = guarded([&] { return run(*typed); }); });
}

}  // namespace berth
