// PodGroups in a live engine: who starts with whom, who comes after, and what their users read.
#include "service/pod_groups.h"

#include <gtest/gtest.h>

#include <map>
#include <set>
#include <string>
#include <vector>

#include "manifest/gang_owner.h"
#include "manifest/volcano_job.h"
#include "manifest/yaml.h"
#include "service/live_facts.h"

namespace berth::pod_groups_test {

using Names = std::set<std::string>;

// A coscheduling PodGroup.
std::string group_of(int at_least, const std::string& name = "g", const std::string& uid = "1") {
  return "{apiVersion: scheduling.x-k8s.io/v1alpha1, kind: PodGroup, metadata: {name: " + name +
         ", namespace: default, uid: u" + uid + "}, spec: {minMember: " + std::to_string(at_least) + "}}";
}
std::string volcano_group(const std::string& spec) {
  return "{apiVersion: scheduling.volcano.sh/v1beta1, kind: PodGroup, metadata: {name: g, namespace: default, uid: v}, "
         "spec: " +
         spec + "}";
}

PodFacts member(const std::string& name, std::int32_t gpus = 8, std::int64_t created_ms = 1000) {
  PodFacts facts = pod(name, gpus, created_ms);
  facts.pod_group = PodGroupName{kCoschedulingGroups, "g"};
  facts.labels = Value::map();
  return facts;
}
PodFacts of_task(PodFacts pod, const std::string& task) {
  pod.pod_group = PodGroupName{kVolcanoGroups, "g", task};
  return pod;
}

class Cluster {
 public:
  explicit Cluster(int nodes) : engine_(Seed{1}), others_(engine_), groups_(others_) {
    for (int i = 0; i < nodes; ++i) engine_.set_node(node("n" + std::to_string(i)));
    QueueFacts queue;
    queue.name = std::string(kDefaultQueue);
    engine_.set_queue(queue);
  }

  LiveEngine& engine() { return engine_; }
  void apply(const std::string& yaml) { change(yaml, true); }
  void remove(const std::string& yaml) { change(yaml, false); }
  void set(const PodFacts& pod) {
    pods_[pod.uid] = pod;
    groups_.set_pod(pod);
  }
  void gone(const std::string& name) {
    pods_.erase("uid-" + name);
    groups_.remove_pod("uid-" + name);
  }
  void end(const std::string& name, PodStage stage) {
    PodFacts facts = pods_.at("uid-" + name);
    facts.stage = stage;
    set(facts);
  }
  Round decide(std::int64_t seconds_now) {
    groups_.settle();
    others_.settle();
    const Time now{seconds_now * 1000};
    const Round round = engine_.decide(now);
    for (const WaitingReason& reason : round.reasons) engine_.note_told(reason.pod.uid);
    for (const Binding& binding : round.bindings) set(bound(pods_.at(binding.pod.uid), binding, now));
    return round;
  }
  Value status() {
    groups_.settle();
    const auto all = groups_.statuses(Time{100'000});
    return all.empty() ? Value() : all.front().status;
  }
  std::string phase() { return std::string(status()["phase"].text()); }

 private:
  void change(const std::string& yaml, bool is_there) {
    const Value object = parse_yaml(yaml)->at(0);
    const std::string version(object["apiVersion"].text());
    std::string_view qualified = version.contains("volcano")    ? kVolcanoGroups
                                 : version.contains("x-k8s.io") ? kCoschedulingGroups
                                                                : kKubernetesGroups;
    for (const GangOwnerKind& each : gang_owner_kinds()) {
      if (each.kind == object["kind"].text()) qualified = each.qualified;
    }
    is_there ? groups_.set(qualified, object) : groups_.remove(qualified, object);
  }

  LiveEngine engine_;
  OtherQueues others_;
  PodGroups groups_;
  std::map<std::string, PodFacts> pods_;
};

TEST(PodGroups, StartTogetherWhenAllOfThemAreThere) {
  Cluster cluster(2);
  cluster.set(member("a"));
  EXPECT_EQ(reason_of(cluster.decide(1), "a"),
            "PodGroupMissing: there is no PodGroup 'g' (podgroups.scheduling.x-k8s.io) in its namespace; create it");
  cluster.apply(group_of(2));
  EXPECT_TRUE(reason_of(cluster.decide(2), "a").starts_with("GangIncomplete")) << "one has not been created";
  EXPECT_EQ(cluster.phase(), "Pending");
  cluster.set(member("b"));
  EXPECT_EQ(names_of(cluster.decide(3)), (Names{"a", "b"}));
  EXPECT_EQ(cluster.phase(), "Running");
  EXPECT_EQ(cluster.status()["running"].integer(), 2);
}

TEST(PodGroups, NeverStartInPart) {
  Cluster cluster(2);
  cluster.apply(group_of(3));
  for (const char* const name : {"a", "b", "c"}) cluster.set(member(name));
  EXPECT_TRUE(names_of(cluster.decide(1)).empty());
  EXPECT_EQ(cluster.phase(), "Scheduling");
  cluster.apply(group_of(2));
  const Round round = cluster.decide(2);
  EXPECT_EQ(names_of(round), (Names{"a", "b"})) << "its object may be changed";
}

TEST(PodGroups, WhatThereIsMoreComesAfterTheFirstEachByItself) {
  Cluster cluster(4);
  cluster.apply(group_of(3));
  for (const char* const name : {"a", "b"}) cluster.set(member(name));
  for (int i = 0; i < 3; ++i) cluster.set(member("late" + std::to_string(i), 8, 2000 + i));
  const Round first = cluster.decide(1);
  EXPECT_EQ(names_of(first), (Names{"a", "b", "late0"})) << "of three that start together none is left out";
  EXPECT_EQ(reason_of(first, "late1"),
            "GangFirst: the first 3 pods of its PodGroup 'g' start together, and it after them");
  EXPECT_EQ(names_of(cluster.decide(2)), Names{"late1"}) << "there is room for one";
  cluster.end("a", PodStage::kSucceeded);
  EXPECT_EQ(names_of(cluster.decide(3)), Names{"late2"}) << "who has succeeded is one of the first";
  cluster.end("b", PodStage::kFailed);
  cluster.set(member("again", 8, 3000));
  EXPECT_EQ(names_of(cluster.decide(4)), Names{"again"}) << "another took the place of who failed";
}

// Of a Job of which less than all will do its pods say so, and nobody asks for the Job.
// Of an operator that makes pods anew.
PodFacts made(PodFacts pod) {
  pod.maker_uid = "uid-of-operator";
  pod.terms.grace = seconds(30);
  return pod;
}

TEST(PodGroups, KeepWhatALostOneHadForWhoIsMadeAnew) {
  Cluster cluster(3);
  cluster.apply(group_of(3));
  for (const char* const name : {"a", "b", "c"}) cluster.set(made(member(name)));
  ASSERT_EQ(cluster.decide(1).bindings.size(), 3U);
  cluster.set(pod("w", 8, 2000));
  cluster.decide(2);
  cluster.gone("b");
  EXPECT_TRUE(cluster.decide(3).bindings.empty());
  cluster.set(made(member("again", 8, 4000)));
  EXPECT_EQ(names_of(cluster.decide(4)), Names{"again"});
}

// It is one of the first then, and nobody is lacking.
TEST(PodGroups, AreMadeWholeByOneThatIsMore) {
  Cluster cluster(4);
  cluster.apply(group_of(3));
  for (const char* const name : {"a", "b", "c"}) cluster.set(made(member(name)));
  cluster.set(made(member("more", 8, 2000)));
  cluster.decide(1);
  ASSERT_EQ(names_of(cluster.decide(2)), Names{"more"});
  cluster.set(pod("w", 8, 3000));
  cluster.decide(3);
  cluster.gone("b");
  EXPECT_EQ(names_of(cluster.decide(4)), Names{"w"});
  cluster.gone("c");
  EXPECT_TRUE(cluster.decide(5).bindings.empty());
  cluster.set(made(member("again", 8, 6000)));
  EXPECT_EQ(names_of(cluster.decide(6)), Names{"again"}) << "below its minimum it is repaired";
}

// A floor of four nodes, lent to a group of two that has two more; the floor's owner needs so many nodes.
class LentToAGroup : public ::testing::Test {
 protected:
  LentToAGroup() : cluster_(4) {
    QueueFacts owner;
    owner.name = "owner";
    owner.spec.guarantee = {{"h100", Resource::kGpu, 32 * kMilliPerGpu}};
    owner.spec.order = Order::kFifo;
    cluster_.engine().set_queue(owner);
    cluster_.apply(group_of(2));
    for (const char* const name : {"a", "b"}) cluster_.set(made(member(name)));
    cluster_.decide(1);
    for (const char* const name : {"c", "d"}) cluster_.set(made(member(name, 8, 2000)));
    EXPECT_EQ(names_of(cluster_.decide(2)), (Names{"c", "d"})) << "it grows by what is free";
  }
  Names evicted_for(int nodes) {
    for (int i = 0; i < nodes; ++i) {
      PodFacts facts = pod("w" + std::to_string(i), 8, 3000);
      facts.queue = "owner";
      facts.group = nodes > 1 ? "default/w/" : "";
      facts.group_size = nodes;
      cluster_.set(facts);
    }
    Names names;
    for (const PodEviction& each : cluster_.decide(100).evictions) names.insert(each.pod.name);
    return names;
  }

  Cluster cluster_;
};

TEST_F(LentToAGroup, OneThatIsMoreGoesRatherThanTheFirst) { EXPECT_EQ(evicted_for(1), Names{"d"}); }

TEST_F(LentToAGroup, NoMoreGoThanHaveTo) { EXPECT_EQ(evicted_for(2), (Names{"c", "d"})); }

TEST_F(LentToAGroup, TheFirstGoTogetherWhereNothingElseWillDo) {
  EXPECT_EQ(evicted_for(3), (Names{"a", "b", "d"})) << "who is more than they are, and is not needed, stays";
}

TEST_F(LentToAGroup, WhoIsMoreGrowsAgainWhenThereIsRoom) {
  ASSERT_EQ(evicted_for(1), Names{"d"});
  cluster_.gone("d");
  cluster_.set(made(member("d-again", 8, 101'000)));
  EXPECT_EQ(names_of(cluster_.decide(101)), Names{"w0"});
  cluster_.end("w0", PodStage::kSucceeded);
  EXPECT_EQ(names_of(cluster_.decide(200)), Names{"d-again"});
}

TEST(PodGroups, OfAJobThatIsAdmittedInPart) {
  Cluster cluster(2);
  for (int i = 0; i < 3; ++i) {
    PodFacts facts = member("w" + std::to_string(i), 8, 1000 + i);
    facts.pod_group = PodGroupName{.qualified = kPartialJobs, .name = "train", .size = 2};
    facts.maker_uid = "job-uid";
    cluster.set(facts);
  }
  const Round first = cluster.decide(1);
  EXPECT_EQ(names_of(first), (Names{"w0", "w1"}));
  EXPECT_EQ(reason_of(first, "w2"), "GangFirst: the first 2 pods of its Job 'train' start together, and it after them");
  cluster.end("w0", PodStage::kSucceeded);
  EXPECT_EQ(names_of(cluster.decide(2)), Names{"w2"});
}

// As its controller marks them: so many of all, and so many of the task.
PodFacts of_volcano_job(const std::string& name, const std::string& task, std::int64_t task_size,
                        std::int64_t created_ms = 1000) {
  PodFacts facts = member(name, 8, created_ms);
  facts.pod_group =
      PodGroupName{.qualified = kVolcanoJobs, .name = "train", .task = task, .size = 3, .task_size = task_size};
  facts.maker_uid = "job-uid";
  return facts;
}

TEST(PodGroups, OfAnElasticVolcanoJobMakeUpForOneThatIsLost) {
  Cluster cluster(5);
  cluster.set(of_volcano_job("a", "a", 1));
  for (int i = 0; i < 4; ++i) cluster.set(of_volcano_job("b" + std::to_string(i), "b", 0, 1001 + i));
  EXPECT_EQ(names_of(cluster.decide(1)), (Names{"a", "b0", "b1"}));
  EXPECT_EQ(names_of(cluster.decide(2)), (Names{"b2", "b3"}));
  cluster.gone("b0");
  cluster.set(of_volcano_job("b0-again", "b", 0, 3000));
  EXPECT_EQ(names_of(cluster.decide(3)), Names{"b0-again"}) << "by itself: enough run";
}

// What task a needs is said on its own pods, and none of them is left.
TEST(PodGroups, OfAnElasticVolcanoJobKeepThePlaceOfATaskOfWhichNoneIsLeft) {
  Cluster cluster(4);
  cluster.set(of_volcano_job("a", "a", 1));
  for (int i = 0; i < 3; ++i) cluster.set(of_volcano_job("b" + std::to_string(i), "b", 2, 1001 + i));
  EXPECT_EQ(names_of(cluster.decide(1)), (Names{"a", "b0", "b1"}));
  EXPECT_EQ(names_of(cluster.decide(2)), Names{"b2"});
  PodFacts other = member("other", 8, 2000);
  other.pod_group.reset();
  cluster.set(other);
  cluster.gone("a");
  EXPECT_TRUE(names_of(cluster.decide(3)).empty()) << "nobody stands in for it, and it comes again";
  cluster.set(of_volcano_job("a-again", "a", 1, 3000));
  EXPECT_EQ(names_of(cluster.decide(4)), Names{"a-again"});
}

TEST(PodGroups, OfAnElasticVolcanoJobNeedOfATaskAsManyAsItHasLeft) {
  Cluster cluster(4);
  for (const char* const name : {"a0", "a1"}) cluster.set(of_volcano_job(name, "a", 2));
  cluster.set(of_volcano_job("b0", "b", 0, 1001));
  EXPECT_EQ(names_of(cluster.decide(1)), (Names{"a0", "a1", "b0"}));
  cluster.end("a1", PodStage::kFailed);
  cluster.set(of_volcano_job("b1", "b", 0, 2000));
  EXPECT_EQ(names_of(cluster.decide(2)), Names{"b1"}) << "who has failed is not waited for";
}

TEST(PodGroups, HaveOfEachTaskAsManyAsItNeeds) {
  Cluster cluster(3);
  cluster.apply(volcano_group("{minMember: 3, minTaskMember: {ps: 1, worker: 1}}"));
  for (int i = 0; i < 4; ++i) cluster.set(of_task(member("w" + std::to_string(i), 8, 1000 + i), "worker"));
  EXPECT_TRUE(names_of(cluster.decide(1)).empty()) << "without the one that serves the others";
  EXPECT_EQ(cluster.phase(), "Pending");
  cluster.set(of_task(member("ps", 8, 9000), "ps"));
  EXPECT_EQ(names_of(cluster.decide(2)), (Names{"ps", "w0", "w1"}));
}

TEST(PodGroups, GoToTheQueueOfTheGroupIfTheyNameNone) {
  Cluster cluster(1);
  cluster.apply(volcano_group("{minMember: 1, queue: research}"));
  cluster.set(of_task(member("a"), ""));
  EXPECT_TRUE(reason_of(cluster.decide(1), "a").starts_with("QueueUnknown: Volcano's queue 'research'"));
  cluster.apply(volcano_group("{minMember: 1, queue: default}"));
  EXPECT_EQ(names_of(cluster.decide(2)), Names{"a"}) << "the queue of that name is always there";
}

TEST(PodGroups, SayWhatIsWrongWithTheirObject) {
  Cluster cluster(2);
  cluster.apply(volcano_group("{minMember: 2, subGroupPolicy: [{name: s}]}"));
  for (const char* const name : {"a", "b"}) cluster.set(of_task(member(name), ""));
  EXPECT_EQ(reason_of(cluster.decide(1), "a"),
            "NotFollowed: its PodGroup 'g': spec.subGroupPolicy: is not followed; make a PodGroup of each part");
  cluster.apply(volcano_group("{minMember: 1, networkTopology: {mode: hard, highestTierAllowed: 1}}"));
  EXPECT_EQ(names_of(cluster.decide(2)), (Names{"a", "b"})) << "each is where it is";
}

TEST(PodGroups, InOneDomainStartAllTogether) {
  Cluster cluster(3);
  cluster.apply(volcano_group("{minMember: 2, networkTopology: {mode: hard, highestTierAllowed: 1}}"));
  for (const char* const name : {"a", "b", "c"}) cluster.set(of_task(member(name), ""));
  EXPECT_EQ(reason_of(cluster.decide(1), "c"),
            "NotFollowed: its PodGroup 'g' asks for one domain, and starts with 2 of its pods; have all of them start "
            "together");
}

TEST(PodGroups, MadeAnewByTheSameNameAreOthers) {
  Cluster cluster(2);
  cluster.apply(group_of(2));
  for (const char* const name : {"a", "b"}) cluster.set(member(name));
  EXPECT_EQ(names_of(cluster.decide(1)).size(), 2U);
  for (const char* const name : {"a", "b"}) cluster.gone(name);
  cluster.remove(group_of(2));
  EXPECT_TRUE(cluster.status().is_null());
  cluster.apply(group_of(2, "g", "2"));
  cluster.set(member("c"));
  EXPECT_TRUE(reason_of(cluster.decide(2), "c").starts_with("GangIncomplete"));
  EXPECT_EQ(cluster.phase(), "Pending");
}

TEST(PodGroups, OfKubernetesSayOnceThatTheyHaveHadTheirPlaces) {
  Cluster cluster(2);
  const auto group = [](const std::string& more) {
    return "{apiVersion: scheduling.k8s.io/v1beta1, kind: PodGroup, metadata: {name: g, namespace: default, uid: k}, "
           "spec: {schedulingPolicy: {gang: {minCount: 2}}}" +
           more + "}";
  };
  cluster.apply(group(""));
  for (const char* const name : {"a", "b"}) {
    PodFacts facts = member(name);
    facts.pod_group = PodGroupName{kKubernetesGroups, "g"};
    cluster.set(facts);
  }
  EXPECT_EQ(cluster.status()["conditions"].items().front()["reason"].text(), "Unschedulable");
  EXPECT_EQ(cluster.status()["conditions"].items().front()["message"].text(), "0 of 2 pods have their places");
  cluster.decide(1);
  const Value had = cluster.status();
  EXPECT_EQ(had["conditions"].items().front()["status"].text(), "True");
  cluster.apply(group(", status: {conditions: [{type: PodGroupInitiallyScheduled, status: 'True'}]}"));
  cluster.gone("a");
  EXPECT_EQ(cluster.status()["conditions"].items().front()["status"].text(), "True");
}

// ---- what operators make -------------------------------------------------------------------------------------------------

std::string leader_worker_set(const std::string& spec, const std::string& metadata = "") {
  return "{apiVersion: leaderworkerset.x-k8s.io/v1, kind: LeaderWorkerSet, metadata: {name: serve, namespace: default, "
         "uid: l" +
         metadata + "}, spec: " + spec + "}";
}
// Of the group with that index; worker 0 is its leader.
PodFacts of_set(int group, int worker, std::int64_t size, std::int32_t gpus = 8) {
  PodFacts facts =
      member("serve-" + std::to_string(group) + "-" + std::to_string(worker), gpus, 1000 + group * 100 + worker);
  facts.pod_group = PodGroupName{.qualified = "leaderworkersets.leaderworkerset.x-k8s.io",
                                 .name = "serve",
                                 .task = std::to_string(worker),
                                 .replica = std::to_string(group),
                                 .size = size};
  facts.maker_uid = worker == 0 ? "leaders" : "workers-of-" + std::to_string(group);
  return facts;
}

TEST(GangOwners, StartEachGroupOfALeaderWorkerSetTogether) {
  Cluster cluster(3);
  cluster.set(of_set(0, 0, 2));
  EXPECT_EQ(
      reason_of(cluster.decide(1), "serve-0-0"),
      "OwnerMissing: there is no LeaderWorkerSet 'serve' in its namespace, which says how many pods start together; "
      "create it, or make the pod without the label leaderworkerset.sigs.k8s.io/name");
  cluster.apply(leader_worker_set("{replicas: 2, leaderWorkerTemplate: {size: 2}}"));
  EXPECT_TRUE(reason_of(cluster.decide(2), "serve-0-0").starts_with("GangIncomplete: "));
  EXPECT_TRUE(cluster.status().is_null()) << "its status is its operator's";
  for (const int group : {0, 1}) {
    for (const int worker : {0, 1}) cluster.set(of_set(group, worker, 2));
  }
  const Round round = cluster.decide(3);
  EXPECT_EQ(names_of(round), (Names{"serve-0-0", "serve-0-1"})) << "of the other group there is room for one";
  EXPECT_TRUE(reason_of(round, "serve-1-0").starts_with("Capacity: "));
  cluster.gone("serve-0-0");
  cluster.gone("serve-0-1");
  EXPECT_EQ(names_of(cluster.decide(4)), (Names{"serve-1-0", "serve-1-1"}));
}

TEST(GangOwners, HaveAsManyPodsAsTheseSayThemselves) {
  Cluster cluster(4);
  cluster.apply(leader_worker_set("{leaderWorkerTemplate: {size: 4}}"));
  for (const int worker : {0, 1}) cluster.set(of_set(0, worker, 2));
  EXPECT_EQ(names_of(cluster.decide(1)).size(), 2U) << "made before the set was changed";
  cluster.set(of_set(1, 0, 4));
  EXPECT_TRUE(reason_of(cluster.decide(2), "serve-1-0").starts_with("GangIncomplete: "));
  cluster.apply(leader_worker_set("{leaderWorkerTemplate: {size: 1}}"));
  EXPECT_TRUE(names_of(cluster.decide(3)).empty()) << "nor does it matter to those that were made";
}

// Its workers are made when the leader has its place: if it waited for them nobody would ever start.
TEST(GangOwners, StartALeaderByItselfWhereItsWorkersComeAfterIt) {
  const std::string kForms[] = {
      leader_worker_set("{startupPolicy: LeaderReady, leaderWorkerTemplate: {size: 3}}"),
      leader_worker_set("{leaderWorkerTemplate: {size: 3}}",
                        ", annotations: {leaderworkerset.sigs.k8s.io/exclusive-topology: rack}"),
  };
  for (const std::string& form : kForms) {
    Cluster cluster(2);
    cluster.apply(form);
    cluster.set(of_set(0, 0, 3));
    EXPECT_EQ(names_of(cluster.decide(1)), Names{"serve-0-0"});
    cluster.set(of_set(0, 1, 3));
    EXPECT_TRUE(reason_of(cluster.decide(2), "serve-0-1").starts_with("GangIncomplete: ")) << "the workers are a gang";
    cluster.set(of_set(0, 2, 3));
    EXPECT_TRUE(names_of(cluster.decide(3)).empty()) << "there is room for one of them";
    cluster.gone("serve-0-0");
    cluster.apply(leader_worker_set("{leaderWorkerTemplate: {size: 3}}"));
    cluster.set(of_set(0, 0, 3, 0));
    EXPECT_EQ(names_of(cluster.decide(4)), (Names{"serve-0-0", "serve-0-1", "serve-0-2"})) << "all together now";
  }
}

std::string training_job(const std::string& kind, const std::string& spec) {
  return "{apiVersion: kubeflow.org/v1, kind: " + kind +
         ", metadata: {name: train, namespace: default, uid: t}, spec: " + spec + "}";
}
PodFacts of_job(const std::string& kinds, const std::string& task, int index, std::int64_t created_ms = 1000) {
  PodFacts facts = member("train-" + task + "-" + std::to_string(index), 8, created_ms + index);
  facts.pod_group = PodGroupName{.qualified = find_gang_owner_kind(kinds)->qualified, .name = "train", .task = task};
  return facts;
}

TEST(GangOwners, LetALauncherComeAfterTheWorkersThatItWaitsFor) {
  const std::string kReplicas = "mpiReplicaSpecs: {Launcher: {replicas: 1}, Worker: {replicas: 2}}";
  for (const bool waits : {false, true}) {
    Cluster cluster(3);
    cluster.apply(
        training_job("MPIJob", "{" + kReplicas + (waits ? ", launcherCreationPolicy: WaitForWorkersReady}" : "}")));
    for (const int i : {0, 1}) cluster.set(of_job("mpijobs.kubeflow.org", "worker", i));
    EXPECT_EQ(names_of(cluster.decide(1)).size(), waits ? 2U : 0U) << "it is made when they run, or with them";
    cluster.set(of_job("mpijobs.kubeflow.org", "launcher", 0, 9000));
    EXPECT_EQ(names_of(cluster.decide(2)).size(), waits ? 1U : 3U);
  }
}

TEST(GangOwners, StartAnElasticJobWithItsLeastWorkersAndItsMaster) {
  Cluster cluster(4);
  cluster.apply(training_job(
      "PyTorchJob", "{elasticPolicy: {minReplicas: 2}, pytorchReplicaSpecs: {Master: {}, Worker: {replicas: 5}}}"));
  for (int i = 0; i < 5; ++i) cluster.set(of_job("pytorchjobs.kubeflow.org", "worker", i));
  const Round early = cluster.decide(1);
  EXPECT_TRUE(names_of(early).empty()) << "not without the master";
  cluster.set(of_job("pytorchjobs.kubeflow.org", "master", 0, 9000));
  EXPECT_EQ(names_of(cluster.decide(2)), (Names{"train-master-0", "train-worker-0", "train-worker-1"}));
  EXPECT_EQ(reason_of(early, "train-worker-2"),
            "GangFirst: the first 3 pods of its PyTorchJob 'train' start together, and it after them");
  EXPECT_EQ(names_of(cluster.decide(3)), Names{"train-worker-2"}) << "there is room for one more";
}

TEST(GangOwners, AreOtherGangsWhereKindsShareALabelAndAName) {
  Cluster cluster(2);
  cluster.apply(training_job("PyTorchJob", "{pytorchReplicaSpecs: {Worker: {replicas: 1}}}"));
  cluster.apply(training_job("TFJob", "{tfReplicaSpecs: {Worker: {replicas: 2}}}"));
  PodFacts other = of_job("tfjobs.kubeflow.org", "worker", 7);
  cluster.set(of_job("pytorchjobs.kubeflow.org", "worker", 0));
  cluster.set(other);
  const Round round = cluster.decide(1);
  EXPECT_EQ(names_of(round), Names{"train-worker-0"});
  EXPECT_TRUE(reason_of(round, other.name).starts_with("GangIncomplete: "));
}

std::string ray_cluster(const std::string& spec) {
  return "{apiVersion: ray.io/v1, kind: RayCluster, metadata: {name: demo, namespace: default, uid: r}, spec: " + spec +
         "}";
}
PodFacts of_cluster(const std::string& group, int index, std::int32_t gpus = 8, std::int64_t created_ms = 1000) {
  PodFacts facts = member("demo-" + group + "-" + std::to_string(index), gpus, created_ms + index);
  facts.pod_group = PodGroupName{.qualified = "rayclusters.ray.io", .name = "demo", .task = group};
  return facts;
}

TEST(GangOwners, StartARayClusterWithAllItsWorkersOrWithThoseThatItKeeps) {
  for (const bool autoscaled : {false, true}) {
    Cluster cluster(3);
    cluster.apply(ray_cluster(std::string("{enableInTreeAutoscaling: ") + (autoscaled ? "true" : "false") +
                              ", workerGroupSpecs: [{groupName: gpu, replicas: 4, minReplicas: 2}]}"));
    for (int i = 0; i < 4; ++i) cluster.set(of_cluster("gpu", i));
    EXPECT_TRUE(names_of(cluster.decide(1)).empty()) << "not without the head";
    cluster.set(of_cluster("headgroup", 0, 0, 9000));
    EXPECT_EQ(names_of(cluster.decide(2)),
              autoscaled ? (Names{"demo-headgroup-0", "demo-gpu-0", "demo-gpu-1"}) : Names{})
        << "there are nodes for three";
    EXPECT_EQ(names_of(cluster.decide(3)), autoscaled ? Names{"demo-gpu-2"} : Names{});
  }
}

TEST(GangOwners, LetWorkersThatRayAddsComeAfterTheHead) {
  Cluster cluster(2);
  cluster.apply(ray_cluster("{enableInTreeAutoscaling: true, workerGroupSpecs: [{groupName: gpu, replicas: 1}]}"));
  cluster.set(of_cluster("gpu", 0));
  EXPECT_EQ(reason_of(cluster.decide(1), "demo-gpu-0"),
            "GangFirst: the first pod of its RayCluster 'demo' starts before it");
  cluster.set(of_cluster("headgroup", 0));
  EXPECT_EQ(names_of(cluster.decide(2)), Names{"demo-headgroup-0"});
  EXPECT_EQ(names_of(cluster.decide(3)), Names{"demo-gpu-0"});
}

TEST(GangOwners, RefuseOneDomainForALeaderThatIsApart) {
  Cluster cluster(4);
  cluster.apply(leader_worker_set("{startupPolicy: LeaderReady, leaderWorkerTemplate: {size: 3}}"));
  PodFacts leader = of_set(0, 0, 3);
  leader.topology = {.together = Togetherness::kRequired, .level = "rack"};
  cluster.set(leader);
  EXPECT_EQ(
      reason_of(cluster.decide(1), "serve-0-0"),
      "NotFollowed: its LeaderWorkerSet 'serve' asks for one domain, and starts this pod apart from the others; have "
      "all of them start together");
}

// Its leader and its workers are made by several objects, and the next ones by others: all of them are one work.
TEST(GangOwners, PauseWhoeverOfThemComesNextWhenTheyGaveBackWhatTheyHadBorrowed) {
  Cluster cluster(2);
  QueueFacts owner, borrower;
  owner.name = "owner";
  owner.spec.guarantee = {{"h100", Resource::kGpu, 16 * kMilliPerGpu}};
  borrower.name = "borrower";
  borrower.spec.policies.cooldown = seconds(600);
  cluster.engine().set_queue(owner);
  cluster.engine().set_queue(borrower);
  cluster.apply(leader_worker_set("{leaderWorkerTemplate: {size: 2}}"));
  const auto at = [](const std::string& queue, PodFacts pod, std::int64_t created_ms) {
    pod.queue = queue;
    pod.created = pod.queued = Time{created_ms};
    return pod;
  };
  cluster.set(at("borrower", of_set(0, 0, 2), 1000));
  cluster.set(at("borrower", of_set(0, 1, 2), 2000));
  EXPECT_EQ(names_of(cluster.decide(10)).size(), 2U);
  cluster.set(at("owner", pod("mine", 8), 20'000));
  EXPECT_EQ(cluster.decide(20).evictions.size(), 2U);
  for (const char* const name : {"serve-0-0", "serve-0-1", "mine"}) cluster.gone(name);
  cluster.set(at("borrower", of_set(0, 1, 2), 22'000));
  PodFacts leader = at("borrower", of_set(0, 0, 2), 23'000);
  leader.uid = "uid-that-comes-later";
  cluster.set(leader);
  const Round round = cluster.decide(30);
  EXPECT_TRUE(round.bindings.empty());
  EXPECT_TRUE(reason_of(round, "serve-0-0").starts_with("Cooldown: ")) << reason_of(round, "serve-0-0");
}

TEST(GangOwners, AreReadAnewWhenTheirLabelsChange) {
  Cluster cluster(1);
  cluster.apply(leader_worker_set("{leaderWorkerTemplate: {size: 1}}", ", labels: {kueue.x-k8s.io/queue-name: main}"));
  cluster.set(of_set(0, 0, 1));
  EXPECT_EQ(
      reason_of(cluster.decide(1), "serve-0-0"),
      "QueueUnknown: there is no LocalQueue 'main' in namespace 'default'; create it, or name another in the label "
      "kueue.x-k8s.io/queue-name");
  cluster.apply(leader_worker_set("{leaderWorkerTemplate: {size: 1}}"));
  EXPECT_EQ(names_of(cluster.decide(2)), Names{"serve-0-0"});
}

TEST(GangOwners, TellWhatIsWrongWithTheirObject) {
  Cluster cluster(1);
  cluster.apply(leader_worker_set("{leaderWorkerTemplate: {size: 0}}"));
  cluster.set(of_set(0, 0, 1));
  EXPECT_EQ(reason_of(cluster.decide(1), "serve-0-0"),
            "NotFollowed: its LeaderWorkerSet 'serve': spec.leaderWorkerTemplate.size: is no number of pods; write one "
            "from 1 to 1000000");
}

// A scheduler that is started anew finds the same ones together.
TEST(PodGroups, AreTheSameForWhoeverSeesThemAnew) {
  for (const bool backwards : {false, true}) {
    Cluster cluster(4);
    std::vector<PodFacts> pods;
    for (int i = 0; i < 4; ++i) {
      PodFacts facts = member("p" + std::to_string(i), 8, 4000 - i * 1000);
      facts.stage = PodStage::kBound;
      facts.node = "n" + std::to_string(i);
      facts.bound_at = Time{5000};
      pods.push_back(facts);
    }
    if (backwards) std::ranges::reverse(pods);
    for (const PodFacts& each : pods) cluster.set(each);
    cluster.apply(group_of(2));
    const Round round = cluster.decide(10);
    ASSERT_EQ(round.workloads.size(), 1U);
    EXPECT_EQ(round.workloads.front().group, "default/g/u1");
    EXPECT_EQ(round.workloads.front().size, 2);
    EXPECT_EQ(cluster.status()["running"].integer(), 4);
  }
}

}  // namespace berth::pod_groups_test
