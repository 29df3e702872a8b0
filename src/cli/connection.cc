#include "cli/connection.h"

#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <cstddef>
#include <cstdio>
#include <map>
#include <string_view>
#include <utility>

#include "kube/curl_transport.h"
#include "kube/kubeconfig.h"

extern char** environ;

namespace berth {
namespace {

std::map<std::string, std::string> environment() {
  std::map<std::string, std::string> variables;
  for (char** each = environ; each != nullptr && *each != nullptr; ++each) {
    const std::string_view text(*each);
    const std::size_t equals = text.find('=');
    if (equals != std::string_view::npos) variables[std::string(text.substr(0, equals))] = text.substr(equals + 1);
  }
  return variables;
}

}  // namespace

Result<ApiConnection> connect(const ConnectionWish& wish, int timeout_s) {
  KubeconfigQuestion question;
  question.path = wish.kubeconfig;
  question.context = wish.context;
  question.environment = environment();
  auto access = load_kubeconfig(question);
  if (!access) return access.error();
  ApiConnection connection;
  connection.name_space = wish.name_space.empty() ? access->name_space : wish.name_space;
  CurlOptions options;
  options.timeout_s = timeout_s;
  auto transport = connect_by_curl(std::move(*access), options);
  if (!transport) return transport.error();
  connection.transport = std::move(*transport);
  return connection;
}

void add_connection_options(CLI::App& app, ConnectionWish& typed, Namespaced namespaced) {
  app.add_option("--kubeconfig", typed.kubeconfig, "How to reach the API server; default: as kubectl finds it");
  app.add_option("--context", typed.context, "Context of the kubeconfig; default: its current one");
  if (namespaced == Namespaced::kYes) {
    app.add_option("-n,--namespace", typed.name_space, "Namespace; default: the context's");
  }
}

int fail(const AskFailure& failure) {
  fmt::print(stderr, "berth: {}\n", failure.text);
  return failure.exit_code;
}

}  // namespace berth
