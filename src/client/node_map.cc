#include "client/node_map.h"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "client/node_devices.h"

namespace berth {
namespace {

std::string amount_text(const Value& amount) {
  return amount.is_integer() ? std::to_string(amount.integer()) : std::string(amount.text());
}

ListingRow row_of(const NodeInUse& in_use) {
  const Value& node = *in_use.node;
  const NodeDevices& devices = in_use.devices;
  const int pods = in_use.pods;
  ListingRow row;
  const std::string name(node["metadata"]["name"].text());
  row.name = "node/" + name;
  const std::size_t gpus = devices.milli().size();
  const std::string model = gpu_model_shown(node, devices);
  const Value& allocatable = node["status"]["allocatable"];
  const std::string state = state_of_node(node);
  std::string slices;
  for (const std::string& each : devices.slices()) slices += (slices.empty() ? "" : ",") + each;
  if (slices.empty() && !devices.layout().empty()) slices = "cut into " + devices.layout();
  std::string left;
  for (const std::string& each : devices.left()) left += (left.empty() ? "" : "; ") + each;
  row.cells = {name,
               model.empty() ? "-" : model,
               gpus == 0 ? "-" : "[" + devices.drawn() + "]",
               gpus == 0 ? "-" : std::to_string(devices.free_whole()) + "/" + std::to_string(gpus),
               std::to_string(pods),
               state,
               amount_text(allocatable["cpu"]),
               amount_text(allocatable["memory"]),
               slices.empty() ? "-" : slices,
               left.empty() ? "-" : left};
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
  if (is_spare(node)) row.facts.set("spare", true);
  if (devices.are_cut() || devices.sharing() == Sharing::kVgpu) {
    Value& held = row.facts.set("slices", Value::list());
    for (std::string& each : devices.slices()) held.push_back(std::move(each));
  }
  if (!devices.layout().empty()) row.facts.set("layout", devices.layout());
  if (!left.empty()) {
    Value& of_gpus = row.facts.set("left", Value::list());
    for (std::string& each : devices.left()) of_gpus.push_back(std::move(each));
  }
  return row;
}

}  // namespace

Listing list_nodes(const std::vector<Value>& nodes, const std::vector<Value>& pods) {
  Listing listing;
  listing.columns = {{"NAME"},
                     {"MODEL"},
                     {"GPUS"},
                     {"FREE"},
                     {"PODS"},
                     {"STATE", ShownIn::kBoth, true},
                     {"CPU", ShownIn::kWide},
                     {"MEMORY", ShownIn::kWide},
                     {"SLICES", ShownIn::kWide},
                     {"LEFT", ShownIn::kWide}};
  for (const NodeInUse& each : nodes_in_use(nodes, pods)) listing.rows.push_back(row_of(each));
  return listing;
}

}  // namespace berth
