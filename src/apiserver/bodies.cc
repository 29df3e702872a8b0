#include "apiserver/bodies.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>

#include "base/wording.h"
#include "manifest/json.h"
#include "manifest/kinds.h"
#include "manifest/schema.h"
#include "manifest/yaml.h"

namespace berth {

namespace {

using Decoded = std::expected<DecodedBody, ApiError>;

constexpr std::string_view kEnvelopeMagic("k8s\0", 4);

ApiError unsupported_media_type() {
  ApiError error;
  error.code = 415;
  error.reason = "UnsupportedMediaType";
  error.message =
      "the body of the request was in an unknown format - accepted media types include: application/json, "
      "application/yaml, application/vnd.kubernetes.protobuf";
  return error;
}

ApiError unreadable(std::string_view format, const Complaints& complaints) {
  return bad_request("the body of the request is no readable " + std::string(format) + ": " + complaints.to_string());
}

std::string media_type(std::string_view content_type) {
  std::string type(content_type.substr(0, content_type.find(';')));
  std::erase_if(type, [](char c) { return c == ' ' || c == '\t'; });
  std::ranges::transform(type, type.begin(),
                         [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; });
  return type;
}

Decoded decode_json(std::string_view body) {
  DecodedBody decoded;
  Result<Value> value = parse_json_noting_duplicates(body, {}, decoded.duplicates);
  if (!value) return std::unexpected(unreadable("JSON", value.error()));
  decoded.value = std::move(*value);
  return decoded;
}

Decoded decode_yaml(std::string_view body) {
  // Clients that say YAML mostly send JSON, which reads faster and notes duplicates as JSON does.
  const std::size_t start = body.find_first_not_of(" \t\r\n");
  if (start != body.npos && body[start] == '{') {
    if (Decoded decoded = decode_json(body)) return decoded;
  }
  Result<std::vector<Value>> documents = parse_yaml(body);
  if (!documents) return std::unexpected(unreadable("YAML", documents.error()));
  if (documents->size() != 1) {
    return std::unexpected(bad_request("the body of the request has " + std::to_string(documents->size()) +
                                       " YAML documents where one object is expected"));
  }
  return DecodedBody{std::move(documents->front()), {}};
}

// The fields of one protobuf message whose fields are all texts or messages.
class WireReader {
 public:
  explicit WireReader(std::string_view bytes) : bytes_(bytes) {}

  struct Piece {
    std::uint64_t number = 0;
    std::string_view bytes;
  };
  // The next field; none at the end or at something malformed.
  std::optional<Piece> next() {
    if (bytes_.empty()) return std::nullopt;
    const auto tag = varint();
    const auto length = varint();
    malformed_ = !tag || !length || (*tag & 7) != 2 || *length > bytes_.size();
    if (malformed_) return std::nullopt;
    const Piece piece{*tag >> 3, bytes_.substr(0, static_cast<std::size_t>(*length))};
    bytes_.remove_prefix(piece.bytes.size());
    return piece;
  }
  bool malformed() const { return malformed_; }

 private:
  std::optional<std::uint64_t> varint() {
    std::uint64_t value = 0;
    for (unsigned shift = 0; shift < 63 && !bytes_.empty(); shift += 7) {
      const auto byte = static_cast<unsigned char>(bytes_.front());
      bytes_.remove_prefix(1);
      value |= std::uint64_t{byte & 0x7fU} << shift;
      if (byte < 0x80) return value;
    }
    return std::nullopt;
  }

  std::string_view bytes_;
  bool malformed_ = false;
};

// Kubernetes' runtime.Unknown.
struct Envelope {
  std::string_view api_version, kind, message, encoding, content_type;
};

std::optional<Envelope> open_envelope(std::string_view bytes) {
  Envelope envelope;
  WireReader reader(bytes);
  while (const auto piece = reader.next()) {
    if (piece->number == 1) {
      WireReader type_meta(piece->bytes);
      while (const auto text = type_meta.next()) {
        if (text->number == 1) envelope.api_version = text->bytes;
        if (text->number == 2) envelope.kind = text->bytes;
      }
      if (type_meta.malformed()) return std::nullopt;
    }
    if (piece->number == 2) envelope.message = piece->bytes;
    if (piece->number == 3) envelope.encoding = piece->bytes;
    if (piece->number == 4) envelope.content_type = piece->bytes;
  }
  if (reader.malformed()) return std::nullopt;
  return envelope;
}

// Kinds that are sent to the server beside those that it keeps.
const Type* type_of(const Envelope& envelope) {
  if (const KindInfo* const kind = find_served_kind(envelope.api_version, envelope.kind)) return kind->type;
  if (envelope.kind == "DeleteOptions") return &type_named("DeleteOptions");
  if (envelope.kind == "Eviction" && envelope.api_version.starts_with("policy/")) return &type_named("Eviction");
  return nullptr;
}

Decoded decode_protobuf(std::string_view body) {
  if (!body.starts_with(kEnvelopeMagic)) {
    return std::unexpected(
        bad_request("the body of the request is no Kubernetes protobuf: it does not begin with \"k8s\\0\""));
  }
  const std::optional<Envelope> envelope = open_envelope(body.substr(kEnvelopeMagic.size()));
  if (!envelope) return std::unexpected(bad_request("the protobuf envelope of the request's body is malformed"));
  if (!envelope->encoding.empty()) {
    return std::unexpected(bad_request("the content encoding " + quote(envelope->encoding) +
                                       " inside the protobuf envelope is not supported; send the object unencoded"));
  }
  if (envelope->content_type == "application/json") return decode_json(envelope->message);
  const Type* const type = type_of(*envelope);
  if (type == nullptr) {
    return std::unexpected(bad_request("no kind " + quote(envelope->kind) + " is registered for version " +
                                       quote(envelope->api_version) + "; send the object as JSON"));
  }
  Result<Value> value = from_protobuf(*type, envelope->message);
  if (!value) return std::unexpected(unreadable("protobuf", value.error()));
  DecodedBody decoded;
  decoded.value =
      Value::map_of({{"kind", std::string(envelope->kind)}, {"apiVersion", std::string(envelope->api_version)}});
  Value::Map& members = decoded.value.edit_members();
  for (Value::Member& member : value->edit_members()) {
    if (member.key != "kind" && member.key != "apiVersion") members.push_back(std::move(member));
  }
  return decoded;
}

}  // namespace

std::expected<DecodedBody, ApiError> decode_body(std::string_view content_type, std::string_view body) {
  const std::string type = media_type(content_type);
  const bool yaml = type == "application/yaml" || type == "application/apply-patch+yaml";
  const bool json = type.empty() || type == "application/json" || type == "application/json-patch+json" ||
                    type == "application/merge-patch+json" || type == "application/strategic-merge-patch+json";
  const bool protobuf = type == "application/vnd.kubernetes.protobuf";
  if (!yaml && !json && !protobuf) return std::unexpected(unsupported_media_type());
  if (body.empty()) return std::unexpected(bad_request("the body of the request is empty"));
  return protobuf ? decode_protobuf(body) : yaml ? decode_yaml(body) : decode_json(body);
}

}  // namespace berth
