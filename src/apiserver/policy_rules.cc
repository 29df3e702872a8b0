#include "apiserver/policy_rules.h"

#include <algorithm>
#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "manifest/json.h"

namespace berth {

namespace {

bool holds(const std::vector<std::string>& words, std::string_view word) {
  return std::ranges::any_of(words, [&](const std::string& each) { return each == "*" || each == word; });
}

// "*", the resource as written ("pods", "pods/log"), or "*/log" for that subresource of everything.
bool resource_matches(std::string_view pattern, std::string_view resource) {
  if (pattern == "*" || pattern == resource) return true;
  const std::size_t slash = resource.find('/');
  return slash != std::string_view::npos && pattern.starts_with("*/") &&
         pattern.substr(2) == resource.substr(slash + 1);
}

bool path_matches(std::string_view pattern, std::string_view path) {
  if (pattern == path) return true;
  return pattern.ends_with('*') && path.starts_with(pattern.substr(0, pattern.size() - 1));
}

std::vector<std::string> texts_of(const Value& list) {
  std::vector<std::string> texts;
  for (const Value& item : list.items()) texts.emplace_back(item.text());
  return texts;
}

Value value_of(const std::vector<std::string>& texts) {
  Value list = Value::list();
  for (const std::string& text : texts) list.push_back(text);
  return list;
}

// `single` has one word in every list that is not empty.
bool contains(const PolicyRule& held, const PolicyRule& single) {
  if (!holds(held.verbs, single.verbs.front())) return false;
  if (!single.paths.empty()) {
    return std::ranges::any_of(held.paths, [&](const auto& each) { return path_matches(each, single.paths.front()); });
  }
  if (!holds(held.groups, single.groups.front())) return false;
  const bool resource = std::ranges::any_of(
      held.resources, [&](const auto& each) { return resource_matches(each, single.resources.front()); });
  if (!resource || held.names.empty()) return resource;
  return !single.names.empty() && std::ranges::find(held.names, single.names.front()) != held.names.end();
}

// Calls visit(permission) for everything one by one; false once visit said so.
bool take_apart(const PolicyRule& rule, const std::function<bool(const PolicyRule&)>& visit) {
  for (const std::string& verb : rule.verbs) {
    for (const std::string& path : rule.paths) {
      if (!visit({.verbs = {verb}, .groups = {}, .resources = {}, .names = {}, .paths = {path}})) return false;
    }
    for (const std::string& group : rule.groups) {
      for (const std::string& resource : rule.resources) {
        PolicyRule single{.verbs = {verb}, .groups = {group}, .resources = {resource}, .names = {}, .paths = {}};
        if (rule.names.empty() && !visit(single)) return false;
        for (const std::string& name : rule.names) {
          single.names = {name};
          if (!visit(single)) return false;
        }
      }
    }
  }
  return true;
}

// How many permissions take_apart() would visit, or `most` + 1.
std::size_t permissions_in(const PolicyRule& rule, std::size_t most) {
  std::size_t about_resources = rule.groups.size();
  for (const std::size_t factor : {rule.resources.size(), std::max<std::size_t>(rule.names.size(), 1)}) {
    about_resources = std::min(about_resources, most + 1) * std::min(factor, most + 1);
  }
  return std::min(std::min(about_resources + rule.paths.size(), most + 1) * std::min(rule.verbs.size(), most + 1),
                  most + 1);
}

}  // namespace

bool PolicyRule::allows(const AccessQuestion& question) const {
  if (!holds(verbs, question.verb)) return false;
  if (!question.path.empty()) {
    return std::ranges::any_of(paths, [&](const auto& each) { return path_matches(each, question.path); });
  }
  if (!holds(groups, question.group)) return false;
  const std::string resource =
      question.subresource.empty() ? question.resource : question.resource + "/" + question.subresource;
  const bool matches =
      std::ranges::any_of(resources, [&](const auto& each) { return resource_matches(each, resource); });
  return matches && (names.empty() || std::ranges::find(names, question.name) != names.end());
}

Value PolicyRule::to_value() const {
  Value value = Value::map();
  value.set("verbs", value_of(verbs));
  if (!groups.empty()) value.set("apiGroups", value_of(groups));
  if (!resources.empty()) value.set("resources", value_of(resources));
  if (!names.empty()) value.set("resourceNames", value_of(names));
  if (!paths.empty()) value.set("nonResourceURLs", value_of(paths));
  return value;
}

std::string PolicyRule::to_string() const { return to_json(to_value()); }

std::vector<PolicyRule> rules_of_list(const Value& rules) {
  std::vector<PolicyRule> all;
  for (const Value& rule : rules.items()) {
    all.push_back({.verbs = texts_of(rule["verbs"]),
                   .groups = texts_of(rule["apiGroups"]),
                   .resources = texts_of(rule["resources"]),
                   .names = texts_of(rule["resourceNames"]),
                   .paths = texts_of(rule["nonResourceURLs"])});
  }
  return all;
}

void find_missing(const std::vector<PolicyRule>& wanted, const std::vector<PolicyRule>& held,
                  const std::function<bool(const PolicyRule&)>& missing) {
  std::size_t left = kPermissionsComparedMax;
  for (const PolicyRule& rule : wanted) {
    const std::size_t count = permissions_in(rule, left);
    if (count > left) {
      if (!missing(rule)) return;
      continue;
    }
    left -= count;
    const bool go_on = take_apart(rule, [&](const PolicyRule& single) {
      const bool found = std::ranges::any_of(held, [&](const PolicyRule& each) { return contains(each, single); });
      return found || missing(single);
    });
    if (!go_on) return;
  }
}

}  // namespace berth
