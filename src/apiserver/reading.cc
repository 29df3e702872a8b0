#include "apiserver/reading.h"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "apiserver/presentation.h"
#include "apiserver/selection.h"
#include "apiserver/sight.h"
#include "manifest/json.h"

namespace berth {
namespace {

struct Page {
  Revision revision = 0;
  std::vector<RecordPtr> records;
  std::string next_after;                // the key to go on after; empty: this was the last page
  std::optional<std::size_t> remaining;  // unknown with selectors
};

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

// Without selectors the store cuts the page; with them what matches is counted here.
std::expected<Page, ApiError> page_of(const Store& store, const ListOptions& options, const Selection& selection) {
  const bool all = selection.everything();
  auto listing = listing_of(store, options, selection.only_key().value_or(selection.prefix()), all ? options.limit : 0);
  if (!listing) return std::unexpected(std::move(listing.error()));
  Page page;
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

Value list_metadata(const Page& page, const std::string& prefix) {
  Value metadata = Value::map_of({{"resourceVersion", std::to_string(page.revision)}});
  if (page.next_after.empty()) return metadata;
  metadata.set("continue", continue_token(page.revision, std::string_view(page.next_after).substr(prefix.size())));
  if (page.remaining) metadata.set("remainingItemCount", *page.remaining);
  return metadata;
}

std::string list_head(const KindInfo& kind, const Presentation& presentation, Value metadata) {
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
  const bool table = presentation.form() == Presentation::Form::kTable;
  if (table) head.set("columnDefinitions", table_columns(kind));
  std::string text = to_json(head);
  text.back() = ',';
  return text + (table ? "\"rows\":[" : "\"items\":[");
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
  reply.parts = {presentation->text(record, parts.now())};
  answer(exchange, std::move(reply));
}

void read_list(const ServerParts& parts, Exchange& exchange, const ListOptions& options) {
  const KindInfo& kind = *exchange.route.kind;
  const auto presentation = Presentation::negotiate(exchange.request, kind);
  if (!presentation) return answer_error(exchange, presentation.error());
  const auto selection = selection_in_sight(parts, exchange, options);
  if (!selection) return answer_error(exchange, selection.error());
  const auto page = page_of(parts.store, options, *selection);
  if (!page) return answer_error(exchange, page.error());

  HttpReply reply;
  const Time now = parts.now();
  Value metadata = list_metadata(*page, selection->prefix());
  reply.parts.reserve(page->records.size() * 2 + 2);
  reply.parts.push_back(std::make_shared<const std::string>(list_head(kind, *presentation, std::move(metadata))));
  for (const RecordPtr& record : page->records) {
    if (reply.parts.size() > 1) reply.parts.push_back(kComma);
    if (presentation->as_kept()) {
      reply.parts.push_back(text_of(record));
    } else {
      reply.parts.push_back(std::make_shared<const std::string>(to_json(presentation->item(kept_value(*record), now))));
    }
  }
  reply.parts.push_back(kListEnd);
  answer(exchange, std::move(reply));
}

}  // namespace berth
