// What a queue may have (docs/semantics.md, rule 1): its amounts, and the policies that go with them.
#pragma once

#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/hash.h"
#include "base/time.h"
#include "model/amount.h"
#include "model/node_constraints.h"

namespace berth {

// Whom a claimant of the queue may take from towards its fair share (rule 14; Kueue's names in brackets).
enum class FairReclaim : std::uint8_t {
  kInitialShare,  // only who is above the claimant's share after it has started (LessThanInitialShare)
  kFinalShare,    // also while the other stays at least level after its loss (LessThanOrEqualToFinalShare)
  kNever,
};
inline constexpr std::string_view kFairReclaimNames[] = {"initial-share", "final-share", "never"};
std::optional<FairReclaim> find_fair_reclaim(std::string_view name);

// Rule 15.
enum class Preempt : std::uint8_t { kLowerPriority, kNever };
inline constexpr std::string_view kPreemptNames[] = {"lower-priority", "never"};
std::optional<Preempt> find_preempt(std::string_view name);

// Whether the users of a queue take turns in its line.
enum class UserOrder : std::uint8_t {
  kNone,  // who somebody is decides nothing
  kFair,  // among equal priorities whoever holds least goes first
};
inline constexpr std::string_view kUserOrderNames[] = {"none", "fair"};
std::optional<UserOrder> find_user_order(std::string_view name);

// Of a half-life that is given.
inline constexpr Duration kHalfLifeMin{60'000};
inline constexpr Duration kHalfLifeMax{std::int64_t{3650} * 86'400'000};

// Who may pass a blocked head of a strict line (rules 24 and 25): those alone who will be gone, or elsewhere, when its room is
// promised to it.
enum class Backfill : std::uint8_t {
  kNone,          // nobody who could use what it waits for
  kEasy,          // the first who waits for room has a promise
  kConservative,  // everybody has who waits for room, as far as kShadowsMax goes
};
inline constexpr std::string_view kBackfillNames[] = {"none", "easy", "conservative"};
std::optional<Backfill> find_backfill(std::string_view name);

// "90%": so many of a hundred runs have to have ended by then, 50 to 99; "none": 0, no loans.
std::optional<std::int32_t> find_loans(std::string_view text);
std::string loans_text(std::int32_t percent);
inline constexpr std::string_view kLoansForm = "write such a part as 90%, from 50% to 99%, or none";

// What becomes of work that a budget has not enough left for.
enum class BudgetEnd : std::uint8_t {
  kStop,        // it waits
  kBestEffort,  // it runs as best effort, which costs nothing
};
inline constexpr std::string_view kBudgetEndNames[] = {"stop", "best-effort"};
std::optional<BudgetEnd> find_budget_end(std::string_view name);

// What becomes of work that has run as long as its limit allows.
enum class OverRun : std::uint8_t {
  kStop,
  kExtend,  // it goes on for a while, if nobody needs its room before that is over
};
inline constexpr std::string_view kOverRunNames[] = {"stop", "extend"};
std::optional<OverRun> find_over_run(std::string_view name);
inline constexpr std::int32_t kExtensionsMax = 1'000;

// GPU time is counted in GPU-microseconds, which is thousandths of a GPU times milliseconds: 1,000,000,000 GPU-hours.
inline constexpr std::int64_t kGpuTimeMax = 3'600'000'000'000'000'000;

inline constexpr std::int64_t kWeightMilliMax = 1'000'000;
// Labels by which a queue has nodes of its own.
inline constexpr std::size_t kDedicatedMax = 64;

// Which a floor comes in.
inline constexpr std::size_t kCellsMax = 64;
inline constexpr std::int64_t kCellCountMax = 1'000'000;

// Of a floor: so many whole domains of a level, of the GPUs of one flavor. A level is a label of nodes, or `node`.
// INVARIANT: 1 <= count <= kCellCountMax.
struct FloorCells {
  FlavorId flavor;
  std::string level;
  std::int64_t count = 0;

  friend auto operator<=>(const FloorCells&, const FloorCells&) = default;
};

// Of the lists a dimension that is not listed has no floor, no ceiling, no bound to what it borrows or to one user, and
// lends all. Those that bound may name kGpusOfAllFlavors.
struct Quota {
  AmountList guarantee = {};
  AmountList limit = {};            // bounds
  AmountList borrowing_limit = {};  // bounds
  AmountList lending_limit = {};
  AmountList user_limit = {};        // of each user; bounds
  std::int64_t weight_milli = 1000;  // 1..kWeightMilliMax
  FairReclaim fair_reclaim = FairReclaim::kInitialShare;
  Preempt preempt = Preempt::kLowerPriority;
  Duration reclaim_within{60'000};  // how long a borrower's protections hold against this queue
  Duration patience{0};             // how long its work waits before it takes
  Duration min_runtime{0};          // of its work: not taken before, inside the floor
  Duration cooldown{0};             // how long its work does not borrow after it had to give back what it had borrowed
  Duration idle_after{0};           // what of its floor it has not used for so long is told as idle; 0: nothing is
  UserOrder users = UserOrder::kNone;
  Backfill backfill = Backfill::kEasy;  // of its line, where the order is fifo
  // Its work may go ahead of who is promised room on loan, if so many of a hundred of its kind had ended by then; 0: it may not.
  std::int32_t loans_percent = 0;
  // With EASY backfill: nobody passes the one who is promised room unless he has ended by when that one is foretold to start, or is
  // beside his room.
  bool foresight = true;
  Duration half_life{
      0};  // of what it held above its floor, in the order among its siblings; 0: the past does not count
  std::optional<std::int64_t> budget_gpu_us = {};  // of it and all below it; none: it is not counted
  BudgetEnd budget_end = BudgetEnd::kStop;
  OverRun over_run = OverRun::kStop;
  Duration extend{1'800'000};   // its work goes on for so long at a time, at most
  std::int32_t extensions = 1;  // and so often in an attempt; 1..kExtensionsMax
  // Nodes that say one of these of themselves are its own: nobody else's work goes there. The level `node` is their name.
  // INVARIANT: in order, each once.
  std::vector<Label> dedicated = {};
  // Whole domains that a part of the guarantee comes in. INVARIANT: in order; of each flavor and level once, and each flavor has a
  // guarantee of GPUs.
  std::vector<FloorCells> cells = {};

  void add_to(Hasher& hasher) const;
  std::array<const AmountList*, 5> amounts() const {
    return {&guarantee, &limit, &borrowing_limit, &lending_limit, &user_limit};
  }
  bool has_amounts() const {
    return !guarantee.empty() || !limit.empty() || !borrowing_limit.empty() || !lending_limit.empty() ||
           !user_limit.empty();
  }
  // Who somebody is makes a difference.
  bool looks_at_users() const { return !user_limit.empty() || users == UserOrder::kFair; }
  friend bool operator==(const Quota&, const Quota&) = default;
};

// Of a queue without quotas whose work takes nothing from others.
inline Quota taking_nothing() { return {.fair_reclaim = FairReclaim::kNever, .preempt = Preempt::kNever}; }

}  // namespace berth
