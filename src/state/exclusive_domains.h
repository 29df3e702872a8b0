// Which domains are some work's own: pods with GPUs that are to be alone with those of their workload in the domains of a level,
// and who else has GPUs there (docs/semantics.md, "Domains of one's own"). Changed by the moves of the ledger alone, so that what
// is taken back leaves no trace.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "model/ids.h"
#include "model/node.h"
#include "model/request.h"
#include "state/domains.h"

namespace berth {

// INVARIANT: what is counted in a domain is what the pods with GPUs say that are there. As long as no level is known, only those
// are counted, by node.
class ExclusiveDomains {
 public:
  // Of a workload that is exclusive somewhere: in whose name, and in the domains of which level; in no level (empty) where another
  // pod set of the workload is, and this one is only at home there. Parts of one workload have numbers of their own.
  struct Asked {
    std::uint32_t owner = 0;
    std::string level = {};
    std::string part = {};

    friend bool operator==(const Asked&, const Asked&) = default;
  };
  // In the order in which they are looked at.
  enum class Refusal : std::uint8_t { kNone, kOthersOwn, kAmongOthers };

  // Its number; where pods of it would be counted is looked up if it is new.
  ExclusiveId intern(const Asked& asked, const std::vector<Node>& nodes);
  const Asked& operator[](ExclusiveId id) const { return asked_[id.index()]; }
  // Whether nobody was ever exclusive anywhere.
  bool none() const { return levels_.empty(); }
  bool is_exclusive(ExclusiveId id) const { return !id.is_none() && !asked_[id.index()].level.empty(); }

  // One more node, on which nobody is. It is in no domain before they are looked at.
  void add_node() { strangers_.push_back(0); }
  // Nodes are new, or say something else of themselves than before.
  void look_at(const std::vector<Node>& nodes);
  // So many pods come to a node, or leave it. The nodes on which others may be refused from now on, or are no more; none but those.
  std::vector<NodeId> move(const PodRequest& request, NodeId node, std::int32_t pods);

  // Why a pod may not be on a node: others have its domain for themselves; or it is to be alone there, and others have GPUs there.
  Refusal refusal(const PodRequest& request, NodeId node) const {
    return levels_.empty() || request.gpus == 0 ? Refusal::kNone : refusal_at(request, node);
  }
  bool allows(const PodRequest& request, NodeId node) const { return refusal(request, node) == Refusal::kNone; }
  // Whether two pods, each on its node, keep each other away.
  bool excludes(const PodRequest& pod, NodeId node, const PodRequest& other, NodeId at) const;
  // The nodes of the domain in which a pod on this node is alone; none: it is not exclusive.
  std::vector<NodeId> own_nodes(const PodRequest& request, NodeId node) const;
  // Of those who have a domain for themselves in which the node is, whose number that is.
  std::vector<std::uint32_t> owners_around(NodeId node) const;

  // How many domains of the level there are for one more exclusive pod: that are free of others, that have others' pods with GPUs, and
  // that are others' own. PRE: is_exclusive().
  struct Tally {
    std::int64_t free = 0;
    std::int64_t among_others = 0;
    std::int64_t others_own = 0;
  };
  Tally tally(ExclusiveId id) const;

  // The same levels and numbers, and nobody there.
  ExclusiveDomains emptied() const;
  // As if nobody minded anybody.
  ExclusiveDomains unheeded() const;
  // PRE: the same levels and numbers.
  bool same_pods_as(const ExclusiveDomains& other) const;

 private:
  // Pods of one owner in one domain.
  struct Owned {
    std::uint32_t owner = 0;
    std::int32_t pods = 0;
    std::int32_t exclusive = 0;  // of these at this level

    friend bool operator==(const Owned&, const Owned&) = default;
  };
  struct Level {
    std::string name;
    std::shared_ptr<const Domains> domains;
    std::vector<std::int32_t> strangers;    // by domain: pods with GPUs of workloads that are exclusive nowhere
    std::vector<std::vector<Owned>> owned;  // by domain, by owner
  };

  Refusal refusal_at(const PodRequest& request, NodeId node) const;
  Refusal refusal_in(const Level& level, DomainId domain, ExclusiveId id) const;
  // Whether somebody might be refused or let in who was not before.
  bool count(Level& level, DomainId domain, ExclusiveId id, std::int32_t pods) const;
  void recount(Level& level) const;
  void know(const std::string& level, const std::vector<Node>& nodes);

  std::vector<Asked> asked_;
  std::vector<std::map<NodeId, std::int32_t>> pods_;  // by number
  std::vector<std::int32_t> strangers_;               // by node
  std::vector<Level> levels_;
};

}  // namespace berth
