#include "manifest/gang_owner.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "manifest/kinds.h"
#include "manifest/workload_name.h"
#include "manifest/yaml.h"
#include "model/workload.h"

namespace berth {
namespace {

Value object(const std::string& yaml) { return parse_yaml(yaml)->at(0); }

constexpr std::string_view kLeaderWorkerSets = "leaderworkersets.leaderworkerset.x-k8s.io";

PodGroupReading read(std::string_view qualified, const std::string& spec, const std::string& metadata = "{name: g}") {
  return read_pod_group(qualified, object("{metadata: " + metadata + ", spec: " + spec + "}"));
}

std::string fields(const std::vector<SpecMistake>& of) {
  std::string text;
  for (const SpecMistake& each : of) text += (text.empty() ? "" : ", ") + each.field;
  return text;
}

std::string tasks(const std::map<std::string, std::int64_t>& of) {
  std::string text;
  for (const auto& [task, count] : of) text += (text.empty() ? "" : ", ") + task + " " + std::to_string(count);
  return text;
}

TEST(GangOwner, IsNamedByThePodsLabels) {
  struct Case {
    const char* metadata;
    std::string_view qualified;
    const char* group;
    const char* task;
    std::int64_t size;
    const char* workload;
  };
  const Case cases[] = {
      {"labels: {leaderworkerset.sigs.k8s.io/name: vllm, leaderworkerset.sigs.k8s.io/group-index: '3', "
       "leaderworkerset.sigs.k8s.io/worker-index: '0', leaderworkerset.sigs.k8s.io/group-key: 5c}, annotations: "
       "{leaderworkerset.sigs.k8s.io/size: '4'}",
       kLeaderWorkerSets, "vllm-3", "0", 4, "leaderworkerset-vllm-3"},
      {"labels: {leaderworkerset.sigs.k8s.io/name: vllm}, annotations: {leaderworkerset.sigs.k8s.io/size: many}",
       kLeaderWorkerSets, "vllm", "", 0, "leaderworkerset-vllm"},
  };
  for (const Case& each : cases) {
    const Value pod = object("{metadata: {" + std::string(each.metadata) + "}}");
    const auto named = pod_group_named_by(pod);
    ASSERT_TRUE(named) << each.metadata;
    EXPECT_EQ(named->qualified, each.qualified);
    EXPECT_EQ(named->group(), each.group);
    EXPECT_EQ(named->task, each.task);
    EXPECT_EQ(named->size, each.size);
    EXPECT_EQ(workload_name_of(pod), each.workload);
  }
}

TEST(GangOwner, IsNotNamedWhereOthersGoBeforeOrNobodyIsMeant) {
  const char* const kOthers[] = {
      "labels: {leaderworkerset.sigs.k8s.io/name: vllm, berth.dev/pod-group: own}",
      "labels: {leaderworkerset.sigs.k8s.io/name: ''}",
      "labels: {leaderworkerset.sigs.k8s.io/name: {a: b}}",
      "labels: [leaderworkerset.sigs.k8s.io/name]",
      "annotations: {leaderworkerset.sigs.k8s.io/size: '2'}",
  };
  for (const char* const each : kOthers) {
    EXPECT_FALSE(pod_group_named_by(object("{metadata: {" + std::string(each) + "}}"))) << each;
  }
  const auto named = pod_group_named_by(
      object("{metadata: {labels: {leaderworkerset.sigs.k8s.io/name: vllm, scheduling.x-k8s.io/pod-group: g}}}"));
  ASSERT_TRUE(named);
  EXPECT_EQ(named->qualified, kCoschedulingGroups) << "its PodGroup says it for sure";
}

TEST(GangOwner, IsServedAndItsKindIsThatOfTheTable) {
  for (const GangOwnerKind& each : gang_owner_kinds()) {
    bool served = false;
    for (const KindInfo& kind : served_kinds())
      served = served || (kind.qualified() == each.qualified && kind.kind == each.kind);
    EXPECT_TRUE(served) << each.qualified;
    EXPECT_EQ(find_gang_owner_kind(each.qualified), &each);
  }
  EXPECT_EQ(find_gang_owner_kind("pods"), nullptr);
}

TEST(GangOwner, SaysHowManyStartTogether) {
  struct Case {
    std::string_view qualified;
    const char* spec;
    std::int64_t at_least;
    const char* of_tasks;
    const char* apart;
  };
  const Case cases[] = {
      {kLeaderWorkerSets, "{leaderWorkerTemplate: {size: 4}, replicas: 3}", 4, "", ""},
      {kLeaderWorkerSets, "{leaderWorkerTemplate: {}}", 1, "", ""},
      {kLeaderWorkerSets, "{startupPolicy: LeaderCreated, leaderWorkerTemplate: {size: 4}}", 4, "", ""},
      {kLeaderWorkerSets, "{startupPolicy: LeaderReady, leaderWorkerTemplate: {size: 4}}", 3, "", "0 1"},
      {kLeaderWorkerSets, "{startupPolicy: LeaderReady, leaderWorkerTemplate: {size: 1}}", 1, "", ""},
  };
  for (const Case& each : cases) {
    const PodGroupReading made = read(each.qualified, each.spec);
    EXPECT_EQ(made.spec.at_least, each.at_least) << each.spec;
    EXPECT_EQ(tasks(made.spec.of_tasks), each.of_tasks) << each.spec;
    EXPECT_EQ(tasks(made.spec.apart), each.apart) << each.spec;
    EXPECT_EQ(fields(made.mistakes), "") << each.spec;
  }
  const PodGroupReading exclusive = read(kLeaderWorkerSets, "{leaderWorkerTemplate: {size: 4}}",
                                         "{annotations: {leaderworkerset.sigs.k8s.io/exclusive-topology: rack}}");
  EXPECT_EQ(tasks(exclusive.spec.apart), "0 1") << "its workers are made when the leader has a node";
  EXPECT_EQ(fields(exclusive.advice), "metadata.annotations[leaderworkerset.sigs.k8s.io/exclusive-topology]");
}

TEST(GangOwner, SaysInWhichQueueItsPodsWait) {
  const PodGroupReading made =
      read(kLeaderWorkerSets, "{leaderWorkerTemplate: {size: 2}}",
           "{labels: {kueue.x-k8s.io/queue-name: main, kueue.x-k8s.io/priority-class: urgent, "
           "berth.dev/queue: own}, annotations: {scheduling.volcano.sh/queue-name: research}}");
  EXPECT_EQ(made.spec.local_queue, "main");
  EXPECT_EQ(made.spec.priority_class, "urgent");
  EXPECT_EQ(made.spec.queue, "research");
  EXPECT_EQ(fields(made.not_followed), "metadata.labels[berth.dev/queue]") << "pods alone may name one of Berth's own";
}

TEST(GangOwner, IsReadWithAllThatIsWrongAndAllThatIsNotFollowed) {
  struct Case {
    std::string_view qualified;
    const char* spec;
    const char* wrong;
    const char* not_followed;
    const char* advice;
  };
  const Case cases[] = {
      {kLeaderWorkerSets, "{replicas: -1, leaderWorkerTemplate: {size: 0}}",
       "spec.leaderWorkerTemplate.size, spec.replicas", "", ""},
      {kLeaderWorkerSets, "{leaderWorkerTemplate: {size: '4', subGroupPolicy: {subGroupSize: 2}}}",
       "spec.leaderWorkerTemplate.size", "spec.leaderWorkerTemplate.subGroupPolicy", ""},
      {kLeaderWorkerSets, "{startupPolicy: LeaderReady, leaderWorkerTemplate: {size: 3}}", "", "",
       "spec.startupPolicy"},
  };
  for (const Case& each : cases) {
    const PodGroupReading made = read(each.qualified, each.spec);
    EXPECT_EQ(fields(made.mistakes), each.wrong) << each.spec;
    EXPECT_EQ(fields(made.not_followed), each.not_followed) << each.spec;
    EXPECT_EQ(fields(made.advice), each.advice) << each.spec;
  }
}

// Whatever stands where an object's words are looked for, and in whatever form: it can be used, or is complained of.
TEST(GangOwner, IsReadWhateverItHolds) {
  const char* const kValues[] = {"null",   "0",    "-1",   "1",  "2147483648", "9223372036854775807",
                                 "1.5",    "'x'",  "true", "[]", "{}",         "[1]",
                                 "{a: b}", "[{}]", "[[]]"};
  const char* const kSpecs[] = {
      "@",
      "{leaderWorkerTemplate: @}",
      "{leaderWorkerTemplate: {size: @}}",
      "{startupPolicy: @, leaderWorkerTemplate: {size: @}}",
  };
  for (const GangOwnerKind& kind : gang_owner_kinds()) {
    for (const std::string form : kSpecs) {
      for (const std::string value : kValues) {
        std::string spec = form;
        for (std::size_t at = 0; (at = spec.find('@', at)) != std::string::npos; at += value.size())
          spec.replace(at, 1, value);
        const PodGroupReading made = read(kind.qualified, spec);
        EXPECT_GE(made.spec.at_least, 1) << kind.kind << spec;
        EXPECT_LE(made.spec.at_least, kPodsPerWorkloadMax) << kind.kind << spec;
        for (const auto& [task, count] : made.spec.of_tasks) EXPECT_GE(count, 0) << kind.kind << spec;
        for (const auto& [task, count] : made.spec.apart) EXPECT_GE(count, 0) << kind.kind << spec;
        read_pod_group(kind.qualified, object("{metadata: " + value + ", spec: " + value + "}"));
      }
    }
  }
}

}  // namespace
}  // namespace berth
