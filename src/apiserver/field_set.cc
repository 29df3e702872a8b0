#include "apiserver/field_set.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "manifest/json.h"

namespace berth {

namespace {

constexpr auto kElement = [](const FieldSet::Child& child) -> std::string_view { return child.element; };

bool is_element(std::string_view text) {
  return text.size() > 1 && text[1] == ':' && (text[0] == 'f' || text[0] == 'k' || text[0] == 'v' || text[0] == 'i');
}

// `k:{"name":"c","protocol":"TCP"}` -> `[name="c",protocol="TCP"]`.
std::string readable(std::string_view element) {
  const std::string_view rest = element.substr(2);
  if (element[0] == 'f') return "." + std::string(rest);
  if (element[0] == 'v') return "[=" + std::string(rest) + "]";
  const auto keys = element[0] == 'k' ? parse_json(rest) : Result<Value>(Value());
  if (!keys || !keys->is_map()) return "[" + std::string(rest) + "]";
  std::string text = "[";
  for (const Value::Member& key : keys->members()) {
    if (text.size() > 1) text += ',';
    text += key.key + "=" + to_json(key.value);
  }
  return text + "]";
}

void append_paths(const FieldSet& set, const std::string& above, std::vector<std::string>& paths) {
  for (const FieldSet::Child& child : set.children()) {
    const std::string path = above + readable(child.element);
    if (child.member) paths.push_back(path);
    append_paths(child.below, path, paths);
  }
}

}  // namespace

bool operator==(const FieldSet& a, const FieldSet& b) { return a.children_ == b.children_; }

bool FieldSet::empty() const { return children_.empty(); }

void FieldSet::reserve(std::size_t children) { children_.reserve(children); }

const FieldSet::Child* FieldSet::find(std::string_view element) const {
  const auto found = std::ranges::lower_bound(children_, element, {}, kElement);
  return found != children_.end() && found->element == element ? &*found : nullptr;
}

bool FieldSet::contains(const std::vector<std::string>& path) const {
  const FieldSet* set = this;
  const Child* child = nullptr;
  for (const std::string& element : path) {
    child = set->find(element);
    if (child == nullptr) return false;
    set = &child->below;
  }
  return child != nullptr && child->member;
}

void FieldSet::add(std::string element, bool member, FieldSet below) {
  if (!member && below.empty()) return;
  children_.push_back({std::move(element), member, std::move(below)});
}

void FieldSet::sort() {
  if (!std::ranges::is_sorted(children_, {}, kElement)) std::ranges::sort(children_, {}, kElement);
}

void FieldSet::insert(const std::vector<std::string>& path) {
  FieldSet one;
  bool member = true;
  for (auto element = path.rbegin(); element != path.rend(); ++element) {
    FieldSet above;
    above.add(*element, std::exchange(member, false), std::move(one));
    one = std::move(above);
  }
  unite(one);
}

void FieldSet::unite(FieldSet others) {
  if (others.empty()) return;
  if (empty()) {
    children_ = std::move(others.children_);
    return;
  }
  std::vector<Child> united;
  united.reserve(children_.size() + others.children_.size());
  auto other = others.children_.begin();
  for (Child& child : children_) {
    while (other != others.children_.end() && other->element < child.element) united.push_back(std::move(*other++));
    if (other != others.children_.end() && other->element == child.element) {
      child.member = child.member || other->member;
      child.below.unite(std::move(other->below));
      ++other;
    }
    united.push_back(std::move(child));
  }
  united.insert(united.end(), std::move_iterator(other), std::move_iterator(others.children_.end()));
  children_ = std::move(united);
}

// Lets `change(child, other)` change each child that both have; those that became empty go.
template <class Change>
void FieldSet::change_common(const FieldSet& others, Change change) {
  auto other = others.children_.begin();
  for (Child& child : children_) {
    while (other != others.children_.end() && other->element < child.element) ++other;
    if (other == others.children_.end()) break;
    if (other->element == child.element) change(child, *other);
  }
  std::erase_if(children_, [](const Child& child) { return !child.member && child.below.empty(); });
}

void FieldSet::subtract(const FieldSet& others) {
  change_common(others, [](Child& child, const Child& other) {
    child.member = child.member && !other.member;
    child.below.subtract(other.below);
  });
}

void FieldSet::subtract_with_all_below(const FieldSet& others) {
  change_common(others, [](Child& child, const Child& other) {
    if (other.member)
      child = {std::move(child.element), false, {}};
    else
      child.below.subtract_with_all_below(other.below);
  });
}

FieldSet FieldSet::intersection(const FieldSet& others) const {
  FieldSet common;
  auto other = others.children_.begin();
  for (const Child& child : children_) {
    while (other != others.children_.end() && other->element < child.element) ++other;
    if (other == others.children_.end()) break;
    if (other->element != child.element) continue;
    common.add(child.element, child.member && other->member, child.below.intersection(other->below));
  }
  return common;
}

std::vector<std::string> FieldSet::paths() const {
  std::vector<std::string> paths;
  append_paths(*this, "", paths);
  return paths;
}

Value FieldSet::to_fields_v1() && {
  Value fields = Value::map();
  Value::Map& members = fields.edit_members();
  members.reserve(children_.size() + 1);
  for (Child& child : children_) {
    // "." says that the node itself is in the set; without anything below it that goes without saying.
    const bool says_itself = child.member && !child.below.empty();
    Value below = std::move(child.below).to_fields_v1();
    if (says_itself) below.edit_members().insert(below.edit_members().begin(), Value::Member{".", Value::map()});
    members.push_back({std::move(child.element), std::move(below)});
  }
  return fields;
}

std::optional<FieldSet> FieldSet::from_fields_v1(const Value& fields) {
  if (!fields.is_map()) return std::nullopt;
  FieldSet set;
  for (const Value::Member& member : fields.members()) {
    if (member.key == ".") continue;  // the parent's business
    std::optional<FieldSet> below = from_fields_v1(member.value);
    if (!below || !is_element(member.key)) return std::nullopt;
    const bool in_set = below->empty() || member.value.find(".") != nullptr;
    set.add(member.key, in_set, std::move(*below));
  }
  set.sort();
  return set;
}

}  // namespace berth
