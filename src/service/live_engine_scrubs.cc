// How a LiveEngine knows what is left on GPUs: where nodes scrub them, each node's annotation says who has been on which since it
// was clean (manifest/gpu_uses.h). That is written before anybody comes, so a scheduler that is started anew knows of those, too,
// who came and went while none was there. A scrub is asked for when all have left; the node's part answers.
#include <algorithm>
#include <tuple>
#include <utility>

#include "model/reason.h"
#include "service/live_engine.h"
#include "state/starting.h"

namespace berth {
namespace {

// Of a tenant that there is no more, which is a stranger to all. No queue has such a name.
constexpr const char* kOfNobody = "queues that are gone";

// What takes something of a device of the node.
PodSet least_part(Sharing sharing) {
  PodRequest request;
  request.gpus = 1;
  request.gpu_milli = sharing == Sharing::kMps ? kMpsMilliMin : kMilliPerGpu;
  request.sharing = sharing;
  request.flavors = FlavorSet::all();
  return {.request = request, .count = 1};
}

// In which way pods of a node leave something on its GPUs; none: in none, for slices and vGPUs leave nothing.
template <class ANode>
std::optional<Sharing> leaves_as(const ANode& node) {
  const auto leaves = [](Sharing mode) { return mode != Sharing::kMig && mode != Sharing::kVgpu; };
  if (leaves(node.sharing)) return node.sharing;
  for (const Sharing mode : {Sharing::kExclusive, Sharing::kMps}) {
    if (node.may_be(mode)) return mode;
  }
  return std::nullopt;
}

}  // namespace

GpuRecords LiveEngine::records_of(const std::string& node) const {
  const auto uses = uses_.find(node);
  return {
      .uses = uses == uses_.end() ? GpuUses() : uses->second, .scrubs = nodes_.at(node).records.scrubs, .problem = ""};
}

// What it says of itself is what was written here, but for the first time. Without scrubs nobody keeps it true.
void LiveEngine::note_records(const NodeFacts& node) {
  const auto known = nodes_.find(node.name);
  const bool is_new = known == nodes_.end() || known->second.uid != node.uid;
  if (scrubs_ == Scrubs::kNone) {
    if (is_new && !node.records.uses.empty()) uses_unwritten_.insert(node.name);
    return;
  }
  if (is_new) {
    uses_[node.name] = node.records.uses;
    anew_ = anew_ || known != nodes_.end();
  }
  if (is_new || known->second.records.scrubs != node.records.scrubs) answered_.insert(node.name);
  look_who_left_ = true;
}

// Of each GPU the tenants who are on it, by node and index: what they leave is not left yet.
std::set<std::tuple<std::string, int, std::string>> LiveEngine::who_is_there() const {
  std::set<std::tuple<std::string, int, std::string>> there;
  for (const auto& [uid, member] : members_) {
    const PodFacts& pod = member.facts;
    const bool bound = pod.stage == PodStage::kBound;
    if (!bound && member.node.empty()) continue;
    const auto queue = queue_named(pod.queue).value_or(queue_ids_.at(std::string(kDefaultQueue)));
    const std::string& tenant = state().queues()[state().tenant_of(queue).index()].name;
    const GivenGpus given = bound ? pod.given.value_or(GivenGpus()) : member.given;
    if (found_.contains(uid)) given.gpus.for_each([&](int gpu) { there.emplace(where(member), gpu, tenant); });
  }
  return there;
}

// PRE: of those who are there nobody has been told. As if those had come and gone who are not there any more.
void LiveEngine::tell_what_is_left(const std::vector<std::string>& nodes, Time now) {
  if (scrubs_ == Scrubs::kNone) return;
  const auto there = who_is_there();
  for (const std::string& name : nodes) {
    const NodeFacts& facts = nodes_.at(name);
    answered_.insert(name);
    if (!leaves_as(facts)) continue;
    const GpuRecords records = records_of(name);
    bool told = true;
    for (const auto& [gpu, use] : records.uses) {
      if (gpu >= facts.gpus || records.state_of(gpu) != GpuState::kDirty) continue;
      for (const std::string& tenant : use.tenants) {
        if (!there.contains({name, gpu, tenant})) told = leave_behind({node_ids_.at(name), gpu}, tenant, now) && told;
      }
    }
    // A node of which it cannot be told takes nobody.
    const Event closed = NodeDrained{node_ids_.at(name)};
    if (!told && held_otherwise_.insert(name).second && !state().refusal(closed)) session_->apply(closed);
  }
}

bool LiveEngine::leave_behind(Device device, const std::string& tenant, Time now) {
  auto queue = queue_named(tenant);
  if (!queue && !of_nobody_) {
    const Event added =
        QueueAdded{{.name = kOfNobody, .parent = {}, .order = Order::kFifoSkip, .quota = taking_nothing()}};
    if (state().refusal(added)) return false;
    session_->apply(added);
    of_nobody_ = QueueId(state().queues().size() - 1);
  }
  if (!queue) queue = of_nobody_;
  const Sharing sharing = *leaves_as(state().node(device.node));
  PodPlacement place{device.node, {}};
  place.gpus.add(device.gpu);
  Terms terms;
  terms.best_effort = sharing == Sharing::kTimeslice;
  const WorkloadFound was_there{.workload = {.name = "left by " + tenant,
                                             .queue = *queue,
                                             .at = now,
                                             .declared_run = kRunNotDeclared,
                                             .shape = {.ways = {{least_part(sharing)}}, .terms = terms},
                                             .user = ""},
                                .pods = {place},
                                .started = now};
  if (state().refusal(was_there)) return false;
  const WorkloadId id = state().workloads().next_id();
  session_->apply(was_there);
  session_->apply(WorkloadEnded{id});
  return true;
}

// Whoever has it from now on is on the record before he comes; a scrub that is asked for is taken back.
void LiveEngine::note_use(const Member& member) {
  if (scrubs_ == Scrubs::kNone || member.given.gpus.empty() || !member.given.profile.empty()) return;
  const QueueId tenant = state().tenant_of(state().workload(member.running).queue);
  const std::string& name = state().queues()[tenant.index()].name;
  const GpuRecords before = records_of(member.node);
  member.given.gpus.for_each([&](int gpu) {
    // A vGPU leaves nothing, and changes nothing of what others have left.
    const bool leaves_something = !member.facts.request.is_vgpu();
    if (!leaves_something && before.state_of(gpu) != GpuState::kDirty) return;
    GpuUse& use = uses_[member.node][gpu];
    const GpuUse was = use;
    if (before.state_of(gpu) != GpuState::kDirty) use.tenants.clear();
    use.withdrawn = use.scrub > 0;
    const auto at = std::ranges::lower_bound(use.tenants, name);
    if (leaves_something && (at == use.tenants.end() || *at != name)) use.tenants.insert(at, name);
    if (use != was) uses_unwritten_.insert(member.node);
  });
}

// What the nodes' parts have answered. What is refused is tried again: somebody was there as far as was known.
void LiveEngine::settle_scrubs() {
  if (scrubs_ == Scrubs::kNone) return;
  for (const Device& device : state().ledger().dirty()) {
    const std::string& name = state().node(device.node).name;
    const Event scrubbed = DeviceScrubbed{device.node, device.gpu, false};
    const bool clean = nodes_.contains(name) && records_of(name).state_of(device.gpu) == GpuState::kClean;
    if (!clean || state().refusal(scrubbed)) continue;
    session_->apply(scrubbed);
    room_came_free_ = true;
    for (const auto& [workload, group] : pending_groups_) untold_.insert(group);
  }
  const std::set<std::string> answered = std::exchange(answered_, {});
  for (const std::string& name : answered) {
    if (nodes_.contains(name) && node_ids_.contains(name)) settle_quarantine(name);
  }
}

void LiveEngine::settle_quarantine(const std::string& name) {
  const NodeId id = node_ids_.at(name);
  const GpuRecords records = records_of(name);
  for (int gpu = 0; gpu < nodes_.at(name).gpus; ++gpu) {
    const bool is = state().ledger().is_broken({id, gpu});
    const bool should_be = records.state_of(gpu) == GpuState::kQuarantined;
    if (is == should_be) continue;
    // What was repaired is dirty until it is scrubbed, as a new life of the engine finds it.
    if (is) anew_ = true;
    if (is) continue;
    const Event failed = DeviceScrubbed{id, gpu, true};
    if (state().refusal(failed)) {
      answered_.insert(name);
      continue;
    }
    for (const WorkloadId run : starting_on(state(), id)) give_up_start(run);
    session_->apply(failed);
    for (const auto& [workload, group] : pending_groups_) untold_.insert(group);
  }
}

// When all have left, whoever they were.
void LiveEngine::ask_for_scrubs() {
  if (scrubs_ == Scrubs::kNone || !std::exchange(look_who_left_, false)) return;
  std::set<std::pair<std::string, int>> occupied;
  for (const auto& [uid, member] : members_) {
    const Run* const run = run_of(member);
    const bool bound = member.facts.stage == PodStage::kBound;
    if (bound && member.facts.given) {
      member.facts.given->gpus.for_each([&](int gpu) { occupied.emplace(member.facts.node, gpu); });
    }
    if (run == nullptr || run->starting) continue;
    member.given.gpus.for_each([&](int gpu) { occupied.emplace(member.node, gpu); });
  }
  bool asked = false;
  for (auto& [name, uses] : uses_) {
    const auto facts = nodes_.find(name);
    if (facts == nodes_.end()) continue;
    for (auto& [gpu, use] : uses) {
      if (use.is_asked_for() || occupied.contains({name, gpu})) continue;
      const auto answer = facts->second.records.scrubs.find(gpu);
      const std::int64_t last = answer == facts->second.records.scrubs.end() ? 0 : answer->second.scrub;
      use.scrub = std::max(use.scrub, last) + 1;
      use.withdrawn = false;
      uses_unwritten_.insert(name);
      asked = true;
    }
  }
  if (!asked) return;
  // Who waits for room, or has his room there, waits for something else from now on.
  const auto waits_for_room = [&](const Group& group) {
    constexpr ReasonCode kOfRoom[] = {ReasonCode::kCapacity, ReasonCode::kFragmented, ReasonCode::kTrust};
    const std::string& told = members_.at(group.submitted.front()).told;
    return std::ranges::any_of(kOfRoom, [&](ReasonCode code) { return told.starts_with(name_of(code)); });
  };
  for (const auto& [id, group] : pending_groups_) {
    if (waits_for_room(groups_.at(group))) untold_.insert(group);
  }
  for (const auto& [id, run] : runs_) {
    const std::vector<std::string>& uids = run.moving ? run.moving->heirs : run.uids;
    if (run.starting && !uids.empty()) untold_.insert(members_.at(uids.front()).group);
  }
}

// Which GPUs are quarantined and why, and what to do; empty: none is.
std::string LiveEngine::failed_scrubs_of(const std::string& node) const {
  if (scrubs_ == Scrubs::kNone) return "";
  const GpuRecords records = records_of(node);
  std::string failed;
  for (const auto& [gpu, use] : records.uses) {
    if (records.state_of(gpu) != GpuState::kQuarantined) continue;
    failed += (failed.empty() ? "" : ", ") + std::to_string(gpu) + " (" + records.why(gpu) + ")";
  }
  if (failed.empty()) return failed;
  return "nobody is given GPU " + failed + ": scrubbing failed; when it is repaired take away the annotation " +
         std::string(kGpusScrubbedAnnotation) + ", and it is scrubbed anew";
}

std::vector<NodeUses> LiveEngine::uses_to_write() {
  std::vector<NodeUses> written;
  for (const std::string& name : std::exchange(uses_unwritten_, {})) {
    if (!nodes_.contains(name)) continue;
    written.push_back({name, scrubs_ == Scrubs::kNone ? "" : to_text(uses_[name])});
  }
  return written;
}

}  // namespace berth
