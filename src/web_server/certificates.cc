#include "web_server/certificates.h"

#include <openssl/asn1.h>
#include <openssl/bio.h>
#include <openssl/ec.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/rand.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <ctime>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>

#include "base/assert.h"
#include "base/time.h"
#include "base/wording.h"

namespace berth {

namespace {

constexpr Duration kAuthorityLife{3650 * kDayMs};
constexpr Duration kCertificateLife{365 * kDayMs};
// A client whose clock is a little behind must accept a certificate that was just made.
constexpr Duration kBackdated{5 * 60'000};
constexpr std::size_t kSerialBytes = 16;

template <auto kFree>
struct Freed {
  template <class T>
  void operator()(T* object) const {
    kFree(object);
  }
};
using Key = std::unique_ptr<EVP_PKEY, Freed<&EVP_PKEY_free>>;
using Certificate = std::unique_ptr<X509, Freed<&X509_free>>;
using Memory = std::unique_ptr<BIO, Freed<&BIO_free_all>>;
using Extension = std::unique_ptr<X509_EXTENSION, Freed<&X509_EXTENSION_free>>;
using Number = std::unique_ptr<BIGNUM, Freed<&BN_free>>;
using Names = std::unique_ptr<GENERAL_NAMES, Freed<&GENERAL_NAMES_free>>;
using Name = std::unique_ptr<GENERAL_NAME, Freed<&GENERAL_NAME_free>>;
using Address = std::unique_ptr<ASN1_OCTET_STRING, Freed<&ASN1_OCTET_STRING_free>>;
using Text = std::unique_ptr<ASN1_IA5STRING, Freed<&ASN1_IA5STRING_free>>;

// What OpenSSL noted last says why; its queue is emptied so that nobody after us takes our error for his.
Complaints failed(const std::string& what) {
  const unsigned long code = ERR_peek_last_error();
  ERR_clear_error();
  const char* const reason = code == 0 ? nullptr : ERR_reason_error_string(code);
  return Complaints("cannot " + what + (reason == nullptr ? "" : std::string(": ") + reason));
}

std::string contents(const Memory& memory) {
  const char* bytes = nullptr;
  const long size = BIO_get_mem_data(memory.get(), &bytes);
  return size <= 0 ? std::string() : std::string(bytes, static_cast<std::size_t>(size));
}

// PEM comes from files that people edit; OpenSSL counts sizes in int.
Memory reading(const std::string& text) {
  constexpr std::size_t kPemMax = 1'000'000;
  if (text.size() > kPemMax) return nullptr;
  return Memory(BIO_new_mem_buf(text.data(), static_cast<int>(text.size())));
}

// Never asks at a terminal for a pass phrase: an encrypted key is refused.
int no_pass_phrase(char*, int, int, void*) { return -1; }

Certificate read_certificate(const std::string& pem) {
  const Memory memory = reading(pem);
  return Certificate(memory ? PEM_read_bio_X509(memory.get(), nullptr, &no_pass_phrase, nullptr) : nullptr);
}

Key read_key(const std::string& pem) {
  const Memory memory = reading(pem);
  return Key(memory ? PEM_read_bio_PrivateKey(memory.get(), nullptr, &no_pass_phrase, nullptr) : nullptr);
}

bool set_random_serial(X509* certificate) {
  std::array<unsigned char, kSerialBytes> bytes{};
  if (RAND_bytes(bytes.data(), static_cast<int>(bytes.size())) != 1) return false;
  bytes[0] = static_cast<unsigned char>((bytes[0] & 0x7fU) | 0x40U);  // positive, and of full length
  const Number number(BN_bin2bn(bytes.data(), static_cast<int>(bytes.size()), nullptr));
  return number && BN_to_ASN1_INTEGER(number.get(), X509_get_serialNumber(certificate)) != nullptr;
}

bool set_time(ASN1_TIME* field, Time time) {
  return ASN1_TIME_adj(field, static_cast<std::time_t>(time.ms / 1000), 0, 0) != nullptr;
}

bool add_name_entry(X509_NAME* name, const char* field, const std::string& text) {
  return X509_NAME_add_entry_by_txt(name, field, MBSTRING_UTF8, reinterpret_cast<const unsigned char*>(text.data()),
                                    static_cast<int>(text.size()), -1, 0) == 1;
}

bool add_extension(X509* certificate, X509* issuer, int kind, const char* text) {
  X509V3_CTX context{};
  X509V3_set_ctx(&context, issuer, certificate, nullptr, nullptr, 0);
  const Extension extension(X509V3_EXT_conf_nid(nullptr, &context, kind, text));
  return extension && X509_add_ext(certificate, extension.get(), -1) == 1;
}

// An address where the name is one ("127.0.0.1", "::1"), a DNS name otherwise.
Name alternative_name(const std::string& name) {
  Name out(GENERAL_NAME_new());
  Address address(a2i_IPADDRESS(name.c_str()));
  if (address) {
    if (out) GENERAL_NAME_set0_value(out.get(), GEN_IPADD, address.release());
    return out;
  }
  ERR_clear_error();  // it was no address
  Text text(ASN1_IA5STRING_new());
  if (!out || !text || ASN1_STRING_set(text.get(), name.data(), static_cast<int>(name.size())) != 1) return nullptr;
  GENERAL_NAME_set0_value(out.get(), GEN_DNS, text.release());
  return out;
}

bool add_alternative_names(X509* certificate, const std::vector<std::string>& names) {
  const Names list(GENERAL_NAMES_new());
  if (!list) return false;
  for (const std::string& name : names) {
    Name entry = alternative_name(name);
    if (!entry || sk_GENERAL_NAME_push(list.get(), entry.get()) == 0) return false;
    static_cast<void>(entry.release());  // the list's now
  }
  return X509_add1_ext_i2d(certificate, NID_subject_alt_name, list.get(), 0, 0) == 1;
}

struct Subject {
  std::string common_name;
  std::vector<std::string> organizations;
};

// A certificate with everything but extensions and signature.
Certificate blank_certificate(EVP_PKEY* key, const Subject& subject, Time now, Duration life) {
  Certificate certificate(X509_new());
  if (!certificate) return nullptr;
  X509* const raw = certificate.get();
  X509_NAME* const name = X509_get_subject_name(raw);
  bool ok = X509_set_version(raw, X509_VERSION_3) == 1 && set_random_serial(raw) && X509_set_pubkey(raw, key) == 1 &&
            set_time(X509_getm_notBefore(raw), now + Duration{-kBackdated.ms}) &&
            set_time(X509_getm_notAfter(raw), now + life);
  for (const std::string& organization : subject.organizations) {
    ok = ok && add_name_entry(name, "O", organization);
  }
  ok = ok && add_name_entry(name, "CN", subject.common_name);
  return ok ? std::move(certificate) : nullptr;
}

Result<KeyPair> to_pem(X509* certificate, EVP_PKEY* key) {
  const Memory certificate_text(BIO_new(BIO_s_mem()));
  const Memory key_text(BIO_new(BIO_s_secmem()));
  if (!certificate_text || !key_text || PEM_write_bio_X509(certificate_text.get(), certificate) != 1 ||
      PEM_write_bio_PKCS8PrivateKey(key_text.get(), key, nullptr, nullptr, 0, nullptr, nullptr) != 1) {
    return failed("write a certificate and its key");
  }
  return KeyPair{.certificate = contents(certificate_text), .private_key = contents(key_text)};
}

// Lengths that X.509 allows (64 characters), counted in bytes, and texts that can be read in a log.
std::optional<Complaints> complaint_about_name(const std::string& what, const std::string& text) {
  constexpr std::size_t kNameMax = 64;
  bool valid = !text.empty() && text.size() <= kNameMax && !has_control_characters(text);
  for (std::string_view rest = text; valid && !rest.empty();) {
    const std::size_t size = utf8_character(rest);
    valid = size > 0;
    rest.remove_prefix(size);
  }
  if (valid) return std::nullopt;
  return Complaints(what + " " + quote(text) +
                    " cannot stand in a certificate; write 1 to 64 bytes of printable UTF-8");
}

bool is_alternative_name(const std::string& name) {
  constexpr std::size_t kDnsMax = 253;
  if (name.empty() || name.size() > kDnsMax) return false;
  for (const char c : name) {
    const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
    if (!letter && !std::string_view(".-:*").contains(c)) return false;
  }
  // Only addresses have colons.
  if (!name.contains(':')) return true;
  const Address address(a2i_IPADDRESS(name.c_str()));
  ERR_clear_error();
  return address != nullptr;
}

struct Use {
  const char* key_usage;
  const char* extended_key_usage;
  std::vector<std::string> names;
};

// A certificate for a fresh key, signed by the authority.
Result<KeyPair> make_signed(const KeyPair& authority, const Subject& subject, const Use& use, Time now) {
  const Certificate issuer = read_certificate(authority.certificate);
  if (!issuer) return failed("read the certificate of the authority");
  const Key issuer_key = read_key(authority.private_key);
  if (!issuer_key) return failed("read the private key of the authority");
  if (X509_check_private_key(issuer.get(), issuer_key.get()) != 1) {
    return failed("sign: the authority's key does not belong to its certificate");
  }
  const Key key(EVP_EC_gen("P-256"));
  if (!key) return failed("make a P-256 key");
  const Certificate certificate = blank_certificate(key.get(), subject, now, kCertificateLife);
  X509* const raw = certificate.get();
  const bool ok = certificate && X509_set_issuer_name(raw, X509_get_subject_name(issuer.get())) == 1 &&
                  add_extension(raw, issuer.get(), NID_basic_constraints, "critical,CA:FALSE") &&
                  add_extension(raw, issuer.get(), NID_key_usage, use.key_usage) &&
                  add_extension(raw, issuer.get(), NID_ext_key_usage, use.extended_key_usage) &&
                  add_extension(raw, issuer.get(), NID_subject_key_identifier, "hash") &&
                  add_extension(raw, issuer.get(), NID_authority_key_identifier, "keyid:always") &&
                  (use.names.empty() || add_alternative_names(raw, use.names)) &&
                  X509_sign(raw, issuer_key.get(), EVP_sha256()) != 0;
  if (!ok) return failed("make a certificate for " + quote(subject.common_name));
  return to_pem(raw, key.get());
}

}  // namespace

Result<KeyPair> make_authority(const std::string& name, Time now) {
  if (std::optional<Complaints> complaint = complaint_about_name("the authority's name", name)) return *complaint;
  const Key key(EVP_EC_gen("P-256"));
  if (!key) return failed("make a P-256 key");
  const Certificate certificate = blank_certificate(key.get(), {name, {}}, now, kAuthorityLife);
  X509* const raw = certificate.get();
  const bool ok = certificate && X509_set_issuer_name(raw, X509_get_subject_name(raw)) == 1 &&
                  add_extension(raw, raw, NID_basic_constraints, "critical,CA:TRUE,pathlen:0") &&
                  add_extension(raw, raw, NID_key_usage, "critical,keyCertSign,cRLSign") &&
                  add_extension(raw, raw, NID_subject_key_identifier, "hash") &&
                  X509_sign(raw, key.get(), EVP_sha256()) != 0;
  if (!ok) return failed("make the authority's certificate");
  return to_pem(raw, key.get());
}

Result<KeyPair> make_server_certificate(const KeyPair& authority, const std::vector<std::string>& names, Time now) {
  if (names.empty()) return Complaints("a server's certificate needs a name; give one, such as localhost");
  for (const std::string& name : names) {
    if (!is_alternative_name(name)) {
      return Complaints(quote(name) + " is neither a DNS name nor an address; write one such as localhost or 10.0.0.7");
    }
  }
  // Nobody reads a server's CN any more; one name for all also fits its 64 bytes.
  return make_signed(authority, {"berth-apiserver", {}}, {"critical,digitalSignature", "serverAuth", names}, now);
}

Result<KeyPair> make_client_certificate(const KeyPair& authority, const std::string& user,
                                        const std::vector<std::string>& groups, Time now) {
  if (std::optional<Complaints> complaint = complaint_about_name("the user", user)) return *complaint;
  for (const std::string& group : groups) {
    if (std::optional<Complaints> complaint = complaint_about_name("the group", group)) return *complaint;
  }
  return make_signed(authority, {user, groups}, {"critical,digitalSignature", "clientAuth", {}}, now);
}

Result<Time> certificate_end(const std::string& certificate) {
  const Certificate read = read_certificate(certificate);
  if (!read) return failed("read the certificate");
  std::tm date{};
  if (ASN1_TIME_to_tm(X509_get0_notAfter(read.get()), &date) != 1) return failed("read the end of the certificate");
  return Time{static_cast<std::int64_t>(timegm(&date)) * 1000};
}

std::string random_token(std::size_t bytes) {
  constexpr std::string_view kHex = "0123456789abcdef";
  std::vector<unsigned char> random(bytes);
  // A token that can be guessed is worse than none: without randomness nothing goes on.
  BERTH_ASSERT(RAND_bytes(random.data(), static_cast<int>(random.size())) == 1);
  std::string token;
  for (const unsigned char byte : random) {
    token += kHex[byte >> 4U];
    token += kHex[byte & 0xfU];
  }
  return token;
}

}  // namespace berth
