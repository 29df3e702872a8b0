// What is concluded from what was seen, without a folder or a server.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "cli/findings.h"
#include "manifest/json.h"
#include "manifest/timestamp.h"

namespace berth::findings_test {

const Time kNow = *parse_timestamp("2026-11-21T12:00:00Z");

Value object(const std::string& json) {
  const auto parsed = parse_json(json);
  EXPECT_TRUE(parsed) << json;
  return parsed ? *parsed : Value();
}

// One that was created so many minutes ago; `rest` is more of its members.
Value pod(const std::string& name, int minutes_ago, const std::string& rest) {
  const std::string created = format_timestamp({kNow.ms - minutes_ago * 60'000});
  return object(R"({"metadata":{"name":")" + name + R"(","namespace":"lab","uid":"uid-)" + name +
                R"(","creationTimestamp":")" + created + R"("})" + (rest.empty() ? "" : "," + rest) + "}");
}

std::string waiting_for(const std::string& why) {
  return R"("spec":{},"status":{"phase":"Pending","conditions":[{"type":"PodScheduled","status":"False","message":")" +
         why + R"("}]})";
}

Value node(const std::string& name, const std::string& ready) {
  return object(R"({"metadata":{"name":")" + name + R"("},"status":{"conditions":[{"type":"Ready","status":")" + ready +
                R"("}]}})");
}

struct Case {
  const char* what;
  Finding finding;
  Verdict verdict;
  std::string says;      // a part of what it says
  std::string remedy{};  // a part of the remedy
};

void expect_each(const std::vector<Case>& cases) {
  for (const Case& c : cases) {
    SCOPED_TRACE(c.what);
    EXPECT_EQ(c.finding.verdict, c.verdict) << c.finding.what;
    EXPECT_NE(c.finding.what.find(c.says), std::string::npos) << c.finding.what;
    EXPECT_NE(c.finding.remedy.find(c.remedy), std::string::npos) << c.finding.remedy;
    EXPECT_EQ(c.finding.remedy.empty(), c.verdict == Verdict::kOk) << c.finding.remedy;
  }
}

TEST(Doctor, LooksAtPermissionsAndRoom) {
  const std::vector<SeenFile> good = {{"d", 0700, true}, {"d/pki/ca.key", 0600, false}, {"d/tokens.csv", 0400, false}};
  const std::vector<SeenFile> bad = {{"d", 0750, true}, {"d/pki/ca.key", 0604, false}, {"d/run", 0700, true}};
  expect_each({
      {"nothing is there", permissions_finding({}), Verdict::kOk, "alone"},
      {"closed", permissions_finding(good), Verdict::kOk, "alone"},
      {"open", permissions_finding(bad), Verdict::kFail, "d is 0750, d/pki/ca.key is 0604",
       "chmod 700 d; chmod 600 d/pki/ca.key"},
      {"much room", disk_finding(std::int64_t{5} << 30), Verdict::kOk, "5120 MiB"},
      {"exactly enough", disk_finding(std::int64_t{1} << 30), Verdict::kOk, "1024 MiB"},
      {"little room", disk_finding((std::int64_t{1} << 30) - 1), Verdict::kWarn, "1023 MiB", "free some"},
      {"no room", disk_finding((std::int64_t{100} << 20) - 1), Verdict::kFail, "99 MiB", "free some"},
  });
}

TEST(Doctor, AsksWhetherASchedulerLeads) {
  const auto lease = [](const std::string& holder, const std::string& renewed) {
    return object(R"({"spec":{"holderIdentity":")" + holder + R"(","renewTime":")" + renewed + R"("}})");
  };
  expect_each({
      {"no lease", scheduler_finding({}, kNow), Verdict::kFail, "none has ever led", "berth scheduler"},
      {"an empty lease", scheduler_finding(object("{}"), kNow), Verdict::kFail, "none leads", "berth scheduler"},
      {"given back", scheduler_finding(lease("", "2026-11-21T11:59:59Z"), kNow), Verdict::kFail, "none leads", "start"},
      {"no time", scheduler_finding(lease("a", "yesterday"), kNow), Verdict::kFail, "none leads", "start"},
      {"leads", scheduler_finding(lease("a", "2026-11-21T11:59:45.000000Z"), kNow), Verdict::kOk, "a leads"},
      {"silent", scheduler_finding(lease("a", "2026-11-21T11:59:44Z"), kNow), Verdict::kFail, "16s ago", "start"},
      {"of tomorrow", scheduler_finding(lease("a", "2026-11-22T12:00:00Z"), kNow), Verdict::kWarn, "24h ahead", "NTP"},
  });
}

TEST(Doctor, CountsNodesThatAreNotReady) {
  const std::vector<Value> none;
  const std::vector<Value> good = {node("n1", "True"), node("n2", "True")};
  const std::vector<Value> some = {node("n1", "True"), node("n2", "Unknown"), object(R"({"metadata":{"name":"n3"}})")};
  const std::vector<Value> away(7, node("n", "False"));
  expect_each({
      {"none", nodes_finding(none), Verdict::kWarn, "there are none", "berth node-agent"},
      {"all ready", nodes_finding(good), Verdict::kOk, "2 nodes, all ready"},
      {"some", nodes_finding(some), Verdict::kWarn, "2 of 3 nodes not ready: n2, n3", "kubectl describe node n2"},
      {"all away", nodes_finding(away), Verdict::kFail, "7 of 7 nodes not ready: n, n, n, n, n and 2 more", "node n"},
  });
}

TEST(Doctor, CountsWhyPodsWait) {
  const std::vector<Value> fine = {pod("a", 9, waiting_for("Capacity: 3 of 8")),
                                   pod("b", 60, R"("spec":{"nodeName":"n1"},"status":{"phase":"Running"})"),
                                   pod("c", 60, R"("status":{"phase":"Failed"})"), object("{}")};
  const std::vector<Value> long_ones = {pod("a", 10, waiting_for("Capacity: 3 of 8 GPUs")),
                                        pod("b", 60, waiting_for("Behind: c is first")),
                                        pod("c", 20, waiting_for("Capacity: 5 of 8 GPUs")),
                                        pod("d", 30, ""),
                                        pod("e", 30, R"("spec":{"schedulingGates":[{"name":"x"}]})"),
                                        pod("f", 30, R"("spec":{"schedulerName":"volcano"})")};
  const std::vector<Value> one = {pod("a", 600, "")};
  expect_each({
      {"none", waiting_finding({}, kNow), Verdict::kOk, "none"},
      {"not for long", waiting_finding(fine, kNow), Verdict::kOk, "none"},
      {"by reason", waiting_finding(long_ones, kNow), Verdict::kWarn,
       "6 have waited for ten minutes or more (2 Capacity, 1 Behind, 1 not looked at by a scheduler, 1 of another "
       "scheduler, 1 scheduling gates); the longest is lab/b, 60m",
       "kubectl describe pod -n lab b"},
      {"one", waiting_finding(one, kNow), Verdict::kWarn, "1 has waited", "-n lab a"},
  });
}

TEST(Doctor, FindsWhatIsLeftOver) {
  const std::vector<Value> nodes = {node("n1", "True")};
  const std::vector<Value> pods = {pod("a", 1, R"("spec":{"nodeName":"n1"})"), pod("b", 1, ""),
                                   pod("c", 1, R"("spec":{"nodeName":"n9"},"status":{"phase":"Succeeded"})")};
  std::vector<Value> lost = pods;
  lost.push_back(pod("d", 1, R"("spec":{"nodeName":"n9"},"status":{"phase":"Running"})"));
  const std::vector<std::string> known = {"uid-a", "uid-c"};
  const std::vector<std::string> orphans = {"uid-a", "uid-z"};
  expect_each({
      {"all bound well", bound_pods_finding(pods, nodes), Verdict::kOk, "each is on a node"},
      {"a node is gone", bound_pods_finding(lost, nodes), Verdict::kFail,
       "1 is on nodes that are not there: lab/d on n9", "--force"},
      {"logs of pods", log_folders_finding(known, pods), Verdict::kOk, "2 folders"},
      {"logs of nobody", log_folders_finding(orphans, pods), Verdict::kWarn, "1 is of pods that are gone: uid-z",
       "delete"},
  });
}

TEST(Doctor, PrintsATableAndJson) {
  const std::vector<Finding> findings = {{"nodes", Verdict::kOk, "2 nodes"},
                                         {"store", Verdict::kFail, "is damaged", "restore it"},
                                         {"disk space", Verdict::kWarn, "little", "free some"}};
  EXPECT_EQ(findings_as_table(findings),
            "nodes       ok    2 nodes\n"
            "store       FAIL  is damaged\n"
            "                  -> restore it\n"
            "disk space  warn  little\n"
            "                  -> free some\n");
  EXPECT_EQ(object(findings_as_json(findings)), object(R"({"checks":[{"check":"nodes","result":"ok","what":"2 nodes"},
                       {"check":"store","result":"fail","what":"is damaged","remedy":"restore it"},
                       {"check":"disk space","result":"warn","what":"little","remedy":"free some"}],
                       "warnings":1,"failures":1})"));
}

}  // namespace berth::findings_test
