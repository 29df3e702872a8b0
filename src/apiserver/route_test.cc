#include "apiserver/route.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>

namespace berth::route_test {

std::string described(const Route& route) {
  if (route.what == Route::What::kOther) return "other";
  if (route.what == Route::What::kUnknownResource) return "unknown";
  std::string text = route.key();
  if (!route.subresource.empty()) text += " " + route.subresource;
  return route.legacy_watch ? text + " watched" : text;
}

TEST(Route, NamesWhatAPathIsAbout) {
  const std::pair<const char*, const char*> cases[] = {
      {"/api/v1/pods", "pods//"},
      {"/api/v1/pods/", "pods//"},
      {"/api/v1/namespaces/team-a/pods", "pods/team-a/"},
      {"/api/v1/namespaces/team-a/pods/p1", "pods/team-a/p1"},
      {"/api/v1/namespaces/team-a/pods/p1/log", "pods/team-a/p1 log"},
      {"/api/v1/namespaces/team-a", "namespaces//team-a"},
      {"/api/v1/namespaces/team-a/status", "namespaces//team-a status"},
      {"/api/v1/namespaces", "namespaces//"},
      {"/api/v1/nodes/n1/status", "nodes//n1 status"},
      {"/apis/batch/v1/namespaces/a/jobs/j", "jobs.batch/a/j"},
      {"/apis/events.k8s.io/v1/namespaces/a/events/e", "events/a/e"},
      {"/api/v1/watch/pods", "pods// watched"},
      {"/api/v1/watch/namespaces/a/pods/p", "pods/a/p watched"},
      {"/api/v1/pods/p1", "unknown"},                      // of which namespace?
      {"/api/v1/namespaces/a/nodes", "unknown"},           // nodes are in none
      {"/api/v1/namespaces/a/pods/p/nothing", "unknown"},  // no such subresource
      {"/api/v1/namespaces/a/pods/p/log/x", "unknown"},
      {"/api/v1/nopes", "unknown"},
      {"/apis/batch/v1/namespaces/a", "unknown"},
      {"/apis/no.group/v1/things", "other"},
      {"/api/v1", "other"},
      {"/apis/batch/v1", "other"},
      {"/api/v1//pods", "other"},
      {"api/v1/pods", "other"},
      {"/", "other"},
      {"", "other"},
      {"/api/v1/a/b/c/d/e/f/g/h/i/j/k/l/m/n", "other"},
  };
  for (const auto& [path, what] : cases) EXPECT_EQ(described(parse_route(path)), what) << path;
}

TEST(Route, KeysAreWhatTheStoreSortsBy) {
  EXPECT_EQ(parse_route("/api/v1/namespaces/a/pods/p").key(), "pods/a/p");
  EXPECT_EQ(parse_route("/api/v1/nodes/n").key(), "nodes//n");
  EXPECT_EQ(parse_route("/apis/batch/v1/jobs").prefix(), "jobs.batch/");
  EXPECT_EQ(parse_route("/apis/batch/v1/namespaces/a/jobs").prefix(), "jobs.batch/a/");
  EXPECT_EQ(parse_route("/api/v1/nodes").prefix(), "nodes//");
}

TEST(Route, VerbsAreThoseThatRolesGrant) {
  struct Case {
    const char* method;
    const char* path;
    bool watch;
    std::string_view verb;
  };
  const Case cases[] = {
      {"GET", "/api/v1/pods", false, "list"},
      {"GET", "/api/v1/pods", true, "watch"},
      {"GET", "/api/v1/watch/pods", false, "watch"},
      {"GET", "/api/v1/nodes/n", true, "get"},
      {"POST", "/api/v1/nodes", false, "create"},
      {"POST", "/api/v1/nodes/n", false, ""},
      {"POST", "/api/v1/namespaces/a/pods/p/binding", false, "create"},
      {"PUT", "/api/v1/nodes/n", false, "update"},
      {"PUT", "/api/v1/nodes", false, ""},
      {"PATCH", "/api/v1/nodes/n/status", false, "patch"},
      {"DELETE", "/api/v1/nodes/n", false, "delete"},
      {"DELETE", "/api/v1/nodes/n/status", false, ""},
      {"DELETE", "/api/v1/nodes", false, "deletecollection"},
      {"HEAD", "/api/v1/nodes", false, ""},
  };
  for (const Case& each : cases) {
    EXPECT_EQ(verb_of(each.method, parse_route(each.path), each.watch), each.verb) << each.method << " " << each.path;
  }
}

}  // namespace berth::route_test
