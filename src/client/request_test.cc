// What is submitted and what a server's answer means: command lines and manifests in, objects and exit codes out.
#include <gtest/gtest.h>

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "client/asking.h"
#include "client/completion_script.h"
#include "client/job_request.h"
#include "kube/scripted_transport.h"
#include "manifest/json.h"
#include "manifest/schema.h"

namespace berth::request_test {

TEST(JobRequest, BecomesAJobThatTheServerTakes) {
  JobRequest request;
  request.name = "train";
  request.queue = "research";
  request.gpus = "8";
  request.time = "4h";
  request.gang = 4;
  request.gpu_models = "H100|A100";
  request.movable = true;
  request.image = "trainer";
  request.command = {"python", "-c", "print 1"};
  const auto job = job_of(request);
  ASSERT_TRUE(job);
  EXPECT_EQ(
      to_json(*job),
      R"({"apiVersion":"batch/v1","kind":"Job","metadata":{"name":"train","labels":{"berth.dev/queue":"research"}},)"
      R"("spec":{"backoffLimit":0,"completionMode":"Indexed","completions":4,"parallelism":4,"template":{"metadata":)"
      R"({"labels":{"berth.dev/queue":"research"},"annotations":{"berth.dev/gpu-models":"H100|A100","berth.dev/movable":"true"}},"spec":)"
      R"({"schedulerName":"berth","restartPolicy":"Never","containers":[{"name":"main","image":"trainer",)"
      R"("command":["python","-c","print 1"],"resources":{"limits":{"nvidia.com/gpu":"8"}}}],)"
      R"("activeDeadlineSeconds":14400}}}})");
  EXPECT_TRUE(check_fields(type_named("Job"), *job).empty());
}

TEST(JobRequest, NamesItselfAfterItsCommand) {
  for (const auto& [program, begin] :
       std::vector<std::pair<std::string, std::string>>{{"true", "true-"},
                                                        {"/usr/bin/Python3.11", "python3-11-"},
                                                        {"./run_it.sh", "run-it-sh-"},
                                                        {"___", "job-"},
                                                        {"\xc3\xa4", "job-"}}) {
    const auto job = job_of({.command = {program}});
    ASSERT_TRUE(job);
    EXPECT_EQ((*job)["metadata"]["generateName"].text(), begin);
  }
}

TEST(JobRequest, SaysAllThatIsWrongWithIt) {
  struct Case {
    const char* what;
    JobRequest request;
    std::string complaint;  // empty: none
  };
  const std::vector<std::string> run = {"true"};
  const Case cases[] = {
      {"nothing to run", {}, "write the command after --"},
      {"half a GPU", {.gpus = "0.5", .command = run}, ""},
      {"half a GPU in thousandths", {.gpus = "500m", .command = run}, ""},
      {"no GPU", {.gpus = "0", .command = run}, ""},
      {"a slice", {.gpus = "mig:1g.10gb", .command = run}, ""},
      {"a slice that nobody has",
       {.gpus = "mig:1g.10g", .command = run},
       "--gpus: nvidia.com/mig-1g.10g: no GPU model that is known can be cut into it; did you mean "
       "nvidia.com/mig-1g.10gb?"},
      {"a vGPU", {.gpus = "vgpu:A100X-10C", .command = run}, ""},
      {"a vGPU for desktops",
       {.gpus = "vgpu:A10-12Q", .command = run},
       "--gpus: nvidia.com/NVIDIA_A10-12Q: no GPU model that is known has such vGPUs of the C-series, for computing; "
       "did "
       "you mean nvidia.com/NVIDIA_A10-12C?"},
      {"a share", {.gpus = "mps:25%", .command = run}, ""},
      {"a share that is too small",
       {.gpus = "mps:2%", .command = run},
       "--gpus: '2%' is no share of MPS; write mps:25%, from 3 to 100 percent"},
      {"a share of what", {.gpus = "mps:25", .command = run}, "'25' is no share of MPS"},
      {"one and a half", {.gpus = "1.5", .command = run}, "--gpus: '1.5' is more than one GPU and not whole"},
      {"no number", {.gpus = "many", .command = run}, "--gpus: "},
      {"no time", {.time = "4", .command = run}, "--time: "},
      {"hardly any time", {.time = "5ms", .command = run}, "less than a second"},
      {"models without GPUs", {.gpu_models = "H100", .command = run}, "write --gpus too"},
      {"two things", {.gpus = "x", .time = "y", .command = run}, "--time: "},
  };
  for (const Case& each : cases) {
    SCOPED_TRACE(each.what);
    const auto job = job_of(each.request);
    EXPECT_EQ(job.has_value(), each.complaint.empty());
    const std::string said = job ? "" : job.error().to_string();
    EXPECT_NE(said.find(each.complaint), std::string::npos) << said;
  }
  const auto slice = job_of({.gpus = "mig:1g.10gb+me", .command = run});
  ASSERT_TRUE(slice);
  const Value& container = (*slice)["spec"]["template"]["spec"]["containers"].items()[0];
  EXPECT_EQ(container["resources"]["limits"]["nvidia.com/mig-1g.10gb.me"].text(), "1");
  const auto share = job_of({.gpus = "mps:25%", .command = run});
  ASSERT_TRUE(share);
  const Value& shared = (*share)["spec"]["template"];
  EXPECT_EQ(shared["metadata"]["annotations"]["gpu-fraction"].text(), "0.25");
  EXPECT_EQ(shared["metadata"]["annotations"]["berth.dev/gpu-sharing"].text(), "mps");
  EXPECT_TRUE(shared["spec"]["containers"].items()[0]["resources"].is_null());
  const auto vgpu = job_of({.gpus = "vgpu:RTX-6000-Ada-8C", .command = run});
  ASSERT_TRUE(vgpu);
  EXPECT_EQ((*vgpu)["spec"]["template"]["spec"]["containers"]
                .items()[0]["resources"]["limits"]["nvidia.com/NVIDIA_RTX_6000_Ada-8C"]
                .text(),
            "1");
  const auto half = job_of({.gpus = "0.5", .command = run});
  ASSERT_TRUE(half);
  EXPECT_EQ((*half)["spec"]["template"]["metadata"]["annotations"]["berth.dev/gpu-milli"].text(), "500");
}

TEST(WorkInManifest, TakesJobsAndPodsOnly) {
  struct Case {
    const char* what;
    std::string text;
    std::size_t taken;  // 0: it complains
    std::string complaint;
  };
  const std::string job = "apiVersion: batch/v1\nkind: Job\nmetadata: {name: a}\n";
  const Case cases[] = {
      {"a job", job, 1, ""},
      {"a job and a pod", job + "---\napiVersion: v1\nkind: Pod\nmetadata: {generateName: p-}\n", 2, ""},
      {"a list", "kind: List\nitems:\n- {apiVersion: v1, kind: Pod, metadata: {name: p}}\n", 1, ""},
      {"another kind", "apiVersion: v1\nkind: Service\nmetadata: {name: s}\n", 0, "'v1' 'Service'; submit takes Jobs"},
      {"no name", "apiVersion: v1\nkind: Pod\n", 0, "write metadata.name"},
      {"nothing", "", 0, "there is nothing in it"},
      {"no object", "- 1\n", 0, "submit takes Jobs"},
      {"a field that there is not", job + "spec: {tempalte: {}}\n", 0, "Job a: unknown field \"spec.tempalte\""},
      {"a wrong type", job + "spec: {parallelism: many}\n", 0, "x.yaml: Job a: "},
      {"the second is wrong", job + "---\n" + job + "spec: {x: 1}\n", 0, "object 2: Job a: unknown field \"spec.x\""},
      {"one name twice", job + "---\n" + job, 0, "object 2: Job a stands there already, as object 1"},
      {"one name made twice",
       "apiVersion: v1\nkind: Pod\nmetadata: {generateName: p-}\n---\n"
       "apiVersion: v1\nkind: Pod\nmetadata: {generateName: p-}\n",
       2, ""},
      {"all that is wrong", job + "spec: {x: 1}\n---\napiVersion: v1\nkind: Pod\n", 0, "object 2: a Pod has no name"},
      {"no YAML", "a: [", 0, "x.yaml:"},
  };
  for (const Case& each : cases) {
    SCOPED_TRACE(each.what);
    const auto work = work_in_manifest(each.text, "x.yaml", "research");
    EXPECT_EQ(work ? work->size() : 0, each.taken);
    const std::string said = work ? "" : work.error().to_string();
    EXPECT_NE(said.find(each.complaint), std::string::npos) << said;
    const std::string_view queue = work ? work->front()["metadata"]["labels"]["berth.dev/queue"].text() : "";
    EXPECT_EQ(queue, work ? "research" : "");
  }
}

TEST(Asking, AnAnswerBecomesAnExitCodeAndARemedy) {
  const auto status = [](std::string_view message) {
    return R"({"kind":"Status","reason":"Forbidden","message":")" + std::string(message) + "\"}";
  };
  struct Case {
    ApiAnswer answer;
    int exit_code;
    std::string part;
  };
  const Case cases[] = {
      {{.status = 0, .body = "connection refused"}, 1, "connection refused; is the control plane up"},
      {{.status = 401}, 4, "--kubeconfig"},
      {{.status = 403, .body = status(R"(jobs is forbidden: User \"ann\" cannot create resource)")},
       4,
       "administrator"},
      {{.status = 403, .body = status("pods is forbidden: exceeded quota: q")}, 6, "ask for less"},
      {{.status = 404}, 3, "404"},
      {{.status = 409}, 5, "another name"},
      {{.status = 422}, 2, "422"},
      {{.status = 500}, 1, "500"},
  };
  for (const Case& each : cases) {
    SCOPED_TRACE(each.answer.status);
    const AskFailure failure = failure_of(each.answer, "list jobs");
    EXPECT_EQ(failure.exit_code, each.exit_code);
    EXPECT_TRUE(failure.text.starts_with("cannot list jobs: ")) << failure.text;
    EXPECT_NE(failure.text.find(each.part), std::string::npos) << failure.text;
  }
}

TEST(Asking, ListsPageByPage) {
  ScriptedTransport server;
  server.answer = [](const ApiCall& call) -> std::optional<ApiAnswer> {
    const bool second = call.path.find("continue=a%2Fb") != std::string::npos;
    return ApiAnswer{.status = 200,
                     .body = second ? R"({"metadata":{},"items":[{"n":3}]})"
                                    : R"({"metadata":{"continue":"a/b"},"items":[{"n":1},{"n":2}]})"};
  };
  const auto pods = list_objects(server, "pods", "ml");
  ASSERT_TRUE(pods);
  EXPECT_EQ(pods->size(), 3U);
  ASSERT_EQ(server.calls.size(), 2U);
  EXPECT_EQ(server.calls[0].path, "/api/v1/namespaces/ml/pods?limit=500");

  server.answer = [](const ApiCall&) -> std::optional<ApiAnswer> { return ApiAnswer{.status = 200, .body = "<html>"}; };
  const auto page = list_objects(server, "pods", "");
  ASSERT_FALSE(page);
  EXPECT_NE(page.error().text.find("is it a Kubernetes API server?"), std::string::npos);
}

TEST(CompletionScript, NamesCommandsAndOptionsForEachShell) {
  const std::vector<CommandWords> commands = {
      {.name = "jobs",
       .summary = "Show what's there",
       .options = {"--queue", "-q"},
       .values = {{"--queue", {{}, "queue"}}, {"-q", {{}, "queue"}}}},
      {.name = "simulate", .summary = "Drive", .arguments = {{"fill", "run"}, ""}},
      {.name = "explain", .summary = "Say why", .arguments = {{}, "jobs"}}};
  for (const std::string shell : {"bash", "zsh", "fish"}) {
    SCOPED_TRACE(shell);
    const auto script = completion_script(shell, commands);
    ASSERT_TRUE(script);
    for (const std::string part : {"jobs", "queue", "fill run", "jobs", "berth"}) {
      EXPECT_NE(script->find(part), std::string::npos) << part;
    }
  }
  EXPECT_NE(completion_script("fish", commands)->find("'Show what\\'s there'"), std::string::npos);
  EXPECT_NE(completion_script("fish", commands)->find("-l queue -x -a '(berth queue -o name"), std::string::npos);
  for (const std::string shell : {"bash", "zsh"}) {
    const std::string script = *completion_script(shell, commands);
    EXPECT_NE(script.find("'jobs --queue') choices=\"$(_berth_names queue)\"; return ;;"), std::string::npos);
    EXPECT_NE(script.find("explain) choices=\" $(_berth_names jobs)\" ;;"), std::string::npos);
  }
  EXPECT_FALSE(completion_script("tcsh", commands));
}

}  // namespace berth::request_test
