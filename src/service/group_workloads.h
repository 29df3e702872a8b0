// The Workload objects of groups that belong to no object of which they would go: they are there for as long as pods of their
// group are, and say of the group what it is now. No threads, clocks or sockets.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "kube/transport.h"
#include "manifest/value.h"
#include "service/live_engine.h"
#include "service/round.h"

namespace berth {

class GroupWorkloads {
 public:
  // An object as it is, also one that somebody owns.
  void set(const Value& workload);
  // The group that it was of is told anew, if there is one.
  void remove(const Value& workload, LiveEngine& engine);

  // Makes the spec that of the group; none: it is that, or there is no such object.
  std::optional<ApiCall> correction(const WorkloadNews& news) const;
  // Deletes those of which there is no pod any more, each once; asked again once anything has changed.
  // PRE: the engine knows all pods.
  std::vector<ApiCall> leftovers(const LiveEngine& engine);
  // A call did not reach the server.
  void note_not_deleted() { looked_ = false; }

 private:
  struct Known {
    std::string uid;
    bool goes_by_itself = false;  // with its owner; or the scheduler has told nothing in it, and it is somebody else's
    Value spec;

    friend bool operator==(const Known&, const Known&) = default;
  };
  std::map<WorkloadKey, Known> known_;
  std::set<WorkloadKey> owned_by_nobody_;  // of these
  std::size_t gone_ = 0;                   // groups that had gone when it looked
  bool looked_ = false;                    // since anything here has changed
};

}  // namespace berth
