// Which jobs and pods are shown, and in which order.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "client/work.h"
#include "manifest/selector.h"

namespace berth {

// As typed; empty: everything, in the order of creation.
struct WorkWish {
  std::vector<std::string> names = {};
  std::string queue = {};
  std::string states = {};   // "waiting,running"
  std::string labels = {};   // a selector
  std::string sort_by = {};  // name, age, gpus, state, queue or wait
  bool reverse = false;
};

enum class WorkOrder : std::uint8_t { kCreation, kName, kAge, kGpus, kState, kQueue, kWait };

struct WorkChoice {
  std::vector<WorkName> names;
  std::string queue;  // as work says it, or "clusterqueue/NAME" of those in its LocalQueues
  std::vector<WorkState> states;
  LabelSelector labels;
  WorkOrder order = WorkOrder::kCreation;
  bool reverse = false;

  // Oldest first, most GPUs first, who waits longest first; else by the alphabet, or as states follow each other.
  std::vector<Work> of(std::vector<Work> work) const;
  // Of `names`, those that are not among the work.
  std::vector<WorkName> missing_from(const std::vector<Work>& work) const;
};

// Complains about all that is wrong.
Result<WorkChoice> parse_work_wish(const WorkWish& wish);

// -l of a command; empty: everything.
Result<LabelSelector> parse_label_option(std::string_view text);

// What may be typed, for messages and for completion.
std::vector<std::string_view> names_of_states();
std::vector<std::string_view> names_of_orders();

}  // namespace berth
