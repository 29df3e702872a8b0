#include "kube/kubeconfig.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string_view>
#include <utility>

#include "base/wording.h"
#include "kube/small_file.h"
#include "kube/token_file.h"
#include "manifest/value.h"
#include "manifest/yaml.h"

namespace berth {
namespace {

constexpr std::size_t kConfigMax = 16 << 20;
constexpr std::size_t kPemMax = 1 << 20;

// A kubeconfig, with the name by which complaints and relative paths know it.
struct File {
  std::string name;
  Value content;
};

// One named cluster, user or context: what its file says, and where.
struct Entry {
  const File* file = nullptr;
  std::string path;  // "users[2].user"
  const Value* content = nullptr;

  const Value& operator[](std::string_view field) const { return (*content)[field]; }
  std::string path_of(std::string_view field) const { return path + "." + std::string(field); }
};

class Reader {
 public:
  explicit Reader(std::vector<File> files) : files_(std::move(files)) {}

  Result<ServerAccess> access_for(std::string context) {
    check_shape();
    if (context.empty()) context = current_context();
    if (complaints_.empty()) read_context(context);
    if (!complaints_.empty()) return std::move(complaints_);
    return std::move(access_);
  }

 private:
  void complain(const File& file, const std::string& path, const std::string& text) {
    complaints_.add({file.name}, path + ": " + text);
  }

  void check_shape() {
    for (const File& file : files_) {
      if (!file.content.is_map() && !file.content.is_null()) {
        complaints_.add({file.name}, "is no kubeconfig: a map with clusters, users and contexts");
        continue;
      }
      const std::string_view kind = file.content["kind"].text();
      if (!kind.empty() && kind != "Config") complain(file, "kind", "is " + quote(kind) + ", not 'Config'");
      for (const std::string_view list : {"clusters", "users", "contexts"}) check_list(file, list);
    }
  }

  void check_list(const File& file, std::string_view list) {
    const Value& entries = file.content[list];
    if (!entries.is_list() && !entries.is_null()) {
      complain(file, std::string(list), "must be a list of entries, each with a name");
    }
    for (std::size_t i = 0; i < entries.items().size(); ++i) {
      if (!entries.items()[i]["name"].is_text()) {
        complain(file, std::string(list) + "[" + std::to_string(i) + "].name", "must be a text");
      }
    }
  }

  // The first file that says something wins, here and for every named entry.
  std::string current_context() {
    for (const File& file : files_) {
      const Value& named = file.content["current-context"];
      if (!named.is_empty() && !named.is_text()) complain(file, "current-context", "must be a text");
      if (!named.text().empty()) return std::string(named.text());
    }
    complaints_.add({files_.front().name},
                    "current-context: there is none; choose one of the contexts with --context" + names_of("contexts"));
    return "";
  }

  // "; there are 'a', 'b'"
  std::string names_of(std::string_view list) const {
    constexpr std::size_t kNamedMax = 10;
    std::vector<std::string> names;
    for (const File& file : files_) {
      for (const Value& entry : file.content[list].items()) names.push_back(quote(entry["name"].text()));
    }
    if (names.empty()) return "; there are none";
    std::string text = "; there are ";
    for (std::size_t i = 0; i < std::min(names.size(), kNamedMax); ++i) text += (i == 0 ? "" : ", ") + names[i];
    if (names.size() > kNamedMax) text += " and " + std::to_string(names.size() - kNamedMax) + " more";
    return text;
  }

  // `list` "users" holds entries {name, user: {...}}. `named_at` says who asked for it.
  std::optional<Entry> find(const std::string& list, std::string_view name, const File& asking,
                            const std::string& named_at) {
    const std::string member = list.substr(0, list.size() - 1);
    for (const File& file : files_) {
      const Value::List& entries = file.content[list].items();
      for (std::size_t i = 0; i < entries.size(); ++i) {
        if (entries[i]["name"].text() != name) continue;
        Entry entry{&file, list + "[" + std::to_string(i) + "]." + member, &entries[i][member]};
        if (entry.content->is_map() || entry.content->is_null()) return entry;
        complain(file, entry.path, "must be a map");
        return std::nullopt;
      }
    }
    complain(asking, named_at, "there is no " + member + " " + quote(name) + names_of(list));
    return std::nullopt;
  }

  void read_context(const std::string& name) {
    const std::optional<Entry> context = find("contexts", name, files_.front(), "contexts");
    if (!context) return;
    access_.name_space = text_of(*context, "namespace");
    if (access_.name_space.empty()) access_.name_space = "default";
    const std::string cluster_name = text_of(*context, "cluster");
    const std::string user_name = text_of(*context, "user");
    if (cluster_name.empty()) {
      complain(*context->file, context->path_of("cluster"), "must name one of the clusters" + names_of("clusters"));
    } else if (const auto cluster = find("clusters", cluster_name, *context->file, context->path_of("cluster"))) {
      read_cluster(*cluster);
    }
    if (user_name.empty()) return;  // a server may let everyone in
    if (const auto user = find("users", user_name, *context->file, context->path_of("user"))) read_user(*user);
  }

  void read_cluster(const Entry& cluster) {
    access_.server = text_of(cluster, "server");
    if (!access_.server.starts_with("https://") && !access_.server.starts_with("http://")) {
      complain(*cluster.file, cluster.path_of("server"),
               quote(access_.server) + " is no address; write one like https://10.0.0.1:6443");
    }
    access_.ca = pem_of(cluster, "certificate-authority");
    access_.tls_server_name = text_of(cluster, "tls-server-name");
    access_.proxy_url = text_of(cluster, "proxy-url");
    const Value& insecure = cluster["insecure-skip-tls-verify"];
    if (!insecure.is_null() && !insecure.is_bool()) {
      complain(*cluster.file, cluster.path_of("insecure-skip-tls-verify"), "must be true or false");
    }
    access_.insecure_skip_tls_verify = insecure.truth();
    if (access_.insecure_skip_tls_verify && !access_.ca.empty()) {
      complain(*cluster.file, cluster.path_of("insecure-skip-tls-verify"),
               "is true although there is a certificate-authority; remove one of the two");
    }
  }

  void read_user(const Entry& user) {
    refuse_plugins(user);
    access_.client_certificate = pem_of(user, "client-certificate");
    access_.client_key = pem_of(user, "client-key");
    if (access_.client_certificate.empty() != access_.client_key.empty() && complaints_.empty()) {
      complain(*user.file, user.path, "client-certificate and client-key go together; give both or neither");
    }
    read_token(user);
    access_.username = text_of(user, "username");
    access_.password = text_of(user, "password");
    access_.impersonate = text_of(user, "as");
    read_groups(user);
  }

  void read_token(const Entry& user) {
    if (const std::string token = text_of(user, "token"); !token.empty()) {
      Result<std::string> checked = token_in(token, user.file->name);
      if (checked) {
        access_.token = std::move(*checked);
      } else {
        complain(*user.file, user.path_of("token"), "is no token: a token is one word on one line");
      }
    }
    const std::string token_file = text_of(user, "tokenFile");
    if (token_file.empty()) return;
    access_.token_file = below_folder_of(*user.file, token_file);
    TokenFile file(access_.token_file);
    if (file.current().empty()) complain(*user.file, user.path_of("tokenFile"), file.complaint());
  }

  void refuse_plugins(const Entry& user) {
    static constexpr std::array<std::pair<std::string_view, std::string_view>, 4> kRefused = {{
        {"exec",
         "programs that fetch credentials are not run; give token, tokenFile (which something else renews), or "
         "client-certificate and client-key instead"},
        {"auth-provider",
         "these were removed from Kubernetes; give token, tokenFile, or client-certificate and client-key"},
        {"as-uid", "acting as a uid is not supported; give as and as-groups"},
        {"as-user-extra", "acting with extra fields is not supported; give as and as-groups"},
    }};
    for (const auto& [field, instead] : kRefused) {
      if (!user[field].is_null()) complain(*user.file, user.path_of(field), std::string(instead));
    }
  }

  void read_groups(const Entry& user) {
    const Value& groups = user["as-groups"];
    if (groups.is_null()) return;
    const bool texts = groups.is_list() && std::ranges::all_of(groups.items(), [](const Value& group) {
                         return group.is_text() && !has_control_characters(group.text());
                       });
    if (!texts) {
      complain(*user.file, user.path_of("as-groups"), "must be a list of texts");
      return;
    }
    for (const Value& group : groups.items()) access_.impersonate_groups.emplace_back(group.text());
  }

  // Empty when it is not there.
  std::string text_of(const Entry& entry, std::string_view field) {
    const Value& value = entry[field];
    if (value.is_null()) return "";
    if (!value.is_text()) {
      complain(*entry.file, entry.path_of(field), "must be a text; put it between quotes");
      return "";
    }
    return std::string(value.text());
  }

  // "certificate-authority-data" (base64), which wins, or "certificate-authority" (a path).
  std::string pem_of(const Entry& entry, const std::string& field) {
    const std::string data = text_of(entry, field + "-data");
    if (!data.empty()) {
      std::optional<std::string> decoded = decoded_base64(data);
      if (!decoded)
        complain(*entry.file, entry.path_of(field + "-data"), "is no base64; write the output of 'base64 -w0'");
      return decoded.value_or("");
    }
    const std::string path = text_of(entry, field);
    if (path.empty()) return "";
    Result<std::string> text = read_small_file(below_folder_of(*entry.file, path), kPemMax);
    if (text && !text->empty()) return std::move(*text);
    complain(*entry.file, entry.path_of(field), text ? quote(path) + " is empty" : text.error().to_string());
    return "";
  }

  static std::string below_folder_of(const File& file, const std::string& path) {
    return (std::filesystem::path(file.name).parent_path() / path).lexically_normal().string();
  }

  static std::optional<std::string> decoded_base64(std::string_view text);

  std::vector<File> files_;
  ServerAccess access_;
  Complaints complaints_;
};

int digit_of_base64(char c) {
  if (c >= 'A' && c <= 'Z') return c - 'A';
  if (c >= 'a' && c <= 'z') return c - 'a' + 26;
  if (c >= '0' && c <= '9') return c - '0' + 52;
  if (c == '+') return 62;
  return c == '/' ? 63 : -1;
}

// Line ends in it are skipped, as everyone does.
std::optional<std::string> Reader::decoded_base64(std::string_view text) {
  std::string out;
  std::uint32_t bits = 0;
  int bits_held = 0;
  std::size_t digits = 0;
  std::size_t padding = 0;
  for (const char c : text) {
    if (c == '\n' || c == '\r') continue;
    ++digits;
    if (c == '=') {
      ++padding;
      continue;
    }
    const int digit = digit_of_base64(c);
    if (digit < 0 || padding > 0) return std::nullopt;
    bits = (bits << 6 | static_cast<std::uint32_t>(digit)) & 0xffffff;
    bits_held += 6;
    if (bits_held >= 8) {
      bits_held -= 8;
      out += static_cast<char>(bits >> bits_held & 0xff);
    }
  }
  if (digits % 4 != 0 || padding > 2) return std::nullopt;
  return out;
}

Result<File> file_of(const std::string& text, const std::string& name) {
  Result<std::vector<Value>> documents = parse_yaml(text, name);
  if (!documents) return documents.error();
  if (documents->size() > 1) return Complaints({name}, "holds more than one document; a kubeconfig is one");
  return File{name, documents->empty() ? Value() : std::move(documents->front())};
}

std::string variable(const KubeconfigQuestion& question, const std::string& name) {
  const auto found = question.environment.find(name);
  return found == question.environment.end() ? "" : found->second;
}

bool exists(const std::string& path) {
  std::error_code error;
  return std::filesystem::exists(path, error);
}

// Those of KUBECONFIG that exist; kubectl passes over the others too.
std::vector<std::string> listed_files(std::string_view list) {
  std::vector<std::string> paths;
  while (!list.empty()) {
    const std::size_t end = std::min(list.find(':'), list.size());
    const std::string path(list.substr(0, end));
    if (!path.empty() && exists(path) && std::ranges::find(paths, path) == paths.end()) paths.push_back(path);
    list.remove_prefix(std::min(end + 1, list.size()));
  }
  return paths;
}

Result<ServerAccess> access_of_pod(const KubeconfigQuestion& question) {
  const std::string host = variable(question, "KUBERNETES_SERVICE_HOST");
  const std::string port = variable(question, "KUBERNETES_SERVICE_PORT");
  const std::string& folder = question.service_account_folder;
  ServerAccess access;
  const bool is_v6 = host.find(':') != std::string::npos;
  access.server = "https://" + (is_v6 ? "[" + host + "]" : host) + ":" + port;
  access.token_file = folder + "/token";
  Complaints complaints;
  TokenFile token(access.token_file);
  if (token.current().empty()) complaints.add({}, token.complaint());
  Result<std::string> ca = read_small_file(folder + "/ca.crt", kPemMax);
  if (!ca) complaints.add_all(ca.error());
  if (!complaints.empty()) {
    complaints.add(
        {folder}, "a pod reaches its server with what is here; set automountServiceAccountToken, or give --kubeconfig");
    return complaints;
  }
  access.ca = std::move(*ca);
  const Result<std::string> name_space = read_small_file(folder + "/namespace", kPemMax);
  access.name_space = name_space && !name_space->empty() ? *name_space : "default";
  return access;
}

}  // namespace

Result<ServerAccess> load_kubeconfig(const KubeconfigQuestion& question) {
  const std::string list = variable(question, "KUBECONFIG");
  const std::string home = variable(question, "HOME") + "/.kube/config";
  std::vector<std::string> paths;
  if (!question.path.empty()) {
    paths = {question.path};
  } else if (!list.empty()) {
    paths = listed_files(list);
    if (paths.empty())
      return Complaints("KUBECONFIG is " + quote(list) + ", but no such file exists; correct or unset it");
  } else if (exists(home)) {
    paths = {home};
  } else if (!variable(question, "KUBERNETES_SERVICE_HOST").empty()) {
    return access_of_pod(question);
  } else {
    return Complaints("there is no kubeconfig: give --kubeconfig FILE, set KUBECONFIG, or write " + quote(home));
  }
  std::vector<File> files;
  Complaints complaints;
  for (const std::string& path : paths) {
    const Result<std::string> text = read_small_file(path, kConfigMax);
    Result<File> file = text ? file_of(*text, path) : Result<File>(text.error());
    if (file) {
      files.push_back(std::move(*file));
    } else {
      complaints.add_all(file.error());
    }
  }
  if (!complaints.empty()) return complaints;
  return Reader(std::move(files)).access_for(question.context);
}

Result<ServerAccess> parse_kubeconfig(const std::string& text, const std::string& file, const std::string& context) {
  Result<File> parsed = file_of(text, file);
  if (!parsed) return parsed.error();
  std::vector<File> files;
  files.push_back(std::move(*parsed));
  return Reader(std::move(files)).access_for(context);
}

}  // namespace berth
