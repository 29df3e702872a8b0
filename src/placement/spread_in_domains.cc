#include "placement/spread_in_domains.h"

#include <algorithm>
#include <span>
#include <tuple>
#include <utility>

#include "state/spread.h"

namespace berth {
namespace {

class PlacingSpread : PlacingInDomains {
 public:
  using PlacingInDomains::PlacingInDomains;

  std::variant<std::vector<PodPlacement>, std::int64_t> run() {
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

 private:
  // The nodes of an inner domain, and how many pods go there.
  struct Part {
    std::vector<NodeId> nodes;
    std::int64_t room = 0;
    std::int64_t liking = 0;
    std::int64_t pods = 0;
  };

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
};

}  // namespace

std::variant<std::vector<PodPlacement>, std::int64_t> place_spread(const State& state, Trial& trial, ScoreIndex& index,
                                                                   const NumberedPodSet& set, Rng& rng,
                                                                   const std::vector<NodeId>* among) {
  return PlacingSpread(state, trial, index, set, rng, among).run();
}

}  // namespace berth
