// Who trusts whom, and what comes of a change.
#include <algorithm>
#include <set>
#include <utility>
#include <vector>

#include "state/starting.h"
#include "state/state.h"

namespace berth {

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
  ledger_.trust().set_circles(event.circles);
  ledger_.tenants().look_at(ledger_.trust(), *nodes_);
  know_who_reserves();
  for (std::size_t node = 0; node < nodes(); ++node) ledger_.touch(NodeId(node));
  for (const WorkloadId id : starting_among_strangers(*this)) lose_room_to_come(id);
  let_part_by(event.part_by);
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

// Who was told before keeps his time.
void State::let_part_by(Time part_by) {
  std::erase_if(parting_, [&](const auto& each) { return ledger_.is_at_peace(each.first); });
  for (const Device& device : ledger_.shared_devices()) {
    if (!ledger_.is_at_peace(device)) parting_.emplace(device, part_by);
  }
  std::erase_if(parting_nodes_, [&](const auto& each) { return ledger_.is_at_peace(each.first); });
  if (ledger_.tenants().none()) return;
  for (std::size_t node = 0; node < nodes(); ++node) {
    if (!ledger_.is_at_peace(NodeId(node))) parting_nodes_.emplace(NodeId(node), part_by);
  }
}

// Another node may be in the domain of another now: who is too near to strangers for that stays, and is told nothing.
void State::look_at_tenants() {
  if (ledger_.tenants().none()) return;
  ledger_.tenants().look_at(ledger_.trust(), *nodes_);
  for (std::size_t node = 0; node < nodes(); ++node) ledger_.touch(NodeId(node));
  let_part_by(kForever);
}

}  // namespace berth
