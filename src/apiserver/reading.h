// GET of one object and of collections: selectors, pages, revisions, and the forms a client may ask for.
#pragma once

#include <cstddef>
#include <expected>
#include <optional>
#include <string>
#include <vector>

#include "apiserver/exchange.h"
#include "apiserver/presentation.h"
#include "apiserver/request_options.h"
#include "apiserver/selection.h"

namespace berth {

void read_one(const ServerParts& parts, Exchange& exchange);
void read_list(const ServerParts& parts, Exchange& exchange, const ListOptions& options);

// What a collection's request is about, or a page of it.
struct ListPage {
  Revision revision = 0;
  std::vector<RecordPtr> records;
  std::string next_after;                // the key to go on after; empty: this was the last page
  std::optional<std::size_t> remaining;  // unknown with selectors
};
std::expected<ListPage, ApiError> page_of(const Store& store, const ListOptions& options, const Selection& selection);
// The list as the client wants to see it. `prefix` is that of the selection.
HttpReply page_reply(const KindInfo& kind, const Presentation& presentation, const ListPage& page,
                     const std::string& prefix, Time now);

// 504 with the words that clients wait and retry on.
ApiError revision_too_large(Revision asked, Revision current);
// 410: list again.
ApiError expired(std::string message);

}  // namespace berth
