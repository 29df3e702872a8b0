#include "service/facts.h"

#include <algorithm>
#include <array>
#include <map>
#include <string_view>
#include <utility>

#include "base/wording.h"
#include "manifest/gpu_need.h"
#include "manifest/gpu_part.h"
#include "manifest/node_constraints.h"
#include "manifest/node_gpus.h"
#include "manifest/node_host.h"
#include "manifest/parallelism.h"
#include "manifest/pod_neighbours.h"
#include "manifest/scheduled_resources.h"
#include "manifest/slice_resources.h"
#include "manifest/timestamp.h"
#include "manifest/told_changes.h"
#include "manifest/topology_request.h"
#include "manifest/vgpu_resources.h"
#include "manifest/workload_name.h"
#include "model/gpu.h"
#include "model/quantity.h"
#include "service/reservation_facts.h"

namespace berth {
namespace {

// Adds to a sum that must stay inside 64 bits; false: it would not.
bool add_to(std::int64_t& sum, std::int64_t amount) { return !__builtin_add_overflow(sum, amount, &sum); }

std::int32_t narrowed(std::int64_t value, std::int32_t most) {
  return static_cast<std::int32_t>(std::clamp<std::int64_t>(value, 0, most));
}

// Kubernetes' own default of terminationGracePeriodSeconds.
constexpr std::int64_t kGraceByDefaultS = 30;

// By the rule with which the scheduler begins what it says to whom it evicts.
bool gives_back(std::string_view why) {
  const std::string_view rule = why.substr(0, why.find(':'));
  return rule == name_of(EvictionRule::kReclaim) || rule == name_of(EvictionRule::kFairShare);
}

// Taints by which the control plane says that a node is not ready.
bool says_how_it_is(std::string_view taint) { return taint == kNotReadyTaint || taint == kUnreachableTaint; }

bool closes(const Taint& taint) { return says_how_it_is(taint.key) && taint.effect != TaintEffect::kPreferNoSchedule; }

bool is_ready(const Value& node) {
  for (const Value& condition : node["status"]["conditions"].items()) {
    if (condition["type"].text() == "Ready") return condition["status"].text() == "True";
  }
  return false;
}

// None: it is ready, or does not say since when it is not.
std::optional<Time> not_ready_since(const Value& node) {
  for (const Value& condition : node["status"]["conditions"].items()) {
    if (condition["type"].text() != "Ready" || condition["status"].text() == "True") continue;
    return parse_timestamp(condition["lastTransitionTime"].text());
  }
  return std::nullopt;
}

// ---- what one pod asks ----------------------------------------------------------------------------------------------

struct PodAmounts {
  std::int64_t cpu_milli = 0;
  std::int64_t memory_bytes = 0;
  std::int64_t gpus = 0;
  std::int64_t replicas = 0;
  std::map<std::string, std::int64_t> slices, vgpus;  // by resource
  std::int64_t batch_cpu_milli = 0;
  std::int64_t batch_memory_bytes = 0;
};

class PodReader {
 public:
  explicit PodReader(const Value& pod) : pod_(pod), spec_(pod["spec"]), annotations_(pod["metadata"]["annotations"]) {}

  PodFacts read() {
    const Value& metadata = pod_["metadata"];
    facts_.uid = metadata["uid"].text();
    facts_.name_space = metadata["namespace"].text();
    facts_.name = metadata["name"].text();
    facts_.revision = metadata["resourceVersion"].text();
    read_queue_name();
    facts_.created = parse_timestamp(metadata["creationTimestamp"].text()).value_or(Time{});
    facts_.queued =
        std::min(parse_timestamp(annotations_[kQueuedAtAnnotation].text()).value_or(facts_.created), facts_.created);
    read_user();
    read_stage();
    read_owner();
    read_group();
    read_request();
    read_run();
    read_terms();
    read_time();
    read_constraints();
    read_images();
    refuse_what_is_not_followed();
    return std::move(facts_);
  }

 private:
  void complain(std::string text) {
    if (facts_.problem.empty()) facts_.problem = std::move(text);
  }

  // Berth's own word goes before Kueue's, and Kueue's before Volcano's.
  void read_queue_name() {
    const Value& labels = pod_["metadata"]["labels"];
    facts_.priority_class = labels[kKueuePriorityLabel].text();
    facts_.queue = labels[kQueueLabel].text();
    if (!facts_.queue.empty()) return;
    facts_.local_queue = labels[kKueueQueueLabel].text();
    const std::string_view volcano = annotations_[kVolcanoQueueAnnotation].text();
    facts_.queue = !facts_.local_queue.empty() ? "localqueue/" + facts_.name_space + "/" + facts_.local_queue
                   : !volcano.empty()          ? "volcano/" + std::string(volcano)
                                               : std::string(kDefaultQueue);
  }

  // Where nobody stamps who made an object, all of a namespace are one user, and that is how he is called.
  void read_user() {
    facts_.user = annotations_[kUserAnnotation].text();
    if (facts_.user.empty()) facts_.user = "of namespace " + facts_.name_space + " (its pods name none)";
  }

  void read_stage() {
    const std::string_view phase = pod_["status"]["phase"].text();
    const bool deleted = !pod_["metadata"]["deletionTimestamp"].is_null();
    facts_.deleted = deleted;
    facts_.node = spec_["nodeName"].text();
    if (phase == "Succeeded" || phase == "Failed") {
      facts_.stage = phase == "Failed" ? PodStage::kFailed : PodStage::kSucceeded;
      for (const Value& container : pod_["status"]["containerStatuses"].items()) {
        const auto ended = parse_timestamp(container["state"]["terminated"]["finishedAt"].text());
        if (ended && (!facts_.ended_at || *ended > *facts_.ended_at)) facts_.ended_at = ended;
      }
    } else if (!facts_.node.empty()) {
      facts_.stage = PodStage::kBound;
      if (const Value* gpus = annotations_.find(kGpusAnnotation)) facts_.given = parse_given_gpus(gpus->text());
    } else if (!deleted && spec_["schedulingGates"].items().empty()) {
      facts_.stage = PodStage::kWaiting;
    }
    for (const Value& condition : pod_["status"]["conditions"].items()) {
      if (deleted && condition["type"].text() == kEvictedCondition && condition["reason"].text() == kEvictedReason) {
        facts_.leaving_until = parse_timestamp(pod_["metadata"]["deletionTimestamp"].text());
        facts_.leaves_for = reservation_named_in(condition["message"].text());
        if (gives_back(condition["message"].text())) {
          facts_.gave_back = parse_timestamp(condition["lastTransitionTime"].text());
        }
      }
      if (condition["type"].text() == kBestEffortCondition && condition["status"].text() == "True") {
        facts_.terms.best_effort = true;
      }
      if (condition["type"].text() == "Ready") facts_.ready = condition["status"].text() == "True";
      if (condition["type"].text() == kChangesCondition) facts_.told_changes = !condition["message"].is_empty();
      if (condition["type"].text() != "PodScheduled") continue;
      if (condition["status"].text() == "False") facts_.told = condition["message"].text();
      if (condition["status"].text() == "True")
        facts_.bound_at = parse_timestamp(condition["lastTransitionTime"].text());
    }
  }

  void read_group() {
    facts_.maker_uid = group_uid_of(pod_);
    facts_.workload_name = workload_name_of(pod_);
    facts_.pod_group = pod_group_named_by(pod_);
    read_repair();
    if (facts_.pod_group) return;
    const Value& labels = pod_["metadata"]["labels"];
    const bool own = labels.find(kGroupLabel) != nullptr;
    const std::string_view name = own ? labels[kGroupLabel].text() : labels[kKueueGroupLabel].text();
    if (name.empty()) return;
    const std::string_view size_key = own ? kGroupSizeAnnotation : kKueueGroupSizeAnnotation;
    const auto size = parse_integer(annotations_[size_key].text(), 1, kPodsPerWorkloadMax);
    if (!size) {
      complain("annotation " + std::string(size_key) + " of a pod in a group: " + size.error());
      return;
    }
    facts_.group_name = name;
    facts_.group = facts_.name_space + "/" + facts_.group_name + "/" + facts_.maker_uid;
    facts_.group_size = *size;
  }

  void read_repair() {
    const Value* const repair = annotations_.find(kRepairAnnotation);
    if (repair == nullptr) return;
    const auto ms = parse_duration_ms(repair->text());
    if (ms && *ms <= kTimeMax.ms) {
      facts_.repair = Duration{*ms};
    } else {
      complain("annotation " + std::string(kRepairAnnotation) + ": " + (ms ? "that is too long" : ms.error()));
    }
  }

  void read_owner() {
    for (const Value& reference : pod_["metadata"]["ownerReferences"].items()) {
      if (!reference["controller"].truth()) continue;
      facts_.owner = {std::string(reference["apiVersion"].text()), std::string(reference["kind"].text()),
                      std::string(reference["name"].text()), std::string(reference["uid"].text())};
    }
  }

  // One container's requests; what is limited and not requested is requested (the API server says so too).
  PodAmounts amounts_of(const Value& container) {
    PodAmounts amounts;
    const Value& requests = container["resources"]["requests"];
    for (const Value::Member& each : requests.members()) {
      const auto take = [&](std::int64_t& into, const Parsed<std::int64_t>& parsed) {
        if (parsed)
          into = *parsed;
        else
          complain("a container's request of " + each.key + ": " + parsed.error());
      };
      if (each.key == "cpu")
        take(amounts.cpu_milli, parse_milli(each.value.text()));
      else if (each.key == "memory")
        take(amounts.memory_bytes, parse_bytes(each.value.text()));
      else if (each.key == kBatchCpuResource)
        take(amounts.batch_cpu_milli, parse_bytes(each.value.text()));  // whole thousandths of a core
      else if (each.key == kBatchMemoryResource)
        take(amounts.batch_memory_bytes, parse_bytes(each.value.text()));
      else if (each.key == kGpuResource)
        take(amounts.gpus, parse_integer(each.value.text(), 0, INT32_MAX));
      else if (each.key == kSharedGpuResource)
        take(amounts.replicas, parse_integer(each.value.text(), 0, INT32_MAX));
      else if (is_slice_resource(each.key))
        take(amounts.slices[each.key], parse_integer(each.value.text(), 0, INT32_MAX));
      else if (is_vgpu_resource(each.key))
        take(amounts.vgpus[each.key], parse_integer(each.value.text(), 0, INT32_MAX));
      else
        complain(not_scheduled_by(each.key));
    }
    std::erase_if(amounts.slices, [](const auto& each) { return each.second == 0; });
    std::erase_if(amounts.vgpus, [](const auto& each) { return each.second == 0; });
    return amounts;
  }

  void add(PodAmounts& sum, const PodAmounts& more) {
    bool believed = add_to(sum.cpu_milli, more.cpu_milli) && add_to(sum.memory_bytes, more.memory_bytes) &&
                    add_to(sum.gpus, more.gpus) && add_to(sum.replicas, more.replicas) &&
                    add_to(sum.batch_cpu_milli, more.batch_cpu_milli) &&
                    add_to(sum.batch_memory_bytes, more.batch_memory_bytes);
    for (const auto& [resource, count] : more.slices) believed = add_to(sum.slices[resource], count) && believed;
    for (const auto& [resource, count] : more.vgpus) believed = add_to(sum.vgpus[resource], count) && believed;
    if (!believed) complain("its containers ask more together than any machine has");
  }

  // Containers run together; before them the initial ones, one after the other, beside those of them that stay.
  PodAmounts total() {
    PodAmounts together, before_most, stay;
    for (const Value& container : spec_["containers"].items()) add(together, amounts_of(container));
    for (const Value& container : spec_["initContainers"].items()) {
      PodAmounts amounts = amounts_of(container);
      if (container["restartPolicy"].text() == "Always") {
        add(stay, amounts);
        amounts = stay;
      } else {
        add(amounts, stay);
      }
      raise_to(before_most, amounts);
    }
    add(together, stay);
    raise_to(together, before_most);
    return together;
  }

  static void raise_each_to(std::map<std::string, std::int64_t>& most,
                            const std::map<std::string, std::int64_t>& other) {
    for (const auto& [resource, count] : other) {
      std::int64_t& known = most[resource];
      known = std::max(known, count);
    }
  }

  static void raise_to(PodAmounts& most, const PodAmounts& other) {
    most.cpu_milli = std::max(most.cpu_milli, other.cpu_milli);
    most.memory_bytes = std::max(most.memory_bytes, other.memory_bytes);
    most.gpus = std::max(most.gpus, other.gpus);
    most.replicas = std::max(most.replicas, other.replicas);
    raise_each_to(most.slices, other.slices);
    raise_each_to(most.vgpus, other.vgpus);
    most.batch_cpu_milli = std::max(most.batch_cpu_milli, other.batch_cpu_milli);
    most.batch_memory_bytes = std::max(most.batch_memory_bytes, other.batch_memory_bytes);
  }

  void read_request() {
    const PodAmounts amounts = total();
    if (std::max(amounts.cpu_milli, amounts.batch_cpu_milli) > kNodeCpuMilliMax ||
        std::max(amounts.memory_bytes, amounts.batch_memory_bytes) > kNodeMemoryBytesMax ||
        amounts.gpus > kGpusPerNodeMax) {
      complain("it asks more than any machine has: at most 50,000 cores, a PiB of memory and 64 GPUs a pod");
    }
    PodRequest& request = facts_.request;
    request.in_extra = amounts.batch_cpu_milli > 0 || amounts.batch_memory_bytes > 0;
    if (request.in_extra && (amounts.cpu_milli > 0 || amounts.memory_bytes > 0)) {
      complain("it asks cpu or memory, which its node has once, beside " + std::string(kBatchCpuResource) + " or " +
               std::string(kBatchMemoryResource) + "; ask all of it in one of the two ways");
    }
    const HostAmounts asked_of_host = request.in_extra
                                          ? HostAmounts{amounts.batch_cpu_milli, amounts.batch_memory_bytes}
                                          : HostAmounts{amounts.cpu_milli, amounts.memory_bytes};
    request.cpu_milli = std::clamp<std::int64_t>(asked_of_host.cpu_milli, 0, kNodeCpuMilliMax);
    request.memory_bytes = std::clamp<std::int64_t>(asked_of_host.memory_bytes, 0, kNodeMemoryBytesMax);
    request.gpus = narrowed(amounts.gpus, kGpusPerNodeMax);
    request.gpu_milli = request.gpus > 0 ? kMilliPerGpu : 0;
    if (!amounts.slices.empty()) read_slice(amounts);
    const GpuResources asked{
        .whole = amounts.gpus, .shared = amounts.replicas, .slices = !amounts.slices.empty(), .vgpus = amounts.vgpus};
    read_part(asked);
    read_need(asked);
    read_models();
  }

  void read_slice(const PodAmounts& amounts) {
    if (std::string why = why_not_in_one_pod(amounts.slices, amounts.gpus); !why.empty())
      return complain(std::move(why));
    const std::string& resource = amounts.slices.begin()->first;
    const auto profile = profile_of(resource);
    if (!profile) return complain("it asks " + resource + ": " + profile.error());
    facts_.slice = *profile;
    facts_.request.gpus = 1;
    facts_.request.gpu_milli = kMilliPerGpu;
  }

  void complain_of(const std::vector<GpuPartProblem>& all) {
    std::string problems;
    for (const GpuPartProblem& each : all) problems += (problems.empty() ? "" : "; ") + each.to_string();
    if (!problems.empty()) complain(std::move(problems));
  }

  void read_need(const GpuResources& asked) {
    ReadGpuNeed read = read_gpu_need(annotations_, asked);
    complain_of(read.problems);
    facts_.need_counted = std::move(read.need.how_counted);
    if (read.need.slice) {
      facts_.slice_need = read.need.slice;
      facts_.request.gpus = 1;
      facts_.request.gpu_milli = kMilliPerGpu;
    } else {
      facts_.request.gpu_memory_mib = std::max(facts_.request.gpu_memory_mib, read.need.memory_mib);
    }
  }

  void read_part(const GpuResources& asked) {
    const ReadGpuPart read = read_gpu_part(annotations_, asked);
    complain_of(read.problems);
    if (read.part.is_none()) return;
    PodRequest& request = facts_.request;
    request.gpus = 1;
    request.gpu_milli = read.part.is_replica() ? kMilliPerGpu : read.part.milli;
    request.gpu_memory_mib = read.part.memory_mib;
    request.sharing = read.part.sharing;
    facts_.vgpu = read.part.vgpu;
  }

  void read_models() {
    if (facts_.request.gpus == 0) return;
    std::string_view text = annotations_[kGpuModelsAnnotation].text();
    while (!text.empty()) {
      const std::size_t bar = std::min(text.find('|'), text.size());
      if (bar > 0) facts_.gpu_models.push_back(gpu_model_of(text.substr(0, bar)));
      text.remove_prefix(std::min(bar + 1, text.size()));
    }
    std::string_view flavors = annotations_[kFlavorsAnnotation].text();
    while (!flavors.empty()) {
      const std::size_t bar = std::min(flavors.find('|'), flavors.size());
      if (bar > 0) facts_.gpu_models.emplace_back(flavors.substr(0, bar));
      flavors.remove_prefix(std::min(bar + 1, flavors.size()));
    }
    if (const Value* product = spec_["nodeSelector"].find(kGpuProductLabel)) {
      facts_.gpu_models = {gpu_model_of(product->text())};
    }
  }

  void read_run() {
    if (const Value* limit = spec_.find("activeDeadlineSeconds"); limit != nullptr && limit->integer() > 0) {
      facts_.run = Duration{std::min(limit->integer(), kTimeMax.ms / 1000) * 1000};
      facts_.terms.run_limit = facts_.run;
    } else if (const Value* run = annotations_.find(kRunForAnnotation)) {
      if (const auto ms = parse_duration_ms(run->text()); ms && *ms <= kTimeMax.ms) facts_.run = Duration{*ms};
    }
  }

  void read_terms() {
    Terms& terms = facts_.terms;
    terms.priority =
        static_cast<std::int32_t>(std::clamp<std::int64_t>(spec_["priority"].integer(0), -kPriorityMax, kPriorityMax));
    terms.preempts = spec_["preemptionPolicy"].text() != "Never";
    const std::int64_t grace_s = spec_["terminationGracePeriodSeconds"].integer(kGraceByDefaultS);
    terms.grace = seconds(std::clamp<std::int64_t>(grace_s, 0, kTimeMax.ms / 1000));
    if (const Value* const coverage = annotations_.find(kCoverageAnnotation)) {
      terms.guaranteed_only = coverage->text() == "guaranteed";
      terms.best_effort = coverage->text() == "best-effort";
      if (!terms.guaranteed_only && !terms.best_effort) {
        complain("annotation " + std::string(kCoverageAnnotation) + ": write guaranteed or best-effort");
      }
    }
    // Also of a pod that does not say so, and was given one by somebody else.
    if (facts_.request.is_replica()) terms.best_effort = true;
    if (facts_.request.in_extra) read_that_it_counts_for_nothing();
    terms.latency_critical = annotations_[kLatencyAnnotation].text() == "critical" && !facts_.request.is_replica();
    if (const Value* const checkpoint = annotations_.find(kCheckpointAnnotation)) {
      facts_.checkpoint = parse_timestamp(checkpoint->text());
    }
    facts_.only_borrows = annotations_[kOnlyBorrowsAnnotation].text() == "true";
    read_consent();
  }

  // It asks what is promised more than once, which is for best effort alone.
  void read_that_it_counts_for_nothing() {
    if (std::exchange(facts_.terms.guaranteed_only, false)) {
      complain("who asks " + std::string(kBatchCpuResource) + " or " + std::string(kBatchMemoryResource) +
               " is best effort, and not guaranteed (" + std::string(kCoverageAnnotation) +
               "); leave one of the two out");
    }
    facts_.terms.best_effort = true;
  }

  void read_time() {
    TimeReading reading = read_time_request(annotations_);
    std::string problems;
    for (const TimeProblem& each : reading.problems) problems += (problems.empty() ? "" : "; ") + each.to_string();
    if (!problems.empty()) complain(std::move(problems));
    facts_.time = std::move(reading.request);
    read_run_limit();
    if (facts_.time.ready && facts_.owner.uid.empty()) {
      complain("annotation " + std::string(kNeverReadyAnnotation) +
               ": nothing would make this pod anew; let a Job make it, or leave it out");
    } else if (facts_.time.ready && facts_.time.ready->retries && facts_.owner.kind != "Job") {
      complain("annotation " + std::string(kNeverReadyAnnotation) +
               ": how often it is tried again is said of Jobs alone; write how long, as in 5m");
    }
    // Whether it has begun before is known of Jobs, and a pod alone is never made again.
    const bool known = facts_.owner.uid.empty() || facts_.owner.kind == "Job";
    if (known || (facts_.time.after.empty() && !facts_.time.max_wait)) return;
    complain("annotation " + std::string(facts_.time.max_wait ? kMaxWaitAnnotation : kAfterAnnotation) +
             ": it is of Jobs, and of pods that nothing made; leave it out");
  }

  // What its node ends before is none of the scheduler's.
  void read_run_limit() {
    if (!facts_.time.run_limit) return;
    if (facts_.owner.kind != "Job") {
      return complain("annotation " + std::string(kRunLimitAnnotation) +
                      ": it is of Jobs, which are ended then; write activeDeadlineSeconds in the spec of the pod");
    }
    std::optional<Duration>& limit = facts_.terms.run_limit;
    facts_.ends_by_scheduler = !limit || *facts_.time.run_limit < *limit;
    if (!facts_.ends_by_scheduler) return;
    limit = facts_.time.run_limit;
    const std::string_view stamped = annotations_[kExtendedAnnotation].text();
    const std::size_t blank = std::min(stamped.find(' '), stamped.size());
    const auto ms = parse_duration_ms(stamped.substr(0, blank));
    const auto times = parse_integer(stamped.substr(std::min(blank + 1, stamped.size())), 1, kExtensionsMax);
    if (ms && times && *ms > 0 && *ms <= kTimeMax.ms) {
      facts_.extended = Duration{*ms};
      facts_.extensions = static_cast<std::int32_t>(*times);
      limit = *limit + facts_.extended;
    }
    facts_.run = *limit;
  }

  // To be moved is to be stopped here and begun elsewhere, by whatever made it.
  void read_consent() {
    facts_.moved_at = parse_timestamp(annotations_[kMovedAtAnnotation].text());
    const Value* const movable = annotations_.find(kMovableAnnotation);
    if (movable == nullptr) return;
    facts_.terms.movable = movable->text() == "true" && !facts_.owner.uid.empty();
    const std::string annotation = "annotation " + std::string(kMovableAnnotation);
    if (movable->text() != "true" && movable->text() != "false") {
      complain(annotation + ": write true, or leave it out");
    } else if (movable->text() == "true" && facts_.owner.uid.empty()) {
      complain(annotation + ": nothing would make this pod anew elsewhere; let a Job make it, or leave it out");
    }
  }

  // As kubelets name them: without a tag it is the latest.
  void read_images() {
    for (const char* const kind : {"initContainers", "containers"}) {
      for (const Value& container : spec_[kind].items()) {
        std::string image(container["image"].text());
        if (image.empty()) continue;
        if (image.rfind(':') == std::string::npos || image.rfind(':') < image.rfind('/') + 1) image += ":latest";
        facts_.images.push_back(std::move(image));
      }
    }
  }

  void read_constraints() {
    // Of GPUs it names the model, in any of its names; of a pod without them it is a label like any other.
    ReadConstraints read = read_node_constraints(spec_, facts_.request.gpus > 0 ? kGpuProductLabel : "");
    if (!read.problem.empty()) complain(std::move(read.problem));
    facts_.constraints = std::move(read.constraints);
    // What others have cut kubelets hand out by the names of its profiles, and to nobody else.
    if (facts_.slice_need) {
      facts_.constraints.select.push_back(
          {std::string(kGpuModeLabel), LabelOperator::kIn, {std::string(name_of(Sharing::kMig))}});
    }
    // Every pod has some of these from the server; a node that is not ready takes nobody all the same.
    std::erase_if(facts_.constraints.tolerations, [](const Toleration& each) { return says_how_it_is(each.key); });
    ReadTopology topology = read_topology(annotations_);
    std::string problems;
    for (const TopologyProblem& each : topology.problems) problems += (problems.empty() ? "" : "; ") + each.to_string();
    if (!problems.empty()) complain(std::move(problems));
    facts_.topology = std::move(topology.topology);
    facts_.pod_set = std::move(topology.pod_set);
    // Who asks no GPUs is in nobody's way, and nobody in its.
    if (facts_.request.gpus > 0) facts_.exclusive_level = std::move(topology.exclusive_level);
    read_parallelism();
    ReadNeighbours around = read_neighbours(pod_);
    if (!around.problem.empty()) complain(std::move(around.problem));
    facts_.neighbours = std::move(around.neighbours);
    facts_.namespaces_by_label = std::move(around.by_label);
    const bool places_all = !facts_.topology.asks_nothing() || facts_.parallel.is_declared();
    if (places_all && !facts_.neighbours.asks_nothing()) {
      complain(
          "an annotation asks places for all its pods together, and its spec says by each pod who may be around; leave "
          "the "
          "annotation out, or pod affinity, topologySpreadConstraints and host ports");
    }
  }

  // As its controller numbers its pods; whoever numbers none has them in the order in which they were made.
  void read_rank() {
    const Value& labels = pod_["metadata"]["labels"];
    const auto number = [](const Value& text) { return parse_integer(text.text(), 0, kPodsPerWorkloadMax); };
    facts_.number = number(annotations_[kCompletionIndexAnnotation]).value_or(0);
    for (const char* const label :
         {"training.kubeflow.org/replica-index", "leaderworkerset.sigs.k8s.io/worker-index"}) {
      if (const auto its = number(labels[label])) facts_.number = *its;
    }
    if (const auto its = number(annotations_["volcano.sh/task-index"])) facts_.number = *its;
    facts_.job_number = number(labels["jobset.sigs.k8s.io/job-global-index"]).value_or(0);
    const std::string_view type = labels["training.kubeflow.org/replica-type"].text();
    facts_.leads = labels["training.kubeflow.org/job-role"].text() == "master" || type == "master" || type == "chief" ||
                   labels["leaderworkerset.sigs.k8s.io/worker-index"].text() == "0" ||
                   labels["ray.io/node-type"].text() == "head";
    const Value& subdomain = spec_["subdomain"];
    const Value& host = spec_["hostname"];
    if (!subdomain.is_empty()) {
      facts_.host_name = host.is_empty() ? facts_.name : std::string(host.text());
      facts_.host_name.append(".").append(subdomain.text());
    }
    if (const auto rank = number(annotations_[kRankAnnotation])) facts_.rank = static_cast<std::uint32_t>(*rank);
  }

  // PRE: its request and its topology are known.
  void read_parallelism() {
    read_rank();
    const Value* const value = annotations_.find(kParallelismAnnotation);
    if (value == nullptr) return;
    const std::string annotation = "annotation " + std::string(kParallelismAnnotation) + ": ";
    const auto parallel = parse_parallelism(value->text(), '=');
    if (!parallel) return complain(annotation + parallel.error());
    const PodRequest& request = facts_.request;
    const bool whole = request.gpus > 0 && request.gpu_milli == kMilliPerGpu && !facts_.asks_slice() &&
                       request.sharing == Sharing::kExclusive;
    if (!whole)
      return complain(annotation + "parallel sizes are of whole GPUs; request nvidia.com/gpu, or leave it out");
    if (facts_.topology.has_slices()) {
      return complain(annotation +
                      "it says which pods are beside each other, and so does a slice; leave one of them out");
    }
    facts_.parallel = *parallel;
  }

  void refuse_what_is_not_followed() {
    const auto refuse = [&](bool asked, const char* what) {
      if (asked) complain("it asks for " + std::string(what) + ", which is not followed yet; leave it out");
    };
    for (const Value& volume : spec_["volumes"].items()) {
      refuse(volume.find("persistentVolumeClaim") != nullptr, "a persistentVolumeClaim");
    }
    refuse(!spec_["resourceClaims"].is_empty(), "resourceClaims");
  }

  const Value& pod_;
  const Value& spec_;
  const Value& annotations_;
  PodFacts facts_;
};

}  // namespace

bool NodeFacts::same_machine(const NodeFacts& other) const {
  // What it is cut into then is told by itself.
  const bool is_recut = !layouts.empty() && !other.layouts.empty();
  return name == other.name && gpu_model == other.gpu_model && gpu_memory_mib == other.gpu_memory_mib &&
         gpus == other.gpus && sharing == other.sharing && other_modes == other.other_modes &&
         replicas == other.replicas && (fixed_slices == other.fixed_slices || is_recut) && recut == other.recut &&
         layouts == other.layouts && unused_slices == other.unused_slices && why_unused == other.why_unused &&
         cpu_milli == other.cpu_milli && memory_bytes == other.memory_bytes && pods_max == other.pods_max &&
         kept_per_gpu == other.kept_per_gpu && extra == other.extra && numa_zones == other.numa_zones &&
         numa_policy == other.numa_policy && links == other.links && problem == other.problem;
}

namespace {

// What is no size counts for nothing, and of a name that is there twice the first.
std::vector<NodeImage> read_images(const Value& images) {
  std::vector<NodeImage> read;
  for (const Value& image : images.items()) {
    const std::int64_t bytes = std::clamp<std::int64_t>(image["sizeBytes"].integer(), 0, kImageBytesMax);
    for (const Value& name : image["names"].items()) read.push_back({std::string(name.text()), bytes});
  }
  std::ranges::stable_sort(read, {}, &NodeImage::name);
  const auto twice = std::ranges::unique(read, {}, &NodeImage::name);
  read.erase(twice.begin(), twice.end());
  return read;
}

}  // namespace

NodeFacts read_node(const Value& node) {
  NodeFacts facts;
  facts.name = node["metadata"]["name"].text();
  const Value& labels = node["metadata"]["labels"];
  facts.labels = labels;
  const auto amount = [&](std::string_view resource, auto parse, std::int64_t most) -> std::int64_t {
    const Value& text = node["status"]["allocatable"][resource];
    if (text.is_null()) return 0;
    const auto parsed = parse(text.is_integer() ? std::to_string(text.integer()) : std::string(text.text()));
    if (!parsed || *parsed > most) {
      facts.problem = "status.allocatable " + std::string(resource) + ": " +
                      (parsed ? "more than is believed of one machine" : parsed.error());
      return 0;
    }
    return *parsed;
  };
  const auto whole = [](const std::string& text) { return parse_integer(text, 0, INT32_MAX); };
  NodeGpus gpus = read_node_gpus(node);
  facts.problem = std::move(gpus.problem);
  facts.gpus = gpus.count;
  facts.gpu_model = std::move(gpus.model);
  facts.gpu_memory_mib = gpus.memory_mib;
  facts.sharing = gpus.sharing;
  facts.other_modes = gpus.other_modes;
  facts.replicas = gpus.replicas;
  facts.fixed_slices = gpus.fixed_slices;
  facts.recut = gpus.recut;
  facts.layouts = std::move(gpus.layouts);
  facts.offered = gpus.offered;
  facts.cut = std::move(gpus.cut);
  facts.cut_state = std::move(gpus.cut_state);
  facts.unused_slices = std::move(gpus.unused_slices);
  facts.why_unused = std::move(gpus.why_unused);
  facts.cpu_milli = amount("cpu", parse_milli, kNodeCpuMilliMax);
  facts.memory_bytes = amount("memory", parse_bytes, kNodeMemoryBytesMax);
  if (!node["status"]["allocatable"]["pods"].is_null()) {
    facts.pods_max = static_cast<std::int32_t>(amount("pods", whole, INT32_MAX));
  }
  NodeHost host = read_node_host(node, facts.gpus, gpus.shared_as(), {facts.cpu_milli, facts.memory_bytes});
  facts.kept_per_gpu = host.kept_per_gpu;
  facts.extra = host.extra;
  facts.numa_zones = host.numa_zones;
  facts.numa_policy = host.numa_policy;
  facts.links = host.links;
  if (facts.problem.empty()) facts.problem = std::move(host.problem);
  facts.uid = node["metadata"]["uid"].text();
  facts.records = read_gpu_records(node);
  facts.says = {read_node_labels(labels), read_taints(node["spec"]["taints"]), host.spare};
  facts.not_ready_since = not_ready_since(node);
  facts.open = is_ready(node) && !node["spec"]["unschedulable"].truth() &&
               node["metadata"]["deletionTimestamp"].is_null() && std::ranges::none_of(facts.says.taints, closes);
  std::erase_if(facts.says.taints, [](const Taint& each) { return says_how_it_is(each.key); });
  facts.images = read_images(node["status"]["images"]);
  return facts;
}

PodFacts read_pod(const Value& pod) { return PodReader(pod).read(); }

FlavorFacts read_flavor(const Value& flavor) {
  const Value& spec = flavor["spec"];
  return {.name = flavor_amount_named(flavor["metadata"]["name"].text()).flavor,
          .gpu_model = gpu_model_of(spec["gpuModel"].text()),
          .gpu_memory_mib = spec["memoryMiB"].integer(),
          .node_labels = spec["nodeLabels"],
          .weight = std::clamp<std::int64_t>(spec["weight"].integer(1), 1, kFlavorWeightMax)};
}

bool FlavorFacts::has(const NodeFacts& node) const {
  return node.gpus > 0 && (gpu_model.empty() || gpu_model == node.gpu_model) &&
         (gpu_memory_mib == 0 || gpu_memory_mib == node.gpu_memory_mib) &&
         std::ranges::all_of(node_labels.members(), [&](const Value::Member& label) {
           const Value* const has = node.labels.find(label.key);
           return has != nullptr && *has == label.value;
         });
}

BudgetFacts read_budget(const Value& budget) {
  const Value& spec = budget["spec"];
  const auto is_none = [](const Value& amount) {
    return amount.is_integer() ? amount.integer() == 0 : amount.text() == "0%";
  };
  const bool none_must_stay =
      spec["maxUnavailable"].is_null() ? is_none(spec["minAvailable"]) : spec["maxUnavailable"].text() == "100%";
  auto pods = LabelSelector::from_object(spec["selector"]);
  return {.name_space = std::string(budget["metadata"]["namespace"].text()),
          .name = std::string(budget["metadata"]["name"].text()),
          .pods = pods ? *std::move(pods) : LabelSelector(),
          .protects = pods.has_value() && !none_must_stay};
}

}  // namespace berth
