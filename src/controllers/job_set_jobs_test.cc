#include "controllers/job_set_jobs.h"

#include <gtest/gtest.h>

#include <string>

#include "controllers/job_pods.h"
#include "controllers/job_set_world.h"
#include "manifest/labels.h"

namespace berth::job_set_jobs_test {

const std::string kDriver = part_text("driver", 1, 1);
const std::string kWorkers = part_text("workers", 3, 4);

TEST(JobsOfASet, CarryWhoTheyAreAsLabelsAndAsAnnotations) {
  JobSetWorld world(kDriver + "," + kWorkers, ", coordinator: {replicatedJob: driver}",
                    "{berth.dev/user: ann, berth.dev/run-for: 30s, other: x}");
  world.set.at("status").set("restarts", 2);
  const Value job = job_of_set(world.set, 1, 1);
  EXPECT_EQ(job["metadata"]["name"].text(), "train-workers-1");
  EXPECT_EQ(job["metadata"]["namespace"].text(), "default");
  struct Mark {
    const char* key;
    const char* value;
  };
  const Mark marks[] = {{"jobset-name", "train"},
                        {"jobset-uid", "u-1"},
                        {"replicatedjob-name", "workers"},
                        {"replicatedjob-replicas", "3"},
                        {"restart-attempt", "2"},
                        {"global-replicas", "4"},
                        {"job-index", "1"},
                        {"job-key", "f7cd59a344a70b9510e91bf1b6f8a70533d949ef"},
                        {"job-global-index", "2"},
                        {"group-name", "default"},
                        {"group-replicas", "4"},
                        {"job-group-index", "2"},
                        {"coordinator", "train-driver-0-0.train"}};
  for (const auto& [key, value] : marks) {
    SCOPED_TRACE(key);
    for (const char* const list : {"labels", "annotations"}) {
      const std::string full = std::string("jobset.sigs.k8s.io/") + key;
      EXPECT_EQ(job["metadata"][list][full].text(), value);
      EXPECT_EQ(job["spec"]["template"]["metadata"][list][full].text(), value);
    }
  }
  const Value& owner = job["metadata"]["ownerReferences"].items().at(0);
  EXPECT_EQ(owner["apiVersion"].text(), "jobset.x-k8s.io/v1alpha2");
  EXPECT_EQ(owner["uid"].text(), "u-1");
  EXPECT_TRUE(owner["controller"].truth() && owner["blockOwnerDeletion"].truth());
  EXPECT_EQ(job["metadata"]["labels"][kQueueLabel].text(), "team");
  EXPECT_EQ(job["metadata"]["annotations"][kUserAnnotation].text(), "ann");
  EXPECT_EQ(job["metadata"]["annotations"][kRunForAnnotation].text(), "30s");
  EXPECT_TRUE(job["metadata"]["annotations"]["other"].is_null());
  EXPECT_EQ(attempt_of(job), 2);
}

TEST(JobsOfASet, TheTemplateGoesBeforeTheSet) {
  const JobSetWorld world(
      "{name: w, template: {metadata: {labels: {berth.dev/queue: own}, annotations: {note: x}}, spec: {suspend: true, "
      "template: {spec: {}}}}}");
  const Value job = job_of_set(world.set, 0, 0);
  EXPECT_EQ(job["metadata"]["labels"][kQueueLabel].text(), "own");
  EXPECT_EQ(job["metadata"]["annotations"]["note"].text(), "x");
  EXPECT_FALSE(job["spec"]["suspend"].truth()) << "that is the set's to say";
}

TEST(JobsOfASet, GroupsAreNumberedForThemselves) {
  const JobSetWorld world(
      "{name: a, groupName: g, replicas: 2}, {name: b, groupName: h, replicas: 5}, "
      "{name: c, groupName: g, replicas: 3}");
  const Value job = job_of_set(world.set, 2, 1);
  EXPECT_EQ(job["metadata"]["labels"]["jobset.sigs.k8s.io/job-global-index"].text(), "8");
  EXPECT_EQ(job["metadata"]["labels"]["jobset.sigs.k8s.io/job-group-index"].text(), "3");
  EXPECT_EQ(job["metadata"]["labels"]["jobset.sigs.k8s.io/group-replicas"].text(), "5");
}

TEST(JobsOfASet, PodsAreInTheSubdomainUnlessTheSetSaysOtherwise) {
  struct Case {
    const char* network;
    const char* subdomain;
  };
  const Case cases[] = {{"", "train"},
                        {", network: {enableDNSHostnames: true, subdomain: net}", "net"},
                        {", network: {enableDNSHostnames: false, subdomain: net}", ""}};
  for (const auto& [network, subdomain] : cases) {
    const JobSetWorld world(kDriver, network);
    EXPECT_EQ(job_of_set(world.set, 0, 0)["spec"]["template"]["spec"]["subdomain"].text(), subdomain) << network;
  }
}

TEST(GangsOfASet, AreAllWhoStartAtOneTime) {
  const std::string after_driver = ", dependsOn: [{name: driver, status: Ready}]";
  const std::string late = part_text("late", 2, 4, after_driver), later = part_text("later", 1, 8, after_driver);
  const std::string alone =
      "{name: alone, replicas: 2, template: {metadata: {annotations: {berth.dev/gang: 'false'}}, "
      "spec: {parallelism: 4, completions: 4}}}";
  const std::string own =
      "{name: own, template: {spec: {parallelism: 4, completions: 4, template: {metadata: {labels: "
      "{berth.dev/pod-group: mine}}}}}}";
  struct Case {
    const char* what;
    std::string parts, more;
    const char* annotations;
    std::size_t part;
    std::string label;  // empty: none
    std::int64_t size;
  };
  const Case cases[] = {
      {"all of them", kDriver + "," + kWorkers, "", "{}", 0, "train", 13},
      {"whichever is asked", kDriver + "," + kWorkers, "", "{}", 1, "train", 13},
      {"one pod is no gang", kDriver, "", "{}", 0, "", 0},
      {"one after the other", kDriver + "," + kWorkers, ", startupPolicy: {startupPolicyOrder: InOrder}", "{}", 1,
       "train-workers", 12},
      {"any order is none", kDriver + "," + kWorkers, ", startupPolicy: {startupPolicyOrder: AnyOrder}", "{}", 1,
       "train", 13},
      {"who waits is apart", kDriver + "," + kWorkers + "," + late, "", "{}", 1, "train-driver", 13},
      {"who wait for the same", kDriver + "," + late + "," + later, "", "{}", 2, "train-late", 16},
      {"and the one waited for is alone", kDriver + "," + late + "," + later, "", "{}", 0, "", 0},
      {"the set wants none", kDriver + "," + kWorkers, "", "{berth.dev/gang: 'false'}", 1, "", 0},
      {"one part wants none", kDriver + "," + kWorkers + "," + alone, "", "{}", 1, "train", 13},
      {"and has none", kDriver + "," + kWorkers + "," + alone, "", "{}", 2, "", 0},
      {"one part has its own", kWorkers + "," + own, "", "{}", 1, "", 0},
      {"which the others are without", kWorkers + "," + own, "", "{}", 0, "train", 12},
  };
  for (const Case& each : cases) {
    SCOPED_TRACE(each.what);
    const JobSetWorld world(each.parts, each.more, each.annotations);
    const auto gang = gang_of(world.set, each.part);
    EXPECT_EQ(gang ? gang->label : "", each.label);
    EXPECT_EQ(gang ? gang->size : 0, each.size);
  }
}

TEST(GangsOfASet, AreWrittenOnThePodsAndAreOthersInEachAttempt) {
  JobSetWorld world(kWorkers);
  const auto metadata = [&] { return job_of_set(world.set, 0, 0)["spec"]["template"]["metadata"]; };
  EXPECT_EQ(metadata()["labels"][kGroupLabel].text(), "train");
  EXPECT_EQ(metadata()["annotations"][kGroupSizeAnnotation].text(), "12");
  EXPECT_EQ(metadata()["annotations"][kGroupUidAnnotation].text(), "u-1");
  world.set.at("status").set("restarts", 1);
  EXPECT_EQ(metadata()["annotations"][kGroupUidAnnotation].text(), "1-u-1");
}

TEST(JobsOfASet, AreEachAloneInADomainWhereTheSetSaysSo) {
  for (const char* const gang : {"", "berth.dev/gang: 'false', "}) {
    const JobSetWorld world(kWorkers, "",
                            "{" + std::string(gang) + "alpha.jobset.sigs.k8s.io/exclusive-topology: rack}");
    const Value annotations = job_of_set(world.set, 0, 1)["spec"]["template"]["metadata"]["annotations"];
    EXPECT_EQ(annotations["berth.dev/exclusive-topology"].text(), "rack");
    EXPECT_EQ(annotations["berth.dev/topology"].text(), "required:rack");
    EXPECT_EQ(annotations["berth.dev/pod-set"].text(), "train-workers-1") << "without the other Jobs of its gang";
    EXPECT_EQ(annotations[kGroupSizeAnnotation].is_null(), *gang != 0);
  }
}

TEST(JobsOfASet, AreWhereTheSetSaysInBerthsWordsBeforeJobSets) {
  struct Case {
    const char* annotations;  // of the set
    const char* topology;
    const char* exclusive;
    const char* pod_set;
  };
  const Case cases[] = {
      {"{berth.dev/topology: 'required:rack'}", "required:rack", "", ""},
      {"{berth.dev/topology: 'required:zone', alpha.jobset.sigs.k8s.io/exclusive-topology: rack}", "required:zone",
       "rack", "train-workers-1"},
      {"{berth.dev/pod-set: all, berth.dev/exclusive-topology: zone, alpha.jobset.sigs.k8s.io/exclusive-topology: "
       "rack}",
       "required:rack", "zone", "all"},
  };
  for (const auto& [annotations, topology, exclusive, pod_set] : cases) {
    const JobSetWorld world(kWorkers, "", annotations);
    const Value pod = pod_of_job(job_of_set(world.set, 0, 1), 0, std::nullopt, 0);
    const Value& carried = pod["metadata"]["annotations"];
    EXPECT_EQ(carried["berth.dev/topology"].text(), topology) << annotations;
    EXPECT_EQ(carried["berth.dev/exclusive-topology"].text(), exclusive) << annotations;
    EXPECT_EQ(carried["berth.dev/pod-set"].text(), pod_set) << annotations;
  }
}

TEST(JobsOfASet, AreAPodSetPartByPartWhereTheyAskInKueuesWords) {
  struct Case {
    const char* what;
    const char* annotations;  // of the pods
    const char* pod_set;
  };
  const Case cases[] = {
      {"each part by itself", "{kueue.x-k8s.io/podset-required-topology: rack}", "workers"},
      {"slices, too", "{kueue.x-k8s.io/podset-slice-required-topology: rack, kueue.x-k8s.io/podset-slice-size: '2'}",
       "workers"},
      {"with the others of its group",
       "{kueue.x-k8s.io/podset-preferred-topology: rack, kueue.x-k8s.io/podset-group-name: all}", "all"},
      {"a set of its own words", "{kueue.x-k8s.io/podset-required-topology: rack, berth.dev/pod-set: own}", "own"},
      {"Berth's words are about all", "{kueue.x-k8s.io/podset-required-topology: rack, berth.dev/topology: r}", ""},
      {"who asks for nothing is in none", "{kueue.x-k8s.io/podset-group-name: all}", ""},
  };
  for (const auto& [what, annotations, pod_set] : cases) {
    JobSetWorld world(kDriver + "," + kWorkers);
    Value& workers = world.set.at("spec").at("replicatedJobs").edit_items()[1];
    workers.at("template")
        .at("spec")
        .at("template")
        .at("metadata")
        .set("annotations", parse_yaml(annotations)->front());
    for (const std::int64_t index : {0, 1}) {
      const Value job = job_of_set(world.set, 1, index);
      EXPECT_EQ(job["spec"]["template"]["metadata"]["annotations"]["berth.dev/pod-set"].text(), pod_set) << what;
    }
  }
}

TEST(PodsAtOnce, AreNoMoreThanAreWanted) {
  struct Case {
    const char* spec;
    std::int64_t pods;
  };
  const Case cases[] = {{"{}", 1},
                        {"{parallelism: 4}", 4},
                        {"{parallelism: 4, completions: 2}", 2},
                        {"{completions: 9}", 1},
                        {"{parallelism: 0, completions: 9}", 0}};
  for (const auto& [spec, pods] : cases) EXPECT_EQ(pods_at_once(parse_yaml(spec)->front()), pods) << spec;
}

}  // namespace berth::job_set_jobs_test
