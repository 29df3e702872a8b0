#include "model/neighbours.h"

#include <algorithm>

namespace berth {
namespace {

void add(Hasher& hasher, const PodTerm& term) {
  hasher.add(std::uint64_t{term.pods.namespaces.size()});
  for (const std::string& each : term.pods.namespaces) hasher.add(each);
  add_to(hasher, term.pods.labels);
  hasher.add(term.level);
}

}  // namespace

void Neighbours::add_to(Hasher& hasher) const {
  hasher.add(name_space).add(std::uint64_t{labels.size()});
  for (const Label& each : labels) hasher.add(each.key).add(each.value);
  hasher.add(std::uint64_t{near.size()});
  for (const PodTerm& each : near) add(hasher, each);
  hasher.add(std::uint64_t{apart.size()});
  for (const PodTerm& each : apart) add(hasher, each);
  hasher.add(std::uint64_t{preferred.size()});
  for (const PreferredPodTerm& each : preferred) {
    add(hasher, each.term);
    hasher.add(each.weight);
  }
  hasher.add(std::uint64_t{spreads.size()});
  for (const PodSpread& each : spreads) {
    add(hasher, each.term);
    hasher.add(each.skew_max).add(each.domains_min).add(std::uint64_t{each.required});
    hasher.add(std::uint64_t{each.heeds_selection}).add(std::uint64_t{each.heeds_taints});
  }
  hasher.add(std::uint64_t{ports.size()});
  for (const HostPort& each : ports) {
    hasher.add(each.port).add(static_cast<std::uint64_t>(each.protocol)).add(each.address);
  }
}

bool selects(const PodSelector& selector, const Neighbours& pod) {
  if (pod.name_space.empty()) return false;
  const bool there = selector.namespaces.empty() || std::ranges::binary_search(selector.namespaces, pod.name_space);
  return there && fulfils(pod.labels, selector.labels);
}

bool collide(const HostPort& a, const HostPort& b) {
  const bool at_one_address = a.address.empty() || b.address.empty() || a.address == b.address;
  return a.port == b.port && a.protocol == b.protocol && at_one_address;
}

}  // namespace berth
