#include "cli/policy_files.h"

#include <fmt/core.h>

#include <algorithm>
#include <iterator>
#include <string_view>
#include <utility>

#include "client/listing.h"
#include "policy/assemble.h"
#include "policy/read_objects.h"
#include "sim/files.h"
#include "sim/scenario_policy.h"

namespace berth {
namespace {

// Objects are YAML or JSON; a scenario is neither: its lines begin with words.
bool is_scenario(std::string_view file, std::string_view text) {
  for (const std::string_view ending : {".yaml", ".yml", ".json"}) {
    if (file.ends_with(ending)) return false;
  }
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    const std::size_t first = line.find_first_not_of(" \t\r");
    if (first == std::string_view::npos || line[first] == '#') continue;
    // "apiVersion: ...", "{", "---", "- ..."
    const std::size_t word = std::min(line.find_first_of(" \t\r:", first), line.size());
    return (line[first] >= 'a' && line[first] <= 'z') && (word == line.size() || line[word] != ':');
  }
  return false;
}

void append(PolicyParts& all, PolicyParts more) {
  const auto move_all = [](auto& from, auto& to) {
    to.insert(to.end(), std::make_move_iterator(from.begin()), std::make_move_iterator(from.end()));
  };
  move_all(more.queues, all.queues);
  move_all(more.flavors, all.flavors);
  move_all(more.doors, all.doors);
  move_all(more.priorities, all.priorities);
  move_all(more.topologies, all.topologies);
  move_all(more.not_followed, all.not_followed);
  move_all(more.findings, all.findings);
  if (more.kueue_fair_sharing) all.kueue_fair_sharing = more.kueue_fair_sharing;
}

}  // namespace

ReadPolicies read_policies(const std::vector<std::string>& files) {
  ReadPolicies read;
  PolicyParts parts;
  bool any_objects = false;
  for (const std::string& file : files) {
    const Result<std::string> text = read_file(file);
    if (!text) {
      read.complaints.add_all(text.error());
    } else if (is_scenario(file, *text)) {
      Result<Policy> policy = read_scenario_policy(file, *text);
      if (policy) {
        read.policies.push_back(std::move(*policy));
      } else {
        read.complaints.add_all(policy.error());
      }
    } else {
      Result<PolicyParts> more = read_policy_text(*text, file);
      if (!more) {
        read.complaints.add_all(more.error());
        continue;
      }
      any_objects = true;
      append(parts, std::move(*more));
    }
  }
  if (any_objects) read.policies.push_back(assemble(std::move(parts)));
  return read;
}

bool complain_about_errors(const Policy& policy) {
  bool any = false;
  for (const PolicyFinding& each : policy.findings) {
    if (each.severity != Severity::kError) continue;
    any = true;
    fmt::print(stderr, "{}\n", printable(each.to_string()));
  }
  return any;
}

}  // namespace berth
