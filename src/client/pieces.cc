#include "client/pieces.h"

#include <algorithm>
#include <map>

#include "model/gpu_hardware.h"

namespace berth {
namespace {

std::string per_cent(std::int64_t permille) {
  return std::to_string(permille / 10) + "." + std::to_string(permille % 10) + " %";
}

// The smallest first, as the model has them.
std::vector<std::pair<std::string, std::int64_t>> slices_of(const std::vector<NodeInUse>& nodes,
                                                            const std::string& model) {
  std::vector<std::pair<std::string, std::int64_t>> slices;
  const GpuHardware* const hardware = hardware_of({.name = {}, .model = model});
  if (hardware == nullptr || hardware->mig == nullptr) return slices;
  bool some_are_cut = false;
  for (std::size_t shape = 0; shape < hardware->mig_profiles.size(); ++shape) {
    if (!hardware->mig->shapes()[shape].is_plain()) continue;
    std::int64_t count = 0;
    for (const NodeInUse& node : nodes) {
      if (node.model != model || !node.takes_pods() || !node.devices.are_cut()) continue;
      some_are_cut = true;
      count += node.devices.room_for(shape);
    }
    slices.emplace_back(hardware->mig_profiles[shape].name, count);
  }
  if (!some_are_cut) slices.clear();
  return slices;
}

}  // namespace

std::vector<FreePieces> pieces_of(const std::vector<NodeInUse>& nodes) {
  std::map<std::string, std::vector<const NodeInUse*>> by_model;
  for (const NodeInUse& node : nodes) {
    const bool counts = node.takes_pods() && node.devices.sharing() == Sharing::kExclusive;
    if (counts && !node.devices.milli().empty()) by_model[node.model].push_back(&node);
    if (node.takes_pods() && node.devices.are_cut()) by_model[node.model];
  }
  std::vector<FreePieces> all;
  for (const auto& [model, of_model] : by_model) {
    FreePieces made{.model = model, .fit = {}};
    for (const NodeInUse* const node : of_model) {
      made.free += node->devices.free_whole();
      made.node_gpus = std::max<std::int64_t>(made.node_gpus, std::ssize(node->devices.milli()));
    }
    std::vector<std::int64_t> sizes;
    for (std::int64_t size = 1; size < made.node_gpus; size *= 2) sizes.push_back(size);
    sizes.push_back(made.node_gpus);
    for (const std::int64_t size : sizes) {
      std::int64_t pods = 0;
      for (const NodeInUse* const node : of_model) pods += node->devices.free_whole() / size;
      made.fit.emplace_back(size, pods);
    }
    made.slices = slices_of(nodes, model);
    if (made.node_gpus == 0) made.fit.clear();
    if (made.free > 0) made.useless_permille = 1000 - made.fit.back().second * made.node_gpus * 1000 / made.free;
    all.push_back(std::move(made));
  }
  return all;
}

std::string pieces_in_words(const std::vector<FreePieces>& pieces) {
  std::string text;
  for (const FreePieces& each : pieces) {
    if (!each.slices.empty()) {
      text += (each.model.empty() ? "GPUs" : each.model) + " in slices: room for";
      for (std::size_t i = 0; i < each.slices.size(); ++i) {
        text += (i == 0 ? " " : ", ") + std::to_string(each.slices[i].second) + " of " + each.slices[i].first;
      }
      text += "\n";
    }
    if (each.node_gpus == 0) continue;
    text += (each.model.empty() ? "GPUs" : each.model) + ": " + std::to_string(each.free) + " free, " +
            per_cent(each.useless_permille) + " of them of no use to a pod with all " + std::to_string(each.node_gpus) +
            " of a node; room for";
    for (const auto& [size, pods] : each.fit) {
      text +=
          (size == 1 ? " " : ", ") + std::to_string(pods) + (size == 1 ? " pods of " : " of ") + std::to_string(size);
    }
    text += "\n";
  }
  return text;
}

Value pieces_as_value(const std::vector<FreePieces>& pieces) {
  Value all = Value::list();
  for (const FreePieces& each : pieces) {
    Value fit = Value::list();
    for (const auto& [size, pods] : each.fit) fit.push_back(Value::map_of({{"gpus", size}, {"pods", pods}}));
    Value made = Value::map_of({{"model", each.model},
                                {"free", each.free},
                                {"nodeGpus", each.node_gpus},
                                {"uselessPermille", each.useless_permille},
                                {"podsThatFit", std::move(fit)}});
    for (const auto& [profile, count] : each.slices) {
      made.at("slicesThatFit").push_back(Value::map_of({{"profile", profile}, {"count", count}}));
    }
    all.push_back(std::move(made));
  }
  return all;
}

}  // namespace berth
