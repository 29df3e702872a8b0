#include "cycle/claim.h"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <optional>
#include <vector>

#include "cycle/alternatives.h"
#include "cycle/set_by_set.h"
#include "cycle/taking.h"

namespace berth {
namespace {

class ClaimSearch {
 public:
  ClaimSearch(const State& state, Trial& trial, ScoreIndex& index, const Claimant& claimant, std::size_t way,
              std::size_t exact_max)
      : state_(state), claimant_(claimant), taking_(state, trial, index, claimant, way), exact_max_(exact_max) {}

  std::variant<Claimed, Unclaimed> run() {
    std::optional<Chosen> chosen = choose();
    while (!chosen && taking_.have_other_rights_now()) chosen = choose();
    taking_.begin_again();
    if (!chosen) return Unclaimed{taking_.some_protected(), taking_.would_break_floors()};
    taking_.look_anew();  // as often as it takes to find what was found
    Claimed claimed{.start = *taking_.fit_without(*chosen), .evictions = {}};
    for (const std::size_t each : *chosen) {
      const Victim& victim = taking_.victim(each);
      claimed.evictions.push_back(
          {victim.workload, claimant_.workload, victim.rule, victim.stop_by, victim.lost_gpu_s});
    }
    return claimed;
  }

 private:
  std::optional<Chosen> choose() {
    const std::size_t count = taking_.victims().size();
    if (count == 0) return std::nullopt;
    return count <= exact_max_ ? cheapest() : by_alternatives();
  }

  // ---- few: every set, the cheapest first --------------------------------------------------------------------------

  std::optional<Chosen> cheapest() {
    const std::uint32_t sets = std::uint32_t{1} << taking_.victims().size();
    std::vector<ClaimCost> costs;
    for (std::uint32_t set = 1; set < sets; ++set) {
      const Chosen chosen = members(set);
      if (taking_.says_it_twice(chosen)) continue;
      ClaimCost cost = taking_.cost_of(chosen);
      cost.set = set;
      costs.push_back(cost);
    }
    // Usually, if it does not fit with everyone gone, no smaller set needs to be looked at.
    if (!fewer_may_do() && !taking_.fit_without(members(sets - 1)) && !taking_.would_break_floors())
      return std::nullopt;
    std::sort(costs.begin(), costs.end());
    for (const ClaimCost& cost : costs) {
      Chosen chosen = members(cost.set);
      if (taking_.fit_without(chosen)) return chosen;
    }
    return std::nullopt;
  }

  // Whether more evictions may spoil what fewer allow: they protect others from rule 14, or by a disruption budget, leave floor
  // that another's unit takes, or have one among them that it may not take, or one whom the claimant is to be near. Where floors
  // are in its way, fewer leave it fewer places to choose from; so where it may be in several flavors that quotas tell apart.
  bool fewer_may_do() const {
    const std::vector<Victim>& victims = taking_.victims();
    const bool towards_shares =
        std::ranges::any_of(victims, [](const Victim& victim) { return victim.rule == EvictionRule::kFairShare; });
    const bool looks_around = std::ranges::any_of(taking_.asking().sets(), [&](const NumberedPodSet& set) {
      return state_.ledger().neighbourhood().refuses(state_.request(set.request).neighbours);
    });
    return towards_shares || taking_.some_budget() || victims.back().claim.coverage > 0 ||
           claimant_.terms.guaranteed_only || state_.quotas().tree().keeps_floors() || looks_around ||
           (taking_.asking().mixes_freely() && tells_flavors_apart(state_.quotas().tree(), claimant_.queue));
  }

  static Chosen members(std::uint32_t set) {
    Chosen chosen;
    for (; set != 0; set &= set - 1) chosen.push_back(static_cast<std::size_t>(std::countr_zero(set)));
    return chosen;
  }

  // ---- many: alternative by alternative ----------------------------------------------------------------------------

  std::optional<Chosen> by_alternatives() {
    taking_.begin_again();
    Alternatives alternatives(taking_);
    if (auto chosen = set_by_set(taking_, alternatives)) return chosen;
    if (const Domains* const domains = domains_to_be_in(state_, taking_.asking())) {
      const auto best = cheapest_domain(alternatives, *domains);
      if (!best) return std::nullopt;
      leave_only(alternatives, *domains, *best);
    }
    // Where floors are in its way on some nodes, others may do.
    for (int tries = 0; tries < kOtherNodesMax; ++tries) {
      if (!alternatives.make_room()) return std::nullopt;
      taking_.forget_broken_floors();
      if (auto chosen = alternatives.without_the_needless()) return chosen;
      const std::vector<NodeId>& broken_on = taking_.breaks_floors_on();
      if (broken_on.empty()) return std::nullopt;
      leave_only(alternatives, [&](NodeId node) { return std::ranges::find(broken_on, node) == broken_on.end(); });
    }
    return std::nullopt;
  }

  // By what would go before the needless are put back.
  std::optional<DomainId> cheapest_domain(Alternatives& alternatives, const Domains& domains) {
    const std::vector<Alternatives::OnNode> everywhere = alternatives.places();
    std::optional<DomainId> best;
    ClaimCost least;
    for (std::size_t domain = 0; domain < domains.size(); ++domain) {
      leave_only(alternatives, domains, DomainId(domain));
      if (alternatives.make_room()) {
        const ClaimCost cost = taking_.cost_of(taking_.all_taken());
        if (!best || cost < least) {
          best = DomainId(domain);
          least = cost;
        }
      }
      alternatives.look_only_at(everywhere);
    }
    return best;
  }

  static void leave_only(Alternatives& alternatives, const Domains& domains, DomainId domain) {
    leave_only(alternatives, [&](NodeId node) { return domains.of(node) == domain; });
  }
  template <class IsLeft>
  static void leave_only(Alternatives& alternatives, IsLeft is_left) {
    std::vector<Alternatives::OnNode> places = alternatives.places();
    std::erase_if(places, [&](const Alternatives::OnNode& each) { return !is_left(each.node); });
    alternatives.look_only_at(std::move(places));
  }

  const State& state_;
  const Claimant& claimant_;
  Taking taking_;
  std::size_t exact_max_;
  static constexpr int kOtherNodesMax = 4;
};

}  // namespace

std::variant<Claimed, Unclaimed> claim_room(const State& state, Trial& trial, ScoreIndex& index,
                                            const Claimant& claimant, std::size_t way, std::size_t exact_max) {
  return ClaimSearch(state, trial, index, claimant, way, exact_max).run();
}

}  // namespace berth
