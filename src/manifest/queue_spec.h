// What the spec of a Queue object asks, read once: for the server's door, the scheduler and the linter.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "manifest/value.h"
#include "model/amount.h"
#include "model/queue.h"
#include "model/quota.h"

namespace berth {

// Of one resource on nodes of a flavor; flavors have names here, and the engine numbers them.
struct FlavorAmount {
  std::string flavor;  // in small letters: names of flavors differ in more than case
  Resource resource = Resource::kGpu;
  std::int64_t amount = 0;  // as model/amount.h counts it; memory is rounded up to MiB

  friend bool operator==(const FlavorAmount&, const FlavorAmount&) = default;
};

struct QueueSpec {
  std::string parent = {};  // empty: at the top
  std::optional<Order> order =
      {};  // none: it shares its parent's line, or has amounts and an order of its own by default
  bool hold = false;
  std::vector<FlavorAmount> guarantee = {}, limit = {}, borrowing_limit = {}, lending_limit = {};
  Quota policies = {};  // without amounts

  bool has_amounts() const {
    return !guarantee.empty() || !limit.empty() || !borrowing_limit.empty() || !lending_limit.empty();
  }
  friend bool operator==(const QueueSpec&, const QueueSpec&) = default;
};

struct SpecMistake {
  std::string field;  // "spec.guarantee[h100]"
  Value value;
  std::string text;  // what is wrong with it, and what to write instead
};

struct QueueSpecReading {
  QueueSpec spec;  // without what is wrong
  std::vector<SpecMistake> mistakes;
};

QueueSpecReading read_queue_spec(const Value& spec);

// "h100" or "h100.cpu": flavor and resource; GPUs where none is named.
FlavorAmount flavor_amount_named(std::string_view key);
// The inverse.
std::string name_of(const FlavorAmount& amount);
// "24", "500m", "1Ti": the amount in the units of its resource; memory is rounded up to MiB.
std::string format_amount(Resource resource, std::int64_t amount);

}  // namespace berth
