#include "manifest/topology_request.h"

#include <gtest/gtest.h>

#include <string>

#include "manifest/yaml.h"

namespace berth {
namespace {

ReadTopology read(const std::string& annotations) {
  const auto documents = parse_yaml(annotations);
  EXPECT_TRUE(documents && documents->size() == 1) << annotations;
  return read_topology(documents->at(0));
}

TEST(TopologyRequest, IsReadInBerthsWordsAndKueues) {
  using enum Togetherness;
  struct Case {
    const char* annotations;
    Topology topology;
  };
  const Case cases[] = {
      {"{}", {}},
      {"{berth.dev/topology: 'required:rack'}", {kRequired, "rack"}},
      {"{berth.dev/topology: 'preferred:example.com/rack'}", {kPreferred, "example.com/rack"}},
      {"{berth.dev/topology: 'required:kubernetes.io/hostname'}", {kRequired, "node"}},
      {"{berth.dev/slice: '8:nvidia.com/gpu.clique'}", {kAnywhere, "", 8, "nvidia.com/gpu.clique"}},
      {"{berth.dev/topology: 'required:rack', berth.dev/slice: '2:kubernetes.io/hostname'}",
       {kRequired, "rack", 2, "node"}},
      {"{kueue.x-k8s.io/podset-required-topology: rack}", {kRequired, "rack"}},
      {"{kueue.x-k8s.io/podset-preferred-topology: rack}", {kPreferred, "rack"}},
      {"{kueue.x-k8s.io/podset-preferred-topology: rack, kueue.x-k8s.io/podset-required-topology: block}",
       {kRequired, "block"}},
      {"{kueue.x-k8s.io/podset-required-topology: block, kueue.x-k8s.io/podset-slice-required-topology: rack, "
       "kueue.x-k8s.io/podset-slice-size: '4'}",
       {kRequired, "block", 4, "rack"}},
      {"{kueue.x-k8s.io/podset-required-topology: block, berth.dev/topology: 'preferred:rack'}", {kPreferred, "rack"}},
  };
  for (const Case& c : cases) {
    const ReadTopology found = read(c.annotations);
    EXPECT_EQ(found.topology, c.topology) << c.annotations;
    EXPECT_EQ(found.problem, "") << c.annotations;
  }
}

TEST(TopologyRequest, SaysWhatHasNoMeaning) {
  struct Case {
    const char* annotations;
    const char* problem;
  };
  const char* const kNoSlices = ": slices have a size and a level; write 8:LABEL, with a label of nodes";
  const Case cases[] = {
      {"{berth.dev/topology: rack}", "annotation berth.dev/topology: 'rack' is no topology; write required:LABEL or "},
      {"{berth.dev/topology: 'required:'}", "annotation berth.dev/topology: 'required:' is no topology; "},
      {"{berth.dev/topology: 'must:rack'}", "annotation berth.dev/topology: 'must:rack' is no topology; "},
      {"{berth.dev/slice: rack}", kNoSlices},
      {"{berth.dev/slice: '0:rack'}", kNoSlices},
      {"{berth.dev/slice: '8:'}", kNoSlices},
      {"{kueue.x-k8s.io/podset-slice-required-topology: rack}",
       "annotation kueue.x-k8s.io/podset-slice-size: slices have"},
  };
  for (const Case& c : cases) {
    EXPECT_NE(read(c.annotations).problem.find(c.problem), std::string::npos)
        << c.annotations << ": " << read(c.annotations).problem;
  }
}

}  // namespace
}  // namespace berth
