// A question to the scheduler of a live cluster: an object that carries it to whoever may read it, and comes back with the answer in
// its status. Whether somebody may ask is decided by who may create such objects. It is deleted when it has been answered.
#pragma once

#include <chrono>
#include <functional>
#include <string>
#include <string_view>

#include "client/asking.h"
#include "kube/transport.h"
#include "manifest/value.h"

namespace berth {

class AskedObject {
 public:
  // `qualified` is of a kind that lives in no namespace.
  AskedObject(Transport& server, std::string qualified) : server_(server), qualified_(std::move(qualified)) {}
  ~AskedObject();
  AskedObject(const AskedObject&) = delete;
  AskedObject& operator=(const AskedObject&) = delete;

  Asked<void> ask(const Value& object);
  // The object, as soon as that is so of its status; ctrl-C, and a time that is over, end the wait.
  Asked<Value> wait(const std::function<bool(const Value& status)>& is_answered, std::chrono::seconds at_most);
  // Its spec has these members, too, from now on.
  Asked<Value> change(const Value& spec);
  const std::string& name() const { return name_; }

 private:
  Transport& server_;
  std::string qualified_;
  std::string name_;  // empty: it is not there
};

}  // namespace berth
