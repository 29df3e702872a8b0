// Which stored objects a list or watch is about: label and field selectors, asked of bytes without building a tree.
#pragma once

#include <expected>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "apiserver/api_error.h"
#include "apiserver/request_options.h"
#include "apiserver/route.h"
#include "store/store.h"

namespace berth {

class Selection {
 public:
  // 400 for a field that the kind cannot be asked for.
  static std::expected<Selection, ApiError> make(const Route& route, const ListOptions& options);

  bool everything() const { return everything_; }
  bool matches(const Record& record) const;
  const std::string& prefix() const { return prefix_; }
  // From now on nothing else than what it selects already and this shows.
  void keep_only(std::function<bool(const Record&)> shows);
  // The one key that can match, if the selection names an object ("metadata.name=p1", "/watch/.../pods/p1").
  const std::optional<std::string>& only_key() const { return only_key_; }

 private:
  struct FieldTest {
    std::vector<std::string> path;
    std::vector<std::string> otherwise;  // asked if `path` is empty: an event's source
    bool equal = true;
    std::string value;
    std::string_view when_absent;  // "false" of a bool
  };

  static std::optional<FieldTest> test_of(const KindInfo& kind, const FieldSelector::Requirement& requirement);
  bool parts_match(const Record& record) const;

  std::string prefix_;
  std::optional<std::string> only_key_;
  std::vector<std::string> excluded_names_, excluded_namespaces_;
  std::optional<std::string> only_namespace_;
  LabelSelector labels_;
  std::vector<FieldTest> fields_;
  std::function<bool(const Record&)> shows_;  // may be empty
  bool everything_ = true;
  bool nothing_ = false;  // two names at once
};

}  // namespace berth
