#include "apiserver/managed_fields.h"

#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "apiserver/manager_entries.h"
#include "apiserver/object_size.h"
#include "apiserver/owned_fields.h"
#include "manifest/timestamp.h"

namespace berth {

namespace {

// What the server decides, whoever writes the object: nobody's field.
constexpr std::string_view kServerMetadata[] = {"uid",           "resourceVersion",           "generation",
                                                "selfLink",      "creationTimestamp",         "deletionTimestamp",
                                                "managedFields", "deletionGracePeriodSeconds"};

// Names, what the server sets, and `part` (the part that another endpoint writes), if any.
FieldSet nobodys_fields(const char* part) {
  FieldSet metadata;
  for (const std::string_view name : kServerMetadata) metadata.add("f:" + std::string(name), true, {});
  metadata.add("f:name", true, {});
  metadata.add("f:namespace", true, {});
  metadata.sort();
  FieldSet all;
  for (const char* const name : {"f:apiVersion", "f:kind", part}) {
    if (name != nullptr) all.add(name, true, {});
  }
  all.add("f:metadata", false, std::move(metadata));
  all.sort();
  return all;
}

// Takes away the fields that a write of this kind, at this subresource, gives to nobody.
void take_nobodys_fields(FieldSet& fields, const KindInfo& kind, const FieldManager& manager) {
  static const FieldSet kOfStatus = nobodys_fields("f:spec");
  static const FieldSet kOfMain = nobodys_fields("f:status");
  static const FieldSet kOfWhole = nobodys_fields(nullptr);
  const bool has_status = kind.has_subresource("status");
  fields.subtract_with_all_below(manager.subresource == "status" ? kOfStatus : has_status ? kOfMain : kOfWhole);
  // Every object has metadata; only what is in it can be somebody's.
  static const FieldSet kMetadataItself = [] {
    FieldSet itself;
    itself.add("f:metadata", true, {});
    return itself;
  }();
  fields.subtract(kMetadataItself);
}

ManagerEntry entry_for(const KindInfo& kind, const FieldManager& manager, bool applies) {
  return {.manager = manager.name,
          .applies = applies,
          .api_version = kind.api_version(),
          .subresource = manager.subresource,
          .time = format_timestamp(manager.now),
          .fields = {}};
}

// A client that sends managedFields of one empty entry takes everybody's ownership away.
bool is_reset(const Value& managed_fields) {
  return managed_fields.items().size() == 1 && managed_fields.items()[0] == Value::map();
}

void set_managed_fields(Value& object, Value managed_fields) {
  Value& metadata = object.at("metadata");
  if (managed_fields.is_empty())
    metadata.erase("managedFields");
  else
    metadata.set("managedFields", std::move(managed_fields));
}

// The ownership that an update begins with: what the client sent, if that makes sense and is not a subresource's write,
// else what was stored.
ManagerEntries entries_before(const Value& before, Value& after, const FieldManager& manager) {
  const Value& sent = after["metadata"]["managedFields"];
  if (before.is_null()) {
    set_managed_fields(after, Value());
    return {};
  }
  if (manager.subresource.empty() && !sent.is_empty()) {
    if (is_reset(sent)) {
      set_managed_fields(after, Value());
      return {};
    }
    if (auto entries = ManagerEntries::parse(sent)) return std::move(*entries);
  }
  const Value& stored = before["metadata"]["managedFields"];
  set_managed_fields(after, stored);
  return ManagerEntries::parse(stored).value_or(ManagerEntries());
}

// Everybody but `self` loses what was written or removed.
void take_from_others(ManagerEntries& entries, const ManagerEntry& self, const FieldChanges& changes) {
  for (ManagerEntry& entry : entries.all()) {
    if (entry.same_manager(self)) continue;
    entry.fields.subtract(changes.written);
    entry.fields.subtract_with_all_below(changes.removed);
  }
}

}  // namespace

void note_write(const KindInfo& kind, const Value& before, Value& after, const FieldManager& manager) {
  ManagerEntries entries = entries_before(before, after, manager);
  FieldChanges changes = changes_between(ObjectShape(*kind.type), before, after);
  take_nobodys_fields(changes.written, kind, manager);
  take_nobodys_fields(changes.removed, kind, manager);
  if (changes.none()) return;
  const ManagerEntry self = entry_for(kind, manager, false);
  take_from_others(entries, self, changes);
  if (const bool wrote = !changes.written.empty(); wrote || entries.find(self) != nullptr) {
    ManagerEntry& own = entries.entry_of(self);
    own.fields.subtract_with_all_below(changes.removed);
    own.fields.unite(std::move(changes.written));
    if (wrote) own.time = self.time;
  }
  set_managed_fields(after, std::move(entries).to_value());
}

namespace {

struct Conflict {
  const ManagerEntry* owner = nullptr;
  std::string path;
};

std::string owner_in_words(const ManagerEntry& owner) {
  std::string text = "\"" + owner.manager + "\"";
  if (!owner.subresource.empty()) text += " with subresource \"" + owner.subresource + "\"";
  return owner.applies ? text : text + " using " + owner.api_version;
}

std::vector<Conflict> conflicts_of(const ManagerEntries& entries, const ManagerEntry& self, const FieldSet& written) {
  std::vector<Conflict> conflicts;
  for (const ManagerEntry& entry : entries.all()) {
    if (entry.same_manager(self)) continue;
    for (std::string& path : entry.fields.intersection(written).paths()) conflicts.push_back({&entry, std::move(path)});
  }
  return conflicts;
}

ApiError conflict_error(const std::vector<Conflict>& conflicts) {
  ApiError error;
  error.code = 409;
  error.reason = "Conflict";
  const bool one = conflicts.size() == 1;
  error.message = "Apply failed with " + std::to_string(conflicts.size()) + (one ? " conflict: " : " conflicts: ");
  const ManagerEntry* owner = nullptr;
  for (const Conflict& conflict : conflicts) {
    const std::string words = owner_in_words(*conflict.owner);
    if (one) {
      error.message += "conflict with " + words + ": " + conflict.path;
    } else {
      if (conflict.owner != owner) error.message += (owner == nullptr ? "" : "\n") + ("conflicts with " + words + ":");
      error.message += "\n- " + conflict.path;
    }
    owner = conflict.owner;
    error.causes.push_back({"FieldManagerConflict", "conflict with " + words, conflict.path});
  }
  return error;
}

void drop_nulls(Value& value) {
  if (value.is_map()) {
    Value::Map& members = value.edit_members();
    std::erase_if(members, [](const Value::Member& member) { return member.value.is_null(); });
    for (Value::Member& member : members) drop_nulls(member.value);
  } else if (value.is_list()) {
    for (Value& item : value.edit_items()) drop_nulls(item);
  }
}

// The configuration without what appliers cannot decide here.
Value decidable_part(const KindInfo& kind, const Value& applied, const FieldManager& manager) {
  Value config = applied;
  drop_nulls(config);
  if (Value* const metadata = config.find("metadata")) {
    for (const std::string_view name : kServerMetadata) metadata->erase(name);
  }
  if (manager.subresource == "status")
    config.erase("spec");
  else if (kind.has_subresource("status"))
    config.erase("status");
  return config;
}

// Everything that anybody owns now, and what every object has.
FieldSet owned_by_anybody(const ManagerEntries& entries) {
  FieldSet owned;
  for (const ManagerEntry& entry : entries.all()) owned.unite(entry.fields);
  for (const char* always : {"f:apiVersion", "f:kind", "f:metadata"}) owned.insert({always});
  return owned;
}

std::optional<ApiError> check_applied(const Value& live, const Value& applied) {
  if (!applied.is_map() || (!applied["metadata"].is_map() && !applied["metadata"].is_null())) {
    return bad_request("an applied configuration is an object with apiVersion, kind and metadata.name");
  }
  if (!applied["metadata"]["managedFields"].is_null()) return bad_request("metadata.managedFields must be nil");
  if (!live.is_null() && !live.is_map()) return internal_error("the stored object is no object");
  return std::nullopt;
}

}  // namespace

std::expected<Value, ApiError> server_side_apply(const KindInfo& kind, const Value& live, const Value& applied,
                                                 const FieldManager& manager, bool force) {
  if (auto error = check_applied(live, applied)) return std::unexpected(std::move(*error));
  const ObjectShape shape(*kind.type);
  const Value config = decidable_part(kind, applied, manager);
  auto fields = fields_of(shape, config);
  if (!fields) {
    return std::unexpected(bad_request("failed to create typed patch object (" +
                                       std::string(config["metadata"]["name"].text()) + "; " + kind.api_version() +
                                       ", Kind=" + kind.kind + "): " + fields.error()));
  }
  take_nobodys_fields(*fields, kind, manager);

  ManagerEntry self = entry_for(kind, manager, true);
  const Value& stored = live["metadata"]["managedFields"];
  const std::optional<ManagerEntries> before = ManagerEntries::parse(stored);
  ManagerEntries entries = before.value_or(ManagerEntries());
  ManagerEntry& own = entries.entry_of(self);
  const FieldSet dropped = std::exchange(own.fields, std::move(*fields));

  Value merged = live.is_null() ? config : live;
  if (!live.is_null()) merge_applied(shape, merged, config);
  prune_fields(shape, merged, dropped, owned_by_anybody(entries));

  if (!live.is_null()) {
    FieldChanges changes = changes_between(shape, live, merged);
    take_nobodys_fields(changes.written, kind, manager);
    const std::vector<Conflict> conflicts = conflicts_of(entries, self, changes.written);
    if (!conflicts.empty() && !force) return std::unexpected(conflict_error(conflicts));
    // Nothing new, for nobody: the object stays as it is, with its times.
    if (merged == live && before && own.fields == dropped) return live;
    take_from_others(entries, self, changes);
    own.time = self.time;
    own.api_version = self.api_version;
  }
  set_managed_fields(merged, std::move(entries).to_value());
  if (auto error = refuse_growth(live, merged)) return std::unexpected(std::move(*error));
  return merged;
}

}  // namespace berth
