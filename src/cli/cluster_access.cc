#include "cli/cluster_access.h"

#include <string>
#include <utility>

#include "base/wording.h"
#include "cli/connection.h"
#include "manifest/json.h"

namespace berth {

Result<std::unique_ptr<Transport>> connect_to_cluster(const std::string& kubeconfig, int timeout_s) {
  auto server = connect({.kubeconfig = kubeconfig}, timeout_s);
  if (!server) return server.error();
  return std::move(server->transport);
}

std::string why_not(const ApiAnswer& answer) {
  std::string message = answer.body;
  if (answer.status != 0) {
    const auto status = parse_json(answer.body);
    message = status ? std::string((*status)["message"].text()) : "";
  }
  return message.empty() || has_control_characters(message) ? text_of_failure(answer) : message;
}

}  // namespace berth
