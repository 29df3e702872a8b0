// `berth submit`: a manifest, or a command made into a Job.
#include <fmt/core.h>
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/time.h"
#include "base/wording.h"
#include "cli/command_line.h"
#include "cli/commands.h"
#include "cli/connection.h"
#include "cli/inputs.h"
#include "cli/log_printer.h"
#include "cli/lookup.h"
#include "cli/shared_options.h"
#include "cli/waiting.h"
#include "client/asking.h"
#include "client/job_request.h"
#include "client/listing.h"
#include "client/work.h"
#include "manifest/labels.h"
#include "model/quantity.h"
#include "sim/files.h"

namespace berth {
namespace {

struct TypedSubmit {
  ConnectionWish connection;
  std::string file;
  JobRequest job;
  std::string output = "table";
  bool wait = false;
  bool follow = false;
  std::string dry_run;  // client or server
  std::string timeout;
};

Result<std::vector<Value>> what_to_submit(const TypedSubmit& typed) {
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
Complaints beside_a_manifest(const TypedSubmit& typed, const std::vector<CLI::Option*>& of_command) {
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

// An object as it is to be submitted, or as the server answered.
void print_object(const Value& object, OutputFormat format) {
  fmt::print("{}{}", format == OutputFormat::kYaml ? "---\n" : "", facts_to_text(object, format));
}

void print_submitted(const Value& object, const WorkName& name, std::string_view what, OutputFormat format) {
  if (format == OutputFormat::kJson || format == OutputFormat::kYaml) {
    print_object(object, format);
  } else {
    fmt::print("{}{}\n", printable(name.to_string()), format == OutputFormat::kName ? "" : std::string(what));
  }
  std::fflush(stdout);  // before a long wait
}

std::string kind_of(const Value& object) { return object["kind"].text() == "Job" ? "job" : "pod"; }

std::string namespace_for(const Value& object, const ApiConnection& server, const TypedSubmit& typed) {
  const std::string own(object["metadata"]["namespace"].text());
  return own.empty() || !typed.connection.name_space.empty() ? server.name_space : own;
}

// With the queue that may have been meant, where the one that was named is not there.
AskFailure with_queue_hint(AskFailure failure, Transport& server, const Value& object) {
  const std::string queue(object["metadata"]["labels"][kQueueLabel].text());
  if (failure.exit_code != kExitRefused || queue.empty()) return failure;
  const auto queues = list_objects(server, "queues.berth.dev", "");
  const std::string near = queues && !is_named_among(queue, *queues) ? nearest_name(queue, *queues) : "";
  if (!near.empty()) failure.text += "; did you mean " + near + "?";
  return failure;
}

// As kubectl prints it.
void print_warning(const std::string& text) { fmt::print(stderr, "Warning: {}\n", printable(text)); }

// What is only checked before it is made is warned of once, when it is made.
enum class Warnings : bool { kUnsaid, kSaid };

Asked<Value> create(const Value& object, const ApiConnection& server, const TypedSubmit& typed, Creation creation,
                    Warnings warnings) {
  const WorkName kind{.kind = kind_of(object), .name = {}};
  auto made = create_object(*server.transport, kind.qualified(), namespace_for(object, server, typed), object, creation,
                            warnings == Warnings::kSaid ? print_warning : nullptr);
  if (!made) return std::unexpected(with_queue_hint(made.error(), *server.transport, object));
  return made;
}

WorkName name_of_object(const Value& object) {
  return {.kind = kind_of(object), .name = std::string(object["metadata"]["name"].text())};
}

// The server looks at each; all that it refuses is said. What it would make of them is printed if `shown`.
int check_all(const ApiConnection& server, const TypedSubmit& typed, const std::vector<Value>& work,
              OutputFormat format, bool shown) {
  int exit_code = kExitDone;
  for (const Value& each : work) {
    const auto checked =
        create(each, server, typed, Creation::kOnlyChecked, shown ? Warnings::kSaid : Warnings::kUnsaid);
    if (!checked) {
      const int failure = fail(checked.error());
      if (exit_code == kExitDone) exit_code = failure;
    } else if (shown) {
      print_submitted(*checked, name_of_object(*checked), " would be submitted (dry run)", format);
    }
  }
  return exit_code;
}

// Those that came through; a failure ends it, and is the exit code.
std::pair<std::vector<Submitted>, int> submit_all(const ApiConnection& server, const TypedSubmit& typed,
                                                  const std::vector<Value>& work, OutputFormat format) {
  std::vector<Submitted> submitted;
  for (const Value& each : work) {
    const auto made = create(each, server, typed, Creation::kDone, Warnings::kSaid);
    if (!made) return {submitted, fail(made.error())};
    submitted.push_back({.name = name_of_object(*made), .name_space = namespace_for(each, server, typed)});
    print_submitted(*made, submitted.back().name, " submitted", format);
  }
  return {submitted, kExitDone};
}

int wait_for_all(const ApiConnection& server, const TypedSubmit& typed, const std::vector<Submitted>& submitted) {
  std::optional<std::chrono::steady_clock::time_point> until;
  if (!typed.timeout.empty()) {
    const std::int64_t ms = std::min(parse_duration_ms(typed.timeout).value_or(0), kTimeMax.ms);
    until = std::chrono::steady_clock::now() + std::chrono::milliseconds(ms);
  }
  int exit_code = kExitDone;
  for (const Submitted& each : submitted) {
    if (typed.follow) {
      const int started = wait_for(*server.transport, each.name, each.name_space, WaitFor::kStart, until);
      if (started != kExitDone) return started;
      print_logs(*server.transport, each.name, each.name_space, {.follow = true});
    }
    const int ended = wait_for(*server.transport, each.name, each.name_space, WaitFor::kEnd, until);
    if (exit_code == kExitDone) exit_code = ended;
  }
  return exit_code;
}

Complaints complaints_about(const TypedSubmit& typed) {
  Complaints complaints;
  if (!typed.timeout.empty()) {
    if (const auto ms = parse_duration_ms(typed.timeout); !ms) complaints.add({"--timeout"}, ms.error());
    if (!typed.wait && !typed.follow)
      complaints.add({"--timeout"}, "nothing is waited for; write --wait or --follow too");
  }
  if (!typed.dry_run.empty() && typed.dry_run != "client" && typed.dry_run != "server") {
    complaints.add({"--dry-run"}, quote(typed.dry_run) + " is no choice; write --dry-run=client or --dry-run=server");
  }
  if (!typed.dry_run.empty() && (typed.wait || typed.follow)) {
    complaints.add({"--dry-run"}, "nothing is submitted that could be waited for; leave out --wait and --follow");
  }
  return complaints;
}

int submit(const TypedSubmit& typed) {
  Complaints complaints = complaints_about(typed);
  const auto format = parse_output_format(typed.output);
  if (!format) complaints.add_all(format.error());
  const auto work = what_to_submit(typed);
  if (!work) complaints.add_all(work.error());
  if (!complaints.empty()) return complain(complaints);
  if (typed.dry_run == "client") {
    const bool names = *format == OutputFormat::kName || *format == OutputFormat::kJson;
    for (const Value& each : *work)
      print_submitted(each, name_of_object(each), "", names ? *format : OutputFormat::kYaml);
    return kExitDone;
  }
  const auto server = connect(typed.connection);
  if (!server) return complain(server.error());
  if (!typed.dry_run.empty()) return check_all(*server, typed, *work, *format, true);
  // Of several all are looked at before the first is made.
  if (work->size() > 1) {
    if (const int refused = check_all(*server, typed, *work, *format, false); refused != kExitDone) {
      fmt::print(stderr, "berth: nothing was submitted\n");
      return refused;
    }
  }
  const auto [submitted, failure] = submit_all(*server, typed, *work, *format);
  if (failure != kExitDone && work->size() > 1) {
    fmt::print(stderr, "berth: {} of {} were submitted, those named above\n", submitted.size(), work->size());
  }
  if (failure != kExitDone || !(typed.wait || typed.follow)) return failure;
  return wait_for_all(*server, typed, submitted);
}

}  // namespace

void add_submit(CLI::App& berth, int& exit_code) {
  CLI::App& app = *berth.add_subcommand("submit", "Submit a command as a Job, or the Jobs and Pods of a manifest");
  const auto typed = std::make_shared<TypedSubmit>();
  add_connection_options(app, typed->connection, Namespaced::kYes);
  app.add_option("-f,--filename", typed->file, "A manifest of Jobs and Pods; - is stdin")->check(not_empty());
  app.add_option("-q,--queue", typed->job.queue, "Queue to wait in; default: the queue named default");
  std::vector<CLI::Option*> of_command = {
      app.add_option("--name", typed->job.name, "Name of the Job; default: made from the command"),
      app.add_option("--gpus", typed->job.gpus,
                     "GPUs of each pod: 8, a part of one: 0.5, a slice: mig:1g.10gb, a share: mps:25%, or a vGPU: "
                     "vgpu:A100X-10C"),
      app.add_option("--gpu-models", typed->job.gpu_models, "Models that will do: H100|A100-80GB; default: any"),
      app.add_option("--time", typed->job.time, "How long a pod may run: 30m, 4h; then it is ended"),
      app.add_option("--gang", typed->job.gang,
                     "So many pods, which start together; each knows its JOB_COMPLETION_INDEX")
          ->capture_default_str()
          ->check(CLI::Range(1, 100'000)),
      app.add_flag("--movable", typed->job.movable,
                   "It may be stopped and begun elsewhere so that another fits: for what saves how far it is"),
      app.add_option("--image", typed->job.image, "Container image")->capture_default_str()->check(not_empty()),
      app.add_option("command", typed->job.command, "What to run, after --")};
  app.add_flag("--wait", typed->wait, "Wait until it has ended");
  app.add_flag("--follow", typed->follow, "Wait until it has started, print what it says, and how it ended");
  app.add_option("--timeout", typed->timeout, "Wait no longer than this: 30m; the job goes on");
  app.add_flag("--dry-run{client}", typed->dry_run,
               "Submit nothing; client (also without a value): print the manifest, server: let the server check it");
  app.add_option("-o,--output", typed->output, "table, wide, json, yaml or name")->capture_default_str();
  app.footer(
      "Several documents of a file are all checked by the server before the first is submitted.\n"
      "A command that fails is not run again; a manifest says itself what it wants (backoffLimit).\n"
      "Exit codes: 0 done, 1 it failed (--wait), 2 wrong input, 4 not allowed, 5 the name is taken, 6 refused by a "
      "quota\n"
      "or a queue, 8 it has not ended in time (--wait --timeout).\n"
      "\n"
      "Examples:\n"
      "  berth submit --gpus 8 --gang 4 --queue research --time 4h --image trainer -- torchrun train.py\n"
      "  berth submit -f job.yaml --wait --timeout 1h\n"
      "  berth submit --gpus 1 --dry-run -- python train.py >job.yaml");
  app.callback([typed, of_command, &exit_code] {
    const Complaints complaints = beside_a_manifest(*typed, of_command);
    exit_code = complaints.empty() ? submit(*typed) : complain(complaints);
  });
}

}  // namespace berth
