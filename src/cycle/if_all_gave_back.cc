#include "cycle/if_all_gave_back.h"

#include <algorithm>
#include <bit>
#include <limits>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "base/assert.h"
#include "model/gpu_hardware.h"

namespace berth {
namespace {

// More than any tree is deep.
constexpr std::int64_t kAnybody = std::numeric_limits<std::int64_t>::max();

std::uint64_t all_of(const NodeFree& node) {
  return node.gpus >= 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << node.gpus) - 1;
}

std::int64_t gpu_milli_held(const QuotaLedger& quotas, UnitId unit, FlavorId flavor) {
  const AmountList& held = quotas.held_by(unit);
  const auto of_flavor = std::ranges::find(held, Dim(flavor, Resource::kGpu), &Amount::dim);
  return of_flavor == held.end() ? 0 : of_flavor->amount;
}

}  // namespace

std::vector<GpusOfNode> own_domains_of(const State& state, WorkloadId id, const std::vector<GpusOfNode>& gpus) {
  const ExclusiveDomains& exclusives = state.ledger().exclusives();
  if (exclusives.none()) return {};
  std::set<NodeId> nodes;
  for (const NumberedPodSet& set : state.shape(state.workload(id).shape).ways.front()) {
    if (!exclusives.is_exclusive(state.request(set.request).exclusive)) continue;
    for (const GpusOfNode& each : gpus) {
      if (each.gpus.empty() || nodes.contains(each.node)) continue;
      const std::vector<NodeId> own = exclusives.own_nodes(state.request(set.request), each.node);
      nodes.insert(own.begin(), own.end());
    }
  }
  std::vector<GpusOfNode> all;
  for (const NodeId node : nodes) {
    const std::uint64_t bits = all_of(state.ledger().node(node));
    if (bits != 0) all.push_back({node, GpuSet::from_bits(bits)});
  }
  return all;
}

IfAllGaveBack::IfAllGaveBack(const State& state, const Trial& trial, FlavorId flavor, std::span<const PlacedGpus> moved,
                             const FloorRise* rise)
    : state_(state),
      ledger_(trial.ledger()),
      quotas_(trial.quotas()),
      flavor_(flavor),
      rise_(rise),
      has_cells_(state.flavors_with_cells().contains(flavor)),
      nodes_(state.nodes()) {
  look_at_nodes(&trial);
  look_at_units(quotas_, &trial, moved);
}

IfAllGaveBack::IfAllGaveBack(const State& state, FlavorId flavor, const FloorRise* rise)
    : state_(state),
      ledger_(state.ledger()),
      quotas_(state.quotas()),
      flavor_(flavor),
      rise_(rise),
      has_cells_(state.flavors_with_cells().contains(flavor)),
      nodes_(state.nodes()) {
  look_at_nodes(nullptr);
  look_at_units(quotas_, nullptr, {});
}

// Nodes that are closed in a trial alone are only kept for others. Spares give nobody his floor, and are no part of a domain.
void IfAllGaveBack::look_at_nodes(const Trial* trial) {
  for (std::size_t i = 0; i < nodes_.size(); ++i) {
    const NodeFree& free = ledger_.node(NodeId(i));
    OnNode& node = nodes_[i];
    if (free.gpus == 0 || FlavorId(free.flavor) != flavor_ || is_spare(NodeId(i))) continue;
    node.is_one = ledger_.may_be(NodeId(i), Sharing::kExclusive);
    const bool shared = ledger_.may_be(NodeId(i), Sharing::kMig) || ledger_.may_be(NodeId(i), Sharing::kMps) ||
                        ledger_.may_be(NodeId(i), Sharing::kVgpu);
    node.is_shared = !node.is_one && shared && ledger_.fixed_slices(NodeId(i)).empty();
    if (!node.is_one && !node.is_shared) {
      if (free.is_up())
        fixed_milli_ += milli_to_promise(state_.node(NodeId(i)), state_.flavors()[flavor_.index()]) * free.gpus;
      continue;
    }
    node.usable = trial == nullptr ? free.open : trial->is_open(NodeId(i));
    node.whole = all_of(free);
  }
  for (const Device& device : ledger_.broken()) nodes_[device.node.index()].whole &= ~(std::uint64_t{1} << device.gpu);
}

bool IfAllGaveBack::may_stay(const QuotaUnit& unit) const {
  return !unit.covered_at.is_none() || (has_cells_ && unit.could_be_covered());
}

// Who is moved starts anew, and his run limit with it.
void IfAllGaveBack::look_at_units(const QuotaLedger& quotas, const Trial* trial, std::span<const PlacedGpus> moved) {
  if (rise_ != nullptr) covered_then_ = quotas.covered_then(Dim(flavor_, Resource::kGpu), rise_->from);
  std::vector<const PlacedGpus*> elsewhere;
  for (const PlacedGpus& each : moved) elsewhere.push_back(&each);
  if (trial != nullptr) {
    for (const PlacedGpus& each : trial->placed()) {
      if (each.moved) elsewhere.push_back(&each);
    }
  }
  const auto within = [&](UnitId id) {
    return has_cells_ ? lowest_that_may_cover(quotas.unit(id).queue, gpu_milli_held(quotas, id, flavor_)) : QueueId();
  };
  const auto stay_at = [&](UnitId id, const std::vector<GpusOfNode>& gpus) {
    for (const GpusOfNode& each : gpus) stay(quotas.unit(id), within(id), each);
    stay_in_own_domains(quotas.unit(id), within(id), gpus);
  };
  for (std::size_t i = 0; i < state_.queues().size(); ++i) {
    for (const UnitId id : quotas.units_in(QueueId(i))) {
      const QuotaUnit& unit = quotas.unit(id);
      if (!may_stay(unit)) continue;
      const auto place = std::ranges::find(elsewhere, unit.workload, &PlacedGpus::workload);
      if (place != elsewhere.end()) {
        const bool is_there = rise_ == nullptr || is_there_still(state_.end_of(unit.workload, quotas.now()));
        if (is_there) stay_at(id, (*place)->gpus);
      } else if (is_there_still(unit.end)) {
        const QueueId below = within(id);
        for_each_pod(state_, unit.workload, [&](const Pod& pod) {
          stay(unit, below, {pod.node, pod.gpus});
          stay_in_own_domains(unit, below, {{pod.node, pod.gpus}});
          stay_where_fixed(pod);
        });
      }
    }
  }
  if (trial == nullptr) return;
  for (const PlacedGpus& each : trial->placed()) {
    const QuotaUnit& unit = quotas.unit(each.unit);
    // Who was placed may have gone since, and another have his number.
    if (each.moved || unit.workload != each.workload || !may_stay(unit) || !is_there_still(unit.end)) continue;
    stay_at(each.unit, each.gpus);
    const bool where_fixed = !each.gpus.empty() && !is_spare(each.gpus.front().node) &&
                             !ledger_.fixed_slices(each.gpus.front().node).empty();
    if (where_fixed) fixed_milli_ -= gpu_milli_held(quotas, each.unit, flavor_);
  }
}

void IfAllGaveBack::stay(QueueId queue, QueueId within, bool covered, const GpusOfNode& gpus) {
  OnNode& node = nodes_[gpus.node.index()];
  if (node.is_shared && covered) node.stay |= gpus.gpus.bits();
  if (!node.is_one || gpus.gpus.empty()) return;
  // Where it has turned for somebody, it is his whole.
  const NodeFree& free = ledger_.node(gpus.node);
  if (covered) node.stay |= free.sharing == Sharing::kExclusive ? gpus.gpus.bits() : all_of(free);
  QueueId all = node.anybody ? node.who : queue;
  while (!all.is_none() && !is_above_or_same(all, queue)) all = quotas_.tree().parent(all);
  if (!node.anybody || is_above_or_same(node.within, within)) {
    node.within = within;
  } else if (!is_above_or_same(within, node.within)) {
    node.within = QueueId();
  }
  node.who = all;
  node.anybody = true;
}

// What is free where he is alone is for nobody else as long as he stays.
void IfAllGaveBack::stay_in_own_domains(const QuotaUnit& unit, QueueId within, const std::vector<GpusOfNode>& gpus) {
  for (const GpusOfNode& each : own_domains_of(state_, unit.workload, gpus)) stay(unit, within, each);
}

QueueId IfAllGaveBack::lowest_that_may_cover(QueueId queue, std::int64_t gpu_milli) const {
  const std::size_t dim = Dim(flavor_, Resource::kGpu).index();
  const auto is_large_enough = [&](QueueId each) {
    return std::max(floors().floor(each)[dim], quotas_.tree().floor(each)[dim]) >= gpu_milli;
  };
  while (!queue.is_none() && !is_large_enough(queue)) queue = quotas_.tree().parent(queue);
  return queue;
}

void IfAllGaveBack::stay_where_fixed(const Pod& pod) {
  if (pod.gpus.empty() || ledger_.fixed_slices(pod.node).empty()) return;
  const NodeFree& node = ledger_.node(pod.node);
  if (!node.is_up() || is_spare(pod.node) || FlavorId(node.flavor) != flavor_) return;
  fixed_milli_ -= state_.request(pod.request).gpu_milli_total();
}

void IfAllGaveBack::add(const StayingGpus& comes) {
  const QueueId within = lowest_that_may_cover(comes.queue, comes.gpu_milli);
  for (const GpusOfNode& each : comes.gpus) stay(comes.queue, within, true, each);
}

bool IfAllGaveBack::is_above_or_same(QueueId above, QueueId queue) const {
  while (!queue.is_none() && queue != above) queue = quotas_.tree().parent(queue);
  return queue == above && !above.is_none();
}

std::int64_t IfAllGaveBack::could_be_free(const OnNode& node) const {
  return node.is_one && node.usable ? std::popcount(node.whole & ~node.stay) : 0;
}

std::int64_t IfAllGaveBack::shared_gpus() const {
  std::int64_t gpus = 0;
  for (const OnNode& node : nodes_) gpus += node.is_shared && node.usable ? std::popcount(node.whole & ~node.stay) : 0;
  return gpus;
}

std::int64_t IfAllGaveBack::whole_gpus() const {
  std::int64_t gpus = 0;
  for (const OnNode& node : nodes_) gpus += could_be_free(node);
  return gpus;
}

const Domains& IfAllGaveBack::domains(const GivenCell& cell) const {
  return state_.topologies().domains(state_.levels_of_cells(cell.queue)[cell.of_cells]);
}

// ---- cells ----------------------------------------------------------------------------------------------------------

// Closed nodes count: a domain that lacks one is not a smaller one.
std::int64_t IfAllGaveBack::size_of_domain(TopologyId level) const {
  const Domains& domains = state_.topologies().domains(level);
  std::int64_t largest = 0;
  for (std::size_t domain = 0; domain < domains.size(); ++domain) {
    std::int64_t gpus = 0;
    for (const NodeId node : domains.nodes(DomainId(domain))) {
      gpus += nodes_[node.index()].is_one ? ledger_.node(node).gpus : 0;
    }
    largest = std::max(largest, gpus);
  }
  return largest;
}

// The largest first; of one size the one that was asked for first.
std::vector<IfAllGaveBack::Level> IfAllGaveBack::levels() const {
  std::vector<Level> levels;
  for (std::size_t i = 0; i < state_.queues().size(); ++i) {
    const std::vector<FloorCells>& cells = state_.queues()[i].quota.cells;
    for (std::size_t at = 0; at < cells.size(); ++at) {
      const TopologyId id = state_.levels_of_cells(QueueId(i))[at];
      if (cells[at].flavor != flavor_ || std::ranges::find(levels, id, &Level::id) != levels.end()) continue;
      levels.push_back({id, size_of_domain(id)});
    }
  }
  std::ranges::sort(levels,
                    [](const Level& a, const Level& b) { return std::tie(b.size, a.id) < std::tie(a.size, b.id); });
  return levels;
}

// What the floor pays for, the largest level first.
std::int64_t IfAllGaveBack::promised(QueueId queue, std::size_t of_cells) const {
  const std::vector<FloorCells>& cells = state_.queues()[queue.index()].quota.cells;
  const std::vector<TopologyId>& ids = state_.levels_of_cells(queue);
  std::int64_t left = floors().floor(queue)[Dim(flavor_, Resource::kGpu).index()] / kMilliPerGpu;
  for (const Level& level : levels()) {
    for (std::size_t at = 0; at < cells.size(); ++at) {
      if (ids[at] != level.id || cells[at].flavor != flavor_) continue;
      // Where no node is of the flavor, nothing is.
      const std::int64_t promised = level.size == 0 ? 0 : std::min(cells[at].count, left / level.size);
      if (at == of_cells) return promised;
      left -= promised * level.size;
    }
  }
  return 0;
}

std::int64_t IfAllGaveBack::depth(QueueId queue) const {
  std::int64_t depth = 0;
  for (; !queue.is_none(); queue = quotas_.tree().parent(queue)) ++depth;
  return depth;
}

// Which of two choices leaves more for the others hangs on whether these want other domains of this size or smaller ones inside it.
void IfAllGaveBack::give_cells(const Wanted& wanted) {
  give_cells(Rather::kFullest, wanted);
  if (lacking_ == 0) return;
  const std::int64_t lacking = std::exchange(lacking_, 0);
  std::vector<GivenCell> given = std::exchange(given_, {});
  for (OnNode& node : nodes_) node.given_gpus = 0;
  give_cells(Rather::kNarrowest, wanted);
  if (lacking_ < lacking) return;
  lacking_ = lacking;
  given_ = std::move(given);
}

void IfAllGaveBack::give_cells(Rather rather, const Wanted& wanted) {
  std::vector<std::tuple<std::int64_t, QueueId, std::size_t>> deepest_first;
  for (std::size_t i = 0; i < state_.queues().size(); ++i) {
    const std::vector<FloorCells>& cells = state_.queues()[i].quota.cells;
    for (std::size_t at = 0; at < cells.size(); ++at) {
      if (cells[at].flavor == flavor_) deepest_first.emplace_back(-depth(QueueId(i)), QueueId(i), at);
    }
  }
  std::ranges::sort(deepest_first);
  const std::vector<Level> all = levels();
  for (auto first = all.begin(); first != all.end();) {
    const auto end =
        std::ranges::find_if(first, all.end(), [&](const Level& each) { return each.size != first->size; });
    for (const auto& [depth, queue, at] : deepest_first) {
      const TopologyId id = state_.levels_of_cells(queue)[at];
      const auto level = std::ranges::find(first, end, id, &Level::id);
      if (level != end) give(*level, queue, at, rather, wanted);
    }
    first = end;
  }
}

// Levels of one size are the same domains by other names, such as racks of one node.
void IfAllGaveBack::give(const Level& level, QueueId queue, std::size_t of_cells, Rather rather, const Wanted& wanted) {
  std::int64_t promised = this->promised(queue, of_cells);
  for (std::size_t before = 0; before < of_cells; ++before) {
    const bool is_same = state_.queues()[queue.index()].quota.cells[before].flavor == flavor_ &&
                         size_of_domain(state_.levels_of_cells(queue)[before]) == level.size;
    promised += is_same ? this->promised(queue, before) : 0;
  }
  std::int64_t has = std::ranges::count_if(
      given_, [&](const GivenCell& cell) { return cell.gpus == level.size && is_above_or_same(queue, cell.queue); });
  // Those that it lacks of what was asked before are counted already.
  const std::int64_t lacks = std::min(promised - std::min(promised, has), this->promised(queue, of_cells));
  std::int64_t given = 0;
  for (; given < lacks; ++given) {
    const auto best = best_domain(level, queue, of_cells, rather, wanted);
    if (!best) break;
    for (const NodeId node : domains(*best).nodes(best->domain)) {
      nodes_[node.index()].given_to = queue;
      nodes_[node.index()].given_gpus = level.size;
    }
    given_.push_back(*best);
  }
  lacking_ += (lacks - given) * level.size;
}

// Whether nobody else stays there whom it may not take, or was given it, and its work may go there. Of a larger domain that a queue above it was given,
// its own are a part, as its floor is a part of that one's.
bool IfAllGaveBack::may_be_of(QueueId queue, const Level& level, NodeId node) const {
  const OnNode& at = nodes_[node.index()];
  const bool is_part = at.given_gpus > level.size && is_above_or_same(at.given_to, quotas_.tree().parent(queue));
  if (at.given_gpus > 0 && !is_part) return false;
  const bool gives_way = !at.anybody || is_above_or_same(queue, at.who) || is_above_or_same(at.within, queue);
  if (!gives_way) return false;
  return ledger_.matches().dedications().keeper(state_.home_of(queue), node).is_none();
}

// 0: of none but a queue's own line, for who is there gives way to no other; else the deeper the queue below which all may take the
// node, the fewer others can. Those below which the queue itself is are a chain, so a domain is of as few as its narrowest node is.
std::int64_t IfAllGaveBack::how_many_may_have(QueueId queue, NodeId node) const {
  const OnNode& at = nodes_[node.index()];
  if (!at.anybody) return kAnybody;
  const bool only_its_own = at.within.is_none() || is_above_or_same(queue, at.within);
  return only_its_own ? 0 : kAnybody - depth(at.within);
}

// Within what a queue above it was given; where the fewest nodes are left that could be cells themselves, where the fewest others could
// come, and the fewest GPUs, which is where its own work has most already; of others where the fewest are wanted, then where least is
// free now, so that what is free stays for who needs no cell. Ties go to the first in the order of the nodes.
std::optional<GivenCell> IfAllGaveBack::best_domain(const Level& level, QueueId queue, std::size_t of_cells,
                                                    Rather rather, const Wanted& wanted) const {
  const Domains& domains = state_.topologies().domains(level.id);
  std::optional<GivenCell> best;
  std::tuple<std::int64_t, std::int64_t, std::int64_t, std::int64_t, std::int64_t, std::int64_t> least;
  for (std::size_t i = 0; i < domains.size(); ++i) {
    GivenCell cell{.queue = queue, .of_cells = of_cells, .domain = DomainId(i)};
    std::int64_t wanted_nodes = 0;
    std::int64_t free_now = 0;
    std::int64_t empty_nodes = 0;
    std::int64_t given_nodes = 0;
    std::int64_t may_have = kAnybody;
    bool does = true;
    for (const NodeId id : domains.nodes(DomainId(i))) {
      const OnNode& node = nodes_[id.index()];
      if (!node.is_one) continue;
      const bool is_whole = node.usable && node.whole == all_of(ledger_.node(id));
      does = does && is_whole && may_be_of(queue, level, id);
      if (!does) break;
      cell.gpus += ledger_.node(id).gpus;
      cell.could_be_free += could_be_free(node);
      free_now += ledger_.node(id).whole_gpus;
      wanted_nodes += wanted && wanted(id) ? 1 : 0;
      empty_nodes += node.anybody ? 0 : 1;
      given_nodes += node.given_gpus > 0 ? 1 : 0;
      may_have = std::min(may_have, how_many_may_have(queue, id));
    }
    if (!does || cell.gpus != level.size) continue;
    const auto [first, second] =
        rather == Rather::kFullest ? std::pair(empty_nodes, may_have) : std::pair(may_have, empty_nodes);
    const std::tuple cost{-given_nodes, first, second, cell.could_be_free, wanted_nodes, free_now};
    if (best && cost >= least) continue;
    best = cell;
    least = cost;
  }
  return best;
}

// ---- what is promised beside a queue ----------------------------------------------------------------------------------

// And in those of the queues below it; each node once.
std::int64_t IfAllGaveBack::could_be_free_in_cells_of(QueueId queue) const {
  std::vector<NodeId> nodes;
  for (const GivenCell& each : given_) {
    if (!is_above_or_same(queue, each.queue)) continue;
    const auto of_it = domains(each).nodes(each.domain);
    nodes.insert(nodes.end(), of_it.begin(), of_it.end());
  }
  std::ranges::sort(nodes);
  const auto again = std::ranges::unique(nodes);
  nodes.erase(again.begin(), again.end());
  std::int64_t gpus = 0;
  for (const NodeId node : nodes) gpus += could_be_free(nodes_[node.index()]);
  return gpus;
}

// And has not yet.
std::int64_t IfAllGaveBack::promised_gpus(QueueId queue) const {
  const std::size_t dim = Dim(flavor_, Resource::kGpu).index();
  const std::int64_t has = rise_ == nullptr ? quotas_.covered(queue)[dim] : covered_then_[queue.index()];
  return std::max<std::int64_t>(0, floors().floor(queue)[dim] - has) / kMilliPerGpu;
}

// What a queue was promised is first in its own cells, as far as they go; what could be free in them beyond that is for nobody
// outside all the same.
std::int64_t IfAllGaveBack::missing(QueueId queue, bool by_parts, std::optional<std::int64_t> own_beyond) const {
  const QuotaTree& tree = quotas_.tree();
  std::int64_t promised = 0;
  std::int64_t with_cells = 0;
  std::int64_t in_cells = 0;
  for (QueueId own = queue; !own.is_none(); own = tree.parent(own)) {
    with_cells = std::max(with_cells, could_be_free_in_cells_of(own));
    in_cells = std::max(in_cells, could_be_free_in_cells_of(own));
    if (own_beyond) with_cells = std::max(with_cells, promised_gpus(own) - *own_beyond);
    for (const QueueId other : tree.children(tree.parent(own))) {
      if (other == own) continue;
      promised += promised_gpus(other);
      with_cells += std::max(promised_gpus(other), could_be_free_in_cells_of(other));
      in_cells += could_be_free_in_cells_of(other);
    }
  }
  // What is no cell may be given of GPUs that are shared in another way, too.
  const std::int64_t shared = std::max<std::int64_t>(0, fixed_milli_) / kMilliPerGpu + shared_gpus();
  with_cells = std::max(in_cells, with_cells - shared);
  promised = std::max<std::int64_t>(0, promised - shared);
  const std::int64_t there = by_parts ? whole_gpus() : std::max(whole_gpus(), promised);
  return std::max<std::int64_t>(0, with_cells - there);
}

}  // namespace berth
