// What Kubernetes documents of pod affinity, topologySpreadConstraints and host ports, from the manifest to the model.
#include "manifest/pod_neighbours.h"

#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "manifest/yaml.h"

namespace berth::pod_neighbours_test {

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

// What Kubernetes documents of namespaces and namespaceSelector: the union of both; neither is the pod's own.
TEST(PodNeighbours, TermsAreOfTheNamespacesThatAreNamedOrSelected) {
  const std::map<std::string, Value> namespaces = {
      {"ns", Value::map_of({{"team", "a"}})},
      {"other", Value::map_of({{"team", "b"}, {"old", "yes"}})},
      {"third", Value()},
  };
  using Names = std::vector<std::string>;
  struct Case {
    const char* term;
    Names of;  // of the four pods' namespaces, those whose pods are selected
  };
  const Case cases[] = {
      {"labelSelector: {}", {"ns"}},
      {"labelSelector: {}, namespaces: [third]", {"third"}},
      {"labelSelector: {}, namespaceSelector: null", {"ns"}},
      {"labelSelector: {}, namespaceSelector: {}", {"ns", "other", "third", "unknown"}},
      {"labelSelector: {}, namespaceSelector: {}, namespaces: [ns]", {"ns", "other", "third", "unknown"}},
      {"labelSelector: {}, namespaceSelector: {matchLabels: {}}", {"ns", "other", "third", "unknown"}},
      {"labelSelector: {}, namespaceSelector: {matchLabels: {team: b}}", {"other"}},
      {"labelSelector: {}, namespaceSelector: {matchLabels: {team: b}}, namespaces: [third]", {"other", "third"}},
      {"labelSelector: {}, namespaceSelector: {matchLabels: {team: b}}, namespaces: [other]", {"other"}},
      {"labelSelector: {}, namespaceSelector: {matchLabels: {team: c}}", {}},
      {"labelSelector: {}, namespaceSelector: {matchLabels: {team: c}}, namespaces: [unknown]", {"unknown"}},
      {"labelSelector: {}, namespaceSelector: {matchExpressions: [{key: old, operator: DoesNotExist}]}",
       {"ns", "third"}},
      {"labelSelector: {}, namespaceSelector: {matchExpressions: [{key: team, operator: NotIn, values: [a]}]}",
       {"other", "third"}},
      {"namespaceSelector: {matchLabels: {team: b}}", {}},
  };
  for (const char* const kind : {"podAffinity", "podAntiAffinity"}) {
    for (const Case& c : cases) {
      const ReadNeighbours found = read(required(std::string("{topologyKey: rack, ") + c.term + "}", kind));
      EXPECT_EQ(found.problem, "") << c.term;
      bool too_many = true;
      const Neighbours known = with_namespaces(found.neighbours, found.by_label, namespaces, too_many);
      EXPECT_FALSE(too_many);
      const std::vector<PodTerm>& terms = kind == std::string("podAffinity") ? known.near : known.apart;
      Names of;
      for (const char* const name : {"ns", "other", "third", "unknown"}) {
        if (selects(terms.at(0).pods, web("web", name))) of.emplace_back(name);
      }
      EXPECT_EQ(of, c.of) << c.term;
      EXPECT_EQ(with_namespaces(found.neighbours, found.by_label, {}, too_many).near.size(),
                found.neighbours.near.size());
    }
  }
}

TEST(PodNeighbours, PreferredTermsSelectNamespacesToo) {
  const std::string term =
      "{weight: 7, podAffinityTerm: {topologyKey: rack, labelSelector: {}, namespaceSelector: {matchLabels: {a: b}}}}";
  const ReadNeighbours found =
      read("{affinity: {podAntiAffinity: {preferredDuringSchedulingIgnoredDuringExecution: [" + term + "]}}}");
  bool too_many = true;
  const Neighbours known =
      with_namespaces(found.neighbours, found.by_label, {{"other", Value::map_of({{"a", "b"}})}}, too_many);
  EXPECT_TRUE(selects(known.preferred.at(0).term.pods, web("web", "other")));
  EXPECT_FALSE(selects(known.preferred.at(0).term.pods, web()));
}

TEST(PodNeighbours, MoreNamespacesThanTheBoundAreAll) {
  const ReadNeighbours found = read(required(
      "{topologyKey: rack, labelSelector: {}, namespaces: [named], namespaceSelector: {matchLabels: {a: b}}}"));
  std::map<std::string, Value> namespaces;
  for (std::size_t i = 0; i <= kNamespacesMax; ++i) {
    bool too_many = true;
    const Neighbours known = with_namespaces(found.neighbours, found.by_label, namespaces, too_many);
    EXPECT_FALSE(too_many) << i;
    EXPECT_FALSE(selects(known.near.at(0).pods, web("web", "unknown")));
    namespaces["n" + std::to_string(i)] = Value::map_of({{"a", "b"}});
  }
  bool too_many = false;
  const Neighbours known = with_namespaces(found.neighbours, found.by_label, namespaces, too_many);
  EXPECT_TRUE(too_many);
  EXPECT_TRUE(selects(known.near.at(0).pods, web("web", "unknown")));
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
      {required("{topologyKey: rack, labelSelector: {}, namespaceSelector: {matchExpressions: [{key: team, operator: "
                "Like, values: [a]}]}}"),
       "a pod affinity has a namespaceSelector that selects nothing: "
       "matchExpressions[0].operator: 'Like' is not a valid label selector operator; write In, NotIn, Exists or "
       "DoesNotExist"},
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

}  // namespace berth::pod_neighbours_test
