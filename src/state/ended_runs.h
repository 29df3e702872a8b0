// How long work ran that has ended, for loans (rule 25): of each kind the last runs. A kind is who submitted it, to which line, and
// of which size: sizes of one kind are within a factor of two of each other.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <tuple>
#include <vector>

#include "base/time.h"
#include "model/ids.h"

namespace berth {

struct RunKind {
  QueueId queue;
  UserId user;
  std::int64_t gpu_milli = 0;
};

class EndedRuns {
 public:
  // Of fewer nothing is foretold; and of each kind the last so many are remembered.
  static constexpr std::size_t kEndedMin = 20;
  static constexpr std::size_t kRememberedMax = 200;

  void add(const RunKind& kind, Duration took);
  // The shortest length that so many of a hundred of its kind did not exceed; nothing: too few have ended. PRE: 1 <= percent <= 100.
  std::optional<Duration> foretell(const RunKind& kind, std::int32_t percent) const;
  // By then half of those had ended that ran longer than so; nothing, too: none did.
  std::optional<Duration> half_of_those_beyond(const RunKind& kind, Duration ran) const;

 private:
  struct Known {
    std::deque<Duration> as_they_ended;
    std::vector<Duration> ascending;
  };
  using Key = std::tuple<QueueId, UserId, int>;

  static Key key_of(const RunKind& kind);

  std::map<Key, Known> known_;
};

}  // namespace berth
