#include "agent/simulated_nodes.h"

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <fstream>
#include <map>
#include <system_error>
#include <utility>

#include "agent/pod_run.h"
#include "base/rng.h"
#include "kube/calls.h"
#include "kube/delays.h"
#include "kube/mirror.h"
#include "kube/outbox.h"
#include "kube/strand.h"
#include "manifest/given_gpus.h"
#include "manifest/gpu_uses.h"
#include "manifest/json.h"
#include "manifest/labels.h"
#include "manifest/node_gpus.h"
#include "manifest/slice_resources.h"
#include "model/gpu_hardware.h"

namespace berth {
namespace {

constexpr Duration kRetry = seconds(1);
constexpr const char* kLeaseNamespace = "kube-node-lease";

bool is_ready(const Value& node) {
  for (const Value& condition : node["status"]["conditions"].items()) {
    if (condition["type"].text() == "Ready") return condition["status"].text() == "True";
  }
  return false;
}

// What the machine says of itself once it runs.
Value ready_status(const Value& node, const Value& seen, Time now) {
  const std::string at = format_timestamp(now);
  Value body;
  Value& status = body.at("status");
  // What has been cut since is so.
  const bool is_cut = !seen["metadata"]["labels"][kRecutLabel].is_null() && !seen["status"]["capacity"].is_empty();
  const Value& says = is_cut ? seen["status"] : node["status"];
  status.set("capacity", says["capacity"]);
  const Value& allocatable = says["allocatable"];
  status.set("allocatable", allocatable.is_empty() ? says["capacity"] : allocatable);
  Value conditions = Value::list();
  conditions.push_back(Value::map_of({{"type", "Ready"},
                                      {"status", "True"},
                                      {"reason", "SimulatedNodeReady"},
                                      {"message", "the simulated machine is ready"},
                                      {"lastHeartbeatTime", at},
                                      {"lastTransitionTime", at}}));
  status.set("conditions", std::move(conditions));
  Value addresses = Value::list();
  addresses.push_back(Value::map_of({{"type", "Hostname"}, {"address", node["metadata"]["name"]}}));
  status.set("addresses", std::move(addresses));
  status.set("nodeInfo", Value::map_of({{"kubeletVersion", "berth-0.1.0"},
                                        {"osImage", "simulated"},
                                        {"kernelVersion", "simulated"},
                                        {"containerRuntimeVersion", "simulated://0.1.0"},
                                        {"operatingSystem", "linux"},
                                        {"architecture", "amd64"}}));
  return body;
}

class RunningNodes final : public SimulatedNodes {
 public:
  RunningNodes(Transport& transport, Alarm& alarm, std::vector<Value> nodes, SimulatedNodesOptions options)
      : options_(std::move(options)),
        rng_(Seed{options_.seed}),
        strand_(std::make_shared<Strand>()),
        delays_(alarm, strand_),
        outbox_(transport, strand_, options_.in_flight_max) {
    for (Value& node : nodes) {
      std::string name(node["metadata"]["name"].text());
      nodes_[name].described = std::move(node);
    }
    MirrorOptions of_nodes;
    of_nodes.qualified = "nodes";
    of_nodes.label_selector = "berth.dev/simulated=true";
    node_mirror_ = Mirror::start(
        transport, alarm, of_nodes,
        [this](const ObjectChange& change) { strand_->post([this, change] { see_node(change); }); },
        [this] { strand_->post([this] { register_missing(); }); });
    MirrorOptions of_pods;
    of_pods.qualified = "pods";
    of_pods.field_selector = "spec.nodeName!=";
    pod_mirror_ = Mirror::start(
        transport, alarm, of_pods,
        [this](const ObjectChange& change) { strand_->post([this, change] { see_pod(change); }); },
        [this] { strand_->post([this] { begin_scrubs(); }); });
  }

  ~RunningNodes() override {
    strand_->stop();
    pod_mirror_.reset();
    node_mirror_.reset();
    delays_.clear();
  }

  bool synced() const override { return ready_ == static_cast<std::int64_t>(nodes_.size()); }

 private:
  struct Machine {
    Value described;
    bool registered = false;
    bool ready = false;
    std::string lease_revision;
    // What is left on its GPUs, as it was seen last; what is being scrubbed, for which number; what is yet to be told of that.
    GpuRecords records;
    std::vector<int> failing;
    struct Scrub {
      std::int64_t number = 0;
      std::uint64_t waits = 0;  // of Delays
    };
    std::map<int, Scrub> scrubs;
    GpuScrubs answers;
    bool answering = false;
    // What the object says, and the layout that it is being cut into; what it offers is the machine's own word.
    ObjectPtr object;
    std::string cutting, cut;     // what was asked, of the one under way and of the one that was answered last
    std::uint64_t cut_waits = 0;  // of Delays
  };
  // INVARIANT: at most one step of a pod waits or is under way.
  struct Running {
    ObjectPtr pod;
    PodRun run;
    Time started;             // the pod
    Time run_began;           // its present run
    std::uint64_t waits = 0;  // of Delays
    bool ending = false;
    bool told = false;  // that it runs
  };

  // ---- machines ---------------------------------------------------------------------------------------------------------

  void see_node(const ObjectChange& change) {
    const auto known = nodes_.find(std::string(change.object()["metadata"]["name"].text()));
    if (known == nodes_.end()) return;
    Machine& machine = known->second;
    const bool was_ready = std::exchange(machine.ready, change.after && is_ready(*change.after));
    ready_ += static_cast<int>(machine.ready) - static_cast<int>(was_ready);
    if (!change.after) return;
    machine.registered = true;
    machine.object = change.after;
    if (!machine.ready) report_ready(known->first);
    machine.records = read_gpu_records(*change.after);
    const auto failing = parse_given_gpus((*change.after)["metadata"]["annotations"][kScrubFailsAnnotation].text());
    machine.failing.clear();
    if (failing) failing->gpus.for_each([&](int gpu) { machine.failing.push_back(gpu); });
    look_at_scrubs(known->first);
    look_at_cut(known->first);
  }

  // A node that somebody deletes later stays deleted, as with a kubelet.
  void register_missing() {
    for (auto& [name, machine] : nodes_) {
      if (!machine.registered) create(name);
      delays_.after(Duration{rng_.between(0, options_.lease_renewal.ms)},
                    [this, machine_name = name] { renew(machine_name); });
    }
  }

  void create(const std::string& name) {
    Value node = nodes_.at(name).described;
    node.erase("status");
    outbox_.send(Outbox::Urgency::kFirst, call_with("POST", api_path("nodes", ""), node),
                 [this, name](const ApiAnswer& answer) {
                   if (is_passing(answer)) delays_.after(kRetry, [this, name] { create(name); });
                 });
  }

  void report_ready(const std::string& name) {
    outbox_.send(Outbox::Urgency::kFirst,
                 call_with("PATCH", api_path("nodes", "", name, "status"),
                           ready_status(nodes_.at(name).described, seen_of(name), options_.now()),
                           "application/strategic-merge-patch+json"),
                 [this, name](const ApiAnswer& answer) {
                   if (!is_passing(answer) || nodes_.at(name).ready) return;
                   delays_.after(kRetry, [this, name] { report_ready(name); });
                 });
  }

  const Value& seen_of(const std::string& name) const {
    static const Value kNothing;
    const ObjectPtr& object = nodes_.at(name).object;
    return object ? *object : kNothing;
  }

  void renew(const std::string& name) {
    delays_.after(options_.lease_renewal, [this, name] { renew(name); });
    Machine& machine = nodes_.at(name);
    Value lease = Value::map_of({{"apiVersion", "coordination.k8s.io/v1"}, {"kind", "Lease"}});
    lease.at("metadata").set("name", name);
    lease.at("metadata").set("namespace", kLeaseNamespace);
    const bool is_new = machine.lease_revision.empty();
    if (!is_new) lease.at("metadata").set("resourceVersion", machine.lease_revision);
    lease.set("spec", Value::map_of({{"holderIdentity", name},
                                     {"leaseDurationSeconds", 4 * options_.lease_renewal.ms / 1000},
                                     {"renewTime", format_micro_timestamp(options_.now())}}));
    const std::string path = api_path("leases.coordination.k8s.io", kLeaseNamespace, is_new ? "" : name);
    outbox_.send(Outbox::Urgency::kSecond, call_with(is_new ? "POST" : "PUT", path, lease),
                 [this, name](const ApiAnswer& answer) { note_lease(name, answer); });
  }

  void note_lease(const std::string& name, const ApiAnswer& answer) {
    std::string& revision = nodes_.at(name).lease_revision;
    if (answer.ok()) {
      if (const auto lease = parse_json(answer.body)) revision = (*lease)["metadata"]["resourceVersion"].text();
    } else if (answer.status == 404) {
      revision.clear();
    } else if (answer.status == 409) {
      ApiCall get;
      get.path = api_path("leases.coordination.k8s.io", kLeaseNamespace, name);
      outbox_.send(Outbox::Urgency::kSecond, get, [this, name](const ApiAnswer& found) {
        if (found.ok()) note_lease(name, found);
      });
    }
  }

  // ---- scrubs -----------------------------------------------------------------------------------------------------------

  // Who is on the GPUs is not known before.
  void begin_scrubs() {
    knows_pods_ = true;
    for (const auto& [name, machine] : nodes_) look_at_scrubs(name);
  }

  bool is_occupied(const std::string& node, int gpu) const {
    return std::ranges::any_of(pods_, [&](const auto& each) {
      const Value& pod = *each.second.pod;
      if (pod["spec"]["nodeName"].text() != node) return false;
      const auto given = parse_given_gpus(pod["metadata"]["annotations"][kGpusAnnotation].text());
      return given && given->gpus.contains(gpu);
    });
  }

  // The number of the scrub that it is to have now; 0: none.
  std::int64_t to_scrub(const std::string& node, int gpu) const {
    const Machine& machine = nodes_.at(node);
    const auto use = machine.records.uses.find(gpu);
    if (use == machine.records.uses.end() || !use->second.is_asked_for()) return 0;
    const std::int64_t number = use->second.scrub;
    const auto is_answered = [&](const GpuScrubs& answers) {
      const auto answer = answers.find(gpu);
      return answer != answers.end() && answer->second.scrub == number;
    };
    if (is_answered(machine.records.scrubs) || is_answered(machine.answers) || is_occupied(node, gpu)) return 0;
    return number;
  }

  // Begins those that are due, and ends those that are not any more.
  void look_at_scrubs(const std::string& node) {
    if (!options_.scrub || !knows_pods_) return;
    Machine& machine = nodes_.at(node);
    std::erase_if(machine.scrubs, [&](const auto& each) {
      const bool goes_on = to_scrub(node, each.first) == each.second.number;
      if (!goes_on) delays_.cancel(each.second.waits);
      return !goes_on;
    });
    for (const auto& [gpu, use] : machine.records.uses) {
      const std::int64_t number = to_scrub(node, gpu);
      if (number == 0 || machine.scrubs.contains(gpu)) continue;
      const std::uint64_t waits = delays_.after(*options_.scrub, [this, node, at = gpu] { end_scrub(node, at); });
      machine.scrubs[gpu] = {number, waits};
    }
  }

  void end_scrub(const std::string& node, int gpu) {
    Machine& machine = nodes_.at(node);
    const auto scrub = machine.scrubs.find(gpu);
    if (scrub == machine.scrubs.end()) return;
    const std::int64_t number = scrub->second.number;
    machine.scrubs.erase(scrub);
    const bool fails = std::ranges::find(machine.failing, gpu) != machine.failing.end();
    machine.answers[gpu] = {number, fails ? "it fails by the annotation " + std::string(kScrubFailsAnnotation) : ""};
    if (!machine.answering) tell_scrubs(node);
  }

  void tell_scrubs(const std::string& node) {
    Machine& machine = nodes_.at(node);
    machine.answering = true;
    GpuScrubs all = machine.records.scrubs;
    for (const auto& [gpu, answer] : machine.answers) all[gpu] = answer;
    Value body;
    body.at("metadata").at("annotations").set(kGpusScrubbedAnnotation, to_text(all));
    outbox_.send(Outbox::Urgency::kFirst,
                 call_with("PATCH", api_path("nodes", "", node), body, "application/merge-patch+json"),
                 [this, node, told = machine.answers](const ApiAnswer& answer) {
                   if (is_passing(answer)) return (void)delays_.after(kRetry, [this, node] { tell_scrubs(node); });
                   Machine& then = nodes_.at(node);
                   then.answering = false;
                   for (const auto& [gpu, each] : told) {
                     if (answer.ok()) then.records.scrubs[gpu] = each;
                     if (then.answers[gpu] == each) then.answers.erase(gpu);
                   }
                   if (!then.answers.empty()) tell_scrubs(node);
                 });
  }

  // ---- cuts -------------------------------------------------------------------------------------------------------------

  // Begins the one that is asked for. It takes as long as its node says.
  void look_at_cut(const std::string& node) {
    Machine& machine = nodes_.at(node);
    const Value& labels = (*machine.object)["metadata"]["labels"];
    const std::string layout(labels[kMigConfigLabel].text());
    if (layout.empty() || labels[kMigStateLabel].text() != kCutPending) return;
    const std::string asked = layout + std::string((*machine.object)["metadata"]["annotations"][kCutAnnotation].text());
    if (asked == machine.cutting || asked == machine.cut) return;
    const NodeGpus gpus = read_node_gpus(*machine.object);
    delays_.cancel(machine.cut_waits);
    machine.cutting = asked;
    machine.cut_waits = delays_.after(gpus.recut, [this, node] { end_cut(node); });
  }

  // By the same rule as on real machines: not while a client has one of the GPUs.
  void end_cut(const std::string& node) {
    Machine& machine = nodes_.at(node);
    const Value& object = *machine.object;
    const NodeGpus gpus = read_node_gpus(object);
    const std::string_view fails = object["metadata"]["annotations"][kRecutFailsAnnotation].text();
    if (fails == "silent") return;
    const std::string_view wanted = object["metadata"]["labels"][kMigConfigLabel].text();
    const auto layout = std::ranges::find(gpus.layouts, wanted, &NodeLayout::name);
    bool in_use = false;
    for (int gpu = 0; gpu < gpus.count; ++gpu) in_use = in_use || is_occupied(node, gpu);
    if (in_use || !fails.empty() || layout == gpus.layouts.end()) return tell_cut(node, kCutFailed);
    Value body;
    Value& status = body.at("status");
    const GpuHardware& hardware = *hardware_of({.name = {}, .model = gpus.model});
    for (std::size_t shape = 0; shape < hardware.mig_profiles.size(); ++shape) {
      const std::string resource = slice_resource(hardware.mig_profiles[shape].name);
      const int of_each = layout->slices.common_with(hardware.mig->places_of(shape)).size();
      const bool is_there = !object["status"]["allocatable"][resource].is_null();
      if (of_each == 0 && !is_there) continue;
      const Value amount = of_each == 0 ? Value() : Value(std::to_string(gpus.count * of_each));
      status.at("capacity").set(resource, amount);
      status.at("allocatable").set(resource, amount);
    }
    outbox_.send(Outbox::Urgency::kFirst,
                 call_with("PATCH", api_path("nodes", "", node, "status"), body, "application/merge-patch+json"),
                 [this, node](const ApiAnswer& answer) {
                   if (is_passing(answer)) return (void)delays_.after(kRetry, [this, node] { end_cut(node); });
                   tell_cut(node, answer.ok() ? kCutSuccess : kCutFailed);
                 });
  }

  void tell_cut(const std::string& node, std::string_view state) {
    Value body;
    body.at("metadata").at("labels").set(kMigStateLabel, state);
    outbox_.send(Outbox::Urgency::kFirst,
                 call_with("PATCH", api_path("nodes", "", node), body, "application/merge-patch+json"),
                 [this, node, state](const ApiAnswer& answer) {
                   if (is_passing(answer))
                     return (void)delays_.after(kRetry, [this, node, state] { tell_cut(node, state); });
                   Machine& then = nodes_.at(node);
                   then.cut = std::exchange(then.cutting, "");
                 });
  }

  // ---- pods ---------------------------------------------------------------------------------------------------------------

  void see_pod(const ObjectChange& change) {
    const std::string node(change.object()["spec"]["nodeName"].text());
    take_in(change);
    if (nodes_.contains(node)) look_at_scrubs(node);
  }

  void take_in(const ObjectChange& change) {
    const std::string uid(change.object()["metadata"]["uid"].text());
    if (!change.after) return forget(uid);
    const Value& pod = *change.after;
    if (!nodes_.contains(std::string(pod["spec"]["nodeName"].text()))) return;
    const std::string_view phase = pod["status"]["phase"].text();
    const bool deleted = !pod["metadata"]["deletionTimestamp"].is_null();
    if (phase == "Succeeded" || phase == "Failed") {
      if (deleted) remove(uid, read_pod_run(pod, options_.run_time));
      return forget(uid);
    }
    const auto [at, is_new] = pods_.try_emplace(uid);
    Running& running = at->second;
    running.pod = change.after;
    const std::int64_t restarts = running.run.restarts;
    running.run = read_pod_run(pod, options_.run_time);
    if (!is_new) running.run.restarts = std::max(restarts, running.run.restarts);
    if (is_new) begin(uid, running);
    if (deleted && !running.ending) terminate(uid, running);
  }

  void forget(const std::string& uid) {
    const auto at = pods_.find(uid);
    if (at == pods_.end()) return;
    delays_.cancel(at->second.waits);
    pods_.erase(at);
  }

  void begin(const std::string& uid, Running& running) {
    const Value& status = (*running.pod)["status"];
    const auto started = parse_timestamp(status["startTime"].text());
    running.started = started.value_or(options_.now());
    running.run_began = running.started;
    running.told = started.has_value() && status["phase"].text() == "Running";
    if (!running.told) {
      write_log(running, "begins: a simulated run of " + std::to_string(running.run.run_time.ms) + " ms");
      tell_running(uid);
    }
    wait_for_end(uid, running);
  }

  void tell_running(const std::string& uid) {
    const auto at = pods_.find(uid);
    if (at == pods_.end() || at->second.ending) return;
    Running& running = at->second;
    patch(running.run, running_status(*running.pod, running.run, running.started, options_.now()),
          [this, uid] { tell_running(uid); });
  }

  void wait_for_end(const std::string& uid, Running& running) {
    const Time now = options_.now();
    const Time end = running.run_began + running.run.run_time;
    const Time deadline = running.run.deadline.ms < 0 ? kTimeMax : running.started + running.run.deadline;
    const bool too_long = deadline < end;
    delays_.cancel(running.waits);
    running.waits = delays_.after(std::max(Duration{0}, (too_long ? deadline : end) - now),
                                  [this, uid, too_long] { end_run(uid, too_long); });
  }

  void end_run(const std::string& uid, bool too_long) {
    const auto at = pods_.find(uid);
    if (at == pods_.end() || at->second.ending) return;
    Running& running = at->second;
    if (!too_long && starts_again(running.run)) return pause(uid, running);
    running.ending = true;
    write_log(running, too_long ? "stopped: its deadline has passed"
                                : "ends with exit code " + std::to_string(running.run.exit_code));
    tell_end(uid, too_long);
  }

  void tell_end(const std::string& uid, bool too_long) {
    const auto at = pods_.find(uid);
    if (at == pods_.end()) return;
    const Running& running = at->second;
    const auto status = too_long ? deadline_status : ended_status;
    patch(running.run, status(*running.pod, running.run, running.started, options_.now()),
          [this, uid, too_long] { tell_end(uid, too_long); });
  }

  void pause(const std::string& uid, Running& running) {
    ++running.run.restarts;
    write_log(running, "ends with exit code " + std::to_string(running.run.exit_code) + ", will run again");
    patch(running.run, paused_status(*running.pod, running.run, running.started, options_.now()), [] {});
    running.waits = delays_.after(pause_before(running.run.restarts), [this, uid] {
      const auto at = pods_.find(uid);
      if (at == pods_.end() || at->second.ending) return;
      at->second.run_began = options_.now();
      put_log_aside(at->second);
      write_log(at->second, "begins again");
      tell_running(uid);
      wait_for_end(uid, at->second);
    });
  }

  void terminate(const std::string& uid, Running& running) {
    running.ending = true;
    write_log(running, "is asked to end");
    delays_.cancel(running.waits);
    running.waits = delays_.after(running.run.stop_after, [this, uid] {
      const auto at = pods_.find(uid);
      if (at != pods_.end()) remove(uid, at->second.run);
    });
  }

  // The last word of a machine on a deleted pod.
  void remove(const std::string& uid, const PodRun& run) {
    Value body = Value::map_of({{"apiVersion", "v1"}, {"kind", "DeleteOptions"}, {"gracePeriodSeconds", 0}});
    body.at("preconditions").set("uid", run.uid);
    outbox_.send(Outbox::Urgency::kFirst, call_with("DELETE", api_path("pods", run.name_space, run.name), body),
                 [this, uid, run](const ApiAnswer& answer) {
                   if (is_passing(answer)) delays_.after(kRetry, [this, uid, run] { remove(uid, run); });
                 });
  }

  void patch(const PodRun& run, const Value& status, std::function<void()> again) {
    outbox_.send(Outbox::Urgency::kFirst,
                 call_with("PATCH", api_path("pods", run.name_space, run.name, "status"), status,
                           "application/strategic-merge-patch+json"),
                 [this, again = std::move(again)](const ApiAnswer& answer) {
                   if (is_passing(answer)) delays_.after(kRetry, again);
                 });
  }

  // Of the runs before this one the last is kept, for `kubectl logs --previous`.
  void put_log_aside(const Running& running) {
    if (options_.log_folder.empty()) return;
    const std::filesystem::path folder = std::filesystem::path(options_.log_folder) / running.run.uid;
    std::error_code error;
    for (const Value& container : (*running.pod)["spec"]["containers"].items()) {
      const std::string name(container["name"].text());
      std::filesystem::rename(folder / (name + ".log"), folder / (name + ".previous.log"), error);
    }
  }

  // One file for each container. A log that cannot be written is no reason not to run.
  void write_log(const Running& running, const std::string& text) {
    if (options_.log_folder.empty()) return;
    const std::filesystem::path folder = std::filesystem::path(options_.log_folder) / running.run.uid;
    std::error_code error;
    std::filesystem::create_directories(folder, error);
    for (const Value& container : (*running.pod)["spec"]["containers"].items()) {
      std::ofstream log(folder / (std::string(container["name"].text()) + ".log"), std::ios::app);
      log << format_micro_timestamp(options_.now()) << ' ' << text << '\n';
    }
  }

  SimulatedNodesOptions options_;
  Rng rng_;
  std::map<std::string, Machine> nodes_;
  std::map<std::string, Running> pods_;  // by uid
  bool knows_pods_ = false;
  std::atomic<std::int64_t> ready_ = 0;
  std::shared_ptr<Strand> strand_;
  Delays delays_;
  Outbox outbox_;
  std::unique_ptr<Mirror> node_mirror_, pod_mirror_;
};

}  // namespace

std::unique_ptr<SimulatedNodes> SimulatedNodes::start(Transport& transport, Alarm& alarm, std::vector<Value> nodes,
                                                      SimulatedNodesOptions options) {
  return std::make_unique<RunningNodes>(transport, alarm, std::move(nodes), std::move(options));
}

}  // namespace berth
