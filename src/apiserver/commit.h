// How every change of an object reaches the store: prepared outside the transaction from what was seen, checked inside
// against what is there then (and prepared again if it is something else), admitted, written, answered.
#pragma once

#include <cstdint>
#include <expected>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "apiserver/admission.h"
#include "apiserver/exchange.h"
#include "manifest/value.h"
#include "store/store.h"

namespace berth {

// A change that is ready to be written. Objects are in the form of the request's kind.
struct Prepared {
  std::string key;
  Value before;         // null of a creation
  Value object;         // as it will be; of a removal, its last state
  std::string written;  // the object as it was stored; empty if nothing was
  std::vector<std::string> warnings;
  bool unchanged = false;  // nothing is written, and the answer is what is there
  bool removes = false;
  bool name_was_generated = false;
};

struct Commit {
  ExchangePtr exchange;
  Operation operation = Operation::kUpdate;
  bool dry_run = false;
  std::string key;  // what is changed; empty of a plain creation, whose key is known when it is prepared
  // From the record that is there (none: nothing is). Runs once or more, outside and inside the transaction.
  std::function<std::expected<Prepared, ApiError>(const RecordPtr&)> prepare;
  // Beside admission, inside the transaction; may be empty.
  std::function<std::optional<ApiError>(Prepared&, Transaction&)> check;
  // After the commit, with what was written (`object` as it is now, with its revision).
  std::function<void(Exchange&, const Prepared&)> reply;
};

void carry_out(const ServerParts& parts, Commit commit);

// The part inside a transaction, for those who change many objects in one: admits and writes.
std::optional<ApiError> write_prepared(const ServerParts& parts, const Exchange& exchange, Operation operation,
                                       Prepared& prepared, Transaction& draft);

// What went wrong with a commit; none if it was done.
std::optional<ApiError> failure_of(CommitOutcome outcome);
ApiError store_is_busy();

// The usual answer: the object in the form that was asked for.
void answer_object(const ServerParts& parts, Exchange& exchange, int code, const Prepared& done);

}  // namespace berth
