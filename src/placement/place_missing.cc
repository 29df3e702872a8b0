#include "placement/place_missing.h"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <utility>

#include "placement/place_beside.h"

namespace berth {
namespace {

// A set of which some are lost: which of the gang's, in the order of Repairing::lost.
struct Part {
  PartOfASet of;
  std::size_t first_lost = 0;
};

std::vector<Part> parts_of(const State& state, WorkloadId gang) {
  const std::vector<LostMember>& lost = state.find_repairing(gang)->lost;
  // All ways have the same sets but for what they ask.
  const auto& sets = state.shape(state.workload(gang).shape).ways.front();
  std::vector<std::optional<NodeId>> at;
  for (const NumberedPodSet& set : sets) at.resize(at.size() + static_cast<std::size_t>(set.count));
  for_each_pod(state, gang, [&](const Pod& pod) { at[pod.number] = pod.node; });
  std::vector<Part> parts;
  std::size_t first = 0;
  std::size_t next = 0;
  for (const NumberedPodSet& set : sets) {
    const std::size_t end = first + static_cast<std::size_t>(set.count);
    Part part{
        .of = {.set = set,
               .at = {at.begin() + static_cast<std::ptrdiff_t>(first), at.begin() + static_cast<std::ptrdiff_t>(end)},
               .lost = {}},
        .first_lost = next};
    for (; next < lost.size() && lost[next].number < end; ++next) {
      part.of.lost.push_back(lost[next].number - first);
      part.of.set.request = part.of.set.in_first_flavor = lost[next].request;
    }
    part.of.set.count = std::ssize(part.of.lost);
    part.of.set.parallel = {};  // who is left stays where he is: the places of the others are not laid out anew
    if (!part.of.lost.empty()) parts.push_back(std::move(part));
    first = end;
  }
  return parts;
}

// Those who are to be in domains ask nothing of the pods around them, so they go first: others may be to be near them.
std::variant<std::vector<PodPlacement>, Unfit> place_parts(const State& state, Trial& trial, ScoreIndex& index,
                                                           const std::vector<Part>& parts, Rng& rng) {
  std::size_t lost = 0;
  for (const Part& part : parts) lost += part.of.lost.size();
  std::vector<PodPlacement> places(lost);
  const Trial::Mark mark = trial.mark();
  const auto put = [&](const Part& part, auto begin) {
    std::copy_n(begin, part.of.set.count, places.begin() + static_cast<std::ptrdiff_t>(part.first_lost));
  };
  std::vector<NumberedPodSet> anywhere;
  for (const Part& part : parts) {
    if (!part.of.set.asks_for_domains()) {
      anywhere.push_back(part.of.set);
      continue;
    }
    const auto found = place_beside(state, trial, index, part.of, rng);
    if (!found) {
      trial.rollback_to(mark);
      return Unfit{1};
    }
    put(part, found->begin());
  }
  const auto found = place_sets(state, trial, index, anywhere, rng);
  if (const Unfit* const unfit = std::get_if<Unfit>(&found)) {
    trial.rollback_to(mark);
    return *unfit;
  }
  auto next = std::get<0>(found).begin();
  for (const Part& part : parts) {
    if (part.of.set.asks_for_domains()) continue;
    put(part, next);
    next += part.of.set.count;
  }
  return places;
}

}  // namespace

std::vector<NumberedPodSet> missing_sets(const State& state, WorkloadId gang) {
  std::vector<NumberedPodSet> sets;
  for (const Part& part : parts_of(state, gang)) sets.push_back(part.of.set);
  return sets;
}

std::variant<std::vector<PodPlacement>, Unfit> place_missing(const State& state, Trial& trial, ScoreIndex& index,
                                                             WorkloadId gang, Rng& rng) {
  return place_parts(state, trial, index, parts_of(state, gang), rng);
}

std::variant<std::vector<PodPlacement>, Unfit> place_missing_of_set(const State& state, Trial& trial, ScoreIndex& index,
                                                                    WorkloadId gang, std::size_t set, Rng& rng) {
  Part part = std::move(parts_of(state, gang)[set]);
  part.first_lost = 0;
  return place_parts(state, trial, index, {std::move(part)}, rng);
}

}  // namespace berth
