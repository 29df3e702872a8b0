#include "kube/calls.h"

#include <utility>

#include "manifest/json.h"

namespace berth {

ApiCall call_with(std::string method, std::string path, const Value& body, std::string content_type) {
  ApiCall call;
  call.method = std::move(method);
  call.path = std::move(path);
  call.content_type = std::move(content_type);
  call.body = to_json(body);
  return call;
}

}  // namespace berth
