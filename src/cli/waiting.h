// Waits until a job or pod has started or ended, as `berth submit --wait` does.
#pragma once

#include <chrono>
#include <optional>
#include <string>

#include "client/work.h"
#include "kube/transport.h"

namespace berth {

enum class WaitFor : bool { kStart, kEnd };

// The exit code: 0 it succeeded (or, for its start, runs or is over), 1 it failed or was deleted, 8 the time is over. How
// it ended is said on stderr; how it goes too, where that is a terminal. Without a time: as long as it takes.
int wait_for(Transport& server, const WorkName& name, const std::string& name_space, WaitFor what,
             std::optional<std::chrono::steady_clock::time_point> until);

}  // namespace berth
