#include "cli/defragmentation_report.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "cli/text_table.h"
#include "cli/way_tables.h"
#include "cycle/explain.h"
#include "model/quantity.h"
#include "state/fragments.h"

namespace berth {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t kMovesShown = 20;

std::string name_of_workload(const WorkloadNames& names, WorkloadId id) {
  return id.index() < names.size() ? names[id.index()] : fmt::format("job {}", id.index() + 1);
}

std::vector<std::string> places_before(const State& state, WorkloadId id) {
  std::vector<std::string> places;
  for_each_pod(state, id, [&](const Pod& pod) { places.push_back(state.node(pod.node).name); });
  return places;
}

std::vector<std::string> places_after(const State& state, const Migration& move) {
  std::vector<std::string> places;
  for (const PodPlacement& place : move.start.pods) places.push_back(state.node(place.node).name);
  return places;
}

std::string listed(const std::vector<std::string>& places) {
  std::string text;
  for (std::size_t i = 0; i < std::min<std::size_t>(places.size(), 4); ++i) text += (i > 0 ? "," : "") + places[i];
  return places.size() > 4 ? text + ",..." : text;
}

}  // namespace

std::string fragments_as_table(const State& state) {
  TextTable table{{"flavor", "free GPUs", "of no use to whole nodes, %", "pods that fit now"}, {}};
  for (const Fragments& each : fragments_of(state)) {
    std::string fits;
    for (const Fragments::Size& size : each.sizes) {
      fits += fmt::format("{}{} of {}", fits.empty() ? "" : ", ", with_separators(size.pods), size.gpus);
    }
    for (const Fragments::Slices& slice : each.slices) {
      fits += fmt::format("{}{} of {}", fits.empty() ? "" : ", ", with_separators(slice.count), slice.profile);
    }
    table.rows.push_back({state.flavors()[each.flavor.index()].name, format_milli(each.free_milli),
                          fmt::format("{}.{}", each.fragmented_permille / 10, each.fragmented_permille % 10), fits});
  }
  return table.to_text();
}

Json fragments_as_json(const State& state) {
  Json all = Json::array();
  for (const Fragments& each : fragments_of(state)) {
    Json sizes = Json::array();
    for (const Fragments::Size& size : each.sizes) sizes.push_back({{"gpus", size.gpus}, {"pods", size.pods}});
    Json slices = Json::array();
    for (const Fragments::Slices& slice : each.slices) {
      slices.push_back({{"profile", slice.profile}, {"count", slice.count}});
    }
    all.push_back({{"flavor", state.flavors()[each.flavor.index()].name},
                   {"free_gpu_milli", each.free_milli},
                   {"fragmented_permille", each.fragmented_permille},
                   {"pods_that_fit", sizes},
                   {"slices_that_fit", slices}});
  }
  return all;
}

std::string defragmentation_as_table(const State& state, const Defragmentation& made, const DefragmentOptions& options,
                                     const WorkloadNames& names) {
  const std::string what =
      options.slice.empty() ? fmt::format("pods of {} GPUs", options.gpus) : "slices of " + options.slice;
  TextTable whole{{what, "now", "with these moves", "at best"}, {}};
  whole.rows.push_back({"that fit", with_separators(made.pods_before), with_separators(made.pods_after),
                        with_separators(made.pods_ideal)});
  const std::vector<Migration>& moves = made.plan.migrations;
  std::string text = whole.to_text();
  text += fmt::format("{} to move; {} GPU-hours of work lost, {} unlocked in {}\n",
                      with_separators(static_cast<std::int64_t>(moves.size())), in_hours(made.lost_gpu_s),
                      in_hours(made.unlocked_gpu_s), format_duration_ms(options.horizon.ms));
  if (moves.empty()) return text;
  TextTable table{{"workload", "from", "to", "GPU-seconds lost"}, {}};
  for (std::size_t i = 0; i < std::min(moves.size(), kMovesShown); ++i) {
    const WorkloadId id = moves[i].start.workload;
    table.rows.push_back({name_of_workload(names, id), listed(places_before(state, id)),
                          listed(places_after(state, moves[i])), with_separators(moves[i].lost_gpu_s)});
  }
  text += "\n" + table.to_text();
  if (moves.size() > kMovesShown) {
    text += fmt::format("and {} more; -o json has all\n",
                        with_separators(static_cast<std::int64_t>(moves.size() - kMovesShown)));
  }
  return text;
}

Json defragmentation_as_json(const State& state, const Defragmentation& made, const DefragmentOptions& options,
                             const WorkloadNames& names) {
  Json moves = Json::array();
  for (const Migration& move : made.plan.migrations) {
    moves.push_back({{"workload", name_of_workload(names, move.start.workload)},
                     {"from", places_before(state, move.start.workload)},
                     {"to", places_after(state, move)},
                     {"lost_gpu_s", move.lost_gpu_s}});
  }
  const Json of = options.slice.empty() ? Json(options.gpus) : Json(options.slice);
  return {{options.slice.empty() ? "gpus_of_a_pod" : "slice", of},
          {"effort", options.attempts},
          {"pods_before", made.pods_before},
          {"pods_after", made.pods_after},
          {"pods_at_best", made.pods_ideal},
          {"lost_gpu_s", made.lost_gpu_s},
          {"unlocked_gpu_s", made.unlocked_gpu_s},
          {"horizon_s", options.horizon.ms / 1000},
          {"moves", moves}};
}

namespace {

std::string name_of_move(const Value& move) {
  const Value::List& pods = move["pods"].items();
  const std::string first = pods.empty() ? "" : std::string(pods.front()["name"].text());
  return pods.size() > 1 ? fmt::format("{} and {} more", first, pods.size() - 1) : first;
}

std::vector<std::string> places_of_move(const Value& move, const char* which) {
  std::vector<std::string> places;
  for (const Value& pod : move["pods"].items()) places.emplace_back(pod[which].text());
  return places;
}

}  // namespace

std::string told_plan_as_table(const Value& plan) {
  const std::string what = plan["slice"].is_empty() ? fmt::format("pods of {} GPUs", plan["gpus"].integer())
                                                    : fmt::format("slices of {}", plan["slice"].text());
  TextTable whole{{what, "now", "with these moves", "at best"}, {}};
  whole.rows.push_back({"that fit", with_separators(plan["podsBefore"].integer()),
                        with_separators(plan["podsAfter"].integer()), with_separators(plan["podsAtBest"].integer())});
  const Value::List& moves = plan["moves"].items();
  std::string text = whole.to_text();
  text += fmt::format("{} to move; {} GPU-hours of work lost, {} unlocked in {}\n", moves.size(),
                      in_hours(plan["lostGPUSeconds"].integer()), in_hours(plan["unlockedGPUSeconds"].integer()),
                      plan["use"].text());
  if (moves.empty()) return text;
  TextTable table{{"workload", "from", "to", "GPU-seconds lost"}, {}};
  for (const Value& move : moves) {
    table.rows.push_back({name_of_move(move), listed(places_of_move(move, "from")), listed(places_of_move(move, "to")),
                          with_separators(move["lostGPUSeconds"].integer())});
  }
  return text + "\n" + table.to_text();
}

Json told_plan_as_json(const Value& plan) {
  Json moves = Json::array();
  for (const Value& move : plan["moves"].items()) {
    moves.push_back({{"workload", name_of_move(move)},
                     {"pods", places_of_move(move, "name")},
                     {"from", places_of_move(move, "from")},
                     {"to", places_of_move(move, "to")},
                     {"lost_gpu_s", move["lostGPUSeconds"].integer()}});
  }
  const auto use = parse_duration_ms(plan["use"].text());
  const bool is_slice = !plan["slice"].is_empty();
  const Json of = is_slice ? Json(plan["slice"].text()) : Json(plan["gpus"].integer());
  return {{"revision", plan["revision"].text()},
          {"as_of", plan["asOf"].text()},
          {is_slice ? "slice" : "gpus_of_a_pod", of},
          {"effort", plan["effort"].integer()},
          {"pods_before", plan["podsBefore"].integer()},
          {"pods_after", plan["podsAfter"].integer()},
          {"pods_at_best", plan["podsAtBest"].integer()},
          {"lost_gpu_s", plan["lostGPUSeconds"].integer()},
          {"unlocked_gpu_s", plan["unlockedGPUSeconds"].integer()},
          {"horizon_s", use ? *use / 1000 : 0},
          {"moves", moves}};
}

}  // namespace berth
