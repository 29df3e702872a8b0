// The kinds that the API server serves, as one table: discovery, OpenAPI, routes, clients and the command line read it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "manifest/schema.h"
#include "manifest/value.h"

namespace berth {

struct KindInfo {
  std::string group;    // "" for the core
  std::string version;  // "v1"
  std::string kind;     // "Pod"
  std::string plural;   // "pods"
  std::string singular;
  std::vector<std::string> short_names;
  std::vector<std::string> categories;
  bool namespaced = true;
  // What may be asked of it; reviews (TokenReview and the like) are only created and never stored.
  std::vector<std::string> verbs;
  std::vector<std::string> subresources;  // "status", "scale", "binding", "eviction", "log"
  bool has_generation = false;            // metadata.generation counts changes of the spec
  bool custom = false;                    // not of Kubernetes itself, as custom resources are: no strategic patches
  bool other_view = false;                // kept in the form of another row (apiserver/other_views.h)
  bool update_needs_revision = false;     // PUT without metadata.resourceVersion is refused
  const Type* type = nullptr;             // the whole object, with apiVersion, kind, metadata

  std::string api_version() const { return group.empty() ? version : group + "/" + version; }
  // "pods", "jobs.batch": in messages and as the first part of a store key. events.k8s.io/v1 events are kept as
  // "events".
  std::string qualified() const { return group.empty() ? plural : plural + "." + group; }
  bool has_verb(std::string_view verb) const;
  bool has_subresource(std::string_view name) const;
};

// In the order of discovery: the core first.
const std::vector<KindInfo>& served_kinds();
const KindInfo* find_served(std::string_view group, std::string_view version, std::string_view plural);
const KindInfo* find_served_kind(std::string_view api_version, std::string_view kind);
bool group_version_is_served(std::string_view group, std::string_view version);

// OpenAPI v3 of one group version (paths with parameters, schemas with x-kubernetes-group-version-kind).
Value openapi_v3(std::string_view group, std::string_view version);

}  // namespace berth
