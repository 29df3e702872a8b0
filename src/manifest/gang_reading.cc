#include "manifest/gang_reading.h"

#include <algorithm>
#include <utility>

#include "manifest/labels.h"

namespace berth {

std::int64_t sum_of(const TaskCounts& tasks) {
  std::int64_t sum = 0;
  for (const auto& [task, count] : tasks) sum = std::min(sum + count, kPodsPerWorkloadMax + 1);
  return sum;
}

std::string in_small_letters(std::string_view text) {
  std::string small(text);
  std::ranges::transform(small, small.begin(),
                         [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; });
  return small;
}

GangReading::GangReading(const Value& object) { read_queue(object["metadata"]); }

void GangReading::complain(std::string field, const Value& value, std::string text) {
  made.mistakes.push_back({std::move(field), value, std::move(text)});
}

void GangReading::leave_out(std::string field, const Value& value, std::string why) {
  if (!value.is_empty()) made.not_followed.push_back({std::move(field), value, std::move(why)});
}

void GangReading::advise(std::string field, const Value& value, std::string text) {
  made.advice.push_back({std::move(field), value, std::move(text)});
}

// Kueue's label goes before Volcano's annotation, as on pods. Berth's own is read on pods alone: whoever names a queue has to be
// let in by it, and of this object's pods nobody but themselves can say who that is.
void GangReading::read_queue(const Value& metadata) {
  const Value& labels = metadata["labels"];
  made.spec.local_queue = labels[kKueueQueueLabel].text();
  made.spec.priority_class = labels[kKueuePriorityLabel].text();
  made.spec.queue = metadata["annotations"][kVolcanoQueueAnnotation].text();
  leave_out("metadata.labels[" + std::string(kQueueLabel) + "]", labels[kQueueLabel],
            "write it among the labels of its pod templates");
}

std::int64_t GangReading::count_at(const Value& value, std::string field, std::int64_t absent, std::int64_t low,
                                   std::int64_t high) {
  if (value.is_null()) return absent;
  const std::int64_t count = value.integer(low);
  if (value.is_integer() && count >= low && count <= high) return count;
  complain(std::move(field), value,
           "is no number of pods; write one from " + std::to_string(low) + " to " + std::to_string(high));
  return std::clamp(count, low, high);
}

void GangReading::start_with(const TaskCounts& tasks, const TaskCounts& all, const std::string& field) {
  const std::int64_t together = sum_of(tasks);
  if (sum_of(all) > kPodsPerWorkloadMax) {
    complain(field, Value(), "has more than " + std::to_string(kPodsPerWorkloadMax) + " pods; make several of fewer");
  }
  made.spec.at_least = std::clamp<std::int64_t>(together, 1, kPodsPerWorkloadMax);
  // Where all of them start together it is of no matter whose part each is.
  if (together < sum_of(all) && together <= kPodsPerWorkloadMax) made.spec.of_tasks = tasks;
}

}  // namespace berth
