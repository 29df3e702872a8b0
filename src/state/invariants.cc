#include "state/invariants.h"

#include <algorithm>
#include <array>
#include <bit>
#include <map>
#include <set>
#include <span>
#include <utility>

#include "model/gpu_hardware.h"

namespace berth {
namespace {

// Whom a complaint is of: its name is written only when there is one.
struct Named {
  const char* noun;
  std::size_t number;
};

class Inspection {
 public:
  explicit Inspection(const State& state) : state_(state) {}

  std::vector<std::string> run() {
    check_table_sizes();
    if (!wrong_.empty()) return std::move(wrong_);  // what follows looks nodes and queues up
    check_workloads();
    check_pods();
    check_ledger();
    check_totals();
    check_lines();
    check_loans();
    check_turns();
    check_failures();
    check_quotas();
    check_calendar();
    check_budgets();
    return std::move(wrong_);
  }

 private:
  void complain(const Named& of, const char* what) {
    wrong_.push_back(of.noun + (" " + std::to_string(of.number)) + what);
  }

  void expect(bool holds, const char* otherwise) {
    if (!holds) wrong_.emplace_back(otherwise);
  }

  void expect(bool holds, const Named& of, const char* otherwise) {
    if (!holds) complain(of, otherwise);
  }

  void check_table_sizes() {
    expect(state_.ledger().nodes() == state_.nodes(), "the ledger has not the nodes that the fleet has");
    expect(state_.lines().size() == state_.queues().size(), "there is not one place for a line per queue");
    for (std::size_t queue = 0; wrong_.empty() && queue < state_.queues().size(); ++queue) {
      const auto& order = state_.queues()[queue].order;
      const auto& line = state_.lines()[queue];
      expect(order.has_value() == line.has_value() && (!line || line->order() == *order), {"queue", queue},
             " has not the line that its order asks for");
    }
  }

  // A gang is placed whole or not at all, and nothing is counted that is not there.
  void check_workloads() {
    reached_.assign(state_.pods().size(), false);
    leaving_ = reached_;
    std::size_t movable = 0;
    std::size_t limited = 0;
    std::size_t running = 0;
    std::size_t pending = 0;
    std::size_t starting = 0;
    std::size_t stopping = 0;
    state_.workloads().for_each([&](WorkloadId id, const Workload& workload) {
      running += has_room(workload.phase) ? 1 : 0;
      pending += workload.phase == Phase::kPending ? 1 : 0;
      const bool migrates = workload.phase == Phase::kMigrating;
      starting += workload.phase == Phase::kStarting || migrates || some_come(id, workload) ? 1 : 0;
      stopping += workload.phase == Phase::kStopping || migrates ? 1 : 0;
      movable += has_room(workload.phase) && state_.shape(workload.shape).terms.movable ? 1 : 0;
      const bool goes = state_.shape(workload.shape).terms.run_limit || workload.lent_until;
      limited += has_room(workload.phase) && goes ? 1 : 0;
      const bool is_lent = has_room(workload.phase) && workload.lent_until;
      expect(is_lent == state_.lent().contains(id) && workload.lent_until.has_value() == is_lent,
             {"workload", id.index()}, " is there on loan, or is not, and the list says otherwise");
      expect(migrates != workload.first_leaving.is_none(), {"workload", id.index()},
             " leaves places and does not migrate, or migrates and leaves none");
      for (PodId at = workload.first_leaving; !at.is_none(); at = state_.pod(at).next) {
        reached_[at.index()] = leaving_[at.index()] = true;
      }
      if (has_room(workload.phase) || workload.phase == Phase::kStopping) {
        check_pods_of(id, workload);
      } else {
        expect(workload.first_pod.is_none(), {"workload", id.index()}, " does not run, but has pods");
      }
      expect(has_room(workload.phase) != workload.unit.is_none(), {"workload", id.index()},
             " counts against quotas, and has no room, or has room and does not");
    });
    for (const auto& [id, repairing] : state_.repairing()) check_repairing(id, repairing);
    for (const auto& [minimum, steps] : state_.elastic()) check_steps(minimum, steps);
    expect(starting == state_.starting().size(), "those who wait for their room are not listed rightly");
    expect(stopping == state_.stopping().size(), "those who are stopping are not listed rightly");
    expect(running == state_.running(), "the count of running workloads is wrong");
    expect(pending == state_.pending(), "the count of pending workloads is wrong");
    expect(movable == state_.movable(), "the count of those who consent to being moved is wrong");
    expect(limited == state_.limited(), "the count of those whose end is enforced is wrong");
    check_shadows();
    check_reservations();
  }

  // Of what is not over, and of nodes that are; no GPU twice.
  void check_reservations() {
    for (std::size_t at = 0; at < state_.nodes(); ++at) {
      const NodeId id(at);
      const bool takes_work = !state_.is_down(id) && !state_.is_maintained(id);
      const bool spare = state_.node(id).spare;
      expect(state_.ledger().node(id).open == (takes_work && !spare), {"node", at},
             " is open though it is closed, or closed for nothing");
      expect(state_.ledger().node(id).spare == (takes_work && spare), {"node", at},
             " is a spare to the ledger alone, or is none there");
    }
    for (const HeldPlaces& each : state_.holdings()) {
      const Named name{"reservation", each.reservation.index()};
      const auto found = state_.reservations().find(each.reservation);
      if (found == state_.reservations().end()) return complain(name, " is over, and still has places");
      expect(each.count() <= found->second.gpus, name, " has more than was reserved");
      for (const GpusOfNode& held : each.gpus) {
        const bool is_there = held.node.index() < state_.nodes() &&
                              (held.gpus.bits() >> state_.node(held.node).gpus) == 0 && held.gpus.size() > 0;
        expect(is_there, name, " has GPUs that are not there");
      }
      check_apart(each, found->second);
    }
  }

  void check_apart(const HeldPlaces& places, const Reservation& reservation) {
    for (const HeldPlaces& other : state_.holdings()) {
      if (other.reservation == places.reservation) return;
      const auto its = state_.reservations().find(other.reservation);
      if (its == state_.reservations().end() || !its->second.meets(reservation)) continue;
      for (const GpusOfNode& a : places.gpus) {
        for (const GpusOfNode& b : other.gpus) {
          expect(a.node != b.node || (a.gpus.bits() & b.gpus.bits()) == 0, {"reservation", places.reservation.index()},
                 " has a GPU that another has at the same time");
        }
      }
    }
  }

  // To each who waits once at most, and to nobody else.
  void check_shadows() {
    expect(state_.shadows().size() <= kShadowsMax, "there are more shadows than there may be");
    for (const Shadow& each : state_.shadows()) {
      const WorkloadId id = each.start.workload;
      const Named name{"workload", id.index()};
      const Workload* const workload = state_.workloads().find(id);
      const bool waits = workload != nullptr && workload->phase == Phase::kPending && !state_.is_kept_aside(id);
      expect(waits, name, " is promised room and does not wait");
      expect(state_.shadow_of(id) == &each, name, " is promised room twice");
      if (!waits) continue;
      const Shape& shape = state_.shape(workload->shape);
      const bool complete =
          each.start.way < shape.ways.size() && each.start.pods.size() == static_cast<std::size_t>(shape.pods);
      expect(complete, name, " is promised room that is not all of its room");
    }
  }

  bool some_come(WorkloadId id, const Workload& workload) const {
    bool found = false;
    for_each_pod(state_, id, [&](const Pod& pod) { found = found || pod.comes; });
    return found && workload.phase == Phase::kRunning;
  }

  // No half gang is kept for nothing: it runs, some of it is there, and somebody is missing.
  void check_repairing(WorkloadId id, const Repairing& repairing) {
    const Named name{"workload", id.index()};
    const Workload* const workload = state_.workloads().find(id);
    if (workload == nullptr || workload->phase != Phase::kRunning) {
      return complain(name, " is repaired, and does not run");
    }
    bool some_there = false;
    for_each_pod(state_, id, [&](const Pod& pod) { some_there = some_there || !pod.comes; });
    expect(some_there, name, " is repaired, and nothing of it is left");
    expect(!repairing.lost.empty() || some_come(id, *workload), name, " is repaired, and lacks nobody");
    expect(repairing.since <= repairing.until && repairing.lost_gpu_us >= 0, name, " was never lost what it lost");
  }

  // Nothing above a minimum that is not whole.
  void check_steps(WorkloadId minimum, const std::vector<WorkloadId>& steps) {
    const Named name{"workload", minimum.index()};
    const bool is_whole = state_.workload(minimum).phase == Phase::kRunning && !state_.find_repairing(minimum);
    for (const WorkloadId step : steps) {
      const Workload& workload = state_.workload(step);
      expect(workload.step_of == minimum && workload.queue == state_.workload(minimum).queue, name,
             " has the step of another");
      expect(!has_room(workload.phase) || (workload.phase == Phase::kRunning && is_whole), name,
             " has more than its minimum, and not that");
      expect(workload.phase != Phase::kEnded && workload.phase != Phase::kCancelled, name, " has a step that is over");
    }
  }

  void check_pods_of(WorkloadId id, const Workload& workload) {
    const Named name{"workload", id.index()};
    std::vector<std::pair<std::uint32_t, RequestId>> members;
    std::int64_t gpu_milli = 0;
    bool in_order = true;
    bool comes_in_vain = false;
    if (const Repairing* const repairing = state_.find_repairing(id)) {
      for (const LostMember& lost : repairing->lost) members.emplace_back(lost.number, lost.request);
    }
    for (PodId at = workload.first_pod; !at.is_none(); at = state_.pod(at).next) {
      if (at.index() >= state_.pods().size() || reached_[at.index()] || state_.pod(at).workload != id) {
        complain(name, " lists a pod that is not its own");
        return;
      }
      reached_[at.index()] = true;
      const Pod& pod = state_.pod(at);
      in_order = in_order && (pod.next.is_none() || pod.number < state_.pod(pod.next).number);
      comes_in_vain = comes_in_vain || (pod.comes && state_.find_repairing(id) == nullptr);
      members.emplace_back(pod.number, pod.request);
      if (pod.node.index() >= state_.nodes() || pod.comes) continue;
      const PodRequest& request = state_.request(pod.request);
      gpu_milli += std::int64_t{request.gpus} * state_.ledger().node(state_.pod(at).node).milli_of(request);
    }
    expect(workload.gpu_milli == gpu_milli, name, " does not hold what its pods hold");
    expect(in_order && !comes_in_vain, name, " has pods in disorder, or some that come and nobody waits for");
    std::ranges::sort(members);
    expect(std::ranges::adjacent_find(members, {}, [](const auto& each) { return each.first; }) == members.end(), name,
           " has a pod twice");
    const Shape& shape = state_.shape(workload.shape);
    const bool whole = std::any_of(shape.ways.begin(), shape.ways.end(), [&](const auto& way) {
      std::vector<RequestId> asked;
      for (const NumberedPodSet& set : way) asked.insert(asked.end(), static_cast<std::size_t>(set.count), set.request);
      // Some may have ended.
      return !members.empty() && std::ranges::all_of(members, [&](const auto& each) {
        return each.first < asked.size() && asked[each.first] == each.second;
      });
    });
    expect(whole, name, " runs, but not with pods of one of its ways");
  }

  void check_pods() {
    for (std::size_t i = 0; i < state_.pods().size(); ++i) {
      const Pod& pod = state_.pods()[i];
      expect(reached_[i] == !pod.workload.is_none(), {"pod", i}, " belongs to no running workload");
      if (pod.workload.is_none()) continue;
      if (pod.node.index() >= state_.nodes()) {
        complain({"pod", i}, " is on no node");
        continue;
      }
      const PodRequest& request = state_.request(pod.request);
      const Node& node = state_.node(pod.node);
      const bool on_own_gpus =
          pod.gpus.size() == request.gpus && (node.gpus >= 64 || pod.gpus.bits() >> node.gpus == 0);
      const bool of_its_type = request.gpus == 0 || (node.gpus > 0 && request.flavors.contains(node.flavor));
      const bool as_shared = request.gpus == 0 || node.may_be(request.sharing);
      expect(on_own_gpus && of_its_type && as_shared && request.gpu_memory_mib <= node.gpu_memory_mib, {"pod", i},
             " is on a node or on GPUs that its request does not allow");
    }
  }

  // What the pods hold is added up first: a ledger of our own would assert where a node is overfull.
  struct Held {
    std::int64_t cpu_milli = 0;
    std::int64_t memory_bytes = 0;
    std::int64_t pods = 0;
    SharingSet modes = {};  // that they ask
    HostAmounts without_gpus;
    HostAmounts in_extra;  // of all these, of best effort that may be in what is extra
    HostAmounts in_extra_without_gpus;
    std::array<std::int64_t, kNumaZonesMax> in_zones{};  // CPUs of pods with whole GPUs
    std::array<std::int64_t, kGpusPerNodeMax> gpu_milli{};
    std::array<std::int64_t, kGpusPerNodeMax> gpu_memory_mib{};
  };

  // Who is stopping is still there, in room that is no longer its own.
  bool holds_room(std::size_t at) const {
    const Pod& pod = state_.pods()[at];
    return !pod.workload.is_none() && !leaving_[at] && has_room(state_.workload(pod.workload).phase);
  }

  void check_ledger() {
    if (!wrong_.empty()) return;
    std::vector<Held> held(state_.nodes());
    Ledger again;
    again.neighbourhood() = state_.ledger().neighbourhood().emptied();
    again.exclusives() = state_.ledger().exclusives().emptied();
    again.trust() = state_.ledger().trust();
    again.tenants() = state_.ledger().tenants().emptied();
    for (std::size_t i = 0; i < state_.nodes(); ++i) {
      again.add(state_.node(NodeId(i)), state_.geometry_of(state_.node(NodeId(i))));
      again.set_open(NodeId(i), state_.ledger().node(NodeId(i)).open);
      again.set_spare(NodeId(i), state_.ledger().node(NodeId(i)).spare);
    }
    for (std::size_t at = 0; at < state_.pods().size(); ++at) {
      const Pod& pod = state_.pods()[at];
      if (holds_room(at)) add(held[pod.node.index()], pod);
    }
    for (std::size_t i = 0; i < held.size(); ++i) {
      expect(fits(held[i], state_.node(NodeId(i))), {"node", i}, " holds more than it has");
    }
    for (std::size_t at = 0; at < state_.pods().size(); ++at) {
      const Pod& pod = state_.pods()[at];
      if (!holds_room(at)) continue;
      again.apply(move_of(state_.request(pod.request), pod.place()));
    }
    for (const Device& device : state_.ledger().broken()) again.set_broken(device, true);
    for (std::size_t i = 0; i < state_.nodes(); ++i) {
      for (int gpu = 0; gpu < state_.ledger().node(NodeId(i)).gpus; ++gpu) {
        const GpuCut* const cut = state_.ledger().cut_of(NodeId(i), static_cast<std::size_t>(gpu));
        if (cut == nullptr) continue;
        again.set_cut({NodeId(i), gpu}, *cut);
        check_cut({NodeId(i), gpu}, *cut);
      }
    }
    again.settle();
    again.take_residues_of(state_.ledger());  // what was there before does not show in who is
    expect(again.same_as(state_.ledger()), "free capacity is not what the nodes have less what the pods hold");
    if (wrong_.empty()) {
      check_rest(held);
      check_zones(held);
    }
    check_matches();
    check_domains();
    check_trust();
    check_who_is_on_cuts();
  }

  // What anybody has, or is to have, is among its slices; and what is said of it beside the ledger is so.
  void check_cut(Device device, const GpuCut& cut) {
    const Named name{"node", device.node.index()};
    const MigPlaceSet taken = state_.ledger().layouts(device.node)[static_cast<std::size_t>(device.gpu)];
    expect(taken.minus(cut.slices).empty(), name, " has slices taken into which a GPU is not cut");
    expect(!state_.ledger().is_cut_at_once(device.node) || cut.slices == state_.ledger().cut_of(device.node, 0)->slices,
           name, " has GPUs that are cut at once, and not alike");
    expect(!cut.rests || cut.to_come.empty(), name, " has a GPU that rests and is being cut");
    expect(state_.being_cut().contains(device) == !cut.to_come.empty(), name,
           " has a GPU of which it is not known whether it is being cut");
    const auto rests = std::ranges::count(state_.resting(), device, &std::pair<Time, Device>::second);
    expect(rests == (cut.rests ? 1 : 0), name, " has a GPU that rests and nothing ends it, or the other way round");
    expect(!cut.rests || state_.next_wake() > state_.clock(), name, " has a GPU that has rested for long enough");
  }

  // Who is there is on a slice that is there, but for those who leave it before it goes.
  void check_who_is_on_cuts() {
    for (const Pod& pod : state_.pods()) {
      if (pod.workload.is_none() || !state_.request(pod.request).is_slice()) continue;
      if (state_.workload(pod.workload).phase != Phase::kRunning || pod.comes) continue;
      const auto gpu = static_cast<std::size_t>(std::countr_zero(pod.gpus.bits()));
      const GpuCut* const cut = state_.ledger().cut_of(pod.node, gpu);
      if (cut == nullptr) continue;
      const MigGeometry& mig = state_.ledger().node(pod.node).geometry();
      const auto place = mig.find_place(state_.request(pod.request).slice, pod.slice_start);
      expect(place && cut->has(*place), {"node", pod.node.index()}, " has a pod on a slice that is not there");
    }
  }

  // What work that counts may have of so much of which so much is held: best effort takes of it only what is beyond the extra.
  static HostAmounts left_of(const HostAmounts& own, const HostAmounts& held, const HostAmounts& in_extra,
                             const HostAmounts& extra) {
    const auto left = [](std::int64_t has, std::int64_t all, std::int64_t best_effort, std::int64_t promised) {
      return has - (all - best_effort) - std::max<std::int64_t>(0, best_effort - promised);
    };
    return {left(own.cpu_milli, held.cpu_milli, in_extra.cpu_milli, extra.cpu_milli),
            left(own.memory_bytes, held.memory_bytes, in_extra.memory_bytes, extra.memory_bytes)};
  }

  void check_rest(const std::vector<Held>& held) {
    for (std::size_t i = 0; i < held.size(); ++i) {
      const Node& node = state_.node(NodeId(i));
      const HostAmounts& kept = node.kept_per_gpu;
      const HostAmounts own{node.cpu_milli - node.gpus * kept.cpu_milli,
                            node.memory_bytes - node.gpus * kept.memory_bytes};
      const HostAmounts rest = left_of(own, held[i].without_gpus, held[i].in_extra_without_gpus, node.extra);
      expect(rest == state_.ledger().rest(NodeId(i)), {"node", i}, " leaves another rest to pods without GPUs");
      const HostAmounts left = left_of({node.cpu_milli, node.memory_bytes}, {held[i].cpu_milli, held[i].memory_bytes},
                                       held[i].in_extra, node.extra);
      const NodeFree& free = state_.ledger().node(NodeId(i));
      expect(left == HostAmounts{free.cpu_milli, free.memory_bytes}, {"node", i},
             " leaves something else to work that counts");
    }
  }

  void check_zones(const std::vector<Held>& held) {
    for (std::size_t i = 0; i < held.size(); ++i) {
      const Node& node = state_.node(NodeId(i));
      if (state_.ledger().node(NodeId(i)).numa == NumaPolicy::kNone) continue;
      const NodeZones& zones = state_.ledger().zones(NodeId(i));
      bool same = zones.zones == node.numa_zones;
      for (std::int64_t zone = 0; same && zone < node.numa_zones; ++zone) {
        const std::int64_t before = node.cpu_milli * zone / node.numa_zones;
        const std::int64_t has = node.cpu_milli * (zone + 1) / node.numa_zones - before;
        const auto at = static_cast<std::size_t>(zone);
        same = zones.cpu_milli[at] == has - held[i].in_zones[at];
      }
      expect(same, {"node", i}, " has other CPUs free in its zones");
    }
  }

  // Whom a circle holds both, as the circles have it, and not as the ledger looks it up.
  bool trust(QueueId a, QueueId b) const {
    const auto holds = [](const Circle& circle, QueueId tenant) {
      return std::ranges::find(circle.queues, tenant) != circle.queues.end();
    };
    return a == b || std::ranges::any_of(state_.ledger().trust().circles(),
                                         [&](const Circle& circle) { return holds(circle, a) && holds(circle, b); });
  }

  // Who has parts of one device, in pairs; a server of MPS serves one user, and vGPUs of one GPU are of one profile.
  bool may_be_together(const Pod& a, const Pod& b) const {
    const PodRequest& one = state_.request(a.request);
    if (a.node != b.node || (a.gpus.bits() & b.gpus.bits()) == 0 || !one.is_fraction()) return true;
    if (one.is_vgpu()) return one.gpu_milli == state_.request(b.request).gpu_milli;
    const Workload& first = state_.workload(a.workload);
    const Workload& second = state_.workload(b.workload);
    return trust(state_.tenant_of(first.queue), state_.tenant_of(second.queue)) &&
           (!one.is_mps() || first.user == second.user);
  }

  void check_trust() {
    std::map<std::pair<NodeId, std::uint64_t>, std::vector<const Pod*>> sharing;
    for (std::size_t i = 0; i < state_.pods().size(); ++i) {
      const Pod& pod = state_.pods()[i];
      if (holds_room(i) && state_.request(pod.request).is_fraction()) {
        sharing[{pod.node, pod.gpus.bits()}].push_back(&pod);
      }
    }
    for (const auto& [at, pods] : sharing) {
      const std::vector<const Pod*>& there = pods;
      const bool may_be = std::ranges::all_of(there, [&](const Pod* a) {
        return std::ranges::all_of(there, [&](const Pod* b) { return may_be_together(*a, *b); });
      });
      const Device device{at.first, std::countr_zero(at.second)};
      expect(may_be == state_.ledger().is_at_peace(device), {"node", at.first.index()},
             " has a GPU of strangers that nobody knows of, or knows of one too many");
    }
    check_strangers();
    check_partings();
  }

  // Who has to part runs, where the other is a stranger and too near, and each of the two knows it of the other.
  void check_partings() {
    for (const auto& [id, others] : state_.partings().all()) {
      expect(!others.empty() && state_.workload(id).phase == Phase::kRunning, {"workload", id.index()},
             " has to part, and does not run, or from nobody");
      for (const auto& [other, by] : others) {
        expect(by != kForever && state_.partings().by(other, id) == by, {"workload", id.index()},
               " has to part from one who does not know of it");
        bool too_near = false;
        for_each_pod(state_, id, [&](const Pod& a) {
          for_each_pod(state_, other,
                       [&](const Pod& b) { too_near = too_near || !may_be_together(a, b) || is_too_near(a, b); });
        });
        expect(too_near, {"workload", id.index()}, " has to part from one who is far enough");
      }
    }
  }

  // For one of the levels of either.
  bool is_too_near(const Pod& a, const Pod& b) const {
    const PodRequest& one = state_.request(a.request);
    const PodRequest& other = state_.request(b.request);
    const QueueId tenant = state_.tenant_of(state_.workload(a.workload).queue);
    const QueueId other_tenant = state_.tenant_of(state_.workload(b.workload).queue);
    if (one.gpus == 0 || other.gpus == 0 || trust(tenant, other_tenant)) return false;
    std::set<std::string> levels = kept_apart(tenant, one.sharing);
    levels.merge(kept_apart(other_tenant, other.sharing));
    return std::ranges::any_of(levels, [&](const std::string& level) {
      if (level == kNodeLevel) return a.node == b.node;
      const std::string* const domain = find_label(state_.node(a.node).labels, level);
      const std::string* const other_domain = find_label(state_.node(b.node).labels, level);
      return domain != nullptr && other_domain != nullptr && *domain == *other_domain;
    });
  }

  // By the circles, how far a tenant with GPUs of a mode keeps strangers away: the nodes, and the domains of these labels.
  std::set<std::string> kept_apart(QueueId tenant, Sharing mode) const {
    std::set<std::string> levels;
    for (const auto& [queues, apart] : state_.ledger().trust().circles()) {
      const std::string& level = apart[static_cast<std::size_t>(mode)];
      const bool is_in = queues.empty() || std::ranges::find(queues, tenant) != queues.end();
      if (is_in && !level.empty()) levels.insert({level, std::string(kNodeLevel)});
    }
    return levels;
  }

  // Nodes on which somebody is nearer to a stranger than he may be are known, and no others.
  void check_strangers() {
    using Guest = std::tuple<NodeId, QueueId, Sharing>;
    std::map<std::pair<std::string, std::string>, std::set<Guest>> in_domain;
    for (std::size_t i = 0; i < state_.pods().size(); ++i) {
      const Pod& pod = state_.pods()[i];
      if (!holds_room(i) || state_.request(pod.request).gpus == 0) continue;
      const Guest guest{pod.node, state_.tenant_of(state_.workload(pod.workload).queue),
                        state_.request(pod.request).sharing};
      in_domain[{std::string(kNodeLevel), std::to_string(pod.node.index())}].insert(guest);
      for (const auto& [key, value] : state_.node(pod.node).labels) in_domain[{key, value}].insert(guest);
    }
    std::set<NodeId> known, found;
    for (std::size_t node = 0; node < state_.nodes(); ++node) {
      if (!state_.ledger().is_at_peace(NodeId(node))) known.insert(NodeId(node));
    }
    if (!state_.ledger().trust().apart_levels().empty()) {
      for (const auto& [domain, guests] : in_domain) note_strangers(domain.first, guests, found);
    }
    expect(known == found, "nodes with strangers that nobody knows of, or that nobody has");
  }

  template <class Guests>
  void note_strangers(const std::string& level, const Guests& guests, std::set<NodeId>& found) const {
    std::map<std::pair<QueueId, Sharing>, bool> keeps;
    for (const auto& [node, tenant, mode] : guests) keeps[{tenant, mode}] = kept_apart(tenant, mode).contains(level);
    for (const auto& [node, tenant, mode] : guests) {
      for (const auto& [other, other_keeps] : keeps) {
        if ((other_keeps || keeps[{tenant, mode}]) && !trust(tenant, other.first)) found.insert(node);
      }
    }
  }

  void check_domains() {
    const Topologies& known = state_.topologies();
    std::vector<Node> nodes;
    for (std::size_t i = 0; i < state_.nodes(); ++i) nodes.push_back(state_.node(NodeId(i)));
    for (std::size_t id = 0; id < known.size(); ++id) {
      const Topology& topology = known[TopologyId(id)];
      const std::string& inner = topology.inner_level();
      const bool same = (topology.together == Togetherness::kAnywhere ||
                         known.domains(TopologyId(id)) == Domains(topology.level, nodes)) &&
                        (inner.empty() || known.inner_domains(TopologyId(id)) == Domains(inner, nodes));
      expect(same, {"topology", id}, " has other domains than the nodes say");
    }
    const Network* const network = known.network();
    expect(network == nullptr || *network == Network(nodes, state_.flavors()),
           "the network is other than the nodes say");
  }

  // As docs/semantics.md has it, word by word.
  bool may_go(QueueId home, const Node& node) const {
    const auto owns = [&](const Queue& queue) {
      return std::ranges::any_of(queue.quota.dedicated, [&](const Label& label) {
        const std::string* const value = label.key == kNodeLevel ? &node.name : find_label(node.labels, label.key);
        return value != nullptr && *value == label.value;
      });
    };
    const std::vector<Queue>& queues = state_.queues();
    for (std::size_t i = 0; i < queues.size(); ++i) {
      QueueId at = home;
      while (!at.is_none() && at != QueueId(i)) at = queues[at.index()].parent;
      if (at.is_none() && owns(queues[i])) return false;
    }
    return true;
  }

  void check_matches() {
    const NodeMatches& matches = state_.ledger().matches();
    for (std::size_t i = 0; i < state_.nodes(); ++i) {
      const Node& node = state_.node(NodeId(i));
      bool same = true;
      for (std::size_t id = 0; id < matches.size(); ++id) {
        const NodeConstraintsId constraints(id);
        const QueueId home = matches.home_of(constraints);
        if (!home.is_none() && state_.home_of(home) != home) continue;  // nobody is at home there any more
        same = same &&
               matches.selects(constraints, NodeId(i)) == selects(matches[constraints], node.name, node.labels) &&
               matches.tolerates(constraints, NodeId(i)) ==
                   (tolerates(matches[constraints], node.taints) && may_go(home, node));
        const auto likings = matches.likings(constraints);
        const bool is_own = may_go(home, node) && !may_go(QueueId(), node);
        same = same &&
               (likings.empty() ? 0 : likings[i]) ==
                   liking(matches[constraints], node.name, node.labels, node.taints) + (is_own ? kOwnNodeLiking : 0);
      }
      expect(same && (matches.size() > 0 || node.taints.empty()), {"node", i},
             " is allowed to others than those whom it suits");
    }
  }

  void add(Held& held, const Pod& pod) const {
    const PodRequest& request = state_.request(pod.request);
    held.cpu_milli += request.cpu_milli;
    held.memory_bytes += request.memory_bytes;
    ++held.pods;
    if (request.in_extra) held.in_extra = held.in_extra + HostAmounts{request.cpu_milli, request.memory_bytes};
    if (request.in_extra && request.gpus == 0) {
      held.in_extra_without_gpus = held.in_extra_without_gpus + HostAmounts{request.cpu_milli, request.memory_bytes};
    }
    if (request.gpus > 0) held.modes.add(request.sharing);
    if (request.gpus == 0) {
      held.without_gpus.cpu_milli += request.cpu_milli;
      held.without_gpus.memory_bytes += request.memory_bytes;
    }
    const Node& node = state_.node(pod.node);
    std::int64_t counted = 0;
    pod.gpus.for_each([&](int gpu) {
      // The first so many GPUs have so many parts of the CPUs, rounded down.
      const std::int64_t before = request.cpu_milli * counted / request.gpus;
      const std::int64_t beside = request.cpu_milli * ++counted / request.gpus - before;
      if (!request.is_fraction()) held.in_zones[static_cast<std::size_t>(gpu * node.numa_zones / node.gpus)] += beside;
      held.gpu_milli[static_cast<std::size_t>(gpu)] += state_.ledger().node(pod.node).milli_of(request);
      held.gpu_memory_mib[static_cast<std::size_t>(gpu)] +=
          gpu_memory_taken(request, state_.node(pod.node).gpu_memory_mib);
    });
  }

  static bool fits(const Held& held, const Node& node) {
    const auto at_most = [](const auto& amounts, std::int64_t most) {
      return std::all_of(amounts.begin(), amounts.end(), [&](std::int64_t amount) { return amount <= most; });
    };
    return std::has_single_bit(std::uint8_t(held.modes.bits() | std::uint8_t{held.modes.empty()})) &&
           held.cpu_milli <= node.cpu_milli + node.extra.cpu_milli &&
           held.memory_bytes <= node.memory_bytes + node.extra.memory_bytes &&
           held.cpu_milli - held.in_extra.cpu_milli <= node.cpu_milli &&
           held.memory_bytes - held.in_extra.memory_bytes <= node.memory_bytes && held.pods <= node.pods_max &&
           at_most(held.gpu_milli, kMilliPerGpu) && at_most(held.gpu_memory_mib, node.gpu_memory_mib);
  }

  // The sums that the ledger keeps, from the single GPUs up.
  void check_totals() {
    const Ledger& ledger = state_.ledger();
    std::array<FreeTotals, kFlavorsMax + 1> sums{};
    for (std::size_t i = 0; i < ledger.nodes(); ++i) {
      const NodeFree& node = ledger.node(NodeId(i));
      std::int64_t free = 0;
      std::int64_t whole = 0;
      std::int64_t largest = 0;
      for (const std::int16_t milli : ledger.gpu_milli(NodeId(i))) {
        free += milli;
        whole += milli == kMilliPerGpu ? 1 : 0;
        largest = std::max<std::int64_t>(largest, milli);
      }
      expect(free == node.gpu_milli && whole == node.whole_gpus && largest == node.largest_gpu_milli, {"node", i},
             " sums its GPUs up wrongly");
      if (!node.open) continue;
      FreeTotals& sum = sums[node.gpus > 0 ? node.flavor : kFlavorsMax];
      sum.cpu_milli += node.cpu_milli;
      sum.memory_bytes += node.memory_bytes;
      sum.gpu_milli += node.gpu_milli;
      sum.whole_gpus += node.whole_gpus;
    }
    for (std::size_t flavor = 0; flavor < kFlavorsMax; ++flavor) {
      expect(sums[flavor] == ledger.totals(FlavorId(flavor)), {"flavor", flavor}, " has wrong totals");
    }
    expect(sums[kFlavorsMax] == ledger.totals_without_gpus(), "the totals of nodes without GPUs are wrong");
  }

  // Who waits, waits in its line, once; and the heads are those whom the order may look at.
  void check_lines() {
    using Waiting = std::pair<ShapeId, PendingKey>;
    std::vector<std::vector<Waiting>> expected(state_.lines().size());
    state_.workloads().for_each([&](WorkloadId id, const Workload& workload) {
      if (workload.phase != Phase::kPending) return;
      expect(!workload.shut_out || !state_.closed_at(workload.queue).is_none(), {"workload", id.index()},
             " is shut out of a queue that is not closed");
      check_who_waits_for_something(id, workload);
      if (state_.is_kept_aside(id)) return;
      const UserId user = state_.shape(workload.shape).user;
      expect(user.is_none() || user == workload.user, {"workload", id.index()}, " waits as another's");
      for (const auto& way : state_.shape(workload.shape).ways) {
        for (const NumberedPodSet& set : way) {
          const QueueId home = state_.ledger().matches().home_of(state_.request(set.request).constraints);
          expect(home == state_.home_of(workload.queue), {"workload", id.index()}, " is at home elsewhere");
        }
      }
      expected[state_.line_of(workload.queue).index()].push_back({workload.shape, state_.key_of(id)});
    });
    std::vector<bool> in_use(expected.size());
    state_.lines_in_use().for_each([&](QueueId queue) { in_use[queue.index()] = true; });
    for (std::size_t i = 0; i < expected.size(); ++i) {
      expect(in_use[i] != expected[i].empty(), {"line", i}, " is in use without anybody, or is not with somebody");
      if (!state_.lines()[i]) continue;
      const Line& line = *state_.lines()[i];
      std::vector<Waiting> waiting;
      for (const ShapeInLine& shape : line.shapes()) {
        shape.waiting.for_each([&](const PendingKey& key) { waiting.push_back({shape.shape, key}); });
      }
      std::sort(expected[i].begin(), expected[i].end());
      std::sort(waiting.begin(), waiting.end());
      expect(waiting == expected[i] && line.size() == waiting.size(), {"line", i},
             " has not exactly those who wait in it");
      check_heads(line, {"line", i});
    }
  }

  // Whoever waits for time is looked at again in time; whoever waits for others follows somebody who has not ended, or in vain.
  void check_who_waits_for_something(WorkloadId id, const Workload& workload) {
    const Named name{"workload", id.index()};
    const bool cools = state_.shape(workload.shape).cools && !state_.is_kept_aside(id);
    const Time from = state_.hours_from(state_.shape(workload.shape).terms, state_.clock());
    const Time due = workload.not_before > state_.clock() ? workload.not_before : from;
    expect(!workload.too_early || state_.next_wake() <= due, name, " will not be looked at in time");
    expect(workload.too_early || from <= state_.clock(), name, " would start outside its hours");
    expect(!cools || state_.next_wake() <= state_.borrows_again_at(id), name, " will not borrow again in time");
    const Followers& followers = state_.followers();
    expect(workload.follows == followers.waits(id), name,
           " waits for others, or does not, and the list says otherwise");
    expect(!workload.follows || followers.waits_for(id) > 0 || followers.waits_in_vain(id), name, " waits for nobody");
  }

  // Who is there on loan is looked at when there is just time for his grace before each promise.
  void check_loans() {
    for (const WorkloadId id : state_.lent()) {
      const Duration grace = state_.shape(state_.workload(id).shape).terms.grace;
      for (const Shadow& each : state_.shadows()) {
        const Time due{each.at.ms - grace.ms - state_.scrub().ms};
        expect(due <= state_.clock() || state_.next_wake() <= due, {"workload", id.index()},
               " will not be told in time that its loan is over");
      }
    }
  }

  // Who is to be ready runs whole, and who has a policy is not over.
  void check_failures() {
    std::set<std::pair<Time, WorkloadId>> unready;
    state_.workloads().for_each([&](WorkloadId id, const Workload& workload) {
      const Named name{"workload", id.index()};
      const FailurePolicy* const policy = state_.failure_policy_of(id);
      const bool is_over = workload.phase == Phase::kEnded || workload.phase == Phase::kCancelled;
      expect(policy == nullptr || !is_over, name, " is over, and has a failure policy");
      expect(policy == nullptr || !policy->retries || workload.retries <= *policy->retries, name,
             " was tried again more often than it may be");
      expect(workload.failure == Failure::kNone || workload.phase == Phase::kEnded, name,
             " has failed, and is not over");
      if (!workload.ready_by) return;
      unready.emplace(*workload.ready_by, id);
      const bool runs = workload.phase == Phase::kRunning && state_.find_repairing(id) == nullptr;
      expect(runs && policy != nullptr && policy->never_ready, name, " is to be ready, and does not run so");
    });
    expect(unready == state_.unready(), {"the state", 0}, " does not know when those are to be ready who are not");
  }

  // Those of a series who have not ended have their turn or wait for it, and nobody waits whose turn it might be.
  void check_turns() {
    std::map<SeriesId, SeriesTurns::Series> found;
    std::set<std::pair<Time, WorkloadId>> waits;
    state_.workloads().for_each([&](WorkloadId id, const Workload& workload) {
      const bool is_over = workload.phase == Phase::kEnded || workload.phase == Phase::kCancelled;
      if (!is_over && workload.max_wait) waits.emplace(workload.submitted + workload.max_wait->length, id);
      if (is_over || workload.series.is_none()) return;
      SeriesTurns::Series& series = found[workload.series];
      workload.awaits_turn ? void(series.waiting.insert(id)) : void(++series.turns);
    });
    expect(waits == state_.max_waits(), {"the state", 0}, " does not know how long those wait at most who do");
    expect(found.size() == state_.series().all().size(), {"the state", 0},
           " has other series than those who are in them");
    for (const auto& [id, known] : state_.series().all()) {
      const SeriesTurns::Series& series = found[id];
      expect(series.turns == known.turns && series.waiting == known.waiting, {"series", id.index()},
             " has other turns than those who are in it");
      expect(known.waiting.empty() || known.turns >= static_cast<std::size_t>(known.at_most), {"series", id.index()},
             " has a turn for which somebody waits");
    }
  }

  // What every queue holds is what its workloads' pods hold, and of it is covered what its units say.
  void check_quotas() {
    if (!wrong_.empty()) return;
    const QuotaLedger& quotas = state_.quotas();
    const QuotaTree& tree = quotas.tree();
    std::vector<AmountsByDim> used(tree.queues(), AmountsByDim(tree.dims()));
    std::vector<AmountsByDim> covered = used;
    std::map<std::pair<QueueId, UserId>, AmountsByDim> by_user;
    state_.workloads().for_each([&](WorkloadId id, const Workload& workload) {
      if (!has_room(workload.phase)) return;
      const QuotaUnit& unit = quotas.unit(workload.unit);
      const Shape& shape = state_.shape(workload.shape);
      expect(unit.workload == id && unit.queue == workload.queue && unit.user == workload.user &&
                 unit.priority == shape.terms.priority,
             {"workload", id.index()}, " has the unit of another");
      expect(unit.end == state_.end_of(id, workload.started), {"workload", id.index()},
             " is not expected to end when its run limit ends it");
      AmountsByDim held(tree.dims());
      for_each_pod(state_, id, [&](const Pod& pod) {
        if (!workload.best_effort) add_amounts(state_.request(pod.request), state_.node(pod.node).flavor, 1, held);
      });
      if (const Repairing* const repairing = state_.find_repairing(id); repairing && !workload.best_effort) {
        for (const LostMember& lost : repairing->lost) {
          add_amounts(state_.request(lost.request), state_.node(lost.node).flavor, 1, held);
        }
      }
      bool is_covered = false;
      for (QueueId queue = workload.queue; !queue.is_none(); queue = tree.parent(queue)) {
        is_covered = is_covered || queue == unit.covered_at;
        for (std::size_t dim = 0; dim < held.size(); ++dim) used[queue.index()][dim] += held[dim];
        if (is_covered) add_counted(tree, unit.covered_at, held, covered[queue.index()]);
        if (!tree.counts_users(queue)) continue;
        AmountsByDim& sums = by_user.try_emplace({queue, workload.user}, AmountsByDim(tree.dims())).first->second;
        for (std::size_t dim = 0; dim < held.size(); ++dim) sums[dim] += held[dim];
      }
      expect(is_covered || unit.covered_at.is_none(), {"workload", id.index()}, " is covered where it does not belong");
    });
    for (const auto& [who, sums] : by_user) {
      expect(std::ranges::equal(sums, quotas.held_by_user(who.first, who.second)), {"user", who.second.index()},
             " does not hold what his workloads hold");
    }
    for (std::size_t i = 0; i < tree.queues(); ++i) {
      const auto same = [](const AmountsByDim& a, std::span<const std::int64_t> b) {
        return std::equal(a.begin(), a.end(), b.begin(), b.end());
      };
      expect(same(used[i], quotas.used(QueueId(i))), {"queue", i}, " does not hold what its workloads hold");
      expect(same(covered[i], quotas.covered(QueueId(i))), {"queue", i}, " counts wrongly what is covered");
    }
  }

  // Slices by their profile where that is promised, and nothing of GPUs then; else as parts of GPUs alone.
  void add_counted(const QuotaTree& tree, QueueId covered_at, const AmountsByDim& held, AmountsByDim& sums) {
    for (std::size_t at = 0; at < held.size(); ++at) {
      const Dim dim = Dim::at(at);
      const bool by_profile = dim.is_of_slices() && tree.is_floor_by_profile(covered_at, dim);
      if (by_profile) {
        const auto part = find_slice(state_.flavors()[dim.flavor().index()], dim.shape());
        if (held[at] > 0) sums[Dim(dim.flavor(), Resource::kGpu).index()] -= held[at] * part->gpu_milli;
      }
      if (by_profile || !dim.is_of_slices()) sums[at] += held[at];
    }
  }

  // What is reserved is of those who are there, or will be at once.
  void check_budgets() {
    const bool sound = state_.quotas().budgets().is_sound([&](WorkloadId id) {
      const Workload* const workload = state_.workloads().find(id);
      return workload != nullptr && (has_room(workload->phase) || is_there(workload->phase));
    });
    expect(sound, "GPU time is reserved for who is not there, or is not counted rightly");
  }

  // The amounts are those of the windows that are open.
  void check_calendar() {
    const QuotaLedger& quotas = state_.quotas();
    const NamedProfiles named = profiles_named_by(state_.queues(), state_.windows(), state_.flavors());
    const QuotaTree tree(queues_while(state_.queues(), state_.windows(), state_.open_windows()), quotas.capacity(),
                         named);
    const auto same = [](std::span<const std::int64_t> a, std::span<const std::int64_t> b) {
      return std::equal(a.begin(), a.end(), b.begin(), b.end());
    };
    for (std::size_t i = 0; i < tree.queues(); ++i) {
      const QueueId queue(i);
      expect(same(tree.floor(queue), quotas.tree().floor(queue)) &&
                 same(tree.limit(queue), quotas.tree().limit(queue)) &&
                 tree.weight_milli(queue) == quotas.tree().weight_milli(queue) &&
                 tree.owners_clock(queue, QueueId()) == quotas.tree().owners_clock(queue, QueueId()),
             {"queue", i}, " has not the amounts of this hour");
    }
  }

  void check_heads(const Line& line, const Named& name) {
    std::vector<Head> expected;
    for (std::size_t at = 0; at < line.shapes().size(); ++at) {
      const ShapeInLine& shape = line.shapes()[at];
      expect(shape.missing >= 0 && line.index_of(shape.shape) == at, name, " has a shape in disorder");
      const bool looked_past =
          shape.impossible() || shape.gate == ReasonCode::kCooldown || line.order() != Order::kFifo;
      if (shape.waiting.empty() || (shape.blocked() && looked_past)) {
        expect(!shape.listed, name, " lists a shape that has no head");
        continue;
      }
      expected.push_back({shape.waiting.front(), static_cast<std::uint32_t>(at)});
      expect(shape.listed == shape.waiting.front(), name, " lists another head than a shape has");
    }
    std::sort(expected.begin(), expected.end());
    std::vector<Head> heads;
    line.heads().for_each([&](const Head& head) { heads.push_back(head); });
    expect(heads == expected, name, " has the wrong heads");
  }

  const State& state_;
  std::vector<std::string> wrong_;
  std::vector<bool> reached_;  // pods that a running workload lists
  std::vector<bool> leaving_;  // of these, those in places that it leaves for others
};

}  // namespace

std::vector<std::string> violations(const State& state) { return Inspection(state).run(); }

}  // namespace berth
