#include "apiserver/manager_entries.h"

#include <algorithm>
#include <string_view>
#include <tuple>
#include <utility>

namespace berth {

namespace {

// Kubernetes' own bound: a crowd of managers must not make the object grow without end.
constexpr std::ptrdiff_t kUpdatersMax = 10;

std::optional<ManagerEntry> parse_entry(const Value& value) {
  const std::string_view operation = value["operation"].text();
  if (operation != "Apply" && operation != "Update") return std::nullopt;
  if (value["fieldsType"].text() != "FieldsV1") return std::nullopt;
  std::optional<FieldSet> fields = FieldSet::from_fields_v1(value["fieldsV1"]);
  if (!fields) return std::nullopt;
  ManagerEntry entry;
  entry.manager = value["manager"].text();
  entry.applies = operation == "Apply";
  entry.api_version = value["apiVersion"].text();
  entry.subresource = value["subresource"].text();
  entry.time = value["time"].text();
  entry.fields = std::move(*fields);
  return entry;
}

Value to_value_of(ManagerEntry&& entry) {
  Value value = Value::map();
  value.set("manager", std::move(entry.manager));
  value.set("operation", entry.applies ? "Apply" : "Update");
  value.set("apiVersion", std::move(entry.api_version));
  if (!entry.time.empty()) value.set("time", std::move(entry.time));
  value.set("fieldsType", "FieldsV1");
  value.set("fieldsV1", std::move(entry.fields).to_fields_v1());
  if (!entry.subresource.empty()) value.set("subresource", std::move(entry.subresource));
  return value;
}

// Times are all of one format, so they sort as texts.
auto rank(const ManagerEntry& entry) {
  return std::tie(entry.time, entry.manager, entry.api_version, entry.subresource);
}

}  // namespace

std::optional<ManagerEntries> ManagerEntries::parse(const Value& managed_fields) {
  if (!managed_fields.is_list() && !managed_fields.is_null()) return std::nullopt;
  ManagerEntries entries;
  for (const Value& item : managed_fields.items()) {
    std::optional<ManagerEntry> entry = parse_entry(item);
    if (!entry || entries.find(*entry) != nullptr) return std::nullopt;
    entries.entries_.push_back(std::move(*entry));
  }
  return entries;
}

const ManagerEntry* ManagerEntries::find(const ManagerEntry& like) const {
  const auto found =
      std::ranges::find_if(entries_, [&](const ManagerEntry& entry) { return entry.same_manager(like); });
  return found == entries_.end() ? nullptr : &*found;
}

ManagerEntry& ManagerEntries::entry_of(const ManagerEntry& like) {
  const auto found =
      std::ranges::find_if(entries_, [&](const ManagerEntry& entry) { return entry.same_manager(like); });
  return found == entries_.end() ? entries_.emplace_back(like) : *found;
}

void ManagerEntries::join_oldest_updates() {
  // PRE: sorted, those who update at the end.
  const auto updates = std::ranges::find(entries_, false, &ManagerEntry::applies);
  const std::ptrdiff_t surplus = entries_.end() - updates - kUpdatersMax;
  if (surplus <= 0) return;
  ManagerEntry ancient = std::move(*updates);
  ancient.manager = "ancient-changes";
  ancient.subresource.clear();
  for (auto entry = updates + 1; entry <= updates + surplus; ++entry) {
    ancient.fields.unite(std::move(entry->fields));
    ancient.time = entry->time;
    ancient.api_version = entry->api_version;
  }
  entries_.erase(updates, updates + surplus + 1);
  ManagerEntry& joined = entry_of(ancient);
  joined.fields.unite(std::move(ancient.fields));
}

Value ManagerEntries::to_value() && {
  std::erase_if(entries_, [](const ManagerEntry& entry) { return entry.fields.empty(); });
  const auto before = [](const ManagerEntry& a, const ManagerEntry& b) {
    return a.applies != b.applies ? a.applies : rank(a) < rank(b);
  };
  std::ranges::sort(entries_, before);
  join_oldest_updates();
  std::ranges::sort(entries_, before);
  Value::List list;
  list.reserve(entries_.size());
  for (ManagerEntry& entry : entries_) list.push_back(to_value_of(std::move(entry)));
  return Value(std::move(list));
}

}  // namespace berth
