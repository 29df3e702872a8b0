#include "apiserver/owned_fields.h"

#include <algorithm>
#include <cstddef>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "apiserver/member_index.h"

namespace berth {

namespace {

using Elements = std::vector<std::string>;

// Lists whose items cannot be told apart are owned as a whole, whatever the schema hoped for.
bool is_whole(const ObjectShape& shape, const Value& value, std::optional<Elements>& elements) {
  if (shape.is_atomic(value)) return true;
  if (!shape.is_list()) return false;
  elements = item_elements(shape, value);
  return !elements;
}

class Comparison {
 public:
  struct Node {
    bool written = false, removed = false;
    FieldSet written_below, removed_below;
  };

  static Node compare(const ObjectShape& shape, const Value* before, const Value& after) {
    std::optional<Elements> old_elements, elements;
    const bool whole = is_whole(shape, after, elements);
    if (before == nullptr && !whole) return added(shape, after, elements);
    if (before == nullptr) return {.written = true, .removed = false, .written_below = {}, .removed_below = {}};
    const bool was_whole = is_whole(shape, *before, old_elements);
    if (whole || was_whole) {
      const bool same = *before == after;
      // Owned by parts before and as a whole now, or the other way round: the parts' owners end or begin.
      Node node{.written = !same, .removed = !same && !was_whole, .written_below = {}, .removed_below = {}};
      if (!same && !whole) node.written_below = added(shape, after, elements).written_below;
      return node;
    }
    return shape.is_list() ? compare_lists(shape, *before, *old_elements, after, *elements)
                           : compare_maps(shape, *before, after);
  }

  static Node compare_maps(const ObjectShape& shape, const Value& before, const Value& after) {
    Node node;
    const MemberIndex old_members(before.members()), members(after.members());
    for (const Value::Member& member : after.members()) {
      const std::size_t at = old_members.find(member.key);
      const Value* const old_value = at == MemberIndex::kNone ? nullptr : &before.members()[at].value;
      add(node, "f:" + member.key, compare(shape.member(member.key), old_value, member.value));
    }
    for (const Value::Member& member : before.members()) {
      if (members.find(member.key) == MemberIndex::kNone) node.removed_below.add("f:" + member.key, true, {});
    }
    node.written_below.sort();
    node.removed_below.sort();
    return node;
  }

  // As against the empty object that Kubernetes' own types are before anything is set in them.
  static FieldSet created(const ObjectShape& shape, const Value& after) {
    FieldSet written;
    written.reserve(after.members().size());
    for (const Value::Member& member : after.members()) {
      const ObjectShape inner = shape.member(member.key);
      const Field* const field = inner.field();
      const bool always_there = field != nullptr && (field->required || (inner.is_object() && !field->pointer));
      std::optional<Elements> elements;
      if (!always_there || is_whole(inner, member.value, elements)) {
        Node node = compare(inner, nullptr, member.value);
        written.add("f:" + member.key, node.written, std::move(node.written_below));
      } else if (inner.is_object()) {
        written.add("f:" + member.key, false, created(inner, member.value));
      } else {
        written.add("f:" + member.key, false, added(inner, member.value, elements).written_below);
      }
    }
    written.sort();
    return written;
  }

 private:
  static void add(Node& parent, std::string element, Node&& node) {
    if (node.removed || !node.removed_below.empty()) {
      parent.removed_below.add(element, node.removed, std::move(node.removed_below));
    }
    parent.written_below.add(std::move(element), node.written, std::move(node.written_below));
  }

  static Node added(const ObjectShape& shape, const Value& after, const std::optional<Elements>& elements) {
    Node node{.written = true, .removed = false, .written_below = {}, .removed_below = {}};
    node.written_below.reserve(after.members().size() + after.items().size());
    for (const Value::Member& member : after.members()) {
      add(node, "f:" + member.key, compare(shape.member(member.key), nullptr, member.value));
    }
    for (std::size_t i = 0; i < after.items().size() && elements; ++i) {
      add(node, (*elements)[i], compare(shape.item(), nullptr, after.items()[i]));
    }
    node.written_below.sort();
    return node;
  }

  static Node compare_lists(const ObjectShape& shape, const Value& before, const Elements& old_elements,
                            const Value& after, const Elements& elements) {
    std::map<std::string_view, const Value*> old_items;
    for (std::size_t i = 0; i < old_elements.size(); ++i) old_items.emplace(old_elements[i], &before.items()[i]);
    Node node;
    for (std::size_t i = 0; i < elements.size(); ++i) {
      const auto old_item = old_items.find(elements[i]);
      const Value* const old_value = old_item == old_items.end() ? nullptr : old_item->second;
      add(node, elements[i], compare(shape.item(), old_value, after.items()[i]));
      if (old_value != nullptr) old_items.erase(old_item);
    }
    for (const auto& [element, item] : old_items) node.removed_below.add(std::string(element), true, {});
    node.written_below.sort();
    node.removed_below.sort();
    return node;
  }
};

std::expected<FieldSet, std::string> fields_at(const ObjectShape& shape, const Value& value, const std::string& path) {
  FieldSet fields;
  for (const Value::Member& member : value.members()) {
    const ObjectShape inner = shape.member(member.key);
    const bool whole = inner.is_leaf(member.value);
    auto below = whole ? FieldSet() : fields_at(inner, member.value, path + "." + member.key);
    if (!below) return below;
    fields.add("f:" + member.key, whole || shape.is_map(), std::move(*below));
  }
  if (value.is_list()) {
    std::string why;
    const auto elements = item_elements(shape, value, &why);
    if (!elements) return std::unexpected(path + ": " + why);
    for (std::size_t i = 0; i < elements->size(); ++i) {
      const Value& item = value.items()[i];
      const bool whole = shape.item().is_leaf(item);
      auto below = whole ? FieldSet() : fields_at(shape.item(), item, path + "[" + std::to_string(i) + "]");
      if (!below) return below;
      fields.add((*elements)[i], true, std::move(*below));
    }
  }
  fields.sort();
  return fields;
}

void merge_lists(const ObjectShape& shape, Value& live, const Elements& live_elements, const Value& applied,
                 const Elements& elements) {
  std::map<std::string, Value, std::less<>> items;
  for (std::size_t i = 0; i < live_elements.size(); ++i)
    items.emplace(live_elements[i], std::move(live.edit_items()[i]));
  for (std::size_t i = 0; i < elements.size(); ++i) {
    const auto [item, is_new] = items.emplace(elements[i], applied.items()[i]);
    if (!is_new) merge_applied(shape.item(), item->second, applied.items()[i]);
  }
  Value::List merged;
  for (const std::string& element : merged_order(elements, live_elements)) merged.push_back(std::move(items[element]));
  live = Value(std::move(merged));
}

}  // namespace

std::expected<FieldSet, std::string> fields_of(const ObjectShape& shape, const Value& value) {
  return fields_at(shape, value, "");
}

FieldChanges changes_between(const ObjectShape& shape, const Value& before, const Value& after) {
  if (before.is_null()) return {Comparison::created(shape, after), {}};
  Comparison::Node node = Comparison::compare_maps(shape, before, after);
  return {std::move(node.written_below), std::move(node.removed_below)};
}

void merge_applied(const ObjectShape& shape, Value& live, const Value& applied) {
  std::optional<Elements> elements, live_elements;
  if (is_whole(shape, applied, elements) || is_whole(shape, live, live_elements)) {
    live = applied;
    return;
  }
  if (shape.is_list()) {
    merge_lists(shape, live, *live_elements, applied, *elements);
    return;
  }
  Value::Map& members = live.edit_members();
  const MemberIndex index(members);
  for (const Value::Member& member : applied.members()) {
    const std::size_t at = index.find(member.key);
    if (at == MemberIndex::kNone)
      members.push_back(member);
    else
      merge_applied(shape.member(member.key), members[at].value, member.value);
  }
}

namespace {

// An item that stays for somebody else's sake keeps what tells it apart, too.
FieldSet without_keys(FieldSet dropped, const ObjectShape& list) {
  for (const std::string& key : list.field()->owner_keys) {
    FieldSet field;
    field.add("f:" + key, true, {});
    dropped.subtract_with_all_below(field);
  }
  return dropped;
}

}  // namespace

void prune_fields(const ObjectShape& shape, Value& value, const FieldSet& dropped, const FieldSet& kept) {
  if (dropped.empty() || shape.is_leaf(value)) return;
  if (value.is_map()) {
    std::erase_if(value.edit_members(), [&](Value::Member& member) {
      const FieldSet::Child* const drop = dropped.find("f:" + member.key);
      if (drop == nullptr) return false;
      const FieldSet::Child* const keep = kept.find(drop->element);
      if (keep != nullptr) prune_fields(shape.member(member.key), member.value, drop->below, keep->below);
      return keep == nullptr;
    });
    return;
  }
  const std::optional<Elements> elements = item_elements(shape, value);
  if (!elements) return;
  Value::List left;
  for (std::size_t i = 0; i < elements->size(); ++i) {
    Value& item = value.edit_items()[i];
    const FieldSet::Child* const drop = dropped.find((*elements)[i]);
    const FieldSet::Child* const keep = kept.find((*elements)[i]);
    if (drop != nullptr && keep == nullptr) continue;
    if (drop != nullptr) prune_fields(shape.item(), item, without_keys(drop->below, shape), keep->below);
    left.push_back(std::move(item));
  }
  value = Value(std::move(left));
}

}  // namespace berth
