#include "client/job_request.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <utility>

#include "base/wording.h"
#include "client/listing.h"
#include "manifest/labels.h"
#include "manifest/schema.h"
#include "manifest/slice_resources.h"
#include "manifest/vgpu_resources.h"
#include "manifest/yaml.h"
#include "model/quantity.h"
#include "model/request.h"

namespace berth {
namespace {

// A name that the server makes unique has five more characters, and pods' names come after it.
constexpr std::size_t kNameBeginMax = 40;

// "/usr/bin/Python3.11" -> "python3-11-"
std::string name_begin(std::string_view program) {
  program = program.substr(program.rfind('/') + 1);
  std::string name;
  for (const char c : program.substr(0, kNameBeginMax)) {
    if ((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9')) {
      name += c;
    } else if (c >= 'A' && c <= 'Z') {
      name += static_cast<char>(c - 'A' + 'a');
    } else if (!name.empty() && !name.ends_with('-')) {
      name += '-';
    }
  }
  if (name.empty()) name = "job";
  return name.ends_with('-') ? name : name + '-';
}

void ask_slice(std::string_view profile, Value& pod, Complaints& complaints) {
  const std::string resource = slice_resource(profile);
  if (const auto known = profile_of(resource); !known)
    return complaints.add({"--gpus"}, resource + ": " + known.error());
  pod.at("spec").at("containers").edit_items().front().at("resources").at("limits").set(resource, "1");
}

void ask_vgpu(std::string_view profile, Value& pod, Complaints& complaints) {
  const std::string resource = vgpu_resource(profile);
  if (const auto known = vgpu_named(resource); !known)
    return complaints.add({"--gpus"}, resource + ": " + known.error());
  pod.at("spec").at("containers").edit_items().front().at("resources").at("limits").set(resource, "1");
}

// "25%"
void ask_share(std::string_view share, Value& pod, Complaints& complaints) {
  const bool is_percent = share.ends_with('%');
  const auto percent = parse_integer(share.substr(0, share.size() - (is_percent ? 1 : 0)), kMpsMilliMin / 10, 100);
  if (!is_percent || !percent) {
    return complaints.add({"--gpus"}, quote(share) + " is no share of MPS; write mps:25%, from 3 to 100 percent");
  }
  Value& annotations = pod.at("metadata").at("annotations");
  annotations.set(kGpuFractionAnnotation, decimal_of_milli(*percent * 10));
  annotations.set(kGpuSharingAnnotation, name_of(Sharing::kMps));
}

void ask_gpus(const JobRequest& request, Value& pod, Complaints& complaints) {
  constexpr std::string_view kSlice = "mig:", kShare = "mps:", kVgpu = "vgpu:";
  const std::string_view text = request.gpus;
  if (text.starts_with(kSlice)) return ask_slice(text.substr(kSlice.size()), pod, complaints);
  if (text.starts_with(kVgpu)) return ask_vgpu(text.substr(kVgpu.size()), pod, complaints);
  if (text.starts_with(kShare)) return ask_share(text.substr(kShare.size()), pod, complaints);
  const auto milli = parse_milli(request.gpus);
  const Place place{"--gpus"};
  if (!milli) {
    complaints.add(place, milli.error());
  } else if (*milli > 1000 && *milli % 1000 != 0) {
    complaints.add(place,
                   quote(request.gpus) + " is more than one GPU and not whole; write a count (2) or a part (0.5)");
  } else if (*milli > 0) {
    const std::string count = std::to_string(*milli > 1000 ? *milli / 1000 : 1);
    Value& container = pod.at("spec").at("containers").edit_items().front();
    container.at("resources").at("limits").set(kGpuResource, count);
    if (*milli < 1000) pod.at("metadata").at("annotations").set(kGpuMilliAnnotation, std::to_string(*milli));
  }
}

void limit_time(const JobRequest& request, Value& pod, Complaints& complaints) {
  const auto ms = parse_duration_ms(request.time);
  if (!ms) {
    complaints.add({"--time"}, ms.error());
  } else if (*ms < 1000) {
    complaints.add({"--time"}, quote(request.time) + " is less than a second; write 30s, 15m or 4h");
  } else {
    // Of the pods, not of the Job: a Job's own limit goes on while it waits.
    pod.at("spec").set("activeDeadlineSeconds", (*ms - 1) / 1000 + 1);
  }
}

bool is_work(const Value& object) {
  const std::string_view version = object["apiVersion"].text(), kind = object["kind"].text();
  return (version == "batch/v1" && kind == "Job") || (version == "v1" && kind == "Pod");
}

// Of a document; empty: it is a Job or a Pod with a name.
std::string what_is_wrong(const Value& object) {
  const Value& metadata = object["metadata"];
  if (!is_work(object)) {
    return "it is a " + quote(object["apiVersion"].text()) + " " + quote(object["kind"].text()) +
           "; submit takes Jobs (batch/v1) and Pods (v1), `kubectl apply -f` takes the others";
  }
  if (metadata["name"].is_empty() && metadata["generateName"].is_empty()) {
    return "a " + std::string(object["kind"].text()) + " has no name; write metadata.name";
  }
  return "";
}

}  // namespace

Result<Value> job_of(const JobRequest& request) {
  Complaints complaints;
  if (request.command.empty() || request.command.front().empty()) {
    complaints.add({}, "nothing to run; write the command after --: berth submit --gpus 1 -- python train.py");
    return complaints;
  }
  Value container = Value::map_of({{"name", "main"}, {"image", request.image}});
  for (const std::string& word : request.command) container.at("command").push_back(word);
  Value pod;
  if (!request.queue.empty()) pod.at("metadata").at("labels").set(kQueueLabel, request.queue);
  pod.at("spec") = Value::map_of({{"schedulerName", "berth"}, {"restartPolicy", "Never"}});
  pod.at("spec").at("containers").push_back(std::move(container));
  if (!request.gpus.empty()) ask_gpus(request, pod, complaints);
  if (!request.time.empty()) limit_time(request, pod, complaints);
  if (!request.gpu_models.empty()) {
    pod.at("metadata").at("annotations").set(kGpuModelsAnnotation, request.gpu_models);
    if (request.gpus.empty()) complaints.add({"--gpu-models"}, "no GPU is asked for; write --gpus too");
  }
  if (request.movable) pod.at("metadata").at("annotations").set(kMovableAnnotation, "true");
  if (!complaints.empty()) return complaints;

  Value job = Value::map_of({{"apiVersion", "batch/v1"}, {"kind", "Job"}});
  if (request.name.empty()) {
    job.at("metadata").set("generateName", name_begin(request.command.front()));
  } else {
    job.at("metadata").set("name", request.name);
  }
  if (!request.queue.empty()) job.at("metadata").at("labels").set(kQueueLabel, request.queue);
  Value& spec = job.at("spec");
  spec.set("backoffLimit", 0);
  if (request.gang > 1) {
    spec.set("completionMode", "Indexed");
    spec.set("completions", request.gang);
    spec.set("parallelism", request.gang);
  }
  spec.set("template", std::move(pod));
  return job;
}

Result<std::vector<Value>> work_in_manifest(std::string_view text, const std::string& file, const std::string& queue) {
  auto documents = parse_yaml(text, file);
  if (!documents) return documents.error();
  std::vector<Value> work;
  for (Value& document : *documents) {
    if (document["kind"].text() == "List") {
      for (Value& item : document.at("items").edit_items()) work.push_back(std::move(item));
    } else {
      work.push_back(std::move(document));
    }
  }
  Complaints complaints;
  std::map<std::string, std::size_t> numbers;  // of names
  for (std::size_t i = 0; i < work.size(); ++i) {
    Value& each = work[i];
    const std::string which = work.size() == 1 ? "" : "object " + std::to_string(i + 1) + ": ";
    if (const std::string wrong = what_is_wrong(each); !wrong.empty()) {
      complaints.add({file}, which + wrong);
      continue;
    }
    const Value& metadata = each["metadata"];
    const std::string name =
        std::string(each["kind"].text()) + " " + std::string(metadata["name"].text(metadata["generateName"].text()));
    for (const SchemaComplaint& complaint : check_fields(type_named(each["kind"].text()), each)) {
      complaints.add({file}, printable(which + name + ": " + complaint.message));
    }
    const std::string place = name + " " + std::string(metadata["namespace"].text());
    if (const auto [at, is_new] = numbers.try_emplace(place, i + 1); !is_new && !metadata["name"].is_empty()) {
      complaints.add({file}, printable(which + name) + " stands there already, as object " +
                                 std::to_string(at->second) + "; name one of them otherwise");
    }
    if (!queue.empty()) each.at("metadata").at("labels").set(kQueueLabel, queue);
  }
  if (work.empty()) complaints.add({file}, "there is nothing in it; write a Job (batch/v1) or a Pod (v1)");
  if (!complaints.empty()) return complaints;
  return work;
}

}  // namespace berth
