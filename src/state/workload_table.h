// Workloads by id, in pages. Ids grow and are never used again; a page whose workloads have all ended is let go, so that
// the table's size follows what lives, not what has ever been. Copies share a page until one of them writes on it, so that a
// fork costs what is done with it. All copies belong to one thread.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "base/assert.h"
#include "model/workload.h"

namespace berth {

class WorkloadTable {
 public:
  // The id that the next workload will get.
  WorkloadId next_id() const { return WorkloadId(size_); }
  WorkloadId add(const Workload& workload);

  // nullptr: there was none of this id, or it ended long ago and its page is gone.
  const Workload* find(WorkloadId id) const;
  const Workload& operator[](WorkloadId id) const;
  // To write: what was got to read before may be another copy's from now on.
  Workload& operator[](WorkloadId id);
  // The workload has ended; its record stays until its whole page has.
  void note_ended(WorkloadId id);

  // Calls visit(id, workload) for all that are still recorded, in the order of their ids.
  template <class Visit>
  void for_each(Visit visit) const {
    for (std::size_t page = 0; page < pages_.size(); ++page) {
      if (!pages_[page]) continue;
      const std::size_t begin = page * kPageSize;
      for (std::size_t at = 0; at < kPageSize && begin + at < size_; ++at) {
        visit(WorkloadId(begin + at), pages_[page]->workloads[at]);
      }
    }
  }

 private:
  static constexpr std::size_t kPageSize = 1024;
  struct Page {
    std::array<Workload, kPageSize> workloads;
    std::size_t ended = 0;
  };

  // Not shared with any copy.
  Page& own(std::size_t page);

  std::vector<std::shared_ptr<Page>> pages_;
  std::size_t size_ = 0;
};

}  // namespace berth
