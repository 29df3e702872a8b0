#include "apiserver/presentation.h"

#include <string>
#include <string_view>
#include <utility>

#include "apiserver/event_views.h"
#include "manifest/json.h"

namespace berth {
namespace {

constexpr const char* kNotAcceptable =
    "only the following media types are accepted: application/json, application/json;as=Table;v=v1;g=meta.k8s.io, "
    "application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io, application/json;stream=watch";

std::string_view trimmed(std::string_view text) {
  while (text.starts_with(' ') || text.starts_with('\t')) text.remove_prefix(1);
  while (text.ends_with(' ') || text.ends_with('\t')) text.remove_suffix(1);
  return text;
}

// Takes what stands before the next `separator` off the text.
std::string_view take(std::string_view& text, char separator) {
  const std::size_t end = text.find(separator);
  const std::string_view part = trimmed(text.substr(0, end));
  text = end == std::string_view::npos ? std::string_view() : text.substr(end + 1);
  return part;
}

struct MediaWish {
  bool json = false;
  std::string_view as, version, group;
};

MediaWish wish_of(std::string_view media) {
  MediaWish wish;
  const std::string_view type = take(media, ';');
  wish.json = type == "application/json" || type == "*/*" || type == "application/*";
  while (!media.empty()) {
    const std::string_view parameter = take(media, ';');
    if (parameter.starts_with("as=")) wish.as = parameter.substr(3);
    if (parameter.starts_with("v=")) wish.version = parameter.substr(2);
    if (parameter.starts_with("g=")) wish.group = parameter.substr(2);
  }
  return wish;
}

Value metadata_only(const Value& shown) {
  return Value::map_of(
      {{"kind", "PartialObjectMetadata"}, {"apiVersion", "meta.k8s.io/v1"}, {"metadata", shown["metadata"]}});
}

}  // namespace

std::expected<Presentation, ApiError> Presentation::negotiate(const HttpRequest& request, const KindInfo& kind) {
  Presentation presentation(kind);
  if (const std::string* const with = request.parameter("includeObject"); with != nullptr) {
    if (*with == "None") presentation.row_object_ = RowObject::kNone;
    if (*with == "Object") presentation.row_object_ = RowObject::kObject;
  }
  std::string_view accept = trimmed(request.header("accept"));
  if (accept.empty()) return presentation;
  while (!accept.empty()) {
    const MediaWish wish = wish_of(take(accept, ','));
    if (!wish.json) continue;
    if (wish.as.empty()) return presentation;
    if (wish.version != "v1" || wish.group != "meta.k8s.io") continue;
    if (wish.as == "Table") {
      presentation.form_ = Form::kTable;
      return presentation;
    }
    if (wish.as == "PartialObjectMetadata" || wish.as == "PartialObjectMetadataList") {
      presentation.form_ = Form::kMetadata;
      return presentation;
    }
  }
  return std::unexpected(plain_error(406, "NotAcceptable", kNotAcceptable));
}

bool Presentation::as_kept() const { return form_ == Form::kWhole && !is_other_view(*kind_); }

Value Presentation::item(const Value& kept, Time now) const {
  Value shown = as_shown(*kind_, kept);
  if (form_ == Form::kTable) return table_row(*kind_, shown, row_object_, now);
  if (form_ == Form::kMetadata) return metadata_only(shown);
  return shown;
}

Value Presentation::object(const Value& kept, Time now, bool with_columns) const {
  if (form_ != Form::kTable) return item(kept, now);
  Value table = Value::map_of({{"kind", "Table"}, {"apiVersion", "meta.k8s.io/v1"}});
  table.set("metadata", Value::map_of({{"resourceVersion", kept["metadata"]["resourceVersion"]}}));
  table.set("columnDefinitions", with_columns ? table_columns(*kind_) : Value::list());
  table.set("rows", Value::list()).push_back(item(kept, now));
  return table;
}

SharedText Presentation::text(const RecordPtr& record, Time now, bool with_columns) const {
  if (as_kept()) return text_of(record);
  return std::make_shared<const std::string>(to_json(object(kept_value(*record), now, with_columns)));
}

SharedText text_of(const RecordPtr& record) { return {record, &record->bytes}; }

Value kept_value(const Record& record) {
  auto parsed = parse_json(record.bytes);
  return parsed ? *std::move(parsed) : Value();
}

}  // namespace berth
