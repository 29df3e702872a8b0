// What the scenario language has and nothing in this version leads to. Whoever builds one of these takes it out.
#pragma once

#include <string_view>

#include "model/reason.h"

namespace berth {

// Codes of the closed list of reasons. They may be expected: what is found instead is then told.
inline constexpr std::string_view kLaterReasonNames[] = {
    "FairShare",
    "Priority",
    "NamespaceQuota",
    "NotAllowed",
};

}  // namespace berth
