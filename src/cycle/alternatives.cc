#include "cycle/alternatives.h"

#include <algorithm>
#include <variant>

#include "cycle/taking_out.h"
#include "placement/place.h"
#include "state/room.h"

namespace berth {

Alternatives::Alternatives(Taking& taking) : taking_(taking), state_(taking.state()) { list_by_node(); }

void Alternatives::list_by_node() {
  for (std::size_t each = 0; each < taking_.victims().size(); ++each) {
    for_each_pod_gone_with(each, {}, [&](const Pod& pod) {
      on_node_.push_back({pod.node, each});
      for (const NodeId node : kept_from_claimant(pod)) on_node_.push_back({node, each});
    });
  }
  std::sort(on_node_.begin(), on_node_.end());
  on_node_.erase(std::unique(on_node_.begin(), on_node_.end()), on_node_.end());
}

// Where somebody is to be alone, the claimant or the victim, or keeps strangers away, it is in the way of the other in the whole
// domain.
std::vector<NodeId> Alternatives::kept_from_claimant(const Pod& pod) const {
  std::vector<NodeId> nodes;
  if (!state_.ledger().some_keep_apart() || pod.gpus.empty()) return nodes;
  for (const NumberedPodSet& set : taking_.asking().sets()) {
    const std::vector<NodeId> kept =
        state_.ledger().nodes_kept(state_.request(pod.request), pod.node, state_.request(set.request));
    nodes.insert(nodes.end(), kept.begin(), kept.end());
  }
  return nodes;
}

bool Alternatives::make_room() {
  taking_.begin_again();
  make_room_in_own_floor();
  // What others keep back of their floors is asked of room that is free, so of more the more have gone.
  return pass_the_gates() && take_until_it_fits() && pass_the_gates();
}

bool Alternatives::take_until_it_fits() {
  bool fits = try_to_place();
  for (std::size_t end = 0; !fits && end < taking_.victims().size();) {
    const std::size_t claim = taking_.claim(end);
    while (end < taking_.victims().size() && taking_.claim(end) == claim) ++end;
    fits = free_nodes(end);
  }
  return fits;
}

void Alternatives::make_room_in_own_floor() {
  for (std::size_t each = 0; each < taking_.victims().size() && !taking_.owns_all(); ++each) {
    const Victim& victim = taking_.victim(each);
    if (victim.rule == EvictionRule::kPreempt && victim.claim.coverage > 0) taking_.take_if_allowed(each);
  }
}

bool Alternatives::pass_the_gates() {
  std::optional<QuotaRefusal> before;
  std::size_t next = 0;
  const std::size_t victims = taking_.victims().size();
  while (const auto refused = taking_.refusal()) {
    // Whoever did not help to pass the gate before may help to pass this one.
    const bool same =
        before && before->code == refused->code && before->queue == refused->queue && before->dim == refused->dim;
    if (!same) next = 0;
    before = refused;
    while (next < victims && !(!taking_.is_gone(next) && helps_with(*refused, next) && taking_.take_if_allowed(next)))
      ++next;
    if (next == victims) return false;
  }
  return true;
}

bool Alternatives::helps_with(const QuotaRefusal& refused, std::size_t each) const {
  if (refused.code == ReasonCode::kBudget) return false;
  const Victim& victim = taking_.victim(each);
  const bool of_floor = refused.code == ReasonCode::kQuotaFloor || refused.code == ReasonCode::kCalendar;
  if (of_floor) return victim.claim.coverage > 0;
  const QuotaLedger& quotas = taking_.trial().quotas();
  const UnitId unit = state_.workload(victim.workload).unit;
  if (refused.code == ReasonCode::kUserLimit && quotas.unit(unit).user != refused.user) return false;
  const AmountList& held = quotas.held_by(unit);
  const bool holds =
      refused.dim == kGpusOfAllFlavors
          ? gpu_milli_of(held) > 0
          : std::any_of(held.begin(), held.end(), [&](const Amount& amount) { return amount.dim == refused.dim; });
  return holds && (refused.code == ReasonCode::kLendingLimit || is_below(victim, refused.queue));
}

bool Alternatives::is_below(const Victim& victim, QueueId queue) const {
  const QuotaTree& tree = taking_.trial().quotas().tree();
  for (QueueId at = state_.workload(victim.workload).queue; !at.is_none(); at = tree.parent(at)) {
    if (at == queue) return true;
  }
  return false;
}

bool Alternatives::try_to_place() {
  const Trial::Mark mark = taking_.trial().mark();
  const auto outcome = taking_.place();
  taking_.trial().rollback_to(mark);
  if (const Unfit* const unfit = std::get_if<Unfit>(&outcome)) missing_ = unfit->missing;
  return std::holds_alternative<Start>(outcome);
}

// How many of his pods a node would take, each pod set by itself.
std::int64_t Alternatives::room_on(NodeId node) const {
  std::int64_t room = 0;
  for (const NumberedPodSet& set : taking_.asked_sets()) {
    room += room_for(taking_.trial().ledger(), node, state_.request(set.in_first_flavor));
  }
  return room;
}

// Of each flavor, where all of it is mixed: so many pods have no room yet, or at most so many more might be of it. Else nothing.
std::map<FlavorId, std::int64_t> Alternatives::lacking_by_flavor() const {
  std::map<FlavorId, std::int64_t> lacking;
  const Asking& asking = taking_.asking();
  const Mixture& mixture = asking.mixture();
  if (asking.mixes_freely()) {
    const std::vector<std::int64_t> most = asking.most_by_flavor();
    for (std::size_t i = 0; i < most.size(); ++i) lacking[FlavorId(i)] = most[i];
  } else if (asking.mixes() && std::ranges::none_of(mixture, &std::vector<PodsOfFlavor>::empty)) {
    for (const std::vector<PodsOfFlavor>& flavors : mixture) {
      for (const PodsOfFlavor& each : flavors) lacking[each.flavor] += each.pods;
    }
  }
  if (lacking.empty()) return {};
  for (std::size_t node = 0; node < state_.nodes(); ++node) {
    const auto found = lacking.find(state_.node(NodeId(node)).flavor);
    if (found != lacking.end() && found->second > 0) found->second -= room_on(NodeId(node));
  }
  return lacking;
}

// Takes alternatives of the victims before `end`, the cheapest first, until he fits; false when there are no more.
bool Alternatives::free_nodes(std::size_t end) {
  std::map<FlavorId, std::int64_t> lacking = lacking_by_flavor();
  const bool bounded = taking_.asking().mixes_freely() && !lacking.empty();
  // What has room in number need not have it beside one another.
  return free_nodes(end, std::move(lacking)) || (bounded && free_nodes(end, {}));
}

// Only of flavors that lack something; nothing: of all.
bool Alternatives::free_nodes(std::size_t end, std::map<FlavorId, std::int64_t> lacking) {
  const auto is_wanted = [&](NodeId node) { return lacking.empty() || lacking[state_.node(node).flavor] > 0; };
  constexpr auto kLater = [](const Alternative& a, const Alternative& b) { return a.is_later_than(b); };
  std::vector<Alternative> heap;
  for (std::size_t i = 0; i < on_node_.size(); ++i) {
    if (i > 0 && on_node_[i].node == on_node_[i - 1].node) continue;
    if (!is_wanted(on_node_[i].node)) continue;
    if (auto alternative = alternative_on(on_node_[i].node, end)) heap.push_back(std::move(*alternative));
  }
  std::make_heap(heap.begin(), heap.end(), kLater);
  std::int64_t freed = 0;
  while (!heap.empty()) {
    std::pop_heap(heap.begin(), heap.end(), kLater);
    Alternative first = std::move(heap.back());
    heap.pop_back();
    if (!is_wanted(first.node)) continue;
    // Since it was looked at, some of it may have gone for the sake of another node.
    auto now = alternative_on(first.node, end);
    if (!now) continue;
    if (now->is_later_than(first) || first.is_later_than(*now)) {
      heap.push_back(std::move(*now));
      std::push_heap(heap.begin(), heap.end(), kLater);
      continue;
    }
    const std::int64_t before = room_on(first.node);
    // Not again with claims as low as these: a right that has gone does not come back with further evictions.
    if (!taking_.take_all(now->victims)) continue;
    const std::int64_t gained = room_on(first.node) - before;
    freed += gained;
    if (!lacking.empty()) lacking[state_.node(first.node).flavor] -= gained;
    if (auto next = alternative_on(first.node, end)) {
      heap.push_back(std::move(*next));
      std::push_heap(heap.begin(), heap.end(), kLater);
    }
    if (freed < missing_) continue;
    if (try_to_place()) return true;
    freed = 0;
  }
  return try_to_place();
}

std::optional<Alternatives::Alternative> Alternatives::alternative_on(NodeId node, std::size_t end) {
  const auto begin = std::lower_bound(on_node_.begin(), on_node_.end(), OnNode{node, 0});
  const std::int64_t before = room_on(node);
  Alternative made{.node = node, .victims = {}};
  const Trial::Mark mark = taking_.trial().mark();
  bool frees = false;
  for (auto at = begin; !frees && at != on_node_.end() && at->node == node && at->victim < end; ++at) {
    if (taking_.is_step_of(made.victims, at->victim) || !taking_.may_be_taken(at->victim)) continue;
    made.victims.push_back(at->victim);
    made.count += static_cast<std::size_t>(taking_.stopped_with(at->victim));
    leave(at->victim, node, made.victims);
    frees = room_on(node) > before;
  }
  taking_.trial().rollback_to(mark);
  made.lost_gpu_s = taking_.lost_besides(made.victims);
  return frees ? std::optional(std::move(made)) : std::nullopt;
}

void Alternatives::leave(std::size_t victim, NodeId node, const Chosen& with) {
  for_each_pod_gone_with(victim, with, [&](const Pod& pod) {
    const std::vector<NodeId> kept = kept_from_claimant(pod);
    const bool matters = pod.node == node || std::ranges::find(kept, node) != kept.end();
    if (matters) give_back(state_, taking_.trial(), pod, Emptied::kCountsAsScrubbed);
  });
}

// Its own, and those of its steps that are there, but for whoever has been taken or goes as one of these.
template <class Visit>
void Alternatives::for_each_pod_gone_with(std::size_t victim, const Chosen& with, Visit visit) const {
  const WorkloadId workload = taking_.victim(victim).workload;
  for_each_pod(state_, workload, visit);
  for (const WorkloadId step : state_.steps_of(workload)) {
    const bool is_there = state_.workload(step).phase == Phase::kRunning;
    if (is_there && !taking_.is_among(step, with) && !is_out(state_, taking_.trial(), step))
      for_each_pod(state_, step, visit);
  }
}

std::optional<Chosen> Alternatives::without_the_needless() {
  const Chosen chosen = taking_.all_taken();
  if (!taking_.fit_without(chosen)) return std::nullopt;
  return taking_.needed_of(chosen);
}

}  // namespace berth
