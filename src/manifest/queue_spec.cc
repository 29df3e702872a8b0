#include "manifest/queue_spec.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "base/wording.h"
#include "manifest/labels.h"
#include "manifest/slice_resources.h"
#include "manifest/timestamp.h"
#include "model/calendar.h"
#include "model/gpu_hardware.h"

namespace berth {
namespace {

constexpr std::int64_t kBytesPerMib = 1 << 20;

std::string lowered(std::string_view text) {
  std::string made(text);
  for (char& c : made) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  return made;
}

bool is_flavor_name(std::string_view name) {
  return !name.empty() && name.size() <= 253 && std::ranges::all_of(name, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '.';
  });
}

// Where the flavor is called as a model is, what can be had of that.
std::optional<std::string> profiles_instead(const std::string& flavor) {
  const auto hardware = std::ranges::find_if(
      gpu_hardware(), [&](const GpuHardware& each) { return each.mig != nullptr && lowered(each.model) == flavor; });
  if (hardware == gpu_hardware().end()) return std::nullopt;
  std::string text = "no GPU model that is known can be cut into it; of " + std::string(hardware->model) + " there are";
  for (const MigProfile& each : hardware->mig_profiles) {
    text += (&each == &hardware->mig_profiles.front() ? " " : ", ") + std::string(each.name);
  }
  return text;
}

std::string text_of(const Value& value) {
  return value.is_integer() ? std::to_string(value.integer()) : std::string(value.text());
}

template <std::size_t N>
std::string one_of(const std::string_view (&names)[N]) {
  std::string text = "write ";
  for (std::size_t i = 0; i < N; ++i) text += (i == 0 ? "" : i + 1 == N ? " or " : ", ") + std::string(names[i]);
  return text;
}

class SpecReader {
 public:
  explicit SpecReader(const Value& spec) : spec_(spec) {}

  QueueSpecReading read() {
    QueueSpec& spec = made_.spec;
    spec.parent = spec_["parent"].text();
    if (const Value* const hold = given("hold")) {
      complain("spec.hold", *hold, "hold: true is written stop: hold; leave hold out");
    }
    if (const Value* const stop = given("stop")) read_name("spec.stop", *stop, kQueueStopNames, spec.stop);
    if (const Value* const order = given("order")) {
      spec.order = find_order(order->text());
      if (!spec.order) complain("spec.order", *order, one_of(kOrderNames));
    }
    read_amounts(spec_, "spec.guarantee", spec.guarantee);
    read_amounts(spec_, "spec.limit", spec.limit);
    read_amounts(spec_, "spec.borrowingLimit", spec.borrowing_limit);
    read_amounts(spec_, "spec.lendingLimit", spec.lending_limit);
    read_amounts(spec_, "spec.userLimit", spec.user_limit);
    read_policies(spec.policies);
    read_dedicated(spec.policies.dedicated);
    read_cells(spec.cells);
    read_windows();
    read_budget();
    return std::move(made_);
  }

 private:
  const Value* given(std::string_view field) const {
    const Value* const value = spec_.find(field);
    return value == nullptr || value->is_null() ? nullptr : value;
  }
  void complain(std::string field, const Value& value, std::string text) {
    made_.mistakes.push_back({std::move(field), value, std::move(text)});
  }

  template <class Enum, std::size_t N>
  void read_name(const std::string& field, const Value& value, const std::string_view (&names)[N], Enum& into) {
    const auto* const known = std::ranges::find(names, value.text());
    if (known == std::end(names)) return complain(field, value, one_of(names));
    into = static_cast<Enum>(known - std::begin(names));
  }

  // `field` is the whole path; its last part is the member's name.
  void read_amounts(const Value& of, const std::string& field, std::vector<FlavorAmount>& into) {
    for (const Value::Member& each : of[field.substr(field.rfind('.') + 1)].members()) {
      const std::string place = field + "[" + each.key + "]";
      FlavorAmount made = flavor_amount_named(each.key);
      const bool memory = made.resource == Resource::kMemory;
      const bool slices = made.resource == Resource::kSlice;
      const Parsed<std::int64_t> amount = memory   ? parse_bytes(text_of(each.value))
                                          : slices ? parse_integer(text_of(each.value), 0, kAmountMax)
                                                   : parse_milli(text_of(each.value));
      if (!is_flavor_name(made.flavor)) {
        complain(place, each.value,
                 "write FLAVOR or FLAVOR.RESOURCE (h100, h100.cpu, h100.memory, h100.mig-3g.40gb) and an amount");
        continue;
      }
      if (const auto profile = slices ? profile_of(slice_resource(made.profile)) : made.profile; !profile) {
        complain(place, made.profile, profiles_instead(made.flavor).value_or(profile.error()));
        continue;
      }
      if (slices && field.ends_with("lendingLimit")) {
        complain(place, each.value, "a floor in slices is lent whole; leave it out, or keep GPUs");
        continue;
      }
      if (!amount) {
        complain(place, each.value, amount.error());
        continue;
      }
      made.amount = memory ? *amount / kBytesPerMib + (*amount % kBytesPerMib > 0 ? 1 : 0) : *amount;
      const bool twice = std::ranges::any_of(into, [&](const FlavorAmount& other) {
        return other.flavor == made.flavor && other.resource == made.resource && other.profile == made.profile;
      });
      if (twice) {
        complain(place, each.value, "this is given twice; write it once");
      } else if (made.amount > kAmountMax) {
        complain(place, each.value, "is more than any fleet has; write less");
      } else {
        into.push_back(std::move(made));
      }
    }
  }

  void read_policies(Quota& quota) {
    if (const Value* const weight = given("weight")) {
      quota.weight_milli = read_weight("spec.weight", *weight).value_or(quota.weight_milli);
    }
    if (const Value* const reclaim = given("reclaim")) {
      read_name("spec.reclaim", *reclaim, kFairReclaimNames, quota.fair_reclaim);
    }
    if (const Value* const preempt = given("preempt")) {
      read_name("spec.preempt", *preempt, kPreemptNames, quota.preempt);
    }
    if (const Value* const users = given("users")) read_name("spec.users", *users, kUserOrderNames, quota.users);
    if (const Value* const backfill = given("backfill")) {
      read_name("spec.backfill", *backfill, kBackfillNames, quota.backfill);
    }
    if (const Value* const loans = given("loans")) {
      const auto percent = find_loans(loans->text());
      if (!percent) complain("spec.loans", *loans, std::string(kLoansForm));
      quota.loans_percent = percent.value_or(quota.loans_percent);
    }
    if (const Value* const foresight = given("foresight")) {
      quota.foresight = foresight->text() == "true";
      if (!quota.foresight && foresight->text() != "false")
        complain("spec.foresight", *foresight, "write true or false");
    }
    read_over_run(quota);
    read_duration("reclaimWithin", quota.reclaim_within);
    read_duration("patience", quota.patience);
    read_duration("minRuntime", quota.min_runtime);
    read_duration("cooldown", quota.cooldown);
    read_duration("idleAfter", quota.idle_after);
    read_duration("halfLife", quota.half_life);
    if (quota.half_life.ms != 0 && (quota.half_life < kHalfLifeMin || quota.half_life > kHalfLifeMax)) {
      complain("spec.halfLife", *given("halfLife"),
               "write one minute to ten years, such as 7d; 0s: the past does not count");
      quota.half_life = {};
    }
  }

  void read_dedicated(std::vector<Label>& into) {
    const Value& nodes = spec_["dedicated"];
    if (nodes.items().size() > kDedicatedMax) {
      return complain("spec.dedicated", Value(static_cast<std::int64_t>(nodes.items().size())),
                      "are more than 64 labels; give these nodes one in common");
    }
    for (std::size_t i = 0; i < nodes.items().size(); ++i) {
      const Value& each = nodes.items()[i];
      const std::string place = "spec.dedicated[" + std::to_string(i) + "]";
      const Label label{std::string(each["key"].text()), std::string(each["value"].text())};
      if (label.key.empty()) {
        complain(place + ".key", each["key"], "write a label of nodes, such as topology.kubernetes.io/rack, or node");
      } else if (std::ranges::find(into, label) != into.end()) {
        complain(place, each["value"], "stands here twice; write it once");
      } else {
        into.push_back(label);
      }
    }
    std::ranges::sort(into);
  }

  void read_cells(std::vector<CellSpec>& into) {
    const Value& cells = spec_["cells"];
    if (cells.items().size() > kCellsMax) {
      return complain("spec.cells", Value(static_cast<std::int64_t>(cells.items().size())),
                      "are more than 64 kinds of domains; take fewer");
    }
    for (std::size_t i = 0; i < cells.items().size(); ++i) {
      const Value& each = cells.items()[i];
      const std::string place = "spec.cells[" + std::to_string(i) + "]";
      const CellSpec cell{lowered(each["flavor"].text()), std::string(each["level"].text()), each["count"].integer(0)};
      const bool guaranteed = std::ranges::any_of(made_.spec.guarantee, [&](const FlavorAmount& amount) {
        return amount.flavor == cell.flavor && amount.resource == Resource::kGpu && amount.amount > 0;
      });
      const bool twice = std::ranges::any_of(
          into, [&](const CellSpec& other) { return other.flavor == cell.flavor && other.level == cell.level; });
      if (!is_flavor_name(cell.flavor)) {
        complain(place + ".flavor", each["flavor"], "write a flavor, such as h100");
      } else if (cell.level.empty()) {
        complain(place + ".level", each["level"],
                 "write a label of nodes, such as topology.kubernetes.io/rack, or node");
      } else if (cell.count < 1 || cell.count > kCellCountMax) {
        complain(place + ".count", each["count"], "write how many of these domains, 1 to 1,000,000");
      } else if (!guaranteed) {
        complain(place + ".flavor", each["flavor"],
                 "is of no guarantee, and a floor comes in whole domains; write the GPUs of these under guarantee");
      } else if (twice) {
        complain(place + ".level", each["level"], "stands here twice; write it once");
      } else {
        into.push_back(cell);
      }
    }
    std::ranges::sort(into);
  }

  std::optional<std::int64_t> read_weight(std::string field, const Value& weight) {
    const Parsed<std::int64_t> milli = parse_milli(text_of(weight));
    if (milli && *milli >= 1 && *milli <= kWeightMilliMax) return *milli;
    complain(std::move(field), weight, "write a weight of 0.001 to 1000, such as 2 or 500m");
    return std::nullopt;
  }

  // ---- the calendar ---------------------------------------------------------------------------------------------------

  void read_over_run(Quota& quota) {
    const Value* const extend = given("extend");
    const Value* const times = given("extensions");
    if (const Value* const over_run = given("overRun"))
      read_name("spec.overRun", *over_run, kOverRunNames, quota.over_run);
    read_duration("extend", quota.extend);
    if (extend != nullptr && quota.extend <= Duration{0})
      complain("spec.extend", *extend, "is no time; write for how long at a time at most, as in 30m");
    if (times != nullptr && (times->integer() < 1 || times->integer() > kExtensionsMax)) {
      complain("spec.extensions", *times,
               "write how often at most in one attempt, 1 to " + std::to_string(kExtensionsMax));
    } else if (times != nullptr) {
      quota.extensions = static_cast<std::int32_t>(times->integer());
    }
    if (quota.over_run == OverRun::kExtend) return;
    for (const auto& [field, value] : {std::pair{"spec.extend", extend}, std::pair{"spec.extensions", times}}) {
      if (value != nullptr) complain(field, *value, "is of a queue that extends limits; write overRun: extend");
    }
  }

  void read_windows() {
    const Value& windows = spec_["windows"];
    if (windows.items().size() > kWindowsMax) {
      return complain("spec.windows", Value(static_cast<std::int64_t>(windows.items().size())),
                      "are more than the 64 windows that there may be in a cluster; take fewer");
    }
    for (std::size_t i = 0; i < windows.items().size(); ++i) {
      read_window("spec.windows[" + std::to_string(i) + "]", windows.items()[i]);
    }
  }

  void read_window(const std::string& place, const Value& window) {
    const std::size_t before = made_.mistakes.size();
    WindowSpec made;
    if (!window["days"].is_null()) made.days = window["days"].text();
    if (!window["zone"].is_null()) made.zone = window["zone"].text();
    made.from = window["from"].text();
    made.to = window["to"].text();
    check_hours(place, window, made);
    read_amounts(window, place + ".guarantee", made.guarantee);
    read_amounts(window, place + ".limit", made.limit);
    read_amounts(window, place + ".borrowingLimit", made.borrowing_limit);
    read_amounts(window, place + ".lendingLimit", made.lending_limit);
    if (!window["weight"].is_null()) made.weight_milli = read_weight(place + ".weight", window["weight"]);
    if (made_.mistakes.size() > before) return;
    const bool has_amounts =
        !made.guarantee.empty() || !made.limit.empty() || !made.borrowing_limit.empty() || !made.lending_limit.empty();
    if (!has_amounts && !made.weight_milli) {
      return complain(place, Value(),
                      "changes nothing; give it guarantee, limit, borrowingLimit, lendingLimit or weight");
    }
    made.times = *WindowTimes::read(made.days, made.from + "-" + made.to, made.zone);
    made_.spec.windows.push_back(std::move(made));
  }

  // Each part by itself, so that all that is wrong is said at once.
  void check_hours(const std::string& place, const Value& window, const WindowSpec& made) {
    constexpr const char* kAlways = "00:00-24:00";
    if (const auto days = WindowTimes::read("daily", kAlways, made.zone); !days) {
      complain(place + ".zone", window["zone"], days.error());
    }
    if (const auto days = WindowTimes::read(made.days, kAlways, WindowTimes::kUtc); !days) {
      complain(place + ".days", window["days"], days.error());
    }
    constexpr const char* kTime = "write a time such as 20:00";
    const bool opens = WindowTimes::read("daily", made.from + "-24:00", WindowTimes::kUtc).has_value();
    const bool closes = made.to == "00:00" || WindowTimes::read("daily", "00:00-" + made.to, WindowTimes::kUtc);
    if (!opens) complain(place + ".from", window["from"], std::string(kTime) + "; a day begins at 00:00");
    if (!closes) complain(place + ".to", window["to"], std::string(kTime) + ", or 24:00 for the end of the day");
    if (!opens || !closes) return;
    if (const auto hours = WindowTimes::read("daily", made.from + "-" + made.to, WindowTimes::kUtc); !hours) {
      complain(place + ".to", window["to"], hours.error());
    }
  }

  // ---- GPU time -------------------------------------------------------------------------------------------------------

  void read_budget() {
    const Value* const budget = given("budget");
    if (budget == nullptr) return;
    if (const auto gpu_us = read_gpu_hours("spec.budget.gpuHours", (*budget)["gpuHours"], 0)) {
      made_.spec.policies.budget_gpu_us = gpu_us;
    }
    if (const Value& end = (*budget)["end"]; !end.is_null()) {
      read_name("spec.budget.end", end, kBudgetEndNames, made_.spec.policies.budget_end);
    }
    const Value& grants = (*budget)["grants"];
    for (std::size_t i = 0; i < grants.items().size(); ++i) {
      read_grant("spec.budget.grants[" + std::to_string(i) + "]", grants.items()[i]);
    }
    if (!made_.spec.policies.budget_gpu_us) made_.spec.grants.clear();
  }

  void read_grant(const std::string& place, const Value& grant) {
    const auto gpu_us = read_gpu_hours(place + ".gpuHours", grant["gpuHours"], 1);
    auto until = parse_timestamp(grant["until"].text());
    if (until) until->ms -= until->ms % 1000;
    if (!until) complain(place + ".until", grant["until"], "write when it is void, such as 2026-12-01T00:00:00Z");
    if (!gpu_us || !until) return;
    if (std::ranges::find(made_.spec.grants, *until, &GrantSpec::until) != made_.spec.grants.end()) {
      return complain(place + ".until", grant["until"], "another grant ends then; write one with the sum of both");
    }
    made_.spec.grants.push_back({*gpu_us, *until});
  }

  std::optional<std::int64_t> read_gpu_hours(std::string field, const Value& value, std::int64_t least) {
    const Parsed<std::int64_t> gpu_us = parse_gpu_hours(text_of(value));
    if (gpu_us && *gpu_us >= least) return *gpu_us;
    complain(std::move(field), value,
             gpu_us ? "nothing is given; write how many GPU-hours, such as 50" : gpu_us.error());
    return std::nullopt;
  }

  void read_duration(const std::string& field, Duration& into) {
    const Value* const value = given(field);
    if (value == nullptr) return;
    const Parsed<std::int64_t> ms = parse_duration_ms(value->text());
    if (!ms || *ms > kTimeMax.ms) {
      complain("spec." + field, *value, ms ? "is longer than anybody can wait" : ms.error());
      return;
    }
    into = Duration{*ms};
  }

  const Value& spec_;
  QueueSpecReading made_;
};

}  // namespace

QueueSpecReading read_queue_spec(const Value& spec) { return SpecReader(spec).read(); }

FlavorAmount flavor_amount_named(std::string_view key) {
  FlavorAmount made;
  constexpr std::string_view kSlices = ".mig-";
  if (const std::size_t dot = key.find(kSlices); dot != std::string_view::npos) {
    const std::string resource = slice_resource(lowered(key.substr(dot + kSlices.size())));
    const Parsed<std::string> known = profile_of(resource);
    return {.flavor = lowered(key.substr(0, dot)),
            .resource = Resource::kSlice,
            .profile = known ? *known : resource.substr(kSliceResourcePrefix.size())};
  }
  for (const Resource resource : {Resource::kCpu, Resource::kMemory}) {
    const std::string suffix = "." + std::string(name_of(resource));
    if (!key.ends_with(suffix)) continue;
    made.resource = resource;
    key.remove_suffix(suffix.size());
    break;
  }
  made.flavor = lowered(key);
  return made;
}

std::string name_of(const FlavorAmount& amount) {
  if (amount.resource == Resource::kSlice) {
    return amount.flavor + ".mig-" + slice_resource(amount.profile).substr(kSliceResourcePrefix.size());
  }
  return amount.resource == Resource::kGpu ? amount.flavor
                                           : amount.flavor + "." + std::string(name_of(amount.resource));
}

namespace {

constexpr std::int64_t kGpuUsInMilliHour = 3'600'000;

}  // namespace

std::string format_gpu_hours(Wide gpu_us) {
  const bool negative = gpu_us < 0;
  const Wide milli = ((negative ? -gpu_us : gpu_us) + (negative ? 0 : kGpuUsInMilliHour - 1)) / kGpuUsInMilliHour;
  return (negative && milli > 0 ? "-" : "") + decimal_of_milli(narrow(milli).value_or(INT64_MAX));
}

Parsed<std::int64_t> parse_gpu_hours(std::string_view text) {
  const Parsed<std::int64_t> milli = parse_milli(text);
  if (!milli) return milli;
  if (*milli > kGpuTimeMax / kGpuUsInMilliHour)
    return std::unexpected("is more than 1,000,000,000 GPU-hours; write less");
  return *milli * kGpuUsInMilliHour;
}

std::string format_amount(Resource resource, std::int64_t amount) {
  if (resource == Resource::kSlice) return std::to_string(amount);
  return resource == Resource::kMemory ? format_bytes(amount * kBytesPerMib) : format_milli(amount);
}

}  // namespace berth
