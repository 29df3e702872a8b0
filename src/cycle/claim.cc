#include "cycle/claim.h"

#include <algorithm>
#include <bit>
#include <optional>
#include <span>
#include <tuple>
#include <utility>

#include "cycle/asking.h"
#include "cycle/taking_out.h"
#include "fairness/gates.h"
#include "placement/place.h"
#include "state/room.h"

namespace berth {
namespace {

using Chosen = std::vector<std::size_t>;  // indexes into the victims, ascending: the lowest claim first

class Search {
 public:
  Search(const State& state, Trial& trial, ScoreIndex& index, const Claimant& claimant, std::size_t way,
         std::size_t exact_max)
      : state_(state),
        trial_(trial),
        index_(index),
        claimant_(claimant),
        asking_(state, claimant, way),
        exact_max_(exact_max),
        sets_(asking_.sets()),
        begin_(trial.mark()) {
    note(victims_of(state, claimant));
  }

  std::variant<Claimed, Unclaimed> run() {
    std::optional<Chosen> chosen = choose();
    if (!chosen && has_other_rights_now()) chosen = choose();
    trial_.rollback_to(begin_);
    if (!chosen) return Unclaimed{some_protected_, would_break_floors_};
    Claimed claimed{.start = *fit_without(*chosen), .evictions = {}};
    for (const std::size_t each : *chosen) {
      const Victim& victim = victims_[each];
      claimed.evictions.push_back(
          {victim.workload, claimant_.workload, victim.rule, victim.stop_by, victim.lost_gpu_s});
    }
    return claimed;
  }

 private:
  void note(Victims victims) {
    victims_ = std::move(victims.takeable);
    some_budget_ =
        std::ranges::any_of(victims_, [&](const Victim& each) { return is_spared_by_a_budget(state_, each); });
    some_protected_ = some_protected_ || victims.some_protected || some_budget_;
    minima_.clear();
    for (const Victim& victim : victims_) minima_.push_back(state_.minimum_of(victim.workload));
    some_elastic_ = std::ranges::any_of(minima_, [&](WorkloadId id) { return state_.elastic().contains(id); });
  }

  void take(const Victim& victim) { take_out(state_, trial_, victim.workload, Emptied::kCountsAsScrubbed); }

  std::optional<QuotaRefusal> refusal() const { return asking_.refusal(trial_.quotas()); }
  std::variant<Start, Unfit> place() {
    return one_set_ ? asking_.place(*one_set_, trial_, index_) : asking_.place(trial_, index_);
  }

  // Its places with these gone, which then stay in the trial; none if one of them may not be taken any more by then, or
  // if it does not fit.
  std::optional<Start> fit_without(const Chosen& chosen) {
    trial_.rollback_to(begin_);
    if (floors_in_vain_ >= floors_in_vain_max()) return std::nullopt;
    for (const std::size_t each : chosen) {
      if (goes_with_another(each, chosen)) continue;
      if (!still_takeable(state_, claimant_, victims_[each])) return std::nullopt;
      take(victims_[each]);
    }
    if (refusal() || takes_a_stronger_claim(chosen)) return std::nullopt;
    auto outcome = place();
    Start* const start = std::get_if<Start>(&outcome);
    if (start == nullptr || !asking_.is_as_asked(trial_, *start)) return std::nullopt;
    if (!asking_.leaves_floors_whole(trial_, *start)) {
      would_break_floors_ = true;
      ++floors_in_vain_;
      breaks_floors_on_.clear();
      for (const PodPlacement& each : start->pods) breaks_floors_on_.push_back(each.node);
      return std::nullopt;
    }
    return std::move(*start);
  }

  // Each time the whole fleet is looked at.
  std::int64_t floors_in_vain_max() const {
    const auto looks = static_cast<std::int64_t>(1 + state_.nodes() + state_.pods().size());
    return std::max<std::int64_t>(64, 100'000 / looks);
  }

  QueueId would_be_covered() const {
    return asking_.covered_at(trial_.quotas(), trial_.quotas().end_of(claimant_.terms));
  }

  // Its run limit counts from when the last of them has stopped.
  Time end_after(const Chosen& chosen) const {
    Time start = claimant_.now;
    for (const std::size_t each : chosen) start = std::max(start, victims_[each].stop_by);
    return enforced_end(claimant_.terms, start);
  }

  // Of the floor that these leave another's unit may take what the claimant had counted on, or the floor may fall before its
  // end. He reclaims only as the owner that he is then, and takes nothing that is held more strongly than what he would have:
  // coverage stands before priority (rule 21).
  bool takes_a_stronger_claim(const Chosen& chosen) {
    const QuotaLedger& quotas = trial_.quotas();
    const QueueId at_once = would_be_covered();
    const QueueId then = asking_.covered_at(quotas, end_after(chosen));
    some_protected_ = some_protected_ || then != at_once;
    const std::int32_t own = coverage_of(quotas.tree(), then);
    if (claimant_.terms.guaranteed_only && own == 0) return true;
    return std::any_of(chosen.begin(), chosen.end(), [&](std::size_t each) {
      const Victim& victim = victims_[each];
      return victim.claim.coverage > own || !is_an_owner(victim, then);
    });
  }

  // Rule 13, of those whom he takes by it.
  bool is_an_owner(const Victim& victim, QueueId covered_at) const {
    return victim.rule != EvictionRule::kReclaim ||
           is_covered(trial_.quotas().tree(), covered_at, victim.claimants_side.queue);
  }

  std::optional<Chosen> choose() {
    if (victims_.empty()) return std::nullopt;
    return victims_.size() <= exact_max_ ? cheapest() : by_alternatives();
  }

  // ---- few: every set, the cheapest first --------------------------------------------------------------------------

  struct Cost {
    std::size_t highest_claim = 0;  // as a number: equal claims have the same
    Wide lost_gpu_s = 0;
    int count = 0;
    std::uint32_t set = 0;

    friend auto operator<=>(const Cost& a, const Cost& b) {
      if (const auto order = a.highest_claim <=> b.highest_claim; order != 0) return order;
      if (a.lost_gpu_s != b.lost_gpu_s) {
        return a.lost_gpu_s < b.lost_gpu_s ? std::strong_ordering::less : std::strong_ordering::greater;
      }
      if (const auto order = a.count <=> b.count; order != 0) return order;
      return a.set <=> b.set;
    }
  };

  Cost cost_of(const Chosen& chosen, const std::vector<std::size_t>& claims) const {
    Cost cost;
    for (const std::size_t each : chosen) {
      cost.highest_claim = std::max(cost.highest_claim, claims[each]);
      cost.count += static_cast<int>(stopped_with(each));
    }
    cost.lost_gpu_s = lost_by(chosen);
    return cost;
  }

  // Of an elastic workload all restart, once, whether one of its pods goes or many.
  Wide lost_by(const Chosen& chosen) const {
    Wide lost = 0;
    for (std::size_t at = 0; at < chosen.size(); ++at) {
      const std::size_t each = chosen[at];
      const auto is_of_the_same = [&](std::size_t other) { return minima_[other] == minima_[each]; };
      if (some_elastic_ &&
          std::any_of(chosen.begin(), chosen.begin() + static_cast<std::ptrdiff_t>(at), is_of_the_same))
        continue;
      std::int64_t most = victims_[each].lost_gpu_s;
      for (std::size_t later = at + 1; some_elastic_ && later < chosen.size(); ++later) {
        if (is_of_the_same(chosen[later])) most = std::max(most, victims_[chosen[later]].lost_gpu_s);
      }
      lost += most;
    }
    return lost;
  }

  // With an elastic workload go all of its steps, and so it is never the smaller loss.
  std::int64_t stopped_with(std::size_t victim) const {
    if (!some_elastic_) return 1;
    return 1 + std::ranges::count_if(state_.steps_of(victims_[victim].workload),
                                     [&](WorkloadId step) { return state_.workload(step).phase == Phase::kRunning; });
  }

  // A step, with its workload, which is another victim.
  bool goes_with_another(std::size_t victim, const Chosen& chosen) const {
    return some_elastic_ && std::ranges::any_of(chosen, [&](std::size_t other) {
             return other != victim && victims_[other].workload == minima_[victim];
           });
  }

  // The same set again.
  bool says_it_twice(const Chosen& chosen) const {
    return std::ranges::any_of(chosen, [&](std::size_t each) { return goes_with_another(each, chosen); });
  }

  std::optional<Chosen> cheapest() {
    const std::vector<std::size_t> claims = numbered_claims();
    std::vector<Cost> costs;
    for (std::uint32_t set = 1; set < std::uint32_t{1} << victims_.size(); ++set) {
      const Chosen chosen = members(set);
      if (says_it_twice(chosen)) continue;
      Cost cost = cost_of(chosen, claims);
      cost.set = set;
      costs.push_back(cost);
    }
    // Usually, if it does not fit with everyone gone, no smaller set needs to be looked at.
    const std::uint32_t all = (std::uint32_t{1} << victims_.size()) - 1;
    if (!fewer_may_do() && !fit_without(members(all)) && !would_break_floors_) return std::nullopt;
    std::sort(costs.begin(), costs.end());
    for (const Cost& cost : costs) {
      Chosen chosen = members(cost.set);
      if (fit_without(chosen)) return chosen;
    }
    return std::nullopt;
  }

  // Whether more evictions may spoil what fewer allow: they protect others from rule 14, or by a disruption budget, leave floor
  // that another's unit takes, or have one among them that it may not take, or one whom the claimant is to be near. Where floors
  // are in its way, fewer leave it fewer places to choose from.
  bool fewer_may_do() const {
    const bool towards_shares = std::any_of(
        victims_.begin(), victims_.end(), [](const Victim& victim) { return victim.rule == EvictionRule::kFairShare; });
    const bool looks_around = std::ranges::any_of(sets_, [&](const NumberedPodSet& set) {
      return state_.ledger().neighbourhood().refuses(state_.request(set.request).neighbours);
    });
    return towards_shares || some_budget_ || victims_.back().claim.coverage > 0 || claimant_.terms.guaranteed_only ||
           state_.quotas().tree().keeps_floors() || looks_around;
  }

  static Chosen members(std::uint32_t set) {
    Chosen chosen;
    for (; set != 0; set &= set - 1) chosen.push_back(static_cast<std::size_t>(std::countr_zero(set)));
    return chosen;
  }

  // The victims are sorted by claim.
  std::vector<std::size_t> numbered_claims() const {
    std::vector<std::size_t> numbers(victims_.size(), 0);
    for (std::size_t i = 1; i < victims_.size(); ++i) {
      numbers[i] = numbers[i - 1] + (victims_[i].claim == victims_[i - 1].claim ? 0 : 1);
    }
    return numbers;
  }

  // ---- many: alternative by alternative ----------------------------------------------------------------------------

  // What must go so that one more pod fits on a node.
  struct Alternative {
    Wide lost_gpu_s = 0;
    std::size_t count = 0;
    NodeId node;
    Chosen victims;

    bool is_later_than(const Alternative& other) const {
      if (lost_gpu_s != other.lost_gpu_s) return lost_gpu_s > other.lost_gpu_s;
      if (count != other.count) return count > other.count;
      return node > other.node;
    }
  };

  struct OnNode {
    NodeId node;
    std::size_t victim = 0;

    friend auto operator<=>(const OnNode&, const OnNode&) = default;
  };

  std::optional<Chosen> by_alternatives() {
    on_node_.clear();
    taken_.assign(victims_.size(), false);
    list_by_node();
    if (auto chosen = set_by_set()) return chosen;
    if (const Domains* const domains = domains_to_be_in()) {
      const auto best = cheapest_domain(*domains);
      if (!best) return std::nullopt;
      leave_only(*domains, *best);
    }
    // Where floors are in its way on some nodes, others may do.
    for (int tries = 0; tries < kOtherNodesMax; ++tries) {
      if (!make_room()) return std::nullopt;
      breaks_floors_on_.clear();
      if (auto chosen = without_the_needless()) return chosen;
      if (breaks_floors_on_.empty()) return std::nullopt;
      std::erase_if(on_node_, [&](const OnNode& each) {
        return std::ranges::find(breaks_floors_on_, each.node) != breaks_floors_on_.end();
      });
    }
    return std::nullopt;
  }

  // Of the first set that has to be in one domain.
  const Domains* domains_to_be_in() const {
    for (const NumberedPodSet& set : sets_) {
      if (is_in_one_domain(set)) return &state_.topologies().domains(set.topology);
    }
    return nullptr;
  }
  bool is_in_one_domain(const NumberedPodSet& set) const {
    return state_.topologies()[set.topology].together == Togetherness::kRequired;
  }

  // Of several sets each may have to be in a domain of its own, and the others anywhere: room is made for one after the other, for
  // each beside those before it.
  std::optional<Chosen> set_by_set() {
    if (!asking_.has_sets_apart() || domains_to_be_in() == nullptr) return std::nullopt;
    const std::vector<OnNode> everywhere = on_node_;
    trial_.rollback_to(begin_);
    make_room_in_own_floor();
    bool fits = pass_the_gates();
    for (const NumberedPodSet& set : the_hardest_first()) {
      fits = fits && make_room_for(set, everywhere);
    }
    one_set_.reset();
    on_node_ = everywhere;
    return fits && pass_the_gates() ? without_the_needless() : std::nullopt;
  }

  std::vector<NumberedPodSet> the_hardest_first() const {
    std::vector<NumberedPodSet> sets = sets_;
    const auto hardness = [&](const NumberedPodSet& set) {
      return std::tuple(is_in_one_domain(set), set.count * state_.request(set.request).gpu_milli_total());
    };
    std::ranges::stable_sort(sets, std::ranges::greater(), hardness);
    // A right is to the first flavor that is left open.
    for (NumberedPodSet& set : sets) set.request = set.in_first_flavor;
    return sets;
  }

  // What was taken for it is gone then, and its places are taken in the trial.
  bool make_room_for(const NumberedPodSet& set, const std::vector<OnNode>& everywhere) {
    const bool as_before = one_set_ == set;
    one_set_ = set;
    if (std::holds_alternative<Start>(place())) return true;
    if (!is_in_one_domain(set)) {
      on_node_ = everywhere;
      return take_until_it_fits() && std::holds_alternative<Start>(place());
    }
    const Domains& domains = state_.topologies().domains(set.topology);
    if (!as_before) look_at_domains(domains, everywhere);
    for (std::optional<std::size_t> best; (best = cheapest_of_domains());) {
      on_node_ = in_domain_[*best];
      const bool fits = take_until_it_fits() && std::holds_alternative<Start>(place());
      // What it costs the next of its kind is another.
      cost_of_domain_[*best] = fits ? cost_in(*best) : std::nullopt;
      if (fits) return true;
    }
    return false;
  }

  void look_at_domains(const Domains& domains, const std::vector<OnNode>& everywhere) {
    in_domain_.assign(domains.size(), {});
    for (const OnNode& each : everywhere) {
      const DomainId domain = domains.of(each.node);
      if (!domain.is_none()) in_domain_[domain.index()].push_back(each);
    }
    cost_of_domain_.clear();
    for (std::size_t domain = 0; domain < domains.size(); ++domain) cost_of_domain_.push_back(cost_in(domain));
  }

  std::optional<std::size_t> cheapest_of_domains() const {
    std::optional<std::size_t> best;
    for (std::size_t domain = 0; domain < cost_of_domain_.size(); ++domain) {
      const auto& cost = cost_of_domain_[domain];
      if (cost && (!best || *cost < *cost_of_domain_[*best])) best = domain;
    }
    return best;
  }

  // Of what would go besides; none: nobody who goes there makes room.
  std::optional<Cost> cost_in(std::size_t domain) {
    const Trial::Mark mark = trial_.mark();
    const std::vector<bool> before = taken_;
    on_node_ = in_domain_[domain];
    std::optional<Cost> cost;
    if (take_until_it_fits()) {
      Chosen besides = all_taken();
      std::erase_if(besides, [&](std::size_t each) { return before[each]; });
      cost = cost_of(besides, numbered_claims());
    }
    trial_.rollback_to(mark);
    taken_ = before;
    return cost;
  }

  // By what would go before the needless are put back.
  std::optional<DomainId> cheapest_domain(const Domains& domains) {
    const std::vector<std::size_t> claims = numbered_claims();
    const std::vector<OnNode> everywhere = on_node_;
    std::optional<DomainId> best;
    Cost least;
    for (std::size_t domain = 0; domain < domains.size(); ++domain) {
      leave_only(domains, DomainId(domain));
      if (make_room()) {
        const Cost cost = cost_of(all_taken(), claims);
        if (!best || cost < least) {
          best = DomainId(domain);
          least = cost;
        }
      }
      on_node_ = everywhere;
    }
    return best;
  }

  void leave_only(const Domains& domains, DomainId domain) {
    std::erase_if(on_node_, [&](const OnNode& each) { return domains.of(each.node) != domain; });
  }

  bool make_room() {
    trial_.rollback_to(begin_);
    taken_.assign(victims_.size(), false);
    make_room_in_own_floor();
    // What others keep back of their floors is asked of room that is free, so of more the more have gone.
    return pass_the_gates() && take_until_it_fits() && pass_the_gates();
  }

  // The lowest claims first.
  bool take_until_it_fits() {
    const std::vector<std::size_t> claims = numbered_claims();
    bool fits = try_to_place();
    for (std::size_t end = 0; !fits && end < victims_.size();) {
      const std::size_t claim = claims[end];
      while (end < victims_.size() && claims[end] == claim) ++end;
      fits = free_nodes(end);
    }
    return fits;
  }

  // Whoever becomes an owner only when lower priorities of his own queue have gone begins with those, the lowest first.
  void make_room_in_own_floor() {
    const auto owns_all = [&] {
      const QueueId at = would_be_covered();
      return std::ranges::all_of(victims_, [&](const Victim& victim) { return is_an_owner(victim, at); });
    };
    for (std::size_t each = 0; each < victims_.size() && !owns_all(); ++each) {
      if (victims_[each].rule == EvictionRule::kPreempt && victims_[each].claim.coverage > 0) take_if_allowed(each);
    }
  }

  // When that came to nothing: whom he could have reclaimed once others had gone he may take as a borrower, without them.
  bool has_other_rights_now() {
    trial_.rollback_to(begin_);
    const QueueId at = would_be_covered();
    if (std::ranges::all_of(victims_, [&](const Victim& victim) { return is_an_owner(victim, at); })) return false;
    note(victims_of(state_, claimant_, OwnerOf::kFloorNow));
    return true;
  }

  void list_by_node() {
    for (std::size_t each = 0; each < victims_.size(); ++each) {
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
  std::vector<NodeId> kept_from_claimant(const Pod& pod) const {
    std::vector<NodeId> nodes;
    if (!state_.ledger().some_keep_apart() || pod.gpus.empty()) return nodes;
    for (const NumberedPodSet& set : sets_) {
      const std::vector<NodeId> kept =
          state_.ledger().nodes_kept(state_.request(pod.request), pod.node, state_.request(set.request));
      nodes.insert(nodes.end(), kept.begin(), kept.end());
    }
    return nodes;
  }

  bool take_if_allowed(std::size_t each) {
    if (is_gone(each) || !still_takeable(state_, claimant_, victims_[each])) return false;
    take(victims_[each]);
    taken_[each] = true;
    return true;
  }

  // Taken, or with the workload of which it is a step.
  bool is_gone(std::size_t each) const {
    if (taken_[each] || !some_elastic_ || victims_[each].workload == minima_[each]) return taken_[each];
    for (std::size_t other = 0; other < victims_.size(); ++other) {
      if (taken_[other] && victims_[other].workload == minima_[each]) return true;
    }
    return false;
  }

  Chosen all_taken() const {
    Chosen chosen;
    for (std::size_t each = 0; each < victims_.size(); ++each) {
      if (taken_[each]) chosen.push_back(each);
    }
    return chosen;
  }

  // All of them, or none if one may not be taken any more by then.
  bool take_all(const Chosen& victims) {
    const Trial::Mark mark = trial_.mark();
    for (std::size_t i = 0; i < victims.size(); ++i) {
      if (is_gone(victims[i]) || take_if_allowed(victims[i])) continue;
      trial_.rollback_to(mark);
      while (i > 0) taken_[victims[--i]] = false;
      return false;
    }
    return true;
  }

  // Until no quota refuses it, whoever holds of what is short below the queue that refuses; whoever is inside a floor, where it
  // is short of that.
  bool pass_the_gates() {
    std::optional<QuotaRefusal> before;
    std::size_t next = 0;
    while (const auto refused = refusal()) {
      // Whoever did not help to pass the gate before may help to pass this one.
      const bool same =
          before && before->code == refused->code && before->queue == refused->queue && before->dim == refused->dim;
      if (!same) next = 0;
      before = refused;
      const auto helps = [&](std::size_t each) {
        if (refused->code == ReasonCode::kBudget) return false;
        const bool of_floor = refused->code == ReasonCode::kQuotaFloor || refused->code == ReasonCode::kCalendar;
        if (of_floor) return victims_[each].claim.coverage > 0;
        const UnitId unit = state_.workload(victims_[each].workload).unit;
        if (refused->code == ReasonCode::kUserLimit && trial_.quotas().unit(unit).user != refused->user) return false;
        const AmountList& held = trial_.quotas().held_by(unit);
        const bool holds = refused->dim == kGpusOfAllFlavors
                               ? gpu_milli_of(held) > 0
                               : std::any_of(held.begin(), held.end(),
                                             [&](const Amount& amount) { return amount.dim == refused->dim; });
        return holds && (refused->code == ReasonCode::kLendingLimit || is_below(victims_[each], refused->queue));
      };
      while (next < victims_.size() && !(!is_gone(next) && helps(next) && take_if_allowed(next))) ++next;
      if (next == victims_.size()) return false;
    }
    return true;
  }

  bool is_below(const Victim& victim, QueueId queue) const {
    for (QueueId at = state_.workload(victim.workload).queue; !at.is_none(); at = trial_.quotas().tree().parent(at)) {
      if (at == queue) return true;
    }
    return false;
  }

  bool try_to_place() {
    const Trial::Mark mark = trial_.mark();
    const auto outcome = place();
    trial_.rollback_to(mark);
    if (const Unfit* const unfit = std::get_if<Unfit>(&outcome)) missing_ = unfit->missing;
    return std::holds_alternative<Start>(outcome);
  }

  // How many of its pods a node would take, each pod set by itself.
  std::int64_t room_on(NodeId node) const {
    std::int64_t room = 0;
    for (const NumberedPodSet& set : one_set_ ? std::span(&*one_set_, 1) : std::span(sets_)) {
      room += room_for(trial_.ledger(), node, state_.request(set.in_first_flavor));
    }
    return room;
  }

  // Of each flavor, where all of it is mixed: so many pods have no room yet. Else nothing.
  std::map<FlavorId, std::int64_t> lacking_by_flavor() const {
    std::map<FlavorId, std::int64_t> lacking;
    const Mixture& mixture = asking_.mixture();
    if (!asking_.mixes() || std::ranges::any_of(mixture, &std::vector<PodsOfFlavor>::empty)) return {};
    for (const std::vector<PodsOfFlavor>& flavors : mixture) {
      for (const PodsOfFlavor& each : flavors) lacking[each.flavor] += each.pods;
    }
    for (std::size_t node = 0; node < state_.nodes(); ++node) {
      const auto found = lacking.find(state_.node(NodeId(node)).flavor);
      if (found != lacking.end() && found->second > 0) found->second -= room_on(NodeId(node));
    }
    return lacking;
  }

  // Takes alternatives of the victims before `end`, the cheapest first, until it fits; false when there are no more.
  bool free_nodes(std::size_t end) {
    std::map<FlavorId, std::int64_t> lacking = lacking_by_flavor();
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
      if (!take_all(now->victims)) continue;
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

  std::optional<Alternative> alternative_on(NodeId node, std::size_t end) {
    const auto begin = std::lower_bound(on_node_.begin(), on_node_.end(), OnNode{node, 0});
    const std::int64_t before = room_on(node);
    Alternative made{.node = node, .victims = {}};
    const Trial::Mark mark = trial_.mark();
    bool frees = false;
    for (auto at = begin; !frees && at != on_node_.end() && at->node == node && at->victim < end; ++at) {
      const bool goes_with_another =
          minima_[at->victim] != victims_[at->victim].workload && is_among(minima_[at->victim], made.victims);
      if (goes_with_another || is_gone(at->victim) || !still_takeable(state_, claimant_, victims_[at->victim]))
        continue;
      made.victims.push_back(at->victim);
      made.count += static_cast<std::size_t>(stopped_with(at->victim));
      leave(at->victim, node, made.victims);
      frees = room_on(node) > before;
    }
    trial_.rollback_to(mark);
    made.lost_gpu_s = lost_beside_those_taken(made.victims);
    return frees ? std::optional(std::move(made)) : std::nullopt;
  }

  Wide lost_beside_those_taken(const Chosen& victims) const {
    if (!some_elastic_) return lost_by(victims);
    Chosen all = all_taken();
    const Wide before = lost_by(all);
    all.insert(all.end(), victims.begin(), victims.end());
    return lost_by(all) - before;
  }

  void leave(std::size_t victim, NodeId node, const Chosen& with) {
    for_each_pod_gone_with(victim, with, [&](const Pod& pod) {
      const std::vector<NodeId> kept = kept_from_claimant(pod);
      const bool matters = pod.node == node || std::ranges::find(kept, node) != kept.end();
      if (matters) give_back(state_, trial_, pod, Emptied::kCountsAsScrubbed);
    });
  }

  // Its own, and those of its steps that are there, but for whoever has been taken or goes as one of these.
  template <class Visit>
  void for_each_pod_gone_with(std::size_t victim, const Chosen& with, Visit visit) const {
    for_each_pod(state_, victims_[victim].workload, visit);
    for (const WorkloadId step : state_.steps_of(victims_[victim].workload)) {
      const bool is_there = state_.workload(step).phase == Phase::kRunning;
      if (is_there && !is_among(step, with) && !is_out(state_, trial_, step)) for_each_pod(state_, step, visit);
    }
  }
  bool is_among(WorkloadId id, const Chosen& chosen) const {
    return std::ranges::any_of(chosen, [&](std::size_t each) { return victims_[each].workload == id; });
  }

  // The highest claims are put back first.
  std::optional<Chosen> without_the_needless() {
    Chosen chosen = all_taken();
    if (!fit_without(chosen)) return std::nullopt;
    for (std::size_t at = chosen.size(); at-- > 0;) {
      Chosen fewer = chosen;
      fewer.erase(fewer.begin() + static_cast<std::ptrdiff_t>(at));
      if (fit_without(fewer)) chosen = std::move(fewer);
    }
    return chosen;
  }

  const State& state_;
  Trial& trial_;
  ScoreIndex& index_;
  const Claimant& claimant_;
  Asking asking_;
  std::size_t exact_max_;
  const std::vector<NumberedPodSet>& sets_;
  Trial::Mark begin_;
  std::vector<Victim> victims_;     // by claim
  std::vector<WorkloadId> minima_;  // of each victim: itself, or of a step its workload
  bool some_elastic_ = false;
  bool some_budget_ = false;  // lets some of them go, and not all at a time
  bool some_protected_ = false;
  bool would_break_floors_ = false;
  std::int64_t floors_in_vain_ = 0;
  static constexpr int kOtherNodesMax = 4;
  std::vector<NodeId> breaks_floors_on_;  // where it was placed last and was in the way of floors
  std::vector<OnNode> on_node_;
  std::vector<bool> taken_;
  std::int64_t missing_ = 1;
  // The one that is looked at alone; none: all of them.
  std::optional<NumberedPodSet> one_set_;
  std::vector<std::vector<OnNode>> in_domain_;       // of its level
  std::vector<std::optional<Cost>> cost_of_domain_;  // to it and such as it
};

}  // namespace

std::variant<Claimed, Unclaimed> claim_room(const State& state, Trial& trial, ScoreIndex& index,
                                            const Claimant& claimant, std::size_t way, std::size_t exact_max) {
  return Search(state, trial, index, claimant, way, exact_max).run();
}

}  // namespace berth
