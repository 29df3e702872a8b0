#include "client/work_queues.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "client/work_choice.h"
#include "manifest/yaml.h"

namespace berth::work_queues_test {

std::vector<Value> objects(const std::string& yaml) { return parse_yaml(yaml).value(); }

// A PodGroup of Volcano's has a queue, and so has what made the pods; they do not say it themselves.
TEST(WorkQueues, AreThoseOfTheirGroups) {
  const auto workloads = objects(
      "metadata: {name: g, namespace: ml}\nspec: {queue: volcano/vq}\n"
      "---\nmetadata: {name: leaderworkerset-s-0, namespace: ml}\nspec: {queue: localqueue/ml/main}\n"
      "---\nmetadata: {name: g, namespace: other}\nspec: {queue: elsewhere}\n");
  struct Case {
    const char* what;
    std::string metadata;
    std::string queue;
  };
  const Case cases[] = {
      {"of its group", "annotations: {scheduling.k8s.io/group-name: g}", "volcano/vq"},
      {"of what made it", "labels: {leaderworkerset.sigs.k8s.io/name: s, leaderworkerset.sigs.k8s.io/group-index: '0'}",
       "localqueue/main"},
      {"its own word goes before",
       "labels: {berth.dev/queue: research}, annotations: {scheduling.k8s.io/group-name: g}", "research"},
      {"of no group", "labels: {app: x}", "default"},
      {"of a group that nobody speaks of", "annotations: {scheduling.k8s.io/group-name: h}", "default"},
  };
  for (const Case& each : cases) {
    std::vector<Work> work = read_work({}, objects("metadata: {name: p, namespace: ml, " + each.metadata + "}\n"));
    take_queues_of_groups(work, workloads);
    EXPECT_EQ(work.front().queue, each.queue) << each.what;
  }
}

TEST(WorkQueues, OfKueueAreFoundByTheNameThatTheSchedulerHasForThem) {
  const auto pods = objects(
      "metadata: {name: a, namespace: ml, labels: {kueue.x-k8s.io/queue-name: main}}\n"
      "---\nmetadata: {name: b, namespace: other, labels: {kueue.x-k8s.io/queue-name: main}}\n");
  std::vector<Work> work = read_work({}, pods);
  take_cluster_queues(work, objects("metadata: {name: main, namespace: ml}\nspec: {clusterQueue: big}\n"
                                    "---\nmetadata: {name: main, namespace: other}\nspec: {clusterQueue: small}\n"));
  const auto chosen = [&](const std::string& queue) {
    std::string names;
    for (const Work& each : parse_work_wish({.queue = queue})->of(work)) names += each.name.name;
    return names;
  };
  EXPECT_EQ(chosen("clusterqueue/big"), "a");
  EXPECT_EQ(chosen("clusterqueue/small"), "b");
  EXPECT_EQ(chosen("clusterqueue/none"), "");
  EXPECT_EQ(chosen("localqueue/main"), "ab");
}

}  // namespace berth::work_queues_test
