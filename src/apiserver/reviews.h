// Questions that are asked by creating an object and answered in its status, and never stored: who am I, may I, whose
// token is this.
#pragma once

#include "apiserver/exchange.h"

namespace berth {

// Whether the kind is such a question.
bool is_review(const KindInfo& kind);
void answer_review(const ServerParts& parts, Exchange& exchange);

}  // namespace berth
