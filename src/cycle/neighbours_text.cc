#include "cycle/neighbours_text.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "cycle/explain.h"
#include "cycle/feasibility.h"
#include "placement/filters.h"
#include "placement/score_index.h"
#include "placement/scores.h"
#include "state/neighbour_check.h"

namespace berth {
namespace {

constexpr auto kHeedNothing = static_cast<NeighbourRefusal>(kNeighbourRefusals);

// A copy of the state in which as many pods of a way are placed as there is room for.
class Filled {
 public:
  explicit Filled(const State& state) : state_(state.fork()) {}

  // The way's sets one after the other; all of what keeps pods away that comes before `heeded` is passed over.
  void place(const std::vector<NumberedPodSet>& way, NeighbourRefusal heeded) {
    for (const NumberedPodSet& set : way) {
      for (std::int64_t i = 0; i < set.count; ++i) {
        if (!place_one(state_.request(set.request), heeded)) {
          if (left_ == nullptr) left_ = &set;
          break;
        }
        ++placed_;
      }
    }
  }

  std::int64_t placed() const { return placed_; }
  // The first set of which some are left.
  const NumberedPodSet* left() const { return left_; }
  // How many nodes with room refuse one more pod, by what they refuse it for.
  std::array<std::int64_t, kNeighbourRefusals> refusals(const PodRequest& request) const {
    std::array<std::int64_t, kNeighbourRefusals> nodes{};
    const NeighbourCheck around(state_.ledger(), request);
    for (std::size_t node = 0; node < state_.nodes(); ++node) {
      const bool has_room = fits(NodeView(state_.ledger(), NodeId(node)), request);
      if (has_room) ++nodes[static_cast<std::size_t>(around.refusal(NodeId(node)))];
    }
    return nodes;
  }

 private:
  bool place_one(const PodRequest& request, NeighbourRefusal heeded) {
    const NeighbourCheck around(state_.ledger(), request, heeded);
    for (std::size_t id = 0; id < state_.nodes(); ++id) {
      const NodeView node(state_.ledger(), NodeId(id));
      if (!fits(node, request) || !around.allows(NodeId(id))) continue;
      Rng rng(state_.seed());
      const PodPlacement place =
          place_on(score_row(state_.policy()), NodeId(id), node, request, index_.usual(state_), rng);
      state_.ledger_for_trial().apply(move_of(request, place));
      return true;
    }
    return false;
  }

  State state_;
  ScoreIndex index_;
  std::int64_t placed_ = 0;
  const NumberedPodSet* left_ = nullptr;
};

bool fits_heeding(const State& state, const Shape& shape, NeighbourRefusal heeded) {
  return std::ranges::any_of(shape.ways, [&](const auto& way) {
    Filled filled(state);
    filled.place(way, heeded);
    return filled.placed() == shape.pods;
  });
}

struct NeighbourWording {
  NeighbourRefusal refusal;
  const char* one;
  const char* many;
};
constexpr NeighbourWording kNeighbourWordings[] = {
    {NeighbourRefusal::kPort, "has a port taken that it asks for", "have a port taken that it asks for"},
    {NeighbourRefusal::kApart, "is beside pods from which it is to be apart",
     "are beside pods from which it is to be apart"},
    {NeighbourRefusal::kNear, "is beside none of the pods to which it is to be near",
     "are beside none of the pods to which it is to be near"},
    {NeighbourRefusal::kSpread, "would make the spread uneven", "would make the spread uneven"},
};

}  // namespace

bool looks_around(const State& state, const Shape& shape) {
  return std::ranges::any_of(shape.ways.front(), [&](const NumberedPodSet& set) {
    return state.ledger().neighbourhood().refuses(state.request(set.request).neighbours);
  });
}

std::optional<ReasonCode> kept_away_by_neighbours(const State& state, const Shape& shape) {
  if (!looks_around(state, shape) || !fits_heeding(state, shape, kHeedNothing)) return std::nullopt;
  if (fits_heeding(state, shape, NeighbourRefusal::kPort)) return std::nullopt;
  if (fits_heeding(state, shape, NeighbourRefusal::kApart)) return ReasonCode::kPorts;
  return fits_heeding(state, shape, NeighbourRefusal::kSpread) ? ReasonCode::kAffinity : ReasonCode::kSpread;
}

std::string neighbours_text(const State& state, const Shape& shape) {
  Filled filled(state);
  filled.place(shape.ways.front(), NeighbourRefusal::kPort);
  if (filled.left() == nullptr) return "there is room, it waits for its turn";
  const auto nodes = filled.refusals(state.request(filled.left()->request));
  const bool alone = shape.pods == 1;
  std::string text =
      alone ? "" : "room for " + with_separators(filled.placed()) + " of " + with_separators(shape.pods) + " pods; ";
  std::int64_t refused = 0;
  std::string by;
  for (const NeighbourWording& each : kNeighbourWordings) {
    const std::int64_t count = nodes[static_cast<std::size_t>(each.refusal)];
    if (count == 0) continue;
    refused += count;
    by += (by.empty() ? "" : ", ") + with_separators(count) + " " + (count == 1 ? each.one : each.many);
  }
  if (refused == 0) return text + "no other node has room";
  return text + "the pods around keep " + (alone ? "it" : "the next one") + " from " +
         (refused == 1 ? "the only node" : "all " + with_separators(refused) + " nodes") + " with room: " + by;
}

std::optional<std::string> apart_text(const State& state, const Shape& shape) {
  if (const auto few = too_few_of_its_own(state, shape.ways.front())) {
    return with_separators(few->parts) + " parts of it, each to have a " + few->level + " for itself; there are " +
           with_separators(few->domains);
  }
  for (const NumberedPodSet& set : shape.ways.front()) {
    if (const auto outside = outside_level(state, set)) {
      return "no node that could hold " + std::string(set.count == 1 ? "it" : "one of its pods") + " says of which " +
             outside->level + " it is: none has a label " + outside->level;
    }
    const auto few = too_few_apart(state, set);
    if (!few) continue;
    if (few->code == ReasonCode::kSpread) {
      return with_separators(set.count) + " pods, to be spread evenly over " + with_separators(few->domains_min) +
             " domains of " + few->level +
             " at the least; there are fewer, and even if nothing else ran there would be room for " +
             with_separators(few->most) + " so";
    }
    const std::string where = few->level == kNodeLevel ? "on one node" : "in one " + few->level;
    return with_separators(set.count) + " pods, no two of which may be " + where +
           (few->code == ReasonCode::kPorts ? " as they ask the same host port"
                                            : " as they are to be apart from each other") +
           "; even if nothing else ran there would be room for " + with_separators(few->most) + " so";
  }
  return std::nullopt;
}

}  // namespace berth
