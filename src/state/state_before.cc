// What a State is told of what was before it began.
#include "state/state.h"

namespace berth {

void State::on(const GrantAdded& event) {
  quotas_.budgets().grant(event.queue, event.gpu_us, event.until);
  history_.add(event.queue.value()).add(event.gpu_us).add(event.until.ms);
}

void State::on(const GpuTimeUsed& event) {
  quotas_.budgets().note_used(event.queue, event.pot, event.gpu_us);
  history_.add(event.queue.value()).add(event.pot).add(event.gpu_us);
}

void State::on(const PastUseFound& event) {
  past_.remember(event.queue, event.average, event.at);
  history_.add(event.queue.value()).add(event.at.ms);
  for (const Amount& each : event.average) history_.add(std::uint64_t{each.dim.index()}).add(each.amount);
}

void State::on(const PastUseKept& event) {
  past_.go_on(event);
  history_.add(event.queue.value()).add(event.begun.ms).add(event.at.ms);
  for (const AmountList* const amounts : {&event.average, &event.in_step}) {
    for (const Amount& each : *amounts) history_.add(std::uint64_t{each.dim.index()}).add(each.amount);
  }
}

void State::on(const GpuTimeCounted& event) {
  quotas_.budgets().note_counted(event.queue, event.until);
  history_.add(event.queue.value()).add(event.until.ms);
}

void State::on(const GpuTimeMissed& event) {
  const GpuTimeAsked ran{.gpu_milli = event.gpu_milli, .from = event.from, .end = event.until};
  quotas_.budgets().note_run(quotas_.tree(), event.queue, ran);
  history_.add(event.queue.value()).add(event.gpu_milli).add(event.from.ms).add(event.until.ms);
}

void State::on(const FloorUseFound& event) {
  idle_.remember(event.queue, event.floor, event.held);
  idle_.lay_out(queues_, quotas_, clock_);
  history_.add(event.queue.value());
  for (const Amount& each : event.floor) history_.add(std::uint64_t{each.dim.index()}).add(each.amount);
  for (const FloorUse& each : event.held) {
    history_.add(std::uint64_t{each.dim.index()}).add(each.amount).add(each.until.ms);
  }
}

void State::on(const RoomGivenBack& event) {
  history_.add(event.workload.value()).add(event.at.ms);
  dequeue(event.workload);
  workloads_[event.workload].gave_back = event.at;
  enqueue(event.workload);
}

}  // namespace berth
