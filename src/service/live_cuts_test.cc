// Nodes of a live cluster whose GPUs are cut anew, all at once: what is asked of whoever cuts them, and what becomes of it, over restarts too.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "manifest/given_gpus.h"
#include "manifest/node_cut.h"
#include "manifest/yaml.h"
#include "service/live_cluster.h"
#include "state/invariants.h"

namespace berth::live_cuts_test {

// A Node of two H100 that are cut into two 3g.40gb each; what is written on it is, as an API server would.
class CutNode {
 public:
  explicit CutNode(Cluster& cluster) : cluster_(cluster) {
    object_ = parse_yaml(
                  "{apiVersion: v1, kind: Node, metadata: {name: n1, uid: u1, labels: {berth.dev/gpu-recut: 1m, "
                  "nvidia.com/gpu.count: '2', nvidia.com/gpu.product: H100}, annotations: {berth.dev/mig-layouts: "
                  "'all-1g.10gb, all-3g.40gb, mixed=3g.40gb:2g.20gb:1g.10gb:1g.10gb'}}, status: {allocatable: {cpu: "
                  "'64', memory: 512Gi, nvidia.com/mig-3g.40gb: '4'}, conditions: [{type: Ready, status: 'True'}]}}")
                  ->front();
    tell();
  }

  void tell() { cluster_.add(read_node(object_)); }
  Round decide(std::int64_t seconds_now) {
    Round round = cluster_.decide(seconds_now);
    for (const NodeCutNews& cut : round.cuts) write(*parse_json(cut_call({cut.node, cut.record}).body));
    if (!round.cuts.empty()) tell();
    for (const WaitingReason& each : round.reasons) cluster_.engine().note_told(each.pod.uid);
    return round;
  }
  // What whoever cuts it says, and what it offers of one profile from then on.
  void answer(std::string_view state, const std::string& resource, const std::string& amount) {
    label("nvidia.com/mig.config.state", std::string(state));
    offer(resource, amount);
  }
  void offer(const std::string& resource, const std::string& amount) {
    Value& allocatable = object_.at("status").at("allocatable");
    for (const char* const each : {"nvidia.com/mig-3g.40gb", "nvidia.com/mig-1g.10gb"}) allocatable.erase(each);
    if (!resource.empty()) allocatable.set(resource, amount);
    tell();
  }
  void label(const std::string& key, const std::string& value) { object_.at("metadata").at("labels").set(key, value); }
  std::string says(const std::string& label) const { return std::string(object_["metadata"]["labels"][label].text()); }
  void forgive() {
    object_.at("metadata").at("annotations").erase(kCutAnnotation);
    tell();
  }

 private:
  void write(const Value& patch) {
    for (const char* const part : {"labels", "annotations"}) {
      for (const Value::Member& each : patch["metadata"][part].members())
        object_.at("metadata").at(part).set(each.key, each.value);
    }
  }

  Cluster& cluster_;
  Value object_;
};

constexpr const char* kState = "nvidia.com/mig.config.state";
constexpr const char* kSmall = "nvidia.com/mig-1g.10gb";
constexpr const char* kLarge = "nvidia.com/mig-3g.40gb";

std::string news_of(const Round& round) {
  std::string text;
  for (const NodeCutNews& each : round.cuts) text += each.reason + ": " + each.text + "\n";
  return text;
}

TEST(LiveCuts, WhoWaitsHasItsNodeCutAndBeginsWhenItOffersThat) {
  Cluster cluster;
  CutNode node(cluster);
  cluster.set(slice("a", "1g.10gb"));
  const Round asked = node.decide(2);
  EXPECT_TRUE(asked.bindings.empty());
  EXPECT_EQ(news_of(asked), "Recutting: its GPUs are to be cut into all-1g.10gb\n");
  EXPECT_EQ(node.says("nvidia.com/mig.config"), "all-1g.10gb");
  EXPECT_EQ(node.says(kState), "pending");
  EXPECT_EQ(reason_of(asked, "a"),
            "SliceGeometry: it has its room: all GPUs of n1 are being cut anew for it, which takes 1m; then it "
            "starts");
  // What it offers comes and goes; the label alone is not enough.
  node.offer("", "");
  EXPECT_TRUE(node.decide(30).bindings.empty());
  node.answer("success", "", "");
  EXPECT_TRUE(node.decide(31).bindings.empty());
  node.offer(kSmall, "7");
  EXPECT_TRUE(node.decide(32).bindings.empty()) << "of one GPU they are not there yet";
  node.offer(kSmall, "14");
  const Round done = node.decide(33);
  EXPECT_EQ(names_of(done), std::set<std::string>{"a"});
  EXPECT_EQ(news_of(done), "Recut: its GPUs have been cut into all-1g.10gb\n");
  // It rests, for who asks what it is not, and for another scheduler too.
  cluster.set(slice("large", "3g.40gb", 3000));
  cluster.set(slice("b", "1g.10gb", 4000));
  EXPECT_EQ(names_of(node.decide(34)), std::set<std::string>{"b"});
  cluster.gone("a");
  cluster.gone("b");
  cluster.begin_anew();
  EXPECT_EQ(news_of(node.decide(632)), "");
  EXPECT_EQ(news_of(node.decide(633)), "Recutting: its GPUs are to be cut into all-3g.40gb\n");
  EXPECT_EQ(violations(cluster.engine().state()), std::vector<std::string>());
}

TEST(LiveCuts, NothingIsCutWhileSomebodyIsThere) {
  Cluster cluster;
  CutNode node(cluster);
  cluster.set(slice("large", "3g.40gb"));
  EXPECT_EQ(names_of(node.decide(1)), std::set<std::string>{"large"});
  cluster.set(slice("a", "1g.10gb"));
  const Round waits = node.decide(2);
  EXPECT_EQ(news_of(waits), "");
  EXPECT_NE(reason_of(waits, "a").find("2 GPUs are cut anew only while nobody has a slice of the same node"),
            std::string::npos)
      << reason_of(waits, "a");
  // Nor by a scheduler that finds it.
  cluster.begin_anew();
  EXPECT_EQ(news_of(node.decide(3)), "");
  cluster.gone("large");
  EXPECT_EQ(news_of(node.decide(4)), "Recutting: its GPUs are to be cut into all-1g.10gb\n");
}

TEST(LiveCuts, AnotherSchedulerGoesOnWithACut) {
  Cluster cluster;
  CutNode node(cluster);
  cluster.set(slice("a", "1g.10gb"));
  node.decide(2);
  node.offer("", "");
  cluster.begin_anew();
  const Round again = node.decide(30);
  EXPECT_EQ(news_of(again), "") << "it is asked for once";
  EXPECT_TRUE(again.bindings.empty());
  EXPECT_EQ(reason_of(again, "a"),
            "SliceGeometry: it has its room: all GPUs of n1 are being cut anew for it, which takes 1m; then it "
            "starts");
  node.answer("success", kSmall, "14");
  EXPECT_EQ(names_of(node.decide(31)), std::set<std::string>{"a"});
  EXPECT_EQ(violations(cluster.engine().state()), std::vector<std::string>());
}

TEST(LiveCuts, ACutThatFailsIsToldAndTriedAgainLater) {
  Cluster cluster;
  CutNode node(cluster);
  cluster.set(slice("a", "1g.10gb"));
  node.decide(0);
  node.answer("failed", kLarge, "4");
  const Round failed = node.decide(60);
  EXPECT_NE(news_of(failed).find("RecutFailed: its GPUs could not be cut into all-1g.10gb (label "
                                 "nvidia.com/mig.config.state says failed); they are left as they are until "
                                 "1970-01-01T00:11:00Z"),
            std::string::npos)
      << news_of(failed);
  EXPECT_NE(reason_of(failed, "a")
                .find("n1 could not be cut into all-1g.10gb (label nvidia.com/mig.config.state says "
                      "failed), and is tried again after 1970-01-01T00:11:00Z"),
            std::string::npos)
      << reason_of(failed, "a");
  // What is there is given meanwhile, also by another scheduler, which waits as long.
  cluster.begin_anew();
  cluster.set(slice("large", "3g.40gb"));
  EXPECT_EQ(names_of(node.decide(61)), std::set<std::string>{"large"});
  cluster.gone("large");
  EXPECT_EQ(news_of(node.decide(659)), "");
  EXPECT_EQ(news_of(node.decide(660)), "Recutting: its GPUs are to be cut into all-1g.10gb\n");
  EXPECT_EQ(node.says(kState), "pending");
  // The second time in a row it is left alone for twice as long.
  node.answer("failed", kLarge, "4");
  EXPECT_NE(news_of(node.decide(700)).find("until 1970-01-01T00:31:40Z"), std::string::npos);
  // Who takes the record away has it tried at once.
  node.forgive();
  EXPECT_EQ(news_of(node.decide(701)), "Recutting: its GPUs are to be cut into all-1g.10gb\n");
  EXPECT_EQ(violations(cluster.engine().state()), std::vector<std::string>());
}

TEST(LiveCuts, ACutThatNobodyAnswersHasADeadline) {
  Cluster cluster;
  CutNode node(cluster);
  cluster.set(slice("a", "1g.10gb"));
  const Round asked = node.decide(0);
  ASSERT_TRUE(asked.again_at);
  EXPECT_EQ(*asked.again_at, Time{300'000});
  EXPECT_EQ(news_of(node.decide(299)), "");
  const Round failed = node.decide(300);
  EXPECT_NE(news_of(failed).find("it was not done within 5m: label nvidia.com/mig.config.state says pending, and the "
                                 "node offers 3g.40gb:3g.40gb of each GPU"),
            std::string::npos)
      << news_of(failed);
  // It is done after all: then it is so.
  node.answer("success", kSmall, "14");
  EXPECT_EQ(names_of(node.decide(400)), std::set<std::string>{"a"});
  EXPECT_EQ(violations(cluster.engine().state()), std::vector<std::string>());
}

TEST(LiveCuts, WhatIsCutInHalfTakesNobody) {
  Cluster cluster;
  CutNode node(cluster);
  cluster.set(slice("a", "1g.10gb"));
  node.decide(0);
  node.offer(kSmall, "7");
  node.answer("failed", kSmall, "7");
  EXPECT_NE(news_of(node.decide(60)).find("RecutFailed"), std::string::npos);
  cluster.set(slice("large", "3g.40gb"));
  EXPECT_TRUE(node.decide(61).bindings.empty());
  EXPECT_TRUE(node.decide(62).bindings.empty());
  node.offer(kLarge, "4");
  EXPECT_EQ(names_of(node.decide(63)), std::set<std::string>{"large"});
  EXPECT_EQ(violations(cluster.engine().state()), std::vector<std::string>());
}

}  // namespace berth::live_cuts_test
