// Which nodes a pod may go to: the rows of one table, in the order in which they are looked at. A node that fits passes
// every row; one that does not is counted under the first row that it fails.
#pragma once

#include <array>
#include <cstddef>
#include <string_view>
#include <tuple>

#include "placement/node_view.h"

namespace berth {

// INVARIANT: `passes` is a function without state; each row has a type of its own so that compilers see through it.
template <class Passes>
struct Filter {
  std::string_view refuses_with;  // as a person reads it: "912 too few free GPUs"
  Passes passes;
};

inline constexpr std::string_view kClosed = "closed";
inline constexpr std::string_view kNotSelected = "not selected";
inline constexpr std::string_view kOtherMode = "shared in another way";
inline constexpr std::string_view kNoPlaceForSlice = "without a place for the slice";
inline constexpr std::string_view kBesideOthers = "free beside others alone";
inline constexpr std::string_view kOnDirty = "free on dirty GPUs alone";
inline constexpr std::string_view kNotInZones = "free in too many NUMA zones";
inline constexpr std::string_view kKeptForGpus = "kept for GPUs";
inline constexpr std::string_view kSpare = "spare for repairs";
inline constexpr std::string_view kOthersOwnDomain = "in domains of others alone";
inline constexpr std::string_view kAmongOthers = "in domains with others";
inline constexpr std::string_view kNearStrangers = "near others alone whom its tenant does not trust";
inline constexpr std::string_view kNotTolerated = "with a taint that is not tolerated";

inline constexpr std::tuple kFilters = {
    Filter{kSpare, [](const NodeView& node, const PodRequest&) { return node.free.open || !node.free.spare; }},
    Filter{kClosed, [](const NodeView& node, const PodRequest&) { return node.free.open; }},
    Filter{kNotSelected, [](const NodeView& node, const PodRequest& request) { return node.selected_by(request); }},
    Filter{kNotTolerated, [](const NodeView& node, const PodRequest& request) { return node.tolerated_by(request); }},
    Filter{"no GPU",
           [](const NodeView& node, const PodRequest& request) { return request.gpus == 0 || node.free.gpus > 0; }},
    Filter{"wrong type",
           [](const NodeView& node, const PodRequest& request) {
             return request.gpus == 0 || node.free.has_flavor_of(request.flavors);
           }},
    Filter{kOtherMode, [](const NodeView& node,
                          const PodRequest& request) { return request.gpus == 0 || node.free.suits(request.sharing); }},
    Filter{kNoPlaceForSlice,
           [](const NodeView& node, const PodRequest& request) {
             return !request.is_slice() || node.has_place_for(request);
           }},
    Filter{"too small GPUs",
           [](const NodeView& node, const PodRequest& request) {
             return request.gpu_memory_mib <= node.free.gpu_memory_mib;
           }},
    Filter{"too few free GPUs",
           [](const NodeView& node, const PodRequest& request) {
             if (request.is_slice()) return true;
             return request.is_fraction() ? node.free.largest_gpu_milli >= node.free.milli_of(request)
                                          : node.free.whole_gpus >= request.gpus;
           }},
    Filter{kBesideOthers,
           [](const NodeView& node, const PodRequest& request) {
             return !request.is_fraction() || node.some_gpu_welcomes(request);
           }},
    Filter{kOnDirty,
           [](const NodeView& node, const PodRequest& request) {
             if (request.gpus == 0 || request.is_slice()) return true;
             return request.is_fraction() ? node.some_gpu_is_clean_for(request)
                                          : node.enough_gpus_are_clean_for(request);
           }},
    Filter{"too little free GPU memory",
           [](const NodeView& node, const PodRequest& request) {
             // Shares of the memory add up like the fractions themselves; only bounds can make them fall apart.
             const bool bounds_matter = request.gpu_memory_mib > 0 || node.free.memory_bounded_pods > 0;
             return !request.is_fraction() || !bounds_matter || node.some_gpu_fits(request);
           }},
    Filter{"too little free CPU",
           [](const NodeView& node, const PodRequest& request) { return node.cpu_free(request) >= request.cpu_milli; }},
    Filter{"too little free memory",
           [](const NodeView& node, const PodRequest& request) {
             return node.memory_free(request) >= request.memory_bytes;
           }},
    Filter{kKeptForGpus,
           [](const NodeView& node, const PodRequest& request) { return node.leaves_what_is_kept(request); }},
    Filter{kNotInZones,
           [](const NodeView& node, const PodRequest& request) { return node.has_room_in_zones(request); }},
    Filter{kOthersOwnDomain,
           [](const NodeView& node, const PodRequest& request) {
             return node.refused_in_domains(request) != ExclusiveDomains::Refusal::kOthersOwn;
           }},
    Filter{kAmongOthers,
           [](const NodeView& node, const PodRequest& request) {
             return node.refused_in_domains(request) != ExclusiveDomains::Refusal::kAmongOthers;
           }},
    Filter{kNearStrangers,
           [](const NodeView& node, const PodRequest& request) { return node.is_away_from_strangers(request); }},
    Filter{"too many pods", [](const NodeView& node, const PodRequest&) { return node.free.pods > 0; }},
};

// What is said of kOtherMode, so that one row serves all modes.
constexpr std::string_view refusal_of_mode(Sharing node, Sharing asked) {
  return node == Sharing::kExclusive ? words_of(asked).is_not : words_of(node).is;
}

inline constexpr std::size_t kFilterCount = std::tuple_size_v<decltype(kFilters)>;

// What each row refuses with.
inline constexpr std::array<std::string_view, kFilterCount> kRefusals =
    std::apply([](const auto&... row) { return std::array{row.refuses_with...}; }, kFilters);

inline bool fits(const NodeView& node, const PodRequest& request) {
  return std::apply([&](const auto&... row) { return (row.passes(node, request) && ...); }, kFilters);
}

// The row that a node fails first; kFilterCount if it fits.
inline std::size_t first_refusing(const NodeView& node, const PodRequest& request) {
  std::size_t row = 0;
  std::apply([&](const auto&... each) { static_cast<void>(((each.passes(node, request) && (++row, true)) && ...)); },
             kFilters);
  return row;
}

}  // namespace berth
