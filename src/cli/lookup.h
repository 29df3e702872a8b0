// What people name on command lines, looked for in the cluster; and what they may have meant where it is not there.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "client/asking.h"
#include "client/work.h"
#include "kube/transport.h"
#include "manifest/value.h"

namespace berth {

// Jobs, pods that belong to none, and JobSets without Jobs; an empty namespace: of all.
Asked<std::vector<Work>> see_work(Transport& server, const std::string& name_space);

// Not every server has all kinds, nor may everybody look at them: what is there stays unsaid then.
Asked<std::vector<Value>> seen_or_nothing(Transport& server, std::string_view kind, const std::string& name_space,
                                          std::string_view fields = {});

// The failure of an answer about one job or pod; says what may have been meant if there is none of that name.
AskFailure not_found_or(AskFailure failure, Transport& server, const WorkName& name, const std::string& name_space);

// The name that may have been meant by one that is not there; empty if none is near.
std::string nearest_name(std::string_view name, const std::vector<Value>& objects);
bool is_named_among(std::string_view name, const std::vector<Value>& objects);
// PRE: it is not among `all`. `what` is queue, node or namespace, `remedy` what shows all.
AskFailure no_such(std::string_view what, std::string_view name, const std::vector<Value>& all,
                   std::string_view remedy);

// None where it is there, or where whoever asks may not know.
std::optional<AskFailure> missing_namespace(Transport& server, const std::string& name_space);

// Those of these names; a failure names the first that is not there. Without names: all.
Asked<std::vector<Value>> only_named(std::vector<Value> objects, const std::vector<std::string>& names,
                                     std::string_view what, std::string_view remedy);

}  // namespace berth
