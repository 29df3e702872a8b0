#include "apiserver/scheduler_warnings.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "apiserver/admission_world.h"

namespace berth::scheduler_warnings_test {

using Texts = std::vector<std::string>;

Texts warnings(const std::string& yaml) {
  const Value object = yaml_object(yaml);
  return scheduler_warnings(kind_of(object), object);
}

TEST(SchedulerWarnings, AreOfPodsThatAreLeftToOthers) {
  const Texts said = {
      "schedulerName 'volcano' is not Berth's, which leaves the pod to the scheduler of that name; write "
      "schedulerName: berth, or leave it out"};
  struct Case {
    const char* spec;
    Texts said;
  };
  const Case cases[] = {
      {"{}", {}},
      {"{schedulerName: berth}", {}},
      {"{schedulerName: default-scheduler}", {}},
      {"{schedulerName: volcano}", said},
      {"{schedulerName: volcano, nodeName: n1}", {}},
  };
  for (const Case& each : cases) {
    const std::string spec = each.spec;
    const std::string job = "{template: {spec: " + spec + "}}";
    EXPECT_EQ(warnings("{apiVersion: v1, kind: Pod, spec: " + spec + "}"), each.said) << spec;
    EXPECT_EQ(warnings("{apiVersion: batch/v1, kind: Job, spec: " + job + "}"), each.said) << spec;
    EXPECT_EQ(warnings("{apiVersion: jobset.x-k8s.io/v1alpha2, kind: JobSet, spec: {replicatedJobs: [{name: a, "
                       "template: {spec: " +
                       job + "}}, {name: b, template: {spec: " + job + "}}]}}"),
              each.said)
        << spec << ", each once";
    EXPECT_EQ(warnings("{apiVersion: batch.volcano.sh/v1alpha1, kind: Job, spec: {schedulerName: volcano, tasks: "
                       "[{name: a, template: {spec: " +
                       spec + "}}]}}"),
              Texts())
        << spec << ": Volcano's are Berth's";
    EXPECT_EQ(warnings("{apiVersion: v1, kind: ConfigMap, spec: " + spec + "}"), Texts());
  }
}

}  // namespace berth::scheduler_warnings_test
