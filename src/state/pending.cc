#include "state/pending.h"

#include <algorithm>

#include "base/assert.h"

namespace berth {
namespace {

auto by_shape(const auto& index, ShapeId shape) {
  return std::lower_bound(index.begin(), index.end(), shape,
                          [](const auto& entry, ShapeId wanted) { return entry.first < wanted; });
}

}  // namespace

const ShapeInLine* Line::find(ShapeId shape) const {
  const auto place = by_shape(index_, shape);
  return place != index_.end() && place->first == shape ? &shapes_[place->second] : nullptr;
}

std::size_t Line::index_of(ShapeId shape) const {
  const auto place = by_shape(index_, shape);
  BERTH_ASSERT(place != index_.end() && place->first == shape);
  return place->second;
}

void Line::add(ShapeId shape, const PendingKey& key) {
  const auto place = by_shape(index_, shape);
  std::size_t at = 0;
  if (place != index_.end() && place->first == shape) {
    at = place->second;
  } else {
    at = shapes_.size();
    index_.insert(place, {shape, static_cast<std::uint32_t>(at)});
    shapes_.emplace_back().shape = shape;
  }
  shapes_[at].waiting.insert(key);
  ++size_;
  relist(at);
}

void Line::remove(ShapeId shape, const PendingKey& key) {
  const std::size_t at = index_of(shape);
  shapes_[at].waiting.erase(key);
  if (shapes_[at].waiting.empty()) shapes_[at].told = ReasonCode::kNone;
  --size_;
  relist(at);
}

void Line::set_missing(std::size_t shape_index, std::int64_t missing, ReasonCode gate, bool by_quota) {
  ShapeInLine& entry = shapes_[shape_index];
  const auto is_gated = [&] { return entry.by_quota || entry.gate != ReasonCode::kNone ? std::size_t{1} : 0; };
  gated_ -= is_gated();
  entry.missing = std::max<std::int64_t>(missing, 0);
  entry.gate = entry.missing > 0 ? gate : ReasonCode::kNone;
  entry.by_quota = entry.missing > 0 && by_quota;
  if (entry.missing > 0) entry.told = gate;
  if (entry.missing > 0 && gate == ReasonCode::kNone) entry.lacked_room = true;
  gated_ += is_gated();
  relist(shape_index);
}

void Line::relist(std::size_t shape_index) {
  ++changes_;
  ShapeInLine& entry = shapes_[shape_index];
  const auto wanted = is_listed(entry) ? std::optional(entry.waiting.front()) : std::nullopt;
  if (wanted == entry.listed) return;
  const auto index = static_cast<std::uint32_t>(shape_index);
  if (entry.listed) heads_.erase({*entry.listed, index});
  if (wanted) heads_.insert({*wanted, index});
  entry.listed = wanted;
}

}  // namespace berth
