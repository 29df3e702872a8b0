#include "cycle/explain.h"

#include <algorithm>
#include <array>

#include "cycle/feasibility.h"
#include "placement/filters.h"
#include "placement/score_index.h"

namespace berth {
namespace {

// In a strict line: somebody before it who could use the same flavors does not fit, and does.
bool stands_behind(const State& state, const Line& line, WorkloadId id) {
  if (line.order() != Order::kFifo) return false;
  const FlavorSet flavors = state.shape(state.workload(id).shape).flavors;
  const PendingKey key = state.key_of(id);
  bool behind = false;
  line.heads().for_each([&](const Head& head) {
    const ShapeInLine& shape = line.shapes()[head.shape_index];
    behind = behind || (shape.blocked() && head.key < key && flavors.meets(state.shape(shape.shape).flavors));
  });
  return behind;
}

// Whether the free amounts of the nodes that a way may use add up to what it asks.
bool is_free_in_sum(const State& state, const std::vector<NumberedPodSet>& way) {
  FreeTotals asked;
  FlavorSet gpu_flavors;  // of the sets that ask GPUs
  bool any_node = false;  // a set without GPUs may use the CPUs of all
  for (const NumberedPodSet& set : way) {
    const PodRequest& request = state.request(set.request);
    asked.cpu_milli += set.count * request.cpu_milli;
    asked.memory_bytes += set.count * request.memory_bytes;
    asked.gpu_milli += set.count * request.gpu_milli_total();
    any_node = any_node || request.gpus == 0;
    if (request.gpus > 0) gpu_flavors = gpu_flavors.united_with(request.flavors);
  }
  FreeTotals free = any_node ? state.ledger().totals_without_gpus() : FreeTotals{};
  for (std::size_t flavor = 0; flavor < state.flavors().size(); ++flavor) {
    const FreeTotals& totals = state.ledger().totals(FlavorId(flavor));
    const bool gpus_count = gpu_flavors.contains(FlavorId(flavor));
    if (gpus_count) free.gpu_milli += totals.gpu_milli;
    if (!gpus_count && !any_node) continue;
    free.cpu_milli += totals.cpu_milli;
    free.memory_bytes += totals.memory_bytes;
  }
  return free.cpu_milli >= asked.cpu_milli && free.memory_bytes >= asked.memory_bytes &&
         free.gpu_milli >= asked.gpu_milli;
}

// Placed one after the other on a copy, for what one set takes another lacks.
std::int64_t pods_that_fit(const State& state, const std::vector<NumberedPodSet>& way) {
  State copy = state.fork();
  ScoreIndex index;
  Rng rng(state.seed());
  std::int64_t fit = 0;
  for (const NumberedPodSet& set : way) {
    for (std::int64_t i = 0; i < set.count; ++i, ++fit) {
      const auto place = index.best(copy, set.request, rng);
      if (!place) break;
      copy.ledger_for_trial().apply({.request = state.request(set.request), .node = place->node, .gpus = place->gpus});
    }
  }
  return fit;
}

// Counts every node under what it refuses: for the pod set that has the fewest nodes, over all ways.
void count_nodes(const State& state, const Shape& shape, Explanation& explanation) {
  std::array<std::int64_t, kFilterCount + 1> nodes_by_row{};
  const std::size_t sets = shape.ways.front().size();
  std::int64_t fewest = INT64_MAX;
  for (std::size_t set = 0; set < sets; ++set) {
    std::array<std::int64_t, kFilterCount + 1> rows{};
    PodRequest request = state.request(shape.ways.front()[set].request);
    for (const auto& way : shape.ways) {
      request.flavors = request.flavors.united_with(state.request(way[set].request).flavors);
    }
    for (std::size_t node = 0; node < state.ledger().nodes(); ++node) {
      ++rows[first_refusing(NodeView(state.ledger(), NodeId(node)), request)];
    }
    if (rows[kFilterCount] >= fewest) continue;
    fewest = rows[kFilterCount];
    nodes_by_row = rows;
  }
  explanation.nodes_that_fit = nodes_by_row[kFilterCount];
  for (std::size_t row = 0; row < kFilterCount; ++row) {
    if (nodes_by_row[row] > 0) explanation.tallies.push_back({kRefusals[row], nodes_by_row[row]});
  }
  std::stable_sort(explanation.tallies.begin(), explanation.tallies.end(),
                   [](const NodeTally& a, const NodeTally& b) { return a.nodes > b.nodes; });
}

std::string text_of(const State& state, const Explanation& explanation) {
  if (explanation.code == ReasonCode::kNone) return "";
  std::string text = with_separators(explanation.nodes_that_fit) + " of " +
                     with_separators(static_cast<std::int64_t>(state.ledger().nodes())) + " nodes";
  if (explanation.pods > 1) {
    text += " (room for " + with_separators(explanation.pods_that_fit) + " of " + with_separators(explanation.pods) +
            " pods)";
  }
  const char* separator = ": ";
  for (const NodeTally& tally : explanation.tallies) {
    text += separator + with_separators(tally.nodes) + " " + std::string(tally.refuses_with);
    separator = ", ";
  }
  return text;
}

}  // namespace

ReasonCode reason_of(const State& state, WorkloadId id) {
  const Workload& workload = state.workload(id);
  if (workload.phase != Phase::kPending) return ReasonCode::kNone;
  const Line& line = *state.lines()[state.line_of(workload.queue).index()];
  const ShapeInLine& entry = *line.find(workload.shape);
  const Shape& shape = state.shape(workload.shape);
  if (entry.impossible()) return reason_never(state, shape);
  if (stands_behind(state, line, id)) return ReasonCode::kBehind;
  if (!entry.blocked()) return ReasonCode::kNone;
  if (entry.gate != ReasonCode::kNone) return entry.gate;
  const bool in_sum =
      std::any_of(shape.ways.begin(), shape.ways.end(), [&](const auto& way) { return is_free_in_sum(state, way); });
  return in_sum ? ReasonCode::kFragmented : ReasonCode::kCapacity;
}

Explanation explain(const State& state, WorkloadId id) {
  Explanation explanation;
  const Workload& workload = state.workload(id);
  const Shape& shape = state.shape(workload.shape);
  explanation.code = reason_of(state, id);
  explanation.pods = shape.pods;
  if (workload.phase != Phase::kPending) return explanation;
  for (const auto& way : shape.ways) {
    explanation.pods_that_fit = std::max(explanation.pods_that_fit, pods_that_fit(state, way));
  }
  count_nodes(state, shape, explanation);
  explanation.text = text_of(state, explanation);
  if (explanation.code == ReasonCode::kInvalid) {
    explanation.text += "; never: with all nodes idle there is room for " +
                        with_separators(pods_when_idle(state, shape)) + " of " + with_separators(shape.pods) +
                        (shape.pods == 1 ? " pod" : " pods");
  }
  return explanation;
}

std::vector<WorkloadId> ahead_of(const State& state, WorkloadId id) {
  const Line& line = *state.lines()[state.line_of(state.workload(id).queue).index()];
  const PendingKey key = state.key_of(id);
  std::vector<PendingKey> ahead;
  for (const ShapeInLine& shape : line.shapes()) {
    shape.waiting.for_each([&](const PendingKey& other) {
      if (other < key) ahead.push_back(other);
    });
  }
  std::sort(ahead.begin(), ahead.end());
  std::vector<WorkloadId> workloads;
  for (const PendingKey& other : ahead) workloads.push_back(other.workload);
  return workloads;
}

std::string with_separators(std::int64_t value) {
  std::string digits = std::to_string(value);
  const std::size_t first = value < 0 ? 1 : 0;
  for (std::size_t at = digits.size(); at > first + 3;) digits.insert(at -= 3, 1, ',');
  return digits;
}

}  // namespace berth
