#include "sim/scenario_amount.h"

#include <algorithm>
#include <string>

#include "base/wording.h"
#include "model/gpu.h"
#include "model/quota.h"

namespace berth {

std::optional<ScenarioAmount> read_scenario_amount(const ScenarioLine& line, const ScenarioWord& word,
                                                   const ScenarioNames& names, std::string_view part) {
  ScenarioAmount made;
  if (const std::size_t colon = part.find(':'); colon != std::string_view::npos) {
    std::string_view flavor = part.substr(0, colon);
    if (const std::size_t dot = flavor.rfind('.'); dot != std::string_view::npos) {
      const std::string_view resource = flavor.substr(dot + 1);
      if (resource == name_of(Resource::kCpu)) made.resource = Resource::kCpu;
      if (resource == name_of(Resource::kMemory)) made.resource = Resource::kMemory;
      if (made.resource != Resource::kGpu) flavor = flavor.substr(0, dot);
    }
    made.flavor = names.flavor(line, word, std::string(flavor));
    if (!made.flavor) return std::nullopt;
    part.remove_prefix(colon + 1);
  }
  constexpr std::int64_t kMib = 1 << 20;
  const bool memory = made.resource == Resource::kMemory;
  const Parsed<std::int64_t> amount = memory ? parse_bytes(part) : parse_milli(part);
  if (!amount) {
    line.complain(word, amount.error());
    return std::nullopt;
  }
  made.amount = memory ? *amount / kMib + (*amount % kMib > 0 ? 1 : 0) : *amount;
  if (made.amount > kAmountMax) {
    line.complain(word, quote(part) + " is more than any fleet has; write less");
    return std::nullopt;
  }
  return made;
}

AmountList read_quota_amounts(const ScenarioLine& line, const ScenarioWord& word, const ScenarioNames& names,
                              bool may_be_a_sum) {
  AmountList amounts;
  for (const std::string& part : line.list(word)) {
    const auto read = read_scenario_amount(line, word, names, part);
    if (!read) continue;
    const bool of_several = !read->flavor && names.flavors.size() != 1;
    if (of_several && (names.flavors.size() == 0 || !may_be_a_sum)) {
      const std::string& key = word.key;
      line.complain(word, names.flavors.size() == 0
                              ? "no flavor is declared yet; write flavor lines above"
                              : key + ": there are several flavors, and each has its own " + key + "; write " +
                                    names.flavors[0] + ":" + part + ", or " + names.flavors[0] + ":" + part + "," +
                                    names.flavors[1] + ":" + part);
      continue;
    }
    const Dim dim = of_several ? kGpusOfAllFlavors : Dim(read->flavor.value_or(FlavorId(0)), read->resource);
    const auto place = std::lower_bound(amounts.begin(), amounts.end(), dim,
                                        [](const Amount& each, Dim value) { return each.dim < value; });
    if (place != amounts.end() && place->dim == dim) {
      line.complain(word, quote(part) + ": this is given twice; write it once");
      continue;
    }
    amounts.insert(place, {dim, read->amount});
  }
  return amounts;
}

std::optional<std::int64_t> gpu_time(const ScenarioLine& line, const ScenarioWord& word, std::string_view text) {
  const Parsed<std::int64_t> ms = parse_duration_ms(text);
  if (ms && *ms <= kGpuTimeMax / kMilliPerGpu) return *ms * kMilliPerGpu;
  line.complain(word, ms ? quote(text) + " is out of range; write up to 1000000000h" : ms.error());
  return std::nullopt;
}

std::string format_gpu_time(std::int64_t gpu_us) {
  const std::int64_t ms = gpu_us / kMilliPerGpu;
  constexpr std::int64_t kHourMs = 3'600'000;
  if (ms < kHourMs) return format_duration_ms(ms);
  return std::to_string(ms / kHourMs) + "h" + (ms % kHourMs == 0 ? "" : format_duration_ms(ms % kHourMs));
}

}  // namespace berth
