#include "apiserver/other_views.h"

#include <algorithm>
#include <array>
#include <span>
#include <string>
#include <string_view>
#include <utility>

namespace berth {
namespace {

struct Renamed {
  std::string_view kept, shown;
};
constexpr std::array<Renamed, 7> kOfEvents = {{
    {"involvedObject", "regarding"},
    {"message", "note"},
    {"source", "deprecatedSource"},
    {"firstTimestamp", "deprecatedFirstTimestamp"},
    {"lastTimestamp", "deprecatedLastTimestamp"},
    {"count", "deprecatedCount"},
    {"reportingComponent", "reportingController"},
}};
// Of Kueue's spec and status.
constexpr std::array<Renamed, 3> kOfKueue = {{
    {"cohortName", "cohort"},
    {"parentName", "parent"},
    {"flavorsUsage", "flavorUsage"},
}};
constexpr std::array<Renamed, 1> kWhenCanBorrow = {{{"MayStopSearch", "Borrow"}}};
constexpr std::array<Renamed, 1> kWhenCanPreempt = {{{"MayStopSearch", "Preempt"}}};

enum class Way : unsigned char { kToKept, kToShown };

std::string_view from(const Renamed& each, Way way) { return way == Way::kToKept ? each.shown : each.kept; }
std::string_view to(const Renamed& each, Way way) { return way == Way::kToKept ? each.kept : each.shown; }

void rename_members(Value* object, std::span<const Renamed> names, Way way) {
  if (object == nullptr || !object->is_map()) return;
  for (Value::Member& member : object->edit_members()) {
    const auto found = std::ranges::find(names, member.key, [&](const Renamed& each) { return from(each, way); });
    if (found != names.end()) member.key = std::string(to(*found, way));
  }
}

void rename_value(Value* value, std::span<const Renamed> names, Way way) {
  if (value == nullptr) return;
  const auto found = std::ranges::find(names, value->text(), [&](const Renamed& each) { return from(each, way); });
  if (found != names.end()) *value = Value(to(*found, way));
}

// The older version lists the checks by their names.
void convert_checks(Value& spec, Way way) {
  if (way == Way::kToShown || spec["admissionChecks"].is_null()) return;
  Value checks = Value::list();
  for (const Value& name : spec["admissionChecks"].items()) checks.push_back(Value::map_of({{"name", name}}));
  spec.erase("admissionChecks");
  if (!checks.items().empty())
    spec.set("admissionChecksStrategy", Value::map_of({{"admissionChecks", std::move(checks)}}));
}

// The older version names the class and where it comes from apart.
void convert_class(Value& spec, Way way) {
  constexpr std::string_view kKueueClass = "kueue.x-k8s.io/workloadpriorityclass";
  constexpr std::string_view kPodClass = "scheduling.k8s.io/priorityclass";
  if (way == Way::kToShown) {
    const Value reference = spec["priorityClassRef"];
    if (!spec.erase("priorityClassRef") || reference.is_null()) return;
    spec.set("priorityClassName", reference["name"]);
    spec.set("priorityClassSource", reference["kind"].text() == "PriorityClass" ? kPodClass : kKueueClass);
    return;
  }
  const Value name = spec["priorityClassName"];
  const bool of_pods = spec["priorityClassSource"].text() == kPodClass;
  spec.erase("priorityClassSource");
  if (!spec.erase("priorityClassName") || name.is_empty()) return;
  spec.set("priorityClassRef", Value::map_of({{"group", of_pods ? "scheduling.k8s.io" : "kueue.x-k8s.io"},
                                              {"kind", of_pods ? "PriorityClass" : "WorkloadPriorityClass"},
                                              {"name", name}}));
}

void convert_kueue(const KindInfo& kind, Value& object, Way way) {
  object.set("apiVersion", kind.group + (way == Way::kToKept ? "/v1beta2" : "/v1beta1"));
  Value* const spec = object.find("spec");
  if (kind.plural == "clusterqueues" || kind.plural == "cohorts")
    rename_members(spec, std::span(kOfKueue).first(2), way);
  if (kind.plural == "localqueues") rename_members(object.find("status"), std::span(kOfKueue).last(1), way);
  if (kind.plural == "workloads" && spec != nullptr) convert_class(*spec, way);
  if (kind.plural != "clusterqueues" || spec == nullptr) return;
  convert_checks(*spec, way);
  Value* const fungibility = spec->find("flavorFungibility");
  if (fungibility == nullptr) return;
  rename_value(fungibility->find("whenCanBorrow"), kWhenCanBorrow, way);
  rename_value(fungibility->find("whenCanPreempt"), kWhenCanPreempt, way);
}

void convert(const KindInfo& kind, Value& object, Way way) {
  if (!kind.other_view) return;
  if (kind.plural != "events") return convert_kueue(kind, object, way);
  rename_members(&object, kOfEvents, way);
  object.set("apiVersion", way == Way::kToKept ? "v1" : "events.k8s.io/v1");
}

}  // namespace

std::string key_word(const KindInfo& kind) {
  return kind.plural == "events" && kind.other_view ? kind.plural : kind.qualified();
}

Value as_kept(const KindInfo& kind, Value object) {
  convert(kind, object, Way::kToKept);
  return object;
}

Value as_shown(const KindInfo& kind, Value object) {
  convert(kind, object, Way::kToShown);
  return object;
}

}  // namespace berth
