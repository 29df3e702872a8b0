#include "apiserver/authentication.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "apiserver/admission_world.h"

namespace berth::authentication_test {

using Headers = std::vector<std::pair<std::string, std::string>>;

constexpr const char* kTokens =
    "secret-1,ann,u1,\"dev,ops\"\r\n"
    "secret-2,system:serviceaccount:ml:train,u2\n"
    "\n"
    "\"with,comma and \"\"quotes\"\"\",bob,u3,\n";

TokenBook tokens() {
  auto book = TokenBook::parse(kTokens, "tokens.csv");
  EXPECT_TRUE(book) << book.error().to_string();
  return std::move(*book);
}

HttpRequest request_with(Headers headers, std::string certificate = "", std::vector<std::string> groups = {}) {
  HttpRequest request;
  request.headers = std::move(headers);
  request.peer.certificate_name = std::move(certificate);
  request.peer.certificate_groups = std::move(groups);
  return request;
}

std::string text_of(const User& user) {
  std::string text = user.name + "/" + user.uid;
  for (const std::string& group : user.groups) text += " " + group;
  for (const auto& [key, values] : user.extra) {
    for (const std::string& value : values) text += " " + key + "=" + value;
  }
  return text;
}

TEST(TokenBook, FindsUsersByTheirToken) {
  const TokenBook book = tokens();
  const std::pair<const char*, const char*> cases[] = {
      {"secret-1", "ann/u1 dev ops system:authenticated"},
      {"secret-2",
       "system:serviceaccount:ml:train/u2 system:serviceaccounts system:serviceaccounts:ml system:authenticated"},
      {"with,comma and \"quotes\"", "bob/u3 system:authenticated"},
      {"secret-3", "nobody"},
      {"", "nobody"},
      {"secret-1 ", "nobody"},
  };
  for (const auto& [token, expected] : cases) {
    const User* const user = book.find(token);
    EXPECT_EQ(user == nullptr ? "nobody" : text_of(*user), expected) << token;
  }
}

TEST(TokenBook, SaysWhereAFileIsWrongAndNeverRepeatsATokenThere) {
  const std::pair<const char*, const char*> cases[] = {
      {"topsecret,ann\n", "t.csv:1: a line has three or four fields: token,user,uid,\"group1,group2\"; this one has 2"},
      {"topsecret,ann,u,g,more\n", "t.csv:1: a line has three or four fields"},
      {"a,ann,u\n,bob,u\n", "t.csv:2: the token (first field) is empty"},
      {"topsecret,,u\n", "t.csv:1: the user (second field) is empty"},
      {"topsecret,ann,u\ntopsecret,bob,v\n", "t.csv:2: this token stands in an earlier line too"},
      {"a,b,c\n\"open,ann,u\n", "t.csv:2: a quote (\") is opened and never closed"},
  };
  for (const auto& [csv, expected] : cases) {
    const auto book = TokenBook::parse(csv, "t.csv");
    ASSERT_FALSE(book) << csv;
    EXPECT_NE(book.error().to_string().find(expected), std::string::npos) << book.error().to_string();
    EXPECT_EQ(book.error().to_string().find("topsecret"), std::string::npos);
  }
  EXPECT_TRUE(TokenBook::parse("", "t.csv"));
}

TEST(Authenticator, KnowsUsersByCertificateOrTokenAndRefusesWrongCredentials) {
  const ListedAuthorizer authorizer;
  const Authenticator authenticator(tokens(), authorizer);
  struct Case {
    const char* what;
    HttpRequest request;
    const char* expected;
  };
  const Case cases[] = {
      {"nothing shown", request_with({}), "system:anonymous/ system:unauthenticated"},
      {"a token", request_with({{"authorization", "Bearer secret-1"}}), "ann/u1 dev ops system:authenticated"},
      {"the scheme in any case", request_with({{"authorization", "bearer  secret-1 "}}),
       "ann/u1 dev ops system:authenticated"},
      {"a wrong token", request_with({{"authorization", "Bearer wrong"}}), "401 Unauthorized"},
      {"no token", request_with({{"authorization", "Bearer "}}), "401 Unauthorized"},
      {"another scheme", request_with({{"authorization", "Basic YTpi"}}), "401 Unauthorized"},
      {"a certificate", request_with({}, "carl", {"system:masters"}), "carl/ system:masters system:authenticated"},
      {"a certificate and a token", request_with({{"authorization", "Bearer secret-1"}}, "carl"),
       "carl/ system:authenticated"},
      {"a certificate and a wrong token", request_with({{"authorization", "Bearer x"}}, "carl"), "401 Unauthorized"},
  };
  for (const Case& each : cases) {
    const auto user = authenticator.authenticate(each.request);
    EXPECT_EQ(user ? text_of(*user) : std::to_string(user.error().code) + " " + user.error().reason, each.expected)
        << each.what;
  }
}

TEST(Authenticator, ImpersonatesPartByPart) {
  ListedAuthorizer authorizer;
  authorizer.allowed = {"ann impersonate users", "ann impersonate groups",
                        "ann impersonate userextras/example.com/team", "ann impersonate serviceaccounts"};
  const Authenticator authenticator(tokens(), authorizer);
  struct Case {
    const char* who;
    Headers headers;
    const char* expected;
  };
  const Case cases[] = {
      {"secret-1", {{"impersonate-user", "dora"}}, "dora/ system:authenticated"},
      {"secret-1",
       {{"impersonate-user", "dora"}, {"impersonate-group", "a"}, {"impersonate-group", "b"}},
       "dora/ a b system:authenticated"},
      {"secret-1",
       {{"impersonate-user", "dora"}, {"impersonate-extra-example.com%2fteam", "x"}},
       "dora/ system:authenticated example.com/team=x"},
      {"secret-1",
       {{"impersonate-user", "dora"}, {"impersonate-uid", "7"}},
       "uids.authentication.k8s.io \"7\" is forbidden: User \"ann\" cannot impersonate resource \"uids\" in API group "
       "\"authentication.k8s.io\" at the cluster scope"},
      {"secret-1",
       {{"impersonate-user", "dora"}, {"impersonate-extra-other", "x"}},
       "userextras/other.authentication.k8s.io \"x\" is forbidden: User \"ann\" cannot impersonate resource "
       "\"userextras/other\" in API group \"authentication.k8s.io\" at the cluster scope"},
      {"secret-1",
       {{"impersonate-user", "system:serviceaccount:ml:train"}},
       "system:serviceaccount:ml:train/ system:serviceaccounts system:serviceaccounts:ml system:authenticated"},
      {"secret-1", {{"impersonate-user", "system:anonymous"}}, "system:anonymous/ system:unauthenticated"},
      {"secret-2",
       {{"impersonate-user", "dora"}},
       "users \"dora\" is forbidden: User \"system:serviceaccount:ml:train\" cannot impersonate resource \"users\" in "
       "API "
       "group \"\" at the cluster scope"},
  };
  for (const Case& each : cases) {
    Headers headers = each.headers;
    headers.emplace_back("authorization", std::string("Bearer ") + each.who);
    const auto user = authenticator.authenticate(request_with(headers));
    EXPECT_EQ(user ? text_of(*user) : user.error().message, each.expected);
  }
  const Headers wrong[] = {{{"impersonate-group", "a"}},
                           {{"impersonate-uid", "a"}},
                           {{"impersonate-extra-a", "b"}},
                           {{"impersonate-user", ""}},
                           {{"impersonate-user", "a"}, {"impersonate-user", "b"}}};
  for (Headers headers : wrong) {
    headers.emplace_back("authorization", "Bearer secret-1");
    const auto user = authenticator.authenticate(request_with(headers));
    ASSERT_FALSE(user);
    EXPECT_EQ(user.error().code, 400);
  }
}

}  // namespace berth::authentication_test
