#include "cli/control_plane.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <system_error>
#include <utility>
#include <vector>

#include "base/wording.h"
#include "manifest/timestamp.h"
#include "manifest/value.h"
#include "manifest/yaml.h"
#include "model/quantity.h"
#include "sim/files.h"

namespace berth {
namespace {

namespace fs = std::filesystem;

std::string base64(const std::string& bytes) {
  static constexpr char kDigits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text;
  for (std::size_t at = 0; at < bytes.size(); at += 3) {
    unsigned group = 0;
    for (std::size_t i = 0; i < 3; ++i) {
      group = group << 8 | (at + i < bytes.size() ? static_cast<unsigned char>(bytes[at + i]) : 0u);
    }
    for (std::size_t i = 0; i < 4; ++i) {
      text += i > bytes.size() - at ? '=' : kDigits[group >> (18 - 6 * i) & 63u];
    }
  }
  return text;
}

Complaints complaint_about(const std::string& path, const char* what) {
  return Complaints({path}, std::string(what) + ": " + std::strerror(errno) + "; name a folder of yours with --data");
}

bool is_there(const std::string& path) {
  std::error_code error;
  return fs::exists(path, error);
}

// Both files of a pair, or what is wrong; none of them there: an empty pair.
Result<KeyPair> read_pair(const DataFolder& folder, const std::string& name) {
  const std::string certificate = folder.path("pki/" + name + ".crt");
  const std::string key = folder.path("pki/" + name + ".key");
  if (!is_there(certificate) && !is_there(key)) return KeyPair();
  const auto first = read_file(certificate);
  if (!first) return first.error();
  const auto second = read_file(key);
  if (!second) return second.error();
  return KeyPair{*first, *second};
}

Result<KeyPair> write_pair(const DataFolder& folder, const std::string& name, KeyPair pair) {
  // The key first: a certificate is never there without its key.
  if (auto written = write_private_file(folder.path("pki/" + name + ".key"), pair.private_key); !written) {
    return written.error();
  }
  if (auto written = write_private_file(folder.path("pki/" + name + ".crt"), pair.certificate); !written) {
    return written.error();
  }
  return pair;
}

std::vector<std::string> names_of(const ListenAddress& listen) {
  std::vector<std::string> names = {"localhost", "127.0.0.1", "::1", "kubernetes", "kubernetes.default.svc"};
  const bool every = listen.address == "0.0.0.0" || listen.address == "::";
  if (!every && listen.address != "127.0.0.1" && listen.address != "::1") names.push_back(listen.address);
  char host[256] = {};
  if (gethostname(host, sizeof(host) - 1) == 0 && host[0] != '\0') names.emplace_back(host);
  return names;
}

std::string kubeconfig_text(const ServerIdentity& identity, const KeyPair& client, const std::string& url,
                            const std::string& user) {
  const Value cluster =
      Value::map_of({{"server", url}, {"certificate-authority-data", base64(identity.authority.certificate)}});
  const Value credentials = Value::map_of(
      {{"client-certificate-data", base64(client.certificate)}, {"client-key-data", base64(client.private_key)}});
  Value config = Value::map_of({{"apiVersion", "v1"}, {"kind", "Config"}, {"current-context", "berth"}});
  config.at("clusters").push_back(Value::map_of({{"name", "berth"}, {"cluster", cluster}}));
  config.at("users").push_back(Value::map_of({{"name", user}, {"user", credentials}}));
  config.at("contexts")
      .push_back(
          Value::map_of({{"name", "berth"}, {"context", Value::map_of({{"cluster", "berth"}, {"user", user}})}}));
  return to_yaml(config);
}

}  // namespace

Result<std::string> DataFolder::make() const {
  for (const std::string& folder :
       {path_, path("pki"), path("run"), path("logs"), path("journal"), path("log"), path("backups")}) {
    std::error_code error;
    fs::create_directories(folder, error);
    if (error || chmod(folder.c_str(), 0700) != 0) {
      if (error) errno = error.value();
      return complaint_about(folder, "cannot be made");
    }
  }
  return path_;
}

Result<ListenAddress> parse_listen_address(const std::string& text) {
  const auto refused = [&](const std::string& why) {
    return Complaints({"--listen"}, quote(text) + ": " + why + "; write ADDRESS:PORT, as in 127.0.0.1:6443 or [::1]:0");
  };
  const std::size_t colon = text.rfind(':');
  if (colon == std::string::npos) return refused("there is no port");
  std::string address = text.substr(0, colon);
  if (address.size() > 2 && address.front() == '[' && address.back() == ']') {
    address = address.substr(1, address.size() - 2);
  }
  if (address == "localhost") address = "127.0.0.1";
  const auto port = parse_integer(text.substr(colon + 1), 0, 65'535);
  if (!port) return refused("the port: " + port.error());
  if (address.empty()) return refused("there is no address");
  return ListenAddress{address, static_cast<std::uint16_t>(*port)};
}

std::string url_of(const ListenAddress& listen) {
  std::string host = listen.address;
  if (host == "0.0.0.0") host = "127.0.0.1";
  if (host == "::") host = "::1";
  if (host.find(':') != std::string::npos) host = "[" + host + "]";
  return "https://" + host + ":" + std::to_string(listen.port);
}

Result<ServerIdentity> load_or_make_identity(const DataFolder& folder, const ListenAddress& listen) {
  const Time now = system_wall_clock()();
  auto authority = read_pair(folder, "ca");
  if (!authority) return authority.error();
  if (authority->certificate.empty()) {
    auto made = make_authority("berth", now);
    if (!made) return made.error();
    authority = write_pair(folder, "ca", std::move(*made));
    if (!authority) return authority.error();
  }
  // The server's own costs a millisecond and need not be remembered; so it always names what it listens on.
  auto server = make_server_certificate(*authority, names_of(listen), now);
  if (!server) return server.error();
  return ServerIdentity{std::move(*authority), std::move(*server)};
}

Result<std::string> write_kubeconfigs(const DataFolder& folder, const ServerIdentity& identity,
                                      const std::string& url) {
  struct Client {
    std::string path, user;
    std::vector<std::string> groups;
  };
  const Client clients[] = {
      {folder.scheduler_kubeconfig(), "system:berth-scheduler", {}},
      {folder.agent_kubeconfig(), "system:berth-node-agent", {"system:nodes"}},
      {folder.kubeconfig(), "admin", {"system:masters"}},  // last: whoever waits for it finds the others
  };
  for (const Client& client : clients) {
    const auto pair = make_client_certificate(identity.authority, client.user, client.groups, system_wall_clock()());
    if (!pair) return pair.error();
    const auto written = write_private_file(client.path, kubeconfig_text(identity, *pair, url, client.user));
    if (!written) return written.error();
  }
  return folder.kubeconfig();
}

}  // namespace berth
