#include "state/workload_table.h"

namespace berth {

WorkloadTable::WorkloadTable(const WorkloadTable& other) : size_(other.size_) {
  pages_.reserve(other.pages_.size());
  for (const auto& page : other.pages_) pages_.push_back(page ? std::make_unique<Page>(*page) : nullptr);
}

WorkloadId WorkloadTable::add(const Workload& workload) {
  const WorkloadId id = next_id();
  BERTH_ASSERT(!id.is_none());
  if (size_ % kPageSize == 0) pages_.push_back(std::make_unique<Page>());
  pages_[size_ / kPageSize]->workloads[size_ % kPageSize] = workload;
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
  return const_cast<Workload&>(static_cast<const WorkloadTable&>(*this)[id]);
}

void WorkloadTable::note_ended(WorkloadId id) {
  auto& page = pages_[id.index() / kPageSize];
  if (++page->ended == kPageSize) page.reset();
}

}  // namespace berth
