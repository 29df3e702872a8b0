#include "controllers/controllers.h"

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/rng.h"
#include "controllers/disruption_controller.h"
#include "controllers/event_collector.h"
#include "controllers/garbage_collector.h"
#include "controllers/job_controller.h"
#include "controllers/job_set_controller.h"
#include "controllers/kueue_controller.h"
#include "controllers/namespace_controller.h"
#include "controllers/node_controller.h"
#include "kube/delays.h"
#include "kube/mirror.h"

namespace berth {
namespace {

constexpr Duration kForgetEvery = seconds(30);

EventRecorderOptions recorder_options(std::uint64_t seed) {
  EventRecorderOptions options;
  options.controller = "berth.dev/controllers";
  options.instance = "berth-controllers";
  options.name_seed = mix64(seed + 1);
  return options;
}

class RunningControllers final : public Controllers {
 public:
  RunningControllers(Transport& transport, Alarm& alarm, ControllerOptions options)
      : alarm_(alarm),
        events_(EventRecorder::start(transport, alarm, options.now, recorder_options(options.seed))),
        strand_(std::make_shared<Strand>([this] { work(); })),
        delays_(alarm, strand_),
        outbox_(transport, strand_, options.in_flight_max),
        means_{.view = view_,
               .outbox = outbox_,
               .events = *events_,
               .alarm = alarm,
               .wall = options.now,
               .learn = [this](const KindInfo& kind, Value object) {
                 pass_on(view_.learn(kind, std::move(object), alarm_.now()));
               }} {
    controllers_.push_back(make_job_controller(means_, mix64(options.seed + 2)));
    controllers_.push_back(make_job_set_controller(means_, mix64(options.seed + 8)));
    controllers_.push_back(make_volcano_job_controller(means_, mix64(options.seed + 9)));
    controllers_.push_back(make_garbage_collector(means_, mix64(options.seed + 3)));
    controllers_.push_back(make_pod_collector(means_));
    controllers_.push_back(make_event_collector(means_));
    controllers_.push_back(make_disruption_controller(means_, mix64(options.seed + 6)));
    controllers_.push_back(make_kueue_controller(means_, mix64(options.seed + 7)));
    controllers_.push_back(make_namespace_controller(means_, mix64(options.seed + 4)));
    controllers_.push_back(make_node_controller(
        means_, {.grace = options.node_grace, .eviction_after = options.eviction_after}, mix64(options.seed + 5)));
    for (const KindInfo& kind : served_kinds()) {
      // Events own nothing, are owned by nothing, and there are many.
      if (kind.has_verb("watch") && kind.plural != "events" && !kind.other_view) kinds_.push_back(&kind);
    }
    for (const KindInfo* const kind : kinds_) mirrors_.emplace(kind, watch(transport, *kind, options.seed));
    strand_->post([this] { forget(); });
  }

  ~RunningControllers() override {
    strand_->stop();
    mirrors_.clear();
    delays_.clear();
    events_.reset();
  }
  RunningControllers(const RunningControllers&) = delete;
  RunningControllers& operator=(const RunningControllers&) = delete;

  bool synced() const override { return synced_ == kinds_.size(); }

 private:
  std::unique_ptr<Mirror> watch(Transport& transport, const KindInfo& kind, std::uint64_t seed) {
    MirrorOptions options;
    options.qualified = kind.qualified();
    options.jitter_seed = mix64(seed + 100 + mirrors_.size());
    return Mirror::start(
        transport, alarm_, options,
        [this, &kind](const ObjectChange& change) {
          strand_->post([this, &kind, change] { pass_on(view_.see(kind, change)); });
        },
        [this] { strand_->post([this] { ++synced_; }); });
  }

  void pass_on(const std::vector<ClusterView::Change>& changes) {
    for (const auto& [kind, change] : changes) {
      for (const auto& controller : controllers_) controller->see(*kind, change);
    }
  }

  // After each batch of what was seen and answered.
  void work() {
    if (!synced()) return;
    std::optional<Time> next;
    for (const auto& controller : controllers_) {
      controller->work();
      if (const auto due = controller->next()) next = std::min(next.value_or(*due), *due);
    }
    if (!next || (wakes_at_ && *wakes_at_ <= *next)) return;
    delays_.cancel(waking_);
    wakes_at_ = next;
    waking_ = delays_.after(*next - alarm_.now(), [this] { wakes_at_.reset(); });  // work() follows by itself
  }

  void forget() {
    delays_.after(kForgetEvery, [this] { forget(); });
    // The mirrors' words of before have been taken in: they were posted before this.
    pass_on(view_.forget_untold(alarm_.now(), [this](const KindInfo& kind) { return come_to_[&kind]; }));
    // mirrors_ is filled by the thread that makes this; asked only later, when that is done.
    if (!synced()) return;
    for (const auto& [kind, mirror] : mirrors_) come_to_[kind] = mirror->revision();
  }

  Alarm& alarm_;
  ClusterView view_;
  std::vector<std::unique_ptr<Controller>> controllers_;
  std::vector<const KindInfo*> kinds_;
  std::atomic<std::size_t> synced_ = 0;
  std::optional<Time> wakes_at_;
  std::uint64_t waking_ = 0;
  std::map<const KindInfo*, std::int64_t> come_to_;  // the revision each mirror had come to half a minute ago
  std::unique_ptr<EventRecorder> events_;
  std::shared_ptr<Strand> strand_;
  Delays delays_;
  Outbox outbox_;
  Means means_;
  std::map<const KindInfo*, std::unique_ptr<Mirror>> mirrors_;
};

}  // namespace

std::unique_ptr<Controllers> Controllers::start(Transport& transport, Alarm& alarm, ControllerOptions options) {
  return std::make_unique<RunningControllers>(transport, alarm, std::move(options));
}

}  // namespace berth
