#include "kube/curl_transfer.h"

#include <arpa/inet.h>
#include <curl/curl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <algorithm>
#include <climits>
#include <optional>
#include <vector>

#include "base/wording.h"

namespace berth {
namespace {

// A page of 500 objects of the largest allowed size would not fit, but such a page is no cluster's.
constexpr std::size_t kBodyMax = std::size_t{256} << 20;
constexpr std::size_t kRefusalBodyMax = 1 << 20;
constexpr long kConnectTimeout_s = 8;
constexpr long kKeepAliveIdle_s = 30;
constexpr long kKeepAliveEvery_s = 15;
// A connection whose peer answers nothing for so long is dead. Without it the system goes on sending for a quarter of
// an hour, and HTTP/2 would put call after call on the dead connection.
constexpr unsigned kUnansweredMax_ms = 45'000;

int set_socket(void*, curl_socket_t socket, curlsocktype) {
  ::setsockopt(socket, IPPROTO_TCP, TCP_USER_TIMEOUT, &kUnansweredMax_ms, sizeof kUnansweredMax_ms);
  return CURL_SOCKOPT_OK;
}

std::optional<std::string> part_of(CURLU* url, CURLUPart part, unsigned flags = 0) {
  char* text = nullptr;
  if (curl_url_get(url, part, &text, flags) != CURLUE_OK || text == nullptr) return std::nullopt;
  std::string copy(text);
  curl_free(text);
  return copy;
}

bool names_loopback(std::string_view host) {
  return host == "localhost" || host.starts_with("127.") || host == "[::1]";
}

bool is_pem(std::string_view text, std::string_view ending) {
  const std::size_t begin = text.find("-----BEGIN ");
  if (begin == std::string_view::npos) return false;
  const std::size_t label_end = text.find("-----", begin + 11);
  if (label_end == std::string_view::npos) return false;
  const std::string label(text.substr(begin + 11, label_end - begin - 11));
  return label.ends_with(ending) && text.find("-----END " + label + "-----", label_end) != std::string_view::npos;
}

void check_certificates(const ServerAccess& access, Complaints& complaints) {
  const struct {
    const std::string& text;
    std::string_view ending;
    std::string_view what;
  } pems[] = {{access.ca, "CERTIFICATE", "the certificate authority"},
              {access.client_certificate, "CERTIFICATE", "the client certificate"},
              {access.client_key, "PRIVATE KEY", "the client key"}};
  for (const auto& pem : pems) {
    if (!pem.text.empty() && !is_pem(pem.text, pem.ending)) {
      complaints.add({}, std::string(pem.what) + " of " + quote(access.server) +
                             " is no PEM text: it must have a block '-----BEGIN " + std::string(pem.ending) + "-----'");
    }
  }
  if (access.client_certificate.empty() != access.client_key.empty()) {
    complaints.add({}, "a client certificate and its key go together; give both or neither");
  }
}

void check_headers(const ServerAccess& access, const CurlOptions& options, Complaints& complaints) {
  std::vector<std::pair<std::string_view, std::string_view>> texts = {{"the token", access.token},
                                                                      {"the user name", access.username},
                                                                      {"the password", access.password},
                                                                      {"the user to act as", access.impersonate},
                                                                      {"the user agent", options.user_agent}};
  for (const std::string& group : access.impersonate_groups) texts.emplace_back("a group to act as", group);
  for (const auto& [what, text] : texts) {
    if (has_control_characters(text))
      complaints.add({}, std::string(what) + " has control characters or line ends in it");
  }
  if (access.impersonate.empty() && !access.impersonate_groups.empty()) {
    complaints.add({}, "groups to act as need a user to act as; give one");
  }
}

using Url = std::unique_ptr<CURLU, decltype(&curl_url_cleanup)>;

bool set_address(Endpoint& endpoint, Complaints& complaints) {
  const ServerAccess& access = endpoint.access;
  const Url url(curl_url(), &curl_url_cleanup);
  const bool parsed = url && curl_url_set(url.get(), CURLUPART_URL, access.server.c_str(), 0) == CURLUE_OK;
  const std::string scheme = parsed ? part_of(url.get(), CURLUPART_SCHEME).value_or("") : "";
  const std::string host = parsed ? part_of(url.get(), CURLUPART_HOST).value_or("") : "";
  if ((scheme != "https" && scheme != "http") || host.empty() || part_of(url.get(), CURLUPART_QUERY) ||
      part_of(url.get(), CURLUPART_USER)) {
    complaints.add({}, "server " + quote(access.server) + " is no address; write one like 'https://10.0.0.1:6443'");
    return false;
  }
  const std::string port = part_of(url.get(), CURLUPART_PORT, CURLU_DEFAULT_PORT).value_or("");
  endpoint.is_loopback = names_loopback(host);
  endpoint.base = part_of(url.get(), CURLUPART_URL).value_or("");
  while (endpoint.base.ends_with('/')) endpoint.base.pop_back();
  if (access.tls_server_name.empty()) return true;
  const std::string& name = access.tls_server_name;
  if (curl_url_set(url.get(), CURLUPART_HOST, name.c_str(), 0) != CURLUE_OK) {
    complaints.add({}, "tls-server-name " + quote(name) + " is no name of a server");
    return false;
  }
  endpoint.host_header = "Host: " + host + ":" + port;
  endpoint.connect_to = name + ":" + port + ":" + host + ":" + port;
  endpoint.renamed_base = part_of(url.get(), CURLUPART_URL).value_or("");
  while (endpoint.renamed_base.ends_with('/')) endpoint.renamed_base.pop_back();
  return true;
}

// The text lives as long as the endpoint, and so longer than any transfer.
curl_blob blob_of(const std::string& text) {
  // libcurl's type is not const, but it only reads.
  return {const_cast<char*>(text.data()), text.size(), CURL_BLOB_NOCOPY};
}

}  // namespace

Result<Endpoint> endpoint_of(ServerAccess access, CurlOptions options) {
  static const CURLcode ready = curl_global_init(CURL_GLOBAL_DEFAULT);  // once, whichever thread comes first
  if (ready != CURLE_OK) return Complaints("libcurl cannot start: " + std::string(curl_easy_strerror(ready)));
  Complaints complaints;
  check_certificates(access, complaints);
  check_headers(access, options, complaints);
  if (options.connections_max < 1 || options.in_flight_max < 1 || options.timeout_s < 1) {
    complaints.add({}, "connections, calls in flight and the time-out must be 1 or more");
  }
  Endpoint endpoint;
  endpoint.access = std::move(access);
  endpoint.options = std::move(options);
  endpoint.token = TokenFile(endpoint.access.token_file);
  set_address(endpoint, complaints);
  if (!complaints.empty()) return complaints;
  return endpoint;
}

CurlTransfer::CurlTransfer(ApiCall call, std::function<void(ApiAnswer)> done)
    : call_(std::move(call)), on_end_(std::move(done)) {}

CurlTransfer::CurlTransfer(ApiCall call, std::function<void(std::string_view)> on_line,
                           std::function<void(ApiAnswer)> on_end, Wanted wanted)
    : call_(std::move(call)), on_line_(std::move(on_line)), on_end_(std::move(on_end)), wanted_(std::move(wanted)) {}

CurlTransfer::~CurlTransfer() {
  if (easy_ != nullptr) curl_easy_cleanup(easy_);
  curl_slist_free_all(headers_);
  curl_slist_free_all(connect_to_);
}

void* CurlTransfer::prepare(Endpoint& endpoint) {
  server_ = endpoint.base;
  easy_ = curl_easy_init();
  if (easy_ == nullptr) {
    refusal_ = "libcurl has no memory for one more request";
    return nullptr;
  }
  const std::string& base = endpoint.renamed_base.empty() ? endpoint.base : endpoint.renamed_base;
  curl_easy_setopt(easy_, CURLOPT_URL, (base + call_.path).c_str());
  curl_easy_setopt(easy_, CURLOPT_PRIVATE, this);
  curl_easy_setopt(easy_, CURLOPT_ERRORBUFFER, error_);
  curl_easy_setopt(easy_, CURLOPT_NOSIGNAL, 1L);
  curl_easy_setopt(easy_, CURLOPT_PROTOCOLS_STR, "http,https");
  curl_easy_setopt(easy_, CURLOPT_PATH_AS_IS, 1L);
  curl_easy_setopt(easy_, CURLOPT_USERAGENT, endpoint.options.user_agent.c_str());
  curl_easy_setopt(easy_, CURLOPT_WRITEFUNCTION, &CurlTransfer::on_bytes);
  curl_easy_setopt(easy_, CURLOPT_WRITEDATA, this);
  // A whole list is a tenth of its size when packed; a watch's lines would wait in the packer.
  if (!is_stream()) curl_easy_setopt(easy_, CURLOPT_ACCEPT_ENCODING, "gzip");
  set_body();
  set_security(endpoint);
  set_limits(endpoint.options);
  return set_headers(endpoint) ? easy_ : nullptr;
}

void CurlTransfer::set_body() {
  if (call_.body.empty()) {
    if (call_.method == "POST") {
      curl_easy_setopt(easy_, CURLOPT_POSTFIELDSIZE_LARGE, curl_off_t{0});
      curl_easy_setopt(easy_, CURLOPT_POSTFIELDS, "");
    } else if (call_.method != "GET") {
      curl_easy_setopt(easy_, CURLOPT_CUSTOMREQUEST, call_.method.c_str());
    }
    return;
  }
  curl_easy_setopt(easy_, CURLOPT_POSTFIELDSIZE_LARGE, static_cast<curl_off_t>(call_.body.size()));
  curl_easy_setopt(easy_, CURLOPT_POSTFIELDS, call_.body.data());
  curl_easy_setopt(easy_, CURLOPT_CUSTOMREQUEST, call_.method.c_str());
}

bool CurlTransfer::set_headers(Endpoint& endpoint) {
  const ServerAccess& access = endpoint.access;
  std::vector<std::string> headers = {"Accept: " + call_.accept, "Expect:"};
  headers.push_back(call_.body.empty() ? "Content-Type:" : "Content-Type: " + call_.content_type);
  if (!endpoint.host_header.empty()) headers.push_back(endpoint.host_header);
  std::string token = access.token;
  if (!access.token_file.empty()) {
    const std::string& current = endpoint.token.current();
    if (!current.empty()) token = current;
    if (token.empty()) {
      refusal_ = "no token for " + server_ + ": " + endpoint.token.complaint();
      return false;
    }
  }
  if (!token.empty()) headers.push_back("Authorization: Bearer " + token);
  if (!access.impersonate.empty()) headers.push_back("Impersonate-User: " + access.impersonate);
  for (const std::string& group : access.impersonate_groups) headers.push_back("Impersonate-Group: " + group);
  for (const std::string& header : headers) {
    curl_slist* const longer = curl_slist_append(headers_, header.c_str());
    if (longer == nullptr) {
      refusal_ = "libcurl has no memory for one more request";
      return false;
    }
    headers_ = longer;
  }
  curl_easy_setopt(easy_, CURLOPT_HTTPHEADER, headers_);
  return true;
}

void CurlTransfer::set_security(const Endpoint& endpoint) {
  const ServerAccess& access = endpoint.access;
  if (!access.username.empty()) {
    curl_easy_setopt(easy_, CURLOPT_HTTPAUTH, CURLAUTH_BASIC);
    curl_easy_setopt(easy_, CURLOPT_USERNAME, access.username.c_str());
    curl_easy_setopt(easy_, CURLOPT_PASSWORD, access.password.c_str());
  }
  if (!endpoint.connect_to.empty()) {
    connect_to_ = curl_slist_append(nullptr, endpoint.connect_to.c_str());
    curl_easy_setopt(easy_, CURLOPT_CONNECT_TO, connect_to_);
  }
  if (!access.proxy_url.empty()) {
    curl_easy_setopt(easy_, CURLOPT_PROXY, access.proxy_url.c_str());
  } else if (endpoint.is_loopback) {
    curl_easy_setopt(easy_, CURLOPT_PROXY, "");  // what the environment names cannot reach us; kubectl does the same
  }
  curl_easy_setopt(easy_, CURLOPT_SSLVERSION, CURL_SSLVERSION_TLSv1_2);
  if (access.insecure_skip_tls_verify) {
    curl_easy_setopt(easy_, CURLOPT_SSL_VERIFYPEER, 0L);
    curl_easy_setopt(easy_, CURLOPT_SSL_VERIFYHOST, 0L);
  }
  if (!access.ca.empty()) {
    curl_blob ca = blob_of(access.ca);
    curl_easy_setopt(easy_, CURLOPT_CAINFO_BLOB, &ca);
    curl_easy_setopt(easy_, CURLOPT_CAPATH, nullptr);  // this authority and no others
  }
  if (!access.client_certificate.empty()) {
    curl_blob certificate = blob_of(access.client_certificate);
    curl_blob key = blob_of(access.client_key);
    curl_easy_setopt(easy_, CURLOPT_SSLCERTTYPE, "PEM");
    curl_easy_setopt(easy_, CURLOPT_SSLKEYTYPE, "PEM");
    curl_easy_setopt(easy_, CURLOPT_SSLCERT_BLOB, &certificate);
    curl_easy_setopt(easy_, CURLOPT_SSLKEY_BLOB, &key);
  }
}

void CurlTransfer::set_limits(const CurlOptions& options) {
  curl_easy_setopt(easy_, CURLOPT_HTTP_VERSION, CURL_HTTP_VERSION_2TLS);
  // Rather wait for one connection with many streams than open many. Not without TLS: there only the first answer tells
  // what the server speaks, and that of a watch may take long.
  curl_easy_setopt(easy_, CURLOPT_PIPEWAIT, server_.starts_with("https:") ? 1L : 0L);
  curl_easy_setopt(easy_, CURLOPT_CONNECTTIMEOUT, std::min<long>(kConnectTimeout_s, options.timeout_s));
  if (!is_stream()) curl_easy_setopt(easy_, CURLOPT_TIMEOUT, static_cast<long>(options.timeout_s));
  curl_easy_setopt(easy_, CURLOPT_TCP_KEEPALIVE, 1L);
  curl_easy_setopt(easy_, CURLOPT_TCP_KEEPIDLE, kKeepAliveIdle_s);
  curl_easy_setopt(easy_, CURLOPT_TCP_KEEPINTVL, kKeepAliveEvery_s);
  curl_easy_setopt(easy_, CURLOPT_SOCKOPTFUNCTION, &set_socket);
}

long CurlTransfer::status() const {
  long status = 0;
  curl_easy_getinfo(easy_, CURLINFO_RESPONSE_CODE, &status);
  return status;
}

bool CurlTransfer::was_multiplexed() const {
  long version = 0;
  curl_easy_getinfo(easy_, CURLINFO_HTTP_VERSION, &version);
  return version >= CURL_HTTP_VERSION_2_0;
}

std::size_t CurlTransfer::on_bytes(char* bytes, std::size_t size, std::size_t count, void* self) {
  const std::string_view text(bytes, size * count);
  // Any other number than what was given makes libcurl end the transfer.
  return static_cast<CurlTransfer*>(self)->take(text) ? text.size() : text.size() + 1;
}

bool CurlTransfer::take(std::string_view bytes) {
  if (!is_wanted()) return false;
  if (is_stream() && status() == 200)
    return lines_.feed(bytes, [this](std::string_view line) { return tell_line(line); });
  const std::size_t longest = is_stream() ? kRefusalBodyMax : kBodyMax;
  if (body_.size() + bytes.size() > longest) {
    body_too_long_ = true;
    return false;
  }
  body_ += bytes;
  return true;
}

bool CurlTransfer::tell_line(std::string_view line) {
  if (!is_wanted()) return false;
  on_line_(line);
  return is_wanted();
}

void CurlTransfer::finish(int code) {
  if (!is_wanted()) return;
  if (code != CURLE_OK) {
    fail(text_of(code));
    return;
  }
  ApiAnswer answer;
  answer.status = static_cast<int>(status());
  answer.body = std::move(body_);
  if (is_stream() && answer.status == 200) {
    if (!lines_.finish([this](std::string_view line) { return tell_line(line); })) return;
  }
  curl_off_t retry_after_s = 0;
  curl_easy_getinfo(easy_, CURLINFO_RETRY_AFTER, &retry_after_s);
  answer.retry_after_s = static_cast<int>(std::clamp<curl_off_t>(retry_after_s, 0, 3600));
  if (answer.retry_after_s == 0 && !answer.ok()) answer.retry_after_s = retry_after_s_in(answer.body);
  curl_header* warning = nullptr;
  for (std::size_t i = 0; curl_easy_header(easy_, "Warning", i, CURLH_HEADER, -1, &warning) == CURLHE_OK; ++i) {
    if (std::string text = warning_in(warning->value); !text.empty()) answer.warnings.push_back(std::move(text));
  }
  on_end_(std::move(answer));
}

void CurlTransfer::fail(std::string why) {
  if (is_wanted()) on_end_({.status = 0, .body = std::move(why)});
}

std::string CurlTransfer::text_of(int code) const {
  if (lines_.line_too_long()) {
    return server_ + " sent a line of more than 64 MiB on " + call_.path +
           "; no object is so large: is it an API server?";
  }
  if (body_too_long_) {
    return server_ + " answered more than 256 MiB to " + call_.method + " " + call_.path + "; ask in pages (limit=500)";
  }
  const auto curl_code = static_cast<CURLcode>(code);
  std::string detail = error_[0] != '\0' ? error_ : curl_easy_strerror(curl_code);
  switch (curl_code) {
    case CURLE_COULDNT_RESOLVE_HOST:
      return "cannot find the host of " + server_ + " (" + detail + "); check the server's name in the kubeconfig";
    case CURLE_COULDNT_RESOLVE_PROXY:
      return "cannot find the proxy on the way to " + server_ + " (" + detail +
             "); check proxy-url, HTTPS_PROXY, NO_PROXY";
    case CURLE_COULDNT_CONNECT:
      return "cannot connect to " + server_ + " (" + detail + "); does the API server run there?";
    case CURLE_OPERATION_TIMEDOUT:
      return server_ + " did not answer " + call_.method + " " + call_.path + " in time (" + detail +
             "); is it overloaded, or something on the way silent?";
    case CURLE_PEER_FAILED_VERIFICATION:
      return "the certificate of " + server_ + " is not trusted (" + detail +
             "); check certificate-authority and tls-server-name in the kubeconfig";
    case CURLE_SSL_CERTPROBLEM:
      return "the client certificate or key for " + server_ + " cannot be used (" + detail +
             "); renew it in the kubeconfig";
    case CURLE_SSL_CACERT_BADFILE:
      return "the certificate authority of " + server_ + " cannot be used (" + detail + "); renew it in the kubeconfig";
    case CURLE_SSL_CONNECT_ERROR:
      return "no TLS with " + server_ + " (" + detail + "); is it an https server, and does it accept our certificate?";
    case CURLE_GOT_NOTHING:
    case CURLE_RECV_ERROR:
      // With TLS 1.3 a server looks at our certificate when we think that all is settled.
      if (detail.find("alert") != std::string::npos && detail.find("certificate") != std::string::npos) {
        return server_ + " does not accept our client certificate, or wants one (" + detail +
               "); check client-certificate and client-key in the kubeconfig";
      }
      [[fallthrough]];
    case CURLE_SEND_ERROR:
    case CURLE_PARTIAL_FILE:
    case CURLE_HTTP2:
    case CURLE_HTTP2_STREAM:
      return "the connection to " + server_ + " was lost during " + call_.method + " " + call_.path + " (" + detail +
             "); trying again may help";
    default:
      return call_.method + " " + call_.path + " on " + server_ + " failed: " + detail + "; check the server's address";
  }
}

}  // namespace berth
