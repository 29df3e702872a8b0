// Why the pods of a job, or the Jobs of a JobSet, cannot be made: who makes them was refused, and says so by events alone.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/time.h"
#include "client/work.h"
#include "manifest/value.h"

namespace berth {

class Refusals {
 public:
  // A field selector of the events that are read.
  static constexpr const char* kSelector = "reason=FailedCreate";

  explicit Refusals(const std::vector<Value>& events);
  // What was said last of the object with that uid, without whom it was about; empty: nothing.
  std::string_view of(std::string_view uid) const;

 private:
  std::map<std::string, std::pair<Time, std::string>, std::less<>> told_;
};

// To all that lack pods: the first of their reasons, since the others wait for these.
void note_refusals(std::vector<Work>& work, const Refusals& refusals);

// The JobSets that stand for themselves, since they have no Jobs or were refused some, each in its place among the work.
// `jobs`: of Kubernetes' kind.
void add_job_sets(std::vector<Work>& work, const std::vector<Value>& sets, const std::vector<Value>& jobs,
                  const Refusals& refusals);

}  // namespace berth
