// Why somebody is not in his line, whatever room there is: in words.
#pragma once

#include <string>
#include <vector>

#include "model/ids.h"
#include "state/state.h"

namespace berth {

// PRE: it is kept aside.
std::string why_kept_aside(const State& state, WorkloadId workload);

// "it is to start after others, of which 2 have not ended (prep, clean)": of explain(), with names, which the state does not know.
// `names`: of each in turn, or none at all.
std::string awaited_text(const std::vector<Dependency>& awaited, const std::vector<std::string>& names = {});

// Of a workload that has failed: why.
std::string failure_text(const Workload& workload);

}  // namespace berth
