// The OpenSSL side of the server: what it shows, whom it believes, and who is at the other end.
#pragma once

#include <memory>

#include "base/result.h"
#include "web_server/http.h"
#include "web_server/server.h"

struct ssl_ctx_st;
struct ssl_st;

namespace berth {

struct TlsContextFree {
  void operator()(ssl_ctx_st* context) const;
};
using TlsContext = std::unique_ptr<ssl_ctx_st, TlsContextFree>;

// TLS 1.2 and newer, ALPN http/1.1, client certificates asked for if options.client_ca is given.
// PRE: options.certificate is not empty.
Result<TlsContext> make_tls_context(const WebServerOptions& options);

// After the handshake: fills in what the client's certificate says.
void describe_certificate(const ssl_st* connection, Peer& peer);

}  // namespace berth
