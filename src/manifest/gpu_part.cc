#include "manifest/gpu_part.h"

#include <algorithm>
#include <utility>

#include "base/wording.h"
#include "manifest/labels.h"
#include "manifest/vgpu_resources.h"
#include "model/gpu.h"
#include "model/quantity.h"
#include "model/request.h"

namespace berth {
namespace {

class GpuPartReader {
 public:
  GpuPartReader(const Value& annotations, const GpuResources& asked) : annotations_(annotations), asked_(asked) {}

  ReadGpuPart read() {
    const std::vector<std::string_view> amounts = amounts_named();
    for (std::size_t i = 1; i < amounts.size(); ++i) {
      complain(amounts[i], "a pod asks one part of one GPU, and it has the annotation " + std::string(amounts[0]) +
                               ", too; write one of them");
    }
    if (!amounts.empty()) read_amount(amounts.front());
    if (annotations_.find(kGpuFractionDevicesAnnotation) != nullptr) check_devices();
    if (annotations_.find(kGpuSharingAnnotation) != nullptr) read_sharing();
    if (asked_.shared > 0) read_replica(!amounts.empty());
    if (!asked_.vgpus.empty()) read_vgpu(!amounts.empty());
    if (const Value* const latency = annotations_.find(kLatencyAnnotation)) check_latency(latency->text());
    return std::move(read_);
  }

 private:
  void complain(std::string_view annotation, std::string why) {
    read_.problems.push_back({annotation, std::move(why)});
  }

  std::vector<std::string_view> amounts_named() const {
    std::vector<std::string_view> named;
    for (const std::string_view each : {kGpuFractionAnnotation, kGpuMemoryAnnotation, kGpuMilliAnnotation}) {
      if (annotations_.find(each) != nullptr) named.push_back(each);
    }
    return named;
  }

  void read_amount(std::string_view annotation) {
    const std::string_view text = annotations_[annotation].text();
    if (annotation == kGpuMilliAnnotation) return read_milli(text);
    if (asked_.whole > 0 || asked_.slices) {
      const std::string other = asked_.whole > 0 ? std::string(kGpuResource) : "a slice";
      complain(annotation, "a pod asks a part of one GPU by this annotation alone, and it asks " + other +
                               ", too; leave that out, or ask them by two pods");
      return;
    }
    if (annotation == kGpuMemoryAnnotation) {
      const auto memory = parse_integer(text, 1, kGpuMemoryMibMax);
      if (memory) read_.part.memory_mib = *memory;
      if (!memory) complain(annotation, "MiB of one GPU: " + memory.error());
    } else if (const auto milli = parse_part(text)) {
      read_.part.milli = *milli;
    } else {
      complain(annotation,
               quote(text) +
                   " is no part of one GPU; write one from 0.001 to 1 in thousandths, as in 0.5, and ask whole "
                   "GPUs by " +
                   std::string(kGpuResource));
    }
  }

  // Berth's own word stands beside a GPU, of which it takes so much.
  void read_milli(std::string_view text) {
    const auto milli = parse_integer(text, 1, kMilliPerGpu);
    if (!milli) {
      complain(kGpuMilliAnnotation, "thousandths of one GPU, from 1 to " + std::to_string(kMilliPerGpu));
    }
    if (asked_.whole != 1) {
      complain(kGpuMilliAnnotation, "a part of a GPU goes with limits of exactly nvidia.com/gpu: 1; the pod asks for " +
                                        std::to_string(asked_.whole));
    } else if (milli) {
      read_.part.milli = static_cast<std::int32_t>(*milli);
    }
  }

  void check_devices() {
    const std::string_view text = annotations_[kGpuFractionDevicesAnnotation].text();
    if (text == "1") return;
    complain(kGpuFractionDevicesAnnotation, "a pod asks a part of one GPU, and it asks parts of " + quote(text) +
                                                "; ask them by several pods, as of a Job with parallelism");
  }

  void read_sharing() {
    const std::string_view text = annotations_[kGpuSharingAnnotation].text();
    if (text != name_of(Sharing::kMps)) {
      return complain(kGpuSharingAnnotation,
                      quote(text) +
                          " is no way in which parts are shared; write mps, leave it out for parts by "
                          "agreement, and ask replicas and slices by their resources (" +
                          std::string(kSharedGpuResource) + ", " + std::string(kSliceResourcePrefix) + "1g.10gb)");
    }
    if (read_.part.is_none()) {
      if (read_.problems.empty()) {
        complain(kGpuSharingAnnotation, "a share of MPS is a part of one GPU; say how much by the annotation " +
                                            std::string(kGpuFractionAnnotation) + ", as in 0.25, or by " +
                                            std::string(kGpuMemoryAnnotation));
      }
      return;
    }
    read_.part.sharing = Sharing::kMps;
    if (read_.part.milli > 0 && read_.part.milli < kMpsMilliMin) {
      complain(kGpuSharingAnnotation, "a share of MPS is " + decimal_of_milli(kMpsMilliMin) +
                                          " of a GPU or more, and it asks " + decimal_of_milli(read_.part.milli));
    }
  }

  void read_replica(bool asks_part) {
    const std::string resource(kSharedGpuResource);
    if (asked_.whole > 0 || asked_.slices || asks_part) {
      const std::string other = asked_.whole > 0 ? std::string(kGpuResource) : asked_.slices ? "a slice" : "a part";
      complain("", "a pod asks a replica of a GPU or something else, and it asks " + resource + " and " + other +
                       "; ask them by two pods");
      return;
    }
    read_.part = {.sharing = Sharing::kTimeslice};
    if (asked_.shared > 1) {
      complain("", "several replicas give a pod no more than one, and it asks " + std::to_string(asked_.shared) +
                       " of " + resource + "; ask 1, or ask them by several pods");
    }
    if (annotations_[kCoverageAnnotation].text() != "best-effort") {
      complain("", "a replica (" + resource +
                       ") has no memory and no time of its own, so it is for best effort; write "
                       "the annotation " +
                       std::string(kCoverageAnnotation) + ": best-effort, or ask " + std::string(kGpuResource));
    }
  }

  void read_vgpu(bool asks_part) {
    const std::string& resource = asked_.vgpus.begin()->first;
    if (asked_.whole > 0 || asked_.slices || asks_part || asked_.shared > 0) {
      const std::string other = asked_.whole > 0    ? std::string(kGpuResource)
                                : asked_.slices     ? "a slice"
                                : asked_.shared > 0 ? std::string(kSharedGpuResource)
                                                    : "a part";
      return complain("", "a pod asks a vGPU or something else, and it asks " + resource + " and " + other +
                              "; ask them by two pods");
    }
    if (std::string why = why_not_one_vgpu(asked_.vgpus); !why.empty()) return complain("", std::move(why));
    const auto profile = vgpu_named(resource);
    if (!profile) return complain("", "it asks " + resource + ": " + profile.error());
    read_.part = {.milli = profile->gpu_milli(), .sharing = Sharing::kVgpu, .vgpu = profile->name};
  }

  void check_latency(std::string_view text) {
    if (text != "critical") return complain(kLatencyAnnotation, quote(text) + " is no latency; write critical");
    if (read_.part.is_replica()) {
      complain(kLatencyAnnotation,
               "latency-critical work takes no turns; ask " + std::string(kGpuResource) + " or a slice");
    }
  }

  const Value& annotations_;
  GpuResources asked_;
  ReadGpuPart read_;
};

}  // namespace

std::optional<std::int32_t> GpuPart::milli_of(std::int64_t device_mib, std::int32_t replicas) const {
  if (is_replica()) return kMilliPerGpu / replicas;
  if (memory_mib == 0) return milli;
  if (memory_mib > device_mib) return std::nullopt;
  // Rounded down, as memory is told exactly, and parts that add up to one device have to fit it.
  const std::int64_t least = sharing == Sharing::kMps ? kMpsMilliMin : 1;
  return static_cast<std::int32_t>(std::max(memory_mib * kMilliPerGpu / device_mib, least));
}

std::string GpuPartProblem::to_string() const {
  return annotation.empty() ? why : "annotation " + std::string(annotation) + ": " + why;
}

ReadGpuPart read_gpu_part(const Value& annotations, const GpuResources& asked) {
  return GpuPartReader(annotations, asked).read();
}

std::optional<std::int32_t> parse_part(std::string_view text) {
  if (text.empty() || text.find_first_not_of("0123456789.") != std::string_view::npos) return std::nullopt;
  if (text.size() - std::min(text.find('.'), text.size()) > 4) return std::nullopt;
  const auto milli = parse_milli(text);
  if (!milli || *milli < 1 || *milli > kMilliPerGpu) return std::nullopt;
  return static_cast<std::int32_t>(*milli);
}

}  // namespace berth
