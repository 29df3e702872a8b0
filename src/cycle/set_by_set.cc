#include "cycle/set_by_set.h"

#include <algorithm>
#include <cstddef>
#include <functional>
#include <tuple>
#include <utility>
#include <variant>
#include <vector>

namespace berth {
namespace {

using Places = std::vector<Alternatives::OnNode>;

class SetBySet {
 public:
  SetBySet(Taking& taking, Alternatives& alternatives)
      : taking_(taking), alternatives_(alternatives), state_(taking.state()), everywhere_(alternatives.places()) {}

  std::optional<Chosen> run() {
    taking_.begin_again();
    alternatives_.make_room_in_own_floor();
    const bool fits =
        alternatives_.pass_the_gates() &&
        std::ranges::all_of(the_hardest_first(), [&](const NumberedPodSet& set) { return make_room_for(set); });
    taking_.ask_for_all();
    alternatives_.look_only_at(everywhere_);
    return fits && alternatives_.pass_the_gates() ? alternatives_.without_the_needless() : std::nullopt;
  }

 private:
  std::vector<NumberedPodSet> the_hardest_first() const {
    std::vector<NumberedPodSet> sets = taking_.asking().sets();
    const auto hardness = [&](const NumberedPodSet& set) {
      return std::tuple(is_in_one_domain(state_, set), set.count * state_.request(set.request).gpu_milli_total());
    };
    std::ranges::stable_sort(sets, std::ranges::greater(), hardness);
    // A right is to the first flavor that is left open.
    for (NumberedPodSet& set : sets) set.request = set.in_first_flavor;
    return sets;
  }

  // What was taken for it is gone then, and its places are taken in the trial.
  bool make_room_for(const NumberedPodSet& set) {
    const bool as_before = before_ == set;
    before_ = set;
    taking_.ask_for(set);
    if (std::holds_alternative<Start>(taking_.place())) return true;
    if (!is_in_one_domain(state_, set)) return make_room_at(everywhere_);
    if (!as_before) look_at_domains(state_.topologies().domains(set.topology));
    for (std::optional<std::size_t> best; (best = cheapest_domain());) {
      const bool fits = make_room_at(in_domain_[*best]);
      // What it costs the next of its kind is another.
      cost_of_domain_[*best] = fits ? cost_in(*best) : std::nullopt;
      if (fits) return true;
    }
    return false;
  }

  bool make_room_at(const Places& places) {
    alternatives_.look_only_at(places);
    return alternatives_.take_until_it_fits() && std::holds_alternative<Start>(taking_.place());
  }

  void look_at_domains(const Domains& domains) {
    in_domain_.assign(domains.size(), {});
    for (const Alternatives::OnNode& each : everywhere_) {
      const DomainId domain = domains.of(each.node);
      if (!domain.is_none()) in_domain_[domain.index()].push_back(each);
    }
    cost_of_domain_.clear();
    for (std::size_t domain = 0; domain < domains.size(); ++domain) cost_of_domain_.push_back(cost_in(domain));
  }

  std::optional<std::size_t> cheapest_domain() const {
    std::optional<std::size_t> best;
    for (std::size_t domain = 0; domain < cost_of_domain_.size(); ++domain) {
      const auto& cost = cost_of_domain_[domain];
      if (cost && (!best || *cost < *cost_of_domain_[*best])) best = domain;
    }
    return best;
  }

  // Of what would go besides; none: nobody who goes there makes room.
  std::optional<ClaimCost> cost_in(std::size_t domain) {
    Taking::Taken before = taking_.mark();
    alternatives_.look_only_at(in_domain_[domain]);
    std::optional<ClaimCost> cost;
    if (alternatives_.take_until_it_fits()) {
      Chosen besides = taking_.all_taken();
      std::erase_if(besides, [&](std::size_t each) { return taking_.was_taken(before, each); });
      cost = taking_.cost_of(besides);
    }
    taking_.rollback_to(std::move(before));
    return cost;
  }

  Taking& taking_;
  Alternatives& alternatives_;
  const State& state_;
  Places everywhere_;
  std::optional<NumberedPodSet> before_;
  std::vector<Places> in_domain_;                         // of its level
  std::vector<std::optional<ClaimCost>> cost_of_domain_;  // to it and such as it
};

}  // namespace

bool is_in_one_domain(const State& state, const NumberedPodSet& set) {
  return state.topologies()[set.topology].together == Togetherness::kRequired;
}

const Domains* domains_to_be_in(const State& state, const Asking& asking) {
  for (const NumberedPodSet& set : asking.sets()) {
    if (is_in_one_domain(state, set)) return &state.topologies().domains(set.topology);
  }
  return nullptr;
}

std::optional<Chosen> set_by_set(Taking& taking, Alternatives& alternatives) {
  const Asking& asking = taking.asking();
  if (!asking.has_sets_apart() || domains_to_be_in(taking.state(), asking) == nullptr) return std::nullopt;
  return SetBySet(taking, alternatives).run();
}

}  // namespace berth
