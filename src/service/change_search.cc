#include "service/change_search.h"

#include <algorithm>
#include <optional>
#include <tuple>

#include "cycle/changes.h"
#include "service/background.h"

namespace berth {
namespace {

constexpr Duration kPauseMin = seconds(1);

}  // namespace

ChangeSearch::ChangeSearch(std::function<void(std::function<void()>)> post,
                           std::function<void(std::vector<FoundChanges>)> tell, SteadyClock clock)
    : post_(std::move(post)), tell_(std::move(tell)), clock_(std::move(clock)) {
  worker_.post(give_way);
}

ChangeSearch::~ChangeSearch() {
  stopped_ = true;
  worker_.stop();
}

void ChangeSearch::ask(State fork, Waiting waiting, Names running, Time now) {
  std::map<std::string, Time> known;
  std::vector<std::tuple<Time, std::size_t>> due;
  for (std::size_t at = 0; at < waiting.size(); ++at) {
    const auto looked = looked_at_.find(waiting[at].second.uid);
    if (looked != looked_at_.end()) known.insert(*looked);
    const Time last = looked == looked_at_.end() ? Time{} : looked->second;
    if (looked == looked_at_.end() || last + kAgainAfter <= now) due.emplace_back(last, at);
  }
  looked_at_ = std::move(known);
  next_ = now + kPauseMin;
  if (due.empty()) return;
  std::ranges::sort(due);
  Waiting in_order;
  for (const auto& [last, at] : due) {
    if (in_order.size() < kFoundMax) in_order.push_back(std::move(waiting[at]));
  }
  question_ = std::make_unique<Question>(Question{std::move(fork), std::move(in_order), std::move(running), now, {}});
  worker_.post([this, question = question_.get()] { answer(*question); });
}

void ChangeSearch::answer(Question& question) {
  const auto began = clock_();
  for (const auto& [id, pod] : question.waiting) {
    if (stopped_) return;
    if (!question.found.empty() && clock_() - began > kLookMax) break;
    question.found.push_back(look_at(question, id, pod));
  }
  if (stopped_) return;
  const auto took = std::chrono::duration_cast<std::chrono::milliseconds>(clock_() - began);
  post_([this, took] { note_answered(took); });
}

FoundChanges ChangeSearch::look_at(const Question& question, WorkloadId id, const PodName& pod) const {
  FoundChanges found{.pod = pod, .as_of = question.now, .told = {}};
  found.kept_aside = question.state.is_kept_aside(id);
  if (found.kept_aside) return found;
  std::optional<ChangeKind> at;
  std::chrono::steady_clock::time_point since;
  const ChangesFound all = find_changes(question.state, id, question.now, kChangeTriesMax, [&](ChangeKind kind) {
    if (at != kind) since = clock_();
    at = kind;
    return stopped_ || clock_() - since > kOfKindMax;
  });
  for (const SmallestChange& change : all.changes) {
    const auto name = question.running.find(change.other);
    // Whose work is in the way is told to those alone who may see it.
    const bool named = change.kind == ChangeKind::kEnd && name != question.running.end() &&
                       name->second.starts_with(pod.name_space + "/");
    found.told.changes.push_back(
        {std::string(name_of(change.kind)), named ? change.text_naming(name->second) : change.text});
  }
  for (const ChangeKind kind : all.broken_off) found.told.not_searched.emplace_back(name_of(kind));
  return found;
}

// It works half of the time at most.
void ChangeSearch::note_answered(std::chrono::milliseconds took) {
  for (const FoundChanges& each : question_->found) looked_at_[each.pod.uid] = question_->now;
  next_ = question_->now + Duration{took.count()} + std::max(kPauseMin, Duration{took.count()});
  const std::unique_ptr<Question> question = std::move(question_);
  tell_(std::move(question->found));
}

}  // namespace berth
