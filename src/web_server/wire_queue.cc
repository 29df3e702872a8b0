#include "web_server/wire_queue.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "base/assert.h"

namespace berth {

namespace {

std::string chunk_head(std::size_t bytes) {
  std::array<char, 2 * sizeof(bytes) + 2> text{};
  char* const end = std::to_chars(text.data(), text.data() + text.size(), bytes, 16).ptr;
  end[0] = '\r';
  end[1] = '\n';
  return {text.data(), end + 2};
}

}  // namespace

void WireQueue::push_piece(Piece piece) {
  if (piece.bytes() == 0) return;
  cost_ += piece.cost();
  pieces_.push_back(std::move(piece));
}

void WireQueue::push(std::string text) { push_piece({.before = std::move(text), .shared = {}, .after = {}}); }

void WireQueue::push(std::shared_ptr<const std::string> shared) {
  push_piece({.before = {}, .shared = std::move(shared), .after = {}});
}

void WireQueue::push_chunk(std::shared_ptr<const std::string> shared) {
  BERTH_ASSERT(shared && !shared->empty());
  std::string head = chunk_head(shared->size());
  push_piece({.before = std::move(head), .shared = std::move(shared), .after = "\r\n"});
}

void WireQueue::push_last_chunk() { push_piece({.before = {}, .shared = {}, .after = "0\r\n\r\n"}); }

std::size_t WireQueue::gather(std::span<std::string_view> slices, std::size_t bytes_max) {
  BERTH_ASSERT(in_flight_ == 0);
  std::size_t used = 0;
  std::size_t skip = first_sent_;
  for (const Piece& piece : pieces_) {
    if (bytes_max == 0 || used == slices.size()) break;
    ++in_flight_;
    for (std::string_view part : {std::string_view(piece.before),
                                  piece.shared ? std::string_view(*piece.shared) : std::string_view(), piece.after}) {
      const std::size_t passed = std::min(skip, part.size());
      skip -= passed;
      part = part.substr(passed, bytes_max);
      if (part.empty() || used == slices.size()) continue;
      slices[used++] = part;
      bytes_max -= part.size();
    }
  }
  return used;
}

void WireQueue::sent(std::size_t bytes) {
  in_flight_ = 0;
  first_sent_ += bytes;
  while (!pieces_.empty() && first_sent_ >= pieces_.front().bytes()) {
    first_sent_ -= pieces_.front().bytes();
    cost_ -= pieces_.front().cost();
    pieces_.pop_front();
  }
  BERTH_ASSERT(!pieces_.empty() || first_sent_ == 0);
}

void WireQueue::drop_waiting() {
  while (pieces_.size() > in_flight_) {
    cost_ -= pieces_.back().cost();
    pieces_.pop_back();
  }
  if (pieces_.empty()) first_sent_ = 0;
}

}  // namespace berth
