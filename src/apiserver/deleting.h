// DELETE of objects and collections: grace of pods, finalizers, preconditions, and what becomes of dependents.
#pragma once

#include <expected>

#include "apiserver/commit.h"
#include "apiserver/exchange.h"
#include "apiserver/request_options.h"

namespace berth {

void delete_object(const ServerParts& parts, const ExchangePtr& exchange);
void delete_collection(const ServerParts& parts, const ExchangePtr& exchange);

// What deleting does to the object that is there: it goes, or is marked to go. Pure.
std::expected<Prepared, ApiError> prepare_deletion(const KindInfo& kind, const DeleteOptions& options,
                                                   const Record& before, Time now);

// A deletion on its way to the store; how it is answered is still to be said.
Commit commit_of_deletion(const ServerParts& parts, const ExchangePtr& exchange, DeleteOptions options);

// The reply to a deletion: pods and what still has to wait as objects, others as a Status with the uid.
void answer_deletion(const ServerParts& parts, Exchange& exchange, const Prepared& done);

}  // namespace berth
