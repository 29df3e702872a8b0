#include "apiserver/annotation_warnings.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "apiserver/admission_world.h"

namespace berth::annotation_warnings_test {

using Texts = std::vector<std::string>;

Texts warnings(const std::string& yaml) {
  const Value object = yaml_object(yaml);
  return annotation_warnings(kind_of(object), object);
}

TEST(AnnotationWarnings, AreOfWhatLooksLikeBerthsAndIsNot) {
  struct Case {
    const char* annotations;
    Texts said;
  };
  const Case cases[] = {
      {"{}", {}},
      {"{berth.dev/coverage: guaranteed, other.dev/gpu-memry: a, gpu-count: '1'}", {}},
      {"{berth.dev/gpu-memry: 60Gi}",
       {"annotation 'berth.dev/gpu-memry' means nothing; did you mean berth.dev/gpu-memory?"}},
      {"{berth.dev/queue: research}", {"annotation 'berth.dev/queue' means nothing: it is a label; write it there"}},
      {"{berth.dev/favourite-colour-of-the-week: blue}",
       {"annotation 'berth.dev/favourite-colour-of-the-week' means nothing"}},
  };
  for (const Case& each : cases) {
    const std::string annotations = each.annotations;
    EXPECT_EQ(warnings("{apiVersion: v1, kind: Pod, metadata: {annotations: " + annotations + "}}"), each.said)
        << annotations;
    EXPECT_EQ(warnings("{apiVersion: batch/v1, kind: Job, metadata: {annotations: " + annotations +
                       "}, spec: {template: {metadata: {annotations: " + annotations + "}}}}"),
              each.said)
        << annotations << ", each once";
    EXPECT_EQ(warnings("{apiVersion: v1, kind: ConfigMap, metadata: {annotations: " + annotations + "}}"), Texts());
  }
}

TEST(AnnotationWarnings, AreOfWordsThatAreNoneWhereTheyStand) {
  const std::string kJob = "{apiVersion: batch/v1, kind: Job, ", kNothing = " means nothing";
  const std::string kVolcano = "{apiVersion: batch.volcano.sh/v1alpha1, kind: Job, ";
  const std::string kSet = "{apiVersion: jobset.x-k8s.io/v1alpha2, kind: JobSet, ";
  const std::string kOfPods = " there: it is of pods; write it in the template of these";
  struct Case {
    std::string object;
    Texts said;
  };
  const Case cases[] = {
      {kJob + "metadata: {annotations: {berth.dev/topology: 'required:rack', berth.dev/gang: 'false'}}}", {}},
      {kJob + "metadata: {annotations: {kueue.x-k8s.io/podset-required-topology: rack}}}",
       {"annotation 'kueue.x-k8s.io/podset-required-topology'" + kNothing + kOfPods}},
      {kSet + "metadata: {annotations: {gpu-fraction: '0.5', berth.dev/pod-group-size: '2'}}}",
       {"annotation 'gpu-fraction'" + kNothing + kOfPods,
        "annotation 'berth.dev/pod-group-size'" + kNothing + kOfPods}},
      {kSet + "spec: {replicatedJobs: [{template: {metadata: {annotations: {berth.dev/rank: '1'}}}}]}}",
       {"annotation 'berth.dev/rank'" + kNothing + " there: Berth writes it on pods"}},
      {kVolcano + "metadata: {annotations: {berth.dev/checkpoint: x, berth.dev/gang: 'false'}}}",
       {"annotation 'berth.dev/checkpoint'" + kNothing + " there: it is of pods; let their work write it on them",
        "annotation 'berth.dev/gang'" + kNothing + ": who starts together says spec.minAvailable"}},
      {kJob + "spec: {template: {metadata: {annotations: {berth.dev/gang: 'false', gpu-fraction: '0.5'}}}}}",
       {"annotation 'berth.dev/gang'" + kNothing +
        ": it is of Jobs and JobSets; write it on the one that makes the pod"}},
  };
  for (const Case& each : cases) EXPECT_EQ(warnings(each.object), each.said) << each.object;
}

}  // namespace berth::annotation_warnings_test
