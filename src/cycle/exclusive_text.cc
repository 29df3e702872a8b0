#include "cycle/exclusive_text.h"

#include <algorithm>
#include <cstdint>

#include "cycle/explain.h"
#include "cycle/neighbours_text.h"
#include "placement/filters.h"

namespace berth {
namespace {

const NumberedPodSet* first_exclusive(const State& state, const Shape& shape) {
  const auto& sets = shape.ways.front();
  const auto found = std::ranges::find_if(sets, [&](const NumberedPodSet& set) {
    return state.ledger().exclusives().is_exclusive(state.request(set.request).exclusive);
  });
  return found == sets.end() ? nullptr : &*found;
}

std::string alone_text(const ExclusiveDomains& exclusives, ExclusiveId id) {
  const std::string& level = exclusives[id].level;
  const ExclusiveDomains::Tally tally = exclusives.tally(id);
  const std::int64_t all = tally.free + tally.among_others + tally.others_own;
  const auto are = [](std::int64_t count) { return with_separators(count) + (count == 1 ? " is" : " are"); };
  return "it is to be alone in each " + level + " that it takes: " + with_separators(tally.free) + " of " +
         with_separators(all) + (tally.free == 1 ? " is" : " are") + " free of others' work with GPUs, " +
         with_separators(tally.among_others) + (tally.among_others == 1 ? " has some, " : " have some, ") +
         are(tally.others_own) + " others' own";
}

// Nodes of which one of its pods would have room, but for those who are alone there.
std::int64_t kept_nodes(const State& state, const State& unheeded, const Shape& shape) {
  std::int64_t kept = 0;
  for (std::size_t node = 0; node < state.nodes(); ++node) {
    kept += std::ranges::any_of(shape.ways.front(), [&](const NumberedPodSet& set) {
      const PodRequest& request = state.request(set.request);
      return !state.ledger().exclusives().allows(request, NodeId(node)) &&
             fits(NodeView(unheeded.ledger(), NodeId(node)), request);
    });
  }
  return kept;
}

}  // namespace

State without_exclusive_domains(const State& state) {
  State unheeded = state.fork();
  unheeded.ledger_for_trial().exclusives() = state.ledger().exclusives().unheeded();
  return unheeded;
}

State without_strangers(const State& state) {
  State unheeded = state.fork();
  unheeded.ledger_for_trial().tenants() = state.ledger().tenants().unheeded();
  return unheeded;
}

std::optional<std::string> exclusive_text(const State& state, const Shape& shape) {
  const ExclusiveDomains& exclusives = state.ledger().exclusives();
  if (exclusives.none() || kept_away_by_neighbours(state, shape)) return std::nullopt;
  const std::int64_t kept = kept_nodes(state, without_exclusive_domains(state), shape);
  if (kept == 0) return std::nullopt;
  const NumberedPodSet* const alone = first_exclusive(state, shape);
  if (alone != nullptr) return alone_text(exclusives, state.request(alone->request).exclusive);
  return with_separators(kept) + (kept == 1 ? " node with room is in a domain that others have for themselves"
                                            : " nodes with room are in domains that others have for themselves");
}

}  // namespace berth
