// Kueue's and Volcano's queues in a live engine: where work waits, what it may have, what their users read.
#include "service/other_queues.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "manifest/json.h"
#include "manifest/kinds.h"
#include "manifest/labels.h"
#include "manifest/yaml.h"
#include "service/live_facts.h"

namespace berth::other_queues_test {

constexpr std::string_view kFlavor =
    "apiVersion: kueue.x-k8s.io/v1beta2\nkind: ResourceFlavor\nmetadata: {name: h100}\n"
    "spec: {nodeLabels: {nvidia.com/gpu.product: NVIDIA-H100-80GB-HBM3}}\n";

// Of a Topology of its own.
std::string topology(const std::string& name, const std::string& levels) {
  std::string list;
  for (std::size_t at = 0; at < levels.size();) {
    const std::size_t end = std::min(levels.find(',', at), levels.size());
    list += "  - {nodeLabel: " + levels.substr(at, end - at) + "}\n";
    at = end + 1;
  }
  return "---\napiVersion: kueue.x-k8s.io/v1beta2\nkind: Topology\nmetadata: {name: " + name + "}\nspec:\n  levels:\n" +
         list;
}

std::string flavor_of(const std::string& name, const std::string& product, const std::string& topology) {
  return "---\napiVersion: kueue.x-k8s.io/v1beta2\nkind: ResourceFlavor\nmetadata: {name: " + name +
         "}\nspec: {nodeLabels: {nvidia.com/gpu.product: " + product + "}" +
         (topology.empty() ? "" : ", topologyName: " + topology) + "}\n";
}

PodFacts near(const std::string& level, PodFacts pod) {
  pod.topology = {.together = Togetherness::kRequired, .level = level};
  return pod;
}

NodeFacts in_rack(const std::string& rack, NodeFacts node) {
  node.labels = Value::map_of({{"rack", rack}});
  node.says.labels = {{"rack", rack}};
  return node;
}

std::string cluster_queue(const std::string& name, int gpus, const std::string& more = "  namespaceSelector: {}\n") {
  return "---\napiVersion: kueue.x-k8s.io/v1beta2\nkind: ClusterQueue\nmetadata: {name: " + name + ", uid: u-" + name +
         "}\nspec:\n  cohortName: all\n" + more +
         "  preemption: {withinClusterQueue: LowerPriority}\n"
         "  resourceGroups:\n  - coveredResources: [nvidia.com/gpu]\n    flavors:\n    - name: h100\n      resources:\n"
         "      - {name: nvidia.com/gpu, nominalQuota: " +
         std::to_string(gpus) + "}\n";
}

std::string local_queue(const std::string& name_space, const std::string& name, const std::string& queue) {
  return "---\napiVersion: kueue.x-k8s.io/v1beta2\nkind: LocalQueue\nmetadata: {name: " + name +
         ", namespace: " + name_space + "}\nspec: {clusterQueue: " + queue + "}\n";
}

PodFacts in_local_queue(const std::string& queue, PodFacts pod) {
  pod.local_queue = queue;
  pod.queue = "localqueue/" + pod.name_space + "/" + queue;
  pod.terms.grace = seconds(30);
  return pod;
}

class Cluster {
 public:
  Cluster() : engine_(Seed{1}), others_(engine_) {}

  LiveEngine& engine() { return engine_; }
  OtherQueues& others() { return others_; }
  void apply(const std::string& yaml) {
    const std::vector<Value> objects = parse_yaml(yaml).value();
    for (const Value& object : objects) others_.set(kind_of(object), object);
  }
  void remove(const std::string& yaml) {
    const std::vector<Value> objects = parse_yaml(yaml).value();
    for (const Value& object : objects) others_.remove(kind_of(object), object);
  }
  void set(const PodFacts& pod) {
    pods_[pod.uid] = pod;
    others_.set_pod(pod);
  }
  void gone(const std::string& name) { others_.remove_pod("uid-" + name); }
  Round decide(std::int64_t seconds_now) {
    others_.settle();
    const Time now{seconds_now * 1000};
    const Round round = engine_.decide(now);
    for (const WaitingReason& reason : round.reasons) engine_.note_told(reason.pod.uid);
    for (const Binding& binding : round.bindings) set(bound(pods_.at(binding.pod.uid), binding, now));
    for (const PodEviction& eviction : round.evictions) {
      PodFacts facts = pods_.at(eviction.pod.uid);
      facts.leaving_until = eviction.stop_by;
      set(facts);
    }
    return round;
  }
  Value status(std::string_view name) const {
    for (const OtherStatus& each : others_.statuses(Time{100'000})) {
      if (each.name == name) return each.status;
    }
    return {};
  }

 private:
  static std::string kind_of(const Value& object) {
    return std::string(find_served_kind(object["apiVersion"].text(), object["kind"].text())->qualified());
  }

  LiveEngine engine_;
  OtherQueues others_;
  std::map<std::string, PodFacts> pods_;
};

// Two ClusterQueues of 8 GPUs in one cohort, each with a LocalQueue in namespace default; two nodes of 8.
void two_teams(Cluster& cluster) {
  cluster.apply(std::string(kFlavor) + cluster_queue("a", 8) + cluster_queue("b", 8) +
                local_queue("default", "la", "a") + local_queue("default", "lb", "b"));
  cluster.engine().set_node(node("n1"));
  cluster.engine().set_node(node("n2"));
}

TEST(OtherQueues, TwoClusterQueuesBorrowInTheirCohortAndTakeBack) {
  Cluster cluster;
  two_teams(cluster);
  cluster.set(in_local_queue("la", pod("own", 8, 1000)));
  cluster.set(in_local_queue("la", pod("borrowed", 8, 2000)));
  cluster.set(in_local_queue("la", pod("third", 8, 3000)));
  EXPECT_EQ(names_of(cluster.decide(10)), (std::set<std::string>{"own", "borrowed"}));
  Value status = cluster.status("a");
  EXPECT_EQ(to_json(status["flavorsReservation"]),
            R"([{"name":"h100","resources":[{"name":"nvidia.com/gpu","total":"16","borrowed":"8"}]}])");
  EXPECT_EQ(status["flavorsUsage"], status["flavorsReservation"]);
  EXPECT_EQ(status["admittedWorkloads"].integer(), 2);
  EXPECT_EQ(status["reservingWorkloads"].integer(), 2);
  EXPECT_EQ(status["pendingWorkloads"].integer(), 1);
  EXPECT_EQ(status["conditions"].items().front()["reason"].text(), "Ready");
  EXPECT_EQ(to_json(cluster.status("lb")["flavorsUsage"]),
            R"([{"name":"h100","resources":[{"name":"nvidia.com/gpu","total":"0"}]}])");

  cluster.set(in_local_queue("lb", pod("mine", 8, 20'000)));
  const Round round = cluster.decide(20);
  ASSERT_EQ(round.evictions.size(), 1U);
  EXPECT_EQ(round.evictions[0].pod.name, "borrowed");
  EXPECT_TRUE(round.evictions[0].why.starts_with("reclaim: its room goes to default/mine of queue 'clusterqueue/b'"))
      << round.evictions[0].why;
  status = cluster.status("b");
  EXPECT_EQ(status["reservingWorkloads"].integer(), 1);
  EXPECT_EQ(status["admittedWorkloads"].integer(), 0) << "others are still in its room";
  EXPECT_EQ(to_json(status["flavorsUsage"]),
            R"([{"name":"h100","resources":[{"name":"nvidia.com/gpu","total":"0","borrowed":"0"}]}])");
  cluster.gone("borrowed");
  EXPECT_EQ(names_of(cluster.decide(25)), std::set<std::string>{"mine"});
  EXPECT_EQ(cluster.status("b")["admittedWorkloads"].integer(), 1);
}

TEST(OtherQueues, APriorityReachesAllOfOneClusterQueueWhateverTheNamespace) {
  Cluster cluster;
  two_teams(cluster);
  cluster.apply(
      local_queue("other", "la", "a") +
      "---\napiVersion: kueue.x-k8s.io/v1beta2\nkind: WorkloadPriorityClass\nmetadata: {name: high}\nvalue: 9\n");
  cluster.remove(cluster_queue("b", 8));
  cluster.set(in_local_queue("la", pod("low", 8, 1000)));
  EXPECT_EQ(cluster.decide(10).bindings.size(), 1U);
  PodFacts high = pod("high", 8, 2000);
  high.name_space = "other";
  high.priority_class = "high";
  cluster.set(in_local_queue("la", high));
  const Round round = cluster.decide(20);
  ASSERT_EQ(round.evictions.size(), 1U) << "the cohort has no more than 8 GPUs now";
  EXPECT_TRUE(round.evictions[0].why.starts_with("preempt: "));
}

TEST(OtherQueues, WhatLetsNothingInSaysWhy) {
  struct Case {
    const char* what;
    std::string yaml;
    std::string says;
    std::string active_of_a, active_of_door;
  };
  const std::string flavor(kFlavor), door = local_queue("default", "la", "a");
  const Case cases[] = {
      {"no LocalQueue", flavor + cluster_queue("a", 8),
       "QueueUnknown: there is no LocalQueue 'la' in namespace 'default'", "Ready", ""},
      {"it leads nowhere", flavor + door,
       "QueueUnknown: LocalQueue 'la' of namespace 'default' leads to ClusterQueue 'a'", "",
       "ClusterQueueDoesNotExist"},
      {"another namespace is selected",
       flavor + door +
           cluster_queue("a", 8, "  namespaceSelector: {matchLabels: {kubernetes.io/metadata.name: vision}}\n"),
       "QueueUnknown: ClusterQueue 'a' does not select namespace 'default'", "Ready", "Ready"},
      {"none is", flavor + door + cluster_queue("a", 8, ""), "QueueUnknown: ClusterQueue 'a' does not select", "Ready",
       "Ready"},
      {"the flavor is missing", door + cluster_queue("a", 8),
       "NotFollowed: queue 'clusterqueue/a': there is no ResourceFlavor h100", "FlavorNotFound",
       "ClusterQueueIsInactive"},
      {"the Topology is missing", flavor_of("h100", "NVIDIA-H100-80GB-HBM3", "racks") + cluster_queue("a", 8) + door,
       "NotFollowed: queue 'clusterqueue/a': there is no Topology \"racks\" for TAS flavor \"h100\"; create it",
       "TopologyNotFound", "ClusterQueueIsInactive"},
      {"the ClusterQueue is held",
       flavor + door + cluster_queue("a", 8, "  namespaceSelector: {}\n  stopPolicy: Hold\n"), "", "Stopped",
       "ClusterQueueIsInactive"},
      {"the LocalQueue is held",
       flavor + cluster_queue("a", 8) +
           "---\napiVersion: kueue.x-k8s.io/v1beta2\nkind: LocalQueue\nmetadata: {name: la, namespace: default}\n"
           "spec: {clusterQueue: a, stopPolicy: Hold}\n",
       "Held: LocalQueue 'la' of namespace 'default' is on hold", "Ready", "Stopped"},
  };
  for (const Case& each : cases) {
    SCOPED_TRACE(each.what);
    Cluster cluster;
    cluster.engine().set_node(node("n1"));
    cluster.apply(each.yaml);
    cluster.set(in_local_queue("la", pod("p", 8)));
    const Round round = cluster.decide(10);
    EXPECT_TRUE(round.bindings.empty());
    EXPECT_TRUE(reason_of(round, "p").starts_with(each.says)) << reason_of(round, "p");
    const auto reason = [&](const char* name) {
      const Value status = cluster.status(name);
      return status.is_null() ? std::string() : std::string(status["conditions"].items().front()["reason"].text());
    };
    EXPECT_EQ(reason("a"), each.active_of_a);
    EXPECT_EQ(reason("la"), each.active_of_door);
    // What was missing comes.
    cluster.remove(cluster_queue("a", 8) + door);
    cluster.apply(flavor + cluster_queue("a", 8) + door);
    EXPECT_EQ(cluster.decide(20).bindings.size(), 1U);
  }
}

TEST(OtherQueues, AFlavorOfATopologyTakesWhoAsksForItsLevelsAlone) {
  struct Case {
    const char* level;
    const char* waits;  // empty: it starts
  };
  const Case cases[] = {
      {"", ""},
      {"rack", ""},
      {"block",
       "Topology: no flavor of clusterqueue/a has a Topology with the levels that it asks, block; flavor h100 is of "
       "Topology racks, with zone, rack; ask levels of one of these"},
      {"node",
       "Topology: no flavor of clusterqueue/a has a Topology with the levels that it asks, "
       "kubernetes.io/hostname; flavor h100"},
  };
  for (const Case& each : cases) {
    SCOPED_TRACE(each.level);
    Cluster cluster;
    cluster.apply(topology("racks", "zone,rack") + flavor_of("h100", "NVIDIA-H100-80GB-HBM3", "racks") +
                  cluster_queue("a", 8) + local_queue("default", "la", "a"));
    cluster.engine().set_node(in_rack("r1", node("n1")));
    const std::string level = each.level;
    cluster.set(in_local_queue("la", level.empty() ? pod("p", 8) : near(level, pod("p", 8))));
    PodFacts own = near("rack", pod("own", 0));  // of a Berth queue: there any label of nodes is a level
    cluster.set(own);
    const Round round = cluster.decide(10);
    EXPECT_TRUE(reason_of(round, "p").starts_with(each.waits)) << reason_of(round, "p");
    EXPECT_EQ(names_of(round).contains("p"), *each.waits == '\0');
  }
}

// Two kinds of GPUs, of which one has racks and the other blocks: who asks for racks goes to the first alone.
TEST(OtherQueues, WhoAsksForALevelGoesToTheFlavorsThatHaveIt) {
  Cluster cluster;
  cluster.apply(topology("racks", "rack") + topology("blocks", "block,rack,kubernetes.io/hostname") +
                flavor_of("h100", "NVIDIA-H100-80GB-HBM3", "racks") +
                flavor_of("a100", "NVIDIA-A100-SXM4-80GB", "blocks") +
                "---\napiVersion: kueue.x-k8s.io/v1beta2\nkind: ClusterQueue\nmetadata: {name: a}\nspec:\n"
                "  namespaceSelector: {}\n  resourceGroups:\n  - coveredResources: [nvidia.com/gpu]\n    flavors:\n"
                "    - {name: h100, resources: [{name: nvidia.com/gpu, nominalQuota: 8}]}\n"
                "    - {name: a100, resources: [{name: nvidia.com/gpu, nominalQuota: 8}]}\n" +
                local_queue("default", "la", "a"));
  cluster.engine().set_node(in_rack("r1", node("n1")));
  cluster.engine().set_node(in_rack("r2", node("n2", 8, "A100-80GB")));
  cluster.set(in_local_queue("la", near("rack", pod("both", 2))));
  Round round = cluster.decide(10);
  ASSERT_EQ(round.bindings.size(), 1U);
  const std::string first = round.bindings[0].node;
  cluster.gone("both");
  PodFacts choosy = near("rack", pod("choosy", 2, 2000));
  choosy.topology.slice_pods = 1;
  choosy.topology.slice_level = std::string(kNodeLevel);
  choosy.group_size = 1;
  cluster.set(in_local_queue("la", choosy));
  round = cluster.decide(20);
  ASSERT_EQ(round.bindings.size(), 1U) << reason_of(round, "choosy");
  EXPECT_EQ(round.bindings[0].node, "n2") << "of the other one's Topology nodes are no level";
  PodFacts named = choosy;
  named.uid = "uid-named";
  named.name = "named";
  named.gpu_models = {"H100"};
  cluster.set(in_local_queue("la", named));
  round = cluster.decide(30);
  EXPECT_EQ(reason_of(round, "named"),
            "GpuType: no node has a GPU of type H100 of a flavor whose Topology has the levels that it asks");
}

TEST(OtherQueues, WorkOfAClusterQueueHasOnlyTheFlavorsThatItLists) {
  Cluster cluster;
  cluster.apply(std::string(kFlavor) + cluster_queue("a", 8) + local_queue("default", "la", "a"));
  cluster.engine().set_node(node("other", 8, "A100-80GB"));
  cluster.set(in_local_queue("la", pod("p", 8)));
  Round round = cluster.decide(10);
  EXPECT_TRUE(round.bindings.empty());
  EXPECT_TRUE(reason_of(round, "p").starts_with("QuotaLimit: ")) << reason_of(round, "p");
  cluster.engine().set_node(node("n1"));
  round = cluster.decide(20);
  ASSERT_EQ(round.bindings.size(), 1U);
  EXPECT_EQ(round.bindings[0].node, "n1");
}

// Kueue's simplest setup: one flavor for whatever there is.
TEST(OtherQueues, AFlavorWithoutLabelsIsOfAllNodesThatNoOtherClaims) {
  Cluster cluster;
  cluster.apply(
      "apiVersion: kueue.x-k8s.io/v1beta2\nkind: ResourceFlavor\nmetadata: {name: default-flavor}\n"
      "---\napiVersion: kueue.x-k8s.io/v1beta2\nkind: ResourceFlavor\nmetadata: {name: rack}\n"
      "spec: {nodeLabels: {rack: r1}}\n"
      "---\napiVersion: kueue.x-k8s.io/v1beta2\nkind: ClusterQueue\nmetadata: {name: a}\nspec:\n"
      "  namespaceSelector: {}\n  resourceGroups:\n  - coveredResources: [cpu, nvidia.com/gpu]\n    flavors:\n"
      "    - {name: default-flavor, resources: [{name: cpu, nominalQuota: 9}, {name: nvidia.com/gpu, nominalQuota: "
      "4}]}\n"
      "    - {name: rack, resources: [{name: cpu, nominalQuota: 9}, {name: nvidia.com/gpu, nominalQuota: 2}]}\n" +
      local_queue("default", "la", "a"));
  cluster.engine().set_node(node("n1"));
  NodeFacts in_rack = node("n2", 8, "A100-80GB");
  in_rack.labels = Value::map_of({{"rack", "r1"}});
  cluster.engine().set_node(in_rack);
  for (const char* const name : {"p1", "p2", "p3", "p4"}) cluster.set(in_local_queue("la", pod(name, 2)));
  const Round round = cluster.decide(10);
  EXPECT_EQ(round.bindings.size(), 3U) << reason_of(round, "p2");
  EXPECT_EQ(to_json(cluster.status("a")["flavorsUsage"]),
            R"([{"name":"default-flavor","resources":[{"name":"cpu","total":"0","borrowed":"0"},)"
            R"({"name":"nvidia.com/gpu","total":"4","borrowed":"0"}]},)"
            R"({"name":"rack","resources":[{"name":"cpu","total":"0","borrowed":"0"},)"
            R"({"name":"nvidia.com/gpu","total":"2","borrowed":"0"}]}])");
}

TEST(OtherQueues, VolcanosAmountsAreOfTheOneKindOfGpuThatThereIs) {
  Cluster cluster;
  const std::string queue =
      "apiVersion: scheduling.volcano.sh/v1beta1\nkind: Queue\nmetadata: {name: v}\n"
      "spec: {capability: {nvidia.com/gpu: 8}}\n";
  cluster.apply(queue);
  cluster.engine().set_node(node("n1"));
  cluster.engine().set_node(node("n2"));
  for (const char* const name : {"p1", "p2"}) {
    PodFacts facts = pod(name, 8);
    facts.queue = "volcano/v";
    cluster.set(facts);
  }
  Round round = cluster.decide(10);
  EXPECT_EQ(round.bindings.size(), 1U);
  const Value status = cluster.status("v");
  EXPECT_EQ(to_json(status["allocated"]), R"({"nvidia.com/gpu":"8","cpu":"0","memory":"0"})");
  EXPECT_EQ(status["running"].integer(), 1);
  EXPECT_EQ(status["pending"].integer(), 1);
  cluster.engine().set_node(node("n3", 8, "A100-80GB"));
  round = cluster.decide(30);
  EXPECT_TRUE(reason_of(round, "p2").contains("its amounts name no kind of GPU")) << reason_of(round, "p2");
  cluster.remove(queue);
  EXPECT_TRUE(reason_of(cluster.decide(50), "p2").contains("Volcano's queue 'v' is not there"));
}

// One node of 8, of which two ClusterQueues have 4 each: who holds all 8 has 4 of 8 above his quota, and so has nobody else.
TEST(OtherQueues, TellsTheWeightedShareAsKueueDoes) {
  Cluster cluster;
  cluster.apply(std::string(kFlavor) + cluster_queue("a", 4) + cluster_queue("b", 4) +
                local_queue("default", "la", "a") +
                "---\napiVersion: kueue.x-k8s.io/v1beta2\nkind: Cohort\nmetadata: {name: all}\nspec: {}\n");
  cluster.engine().set_node(node("n1"));
  cluster.set(in_local_queue("la", pod("p", 8)));
  EXPECT_EQ(cluster.decide(10).bindings.size(), 1U);
  EXPECT_EQ(cluster.status("a")["fairSharing"]["weightedShare"].integer(), 500);
  EXPECT_EQ(cluster.status("b")["fairSharing"]["weightedShare"].integer(-1), 0);
  EXPECT_EQ(cluster.status("all")["fairSharing"]["weightedShare"].integer(-1), 0)
      << "all is inside what its members have";
}

TEST(OtherQueues, LetNobodyInWhomSomethingElseKeepsOutside) {
  Cluster cluster;
  two_teams(cluster);
  PodFacts first = in_local_queue("la", pod("p", 8));
  first.shut = {"PodGroupMissing", "its PodGroup is not there"};
  cluster.set(first);
  EXPECT_EQ(reason_of(cluster.decide(10), "p"), "PodGroupMissing: its PodGroup is not there");
  first.shut = {};
  cluster.set(first);
  EXPECT_EQ(names_of(cluster.decide(11)), std::set<std::string>{"p"});
}

TEST(OtherQueues, AStatusIsTheSameUntilMoreThanItsTimeHasChanged) {
  Cluster cluster;
  two_teams(cluster);
  cluster.decide(10);
  const OtherStatus first = cluster.others().statuses(Time{1000}).front();
  EXPECT_TRUE(same_standing(first, cluster.others().statuses(Time{2000}).front()));
  cluster.set(in_local_queue("la", pod("p", 8)));
  cluster.decide(20);
  EXPECT_FALSE(same_standing(first, cluster.others().statuses(Time{2000}).front()));
}

}  // namespace berth::other_queues_test
