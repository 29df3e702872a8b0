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
      {"{berth.dev/coverage: guaranteed, other.dev/gpu-memry: a, gpu-fraction: '1'}", {}},
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

}  // namespace berth::annotation_warnings_test
