#include "fairness/standing.h"

namespace berth {

Standing standing_of(const State& state, QueueId line, UserId user, const PendingKey& key) {
  Standing standing{.lower_first = key.lower_first, .held = {}, .key = key};
  if (is_fair_to_users(state, line)) standing.held = share_of_user(state.quotas(), state.flavors(), line, user);
  return standing;
}

}  // namespace berth
