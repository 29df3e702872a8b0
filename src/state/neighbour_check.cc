#include "state/neighbour_check.h"

#include <algorithm>
#include <limits>
#include <map>

namespace berth {
namespace {

// Of a node that is in no domain: behind all others.
constexpr std::int64_t kInNoDomain = std::numeric_limits<std::int32_t>::max();

}  // namespace

NeighbourCheck::NeighbourCheck(const Ledger& ledger, const PodRequest& request, NeighbourRefusal heeded)
    : ledger_(ledger), request_(request), around_(ledger.neighbourhood()), heeded_(heeded) {
  if (!around_.matters_to(request.neighbours)) return;
  kind_ = &around_.kind(request.neighbours);
  const bool none_is_there =
      std::ranges::all_of(kind_->near, [&](auto counter) { return around_.anywhere(counter) == 0; });
  founds_ = !kind_->near.empty() && kind_->founds && none_is_there;
  const std::vector<PodSpread>& asked = around_[request.neighbours].spreads;
  for (std::size_t i = 0; i < asked.size(); ++i) spreads_.push_back(spread_of(asked[i], kind_->spreads[i]));
}

// Of the constraints that are required.
bool NeighbourCheck::has_all_levels(NodeId node) const {
  const std::vector<PodSpread>& asked = around_[request_.neighbours].spreads;
  for (std::size_t i = 0; i < asked.size(); ++i) {
    if (asked[i].required && around_.domains(kind_->spreads[i]).of(node).is_none()) return false;
  }
  return true;
}

NeighbourCheck::Spread NeighbourCheck::spread_of(const PodSpread& asked, Neighbourhood::CounterId counter) const {
  const Domains& domains = around_.domains(counter);
  const NodeMatches& matches = ledger_.matches();
  const auto counts = [&](NodeId node) {
    return has_all_levels(node) && (!asked.heeds_selection || matches.would_have(request_.constraints, node)) &&
           (!asked.heeds_taints || matches.tolerates(request_.constraints, node));
  };
  Spread spread{.in_domain = std::vector<std::int64_t>(domains.size(), 0)};
  around_.for_each_counted(counter, [&](NodeId node, std::int32_t pods) {
    const DomainId domain = domains.of(node);
    if (!domain.is_none() && counts(node)) spread.in_domain[domain.index()] += pods;
  });
  // One whose nodes are all closed takes nobody: it does not hold up the others.
  std::int64_t open = 0;
  std::int64_t least = std::numeric_limits<std::int64_t>::max();
  for (std::size_t domain = 0; domain < domains.size(); ++domain) {
    const bool takes_pods = std::ranges::any_of(
        domains.nodes(DomainId(domain)), [&](NodeId node) { return ledger_.node(node).is_up() && counts(node); });
    if (!takes_pods) continue;
    ++open;
    least = std::min(least, spread.in_domain[domain]);
  }
  spread.least = open > 0 && open >= asked.domains_min ? least : 0;
  return spread;
}

bool NeighbourCheck::is_near(NodeId node) const {
  const auto domain = [&](auto counter) { return around_.domains(counter).of(node); };
  const bool in_all = std::ranges::none_of(kind_->near, [&](auto counter) { return domain(counter).is_none(); });
  if (!in_all || founds_) return in_all;
  return std::ranges::all_of(kind_->near, [&](auto counter) { return around_.there(counter, domain(counter)) > 0; });
}

bool NeighbourCheck::is_even(NodeId node, std::size_t at) const {
  const Neighbours& own = around_[request_.neighbours];
  const PodSpread& asked = own.spreads[at];
  if (!asked.required) return true;
  const DomainId domain = around_.domains(kind_->spreads[at]).of(node);
  if (domain.is_none()) return false;
  const std::int64_t with_it = spreads_[at].in_domain[domain.index()] + (selects(asked.term.pods, own) ? 1 : 0);
  return with_it - spreads_[at].least <= asked.skew_max;
}

NeighbourRefusal NeighbourCheck::refusal(NodeId node) const {
  if (kind_ == nullptr) return NeighbourRefusal::kNone;
  const auto has_one = [&](auto counter) {
    const DomainId domain = around_.domains(counter).of(node);
    return !domain.is_none() && around_.there(counter, domain) > 0;
  };
  const auto heeds = [&](NeighbourRefusal refusal) { return heeded_ <= refusal; };
  if (heeds(NeighbourRefusal::kPort) && std::ranges::any_of(kind_->ports, has_one)) return NeighbourRefusal::kPort;
  if (heeds(NeighbourRefusal::kApart) && std::ranges::any_of(kind_->apart, has_one)) return NeighbourRefusal::kApart;
  if (heeds(NeighbourRefusal::kNear) && !is_near(node)) return NeighbourRefusal::kNear;
  for (std::size_t at = 0; heeds(NeighbourRefusal::kSpread) && at < spreads_.size(); ++at) {
    if (!is_even(node, at)) return NeighbourRefusal::kSpread;
  }
  return NeighbourRefusal::kNone;
}

NeighbourLiking NeighbourCheck::liking(NodeId node) const {
  NeighbourLiking liking;
  if (kind_ == nullptr) return liking;
  for (const auto& [counter, weight] : kind_->preferred) {
    const DomainId domain = around_.domains(counter).of(node);
    if (!domain.is_none()) liking.preferred += std::int64_t{weight} * around_.there(counter, domain);
  }
  const std::vector<PodSpread>& asked = around_[request_.neighbours].spreads;
  for (std::size_t at = 0; at < asked.size(); ++at) {
    if (asked[at].required) continue;
    const DomainId domain = around_.domains(kind_->spreads[at]).of(node);
    liking.spread -= domain.is_none() ? kInNoDomain : spreads_[at].in_domain[domain.index()];
  }
  return liking;
}

std::vector<std::vector<NodeId>> NeighbourCheck::places_to_found(std::size_t nodes) const {
  std::vector<std::vector<NodeId>> places;
  if (!founds_) return places;
  std::map<std::vector<DomainId>, std::size_t> known;
  for (std::size_t node = 0; node < nodes; ++node) {
    if (!is_near(NodeId(node))) continue;
    std::vector<DomainId> domains;
    for (const auto counter : kind_->near) domains.push_back(around_.domains(counter).of(NodeId(node)));
    const auto [at, is_new] = known.try_emplace(std::move(domains), places.size());
    if (is_new) places.emplace_back();
    places[at->second].emplace_back(node);
  }
  return places;
}

}  // namespace berth
