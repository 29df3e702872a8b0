#include "cli/asked_object.h"

#include <thread>
#include <utility>

#include "cli/stop_signal.h"

namespace berth {
namespace {

constexpr std::chrono::milliseconds kLookAgain{100};

}  // namespace

AskedObject::~AskedObject() {
  // That it is left there where the server does not answer costs nobody anything.
  if (!name_.empty()) static_cast<void>(delete_object(server_, qualified_, "", name_));
}

Asked<void> AskedObject::ask(const Value& object) {
  note_stop_signals();
  const Asked<Value> made = create_object(server_, qualified_, "", object);
  if (!made) return std::unexpected(made.error());
  name_ = (*made)["metadata"]["name"].text();
  return {};
}

Asked<Value> AskedObject::wait(const std::function<bool(const Value&)>& is_answered, std::chrono::seconds at_most) {
  const auto until = std::chrono::steady_clock::now() + at_most;
  while (true) {
    Asked<Value> seen = read_object(server_, qualified_, "", name_);
    if (!seen || is_answered((*seen)["status"])) return seen;
    if (stop_was_asked()) return std::unexpected(AskFailure{1, "stopped before the scheduler had answered"});
    if (std::chrono::steady_clock::now() >= until) {
      return std::unexpected(AskFailure{
          kExitTimedOut, "the scheduler has not answered in time; see that one runs and leads (berth scheduler)"});
    }
    std::this_thread::sleep_for(kLookAgain);
  }
}

Asked<Value> AskedObject::change(const Value& spec) {
  return change_object(server_, qualified_, "", name_, Value::map_of({{"spec", spec}}));
}

}  // namespace berth
