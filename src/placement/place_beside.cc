#include "placement/place_beside.h"

#include <algorithm>
#include <functional>
#include <map>
#include <span>
#include <tuple>
#include <utility>

#include "placement/near_tree.h"
#include "placement/node_liking.h"
#include "state/idle_room.h"
#include "state/neighbour_check.h"
#include "state/room.h"

namespace berth {
namespace {

// The nodes of a domain of the set's level that are in one domain of its slices' level, too. Where it has no such level all are
// in one, but for nodes that are in no domain: then each is by itself.
struct Cell {
  DomainId domain;  // none: in no domain
  DomainId inner;
  NodeId alone = {};

  friend auto operator<=>(const Cell&, const Cell&) = default;
};

class PlacingBeside {
 public:
  PlacingBeside(const State& state, Trial& trial, ScoreIndex& index, const PartOfASet& part, Rng& rng)
      : state_(state),
        trial_(trial),
        index_(index),
        part_(part),
        topologies_(state.topologies()),
        topology_(topologies_[part.set.topology]),
        request_(state.request(part.set.request)),
        around_(state.ledger(), request_),
        rng_(rng),
        liking_(state.ledger(), request_),
        places_(part.lost.size()) {
    if (!has_levels()) return;
    LevelsAround levels = levels_around(topologies_, part.set.topology);
    if (!is_required()) wider_ = std::move(levels.wider);
    if (!has_inner_level()) inner_levels_ = std::move(levels.narrower);
  }

  std::optional<std::vector<PodPlacement>> run() {
    if (!is_required()) return try_in(std::nullopt) ? std::optional(std::move(places_)) : std::nullopt;
    for (const DomainId domain : domains_to_try()) {
      if (try_in(domain)) return std::move(places_);
    }
    return std::nullopt;
  }

 private:
  // Pods that are to be in one cell, or where they are spread on one node: those of a slice, or one alone.
  struct Group {
    std::vector<std::size_t> pods;  // indexes into `lost`
    std::optional<Cell> cell;       // where the rest of the slice is
    std::optional<NodeId> node;     // one of those on which it is

    std::int64_t size() const { return std::ssize(pods); }
  };
  struct CellRoom {
    Cell cell;
    std::vector<NodeId> nodes;
    std::int64_t room = 0;
    std::int64_t liking = INT64_MIN;  // of the node with room that it likes best
    std::vector<std::int64_t> survivors =
        {};  // in its domain, and, where that is preferred, in each around it, the narrowest first
  };

  bool is_required() const { return topology_.together == Togetherness::kRequired; }
  bool has_levels() const { return topology_.together != Togetherness::kAnywhere; }

  bool has_inner_level() const { return !topology_.inner_level().empty(); }

  DomainId domain_of(NodeId node) const {
    return has_levels() ? topologies_.domains(part_.set.topology).of(node) : DomainId(0);
  }
  DomainId inner_of(NodeId node) const {
    return has_inner_level() ? topologies_.inner_domains(part_.set.topology).of(node) : DomainId(0);
  }
  Cell cell_of(NodeId node) const {
    const DomainId domain = domain_of(node);
    return {domain, inner_of(node), domain.is_none() && !has_inner_level() ? node : NodeId()};
  }

  template <class Visit>
  void for_each_survivor(Visit visit) const {
    for (const auto& node : part_.at) {
      if (node) visit(*node);
    }
  }

  // That in which the others are; if there are none, each, the tightest first. Where labels have changed the others may be in
  // several, and then there is none for all.
  std::vector<DomainId> domains_to_try() const {
    std::vector<DomainId> domains;
    for_each_survivor([&](NodeId node) { domains.push_back(domain_of(node)); });
    std::ranges::sort(domains);
    domains.erase(std::unique(domains.begin(), domains.end()), domains.end());
    if (!domains.empty()) {
      if (domains.size() > 1 || domains.front().is_none()) domains.clear();
      return domains;
    }
    std::vector<std::pair<std::int64_t, DomainId>> by_room;
    const Domains& all = topologies_.domains(part_.set.topology);
    for (std::size_t domain = 0; domain < all.size(); ++domain) {
      std::int64_t room = 0;
      for (const NodeId node : all.nodes(DomainId(domain))) room += room_on(node);
      by_room.emplace_back(room, DomainId(domain));
    }
    std::ranges::sort(by_room);
    for (const auto& each : by_room) domains.push_back(each.second);
    return domains;
  }

  // None: in any, and in none.
  bool try_in(std::optional<DomainId> domain) {
    const Trial::Mark mark = trial_.mark();
    is_placed_.assign(places_.size(), false);
    if (topology_.is_spread() ? spread_in(domain) : gather_in(domain)) return true;
    trial_.rollback_to(mark);
    return false;
  }

  std::int64_t room_on(NodeId node) const {
    return around_.allows(node) ? room_for(state_.ledger(), node, request_) : 0;
  }

  bool put(std::size_t lost, std::span<const NodeId> nodes) {
    const auto place = index_.best_among(state_, part_.set.request, nodes, rng_);
    if (!place) return false;
    trial_.apply(move_of(request_, *place));
    places_[lost] = *place;
    is_placed_[lost] = true;
    return true;
  }

  // ---- together ----------------------------------------------------------------------------------------------------

  std::vector<CellRoom> cells_in(std::optional<DomainId> domain) const {
    std::map<Cell, CellRoom> cells;
    for (std::size_t i = 0; i < state_.nodes(); ++i) {
      const NodeId node(i);
      const Cell cell = cell_of(node);
      if (cell.inner.is_none() || (domain && cell.domain != *domain)) continue;
      CellRoom& found = cells[cell];
      found.cell = cell;
      found.nodes.push_back(node);
      const std::int64_t room = room_on(node);
      found.room += room;
      if (room > 0) found.liking = std::max(found.liking, liking_(node));
    }
    std::vector<CellRoom> list;
    const Survivors all = survivors();
    for (auto& [cell, room] : cells) {
      room.survivors = survivors_near(room, all);
      list.push_back(std::move(room));
    }
    return list;
  }

  // By its own level and those around it, the narrowest first: how many of the others are in each domain.
  struct Survivors {
    std::map<DomainId, std::int64_t> own;
    std::vector<std::vector<std::int64_t>> around;
  };

  Survivors survivors() const {
    Survivors all;
    for_each_survivor([&](NodeId node) { ++all.own[domain_of(node)]; });
    for (std::size_t i = wider_.size(); i-- > 0;) {
      std::vector<std::int64_t>& in_domain = all.around.emplace_back(topologies_.network()->domains(wider_[i]));
      for_each_survivor([&](NodeId node) { ++in_domain[topologies_.network()->domain(wider_[i], node)]; });
    }
    return all;
  }

  void add(Survivors& all, const CellRoom& cell, std::int64_t pods) const {
    all.own[cell.cell.domain] += pods;
    for (std::size_t i = 0; i < all.around.size(); ++i) {
      if (const auto around = domain_around(cell, i)) all.around[i][*around] += pods;
    }
  }

  // At the level that is so many wider than the closest one around; none: it lies in several.
  std::optional<std::uint32_t> domain_around(const CellRoom& cell, std::size_t wider) const {
    const DomainId domain = cell.cell.domain;
    const bool is_known = has_levels() && !domain.is_none();
    const std::span<const NodeId> nodes = is_known ? topologies_.domains(part_.set.topology).nodes(domain) : cell.nodes;
    return topologies_.network()->domain_of_all(wider_[wider_.size() - 1 - wider], nodes);
  }

  // Nobody is near another in no domain. A domain that lies in several wider ones is in none of them.
  std::vector<std::int64_t> survivors_near(const CellRoom& cell, const Survivors& all) const {
    const DomainId domain = cell.cell.domain;
    const auto own = all.own.find(domain);
    std::vector<std::int64_t> near = {own == all.own.end() || domain.is_none() ? 0 : own->second};
    for (std::size_t i = 0; i < all.around.size(); ++i) {
      const auto around = domain_around(cell, i);
      near.push_back(around ? all.around[i][*around] : 0);
    }
    return near;
  }

  // None if what is left of a slice is in several places.
  std::optional<std::vector<Group>> groups() const {
    std::map<std::size_t, Group> groups;
    const std::size_t size = topology_.has_slices() ? static_cast<std::size_t>(topology_.slice_pods) : 1;
    for (std::size_t i = 0; i < part_.lost.size(); ++i) groups[part_.lost[i] / size].pods.push_back(i);
    bool whole = true;
    for (std::size_t pod = 0; topology_.has_slices() && pod < part_.at.size(); ++pod) {
      const auto group = groups.find(pod / size);
      if (!part_.at[pod] || group == groups.end()) continue;
      const NodeId node = *part_.at[pod];
      const Cell cell = cell_of(node);
      whole = whole && group->second.cell.value_or(cell) == cell;
      whole = whole && (!topology_.is_spread() || group->second.node.value_or(node) == node);
      group->second.cell = cell;
      group->second.node = node;
    }
    if (!whole) return std::nullopt;
    std::vector<Group> list;
    for (auto& each : groups) list.push_back(std::move(each.second));
    return list;
  }

  bool gather_in(std::optional<DomainId> domain) {
    std::vector<CellRoom> cells = cells_in(domain);
    const auto all = groups();
    if (!all) return false;
    std::vector<const Group*> free;
    Chosen chosen;
    for (const Group& group : *all) {
      if (!group.cell) {
        free.push_back(&group);
        continue;
      }
      const auto cell = std::ranges::find(cells, *group.cell, &CellRoom::cell);
      if (cell == cells.end() || cell->room < group.size()) return false;
      cell->room -= group.size();
      chosen.emplace_back(&group, static_cast<std::size_t>(cell - cells.begin()));
    }
    // The largest first, those of one size in their order.
    std::ranges::stable_sort(free, std::ranges::greater(), [](const Group* group) { return group->size(); });
    int in_vain = 0;
    const bool some_differ = !free.empty() && free.front()->size() != free.back()->size();
    const bool found = assign_at_once(free, cells, chosen) ||
                       (some_differ && std::ssize(free) <= kGroupsMax && assign(free, 0, cells, chosen, in_vain));
    if (!found) return false;
    return std::ranges::all_of(chosen, [&](const auto& each) {
      return std::ranges::all_of(each.first->pods,
                                 [&](std::size_t lost) { return put_near(lost, cells[each.second].nodes); });
    });
  }

  // Of nodes that it likes alike on one of those that are nearest to the others, by the levels inside the one that is asked for.
  bool put_near(std::size_t lost, const std::vector<NodeId>& nodes) {
    if (inner_levels_.empty()) return put(lost, nodes);
    std::vector<NodeId> with_room = nodes;
    std::erase_if(with_room, [&](NodeId node) { return room_on(node) == 0; });
    if (!liking_.is_alike(with_room)) return put(lost, nodes);
    std::vector<NodeId> others;
    for_each_survivor([&](NodeId node) { others.push_back(node); });
    for (std::size_t i = 0; i < places_.size(); ++i) {
      if (is_placed_[i]) others.push_back(places_[i].node);
    }
    return put(lost, nearest_to(others, with_room, inner_levels_, *topologies_.network()));
  }

  using Chosen = std::vector<std::pair<const Group*, std::size_t>>;

  // Where more of the others are, or near it; in a domain rather than in none; of these, for pods, where there is room for all that are
  // left, or for the most; of these where it is liked best, and then where least is left over.
  bool is_better(const CellRoom& a, const CellRoom& b, std::int64_t left) const {
    if (a.survivors != b.survivors) return b.survivors < a.survivors;
    if (a.cell.domain.is_none() != b.cell.domain.is_none()) return b.cell.domain.is_none();
    if (topology_.has_slices()) return std::tie(b.liking, a.room) < std::tie(a.liking, b.room);
    const std::int64_t in_a = std::min(a.room, left);
    const std::int64_t in_b = std::min(b.room, left);
    return std::tie(in_b, b.liking, a.room) < std::tie(in_a, a.liking, b.room);
  }

  // Each where it is best; nothing is changed if one finds no room. For groups of one size no other way would do.
  bool assign_at_once(const std::vector<const Group*>& free, std::vector<CellRoom>& cells, Chosen& chosen) const {
    const std::vector<CellRoom> cells_before = cells;
    const std::size_t before = chosen.size();
    Survivors there = survivors();
    std::int64_t left = 0;
    for (const Group* const group : free) left += group->size();
    for (const Group* const group : free) {
      std::optional<std::size_t> best;
      for (std::size_t at = 0; at < cells.size(); ++at) {
        if (cells[at].room < group->size()) continue;
        if (!best || is_better(cells[at], cells[*best], left)) best = at;
      }
      if (!best) {
        cells = cells_before;
        chosen.resize(before);
        return false;
      }
      cells[*best].room -= group->size();
      left -= group->size();
      chosen.emplace_back(group, *best);
      add(there, cells[*best], group->size());
      for (CellRoom& each : cells) each.survivors = survivors_near(each, there);
    }
    return true;
  }

  // Groups are of different sizes where some pods of a slice have ended: then all ways are tried, up to a bound.
  static bool assign(const std::vector<const Group*>& free, std::size_t next, std::vector<CellRoom>& cells,
                     Chosen& chosen, int& in_vain) {
    if (next == free.size()) return true;
    for (std::size_t at = 0; at < cells.size() && in_vain < kInVainMax; ++at) {
      if (cells[at].room < free[next]->size()) continue;
      cells[at].room -= free[next]->size();
      chosen.emplace_back(free[next], at);
      if (assign(free, next + 1, cells, chosen, in_vain)) return true;
      chosen.pop_back();
      cells[at].room += free[next]->size();
      ++in_vain;
    }
    return false;
  }

  // ---- apart -------------------------------------------------------------------------------------------------------

  struct InnerDomain {
    std::vector<NodeId> nodes;
    std::int64_t units = 0;  // whole slices, or pods
    bool counts = false;     // a node there could hold one
  };
  using UnitsOn = std::map<NodeId, std::int64_t>;

  // Where the slices are of which some are left, or these pods.
  UnitsOn units_on_nodes() const {
    UnitsOn on;
    const auto unit = static_cast<std::size_t>(topology_.unit_pods());
    for (std::size_t first = 0; first < part_.at.size(); first += unit) {
      const auto end = std::min(part_.at.size(), first + unit);
      for (std::size_t pod = first; pod < end; ++pod) {
        if (!part_.at[pod]) continue;
        ++on[*part_.at[pod]];
        break;
      }
    }
    return on;
  }

  std::vector<InnerDomain> inner_domains_in(std::optional<DomainId> domain, const UnitsOn& units) const {
    const Domains& known = topologies_.inner_domains(part_.set.topology);
    std::vector<InnerDomain> inner(known.size());
    for (std::size_t at = 0; at < known.size(); ++at) {
      for (const NodeId node : known.nodes(DomainId(at))) {
        if (domain && domain_of(node) != *domain) continue;
        inner[at].nodes.push_back(node);
        inner[at].counts = inner[at].counts || (state_.ledger().node(node).is_up() &&
                                                could_be_on(state_, request_, node, topology_.unit_pods()));
      }
    }
    for (const auto& [node, count] : units) {
      if (const DomainId at = known.of(node); !at.is_none()) inner[at.index()].units += count;
    }
    return inner;
  }

  // One after the other, each to where there are fewest: no order of them would do if this does not. What is left of a slice draws
  // the rest of it.
  bool spread_in(std::optional<DomainId> domain) {
    UnitsOn units = units_on_nodes();
    std::vector<InnerDomain> inner = inner_domains_in(domain, units);
    std::erase_if(inner, [](const InnerDomain& each) { return !each.counts; });
    const auto all = groups();
    if (!all) return false;
    const auto is_counted = [&](NodeId node) {
      return std::ranges::any_of(
          inner, [&](const InnerDomain& each) { return std::ranges::find(each.nodes, node) != each.nodes.end(); });
    };
    for (const Group& group : *all) {
      if (group.node && (!is_counted(*group.node) || !put_on(group, {*group.node}))) return false;
    }
    for (const Group& group : *all) {
      if (group.node) continue;
      InnerDomain* const emptiest = emptiest_of(inner, units, group.size());
      if (emptiest == nullptr) return false;
      if (!put_on(group, nodes_for(*emptiest, units, group.size()))) return false;
      ++emptiest->units;
      ++units[places_[group.pods.front()].node];
    }
    return true;
  }

  // All of them on one of these nodes.
  bool put_on(const Group& group, std::vector<NodeId> nodes) {
    std::erase_if(nodes, [&](NodeId node) { return room_on(node) < group.size(); });
    if (!put(group.pods.front(), nodes)) return false;
    const NodeId node = places_[group.pods.front()].node;
    return std::ranges::all_of(group.pods.begin() + 1, group.pods.end(),
                               [&](std::size_t lost) { return put(lost, std::span(&node, 1)); });
  }

  static std::int64_t units_on(const UnitsOn& units, NodeId node) {
    const auto found = units.find(node);
    return found == units.end() ? 0 : found->second;
  }

  // In whole groups.
  std::int64_t room_for_groups(NodeId node, const UnitsOn& units, std::int64_t size) const {
    const bool is_full = topology_.on_nodes == OnNodes::kOneEach && units_on(units, node) > 0;
    return is_full ? 0 : room_on(node) / size * size;
  }

  // Those on which the set's own strategy has it, of these with room.
  std::vector<NodeId> nodes_for(const InnerDomain& inner, const UnitsOn& units, std::int64_t size) const {
    std::vector<NodeId> nodes = inner.nodes;
    std::erase_if(nodes, [&](NodeId node) { return room_for_groups(node, units, size) == 0; });
    if (topology_.on_nodes != OnNodes::kEvenly && topology_.on_nodes != OnNodes::kFew) return nodes;
    const auto by_units = [&](NodeId a, NodeId b) { return units_on(units, a) < units_on(units, b); };
    const auto [fewest, most] = std::ranges::minmax_element(nodes, by_units);
    const std::int64_t best = units_on(units, topology_.on_nodes == OnNodes::kFew ? *most : *fewest);
    std::erase_if(nodes, [&](NodeId node) { return units_on(units, node) != best; });
    return nodes;
  }

  // Of those that may take one more the emptiest, of these the one with the least room left over.
  InnerDomain* emptiest_of(std::vector<InnerDomain>& inner, const UnitsOn& units, std::int64_t size) const {
    InnerDomain* best = nullptr;
    std::int64_t room_of_best = 0;
    std::int64_t least = INT64_MAX;
    for (const InnerDomain& each : inner) least = std::min(least, each.units);
    for (InnerDomain& each : inner) {
      if (topology_.spread == Spreading::kApart && each.units > 0) continue;
      if (topology_.spread == Spreading::kEven && each.units > least) continue;
      std::int64_t room = 0;
      for (const NodeId node : each.nodes) room += room_for_groups(node, units, size);
      if (room == 0) continue;
      const bool better =
          best == nullptr || each.units < best->units || (each.units == best->units && room < room_of_best);
      if (!better) continue;
      best = &each;
      room_of_best = room;
    }
    return best;
  }

  static constexpr std::int64_t kGroupsMax = 64;
  static constexpr int kInVainMax = 4096;

  const State& state_;
  Trial& trial_;
  ScoreIndex& index_;
  const PartOfASet& part_;
  const Topologies& topologies_;
  const Topology& topology_;
  const PodRequest& request_;
  NeighbourCheck around_;  // others may keep it away; it asks nothing of them itself, so its own pods change nothing
  Rng& rng_;
  NodeLiking liking_;
  std::vector<std::size_t> wider_ = {};         // levels of the network, where one is preferred
  std::vector<std::size_t> inner_levels_ = {};  // inside the one that is asked for, where there are no slices
  std::vector<bool> is_placed_ = {};            // of those who are lost
  std::vector<PodPlacement> places_;
};

}  // namespace

std::optional<std::vector<PodPlacement>> place_beside(const State& state, Trial& trial, ScoreIndex& index,
                                                      const PartOfASet& part, Rng& rng) {
  return PlacingBeside(state, trial, index, part, rng).run();
}

}  // namespace berth
