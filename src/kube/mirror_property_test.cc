// Whatever happens between a server and a mirror, in the end they are the same, and nothing was ever told backwards.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/property_seeds.h"
#include "base/rng.h"
#include "kube/hand_turned_alarm.h"
#include "kube/mirror.h"
#include "kube/scripted_transport.h"
#include "manifest/json.h"

namespace berth::mirror_property_test {

struct Pod {
  int uid = 0;
  std::int64_t revision = 0;
  friend bool operator==(const Pod&, const Pod&) = default;
};

std::string json_of(const std::string& name, const Pod& pod) {
  return R"({"metadata":{"name":")" + name + R"(","uid":"u)" + std::to_string(pod.uid) + R"(","resourceVersion":")" +
         std::to_string(pod.revision) + "\"}}";
}

// A server with a history that it forgets, as far as a mirror can tell it from a real one.
class FakeServer {
 public:
  explicit FakeServer(Rng& rng) : rng_(rng) {}

  void change_something() {
    const std::string name = "p" + std::to_string(rng_.below(6));
    ++revision_;
    const auto found = pods_.find(name);
    if (found == pods_.end()) {
      pods_[name] = {++uids_, revision_};
      log("ADDED", name, pods_[name]);
    } else if (rng_.below(3) == 0) {
      log("DELETED", name, {found->second.uid, revision_});
      pods_.erase(found);
    } else {
      found->second.revision = revision_;
      log("MODIFIED", name, found->second);
    }
  }
  void forget_history() { forgotten_ = revision_; }
  void other_kinds_change() { revision_ += 3; }

  ApiAnswer answer(const ApiCall& call) {
    if (faulty_ && rng_.below(4) == 0) {
      const int codes[] = {0, 500, 429, 410, 504};
      return {.status = codes[rng_.below(5)], .body = "a fault"};
    }
    const std::size_t at = call.path.find("continue=");
    if (at == std::string::npos) {
      listed_ = {pods_.begin(), pods_.end()};
      listed_revision_ = revision_;
    }
    const std::size_t from = at == std::string::npos ? 0 : std::stoul(call.path.substr(at + 9));
    const std::size_t to = std::min(from + 2, listed_.size());
    std::string items;
    for (std::size_t i = from; i < to; ++i) {
      items += (items.empty() ? "" : ",") + json_of(listed_[i].first, listed_[i].second);
    }
    if (rng_.below(3) == 0) change_something();  // while the list is being read
    return {.status = 200,
            .body = R"({"kind":"PodList","apiVersion":"v1","metadata":{"resourceVersion":")" +
                    std::to_string(listed_revision_) + R"(","continue":")" +
                    (to < listed_.size() ? std::to_string(to) : "") + R"("},"items":[)" + items + "]}"};
  }

  // Tells the stream up to `lines_max` lines of what comes after what it has seen.
  void serve(ScriptedTransport::Stream& stream, std::size_t lines_max) {
    if (!seen_.contains(&stream)) {
      const std::string& path = stream.call().path;
      seen_[&stream] = std::stoll(path.substr(path.find("resourceVersion=") + 16));
    }
    std::int64_t& seen = seen_[&stream];
    if (seen < forgotten_) {
      stream.push(R"({"type":"ERROR","object":{"kind":"Status","code":410,"reason":"Expired"}})");
      return;
    }
    for (const auto& [revision, line] : history_) {
      if (lines_max == 0 || !stream.is_open()) return;
      if (revision <= seen) continue;
      const bool cut = faulty_ && rng_.below(20) == 0;
      stream.push(cut ? line.substr(0, line.size() / 2) : line);
      if (cut) return;
      if (faulty_ && rng_.below(10) == 0) stream.push(line);  // twice
      seen = revision;
      --lines_max;
    }
    if (rng_.below(3) == 0 && lines_max > 0) {
      seen = revision_;
      stream.push(R"({"type":"BOOKMARK","object":{"metadata":{"resourceVersion":")" + std::to_string(revision_) +
                  "\"}}}");
    }
  }

  void heal() { faulty_ = false; }
  const std::map<std::string, Pod>& pods() const { return pods_; }

 private:
  void log(const std::string& type, const std::string& name, const Pod& pod) {
    history_.emplace_back(revision_, R"({"type":")" + type + R"(","object":)" + json_of(name, pod) + "}");
  }

  Rng& rng_;
  bool faulty_ = true;
  int uids_ = 0;
  std::int64_t revision_ = 1;
  std::int64_t forgotten_ = 0;
  std::map<std::string, Pod> pods_;
  std::vector<std::pair<std::int64_t, std::string>> history_;
  std::vector<std::pair<std::string, Pod>> listed_;
  std::int64_t listed_revision_ = 0;
  std::map<const void*, std::int64_t> seen_;
};

// What a mirror told, believed to the letter; every contradiction is a failure.
class Believer {
 public:
  void hear(const ObjectChange& change) {
    const std::string name(change.object()["metadata"]["name"].text());
    EXPECT_EQ(change.before != nullptr, pods_.contains(name)) << name;
    if (change.before && pods_.contains(name)) {
      EXPECT_EQ(pod_of(*change.before), pods_[name]) << name;
    }
    if (!change.after) {
      EXPECT_FALSE(std::exchange(buried_[pod_of(*change.before).uid], true)) << "gone twice: " << name;
      pods_.erase(name);
      return;
    }
    const Pod after = pod_of(*change.after);
    EXPECT_FALSE(buried_[after.uid]) << "came back: " << name;
    if (change.before) {
      EXPECT_EQ(after.uid, pods_[name].uid) << "another object without the first one's end: " << name;
      EXPECT_GT(after.revision, pods_[name].revision) << name;
    }
    pods_[name] = after;
  }
  const std::map<std::string, Pod>& pods() const { return pods_; }

 private:
  static Pod pod_of(const Value& object) {
    const Value& metadata = object["metadata"];
    return {std::stoi(std::string(metadata["uid"].text().substr(1))),
            std::stoll(std::string(metadata["resourceVersion"].text()))};
  }

  std::map<std::string, Pod> pods_;
  std::map<int, bool> buried_;
};

void live(Rng& rng, FakeServer& server, ScriptedTransport& transport, HandTurnedAlarm& alarm) {
  ScriptedTransport::Stream* const stream = transport.open_stream();
  switch (rng.below(12)) {
    case 0:
      server.forget_history();
      break;
    case 1:
      server.other_kinds_change();
      break;
    case 2:
      if (stream != nullptr) stream->end();
      break;
    case 3:
      if (stream != nullptr) stream->end({.status = 0, .body = "lost"});
      break;
    case 4:
      alarm.advance(seconds(rng.between(0, 40)));
      break;
    case 5:
      alarm.advance({rng.between(0, 300)});
      break;
    case 6:
      if (transport.held() > 0) transport.answer_held(server.answer(transport.next_held()));
      break;
    case 7:
    case 8:
      if (stream != nullptr) server.serve(*stream, 1 + rng.below(4));
      break;
    default:
      server.change_something();
  }
}

TEST(Mirror, PropertyInTheEndItIsTheServerAndNothingWasToldBackwards) {
  for (const Seed seed : property_seeds(150)) {
    SCOPED_TRACE(name_of(seed));
    Rng rng(seed);
    FakeServer server(rng);
    HandTurnedAlarm alarm;
    ScriptedTransport transport;
    Believer believer;
    int synced = 0;
    const auto mirror = Mirror::start(
        transport, alarm, {.qualified = "pods", .jitter_seed = seed.value},
        [&](const ObjectChange& change) { believer.hear(change); }, [&] { ++synced; });
    for (int step = 0; step < 300; ++step) live(rng, server, transport, alarm);
    server.heal();
    if (transport.open_stream() != nullptr) transport.open_stream()->end();
    // Shorter than the shortest watch, so that none is ended for its age.
    for (int step = 0; step < 60; ++step) {
      while (transport.held() > 0) transport.answer_held(server.answer(transport.next_held()));
      if (ScriptedTransport::Stream* const stream = transport.open_stream()) server.serve(*stream, 1000);
      alarm.advance(seconds(5));
    }
    ASSERT_EQ(believer.pods(), server.pods());
    ASSERT_EQ(synced, 1);
    ASSERT_EQ(mirror->trouble(), "");
    if (testing::Test::HasFailure()) return;
  }
}

}  // namespace berth::mirror_property_test
