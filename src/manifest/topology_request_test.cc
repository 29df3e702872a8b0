#include "manifest/topology_request.h"

#include <gtest/gtest.h>

#include <string>

#include "manifest/yaml.h"

namespace berth::topology_request_test {

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
      {"{kueue.x-k8s.io/podset-unconstrained-topology: 'true'}", {}},
      {"{kueue.x-k8s.io/podset-unconstrained-topology: 'true', berth.dev/topology: 'required:rack'}",
       {kRequired, "rack"}},
      {"{kueue.x-k8s.io/podset-unconstrained-topology: 'true', berth.dev/slice: '2:rack'}", {kAnywhere, "", 2, "rack"}},
      {"{kueue.x-k8s.io/podset-required-topology: block, kueue.x-k8s.io/podset-slice-required-topology: rack, "
       "kueue.x-k8s.io/podset-slice-size: '4'}",
       {kRequired, "block", 4, "rack"}},
      {"{volcano.sh/network-topology-mode: hard, volcano.sh/network-topology-highest-tier: '2'}",
       {kRequired, "hypernode-tier-2"}},
      {"{volcano.sh/network-topology-mode: soft, volcano.sh/network-topology-highest-tier: '1'}",
       {kPreferred, "hypernode-tier-1"}},
      {"{volcano.sh/network-topology-mode: soft}", {kPreferred, "hypernode-tier-1"}},
      {"{volcano.sh/network-topology-highest-tier: '3'}", {kRequired, "hypernode-tier-3"}},
      {"{volcano.sh/network-topology-mode: hard, volcano.sh/network-topology-highest-tier: '2', "
       "kueue.x-k8s.io/podset-required-topology: rack}",
       {kRequired, "rack"}},
      {"{kueue.x-k8s.io/podset-required-topology: block, berth.dev/topology: 'preferred:rack'}", {kPreferred, "rack"}},
  };
  for (const Case& c : cases) {
    const ReadTopology found = read(c.annotations);
    EXPECT_EQ(found.topology, c.topology) << c.annotations;
    EXPECT_TRUE(found.problems.empty()) << c.annotations;
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
      {"{kueue.x-k8s.io/podset-slice-size: '4'}", "annotation kueue.x-k8s.io/podset-slice-size: slices have"},
      {"{berth.dev/topology: 'required:no rack'}", "annotation berth.dev/topology: 'no rack' is no label; write one"},
      {"{kueue.x-k8s.io/podset-required-topology: ''}",
       "annotation kueue.x-k8s.io/podset-required-topology: '' is no label"},
      {"{kueue.x-k8s.io/podset-slice-required-topology: '/r', kueue.x-k8s.io/podset-slice-size: '4'}",
       "annotation kueue.x-k8s.io/podset-slice-required-topology: '/r' is no label"},
      {"{kueue.x-k8s.io/podset-preferred-topology: rack, kueue.x-k8s.io/podset-required-topology: block}",
       "annotation kueue.x-k8s.io/podset-preferred-topology: it stands beside "
       "kueue.x-k8s.io/podset-required-topology, and only one of them can hold; leave one out"},
      {"{kueue.x-k8s.io/podset-unconstrained-topology: 'true', kueue.x-k8s.io/podset-required-topology: block}",
       "annotation kueue.x-k8s.io/podset-unconstrained-topology: it stands beside "},
      {"{volcano.sh/network-topology-mode: tight, volcano.sh/network-topology-highest-tier: '2'}",
       "annotation volcano.sh/network-topology-mode: 'tight' is neither hard nor soft; write one of them"},
      {"{volcano.sh/network-topology-mode: hard, volcano.sh/network-topology-highest-tier: spine}",
       "annotation volcano.sh/network-topology-highest-tier: the highest tier that will do: "},
      {"{kueue.x-k8s.io/podset-slice-required-topology-constraints: '[{topology: rack, size: 4}]'}",
       "annotation kueue.x-k8s.io/podset-slice-required-topology-constraints: slices within slices are not followed; "
       "write one layer of them, as kueue.x-k8s.io/podset-slice-required-topology and "
       "kueue.x-k8s.io/podset-slice-size"},
      {"{kueue.x-k8s.io/podset-group-name: a/b}",
       "annotation kueue.x-k8s.io/podset-group-name: 'a/b' is no name; write one of letters"},
      {"{kueue.x-k8s.io/podset-unconstrained-topology: 'yes'}", "'yes' is neither true nor false; write true, or"},
  };
  for (const Case& c : cases) {
    const ReadTopology found = read(c.annotations);
    ASSERT_EQ(found.problems.size(), 1U) << c.annotations;
    EXPECT_NE(found.problems[0].to_string().find(c.problem), std::string::npos)
        << c.annotations << ": " << found.problems[0].to_string();
    EXPECT_TRUE(found.topology.asks_nothing() || found.problems[0].why.starts_with("it stands beside"))
        << c.annotations;
  }
  EXPECT_EQ(read("{berth.dev/topology: rack, berth.dev/slice: rack}").problems.size(), 2U);
}

}  // namespace berth::topology_request_test
