#include "manifest/gpu_uses.h"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <utility>

#include "manifest/json.h"
#include "model/node.h"

namespace berth {
namespace {

constexpr std::int64_t kScrubsMax = std::int64_t{1} << 52;  // that every reader of JSON knows exactly
constexpr std::size_t kFailedMax = 1'000;

std::optional<std::int64_t> scrub_in(const Value& each, std::int64_t least) {
  const Value& scrub = each["scrub"];
  if (scrub.is_null() && least == 0) return 0;
  if (!scrub.is_integer() || scrub.integer() < 1 || scrub.integer() > kScrubsMax) return std::nullopt;
  return scrub.integer();
}

std::optional<GpuUse> read(const Value& each, const GpuUse*) {
  const auto scrub = scrub_in(each, 0);
  if (!each.is_map() || !scrub || !each["by"].is_list() || each["by"].items().empty()) return std::nullopt;
  if (!each["withdrawn"].is_null() && (!each["withdrawn"].truth() || *scrub == 0)) return std::nullopt;
  GpuUse use{.tenants = {}, .scrub = *scrub, .withdrawn = each["withdrawn"].truth()};
  for (const Value& tenant : each["by"].items()) {
    if (tenant.text().empty()) return std::nullopt;
    use.tenants.emplace_back(tenant.text());
  }
  std::ranges::sort(use.tenants);
  use.tenants.erase(std::ranges::unique(use.tenants).begin(), use.tenants.end());
  return use;
}

std::optional<GpuScrub> read(const Value& each, const GpuScrub*) {
  const auto scrub = scrub_in(each, 1);
  const Value& failed = each["failed"];
  if (!each.is_map() || !scrub || !(failed.is_null() || failed.is_text())) return std::nullopt;
  return GpuScrub{*scrub, std::string(failed.text().substr(0, kFailedMax))};
}

// Nothing: it is none.
template <class Each>
std::optional<std::map<int, Each>> read_all(std::string_view text) {
  std::map<int, Each> all;
  if (text.empty()) return all;
  const auto value = parse_json(text);
  if (!value || !value->is_map()) return std::nullopt;
  for (const Value::Member& member : value->members()) {
    const auto gpu = parse_integer(member.key, 0, kGpusPerNodeMax - 1);
    auto each = read(member.value, static_cast<const Each*>(nullptr));
    if (!gpu || !each || !all.emplace(static_cast<int>(*gpu), *std::move(each)).second) return std::nullopt;
  }
  return all;
}

}  // namespace

GpuState GpuRecords::state_of(int gpu) const {
  const auto use = uses.find(gpu);
  if (use == uses.end()) return GpuState::kClean;
  const auto answer = scrubs.find(gpu);
  if (!use->second.is_asked_for() || answer == scrubs.end() || answer->second.scrub != use->second.scrub)
    return GpuState::kDirty;
  return answer->second.failed.empty() ? GpuState::kClean : GpuState::kQuarantined;
}

std::string GpuRecords::why(int gpu) const {
  return state_of(gpu) == GpuState::kQuarantined ? scrubs.at(gpu).failed : "";
}

GpuRecords read_gpu_records(const Value& node) {
  const Value& annotations = node["metadata"]["annotations"];
  GpuRecords records;
  const auto complain = [&](std::string_view annotation, const char* what) {
    records.problem +=
        (records.problem.empty() ? "annotation " : "; annotation ") + std::string(annotation) + " " + what;
  };
  if (auto uses = read_all<GpuUse>(annotations[kGpusUsedAnnotation].text())) {
    records.uses = *std::move(uses);
  } else {
    complain(kGpusUsedAnnotation,
             "is not as a scheduler writes it; take it away when nothing is left on the node's GPUs");
  }
  if (auto scrubs = read_all<GpuScrub>(annotations[kGpusScrubbedAnnotation].text())) {
    records.scrubs = *std::move(scrubs);
  } else {
    complain(kGpusScrubbedAnnotation,
             "is not as a node's part writes it; take it away, and what it said is scrubbed anew");
  }
  return records;
}

std::string to_text(const GpuUses& uses) {
  Value all = Value::map();
  for (const auto& [gpu, use] : uses) {
    Value each = Value::map();
    Value& by = each.set("by", Value::list());
    for (const std::string& tenant : use.tenants) by.push_back(tenant);
    if (use.scrub > 0) each.set("scrub", use.scrub);
    if (use.withdrawn) each.set("withdrawn", true);
    all.set(std::to_string(gpu), std::move(each));
  }
  return to_json(all);
}

std::string to_text(const GpuScrubs& scrubs) {
  Value all = Value::map();
  for (const auto& [gpu, answer] : scrubs) {
    Value each = Value::map_of({{"scrub", answer.scrub}});
    if (!answer.failed.empty()) each.set("failed", answer.failed);
    all.set(std::to_string(gpu), std::move(each));
  }
  return to_json(all);
}

}  // namespace berth
