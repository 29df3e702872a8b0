// What a file of places changes of nodes' labels, and how that is told.
#include "client/node_places.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "manifest/json.h"
#include "manifest/yaml.h"

namespace berth::node_places_test {

Value node(const std::string& name, const std::string& labels) {
  return parse_yaml("metadata: {name: " + name + ", labels: " + labels + "}\n")->at(0);
}

TEST(NodePlaces, AreComparedWithTheLabelsThatNodesHave) {
  const auto topology = read_topology_file("t",
                                           "SwitchName=l1 Nodes=n[1-2]\nSwitchName=l2 Nodes=n[3,9]\n"
                                           "SwitchName=top Switches=l1,m1\nSwitchName=m1 Switches=l2\n",
                                           {"core", "spine", "leaf"});
  ASSERT_TRUE(topology) << topology.error().to_string();
  const NodePlaces places =
      compare_places(*topology, {node("n1", "{core: top, leaf: l1}"), node("n2", "{core: top, spine: old, leaf: l9}"),
                                 node("n3", "{}"), node("m7", "{core: top}")});
  EXPECT_EQ(places.as_they_are, 1U);
  EXPECT_EQ(places.not_there, std::vector<std::string>{"n9"});
  EXPECT_EQ(places.not_placed, std::vector<std::string>{"m7"});
  ASSERT_EQ(places.changes.size(), 2U);
  // Only what changes is written, and what it is not in is taken away.
  EXPECT_EQ(to_json(label_patch(places.changes[0])), R"({"metadata":{"labels":{"spine":null,"leaf":"l1"}}})");
  EXPECT_EQ(places_to_text(places, OutputFormat::kTable),
            "NODE   core       spine      leaf\n"
            "n2     top        old -> -   l9 -> l1\n"
            "n3     - -> top   - -> m1    - -> l2\n");
  EXPECT_EQ(notes_on(places),
            (std::vector<std::string>{"1 node already is as in the file.",
                                      "1 node of the file is not in the cluster, and left out: n9.",
                                      "1 node of the cluster is not in the file, and left as it is: m7."}));
  const std::string json = places_to_text(places, OutputFormat::kJson);
  EXPECT_NE(json.find("\"notInTheFile\""), std::string::npos) << json;
}

TEST(NodePlaces, NameAFewOfManyNodes) {
  const auto topology = read_topology_file("t", "SwitchName=l1 Nodes=n[1-9]\n");
  const NodePlaces places = compare_places(*topology, {});
  EXPECT_EQ(notes_on(places),
            std::vector<std::string>{
                "9 nodes of the file are not in the cluster, and left out: n1, n2, n3, n4, n5 and 4 more."});
}

}  // namespace berth::node_places_test
