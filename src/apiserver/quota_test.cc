#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <functional>
#include <ranges>
#include <string>
#include <vector>

#include "apiserver/admission_world.h"
#include "base/property_seeds.h"
#include "base/rng.h"

namespace berth::quota_test {

std::string quota(const std::string& name, const std::string& hard) {
  return "{apiVersion: v1, kind: ResourceQuota, metadata: {name: " + name + ", namespace: default}, spec: {hard: {" +
         hard + "}}}";
}

std::string pod(const std::string& name, const std::string& limits, const std::string& metadata = "") {
  return "{apiVersion: v1, kind: Pod, metadata: {name: " + name + ", namespace: default" + metadata +
         "}, spec: {containers: [{name: c, image: b, resources: {limits: {" + limits + "}}}]}}";
}

std::string member(const std::string& name, const std::string& group, int size) {
  return pod(name, "nvidia.com/gpu: 1",
             ", labels: {berth.dev/pod-group: " + group + "}, annotations: {berth.dev/pod-group-size: '" +
                 std::to_string(size) + "'}");
}

class QuotaWorld : public AdmissionWorld {
 public:
  std::string used(const std::string& name = "q") const {
    return to_json(at("resourcequotas/default/" + name)["status"]["used"]);
  }
  std::string end(const std::string& name, const std::string& phase) {
    return update("pods/default/" + name, [&](Value& object) { object.at("status").set("phase", phase); }, "status");
  }
};

TEST(Quota, RefusesInTheWordsThatPeopleKnow) {
  QuotaWorld world;
  EXPECT_EQ(world.create(quota("q", "requests.nvidia.com/gpu: 0")), "");
  EXPECT_EQ(world.used(), R"({"requests.nvidia.com/gpu":"0"})");
  EXPECT_EQ(world.create(pod("p7", "nvidia.com/gpu: 1")),
            "pods \"p7\" is forbidden: exceeded quota: q, requested: requests.nvidia.com/gpu=1, used: "
            "requests.nvidia.com/gpu=0, limited: requests.nvidia.com/gpu=0");
  EXPECT_EQ(world.create(pod("p8", "")), "");
}

TEST(Quota, CountsASliceByNeedAsAGpu) {
  QuotaWorld world;
  EXPECT_EQ(world.create(quota("q", "requests.nvidia.com/gpu: 1")), "");
  EXPECT_EQ(world.create(pod("one", "", ", annotations: {berth.dev/gpu-slice: 1/7}")), "");
  EXPECT_EQ(world.used(), R"({"requests.nvidia.com/gpu":"1"})");
  EXPECT_NE(world.create(pod("two", "", ", annotations: {berth.dev/gpu-slice: 1/7}")), "");
}

TEST(Quota, CountsPartsOfGpusAsParts) {
  QuotaWorld world;
  EXPECT_EQ(world.create(quota("q", "requests.nvidia.com/gpu: 2, requests.nvidia.com/gpu.shared: 1")), "");
  const auto part = [&](const std::string& name, const std::string& limits, const std::string& annotations) {
    return world.create(pod(name, limits, ", annotations: {" + annotations + "}"));
  };
  EXPECT_EQ(part("half", "", "gpu-fraction: '0.5'"), "");
  EXPECT_EQ(world.used(), R"({"requests.nvidia.com/gpu":"500m","requests.nvidia.com/gpu.shared":"0"})");
  EXPECT_EQ(part("quarter", "nvidia.com/gpu: 1", "berth.dev/gpu-milli: '250'"), "");
  EXPECT_EQ(part("some", "", "gpu-memory: '1000'"), "");
  EXPECT_EQ(world.used(), R"({"requests.nvidia.com/gpu":"1750m","requests.nvidia.com/gpu.shared":"0"})");
  EXPECT_EQ(part("more", "", "gpu-fraction: '0.3', berth.dev/gpu-sharing: mps"),
            "pods \"more\" is forbidden: exceeded quota: q, requested: requests.nvidia.com/gpu=300m, used: "
            "requests.nvidia.com/gpu=1750m, limited: requests.nvidia.com/gpu=2");
  EXPECT_EQ(part("replica", "nvidia.com/gpu.shared: 1", "berth.dev/coverage: best-effort"), "");
  EXPECT_EQ(world.used(), R"({"requests.nvidia.com/gpu":"1750m","requests.nvidia.com/gpu.shared":"1"})");
  EXPECT_EQ(world.end("some", "Succeeded"), "");
  EXPECT_EQ(world.used(), R"({"requests.nvidia.com/gpu":"750m","requests.nvidia.com/gpu.shared":"1"})");
}

TEST(Quota, NamesAllThatIsExceededAndNothingElse) {
  QuotaWorld world;
  EXPECT_EQ(world.create(quota("q", "pods: 1, limits.cpu: 2, limits.memory: 9Gi")), "");
  EXPECT_EQ(world.create(pod("a", "cpu: 1500m, memory: 1Gi")), "");
  EXPECT_EQ(world.create(pod("b", "cpu: 1500m, memory: 1Gi")),
            "pods \"b\" is forbidden: exceeded quota: q, requested: limits.cpu=1500m,pods=1, used: "
            "limits.cpu=1500m,pods=1, limited: limits.cpu=2,pods=1");
  EXPECT_EQ(world.create(pod("b", "cpu: 1")),
            "pods \"b\" is forbidden: failed quota: q: must specify limits.memory for: c");
}

TEST(Quota, CountsAndGivesBack) {
  QuotaWorld world;
  EXPECT_EQ(world.create(pod("early", "nvidia.com/gpu: 1")), "");
  EXPECT_EQ(
      world.create(quota(
          "q",
          "pods: 9, count/pods: 9, requests.nvidia.com/gpu: 9, configmaps: 1, count/jobs.batch: 0, resourcequotas: 5")),
      "");
  EXPECT_EQ(
      world.used(),
      R"({"pods":"1","count/pods":"1","requests.nvidia.com/gpu":"1","configmaps":"0","count/jobs.batch":"0","resourcequotas":"1"})");
  EXPECT_EQ(world.create(pod("p", "nvidia.com/gpu: 2")), "");
  EXPECT_EQ(world.create("{apiVersion: v1, kind: ConfigMap, metadata: {name: c, namespace: default}}"), "");
  EXPECT_EQ(
      world.used(),
      R"({"pods":"2","count/pods":"2","requests.nvidia.com/gpu":"3","configmaps":"1","count/jobs.batch":"0","resourcequotas":"1"})");
  EXPECT_NE(world.create("{apiVersion: v1, kind: ConfigMap, metadata: {name: d, namespace: default}}"), "");
  EXPECT_NE(world.create("{apiVersion: batch/v1, kind: Job, metadata: {name: j, namespace: default}, spec: {template: "
                         "{spec: {restartPolicy: Never, containers: [{name: c, image: b}]}}}}"),
            "");
  EXPECT_EQ(world.end("p", "Running"), "");
  EXPECT_EQ(world.end("p", "Succeeded"), "");
  EXPECT_EQ(
      world.used(),
      R"({"pods":"1","count/pods":"2","requests.nvidia.com/gpu":"1","configmaps":"1","count/jobs.batch":"0","resourcequotas":"1"})");
  EXPECT_EQ(world.erase("pods/default/p"), "");
  EXPECT_EQ(world.erase("configmaps/default/c"), "");
  EXPECT_EQ(
      world.used(),
      R"({"pods":"1","count/pods":"1","requests.nvidia.com/gpu":"1","configmaps":"0","count/jobs.batch":"0","resourcequotas":"1"})");
}

TEST(Quota, ItsStatusIsWhatIsThereWhateverAnybodyWrites) {
  QuotaWorld world;
  EXPECT_EQ(world.create(quota("q", "pods: 2")), "");
  EXPECT_EQ(world.create(pod("p", "")), "");
  const auto forge = [](Value& object) { object.at("status").at("used").set("pods", "0"); };
  EXPECT_EQ(world.update("resourcequotas/default/q", forge, "status"), "");
  EXPECT_EQ(world.used(), R"({"pods":"1"})");
  EXPECT_EQ(
      world.update("resourcequotas/default/q", [](Value& object) { object.at("spec").at("hard").set("pods", "1"); }),
      "");
  EXPECT_NE(world.create(pod("r", "")), "");
}

TEST(Quota, AGangIsNotBegunThatItWouldCutInHalf) {
  QuotaWorld world;
  EXPECT_EQ(world.create(quota("q", "requests.nvidia.com/gpu: 8")), "");
  EXPECT_EQ(world.create(member("a-0", "a", 4)), "");
  EXPECT_EQ(world.used(), R"({"requests.nvidia.com/gpu":"4"})") << "it counts whole from its first pod on";
  const std::string refused = world.create(member("b-0", "b", 8));
  EXPECT_EQ(refused,
            "pods \"b-0\" is forbidden: exceeded quota: q, requested: requests.nvidia.com/gpu=8, used: "
            "requests.nvidia.com/gpu=4, limited: requests.nvidia.com/gpu=8 "
            "(for the 8 pods of the group \"b\" that are still to come: they start together or not at all)");
  EXPECT_NE(world.create(pod("big", "nvidia.com/gpu: 5")), "") << "nobody takes the room that is kept";
  for (int i = 1; i < 4; ++i) EXPECT_EQ(world.create(member("a-" + std::to_string(i), "a", 4)), "");
  for (int i = 0; i < 4; ++i) EXPECT_EQ(world.create(member("c-" + std::to_string(i), "c", 4)), "");
  EXPECT_NE(world.create(member("d-0", "d", 1)), "");
  // A replacement of a failed member is one pod, not a gang.
  EXPECT_EQ(world.end("a-0", "Failed"), "");
  EXPECT_EQ(world.create(member("a-4", "a", 4)), "");
  // So is what follows a member that is done.
  EXPECT_EQ(world.end("c-0", "Succeeded"), "");
  EXPECT_EQ(world.create(member("c-4", "c", 4)), "");
}

// A Job and its pods as the jobs controller makes them.
std::string gang_job(const std::string& name, int parallelism, int completions) {
  return "{apiVersion: batch/v1, kind: Job, metadata: {name: " + name + ", namespace: default, uid: u-" + name +
         "}, spec: {parallelism: " + std::to_string(parallelism) + ", completions: " + std::to_string(completions) +
         ", template: {spec: {restartPolicy: Never, containers: [{name: c, image: b}]}}}}";
}
std::string job_member(const std::string& name, const std::string& job, int size) {
  return pod(name, "nvidia.com/gpu: 1",
             ", labels: {berth.dev/pod-group: " + job + "}, annotations: {berth.dev/pod-group-size: '" +
                 std::to_string(size) + "'}, ownerReferences: [{apiVersion: batch/v1, kind: Job, name: " + job +
                 ", uid: u-" + job + ", controller: true}]");
}

TEST(Quota, AJobKeepsItsRoomForAsLongAsItHasPodsToRun) {
  QuotaWorld world;
  const auto change = [&](const std::string& job, const std::function<void(Value&)>& how) {
    EXPECT_EQ(world.update("jobs.batch/default/" + job, how, "status"), "");
  };
  EXPECT_EQ(world.create(quota("q", "requests.nvidia.com/gpu: 5")), "");
  EXPECT_EQ(world.create(gang_job("a", 3, 5)), "");
  EXPECT_EQ(world.create(gang_job("b", 3, 3)), "") << "a Job is taken whether there is room or not";
  EXPECT_EQ(world.create(job_member("a-0", "a", 3)), "");
  EXPECT_NE(world.create(job_member("b-0", "b", 3)), "");
  for (const char* const name : {"a-1", "a-2"}) EXPECT_EQ(world.create(job_member(name, "a", 3)), "");
  EXPECT_EQ(world.used(), R"({"requests.nvidia.com/gpu":"3"})");
  // One has failed: its room is its replacement's.
  EXPECT_EQ(world.end("a-0", "Failed"), "");
  EXPECT_EQ(world.used(), R"({"requests.nvidia.com/gpu":"3"})");
  EXPECT_NE(world.create(job_member("b-0", "b", 3)), "");
  EXPECT_EQ(world.create(job_member("a-3", "a", 3)), "");
  // Two are done, and as many are left to be run as may run at once; then one less.
  EXPECT_EQ(world.end("a-1", "Succeeded"), "");
  change("a", [](Value& job) { job.at("status").set("succeeded", 2); });
  EXPECT_EQ(world.used(), R"({"requests.nvidia.com/gpu":"3"})");
  EXPECT_EQ(world.end("a-2", "Succeeded"), "");
  change("a", [](Value& job) { job.at("status").set("succeeded", 3); });
  EXPECT_EQ(world.used(), R"({"requests.nvidia.com/gpu":"2"})");
  EXPECT_EQ(world.create(job_member("b-0", "b", 3)), "") << "now there is room for all of it";
  EXPECT_EQ(world.used(), R"({"requests.nvidia.com/gpu":"5"})");
  EXPECT_EQ(world.update("jobs.batch/default/b", [](Value& job) { job.at("spec").set("suspend", true); }), "");
  EXPECT_EQ(world.used(), R"({"requests.nvidia.com/gpu":"3"})") << "its one pod is still there";
  EXPECT_EQ(world.erase("jobs.batch/default/a"), "");
  EXPECT_EQ(world.used(), R"({"requests.nvidia.com/gpu":"2"})");
}

// Jobs and groups compete for room, pods come in any order, fail, succeed and go.
TEST(QuotaProperty, NoGangIsEverStuckInHalf) {
  for (const Seed seed : property_seeds(20)) {
    SCOPED_TRACE(name_of(seed));
    QuotaWorld world;
    Rng rng(seed);
    ASSERT_EQ(world.create(quota("q", "requests.nvidia.com/gpu: 8, pods: 9")), "");
    constexpr int kJobs = 6;
    std::vector<int> sizes, succeeded(kJobs), made(kJobs);
    std::vector<std::vector<std::string>> live(kJobs);
    for (int j = 0; j < kJobs; ++j) {
      sizes.push_back(static_cast<int>(rng.between(2, 8)));
      ASSERT_EQ(world.create(gang_job("j" + std::to_string(j), sizes.back(), sizes.back())), "");
    }
    const auto at = [](int j) { return static_cast<std::size_t>(j); };
    const auto needs = [&](int j) { return sizes[at(j)] - succeeded[at(j)] - static_cast<int>(live[at(j)].size()); };
    const auto is_whole = [&](int j) { return needs(j) == 0; };
    const auto create = [&](int j) {
      const std::string job = "j" + std::to_string(j);
      const std::string name = job + "-" + std::to_string(made[at(j)]++);
      const bool begun = succeeded[at(j)] > 0 || !live[at(j)].empty();
      const std::string refused = world.create(job_member(name, job, sizes[at(j)]));
      ASSERT_TRUE(!begun || refused.empty()) << "what has begun comes to be whole: " << refused;
      if (refused.empty()) live[at(j)].push_back(name);
    };
    const auto end = [&](int j, const std::string& phase) {
      const std::size_t which = rng.below(live[at(j)].size());
      const std::string name = live[at(j)][which];
      live[at(j)].erase(live[at(j)].begin() + static_cast<std::ptrdiff_t>(which));
      ASSERT_EQ(world.end(name, phase), "");
      if (phase == "Succeeded") ++succeeded[at(j)];
      const auto count = [&](Value& job) { job.at("status").set("succeeded", succeeded[at(j)]); };
      ASSERT_EQ(world.update("jobs.batch/default/j" + std::to_string(j), count, "status"), "");
      if (rng.below(2) == 0) {
        ASSERT_EQ(world.erase("pods/default/" + name), "");
      }
    };
    const auto is_done = [&](int j) { return succeeded[at(j)] == sizes[at(j)]; };
    int steps = 0;
    for (; steps < 3000; ++steps) {
      if (std::ranges::all_of(std::views::iota(0, kJobs), is_done)) break;
      const int j = static_cast<int>(rng.below(kJobs));
      // Pods end only when all of the gang run, as they wait for one another; some fail even so.
      const bool may_end = !live[at(j)].empty() && (is_whole(j) || rng.below(4) == 0);
      if (needs(j) > 0 && !(may_end && rng.below(3) == 0)) {
        create(j);
      } else if (may_end) {
        end(j, rng.below(5) == 0 ? "Failed" : "Succeeded");
      }
      if (testing::Test::HasFatalFailure()) return;
      const Value used = world.at("resourcequotas/default/q")["status"]["used"];
      ASSERT_LE(std::stoi(std::string(used["requests.nvidia.com/gpu"].text())), 8);
      const Revision before = world.store.next_revision();
      settle_quota(world.store, "default", world.now);
      ASSERT_EQ(world.store.next_revision(), before) << "step " << steps << ": counting anew changed something";
    }
    EXPECT_LT(steps, 3000) << "all Jobs came to their end";
    EXPECT_EQ(world.used(), R"({"requests.nvidia.com/gpu":"0","pods":"0"})");
  }
}

TEST(Quota, CreatingAPodReadsNoOtherPods) {
  QuotaWorld world;
  EXPECT_EQ(world.create(quota("q", "requests.nvidia.com/gpu: 1000, pods: 1000")), "");
  for (int i = 0; i < 100; ++i) EXPECT_EQ(world.create(member("p" + std::to_string(i), "g", 100)), "");
  world.store.records_visited = 0;
  EXPECT_EQ(world.create(member("one-more", "g", 101)), "");
  EXPECT_LT(world.store.records_visited, 10U);
  EXPECT_EQ(world.erase("pods/default/one-more"), "");
  EXPECT_LT(world.store.records_visited, 10U);
}

TEST(QuotaProperty, UsedEqualsWhatIsCountedAnew) {
  for (const Seed seed : property_seeds(8)) {
    SCOPED_TRACE(name_of(seed));
    QuotaWorld world;
    Rng rng(seed);
    const auto chance = [&](std::uint64_t out_of) { return rng.below(out_of) == 0; };
    const auto number = [&](std::uint64_t bound) { return std::to_string(rng.below(bound)); };
    const std::vector<std::string> kHards = {"pods: 12, count/pods: 20", "requests.nvidia.com/gpu: 10, limits.cpu: '8'",
                                             "count/configmaps: 5, requests.memory: 10Gi",
                                             "pods: 30, requests.cpu: 5500m, secrets: 3"};
    for (int step = 0; step < 250; ++step) {
      const std::string name = "x" + number(15);
      const bool there = world.store.find("pods/default/" + name) != nullptr;
      const bool over = there && world.at("pods/default/" + name)["status"]["phase"].text() == "Failed";
      switch (rng.below(7)) {
        case 0: {
          const std::string key = "resourcequotas/default/q" + number(3);
          if (!world.store.find(key))
            world.create(quota(key.substr(key.size() - 2), kHards[rng.below(kHards.size())]));
          else if (chance(3))
            world.erase(key);
          else
            world.update(key, [&](Value& object) { object.at("spec").at("hard").set("pods", number(20)); });
          break;
        }
        case 1:
        case 2:
        case 3: {
          const std::string limits =
              "nvidia.com/gpu: " + number(3) + ", cpu: " + number(900) + "m, memory: " + number(2'000) + "Mi";
          const std::string marks = chance(2) ? ""
                                              : ", labels: {berth.dev/pod-group: g" + number(3) +
                                                    "}, annotations: {berth.dev/pod-group-size: '" + number(4) + "'}";
          if (!there) world.create(pod(name, limits, marks));
          break;
        }
        case 4:
          if (there && !over) world.end(name, chance(2) ? "Failed" : "Running");
          break;
        case 5:
          if (there) {
            EXPECT_EQ(world.erase("pods/default/" + name), "");
          }
          break;
        default: {
          const std::string kind = chance(2) ? "ConfigMap" : "Secret";
          const std::string key = (kind == "Secret" ? "secrets/default/" : "configmaps/default/") + name;
          if (world.store.find(key))
            world.erase(key);
          else
            world.create("{apiVersion: v1, kind: " + kind + ", metadata: {name: " + name + ", namespace: default}}");
        }
      }
      const Revision before = world.store.next_revision();
      settle_quota(world.store, "default", world.now);
      ASSERT_EQ(world.store.next_revision(), before) << "step " << step << ": counting anew changed something";
    }
  }
}

}  // namespace berth::quota_test
