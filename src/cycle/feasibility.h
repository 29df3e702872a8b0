// Whether a workload could ever run on the nodes that there are, whatever ends.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "model/reason.h"
#include "state/state.h"

namespace berth {

// kNone: it could, alone on the fleet. Else one of those that is_impossible() knows, kIsolation, kTopology, kSpread, kPorts or kAffinity (pods of one
// set that keep each other away; others may come and go); kAffinity and kSpread also of a level that no node has. For one pod set whose pods look at no others this is exact; of several each is looked at by itself, besides whether there are as many GPUs as all of them ask, and what is to be spread evenly may leave any domains out, as nodes may close:
// an answer other than kNone is always right.
ReasonCode reason_never(const State& state, const Shape& shape);

// Of a workload, the same with what its shape does not know: kDependency, it was to start after one that is not done and never will
// be; kCalendar, by its hours; where it was tried, kKeepsFloorDeliverable, if others' floors keep it out for good, and what state/kept_out.h
// calls nowhere.
ReasonCode reason_never_of(const State& state, WorkloadId workload);

// It runs in hours of the calendar alone that are all shorter than its run limit, as far as they are known.
bool never_in_its_hours(const State& state, const Terms& terms);

// It insists on a floor, and is to be best effort, which is inside none: it never starts, whatever is free.
inline bool contradicts_itself(const Terms& terms) { return terms.best_effort && terms.guaranteed_only; }
inline constexpr std::string_view kContradiction = "it insists on being guaranteed, and best effort is inside no floor";

// It is critical, and asks GPUs that it would share with others: it never starts, whatever is free.
bool shares_against_its_terms(const State& state, const Shape& shape);

// Whether some node was ever added whose GPUs are shared so.
bool has_mode(const State& state, Sharing sharing);

// Pods of a set of which only so many may be together in a domain of a level: one, by a host port or since they are to be apart from
// their like; or no more than the skew, as there are fewer domains than are to be counted at the least.
struct ApartFromItself {
  ReasonCode code;
  std::string level;
  std::int64_t most = 0;         // so many would have a place where they may be
  std::int64_t domains_min = 0;  // kSpread: that are to be counted
};
// The first of its ways to be apart by which too few of the set's pods could be there if nothing else ran.
std::optional<ApartFromItself> too_few_apart(const State& state, const NumberedPodSet& set);

// Of a way of a workload: domains of a level that its parts are each to have for themselves, and how many there are.
struct TooFewOfItsOwn {
  std::string level;
  std::int64_t parts = 0;
  std::int64_t domains = 0;
};
std::optional<TooFewOfItsOwn> too_few_of_its_own(const State& state, const std::vector<NumberedPodSet>& way);

// Whether some of its pods are to be near others of whom nobody is anywhere, and none of them are its own: nothing that ends would let
// it start.
bool lacks_whom_to_be_near(const State& state, const Ledger& ledger, const Shape& shape);

// A level in which the pods of a set are to be near others, or evenly spread, and of which no node that could hold one of them is any.
struct OutsideLevel {
  ReasonCode code;
  std::string level;
};
std::optional<OutsideLevel> outside_level(const State& state, const NumberedPodSet& set);

// How many of its pods the fleet would hold if nothing ran, in its best way; each pod set by itself.
std::int64_t pods_when_idle(const State& state, const Shape& shape);

}  // namespace berth
