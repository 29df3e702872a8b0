// By when two have to part who run where a change of trust has made strangers of them (docs/semantics.md, rule 29).
#pragma once

#include <map>
#include <memory>

#include "base/time.h"
#include "model/ids.h"

namespace berth {

// INVARIANT: each of a pair knows the other, with one time, which is not kForever; who has nobody to part from is not here. Copies
// share it until one of them changes it.
class Partings {
 public:
  using Others = std::map<WorkloadId, Time>;

  bool none() const { return all_->empty(); }
  const std::map<WorkloadId, Others>& all() const { return *all_; }
  // From whom a workload has to part, and by when; of two by when, kForever: they do not have to.
  const Others& of(WorkloadId id) const;
  Time by(WorkloadId a, WorkloadId b) const;
  // The first time after this one by which some have to part.
  Time next_after(Time now) const;

  // Two who had to part before keep their time.
  void add(WorkloadId a, WorkloadId b, Time by);
  void remove(WorkloadId a, WorkloadId b);
  // From all.
  void remove(WorkloadId id);

 private:
  std::map<WorkloadId, Others>& own();
  void forget(WorkloadId id, WorkloadId other);

  std::shared_ptr<std::map<WorkloadId, Others>> all_ = std::make_shared<std::map<WorkloadId, Others>>();
};

}  // namespace berth
