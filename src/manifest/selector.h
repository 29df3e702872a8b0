// Label selectors (as text in a query, as an object in a spec) and field selectors, as Kubernetes defines them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "manifest/value.h"

namespace berth {

class LabelSelector {
 public:
  enum class Operator : std::uint8_t { kIn, kNotIn, kExists, kDoesNotExist, kGreater, kLess };
  struct Requirement {
    std::string key;
    Operator op = Operator::kExists;
    std::vector<std::string> values;
  };

  LabelSelector() = default;  // matches everything
  // "app=web,tier in (a, b),!old,x!=1,n>3"
  static Result<LabelSelector> parse(std::string_view text);
  // {matchLabels, matchExpressions}; a null object matches nothing, an empty one everything.
  static Result<LabelSelector> from_object(const Value& selector);

  bool matches(const Value& labels) const;  // a map of texts, or null
  bool matches_everything() const { return !nothing_ && requirements_.empty(); }
  const std::vector<Requirement>& requirements() const { return requirements_; }
  std::string to_string() const;

 private:
  std::vector<Requirement> requirements_;
  bool nothing_ = false;
};

// "status.phase!=Failed,spec.nodeName=n1"
class FieldSelector {
 public:
  struct Requirement {
    std::string field;
    bool equal = true;
    std::string value;
  };
  static Result<FieldSelector> parse(std::string_view text);
  const std::vector<Requirement>& requirements() const { return requirements_; }
  // lookup(field) -> std::string_view, "" when the object has none.
  template <class Lookup>
  bool matches(Lookup lookup) const {
    for (const Requirement& each : requirements_) {
      if ((lookup(std::string_view(each.field)) == std::string_view(each.value)) != each.equal) return false;
    }
    return true;
  }

 private:
  std::vector<Requirement> requirements_;
};

}  // namespace berth
