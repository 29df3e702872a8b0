#include "client/node_map.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string_view>
#include <utility>

#include "client/work.h"
#include "manifest/given_gpus.h"
#include "manifest/labels.h"
#include "manifest/node_gpus.h"
#include "model/gpu_hardware.h"
#include "model/quantity.h"

namespace berth {
namespace {

constexpr int kWholeGpu = 1000;

std::string amount_text(const Value& amount) {
  return amount.is_integer() ? std::to_string(amount.integer()) : std::string(amount.text());
}

// The devices of one node, in thousandths that are taken.
class TakenDevices {
 public:
  explicit TakenDevices(const NodeGpus& gpus)
      : milli_(static_cast<std::size_t>(gpus.count), 0),
        layouts_(milli_.size()),
        fixed_(gpus.fixed_slices),
        sharing_(gpus.sharing),
        least_(gpus.sharing == Sharing::kTimeslice ? kWholeGpu / gpus.replicas : 1) {
    if (gpus.sharing == Sharing::kMig) hardware_ = hardware_of({.name = {}, .model = gpus.model});
  }

  // Who names devices has to come first, so that the others get what is left.
  void take(const Value& pod) {
    const std::string_view named = pod["metadata"]["annotations"][kGpusAnnotation].text();
    if (hardware_ != nullptr) return take_slice(named);
    take_whole(gpu_milli_of_pod(pod), named);
  }

  std::string drawn() const {
    std::string text = "[";
    for (std::size_t i = 0; i < milli_.size(); ++i) text += milli_[i] == 0 ? '.' : is_full(i) ? '#' : '+';
    return text + "]";
  }
  std::int64_t free_whole() const { return std::ranges::count(milli_, 0); }
  const std::vector<int>& milli() const { return milli_; }
  bool are_cut() const { return hardware_ != nullptr; }
  Sharing sharing() const { return sharing_; }
  // "0:1g.10gb@6", in the order of the devices and of their memory.
  std::vector<std::string> slices() const {
    std::vector<std::string> slices;
    for (std::size_t i = 0; i < layouts_.size(); ++i) {
      std::vector<MigPlace> places;
      layouts_[i].for_each([&](std::size_t place) { places.push_back(hardware_->mig->places()[place]); });
      std::ranges::sort(places, {}, &MigPlace::start);
      for (const MigPlace& place : places) {
        GivenGpus given{.profile = std::string(hardware_->mig_profiles[place.shape].name), .slice_start = place.start};
        given.gpus.add(static_cast<int>(i));
        slices.push_back(format_given_gpus(given));
      }
    }
    return slices;
  }

 private:
  bool is_full(std::size_t device) const {
    if (hardware_ == nullptr) return milli_[device] + least_ > kWholeGpu;
    return hardware_->mig->open_beside(layouts_[device], fixed_).empty();
  }

  void take_slice(std::string_view named) {
    const auto given = parse_given_gpus(named);
    const auto shape = given ? find_mig_profile(*hardware_, given->profile) : std::nullopt;
    const auto place = shape ? hardware_->mig->find_place(*shape, given->slice_start) : std::nullopt;
    if (!place) return;
    given->gpus.for_each([&](int gpu) {
      const auto device = static_cast<std::size_t>(gpu);
      if (device >= layouts_.size() || !hardware_->mig->open_beside(layouts_[device], fixed_).contains(*place)) return;
      layouts_[device] = layouts_[device].with(*place);
      milli_[device] += find_slice({.name = {}, .model = std::string(hardware_->model)}, *shape)->gpu_milli;
    });
  }

  // `named` as the binding said them ("0,3", "0:0.5"); empty: it said nothing.
  void take_whole(std::int64_t milli, std::string_view named) {
    std::vector<std::size_t> devices;
    named = named.substr(0, named.find(':'));
    while (!named.empty()) {
      const std::size_t comma = std::min(named.find(','), named.size());
      const auto index = parse_integer(named.substr(0, comma), 0, kGpusPerNodeMax - 1);
      if (index && static_cast<std::size_t>(*index) < milli_.size())
        devices.push_back(static_cast<std::size_t>(*index));
      named.remove_prefix(std::min(comma + 1, named.size()));
    }
    if (devices.empty()) devices = first_free(milli);
    for (const std::size_t device : devices) {
      const std::int64_t part = std::min<std::int64_t>(milli, kWholeGpu - milli_[device]);
      milli_[device] += static_cast<int>(part);
      milli -= part;
    }
  }

  std::vector<std::size_t> first_free(std::int64_t milli) const {
    std::vector<std::size_t> devices;
    for (std::size_t i = 0; i < milli_.size() && milli > 0; ++i) {
      if (milli_[i] > 0) continue;
      devices.push_back(i);
      milli -= kWholeGpu;
    }
    return devices;
  }

  std::vector<int> milli_;
  const GpuHardware* hardware_ = nullptr;  // of devices that are cut
  std::vector<MigPlaceSet> layouts_;
  MigPlaceSet fixed_;  // into which each was cut beforehand
  Sharing sharing_;
  int least_;  // that a pod may have of one
};

std::string state_of(const Value& node) {
  bool ready = false;
  for (const Value& condition : node["status"]["conditions"].items()) {
    if (condition["type"].text() == "Ready") ready = condition["status"].text() == "True";
  }
  std::string state = ready ? "ready" : "not-ready";
  if (node["spec"]["unschedulable"].truth()) state += ",cordoned";
  for (const Value& taint : node["spec"]["taints"].items()) {
    const std::string_view key = taint["key"].text();
    // Those say again what stands before.
    if (taint["effect"].text() == "PreferNoSchedule" || key.starts_with("node.kubernetes.io/")) continue;
    state += ",taint " + std::string(key);
  }
  return state;
}

ListingRow row_of(const Value& node, const TakenDevices& devices, int pods) {
  ListingRow row;
  const std::string name(node["metadata"]["name"].text());
  row.name = "node/" + name;
  const std::size_t gpus = devices.milli().size();
  const bool are_shared = devices.sharing() != Sharing::kExclusive;
  const std::string model = std::string(node["metadata"]["labels"][kGpuProductLabel].text()) +
                            (are_shared ? "/" + std::string(name_of(devices.sharing())) : "");
  const Value& allocatable = node["status"]["allocatable"];
  const std::string state = state_of(node);
  std::string slices;
  for (const std::string& each : devices.slices()) slices += (slices.empty() ? "" : ",") + each;
  row.cells = {name,
               model.empty() ? "-" : model,
               gpus == 0 ? "-" : devices.drawn(),
               gpus == 0 ? "-" : std::to_string(devices.free_whole()) + "/" + std::to_string(gpus),
               std::to_string(pods),
               state,
               amount_text(allocatable["cpu"]),
               amount_text(allocatable["memory"]),
               slices.empty() ? "-" : slices};
  Value taken = Value::list();
  for (const int each : devices.milli()) taken.push_back(each);
  row.facts = Value::map_of({{"name", name},
                             {"gpuModel", model},
                             {"gpus", gpus},
                             {"gpusFree", devices.free_whole()},
                             {"gpuMilliTaken", std::move(taken)},
                             {"pods", pods},
                             {"state", state},
                             {"cpu", amount_text(allocatable["cpu"])},
                             {"memory", amount_text(allocatable["memory"])}});
  if (devices.are_cut()) {
    Value& held = row.facts.set("slices", Value::list());
    for (std::string& each : devices.slices()) held.push_back(std::move(each));
  }
  return row;
}

}  // namespace

Listing list_nodes(const std::vector<Value>& nodes, const std::vector<Value>& pods) {
  std::map<std::string_view, std::vector<const Value*>> pods_on;
  for (const Value& pod : pods) {
    const std::string_view phase = pod["status"]["phase"].text();
    if (phase != "Succeeded" && phase != "Failed") pods_on[pod["spec"]["nodeName"].text()].push_back(&pod);
  }
  Listing listing;
  listing.columns = {{"NAME"},
                     {"MODEL"},
                     {"GPUS"},
                     {"FREE"},
                     {"PODS"},
                     {"STATE", ShownIn::kBoth, true},
                     {"CPU", ShownIn::kWide},
                     {"MEMORY", ShownIn::kWide},
                     {"SLICES", ShownIn::kWide}};
  for (const Value& node : nodes) {
    TakenDevices devices(read_node_gpus(node));
    auto& here = pods_on[node["metadata"]["name"].text()];
    // Who names devices first, so that the others get what is left.
    std::ranges::stable_partition(
        here, [](const Value* pod) { return !(*pod)["metadata"]["annotations"][kGpusAnnotation].is_empty(); });
    for (const Value* pod : here) devices.take(*pod);
    listing.rows.push_back(row_of(node, devices, static_cast<int>(here.size())));
  }
  std::ranges::sort(listing.rows, {}, &ListingRow::name);
  return listing;
}

}  // namespace berth
