// The embedded Kubernetes-compatible API server: requests in, objects in the store, replies and watches out. Transport,
// disk and clock are arguments.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "apiserver/authentication.h"
#include "base/result.h"
#include "manifest/timestamp.h"
#include "store/store.h"
#include "web_server/http.h"

namespace berth {

// Where a pod's log is; the node agent serves it. `write` gets pieces, `end` once.
struct LogQuestion {
  std::string name_space, pod, uid, container, node;
  bool follow = false, previous = false, timestamps = false;
  std::int64_t tail_lines = -1, limit_bytes = -1, since_s = -1;
};

struct ApiServerOptions {
  WallClock now;
  std::uint64_t seed = 0;  // of uids and generated names; 0 = from the system
  TokenBook tokens;
  std::string log_folder;     // LOG_FOLDER/POD_UID/CONTAINER.log, written by the node agent; empty: there are no logs
  std::string backup_folder;  // for POST /berth/v1alpha1/backup (backups.h); empty: there are none
  int in_flight_per_user_max = 400;
  int watches_per_user_max = 2'000;
};

class ApiServer {
 public:
  // Puts what every server begins with (namespaces, roles, priority classes, the default queue) where it is missing.
  static Result<std::unique_ptr<ApiServer>> make(Store& store, ApiServerOptions options);
  // Waits for what was handed to the store. PRE: nobody calls handle() any more; not on the store's threads.
  virtual ~ApiServer() = default;
  virtual void handle(HttpRequest request, std::shared_ptr<Responder> responder) = 0;
  // For the process's own parts: as this user, without signing in.
  virtual void handle_as(const User& user, HttpRequest request, std::shared_ptr<Responder> responder) = 0;
};

}  // namespace berth
