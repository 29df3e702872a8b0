#include "manifest/node_gpus.h"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <map>
#include <ranges>

#include "base/wording.h"
#include "manifest/labels.h"
#include "manifest/slice_resources.h"
#include "manifest/vgpu_resources.h"
#include "model/gpu.h"
#include "model/gpu_hardware.h"
#include "model/mig_layout.h"
#include "model/quantity.h"

namespace berth {
namespace {

constexpr std::string_view kNoStrategy = "none";
constexpr char kBetweenModes = '.';  // the value of a label may have no comma

class NodeGpusReader {
 public:
  explicit NodeGpusReader(const Value& node)
      : labels_(node["metadata"]["labels"]),
        annotations_(node["metadata"]["annotations"]),
        allocatable_(node["status"]["allocatable"]) {}

  NodeGpus read() {
    gpus_.count = whole_gpus();
    read_sharing();
    if (!labels_[kRecutLabel].is_null()) read_recut();
    if (gpus_.count == 0 || !gpus_.problem.empty()) return std::move(gpus_);
    gpus_.model = model();
    const auto memory = parse_integer(labels_[kGpuMemoryLabel].text("0"), 0, kGpuMemoryMibMax);
    const GpuModel* const model = find_gpu_model(gpus_.model);
    gpus_.memory_mib = memory && *memory > 0 ? *memory : model != nullptr ? model->memory_mib : 0;
    if (gpus_.may_be(Sharing::kMig) && mig_of({.name = {}, .model = gpus_.model}) == nullptr) {
      complain(kGpuModeLabel, "GPUs of model " + quote(gpus_.model) + " are not known to be cut into slices");
    }
    if (gpus_.may_be(Sharing::kVgpu) && vgpu_profiles({.name = {}, .model = gpus_.model}).empty()) {
      complain(kGpuModeLabel, "GPUs of model " + quote(gpus_.model) + " are not known to have vGPUs");
    }
    return std::move(gpus_);
  }

 private:
  void complain(std::string_view label, const std::string& why) { add("label " + std::string(label) + ": " + why); }
  void add(const std::string& problem) { gpus_.problem += (gpus_.problem.empty() ? "" : "; ") + problem; }

  std::int64_t amount(std::string_view resource, std::int64_t most) {
    const Value& value = allocatable_[resource];
    if (value.is_null()) return 0;
    const std::string text = value.is_integer() ? std::to_string(value.integer()) : std::string(value.text());
    const auto parsed = parse_integer(text, 0, INT32_MAX);
    if (parsed && *parsed <= most) return *parsed;
    add("status.allocatable " + std::string(resource) + ": " +
        (parsed ? "more than is believed of one machine" : parsed.error()));
    return 0;
  }
  // Else whoever waits for a slice to be cut would wait for nobody.
  void read_recut() {
    if (!labels_[kGpuModeLabel].is_null() && labels_[kGpuModeLabel].text() != name_of(Sharing::kExclusive)) {
      return complain(kRecutLabel,
                      "what its GPUs are is decided as pods ask (label " + std::string(kGpuModeLabel) +
                          "), so nothing was cut beforehand that could be cut anew; take one of the two away");
    }
    const auto takes = parse_duration_ms(labels_[kRecutLabel].text());
    if (!takes || *takes <= 0 || *takes > kRecutMax.ms) {
      return complain(kRecutLabel, "how long it takes to cut its GPUs anew, an hour at most, as in 2m" +
                                       (takes ? std::string() : "; " + takes.error()));
    }
    const auto count = parse_integer(labels_[kGpuCountLabel].text("none"), 1, kGpusPerNodeMax);
    const GpuHardware* const hardware = hardware_of({.name = {}, .model = model()});
    if (!count || hardware == nullptr || hardware->mig == nullptr) {
      return complain(kRecutLabel,
                      !count ? "how many GPUs are cut (label " + std::string(kGpuCountLabel) + "); " + count.error()
                             : "GPUs of model " + quote(model()) + " are not known to be cut into slices");
    }
    auto layouts = read_layouts(*hardware, annotations_[kLayoutsAnnotation].text());
    if (!layouts) return add("annotation " + std::string(kLayoutsAnnotation) + ": " + layouts.error());
    const NodeCut cut = read_node_cut(annotations_[kCutAnnotation].text());
    const auto asked = std::ranges::find(*layouts, cut.layout, &NodeLayout::name);
    const bool is_asked = cut.stage == CutStage::kAsked && asked != layouts->end();
    const bool is_cut = gpus_.sharing == Sharing::kMig;
    if (!is_asked && !is_cut && gpus_.count > 0) {
      return complain(kRecutLabel,
                      "its GPUs are whole, and nothing was cut that could be cut anew; have them cut once (label " +
                          std::string(kMigConfigLabel) + ": " + layouts->front().name + "), or take it away");
    }
    if (is_cut) gpus_.offered = gpus_.fixed_slices;
    gpus_.cut = cut;
    gpus_.cut_state = labels_[kMigStateLabel].text();
    // What it offers comes and goes meanwhile.
    if (is_asked) {
      gpus_.sharing = Sharing::kMig;
      gpus_.fixed_slices = asked->slices;
      gpus_.count = static_cast<std::int32_t>(*count);
      gpus_.unused_slices.clear();
      gpus_.why_unused.clear();
    }
    if (!is_asked && !is_cut) return;
    gpus_.recut = Duration{*takes};
    gpus_.layouts = *std::move(layouts);
  }

  std::string model() const { return gpu_model_of(labels_[kGpuProductLabel].text()); }
  std::int32_t whole_gpus() { return static_cast<std::int32_t>(amount(kGpuResource, kGpusPerNodeMax)); }

  void read_sharing() {
    const auto modes = parse_modes(labels_[kGpuModeLabel].text(name_of(Sharing::kExclusive)));
    if (modes) {
      gpus_.sharing = modes->front();
      for (const Sharing other : *modes | std::views::drop(1)) gpus_.other_modes.add(other);
    } else {
      complain(kGpuModeLabel, modes.error());
    }
    if (!gpus_.other_modes.empty()) return read_several();
    if (gpus_.sharing != Sharing::kExclusive) return read_shared();
    read_cut_by_others();
    if (modes) refuse_shared_by_others();
  }

  // What it offers goes by what it is just now; how many GPUs there are is said by a label alone.
  void read_several() {
    const std::int32_t whole = gpus_.count;
    if (whole > 0 && !gpus_.may_be(Sharing::kExclusive)) refuse_whole(gpus_.shared_as());
    read_count("there are");
    if (whole > gpus_.count && gpus_.count > 0) {
      add("status.allocatable " + std::string(kGpuResource) + ": it has more than the label " +
          std::string(kGpuCountLabel) + " says; let both say the same");
    }
    const std::string_view strategy = labels_[kSharingStrategyLabel].text(kNoStrategy);
    if (strategy == kNoStrategy || (gpus_.may_be(Sharing::kMps) && strategy == sharing_strategy_of(Sharing::kMps))) {
      return;
    }
    complain(kSharingStrategyLabel, "it is " + quote(strategy) + ", and the label " + std::string(kGpuModeLabel) +
                                        " says " + quote(modes_text(gpus_.sharing, gpus_.other_modes)) +
                                        "; let the device plugin share nothing in this way");
  }

  void read_cut_by_others() {
    std::map<std::string, std::int64_t> offered;
    for (const Value::Member& each : allocatable_.members()) {
      const std::int64_t slices = is_slice_resource(each.key) ? amount(each.key, INT32_MAX) : 0;
      if (slices > 0) offered[each.key] = slices;
    }
    if (offered.empty()) return;
    const auto fixed = fixed_slices(offered);
    if (fixed) {
      gpus_.sharing = Sharing::kMig;
      gpus_.fixed_slices = *fixed;
      return;
    }
    gpus_.why_unused = fixed.error();
    for (const auto& [resource, slices] : offered) gpus_.unused_slices.push_back(resource);
  }

  // How they are cut, if all are cut alike, and how many they are; else what is in the way. Which of them has which slice no
  // object says; but slices of one profile are alike.
  Parsed<MigPlaceSet> fixed_slices(const std::map<std::string, std::int64_t>& offered) {
    if (gpus_.count > 0) {
      return std::unexpected("status.allocatable has whole GPUs beside them (" + std::string(kGpuResource) +
                             "); cut all GPUs of a node alike, or none");
    }
    const auto count = parse_integer(labels_[kGpuCountLabel].text("none"), 1, kGpusPerNodeMax);
    if (!count) {
      return std::unexpected("label " + std::string(kGpuCountLabel) + ": how many GPUs are cut; " + count.error());
    }
    const GpuHardware* const hardware = hardware_of({.name = {}, .model = model()});
    if (hardware == nullptr || hardware->mig == nullptr) {
      return std::unexpected("label " + std::string(kGpuProductLabel) + ": GPUs of model " + quote(model()) +
                             " are not known to be cut into slices");
    }
    std::vector<std::string> of_each;
    for (const auto& [resource, slices] : offered) {
      const auto profile = profile_of(resource);
      if (!profile) return std::unexpected("status.allocatable " + resource + ": " + profile.error());
      if (slices % *count != 0 || slices / *count > std::ssize(hardware->mig->places())) {
        return std::unexpected("status.allocatable " + resource + ": " + std::to_string(slices) + " on " +
                               std::to_string(*count) + " GPUs; cut all GPUs of a node alike");
      }
      of_each.insert(of_each.end(), static_cast<std::size_t>(slices / *count), *profile);
    }
    const auto fixed = lay_out(*hardware, of_each);
    if (fixed) gpus_.count = static_cast<std::int32_t>(*count);
    return fixed;
  }

  // No GPU is whole there; how many there are is said by a label alone.
  void read_shared() {
    if (gpus_.count > 0) refuse_whole(gpus_.sharing);
    read_count("are " + std::string(words_of(gpus_.sharing).is));
    if (gpus_.sharing == Sharing::kTimeslice) read_replicas();
    const std::string_view strategy = labels_[kSharingStrategyLabel].text(kNoStrategy);
    if (strategy != kNoStrategy && strategy != sharing_strategy_of(gpus_.sharing)) {
      complain(kSharingStrategyLabel, "it is " + quote(strategy) + ", and the label " + std::string(kGpuModeLabel) +
                                          " says " + quote(name_of(gpus_.sharing)) + "; let both say the same");
    }
  }

  void read_count(const std::string& of_what) {
    const auto count = parse_integer(labels_[kGpuCountLabel].text("none"), 1, kGpusPerNodeMax);
    if (!count) return complain(kGpuCountLabel, "how many GPUs " + of_what + "; " + count.error());
    gpus_.count = static_cast<std::int32_t>(*count);
  }

  void refuse_whole(Sharing sharing) {
    complain(kGpuModeLabel, "its GPUs are said to be " + std::string(words_of(sharing).is) +
                                ", and status.allocatable has whole ones (" + std::string(kGpuResource) + "); " +
                                how_none_is_whole(sharing));
  }

  static std::string how_none_is_whole(Sharing sharing) {
    if (sharing == Sharing::kMig) return "a node's GPUs are all cut, or none is";
    if (sharing == Sharing::kMps || sharing == Sharing::kVgpu) return "a node's GPUs are all shared, or none is";
    return "let the device plugin rename what it shares (renameByDefault: true), so that nobody takes a replica for a "
           "GPU";
  }

  // Of a GPU that is not well there are no replicas.
  void read_replicas() {
    const auto replicas = parse_integer(labels_[kGpuReplicasLabel].text("none"), 2, kReplicasMax);
    if (!replicas) return complain(kGpuReplicasLabel, "as how many each GPU counts; " + replicas.error());
    gpus_.replicas = static_cast<std::int32_t>(*replicas);
    if (allocatable_[kSharedGpuResource].is_null()) return;
    const std::int64_t offered = amount(kSharedGpuResource, INT32_MAX) / gpus_.replicas;
    gpus_.count = static_cast<std::int32_t>(std::min<std::int64_t>(gpus_.count, offered));
  }

  // What looks like a GPU there is a part of one, and who else has parts of it nobody says.
  void refuse_shared_by_others() {
    const auto replicas = parse_integer(labels_[kGpuReplicasLabel].text("1"), 0, INT32_MAX);
    const std::string_view strategy = labels_[kSharingStrategyLabel].text(kNoStrategy);
    const bool offers = amount(kSharedGpuResource, INT32_MAX) > 0;
    if (strategy == kNoStrategy && !offers && replicas.value_or(1) <= 1) return;
    complain(kGpuModeLabel, "its GPUs are shared (" +
                                (strategy != kNoStrategy ? std::string(kSharingStrategyLabel)
                                 : offers                ? std::string(kSharedGpuResource)
                                                         : std::string(kGpuReplicasLabel)) +
                                "), and this label does not say how; write timeslice for replicas that best effort "
                                "takes turns on");
  }

  const Value& labels_;
  const Value& annotations_;
  const Value& allocatable_;
  NodeGpus gpus_;
};

}  // namespace

NodeGpus read_node_gpus(const Value& node) { return NodeGpusReader(node).read(); }

Sharing NodeGpus::shared_as() const {
  if (sharing != Sharing::kExclusive) return sharing;
  for (const Sharing mode : {Sharing::kMig, Sharing::kMps, Sharing::kVgpu}) {
    if (other_modes.contains(mode)) return mode;
  }
  return Sharing::kExclusive;
}

std::string modes_text(Sharing first, SharingSet others) {
  std::string text(name_of(first));
  for (std::size_t i = 0; i < std::size(kSharingNames); ++i) {
    const auto mode = static_cast<Sharing>(i);
    if (mode != first && others.contains(mode)) text += kBetweenModes + std::string(name_of(mode));
  }
  return text;
}

Parsed<std::vector<Sharing>> parse_modes(std::string_view text) {
  std::vector<Sharing> modes;
  for (const auto part : text | std::views::split(kBetweenModes)) {
    const std::string_view name(part.begin(), part.end());
    const auto* const found = std::ranges::find(kSharingNames, name);
    if (found == std::end(kSharingNames)) {
      return std::unexpected(quote(name) +
                             " is no mode; write exclusive, mig, mps, timeslice or vgpu, or several that take "
                             "turns, as in exclusive.mig");
    }
    const auto mode = static_cast<Sharing>(found - std::begin(kSharingNames));
    if (std::ranges::find(modes, mode) != modes.end()) {
      return std::unexpected(quote(name) + " is there twice; name each once");
    }
    modes.push_back(mode);
  }
  if (modes.size() > 1 && std::ranges::find(modes, Sharing::kTimeslice) != modes.end()) {
    return std::unexpected("time-sliced GPUs are nothing else besides; write timeslice alone, or leave it out");
  }
  return modes;
}

std::string_view sharing_strategy_of(Sharing sharing) {
  if (sharing == Sharing::kTimeslice) return "time-slicing";
  return sharing == Sharing::kMps ? "mps" : kNoStrategy;
}

std::string gpu_model_of(std::string_view product) {
  if (product.empty()) return "unlabelled";
  constexpr std::string_view kShared = "-SHARED";
  if (product.ends_with(kShared)) product.remove_suffix(kShared.size());
  const GpuModel* const model = find_gpu_model(product);
  return std::string(model != nullptr ? model->short_name : product);
}

void set_shared_amounts(const NodeGpus& gpus, Value& amounts) {
  if (!gpus.other_modes.empty() && gpus.may_be(Sharing::kExclusive)) {
    amounts.set(kGpuResource, std::to_string(gpus.count));
  }
  if (gpus.sharing == Sharing::kTimeslice) {
    amounts.set(kSharedGpuResource, std::to_string(gpus.count * gpus.replicas));
  }
  if (gpus.may_be(Sharing::kVgpu)) {
    for (const VgpuProfile& each : vgpu_profiles({.name = {}, .model = gpus.model})) {
      amounts.set(vgpu_resource(each.name), std::to_string(gpus.count * each.on_each));
    }
  }
  const GpuHardware* const hardware = hardware_of({.name = {}, .model = gpus.model});
  if (!gpus.may_be(Sharing::kMig) || hardware == nullptr || hardware->mig == nullptr) return;
  for (std::size_t shape = 0; shape < hardware->mig_profiles.size(); ++shape) {
    const int of_each = hardware->mig->room_for(shape, MigPlaceSet(), gpus.fixed_slices);
    if (of_each == 0) continue;
    amounts.set(slice_resource(hardware->mig_profiles[shape].name), std::to_string(gpus.count * of_each));
  }
}

}  // namespace berth
