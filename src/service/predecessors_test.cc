// Whom pods of a live engine wait for.
#include "service/predecessors.h"

#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>

#include "manifest/yaml.h"
#include "service/live_facts.h"

namespace berth::predecessors_test {

using Names = std::set<std::string>;

Value object(const std::string& yaml) { return parse_yaml(yaml).value().at(0); }

// A pod that waits, as the API server has it, made by the Job of that name, if one is named.
PodFacts pod_of(const std::string& name, const std::string& annotations, const std::string& job = "") {
  const std::string owner =
      job.empty() ? ""
                  : ", ownerReferences: [{apiVersion: batch/v1, kind: Job, controller: true, name: " + job +
                        ", uid: uid-" + job + "}]";
  return read_pod(object("{metadata: {name: " + name + ", uid: uid-" + name +
                         ", namespace: ml, creationTimestamp: \"2027-01-15T08:00:00Z\", annotations: " + annotations +
                         owner + "}, spec: {containers: [{name: c}]}}"));
}
PodFacts at_stage(PodFacts pod, PodStage stage) {
  pod.stage = stage;
  pod.node = "n1";
  return pod;
}
Value job(const std::string& name, const std::string& status = "{}", const std::string& annotations = "{}") {
  return object("{metadata: {name: " + name + ", namespace: ml, uid: uid-" + name + ", annotations: " + annotations +
                "}, status: " + status + "}");
}
const std::string kComplete = "{succeeded: 1, conditions: [{type: Complete, status: 'True'}]}";
const std::string kFailed = "{failed: 1, conditions: [{type: Failed, status: 'True'}]}";

class Cluster {
 public:
  Cluster() { begin_anew(); }

  void begin_anew() {
    predecessors_.reset();
    namespaces_.reset();
    groups_.reset();
    others_.reset();
    engine_ = std::make_unique<LiveEngine>(Seed{1});
    others_ = std::make_unique<OtherQueues>(*engine_);
    groups_ = std::make_unique<PodGroups>(*others_);
    namespaces_ = std::make_unique<Namespaces>(*groups_);
    predecessors_ = std::make_unique<Predecessors>(*namespaces_);
    engine_->set_node(node("n1", 0));
    engine_->set_queue({.name = std::string(kDefaultQueue)});
    for (const auto& [name, each] : jobs_) predecessors_->set_job(each);
    for (const auto& [uid, each] : pods_) predecessors_->set_pod(each);
  }
  void set(const Value& job) {
    jobs_[std::string(job["metadata"]["name"].text())] = job;
    predecessors_->set_job(job);
  }
  void remove_job(const std::string& name) {
    predecessors_->remove_job(jobs_.at(name));
    jobs_.erase(name);
  }
  void set(const PodFacts& pod) {
    pods_[pod.uid] = pod;
    predecessors_->set_pod(pod);
  }
  void remove_pod(const std::string& name) {
    pods_.erase("uid-" + name);
    predecessors_->remove_pod("uid-" + name);
  }
  Round decide() {
    predecessors_->settle();
    namespaces_->settle();
    groups_->settle();
    others_->settle();
    const Round round = engine_->decide(Time{++now_s_ * 1000});
    for (const WaitingReason& reason : round.reasons) engine_->note_told(reason.pod.uid);
    for (const Binding& binding : round.bindings) set(bound(pods_.at(binding.pod.uid), binding, Time{now_s_ * 1000}));
    return round;
  }
  void pass(Duration time) { now_s_ += time.ms / 1000; }
  const Predecessors& predecessors() const { return *predecessors_; }

 private:
  std::int64_t now_s_ = 1'800'000'000;
  std::map<std::string, Value> jobs_;
  std::map<std::string, PodFacts> pods_;
  std::unique_ptr<LiveEngine> engine_;
  std::unique_ptr<OtherQueues> others_;
  std::unique_ptr<PodGroups> groups_;
  std::unique_ptr<Namespaces> namespaces_;
  std::unique_ptr<Predecessors> predecessors_;
};

TEST(Predecessors, HaveToEndOrToBeDoneOrToBegin) {
  struct Case {
    const char* says;
    std::string first_state;
    bool starts;
    const char* why;
  };
  const Case cases[] = {
      {"{berth.dev/after: job/first}", "{}", false, "Dependency: it starts when job/first has ended"},
      {"{berth.dev/after: first}", "{active: 1}", false, "Dependency: it starts when job/first has ended"},
      {"{berth.dev/after: first}", kComplete, true, ""},
      {"{berth.dev/after-any: first}", kFailed, true, ""},
      {"{berth.dev/after-ok: first}", "{}", false, "Dependency: it starts when job/first is done"},
      {"{berth.dev/after-ok: first}", kComplete, true, ""},
      {"{berth.dev/after-ok: first}", kFailed, false,
       "Dependency: never: it was to start when job/first is done, and that has failed; delete it"},
      {"{berth.dev/after-start: first}", "{active: 1}", false, "Dependency: it starts when job/first has begun"},
      {"{berth.dev/after-start: first}", "{ready: 1}", true, ""},
      {"{berth.dev/after-start: first}", kFailed, true, ""},
      {"{berth.dev/after: 'first,job/none,pod/none'}", "{}", false,
       "Dependency: it starts when job/first has ended; and it waits for 2 others"},
      {"{berth.dev/after: 'job/none,first'}", kComplete, false,
       "Dependency: it starts when job/none has ended; there is none of that name, and it is waited for"},
  };
  for (const Case& each : cases) {
    Cluster cluster;
    cluster.set(job("first", each.first_state));
    cluster.set(pod_of("second", each.says));
    const Round round = cluster.decide();
    EXPECT_EQ(names_of(round), each.starts ? Names{"second"} : Names{}) << each.says << " " << each.first_state;
    EXPECT_EQ(reason_of(round, "second"), each.why) << each.says << " " << each.first_state;
  }
}

TEST(Predecessors, WhoWaitsStartsWhenTheyHaveEnded) {
  Cluster cluster;
  cluster.set(pod_of("second", "{berth.dev/after: job/first, berth.dev/after-ok: pod/third}"));
  EXPECT_EQ(names_of(cluster.decide()), Names{}) << "in any order";
  cluster.set(job("first"));
  cluster.set(pod_of("third", "{}"));
  EXPECT_EQ(names_of(cluster.decide()), Names{"third"});
  cluster.set(job("first", kFailed));
  EXPECT_EQ(names_of(cluster.decide()), Names{});
  cluster.set(at_stage(pod_of("third", "{}"), PodStage::kSucceeded));
  EXPECT_EQ(names_of(cluster.decide()), Names{"second"});
}

// What counts is what there is, for this scheduler and for the next.
TEST(Predecessors, WhoIsDeletedIsWaitedForAgain) {
  Cluster cluster;
  cluster.set(job("first", kComplete));
  cluster.set(pod_of("second", "{berth.dev/after: job/first, berth.dev/not-before: '2030-01-01T00:00:00Z'}"));
  EXPECT_TRUE(reason_of(cluster.decide(), "second").starts_with("NotBefore: "));
  cluster.remove_job("first");
  EXPECT_TRUE(reason_of(cluster.decide(), "second").starts_with("Dependency: "));
  cluster.begin_anew();
  EXPECT_TRUE(reason_of(cluster.decide(), "second").starts_with("Dependency: "));
  cluster.set(pod_of("second", "{}"));
  EXPECT_EQ(names_of(cluster.decide()), Names{"second"}) << "it follows nobody any more";
}

TEST(Predecessors, AJobHasBegunWhenOneOfItsPodsHas) {
  Cluster cluster;
  cluster.set(job("first"));
  cluster.set(pod_of("second", "{berth.dev/after-start: job/first}"));
  cluster.set(pod_of("p", "{}", "first"));
  EXPECT_EQ(names_of(cluster.decide()), Names{"p"});
  EXPECT_EQ(names_of(cluster.decide()), Names{"second"});
}

// It was evicted, and its Job makes it anew: its predecessor may be gone long since.
TEST(Predecessors, WhoHasBegunOnceWaitsForNobody) {
  Cluster cluster;
  const std::string says = "{berth.dev/after: job/first, berth.dev/max-wait: 1h cancel}";
  cluster.set(job("first", kComplete));
  cluster.set(job("second"));
  cluster.set(pod_of("s1", says, "second"));
  EXPECT_FALSE(cluster.predecessors().has_to_say_that_it_began(pod_of("s1", says, "second")));
  EXPECT_EQ(names_of(cluster.decide()), Names{"s1"});
  const PodFacts placed = at_stage(pod_of("s1", says, "second"), PodStage::kBound);
  EXPECT_TRUE(cluster.predecessors().has_to_say_that_it_began(placed));
  EXPECT_FALSE(
      cluster.predecessors().has_to_say_that_it_began(at_stage(pod_of("s1", "{}", "second"), PodStage::kBound)));
  cluster.set(job("second", "{}", "{berth.dev/begun-at: '2026-11-21T08:00:00Z'}"));
  EXPECT_FALSE(cluster.predecessors().has_to_say_that_it_began(placed));
  cluster.remove_job("first");
  cluster.remove_pod("s1");
  cluster.begin_anew();
  cluster.pass(seconds(7200));
  cluster.set(pod_of("s2", says, "second"));
  EXPECT_EQ(names_of(cluster.decide()), Names{"s2"});
}

TEST(Predecessors, AreOfJobsAndOfPodsAlone) {
  PodFacts other =
      read_pod(object("{metadata: {name: a, uid: a, namespace: ml, annotations: {berth.dev/after: b}, ownerReferences: "
                      "[{kind: RayCluster, "
                      "controller: true, uid: r}]}, spec: {containers: [{name: c}]}}"));
  EXPECT_EQ(other.problem, "annotation berth.dev/after: it is of Jobs, and of pods that nothing made; leave it out");
}

}  // namespace berth::predecessors_test
