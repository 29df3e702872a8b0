// Prints what pods say.
#pragma once

#include <string>

#include "client/work.h"
#include "kube/transport.h"

namespace berth {

struct LogChoice {
  std::string container = {};  // empty: the only one
  bool follow = false;
};

// The exit code. Of a job, or all of a JobSet's, the pods that have started; 7 if none has.
int print_logs(Transport& server, const WorkName& name, const std::string& name_space, const LogChoice& choice);

}  // namespace berth
