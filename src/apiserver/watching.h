// Watches: what there is, then every change, in the form and under the selectors the client asked for, until its time
// is up, it goes away, or it may no longer look.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "apiserver/exchange.h"
#include "apiserver/presentation.h"
#include "apiserver/request_options.h"

namespace berth {

// The lines of recent events as everybody who watches whole objects gets them, so that each is made once and not once a
// watcher. Any thread may ask.
class EventLines {
 public:
  EventLines();
  // `{"type":"ADDED","object":...}` with its line end. `revision` names the change.
  SharedText line(const char* type, Revision revision, const RecordPtr& object);

 private:
  struct Slot {
    Revision revision = 0;
    const char* type = nullptr;
    SharedText line;
  };
  std::mutex mutex_;
  std::vector<Slot> slots_;
};

class WatchSession;

// All open watches of a server. INVARIANT: when it is destroyed every one has ended.
class Watches {
 public:
  explicit Watches(const ServerParts& parts) : parts_(parts) {}
  ~Watches();
  Watches(const Watches&) = delete;
  Watches& operator=(const Watches&) = delete;

  void start(Exchange& exchange, const ListOptions& options);

 private:
  void remember(const std::shared_ptr<WatchSession>& session);

  const ServerParts& parts_;
  EventLines lines_;
  std::mutex mutex_;
  std::vector<std::weak_ptr<WatchSession>> sessions_;
};

}  // namespace berth
