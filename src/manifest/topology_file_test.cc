// What files say of where nodes are, Slurm's and our own, and what is wrong with them.
#include "manifest/topology_file.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "manifest/host_list.h"

namespace berth::topology_file_test {

using Hosts = std::vector<std::string>;

std::string complaint_about_hosts(std::string_view text) {
  const auto hosts = expand_host_list(text, {});
  return hosts ? "" : hosts.error().to_string();
}

TEST(HostList, IsExpandedAsSlurmDoes) {
  struct Case {
    std::string_view text;
    Hosts hosts;
  };
  const Case cases[] = {
      {"login", {"login"}},
      {"n[1-3]", {"n1", "n2", "n3"}},
      {"n[3,1]", {"n3", "n1"}},
      {"n[08-10]", {"n08", "n09", "n10"}},
      {"n[8-10]", {"n8", "n9", "n10"}},
      {"n[1-2],m,k[7]", {"n1", "n2", "m", "k7"}},
      {"r[1-2]n[1-2]-ib", {"r1n1-ib", "r1n2-ib", "r2n1-ib", "r2n2-ib"}},
  };
  for (const Case& each : cases) {
    const auto hosts = expand_host_list(each.text, {});
    ASSERT_TRUE(hosts) << each.text << ": " << hosts.error().to_string();
    EXPECT_EQ(*hosts, each.hosts) << each.text;
  }
}

TEST(HostList, SaysWhatIsWrongWithIt) {
  struct Case {
    std::string_view text;
    std::string_view says;
  };
  const Case cases[] = {
      {"", "no node is named"},
      {"n[1-2", "a bracket is not closed"},
      {"n[2-1]", "'2-1' is no number and no range"},
      {"n[]", "'' is no number and no range"},
      {"n[-1]", "'-1' is no number and no range"},
      {"n[1-x]", "'1-x' is no number and no range"},
      {"a,,b", "a name is missing before a comma"},
      {"a,", "a name is missing behind the last comma"},
      {"n[1-100001]", "more than 100000 nodes"},
      {"n[1-99999999999999999999]", "is no number and no range"},
      {"n[0-999]m[0-999]", "more than 100000 nodes"},
      {"n[0-99999],m", "more than 100000 nodes"},
  };
  for (const Case& each : cases) {
    EXPECT_TRUE(complaint_about_hosts(each.text).contains(each.says))
        << each.text << ": " << complaint_about_hosts(each.text);
  }
  EXPECT_TRUE(complaint_about_hosts(std::string(254, 'n')).contains("more than 253 characters"));
}

// "n1=z1/r1 n2=z1/-": where each node is.
std::string places_in(const TopologyFile& topology) {
  std::string text;
  for (const std::string& level : topology.levels) text += (text.empty() ? "" : ">") + level;
  text += ":";
  for (const PlacedNode& node : topology.nodes) {
    text += " " + node.name + "=";
    for (std::size_t i = 0; i < node.domains.size(); ++i) {
      text += (i > 0 ? "/" : "") + (node.domains[i].empty() ? std::string("-") : node.domains[i]);
    }
  }
  return text;
}

std::string places_of(std::string_view text, const std::vector<std::string>& levels = {}) {
  const auto topology = read_topology_file("t", text, levels);
  return topology ? places_in(*topology) : topology.error().to_string();
}

TEST(TopologyFile, OfOurOwnHasDomainsInDomains) {
  EXPECT_EQ(places_of("levels: [zone, rack]\n"
                      "domains:\n"
                      "  z1: {r1: \"n[1-2]\", r2: [n3, \"n[4-5]\"]}\n"
                      "  z2: {r3: m1}\n"),
            "zone>rack: n1=z1/r1 n2=z1/r1 n3=z1/r2 n4=z1/r2 n5=z1/r2 m1=z2/r3");
}

TEST(TopologyFile, OfSwitchesHasALevelForEachHeight) {
  // In any order, in any letters; a switch beside higher ones has nothing of the levels between.
  EXPECT_EQ(places_of("# the fabric\n"
                      "SwitchName=core Switches=spine,leaf3\n"
                      "SwitchName=leaf1 Nodes=n[1-2] LinkSpeed=100\r\n"
                      "switchname=leaf2 nodes=n3   # one more\n"
                      "SwitchName=spine Switches=leaf[1-2]\n"
                      "SwitchName=leaf3 Nodes=m1\n"),
            "switch-3>switch-2>switch-1: n1=core/spine/leaf1 n2=core/spine/leaf1 n3=core/spine/leaf2 m1=core/-/leaf3");
  EXPECT_EQ(places_of("SwitchName=s1 Nodes=n1\nSwitchName=top Switches=s1\n", {"spine", "leaf"}),
            "spine>leaf: n1=top/s1");
}

TEST(TopologyFile, OfBlocksHasALevelForEachSize) {
  EXPECT_EQ(
      places_of("BlockName=b1 Nodes=n[1-2]\nBlockName=b2 Nodes=n[3-4]\nBlockName=b3 Nodes=n[5-7]\nBlockSizes=2,4\n"),
      "block-4>block: n1=1/b1 n2=1/b1 n3=1/b2 n4=1/b2 n5=2/b3 n6=2/b3 n7=2/b3");
  EXPECT_EQ(places_of("BlockName=b1 Nodes=n1\n"), "block: n1=b1");
}

TEST(TopologyFile, SaysWhereWhatIsWrongWithIt) {
  struct Case {
    std::string_view text;
    std::string_view says;
  };
  const Case cases[] = {
      {"", "t: it is neither Slurm's topology.conf"},
      {"- 1\n", "t: it is neither Slurm's topology.conf"},
      {"levels: [zone]\n", "it has no levels, or no domains"},
      {"levels: [zone]\ndomains: {z1: n1}\nnodes: 1\n", "t:3: 'nodes' is no word here"},
      {"levels: [zone, rack]\ndomains:\n  z1: n1\n", "t:3: of the level rack there are domains by name"},
      {"levels: [zone]\ndomains:\n  z1: {r1: n1}\n", "t:3: nodes are a text"},
      {"levels: [zone]\ndomains:\n  z1: n[1\n", "t:3: 'n[1': a bracket is not closed"},
      {"levels: [zone]\ndomains: {z1: n1, z2: n1}\n", "node 'n1' is there twice"},
      {"levels: [zone, rack]\ndomains: {z1: {r1: n1}, z2: {r1: n2}}\n", "rack 'r1' is in two domains of wider levels"},
      {"levels: [zone, zone]\ndomains: {z1: {r1: n1}}\n", "the level 'zone' stands there twice"},
      {"levels: [a b]\ndomains: {z1: n1}\n", "'a b' is no key of a label"},
      {"levels: [zone]\ndomains: {\"z 1\": n1}\n", "'z 1' is no value of a label"},
      {"levels: [zone]\ndomains: {z1: N_1}\n", "'N_1' is no name of a node"},
      {"SwitchName=s1\n", "t:1: a switch has Nodes= or Switches="},
      {"SwitchName=s1 Nodes=n1 Switches=s2\n", "t:1: a switch has Nodes= or Switches="},
      {"SwitchName=s[1-2] Nodes=n1\n", "t:1: several switches"},
      {"SwitchName=s1 Nodes=n1\nSwitchName=s1 Nodes=n2\n", "t:2: switch 's1' has a line already"},
      {"SwitchName=s1 Switches=s2\n", "t:1: switch 's2' has no line of its own"},
      {"SwitchName=s1 Nodes=n1\nSwitchName=a Switches=s1\nSwitchName=b Switches=s1\n",
       "t:3: switch 's1' is below 'a' already"},
      {"SwitchName=s1 Switches=s2\nSwitchName=s2 Switches=s1\n", "t:1: switch 's1' is below itself"},
      {"SwitchName=s1 Node=n1\n", "did you mean nodes=?"},
      {"SwitchName=s1 Nodes=\n", "t:1: 'Nodes=' has no value"},
      {"SwitchName=s1 Nodes=n1 Nodes=n2\n", "t:1: 'Nodes' stands there twice"},
      {"SwitchName=s1 Nodes=n1\nInclude other\n", "t:2: 'Include' is no word"},
      {"SwitchName=s1 Nodes=n1\nNodes=n2\n", "t:2: a line begins with SwitchName="},
      {"SwitchName=s1 Nodes=n1\nBlockName=b Nodes=n2\n", "it has switches and blocks"},
      {"BlockName=b1\n", "t:1: a block has Nodes="},
      {"BlockName=b1 Nodes=n1\nBlockSizes=2\n", "t:1: block 'b1' has 1 nodes, and BlockSizes says 2"},
      {"BlockSizes=2,3\nBlockName=b1 Nodes=n[1-2]\n", "t:1: BlockSizes='2,3'"},
      {"BlockSizes=2,12\nBlockName=b1 Nodes=n[1-2]\n", "t:1: BlockSizes='2,12'"},
      {"BlockSizes=0\nBlockName=b1 Nodes=n[1-2]\n", "t:1: BlockSizes='0'"},
      {"BlockSizes=1,\nBlockName=b1 Nodes=n[1-2]\n", "t:1: BlockSizes='1,'"},
      {"BlockSizes=1\nBlockSizes=1\nBlockName=b1 Nodes=n[1-2]\n", "t:2: BlockSizes= stands there twice"},
  };
  for (const Case& each : cases) {
    EXPECT_TRUE(places_of(each.text).contains(each.says)) << each.text << "\nfound: " << places_of(each.text);
  }
  EXPECT_TRUE(
      places_of("SwitchName=s1 Nodes=n1\n", {"a", "b"}).contains("it has 1 levels (switch-1), and 2 were named"));
  std::string tower = "SwitchName=s0 Nodes=n1\n";
  for (int i = 1; i < 17; ++i) {
    tower += "SwitchName=s" + std::to_string(i) + " Switches=s" + std::to_string(i - 1) + "\n";
  }
  EXPECT_TRUE(places_of(tower).contains("more than 16 switches above each other")) << places_of(tower);
}

}  // namespace berth::topology_file_test
