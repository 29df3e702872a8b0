// What a LiveEngine's work amounts to, told apart by whatever its pods say.
#include <string>
#include <utility>

#include "service/live_engine.h"

namespace berth {

std::map<std::string, Holding> LiveEngine::holdings(const std::function<std::string(const PodFacts&)>& name) const {
  std::map<std::string, Holding> by_name;
  const std::size_t dims = Dim::count(state().flavors().size());
  const auto holding_of = [&](const std::string& of) -> Holding& {
    Holding& holding = by_name[of];
    holding.reserved.resize(dims);
    holding.used.resize(dims);
    return holding;
  };
  for (const auto& [key, group] : groups_) {
    bool admitted = false, reserving = false, waits = false;
    const PodFacts* first = nullptr;
    for (const std::uint64_t sequence : group.members) {
      const Member& member = members_.at(by_sequence_.at(sequence));
      const Run* const run = run_of(member);
      // Who was told to stop holds his room and nothing of a quota.
      const bool leaves = member.stop_by || member.facts.leaving_until;
      const bool placed = member.facts.stage == PodStage::kBound || (run != nullptr && !run->starting);
      admitted = admitted || (placed && !leaves);
      reserving = reserving || (run != nullptr && !leaves);
      waits = waits || (run == nullptr && member.facts.stage == PodStage::kWaiting);
      if (first == nullptr) first = &member.facts;
    }
    const std::string of = first == nullptr ? std::string() : name(*first);
    if (of.empty()) continue;
    Holding& holding = holding_of(of);
    if (admitted) ++holding.admitted;
    if (admitted || reserving) ++holding.reserving;
    if (waits && !admitted && !reserving) ++holding.pending;
  }
  for (const auto& [id, run] : runs_) {
    const UnitId unit = state().workload(id).unit;
    const std::string of = name(members_.at(run.uids.front()).facts);
    if (unit.is_none() || of.empty()) continue;
    Holding& holding = holding_of(of);
    for (const Amount& each : state().quotas().held_by(unit)) {
      holding.reserved[each.dim.index()] += each.amount;
      if (!run.starting) holding.used[each.dim.index()] += each.amount;
    }
  }
  return by_name;
}

}  // namespace berth
