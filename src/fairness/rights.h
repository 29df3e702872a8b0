// Who may take whose room (docs/semantics.md, rules 13 to 16), and who gives back first (17, 21): the order of claims.
#pragma once

#include <algorithm>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "base/time.h"
#include "fairness/share.h"
#include "model/workload.h"
#include "state/state.h"

namespace berth {

// How strongly something is held; the lowest gives back first. One order for all rules, so that no rule gives back what
// another took.
struct Claim {
  std::int32_t coverage = 0;  // -1: best effort; 0: borrowed; else covered, the more the deeper in the tree
  std::int32_t priority = 0;
  Fraction share;  // of its side of the tree, as before any eviction: the larger, the weaker
  // Where sides have equal shares: those of its queues below, on the way down to its own.
  std::vector<Fraction> inside = {};

  friend std::strong_ordering operator<=>(const Claim& a, const Claim& b) {
    if (const auto order = a.coverage <=> b.coverage; order != 0) return order;
    if (const auto order = a.priority <=> b.priority; order != 0) return order;
    if (const auto order = b.share <=> a.share; order != 0) return order;
    for (std::size_t depth = 0; depth < std::max(a.inside.size(), b.inside.size()); ++depth) {
      if (const auto order = b.share_inside(depth) <=> a.share_inside(depth); order != 0) return order;
    }
    return std::strong_ordering::equal;
  }
  friend bool operator==(const Claim& a, const Claim& b) { return (a <=> b) == 0; }

 private:
  // A queue without others below is as one of which all is in a single child.
  const Fraction& share_inside(std::size_t depth) const {
    return inside.empty() ? share : inside[std::min(depth, inside.size() - 1)];
  }
};

// Whether it is inside the queue's floor: covered there or below.
bool is_covered(const QuotaTree& tree, QueueId covered_at, QueueId queue);

// How deep in the tree a unit is covered: 1 at the top; 0 nowhere.
std::int32_t coverage_of(const QuotaTree& tree, QueueId covered_at);
// The same of a workload that has room, as its claim has it: -1 for best effort.
std::int32_t coverage_of(const QuotaLedger& quotas, const Workload& workload);

// A running workload that a claimant may take the room of.
struct Victim {
  WorkloadId workload;
  EvictionRule rule = EvictionRule::kNone;
  Claim claim;
  std::int64_t lost_gpu_s = 0;  // with all that restarts for it
  Time stop_by;
  // Where the two meet: within one queue both are that queue.
  Side side;
  Side claimants_side;
  bool protects_itself = false;  // what it set for itself holds fully (rule 16)
  // By rule 14: what its side has less above its floor when it has gone with its steps, but for what was inside that.
  AmountList gives = {};
};

// What a waiting workload asks with: its queue, and what it would hold. Or a gang that is repaired, which holds its quota
// already: it asks nothing more of it, and takes as the unit that it is.
struct Claimant {
  WorkloadId workload;
  QueueId queue;
  const Terms& terms;
  const AmountList& asked;
  Time now;
  bool moves_whole = false;  // of such a gang: it looks for places for all of it, and has left its own
  // Where it leaves flavors open: in whatever mixture of them it fits once others have gone, and may run then; else as it asks.
  bool mixes_freely = false;
};

bool holds_its_quota(const State& state, const Claimant& claimant);
// Where it is, or would be, covered, as things are held now.
QueueId covered_with(const State& state, const Claimant& claimant);

struct Victims {
  std::vector<Victim> takeable;  // by claim, then lost work, then the latest submitted
  bool some_protected = false;   // a right was there, and their protection kept others from the list
};

// By which floor the claimant takes back (13): the one inside which he would be once the lower priorities of his own queue that he
// may take have gone, or as things are, so that he may be a borrower among others in its stead (14); or by none, as a borrower alone.
enum class OwnerOf : std::uint8_t { kFloorThen, kFloorNow, kNoFloor };

// Everyone whose room the claimant has a right to; those lower priorities are among them. PRE: the claimant waits, or is repaired.
Victims victims_of(const State& state, const Claimant& claimant, OwnerOf owner = OwnerOf::kFloorThen);

// A step that goes only while the disruption budget of its workload lets one more go beside those before it (rule 16).
bool is_spared_by_a_budget(const State& state, const Victim& victim);

// Under a disruption budget, and by rule 14 where others leave it a floor to be in, a right may end with the evictions before it:
// whether it still holds, with what has been taken so far gone. (Whether one by rule 13 does is seen when all have gone.)
bool still_takeable(const State& state, const Victim& victim);
// It holds whoever has gone before.
bool takeable_whoever_went(const State& state, const Victim& victim);
// Whether those by rule 14 may go together, whoever of them goes first, and none would be in a floor that the others leave. PRE: they
// are gone in a trial on the state's own ledgers.
bool shares_allow(const State& state, const Claimant& claimant, std::vector<const Victim*> gone);
// The same for one more who is still there, looked at without his steps, and asked of the shares alone.
bool shares_allow(const State& state, const Claimant& claimant, std::span<const Victim* const> gone,
                  const Victim& next);

// Whether victims_of() may have an answer, asked of many: cheap, and wrong on one side only.
class RightsAtAGlance {
 public:
  explicit RightsAtAGlance(const State& state);

  // Whether anybody of the queue may have a right, whatever he asks.
  bool any_in(QueueId queue) const;
  // `by_shares`: by rule 14 too.
  bool may_take(QueueId queue, const Terms& terms, const AmountList& asked, bool by_shares = true) const;

 private:
  // Of the children of one queue, the cluster included.
  struct Children {
    std::size_t with_surplus = 0;  // with units that are not covered there; the parent's own line included
    Fraction largest_share;
    QueueId of_largest;   // the parent itself: its own line
    Fraction next_share;  // the largest of the others
  };

  const Children& children_of(QueueId queue) const {
    return children_[queue.is_none() ? children_.size() - 1 : queue.index()];
  }
  void note(Children& children, QueueId child, const Fraction& share);
  bool others_have_surplus(const Children& children, bool own) const { return children.with_surplus > (own ? 1u : 0u); }
  const Fraction& largest_share_beside(const Children& children, QueueId child) const {
    return children.of_largest == child ? children.next_share : children.largest_share;
  }

  const State& state_;
  std::vector<bool> has_surplus_;   // by queue
  std::vector<Children> children_;  // by queue; the last of the cluster
};

// Work that its own pods would lose if they were stopped now, in GPU-seconds. Of elastic work that is a part: what is lost for a decision
// is lost_if_taken_gpu_s().
std::int64_t lost_by_own_pods_gpu_s(const State& state, WorkloadId workload, Time now);

// The same with all that runs beside it: of an elastic workload, or of a step of it, as all of them restart. Of a step of one that
// resizes live nothing. PRE: it runs.
std::int64_t lost_if_taken_gpu_s(const State& state, WorkloadId workload, Time now);

}  // namespace berth
