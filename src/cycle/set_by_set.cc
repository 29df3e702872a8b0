#include "cycle/set_by_set.h"

#include <algorithm>
#include <cstddef>
#include <functional>
#include <tuple>
#include <utility>
#include <variant>
#include <vector>

#include "placement/set_orders.h"

namespace berth {
namespace {

using PlacesOnNodes = std::vector<Alternatives::OnNode>;

class SetBySet {
 public:
  SetBySet(Taking& taking, Alternatives& alternatives)
      : taking_(taking),
        alternatives_(alternatives),
        state_(taking.state()),
        sets_(taking.asking().sets()),
        everywhere_(alternatives.places()) {}

  std::optional<Chosen> run() {
    const bool fits = make_room_in_some_order();
    taking_.ask_for_all();
    alternatives_.look_only_at(everywhere_);
    return fits && alternatives_.pass_the_gates() ? alternatives_.without_the_needless() : std::nullopt;
  }

 private:
  using Order = std::vector<std::size_t>;  // of the sets; those that are alike have one number

  bool make_room_in_some_order() {
    std::vector<Order> tried;
    for (Order order = the_hardest_first(); tried.size() < kSetOrdersMax;) {
      const std::size_t served = make_room_in(order);
      if (served == order.size()) return true;
      tried.push_back(order);
      put_first(order, served);
      if (std::ranges::find(tried, order) != tried.end()) return false;
    }
    return false;
  }

  Order the_hardest_first() const {
    Order order;
    for (std::size_t set = 0; set < sets_.size(); ++set) order.push_back(taking_.asking().first_alike(set));
    const auto hardness = [&](std::size_t set) {
      return std::tuple(is_in_one_domain(state_, sets_[set]),
                        sets_[set].count * state_.request(sets_[set].request).gpu_milli_total());
    };
    std::ranges::stable_sort(order, std::ranges::greater(), hardness);
    return order;
  }

  // For so many of them.
  std::size_t make_room_in(const Order& order) {
    taking_.begin_again();
    before_.reset();
    alternatives_.make_room_in_own_floor();
    if (!alternatives_.pass_the_gates()) return 0;
    const auto failed = std::ranges::find_if_not(order, [&](std::size_t set) { return make_room_for(set); });
    return static_cast<std::size_t>(failed - order.begin());
  }

  // What was taken for it is gone then, and its places are taken in the trial.
  bool make_room_for(std::size_t set) {
    const bool as_before = before_ == set;
    before_ = set;
    taking_.ask_for(set);
    if (std::holds_alternative<Start>(taking_.place())) return true;
    if (!is_in_one_domain(state_, sets_[set])) return make_room_at(everywhere_);
    if (!as_before) look_at_domains(state_.topologies().domains(sets_[set].topology));
    for (std::optional<std::size_t> best; (best = cheapest_domain());) {
      const bool fits = make_room_at(in_domain_[*best]);
      // What it costs the next of its kind is another.
      cost_of_domain_[*best] = fits ? cost_in(*best) : std::nullopt;
      if (fits) return true;
    }
    return false;
  }

  bool make_room_at(const PlacesOnNodes& places) {
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
  const std::vector<NumberedPodSet>& sets_;
  PlacesOnNodes everywhere_;
  std::optional<std::size_t> before_;
  std::vector<PlacesOnNodes> in_domain_;                  // of its level
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
