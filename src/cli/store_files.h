// The files of a store that nobody serves at the moment: store.db and what lies beside it.
#pragma once

#include <string>

#include "base/result.h"
#include "base/time.h"
#include "store/store.h"

namespace berth {

// Whether another process has the store open. PRE: this one has not: looking would drop its locks.
bool is_in_use(const std::string& store_path);

struct PutBack {
  Revision revision = 0;   // at which the store goes on
  std::string old_path{};  // of what was there before, a store like any other; empty: nothing was
};

// The store becomes what the backup holds. What was there is kept under the name PATH.before-TIME, with its write-ahead log
// and its mark. Whenever this is cut off there is the old store, the new one, or one that complains and says how to go on;
// never an empty one in silence.
Result<PutBack> put_back(const std::string& backup, const std::string& store_path, bool replace, Time now);

}  // namespace berth
