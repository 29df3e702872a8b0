#include "apiserver/shape.h"

#include <algorithm>
#include <cstddef>
#include <map>
#include <set>
#include <utility>

#include "manifest/json.h"

namespace berth {

ObjectShape::ObjectShape(const Field& field, Plurality plurality) : field_(&field), plurality_(plurality) {
  whole_ = plurality == field.plurality;
  if (plurality == Plurality::kOne && field.scalar == Scalar::kObject) type_ = field.type;
}

ObjectShape ObjectShape::member(std::string_view key) const {
  if (is_map()) return ObjectShape(*field_, Plurality::kOne);
  const Field* const field = type_ == nullptr ? nullptr : type_->find(key);
  return field == nullptr ? ObjectShape() : ObjectShape(*field);
}

ObjectShape ObjectShape::item() const { return is_list() ? ObjectShape(*field_, Plurality::kOne) : ObjectShape(); }

bool ObjectShape::is_atomic(const Value& value) const {
  if (whole_ && field_->atomic) return true;
  if (is_list()) return !value.is_list() || field_->ownership == ListOwnership::kAtomic;
  return !value.is_map() || !(is_object() || is_map());
}

namespace {

// The keys' only default in the API: ports without a protocol are TCP ports.
const Value& key_of(const Value& item, const std::string& key) {
  static const Value kTcp("TCP");
  const Value& value = item[key];
  return value.is_null() && key == "protocol" ? kTcp : value;
}

bool is_scalar(const Value& value) { return !value.is_null() && !value.is_list() && !value.is_map(); }

std::string keyed_element(const std::vector<std::string>& sorted_keys, const Value& item, std::string& why) {
  std::string element = "k:{";
  for (const std::string& key : sorted_keys) {
    const Value& value = key_of(item, key);
    if (!is_scalar(value)) {
      why = "has no " + key;
      return {};
    }
    if (element.size() > 3) element += ',';
    append_json_text(key, element);
    element += ':';
    append_json(value, element);
  }
  return element + '}';
}

bool has_duplicate(const std::vector<std::string>& elements, std::string& why) {
  std::set<std::string_view> seen;
  for (std::size_t i = 0; i < elements.size(); ++i) {
    if (seen.insert(elements[i]).second) continue;
    why = "element " + std::to_string(i) + ": duplicates " + elements[i].substr(2);
    return true;
  }
  return false;
}

}  // namespace

std::optional<std::vector<std::string>> item_elements(const ObjectShape& list, const Value& value, std::string* why) {
  std::string reason = "is owned as a whole";
  const Field* const field = list.is_list() ? list.field() : nullptr;
  std::optional<std::vector<std::string>> elements;
  if (field != nullptr && value.is_list() && field->ownership != ListOwnership::kAtomic) {
    std::vector<std::string> keys = field->owner_keys;
    std::ranges::sort(keys);
    elements.emplace();
    for (const Value& item : value.items()) {
      std::string element;
      std::string lacks = "is no scalar";
      if (field->ownership == ListOwnership::kKeyed)
        element = keyed_element(keys, item, lacks);
      else if (is_scalar(item))
        element = "v:" + to_json(item);
      if (element.empty()) {
        reason = "element " + std::to_string(elements->size()) + ": " + lacks;
        elements.reset();
        break;
      }
      elements->push_back(std::move(element));
    }
    if (elements && has_duplicate(*elements, reason)) elements.reset();
  }
  if (!elements && why != nullptr) *why = reason;
  return elements;
}

std::vector<std::string> merged_order(const std::vector<std::string>& wanted, const std::vector<std::string>& live) {
  std::map<std::string_view, std::size_t> place;
  for (std::size_t i = 0; i < live.size(); ++i) place.emplace(live[i], i);
  const std::set<std::string_view> named(wanted.begin(), wanted.end());
  // Where each wanted one stood; new ones go with the next that was there.
  std::vector<std::size_t> stood(wanted.size(), live.size());
  std::size_t last = live.size();
  for (std::size_t i = wanted.size(); i-- > 0; stood[i] = last) {
    if (const auto found = place.find(wanted[i]); found != place.end()) last = found->second;
  }
  std::vector<std::string> merged;
  std::size_t next = 0;
  for (std::size_t i = 0; i < live.size(); ++i) {
    if (named.contains(live[i])) continue;
    while (next < wanted.size() && stood[next] < i) merged.push_back(wanted[next++]);
    merged.push_back(live[i]);
  }
  merged.insert(merged.end(), wanted.begin() + static_cast<std::ptrdiff_t>(next), wanted.end());
  return merged;
}

}  // namespace berth
