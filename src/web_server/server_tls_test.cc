#include <gtest/gtest.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>

#include <chrono>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "web_server/certificates.h"
#include "web_server/raw_client.h"
#include "web_server/server.h"

namespace berth::server_tls_test {

constexpr std::string_view kGet = "GET / HTTP/1.1\r\nHost: x\r\n\r\n";

// What a client shows and accepts.
struct Manners {
  KeyPair shown = {};  // no certificate: none
  std::string authority = {};
  int version_max = 0;  // 0: the newest
  std::string protocols = {};
};

class TlsClient : public RawClient {
 public:
  TlsClient(std::uint16_t port, const Manners& manners) : RawClient(port), context_(SSL_CTX_new(TLS_client_method())) {
    SSL_CTX_set_max_proto_version(context_, manners.version_max);
    // The oldest versions need the lowest security level even to be offered.
    if (manners.version_max != 0) SSL_CTX_set_security_level(context_, 0);
    SSL_CTX_set_min_proto_version(context_, TLS1_VERSION);
    BIO* const pem = BIO_new_mem_buf(manners.authority.data(), static_cast<int>(manners.authority.size()));
    X509* const authority = PEM_read_bio_X509(pem, nullptr, nullptr, nullptr);
    X509_STORE_add_cert(SSL_CTX_get_cert_store(context_), authority);
    X509_free(authority);
    BIO_free(pem);
    SSL_CTX_set_verify(context_, SSL_VERIFY_PEER, nullptr);
    tls_ = SSL_new(context_);
    if (!manners.shown.certificate.empty()) show(manners.shown);
    SSL_set1_host(tls_, "localhost");
    SSL_set_alpn_protos(tls_, reinterpret_cast<const unsigned char*>(manners.protocols.data()),
                        static_cast<unsigned>(manners.protocols.size()));
    SSL_set_fd(tls_, socket_);
    connected = SSL_connect(tls_) == 1;
  }
  ~TlsClient() override {
    SSL_free(tls_);
    SSL_CTX_free(context_);
    ERR_clear_error();
  }

  std::string protocol() const {
    const unsigned char* text = nullptr;
    unsigned bytes = 0;
    SSL_get0_alpn_selected(tls_, &text, &bytes);
    return {reinterpret_cast<const char*>(text), bytes};
  }
  std::string version() const { return SSL_get_version(tls_); }

  bool connected = false;

 protected:
  std::ptrdiff_t send_some(std::string_view bytes) override {
    return SSL_write(tls_, bytes.data(), static_cast<int>(bytes.size()));
  }
  std::ptrdiff_t receive_some(char* bytes, std::size_t bytes_max) override {
    return SSL_read(tls_, bytes, static_cast<int>(bytes_max));
  }

 private:
  void show(const KeyPair& pair) {
    BIO* const certificate_pem = BIO_new_mem_buf(pair.certificate.data(), static_cast<int>(pair.certificate.size()));
    BIO* const key_pem = BIO_new_mem_buf(pair.private_key.data(), static_cast<int>(pair.private_key.size()));
    X509* const certificate = PEM_read_bio_X509(certificate_pem, nullptr, nullptr, nullptr);
    EVP_PKEY* const key = PEM_read_bio_PrivateKey(key_pem, nullptr, nullptr, nullptr);
    SSL_use_certificate(tls_, certificate);
    SSL_use_PrivateKey(tls_, key);
    EVP_PKEY_free(key);
    X509_free(certificate);
    BIO_free(key_pem);
    BIO_free(certificate_pem);
  }

  SSL_CTX* context_;
  SSL* tls_ = nullptr;
};

// OpenSSL compares with the machine's clock.
const Time kNow{
    std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::system_clock::now().time_since_epoch()).count()};

KeyPair made(Result<KeyPair> pair) {
  EXPECT_TRUE(pair) << pair.error().to_string();
  return *pair;
}

class WebServerTls : public testing::Test {
 protected:
  // OpenSSL's client writes to a connection that the server has closed as the test wants it.
  static void SetUpTestSuite() { std::signal(SIGPIPE, SIG_IGN); }

  std::unique_ptr<WebServer> started(HttpHandler handler, int request_s = 30) {
    auto server = WebServer::start({.certificate = certificate.certificate,
                                    .private_key = certificate.private_key,
                                    .client_ca = authority.certificate,
                                    .request_s = request_s},
                                   std::move(handler));
    EXPECT_TRUE(server) << server.error().to_string();
    return std::move(*server);
  }

  // The user as the server sees him, in the body.
  static void who(const HttpRequest& request, const std::shared_ptr<Responder>& responder) {
    std::string body = request.peer.tls ? request.peer.certificate_name : "not TLS";
    for (const std::string& group : request.peer.certificate_groups) body += " " + group;
    responder->reply({.body = body});
  }

  const KeyPair authority = made(make_authority("berth", kNow));
  const KeyPair certificate = made(make_server_certificate(authority, {"localhost", "127.0.0.1"}, kNow));
  const Manners polite{.authority = authority.certificate};
};

TEST_F(WebServerTls, KnowsTheUserByTheCertificate) {
  const auto server = started(who);
  Manners manners = polite;
  TlsClient nobody(server->port(), manners);
  ASSERT_TRUE(nobody.connected);
  EXPECT_EQ(nobody.ask(kGet).body, "");
  EXPECT_EQ(nobody.ask(kGet).status, 200);

  manners.shown = made(make_client_certificate(authority, "ann", {"team", "system:masters"}, kNow));
  TlsClient ann(server->port(), manners);
  const std::string body = ann.ask(kGet).body;
  EXPECT_TRUE(body == "ann team system:masters" || body == "ann system:masters team") << body;
  manners.version_max = TLS1_2_VERSION;
  TlsClient ann_of_old(server->port(), manners);
  EXPECT_EQ(ann_of_old.ask(kGet).body, body);
  EXPECT_EQ(ann_of_old.version(), "TLSv1.2");
}

TEST_F(WebServerTls, RefusesACertificateOfAnotherAuthority) {
  const auto server = started(who);
  const KeyPair other = made(make_authority("berth", kNow));
  for (const int version : {TLS1_2_VERSION, TLS1_3_VERSION}) {
    Manners manners = polite;
    manners.version_max = version;
    manners.shown = made(make_client_certificate(other, "mallory", {"system:masters"}, kNow));
    TlsClient mallory(server->port(), manners);
    EXPECT_EQ(mallory.ask(kGet).status, 0);
    // Nor a certificate that was made for a server.
    manners.shown = certificate;
    TlsClient server_as_client(server->port(), manners);
    EXPECT_EQ(server_as_client.ask(kGet).status, 0);
  }
}

TEST_F(WebServerTls, SpeaksNothingOldAndNothingElse) {
  const auto server = started(who);
  Manners manners = polite;
  manners.version_max = TLS1_1_VERSION;
  EXPECT_FALSE(TlsClient(server->port(), manners).connected);
  manners = polite;
  manners.protocols = "\x02h2\x08http/1.1";
  TlsClient modern(server->port(), manners);
  EXPECT_EQ(modern.protocol(), "http/1.1");
  EXPECT_EQ(modern.ask(kGet).status, 200);
  manners.protocols = "\x02h2";
  EXPECT_FALSE(TlsClient(server->port(), manners).connected);
  RawClient plain(server->port());
  EXPECT_EQ(plain.ask(kGet).status, 0);
}

TEST_F(WebServerTls, AHandshakeThatDoesNotComeIsGivenUp) {
  const auto server = started(who, 1);
  RawClient silent(server->port());
  EXPECT_TRUE(silent.closed_by_server());
}

TEST_F(WebServerTls, CarriesLargeRepliesStreamsAndRefusals) {
  std::mutex mutex;
  std::vector<std::shared_ptr<HttpStream>> streams;
  const std::string large(3 << 20, 'x');
  const auto server = started([&](const HttpRequest& request, const std::shared_ptr<Responder>& responder) {
    if (request.path == "/") return responder->reply({.body = large});
    const std::lock_guard lock(mutex);
    streams.push_back(responder->start_stream(200, "text/plain"));
    for (int i = 0; i < 100; ++i) streams.back()->write(std::make_shared<const std::string>(std::to_string(i)));
    streams.back()->end();
  });
  TlsClient client(server->port(), polite);
  EXPECT_EQ(client.ask(kGet).body, large);
  client.send("GET /stream HTTP/1.1\r\nHost: x\r\n\r\n");
  client.read_to("\r\n\r\n");
  for (int i = 0; i < 100; ++i) EXPECT_EQ(client.read_chunk(), std::to_string(i));
  EXPECT_EQ(client.read_chunk(), "");
  EXPECT_EQ(client.ask("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 4000000\r\n\r\n" + large).status, 413);
  EXPECT_TRUE(client.closed_by_server());  // with a farewell, not a reset
}

TEST_F(WebServerTls, SaysWhatIsWrongWithItsKeys) {
  const std::string& good = certificate.certificate;
  const std::string& key = certificate.private_key;
  const std::tuple<std::string, std::string, std::string, const char*> cases[] = {
      {"nonsense", key, "", "certificate: is no certificate in PEM"},
      {good, "nonsense", "", "private_key: is no private key in PEM"},
      {good, "", "", "private_key: is no private key in PEM"},
      {good, authority.private_key, "", "private_key: does not belong to the certificate"},
      {good, key, "nonsense", "client_ca: is no certificate in PEM"},
  };
  for (const auto& [certificate_pem, key_pem, client_ca, expected] : cases) {
    const auto server = WebServer::start(
        {.certificate = certificate_pem, .private_key = key_pem, .client_ca = client_ca}, WebServerTls::who);
    ASSERT_FALSE(server) << expected;
    EXPECT_TRUE(server.error().to_string().starts_with(expected)) << server.error().to_string();
  }
}

}  // namespace berth::server_tls_test
