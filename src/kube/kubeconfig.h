// kubeconfig files as kubectl reads them: KUBECONFIG lists that are merged, contexts, certificates, tokens, token
// files; and a pod's own service account. exec and auth-provider plugins are refused with a message.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/result.h"

namespace berth {

// All one needs to reach a server. Secrets: never printed.
struct ServerAccess {
  std::string server;  // "https://127.0.0.1:6443"
  std::string ca;      // PEM; empty = the system's
  std::string tls_server_name;
  std::string proxy_url;
  bool insecure_skip_tls_verify = false;
  std::string client_certificate, client_key;  // PEM
  std::string token;
  std::string token_file;  // read again at most a minute after it changed
  std::string username, password;
  std::string impersonate;  // --as
  std::vector<std::string> impersonate_groups;
  std::string name_space;  // of the context; "default" if it names none
};

struct KubeconfigQuestion {
  std::string path = {};     // --kubeconfig; empty = $KUBECONFIG, then ~/.kube/config, then the pod's service account
  std::string context = {};  // empty = current-context
  std::map<std::string, std::string> environment =
      {};  // KUBECONFIG, HOME, KUBERNETES_SERVICE_HOST, KUBERNETES_SERVICE_PORT
  std::string service_account_folder = "/var/run/secrets/kubernetes.io/serviceaccount";
};
Result<ServerAccess> load_kubeconfig(const KubeconfigQuestion& question);

// One file's text; relative paths in it are below the folder of `file`.
Result<ServerAccess> parse_kubeconfig(const std::string& text, const std::string& file, const std::string& context);

}  // namespace berth
