// What there is: /version, /api, /apis, /api/v1, /apis/GROUP/VERSION, aggregated and plain, and OpenAPI. From served_kinds().
#pragma once

#include <optional>

#include "web_server/http.h"

namespace berth {

// The reply to a discovery or OpenAPI path with its content type, ETag and 304; none if the path is something else.
// "/openapi/v2" is the five-byte protobuf document that kubectl before 1.29 asks for.
std::optional<HttpReply> discovery_reply(const HttpRequest& request);

}  // namespace berth
