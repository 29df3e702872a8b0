#include "demo/player.h"

#include <algorithm>
#include <chrono>
#include <deque>
#include <mutex>
#include <optional>
#include <string_view>
#include <thread>
#include <utility>

#include "demo/objects.h"
#include "kube/calls.h"
#include "kube/outbox.h"
#include "manifest/json.h"

namespace berth {
namespace {

constexpr std::size_t kInFlightMax = 32;
constexpr Duration kSaveEvery{500};
constexpr Duration kRetry = seconds(1);
constexpr int kTriesMax = 30;

// What the answers leave for the thread that steps. Outlives the player, as answers may come after its end.
struct Answers {
  std::mutex mutex;
  std::vector<bool> there;        // by job: the server has it
  std::deque<std::size_t> again;  // not heard of, to be sent once more
  std::size_t in_flight = 0;
  bool saving = false;
  std::string refusal;  // the first
};

class PlayingAfternoon final : public Player {
 public:
  PlayingAfternoon(Transport& transport, const AfternoonSpec& spec, const std::vector<TraceJob>& jobs, Played played)
      : transport_(transport),
        spec_(spec),
        jobs_(jobs),
        played_(std::move(played)),
        answers_(std::make_shared<Answers>()) {
    played_.submitted = std::min(played_.submitted, jobs_.size());
    next_ = played_.submitted;
    answers_->there.assign(jobs_.size(), false);
    std::fill_n(answers_->there.begin(), played_.submitted, true);
    while (first_moment_ < jobs_.size() && jobs_[first_moment_].submit <= kAfternoonBegins) ++first_moment_;
    if (!played_.lives.empty()) time_ = played_.afternoon_time(played_.lives.back().until, spec_.speed);
  }

  Complaints step(Time clock) override {
    take_answers(clock);
    move_clock(clock);
    send_due(clock);
    if (clock >= save_at_) save(clock);
    const std::lock_guard hold(answers_->mutex);
    return answers_->refusal.empty() ? Complaints() : Complaints({"the afternoon"}, answers_->refusal);
  }

  void finish(Time clock) override {
    played_.over = true;
    if (alive_) played_.lives.back().until = std::max(clock, played_.lives.back().until);
    static_cast<void>(send_and_wait(transport_, save_call()));
  }

  const Played& played() const override { return played_; }
  Time afternoon_time() const override { return time_; }
  std::size_t sent() const override { return next_; }

 private:
  void take_answers(Time clock) {
    const std::lock_guard hold(answers_->mutex);
    while (played_.submitted < jobs_.size() && answers_->there[played_.submitted]) ++played_.submitted;
    if (answers_->again.empty()) again_at_.reset();
    if (!answers_->again.empty() && !again_at_) again_at_ = clock + kRetry;
  }

  // It stands still until those of the first moment are there: submitting them is no part of the afternoon.
  void move_clock(Time clock) {
    if (!alive_) {
      if (played_.submitted < first_moment_) return;
      const Time before = played_.lives.empty() ? Time{} : played_.lives.back().until;
      clock = std::max(clock, before);
      played_.lives.push_back({clock, clock});
      alive_ = true;
    }
    Played::Life& life = played_.lives.back();
    life.until = std::max(life.until, clock);
    time_ = played_.afternoon_time(life.until, spec_.speed);
  }

  void send_due(Time clock) {
    while (true) {
      std::size_t job = 0;
      {
        const std::lock_guard hold(answers_->mutex);
        if (answers_->in_flight >= kInFlightMax) return;
        if (!answers_->again.empty() && again_at_ && clock >= *again_at_) {
          job = answers_->again.front();
          answers_->again.pop_front();
        } else if (next_ < jobs_.size() && jobs_[next_].submit <= time_) {
          job = next_++;
        } else {
          return;
        }
        ++answers_->in_flight;
      }
      send(job);
    }
  }

  void send(std::size_t job) {
    const Value object = job_object(jobs_[job], spec_.speed);
    transport_.send(call_with("POST", api_path("jobs.batch", jobs_[job].queue) + "?fieldManager=berth-demo", object),
                    [answers = answers_, job, name = jobs_[job].name](const ApiAnswer& answer) {
                      const std::lock_guard hold(answers->mutex);
                      --answers->in_flight;
                      if (answer.ok() || answer.status == 409) {
                        answers->there[job] = true;
                      } else if (is_passing(answer)) {
                        answers->again.push_back(job);
                      } else if (answers->refusal.empty()) {
                        answers->refusal = "job " + name + ": " + text_of_failure(answer);
                      }
                    });
  }

  ApiCall save_call() const {
    ApiCall call =
        call_with("PATCH", api_path("configmaps", kDemoNamespace, kAfternoonName) + "?fieldManager=berth-demo",
                  to_config_map(spec_, played_), "application/merge-patch+json");
    return call;
  }

  void save(Time clock) {
    {
      const std::lock_guard hold(answers_->mutex);
      if (answers_->saving) return;
      answers_->saving = true;
    }
    save_at_ = clock + kSaveEvery;
    transport_.send(save_call(), [answers = answers_](const ApiAnswer& answer) {
      const std::lock_guard hold(answers->mutex);
      answers->saving = false;
      if (!answer.ok() && !is_passing(answer) && answers->refusal.empty()) {
        answers->refusal = "its place cannot be kept: " + text_of_failure(answer);
      }
    });
  }

  Transport& transport_;
  const AfternoonSpec spec_;
  const std::vector<TraceJob>& jobs_;
  Played played_;
  std::size_t next_ = 0;          // the first that was not sent
  std::size_t first_moment_ = 0;  // so many jobs are of the first moment
  bool alive_ = false;            // the last of the lives is ours
  Time time_ = kAfternoonBegins;
  Time save_at_;
  std::optional<Time> again_at_;  // when what was not heard of is sent once more
  std::shared_ptr<Answers> answers_;
};

// Until the server has said something that does not pass by itself.
ApiAnswer ask_patiently(Transport& transport, const ApiCall& call) {
  ApiAnswer answer = send_and_wait(transport, call);
  for (int tries = 1; is_passing(answer) && tries < kTriesMax; ++tries) {
    std::this_thread::sleep_for(std::chrono::milliseconds(kRetry.ms));
    answer = send_and_wait(transport, call);
  }
  return answer;
}

// What is there stays.
Complaints make_unless_there(Transport& transport, std::string_view qualified, std::string_view name_space,
                             const Value& object) {
  const ApiAnswer answer = ask_patiently(transport, call_with("POST", api_path(qualified, name_space), object));
  if (answer.ok() || answer.status == 409) return {};
  const std::string name(object["metadata"]["name"].text());
  return Complaints({std::string(qualified) + " " + name}, text_of_failure(answer));
}

}  // namespace

Result<KeptAfternoon> open_afternoon(Transport& transport, const AfternoonSpec& wished) {
  Complaints complaints;
  for (const NamedObject& each : foundations()) {
    complaints.add_all(make_unless_there(transport, each.qualified, "", each.object));
  }
  complaints.add_all(make_unless_there(transport, "configmaps", kDemoNamespace, to_config_map(wished, {})));
  if (!complaints.empty()) return complaints;
  ApiCall read;
  read.path = api_path("configmaps", kDemoNamespace, kAfternoonName);
  const ApiAnswer answer = ask_patiently(transport, read);
  if (!answer.ok()) return Complaints({std::string(kAfternoonName)}, text_of_failure(answer));
  const auto config_map = parse_json(answer.body);
  if (!config_map) return config_map.error();
  return played_in_config_map(*config_map);
}

std::unique_ptr<Player> Player::start(Transport& transport, const AfternoonSpec& spec,
                                      const std::vector<TraceJob>& jobs, Played played) {
  return std::make_unique<PlayingAfternoon>(transport, spec, jobs, std::move(played));
}

}  // namespace berth
