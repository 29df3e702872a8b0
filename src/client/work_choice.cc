#include "client/work_choice.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <tuple>
#include <utility>

#include "base/wording.h"
#include "manifest/job_set_labels.h"

namespace berth {
namespace {

constexpr std::array kStates = {WorkState::kWaiting, WorkState::kSuspended, WorkState::kStarting, WorkState::kRunning,
                                WorkState::kEnding,  WorkState::kSucceeded, WorkState::kFailed};

constexpr std::array<std::pair<std::string_view, WorkOrder>, 6> kOrders = {{{"name", WorkOrder::kName},
                                                                            {"age", WorkOrder::kAge},
                                                                            {"gpus", WorkOrder::kGpus},
                                                                            {"state", WorkOrder::kState},
                                                                            {"queue", WorkOrder::kQueue},
                                                                            {"wait", WorkOrder::kWait}}};

std::string unknown_word(std::string_view word, std::string_view what, const std::vector<std::string_view>& known) {
  const std::string_view near = nearest_word(word, known);
  std::string text = quote(word) + " is no " + std::string(what);
  text += near.empty() ? "; write " : "; did you mean " + std::string(near) + "? There are ";
  for (std::size_t i = 0; i < known.size(); ++i) {
    text += (i == 0 ? "" : i + 1 < known.size() ? ", " : near.empty() ? " or " : " and ") + std::string(known[i]);
  }
  return text;
}

void parse_states(std::string_view text, WorkChoice& choice, Complaints& complaints) {
  while (!text.empty()) {
    const std::size_t comma = std::min(text.find(','), text.size());
    const std::string_view word = text.substr(0, comma);
    const auto* const found = std::ranges::find(kStates, word, [](WorkState state) { return name_of(state); });
    if (found == kStates.end()) {
      complaints.add({"--state"}, unknown_word(word, "state", names_of_states()));
    } else {
      choice.states.push_back(*found);
    }
    text.remove_prefix(std::min(comma + 1, text.size()));
  }
}

bool goes_before(const Work& a, const Work& b, WorkOrder order) {
  switch (order) {
    case WorkOrder::kName:
      return std::tie(a.name.name, a.name.kind) < std::tie(b.name.name, b.name.kind);
    case WorkOrder::kAge:
      return a.created < b.created;
    case WorkOrder::kGpus:
      return a.gpu_milli() > b.gpu_milli();
    case WorkOrder::kState:
      return a.state < b.state;
    case WorkOrder::kQueue:
      return a.queue < b.queue;
    case WorkOrder::kWait:
      return has_no_place_yet(a.state) != has_no_place_yet(b.state) ? has_no_place_yet(a.state) : a.created < b.created;
    case WorkOrder::kCreation:
      break;
  }
  return false;
}

// A JobSet's name is that of its Jobs too.
bool is_named(const Work& work, const WorkName& name) {
  return work.name == name || (name.is_job_set() && work.labels[kJobSetNameLabel].text() == name.name);
}

}  // namespace

std::vector<Work> WorkChoice::of(std::vector<Work> work) const {
  std::erase_if(work, [&](const Work& each) {
    const auto names_it = [&](const WorkName& name) { return is_named(each, name); };
    return (!names.empty() && std::ranges::none_of(names, names_it)) ||
           (!queue.empty() && each.queue != queue && each.cluster_queue != queue) ||
           (!states.empty() && std::ranges::find(states, each.state) == states.end()) || !labels.matches(each.labels);
  });
  std::ranges::stable_sort(work, [&](const Work& a, const Work& b) { return goes_before(a, b, order); });
  if (reverse) std::ranges::reverse(work);
  return work;
}

std::vector<WorkName> WorkChoice::missing_from(const std::vector<Work>& work) const {
  std::vector<WorkName> missing;
  for (const WorkName& name : names) {
    const auto is_it = [&](const Work& each) { return is_named(each, name); };
    if (std::ranges::none_of(work, is_it)) missing.push_back(name);
  }
  return missing;
}

Result<LabelSelector> parse_label_option(std::string_view text) {
  auto labels = LabelSelector::parse(text);
  if (labels) return labels;
  Complaints complaints;
  for (const Complaint& each : labels.error().kept()) complaints.add({"-l"}, each.text);
  return complaints;
}

Result<WorkChoice> parse_work_wish(const WorkWish& wish) {
  WorkChoice choice;
  Complaints complaints;
  for (const std::string& text : wish.names) {
    const auto name = parse_work_name(text);
    if (name) {
      choice.names.push_back(*name);
    } else {
      complaints.add_all(name.error());
    }
  }
  choice.queue = wish.queue;
  parse_states(wish.states, choice, complaints);
  auto labels = parse_label_option(wish.labels);
  if (labels) {
    choice.labels = std::move(*labels);
  } else {
    complaints.add_all(labels.error());
  }
  if (!wish.sort_by.empty()) {
    const auto* const order = std::ranges::find(kOrders, wish.sort_by, &std::pair<std::string_view, WorkOrder>::first);
    if (order == kOrders.end()) {
      complaints.add({"--sort-by"}, unknown_word(wish.sort_by, "order", names_of_orders()));
    } else {
      choice.order = order->second;
    }
  }
  choice.reverse = wish.reverse;
  if (!complaints.empty()) return complaints;
  return choice;
}

std::vector<std::string_view> names_of_states() {
  std::vector<std::string_view> names;
  for (const WorkState each : kStates) names.push_back(name_of(each));
  return names;
}

std::vector<std::string_view> names_of_orders() {
  std::vector<std::string_view> names;
  for (const auto& [name, order] : kOrders) names.push_back(name);
  return names;
}

}  // namespace berth
