// From a request's body to a value: JSON, YAML, or protobuf in Kubernetes' envelope (magic "k8s\0" and runtime.Unknown).
#pragma once

#include <expected>
#include <string>
#include <string_view>
#include <vector>

#include "apiserver/api_error.h"
#include "manifest/value.h"

namespace berth {

struct DecodedBody {
  Value value;
  std::vector<std::string>
      duplicates;  // paths of JSON keys given twice: refused or warned about, as fieldValidation says
};
// 415 for another media type, 400 with the place for what does not parse. Depth and size are bounded.
std::expected<DecodedBody, ApiError> decode_body(std::string_view content_type, std::string_view body);

}  // namespace berth
