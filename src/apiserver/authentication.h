// From a request to a user: client certificates (CN, O), bearer tokens of a file, impersonation headers. A wrong credential
// is refused (401), a missing one is system:anonymous. A service account signs in with a token of the file whose user is
// system:serviceaccount:NAMESPACE:NAME.
#pragma once

#include <expected>
#include <string>
#include <string_view>
#include <vector>

#include "apiserver/api_error.h"
#include "apiserver/authorization.h"
#include "apiserver/user.h"
#include "base/result.h"
#include "web_server/http.h"

namespace berth {

// Kubernetes' static token file: token,user,uid,"group1,group2" a line. Tokens are kept hashed and compared in constant time.
class TokenBook {
 public:
  static Result<TokenBook> parse(const std::string& csv, const std::string& file);
  const User* find(std::string_view token) const;

 private:
  struct Entry {
    std::string hash;  // SHA-256, raw
    User user;
  };
  std::vector<Entry> entries_;
};

class Authenticator {
 public:
  Authenticator(TokenBook tokens, const Authorizer& authorizer);
  // With impersonation carried out (Impersonate-User, -Group, -Uid, -Extra-*), if the user may.
  std::expected<User, ApiError> authenticate(const HttpRequest& request) const;

 private:
  TokenBook tokens_;
  const Authorizer& authorizer_;
};

}  // namespace berth
