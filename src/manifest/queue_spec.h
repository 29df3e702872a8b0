// What the spec of a Queue object asks, read once: for the server's door, the scheduler and the linter.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/time.h"
#include "base/wide.h"
#include "manifest/value.h"
#include "manifest/window_times.h"
#include "model/amount.h"
#include "model/quantity.h"
#include "model/queue.h"
#include "model/quota.h"

namespace berth {

// Of one resource on nodes of a flavor; flavors have names here, and the engine numbers them.
struct FlavorAmount {
  std::string flavor;  // in small letters: names of flavors differ in more than case
  Resource resource = Resource::kGpu;
  std::int64_t amount = 0;   // as model/amount.h counts it; memory is rounded up to MiB
  std::string profile = {};  // of slices: as models of the catalogue call it

  friend bool operator==(const FlavorAmount&, const FlavorAmount&) = default;
};

// Whole domains that a floor comes in, with the flavor's name.
struct CellSpec {
  std::string flavor;
  std::string level;
  std::int64_t count = 0;

  friend auto operator<=>(const CellSpec&, const CellSpec&) = default;
};

// Whether anything of it starts.
enum class QueueStop : std::uint8_t {
  kNone,
  kHold,   // nothing does; what runs goes on
  kDrain,  // what comes from now on does not
};
inline constexpr std::string_view kQueueStopNames[] = {"none", "hold", "drain"};

// Other amounts at some hours. The texts are as they were written.
struct WindowSpec {
  std::string days{"daily"}, from, to, zone{WindowTimes::kUtc};
  WindowTimes times = {};
  std::vector<FlavorAmount> guarantee = {}, limit = {}, borrowing_limit = {}, lending_limit = {};
  std::optional<std::int64_t> weight_milli = {};

  friend bool operator==(const WindowSpec&, const WindowSpec&) = default;
};

// GPU time beside a budget. INVARIANT: it ends at a whole second, of one queue no two at the same one.
struct GrantSpec {
  std::int64_t gpu_us = 0;
  Time until;

  friend bool operator==(const GrantSpec&, const GrantSpec&) = default;
};

struct QueueSpec {
  std::string parent = {};  // empty: at the top
  std::optional<Order> order =
      {};  // none: it shares its parent's line, or has amounts and an order of its own by default
  QueueStop stop = QueueStop::kNone;
  std::vector<FlavorAmount> guarantee = {}, limit = {}, borrowing_limit = {}, lending_limit = {}, user_limit = {};
  std::vector<CellSpec> cells = {};  // in order; each of a flavor of which there is a guarantee
  Quota policies = {};               // without amounts and cells
  std::vector<WindowSpec> windows = {};
  std::vector<GrantSpec> grants = {};  // INVARIANT: only beside a budget

  bool has_amounts() const {
    return !guarantee.empty() || !limit.empty() || !borrowing_limit.empty() || !lending_limit.empty() ||
           !user_limit.empty() || !windows.empty();
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

// "h100", "h100.cpu" or "h100.mig-3g.40gb": flavor and resource; GPUs where none is named. Of slices that no model can be cut into
// the profile is as it was written.
FlavorAmount flavor_amount_named(std::string_view key);
// The inverse.
std::string name_of(const FlavorAmount& amount);
// "0.5", "100": GPU-hours as people write them, to a thousandth, rounded up.
std::string format_gpu_hours(Wide gpu_us);
// The inverse, of a quantity; nothing: it is none, or too large.
Parsed<std::int64_t> parse_gpu_hours(std::string_view text);
// "24", "500m", "1Ti": the amount in the units of its resource; memory is rounded up to MiB.
std::string format_amount(Resource resource, std::int64_t amount);

}  // namespace berth
