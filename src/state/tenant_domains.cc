#include "state/tenant_domains.h"

#include <algorithm>
#include <tuple>

#include "base/assert.h"

namespace berth {

TenantDomains::Guests TenantDomains::guests_of(const Trust& trust, const PodRequest& request, std::int32_t pods) {
  return {trust[request.sharer].tenant, request.sharing, pods};
}

bool TenantDomains::are_too_near(const Trust& trust, const Guests& a, const Guests& b, std::size_t level) {
  const std::uint32_t kept = trust.kept_apart(a.tenant, a.mode) | trust.kept_apart(b.tenant, b.mode);
  return ((kept >> level) & 1) != 0 && !trust.trust(a.tenant, b.tenant);
}

bool TenantDomains::count(std::vector<Guests>& there, const Guests& more) {
  const auto key = [](const Guests& each) { return std::tuple(each.tenant, each.mode); };
  auto at = std::ranges::lower_bound(there, key(more), {}, key);
  const bool is_new = at == there.end() || key(*at) != key(more);
  if (is_new) at = there.insert(at, {more.tenant, more.mode, 0});
  at->pods += more.pods;
  BERTH_ASSERT(at->pods >= 0);
  const bool has_left = at->pods == 0;
  if (has_left) there.erase(at);
  return is_new || has_left;
}

void TenantDomains::look_at(const Trust& trust, const std::vector<Node>& nodes) {
  levels_.clear();
  for (const std::string& name : trust.apart_levels()) {
    Level& level = levels_.emplace_back();
    if (name == kNodeLevel) continue;
    level.domains = std::make_shared<const Domains>(name, nodes);
    level.in_domain.resize(level.domains->size());
    for (std::size_t node = 0; node < on_node_.size(); ++node) {
      const DomainId domain = level.domains->of(NodeId(node));
      if (domain.is_none()) continue;
      for (const Guests& each : on_node_[node]) count(level.in_domain[domain.index()], each);
    }
  }
}

const std::vector<TenantDomains::Guests>* TenantDomains::around(std::size_t level, NodeId node) const {
  const Level& at = levels_[level];
  if (at.domains == nullptr) return &on_node_[node.index()];
  const DomainId domain = at.domains->of(node);
  return domain.is_none() ? nullptr : &at.in_domain[domain.index()];
}

std::vector<NodeId> TenantDomains::nodes_of(std::size_t level, NodeId node) const {
  const Level& at = levels_[level];
  if (at.domains == nullptr) return {node};
  const DomainId domain = at.domains->of(node);
  if (domain.is_none()) return {};
  const auto nodes = at.domains->nodes(domain);
  return {nodes.begin(), nodes.end()};
}

std::vector<NodeId> TenantDomains::move(const Trust& trust, const PodRequest& request, NodeId node, std::int32_t pods) {
  std::vector<NodeId> news;
  if (!trust.looks_beyond_devices() || request.gpus == 0 || request.sharer.is_none()) return news;
  const Guests guests = guests_of(trust, request, pods);
  count(on_node_[node.index()], guests);
  for (std::size_t level = 0; level < levels_.size(); ++level) {
    if (levels_[level].domains == nullptr) continue;
    const DomainId domain = levels_[level].domains->of(node);
    if (domain.is_none() || !count(levels_[level].in_domain[domain.index()], guests)) continue;
    const std::vector<NodeId> nodes = nodes_of(level, node);
    news.insert(news.end(), nodes.begin(), nodes.end());
  }
  return news;
}

bool TenantDomains::suits(const Trust& trust, const PodRequest& request, NodeId node) const {
  if (request.sharer.is_none()) return true;
  const Guests own = guests_of(trust, request, 1);
  for (std::size_t level = 0; level < levels_.size(); ++level) {
    const std::vector<Guests>* const there = around(level, node);
    if (there == nullptr) continue;
    if (std::ranges::any_of(*there, [&](const Guests& each) { return are_too_near(trust, own, each, level); }))
      return false;
  }
  return true;
}

std::uint32_t TenantDomains::too_near(const Trust& trust, const PodRequest& pod, NodeId node, const PodRequest& other,
                                      NodeId at) const {
  if (levels_.empty() || pod.gpus == 0 || other.gpus == 0 || pod.sharer.is_none() || other.sharer.is_none()) return 0;
  const Guests a = guests_of(trust, pod, 1);
  const Guests b = guests_of(trust, other, 1);
  std::uint32_t near = 0;
  for (std::size_t level = 0; level < levels_.size(); ++level) {
    const std::shared_ptr<const Domains>& domains = levels_[level].domains;
    const bool together =
        domains == nullptr ? node == at : !domains->of(node).is_none() && domains->of(node) == domains->of(at);
    if (together && are_too_near(trust, a, b, level)) near |= std::uint32_t{1} << level;
  }
  return near;
}

std::vector<NodeId> TenantDomains::nodes_kept(const Trust& trust, const PodRequest& pod, NodeId node,
                                              const PodRequest& other) const {
  std::vector<NodeId> kept;
  if (levels_.empty() || pod.gpus == 0 || other.gpus == 0 || pod.sharer.is_none() || other.sharer.is_none())
    return kept;
  const Guests a = guests_of(trust, pod, 1);
  const Guests b = guests_of(trust, other, 1);
  for (std::size_t level = 0; level < levels_.size(); ++level) {
    if (!are_too_near(trust, a, b, level)) continue;
    const std::vector<NodeId> nodes = nodes_of(level, node);
    kept.insert(kept.end(), nodes.begin(), nodes.end());
  }
  std::ranges::sort(kept);
  kept.erase(std::ranges::unique(kept).begin(), kept.end());
  return kept;
}

std::vector<NodeId> TenantDomains::nodes_around(NodeId node) const {
  std::vector<NodeId> around{node};
  for (std::size_t level = 0; level < levels_.size(); ++level) {
    const std::vector<NodeId> nodes = nodes_of(level, node);
    around.insert(around.end(), nodes.begin(), nodes.end());
  }
  std::ranges::sort(around);
  around.erase(std::ranges::unique(around).begin(), around.end());
  return around;
}

bool TenantDomains::is_at_peace(const Trust& trust, NodeId node) const {
  for (std::size_t level = 0; level < levels_.size(); ++level) {
    const std::vector<Guests>* const there = around(level, node);
    if (there == nullptr) continue;
    for (const Guests& own : on_node_[node.index()]) {
      if (std::ranges::any_of(*there, [&](const Guests& each) { return are_too_near(trust, own, each, level); }))
        return false;
    }
  }
  return true;
}

TenantDomains TenantDomains::unheeded() const {
  TenantDomains unheeded = *this;
  unheeded.levels_.clear();
  return unheeded;
}

TenantDomains TenantDomains::emptied() const {
  TenantDomains empty = *this;
  empty.on_node_.clear();
  for (Level& each : empty.levels_) each.in_domain.assign(each.in_domain.size(), {});
  return empty;
}

bool TenantDomains::same_pods_as(const TenantDomains& other) const {
  const auto same = [](const Level& a, const Level& b) { return a.in_domain == b.in_domain; };
  return on_node_ == other.on_node_ && std::ranges::equal(levels_, other.levels_, same);
}

}  // namespace berth
