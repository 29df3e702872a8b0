#include "placement/scores.h"

#include <algorithm>
#include <array>
#include <limits>

#include "base/assert.h"
#include "placement/filters.h"
#include "placement/near_gpus.h"
#include "placement/slice_choice.h"
#include "placement/zone_choice.h"

namespace berth {
namespace {

// The largest node of the fleet that the published results were made on: what "full" means in the scores. A larger node
// scores beyond the ends, which keeps the order right; for the largest that is believed (kNodeCpuMilliMax) a left-over
// still fits a Score.
constexpr std::int64_t kCpuMilliScale = 128'000;
constexpr std::int64_t kGpuMilliScale = 8'000;
constexpr std::int64_t kCpuPerGpuScale = kCpuMilliScale / kGpuMilliScale;

// PRE: a >= 0, b > 0.
constexpr std::int64_t ceil_div(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }
constexpr std::int64_t floor_div(std::int64_t a, std::int64_t b) { return a >= 0 ? a / b : -ceil_div(-a, b); }

Score clamped(std::int64_t score) { return static_cast<Score>(std::clamp<std::int64_t>(score, -30'000, 30'000)); }

int fullest_gpu(const NodeView& node, const PodRequest& request) {
  int best = -1;
  for (std::size_t gpu = 0; gpu < node.gpu_milli().size(); ++gpu) {
    if (!node.gpu_fits(gpu, request)) continue;
    if (best < 0 || node.gpu_milli()[gpu] < node.gpu_milli()[static_cast<std::size_t>(best)])
      best = static_cast<int>(gpu);
  }
  BERTH_ASSERT(best >= 0);
  return best;
}

int fullest_gpu(const NodeView& node, const PodRequest& request, const UsualDemand&, Rng&) {
  return fullest_gpu(node, request);
}

int emptiest_gpu(const NodeView& node, const PodRequest& request, const UsualDemand&, Rng&) {
  int best = -1;
  for (std::size_t gpu = 0; gpu < node.gpu_milli().size(); ++gpu) {
    if (!node.gpu_fits(gpu, request)) continue;
    if (best < 0 || node.gpu_milli()[gpu] > node.gpu_milli()[static_cast<std::size_t>(best)])
      best = static_cast<int>(gpu);
  }
  BERTH_ASSERT(best >= 0);
  return best;
}

int drawn_gpu(const NodeView& node, const PodRequest& request, const UsualDemand&, Rng& rng) {
  std::array<int, kGpusPerNodeMax> fitting{};
  std::size_t count = 0;
  for (std::size_t gpu = 0; gpu < node.gpu_milli().size(); ++gpu) {
    if (node.gpu_fits(gpu, request)) fitting[count++] = static_cast<int>(gpu);
  }
  return fitting[static_cast<std::size_t>(rng.below(count))];
}

// By how much what the usual pods cannot use falls, and on which GPU a fraction makes the most of it.
struct FgdChoice {
  int gpu = -1;  // for a fraction
  std::int64_t worth = 0;
};

// `worth`: of what is unusable before and after. PRE: the node has GPUs, and the pod fits.
template <class Worth>
FgdChoice best_fgd_choice(const NodeView& node, const PodRequest& request, const Fragmentation& fragmentation,
                          Worth worth) {
  const FlavorId flavor(node.free.flavor);
  const std::int64_t cpu_after = node.cpu_left(request);
  const std::int64_t before = fragmentation.unusable(flavor, node.free.cpu_milli, node.gpu_milli());
  std::array<std::int16_t, kGpusPerNodeMax> after{};
  std::copy(node.gpu_milli().begin(), node.gpu_milli().end(), after.begin());
  const std::span<const std::int16_t> gpus_after(after.data(), node.gpu_milli().size());
  if (!request.is_fraction()) {
    int left = request.gpus;
    for (std::size_t gpu = 0; left > 0; ++gpu) {
      if (after[gpu] != kMilliPerGpu) continue;
      after[gpu] = 0;
      --left;
    }
    return {.worth = worth(before, fragmentation.unusable(flavor, cpu_after, gpus_after))};
  }
  FgdChoice best;
  std::array<std::int16_t, kGpusPerNodeMax> tried{};
  auto* tried_end = tried.begin();
  for (std::size_t gpu = 0; gpu < gpus_after.size(); ++gpu) {
    // GPUs with equal rests are equally good: only the first of them that fits is tried.
    const std::int16_t rest = after[gpu];
    if (std::find(tried.begin(), tried_end, rest) != tried_end || !node.gpu_fits(gpu, request)) continue;
    *tried_end++ = rest;
    after[gpu] = static_cast<std::int16_t>(rest - node.free.milli_of(request));
    const std::int64_t of_this = worth(before, fragmentation.unusable(flavor, cpu_after, gpus_after));
    after[gpu] = rest;
    if (best.gpu < 0 || of_this > best.worth) best = {static_cast<int>(gpu), of_this};
  }
  return best;
}

// fgd: the placement after which the least is out of reach of the usual pods, by the published hundredths.
FgdChoice fgd_choice(const NodeView& node, const PodRequest& request, const Fragmentation& fragmentation) {
  return best_fgd_choice(node, request, fragmentation, [&](std::int64_t before, std::int64_t after) {
    return std::int64_t{fragmentation.score(before, after)};
  });
}

Score fgd(const NodeView& node, const PodRequest& request, const UsualDemand& usual) {
  if (node.free.gpus == 0) return static_cast<Score>(usual.fragmentation.score(0, 0));
  return static_cast<Score>(fgd_choice(node, request, usual.fragmentation).worth);
}

int fgd_gpu(const NodeView& node, const PodRequest& request, const UsualDemand& usual, Rng&) {
  return fgd_choice(node, request, usual.fragmentation).gpu;
}

std::int64_t gpu_milli_taken(const NodeView& node, const PodRequest& request) {
  return std::int64_t{request.gpus} * node.free.milli_of(request);
}

// fgd-balanced: the fall itself, less half of what the node's CPUs no longer serve, less a quarter of what is taken as
// many times as its type is sought. In 250ths of a GPU, rounded down.
constexpr std::int64_t kPointMilli = kMilliPerGpu / 250;

FgdChoice fgd_balanced_choice(const NodeView& node, const PodRequest& request, const Fragmentation& fragmentation) {
  return best_fgd_choice(node, request, fragmentation,
                         [](std::int64_t before, std::int64_t after) { return before - after; });
}

Score fgd_balanced(const NodeView& node, const PodRequest& request, const UsualDemand& usual) {
  const std::int64_t weight = usual.fragmentation.weight();
  if (weight == 0) return 0;
  if (node.free.gpus == 0) return 1;  // who asks for no GPU takes nothing from those who do
  const std::int64_t taken = gpu_milli_taken(node, request);
  const std::int64_t stranded = usual.balance.stranded(node.cpu_left(request), node.free.gpu_milli - taken) -
                                usual.balance.stranded(node.free.cpu_milli, node.free.gpu_milli);
  const std::int64_t sought = taken * usual.balance.scarcity(FlavorId(node.free.flavor)) / Balance::kScarcityMean;
  const std::int64_t fall = fgd_balanced_choice(node, request, usual.fragmentation).worth;
  return clamped(floor_div(4 * fall - weight * (2 * stranded + sought), 4 * weight * kPointMilli));
}

int fgd_balanced_gpu(const NodeView& node, const PodRequest& request, const UsualDemand& usual, Rng&) {
  return fgd_balanced_choice(node, request, usual.fragmentation).gpu;
}

// What is left on the node after placing, CPU and GPU in equal parts of the scale: cpu / 256,000 + gpu / 16,000 is this
// over 2,560 hundredths.
std::int64_t left_over(const NodeView& node, const PodRequest& request) {
  const std::int64_t cpu_left = node.cpu_left(request);
  const std::int64_t gpu_left = node.free.gpu_milli - gpu_milli_taken(node, request);
  return cpu_left + kCpuPerGpuScale * gpu_left;
}
constexpr std::int64_t kLeftOverPerPoint = 2 * kCpuMilliScale / 100;

// floor(100 x (1 - (cpu_left / 128,000 + gpu_left / 8,000) / 2)).
Score best_fit(const NodeView& node, const PodRequest& request, const UsualDemand&) {
  return clamped(100 - ceil_div(left_over(node, request), kLeftOverPerPoint));
}

// The opposite: where the most is left.
Score spread(const NodeView& node, const PodRequest& request, const UsualDemand&) {
  return clamped(left_over(node, request) / kLeftOverPerPoint);
}

// Three bands: GPUs in part used come before free GPUs of nodes in use, and these before idle nodes.
Score gpu_packing(const NodeView& node, const PodRequest& request, const UsualDemand&) {
  if (request.gpus == 0) return 0;
  const int gpus = node.free.gpus;
  if (node.free.whole_gpus == gpus) return static_cast<Score>(std::max(33 - gpus, gpus));
  if (!request.is_fraction()) return static_cast<Score>(std::max(50 - request.gpus, 33));
  const std::int16_t free = node.gpu_milli()[static_cast<std::size_t>(fullest_gpu(node, request))];
  if (free == kMilliPerGpu) return 50 - 1;
  return static_cast<Score>(std::max(100 - free * 100 / kMilliPerGpu / 10, 50));
}

// Pods of one kind (fractions, or that many GPUs) together.
Score gpu_clustering(const NodeView& node, const PodRequest& request, const UsualDemand&) {
  if (request.gpus == 0) return 0;
  // floor(25 x used / 8,000), also where a node has more than 8 GPUs.
  const std::int64_t base = 25 - ceil_div(25 * std::int64_t{node.free.gpu_milli}, kGpuMilliScale);
  const std::size_t kind = kind_of(request);
  const bool has_others = [&] {
    for (std::size_t other = 0; other < node.kinds().size(); ++other) {
      if (other != kind && node.kinds()[other] > 0) return true;
    }
    return false;
  }();
  if (node.kinds()[kind] > 0) return static_cast<Score>(base + (has_others ? 50 : 75));
  return static_cast<Score>(base + (has_others ? 0 : 25));
}

// floor(100 x (1 - (cpu_free / 128,000 x cpu_asked / 128,000 + gpu_free / 8,000 x gpu_asked / 8,000) / 2)).
Score dot_product(const NodeView& node, const PodRequest& request, const UsualDemand&) {
  const std::int64_t product = node.free.cpu_milli * request.cpu_milli +
                               kCpuPerGpuScale * kCpuPerGpuScale * node.free.gpu_milli * gpu_milli_taken(node, request);
  return clamped(100 - ceil_div(product, 2 * kCpuMilliScale * kCpuMilliScale / 100));
}

Score any(const NodeView&, const PodRequest&, const UsualDemand&) { return 0; }

// Under every policy: where it has not to wait for a slice to be cut anew, and there where the least is lost to the large slices that
// may come.
Score slice_score(const NodeView& node, const PodRequest& request) {
  constexpr std::size_t kPerWait = 10'000;  // more than there are costs
  const SliceCosts& costs = slice_costs_of(node.free.family);
  const MigPlaceSet within = node.within(request.slice);
  std::size_t least = std::numeric_limits<std::int16_t>::max();
  for (std::size_t gpu = 0; gpu < node.free.gpus; ++gpu) {
    const auto offer = best_offer(costs, request.slice, node.layouts()[gpu], within, node.cut_of(gpu));
    if (offer) least = std::min(least, kPerWait * static_cast<std::size_t>(offer->wait) + costs.rank_of(offer->cost));
  }
  return static_cast<Score>(-static_cast<std::int64_t>(least));
}

// Under every policy: beside vGPUs of its profile before a GPU becomes one of that profile which could have any, the fullest first;
// which one does, if none has room, the policy says.
Score vgpu_score(const NodeView& node, const PodRequest& request, Score plain) {
  constexpr std::int64_t kWithin = 1'000;
  const std::int64_t free = node.gpu_milli()[static_cast<std::size_t>(fullest_gpu(node, request))];
  if (free == kMilliPerGpu) return static_cast<Score>(std::clamp<std::int64_t>(plain, -kWithin, kWithin));
  return static_cast<Score>(kWithin + kMilliPerGpu - free);
}

// Below all others, among each other as they are: what turns into something else for this pod is lost to those for whom it is
// meant, until the last has left who comes now.
Score after_all_others(Score score) {
  constexpr std::int64_t kMiddle = -31'500;
  constexpr std::int64_t kWithin = 1'000;
  return static_cast<Score>(kMiddle + std::clamp<std::int64_t>(score, -kWithin, kWithin));
}
static_assert(-31'500 - 1'000 > ScoreTree::kUnfit);

// Below those where its GPUs would be as near to each other as they can be, and above those that would turn: the farther the lower.
Score after_the_near(Score score, int groups_too_many) {
  constexpr int kStepsMax = 4;
  constexpr std::int64_t kStep = 100;
  const std::int64_t middle = -30'000 - kStep * std::min(groups_too_many, kStepsMax);
  return static_cast<Score>(middle + std::clamp<std::int64_t>(score, -kStep / 2 + 1, kStep / 2 - 1));
}

// PRE: it fits, and asks whole GPUs.
int groups_too_many_on(const NodeView& node, const PodRequest& request) {
  const GpuSet gpus = node.free.counts_by_zone(request)
                          ? gpus_by_zone(node, request)
                          : nearest_gpus(node.free_and_clean_gpus(request), request.gpus, node.links());
  return groups_too_many(gpus, node.links());
}

// A little better where its images are: by a tenth of what fills a node. Where a slice is cut is decided by that alone.
Score with_images(Score score, const NodeView& node, const PodRequest& request) {
  constexpr std::int64_t kPointsPerScore = 10;
  return clamped(score + node.image_points(request) / kPointsPerScore);
}

// Best effort goes rather where it takes no CPUs that are really there: who counts would soon take them back. Further down than the
// formulas differ, and above those that would turn. Where a slice is cut is decided by that alone.
Score rather_in_extra(Score score, const NodeView& node, const PodRequest& request) {
  constexpr std::int64_t kFurtherDown = 8'000;
  const bool takes_what_is_there =
      request.in_extra && !request.is_slice() && node.cpu_left(request) < node.free.cpu_milli;
  return takes_what_is_there ? clamped(score - kFurtherDown) : score;
}

// Filters and formula in one function for each policy: this is where all the time goes.
template <Score (*score)(const NodeView&, const PodRequest&, const UsualDemand&)>
Score if_fits(const NodeView& node, const PodRequest& request, const UsualDemand& usual) {
  if (!fits(node, request)) return ScoreTree::kUnfit;
  Score plain =
      request.is_slice() ? slice_score(node, request) : with_images(score(node, request, usual), node, request);
  if (request.is_vgpu()) plain = vgpu_score(node, request, plain);
  if (request.gpus > 0 && node.free.would_turn(request.sharing)) return after_all_others(plain);
  const int too_many = node.free.linked && request.gpus > 1 ? groups_too_many_on(node, request) : 0;
  return too_many > 0 ? after_the_near(plain, too_many) : rather_in_extra(plain, node, request);
}

constexpr std::array kScoreRows = {
    ScoreRow{PlacementPolicy::kFgd, if_fits<fgd>, fgd_gpu},
    ScoreRow{PlacementPolicy::kBestFit, if_fits<best_fit>, fullest_gpu},
    ScoreRow{PlacementPolicy::kGpuPacking, if_fits<gpu_packing>, fullest_gpu},
    ScoreRow{PlacementPolicy::kGpuClustering, if_fits<gpu_clustering>, fullest_gpu},
    ScoreRow{PlacementPolicy::kDotProduct, if_fits<dot_product>, fullest_gpu},
    ScoreRow{PlacementPolicy::kRandom, if_fits<any>, drawn_gpu, true},
    ScoreRow{PlacementPolicy::kSpread, if_fits<spread>, emptiest_gpu},
    ScoreRow{PlacementPolicy::kFgdBalanced, if_fits<fgd_balanced>, fgd_balanced_gpu},
};

}  // namespace

const ScoreRow& score_row(PlacementPolicy policy) {
  const ScoreRow& row = kScoreRows[static_cast<std::size_t>(policy)];
  BERTH_ASSERT(row.policy == policy);
  return row;
}

PodPlacement place_on(const ScoreRow& row, NodeId id, const NodeView& node, const PodRequest& request,
                      const UsualDemand& usual, Rng& rng) {
  PodPlacement place{.node = id, .gpus = {}};
  if (request.gpus == 0) return place;
  if (request.is_slice()) {
    const auto choice = choose_slice(node, request.slice);
    BERTH_ASSERT(choice.has_value());
    place.gpus.add(static_cast<int>(choice->device));
    place.slice_start = node.free.geometry().places()[choice->place].start;
  } else if (request.is_vgpu()) {
    place.gpus.add(fullest_gpu(node, request));
  } else if (request.is_fraction()) {
    place.gpus.add(row.gpu_for_fraction(node, request, usual, rng));
  } else if (node.free.numa != NumaPolicy::kNone) {
    place.gpus = gpus_by_zone(node, request);
  } else if (node.free.linked) {
    place.gpus = nearest_gpus(node.free_and_clean_gpus(request), request.gpus, node.links());
  } else {
    for (int gpu = 0; place.gpus.size() < request.gpus; ++gpu) {
      if (node.gpu_is_free_and_clean(static_cast<std::size_t>(gpu), request)) place.gpus.add(gpu);
    }
  }
  return place;
}

}  // namespace berth
