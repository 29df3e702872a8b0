// Where a pod may be as things are, as far as the pods around it are concerned, and where it would rather be. Looked at once for
// all nodes; it holds until the next move.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "state/ledger.h"

namespace berth {

// In the order in which they are looked at.
enum class NeighbourRefusal : std::uint8_t { kNone, kPort, kApart, kNear, kSpread };
inline constexpr std::size_t kNeighbourRefusals = 5;

// The greater the better; all zero where it has no preference.
struct NeighbourLiking {
  std::int64_t spread = 0;     // less so many are there over whose domains it is rather spread
  std::int64_t preferred = 0;  // what those whom it is rather near weigh, less those from whom it is rather apart

  friend auto operator<=>(const NeighbourLiking&, const NeighbourLiking&) = default;
};

class NeighbourCheck {
 public:
  // `heeded`: what comes before it is not looked at; kNone: all is.
  NeighbourCheck(const Ledger& ledger, const PodRequest& request, NeighbourRefusal heeded = NeighbourRefusal::kNone);

  // Whether it is the same everywhere.
  bool is_needless() const { return kind_ == nullptr; }
  NeighbourRefusal refusal(NodeId node) const;
  bool allows(NodeId node) const { return is_needless() || refusal(node) == NeighbourRefusal::kNone; }
  NeighbourLiking liking(NodeId node) const;

  // Nobody is there yet whom it is to be near, and it is one of them itself: where it goes decides for those who follow. The nodes
  // among which they then are, in each entry those of the same domains; else empty.
  std::vector<std::vector<NodeId>> places_to_found(std::size_t nodes) const;

 private:
  // How many are in each domain of a level, and in the emptiest.
  struct Spread {
    std::vector<std::int64_t> in_domain;
    std::int64_t least = 0;
  };

  Spread spread_of(const PodSpread& asked, Neighbourhood::CounterId counter) const;
  bool has_all_levels(NodeId node) const;
  bool is_near(NodeId node) const;
  bool is_even(NodeId node, std::size_t spread) const;

  const Ledger& ledger_;
  const PodRequest& request_;
  const Neighbourhood& around_;
  const Neighbourhood::Kind* kind_ = nullptr;
  NeighbourRefusal heeded_;
  bool founds_ = false;
  std::vector<Spread> spreads_;
};

}  // namespace berth
