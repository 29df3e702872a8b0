#include "web_server/certificates.h"
#include "base/time.h"

#include <gtest/gtest.h>
#include <openssl/bio.h>
#include <openssl/pem.h>
#include <openssl/x509.h>
#include <openssl/x509_vfy.h>
#include <openssl/x509v3.h>

#include <cstdint>
#include <ctime>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace berth::certificates_test {

constexpr Time kNow{1'795'246'585'000};

struct FreeCertificate {
  void operator()(X509* certificate) const { X509_free(certificate); }
};
using Certificate = std::unique_ptr<X509, FreeCertificate>;

Certificate read(const std::string& pem) {
  BIO* const memory = BIO_new_mem_buf(pem.data(), static_cast<int>(pem.size()));
  Certificate certificate(PEM_read_bio_X509(memory, nullptr, nullptr, nullptr));
  BIO_free(memory);
  return certificate;
}

struct Peer {
  int purpose = X509_PURPOSE_SSL_SERVER;
  std::string dns;
  std::string ip;
};

// X509_V_OK, or why the chain does not hold at that time.
int verify(const std::string& authority, const std::string& leaf, const Peer& peer, Time at = kNow) {
  const Certificate root = read(authority);
  const Certificate certificate = read(leaf);
  X509_STORE* const trusted = X509_STORE_new();
  X509_STORE_add_cert(trusted, root.get());
  X509_STORE_CTX* const context = X509_STORE_CTX_new();
  X509_STORE_CTX_init(context, trusted, certificate.get(), nullptr);
  X509_VERIFY_PARAM* const wanted = X509_STORE_CTX_get0_param(context);
  X509_VERIFY_PARAM_set_flags(wanted, X509_V_FLAG_X509_STRICT | X509_V_FLAG_CHECK_SS_SIGNATURE);
  X509_VERIFY_PARAM_set_purpose(wanted, peer.purpose);
  X509_VERIFY_PARAM_set_time(wanted, static_cast<std::time_t>(at.ms / 1000));
  if (!peer.dns.empty()) X509_VERIFY_PARAM_set1_host(wanted, peer.dns.c_str(), peer.dns.size());
  if (!peer.ip.empty()) X509_VERIFY_PARAM_set1_ip_asc(wanted, peer.ip.c_str());
  X509_verify_cert(context);
  const int error = X509_STORE_CTX_get_error(context);
  X509_STORE_CTX_free(context);
  X509_STORE_free(trusted);
  return error;
}

class Certificates : public ::testing::Test {
 protected:
  const KeyPair authority_ = make_authority("berth", kNow).value();
};

TEST_F(Certificates, AServerIsTrustedForItsNamesOnly) {
  const Result<KeyPair> server = make_server_certificate(authority_, {"localhost", "127.0.0.1", "::1"}, kNow);
  ASSERT_TRUE(server) << server.error().to_string();
  EXPECT_EQ(verify(authority_.certificate, server->certificate, {.dns = "localhost", .ip = ""}), X509_V_OK);
  EXPECT_EQ(verify(authority_.certificate, server->certificate, {.dns = "", .ip = "127.0.0.1"}), X509_V_OK);
  EXPECT_EQ(verify(authority_.certificate, server->certificate, {.dns = "", .ip = "::1"}), X509_V_OK);
  EXPECT_EQ(verify(authority_.certificate, server->certificate, {.dns = "other", .ip = ""}),
            X509_V_ERR_HOSTNAME_MISMATCH);
  EXPECT_EQ(verify(authority_.certificate, server->certificate, {.dns = "", .ip = "127.0.0.2"}),
            X509_V_ERR_IP_ADDRESS_MISMATCH);
  EXPECT_NE(
      verify(authority_.certificate, server->certificate, {.purpose = X509_PURPOSE_SSL_CLIENT, .dns = "", .ip = ""}),
      X509_V_OK);
}

TEST_F(Certificates, AClientCarriesItsUserAndGroups) {
  const Result<KeyPair> client = make_client_certificate(authority_, "anna", {"system:masters", "lab"}, kNow);
  ASSERT_TRUE(client) << client.error().to_string();
  EXPECT_EQ(
      verify(authority_.certificate, client->certificate, {.purpose = X509_PURPOSE_SSL_CLIENT, .dns = "", .ip = ""}),
      X509_V_OK);
  EXPECT_NE(verify(authority_.certificate, client->certificate, {.dns = "", .ip = ""}), X509_V_OK);
  const Certificate certificate = read(client->certificate);
  char subject[256] = {};
  X509_NAME_oneline(X509_get_subject_name(certificate.get()), subject, sizeof subject);
  EXPECT_STREQ(subject, "/O=system:masters/O=lab/CN=anna");
}

TEST_F(Certificates, AnotherAuthorityIsNotTrusted) {
  const KeyPair other = make_authority("berth", kNow).value();
  const KeyPair server = make_server_certificate(other, {"localhost"}, kNow).value();
  EXPECT_NE(verify(authority_.certificate, server.certificate, {.dns = "localhost", .ip = ""}), X509_V_OK);
  // Nor may a leaf sign.
  const KeyPair forged = make_server_certificate(server, {"localhost"}, kNow).value();
  EXPECT_NE(verify(other.certificate, forged.certificate, {.dns = "localhost", .ip = ""}), X509_V_OK);
  EXPECT_FALSE(make_server_certificate({authority_.certificate, other.private_key}, {"localhost"}, kNow));
}

TEST_F(Certificates, HoldFromALittleBeforeNowToTheirEnd) {
  const KeyPair server = make_server_certificate(authority_, {"localhost"}, kNow).value();
  const auto verified_at = [&](std::int64_t ms) {
    return verify(authority_.certificate, server.certificate, {.dns = "localhost", .ip = ""}, {kNow.ms + ms});
  };
  EXPECT_EQ(certificate_end(server.certificate), (Time{kNow.ms + 365 * kDayMs}));
  EXPECT_EQ(certificate_end(authority_.certificate), (Time{kNow.ms + 3650 * kDayMs}));
  EXPECT_EQ(verified_at(-60'000), X509_V_OK);
  EXPECT_EQ(verified_at(364 * kDayMs), X509_V_OK);
  EXPECT_EQ(verified_at(366 * kDayMs), X509_V_ERR_CERT_HAS_EXPIRED);
  EXPECT_NE(verified_at(-kDayMs), X509_V_OK);
}

TEST_F(Certificates, SerialsAndKeysDiffer) {
  const KeyPair a = make_client_certificate(authority_, "a", {}, kNow).value();
  const KeyPair b = make_client_certificate(authority_, "a", {}, kNow).value();
  EXPECT_NE(a.private_key, b.private_key);
  EXPECT_TRUE(a.private_key.starts_with("-----BEGIN PRIVATE KEY-----"));
  EXPECT_NE(ASN1_INTEGER_cmp(X509_get0_serialNumber(read(a.certificate).get()),
                             X509_get0_serialNumber(read(b.certificate).get())),
            0);
}

TEST_F(Certificates, WhatCannotStandInACertificateIsRefused) {
  for (const std::string& user : {std::string(), std::string("a\nb"), std::string(65, 'a'), std::string("\xff")}) {
    EXPECT_FALSE(make_client_certificate(authority_, user, {}, kNow)) << user;
    EXPECT_FALSE(make_client_certificate(authority_, "a", {user}, kNow)) << user;
    EXPECT_FALSE(make_authority(user, kNow)) << user;
  }
  for (const std::string& name : {std::string(), std::string("a b"), std::string("a:b"), std::string(300, 'a')}) {
    EXPECT_FALSE(make_server_certificate(authority_, {name}, kNow)) << name;
  }
  EXPECT_FALSE(make_server_certificate(authority_, {}, kNow));
  for (const std::string& pem :
       {std::string(), std::string("-----BEGIN CERTIFICATE-----\nxx\n"), authority_.private_key}) {
    EXPECT_FALSE(certificate_end(pem));
    EXPECT_FALSE(make_server_certificate({pem, authority_.private_key}, {"localhost"}, kNow));
  }
}

TEST(RandomToken, IsHexOfTheLengthAndNeverTheSame) {
  const std::string token = random_token();
  EXPECT_EQ(token.size(), 48U);
  EXPECT_EQ(token.find_first_not_of("0123456789abcdef"), std::string::npos);
  EXPECT_NE(token, random_token());
  EXPECT_EQ(random_token(16).size(), 32U);
}

}  // namespace berth::certificates_test
