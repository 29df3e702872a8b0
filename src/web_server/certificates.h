// The stand-alone control plane's own certificate authority (OpenSSL, P-256, X.509 v3). PEM texts in and out.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "base/time.h"

namespace berth {

struct KeyPair {
  std::string certificate;  // PEM
  std::string private_key;  // PEM, PKCS #8
};

Result<KeyPair> make_authority(const std::string& name, Time now);  // ten years
// For names ("localhost", "127.0.0.1", "::1"); a year.
Result<KeyPair> make_server_certificate(const KeyPair& authority, const std::vector<std::string>& names, Time now);
// Kubernetes reads the user from CN and the groups from O; a year.
Result<KeyPair> make_client_certificate(const KeyPair& authority, const std::string& user,
                                        const std::vector<std::string>& groups, Time now);
// When it ends (milliseconds since 1970), for renewal before.
Result<Time> certificate_end(const std::string& certificate);

// 128 random bits and more from the system, as lower-case hex: tokens.
std::string random_token(std::size_t bytes = 24);

}  // namespace berth
