#include "controllers/queue_words.h"

#include <string_view>
#include <utility>

#include "manifest/handed_down.h"
#include "manifest/labels.h"

namespace berth {
namespace {

constexpr QueueWord kPriority{"labels", kKueuePriorityLabel};

template <class Visit>
void for_each_word(Visit visit) {
  for (const QueueWord& each : kQueueWords) visit(each);
  visit(kPriority);
}

}  // namespace

std::optional<Value> queue_change(const Value& had, const Value& wanted) {
  Value metadata = Value::map();
  for_each_word([&](const QueueWord& each) {
    const Value& word = wanted[each.list][each.key];
    if (!(had[each.list][each.key] == word)) metadata.at(each.list).set(each.key, word);
  });
  if (metadata.is_empty()) return {};
  return Value::map_of({{"metadata", std::move(metadata)}});
}

void take_queue(const Value& other, Value& metadata) {
  for_each_word([&](const QueueWord& each) {
    const Value& word = other[each.list][each.key];
    if (!word.is_null()) {
      metadata.at(each.list).set(each.key, word);
    } else if (!metadata[each.list][each.key].is_null()) {
      metadata.at(each.list).erase(each.key);
    }
  });
}

}  // namespace berth
