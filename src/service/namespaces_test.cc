// Pods that select namespaces by their labels, in a live engine.
#include "service/namespaces.h"

#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <set>
#include <string>

#include "manifest/yaml.h"
#include "service/live_facts.h"

namespace berth::namespaces_test {

using Names = std::set<std::string>;

Value name_space(const std::string& name, const std::string& labels) {
  return parse_yaml("{metadata: {name: " + name + ", labels: " + labels + "}}").value().at(0);
}

// A pod of a namespace, which asks so of the pods around it, as the API server has it.
PodFacts pod_of(const std::string& name_space, const std::string& name, const std::string& affinity = "{}") {
  const std::string yaml = "{metadata: {name: " + name + ", uid: uid-" + name + ", namespace: " + name_space +
                           ", creationTimestamp: \"2026-11-21T08:00:00Z\", labels: {app: " + name +
                           "}}, spec: {containers: [{name: c}], affinity: " + affinity + "}}";
  return read_pod(parse_yaml(yaml).value().at(0));
}

std::string apart_in(const std::string& namespaces) {
  return "{podAntiAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [{topologyKey: kubernetes.io/hostname, "
         "labelSelector: {}, " +
         namespaces + "}]}}";
}

class Cluster {
 public:
  Cluster() { begin_anew(); }

  // Another scheduler.
  void begin_anew() {
    namespaces_.reset();
    groups_.reset();
    others_.reset();
    engine_ = std::make_unique<LiveEngine>(Seed{1});
    others_ = std::make_unique<OtherQueues>(*engine_);
    groups_ = std::make_unique<PodGroups>(*others_);
    namespaces_ = std::make_unique<Namespaces>(*groups_);
    engine_->set_node(node("n1", 0));
    QueueFacts queue;
    queue.name = std::string(kDefaultQueue);
    engine_->set_queue(queue);
    for (const auto& [name, object] : objects_) namespaces_->set(object);
    for (const auto& [uid, pod] : pods_) namespaces_->set_pod(pod);
  }
  void set(const Value& object) {
    objects_[std::string(object["metadata"]["name"].text())] = object;
    namespaces_->set(object);
  }
  void set(const PodFacts& pod) {
    pods_[pod.uid] = pod;
    namespaces_->set_pod(pod);
  }
  void gone(const std::string& name) {
    pods_.erase("uid-" + name);
    namespaces_->remove_pod("uid-" + name);
  }
  void remove_namespace(const std::string& name) {
    objects_.erase(name);
    namespaces_->remove(name);
  }
  Round decide(std::int64_t seconds_now) {
    namespaces_->settle();
    groups_->settle();
    others_->settle();
    const Time now{Time{1'795'000'000'000}.ms + seconds_now * 1000};
    Round round = engine_->decide(now);
    for (const Binding& binding : round.bindings) set(bound(pods_.at(binding.pod.uid), binding, now));
    return round;
  }
  std::uint64_t lives() const { return engine_->state().revision(); }

 private:
  std::unique_ptr<LiveEngine> engine_;
  std::unique_ptr<OtherQueues> others_;
  std::unique_ptr<PodGroups> groups_;
  std::unique_ptr<Namespaces> namespaces_;
  std::map<std::string, Value> objects_;
  std::map<std::string, PodFacts> pods_;
};

TEST(Namespaces, ThatAPodSelectsAreThoseThatHaveTheLabelsNow) {
  Cluster cluster;
  cluster.set(name_space("red", "{team: a}"));
  cluster.set(name_space("blue", "{team: b}"));
  cluster.set(pod_of("red", "there"));
  EXPECT_EQ(names_of(cluster.decide(1)), Names{"there"});
  cluster.set(pod_of("blue", "shy", apart_in("namespaceSelector: {matchLabels: {team: a}}")));
  const Round round = cluster.decide(2);
  EXPECT_EQ(names_of(round), Names());
  EXPECT_EQ(reason_of(round, "shy").substr(0, 9), "Affinity:");
  cluster.begin_anew();
  EXPECT_EQ(names_of(cluster.decide(3)), Names()) << "another scheduler reads it in the objects";
  cluster.set(name_space("red", "{team: c}"));
  EXPECT_EQ(names_of(cluster.decide(4)), Names{"shy"}) << "who is there is of another team now";
}

// The labels of a namespace decide also whom those keep away who run already.
TEST(Namespaces, WhoRunsKeepsThoseAwayWhoseNamespaceComesToBeSelected) {
  Cluster cluster;
  cluster.set(name_space("red", "{team: x}"));
  cluster.set(pod_of("blue", "shy", apart_in("namespaceSelector: {matchLabels: {team: a}}")));
  cluster.set(pod_of("red", "first"));
  EXPECT_EQ(names_of(cluster.decide(1)), (Names{"first", "shy"}));
  cluster.set(name_space("red", "{team: a}"));
  cluster.set(pod_of("red", "second"));
  EXPECT_EQ(names_of(cluster.decide(2)), Names());
  cluster.gone("shy");
  EXPECT_EQ(names_of(cluster.decide(3)), Names{"second"});
}

TEST(Namespaces, AreSelectedNoMoreWhenTheyAreGone) {
  Cluster cluster;
  cluster.set(name_space("red", "{team: a}"));
  cluster.set(pod_of("red", "there"));
  cluster.decide(1);
  cluster.set(pod_of("blue", "shy", apart_in("namespaceSelector: {matchLabels: {team: a}}")));
  EXPECT_EQ(names_of(cluster.decide(2)), Names());
  cluster.remove_namespace("red");
  EXPECT_EQ(names_of(cluster.decide(3)), Names{"shy"});
}

// A namespace that nobody selects otherwise than before changes nothing for the engine.
TEST(Namespaces, LabelsThatSelectTheSameAreNoNews) {
  Cluster cluster;
  cluster.set(name_space("red", "{team: a}"));
  cluster.set(pod_of("blue", "shy", apart_in("namespaceSelector: {matchLabels: {team: a}}")));
  cluster.decide(1);
  const std::uint64_t before = cluster.lives();
  cluster.set(name_space("red", "{team: a, mood: good}"));
  cluster.decide(1);
  EXPECT_EQ(cluster.lives(), before);
}

TEST(Namespaces, MoreThanTheBoundAreNotFollowed) {
  Cluster cluster;
  for (std::size_t i = 0; i <= kNamespacesMax; ++i) cluster.set(name_space("n" + std::to_string(i), "{team: a}"));
  cluster.set(pod_of("blue", "shy", apart_in("namespaceSelector: {matchLabels: {team: a}}")));
  EXPECT_EQ(reason_of(cluster.decide(1), "shy"),
            "NotFollowed: a pod affinity selects more than 1,000 namespaces by their labels; select fewer, or write "
            "namespaceSelector: {} for all");
}

}  // namespace berth::namespaces_test
