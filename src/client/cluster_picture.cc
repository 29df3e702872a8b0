#include "client/cluster_picture.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "client/event_time.h"
#include "client/listing.h"
#include "client/queue_tree.h"
#include "manifest/labels.h"
#include "manifest/node_gpus.h"
#include "manifest/timestamp.h"
#include "model/gpu_hardware.h"
#include "model/quantity.h"

namespace berth {
namespace {

// ---- what is kept of an object --------------------------------------------------------------------------------------------

void keep_only(Value& map, std::initializer_list<std::string_view> keys) {
  std::erase_if(map.edit_members(),
                [&](const Value::Member& each) { return std::ranges::find(keys, each.key) == keys.end(); });
}

void keep_resources(Value& spec) {
  for (const std::string_view key : {"containers", "initContainers"}) {
    Value* const containers = spec.find(key);
    if (containers == nullptr || !containers->is_list()) continue;
    for (Value& each : containers->edit_items()) keep_only(each, {"resources"});
  }
}

void keep_conditions(Value& object, std::initializer_list<std::string_view> types) {
  Value* const status = object.find("status");
  Value* const conditions = status == nullptr ? nullptr : status->find("conditions");
  if (conditions == nullptr || !conditions->is_list()) return;
  std::erase_if(conditions->edit_items(),
                [&](const Value& each) { return std::ranges::find(types, each["type"].text()) == types.end(); });
}

void keep_of_pod_spec(Value& spec) {
  keep_only(spec,
            {"nodeName", "nodeSelector", "schedulingGates", "activeDeadlineSeconds", "containers", "initContainers"});
  keep_resources(spec);
}

void slim_pod(Value& pod) {
  if (Value* const spec = pod.find("spec")) keep_of_pod_spec(*spec);
  if (Value* const status = pod.find("status")) {
    keep_only(*status, {"phase", "reason", "message", "startTime", "conditions"});
  }
  keep_conditions(pod, {"PodScheduled"});
}

void slim_job(Value& job) {
  if (Value* const spec = job.find("spec")) {
    keep_only(*spec, {"parallelism", "completions", "suspend", "activeDeadlineSeconds", "template"});
    Value* const pod = spec->find("template");
    Value* const of_pod = pod == nullptr ? nullptr : pod->find("spec");
    if (of_pod != nullptr) keep_of_pod_spec(*of_pod);
  }
  if (Value* const status = job.find("status")) keep_only(*status, {"succeeded", "conditions"});
  keep_conditions(job, {"Failed", "Complete"});
}

void slim_volcano_job(Value& job) {
  if (Value* const spec = job.find("spec")) {
    keep_only(*spec, {"minAvailable", "queue", "tasks"});
    Value* const tasks = spec->find("tasks");
    if (tasks != nullptr && tasks->is_list()) {
      for (Value& task : tasks->edit_items()) {
        keep_only(task, {"replicas", "template"});
        Value* const pod = task.find("template");
        Value* const of_pod = pod == nullptr ? nullptr : pod->find("spec");
        if (of_pod != nullptr) keep_of_pod_spec(*of_pod);
      }
    }
  }
  if (Value* const status = job.find("status")) keep_only(*status, {"succeeded", "state"});
}

void slim_node(Value& node) {
  node.erase("spec");
  if (Value* const status = node.find("status")) keep_only(*status, {"allocatable", "conditions"});
  keep_conditions(node, {"Ready"});
}

void slim_event(Value& event) {
  keep_only(event, {"metadata", "type", "reason", "message", "involvedObject", "series", "lastTimestamp", "eventTime",
                    "firstTimestamp"});
  if (Value* const metadata = event.find("metadata")) {
    keep_only(*metadata, {"name", "namespace", "uid", "resourceVersion", "creationTimestamp"});
  }
  if (Value* const about = event.find("involvedObject")) keep_only(*about, {"kind", "namespace", "name"});
}

// ---- what is read -----------------------------------------------------------------------------------------------------------

bool is_live(const Value& pod) {
  const std::string_view phase = pod["status"]["phase"].text();
  return phase != "Succeeded" && phase != "Failed";
}

std::optional<Duration> run_limit_of(const Value& pod) {
  if (const std::int64_t limit_s = pod["spec"]["activeDeadlineSeconds"].integer(-1); limit_s >= 0) {
    return seconds(std::min(limit_s, kTimeMax.ms / 1000));
  }
  const auto run_for = parse_duration_ms(pod["metadata"]["annotations"][kRunForAnnotation].text());
  if (run_for) return Duration{*run_for};
  return std::nullopt;
}

std::int64_t gpu_milli_of_node(const Value& node) {
  const NodeGpus shared = read_node_gpus(node);
  if (shared.sharing != Sharing::kExclusive) return std::int64_t{shared.count} * kMilliPerGpu;
  const Value& gpus = node["status"]["allocatable"][kGpuResource];
  constexpr std::int64_t kGpusBelieved = 1'000'000;
  const auto count =
      parse_integer(gpus.is_integer() ? std::to_string(gpus.integer()) : std::string(gpus.text()), 0, kGpusBelieved);
  return count ? *count * 1000 : 0;
}

bool is_ready(const Value& node) {
  const auto& conditions = node["status"]["conditions"].items();
  return std::ranges::any_of(
      conditions, [](const Value& each) { return each["type"].text() == "Ready" && each["status"].text() == "True"; });
}

std::string lower_case_ascii(std::string_view text) {
  std::string lower(text);
  for (char& each : lower) {
    if (each >= 'A' && each <= 'Z') each = static_cast<char>(each - 'A' + 'a');
  }
  return lower;
}

bool is_pending(WorkState state) { return state == WorkState::kWaiting || state == WorkState::kSuspended; }

std::string uid_of(const Value& object) { return std::string(object["metadata"]["uid"].text()); }

}  // namespace

std::string_view qualified_of(PictureKind kind) {
  switch (kind) {
    case PictureKind::kJobs:
      return "jobs.batch";
    case PictureKind::kVolcanoJobs:
      return "jobs.batch.volcano.sh";
    case PictureKind::kPods:
      return "pods";
    case PictureKind::kNodes:
      return "nodes";
    case PictureKind::kQueues:
      return "queues.berth.dev";
    case PictureKind::kEvents:
      return "events";
  }
  return "";
}

void slim_for_picture(PictureKind kind, Value& object) {
  switch (kind) {
    case PictureKind::kJobs:
      return slim_job(object);
    case PictureKind::kVolcanoJobs:
      return slim_volcano_job(object);
    case PictureKind::kPods:
      return slim_pod(object);
    case PictureKind::kNodes:
      return slim_node(object);
    case PictureKind::kQueues:
      return;
    case PictureKind::kEvents:
      return slim_event(object);
  }
}

void ClusterPicture::take(PictureKind kind, const ObjectChange& change) {
  switch (kind) {
    case PictureKind::kJobs:
    case PictureKind::kVolcanoJobs:
      return take_job(change);
    case PictureKind::kPods:
      return take_pod(change);
    case PictureKind::kNodes:
      return take_node(change);
    case PictureKind::kQueues: {
      const std::string name(change.object()["metadata"]["name"].text());
      if (change.after) {
        queues_[name] = change.after;
      } else {
        queues_.erase(name);
      }
      return;
    }
    case PictureKind::kEvents:
      return take_event(change);
  }
}

void ClusterPicture::take_job(const ObjectChange& change) {
  const std::string uid = uid_of(change.object());
  forget_end(uid);
  if (change.before && change.after && uid_of(*change.before) != uid) forget_end(uid_of(*change.before));
  if (change.after) {
    known_[uid].job = change.after;
  } else if (const auto at = known_.find(uid); at != known_.end()) {
    at->second.job = nullptr;
  }
  changed_.insert(uid);
}

void ClusterPicture::take_pod(const ObjectChange& change) {
  const Value& pod = change.object();
  const std::string job(job_uid_of_pod(pod));
  const std::string uid = uid_of(pod);
  const std::string& owner = job.empty() ? uid : job;
  if (job.empty()) forget_end(uid);
  if (change.after) {
    // What comes after the end of its job is of no interest, unless it still holds a place.
    if (ended_.contains(owner) && !is_live(pod)) return;
    Known& known = known_[owner];
    known.is_pod = job.empty();
    known.pods[uid] = change.after;
  } else if (const auto at = known_.find(owner); at != known_.end()) {
    at->second.pods.erase(uid);
  }
  changed_.insert(owner);
}

void ClusterPicture::take_node(const ObjectChange& change) {
  const std::string name(change.object()["metadata"]["name"].text());
  if (const auto at = nodes_.find(name); at != nodes_.end()) {
    gpu_milli_ -= at->second.gpu_milli;
    nodes_ready_ -= at->second.ready ? 1 : 0;
    nodes_.erase(at);
  }
  if (!change.after) return;
  const NodeFact fact{gpu_milli_of_node(*change.after), is_ready(*change.after),
                      gpu_model_of((*change.after)["metadata"]["labels"][kGpuProductLabel].text())};
  gpu_milli_ += fact.gpu_milli;
  nodes_ready_ += fact.ready ? 1 : 0;
  nodes_[name] = fact;
}

void ClusterPicture::take_event(const ObjectChange& change) {
  if (!change.after) return;  // old news is deleted after a while
  const Value& event = *change.after;
  const std::string uid = uid_of(event);
  const Time at = time_of_event(event);
  if (events_.size() >= kEventsKept && at < events_.begin()->first) return;
  std::erase_if(events_, [&](const auto& each) { return each.second.first == uid; });
  const Value& about = event["involvedObject"];
  const std::string name_space(about["namespace"].text());
  ShownEvent shown{.at = at,
                   .warning = event["type"].text() == "Warning",
                   .about = (name_space.empty() ? "" : name_space + "/") + lower_case_ascii(about["kind"].text()) +
                            "/" + std::string(about["name"].text()),
                   .reason = std::string(event["reason"].text()),
                   .message = std::string(event["message"].text())};
  events_.emplace(at, std::pair(uid, std::move(shown)));
  if (events_.size() > kEventsKept) events_.erase(events_.begin());
}

void ClusterPicture::note_end(const std::string& uid, bool failed) {
  forget_end(uid);
  ended_[uid] = failed;
  failed_ += failed ? 1 : 0;
}

void ClusterPicture::forget_end(const std::string& uid) {
  const auto at = ended_.find(uid);
  if (at == ended_.end()) return;
  failed_ -= at->second ? 1 : 0;
  ended_.erase(at);
}

void ClusterPicture::count(const LiveWork& live, int sign) {
  for (QueueUse* const use : {&whole_, &by_queue_[live.work.queue]}) {
    use->used_gpu_milli += sign * live.used_gpu_milli;
    if (is_pending(live.work.state)) {
      use->pending += sign;
      use->pending_gpu_milli += sign * live.work.gpu_milli();
    } else if (!has_ended(live.work.state)) {
      use->running += sign;
    }
  }
}

void ClusterPicture::settle() {
  for (const std::string& uid : changed_) work_out(uid);
  changed_.clear();
}

void ClusterPicture::work_out(const std::string& uid) {
  if (const auto before = live_.find(uid); before != live_.end()) {
    count(before->second, -1);
    live_.erase(before);
  }
  const auto at = known_.find(uid);
  if (at == known_.end()) return;
  Known& known = at->second;
  if (!known.job && known.pods.empty()) {
    known_.erase(at);
    return;
  }
  if (!known.job && !known.is_pod) return;  // of a Job that was not told yet, or is gone
  LiveWork live;
  std::vector<const Value*> pods;
  for (const auto& [pod_uid, pod] : known.pods) {
    pods.push_back(pod.get());
    if (!is_live(*pod)) continue;
    if (!(*pod)["spec"]["nodeName"].is_empty()) live.used_gpu_milli += gpu_milli_held(*pod);
    const auto started = parse_timestamp((*pod)["status"]["startTime"].text());
    if (started && (!live.started || *started < *live.started)) live.started = *started;
    if (!live.run_limit) live.run_limit = run_limit_of(*pod);
  }
  live.work = known.job ? read_job_work(*known.job, pods) : read_pod_work(*pods.front());
  if (has_ended(live.work.state) && live.used_gpu_milli == 0) {
    note_end(uid, live.work.state == WorkState::kFailed);
    known_.erase(at);
    return;
  }
  count(live, 1);
  live_[uid] = std::move(live);
}

// A slice is its part of the GPU's processors, as in queues.
std::int64_t ClusterPicture::gpu_milli_held(const Value& pod) const {
  const std::string profile = slice_of_pod(pod);
  if (profile.empty()) return gpu_milli_of_pod(pod);
  const auto node = nodes_.find(std::string(pod["spec"]["nodeName"].text()));
  if (node == nodes_.end()) return 0;
  const auto slice = find_slice({.name = {}, .model = node->second.gpu_model}, profile);
  return slice ? slice->gpu_milli : 0;  // by need, and not given yet: none
}

void ClusterPicture::sample() {
  Sample now;
  now.used_per_mille =
      gpu_milli_ > 0 ? static_cast<int>(std::clamp<std::int64_t>(whole_.used_gpu_milli * 1000 / gpu_milli_, 0, 1000))
                     : 0;
  now.pending = whole_.pending;
  history_.push_back(now);
  if (history_.size() > kSamplesKept) history_.pop_front();
}

QueueUse ClusterPicture::use_of(const std::string& queue) const {
  const auto at = by_queue_.find(queue);
  return at == by_queue_.end() ? QueueUse{} : at->second;
}

std::vector<ClusterPicture::QueueRow> ClusterPicture::queues() const {
  std::vector<Value> objects;
  for (const auto& [name, queue] : queues_) objects.push_back(*queue);
  std::vector<QueueRow> rows;
  for (const ListingRow& row : list_queues(objects).rows) {
    rows.push_back({row.cells.front(), std::string(row.facts["name"].text())});
  }
  // Those that somebody names without being allowed to see them, or that are gone.
  for (const auto& [name, use] : by_queue_) {
    if (!queues_.contains(name) && use.pending + use.running > 0) rows.push_back({name, name});
  }
  return rows;
}

std::vector<ShownEvent> ClusterPicture::events() const {
  std::vector<ShownEvent> events;
  for (const auto& [at, event] : events_) events.push_back(event.second);
  return events;
}

}  // namespace berth
