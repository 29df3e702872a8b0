// Those who may be moved, and how they go and come in a trial (docs/semantics.md, rule 20).
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "base/rng.h"
#include "base/wide.h"
#include "model/plan.h"
#include "placement/score_index.h"
#include "state/domains.h"
#include "state/state.h"
#include "state/trial.h"

namespace berth {

struct Mover {
  WorkloadId workload;
  std::size_t way = 0;          // of its shape, in which it runs
  std::int64_t lost_gpu_s = 0;  // if it is moved now
};

// Whether it may be moved now, wherever to: it consents, nothing protects it, it was not moved a while ago, and nothing but its
// places would change by it. PRE: the workload is known.
bool may_be_moved(const State& state, WorkloadId workload, Time now);

// Whether its run limit may begin anew elsewhere: that costs no budget and no window what it was promised, and it is not ended
// before it has stopped. PRE: it runs.
bool may_begin_anew(const State& state, WorkloadId workload, Time now);

// PRE: it may be moved now.
Mover mover_of(const State& state, WorkloadId workload, Time now);

// All of them, those of whom least is lost first.
std::vector<Mover> movers_of(const State& state, Time now);

// It goes anywhere, whoever is there, and likes no node better than another.
bool packs_well(const State& state, const Mover& mover);

// A pod that is there leaves its place; what it leaves is scrubbed for who comes.
void leave(const State& state, Trial& trial, const Pod& pod);

// Each pod where the fewest GPUs are left, whatever the policy of placement: it makes way for whole nodes. Without an answer some
// have been put already. With `passes_over` one node in four, as drawn, is passed over where another will do.
// PRE: it packs well, and is out.
std::optional<Start> pack(const State& state, Trial& trial, ScoreIndex& index, const Mover& mover,
                          Rng* passes_over = nullptr);

// Whether its unit may stay as it is there.
bool holds_what_it_held(const State& state, const Start& start);

// PRE: it runs.
Migration migration_of(const State& state, const Mover& mover, Start start, WorkloadId claimant, Time now);

// A domain; or everything.
struct Within {
  const Domains* domains = nullptr;
  DomainId domain;

  bool contains(NodeId node) const { return domains == nullptr || domains->of(node) == domain; }
};

// What a plan of moves may cost.
struct MoveBounds {
  static constexpr std::int64_t kMovesMax = 256;

  std::int64_t moves_max = kMovesMax;
  Wide lost_gpu_s_below = 0;          // all of it together
  Wide lost_gpu_s_of_each_below = 0;  // of what is moved so that one more pod, or a few, fit on a node
  int in_vain_max = 64;               // tries in which somebody finds no room elsewhere, before the search is given up
};

// Room for pods of a claimant.
struct RoomWanted {
  RequestId request;
  std::int64_t pods = 0;  // at most
  Within within = {};     // where
};

// Room for one of them.
struct TakenRoom {
  std::size_t wanted = 0;  // of what is wanted: which
  PodPlacement place;
};

// Who is moved, and the room that is taken meanwhile for those for whose sake they are.
struct Arrangement {
  std::vector<Migration> migrations;
  std::vector<TakenRoom> rooms;
};

std::int64_t lost_gpu_s(const std::vector<Migration>& migrations);

// Everybody goes at once, and all have the places that they are given, proven one by one. False: somebody has not, and some of
// them are there already. The rooms are not taken.
bool carry_out(const State& state, Trial& trial, const std::vector<Migration>& migrations);

}  // namespace berth
