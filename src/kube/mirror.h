// A copy of all objects of one kind, kept true by list and watch (a reflector): lists, watches from there, resumes at
// the last revision seen, and after 410 lists again and tells only the differences. Backs off with jitter, honours
// Retry-After. What it tells is in the server's order, and no object ever goes back in time. metadata.managedFields,
// half of a real server's bytes and of no use here, are left out.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "kube/alarm.h"
#include "kube/transport.h"
#include "manifest/value.h"

namespace berth {

using ObjectPtr = std::shared_ptr<const Value>;

// `before` is none for a new object, `after` for one that is gone (`before` then has its last state).
struct ObjectChange {
  ObjectPtr before, after;
  const Value& object() const { return after ? *after : *before; }
};

struct MirrorOptions {
  std::string qualified = {};   // "pods", "jobs.batch"
  std::string name_space = {};  // empty = all
  std::string label_selector = {};
  std::string field_selector = {};
  std::uint64_t jitter_seed = 1;
  int page_size = 500;  // objects a page of the first list
  // Throws away what its owner never reads, before an object is kept and told; never name, namespace, uid or
  // resourceVersion. None: all is kept.
  std::function<void(Value&)> slim = nullptr;
  // A kind that not every server has: where it is not served (404), there is none of it until it is, and the mirror says so once
  // and is synced. None: that is trouble like any other.
  std::function<void()> on_not_served = nullptr;
};

class Mirror {
 public:
  // PRE: transport and alarm outlive it; the kind is served by Berth. Both callbacks run one at a time, on the
  // transport's thread or the alarm's (or within start()). on_synced once, when the first whole list has been told.
  static std::unique_ptr<Mirror> start(Transport& transport, Alarm& alarm, MirrorOptions options,
                                       std::function<void(ObjectChange)> on_change, std::function<void()> on_synced);
  // After it no callback runs: it waits for one that does, unless that one destroys it. Never destroy it while holding
  // a lock that a callback takes.
  virtual ~Mirror() = default;
  virtual std::int64_t revision() const = 0;  // seen so far
  virtual std::string trouble() const = 0;    // why it cannot reach the server just now; empty: all well
};

}  // namespace berth
