// The network's way to an API server: libcurl's multi interface on one thread, HTTP/2 where the server has it.
#pragma once

#include <memory>

#include "base/result.h"
#include "kube/kubeconfig.h"
#include "kube/transport.h"

namespace berth {

struct CurlOptions {
  int connections_max = 16;
  std::size_t in_flight_max = 256;  // more calls wait their turn
  int timeout_s = 30;               // of a call, not of a stream
  std::string user_agent = "berth/0.1.0";
};

// Complains about an access that cannot work (a certificate that is none).
Result<std::unique_ptr<Transport>> connect_by_curl(ServerAccess access, CurlOptions options = {});

}  // namespace berth
