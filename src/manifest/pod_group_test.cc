#include "manifest/pod_group.h"

#include <gtest/gtest.h>

#include <string>

#include "manifest/workload_name.h"
#include "manifest/yaml.h"

namespace berth::pod_group_test {

Value object(const std::string& yaml) { return parse_yaml(yaml)->at(0); }

PodGroupReading read(std::string_view qualified, const std::string& spec) {
  return read_pod_group(qualified, object("{kind: PodGroup, metadata: {name: g}, spec: " + spec + "}"));
}

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
    std::string_view qualified;
    const char* spec;
    std::int64_t at_least;
  };
  const Case cases[] = {
      {kCoschedulingGroups, "{minMember: 4}", 4},
      {kCoschedulingGroups, "{}", 1},
      {kCoschedulingGroups, "{minMember: 0}", 1},
      {kVolcanoGroups, "{minMember: 3}", 3},
      {kVolcanoGroups, "{minMember: 3, minTaskMember: {ps: 1, worker: 4, none: 0}}", 5},
      {kVolcanoGroups, "{minMember: 7, minTaskMember: {ps: 1, worker: 4}}", 7},
      {kKubernetesGroups, "{schedulingPolicy: {gang: {minCount: 8}}}", 8},
      {kKubernetesGroups, "{schedulingPolicy: {basic: {}}}", 1},
  };
  for (const Case& each : cases) {
    const PodGroupReading made = read(each.qualified, each.spec);
    EXPECT_EQ(made.spec.at_least, each.at_least) << each.spec;
    EXPECT_TRUE(made.mistakes.empty()) << each.spec << made.mistakes.front().text;
  }
  const PodGroupSpec of_tasks =
      read(kVolcanoGroups, "{minMember: 7, minTaskMember: {ps: 1, worker: 4, none: 0}, queue: q}").spec;
  EXPECT_EQ(of_tasks.of_tasks, (std::map<std::string, std::int64_t>{{"ps", 1}, {"worker", 4}}));
  EXPECT_EQ(of_tasks.queue, "q");
}

TEST(PodGroup, SaysWhereTheyAreTogether) {
  EXPECT_EQ(read(kVolcanoGroups, "{minMember: 2, networkTopology: {mode: hard, highestTierAllowed: 2}}").spec.topology,
            (Topology{.together = Togetherness::kRequired, .level = "hypernode-tier-2"}));
  EXPECT_EQ(read(kVolcanoGroups, "{minMember: 2, networkTopology: {mode: soft, highestTierAllowed: 1}}").spec.topology,
            (Topology{.together = Togetherness::kPreferred, .level = "hypernode-tier-1"}));
  const std::string rack =
      "{schedulingPolicy: {gang: {minCount: 2}}, schedulingConstraints: {topology: [{key: rack}]}}";
  EXPECT_EQ(read(kKubernetesGroups, rack).spec.topology,
            (Topology{.together = Togetherness::kRequired, .level = "rack"}));
  EXPECT_TRUE(
      read(kKubernetesGroups, "{schedulingPolicy: {basic: {}}, schedulingConstraints: {topology: [{key: rack}]}}")
          .spec.topology.asks_nothing());
}

TEST(PodGroup, IsReadWithAllThatIsWrongAndAllThatIsNotFollowed) {
  struct Case {
    std::string_view qualified;
    const char* spec;
    const char* wrong;
    const char* not_followed;
  };
  const Case cases[] = {
      {kCoschedulingGroups, "{minMember: -1, minResources: {cpu: 1}, scheduleTimeoutSeconds: 9}", "spec.minMember",
       "spec.minResources, spec.scheduleTimeoutSeconds"},
      {kVolcanoGroups,
       "{minMember: 2000000, minTaskMember: {a: -1}, subGroupPolicy: [{name: s}], priorityClassName: p, "
       "networkTopology: {mode: near}}",
       "spec.minMember, spec.minTaskMember[a], spec.subGroupPolicy, spec.networkTopology", "spec.priorityClassName"},
      {kVolcanoGroups, "{minMember: 2, networkTopology: {mode: hard, highestTierName: row}}",
       "spec.networkTopology.highestTierName", ""},
      {kKubernetesGroups, "{}", "spec.schedulingPolicy", ""},
      {kKubernetesGroups, "{schedulingPolicy: {basic: {}, gang: {minCount: 2}}}", "spec.schedulingPolicy", ""},
      {kKubernetesGroups,
       "{schedulingPolicy: {gang: {minCount: 0}}, schedulingConstraints: {topology: [{key: a}, {key: b}]}, "
       "resourceClaims: [{name: c}], parentCompositePodGroupName: p, disruptionMode: {single: {}}, priority: 3}",
       "spec.schedulingPolicy.gang.minCount, spec.schedulingConstraints.topology, spec.resourceClaims, "
       "spec.parentCompositePodGroupName",
       "spec.disruptionMode, spec.priority"},
      {kKubernetesGroups,
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
    const PodGroupReading made = read(each.qualified, each.spec);
    EXPECT_EQ(fields(made.mistakes), each.wrong) << each.spec;
    EXPECT_EQ(fields(made.not_followed), each.not_followed) << each.spec;
  }
}

}  // namespace berth::pod_group_test
