// How a client wants to see objects, from its Accept header: whole, as rows of a table, or their metadata only; in JSON or
// in YAML.
#pragma once

#include <cstdint>
#include <expected>
#include <memory>
#include <optional>
#include <string>

#include "apiserver/accept.h"
#include "apiserver/api_error.h"
#include "apiserver/tables.h"
#include "base/time.h"
#include "manifest/kinds.h"
#include "manifest/value.h"
#include "store/store.h"
#include "web_server/http.h"

namespace berth {

using SharedText = std::shared_ptr<const std::string>;
inline SharedText shared_text(std::string text) { return std::make_shared<const std::string>(std::move(text)); }

class Presentation {
 public:
  enum class Form : std::uint8_t { kWhole, kTable, kMetadata };

  // 406 if the client takes nothing that the server has; what streams (a watch) is JSON only.
  static std::expected<Presentation, ApiError> negotiate(const HttpRequest& request, const KindInfo& kind,
                                                         bool streams = false);

  Form form() const { return form_; }
  Encoding encoding() const { return encoding_; }
  RowObject row_object() const { return row_object_; }
  // Whether a stored object is sent byte for byte.
  bool as_kept() const;
  // One object as a reply, or within a list or an event of a watch. A table carries its columns if `with_columns`.
  Value object(const Value& kept, Time now, bool with_columns = true) const;
  SharedText text(const RecordPtr& record, Time now, bool with_columns = true) const;
  // An item of a list: an object, or a row.
  Value item(const Value& kept, Time now) const;

 private:
  explicit Presentation(const KindInfo& kind) : kind_(&kind) {}
  static std::optional<Form> form_of(const MediaRange& range);

  const KindInfo* kind_;
  Form form_ = Form::kWhole;
  Encoding encoding_ = Encoding::kJson;
  RowObject row_object_ = RowObject::kMetadata;
};

// The bytes of a record without a copy.
SharedText text_of(const RecordPtr& record);
// What is stored, as a tree. Whatever the store holds was written by this server.
Value kept_value(const Record& record);

}  // namespace berth
