#include "rehearsal/stories.h"

#include <algorithm>
#include <utility>

#include "manifest/json.h"

namespace berth {
namespace {

constexpr std::int64_t kAllChanges = 100'000;
constexpr std::int64_t kFewChanges = 16;  // far less than the story makes: the log is cut all the time

constexpr const char* kCopyStep = "make a copy";

// While a scheduler waits for the lease of the one before it, nobody completes a gang that is half bound.
constexpr const char* kLongerThanALease = "60s";

const std::string kConfigMaps = "/api/v1/namespaces/default/configmaps";
const std::string kPods = "/api/v1/namespaces/default/pods";
const std::string kJobs = "/apis/batch/v1/namespaces/default/jobs";
const std::string kQuotas = "/api/v1/namespaces/default/resourcequotas";

std::string config_map(const std::string& name, const std::string& value) {
  return R"({"metadata":{"name":")" + name + R"("},"data":{"value":")" + value + R"("}})";
}

std::string pod_spec(int gpus, const std::string& run_for) {
  return R"({"metadata":{"annotations":{"berth.dev/run-for":")" + run_for +
         R"("}},"spec":{"restartPolicy":"Never","terminationGracePeriodSeconds":1,"containers":[{"name":"c","image":"i",)"
         R"("resources":{"limits":{"nvidia.com/gpu":)" +
         std::to_string(gpus) + "}}}]}}";
}

std::string pod(const std::string& name, const std::string& owner_uid) {
  Value pod = parse_json(pod_spec(1, "90000s")).value();
  pod.at("metadata").set("name", name);
  if (!owner_uid.empty()) {
    Value owner = Value::map_of({{"apiVersion", "v1"}, {"kind", "ConfigMap"}, {"name", "owner"}, {"uid", owner_uid}});
    pod.at("metadata").at("ownerReferences").push_back(std::move(owner));
  }
  return to_json(pod);
}

std::string job(const std::string& name, int parallelism, int completions, int gpus, const std::string& run_for) {
  return R"({"metadata":{"name":")" + name + R"("},"spec":{"parallelism":)" + std::to_string(parallelism) +
         R"(,"completions":)" + std::to_string(completions) + R"(,"template":)" + pod_spec(gpus, run_for) + "}}";
}

StoryStep create(const std::string& path, const std::string& body) {
  return {"create in " + path, [=](Plane& plane) { plane.create(path, body); }};
}
StoryStep remove(const std::string& path, const std::string& options = "") {
  return {"delete " + path, [=](Plane& plane) { plane.remove(path, options); }};
}
StoryStep wait_until_gone(const std::string& path) {
  return {"wait until " + path + " is gone",
          [=](Plane& plane) { plane.until(path + " is gone", [&] { return !plane.is_there(path); }); }};
}

// Read, change, write back as what was read; whoever was faster is looked at again.
StoryStep update(const std::string& name, const std::string& value) {
  return {"set " + name + " to " + value, [=](Plane& plane) {
            const std::string path = kConfigMaps + "/" + name;
            while (true) {
              Value read = plane.get(path);
              if (read["data"]["value"].text() == value) return;
              read.at("data").set("value", value);
              const ApiAnswer answer = plane.call("PUT", path, to_json(read));
              if (!answer.ok() && answer.status != 409) throw Stuck("PUT " + path + ": " + answer.body);
            }
          }};
}
StoryStep expect_refused(const std::string& method, const std::string& path, const std::string& body, int status) {
  return {"be refused " + path, [=](Plane& plane) {
            const ApiAnswer answer = plane.call(method, path, body);
            if (answer.status != status) throw Stuck(method + " " + path + ": not refused but " + answer.body);
          }};
}

bool is_complete(const Value& job) {
  return std::ranges::any_of(job["status"]["conditions"].items(), [](const Value& each) {
    return each["type"].text() == "Complete" && each["status"].text() == "True";
  });
}
StoryStep wait_until_complete(const std::string& name) {
  return {"wait for " + name, [=](Plane& plane) {
            plane.until(name + " is complete", [&] { return is_complete(plane.get(kJobs + "/" + name)); });
          }};
}

// ---- ends ----------------------------------------------------------------------------------------------------------

std::string value_of(const Past& past, const std::string& name) {
  const Records& records = past.at(past.end());
  const auto found = records.find("configmaps/default/" + name);
  return found == records.end() ? "none" : std::string(object_of_record(found->second)["data"]["value"].text());
}
void expect_value(const Past& past, const std::string& name, const std::string& value, Complaints& complaints) {
  const std::string found = value_of(past, name);
  if (found != value) complaints.add({}, name + " ends with the value " + found + " instead of " + value);
}
std::int64_t pods_made(const Past& past, const std::string& prefix) {
  return std::ranges::count_if(past.changes(), [&](const ChangePtr& change) {
    return !change->before && change->key().starts_with("pods/default/" + prefix);
  });
}
void expect_pods_made(const Past& past, const std::string& prefix, std::int64_t count, Complaints& complaints) {
  const std::int64_t made = pods_made(past, prefix);
  if (made == count) return;
  complaints.add({}, std::to_string(made) + " pods were made for " + prefix + " instead of " + std::to_string(count));
}

// A gang's pods start when all of them have places: at no time does one run while another was never bound.
void expect_whole(const Past& past, const std::string& gang, std::size_t size, Complaints& complaints) {
  std::vector<std::string> bound;
  for (const ChangePtr& change : past.changes()) {
    if (!change->after || !change->key().starts_with("pods/default/" + gang)) continue;
    const Value pod = object_of_record(change->after);
    const std::string uid(pod["metadata"]["uid"].text());
    if (!pod["spec"]["nodeName"].is_empty() && std::ranges::find(bound, uid) == bound.end()) bound.push_back(uid);
    if (pod["status"]["phase"].text() == "Succeeded" && bound.size() < size) {
      complaints.add({}, "a pod of " + gang + " ends when only " + std::to_string(bound.size()) + " were bound");
    }
  }
}

// ---- the stories ---------------------------------------------------------------------------------------------------

Story settings_are_changed() {
  const std::string stale = R"({"metadata":{"name":"a","resourceVersion":"1"},"data":{"value":"lost update"}})";
  return {.name = "settings are changed by two who do not wait for each other",
          .followed = "configmaps",
          .from_nothing = true,
          .changes_kept_max = kAllChanges,
          .steps = {create(kConfigMaps, config_map("a", "1")), create(kConfigMaps, config_map("b", "1")),
                    update("a", "2"), expect_refused("PUT", kConfigMaps + "/a", stale, 409), update("b", "2"),
                    remove(kConfigMaps + "/b"), update("a", "3"), create(kConfigMaps, config_map("c", "1"))},
          .at_the_end = [](const Past& past) {
            Complaints complaints;
            for (const auto& [name, value] : {std::pair("a", "3"), {"b", "none"}, {"c", "1"}}) {
              expect_value(past, name, value, complaints);
            }
            return complaints;
          }};
}

Story a_job_runs() {
  return {.name = "a Job runs to completion",
          .followed = "pods",
          .from_nothing = false,
          .changes_kept_max = kAllChanges,
          .steps = {create(kJobs, job("train", 2, 3, 1, "2s")), wait_until_complete("train")},
          .at_the_end = [](const Past& past) {
            Complaints complaints;
            expect_pods_made(past, "train-", 3, complaints);
            const Value train = object_of_record(past.at(past.end()).find("jobs.batch/default/train")->second);
            if (train["status"]["succeeded"].integer() != 3) complaints.add({}, "not three pods succeeded");
            return complaints;
          }};
}

// The machines have room for one of them.
Story a_gang_waits() {
  return {.name = "a gang of four runs while another waits",
          .followed = "pods",
          .from_nothing = false,
          .changes_kept_max = kAllChanges,
          .steps = {create(kJobs, job("first", 4, 4, 2, kLongerThanALease)),
                    create(kJobs, job("second", 4, 4, 2, kLongerThanALease)), wait_until_complete("first"),
                    wait_until_complete("second")},
          .at_the_end = [](const Past& past) {
            Complaints complaints;
            for (const char* const gang : {"first-", "second-"}) {
              expect_pods_made(past, gang, 4, complaints);
              expect_whole(past, gang, 4, complaints);
            }
            return complaints;
          }};
}

Story a_namespace_ends() {
  const std::string team = "/api/v1/namespaces/team";
  return {.name = "a namespace ends with all that is in it",
          .followed = "configmaps",
          .from_nothing = false,
          .changes_kept_max = kAllChanges,
          .steps = {create("/api/v1/namespaces", R"({"metadata":{"name":"team"}})"),
                    create(team + "/configmaps", config_map("a", "1")),
                    create(team + "/pods", pod("worker", "")),
                    {"wait for a place",
                     [=](Plane& plane) {
                       plane.until("the pod runs", [&] {
                         return plane.get(team + "/pods/worker")["status"]["phase"].text() == "Running";
                       });
                     }},
                    remove(team),
                    wait_until_gone(team),
                    create(kConfigMaps, config_map("after", "1"))},
          .at_the_end = [](const Past& past) {
            Complaints complaints;
            for (const auto& [key, record] : past.at(past.end())) {
              // News of it may be told a little later than its end.
              if (key.find("/team/") != std::string::npos && !key.starts_with("events"))
                complaints.add({}, key + " is left");
            }
            expect_value(past, "after", "1", complaints);
            return complaints;
          }};
}

Story an_owner_ends() {
  const std::string quota = R"({"metadata":{"name":"q"},"spec":{"hard":{"pods":"2","requests.nvidia.com/gpu":"2"}}})";
  const auto create_owned = [](const std::string& name) {
    return StoryStep{"create pod " + name, [name](Plane& plane) {
                       const Value owner = plane.get(kConfigMaps + "/owner");
                       plane.create(kPods, pod(name, std::string(owner["metadata"]["uid"].text())));
                     }};
  };
  return {.name = "an owner ends, and its quota is free again",
          .followed = "pods",
          .from_nothing = false,
          .changes_kept_max = kAllChanges,
          .steps = {create(kQuotas, quota), create(kConfigMaps, config_map("owner", "1")), create_owned("a"),
                    create_owned("b"), expect_refused("POST", kPods, pod("c", ""), 403),
                    remove(kConfigMaps + "/owner", R"({"propagationPolicy":"Background"})"),
                    wait_until_gone(kPods + "/a"), wait_until_gone(kPods + "/b"), create(kPods, pod("c", ""))},
          .at_the_end = [](const Past& past) {
            Complaints complaints;
            const Records& records = past.at(past.end());
            if (!records.contains("pods/default/c")) complaints.add({}, "c found no room");
            if (records.contains("configmaps/default/owner")) complaints.add({}, "the owner is there");
            return complaints;
          }};
}

Story a_copy_is_made() {
  std::vector<StoryStep> steps = {create(kConfigMaps, config_map("a", "0")), create(kConfigMaps, config_map("b", "0"))};
  for (int i = 1; i <= 6; ++i) steps.push_back(update(i % 2 == 0 ? "a" : "b", std::to_string(i)));
  steps.push_back({kCopyStep, [](Plane& plane) {
                     // What a crash left of one that was begun; with a whole one the step had ended.
                     for (const char* const ending : {"", "-journal"}) plane.disk().remove(std::string(kCopy) + ending);
                     auto copied = plane.store().backup(kCopy);
                     while (!copied) {
                       plane.meet_trouble(copied.error().to_string());
                       copied = plane.store().backup(kCopy);
                     }
                   }});
  for (int i = 7; i <= 12; ++i) steps.push_back(update(i % 2 == 0 ? "a" : "b", std::to_string(i)));
  return {.name = "a copy is made while the log is cut",
          .followed = "configmaps",
          .from_nothing = false,
          .changes_kept_max = kFewChanges,
          .steps = std::move(steps),
          .at_the_end = [](const Past& past) {
            Complaints complaints;
            expect_value(past, "a", "12", complaints);
            expect_value(past, "b", "11", complaints);
            return complaints;
          }};
}

}  // namespace

std::size_t Story::copy_step() const {
  const auto found = std::ranges::find(steps, kCopyStep, &StoryStep::what);
  return static_cast<std::size_t>(found - steps.begin());
}

const std::vector<Story>& stories() {
  static const std::vector<Story> kStories = {settings_are_changed(), a_job_runs(),    a_gang_waits(),
                                              a_namespace_ends(),     an_owner_ends(), a_copy_is_made()};
  return kStories;
}

}  // namespace berth
