#include "manifest/pod_group.h"

#include <gtest/gtest.h>

#include <string>

#include "manifest/workload_name.h"
#include "manifest/yaml.h"

namespace berth {
namespace {

Value object(const std::string& yaml) { return parse_yaml(yaml)->at(0); }

PodGroupReading read(const std::string& api_version, const std::string& spec) {
  return read_pod_group(
      object("{apiVersion: " + api_version + ", kind: PodGroup, metadata: {name: g}, spec: " + spec + "}"));
}
constexpr const char* kCoscheduling = "scheduling.x-k8s.io/v1alpha1";
constexpr const char* kVolcano = "scheduling.volcano.sh/v1beta1";
constexpr const char* kKubernetes = "scheduling.k8s.io/v1beta1";

TEST(PodGroup, IsNamedInOneOfThreeWays) {
  struct Case {
    const char* pod;
    std::string_view qualified;
    const char* name;
    const char* task;
  };
  const Case cases[] = {
      {"{spec: {schedulingGroup: {podGroupName: g}}}", kKubernetesGroups, "g", ""},
      {"{metadata: {labels: {scheduling.x-k8s.io/pod-group: g}}}", kCoschedulingGroups, "g", ""},
      {"{metadata: {labels: {pod-group.scheduling.sigs.k8s.io: old}}}", kCoschedulingGroups, "old", ""},
      {"{metadata: {annotations: {scheduling.volcano.sh/group-name: g, volcano.sh/task-spec: ps}}}", kVolcanoGroups,
       "g", "ps"},
      {"{metadata: {annotations: {scheduling.k8s.io/group-name: g}, labels: {volcano.sh/task-spec: w}}}",
       kVolcanoGroups, "g", "w"},
  };
  for (const Case& each : cases) {
    const auto named = pod_group_named_by(object(each.pod));
    ASSERT_TRUE(named) << each.pod;
    EXPECT_EQ(*named, (PodGroupName{each.qualified, each.name, each.task})) << each.pod;
    EXPECT_EQ(workload_name_of(object(each.pod)), each.name);
  }
  for (const char* const own : {"berth.dev/pod-group", "kueue.x-k8s.io/pod-group-name"}) {
    EXPECT_FALSE(pod_group_named_by(
        object("{metadata: {labels: {" + std::string(own) + ": own, scheduling.x-k8s.io/pod-group: g}}}")))
        << "those words go before";
  }
  EXPECT_FALSE(pod_group_named_by(object("{spec: {schedulingGroup: {}}}")));
}

TEST(PodGroup, SaysHowManyStartTogether) {
  struct Case {
    const char* api_version;
    const char* spec;
    std::int64_t at_least;
  };
  const Case cases[] = {
      {kCoscheduling, "{minMember: 4}", 4},
      {kCoscheduling, "{}", 1},
      {kCoscheduling, "{minMember: 0}", 1},
      {kVolcano, "{minMember: 3}", 3},
      {kVolcano, "{minMember: 3, minTaskMember: {ps: 1, worker: 4, none: 0}}", 5},
      {kVolcano, "{minMember: 7, minTaskMember: {ps: 1, worker: 4}}", 7},
      {kKubernetes, "{schedulingPolicy: {gang: {minCount: 8}}}", 8},
      {kKubernetes, "{schedulingPolicy: {basic: {}}}", 1},
  };
  for (const Case& each : cases) {
    const PodGroupReading made = read(each.api_version, each.spec);
    EXPECT_EQ(made.spec.at_least, each.at_least) << each.spec;
    EXPECT_TRUE(made.mistakes.empty()) << each.spec << made.mistakes.front().text;
  }
  const PodGroupSpec of_tasks =
      read(kVolcano, "{minMember: 7, minTaskMember: {ps: 1, worker: 4, none: 0}, queue: q}").spec;
  EXPECT_EQ(of_tasks.of_tasks, (std::map<std::string, std::int64_t>{{"ps", 1}, {"worker", 4}}));
  EXPECT_EQ(of_tasks.queue, "q");
}

TEST(PodGroup, SaysWhereTheyAreTogether) {
  EXPECT_EQ(read(kVolcano, "{minMember: 2, networkTopology: {mode: hard, highestTierAllowed: 2}}").spec.topology,
            (Topology{.together = Togetherness::kRequired, .level = "hypernode-tier-2"}));
  EXPECT_EQ(read(kVolcano, "{minMember: 2, networkTopology: {mode: soft, highestTierAllowed: 1}}").spec.topology,
            (Topology{.together = Togetherness::kPreferred, .level = "hypernode-tier-1"}));
  const std::string rack =
      "{schedulingPolicy: {gang: {minCount: 2}}, schedulingConstraints: {topology: [{key: rack}]}}";
  EXPECT_EQ(read(kKubernetes, rack).spec.topology, (Topology{.together = Togetherness::kRequired, .level = "rack"}));
  EXPECT_TRUE(read(kKubernetes, "{schedulingPolicy: {basic: {}}, schedulingConstraints: {topology: [{key: rack}]}}")
                  .spec.topology.asks_nothing());
}

TEST(PodGroup, IsReadWithAllThatIsWrongAndAllThatIsNotFollowed) {
  struct Case {
    const char* api_version;
    const char* spec;
    const char* wrong;
    const char* not_followed;
  };
  const Case cases[] = {
      {kCoscheduling, "{minMember: -1, minResources: {cpu: 1}, scheduleTimeoutSeconds: 9}", "spec.minMember",
       "spec.minResources, spec.scheduleTimeoutSeconds"},
      {kVolcano,
       "{minMember: 2000000, minTaskMember: {a: -1}, subGroupPolicy: [{name: s}], priorityClassName: p, "
       "networkTopology: {mode: hard}}",
       "spec.minMember, spec.minTaskMember[a], spec.subGroupPolicy, spec.networkTopology", "spec.priorityClassName"},
      {kVolcano, "{minMember: 2, networkTopology: {mode: hard, highestTierName: row}}",
       "spec.networkTopology.highestTierName", ""},
      {kKubernetes, "{}", "spec.schedulingPolicy", ""},
      {kKubernetes, "{schedulingPolicy: {basic: {}, gang: {minCount: 2}}}", "spec.schedulingPolicy", ""},
      {kKubernetes,
       "{schedulingPolicy: {gang: {minCount: 0}}, schedulingConstraints: {topology: [{key: a}, {key: b}]}, "
       "resourceClaims: [{name: c}], parentCompositePodGroupName: p, disruptionMode: {single: {}}, priority: 3}",
       "spec.schedulingPolicy.gang.minCount, spec.schedulingConstraints.topology, spec.resourceClaims, "
       "spec.parentCompositePodGroupName",
       "spec.disruptionMode, spec.priority"},
      {kKubernetes,
       "{schedulingPolicy: {gang: {minCount: 2}}, schedulingConstraints: {topology: [{key: 'a b'}]}, "
       "disruptionMode: {all: {}}}",
       "spec.schedulingConstraints.topology[0].key", ""},
  };
  const auto fields = [](const std::vector<SpecMistake>& of) {
    std::string text;
    for (const SpecMistake& each : of) text += (text.empty() ? "" : ", ") + each.field;
    return text;
  };
  for (const Case& each : cases) {
    const PodGroupReading made = read(each.api_version, each.spec);
    EXPECT_EQ(fields(made.mistakes), each.wrong) << each.spec;
    EXPECT_EQ(fields(made.not_followed), each.not_followed) << each.spec;
  }
}

}  // namespace
}  // namespace berth
