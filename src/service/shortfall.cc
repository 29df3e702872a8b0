#include "service/shortfall.h"

#include <algorithm>
#include <cstddef>
#include <map>
#include <tuple>
#include <utility>

#include "manifest/topology_request.h"
#include "state/domain_rooms.h"
#include "state/idle_room.h"
#include "state/room.h"

namespace berth {
namespace {

constexpr std::size_t kDomainsTold = 10;

class RoomCount {
 public:
  RoomCount(const State& state, const NumberedPodSet& set)
      : state_(state),
        set_(set),
        request_(state.request(set.request)),
        topology_(state.topologies()[set.topology]),
        rooms_(counted()) {}

  bool is_enough() const { return rooms_.hold(topology_, set_.count); }
  std::int64_t most() const { return rooms_.most(); }
  bool is_only_spread() const { return topology_.is_spread() && topology_.together == Togetherness::kAnywhere; }

  // The same question, of another flavor.
  bool asks_as(const RoomCount& other) const {
    return set_.topology == other.set_.topology && set_.count == other.set_.count &&
           request_.gpu_milli_total() == other.request_.gpu_milli_total();
  }
  Shortfall without_domains() const {
    return {.level = label_of_level(level()),
            .together = topology_.together == Togetherness::kRequired,
            .pods = set_.count,
            .gpu_milli = request_.gpu_milli_total(),
            .domains = {}};
  }
  std::vector<DomainShortfall> all_domains() const {
    std::vector<DomainShortfall> domains;
    if (!names_a_level() && !is_in_slices()) {
      for (std::size_t i = 0; i < state_.nodes(); ++i) {
        const NodeId node(i);
        if (!may_be_on(node)) continue;
        domains.push_back(
            {state_.node(node).name, room_for(state_.ledger(), node, request_), state_.ledger().node(node).whole_gpus});
      }
      return domains;
    }
    const Domains& level =
        names_a_level() ? state_.topologies().domains(set_.topology) : state_.topologies().inner_domains(set_.topology);
    std::vector<std::int64_t> fit = rooms_.of_domain;
    if (!names_a_level()) {
      fit.assign(level.size(), 0);
      for (const InnerRoom& each : rooms_.of_inner) {
        fit[each.inner.index()] += each.room / topology_.slice_pods * topology_.slice_pods;
      }
    }
    for (std::size_t i = 0; i < level.size(); ++i) {
      DomainShortfall domain{level.name(DomainId(i)), fit[i]};
      bool any = false;
      for (const NodeId node : level.nodes(DomainId(i))) {
        if (!may_be_on(node)) continue;
        any = true;
        domain.gpus_free += state_.ledger().node(node).whole_gpus;
      }
      if (any) domains.push_back(std::move(domain));
    }
    return domains;
  }

 private:
  bool names_a_level() const { return topology_.together != Togetherness::kAnywhere; }
  std::string_view level() const {
    return names_a_level() ? topology_.level : is_in_slices() ? topology_.slice_level : kNodeLevel;
  }
  // And in no other way.
  bool is_in_slices() const { return topology_.has_slices() && !topology_.is_spread(); }
  bool may_be_on(NodeId node) const {
    const NodeFree& free = state_.ledger().node(node);
    const bool of_flavor = request_.gpus == 0 || (free.gpus > 0 && free.has_flavor_of(request_.flavors));
    return free.open && of_flavor && state_.ledger().matches().allows(request_.constraints, node);
  }

  DomainRooms counted() const {
    const auto room = [this](NodeId node) { return room_for(state_.ledger(), node, request_); };
    const auto counts = [this](NodeId node) {
      const bool does = state_.ledger().node(node).open && could_be_on(state_, request_, node, topology_.unit_pods());
      return does ? CountsInSpread::kYes : CountsInSpread::kNo;
    };
    return rooms_of_domains(state_.topologies(), set_.topology,
                            NodeRooms{state_.nodes(), set_.count, room, counts, false});
  }

  const State& state_;
  const NumberedPodSet& set_;
  const PodRequest& request_;
  const Topology& topology_;
  DomainRooms rooms_;
};

}  // namespace

std::optional<Shortfall> shortfall_of(const State& state, const Shape& shape) {
  std::vector<RoomCount> lacking;
  for (const auto& way : shape.ways) {
    const auto set = std::ranges::find_if(way, [&](const auto& each) { return !RoomCount(state, each).is_enough(); });
    if (set == way.end()) continue;
    if (RoomCount count(state, *set); !count.is_only_spread()) lacking.push_back(std::move(count));
  }
  if (lacking.empty()) return std::nullopt;
  const RoomCount& nearest = *std::ranges::max_element(lacking, {}, &RoomCount::most);
  Shortfall told = nearest.without_domains();
  // A gang runs in one flavor: of a domain with several that counts which has most room for it.
  std::map<std::string, DomainShortfall> best;
  for (const RoomCount& count : lacking) {
    if (!count.asks_as(nearest)) continue;
    for (DomainShortfall& each : count.all_domains()) {
      DomainShortfall& known = best.try_emplace(each.name, each).first->second;
      if (std::tie(known.pods_fit, known.gpus_free) < std::tie(each.pods_fit, each.gpus_free)) known = std::move(each);
    }
  }
  for (auto& [name, domain] : best) told.domains.push_back(std::move(domain));
  std::ranges::stable_sort(told.domains, [](const DomainShortfall& a, const DomainShortfall& b) {
    return std::tie(b.pods_fit, b.gpus_free) < std::tie(a.pods_fit, a.gpus_free);
  });
  if (told.domains.size() > kDomainsTold) {
    told.more_domains = static_cast<std::int64_t>(told.domains.size() - kDomainsTold);
    told.domains.resize(kDomainsTold);
  }
  return told;
}

}  // namespace berth
