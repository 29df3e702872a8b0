#include "apiserver/accept.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "apiserver/health.h"

namespace berth::accept_test {

TEST(Accept, TheBestComesFirst) {
  const std::pair<const char*, const char*> cases[] = {
      {"application/json", "application/json"},
      {"application/yaml;q=0.5, application/json", "application/json application/yaml"},
      {"application/yaml;q=0.9,application/json;q=0.25", "application/yaml application/json"},
      {"*/*, application/*, application/yaml", "application/yaml application/* */*"},
      {"application/json;q=0, */*;q=0.1", "*/*"},
      {"application/yaml;q=.2, application/json;q=nonsense", "application/json application/yaml"},
      {" , ;q=1,", ""},
      {"a/a,b/b", "a/a b/b"},
  };
  for (const auto& [header, expected] : cases) {
    std::string found;
    for (const MediaRange& range : accepted_media(header))
      found += (found.empty() ? "" : " ") + std::string(range.type);
    EXPECT_EQ(found, expected) << header;
  }
  const auto table = accepted_media("application/json;as=Table;v=v1;g=meta.k8s.io;q=0.7").at(0);
  EXPECT_EQ(table.as, "Table");
  EXPECT_EQ(table.version, "v1");
  EXPECT_EQ(table.group, "meta.k8s.io");
  EXPECT_EQ(table.quality, 700);
}

TEST(Accept, ALongHeaderIsCutOff) {
  std::string header;
  for (int i = 0; i < 10'000; ++i) header += "a/b,";
  EXPECT_LE(accepted_media(header).size(), 32U);
}

TEST(Health, SaysWhichCheckFailed) {
  struct Case {
    const char* path;
    std::vector<std::pair<std::string, std::string>> query;
    const char* failed;
    int code;
    const char* text;
  };
  const Case cases[] = {
      {"/readyz", {}, "", 200, "ok"},
      {"/readyz", {{"verbose", ""}}, "", 200, "[+]ping ok\n[+]store ok\nreadyz check passed\n"},
      {"/livez",
       {{"verbose", ""}, {"exclude", "store"}},
       "store",
       200,
       "[+]ping ok\n[+]store excluded: ok\nlivez check passed\n"},
      {"/healthz", {}, "store", 500, "[+]ping ok\n[-]store failed: reason withheld\nhealthz check failed\n"},
      {"/readyz/ping", {}, "store", 200, "ok"},
      {"/readyz/store", {}, "store", 500, "[-]store failed: reason withheld\nreadyz check failed\n"},
  };
  for (const Case& each : cases) {
    HttpRequest request;
    request.path = each.path;
    request.query = each.query;
    EXPECT_TRUE(is_health_path(each.path));
    const HealthReport report = health_report(request, each.failed);
    EXPECT_EQ(report.code, each.code) << each.path;
    EXPECT_EQ(report.text, each.text) << each.path;
  }
  for (const char* const path : {"/readyz/", "/readyz/etcd", "/healthy", "/", ""}) EXPECT_FALSE(is_health_path(path));
}

}  // namespace berth::accept_test
