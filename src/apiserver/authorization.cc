#include "apiserver/authorization.h"

#include <algorithm>
#include <cstddef>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "apiserver/object_records.h"
#include "apiserver/policy_rules.h"

namespace berth {

namespace {

constexpr std::string_view kClusterRoles = "clusterroles.rbac.authorization.k8s.io";
constexpr std::string_view kRoles = "roles.rbac.authorization.k8s.io";
constexpr std::string_view kClusterBindings = "clusterrolebindings.rbac.authorization.k8s.io";
constexpr std::string_view kBindings = "rolebindings.rbac.authorization.k8s.io";

// A role or a binding, taken apart once.
struct ReadObject {
  Revision revision = 0;
  std::vector<PolicyRule> rules;  // of a role
  // Of a binding:
  std::string role_key;
  std::string name_space;             // empty: everywhere
  std::string text;                   // `ClusterRoleBinding "x" of ClusterRole "y"`
  std::vector<std::string> subjects;  // as subject_key() writes them
};

std::string subject_key(char sort, std::string_view name) { return std::string(1, sort).append(name); }

// Empty for a kind that there is not.
std::string subject_key(const Value& subject, std::string_view binding_namespace) {
  const std::string_view kind = subject["kind"].text();
  const std::string_view name = subject["name"].text();
  if (kind == "User") return subject_key('u', name);
  if (kind == "Group") return subject_key('g', name);
  if (kind != "ServiceAccount") return {};
  const std::string_view name_space = subject["namespace"].text(binding_namespace);
  return subject_key('u', "system:serviceaccount:" + std::string(name_space) + ":" + std::string(name));
}

// "User \"z\"", from its key.
std::string subject_text(const std::string& key) {
  return (key.front() == 'u' ? "User \"" : "Group \"") + key.substr(1) + "\"";
}

ReadObject read_binding(const Value& binding, bool everywhere) {
  ReadObject read;
  const std::string_view role_kind = binding["roleRef"]["kind"].text();
  const std::string_view role = binding["roleRef"]["name"].text();
  const std::string_view name_space = binding["metadata"]["namespace"].text();
  if (!everywhere) read.name_space = name_space;
  read.role_key =
      role_kind == "ClusterRole" ? object_key(kClusterRoles, "", role) : object_key(kRoles, name_space, role);
  const std::string_view name = binding["metadata"]["name"].text();
  read.text = everywhere ? "ClusterRoleBinding \"" : "RoleBinding \"";
  read.text.append(everywhere ? std::string(name) : std::string(name) + "/" + std::string(name_space));
  read.text.append("\" of ").append(role_kind).append(" \"").append(role).append("\"");
  for (const Value& subject : binding["subjects"].items()) {
    if (std::string key = subject_key(subject, name_space); !key.empty()) read.subjects.push_back(std::move(key));
  }
  return read;
}

// All roles and bindings at one moment. Never changed once it is made.
class RbacState {
 public:
  // What has the same key and revision in `earlier` is taken over instead of read again.
  RbacState(const std::vector<RecordPtr>& records, const RbacState* earlier) {
    for (const RecordPtr& record : records) {
      const auto known = earlier == nullptr ? objects_.end() : earlier->objects_.find(record->key);
      const bool same =
          earlier != nullptr && known != earlier->objects_.end() && known->second->revision == record->revision;
      objects_.emplace(record->key, same ? known->second : read(record));
    }
    for (const auto& [key, object] : objects_) {
      const auto role = objects_.find(object->role_key);
      if (object->role_key.empty() || role == objects_.end()) continue;
      for (const std::string& subject : object->subjects) {
        grants_[grant_key(object->name_space, subject)].push_back({object.get(), role->second.get()});
      }
    }
  }

  bool is_of(const std::vector<RecordPtr>& records) const {
    return records.size() == objects_.size() && std::ranges::all_of(records, [&](const RecordPtr& record) {
             const auto known = objects_.find(record->key);
             return known != objects_.end() && known->second->revision == record->revision;
           });
  }

  // Calls visit(binding, role, subject) for what the user has everywhere and, unless that is empty, in the namespace,
  // until it answers false.
  template <class Visit>
  void for_each_grant(const User& user, std::string_view name_space, Visit visit) const {
    const auto of_subject = [&](const std::string& subject) {
      return of_place("", subject, visit) && (name_space.empty() || of_place(name_space, subject, visit));
    };
    if (!of_subject(subject_key('u', user.name))) return;
    for (const std::string& group : user.groups) {
      if (!of_subject(subject_key('g', group))) return;
    }
  }

 private:
  struct Grant {
    const ReadObject* binding;
    const ReadObject* role;
  };

  static std::string grant_key(std::string_view name_space, std::string_view subject) {
    return std::string(name_space).append("\n").append(subject);
  }

  static std::shared_ptr<const ReadObject> read(const RecordPtr& record) {
    const Value object = object_of(record);
    const std::string_view kind = std::string_view(record->key).substr(0, record->key.find('/'));
    ReadObject read;
    if (kind == kClusterBindings || kind == kBindings) {
      read = read_binding(object, kind == kClusterBindings);
    } else {
      read.rules = rules_of_list(object["rules"]);
    }
    read.revision = record->revision;
    return std::make_shared<const ReadObject>(std::move(read));
  }

  template <class Visit>
  bool of_place(std::string_view name_space, const std::string& subject, Visit& visit) const {
    const auto grants = grants_.find(grant_key(name_space, subject));
    if (grants == grants_.end()) return true;
    return std::ranges::all_of(grants->second,
                               [&](const Grant& grant) { return visit(*grant.binding, *grant.role, subject); });
  }

  std::map<std::string, std::shared_ptr<const ReadObject>> objects_;  // by store key
  std::map<std::string, std::vector<Grant>> grants_;                  // by namespace and subject
};

class RbacAuthorizer : public Authorizer {
 public:
  explicit RbacAuthorizer(Store& store) : store_(store) {}

  AccessAnswer decide(const User& user, const AccessQuestion& question) const override {
    if (user.in_group(kMasters)) return {.allowed = true, .reason = "member of the group " + std::string(kMasters)};
    AccessAnswer answer;
    const std::string_view name_space = question.path.empty() ? std::string_view(question.name_space) : "";
    state()->for_each_grant(user, name_space, [&](const ReadObject& binding, const ReadObject& role, const auto& who) {
      if (!std::ranges::any_of(role.rules, [&](const PolicyRule& rule) { return rule.allows(question); })) return true;
      answer = {.allowed = true, .reason = "RBAC: allowed by " + binding.text + " to " + subject_text(who)};
      return false;
    });
    return answer;
  }

  Value rules_of(const User& user, std::string_view name_space) const override {
    Value answer = Value::map_of({{"resourceRules", Value::list()}, {"nonResourceRules", Value::list()}});
    for (const PolicyRule& rule : held_by(user, name_space)) {
      Value written = rule.to_value();
      const bool about_paths = !rule.paths.empty();
      if (about_paths) {
        answer.at("nonResourceRules")
            .push_back(Value::map_of({{"verbs", written["verbs"]}, {"nonResourceURLs", written["nonResourceURLs"]}}));
        written.erase("nonResourceURLs");
      }
      if (!about_paths || !rule.resources.empty()) answer.at("resourceRules").push_back(std::move(written));
    }
    return answer;
  }

  std::vector<std::string> rules_beyond(const User& user, std::string_view name_space,
                                        const Value& rules) const override {
    constexpr std::size_t kNamedMax = 10;
    std::vector<std::string> beyond;
    if (user.in_group(kMasters)) return beyond;
    find_missing(rules_of_list(rules), held_by(user, name_space), [&](const PolicyRule& missing) {
      beyond.push_back(missing.to_string());
      return beyond.size() < kNamedMax;
    });
    return beyond;
  }

 private:
  std::vector<PolicyRule> held_by(const User& user, std::string_view name_space) const {
    std::vector<PolicyRule> held;
    if (user.in_group(kMasters)) {
      held.push_back({.verbs = {"*"}, .groups = {"*"}, .resources = {"*"}, .names = {}, .paths = {}});
      held.push_back({.verbs = {"*"}, .groups = {}, .resources = {}, .names = {}, .paths = {"*"}});
    }
    state()->for_each_grant(user, name_space, [&](const ReadObject& binding, const ReadObject& role, const auto&) {
      for (PolicyRule rule : role.rules) {
        // Paths belong to no namespace: a RoleBinding does not give them.
        if (!binding.name_space.empty()) rule.paths.clear();
        if (!rule.resources.empty() || !rule.paths.empty()) held.push_back(std::move(rule));
      }
      return true;
    });
    return held;
  }

  std::shared_ptr<const RbacState> state() const {
    const std::lock_guard lock(mutex_);
    // Asked for before the listing: what is acknowledged later is compared with next time.
    const Revision revision = store_.revision();
    if (state_ == nullptr || compared_at_ != revision) {
      std::vector<RecordPtr> records;
      for (const std::string_view kind : {kClusterRoles, kRoles, kClusterBindings, kBindings}) {
        for (RecordPtr& record : store_.list(std::string(kind) + "/").records) records.push_back(std::move(record));
      }
      if (state_ == nullptr || !state_->is_of(records)) state_ = std::make_shared<RbacState>(records, state_.get());
      compared_at_ = revision;
    }
    return state_;
  }

  Store& store_;
  mutable std::mutex mutex_;
  mutable std::shared_ptr<const RbacState> state_;
  mutable Revision compared_at_ = 0;
};

}  // namespace

std::unique_ptr<Authorizer> make_rbac_authorizer(Store& store) { return std::make_unique<RbacAuthorizer>(store); }

}  // namespace berth
