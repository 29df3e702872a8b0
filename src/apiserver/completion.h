// From an object as a client wants it to one that may be stored: what only the server says, defaults, rules, owners of
// fields. Needs nothing but the objects themselves.
#pragma once

#include <expected>
#include <string>
#include <vector>

#include "apiserver/commit.h"
#include "apiserver/exchange.h"
#include "apiserver/request_options.h"

namespace berth {

// How the object came to be, which decides what its metadata must say.
struct Wish {
  Value object;
  std::vector<std::string> duplicates;  // keys given twice in the body
  bool whole = false;    // of a change: the client sent all of it (PUT), and may have to say which revision it means
  bool applied = false;  // by server-side apply, which has noted the owners itself
};

std::expected<Prepared, ApiError> complete_new(const ServerParts& parts, const Exchange& exchange,
                                               const WriteOptions& options, Wish wish);
// `before` is as it is kept.
std::expected<Prepared, ApiError> complete_change(const ServerParts& parts, const Exchange& exchange,
                                                  const WriteOptions& options, const Record& before, Wish wish);

}  // namespace berth
