// One request as libcurl carries it: its options, what comes back, and how a failure reads. Used by curl_transport.cc
// only.
#pragma once

#include <atomic>
#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "base/result.h"
#include "kube/curl_transport.h"
#include "kube/line_splitter.h"
#include "kube/token_file.h"
#include "kube/transport.h"

struct curl_slist;

namespace berth {

// Where all requests of one transport go and as whom. Used by the transport's thread only.
struct Endpoint {
  ServerAccess access;
  CurlOptions options;
  std::string base;          // the server without a slash at its end
  std::string host_header;   // set where the name in the certificate is another than the host's
  std::string connect_to;    // for libcurl: the name in the certificate -> where to connect
  std::string renamed_base;  // with the name in the certificate as its host
  bool is_loopback = false;
  TokenFile token{""};
};
// Complains about what cannot work: an address that is none, certificates that are none, texts that no header may have.
Result<Endpoint> endpoint_of(ServerAccess access, CurlOptions options);

// A stream is wanted until its handle is destroyed, by whichever thread.
using Wanted = std::shared_ptr<std::atomic<bool>>;

// A call, or a stream if there is a Wanted.
class CurlTransfer {
 public:
  CurlTransfer(ApiCall call, std::function<void(ApiAnswer)> done);
  CurlTransfer(ApiCall call, std::function<void(std::string_view)> on_line, std::function<void(ApiAnswer)> on_end,
               Wanted wanted);
  CurlTransfer(const CurlTransfer&) = delete;
  CurlTransfer& operator=(const CurlTransfer&) = delete;
  ~CurlTransfer();

  bool is_stream() const { return wanted_ != nullptr; }
  bool is_wanted() const { return !wanted_ || *wanted_; }
  // libcurl's handle, ready to run; nullptr when libcurl has none to give or the token cannot be read (see refusal()).
  void* prepare(Endpoint& endpoint);
  const std::string& refusal() const { return refusal_; }
  void* easy() const { return easy_; }
  bool was_multiplexed() const;

  // Tells the caller the end. `code` is libcurl's.
  void finish(int code);
  // Tells the caller that no answer came, and why.
  void fail(std::string why);

 private:
  static std::size_t on_bytes(char* bytes, std::size_t size, std::size_t count, void* self);
  bool take(std::string_view bytes);
  bool tell_line(std::string_view line);
  long status() const;
  bool set_headers(Endpoint& endpoint);
  void set_body();
  void set_security(const Endpoint& endpoint);
  void set_limits(const CurlOptions& options);
  std::string text_of(int code) const;

  static constexpr std::size_t kErrorSize = 256;  // CURL_ERROR_SIZE

  ApiCall call_;
  std::function<void(std::string_view)> on_line_;
  std::function<void(ApiAnswer)> on_end_;
  Wanted wanted_;
  void* easy_ = nullptr;  // a CURL
  curl_slist* headers_ = nullptr;
  curl_slist* connect_to_ = nullptr;
  LineSplitter lines_;
  std::string body_;  // of a call; of a stream that was refused
  bool body_too_long_ = false;
  std::string server_;
  std::string refusal_;
  char error_[kErrorSize] = {};
};

}  // namespace berth
