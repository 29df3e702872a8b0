// Who may do what: Kubernetes' RBAC over the Role, ClusterRole, RoleBinding and ClusterRoleBinding objects of the store.
// Default deny. INVARIANT: follows the store (a change counts for every request that begins after it was acknowledged).
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "apiserver/user.h"
#include "manifest/value.h"
#include "store/store.h"

namespace berth {

// What is asked, as SubjectAccessReviews put it. A path question has `path` and `verb` only.
struct AccessQuestion {
  std::string
      verb;  // "get", "list", "watch", "create", "update", "patch", "delete", "deletecollection", "impersonate", "use", ...
  std::string group, resource, subresource, name_space, name;
  std::string path;  // "/healthz"
};

struct AccessAnswer {
  bool allowed = false;
  std::string reason;  // `RBAC: allowed by ClusterRoleBinding "x" of ClusterRole "y" to User "z"`
};

class Authorizer {
 public:
  virtual ~Authorizer() = default;
  // Members of system:masters may do everything.
  virtual AccessAnswer decide(const User& user, const AccessQuestion& question) const = 0;
  // The rules that hold for the user in a namespace, for SelfSubjectRulesReview: {resourceRules, nonResourceRules}.
  virtual Value rules_of(const User& user, std::string_view name_space) const = 0;
  // Empty if the user holds every rule of this list already ("no escalation"), else those he lacks, in words: the first ten.
  // Without a namespace only what he holds everywhere counts.
  virtual std::vector<std::string> rules_beyond(const User& user, std::string_view name_space,
                                                const Value& rules) const = 0;
};

// Looks at the store's roles again whenever its revision is not the one they were last compared at, so that nobody waits for
// a watch and nothing acknowledged is missed. PRE: the store outlives it.
std::unique_ptr<Authorizer> make_rbac_authorizer(Store& store);

// The roles and bindings every server begins with: cluster-admin, admin, edit, view, those of Berth's scheduler, node
// agent and controllers, discovery for everyone signed in, and sight of the queues and priority classes he may use (sight.h).
std::vector<Value> bootstrap_roles();

}  // namespace berth
