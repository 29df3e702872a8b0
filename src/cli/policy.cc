// `berth policy show` and `berth lint`: policies as files.
#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "agent/simulated_nodes.h"
#include "cli/command_line.h"
#include "cli/commands.h"
#include "cli/inputs.h"
#include "cli/output_options.h"
#include "cli/policy_files.h"
#include "client/listing.h"
#include "manifest/json.h"
#include "policy/assemble.h"
#include "policy/fleet.h"
#include "policy/lint.h"
#include "policy/own_objects.h"
#include "policy/read_objects.h"
#include "policy/show.h"
#include "service/facts.h"
#include "sim/files.h"
#include "sim/readers.h"
#include "sim/scenario_policy.h"

namespace berth {
namespace {

struct TypedPolicy {
  std::vector<std::string> files;
  std::string nodes;
  std::string output = "table";
  bool strict = false;
};

// ---- nodes --------------------------------------------------------------------------------------------------------------

SeenNodes seen_node(Value object) {
  Value& status = object.at("status");
  if (status["allocatable"].is_empty()) status.set("allocatable", Value(status["capacity"]));
  const NodeFacts facts = read_node(object);
  SeenNodes seen;
  seen.node.gpus = facts.gpus;
  seen.node.gpu_memory_mib = facts.gpu_memory_mib;
  seen.node.sharing = facts.sharing;
  seen.node.other_modes = facts.other_modes;
  seen.node.replicas = facts.replicas;
  seen.node.fixed_slices = facts.fixed_slices;
  seen.node.recut = facts.recut;
  seen.node.layouts = facts.slices_of_layouts();
  seen.node.cpu_milli = facts.cpu_milli;
  seen.node.memory_bytes = facts.memory_bytes;
  seen.node.pods_max = facts.pods_max;
  seen.node.kept_per_gpu = facts.kept_per_gpu;
  seen.node.extra = facts.extra;
  seen.node.numa_zones = facts.numa_zones;
  seen.node.numa_policy = facts.numa_policy;
  seen.node.links = facts.links;
  seen.node.spare = facts.says.spare;
  seen.gpu_model = facts.gpu_model;
  for (const Value::Member& label : object["metadata"]["labels"].members()) {
    seen.labels.emplace_back(label.key, label.value.text());
  }
  return seen;
}

// A table of nodes (docs/formats.md), Node objects in a file, or groups such as 4xH100x8.
Result<std::vector<SeenNodes>> read_seen_nodes(const std::string& text) {
  std::vector<SeenNodes> seen;
  if (text.ends_with(".csv")) {
    const Result<std::string> table = read_file(text);
    if (!table) return table.error();
    const auto nodes = read_nodes(text, *table);
    if (!nodes) return nodes.error();
    for (const TraceNode& each : *nodes) {
      SeenNodes made;
      made.node.name = each.name;
      made.node.gpus = each.gpus;
      const GpuModel* const model = find_gpu_model(each.gpu_model);
      made.node.gpu_memory_mib = model == nullptr ? 0 : model->memory_mib;
      made.node.cpu_milli = each.cpu_milli;
      made.node.memory_bytes = each.memory_bytes;
      made.gpu_model = each.gpu_model;
      seen.push_back(std::move(made));
    }
    return seen;
  }
  Result<std::vector<Value>> objects = std::vector<Value>();
  const bool is_file = access(text.c_str(), F_OK) == 0;
  if (is_file) {
    const Result<std::string> file = read_file(text);
    if (!file) return file.error();
    objects = nodes_from_manifest(*file, text);
  } else {
    objects = nodes_from_text(text);
  }
  if (!objects) return objects.error();
  for (const Value& object : *objects) {
    seen.push_back(seen_node(object));
    // Groups say how many there are, and not what they are called.
    if (is_file) seen.back().node.name = object["metadata"]["name"].text();
  }
  return seen;
}

// ---- what is printed ----------------------------------------------------------------------------------------------------

Listing listing_of(const PolicyTable& table) {
  Listing listing;
  for (const std::string& title : table.header) listing.columns.push_back({title});
  for (const auto& row : table.rows) listing.rows.push_back({row.front(), row, Value()});
  return listing;
}

// Whatever it was written in, as objects that can be applied here; what is left out goes to stderr.
int convert_policy(const TypedPolicy& typed) {
  const ReadPolicies read = read_policies(typed.files);
  if (!read.complaints.empty()) return complain(read.complaints);
  bool wrong = false;
  bool first = true;
  for (const Policy& policy : read.policies) {
    wrong = complain_about_errors(policy) || wrong;
    const OwnObjects own = own_objects_of(policy);
    for (const auto* const list : {&policy.not_followed, &own.left_out}) {
      for (const NotFollowed& each : *list) {
        fmt::print(stderr, "{}\n", printable(each.place.to_string() + ": " + each.why));
      }
    }
    for (const Value& object : own.objects) {
      fmt::print("{}{}", first ? "" : "---\n", facts_to_text(object, OutputFormat::kYaml));
      first = false;
    }
  }
  return wrong ? kExitBadInput : kExitDone;
}

int show_policy(const TypedPolicy& typed) {
  const auto format = parse_output_format(typed.output);
  if (!format) return complain(format.error());
  const ReadPolicies read = read_policies(typed.files);
  bool wrong = !read.complaints.empty();
  Value all = Value::list();
  for (const Policy& policy : read.policies) {
    wrong = complain_about_errors(policy) || wrong;
    if (*format == OutputFormat::kJson || *format == OutputFormat::kYaml) {
      all.push_back(value_of(policy));
      continue;
    }
    fmt::print("{}", listing_of(table_of(policy)).to_text(OutputStyle()));
    const std::string ignored = not_followed_text(policy);
    if (!ignored.empty()) fmt::print("\n{}", ignored);
  }
  if (!all.items().empty()) {
    fmt::print("{}", facts_to_text(all.items().size() == 1 ? all.items().front() : all, *format));
  }
  if (!read.complaints.empty()) complain(read.complaints);
  return wrong ? kExitBadInput : kExitDone;
}

int print_findings(const std::vector<PolicyFinding>& findings, const TypedPolicy& typed, OutputFormat format) {
  std::size_t counts[3] = {};
  for (const PolicyFinding& each : findings) ++counts[static_cast<std::size_t>(each.severity)];
  if (format == OutputFormat::kJson || format == OutputFormat::kYaml) {
    fmt::print("{}", facts_to_text(value_of(findings), format));
  } else {
    for (const PolicyFinding& each : findings) fmt::print("{}\n", printable(each.to_string()));
    const auto counted = [](std::size_t count, const char* thing) {
      return fmt::format("{} {}{}", count, thing, count == 1 ? "" : "s");
    };
    fmt::print("{}, {}, {}\n", counted(counts[0], "error"), counted(counts[1], "warning"), counted(counts[2], "note"));
  }
  return counts[0] > 0 || (typed.strict && counts[1] > 0) ? kExitFailed : kExitDone;
}

int lint_files(const TypedPolicy& typed) {
  const auto format = parse_output_format(typed.output);
  if (!format) return complain(format.error());
  ReadPolicies read = read_policies(typed.files);
  std::optional<std::vector<SeenNodes>> nodes;
  if (!typed.nodes.empty()) {
    auto seen = read_seen_nodes(typed.nodes);
    if (seen) {
      nodes = std::move(*seen);
    } else {
      read.complaints.add_all(seen.error());
    }
  }
  if (!read.complaints.empty()) return complain(read.complaints);
  std::vector<PolicyFinding> findings;
  for (Policy& policy : read.policies) {
    if (nodes && !policy.fleet) set_fleet(policy, *nodes);
    const std::vector<PolicyFinding> found = lint(policy);
    findings.insert(findings.end(), found.begin(), found.end());
  }
  return print_findings(findings, typed, *format);
}

void add_policy_convert(CLI::App& policy, int& exit_code) {
  CLI::App& app = *policy.add_subcommand("convert", "The same policy as objects of Berth's own, to be applied");
  const auto typed = std::make_shared<TypedPolicy>();
  app.add_option("FILE", typed->files, "Manifests (Berth's, Kueue's, Volcano's) or scenarios")->required();
  app.footer(
      "Example:\n"
      "  berth policy convert examples/policies/kueue.yaml | kubectl apply -f -\n"
      "\n"
      "What has no place in Berth's objects is told on stderr. Exit code 2 when something cannot be read or followed.");
  app.callback([typed, &exit_code] { exit_code = guarded([&] { return convert_policy(*typed); }); });
}

}  // namespace

void add_policy(CLI::App& berth, int& exit_code) {
  CLI::App& policy = *berth.add_subcommand("policy", "Policies as files: queues, their amounts, who may what");
  policy.require_subcommand(1);
  CLI::App& app =
      *policy.add_subcommand("show", "The tree of queues as Berth understands it, and what is not followed");
  const auto typed = std::make_shared<TypedPolicy>();
  app.add_option("FILE", typed->files, "Manifests (Berth's, Kueue's, Volcano's) or scenarios")->required();
  app.add_option("-o,--output", typed->output, "table, json or yaml")->capture_default_str();
  app.footer(
      "Example:\n"
      "  berth policy show examples/policies/kueue.yaml\n"
      "\n"
      "Exit code 2 when something cannot be read or cannot be followed at all; docs/policies.md says what each field\n"
      "becomes.");
  app.callback([typed, &exit_code] { exit_code = guarded([&] { return show_policy(*typed); }); });
  add_policy_convert(policy, exit_code);
  add_policy_diff(policy, exit_code);
}

void add_lint(CLI::App& berth, int& exit_code) {
  CLI::App& app =
      *berth.add_subcommand("lint", "What is wrong with a policy: contradictions, promises nobody can keep");
  const auto typed = std::make_shared<TypedPolicy>();
  app.add_option("FILE", typed->files, "Manifests (Berth's, Kueue's, Volcano's) or scenarios")->required();
  app.add_option("--nodes", typed->nodes,
                 "Nodes to compare with: 4xH100x8,2xA30x4/mig,2xcpu, a file of Node objects, or a table (.csv); a "
                 "scenario has its "
                 "own");
  app.add_option("-o,--output", typed->output, "table, json or yaml")->capture_default_str();
  app.add_flag("--strict", typed->strict, "Warnings fail, too");
  app.footer(
      "Example:\n"
      "  berth lint queues.yaml --nodes 16xH100x8\n"
      "\n"
      "Exit code 1 when there are errors, 2 when something cannot be read; docs/policies.md has all rules.");
  app.callback([typed, &exit_code] { exit_code = guarded([&] { return lint_files(*typed); }); });
}

}  // namespace berth
