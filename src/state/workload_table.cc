#include "state/workload_table.h"

namespace berth {

WorkloadTable::Page& WorkloadTable::own(std::size_t page) {
  std::shared_ptr<Page>& own = pages_[page];
  if (own.use_count() > 1) own = std::make_shared<Page>(*own);
  return *own;
}

WorkloadId WorkloadTable::add(const Workload& workload) {
  const WorkloadId id = next_id();
  BERTH_ASSERT(!id.is_none());
  if (size_ % kPageSize == 0) pages_.push_back(std::make_shared<Page>());
  own(size_ / kPageSize).workloads[size_ % kPageSize] = workload;
  ++size_;
  return id;
}

const Workload* WorkloadTable::find(WorkloadId id) const {
  if (id.index() >= size_ || !pages_[id.index() / kPageSize]) return nullptr;
  return &pages_[id.index() / kPageSize]->workloads[id.index() % kPageSize];
}

const Workload& WorkloadTable::operator[](WorkloadId id) const {
  const Workload* const workload = find(id);
  BERTH_ASSERT(workload != nullptr);
  return *workload;
}

Workload& WorkloadTable::operator[](WorkloadId id) {
  BERTH_ASSERT(find(id) != nullptr);
  return own(id.index() / kPageSize).workloads[id.index() % kPageSize];
}

void WorkloadTable::note_ended(WorkloadId id) {
  const std::size_t page = id.index() / kPageSize;
  if (++own(page).ended == kPageSize) pages_[page].reset();
}

}  // namespace berth
