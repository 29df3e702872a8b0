#include "placement/fragmentation.h"

#include <algorithm>

#include "base/assert.h"
#include "base/wide.h"

namespace berth {
namespace {

// ln(p / (1 - p)) x 10^9 for p = 0.51, 0.52, ... 0.99, rounded: where 100 x sigmoid passes the next whole number. Below
// one half it is the same mirrored.
constexpr std::int64_t kLogitNano[] = {
    40'005'335,    80'042'708,    120'144'312,   160'342'650,   200'670'695,   241'162'057,   281'851'152,
    322'773'392,   363'965'377,   405'465'108,   447'312'218,   489'548'225,   532'216'814,   575'364'145,
    619'039'208,   663'294'217,   708'185'058,   753'771'802,   800'119'300,   847'297'860,   895'384'047,
    944'461'609,   994'622'575,   1'045'968'555, 1'098'612'289, 1'152'679'510, 1'208'311'206, 1'265'666'373,
    1'324'925'415, 1'386'294'361, 1'450'010'176, 1'516'347'489, 1'585'627'264, 1'658'228'077, 1'734'601'055,
    1'815'289'967, 1'900'958'761, 1'992'430'165, 2'090'741'097, 2'197'224'577, 2'313'634'929, 2'442'347'035,
    2'586'689'344, 2'751'535'313, 2'944'438'979, 3'178'053'830, 3'476'098'690, 3'891'820'298, 4'595'119'850};
constexpr int kScoreMiddle = 50;

}  // namespace

Fragmentation::Fragmentation(std::span<const TypicalPod> pods, std::size_t flavors) {
  for (const TypicalPod& pod : pods) {
    weight_ += pod.weight;
    cpu_levels_.push_back(pod.cpu_milli);
  }
  std::sort(cpu_levels_.begin(), cpu_levels_.end());
  cpu_levels_.erase(std::unique(cpu_levels_.begin(), cpu_levels_.end()), cpu_levels_.end());
  index_pieces(pods);
  for (std::size_t flavor = 0; flavor < flavors; ++flavor) {
    for (std::size_t level = 0; level <= cpu_levels_.size(); ++level) {
      // Level 0 is less than the smallest request, level i at least the i-th.
      const std::int64_t cpu = level == 0 ? -1 : cpu_levels_[level - 1];
      admitted_.push_back(admitted_by(pods, FlavorId(flavor), cpu));
    }
  }
  for (int i = 0; i < static_cast<int>(thresholds_.size()); ++i) {
    // x = fall / (1000 x weight) reaches the logit when fall >= logit x 1000 x weight, rounded up.
    const int from_middle = i + 1 - kScoreMiddle;
    const std::int64_t logit = from_middle > 0   ? kLogitNano[from_middle - 1]
                               : from_middle < 0 ? -kLogitNano[-from_middle - 1]
                                                 : 0;
    const Wide scaled = Wide{logit} * weight_;
    const Wide micro = 1'000'000;
    const Wide up = scaled > 0 ? (scaled + micro - 1) / micro : scaled / micro;  // division rounds towards zero
    thresholds_[static_cast<std::size_t>(i)] = static_cast<std::int64_t>(up);
  }
}

void Fragmentation::index_pieces(std::span<const TypicalPod> pods) {
  std::array<bool, kMilliPerGpu + 1> is_piece{};
  for (const TypicalPod& pod : pods) {
    if (pod.gpus == 1) is_piece[static_cast<std::size_t>(pod.gpu_milli)] = true;
  }
  std::uint16_t rank = 0;
  for (std::size_t milli = 0; milli < is_piece.size(); ++milli) {
    if (is_piece[milli]) ++rank;
    rank_[milli] = rank;
  }
  ranks_ = std::size_t{rank} + 1;
}

Fragmentation::Admitted Fragmentation::admitted_by(std::span<const TypicalPod> pods, FlavorId flavor,
                                                   std::int64_t cpu_free_milli) const {
  Admitted admitted;
  admitted.by_piece.assign(ranks_, 0);
  admitted.by_whole.assign(kGpusPerNodeMax + 1, 0);
  for (const TypicalPod& pod : pods) {
    if (pod.gpus == 0 || !pod.flavors.contains(flavor) || pod.cpu_milli > cpu_free_milli) {
      admitted.weight_unusable += pod.weight;
    } else if (pod.gpus == 1) {
      admitted.by_piece[rank_[static_cast<std::size_t>(pod.gpu_milli)]] += pod.weight;
    } else {
      admitted.by_whole[static_cast<std::size_t>(pod.gpus)] += pod.weight;
    }
  }
  for (std::size_t rank = 1; rank < ranks_; ++rank) admitted.by_piece[rank] += admitted.by_piece[rank - 1];
  for (std::size_t gpus = 1; gpus < admitted.by_whole.size(); ++gpus) {
    admitted.by_whole[gpus] += admitted.by_whole[gpus - 1];
  }
  return admitted;
}

std::size_t Fragmentation::cpu_level(std::int64_t cpu_free_milli) const {
  return static_cast<std::size_t>(std::upper_bound(cpu_levels_.begin(), cpu_levels_.end(), cpu_free_milli) -
                                  cpu_levels_.begin());
}

std::int64_t Fragmentation::unusable(FlavorId flavor, std::int64_t cpu_free_milli,
                                     std::span<const std::int16_t> gpu_free_milli) const {
  const Admitted& admitted = admitted_[flavor.index() * (cpu_levels_.size() + 1) + cpu_level(cpu_free_milli)];
  std::int64_t total = 0;
  std::size_t whole = 0;
  std::int16_t largest = 0;
  std::int64_t below_own_piece = 0;  // sum of free x weight of the pods whose piece is at most that large
  for (const std::int16_t free : gpu_free_milli) {
    total += free;
    whole += free == kMilliPerGpu ? 1 : 0;
    largest = std::max(largest, free);
    below_own_piece += free * admitted.by_piece[rank_[static_cast<std::size_t>(free)]];
  }
  // Pods for one piece: those that some GPU can hold leave the GPUs unused that are smaller than their piece; the others
  // leave all.
  const std::int64_t piece_fits = admitted.by_piece[rank_[static_cast<std::size_t>(largest)]];
  const std::int64_t piece_all = admitted.by_piece.back();
  std::int64_t unusable = piece_fits * total - below_own_piece + (piece_all - piece_fits) * total;
  // Pods for several whole GPUs: where enough are whole, the rest is unused; else all.
  unusable += admitted.by_whole.back() * total;
  unusable -= admitted.by_whole[whole] * static_cast<std::int64_t>(whole) * kMilliPerGpu;
  return unusable + admitted.weight_unusable * total;
}

int Fragmentation::score(std::int64_t unusable_before, std::int64_t unusable_after) const {
  const std::int64_t fall = unusable_before - unusable_after;
  return static_cast<int>(std::upper_bound(thresholds_.begin(), thresholds_.end(), fall) - thresholds_.begin());
}

}  // namespace berth
