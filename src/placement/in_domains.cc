#include "placement/in_domains.h"

#include <algorithm>
#include <span>
#include <tuple>
#include <utility>

#include "placement/near_tree.h"
#include "placement/placing_in_domains.h"
#include "placement/spread_in_domains.h"

namespace berth {
namespace {

class PlacingTogether : PlacingInDomains {
 public:
  PlacingTogether(const State& state, Trial& trial, ScoreIndex& index, const NumberedPodSet& set, Rng& rng,
                  std::int64_t more, const std::vector<NodeId>* among)
      : PlacingInDomains(state, trial, index, set, rng, among), more_(more) {}

  std::variant<std::vector<PodPlacement>, std::int64_t> run() {
    DomainRooms rooms = rooms_exactly();
    if (!rooms.hold(topology_, set_.count)) return missing(rooms);
    inner_ = std::move(rooms.of_inner);
    if (topology_.together == Togetherness::kAnywhere) {
      fill_slices(slices_where([](const InnerRoom&) { return true; }), set_.count);
      return std::move(places_);
    }
    NearTree tree = tree_of_rooms();
    const NearTree::Group all = tree.all();
    const std::int64_t inside = std::min(set_.count, all.room);
    if (inside > 0) place(tree, all, inside, more_);
    if (inside < set_.count) fill_outside(set_.count - inside);
    return std::move(places_);
  }

 private:
  using Group = NearTree::Group;

  // Of domains of one level.
  struct DomainShare {
    Group domain;
    std::int64_t pods = 0;
  };

  NearTree tree_of_rooms() const {
    NearTree tree(topologies_, set_.topology);
    if (topology_.has_slices()) {
      for (std::size_t i = 0; i < inner_.size(); ++i) {
        const std::int64_t room = inner_[i].room / topology_.slice_pods * topology_.slice_pods;
        if (room > 0 && !inner_[i].domain.is_none()) tree.add(i, room, inner_[i].domain, nodes_of(inner_[i]));
      }
    } else {
      const Domains& domains = topologies_.domains(set_.topology);
      for (std::size_t i = 0; i < domains.size(); ++i) {
        for (const NodeId node : domains.nodes(DomainId(i))) {
          if (room_on_[node.index()] > 0) tree.add(node.index(), room_on_[node.index()], DomainId(i), {&node, 1});
        }
      }
    }
    tree.sort();
    return tree;
  }

  // In the closest domain that will do. PRE: it has room for all.
  void place(const NearTree& tree, const Group& in, std::int64_t pods, std::int64_t more) {
    if (const auto closest = closest_inside(tree, in, pods + more)) return place_inside(tree, *closest, pods);
    if (in.depth >= tree.own_depth()) return place_inside(tree, in, pods);  // in none that is narrower
    if (more > 0) {
      const Group around = closest_around(tree, in, pods + more);
      if (around.depth > in.depth) return place(tree, around, pods, more);
      const Group roomiest = roomiest_inside(tree, in);
      if (roomiest.room >= pods) return place_inside(tree, roomiest, pods);
    }
    split(tree, closest_around(tree, in, pods, more > 0), pods);
  }

  // Of the level that the set asks for; of several the best liked.
  Group roomiest_inside(const NearTree& tree, const Group& in) const {
    Group best;
    std::int64_t best_liking = 0;
    for (const Group& each : tree.groups(in, tree.own_depth())) {
      if (each.room < best.room) continue;
      const std::int64_t liking = liking_of(tree, each, each.room);
      if (each.room == best.room && liking <= best_liking) continue;
      best = each;
      best_liking = liking;
    }
    return best;
  }

  // Of the level that the set asks for, or narrower: of those that have room for so many the best liked, of these of the narrowest,
  // and of these the one with the least room.
  std::optional<Group> closest_inside(const NearTree& tree, const Group& in, std::int64_t pods) const {
    std::optional<Group> best;
    std::int64_t best_liking = 0;
    for (std::size_t depth = std::max(in.depth, tree.own_depth()); depth <= tree.last_depth(); ++depth) {
      for (const Group& each : tree.groups(in, depth)) {
        if (each.room < pods || !each.is_domain) continue;
        const std::int64_t liking = liking_of(tree, each, pods);
        const bool better =
            !best || liking > best_liking || (liking == best_liking && (best->depth < depth || each.room < best->room));
        if (!better) continue;
        best = each;
        best_liking = liking;
      }
    }
    return best;
  }

  // The narrowest of those around the level asked for that has room for them, in as few of its domains as can be; of these the best
  // liked, and then the one with the least room, or the most. `in`, if there is none.
  Group closest_around(const NearTree& tree, const Group& in, std::int64_t pods, bool or_most = false) const {
    for (std::size_t depth = tree.own_depth() - 1; depth > in.depth; --depth) {
      std::optional<Group> best;
      std::tuple<std::int64_t, std::int64_t, std::int64_t> best_merits;
      for (const Group& each : tree.groups(in, depth)) {
        if (each.room < pods) continue;
        const std::tuple merits(tree.fewest_domains(each, pods), -liking_of(tree, each, pods),
                                or_most ? -each.room : each.room);
        if (best && best_merits <= merits) continue;
        best = each;
        best_merits = merits;
      }
      if (best) return *best;
    }
    return in;
  }

  // What nobody asks for, few domains inside that which is asked for, goes behind all that is preferred.
  void place_inside(const NearTree& tree, const Group& domain, std::int64_t pods) {
    const std::span<const NearTree::Leaf> leaves = tree.leaves(domain);
    const bool is_divided = domain.depth < tree.last_depth();
    if (is_divided && likes_alike_) return split(tree, domain, pods);
    const std::vector<NodeId> nodes = nodes_of_leaves(leaves);
    if (is_divided && liking_.is_alike(nodes)) return split(tree, domain, pods);
    topology_.has_slices() ? fill_slices(items_of(leaves), pods) : put_among(nodes, pods);
  }

  // Over few of the domains that are in it.
  void split(const NearTree& tree, const Group& domain, std::int64_t pods) {
    std::vector<Group> parts = tree.groups(domain, domain.depth + 1);
    const auto room_of = [&](std::size_t part) { return parts[part].room; };
    std::vector<DomainShare> shares;
    for (std::int64_t left = pods; left > 0; left -= shares.back().pods) {
      const auto liking_of_part = [&](std::size_t part) { return liking_of(tree, parts[part], left); };
      // Of several domains the last one has room for as many as the others, if any has.
      const std::int64_t among = std::ssize(shares) + 1;
      const std::int64_t wanted = among == 1 ? left : std::max(left, (pods + among - 1) / among);
      const std::size_t part = *choose(parts.size(), wanted, true, room_of, liking_of_part);
      shares.push_back({parts[part], std::min(left, parts[part].room)});
      parts[part].room = 0;
    }
    share_evenly(shares);
    for (const DomainShare& each : shares) place(tree, each.domain, each.pods, 0);
  }

  // Of a gang in several domains the one with fewest pods has the least of the way between them, and the others wait for it.
  void share_evenly(std::vector<DomainShare>& shares) const {
    const std::int64_t slice = std::max<std::int64_t>(1, topology_.slice_pods);
    std::vector<DomainShare*> order;
    std::int64_t left = 0;  // slices
    for (DomainShare& each : shares) {
      order.push_back(&each);
      left += each.pods / slice;
    }
    std::ranges::stable_sort(order, {}, [](const DomainShare* share) { return share->domain.room; });
    for (std::int64_t sharers = std::ssize(order); DomainShare* const each : order) {
      const std::int64_t here = std::min(each->domain.room / slice, left / sharers--);
      each->pods = here * slice;
      left -= here;
    }
  }

  std::int64_t liking_of(const NearTree& tree, const Group& group, std::int64_t pods) const {
    return likes_alike_ ? 0 : liking_in(nodes_of_leaves(tree.leaves(group)), pods);
  }

  static std::vector<std::size_t> items_of(std::span<const NearTree::Leaf> leaves) {
    std::vector<std::size_t> items;
    for (const NearTree::Leaf& leaf : leaves) items.push_back(leaf.item);
    std::ranges::sort(items);
    return items;
  }

  std::vector<NodeId> nodes_of_leaves(std::span<const NearTree::Leaf> leaves) const {
    std::vector<NodeId> nodes;
    for (const std::size_t item : items_of(leaves)) {
      if (!topology_.has_slices()) {
        nodes.emplace_back(item);
      } else {
        const std::vector<NodeId> inner = nodes_of(inner_[item]);
        nodes.insert(nodes.end(), inner.begin(), inner.end());
      }
    }
    return nodes;
  }

  std::int64_t missing(const DomainRooms& rooms) const {
    // One pod more may make room for a whole slice.
    if (topology_.slice_pods > 0) return 1;
    const bool split = topology_.together == Togetherness::kPreferred;
    return std::max<std::int64_t>(1, set_.count - (split ? rooms.sum() : rooms.most()));
  }

  template <class Is>
  std::vector<std::size_t> slices_where(Is is) const {
    std::vector<std::size_t> some;
    for (std::size_t i = 0; i < inner_.size(); ++i) {
      if (is(inner_[i])) some.push_back(i);
    }
    return some;
  }

  // Some of the slices' domains. PRE: they have room for whole ones.
  void fill_slices(const std::vector<std::size_t>& some, std::int64_t pods) {
    const std::int64_t slice = topology_.slice_pods;
    const auto room_of = [&](std::size_t at) { return inner_[some[at]].room; };
    const auto liking_of = [&](std::size_t at) {
      return likes_alike_ ? 0 : liking_in(nodes_of(inner_[some[at]]), slice);
    };
    for (; pods > 0; pods -= slice) {
      // The one that is emptied furthest: what it has beyond whole slices is of least use to others.
      InnerRoom& at = inner_[some[*choose(some.size(), slice, false, room_of, liking_of)]];
      put_among(nodes_of(at), slice);
      at.room -= slice;
    }
  }

  // On nodes that are in no domain: near those who have places, else near each other.
  void put_outside(std::int64_t pods) {
    const std::vector<std::size_t> wider = levels_around(topologies_, set_.topology).wider;
    std::vector<NodeId> nodes = nodes_of(DomainId());
    while (pods > 0) {
      std::erase_if(nodes, [&](NodeId node) { return room_here(node) == 0; });
      std::vector<NodeId> near = nearest_of(nodes, wider);
      if (near.size() == nodes.size()) near = closest_of(nodes, wider, pods);
      std::int64_t room = 0;
      for (const NodeId node : near) room += room_here(node);
      BERTH_ASSERT(room > 0);  // the rooms were counted
      put_among(near, std::min(pods, room));
      pods -= std::min(pods, room);
    }
  }

  // Those in the narrowest domain that has room for all, the fullest; else in the roomiest of the widest level.
  std::vector<NodeId> closest_of(const std::vector<NodeId>& nodes, const std::vector<std::size_t>& wider,
                                 std::int64_t pods) const {
    const Network& network = *topologies_.network();
    const auto in_domain = [&](std::size_t level, std::size_t domain) {
      std::vector<NodeId> in_it = nodes;
      std::erase_if(in_it, [&](NodeId node) { return network.domain(level, node) != domain; });
      return in_it;
    };
    for (std::size_t i = wider.size(); i-- > 0;) {
      std::vector<std::int64_t> rooms(network.domains(wider[i]));
      for (const NodeId node : nodes) rooms[network.domain(wider[i], node)] += room_here(node);
      const auto room_of = [&](std::size_t domain) { return rooms[domain]; };
      const auto liking_of = [&](std::size_t domain) {
        return likes_alike_ ? 0 : liking_in(in_domain(wider[i], domain), pods);
      };
      const bool is_widest = i == 0;
      auto domain = choose(rooms.size(), pods + more_, false, room_of, liking_of);
      if (!domain) domain = choose(rooms.size(), pods, is_widest, room_of, liking_of);
      if (domain) return in_domain(wider[i], *domain);
    }
    return nodes;
  }

  // Those around which the most have places, in the narrowest domains first.
  std::vector<NodeId> nearest_of(const std::vector<NodeId>& nodes, const std::vector<std::size_t>& wider) const {
    std::vector<NodeId> placed;
    for (const PodPlacement& each : places_) placed.push_back(each.node);
    return nearest_to(placed, nodes, wider, *topologies_.network());
  }

  // Slices on nodes that are in no domain, and then such as no domain holds whole. PRE: no domain has room for a whole one.
  void fill_outside(std::int64_t pods) {
    const std::int64_t slice = topology_.slice_pods;
    if (slice == 0) return put_outside(pods);
    const std::vector<std::size_t> outside = slices_where([](const InnerRoom& each) { return each.domain.is_none(); });
    std::int64_t whole = 0;
    for (const std::size_t at : outside) whole += inner_[at].room / slice * slice;
    whole = std::min(whole, pods);
    fill_slices(outside, whole);
    std::vector<InnerRoom> across;
    for (const InnerRoom& each : inner_) {
      if (across.empty() || across.back().inner != each.inner) across.push_back({DomainId(), each.inner});
      across.back().room += each.room;
    }
    const auto nodes_across = [&](std::size_t at) {
      const auto nodes = topologies_.inner_domains(set_.topology).nodes(across[at].inner);
      return std::vector<NodeId>(nodes.begin(), nodes.end());
    };
    const auto room_of = [&](std::size_t at) { return across[at].room; };
    const auto liking_of = [&](std::size_t at) { return likes_alike_ ? 0 : liking_in(nodes_across(at), slice); };
    for (pods -= whole; pods > 0; pods -= slice) {
      const std::size_t at = *choose(across.size(), slice, false, room_of, liking_of);
      put_among(nodes_across(at), slice);
      across[at].room -= slice;
    }
  }

  std::int64_t more_;                  // pods that may come later
  std::vector<InnerRoom> inner_ = {};  // where slices find room
};

}  // namespace

std::variant<std::vector<PodPlacement>, std::int64_t> place_in_domains(const State& state, Trial& trial,
                                                                       ScoreIndex& index, const NumberedPodSet& set,
                                                                       Rng& rng, std::int64_t more,
                                                                       const std::vector<NodeId>* among) {
  if (state.topologies()[set.topology].is_spread()) return place_spread(state, trial, index, set, rng, among);
  return PlacingTogether(state, trial, index, set, rng, more, among).run();
}

}  // namespace berth
