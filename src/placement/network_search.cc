#include "placement/network_search.h"

#include <algorithm>
#include <functional>
#include <tuple>
#include <utility>
#include <vector>

#include "base/assert.h"

namespace berth {
namespace {

// A domain with at least two parts that have room, or a node that has. Domains above it with no other part are the same.
struct Spot {
  NodeId node;  // of a node alone
  std::size_t level = 0;
  std::size_t above = 0;  // the root: itself
  std::size_t first = 0;  // of its leaves
  std::size_t last = 0;   // behind them
  std::vector<std::size_t> parts = {};
};

struct Counters {
  std::int64_t room = 0;   // pods
  std::int64_t whole = 0;  // tensor groups with room in it, each inside a domain of the level of count_whole()
};

class Search {
 public:
  Search(const Network& network, const Parallelism& parallel, std::int64_t gpus_of_pod, std::span<const NodeRoom> rooms)
      : network_(network), parallel_(parallel), gpus_of_pod_(gpus_of_pod), pods_(parallel.gpus() / gpus_of_pod) {
    tensor_ = std::max<std::int64_t>(1, parallel.tensor / gpus_of_pod);
    const std::int64_t replica = parallel.tensor * parallel.pipeline;
    if (replica % gpus_of_pod == 0 && replica / gpus_of_pod > tensor_ && parallel.data > 1)
      blocks_.push_back(replica / gpus_of_pod);
    blocks_.push_back(tensor_);
    if (tensor_ > 1) blocks_.push_back(1);
    for (const NodeRoom& each : rooms) {
      if (each.pods > 0) leaves_.push_back(each);
    }
    std::ranges::sort(leaves_, {}, [&](const NodeRoom& each) { return network.place(each.node); });
    if (!leaves_.empty()) grow(0, leaves_.size(), 0);
  }

  // The closest level of which a domain has room for a tensor group.
  std::size_t level_of_whole_groups() const {
    std::size_t closest = 0;
    for (std::size_t spot = 0; spot < spots_.size(); ++spot) {
      if (start_[spot].room >= tensor_) closest = std::max(closest, spots_[spot].level);
    }
    return closest;
  }

  // Groups are whole in domains of this level.
  void count_whole(std::size_t level) {
    whole_at_ = level;
    // What is below comes behind.
    for (std::size_t spot = spots_.size(); spot-- > 0;) {
      if (is_at(spot, whole_at_)) start_[spot].whole = start_[spot].room / tensor_;
      if (spot > 0 && spots_[spots_[spot].above].level < whole_at_) {
        start_[spots_[spot].above].whole += start_[spot].whole;
      }
    }
  }

  // A domain that holds them all. The smaller `merit` is tried first.
  struct Holder {
    Search* search;
    std::size_t spot;
    std::tuple<std::int64_t, std::size_t, std::int64_t, std::int64_t> merit;
  };
  void add_holders(std::vector<Holder>& holders) {
    for (std::size_t spot = 0; spot < spots_.size(); ++spot) {
      if (start_[spot].room < pods_) continue;
      const std::int64_t torn = std::max<std::int64_t>(0, pods_ / tensor_ - start_[spot].whole);
      holders.push_back(
          {this, spot, {torn, network_.levels() - spots_[spot].level, -liking_in(spot), start_[spot].room}});
    }
  }

  NetworkPlaces cheapest_in(std::size_t spot) {
    std::optional<NetworkPlaces> best;
    for (std::size_t first = 0; first < blocks_.size(); ++first) {
      for (const bool evenly : {false, true}) {
        lay_out(spot, first, evenly);
        const NetworkCost cost = cost_of(places_);
        if (!best || cost < best->cost) best = {.nodes = places_, .cost = cost};
      }
    }
    if (pods_ <= kExchangePodsMax) exchange(*best);
    for (const NodeId node : best->nodes) best->liking += leaves_[leaf_of(node)].liking;
    best->room_left = start_[spot].room - pods_;
    return std::move(*best);
  }

 private:
  NetworkCost cost_of(std::span<const NodeId> nodes) const {
    return network_cost(network_, parallel_, gpus_of_pod_, nodes);
  }

  // The tree over those leaves. Returns its root.
  std::size_t grow(std::size_t first, std::size_t last, std::size_t above) {
    const std::size_t spot = spots_.size();
    const std::size_t level = network_.level_of_both(leaves_[first].node, leaves_[last - 1].node);
    spots_.push_back({.node = {}, .level = level, .above = above, .first = first, .last = last});
    start_.push_back({});
    if (level == network_.node_level()) {
      spots_[spot].node = leaves_[first].node;
      start_[spot].room = leaves_[first].pods;
      return spot;
    }
    while (first < last) {
      std::size_t end = first;
      const std::uint32_t domain = network_.domain(level + 1, leaves_[first].node);
      while (end < last && network_.domain(level + 1, leaves_[end].node) == domain) ++end;
      const std::size_t part = grow(first, end, spot);
      spots_[spot].parts.push_back(part);
      start_[spot].room += start_[part].room;
      first = end;
    }
    return spot;
  }

  // It is the domain of that level, too.
  bool is_at(std::size_t spot, std::size_t level) const {
    return spots_[spot].level >= level && (spot == 0 || spots_[spots_[spot].above].level < level);
  }

  // On those of its nodes that are liked best.
  std::int64_t liking_in(std::size_t spot) const {
    std::vector<NodeRoom> leaves(leaves_.begin() + static_cast<std::ptrdiff_t>(spots_[spot].first),
                                 leaves_.begin() + static_cast<std::ptrdiff_t>(spots_[spot].last));
    if (std::ranges::all_of(leaves, [](const NodeRoom& each) { return each.liking == 0; })) return 0;
    std::ranges::stable_sort(leaves, std::ranges::greater(), &NodeRoom::liking);
    std::int64_t sum = 0;
    std::int64_t left = pods_;
    for (const NodeRoom& each : leaves) {
      const std::int64_t here = std::min(left, each.pods);
      sum += here * each.liking;
      left -= here;
    }
    return sum;
  }

  void lay_out(std::size_t spot, std::size_t first_block, bool evenly) {
    now_ = start_;
    places_.clear();
    first_block_ = first_block;
    evenly_ = evenly;
    fill(spot, pods_);
  }

  struct Part {
    std::size_t spot;
    std::int64_t room, whole;  // of which nothing is planned yet
    std::int64_t pods = 0;     // planned in this round
  };

  void fill(std::size_t spot, std::int64_t pods) {
    if (spots_[spot].parts.empty()) return take(spot, pods);
    std::vector<Part> parts;
    for (const std::size_t part : spots_[spot].parts) parts.push_back({part, now_[part].room, now_[part].whole});
    // First what keeps tensor groups whole, the largest blocks first; then what is left, in blocks that are torn further in.
    for (const bool whole : {true, false}) {
      for (std::size_t at = first_block_; at < blocks_.size() && pods > 0; ++at) {
        const std::int64_t block = blocks_[at];
        if (whole && block < tensor_) break;
        pods -= plan(parts, block, pods / block, whole);
        for (Part& part : parts) {
          if (const std::int64_t here = std::exchange(part.pods, 0); here > 0) fill(part.spot, here);
        }
      }
    }
    BERTH_ASSERT(pods == 0);
  }

  // So many blocks, or as many as there are; how many pods that is.
  std::int64_t plan(std::vector<Part>& parts, std::int64_t block, std::int64_t wanted, bool whole) const {
    const auto holds = [&](const Part& part) { return (whole ? part.whole * tensor_ : part.room) / block; };
    struct Offer {
      std::int64_t blocks;
      Part* part;
    };
    std::vector<Offer> offers;
    for (Part& part : parts) {
      if (const std::int64_t here = holds(part); here > 0) offers.push_back({here, &part});
    }
    std::ranges::stable_sort(offers, {}, [](const Offer& each) { return std::pair(-each.blocks, each.part->room); });
    std::vector<Part*> used;
    std::vector<std::int64_t> most;  // of those
    std::int64_t left = wanted;
    for (std::size_t at = 0; at < offers.size() && left > 0; ++at) {
      // The one with the least room of those that hold all that is left; else the one that holds most, which leaves most to share.
      const auto enough = std::find_if(offers.begin() + static_cast<std::ptrdiff_t>(at), offers.end(),
                                       [&](const Offer& each) { return each.blocks < left; });
      const auto closest = std::min_element(offers.begin() + static_cast<std::ptrdiff_t>(at), enough,
                                            [](const Offer& a, const Offer& b) { return a.part->room < b.part->room; });
      const bool shares = evenly_ && at > 0;
      const Offer& best = shares || closest == enough ? offers[at] : *closest;
      used.push_back(best.part);
      most.push_back(best.blocks);
      best.part->pods = std::min(best.blocks, left);  // in blocks for now
      left -= best.part->pods;
    }
    if (evenly_) share(used, most, wanted - left);
    for (Part* const part : used) {
      part->pods *= block;
      part->room -= part->pods;
      part->whole =
          std::max<std::int64_t>(0, std::min(part->whole - (part->pods + tensor_ - 1) / tensor_, part->room / tensor_));
    }
    return (wanted - left) * block;
  }

  // As evenly as they hold it.
  static void share(std::span<Part* const> used, std::span<const std::int64_t> most, std::int64_t blocks) {
    std::vector<std::size_t> order(used.size());
    for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
    std::ranges::stable_sort(order, {}, [&](std::size_t at) { return most[at]; });
    auto sharers = std::ssize(order);
    for (const std::size_t at : order) {
      used[at]->pods = std::min(most[at], blocks / sharers--);
      blocks -= used[at]->pods;
    }
  }

  void take(std::size_t leaf, std::int64_t pods) {
    places_.insert(places_.end(), static_cast<std::size_t>(pods), spots_[leaf].node);
    std::int64_t lost = 0;  // groups
    for (std::size_t spot = leaf;; spot = spots_[spot].above) {
      Counters& here = now_[spot];
      here.room -= pods;
      if (is_at(spot, whole_at_)) lost = here.whole - here.room / tensor_;
      if (spots_[spot].level < whole_at_ || is_at(spot, whole_at_)) here.whole -= lost;
      if (spot == 0) break;
    }
  }

  // Two pods change places, or one goes to a node of the others or to one beside these, wherever that is cheaper.
  void exchange(NetworkPlaces& best) const {
    std::vector<NodeRoom> free = leaves_;
    for (NodeRoom& each : free) each.pods -= std::ranges::count(best.nodes, each.node);
    const auto improves = [&](const std::vector<NodeId>& nodes) {
      const NetworkCost cost = cost_of(nodes);
      if (!(cost < best.cost)) return false;
      best.nodes = nodes;
      best.cost = cost;
      return true;
    };
    for (int pass = 0; pass < kExchangePasses; ++pass) {
      for (std::size_t a = 0; a < best.nodes.size(); ++a) {
        for (std::size_t b = a + 1; b < best.nodes.size(); ++b) {
          if (best.nodes[a] == best.nodes[b]) continue;
          std::vector<NodeId> nodes = best.nodes;
          std::swap(nodes[a], nodes[b]);
          improves(nodes);
        }
        for (const std::size_t leaf : leaves_around(best.nodes)) {
          if (free[leaf].pods == 0 || free[leaf].node == best.nodes[a]) continue;
          std::vector<NodeId> nodes = best.nodes;
          const NodeId from = std::exchange(nodes[a], free[leaf].node);
          if (!improves(nodes)) continue;
          --free[leaf].pods;
          ++free[leaf_of(from)].pods;
        }
      }
    }
  }

  std::size_t leaf_of(NodeId node) const {
    const auto found = std::ranges::lower_bound(leaves_, network_.place(node), {},
                                                [&](const NodeRoom& each) { return network_.place(each.node); });
    return static_cast<std::size_t>(found - leaves_.begin());
  }
  std::vector<std::size_t> leaves_around(std::span<const NodeId> nodes) const {
    std::vector<std::size_t> leaves;
    for (const NodeId node : nodes) {
      const std::size_t leaf = leaf_of(node);
      for (std::size_t at = leaf > 0 ? leaf - 1 : 0; at < std::min(leaves_.size(), leaf + 2); ++at)
        leaves.push_back(at);
    }
    std::ranges::sort(leaves);
    leaves.erase(std::unique(leaves.begin(), leaves.end()), leaves.end());
    return leaves;
  }

  const Network& network_;
  const Parallelism& parallel_;
  std::int64_t gpus_of_pod_;
  std::int64_t pods_;
  std::int64_t tensor_ = 1;           // pods of a tensor group, at least one
  std::vector<std::int64_t> blocks_;  // pods: a replica, a tensor group, a pod
  std::vector<NodeRoom> leaves_;      // along the tree
  std::vector<Spot> spots_;           // the root first, each before its parts
  std::vector<Counters> start_;       // by spot
  std::size_t whole_at_ = 0;          // the level of count_whole()
  std::vector<Counters> now_;         // while it is laid out
  std::vector<NodeId> places_;
  std::size_t first_block_ = 0;
  bool evenly_ = false;
};

}  // namespace

std::optional<NetworkPlaces> cheapest_places(const Network& network, const Parallelism& parallel,
                                             std::int64_t gpus_of_pod, std::span<const std::vector<NodeRoom>> lists,
                                             const UplinkLoads& others) {
  std::vector<Search> searches;
  searches.reserve(lists.size());
  std::vector<Search::Holder> holders;
  std::size_t whole_at = 0;
  for (const std::vector<NodeRoom>& rooms : lists) {
    searches.emplace_back(network, parallel, gpus_of_pod, rooms);
    whole_at = std::max(whole_at, searches.back().level_of_whole_groups());
  }
  for (Search& search : searches) {
    search.count_whole(whole_at);
    search.add_holders(holders);
  }
  std::ranges::stable_sort(holders, {}, &Search::Holder::merit);
  if (holders.size() > kDomainsTriedMax) holders.resize(kDomainsTriedMax);
  std::optional<NetworkPlaces> best;
  const auto is_better = [](const NetworkPlaces& a, const NetworkPlaces& b) {
    return std::tie(a.cost, b.liking, a.met, a.room_left) < std::tie(b.cost, a.liking, b.met, b.room_left);
  };
  for (const Search::Holder& holder : holders) {
    NetworkPlaces found = holder.search->cheapest_in(holder.spot);
    found.met = others.met_by(network, found.nodes);
    if (!best || is_better(found, *best)) best = std::move(found);
  }
  return best;
}

}  // namespace berth
