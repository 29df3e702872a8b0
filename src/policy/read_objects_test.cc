// What becomes of published kinds: amounts, policies, the list of what is not followed, and what is refused.
#include "policy/read_objects.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <string_view>

#include "manifest/queue_spec.h"
#include "manifest/yaml.h"
#include "policy/assemble.h"
#include "policy/lint.h"
#include "policy/own_objects.h"
#include "policy/show.h"

namespace berth::read_objects_test {

Policy read(std::string_view yaml) {
  auto parts = read_policy_text(yaml, "q.yaml");
  EXPECT_TRUE(parts) << parts.error().to_string();
  return parts ? assemble(std::move(*parts)) : Policy();
}

const PolicyQueue& queue(const Policy& policy, std::string_view name) {
  const auto found = std::ranges::find(policy.queues, name, [](const PolicyQueue& each) { return each.queue.name; });
  EXPECT_NE(found, policy.queues.end()) << name;
  return *found;
}

// "h100:24,h100.cpu:96"
std::string amounts(const Policy& policy, const AmountList& list) {
  std::string out;
  for (const Amount& each : list) {
    const std::string flavor = each.dim.flavor().is_none() ? "-" : policy.name_of(each.dim.flavor());
    const std::string resource =
        each.dim.resource() == Resource::kGpu ? "" : "." + std::string(name_of(each.dim.resource()));
    out += (out.empty() ? "" : ",") + flavor + resource + ":" + format_amount(each.dim.resource(), each.amount);
  }
  return out;
}

std::string ignored(const Policy& policy) {
  std::string out;
  for (const NotFollowed& each : policy.not_followed) out += each.place.field + "\n";
  return out;
}

// A ClusterQueue in cohort `c`, with more lines of its spec, indented by two.
std::string cluster_queue(std::string_view more, std::string_view version = "v1beta2") {
  const bool newer = version == "v1beta2";
  return "apiVersion: kueue.x-k8s.io/" + std::string(version) +
         "\nkind: ClusterQueue\nmetadata: {name: a}\nspec:\n  namespaceSelector: {}\n  " +
         (newer ? "cohortName" : "cohort") + ": c\n" + std::string(more);
}

// Whatever a queue may say comes out of `berth policy convert` as it went in.
TEST(OwnObjects, SayTheSameAsWhatWasRead) {
  const std::string yaml =
      "apiVersion: berth.dev/v1alpha1\nkind: Queue\nmetadata: {name: a}\nspec:\n"
      "  order: fifo\n  backfill: conservative\n  stop: drain\n  guarantee: {h100: 8}\n  limit: {h100: 16}\n  "
      "borrowingLimit: {h100: 4}\n"
      "  lendingLimit: {h100: 2}\n  userLimit: {h100: 3, h100.cpu: 64}\n  users: fair\n  halfLife: 7d\n  weight: 500m\n"
      "  reclaim: never\n  preempt: never\n  reclaimWithin: 2m\n  patience: 30s\n  minRuntime: 1h\n  cooldown: 5m\n  "
      "idleAfter: 12h\n"
      "  dedicated: [{key: rack, value: r1}, {key: node, value: n7}]\n"
      "  cells: [{flavor: h100, level: rack, count: 1}, {flavor: h100, level: node, count: 2}]\n"
      "  submitters: {users: [ann]}\n"
      "  windows:\n  - {days: mon-fri, from: '20:00', to: '08:00', zone: Europe/Berlin, guarantee: {h100: 24}, weight: "
      "2}\n"
      "  - {from: '08:00', to: '10:00', limit: {h100: 1}, lendingLimit: {h100: 0}}\n"
      "  budget: {gpuHours: '0.25', end: best-effort, grants: [{gpuHours: 5, until: '2026-12-01T00:00:00Z'}]}\n";
  const Policy policy = read(yaml);
  EXPECT_TRUE(policy.findings.empty());
  EXPECT_EQ(ignored(policy), "");
  const OwnObjects own = own_objects_of(policy);
  EXPECT_TRUE(own.left_out.empty());
  const QueueSpecReading before = read_queue_spec(parse_yaml(yaml)->at(0)["spec"]);
  const QueueSpecReading after = read_queue_spec(own.objects.back()["spec"]);
  EXPECT_TRUE(before.mistakes.empty() && after.mistakes.empty());
  EXPECT_TRUE(before.spec == after.spec) << to_yaml(own.objects.back());
  const std::string shown = table_of(policy).rows.front().back();
  for (const char* const word :
       {"closed", "users=fair", "backfill=conservative", "half_life=168h", "cooldown=5m", "idle_after=12h",
        "dedicated=node:n7,rack:r1", "cells=h100:node:2,h100:rack:1", "user_limit=h100:3,h100.cpu:64", "budget=0.25h",
        "budget_end=best-effort", "grant=5h,until=2026-12-01T00:00:00Z",
        "window=mon-fri,20:00-08:00,Europe/Berlin,guarantee=h100:24,weight=2",
        "window=daily,08:00-10:00,UTC,limit=h100:1,lendingLimit=h100:0"}) {
    EXPECT_TRUE(shown.contains(word)) << word << " in " << shown;
  }
}

// The product's label says the model; all others are the flavor's.
TEST(OwnObjects, KeepTheLabelsOfAFlavorsNodes) {
  const auto flavor = [](const std::string& labels) {
    return "apiVersion: kueue.x-k8s.io/v1beta2\nkind: ResourceFlavor\nmetadata: {name: spot}\nspec: {nodeLabels: {" +
           labels + "}}\n";
  };
  const Policy policy = read(flavor("nvidia.com/gpu.product: NVIDIA-H100-80GB-HBM3, example.com/pool: spot"));
  EXPECT_TRUE(policy.findings.empty());
  const OwnObjects own = own_objects_of(policy);
  ASSERT_EQ(own.objects.size(), 1u);
  EXPECT_EQ(to_yaml(own.objects[0]["spec"]["nodeLabels"]), "example.com/pool: spot\n");
  for (const char* const wrong : {"a b: c", "pool: -x", "pool: 3", "Example.com/pool: x", "a/b/c: x", "pool: [x]"}) {
    const Policy refused = read(flavor(wrong));
    ASSERT_EQ(refused.findings.size(), 1u) << wrong;
    EXPECT_TRUE(refused.findings[0].what.ends_with("is no label that a node can have")) << refused.findings[0].what;
  }
}

TEST(OwnObjects, SayWhichFieldsOfAWindowOrABudgetThereAreNot) {
  const Policy policy = read(
      "apiVersion: berth.dev/v1alpha1\nkind: Queue\nmetadata: {name: a}\nspec:\n"
      "  windows: [{from: '08:00', to: '10:00', weight: 2, day: mon}]\n"
      "  budget: {gpuHours: 1, hours: 2, grants: [{gpuHours: 5, until: '2026-12-01T00:00:00Z', from: now}]}\n");
  EXPECT_EQ(ignored(policy), "spec.windows[0].day\nspec.budget.hours\nspec.budget.grants[0].from\n");
}

constexpr const char* kGroup =
    "  resourceGroups:\n"
    "  - coveredResources: [cpu, nvidia.com/gpu]\n"
    "    flavors:\n"
    "    - name: h100\n"
    "      resources:\n"
    "      - {name: cpu, nominalQuota: 96}\n"
    "      - {name: nvidia.com/gpu, nominalQuota: 8, borrowingLimit: 4, lendingLimit: 2}\n";

TEST(Kueue, QuotasBecomeFloorsAndBounds) {
  for (const char* const version : {"v1beta1", "v1beta2"}) {
    const Policy policy = read(cluster_queue(kGroup, version));
    const PolicyQueue& a = queue(policy, "a");
    EXPECT_EQ(amounts(policy, a.queue.quota.guarantee), "h100:8,h100.cpu:96");
    EXPECT_EQ(amounts(policy, a.queue.quota.borrowing_limit), "h100:4");
    EXPECT_EQ(amounts(policy, a.queue.quota.lending_limit), "h100:2");
    EXPECT_EQ(policy.name_of(a.queue.parent), "c");
    // There is nothing beyond the quotas of a tree.
    EXPECT_EQ(amounts(policy, queue(policy, "c").queue.quota.limit), "h100:8,h100.cpu:96");
    EXPECT_FALSE(queue(policy, "c").declared);
    EXPECT_EQ(ignored(policy), "");
    EXPECT_TRUE(policy.findings.empty()) << policy.findings.front().to_string();
  }
}

TEST(Kueue, ACohortsOwnQuotaComesOnTopOfItsMembers) {
  const Policy policy = read(cluster_queue(kGroup) +
                             "---\napiVersion: kueue.x-k8s.io/v1beta2\nkind: Cohort\nmetadata: {name: c}\nspec:\n"
                             "  parentName: top\n"
                             "  resourceGroups:\n"
                             "  - coveredResources: [nvidia.com/gpu]\n"
                             "    flavors:\n"
                             "    - name: h100\n"
                             "      resources: [{name: nvidia.com/gpu, nominalQuota: 3, borrowingLimit: 5}]\n");
  const PolicyQueue& c = queue(policy, "c");
  EXPECT_EQ(amounts(policy, c.queue.quota.guarantee), "h100:11");
  EXPECT_EQ(amounts(policy, c.queue.quota.borrowing_limit), "h100:5");
  EXPECT_EQ(policy.name_of(c.queue.parent), "top");
  EXPECT_EQ(amounts(policy, queue(policy, "top").queue.quota.limit), "h100:11,h100.cpu:96");
}

TEST(Kueue, AQueueHasTheFlavorsThatItListsAndNoOthers) {
  const Policy policy = read(cluster_queue(kGroup) + "---\n" +
                             "apiVersion: kueue.x-k8s.io/v1beta2\nkind: ClusterQueue\nmetadata: {name: b}\nspec:\n"
                             "  namespaceSelector: {}\n  cohortName: c\n"
                             "  resourceGroups:\n"
                             "  - coveredResources: [nvidia.com/gpu]\n"
                             "    flavors: [{name: l4, resources: [{name: nvidia.com/gpu, nominalQuota: 4}]}]\n"
                             "  - coveredResources: [cpu]\n"
                             "    flavors: [{name: plain, resources: [{name: cpu, nominalQuota: 50}]}]\n");
  EXPECT_EQ(amounts(policy, queue(policy, "a").queue.quota.limit), "l4:0");
  EXPECT_EQ(amounts(policy, queue(policy, "b").queue.quota.limit), "h100:0");
  EXPECT_EQ(amounts(policy, queue(policy, "b").queue.quota.guarantee), "-.cpu:50,l4:4");
}

TEST(Kueue, PoliciesAreReadOrSaidNotToBeFollowed) {
  struct Case {
    const char* spec;
    const char* policies;  // as the table shows them
    const char* ignored;
  };
  const Case cases[] = {
      {"", "order=fifo-skip reclaim=never preempt=never", ""},
      {"  queueingStrategy: StrictFIFO\n", "order=fifo reclaim=never preempt=never backfill=none", ""},
      {"  preemption: {withinClusterQueue: LowerPriority, reclaimWithinCohort: Any}\n", "order=fifo-skip reclaim=never",
       ""},
      {"  preemption: {withinClusterQueue: LowerOrNewerEqualPriority, reclaimWithinCohort: LowerPriority}\n",
       "order=fifo-skip reclaim=never", "spec.preemption.withinClusterQueue\nspec.preemption.reclaimWithinCohort\n"},
      {"  preemption: {reclaimWithinCohort: Never}\n", "order=fifo-skip reclaim=never preempt=never",
       "spec.preemption.reclaimWithinCohort\n"},
      {"  preemption: {reclaimWithinCohort: Any, borrowWithinCohort: {policy: LowerPriority, maxPriorityThreshold: "
       "9}}\n",
       "order=fifo-skip reclaim=never preempt=never",
       "spec.preemption.borrowWithinCohort.policy\nspec.preemption.borrowWithinCohort.maxPriorityThreshold\n"},
      {"  flavorFungibility: {whenCanBorrow: MayStopSearch, whenCanPreempt: MayStopSearch}\n",
       "order=fifo-skip reclaim=never preempt=never", ""},
      {"  flavorFungibility: {whenCanBorrow: TryNextFlavor, whenCanPreempt: TryNextFlavor, preference: "
       "BorrowingOverPreemption}\n",
       "order=fifo-skip reclaim=never preempt=never",
       "spec.flavorFungibility.whenCanBorrow\nspec.flavorFungibility.whenCanPreempt\nspec.flavorFungibility."
       "preference\n"},
      {"  stopPolicy: Hold\n", "order=fifo-skip reclaim=never preempt=never held", ""},
      {"  stopPolicy: HoldAndDrain\n", "order=fifo-skip reclaim=never preempt=never held closed", "spec.stopPolicy\n"},
      {"  admissionChecksStrategy: {admissionChecks: [{name: x}]}\n", "order=fifo-skip reclaim=never preempt=never",
       "spec.admissionChecksStrategy\n"},
      {"  stopPolice: Hold\n", "order=fifo-skip reclaim=never preempt=never", "spec.stopPolice\n"},
      {"  fairSharing: {weight: \"2.5\"}\n", "order=fifo-skip reclaim=never preempt=never", ""},
      {"  fairSharing: {weight: 0}\n", "order=fifo-skip reclaim=never preempt=never", "spec.fairSharing.weight\n"},
  };
  for (const Case& each : cases) {
    SCOPED_TRACE(each.spec);
    const Policy policy = read(cluster_queue(each.spec));
    ASSERT_EQ(policy.queues.size(), 2U);
    EXPECT_EQ(table_of(policy).rows[1].back(), each.policies);
    EXPECT_EQ(ignored(policy), each.ignored);
    EXPECT_TRUE(policy.findings.empty());
  }
}

TEST(Kueue, WhoSharesFairlySaysTheConfiguration) {
  struct Case {
    const char* configuration;
    FairReclaim policy;
  };
  const Case cases[] = {
      {"fairSharing: {enable: true}", FairReclaim::kInitialShare},
      {"fairSharing: {enable: false}", FairReclaim::kNever},
      {"fairSharing: {preemptionStrategies: [LessThanOrEqualToFinalShare]}", FairReclaim::kFinalShare},
      {"fairSharing: {preemptionStrategies: [LessThanOrEqualToFinalShare, LessThanInitialShare]}",
       FairReclaim::kInitialShare},
  };
  for (const Case& each : cases) {
    const Policy policy =
        read(cluster_queue("  preemption: {reclaimWithinCohort: Any}\n") +
             "---\napiVersion: config.kueue.x-k8s.io/v1beta2\nkind: Configuration\n" + each.configuration);
    EXPECT_EQ(queue(policy, "a").queue.quota.fair_reclaim, each.policy) << each.configuration;
  }
  const Policy never = read(cluster_queue("  preemption: {reclaimWithinCohort: Never}\n") +
                            "---\napiVersion: config.kueue.x-k8s.io/v1beta2\nkind: Configuration\nfairSharing: {}\n");
  EXPECT_EQ(queue(never, "a").queue.quota.fair_reclaim, FairReclaim::kNever);
}

TEST(Kueue, SaysWhoMaySubmit) {
  const auto submitters = [](const std::string& selector) {
    const Policy policy = read(
        "apiVersion: kueue.x-k8s.io/v1beta2\nkind: ClusterQueue\nmetadata: {name: a}\nspec:\n  " + selector + "\n");
    return queue(policy, "a").submitters;
  };
  EXPECT_EQ(submitters("namespaceSelector: {}").who, Submitters::Who::kEverybody);
  EXPECT_EQ(submitters("cohortName: c").who, Submitters::Who::kNobody);
  EXPECT_EQ(submitters("namespaceSelector: {matchLabels: {kubernetes.io/metadata.name: x}}").namespaces,
            std::vector<std::string>{"x"});
  EXPECT_EQ(submitters("namespaceSelector: {matchLabels: {team: x}}").who, Submitters::Who::kEverybody);
}

// What is found, as the linter says it.
std::string found(const std::string& yaml) {
  std::string out;
  for (const PolicyFinding& each : lint(read(yaml))) out += each.to_string() + "\n";
  return out;
}

TEST(Kueue, MistakesAreNamed) {
  struct Case {
    std::string yaml;
    const char* says;
  };
  const std::string alone =
      "apiVersion: kueue.x-k8s.io/v1beta2\nkind: ClusterQueue\nmetadata: {name: a}\nspec:\n  namespaceSelector: {}\n";
  const auto flavor = [](const std::string& resources) {
    return cluster_queue(
        "  resourceGroups:\n  - coveredResources: [cpu, memory, nvidia.com/gpu]\n    flavors:\n"
        "    - name: h100\n      resources:\n" +
        resources);
  };
  const std::string cpu = "      - {name: cpu, nominalQuota: 9}\n";
  const std::string memory = "      - {name: memory, nominalQuota: 9Gi}\n";
  const std::string gpu = "      - {name: nvidia.com/gpu, nominalQuota: 9}\n";
  const Case cases[] = {
      {"apiVersion: kueue.x-k8s.io/v1beta2\nkind: ClusterQueue\nmetadata: {name: a}\nspec: {}\n",
       "q.yaml:1: ClusterQueue a: warning: a has no namespaceSelector, which selects no namespace at all; nothing that "
       "is submitted to it is ever admitted; write namespaceSelector: {} for all namespaces, or name them by "
       "kubernetes.io/metadata.name [selects-no-namespace]\n"},
      {flavor(cpu + memory), "flavor 'h100' lacks 'nvidia.com/gpu', which coveredResources names"},
      {flavor(gpu + cpu + memory), "warning: flavor 'h100' lists its resources in another order than coveredResources"},
      {flavor(cpu + memory + gpu + "      - {name: pods, nominalQuota: 9}\n"),
       "gives 'pods', which coveredResources does"},
      {flavor(cpu + memory + "      - {name: nvidia.com/gpu}\n"),
       "resources[2].nominalQuota: error: there is no nominalQuota"},
      {flavor(cpu + memory + "      - {name: nvidia.com/gpu, nominalQuota: eight}\n"),
       "q.yaml:14: ClusterQueue a: spec.resourceGroups[0].flavors[0].resources[2].nominalQuota: error: "},
      {cluster_queue("  cohort: x\n"), "v1beta2 has no field cohort; an API server would drop it"},
      {cluster_queue("  cohortName: x\n", "v1beta1"), "v1beta1 has no field cohortName"},
      {alone + kGroup, "borrowingLimit without a cohort"},
      {alone + "  preemption: {withinClusterQueue: Lower}\n", "did you mean LowerPriority?"},
      {alone + "  preemption: {borrowWithinCohort: {policy: LowerPriority}}\n",
       "borrowWithinCohort needs reclaimWithinCohort"},
      {alone + "  flavorFungibility: {whenCanBorrow: Borrow}\n", "'Borrow' is none of its values"},
      {cluster_queue("  resourceGroups:\n  - coveredResources: [nvidia.com/mig-1g.10gb]\n    flavors:\n"
                     "    - {name: h100, resources: [{name: nvidia.com/mig-1g.10gb, nominalQuota: 7}]}\n"),
       "is an amount of slices (MIG), which objects of others do not have here"},
      {cluster_queue("  resourceGroups:\n  - coveredResources: [nvidia.com/gpu]\n    flavors:\n"
                     "    - {name: h100, resources: [{name: nvidia.com/gpu, nominalQuota: 7, lendingLimit: 8}]}\n"),
       "error: a lends up to 8 h100 GPUs, more than its guarantee of 7; Kueue refuses it"},
      {cluster_queue(kGroup) + "---\napiVersion: kueue.x-k8s.io/v1beta2\nkind: ResourceFlavor\nmetadata: {name: a100}\n"
                               "spec: {nodeLabels: {nvidia.com/gpu.product: NVIDIA-A100-SXM4-80GB}}\n",
       "there is no flavor 'h100'"},
      {"apiVersion: kueue.x-k8s.io/v1alpha1\nkind: Cohort\nmetadata: {name: a}\n", "write kueue.x-k8s.io/v1beta2"},
      {"apiVersion: kueue.x-k8s.io/v1beta2\nkind: LocalQueue\nmetadata: {name: l, namespace: vision}\n"
       "spec: {clusterQueue: nobody}\n",
       "there is no ClusterQueue 'nobody' in what was read; what is submitted to vision/l leads nowhere"},
      {alone + "  cohortName: c\n---\n" + alone, "there are two queues 'a'"},
      {"apiVersion: kueue.x-k8s.io/v1beta2\nkind: Cohort\nmetadata: {name: a}\nspec: {parentName: b}\n---\n"
       "apiVersion: kueue.x-k8s.io/v1beta2\nkind: Cohort\nmetadata: {name: b}\nspec: {parentName: a}\n",
       "'b' stands below itself"},
  };
  EXPECT_FALSE(found(flavor(gpu + cpu)).contains("another order"));
  for (const Case& each : cases)
    EXPECT_TRUE(found(each.yaml).contains(each.says)) << each.says << "\n" << found(each.yaml);
}

TEST(Volcano, DeservedIsTheFloorAndGuaranteeTheKeptPartOfIt) {
  struct Case {
    const char* spec;
    const char* guarantee;
    const char* lending;
    const char* limit;
    const char* ignored;
  };
  const Case cases[] = {
      {"{deserved: {nvidia.com/gpu: 16}}", "gpu:16", "", "", ""},
      {"{deserved: {nvidia.com/gpu: 16}, guarantee: {resource: {nvidia.com/gpu: 4}}}", "gpu:16", "gpu:12", "", ""},
      {"{guarantee: {resource: {nvidia.com/gpu: 4}}, capability: {nvidia.com/gpu: 8}}", "gpu:4", "gpu:0", "gpu:8", ""},
      {"{weight: 4, reclaimable: false, capability: {cpu: 8, pods: 3}}", "", "", "-.cpu:8",
       "spec.capability.pods\nspec.reclaimable\n"},
  };
  for (const Case& each : cases) {
    SCOPED_TRACE(each.spec);
    const Policy policy = read("apiVersion: scheduling.volcano.sh/v1beta1\nkind: Queue\nmetadata: {name: a}\nspec: " +
                               std::string(each.spec) + "\n");
    const Quota& quota = queue(policy, "a").queue.quota;
    EXPECT_EQ(amounts(policy, quota.guarantee), each.guarantee);
    EXPECT_EQ(amounts(policy, quota.lending_limit), each.lending);
    EXPECT_EQ(amounts(policy, quota.limit), each.limit);
    EXPECT_EQ(ignored(policy), each.ignored);
  }
}

TEST(Kueue, ATopologyIsReadAsKueueDoes) {
  const std::string head = "apiVersion: kueue.x-k8s.io/v1beta2\nkind: Topology\nmetadata: {name: t}\nspec: ";
  const Policy policy =
      read(head + "{levels: [{nodeLabel: example.com/block}, {nodeLabel: kubernetes.io/hostname}]}\n");
  ASSERT_EQ(policy.topologies.size(), 1U);
  EXPECT_EQ(policy.topologies[0].levels, (std::vector<std::string>{"example.com/block", "kubernetes.io/hostname"}));
  EXPECT_EQ(ignored(policy), "");
  struct Case {
    const char* spec;
    const char* says;
  };
  std::string many;
  for (int i = 0; i < 17; ++i) many += (i == 0 ? "{nodeLabel: l" : ", {nodeLabel: l") + std::to_string(i) + "}";
  const std::string seventeen = "{levels: [" + many + "]}";
  const Case cases[] = {
      {"{}", "spec.levels: error: it has no level; Kueue refuses it; write one at least"},
      {"{levels: [{nodeLabel: a}, {nodeLabel: a}]}",
       "spec.levels[1].nodeLabel: error: 'a' stands there twice; Kueue refuses it; name each level once"},
      {"{levels: [{nodeLabel: kubernetes.io/hostname}, {nodeLabel: a}]}",
       "spec.levels[0].nodeLabel: error: 'kubernetes.io/hostname' is not the last level; Kueue refuses it"},
      {"{levels: [{nodeLabel: 'a b'}]}", "spec.levels[0].nodeLabel: error: 'a b' is no label; no node can have it"},
      {"{levels: [{}]}", "spec.levels[0].nodeLabel: error: '' is no label"},
      {seventeen.c_str(), "spec.levels: error: it has 17 levels; Kueue refuses more than 16"},
  };
  for (const Case& each : cases) {
    const std::string said = found(head + each.spec + "\n");
    EXPECT_TRUE(said.contains(each.says)) << each.spec << ": " << said;
  }
  EXPECT_TRUE(found(head + "{levels: [{nodeLabel: a}]}\n---\n" + head + "{levels: [{nodeLabel: b}]}\n")
                  .contains("there are two Topologies 't'"));
}

TEST(Kueue, AFlavorNamesATopologyThatIsThere) {
  const std::string flavor =
      "apiVersion: kueue.x-k8s.io/v1beta1\nkind: ResourceFlavor\nmetadata: {name: f}\nspec:\n  topologyName: t\n";
  const std::string labels = "  nodeLabels: {nvidia.com/gpu.product: H100}\n";
  const std::string topology =
      "---\napiVersion: kueue.x-k8s.io/v1beta1\nkind: Topology\nmetadata: {name: t}\nspec: {levels: [{nodeLabel: "
      "a}]}\n";
  EXPECT_EQ(found(flavor + labels + topology), "");
  EXPECT_EQ(ignored(read(flavor + labels + topology)), "");
  EXPECT_TRUE(
      found(flavor + labels)
          .contains("q.yaml:5: ResourceFlavor f: spec.topologyName: error: there is no Topology 't' in what was read; "
                    "nothing starts of a "
                    "ClusterQueue that lists the flavor; add its file, or leave topologyName out [topology-missing]"))
      << found(flavor + labels);
  EXPECT_TRUE(found(flavor + topology).contains("spec.nodeLabels: error: a flavor of a Topology names no label"))
      << found(flavor + topology);
  const OwnObjects own = own_objects_of(read(flavor + labels + topology));
  EXPECT_EQ(own.left_out.size(), 2U) << "neither the Topology nor its name is lost in silence";
}

TEST(Volcano, TheOlderHierarchyIsNotFollowed) {
  const Policy policy = read(
      "apiVersion: scheduling.volcano.sh/v1beta1\nkind: Queue\n"
      "metadata: {name: a, annotations: {volcano.sh/hierarchy: root/a}}\nspec: {parent: root}\n");
  EXPECT_EQ(ignored(policy), "metadata.annotations\n");
  EXPECT_TRUE(queue(policy, "a").queue.parent.is_none());
}

TEST(Volcano, MistakesAreNamed) {
  const std::string head = "apiVersion: scheduling.volcano.sh/v1beta1\nkind: Queue\nmetadata: {name: a}\nspec: ";
  EXPECT_TRUE(found(head + "{deserved: {nvidia.com/gpu: 2}, guarantee: {resource: {nvidia.com/gpu: 3}}}\n")
                  .contains("guarantee is more than deserved"));
  EXPECT_TRUE(found(head + "{weight: 65535}\n").contains("only the ratios of weights count"));
  EXPECT_TRUE(found(head + "{parent: b}\n").contains("there is no queue 'b' in what was read"));
  EXPECT_TRUE(found(head + "{deserved: {nvidia.com/gpu: 6}, capability: {nvidia.com/gpu: 4}}\n")
                  .contains("the limit of a, 4 GPUs, is below its guarantee of 6"));
}

TEST(OwnKinds, AreReadAsTheSchedulerReadsThem) {
  const Policy policy = read(
      "apiVersion: berth.dev/v1alpha1\nkind: Queue\nmetadata: {name: child}\n"
      "spec: {parent: top, guarantee: {h100: 4, h100.cpu: 32}, weight: 2, reclaim: never, submitters: {users: [ann]}}\n"
      "---\napiVersion: berth.dev/v1alpha1\nkind: Queue\nmetadata: {name: top}\n"
      "spec: {order: fifo, limit: {h100: 8}, patience: 30s, wait: 4}\n");
  EXPECT_EQ(policy.queues[0].queue.name, "top");
  const PolicyQueue& child = queue(policy, "child");
  EXPECT_EQ(amounts(policy, child.queue.quota.guarantee), "h100:4,h100.cpu:32");
  EXPECT_EQ(child.queue.quota.weight_milli, 2000);
  EXPECT_EQ(child.queue.order, Order::kFifo);
  EXPECT_EQ(child.submitters.users, std::vector<std::string>{"ann"});
  EXPECT_EQ(queue(policy, "top").queue.quota.patience, seconds(30));
  EXPECT_EQ(ignored(policy), "spec.wait\n");
  EXPECT_EQ(policy.flavors[0].flavor.model, "H100-SXM5-80GB");
  EXPECT_TRUE(found("apiVersion: berth.dev/v1alpha1\nkind: Queue\nmetadata: {name: a}\nspec: {guarantee: {h100: x}}\n")
                  .contains("q.yaml:4: Queue a: spec.guarantee[h100]: error: 'x'"));
  EXPECT_TRUE(
      found("apiVersion: berth.dev/v1alpha1\nkind: ResourceFlavor\nmetadata: {name: a}\nspec: {gpuModel: H10O}\n")
          .contains("did you mean H100?"));
}

TEST(OwnKinds, WindowsAreJudgedAtTheirHours) {
  const std::string head = "---\napiVersion: berth.dev/v1alpha1\nkind: Queue\n";
  const std::string top = head + "metadata: {name: top}\nspec: {guarantee: {h100: 8}}\n";
  const auto child = [&](const std::string& windows) {
    return top + head + "metadata: {name: child}\nspec:\n  parent: top\n  windows:\n" + windows;
  };
  const std::string night = "  - {from: '20:00', to: '08:00', guarantee: {h100: 12}}\n";
  struct Case {
    const char* what;
    std::string yaml;
    const char* says;
  };
  const Case cases[] = {
      {"more than the parent has, at these hours", child(night),
       "q.yaml:13: Queue child: spec.windows[0]: error: while the window daily 20:00-08:00 of child is open, the "
       "children of top are promised 12 h100 GPUs, more than its guarantee of 8; "},
      {"the later of two holds", child(night + "  - {from: '00:00', to: '24:00', guarantee: {h100: 8}}\n"), ""},
      {"in its zone",
       child("  - {days: mon-fri, from: '20:00', to: '08:00', zone: Europe/Berlin, guarantee: {h100: 12}}\n"),
       "while the window mon-fri 20:00-08:00 Europe/Berlin of child is open, "},
      {"the limit falls below the guarantee",
       head + "metadata: {name: a}\nspec: {guarantee: {h100: 8}, windows: [{from: '08:00', to: '09:00', limit: {h100: "
              "4}}]}\n",
       "while the window daily 08:00-09:00 of a is open, the limit of a, 4 h100 GPUs, is below its guarantee of 8"},
      {"amounts that never hold are none",
       head + "metadata: {name: a}\nspec: {guarantee: {h100: 8}, limit: {h100: 4}, windows: [{from: '00:00', to: "
              "'24:00', limit: {h100: 8}}]}\n",
       ""},
      {"a flavor that a window alone names is one",
       head + "metadata: {name: a}\nspec: {windows: [{from: '08:00', to: '09:00', guarantee: {l4: 4}, limit: {l4: "
              "2}}]}\n",
       "the limit of a, 2 l4 GPUs, is below its guarantee of 4"},
  };
  for (const Case& each : cases) {
    const std::string said = found(each.yaml);
    EXPECT_TRUE(*each.says == 0 ? said.empty() : said.contains(each.says)) << each.what << ": " << said;
  }
  std::string many;
  for (int queue = 0; queue < 5; ++queue) {
    many += head + "metadata: {name: q" + std::to_string(queue) + "}\nspec:\n  windows:\n";
    for (int i = 0; i < 13; ++i) many += "  - {from: '08:00', to: '09:00', guarantee: {h100: 1}}\n";
  }
  EXPECT_TRUE(found(many).contains("Queue q4: spec.windows[12]: error: the queues together have more than 64 windows"))
      << found(many);
}

TEST(PriorityClasses, NeverIsNotProtection) {
  const std::string head = "apiVersion: scheduling.k8s.io/v1\nkind: PriorityClass\nmetadata: {name: a}\nvalue: 5\n";
  EXPECT_EQ(found(head), "");
  EXPECT_TRUE(found(head + "preemptionPolicy: Never\n").contains("note: preemptionPolicy: Never means"));
  EXPECT_TRUE(found(head + "preemptionPolicy: Never\ndescription: Must not be Preempted\n")
                  .contains("warning: preemptionPolicy: Never means"));
}

TEST(Texts, TreesHaveABoundedDepth) {
  std::string yaml;
  for (int i = 0; i < 5000; ++i) {
    yaml += "---\napiVersion: berth.dev/v1alpha1\nkind: Queue\nmetadata: {name: q" + std::to_string(i) +
            "}\nspec: {parent: q" + std::to_string(i + 1) + "}\n";
  }
  const Policy policy = read(yaml);
  EXPECT_EQ(policy.queues.size(), 5000U);
  EXPECT_TRUE(policy.findings[0].what.contains("more than 100 levels deep"));
}

TEST(Texts, ListsOtherKindsAndWhatIsNoObject) {
  const Policy policy = read(
      "apiVersion: v1\nkind: List\nitems:\n- {apiVersion: v1, kind: ConfigMap, metadata: {name: c}}\n"
      "- apiVersion: berth.dev/v1alpha1\n  kind: Queue\n  metadata: {name: q}\n  spec:\n    patience: soon\n---\n{a: "
      "1}\n");
  ASSERT_EQ(policy.not_followed.size(), 1U);
  EXPECT_EQ(policy.not_followed[0].place.to_string(), "q.yaml:4: ConfigMap c");
  ASSERT_EQ(policy.findings.size(), 2U);
  EXPECT_EQ(policy.findings[0].place.to_string(), "q.yaml:9: Queue q: spec.patience");
  EXPECT_TRUE(policy.findings[1].what.contains("this is no object"));
  EXPECT_FALSE(read_policy_text("a: [", "q.yaml"));
}

}  // namespace berth::read_objects_test
