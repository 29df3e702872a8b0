#include "fairness/order.h"

#include <algorithm>

#include "base/assert.h"

namespace berth {
namespace {

constexpr auto kLaterKey = [](const auto& a, const auto& b) { return a.key > b.key; };

template <class Entry>
void pop(std::vector<Entry>& heap) {
  std::pop_heap(heap.begin(), heap.end(), kLaterKey);
  heap.pop_back();
}

}  // namespace

CandidateOrder::CandidateOrder(const State& state) : state_(state), known_(FlavorSet::first(state.flavors().size())) {
  for (const std::optional<Line>& line : state.lines()) {
    if (!line || line->heads().empty()) continue;
    if (line->order() == Order::kFifo) {
      // Most often a strict line stands still behind its first, and there is nothing to set up.
      const ShapeInLine& first = line->shapes()[line->heads().front().shape_index];
      if (first.blocked() && state.shape(first.shape).flavors.contains_all(known_)) continue;
    }
    Turn& turn = turns_.emplace_back();
    turn.line = &*line;
    line->heads().for_each([&](const Head& head) {
      const ShapeInLine& shape = line->shapes()[head.shape_index];
      turn.heap.push_back({head.key, &shape, shape.waiting.begin_cursor()});
    });
    std::make_heap(turn.heap.begin(), turn.heap.end(), kLaterKey);
  }
}

void CandidateOrder::drop_the_held(Turn& turn) {
  if (turn.line->order() != Order::kFifo) return;
  while (!turn.heap.empty()) {
    if (turn.held.contains_all(known_) && !turn.held.empty()) {
      turn.heap.clear();
      return;
    }
    const Entry& first = turn.heap.front();
    if (first.shape->blocked()) {
      turn.held = turn.held.united_with(flavors_of(first));
    } else if (!turn.held.meets(flavors_of(first))) {
      return;
    }
    pop(turn.heap);
  }
}

std::optional<WorkloadId> CandidateOrder::next() {
  current_ = nullptr;
  for (Turn& turn : turns_) {
    drop_the_held(turn);
    if (turn.heap.empty()) continue;
    if (current_ == nullptr || turn.heap.front().key.workload < current_->heap.front().key.workload) current_ = &turn;
  }
  if (current_ == nullptr) return std::nullopt;
  return current_->heap.front().key.workload;
}

void CandidateOrder::started() {
  BERTH_ASSERT(current_ != nullptr);
  Entry entry = current_->heap.front();
  pop(current_->heap);
  entry.shape->waiting.advance(entry.at);
  const PendingKey* const following = entry.shape->waiting.at(entry.at);
  if (following == nullptr) return;
  entry.key = *following;
  current_->heap.push_back(entry);
  std::push_heap(current_->heap.begin(), current_->heap.end(), kLaterKey);
}

void CandidateOrder::refused() {
  BERTH_ASSERT(current_ != nullptr);
  if (current_->line->order() == Order::kFifo) {
    current_->held = current_->held.united_with(flavors_of(current_->heap.front()));
  }
  pop(current_->heap);
}

void CandidateOrder::passed_over() {
  BERTH_ASSERT(current_ != nullptr);
  pop(current_->heap);
}

}  // namespace berth
