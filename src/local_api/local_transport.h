// Reaches an ApiServer of the same process by the client's words, without a socket: for controllers and for tests.
#pragma once

#include <memory>

#include "apiserver/api_server.h"
#include "kube/transport.h"

namespace berth {

// PRE: the server outlives the transport and its streams. Callbacks run on the server's threads or on the caller's.
std::unique_ptr<Transport> connect_locally(ApiServer& server, User user);

}  // namespace berth
