// Whether the server is well, for load balancers and people: /healthz, /livez and /readyz, all checks or one
// ("/readyz/store"), as Kubernetes words them ("?verbose", "?exclude=NAME").
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

#include "store/store.h"
#include "web_server/http.h"

namespace berth {

bool is_health_path(std::string_view path);

struct HealthReport {
  int code = 200;
  std::string text;
};

// INVARIANT: whoever asks, and however often, the store is looked at once a second at the most.
class Health {
 public:
  // PRE: the store has run all its work before this ends.
  explicit Health(Store& store) : store_(store) {}

  // PRE: is_health_path(request.path).
  HealthReport report(const HttpRequest& request) const;

 private:
  void look_at_store() const;

  Store& store_;
  mutable std::atomic<std::int64_t> next_look_ms_ = 0;
  mutable std::atomic<bool> store_failed_ = false;
};

// The text of a report. `failed` names the check that failed, if one did.
HealthReport health_report(const HttpRequest& request, std::string_view failed);

}  // namespace berth
