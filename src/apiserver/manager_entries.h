// metadata.managedFields: which manager owns what, read and written.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "apiserver/field_set.h"
#include "manifest/value.h"

namespace berth {

struct ManagerEntry {
  std::string manager;
  bool applies = false;  // operation Apply; else Update
  std::string api_version;
  std::string subresource;
  std::string time;
  FieldSet fields;

  bool same_manager(const ManagerEntry& other) const {
    return manager == other.manager && applies == other.applies && subresource == other.subresource &&
           (applies || api_version == other.api_version);
  }
};

// INVARIANT: no manager twice.
class ManagerEntries {
 public:
  // None if it is not what managedFields look like.
  static std::optional<ManagerEntries> parse(const Value& managed_fields);
  // Sorted as Kubernetes does: Apply before Update, older before newer, then by name. Managers that own nothing are
  // left out; of those who update, the ten latest are kept apart, older ones go together as "ancient-changes".
  Value to_value() &&;

  std::vector<ManagerEntry>& all() { return entries_; }
  const std::vector<ManagerEntry>& all() const { return entries_; }
  // The entry of the same manager, made with `like` if there is none.
  ManagerEntry& entry_of(const ManagerEntry& like);
  const ManagerEntry* find(const ManagerEntry& like) const;

 private:
  void join_oldest_updates();

  std::vector<ManagerEntry> entries_;
};

}  // namespace berth
