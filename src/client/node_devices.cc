#include "client/node_devices.h"

#include <algorithm>
#include <map>
#include <utility>

#include "client/work.h"
#include "manifest/given_gpus.h"
#include "manifest/labels.h"
#include "model/mig_layout.h"
#include "model/quantity.h"

namespace berth {
namespace {

constexpr int kWholeGpu = 1000;

Sharing asked_by(const Value& pod) {
  const auto given = parse_given_gpus(pod["metadata"]["annotations"][kGpusAnnotation].text());
  return given && !given->profile.empty() ? Sharing::kMig : gpu_part_of_pod(pod).sharing;
}

// A node that may be several things is what those ask who have GPUs of it.
NodeGpus as_it_is(NodeGpus gpus, const std::vector<const Value*>& pods) {
  if (gpus.other_modes.empty()) return gpus;
  const auto holds = [](const Value* pod) { return !(*pod)["metadata"]["annotations"][kGpusAnnotation].is_empty(); };
  const auto first = std::ranges::find_if(pods, holds);
  if (first == pods.end() || !gpus.may_be(asked_by(**first))) return gpus;
  gpus.sharing = asked_by(**first);
  gpus.other_modes = {};
  return gpus;
}

bool says_ready(const Value& node) {
  for (const Value& condition : node["status"]["conditions"].items()) {
    if (condition["type"].text() == "Ready") return condition["status"].text() == "True";
  }
  return false;
}

}  // namespace

NodeDevices::NodeDevices(const NodeGpus& gpus, GpuRecords records)
    : milli_(static_cast<std::size_t>(gpus.count), 0),
      layouts_(milli_.size()),
      vgpus_(milli_.size()),
      fixed_(gpus.fixed_slices),
      sharing_(gpus.sharing),
      other_modes_(gpus.other_modes),
      least_(gpus.sharing == Sharing::kTimeslice ? kWholeGpu / gpus.replicas : 1),
      records_(std::move(records)),
      is_being_cut_(gpus.cut.stage == CutStage::kAsked && !gpus.layouts.empty()) {
  if (!gpus.layouts.empty()) layout_ = layout_text(*hardware_of({.name = {}, .model = gpus.model}), gpus.fixed_slices);
  if (gpus.sharing == Sharing::kMig) hardware_ = hardware_of({.name = {}, .model = gpus.model});
}

void NodeDevices::take(const Value& pod) {
  const std::string_view named = pod["metadata"]["annotations"][kGpusAnnotation].text();
  if (hardware_ != nullptr) return take_slice(named);
  if (sharing_ == Sharing::kVgpu) return take_vgpu(pod, named);
  take_whole(gpu_milli_of_pod(pod), named);
}

void NodeDevices::take_vgpu(const Value& pod, std::string_view named) {
  const GpuPart part = gpu_part_of_pod(pod);
  if (part.vgpu.empty()) return;
  const std::vector<int> before = milli_;
  take_whole(part.milli, named);
  for (std::size_t i = 0; i < milli_.size(); ++i) {
    if (milli_[i] != before[i]) vgpus_[i] = {part.vgpu, part.milli, vgpus_[i].count + 1};
  }
}

std::string NodeDevices::drawn() const {
  std::string text;
  for (std::size_t i = 0; i < milli_.size(); ++i) {
    if (is_being_cut_) {
      text += '/';
      continue;
    }
    text += is_free(i) ? '.' : milli_[i] == 0 ? left_on(i) : is_full(i) ? '#' : '+';
  }
  return text;
}

std::int64_t NodeDevices::free_whole() const {
  std::int64_t free = 0;
  for (std::size_t i = 0; i < milli_.size(); ++i) free += is_free(i) && !is_being_cut_ ? 1 : 0;
  return free;
}

std::int64_t NodeDevices::room_for(std::size_t shape) const {
  std::int64_t room = 0;
  for (const MigPlaceSet layout : layouts_) room += is_being_cut_ ? 0 : hardware_->mig->room_for(shape, layout, fixed_);
  return room;
}

std::vector<std::string> NodeDevices::left() const {
  std::vector<std::string> left;
  for (std::size_t i = 0; i < milli_.size(); ++i) {
    if (milli_[i] > 0 || is_free(i)) continue;
    const int gpu = static_cast<int>(i);
    std::string text;
    if (records_.state_of(gpu) == GpuState::kQuarantined) {
      text = "quarantined (" + records_.why(gpu) + ")";
    } else {
      for (const std::string& tenant : records_.uses.at(gpu).tenants) text += (text.empty() ? "" : ",") + tenant;
    }
    left.push_back(std::to_string(i) + ": " + text);
  }
  return left;
}

bool NodeDevices::is_free(std::size_t device) const {
  return milli_[device] == 0 && records_.state_of(static_cast<int>(device)) == GpuState::kClean;
}

char NodeDevices::left_on(std::size_t device) const {
  return records_.state_of(static_cast<int>(device)) == GpuState::kQuarantined ? '!' : '~';
}

std::vector<std::string> NodeDevices::slices() const {
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
  for (std::size_t i = 0; i < vgpus_.size(); ++i) {
    if (vgpus_[i].count == 0) continue;
    slices.push_back(std::to_string(i) + ":" + std::to_string(vgpus_[i].count) + "x" + vgpus_[i].profile);
  }
  return slices;
}

std::string NodeDevices::modes_shown() const {
  if (sharing_ == Sharing::kExclusive && other_modes_.empty()) return "";
  return "/" + modes_text(sharing_, other_modes_);
}

bool NodeDevices::is_full(std::size_t device) const {
  const int least = std::max(least_, vgpus_[device].milli);
  if (hardware_ == nullptr) return milli_[device] + least > kWholeGpu;
  return hardware_->mig->open_beside(layouts_[device], fixed_).empty();
}

void NodeDevices::take_slice(std::string_view named) {
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
void NodeDevices::take_whole(std::int64_t milli, std::string_view named) {
  std::vector<std::size_t> devices;
  named = named.substr(0, named.find(':'));
  while (!named.empty()) {
    const std::size_t comma = std::min(named.find(','), named.size());
    const auto index = parse_integer(named.substr(0, comma), 0, kGpusPerNodeMax - 1);
    if (index && static_cast<std::size_t>(*index) < milli_.size()) devices.push_back(static_cast<std::size_t>(*index));
    named.remove_prefix(std::min(comma + 1, named.size()));
  }
  if (devices.empty()) devices = first_free(milli);
  for (const std::size_t device : devices) {
    const std::int64_t part = std::min<std::int64_t>(milli, kWholeGpu - milli_[device]);
    milli_[device] += static_cast<int>(part);
    milli -= part;
  }
}

std::vector<std::size_t> NodeDevices::first_free(std::int64_t milli) const {
  std::vector<std::size_t> devices;
  for (std::size_t i = 0; i < milli_.size() && milli > 0; ++i) {
    if (milli_[i] > 0) continue;
    devices.push_back(i);
    milli -= kWholeGpu;
  }
  return devices;
}

std::vector<NodeInUse> nodes_in_use(const std::vector<Value>& nodes, const std::vector<Value>& pods) {
  std::map<std::string_view, std::vector<const Value*>> pods_on;
  for (const Value& pod : pods) {
    const std::string_view phase = pod["status"]["phase"].text();
    if (phase != "Succeeded" && phase != "Failed") pods_on[pod["spec"]["nodeName"].text()].push_back(&pod);
  }
  std::vector<NodeInUse> in_use;
  for (const Value& node : nodes) {
    const NodeGpus gpus = read_node_gpus(node);
    auto& here = pods_on[node["metadata"]["name"].text()];
    NodeInUse& made = in_use.emplace_back(&node, gpus.model, NodeDevices(as_it_is(gpus, here), read_gpu_records(node)));
    std::ranges::stable_partition(
        here, [](const Value* pod) { return !(*pod)["metadata"]["annotations"][kGpusAnnotation].is_empty(); });
    for (const Value* pod : here) made.devices.take(*pod);
    made.pods = static_cast<int>(here.size());
  }
  std::ranges::sort(in_use, {}, &NodeInUse::name);
  return in_use;
}

bool is_spare(const Value& node) { return node["metadata"]["labels"][kSpareLabel].text() == "true"; }

bool NodeInUse::takes_pods() const {
  return says_ready(*node) && !(*node)["spec"]["unschedulable"].truth() && !is_spare(*node);
}

std::string state_of_node(const Value& node) {
  std::string state = says_ready(node) ? "ready" : "not-ready";
  if (node["spec"]["unschedulable"].truth()) state += ",cordoned";
  if (is_spare(node)) state += ",spare";
  if (!node["metadata"]["labels"][kRecutLabel].is_null()) {
    const NodeCut cut = read_node_cut(node["metadata"]["annotations"][kCutAnnotation].text());
    if (cut.stage == CutStage::kAsked) state += ",cutting " + cut.layout;
    if (cut.stage == CutStage::kFailed) state += ",recut-failed";
  }
  for (const Value& taint : node["spec"]["taints"].items()) {
    const std::string_view key = taint["key"].text();
    // Those say again what stands before.
    if (taint["effect"].text() == "PreferNoSchedule" || key.starts_with("node.kubernetes.io/")) continue;
    state += ",taint " + std::string(key);
  }
  return state;
}

std::string gpu_model_shown(const Value& node, const NodeDevices& devices) {
  return std::string(node["metadata"]["labels"][kGpuProductLabel].text()) + devices.modes_shown();
}

}  // namespace berth
