// What lies in the data folder of a stand-alone control plane, and who reaches it with which credentials.
//
//   DIR/store.db          the objects (store/store.h)
//   DIR/pki/              the authority's certificate and key, mode 0600
//   DIR/kubeconfig        of the administrator, user "admin", written when the server answers
//   DIR/run/*.kubeconfig  of the scheduler and the node agent
//   DIR/tokens.csv        further users, if the file is there: token,user,uid,"group1,group2"
//   DIR/logs/             of pods
//   DIR/journal/          of the scheduler's engine
//   DIR/log/*.log         what the processes say
//   DIR/backups/          copies of the store, made by `berth backup`
#pragma once

#include <cstdint>
#include <string>

#include "base/result.h"
#include "web_server/certificates.h"

namespace berth {

class DataFolder {
 public:
  explicit DataFolder(std::string path) : path_(std::move(path)) {}

  std::string path(const std::string& inside) const { return path_ + "/" + inside; }
  std::string store() const { return path("store.db"); }
  std::string backups() const { return path("backups"); }
  std::string kubeconfig() const { return path("kubeconfig"); }
  std::string scheduler_kubeconfig() const { return path("run/scheduler.kubeconfig"); }
  std::string agent_kubeconfig() const { return path("run/node-agent.kubeconfig"); }
  // Made where they are missing, readable by their owner only.
  Result<std::string> make() const;

 private:
  std::string path_;
};

// "127.0.0.1:6443", "[::1]:0", "0.0.0.0:6443".
struct ListenAddress {
  std::string address = "127.0.0.1";
  std::uint16_t port = 6443;
};
Result<ListenAddress> parse_listen_address(const std::string& text);
std::string url_of(const ListenAddress& address);

struct ServerIdentity {
  KeyPair authority, server;
};
// Reads the folder's authority, made where it is missing; the server's certificate is made anew at each start.
Result<ServerIdentity> load_or_make_identity(const DataFolder& folder, const ListenAddress& listen);

// Makes fresh client certificates and writes the three kubeconfigs, mode 0600, each at once or not at all.
Result<std::string> write_kubeconfigs(const DataFolder& folder, const ServerIdentity& identity, const std::string& url);

}  // namespace berth
