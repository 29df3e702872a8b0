#include "cycle/host_text.h"

#include <algorithm>
#include <cstdint>

#include "model/quantity.h"
#include "placement/filters.h"

namespace berth {
namespace {

// Calls visit(node) for each that is refused by the row of that name.
template <class Visit>
void for_each_refusing(const State& state, const PodRequest& asked, std::string_view row, Visit visit) {
  for (std::size_t id = 0; id < state.ledger().nodes(); ++id) {
    const NodeView view(state.ledger(), NodeId(id));
    const std::size_t first = first_refusing(view, asked);
    if (first < kFilterCount && kRefusals[first] == row) visit(NodeId(id), view);
  }
}

std::string counted(std::int64_t milli, const std::string& what) {
  return decimal_of_milli(milli) + " " + what + (milli == 1000 ? "" : "s");
}

// "12 CPUs and 100Gi of memory"
std::string in_words(const HostAmounts& amounts) {
  std::string text = amounts.cpu_milli > 0 ? counted(amounts.cpu_milli, "CPU") : "";
  if (amounts.memory_bytes > 0) {
    text += (text.empty() ? "" : " and ") + format_bytes(amounts.memory_bytes) + " of memory";
  }
  return text.empty() ? "nothing" : text;
}

}  // namespace

std::string why_kept_for_gpus(const State& state, const PodRequest& asked) {
  HostAmounts most;
  HostAmounts kept;
  bool alike = true;
  for_each_refusing(state, asked, kKeptForGpus, [&](NodeId id, const NodeView& view) {
    const HostAmounts rest = view.rest(asked);
    most.cpu_milli = std::max(most.cpu_milli, rest.cpu_milli);
    most.memory_bytes = std::max(most.memory_bytes, rest.memory_bytes);
    const HostAmounts& own = state.node(id).kept_per_gpu;
    alike = alike && (kept == HostAmounts() || kept == own);
    if (kept == HostAmounts()) kept = own;
  });
  if (asked.cpu_milli == 0) most.cpu_milli = 0;
  if (asked.memory_bytes == 0) most.memory_bytes = 0;
  return "no node has " + in_words({asked.cpu_milli, asked.memory_bytes}) +
         " free beside what is kept for work with GPUs, " + in_words(kept) + (alike ? "" : " or more or less") +
         " for each GPU; the most is " + in_words(most);
}

std::string why_not_in_zones(const State& state, const PodRequest& asked) {
  FreeInZone most;  // the CPUs where there are GPUs enough
  for_each_refusing(state, asked, kNotInZones, [&](NodeId, const NodeView& view) {
    for (const FreeInZone& zone : view.free_in_zones(asked)) {
      most.gpus = std::max(most.gpus, zone.gpus);
      if (zone.gpus >= asked.gpus) most.cpu_milli = std::max(most.cpu_milli, zone.cpu_milli);
    }
  });
  std::string text = "no node has " + counted(std::int64_t{1000} * asked.gpus, "GPU");
  if (asked.cpu_milli > 0) text += " and " + counted(asked.cpu_milli, "CPU");
  text += " free in one NUMA zone, as its kubelet wants them; the most in one is ";
  text += most.gpus < asked.gpus ? counted(1000 * most.gpus, "GPU")
                                 : counted(most.cpu_milli, "CPU") + " beside so many GPUs";
  return text;
}

}  // namespace berth
