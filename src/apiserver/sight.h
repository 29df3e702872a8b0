// Queues and priority classes concern only those who may use them: nobody else is shown that they are there, unless he
// may look at all of them (the ordinary verbs get, list and watch). Everyone signed in may look at what he may use: the
// same verbs on "queues/usable" and "priorityclasses/usable", which are no paths but rights.
#pragma once

#include <expected>
#include <optional>
#include <string_view>

#include "apiserver/api_error.h"
#include "apiserver/authorization.h"
#include "apiserver/exchange.h"
#include "apiserver/request_options.h"
#include "apiserver/selection.h"
#include "apiserver/user.h"
#include "manifest/value.h"
#include "store/store.h"

namespace berth {

// What to ask of who may not do this: whether he may do it with what he may use. None: there is no such right.
std::optional<AccessQuestion> question_about_usable(const AccessQuestion& asked);

// Whether the user is shown this queue or priority class by an exchange that shows only what he may use.
bool is_usable(const Value& object, const User& user, const Authorizer& authorizer);
// Whether the answer to this exchange may show the record.
bool is_in_sight(const ServerParts& parts, const Exchange& exchange, const RecordPtr& record);
// What an exchange that shows only what its user may use shows of a record: of a queue, nothing that names others' pods
// and queues. The record itself if there is nothing to leave out.
RecordPtr without_others(const RecordPtr& record);
// What a list or watch is about, with nothing in it that is out of sight.
std::expected<Selection, ApiError> selection_in_sight(const ServerParts& parts, const Exchange& exchange,
                                                      const ListOptions& options);

// Whether refusals may tell the user that this object is there.
bool may_get(const User& user, const Authorizer& authorizer, std::string_view group, std::string_view resource,
             std::string_view name_space, std::string_view name);

// Whether the queue takes what this user submits in this namespace. PRE: `queue` is a Queue or null, which takes all.
bool queue_takes(const Value& queue, const User& user, std::string_view name_space);
// Whether the class takes the verb `use`.
bool is_restricted_class(const Value& priority);
bool may_use_class(const User& user, const Authorizer& authorizer, std::string_view name);
// The same of Kueue's WorkloadPriorityClass.
bool may_use_workload_class(const User& user, const Authorizer& authorizer, std::string_view name);

}  // namespace berth
