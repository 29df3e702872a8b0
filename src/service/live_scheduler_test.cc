// The live scheduler against a real API server of the same process.
#include "service/live_scheduler.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <filesystem>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "local_api/eventually.h"
#include "local_api/test_server.h"
#include "manifest/json.h"
#include "manifest/told_changes.h"

namespace berth::live_scheduler_test {

// Loses the first answer to a binding, and from then on tells nothing of pods.
class LosesAnAnswer : public Transport {
 public:
  explicit LosesAnAnswer(Transport& below) : below_(below) {}

  void send(ApiCall call, std::function<void(ApiAnswer)> done) override {
    const bool binds = call.path.ends_with("/binding");
    const bool loses = binds && !has_lost_.exchange(true);
    if (binds) {
      const std::lock_guard hold(mutex_);
      bindings_.push_back(call.path);
    }
    below_.send(std::move(call), [this, loses, done = std::move(done)](ApiAnswer answer) {
      if (answer.status == 409) ++conflicts_;
      done(loses ? ApiAnswer{} : std::move(answer));
    });
  }
  std::unique_ptr<ApiStream> stream(ApiCall call, std::function<void(std::string_view)> on_line,
                                    std::function<void(ApiAnswer)> on_end) override {
    const bool of_pods = call.path.starts_with("/api/v1/pods");
    return below_.stream(
        std::move(call),
        [this, of_pods, on_line = std::move(on_line)](std::string_view line) {
          if (!of_pods || !has_lost_) on_line(line);
        },
        std::move(on_end));
  }

  int conflicts() const { return conflicts_; }
  std::vector<std::string> bindings() const {
    const std::lock_guard hold(mutex_);
    return bindings_;
  }

 private:
  Transport& below_;
  std::atomic<bool> has_lost_ = false;
  std::atomic<int> conflicts_ = 0;
  mutable std::mutex mutex_;
  std::vector<std::string> bindings_;
};

// Takes no writing on nodes until it is told to, and counts what was asked before.
class RefusesNotes : public Transport {
 public:
  explicit RefusesNotes(Transport& below) : below_(below) {}

  void send(ApiCall call, std::function<void(ApiAnswer)> done) override {
    const bool is_note = call.method == "PATCH" && call.path.starts_with("/api/v1/nodes/");
    if (is_note) ++notes_;
    if (call.path.ends_with("/binding")) ++bindings_;
    if (is_note && refuses_) return done({.status = 403, .body = "{}"});
    below_.send(std::move(call), std::move(done));
  }
  std::unique_ptr<ApiStream> stream(ApiCall call, std::function<void(std::string_view)> on_line,
                                    std::function<void(ApiAnswer)> on_end) override {
    return below_.stream(std::move(call), std::move(on_line), std::move(on_end));
  }
  void take_them() { refuses_ = false; }
  int notes() const { return notes_; }
  int bindings() const { return bindings_; }

 private:
  Transport& below_;
  std::atomic<bool> refuses_ = true;
  std::atomic<int> notes_ = 0, bindings_ = 0;
};

// A cluster on which nobody has installed Kueue or Volcano, and one that lets the scheduler read no queues.
class HasOnlyItsOwn : public Transport {
 public:
  HasOnlyItsOwn(Transport& below, bool forbids_queues) : below_(below), forbids_queues_(forbids_queues) {}

  void send(ApiCall call, std::function<void(ApiAnswer)> done) override {
    for (const char* const group :
         {"/apis/kueue.x-k8s.io/", "/apis/scheduling.volcano.sh/", "/apis/scheduling.x-k8s.io/",
          "/apis/topology.volcano.sh/", "/apis/scheduling.k8s.io/v1beta1/"}) {
      if (call.path.starts_with(group)) return done({.status = 404, .body = "404 page not found\n"});
    }
    if (forbids_queues_ && call.path.contains("/queues?")) return done({.status = 403, .body = "{}"});
    below_.send(std::move(call), std::move(done));
  }
  std::unique_ptr<ApiStream> stream(ApiCall call, std::function<void(std::string_view)> on_line,
                                    std::function<void(ApiAnswer)> on_end) override {
    return below_.stream(std::move(call), std::move(on_line), std::move(on_end));
  }

 private:
  Transport& below_;
  bool forbids_queues_;
};

class LiveSchedulerTest : public ::testing::Test {
 protected:
  void start(Transport& transport, const std::string& journal = "", Scrubs scrubs = Scrubs::kNone) {
    LiveSchedulerOptions options;
    options.scrubs = scrubs;
    options.now = [this] { return server_.now(); };
    options.identity = "test-" + std::to_string(++started_);
    options.journal_folder = journal;
    options.finds_changes = true;
    options.log = [this](const std::string& line) {
      const std::lock_guard hold(log_mutex_);
      log_ += line + "\n";
    };
    scheduler_ = LiveScheduler::start(transport, *alarm_, std::move(options), [] {});
  }
  void start(const std::string& journal = "") { start(*transport_, journal); }
  void stop() {
    scheduler_.reset();
    ASSERT_TRUE(
        server_.call("DELETE", "/apis/coordination.k8s.io/v1/namespaces/kube-system/leases/berth-scheduler").ok());
  }

  void add_node(const std::string& name, int gpus) {
    const std::string capacity =
        R"({"cpu":"64","memory":"256Gi","pods":"110","nvidia.com/gpu":")" + std::to_string(gpus) + "\"}";
    ASSERT_TRUE(server_.call("POST", "/api/v1/nodes", R"({"metadata":{"name":")" + name + R"("}})").ok());
    const std::string path = "/api/v1/nodes/" + name;
    const std::string status = R"({"status":{"capacity":)" + capacity + R"(,"allocatable":)" + capacity +
                               R"(,"conditions":[{"type":"Ready","status":"True"}]}})";
    ASSERT_TRUE(server_.call("PATCH", path + "/status", status).ok());
    ASSERT_TRUE(server_.call("PATCH", path, R"({"spec":{"taints":null}})").ok());
  }
  void add_pod(const std::string& name, int gpus, const std::string& metadata = "") {
    const ApiAnswer answer = server_.call(
        "POST", "/api/v1/namespaces/default/pods",
        R"({"metadata":{"name":")" + name + "\"" + metadata +
            R"(},"spec":{"restartPolicy":"Never","containers":[{"name":"c","image":"i","resources":{"limits":{"nvidia.com/gpu":")" +
            std::to_string(gpus) + R"("}}}]}})");
    ASSERT_TRUE(answer.ok()) << answer.body;
  }
  Value get(const std::string& path) { return parse_json(server_.call("GET", path).body).value_or(Value()); }
  Value pod(const std::string& name) { return get("/api/v1/namespaces/default/pods/" + name); }
  std::string node_of(const std::string& name) { return std::string(pod(name)["spec"]["nodeName"].text()); }
  std::string reason_of(const std::string& name) {
    const Value found = pod(name);
    for (const Value& condition : found["status"]["conditions"].items()) {
      if (condition["status"].text() == "False") return std::string(condition["message"].text());
    }
    return "";
  }

  TestServer server_;
  std::unique_ptr<Alarm> alarm_ = Alarm::start();
  std::unique_ptr<Transport> transport_ = server_.transport("system:berth-scheduler");
  bool was_logged(const std::string& text) {
    const std::lock_guard hold(log_mutex_);
    return log_.contains(text);
  }

  std::mutex log_mutex_;
  std::string log_;
  std::unique_ptr<LiveScheduler> scheduler_;
  int started_ = 0;
};

TEST_F(LiveSchedulerTest, SchedulesWhereThereIsNothingOfKueueOrVolcano) {
  HasOnlyItsOwn bare(*transport_, false);
  add_node("n1", 2);
  add_pod("a", 2);
  start(bare);
  EXPECT_TRUE(eventually([&] { return node_of("a") == "n1"; }));
  EXPECT_TRUE(was_logged("the API server does not serve clusterqueues.kueue.x-k8s.io: there are none"));
  scheduler_.reset();
}

// Whose lease was lost waits for its process to end, and takes no part any more.
TEST_F(LiveSchedulerTest, LeadsOnceAndNotAgain) {
  const std::string leases = "/apis/coordination.k8s.io/v1/namespaces/kube-system/leases";
  add_node("n1", 2);
  start();
  ASSERT_TRUE(eventually([&] { return was_logged("leads, epoch 1;"); }));
  ASSERT_TRUE(server_.call("PATCH", leases + "/berth-scheduler", R"({"spec":{"holderIdentity":"other"}})").ok());
  ASSERT_TRUE(eventually([&] { return was_logged("leads no more: "); }));
  ASSERT_TRUE(server_.call("DELETE", leases + "/berth-scheduler").ok());
  // Longer than until it would have asked for it again.
  std::this_thread::sleep_for(std::chrono::seconds(3));
  EXPECT_EQ(server_.call("GET", leases + "/berth-scheduler").status, 404);
  const std::unique_ptr<LiveScheduler> first = std::move(scheduler_);
  start();
  add_pod("a", 2);
  EXPECT_TRUE(eventually([&] { return node_of("a") == "n1"; }));
  EXPECT_EQ(get(leases + "/berth-scheduler")["spec"]["holderIdentity"].text(), "test-2");
  EXPECT_FALSE(first->progress().leading);
}

TEST_F(LiveSchedulerTest, SaysWhatItWaitsFor) {
  HasOnlyItsOwn forbidding(*transport_, true);
  start(forbidding);
  EXPECT_TRUE(eventually([&] { return was_logged("waits: queues.berth.dev: cannot list: 403"); }));
  scheduler_.reset();
}

TEST_F(LiveSchedulerTest, BindsPodsAndTellsTheOthersWhyTheyWait) {
  add_node("n1", 2);
  add_pod("a", 2);
  add_pod("b", 1);
  start();
  ASSERT_TRUE(eventually([&] { return node_of("a") == "n1" || node_of("b") == "n1"; }));
  const std::string waits = node_of("a").empty() ? "a" : "b";
  const std::string runs = waits == "a" ? "b" : "a";
  ASSERT_TRUE(eventually([&] {
    return reason_of(waits) == "Capacity: no node has 1 GPU free (the only one has none free)";
  })) << reason_of(waits);
  EXPECT_EQ(pod("a")["metadata"]["annotations"]["berth.dev/gpus"].text(), runs == "a" ? "0,1" : "");
  ASSERT_TRUE(
      server_
          .call("PATCH", "/api/v1/namespaces/default/pods/" + runs + "/status", R"({"status":{"phase":"Succeeded"}})")
          .ok());
  EXPECT_TRUE(eventually([&] { return node_of(waits) == "n1"; }));
}

TEST_F(LiveSchedulerTest, TellsThemWhatWouldStartThemUntilTheyHaveAPlace) {
  add_node("n1", 2);
  add_pod("a", 2);
  add_pod("b", 2);
  start();
  ASSERT_TRUE(eventually([&] { return !node_of("a").empty() || !node_of("b").empty(); }));
  const std::string waits = node_of("a").empty() ? "a" : "b";
  const std::string runs = waits == "a" ? "b" : "a";
  ASSERT_TRUE(eventually([&] { return changes_told_of(pod(waits)).has_value(); }));
  const std::string told = to_text(changes_told_of(pod(waits))->told);
  EXPECT_TRUE(told.contains("end: if default/" + runs + " ended")) << told;
  ASSERT_TRUE(
      server_
          .call("PATCH", "/api/v1/namespaces/default/pods/" + runs + "/status", R"({"status":{"phase":"Succeeded"}})")
          .ok());
  ASSERT_TRUE(eventually([&] { return node_of(waits) == "n1"; }));
  EXPECT_TRUE(eventually([&] { return !changes_told_of(pod(waits)).has_value(); }));
}

TEST_F(LiveSchedulerTest, AGangStartsWholeAndItsWorkloadSaysHowItStands) {
  add_node("n1", 8);
  const std::string gang = R"(,"labels":{"berth.dev/pod-group":"g"},"annotations":{"berth.dev/pod-group-size":"2"})";
  add_pod("g0", 8, gang);
  add_pod("g1", 8, gang);
  start();
  ASSERT_TRUE(eventually([&] { return reason_of("g1").starts_with("Invalid: "); })) << reason_of("g1");
  const std::string workload = "/apis/berth.dev/v1alpha1/namespaces/default/workloads/g";
  ASSERT_TRUE(eventually([&] { return get(workload)["status"]["reason"].text().starts_with("Invalid: "); }));
  EXPECT_EQ(node_of("g0"), "");
  add_node("n2", 8);
  EXPECT_TRUE(eventually([&] { return !node_of("g0").empty() && !node_of("g1").empty(); }));
  EXPECT_TRUE(eventually([&] {
    return get(workload)["status"]["conditions"].items().size() == 1 &&
           get(workload)["status"]["conditions"].items()[0]["status"].text() == "True";
  }));
}

// Also when it was made by an earlier scheduler, for another group of its name; one in which no scheduler says anything stays.
TEST_F(LiveSchedulerTest, AWorkloadIsThereForAsLongAsItsPodsAre) {
  const std::string workloads = "/apis/berth.dev/v1alpha1/namespaces/default/workloads";
  for (const std::string name : {"g", "left", "foreign"}) {
    const ApiAnswer made =
        server_.call("POST", workloads,
                     R"({"metadata":{"name":")" + name +
                         R"("},"spec":{"queue":"old","podSets":[{"name":"main","count":7,"requests":{"cpu":"1"}}]}})");
    ASSERT_TRUE(made.ok()) << made.body;
    const std::string status =
        R"({"status":{"conditions":[{"type":"Admitted","status":"False","reason":"Capacity","message":"m",)"
        R"("lastTransitionTime":"2026-11-21T08:00:00Z"}]}})";
    if (name != "foreign") {
      ASSERT_TRUE(server_.call("PATCH", workloads + "/" + name + "/status", status).ok());
    }
  }
  add_node("n1", 8);
  const std::string gang = R"(,"labels":{"berth.dev/pod-group":"g"},"annotations":{"berth.dev/pod-group-size":"2"})";
  add_pod("g0", 4, gang);
  add_pod("g1", 4, gang);
  start();
  ASSERT_TRUE(eventually([&] { return !node_of("g0").empty() && !node_of("g1").empty(); }));
  EXPECT_TRUE(eventually([&] {
    return to_json(get(workloads + "/g")["spec"]) ==
           R"({"queue":"default","podSets":[{"name":"main","count":2,"requests":{"nvidia.com/gpu":"4"}}]})";
  })) << to_json(get(workloads + "/g")["spec"]);
  EXPECT_TRUE(eventually([&] { return server_.call("GET", workloads + "/left").status == 404; }));
  for (const std::string pod : {"g0", "g1"}) {
    ASSERT_TRUE(server_.call("DELETE", "/api/v1/namespaces/default/pods/" + pod + "?gracePeriodSeconds=0").ok());
  }
  EXPECT_TRUE(eventually([&] { return server_.call("GET", workloads + "/g").status == 404; }));
  EXPECT_TRUE(server_.call("GET", workloads + "/foreign").ok());
  scheduler_.reset();
}

// Whoever made the lost one makes another, which has its place, though somebody has waited for longer.
TEST_F(LiveSchedulerTest, AGangThatLosesAPodIsMadeWholeAgain) {
  add_node("n1", 8);
  add_node("n2", 8);
  const std::string gang = R"(,"labels":{"berth.dev/pod-group":"g"},"annotations":{"berth.dev/pod-group-size":"2"},)"
                           R"("ownerReferences":[{"apiVersion":"example.com/v1","kind":"Trainer","name":"g",)"
                           R"("uid":"5ad9a9a0-0000-4000-8000-000000000001","controller":true}])";
  add_pod("g0", 8, gang);
  add_pod("g1", 8, gang);
  start();
  ASSERT_TRUE(eventually([&] { return !node_of("g0").empty() && !node_of("g1").empty(); }));
  const std::string before = node_of("g0"), left = node_of("g1");
  add_pod("w", 8);
  ASSERT_TRUE(eventually([&] { return reason_of("w").starts_with("Capacity"); })) << reason_of("w");
  ASSERT_TRUE(server_.call("DELETE", "/api/v1/namespaces/default/pods/g0?gracePeriodSeconds=0").ok());
  add_pod("again", 8, gang);
  ASSERT_TRUE(eventually([&] { return node_of("again") == before; })) << reason_of("again");
  EXPECT_EQ(node_of("w"), "");
  EXPECT_EQ(node_of("g1"), left);
}

TEST_F(LiveSchedulerTest, TellsItsQueuesHowManyWaitAndRun) {
  add_node("n1", 1);
  add_pod("a", 1);
  add_pod("b", 1);
  start();
  EXPECT_TRUE(eventually([&] {
    const Value status = get("/apis/berth.dev/v1alpha1/queues/default")["status"];
    return status["pending"].integer() == 1 && status["running"].integer() == 1;
  }));
}

// The nodes have one more than the 64 of which the queue has amounts.
TEST_F(LiveSchedulerTest, SaysWhichFlavorsAreTooMany) {
  add_node("n1", 1);
  std::string amounts;
  for (int i = 0; i < 64; ++i) amounts += (i == 0 ? "\"f" : ",\"f") + std::to_string(100 + i) + R"(":"1")";
  const ApiAnswer made = server_.call("POST", "/apis/berth.dev/v1alpha1/queues",
                                      R"({"metadata":{"name":"wide"},"spec":{"guarantee":{)" + amounts + "}}}");
  ASSERT_TRUE(made.ok()) << made.body;
  start();
  EXPECT_TRUE(eventually([&] {
    const Value queue = get("/apis/berth.dev/v1alpha1/queues/wide");
    return std::ranges::any_of(queue["status"]["conditions"].items(), [](const Value& condition) {
      return condition["reason"].text() == "TooManyFlavors" &&
             condition["message"].text().starts_with("its amounts of f163 count for nothing: there may be 64 flavors");
    });
  }));
  EXPECT_TRUE(eventually([&] {
    const Value events = get("/apis/events.k8s.io/v1/events");
    return std::ranges::any_of(events["items"].items(), [](const Value& event) {
      return event["reason"].text() == "NotFollowed" && event["regarding"]["name"].text() == "wide";
    });
  }));
}

// Whatever it knew is in the objects: the next one goes on as if it were the same, with its journal or without.
TEST_F(LiveSchedulerTest, ANewOneDecidesTheSameWithoutTheJournal) {
  add_node("n1", 4);
  add_node("n2", 4);
  add_pod("a", 3);
  const std::filesystem::path journal = server_.folder() / "journal";
  start(journal.string());
  ASSERT_TRUE(eventually([&] { return !node_of("a").empty(); }));
  EXPECT_FALSE(std::filesystem::is_empty(journal));
  stop();
  std::filesystem::remove_all(journal);
  add_pod("b", 4);
  add_pod("c", 1);
  start(journal.string());
  ASSERT_TRUE(eventually([&] { return !node_of("b").empty() && !node_of("c").empty(); }));
  EXPECT_NE(node_of("b"), node_of("a"));
  EXPECT_EQ(node_of("c"), node_of("a"));
}

// It asked again and was told that the pod has a place: that place is its own, and given to nobody else meanwhile.
TEST_F(LiveSchedulerTest, WhoseAnswerWasLostKeepsItsPlace) {
  add_node("n1", 1);
  add_pod("a", 1);
  add_pod("b", 1);
  LosesAnAnswer losing(*transport_);
  start(losing);
  ASSERT_TRUE(eventually([&] { return losing.conflicts() > 0; }));
  std::this_thread::sleep_for(std::chrono::milliseconds(700));
  for (const std::string& path : losing.bindings()) EXPECT_EQ(path, losing.bindings().front());
  EXPECT_EQ(scheduler_->progress().refused, 0);
  scheduler_.reset();
}

// Who has been on a GPU is known before he comes: until it is written nobody is bound, and then everybody is.
TEST_F(LiveSchedulerTest, NobodyComesBeforeItIsWrittenThatHeDoes) {
  add_node("n1", 2);
  add_pod("a", 1);
  add_pod("b", 1);
  RefusesNotes refusing(*transport_);
  start(refusing, "", Scrubs::kByNodes);
  ASSERT_TRUE(eventually([&] { return refusing.notes() >= 2; }));
  EXPECT_EQ(refusing.bindings(), 0);
  refusing.take_them();
  ASSERT_TRUE(eventually([&] { return node_of("a") == "n1" && node_of("b") == "n1"; }));
  EXPECT_EQ(get("/api/v1/nodes/n1")["metadata"]["annotations"]["berth.dev/gpus-used"].text(),
            R"({"0":{"by":["default"]},"1":{"by":["default"]}})");
  scheduler_.reset();
}

// One that is deleted goes when nobody has to part for it.
TEST_F(LiveSchedulerTest, CirclesAreInForceWhenTheySaySo) {
  const std::string path = "/apis/berth.dev/v1alpha1/trustcircles";
  ASSERT_TRUE(server_.call("POST", path, R"({"metadata":{"name":"c"},"spec":{"queues":["default","later"]}})").ok());
  start();
  const auto in_force = [&] {
    const Value circle = get(path + "/c");
    for (const Value& each : circle["status"]["conditions"].items()) {
      if (each["type"].text() == "InForce") return std::string(each["reason"].text());
    }
    return std::string();
  };
  ASSERT_TRUE(eventually([&] { return in_force() == "QueueUnknown"; })) << in_force();
  EXPECT_EQ(to_json(get(path + "/c")["metadata"]["finalizers"]), R"(["berth.dev/parting"])");
  ASSERT_TRUE(server_.call("POST", "/apis/berth.dev/v1alpha1/queues", R"({"metadata":{"name":"later"}})").ok());
  ASSERT_TRUE(eventually([&] { return in_force() == "AsWritten"; })) << in_force();
  EXPECT_EQ(to_json(get(path + "/c")["status"]["queues"]), R"(["default","later"])");
  ASSERT_TRUE(server_.call("DELETE", path + "/c").ok());
  EXPECT_TRUE(eventually([&] { return server_.call("GET", path + "/c").status == 404; }));
}

}  // namespace berth::live_scheduler_test
