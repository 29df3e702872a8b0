#include "state/neighbourhood.h"

#include <algorithm>
#include <numeric>

#include "base/assert.h"

namespace berth {
namespace {

using Who = Neighbourhood::Counted::Who;

void add_once(std::vector<Neighbourhood::CounterId>& counters, Neighbourhood::CounterId counter) {
  if (std::ranges::find(counters, counter) == counters.end()) counters.push_back(counter);
}

bool have_one_in_common(const std::vector<Neighbourhood::CounterId>& counters,
                        const std::vector<Neighbourhood::CounterId>& ascending) {
  return std::ranges::any_of(counters, [&](auto counter) { return std::ranges::binary_search(ascending, counter); });
}

}  // namespace

std::uint64_t digest_of(const Neighbours& neighbours) {
  Hasher hasher;
  neighbours.add_to(hasher);
  return hasher.digest();
}

NeighboursId Neighbourhood::intern(const Neighbours& neighbours, const std::vector<Node>& nodes) {
  if (neighbours == Neighbours()) return NeighboursId(0);
  if (asked_.size() == 0) {
    asked_.intern(Neighbours());
    kinds_.emplace_back();
    pods_.emplace_back();
  }
  const std::size_t id = asked_.intern(neighbours);
  if (id < kinds_.size()) return NeighboursId(id);
  Kind kind;
  // As in Kubernetes, whoever is to be near is one whom all terms select.
  std::vector<PodSelector> all;
  for (const PodTerm& each : neighbours.near) all.push_back(each.pods);
  kind.founds = std::ranges::all_of(all, [&](const PodSelector& each) { return selects(each, neighbours); });
  for (const PodTerm& each : neighbours.near) {
    add_once(kind.near, counter({.who = Who::kSelected, .pods = all, .level = each.level}, nodes));
  }
  for (const PodTerm& each : neighbours.apart) {
    add_once(kind.apart, counter({.who = Who::kSelected, .pods = {each.pods}, .level = each.level}, nodes));
    counter({.who = Who::kApartFrom, .pods = {each.pods}, .level = each.level}, nodes);
  }
  for (const HostPort& each : neighbours.ports) {
    add_once(kind.ports, counter({.who = Who::kWithPort, .port = each, .level = std::string(kNodeLevel)}, nodes));
  }
  for (const PreferredPodTerm& each : neighbours.preferred) {
    kind.preferred.emplace_back(
        counter({.who = Who::kSelected, .pods = {each.term.pods}, .level = each.term.level}, nodes), each.weight);
  }
  for (const PodSpread& each : neighbours.spreads) {
    kind.spreads.push_back(counter({.who = Who::kSelected, .pods = {each.term.pods}, .level = each.term.level}, nodes));
  }
  kinds_.push_back(std::move(kind));
  pods_.emplace_back();
  for (CounterId each = 0; each < counters_.size(); ++each) relate(id, each);
  return NeighboursId(id);
}

// A new one begins with those who are there already.
Neighbourhood::CounterId Neighbourhood::counter(Counted counted, const std::vector<Node>& nodes) {
  const auto known = std::ranges::find(counters_, counted, &Counter::counted);
  if (known != counters_.end()) return static_cast<CounterId>(known - counters_.begin());
  const auto id = static_cast<CounterId>(counters_.size());
  const std::size_t of = level(counted.level, nodes);
  counters_.push_back({.counted = std::move(counted), .level = of});
  for (std::size_t kind = 0; kind < kinds_.size(); ++kind) relate(kind, id);
  recount(counters_.back());
  return id;
}

std::size_t Neighbourhood::level(const std::string& name, const std::vector<Node>& nodes) {
  const auto known = std::ranges::find(levels_, name, &Level::name);
  if (known != levels_.end()) return static_cast<std::size_t>(known - levels_.begin());
  levels_.push_back({name, std::make_shared<const Domains>(name, nodes)});
  return levels_.size() - 1;
}

bool Neighbourhood::is_among(const Counted& counted, const Neighbours& pod) const {
  switch (counted.who) {
    case Who::kSelected:
      return std::ranges::all_of(counted.pods, [&](const PodSelector& each) { return selects(each, pod); });
    case Who::kApartFrom:
      return std::ranges::find(pod.apart, PodTerm{counted.pods.front(), counted.level}) != pod.apart.end();
    case Who::kWithPort:
      return std::ranges::any_of(pod.ports, [&](const HostPort& each) { return collide(each, counted.port); });
  }
  return false;
}

void Neighbourhood::relate(std::size_t kind, CounterId id) {
  Counter& counter = counters_[id];
  const Neighbours& pod = asked_[kind];
  if (is_among(counter.counted, pod)) {
    kinds_[kind].counted_in.push_back(id);
    counter.kinds.push_back(kind);
  }
  // Who is there already keeps those away from whom it is to be apart.
  const bool keeps_away = counter.counted.who == Who::kApartFrom && selects(counter.counted.pods.front(), pod);
  if (keeps_away) add_once(kinds_[kind].apart, id);
}

void Neighbourhood::count(NeighboursId id, NodeId node, std::int32_t pods) {
  std::int32_t& there = pods_[id.index()][node];
  there += pods;
  BERTH_ASSERT(there >= 0);
  if (there == 0) pods_[id.index()].erase(node);
  for (const CounterId each : kinds_[id.index()].counted_in) {
    const DomainId domain = domains(each).of(node);
    if (!domain.is_none()) counters_[each].in_domain[domain.index()] += pods;
  }
}

void Neighbourhood::recount(Counter& counter) const {
  const Domains& domains = *levels_[counter.level].domains;
  counter.in_domain.assign(domains.size(), 0);
  for (const std::size_t kind : counter.kinds) {
    for (const auto& [node, pods] : pods_[kind]) {
      const DomainId domain = domains.of(node);
      if (!domain.is_none()) counter.in_domain[domain.index()] += pods;
    }
  }
}

void Neighbourhood::look_at(const std::vector<Node>& nodes) {
  for (Level& each : levels_) each.domains = std::make_shared<const Domains>(each.name, nodes);
  for (Counter& each : counters_) recount(each);
}

std::int64_t Neighbourhood::anywhere(CounterId counter) const {
  const std::vector<std::int32_t>& in_domain = counters_[counter].in_domain;
  return std::accumulate(in_domain.begin(), in_domain.end(), std::int64_t{0});
}

bool Neighbourhood::looks_at(NeighboursId looking, NeighboursId counted) const {
  if (looking == NeighboursId(0) || counted == NeighboursId(0)) return false;
  const Kind& own = kind(looking);
  const std::vector<CounterId>& in = kind(counted).counted_in;
  return have_one_in_common(own.near, in) || have_one_in_common(own.apart, in) || have_one_in_common(own.ports, in) ||
         have_one_in_common(own.spreads, in);
}

bool Neighbourhood::excludes(NeighboursId pod, NodeId node, NeighboursId other, NodeId at) const {
  if (pod == NeighboursId(0) || other == NeighboursId(0)) return false;
  const std::vector<CounterId>& in = kind(other).counted_in;
  const auto is_in_the_way = [&](CounterId counter) {
    const DomainId domain = domains(counter).of(node);
    return std::ranges::binary_search(in, counter) && !domain.is_none() && domain == domains(counter).of(at);
  };
  return std::ranges::any_of(kind(pod).apart, is_in_the_way) || std::ranges::any_of(kind(pod).ports, is_in_the_way);
}

Neighbourhood Neighbourhood::emptied() const {
  Neighbourhood empty = *this;
  for (auto& each : empty.pods_) each.clear();
  for (Counter& each : empty.counters_) empty.recount(each);
  return empty;
}

bool Neighbourhood::same_pods_as(const Neighbourhood& other) const {
  const auto same = [](const Counter& a, const Counter& b) { return a.in_domain == b.in_domain; };
  return pods_ == other.pods_ && std::ranges::equal(counters_, other.counters_, same);
}

}  // namespace berth
