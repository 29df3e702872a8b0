#include "kube/outbox.h"

#include <utility>

namespace berth {

void Outbox::send(Urgency urgency, ApiCall call, Done done) {
  std::deque<Letter>& letters = letters_[static_cast<std::size_t>(urgency)];
  letters.push_back({std::move(call), std::move(done)});
  if (urgency == Urgency::kTelling && letters.size() > kTellingsMax) {
    const Letter dropped = std::move(letters.front());
    letters.pop_front();
    dropped.done({.status = 0, .body = "dropped: too much waits to be told", .retry_after_s = 0});
  }
  send_on();
}

std::size_t Outbox::waiting() const {
  std::size_t waiting = static_cast<std::size_t>(in_flight_);
  for (const auto& letters : letters_) waiting += letters.size();
  return waiting;
}

void Outbox::send_on() {
  for (auto& letters : letters_) {
    while (!letters.empty() && in_flight_ < in_flight_max_) {
      Letter letter = std::move(letters.front());
      letters.pop_front();
      ++in_flight_;
      // The strand is shared, so that an answer that comes after the end finds it, and this outbox is not touched: a
      // stopped strand drops what is posted.
      transport_.send(std::move(letter.call),
                      [this, strand = strand_, done = std::move(letter.done)](ApiAnswer answer) {
                        strand->post([this, done, answer = std::move(answer)] {
                          --in_flight_;
                          done(answer);
                          send_on();
                        });
                      });
    }
  }
}

}  // namespace berth
