#include "apiserver/event_views.h"

#include <array>
#include <string>
#include <string_view>
#include <utility>

namespace berth {
namespace {

struct Renamed {
  std::string_view core, newer;
};
constexpr std::array<Renamed, 7> kRenamed = {{
    {"involvedObject", "regarding"},
    {"message", "note"},
    {"source", "deprecatedSource"},
    {"firstTimestamp", "deprecatedFirstTimestamp"},
    {"lastTimestamp", "deprecatedLastTimestamp"},
    {"count", "deprecatedCount"},
    {"reportingComponent", "reportingController"},
}};

Value renamed(Value object, std::string_view Renamed::* from, std::string_view Renamed::* to, const char* api_version) {
  for (Value::Member& member : object.edit_members()) {
    for (const Renamed& each : kRenamed) {
      if (member.key != each.*from) continue;
      member.key = std::string(each.*to);
      break;
    }
  }
  object.set("apiVersion", api_version);
  return object;
}

}  // namespace

bool is_other_view(const KindInfo& kind) { return kind.group == "events.k8s.io"; }

std::string key_word(const KindInfo& kind) { return is_other_view(kind) ? kind.plural : kind.qualified(); }

Value as_kept(const KindInfo& kind, Value object) {
  return is_other_view(kind) ? renamed(std::move(object), &Renamed::newer, &Renamed::core, "v1") : object;
}

Value as_shown(const KindInfo& kind, Value object) {
  return is_other_view(kind) ? renamed(std::move(object), &Renamed::core, &Renamed::newer, "events.k8s.io/v1") : object;
}

}  // namespace berth
