#include "manifest/handed_down.h"

#include <gtest/gtest.h>

#include <string>

#include "manifest/json.h"
#include "manifest/yaml.h"

namespace berth::handed_down_test {

TEST(HandedDown, IsAllThatSaysSomethingOfPodsBeforeThereAreAny) {
  struct Case {
    const char* what;
    const char* maker;
    const char* made;
    const char* then;
  };
  const Case cases[] = {
      {"nothing", "{}", "{}", "{}"},
      {"what is no word of Berth's stays",
       "{labels: {app: x}, annotations: {note: x, kueue.x-k8s.io/podset-required-topology: rack}}", "{}", "{}"},
      {"labels", "{labels: {berth.dev/queue: a, kueue.x-k8s.io/queue-name: b}}", "{labels: {berth.dev/queue: own}}",
       R"({"labels":{"berth.dev/queue":"own","kueue.x-k8s.io/queue-name":"b"}})"},
      {"where pods may be", "{annotations: {berth.dev/topology: r, berth.dev/slice: s, berth.dev/parallelism: p}}",
       "{}", R"({"annotations":{"berth.dev/topology":"r","berth.dev/slice":"s","berth.dev/parallelism":"p"}})"},
      {"with whom", "{annotations: {berth.dev/pod-set: s, berth.dev/exclusive-topology: e, berth.dev/movable: m}}",
       "{}", R"({"annotations":{"berth.dev/pod-set":"s","berth.dev/exclusive-topology":"e","berth.dev/movable":"m"}})"},
      {"what of GPUs", "{annotations: {berth.dev/model: m, berth.dev/gpu-slice: s, berth.dev/latency: l}}", "{}",
       R"({"annotations":{"berth.dev/model":"m","berth.dev/gpu-slice":"s","berth.dev/latency":"l"}})"},
      {"what is written on each pod", "{annotations: {berth.dev/gpus: g, berth.dev/checkpoint: c, berth.dev/gang: g}}",
       "{}", "{}"},
      {"its own word", "{annotations: {berth.dev/topology: r}}", "{annotations: {berth.dev/topology: own}}",
       R"({"annotations":{"berth.dev/topology":"own"}})"},
      {"its own in Kueue's words", "{annotations: {berth.dev/topology: r, berth.dev/slice: s}}",
       "{annotations: {kueue.x-k8s.io/podset-preferred-topology: own}}",
       R"({"annotations":{"kueue.x-k8s.io/podset-preferred-topology":"own","berth.dev/slice":"s"}})"},
      {"another word for the same", "{annotations: {berth.dev/gpu-memory: 60Gi, berth.dev/gpu-milli: '500'}}",
       "{annotations: {berth.dev/model: own, gpu-memory: own}}",
       R"({"annotations":{"berth.dev/model":"own","gpu-memory":"own"}})"},
  };
  for (const auto& [what, maker, made, then] : cases) {
    Value metadata = parse_yaml(made)->front();
    hand_down(parse_yaml(maker)->front(), metadata);
    EXPECT_EQ(to_json(metadata), then) << what;
  }
}

}  // namespace berth::handed_down_test
