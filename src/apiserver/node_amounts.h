// What nodes can give, and what a pod asks or is limited to beyond all of them: said when it is created, and by `berth explain`.
#pragma once

#include <cstddef>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "apiserver/pod_facts.h"
#include "base/time.h"
#include "manifest/kinds.h"
#include "manifest/value.h"
#include "store/store.h"

namespace berth {

// What a node can give, as its object says.
Amounts allocatable_of(const Value& node);

// In words, of a pod or a template of pods, with what is not scheduled by at all; empty: nothing, or there are no nodes yet. `nodes`: each distinct amounts once.
std::vector<std::string> beyond_all_nodes(const Value& pod, const std::set<Amounts>& nodes);

// The nodes of a store. They are looked at again after a second, and one is read again when it has changed. Any thread may ask.
class NodeAmounts {
 public:
  explicit NodeAmounts(const Store& store) : store_(store) {}

  // Of a new object that is a pod or has templates of pods: each once.
  std::vector<std::string> warnings(const KindInfo& kind, const Value& object, Time now);

 private:
  // Of the templates of one object so many are looked at.
  static constexpr std::size_t kTemplatesMax = 20;

  struct Read {
    Revision revision = 0;
    Amounts amounts;
  };
  void look(Time now);

  const Store& store_;
  std::mutex mutex_;  // of what follows
  bool looked_ = false;
  Time looked_at_;
  std::map<std::string, Read> nodes_;  // by key
  std::set<Amounts> distinct_;
};

}  // namespace berth
