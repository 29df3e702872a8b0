#include "service/forecaster.h"

#include <algorithm>

#include "service/background.h"
#include "sim/files.h"

namespace berth {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::milliseconds kPauseMax{3'000};

}  // namespace

Forecaster::Forecaster(Seed seed, std::string folder, std::function<void(std::function<void()>)> post,
                       std::function<void(const std::string&)> log)
    : path_(std::move(folder) + "/" + kFileName), post_(std::move(post)), log_(std::move(log)), kept_(seed) {
  worker_.post(give_way);
}

Forecaster::~Forecaster() {
  stopped_ = true;
  worker_.stop();
}

void Forecaster::ask(State fork, KeptForecasts::Names waiting, std::vector<EndedRun> ended, Time now) {
  question_ = std::make_unique<Question>(Question{std::move(fork), std::move(waiting), std::move(ended), now});
  worker_.post([this, question = question_.get()] { answer(*question); });
}

void Forecaster::answer(const Question& question) {
  const Clock::time_point began = Clock::now();
  for (const EndedRun& each : question.ended) run_times_.ended(each.run, each.took);
  // Where nobody waits, or did at the last look, there is nothing new to say.
  if (!question.waiting.empty() || std::exchange(had_any_, false)) {
    had_any_ = !question.waiting.empty();
    kept_.run_ahead(question.state, question.waiting, question.now, run_times_,
                    [&] { return stopped_ || Clock::now() - began > kRunMax; });
    if (stopped_) return;
    const auto written = write_private_file(path_, to_text(kept_.table()));
    std::string failure = written ? "" : written.error().to_string();
    if (!failure.empty() && failure != told_failure_) log_(failure);
    told_failure_ = std::move(failure);
  }
  const auto took = std::chrono::duration_cast<std::chrono::milliseconds>(Clock::now() - began);
  post_([this, took] { note_answered(took); });
}

// The next is written a pause and a run after this one was begun, and this one is read until then.
void Forecaster::note_answered(std::chrono::milliseconds took) {
  constexpr std::chrono::milliseconds kLate{1'000};  // it looks once a second at least
  const auto pause =
      std::clamp(std::chrono::milliseconds(kAgeMax.ms) - kLate - 2 * took, std::chrono::milliseconds(0), kPauseMax);
  next_ = question_->now + Duration{took.count() + pause.count()};
  last_took_ = took;
  question_.reset();
}

}  // namespace berth
