#include "service/told_standings.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "model/quantity.h"

namespace berth {
namespace {

constexpr Duration kTimeToldAfter = seconds(10);
constexpr Duration kPastToldAfter = seconds(60);
constexpr std::int64_t kStepsOfWhole = 100;

// Without its numbers: who goes before whom.
std::string words_of(std::string text) {
  std::erase_if(text, [](char c) { return c >= '0' && c <= '9'; });
  return text;
}

// What only time has done to it is left as it was.
QueueStanding but_for_time(QueueStanding standing, const QueueStanding& told) {
  standing.past_use = told.past_use;
  standing.floor_use = told.floor_use;
  standing.as_of = told.as_of;
  if (standing.budget && told.budget && standing.budget->left == told.budget->left) standing.budget = told.budget;
  standing.turn = told.turn;
  for (std::size_t i = 0; i < std::min(standing.conditions.size(), told.conditions.size()); ++i) {
    standing.conditions[i].message = told.conditions[i].message;
  }
  return standing;
}

// Amounts as they are told: of memory in bytes, of all else in thousandths.
std::int64_t number_in(const std::string& amount) {
  return parse_milli(amount).value_or(parse_bytes(amount).value_or(0));
}

bool has_moved(const std::map<std::string, std::string>& now, const std::map<std::string, std::string>& told) {
  if (now.size() != told.size()) return true;
  return std::ranges::any_of(now, [&](const auto& each) {
    const auto before = told.find(each.first);
    if (before == told.end()) return true;
    const std::int64_t was = number_in(before->second), is = number_in(each.second);
    return (is > was ? is - was : was - is) > was / kStepsOfWhole;
  });
}

}  // namespace

bool ToldStandings::is_due(const std::string& queue, const QueueStanding& standing, Time now) {
  const auto known = told_.find(queue);
  if (known != told_.end()) {
    const Told& told = known->second;
    if (told.standing == standing) return false;
    if (but_for_time(standing, told.standing) == told.standing) {
      if (now < told.at + kTimeToldAfter) return false;
      const bool past_alone =
          standing.budget == told.standing.budget && words_of(standing.turn) == words_of(told.standing.turn);
      const bool moved = has_moved(standing.past_use, told.standing.past_use);
      if (past_alone && !moved && now < told.at + kPastToldAfter) return false;
    }
  }
  if (!on_their_way_.insert(queue).second) return false;
  told_[queue] = {standing, now};
  return true;
}

void ToldStandings::note_told(const std::string& queue, bool arrived) {
  on_their_way_.erase(queue);
  if (!arrived) told_.erase(queue);
}

void ToldStandings::keep_only(const std::map<std::string, QueueStanding>& queues) {
  std::erase_if(told_, [&](const auto& each) { return !queues.contains(each.first); });
}

}  // namespace berth
