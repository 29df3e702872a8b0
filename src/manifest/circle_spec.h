// What the spec of a TrustCircle object asks, read once: for the server's door, the scheduler and the linter.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/time.h"
#include "manifest/queue_spec.h"
#include "manifest/value.h"
#include "model/circle.h"

namespace berth {

inline constexpr std::size_t kQueuesInCircleMax = 1'000;
// How long those who share a GPU have to part, where a circle does not say.
inline constexpr Duration kPartWithin = seconds(600);

struct CircleSpec {
  std::vector<std::string> queues = {};  // ascending, each once
  Duration within = kPartWithin;
  Apart apart = {};  // from strangers; of a circle without queues, of all tenants

  friend bool operator==(const CircleSpec&, const CircleSpec&) = default;
};

struct CircleSpecReading {
  CircleSpec spec;  // without what is wrong
  std::vector<SpecMistake> mistakes;
};

// What is wrong with the name of a queue, as reasons name it; empty: nothing.
std::string why_no_queue(std::string_view name);
CircleSpecReading read_circle_spec(const Value& spec);

// "exclusive: kubernetes.io/hostname": how far strangers are kept away, by the mode of GPUs; what is wrong with it goes to `complain(key, why)`.
Apart read_apart(const Value& apart, const std::function<void(std::string_view, std::string)>& complain);
// The same written down.
Value apart_value(const Apart& apart);

}  // namespace berth
