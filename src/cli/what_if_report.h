// What a what-if found, as people and machines read it.
#pragma once

#include <string>

#include "sim/report.h"
#include "sim/what_if.h"

namespace berth {

// Those for whom it makes no difference are counted; `all`: they are listed, too.
std::string what_if_as_text(const WhatIf& what_if, bool all);
std::string what_if_as_json(const WhatIf& what_if);
Report what_if_as_page(const WhatIf& what_if, const std::string& title, const std::string& changes,
                       const std::string& command);

}  // namespace berth
