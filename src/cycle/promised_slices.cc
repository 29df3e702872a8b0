#include "cycle/promised_slices.h"

#include <algorithm>
#include <bit>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "cycle/explanation_text.h"
#include "cycle/for_each_place.h"
#include "fairness/gates.h"
#include "state/room.h"

namespace berth {
namespace {

// The devices of one flavor that are cut, or may be, with the slices that stay there.
class Staying {
 public:
  // `come`: whose places in the trial are asked about, so that they stay. `left`: that nobody of the state is in any more.
  Staying(const State& state, const Trial& trial, FlavorId flavor, std::span<const TakenPlace> come,
          std::span<const TakenPlace> left, const FloorRise* rise)
      : state_(state), ledger_(trial.ledger()), left_(left), rise_(rise) {
    for (std::size_t i = 0; i < state.nodes(); ++i) {
      const NodeId id(i);
      const NodeFree& node = ledger_.node(id);
      const bool is_one =
          node.gpus > 0 && node.is_up() && FlavorId(node.flavor) == flavor && ledger_.may_be(id, Sharing::kMig);
      if (!is_one) continue;
      const auto layouts = ledger_.layouts(id);
      nodes_[id].layouts.assign(layouts.begin(), layouts.begin() + node.gpus);
    }
    for (const TakenPlace& each : come) note_known(each);
    let_give_back(trial);
    let_newcomers_give_back(trial);
  }

  void take_back(const TakenPlace& taken) {
    change(taken, [&](OnNode& node, MigPlaceSet& layout, std::size_t place) {
      if (place < kMigPlacesMax) {
        layout = layout.without(place);
      } else {
        --node.others;
      }
    });
  }
  void put_back(const TakenPlace& taken) {
    change(taken, [&](OnNode& node, MigPlaceSet& layout, std::size_t place) {
      if (place == kMigPlacesMax) {
        ++node.others;
      } else if (geometry_of(taken.place.node).open_beside(layout).contains(place)) {
        layout = layout.with(place);
      }
    });
  }

  std::int64_t missing(const SliceCounts& wanted) const {
    std::map<std::pair<std::uint32_t, std::uint32_t>, std::int64_t> alike;
    const MigGeometry* geometry = nullptr;
    for (const auto& [id, node] : nodes_) {
      if (node.others > 0) continue;
      geometry = &geometry_of(id);
      for (std::size_t gpu = 0; gpu < node.layouts.size(); ++gpu) {
        if (is_broken(id, static_cast<int>(gpu))) continue;
        ++alike[{ledger_.fixed_slices(id).bits(), node.layouts[gpu].bits()}];
      }
    }
    if (geometry == nullptr) return sum_of(wanted);
    std::vector<AlikeDevices> devices;
    for (const auto& [bits, count] : alike) {
      devices.push_back({MigPlaceSet::from_bits(bits.second), MigPlaceSet::from_bits(bits.first), count});
    }
    return sum_of(pack(*geometry, devices, wanted).left_out);
  }

 private:
  struct OnNode {
    std::vector<MigPlaceSet> layouts;  // by GPU
    std::int64_t others = 0;           // who stay there and ask another mode, so that nothing is cut
  };

  const MigGeometry& geometry_of(NodeId node) const { return *kMigFamilies[ledger_.node(node).family - 1]; }
  bool is_broken(NodeId node, int gpu) const {
    return std::ranges::find(ledger_.broken(), Device{node, gpu}) != ledger_.broken().end();
  }

  // change(node, layout, place) where it is on one of the nodes; no place: it is no slice.
  template <class Change>
  void change(const TakenPlace& taken, Change change) {
    const auto found = nodes_.find(taken.place.node);
    if (found == nodes_.end() || taken.place.gpus.empty()) return;
    const auto gpu = static_cast<std::size_t>(std::countr_zero(taken.place.gpus.bits()));
    const auto place = taken.request.is_slice()
                           ? geometry_of(found->first).find_place(taken.request.slice, taken.place.slice_start)
                           : std::nullopt;
    change(found->second, found->second.layouts[gpu], place.value_or(kMigPlacesMax));
  }

  void note_known(const TakenPlace& taken) {
    change(taken, [&](OnNode&, MigPlaceSet&, std::size_t place) {
      const Device device{taken.place.node, std::countr_zero(taken.place.gpus.bits())};
      if (place < kMigPlacesMax) known_[device] = known_[device].with(place);
    });
  }

  bool stays(const QuotaUnit& unit) const {
    return !unit.covered_at.is_none() && (rise_ == nullptr || unit.end > rise_->from);
  }

  // Who is inside no floor does, and who will have ended.
  void let_give_back(const Trial& trial) {
    const QuotaLedger& quotas = trial.quotas();
    std::set<WorkloadId> moved;
    for (const PlacedGpus& each : trial.placed()) {
      if (each.moved) moved.insert(each.workload);
    }
    for (std::size_t i = 0; i < state_.queues().size(); ++i) {
      for (const UnitId id : quotas.units_in(QueueId(i))) {
        const QuotaUnit& unit = quotas.unit(id);
        if (moved.contains(unit.workload)) continue;
        for_each_pod(state_, unit.workload, [&](const Pod& pod) {
          const TakenPlace taken{state_.request(pod.request), pod.place()};
          note_known(taken);
          const bool has_left = std::ranges::find(left_, taken.place, &TakenPlace::place) != left_.end();
          if (!stays(unit) && !has_left && taken.request.is_slice()) take_back(taken);
          if (stays(unit) && !taken.request.is_slice()) put_back(taken);
        });
      }
    }
  }

  // Of who has come in the trial it is known on which GPUs. Where all of them are inside no floor, what nobody else has there goes.
  void let_newcomers_give_back(const Trial& trial) {
    std::map<Device, bool> gives_back;
    for (const PlacedGpus& each : trial.placed()) {
      const bool gives = !each.moved && !stays(trial.quotas().unit(each.unit));
      for (const GpusOfNode& there : each.gpus) {
        there.gpus.for_each([&](int gpu) {
          bool& all = gives_back.try_emplace({there.node, gpu}, true).first->second;
          all = all && gives;
        });
      }
    }
    for (const auto& [device, gives] : gives_back) {
      const auto node = nodes_.find(device.node);
      if (!gives || node == nodes_.end()) continue;
      MigPlaceSet& layout = node->second.layouts[static_cast<std::size_t>(device.gpu)];
      const auto known = known_.find(device);
      layout = known == known_.end() ? MigPlaceSet() : layout.common_with(known->second);
    }
  }

  const State& state_;
  const Ledger& ledger_;
  std::span<const TakenPlace> left_;
  const FloorRise* rise_;
  std::map<NodeId, OnNode> nodes_;
  std::map<Device, MigPlaceSet> known_;  // places of those of whom it is known where they are
};

}  // namespace

SliceCounts slices_promised_beside(const QuotaLedger& quotas, QueueId queue, FlavorId flavor, const FloorRise* rise) {
  const QuotaTree& tree = rise == nullptr ? quotas.tree() : *rise->tree;
  SliceCounts slices{};
  std::map<Dim, AmountsByDim> then;
  const auto covered = [&](QueueId other, Dim dim) {
    if (rise == nullptr) return quotas.covered(other)[dim.index()];
    const auto [of_dim, is_new] = then.try_emplace(dim);
    if (is_new) of_dim->second = quotas.covered_then(dim, rise->from);
    return of_dim->second[other.index()];
  };
  for (QueueId own = queue; !own.is_none(); own = tree.parent(own)) {
    for (const QueueId other : tree.children(tree.parent(own))) {
      if (other == own) continue;
      for (const NamedProfile& each : tree.profiles_of_floor(other)) {
        if (each.dim.flavor() != flavor || tree.floor(other)[each.dim.index()] == 0) continue;
        const std::int64_t left = tree.floor(other)[each.dim.index()] - covered(other, each.dim);
        slices[each.dim.shape()] += std::max<std::int64_t>(0, left);
      }
    }
  }
  return slices;
}

std::string slices_promised_text(const State& state, QueueId queue, FlavorSet flavors, const FloorRise* rise) {
  std::string text;
  for (std::size_t flavor = 0; flavor < state.flavors().size(); ++flavor) {
    if (!flavors.contains(FlavorId(flavor))) continue;
    const SliceCounts slices = slices_promised_beside(state.quotas(), queue, FlavorId(flavor), rise);
    for (std::size_t shape = 0; shape < slices.size(); ++shape) {
      if (slices[shape] == 0) continue;
      text += (text.empty() ? "" : ", and ") +
              amount_in_words(state, Dim::of_slices(FlavorId(flavor), shape), slices[shape]);
    }
  }
  return text;
}

namespace {

bool leaves_them(const State& state, const Trial& trial, QueueId queue, FlavorId flavor,
                 std::span<const TakenPlace> come, std::span<const TakenPlace> left, const FloorRise* rise) {
  const SliceCounts wanted = slices_promised_beside(trial.quotas(), queue, flavor, rise);
  if (sum_of(wanted) == 0) return true;
  const auto is_there = [&](const TakenPlace& each) { return rise == nullptr || each.end > rise->from; };
  Staying staying(state, trial, flavor, come, left, rise);
  for (const TakenPlace& each : come) {
    if (!is_there(each) && each.request.is_slice()) staying.take_back(each);
    if (is_there(each) && !each.request.is_slice()) staying.put_back(each);
  }
  const std::int64_t then = staying.missing(wanted);
  if (then == 0) return true;
  for (const TakenPlace& each : come) {
    if (is_there(each)) staying.take_back(each);
  }
  for (const TakenPlace& each : left) {
    if (is_there(each)) staying.put_back(each);
  }
  return then <= staying.missing(wanted);
}

}  // namespace

bool leaves_promised_slices(const State& state, const Trial& trial, QueueId queue, std::span<const TakenPlace> come,
                            std::span<const TakenPlace> left, std::span<const FloorRise* const> hours) {
  std::set<FlavorId> flavors;
  Time end = trial.quotas().now();
  for (const TakenPlace& each : come) {
    const bool may_be_cut = !each.place.gpus.empty() && trial.ledger().may_be(each.place.node, Sharing::kMig);
    if (!may_be_cut) continue;
    flavors.insert(FlavorId(trial.ledger().node(each.place.node).flavor));
    end = std::max(end, each.end);
  }
  return std::ranges::all_of(flavors, [&](FlavorId flavor) {
    return std::ranges::all_of(hours, [&](const FloorRise* rise) {
      const bool matters = rise == nullptr || (rise->from < end && rise->flavors.contains(flavor));
      return !matters || leaves_them(state, trial, queue, flavor, come, left, rise);
    });
  });
}

namespace {

// What is left of a floor, if so much more is covered there.
std::int64_t left_of_floor(const QuotaLedger& quotas, QueueId queue, Dim dim, const AmountList& comes) {
  const std::size_t at = dim.index();
  const auto of_it = std::ranges::find(comes, dim, &Amount::dim);
  const std::int64_t left = quotas.tree().floor(queue)[at] - quotas.covered(queue)[at];
  return std::max<std::int64_t>(0, left - (of_it == comes.end() ? 0 : of_it->amount));
}

// Beside the line of `covered_at` and in it, once somebody is covered there who holds so much.
SliceCounts slices_promised_with(const QuotaLedger& quotas, QueueId covered_at, const AmountList& held,
                                 FlavorId flavor) {
  const QuotaTree& tree = quotas.tree();
  SliceCounts slices = slices_promised_beside(quotas, covered_at, flavor);
  QueueId below;
  for (QueueId own = covered_at; !own.is_none(); own = tree.parent(own)) {
    for (const NamedProfile& each : tree.profiles_of_floor(own)) {
      if (each.dim.flavor() != flavor) continue;
      std::int64_t rest = left_of_floor(quotas, own, each.dim, tree.counted_in_floor(own, held));
      // What is promised below it is a part of that, and counted: beside the line, or as its own.
      for (const QueueId child : tree.children(own)) {
        if (own == covered_at) continue;
        const bool has_come = child == below;
        rest -= left_of_floor(quotas, child, each.dim, has_come ? tree.counted_in_floor(child, held) : AmountList());
      }
      slices[each.dim.shape()] += std::max<std::int64_t>(0, rest);
    }
    below = own;
  }
  return slices;
}

// The slices of one flavor that a start has.
class Rearranging {
 public:
  Rearranging(const State& state, Trial& trial, Start& start, FlavorId flavor, SliceCounts wanted)
      : trial_(trial), start_(start), wanted_(wanted), before_(start.pods) {
    std::size_t at = 0;
    std::vector<TakenPlace> come;
    for_each_place(state, start, [&](const PodRequest& request, const PodPlacement& place) {
      if (is_one(request, place, flavor)) {
        slices_.push_back({&request, at});
        come.push_back({request, place});
      }
      ++at;
    });
    if (!slices_.empty()) staying_.emplace(state, trial, flavor, come, std::span<const TakenPlace>(), nullptr);
  }

  void run() {
    const std::int64_t missing = slices_.empty() ? 0 : staying_->missing(wanted_);
    if (missing == 0) return;
    const Trial::Mark mark = trial_.mark();
    for (const Slice& each : slices_) {
      trial_.apply(move_of(*each.request, start_.pods[each.at], Move::Direction::kGive));
      staying_->take_back({*each.request, start_.pods[each.at]});
      ++wanted_[each.request->slice];
    }
    const bool all = std::ranges::all_of(slices_, [&](const Slice& each) { return put(each); });
    if (all && staying_->missing(wanted_) < missing) return;
    trial_.rollback_to(mark);
    start_.pods = before_;
  }

 private:
  struct Slice {
    const PodRequest* request;
    std::size_t at;  // in the start
  };

  // Of what is cut beforehand, or cut anew, one place is as good as another.
  bool is_one(const PodRequest& request, const PodPlacement& place, FlavorId flavor) const {
    const Ledger& ledger = trial_.ledger();
    return request.is_slice() && FlavorId(ledger.node(place.node).flavor) == flavor &&
           ledger.fixed_slices(place.node).empty() && ledger.cut_of(place.node, 0) == nullptr;
  }

  // Where the fewest are missing beside it; of equal places where it was found, then the first.
  bool put(const Slice& slice) {
    --wanted_[slice.request->slice];
    const PodPlacement found = before_[slice.at];
    std::optional<PodPlacement> best;
    std::int64_t fewest = 0;
    const auto look = [&](const PodPlacement& place) {
      if (!is_free(trial_.ledger(), *slice.request, place)) return;
      staying_->put_back({*slice.request, place});
      const std::int64_t missing = staying_->missing(wanted_);
      staying_->take_back({*slice.request, place});
      if (best && missing >= fewest) return;
      best = place;
      fewest = missing;
    };
    look(found);
    const NodeFree& node = trial_.ledger().node(found.node);
    const MigGeometry& geometry = *kMigFamilies[node.family - 1];
    for (int gpu = 0; gpu < node.gpus; ++gpu) {
      geometry.places_of(slice.request->slice).for_each([&](std::size_t place) {
        look({found.node, GpuSet::from_bits(std::uint64_t{1} << gpu), geometry.places()[place].start});
      });
    }
    if (!best) return false;
    trial_.apply(move_of(*slice.request, *best));
    staying_->put_back({*slice.request, *best});
    start_.pods[slice.at] = *best;
    return true;
  }

  Trial& trial_;
  Start& start_;
  SliceCounts wanted_;
  const std::vector<PodPlacement> before_;
  std::vector<Slice> slices_;
  std::optional<Staying> staying_;
};

}  // namespace

void put_beside_promised(const State& state, Trial& trial, Start& start, QueueId covered_at) {
  if (covered_at.is_none() || !trial.quotas().tree().has_floors_by_profile()) return;
  const Shape& shape = state.shape(state.workload(start.workload).shape);
  const AmountList held = amounts_held(state, shape, start);
  std::set<FlavorId> flavors;
  for (const PodPlacement& each : start.pods) flavors.insert(FlavorId(trial.ledger().node(each.node).flavor));
  for (const FlavorId flavor : flavors) {
    const SliceCounts wanted = slices_promised_with(trial.quotas(), covered_at, held, flavor);
    if (sum_of(wanted) > 0) Rearranging(state, trial, start, flavor, wanted).run();
  }
}

}  // namespace berth
