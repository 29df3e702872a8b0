#include "manifest/node_gpus.h"

#include <cstddef>

#include "base/wording.h"
#include "manifest/labels.h"
#include "manifest/slice_resources.h"
#include "model/gpu.h"
#include "model/gpu_hardware.h"
#include "model/quantity.h"

namespace berth {
namespace {

class Reader {
 public:
  explicit Reader(const Value& node)
      : labels_(node["metadata"]["labels"]), allocatable_(node["status"]["allocatable"]) {}

  NodeGpus read() {
    gpus_.count = whole_gpus();
    read_sharing();
    if (gpus_.count == 0 || !gpus_.problem.empty()) return std::move(gpus_);
    gpus_.model = gpu_model_of(labels_[kGpuProductLabel].text());
    const auto memory = parse_integer(labels_[kGpuMemoryLabel].text("0"), 0, kGpuMemoryMibMax);
    const GpuModel* const model = find_gpu_model(gpus_.model);
    gpus_.memory_mib = memory && *memory > 0 ? *memory : model != nullptr ? model->memory_mib : 0;
    if (gpus_.sharing == Sharing::kMig && mig_of({.name = {}, .model = gpus_.model}) == nullptr) {
      complain(kGpuModeLabel, "GPUs of model " + quote(gpus_.model) + " are not known to be cut into slices");
    }
    return std::move(gpus_);
  }

 private:
  void complain(std::string_view label, const std::string& why) {
    if (gpus_.problem.empty()) gpus_.problem = "label " + std::string(label) + ": " + why;
  }

  std::int64_t amount(std::string_view resource, std::int64_t most) {
    const Value& value = allocatable_[resource];
    if (value.is_null()) return 0;
    const std::string text = value.is_integer() ? std::to_string(value.integer()) : std::string(value.text());
    const auto parsed = parse_integer(text, 0, INT32_MAX);
    if (parsed && *parsed <= most) return *parsed;
    if (gpus_.problem.empty()) {
      gpus_.problem = "status.allocatable " + std::string(resource) + ": " +
                      (parsed ? "more than is believed of one machine" : parsed.error());
    }
    return 0;
  }
  std::int32_t whole_gpus() { return static_cast<std::int32_t>(amount(kGpuResource, kGpusPerNodeMax)); }

  void read_sharing() {
    const std::string_view mode = labels_[kGpuModeLabel].text(name_of(Sharing::kExclusive));
    if (mode == name_of(Sharing::kMig)) return read_cut();
    if (mode != name_of(Sharing::kExclusive))
      complain(kGpuModeLabel, quote(mode) + " is no mode; write mig or exclusive");
    for (const Value::Member& each : allocatable_.members()) {
      if (is_slice_resource(each.key) && amount(each.key, INT32_MAX) > 0) gpus_.fixed_slices.push_back(each.key);
    }
  }

  // No GPU is whole there; how many there are is said by a label alone.
  void read_cut() {
    gpus_.sharing = Sharing::kMig;
    if (gpus_.count > 0) {
      return complain(kGpuModeLabel,
                      "its GPUs are said to be cut into slices, and status.allocatable has whole ones (" +
                          std::string(kGpuResource) + "); a node's GPUs are all cut, or none is");
    }
    const auto count = parse_integer(labels_[kGpuCountLabel].text("none"), 1, kGpusPerNodeMax);
    if (!count) return complain(kGpuCountLabel, "how many GPUs are cut into slices; " + count.error());
    gpus_.count = static_cast<std::int32_t>(*count);
  }

  const Value& labels_;
  const Value& allocatable_;
  NodeGpus gpus_;
};

}  // namespace

NodeGpus read_node_gpus(const Value& node) { return Reader(node).read(); }

std::string gpu_model_of(std::string_view product) {
  if (product.empty()) return "unlabelled";
  constexpr std::string_view kMaker = "NVIDIA-";
  const GpuModel* const model = find_gpu_model(product.starts_with(kMaker) ? product.substr(kMaker.size()) : product);
  return std::string(model != nullptr ? model->short_name : product);
}

void set_slice_amounts(const NodeGpus& gpus, Value& amounts) {
  const GpuHardware* const hardware = hardware_of({.name = {}, .model = gpus.model});
  if (gpus.sharing != Sharing::kMig || hardware == nullptr || hardware->mig == nullptr) return;
  for (std::size_t shape = 0; shape < hardware->mig_profiles.size(); ++shape) {
    const int of_each = hardware->mig->room_for(shape, MigPlaceSet());
    amounts.set(slice_resource(hardware->mig_profiles[shape].name), std::to_string(gpus.count * of_each));
  }
}

}  // namespace berth
