// GET of one object and of collections: selectors, pages, revisions, and the forms a client may ask for.
#pragma once

#include "apiserver/exchange.h"
#include "apiserver/request_options.h"

namespace berth {

void read_one(const ServerParts& parts, Exchange& exchange);
void read_list(const ServerParts& parts, Exchange& exchange, const ListOptions& options);

// 504 with the words that clients wait and retry on.
ApiError revision_too_large(Revision asked, Revision current);
// 410: list again.
ApiError expired(std::string message);

}  // namespace berth
