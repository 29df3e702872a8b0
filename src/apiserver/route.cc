#include "apiserver/route.h"

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "apiserver/other_views.h"

namespace berth {
namespace {

// More than the longest path of the API has; whatever is longer is no path of it.
constexpr std::size_t kSegmentsMax = 12;

// None for empty segments (a doubled slash) and for too many.
std::optional<std::vector<std::string_view>> segments_of(std::string_view path) {
  if (!path.starts_with('/')) return std::nullopt;
  path.remove_prefix(1);
  if (path.ends_with('/')) path.remove_suffix(1);
  std::vector<std::string_view> segments;
  while (true) {
    const std::size_t slash = path.find('/');
    const std::string_view segment = path.substr(0, slash);
    if (segment.empty() || segments.size() == kSegmentsMax) return std::nullopt;
    segments.push_back(segment);
    if (slash == std::string_view::npos) return segments;
    path.remove_prefix(slash + 1);
  }
}

struct Location {
  std::string_view group, version;
  std::span<const std::string_view> rest;
};

std::optional<Location> locate(std::span<const std::string_view> segments) {
  if (segments.size() > 2 && segments[0] == "api") return Location{"", segments[1], segments.subspan(2)};
  if (segments.size() > 3 && segments[0] == "apis") return Location{segments[1], segments[2], segments.subspan(3)};
  return std::nullopt;
}

// "namespaces/NS/status" is of the Namespace itself, "namespaces/NS/pods" a collection in it.
bool of_namespace_itself(const Location& at) {
  return at.rest.size() <= 2 || (at.rest.size() == 3 && (at.rest[2] == "status" || at.rest[2] == "finalize"));
}

}  // namespace

Route parse_route(std::string_view path) {
  Route route;
  const auto segments = segments_of(path);
  if (!segments) return route;
  std::optional<Location> at = locate(*segments);
  if (!at || !group_version_is_served(at->group, at->version)) return route;

  route.what = Route::What::kUnknownResource;
  if (at->rest.size() > 1 && at->rest[0] == "watch") {
    route.legacy_watch = true;
    at->rest = at->rest.subspan(1);
  }
  const bool in_namespace = at->rest[0] == "namespaces" && !(at->group.empty() && of_namespace_itself(*at));
  if (in_namespace) {
    if (at->rest.size() < 3) return route;
    route.name_space = at->rest[1];
    at->rest = at->rest.subspan(2);
  }
  route.kind = find_served(at->group, at->version, at->rest[0]);
  if (route.kind == nullptr || at->rest.size() > 3) return route;
  if (at->rest.size() > 1) route.name = at->rest[1];
  if (at->rest.size() > 2) route.subresource = at->rest[2];

  const bool fits = route.kind->namespaced ? in_namespace || route.name.empty() : !in_namespace;
  const bool subresource_fits =
      route.subresource.empty() || (!route.legacy_watch && route.kind->has_subresource(route.subresource));
  if (fits && subresource_fits) route.what = Route::What::kResource;
  return route;
}

std::string Route::key() const { return key_word(*kind) + "/" + name_space + "/" + name; }

std::string Route::prefix() const {
  if (kind->namespaced && name_space.empty()) return key_word(*kind) + "/";
  return key_word(*kind) + "/" + name_space + "/";
}

std::string_view verb_of(std::string_view method, const Route& route, bool watch) {
  const bool one = !route.name.empty();
  if (method == "GET") {
    if (route.legacy_watch) return "watch";
    if (one) return "get";
    return watch ? "watch" : "list";
  }
  if (route.legacy_watch) return {};
  if (method == "POST") return one && route.subresource.empty() ? std::string_view() : "create";
  if (method == "PUT") return one ? "update" : std::string_view();
  if (method == "PATCH") return one ? "patch" : std::string_view();
  if (method == "DELETE") return one ? (route.subresource.empty() ? "delete" : std::string_view()) : "deletecollection";
  return {};
}

}  // namespace berth
