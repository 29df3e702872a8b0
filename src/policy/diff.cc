#include "policy/diff.h"

#include <algorithm>
#include <map>
#include <string_view>
#include <utility>

#include "policy/show.h"

namespace berth {
namespace {

// In the order in which they were first named.
using Fields = std::vector<std::pair<std::string, std::string>>;

std::string text_of(const Value& value) {
  if (value.is_bool()) return value.truth() ? "yes" : "no";
  if (value.is_integer()) return std::to_string(value.integer());
  if (!value.is_list()) return value.is_null() || value.text().empty() ? "-" : std::string(value.text());
  std::string text;
  for (const Value& each : value.items()) text += (text.empty() ? "" : ",") + text_of(each);
  return text.empty() ? "-" : text;
}

// A map's members are fields of their own: "guarantee h100".
void add_fields(const std::string& name, const Value& value, Fields& fields) {
  if (!value.is_map()) {
    fields.emplace_back(name, text_of(value));
    return;
  }
  for (const Value::Member& each : value.members()) add_fields(name + " " + each.key, each.value, fields);
}

// All but its name, and where it stands.
Fields fields_of(const Value& thing) {
  Fields fields;
  for (const Value::Member& each : thing.members()) {
    if (each.key != "name" && each.key != "place" && each.key != "kind") add_fields(each.key, each.value, fields);
  }
  return fields;
}

std::map<std::string, Fields> things_in(const Policy& policy) {
  std::map<std::string, Fields> things;
  const Value shown = value_of(policy);
  for (const Value& queue : shown["queues"].items()) {
    const bool cohort = queue["kind"].text() == "Cohort";
    things.emplace((cohort ? "cohort " : "queue ") + std::string(queue["name"].text()), fields_of(queue));
  }
  for (const Value& flavor : shown["flavors"].items()) {
    things.emplace("flavor " + std::string(flavor["name"].text()), fields_of(flavor));
  }
  return things;
}

std::string value_in(const Fields& fields, const std::string& name) {
  const auto found = std::ranges::find(fields, name, &Fields::value_type::first);
  return found == fields.end() ? "-" : found->second;
}

void compare(const std::string& what, const Fields& before, const Fields& after, std::vector<PolicyChange>& changes) {
  const auto note = [&](const std::string& field) {
    const std::string was = value_in(before, field), is = value_in(after, field);
    if (was != is) changes.push_back({PolicyChange::Kind::kChanged, what, field, was, is});
  };
  for (const auto& [field, value] : after) note(field);
  for (const auto& [field, value] : before) {
    if (std::ranges::find(after, field, &Fields::value_type::first) == after.end()) note(field);
  }
}

}  // namespace

std::string PolicyChange::to_string() const {
  if (kind == Kind::kAdded) return what + " is new" + (after == "-" ? "" : ": " + after);
  if (kind == Kind::kRemoved) return what + " is gone";
  return what + ": " + field + ": " + before + " -> " + after;
}

std::vector<PolicyChange> changes_between(const Policy& before, const Policy& after) {
  const std::map<std::string, Fields> were = things_in(before), are = things_in(after);
  std::vector<PolicyChange> changes;
  for (const auto& [what, fields] : were) {
    const auto now = are.find(what);
    if (now == are.end()) {
      changes.push_back({PolicyChange::Kind::kRemoved, what, "", "", "-"});
    } else {
      compare(what, fields, now->second, changes);
    }
  }
  for (const auto& [what, fields] : are) {
    if (were.contains(what)) continue;
    std::string said;
    for (const auto& [field, value] : fields) {
      const bool amount = field.starts_with("guarantee ") || field.starts_with("limit ") || field == "parent";
      if (amount && value != "-") said += (said.empty() ? "" : ", ") + field + " " + value;
    }
    changes.push_back({PolicyChange::Kind::kAdded, what, "", "-", said.empty() ? "-" : said});
  }
  return changes;
}

Value value_of(const std::vector<PolicyChange>& changes) {
  constexpr const char* kKinds[] = {"added", "removed", "changed"};
  Value list = Value::list();
  for (const PolicyChange& each : changes) {
    list.push_back(Value::map_of({{"change", kKinds[static_cast<std::size_t>(each.kind)]},
                                  {"what", each.what},
                                  {"field", each.field},
                                  {"before", each.before},
                                  {"after", each.after}}));
  }
  return list;
}

}  // namespace berth
