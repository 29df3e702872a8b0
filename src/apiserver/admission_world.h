// A world for tests of admission: objects in memory, everybody may everything or what a test says. For tests only.
#pragma once

#include <algorithm>
#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "apiserver/admission.h"
#include "apiserver/object_records.h"
#include "base/assert.h"
#include "manifest/json.h"
#include "manifest/kinds.h"
#include "manifest/yaml.h"

namespace berth {

class MemoryTransaction : public Transaction {
 public:
  RecordPtr find(std::string_view key) const override {
    const auto found = records_.find(key);
    return found == records_.end() ? nullptr : found->second;
  }
  void for_each(std::string_view prefix, const std::function<void(const RecordPtr&)>& visit) const override {
    for (auto at = records_.lower_bound(prefix); at != records_.end() && at->first.starts_with(prefix); ++at) {
      ++records_visited;
      visit(at->second);
    }
  }
  Revision next_revision() const override { return next_; }
  Revision put(std::string key, std::string bytes) override {
    auto record = std::make_shared<Record>(Record{key, std::move(bytes), next_});
    records_[std::move(key)] = std::move(record);
    return next_++;
  }
  Revision erase(const std::string& key, std::string) override {
    BERTH_ASSERT(records_.erase(key) == 1);
    return next_++;
  }

  mutable std::size_t records_visited = 0;

 private:
  std::map<std::string, RecordPtr, std::less<>> records_;
  Revision next_ = 1;
};

// Allows what it is told to; whoever is in no list may nothing.
class ListedAuthorizer : public Authorizer {
 public:
  // "user verb resource"
  std::vector<std::string> allowed;
  std::vector<std::string> beyond;

  AccessAnswer decide(const User& user, const AccessQuestion& question) const override {
    const std::string resource =
        question.subresource.empty() ? question.resource : question.resource + "/" + question.subresource;
    const bool found = std::ranges::find(allowed, user.name + " " + question.verb + " " + resource) != allowed.end();
    return {.allowed = found || user.in_group(kMasters), .reason = ""};
  }
  Value rules_of(const User&, std::string_view) const override { return {}; }
  std::vector<std::string> rules_beyond(const User&, std::string_view, const Value&) const override { return beyond; }
};

// One object from YAML. PRE: it is one.
inline Value yaml_object(std::string_view text) {
  auto parsed = parse_yaml(text);
  BERTH_ASSERT(parsed && parsed->size() == 1);
  return std::move(parsed->front());
}

inline const KindInfo& kind_of(const Value& object) {
  const KindInfo* const kind = find_served_kind(object["apiVersion"].text(), object["kind"].text());
  BERTH_ASSERT(kind != nullptr);
  return *kind;
}

inline std::string key_of(const Value& object) {
  return object_key(kind_of(object).qualified(), object["metadata"]["namespace"].text(),
                    object["metadata"]["name"].text());
}

// As the server would do it: defaults, validation, admission, writing; an answer of "" means done.
class AdmissionWorld {
 public:
  MemoryTransaction store;
  ListedAuthorizer authorizer;
  User user{.name = "ann", .uid = "", .groups = {"system:authenticated"}, .extra = {}};
  Time now{1'700'000'000'000};
  std::vector<std::string> warnings;

  AdmissionWorld() { put("{apiVersion: v1, kind: Namespace, metadata: {name: default}, status: {phase: Active}}"); }

  // Past every rule.
  void put(std::string_view yaml) { put_value(yaml_object(yaml)); }
  void put_value(Value object) {
    const std::string key = key_of(object);
    put_object(store, key, std::move(object));
  }

  std::string create(std::string_view yaml) { return create_value(yaml_object(yaml)); }
  std::string create_value(Value object) {
    if (object["metadata"]["uid"].is_null()) object.at("metadata").set("uid", "uid-" + std::to_string(++uids_));
    AdmissionRequest request = request_for(object, Operation::kCreate, nullptr, "");
    return write(request);
  }

  // The stored object after change(object).
  template <class Change>
  std::string update(const std::string& key, Change change, const std::string& subresource = "") {
    const Value before = find_object(store, key);
    BERTH_ASSERT(!before.is_null());
    Value object = before;
    change(object);
    AdmissionRequest request = request_for(object, Operation::kUpdate, &before, subresource);
    return write(request);
  }

  std::string erase(const std::string& key) {
    const Value object = find_object(store, key);
    BERTH_ASSERT(!object.is_null());
    AdmissionRequest request = request_for(const_cast<Value&>(object), Operation::kDelete, &object, "");
    request.object = nullptr;
    if (const auto refused = admit(request, store, authorizer)) return refused->message;
    store.erase(key, "{}");
    settle_after_end(store, *request.kind, object, now);
    return "";
  }

  Value at(std::string_view key) const { return find_object(store, key); }

 private:
  AdmissionRequest request_for(Value& object, Operation operation, const Value* before,
                               const std::string& subresource) {
    AdmissionRequest request;
    request.kind = &kind_of(object);
    request.operation = operation;
    request.subresource = subresource;
    request.user = user;
    request.now = now;
    request.before = before;
    request.object = &object;
    return request;
  }

  std::string write(AdmissionRequest& request) {
    fill_defaults(request);
    std::vector<ErrorCause> causes = validate(request);
    const std::string_view name = (*request.object)["metadata"]["name"].text();
    if (!causes.empty()) return invalid(*request.kind, name, std::move(causes)).message;
    const MemoryTransaction saved = store;
    const auto refused = admit(request, store, authorizer);
    warnings = request.warnings;
    if (refused) {
      store = saved;
      return refused->message;
    }
    put_object(store, key_of(*request.object), *request.object);
    return "";
  }

  int uids_ = 0;
};

}  // namespace berth
