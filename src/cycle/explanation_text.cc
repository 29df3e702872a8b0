#include "cycle/explanation_text.h"

#include <algorithm>
#include <array>
#include <set>
#include <string_view>
#include <vector>

#include "base/assert.h"
#include "cycle/deliverable.h"
#include "cycle/feasibility.h"
#include "cycle/host_text.h"
#include "cycle/promised_slices.h"
#include "cycle/slices_free.h"
#include "cycle/unsuited_text.h"
#include "fairness/rights.h"
#include "model/gpu_hardware.h"
#include "model/quantity.h"
#include "model/vgpu_profiles.h"
#include "placement/filters.h"

namespace berth {
namespace {

constexpr std::size_t kTypesNamedMax = 3;

// Of what there is too little, where a row is about an amount.
enum class Lacking : std::uint8_t { kNone, kGpus, kGpuMemory, kCpus, kMemory };

// How a row of the filters is said of one node, and of several.
struct Wording {
  std::string_view refuses_with;
  Lacking amount;
  std::string_view one, many;  // of an amount: when there is none of it
};

constexpr std::array<Wording, kFilterCount> kWordings = {{
    {kSpare, Lacking::kNone, "is a spare for repairs", "are spares for repairs"},
    {kClosed, Lacking::kNone, "is cordoned or not ready", "are cordoned or not ready"},
    {kNotSelected, Lacking::kNone, "", ""},   // unsuited_text.h says which label
    {kNotTolerated, Lacking::kNone, "", ""},  // and which taint
    {"no GPU", Lacking::kNone, "has no GPU", "have no GPU"},
    {"wrong type", Lacking::kNone, "has other GPUs", "have other GPUs"},
    {kOtherMode, Lacking::kNone, "", ""},  // is_of_mode() says which
    {kNoPlaceForSlice, Lacking::kNone, "has no place for it", "have no place for it"},
    {"too small GPUs", Lacking::kNone, "has GPUs with less memory", "have GPUs with less memory"},
    {"too few free GPUs", Lacking::kGpus, "has none free", "have none free"},
    {kBesideOthers, Lacking::kNone, "has room only beside work of others", "have room only beside work of others"},
    {kOnDirty, Lacking::kNone, "has room only where others have been", "have room only where others have been"},
    {"too little free GPU memory", Lacking::kGpuMemory, "has too little GPU memory free",
     "have too little GPU memory free"},
    {"too little free CPU", Lacking::kCpus, "has no CPU free", "have no CPU free"},
    {"too little free memory", Lacking::kMemory, "has no memory free", "have no memory free"},
    {kKeptForGpus, Lacking::kNone, "keeps what is free for work with GPUs", "keep what is free for work with GPUs"},
    {kNotInZones, Lacking::kNone, "has them free in too many NUMA zones", "have them free in too many NUMA zones"},
    {kOthersOwnDomain, Lacking::kNone, "is in a domain that others have for themselves",
     "are in domains that others have for themselves"},
    {kAmongOthers, Lacking::kNone, "is in a domain in which others have GPUs",
     "are in domains in which others have GPUs"},
    {kNearStrangers, Lacking::kNone, "is too near to work of tenants that it does not trust",
     "are too near to work of tenants that it does not trust"},
    {"too many pods", Lacking::kNone, "has as many pods as it may", "have as many pods as they may"},
}};

constexpr bool wordings_follow_the_filters() {
  for (std::size_t row = 0; row < kFilterCount; ++row) {
    if (kWordings[row].refuses_with != kRefusals[row]) return false;
  }
  return true;
}
static_assert(wordings_follow_the_filters());

// Nodes whose GPUs are shared in another way are counted by which.
bool is_of_mode(const NodeTally& tally) {
  return std::ranges::any_of(kSharingWords, [&](const SharingWords& words) {
    return tally.refuses_with == words.is || tally.refuses_with == words.is_not;
  });
}

// Those that are closed for a time are counted by themselves.
constexpr Wording kMaintained = {kInMaintenance, Lacking::kNone, "is closed for maintenance",
                                 "are closed for maintenance"};

const Wording& wording_of(const NodeTally& tally) {
  if (tally.refuses_with == kInMaintenance) return kMaintained;
  const auto* const found = std::ranges::find(kWordings, tally.refuses_with, &Wording::refuses_with);
  BERTH_ASSERT(found != kWordings.end());
  return *found;
}

bool lacks(const Explanation& explanation, Lacking amount) {
  return std::ranges::any_of(explanation.tallies, [&](const NodeTally& tally) {
    return !is_of_mode(tally) && wording_of(tally).amount == amount;
  });
}

bool refused_with(const Explanation& explanation, std::string_view refusal) {
  return std::ranges::find(explanation.tallies, refusal, &NodeTally::refuses_with) != explanation.tallies.end();
}

// "2 or fewer free"
std::string at_most(const NodeTally& tally, Lacking amount, const PodRequest& asked, bool several) {
  if (amount == Lacking::kMemory)
    return format_bytes(tally.most) + " of memory" + (several ? " or less" : "") + " free";
  const std::string most = decimal_of_milli(tally.most);
  if (amount == Lacking::kCpus)
    return most + (several ? " or fewer" : "") + (tally.most == 1000 ? " CPU" : " CPUs") + " free";
  if (!asked.is_fraction())
    return most + (several && tally.most > 1000 ? " or fewer" : several ? " or none" : "") + " free";
  return most + " of a GPU" + (several ? " or less" : "") + " free";
}

// "have 2 or fewer free"
std::string refusal_of(const NodeTally& tally, bool plural, const PodRequest& asked) {
  if (is_of_mode(tally))
    return (plural ? "have GPUs that are " : "has GPUs that are ") + std::string(tally.refuses_with);
  if (asked.is_vgpu() && tally.refuses_with == kBesideOthers)
    return std::string(plural ? "have" : "has") + " room only beside vGPUs of another profile";
  const Wording& wording = wording_of(tally);
  if (wording.amount == Lacking::kNone || wording.amount == Lacking::kGpuMemory || tally.most <= 0) {
    return std::string(plural ? wording.many : wording.one);
  }
  return (plural ? "have " : "has ") + at_most(tally, wording.amount, asked, tally.nodes > 1);
}

// How it is said of one node, and of several, what so many refuse.
struct Said {
  std::int64_t nodes = 0;
  std::string one, many;
};

std::vector<Said> said_of(const State& state, const Explanation& explanation) {
  std::vector<Said> said;
  for (const NodeTally& tally : explanation.tallies) {
    const bool by_selector = tally.refuses_with == kNotSelected;
    if (by_selector || tally.refuses_with == kNotTolerated) {
      for (UnsuitedNodes& each :
           by_selector ? nodes_not_selected(state, explanation.asked) : nodes_not_tolerated(state, explanation.asked)) {
        said.push_back({each.nodes, std::move(each.one), std::move(each.many)});
      }
    } else {
      said.push_back(
          {tally.nodes, refusal_of(tally, false, explanation.asked), refusal_of(tally, true, explanation.asked)});
    }
  }
  return said;
}

std::string nodes_in_words(const State& state, const Explanation& explanation) {
  const auto all = static_cast<std::int64_t>(state.ledger().nodes());
  const std::string count = with_separators(all) + " nodes: ";
  const std::vector<Said> said = said_of(state, explanation);
  if (said.empty()) return all == 1 ? "the only node has room" : count + "each has room";
  if (all == 1) return "the only one " + said.front().one;
  if (said.front().nodes == all) return count + "each " + said.front().one;
  std::string text = count;
  const std::int64_t fit = explanation.nodes_that_fit;
  if (fit > 0) text += with_separators(fit) + (fit == 1 ? " has room, " : " have room, ");
  for (const Said& each : said) {
    if (&each != &said.front()) text += ", ";
    text += with_separators(each.nodes) + " " + (each.nodes > 1 ? each.many : each.one);
  }
  return text;
}

// "H100", "A100 or H100"; empty: any will do, or too many to name.
std::string types_asked(const State& state, const PodRequest& asked) {
  std::vector<std::string_view> names;
  bool any = true;
  for (std::size_t i = 0; i < state.flavors().size(); ++i) {
    const Flavor& flavor = state.flavors()[i];
    const std::string_view name = flavor.model.empty() ? std::string_view(flavor.name) : std::string_view(flavor.model);
    if (!asked.flavors.contains(FlavorId(i))) {
      any = false;
    } else if (!name.empty() && std::ranges::find(names, name) == names.end()) {
      names.push_back(name);
    }
  }
  if (any || names.size() > kTypesNamedMax) return "";
  std::string text;
  for (const std::string_view name : names) text += (text.empty() ? "" : " or ") + std::string(name);
  return text;
}

// "H100 GPU"
std::string kind_asked(const State& state, const PodRequest& asked) {
  const std::string types = types_asked(state, asked);
  return (types.empty() ? "" : types + " ") + "GPU";
}

// PRE: it asks one. As the first of its flavors calls it.
std::string name_of_vgpu(const State& state, const PodRequest& asked) {
  for (std::size_t flavor = 0; flavor < state.flavors().size(); ++flavor) {
    if (!asked.flavors.contains(FlavorId(flavor))) continue;
    if (const auto profile = find_vgpu(state.flavors()[flavor], asked.gpu_milli)) return profile->name;
  }
  return "";
}

// "8 H100 GPUs", "0.5 of a GPU", "a vGPU H100XM-20C"
std::string gpus_asked(const State& state, const PodRequest& asked) {
  const std::string kind = kind_asked(state, asked);
  if (asked.is_vgpu()) return "a vGPU " + name_of_vgpu(state, asked);
  if (asked.is_fraction() && asked.gpu_milli < kMilliPerGpu) return decimal_of_milli(asked.gpu_milli) + " of a " + kind;
  return asked.gpus == 1 ? "1 " + kind : with_separators(asked.gpus) + " " + kind + "s";
}

// What no node has free, as far as nodes were refused for want of it.
std::vector<std::string> missing_amounts(const State& state, const Explanation& explanation) {
  const PodRequest& asked = explanation.asked;
  std::vector<std::string> missing;
  if (lacks(explanation, Lacking::kGpus) || lacks(explanation, Lacking::kGpuMemory)) {
    missing.push_back(gpus_asked(state, asked));
  }
  if (lacks(explanation, Lacking::kGpuMemory)) {
    missing.push_back(asked.gpu_memory_mib > 0 ? format_bytes(asked.gpu_memory_mib << 20) + " of its memory"
                                               : "its share of the memory");
  }
  if (lacks(explanation, Lacking::kCpus)) {
    missing.push_back(decimal_of_milli(asked.cpu_milli) + (asked.cpu_milli == 1000 ? " CPU" : " CPUs"));
  }
  if (lacks(explanation, Lacking::kMemory)) missing.push_back(format_bytes(asked.memory_bytes) + " of memory");
  return missing;
}

// "no node has a place for a 2g.20gb slice free; 3 GPUs have as much in pieces"
std::string why_no_slice(const State& state, const PodRequest& asked) {
  const SlicesFree free = slices_free(state, asked);
  std::string text = "no node has a place for a " + name_of_slice(state, asked) + " slice free";
  if (free.gpus_in_pieces > 0) {
    text += "; " + with_separators(free.gpus_in_pieces) + (free.gpus_in_pieces == 1 ? " GPU has" : " GPUs have") +
            " as much in pieces";
  }
  if (free.gpus_that_rest > 0) {
    const bool one = free.gpus_that_rest == 1;
    text += "; " + with_separators(free.gpus_that_rest) + (one ? " GPU was" : " GPUs were") +
            " cut anew a short while ago and " + (one ? "stays" : "stay") + " so";
    if (free.rested_at != kForever) {
      text += " for another " + format_duration_ms(std::max<std::int64_t>(0, (free.rested_at - state.clock()).ms));
    }
  }
  if (free.gpus_held > 0) {
    text += "; " + with_separators(free.gpus_held) + (free.gpus_held == 1 ? " GPU is" : " GPUs are") +
            " cut anew only while nobody has a slice of the same node";
  }
  const std::string fixed = fixed_profiles(state, asked);
  if (free.fixed > 0 && free.fixed_free == 0) {
    text += "; of those that were cut beforehand " +
            (free.fixed == 1 ? "the only one is" : "all " + with_separators(free.fixed) + " are") + " taken";
  } else if (free.fixed == 0 && !fixed.empty()) {
    text += "; what was cut beforehand stays as it is: " + fixed;
  }
  return text;
}

// How the GPUs are not shared that there are; empty if that is not what is in the way.
std::string_view mode_not_there(const Explanation& explanation) {
  if (std::ranges::none_of(explanation.tallies, is_of_mode)) return "";
  if (explanation.asked.sharing != Sharing::kExclusive) return words_of(explanation.asked.sharing).is;
  std::string_view only;
  for (const SharingWords& words : kSharingWords) {
    if (!refused_with(explanation, words.is)) continue;
    only = only.empty() ? words.is_not : words_of(Sharing::kExclusive).is;
  }
  return only;
}

std::string why_no_node(const State& state, const Explanation& explanation) {
  if (refused_with(explanation, kBesideOthers) && explanation.asked.is_vgpu()) {
    return "no node has " + gpus_asked(state, explanation.asked) +
           " free; the GPUs with as much free have vGPUs of another profile, and keep it until the last of these has "
           "ended";
  }
  if (refused_with(explanation, kBesideOthers)) {
    return "no node has " + gpus_asked(state, explanation.asked) + " free but beside work of others" +
           (explanation.asked.is_mps() ? ", and MPS serves one user on a GPU, of tenants that trust each other"
                                       : " whom its tenant shares no GPU with; a circle of trust says who may");
  }
  if (refused_with(explanation, kOnDirty)) {
    return "no node has " + gpus_asked(state, explanation.asked) +
           " free but where others have been whom its tenant does not trust, and which is scrubbed when all have left";
  }
  if (refused_with(explanation, kNotInZones)) return why_not_in_zones(state, explanation.asked);
  if (refused_with(explanation, kKeptForGpus)) return why_kept_for_gpus(state, explanation.asked);
  if (const auto missing = missing_amounts(state, explanation); !missing.empty()) {
    const bool chooses = refused_with(explanation, kNotSelected) || refused_with(explanation, kNotTolerated);
    std::string text = chooses ? "no node where it may be has " : "no node has ";
    for (std::size_t i = 0; i < missing.size(); ++i) {
      text += (i == 0 ? "" : i + 1 == missing.size() ? " and " : ", ") + missing[i];
    }
    return text + " free";
  }
  if (refused_with(explanation, kNoPlaceForSlice)) return why_no_slice(state, explanation.asked);
  if (refused_with(explanation, "too small GPUs")) {
    return "no node has GPUs with " + format_bytes(explanation.asked.gpu_memory_mib << 20) + " of memory";
  }
  if (const std::string_view mode = mode_not_there(explanation); !mode.empty()) {
    return "no node has " + kind_asked(state, explanation.asked) + "s that are " + std::string(mode) +
           (explanation.asked.is_slice()  ? "; it asks a " + name_of_slice(state, explanation.asked)
            : explanation.asked.is_vgpu() ? "; it asks " + gpus_asked(state, explanation.asked)
                                          : "");
  }
  if (refused_with(explanation, "wrong type")) {
    const std::string types = types_asked(state, explanation.asked);
    return types.empty() ? "no node has GPUs of a type that it takes" : "no node has " + types + " GPUs";
  }
  if (refused_with(explanation, "no GPU")) return "no node has GPUs";
  if (refused_with(explanation, kNotTolerated)) return "it tolerates the taints of no node that it selects";
  if (refused_with(explanation, kNotSelected)) return "no node has the labels that it selects";
  return refused_with(explanation, "too many pods") ? "no node may have more pods" : "no node takes new pods";
}

}  // namespace

std::int64_t free_of_what_lacks(std::size_t row, const NodeView& node, const PodRequest& request) {
  switch (kWordings[row].amount) {
    case Lacking::kGpus:
      if (request.is_replica()) return 0;  // what is left of a GPU is of no use
      return request.is_fraction() ? node.free.largest_gpu_milli : std::int64_t{node.free.whole_gpus} * kMilliPerGpu;
    case Lacking::kCpus:
      return node.cpu_free(request);
    case Lacking::kMemory:
      return node.memory_free(request);
    case Lacking::kNone:
    case Lacking::kGpuMemory:
      break;
  }
  return 0;
}

std::string amount_in_words(const State& state, Dim dim, std::int64_t amount) {
  const FlavorId flavor = dim.flavor();
  const std::string of =
      flavor.is_none() || state.flavors().size() == 1 ? "" : " of " + state.flavors()[flavor.index()].name;
  if (dim.resource() == Resource::kMemory) return format_bytes(amount << 20) + " of memory" + of;
  if (dim.is_of_slices()) {
    const std::string_view profile = name_of_slice(state.flavors()[flavor.index()], dim.shape());
    return std::to_string(amount) + " " + std::string(profile) + (amount == 1 ? " slice" : " slices") + of;
  }
  const std::string unit = dim.resource() == Resource::kGpu ? " GPU" : " CPU";
  return decimal_of_milli(amount) + unit + (amount == 1000 ? "" : "s") + of;
}

std::string gpu_time_text(std::int64_t gpu_us) {
  const std::int64_t milli_hours = gpu_us / 3'600'000;
  return decimal_of_milli(milli_hours) + (milli_hours == 1000 ? " GPU-hour" : " GPU-hours");
}

namespace {

// "the floor of queue research has room for it for 3h, and it may run for 12h"
std::string floor_for_a_while(const State& state, const CoveredForAWhile& covered, Time end) {
  const auto from_now = [&](Time then) { return format_duration_ms((then - state.clock()).ms); };
  return "the floor of queue " + state.queues()[covered.queue.index()].name + " has room for it for " +
         from_now(covered.until) + ", and it " +
         (end == kForever ? "has no run limit" : "may run for " + from_now(end));
}

// Where its room is its own, and why not where it is not.
std::string floor_text(const State& state, WorkloadId id) {
  const Workload& workload = state.workload(id);
  const QuotaUnit& unit = state.quotas().unit(workload.unit);
  if (!unit.may_be_covered) {
    const bool asked_for = state.shape(workload.shape).terms.best_effort;
    return asked_for ? "best effort, which counts for nothing"
                     : "best effort, which counts for nothing: a budget had not enough left for it";
  }
  if (!unit.covered_at.is_none()) return "inside the floor of queue " + state.queues()[unit.covered_at.index()].name;
  if (unit.only_borrows) {
    return "no floor had room for it, and it comes into none while it runs: it is on others' whole domains";
  }
  const auto covered = covered_for_a_while(state.quotas(), unit.queue, state.quotas().held_by(workload.unit), unit.end);
  return covered ? "Calendar: " + floor_for_a_while(state, *covered, unit.end) : "no floor has room for it";
}

std::string steps_text(const State& state, WorkloadId id) {
  const std::vector<WorkloadId>& steps = state.steps_of(id);
  if (steps.empty()) return "";
  std::int64_t running = 0;
  std::int64_t covered = 0;
  for (const WorkloadId step : steps) {
    const Workload& workload = state.workload(step);
    if (workload.phase != Phase::kRunning) continue;
    ++running;
    covered += coverage_of(state.quotas(), workload) > 0 ? 1 : 0;
  }
  return "; this is its minimum of " + with_separators(state.shape(state.workload(id).shape).pods) +
         ", beside which run " + with_separators(running) + " of " + with_separators(std::ssize(steps)) +
         " pods more, " + with_separators(covered) + " of them inside a floor";
}

}  // namespace

namespace {

// Those of its nodes that are the last that anybody is given.
std::string failures_text(const State& state, WorkloadId id) {
  std::set<NodeId> nodes;
  for_each_pod(state, id, [&](const Pod& pod) {
    if (state.failures().are_many(pod.node)) nodes.insert(pod.node);
  });
  std::string text;
  for (const NodeId node : nodes) {
    text += "; its node " + state.node(node).name + " failed " + std::to_string(state.failures().of(node)) +
            " times within " + format_duration_ms(kNodeFailuresWithin.ms);
  }
  return text;
}

}  // namespace

std::string coverage_text(const State& state, WorkloadId id) {
  const QuotaUnit& unit = state.quotas().unit(state.workload(id).unit);
  const Duration within = state.quotas().lenders_clock(unit.queue, unit.covered_at);
  const std::string clock =
      within == kNoClock ? "" : "; those who could take it back give it " + format_duration_ms(within.ms) + " to leave";
  return floor_text(state, id) + clock + steps_text(state, id) + failures_text(state, id);
}

std::string quota_text(const State& state, const QuotaRefusal& refusal) {
  const std::string queue = "queue " + state.queues()[refusal.queue.index()].name;
  if (refusal.code == ReasonCode::kQuotaFloor) {
    return "it would rather wait than borrow, and what is left of the floor of " + queue + " is too little for it";
  }
  if (refusal.code == ReasonCode::kBudget) {
    if (refusal.end == kForever) {
      return queue +
             " has a budget of GPU time, and without a run limit nobody knows what it would use: give it a limit";
    }
    return queue + " has " + gpu_time_text(refusal.bound) + " left for it, and it may use " +
           gpu_time_text(refusal.asked);
  }
  if (refusal.code == ReasonCode::kCalendar) {
    return "it would rather wait than borrow, and " +
           floor_for_a_while(state, {refusal.queue, refusal.until}, refusal.end);
  }
  const auto words = [&](std::int64_t amount) { return amount_in_words(state, refusal.dim, amount); };
  if (refusal.code == ReasonCode::kLendingLimit) {
    return "it asks " + words(refusal.asked) + ", and " + words(refusal.bound) +
           " are free that no queue keeps for itself";
  }
  if (refusal.code == ReasonCode::kUserLimit) {
    const std::string& name = state.user_name(refusal.user);
    return (name.empty() ? "work of " + queue + " that names no user" : "in " + queue + " user " + name) +
           " may hold " + words(refusal.bound) + " and holds " + words(refusal.used) + ": " + words(refusal.asked) +
           " more is too much";
  }
  if (refusal.code == ReasonCode::kBorrowingLimit && refusal.dim == kGpusOfAllFlavors) {
    return queue + " may borrow " + words(refusal.bound) + " and has borrowed " + words(refusal.used) + ": " +
           words(refusal.asked) + " more is too much";
  }
  return queue + " may hold " + words(refusal.bound) +
         (refusal.code == ReasonCode::kBorrowingLimit ? " with what it may borrow" : "") + " and holds " +
         words(refusal.used) + ": " + words(refusal.asked) + " more is too much";
}

std::string cooldown_text(const State& state, WorkloadId id) {
  return "it had to give back what it had borrowed, and does not borrow again for another " +
         format_duration_ms((state.borrows_again_at(id) - state.clock()).ms) + "; no floor of queue " +
         state.queues()[state.workload(id).queue.index()].name + " has room for it";
}

std::string isolation_text(const State& state, const Shape& shape, const Explanation& explanation) {
  if (shares_against_its_terms(state, shape)) {
    return "it is latency-critical, and asks a part of a GPU on which others are, too: such work has whole GPUs, or "
           "slices";
  }
  return explanation_text(state, explanation) +
         "; what would do are replicas of time-sliced GPUs, which are for best effort that is not latency-critical";
}

std::string quarantine_text(const State& state, const Shape& shape) {
  constexpr std::int64_t kNamedMax = 3;
  std::string text;
  std::int64_t count = 0;
  for (const Device& device : state.ledger().broken()) {
    if (!shape.flavors.contains(FlavorId(state.ledger().node(device.node).flavor))) continue;
    if (++count > kNamedMax) continue;
    text += (count == 1 ? "; GPU " : ", GPU ") + std::to_string(device.gpu) + " of " + state.node(device.node).name;
  }
  if (count == 0) return text;
  if (count > kNamedMax) text += " and " + with_separators(count - kNamedMax) + " more";
  return text + (count == 1 ? " is quarantined, as a scrub of it" : " are quarantined, as scrubs of them") +
         " failed: nobody has " + (count == 1 ? "it before its node is" : "them before their nodes are") + " restored";
}

namespace {

// Queues beside the line whose floors have more of what is asked then than now: three of them.
std::string who_is_promised_more(const State& state, QueueId queue, FlavorSet flavors, const FloorRise& rise) {
  constexpr int kNamedMax = 3;
  const QuotaTree& tree = state.quotas().tree();
  const auto is_promised_more = [&](QueueId other) {
    return std::ranges::any_of(tree.dims_in_use(), [&](std::size_t index) {
      const Dim dim = Dim::at(index);
      const bool is_asked = !dim.flavor().is_none() && flavors.contains(dim.flavor());
      return is_asked && rise.tree->floor(other)[index] > tree.floor(other)[index];
    });
  };
  std::string names;
  int count = 0;
  for (QueueId own = queue; !own.is_none(); own = tree.parent(own)) {
    for (const QueueId other : tree.children(tree.parent(own))) {
      if (other == own || !is_promised_more(other)) continue;
      if (++count <= kNamedMax) names += (count == 1 ? "" : ", ") + state.queues()[other.index()].name;
    }
  }
  if (count > kNamedMax) names += " and others";
  return names.empty() ? names : " (" + names + ")";
}

// What floors beside the queue promise now, and at the hours at which they have risen and it may still be there: "1 whole GPU, and 2 whole
// GPUs 11h30m from now (product)".
template <class InWords>
std::string promised_in_time(const State& state, QueueId queue, const Shape& shape, InWords in_words) {
  const std::string now = in_words(nullptr);
  std::string text = now;
  std::string before = now;
  const Time end = enforced_end(shape.terms, state.clock());
  for (const FloorRise& rise : state.quotas().rises()) {
    if (rise.from >= end || !rise.flavors.meets(shape.flavors)) continue;
    const std::string then = in_words(&rise);
    if (then.empty() || then == before) continue;
    const std::string until_then = format_duration_ms((rise.from - state.clock()).ms);
    text += (text.empty() ? "" : ", and ") + then + " " + until_then + " from now" +
            who_is_promised_more(state, queue, shape.flavors, rise);
    if (before.empty()) text += "; with a run limit of " + until_then + " or less it would be gone by then";
    before = then;
  }
  return text;
}

}  // namespace

std::string whole_floors_text(const State& state, QueueId queue, const Shape& shape) {
  const std::string cells = promised_in_time(state, queue, shape, [&](const FloorRise* rise) {
    std::string levels;
    for (const auto& [level, count] : cells_beside(state, queue, shape.flavors, rise)) {
      levels += (levels.empty() ? "" : ", and ") + with_separators(count) + " of " + level;
    }
    return levels;
  });
  if (!cells.empty())
    return "wherever it has room it would break up whole domains that others' floors come in: " + cells;
  const auto is_of_slices = [&](const NumberedPodSet& set) { return state.request(set.request).is_slice(); };
  if (std::ranges::any_of(shape.ways.front(), is_of_slices)) {
    const std::string slices = promised_in_time(state, queue, shape, [&](const FloorRise* rise) {
      return slices_promised_text(state, queue, shape.flavors, rise);
    });
    if (!slices.empty()) {
      return "wherever it has room it would leave too few places for slices that others' floors still promise: " +
             slices;
    }
  }
  const std::string gpus = promised_in_time(state, queue, shape, [&](const FloorRise* rise) {
    std::int64_t count = 0;
    for (std::size_t flavor = 0; flavor < state.flavors().size(); ++flavor) {
      if (!shape.flavors.contains(FlavorId(flavor))) continue;
      count += whole_gpus_promised_beside(state.quotas(), queue, FlavorId(flavor), rise);
    }
    return count == 0 ? std::string() : with_separators(count) + (count == 1 ? " whole GPU" : " whole GPUs");
  });
  if (gpus.empty()) return "others use by now what their floors promise of whole GPUs";
  return "it would take a part of another GPU, and too few whole ones would be left for others' floors, which still "
         "promise " +
         gpus;
}

std::string explanation_text(const State& state, const Explanation& explanation) {
  if (state.ledger().nodes() == 0) return "there are no nodes";
  std::string text;
  if (explanation.pods > 1) {
    text =
        "room for " + with_separators(explanation.pods_that_fit) + " of " + with_separators(explanation.pods) + " pods";
  } else {
    text = explanation.nodes_that_fit > 0 ? "there is room, it waits for its turn" : why_no_node(state, explanation);
  }
  return text + " (" + nodes_in_words(state, explanation) + ")";
}

}  // namespace berth
