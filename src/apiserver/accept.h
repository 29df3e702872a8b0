// What kinds of replies a client takes, from its Accept header, and in which of them the server writes. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "manifest/value.h"
#include "web_server/http.h"

namespace berth {

struct MediaRange {
  std::string_view type;                // "application/json", "*/*"
  std::string_view as, version, group;  // "Table", "v1", "meta.k8s.io": in which form
  int quality = 1000;                   // in thousandths
};

// Best first: by quality, then what is named before what is a wildcard, then as they came. What is not taken at all
// (quality 0) is left out. The texts are those of `accept`.
std::vector<MediaRange> accepted_media(std::string_view accept);

enum class Encoding : std::uint8_t { kJson, kYaml };
// None if the server does not write it.
std::optional<Encoding> encoding_of(const MediaRange& range);
// That of what has no form of its own, such as errors: JSON if the client takes neither, as it must be told something.
Encoding encoding_for(const HttpRequest& request);

const char* content_type_of(Encoding encoding);
// With the line end of a reply.
std::string encoded_text(const Value& value, Encoding encoding);

}  // namespace berth
