// What waits for a turn, from many payers, in an order that is fair to them: start-time fair queueing. Whoever asks for
// little waits for little, however much others ask for, and however many they are.
#pragma once

#include <algorithm>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>

namespace berth {

// A payer's items leave in the order in which they came. Each payer has a clock that runs on by the cost of what he was
// given; the payer whose clock is most behind is next. Who has not asked for a while begins where the others are: there
// is nothing to save up. A push that throws leaves all as it was; pop does not throw. INVARIANT: only payers with
// something waiting, or ahead of the others, are remembered.
template <typename Item>
class FairQueue {
 public:
  void push(std::string_view payer, std::uint64_t cost, Item item) {
    auto at = payers_.find(payer);
    if (at == payers_.end()) at = payers_.emplace(payer, Payer()).first;
    Payer& his = at->second;
    his.items.emplace_back(cost, std::move(item));
    if (his.items.size() == 1) {
      try {
        begin_to_wait(his, at->first);
      } catch (...) {
        his.items.pop_back();
        throw;
      }
    }
    ++size_;
  }

  // None if nothing waits.
  std::optional<Item> pop() {
    if (waiting_.empty()) return std::nullopt;
    auto place = waiting_.extract(waiting_.begin());
    Payer& his = payers_.find(place.value().payer)->second;
    now_ = his.place.clock;
    his.place.clock += his.items.front().first;
    his.place.turn = ++turns_;
    place.value() = his.place;
    Item item = std::move(his.items.front().second);
    his.items.pop_front();
    --size_;
    (his.items.empty() ? ahead_ : waiting_).insert(std::move(place));
    forget();
    return item;
  }

  std::size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  std::size_t payers() const { return waiting_.size(); }  // that have something waiting
  std::size_t size_of(std::string_view payer) const {
    const auto at = payers_.find(payer);
    return at == payers_.end() ? 0 : at->second.items.size();
  }

 private:
  struct Place {
    std::uint64_t clock = 0;
    std::uint64_t turn = 0;  // of equal clocks the one that has waited longest
    std::string_view payer;
    friend auto operator<=>(const Place&, const Place&) = default;
  };
  struct Payer {
    Place place;
    std::deque<std::pair<std::uint64_t, Item>> items;
  };

  void begin_to_wait(Payer& his, const std::string& name) {
    const Place place{std::max(his.place.clock, now_), turns_ + 1, name};
    if (const auto before = ahead_.find(his.place); before != ahead_.end()) {
      auto node = ahead_.extract(before);
      node.value() = place;
      waiting_.insert(std::move(node));
    } else {
      waiting_.insert(place);
    }
    his.place = place;
    ++turns_;
  }

  // Those whom the others have caught up with; all, when nobody waits.
  void forget() {
    while (!ahead_.empty() && (size_ == 0 || ahead_.begin()->clock <= now_)) {
      const auto first = ahead_.begin();
      const auto at = payers_.find(first->payer);
      ahead_.erase(first);
      payers_.erase(at);
    }
  }

  std::map<std::string, Payer, std::less<>> payers_;
  std::set<Place> waiting_;
  std::set<Place> ahead_;  // of those for whom nothing waits
  std::uint64_t now_ = 0;  // the clock of whoever was last
  std::uint64_t turns_ = 0;
  std::size_t size_ = 0;
};

}  // namespace berth
