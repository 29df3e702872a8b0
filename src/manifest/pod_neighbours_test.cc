// What Kubernetes documents of pod affinity, topologySpreadConstraints and host ports, from the manifest to the model.
#include "manifest/pod_neighbours.h"

#include <gtest/gtest.h>

#include <string>

#include "manifest/yaml.h"

namespace berth {
namespace {

ReadNeighbours read(const std::string& spec) {
  const auto documents = parse_yaml("{metadata: {namespace: ns, labels: {tier: t, app: web}}, spec: " + spec + "}");
  EXPECT_TRUE(documents && documents->size() == 1) << spec;
  return read_neighbours(documents->at(0));
}

std::string required(const std::string& term, const std::string& kind = "podAffinity") {
  return "{affinity: {" + kind + ": {requiredDuringSchedulingIgnoredDuringExecution: [" + term + "]}}}";
}

Neighbours web(const char* app = "web", const char* name_space = "ns") {
  return {.name_space = name_space, .labels = {{"app", app}}};
}

TEST(PodNeighbours, AreInANamespaceAndHaveLabels) {
  const Neighbours own = read("{}").neighbours;
  EXPECT_EQ(own.name_space, "ns");
  EXPECT_EQ(own.labels, (Labels{{"app", "web"}, {"tier", "t"}}));
  EXPECT_TRUE(own.asks_nothing());
}

TEST(PodNeighbours, AffinityTermsSelectAsInKubernetes) {
  struct Case {
    const char* term;
    Neighbours pod;
    bool selected;
  };
  const Case cases[] = {
      {"labelSelector: {matchLabels: {app: web}}", web(), true},
      {"labelSelector: {matchLabels: {app: web}}", web("db"), false},
      {"labelSelector: {matchLabels: {app: web}}", web("web", "other"), false},
      {"labelSelector: {matchExpressions: [{key: app, operator: In, values: [db, web]}]}", web(), true},
      {"labelSelector: {matchExpressions: [{key: app, operator: NotIn, values: [db]}]}", web(), true},
      {"labelSelector: {matchExpressions: [{key: app, operator: NotIn, values: [web]}]}", web(), false},
      {"labelSelector: {matchExpressions: [{key: row, operator: NotIn, values: [a]}]}", web(), true},
      {"labelSelector: {matchExpressions: [{key: app, operator: Exists}]}", web(), true},
      {"labelSelector: {matchExpressions: [{key: app, operator: DoesNotExist}]}", web(), false},
      {"labelSelector: {}", web(), true},
      {"namespaces: []", web(), false},  // no selector selects nothing
      {"labelSelector: {}, namespaces: [other]", web("web", "other"), true},
      {"labelSelector: {}, namespaces: [other]", web(), false},
      {"labelSelector: {}, namespaceSelector: {}", web("web", "other"), true},
      {"labelSelector: {}, matchLabelKeys: [app]", web(), true},
      {"labelSelector: {}, matchLabelKeys: [app]", web("db"), false},
      {"labelSelector: {}, matchLabelKeys: [row]", web("db"), true},
      {"labelSelector: {}, mismatchLabelKeys: [app]", web(), false},
      {"labelSelector: {}, mismatchLabelKeys: [app]", web("db"), true},
  };
  for (const Case& c : cases) {
    const ReadNeighbours found = read(required(std::string("{topologyKey: rack, ") + c.term + "}"));
    EXPECT_EQ(found.problem, "") << c.term;
    ASSERT_EQ(found.neighbours.near.size(), 1u) << c.term;
    EXPECT_EQ(found.neighbours.near.front().level, "rack");
    EXPECT_EQ(selects(found.neighbours.near.front().pods, c.pod), c.selected) << c.term;
  }
}

TEST(PodNeighbours, PreferencesHaveWeights) {
  const std::string term = "{weight: 7, podAffinityTerm: {topologyKey: kubernetes.io/hostname, labelSelector: {}}}";
  const std::string kind = ": {preferredDuringSchedulingIgnoredDuringExecution: [" + term + "]}";
  const Neighbours own = read("{affinity: {podAffinity" + kind + ", podAntiAffinity" + kind + "}}").neighbours;
  ASSERT_EQ(own.preferred.size(), 2u);
  EXPECT_EQ(own.preferred[0].weight, 7);
  EXPECT_EQ(own.preferred[1].weight, -7);
  EXPECT_EQ(own.preferred[0].term.level, "node");
  EXPECT_TRUE(own.near.empty() && own.apart.empty());
  EXPECT_EQ(read(required("{topologyKey: zone, labelSelector: {}}", "podAntiAffinity")).neighbours.apart.size(), 1u);
}

TEST(PodNeighbours, SpreadConstraintsHaveTheirDefaults) {
  const auto spread = [](const std::string& more) {
    const Neighbours own =
        read("{topologySpreadConstraints: [{topologyKey: zone, labelSelector: {matchLabels: {app: web}}, " + more +
             "}]}")
            .neighbours;
    EXPECT_EQ(own.spreads.size(), 1u);
    return own.spreads.front();
  };
  const PodSpread plain = spread("maxSkew: 1, whenUnsatisfiable: DoNotSchedule");
  EXPECT_EQ(plain, (PodSpread{.term = {{{"ns"}, {{"app", LabelOperator::kIn, {"web"}}}}, "zone"}}));
  const PodSpread other = spread(
      "maxSkew: 3, whenUnsatisfiable: ScheduleAnyway, minDomains: 2, nodeAffinityPolicy: Ignore, "
      "nodeTaintsPolicy: Honor, matchLabelKeys: [tier]");
  EXPECT_EQ(other.skew_max, 3);
  EXPECT_EQ(other.domains_min, 2);
  EXPECT_FALSE(other.required);
  EXPECT_FALSE(other.heeds_selection);
  EXPECT_TRUE(other.heeds_taints);
  EXPECT_EQ(other.term.pods.labels.back(), (LabelRequirement{"tier", LabelOperator::kIn, {"t"}}));
}

TEST(PodNeighbours, PortsAreThoseOfTheNode) {
  const auto ports = [](const std::string& spec) { return read(spec).neighbours.ports; };
  EXPECT_EQ(ports("{containers: [{ports: [{containerPort: 80}]}]}"), std::vector<HostPort>());
  EXPECT_EQ(ports("{containers: [{ports: [{containerPort: 80, hostPort: 8080, hostIP: 0.0.0.0}]}]}"),
            (std::vector<HostPort>{{.port = 8080}}));
  EXPECT_EQ(ports("{hostNetwork: true, containers: [{ports: [{containerPort: 80, protocol: UDP}]}]}"),
            (std::vector<HostPort>{{.port = 80, .protocol = Protocol::kUdp}}));
  EXPECT_EQ(ports("{initContainers: [{ports: [{hostPort: 1}]}, {restartPolicy: Always, ports: [{hostPort: 2, hostIP: "
                  "10.0.0.1}]}]}"),
            (std::vector<HostPort>{{.port = 2, .address = "10.0.0.1"}}));
}

TEST(PodNeighbours, SayWhatIsNotFollowed) {
  struct Case {
    std::string spec;
    const char* problem;
  };
  const Case cases[] = {
      {required("{topologyKey: rack, labelSelector: {}, namespaceSelector: {matchLabels: {team: a}}}"),
       "a pod affinity selects namespaces by their labels, which is not followed yet; name them in namespaces, or "
       "write "
       "namespaceSelector: {} for all"},
      {required("{labelSelector: {}}"), "a pod affinity has no topologyKey; write a label of nodes, such as rack"},
      {"{affinity: {podAffinity: {preferredDuringSchedulingIgnoredDuringExecution: [{podAffinityTerm: {topologyKey: "
       "r}}]}}}",
       "a preferred pod affinity has no weight from 1 to 100; write one, such as weight: 10"},
      {"{topologySpreadConstraints: [{topologyKey: z, maxSkew: 0, whenUnsatisfiable: DoNotSchedule}]}",
       "a topologySpreadConstraint has no maxSkew from 1 to 1,000,000; write one, such as maxSkew: 1"},
      {"{topologySpreadConstraints: [{topologyKey: z, maxSkew: 1}]}",
       "a topologySpreadConstraint says '' in whenUnsatisfiable; write DoNotSchedule or ScheduleAnyway"},
      {"{containers: [{ports: [{hostPort: 70000}]}]}",
       "a hostPort is no port; write 1 to 65535, and TCP, UDP or SCTP as its protocol"},
  };
  for (const Case& c : cases) EXPECT_EQ(read(c.spec).problem, c.problem) << c.spec;
}

}  // namespace
}  // namespace berth
