// Of many victims: room for a claimant, alternative by alternative. An alternative is what must go so that one more of his pods
// fits on a node; of the lowest claims the cheapest comes first (docs/semantics.md, rule 17).
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "base/wide.h"
#include "cycle/taking.h"

namespace berth {

class Alternatives {
 public:
  struct OnNode {
    NodeId node;
    std::size_t victim = 0;

    friend auto operator<=>(const OnNode&, const OnNode&) = default;
  };

  explicit Alternatives(Taking& taking);

  // Who is in the way where; only there room is made.
  const std::vector<OnNode>& places() const { return on_node_; }
  void look_only_at(std::vector<OnNode> places) { on_node_ = std::move(places); }

  // From the beginning; false: there are not enough of them.
  bool make_room();
  // Besides those who are taken. The lowest claims first.
  bool take_until_it_fits();
  // Whoever becomes an owner only when lower priorities of his own queue have gone begins with those, the lowest first.
  void make_room_in_own_floor();
  // Until no quota refuses him, whoever holds of what is short below the queue that refuses; whoever is inside a floor, where he is
  // short of that.
  bool pass_the_gates();
  // Of those who are taken the highest claims are put back first. None: he does not fit.
  std::optional<Chosen> without_the_needless();

 private:
  struct Alternative {
    Wide lost_gpu_s = 0;
    std::size_t count = 0;
    NodeId node;
    Chosen victims;

    bool is_later_than(const Alternative& other) const {
      if (lost_gpu_s != other.lost_gpu_s) return lost_gpu_s > other.lost_gpu_s;
      if (count != other.count) return count > other.count;
      return node > other.node;
    }
  };

  void list_by_node();
  std::vector<NodeId> kept_from_claimant(const Pod& pod) const;
  bool helps_with(const QuotaRefusal& refused, std::size_t each) const;
  bool is_below(const Victim& victim, QueueId queue) const;
  bool try_to_place();
  std::int64_t room_on(NodeId node) const;
  std::map<FlavorId, std::int64_t> lacking_by_flavor() const;
  bool free_nodes(std::size_t end);
  bool free_nodes(std::size_t end, std::map<FlavorId, std::int64_t> lacking);
  std::optional<Alternative> alternative_on(NodeId node, std::size_t end);
  void leave(std::size_t victim, NodeId node, const Chosen& with);
  template <class Visit>
  void for_each_pod_gone_with(std::size_t victim, const Chosen& with, Visit visit) const;

  Taking& taking_;
  const State& state_;
  std::vector<OnNode> on_node_;
  std::int64_t missing_ = 1;  // so many pods had no room when it was tried last
};

}  // namespace berth
