// The API server as the commands reach it: over the network, by a kubeconfig.
#pragma once

#include <memory>
#include <string>

#include "base/result.h"
#include "kube/transport.h"

namespace berth {

// Without a path, the kubeconfig that kubectl would take. A call that takes longer than the time-out has no answer.
Result<std::unique_ptr<Transport>> connect_to_cluster(const std::string& kubeconfig, int timeout_s = 30);

// Of an answer that is not ok(): the server's message, or why there is none, in full if it is one line of text.
std::string why_not(const ApiAnswer& answer);

}  // namespace berth
