#include "web_server/tls.h"

#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>

#include <cstddef>
#include <cstring>
#include <memory>
#include <string>
#include <utility>

namespace berth {

namespace {

template <auto free_function>
struct FreeBy {
  template <class T>
  void operator()(T* thing) const {
    free_function(thing);
  }
};
using Bio = std::unique_ptr<BIO, FreeBy<BIO_free>>;
using OwnCertificate = std::unique_ptr<X509, FreeBy<X509_free>>;
using PrivateKey = std::unique_ptr<EVP_PKEY, FreeBy<EVP_PKEY_free>>;

Bio read_from(const std::string& text) { return Bio(BIO_new_mem_buf(text.data(), static_cast<int>(text.size()))); }

// A key with a passphrase must not make the server ask for it on its terminal.
int no_passphrase(char*, int, int, void*) { return -1; }

Complaints complain(const char* option, const std::string& text) {
  char reason[256] = "";
  ERR_error_string_n(ERR_peek_last_error(), reason, sizeof reason);
  ERR_clear_error();
  return Complaints({option}, text + " (OpenSSL: " + reason + ")");
}

// The server's own certificate, then those that lead to the authority.
bool use_chain(SSL_CTX* context, const std::string& pem) {
  const Bio bio = read_from(pem);
  const OwnCertificate leaf(PEM_read_bio_X509(bio.get(), nullptr, no_passphrase, nullptr));
  if (!leaf || SSL_CTX_use_certificate(context, leaf.get()) != 1) return false;
  while (OwnCertificate next{PEM_read_bio_X509(bio.get(), nullptr, no_passphrase, nullptr)}) {
    if (SSL_CTX_add1_chain_cert(context, next.get()) != 1) return false;
  }
  ERR_clear_error();  // the end of the text was an error to the loop
  return true;
}

bool believe(SSL_CTX* context, const std::string& pem) {
  const Bio bio = read_from(pem);
  int certificates = 0;
  while (OwnCertificate authority{PEM_read_bio_X509(bio.get(), nullptr, no_passphrase, nullptr)}) {
    if (X509_STORE_add_cert(SSL_CTX_get_cert_store(context), authority.get()) != 1) return false;
    if (SSL_CTX_add_client_CA(context, authority.get()) != 1) return false;
    ++certificates;
  }
  if (certificates > 0) ERR_clear_error();
  return certificates > 0;
}

// We speak nothing else; a client that offers only other protocols is told so by the alert.
int choose_protocol(SSL*, const unsigned char** chosen, unsigned char* chosen_bytes, const unsigned char* offered,
                    unsigned int offered_bytes, void*) {
  constexpr char kHttp11[] = "http/1.1";
  constexpr std::size_t kBytes = sizeof kHttp11 - 1;
  for (unsigned int at = 0; at < offered_bytes; at += 1U + offered[at]) {
    if (offered[at] == kBytes && at + kBytes < offered_bytes && std::memcmp(offered + at + 1, kHttp11, kBytes) == 0) {
      *chosen = offered + at + 1;
      *chosen_bytes = static_cast<unsigned char>(kBytes);
      return SSL_TLSEXT_ERR_OK;
    }
  }
  return SSL_TLSEXT_ERR_ALERT_FATAL;
}

std::string text_of(const X509_NAME_ENTRY* entry) {
  unsigned char* utf8 = nullptr;
  const int bytes = ASN1_STRING_to_UTF8(&utf8, X509_NAME_ENTRY_get_data(entry));
  if (bytes < 0) return {};
  std::string text(reinterpret_cast<const char*>(utf8), static_cast<std::size_t>(bytes));
  OPENSSL_free(utf8);
  return text;
}

}  // namespace

void TlsContextFree::operator()(ssl_ctx_st* context) const { SSL_CTX_free(context); }

Result<TlsContext> make_tls_context(const WebServerOptions& options) {
  ERR_clear_error();
  TlsContext context(SSL_CTX_new(TLS_server_method()));
  if (!context) return complain("web server", "OpenSSL gives no TLS context; free memory and try again");
  SSL_CTX_set_min_proto_version(context.get(), TLS1_2_VERSION);
  // Without resumption every connection's client certificate is checked anew: one that has expired since counts no more.
  SSL_CTX_set_options(context.get(), SSL_OP_NO_TICKET | SSL_OP_NO_RENEGOTIATION);
  SSL_CTX_set_num_tickets(context.get(), 0);
  SSL_CTX_set_session_cache_mode(context.get(), SSL_SESS_CACHE_OFF);
  SSL_CTX_set_alpn_select_cb(context.get(), choose_protocol, nullptr);

  if (!use_chain(context.get(), options.certificate)) {
    return complain("certificate", "is no certificate in PEM; give the text from -----BEGIN CERTIFICATE----- on");
  }
  const Bio bio = read_from(options.private_key);
  const PrivateKey key(PEM_read_bio_PrivateKey(bio.get(), nullptr, no_passphrase, nullptr));
  if (!key) {
    return complain("private_key",
                    "is no private key in PEM; give the text from -----BEGIN PRIVATE KEY----- on, "
                    "without a passphrase");
  }
  if (SSL_CTX_use_PrivateKey(context.get(), key.get()) != 1) {
    return complain("private_key", "does not belong to the certificate; give the key that it was made with");
  }
  if (!options.client_ca.empty()) {
    if (!believe(context.get(), options.client_ca)) {
      return complain("client_ca", "is no certificate in PEM; give the text from -----BEGIN CERTIFICATE----- on");
    }
    SSL_CTX_set_verify(context.get(), SSL_VERIFY_PEER, nullptr);
  }
  return context;
}

void describe_certificate(const ssl_st* connection, Peer& peer) {
  peer.tls = true;
  const OwnCertificate certificate(SSL_get1_peer_certificate(connection));
  // Without a certificate the result is "ok" too; with one, the handshake has already insisted on it.
  if (!certificate || SSL_get_verify_result(connection) != X509_V_OK) return;
  const X509_NAME* const subject = X509_get_subject_name(certificate.get());
  for (int i = 0; i < X509_NAME_entry_count(subject); ++i) {
    const X509_NAME_ENTRY* const entry = X509_NAME_get_entry(subject, i);
    const int kind = OBJ_obj2nid(X509_NAME_ENTRY_get_object(entry));
    if (kind == NID_commonName) peer.certificate_name = text_of(entry);
    if (kind == NID_organizationName) peer.certificate_groups.push_back(text_of(entry));
  }
}

}  // namespace berth
