#include "manifest/value.h"

#include <algorithm>
#include <cstddef>
#include <iterator>

namespace berth {

namespace {

// Members in the order of their keys: large maps compare in n log n, however they were shuffled.
std::vector<const Value::Member*> by_key(const Value::Map& members) {
  std::vector<const Value::Member*> sorted;
  sorted.reserve(members.size());
  for (const Value::Member& member : members) sorted.push_back(&member);
  std::ranges::sort(sorted, {}, [](const Value::Member* member) -> std::string_view { return member->key; });
  return sorted;
}

bool same_member(const Value::Member& a, const Value::Member& b) { return a.key == b.key && a.value == b.value; }

bool same_members(const Value::Map& a, const Value::Map& b) {
  if (a.size() != b.size()) return false;
  if (std::ranges::equal(a, b, {}, &Value::Member::key, &Value::Member::key)) {
    return std::ranges::equal(a, b, same_member);
  }
  const auto same = [](const Value::Member* x, const Value::Member* y) { return same_member(*x, *y); };
  return std::ranges::equal(by_key(a), by_key(b), same);
}

}  // namespace

Value Value::map() {
  Value value;
  value.held_.emplace<Map>();
  return value;
}

Value Value::map_of(std::vector<std::pair<std::string, Value>> members) {
  Value value = map();
  value.edit_members().reserve(members.size());
  for (auto& [key, member] : members) value.set(key, std::move(member));
  return value;
}

bool Value::is_empty() const {
  switch (kind()) {
    case Kind::kNull:
      return true;
    case Kind::kText:
      return text().empty();
    case Kind::kList:
      return items().empty();
    case Kind::kMap:
      return members().empty();
    case Kind::kBool:
    case Kind::kInteger:
    case Kind::kNumber:
      return false;
  }
  return false;
}

bool Value::truth(bool otherwise) const {
  const bool* const held = std::get_if<bool>(&held_);
  return held == nullptr ? otherwise : *held;
}

std::int64_t Value::integer(std::int64_t otherwise) const {
  const std::int64_t* const held = std::get_if<std::int64_t>(&held_);
  return held == nullptr ? otherwise : *held;
}

std::string_view Value::text(std::string_view otherwise) const {
  const std::string* const held = std::get_if<std::string>(&held_);
  return held == nullptr ? otherwise : std::string_view(*held);
}

std::string_view Value::number_text() const {
  const Number* const held = std::get_if<Number>(&held_);
  return held == nullptr ? std::string_view() : std::string_view(held->written);
}

const Value::List& Value::items() const {
  static const List kNone;
  const List* const held = std::get_if<List>(&held_);
  return held == nullptr ? kNone : *held;
}

const Value::Map& Value::members() const {
  static const Map kNone;
  const Map* const held = std::get_if<Map>(&held_);
  return held == nullptr ? kNone : *held;
}

const Value* Value::find(std::string_view key) const {
  const Map* const held = std::get_if<Map>(&held_);
  if (held == nullptr) return nullptr;
  const auto found = std::ranges::find(*held, key, &Member::key);
  return found == held->end() ? nullptr : &found->value;
}

Value* Value::find(std::string_view key) {
  Map* const held = std::get_if<Map>(&held_);
  if (held == nullptr) return nullptr;
  const auto found = std::ranges::find(*held, key, &Member::key);
  return found == held->end() ? nullptr : &found->value;
}

const Value& Value::operator[](std::string_view key) const {
  static const Value kNone;
  const Value* const found = find(key);
  return found == nullptr ? kNone : *found;
}

Value& Value::at(std::string_view key) {
  Map& held = edit_members();
  const auto found = std::ranges::find(held, key, &Member::key);
  if (found != held.end()) return found->value;
#ifdef BERTH_CHECKED
  held.shrink_to_fit();  // each new member moves the others: who keeps a reference too long is always found
#endif
  return held.emplace_back(Member{std::string(key), Value()}).value;
}

Value& Value::set(std::string_view key, Value value) {
  Value& member = at(key);
  member = std::move(value);
  return member;
}

bool Value::erase(std::string_view key) {
  Map* const held = std::get_if<Map>(&held_);
  if (held == nullptr) return false;
  const auto found = std::ranges::find(*held, key, &Member::key);
  if (found == held->end()) return false;
  held->erase(found);
  return true;
}

Value::List& Value::edit_items() {
  List* const held = std::get_if<List>(&held_);
  return held == nullptr ? held_.emplace<List>() : *held;
}

Value::Map& Value::edit_members() {
  Map* const held = std::get_if<Map>(&held_);
  return held == nullptr ? held_.emplace<Map>() : *held;
}

bool operator==(const Value& a, const Value& b) {
  if (a.kind() != b.kind()) return false;
  switch (a.kind()) {
    case Value::Kind::kNull:
      return true;
    case Value::Kind::kBool:
      return a.truth() == b.truth();
    case Value::Kind::kInteger:
      return a.integer() == b.integer();
    case Value::Kind::kNumber:
      return a.number_text() == b.number_text();
    case Value::Kind::kText:
      return a.text() == b.text();
    case Value::Kind::kList:
      return a.items() == b.items();
    case Value::Kind::kMap:
      return same_members(a.members(), b.members());
  }
  return false;
}

}  // namespace berth
