#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "apiserver/admission_rules.h"
#include "apiserver/object_records.h"

namespace berth {

namespace {

constexpr std::string_view kRbacGroup = "rbac.authorization.k8s.io";

bool may(const AdmissionRequest& request, const Authorizer& authorizer, std::string verb, std::string resource,
         std::string_view name_space, std::string_view name) {
  AccessQuestion question;
  question.verb = std::move(verb);
  question.group = kRbacGroup;
  question.resource = std::move(resource);
  question.name_space = name_space;
  question.name = name;
  return authorizer.decide(request.user, question).allowed;
}

Refusal refuse_beyond(const AdmissionRequest& request, const std::vector<std::string>& beyond, std::string_view verb) {
  if (beyond.empty()) return {};
  std::string all;
  for (const std::string& rule : beyond) all.append(all.empty() ? "" : ", ").append(rule);
  return forbidden(*request.kind, (*request.object)["metadata"]["name"].text(),
                   "user \"" + request.user.name + "\" is attempting to grant RBAC permissions not currently held: " +
                       all + "; to give away more than one has takes the verb " + std::string(verb));
}

Refusal check_role_rules(const AdmissionRequest& request, const Authorizer& authorizer) {
  const Value& role = *request.object;
  if (request.before != nullptr && (*request.before)["rules"] == role["rules"]) return {};
  const std::string_view name_space = role["metadata"]["namespace"].text();
  if (may(request, authorizer, "escalate", request.kind->plural, name_space, role["metadata"]["name"].text()))
    return {};
  return refuse_beyond(request, authorizer.rules_beyond(request.user, name_space, role["rules"]),
                       "escalate on this role");
}

Refusal check_bound_role(const AdmissionRequest& request, const Transaction& transaction,
                         const Authorizer& authorizer) {
  const Value& binding = *request.object;
  if (request.before != nullptr && (*request.before)["subjects"] == binding["subjects"]) return {};
  const std::string_view name_space = binding["metadata"]["namespace"].text();
  const Value& ref = binding["roleRef"];
  const bool everywhere = ref["kind"].text() == "ClusterRole";
  const std::string resource = everywhere ? "clusterroles" : "roles";
  if (may(request, authorizer, "bind", resource, name_space, ref["name"].text())) return {};
  const std::string key =
      object_key(resource + "." + std::string(kRbacGroup), everywhere ? "" : name_space, ref["name"].text());
  const Value role = find_object(transaction, key);
  const std::vector<std::string> beyond = authorizer.rules_beyond(request.user, name_space, role["rules"]);
  if (!role.is_null() && beyond.empty()) return {};
  if (!may(request, authorizer, "get", resource, name_space, ref["name"].text())) {
    return forbidden(*request.kind, binding["metadata"]["name"].text(),
                     "user \"" + request.user.name + "\" may not bind " + std::string(ref["kind"].text()) + " \"" +
                         std::string(ref["name"].text()) +
                         "\": there is none of this name, or it grants permissions that the user does not hold; to "
                         "give away more than one has takes the verb bind on it, and to be told what, the verb get");
  }
  if (role.is_null()) {
    return forbidden(
        *request.kind, binding["metadata"]["name"].text(),
        std::string(ref["kind"].text()) + " \"" + std::string(ref["name"].text()) +
            "\" does not exist; create it first, since to bind what may come later takes the verb bind on it");
  }
  return refuse_beyond(request, beyond, "bind on the role");
}

}  // namespace

Refusal check_escalation(AdmissionRequest& request, Transaction& transaction, const Authorizer& authorizer) {
  if (request.kind->group != kRbacGroup) return {};
  if (request.kind->plural.ends_with("bindings")) return check_bound_role(request, transaction, authorizer);
  return check_role_rules(request, authorizer);
}

}  // namespace berth
