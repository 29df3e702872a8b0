// `berth explain`: why a job or pod is where it is, from what the server knows of it and of its queue.
#pragma once

#include <string>
#include <vector>

#include "base/time.h"
#include "client/work.h"
#include "manifest/value.h"

namespace berth {

struct Account {
  std::string text;  // lines for people
  Value facts;       // the same for programs
  bool waits = false;
  std::string state;

  // The state, where it stands in the first line, in its colour.
  std::string text_in_color() const;
};

// `others` is all work that could be seen, `work` may be among it; whether that was everybody's is `others_are_all`.
Account account_of(const Work& work, const std::vector<Work>& others, bool others_are_all,
                   const std::vector<Value>& queues, Time now);

}  // namespace berth
