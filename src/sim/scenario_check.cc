#include "sim/scenario_check.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <variant>
#include <vector>

#include "base/wording.h"
#include "cycle/changes.h"
#include "cycle/deliverable.h"
#include "cycle/explain.h"
#include "cycle/explanation_text.h"
#include "cycle/feasibility.h"
#include "cycle/network_text.h"
#include "cycle/recutting.h"
#include "fairness/lending.h"
#include "fairness/rights.h"
#include "fairness/share.h"
#include "model/gpu_hardware.h"
#include "model/quantity.h"
#include "sim/scenario_amount.h"
#include "sim/scenario_found.h"
#include "sim/scenario_moment.h"
#include "sim/scenario_policy.h"
#include "state/fragments.h"

namespace berth::scenario {
namespace {

void check_coverage(ScenarioWorld& world, const ExpectRunning& expected) {
  const Workload& found = world.workload(expected.workload);
  const QueueId covered_at = world.state().quotas().unit(found.unit).covered_at;
  const std::string& name = world.name_of_workload(expected.workload);
  if (expected.covered) {
    // As the weakest of its pods.
    Coverage coverage = Coverage::kFloor;
    const auto note = [&](const Workload& each) {
      const bool borrows = world.state().quotas().unit(each.unit).covered_at.is_none();
      const Coverage own = each.best_effort ? Coverage::kBestEffort : borrows ? Coverage::kBorrowed : Coverage::kFloor;
      coverage = std::max(coverage, own);
    };
    note(found);
    for (const WorkloadId step : world.state().steps_of(expected.workload)) {
      if (world.workload(step).phase == Phase::kRunning) note(world.workload(step));
    }
    const auto text = [](Coverage value) {
      return value == Coverage::kFloor ? "floor" : value == Coverage::kBorrowed ? "borrowed" : "best-effort";
    };
    world.compare(name + " covered by", text(*expected.covered), text(coverage));
  }
  if (expected.against) {
    const auto text = [&](QueueId queue) {
      return queue.is_none() ? std::string("everyone") : world.name_of_queue(queue);
    };
    if (covered_at.is_none()) {
      world.fail("expected " + name + " guaranteed against " + text(*expected.against) +
                 ", found it guaranteed against nobody");
    } else {
      world.compare(name + " guaranteed against", text(*expected.against),
                    text(covered_at == found.queue && world.state().quotas().tree().is_leaf(found.queue) ? QueueId()
                                                                                                         : covered_at));
    }
  }
}

void check(ScenarioWorld& world, const ExpectRunning& expected) {
  const std::string& name = world.name_of_workload(expected.workload);
  const bool is_whole = world.state().find_repairing(expected.workload) == nullptr;
  if (world.workload(expected.workload).phase != Phase::kRunning || !is_whole) {
    return world.fail("expected " + name + " running, found it " + how_it_is(world, expected.workload));
  }
  const Whereabouts found = whereabouts(world, expected.workload);
  if (world.stopped()) return;
  if (expected.pods) world.compare(name + " running with", counted(*expected.pods, "pod"), counted(found.pods, "pod"));
  if (!expected.on.empty() && expected.on != found.nodes) {
    world.fail("expected " + name + " on " + joined(expected.on) + ", found it on " + joined(found.nodes));
  }
  if (!expected.ranks.empty() && expected.ranks != found.ranks) {
    world.fail("expected the pods of " + name + " on " + joined(expected.ranks) + " in this order, found them on " +
               joined(found.ranks));
  }
  if (!expected.flavors.empty())
    world.compare(name + " on", flavors_text(world, expected.flavors), flavors_text(world, found.flavors));
  const Time started = world.workload(expected.workload).started;
  const bool holds_by_the_clock =
      expected.started_on_any_day && expected.started && expected.started->ms % kDayMs == started.ms % kDayMs;
  if (expected.started && !holds_by_the_clock) {
    world.compare(name + " started", format_moment(*expected.started), format_moment(started));
  }
  check_coverage(world, expected);
  std::string text = coverage_text(world.state(), expected.workload);
  if (const std::string network = network_text(world.state(), expected.workload); !network.empty()) {
    text += "; " + network;
  }
  if (!text.contains(expected.has)) {
    world.fail("expected " + name + " running with the words " + quote(expected.has) + ", found " + quote(text));
  }
}

// What is said of why it does not run.
void check_words(ScenarioWorld& world, WorkloadId id, const std::string& how, const std::string& has) {
  if (has.empty() || explained(world, id).text.contains(has)) return;
  world.fail("expected " + world.name_of_workload(id) + " " + how + " with the words " + quote(has) + ", found it " +
             how_it_is(world, id));
}

void check_shadow(ScenarioWorld& world, const ExpectWaits& expected) {
  if (!expected.shadow && !expected.no_shadow) return;
  const Shadow* const found = world.state().shadow_of(expected.workload);
  const bool holds_by_the_clock = found != nullptr && expected.shadow_on_any_day && expected.shadow &&
                                  expected.shadow->ms % kDayMs == begins_by(world.state(), *found).ms % kDayMs;
  if (holds_by_the_clock) return;
  world.compare("shadow of " + world.name_of_workload(expected.workload),
                expected.shadow ? format_moment(*expected.shadow) : "none",
                found != nullptr ? format_moment(begins_by(world.state(), *found)) : "none");
}

// The text of a change; of one that is about somebody else, with his name.
std::string text_of(const ScenarioWorld& world, const SmallestChange& change) {
  return change.kind == ChangeKind::kEnd ? change.text_naming(world.name_of_workload(change.other)) : change.text;
}

void check_change(ScenarioWorld& world, const ExpectWaits& expected) {
  if (expected.would_start.empty() || !world.afford_changes(expected.workload)) return;
  std::vector<std::string> texts;
  for (const SmallestChange& change : smallest_changes(world.state(), expected.workload, world.now())) {
    texts.push_back(text_of(world, change));
  }
  if (expected.would_start == "none" ? texts.empty() : std::ranges::count(texts, expected.would_start) > 0) return;
  std::string found;
  for (const std::string& text : texts) found += (found.empty() ? "" : "; ") + text;
  world.compare("what would start " + world.name_of_workload(expected.workload), expected.would_start,
                found.empty() ? "none" : found);
}

void check(ScenarioWorld& world, const ExpectWaits& expected) {
  const WorkloadId id = expected.workload;
  const std::string& name = world.name_of_workload(id);
  const Phase phase = world.workload(id).phase;
  // Who lacks some of its pods holds the others, and does not run.
  const bool is_repaired = world.state().find_repairing(id) != nullptr;
  if (phase != Phase::kPending && phase != Phase::kStarting && !is_repaired)
    return world.fail("expected " + name + " waiting, found it " + how_it_is(world, id));
  if (!expected.reason.empty() && name_of(reason_of(world.state(), id)) != expected.reason) {
    world.fail("expected " + name + " waiting: " + expected.reason + ", found it " + how_it_is(world, id));
  }
  check_words(world, id, "waiting", expected.has);
  check_shadow(world, expected);
  check_change(world, expected);
  if (expected.ahead && is_repaired) {
    return world.fail("expected " + name + " in its line, found it " + how_it_is(world, id));
  }
  if (expected.ahead) {
    if (!world.afford(static_cast<std::int64_t>(world.state().pending()))) return;
    const std::vector<WorkloadId> ahead = ahead_of(world.state(), id);
    if (ahead != *expected.ahead) {
      world.fail("expected " + names_of(world, *expected.ahead) + " ahead of " + name + ", found " +
                 names_of(world, ahead));
    }
  }
}

void check(ScenarioWorld& world, const ExpectImpossible& expected) {
  const WorkloadId id = expected.workload;
  const std::string& name = world.name_of_workload(id);
  if (world.workload(id).phase != Phase::kPending)
    return world.fail("expected " + name + " impossible, found it " + how_it_is(world, id));
  // Where it may be, and how near together, each node by itself says.
  const Wide looked_at = Wide{std::ssize(world.state().node_types().counts)} + 4 * Wide{world.nodes()};
  if (!world.afford(1 + looked_at * sets_of(world.state().shape(world.workload(id).shape)))) return;
  const ReasonCode never = reason_never_of(world.state(), id);
  if (never == ReasonCode::kNone) {
    world.fail("expected " + name + " impossible, found that it could run on idle nodes; it is " +
               how_it_is(world, id));
  } else if (!expected.reason.empty() && expected.reason != name_of(never)) {
    world.fail("expected " + name + " impossible: " + expected.reason + ", found " + std::string(name_of(never)) +
               "; it is " + how_it_is(world, id));
  }
  check_words(world, id, "impossible", expected.has);
}

// For whom it was stopped, and what that cost.
template <class Expected>
void check_for_whom(ScenarioWorld& world, const Expected& expected, const std::string& what) {
  const Workload& found = world.workload(expected.workload);
  const std::string& name = world.name_of_workload(expected.workload);
  const auto last = std::find_if(world.evictions().rbegin(), world.evictions().rend(),
                                 [&](const Evicted& each) { return each.workload == expected.workload; });
  if (expected.claimant) {
    world.compare(name + " " + what + " for", world.name_of_workload(*expected.claimant),
                  found.evicted_for.is_none() ? "nobody" : world.name_of_workload(found.evicted_for));
  }
  if (expected.lost_gpu_s) {
    world.compare(name + " " + what + " with a loss of", counted(*expected.lost_gpu_s, "GPU-second"),
                  counted(last == world.evictions().rend() ? 0 : last->decision.lost_gpu_s, "GPU-second"));
  }
}

void check_for_reservation(ScenarioWorld& world, const ExpectEvicted& expected) {
  const auto& evictions = world.evictions();
  const auto last = std::find_if(evictions.rbegin(), evictions.rend(),
                                 [&](const Evicted& each) { return each.workload == expected.workload; });
  const ReservationId found = last == evictions.rend() ? ReservationId() : last->decision.reservation;
  world.compare(world.name_of_workload(expected.workload) + " evicted for",
                world.name_of_reservation(*expected.reservation),
                found.is_none() ? "no reservation" : world.name_of_reservation(found));
}

// The last attempt ended so, requeued or not. Who was moved runs again at once: it is asked for by its rule.
void check(ScenarioWorld& world, const ExpectEvicted& expected) {
  const Workload& found = world.workload(expected.workload);
  const std::string& name = world.name_of_workload(expected.workload);
  if (expected.stopping && found.phase != Phase::kStopping && found.phase != Phase::kMigrating) {
    return world.fail("expected " + name + " evicting, found it " + how_it_is(world, expected.workload));
  }
  const bool moved =
      expected.rule == name_of(EvictionRule::kDefragment) && found.evicted_by == EvictionRule::kDefragment;
  if ((found.phase == Phase::kRunning && !moved) || found.evicted_by == EvictionRule::kNone) {
    return world.fail("expected " + name + " evicted, found it " + how_it_is(world, expected.workload));
  }
  if (!expected.rule.empty()) {
    world.compare(name + " evicted by the rule", expected.rule, std::string(name_of(found.evicted_by)));
  }
  if (expected.reservation) check_for_reservation(world, expected);
  check_for_whom(world, expected, "evicted");
}

void check(ScenarioWorld& world, const ExpectMigrated& expected) {
  const Workload& found = world.workload(expected.workload);
  const bool is_moved = found.evicted_by == EvictionRule::kDefragment || found.evicted_by == EvictionRule::kNode;
  if (!has_room(found.phase) || !is_moved) {
    return world.fail("expected " + world.name_of_workload(expected.workload) + " migrated, found it " +
                      how_it_is(world, expected.workload));
  }
  check_for_whom(world, expected, "migrated");
}

void check(ScenarioWorld& world, const ExpectRepairing& expected) {
  const std::string& name = world.name_of_workload(expected.workload);
  const Repairing* const found = world.state().find_repairing(expected.workload);
  if (found == nullptr) {
    return world.fail("expected " + name + " repairing, found it " + how_it_is(world, expected.workload));
  }
  const bool holds_by_the_clock =
      expected.until_on_any_day && expected.until && expected.until->ms % kDayMs == found->until.ms % kDayMs;
  if (expected.until && !holds_by_the_clock) {
    world.compare(name + " repairing until", format_moment(*expected.until), format_moment(found->until));
  }
  if (expected.lost_gpu_s) {
    world.compare(name + " repairing with a loss of", counted(*expected.lost_gpu_s, "GPU-second"),
                  counted(lost_by_own_pods_gpu_s(world.state(), expected.workload, world.now()), "GPU-second"));
  }
  check_words(world, expected.workload, "repairing", expected.has);
}

void check(ScenarioWorld& world, const ExpectShrunk& expected) {
  const std::string& name = world.name_of_workload(expected.workload);
  if (world.workload(expected.workload).phase != Phase::kRunning) {
    return world.fail("expected " + name + " shrunk, found it " + how_it_is(world, expected.workload));
  }
  std::int64_t taken = 0;
  std::int64_t taken_for_others = 0;
  for (const WorkloadId step : world.state().steps_of(expected.workload)) {
    const Workload& found = world.workload(step);
    if (found.phase == Phase::kRunning || found.evicted_by == EvictionRule::kNone) continue;
    const bool is_for_him = !expected.claimant || found.evicted_for == *expected.claimant;
    ++(is_for_him ? taken : taken_for_others);
  }
  const std::string whom = expected.claimant ? " for " + world.name_of_workload(*expected.claimant) : "";
  if (taken == expected.pods) return;
  world.fail("expected " + name + " shrunk" + whom + " by " + counted(expected.pods, "pod") +
             ", found that it was by " + std::to_string(taken) +
             (taken_for_others > 0 ? ", and by " + std::to_string(taken_for_others) + " for others" : ""));
}

void check(ScenarioWorld& world, const ExpectOver& expected) {
  // Who was ended by his limit has not done what he was there for.
  const Workload& found = world.workload(expected.workload);
  const bool has_failed = found.failure != Failure::kNone;
  const bool is_so =
      found.phase == expected.phase && found.evicted_by != EvictionRule::kOverRun && has_failed == expected.failed;
  if (is_so && how_it_is(world, expected.workload).find(expected.has) != std::string::npos) return;
  world.fail("expected " + world.name_of_workload(expected.workload) +
             (expected.failed                   ? " failed"
              : expected.phase == Phase::kEnded ? " done"
                                                : " cancelled") +
             (expected.has.empty() ? "" : ", with " + quote(expected.has)) + ", found it " +
             how_it_is(world, expected.workload));
}

void check_none_evicted(ScenarioWorld& world, const ExpectNoneEvicted& expected, std::size_t since_last) {
  // Who was made smaller goes on.
  std::vector<Evicted> evictions(
      world.evictions().begin() + static_cast<std::ptrdiff_t>(expected.since_start ? 0 : since_last),
      world.evictions().end());
  std::erase_if(evictions, [&](const Evicted& each) { return !world.workload(each.workload).step_of.is_none(); });
  if (evictions.empty()) return;
  const Evicted& eviction = evictions.front();
  world.fail("expected none evicted since " +
             std::string(expected.since_start ? "the start" : "the last expectations") + ", found " +
             counted(std::ssize(evictions), "eviction") + ", the first of " +
             world.name_of_workload(eviction.workload) + " at " + format_moment(eviction.at));
}

// Of one flavor, or of all and the nodes without GPUs together.
std::int64_t sum_of(std::span<const std::int64_t> amounts, const UsageAmount& asked) {
  std::int64_t sum = 0;
  for (std::size_t at = 0; at < amounts.size(); ++at) {
    const Dim dim = Dim::at(at);
    const bool is_of_it = dim.resource() == asked.resource && (!asked.flavor || dim.flavor() == *asked.flavor);
    if (is_of_it && (!dim.is_of_slices() || dim.shape() == asked.shape)) sum += amounts[at];
  }
  return sum;
}

// Profiles that no queue names are counted as parts of GPUs alone.
bool is_counted(std::span<const std::int64_t> amounts, Dim slices) { return slices.index() < amounts.size(); }

AmountsByDim usage(const ScenarioWorld& world, QueueId queue, UsageKind kind) {
  const QuotaLedger& quotas = world.state().quotas();
  if (kind == UsageKind::kBorrowed) return borrowed_by(quotas, queue);
  if (kind == UsageKind::kLent) return lent_by(quotas, queue);
  if (kind == UsageKind::kIdle) return world.state().idle_floor(queue, world.now());
  return {quotas.used(queue).begin(), quotas.used(queue).end()};
}

void check(ScenarioWorld& world, const ExpectUsage& expected) {
  const Wide queues = expected.kind == UsageKind::kLent ? Wide{std::ssize(world.state().queues())} : 1;
  if (!world.afford((1 + std::ssize(world.state().flavors())) * (queues * queues + std::ssize(expected.amounts))))
    return;
  constexpr std::string_view kKinds[] = {"usage of ", "borrowed by ", "lent by ", "idle floor of "};
  const std::string what =
      std::string(kKinds[static_cast<std::size_t>(expected.kind)]) + world.name_of_queue(expected.queue);
  if (expected.kind == UsageKind::kIdle && !world.state().looks_at_idle_floor(expected.queue)) {
    return world.fail("expected something of the " + what + ", found that nobody looks; write idle_after= on its line");
  }
  const AmountsByDim found = usage(world, expected.queue, expected.kind);
  for (const UsageAmount& asked : expected.amounts) {
    if (asked.resource == Resource::kSlice && !is_counted(found, Dim::of_slices(*asked.flavor, asked.shape))) {
      world.fail("expected slices of a profile in the " + what +
                 ", found that nobody counts them; name it in the guarantee or limit of a queue");
      continue;
    }
    const auto text = [&](std::int64_t amount) {
      const bool memory = asked.resource == Resource::kMemory;
      std::string out = asked.flavor ? world.name_of_flavor(*asked.flavor) : "";
      if (asked.resource == Resource::kSlice) {
        const Flavor& flavor = world.state().flavors()[asked.flavor->index()];
        return out + ".mig-" + std::string(name_of_slice(flavor, asked.shape)) + ":" + std::to_string(amount);
      }
      if (asked.resource != Resource::kGpu) out += "." + std::string(name_of(asked.resource));
      return out + (asked.flavor ? ":" : "") + (memory ? format_bytes(amount << 20) : format_milli(amount));
    };
    world.compare(what, text(asked.amount), text(sum_of(found, asked)));
  }
}

void check(ScenarioWorld& world, const ExpectShare& expected) {
  if (!world.afford(1 + std::ssize(world.state().flavors()))) return;
  const Fraction found = share_of(world.state().quotas(), world.state().flavors(), expected.queue);
  if (Fraction(expected.part, expected.whole) == found) return;
  world.fail("expected the share of " + world.name_of_queue(expected.queue) + " to be " +
             std::to_string(expected.part) + "/" + std::to_string(expected.whole) + ", found " + to_text(found));
}

std::string gpu_time_text(Wide gpu_us) {
  const std::int64_t amount = narrow(gpu_us).value_or(INT64_MAX);
  return amount < 0 ? "-" + format_gpu_time(-amount) : format_gpu_time(amount);
}

void check(ScenarioWorld& world, const ExpectBudget& expected) {
  if (!world.afford(1 + Wide{static_cast<std::int64_t>(world.state().running() + world.state().stopping().size())}))
    return;
  const std::string& name = world.name_of_queue(expected.queue);
  if (!world.state().quotas().budgets().has_budget(expected.queue)) {
    return world.fail("expected something of the budget of " + name + ", found that it has none");
  }
  world.bring_state_to_now();
  const BudgetState found = world.state().budget_of(expected.queue);
  const auto compare_time = [&](const char* what, const std::optional<std::int64_t>& asked, Wide amount) {
    if (asked)
      world.compare(std::string(what) + " of the budget of " + name, format_gpu_time(*asked), gpu_time_text(amount));
  };
  compare_time("used", expected.used_gpu_us, found.used_gpu_us);
  compare_time("reserved", expected.reserved_gpu_us, found.reserved_gpu_us);
  compare_time("left", expected.left_gpu_us, found.left_gpu_us);
  if (expected.warned) {
    world.compare("a warning that the budget of " + name + " is nearly gone:", *expected.warned ? "yes" : "no",
                  found.is_nearly_gone() ? "yes" : "no");
  }
}

void check(ScenarioWorld& world, const ExpectCells& expected) {
  const Quota& quota = world.state().queues()[expected.queue.index()].quota;
  if (!world.afford((1 + world.nodes()) * (1 + Wide{std::ssize(quota.cells)}))) return;
  const std::string& name = world.name_of_queue(expected.queue);
  const std::vector<CellsOfQueue> all = cells_of(world.state(), expected.queue);
  for (const ExpectCells::Part& part : expected.parts) {
    std::int64_t found = 0;
    for (const CellsOfQueue& each : all) {
      if (!part.level.empty() && each.cells.level != part.level) continue;
      found += part.what == "in_use" ? each.in_use
               : part.what == "lent" ? each.lent
               : part.what == "free" ? each.free
                                     : each.lacking;
    }
    world.compare((part.level.empty() ? "" : part.level + ".") + part.what + " of the cells of " + name,
                  std::to_string(part.count), std::to_string(found));
  }
}

void check(ScenarioWorld& world, const ExpectFragments& expected) {
  if (!world.afford(world.nodes())) return;
  if (!expected.slice.empty()) {
    const auto has_it = [&](const Flavor& flavor) { return find_slice(flavor, expected.slice).has_value(); };
    if (std::ranges::none_of(world.state().flavors(), has_it)) {
      return world.fail("no GPU here can be cut into " + quote(expected.slice) +
                        "; name a profile of one of the flavors");
    }
    std::int64_t slices = 0;
    for (const Fragments& each : fragments_of(world.state())) {
      for (const Fragments::Slices& of : each.slices) slices += of.profile == expected.slice ? of.count : 0;
    }
    return world.compare("room for " + expected.slice, with_separators(expected.count), with_separators(slices));
  }
  const std::int64_t count = pods_that_fit(world.state(), expected.gpus);
  const std::string what = "whole free GPUs for pods of " + std::to_string(expected.gpus) + ": room for";
  world.compare(what, with_separators(expected.count), with_separators(count));
}

void check(ScenarioWorld& world, const ExpectMig& expected) {
  const std::optional<NodeId> id = world.find_node(expected.node);
  if (!id) return;  // it was refused, which is a failure already
  const std::string device = expected.node + "/" + std::to_string(expected.gpu);
  const State& state = world.state();
  const NodeFree& node = state.ledger().node(*id);
  if (!state.ledger().may_be(*id, Sharing::kMig)) {
    return world.fail("expected slices on " + device + ", found GPUs that are not cut; its node needs mode=mig");
  }
  if (expected.gpu >= node.gpus) {
    return world.fail("expected slices on " + device + ", found GPUs 0 to " + std::to_string(node.gpus - 1) + " there");
  }
  const auto text = [](const std::vector<ExpectMig::Slice>& slices) {
    std::string joined;
    for (const ExpectMig::Slice& slice : slices) {
      joined += (joined.empty() ? "" : ",") + slice.profile + "@" + std::to_string(slice.start);
    }
    return joined.empty() ? "none" : joined;
  };
  const auto gpu = static_cast<std::size_t>(expected.gpu);
  const MigPlaceSet fixed = state.ledger().fixed_slices(*id);
  const GpuCut* const cut = state.ledger().cut_of(*id, gpu);
  const MigPlaceSet taken = state.ledger().layouts(*id)[gpu];
  const MigPlaceSet layout = cut != nullptr ? cut->slices : fixed.empty() ? taken : fixed;
  const std::span<const MigProfile> profiles = hardware_of(state.flavors()[node.flavor])->mig_profiles;
  std::vector<ExpectMig::Slice> found;
  layout.for_each([&](std::size_t place) {
    const MigPlace& at = node.geometry().places()[place];
    found.push_back({at.start, std::string(profiles[at.shape].name)});
  });
  std::ranges::sort(found);
  world.compare("the slices of " + device + ":", text(expected.slices), text(found));
}

DeviceState state_of(const State& state, Device device) {
  if (state.ledger().is_broken(device)) return DeviceState::kQuarantined;
  if (state.being_cut().contains(device)) return DeviceState::kRecutting;
  const bool is_left = !state.ledger().residue(device.node, static_cast<std::size_t>(device.gpu)).empty();
  return is_left || state.is_occupied(device) ? DeviceState::kDirty : DeviceState::kClean;
}

void check(ScenarioWorld& world, const ExpectDevice& expected) {
  const auto device = world.find_device(expected.device);
  if (!device || !world.afford(1 + std::ssize(world.state().pods()))) return;
  const auto text = [](DeviceState state) { return std::string(kDeviceStateNames[static_cast<std::size_t>(state)]); };
  world.compare("device " + expected.device.node + "/" + std::to_string(expected.device.gpu), text(expected.state),
                text(state_of(world.state(), *device)));
  const Repartition* const made = world.find_repartition(*device);
  if (made == nullptr) return;
  if (expected.claimant) {
    world.compare("cut anew for", world.name_of_workload(*expected.claimant), world.name_of_workload(made->claimant));
  }
  if (expected.lost_gpu_s) {
    world.compare("lost by cutting anew", counted(*expected.lost_gpu_s, "GPU-second"),
                  counted(made->lost_gpu_s, "GPU-second"));
  }
}

void check(ScenarioWorld& world, const ExpectReservation& expected) {
  const State& state = world.state();
  const std::string name = "reservation " + world.name_of_reservation(expected.reservation);
  const auto reservation = state.reservations().find(expected.reservation);
  if (expected.over || reservation == state.reservations().end()) {
    const bool is_over = reservation == state.reservations().end();
    if (is_over != expected.over)
      world.fail("expected " + name + (is_over ? ", found that it is over" : " over, found that it is not"));
    return;
  }
  const HeldPlaces* const holding = state.holding_of(expected.reservation);
  const std::int64_t holds = holding == nullptr ? 0 : holding->count();
  if (expected.holds) world.compare(name + " holding", counted(*expected.holds, "GPU"), counted(holds, "GPU"));
  if (expected.missing) {
    world.compare(name + " short by", counted(*expected.missing, "GPU"),
                  counted(reservation->second.gpus - holds, "GPU"));
  }
  if (!expected.on) return;
  std::vector<std::string> on;
  for (const NodeId node : reservation->second.nodes) on.push_back(state.node(node).name);
  for (const GpusOfNode& each : holding == nullptr ? std::vector<GpusOfNode>() : holding->gpus) {
    on.push_back(state.node(each.node).name);
  }
  std::ranges::sort(on);
  world.compare(name + " on", joined(*expected.on), joined(on));
}

void check(ScenarioWorld& world, const ExpectLint& expected) {
  // Every workload is compared with every queue above it and every kind of node.
  const Wide queues = std::ssize(world.state().queues());
  const Wide kinds = queues + std::ssize(world.state().node_types().counts);
  // Of each window every opening is looked at, and all queues and workloads once where it opens or closes in a week.
  const Wide windows = std::ssize(world.places().windows);
  const Wide turns = windows * 4 * (kCalendarAhead.ms / kDayMs) + windows * 14 * (queues + world.sets());
  // And whether nodes could ever run it, each workload by itself.
  const Wide places = Wide{4} * world.nodes() * world.sets();
  if (!world.afford(kinds * (1 + world.sets()) + queues * queues + turns + places)) return;
  const std::string found = refuted(expected, policy_of(world.state(), world.places()));
  if (!found.empty()) world.fail(found);
}

}  // namespace

void check(ScenarioWorld& world, const Expectation& expectation, std::size_t since_last) {
  std::visit(
      [&]<class What>(const What& expected) {
        if constexpr (std::is_same_v<What, ExpectNoneEvicted>) {
          check_none_evicted(world, expected, since_last);
        } else {
          check(world, expected);
        }
      },
      expectation);
}

}  // namespace berth::scenario
