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

// What an account is made from.
struct AccountFacts {
  std::vector<Work> others = {};         // all work that could be seen, the work itself may be among it
  bool others_are_all = false;           // it was everybody's
  std::vector<Value> queues = {};        // as far as they could be seen
  std::vector<Value> events = {};        // of its namespace
  std::vector<Value> own_pods = {};      // of a Job, or the pod itself
  Value workload = {};                   // of Berth, if it is one of several pods
  std::vector<std::string> beyond = {};  // what its pods ask, or are limited to, beyond every node
};

// The name of the Workload of those who start with it.
std::string workload_name_of(const Work& work, const std::vector<Value>& own_pods);

Account account_of(const Work& work, const AccountFacts& facts, Time now);

}  // namespace berth
