// What a pod asks of the pods around it, and what it is to them: the labels, pod affinities, spread constraints and host ports
// of Kubernetes' pods, with the meaning that Kubernetes documents for them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/hash.h"
#include "model/node_constraints.h"

namespace berth {

// Pods of these namespaces whose labels are as required; one that requires nothing selects all of them. kGt and kLt are for
// nodes only.
struct PodSelector {
  std::vector<std::string> namespaces = {};  // ascending; empty: any
  std::vector<LabelRequirement> labels = {};

  friend bool operator==(const PodSelector&, const PodSelector&) = default;
};

// Those pods, in one domain of a level of the topology (a label of nodes, or kNodeLevel).
struct PodTerm {
  PodSelector pods = {};
  std::string level = {};

  friend bool operator==(const PodTerm&, const PodTerm&) = default;
};

// Rather near them; below 0: rather apart from them.
struct PreferredPodTerm {
  PodTerm term = {};
  std::int32_t weight = 1;

  friend bool operator==(const PreferredPodTerm&, const PreferredPodTerm&) = default;
};

// No domain in which the pod is put has more than so many of these pods more than the one that has fewest, which counts as empty
// if there are fewer domains than `domains_min`. A domain counts by its nodes that the pod selects, and that have all levels of
// its required constraints; and whose taints it tolerates, where it heeds these.
struct PodSpread {
  PodTerm term = {};
  std::int32_t skew_max = 1;
  std::int32_t domains_min = 1;
  bool required = true;  // else rather where there are fewest
  bool heeds_selection = true;
  bool heeds_taints = false;

  friend bool operator==(const PodSpread&, const PodSpread&) = default;
};

enum class Protocol : std::uint8_t { kTcp, kUdp, kSctp };
inline constexpr std::string_view kProtocolNames[] = {"TCP", "UDP", "SCTP"};

// Of its node, at one address or at all (empty).
struct HostPort {
  std::int32_t port = 0;
  Protocol protocol = Protocol::kTcp;
  std::string address = {};

  friend bool operator==(const HostPort&, const HostPort&) = default;
};
inline constexpr std::int32_t kPortMax = 65'535;
inline constexpr std::int32_t kSkewMax = 1'000'000;
inline constexpr std::size_t kPodTermsMax = 64;  // of each kind

// INVARIANT: terms name a level; who has labels has a namespace. Who has none is selected by nobody.
struct Neighbours {
  std::string name_space = {};
  Labels labels = {};
  std::vector<PodTerm> near = {};   // in domains in which such pods are: required pod affinity
  std::vector<PodTerm> apart = {};  // in others than those: required pod anti-affinity
  std::vector<PreferredPodTerm> preferred = {};
  std::vector<PodSpread> spreads = {};  // topologySpreadConstraints
  std::vector<HostPort> ports = {};

  bool asks_nothing() const {
    return near.empty() && apart.empty() && preferred.empty() && spreads.empty() && ports.empty();
  }
  void add_to(Hasher& hasher) const;
  friend bool operator==(const Neighbours&, const Neighbours&) = default;
};

bool selects(const PodSelector& selector, const Neighbours& pod);

// Whether two pods cannot have both on one node.
bool collide(const HostPort& a, const HostPort& b);

}  // namespace berth
