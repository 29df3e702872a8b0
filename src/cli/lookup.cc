#include "cli/lookup.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "base/wording.h"
#include "client/refusals.h"
#include "client/work_queues.h"

namespace berth {
namespace {

std::string_view own_name(const Value& object) { return object["metadata"]["name"].text(); }

}  // namespace

Asked<std::vector<Work>> see_work(Transport& server, const std::string& name_space) {
  const auto jobs = list_objects(server, "jobs.batch", name_space);
  if (!jobs) return std::unexpected(jobs.error());
  const auto pods = list_objects(server, "pods", name_space);
  if (!pods) return std::unexpected(pods.error());
  auto volcanos = seen_or_nothing(server, "jobs.batch.volcano.sh", name_space);
  if (!volcanos) return std::unexpected(volcanos.error());
  const auto sets = seen_or_nothing(server, "jobsets.jobset.x-k8s.io", name_space);
  if (!sets) return std::unexpected(sets.error());
  const auto workloads = seen_or_nothing(server, "workloads.berth.dev", name_space);
  if (!workloads) return std::unexpected(workloads.error());
  std::vector<Value> all = *jobs;
  std::ranges::move(*volcanos, std::back_inserter(all));
  std::vector<Work> work = read_work(all, *pods);
  add_job_sets(work, *sets, *jobs, Refusals({}));
  take_queues_of_groups(work, *workloads);
  return work;
}

Asked<std::vector<Value>> seen_or_nothing(Transport& server, std::string_view kind, const std::string& name_space,
                                          std::string_view fields) {
  auto objects = list_objects(server, kind, name_space, fields);
  if (objects) return objects;
  const int code = objects.error().exit_code;
  if (code == kExitForbidden || code == kExitNotFound) return std::vector<Value>();
  return std::unexpected(objects.error());
}

AskFailure not_found_or(AskFailure failure, Transport& server, const WorkName& name, const std::string& name_space) {
  if (failure.exit_code != kExitNotFound) return failure;
  const auto others = see_work(server, name_space);
  const std::string near = others ? nearest_work(name, *others) : "";
  failure.text = "there is no " + name.to_string() + " in namespace " + name_space;
  failure.text += near.empty() ? "; `berth jobs -A` shows all" : "; did you mean " + near + "?";
  return failure;
}

std::string nearest_name(std::string_view name, const std::vector<Value>& objects) {
  std::vector<std::string_view> known;
  for (const Value& each : objects) known.push_back(own_name(each));
  return std::string(nearest_word(name, known));
}

bool is_named_among(std::string_view name, const std::vector<Value>& objects) {
  return std::ranges::find(objects, name, own_name) != objects.end();
}

AskFailure no_such(std::string_view what, std::string_view name, const std::vector<Value>& all,
                   std::string_view remedy) {
  const std::string near = nearest_name(name, all);
  std::string text = "there is no " + std::string(what) + " " + quote(name);
  text += near.empty() ? "; " : "; did you mean " + near + "? ";
  return {kExitNotFound, text + std::string(remedy) + " shows all"};
}

std::optional<AskFailure> missing_namespace(Transport& server, const std::string& name_space) {
  const auto known = read_object(server, "namespaces", "", name_space);
  if (known || known.error().exit_code != kExitNotFound) return std::nullopt;
  const auto all = list_objects(server, "namespaces", "");
  return no_such("namespace", name_space, all ? *all : std::vector<Value>(), "`kubectl get namespaces`");
}

Asked<std::vector<Value>> only_named(std::vector<Value> objects, const std::vector<std::string>& names,
                                     std::string_view what, std::string_view remedy) {
  for (const std::string& name : names) {
    if (!is_named_among(name, objects)) return std::unexpected(no_such(what, name, objects, remedy));
  }
  if (!names.empty()) {
    std::erase_if(objects, [&](const Value& each) { return std::ranges::find(names, own_name(each)) == names.end(); });
  }
  return objects;
}

}  // namespace berth
