// How calls reach an API server: over the network (curl_transport.h), or within the process (local_api).
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace berth {

struct ApiCall {
  std::string method = "GET";
  std::string path = {};  // with its query: "/api/v1/pods?limit=500"
  std::string content_type = "application/json";
  std::string accept = "application/json";
  std::string body = {};
};

struct ApiAnswer {
  int status = 0;         // 0: no answer came
  std::string body = {};  // JSON, or the error's text when status is 0
  int retry_after_s = 0;
  std::vector<std::string> warnings = {};  // of what was done all the same

  bool ok() const { return status / 100 == 2; }
};

// Ends the stream when destroyed, from any thread and from its own callbacks too. After that no callback begins; one
// that has begun on another thread is not waited for, so that a stream may be destroyed under any lock: owners that
// must know keep a Gate (kube/gate.h). The functions given to stream() live on while one of them runs.
class ApiStream {
 public:
  virtual ~ApiStream() = default;
};

// Callbacks run on the transport's thread (or the server's, or within the call) and must be quick; they may call the
// transport. Its end answers what is still asked with status 0. PRE: it outlives its streams and is not ended by a
// callback.
class Transport {
 public:
  virtual ~Transport() = default;
  virtual void send(ApiCall call, std::function<void(ApiAnswer)> done) = 0;
  // on_line for every line of a 200's body; on_end once, unless destroyed before: status 200 when the server ended it.
  virtual std::unique_ptr<ApiStream> stream(ApiCall call, std::function<void(std::string_view line)> on_line,
                                            std::function<void(ApiAnswer)> on_end) = 0;
};

// send(), waiting. Never from a callback.
ApiAnswer send_and_wait(Transport& transport, ApiCall call);

// "/api/v1/namespaces/team-a/pods/p1/status"; `qualified` is "pods" or "jobs.batch". PRE: the kind is served by Berth
// (manifest/kinds.h), which knows its version.
std::string api_path(std::string_view qualified, std::string_view name_space, std::string_view name = {},
                     std::string_view subresource = {});
std::string percent_encoded(std::string_view text);

// Of an answer that is not ok(), for people: "403 Forbidden: pods is forbidden: ...", or why no answer came. One line.
std::string text_of_failure(const ApiAnswer& answer);
// The text of a header Warning: `299 - "text"`; empty: there is none.
std::string warning_in(std::string_view header);
// details.retryAfterSeconds of a Status object; 0 if `body` is none or names no delay. At most an hour.
int retry_after_s_in(std::string_view body);

}  // namespace berth
