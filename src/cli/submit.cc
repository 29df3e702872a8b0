// `berth submit`: a manifest, or a command made into a Job. `berth cancel`.
#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/time.h"
#include "cli/command_line.h"
#include "cli/commands.h"
#include "cli/connection.h"
#include "cli/inputs.h"
#include "cli/shared_options.h"
#include "cli/waiting.h"
#include "client/asking.h"
#include "client/job_request.h"
#include "client/listing.h"
#include "client/work.h"
#include "model/quantity.h"
#include "sim/files.h"

namespace berth {
namespace {

struct Typed {
  ConnectionWish connection;
  std::string file;
  JobRequest job;
  std::string output = "table";
  bool wait = false;
  std::string timeout;
};

Result<std::vector<Value>> what_to_submit(const Typed& typed) {
  if (typed.file.empty()) {
    auto job = job_of(typed.job);
    if (!job) return job.error();
    return std::vector<Value>{std::move(*job)};
  }
  const auto text = read_file(typed.file == "-" ? "/dev/stdin" : typed.file);
  if (!text) return text.error();
  return work_in_manifest(*text, typed.file == "-" ? "stdin" : typed.file, typed.job.queue);
}

// What describes a command says nothing of a manifest. Not CLI11's excludes(), which would fill the help.
Complaints beside_a_manifest(const Typed& typed, const std::vector<CLI::Option*>& of_command) {
  Complaints complaints;
  for (const CLI::Option* option : of_command) {
    if (typed.file.empty() || option->count() == 0) continue;
    complaints.add({option->get_name()}, "with -f the manifest says this; leave it out, or leave -f out");
  }
  return complaints;
}

struct Submitted {
  WorkName name;
  std::string name_space;
};

void print_submitted(const Value& object, const Submitted& submitted, OutputFormat format) {
  if (format == OutputFormat::kJson || format == OutputFormat::kYaml) {
    fmt::print("{}{}", format == OutputFormat::kYaml ? "---\n" : "", facts_to_text(object, format));
  } else {
    fmt::print("{}{}\n", submitted.name.to_string(), format == OutputFormat::kName ? "" : " submitted");
  }
  std::fflush(stdout);  // before a long wait
}

// Those that came through; a failure ends it, and is the exit code.
std::pair<std::vector<Submitted>, int> submit_all(const ApiConnection& server, const Typed& typed,
                                                  const std::vector<Value>& work, OutputFormat format) {
  std::vector<Submitted> submitted;
  for (const Value& each : work) {
    const bool is_job = each["kind"].text() == "Job";
    const std::string own(each["metadata"]["namespace"].text());
    const std::string name_space = own.empty() || !typed.connection.name_space.empty() ? server.name_space : own;
    const auto made = create_object(*server.transport, is_job ? "jobs.batch" : "pods", name_space, each);
    if (!made) return {submitted, fail(made.error())};
    submitted.push_back(
        {.name = {.kind = is_job ? "job" : "pod", .name = std::string((*made)["metadata"]["name"].text())},
         .name_space = name_space});
    print_submitted(*made, submitted.back(), format);
  }
  return {submitted, kExitDone};
}

int submit(const Typed& typed) {
  Complaints complaints;
  const auto format = parse_output_format(typed.output);
  if (!format) complaints.add_all(format.error());
  std::optional<Duration> timeout;
  if (!typed.timeout.empty()) {
    const auto ms = parse_duration_ms(typed.timeout);
    if (ms) {
      timeout = Duration{std::min(*ms, kTimeMax.ms)};
    } else {
      complaints.add({"--timeout"}, ms.error());
    }
  }
  const auto work = what_to_submit(typed);
  if (!work) complaints.add_all(work.error());
  if (!complaints.empty()) return complain(complaints);
  const auto server = connect(typed.connection);
  if (!server) return complain(server.error());
  const auto [submitted, failure] = submit_all(*server, typed, *work, *format);
  if (failure != kExitDone || !typed.wait) return failure;
  int exit_code = kExitDone;
  for (const Submitted& each : submitted) {
    const int ended = wait_until_ended(*server->transport, each.name, each.name_space, timeout);
    if (exit_code == kExitDone) exit_code = ended;
  }
  return exit_code;
}

int cancel(const ConnectionWish& wish, const std::vector<std::string>& names) {
  Complaints complaints;
  std::vector<WorkName> work;
  for (const std::string& text : names) {
    const auto name = parse_work_name(text);
    if (name) {
      work.push_back(*name);
    } else {
      complaints.add_all(name.error());
    }
  }
  if (!complaints.empty()) return complain(complaints);
  const auto server = connect(wish);
  if (!server) return complain(server.error());
  int exit_code = kExitDone;
  for (const WorkName& name : work) {
    const auto deleted = delete_object(*server->transport, name.qualified(), server->name_space, name.name);
    if (deleted) {
      fmt::print("{} cancelled\n", name.to_string());
    } else if (const int failure = fail(deleted.error()); exit_code == kExitDone) {
      exit_code = failure;
    }
  }
  return exit_code;
}

}  // namespace

void add_submit(CLI::App& berth, int& exit_code) {
  CLI::App& app = *berth.add_subcommand("submit", "Submit a command as a Job, or the Jobs and Pods of a manifest");
  const auto typed = std::make_shared<Typed>();
  add_connection_options(app, typed->connection, Namespaced::kYes);
  app.add_option("-f,--filename", typed->file, "A manifest of Jobs and Pods; - is stdin")->check(not_empty());
  app.add_option("-q,--queue", typed->job.queue, "Queue to wait in; default: the queue named default");
  std::vector<CLI::Option*> of_command = {
      app.add_option("--name", typed->job.name, "Name of the Job; default: made from the command"),
      app.add_option("--gpus", typed->job.gpus, "GPUs of each pod: 8, or a part of one: 0.5"),
      app.add_option("--gpu-models", typed->job.gpu_models, "Models that will do: H100|A100-80GB; default: any"),
      app.add_option("--time", typed->job.time, "How long a pod may run: 30m, 4h; then it is ended"),
      app.add_option("--gang", typed->job.gang,
                     "So many pods, which start together; each knows its JOB_COMPLETION_INDEX")
          ->capture_default_str()
          ->check(CLI::Range(1, 100'000)),
      app.add_option("--image", typed->job.image, "Container image")->capture_default_str()->check(not_empty()),
      app.add_option("command", typed->job.command, "What to run, after --")};
  CLI::Option* const wait = app.add_flag("--wait", typed->wait, "Wait until it has ended");
  app.add_option("--timeout", typed->timeout, "Wait no longer than this: 30m; the job goes on")->needs(wait);
  app.add_option("-o,--output", typed->output, "table, wide, json, yaml or name")->capture_default_str();
  app.footer(
      "A command that fails is not run again; a manifest says itself what it wants (backoffLimit).\n"
      "Exit codes: 0 done, 1 it failed (--wait), 2 wrong input, 4 not allowed, 5 the name is taken, 6 refused by a "
      "quota\n"
      "or a queue, 8 it has not ended in time (--wait --timeout).\n"
      "\n"
      "Examples:\n"
      "  berth submit --gpus 8 --gang 4 --queue research --time 4h --image trainer -- torchrun train.py\n"
      "  berth submit -f job.yaml --wait --timeout 1h");
  app.callback([typed, of_command, &exit_code] {
    const Complaints complaints = beside_a_manifest(*typed, of_command);
    exit_code = complaints.empty() ? submit(*typed) : complain(complaints);
  });
}

void add_cancel(CLI::App& berth, int& exit_code) {
  CLI::App& app = *berth.add_subcommand("cancel", "End jobs and pods and take them away");
  const auto wish = std::make_shared<ConnectionWish>();
  const auto names = std::make_shared<std::vector<std::string>>();
  add_connection_options(app, *wish, Namespaced::kYes);
  app.add_option("name", *names, "job/NAME or pod/NAME; a name alone is a job's")->required();
  app.footer("Example:\n  berth cancel job/train job/evaluate");
  app.callback([wish, names, &exit_code] { exit_code = cancel(*wish, *names); });
}

}  // namespace berth
