// A set of paths into an object: who owns which fields. Written as FieldsV1: {"f:spec": {"f:replicas": {}}}.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "manifest/value.h"

namespace berth {

// A tree of path elements as FieldsV1 writes them: "f:name" a member, `k:{"name":"c"}` a list's item by its keys,
// `v:"x"` a list's item by its value, "i:0" by its position. A node may be in the set itself, and paths below it.
// INVARIANT: children are sorted by element, none twice; each is in the set or has something in the set below it.
class FieldSet {
 public:
  struct Child;

  bool empty() const;
  const std::vector<Child>& children() const { return children_; }
  const Child* find(std::string_view element) const;
  bool contains(const std::vector<std::string>& path) const;

  // Adds one child; one without member and paths is none. PRE: not there yet. Cheapest in any order, then sort() once.
  void add(std::string element, bool member, FieldSet below);
  void sort();
  void reserve(std::size_t children);
  void insert(const std::vector<std::string>& path);

  void unite(FieldSet others);
  // Without exactly these paths; what is below them stays.
  void subtract(const FieldSet& others);
  // Without these paths and everything below them.
  void subtract_with_all_below(const FieldSet& others);
  FieldSet intersection(const FieldSet& others) const;

  // Every path as people read it: `.spec.containers[name="c"].image`.
  std::vector<std::string> paths() const;

  Value to_fields_v1() &&;
  // None if it is no FieldsV1.
  static std::optional<FieldSet> from_fields_v1(const Value& fields);

  friend bool operator==(const FieldSet& a, const FieldSet& b);

 private:
  template <class Change>
  void change_common(const FieldSet& others, Change change);

  std::vector<Child> children_;
};

struct FieldSet::Child {
  std::string element;
  bool member = false;
  FieldSet below;

  friend bool operator==(const Child&, const Child&) = default;
};

}  // namespace berth
