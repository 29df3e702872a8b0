// Waits until a job or pod has ended, as `berth submit --wait` does.
#pragma once

#include <optional>
#include <string>

#include "base/time.h"
#include "client/work.h"
#include "kube/transport.h"

namespace berth {

// The exit code: 0 it succeeded, 1 it failed or was deleted, 8 the time is over. How it ended is said on stderr; how it
// goes too, where that is a terminal. Without a time: as long as it takes.
int wait_until_ended(Transport& server, const WorkName& name, const std::string& name_space,
                     std::optional<Duration> timeout);

}  // namespace berth
