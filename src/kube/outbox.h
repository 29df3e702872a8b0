// What one component asks of the API server: what is urgent before what is only told, and so many calls at a time.
// INVARIANT: used on one strand only; `done` runs there too.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>

#include "kube/strand.h"
#include "kube/transport.h"

namespace berth {

// Worth asking again: nothing was heard, or the server has too much to do or trouble of its own.
inline bool is_passing(const ApiAnswer& answer) {
  return answer.status == 0 || answer.status == 429 || answer.status >= 500;
}

class Outbox {
 public:
  enum class Urgency : std::uint8_t { kFirst, kSecond, kTelling };
  using Done = std::function<void(const ApiAnswer&)>;

  Outbox(Transport& transport, std::shared_ptr<Strand> strand, int in_flight_max)
      : transport_(transport), strand_(std::move(strand)), in_flight_max_(in_flight_max) {}

  // What is told beyond this bound is dropped, the oldest first: its `done` gets an answer with status 0.
  static constexpr std::size_t kTellingsMax = 20'000;

  void send(Urgency urgency, ApiCall call, Done done);
  std::size_t waiting() const;

 private:
  struct Letter {
    ApiCall call;
    Done done;
  };
  void send_on();

  Transport& transport_;
  std::shared_ptr<Strand> strand_;
  int in_flight_max_;
  int in_flight_ = 0;
  std::array<std::deque<Letter>, 3> letters_;  // by urgency
};

}  // namespace berth
