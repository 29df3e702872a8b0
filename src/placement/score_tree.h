// The scores of all nodes for one request, with the best of every 64, of every 64 x 64, and so on: changing one score and
// finding the first best cost a few short scans, whatever the number of nodes.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

namespace berth {

using Score = std::int16_t;

// INVARIANT: level 0 has the scores; entry i of level n + 1 is the largest of the entries 64 i .. 64 i + 63 of level n. All
// levels are filled up with kUnfit to whole blocks.
class ScoreTree {
 public:
  static constexpr Score kUnfit = std::numeric_limits<Score>::min();

  // Makes all scores again: score_of(node).
  template <class ScoreOf>
  void assign(std::size_t nodes, ScoreOf score_of) {
    nodes_ = nodes;
    begins_ = {0};
    std::size_t size = whole_blocks(nodes);
    while (size > kBlock) {
      begins_.push_back(begins_.back() + size);
      size = whole_blocks(size / kBlock);
    }
    entries_.assign(begins_.back() + size, kUnfit);
    for (std::size_t node = 0; node < nodes; ++node) entries_[node] = score_of(node);
    for (std::size_t level = 1; level < begins_.size(); ++level) {
      const std::size_t below = begins_[level - 1];
      for (std::size_t block = 0; below + block * kBlock < begins_[level]; ++block) {
        entries_[begins_[level] + block] = best_of(entries_.data() + below + block * kBlock);
      }
    }
  }

  std::size_t nodes() const { return nodes_; }
  Score operator[](std::size_t node) const { return entries_[node]; }

  void set(std::size_t node, Score score) {
    std::size_t at = node;
    for (std::size_t level = 0;; ++level) {
      Score* const scores = entries_.data() + begins_[level];
      const Score before = scores[at];
      if (before == score) return;
      scores[at] = score;
      if (level + 1 == begins_.size()) return;
      const std::size_t block = at / kBlock;
      const Score best = entries_[begins_[level + 1] + block];
      if (score < best) {
        // Only if this was the block's best can the block's best have changed.
        if (before < best) return;
        score = best_of(scores + block * kBlock);
      }
      at = block;
    }
  }

  // The first of the nodes with the best score; none if all are unfit.
  std::optional<std::size_t> first_best() const {
    if (nodes_ == 0) return std::nullopt;
    const Score best = best_of(entries_.data() + begins_.back());
    if (best == kUnfit) return std::nullopt;
    std::size_t at = 0;
    for (std::size_t level = begins_.size(); level-- > 0;) {
      at *= kBlock;
      while (entries_[begins_[level] + at] != best) ++at;
    }
    return at;
  }

 private:
  static constexpr std::size_t kBlock = 64;

  static std::size_t whole_blocks(std::size_t entries) { return (entries + kBlock - 1) / kBlock * kBlock; }

  // A fixed length, so that compilers use vector instructions.
  static Score best_of(const Score* block) {
    std::array<Score, 8> best{};
    for (std::size_t lane = 0; lane < best.size(); ++lane) best[lane] = block[lane];
    for (std::size_t at = best.size(); at < kBlock; at += best.size()) {
      for (std::size_t lane = 0; lane < best.size(); ++lane) {
        best[lane] = block[at + lane] > best[lane] ? block[at + lane] : best[lane];
      }
    }
    Score largest = best[0];
    for (const Score lane : best) largest = lane > largest ? lane : largest;
    return largest;
  }

  std::vector<Score> entries_;       // level after level
  std::vector<std::size_t> begins_;  // of each level
  std::size_t nodes_ = 0;
};

}  // namespace berth
