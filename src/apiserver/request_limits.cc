#include "apiserver/request_limits.h"

#include <string>
#include <utility>

namespace berth {
namespace {

bool is_uncounted(const User& user) { return user.in_group(kMasters) || user.name.starts_with("system:berth-"); }

}  // namespace

Ticket RequestLimits::begin_request(const User& user) { return count(in_flight_, user, in_flight_max_); }

Ticket RequestLimits::begin_stream(const User& user) { return count(streams_, user, watches_max_); }

Ticket RequestLimits::count(const std::shared_ptr<Counter>& counter, const User& user, int max) {
  if (is_uncounted(user)) return counter;
  const std::lock_guard lock(counter->mutex);
  const auto mine = counter->per_user.try_emplace(user.name, 0).first;
  if (mine->second >= max) return nullptr;
  ++mine->second;
  // The entry goes with the last ticket, so that names seen once are not remembered for ever.
  return {static_cast<void*>(counter.get()), [counter, name = user.name](void*) {
            const std::lock_guard unlock(counter->mutex);
            const auto entry = counter->per_user.find(name);
            if (--entry->second == 0) counter->per_user.erase(entry);
          }};
}

}  // namespace berth
