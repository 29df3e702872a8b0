#include "manifest/node_host.h"

#include <algorithm>
#include <iterator>
#include <string_view>
#include <utility>

#include "base/wording.h"
#include "manifest/gpu_links_text.h"
#include "manifest/labels.h"
#include "manifest/overcommit_text.h"
#include "model/quantity.h"

namespace berth {
namespace {

constexpr std::string_view kKeptForm = "write cpu=12,memory=100Gi, for each GPU";

class NodeHostReader {
 public:
  NodeHostReader(const Value& node, std::int32_t gpus, Sharing sharing, const HostAmounts& has)
      : annotations_(node["metadata"]["annotations"]),
        labels_(node["metadata"]["labels"]),
        gpus_(gpus),
        sharing_(sharing),
        has_(has) {}

  NodeHost read() {
    if (const Value* const kept = annotations_.find(kKeptPerGpuAnnotation)) read_kept(kept->text());
    if (const Value* const overcommit = annotations_.find(kOvercommitAnnotation)) read_overcommit(overcommit->text());
    read_zones();
    read_links();
    read_spare();
    return std::move(host_);
  }

 private:
  void complain(std::string_view what, const std::string& why) {
    host_.problem += (host_.problem.empty() ? "" : "; ") + std::string(what) + ": " + why;
  }
  void complain_of_kept(const std::string& why) {
    complain("annotation " + std::string(kKeptPerGpuAnnotation), why);
    host_.kept_per_gpu = {};
  }
  void complain_of_links(const std::string& why) { complain("annotation " + std::string(kGpuLinksAnnotation), why); }
  void complain_of_label(std::string_view label, const std::string& why) {
    complain("label " + std::string(label), why);
  }

  // "cpu=12,memory=100Gi". A node without GPUs keeps nothing, whatever is written on all nodes of a kind.
  void read_kept(std::string_view text) {
    for (std::size_t comma = 0; comma != std::string_view::npos; text.remove_prefix(std::min(comma + 1, text.size()))) {
      comma = text.find(',');
      const std::string_view each = text.substr(0, comma);
      const std::size_t equals = std::min(each.find('='), each.size());
      const std::string_view what = each.substr(0, equals);
      const std::string_view amount = each.substr(std::min(equals + 1, each.size()));
      if (what != "cpu" && what != "memory") {
        return complain_of_kept(quote(each) + " is no amount to keep; " + std::string(kKeptForm));
      }
      const auto kept = what == "cpu" ? parse_milli(amount) : parse_bytes(amount);
      if (!kept) return complain_of_kept(std::string(what) + ": " + kept.error() + "; " + std::string(kKeptForm));
      (what == "cpu" ? host_.kept_per_gpu.cpu_milli : host_.kept_per_gpu.memory_bytes) = *kept;
    }
    if (gpus_ == 0) {
      host_.kept_per_gpu = {};
      return;
    }
    const HostAmounts most{has_.cpu_milli / gpus_, has_.memory_bytes / gpus_};
    if (host_.kept_per_gpu.cpu_milli <= most.cpu_milli && host_.kept_per_gpu.memory_bytes <= most.memory_bytes) return;
    complain_of_kept("for " + std::to_string(gpus_) + (gpus_ == 1 ? " GPU" : " GPUs") +
                     " that is more than is allocatable; write at most cpu=" + decimal_of_milli(most.cpu_milli) +
                     ",memory=" + format_bytes(most.memory_bytes));
  }

  void read_overcommit(std::string_view text) {
    const auto factors = parse_overcommit(text, '=');
    if (!factors) return complain("annotation " + std::string(kOvercommitAnnotation), factors.error());
    host_.extra = factors->extra(has_);
  }

  void read_zones() {
    const Value* const zones = labels_.find(kNumaZonesLabel);
    const Value* const policy = labels_.find(kNumaPolicyLabel);
    if (zones != nullptr) {
      const auto count = parse_integer(zones->text(), 1, kNumaZonesMax);
      if (!count) return complain_of_label(kNumaZonesLabel, count.error());
      host_.numa_zones = static_cast<std::int32_t>(*count);
    }
    if (policy == nullptr) return;
    const auto* const found = std::ranges::find(kNumaPolicyNames, policy->text());
    if (found == std::end(kNumaPolicyNames)) {
      return complain_of_label(kNumaPolicyLabel, quote(policy->text()) +
                                                     " is no policy of a kubelet; write none, best-effort, restricted "
                                                     "or single-numa-node");
    }
    const auto chosen = static_cast<NumaPolicy>(found - std::begin(kNumaPolicyNames));
    if (chosen == NumaPolicy::kNone || gpus_ == 0) return;
    if (zones == nullptr) {
      return complain_of_label(kNumaPolicyLabel, "how many zones there are is not said; write the label " +
                                                     std::string(kNumaZonesLabel) + ", too");
    }
    if (sharing_ != Sharing::kExclusive) {
      return complain_of_label(kNumaPolicyLabel, "zones are counted of whole GPUs, and these are " +
                                                     std::string(words_of(sharing_).is) +
                                                     "; set the kubelet's policy to none, and leave the label out");
    }
    host_.numa_policy = chosen;
  }

  // PRE: its zones have been read.
  void read_links() {
    const Value* const links = annotations_.find(kGpuLinksAnnotation);
    if (links == nullptr || gpus_ == 0) return;
    const auto found = parse_gpu_links(links->text(), '=');
    const std::int32_t zones = host_.numa_policy == NumaPolicy::kNone ? 1 : host_.numa_zones;
    const std::string problem = found ? problem_of(*found, gpus_, zones) : found.error();
    if (!problem.empty()) return complain_of_links(problem);
    host_.links = *found;
  }

  void read_spare() {
    const Value* const spare = labels_.find(kSpareLabel);
    if (spare == nullptr) return;
    host_.spare = spare->text() == "true";
    if (host_.spare || spare->text() == "false") return;
    complain_of_label(kSpareLabel, quote(spare->text()) + " is neither true nor false");
  }

  const Value& annotations_;
  const Value& labels_;
  std::int32_t gpus_;
  Sharing sharing_;
  HostAmounts has_;
  NodeHost host_;
};

}  // namespace

NodeHost read_node_host(const Value& node, std::int32_t gpus, Sharing sharing, const HostAmounts& has) {
  return NodeHostReader(node, gpus, sharing, has).read();
}

}  // namespace berth
