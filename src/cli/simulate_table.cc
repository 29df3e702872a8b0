// Ours beside the published: every policy on every workload of the openb artifact (Weng et al., USENIX ATC 2023), and what
// our own policy gains on the best of them.
#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
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

struct TypedSimulateTable {
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

// Of demand.
constexpr std::array kPercents = {100, 130};

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
    for (const int percent : kPercents) {
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

std::string short_name(const std::string& workload) { return workload.substr(workload.rfind('_') + 1); }

// Ours and theirs of one policy each, at 100 and 130 % of demand.
struct Compared {
  std::array<double, 2> ours{};
  std::array<double, 2> theirs{};
  double apart(std::size_t at) const { return ours[at] - theirs[at]; }
};

Result<Compared> compare(const Trace& trace, const std::string& workload, PlacementPolicy ours, PlacementPolicy theirs,
                         const Published& published, const std::vector<Seed>& seeds) {
  const FillOptions options{.policy = ours, .until_percent = 130};
  const Result<FillRuns> runs =
      run_fills(trace, options, seeds, workload, false, fmt::format("{} with {}", workload, name_of(ours)));
  if (!runs) return runs.error();
  Compared compared;
  for (std::size_t i = 0; i < kPercents.size(); ++i) {
    compared.ours[i] = summary_at(runs->runs, kPercents[i]).allocated.mean;
    compared.theirs[i] = mean_of(published.at({workload, theirs, kPercents[i]}));
  }
  return compared;
}

std::vector<std::string> cells(const std::string& workload, PlacementPolicy policy, const Compared& compared) {
  std::vector<std::string> row{short_name(workload), std::string(name_of(policy))};
  for (std::size_t i = 0; i < kPercents.size(); ++i) {
    row.insert(row.end(), {fmt::format("{:.2f}", compared.ours[i]), fmt::format("{:.2f}", compared.theirs[i]),
                           fmt::format("{:+.2f}", compared.apart(i))});
  }
  return row;
}

// What our own policy gains on the best of the published ones, by workload.
class Gains {
 public:
  void add(const std::string& workload, const Compared& compared) {
    out_.rows.push_back(cells(workload, PlacementPolicy::kFgdBalanced, compared));
    for (std::size_t i = 0; i < kPercents.size(); ++i) sums_[i] += compared.apart(i);
    if (compared.apart(1) < least_) {
      least_ = compared.apart(1);
      where_ = short_name(workload);
    }
  }

  void print(bool as_markdown) const {
    fmt::print("{}", as_markdown ? out_.to_markdown() : out_.to_text());
    const auto workloads = static_cast<double>(out_.rows.size());
    fmt::print(
        "\nfgd-balanced gains {:+.2f} at 100 % and {:+.2f} at 130 % in the mean of {} workloads, {:+.2f} at the least "
        "({})\n",
        sums_[0] / workloads, sums_[1] / workloads, out_.rows.size(), least_, where_);
  }

 private:
  TextTable out_{{"workload", "policy", "ours @100", "published fgd", "gain", "ours @130", "published fgd", "gain"},
                 {}};
  std::array<double, 2> sums_{};
  double least_ = 100;
  std::string where_;
};

int table(const TypedSimulateTable& typed) {
  Complaints complaints;
  const Result<std::vector<Seed>> seeds = parse_seeds(typed.seeds);
  if (!seeds) complaints.add_all(seeds.error());
  const auto published = read_published(typed.data + "/expected/analysis_allo_discrete.csv");
  if (!published) complaints.add_all(published.error());
  if (!complaints.empty()) return complain(complaints);

  TextTable out{{"workload", "policy", "ours @100", "published", "apart", "ours @130", "published", "apart", "within"},
                {}};
  Gains gains;
  int outside = 0;
  for (const std::string& workload : workloads_of(*published)) {
    const Result<Trace> trace =
        read_trace(typed.data + "/openb_node_list_gpu_node.csv", typed.data + "/" + workload + ".csv");
    if (!trace) return complain(trace.error());
    for (const PublishedName& known : kPublishedNames) {
      const auto compared = compare(*trace, workload, known.policy, known.policy, *published, *seeds);
      if (!compared) return complain(compared.error());
      std::vector<std::string> row = cells(workload, known.policy, *compared);
      const bool within =
          std::abs(compared->apart(0)) <= known.tolerance && std::abs(compared->apart(1)) <= known.tolerance;
      row.push_back(fmt::format("{} {}", within ? "yes," : "NO,", known.tolerance));
      outside += within ? 0 : 1;
      out.rows.push_back(std::move(row));
    }
    const auto own =
        compare(*trace, workload, PlacementPolicy::kFgdBalanced, PlacementPolicy::kFgd, *published, *seeds);
    if (!own) return complain(own.error());
    gains.add(workload, *own);
  }
  fmt::print("{}", typed.output == "markdown" ? out.to_markdown() : out.to_text());
  fmt::print("\n{} of {} rows within their tolerance, seeds {}\n", static_cast<int>(out.rows.size()) - outside,
             out.rows.size(), typed.seeds);
  fmt::print("\n");
  gains.print(typed.output == "markdown");
  return outside == 0 ? kExitDone : kExitFailed;
}

}  // namespace

void add_simulate_table(CLI::App& simulate, int& exit_code) {
  CLI::App& app =
      *simulate.add_subcommand("table", "Ours beside the published results, for all policies and openb workloads");
  const auto typed = std::make_shared<TypedSimulateTable>();
  app.add_option("--data", typed->data, "The openb folder, with the published results in expected/")->required();
  app.add_option("--seeds", typed->seeds, "One run each")->capture_default_str();
  app.add_option("--output,-o", typed->output, "table or markdown")
      ->capture_default_str()
      ->check(CLI::IsMember({"table", "markdown"}));
  app.footer("Example:\n  berth simulate table --data ../shared/data/openb --seeds 42..51 -o markdown");
  app.callback([typed, &exit_code] { exit_code = table(*typed); });
}

}  // namespace berth
