// A call with an object in its body.
#pragma once

#include <string>

#include "kube/transport.h"
#include "manifest/value.h"

namespace berth {

ApiCall call_with(std::string method, std::string path, const Value& body,
                  std::string content_type = "application/json");

}  // namespace berth
