#include "sim/scenario_amount.h"

#include <algorithm>
#include <string>
#include <utility>

#include "base/time.h"
#include "base/wording.h"
#include "model/gpu.h"
#include "model/gpu_hardware.h"
#include "model/quota.h"

namespace berth {
namespace {

constexpr std::string_view kMark = "mig-";

// "h100" of "h100.mig-3g.40gb", where it ends so; what is behind the dot is the profile.
struct FlavorAndProfile {
  std::string flavor;
  std::string profile;
};

std::optional<FlavorAndProfile> parted(std::string_view text, const ScenarioNames& names) {
  for (std::size_t dot = text.find('.'); dot != std::string_view::npos; dot = text.find('.', dot + 1)) {
    std::string flavor(text.substr(0, dot));
    if (!names.flavors.contains(flavor)) continue;
    std::string_view profile = text.substr(dot + 1);
    if (profile.starts_with(kMark))
      return FlavorAndProfile{std::move(flavor), std::string(profile.substr(kMark.size()))};
  }
  return std::nullopt;
}

std::string profiles_of(const Flavor& flavor) {
  const GpuHardware* const hardware = hardware_of(flavor);
  std::string text;
  if (hardware == nullptr) return text;
  for (const MigProfile& each : hardware->mig_profiles) text += (text.empty() ? "" : ", ") + std::string(each.name);
  return text;
}

// Its shape; nothing, and a complaint, if GPUs of the flavor have none of that name.
std::optional<std::size_t> shape_of(const ScenarioLine& line, const ScenarioWord& word, const ScenarioNames& names,
                                    FlavorId flavor, const std::string& profile) {
  const Flavor of{.name = names.flavors[flavor.index()], .model = names.gpu_models[flavor.index()]};
  if (const auto slice = find_slice(of, profile)) return slice->shape;
  const std::string known = profiles_of(of);
  line.complain(word, "GPUs of " + of.name + " cannot be cut into " + quote(profile) +
                          (known.empty() ? "; name a flavor with a model that can" : "; they have " + known));
  return std::nullopt;
}

// What is no flavor as it stands: it is said what of it is wrong.
std::optional<FlavorId> flavor_of(const ScenarioLine& line, const ScenarioWord& word, const ScenarioNames& names,
                                  std::string_view text) {
  if (names.flavors.contains(std::string(text))) return names.flavor(line, word, std::string(text));
  if (const std::size_t slices = text.find("." + std::string(kMark)); slices != std::string_view::npos) {
    return names.flavor(line, word, std::string(text.substr(0, slices)));
  }
  const std::size_t dot = text.rfind('.');
  const std::string flavor(text.substr(0, dot));
  if (dot == std::string_view::npos || !names.flavors.contains(flavor)) {
    return names.flavor(line, word, std::string(text));
  }
  line.complain(word, "flavor " + flavor + " has no " + quote(text.substr(dot + 1)) + "; write " + flavor +
                          " for GPUs, " + flavor + ".cpu, " + flavor + ".memory or " + flavor + ".mig-1g.10gb");
  return std::nullopt;
}

Parsed<std::int64_t> parse_amount(Resource resource, std::string_view text) {
  if (resource == Resource::kSlice) return parse_integer(text, 0, kAmountMax);
  return resource == Resource::kMemory ? parse_bytes(text) : parse_milli(text);
}

}  // namespace

std::optional<ScenarioAmount> read_scenario_amount(const ScenarioLine& line, const ScenarioWord& word,
                                                   const ScenarioNames& names, std::string_view part) {
  ScenarioAmount made;
  if (const std::size_t colon = part.find(':'); colon != std::string_view::npos) {
    std::string_view flavor = part.substr(0, colon);
    const auto slices = parted(flavor, names);
    if (slices) {
      made.resource = Resource::kSlice;
      flavor = slices->flavor;
    } else if (const std::size_t dot = flavor.rfind('.'); dot != std::string_view::npos) {
      const std::string_view resource = flavor.substr(dot + 1);
      if (resource == name_of(Resource::kCpu)) made.resource = Resource::kCpu;
      if (resource == name_of(Resource::kMemory)) made.resource = Resource::kMemory;
      if (made.resource != Resource::kGpu) flavor = flavor.substr(0, dot);
    }
    made.flavor = flavor_of(line, word, names, flavor);
    if (!made.flavor) return std::nullopt;
    if (slices) {
      const auto shape = shape_of(line, word, names, *made.flavor, slices->profile);
      if (!shape) return std::nullopt;
      made.shape = *shape;
    }
    part.remove_prefix(colon + 1);
  }
  constexpr std::int64_t kMib = 1 << 20;
  const bool memory = made.resource == Resource::kMemory;
  const Parsed<std::int64_t> amount = parse_amount(made.resource, part);
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
    const bool of_the_only = !of_several && !read->flavor;
    const Dim dim = of_several ? kGpusOfAllFlavors : of_the_only ? Dim(FlavorId(0), read->resource) : read->dim();
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

std::vector<FloorCells> read_cells(const ScenarioLine& line, const ScenarioWord& word, const ScenarioNames& names) {
  std::vector<FloorCells> cells;
  for (const std::string& part : line.list(word)) {
    const std::size_t last = part.rfind(':');
    const std::size_t first = part.find(':');
    const auto count = last == std::string::npos
                           ? Parsed<std::int64_t>(std::unexpected(std::string()))
                           : parse_integer(std::string_view(part).substr(last + 1), 1, kCellCountMax);
    if (!count || last == 0) {
      line.complain(word, word.key + ": " + quote(part) +
                              " are no whole domains; write a level of nodes and how many, such as rack:2, or "
                              "h100:rack:2 of one flavor");
      continue;
    }
    if (first == last && names.flavors.size() != 1) {
      line.complain(word, names.flavors.size() == 0
                              ? "no flavor is declared yet; write flavor lines above"
                              : word.key + ": there are several flavors; write " + names.flavors[0] + ":" + part);
      continue;
    }
    const auto flavor = first == last ? std::optional(FlavorId(0)) : names.flavor(line, word, part.substr(0, first));
    const std::string level = first == last ? part.substr(0, first) : part.substr(first + 1, last - first - 1);
    if (!flavor) continue;
    const bool twice = std::ranges::any_of(
        cells, [&](const FloorCells& each) { return each.flavor == *flavor && each.level == level; });
    if (level.empty() || level.contains(':')) {
      line.complain(word, word.key + ": " + quote(level) + " is no level; write a label of nodes, or node");
    } else if (twice) {
      line.complain(word, quote(part) + ": this is given twice; write it once");
    } else {
      cells.push_back({*flavor, level, *count});
    }
  }
  if (cells.size() > kCellsMax) line.complain(word, "cells: more than 64 kinds of domains; take fewer");
  std::ranges::sort(cells);
  return cells;
}

std::optional<std::int64_t> gpu_time(const ScenarioLine& line, const ScenarioWord& word, std::string_view text) {
  const Parsed<std::int64_t> ms = parse_duration_ms(text);
  if (ms && *ms <= kGpuTimeMax / kMilliPerGpu) return *ms * kMilliPerGpu;
  line.complain(word, ms ? quote(text) + " is out of range; write up to 1000000000h" : ms.error());
  return std::nullopt;
}

std::string format_gpu_time(std::int64_t gpu_us) {
  const std::int64_t ms = gpu_us / kMilliPerGpu;
  if (ms < kHourMs) return format_duration_ms(ms);
  return std::to_string(ms / kHourMs) + "h" + (ms % kHourMs == 0 ? "" : format_duration_ms(ms % kHourMs));
}

}  // namespace berth
