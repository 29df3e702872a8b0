// Which tenants have GPUs in which domain, where some keep strangers further away than from one device (docs/semantics.md, rule 29).
// Changed by the moves of the ledger alone, so that what is taken back leaves no trace.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "model/ids.h"
#include "model/node.h"
#include "model/request.h"
#include "state/domains.h"
#include "state/trust.h"

namespace berth {

// INVARIANT: what is counted in a domain is what the pods with GPUs say that are there and have a sharer, as long as Trust looks
// beyond devices. Who is held back for somebody has none, and is nobody's stranger.
class TenantDomains {
 public:
  // Whether nobody keeps anybody further away than from a device.
  bool none() const { return levels_.empty(); }

  void add_node() { on_node_.emplace_back(); }
  // Nodes are new, or say something else of themselves, or other levels matter than before.
  void look_at(const Trust& trust, const std::vector<Node>& nodes);
  // So many pods come to a node, or leave it. The nodes on which others may be refused from now on, or are no more; none but those.
  std::vector<NodeId> move(const Trust& trust, const PodRequest& request, NodeId node, std::int32_t pods);

  // Whether nobody is there who is too near to a pod on a node.
  bool allows(const Trust& trust, const PodRequest& request, NodeId node) const {
    return levels_.empty() || request.gpus == 0 || trust.all_together() || suits(trust, request, node);
  }
  // Whether two pods would be too near to each other, each on its node.
  bool keep_apart(const Trust& trust, const PodRequest& pod, NodeId node, const PodRequest& other, NodeId at) const {
    return too_near(trust, pod, node, other, at) != 0;
  }
  // In the domains of which levels: a bit each, as Trust numbers them.
  std::uint32_t too_near(const Trust& trust, const PodRequest& pod, NodeId node, const PodRequest& other,
                         NodeId at) const;
  // The nodes on which `other` would be too near to a pod that is on this one.
  std::vector<NodeId> nodes_kept(const Trust& trust, const PodRequest& pod, NodeId node, const PodRequest& other) const;
  // All nodes that share a domain with this one in which anybody might be too near to another, and itself.
  std::vector<NodeId> nodes_around(NodeId node) const;
  // Whether nobody on the node is too near to anybody.
  bool is_at_peace(const Trust& trust, NodeId node) const;

  // As if nobody kept anybody further away than from a device.
  TenantDomains unheeded() const;
  // The same levels, and nobody there.
  TenantDomains emptied() const;
  // PRE: the same levels.
  bool same_pods_as(const TenantDomains& other) const;

 private:
  // Pods of a tenant on GPUs of one mode.
  struct Guests {
    QueueId tenant;
    Sharing mode = Sharing::kExclusive;
    std::int32_t pods = 0;

    friend bool operator==(const Guests&, const Guests&) = default;
  };
  // As Trust numbers them: the first is that of the nodes, which needs nothing more.
  struct Level {
    std::shared_ptr<const Domains> domains;
    std::vector<std::vector<Guests>> in_domain;  // ascending
  };

  bool suits(const Trust& trust, const PodRequest& request, NodeId node) const;
  static bool are_too_near(const Trust& trust, const Guests& a, const Guests& b, std::size_t level);
  // Who is in the domain of a level in which a node is; nullptr: it is in none.
  const std::vector<Guests>* around(std::size_t level, NodeId node) const;
  // Whether a tenant has come, or has left.
  static bool count(std::vector<Guests>& there, const Guests& more);
  std::vector<NodeId> nodes_of(std::size_t level, NodeId node) const;
  static Guests guests_of(const Trust& trust, const PodRequest& request, std::int32_t pods);

  std::vector<std::vector<Guests>> on_node_;
  std::vector<Level> levels_;
};

}  // namespace berth
