#include "apiserver/authentication.h"

#include <openssl/crypto.h>
#include <openssl/evp.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <expected>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/assert.h"
#include "web_server/header_text.h"

namespace berth {

namespace {

constexpr std::string_view kAnonymous = "system:anonymous";
constexpr std::string_view kAuthenticated = "system:authenticated";
constexpr std::string_view kUnauthenticated = "system:unauthenticated";
constexpr std::string_view kServiceAccountPrefix = "system:serviceaccount:";

std::string sha256(std::string_view text) {
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
  unsigned int size = 0;
  BERTH_ASSERT(EVP_Digest(text.data(), text.size(), digest.data(), &size, EVP_sha256(), nullptr) == 1);
  return {reinterpret_cast<const char*>(digest.data()), size};
}

// Namespace and name of "system:serviceaccount:NAMESPACE:NAME".
std::optional<std::pair<std::string, std::string>> service_account_of(std::string_view user) {
  if (!user.starts_with(kServiceAccountPrefix)) return std::nullopt;
  user.remove_prefix(kServiceAccountPrefix.size());
  const std::size_t colon = user.find(':');
  if (colon == std::string_view::npos || colon == 0 || colon + 1 == user.size()) return std::nullopt;
  return std::pair(std::string(user.substr(0, colon)), std::string(user.substr(colon + 1)));
}

void add_group(User& user, std::string_view group) {
  if (!user.in_group(group)) user.groups.emplace_back(group);
}

// The groups that everybody of his sort is in.
void add_implied_groups(User& user) {
  if (const auto account = service_account_of(user.name)) {
    add_group(user, "system:serviceaccounts");
    add_group(user, "system:serviceaccounts:" + account->first);
  }
  add_group(user, user.name == kAnonymous ? kUnauthenticated : kAuthenticated);
}

struct CsvRow {
  std::int64_t line = 0;
  std::vector<std::string> cells;
};

// RFC 4180: cells in quotes may hold commas, line ends and doubled quotes. Complains about what is left open.
Result<std::vector<CsvRow>> csv_rows(const std::string& text, const std::string& file) {
  std::vector<CsvRow> rows;
  CsvRow row{.line = 1, .cells = {""}};
  std::int64_t line = 1;
  bool quoted = false;
  const auto finish = [&] {
    const bool blank = row.cells.size() == 1 && row.cells[0].empty();
    if (!blank) rows.push_back(std::move(row));
    row = CsvRow{.line = line, .cells = {""}};
  };
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '\n') ++line;
    if (quoted) {
      if (c != '"') {
        row.cells.back() += c;
      } else if (i + 1 < text.size() && text[i + 1] == '"') {
        row.cells.back() += text[++i];
      } else {
        quoted = false;
      }
    } else if (c == '"' && row.cells.back().empty()) {
      quoted = true;
    } else if (c == ',') {
      row.cells.emplace_back();
    } else if (c == '\n') {
      finish();
    } else if (c != '\r') {
      row.cells.back() += c;
    }
  }
  if (quoted) return Complaints({file, row.line, 0}, "a quote (\") is opened and never closed; close it in this line");
  finish();
  return rows;
}

std::vector<std::string> groups_of_cell(std::string_view cell) {
  std::vector<std::string> groups;
  while (!cell.empty()) {
    const std::size_t comma = std::min(cell.find(','), cell.size());
    if (const std::string_view group = trimmed(cell.substr(0, comma)); !group.empty()) groups.emplace_back(group);
    cell.remove_prefix(std::min(comma + 1, cell.size()));
  }
  return groups;
}

// The token after "Bearer "; none for another scheme or an empty token.
std::optional<std::string_view> bearer_token(std::string_view authorization) {
  constexpr std::string_view kScheme = "bearer ";
  if (authorization.size() <= kScheme.size()) return std::nullopt;
  const bool bearer = std::ranges::equal(authorization.substr(0, kScheme.size()), kScheme, [](char a, char b) {
    return (a >= 'A' && a <= 'Z' ? static_cast<char>(a - 'A' + 'a') : a) == b;
  });
  const std::string_view token = trimmed(authorization.substr(kScheme.size()));
  if (!bearer || token.empty()) return std::nullopt;
  return token;
}

int hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

// Keys of extra fields stand in header names, where '/' and the like are written as %2F. A lone '%' stays.
std::string percent_decoded(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const int high = i + 2 < text.size() && text[i] == '%' ? hex_digit(text[i + 1]) : -1;
    const int low = high >= 0 ? hex_digit(text[i + 2]) : -1;
    if (low >= 0) {
      out += static_cast<char>(high * 16 + low);
      i += 2;
    } else {
      out += text[i];
    }
  }
  return out;
}

// What the Impersonate-* headers ask for.
struct Impersonation {
  std::vector<std::string> names;
  std::vector<std::string> uids;
  std::vector<std::string> groups;
  std::map<std::string, std::vector<std::string>> extra;

  bool asked() const { return !names.empty() || !uids.empty() || !groups.empty() || !extra.empty(); }
};

Impersonation impersonation_of(const HttpRequest& request) {
  constexpr std::string_view kExtra = "impersonate-extra-";
  Impersonation asked;
  for (const auto& [name, value] : request.headers) {
    if (name == "impersonate-user") asked.names.push_back(value);
    if (name == "impersonate-uid") asked.uids.push_back(value);
    if (name == "impersonate-group") asked.groups.push_back(value);
    if (name.starts_with(kExtra)) {
      asked.extra[percent_decoded(std::string_view(name).substr(kExtra.size()))].push_back(value);
    }
  }
  return asked;
}

// Every part of it is a permission of its own: verb impersonate on users, serviceaccounts, groups, uids,
// userextras/KEY.
std::vector<AccessQuestion> questions_of(const Impersonation& asked) {
  constexpr std::string_view kGroup = "authentication.k8s.io";
  std::vector<AccessQuestion> questions;
  const auto ask = [&](std::string_view group, std::string resource, std::string name) -> AccessQuestion& {
    return questions.emplace_back(AccessQuestion{.verb = "impersonate",
                                                 .group = std::string(group),
                                                 .resource = std::move(resource),
                                                 .subresource = "",
                                                 .name_space = "",
                                                 .name = std::move(name),
                                                 .path = ""});
  };
  const std::string& name = asked.names.front();
  if (const auto account = service_account_of(name)) {
    ask("", "serviceaccounts", account->second).name_space = account->first;
  } else {
    ask("", "users", name);
  }
  for (const std::string& group : asked.groups) ask("", "groups", group);
  for (const std::string& uid : asked.uids) ask(kGroup, "uids", uid);
  for (const auto& [key, values] : asked.extra) {
    for (const std::string& value : values) ask(kGroup, "userextras", value).subresource = key;
  }
  return questions;
}

ApiError impersonation_refused(const User& user, const AccessQuestion& question) {
  const std::string resource = question.resource + (question.subresource.empty() ? "" : "/" + question.subresource);
  const std::string qualified = question.group.empty() ? resource : resource + "." + question.group;
  ApiError error;
  error.code = 403;
  error.reason = "Forbidden";
  error.message =
      qualified + " \"" + question.name + "\" is forbidden: User \"" + user.name + "\" cannot impersonate resource \"" +
      resource + "\" in API group \"" + question.group + "\"" +
      (question.name_space.empty() ? " at the cluster scope" : " in the namespace \"" + question.name_space + "\"");
  error.name = question.name;
  error.group = question.group;
  error.kind = resource;
  return error;
}

std::expected<User, ApiError> impersonated(const User& user, const Impersonation& asked, const Authorizer& authorizer) {
  if (asked.names.size() != 1 || asked.names.front().empty() || asked.uids.size() > 1) {
    return std::unexpected(bad_request(
        "impersonation needs exactly one Impersonate-User header with a name in it, and at most one Impersonate-Uid; "
        "Impersonate-Group and Impersonate-Extra-* may only be added to it"));
  }
  for (const AccessQuestion& question : questions_of(asked)) {
    if (!authorizer.decide(user, question).allowed) return std::unexpected(impersonation_refused(user, question));
  }
  User other;
  other.name = asked.names.front();
  if (!asked.uids.empty()) other.uid = asked.uids.front();
  other.groups = asked.groups;
  other.extra = asked.extra;
  add_implied_groups(other);
  return other;
}

}  // namespace

Result<TokenBook> TokenBook::parse(const std::string& csv, const std::string& file) {
  Result<std::vector<CsvRow>> rows = csv_rows(csv, file);
  if (!rows) return std::move(rows).error();
  TokenBook book;
  Complaints complaints;
  std::set<std::string> hashes;
  for (const CsvRow& row : *rows) {
    const Place place{file, row.line, 0};
    if (row.cells.size() < 3 || row.cells.size() > 4) {
      complaints.add(place, "a line has three or four fields: token,user,uid,\"group1,group2\"; this one has " +
                                std::to_string(row.cells.size()));
      continue;
    }
    const std::string_view token = trimmed(row.cells[0]);
    const std::string_view name = trimmed(row.cells[1]);
    if (token.empty()) complaints.add(place, "the token (first field) is empty; write a long random text");
    if (name.empty()) complaints.add(place, "the user (second field) is empty; write the user's name");
    // The text itself is not repeated in the complaint: it is a secret.
    if (!token.empty() && !hashes.insert(sha256(token)).second) {
      complaints.add(place, "this token stands in an earlier line too; every user needs one of his own");
    }
    Entry entry;
    entry.hash = sha256(token);
    entry.user.name = name;
    entry.user.uid = trimmed(row.cells[2]);
    if (row.cells.size() == 4) entry.user.groups = groups_of_cell(row.cells[3]);
    add_implied_groups(entry.user);
    book.entries_.push_back(std::move(entry));
  }
  if (!complaints.empty()) return complaints;
  return book;
}

const User* TokenBook::find(std::string_view token) const {
  const std::string hash = sha256(token);
  const User* found = nullptr;
  // All of them, always: how long it takes tells nothing about which one it was.
  for (const Entry& entry : entries_) {
    if (CRYPTO_memcmp(entry.hash.data(), hash.data(), hash.size()) == 0) found = &entry.user;
  }
  return found;
}

Authenticator::Authenticator(TokenBook tokens, const Authorizer& authorizer)
    : tokens_(std::move(tokens)), authorizer_(authorizer) {}

std::expected<User, ApiError> Authenticator::authenticate(const HttpRequest& request) const {
  User user;
  const User* by_token = nullptr;
  if (const std::string_view authorization = request.header("authorization"); !authorization.empty()) {
    const std::optional<std::string_view> token = bearer_token(authorization);
    by_token = token ? tokens_.find(*token) : nullptr;
    // Also next to a good certificate: whoever shows something wrong should hear of it.
    if (by_token == nullptr) return std::unexpected(unauthorized());
  }
  if (!request.peer.certificate_name.empty()) {
    user.name = request.peer.certificate_name;
    user.groups = request.peer.certificate_groups;
    add_implied_groups(user);
  } else if (by_token != nullptr) {
    user = *by_token;
  } else {
    user.name = kAnonymous;
    add_implied_groups(user);
  }
  const Impersonation asked = impersonation_of(request);
  if (asked.asked()) return impersonated(user, asked, authorizer_);
  return user;
}

}  // namespace berth
