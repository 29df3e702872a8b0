#include "apiserver/presentation.h"

#include <string>
#include <string_view>
#include <utility>

#include "apiserver/other_views.h"
#include "base/wording.h"
#include "manifest/json.h"
#include "manifest/yaml.h"

namespace berth {
namespace {

ApiError not_acceptable(bool streams) {
  const std::string all = "application/json, application/yaml, application/json;stream=watch";
  return generic_error(406, "NotAcceptable",
                       "406: Not Acceptable\n\nAvailable representations: " +
                           (streams ? std::string("application/json;stream=watch") : all));
}

Value metadata_only(const Value& shown) {
  return Value::map_of(
      {{"kind", "PartialObjectMetadata"}, {"apiVersion", "meta.k8s.io/v1"}, {"metadata", shown["metadata"]}});
}

}  // namespace

std::expected<Presentation, ApiError> Presentation::negotiate(const HttpRequest& request, const KindInfo& kind,
                                                              bool streams) {
  Presentation presentation(kind);
  const std::string* const with = request.parameter("includeObject");
  if (with != nullptr) {
    if (*with == "None") presentation.row_object_ = RowObject::kNone;
    if (*with == "Object") presentation.row_object_ = RowObject::kObject;
  }
  if (request.header("accept").find_first_not_of(" \t") == std::string_view::npos) return presentation;
  for (const MediaRange& range : accepted_media(request.header("accept"))) {
    const auto encoding = encoding_of(range);
    if (!encoding || (streams && *encoding != Encoding::kJson)) continue;
    const auto form = form_of(range);
    if (!form) continue;
    if (*form == Form::kTable && with != nullptr && !with->empty() && *with != "None" && *with != "Metadata" &&
        *with != "Object") {
      return std::unexpected(bad_request("includeObject: " + quote(*with) + " is none of None, Metadata, Object"));
    }
    presentation.encoding_ = *encoding;
    presentation.form_ = *form;
    return presentation;
  }
  return std::unexpected(not_acceptable(streams));
}

std::optional<Presentation::Form> Presentation::form_of(const MediaRange& range) {
  if (range.as.empty()) return Form::kWhole;
  if (range.version != "v1" || range.group != "meta.k8s.io") return std::nullopt;
  if (range.as == "Table") return Form::kTable;
  if (range.as == "PartialObjectMetadata" || range.as == "PartialObjectMetadataList") return Form::kMetadata;
  return std::nullopt;
}

bool Presentation::as_kept() const {
  return form_ == Form::kWhole && encoding_ == Encoding::kJson && !kind_->other_view;
}

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
  const Value shown = object(kept_value(*record), now, with_columns);
  return std::make_shared<const std::string>(encoding_ == Encoding::kYaml ? to_yaml(shown) : to_json(shown));
}

SharedText text_of(const RecordPtr& record) { return {record, &record->bytes}; }

Value kept_value(const Record& record) {
  auto parsed = parse_json(record.bytes);
  return parsed ? *std::move(parsed) : Value();
}

}  // namespace berth
