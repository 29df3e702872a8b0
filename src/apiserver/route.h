// From a path to what it names: group, version, resource, namespace, name, subresource. Pure; a path may be anything.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "manifest/kinds.h"

namespace berth {

struct Route {
  enum class What : std::uint8_t {
    kOther,            // no path of the resource API: discovery, health, or nothing
    kResource,         // `kind` and the texts below are set
    kUnknownResource,  // the group and version are served, the resource or the shape of the path is not
  };
  What what = What::kOther;
  const KindInfo* kind = nullptr;
  std::string name_space, name, subresource;
  bool legacy_watch = false;  // "/api/v1/watch/namespaces/default/pods"

  // INVARIANT of kResource: a namespaced kind without a namespace has no name; a subresource has a name.
  std::string key() const;     // "pods/default/p1"
  std::string prefix() const;  // of the keys of the collection: "pods/", "pods/default/", "nodes//"
};

Route parse_route(std::string_view path);

// RBAC's word for a request on a resource: "get", "list", "watch", "create", "update", "patch", "delete",
// "deletecollection"; empty for a method that no resource knows.
std::string_view verb_of(std::string_view method, const Route& route, bool watch);

}  // namespace berth
