#include "cycle/asked_again.h"

namespace berth {
namespace {

PodSet asked_again(const State& state, const NumberedPodSet& set) {
  PodRequest request = state.request(set.request);
  PodSet asked;
  asked.count = set.count;
  asked.topology = state.topologies()[set.topology];
  asked.parallel = set.parallel;
  const NodeMatches& matches = state.ledger().matches();
  if (request.constraints.index() < matches.size()) asked.constraints = matches[request.constraints];
  if (request.neighbours != NeighboursId(0)) asked.neighbours = state.ledger().neighbourhood()[request.neighbours];
  request.constraints = NodeConstraintsId(0);
  request.neighbours = NeighboursId(0);
  request.sharer = {};
  const ExclusiveDomains& exclusives = state.ledger().exclusives();
  if (exclusives.is_exclusive(request.exclusive)) {
    asked.exclusive_level = exclusives[request.exclusive].level;
    asked.exclusive_part = exclusives[request.exclusive].part;
  }
  request.exclusive = {};
  asked.request = request;
  return asked;
}

}  // namespace

WorkloadSubmitted asked_again(const State& state, WorkloadId id, Time now) {
  const Workload& workload = state.workload(id);
  const Shape& shape = state.shape(workload.shape);
  WorkloadSubmitted asked;
  asked.queue = workload.queue;
  asked.at = now;
  asked.declared_run = workload.declared_run;
  asked.rank = workload.rank;
  asked.user = state.user_name(workload.user);
  asked.shape.terms = shape.terms;
  if (shape.cools) asked.shape.terms.guaranteed_only = false;
  for (const auto& way : shape.ways) {
    PodSets& sets = asked.shape.ways.emplace_back();
    for (const NumberedPodSet& set : way) sets.push_back(asked_again(state, set));
  }
  return asked;
}

}  // namespace berth
