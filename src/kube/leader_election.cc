#include "kube/leader_election.h"

#include <algorithm>
#include <mutex>
#include <utility>

#include "base/assert.h"
#include "base/rng.h"
#include "kube/gate.h"
#include "manifest/json.h"
#include "manifest/value.h"

namespace berth {
namespace {

constexpr std::int64_t kLeaseMax_s = 3600;  // what another's lease may claim

// In times of `retry`. An answer that has not come by then is no longer waited for; the revision in each write keeps a
// late one harmless.
constexpr std::int64_t kPatience = 2;

class Candidate : public std::enable_shared_from_this<Candidate> {
 public:
  Candidate(Transport& transport, Alarm& alarm, WallClock clock, LeaderElectionOptions options,
            LeaderElection::Callbacks callbacks)
      : transport_(transport),
        alarm_(alarm),
        clock_(std::move(clock)),
        options_(std::move(options)),
        callbacks_(std::move(callbacks)),
        rng_({options_.jitter_seed}) {
    BERTH_ASSERT(!options_.name.empty() && !options_.identity.empty());
    BERTH_ASSERT(options_.retry < options_.renew_deadline && options_.renew_deadline < options_.lease);
  }

  void begin() {
    const auto hold = gate_.lock();
    look();
  }
  void close() {
    const auto hold = gate_.lock();
    gate_.close();
    stop_everything();
  }

  bool leads() const {
    const Time now = alarm_.now();
    const std::lock_guard hold(told_mutex_);
    return told_.leading && now < told_.until;
  }
  std::int64_t epoch() const {
    const std::lock_guard hold(told_mutex_);
    return told_.epoch;
  }
  std::string leader() const {
    const std::lock_guard hold(told_mutex_);
    return told_.leader;
  }
  std::string trouble() const {
    const std::lock_guard hold(told_mutex_);
    return told_.trouble;
  }

  void release(std::function<void()> done) {
    const auto hold = gate_.lock();
    if (!gate_.is_open()) return;
    const bool led = leading_;
    stop_everything();
    stop_leading("it was asked to");
    released_ = true;
    if (!gate_.is_open()) return;
    if (!led || lease_.is_null()) {
      done();
      return;
    }
    Value lease = lease_;
    Value& spec = lease.at("spec");
    spec.set("holderIdentity", "");
    spec.set("leaseDurationSeconds", 1);
    spec.set("renewTime", format_micro_timestamp(clock_()));
    // Whatever the answer: if it fails, the lease runs out by itself.
    transport_.send(write_of(lease),
                    gate_.guarded([self = shared_from_this(), done = std::move(done)](const ApiAnswer&) { done(); }));
  }

 private:
  // ---- steps: at most one call is listened to ----

  template <class Callback>
  auto in_step(Callback callback) {
    return gate_.guarded(
        [self = shared_from_this(), step = step_, callback = std::move(callback)](auto&&... arguments) {
          if (self->gate_.is_open() && step == self->step_) {
            callback(*self, std::forward<decltype(arguments)>(arguments)...);
          }
        });
  }

  void next_step() {
    ++step_;
    next_try_.reset();
  }

  void stop_everything() {
    next_step();
    deadline_.reset();
  }

  std::string path() const { return api_path("leases.coordination.k8s.io", options_.name_space, options_.name); }

  ApiCall write_of(const Value& lease) const { return {.method = "PUT", .path = path(), .body = to_json(lease)}; }

  Duration soon() { return {options_.retry.ms + rng_.between(0, options_.retry.ms / 5)}; }

  // The leader knows what the lease says and need not look.
  void go_on_after(Duration delay) {
    next_step();
    next_try_ = alarm_.after(delay, in_step([](Candidate& self) {
                               if (self.leading_) {
                                 self.write(self.lease_);
                               } else {
                                 self.look();
                               }
                             }));
  }
  void look_after(Duration delay) {
    next_step();
    next_try_ = alarm_.after(delay, in_step([](Candidate& self) { self.look(); }));
  }

  void look() {
    next_step();
    wait_for_answer();
    transport_.send({.path = path()},
                    in_step([](Candidate& self, const ApiAnswer& answer) { self.take_lease(answer); }));
  }

  // Whatever a server leaves unanswered: the next try comes.
  void wait_for_answer() {
    next_try_ = alarm_.after({options_.retry.ms * kPatience}, in_step([](Candidate& self) {
                               self.fail("the server did not answer in time");
                               self.look();
                             }));
  }

  void take_lease(const ApiAnswer& answer) {
    if (answer.status == 404) {
      observe(Value());
      if (gate_.is_open() && !released_) write(Value());
      return;
    }
    if (!answer.ok()) {
      fail_and_wait(answer);
      return;
    }
    Result<Value> lease = parse_json(answer.body);
    if (!lease || !lease->is_map() || !(*lease)["metadata"].is_map()) {
      fail("the server's answer is no lease");
      look_after(soon());
      return;
    }
    observe(std::move(*lease));
    if (!gate_.is_open() || released_) return;
    if (may_take()) {
      write(lease_);
    } else {
      all_is_well();
      look_after(soon());
    }
  }

  // ---- what the lease says ----

  void observe(Value lease) {
    // Any write is a sign of life: what it says of the time is a wall clock's.
    const Value &was = lease_["metadata"], &is = lease["metadata"];
    const bool changed = is["resourceVersion"] != was["resourceVersion"] || is["uid"] != was["uid"];
    lease_ = std::move(lease);
    if (changed) observed_at_ = alarm_.now();
    epoch_seen_ = std::max(epoch_seen_, transitions());
    const std::string holder(lease_["spec"]["holderIdentity"].text());
    {
      const std::lock_guard hold(told_mutex_);
      told_.leader = holder;
    }
    if (leading_ && (holder != options_.identity || transitions() != epoch_)) {
      stop_leading(holder.empty() ? "somebody took the lease away" : "'" + holder + "' holds the lease");
    }
  }

  std::int64_t transitions() const { return std::max<std::int64_t>(0, lease_["spec"]["leaseTransitions"].integer()); }

  // Nobody holds it, we do, or whoever does has not renewed it for as long as he said, by our own clock.
  bool may_take() const {
    const std::string_view holder = lease_["spec"]["holderIdentity"].text();
    if (holder.empty() || holder == options_.identity) return true;
    const std::int64_t claimed_s = lease_["spec"]["leaseDurationSeconds"].integer(options_.lease.ms / 1000);
    return alarm_.now() >= observed_at_ + seconds(std::clamp<std::int64_t>(claimed_s, 1, kLeaseMax_s));
  }

  // ---- writing ----

  // Takes the lease, or renews it: what it says now, with us as its holder.
  void write(Value lease) {
    const bool is_new = lease.is_null();
    const std::string now = format_micro_timestamp(clock_());
    if (is_new) {
      lease =
          Value::map_of({{"apiVersion", "coordination.k8s.io/v1"},
                         {"kind", "Lease"},
                         {"metadata", Value::map_of({{"name", options_.name}, {"namespace", options_.name_space}})}});
    }
    // Above all ever seen, also if somebody deleted the lease in between.
    const std::int64_t epoch = leading_ ? epoch_ : epoch_seen_ + 1;
    Value& spec = lease.at("spec");
    spec.set("holderIdentity", options_.identity);
    spec.set("leaseDurationSeconds", options_.lease.ms / 1000);
    if (!leading_) spec.set("acquireTime", now);
    spec.set("renewTime", now);
    spec.set("leaseTransitions", epoch);
    ApiCall call = write_of(lease);
    if (is_new) {
      call.method = "POST";
      call.path = api_path("leases.coordination.k8s.io", options_.name_space);
    }
    next_step();
    wait_for_answer();
    // Counted from before the write: others count from when they see it, which is later.
    const Time until = alarm_.now() + options_.renew_deadline;
    transport_.send(std::move(call), in_step([until, epoch](Candidate& self, const ApiAnswer& answer) {
                      self.take_written(answer, until, epoch);
                    }));
  }

  void take_written(const ApiAnswer& answer, Time until, std::int64_t epoch) {
    // Somebody was quicker, or an earlier write of ours came through after all; or the lease was deleted.
    if (answer.status == 409 || answer.status == 404) {
      if (answer.status == 404) fail(text_of_failure(answer));  // perhaps its namespace
      look_after(leading_ ? Duration{0} : soon());
      return;
    }
    if (!answer.ok()) {
      fail_and_wait(answer);
      return;
    }
    Result<Value> lease = parse_json(answer.body);
    if (!lease || (*lease)["spec"]["holderIdentity"].text() != options_.identity) {
      fail("the server's answer is not the lease that was written");
      look_after(soon());
      return;
    }
    lease_ = std::move(*lease);
    observed_at_ = alarm_.now();
    epoch_seen_ = std::max(epoch_seen_, epoch);
    all_is_well();
    // A renewal that was confirmed after we had stopped: it takes a new epoch to lead again.
    if (leading_ || epoch > epoch_) lead(until, epoch);
    if (gate_.is_open() && !released_) go_on_after(leading_ ? soon() : Duration{0});
  }

  // ---- leading ----

  void lead(Time until, std::int64_t epoch) {
    if (until <= alarm_.now()) return;  // the answer came too late to build on
    const bool starts = !std::exchange(leading_, true);
    epoch_ = epoch;
    {
      const std::lock_guard hold(told_mutex_);
      told_.leading = true;
      told_.until = until;
      told_.epoch = epoch;
      told_.leader = options_.identity;
    }
    deadline_ = alarm_.after(until - alarm_.now(), gate_.guarded([self = shared_from_this()] {
      const std::string trouble = self->trouble();
      self->stop_leading("the lease could not be renewed in time" + (trouble.empty() ? "" : ": " + trouble));
    }));
    if (starts) callbacks_.on_started_leading(epoch);
  }

  void stop_leading(const std::string& why) {
    deadline_.reset();
    if (!std::exchange(leading_, false)) return;
    {
      const std::lock_guard hold(told_mutex_);
      told_.leading = false;
    }
    callbacks_.on_stopped_leading(why);
  }

  void fail_and_wait(const ApiAnswer& answer) {
    fail(text_of_failure(answer));
    go_on_after(std::max(soon(), seconds(std::min(answer.retry_after_s, 60))));
  }
  void fail(const std::string& why) {
    const std::lock_guard hold(told_mutex_);
    told_.trouble = "lease " + options_.name_space + "/" + options_.name + ": " + why;
  }
  void all_is_well() {
    const std::lock_guard hold(told_mutex_);
    told_.trouble.clear();
  }

  Transport& transport_;
  Alarm& alarm_;
  const WallClock clock_;
  const LeaderElectionOptions options_;
  const LeaderElection::Callbacks callbacks_;

  Gate gate_;  // its lock guards all that follows, up to told_mutex_
  Rng rng_;
  std::uint64_t step_ = 0;
  Value lease_;       // as last seen; null: there is none
  Time observed_at_;  // when its spec was last seen to change
  bool leading_ = false;
  bool released_ = false;
  std::int64_t epoch_ = 0;       // of our last leadership
  std::int64_t epoch_seen_ = 0;  // anybody's
  std::unique_ptr<Alarm::Handle> next_try_, deadline_;

  // Asked by others while a callback of ours may wait for them: a lock that is never held long.
  struct Told {
    bool leading = false;
    Time until;
    std::int64_t epoch = 0;
    std::string leader;
    std::string trouble;
  };
  mutable std::mutex told_mutex_;
  Told told_;
};

class LeaseElection : public LeaderElection {
 public:
  explicit LeaseElection(std::shared_ptr<Candidate> candidate) : candidate_(std::move(candidate)) {}
  LeaseElection(const LeaseElection&) = delete;
  LeaseElection& operator=(const LeaseElection&) = delete;
  ~LeaseElection() override { candidate_->close(); }

  bool leads() const override { return candidate_->leads(); }
  std::int64_t epoch() const override { return candidate_->epoch(); }
  std::string leader() const override { return candidate_->leader(); }
  std::string trouble() const override { return candidate_->trouble(); }
  void release(std::function<void()> done) override { candidate_->release(std::move(done)); }

 private:
  std::shared_ptr<Candidate> candidate_;
};

}  // namespace

std::unique_ptr<LeaderElection> LeaderElection::start(Transport& transport, Alarm& alarm, WallClock clock,
                                                      LeaderElectionOptions options, Callbacks callbacks) {
  auto candidate =
      std::make_shared<Candidate>(transport, alarm, std::move(clock), std::move(options), std::move(callbacks));
  auto election = std::make_unique<LeaseElection>(candidate);
  candidate->begin();
  return election;
}

}  // namespace berth
