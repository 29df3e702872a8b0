// What one connection still has to send, in order: texts of its own, and texts that it shares with other connections and
// never copies.
#pragma once

#include <cstddef>
#include <deque>
#include <memory>
#include <span>
#include <string>
#include <string_view>

namespace berth {

// Between gather() and sent() a batch is in flight: its bytes stay where they are, whatever is called.
class WireQueue {
 public:
  void push(std::string text);
  void push(std::shared_ptr<const std::string> shared);
  // Framed as one chunk. PRE: not empty, which would be the last chunk.
  void push_chunk(std::shared_ptr<const std::string> shared);
  void push_last_chunk();

  // The next bytes to send, at most bytes_max: as many of `slices` as the answer says. PRE: nothing is in flight.
  std::size_t gather(std::span<std::string_view> slices, std::size_t bytes_max);
  // So many bytes of the batch were sent; nothing is in flight any more.
  void sent(std::size_t bytes);
  // Forgets all that is not in flight.
  void drop_waiting();

  bool empty() const { return pieces_.empty(); }
  // Bytes of memory that are held until all is sent. A piece costs something by itself: a million chunks of one byte are
  // not a megabyte.
  std::size_t cost() const { return cost_; }

 private:
  struct Piece {
    std::string before;
    std::shared_ptr<const std::string> shared;  // may be null
    std::string_view after;                     // of static storage

    std::size_t bytes() const { return before.size() + (shared ? shared->size() : 0) + after.size(); }
    std::size_t cost() const { return sizeof(Piece) + bytes(); }
  };

  void push_piece(Piece piece);

  std::deque<Piece> pieces_;
  std::size_t first_sent_ = 0;  // bytes of the first piece
  std::size_t in_flight_ = 0;   // pieces
  std::size_t cost_ = 0;
};

}  // namespace berth
