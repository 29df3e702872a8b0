// What cannot be made, and why.
#include "client/refusals.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "client/account.h"
#include "client/listing.h"
#include "manifest/timestamp.h"
#include "manifest/yaml.h"

namespace berth::refusals_test {

const Time kNow = parse_timestamp("2026-11-21T10:00:00Z").value_or(Time{});

std::vector<Value> objects(std::string_view yaml) { return parse_yaml(yaml).value(); }

// A Job of two pods with 8 GPUs each; `more` is YAML of its spec or status.
std::string job(const std::string& more = "") {
  return "metadata: {name: train, namespace: ml, uid: u1, creationTimestamp: '2026-11-21T09:59:00Z'}\n"
         "spec: {parallelism: 2, completions: 2, template: {spec: {containers: [{resources: {limits: {nvidia.com/gpu: "
         "8}}}]}}" +
         more + "}\n";
}

std::string volcano_job(const std::string& state) {
  return "metadata: {name: train, namespace: ml, uid: u1, creationTimestamp: '2026-11-21T09:59:00Z'}\n"
         "spec: {tasks: [{replicas: 2, template: {}}]}\nstatus: {state: {" +
         state + "}}\n";
}

std::string job_set(const std::string& more = "") {
  return "metadata: {name: js, namespace: ml, uid: u2, creationTimestamp: '2026-11-21T09:59:00Z', labels: "
         "{berth.dev/queue: research}}\n"
         "spec: {replicatedJobs: [\n"
         "  {name: lead, template: {spec: {template: {spec: {containers: [{}]}}}}},\n"
         "  {name: work, replicas: 2, template: {spec: {parallelism: 3, completions: 3, template: {spec: {containers: "
         "[{resources: {limits: {nvidia.com/gpu: 4}}}]}}}}}]" +
         more + "}\n";
}

std::string pod(const std::string& name, const std::string& more) {
  return "---\nmetadata: {name: " + name +
         ", namespace: ml, ownerReferences: [{kind: Job, controller: true, uid: u1}]}\n" + more + "\n";
}

std::string event(const std::string& uid, const std::string& at, const std::string& message,
                  const std::string& reason = "FailedCreate") {
  return "---\n{reason: " + reason + ", involvedObject: {uid: " + uid + "}, lastTimestamp: '2026-11-21T" + at +
         "Z', message: '" + message + "'}\n";
}

constexpr const char* kWaits =
    "status: {phase: Pending, conditions: [{type: PodScheduled, status: 'False', message: full}]}";
constexpr const char* kRuns = "spec: {nodeName: n1}\nstatus: {phase: Running}";

TEST(Refusals, AreTheFirstReasonOfWhatLacksPods) {
  const std::string refused =
      event("u1", "09:59:30", "Error creating: 403 Forbidden: pods \"train-x\" is forbidden: exceeded quota: q");
  const std::string why = "its pods cannot be made: exceeded quota: q";
  struct Case {
    const char* what;
    std::string job, pods, events, reasons;
  };
  const Case cases[] = {
      {"nothing was refused", job(), "", "", "2 its pods are not made yet"},
      {"all were", job(), "", refused, "2 " + why},
      {"one was", job(), pod("a", kWaits), refused, "1 " + why + ", 1 full"},
      {"one was, and the other runs", job(), pod("a", kRuns), refused, "1 " + why},
      {"all are made since", job(), pod("a", kWaits) + pod("b", kWaits), refused, "2 full"},
      {"suspended since", job(", suspend: true"), "", refused, "2 its spec.suspend is true"},
      {"no more pods are wanted", job("}\nstatus: {succeeded: 1"), pod("a", kRuns), refused, ""},
      {"of another", job(), "", event("u9", "09:59:30", "Error creating: no"), "2 its pods are not made yet"},
      {"another event", job(), "", event("u1", "09:59:30", "no", "Evicted"), "2 its pods are not made yet"},
      {"the last that was told", job(), "",
       event("u1", "09:59:20", "Error creating: second") + event("u1", "09:59:10", "Error creating: first"),
       "2 its pods cannot be made: second"},
      {"a webhook", job(), "",
       event("u1", "09:59:30", "Error creating: admission webhook \"w\" denied the request: no"),
       "2 its pods cannot be made: admission webhook \"w\" denied the request: no"},
      {"wrong", job(), "",
       event("u1", "09:59:30", "Error creating: 422 Unprocessable Entity: Pod \"train-x\" is invalid: spec: wrong"),
       "2 its pods cannot be made: spec: wrong"},
      {"Volcano's", volcano_job("phase: Pending"), "", refused, "2 " + why},
      {"Volcano's, that says it itself", volcano_job("phase: Pending, message: a name is taken"), "", "",
       "2 a name is taken"},
      {"Volcano's, of one of its pods", volcano_job("phase: Pending, message: a name is taken"), pod("a", kWaits), "",
       "1 a name is taken, 1 full"},
      {"Volcano's, of none", volcano_job("phase: Pending, message: it was moved"), pod("a", kWaits) + pod("b", kWaits),
       "", "2 full"},
  };
  for (const Case& each : cases) {
    SCOPED_TRACE(each.what);
    std::vector<Work> work = read_work(objects(each.job), objects(each.pods));
    ASSERT_EQ(work.size(), 1U);
    note_refusals(work, Refusals(objects(each.events)));
    std::string reasons;
    for (const auto& [reason, pods] : work.front().reasons) {
      reasons += (reasons.empty() ? "" : ", ") + std::to_string(pods) + " " + reason;
    }
    EXPECT_EQ(reasons, each.reasons);
  }
}

TEST(Refusals, AJobSetStandsForItselfUntilItHasItsJobs) {
  const auto made = [](const std::string& names) {
    std::string jobs;
    for (const char name : names) {
      jobs += "---\nmetadata: {name: js-" + std::string(1, name) +
              ", namespace: ml, creationTimestamp: '2026-11-21T09:59:01Z', ownerReferences: [{kind: JobSet, "
              "controller: true, uid: u2}]}\nspec: {}\n";
    }
    return jobs;
  };
  const std::string refused = event("u2", "09:59:30", "Error creating: there is a Job js-work-0");
  struct Case {
    const char* what;
    std::string set, jobs, events;
    std::string row;  // none: it has none
  };
  const Case cases[] = {
      {"has none yet", job_set(), "", "", "waiting 0/7 24 its Jobs are not made yet"},
      {"was refused", job_set(), "", refused, "waiting 0/7 24 its Jobs cannot be made: there is a Job js-work-0"},
      {"was refused some", job_set(), made("a"), refused,
       "waiting 0/7 24 its Jobs cannot be made: there is a Job js-work-0"},
      {"has the first", job_set(), made("a"), "", ""},
      {"was refused before", job_set(), made("abc"), refused, ""},
      {"suspended", job_set(", suspend: true"), "", "", "suspended 0/7 24 its spec.suspend is true"},
      {"is going", "metadata: {name: js, namespace: ml, uid: u2, deletionTimestamp: '2026-11-21T09:59:40Z'}\n", "", "",
       "ending 0/0 - its Jobs are not made yet"},
      {"failed",
       job_set() + "status: {conditions: [{type: Failed, status: 'True', reason: FailedJobs, message: too often}]}\n",
       "", refused, "failed 0/7 24 FailedJobs: too often"},
      {"is done, and its Jobs are gone", job_set() + "status: {conditions: [{type: Completed, status: 'True'}]}\n", "",
       "", "succeeded 0/7 24 -"},
  };
  for (const Case& each : cases) {
    SCOPED_TRACE(each.what);
    const std::vector<Value> jobs = objects(each.jobs);
    const Refusals refusals(objects(each.events));
    std::vector<Work> work = read_work(jobs, {});
    add_job_sets(work, objects(each.set), jobs, refusals);
    note_refusals(work, refusals);
    ASSERT_EQ(work.size(), jobs.size() + (each.row.empty() ? 0 : 1));
    if (each.row.empty()) continue;
    EXPECT_EQ(work.front().name.to_string(), "jobset/js") << "before its Jobs, that are younger";
    const ListingRow row = list_work(work, false, kNow).rows.front();
    EXPECT_EQ(row.cells[2] + " " + row.cells[3] + " " + row.cells[4] + " " + row.cells[9], each.row);
  }
}

TEST(Refusals, AreWhyAJobSetWaits) {
  std::vector<Work> work;
  add_job_sets(work, objects(job_set()), {}, Refusals({}));
  note_refusals(work, Refusals(objects(event("u2", "09:59:30", "Error creating: there is a Job js-work-0"))));
  ASSERT_EQ(work.size(), 1U);
  EXPECT_EQ(account_of(work.front(), {.others = work, .others_are_all = true}, kNow).text,
            "jobset/js of namespace ml: waiting for 60s\n"
            "  queue   research\n"
            "  asks    7 pods with up to 4 GPUs each, 24 GPUs together\n"
            "  gang    7 pods start together or not at all\n"
            "  pods    0 of 7 run or are done\n"
            "  why     its Jobs cannot be made: there is a Job js-work-0\n"
            "  older   nothing older waits in its queue\n");
}

}  // namespace berth::refusals_test
