// The way from a command line to an API server, found as kubectl finds it.
#pragma once

#include <memory>
#include <string>

#include "base/result.h"
#include "client/asking.h"
#include "kube/transport.h"

namespace CLI {
class App;
}

namespace berth {

// As typed; empty: as the kubeconfig says.
struct ConnectionWish {
  std::string kubeconfig = {};
  std::string context = {};
  std::string name_space = {};
};

struct ApiConnection {
  std::unique_ptr<Transport> transport;
  std::string name_space;  // -n, else the context's
};

// `timeout_s` of a call, not of a stream.
Result<ApiConnection> connect(const ConnectionWish& wish, int timeout_s = 30);

enum class Namespaced : bool { kNo, kYes };
// --kubeconfig, --context and, if the command asks for what lives in namespaces, -n. `typed` outlives the app.
void add_connection_options(CLI::App& app, ConnectionWish& typed, Namespaced namespaced);

// Says it on stderr; its exit code.
int fail(const AskFailure& failure);

}  // namespace berth
