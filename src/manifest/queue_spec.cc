#include "manifest/queue_spec.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "base/wording.h"
#include "model/quantity.h"

namespace berth {
namespace {

constexpr std::int64_t kMib = 1 << 20;

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
    spec.hold = spec_["hold"].truth();
    if (const Value* const order = given("order")) {
      spec.order = find_order(order->text());
      if (!spec.order) complain("spec.order", *order, one_of(kOrderNames));
    }
    read_amounts("guarantee", spec.guarantee);
    read_amounts("limit", spec.limit);
    read_amounts("borrowingLimit", spec.borrowing_limit);
    read_amounts("lendingLimit", spec.lending_limit);
    read_policies(spec.policies);
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

  void read_amounts(const std::string& field, std::vector<FlavorAmount>& into) {
    for (const Value::Member& each : spec_[field].members()) {
      const std::string place = "spec." + field + "[" + each.key + "]";
      FlavorAmount made = flavor_amount_named(each.key);
      const bool memory = made.resource == Resource::kMemory;
      const Parsed<std::int64_t> amount = memory ? parse_bytes(text_of(each.value)) : parse_milli(text_of(each.value));
      if (!is_flavor_name(made.flavor)) {
        complain(place, each.value, "write FLAVOR or FLAVOR.RESOURCE (h100, h100.cpu, h100.memory) and an amount");
        continue;
      }
      if (!amount) {
        complain(place, each.value, amount.error());
        continue;
      }
      made.amount = memory ? *amount / kMib + (*amount % kMib > 0 ? 1 : 0) : *amount;
      const bool twice = std::ranges::any_of(into, [&](const FlavorAmount& other) {
        return other.flavor == made.flavor && other.resource == made.resource;
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
      const Parsed<std::int64_t> milli = parse_milli(text_of(*weight));
      if (milli && *milli >= 1 && *milli <= kWeightMilliMax) {
        quota.weight_milli = *milli;
      } else {
        complain("spec.weight", *weight, "write a weight of 0.001 to 1000, such as 2 or 500m");
      }
    }
    if (const Value* const reclaim = given("reclaim")) {
      const auto known = find_fair_reclaim(reclaim->text());
      if (!known) complain("spec.reclaim", *reclaim, one_of(kFairReclaimNames));
      quota.fair_reclaim = known.value_or(quota.fair_reclaim);
    }
    if (const Value* const preempt = given("preempt")) {
      const auto known = find_preempt(preempt->text());
      if (!known) complain("spec.preempt", *preempt, one_of(kPreemptNames));
      quota.preempt = known.value_or(quota.preempt);
    }
    read_duration("reclaimWithin", quota.reclaim_within);
    read_duration("patience", quota.patience);
    read_duration("minRuntime", quota.min_runtime);
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
  return amount.resource == Resource::kGpu ? amount.flavor
                                           : amount.flavor + "." + std::string(name_of(amount.resource));
}

std::string format_amount(Resource resource, std::int64_t amount) {
  return resource == Resource::kMemory ? format_bytes(amount * kMib) : format_milli(amount);
}

}  // namespace berth
