#include "apiserver/reading.h"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "apiserver/sight.h"
#include "manifest/json.h"
#include "manifest/yaml.h"

namespace berth {
namespace {

const SharedText kComma = std::make_shared<const std::string>(",");
const SharedText kListEnd = std::make_shared<const std::string>("]}\n");

std::expected<Store::Listing, ApiError> listing_at(const Store& store, Revision revision, const std::string& prefix,
                                                   const std::string& after, std::size_t limit) {
  if (revision > store.revision()) return std::unexpected(revision_too_large(revision, store.revision()));
  auto listing = store.list_at(revision, prefix, after, limit);
  if (listing) return *std::move(listing);
  return std::unexpected(expired("revision " + std::to_string(revision) +
                                 " is older than the server keeps: list again without resourceVersion and continue"));
}

std::expected<Store::Listing, ApiError> listing_of(const Store& store, const ListOptions& options,
                                                   const std::string& prefix, std::size_t limit) {
  if (!options.continue_after.empty()) {
    return listing_at(store, options.continue_revision, prefix, options.continue_after, limit);
  }
  if (options.match == RevisionMatch::kExact) return listing_at(store, *options.revision, prefix, {}, limit);
  if (options.revision && *options.revision > store.revision()) {
    return std::unexpected(revision_too_large(*options.revision, store.revision()));
  }
  return store.list(prefix, {}, limit);
}

}  // namespace

// Without selectors the store cuts the page; with them what matches is counted here.
std::expected<ListPage, ApiError> page_of(const Store& store, const ListOptions& options, const Selection& selection) {
  const bool all = selection.everything();
  auto listing = listing_of(store, options, selection.only_key().value_or(selection.prefix()), all ? options.limit : 0);
  if (!listing) return std::unexpected(std::move(listing.error()));
  ListPage page;
  page.revision = options.continue_after.empty() ? listing->revision : options.continue_revision;
  if (all) {
    page.records = std::move(listing->records);
    if (!listing->more) return page;
    page.next_after = page.records.back()->key;
    page.remaining = listing->remaining;
    return page;
  }
  for (RecordPtr& record : listing->records) {
    if (!selection.matches(*record)) continue;
    if (options.limit > 0 && page.records.size() == options.limit) {
      page.next_after = page.records.back()->key;
      break;
    }
    page.records.push_back(std::move(record));
  }
  return page;
}

namespace {

Value list_metadata(const ListPage& page, const std::string& prefix) {
  Value metadata = Value::map_of({{"resourceVersion", std::to_string(page.revision)}});
  if (page.next_after.empty()) return metadata;
  metadata.set("continue", continue_token(page.revision, std::string_view(page.next_after).substr(prefix.size())));
  if (page.remaining) metadata.set("remainingItemCount", *page.remaining);
  return metadata;
}

Value list_without_items(const KindInfo& kind, const Presentation& presentation, Value metadata) {
  Value head = Value::map();
  switch (presentation.form()) {
    case Presentation::Form::kWhole:
      head = Value::map_of({{"kind", kind.kind + "List"}, {"apiVersion", kind.api_version()}});
      break;
    case Presentation::Form::kTable:
      head = Value::map_of({{"kind", "Table"}, {"apiVersion", "meta.k8s.io/v1"}});
      break;
    case Presentation::Form::kMetadata:
      head = Value::map_of({{"kind", "PartialObjectMetadataList"}, {"apiVersion", "meta.k8s.io/v1"}});
      break;
  }
  head.set("metadata", std::move(metadata));
  if (presentation.form() == Presentation::Form::kTable) head.set("columnDefinitions", table_columns(kind));
  return head;
}

const char* items_of(const Presentation& presentation) {
  return presentation.form() == Presentation::Form::kTable ? "rows" : "items";
}

std::vector<SharedText> json_parts(const Presentation& presentation, const Value& head,
                                   const std::vector<RecordPtr>& records, Time now) {
  std::vector<SharedText> parts;
  parts.reserve(records.size() * 2 + 2);
  std::string begin = to_json(head);
  begin.back() = ',';
  parts.push_back(shared_text(begin + "\"" + items_of(presentation) + "\":["));
  for (const RecordPtr& record : records) {
    if (parts.size() > 1) parts.push_back(kComma);
    parts.push_back(presentation.as_kept() ? text_of(record)
                                           : shared_text(to_json(presentation.item(kept_value(*record), now))));
  }
  parts.push_back(kListEnd);
  return parts;
}

// One item at a time: never all of them as trees.
std::vector<SharedText> yaml_parts(const Presentation& presentation, const Value& head,
                                   const std::vector<RecordPtr>& records, Time now) {
  std::vector<SharedText> parts;
  parts.reserve(records.size() + 2);
  parts.push_back(shared_text(to_yaml(head) + items_of(presentation) + (records.empty() ? ": []\n" : ":\n")));
  for (const RecordPtr& record : records) {
    parts.push_back(shared_text(to_yaml(Value(Value::List{presentation.item(kept_value(*record), now)}))));
  }
  return parts;
}

}  // namespace

ApiError revision_too_large(Revision asked, Revision current) {
  ApiError error = plain_error(
      504, "Timeout",
      "Timeout: Too large resource version: " + std::to_string(asked) + ", current: " + std::to_string(current));
  error.causes.push_back({"ResourceVersionTooLarge", "Too large resource version", ""});
  error.retry_after_s = 1;
  return error;
}

ApiError expired(std::string message) { return plain_error(410, "Expired", std::move(message)); }

void read_one(const ServerParts& parts, Exchange& exchange) {
  const Route& route = exchange.route;
  const auto presentation = Presentation::negotiate(exchange.request, *route.kind);
  if (!presentation) return answer_error(exchange, presentation.error());
  const auto options = read_list_options(exchange.request, route);
  if (!options) return answer_error(exchange, options.error());
  if (options->revision && *options->revision > parts.store.revision()) {
    return answer_error(exchange, revision_too_large(*options->revision, parts.store.revision()));
  }
  const RecordPtr record = parts.store.find(route.key());
  if (!record || !is_in_sight(parts, exchange, record)) {
    return answer_error(exchange, not_found(*route.kind, route.name));
  }
  HttpReply reply;
  reply.content_type = content_type_of(presentation->encoding());
  reply.parts = {presentation->text(exchange.only_usable ? without_others(record) : record, parts.now())};
  answer(exchange, std::move(reply));
}

void read_list(const ServerParts& parts, Exchange& exchange, const ListOptions& options) {
  const KindInfo& kind = *exchange.route.kind;
  const auto presentation = Presentation::negotiate(exchange.request, kind);
  if (!presentation) return answer_error(exchange, presentation.error());
  const auto selection = selection_in_sight(parts, exchange, options);
  if (!selection) return answer_error(exchange, selection.error());
  auto page = page_of(parts.store, options, *selection);
  if (!page) return answer_error(exchange, page.error());
  if (exchange.only_usable) std::ranges::transform(page->records, page->records.begin(), without_others);

  answer(exchange, page_reply(kind, *presentation, *page, selection->prefix(), parts.now()));
}

HttpReply page_reply(const KindInfo& kind, const Presentation& presentation, const ListPage& page,
                     const std::string& prefix, Time now) {
  const Value head = list_without_items(kind, presentation, list_metadata(page, prefix));
  const auto write = presentation.encoding() == Encoding::kYaml ? yaml_parts : json_parts;
  HttpReply reply;
  reply.content_type = content_type_of(presentation.encoding());
  reply.parts = write(presentation, head, page.records, now);
  return reply;
}

}  // namespace berth
