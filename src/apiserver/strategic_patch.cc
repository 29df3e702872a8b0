#include <algorithm>
#include <cstddef>
#include <expected>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "apiserver/member_index.h"
#include "apiserver/object_size.h"
#include "apiserver/patches.h"
#include "apiserver/shape.h"
#include "base/wording.h"
#include "manifest/json.h"

namespace berth {

namespace {

constexpr std::string_view kPatch = "$patch";
constexpr std::string_view kRetainKeys = "$retainKeys";
constexpr std::string_view kSetElementOrder = "$setElementOrder/";
constexpr std::string_view kDeleteFromList = "$deleteFromPrimitiveList/";

using Outcome = std::expected<void, ApiError>;
using Names = std::vector<std::string>;

std::unexpected<ApiError> complain(const std::string& path, std::string_view why) {
  return std::unexpected(bad_request("strategic merge patch: " + (path.empty() ? std::string("the patch") : path) +
                                     ": " + std::string(why)));
}

std::string below(const std::string& path, std::string_view key) {
  return path.empty() ? std::string(key) : path + "." + std::string(key);
}

bool is_directive(std::string_view key) {
  return key == kPatch || key == kRetainKeys || key.starts_with(kSetElementOrder) || key.starts_with(kDeleteFromList);
}

bool is_leaf(const Value& value) { return !value.is_null() && !value.is_list() && !value.is_map(); }

Outcome merge_map(const ObjectShape& shape, Value& target, const Value& patch, const std::string& path);

// How a list is merged: by a key of its items, or as a set of scalars; none if it is replaced.
struct ListRule {
  ObjectShape shape;
  std::string key;  // empty: the items themselves

  static std::optional<ListRule> of(const ObjectShape& shape) {
    if (!shape.is_list() || shape.field() == nullptr || shape.field()->merge_key.empty()) return std::nullopt;
    const std::string& key = shape.field()->merge_key;
    return ListRule{shape, key == "-" ? std::string() : key};
  }
  // What tells the item apart, as JSON; empty if nothing does.
  std::string name_of(const Value& item) const {
    const Value& told = key.empty() ? item : item[key];
    return is_leaf(told) ? to_json(told) : std::string();
  }
};

// One list while it is patched. Items that nothing tells apart (only a stored object can have them) stay as they are.
class ListMerge {
 public:
  ListMerge(const ListRule& rule, Value& target, std::string path)
      : rule_(rule), items_(target.edit_items()), path_(std::move(path)) {
    for (const Value& item : items_) names_.push_back(rule_.name_of(item));
  }

  Outcome merge(const Value& patch);
  Outcome remove_scalars(const Value& removed);
  Outcome order(const Value& wanted, const Value& patch);

 private:
  std::expected<Names, ApiError> names_in(const Value& list, std::string_view what) const;
  Outcome remove_named(const Value& patch, const Names& names, bool& replace);
  Outcome merge_items(const Value& patch, const Names& names, bool replace);
  void erase_named(const std::set<std::string_view>& gone);

  const ListRule& rule_;
  Value::List& items_;
  Names names_;
  std::string path_;
};

std::expected<Names, ApiError> ListMerge::names_in(const Value& list, std::string_view what) const {
  const std::string path = path_ + std::string(what);
  if (!list.is_list()) return complain(path, "must be a list");
  Names names;
  for (const Value& item : list.items()) {
    names.push_back(rule_.name_of(item));
    const bool replaces = !rule_.key.empty() && item[kPatch].text() == "replace";
    if (!names.back().empty() || replaces) continue;
    const std::string at = path + "[" + std::to_string(names.size() - 1) + "]";
    if (rule_.key.empty()) return complain(at, "must be a scalar");
    return complain(at, "does not contain declared merge key: " + rule_.key);
  }
  return names;
}

void ListMerge::erase_named(const std::set<std::string_view>& gone) {
  std::size_t left = 0;
  for (std::size_t i = 0; i < items_.size(); ++i) {
    if (!names_[i].empty() && gone.contains(names_[i])) continue;
    if (left != i) {
      items_[left] = std::move(items_[i]);
      names_[left] = std::move(names_[i]);
    }
    ++left;
  }
  items_.resize(left);
  names_.resize(left);
}

// What the items' $patch directives say of the list: deletions are carried out first, then the rest is merged.
Outcome ListMerge::remove_named(const Value& patch, const Names& names, bool& replace) {
  std::set<std::string_view> gone;
  for (std::size_t i = 0; i < names.size() && !rule_.key.empty(); ++i) {
    const Value* const directive = patch.items()[i].find(kPatch);
    if (directive == nullptr) continue;
    if (directive->text() == "replace")
      replace = true;
    else if (directive->text() == "delete")
      gone.insert(names[i]);
    else if (directive->text() != "merge") {
      return complain(path_ + "[" + std::to_string(i) + "].$patch",
                      quote(directive->text()) + " is none of delete, merge, replace");
    }
  }
  erase_named(gone);
  return {};
}

Outcome ListMerge::merge_items(const Value& patch, const Names& names, bool replace) {
  if (replace) {
    items_.clear();
    names_.clear();
  }
  std::map<std::string, std::size_t, std::less<>> place;
  for (std::size_t i = 0; i < names_.size(); ++i) {
    if (!names_[i].empty()) place.emplace(names_[i], i);
  }
  for (std::size_t i = 0; i < names.size(); ++i) {
    const Value& item = patch.items()[i];
    const std::string_view directive = rule_.key.empty() ? std::string_view() : item[kPatch].text();
    // {"$patch": "replace"} is the order to replace the list, and no item.
    if (directive == "delete" || directive == "replace") continue;
    const auto [found, is_new] = place.emplace(names[i], items_.size());
    if (is_new) {
      items_.push_back(rule_.key.empty() ? item : Value::map());
      names_.push_back(names[i]);
    }
    if (rule_.key.empty()) continue;
    Outcome outcome = merge_map(rule_.shape.item(), items_[found->second], item, path_ + "[" + std::to_string(i) + "]");
    if (!outcome) return outcome;
  }
  return {};
}

Outcome ListMerge::merge(const Value& patch) {
  const auto names = names_in(patch, "");
  if (!names) return std::unexpected(names.error());
  bool replace = false;
  Outcome outcome = remove_named(patch, *names, replace);
  return outcome ? merge_items(patch, *names, replace) : outcome;
}

Outcome ListMerge::remove_scalars(const Value& removed) {
  if (!rule_.key.empty()) return complain(path_, "$deleteFromPrimitiveList is for lists of scalars");
  const auto names = names_in(removed, " ($deleteFromPrimitiveList)");
  if (!names) return std::unexpected(names.error());
  erase_named(std::set<std::string_view>(names->begin(), names->end()));
  return {};
}

Outcome ListMerge::order(const Value& wanted, const Value& patch) {
  auto names = names_in(wanted, " ($setElementOrder)");
  if (!names) return std::unexpected(names.error());
  const std::set<std::string_view> named(names->begin(), names->end());
  for (const Value& item : patch.items()) {
    const std::string name = rule_.name_of(item);
    if (name.empty() || named.contains(name) || item[kPatch].text() == "delete") continue;
    return complain(path_, "$setElementOrder does not name the item " + name + " of the patch");
  }
  std::map<std::string_view, std::size_t> place;
  for (std::size_t i = 0; i < names_.size(); ++i) {
    // Without names, or with one name twice, there is no order to follow.
    if (names_[i].empty() || !place.emplace(names_[i], i).second) return {};
  }
  Names present;
  std::set<std::string_view> seen;
  for (const std::string& name : *names) {
    if (place.contains(name) && seen.insert(name).second) present.push_back(name);
  }
  Value::List ordered;
  for (const std::string& name : merged_order(present, names_)) ordered.push_back(std::move(items_[place[name]]));
  items_ = std::move(ordered);
  return {};
}

// Applies $patch and $retainKeys of a map. True if that was all.
std::expected<bool, ApiError> obey_map_directives(Value& target, const Value& patch, const std::string& path) {
  if (const Value* const directive = patch.find(kPatch)) {
    const std::string_view order = directive->text();
    if (order != "replace" && order != "delete" && order != "merge") {
      return complain(below(path, kPatch), quote(order) + " is none of delete, merge, replace");
    }
    if (order != "merge") target = Value::map();
    if (order == "delete") return true;
  }
  if (const Value* const retained = patch.find(kRetainKeys)) {
    const std::string at = below(path, kRetainKeys);
    if (!retained->is_list()) return complain(at, "must be a list of keys");
    std::set<std::string_view> kept;
    for (const Value& key : retained->items()) kept.insert(key.text());
    for (const Value::Member& member : patch.members()) {
      if (!is_directive(member.key) && !member.value.is_null() && !kept.contains(member.key)) {
        return complain(at, "does not name the key " + quote(member.key) + " of the patch");
      }
    }
    std::erase_if(target.edit_members(), [&](const Value::Member& member) { return !kept.contains(member.key); });
  }
  return false;
}

// A member that the patch names and that is there already (an empty one otherwise).
Outcome merge_member(const ObjectShape& shape, Value& target, const Value& patch, const std::string& path) {
  if (shape.is_list() && !patch.is_list()) return complain(path, "must be a list");
  if ((shape.is_object() || shape.is_map()) && !patch.is_map()) return complain(path, "must be an object");
  if (patch.is_map()) return merge_map(shape, target, patch, path);
  const std::optional<ListRule> rule = ListRule::of(shape);
  if (patch.is_list() && rule) return ListMerge(*rule, target, path).merge(patch);
  target = patch;
  return {};
}

// $deleteFromPrimitiveList/x goes before x is merged, $setElementOrder/x after it.
Outcome obey_list_directives(std::string_view directive, const ObjectShape& shape, Value& target, const Value& patch,
                             const std::string& path) {
  for (const Value::Member& member : patch.members()) {
    if (!member.key.starts_with(directive)) continue;
    const std::string name = member.key.substr(directive.size());
    const std::string at = below(path, name);
    const std::optional<ListRule> rule = ListRule::of(shape.member(name));
    if (!rule) return complain(at, member.key + " is for lists that are merged by items, and this is none");
    Value* const list = target.find(name);
    if (list == nullptr || !list->is_list()) continue;
    ListMerge merge(*rule, *list, at);
    Outcome outcome =
        directive == kDeleteFromList ? merge.remove_scalars(member.value) : merge.order(member.value, patch[name]);
    if (!outcome) return outcome;
  }
  return {};
}

Outcome merge_map(const ObjectShape& shape, Value& target, const Value& patch, const std::string& path) {
  if (!target.is_map()) target = Value::map();
  const auto finished = obey_map_directives(target, patch, path);
  if (!finished) return std::unexpected(finished.error());
  if (*finished) return {};
  if (Outcome outcome = obey_list_directives(kDeleteFromList, shape, target, patch, path); !outcome) return outcome;
  Value::Map& members = target.edit_members();
  const MemberIndex index(members);
  std::vector<bool> gone(members.size());
  for (const Value::Member& member : patch.members()) {
    if (is_directive(member.key)) continue;
    const std::size_t at = index.find(member.key);
    if (member.value.is_null()) {
      if (at != MemberIndex::kNone) gone[at] = true;
      continue;
    }
    if (at == MemberIndex::kNone) members.push_back({member.key, Value()});
    Value& there = at == MemberIndex::kNone ? members.back().value : members[at].value;
    Outcome outcome = merge_member(shape.member(member.key), there, member.value, below(path, member.key));
    if (!outcome) return outcome;
  }
  std::size_t at = 0;
  std::erase_if(members, [&](const Value::Member&) {
    const std::size_t here = at++;
    return here < gone.size() && gone[here];
  });
  return obey_list_directives(kSetElementOrder, shape, target, patch, path);
}

}  // namespace

std::expected<Value, ApiError> apply_strategic_patch(const Type& type, const Value& object, const Value& patch) {
  if (!patch.is_map()) {
    return std::unexpected(
        bad_request("a strategic merge patch is a JSON object with the fields to change, such as {\"spec\": {...}}"));
  }
  Value patched = object;
  if (Outcome outcome = merge_map(ObjectShape(type), patched, patch, ""); !outcome)
    return std::unexpected(outcome.error());
  if (auto error = refuse_growth(object, patched)) return std::unexpected(std::move(*error));
  return patched;
}

}  // namespace berth
