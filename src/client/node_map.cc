#include "client/node_map.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string_view>
#include <utility>

#include "client/work.h"
#include "manifest/labels.h"
#include "model/quantity.h"

namespace berth {
namespace {

// More devices than any node has; a server that says more is not believed.
constexpr std::int64_t kDevicesMax = 64;
constexpr int kWholeGpu = 1000;

std::string amount_text(const Value& amount) {
  return amount.is_integer() ? std::to_string(amount.integer()) : std::string(amount.text());
}

std::size_t gpus_of(const Value& node) {
  const auto gpus = parse_integer(amount_text(node["status"]["allocatable"][kGpuResource]), 0, kDevicesMax);
  return gpus ? static_cast<std::size_t>(*gpus) : 0;
}

// The devices of one node, in thousandths that are taken.
class TakenDevices {
 public:
  explicit TakenDevices(std::size_t gpus) : milli_(gpus, 0) {}

  // `named` as the binding said them ("0,3"); empty: it said nothing.
  void take(std::int64_t milli, std::string_view named) {
    std::vector<std::size_t> devices;
    while (!named.empty()) {
      const std::size_t comma = std::min(named.find(','), named.size());
      const auto index = parse_integer(named.substr(0, comma), 0, kDevicesMax - 1);
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

  std::string drawn() const {
    std::string text = "[";
    for (const int each : milli_) text += each == 0 ? '.' : each < kWholeGpu ? '+' : '#';
    return text + "]";
  }
  std::int64_t free_whole() const { return std::ranges::count(milli_, 0); }
  const std::vector<int>& milli() const { return milli_; }

 private:
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
  const std::string model(node["metadata"]["labels"][kGpuProductLabel].text());
  const Value& allocatable = node["status"]["allocatable"];
  const std::string state = state_of(node);
  row.cells = {name,
               model.empty() ? "-" : model,
               gpus == 0 ? "-" : devices.drawn(),
               gpus == 0 ? "-" : std::to_string(devices.free_whole()) + "/" + std::to_string(gpus),
               std::to_string(pods),
               state,
               amount_text(allocatable["cpu"]),
               amount_text(allocatable["memory"])};
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
                     {"MEMORY", ShownIn::kWide}};
  for (const Value& node : nodes) {
    TakenDevices devices(gpus_of(node));
    auto& here = pods_on[node["metadata"]["name"].text()];
    // Who names devices first, so that the others get what is left.
    std::ranges::stable_partition(
        here, [](const Value* pod) { return !(*pod)["metadata"]["annotations"][kGpusAnnotation].is_empty(); });
    for (const Value* pod : here) {
      devices.take(gpu_milli_of_pod(*pod), (*pod)["metadata"]["annotations"][kGpusAnnotation].text());
    }
    listing.rows.push_back(row_of(node, devices, static_cast<int>(here.size())));
  }
  std::ranges::sort(listing.rows, {}, &ListingRow::name);
  return listing;
}

}  // namespace berth
