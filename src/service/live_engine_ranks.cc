// What pods that start together are told of each other when they are bound: ranks, hosts, and how the first is reached. It depends on
// no controller; the pods themselves, and the downward API, find it in annotations.
#include <algorithm>
#include <optional>
#include <set>
#include <utility>

#include "service/live_engine.h"

namespace berth {
namespace {

// All annotations of a pod together have 256 KiB.
constexpr std::size_t kHostsMax = 64 * 1024;

}  // namespace

// Ranks are in the order of the workload's pods, as which they were given their places. Who starts alone has none.
void LiveEngine::rank_who_begins(const Run& run) {
  for (std::size_t at = 0; at < run.uids.size(); ++at) {
    std::optional<std::uint32_t>& rank = members_.at(run.uids[at]).rank;
    rank = run.uids.size() > 1 ? std::optional(run.numbers[at]) : std::nullopt;
  }
}

// They have the ranks of those in whose place they are, which the others do not have.
void LiveEngine::rank_who_comes(const Run& run, const std::vector<std::string>& heirs) {
  std::set<std::uint32_t> taken;
  for (const std::string& uid : run.uids) {
    const Member& member = members_.at(uid);
    const bool comes = std::ranges::find(heirs, uid) != heirs.end();
    if (!comes && member.rank) taken.insert(*member.rank);
  }
  std::uint32_t next = 0;
  for (const std::string& uid : heirs) {
    while (taken.contains(next)) ++next;
    members_.at(uid).rank = next++;
  }
}

// As it stands; none: it is of one, or began when nobody told.
std::optional<Rendezvous> LiveEngine::rendezvous_of(const Run& run) const {
  std::vector<const Member*> by_rank;
  for (const std::string& uid : run.uids) {
    if (!members_.at(uid).rank) return std::nullopt;
    by_rank.push_back(&members_.at(uid));
  }
  if (by_rank.size() + run.vacancies.size() < 2) return std::nullopt;
  std::ranges::sort(by_rank, {}, [](const Member* member) { return *member->rank; });
  const PodFacts& first = by_rank.front()->facts;
  Rendezvous rendezvous;
  rendezvous.world_size = std::ssize(by_rank);
  rendezvous.leader = first.host_name.empty() ? by_rank.front()->node : first.host_name;
  for (std::size_t at = 0; at < by_rank.size() && rendezvous.hosts.size() <= kHostsMax;) {
    std::size_t end = at;
    while (end < by_rank.size() && by_rank[end]->node == by_rank[at]->node) ++end;
    rendezvous.hosts += (at > 0 ? "," : "") + by_rank[at]->node + ":" + std::to_string(end - at);
    at = end;
  }
  if (rendezvous.hosts.size() > kHostsMax) rendezvous.hosts.clear();
  return rendezvous;
}

// Those who were there before, when others have come in the place of some.
void LiveEngine::tell_rendezvous(const Run& run, const std::vector<std::string>& heirs, Round& round) const {
  const std::optional<Rendezvous> rendezvous = rendezvous_of(run);
  if (!rendezvous || heirs.empty()) return;
  for (const std::string& uid : run.uids) {
    if (std::ranges::find(heirs, uid) != heirs.end()) continue;
    const Member& member = members_.at(uid);
    round.elsewhere.push_back({{uid, member.facts.name_space, member.facts.name}, *rendezvous});
    round.elsewhere.back().now.rank = *member.rank;
  }
}

}  // namespace berth
