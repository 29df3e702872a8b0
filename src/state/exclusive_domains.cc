#include "state/exclusive_domains.h"

#include <algorithm>

#include "base/assert.h"

namespace berth {

ExclusiveId ExclusiveDomains::intern(const Asked& asked, const std::vector<Node>& nodes) {
  const auto known = std::ranges::find(asked_, asked);
  if (known != asked_.end()) return ExclusiveId(static_cast<std::size_t>(known - asked_.begin()));
  asked_.push_back(asked);
  pods_.emplace_back();
  if (!asked.level.empty()) know(asked.level, nodes);
  return ExclusiveId(asked_.size() - 1);
}

void ExclusiveDomains::know(const std::string& level, const std::vector<Node>& nodes) {
  if (std::ranges::find(levels_, level, &Level::name) != levels_.end()) return;
  levels_.push_back({level, std::make_shared<const Domains>(level, nodes), {}, {}});
  recount(levels_.back());
}

void ExclusiveDomains::look_at(const std::vector<Node>& nodes) {
  for (Level& each : levels_) {
    each.domains = std::make_shared<const Domains>(each.name, nodes);
    recount(each);
  }
}

void ExclusiveDomains::recount(Level& level) const {
  level.strangers.assign(level.domains->size(), 0);
  level.owned.assign(level.domains->size(), {});
  const ExclusiveId nobodys;
  for (std::size_t node = 0; node < strangers_.size(); ++node) {
    if (strangers_[node] > 0) count(level, level.domains->of(NodeId(node)), nobodys, strangers_[node]);
  }
  for (std::size_t id = 0; id < pods_.size(); ++id) {
    for (const auto& [node, pods] : pods_[id]) count(level, level.domains->of(node), ExclusiveId(id), pods);
  }
}

bool ExclusiveDomains::count(Level& level, DomainId domain, ExclusiveId id, std::int32_t pods) const {
  if (domain.is_none()) return false;
  const auto turns = [](std::int32_t& there, std::int32_t more) {
    const bool was_there = there > 0;
    there += more;
    BERTH_ASSERT(there >= 0);
    return was_there != (there > 0);
  };
  if (id.is_none()) return turns(level.strangers[domain.index()], pods);
  const std::uint32_t owner = asked_[id.index()].owner;
  std::vector<Owned>& owned = level.owned[domain.index()];
  auto own = std::ranges::lower_bound(owned, owner, {}, &Owned::owner);
  if (own == owned.end() || own->owner != owner) own = owned.insert(own, {owner, 0, 0});
  const bool comes_or_goes = turns(own->pods, pods);
  const bool turned = asked_[id.index()].level == level.name && turns(own->exclusive, pods);
  if (own->pods == 0) owned.erase(own);
  return comes_or_goes || turned;
}

std::vector<NodeId> ExclusiveDomains::move(const PodRequest& request, NodeId node, std::int32_t pods) {
  std::vector<NodeId> news;
  if (request.gpus == 0) return news;
  std::int32_t& there = request.exclusive.is_none() ? strangers_[node.index()] : pods_[request.exclusive.index()][node];
  there += pods;
  BERTH_ASSERT(there >= 0);
  if (there == 0 && !request.exclusive.is_none()) pods_[request.exclusive.index()].erase(node);
  for (Level& level : levels_) {
    const DomainId domain = level.domains->of(node);
    if (!count(level, domain, request.exclusive, pods)) continue;
    const auto nodes = level.domains->nodes(domain);
    news.insert(news.end(), nodes.begin(), nodes.end());
  }
  return news;
}

ExclusiveDomains::Refusal ExclusiveDomains::refusal_in(const Level& level, DomainId domain, ExclusiveId id) const {
  const bool has_owner = !id.is_none();
  const bool alone = has_owner && asked_[id.index()].level == level.name;
  bool others = level.strangers[domain.index()] > 0;
  for (const Owned& each : level.owned[domain.index()]) {
    if (has_owner && each.owner == asked_[id.index()].owner) continue;
    if (each.exclusive > 0) return Refusal::kOthersOwn;
    others = true;
  }
  return alone && others ? Refusal::kAmongOthers : Refusal::kNone;
}

ExclusiveDomains::Refusal ExclusiveDomains::refusal_at(const PodRequest& request, NodeId node) const {
  Refusal found = Refusal::kNone;
  for (const Level& level : levels_) {
    const DomainId domain = level.domains->of(node);
    if (domain.is_none()) continue;
    const Refusal refusal = refusal_in(level, domain, request.exclusive);
    if (refusal == Refusal::kOthersOwn) return refusal;
    if (refusal != Refusal::kNone) found = refusal;
  }
  return found;
}

bool ExclusiveDomains::excludes(const PodRequest& pod, NodeId node, const PodRequest& other, NodeId at) const {
  if (levels_.empty() || pod.gpus == 0 || other.gpus == 0) return false;
  if (!is_exclusive(pod.exclusive) && !is_exclusive(other.exclusive)) return false;
  const bool both = !pod.exclusive.is_none() && !other.exclusive.is_none();
  if (both && (*this)[pod.exclusive].owner == (*this)[other.exclusive].owner) return false;
  const auto is_of = [&](const Level& level, ExclusiveId id) {
    return is_exclusive(id) && asked_[id.index()].level == level.name;
  };
  return std::ranges::any_of(levels_, [&](const Level& level) {
    const DomainId domain = level.domains->of(node);
    const bool together = !domain.is_none() && domain == level.domains->of(at);
    return together && (is_of(level, pod.exclusive) || is_of(level, other.exclusive));
  });
}

std::vector<NodeId> ExclusiveDomains::own_nodes(const PodRequest& request, NodeId node) const {
  if (!is_exclusive(request.exclusive)) return {};
  const auto level = std::ranges::find(levels_, asked_[request.exclusive.index()].level, &Level::name);
  if (level == levels_.end()) return {};
  const DomainId domain = level->domains->of(node);
  if (domain.is_none()) return {};
  const auto nodes = level->domains->nodes(domain);
  return {nodes.begin(), nodes.end()};
}

std::vector<std::uint32_t> ExclusiveDomains::owners_around(NodeId node) const {
  std::vector<std::uint32_t> owners;
  for (const Level& level : levels_) {
    const DomainId domain = level.domains->of(node);
    if (domain.is_none()) continue;
    for (const Owned& each : level.owned[domain.index()]) {
      if (each.exclusive > 0) owners.push_back(each.owner);
    }
  }
  return owners;
}

ExclusiveDomains::Tally ExclusiveDomains::tally(ExclusiveId id) const {
  const auto level = std::ranges::find(levels_, asked_[id.index()].level, &Level::name);
  Tally tally;
  for (std::size_t domain = 0; domain < level->domains->size(); ++domain) {
    const Refusal refusal = refusal_in(*level, DomainId(domain), id);
    std::int64_t& count = refusal == Refusal::kNone        ? tally.free
                          : refusal == Refusal::kOthersOwn ? tally.others_own
                                                           : tally.among_others;
    ++count;
  }
  return tally;
}

ExclusiveDomains ExclusiveDomains::emptied() const {
  ExclusiveDomains empty = *this;
  empty.strangers_.clear();
  for (auto& each : empty.pods_) each.clear();
  for (Level& each : empty.levels_) empty.recount(each);
  return empty;
}

ExclusiveDomains ExclusiveDomains::unheeded() const {
  ExclusiveDomains unheeded = *this;
  unheeded.levels_.clear();
  return unheeded;
}

bool ExclusiveDomains::same_pods_as(const ExclusiveDomains& other) const {
  const auto same = [](const Level& a, const Level& b) { return a.strangers == b.strangers && a.owned == b.owned; };
  return pods_ == other.pods_ && strangers_ == other.strangers_ && std::ranges::equal(levels_, other.levels_, same);
}

}  // namespace berth
