// The domains of a cluster, as `berth topology` and `berth nodes -o map` show them.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "client/account.h"
#include "client/topology_levels.h"
#include "client/topology_tree.h"
#include "client/work.h"
#include "manifest/hyper_nodes.h"
#include "manifest/yaml.h"

namespace berth::topology_test {

std::vector<Value> objects(const std::string& yaml) { return parse_yaml(yaml).value(); }

// A node of 4 H100.
Value node(const std::string& name, const std::string& labels, const std::string& more = "") {
  const std::string yaml =
      "metadata: {name: " + name + ", labels: {kubernetes.io/hostname: " + name + ", nvidia.com/gpu.product: H100, " +
      labels +
      "}}\nstatus: {allocatable: {cpu: '64', memory: 512Gi, nvidia.com/gpu: '4'}, conditions: [{type: "
      "Ready, status: 'True'}]}\n" +
      more;
  return parse_yaml(yaml)->at(0);
}

Value pod(const std::string& name, const std::string& on, int gpus, const std::string& annotations = "{}") {
  return parse_yaml("metadata: {name: " + name + ", annotations: " + annotations + "}\nspec: {nodeName: " + on +
                    ", containers: [{resources: {requests: {nvidia.com/gpu: '" + std::to_string(gpus) + "'}}}]}\n")
      ->at(0);
}

// Two zones, of which one has two racks; a node without a rack, and one that is cordoned.
std::vector<Value> six_nodes() {
  return {node("n1", "zone: z1, rack: r1"), node("n2", "zone: z1, rack: r1"),
          node("n3", "zone: z1, rack: r2"), node("n4", "zone: z1, rack: r2", "spec: {unschedulable: true}\n"),
          node("n5", "zone: z2, rack: r3"), node("n6", "zone: z2")};
}

TEST(TopologyTree, CountsEachDomainAndTheLargestGang) {
  const std::vector<Value> nodes = six_nodes();
  const std::vector<Value> pods = {pod("p1", "n1", 1), pod("p2", "n5", 3)};
  const std::vector<NodeInUse> in_use = nodes_in_use(nodes, pods);
  const TopologyTree tree = topology_tree({"t", {"zone", "rack", std::string(kHostnameLabel)}}, in_use);
  EXPECT_EQ(trees_to_text({tree}, OutputFormat::kTable),
            "Topology t\n"
            "DOMAIN        LEVEL   NODES   GPUS      USED   FREE   WHOLE NODES   LARGEST GANG\n"
            "z1            zone    4       16 H100   1      11     2             11\n"
            "  r1          rack    2       8 H100    1      7      1             7\n"
            "  r2          rack    2       8 H100    0      4      1             4\n"
            "z2            zone    2       8 H100    3      5      1             5\n"
            "  r3          rack    1       4 H100    3      1      0             1\n"
            "  (no rack)   rack    1       4 H100    0      4      1             4\n"
            "\n"
            "LEVEL   MODEL   DOMAINS   LARGEST GANG   IN   WHOLE NODES\n"
            "zone    H100    2         11             z1   2\n"
            "rack    H100    3         7              r1   1\n"
            "node    H100    6         4              n2   1\n");
  EXPECT_TRUE(tree.notes.empty());
  const std::string wide = trees_to_text({tree}, OutputFormat::kWide);
  EXPECT_TRUE(wide.contains("    n4        kubernetes.io/hostname   1       1        4 H100")) << wide;
  EXPECT_EQ(trees_to_text({tree}, OutputFormat::kName), "zone/z1\nrack/r1\nrack/r2\nzone/z2\nrack/r3\nrack/\n");
}

TEST(TopologyTree, HasWhatGangsPutOnTheUplinks) {
  const std::vector<Value> nodes = six_nodes();
  const std::vector<NodeInUse> in_use = nodes_in_use(nodes, {});
  const auto workloads = parse_yaml(
      "metadata: {namespace: default, name: train}\nstatus: {network: {cost: 'replicas 21.4 ms over rack', uplinks: "
      "[{level: rack, domain: r1, gpus: 4}, {level: rack, domain: r2, gpus: 8}]}}\n"
      "---\nmetadata: {namespace: default, name: more}\nstatus: {network: {cost: '', uplinks: "
      "[{level: rack, domain: r1, gpus: 2}, {level: zone, domain: z2, gpus: 1}]}}\n"
      "---\nmetadata: {namespace: default, name: other}\n");
  const TopologyTree tree = topology_tree({"", {"zone", "rack"}}, in_use, *workloads);
  EXPECT_EQ(trees_to_text({tree}, OutputFormat::kTable),
            "DOMAIN        LEVEL   NODES   GPUS      USED   FREE   WHOLE NODES   LARGEST GANG   UPLINK\n"
            "z1            zone    4       16 H100   0      12     3             12             -\n"
            "  r1          rack    2       8 H100    0      8      2             8              6\n"
            "  r2          rack    2       8 H100    0      4      1             4              8\n"
            "z2            zone    2       8 H100    0      8      2             8              1\n"
            "  r3          rack    1       4 H100    0      4      1             4              -\n"
            "  (no rack)   rack    1       4 H100    0      4      1             4              -\n"
            "\n"
            "LEVEL   MODEL   DOMAINS   LARGEST GANG   IN   WHOLE NODES\n"
            "zone    H100    2         12             z1   3\n"
            "rack    H100    3         8              r1   2\n"
            "\n"
            "GANG            NETWORK\n"
            "default/more    not whole\n"
            "default/train   replicas 21.4 ms over rack\n");
  const Value facts = parse_yaml(trees_to_text({tree}, OutputFormat::kJson))->at(0)["topologies"].items().at(0);
  EXPECT_EQ(facts["domains"].items().at(1)["uplinkGpus"].integer(), 6);
  EXPECT_EQ(facts["gangs"].items().at(1)["name"].text(), "default/train");
}

TEST(TopologyTree, SparesAreClosedToWhoeverComes) {
  std::vector<Value> nodes = six_nodes();
  nodes[0].at("metadata").at("labels").set("berth.dev/spare", "true");
  const std::vector<NodeInUse> in_use = nodes_in_use(nodes, {});
  EXPECT_EQ(state_of_node(nodes[0]), state_of_node(nodes[1]) + ",spare");
  const TopologyTree tree = topology_tree({"", {"rack"}}, in_use);
  EXPECT_EQ(tree.domains[0].use.all_models().free, 4);
  EXPECT_EQ(tree.domains[0].use.closed_nodes, 1);
}

TEST(TopologyTree, SaysTheSameToPrograms) {
  const std::vector<Value> nodes = six_nodes();
  const std::vector<NodeInUse> in_use = nodes_in_use(nodes, {pod("p1", "n1", 1)});
  const std::string json = trees_to_text({topology_tree({"", {"zone", "rack"}}, in_use)}, OutputFormat::kJson);
  const Value facts = parse_yaml(json)->at(0)["topologies"].items().at(0);
  EXPECT_EQ(facts["levels"].items().size(), 2U);
  const Value& rack = facts["domains"].items().at(1);
  EXPECT_EQ(rack["level"].text(), "rack");
  EXPECT_EQ(rack["path"].items().at(0).text(), "z1");
  EXPECT_EQ(rack["path"].items().at(1).text(), "r1");
  EXPECT_EQ(rack["gpusFree"].integer(), 7);
  EXPECT_EQ(rack["models"].items().at(0)["largestGang"].integer(), 7);
  EXPECT_EQ(facts["domains"].items().at(0)["closedNodes"].integer(), 1);
  EXPECT_EQ(facts["largest"].items().at(1)["domain"].text(), "r1");
}

TEST(TopologyTree, AGangIsOfOneModelAndOfWholeGpus) {
  std::vector<Value> nodes = six_nodes();
  nodes[1].at("metadata").at("labels").set("nvidia.com/gpu.product", "A100-80GB");
  // Its GPUs are cut: none is whole, however free.
  nodes[2].at("metadata").at("labels").set("berth.dev/gpu-mode", "mig");
  nodes[2].at("metadata").at("labels").set("nvidia.com/gpu.count", "4");
  nodes[2].at("status").at("allocatable").erase("nvidia.com/gpu");
  const std::vector<NodeInUse> in_use = nodes_in_use(nodes, {pod("p1", "n1", 2)});
  const TopologyTree tree = topology_tree({"", {"zone"}}, in_use);
  EXPECT_EQ(trees_to_text({tree}, OutputFormat::kTable),
            "DOMAIN   LEVEL   NODES   GPUS                              USED   FREE   WHOLE NODES   LARGEST GANG\n"
            "z1       zone    4       4 A100-80GB, 8 H100, 4 H100/mig   2      10     1             4 A100-80GB\n"
            "z2       zone    2       8 H100                            0      8      2             8\n"
            "\n"
            "LEVEL   MODEL       DOMAINS   LARGEST GANG   IN   WHOLE NODES\n"
            "zone    A100-80GB   1         4              z1   1\n"
            "zone    H100        2         8              z2   2\n"
            "zone    H100/mig    1         0              -    0\n");
}

TEST(TopologyTree, ANameInTwoPlacesIsOneDomainToTheScheduler) {
  std::vector<Value> nodes = six_nodes();
  nodes[4].at("metadata").at("labels").set("rack", "r1");
  const std::vector<NodeInUse> in_use = nodes_in_use(nodes, {});
  const TopologyTree tree = topology_tree({"", {"zone", "rack"}}, in_use);
  ASSERT_EQ(tree.notes.size(), 1U);
  EXPECT_EQ(
      tree.notes[0],
      "rack r1 is in 2 domains of zone (z1, z2): to the scheduler it is one domain; give each a name of its own in "
      "the label rack");
  const auto rack = std::ranges::find(tree.largest, "rack", &LargestGang::label);
  EXPECT_EQ(rack->gpus, 12) << "over both zones, as the scheduler would place it";
}

TEST(TopologyMap, DrawsTheNodesOfEachDomain) {
  const std::vector<Value> nodes = six_nodes();
  const std::vector<Value> pods = {pod("p1", "n1", 1), pod("p2", "n5", 4)};
  const std::vector<NodeInUse> in_use = nodes_in_use(nodes, pods);
  const TopologyTree tree = topology_tree({"", {"zone", "rack", std::string(kHostnameLabel)}}, in_use);
  EXPECT_EQ(map_of_tree(tree, 80, false),
            "zone z1       11/16\n"
            "  rack r1     7/8     [#...] [....]\n"
            "  rack r2     4/8     [....] (....)\n"
            "zone z2       4/8\n"
            "  rack r3     0/4     [####]\n"
            "  (no rack)   4/4     [....]\n");
  EXPECT_EQ(map_of_tree(tree, 30, false).substr(0, 97),
            "zone z1       11/16\n"
            "  rack r1     7/8     [#...]\n"
            "                      [....]\n"
            "  rack r2     4/8  ");
  EXPECT_TRUE(map_of_tree(tree, 80, true).contains("7/8     [#...] \x1b[32m[....]\x1b[0m\n"));
  EXPECT_TRUE(map_of_tree(tree, 80, true).contains("\x1b[31m(....)\x1b[0m\n"));
  EXPECT_EQ(map_of_tree(topology_tree({"", {std::string(kHostnameLabel)}}, in_use), 80, false),
            "all nodes   15/24   [#...] [....] [....] (....) [####] [....]\n");
}

TEST(Account, SaysWhatADomainLacks) {
  const Work train =
      read_work(
          objects("metadata: {name: train, namespace: ml, uid: u1}\nspec: {template: {spec: {containers: [{}]}}}\n"),
          objects("metadata: {name: a, namespace: ml, ownerReferences: [{kind: Job, controller: true, uid: u1}]}\n"
                  "status: {phase: Pending, conditions: [{type: PodScheduled, status: 'False', message: 'Topology: "
                  "no rack has room'}]}\n"))
          .at(0);
  const Value workload = objects(
      "status: {topology: {level: example.com/rack, together: true, pods: 16, gpusPerPod: '8', moreDomains: 3, "
      "domains: "
      "[{name: r2, podsFit: 9, gpusFree: 80, gpusLacking: '56'}, {name: row-11, podsFit: 1, gpusFree: 8, gpusLacking: "
      "'120'}, {name: r1, podsFit: 0, gpusFree: 1, gpusLacking: '128'}]}}\n")[0];
  const Account account = account_of(train, {.workload = workload}, Time{0});
  EXPECT_TRUE(
      account.text.contains("  why     Topology: no rack has room\n"
                            "  room    rack by rack, for 16 pods with 8 GPUs each, all in one:\n"
                            "          r2       9 fit, 80 GPUs free, lacks 56 GPUs\n"
                            "          row-11   1 fits, 8 GPUs free, lacks 120 GPUs\n"
                            "          r1       none fit, 1 GPU free, lacks 128 GPUs\n"
                            "          and 3 more, in which no more of them fit\n"))
      << account.text;
  EXPECT_EQ(account.facts["topology"]["domains"].items().size(), 3U);
  EXPECT_EQ(workload_name_of(train, {}), "train-u1");
  const auto pods =
      objects("metadata: {name: p, namespace: ml, labels: {berth.dev/pod-group: Train.1}}\nspec: {containers: [{}]}\n");
  EXPECT_EQ(workload_name_of(read_pod_work(pods[0]), pods), "train-1");
  EXPECT_EQ(workload_name_of(read_pod_work(pods[0]), objects("metadata: {name: p}\n")), "") << "it is alone";
  const auto of_a_set = objects(
      "metadata: {name: p, labels: {berth.dev/pod-group: all}, annotations: {berth.dev/pod-group-uid: 0a1b2c}}\n");
  EXPECT_EQ(workload_name_of(train, of_a_set), "all-0a1b2") << "it starts with other Jobs";
  const Value pieces = objects(
      "status: {topology: {level: kubernetes.io/hostname, together: false, pods: 2, domains: [{name: n1, podsFit: "
      "1}]}}\n")[0];
  EXPECT_TRUE(account_of(train, {.workload = pieces}, Time{0})
                  .text.contains("  room    node by node, for 2 pods:\n          n1   1 fits\n"));
}

TEST(TopologyLevels, AreReadWithAllThatIsWrong) {
  EXPECT_EQ(*parse_levels("zone,example.com/rack"), (std::vector<std::string>{"zone", "example.com/rack"}));
  const auto wrong = parse_levels("kubernetes.io/hostname,a b,zone,zone");
  ASSERT_FALSE(wrong);
  EXPECT_EQ(
      wrong.error().to_string(),
      "--levels: 'kubernetes.io/hostname' is not the last level, and nothing is narrower than a node; write it at "
      "the end\n--levels: 'a b' is no label; write some that nodes have, the widest first: zone,rack\n--levels: "
      "'zone' stands there twice; name each level once\n");
  EXPECT_FALSE(parse_levels("zone,"));
  EXPECT_EQ(unknown_level({"zone", "rak", std::string(kHostnameLabel)}, six_nodes()),
            "no node has the label rak, did you mean rack?");
  const auto nodes = parse_yaml("metadata: {name: n, labels: {topology.kubernetes.io/zone: a}}\n");
  EXPECT_EQ(unknown_level({"zone"}, *nodes), "no node has the label zone, did you mean topology.kubernetes.io/zone?");
}

TEST(TopologyLevels, AreThoseOfTopologiesOrFound) {
  const auto topologies = parse_yaml(
      "metadata: {name: b}\nspec: {levels: [{nodeLabel: zone}]}\n---\nmetadata: {name: a}\nspec: {levels: [{nodeLabel: "
      "block}, {nodeLabel: kubernetes.io/hostname}]}\n");
  const std::vector<TopologyLevels> read = levels_of_topologies(*topologies);
  EXPECT_EQ(read[0].name, "a");
  EXPECT_EQ(read[0].labels, (std::vector<std::string>{"block", "kubernetes.io/hostname"}));
  std::vector<Value> nodes = six_nodes();
  EXPECT_EQ(levels_in_labels(nodes, {}, {}).labels,
            (std::vector<std::string>{"zone", "rack", "kubernetes.io/hostname"}));
  nodes = *parse_yaml("metadata: {name: n, labels: {rack: r, example.com/row: a, example.com/pen: x}}\n");
  const std::vector<Value> pods = {pod("p", "", 1, "{berth.dev/topology: 'required:example.com/row'}"),
                                   pod("q", "", 1, "{berth.dev/slice: '2:nowhere'}")};
  EXPECT_EQ(levels_in_labels(nodes, pods, {}).labels,
            (std::vector<std::string>{"rack", "example.com/row", "kubernetes.io/hostname"}));
  nodes = six_nodes();
  EXPECT_EQ(levels_in_labels(nodes, {}, read).labels.front(), "zone");
}

// As those by which the scheduler tells how near nodes are; of several of one name that of Kubernetes.
TEST(TopologyLevels, HaveNamesThatAreUsual) {
  const auto nodes = parse_yaml(
      "metadata: {name: n, labels: {failure-domain.beta.kubernetes.io/zone: a, topology.kubernetes.io/zone: a, "
      "topology.gke.io/zone: a, cloud.provider.com/topology-rack: r, example.com/power-zone: p, leaf: l, "
      "cloud.google.com/gce-topology-block: b}}\n");
  EXPECT_EQ(levels_in_labels(*nodes, {}, {}).labels,
            (std::vector<std::string>{"topology.kubernetes.io/zone", "cloud.google.com/gce-topology-block",
                                      "cloud.provider.com/topology-rack", "leaf", "kubernetes.io/hostname"}));
}

TEST(TopologyLevels, OfHyperNodesAreTheirTiers) {
  const auto hyper_nodes = parse_yaml(
      "metadata: {name: s1}\nspec: {tier: 1, members: [{type: Node, selector: {regexMatch: {pattern: '^n[12]$'}}}]}\n"
      "---\nmetadata: {name: s2}\nspec: {tier: 1, members: [{type: Node, selector: {exactMatch: {name: n3}}}]}\n"
      "---\nmetadata: {name: all}\nspec: {tier: 2, members: [{type: HyperNode, selector: {regexMatch: {pattern: "
      "s}}}]}\n");
  EXPECT_FALSE(levels_of_hyper_nodes({}));
  const TopologyLevels levels = *levels_of_hyper_nodes(*hyper_nodes);
  EXPECT_EQ(levels.labels,
            (std::vector<std::string>{"hypernode-tier-2", "hypernode-tier-1", "kubernetes.io/hostname"}));
  const std::vector<Value> nodes = with_hyper_node_labels(six_nodes(), *hyper_nodes);
  const std::vector<NodeInUse> in_use = nodes_in_use(nodes, {});
  const std::string text = trees_to_text({topology_tree(levels, in_use)}, OutputFormat::kTable);
  EXPECT_TRUE(text.starts_with(
      "HyperNodes\n"
      "DOMAIN                  LEVEL              NODES   GPUS      USED   FREE   WHOLE NODES   LARGEST GANG\n"
      "all                     hypernode-tier-2   3       12 H100   0      12     3             12\n"
      "  s1                    hypernode-tier-1   2       8 H100    0      8      2             8\n"
      "  s2                    hypernode-tier-1   1       4 H100    0      4      1             4\n"
      "(no hypernode-tier-2)   hypernode-tier-2   3       12 H100   0      8      2             8\n"))
      << text;
}

TEST(TopologyTree, IsNotHiddenByATierOfHyperNodesWithoutNodes) {
  const auto hyper_nodes = parse_yaml(
      "metadata: {name: s1}\nspec: {tier: 1, members: [{type: Node, selector: {regexMatch: {pattern: '^n[12]$'}}}]}\n"
      "---\nmetadata: {name: empty}\nspec: {tier: 4, members: []}\n");
  const std::vector<Value> nodes = with_hyper_node_labels(six_nodes(), *hyper_nodes);
  const std::vector<NodeInUse> in_use = nodes_in_use(nodes, {});
  const TopologyTree tree = topology_tree(*levels_of_hyper_nodes(*hyper_nodes), in_use);
  EXPECT_EQ(tree.domains.front().name, "s1");
  EXPECT_EQ(tree.notes,
            std::vector<std::string>{"no node is in a HyperNode of tier 4: kubectl describe hypernodes says why"});
}

// Of n1 3 are free, of n5 1, of n2, n3 and n6 all; n4 is cordoned.
TEST(TopologyTree, SaysIntoHowSmallPiecesTheFreeGpusAre) {
  const std::vector<Value> nodes = six_nodes();
  const std::vector<Value> pods = {pod("p1", "n1", 1), pod("p2", "n5", 3)};
  const std::vector<FreePieces> pieces = pieces_of(nodes_in_use(nodes, pods));
  EXPECT_EQ(
      pieces_in_words(pieces),
      "H100: 16 free, 25.0 % of them of no use to a pod with all 4 of a node; room for 16 pods of 1, 7 of 2, 3 of "
      "4\n");
  const Value told = pieces_as_value(pieces);
  EXPECT_EQ(told.items()[0]["uselessPermille"].integer(), 250);
  EXPECT_EQ(pieces_in_words({}), "");
}

// One GPU that is cut as pods ask and has a 3g.40gb, one that was cut beforehand, and one that is being cut.
TEST(TopologyTree, SaysForHowManySlicesThereIsAPlace) {
  const std::string ready = ", status: {conditions: [{type: Ready, status: 'True'}], allocatable: {";
  const std::string labels = "nvidia.com/gpu.count: '1', nvidia.com/gpu.product: H100";
  const auto nodes = *parse_yaml(
      "{metadata: {name: n1, labels: {berth.dev/gpu-mode: mig, " + labels + "}}" + ready + "}}}\n---\n" +
      "{metadata: {name: n2, labels: {" + labels + "}}" + ready + "nvidia.com/mig-3g.40gb: '2'}}}\n---\n" +
      "{metadata: {name: n3, labels: {berth.dev/gpu-recut: 1m, " + labels + "}, annotations: {berth.dev/gpu-cut: " +
      R"('{"layout":"all-1g.10gb","asked":"2026-11-26T12:00:00Z"}')" + "}}" + ready + "}}}\n");
  const auto pods = *parse_yaml(
      "{metadata: {name: p, annotations: {berth.dev/gpus: '0:3g.40gb@4'}}, spec: {nodeName: n1}, status: {phase: "
      "Running}}");
  const std::vector<NodeInUse> in_use = nodes_in_use(nodes, pods);
  const std::vector<FreePieces> pieces = pieces_of(in_use);
  EXPECT_EQ(pieces_in_words(pieces),
            "H100 in slices: room for 4 of 1g.10gb, 2 of 1g.20gb, 2 of 2g.20gb, 3 of 3g.40gb, 1 of 4g.40gb, 0 of "
            "7g.80gb\n");
  EXPECT_EQ(pieces_as_value(pieces).items()[0]["slicesThatFit"].items()[3]["count"].integer(), 3);
  EXPECT_EQ(in_use[2].devices.drawn(), "/");
  EXPECT_EQ(in_use[2].devices.layout(), "1g.10gb:1g.10gb:1g.10gb:1g.10gb:1g.10gb:1g.10gb:1g.10gb");
  EXPECT_EQ(state_of_node(*in_use[2].node), "ready,cutting all-1g.10gb");
}

}  // namespace berth::topology_test
