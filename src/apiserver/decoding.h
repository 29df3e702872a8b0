// From the body of a write to an object of the kind that the path names: the right kind, known fields, canonical amounts.
#pragma once

#include <expected>
#include <optional>
#include <string>
#include <vector>

#include "apiserver/api_error.h"
#include "apiserver/bodies.h"
#include "apiserver/exchange.h"
#include "apiserver/request_options.h"
#include "manifest/value.h"

namespace berth {

// The body as it says its content type is (JSON if it says nothing).
std::expected<DecodedBody, ApiError> decode_request(const HttpRequest& request);

// The same as an object of the kind: fills in apiVersion and kind where they are missing.
std::expected<DecodedBody, ApiError> decode_object(const Exchange& exchange, const KindInfo& kind);
std::optional<ApiError> check_kind(const KindInfo& kind, Value& object);

// Fields that the kind does not have, keys given twice: refused, warned about or passed over, as the client wishes; wrong
// types are always refused. What is unknown is dropped, amounts and times become canonical.
std::optional<ApiError> settle_fields(const KindInfo& kind, Value& object, const std::vector<std::string>& duplicates,
                                      FieldValidation validation, std::vector<std::string>& warnings);

// The path's name and namespace: 400 where they differ or a change does not give the name; the namespace is filled in.
std::optional<ApiError> settle_place(const Route& route, Value& object);

}  // namespace berth
