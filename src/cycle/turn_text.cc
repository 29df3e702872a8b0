#include "cycle/turn_text.h"

#include <algorithm>
#include <cstddef>
#include <vector>

#include "fairness/share.h"

namespace berth {
namespace {

constexpr std::size_t kNamedMax = 3;

// "1st", "2nd", "11th"
std::string ordinal(std::size_t place) {
  const std::size_t last = place % 10;
  const bool teen = place / 10 % 10 == 1;
  return std::to_string(place) + (teen || last == 0 || last > 3 ? "th" : last == 1 ? "st" : last == 2 ? "nd" : "rd");
}

// Why it stands where it does.
std::string rank_text(const Rank& rank) {
  if (rank.counts_for_nothing) return "best effort, behind all that counts";
  const std::string fraction = to_text(rank.fraction);
  return rank.outside ? "its share would be " + fraction : "inside its floor, of which it uses " + fraction;
}

std::string level_text(const State& state, const std::vector<NamedChild>& children, QueueId parent, std::size_t place) {
  const auto name = [&](QueueId queue) { return state.queues()[queue.index()].name; };
  std::string text = ordinal(place + 1) + " of " + std::to_string(children.size()) +
                     (parent.is_none() ? " at the top" : " below " + name(parent)) + ": ";
  for (std::size_t i = 0; i < std::min(place, kNamedMax); ++i) {
    const NamedChild& ahead = children[i];
    text += i == 0 ? "after " : ", ";
    text += ahead.child == parent ? "what waits at " + name(parent) + " itself" : name(ahead.child);
    text += " (" + rank_text(ahead.rank) + ")";
  }
  if (place > kNamedMax) text += " and " + std::to_string(place - kNamedMax) + " more";
  return text + (place > 0 ? "; " : "") + rank_text(children[place].rank);
}

}  // namespace

std::string turn_text(const State& state, const WhoIsNext& who, QueueId queue) {
  std::string text;
  const auto add = [&](QueueId parent, QueueId child) {
    const std::vector<NamedChild>& children = who.below(parent);
    const auto at = std::ranges::find(children, child, &NamedChild::child);
    if (at == children.end() || children.size() == 1) return;
    text += (text.empty() ? "" : "; ") +
            level_text(state, children, parent, static_cast<std::size_t>(at - children.begin()));
  };
  if (!queue.is_none()) add(queue, queue);  // its own line beside its children
  for (QueueId child = queue; !child.is_none(); child = state.queues()[child.index()].parent) {
    add(state.queues()[child.index()].parent, child);
  }
  return text;
}

}  // namespace berth
