// POST, PUT and PATCH of objects: what a client sends becomes a complete object that may be stored.
#pragma once

#include "apiserver/commit.h"
#include "apiserver/exchange.h"

namespace berth {

void create_object(const ServerParts& parts, const ExchangePtr& exchange);
void replace_object(const ServerParts& parts, const ExchangePtr& exchange);
void patch_object(const ServerParts& parts, const ExchangePtr& exchange);

}  // namespace berth
