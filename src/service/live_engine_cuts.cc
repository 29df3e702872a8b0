// How a LiveEngine has the GPUs of nodes cut anew that are all cut at once (manifest/node_cut.h). It asks when all have left who were there;
// whoever cuts them answers by a label, and what the node offers has to agree. What was asked, and what came of it, stands in an
// annotation, which a scheduler that is started anew goes on with. A cut that fails, or that nobody answers, is taken back: who had his room
// there waits again, and the node is left as it is for a while, each time in a row for twice as long.
#include <algorithm>
#include <utility>

#include "manifest/timestamp.h"
#include "model/mig_layout.h"
#include "service/live_engine.h"
#include "state/starting.h"

namespace berth {
namespace {

// A cut that has not been answered after so many times as long as it takes as a rule has failed.
constexpr std::int64_t kCutDeadlineTimes = 5;
constexpr Duration kLeftAloneMax{std::int64_t{86'400} * 1'000};

// So long it is left as it is after so many cuts in a row have failed: at first for as long as one that was cut.
Duration left_alone(Duration recut, std::int64_t failures) {
  std::int64_t ms = recut.ms * kRecutsOfRest;
  for (std::int64_t times = 1; times < failures && ms < kLeftAloneMax.ms; ++times) ms *= 2;
  return Duration{std::min(ms, kLeftAloneMax.ms)};
}

}  // namespace

// What it says of itself is what was written here, but for the first time, and where somebody takes a failure away.
void LiveEngine::note_cut(const NodeFacts& node) {
  const auto known = nodes_.find(node.name);
  const bool is_new = known == nodes_.end() || known->second.uid != node.uid;
  if (is_new) {
    cuts_.erase(node.name);
    if (node.cut.stage != CutStage::kNone) cuts_[node.name] = node.cut;
    return;
  }
  const bool is_forgiven = known->second.cut.stage == CutStage::kFailed && node.cut.stage == CutStage::kNone;
  if (is_forgiven && cuts_.erase(node.name) > 0) anew_ = true;
}

const NodeLayout* LiveEngine::layout_asked(const std::string& node) const {
  const auto facts = nodes_.find(node);
  const auto cut = cuts_.find(node);
  if (facts == nodes_.end() || cut == cuts_.end()) return nullptr;
  const auto found = std::ranges::find(facts->second.layouts, cut->second.layout, &NodeLayout::name);
  return found == facts->second.layouts.end() ? nullptr : &*found;
}

// Until when it stays as it is, after all that is known of its last cut.
Time LiveEngine::rests_until(const std::string& node) const {
  const auto found = cuts_.find(node);
  if (found == cuts_.end()) return {};
  const NodeCut& cut = found->second;
  const Duration recut = nodes_.at(node).recut;
  if (cut.stage == CutStage::kDone) return cut.at + Duration{recut.ms * kRecutsOfRest};
  return cut.stage == CutStage::kFailed ? cut.at + left_alone(recut, cut.failures) : Time{};
}

// To a state in which the node is new.
void LiveEngine::tell_cut(const std::string& name) {
  const NodeFacts& facts = nodes_.at(name);
  const auto known = cuts_.find(name);
  if (facts.layouts.empty() || known == cuts_.end()) return;
  const NodeLayout* const asked = layout_asked(name);
  const bool is_coming = known->second.stage == CutStage::kAsked && asked != nullptr;
  const MigPlaceSet now_so = facts.offered.empty() ? facts.fixed_slices : facts.offered;
  const CutFound found{node_ids_.at(name), is_coming ? asked->slices : now_so, is_coming, rests_until(name)};
  if (!state().refusal(found)) session_->apply(found);
}

void LiveEngine::settle_cuts(Time now) {
  for (auto& [name, cut] : cuts_) {
    const auto id = node_ids_.find(name);
    if (cut.stage != CutStage::kAsked || anew_ || !nodes_.contains(name) || id == node_ids_.end()) continue;
    if (state().ledger().is_cut_at_once(id->second)) settle_cut(name, cut, now);
  }
  // Somebody else had it cut, or what was given up was done after all.
  for (const auto& [name, facts] : nodes_) {
    if (!facts.offered.empty() && cut_unknown_.erase(name) > 0) anew_ = true;
    const auto id = node_ids_.find(name);
    if (facts.layouts.empty() || facts.offered.empty() || id == node_ids_.end() || anew_) continue;
    const auto cut = cuts_.find(name);
    if (cut != cuts_.end() && cut->second.stage == CutStage::kAsked) continue;
    if (!state().ledger().is_cut_at_once(id->second) || state().being_cut().contains({id->second, 0})) continue;
    if (state().ledger().cut_of(id->second, 0)->slices == facts.offered) continue;
    const CutFound found{id->second, facts.offered, false, rests_until(name)};
    if (state().refusal(found)) {
      anew_ = true;
      continue;
    }
    for (const WorkloadId run : starting_on(state(), id->second)) give_up_start(run);
    session_->apply(found);
    room_came_free_ = true;
  }
}

// What whoever cuts it says counts of the cut that was asked for last, which the object has to say, too.
void LiveEngine::settle_cut(const std::string& name, NodeCut& cut, Time now) {
  const NodeFacts& facts = nodes_.at(name);
  const NodeLayout* const asked = layout_asked(name);
  const bool is_of_it = facts.cut == cut;
  const Duration deadline{facts.recut.ms * kCutDeadlineTimes};
  if (asked == nullptr) return fail_cut(name, cut, "its layouts do not have " + cut.layout + " any more", now);
  if (is_of_it && facts.cut_state == kCutSuccess && facts.offered == asked->slices) return end_cut(name, cut, now);
  if (is_of_it && facts.cut_state == kCutFailed) {
    return fail_cut(name, cut, "label " + std::string(kMigStateLabel) + " says " + std::string(kCutFailed), now);
  }
  if (now < cut.at + deadline) return;
  const GpuHardware* const hardware = hardware_of({.name = {}, .model = facts.gpu_model});
  const std::string offers = hardware == nullptr || facts.offered.empty()
                                 ? "no such slices"
                                 : layout_text(*hardware, facts.offered) + " of each GPU";
  fail_cut(name, cut,
           "it was not done within " + format_duration_ms(deadline.ms) + ": label " + std::string(kMigStateLabel) +
               " says " + (facts.cut_state.empty() ? "nothing" : facts.cut_state) + ", and the node offers " + offers,
           now);
}

// One that is closed is cut when it is open again.
void LiveEngine::end_cut(const std::string& name, NodeCut& cut, Time now) {
  const NodeId id = node_ids_.at(name);
  for (std::int32_t gpu = 0; gpu < nodes_.at(name).gpus; ++gpu) {
    const Event done = SlicesRecut{id, gpu};
    if (!state().refusal(done)) session_->apply(done);
  }
  if (state().being_cut().contains({id, 0})) return;
  cut = {.stage = CutStage::kDone, .layout = cut.layout, .at = now};
  tell_of_cut(name, "Recut", "its GPUs have been cut into " + cut.layout);
}

void LiveEngine::fail_cut(const std::string& name, NodeCut& cut, const std::string& why, Time now) {
  const NodeId id = node_ids_.at(name);
  const NodeFacts& facts = nodes_.at(name);
  cut = {.stage = CutStage::kFailed, .layout = cut.layout, .at = now, .failures = cut.failures + 1, .why = why};
  const Time until = rests_until(name);
  for (const WorkloadId run : starting_on(state(), id)) give_up_start(run);
  const bool is_known = !facts.offered.empty();
  const CutFound found{id, is_known ? facts.offered : state().ledger().cut_of(id, 0)->slices, false, until};
  if (anew_ || state().refusal(found)) {
    anew_ = true;
  } else {
    session_->apply(found);
  }
  // What it is cut into now nobody knows: it takes nobody until it says so.
  const Event closed = NodeDrained{id};
  if (!is_known && cut_unknown_.insert(name).second && !anew_ && !state().refusal(closed)) session_->apply(closed);
  room_came_free_ = true;
  tell_of_cut(name, "RecutFailed",
              "its GPUs could not be cut into " + cut.layout + " (" + why + "); they are left as they are until " +
                  format_timestamp(until) + "; look at what cuts them, and take the annotation " +
                  std::string(kCutAnnotation) + " away to have it tried before");
}

// Who waits for room, or has his there, waits for something else from now on.
void LiveEngine::tell_of_cut(const std::string& name, std::string reason, std::string text) {
  cut_news_.push_back({name, to_text(cuts_.at(name)), std::move(reason), std::move(text)});
  for (const auto& [workload, group] : pending_groups_) untold_.insert(group);
  for (const auto& [id, run] : runs_) {
    const std::vector<std::string>& uids = run.moving ? run.moving->heirs : run.uids;
    if (run.starting && !uids.empty()) untold_.insert(members_.at(uids.front()).group);
  }
}

// When all have left.
void LiveEngine::ask_for_cuts(Time now) {
  for (const Device& device : state().to_recut()) {
    const std::string& name = state().node(device.node).name;
    const auto facts = nodes_.find(name);
    if (device.gpu != 0 || facts == nodes_.end() || anew_) continue;
    NodeCut& cut = cuts_[name];
    if (cut.stage == CutStage::kAsked) continue;
    const MigPlaceSet slices = state().ledger().cut_of(device.node, 0)->slices;
    const auto layout = std::ranges::find(facts->second.layouts, slices, &NodeLayout::slices);
    if (layout == facts->second.layouts.end()) {
      anew_ = true;
      continue;
    }
    const std::int64_t failures = cut.stage == CutStage::kFailed ? cut.failures : 0;
    cut = {.stage = CutStage::kAsked, .layout = layout->name, .at = now, .failures = failures};
    tell_of_cut(name, "Recutting", "its GPUs are to be cut into " + layout->name);
  }
}

std::optional<Time> LiveEngine::next_cut_moment(Time now) const {
  std::optional<Time> next;
  for (const auto& [name, cut] : cuts_) {
    const auto facts = nodes_.find(name);
    if (cut.stage != CutStage::kAsked || facts == nodes_.end()) continue;
    const Time by = cut.at + Duration{facts->second.recut.ms * kCutDeadlineTimes};
    if (by > now && (!next || by < *next)) next = by;
  }
  return next;
}

// "; n1 could not be cut into all-1g.10gb (why), and is tried again after 12:00"
std::string LiveEngine::of_failed_cuts(Time now) const {
  std::string text;
  for (const auto& [name, cut] : cuts_) {
    if (cut.stage != CutStage::kFailed || !node_ids_.contains(name) || rests_until(name) <= now) continue;
    if (!text.empty()) return text + ", nor could others";
    text = "; " + name + " could not be cut into " + cut.layout + " (" + cut.why + "), and is tried again after " +
           format_timestamp(rests_until(name));
  }
  return text;
}

}  // namespace berth
