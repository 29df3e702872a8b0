#include "placement/in_domains.h"

#include <algorithm>
#include <functional>
#include <iterator>
#include <span>
#include <tuple>
#include <utility>

#include "placement/near_tree.h"
#include "placement/node_liking.h"
#include "state/idle_room.h"
#include "state/neighbour_check.h"
#include "state/room.h"
#include "state/spread.h"

namespace berth {
namespace {

// Of so many items, by what room each has and how well it is liked: of those with enough room the best liked, of these the
// one with the least; if none has enough, and `or_largest`, the one with the most.
template <class RoomOf, class LikingOf>
std::optional<std::size_t> choose(std::size_t items, std::int64_t pods, bool or_largest, RoomOf room_of,
                                  LikingOf liking_of) {
  struct Found {
    std::size_t item;
    std::int64_t room;
    std::int64_t liking;
  };
  std::optional<Found> best;
  std::optional<Found> largest;
  for (std::size_t item = 0; item < items; ++item) {
    const std::int64_t room = room_of(item);
    if (room > 0 && (!largest || room > largest->room)) largest = Found{item, room, 0};
    if (room < pods) continue;
    const Found found{item, room, liking_of(item)};
    const bool better = !best || found.liking > best->liking || (found.liking == best->liking && room < best->room);
    if (better) best = found;
  }
  if (best) return best->item;
  return or_largest && largest ? std::optional(largest->item) : std::nullopt;
}

class PlacingInDomains {
 public:
  PlacingInDomains(const State& state, Trial& trial, ScoreIndex& index, const NumberedPodSet& set, Rng& rng,
                   std::int64_t more, const std::vector<NodeId>* among)
      : state_(state),
        trial_(trial),
        index_(index),
        set_(set),
        topologies_(state.topologies()),
        topology_(topologies_[set.topology]),
        request_(state.request(set.request)),
        liking_(state.ledger(), request_),
        likes_alike_(liking_.is_alike()),
        more_(more),
        around_(state.ledger(), request_),
        among_(among),
        rng_(rng) {}

  std::variant<std::vector<PodPlacement>, std::int64_t> run() {
    if (topology_.is_spread()) return run_spread();
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
      const std::int64_t liking = liking_in(tree, each, each.room);
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
        const std::int64_t liking = liking_in(tree, each, pods);
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
        const std::tuple merits(tree.fewest_domains(each, pods), -liking_in(tree, each, pods),
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
    const std::vector<NodeId> nodes = nodes_of(leaves);
    if (domain.depth < tree.last_depth() && liking_.is_alike(nodes)) return split(tree, domain, pods);
    topology_.has_slices() ? fill_slices(items_of(leaves), pods) : put_among(nodes, pods);
  }

  // Over few of the domains that are in it.
  void split(const NearTree& tree, const Group& domain, std::int64_t pods) {
    std::vector<Group> parts = tree.groups(domain, domain.depth + 1);
    const auto room_of = [&](std::size_t part) { return parts[part].room; };
    std::vector<DomainShare> shares;
    for (std::int64_t left = pods; left > 0; left -= shares.back().pods) {
      const auto liking_of = [&](std::size_t part) { return liking_in(tree, parts[part], left); };
      // Of several domains the last one has room for as many as the others, if any has.
      const std::int64_t among = std::ssize(shares) + 1;
      const std::int64_t wanted = among == 1 ? left : std::max(left, (pods + among - 1) / among);
      const std::size_t part = *choose(parts.size(), wanted, true, room_of, liking_of);
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

  std::int64_t liking_in(const NearTree& tree, const Group& group, std::int64_t pods) const {
    if (likes_alike_) return 0;
    return liking_in(nodes_of(tree.leaves(group)), pods);
  }

  static std::vector<std::size_t> items_of(std::span<const NearTree::Leaf> leaves) {
    std::vector<std::size_t> items;
    for (const NearTree::Leaf& leaf : leaves) items.push_back(leaf.item);
    std::ranges::sort(items);
    return items;
  }

  std::vector<NodeId> nodes_of(std::span<const NearTree::Leaf> leaves) const {
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

  // The nodes of an inner domain, and how many pods go there.
  struct Part {
    std::vector<NodeId> nodes;
    std::int64_t room = 0;
    std::int64_t liking = 0;
    std::int64_t pods = 0;
  };

  std::variant<std::vector<PodPlacement>, std::int64_t> run_spread() {
    const DomainRooms rooms = rooms_exactly();
    // How many rooms less it is short of does not follow from their sum.
    if (!rooms.hold(topology_, set_.count)) return 1;
    const std::vector<std::vector<InnerRoom>> inner = rooms.inner_by_domain();
    const auto room_of = [&](std::size_t domain) {
      if (rooms.of_domain[domain] < set_.count) return std::int64_t{0};
      std::int64_t sum = 0;
      for (const InnerRoom& each : inner[domain]) sum += each.room;
      return sum;
    };
    const auto liking_of = [&](std::size_t domain) {
      std::int64_t liking = 0;
      if (likes_alike_) return liking;
      for (const Part& part : parts_of(inner[domain])) liking += liking_in(part.nodes, part.pods);
      return liking;
    };
    const auto domain = choose(rooms.of_domain.size(), set_.count, false, room_of, liking_of);
    for (const Part& part : parts_of(inner[*domain])) put_over(part.nodes, part.pods);
    return std::move(places_);
  }

  // What goes to one of the domains over which the set is spread: over its nodes as it asks, whole slices on one.
  void put_over(const std::vector<NodeId>& nodes, std::int64_t pods) {
    const std::int64_t unit = topology_.unit_pods();
    if (unit == 1 && topology_.on_nodes == OnNodes::kAnyhow) return put_among(nodes, pods);
    std::vector<std::int64_t> taken(nodes.size());  // units
    while (pods > 0) {
      const bool evenly = topology_.on_nodes == OnNodes::kEvenly;
      const std::int64_t fewest = evenly ? fewest_where_one_more_fits(nodes, taken) : 0;
      const bool in_few = topology_.on_nodes == OnNodes::kFew;
      const auto room_of = [&](std::size_t at) {
        const bool is_full = topology_.on_nodes == OnNodes::kOneEach && taken[at] > 0;
        if (is_full || (evenly && taken[at] > fewest)) return std::int64_t{0};
        return room_here(nodes[at]) / unit * unit;
      };
      const auto liking_of = [&](std::size_t at) { return likes_alike_ ? 0 : liking_(nodes[at]); };
      const std::size_t at = *choose(nodes.size(), in_few ? pods : unit, in_few, room_of, liking_of);
      const std::int64_t here = in_few ? std::min(pods, room_of(at)) : unit;
      put_among(std::span(&nodes[at], 1), here);
      taken[at] += here / unit;
      pods -= here;
    }
  }

  std::int64_t fewest_where_one_more_fits(const std::vector<NodeId>& nodes,
                                          const std::vector<std::int64_t>& taken) const {
    std::int64_t fewest = INT64_MAX;
    for (std::size_t at = 0; at < nodes.size(); ++at) {
      if (room_here(nodes[at]) >= topology_.unit_pods()) fewest = std::min(fewest, taken[at]);
    }
    return fewest;
  }

  // What does not go evenly goes where it is liked best, of these where the least room is left over.
  // PRE: all of it goes there.
  std::vector<Part> parts_of(const std::vector<InnerRoom>& inner) const {
    std::vector<Part> parts;
    for (const InnerRoom& each : inner) {
      Part part{.nodes = nodes_of(each), .room = each.room};
      if (!likes_alike_) part.liking = liking_in(part.nodes, topology_.unit_pods());
      parts.push_back(std::move(part));
    }
    std::ranges::stable_sort(
        parts, [](const Part& a, const Part& b) { return std::tie(b.liking, a.room) < std::tie(a.liking, b.room); });
    const std::int64_t unit = topology_.unit_pods();
    std::vector<std::int64_t> room;
    for (const Part& each : parts) room.push_back(each.room / unit);
    const auto units = spread_over(topology_.spread, room, set_.count / unit);
    BERTH_ASSERT(units.has_value());
    for (std::size_t i = 0; i < parts.size(); ++i) parts[i].pods = unit * (*units)[i];
    return parts;
  }

  bool is_among(NodeId node) const { return among_ == nullptr || std::ranges::binary_search(*among_, node); }
  std::int64_t room_here(NodeId node) const {
    return is_among(node) && around_.allows(node) ? room_for(state_.ledger(), node, request_) : 0;
  }

  // More room than is asked tells the fuller domain from the emptier one.
  DomainRooms rooms_exactly() {
    room_on_.resize(state_.nodes());
    const auto room_on = [&](NodeId node) { return room_on_[node.index()] = room_here(node); };
    const auto counts = [&](NodeId node) {
      const bool does =
          state_.ledger().node(node).is_up() && could_be_on(state_, request_, node, topology_.unit_pods());
      return does ? CountsInSpread::kYes : CountsInSpread::kNo;
    };
    return rooms_of_domains(topologies_, set_.topology, NodeRooms{state_.nodes(), set_.count, room_on, counts, true});
  }

  std::int64_t missing(const DomainRooms& rooms) const {
    // One pod more may make room for a whole slice.
    if (topology_.slice_pods > 0) return 1;
    const bool split = topology_.together == Togetherness::kPreferred;
    return std::max<std::int64_t>(1, set_.count - (split ? rooms.sum() : rooms.most()));
  }

  // None: none.
  DomainId domain_of(NodeId node) const {
    const bool anywhere = topology_.together == Togetherness::kAnywhere;
    return anywhere ? DomainId(0) : topologies_.domains(set_.topology).of(node);
  }

  // None: those that are in none.
  std::vector<NodeId> nodes_of(DomainId domain) const {
    std::vector<NodeId> nodes;
    if (topology_.together != Togetherness::kAnywhere && !domain.is_none()) {
      const auto known = topologies_.domains(set_.topology).nodes(domain);
      nodes.assign(known.begin(), known.end());
      return nodes;
    }
    for (std::size_t node = 0; node < state_.nodes(); ++node) {
      if (domain_of(NodeId(node)) == domain) nodes.emplace_back(node);
    }
    return nodes;
  }

  std::vector<NodeId> nodes_of(const InnerRoom& room) const {
    std::vector<NodeId> nodes;
    for (const NodeId node : topologies_.inner_domains(set_.topology).nodes(room.inner)) {
      if (domain_of(node) == room.domain) nodes.push_back(node);
    }
    return nodes;
  }

  // How well so many pods would like to be there, on the nodes that they like best, whatever their slices.
  std::int64_t liking_in(std::vector<NodeId> nodes, std::int64_t pods) const {
    std::int64_t sum = 0;
    std::ranges::sort(nodes, std::ranges::greater(), [&](NodeId node) { return liking_(node); });
    for (const NodeId node : nodes) {
      const std::int64_t here = std::min(pods, room_here(node));
      sum += here * liking_(node);
      pods -= here;
    }
    return sum;
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

  void put_among(std::span<const NodeId> nodes, std::int64_t pods) {
    std::vector<NodeId> some;
    if (among_ != nullptr) {
      std::ranges::copy_if(nodes, std::back_inserter(some), [&](NodeId node) { return is_among(node); });
      nodes = some;
    }
    for (; pods > 0; --pods) put(index_.best_among(state_, set_.request, nodes, rng_));
  }

  void put(const std::optional<PodPlacement>& place) {
    BERTH_ASSERT(place.has_value());  // the rooms were counted
    trial_.apply(move_of(request_, *place));
    places_.push_back(*place);
  }

  const State& state_;
  Trial& trial_;
  ScoreIndex& index_;
  const NumberedPodSet& set_;
  const Topologies& topologies_;
  const Topology& topology_;
  const PodRequest& request_;
  NodeLiking liking_;
  bool likes_alike_;       // all nodes
  std::int64_t more_;      // pods that may come later
  NeighbourCheck around_;  // others may keep it away; it asks nothing of them itself, so its own pods change nothing
  const std::vector<NodeId>* among_;  // where it may be; nullptr: anywhere
  Rng& rng_;
  std::vector<std::int64_t> room_on_ = {};  // by node
  std::vector<InnerRoom> inner_ = {};       // where slices find room
  std::vector<PodPlacement> places_ = {};
};

}  // namespace

std::variant<std::vector<PodPlacement>, std::int64_t> place_in_domains(const State& state, Trial& trial,
                                                                       ScoreIndex& index, const NumberedPodSet& set,
                                                                       Rng& rng, std::int64_t more,
                                                                       const std::vector<NodeId>* among) {
  return PlacingInDomains(state, trial, index, set, rng, more, among).run();
}

}  // namespace berth
