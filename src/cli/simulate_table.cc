// Ours beside the published: every policy on every workload of the openb artifact (Weng et al., USENIX ATC 2023).
#include <fmt/core.h>

#include <algorithm>
#include <charconv>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <tuple>

#include "base/wording.h"
#include "cli/command_line.h"
#include "cli/commands.h"
#include "cli/fill_runs.h"
#include "cli/inputs.h"
#include "cli/run_reports.h"
#include "cli/text_table.h"
#include "sim/csv.h"
#include "sim/files.h"

namespace berth {
namespace {

struct Typed {
  std::string data;
  std::string seeds = "42..51";
  std::string output = "table";
};

// What the artifact calls a policy that we have.
struct PublishedName {
  std::string_view name;
  PlacementPolicy policy;
  double tolerance;  // how far ours may be from the published mean
};
constexpr PublishedName kPublishedNames[] = {
    {"06-FGD", PlacementPolicy::kFgd, 0.6},
    {"05-BestFit", PlacementPolicy::kBestFit, 0.6},
    {"04-GpuPacking", PlacementPolicy::kGpuPacking, 1.0},
    {"03-GpuClustering", PlacementPolicy::kGpuClustering, 1.0},
    {"02-DotProd", PlacementPolicy::kDotProduct, 0.6},
    {"01-Random", PlacementPolicy::kRandom, 1.0},
};

// "98.2"; nothing else that a double can be.
std::optional<double> parse_percent(std::string_view text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || !(value >= 0 && value <= 100)) return std::nullopt;
  return value;
}

using Key = std::tuple<std::string, PlacementPolicy, int>;  // workload, policy, percent

using Published = std::map<Key, std::vector<double>>;

std::set<std::string> workloads_of(const Published& published) {
  std::set<std::string> workloads;
  for (const auto& [key, values] : published) workloads.insert(std::get<0>(key));
  return workloads;
}

// Every policy is compared on every workload.
void complain_about_missing(const std::string& path, const Published& published, Complaints& complaints) {
  if (published.empty()) complaints.add({path}, "has no row of a known policy; write some, such as 06-FGD");
  for (const std::string& workload : workloads_of(published)) {
    for (const PublishedName& known : kPublishedNames) {
      if (published.contains({workload, known.policy, 100})) continue;
      complaints.add({path}, fmt::format("workload {} has no row of policy '{}'; add it", quote(workload), known.name));
    }
  }
}

Result<Published> read_published(const std::string& path) {
  const Result<std::string> text = read_file(path);
  if (!text) return text.error();
  Complaints complaints;
  CsvReader csv(path, *text, complaints);
  std::map<std::string, std::size_t, std::less<>> columns;
  for (std::size_t i = 0; i < csv.header().size(); ++i) columns[std::string(csv.header()[i].text)] = i;
  for (const char* needed : {"workload", "sc_policy", "100", "130"}) {
    if (complaints.empty() && !columns.contains(needed))
      complaints.add({path, 1}, fmt::format("column '{}' is missing", needed));
  }
  if (!complaints.empty()) return complaints;
  Published published;
  while (csv.next()) {
    const auto field = [&](const char* name) { return std::string(csv.row()[columns[name]].text); };
    const auto* const known = std::ranges::find(kPublishedNames, field("sc_policy"), &PublishedName::name);
    if (known == std::end(kPublishedNames)) continue;
    for (const int percent : {100, 130}) {
      const CsvField& field_of_percent = csv.row()[columns[std::to_string(percent)]];
      if (const std::optional<double> value = parse_percent(field_of_percent.text)) {
        published[{field("workload"), known->policy, percent}].push_back(*value);
      } else {
        complaints.add(csv.place(field_of_percent), fmt::format("{}: {} is not a percentage; write one such as 98.2",
                                                                percent, quote(field_of_percent.text)));
      }
    }
  }
  if (complaints.empty()) complain_about_missing(path, published, complaints);
  if (!complaints.empty()) return complaints;
  return published;
}

double mean_of(const std::vector<double>& values) { return mean_and_sd(values).mean; }

int table(const Typed& typed) {
  Complaints complaints;
  const Result<std::vector<Seed>> seeds = parse_seeds(typed.seeds);
  if (!seeds) complaints.add_all(seeds.error());
  const auto published = read_published(typed.data + "/expected/analysis_allo_discrete.csv");
  if (!published) complaints.add_all(published.error());
  if (!complaints.empty()) return complain(complaints);

  TextTable out{{"workload", "policy", "ours @100", "published", "apart", "ours @130", "published", "apart", "within"},
                {}};
  int outside = 0;
  for (const std::string& workload : workloads_of(*published)) {
    const Result<Trace> trace =
        read_trace(typed.data + "/openb_node_list_gpu_node.csv", typed.data + "/" + workload + ".csv");
    if (!trace) return complain(trace.error());
    for (const PublishedName& known : kPublishedNames) {
      const FillOptions options{.policy = known.policy, .until_percent = 130};
      const Result<FillRuns> runs = run_fills(*trace, options, *seeds, workload, false,
                                              fmt::format("{} with {}", workload, name_of(known.policy)));
      if (!runs) return complain(runs.error());
      std::vector<std::string> row{workload.substr(workload.rfind('_') + 1), std::string(name_of(known.policy))};
      bool within = true;
      for (const int percent : {100, 130}) {
        const double ours = summary_at(runs->runs, percent).allocated.mean;
        const double theirs = mean_of(published->at({workload, known.policy, percent}));
        within = within && std::abs(ours - theirs) <= known.tolerance;
        row.insert(row.end(),
                   {fmt::format("{:.2f}", ours), fmt::format("{:.2f}", theirs), fmt::format("{:+.2f}", ours - theirs)});
      }
      row.push_back(fmt::format("{} {}", within ? "yes," : "NO,", known.tolerance));
      outside += within ? 0 : 1;
      out.rows.push_back(std::move(row));
    }
  }
  fmt::print("{}", typed.output == "markdown" ? out.to_markdown() : out.to_text());
  fmt::print("\n{} of {} rows within their tolerance, seeds {}\n", static_cast<int>(out.rows.size()) - outside,
             out.rows.size(), typed.seeds);
  return outside == 0 ? kExitDone : kExitFailed;
}

}  // namespace

void add_simulate_table(CLI::App& simulate, int& exit_code) {
  CLI::App& app =
      *simulate.add_subcommand("table", "Ours beside the published results, for all policies and openb workloads");
  const auto typed = std::make_shared<Typed>();
  app.add_option("--data", typed->data, "The openb folder, with the published results in expected/")->required();
  app.add_option("--seeds", typed->seeds, "One run each")->capture_default_str();
  app.add_option("--output,-o", typed->output, "table or markdown")
      ->capture_default_str()
      ->check(CLI::IsMember({"table", "markdown"}));
  app.footer("Example:\n  berth simulate table --data ../shared/data/openb --seeds 42..51 -o markdown");
  app.callback([typed, &exit_code] { exit_code = table(*typed); });
}

}  // namespace berth
