#include "apiserver/selection.h"

#include <simdjson.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "apiserver/other_views.h"
#include "manifest/value.h"

namespace berth {
namespace {

struct SelectableField {
  std::string_view qualified, field;
  std::string_view when_absent = {};
};
// Beside metadata.name and metadata.namespace, which every kind has. Source: the field label conversions of Kubernetes.
constexpr std::array kSelectable = std::to_array<SelectableField>({
    {"pods", "spec.nodeName"},
    {"pods", "spec.restartPolicy"},
    {"pods", "spec.schedulerName"},
    {"pods", "spec.serviceAccountName"},
    {"pods", "spec.hostNetwork", "false"},
    {"pods", "status.phase"},
    {"pods", "status.podIP"},
    {"pods", "status.podIPs"},
    {"pods", "status.nominatedNodeName"},
    {"nodes", "spec.unschedulable", "false"},
    {"jobs.batch", "status.successful", "0"},
    {"namespaces", "status.phase"},
    {"secrets", "type"},
    {"events", "involvedObject.kind"},
    {"events", "involvedObject.namespace"},
    {"events", "involvedObject.name"},
    {"events", "involvedObject.uid"},
    {"events", "involvedObject.apiVersion"},
    {"events", "involvedObject.resourceVersion"},
    {"events", "involvedObject.fieldPath"},
    {"events", "regarding.kind"},
    {"events", "regarding.namespace"},
    {"events", "regarding.name"},
    {"events", "regarding.uid"},
    {"events", "regarding.apiVersion"},
    {"events", "regarding.resourceVersion"},
    {"events", "regarding.fieldPath"},
    {"events", "reason"},
    {"events", "reportingComponent"},
    {"events", "reportingController"},
    {"events", "source"},
    {"events", "type"},
});

std::vector<std::string> split_path(std::string_view field) {
  std::vector<std::string> path;
  while (true) {
    const std::size_t dot = field.find('.');
    path.emplace_back(field.substr(0, dot));
    if (dot == std::string_view::npos) return path;
    field.remove_prefix(dot + 1);
  }
}

using Element = simdjson::dom::element;

// The text, number or truth at the path, as a selector would write it; empty if there is none.
std::string text_at(Element element, const std::vector<std::string>& path) {
  for (const std::string& step : path) {
    if (element.is_array()) {
      if (element.get_array().value_unsafe().at(0).get(element) != simdjson::SUCCESS) return {};
    }
    if (!element.is_object() || element.at_key(step).get(element) != simdjson::SUCCESS) return {};
  }
  std::string_view text;
  if (element.get(text) == simdjson::SUCCESS) return std::string(text);
  bool truth = false;
  if (element.get(truth) == simdjson::SUCCESS) return truth ? "true" : "false";
  std::int64_t number = 0;
  if (element.get(number) == simdjson::SUCCESS) return std::to_string(number);
  return {};
}

Value labels_of(const Element& object) {
  simdjson::dom::object labels;
  if (object["metadata"]["labels"].get(labels) != simdjson::SUCCESS) return {};
  Value all = Value::map();
  Value::Map& members = all.edit_members();
  for (const auto [key, value] : labels) {
    std::string_view text;
    if (value.get(text) == simdjson::SUCCESS) members.push_back({std::string(key), Value(text)});
  }
  return all;
}

// "pods/default/p1" -> "default", "p1".
std::pair<std::string_view, std::string_view> name_of(std::string_view key) {
  const std::size_t first = key.find('/');
  const std::size_t second = key.find('/', first + 1);
  return {key.substr(first + 1, second - first - 1), key.substr(second + 1)};
}

}  // namespace

std::optional<Selection::FieldTest> Selection::test_of(const KindInfo& kind,
                                                       const FieldSelector::Requirement& requirement) {
  const std::string qualified = key_word(kind);
  const auto* const known = std::ranges::find_if(kSelectable, [&](const SelectableField& each) {
    return each.qualified == qualified && each.field == requirement.field;
  });
  if (known == kSelectable.end()) return std::nullopt;
  FieldTest test;
  test.path = split_path(requirement.field);
  if (test.path[0] == "regarding") test.path[0] = "involvedObject";  // as they are kept
  if (test.path[0] == "reportingController") test.path[0] = "reportingComponent";
  if (requirement.field == "source") {
    test.path = {"source", "component"};
    test.otherwise = {"reportingComponent"};
  }
  if (requirement.field == "status.podIPs") test.path = {"status", "podIPs", "ip"};
  test.equal = requirement.equal;
  test.value = requirement.value;
  test.when_absent = known->when_absent;
  return test;
}

std::expected<Selection, ApiError> Selection::make(const Route& route, const ListOptions& options) {
  Selection selection;
  selection.prefix_ = route.prefix();
  selection.labels_ = options.labels;
  std::optional<std::string> name;
  if (!route.name.empty()) name = route.name;
  std::optional<std::string> name_space;
  for (const FieldSelector::Requirement& requirement : options.fields.requirements()) {
    const bool is_name = requirement.field == "metadata.name";
    if (is_name || requirement.field == "metadata.namespace") {
      if (!requirement.equal) {
        (is_name ? selection.excluded_names_ : selection.excluded_namespaces_).push_back(requirement.value);
        continue;
      }
      std::optional<std::string>& only = is_name ? name : name_space;
      if (only && *only != requirement.value) selection.nothing_ = true;
      only = requirement.value;
      continue;
    }
    auto test = test_of(*route.kind, requirement);
    if (!test) return std::unexpected(bad_request("field label not supported: " + requirement.field));
    selection.fields_.push_back(*std::move(test));
  }
  const bool everywhere = route.kind->namespaced && route.name_space.empty();
  const std::string within = everywhere ? name_space.value_or("") : route.name_space;
  if (!everywhere && name_space && *name_space != route.name_space) selection.nothing_ = true;
  if (everywhere) selection.only_namespace_ = name_space;
  if (name && (!everywhere || name_space)) selection.only_key_ = key_word(*route.kind) + "/" + within + "/" + *name;
  // A name in any namespace is found by looking at all names.
  if (name && !selection.only_key_) selection.fields_.push_back({{"metadata", "name"}, {}, true, *name, {}});
  selection.everything_ = !selection.nothing_ && options.labels.matches_everything() &&
                          options.fields.requirements().empty() && route.name.empty();
  return selection;
}

bool Selection::parts_match(const Record& record) const {
  if (nothing_) return false;
  if (only_key_ && record.key != *only_key_) return false;
  const auto [name_space, name] = name_of(record.key);
  if (only_namespace_ && name_space != *only_namespace_) return false;
  return std::ranges::find(excluded_names_, name) == excluded_names_.end() &&
         std::ranges::find(excluded_namespaces_, name_space) == excluded_namespaces_.end();
}

void Selection::keep_only(std::function<bool(const Record&)> shows) {
  shows_ = std::move(shows);
  everything_ = false;
}

bool Selection::matches(const Record& record) const {
  if (everything_) return true;
  if (!parts_match(record) || (shows_ && !shows_(record))) return false;
  if (fields_.empty() && labels_.matches_everything()) return true;

  thread_local simdjson::dom::parser parser;
  const std::string& bytes = record.bytes;
  const bool padded = bytes.capacity() >= bytes.size() + simdjson::SIMDJSON_PADDING;
  Element object;
  if (parser.parse(bytes.data(), bytes.size(), !padded).get(object) != simdjson::SUCCESS) return false;
  for (const FieldTest& test : fields_) {
    std::string text = text_at(object, test.path);
    if (text.empty() && !test.otherwise.empty()) text = text_at(object, test.otherwise);
    if (text.empty()) text = test.when_absent;
    if ((text == test.value) != test.equal) return false;
  }
  return labels_.matches_everything() || labels_.matches(labels_of(object));
}

}  // namespace berth
