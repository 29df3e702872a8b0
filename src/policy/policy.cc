#include "policy/policy.h"

#include <string_view>

#include "manifest/queue_spec.h"
#include "model/gpu.h"
#include "model/gpu_hardware.h"

namespace berth {
namespace {

template <class AnyQuota>
auto& list_of(AnyQuota& quota, AmountKind kind) {
  switch (kind) {
    case AmountKind::kGuarantee:
      return quota.guarantee;
    case AmountKind::kLimit:
      return quota.limit;
    case AmountKind::kBorrowingLimit:
      return quota.borrowing_limit;
    case AmountKind::kUserLimit:
      return quota.user_limit;
    case AmountKind::kLendingLimit:
      break;
  }
  return quota.lending_limit;
}

}  // namespace

AmountList& amounts_of(Quota& quota, AmountKind kind) { return list_of(quota, kind); }
const AmountList& amounts_of(const Quota& quota, AmountKind kind) { return list_of(quota, kind); }

const PolicyPlace& PolicyQueue::place_of(AmountKind kind, Dim dim) const {
  const auto found = amount_places.find({kind, dim.index()});
  return found == amount_places.end() ? place : found->second;
}

std::vector<Queue> Policy::plain_queues() const {
  std::vector<Queue> plain;
  plain.reserve(queues.size());
  for (const PolicyQueue& each : queues) plain.push_back(each.queue);
  return plain;
}

NamedProfiles Policy::named_profiles() const {
  std::vector<Flavor> plain;
  for (const PolicyFlavor& each : flavors) plain.push_back(each.flavor);
  std::vector<Window> changes;
  for (const PolicyWindow& each : windows) changes.push_back(each.window);
  return profiles_named_by(plain_queues(), changes, plain);
}

FlavorAmount Policy::named(Dim dim, std::int64_t amount) const {
  FlavorAmount made{
      .flavor = dim.flavor().is_none() ? "" : name_of(dim.flavor()), .resource = dim.resource(), .amount = amount};
  if (dim.is_of_slices()) made.profile = name_of_slice(flavors[dim.flavor().index()].flavor, dim.shape());
  return made;
}

std::string Policy::name_of(Dim dim) const {
  if (dim == kGpusOfAllFlavors) return "GPUs";
  if (dim.is_of_slices()) {
    const Flavor& flavor = flavors[dim.flavor().index()].flavor;
    return flavor.name + " " + std::string(name_of_slice(flavor, dim.shape())) + " slices";
  }
  const std::string what = dim.resource() == Resource::kGpu   ? "GPUs"
                           : dim.resource() == Resource::kCpu ? "CPUs"
                                                              : "memory";
  if (dim.flavor().is_none()) return what + " of nodes without GPUs";
  // The only flavor of a policy that names none is called gpu.
  const std::string& flavor = name_of(dim.flavor());
  return dim.resource() == Resource::kGpu && flavor == "gpu" ? what : flavor + " " + what;
}

std::string Policy::text_of(std::int64_t amount, Dim dim) const {
  std::string text = format_amount(dim.resource(), amount) + " " + name_of(dim);
  if (dim.resource() == Resource::kGpu && amount == kMilliPerGpu) text.pop_back();
  if (dim.is_of_slices() && amount == 1) text.pop_back();
  return text;
}

}  // namespace berth
