#include "controllers/queue_words.h"

#include <string_view>
#include <utility>

#include "manifest/labels.h"

namespace berth {
namespace {

struct Word {
  const char* list;
  std::string_view key;
};
constexpr Word kWords[] = {{"labels", kQueueLabel},
                           {"labels", kKueueQueueLabel},
                           {"labels", kKueuePriorityLabel},
                           {"annotations", kVolcanoQueueAnnotation}};

}  // namespace

std::optional<Value> queue_change(const Value& had, const Value& wanted) {
  Value metadata = Value::map();
  for (const auto& [list, key] : kWords) {
    if (!(had[list][key] == wanted[list][key])) metadata.at(list).set(key, wanted[list][key]);
  }
  if (metadata.is_empty()) return {};
  return Value::map_of({{"metadata", std::move(metadata)}});
}

void take_queue(const Value& other, Value& metadata) {
  for (const auto& [list, key] : kWords) {
    const Value& word = other[list][key];
    if (!word.is_null()) {
      metadata.at(list).set(key, word);
    } else if (!metadata[list][key].is_null()) {
      metadata.at(list).erase(key);
    }
  }
}

}  // namespace berth
