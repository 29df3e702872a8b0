#include "client/work_queues.h"

#include <map>
#include <string>
#include <string_view>
#include <utility>

#include "manifest/labels.h"

namespace berth {
namespace {

constexpr std::string_view kLocalQueue = "localqueue/";

// By namespace and name.
std::map<std::pair<std::string_view, std::string_view>, std::string_view> texts_of(const std::vector<Value>& objects,
                                                                                   std::string_view field) {
  std::map<std::pair<std::string_view, std::string_view>, std::string_view> texts;
  for (const Value& each : objects) {
    const Value& metadata = each["metadata"];
    texts[{metadata["namespace"].text(), metadata["name"].text()}] = each["spec"][field].text();
  }
  return texts;
}

}  // namespace

void take_queues_of_groups(std::vector<Work>& work, const std::vector<Value>& workloads) {
  const auto queues = texts_of(workloads, "queue");
  for (Work& each : work) {
    if (each.queue != kDefaultQueue || each.workload.empty()) continue;
    const auto found = queues.find({each.name_space, each.workload});
    if (found == queues.end() || found->second.empty()) continue;
    // One that leads nowhere is known by its namespace, too.
    const std::string local = std::string(kLocalQueue) + each.name_space + "/";
    each.queue = found->second;
    if (each.queue.starts_with(local)) each.queue = std::string(kLocalQueue) + each.queue.substr(local.size());
  }
}

void take_cluster_queues(std::vector<Work>& work, const std::vector<Value>& local_queues) {
  const auto led_to = texts_of(local_queues, "clusterQueue");
  for (Work& each : work) {
    if (!each.queue.starts_with(kLocalQueue)) continue;
    const auto found = led_to.find({each.name_space, std::string_view(each.queue).substr(kLocalQueue.size())});
    if (found != led_to.end()) each.cluster_queue = "clusterqueue/" + std::string(found->second);
  }
}

}  // namespace berth
