// Who trusts whom, and what comes of a change.
#include <algorithm>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "state/starting.h"
#include "state/state.h"
#include "state/strangers.h"

namespace berth {
namespace {

// Pods of those who run on nodes where some are nearer to each other than they may be. Who starts there has lost his room.
std::map<NodeId, std::vector<const Pod*>> running_among_strangers(const State& state) {
  const Ledger& ledger = state.ledger();
  std::set<NodeId> uneasy;
  for (const Device& device : ledger.shared_devices()) {
    if (!ledger.is_at_peace(device)) uneasy.insert(device.node);
  }
  for (std::size_t node = 0; node < state.nodes() && !ledger.tenants().none(); ++node) {
    if (!ledger.is_at_peace(NodeId(node))) uneasy.insert(NodeId(node));
  }
  std::map<NodeId, std::vector<const Pod*>> running;
  if (uneasy.empty()) return running;
  for (const Pod& pod : state.pods()) {
    if (pod.workload.is_none() || pod.comes || !uneasy.contains(pod.node)) continue;
    if (state.workload(pod.workload).phase == Phase::kRunning) running[pod.node].push_back(&pod);
  }
  return running;
}

// Calls visit(a, b) for two pods of different workloads that may not be where they are, once for each two.
template <class Visit>
void for_each_strangers(const State& state, Visit visit) {
  const std::map<NodeId, std::vector<const Pod*>> running = running_among_strangers(state);
  for (const auto& [node, here] : running) {
    for (const NodeId near : state.ledger().tenants().nodes_around(node)) {
      const auto there = running.find(near);
      if (near < node || there == running.end()) continue;
      for (const Pod* const a : here) {
        for (const Pod* const b : there->second) {
          const bool is_second_time = near == node && b <= a;
          if (!is_second_time && a->workload != b->workload && are_strangers(state, *a, *b)) visit(*a, *b);
        }
      }
    }
  }
}

}  // namespace

void State::on(const TrustChanged& event) {
  history_.add(event.part_by.ms).add(std::uint64_t{event.circles.size()});
  for (const Circle& circle : event.circles) {
    history_.add(std::uint64_t{circle.queues.size()});
    for (const QueueId queue : circle.queues) history_.add(queue.value());
    if (!circle.keeps_apart()) continue;
    for (const std::string& level : circle.apart) history_.add(level);
  }
  if (event.beyond_devices) {
    history_.add(std::uint64_t{1});
    ledger_.trust().look_beyond_devices();
  }
  const Trust trust_before = ledger_.trust();
  const TenantDomains domains_before = ledger_.tenants();
  ledger_.trust().set_circles(event.circles);
  ledger_.tenants().look_at(ledger_.trust(), *nodes_);
  know_who_reserves();
  for (std::size_t node = 0; node < nodes(); ++node) ledger_.touch(NodeId(node));
  for (const WorkloadId id : starting_among_strangers(*this)) lose_room_to_come(id);
  let_part_by(event.part_by, trust_before, domains_before);
  retry_who_waits_for_room();
}

void State::on(const ScrubChosen& event) {
  history_.add(event.takes.ms);
  scrub_ = event.takes;
  ledger_.set_scrubs(event.takes > Duration{0});
}

// By those who are there; who migrates is where it leaves.
bool State::is_occupied(Device device) const {
  return std::ranges::any_of(pods_, [&](const Pod& pod) {
    if (pod.workload.is_none() || pod.node != device.node || !pod.gpus.contains(device.gpu)) return false;
    if (!is_there(workloads_[pod.workload].phase)) return false;
    bool found = false;
    for_each_leaving_pod(*this, pod.workload, [&](const Pod& each) { found = found || &each == &pod; });
    return found;
  });
}

// What is on a closed node waits until it is open again.
std::vector<Device> State::to_scrub() const {
  std::vector<Device> devices = ledger_.dirty();
  std::erase_if(devices, [&](const Device& device) {
    return !ledger_.node(device.node).takes_work() || ledger_.is_broken(device) || is_occupied(device);
  });
  return devices;
}

// Who was to have it next waits anew.
void State::break_down(Device device) {
  for (const WorkloadId id : starting_on(*this, device.node)) {
    bool is_to_be_there = false;
    for_each_coming_pod(*this, id, [&](const Pod& pod) {
      is_to_be_there = is_to_be_there || (pod.node == device.node && pod.gpus.contains(device.gpu));
    });
    if (is_to_be_there) lose_room_to_come(id);
  }
  // The node is counted anew without it.
  const bool takes_work = ledger_.node(device.node).takes_work();
  set_open(device.node, false);
  ledger_.set_broken(device, true);
  set_open(device.node, takes_work);
}

void State::open_mended(NodeId node) {
  AmountsByDim then = capacity();
  set_open(node, false, then);
  const std::set<Device> broken = ledger_.broken();
  for (const Device& device : broken) {
    if (device.node != node) continue;
    ledger_.set_broken(device, false);
    ledger_.clean(device);
  }
  set_open(node, !maintained_.contains(node), then);
  rebuild_quotas(std::move(then));
}

bool State::has_work(QueueId queue) const {
  bool found = false;
  workloads_.for_each([&](WorkloadId, const Workload& workload) {
    const bool is_over = workload.phase == Phase::kEnded || workload.phase == Phase::kCancelled;
    found = found || (!is_over && is_below(workload.queue, queue));
  });
  return found;
}

// A pair that has a time keeps it. Others have one if they are strangers by this change: else they were left alone, and still are.
void State::let_part_by(Time part_by, const Trust& trust_before, const TenantDomains& domains_before) {
  Partings partings;
  for_each_strangers(*this, [&](const Pod& a, const Pod& b) {
    const Time known = partings_.by(a.workload, b.workload);
    const bool is_new = known == kForever && became_strangers(*this, trust_before, domains_before, a, b);
    partings.add(a.workload, b.workload, is_new ? part_by : known);
  });
  partings_ = std::move(partings);
}

// Those from whom it is far enough by now.
void State::drop_partings(WorkloadId id) {
  const Partings::Others others = partings_.of(id);
  for (const auto& [other, by] : others) {
    if (!are_strangers(*this, id, other)) partings_.remove(id, other);
  }
}

// The node may be in the domain of others now: who is too near to strangers for that stays, and is told nothing.
void State::look_at_tenants(NodeId node) {
  if (ledger_.tenants().none()) return;
  ledger_.tenants().look_at(ledger_.trust(), *nodes_);
  for (std::size_t at = 0; at < nodes(); ++at) ledger_.touch(NodeId(at));
  std::vector<WorkloadId> there;
  for (const auto& [id, others] : partings_.all()) {
    bool is_there = false;
    for_each_pod(*this, id, [&](const Pod& pod) { is_there = is_there || pod.node == node; });
    if (is_there) there.push_back(id);
  }
  for (const WorkloadId id : there) drop_partings(id);
}

}  // namespace berth
