// How a LiveEngine's engine is made from all facts: flavors, queues, nodes, and what runs on them.
#include <algorithm>
#include <utility>

#include "base/wording.h"
#include "manifest/labels.h"
#include "model/gpu_hardware.h"
#include "service/live_engine.h"

namespace berth {
namespace {

// What pods ask there is something else on another model.
bool goes_by_model(const NodeFacts& node) { return node.may_be(Sharing::kMig) || node.may_be(Sharing::kVgpu); }

// Calls visit(amount) for all that are written, in their order.
template <class Visit>
void for_each_amount(const QueueSpec& spec, Visit visit) {
  for (const auto* const list :
       {&spec.guarantee, &spec.limit, &spec.borrowing_limit, &spec.lending_limit, &spec.user_limit}) {
    std::ranges::for_each(*list, visit);
  }
  for (const WindowSpec& window : spec.windows) {
    for (const auto* const list : {&window.guarantee, &window.limit, &window.borrowing_limit, &window.lending_limit})
      std::ranges::for_each(*list, visit);
  }
}

// In the order in which they are written, each once.
std::vector<std::string> flavors_named_in(const QueueSpec& spec) {
  std::vector<std::string> names;
  for_each_amount(spec, [&](const FlavorAmount& each) {
    const bool named = !each.flavor.empty() && each.flavor != kOnlyFlavor;
    if (named && std::ranges::find(names, each.flavor) == names.end()) names.push_back(each.flavor);
  });
  return names;
}

constexpr std::string_view kTooManyFlavors =
    "there may be 64 flavors, and those that nodes have go first; remove ResourceFlavors and amounts that no node "
    "needs";

// "a, b and 5 more"
std::string first_of_names(const std::vector<std::string>& names) {
  constexpr std::size_t kNamedMax = 5;
  std::string text;
  for (std::size_t i = 0; i < std::min(names.size(), kNamedMax); ++i) text += (i == 0 ? "" : ", ") + names[i];
  if (names.size() > kNamedMax) text += " and " + std::to_string(names.size() - kNamedMax) + " more";
  return text;
}

// "cut into slices, or shared by MPS"
std::string said_of_modes(const NodeFacts& node) {
  std::string text(words_of(node.sharing).is);
  for (std::size_t i = 0; i < std::size(kSharingNames); ++i) {
    const auto mode = static_cast<Sharing>(i);
    if (node.other_modes.contains(mode)) text += ", or " + std::string(words_of(mode).is);
  }
  return text;
}

}  // namespace

void LiveEngine::rebuild(Time now) {
  remember();
  session_->close();
  session_ = std::make_unique<Session>(new_journal_ ? new_journal_() : Session::Recorder());
  queue_ids_.clear();
  node_ids_.clear();
  flavor_ids_.clear();
  models_.clear();
  memories_.clear();
  memories_most_.clear();
  pending_groups_.clear();
  groups_by_shape_.clear();
  cooling_.clear();
  without_room_.clear();
  held_otherwise_.clear();
  limits_.clear();
  unready_.clear();
  movable_from_.clear();
  movable_again_.clear();
  queue_problems_.clear();
  series_.clear();
  forget_counts();
  of_nobody_.reset();
  session_->apply(RunConfigured{seed_, policy_});
  // How long one takes only the nodes know.
  if (scrubs_ == Scrubs::kByNodes) session_->apply(ScrubChosen{Duration{1}});
  add_flavors();
  add_queues();
  tell_what_was_before(now);
  tell_who_trusted(now);
  note_stops(now);
  note_left_out_flavors(now);
  new_nodes_.clear();
  unused_slices_.clear();
  for (const auto& [name, node] : nodes_) {
    new_nodes_.insert(name);
    for (const std::string& resource : node.unused_slices) ++unused_slices_[resource];
  }
  anew_ = false;
  for (auto& [key, group] : groups_) {
    group.pending = WorkloadId();
    group.submitted.clear();
    touch(key);
  }
  for (auto& [uid, member] : members_) {
    const Run* const run = run_of(member);
    const bool holds = (run != nullptr && !run->starting) || member.facts.stage == PodStage::kBound;
    member.running = WorkloadId();
    if (holds) found_.insert(uid);
    if (holds && member.facts.checkpoint) checkpoints_.insert(uid);
  }
  runs_.clear();
  moves_.clear();
  lacking_.clear();
  heirs_.clear();
  moved_in_.clear();
  look_who_left_ = true;
  add_new_nodes(now);
  count_asked_anew();
  room_came_free_ = false;
  place_found(now);
  forget_other_losses();
  tell_who_has_to_part();
  tell_floor_use();
  for (const auto& [name, reservation] : reservations_) new_reservations_.insert(name);
  tell_reservations(now);
}

// Those that are declared first, then those of the nodes, then those that only a quota names. Where they are too many, those
// that nodes have stay, then those that are declared.
void LiveEngine::add_flavors() {
  std::vector<Flavor> wanted = declared_and_of_nodes();
  std::set<std::string> of_nodes, kept;
  for (const auto& [name, node] : nodes_) {
    if (node.gpus > 0) of_nodes.insert(flavor_name_of(node));
  }
  const auto keep = [&](const std::string& name) {
    if (kept.size() < kFlavorsMax) kept.insert(name);
  };
  for (const std::string& each : of_nodes) keep(each);
  for (const Flavor& each : wanted) keep(each.name);
  for (const auto& [name, queue] : queues_) {
    for (const std::string& flavor : flavors_named_in(queue.spec)) {
      const bool is_new = std::ranges::find(wanted, flavor, &Flavor::name) == wanted.end();
      if (is_new) wanted.push_back({.name = flavor, .model = {}});
      keep(flavor);
    }
  }
  left_out_flavors_.clear();
  for (const Flavor& each : wanted) {
    if (!kept.contains(each.name)) left_out_flavors_.insert(each.name);
  }
  for (const Flavor& each : wanted) {
    if (!kept.contains(each.name) || session_->state().refusal(FlavorAdded{each})) continue;
    session_->apply(FlavorAdded{each});
    flavor_ids_[each.name] = FlavorId(session_->state().flavors().size() - 1);
  }
  only_flavor_ = of_nodes.size() == 1 ? flavor_named(*of_nodes.begin()) : std::nullopt;
}

// Each once.
std::vector<Flavor> LiveEngine::declared_and_of_nodes() const {
  std::vector<Flavor> flavors;
  std::set<std::string> names;
  const auto add = [&](Flavor flavor) {
    if (names.insert(flavor.name).second) flavors.push_back(std::move(flavor));
  };
  for (const FlavorFacts* const flavor : declared_flavors()) {
    add({.name = flavor->name,
         .model = flavor->gpu_model.empty() ? model_of_cut_nodes(flavor->name) : flavor->gpu_model,
         .memory_mib = flavor->gpu_memory_mib,
         .weight = flavor->weight});
  }
  for (const auto& [name, node] : nodes_) {
    if (node.gpus == 0) continue;
    add({.name = flavor_name_of(node), .model = node.gpu_model, .memory_mib = node.gpu_memory_mib});
  }
  return flavors;
}

// What a slice is, or a vGPU, goes by the model: a flavor that names none has that of its nodes that have some, if it has such nodes.
std::string LiveEngine::model_of_cut_nodes(const std::string& flavor) const {
  for (const auto& [name, node] : nodes_) {
    if (goes_by_model(node) && node.gpus > 0 && flavor_name_of(node) == flavor) return node.gpu_model;
  }
  return "";
}

// Only where nodes are cut, or have vGPUs, it matters.
bool LiveEngine::is_of_its_flavor(const NodeFacts& node) const {
  if (!goes_by_model(node)) return true;
  const auto flavor = flavor_named(flavor_name_of(node));
  return !flavor || state().flavors()[flavor->index()].model == node.gpu_model;
}

// Of one of its GPUs, the least that a node has; 0: nobody knows.
std::int64_t LiveEngine::memory_of(FlavorId flavor) const {
  const auto known = memories_.find(flavor);
  return known == memories_.end() ? 0 : known->second;
}

// Of one of its GPUs, the most that a node has.
std::int64_t LiveEngine::memory_most_of(FlavorId flavor) const {
  const auto known = memories_most_.find(flavor);
  return known == memories_most_.end() ? 0 : known->second;
}

// Who found no GPU of its flavor that is large enough may find one.
bool LiveEngine::raises_memory(const NodeFacts& node) const {
  const auto flavor = node.gpus == 0 ? std::nullopt : flavor_named(flavor_name_of(node));
  return flavor && node.gpu_memory_mib > memory_most_of(*flavor);
}

// Parts by memory are larger parts of its GPUs than of those that its flavor had before.
bool LiveEngine::lowers_memory(const NodeFacts& node) const {
  if (node.gpus == 0 || node.gpu_memory_mib == 0) return false;
  const auto flavor = flavor_named(flavor_name_of(node));
  if (!flavor) return false;
  const std::int64_t known = memory_of(*flavor);
  return known == 0 || node.gpu_memory_mib < known;
}

// Queues whose amounts name one that is left out, or slices that it cannot be cut into, and nodes that have one, say so.
void LiveEngine::note_left_out_flavors(Time now) {
  for (const auto& [name, id] : queue_ids_) {
    std::vector<std::string> left_out, slices;
    for (const std::string& flavor : flavors_named_in(queues_.at(name).spec)) {
      if (left_out_flavors_.contains(flavor)) left_out.push_back(flavor);
    }
    for_each_amount(queues_.at(name).spec, [&](const FlavorAmount& each) {
      const bool is_unknown = each.resource == Resource::kSlice && !dim_named(each);
      if (is_unknown && std::ranges::find(slices, name_of(each)) == slices.end()) slices.push_back(name_of(each));
    });
    if (left_out.empty() && !slices.empty()) {
      note_condition(name, {.type = std::string(kNotFollowedCondition),
                            .holds = true,
                            .reason = "UnknownSlices",
                            .message = "its amounts of " + first_of_names(slices) +
                                       " count for nothing: no model of these GPUs is known that can be cut so",
                            .since = now});
      continue;
    }
    if (left_out.empty()) {
      std::erase_if(records_[name].conditions,
                    [](const QueueCondition& each) { return each.type == kNotFollowedCondition; });
      continue;
    }
    note_condition(name, {.type = std::string(kNotFollowedCondition),
                          .holds = true,
                          .reason = "TooManyFlavors",
                          .message = "its amounts of " + first_of_names(left_out) +
                                     " count for nothing: " + std::string(kTooManyFlavors),
                          .since = now});
  }
}

std::map<std::string, NodeNews> LiveEngine::nodes_left_out() const {
  std::map<std::string, NodeNews> nodes;
  for (const auto& [name, node] : nodes_) {
    if (!node.problem.empty()) {
      nodes[name] = {"NotUsed", "it is not used: " + node.problem};
    } else if (scrubs_ == Scrubs::kByNodes && !node.records.problem.empty() && !node_ids_.contains(name)) {
      nodes[name] = {"NotUsed", "it is not used: " + node.records.problem};
    } else if (scrubs_ == Scrubs::kByNodes && !node.fixed_slices.empty()) {
      nodes[name] = {
          "NotUsed",
          "it is not used: its slices were cut beforehand and are not scrubbed, and here GPUs are; let them be "
          "cut as pods ask (label berth.dev/gpu-mode=mig), or let nothing be scrubbed"};
    } else if (scrubs_ == Scrubs::kByNodes && !node.other_modes.empty() && node.may_be(Sharing::kMig)) {
      nodes[name] = {"NotUsed",
                     "it is not used: its GPUs may be cut or not, and are not scrubbed between, and here GPUs are; let "
                     "it be of one "
                     "mode (label berth.dev/gpu-mode=mig), or let nothing be scrubbed"};
    } else if (const std::string failed = failed_scrubs_of(name); !failed.empty()) {
      nodes[name] = {"Quarantined", failed};
    } else if (held_otherwise_.contains(name)) {
      nodes[name] = {"NotUsed",
                     "it takes nobody until those have gone who hold its GPUs in another way than it says: " +
                         said_of_modes(node)};
    } else if (!node.unused_slices.empty()) {
      nodes[name] = {"SlicesNotUsed", "Berth hands out none of its slices (" + first_of_names(node.unused_slices) +
                                          "), which are cut beforehand: " + node.why_unused};
    }
    if (node.gpus == 0 || (left_out_flavors_.empty() && !goes_by_model(node))) continue;
    const std::string flavor = flavor_name_of(node);
    if (left_out_flavors_.contains(flavor)) {
      nodes[name] = {"TooManyFlavors", "its GPUs (" + flavor + ") are not used: " + std::string(kTooManyFlavors)};
    } else if (!is_of_its_flavor(node)) {
      nodes[name] = {"NotUsed", "it is not used: flavor " + quote(flavor) + " has GPUs of several models that " +
                                    (node.may_be(Sharing::kMig) ? "are cut into slices" : "have vGPUs") +
                                    "; declare a ResourceFlavor with gpuModel for each of them"};
    }
  }
  return nodes;
}

std::vector<const FlavorFacts*> LiveEngine::declared_flavors() const {
  std::vector<const FlavorFacts*> declared;
  for (const auto& [name, flavor] : flavors_) declared.push_back(&flavor);
  for (const FlavorFacts& flavor : other_flavors_) {
    if (!flavors_.contains(flavor.name)) declared.push_back(&flavor);
  }
  return declared;
}

std::string LiveEngine::flavor_name_of(const NodeFacts& node) const {
  const FlavorFacts* most_exact = nullptr;
  const auto words = [](const FlavorFacts& flavor) {
    return flavor.node_labels.members().size() + (flavor.gpu_model.empty() ? 0 : 1);
  };
  for (const FlavorFacts* const flavor : declared_flavors()) {
    if (flavor->has(node) && (most_exact == nullptr || words(*flavor) > words(*most_exact))) most_exact = flavor;
  }
  return most_exact != nullptr ? most_exact->name : flavor_amount_named(node.gpu_model).flavor;
}

std::optional<FlavorId> LiveEngine::flavor_named(const std::string& name) const {
  const auto known = flavor_ids_.find(name);
  return known == flavor_ids_.end() ? std::nullopt : std::optional(known->second);
}

void LiveEngine::add_queues() {
  const std::string otherwise(kDefaultQueue);
  queues_.try_emplace(otherwise, QueueFacts{.name = otherwise});
  std::set<std::string> on_the_way;
  add_queue(otherwise, on_the_way);
  for (const auto& [name, queue] : queues_) add_queue(name, on_the_way);
}

// Parents first. A parent that there is not, or that is below its own child, counts as none.
QueueId LiveEngine::add_queue(const std::string& name, std::set<std::string>& on_the_way) {
  if (const auto known = queue_ids_.find(name); known != queue_ids_.end()) return known->second;
  const auto queue = queues_.find(name);
  if (queue == queues_.end() || !on_the_way.insert(name).second) return QueueId();
  const QueueSpec& spec = queue->second.spec;
  const QueueId parent = spec.parent.empty() ? QueueId() : add_queue(spec.parent, on_the_way);
  Queue made{.name = name,
             .parent = parent,
             .order = spec.order,
             .quota = quota_of(queue->second),
             .held = spec.stop == QueueStop::kHold};
  const bool governed = spec.has_amounts() || made.quota.looks_at_users();
  if (!made.order && (parent.is_none() || governed)) made.order = Order::kFifoSkip;
  if (const auto refusal = session_->state().refusal(QueueAdded{made})) {
    queue_problems_[name] = *refusal;
    made.quota = taking_nothing();
  }
  session_->apply(QueueAdded{made});
  return queue_ids_[name] = QueueId(session_->state().queues().size() - 1);
}

// Where nobody wrote an amount, a weight or a policy, borrowers take nothing from each other: first come, first served.
Quota LiveEngine::quota_of(const QueueFacts& queue) const {
  Quota quota = queue.spec.policies;
  const bool governed = std::ranges::any_of(queues_, [](const auto& each) {
    Quota policies = each.second.spec.policies;
    // They say who may start and when, and give no right to anybody's room.
    policies.users = UserOrder::kNone;
    policies.half_life = policies.cooldown = policies.idle_after = Duration{0};
    policies.budget_gpu_us.reset();
    policies.budget_end = BudgetEnd::kStop;
    policies.dedicated.clear();
    return each.second.spec.has_amounts() || !(policies == Quota{});
  });
  if (!governed) quota.fair_reclaim = FairReclaim::kNever;
  // Whoever is told to stop is there for a moment still.
  quota.reclaim_within = std::max(quota.reclaim_within, seconds(1));
  quota.guarantee = amounts_of(queue.spec.guarantee);
  for (const CellSpec& each : queue.spec.cells) {
    const auto flavor = each.flavor == kOnlyFlavor ? only_flavor_ : flavor_named(each.flavor);
    if (flavor) quota.cells.push_back({*flavor, each.level, each.count});
  }
  std::ranges::sort(quota.cells);
  quota.limit = amounts_of(queue.spec.limit);
  quota.borrowing_limit = amounts_of(queue.spec.borrowing_limit);
  quota.lending_limit = amounts_of(queue.spec.lending_limit);
  quota.user_limit = amounts_of(queue.spec.user_limit);
  if (queue.only_listed) close_other_flavors(quota);
  return quota;
}

// Of a flavor that the guarantee does not name there are none for it, whatever else the limit says of it.
void LiveEngine::close_other_flavors(Quota& quota) const {
  for (const auto& [name, flavor] : flavor_ids_) {
    const Dim dim(flavor, Resource::kGpu);
    const auto is_it = [&](const Amount& each) { return each.dim == dim; };
    if (std::ranges::any_of(quota.guarantee, is_it)) continue;
    std::erase_if(quota.limit, is_it);
    quota.limit.push_back({dim, 0});
  }
  std::ranges::sort(quota.limit, {}, &Amount::dim);
}

// What is of a flavor too many is left out: there are 64. An amount without a flavor is of the nodes without GPUs.
AmountList LiveEngine::amounts_of(const std::vector<FlavorAmount>& amounts) const {
  AmountList made;
  for (const FlavorAmount& each : amounts) {
    const auto flavor = each.flavor == kOnlyFlavor ? only_flavor_ : flavor_named(each.flavor);
    if (each.resource == Resource::kSlice) {
      // What no GPU that is known can be cut into is promised to nobody.
      const auto slice = flavor ? find_slice(state().flavors()[flavor->index()], each.profile) : std::nullopt;
      if (slice) made.push_back({Dim::of_slices(*flavor, slice->shape), each.amount});
    } else if (flavor || each.flavor.empty()) {
      made.push_back({Dim(flavor.value_or(FlavorId()), each.resource), each.amount});
    }
  }
  std::ranges::sort(made, {}, &Amount::dim);
  return made;
}

void LiveEngine::add_new_nodes(Time now) {
  NodesAdded added;
  for (const std::string& name : new_nodes_) {
    const NodeFacts& facts = nodes_.at(name);
    const auto flavor = flavor_ids_.find(flavor_name_of(facts));
    const bool known = facts.gpus == 0 || flavor != flavor_ids_.end();
    Node node{.name = name,
              .flavor = facts.gpus > 0 && known ? flavor->second : FlavorId(),
              .gpus = facts.gpus,
              .gpu_memory_mib = facts.gpu_memory_mib,
              .cpu_milli = facts.cpu_milli,
              .memory_bytes = facts.memory_bytes,
              .pods_max = facts.pods_max,
              .labels = facts.says.labels,
              .taints = facts.says.taints,
              .sharing = facts.sharing,
              .other_modes = facts.other_modes,
              .replicas = facts.replicas,
              .fixed_slices = facts.fixed_slices,
              .recut = facts.recut,
              .layouts = facts.slices_of_layouts(),
              .kept_per_gpu = facts.kept_per_gpu,
              .extra = facts.extra,
              .numa_zones = facts.numa_zones,
              .numa_policy = facts.numa_policy,
              .links = facts.links,
              .spare = facts.says.spare,
              .images = images_of(facts)};
    const bool unknown_left = scrubs_ == Scrubs::kByNodes && !facts.records.problem.empty();
    if (!known || !facts.problem.empty() || unknown_left || !is_of_its_flavor(facts) ||
        session_->state().refusal(NodesAdded{{node}}))
      continue;
    if (facts.gpus > 0) models_[node.flavor] = facts.gpu_model;
    if (lowers_memory(facts)) memories_[node.flavor] = facts.gpu_memory_mib;
    if (raises_memory(facts)) memories_most_[node.flavor] = facts.gpu_memory_mib;
    added.nodes.push_back(std::move(node));
  }
  new_nodes_.clear();
  if (added.nodes.empty() || session_->state().refusal(added)) return;
  const std::size_t first = session_->state().nodes();
  session_->apply(added);
  std::vector<std::string> names;
  for (std::size_t at = first; at < session_->state().nodes(); ++at) {
    const std::string& name = names.emplace_back(session_->state().node(NodeId(at)).name);
    node_ids_[name] = NodeId(at);
    if (!takes_work(nodes_.at(name))) session_->apply(NodeDrained{NodeId(at)});
    tell_failures(name);
    tell_cut(name);
  }
  tell_what_is_left(names, now);
  room_came_free_ = true;  // for pods that were found on nodes that were not there yet
  for (const auto& [workload, group] : pending_groups_) untold_.insert(group);
}

}  // namespace berth
